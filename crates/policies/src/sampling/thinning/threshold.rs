//! A threshold inside (0, 1), and the functions of it that envelopes need.

use confidence::math::{ln, ln_1p};

/// Steps of the threshold's log-odds in a unit, so that whole numbers are saved.
pub(super) const STEPS: f64 = 1_048_576.0;
/// The largest log-odds is 30, where the threshold is 1e-13 away from 1, and the smallest -30.
pub(super) const MOST_STEPS: i32 = 30 * 1_048_576;

/// A threshold `tau`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threshold {
    /// Log-odds of `tau`, in steps.
    pub(super) step: i32,
    /// `tau`.
    pub(crate) value: f64,
    /// `1 - tau`.
    pub(crate) miss: f64,
    /// `ln tau`.
    pub(crate) ln_value: f64,
    /// `ln (1 - tau)`.
    pub(crate) ln_miss: f64,
    /// `(1 - tau) / tau`.
    pub(crate) odds: f64,
}

impl Threshold {
    /// The threshold whose log-odds is this number of steps, or the nearest that is possible.
    pub(crate) fn at(step: i32) -> Self {
        let step = step.clamp(-MOST_STEPS, MOST_STEPS);
        let log_odds = f64::from(step) / STEPS;
        let (up, down) = (libm::exp(log_odds), libm::exp(-log_odds));
        Self {
            step,
            value: 1.0 / (1.0 + down),
            miss: 1.0 / (1.0 + up),
            ln_value: -ln_1p(down),
            ln_miss: -ln_1p(up),
            odds: down,
        }
    }

    /// This threshold over a share from 0 to 1; `None` if that is at least 1.
    pub(crate) fn over(self, share: f64) -> Option<Self> {
        if share == 1.0 {
            return Some(self);
        }
        let (value, miss) = (self.value / share, (share - self.value) / share);
        let (ln_value, ln_miss) = (self.ln_value - ln(share), ln_1p(-value));
        let over = Self { step: self.step, value, miss, ln_value, ln_miss, odds: miss / value };
        (miss > 0.0).then_some(over)
    }
}
