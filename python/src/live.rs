//! The class `Live`: a policy among items that come and go, with answers that come late.

mod begin;
mod state;

pub(crate) use begin::fit_protocol;

use crate::catalogue::{spec_of, to_parameters};
use crate::context::UserNames;
use crate::fit::{CountedItem, Fitted};
use crate::json::SavedBytes;
use crate::message::{argument, broken, value_error, warn};
use crate::name::{Name, typed};
use crate::options::Given;
use crate::prior::{Prior, model_of};
use crate::reduced::reduced;
use crate::sequence;
use crate::task::{UserFacts, count, drawing, is_alive, length, order_of, protocol_named, seeded, size};
use ::live::{Among, Ask, ByName, Entry, Handle, NO_SEGMENT, Settings, Skips, Taken};
use begin::{Sizes, amounts, first_items, item_values, new_policy};
use click_models::Context;
use documents::read_json;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use state::State;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Version of the format of saved policies.
const FORMAT: u32 = 1;

/// The end of the protocol's name in the saved state of a policy that sees who asks.
const USERS: &str = "-users";

/// Items of a dict that are made at a time.
const BETWEEN_OTHERS: usize = 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLive<L, N> {
    format: u32,
    generator: Xoshiro256PlusPlus,
    /// Every item, present or retired.
    names: Vec<(Handle, N)>,
    #[serde(default, skip_serializing_if = "UserNames::is_empty")]
    users: UserNames,
    live: L,
}

/// A policy among items that come and go, with answers that come late, twice or never.
///
/// Items and decisions have names, ints or strs. What is counted depends only on the clicks and the
/// end of each decision, whatever came first or twice. A policy may be shared by threads: its
/// methods run one after the other. `save`, `pickle` and `copy.copy` keep the whole state.
///
/// Args:
///     name: name in the catalogue, of a policy whose `live` is "table", or "whole": `hybrid-ts`,
///         which sees who asks. It learns from a decision when it is closed, and `window` and
///         `skips` are not for it. See `policies()`.
///     model: protocol of the users, as in `Policy`: "pbm", "semi-bandit", "cascade", "dcm" or
///         "clicks-only".
///     items: the first items; for `hybrid-ts`, a dict from items to their features. With a
///         `ContextFit` as `prior`, by default all of its items; its items that are not given are
///         retired, and those that it does not have are new. `begin_with` adds those of a `Fitted`.
///     item_features: number of features of every item; by default as many as the first one has.
///     user_features: number of features of a user, by default none.
///     segments: number of segments of users, by default 1.
///     positions: number of positions of a list, at most 64; "pbm" takes it from `examination`, if
///         the policy knows that.
///     examination: probability that a position is examined, shape (positions,), as in `Policy`.
///     order: positions from that of the best item to that of the last, as in `Policy`.
///     prior: the Beta distribution of the attraction of new items, of policies that draw from
///         posteriors: (a, b); that of all items of a log, by what `fit` returned or by the file
///         or directory that the command has written; or "estimated", from all items so far,
///         every 5,000 decisions and more often before. By default (1, 1).
///         For `hybrid-ts`, a `ContextFit`, or the path of its file or directory: model, positions,
///         sizes, items and scales are those of the fit, and features are given as in the log.
///     query: the query of the fit whose items are meant, by default all.
///     window: how many observations of an item count, the last ones; by default all.
///     explore: probability that the last position shows a random item.
///     propensities: whether decisions have propensities, as of `Policy.select`; not together with
///         `explore`.
///     draws: number of lists that are drawn for propensities, from 1 to 10,000.
///     epsilon: probability of a uniformly random list with propensities, from 0 to 1.
///     skips: when a display without a click counts: "at-close", or "at-once", for policies that
///         draw nothing and whose answers come late.
///     values: what a click on each item is worth, a dict; lists are then those that earn most. Or
///         "answers": the mean of the values that `click` gives, shrunk by five orders to the mean
///         of all. By default all are worth 1. For `pbm-ts`, `bc-mp-ts` and `pbm-gibbs`,
///         `cascade-ts`, `rsf-ts` and `dcm-ts` on cascades, and `dcm-ts` with a `continuation`, its
///         own or that of a fit as `prior`, on dependent clicks.
///     cap: the largest value of an item with "answers", by default none.
///     keep_open: the most decisions that can be answered, the last ones.
///     keep_retired: the most retired items that are kept; beyond, the first one is forgotten.
///     seed: seed of the policy's random numbers, as of `Policy`; `rng` is another name of it.
///     **parameters: the policy's parameters.
///
/// Examples:
///     >>> live = Live("cascade-ts", "cascade", positions=2, items=["a", "b", "c"], seed=1)
///     >>> shown = live.decide("visit-1", except_=["b"])
///     >>> sorted(shown), live.decide("visit-1") == shown
///     (['a', 'c'], True)
///     >>> live.click("visit-1", 1), live.click("visit-1", 1), live.click("visit-2", 0)
///     ('counted', 'repeated', 'unknown')
///     >>> live.table()["b"], live.table()[shown[0]], live.table()[shown[1]]
///     ([(0, 0)], [(1, 0)], [(1, 1)])
///     >>> live.close("visit-1"), live.show("visit-2", ["c", "a"])
///     ('counted', 'counted')
///     >>> live.add("d"), live.retire("d"), live.forget("d")
///     (True, True, None)
///     >>> len(live.propensities("visit-2")), sorted(live.intervals())
///     (0, ['a', 'b', 'c'])
///     >>> Live.load(live.save()).table() == live.table()
///     True
///     >>> values = {"a": 0}
///     >>> live = Live("cascade-ts", "cascade", positions=1, items=[*"ab"], values=values, seed=1)
///     >>> live.decide(1), live.decide(2, values={"a": 900.0}), live.values
///     (['b'], ['a'], {'a': 0.0, 'b': 1.0})
#[pyclass(name = "Live", frozen, module = "click_bandits")]
pub(crate) struct LivePolicy {
    state: Mutex<State>,
}

