//! Queries in memory, and those that are written out.

use super::Engine;
use super::items::check_own;
use super::query::{ItemRow, Query};
use crate::api::{Outcome, Refusal};
use crate::config::Template;
use crate::event::{Change, Event, Name};
use crate::store::StoreError;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// The copies of queries that are kept: those of a page, and some more.
const COPIES: usize = 8;

impl Engine {
    /// The items of a query that exists, or of `default`, from a place on, with their places.
    pub fn rows(&mut self, query: &Name, from: usize, most: usize) -> Result<Vec<(usize, ItemRow)>, Refusal> {
        self.look_at(query, None, |query| query.rows(from).take(most).collect())
    }

    /// One of these items.
    pub fn row(&mut self, query: &Name, item: &Name) -> Result<ItemRow, Refusal> {
        let row = self.look_at(query, None, |query| query.row(item))?;
        row.ok_or_else(|| Refusal::unknown_item(item, "item"))
    }

    /// Looks at a query as its next decision would find it: one that exists, or with `new`, which
    /// are items that it has then. What that would change, a copy takes: who looks or is refused
    /// makes no event, and a repetition knows nothing of it.
    pub(super) fn look_at<T>(
        &mut self,
        name: &Name,
        new: Option<&[Name]>,
        look: impl FnOnce(&mut Query) -> T,
    ) -> Result<T, Refusal> {
        self.load(name)?;
        let items = new.unwrap_or_default();
        let has_all = |query: &Query| items.iter().all(|item| query.known(item).is_some());
        let known = match self.queries.get_mut(name) {
            Some(query) if query.has_seen(&self.catalogue) && has_all(query) => return Ok(look(query)),
            None if new.is_none() && *name != Name::default_query() => {
                return Err(Refusal::unknown_query(name));
            }
            known => known,
        };
        // To copy many items takes as long as many decisions: once for each use and each change.
        let state =
            [known.as_ref().map_or(0, |query| query.used), self.catalogue.seen(), self.history.len() as u64];
        let kept = self.copies.get_mut(name).filter(|(of, _)| new.is_none() && *of == state);
        if let Some((_, copy)) = kept {
            return Ok(look(copy));
        }
        let mut copy = match known {
            Some(query) => restored(&self.history, self.prior, name, &query.save(self.history.len() - 1))?,
            None => Query::fresh(name, &self.template, self.prior).map_err(StoreError::OtherSettings)?,
        };
        self.draw_apart(&mut copy);
        copy.follow(&self.catalogue);
        let features = vec![0.0; self.template.item_features.len()];
        for item in items.iter().filter(|item| copy.known(item).is_none()).collect::<Vec<_>>() {
            check_own(&mut copy, item, Change::Add, &features, self.most.items)?;
            copy.change(item, Change::Add, &features, false);
            if !features.is_empty() {
                // As today's list of a launch adds it.
                copy.change(item, Change::Retire, &[], false);
            }
        }
        let seen = look(&mut copy);
        if new.is_none() {
            if self.copies.len() >= COPIES {
                self.copies.clear();
            }
            self.copies.insert(name.clone(), (state, copy));
        }
        Ok(seen)
    }

    /// Checks a request at a query that will have the items `new`. Where changes since leave the
    /// items that `is_named` tells as they are, the query itself is asked: a copy of many items
    /// takes as long as many decisions.
    pub(super) fn check_at(
        &mut self,
        name: &Name,
        new: &[Name],
        is_named: impl Fn(&Name) -> bool,
        check: impl Fn(&mut Query) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.load(name)?;
        let query = self.queries.get_mut(name).filter(|query| query.keeps(&self.catalogue, is_named));
        if query.is_some_and(|query| check(query).is_ok()) {
            return Ok(());
        }
        self.look_at(name, Some(new), check)?
    }

