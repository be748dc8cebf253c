//! Exploration rates: how the level of a confidence bound grows with the round.
//!
//! A *level* is the threshold, in nats, for a squared, scaled deviation: an arm with `n`
//! observations and mean `p` may still be as good as `q` as long as `n d(p, q) <= level`. The rate
//! at round `t` is
//!
//! ```text
//! max(0, (1 + epsilon) ln t + c ln ln t)
//! ```
//!
//! where `t` is the 1-based round being decided, so the statistics are those of `t - 1` rounds.
//!
//! Reference: Garivier and Cappe, *The KL-UCB algorithm for bounded stochastic bandits and beyond*,
//! COLT 2011 (`c = 3` in the analysis, `c = 0` in its experiments); Combes et al., SIGMETRICS 2015
//! (`c = 4`); Lagree, Vernade, Cappe 2016, Theorems 9 and 11 (`1 + epsilon`) and Algorithm 1
//! (`ln T` in place of `ln t`). Deviations: none. The papers do not define negative values
//! (`ln ln t` at `t = 2`); here they count as 0.
//!
//! | code | paper | unit |
//! |---|---|---|
//! | `t` | `t` | rounds, from 1 |
//! | `epsilon` | `epsilon` | - |
//! | `horizon` | `T` | rounds |
//! | result | `f(t)`, `delta` | nats |
//!
//! Numerics: our own logarithm, within one unit in the last place. Complexity: constant.

use crate::NonNegative;
use serde::{Deserialize, Serialize};

/// How the level of an exploration bound grows with the round.
///
/// # Examples
///
/// ```
/// use confidence::Rate;
///
/// assert_eq!(Rate::LOG.level(1), 0.0);
/// assert!((Rate::LOG.level(100) - 4.605_170_185_988_092).abs() < 1e-15);
/// // ln ln 1 is -inf, but a level is never negative.
/// assert_eq!(Rate::LOG_PLUS_4_LOG_LOG.level(1), 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    log: NonNegative,
    log_log: NonNegative,
    /// The round that stands in for the current one (`ln T` instead of `ln t`); 0 for none.
    horizon: u64,
}

impl Rate {
    /// `ln t`.
    pub const LOG: Self = Self::of(1, 0);
    /// `ln t + 3 ln ln t`.
    pub const LOG_PLUS_3_LOG_LOG: Self = Self::of(1, 3);
    /// `ln t + 4 ln ln t`.
    pub const LOG_PLUS_4_LOG_LOG: Self = Self::of(1, 4);

    const fn of(log: u32, log_log: u32) -> Self {
        Self { log: NonNegative::from_count(log), log_log: NonNegative::from_count(log_log), horizon: 0 }
    }

    /// `(1 + epsilon) ln t`.
    pub fn scaled_log(epsilon: NonNegative) -> Self {
        // 1 + epsilon is finite and positive since epsilon is.
        Self { log: NonNegative::new(1.0 + epsilon.get()).unwrap_or(epsilon), ..Self::LOG }
    }

    /// The same rate frozen at the value it has at round `horizon`; horizon 0 counts as 1.
    #[must_use]
    pub fn at_horizon(self, horizon: u64) -> Self {
        Self { horizon: horizon.max(1), ..self }
    }

    /// The level at the 1-based round `t`, in nats; never negative. Round 0 counts as round 1.
    #[inline]
    pub fn level(&self, t: u64) -> f64 {
        let t = if self.horizon == 0 { t } else { self.horizon };
        let log = crate::math::ln(t.max(1) as f64);
        let (factor, iterated) = (self.log.get(), self.log_log.get());
        let level = if iterated == 0.0 || log <= 0.0 {
            factor * log
        } else {
            factor * log + iterated * crate::math::ln(log)
        };
        level.max(0.0)
    }
}