impl LivePolicy {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        self.state.lock_py_attached(py).map_err(broken)
    }

    /// The state with an item that is there.
    fn known(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<(MutexGuard<'_, State>, Handle)> {
        let name = Name::read("item", item)?;
        let state = self.lock(py)?;
        let item = state.known("item", &name)?;
        Ok((state, item))
    }

    /// The user of a decision; one about whom nothing is known has features of 0. Without the lock
    /// meanwhile: a warning may call anything.
    fn user(
        &self,
        py: Python<'_>,
        features: Option<&Bound<'_, PyAny>>,
        segment: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Context> {
        let (users, expected) = {
            let state = self.lock(py)?;
            state.check_context("features", features.is_some())?;
            state.check_context("segment", segment.is_some())?;
            (Arc::clone(&state.users), state.told().map_or(0, |told| told.user_features))
        };
        let [features, segment] = users.numbered(py, [("features", features), ("segment", segment)])?;
        let segment =
            size("segment", segment.as_ref())?.map(|segment| u32::try_from(segment).unwrap_or(NO_SEGMENT));
        let features = features.map(|given| sequence::numbers("features", &given)).transpose()?;
        let features: Vec<f64> = features.unwrap_or_default();
        if !features.is_empty() && features.len() != expected
            || !features.iter().all(|feature| feature.is_finite())
        {
            let found = features.len();
            return Err(value_error(format!("features: {found} numbers, expected {expected} finite ones")));
        }
        Ok(Context { segment: segment.unwrap_or(NO_SEGMENT), features: users.clipped(py, features)? })
    }

    /// A dict from items to their entries in the table, each as `value` makes it.
    fn entries<'py, T: IntoPyObject<'py> + Send>(
        &self,
        py: Python<'py>,
        value: fn(Entry) -> T,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows: Vec<(Name, Vec<T>)> = py.detach(|| {
            let state = self.state.lock().map_err(broken)?;
            let row = |item| {
                let values = state.live.entries(item).into_iter().map(value);
                Some((state.name(item)?.clone(), values.collect()))
            };
            PyResult::Ok(state.live.items().into_iter().filter_map(row).collect())
        })?;
        let table = PyDict::new(py);
        for (place, (name, row)) in rows.into_iter().enumerate() {
            table.set_item(name.to_python(py)?, row)?;
            if place % BETWEEN_OTHERS == 0 {
                // Other threads run meanwhile.
                py.detach(|| ());
            }
        }
        Ok(table)
    }
}

#[pymethods]
impl LivePolicy {
    #[new]
    #[pyo3(text_signature = "(name, model=None, *, items=None, item_features=None, user_features=None, segments=None, positions=None, examination=None, order=None, prior=None, query=None, window=None, explore=0.0, propensities=False, draws=None, epsilon=0.05, skips='at-close', values=None, cap=None, keep_open=None, keep_retired=None, seed=None, rng=None, **parameters)",
        signature = (name, model=None, **given))]
    fn new(
        py: Python<'_>,
        name: &str,
        model: Option<&str>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut given = Given::new(py, given)?;
        let generator = seeded(given.seed()?)?;
        let (positions, examination) = (given.size("positions")?, given.examination()?);
        let (order, prior, query) = (given.take("order")?, given.take("prior")?, given.query()?);
        let prior = Prior::of_query(prior.as_ref(), query.as_deref())?;
        let propensities = given.one("propensities")?.unwrap_or(false);
        let drawing = drawing(given.take("draws")?.as_ref(), given.one("epsilon")?, propensities)?;
        let (told, values) = item_values(given.take("values")?.as_ref(), given.one("cap")?)?;
        let default = Settings::default();
        let settings = Settings {
            window: given.size("window")?,
            explore: given.one("explore")?.unwrap_or(0.0),
            propensities: drawing,
            skips: given.word(
                "skips",
                "at-close",
                &[("at-close", Skips::AtClose), ("at-once", Skips::AtOnce)],
            )?,
            estimate_prior: matches!(prior, Some(Prior::Estimated)),
            keep_open: given.size("keep_open")?.unwrap_or(default.keep_open),
            keep_retired: given.size("keep_retired")?.unwrap_or(default.keep_retired),
            values,
        };
        let items = given.take("items")?;
        let (item_features, user_features) = (given.size("item_features")?, given.size("user_features")?);
        let segments = given.size("segments")?;
        let mut parameters = to_parameters(Some(&given.dict))?;
        let given = UserFacts {
            // Places for the first items. A list has at most as many positions as there are items.
            items: positions.or(examination.as_ref().map(Vec::len)).map(|places| places.max(1)),
            positions,
            examination,
            order: order_of(name, order.as_ref(), &mut parameters)?,
            ..UserFacts::default()
        };
        let spec = spec_of(name, parameters, py.get_type::<Self>().as_any())?;
        let has_items = items.is_some();
        let items = first_items(&spec, items.as_ref())?;
        let first = items.first().and_then(|(_, features)| features.as_ref().map(Vec::len));
        let sizes: Sizes = [
            ("item_features", item_features.or(first)),
            ("user_features", user_features),
            ("segments", segments),
        ];
        let (live, fit) = new_policy(spec, model, given, sizes, settings, (prior, query.as_deref()))?;
        let users = Arc::new(fit.as_deref().map(UserNames::of).unwrap_or_default());
        let (names, handles) = (Vec::new(), BTreeMap::new());
        let mut state = State { live, generator, names, handles, users };
        if let Some(fit) = fit {
            state.begin_with(py, &fit, has_items.then_some(items))?;
        } else {
            for (name, features) in items {
                state.add(name, features.as_deref())?;
            }
        }
        for (item, value) in told.unwrap_or_default() {
            let item = state.known("values", &item)?;
            state.live.set_value(item, value).map_err(|error| state.refused(error))?;
        }
        Ok(Self { state: Mutex::new(state) })
    }

    /// Adds an item, or brings a retired one back, as it was. Returns whether it was not there
    /// before.
    ///
    /// Args:
    ///     item: its name.
    ///     features: its features, for a policy that sees who asks.
    ///     value: what a click on it is worth from now on, also if it was there before.
    ///     group: its group, for `most` of `decide`, also if it was there before; "" for none.
    ///
    /// Raises:
    ///     ValueError: the features are too few, too many or no finite numbers; the value is
    ///         negative, not finite or above 1e9, or the policy has no values.
    ///     TypeError: features for a policy that sees no contexts, or a name of another type than
    ///         the items'.
    #[pyo3(signature = (item, features=None, *, value=None, group=None))]
    fn add(
        &self,
        py: Python<'_>,
        item: &Bound<'_, PyAny>,
        features: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        group: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let name = Name::read("item", item)?;
        let value = value.map(|value| argument("value", value)).transpose()?;
        let group: Option<String> = group.map(|group| argument("group", group)).transpose()?;
        let features = features.map(|given| sequence::numbers("features", given)).transpose()?;
        let features: Option<Vec<f64>> = features;
        let mut state = self.lock(py)?;
        if let Some(value) = value {
            state.check_value(value, true)?;
        }
        if group.is_some() && state.told().is_some() {
            return Err(state.refused(::live::Error::NoTerms));
        }
        if state.find(&name).is_none() && name.twin().is_none_or(|twin| state.find(&twin).is_none()) {
            state.check_type("item", &name)?;
        }
        let is_new = state.add(name.clone(), features.as_deref())?;
        let item = state.known("item", &name)?;
        if let Some(value) = value {
            state.live.set_value(item, value).map_err(value_error)?;
        }
        if let Some(group) = group {
            let group = Some(&*group).filter(|group| !group.is_empty());
            state.live.set_group(item, group).map_err(value_error)?;
        }
        Ok(is_new)
    }

    /// Begins with the log of a fit: adds its items, if they are not there, and their displays and
    /// clicks, at each position if the policy counts positions apart. They belong to no window.
    ///
    /// Args:
    ///     fitted: what `fit` returned, with the model of the policy's users. For `hybrid-ts`, give
    ///         a `ContextFit` as `prior`.
    ///     query: the query whose items are meant; may be left out if there is only one.
    ///
    /// Returns:
    ///     The number of items of the fit.
    ///
    /// Raises:
    ///     ValueError: the fit does not have the model or the query, or the policy does not learn
    ///         from counts.
    ///
    /// Examples:
    ///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 50}
    ///     >>> live = Live("pbm-ts", positions=2, examination=[1.0, 0.5])
    ///     >>> live.begin_with(fit(log, model="pbm")), live.table()["b"]
    ///     (2, [(0, 0), (50, 0)])
    #[pyo3(signature = (fitted, query=None))]
    fn begin_with(
        &self,
        py: Python<'_>,
        fitted: &Bound<'_, Fitted>,
        query: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let mut state = self.lock(py)?;
        if state.told().is_some() {
            let name = state.live.policy().spec().name();
            return Err(value_error(format!("`{name}` begins with a ContextFit: give it as prior")));
        }
        let (items, of) = fitted.get().items_of(model_of(state.live.policy().protocol()), query)?;
        let name = |(text, _): &CountedItem| {
            let name = Name::read("item", &typed(py, text, of)?)?;
            // Names in a text file have no type: they take that of the items.
            let twin = name.twin().filter(|_| of.is_text() && state.check_type("item", &name).is_err());
            let name = twin.unwrap_or(name);
            if state.find(&name).is_some() {
                Ok(name)
            } else {
                state.check_type("item", &name).map(|()| name)
            }
        };
        let names = items.iter().map(name).collect::<PyResult<Vec<_>>>()?;
        for (name, (_, tallies)) in names.into_iter().zip(&items) {
            if state.find(&name).is_none() {
                state.add(name.clone(), None)?;
            }
            let Some(item) = state.find(&name) else { continue };
            let kinds = state.live.entries(item).len();
            for &(position, tally) in tallies.iter().filter(|(position, _)| kinds == 1 || *position < kinds) {
                state.live.begin_with(item, if kinds > 1 { position } else { 0 }, tally);
            }
        }
        Ok(items.len())
    }

    /// Takes an item out of the catalogue; its counts stay, and `add` brings it back. Returns
    /// whether it was there.
    ///
    /// Raises:
    ///     KeyError: no such item.
    fn retire(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (mut state, item) = self.known(py, item)?;
        Ok(state.live.retire(item))
    }

    /// Takes an item out of the catalogue, with its counts. Later answers about it change nothing.
    ///
    /// Raises:
    ///     KeyError: no such item.
    fn forget(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let (mut state, item) = self.known(py, item)?;
        state.live.retire(item);
        state.live.forget(item);
        Ok(())
    }

    /// Decides on a list. Asked again about a decision, returns the same list.
    ///
    /// Args:
    ///     id: name of the decision.
    ///     only: the items that may be shown. By default all. Names of no item are ignored, with a
    ///         warning.
    ///     except_: items that must not be shown. Names as in only.
    ///     features: those of the user, for a policy that sees who asks; after a ContextFit also a
    ///         dict by name. Features outside the range of the log are clipped to it, with a
    ///         warning.
    ///     segment: that of the user, from 0, or after a ContextFit by name. One that the log did
    ///         not have has no effect, nor has none; features that are not given are 0.
    ///     values: what clicks on some items are worth now, a dict, in place of their values.
    ///     most: the most items of a `group` of `add` in the list.
    ///     pins: a dict from positions, from 0, to the items that have them; the policy chooses the
    ///         others. Pinned items count in their groups. In a cascade, with `most` or `pins` and
    ///         values that differ, the list is good but not always the one that earns most.
    ///
    /// Returns:
    ///     The items from the top down, fewer than positions if there are no more; empty without
    ///     any. For an earlier decision, items that were forgotten since are None, and there is a
    ///     warning if only or except_ now rules out one of its items.
    ///
    /// Raises:
    ///     TypeError: a name of another type than the items', such as '3' where items are ints.
    ///     ValueError: values as in `add`; `most` is 0 or no item has a group; a pin is not
    ///         available, twice or beyond the list.
    ///     KeyError: an item of values or pins is not there.
    #[pyo3(signature = (id, only=None, except_=None, *, features=None, segment=None, values=None, most=None, pins=None))]
    fn decide<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'_, PyAny>,
        only: Option<&Bound<'_, PyAny>>,
        except_: Option<&Bound<'_, PyAny>>,
        features: Option<&Bound<'_, PyAny>>,
        segment: Option<&Bound<'_, PyAny>>,
        values: Option<&Bound<'_, PyAny>>,
        most: Option<&Bound<'_, PyAny>>,
        pins: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let id = Name::read("id", id)?;
        let (only, except) = (Name::of_each("only", only)?, Name::of_each("except_", except_)?);
        let user = self.user(py, features, segment)?;
        let values = values.map(amounts).transpose()?.unwrap_or_default();
        let (most, pins) = (size("most", most)?, pins.map(begin::pins).transpose()?.unwrap_or_default());
        for (what, names) in [("only", &only), ("except_", &except)] {
            let unknown = match names {
                Some(names) => self.lock(py)?.some(what, names)?.1,
                None => None,
            };
            // Without the lock: a warning may call anything.
            unknown.map_or(Ok(()), |unknown| warn(py, unknown))?;
        }
        let mut state = self.lock(py)?;
        let items = |names: &Vec<Name>| state.some("items", names).map(|(items, _)| items);
        let except = except.as_ref().map(items).transpose()?;
        let mut only = only.as_ref().map(items).transpose()?;
        if let Some(items) = &mut only {
            items.retain(|item| except.as_ref().is_none_or(|except| !except.contains(item)));
        }
        let among = match (&only, &except) {
            (Some(only), _) => Among::Only(only),
            (None, Some(except)) => Among::Except(except),
            (None, None) => Among::All,
        };
        let values = values.iter().map(|(name, value)| Ok((state.known("values", name)?, *value)));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        let pins = pins.iter().map(|(at, name)| Ok((*at, state.known("pins", name)?)));
        let pins = pins.collect::<PyResult<Vec<_>>>()?;
        let ask = Ask { user: &user, among, values: &values, most, pins: &pins, ..Ask::default() };
        state.live.check(&ask).map_err(|error| state.refused(error))?;
        let State { live, generator, .. } = &mut *state;
        let list = live.decide(&id, ask, generator).to_vec();
        let is_excluded = |item: &&Handle| match among {
            Among::All => false,
            Among::Only(items) => !items.contains(item),
            Among::Except(items) => items.contains(item),
        };
        let ruled_out = list.iter().filter(is_excluded).find_map(|item| state.name(*item)).cloned();
        let name = |item| state.name(item).map(|name| name.to_python(py)).transpose();
        let list = list.into_iter().map(name).collect::<PyResult<_>>()?;
        drop(state);
        if let Some(name) = ruled_out {
            let fault = format!("decision {id} was made before, with {name}, which is ruled out now");
            warn(py, format!("{fault}: give another id for another list"))?;
        }
        Ok(list)
    }

    /// The probabilities with which a list was shown, for the columns of `evaluate`.
    ///
    /// Returns:
    ///     For each position, the probability that it got its item, whatever the others got
    ///     (`propensity`), and the probability that it and all above it got theirs
    ///     (`prefix-propensity`); the last one of these is that of the list (`list-propensity`).
    ///     Empty without `propensities=True`, and for a list that was shown without asking. None if
    ///     no decision of this name is open.
    fn propensities(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<Vec<(f64, f64)>>> {
        let id = Name::read("id", id)?;
        let state = self.lock(py)?;
        let found = state.live.propensities(&id);
        Ok(found.map(|propensities| propensities.iter().map(|one| (one.item, one.prefix)).collect()))
    }

    /// Takes a list that was shown without asking, such as one of another server: "counted", or
    /// "repeated" if there is a decision of this name.
    ///
    /// Raises:
    ///     TypeError: a name of another type than the items'.
    ///     KeyError: an item is not there.
    ///     ValueError: an item is repeated, or there are too many positions.
    #[pyo3(signature = (id, items, *, features=None, segment=None))]
    fn show(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
        features: Option<&Bound<'_, PyAny>>,
        segment: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<&'static str> {
        let id = Name::read("id", id)?;
        let names = Name::of_each("items", Some(items))?.unwrap_or_default();
        let user = self.user(py, features, segment)?;
        let mut state = self.lock(py)?;
        let items = names.iter().map(|name| state.known("items", name)).collect::<PyResult<Vec<_>>>()?;
        if let Some(place) = (1..items.len()).find(|&place| items[..place].contains(&items[place])) {
            let name = names[place].to_python(py)?.repr()?;
            return Err(value_error(format!("items[{place}] is {name}, which is there before")));
        }
        state.live.show(&id, &user, &items).map(word).map_err(value_error)
    }

    /// Takes a click on a position, from 0: "counted", "repeated", "unknown" if no decision of this
    /// name is open, or "no such position"; "closed" if a policy that sees who asks has learned
    /// from the decision.
    ///
    /// Args:
    ///     id: name of the decision.
    ///     position: the position, from 0.
    ///     value: what the click is worth, such as the order that it led to; also later, when the
    ///         click is known. It replaces the one before, and a refund is a smaller one. The
    ///         policy learns from it with `values="answers"`; otherwise it is for the record alone.
    ///     revision: the number of the value: that of the largest one holds, whichever came first.
    #[pyo3(signature = (id, position, *, value=None, revision=None))]
    fn click(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        position: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        revision: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<&'static str> {
        let (id, position) = (Name::read("id", id)?, length("position", position)?);
        let value = value.map(|value| argument("value", value)).transpose()?;
        let revision = count("revision", revision)?;
        let mut state = self.lock(py)?;
        let Some(value) = value else {
            return if revision.is_some() {
                Err(value_error("revision: there is no value"))
            } else {
                Ok(word(state.live.click(&id, position)))
            };
        };
        state.check_value(value, false)?;
        let clicked = state.live.click(&id, position);
        if !matches!(clicked, Taken::Counted | Taken::Repeated) {
            return Ok(word(clicked));
        }
        let earned = state.live.earned(&id, position, value, revision).map_err(value_error)?;
        Ok(word(if clicked == Taken::Counted { clicked } else { earned }))
    }

    /// Closes a decision: "counted", "repeated" or "unknown". Clicks that come later still count,
    /// but for a policy that sees who asks. It learns now, and more positions are "closed"
    /// afterwards.
    ///
    /// Args:
    ///     id: name of the decision.
    ///     seen: how many positions were seen, from the top down; by default all, 0 if the list was
    ///         not shown.
    #[pyo3(signature = (id, seen=None))]
    fn close(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        seen: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<&'static str> {
        let (id, seen) = (Name::read("id", id)?, size("seen", seen)?);
        Ok(word(self.lock(py)?.live.close(&id, seen)))
    }

    /// Displays and clicks that count, of every item, present or retired: a dict from items to
    /// lists of (shows, clicks), one, or one for each position if the policy counts them apart.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.entries(py, |entry| (entry.tally.shows, entry.tally.clicks))
    }

    /// Bounds of the probability of a click on an observed display, of every item: a dict from
    /// items to lists of (low, high), as `table` has (shows, clicks). The probability lies between
    /// them with a probability of at least 0.95 (KL, at a number of displays that does not depend
    /// on the clicks); (0, 1) without displays.
    fn intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.entries(py, |entry| <(f64, f64)>::from(entry.interval()))
    }

    /// The items that may be shown.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let state = self.lock(py)?;
        let present = state.live.items().into_iter().filter(|&item| state.live.is_present(item));
        present.filter_map(|item| state.name(item)).map(|name| name.to_python(py)).collect()
    }

    /// The value of a click on each item: a dict from items, present or retired.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (mut state, values) = (self.lock(py)?, PyDict::new(py));
        for item in state.live.items() {
            let value = state.live.value(item);
            if let Some(name) = state.name(item) {
                values.set_item(name.to_python(py)?, value)?;
            }
        }
        Ok(values)
    }

    /// The shapes (a, b) of the prior; None for policies that draw from no posterior.
    #[getter]
    fn prior(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        Ok(self.lock(py)?.live.prior().map(|prior| (prior.a(), prior.b())))
    }

    /// The whole state, with open decisions and that of the generator of random numbers, as JSON
    /// text in UTF-8.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let json = py.detach(|| self.saved())?;
        Ok(PyBytes::new(py, &json))
    }

    /// The policy that `save` wrote. It makes the same choices as the original.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, data: SavedBytes<'_>) -> PyResult<Self> {
        class.py().detach(|| Self::read(data.0))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reduced::<Self>(py, "load", (self.save(py)?,))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.lock(py)?;
        let (spec, items) = (state.live.policy().spec(), state.live.items().len());
        let model = state.live.policy().protocol().name();
        Ok(format!("Live('{spec}', model='{model}', items={items})"))
    }
}

