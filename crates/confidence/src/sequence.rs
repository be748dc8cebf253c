//! Confidence sequences: intervals for a mean that hold *simultaneously for all* numbers of
//! observations.
//!
//! # Definition
//!
//! Observations `X_1, X_2, ...` in `[0, 1]` have the same mean `m` given the past. Intervals
//! `C_1, C_2, ...`, each a function of the observations so far, are a confidence sequence with miss
//! probability `alpha` if
//!
//! ```text
//! P(there is n >= 1 with m not in C_n) <= alpha.
//! ```
//!
//! They may be checked after every observation, and sampling may stop at any time. Each comes from
//! a process that is a non-negative supermartingale starting at 1 under the true mean, and grows
//! large under a false one: by Ville's inequality it ever reaches `1 / alpha` with probability at
//! most `alpha`.
//!
//! | sequence | use it for | state | reference |
//! |---|---|---|---|
//! | [`BetaMixture`] | clicks: close to the narrowest for Bernoulli variables at all `n` | constant | Robbins 1970 |
//! | [`CoinMixture`] | differences from 1/2, large and small | constant | as [`BetaMixture`] |
//! | [`KlMixture`] | proofs that need a rate `ln(1/alpha) + O(ln ln n)` | constant | Kaufmann and Koolen, JMLR 2021, Theorem 7 |
//! | [`EmpiricalBernstein`] | rewards of small variance | constant | Waudby-Smith and Ramdas, JRSS-B 2024, Theorem 2 |
//! | `HedgedBetting` (feature `std`) | rewards of small variance, few observations | a grid | Waudby-Smith and Ramdas, Theorem 3 |
//!
//! # Deviations
//!
//! - [`BetaMixture`] and [`KlMixture`] are stated for Bernoulli variables. They hold for variables
//!   in `[0, 1]`, because the moment generating function of such a variable is at most that of the
//!   Bernoulli variable with the same mean (convexity of `exp`).
//! - `HedgedBetting` tests the points of a grid, and its interval is rounded outward to the grid.
//!   It stops updating the capital of a candidate once the running intersection has excluded it.
//! - [`EmpiricalBernstein`] and `HedgedBetting` truncate bets at `c = 1/2`, one of the values that
//!   the paper names.
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `miss` | `alpha`, `delta` | number in `(0, 1)` | probability |
//! | `n` | `t` | count | observations |
//! | `sum` | `S_t` | `sum_i X_i` | reward |
//! | `candidate` | `m` | number in `[0, 1]` | mean |
//!
//! # Numerics
//!
//! [`kl_ucb_upper`](crate::kl_ucb_upper) and [`kl_ucb_lower`](crate::kl_ucb_lower) compute the
//! intervals of the first two, so rounding in the solver never makes them too narrow. The logarithm
//! of the beta function has a relative error of about 1e-15. Observations outside `[0, 1]` count as
//! the nearer edge; NaN is ignored. An interval without observations is `[0, 1]`. On rare paths on
//! which the sequence misses, the intersection that `HedgedBetting` keeps can become empty
//! (`lower > upper`).
//!
//! Complexity: constant per observation; for `HedgedBetting` proportional to the grid points not
//! yet excluded.

mod betting;
mod empirical_bernstein;
mod mixture;
mod plug_in;

pub use betting::Betting;
#[cfg(feature = "std")]
pub use betting::HedgedBetting;
pub use empirical_bernstein::EmpiricalBernstein;
pub use mixture::{BetaMixture, CoinMixture, KlMixture, mixture_threshold};

use crate::{Error, ErrorProbability};
use serde::{Deserialize, Serialize};

/// An interval of means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The smallest mean not excluded.
    pub lower: f64,
    /// The largest mean not excluded.
    pub upper: f64,
}

impl Interval {
    const EVERYTHING: Self = Self { lower: 0.0, upper: 1.0 };
}

/// A streaming confidence sequence.
pub trait ConfidenceSequence {
    /// Takes one observation in `[0, 1]`.
    fn observe(&mut self, x: f64);

    /// The interval after the observations so far.
    fn interval(&self) -> Interval;

    /// Returns whether `candidate` is in [`Self::interval`]; cheaper if computing the interval
    /// requires solving an equation.
    fn contains(&self, candidate: f64) -> bool {
        let interval = self.interval();
        interval.lower <= candidate && candidate <= interval.upper
    }
}

/// Validates an error probability.
fn checked(miss: f64) -> Result<f64, Error> {
    ErrorProbability::new(miss).map(ErrorProbability::get)
}

/// The observation that counts, if any.
fn clamped(x: f64) -> Option<f64> {
    (!x.is_nan()).then(|| x.clamp(0.0, 1.0))
}
