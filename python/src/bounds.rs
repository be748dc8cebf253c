//! Bounds on the regret and on the rounds of an instance.

use crate::message::value_error;
use crate::task::{count, numbers, size};
use click_models::bounds as scalar;
use click_models::{Error, PreferenceMatrix};
use confidence::Probability;
use pyo3::Borrowed;
use pyo3::prelude::*;

/// Probabilities from Python.
struct Probabilities(Vec<f64>);

impl Probabilities {
    fn of(field: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values = numbers(field, given)?;
        match values.iter().position(|&value| Probability::new(value).is_err()) {
            Some(index) => Err(value_error(Error::NotAProbability { field, index, value: values[index] })),
            None => Ok(Self(values)),
        }
    }
}

/// A number of positions from Python.
pub(crate) struct Size(usize);

impl<'py> FromPyObject<'_, 'py> for Size {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(size("n_positions", Some(&given))?.unwrap_or(0)))
    }
}

impl From<Size> for usize {
    fn from(size: Size) -> Self {
        size.0
    }
}

/// A number of rounds from Python.
pub(crate) struct Rounds(u64);

impl<'py> FromPyObject<'_, 'py> for Rounds {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(count("horizon", Some(&given))?.unwrap_or(0)))
    }
}

impl From<Rounds> for u64 {
    fn from(rounds: Rounds) -> Self {
        rounds.0
    }
}

/// Makes functions of Python from functions of slices and numbers. Malformed input, which gives NaN there, is a `ValueError`.
macro_rules! bounds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident([$($slice:ident),*] $(, $number:ident: $Number:ty)*), otherwise $expected:literal;
    )*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        pub(crate) fn $name($($slice: &Bound<'_, PyAny>,)* $($number: $Number,)*) -> PyResult<f64> {
            $(let $slice = Probabilities::of(stringify!($slice), $slice)?;)*
            defined(stringify!($name), scalar::$name($(&$slice.0,)* $($number.into(),)*), $expected)
        }
    )*};
}

fn defined(name: &str, bound: f64, expected: &str) -> PyResult<f64> {
    if bound.is_nan() { Err(value_error(format!("{name}: expected {expected}"))) } else { Ok(bound) }
}

bounds! {
    /// Lower bound on the regret of uniformly efficient policies in the position-based model, clicks per ln T: PBM paper, Theorem 6,
    /// equation (6).
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     kappa: examination probabilities of the positions, in any order, shape (positions,).
    pbm_lower_bound([theta, kappa]), otherwise "at least one position, and at least as many items as positions";

    /// A simpler, smaller lower bound than `pbm_lower_bound`, clicks per ln T: exploration at the most examined position. Arguments as there.
    pbm_relaxed_lower_bound([theta, kappa]), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound in the random semi-bandit, clicks per ln T: RSF paper, Theorem 4.
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     n_positions: number of positions.
    semi_bandit_lower_bound([theta], n_positions: Size), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound if every position is observed, clicks per ln T: PBM paper, equation (3). Arguments as of `semi_bandit_lower_bound`.
    multiple_play_lower_bound([theta], n_positions: Size), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound in the cascade model, clicks per ln T: Kveton et al. 2015, Theorem 4, generalised. Arguments as of
    /// `semi_bandit_lower_bound`.
    cascade_lower_bound([theta], n_positions: Size), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound for satisfaction in the dependent click model, per ln T: Katariya et al. 2016, Theorem 3, generalised.
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     leave: probabilities of leaving after a click, from the top position down, shape (positions,).
    dcm_lower_bound([theta, leave]), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound on the rounds to identify the best items of a cascade: CascadeBAI, Theorem 4.8.
    ///
    /// Args:
    ///     weights: attraction probabilities of the items, in any order, shape (items,).
    ///     n_positions: number of positions, below the number of items.
    ///     delta: probability of error, above 0 and below 1.
    cascade_bai_lower_bound([weights], n_positions: Size, delta: f64), otherwise "delta above 0 and below 1, and more items than positions";

    /// Upper bound for Rank1ElimKL after `horizon` rounds, in clicks: Rank1ElimKL paper, Theorem 1, as printed. Infinite for fewer than 5
    /// rounds.
    ///
    /// Args:
    ///     rows: probabilities of the rows, shape (rows,).
    ///     columns: probabilities of the columns, shape (columns,).
    ///     horizon: number of rounds.
    rank_one_upper_bound([rows, columns], horizon: Rounds), otherwise "at least two different rows, and two different columns";
}

/// Lower bound on the regret of uniformly efficient policies in dueling bandits, per ln t: Komiyama et al. 2015, Theorem 2.
///
/// Args:
///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items).
///
/// Raises:
///     ValueError: no matrix of preferences, or no item beats all others.
#[pyfunction]
pub(crate) fn dueling_lower_bound(preferences: &Bound<'_, PyAny>) -> PyResult<f64> {
    let matrix = matrix(preferences)?;
    defined("dueling_lower_bound", scalar::dueling_lower_bound(&matrix), "an item that beats all others")
}

/// A matrix of preferences.
pub(crate) fn matrix(given: &Bound<'_, PyAny>) -> PyResult<PreferenceMatrix> {
    let rows: Vec<Vec<f64>> = given.extract().map_err(|error: PyErr| {
        crate::message::type_error(format!("preferences: expected rows of numbers: {error}"))
    })?;
    PreferenceMatrix::new(&rows).map_err(value_error)
}
