//! An experiment: which users, which policies, for how long, how often.
//!
//! An experiment is data. It is read from a TOML file ([`Experiment::from_document`]) or from one panel of a file that
//! holds several ([`Experiment::from_panel`]), may be changed from the command line ([`Overrides`]), has an identity that
//! tells it from every other experiment ([`Experiment::identity`]), and can be written as a file that reads back as the
//! same experiment ([`Experiment::to_toml`]).
//!
//! ```toml
//! name = "pbm-synthetic"             # letters, digits, `-`, `_` and `.`: it names files
//! task = "regret"
//! horizon = 100_000                  # rounds of a run
//! runs = 1000
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
//! | model | keys |
//! |---|---|
//! | `pbm`, `semi-bandit` | `theta`: attraction, one an item; `kappa`: examination, one a position |
//! | `cascade` | `attraction`; `positions`: their number; `weights`: what a click is worth, one a position (optional) |
//! | `dcm` | `attraction`; `leave`: one a position; `reward`: `"satisfaction"` (default) or `"clicks"` |
//!
//! A policy for one model plays users of another if it is said as what it reads their answers, `read-as = "cascade"`; one that has
//! to know examination probabilities is then told some, `kappa = [1.0, 0.6, 0.3]`, which may also be other than the users' own.

mod checkpoints;
mod memory;
mod write;

pub(crate) use checkpoints::Schedule;

use self::memory::Size;
use crate::toml_reader::{Document, Error, Field, Location, Table, push_known};
use click_models::{CascadeModel, DcmReward, DependentClick, ListShape, PositionBased, RandomSemiBandit};
use confidence::Probability;
use policies::spec::{PolicySpec, Protocol};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
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
const MAX_TITLE: usize = 100;
/// Keys of an experiment.
const KEYS: [&str; 8] = ["name", "task", "horizon", "runs", "seed", "checkpoints", "instances", "policies"];

/// What is simulated.
#[derive(Debug, Clone)]
pub(crate) struct Experiment {
    /// Name, fit for a file.
    pub(crate) name: String,
    /// What is done with the policies.
    pub(crate) task: Task,
    /// Rounds of a run, at least 1.
    pub(crate) horizon: u64,
    /// Independent runs of each policy, at least 1.
    pub(crate) runs: u64,
    /// Master seed.
    pub(crate) seed: u64,
    /// 1-based rounds after which results are recorded, strictly increasing; the last one is the horizon.
    pub(crate) checkpoints: Vec<u64>,
    /// Users; every run draws one entry.
    pub(crate) instances: Instances,
    /// Policies in the order of the file, labels unique.
    pub(crate) policies: Vec<PolicyEntry>,
    /// Where the checkpoints came from, for another horizon.
    schedule: Schedule,
}

/// What is done with the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Each plays the whole horizon, its regret is recorded.
    Regret,
}

impl Task {
    /// The name of the task in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
        }
    }
}

/// The users of an experiment, at least one kind, all of the same model.
#[derive(Debug, Clone)]
pub(crate) enum Instances {
    /// Position-based model.
    Pbm(Vec<Instance<PositionBased>>),
    /// Random semi-bandit feedback.
    SemiBandit(Vec<Instance<RandomSemiBandit>>),
    /// Cascade model.
    Cascade(Vec<Instance<CascadeModel>>),
    /// Dependent click model.
    Dcm(Vec<Instance<DependentClick>>),
}

/// One kind of user.
#[derive(Debug, Clone)]
pub(crate) struct Instance<M> {
    /// Name, when the file gives one.
    pub(crate) name: Option<String>,
    /// How these users click.
    pub(crate) model: M,
}

/// The parameters of one kind of user by their names in files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters {
    /// Name, when the file gives one.
    pub(crate) name: Option<String>,
    /// Keys and values, in the order in which they are written.
    pub(crate) values: Vec<(&'static str, Parameter)>,
}

/// What a parameter of a model is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Parameter {
    /// One number an item or a position.
    Numbers(Vec<f64>),
    /// How many.
    Count(usize),
    /// One of several names.
    Name(String),
}

impl Parameter {
    fn of(list: &[Probability]) -> Self {
        Self::Numbers(list.iter().map(|probability| probability.get()).collect())
    }

    /// The numbers of a list; none of anything else.
    pub(crate) fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Count(_) | Self::Name(_) => &[],
        }
    }
}

