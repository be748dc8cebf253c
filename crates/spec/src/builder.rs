//! An experiment built in Rust.

use crate::experiment::{COUNTS, Experiment, HORIZONS, RUNS, Schedule, Task, check, live};
use crate::models::Instances;
use contenders::Entrant;
use documents::names::{name_fault, title_fault};
use itertools::Itertools as _;
use policies::catalogue::{PolicySpec, SpecError as PolicyError};
use sim::{Assignment, Conditions};
use std::ops::RangeInclusive;

/// Builds an [`Experiment`]. Every setting has a default.
///
/// | setting | default |
/// |---|---|
/// | task | [`Task::Regret`] |
/// | horizon | 10,000 rounds |
/// | runs | 100, in blocks that take each instance once, in a drawn order |
/// | seed | 1 |
/// | checkpoints | 200, evenly spread on a logarithmic scale |
///
/// # Examples
///
/// ```
/// use click_models::PositionBased;
/// use spec::{Experiment, Instances};
///
/// let users = PositionBased::from_values(&[0.45, 0.35, 0.25], &[0.9, 0.6])?;
/// let experiment = Experiment::builder("pbm-small", Instances::of([users]))
///     .horizon(1_000)
///     .policy("pbm-ts")
///     .policy("pbm-pie(level=log-horizon)")
///     .labelled("patient", "pbm-ucb(epsilon=0.1)")
///     .build()?;
/// // The written spec gives the same experiment.
/// assert_eq!(Experiment::from_toml(&experiment.to_toml())?.identity(), experiment.identity());
///
/// let error = Experiment::builder("x", Instances::of([PositionBased::from_values(&[0.5, 0.4], &[0.9])?]))
///     .policy("cascade-ts")
///     .build()
///     .unwrap_err();
/// assert!(error.to_string().starts_with("policies[0].policy: \"cascade-ts\" plays \"semi-bandit\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Builder {
    /// The settings so far. Its runs are those of each instance if instances take turns.
    experiment: Experiment,
    policies: Vec<Result<Entrant, PolicyError>>,
}

impl Experiment {
    /// Begins an experiment on these users. `name` consists of letters, digits, `-`, `_` and `.`,
    /// since files are named after it.
    pub fn builder(name: impl Into<String>, instances: Instances) -> Builder {
        let experiment = Self {
            name: name.into(),
            task: Task::Regret,
            horizon: 10_000,
            runs: 100,
            assignment: Assignment::Drawn,
            seed: 1,
            checkpoints: Vec::new(),
            instances,
            takes_data: false,
            live: Conditions::default(),
            policies: Vec::new(),
            schedule: Schedule::default(),
            comments: Vec::new(),
        };
        Builder { experiment, policies: Vec::new() }
    }
}

impl Builder {
    /// Sets the task: what a run measures and when it ends.
    #[must_use]
    pub fn task(mut self, task: Task) -> Self {
        self.experiment.task = task;
        self
    }

