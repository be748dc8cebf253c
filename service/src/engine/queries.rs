//! Queries in memory, and those that are written out.

use super::Engine;
use super::query::{ItemRow, Query};
use crate::api::Refusal;
use crate::config::Template;
use crate::event::{Event, Name};
use crate::store::StoreError;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

impl Engine {
    /// The items of a query that exists, from a place on, with their places.
    pub fn rows(&mut self, query: &Name, from: usize, most: usize) -> Result<Vec<(usize, ItemRow)>, Refusal> {
        if !self.load(query)? {
            return Err(Refusal::unknown_query(query));
        }
        Ok(self.queries[query].rows(from).take(most).collect())
    }

    /// Brings a query into memory, and returns whether it exists.
    pub(super) fn load(&mut self, name: &Name) -> Result<bool, StoreError> {
        let outcome = self.load_saved(name);
        if let Err(StoreError::Snapshot(what)) = &outcome {
            self.unreadable = Some(what.clone());
        }
        outcome
    }

    fn load_saved(&mut self, name: &Name) -> Result<bool, StoreError> {
        if !self.queries.contains_key(name) {
            let Some((state, is_changed)) = self.swap.get(name, self.next)? else { return Ok(false) };
            let mut query = restored(&self.history, self.prior, name, &state)?;
            query.is_changed = is_changed;
            self.insert(name, query);
        }
        Ok(true)
    }

    /// Adds a query that is in memory, and writes out the least used one if there are too many.
    pub(super) fn insert(&mut self, name: &Name, mut query: Query) {
        self.uses += 1;
        self.by_use.insert(self.uses, name.clone());
        query.used = self.uses;
        if let Some(salt) = self.salt {
            query.rng = Xoshiro256PlusPlus::seed_from_u64(salt.wrapping_add(self.uses));
        }
        self.queries.insert(name.clone(), query);
        while self.queries.len() > self.in_memory {
            let Some((used, least)) = self.by_use.pop_first() else { break };
            let query = &self.queries[&least];
            // Without room on disk it stays in memory.
            if query.is_changed && self.swap.put(&least, query.save(self.history.len() - 1)).is_err() {
                self.by_use.insert(used, least);
                break;
            }
            self.queries.remove(&least);
        }
    }

    /// Lets a request make events. One that makes none may still have touched a query, which is an
    /// event as well: a repetition has to touch it in the same place.
    pub(super) fn noting<T>(
        &mut self,
        events: &mut Vec<Event>,
        request: impl FnOnce(&mut Self, &mut Vec<Event>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let before = events.len();
        let outcome = request(self, events);
        if let Some(query) = self.touched.take()
            && events.len() == before
        {
            self.next += 1;
            events.push(Event::Used { query });
        }
        outcome
    }

    /// The query, which is made on its first use, with the present items.
    pub(super) fn query(&mut self, name: &Name) -> Result<&mut Query, Refusal> {
        let is_new = !self.load(name)?;
        if is_new {
            if self.totals.queries >= self.most.queries {
                return Err(Refusal::too_many("queries", self.most.queries));
            }
            let query = Query::fresh(name, &self.template, self.prior).map_err(StoreError::OtherSettings)?;
            self.totals.queries += 1;
            self.insert(name, query);
        }
        let query = self.queries.get_mut(name).expect("it was loaded or made");
        self.uses += 1;
        self.by_use.remove(&query.used);
        self.by_use.insert(self.uses, name.clone());
        query.used = self.uses;
        if self.later.is_empty() {
            query.forget_before(self.decisions.first);
        }
        if query.follow(&self.catalogue) || is_new {
            self.touched = Some(name.clone());
        }
        Ok(query)
    }

    /// The query, for a change by the next event.
    pub(super) fn change(&mut self, name: &Name) -> Result<&mut Query, Refusal> {
        let query = self.query(name)?;
        query.is_changed = true;
        Ok(query)
    }
}

/// A query of a snapshot.
pub(super) fn restored(
    history: &[Arc<Template>],
    prior: Option<[f64; 2]>,
    name: &Name,
    state: &[u8],
) -> Result<Query, StoreError> {
    let unreadable = |what: String| StoreError::Snapshot(format!("query `{}`: {what}", &**name));
    Query::restore(history, prior, state).map_err(unreadable)
}
