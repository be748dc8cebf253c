//! Confidence sequences: intervals for a mean that hold *simultaneously for all* numbers of observations.
//!
//! # Definition
//!
//! Observations `X_1, X_2, ...` in `[0, 1]` have the same mean `m` given the past. Intervals `C_1, C_2, ...`,
//! each a function of the observations so far, are a confidence sequence with miss probability `alpha` if
//!
//! ```text
//! P(there is n >= 1 with m not in C_n) <= alpha.
//! ```
//!
//! One may look at them after every observation and stop whenever one likes. Each comes from a process that
//! is a non-negative supermartingale with start 1 under the true mean and large under a false one: by Ville's
//! inequality it ever reaches `1 / alpha` with probability at most `alpha`.
//!
//! | sequence | what it is good for | state | reference |
//! |---|---|---|---|
//! | [`BetaMixture`] | clicks: close to the best for Bernoulli variables at all `n` | constant | Robbins 1970 |
//! | [`KlMixture`] | where a rate `ln(1/alpha) + O(ln ln n)` is wanted in an analysis | constant | Kaufmann and Koolen, JMLR 2021, Theorem 7 |
//! | [`EmpiricalBernstein`] | rewards of small variance | constant | Waudby-Smith and Ramdas, JRSS-B 2024, Theorem 2 |
//! | `HedgedBetting` (feature `std`) | the same, narrower for few observations | a grid | same, Theorem 3 |
//!
//! # Deviations
//!
//! - [`BetaMixture`] and [`KlMixture`] are stated for Bernoulli variables. They hold for variables in
//!   `[0, 1]`, because the moment generating function of such a variable is at most that of the Bernoulli
//!   variable with the same mean (convexity of `exp`).
//! - `HedgedBetting` rejects the points of a grid, and its interval is rounded outward to the grid. The
//!   capital of a candidate that the running intersection has excluded is not followed any further.
//! - [`EmpiricalBernstein`] and `HedgedBetting` truncate bets at `c = 1/2`, one of the values that the paper
//!   names.
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
//! The intervals of the first two are inverted by [`kl_ucb_upper`](crate::kl_ucb_upper) and
//! [`kl_ucb_lower`](crate::kl_ucb_lower), so they are never too narrow by rounding of the solver; the
//! logarithm of the beta function is right to about 1e-15 of its size. Observations outside `[0, 1]` count as
//! the nearer edge; NaN is not counted. An interval without observations is `[0, 1]`. On the rare paths where
//! a sequence misses, the intersection that `HedgedBetting` keeps can become empty (`lower > upper`).
//!
//! Complexity: constant per observation; for `HedgedBetting` proportional to the grid points not yet excluded.
//!
//! ```
//! use confidence::sequence::{BetaMixture, ConfidenceSequence};
//!
//! let mut clicks = BetaMixture::new(0.05)?;
//! for i in 0..1000 {
//!     clicks.observe(if i % 10 == 0 { 1.0 } else { 0.0 });
//! }
//! let interval = clicks.interval();
//! assert!(interval.lower < 0.1 && 0.1 < interval.upper && interval.upper - interval.lower < 0.08);
//! # Ok::<(), confidence::Error>(())
//! ```

mod betting;
mod empirical_bernstein;
mod mixture;
mod plug_in;

pub use betting::Betting;
#[cfg(feature = "std")]
pub use betting::HedgedBetting;
pub use empirical_bernstein::EmpiricalBernstein;
pub use mixture::{BetaMixture, KlMixture, mixture_threshold};

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

    /// Whether `candidate` is in [`Self::interval`]; cheaper where that solves an equation.
    fn contains(&self, candidate: f64) -> bool {
        let interval = self.interval();
        interval.lower <= candidate && candidate <= interval.upper
    }
}

/// A probability of error, checked.
fn checked(miss: f64) -> Result<f64, Error> {
    ErrorProbability::new(miss).map(ErrorProbability::get)
}
