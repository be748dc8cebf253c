//! Values of the command line that replace values of an experiment's file.

use super::{Experiment, HORIZONS, RUNS, Task};
use std::ops::RangeInclusive;

/// Values of the command line that replace values of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Master seed.
    pub seed: Option<u64>,
    /// Number of runs.
    pub runs: Option<u64>,
    /// Rounds of a run.
    pub horizon: Option<u64>,
    /// Maximal number of rounds of a run.
    pub max_steps: Option<u64>,
    /// Number of random subsets of items.
    pub subsets: Option<u64>,
}

impl Overrides {
    /// Checks that every value is in its range.
    pub(super) fn check(&self) -> Result<(), OverrideError> {
        self.faults().next().map_or(Ok(()), Err)
    }

    /// The values that are out of their ranges.
    pub(super) fn faults(&self) -> impl Iterator<Item = OverrideError> {
        let given = [
            ("--runs", self.runs, RUNS),
            ("--horizon", self.horizon, HORIZONS),
            ("--max-steps", self.max_steps, HORIZONS),
            ("--subsets", self.subsets, 1..=1 << 16),
        ];
        given.into_iter().filter_map(|(option, value, range): (_, _, RangeInclusive<u64>)| {
            let value = value.filter(|value| !range.contains(value))?;
            let fault = format!("expected an integer from {} to {}", range.start(), range.end());
            Some(OverrideError { option, value, fault })
        })
    }
}

/// A value of the command line that an experiment cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{option} {value}: {fault}")]
pub struct OverrideError {
    option: &'static str,
    value: u64,
    fault: String,
}

impl Experiment {
    /// Applies values of the command line. With another horizon, a logarithmic schedule of
    /// checkpoints is computed again and a list is cut at the horizon, which remains the last
    /// checkpoint. With another seed, random subsets are redrawn.
    ///
    /// # Errors
    ///
    /// A value out of its range. The experiment is then unchanged.
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
        if let Some(fault) = changed.fault_of_runs() {
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
