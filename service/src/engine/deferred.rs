//! Lists and clicks while the store does not answer. They change nothing of the state: they wait,
//! and become events in order once the store is back.

use super::Engine;
use super::decisions::Place;
use super::learner;
use super::lists::Asked;
use crate::api::{
    Answer, AnswerBody, DecideBody, Fields, Outcome, Price, Receipt, Refusal, Revision, Told, Whole,
};
use crate::event::{Batch, Decision, Event, Name};
use std::collections::{HashMap, HashSet};

/// A number of the events that wait, and of those that conflict among them.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    events: usize,
    conflicting: u64,
}

/// The lists and clicks that wait for the store.
#[derive(Debug, Default)]
pub struct Deferred {
    /// Acknowledged events, in order.
    events: Vec<Event>,
    /// Number of those that the journal has.
    written: usize,
    /// The places of decisions among them.
    places: HashMap<Name, usize>,
    /// Decisions and positions of clicks among them.
    clicks: HashSet<(Name, u8)>,
    /// Decisions of a commit that may have been kept or not.
    unsure: HashMap<Name, Decision>,
    /// Decisions whose lists are not those that the store has.
    dropped: HashSet<Name>,
    /// Those in the store, and those that are to be committed.
    stored: Taken,
    taken: Taken,
    /// Events that conflicted, since the process began.
    pub conflicting: u64,
}

impl Deferred {
    /// The events that a journal has.
    pub fn of_journal(events: Vec<Event>) -> Self {
        let mut deferred = Self::default();
        for event in events {
            deferred.push(event);
        }
        deferred.wrote();
        deferred
    }

    fn push(&mut self, event: Event) {
        if let Event::Decided(decision) = &event {
            self.places.insert(decision.id.clone(), self.events.len());
        }
        if let Event::Clicked { id, position } = &event {
            self.clicks.insert((id.clone(), *position));
        }
        self.events.push(event);
    }

    /// Number of events that the store does not have.
    pub fn n_waiting(&self) -> usize {
        self.events.len() - self.stored.events
    }

    /// The events that the journal does not have, and the number of the first.
    pub fn unwritten(&self) -> (u64, &[Event]) {
        (self.written as u64, &self.events[self.written..])
    }

    /// Notes that the journal has all.
    pub fn wrote(&mut self) {
        self.written = self.events.len();
    }

    /// Whether all is in the store, or about to be committed.
    pub fn is_taken(&self) -> bool {
        self.taken.events == self.events.len()
    }

    /// Notes that what was taken is in the store, or is not. Returns whether the last one is.
    pub fn settle(&mut self, is_kept: bool) -> bool {
        if !is_kept {
            self.taken = self.stored;
            return false;
        }
        self.conflicting += self.taken.conflicting - self.stored.conflicting;
        self.stored = self.taken;
        let is_over = !self.events.is_empty() && self.n_waiting() == 0;
        if is_over {
            *self = Self { conflicting: self.conflicting, ..Self::default() };
        }
        is_over
    }

    /// Notes the decisions of a commit of which it is not known whether it was kept: clients
    /// that ask for them again get the same lists.
    pub fn doubt(&mut self, batch: &Batch) {
        for event in &batch.events {
            if let Some(decision) = event.decision() {
                self.unsure.insert(decision.id.clone(), decision.clone());
            }
        }
    }

    /// Notes that it is known again what was kept.
    pub fn trust(&mut self) {
        self.unsure.clear();
    }

    fn decision(&self, id: &Name) -> Option<&Decision> {
        match self.places.get(id).map(|&place| &self.events[place]) {
            Some(Event::Decided(decision)) => Some(decision),
            _ => None,
        }
    }
}

impl Engine {
    /// Begins a turn at a time. After an outage, other servers may know decisions that they have
    /// still to record.
    pub fn begin_at(&mut self, time: u64, is_after_outage: bool) {
        self.time = self.time.max(time);
        self.is_after_outage = is_after_outage;
    }

    /// Decides on a list of a query in memory, which waits for the store.
    pub fn decide_deferred(
        &mut self,
        mut body: DecideBody,
        deferred: &mut Deferred,
    ) -> Result<Answer, Refusal> {
        let (mut today, positions) = (body.baseline.take(), body.positions.map(|Whole(most)| most));
        let name = body.query.clone().unwrap_or_else(Name::default_query);
        let mut decision = Self::asked_for(body, name);
        let user = self.user(decision.context.as_ref())?;
        let known = deferred.decision(&decision.id).or_else(|| deferred.unsure.get(&decision.id)).cloned();
        if let Some(known) = known {
            let of_known = self.user(known.context.as_ref())?;
            let [asked, before] = [(&decision, &user), (&known, &of_known)]
                .map(|(decision, user)| self.asked(decision, user, self.template.positions));
            if known.query != decision.query {
                return Err(Refusal::other_query(&known.id, &known.query));
            }
            if asked != before && today.is_none() {
                return Err(Refusal::other_request(&known.id));
            }
            decision = known;
        } else if let Some(open) = self.answered(&decision, &user)? {
            return Ok(Answer::new(open));
        } else if deferred.n_waiting() >= self.template.keep {
            return Err(Refusal::busy());
        }
        self.check_baseline(today.as_mut(), positions)?;
        if let Some(today) = today {
            // Sides are compared by what the store has: everybody sees today's list.
            if !deferred.places.contains_key(&decision.id) {
                if !deferred.unsure.contains_key(&decision.id) {
                    (decision.list, decision.chosen) = (today, None);
                    decision.user = self.kept_user(decision.user.take());
                }
                deferred.push(Event::Decided(Box::new(decision.clone())));
            }
            let side = Some("baseline");
            return Ok(Answer { side, ..Answer::deferred(&decision, Box::default(), self.next) });
        }
        if !self.queries.contains_key(&decision.query) {
            return Err(Refusal::not_in_memory());
        }
        let Some(choice) = &mut decision.chosen else { return Err(Refusal::other_request(&decision.id)) };
        let waits = deferred.places.contains_key(&decision.id);
        let is_new = !waits && !deferred.unsure.contains_key(&decision.id);
        // One that is behind stays so: no event would tell that it followed.
        let unknown = self.look_at(&decision.query, None, |query| {
            let asked = Asked::new(query, &choice.allowed)?;
            asked.check(query, &user, choice)?;
            if is_new {
                let (list, of) = query.learner.draw(asked.ask(&user, choice), &mut query.rng);
                choice.propensities = learner::propensities(&of);
                decision.list = list.into_iter().map(|handle| query.name(handle).clone()).collect();
            }
            Ok::<_, Refusal>(asked.unknown)
        })??;
        if is_new {
            decision.user = self.kept_user(decision.user.take());
        }
        if !waits {
            deferred.push(Event::Decided(Box::new(decision.clone())));
        }
        Ok(Answer::deferred(&decision, unknown, self.next))
    }

