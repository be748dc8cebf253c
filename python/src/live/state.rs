//! The items of a policy in live use by their names.

use super::begin::FirstItem;
use crate::context::UserNames;
use crate::message::{MOST_SEARCHED, none_of, type_error, value_error};
use crate::name::{Name, typed};
use ::live::{ByName, ContextFit, Handle};
use policies::catalogue::ContextKnowledge;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A policy, its generator of random numbers, and the names of its items.
pub(super) struct State {
    pub(super) live: Box<dyn ByName<Name>>,
    pub(super) generator: Xoshiro256PlusPlus,
    /// The item that has a place, or had it last.
    pub(super) names: Vec<Option<(Handle, Name)>>,
    /// Also of items that were forgotten, until another one has their place.
    pub(super) handles: BTreeMap<Name, Handle>,
    /// The names of the log with which a policy that sees who asks began.
    pub(super) users: Arc<UserNames>,
}

impl State {
    pub(super) fn find(&self, name: &Name) -> Option<Handle> {
        self.handles.get(name).copied().filter(|&item| self.live.is_known(item))
    }

    pub(super) fn known(&self, what: &str, name: &Name) -> PyResult<Handle> {
        if let Some(item) = self.find(name) {
            return Ok(item);
        }
        self.check_type(what, name)?;
        let known = self.known_names();
        let known: Vec<String> = known.take(MOST_SEARCHED).map(Name::text).collect();
        let fault = format!("{what}: {name} is no item");
        Err(PyKeyError::new_err(none_of(fault, &name.text(), known.iter().map(String::as_str))))
    }

    /// The items of these names, and a warning of names that are of no item.
    ///
    /// # Errors
    ///
    /// `TypeError` for a name of another type than the items'.
    pub(super) fn some(&self, what: &str, names: &[Name]) -> PyResult<(Vec<Handle>, Option<String>)> {
        let (mut items, mut unknown) = (Vec::with_capacity(names.len()), None);
        for name in names {
            if let Some(item) = self.find(name) {
                items.push(item);
            } else {
                self.check_type(what, name)?;
                unknown.get_or_insert_with(|| format!("{what}: {name} is no item, and is ignored"));
            }
        }
        Ok((items, unknown))
    }

    /// Refuses a new name of another type than all items, or than the item of the same text.
    pub(super) fn check_type(&self, what: &str, name: &Name) -> PyResult<()> {
        let is_other = |known: Option<&Name>| known.is_some_and(|known| known.is_text() != name.is_text());
        // Numbers come before texts.
        let are_other = is_other(self.known_names().next()) && is_other(self.known_names().next_back());
        if are_other || name.twin().is_some_and(|twin| self.find(&twin).is_some()) {
            return Err(type_error(format!("{what}: {name} is of another type than the items")));
        }
        Ok(())
    }

    fn known_names(&self) -> impl DoubleEndedIterator<Item = &Name> {
        self.handles.keys().filter(move |known| self.find(known).is_some())
    }

    /// The name of an item that is present or retired.
    pub(super) fn name(&self, item: Handle) -> Option<&Name> {
        let (has, name) = self.names.get(item.slot.index())?.as_ref()?;
        (*has == item && self.live.is_known(item)).then_some(name)
    }

    pub(super) fn set_name(&mut self, item: Handle, name: Name) {
        let place = item.slot.index();
        if place >= self.names.len() {
            self.names.resize(place + 1, None);
        }
        if let Some((_, old)) = self.names[place].replace((item, name.clone()))
            && self.handles.get(&old).is_some_and(|handle| handle.slot == item.slot)
        {
            self.handles.remove(&old);
        }
        self.handles.insert(name, item);
    }

    /// Adds an item, or brings it back with the features that it had.
    pub(super) fn add(&mut self, name: Name, features: Option<&[f64]>) -> PyResult<bool> {
        self.check_context("features", features.is_some())?;
        if let Some(item) = self.find(&name) {
            return Ok(self.live.bring_back(item));
        }
        if let Some(twin) = name.twin().filter(|twin| self.find(twin).is_some()) {
            return Err(type_error(format!("item is {name}, and there is {twin}: give all items one type")));
        }
        let features = features.unwrap_or(&[]);
        let item = self.live.add_item_with(features).map_err(value_error)?;
        self.set_name(item, name);
        Ok(true)
    }

    /// The knowledge of a policy that sees who asks.
    pub(super) fn told(&self) -> Option<&ContextKnowledge> {
        self.live.policy().told().context.as_ref()
    }

    /// Begins with the items of a fit: those that are given, with other ones that are new, or all.
    pub(super) fn begin_with(
        &mut self,
        py: Python<'_>,
        fit: &ContextFit,
        given: Option<Vec<FirstItem>>,
    ) -> PyResult<()> {
        let places: Vec<Handle> = self.live.items();
        for (item, name) in places.iter().zip(&fit.items) {
            self.set_name(*item, Name::read("item", &typed(py, name, fit.item_type)?)?);
        }
        let Some(given) = given else { return Ok(()) };
        let mut left: BTreeMap<&str, Handle> = fit.items.iter().map(String::as_str).zip(places).collect();
        for (name, features) in given {
            let text = name.text();
            let Some(item) = left.remove(&*text) else {
                self.add(name, features.as_deref())?;
                continue;
            };
            let is_same = |features| self.live.has_features(item, features);
            if !features.as_deref().is_none_or(is_same) {
                return Err(value_error(format!("items: {text:?} has other features than in the fit")));
            }
            // In a text file, names have no type.
            if !fit.item_type.is_text() && name.is_text() {
                self.check_type("items", &name)?;
            }
            self.handles.remove(&Name::Text(text));
            self.set_name(item, name);
        }
        for item in left.into_values() {
            self.live.retire(item);
        }
        Ok(())
    }

    /// Refuses what is not the value of a click, or a policy without values.
    pub(super) fn check_value(&mut self, value: f64, is_told: bool) -> PyResult<()> {
        let checked = self.live.check_value(value, is_told);
        checked.map_err(|error| self.refused(error))
    }

    /// The error about the policy.
    pub(super) fn refused(&self, error: ::live::Error) -> PyErr {
        match error {
            ::live::Error::NoValues | ::live::Error::NoTerms => {
                value_error(format!("`{}`: {error}", self.live.policy().spec().name()))
            }
            error => value_error(error),
        }
    }

    /// Refuses an argument about contexts of a policy that sees none.
    pub(super) fn check_context(&self, argument: &str, is_given: bool) -> PyResult<()> {
        if !is_given || self.told().is_some() {
            return Ok(());
        }
        let name = self.live.policy().spec().name();
        Err(type_error(format!("{argument}: `{name}` sees no contexts")))
    }
}
