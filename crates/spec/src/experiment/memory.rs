//! Estimates the memory of an experiment: one that is too large is refused before it begins.
//!
//! Runs are recorded in a journal on disk, or in memory if there is no directory. In both cases
//! some things are in memory. With `c` checkpoints, in bytes:
//!
//! - for each run and policy: the place of its record, and its regret at one checkpoint while runs
//!   are summed up: `16 + 8`;
//! - for each run: its instance, its best reward, and a sample of the runs, unsorted and sorted:
//!   `4 * 8`;
//! - for each policy: 18 statistics and 10 columns of the result, as numbers and as text:
//!   `c * (28 * 8 + 28 * 2 * 24 + 6 * 128) + 2048`;
//! - for each pair of policies: 3 columns of the result, as numbers and as text:
//!   `c * (3 * 8 + 3 * 2 * 24) + 1024`;
//! - without a journal, for each run and policy: its record, counted twice because a buffer grows
//!   by doubling.
//!
//! A run that ends with an answer counts as one checkpoint. A number takes 24 bytes as text. A text
//! counts twice, because its buffer grows by doubling. The memory of a policy while it plays is not
//! counted: it is needed once per thread, not once per run.

use documents::number::noun;

/// The most memory that an experiment may take: 8 GiB.
const LIMIT: f64 = 8.0 * GIBIBYTE;
const GIBIBYTE: f64 = (1_u64 << 30) as f64;
/// Bytes of a number as text, with its separator.
const NUMBER: f64 = 24.0;
/// Bytes of the label and other words in a row of a table.
const WORDS: f64 = 128.0;

/// The largest number of bytes of a run's record on disk, without accuracy.
pub(super) fn record_bytes(checkpoints: Option<usize>) -> usize {
    // The head; regret and clicks at each checkpoint, or two counts and a byte.
    16 + checkpoints.map_or(17, |n| n.saturating_mul(16).min(usize::MAX - 16))
}

/// The counts that the memory of an experiment depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Runs of each policy.
    pub(super) runs: u64,
    /// Policies.
    pub(super) policies: u64,
    /// Checkpoints of a run; `None` if runs end with an answer.
    pub(super) checkpoints: Option<usize>,
}

impl Size {
    /// Why this is too large, if it is. `in_memory`: whether runs are recorded in memory.
    pub(super) fn too_large(self, in_memory: bool) -> Option<String> {
        let Self { runs, policies, checkpoints } = self;
        let (in_runs, in_summaries) = (self.of_runs(in_memory), self.of_summaries());
        let total = in_runs + in_summaries;
        if total <= LIMIT {
            return None;
        }
        let gibibytes = (total / GIBIBYTE).ceil();
        let at = checkpoints.map_or_else(String::new, |checkpoints| {
            format!(" at {checkpoints} {}", noun(checkpoints as u64, "checkpoint"))
        });
        let remedy = match (in_memory, in_runs > in_summaries, checkpoints.is_some()) {
            (true, true, true) => "give a directory for the runs, or reduce runs, policies or checkpoints",
            (true, true, false) => "give a directory for the runs, or reduce runs or policies",
            (false, true, _) => "reduce runs or policies",
            (_, false, true) => "reduce policies or checkpoints",
            (_, false, false) => "reduce policies",
        };
        Some(format!(
            "{runs} {} of {policies} {}{at} take about {gibibytes} GiB of memory, more than 8 GiB: {remedy}",
            noun(runs, "run"),
            noun(policies, "policy"),
        ))
    }

    // The estimates are in floating point, so no product overflows.

    /// Bytes that grow with the number of runs.
    fn of_runs(self, in_memory: bool) -> f64 {
        let record = if in_memory { 2.0 * record_bytes(self.checkpoints) as f64 } else { 0.0 };
        self.runs as f64 * (4.0 * 8.0 + self.policies as f64 * (16.0 + 8.0 + record))
    }

    /// Bytes that do not depend on the number of runs.
    fn of_summaries(self) -> f64 {
        let policies = self.policies as f64;
        let checkpoints = self.checkpoints.unwrap_or(1) as f64;
        let policy = 2048.0 + checkpoints * (28.0 * 8.0 + 28.0 * 2.0 * NUMBER + 6.0 * WORDS);
        let pair = 1024.0 + checkpoints * (3.0 * 8.0 + 3.0 * 2.0 * NUMBER);
        policies * policy + policies * (policies - 1.0) / 2.0 * pair
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(runs: u64, policies: u64, checkpoints: usize) -> Size {
        Size { runs, policies, checkpoints: Some(checkpoints) }
    }

    #[test]
    fn the_memory_of_runs_depends_on_where_they_are_recorded() {
        assert_eq!(size(10, 3, 200).of_runs(false), 10.0 * (32.0 + 3.0 * 24.0));
        assert_eq!(size(10, 3, 200).of_runs(true), 10.0 * (32.0 + 3.0 * (24.0 + 2.0 * 3216.0)));
        // 100,000 runs of ten policies at 200 checkpoints: far below 500 MB in a journal.
        assert!(size(100_000, 10, 200).of_runs(false) + size(100_000, 10, 200).of_summaries() < 5e7);
    }

    #[test]
    fn one_run_more_than_the_limit_is_refused() {
        // Each run takes 56 bytes, besides the summaries of one policy.
        let fits = 153_391_610;
        let bytes = fits as f64 * 56.0 + size(1, 1, 1).of_summaries();
        assert!(bytes <= LIMIT && bytes + 56.0 > LIMIT, "{bytes}");
        assert_eq!(size(fits, 1, 1).too_large(false), None);
        assert_eq!(
            size(fits + 1, 1, 1).too_large(false).unwrap(),
            "153391611 runs of 1 policy at 1 checkpoint take about 9 GiB of memory, more than 8 GiB: reduce runs or policies"
        );
        let fault = size(fits, 1, 1).too_large(true).unwrap();
        assert!(
            fault.ends_with("give a directory for the runs, or reduce runs, policies or checkpoints"),
            "{fault}"
        );
    }

    #[test]
    fn many_policies_are_refused_for_their_pairs() {
        let fault = size(1, 10_000, 200).too_large(false).unwrap();
        assert!(fault.ends_with("more than 8 GiB: reduce policies or checkpoints"), "{fault}");
        assert_eq!(size(1000, 20, 200).too_large(true), None);
    }

    #[test]
    fn answers_have_no_checkpoints() {
        let fault = Size { checkpoints: None, ..size(1 << 40, 3, 1) }.too_large(false).unwrap();
        assert!(fault.starts_with("1099511627776 runs of 3 policies take about"), "{fault}");
        assert!(fault.ends_with("more than 8 GiB: reduce runs or policies"), "{fault}");
    }

    #[test]
    fn the_largest_counts_are_refused_without_overflow() {
        assert!(size(u64::MAX, u64::MAX, usize::MAX).too_large(true).is_some());
        assert!(size(1, u64::MAX, 10_000).too_large(false).is_some());
    }
}
