//! Lists: those that a policy chooses, and those that were shown without asking.

use super::Engine;
use super::decisions::{DecisionView, Place, Request};
use super::learner;
use super::query::Query;
use crate::api::{Answer, DecideBody, Fields, Object, Outcome, Price, Receipt, Refusal, ShowBody, Whole};
use crate::config::{Template, UserNames};
use crate::event::{AllowedItems, Choice, Decision, Event, Name, Terms};
use crate::metrics::log;
use crate::names::SmallName;
use crate::store::checksum;
use click_models::Context;
use live::{Among, Ask, Handle, NO_SEGMENT};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Engine {
    /// Decides on a list, unless the decision was made before.
    pub fn decide(
        &mut self,
        mut body: DecideBody,
        time: u64,
        events: &mut Vec<Event>,
    ) -> Result<Answer, Refusal> {
        let mut baseline = body.baseline.take();
        let positions = body.positions.map(|Whole(most)| most);
        let name = self.query_of_request(body.query.clone())?;
        let decision = Self::asked_for(body, name);
        let user = self.user(decision.context.as_ref())?;
        if let Some(open) = self.answered(&decision, &user)? {
            return Ok(Answer::new(open));
        }
        self.check_baseline(baseline.as_mut(), positions)?;
        if let Some(choice) = &decision.chosen
            && let Some(Terms { values, pins, .. }) = choice.allowed.parts().1
        {
            let new = baseline.as_deref().unwrap_or_default();
            let named = values.iter().map(|(item, _)| item).chain(pins.iter().map(|(_, item)| item));
            let check = |query: &mut Query| Asked::new(query, &choice.allowed)?.check(query, &user, choice);
            self.check_at(&decision.query, new, |item| named.clone().any(|named| named == item), check)?;
        }
        self.make_room(time, events)?;
        let context = decision.context.clone();
        self.noting(events, |engine, events| {
            let event = match baseline {
                None => Event::Decided(Box::new(engine.choose(decision, &user, time)?)),
                Some(today) => {
                    engine.add_baseline(&today, &decision.query, events)?;
                    Event::Launched(Box::new(engine.choose_in_launch(decision, today, &user, time)?))
                }
            };
            events.push(event);
            Ok(())
        })?;
        self.note_outside(context.as_ref(), &user);
        Ok(Answer::new(self.decisions.latest().next().expect("it was made just now")))
    }

    /// Hashes or drops a user's name, as the settings say. A hash is that of no other store.
    pub(super) fn kept_user(&self, user: Option<Name>) -> Option<Name> {
        match self.template.user_names {
            UserNames::Keep => user,
            UserNames::Hash => user.map(|user| {
                let sum = Sha256::new().chain_update(&self.user_key).chain_update(user.as_bytes()).finalize();
                (&SmallName::Uuid(std::array::from_fn(|place| sum[place]))).into()
            }),
            UserNames::Drop => None,
        }
    }

    /// The decision that a request asks for, without its list.
    pub(super) fn asked_for(body: DecideBody, query: Name) -> Decision {
        let allowed = match (body.only, body.except) {
            (Some(items), _) => AllowedItems::Only(items),
            (None, Some(items)) => AllowedItems::Except(items),
            (None, None) => AllowedItems::All,
        };
        let values = body.values.into_iter().flat_map(|Fields(values)| values);
        let values = values.map(|(item, Price(value))| (item, value)).collect();
        let pins = body.pins.into_iter().flat_map(|Fields(pins)| pins);
        let pins = pins.map(|(Whole(position), item)| (position - 1, item)).collect();
        let terms = Terms { values, most: body.most.map(|Whole(most)| most), pins };
        let allowed = match terms {
            Terms { most: None, ref values, ref pins } if values.is_empty() && pins.is_empty() => allowed,
            terms => AllowedItems::OnTerms(Box::new(allowed), terms),
        };
        let positions = body.positions.map(|Whole(n)| n);
        let chosen = Some(Choice { allowed, positions, propensities: None });
        let context = body.context.map(|Object(context)| context);
        Decision { id: body.id, query, list: vec![], chosen, user: body.user, context }
    }

    /// The decision that is made already, if it was asked for in the same way.
    pub(super) fn answered(
        &self,
        decision: &Decision,
        user: &Context,
    ) -> Result<Option<DecisionView<'_>>, Refusal> {
        let Some(open) = self.decided(&decision.id, &decision.query)? else { return Ok(None) };
        // The list is that of the settings of then.
        let is_it = |of: &Arc<Template>| self.asked(decision, user, of.positions) == open.checksum;
        let is_other = open.checksum.is_some() && !self.history.iter().any(is_it);
        if is_other { Err(Refusal::other_request(&decision.id)) } else { Ok(Some(open)) }
    }

    /// Completes a decision with its list.
    fn choose(&mut self, mut decision: Decision, user: &Context, time: u64) -> Result<Decision, Refusal> {
        let number = self.decisions.next();
        decision.user = self.kept_user(decision.user);
        let query = self.query(&decision.query)?;
        let Some(choice) = &mut decision.chosen else { return Ok(decision) };
        let asked = Asked::new(query, &choice.allowed)?;
        query.is_changed = true;
        let list = query.learner.decide(&number, asked.ask(user, choice), &mut query.rng).to_vec();
        decision.list = list.into_iter().map(|handle| query.name(handle).clone()).collect();
        choice.propensities = query.learner.propensities(&number).and_then(learner::propensities);
        // Its name may be misspelt; once, since it was made just now.
        if query.n_items() == 0 && self.touched.is_some() {
            log("info", "no-items", json!({ "query": decision.query }));
        }
        self.remember(&decision, user, asked.unknown, time);
        Ok(decision)
    }

    /// Takes a list that was shown without asking, unless the decision was made before.
    pub fn show(&mut self, body: ShowBody, time: u64, events: &mut Vec<Event>) -> Result<Receipt, Refusal> {
        let query = self.query_of_request(body.query)?;
        if let Some(open) = self.decided(&body.id, &query)? {
            if !open.list().eq(&body.items) {
                return Err(Refusal::other_request(&body.id));
            }
            return Ok(Receipt::new(body.id, Outcome::Repeated));
        }
        let decision = Decision {
            id: body.id,
            query,
            list: body.items,
            chosen: None,
            user: self.kept_user(body.user),
            context: body.context.map(|Object(context)| context),
        };
        let id = decision.id.clone();
        self.take_shown(decision, time, events)?;
        Ok(Receipt::new(id, Outcome::Counted))
    }

    /// Takes a list that is new.
    pub(super) fn take_shown(
        &mut self,
        decision: Decision,
        time: u64,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        let user = self.user(decision.context.as_ref())?;
        let is_named = |item: &Name| decision.list.contains(item);
        let check = |query: &mut Query| shown_items(query, &decision.list).map(|_| ());
        self.check_at(&decision.query, &[], is_named, check)?;
        self.make_room(time, events)?;
        self.noting(events, |engine, events| {
            let unknown = engine.shown(engine.decisions.next(), &user, &decision)?;
            engine.remember(&decision, &user, unknown, time);
            events.push(Event::Decided(Box::new(decision)));
            Ok(())
        })
    }

    /// Returns the names that its query does not know.
    pub(super) fn shown(
        &mut self,
        number: u64,
        user: &Context,
        decision: &Decision,
    ) -> Result<Box<[Name]>, Refusal> {
        let query = self.change(&decision.query)?;
        let list = shown_items(query, &decision.list)?;
        let asked = decision.chosen.as_ref().map(|choice| Asked::new(query, &choice.allowed)).transpose()?;
        // The number is new, so this cannot be a repeated decision.
        let taken = query.learner.show(&number, user, &list);
        _ = taken.map_err(|error| Refusal::malformed(&error.to_string(), "items"))?;
        Ok(asked.unwrap_or_default().unknown)
    }

    /// The decision of this name, if there is one for this query.
    pub(super) fn decided(&self, id: &Name, query: &Name) -> Result<Option<DecisionView<'_>>, Refusal> {
        let open = match self.decisions.find(id) {
            Place::Open(_, open) => open,
            Place::TooOld => return Err(Refusal::too_old(id)),
            Place::Unknown => return Ok(None),
        };
        let is_other = self.most.are_known && *open.query() == Name::other_query();
        if open.query() != query && !is_other {
            return Err(Refusal::other_query(id, open.query()));
        }
        Ok(Some(open))
    }

    /// A checksum of what determines the list of a decision, apart from the policy: items in any
    /// order, and the user if the policy sees who asks. `None` if it was shown without asking.
    pub(super) fn asked(&self, decision: &Decision, user: &Context, most: usize) -> Option<[u8; 8]> {
        let choice = decision.chosen.as_ref()?;
        let (items, terms) = choice.allowed.parts();
        let is_only = matches!(items, AllowedItems::Only(_));
        let items: BTreeSet<&Name> = items.named().iter().collect();
        let positions = choice.positions.map_or(usize::MAX, usize::from).min(most);
        let user = self.template.sees_contexts().then_some(user);
        let mut bytes = postcard::to_allocvec(&(is_only, items, positions, user)).expect("plain data");
        if let Some(mut terms) = terms.cloned() {
            terms.values.sort_by(|one, other| one.0.cmp(&other.0));
            terms.pins.sort();
            bytes = postcard::to_extend(&terms, bytes).expect("plain data");
        }
        Some(checksum(&[], &bytes))
    }

    /// The policy's knowledge of a user. Where it does not see who asks, clients may still send the
    /// features of earlier settings, which are the first of the present ones.
    pub(super) fn user(&self, context: Option<&crate::event::Context>) -> Result<Context, Refusal> {
        let n = context.map_or(0, |told| told.features.len());
        let is_earlier =
            !self.template.sees_contexts() && self.history.iter().any(|of| of.features.len() == n);
        self.template.user(context, is_earlier)
    }

    /// Counts a user whose segment is not known or whose features were clipped.
    pub(super) fn note_outside(&mut self, context: Option<&crate::event::Context>, user: &Context) {
        let Some(context) = context else { return };
        let has_segment = context.segment.is_some() && !self.template.segments.is_empty();
        let is_outside = user.features != context.features || has_segment && user.segment == NO_SEGMENT;
        self.outside += u64::from(is_outside);
        if is_outside && self.outside.is_power_of_two() {
            log("info", "context-outside", json!({ "decisions": self.outside, "context": context }));
        }
    }

    /// Remembers a decision that its policy knows.
    pub(super) fn remember(&mut self, decision: &Decision, user: &Context, unknown: Box<[Name]>, time: u64) {
        let asked = Request { checksum: self.asked(decision, user, self.template.positions), unknown };
        self.decisions.push(decision, asked, time, self.next);
        if self.template.launch.is_some()
            && decision.chosen.is_none()
            && let Some(open) = self.decisions.get_mut(self.decisions.next() - 1)
        {
            // Today's list, such as one that waited for the store.
            open.set_compared(None);
        }
        self.note_decision(&decision.query, time);
        match decision.chosen {
            Some(_) => self.totals.decided += 1,
            None => self.totals.shown += 1,
        }
        self.next += 1;
        let (most, before) = (self.template.keep, self.too_old(time));
        while let Some(query) = self.decisions.forget(most, before, time, self.template.keep_days) {
            if let Some(query) = self.queries.get_mut(query).filter(|_| self.later.is_empty()) {
                query.forget_before(self.decisions.first);
            }
        }
    }
}

