//! The state of the service: a policy for each query, the items and the open decisions.
//!
//! Everything that changes it is an [`Event`]. An engine that gets the events of another one, in
//! their order, comes to the same state: after a restart, in the thread that makes snapshots, and
//! in a test. A server that follows another one takes its decisions as lists that were shown.

mod catalogue;
mod decisions;
mod learner;
mod query;
mod replay;
mod swap;

pub use query::ItemRow;

use crate::api::{Answer, AnswerBody, DecideBody, Given, Object, Outcome, Refusal, ShowBody, Whole};
use crate::config::{Limits, Template};
use crate::event::{Allowed, Batch, Change, Choice, Decision, Event, Name, whole};
use crate::metrics::log;
use crate::store::{Receive, Store, StoreError, Sum, checksum, sum_of_event};
use catalogue::Catalogue;
use click_models::Context;
pub(crate) use decisions::Open;
use decisions::{Asked, Decisions, Place};
use learner::Ask;
use live::{Among, ContextFit, Handle, NO_SEGMENT, Taken};
use policies::Tally;
use query::Query;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use replay::Later;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;
use swap::Swap;

/// Whether the events of a batch are repeated, or were another server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This server's: policies choose again, and take the list that was shown.
    Own,
    /// Another server's: its lists were shown.
    Other,
}

/// Counts since the store was new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Lists that policies chose.
    pub decided: u64,
    /// Lists that were shown without asking.
    pub shown: u64,
    /// Clicks.
    pub clicks: u64,
    /// Decisions that were closed, by clients or by time.
    pub closed: u64,
    /// Queries.
    pub queries: u64,
    /// Decisions that were repeated with another list than the policy would choose now.
    pub differing: u64,
}

/// The parts from which a state is made.
#[derive(Debug, Clone)]
pub struct Base {
    /// Where events and snapshots are kept.
    pub store: Arc<dyn Store>,
    /// The settings of all policies.
    pub template: Arc<Template>,
    /// Limits.
    pub limits: Limits,
    /// A directory for the file of queries that are not in memory.
    pub directory: PathBuf,
}

/// The most queries, and the most items of all queries or of one.
#[derive(Clone, Copy)]
struct Most {
    queries: u64,
    items: usize,
}

/// The most rows whose checksums a server knows, to tell what a database has lost.
const KNOWN_ROWS: usize = 100_000;
const UNLIMITED: Most = Most { queries: u64::MAX, items: usize::MAX };

/// The state of a service.
pub struct Engine {
    template: Arc<Template>,
    /// The most queries in memory.
    in_memory: usize,
    most: Most,
    catalogue: Catalogue,
    decisions: Decisions,
    totals: Totals,
    /// The prior of the items of queries that a log does not have.
    prior: Option<[f64; 2]>,
    /// The number of the next event.
    next: u64,
    /// That of the snapshot from which it was recovered.
    snapshot: u64,
    /// Checksums of the last events in the store by number, if other servers append as well.
    sums: BTreeMap<u64, Sum>,
    /// The time of the last batch, in milliseconds since 1970.
    time: u64,
    queries: HashMap<Name, Query>,
    /// Queries in memory by their last use.
    by_use: BTreeMap<u64, Name>,
    uses: u64,
    /// Added to the seeds of queries, so that servers of a shared store draw different numbers.
    salt: Option<u64>,
    swap: Swap,
    /// The query that the last request made, or made follow the catalogue.
    touched: Option<Name>,
    /// Events of a store that queries have still to take.
    later: HashMap<Name, Later>,
    /// Bytes of these events.
    n_later: usize,
    /// Why a query of the snapshot could not be read, if there was one.
    unreadable: Option<String>,
    /// Answers of which all was known.
    repeated: u64,
    /// Decisions that were closed early.
    early: usize,
    /// Decisions for users whose segment is not known or whose features were clipped.
    outside: u64,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("next", &self.next)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

/// Everything but the queries: the number of the next event, the items, the decisions, the counts
/// and the prior.
type Head = (u64, Catalogue, Decisions, Totals, Option<[f64; 2]>);

/// Reads what was saved; older versions did not save what is known of requests.
fn read_head(saved: &[u8]) -> Result<Head, StoreError> {
    let read = postcard::take_from_bytes::<Head>(saved).map_err(|error| error.to_string());
    let read = read.and_then(|(mut head, rest)| {
        head.2.complete(if rest.is_empty() { vec![] } else { whole(rest)? })?;
        Ok(head)
    });
    read.map_err(StoreError::Snapshot)
}

/// Whether policies can be made by a template; an error says why not.
pub fn check(template: &Template) -> Result<(), String> {
    learner::fresh(template, None).map(|_| ())
}

/// Whether a policy can begin with the fit of a log; an error says why not.
pub fn check_fit(template: &Template, fit: &ContextFit) -> Result<(), String> {
    Query::fresh("", template, None)?.begin_with_fit(template, fit)
}

impl Base {
    /// The state that the store tells: that of its snapshot, and the events after it. If the
    /// snapshot cannot be read, as [`repeat`](Self::repeat).
    ///
    /// # Errors
    ///
    /// The store cannot be read, is damaged, or was made for other settings.
    pub fn recover(&self) -> Result<Engine, StoreError> {
        match self.read(true) {
            Err(StoreError::Snapshot(what)) => self.repeat(&what),
            outcome => outcome,
        }
    }

