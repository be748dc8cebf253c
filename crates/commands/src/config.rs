//! An experiment: which users, which policies, for how long, how often.
//!
//! An experiment is data. It is read from a TOML file ([`Experiment::from_document`]) or from one panel of a file that
//! holds several ([`Experiment::from_panel`]), may be changed from the command line ([`Overrides`]), has an identity that
//! tells it from every other experiment ([`Experiment::identity`]), and can be written as a file that reads back as the
//! same experiment ([`Experiment::to_toml`]).
//!
//! ```toml
//! name = "pbm-synthetic"             # letters, digits, `-`, `_` and `.`: it names files
//! task = "regret"                    # or "identify" or "budget", see below
//! horizon = 100_000                  # rounds of a run
//! runs = 1000                        # each on an instance drawn at random; { per-instance = 5 }: five on each, in turn
//! seed = 1
//! checkpoints = { log = 200 }        # the default; or a list of rounds, or both: { log = 200, also = [10_000] }; the
//!                                    # horizon is always added
//!
//! [[instances]]                      # several: each run draws one uniformly, the same one for every policy
//! model = "pbm"                      # all instances have the same model
//! name = "section 5.1"               # optional
//! theta = [0.45, 0.35, 0.25, 0.15, 0.05]
//! kappa = [0.9, 0.6, 0.3]
//!
//! [[policies]]
//! policy = "pbm-ts"                  # further keys are its parameters
//! label = "PBM-TS"                   # optional, the policy's name by default; unique
//! ```
//!
//! | task | what a run is | keys of its own |
//! |---|---|---|
//! | `regret` | the whole horizon; regret and clicks are recorded at checkpoints | `horizon`, `checkpoints` |
//! | `identify` | until the policy stops and names the best items | `max_steps`: where it is stopped without an answer |
//! | `budget` | the whole horizon, then the policy names the best items | `horizon` |
//!
//! The best items of an answer are as many as there are positions, on `cascade` instances. What belongs to another task is refused.
//!
//! | model | keys |
//! |---|---|
//! | `pbm`, `semi-bandit` | `theta`: attraction, one an item; `kappa`: examination, one a position |
//! | `cascade` | `attraction`, or `two-values = { items, best, others }`: as many `best` ones as there are positions; `positions`: their number; `weights`: what a click is worth, one a position (optional) |
//! | `dcm` | `attraction`; `leave`: one a position; `reward`: `"satisfaction"` (default) or `"clicks"` |
//! | `rank-one` | `rows` and `columns`: a probability each; or `needle = { rows = 32, columns = 32, base = 0.25, gap = 0.5 }`: the
//! first row and the first column have probability .75, all others .25; or `calibrated = { items = 871, positions = 10, mu = 0.13,
//! p_max = 0.85, seed = 1 }`: drawn to this summary ([`click_models::RankOneModel::calibrated`]), not measured |
//! | `dueling` | `preferences`: a row an item, `p_ij` with which it is preferred to each other one; or `file`: such a matrix as text; `arms`: which items
//! (optional), a list or `{ random = 16, subsets = 100 }`: so many random subsets, each an instance ([`duels`]) |
//!
//! A policy for one model plays users of another if it is said as what it reads their answers, `read-as = "cascade"`; one that has
//! to know examination probabilities is then told some, `kappa = [1.0, 0.6, 0.3]`, which may also be other than the users' own.

mod calibration;
mod checkpoints;
mod duels;
mod entries;
mod instance;
mod instances;
mod memory;
mod queries;
mod write;

pub(crate) use calibration::Calibration;
pub(crate) use checkpoints::Schedule;
pub(crate) use duels::MatrixFile;
pub(crate) use instance::Instance;
pub(crate) use instances::{InstanceTable, Instances, Model, Parameter, Parameters, for_readers};
pub(crate) use queries::{Data, FittedQuery, Given, Queries};

use self::entries::read_policies;
use self::instances::{CanonicalInstance, read_instances};
use self::memory::{Kept, Size};
use crate::report::number::noun;
use crate::toml_reader::{Document, Error, Field, Location, Table, push_known};
use confidence::Probability;
use contenders::Entrant;
use policies::catalogue::PolicySpec;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use sim::Assignment;
use std::ops::RangeInclusive;

