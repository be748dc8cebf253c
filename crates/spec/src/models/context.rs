//! `context`: users who differ, in an instance of `cascade`, `dcm` or `pbm`.
//!
//! The key takes the place of the attraction. Users are those of three files ([`files`]), or every
//! run draws its own: from what a log tells of them ([`fitted`]), or from a distribution
//! ([`RandomUsers`]).

mod files;
mod fitted;
mod keys;

pub use files::{ContextFiles, FeatureTable};
pub use fitted::FittedContexts;
pub(super) use keys::CONTEXT;
use keys::ContextKeys;

use super::fields::read_each;
use super::keys::VALUES;
use super::list::unit;
use super::users_of_runs::ValuesOfUsers;
use super::{Instance, InstanceTable, Instances, Member, Model, Parameter, Parameters, Users};
use crate::key::{Key, Part};
use click_models::{Context, ListShape, Personal, RandomUsers, WithAttraction};
use confidence::Probability;
use documents::InputFile;
use documents::names::quoted;
use documents::toml_reader::{Error, Field, Table};
use live::ContextFit;
use policies::{HybridPrior, HybridSettings, HybridTs};
use serde::{Serialize, Serializer};
use sim::{Assignment, DrawUsers, Sees, SimRng, Streams, Tournament};
use std::any::Any;
use std::sync::Arc;

/// The most pairs of users and items.
const MOST_PAIRS: usize = 1 << 28;
/// The most pairs of segments and items.
const MOST_CELLS: usize = 1 << 24;
/// The most numbers in the features of all users, and of all items. Each user also takes about 100
/// bytes.
const MOST_FEATURES: usize = 1 << 24;
/// The most products of features, those with 1 included.
const MOST_PRODUCTS: usize = 2048;

/// Users who differ: those of files, or those whom every run draws.
#[derive(Debug, Clone, PartialEq)]
pub enum Contexts {
    /// Users, items and coefficients.
    Files(Arc<ContextFiles>),
    /// A fit to a log.
    Fitted(Arc<FittedContexts>),
    /// A distribution.
    Random(RandomUsers),
}

impl Contexts {
    /// Reads the key `context`.
    fn read(field: &Field<'_>) -> Result<Self, Error> {
        let table: Table<'_> = field.get()?;
        let contexts = match field.build()? {
            ContextKeys::Files { users, items, coefficients } => {
                Self::Files(Arc::new(ContextFiles::read(&table, [users, items, coefficients])?))
            }
            ContextKeys::Random { random } => Self::Random(random),
            ContextKeys::Fitted { posterior: name } => {
                let posterior: Field<'_> = table.required("posterior")?;
                let path = posterior.folder().join(&name).display().to_string();
                let content = posterior.read_beside(&name, "the file context.json of a fit")?;
                Self::Fitted(Arc::new(FittedContexts::parse(InputFile::new(name, content), &path)?))
            }
        };
        contexts.fault().map_or(Ok(contexts), |fault| Err(field.error(fault)))
    }

    /// Number of items.
    pub fn n_items(&self) -> usize {
        match self {
            Self::Files(files) => files.n_items(),
            Self::Fitted(fitted) => fitted.fit.items.len(),
            Self::Random(users) => users.items,
        }
    }

    /// Numbers of users, segments, features of a user, and features of an item.
    fn sizes(&self) -> [usize; 4] {
        match self {
            Self::Files(files) => files.sizes(),
            Self::Fitted(fitted) => fitted.sizes(),
            Self::Random(random) => {
                [random.users, random.segments as usize, random.user_features, random.item_features]
            }
        }
    }

    /// Why there are too many users or features; `None` if there are not.
    pub(crate) fn fault(&self) -> Option<String> {
        let ([n_users, n_segments, n_of_user, n_of_item], n_items) = (self.sizes(), self.n_items());
        let limits = [
            ((n_users, n_items), MOST_PAIRS, "users and items", "2^28"),
            ((n_users, n_of_user), MOST_FEATURES, "users and user features", "2^24"),
            ((n_items, n_of_item), MOST_FEATURES, "items and item features", "2^24"),
            ((n_segments, n_items), MOST_CELLS, "segments and items", "2^24"),
            ((n_of_user + 1, n_of_item + 1), MOST_PRODUCTS, "user and item features, 1 included", "2,048"),
        ];
        limits.into_iter().find_map(|((one, other), most, what, words)| {
            let is_too_large = one.checked_mul(other).is_none_or(|pairs| pairs > most);
            is_too_large.then(|| format!("{one} x {other} {what}: at most {words} are supported"))
        })
    }

