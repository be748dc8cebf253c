//! The policy of one query, with the names of its items.

use super::catalogue::{Catalogue, SharedItem};
use super::learner::{self, Learner};
use super::recovery::{of_version, versioned};
use crate::api::Refusal;
use crate::config::Template;
use crate::event::{Change, Name, Worth, whole};
use click_models::ItemId;
use live::{ContextFit, Entry, Handle};
use policies::Tally;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) struct Query {
    pub(crate) learner: Box<Learner>,
    /// Its own generator: queries are saved and restored one by one.
    pub(crate) rng: Xoshiro256PlusPlus,
    /// Whether it differs from the last snapshot.
    pub(crate) is_changed: bool,
    /// When it was used last, in uses of queries.
    pub(crate) used: u64,
    /// The version of the catalogue that it has seen.
    seen: u64,
    /// The displays of the item that was shown most, at a number of decisions.
    shown: Option<(u64, u64)>,
    /// The item at each place, and whether it is an item of all queries.
    names: Vec<Option<(Name, Handle, bool)>>,
    places: HashMap<Name, Handle>,
}

#[derive(Deserialize)]
struct State<'a> {
    seen: u64,
    rng: Xoshiro256PlusPlus,
    names: Vec<Option<(Name, Handle, bool)>>,
    learner: &'a [u8],
}

/// An item of a query, with its counts.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRow {
    /// Its name.
    pub item: Name,
    /// Whether it may be shown; otherwise it is retired.
    pub is_present: bool,
    /// Displays and clicks that count: at each position if the policy counts positions apart,
    /// otherwise one entry.
    pub entries: Vec<Entry>,
    /// The value of a click on it, for the next list.
    pub value: f64,
    /// The number of its clicks with values, and the sum of these.
    pub orders: (u64, f64),
    /// Its group.
    pub group: Option<String>,
}

impl Query {
    pub(crate) fn fresh(name: &str, template: &Template, prior: Option<[f64; 2]>) -> Result<Self, String> {
        let seed = Sha256::new().chain_update(template.seed.to_le_bytes()).chain_update(name).finalize();
        Ok(Self {
            learner: learner::fresh(template, prior)?,
            rng: Xoshiro256PlusPlus::from_seed(seed.into()),
            is_changed: true,
            used: 0,
            seen: 0,
            shown: None,
            names: Vec::new(),
            places: HashMap::new(),
        })
    }

    /// Begins, before anything else, with the fit of a log, whose items are those of the query, but
    /// for those that cannot be named.
    pub(crate) fn begin_with_fit(&mut self, template: &Template, fit: &ContextFit) -> Result<(), String> {
        self.learner = learner::fitted(template, fit)?;
        for (place, item) in fit.items.iter().enumerate() {
            let handle = Handle { slot: ItemId::from_index(place), generation: 0 };
            let Ok(name) = Name::new(item) else {
                self.learner.retire(handle);
                self.learner.forget(handle);
                self.names.push(None);
                continue;
            };
            self.names.push(Some((name.clone(), handle, false)));
            self.places.insert(name, handle);
        }
        Ok(())
    }

    /// The state, with the number of its settings; the first ones need none, for older programs.
    pub(crate) fn save(&self, settings: usize) -> Vec<u8> {
        let learner = postcard::to_allocvec(&*self.learner).expect("a policy is plain data");
        let start = if settings == 0 { Ok(vec![]) } else { postcard::to_extend(&settings, versioned()) };
        // As `State`.
        let saved = (self.seen, &self.rng, &self.names, &learner[..]);
        start.and_then(|start| postcard::to_extend(&saved, start)).expect("a query is plain data")
    }

    /// Reads a state, and carries it from its settings to the present ones.
    pub(crate) fn restore(
        history: &[Arc<Template>],
        prior: Option<[f64; 2]>,
        saved: &[u8],
    ) -> Result<Self, String> {
        let (settings, saved) = match of_version(saved)? {
            Some(saved) => postcard::take_from_bytes(saved).map_err(|error| error.to_string())?,
            None => (0, saved),
        };
        let templates = history.get(settings..).unwrap_or_default();
        let first = templates.first().ok_or_else(|| format!("settings {settings} are missing"))?;
        let State { seen, rng, names, learner } = whole(saved)?;
        let learner = learner::restore(first, learner)?;
        let places = names.iter().flatten().map(|(name, handle, _)| (name.clone(), *handle)).collect();
        let mut query = Self { learner, rng, is_changed: false, used: 0, seen, shown: None, names, places };
        templates.windows(2).try_for_each(|pair| query.carry(&pair[0], &pair[1], prior))?;
        Ok(query)
    }