/// Horizons: rounds and clicks are also counted in floating point, which is exact up to here.
pub(crate) const HORIZONS: RangeInclusive<u64> = 1..=1 << 53;
/// Numbers of runs: what can be numbered with 32 bits.
pub(crate) const RUNS: RangeInclusive<u64> = 1..=u32::MAX as u64;
/// Rounds of all runs of a policy: they are counted and summed exactly up to here.
const MAX_ROUNDS: u64 = 1 << 53;
/// The longest name of an experiment, so that files can be named after it.
const MAX_NAME: usize = 100;
/// The longest label or other text for readers in characters, so that tables and figures have room for it.
pub(crate) const MAX_TITLE: usize = 100;
/// Keys of an experiment.
const KEYS: [&str; 9] =
    ["name", "task", "horizon", "max_steps", "runs", "seed", "checkpoints", "instances", "policies"];

/// What is simulated.
#[derive(Debug, Clone)]
pub(crate) struct Experiment {
    /// Name, fit for a file.
    pub(crate) name: String,
    /// What is done with the policies.
    pub(crate) task: Task,
    /// Rounds of a run, at least 1; where policies stop by themselves, the most (`max_steps` in files).
    pub(crate) horizon: u64,
    /// Independent runs of each policy, at least 1.
    pub(crate) runs: u64,
    /// Which instance a run plays on.
    pub(crate) assignment: Assignment,
    /// Master seed.
    pub(crate) seed: u64,
    /// 1-based rounds after which results are recorded, strictly increasing; the last one is the horizon. None where runs are asked for
    /// an answer at their end.
    pub(crate) checkpoints: Vec<u64>,
    /// Users; every run plays on one entry. None at all while their data are awaited, and then it cannot be run.
    pub(crate) instances: Instances,
    /// Whether the users are those of the data given for it.
    pub(crate) takes_data: bool,
    /// Policies in the order of the file, labels unique.
    pub(crate) policies: Vec<Entrant>,
    /// Where the checkpoints came from, for another horizon.
    schedule: Schedule,
}

/// What is done with the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Each plays the whole horizon, its regret is recorded.
    Regret,
    /// Each plays until it stops and names the best items.
    Identify,
    /// Each plays the whole horizon and then names the best items.
    Budget,
}

impl Task {
    /// All of them.
    const ALL: [Self; 3] = [Self::Regret, Self::Identify, Self::Budget];

    /// The name of the task in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::Identify => "identify",
            Self::Budget => "budget",
        }
    }

    /// The key of files that says how long a run is.
    fn length_key(self) -> &'static str {
        match self {
            Self::Regret | Self::Budget => "horizon",
            Self::Identify => "max_steps",
        }
    }

    /// Why it has no such key, if so.
    fn refuses(self, key: &str) -> Option<String> {
        let reason = match (self, key) {
            (Self::Identify, "horizon") => "ends when the policy stops: expected `max_steps` in its place",
            (Self::Regret | Self::Budget, "max_steps") => "plays the whole `horizon`: leave it out",
            (Self::Identify | Self::Budget, "checkpoints") => "looks at the end of a run only: leave it out",
            _ => return None,
        };
        Some(format!("task {:?} {reason}", self.name()))
    }
}

/// What the command line changes in an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    /// Another master seed.
    pub(crate) seed: Option<u64>,
    /// Another number of runs.
    pub(crate) runs: Option<u64>,
    /// Another horizon.
    pub(crate) horizon: Option<u64>,
    /// Other most steps.
    pub(crate) max_steps: Option<u64>,
    /// Another number of random subsets of items.
    pub(crate) subsets: Option<u64>,
}

