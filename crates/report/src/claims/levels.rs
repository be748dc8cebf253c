//! At which levels the tests of a claim are made, and what a mean with its standard error says at them.

use super::Verdict;
use crate::student;

/// The levels of the one-sided tests of a claim: one rule for all kinds.
///
/// *Reproduced* asks that all of them come out as stated. If one is not so in truth, that one alone comes out as stated with a
/// probability of at most the level, and all of them with no more: each is made at the claim's level (an intersection-union test).
///
/// *Contradicted* asks for one that comes out the other way round. Of `m` tests, each is made at the level divided by `m`
/// (Bonferroni), so that any does wrongly with a probability of at most the level, whatever they have in common. Holm's procedure
/// would find the same: its first step has the same threshold, and the verdict needs no second one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// For "as stated".
    pub stated: f64,
    /// For "the other way round".
    pub opposite: f64,
}

impl Levels {
    /// Of a claim at a level, of which this many one-sided tests are made.
    pub(super) fn of(level: f64, tests: usize) -> Self {
        Self { stated: level, opposite: level / tests.max(1) as f64 }
    }
}

/// What a mean and its standard error say of "it is negative".
pub(super) struct Sign {
    pub(super) statistic: f64,
    pub(super) says: Verdict,
}

impl Sign {
    pub(super) fn of(mean: f64, se: f64, freedom: u64, levels: Levels) -> Self {
        let statistic = if mean == 0.0 { 0.0 } else { mean / se };
        let tail = |statistic: f64| {
            // Runs that are all the same have no spread to judge by: their sign alone counts, as if each were a coin.
            if statistic == f64::INFINITY {
                coin(freedom + 1)
            } else {
                student::upper_tail(statistic, freedom)
            }
        };
        let says = if tail(-statistic) <= levels.stated {
            Verdict::Reproduced
        } else if tail(statistic) <= levels.opposite {
            Verdict::Contradicted
        } else {
            Verdict::Undecided
        };
        Self { statistic, says }
    }
}

/// Degrees of freedom of a sample's standard error.
pub(super) fn freedom_of(sample: &[f64]) -> u64 {
    (sample.len() as u64).saturating_sub(1)
}

/// The fewest runs whose means decide anything at a level: 10 at 0.001.
///
/// Student's t distribution is that of normal numbers, and few runs cannot show that theirs are: two that happen to be close have
/// any statistic. What holds without that, for any differences as likely above zero as below, is the sign test, and of `n` runs that all
/// fall on one side it finds `2^-n`. As many runs are needed as make this at most the level; the t test never decides on fewer.
pub(super) fn fewest_runs(level: f64) -> u64 {
    // No number between 0 and 2^-1074 can be written.
    (1..1075).find(|&runs| coin(runs) <= level).unwrap_or(1075)
}

/// The probability that this many fair coins all show heads.
fn coin(runs: u64) -> f64 {
    libm::exp2(-(runs as f64))
}