    /// The properties of these users.
    fn sees(&self) -> Sees {
        let [_, n_segments, n_of_user, n_of_item] = self.sizes();
        Sees { segment: n_segments > 1, user_features: n_of_user > 0, item_features: n_of_item > 0 }
    }

    /// The users, if they are not drawn anew in every run.
    fn users<M: WithAttraction>(&self, model: &M) -> Result<Option<Personal<M>>, Error> {
        match self {
            Self::Files(files) => files.users(model).map(Some),
            Self::Fitted(_) | Self::Random(_) => Ok(None),
        }
    }

    fn files(&self) -> Vec<&InputFile> {
        match self {
            Self::Files(files) => files.files().to_vec(),
            Self::Fitted(fitted) => vec![&fitted.file],
            Self::Random(_) => vec![],
        }
    }

    /// The prior of a policy for these users, if the file is about the same items and features.
    fn prior(&self, fit: &ContextFit) -> Result<HybridPrior, String> {
        let (items, of_users, of_items) = match self {
            Self::Random(_) => return Err("random users and items are not those of a log".to_owned()),
            Self::Files(files) => files.names(),
            Self::Fitted(other) => {
                let other = &other.fit;
                (&other.items[..], &other.user_features[..], &other.item_features[..])
            }
        };
        let pairs = [
            ("item", items, &fit.items),
            ("feature of users", of_users, &fit.user_features),
            ("feature of items", of_items, &fit.item_features),
        ];
        for (what, found, expected) in pairs {
            if found != &expected[..] {
                let same = found.iter().zip(expected).take_while(|(one, other)| one == other).count();
                let name =
                    |names: &[String]| names.get(same).map_or("none".to_owned(), |name| format!("{name:?}"));
                let (found, expected) = (name(found), name(expected));
                return Err(format!("{what} {}: the users have {found}, the file {expected}", same + 1));
            }
        }
        match self {
            Self::Fitted(users) => fit.prior.clone().after(users.scale()).map_err(|error| error.to_string()),
            _ => Ok(fit.prior.clone()),
        }
    }

    /// The value in a TOML file.
    pub fn to_toml(&self) -> String {
        match self {
            Self::Files(files) => {
                let [users, items, coefficients] = files.files().map(|file| quoted(file.file_name()));
                format!("{{ users = {users}, items = {items}, coefficients = {coefficients} }}")
            }
            Self::Fitted(fitted) => format!("{{ posterior = {} }}", quoted(fitted.file.file_name())),
            Self::Random(random) => keys::random_to_toml(random),
        }
    }
}

/// The canonical form: the hashes of files, or the parameters of the distribution.
impl Serialize for Contexts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hash = |file: &InputFile| file.sha256.clone();
        serializer.collect_map(match self {
            Self::Files(files) => {
                ["users", "items", "coefficients"].into_iter().zip(files.files().map(hash)).collect()
            }
            Self::Fitted(fitted) => vec![("posterior", hash(&fitted.file))],
            Self::Random(_) => vec![("random", self.to_toml())],
        })
    }
}

/// An instance of users who differ.
#[derive(Debug, Clone)]
struct DifferentUsers<M> {
    name: Option<String>,
    /// The users but for their attraction.
    model: M,
    contexts: Contexts,
    /// `None` if every run draws its own.
    users: Option<Personal<M>>,
}

impl<M: Member + WithAttraction> DifferentUsers<M> {
    fn new(name: Option<String>, model: M, contexts: Contexts) -> Result<Self, Error> {
        if let Contexts::Fitted(fitted) = &contexts
            && fitted.fit.model != M::MODEL.name
        {
            let fault = format!("a fit of {:?}: expected one of {:?}", fitted.fit.model, M::MODEL.name);
            return Err(Error::whole_file(&fitted.file.name, fault));
        }
        let users = contexts.users(&model)?;
        Ok(Self { name, model, contexts, users })
    }

    /// The users, or somebody in their place.
    fn announced(&self) -> Personal<M> {
        let somebody = || Personal::new(vec![(Context::default(), self.model.clone())]);
        self.users.clone().unwrap_or_else(|| somebody().expect("one user"))
    }

