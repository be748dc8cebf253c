//! Validated numbers, checked once at construction so that round loops need not check them again.

use crate::Error;
use serde::{Deserialize, Serialize};

/// Implements reading and conversion of numbers that `new` checks.
macro_rules! checked_numbers {
    ($($Number:ident),+) => {$(
        impl $Number {
            /// The number itself.
            #[inline]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $Number {
            type Error = Error;

            fn try_from(value: f64) -> Result<Self, Error> {
                Self::new(value)
            }
        }

        impl From<$Number> for f64 {
            fn from(number: $Number) -> Self {
                number.0
            }
        }
    )+};
}
checked_numbers!(Probability, ErrorProbability, NonNegative);

/// A number in the closed interval from 0 to 1.
///
/// # Examples
///
/// ```
/// use confidence::Probability;
///
/// assert_eq!(Probability::new(0.25)?.get(), 0.25);
/// assert!(Probability::new(1.5).is_err());
/// assert!(Probability::new(f64::NAN).is_err());
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

impl Probability {
    /// Impossible.
    pub const ZERO: Self = Self(0.0);
    /// Certain.
    pub const ONE: Self = Self(1.0);

    /// Checks that `value` is a probability.
    ///
    /// # Errors
    ///
    /// [`Error::NotAProbability`] outside 0 to 1 and for NaN.
    pub fn new(value: f64) -> Result<Self, Error> {
        // `+ 0.0` turns -0.0 into 0.0, so that equal probabilities have equal bits.
        if (0.0..=1.0).contains(&value) { Ok(Self(value + 0.0)) } else { Err(Error::NotAProbability(value)) }
    }
}

/// The permitted error probability of a statement or procedure: a number strictly between 0 and 1.
///
/// # Examples
///
/// ```
/// use confidence::ErrorProbability;
///
/// assert_eq!(ErrorProbability::new(0.05)?.get(), 0.05);
/// assert!(ErrorProbability::new(0.0).is_err() && ErrorProbability::new(1.0).is_err());
/// assert!(ErrorProbability::new(f64::NAN).is_err());
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct ErrorProbability(f64);

impl ErrorProbability {
    /// Checks that `value` lies strictly between 0 and 1.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnErrorProbability`] for anything else.
    pub fn new(value: f64) -> Result<Self, Error> {
        if value > 0.0 && value < 1.0 { Ok(Self(value)) } else { Err(Error::NotAnErrorProbability(value)) }
    }
}

impl Default for ErrorProbability {
    /// 0.1, as in most experiments of the `CascadeBAI` paper.
    fn default() -> Self {
        Self(0.1)
    }
}

/// A finite number that is not negative.
///
/// # Examples
///
/// ```
/// use confidence::NonNegative;
///
/// assert_eq!(NonNegative::new(2.5)?.get(), 2.5);
/// assert!(NonNegative::new(-1.0).is_err());
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct NonNegative(f64);

impl NonNegative {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// Checks that `value` is finite and not negative.
    ///
    /// # Errors
    ///
    /// [`Error::NotNonNegative`] for a negative number, an infinity, and NaN.
    pub fn new(value: f64) -> Result<Self, Error> {
        if value >= 0.0 && value.is_finite() {
            Ok(Self(value + 0.0))
        } else {
            Err(Error::NotNonNegative(value))
        }
    }

    /// A count, which is never negative.
    pub const fn from_count(count: u32) -> Self {
        Self(count as f64)
    }
}