impl Overrides {
    /// Whether every value is one that some experiment may have.
    fn check(&self) -> Result<(), OverrideError> {
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
pub(crate) struct OverrideError {
    option: &'static str,
    value: u64,
    fault: String,
}

impl Experiment {
    /// The experiment of a file that holds nothing else.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub(crate) fn from_document(document: &Document<'_>) -> Result<Self, Error> {
        let root = document.root();
        let experiment = Self::read(&Scope { over: &[], own: &root, shared: &[], given: Given::default() })?;
        root.finish()?;
        Ok(experiment)
    }

    /// The same with what the command line says, in the place of what the file says of it: that may be missing, or at fault.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the file or the command line.
    pub(crate) fn overridden(document: &Document<'_>, overrides: Overrides) -> anyhow::Result<Self> {
        overrides.check()?;
        let root = document.root();
        let given = Given { overrides, ..Given::default() };
        let mut experiment = Self::read(&Scope { over: &[], own: &root, shared: &[], given })?;
        root.finish()?;
        experiment.apply(overrides)?;
        Ok(experiment)
    }

    /// The experiment of one panel of a file.
    ///
    /// Every key but `name` may stand in `shared` (the top of the file) when `panel` does not have it. A panel may give
    /// `model` for all its instances, which then need none: so panels of different models can share their instances.
    /// Its instances may be `data`. The keys [`Self::OVER`] of the tables `over` go before its own, nearest first.
    ///
    /// Other keys of the tables are left for the caller, who ends with their `finish`.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub(crate) fn from_panel(
        over: &[&Table<'_>],
        panel: &Table<'_>,
        shared: &Table<'_>,
        given: Given<'_>,
    ) -> Result<Self, Error> {
        shared.know(&KEYS[1..]);
        Self::read(&Scope { over, own: panel, shared: &[shared], given })
    }

    /// The experiment of one variant of a panel, named after both: `PANEL.VARIANT`.
    ///
    /// Every key but `name` may stand in `panel` or in `shared` (the top of the file) when `variant` does not have it, and
    /// `model` in `variant` or `panel`. The keys [`Self::OVER`] of the tables `over` go before all others, nearest first.
    ///
    /// Other keys of the tables are left for the caller, who ends with their `finish`.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub(crate) fn from_variant(
        over: &[&Table<'_>],
        variant: &Table<'_>,
        panel: &Table<'_>,
        shared: &Table<'_>,
        given: Given<'_>,
    ) -> Result<Self, Error> {
        shared.know(&KEYS[1..]);
        panel.know(&[&KEYS[..], &["model"]].concat());
        let panel_name = read_name(&panel.required("name")?)?;
        let mut experiment = Self::read(&Scope { over, own: variant, shared: &[panel, shared], given })?;
        experiment.name = format!("{panel_name}.{}", experiment.name);
        if experiment.name.len() > MAX_NAME {
            let name: Field<'_> = variant.required("name")?;
            return Err(name.error("the name is longer than 100 characters together with the panel's"));
        }
        Ok(experiment)
    }

    /// The keys that a table laid over an experiment may have.
    pub(crate) const OVER: [&str; 3] = ["checkpoints", "instances", "policies"];

    fn read(scope: &Scope<'_, '_>) -> Result<Self, Error> {
        scope.own.know(&KEYS);
        let name = read_name(&scope.own_required("name", "a name for files")?)?;
        let task_field = scope.required("task", "\"regret\", \"identify\" or \"budget\"")?;
        let task = read_task(&task_field)?;
        for key in ["horizon", "max_steps", "checkpoints"] {
            if let (Some(fault), Some(field)) = (task.refuses(key), scope.nearby(key)) {
                return Err(field.error(fault));
            }
        }
        let Overrides { seed, runs, horizon, max_steps, .. } = scope.given.overrides;
        let (length_key, length) =
            (task.length_key(), if task == Task::Identify { max_steps } else { horizon });
        let horizon = match length {
            Some(length) => length,
            None => scope.required(length_key, "an integer of at least 1")?.integer_in(&HORIZONS)?,
        };
        let runs_field = scope.optional("runs");
        let (runs, assignment) = match (&runs_field, runs) {
            (Some(field), Some(runs)) => (runs, assignment_of(field)),
            (None, Some(runs)) => (runs, Assignment::Drawn),
            _ => read_runs(&scope.required("runs", "an integer of at least 1")?)?,
        };
        let seed = match seed {
            Some(seed) => seed,
            None => scope.required("seed", "an integer of at least 0")?.get()?,
        };
        let schedule = match scope.optional("checkpoints") {
            // A list is cut at the horizon of the command line.
            Some(field) if task == Task::Regret => {
                Schedule::read(&field, if length.is_some() { *HORIZONS.end() } else { horizon })?
            }
            _ => Schedule::default(),
        };
        let common = scope.common_model().map(|field| Model::read(&field)).transpose()?;
        let field = scope.required("instances", TABLES)?;
        let is_shared = scope.nearby("instances").is_none();
        let takes_data = field.get::<String>().is_ok_and(|word| word == "data")
            || (is_shared && scope.given.replace_shared);
        let instances = if takes_data {
            scope.given.queries.instances(&field, common)?
        } else {
            read_instances(&field, common, seed, scope.given.matrix)?
        };
        if task != Task::Regret && instances.model() != Model::Cascade {
            return Err(task_field.error(format!(
                "task {:?} asks for the best items of {:?} instances, but these are {:?}",
                task.name(),
                Model::Cascade.name(),
                instances.model().name()
            )));
        }
        let policies = read_policies(&scope.required("policies", TABLES)?, &instances, task)?;
        let checkpoints = if task == Task::Regret { schedule.checkpoints(horizon) } else { vec![] };
        let mut experiment = Self {
            name,
            task,
            horizon,
            runs: 0,
            assignment,
            seed,
            checkpoints,
            instances,
            takes_data,
            policies,
            schedule,
        };
        experiment.runs = experiment.all_runs(runs);
        // What the command line makes too large is its own fault.
        let is_overridden = scope.given.overrides.runs.is_some() || length.is_some();
        match (runs_field, experiment.too_large()) {
            (Some(field), Some(fault)) if !is_overridden => Err(field.error(fault)),
            _ => Ok(experiment),
        }
    }

    /// Changes what the command line asks for. A logarithmic schedule of checkpoints is worked out again for another
    /// horizon, a list is cut at it; the horizon stays the last checkpoint.
    ///
    /// # Errors
    ///
    /// A value out of its range; the experiment is unchanged then.
    pub(crate) fn apply(&mut self, overrides: Overrides) -> Result<(), OverrideError> {
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

    /// The number of runs, where so many are asked for: of each instance, if these have their turns.
    fn all_runs(&self, asked: u64) -> u64 {
        match self.assignment {
            Assignment::Drawn => asked,
            Assignment::InTurn => asked.saturating_mul(self.instances.count().max(1) as u64),
        }
    }

    /// Whether its users compare two items.
    pub(crate) fn has_duels(&self) -> bool {
        self.instances.model() == Model::Dueling
    }

    /// How many runs each instance has, where they have their turns.
    pub(crate) fn runs_per_instance(&self) -> Option<u64> {
        let each = || self.runs / self.instances.count().max(1) as u64;
        (self.assignment == Assignment::InTurn).then(each)
    }

    /// Rounds of every run; none where policies stop by themselves.
    pub(crate) fn fixed_horizon(&self) -> Option<u64> {
        (self.task != Task::Identify).then_some(self.horizon)
    }

    /// The most rounds of a run; none where all play the same number.
    pub(crate) fn max_steps(&self) -> Option<u64> {
        (self.task == Task::Identify).then_some(self.horizon)
    }

    /// Why the experiment is beyond any machine, when it is.
    fn too_large(&self) -> Option<String> {
        let Self { runs, horizon, .. } = self;
        if runs.checked_mul(*horizon).is_none_or(|rounds| rounds > MAX_ROUNDS) {
            let noun = noun(*runs, "run");
            return Some(format!("{runs} {noun} of {horizon} rounds are more than {MAX_ROUNDS} rounds"));
        }
        self.size().too_large(false)
    }

    /// Why the experiment cannot be run on any machine with every run in `runs.csv`, when that is so.
    pub(crate) fn too_large_for_all_runs(&self) -> Option<String> {
        self.size().too_large(true)
    }

    fn size(&self) -> Size {
        Size {
            runs: self.runs,
            policies: self.policies.len() as u64,
            kept: match self.task {
                Task::Regret => Kept::Curves { checkpoints: self.checkpoints.len() as u64 },
                Task::Identify | Task::Budget => Kept::Answers,
            },
        }
    }

    /// Everything that decides the result, as JSON that is the same for the same experiment however its file is laid
    /// out: defaults filled in, keys in a fixed order, numbers as they are.
    ///
    /// # Panics
    ///
    /// Never: an experiment has nothing that JSON cannot hold.
    pub(crate) fn canonical_json(&self) -> String {
        serde_json::to_string(self).expect("an experiment has only finite numbers and text")
    }

    /// SHA-256 of the canonical JSON, in hexadecimal.
    pub(crate) fn identity(&self) -> String {
        hexadecimal(&Sha256::digest(self.canonical_json()))
    }
}

/// The canonical form.
impl Serialize for Experiment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Canonical<'a> {
            name: &'a str,
            task: Task,
            #[serde(skip_serializing_if = "Option::is_none")]
            horizon: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            max_steps: Option<u64>,
            runs: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            runs_per_instance: Option<u64>,
            seed: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            checkpoints: Option<&'a [u64]>,
            model: &'static str,
            instances: Vec<CanonicalInstance>,
            policies: Vec<CanonicalPolicy<'a>>,
        }
        #[derive(Serialize)]
        struct CanonicalPolicy<'a> {
            label: &'a str,
            policy: &'a PolicySpec,
            #[serde(skip_serializing_if = "Option::is_none")]
            read_as: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            told: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            kappa: Option<&'a [Probability]>,
        }

        let policies = self.policies.iter();
        Canonical {
            name: &self.name,
            task: self.task,
            horizon: self.fixed_horizon(),
            max_steps: self.max_steps(),
            runs: self.runs,
            runs_per_instance: self.runs_per_instance(),
            seed: self.seed,
            checkpoints: (self.task == Task::Regret).then_some(self.checkpoints.as_slice()),
            model: self.instances.model().name(),
            instances: self.instances.parameters().into_iter().map(CanonicalInstance).collect(),
            policies: policies
                .map(|entry| CanonicalPolicy {
                    label: &entry.label,
                    policy: &entry.spec,
                    read_as: entry.read_as.map(|protocol| Model::of(protocol).name()),
                    told: entry.told_gamma.then_some("gamma"),
                    kappa: entry.examination.as_deref(),
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

/// Bytes as two lower-case hexadecimal digits each.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Where an experiment's keys are looked up.
struct Scope<'a, 'doc> {
    /// The tables whose keys go before all others, nearest first; of the keys [`Experiment::OVER`] alone.
    over: &'a [&'a Table<'doc>],
    /// The experiment's own table.
    own: &'a Table<'doc>,
    /// The tables whose keys stand in for missing ones, nearest first; the last one is the top of the file.
    shared: &'a [&'a Table<'doc>],
    /// What stands in for data and matrices.
    given: Given<'a>,
}

impl<'doc> Scope<'_, 'doc> {
    fn optional(&self, key: &str) -> Option<Field<'doc>> {
        self.over(key)
            .or_else(|| self.own.field(key))
            .or_else(|| self.shared.iter().find_map(|table| table.field(key)))
    }

    fn over(&self, key: &str) -> Option<Field<'doc>> {
        if !Experiment::OVER.contains(&key) {
            return None;
        }
        self.over.iter().find_map(|table| table.field(key))
    }

    fn required(&self, key: &str, expected: &str) -> Result<Field<'doc>, Error> {
        self.optional(key).ok_or_else(|| {
            let elsewhere = match self.shared.len() {
                0 => "",
                1 => ", here or at the top of the file",
                _ => ", here, in the panel or at the top of the file",
            };
            self.own.missing(key, &format!("{expected}{elsewhere}"))
        })
    }

    /// A key of the experiment's own, or of its panel: the top of a file that holds several speaks of others, too.
    fn nearby(&self, key: &str) -> Option<Field<'doc>> {
        let panels = self.shared.split_last().map_or(&[][..], |(_, panels)| panels);
        self.over(key)
            .or_else(|| self.own.field(key))
            .or_else(|| panels.iter().find_map(|table| table.field(key)))
    }

    /// The model of all instances, which a panel or its variant may give, the top of a file not.
    fn common_model(&self) -> Option<Field<'doc>> {
        let (_, panels) = self.shared.split_last()?;
        self.own.field("model").or_else(|| panels.iter().find_map(|table| table.field("model")))
    }

    fn own_required(&self, key: &str, expected: &str) -> Result<Field<'doc>, Error> {
        self.own.field(key).ok_or_else(|| self.own.missing(key, expected))
    }
}

