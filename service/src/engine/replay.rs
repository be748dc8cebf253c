//! Events of a store, repeated. A query takes many of its events one after the other, so that it is
//! brought into memory once for all of them. They wait in the form in which they are kept,
//! which has a fifth of their size in memory.

use super::decisions::Place;
use super::lists::{Asked, places};
use super::{Engine, Origin};
use crate::api::Refusal;
use crate::event::{Choice, Decision, Event, Name};
use crate::store::StoreError;
use click_models::Context;

/// The bytes of events after which queries take theirs. To bring a query with 100 items into memory
/// costs as much as 100 events.
const MANY: usize = 64 << 20;

/// The events that a query has still to take.
#[derive(Default)]
pub(super) struct Later {
    last: u64,
    /// Number, decision, version of the items of all queries, and event of each, in the form of
    /// rows.
    events: Vec<u8>,
}

impl Engine {
    /// Repeats an event of a store: what is common to all queries at once, the rest later.
    pub(super) fn apply(&mut self, event: Event, time: u64, origin: Origin) -> Result<(), StoreError> {
        let number = self.next;
        let (query, decision) = match &event {
            Event::Decided(decision) => (decision.query.clone(), self.decisions.next()),
            Event::Launched(launched) => (launched.decision.query.clone(), self.decisions.next()),
            Event::Clicked { id, .. }
            | Event::Closed { id, .. }
            | Event::Measured { id, .. }
            | Event::Valued { id, .. } => match self.decisions.find(id) {
                Place::Open(place, open) => (open.query().clone(), place),
                _ => return Err(damaged(number, &format!("decision `{id}` is not open"))),
            },
            Event::Item { query: Some(query), .. }
            | Event::Worth { query: Some(query), .. }
            | Event::Used { query }
            | Event::Dropped { query } => (query.clone(), 0),
            of_all => {
                // Queries see the items of all queries as they were, and other settings at once.
                let is_item = matches!(of_all, Event::Item { .. } | Event::Worth { .. });
                if !is_item || self.catalogue.is_full(self.template.settings().keep_retired) {
                    self.take_later(origin)?;
                }
                let outcome = self.take_of_all(of_all, time);
                self.touched = None;
                outcome.map_err(|refusal| fault(number, refusal))?;
                self.next = number + 1;
                return Ok(());
            }
        };
        // No query forgets what leaves by this decision before it has taken all.
        self.later.entry(query.clone()).or_default();
        if let Some(shown) = event.decision() {
            let user = self.user(shown.context.as_ref());
            let user = user.map_err(|refusal| fault(number, refusal))?;
            self.remember(shown, &user, Box::default(), time);
        }
        match &event {
            Event::Launched(launched) => self.count_launched(decision, launched, time),
            Event::Measured { metrics, .. } => self.measure(decision, metrics),
            Event::Valued { gained, .. } => self.count_value(decision, *gained),
            Event::Item { .. } | Event::Worth { .. } | Event::Used { .. } => self.note_query(&query),
            Event::Clicked { .. } => self.note_click(&query, decision, time),
            Event::Closed { .. } => self.decisions.close(decision),
            Event::Dropped { query } => {
                self.decisions.drop_query(query);
                self.usage.remove(query);
            }
            _ => {}
        }
        let later = self.later.entry(query).or_default();
        let row = (number, decision, self.catalogue.version, event);
        let before = later.events.len();
        let events = postcard::to_extend(&row, std::mem::take(&mut later.events));
        *later = Later { last: number, events: events.expect("events are plain data") };
        self.n_later += later.events.len() - before;
        self.next = number + 1;
        if self.n_later < MANY { Ok(()) } else { self.take_later(origin) }
    }

