//! [`EmpiricalBernstein`].

use super::plug_in::{PlugIn, TRUNCATION};
use super::{ConfidenceSequence, Interval, checked, clamped};
use crate::Error;
use serde::{Deserialize, Serialize};

/// The predictable plug-in empirical Bernstein sequence.
///
/// ```text
/// sum_i lambda_i X_i / sum_i lambda_i  +-  (ln(2 / alpha) + sum_i v_i psi(lambda_i)) / sum_i lambda_i
/// v_i = 4 (X_i - mean_{i-1})^2,      psi(lambda) = (-ln(1 - lambda) - lambda) / 4
/// ```
///
/// with the bets `lambda_i` truncated at 1/2. Constant state and cost.
///
/// ```
/// use confidence::sequence::{ConfidenceSequence, EmpiricalBernstein};
///
/// let mut rewards = EmpiricalBernstein::new(0.05)?;
/// for _ in 0..1000 {
///     rewards.observe(0.3);
/// }
/// // No variance at all: far narrower than sqrt(ln(2 / 0.05) / 2000) = 0.043 to each side.
/// let interval = rewards.interval();
/// assert!(interval.lower > 0.28 && interval.upper < 0.32);
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EmpiricalBernstein {
    plug_in: PlugIn,
    bets: f64,
    weighted_sum: f64,
    cost: f64,
}

impl EmpiricalBernstein {
    /// A sequence that ever misses with probability at most `miss`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnErrorProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, Error> {
        Ok(Self { plug_in: PlugIn::new(checked(miss)?), bets: 0.0, weighted_sum: 0.0, cost: 0.0 })
    }
}

impl ConfidenceSequence for EmpiricalBernstein {
    fn observe(&mut self, x: f64) {
        let Some(x) = clamped(x) else { return };
        let bet = self.plug_in.bet().min(TRUNCATION);
        let difference = x - self.plug_in.mean();
        // v psi = (x - mean)^2 (-ln(1 - bet) - bet).
        self.cost += difference * difference * crate::math::x_minus_ln_1p(-bet);
        self.bets += bet;
        self.weighted_sum += bet * x;
        self.plug_in.observe(x);
    }

    fn interval(&self) -> Interval {
        if self.plug_in.n == 0 {
            return Interval::EVERYTHING;
        }
        let center = self.weighted_sum / self.bets;
        let radius = (self.plug_in.log_inverse_miss + self.cost) / self.bets;
        Interval { lower: (center - radius).max(0.0), upper: (center + radius).min(1.0) }
    }
}
