//! The state of the service: a policy for each query, the items and the open decisions.
//!
//! Everything that changes it is an [`Event`]. An engine that gets the events of another one, in
//! their order, comes to the same state: after a restart, in the thread that makes snapshots, and
//! in a test. A server that follows another one takes its decisions as lists that were shown.

mod catalogue;
mod decisions;
mod learner;
mod query;
mod swap;

pub use query::ItemRow;

use crate::api::{Answer, AnswerBody, DecideBody, Given, Outcome, Refusal, ShowBody, Slot};
use crate::config::{Limits, Template};
use crate::event::{Allowed, Batch, Change, Choice, Decision, Event, Name, whole};
use crate::metrics::log;
use crate::store::{Receive, Store, StoreError};
use catalogue::Catalogue;
use decisions::{Decisions, Open, Place, SavedDecisions};
use learner::Ask;
use live::{Among, ContextFit, Handle, Taken};
use policies::Tally;
use query::Query;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
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
    queries: HashMap<Name, Query>,
    /// Queries in memory by their last use.
    by_use: BTreeMap<u64, Name>,
    uses: u64,
    /// Added to the seeds of queries, so that servers of a shared store draw different numbers.
    salt: Option<u64>,
    swap: Swap,
    /// The query that the last request made, or made follow the catalogue.
    touched: Option<Name>,
    /// Why a query of the snapshot could not be read, if there was one.
    unreadable: Option<String>,
    /// Answers of which all was known.
    repeated: u64,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("next", &self.next)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

/// Everything but the queries.
#[derive(Serialize, Deserialize)]
struct Head {
    next: u64,
    catalogue: Catalogue,
    decisions: SavedDecisions,
    totals: Totals,
    prior: Option<[f64; 2]>,
}