    /// The state that the events tell by themselves, since the snapshot cannot be read.
    ///
    /// # Errors
    ///
    /// As [`recover`](Self::recover).
    pub fn repeat(&self, fault: &str) -> Result<Engine, StoreError> {
        log("error", "snapshot-unreadable", json!({ "error": fault }));
        self.read(false)
    }

    fn read(&self, by_snapshot: bool) -> Result<Engine, StoreError> {
        let Self { store, template, limits, directory } = self;
        let saved = if by_snapshot { store.head()? } else { None };
        let swap = Swap::new(saved.is_some().then(|| store.clone()), directory)
            .map_err(|error| StoreError::Unavailable(format!("{}: {error}", directory.display())))?;
        let mut engine = Engine {
            template: template.clone(),
            in_memory: limits.queries,
            most: Most { queries: limits.all_queries, items: limits.items.min(template.most_items()) },
            catalogue: Catalogue::default(),
            decisions: Decisions::default(),
            totals: Totals::default(),
            prior: None,
            next: 0,
            snapshot: 0,
            sums: BTreeMap::new(),
            time: 0,
            queries: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            salt: if store.is_shared() { Some(salt()?) } else { None },
            swap,
            touched: None,
            later: HashMap::new(),
            n_later: 0,
            unreadable: None,
            repeated: 0,
            early: 0,
            outside: 0,
        };
        if let Some(saved) = saved {
            (engine.next, engine.catalogue, engine.decisions, engine.totals, engine.prior) =
                read_head(&saved)?;
            engine.snapshot = engine.next;
            if engine.next > 0 && !store.has(engine.next - 1)? {
                let what = format!("it has a snapshot of {} events, and fewer events", engine.next);
                return Err(StoreError::Damaged(what));
            }
        }
        let origin = if store.is_shared() { Origin::Other } else { Origin::Own };
        engine.catch_up(&**store, origin)?;
        Ok(engine)
    }
}

impl Engine {
    /// Takes the events of a store that it has not seen.
    pub fn catch_up(&mut self, store: &dyn Store, origin: Origin) -> Result<(), StoreError> {
        // The last event before them tells the time, and has a checksum.
        self.take_all(origin, |next, receive| store.read(next.saturating_sub(1), receive))
    }

    /// Begins a turn of this server with the events of the others. Returns the time by which all
    /// servers go, if there are several.
    pub fn begin_turn(&mut self, store: &dyn Store) -> Result<Option<u64>, StoreError> {
        let last = self.last();
        self.take_all(Origin::Other, |next, receive| store.begin(next, last, receive))
    }