    /// Sets the number of rounds of a run; for [`Task::Identify`] the maximal number.
    #[must_use]
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.experiment.horizon = horizon;
        self
    }

    /// Sets the number of runs of each policy. Each block of as many runs as there are instances
    /// takes every one once, in a drawn order.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> Self {
        (self.experiment.runs, self.experiment.assignment) = (runs, Assignment::Drawn);
        self
    }

    /// Sets the number of runs of each policy on each instance.
    #[must_use]
    pub fn runs_per_instance(mut self, runs: u64) -> Self {
        (self.experiment.runs, self.experiment.assignment) = (runs, Assignment::InTurn);
        self
    }

    /// Sets the master seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.experiment.seed = seed;
        self
    }

    /// Sets the rounds (1-based) after which results are recorded. Rounds beyond the horizon are
    /// left out; the horizon is added.
    #[must_use]
    pub fn checkpoints(mut self, rounds: impl Into<Vec<u64>>) -> Self {
        let rounds = rounds.into().into_iter().sorted_unstable().dedup();
        self.experiment.schedule = Schedule::List(rounds.collect());
        self
    }

    /// Sets what disturbs the policies.
    #[must_use]
    pub fn live(mut self, conditions: Conditions) -> Self {
        self.experiment.live = if conditions.disturb() { conditions } else { Conditions::default() };
        self
    }

    /// Adds a policy of the catalogue by its name and parameters, as in
    /// `"pbm-pie(level=log-horizon)"`.
    #[must_use]
    pub fn policy(self, policy: &str) -> Self {
        self.add(None, policy)
    }

    /// Adds a policy of the catalogue under a label of its own.
    #[must_use]
    pub fn labelled(self, label: &str, policy: &str) -> Self {
        self.add(Some(label), policy)
    }

    fn add(mut self, label: Option<&str>, policy: &str) -> Self {
        let entry = policy.parse::<PolicySpec>().map(|spec| {
            let entry = Entrant::new(spec.row().name, spec);
            Entrant { label: label.map_or_else(|| entry.label.clone(), str::to_owned), ..entry }
        });
        self.policies.push(entry);
        self
    }

    /// Adds a policy of the catalogue with all its settings: label, examination that it assumes,
    /// model as which it reads clicks.
    #[must_use]
    pub fn entrant(mut self, entrant: Entrant) -> Self {
        self.policies.push(Ok(entrant));
        self
    }

    /// Adds comments to the file that [`Experiment::to_toml`] writes: lines for the top, then lines
    /// for each instance, in order.
    #[must_use]
    pub fn comments(mut self, top: Vec<String>, of_instances: Vec<Vec<String>>) -> Self {
        self.experiment.comments = std::iter::once(top).chain(of_instances).collect();
        self
    }

    /// Builds the experiment.
    ///
    /// # Errors
    ///
    /// A value out of its range, an unknown policy, or a policy that cannot play these users.
    pub fn build(self) -> Result<Experiment, BuildError> {
        let Self { mut experiment, policies } = self;
        let Experiment { name, task, horizon, runs, instances, schedule, .. } = &experiment;
        let (task, horizon) = (*task, *horizon);
        let in_field = |field: &str, fault: &str| BuildError(format!("{field}: {fault}"));
        if let Some(fault) = name_fault(name) {
            return Err(in_field("name", &fault));
        }
        let in_range = |field: &str, value: u64, range: RangeInclusive<u64>| {
            let expected =
                format!("{value} found: expected an integer from {} to {}", range.start(), range.end());
            if range.contains(&value) { Ok(()) } else { Err(in_field(field, &expected)) }
        };
        in_range("horizon", horizon, HORIZONS)?;
        in_range("runs", *runs, RUNS)?;
        if let Schedule::List(rounds) = schedule
            && rounds.first() == Some(&0)
        {
            return Err(in_field("checkpoints", "0 found: rounds count from 1"));
        }
        in_range("checkpoints", schedule.listed(horizon).count().max(1) as u64, COUNTS)?;
        if instances.count() == 0 {
            return Err(in_field("instances", "none given: expected at least one"));
        }
        if task != Task::Regret && !instances.name_best_items() {
            let (task, model) = (task.name(), instances.model().name);
            return Err(in_field(
                "task",
                &format!("{task:?} asks for best items, which {model:?} instances do not have"),
            ));
        }
        let names: Vec<Option<String>> = instances.parameters().into_iter().map(|one| one.name).collect();
        for (index, name) in names.iter().enumerate().filter(|(_, name)| name.is_some()) {
            let field = format!("instances[{index}].name");
            if let Some(fault) = name.as_deref().and_then(title_fault) {
                return Err(in_field(&field, &fault));
            }
            if names[..index].contains(name) {
                return Err(in_field(&field, "is already used"));
            }
        }
        if experiment.live.disturb() {
            let conditions = &experiment.live;
            let written = || live::fault_of_written(&live::to_toml(conditions), conditions);
            if let Some(fault) = live::fault_of_users(instances, task, conditions).or_else(written) {
                return Err(in_field("live", &fault));
            }
        }
        let mut entries: Vec<Entrant> = Vec::new();
        for (index, entry) in policies.into_iter().enumerate() {
            let entry = entry.map_err(|error| in_field(&format!("policies[{index}]"), &error.to_string()))?;
            if entry.name != entry.spec.row().name {
                let fault = format!("{:?} found: expected {:?}", entry.name, entry.spec.row().name);
                return Err(in_field(&format!("policies[{index}].name"), &fault));
            }
            let label = |fault: &str| in_field(&format!("policies[{index}].label"), fault);
            if let Some(fault) = title_fault(&entry.label) {
                return Err(label(&fault));
            }
            if entries.iter().any(|other| other.label == entry.label) {
                return Err(label(&format!("{:?} is already used", entry.label)));
            }
            let used = entry.live.as_ref();
            if let Some(fault) = used.and_then(|used| live::fault_of_written(&live::use_to_toml(used), used))
            {
                return Err(in_field(&format!("policies[{index}].live"), &fault));
            }
            check(&entry, instances, task, &experiment.live)
                .map_err(|fault| BuildError(fault.of_policy(index)))?;
            entries.push(entry);
        }
        if task == Task::Regret {
            experiment.checkpoints = schedule.checkpoints(horizon);
        }
        experiment.policies = entries;
        experiment.runs = experiment.all_runs(experiment.runs);
        if let Some(fault) = experiment.fault_of_inputs() {
            return Err(BuildError(fault));
        }
        experiment.fault_of_runs().map_or(Ok(experiment), |fault| Err(in_field("runs", &fault)))
    }
}

documents::debug_is_display!(BuildError);

/// An error in an experiment that was built in Rust: `FIELD: what is wrong`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BuildError(String);

#[cfg(test)]
mod tests;
