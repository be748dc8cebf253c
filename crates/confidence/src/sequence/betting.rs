//! Tests by betting: [`Betting`] of one candidate, and `HedgedBetting` of a grid of them.

use super::plug_in::{PlugIn, TRUNCATION};
#[cfg(feature = "std")]
use super::{ConfidenceSequence, Interval};
use super::{checked, clamped};
use crate::Error;
use serde::{Deserialize, Serialize};

/// The capital of two gamblers who bet that the mean is above, or below, one candidate.
///
/// ```text
/// plus = prod_i (1 + min(lambda_i, c / m) (X_i - m)),      minus = prod_i (1 - min(lambda_i, c / (1 - m)) (X_i - m))
/// ```
///
/// If the candidate `m` is the mean, each is a non-negative martingale that starts at 1, and so is
/// their average. The candidate is rejected when half of the larger one reaches `1 / alpha`. For
/// any data, `plus` decreases in `m` and `minus` increases.
///
/// ```
/// use confidence::sequence::Betting;
///
/// let mut betting = Betting::new(0.5, 0.05)?;
/// while !betting.is_rejected() {
///     betting.observe(0.9);
/// }
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Betting {
    plug_in: PlugIn,
    candidate: f64,
    capital: Capital,
    /// `2 / alpha`: the larger capital at which the candidate is rejected.
    goal: f64,
    rejected: bool,
}

impl Betting {
    /// A test of the hypothesis that the mean is `candidate`, wrong with probability at most
    /// `miss`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnErrorProbability`] unless `0 < miss < 1`, [`Error::NotAProbability`] for a
    /// candidate outside `[0, 1]`.
    pub fn new(candidate: f64, miss: f64) -> Result<Self, Error> {
        let candidate = crate::Probability::new(candidate)?.get();
        let miss = checked(miss)?;
        Ok(Self {
            plug_in: PlugIn::new(miss),
            candidate,
            capital: Capital::START,
            goal: 2.0 / miss,
            rejected: false,
        })
    }

    /// Takes one observation in `[0, 1]`.
    pub fn observe(&mut self, x: f64) {
        let Some(x) = clamped(x) else { return };
        self.capital.bet(self.plug_in.bet(), self.candidate, x);
        self.rejected |= self.capital.plus >= self.goal || self.capital.minus >= self.goal;
        self.plug_in.observe(x);
    }

    /// Returns whether the candidate has been rejected, now or earlier.
    pub fn is_rejected(&self) -> bool {
        self.rejected
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Capital {
    plus: f64,
    minus: f64,
}

impl Capital {
    const START: Self = Self { plus: 1.0, minus: 1.0 };

    #[inline]
    fn bet(&mut self, bet: f64, candidate: f64, x: f64) {
        // Capital of 0 could not recover. Raising it to 1e-300 adds less than that to the miss
        // probability.
        const LEAST: f64 = 1e-300;
        const MOST: f64 = 1e300;
        let plus_bet = bet.min(TRUNCATION / candidate);
        let minus_bet = bet.min(TRUNCATION / (1.0 - candidate));
        let surprise = x - candidate;
        self.plus = (self.plus * (1.0 + plus_bet * surprise)).clamp(LEAST, MOST);
        self.minus = (self.minus * (1.0 - minus_bet * surprise)).clamp(LEAST, MOST);
    }
}

/// Hedged betting: all candidates of a grid, each tested by [`Betting`].
///
/// Needs the standard library (feature `std`) for the grid.
///
/// ```
/// use confidence::sequence::{ConfidenceSequence, HedgedBetting};
///
/// let mut rewards = HedgedBetting::new(0.05, 1000)?;
/// for i in 0..1000 {
///     rewards.observe(if i % 2 == 0 { 0.25 } else { 0.35 });
/// }
/// let interval = rewards.interval();
/// assert!(0.28 < interval.lower && interval.lower < 0.3 && 0.3 < interval.upper && interval.upper < 0.32);
/// # Ok::<(), confidence::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HedgedBetting {
    plug_in: PlugIn,
    capitals: std::vec::Vec<Capital>,
    /// The grid points not rejected: from `start` to before `end`.
    start: usize,
    end: usize,
    goal: f64,
}

#[cfg(feature = "std")]
impl HedgedBetting {
    /// A sequence that ever misses with probability at most `miss`, on the grid
    /// `0, 1 / cells, ..., 1`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnErrorProbability`] unless `0 < miss < 1`; [`Error::NoGrid`] unless there is at
    /// least one cell, and at most 2^24.
    pub fn new(miss: f64, cells: usize) -> Result<Self, Error> {
        let miss = checked(miss)?;
        if cells == 0 || cells > 1 << 24 {
            return Err(Error::NoGrid(cells));
        }
        Ok(Self {
            plug_in: PlugIn::new(miss),
            capitals: std::vec![Capital::START; cells + 1],
            start: 0,
            end: cells + 1,
            goal: 2.0 / miss,
        })
    }

    fn at(&self, point: usize) -> f64 {
        point as f64 / (self.capitals.len() as f64 - 1.0)
    }
}

#[cfg(feature = "std")]
impl ConfidenceSequence for HedgedBetting {
    fn observe(&mut self, x: f64) {
        let Some(x) = clamped(x) else { return };
        let bet = self.plug_in.bet();
        let cells = self.capitals.len() as f64 - 1.0;
        let (start, end) = (self.start, self.end);
        // The range is empty on the rare path on which every candidate has been rejected.
        let inside = self.capitals.get_mut(start..end).unwrap_or_default();
        for (point, capital) in (start..end).zip(inside) {
            capital.bet(bet, point as f64 / cells, x);
            // Capitals are monotone in the candidate: all candidates below (above) are rejected as
            // well.
            if capital.plus >= self.goal {
                self.start = self.start.max(point + 1);
            }
            if capital.minus >= self.goal {
                self.end = self.end.min(point);
            }
        }
        self.plug_in.observe(x);
    }

    fn interval(&self) -> Interval {
        // The mean may lie anywhere between the last rejected point and the next one.
        let lower = if self.start == 0 { 0.0 } else { self.at(self.start - 1) };
        let upper = if self.end < self.capitals.len() { self.at(self.end) } else { 1.0 };
        Interval { lower, upper }
    }
}