    /// Users of which a policy knows the same as in a run.
    fn told(&self) -> Result<Personal<M>, click_models::Error> {
        match &self.contexts {
            Contexts::Fitted(fitted) => fitted.users(&self.model, &fitted.fit.prior.mean()),
            _ => Ok(self.announced()),
        }
    }

    fn parameters(&self) -> Vec<(&'static str, Parameter)> {
        let instance = Instance::new(None, self.model.clone());
        let others = M::parameters(&instance).into_iter().filter(|(key, _)| *key != M::OF_ATTRACTION.name);
        std::iter::once(CONTEXT.with(Parameter::Context(self.contexts.clone()))).chain(others).collect()
    }
}

impl Instances {
    /// Users who differ from `model` in their attraction.
    ///
    /// # Errors
    ///
    /// Too many users, items or features; contents of files that do not belong together.
    pub fn differing<M: Member + WithAttraction>(model: M, contexts: Contexts) -> Result<Self, Error> {
        if let Some(fault) = contexts.fault() {
            return Err(Error::whole_file("context", fault));
        }
        let found = model.attraction().len();
        if found != contexts.n_items() {
            let fault = format!("{found} items of the model: expected {}", contexts.n_items());
            return Err(Error::whole_file("context", fault));
        }
        Ok(Self::from_users(vec![DifferentUsers::new(None, model, contexts)?]))
    }
}

/// Reads the instances of tables: all with a `context`, or none. `read` reads the rest of a table;
/// with a context, it gets the attraction to begin with.
pub(super) fn instances<M: Member + WithAttraction>(
    tables: &[Table<'_>],
    read: impl Fn(&Table<'_>, Option<&ItemCount<'_>>) -> Result<M, Error>,
) -> Result<Instances, Error> {
    if tables.iter().all(|table| table.field("context").is_none()) {
        return Ok(Instances::from_users(read_each(tables, |table| read(table, None))?));
    }
    let mut found: Vec<DifferentUsers<M>> = vec![];
    for table in tables {
        let field = table.field("context").ok_or_else(|| {
            table.missing("context", "users who differ: either all instances have a `context`, or none")
        })?;
        let contexts = Contexts::read(&field)?;
        if let Some(values) = table.field(VALUES.name) {
            return Err(values.error("users who differ have no values: leave out `values` or `context`"));
        }
        let given = ItemCount { n_items: contexts.n_items(), field };
        let model = read(table, Some(&given))?;
        found.push(DifferentUsers::new(table.optional("name")?, model, contexts)?);
    }
    Ok(Instances::from_users(found))
}

/// The number of items that `context` gives.
pub(super) struct ItemCount<'doc> {
    n_items: usize,
    field: Field<'doc>,
}

/// The attraction of items, in one of these keys, of which the first is asked for; in the place of
/// all of them, that of users before they differ.
pub(super) fn read_attraction<'doc>(
    table: &Table<'doc>,
    given: Option<&ItemCount<'doc>>,
    keys: &[Key],
) -> Result<Part<'doc, Vec<Probability>>, Error> {
    let Some(ItemCount { n_items, field }) = given else { return Key::read_one_of(keys, table) };
    if let Some(list) = Key::one_of(keys, table)? {
        return Err(list.error("`context` already gives the attraction: expected one or the other"));
    }
    let half = Probability::new(0.5).expect("a probability");
    Ok(Part { value: vec![half; *n_items], field: field.clone() })
}

/// Draws the users of a run.
struct Draws<'a, M>(&'a [DifferentUsers<M>]);

impl<M: Member + WithAttraction> DrawUsers<Personal<M>> for Draws<'_, M> {
    fn draw(&self, instance: usize, _number: u64, rng: &mut SimRng) -> Personal<M> {
        let instance = &self.0[instance];
        match &instance.contexts {
            Contexts::Random(random) => random.draw(&instance.model, rng).expect("valid sizes"),
            Contexts::Fitted(fitted) => {
                let coefficients = fitted.fit.prior.draw(rng);
                fitted.users(&instance.model, &coefficients).expect("valid sizes")
            }
            Contexts::Files(_) => instance.announced(),
        }
    }
}

/// Users who differ, as a tournament without contenders; `None` if the instances are others.
pub(crate) fn different_users<M: Member + WithAttraction, T: sim::Objective>(
    instances: &Instances,
    task: T,
    assignment: Assignment,
    seed: u64,
) -> Option<Tournament<'_, Personal<M>, T>> {
    let list = instances.list().downcast_ref::<Vec<DifferentUsers<M>>>()?;
    Some(without_contenders(list, task, assignment, seed))
}