    /// Takes the query from settings to the next ones.
    pub(crate) fn carry(
        &mut self,
        old: &Template,
        new: &Template,
        prior: Option<[f64; 2]>,
    ) -> Result<(), String> {
        learner::carry(&mut *self.learner, old, new, prior)
    }

    pub(crate) fn forget_before(&mut self, number: u64) {
        while self.learner.oldest().is_some_and(|&oldest| oldest < number) {
            self.learner.forget_oldest();
        }
    }

    /// Whether it has taken all changes of the items of all queries.
    pub(crate) fn has_seen(&self, catalogue: &Catalogue) -> bool {
        self.seen == catalogue.seen()
    }

    /// Whether the changes of the items of all queries since it was used last leave the places of
    /// those that a request names as they are.
    pub(crate) fn keeps(&self, catalogue: &Catalogue, is_named: impl Fn(&Name) -> bool) -> bool {
        let is_new = |name, item: &SharedItem| item.state == Change::Add && !is_named(name);
        let mut since = catalogue.since(self.seen);
        self.seen >= catalogue.dropped
            && since.all(|(name, item)| item.came <= self.seen || is_new(name, item))
    }

    /// Takes the changes of the items of all queries since it was used last, and returns whether
    /// there are any.
    pub(crate) fn follow(&mut self, catalogue: &Catalogue) -> bool {
        if self.has_seen(catalogue) {
            return false;
        }
        self.is_changed = true;
        if self.seen < catalogue.dropped {
            // It may have missed that items were forgotten.
            let gone = self.names.iter().flatten();
            let gone = gone.filter(|(name, _, is_shared)| *is_shared && !catalogue.contains(name));
            for name in gone.map(|(name, ..)| name.clone()).collect::<Vec<_>>() {
                self.change(&name, Change::Forget, &[], true);
            }
        }
        for (name, item) in catalogue.since(self.seen) {
            if item.forgotten > self.seen && item.state != Change::Forget {
                self.change(name, Change::Forget, &[], true);
            }
            if item.came > self.seen {
                self.change(name, item.state, &item.features, true);
            }
            self.set_worth(name, &item.worth);
        }
        self.seen = catalogue.seen();
        true
    }

    /// Tells the value or the group of an item, and returns whether that is new; `None` if the item
    /// is not known. What the policy cannot know was refused before.
    pub(crate) fn set_worth(&mut self, item: &str, Worth { value, group }: &Worth) -> Option<bool> {
        let (handle, mut is_new) = (self.handle(item)?, false);
        if let Some(value) = value {
            is_new |= self.learner.value(handle).total_cmp(value).is_ne();
            _ = self.learner.set_value(handle, *value);
        }
        if let Some(group) = group {
            is_new |= self.learner.group(handle) != Some(&**group);
            _ = self.learner.set_group(handle, Some(group));
        }
        Some(is_new)
    }

    /// Refuses values that are none, and those of positions without a click, in a decision of this
    /// number or in one that waits for the store, or among those that come with them.
    pub(crate) fn check_values(
        &mut self,
        number: Option<u64>,
        values: &[(u8, f64)],
        revision: Option<u64>,
        is_clicked: impl Fn(u8) -> bool,
    ) -> Result<(), Refusal> {
        for &(position, value) in values {
            let (place, learner) = (usize::from(position), &mut self.learner);
            let checked = match number {
                Some(number) => learner.check_earned(&number, place, value, revision),
                None => learner.check_value(value, false).and(Err(live::Error::NoClick(place))),
            };
            match checked {
                Err(live::Error::NoClick(_)) if is_clicked(position) => {}
                checked => {
                    checked.map_err(|error| Refusal::of_terms(&error, format!("values.{}", place + 1)))?;
                }
            }
        }
        Ok(())
    }

    /// Number of items that it knows.
    pub(crate) fn n_items(&self) -> usize {
        self.places.len()
    }

