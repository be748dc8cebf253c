//! The bets that [`EmpiricalBernstein`](super::EmpiricalBernstein) and [`Betting`](super::Betting)
//! place.

use crate::math::{ln, ln_1p, sqrt};
use serde::{Deserialize, Serialize};

/// Where to truncate a bet, as a share of what can be lost (`c` in Waudby-Smith and Ramdas).
pub(super) const TRUNCATION: f64 = 0.5;

/// The running mean and variance that choose the next bet.
///
/// ```text
/// mean_n = (1/2 + sum X_i) / (n + 1),      variance_n = (1/4 + sum (X_i - mean_i)^2) / (n + 1)
/// lambda_n = sqrt(2 ln(2 / alpha) / (variance_{n-1} n ln(1 + n)))
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct PlugIn {
    pub(super) n: u64,
    sum: f64,
    squares: f64,
    /// `ln(2 / alpha)`.
    pub(super) log_inverse_miss: f64,
}

impl PlugIn {
    pub(super) fn new(miss: f64) -> Self {
        Self { n: 0, sum: 0.0, squares: 0.0, log_inverse_miss: core::f64::consts::LN_2 - ln(miss) }
    }

    pub(super) fn mean(&self) -> f64 {
        (0.5 + self.sum) / (self.n as f64 + 1.0)
    }

    /// The bet on the next observation, from the observations so far.
    pub(super) fn bet(&self) -> f64 {
        let next = self.n as f64 + 1.0;
        let variance = (0.25 + self.squares) / next;
        sqrt(2.0 * self.log_inverse_miss / (variance * next * ln_1p(next)))
    }

    pub(super) fn observe(&mut self, x: f64) {
        self.n += 1;
        self.sum += x;
        let difference = x - self.mean();
        self.squares += difference * difference;
    }
}
