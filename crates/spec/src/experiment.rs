//! An experiment: users, policies, horizon and number of runs.
//!
//! An experiment is data. It is read from a TOML file ([`Experiment::from_document`]) or from one
//! panel of a file with several ([`Experiment::from_panel`]). The command line may change it
//! ([`Overrides`]). Its identity distinguishes it from every other experiment
//! ([`Experiment::identity`]). [`Experiment::to_toml`] writes a file that reads back as the same
//! experiment. `click-bandits init MODEL` prints a file to start from.
//!
//! [`Task`] lists the tasks. An answer, on `cascade` instances, has as many items as there are
//! positions.
//!
//! [`keys`] lists all keys, [`crate::models`] those of an instance by its model. In the place of
//! `[[instances]]`, `users` draws the users of every run from the posterior distribution of a log's
//! fit ([`PosteriorFile`]). The policy `logged` plays the lists of a log
//! ([`logged_lists`](crate::logged_lists())), and `pbm-gibbs` may begin with the results of a fit.
//! These files are found from the folder of the experiment's file.

mod checkpoints;
mod context;
mod doubts;
mod entries;
pub mod keys;
pub(crate) mod live;
mod memory;
mod overrides;
mod read;
mod scope;
mod write;

pub use crate::fields::RUNS;
pub use crate::task::Task;
pub(crate) use checkpoints::COUNTS;
pub use checkpoints::Schedule;
pub use context::{DataInstances, SpecContext};
pub use documents::names::{MAX_TITLE, has_invisible, quoted, title_fault};

pub use overrides::{OverrideError, Overrides};

pub(crate) use entries::{SEEN, accepts, assumes_examination, check, names_of, readable_as};

use self::memory::Size;
use self::scope::Scope;
use crate::canonical::Canonical;
use crate::models::{Evidence, Instances, LogLists, UserModel, different_users, without_contenders};
use crate::posterior::PosteriorFile;
use click_models::{Personal, WithAttraction};
use contenders::{Entrant, OwnAnswers};
use documents::names::{MAX_NAME, read_name};
use documents::number::{counted, noun};
use documents::toml_reader::{Document, Error, Field, Source, Table, all};
use itertools::Itertools as _;
use sim::{Assignment, Conditions, Objective, Streams, Tournament};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// Valid horizons: rounds and clicks are also counted in floating point, exact up to this bound.
pub const HORIZONS: RangeInclusive<u64> = 1..=1 << 53;
/// The maximal number of rounds of all runs of a policy: sums over runs are exact up to this bound.
const MAX_ROUNDS: u64 = 1 << 53;

/// An experiment: users, policies, horizon and number of runs.
#[derive(Debug, Clone, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Experiment {
    /// Name, valid as a file name.
    pub(crate) name: String,
    /// The quantity that a run measures, and when the run ends.
    #[field(copy)]
    pub(crate) task: Task,
    /// Rounds of a run; the maximal number (`max_steps` in files) if policies stop by themselves.
    pub(crate) horizon: u64,
    /// Independent runs of each policy, at least 1.
    pub(crate) runs: u64,
    /// Which instance a run plays on.
    #[field(copy)]
    pub(crate) assignment: Assignment,
    /// Master seed.
    pub(crate) seed: u64,
    /// 1-based rounds after which results are recorded, strictly increasing; the last one is the
    /// horizon. Empty if runs end with an answer.
    pub(crate) checkpoints: Vec<u64>,
    /// Users, one instance for every run; empty while data are missing, when it cannot be run.
    pub(crate) instances: Instances,
    /// Whether the users come from data given by the caller.
    pub(crate) takes_data: bool,
    /// Disturbances of the policies; by default, there are none.
    pub(crate) live: Conditions,
    /// Policies in the order of the file, with unique labels.
    pub(crate) policies: Vec<Entrant>,
    /// The rule that gave the checkpoints; another horizon applies it again.
    #[field(skip)]
    pub(crate) schedule: Schedule,
    /// Comment lines for the file: at the top, then for each instance.
    #[field(skip)]
    pub(crate) comments: Vec<Vec<String>>,
}

