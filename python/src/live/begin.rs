//! How a policy in live use begins: with items, with counts of a log, or with what a log tells of
//! its users; and what it is told of the values and places of items.

use crate::fit::given_of;
use crate::message::{argument, check_fit, none_of, type_error, value_error};
use crate::name::Name;
use crate::prior::{BEGINNINGS, Prior};
use crate::sequence;
use crate::task::{UserFacts, build, length, protocol_of};
use ::live::{ByName, ContextFit, ItemValues, Settings};
use policies::catalogue::{PolicySpec, Protocol};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeSet;

/// The arguments about users who differ: item_features, user_features and segments.
pub(super) type Sizes = [(&'static str, Option<usize>); 3];

/// Refuses what is given and is not that of the fit that a policy begins with.
fn check_users(fit: &ContextFit, protocol: Protocol, sizes: Sizes) -> PyResult<()> {
    // Attraction does not depend on what was seen.
    if protocol != Protocol::SemiBandit {
        check_fit("model", Some(protocol.name()), Some(fit_protocol(fit).name()))?;
    }
    let known = fit.prior.known();
    let expected = [known.n_item_features(), known.n_user_features(), known.n_segments() as usize];
    for ((argument, given), expected) in sizes.into_iter().zip(expected) {
        if let Some(found) = given.filter(|&found| found != expected) {
            return Err(value_error(format!("{argument} is {found}: the fit has {expected}")));
        }
    }
    Ok(())
}

/// The protocol of the fitted model.
pub(crate) fn fit_protocol(fit: &ContextFit) -> Protocol {
    BEGINNINGS.iter().find(|row| row.0.name() == fit.model).map_or(Protocol::Cascade, |row| row.1)
}

/// A policy in live use, and the fit with which one that sees who asks begins.
pub(super) type NewPolicy = (Box<dyn ByName<Name>>, Option<Box<ContextFit>>);

/// Makes a new policy. `prior` also has the query of a fit whose items are meant.
pub(super) fn new_policy(
    spec: PolicySpec,
    model: Option<&str>,
    given: UserFacts,
    sizes: Sizes,
    settings: Settings,
    (prior, query): (Option<Prior>, Option<&str>),
) -> PyResult<NewPolicy> {
    let prior = prior.filter(|prior| !matches!(prior, Prior::Estimated));
    if spec.check_live_among().is_ok() {
        let fit = prior.map(Prior::of_context_fit).transpose()?;
        let protocol = match (model, fit.as_deref()) {
            (None, Some(fit)) => fit_protocol(fit),
            _ => protocol_of(&spec, model, &given)?,
        };
        if let Some(fit) = &fit {
            check_users(fit, protocol, sizes)?;
        }
        return Ok((for_users(spec, protocol, given, sizes, settings, fit.as_deref())?, fit));
    }
    if let Some((argument, _)) = sizes.iter().find(|(_, given)| given.is_some()) {
        return Err(type_error(format!("{argument}: `{}` sees no contexts", spec.name())));
    }
    spec.check_live().map_err(value_error)?;
    let (mut spec, protocol) = (spec, protocol_of(&spec, model, &given)?);
    prior.as_ref().map_or(Ok(()), |prior| prior.complete(&mut spec, protocol, query))?;
    let mut policy = build(spec, protocol, &given)?;
    prior.map_or(Ok(()), |prior| prior.give(&mut policy, query))?;
    Ok((<dyn ByName<_>>::empty(policy, settings).map_err(value_error)?, None))
}

/// A policy that sees who asks, with the items of the fit that it begins with, or without items.
fn for_users(
    spec: PolicySpec,
    protocol: Protocol,
    given: UserFacts,
    sizes: Sizes,
    settings: Settings,
    fit: Option<&ContextFit>,
) -> PyResult<Box<dyn ByName<Name>>> {
    let [item_features, user_features, segments] = sizes.map(|(_, size)| size);
    let segments = segments.map_or(1, |segments| u32::try_from(segments).unwrap_or(u32::MAX));
    let user_features = user_features.or(Some(0));
    let without = || UserFacts { user_features, segments: Some(segments), ..UserFacts::default() };
    let mut known = fit.map_or_else(without, |fit| given_of(fit, protocol));
    if let Some((all, positions)) = known.examination.as_mut().zip(given.positions) {
        all.truncate(positions);
    }
    let examination = given.examination.or(known.examination);
    let positions = given.positions.or(examination.as_ref().map(Vec::len)).or(known.positions);
    let positions = positions.ok_or_else(|| value_error(format!("`{}`: missing positions", spec.name())))?;
    // Beyond it, the policy has no room for products of features anyway.
    let no_features = || vec![0.0; positions * item_features.unwrap_or(0).min(1 << 12)];
    let given = UserFacts {
        items: known.items.or(Some(positions)),
        positions: Some(positions),
        item_features: known.item_features.or_else(|| Some(no_features())),
        examination,
        order: given.order,
        ..known
    };
    // As the policy refuses it, before there is to be memory for it.
    if u64::from(segments).saturating_mul(positions as u64) > 1 << 24 {
        let error = policies::Error::TooManyCells { n_segments: segments, n_items: positions };
        return Err(value_error(format!("`{}`: {error}", spec.name())));
    }
    let mut policy = build(spec, protocol, &given)?;
    let Some(fit) = fit else { return <dyn ByName<_>>::empty(policy, settings).map_err(value_error) };
    Prior::Contexts(Box::new(fit.clone())).give(&mut policy, None)?;
    <dyn ByName<_>>::new(policy, settings).map_err(value_error)
}

/// The name of an item, and its features.
pub(super) type FirstItem = (Name, Option<Vec<f64>>);

/// The first items; of a policy that sees who asks, with the features that a dict has of them.
pub(super) fn first_items(spec: &PolicySpec, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<FirstItem>> {
    let dict = given.and_then(|given| given.cast::<PyDict>().ok());
    if dict.is_some() && spec.check_live_among().is_err() {
        let name = spec.name();
        return Err(type_error(format!("items: a dict has features, and `{name}` sees none: give names")));
    }
    let Some(dict) = dict else {
        let names = Name::of_each("items", given)?.unwrap_or_default();
        let mut known = BTreeSet::new();
        if let Some((place, name)) = names.iter().enumerate().find(|(_, name)| !known.insert(*name)) {
            return Err(value_error(format!("items[{place}] is {name}, which is there before")));
        }
        return Ok(names.into_iter().map(|name| (name, None)).collect());
    };
    let item = |(name, features): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((Name::read("items", &name)?, Some(sequence::numbers("items", &features)?)))
    };
    dict.iter().map(item).collect()
}

fn no_dict(name: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let has = given.hasattr("to_dict").unwrap_or(false);
    let remedy = if has { "; give what its method to_dict() returns" } else { "" };
    type_error(format!("{name}: expected a dict from {expected}, got {}{remedy}", given.get_type()))
}

/// The values of items by name.
pub(super) type Amounts = Vec<(Name, f64)>;

pub(super) fn amounts(given: &Bound<'_, PyAny>) -> PyResult<Amounts> {
    let dict = given.cast::<PyDict>().map_err(|_| no_dict("values", "items to numbers", given))?;
    let amount = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = Name::read("values", &name)?;
        let amount: f64 = argument(&format!("values[{name}]"), &value)?;
        if !(0.0..=policies::MAX_VALUE).contains(&amount) {
            return Err(value_error(format!("values[{name}]: {}", ::live::Error::Value(amount))));
        }
        Ok((name, amount))
    };
    dict.iter().map(amount).collect()
}

/// Reads the values that items begin with, and where they come from.
pub(super) fn item_values(
    given: Option<&Bound<'_, PyAny>>,
    cap: Option<f64>,
) -> PyResult<(Option<Amounts>, ItemValues)> {
    match given {
        Some(given) if given.is_instance_of::<PyString>() => {
            let (text, expected) = (given.extract::<String>()?, ["answers", "a dict from items to numbers"]);
            if text != expected[0] {
                return Err(value_error(none_of(format!("values is `{text}`"), &text, expected)));
            }
            Ok((None, ItemValues::Answers { cap }))
        }
        _ if cap.is_some() => Err(value_error("cap: values are not \"answers\"")),
        given => Ok((given.map(amounts).transpose()?, ItemValues::Told)),
    }
}

pub(super) fn pins(given: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, Name)>> {
    let dict = given.cast::<PyDict>().map_err(|_| no_dict("pins", "positions to items", given))?;
    let pin = |(position, item): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((length("pins", &position)?, Name::read("pins", &item)?))
    };
    dict.iter().map(pin).collect()
}
