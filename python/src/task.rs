//! The task of a policy: the protocol of its users, and what it knows of them.

use crate::arrays::{Shape, room};
use crate::catalogue::to_value;
use crate::message::{none_of, type_error, value_error};
use crate::sequence::{self, shape_of};
use click_models::{
    Cascade, ClicksOnly, ContextKnown, DuelShape, Dueling, ListShape, Pbm, PbmKnown, RankOne, TableShape,
};
use confidence::Probability;
use policies::catalogue::{
    AnyPolicy, CatalogueProtocol as _, Family, Kind, Knowledge, ParameterRow, PolicySpec, Protocol, find,
};
use policies::{Drawing, PrefixKnown};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Map, Value};
use spec::models::MODELS;

/// Most items times positions: a policy keeps some numbers of eight bytes for each, and a size that
/// no machine has memory for would end the process.
const MOST_NUMBERS: usize = 1 << 28;

const OF_CONTEXTS: [&str; 3] = ["item_features", "user_features", "segments"];

/// The caller's statements about the users.
#[derive(Default)]
pub(crate) struct UserFacts {
    pub(crate) items: Option<usize>,
    pub(crate) positions: Option<usize>,
    pub(crate) rows: Option<usize>,
    pub(crate) columns: Option<usize>,
    pub(crate) examination: Option<Vec<f64>>,
    pub(crate) order: Option<Vec<usize>>,
    /// Item by item.
    pub(crate) item_features: Option<Vec<f64>>,
    pub(crate) user_features: Option<usize>,
    pub(crate) segments: Option<u32>,
    pub(crate) horizon: Option<u64>,
}

/// An integer argument that is not negative.
pub(crate) fn count(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    let Some(given) = given else { return Ok(None) };
    if let Some(shape) = shape_of(given).filter(|shape| !shape.is_empty()) {
        return Err(type_error(format!(
            "{name}: expected an integer, got an array of shape {}",
            Shape(shape)
        )));
    }
    if given.is_instance_of::<PyBool>() || !given.hasattr("__index__")? {
        let found = given.get_type().name()?.to_string();
        return Err(type_error(format!("{name}: expected an integer, got {found}")));
    }
    let wrong = |error: PyErr| {
        // Other exceptions are those of the object's `__index__`.
        if error.is_instance_of::<PyOverflowError>(given.py()) {
            value_error(format!("{name} is {given}: expected an integer from 0 to 2^64 - 1"))
        } else {
            error
        }
    };
    given.extract().map(Some).map_err(wrong)
}

/// An integer argument that counts objects in memory.
pub(crate) fn size(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let wrong = |_| value_error(format!("{name} is too large"));
    count(name, given)?.map(|count| usize::try_from(count).map_err(wrong)).transpose()
}

/// As [`size`], of an argument that is always given.
pub(crate) fn length(name: &str, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(size(name, Some(given))?.unwrap_or(0))
}

