//! The click models of an experiment's users: one row and one file for each model.
//!
//! The keys of a model in a TOML file are data of its row, [`Model::keys`]: name, accepted values,
//! meaning, an example. `click-bandits models NAME` prints them.
//!
//! The file of a model has everything particular to it: how its parameters are read and written,
//! what readers call them, the unit of regret, lower bounds, and which contenders it has.

mod calibration;
mod cascade;
mod ccm;
mod context;
mod dbn;
mod dcm;
mod dueling;
mod evidence;
mod fields;
mod instance;
mod keys;
mod list;
mod own;
mod own_clicks;
mod parameter;
mod pbm;
mod posterior;
mod rank_one;
mod semi_bandit;
mod transfer;
mod ubm;
mod users_of_runs;

pub use calibration::Calibration;
pub use contenders::{OwnAnswers, OwnProtocol, OwnRun, OwnUsers};
pub use context::{ContextFiles, Contexts, FeatureTable, FittedContexts};
pub(crate) use dueling::COPELAND;
pub use dueling::{Arms, Duels, Group, MatrixFile};
pub use evidence::Evidence;
pub use instance::Instance;
pub use list::UserModel;
pub use own::OWN_MODELS;
pub use own_clicks::{LogLists, OwnClicks};
pub use parameter::{InstanceTable, Parameter, Parameters};
pub use users_of_runs::ValuesOfUsers;

pub(crate) use context::different_users;
pub(crate) use evidence::EvidenceOf;
pub(crate) use keys::{ATTRACTION, THETA};
pub(crate) use list::{LowerBound, Member, WithValues};
pub(crate) use pbm::{ALSO_EXAMINATION, KAPPA};
pub(crate) use users_of_runs::without_contenders;

use crate::bound::Bound;
use crate::fields::read_tables;
use crate::key::{self, Key};
use crate::posterior::PosteriorFile;
use crate::queries::Queries;
use click_models::{ListShape, PreferenceMatrix};
use contenders::Entrant;
use documents::InputFile;
use documents::names::{read_title, unique};
use documents::toml_reader::{Error, Faults, Field, Location, Table, choice};
use dyn_clone::DynClone;
use live::ContextFit;
use policies::HybridPrior;
use policies::catalogue::Protocol;
use sim::{Assignment, Sees, Streams};
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The policy name of every contender of the caller.
pub const OWN: &str = "own";

/// A row of [`MODELS`]: the properties of a click model that do not depend on an instance.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Its name in files.
    pub name: &'static str,
    /// The interaction protocol that its users speak. Several models may have the same.
    pub protocol: Protocol,
    /// One sentence that describes these users.
    pub sentence: &'static str,
    /// The keys of an instance in files, besides `model` and `name`.
    pub keys: &'static [Key],
    /// Policies to begin with.
    pub first_choices: &'static [&'static str],
    /// Whether a policy can be asked for its best items: tasks `identify` and `budget`.
    pub names_best_items: bool,
    read: fn(&[Table<'_>], &InstanceInputs<'_>) -> Result<Instances, Error>,
    /// Turns measured queries into its users, if that is possible.
    pub(crate) of_queries: Option<OfQueries>,
    /// Turns the fits of a log into its users, if that is possible.
    pub(crate) of_posterior: Option<OfPosterior>,
}

type OfQueries = fn(&Queries) -> Result<Instances, Error>;
type OfPosterior = fn(&Arc<PosteriorFile>) -> Result<Instances, Error>;

/// Every model, one row each.
pub static MODELS: [&Model; 9] = [
    &pbm::MODEL,
    &semi_bandit::MODEL,
    &cascade::MODEL,
    &dcm::MODEL,
    &dbn::MODEL,
    &ccm::MODEL,
    &ubm::MODEL,
    &rank_one::MODEL,
    &dueling::MODEL,
];

/// The inputs of the reader of instances besides their tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstanceInputs<'a> {
    /// The seed for random parts of instances.
    pub(crate) seed: u64,
    /// A matrix that replaces every matrix from a file.
    pub(crate) matrix: Option<&'a Arc<MatrixFile>>,
}

