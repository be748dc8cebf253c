//! What a command line says in the place of an experiment's file.

use super::{Experiment, HORIZONS, RUNS, Task};
use std::ops::RangeInclusive;

/// What the command line changes in an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Another master seed.
    pub seed: Option<u64>,
    /// Another number of runs.
    pub runs: Option<u64>,
    /// Another horizon.
    pub horizon: Option<u64>,
    /// Other most steps.
    pub max_steps: Option<u64>,
    /// Another number of random subsets of items.
    pub subsets: Option<u64>,
}

impl Overrides {
    /// Whether every value is one that some experiment may have.
    pub(super) fn check(&self) -> Result<(), OverrideError> {
        let check = |option, value: Option<u64>, range: RangeInclusive<u64>| match value {
            Some(value) if !range.contains(&value) => {
                let fault = format!("expected an integer from {} to {}", range.start(), range.end());
                Err(OverrideError { option, value, fault })
            }
            _ => Ok(()),
        };
        check("--runs", self.runs, RUNS)?;
        check("--horizon", self.horizon, HORIZONS)?;
        check("--max-steps", self.max_steps, HORIZONS)?;
        check("--subsets", self.subsets, 1..=1 << 16)
    }
}

/// A value of the command line that makes no experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{option} {value}: {fault}")]
pub struct OverrideError {
    option: &'static str,
    value: u64,
    fault: String,
}

impl Experiment {
    /// Changes what the command line asks for. A logarithmic schedule of checkpoints is worked out again for another
    /// horizon, a list is cut at it; the horizon stays the last checkpoint.
    ///
    /// # Errors
    ///
    /// A value out of its range; the experiment is unchanged then.
    pub fn apply(&mut self, overrides: Overrides) -> Result<(), OverrideError> {
        overrides.check()?;
        for (option, key, value) in
            [("--horizon", "horizon", overrides.horizon), ("--max-steps", "max_steps", overrides.max_steps)]
        {
            if let (Some(value), Some(fault)) = (value, self.task.refuses(key)) {
                return Err(OverrideError { option, value, fault });
            }
        }
        let mut changed = self.clone();
        changed.seed = overrides.seed.unwrap_or(self.seed);
        let draws = (changed.seed != self.seed && self.instances.are_random()) || overrides.subsets.is_some();
        if draws {
            let subsets = overrides.subsets.map(|subsets| usize::try_from(subsets).unwrap_or(usize::MAX));
            let (option, value) = match overrides.subsets {
                Some(subsets) => ("--subsets", subsets),
                None => ("--seed", changed.seed),
            };
            changed.instances.draw(changed.seed, subsets).map_err(|error| {
                let fault = error.to_string();
                OverrideError { option, value, fault }
            })?;
        }
        changed.runs = match (overrides.runs, self.runs_per_instance()) {
            (Some(runs), _) => changed.all_runs(runs),
            (None, Some(each)) => changed.all_runs(each),
            (None, None) => self.runs,
        };
        changed.horizon = overrides.horizon.or(overrides.max_steps).unwrap_or(self.horizon);
        if self.task == Task::Regret {
            changed.checkpoints = self.schedule.checkpoints(changed.horizon);
        }
        if let Some(fault) = changed.too_large() {
            let (option, value) = match overrides.runs {
                Some(runs) => ("--runs", runs),
                None if self.task == Task::Identify => ("--max-steps", changed.horizon),
                None => ("--horizon", changed.horizon),
            };
            return Err(OverrideError { option, value, fault });
        }
        *self = changed;
        Ok(())
    }
}