impl UserFacts {
    /// The first argument given that tells of contexts.
    fn of_contexts(&self) -> Option<&'static str> {
        self.names().into_iter().find(|name| OF_CONTEXTS.contains(name))
    }

    /// A policy's knowledge of users who differ, if it has any.
    fn contexts(&self) -> Result<Option<ContextKnown<'_>>, click_models::Error> {
        if self.of_contexts().is_none() {
            return Ok(None);
        }
        let items = self.item_features.as_deref().unwrap_or(&[]);
        let known = ContextKnown::new(self.items.unwrap_or(0), items)?;
        let known = known.with_user_features(self.user_features.unwrap_or(0));
        Ok(Some(known.with_segments(self.segments.unwrap_or(1))))
    }

    /// The names of the arguments given, except the horizon, which every protocol has.
    fn names(&self) -> Vec<&'static str> {
        let all = [
            ("items", self.items.is_some()),
            ("positions", self.positions.is_some()),
            ("rows", self.rows.is_some()),
            ("columns", self.columns.is_some()),
            ("examination", self.examination.is_some()),
            ("order", self.order.is_some()),
            ("item_features", self.item_features.is_some()),
            ("user_features", self.user_features.is_some()),
            ("segments", self.segments.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    /// Why these arguments do not describe users of the protocol to a policy of this family.
    fn fault(&self, protocol: Protocol, family: Option<Family>) -> Option<String> {
        let (needed, optional): (&[&str], &[&str]) = match protocol {
            Protocol::PositionBased if family == Some(Family::UnknownExamination) => {
                (&["items", "positions"], &["order"])
            }
            Protocol::PositionBased => (&["items", "examination"], &["positions"]),
            Protocol::RankOne => (&["rows", "columns"], &[]),
            Protocol::Dueling => (&["items"], &[]),
            _ if matches!(family, Some(Family::Prefix | Family::PrefixContexts)) => {
                (&["items", "positions"], &["order"])
            }
            _ => (&["items", "positions"], &[]),
        };
        let given = self.names();
        let missing: Vec<&str> = needed.iter().copied().filter(|name| !given.contains(name)).collect();
        let known = [needed, optional, &OF_CONTEXTS];
        let excess = given.into_iter().find(|name| known.iter().all(|known| !known.contains(name)));
        let needs = || format!("with model=\"{}\" it needs {}", protocol.name(), needed.join(", "));
        match excess {
            Some(name) => Some(format!("unexpected argument {name}: {}", needs())),
            None if !missing.is_empty() => Some(format!("missing {}: {}", missing.join(", "), needs())),
            None => None,
        }
    }

    /// Bytes that a policy of this size may need: a number for each item and position, cell or
    /// pair, and some for each item; as many for each segment, and some for each feature.
    fn least_memory(&self) -> usize {
        let items = self.items.unwrap_or(0);
        let positions = self.positions.or(self.examination.as_ref().map(Vec::len)).unwrap_or(items);
        let cells = self.rows.unwrap_or(0).saturating_mul(self.columns.unwrap_or(0));
        let numbers = items.saturating_mul(positions).saturating_add(cells);
        let policy = numbers.saturating_mul(8).saturating_add(items.saturating_mul(128));
        let segments = self.segments.map_or(1, |segments| usize::try_from(segments).unwrap_or(usize::MAX));
        let features = items.saturating_mul(self.user_features.unwrap_or(0)).saturating_mul(24);
        policy.saturating_mul(segments).saturating_add(features)
    }

    fn list(&self) -> Result<ListShape, click_models::Error> {
        let examination = self.examination.as_ref().map(Vec::len);
        ListShape::new(self.items.unwrap_or(0), self.positions.or(examination).unwrap_or(0))
    }
}

/// Returns whether the policy plays users of the protocol, ordinary ones or those who differ.
pub(crate) fn plays(spec: &PolicySpec, protocol: Protocol) -> bool {
    spec.speaks(protocol) || spec.sees_contexts(protocol)
}

/// The protocols that the policy plays.
pub(crate) fn protocols(spec: &PolicySpec) -> impl Iterator<Item = Protocol> {
    Protocol::ALL.into_iter().filter(|&protocol| plays(spec, protocol))
}

/// The family that tells which sizes the policy knows.
fn family_on(spec: &PolicySpec, protocol: Protocol) -> Option<Family> {
    let row = spec.within().row();
    let sees = |family: &&Family| family.protocols().contains(&protocol);
    row.family_on(protocol).or_else(|| row.families.iter().find(sees).copied())
}

/// The protocol of the users: the one named, or the only one that fits the policy and the
/// arguments.
pub(crate) fn protocol_of(spec: &PolicySpec, model: Option<&str>, given: &UserFacts) -> PyResult<Protocol> {
    let name = spec.name();
    if let Some(model) = model {
        // Models that share a protocol have names of their own.
        let models = MODELS.iter().map(|model| (model.name, model.protocol));
        let models = models.filter(|(name, protocol)| *name != protocol.name());
        let protocols = Protocol::ALL.into_iter().map(|protocol| (protocol.name(), protocol));
        let known: Vec<(&str, Protocol)> = protocols.chain(models).collect();
        let named = known.iter().find(|(name, _)| *name == model);
        return named.map(|(_, protocol)| *protocol).ok_or_else(|| {
            let known = known.iter().map(|(name, _)| *name);
            value_error(none_of(format!("unknown model `{model}`"), model, known))
        });
    }
    let played: Vec<(Protocol, Option<String>)> = protocols(spec)
        .map(|protocol| (protocol, given.fault(protocol, family_on(spec, protocol))))
        .collect();
    if let [(only, _)] = played[..] {
        return Ok(only);
    }
    let fits = |(protocol, fault): &(Protocol, Option<String>)| fault.is_none().then_some(*protocol);
    match played.iter().filter_map(fits).collect::<Vec<_>>()[..] {
        [only] => Ok(only),
        [] => {
            let faults: Vec<String> = played.into_iter().filter_map(|(_, fault)| fault).collect();
            Err(value_error(format!("`{name}`: {}", faults.join("; or "))))
        }
        ref several => {
            let names: Vec<String> = several.iter().map(|known| format!("\"{}\"", known.name())).collect();
            Err(value_error(format!(
                "`{name}` plays several models: give model=, one of {}",
                names.join(", ")
            )))
        }
    }
}

pub(crate) fn build(spec: PolicySpec, protocol: Protocol, given: &UserFacts) -> PyResult<AnyPolicy> {
    let (name, family) = (spec.name(), family_on(&spec, protocol));
    let invalid = |error: &dyn std::fmt::Display| value_error(format!("`{name}`: {error}"));
    if !plays(&spec, protocol) {
        let models: Vec<&str> = protocols(&spec).map(Protocol::name).collect();
        let (users, models) = (protocol.name(), models.join(", "));
        return Err(invalid(&format!("it does not play \"{users}\": expected model= one of {models}")));
    }
    if !spec.sees_contexts(protocol)
        && let Some(argument) = given.of_contexts()
    {
        return Err(type_error(format!("unexpected {argument}: `{name}` sees no contexts")));
    }
    if let Some(fault) = given.fault(protocol, family) {
        return Err(invalid(&fault));
    }
    let shape = || given.list().map_err(|error| invalid(&error));
    let numbers = given.items.unwrap_or(1).saturating_mul(given.positions.unwrap_or(1));
    if numbers > MOST_NUMBERS {
        let message = format!("{numbers} items times positions: at most {MOST_NUMBERS} are supported");
        return Err(invalid(&message));
    }
    // A failed allocation would end the process.
    room::<u8>(given.least_memory())?;
    let prefix = |shape| {
        let order = given.order.as_deref().unwrap_or(&[]);
        if given.order.is_some() && order.is_empty() {
            return Err(invalid(&"order is empty: expected the positions, from that of the best item on"));
        }
        PrefixKnown::with_places(shape, order).map_err(|error| invalid(&format!("order: {error}")))
    };
    let contexts = given.contexts().map_err(|error| invalid(&error))?;
    if contexts.is_none() && !spec.speaks(protocol) {
        return Err(invalid(&"give item_features, user_features or segments: it chooses by them"));
    }
    let knowledge = match protocol {
        Protocol::PositionBased if family == Some(Family::UnknownExamination) => {
            Pbm::knowledge(&prefix(shape()?)?.into())
        }
        Protocol::PositionBased => {
            let examination = probabilities("examination", given.examination.as_deref().unwrap_or(&[]))?;
            Pbm::knowledge(&PbmKnown::new(shape()?, &examination).map_err(|error| invalid(&error))?.into())
        }
        Protocol::SemiBandit | Protocol::Cascade | Protocol::Dcm => Cascade::knowledge(&prefix(shape()?)?),
        Protocol::ClicksOnly => ClicksOnly::knowledge(&shape()?),
        Protocol::RankOne => {
            let table = TableShape::new(given.rows.unwrap_or(0), given.columns.unwrap_or(0));
            RankOne::knowledge(&table.map_err(|error| invalid(&error))?)
        }
        Protocol::Dueling => {
            let shape = DuelShape::new(given.items.unwrap_or(0)).map_err(|error| invalid(&error))?;
            Dueling::knowledge(&shape.into())
        }
        _ => return Err(invalid(&format!("{protocol} users are not supported"))),
    };
    let (horizon, context) = (given.horizon, contexts.map(Into::into));
    AnyPolicy::build(spec, protocol, Knowledge { horizon, context, ..knowledge }).map_err(value_error)
}

/// The argument `seed`: an integer, or what numpy makes a generator of, which draws one.
pub(crate) fn seed_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    match given {
        Some(source) if source.hasattr("generate_state")? || source.hasattr("random_raw")? => {
            let numpy = source.py().import("numpy.random")?;
            seed_of(Some(&numpy.call_method1("default_rng", (source,))?))
        }
        Some(generator) if generator.hasattr("bit_generator")? => {
            let drawn = generator.call_method1("integers", (0, u64::MAX, None::<u32>, "uint64"))?;
            drawn.extract().map(Some)
        }
        _ => count("seed", given),
    }
}

