//! Estimates the memory of an experiment: one that is too large is refused before it begins.
//!
//! Some things are in memory, even if runs are recorded in a journal: `Size::of_runs` and
//! `Size::of_summaries` count their bytes. A record in memory counts twice, because a buffer grows
//! by doubling, and so does a text. The memory of a policy while it plays is not counted: it is
//! needed once per thread, not once per run.

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
        // The place of its record and a regret for each policy; its instance, its best reward, and
        // a sample, unsorted and sorted.
        let record = if in_memory { 2.0 * record_bytes(self.checkpoints) as f64 } else { 0.0 };
        self.runs as f64 * (4.0 * 8.0 + self.policies as f64 * (16.0 + 8.0 + record))
    }

    /// Bytes that do not depend on the number of runs.
    fn of_summaries(self) -> f64 {
        let policies = self.policies as f64;
        let checkpoints = self.checkpoints.unwrap_or(1) as f64;
        // 28 statistics and columns as numbers and as text, and three columns for a pair.
        let policy = 2048.0 + checkpoints * (28.0 * 8.0 + 28.0 * 2.0 * NUMBER + 6.0 * WORDS);
        let pair = 1024.0 + checkpoints * (3.0 * 8.0 + 3.0 * 2.0 * NUMBER);
        policies * policy + policies * (policies - 1.0) / 2.0 * pair
    }
}

#[cfg(test)]
mod tests;