    /// Takes an answer to a decision that is known, which waits for the store.
    pub fn answer_deferred(&mut self, body: AnswerBody, deferred: &mut Deferred) -> Result<Receipt, Refusal> {
        if body.metrics.is_some() {
            return Err(Refusal::not_in_memory());
        }
        let (query, number, Told { clicks, closes, seen, values }) =
            match (deferred.decision(&body.id), self.decisions.find(&body.id)) {
                (Some(decision), _) => (&decision.query, None, body.told(&decision.list.iter())?),
                (None, Place::TooOld) => return Err(Refusal::too_old(&body.id)),
                (None, Place::Open(_, open)) if open.is_dropped => {
                    return Err(Refusal::dropped_query(&body.id, open.query()));
                }
                (None, Place::Open(number, open)) if !deferred.unsure.contains_key(&body.id) => {
                    if open.is_closed && self.template.sees_contexts() {
                        return Err(Refusal::closed(&body.id, "clicks"));
                    }
                    (open.query(), Some(number), body.told(&open.list())?)
                }
                // Another server may know it.
                _ => return Err(Refusal::not_in_memory()),
            };
        let revision = body.revision.map(|Revision(revision)| revision);
        if !values.is_empty() {
            let query = self.queries.get_mut(query).ok_or_else(Refusal::not_in_memory)?;
            let waits = |position| deferred.clicks.contains(&(body.id.clone(), position));
            let is_clicked = |position| clicks.contains(&position) || waits(position);
            query.check_values(number, &values, revision, is_clicked)?;
        }
        for position in clicks {
            deferred.push(Event::Clicked { id: body.id.clone(), position });
        }
        for (position, value) in values {
            let (id, gained) = (body.id.clone(), 0.0);
            deferred.push(Event::Valued { id, position, value, revision, gained });
        }
        if closes {
            deferred.push(Event::Closed { id: body.id.clone(), seen });
        }
        Ok(Receipt { id: body.id, outcome: Outcome::Counted, stored: Some(false) })
    }

    /// Records what waits, up to this number of events. What the store knows otherwise is left
    /// out.
    pub fn record(
        &mut self,
        deferred: &mut Deferred,
        time: u64,
        most: usize,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        while events.len() < most
            && let Some(event) = deferred.events.get(deferred.taken.events).cloned()
        {
            let recorded = match event {
                Event::Decided(decision) => {
                    let id = decision.id.clone();
                    let recorded = self.record_decision(*decision, time, events);
                    if recorded.as_ref().is_err_and(is_lasting) {
                        deferred.dropped.insert(id);
                    }
                    recorded
                }
                Event::Clicked { id, .. } | Event::Valued { id, .. } | Event::Closed { id, .. }
                    if deferred.dropped.contains(&id) =>
                {
                    Err(Refusal::other_request(&id))
                }
                Event::Clicked { id, position } => {
                    let clicks = Some(vec![Whole(position + 1)]);
                    self.answer(AnswerBody { clicks, ..AnswerBody::to(id) }, events).map(|_| ())
                }
                Event::Valued { id, position, value, revision, .. } => {
                    let values = Some(Fields(vec![(Whole(position + 1), Price(value))]));
                    let revision = revision.map(Revision);
                    self.answer(AnswerBody { values, revision, ..AnswerBody::to(id) }, events).map(|_| ())
                }
                Event::Closed { id, seen } => {
                    let (close, seen) = (Some(true), seen.map(Whole));
                    self.answer(AnswerBody { close, seen, ..AnswerBody::to(id) }, events).map(|_| ())
                }
                _ => Ok(()),
            };
            match recorded {
                Err(refusal) if !is_lasting(&refusal) => return Err(refusal),
                recorded => deferred.taken.conflicting += u64::from(recorded.is_err()),
            }
            deferred.taken.events += 1;
        }
        Ok(())
    }

    /// Records a decision that waited, unless it is there.
    fn record_decision(
        &mut self,
        decision: Decision,
        time: u64,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        if let Some(open) = self.decided(&decision.id, &decision.query)? {
            let is_same = open.list().eq(&decision.list);
            return if is_same { Ok(()) } else { Err(Refusal::other_request(&decision.id)) };
        }
        let context = decision.context.clone();
        let user = self.user(context.as_ref())?;
        if decision.chosen.is_none() {
            self.add_baseline(&decision.list, &decision.query, events)?;
        }
        self.take_shown(decision, time, events)?;
        self.note_outside(context.as_ref(), &user);
        Ok(())
    }
}

/// Whether a fault would be the same at the next try.
fn is_lasting(refusal: &Refusal) -> bool {
    refusal.status() != 503
}
