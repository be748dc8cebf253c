//! A family of two-sided tests of means, with one level for all of them together (Bonferroni). The
//! test is the one that claims use: Student's t, and the sign test if every run has the same
//! difference.

use crate::claims::{fewest_runs, tail};
use documents::number;

/// The largest probability that any test of a family is wrongly significant, as of claims.
pub(crate) const LEVEL: f64 = 0.001;

/// A family of tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    pub(crate) comparisons: usize,
}

impl Family {
    /// The two-sided p-value of a statistic, corrected for the number of tests.
    pub(crate) fn p(self, z: f64, freedom: u64) -> f64 {
        (2.0 * tail(z.abs(), freedom) * self.comparisons.max(1) as f64).min(1.0)
    }

    /// Returns whether a statistic is significant. Few runs can have an arbitrarily large one.
    pub(crate) fn is_significant(self, z: f64, freedom: u64) -> bool {
        freedom + 1 >= fewest_runs(LEVEL) && self.p(z, freedom) <= LEVEL
    }
}

/// A mean divided by its standard error; infinite if the error is nothing but rounding.
pub(crate) fn statistic(mean: f64, se: f64) -> f64 {
    match mean {
        0.0 => 0.0,
        mean if number::is_rounding(se, mean) => f64::INFINITY.copysign(mean),
        mean => mean / se,
    }
}