/// The items of a list; one that is unknown is refused.
pub(super) fn places(query: &Query, items: &[Name]) -> Result<Vec<Handle>, Refusal> {
    let unknown = |place| Refusal::unknown_item(&items[place], format!("items[{place}]"));
    let places =
        items.iter().enumerate().map(|(place, item)| query.known(item).ok_or_else(|| unknown(place)));
    places.collect()
}

/// The items of a list that may have been shown.
fn shown_items(query: &Query, items: &[Name]) -> Result<Vec<Handle>, Refusal> {
    let list = places(query, items)?;
    query.learner.check_list(&list).map_err(|error| {
        match list.iter().rposition(|item| error == live::Error::RepeatedItem(*item)) {
            Some(place) => {
                let message = format!("item `{}` is twice in the list", items[place]);
                Refusal::new(409, "repeated_item", message, format!("items[{place}]"))
            }
            None => Refusal::malformed(&error.to_string(), "items"),
        }
    })?;
    Ok(list)
}

/// The items that a choice asks for, and its terms, with items in place of names.
#[derive(Default)]
pub(super) struct Asked {
    handles: Vec<Handle>,
    /// The first thousand names that the query does not know.
    pub(super) unknown: Box<[Name]>,
    values: Vec<(Handle, f64)>,
    pins: Vec<(usize, Handle)>,
}