/// A policy that takes part.
#[derive(Debug, Clone)]
pub(crate) struct PolicyEntry {
    /// Name in this experiment.
    pub(crate) label: String,
    /// The policy's own name.
    pub(crate) name: String,
    /// The policy with its parameters.
    pub(crate) spec: PolicySpec,
    /// As what it reads the users' answers, if not as what they are.
    pub(crate) read_as: Option<Protocol>,
    /// The examination probabilities that it is told, if not the users' own; one a position.
    pub(crate) examination: Option<Vec<Probability>>,
    /// Where the file says so.
    pub(crate) location: Location,
}

/// A click model by the name it has in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Position-based model.
    Pbm,
    /// Random semi-bandit feedback.
    SemiBandit,
    /// Cascade model.
    Cascade,
    /// Dependent click model.
    Dcm,
}

impl Model {
    const ALL: [Self; 4] = [Self::Pbm, Self::SemiBandit, Self::Cascade, Self::Dcm];

    /// The name of the model in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pbm => "pbm",
            Self::SemiBandit => "semi-bandit",
            Self::Cascade => "cascade",
            Self::Dcm => "dcm",
        }
    }

    fn read(field: &Field<'_>) -> Result<Self, Error> {
        let name: String = field.get()?;
        Self::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            let mut message = format!("unknown model {name:?}");
            push_known(&mut message, &name, &Self::ALL.map(Self::name), "model");
            field.error(message)
        })
    }

    /// The protocol that its users speak.
    fn protocol(self) -> Protocol {
        match self {
            Self::Pbm => Protocol::PositionBased,
            Self::SemiBandit => Protocol::SemiBandit,
            Self::Cascade => Protocol::Cascade,
            Self::Dcm => Protocol::Dcm,
        }
    }

    /// The model whose users speak a protocol.
    fn of(protocol: Protocol) -> Self {
        Self::ALL.into_iter().find(|model| model.protocol() == protocol).unwrap_or(Self::Pbm)
    }
}

impl Instances {
    /// The model that all of them have.
    pub(crate) fn model(&self) -> Model {
        match self {
            Self::Pbm(_) => Model::Pbm,
            Self::SemiBandit(_) => Model::SemiBandit,
            Self::Cascade(_) => Model::Cascade,
            Self::Dcm(_) => Model::Dcm,
        }
    }