/// What `instances` and `policies` have to be.
const TABLES: &str = "at least one table, written with double brackets";

fn read_name(field: &Field<'_>) -> Result<String, Error> {
    let name: String = field.get()?;
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fault = if name.is_empty() {
        "the name is empty"
    } else if !name.bytes().all(safe) {
        "the name has characters that are not safe in file names"
    } else if name.starts_with(['.', '-']) {
        "the name begins with a point or a dash"
    } else if name.len() > MAX_NAME {
        "the name is longer than 100 characters"
    } else {
        return Ok(name);
    };
    Err(field.error(format!(
        "{fault}: expected letters A to Z, digits, `-`, `_` and `.`, a letter or digit first"
    )))
}

/// Whether runs are counted in all or `{ per-instance = n }`.
fn assignment_of(runs: &Field<'_>) -> Assignment {
    if runs.is_table() { Assignment::InTurn } else { Assignment::Drawn }
}

/// How many runs, in all or `{ per-instance = n }`.
fn read_runs(field: &Field<'_>) -> Result<(u64, Assignment), Error> {
    if !field.is_table() {
        return Ok((field.integer_in(&RUNS)?, assignment_of(field)));
    }
    let table: Table<'_> = field.get()?;
    let each = table
        .field("per-instance")
        .ok_or_else(|| table.missing("per-instance", "the number of runs of each instance"))?;
    table.finish()?;
    Ok((each.integer_in(&RUNS)?, assignment_of(field)))
}