    fn take_all<T>(
        &mut self,
        origin: Origin,
        read: impl FnOnce(u64, Receive<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Entries that were taken under other limits stay.
        let most = std::mem::replace(&mut self.most, UNLIMITED);
        let mut outcome = Ok(());
        let is_read = read(self.next, &mut |first, batch| {
            outcome = self.take(first, batch, origin);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let outcome = is_read.and_then(|read| outcome.and_then(|()| self.take_later(origin)).map(|()| read));
        self.most = most;
        outcome
    }

    /// Takes a batch from a store.
    fn take(&mut self, first: u64, batch: Batch, origin: Origin) -> Result<(), StoreError> {
        if first > self.next {
            return Err(StoreError::Damaged(format!("the events from number {} on are missing", self.next)));
        }
        self.keep(first, &batch);
        for (number, event) in (first..).zip(batch.events) {
            if number >= self.next {
                self.apply(event, batch.time, origin)?;
            }
        }
        Ok(())
    }

    /// Notes events that are in the store now.
    pub fn keep(&mut self, first: u64, batch: &Batch) {
        self.time = self.time.max(batch.time);
        for (number, event) in (first..).zip(&batch.events).filter(|_| self.salt.is_some()) {
            self.sums.insert(number, sum_of_event(number, batch.time, event));
            if self.sums.len() > KNOWN_ROWS {
                self.sums.pop_first();
            }
        }
    }

    fn last(&self) -> Option<Sum> {
        self.sums.last_key_value().map(|(_, sum)| *sum)
    }

    /// The events that it has taken, and that a store does not have, or not as they were.
    pub fn lost(&self, store: &dyn Store) -> Result<Range<u64>, StoreError> {
        let [first, end] = [self.sums.first_key_value(), self.sums.last_key_value()];
        let mut lost = first.map_or(0, |(first, _)| *first)..end.map_or(0, |(last, _)| last + 1);
        let outcome = store.read(lost.start, &mut |number, batch| {
            if self.sums.get(&number) != Some(&sum_of_event(number, batch.time, &batch.events[0])) {
                return ControlFlow::Break(());
            }
            lost.start = number + 1;
            ControlFlow::Continue(())
        });
        // After a gap all is lost.
        outcome.or_else(|error| if matches!(error, StoreError::Damaged(_)) { Ok(()) } else { Err(error) })?;
        Ok(lost)
    }

    /// Makes a snapshot, unless what it would contain cannot be read again: then the last one
    /// stays.
    pub fn save(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        self.take_later(Origin::Other)?;
        let Self { next, catalogue, decisions, totals, prior, .. } = &*self;
        let head = postcard::to_allocvec(&(next, catalogue, decisions, totals, prior, decisions.asked()))
            .map_err(|error| StoreError::Snapshot(error.to_string()))?;
        read_head(&head)?;
        let template = &self.template;
        let (next, events) = (self.next, (self.snapshot..self.next, self.last()));
        let (queries, swap) = (&self.queries, &mut self.swap);
        let out = swap.names().into_iter().filter(|name| !queries.contains_key(name));
        let out = out.filter_map(|name| match swap.get(&name, next) {
            Ok(state) => state.map(|(state, _)| Ok((name, state))),
            Err(error) => Some(Err(error)),
        });
        let changed = queries.iter().filter(|(_, query)| query.is_changed);
        let changed = changed.map(|(name, query)| Ok((name.clone(), query.save())));
        let mut read_again = changed.chain(out).map(|query| {
            let (name, state) = query?;
            restored(template, &name, &state)?;
            Ok((name, state))
        });
        store.replace(events, &head, &mut read_again)
    }

    /// The number of the next event.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of the first event after the snapshot from which it was recovered.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }

    /// The time of the last events, in milliseconds since 1970.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Counts since the store was new.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Number of decisions that can be answered.
    pub fn n_open(&self) -> usize {
        self.decisions.len()
    }

    /// Number of queries in memory.
    pub fn n_in_memory(&self) -> usize {
        self.queries.len()
    }

    /// Number of present and of retired items of all queries.
    pub fn n_items(&self) -> [usize; 2] {
        self.catalogue.counts()
    }

    /// Numbers of this process: answers of which all was known, decisions that were closed early
    /// to have room for others, and those for users outside the log.
    pub fn of_process(&self) -> [u64; 3] {
        [self.repeated, self.early as u64, self.outside]
    }

    /// The settings of every policy.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Names of queries in memory, the last used first.
    pub fn query_names(&self) -> impl Iterator<Item = &Name> {
        self.by_use.values().rev()
    }

    /// The last lists, the latest first: query, time in milliseconds since 1970, items.
    pub fn latest(&self) -> impl Iterator<Item = (&Name, u64, &[Name])> {
        self.decisions.latest().map(|open| (&open.query, open.time, &*open.list))
    }

    /// The items of a query that exists, from a place on, with their places.
    pub fn rows(&mut self, query: &Name, from: usize, most: usize) -> Result<Vec<(usize, ItemRow)>, Refusal> {
        if !self.load(query)? {
            return Err(Refusal::unknown_query(query));
        }
        Ok(self.queries[query].rows(from).take(most).collect())
    }

    /// Why a query of the snapshot could not be read, if there was one: only
    /// [`repeat`](Self::repeat) tells what it was.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Brings a query into memory. Whether it exists.
    fn load(&mut self, name: &Name) -> Result<bool, StoreError> {
        let outcome = self.load_saved(name);
        if let Err(StoreError::Snapshot(what)) = &outcome {
            self.unreadable = Some(what.clone());
        }
        outcome
    }

    fn load_saved(&mut self, name: &Name) -> Result<bool, StoreError> {
        if !self.queries.contains_key(name) {
            let Some((state, is_changed)) = self.swap.get(name, self.next)? else { return Ok(false) };
            let mut query = restored(&self.template, name, &state)?;
            query.is_changed = is_changed;
            self.insert(name, query);
        }
        Ok(true)
    }

    /// Adds a query that is in memory, and writes out the least used one if there are too many.
    fn insert(&mut self, name: &Name, mut query: Query) {
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
            if query.is_changed && self.swap.put(&least, query.save()).is_err() {
                self.by_use.insert(used, least);
                break;
            }
            self.queries.remove(&least);
        }
    }

    /// Lets a request make events. One that makes none may still have touched a query, which is an
    /// event as well: a repetition has to touch it in the same place.
    fn noting<T>(
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
    fn query(&mut self, name: &Name) -> Result<&mut Query, Refusal> {
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
            query.learner.forget_before(self.decisions.first);
        }
        if query.follow(&self.catalogue) || is_new {
            self.touched = Some(name.clone());
        }
        Ok(query)
    }

    /// The query, for a change by the next event.
    fn change(&mut self, name: &Name) -> Result<&mut Query, Refusal> {
        let query = self.query(name)?;
        query.is_changed = true;
        Ok(query)
    }

    /// Decides on a list, unless the decision was made before.
    pub fn decide(
        &mut self,
        body: DecideBody,
        time: u64,
        events: &mut Vec<Event>,
    ) -> Result<Answer, Refusal> {
        let name = body.query.unwrap_or_else(Name::default_query);
        let allowed = match (body.only, body.except) {
            (Some(items), _) => Allowed::Only(items),
            (None, Some(items)) => Allowed::Except(items),
            (None, None) => Allowed::All,
        };
        let positions = body.positions.map(|Whole(n)| n);
        let chosen = Some(Choice { allowed, positions, propensities: None });
        let context = body.context.map(|Object(context)| context);
        let decision = Decision { id: body.id, query: name, list: vec![], chosen, user: body.user, context };
        let user = self.template.user(decision.context.as_ref())?;
        let sum = self.asked(&decision, &user);
        if let Some(open) = self.decided(&decision.id, &decision.query)? {
            if open.asked.checksum.is_some() && open.asked.checksum != sum {
                return Err(Refusal::other_request(&decision.id));
            }
            return Ok(Answer::new(open));
        }
        self.make_room(time, events)?;
        self.note_outside(&decision, &user);
        self.noting(events, |engine, events| {
            let decision = engine.choose(decision, &user, time)?;
            events.push(Event::Decided(Box::new(decision)));
            Ok(())
        })?;
        Ok(Answer::new(self.decisions.latest().next().expect("it was made just now")))
    }

    /// Completes a decision with its list.
    fn choose(&mut self, mut decision: Decision, user: &Context, time: u64) -> Result<Decision, Refusal> {
        let number = self.decisions.next();
        let query = self.change(&decision.query)?;
        let Some(choice) = &mut decision.chosen else { return Ok(decision) };
        let (handles, unknown) = handles(query, &choice.allowed);
        let ask = ask(number, user, choice, &handles);
        let list = query.learner.decide(&ask, &mut query.rng).to_vec();
        decision.list = list.into_iter().map(|handle| query.name(handle).clone()).collect();
        choice.propensities = query.learner.propensities(number);
        self.record(&decision, user, unknown, time);
        Ok(decision)
    }

    /// Takes a list that was shown without asking, unless the decision was made before.
    pub fn show(&mut self, body: ShowBody, time: u64, events: &mut Vec<Event>) -> Result<Given, Refusal> {
        let query = body.query.unwrap_or_else(Name::default_query);
        if let Some(open) = self.decided(&body.id, &query)? {
            if *open.list != *body.items {
                return Err(Refusal::other_request(&body.id));
            }
            return Ok(Given { id: body.id, outcome: Outcome::Repeated });
        }
        self.make_room(time, events)?;
        let decision = Decision {
            id: body.id,
            query,
            list: body.items,
            chosen: None,
            user: body.user,
            context: body.context.map(|Object(context)| context),
        };
        self.noting(events, |engine, events| {
            let user = engine.template.user(decision.context.as_ref())?;
            engine.shown(engine.decisions.next(), &user, &decision)?;
            engine.record(&decision, &user, Box::default(), time);
            let given = Given { id: decision.id.clone(), outcome: Outcome::Counted };
            events.push(Event::Decided(Box::new(decision)));
            Ok(given)
        })
    }

    /// Returns the names that its query does not know.
    fn shown(&mut self, number: u64, user: &Context, decision: &Decision) -> Result<Box<[Name]>, Refusal> {
        let query = self.change(&decision.query)?;
        let list = places(query, &decision.list)?;
        let unknown = decision.chosen.as_ref().map(|choice| handles(query, &choice.allowed).1);
        // Its number is new, so that it is never one of before.
        let taken = query.learner.show(number, user, &list);
        _ = taken.map_err(|error| {
            match list.iter().rposition(|item| error == live::Error::RepeatedItem(*item)) {
                Some(place) => {
                    let message = format!("item `{}` is twice in the list", &*decision.list[place]);
                    Refusal::new(409, "repeated_item", message, format!("items[{place}]"))
                }
                None => Refusal::malformed(&error.to_string(), "items"),
            }
        })?;
        Ok(unknown.unwrap_or_default())
    }

    /// The decision of this name, if there is one for this query.
    fn decided(&self, id: &Name, query: &Name) -> Result<Option<&Open>, Refusal> {
        let open = match self.decisions.find(id) {
            Place::Open(_, open) => open,
            Place::TooOld => return Err(Refusal::too_old(id)),
            Place::Unknown => return Ok(None),
        };
        if open.query != *query {
            return Err(Refusal::other_query(id, &open.query));
        }
        Ok(Some(open))
    }

    /// A checksum of what determines the list of a decision, apart from the policy: items in any
    /// order, and the user if the policy sees who asks. `None` if it was shown without asking.
    fn asked(&self, decision: &Decision, user: &Context) -> Option<[u8; 8]> {
        let choice = decision.chosen.as_ref()?;
        let (is_only, items) = match &choice.allowed {
            Allowed::All => (false, &[][..]),
            Allowed::Only(items) => (true, &items[..]),
            Allowed::Except(items) => (false, &items[..]),
        };
        let items: BTreeSet<&Name> = items.iter().collect();
        let positions = choice.positions.map_or(usize::MAX, usize::from).min(self.template.positions);
        let user = self.template.sees_contexts().then_some(user);
        let bytes = postcard::to_allocvec(&(is_only, items, positions, user)).expect("plain data");
        Some(checksum(&[], &bytes))
    }

    /// Closes the decisions that leave because one more is made, as the end of `wait` would: their
    /// displays count.
    fn make_room(&mut self, time: u64, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let (keep, before, most) = (self.template.keep, self.too_old(time), 1 << 16);
        let stays = (self.decisions.next() + 1).saturating_sub(keep as u64);
        let is_due = |number, open: &Open| number < stays || open.time < before;
        let closed = self.close_due(most, events, is_due)?;
        let early = self.early + closed;
        if early.checked_ilog2() > std::mem::replace(&mut self.early, early).checked_ilog2() {
            log("info", "closed-early", json!({ "decisions": early, "keep": keep }));
        }
        // After a long rest, the next requests continue.
        if closed < most { Ok(()) } else { Err(Refusal::busy()) }
    }

    /// Counts a user whose segment is not known or whose features were clipped.
    fn note_outside(&mut self, decision: &Decision, user: &Context) {
        let Some(context) = &decision.context else { return };
        let has_segment = context.segment.is_some() && !self.template.segments.is_empty();
        let is_outside = user.features != context.features || has_segment && user.segment == NO_SEGMENT;
        self.outside += u64::from(is_outside);
        if is_outside && self.outside.is_power_of_two() {
            log("info", "context-outside", json!({ "decisions": self.outside, "context": context }));
        }
    }

    /// Decisions that were made before this time can no longer be answered.
    fn too_old(&self, time: u64) -> u64 {
        time.saturating_sub(self.template.keep_days.saturating_mul(86_400_000))
    }

    /// Remembers a decision that its policy knows.
    fn record(&mut self, decision: &Decision, user: &Context, unknown: Box<[Name]>, time: u64) {
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        self.decisions.push(Open {
            id: decision.id.clone(),
            query: decision.query.clone(),
            list: decision.list.clone().into(),
            propensities: propensities.map(|of| of.items.clone().into()),
            time,
            version: self.next,
            is_closed: false,
            asked: Asked { checksum: self.asked(decision, user), unknown },
        });
        match decision.chosen {
            Some(_) => self.totals.decided += 1,
            None => self.totals.shown += 1,
        }
        self.next += 1;
        let (most, before) = (self.template.keep, self.too_old(time));
        while let Some(old) = self.decisions.forget(most, before) {
            if let Some(query) = self.queries.get_mut(&old.query)
                && self.later.is_empty()
            {
                query.learner.forget_before(self.decisions.first);
            }
        }
    }

    /// Takes clicks on a decision and its end; those that are new become events.
    pub fn answer(&mut self, body: AnswerBody, events: &mut Vec<Event>) -> Result<Given, Refusal> {
        let given = self.noting(events, |engine, events| engine.take_answer(body, events))?;
        self.repeated += u64::from(given.outcome == Outcome::Repeated);
        Ok(given)
    }

    fn take_answer(&mut self, body: AnswerBody, events: &mut Vec<Event>) -> Result<Given, Refusal> {
        let (number, open) = match self.decisions.find(&body.id) {
            Place::Open(number, open) => (number, open),
            Place::TooOld => return Err(Refusal::too_old(&body.id)),
            Place::Unknown => return Err(Refusal::unknown_decision(&body.id)),
        };
        let (length, query) = (open.list.len(), open.query.clone());
        let mut positions = Vec::new();
        for (place, &Whole(position)) in body.clicks.iter().flatten().enumerate() {
            if usize::from(position) > length {
                return Err(Refusal::no_position(position, length, format!("clicks[{place}]")));
            }
            positions.push(position - 1);
        }
        for (place, item) in body.items.iter().flatten().enumerate() {
            let position = open.list.iter().position(|other| other == item);
            let position = position.and_then(|position| u8::try_from(position).ok());
            let unknown = || Refusal::unknown_item(item, format!("items[{place}]"));
            positions.push(position.ok_or_else(unknown)?);
        }
        let seen = body.seen.map(|Whole(seen)| seen);
        if let Some(seen) = seen.filter(|&seen| usize::from(seen) > length) {
            return Err(Refusal::no_position(seen, length, "seen".into()));
        }
        let closes = body.close == Some(true) || seen.is_some();
        // Few positions may be named often: each costs the thread that answers everybody.
        let mut named = 0_u64;
        positions.retain(|position| {
            let (bit, before) = (1 << position, named);
            named |= bit;
            named != before
        });
        let before = events.len();
        for position in positions {
            let event = Event::Clicked { id: body.id.clone(), position };
            if self.click(number, &query, position)? {
                events.push(event);
            }
        }
        if closes && self.close(number, &query, seen)? {
            events.push(Event::Closed { id: body.id.clone(), seen });
        }
        let outcome = if events.len() > before { Outcome::Counted } else { Outcome::Repeated };
        Ok(Given { id: body.id, outcome })
    }

    fn click(&mut self, number: u64, query: &Name, position: u8) -> Result<bool, Refusal> {
        let taken = self.change(query)?.learner.click(number, usize::from(position));
        let is_new = self.is_new(taken, number, "clicks")?;
        self.totals.clicks += u64::from(is_new);
        self.next += u64::from(is_new);
        Ok(is_new)
    }

    fn close(&mut self, number: u64, query: &Name, seen: Option<u8>) -> Result<bool, Refusal> {
        let taken = self.change(query)?.learner.close(number, seen.map(usize::from));
        let is_new = self.is_new(taken, number, "seen")?;
        self.decisions.close(number);
        self.totals.closed += u64::from(is_new);
        self.next += u64::from(is_new);
        Ok(is_new)
    }

    fn is_new(&self, taken: Taken, number: u64, at: &str) -> Result<bool, Refusal> {
        match (taken, self.decisions.get(number)) {
            (Taken::Closed, Some(open)) => Err(Refusal::closed(&open.id, at)),
            _ => Ok(taken == Taken::Counted),
        }
    }

    /// Closes the decisions that were made before a time, `wait` ago, at most `most`; or after
    /// another time, by a clock that was wrong: they must not keep back those that come later.
    pub fn close_before(&mut self, time: u64, most: usize, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let after = time.saturating_add(self.template.wait.saturating_mul(2_000));
        self.close_due(most, events, |_, open| !(time..=after).contains(&open.time)).map(|_| ())
    }

    /// Closes the decisions that are due, and returns how many; those that were not closed become
    /// events.
    fn close_due(
        &mut self,
        most: usize,
        events: &mut Vec<Event>,
        is_due: impl Fn(u64, &Open) -> bool,
    ) -> Result<usize, Refusal> {
        for closed in 0..most {
            let Some((number, open)) = self.decisions.next_due(&is_due) else { return Ok(closed) };
            let (id, query) = (open.id.clone(), open.query.clone());
            self.noting(events, |engine, events| {
                if engine.close(number, &query, None)? {
                    events.push(Event::Closed { id, seen: None });
                }
                Ok(())
            })?;
        }
        Ok(most)
    }

    /// Changes an item of a query, or of all.
    pub fn change_item(
        &mut self,
        item: &Name,
        query: Option<&Name>,
        change: Change,
        features: &[f64],
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Refusal> {
        let expected = if change == Change::Add { self.template.item_features.len() } else { 0 };
        if features.len() != expected {
            return Err(Refusal::not_features(features.len(), &self.template.item_features, "features"));
        }
        self.noting(events, |engine, events| {
            let is_new = match query {
                Some(query) => engine.change_own(item, query, change, features)?,
                None => engine.change_shared(item, change, features)?,
            };
            if !is_new {
                return Ok(Outcome::Repeated);
            }
            engine.next += 1;
            let (item, query, features) = (item.clone(), query.cloned(), features.to_vec());
            events.push(Event::Item { item, query, change, features });
            Ok(Outcome::Counted)
        })
    }

    fn change_own(
        &mut self,
        item: &Name,
        name: &Name,
        change: Change,
        features: &[f64],
    ) -> Result<bool, Refusal> {
        let most = self.most.items;
        if change != Change::Add && !self.load(name)? {
            return Err(Refusal::unknown_query(name));
        }
        let query = self.change(name)?;
        match query.handle(item) {
            None if change != Change::Add => Err(Refusal::unknown_item(item, "item".into())),
            None if query.n_items() >= most => Err(Refusal::too_many("items of a query", most)),
            _ if change == Change::Add && !query.may_have(item, features) => {
                Err(Refusal::other_features(item))
            }
            _ => Ok(query.change(item, change, features, false)),
        }
    }

    fn change_shared(&mut self, item: &Name, change: Change, features: &[f64]) -> Result<bool, Refusal> {
        let known = self.catalogue.is_present(item);
        let is_new = match (change, known) {
            (Change::Add, None) if self.catalogue.counts()[0] >= self.most.items => {
                return Err(Refusal::too_many("items", self.most.items));
            }
            (Change::Retire | Change::Forget, None) => {
                return Err(Refusal::unknown_item(item, "item".into()));
            }
            (Change::Add, _) if !self.catalogue.may_have(item, features) => {
                return Err(Refusal::other_features(item));
            }
            (Change::Add, _) => known != Some(true),
            (Change::Retire, _) => known == Some(true),
            (Change::Forget, _) => true,
        };
        if is_new {
            let keep = self.template.settings().keep_retired;
            self.catalogue.change(item, change, features, keep);
        }
        Ok(is_new)
    }

    /// Begins with what a log tells: an event of [`Fitted`](crate::fitted::Fitted).
    pub fn begin(&mut self, event: &Event) -> Result<(), Refusal> {
        // The limits are those of requests.
        let most = std::mem::replace(&mut self.most, UNLIMITED);
        let outcome = self.began(event);
        self.most = most;
        outcome?;
        self.touched = None;
        self.next += 1;
        Ok(())
    }

    fn began(&mut self, event: &Event) -> Result<(), Refusal> {
        match event {
            Event::Began { query: None, prior, .. } => {
                self.prior = *prior;
                Ok(())
            }
            Event::Began { query: Some(name), prior, items } => {
                let others = std::mem::replace(&mut self.prior, *prior);
                let query = self.change(name).map(|query| {
                    for (item, shows, clicks) in items {
                        query.change(item, Change::Add, &[], false);
                        query.begin_with(item, Tally { shows: *shows, clicks: *clicks });
                    }
                });
                self.prior = others;
                query
            }
            Event::BeganAtPositions { query, items } => {
                let query = self.change(query)?;
                for (item, tallies) in items {
                    let tallies = tallies.iter().map(|&(shows, clicks)| Tally { shows, clicks });
                    query.begin_with_positions(item, tallies);
                }
                Ok(())
            }
            Event::BeganForUsers { query, fit } => self.began_for_users(query, fit),
            _ => Ok(()),
        }
    }

    fn began_for_users(&mut self, name: &Name, fit: &[u8]) -> Result<(), Refusal> {
        let malformed = |what: &str| Refusal::malformed(what, "");
        let fit = ContextFit::read("context.json", fit).map_err(|error| malformed(&error.to_string()))?;
        if self.load(name)? {
            return Err(malformed(&format!("query `{}` is there before its fit", &**name)));
        }
        let mut query = Query::fresh(name, &self.template, None).map_err(StoreError::OtherSettings)?;
        query.begin_with_fit(&self.template, &fit).map_err(|what| malformed(&what))?;
        // An item of the configuration that is also one of the log is the same.
        if let Some((item, _)) =
            self.catalogue.since(0).find(|(item, shared)| !query.may_have(item, &shared.features))
        {
            return Err(Refusal::other_features(item));
        }
        self.totals.queries += 1;
        self.insert(name, query);
        self.change(name).map(|_| ())
    }
}

/// A query of a snapshot.
fn restored(template: &Template, name: &Name, state: &[u8]) -> Result<Query, StoreError> {
    let unreadable = |what: String| StoreError::Snapshot(format!("query `{}`: {what}", &**name));
    Query::restore(template, state).map_err(unreadable)
}

/// A number that no other server has.
fn salt() -> Result<u64, StoreError> {
    getrandom::u64().map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// The items of a list; one that is unknown is refused.
fn places(query: &Query, items: &[Name]) -> Result<Vec<Handle>, Refusal> {
    let unknown = |place| Refusal::unknown_item(&items[place], format!("items[{place}]"));
    let places =
        items.iter().enumerate().map(|(place, item)| query.handle(item).ok_or_else(|| unknown(place)));
    places.collect()
}

/// The items that are named, and the first thousand names that the query does not know.
fn handles(query: &Query, allowed: &Allowed) -> (Vec<Handle>, Box<[Name]>) {
    let (Allowed::Only(items) | Allowed::Except(items)) = allowed else { return Default::default() };
    let is_unknown = |item: &&Name| query.handle(item).is_none();
    let unknown = items.iter().filter(is_unknown).take(1_000).cloned();
    (items.iter().filter_map(|item| query.handle(item)).collect(), unknown.collect())
}

fn ask<'a>(number: u64, user: &'a Context, choice: &Choice, handles: &'a [Handle]) -> Ask<'a> {
    let among = match choice.allowed {
        Allowed::All => Among::All,
        Allowed::Only(_) => Among::Only(handles),
        Allowed::Except(_) => Among::Except(handles),
    };
    Ask { number, user, among, positions: choice.positions.map_or(usize::MAX, usize::from) }
}