    fn shapes(&self) -> Vec<ListShape> {
        match self {
            Self::Pbm(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::SemiBandit(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::Cascade(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::Dcm(list) => list.iter().map(|instance| instance.model.shape()).collect(),
        }
    }

    /// Parameters of each for readers, the attractions first.
    pub(crate) fn tables(&self) -> Vec<InstanceTable> {
        let table = |(index, Parameters { name, values }): (usize, Parameters)| InstanceTable {
            name: name.unwrap_or_else(|| format!("instance {index}")),
            n_items: self.shapes()[index].n_items(),
            parameters: values.into_iter().map(|(key, value)| (for_readers(key), value)).collect(),
        };
        self.parameters().into_iter().enumerate().map(table).collect()
    }

    /// What regret is counted in.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Pbm(_) | Self::SemiBandit(_) => "clicks",
            Self::Cascade(list) => {
                let weighted = list.iter().any(|instance| instance.model.weights().is_some());
                if weighted { "reward" } else { "clicks" }
            }
            Self::Dcm(list) => {
                let counts = |reward| list.iter().all(|instance| instance.model.reward() == reward);
                match (counts(DcmReward::Clicks), counts(DcmReward::Satisfaction)) {
                    (true, _) => "clicks",
                    (_, true) => "satisfied users",
                    _ => "reward",
                }
            }
        }
    }

    /// The bound that no good policy's regret stays below, the mean over the instances: its name, and the factor of `ln t`. None if
    /// some instance has none.
    pub(crate) fn lower_bound(&self) -> Option<(&'static str, f64)> {
        fn mean<M>(list: &[Instance<M>], bound: impl Fn(&M) -> f64) -> f64 {
            list.iter().map(|instance| bound(&instance.model)).sum::<f64>() / list.len() as f64
        }
        let (label, factor) = match self {
            Self::Pbm(list) => ("lower bound (PBM paper, Theorem 6)", mean(list, PositionBased::lower_bound)),
            Self::SemiBandit(list) => {
                ("lower bound (RSF paper, Theorem 4)", mean(list, RandomSemiBandit::lower_bound))
            }
            Self::Cascade(list) => ("lower bound (cascade model)", mean(list, CascadeModel::lower_bound)),
            Self::Dcm(list) => ("lower bound (dependent clicks)", mean(list, DependentClick::lower_bound)),
        };
        factor.is_finite().then_some((label, factor))
    }

    /// The parameters of each.
    pub(crate) fn parameters(&self) -> Vec<Parameters> {
        fn each<M>(
            list: &[Instance<M>],
            values: impl Fn(&M) -> Vec<(&'static str, Parameter)>,
        ) -> Vec<Parameters> {
            let one = |instance: &Instance<M>| Parameters {
                name: instance.name.clone(),
                values: values(&instance.model),
            };
            list.iter().map(one).collect()
        }
        let linear = |attraction: &[Probability], examination: &[Probability]| {
            vec![("theta", Parameter::of(attraction)), ("kappa", Parameter::of(examination))]
        };
        match self {
            Self::Pbm(list) => each(list, |users| linear(users.attraction(), users.examination())),
            Self::SemiBandit(list) => each(list, |users| linear(users.attraction(), users.examination())),
            Self::Cascade(list) => each(list, |users| {
                let weights = users.weights().map(|weights| {
                    ("weights", Parameter::Numbers(weights.iter().map(|weight| weight.get()).collect()))
                });
                let mut values = vec![
                    ("attraction", Parameter::of(users.attraction())),
                    ("positions", Parameter::Count(users.shape().n_positions())),
                ];
                values.extend(weights);
                values
            }),
            Self::Dcm(list) => each(list, |users| {
                vec![
                    ("attraction", Parameter::of(users.attraction())),
                    ("leave", Parameter::of(users.leave())),
                    ("reward", Parameter::Name(reward_name(users.reward()).to_owned())),
                ]
            }),
        }
    }
}

/// The parameters of one kind of user, for readers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceTable {
    /// The instance's name, or its number.
    pub(crate) name: String,
    /// How many items there are to choose from.
    pub(crate) n_items: usize,
    /// What each parameter is, and its value: the attractions first.
    pub(crate) parameters: Vec<(&'static str, Parameter)>,
}

/// What a parameter is called where readers see it.
fn for_readers(key: &'static str) -> &'static str {
    match key {
        "theta" => "Attraction theta",
        "kappa" => "Examination kappa",
        "attraction" => "Attraction",
        "positions" => "Positions",
        "weights" => "Weights",
        "leave" => "Leave after a click",
        "reward" => "Reward",
        other => other,
    }
}

/// Rewards of the dependent click model by their names in files.
const REWARDS: [(&str, DcmReward); 2] =
    [("satisfaction", DcmReward::Satisfaction), ("clicks", DcmReward::Clicks)];

fn reward_name(reward: DcmReward) -> &'static str {
    REWARDS.iter().find(|(_, other)| *other == reward).map_or("", |(name, _)| name)
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
        let experiment = Self::read(&Scope { own: &root, shared: &[] })?;
        root.finish()?;
        Ok(experiment)
    }

    /// The experiment of one panel of a file.
    ///
    /// Every key but `name` may stand in `shared` (the top of the file) when `panel` does not have it. A panel may give
    /// `model` for all its instances, which then need none: so panels of different models can share their instances.
    ///
    /// Other keys of the two tables are left for the caller, who ends with their `finish`.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub(crate) fn from_panel(panel: &Table<'_>, shared: &Table<'_>) -> Result<Self, Error> {
        shared.know(&KEYS[1..]);
        Self::read(&Scope { own: panel, shared: &[shared] })
    }

