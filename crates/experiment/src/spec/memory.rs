//! Estimates the memory of an experiment, so that one that is too large is refused before it begins.
//!
//! All runs are kept until the end and then summed up. With `c` checkpoints, in bytes (`block(n)` is the size of a heap block of `n` bytes,
//! with its header and rounding):
//!
//! - for each run and policy, if regret is measured: a curve of three vectors (the last may be empty), held twice while the runs are
//!   gathered:
//!   `2 * 72 + 2 * block(8 c) + block(c)`;
//! - for each run and policy, if runs end with an answer: a record, held twice, and its values for claims: `2 * 24 + 16`;
//! - for each run: its instance, its best reward, and a sample of the runs, unsorted and sorted: `4 * 8`;
//! - for each policy: 18 statistics and 10 columns of the result, as numbers and as text: `c * (28 * 8 + 28 * 2 * 24 + 6 * 128) + 2048`;
//! - for each pair of policies: 3 columns of the result, as numbers and as text: `c * (3 * 8 + 3 * 2 * 24) + 1024`;
//! - for `runs.csv`, a row for each run, policy and checkpoint: `2 * 192`.
//!
//! A run that ends with an answer counts as one checkpoint. A number takes 24 bytes as text. A text counts twice, because its buffer grows
//! by doubling. The memory of a policy while it plays is not counted: it is needed once per thread, not once per run.

use crate::number::noun;
use sim::{Curve, Identification};

/// The most memory that an experiment may take: 8 GiB.
const LIMIT: f64 = 8.0 * GIBIBYTE;
const GIBIBYTE: f64 = (1_u64 << 30) as f64;
/// Bytes of a number as text, with its separator.
const NUMBER: f64 = 24.0;
/// Bytes of the label and other words in a row of a table.
const WORDS: f64 = 128.0;

/// The counts that the memory of an experiment depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Runs of each policy.
    pub(super) runs: u64,
    /// Policies.
    pub(super) policies: u64,
    /// The values kept for each run.
    pub(super) kept: PerRun,
}

/// The values kept for each run of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PerRun {
    /// Regret and clicks.
    Curves {
        /// The number of rounds after which they are recorded.
        checkpoints: u64,
    },
    /// The answer at the end.
    Answers,
}

impl Size {
    /// Why this is too large; `None` if it is not. `all_runs`: whether `runs.csv` is written.
    pub(super) fn too_large(self, all_runs: bool) -> Option<String> {
        let Self { runs, policies, kept } = self;
        let (in_runs, in_summaries) = (self.of_runs(all_runs), self.of_summaries());
        let total = in_runs + in_summaries;
        if total <= LIMIT {
            return None;
        }
        let gibibytes = (total / GIBIBYTE).ceil();
        let table = if all_runs { " and all of them in runs.csv" } else { "" };
        let (at, or_checkpoints) = match kept {
            PerRun::Curves { checkpoints } => {
                (format!(" at {checkpoints} {}", noun(checkpoints, "checkpoint")), true)
            }
            PerRun::Answers => (String::new(), false),
        };
        let remedy = match (all_runs, in_runs > in_summaries, or_checkpoints) {
            (true, true, true) => "leave out --keep-runs, or reduce runs, policies or checkpoints",
            (true, true, false) => "leave out --keep-runs, or reduce runs or policies",
            (false, true, true) => "reduce runs, policies or checkpoints",
            (false, true, false) => "reduce runs or policies",
            (_, false, true) => "reduce policies or checkpoints",
            (_, false, false) => "reduce policies",
        };
        Some(format!(
            "{runs} {} of {policies} {}{at}{table} take about {gibibytes} GiB of memory, more than 8 GiB: {remedy}",
            noun(runs, "run"),
            noun(policies, "policy"),
        ))
    }

    // The estimates are in floating point, so no product overflows.

