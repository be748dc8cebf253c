//! Values of the command line that replace values of an experiment's file, or add to it.

use super::entries::{check, has_prior};
use super::{Experiment, HORIZONS, RUNS, Task};
use crate::posterior::prior;
use documents::InputFile;
use documents::toml_reader::Error;
use std::ops::RangeInclusive;
use std::sync::Arc;

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
    /// Whether there may be no policies, since the caller has contenders.
    pub without_policies: bool,
}

impl Overrides {
    /// The values that are out of their ranges.
    pub(super) fn faults(&self) -> impl Iterator<Item = OverrideError> {
        let given = [
            ("runs", self.runs, RUNS),
            ("horizon", self.horizon, HORIZONS),
            ("max_steps", self.max_steps, HORIZONS),
            ("subsets", self.subsets, 1..=1 << 16),
        ];
        given.into_iter().filter_map(|(key, value, range): (_, _, RangeInclusive<u64>)| {
            let value = value.filter(|value| !range.contains(value))?;
            let fault = format!("expected an integer from {} to {}", range.start(), range.end());
            Some(OverrideError { key, value, fault })
        })
    }
}

documents::debug_is_display!(OverrideError);

/// A value in the place of one of the file that an experiment cannot have.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {value}: {fault}")]
pub struct OverrideError {
    /// The key of the replaced value, such as `max_steps`.
    pub key: &'static str,
    /// The value.
    pub value: u64,
    /// Why it is refused.
    pub fault: String,
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
        overrides.faults().next().map_or(Ok(()), Err)?;
        for (key, value) in [("horizon", overrides.horizon), ("max_steps", overrides.max_steps)] {
            if let (Some(value), Some(fault)) = (value, self.task.refuses(key)) {
                return Err(OverrideError { key, value, fault });
            }
        }
        let mut changed = self.clone();
        changed.seed = overrides.seed.unwrap_or(self.seed);
        let draws = (changed.seed != self.seed && self.instances.are_random()) || overrides.subsets.is_some();
        if draws {
            let subsets = overrides.subsets.map(|subsets| usize::try_from(subsets).unwrap_or(usize::MAX));
            let (key, value) = match overrides.subsets {
                Some(subsets) => ("subsets", subsets),
                None => ("seed", changed.seed),
            };
            let draws = changed.instances.draw(changed.seed, subsets);
            draws.map_err(|error| OverrideError { key, value, fault: error.to_string() })?;
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
            let (key, value) = match overrides.runs {
                Some(runs) => ("runs", runs),
                None => (self.task.length().name, changed.horizon),
            };
            return Err(OverrideError { key, value, fault });
        }
        *self = changed;
        Ok(())
    }
    /// Begins `hybrid-ts` and `pbm-gibbs` with the fit of a log, where no `prior` is given.
    ///
    /// # Errors
    ///
    /// No policy begins with a fit; the file is no fit of such users, or another one has its name.
    /// The experiment is then unchanged.
    pub fn begin_with(&mut self, path: &str, content: Vec<u8>) -> Result<(), Error> {
        let (file, mut begun) = (InputFile::new(path, content), self.clone());
        let whole = |fault: String| Error::whole_file(path, fault);
        let mut n_begun = 0;
        for (index, entry) in begun.policies.iter_mut().enumerate() {
            if !has_prior(&entry.spec) || entry.priors.is_some() || entry.begins_flat {
                continue;
            }
            let priors = prior::of_content(file.clone(), path, &entry.spec, &self.instances)?;
            entry.priors = Some(Arc::new(priors));
            check(entry, &self.instances, self.task, &self.live)
                .map_err(|fault| whole(fault.of_policy(index)))?;
            n_begun += 1;
        }
        if n_begun == 0 {
            return Err(whole("no policy without a `prior` can begin with a fit".to_owned()));
        }
        if let Some(fault) = begun.fault_of_inputs() {
            return Err(whole(fault));
        }
        *self = begun;
        Ok(())
    }
}