    /// The experiment of one variant of a panel, named after both: `PANEL.VARIANT`.
    ///
    /// Every key but `name` may stand in `panel` or in `shared` (the top of the file) when `variant` does not have it, and
    /// `model` in `variant` or `panel`.
    ///
    /// Other keys of the three tables are left for the caller, who ends with their `finish`.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub(crate) fn from_variant(
        variant: &Table<'_>,
        panel: &Table<'_>,
        shared: &Table<'_>,
    ) -> Result<Self, Error> {
        shared.know(&KEYS[1..]);
        panel.know(&[&KEYS[..], &["model"]].concat());
        let panel_name = read_name(&panel.required("name")?)?;
        let mut experiment = Self::read(&Scope { own: variant, shared: &[panel, shared] })?;
        experiment.name = format!("{panel_name}.{}", experiment.name);
        if experiment.name.len() > MAX_NAME {
            let name: Field<'_> = variant.required("name")?;
            return Err(name.error("the name is longer than 100 characters together with the panel's"));
        }
        Ok(experiment)
    }

    fn read(scope: &Scope<'_, '_>) -> Result<Self, Error> {
        scope.own.know(&KEYS);
        let name = read_name(&scope.own_required("name", "a name for files")?)?;
        let task = read_task(&scope.required("task", "\"regret\"")?)?;
        let horizon = scope.required("horizon", "an integer of at least 1")?.integer_in(&HORIZONS)?;
        let runs_field = scope.required("runs", "an integer of at least 1")?;
        let runs = runs_field.integer_in(&RUNS)?;
        let seed = scope.required("seed", "an integer of at least 0")?.get()?;
        let schedule = match scope.optional("checkpoints") {
            Some(field) => Schedule::read(&field, horizon)?,
            None => Schedule::default(),
        };
        let common = scope.common_model().map(|field| Model::read(&field)).transpose()?;
        let instances = read_instances(&scope.required("instances", TABLES)?, common)?;
        let policies = read_policies(&scope.required("policies", TABLES)?, &instances)?;
        let checkpoints = schedule.checkpoints(horizon);
        let experiment = Self { name, task, horizon, runs, seed, checkpoints, instances, policies, schedule };
        match experiment.too_large() {
            Some(fault) => Err(runs_field.error(fault)),
            None => Ok(experiment),
        }
    }

    /// Changes what the command line asks for. A logarithmic schedule of checkpoints is worked out again for another
    /// horizon, a list is cut at it; the horizon stays the last checkpoint.
    ///
    /// # Errors
    ///
    /// A value out of its range; the experiment is unchanged then.
    pub(crate) fn apply(&mut self, overrides: Overrides) -> Result<(), OverrideError> {
        let check = |option, value: Option<u64>, range: RangeInclusive<u64>| match value {
            Some(value) if !range.contains(&value) => {
                let fault = format!("expected an integer from {} to {}", range.start(), range.end());
                Err(OverrideError { option, value, fault })
            }
            _ => Ok(()),
        };
        check("--runs", overrides.runs, RUNS)?;
        check("--horizon", overrides.horizon, HORIZONS)?;
        let mut changed = self.clone();
        changed.seed = overrides.seed.unwrap_or(self.seed);
        changed.runs = overrides.runs.unwrap_or(self.runs);
        changed.horizon = overrides.horizon.unwrap_or(self.horizon);
        changed.checkpoints = self.schedule.checkpoints(changed.horizon);
        if let Some(fault) = changed.too_large() {
            let (option, value) = match overrides.runs {
                Some(runs) => ("--runs", runs),
                None => ("--horizon", changed.horizon),
            };
            return Err(OverrideError { option, value, fault });
        }
        *self = changed;
        Ok(())
    }

    /// Why the experiment is beyond any machine, when it is.
    fn too_large(&self) -> Option<String> {
        let Self { runs, horizon, .. } = self;
        if runs.checked_mul(*horizon).is_none_or(|rounds| rounds > MAX_ROUNDS) {
            return Some(format!("{runs} runs of {horizon} rounds are more than {MAX_ROUNDS} rounds"));
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
            checkpoints: self.checkpoints.len() as u64,
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
            horizon: u64,
            runs: u64,
            seed: u64,
            checkpoints: &'a [u64],
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
            kappa: Option<&'a [Probability]>,
        }

        let policies = self.policies.iter();
        Canonical {
            name: &self.name,
            task: self.task,
            horizon: self.horizon,
            runs: self.runs,
            seed: self.seed,
            checkpoints: &self.checkpoints,
            model: self.instances.model().name(),
            instances: self.instances.parameters().into_iter().map(CanonicalInstance).collect(),
            policies: policies
                .map(|entry| CanonicalPolicy {
                    label: &entry.label,
                    policy: &entry.spec,
                    read_as: entry.read_as.map(|protocol| Model::of(protocol).name()),
                    kappa: entry.examination.as_deref(),
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

/// Name, if there is one, and parameters of an instance, in one map.
struct CanonicalInstance(Parameters);

impl Serialize for CanonicalInstance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let Self(Parameters { name, values }) = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = name {
            map.serialize_entry("name", name)?;
        }
        for (key, value) in values {
            map.serialize_entry(key, value)?;
        }
        map.end()
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
    /// The experiment's own table.
    own: &'a Table<'doc>,
    /// The tables whose keys stand in for missing ones, nearest first; the last one is the top of the file.
    shared: &'a [&'a Table<'doc>],
}

impl<'doc> Scope<'_, 'doc> {
    fn optional(&self, key: &str) -> Option<Field<'doc>> {
        self.own.field(key).or_else(|| self.shared.iter().find_map(|table| table.field(key)))
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

fn read_task(field: &Field<'_>) -> Result<Task, Error> {
    let name: String = field.get()?;
    if name == Task::Regret.name() {
        return Ok(Task::Regret);
    }
    let mut message = format!("task {name:?} is not supported");
    push_known(&mut message, &name, &[Task::Regret.name()], "task");
    Err(field.error(message))
}

/// The tables of `[[key]]`, at least one.
fn read_tables<'doc>(field: &Field<'doc>) -> Result<Vec<Table<'doc>>, Error> {
    if !field.is_array() {
        return Err(field.error(format!("{} found: expected {TABLES}", field.describe())));
    }
    let tables: Vec<Table<'doc>> = field.get()?;
    if tables.is_empty() { Err(field.error(format!("none given: expected {TABLES}"))) } else { Ok(tables) }
}

fn read_instances(field: &Field<'_>, common: Option<Model>) -> Result<Instances, Error> {
    let tables = read_tables(field)?;
    let mut first: Option<(Model, Location)> = None;
    let mut names: Vec<(String, Location)> = Vec::new();
    for table in &tables {
        let own = table.field("model");
        let location = own.as_ref().map_or_else(|| table.location(), Field::location);
        let own = own.map(|field| Model::read(&field)).transpose()?;
        let Some(model) = own.or(common) else {
            let names = Model::ALL.map(|model| format!("{:?}", model.name())).join(", ");
            return Err(table.missing("model", &format!("one of {names}")));
        };
        if let Some(common) = common.filter(|&common| common != model) {
            let message = format!(
                "model {:?} is not the panel's, {:?}: leave it out where panels share instances",
                model.name(),
                common.name()
            );
            return Err(location.error(message));
        }
        if let Some((other, there)) = &first
            && *other != model
        {
            let message = format!(
                "model {:?} differs from {:?} in line {}: all instances of an experiment have the same model",
                model.name(),
                other.name(),
                there.line()
            );
            return Err(location.error(message));
        }
        first.get_or_insert((model, location));
        if let Some(field) = table.field("name") {
            unique(&mut names, read_title(&field)?, field.location(), "name")?;
        }
    }
    let model = first.map(|(model, _)| model);
    Ok(match model.or(common).unwrap_or(Model::Pbm) {
        Model::Pbm => Instances::Pbm(read_each(&tables, |table| read_linear(table, PositionBased::new))?),
        Model::SemiBandit => {
            Instances::SemiBandit(read_each(&tables, |table| read_linear(table, RandomSemiBandit::new))?)
        }
        Model::Cascade => Instances::Cascade(read_each(&tables, read_cascade)?),
        Model::Dcm => Instances::Dcm(read_each(&tables, read_dcm)?),
    })
}

/// The instances of tables whose `model` and `name` have been checked.
fn read_each<M>(
    tables: &[Table<'_>],
    model: impl Fn(&Table<'_>) -> Result<M, Error>,
) -> Result<Vec<Instance<M>>, Error> {
    let read = |table: &Table<'_>| Ok(Instance { name: table.optional("name")?, model: model(table)? });
    tables.iter().map(read).collect()
}

/// Attraction of items and examination of positions.
fn read_linear<M>(
    table: &Table<'_>,
    build: impl Fn(Vec<Probability>, Vec<Probability>) -> Result<M, click_models::Error>,
) -> Result<M, Error> {
    let theta: Field<'_> = required_list(table, "theta", "item")?;
    let kappa: Field<'_> = required_list(table, "kappa", "position")?;
    table.finish()?;
    build(theta.get()?, kappa.get()?).map_err(|error| at_fault(&error, &theta, &kappa))
}

fn read_cascade(table: &Table<'_>) -> Result<CascadeModel, Error> {
    let attraction: Field<'_> = required_list(table, "attraction", "item")?;
    let positions: Field<'_> = table
        .field("positions")
        .ok_or_else(|| table.missing("positions", "the number of positions of a list"))?;
    let weights = table.field("weights");
    table.finish()?;
    let n_positions =
        usize::try_from(positions.integer_in(&(0..=u64::from(u32::MAX)))?).unwrap_or(usize::MAX);
    let users = CascadeModel::new(attraction.get()?, n_positions)
        .map_err(|error| at_fault(&error, &attraction, &positions))?;
    match weights {
        None => Ok(users),
        Some(weights) => {
            let numbers: Vec<f64> = weights.get()?;
            users.with_weights(&numbers).map_err(|error| at_fault(&error, &weights, &weights))
        }
    }
}

fn read_dcm(table: &Table<'_>) -> Result<DependentClick, Error> {
    let attraction: Field<'_> = required_list(table, "attraction", "item")?;
    let leave: Field<'_> = required_list(table, "leave", "position")?;
    let reward = table.field("reward");
    table.finish()?;
    let reward = match reward {
        None => DcmReward::default(),
        Some(field) => {
            let name: String = field.get()?;
            let known = REWARDS.iter().find(|(other, _)| *other == name);
            known.map(|(_, reward)| *reward).ok_or_else(|| {
                let mut message = format!("unknown reward {name:?}");
                push_known(&mut message, &name, &REWARDS.map(|(name, _)| name), "reward");
                field.error(message)
            })?
        }
    };
    DependentClick::new(attraction.get()?, leave.get()?, reward)
        .map_err(|error| at_fault(&error, &attraction, &leave))
}

/// An instance's error where it stands: in the parameter of the items, of the positions, or in one entry of the latter.
fn at_fault(error: &click_models::Error, items: &Field<'_>, positions: &Field<'_>) -> Error {
    use click_models::Error as Fault;
    let entry = match error {
        Fault::NoItems | Fault::TooManyItems(_) => return items.error(error.to_string()),
        Fault::ExaminationRises { position, .. } | Fault::WeightsRise { position, .. } => Some(*position),
        Fault::NotAWeight { index, .. } => Some(*index),
        _ => None,
    };
    let entries: Vec<Field<'_>> = positions.get().unwrap_or_default();
    entry.and_then(|index| entries.get(index)).unwrap_or(positions).error(error.to_string())
}

fn required_list<'doc>(table: &Table<'doc>, key: &str, each: &str) -> Result<Field<'doc>, Error> {
    table
        .field(key)
        .ok_or_else(|| table.missing(key, &format!("an array of probabilities, one for each {each}")))
}

fn read_policies(field: &Field<'_>, instances: &Instances) -> Result<Vec<PolicyEntry>, Error> {
    let mut labels: Vec<(String, Location)> = Vec::new();
    let read = |table: &Table<'_>| {
        let label = table.field("label");
        let (read_as, told) = (table.field("read-as"), table.field("kappa"));
        let spec: PolicySpec = table.variant("policy", "policy")?;
        let name: Field<'_> = table.required("policy")?;
        let read_as = read_as.map(|field| read_reading(&field, &spec, &name, instances)).transpose()?;
        if read_as.is_none() {
            check_protocol(&name, &spec, instances)?;
        }
        let examination = read_examination(table, told.as_ref(), &name, &spec, instances)?;
        check_position(table, &spec, instances)?;
        check_pairs(&name, &spec, instances)?;
        let location = label.as_ref().unwrap_or(&name).location();
        let name: String = name.get()?;
        let label = match &label {
            Some(label) => read_title(label)?,
            None => name.clone(),
        };
        unique(&mut labels, label.clone(), location, "label")?;
        Ok(PolicyEntry { label, name, spec, read_as, examination, location: table.location() })
    };
    read_tables(field)?.iter().map(read).collect()
}