    /// Bytes that grow with the number of runs.
    fn of_runs(self, all_runs: bool) -> f64 {
        let [runs, policies, checkpoints] = self.counts();
        let record = match self.kept {
            PerRun::Curves { .. } => {
                2.0 * size_of::<Curve>() as f64 + 2.0 * block(8.0 * checkpoints) + block(checkpoints)
            }
            PerRun::Answers => 2.0 * size_of::<Identification>() as f64 + 16.0,
        };
        let rows = if all_runs { checkpoints * 2.0 * (WORDS + 2.0 * NUMBER + 16.0) } else { 0.0 };
        runs * (4.0 * 8.0 + policies * (record + rows))
    }

    /// Bytes that do not depend on the number of runs.
    fn of_summaries(self) -> f64 {
        let [_, policies, checkpoints] = self.counts();
        let policy = 2048.0 + checkpoints * (28.0 * 8.0 + 28.0 * 2.0 * NUMBER + 6.0 * WORDS);
        let pair = 1024.0 + checkpoints * (3.0 * 8.0 + 3.0 * 2.0 * NUMBER);
        policies * policy + policies * (policies - 1.0) / 2.0 * pair
    }

    /// The numbers of runs, policies and checkpoints.
    fn counts(self) -> [f64; 3] {
        let checkpoints = match self.kept {
            PerRun::Curves { checkpoints } => checkpoints,
            PerRun::Answers => 1,
        };
        [self.runs as f64, self.policies as f64, checkpoints as f64]
    }
}

/// The size of a heap block of `bytes` bytes: with a header of 8, rounded up to a multiple of 16, at least 32.
fn block(bytes: f64) -> f64 {
    (((bytes + 8.0) / 16.0).ceil() * 16.0).max(32.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(runs: u64, policies: u64, checkpoints: u64) -> Size {
        Size { runs, policies, kept: PerRun::Curves { checkpoints } }
    }

    #[test]
    fn memory_of_answers_is_that_of_records_without_curves() {
        assert_eq!(size_of::<Identification>(), 24);
        let answers = Size { kept: PerRun::Answers, ..size(10, 3, 1) };
        assert_eq!(answers.of_runs(false), 10.0 * (32.0 + 3.0 * 64.0));
        let fault = Size { runs: 1 << 40, ..answers }.too_large(false).unwrap();
        assert!(fault.starts_with("1099511627776 runs of 3 policies take about"), "{fault}");
        assert!(fault.ends_with("more than 8 GiB: reduce runs or policies"), "{fault}");
    }

    #[test]
    fn memory_of_a_curve_is_its_record_and_three_heap_blocks() {
        assert_eq!(size_of::<Curve>(), 72);
        // One checkpoint: two entries of the list of curves, and three blocks of the smallest size.
        assert_eq!(size(1, 1, 1).of_runs(false), 4.0 * 8.0 + 2.0 * 72.0 + 3.0 * 32.0);
        assert_eq!(size(10, 3, 200).of_runs(false), 10.0 * (32.0 + 3.0 * (144.0 + 2.0 * 1616.0 + 208.0)));
    }

    #[test]
    fn one_run_more_than_the_limit_is_refused() {
        // Each run takes 272 bytes, besides the summaries of one policy.
        let fits = 31_580_625;
        let bytes = fits as f64 * 272.0 + size(1, 1, 1).of_summaries();
        assert!(bytes <= LIMIT && bytes + 272.0 > LIMIT, "{bytes}");
        assert_eq!(size(fits, 1, 1).too_large(false), None);
        assert_eq!(
            size(fits + 1, 1, 1).too_large(false).unwrap(),
            "31580626 runs of 1 policy at 1 checkpoint take about 9 GiB of memory, more than 8 GiB: reduce runs, \
             policies or checkpoints"
        );
        assert!(size(fits, 1, 1).too_large(true).unwrap().contains("leave out --keep-runs"));
    }

    #[test]
    fn many_policies_are_refused_for_their_pairs() {
        let fault = size(1, 10_000, 200).too_large(false).unwrap();
        assert!(fault.ends_with("more than 8 GiB: reduce policies or checkpoints"), "{fault}");
        assert_eq!(size(1000, 20, 200).too_large(true), None);
    }

    #[test]
    fn the_largest_counts_are_refused_without_overflow() {
        assert!(size(u64::MAX, u64::MAX, u64::MAX).too_large(true).is_some());
        assert!(size(1, u64::MAX, 10_000).too_large(false).is_some());
    }
}