impl LivePolicy {
    /// The state, for code that has released the interpreter's lock.
    fn saved(&self) -> PyResult<Vec<u8>> {
        let state = self.state.lock().map_err(broken)?;
        let items = state.live.items();
        let names = items.into_iter().filter_map(|item| state.name(item).map(|name| (item, name))).collect();
        let (generator, users) = (state.generator.clone(), UserNames::clone(&state.users));
        let protocol = state.live.policy().protocol().name();
        let kind = format!("{protocol}{}", if state.told().is_some() { USERS } else { "" });
        let live = BTreeMap::from([(kind, &*state.live)]);
        let saved = SavedLive { format: FORMAT, generator, names, users, live };
        serde_json::to_vec(&saved).map_err(value_error)
    }

    fn read(data: &[u8]) -> PyResult<Self> {
        let invalid = |fault: &dyn std::fmt::Display| value_error(format!("no saved policy: {fault}"));
        let saved: SavedLive<BTreeMap<String, Value>, Name> =
            read_json("no saved policy", data, "a saved `Live`").map_err(value_error)?;
        let SavedLive { format, generator, names, users, live } = saved;
        let Some((kind, live)) = live.into_iter().next() else { return Err(invalid(&"no `live`")) };
        let of_users = kind.strip_suffix(USERS);
        let protocol = protocol_named(of_users.unwrap_or(&kind))
            .ok_or_else(|| invalid(&format!("unknown variant `{kind}`")))?;
        // As `Policy` is read: from the text itself, policies would be compiled once more.
        let live = <dyn ByName<_>>::read(protocol, of_users.is_some(), live);
        let live = live.map_err(|error| invalid(&error))?;
        if format != FORMAT {
            return Err(invalid(&format!("format {format}: expected {FORMAT}")));
        }
        if !is_alive(&generator) {
            return Err(invalid(&"a generator of random numbers whose state is zero"));
        }
        let items = live.items();
        if !items.iter().eq(names.iter().map(|(item, _)| item)) {
            return Err(invalid(&"the names are not those of the items"));
        }
        let mut state =
            State { live, generator, names: Vec::new(), handles: BTreeMap::new(), users: users.into() };
        for (item, name) in names {
            if state.handles.contains_key(&name) {
                return Err(invalid(&"two items have the same name"));
            }
            state.set_name(item, name);
        }
        Ok(Self { state: Mutex::new(state) })
    }
}

fn word(taken: Taken) -> &'static str {
    match taken {
        Taken::Counted => "counted",
        Taken::Repeated => "repeated",
        Taken::Unknown => "unknown",
        Taken::NoSuchPosition => "no such position",
        Taken::Closed => "closed",
    }
}