    /// Forgets a query with its items and counts; its decisions keep their lists, and are no longer
    /// answered. A request that names it later makes a new one.
    pub fn drop_query(&mut self, query: &Name, events: &mut Vec<Event>) -> Result<Outcome, Refusal> {
        if !self.load(query)? {
            // A snapshot has an empty state of a query that was forgotten.
            let is_gone = self.dropped.contains(query) || self.swap.get(query, self.next)?.is_some();
            return if is_gone { Ok(Outcome::Repeated) } else { Err(Refusal::unknown_query(query)) };
        }
        self.forget_query(query);
        self.decisions.drop_query(query);
        self.usage.remove(query);
        self.next += 1;
        events.push(Event::Dropped { query: query.clone() });
        Ok(Outcome::Counted)
    }

    /// Does work that may make this number of queries, and returns how many it made.
    pub fn making<T>(&mut self, most: u64, work: impl FnOnce(&mut Self) -> T) -> (T, u64) {
        let before = self.totals.queries;
        self.most.made = most;
        let done = work(self);
        self.most.made = u64::MAX;
        (done, self.totals.queries.saturating_sub(before))
    }

    pub(super) fn forget_query(&mut self, name: &Name) {
        if let Some(query) = self.queries.remove(name) {
            self.by_use.remove(&query.used);
        }
        self.swap.forget(name);
        self.dropped.insert(name.clone());
        self.totals.queries = self.totals.queries.saturating_sub(1);
    }

    /// The query that a request gets: where all have to be known, one that is not is `other`.
    pub(super) fn query_of_request(&mut self, query: Option<Name>) -> Result<Name, StoreError> {
        let Some(query) = query else { return Ok(Name::default_query()) };
        let is_other = self.most.are_known && query != Name::default_query() && !self.load(&query)?;
        Ok(if is_other { Name::other_query() } else { query })
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
            let is_gone = self.dropped.contains(name);
            let state = if is_gone { None } else { self.swap.get(name, self.next)? };
            // In a snapshot, one that was forgotten has an empty state.
            let Some((state, is_changed)) = state.filter(|(state, _)| !state.is_empty()) else {
                return Ok(false);
            };
            let mut query = restored(&self.history, self.prior, name, &state)?;
            query.is_changed = is_changed;
            self.insert(name, query);
        }
        Ok(true)
    }

    /// Adds a query that is in memory, and writes out the least used one if there are too many.
    pub(super) fn insert(&mut self, name: &Name, mut query: Query) {
        self.draw_apart(&mut query);
        self.by_use.insert(self.uses, name.clone());
        query.used = self.uses;
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

    /// Lets a query of a shared store draw other numbers than any before it, here or at another
    /// server.
    fn draw_apart(&mut self, query: &mut Query) {
        self.uses += 1;
        if let Some(salt) = self.salt {
            query.rng = Xoshiro256PlusPlus::seed_from_u64(salt.wrapping_add(self.uses));
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
            self.note_query(&query);
            events.push(Event::Used { query });
        }
        outcome
    }

    /// The query of a decision, as it was used last.
    pub(super) fn loaded(&mut self, name: &Name) -> Result<&mut Query, Refusal> {
        self.load(name)?;
        self.queries.get_mut(name).ok_or_else(|| Refusal::unknown_query(name))
    }

    /// The query, which is made on its first use, with the present items.
    pub(super) fn query(&mut self, name: &Name) -> Result<&mut Query, Refusal> {
        let is_new = !self.load(name)?;
        if is_new {
            if self.totals.queries >= self.most.queries {
                return Err(Refusal::too_many("queries", self.most.queries));
            }
            if self.most.made == 0 {
                return Err(Refusal::too_many_new());
            }
            let query = Query::fresh(name, &self.template, self.prior).map_err(StoreError::OtherSettings)?;
            self.totals.queries += 1;
            self.dropped.remove(name);
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
    let unreadable = |what: String| StoreError::Snapshot(format!("query `{name}`: {what}"));
    Query::restore(history, prior, state).map_err(unreadable)
}