impl Asked {
    /// Finds the items; one of the terms that is unknown is refused.
    pub(super) fn new(query: &Query, allowed: &AllowedItems) -> Result<Self, Refusal> {
        let (items, is_unknown) = (allowed.named(), |item: &&Name| query.known(item).is_none());
        let mut asked = Self {
            handles: items.iter().filter_map(|item| query.known(item)).collect(),
            unknown: items.iter().filter(is_unknown).take(1_000).cloned().collect(),
            ..Self::default()
        };
        let Some(terms) = allowed.parts().1 else { return Ok(asked) };
        let known =
            |item: &Name, at: String| query.known(item).ok_or_else(|| Refusal::unknown_item(item, at));
        for (item, value) in &terms.values {
            asked.values.push((known(item, format!("values.{item}"))?, *value));
        }
        for (position, item) in &terms.pins {
            let at = format!("pins.{}", position + 1);
            asked.pins.push((usize::from(*position), known(item, at)?));
        }
        Ok(asked)
    }

    pub(super) fn ask<'a>(&'a self, user: &'a Context, choice: &Choice) -> Ask<'a> {
        let (items, terms) = choice.allowed.parts();
        let among = match items {
            AllowedItems::Only(_) => Among::Only(&self.handles),
            AllowedItems::Except(_) => Among::Except(&self.handles),
            _ => Among::All,
        };
        let most = terms.and_then(|terms| terms.most).map(usize::from);
        let positions = choice.positions.map_or(usize::MAX, usize::from);
        Ask { user, among, positions, values: &self.values, most, pins: &self.pins }
    }

    /// Refuses terms that cannot be kept, by what is at fault.
    pub(super) fn check(&self, query: &mut Query, user: &Context, choice: &Choice) -> Result<(), Refusal> {
        let pin = |at: usize| format!("pins.{}", at + 1);
        query.learner.check(&self.ask(user, choice)).map_err(|error| {
            let at = match error {
                live::Error::PinBeyondList { position, .. } => pin(position),
                live::Error::PinnedTwice(item) | live::Error::PinNotAvailable(item) => {
                    let last = self.pins.iter().rfind(|(_, pinned)| *pinned == item);
                    last.map_or_else(|| "pins".into(), |(at, _)| pin(*at))
                }
                live::Error::NoTerms | live::Error::NoValues if !self.values.is_empty() => "values".into(),
                live::Error::NoGroups => "most".into(),
                _ => if self.pins.is_empty() { "most" } else { "pins" }.into(),
            };
            Refusal::of_terms(&error, at)
        })
    }
}