    /// Changes an item; `is_shared` if the change is one of all queries. Returns whether that is
    /// new.
    pub(crate) fn change(&mut self, item: &Name, change: Change, features: &[f64], is_shared: bool) -> bool {
        let mut known = self.places.get(item).copied();
        if change == Change::Add
            && let Some(handle) = known.take_if(|handle| !self.learner.has_features(*handle, features))
        {
            // Forgotten and added again since the query was used.
            self.learner.retire(handle);
            self.learner.forget(handle);
            self.unname(handle.slot.index());
        }
        match (change, known) {
            (Change::Add, Some(handle)) if self.learner.is_present(handle) => false,
            (Change::Add, Some(handle)) if self.learner.bring_back(handle) => true,
            (Change::Add, _) => {
                let Ok(handle) = self.learner.add_item_with(features) else { return false };
                let slot = handle.slot.index();
                self.names.resize(self.names.len().max(slot + 1), None);
                // Too many were retired: these were forgotten without our doing.
                self.unname(slot);
                if let Some(old) = known {
                    self.unname(old.slot.index());
                }
                self.names[slot] = Some((item.clone(), handle, is_shared));
                self.places.insert(item.clone(), handle);
                true
            }
            (_, None) => false,
            (Change::Retire, Some(handle)) => self.learner.retire(handle),
            (Change::Forget, Some(handle)) => {
                self.learner.retire(handle);
                self.learner.forget(handle);
                // Of one that was retired too long ago there was only the name, which goes as well.
                self.unname(handle.slot.index());
                true
            }
        }
    }

    /// Forgets the name of the item that has, or had, a place.
    fn unname(&mut self, slot: usize) {
        if let Some((name, handle, _)) = self.names[slot].take()
            && self.places.get(&name) == Some(&handle)
        {
            self.places.remove(&name);
        }
    }

    /// Adds displays and clicks of a log, of all positions or of each, if the policy counts so.
    pub(crate) fn begin_with(&mut self, item: &str, are_apart: bool, tallies: &[(u64, u64)]) {
        let Some(&handle) = self.places.get(item) else { return };
        let kinds = self.learner.entries(handle).len();
        let most = if are_apart == (kinds > 1) { kinds } else { 0 };
        for (kind, &(shows, clicks)) in tallies.iter().take(most).enumerate() {
            self.learner.begin_with(handle, kind, Tally { shows, clicks });
        }
    }

    /// Whether the item would have these features if it were added: it has none yet, or these.
    pub(crate) fn may_have(&mut self, item: &str, features: &[f64]) -> bool {
        self.known(item).is_none_or(|handle| self.learner.has_features(handle, features))
    }

    /// The place of an item that has a name, perhaps of one that was retired too long ago.
    pub(crate) fn handle(&self, item: &str) -> Option<Handle> {
        self.places.get(item).copied()
    }

    /// The place of an item that is present or retired.
    pub(crate) fn known(&self, item: &str) -> Option<Handle> {
        self.handle(item).filter(|handle| self.learner.is_known(*handle))
    }

    /// The name of an item that has a place.
    pub(crate) fn name(&self, handle: Handle) -> &Name {
        let entry = self.names[handle.slot.index()].as_ref();
        &entry.expect("a place with an item has a name").0
    }

    /// The times that it was shown, up to a number of decisions: those of which its items know when
    /// this is first asked, and the decisions since.
    pub(crate) fn n_shown(&mut self, decisions: u64) -> u64 {
        let shows = |row: ItemRow| row.entries.iter().map(|entry| entry.tally.shows).sum::<u64>();
        let (shows, before) = self
            .shown
            .unwrap_or_else(|| (self.rows(0).map(|(_, row)| shows(row)).max().unwrap_or(0), decisions));
        self.shown = Some((shows, before));
        shows + decisions.saturating_sub(before)
    }

    /// An item that it knows.
    pub(crate) fn row(&mut self, item: &Name) -> Option<ItemRow> {
        self.rows(self.handle(item)?.slot.index()).next().map(|(_, row)| row)
    }

    /// The items that it knows, by place, from a place on.
    pub(crate) fn rows(&mut self, from: usize) -> impl Iterator<Item = (usize, ItemRow)> + '_ {
        let Self { names, learner, .. } = self;
        names.iter().enumerate().skip(from).filter_map(|(place, entry)| {
            let (name, handle, _) = entry.as_ref()?;
            let orders = learner.orders(*handle);
            let row = ItemRow {
                item: name.clone(),
                is_present: learner.is_present(*handle),
                entries: learner.entries(*handle),
                value: learner.value(*handle),
                orders: (orders.n(), orders.sum()),
                group: learner.group(*handle).map(str::to_owned),
            };
            Some((place, row))
        })
    }
}
