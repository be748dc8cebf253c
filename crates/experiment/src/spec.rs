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
//! The models and their keys stand in [`crate::models`].
//!
//! A policy for one model plays users of another if it is said as what it reads their answers, `read-as = "cascade"`; one that has
//! to know examination probabilities is then told some, `kappa = [1.0, 0.6, 0.3]`, which may also be other than the users' own.

mod checkpoints;
mod context;
mod entries;
mod memory;
mod overrides;
mod scope;
mod write;

pub use crate::fields::RUNS;
pub use crate::names::{MAX_TITLE, has_invisible, title_fault};
pub use crate::task::Task;
pub(crate) use checkpoints::COUNTS;
pub use checkpoints::Schedule;
pub use context::{DataInstances, SpecContext};

pub use overrides::{OverrideError, Overrides};
pub use write::quoted;

pub(crate) use entries::check;

use self::entries::read_policies;
use self::memory::{PerRun, Size};
use self::scope::Scope;
use crate::canonical::Canonical;
use crate::fields::{TABLES, assignment_of, read_runs};
use crate::models::{Instances, MODELS, Model, Reading, read_instances};
use crate::names::{MAX_NAME, read_name};
use crate::number::noun;
use crate::toml_reader::{Document, Error, Field, Source, Table};
use contenders::Entrant;
use sim::Assignment;
use std::ops::RangeInclusive;
use std::path::Path;

/// Horizons: rounds and clicks are also counted in floating point, which is exact up to here.
pub const HORIZONS: RangeInclusive<u64> = 1..=1 << 53;
/// Rounds of all runs of a policy: they are counted and summed exactly up to here.
const MAX_ROUNDS: u64 = 1 << 53;
/// Keys of an experiment.
const KEYS: [&str; 9] =
    ["name", "task", "horizon", "max_steps", "runs", "seed", "checkpoints", "instances", "policies"];

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Experiment {
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
    /// Lines that a file has beside what it says: at the top, then of each instance.
    comments: Vec<Vec<String>>,
}

