//! The click models that an experiment's users may have: a row a model, in a file of its own.
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
//! (optional), a list or `{ random = 16, subsets = 100 }`: 100 random subsets of 16 items, each an instance |
//!
//! A member's file has everything that is particular to its model: how its parameters are read and written, what readers call them, what regret
//! is counted in, lower bounds, and how it is played.

mod calibration;
mod cascade;
mod dcm;
mod dueling;
mod fields;
mod instance;
mod list;
mod parameter;
mod pbm;
mod play;
mod rank_one;
mod semi_bandit;

pub use calibration::Calibration;
pub use dueling::{Arms, Duels, Group, MatrixFile};
pub use instance::Instance;
pub use list::UserModel;
pub use parameter::{InstanceTable, Parameter, Parameters};
pub use play::PlayError;

pub(crate) use list::Member;
pub(crate) use parameter::CanonicalInstance;
pub(crate) use play::{OWN, OwnContender, PlayRequest, Played, RunOutcomes};

use crate::fields::read_tables;
use crate::names::{read_title, unique};
use crate::queries::Queries;
use crate::result::Bound;
use crate::toml_reader::{Error, Field, Location, Table, choice};
use click_models::{ListShape, PreferenceMatrix};
use contenders::Entrant;
use policies::catalogue::Protocol;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What there is to know of a click model before any of its instances is read.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// What its users show.
    pub protocol: Protocol,
    /// One sentence on who these users are.
    pub sentence: &'static str,
    /// The lists among its parameters, and what readers call every parameter.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Whether its best items can be asked for: tasks `identify` and `budget`.
    pub names_best_items: bool,
    /// How instances are read.
    read: fn(&[Table<'_>], &Reading<'_>) -> Result<Instances, Error>,
    /// How measured queries become its users, if they can.
    of_queries: Option<OfQueries>,
}

/// How measured queries become users.
type OfQueries = fn(&Queries) -> Result<Instances, Error>;

/// Every model: a row each.
pub static MODELS: [&Model; 6] =
    [&pbm::MODEL, &semi_bandit::MODEL, &cascade::MODEL, &dcm::MODEL, &rank_one::MODEL, &dueling::MODEL];

/// What is given to the reader of instances beside their tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// Of what is drawn.
    pub(crate) seed: u64,
    /// Stands for every matrix from a file.
    pub(crate) matrix: Option<&'a Arc<MatrixFile>>,
}

impl Model {
    /// The model whose users speak a protocol.
    pub fn of(protocol: Protocol) -> &'static Self {
        MODELS.into_iter().find(|model| model.protocol == protocol).unwrap_or(MODELS[0])
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        self.protocol.name()
    }

    /// Whether its users are shown lists.
    pub fn has_lists(&self) -> bool {
        self.protocol.has_lists()
    }

    /// The model that a field names.
    pub(crate) fn read(field: &Field<'_>) -> Result<&'static Self, Error> {
        choice(field, &MODELS.map(|model| (model.name(), model)), "model")
    }

    /// What readers call one of its parameters.
    pub(crate) fn for_readers(&self, key: &'static str) -> &'static str {
        for_readers_in(self.parameters, key)
    }

    /// Whether measured queries can become its users.
    pub(crate) fn takes_queries(&self) -> bool {
        self.of_queries.is_some()
    }

    /// Users of measured queries; none where these say nothing of the model's parameters.
    pub(crate) fn of_queries(&self, queries: &Queries) -> Option<Result<Instances, Error>> {
        self.of_queries.map(|users| users(queries))
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.protocol == other.protocol
    }
}

/// What readers call a parameter of any model.
pub fn for_readers(key: &'static str) -> &'static str {
    let mut of_all = MODELS.iter().flat_map(|model| model.parameters).copied();
    of_all.find(|(other, _)| *other == key).map_or(key, |(_, words)| words)
}

fn for_readers_in(parameters: &[(&'static str, &'static str)], key: &'static str) -> &'static str {
    parameters.iter().find(|(other, _)| *other == key).map_or(key, |(_, words)| words)
}

/// The users of an experiment, at least one kind, all of the same model.
#[derive(Debug)]
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

    /// Those of any implementation.
    pub(crate) fn from_users(users: impl Users + 'static) -> Self {
        Self(Box::new(users))
    }

    /// The instances by their model's type; none of another model.
    pub fn typed<M: UserModel>(&self) -> Option<&[Instance<M>]> {
        let list = self.0.list();
        list.downcast_ref::<Vec<Instance<M>>>().map(Vec::as_slice)
    }

    /// The model that all of them have.
    pub fn model(&self) -> &'static Model {
        self.0.model()
    }

    /// How many instances there are.
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// The shape of each one's lists; none where no list is shown.
    pub fn shapes(&self) -> Vec<ListShape> {
        self.0.shapes()
    }

    /// The parameters of each by their names in files.
    pub fn parameters(&self) -> Vec<Parameters> {
        self.0.parameters()
    }

    /// The parameters of each for readers, the attractions first; of dueling users, of each matrix.
    pub fn tables(&self) -> Vec<InstanceTable> {
        self.0.tables()
    }

    /// What regret is counted in.
    pub fn unit(&self) -> &'static str {
        self.0.unit()
    }

    /// What holds of them whatever their model.
    pub(crate) fn users(&self) -> &dyn Users {
        &*self.0
    }

    /// Users who compare two items; none of another model.
    pub fn duels(&self) -> Option<&Duels> {
        self.0.duels()
    }

    /// The preferences of dueling users, of the first matrix if there are several.
    pub fn preferences(&self) -> Option<&PreferenceMatrix> {
        self.duels()?.groups().first().map(|group| &*group.matrix)
    }

    /// The file that preferences were read from.
    pub fn matrix_file(&self) -> Option<&MatrixFile> {
        self.duels()?.file()
    }

    /// Draws again what is drawn with the experiment's seed; with another number of subsets if one is given.
    pub(crate) fn draw(&mut self, seed: u64, subsets: Option<usize>) -> Result<(), Error> {
        let Some(duels) = self.0.duels_mut() else { return Ok(()) };
        if let Some(subsets) = subsets {
            duels.with_subsets(subsets);
        }
        duels.draw(seed)
    }

    /// Whether they are random subsets.
    pub(crate) fn are_random(&self) -> bool {
        self.duels().is_some_and(Duels::are_random)
    }

    /// The names of the parameters that are lists: of the model's, those that some instance has. Instances whose data are awaited
    /// may have any.
    pub fn lists(&self) -> Vec<&'static str> {
        let tables = self.tables();
        let known = |key: &&str| tables.is_empty() || tables.iter().any(|table| table.list(key).is_some());
        self.0.list_keys().iter().copied().filter(known).collect()
    }

    /// The bound that no good policy's regret stays below, the mean over the instances: its name, and the factor of `ln t`. None if
    /// some instance has none.
    pub fn lower_bound(&self) -> Option<(&'static str, f64)> {
        self.0.lower_bound().filter(|(_, factor)| factor.is_finite())
    }
}

