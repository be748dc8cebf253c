//! A list of instances of one click model, and the trait that a click model implements for it.

use super::keys::{ATTRACTION, VALUES};
use super::own_clicks::LogLists;
use super::users_of_runs::{ValuesOfUsers, values_of_users};
use super::{Evidence, EvidenceOf, Instance, InstanceTable, Instances, Model, Parameter, Parameters, Users};
use crate::bound::Bound;
use crate::key::Key;
use crate::posterior::PosteriorFile;
use click_models::{ClickModel, ListShape};
use contenders::{Entrant, OwnAnswers};
use itertools::Itertools as _;
use sim::{Assignment, Streams};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A click model that an experiment's users may have: one of [`MODELS`](super::MODELS).
pub trait UserModel: Member {}

impl<M: Member> UserModel for M {}

/// The name of a lower bound for readers, and its factor of `ln t`.
pub(crate) type LowerBound<M> = (&'static str, fn(&M) -> f64);

/// Gives the items of users values.
pub(crate) type WithValues<M> = fn(M, &[f64]) -> Result<M, click_models::Error>;

/// Properties of a click model that an experiment needs.
pub trait Member: ClickModel + Clone + Debug + Send + Sync + 'static {
    /// Its row of [`MODELS`](super::MODELS).
    const MODEL: &'static Model;

    /// The shape of its lists; `None` if it shows no lists.
    const SHAPE: Option<fn(&Self) -> ListShape> = None;

    /// The key of its attraction.
    const OF_ATTRACTION: &'static Key = &ATTRACTION;

    /// Its asymptotic lower bound on regret; `None` if no bound is known.
    const LOWER_BOUND: Option<LowerBound<Self>> = None;

    /// The parameters of an instance by their names in files.
    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)>;

    /// The list parameters of an instance, which calibrated users have besides their summary.
    fn lists(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        parameters_of(instance).into_iter().filter(|(_, value)| !value.numbers().is_empty()).collect()
    }

    /// The number of items or rows.
    fn n_items(&self) -> usize {
        Self::SHAPE.map_or(0, |shape| shape(self).n_items())
    }

    /// The number of cells of its table; `None` if it shows no cells.
    fn n_cells(&self) -> Option<usize> {
        None
    }

    /// The unit of regret.
    fn unit(&self) -> &'static str {
        "clicks"
    }

    /// The value of a log's lists and of better ones under the posterior distribution of the users;
    /// `None` if the model shows no lists.
    const EVIDENCE: Option<EvidenceOf<Self>> = None;

    /// Gives items values; `None` if the model has none.
    const WITH_VALUES: Option<WithValues<Self>> = None;

    /// Bounds on the stopping time of the experiment's policies.
    fn bounds_of_stopping(_instances: &[Instance<Self>], _policies: &[Entrant]) -> Vec<Bound> {
        Vec::new()
    }

    /// Returns whether these users can be played: those of another program have no answers.
    fn can_answer(&self) -> bool {
        true
    }

    /// Gives users of the caller their answers. Returns false unless they are as many such users.
    fn answer_with(_instances: &mut [Instance<Self>], _answers: &[Arc<dyn OwnAnswers>]) -> bool {
        false
    }

    /// Wraps instances as the users of an experiment.
    fn instances(list: Vec<Instance<Self>>) -> Instances {
        Instances::from_users(list)
    }
}

/// The parameters of an instance, with the values of its items.
fn parameters_of<M: Member>(instance: &Instance<M>) -> Vec<(&'static str, Parameter)> {
    let values = instance.model.values().map(|values| VALUES.with(Parameter::Numbers(values.to_vec())));
    M::parameters(instance).into_iter().chain(values).collect()
}

/// The mean of a value over instances.
pub(super) fn mean<M>(instances: &[Instance<M>], value: impl Fn(&M) -> f64) -> f64 {
    instances.iter().map(|instance| value(&instance.model)).sum::<f64>() / instances.len() as f64
}

/// The common unit of these users, or "reward" if they differ.
pub(super) fn unit<'a, M: Member>(users: impl Iterator<Item = &'a M>) -> &'static str {
    // Before a log is fitted there are no instances.
    let unit =
        users.map(|users| if users.values().is_some() { "value" } else { users.unit() }).all_equal_value();
    unit.unwrap_or_else(|differ| differ.map_or("clicks", |_| "reward"))
}

impl<M: Member> Users for Vec<Instance<M>> {
    fn model(&self) -> &'static Model {
        M::MODEL
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn shapes(&self) -> Vec<ListShape> {
        self.iter().filter_map(|instance| Some(M::SHAPE?(&instance.model))).collect()
    }

    fn most_cells(&self) -> Option<usize> {
        self.iter().filter_map(|instance| instance.model.n_cells()).max()
    }

    fn parameters(&self) -> Vec<Parameters> {
        let one = |instance: &Instance<M>| Parameters {
            name: instance.name.clone(),
            values: parameters_of(instance),
        };
        self.iter().map(one).collect()
    }

    fn tables(&self) -> Vec<InstanceTable> {
        let readable = |(key, value)| (M::MODEL.for_readers(key), value);
        let table = |(index, instance): (usize, &Instance<M>)| InstanceTable {
            name: instance.name.clone().unwrap_or_else(|| format!("instance {index}")),
            n_items: instance.model.n_items(),
            parameters: parameters_of(instance).into_iter().map(readable).collect(),
            lists: M::lists(instance),
        };
        self.iter().enumerate().map(table).collect()
    }

    fn unit(&self) -> &'static str {
        unit(self.iter().map(|instance| &instance.model))
    }

    fn lower_bound(&self) -> Option<(&'static str, f64)> {
        let (name, factor) = M::LOWER_BOUND.filter(|_| !self.have_values())?;
        Some((name, mean(self, factor))).filter(|(_, factor)| factor.is_finite())
    }

    fn bounds_of_stopping(&self, policies: &[Entrant]) -> Vec<Bound> {
        M::bounds_of_stopping(self, policies)
    }

    fn list(&self) -> &dyn Any {
        self
    }

    fn have_values(&self) -> bool {
        self.iter().any(|instance| instance.model.values().is_some())
    }

    fn can_answer(&self) -> bool {
        self.iter().all(|instance| instance.model.can_answer())
    }

    fn answer_with(&mut self, answers: &[Arc<dyn OwnAnswers>]) -> bool {
        M::answer_with(self, answers)
    }

    fn evidence(
        &self,
        lists: &[LogLists],
        n_draws: usize,
        streams: Streams,
        others: Option<&[Evidence]>,
    ) -> Vec<Evidence> {
        let numbered = (0..).zip(self.iter().zip(lists));
        let one = |(number, (instance, lists)): (u64, (&Instance<M>, &LogLists))| {
            let others = others.and_then(|others| others.get(usize::try_from(number).ok()?));
            M::EVIDENCE?(instance, lists, n_draws, (streams, number), others)
        };
        numbered.filter_map(one).collect()
    }

    fn posterior(&self) -> Option<&PosteriorFile> {
        self.first()?.posterior.as_deref().map(|posterior| &*posterior.file)
    }

    fn values_of_users(
        &self,
        assignment: Assignment,
        seed: u64,
        instances_of_runs: &[usize],
    ) -> ValuesOfUsers {
        values_of_users(self, assignment, seed, instances_of_runs)
    }
}