/// What is wrong with an experiment's file, or with what the command line says in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// With the file.
    #[error(transparent)]
    File(#[from] Error),
    /// With the command line.
    #[error(transparent)]
    Override(#[from] OverrideError),
}

impl Experiment {
    /// The experiment of a text, which is called `experiment` in errors.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Self::from_document(&Source::from_text("experiment", text)?.parse()?)
    }

    /// The experiment of a file.
    ///
    /// # Errors
    ///
    /// It cannot be read; the first thing wrong with it.
    pub fn read_file(path: &Path) -> Result<Self, Error> {
        Self::from_document(&Source::read(path)?.parse()?)
    }

    /// The experiment of a document that holds nothing else.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it.
    pub fn from_document(document: &Document<'_>) -> Result<Self, Error> {
        let root = document.root();
        let experiment =
            Self::read(&Scope { over: &[], own: &root, shared: &[], given: SpecContext::default() })?;
        root.finish()?;
        Ok(experiment)
    }

    /// The same with what the command line says, in the place of what the file says of it: that may be missing, or at fault.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the file or the command line.
    pub fn overridden(document: &Document<'_>, overrides: Overrides) -> Result<Self, SpecError> {
        overrides.check()?;
        let root = document.root();
        let given = SpecContext { overrides, ..SpecContext::default() };
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
    pub fn from_panel(
        over: &[&Table<'_>],
        panel: &Table<'_>,
        shared: &Table<'_>,
        given: SpecContext<'_>,
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
    pub fn from_variant(
        over: &[&Table<'_>],
        variant: &Table<'_>,
        panel: &Table<'_>,
        shared: &Table<'_>,
        given: SpecContext<'_>,
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
    pub const OVER: [&str; 3] = ["checkpoints", "instances", "policies"];

    fn read(scope: &Scope<'_, '_>) -> Result<Self, Error> {
        scope.own.know(&KEYS);
        let name = read_name(&scope.own_required("name", "a name for files")?)?;
        let task_field = scope.required("task", "\"regret\", \"identify\" or \"budget\"")?;
        let task = Task::read(&task_field)?;
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
            read_instances(&field, common, &Reading { seed, matrix: scope.given.matrix })?
        };
        if task != Task::Regret && !instances.model().names_best_items {
            let able = MODELS.iter().filter(|model| model.names_best_items);
            let able: Vec<String> = able.map(|model| format!("{:?}", model.name())).collect();
            return Err(task_field.error(format!(
                "task {:?} asks for the best items of {} instances, but these are {:?}",
                task.name(),
                able.join(" or "),
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
            comments: Vec::new(),
        };
        experiment.runs = experiment.all_runs(runs);
        // The command line answers for what it makes too large.
        let is_overridden = scope.given.overrides.runs.is_some() || length.is_some();
        match (runs_field, experiment.too_large()) {
            (Some(field), Some(fault)) if !is_overridden => Err(field.error(fault)),
            _ => Ok(experiment),
        }
    }

    /// Name, fit for a file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is done with the policies.
    pub fn task(&self) -> Task {
        self.task
    }

    /// Rounds of a run, at least 1; where policies stop by themselves, the most (`max_steps` in files).
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// Independent runs of each policy, at least 1.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Which instance a run plays on.
    pub fn assignment(&self) -> Assignment {
        self.assignment
    }

    /// Master seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// 1-based rounds after which results are recorded, strictly increasing; the last one is the horizon. None where runs are asked for
    /// an answer at their end.
    pub fn checkpoints(&self) -> &[u64] {
        &self.checkpoints
    }

    /// Users; every run plays on one entry. None at all while their data are awaited, and then it cannot be run.
    pub fn instances(&self) -> &Instances {
        &self.instances
    }

    /// Whether the users are those of the data given for it.
    pub fn takes_data(&self) -> bool {
        self.takes_data
    }

    /// Policies in the order of the file, labels unique.
    pub fn policies(&self) -> &[Entrant] {
        &self.policies
    }

    /// An experiment of these parts; what is wrong with their size otherwise.
    #[expect(clippy::too_many_arguments, reason = "the parts of an experiment; its builder names them")]
    pub(crate) fn from_parts(
        name: String,
        task: Task,
        horizon: u64,
        (runs, assignment): (u64, Assignment),
        seed: u64,
        schedule: Schedule,
        instances: Instances,
        policies: Vec<Entrant>,
        comments: Vec<Vec<String>>,
    ) -> Result<Self, String> {
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
            takes_data: false,
            policies,
            schedule,
            comments,
        };
        experiment.runs = experiment.all_runs(runs);
        experiment.too_large().map_or(Ok(experiment), Err)
    }

    /// The number of runs in all, of those that are asked for: of each instance, if these have their turns.
    fn all_runs(&self, asked: u64) -> u64 {
        match self.assignment {
            Assignment::Drawn => asked,
            Assignment::InTurn => asked.saturating_mul(self.instances.count().max(1) as u64),
        }
    }

    /// Whether its users compare two items.
    pub fn has_duels(&self) -> bool {
        self.instances.duels().is_some()
    }

    /// How many runs each instance has, where they have their turns.
    pub fn runs_per_instance(&self) -> Option<u64> {
        let each = || self.runs / self.instances.count().max(1) as u64;
        (self.assignment == Assignment::InTurn).then(each)
    }

    /// Rounds of every run; none where policies stop by themselves.
    pub fn fixed_horizon(&self) -> Option<u64> {
        (self.task != Task::Identify).then_some(self.horizon)
    }

    /// The most rounds of a run; none where all play the same number.
    pub fn max_steps(&self) -> Option<u64> {
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

    /// Why the experiment cannot be run on any machine with this number of contenders, when that is so; `all_runs`: with every run in
    /// `runs.csv`.
    pub(crate) fn too_large_with(&self, n_contenders: usize, all_runs: bool) -> Option<String> {
        Size { policies: n_contenders as u64, ..self.size() }.too_large(all_runs)
    }

    fn size(&self) -> Size {
        Size {
            runs: self.runs,
            policies: self.policies.len() as u64,
            kept: match self.task {
                Task::Regret => PerRun::Curves { checkpoints: self.checkpoints.len() as u64 },
                Task::Identify | Task::Budget => PerRun::Answers,
            },
        }
    }

    /// Everything that decides the result.
    pub fn canonical(&self) -> Canonical {
        Canonical::of(self, std::iter::empty())
    }

    /// SHA-256 of the canonical form, in hexadecimal.
    pub fn identity(&self) -> String {
        self.canonical().identity().to_owned()
    }
}

#[cfg(test)]
mod tests;