impl Head {
    /// Reads what was saved, with the decisions apart.
    fn read(saved: &[u8]) -> Result<(Self, Decisions), StoreError> {
        let unreadable = |what: String| StoreError::Snapshot(what);
        let mut head: Self = whole(saved).map_err(unreadable)?;
        let decisions = std::mem::take(&mut head.decisions);
        Ok((head, Decisions::try_from(decisions).map_err(unreadable)?))
    }
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
        let swap = Swap::new(by_snapshot.then(|| store.clone()), directory)
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
            queries: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            salt: if store.is_shared() { Some(salt()?) } else { None },
            swap,
            touched: None,
            unreadable: None,
            repeated: 0,
        };
        if by_snapshot && let Some(saved) = store.head()? {
            let (head, decisions) = Head::read(&saved)?;
            (engine.next, engine.catalogue, engine.totals) = (head.next, head.catalogue, head.totals);
            (engine.snapshot, engine.prior, engine.decisions) = (engine.next, head.prior, decisions);
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
        self.take_all(origin, |next, receive| store.read(next, receive))
    }

    /// Begins a turn of this server with the events of the others.
    pub fn begin_turn(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        self.take_all(Origin::Other, |next, receive| store.begin(next, receive))
    }

    fn take_all(
        &mut self,
        origin: Origin,
        read: impl FnOnce(u64, Receive<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        // Entries that were taken under other limits stay.
        let most = std::mem::replace(&mut self.most, UNLIMITED);
        let mut outcome = Ok(());
        let is_read = read(self.next, &mut |first, batch| {
            outcome = self.take(first, &batch, origin);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.most = most;
        is_read.and(outcome)
    }

    /// Takes a batch from a store.
    fn take(&mut self, first: u64, batch: &Batch, origin: Origin) -> Result<(), StoreError> {
        if first > self.next {
            return Err(StoreError::Damaged(format!("the events from number {} on are missing", self.next)));
        }
        let known = usize::try_from(self.next - first).unwrap_or(usize::MAX);
        for event in batch.events.iter().skip(known) {
            self.apply(event, batch.time, origin)?;
        }
        Ok(())
    }

    /// Makes a snapshot, unless what it would contain cannot be read again: then the last one
    /// stays.
    pub fn save(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let head = Head {
            next: self.next,
            catalogue: self.catalogue.clone(),
            decisions: SavedDecisions::from(&self.decisions),
            totals: self.totals,
            prior: self.prior,
        };
        let head = postcard::to_allocvec(&head).map_err(|error| StoreError::Snapshot(error.to_string()))?;
        Head::read(&head)?;
        let template = &self.template;
        let (queries, swap, next) = (&self.queries, &mut self.swap, self.next);
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
        store.replace(next, &head, &mut read_again)
    }

    /// The number of the next event.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of the first event after the snapshot from which it was recovered.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
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

    /// Number of answers of which all was known, in this process.
    pub fn n_repeated(&self) -> u64 {
        self.repeated
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
        query.learner.forget_before(self.decisions.first);
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
        self.noting(events, |engine, events| engine.choose(body, time, events))
    }

    fn choose(&mut self, body: DecideBody, time: u64, events: &mut Vec<Event>) -> Result<Answer, Refusal> {
        let name = body.query.unwrap_or_else(Name::default_query);
        if let Some(answer) = self.decided(&body.id, &name)? {
            return Ok(answer);
        }
        let allowed = match (body.only, body.except) {
            (None, None) => Allowed::All,
            (Some(items), None) => Allowed::Only(items),
            (None, Some(items)) => Allowed::Except(items),
            (Some(_), Some(_)) => {
                return Err(Refusal::malformed("`only` and `except` exclude each other", "only"));
            }
        };
        if body.positions == Some(0) {
            return Err(Refusal::malformed("a list has at least one position", "positions"));
        }
        let user = self.template.user(body.context.as_ref())?;
        let (number, version) = (self.decisions.next(), self.next);
        let query = self.change(&name)?;
        let handles = handles(query, &allowed);
        if let (Allowed::Only(items), Err(place)) = (&allowed, &handles) {
            return Err(Refusal::unknown_item(&items[*place], format!("only[{place}]")));
        }
        let handles = handles.unwrap_or_default();
        let positions = body.positions.map_or(usize::MAX, usize::from);
        let ask = Ask { number, user: &user, among: among(&allowed, &handles), positions };
        let list = query.learner.decide(&ask, &mut query.rng).to_vec();
        let list: Vec<Name> = list.into_iter().map(|handle| query.name(handle).clone()).collect();
        let propensities = query.learner.propensities(number);
        let choice = Choice { allowed, positions: body.positions, propensities };
        let (chosen, user, context) = (Some(choice), body.user, body.context);
        let decision = Decision { id: body.id, query: name, list, chosen, user, context };
        self.record(&decision, time);
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        let propensities = propensities.map(|of| of.items.as_slice());
        let answer = Answer::new(&decision.id, version, &decision.list, propensities);
        events.push(Event::Decided(Box::new(decision)));
        Ok(answer)
    }

    /// Takes a list that was shown without asking, unless the decision was made before.
    pub fn show(&mut self, body: ShowBody, time: u64, events: &mut Vec<Event>) -> Result<Given, Refusal> {
        let query = body.query.unwrap_or_else(Name::default_query);
        if self.decided(&body.id, &query)?.is_some() {
            return Ok(Given::new(body.id, Outcome::Repeated));
        }
        let decision = Decision {
            id: body.id,
            query,
            list: body.items,
            chosen: None,
            user: body.user,
            context: body.context,
        };
        self.noting(events, |engine, events| {
            engine.shown(&decision, time)?;
            let given = Given::new(decision.id.clone(), Outcome::Counted);
            events.push(Event::Decided(Box::new(decision)));
            Ok(given)
        })
    }

    fn shown(&mut self, decision: &Decision, time: u64) -> Result<(), Refusal> {
        let user = self.template.user(decision.context.as_ref())?;
        let number = self.decisions.next();
        let query = self.change(&decision.query)?;
        let list = places(query, &decision.list)
            .map_err(|place| Refusal::unknown_item(&decision.list[place], format!("items[{place}]")))?;
        // Its number is new, so that it is never one of before.
        let taken = query.learner.show(number, &user, &list);
        _ = taken.map_err(|error| {
            match list.iter().rposition(|item| error == live::Error::RepeatedItem(*item)) {
                Some(place) => {
                    let message = format!("item `{}` is twice in the list", &*decision.list[place]);
                    Refusal::malformed(&message, &format!("items[{place}]"))
                }
                None => Refusal::malformed(&error.to_string(), "items"),
            }
        })?;
        self.record(decision, time);
        Ok(())
    }

    /// The decision of this name, if there is one for this query.
    fn decided(&self, id: &Name, query: &Name) -> Result<Option<Answer>, Refusal> {
        let open = match self.decisions.find(id) {
            Place::Open(_, open) => open,
            Place::TooOld => return Err(Refusal::too_old(id)),
            Place::Unknown => return Ok(None),
        };
        if open.query != *query {
            return Err(Refusal::other_query(id, &open.query));
        }
        Ok(Some(Answer::new(id, open.version, &open.list, open.propensities.as_deref())))
    }

    /// Remembers a decision that its policy knows.
    fn record(&mut self, decision: &Decision, time: u64) {
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        self.decisions.push(Open {
            id: decision.id.clone(),
            query: decision.query.clone(),
            list: decision.list.clone().into(),
            propensities: propensities.map(|of| of.items.clone().into()),
            time,
            version: self.next,
            is_closed: false,
        });
        match decision.chosen {
            Some(_) => self.totals.decided += 1,
            None => self.totals.shown += 1,
        }
        self.next += 1;
        let (most, days) = (self.template.keep, self.template.keep_days);
        let before = time.saturating_sub(days.saturating_mul(86_400_000));
        while let Some(old) = self.decisions.forget(most, before) {
            if let Some(query) = self.queries.get_mut(&old.query) {
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
        for (place, &position) in body.clicks.iter().enumerate() {
            match usize::from(position) {
                found if (1..=length).contains(&found) => positions.push(position - 1),
                found => return Err(Refusal::no_position(found, length, format!("clicks[{place}]"))),
            }
        }
        for (place, item) in body.items.iter().enumerate() {
            let position = open.list.iter().position(|other| other == item);
            let position = position.and_then(|position| u8::try_from(position).ok());
            let unknown = || Refusal::unknown_item(item, format!("items[{place}]"));
            positions.push(position.ok_or_else(unknown)?);
        }
        if let Some(seen) = body.seen.filter(|&seen| usize::from(seen) > length) {
            return Err(Refusal::no_position(usize::from(seen), length, "seen".into()));
        }
        let closes = body.close || body.seen.is_some();
        if positions.is_empty() && !closes {
            return Err(Refusal::malformed("an answer has `clicks`, `items`, `close` or `seen`", "clicks"));
        }
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
        if closes && self.close(number, &query, body.seen)? {
            events.push(Event::Closed { id: body.id.clone(), seen: body.seen });
        }
        let outcome = if events.len() > before { Outcome::Counted } else { Outcome::Repeated };
        Ok(Given::new(body.id, outcome))
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

    /// Closes the decisions that were made before a time, `wait` ago, at most `most`; those that
    /// were not closed become events.
    pub fn close_before(&mut self, time: u64, most: usize, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let after = time.saturating_add(self.template.wait.saturating_mul(2_000));
        for _ in 0..most {
            let Some((number, open)) = self.decisions.due(time, after) else { break };
            let (id, query) = (open.id.clone(), open.query.clone());
            self.noting(events, |engine, events| {
                if engine.close(number, &query, None)? {
                    events.push(Event::Closed { id, seen: None });
                }
                Ok(())
            })?;
        }
        Ok(())
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
        self.began(event)?;
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
        if fit.items.len() > self.most.items {
            return Err(Refusal::too_many("items of a query", self.most.items));
        }
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

    /// Repeats an event of a store.
    fn apply(&mut self, event: &Event, time: u64, origin: Origin) -> Result<(), StoreError> {
        let number = self.next;
        let damaged = |what: &str| StoreError::Damaged(format!("event {number}: {what}"));
        let outcome = match event {
            Event::Decided(decision) => match &decision.chosen {
                Some(choice) if origin == Origin::Own => self.decide_again(decision, choice, time),
                _ => self.shown(decision, time),
            },
            Event::Clicked { id, .. } | Event::Closed { id, .. } => {
                let Place::Open(place, open) = self.decisions.find(id) else {
                    return Err(damaged(&format!("decision `{}` is not open", &**id)));
                };
                let query = open.query.clone();
                match event {
                    Event::Clicked { position, .. } => self.click(place, &query, *position).map(|_| ()),
                    Event::Closed { seen, .. } => self.close(place, &query, *seen).map(|_| ()),
                    _ => Ok(()),
                }
            }
            Event::Item { item, query: Some(query), change, features } => {
                self.change_own(item, query, *change, features).map(|_| ())
            }
            Event::Item { item, query: None, change, features } => {
                self.change_shared(item, *change, features).map(|_| ())
            }
            Event::Began { .. } | Event::BeganAtPositions { .. } | Event::BeganForUsers { .. } => {
                self.began(event)
            }
            Event::Used { query } => self.query(query).map(|_| ()),
        };
        self.touched = None;
        outcome.map_err(|refusal| match refusal {
            Refusal::Store(error) => error,
            Refusal::Client { message, .. } => damaged(&message),
        })?;
        self.next = number + 1;
        Ok(())
    }

    fn decide_again(&mut self, decision: &Decision, choice: &Choice, time: u64) -> Result<(), Refusal> {
        let user = self.template.user(decision.context.as_ref())?;
        let number = self.decisions.next();
        let query = self.change(&decision.query)?;
        let list = places(query, &decision.list)
            .map_err(|place| Refusal::unknown_item(&decision.list[place], format!("items[{place}]")))?;
        let handles = handles(query, &choice.allowed).unwrap_or_default();
        let positions = choice.positions.map_or(usize::MAX, usize::from);
        let ask = Ask { number, user: &user, among: among(&choice.allowed, &handles), positions };
        let is_same = query.learner.decide_again(&ask, &list, &mut query.rng);
        let is_same = is_same.map_err(|error| Refusal::malformed(&error.to_string(), "items"))?;
        self.totals.differing += u64::from(!is_same);
        self.record(decision, time);
        Ok(())
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

/// The items of a list, or the place of one that is unknown.
fn places(query: &Query, items: &[Name]) -> Result<Vec<Handle>, usize> {
    let places = items.iter().enumerate().map(|(place, item)| query.handle(item).ok_or(place));
    places.collect()
}

/// The items that are named; unknown ones that must not be shown are none.
fn handles(query: &Query, allowed: &Allowed) -> Result<Vec<Handle>, usize> {
    match allowed {
        Allowed::All => Ok(vec![]),
        Allowed::Only(items) => places(query, items),
        Allowed::Except(items) => Ok(items.iter().filter_map(|item| query.handle(item)).collect()),
    }
}

fn among<'a>(allowed: &Allowed, handles: &'a [Handle]) -> Among<'a> {
    match allowed {
        Allowed::All => Among::All,
        Allowed::Only(_) => Among::Only(handles),
        Allowed::Except(_) => Among::Except(handles),
    }
}

/// The items of a list as the API names them.
pub(crate) fn slots(list: &[Name], propensities: Option<&[f64]>) -> Vec<Slot> {
    let slot = |(place, item): (usize, &Name)| Slot {
        item: item.clone(),
        position: place + 1,
        propensity: propensities.map(|of| of[place]),
    };
    list.iter().enumerate().map(slot).collect()
}