documents::debug_is_display!(SpecError);

/// An error in an experiment's file, or in a value that replaces one of the file.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// An error in the file.
    #[error(transparent)]
    File(#[from] Error),
    /// An error in the command line.
    #[error(transparent)]
    Override(#[from] OverrideError),
}

impl Experiment {
    /// Reads an experiment from a text. Errors call the text `experiment`.
    ///
    /// # Errors
    ///
    /// The first error in the text.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Self::from_document(&Source::from_text("experiment", text)?.parse()?)
    }

    /// Reads an experiment from a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read; the first error in it.
    pub fn read_file(path: &Path) -> Result<Self, Error> {
        Self::from_document(&Source::read(path)?.parse()?)
    }

    /// Reads an experiment from a document that holds nothing else.
    ///
    /// # Errors
    ///
    /// The first error in the document.
    pub fn from_document(document: &Document<'_>) -> Result<Self, Error> {
        Self::read_alone(document, Overrides::default())
    }

    /// Reads an experiment from a document; other values replace some of the document, which may
    /// then be missing or invalid.
    ///
    /// # Errors
    ///
    /// All errors: of the values that replace others, then those of the document in its order. An
    /// error that only follows from another one is left out.
    pub fn check(document: &Document<'_>, overrides: Overrides) -> Result<Self, Vec<SpecError>> {
        let mut faults: Vec<SpecError> = overrides.faults().map(SpecError::Override).collect();
        let read = Self::read_alone(document, overrides);
        let read = read.map_err(|error| faults.extend(error.all().into_iter().map(SpecError::File)));
        match read {
            Ok(mut experiment) if faults.is_empty() => match experiment.apply(overrides) {
                Ok(()) => Ok(experiment),
                Err(error) => Err(vec![error.into()]),
            },
            _ => Err(faults),
        }
    }

    /// Reads an experiment from a document that holds nothing else.
    fn read_alone(document: &Document<'_>, overrides: Overrides) -> Result<Self, Error> {
        let root = document.root();
        let given = SpecContext { overrides, ..SpecContext::default() };
        let experiment = Self::read(&Scope { over: &[], own: &root, shared: &[], given });
        all((experiment, root.finish())).map(|(experiment, ())| experiment)
    }

    /// Reads the experiment of one panel of a file.
    ///
    /// A key that `panel` does not have, other than `name`, is looked up in `shared` (the top of
    /// the file). A panel may specify `model` for all its instances, so panels of different models
    /// can share instances without a model. Its instances may be `data`. The keys [`Self::OVER`] of
    /// the tables `over` take precedence over the panel's own keys, nearest table first.
    ///
    /// Other keys of the tables are left to the caller, who ends with `finish` on each table.
    ///
    /// # Errors
    ///
    /// The first error in the panel.
    pub fn from_panel(
        over: &[&Table<'_>],
        panel: &Table<'_>,
        shared: &Table<'_>,
        given: SpecContext<'_>,
    ) -> Result<Self, Error> {
        Self::know(shared);
        Self::read(&Scope { over, own: panel, shared: &[shared], given })
    }

    /// Reads the experiment of one variant of a panel. Its name is `PANEL.VARIANT`.
    ///
    /// A key that `variant` does not have, other than `name`, is looked up in `panel`, then in
    /// `shared` (the top of the file); `model` in `variant` and `panel` only. The keys
    /// [`Self::OVER`] of the tables `over` take precedence over all others, nearest table first.
    ///
    /// Other keys of the tables are left to the caller, who ends with `finish` on each table.
    ///
    /// # Errors
    ///
    /// The first error in the variant.
    pub fn from_variant(
        over: &[&Table<'_>],
        variant: &Table<'_>,
        panel: &Table<'_>,
        shared: &Table<'_>,
        given: SpecContext<'_>,
    ) -> Result<Self, Error> {
        Self::know(shared);
        Self::know(panel);
        panel.know(&["name", "model"]);
        let panel_name = read_name(&panel.required("name")?)?;
        let mut experiment = Self::read(&Scope { over, own: variant, shared: &[panel, shared], given })?;
        experiment.name = format!("{panel_name}.{}", experiment.name);
        if experiment.name.len() > MAX_NAME {
            let name: Field<'_> = variant.required("name")?;
            return Err(name.error("the name is longer than 100 characters together with the panel's"));
        }
        Ok(experiment)
    }

    /// The keys of an experiment that a table laid over it may replace.
    pub const OVER: [&str; 3] = [keys::CHECKPOINTS.name, keys::INSTANCES.name, keys::POLICIES.name];

    /// Marks the keys of an experiment as known in a table that several of them share.
    pub fn know(shared: &Table<'_>) {
        shared.know(&keys::EXPERIMENT[1..].iter().map(|key| key.name).collect_vec());
    }

    /// Disturbances of the policies, one sentence each.
    pub fn live_in_words(&self) -> Vec<String> {
        live::in_words(&self.live)
    }

    /// Disturbances of the policies, if there are any.
    pub(crate) fn conditions(&self) -> Option<&Conditions> {
        Some(&self.live).filter(|live| live.disturb())
    }

    /// The users whom runs meet, as a tournament without contenders; `None` for another model.
    pub fn users<M: UserModel, T: Objective>(&self, task: T) -> Option<Tournament<'_, M, T>> {
        let list = self.instances.typed::<M>()?;
        Some(without_contenders(list, task, self.assignment, self.seed))
    }

    /// As [`Self::users`], if users differ from each other.
    pub fn different_users<M: UserModel + WithAttraction, T: Objective>(
        &self,
        task: T,
    ) -> Option<Tournament<'_, Personal<M>, T>> {
        different_users(&self.instances, task, self.assignment, self.seed)
    }

    /// The total number of runs. `asked` counts the runs of each instance if instances take turns.
    pub(crate) fn all_runs(&self, asked: u64) -> u64 {
        match self.assignment {
            Assignment::Drawn => asked,
            Assignment::InTurn => asked.saturating_mul(self.instances.count().max(1) as u64),
        }
    }

    /// The values of a log's lists and of better ones under the posterior distribution of its
    /// users, instance by instance. Empty if the users are known or have no transfer. `n_draws`
    /// users are drawn for each instance; `lists` are those of each. With evidence on others, their
    /// lists are valued in place of those of these users.
    pub fn evidence(&self, n_draws: usize, lists: &[LogLists], others: Option<&[Evidence]>) -> Vec<Evidence> {
        self.instances.evidence(lists, n_draws, Streams::new(self.seed), others)
    }

    /// The files that the experiment names, each once: name without its folder, and content.
    pub fn inputs(&self) -> Vec<(&str, &[u8])> {
        let lists = self.policies.iter().filter_map(|entry| entry.lists.as_deref());
        let posterior = self.instances.posterior().into_iter().flat_map(PosteriorFile::files);
        let priors = self.policies.iter().filter_map(|entry| entry.priors.as_deref());
        let files = lists.map(|lists| &lists.file).chain(priors.map(|priors| &priors.file));
        let files = posterior.chain(self.instances.files()).chain(files);
        files.map(|file| (file.file_name(), file.content.as_slice())).unique().collect()
    }

    /// Two files of the same name, which cannot both lie beside a result.
    pub(crate) fn fault_of_inputs(&self) -> Option<String> {
        let name = self.inputs().into_iter().map(|(name, _)| name).duplicates().next()?;
        Some(format!("two different files are called {name:?}: rename one of them"))
    }

    /// Returns whether users compare two items.
    pub fn has_duels(&self) -> bool {
        self.instances.duels().is_some()
    }

    /// Gives users of the caller (`own-pbm` and the like) their answers, one for each instance.
    /// Without answers they cannot be played. Returns false unless the experiment has as many such
    /// users.
    #[must_use]
    pub fn answer_with(&mut self, answers: &[Arc<dyn OwnAnswers>]) -> bool {
        self.instances.answer_with(answers)
    }

    /// The number of runs of each instance, if instances take turns.
    pub fn runs_per_instance(&self) -> Option<u64> {
        let each = || self.runs / self.instances.count().max(1) as u64;
        (self.assignment == Assignment::InTurn).then(each)
    }

    /// The number of runs in a row that meet the same users: 1 unless the users are drawn from a
    /// fit and `runs-per-draw` specifies another number.
    pub fn runs_per_draw(&self) -> u64 {
        self.instances.posterior().map_or(1, |file| file.runs_per_draw)
    }

    /// The index of the instance of every run.
    pub fn instances_of_runs(&self) -> Vec<usize> {
        let (streams, n_instances) = (Streams::new(self.seed), self.instances.count());
        let shared = self.runs_per_draw();
        let of_draws = self.assignment.instances(n_instances, streams, 0..self.runs.div_ceil(shared));
        let each = usize::try_from(shared).unwrap_or(usize::MAX);
        of_draws.into_iter().flat_map(|instance| std::iter::repeat_n(instance, each)).collect()
    }

    /// Rounds of every run; `None` if policies stop by themselves.
    pub fn fixed_horizon(&self) -> Option<u64> {
        (self.task != Task::Identify).then_some(self.horizon)
    }

    /// The maximal number of rounds of a run; `None` if all runs have the same number.
    pub fn max_steps(&self) -> Option<u64> {
        (self.task == Task::Identify).then_some(self.horizon)
    }

    /// Why the experiment cannot have this number of runs; `None` if it can.
    pub(crate) fn fault_of_runs(&self) -> Option<String> {
        let shared = self.runs_per_draw();
        let (runs, each) = match self.runs_per_instance() {
            Some(runs) => (runs, " of each instance"),
            None => (self.runs, ""),
        };
        if runs.is_multiple_of(shared) {
            return self.too_large();
        }
        Some(format!("{}{each} found: expected a multiple of runs-per-draw, {shared}", counted(runs, "run")))
    }

    /// Why the experiment is too large to be run; `None` if it is not.
    fn too_large(&self) -> Option<String> {
        let Self { runs, horizon, .. } = self;
        if runs.checked_mul(*horizon).is_none_or(|rounds| rounds > MAX_ROUNDS) {
            let noun = noun(*runs, "run");
            return Some(format!("{runs} {noun} of {horizon} rounds are more than {MAX_ROUNDS} rounds"));
        }
        self.size().too_large(false)
    }

    /// Why the experiment is too large with this number of contenders, with its runs on disk or in
    /// memory; `None` if it is not.
    pub fn too_large_with(&self, n_contenders: usize, in_memory: bool) -> Option<String> {
        Size { policies: n_contenders as u64, ..self.size() }.too_large(in_memory)
    }

    fn size(&self) -> Size {
        Size { runs: self.runs, policies: self.policies.len() as u64, checkpoints: self.n_checkpoints() }
    }

    /// The number of checkpoints; `None` if runs end with an answer.
    fn n_checkpoints(&self) -> Option<usize> {
        (self.task == Task::Regret).then_some(self.checkpoints.len())
    }

    /// The largest number of bytes of a run's record on disk, without accuracy.
    pub fn record_bytes(&self) -> usize {
        memory::record_bytes(self.n_checkpoints())
    }

    /// The canonical form: everything that the result depends on.
    pub fn canonical(&self) -> Canonical {
        Canonical::of(self, std::iter::empty())
    }

    /// SHA-256 of the canonical form, in hexadecimal.
    pub fn identity(&self) -> String {
        self.canonical().identity
    }
}

#[cfg(test)]
mod tests;