/// Models whose users' answers a policy can read, for a message.
fn readable(spec: &PolicySpec) -> String {
    let models = Model::ALL.into_iter().filter(|model| spec.speaks(model.protocol()));
    let names: Vec<String> = models.map(|model| format!("{:?}", model.name())).collect();
    names.join(" or ")
}

/// Refuses a policy that cannot read these users' answers.
fn check_protocol(name: &Field<'_>, spec: &PolicySpec, instances: &Instances) -> Result<(), Error> {
    let model = instances.model();
    if spec.speaks(model.protocol()) {
        return Ok(());
    }
    Err(name.error(format!(
        "{} plays {}, but the instances are {:?}: to play them all the same, say as what it reads their answers (`read-as`)",
        name.describe(),
        readable(spec),
        model.name()
    )))
}

/// As which model's answers a policy reads those of other users.
fn read_reading(
    field: &Field<'_>,
    spec: &PolicySpec,
    name: &Field<'_>,
    instances: &Instances,
) -> Result<Protocol, Error> {
    let model = Model::read(field)?;
    if model == instances.model() {
        return Err(field.error(format!("the answers are those of {:?} already: leave it out", model.name())));
    }
    if !spec.speaks(model.protocol()) {
        let (policy, readable) = (name.describe(), readable(spec));
        return Err(
            field.error(format!("{policy} cannot read them as {:?}: expected {readable}", model.name()))
        );
    }
    if spec.speaks(instances.model().protocol()) && spec.speaks(Protocol::PositionBased) {
        return Err(field.error(format!("{} reads any answers as they are: leave it out", name.describe())));
    }
    Ok(model.protocol())
}