fn read_task(field: &Field<'_>) -> Result<Task, Error> {
    let name: String = field.get()?;
    Task::ALL.into_iter().find(|task| task.name() == name).ok_or_else(|| {
        let mut message = format!("unknown task {name:?}");
        push_known(&mut message, &name, &Task::ALL.map(Task::name), "task");
        field.error(message)
    })
}

/// The tables of `[[key]]`, at least one.
fn read_tables<'doc>(field: &Field<'doc>) -> Result<Vec<Table<'doc>>, Error> {
    if !field.is_array() {
        return Err(field.error(format!("{} found: expected {TABLES}", field.describe())));
    }
    let tables: Vec<Table<'doc>> = field.get()?;
    if tables.is_empty() { Err(field.error(format!("none given: expected {TABLES}"))) } else { Ok(tables) }
}

/// The longest list that is said by its length: about what the largest file could write out.
const LONGEST_LIST: u64 = 1 << 24;

/// How many rows, columns or items there are, where they are not listed.
fn read_size(table: &Table<'_>, key: &str) -> Result<usize, Error> {
    let size = table.required::<Field<'_>>(key)?.integer_in(&(1..=LONGEST_LIST))?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

/// A label or name for readers: anything that is one line and not blank.
fn read_title(field: &Field<'_>) -> Result<String, Error> {
    let title: String = field.get()?;
    let fault = if title.is_empty() {
        "the text is empty"
    } else if title.trim() != title {
        "the text begins or ends with a space"
    } else if has_invisible(&title) {
        "the text has a line break, a control character or one that cannot be seen"
    } else if title.chars().count() > MAX_TITLE {
        "the text is longer than 100 characters"
    } else {
        return Ok(title);
    };
    Err(field.error(format!("{fault}: expected one line of text")))
}

/// Whether a text has a character that is a control character, breaks the line, has no width or turns the direction of the text. What joins
/// letters of a script, or emoji, is seen in what it joins.
pub(crate) fn has_invisible(text: &str) -> bool {
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
        let joins = || !before.is_ascii() && rest.clone().next().is_some_and(|after| !after.is_ascii());
        let is_invisible = character.is_control()
            || matches!(
                character,
                '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            );
        if is_invisible && !(is_joiner && joins()) {
            return true;
        }
        before = character;
    }
    false
}

/// Refuses a name that was given before.
fn unique(
    given: &mut Vec<(String, Location)>,
    name: String,
    location: Location,
    kind: &str,
) -> Result<(), Error> {
    if let Some((_, first)) = given.iter().find(|(other, _)| *other == name) {
        let line = first.line();
        let remedy = if kind == "label" { ": tell them apart with `label`" } else { "" };
        return Err(location.error(format!("{kind} {name:?} is already used in line {line}{remedy}")));
    }
    given.push((name, location));
    Ok(())
}

#[cfg(test)]
mod tests;
