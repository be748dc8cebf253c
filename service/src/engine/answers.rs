//! Clicks on lists, and their end.

use super::Engine;
use super::decisions::{OpenDecision, Place};
use super::query::Query;
use crate::api::{AnswerBody, Outcome, Receipt, Refusal, Revision, Told};
use crate::archive::DAY;
use crate::event::{Event, Name};
use crate::metrics::log;
use live::Taken;
use serde_json::json;

impl Engine {
    /// Takes clicks on a decision and its end; those that are new become events.
    pub fn answer(&mut self, body: AnswerBody, events: &mut Vec<Event>) -> Result<Receipt, Refusal> {
        let given = self.noting(events, |engine, events| engine.take_answer(body, events))?;
        self.repeated += u64::from(given.outcome == Outcome::Repeated);
        Ok(given)
    }

    fn take_answer(&mut self, body: AnswerBody, events: &mut Vec<Event>) -> Result<Receipt, Refusal> {
        let (number, open) = match self.decisions.find(&body.id) {
            Place::Open(number, open) => (number, open),
            Place::TooOld => return Err(Refusal::too_old(&body.id)),
            Place::Unknown if self.is_after_outage => return Err(Refusal::not_in_memory()),
            Place::Unknown => return Err(Refusal::unknown_decision(&body.id)),
        };
        if open.is_dropped {
            return Err(Refusal::dropped_query(&body.id, open.query()));
        }
        // A policy that sees who asks has learned from it whole.
        let (query, is_learned) = (open.query().clone(), open.is_closed && self.template.sees_contexts());
        let Told { clicks, closes, seen, values } = body.told(&open.list())?;
        let revision = body.revision.map(|Revision(revision)| revision);
        if !values.is_empty() {
            let is_clicked = |position| clicks.contains(&position);
            self.loaded(&query)?.check_values(Some(number), &values, revision, is_clicked)?;
        }
        if is_learned {
            // All that can be new is refused, before the query takes the items of all queries.
            for position in &clicks {
                let taken = self.loaded(&query)?.learner.click(&number, usize::from(*position));
                self.is_new(taken, number, "clicks")?;
            }
            if closes {
                let taken = self.loaded(&query)?.learner.close(&number, seen.map(usize::from));
                self.is_new(taken, number, "seen")?;
            }
        }
        let metrics = body.metrics.map(|metrics| self.new_metrics(number, metrics)).transpose()?;
        let before = events.len();
        for position in clicks {
            let event = Event::Clicked { id: body.id.clone(), position };
            if self.click(number, &query, position)? {
                self.note_click(&query, number, self.time);
                events.push(event);
            }
        }
        for (position, value) in values {
            if let Some(gained) = self.earn(number, &query, (position, value), revision)? {
                self.count_value(number, gained);
                self.earned[usize::from(gained < 0.0)] += gained.abs();
                let id = body.id.clone();
                events.push(Event::Valued { id, position, value, revision, gained });
            }
        }
        if closes && self.close(number, &query, seen)? {
            events.push(Event::Closed { id: body.id.clone(), seen });
        }
        if let Some(metrics) = metrics.filter(|metrics| !metrics.is_empty()) {
            self.next += 1;
            self.measure(number, &metrics);
            events.push(Event::Measured { id: body.id.clone(), metrics });
        }
        let outcome = if events.len() > before { Outcome::Counted } else { Outcome::Repeated };
        Ok(Receipt::new(body.id, outcome))
    }

    pub(super) fn click(&mut self, number: u64, query: &Name, position: u8) -> Result<bool, Refusal> {
        let taken = self.change(query)?.learner.click(&number, usize::from(position));
        let is_new = self.is_new(taken, number, "clicks")?;
        self.totals.clicks += u64::from(is_new);
        self.next += u64::from(is_new);
        Ok(is_new)
    }

    pub(super) fn close(&mut self, number: u64, query: &Name, seen: Option<u8>) -> Result<bool, Refusal> {
        let taken = self.change(query)?.learner.close(&number, seen.map(usize::from));
        let is_new = self.is_new(taken, number, "seen")?;
        self.decisions.close(number);
        self.totals.closed += u64::from(is_new);
        self.next += u64::from(is_new);
        Ok(is_new)
    }

    /// Takes the value of a click. If it holds, returns by how much the values of the decision
    /// grow.
    pub(super) fn earn(
        &mut self,
        number: u64,
        query: &Name,
        (position, value): (u8, f64),
        revision: Option<u64>,
    ) -> Result<Option<f64>, Refusal> {
        let place = usize::from(position);
        let item = self.decisions.get(number).and_then(|open| open.list().nth(place).cloned());
        let query = self.change(query)?;
        let handle = item.and_then(|item| query.handle(&item));
        let sum = |query: &mut Query| handle.map_or(0.0, |handle| query.learner.orders(handle).sum());
        let before = sum(query);
        let taken = query.learner.earned(&number, place, value, revision);
        let taken = taken.map_err(|error| Refusal::of_terms(&error, format!("values.{}", position + 1)))?;
        let gained = sum(query) - before;
        let is_new = taken == Taken::Counted;
        self.next += u64::from(is_new);
        Ok(is_new.then_some(gained))
    }

    fn is_new(&self, taken: Taken, number: u64, at: &str) -> Result<bool, Refusal> {
        match (taken, self.decisions.get(number)) {
            (Taken::Closed, Some(open)) => Err(Refusal::closed(&open.id(), at)),
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
        is_due: impl Fn(u64, &OpenDecision) -> bool,
    ) -> Result<usize, Refusal> {
        for closed in 0..most {
            let Some((number, open)) = self.decisions.next_due(&is_due) else { return Ok(closed) };
            let (id, query) = (open.id(), open.query().clone());
            self.noting(events, |engine, events| {
                if engine.close(number, &query, None)? {
                    events.push(Event::Closed { id, seen: None });
                }
                Ok(())
            })?;
        }
        Ok(most)
    }

    /// Closes the decisions that leave because one more is made, as the end of `wait` would: their
    /// displays count.
    pub(super) fn make_room(&mut self, time: u64, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let (keep, before, most) = (self.template.keep, self.too_old(time), 1 << 16);
        let stays = (self.decisions.next() + 1).saturating_sub(keep as u64);
        let is_due = |number, open: &OpenDecision| number < stays || open.time < before;
        let closed = self.close_due(most, events, is_due)?;
        let early = self.early + closed;
        if early.checked_ilog2() > std::mem::replace(&mut self.early, early).checked_ilog2() {
            log("info", "closed-early", json!({ "decisions": early, "keep": keep }));
        }
        // After a long rest, the next requests continue.
        if closed < most { Ok(()) } else { Err(Refusal::busy()) }
    }

    /// Decisions that were made before this time can no longer be answered.
    pub(super) fn too_old(&self, time: u64) -> u64 {
        time.saturating_sub(self.template.keep_days.saturating_mul(DAY))
    }
}