    /// Lets queries take their events, those used last at the end, as if all were taken in order.
    /// After a failure the others still wait.
    pub(super) fn take_later(&mut self, origin: Origin) -> Result<(), StoreError> {
        let next = self.next;
        let mut queries: Vec<(u64, Name)> =
            self.later.iter().map(|(name, later)| (later.last, name.clone())).collect();
        queries.sort_unstable();
        for (_, name) in queries {
            let mut later = self.later.get_mut(&name).map(std::mem::take).unwrap_or_default();
            let mut rest = &later.events[..];
            while !rest.is_empty() {
                let taken = postcard::take_from_bytes::<(u64, u64, u64, Event)>(rest);
                let ((number, decision, version, event), after) = taken.expect("it was written just now");
                self.next = number;
                self.catalogue.see(Some(version));
                let outcome = self.take_event(&name, decision, &event, origin);
                (self.next, self.touched) = (next, None);
                self.catalogue.see(None);
                if let Err(error) = outcome.map_err(|refusal| fault(number, refusal)) {
                    later.events = rest.to_vec();
                    self.later.insert(name, later);
                    return Err(error);
                }
                rest = after;
            }
        }
        self.catalogue.forget_earlier();
        if !self.later.is_empty() {
            self.later.clear();
            self.n_later = 0;
            self.queries.values_mut().for_each(|query| query.forget_before(self.decisions.first));
        }
        Ok(())
    }

    /// Takes an event of all queries.
    fn take_of_all(&mut self, event: &Event, time: u64) -> Result<(), Refusal> {
        match event {
            Event::Item { item, change, features, .. } => _ = self.change_shared(item, *change, features)?,
            Event::Worth { item, worth, .. } => _ = self.tell_worth(item, None, worth)?,
            Event::Settings { settings, items } => {
                self.take_settings(settings, items, time).map_err(|what| Refusal::malformed(&what, ""))?;
            }
            Event::Launch(change) => self.take_launch(change),
            Event::Held { is_held } => self.hold_launch(*is_held, time),
            _ => self.began(event)?,
        }
        Ok(())
    }

    fn take_event(&mut self, name: &Name, number: u64, event: &Event, origin: Origin) -> Result<(), Refusal> {
        if let Some(decision) = event.decision() {
            let user = self.user(decision.context.as_ref())?;
            let unknown = match &decision.chosen {
                Some(choice) if origin == Origin::Own => {
                    let (unknown, is_same) = self.decide_again(number, &user, decision, choice)?;
                    let is_today = matches!(event, Event::Launched(launched) if !launched.shows_policy());
                    self.totals.differing += u64::from(!is_same && !is_today);
                    unknown
                }
                _ => self.shown(number, &user, decision)?,
            };
            if let Some(open) = self.decisions.get_mut(number) {
                open.set_unknown(unknown);
            }
            return Ok(());
        }
        match event {
            Event::Clicked { position, .. } => _ = self.click(number, name, *position)?,
            Event::Closed { seen, .. } => _ = self.close(number, name, *seen)?,
            Event::Item { item, change, features, .. } => {
                self.change_own(item, name, *change, features)?;
            }
            Event::Worth { item, worth, .. } => _ = self.tell_worth(item, Some(name), worth)?,
            Event::Valued { position, value, revision, .. } => {
                self.earn(number, name, (*position, *value), *revision)?;
            }
            Event::Dropped { .. } => self.forget_query(name),
            _ => _ = self.query(name)?,
        }
        Ok(())
    }

    fn decide_again(
        &mut self,
        number: u64,
        user: &Context,
        decision: &Decision,
        choice: &Choice,
    ) -> Result<(Box<[Name]>, bool), Refusal> {
        let query = self.change(&decision.query)?;
        let list = places(query, &decision.list)?;
        let asked = Asked::new(query, &choice.allowed)?;
        let is_same = query.learner.decide_again(&number, asked.ask(user, choice), &list, &mut query.rng);
        let is_same = is_same.map_err(|error| Refusal::malformed(&error.to_string(), "items"))?;
        Ok((asked.unknown, is_same))
    }
}

/// An event that cannot be repeated, unless the store is at fault.
fn fault(number: u64, refusal: Refusal) -> StoreError {
    match refusal {
        Refusal::Store(error) => error,
        Refusal::Client { message, .. } => damaged(number, &message),
    }
}

fn damaged(number: u64, what: &str) -> StoreError {
    StoreError::Damaged(format!("event {number}: {what}"))
}