impl Model {
    /// The model whose users speak a protocol, the first one if there are several.
    pub fn of(protocol: Protocol) -> &'static Self {
        MODELS.into_iter().find(|model| model.protocol == protocol).unwrap_or(MODELS[0])
    }

    /// Returns whether its users are shown lists.
    pub fn has_lists(&self) -> bool {
        self.protocol.has_lists()
    }

    /// The model that a field names.
    pub(crate) fn read(field: &Field<'_>) -> Result<&'static Self, Error> {
        let name: Option<String> = field.get().ok();
        if let Some(own) = OWN_MODELS.into_iter().find(|model| Some(model.name) == name.as_deref()) {
            return Ok(own);
        }
        choice(field, &MODELS.map(|model| (model.name, model)), "model")
    }

    /// The name for readers of one of its parameters.
    pub(crate) fn for_readers(&self, key: &'static str) -> &'static str {
        self.keys.iter().find(|one| one.name == key).map_or(key, |one| one.title)
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A subsection of Markdown for each model, with a table of its keys.
pub fn subsections() -> String {
    let of_model = |model: &Model| {
        let named = key::row("model", "required", model.sentence, "", &format!("{:?}", model.name));
        let rows: String = model.keys.iter().map(Key::rows).collect();
        format!("\n### Users of model `{}`\n\n{}{named}{rows}", model.name, key::HEAD)
    };
    MODELS.map(of_model).concat() + "\n"
}

/// The names of the parameters of all models that are lists of numbers, each once.
pub fn lists() -> impl Iterator<Item = &'static str> {
    let of_all = MODELS.iter().flat_map(|model| model.keys);
    let lists = of_all.filter(|key| (key.kind)()["items"]["type"] == "number");
    lists.map(|key| key.name).collect::<std::collections::BTreeSet<_>>().into_iter()
}

/// The name for readers of a parameter of any model.
pub fn for_readers(key: &'static str) -> &'static str {
    let mut of_all = MODELS.iter().flat_map(|model| model.keys);
    of_all.find(|one| one.name == key).map_or(key, |one| one.title)
}

/// The users of an experiment: at least one instance, all of the same model. Most methods are those
/// of [`Users`].
#[derive(Debug, Clone)]
pub struct Instances(Box<dyn Users>);

impl<M: UserModel> From<Vec<Instance<M>>> for Instances {
    fn from(list: Vec<Instance<M>>) -> Self {
        M::instances(list)
    }
}

impl Instances {
    /// Users of these models, without names.
    pub fn of<M: UserModel>(models: impl IntoIterator<Item = M>) -> Self {
        let instance = |model| Instance::new(None, model);
        M::instances(models.into_iter().map(instance).collect())
    }

    /// Users of these models, each with a name for readers.
    pub fn named<M: UserModel>(models: impl IntoIterator<Item = (String, M)>) -> Self {
        let instance = |(name, model)| Instance::new(Some(name), model);
        M::instances(models.into_iter().map(instance).collect())
    }

    /// Users as uncertain as a log leaves them: every run draws its own.
    ///
    /// # Errors
    ///
    /// A query whose parameters are not those of the model.
    pub fn uncertain(file: PosteriorFile) -> Result<Self, Error> {
        let model = MODELS.into_iter().find(|model| model.name == file.model_of_users());
        match model.and_then(|model| model.of_posterior) {
            Some(users) => users(&Arc::new(file)),
            None => Err(file.error(format!("users of {:?} cannot be drawn", file.model))),
        }
    }

    /// Wraps any implementation of [`Users`].
    pub(crate) fn from_users(users: impl Users + 'static) -> Self {
        Self(Box::new(users))
    }

    /// The instances by the type of their model; `None` if it is another type.
    pub fn typed<M: UserModel>(&self) -> Option<&[Instance<M>]> {
        let list = self.list();
        list.downcast_ref::<Vec<Instance<M>>>().map(Vec::as_slice)
    }

    /// Returns whether a policy can be asked for the best items of these users.
    pub(crate) fn name_best_items(&self) -> bool {
        self.model().names_best_items && self.contexts().is_none() && !self.have_values()
    }

    /// The preference matrix of dueling users, the first one if there are several.
    pub fn preferences(&self) -> Option<&PreferenceMatrix> {
        self.duels()?.groups().first().map(|group| &*group.matrix)
    }

    /// The file that preferences were read from.
    pub fn matrix_file(&self) -> Option<&MatrixFile> {
        self.duels()?.file()
    }

    /// Redraws the random parts with this seed, and with this number of subsets if one is given.
    pub(crate) fn draw(&mut self, seed: u64, subsets: Option<usize>) -> Result<(), Error> {
        let Some(duels) = self.duels_mut() else { return Ok(()) };
        if let Some(subsets) = subsets {
            duels.with_subsets(subsets);
        }
        duels.draw(seed)
    }

    /// The number of instances of a block, whose mean is one observation. Random subsets of one
    /// matrix are a sample of all its subsets, as users that are drawn from a fit are of all users:
    /// a run on one of them is an observation.
    pub fn per_block(&self) -> usize {
        if self.duels().is_some_and(Duels::are_one_sample) { 1 } else { self.count() }
    }

    /// Returns whether the instances are random subsets.
    pub(crate) fn are_random(&self) -> bool {
        self.duels().is_some_and(Duels::are_random)
    }

    /// The names of the list parameters that at least one instance has. While data are missing, all
    /// list parameters of the model.
    pub fn lists(&self) -> Vec<&'static str> {
        let tables = self.tables();
        let known = |key: &&str| tables.is_empty() || tables.iter().any(|table| table.list(key).is_some());
        self.model().keys.iter().filter(|key| key.is_list()).map(|key| key.name).filter(known).collect()
    }
}

impl Deref for Instances {
    type Target = dyn Users;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Instances {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

/// The methods of [`Instances`]: users without the type of their model.
pub trait Users: fmt::Debug + DynClone + Send + Sync {
    /// The model that all of them have.
    fn model(&self) -> &'static Model;

    /// The number of instances.
    fn count(&self) -> usize;

    /// The shape of the lists of each instance; empty if the model shows no lists.
    fn shapes(&self) -> Vec<ListShape> {
        Vec::new()
    }

    /// The number of cells of the largest table; `None` if the model shows no cells.
    fn most_cells(&self) -> Option<usize> {
        None
    }

    /// The parameters of each instance by their names in files.
    fn parameters(&self) -> Vec<Parameters>;

    /// The parameters for readers, attractions first: one table for each instance, or for each
    /// matrix of dueling users.
    fn tables(&self) -> Vec<InstanceTable>;

    /// The unit of regret.
    fn unit(&self) -> &'static str;

    /// The asymptotic lower bound on the regret of a consistent policy, mean over the instances:
    /// its name and the factor of `ln t`. `None` if some instance has no bound.
    fn lower_bound(&self) -> Option<(&'static str, f64)> {
        None
    }

    /// Proven upper bounds on the regret of policies, at these rounds.
    fn bounds_of_policies(&self, _policies: &[Entrant], _checkpoints: &[u64]) -> Vec<Bound> {
        Vec::new()
    }

    /// Bounds on the stopping time of policies.
    fn bounds_of_stopping(&self, _policies: &[Entrant]) -> Vec<Bound> {
        Vec::new()
    }

    /// The instances as `Vec<Instance<M>>`.
    fn list(&self) -> &dyn Any;

    /// The users who compare two items; `None` for another model.
    fn duels(&self) -> Option<&Duels> {
        None
    }

    /// As [`Users::duels`].
    fn duels_mut(&mut self) -> Option<&mut Duels> {
        None
    }

    /// Returns whether clicks on items of some of them have values.
    fn have_values(&self) -> bool {
        false
    }

    /// The distribution from which each run draws its users; `None` if the users are known.
    fn posterior(&self) -> Option<&PosteriorFile> {
        None
    }

    /// The properties by which these users differ; `None` for ordinary users.
    fn contexts(&self) -> Option<Sees> {
        None
    }

    /// The prior of `hybrid-ts` with a file's fit.
    ///
    /// # Errors
    ///
    /// Users who do not differ, or have other items or features than the fit.
    fn prior(&self, _: &ContextFit, _: bool) -> Result<HybridPrior, String> {
        Err("users who do not differ: give the instances a `context`".to_owned())
    }

    /// The files of users who differ.
    fn files(&self) -> Vec<&InputFile> {
        vec![]
    }

    /// Doubts about these users.
    fn doubts(&self) -> Vec<String> {
        vec![]
    }

    /// Returns whether they can be played.
    fn can_answer(&self) -> bool {
        true
    }

    /// Gives users of the caller their answers, one for each instance; whether there are as many of
    /// them.
    fn answer_with(&mut self, _answers: &[Arc<dyn OwnAnswers>]) -> bool {
        false
    }

    /// The evidence of a log's lists on each instance; empty for users that are not drawn from it.
    fn evidence(
        &self,
        _lists: &[LogLists],
        _n_draws: usize,
        _streams: Streams,
        _others: Option<&[Evidence]>,
    ) -> Vec<Evidence> {
        Vec::new()
    }

    /// The values of the users that the runs meet; `instances_of_runs` has the instance of every
    /// run.
    fn values_of_users(
        &self,
        assignment: Assignment,
        seed: u64,
        instances_of_runs: &[usize],
    ) -> ValuesOfUsers;
}

dyn_clone::clone_trait_object!(Users);

/// Reads the users of an experiment; `common` is the model of instances that name none.
pub(crate) fn read_instances(
    field: &Field<'_>,
    common: Option<&'static Model>,
    inputs: &InstanceInputs<'_>,
) -> Result<Instances, Error> {
    let tables = read_tables(field, "{ model = \"cascade\", attraction = [0.5, 0.2], positions = 1 }")?;
    let mut first: Option<(&'static Model, Location)> = None;
    let mut names: Vec<(String, Location)> = Vec::new();
    let mut faults = Faults::default();
    let mut readable: Vec<(&'static Model, &Table<'_>)> = Vec::new();
    for table in &tables {
        let model = faults.keep(model_of(table, common, &mut first));
        if let Some(field) = table.field("name") {
            let name = read_title(&field);
            faults.keep(name.and_then(|name| unique(&mut names, name, field.location(), "name")));
        }
        readable.extend(model.map(|model| (model, table)));
    }
    if faults.is_empty() {
        let model = first.map(|(model, _)| model).or(common).unwrap_or(MODELS[0]);
        return (model.read)(&tables, inputs);
    }
    // There are errors already. The tables are read one by one for further ones.
    for (model, table) in readable {
        faults.keep((model.read)(std::slice::from_ref(table), inputs));
    }
    Err(faults.end().err().unwrap_or_else(|| field.error("cannot be read")))
}

/// The model of the instance in a table; `first` is that of the instances before, with its place.
fn model_of(
    table: &Table<'_>,
    common: Option<&'static Model>,
    first: &mut Option<(&'static Model, Location)>,
) -> Result<&'static Model, Error> {
    let own = table.field("model");
    let location = own.as_ref().map_or_else(|| table.location(), Field::location);
    let own = own.map(|field| Model::read(&field)).transpose()?;
    let Some(model) = own.or(common) else {
        let names = MODELS.map(|model| format!("{:?}", model.name)).join(", ");
        return Err(table.missing("model", &format!("one of {names}")));
    };
    if let Some(common) = common.filter(|&common| common != model) {
        let message = format!(
            "model {:?} is not the panel's, {:?}: leave it out where panels share instances",
            model.name, common.name
        );
        return Err(location.error(message));
    }
    if let Some((other, there)) = &first
        && *other != model
    {
        let message = format!(
            "model {:?} differs from {:?} in {}: all instances of an experiment have the same model",
            model.name,
            other.name,
            there.words()
        );
        return Err(location.error(message));
    }
    first.get_or_insert((model, location));
    Ok(model)
}