/// The examination probabilities that a policy is told.
fn read_examination(
    table: &Table<'_>,
    told: Option<&Field<'_>>,
    name: &Field<'_>,
    spec: &PolicySpec,
    instances: &Instances,
) -> Result<Option<Vec<Probability>>, Error> {
    let needed = spec.speaks(Protocol::PositionBased) && !spec.speaks(Protocol::Cascade);
    let Some(field) = told else {
        return if needed && instances.model() != Model::Pbm {
            let expected = "the examination probabilities that the policy is told, one for each position: its users have none";
            Err(table.missing("kappa", expected))
        } else {
            Ok(None)
        };
    };
    if !needed {
        return Err(field.error(format!("{} knows nothing of examination: leave it out", name.describe())));
    }
    let examination: Vec<Probability> = field.get()?;
    for (index, shape) in instances.shapes().into_iter().enumerate() {
        if examination.len() != shape.n_positions() {
            return Err(field.error(format!(
                "{} probabilities, but the lists of instances[{index}] have {} positions: expected one for each",
                examination.len(),
                shape.n_positions()
            )));
        }
    }
    Ok(Some(examination))
}

/// The most items for a policy that keeps two numbers for every pair of them: a quarter of a gibibyte on each thread.
const MAX_ITEMS_IN_PAIRS: usize = 4096;

