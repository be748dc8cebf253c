//! The levels of the one-sided tests of a claim, and the test of a mean at these levels.

use super::Verdict;
use crate::student;
use documents::number;

/// The levels of the one-sided tests of a claim. All kinds of tests use the same rule.
///
/// *Reproduced* requires that every test is significant as stated. Each is made at the claim's
/// level (an intersection-union test): if a statement is false, its test alone is significant with
/// a probability of at most the level, and so are all tests together.
///
/// *Contradicted* requires that one test is significant in the other direction. Each of `m` tests
/// is made at the level divided by `m` (Bonferroni). So the probability that any is wrongly
/// significant is at most the level, however the tests are correlated. Holm's procedure gives the
/// same verdict: its first step has the same threshold, and the verdict needs no second step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// The level for significance in the stated direction.
    pub stated: f64,
    /// The level for significance in the other direction.
    pub opposite: f64,
}

impl Levels {
    /// The levels of a claim at `level` with this number of one-sided tests.
    pub(super) fn of(level: f64, tests: usize) -> Self {
        Self { stated: level, opposite: level / tests.max(1) as f64 }
    }

    /// The verdict by the probabilities of a result at least this extreme in either direction.
    pub(super) fn verdict(self, stated: f64, opposite: f64) -> Verdict {
        if stated <= self.stated {
            Verdict::Reproduced
        } else if opposite <= self.opposite {
            Verdict::Contradicted
        } else {
            Verdict::Undecided
        }
    }
}

/// Cumulative sums of two policies that are equal differ by rounding: by less than this share.
const ROUNDING: f64 = 1e-10;

/// `a - b`, and 0 if it is rounding, by which policies without noise could win.
pub(super) fn difference(a: f64, b: f64) -> f64 {
    let difference = a - b;
    if difference.abs() <= ROUNDING * a.abs().max(b.abs()) { 0.0 } else { difference }
}

/// The test of the statement "the mean is negative".
pub(super) struct Sign {
    pub(super) statistic: f64,
    pub(super) says: Verdict,
}

impl Sign {
    pub(super) fn of(mean: f64, se: f64, freedom: u64, levels: Levels) -> Self {
        let statistic = if mean == 0.0 { 0.0 } else { mean / se };
        Self { statistic, says: levels.verdict(tail(-statistic, freedom), tail(statistic, freedom)) }
    }
}

/// The probability that a mean of zero has a statistic of at least this.
pub(crate) fn tail(statistic: f64, freedom: u64) -> f64 {
    // Equal runs have no spread. Then the sign test applies: each run counts as a toss of a coin.
    if statistic == f64::INFINITY { coin(freedom + 1) } else { student::upper_tail(statistic, freedom) }
}

/// The degrees of freedom of the standard error of a sample.
pub(super) fn freedom_of(sample: &[f64]) -> u64 {
    (sample.len() as u64).saturating_sub(1)
}

/// The minimal number of runs for a decision at a level: 10 at 0.001.
///
/// The t test assumes normal numbers, which few runs cannot confirm: two runs that happen to be
/// close have an arbitrarily large statistic. The sign test needs no such assumption, only that a
/// difference is as likely positive as negative; its p-value is `2^-n` if all `n` runs have the
/// same sign. The t test decides only with enough runs to make this at most the level.
pub(crate) fn fewest_runs(level: f64) -> u64 {
    // 2^-1074 is the smallest positive number of an f64.
    (1..1075).find(|&runs| coin(runs) <= level).unwrap_or(1075)
}

/// The probability that this many fair coins all show heads.
pub(super) fn coin(runs: u64) -> f64 {
    libm::exp2(-(runs as f64))
}

/// The level of claims that give no other, and of all tests of a family together.
pub const LEVEL: f64 = 0.001;

/// Two-sided tests of means with one level for all of them together (Bonferroni): Student's t, and
/// the sign test if every run has the same difference.
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