fn without_contenders<M: Member + WithAttraction, T: sim::Objective>(
    instances: &[DifferentUsers<M>],
    task: T,
    assignment: Assignment,
    seed: u64,
) -> Tournament<'_, Personal<M>, T> {
    let are_random = instances.iter().any(|instance| instance.users.is_none());
    Tournament {
        instances: instances.iter().map(DifferentUsers::announced).collect(),
        uncertainty: are_random.then(|| Box::new(Draws(instances)) as Box<dyn DrawUsers<Personal<M>>>),
        runs_per_draw: 1,
        assignment,
        contenders: vec![],
        task,
        streams: Streams::new(seed),
        runs: 0,
    }
}

impl<M: Member + WithAttraction> Users for Vec<DifferentUsers<M>> {
    fn model(&self) -> &'static Model {
        M::MODEL
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn shapes(&self) -> Vec<ListShape> {
        self.iter().filter_map(|instance| Some(M::SHAPE?(&instance.model))).collect()
    }

    fn contexts(&self) -> Option<Sees> {
        let all = self.iter().map(|instance| instance.contexts.sees());
        all.reduce(|one, other| Sees {
            segment: one.segment && other.segment,
            user_features: one.user_features && other.user_features,
            item_features: one.item_features && other.item_features,
        })
    }

    fn files(&self) -> Vec<&InputFile> {
        self.iter().flat_map(|instance| instance.contexts.files()).collect()
    }

    fn prior(&self, fit: &ContextFit, interactions: bool) -> Result<HybridPrior, String> {
        let settings = HybridSettings { interactions, ..HybridSettings::default() };
        let mut found: Option<HybridPrior> = None;
        for instance in self {
            let prior = instance.contexts.prior(fit)?;
            if found.as_ref().is_some_and(|other| other.scale() != prior.scale()) {
                return Err("the instances have features of other scales: run them one by one".to_owned());
            }
            let told = instance.told().map_err(|error| error.to_string())?;
            let shape = ListShape::new(instance.contexts.n_items(), instance.model.n_positions());
            let policy = HybridTs::new(shape.map_err(|error| error.to_string())?, told.known(), settings);
            policy.and_then(|policy| policy.with_prior(&prior)).map_err(|error| error.to_string())?;
            found = Some(prior);
        }
        found.ok_or_else(|| "no instances".to_owned())
    }

    fn doubts(&self) -> Vec<String> {
        let doubts = |instance: &DifferentUsers<M>| match &instance.contexts {
            Contexts::Files(files) => files.doubts(),
            Contexts::Fitted(fitted) => vec![fitted.doubt()],
            Contexts::Random(_) => vec![],
        };
        self.iter().flat_map(doubts).collect()
    }

    fn parameters(&self) -> Vec<Parameters> {
        let one = |instance: &DifferentUsers<M>| Parameters {
            name: instance.name.clone(),
            values: instance.parameters(),
        };
        self.iter().map(one).collect()
    }

    fn tables(&self) -> Vec<InstanceTable> {
        let readable = |(key, value)| (M::MODEL.for_readers(key), value);
        let table = |(index, instance): (usize, &DifferentUsers<M>)| InstanceTable {
            name: instance.name.clone().unwrap_or_else(|| format!("instance {index}")),
            n_items: instance.contexts.n_items(),
            parameters: instance.parameters().into_iter().map(readable).collect(),
            lists: vec![],
        };
        self.iter().enumerate().map(table).collect()
    }

    fn unit(&self) -> &'static str {
        unit(self.iter().map(|instance| &instance.model))
    }

    fn list(&self) -> &dyn Any {
        self
    }

    fn values_of_users(
        &self,
        assignment: Assignment,
        seed: u64,
        instances_of_runs: &[usize],
    ) -> ValuesOfUsers {
        let tournament = without_contenders(self, sim::WithBudget { horizon: 1 }, assignment, seed);
        let mut values = ValuesOfUsers { optimal_clicks: vec![], lower_bound: None, yardsticks: vec![] };
        for (run, &instance) in (0..).zip(instances_of_runs) {
            let users = tournament.users(run, instance);
            let clicks = (0..users.n_users()).map(|user| {
                let user = users.user(user);
                user.expected_clicks(&user.optimal_action())
            });
            values.optimal_clicks.push(clicks.sum::<f64>() / users.n_users() as f64);
            values.yardsticks.push(users.yardsticks());
        }
        values
    }
}