impl Clone for Instances {
    fn clone(&self) -> Self {
        self.0.cloned()
    }
}

/// The users of an experiment, whatever their model.
pub(crate) trait Users: fmt::Debug + Send + Sync {
    /// The model that all of them have.
    fn model(&self) -> &'static Model;

    /// How many instances there are.
    fn count(&self) -> usize;

    /// The shape of each one's lists; none where no list is shown.
    fn shapes(&self) -> Vec<ListShape>;

    /// The largest table of rows and columns; none where cells are not what is shown.
    fn most_cells(&self) -> Option<usize> {
        None
    }

    /// The parameters of each by their names in files.
    fn parameters(&self) -> Vec<Parameters>;

    /// The parameters of each for readers, the attractions first; of dueling users, of each matrix.
    fn tables(&self) -> Vec<InstanceTable>;

    /// What regret is counted in.
    fn unit(&self) -> &'static str;

    /// The mean over the instances of the factor of `ln t`, infinite where one has no bound, and the bound's name.
    fn lower_bound(&self) -> Option<(&'static str, f64)>;

    /// The names of the parameters that are lists.
    fn list_keys(&self) -> &'static [&'static str];

    /// Bounds that policies of the experiment are proven to keep, at these rounds.
    fn bounds_of_policies(&self, _policies: &[Entrant], _checkpoints: &[u64]) -> Vec<Bound> {
        Vec::new()
    }

    /// Bounds on the stopping time of policies of the experiment.
    fn bounds_of_stopping(&self, _policies: &[Entrant]) -> Vec<Bound> {
        Vec::new()
    }

    /// The instances as `Vec<Instance<M>>`.
    fn list(&self) -> &dyn Any;

    fn duels(&self) -> Option<&Duels> {
        None
    }

    fn duels_mut(&mut self) -> Option<&mut Duels> {
        None
    }

    fn cloned(&self) -> Instances;

    /// Plays an experiment on them.
    fn play(&self, game: &PlayRequest<'_>) -> Result<Played, PlayError>;
}

/// The users of an experiment; `common` is the model of those that name none.
pub(crate) fn read_instances(
    field: &Field<'_>,
    common: Option<&'static Model>,
    reading: &Reading<'_>,
) -> Result<Instances, Error> {
    let tables = read_tables(field)?;
    let mut first: Option<(&'static Model, Location)> = None;
    let mut names: Vec<(String, Location)> = Vec::new();
    for table in &tables {
        let own = table.field("model");
        let location = own.as_ref().map_or_else(|| table.location(), Field::location);
        let own = own.map(|field| Model::read(&field)).transpose()?;
        let Some(model) = own.or(common) else {
            let names = MODELS.map(|model| format!("{:?}", model.name())).join(", ");
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
    let model = first.map(|(model, _)| model).or(common).unwrap_or(MODELS[0]);
    (model.read)(&tables, reading)
}