/// The argument `seed`, or `rng`, which is numpy's name of it.
pub(crate) fn seed_or_rng(
    seed: Option<&Bound<'_, PyAny>>,
    rng: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<u64>> {
    if seed.is_some() && rng.is_some() {
        return Err(type_error("rng: means the same as seed: give one of them"));
    }
    seed_of(seed.or(rng))
}

/// A generator with this seed, by default another one every time.
pub(crate) fn seeded(seed: Option<u64>) -> PyResult<Xoshiro256PlusPlus> {
    let seed = match seed {
        Some(seed) => seed,
        None => getrandom::u64().map_err(|error| PyRuntimeError::new_err(error.to_string()))?,
    };
    Ok(Xoshiro256PlusPlus::seed_from_u64(seed))
}

/// Returns whether these numbers could be random: the state of zeros, which no seed gives, draws
/// nothing but zeros.
pub(crate) fn is_alive(generator: &Xoshiro256PlusPlus) -> bool {
    let mut generator = generator.clone();
    (0..4).any(|_| generator.next_u64() != 0)
}

pub(crate) fn protocol_named(name: &str) -> Option<Protocol> {
    Protocol::ALL.into_iter().find(|protocol| protocol.name() == name)
}

pub(crate) fn probabilities(field: &'static str, values: &[f64]) -> PyResult<Vec<Probability>> {
    let check = |(index, &value): (usize, &f64)| {
        let wrong = |_| value_error(click_models::Error::NotAProbability { field, index, value });
        Probability::new(value).map_err(wrong)
    };
    values.iter().enumerate().map(check).collect()
}

/// How lists are drawn whose propensities are told, if they are.
pub(crate) fn drawing(
    draws: Option<&Bound<'_, PyAny>>,
    epsilon: Option<f64>,
    propensities: bool,
) -> PyResult<Option<Drawing>> {
    if !propensities {
        let given = draws.map(|_| "draws").or(epsilon.map(|_| "epsilon"));
        let wrong = |name| Err(value_error(format!("{name}: only with propensities=True")));
        return given.map_or(Ok(None), wrong);
    }
    let epsilon = epsilon.unwrap_or(0.05);
    let draws = u32::try_from(count("draws", draws)?.unwrap_or(100)).unwrap_or(u32::MAX);
    let epsilon = Probability::new(epsilon)
        .map_err(|_| value_error(format!("epsilon: {epsilon} is not from 0 to 1")))?;
    Drawing::new(draws, epsilon).map(Some).map_err(value_error)
}

/// The order of positions. One word has two meanings: an order of positions, or the parameter of
/// some policies.
pub(crate) fn order_of(
    name: &str,
    order: Option<&Bound<'_, PyAny>>,
    parameters: &mut Map<String, Value>,
) -> PyResult<Option<Vec<usize>>> {
    let Some(order) = order else { return Ok(None) };
    if order.is_instance_of::<PyString>() {
        if find(name).is_some_and(|row| row.parameters.iter().all(|row| row.name != "order")) {
            return Err(type_error("order: expected a sequence of positions, got a string"));
        }
        parameters.insert("order".to_owned(), to_value("order", order)?);
        return Ok(None);
    }
    let places: Vec<i64> = sequence::numbers("order", order)?;
    // For a policy that may know the order or not, this is decided by now.
    let knows = |row: &ParameterRow| {
        row.name == "order" && matches!(row.kind, Kind::Choice(names) if names.contains(&"known"))
    };
    if find(name).is_some_and(|row| row.parameters.iter().any(knows)) {
        parameters.insert("order".to_owned(), "known".into());
    }
    Ok(Some(places.into_iter().map(|place| usize::try_from(place).unwrap_or(usize::MAX)).collect()))
}