/// Refuses a policy whose memory grows with the square of the catalogue on a large one.
fn check_pairs(name: &Field<'_>, spec: &PolicySpec, instances: &Instances) -> Result<(), Error> {
    let largest = instances.shapes().into_iter().map(ListShape::n_items).max().unwrap_or(0);
    if matches!(spec, PolicySpec::TopRank {}) && largest > MAX_ITEMS_IN_PAIRS {
        return Err(name.error(format!(
            "{} keeps two numbers for every pair of items, of which there are {largest}: at most {MAX_ITEMS_IN_PAIRS} are \
             supported",
            name.describe()
        )));
    }
    Ok(())
}

/// Refuses an exploring position beyond a list.
fn check_position(table: &Table<'_>, spec: &PolicySpec, instances: &Instances) -> Result<(), Error> {
    let PolicySpec::Pie { position: Some(position), .. } = spec else { return Ok(()) };
    for (index, shape) in instances.shapes().into_iter().enumerate() {
        if *position >= shape.n_positions() {
            let message = format!(
                "position {position} is not in the list of instances[{index}], which has {} positions: expected an \
                 integer from 0 to {}",
                shape.n_positions(),
                shape.n_positions() - 1
            );
            let location = table.field("position").map_or_else(|| table.location(), |field| field.location());
            return Err(location.error(message));
        }
    }
    Ok(())
}

/// A label or name for readers: anything that is one line and not blank.
fn read_title(field: &Field<'_>) -> Result<String, Error> {
    let title: String = field.get()?;
    let fault = if title.is_empty() {
        "the text is empty"
    } else if title.trim() != title {
        "the text begins or ends with a space"
    } else if title.chars().any(is_invisible) {
        "the text has a line break, a control character or one that cannot be seen"
    } else if title.chars().count() > MAX_TITLE {
        "the text is longer than 100 characters"
    } else {
        return Ok(title);
    };
    Err(field.error(format!("{fault}: expected one line of text")))
}

/// Whether a character is a control character, breaks the line, has no width or turns the direction of the text.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
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
