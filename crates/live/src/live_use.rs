//! The common part of policies in live use.

use crate::groups::{Earned, Groups};
use crate::items::Items;
use crate::open::{OpenDecision as _, OpenDecisions};
use crate::{
    Among, Ask, Entry, Error, Handle, ItemValues, Keeps, Learns, ObservationRule, Orders, Settings, Taken,
    choose,
};
use click_models::{Context, ItemId, ItemSet, Ranking};
use policies::{
    Decision, Draws, Prior, Propensity, SelectAmongFor as _, Tallies, Tally, Terms, Valued, check_value,
};
use rand::Rng;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

/// A policy in live use: a [`Live`](crate::Live), or a [`LiveFor`](crate::LiveFor) users who
/// differ. Code for both gives every decision a user, whom a `Live` does not see, and every item
/// its features. `I` is the protocol by which answers are read, `D` the client's name of a
/// decision.
///
/// An answer may come late, twice or never, and in any order. See the example of the crate.
#[derive(Debug, Clone)]
pub struct LiveUse<I, L: Keeps, D = u64> {
    pub(crate) learner: L,
    pub(crate) settings: Settings,
    pub(crate) items: Items,
    pub(crate) open: OpenDecisions<D, L::Open>,
    pub(crate) groups: Groups,
    decision: Decision<Ranking, L::Note>,
    draws: Draws<L::Note>,
    available: ItemSet,
    protocol: PhantomData<fn() -> I>,
}

impl<I, L: Keeps, D> LiveUse<I, L, D> {
    pub(crate) fn with_parts(
        learner: L,
        settings: Settings,
        items: Items,
        open: OpenDecisions<D, L::Open>,
    ) -> Self {
        Self {
            available: ItemSet::none(items.len()),
            learner,
            settings,
            items,
            open,
            groups: Groups::default(),
            decision: Decision::default(),
            draws: Draws::default(),
            protocol: PhantomData,
        }
    }
}

impl<I, L, D> LiveUse<I, L, D>
where
    I: ObservationRule,
    L: Learns<I>,
    D: Clone + Eq + Hash,
{
    /// A policy all of whose items are present.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or does not fit the policy.
    pub fn new(policy: L::Policy, settings: Settings) -> Result<Self, Error> {
        Self::with_items(policy, settings, true)
    }

    /// A policy whose items are yet to come: it has places for the first ones.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn empty(policy: L::Policy, settings: Settings) -> Result<Self, Error> {
        Self::with_items(policy, settings, false)
    }

    pub(crate) fn with_items(policy: L::Policy, settings: Settings, present: bool) -> Result<Self, Error> {
        let mut learner = L::of(policy);
        learner.set_settings(&settings.check()?, &mut std::iter::empty())?;
        set_source(&mut learner, settings.values)?;
        let n_items = learner.n_items();
        if !present {
            (0..n_items).for_each(|item| learner.set_present(ItemId::from_index(item), false));
        }
        let open = OpenDecisions::new(settings.keep_open);
        Ok(Self::with_parts(learner, settings, Items::new(n_items, present), open))
    }

    /// The policy.
    pub fn policy(&self) -> &L::Policy {
        self.learner.policy()
    }

    /// The prior of attractions now, if the policy draws from posteriors of them.
    pub fn prior(&mut self) -> Option<Prior> {
        self.learner.prior()
    }

    /// The settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Takes other settings. What is counted stays: a window that is new counts what comes, beside
    /// what counts already; a smaller one lets the oldest observations go; and without one, those
    /// that left stay away. Values that were told before those of answers do not come back after
    /// them: all are 1 until they are told again.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or does not fit the policy. Nothing changes then.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), Error> {
        if settings.check()?.values != ItemValues::Told {
            valued(&mut self.learner)?;
        }
        self.learner.set_settings(&settings, &mut self.open.states_mut())?;
        set_source(&mut self.learner, settings.values)?;
        self.settings = settings;
        // The propensities of the last list are not those of the next one.
        self.draws = Draws::default();
        self.open.set_most(settings.keep_open);
        while let Some(first) = self.items.beyond(settings.keep_retired) {
            self.forget(first);
        }
        Ok(())
    }

    /// Takes another policy, which begins with the present one's displays and clicks, and with as
    /// many places. Positions beyond those of its lists count no more.
    ///
    /// # Errors
    ///
    /// [`Error::OtherCounts`] for policies that learn from whole answers, and if one of the two
    /// counts positions apart and the other does not; [`Error::NoValues`] if items have values, and
    /// the other policy knows none. Nothing changes then.
    pub fn set_policy(&mut self, policy: L::Policy) -> Result<(), Error> {
        let values = valued(&mut self.learner).map(|valued| valued.values().clone()).unwrap_or_default();
        self.learner.set_policy(policy, &self.items, &mut self.open.states_mut(), !values.are_none())?;
        if let Ok(valued) = valued(&mut self.learner) {
            valued.change_values(&mut |of_policy, n_items| of_policy.take_over(&values, n_items));
        }
        self.items.grow(self.learner.n_items());
        self.available.grow(self.items.len());
        Ok(())
    }

    /// The items, present and retired, by place.
    pub fn items(&self) -> impl Iterator<Item = Handle> + '_ {
        self.items.iter()
    }

    /// Whether an item is present or retired.
    pub fn is_known(&self, item: Handle) -> bool {
        self.items.is_known(item)
    }

    /// Whether an item is present: neither retired nor forgotten.
    pub fn is_present(&self, item: Handle) -> bool {
        self.items.is_present(item)
    }

    /// The table: displays and clicks of every item, present and retired, that count; by position
    /// if the policy counts positions apart.
    pub fn table(&self) -> impl Iterator<Item = Entry> + '_ {
        self.items().flat_map(|item| self.entries(item))
    }

    /// The lines of an item in the table: one, or one for each position. They are empty for an item
    /// that was forgotten.
    pub fn entries(&self, item: Handle) -> impl Iterator<Item = Entry> + '_ {
        (0..self.learner.n_kinds()).map(move |kind| Entry { item, kind, tally: self.tally(item, kind) })
    }

    /// Displays and clicks of an item that count, at the position `kind` if the policy counts
    /// positions apart. Nothing for an item that was forgotten.
    pub fn tally(&self, item: Handle, kind: usize) -> Tally {
        if self.items.is_known(item) { self.learner.tally(item.slot, kind) } else { Tally::default() }
    }

    /// Adds earlier displays and clicks, such as those of a log, which belong to no window. Returns
    /// false if the item is unknown or the policy has no table.
    pub fn begin_with(&mut self, item: Handle, kind: usize, tally: Tally) -> bool {
        self.items.is_known(item) && self.learner.begin_with(item.slot, kind, tally)
    }

    /// Whether an item has these features, as far as the policy knows features.
    pub fn has_features(&mut self, item: Handle, features: &[f64]) -> bool {
        self.learner.has_features(item.slot, features)
    }

    /// The value of a click on an item, as it is for the next choice; 1 if the policy knows none.
    pub fn value(&mut self, item: Handle) -> f64 {
        valued(&mut self.learner).map_or(1.0, |valued| valued.values().value(item.slot))
    }

    /// Refuses what cannot be the value of an item that is told, or else of a click.
    ///
    /// # Errors
    ///
    /// As [`set_value`](Self::set_value).
    pub fn check_value(&mut self, value: f64, is_told: bool) -> Result<(), Error> {
        check_value(value).map_err(|_| Error::Value(value))?;
        valued(&mut self.learner)?;
        let is_refused = is_told && self.settings.values != ItemValues::Told;
        if is_refused { Err(Error::ValuesOfAnswers) } else { Ok(()) }
    }

    /// Tells the value of a click on an item: the policy's lists are those that earn most by what
    /// it has learned. Returns false if the item is unknown. An item that is new has the value 1.
    ///
    /// # Errors
    ///
    /// [`Error::Value`], [`Error::NoValues`], and [`Error::ValuesOfAnswers`] if the settings ask
    /// for those. Nothing changes then.
    pub fn set_value(&mut self, item: Handle, value: f64) -> Result<bool, Error> {
        self.check_value(value, true)?;
        let is_known = self.items.is_known(item);
        if is_known {
            valued(&mut self.learner)?.set_values(&[(item.slot, value)]).map_err(|_| Error::Value(value))?;
        }
        Ok(is_known)
    }

    /// The clicks on an item that answers gave a value.
    pub fn orders(&mut self, item: Handle) -> Orders {
        let valued = valued(&mut self.learner).ok().filter(|_| self.items.is_known(item));
        valued.map_or_else(Orders::default, |valued| valued.values().orders(item.slot))
    }

    /// The group of an item, if it has one.
    pub fn group(&self, item: Handle) -> Option<&str> {
        self.groups.name(item.slot).filter(|_| self.items.is_known(item))
    }

    /// Sets the group of an item. Returns false if the item is unknown.
    ///
    /// # Errors
    ///
    /// [`Error::NoTerms`]. Nothing changes then.
    pub fn set_group(&mut self, item: Handle, group: Option<&str>) -> Result<bool, Error> {
        L::table(self.learner.policy_mut()).ok_or(Error::NoTerms)?;
        let is_known = self.items.is_known(item);
        if is_known {
            self.groups.set(item.slot, group);
        }
        Ok(is_known)
    }

    /// Refuses what cannot be the value of a click.
    ///
    /// # Errors
    ///
    /// As [`earned`](Self::earned).
    pub fn check_earned(
        &mut self,
        id: &D,
        position: usize,
        value: f64,
        revision: Option<u64>,
    ) -> Result<(), Error> {
        self.check_value(value, false)?;
        let shown = self.open.find(id).map(|place| self.open.at(place).shown());
        match shown.filter(|shown| position < shown.list.len()) {
            Some(shown) if !shown.clicks.get(position) => Err(Error::NoClick(position)),
            Some(shown) if revision.is_none() && shown.revision(position).is_some() => {
                Err(Error::NoRevision(position))
            }
            _ => Ok(()),
        }
    }

    /// Takes the value of a click, such as that of the order that it led to, also after the end of
    /// the decision. It replaces the one before: without a `revision` the later one holds; with
    /// revisions the one of the largest, and of equal ones the larger value.
    ///
    /// # Errors
    ///
    /// [`Error::Value`], [`Error::NoValues`], [`Error::NoClick`] if the position has no click, and
    /// [`Error::NoRevision`] after a value with a revision: it is not known which one holds. Nothing
    /// changes then.
    pub fn earned(
        &mut self,
        id: &D,
        position: usize,
        value: f64,
        revision: Option<u64>,
    ) -> Result<Taken, Error> {
        self.check_earned(id, position, value, revision)?;
        let Some(place) = self.open.find(id) else { return Ok(Taken::Unknown) };
        let shown = self.open.at_mut(place).shown_mut();
        if position >= shown.list.len() {
            return Ok(Taken::NoSuchPosition);
        }
        let before = shown.earned.get(position).copied().flatten();
        let now = Earned::after(before, value, revision);
        if before == Some(now) {
            return Ok(Taken::Repeated);
        }
        let item = shown.list[position];
        _ = shown.give(position, now);
        if self.items.is_known(item) {
            let before = before.map(|earned| earned.value);
            valued(&mut self.learner)?
                .change_values(&mut |values, n_items| values.earn(item.slot, before, now.value, n_items));
        }
        Ok(Taken::Counted)
    }

    /// Adds an item with these features. Takes the place of a forgotten one if there is one;
    /// otherwise allocates, in constant amortised time.
    ///
    /// # Errors
    ///
    /// For a policy that sees who asks, as [`policies::FeaturedItems::add_item`]. Nothing changes
    /// then.
    pub fn add_item_with(&mut self, features: &[f64]) -> Result<Handle, policies::Error> {
        self.learner.add_item(self.items.first_free(), features)?;
        Ok(self.add_place())
    }

    /// The place of an item to which the policy has given one.
    pub(crate) fn add_place(&mut self) -> Handle {
        self.items.take_free().unwrap_or_else(|| {
            self.available.grow(self.items.len() + 1);
            self.items.push()
        })
    }

    /// Takes an item out of the catalogue; what is known of it stays. Returns whether it was
    /// present.
    pub fn retire(&mut self, item: Handle) -> bool {
        let was_present = self.items.retire(item);
        if was_present {
            self.learner.set_present(item.slot, false);
            while let Some(first) = self.items.beyond(self.settings.keep_retired) {
                self.forget(first);
            }
        }
        was_present
    }

    /// Brings a retired item back. Returns whether it was retired.
    pub fn bring_back(&mut self, item: Handle) -> bool {
        let was_retired = self.items.bring_back(item);
        if was_retired {
            self.learner.set_present(item.slot, true);
        }
        was_retired
    }

    /// Forgets a retired item: its place is free for another. Returns whether it was
    /// retired.
    pub fn forget(&mut self, item: Handle) -> bool {
        let was_retired = self.items.forget(item);
        if was_retired {
            self.learner.clear(item.slot);
            self.groups.set(item.slot, None);
            if let Ok(valued) = valued(&mut self.learner) {
                valued.change_values(&mut |values, n_items| values.forget(item.slot, n_items));
            }
        }
        was_retired
    }

    /// Decides on a list, from the top; empty if no item may be shown. An open decision of this
    /// name is returned as it is.
    pub fn decide<'a, R: Rng + ?Sized>(&mut self, id: &D, ask: impl Into<Ask<'a>>, rng: &mut R) -> &[Handle] {
        let place = self.open.find(id).unwrap_or_else(|| {
            let ask = ask.into();
            self.select(&ask, rng);
            let place = self.open.add(id);
            let open = self.open.at_mut(place);
            let list = self.decision.action.iter().map(|item| self.items.handle(item));
            self.learner.begin(open, ask.user, list);
            open.shown_mut().set_propensities(self.draws.propensities());
            self.learner.learn(&self.settings, &self.items, open);
            self.learner.decided();
            place
        });
        &self.open.at(place).shown().list
    }

    /// Draws a list as [`decide`](Self::decide) does, with its propensities, and opens no decision:
    /// nothing is learned of it, unless it is [shown](Self::show) later.
    pub fn draw<R: Rng + ?Sized>(&mut self, ask: Ask<'_>, rng: &mut R) -> (Vec<Handle>, Vec<Propensity>) {
        self.select(&ask, rng);
        let list: Vec<Handle> = self.decision.action.iter().map(|item| self.items.handle(item)).collect();
        let propensities = self.draws.propensities().iter().take(list.len()).copied();
        (list, propensities.collect())
    }

    /// Repeats an earlier decision: the policy and the generator move on as in
    /// [`decide`](Self::decide), and the list is the one that was shown then. Whether it is
    /// also the one that is chosen now: if not, its propensities are not known.
    ///
    /// # Errors
    ///
    /// As [`show`](Self::show). The policy has chosen, but nothing was shown.
    pub fn decide_again<R: Rng + ?Sized>(
        &mut self,
        id: &D,
        ask: Ask<'_>,
        shown: &[Handle],
        rng: &mut R,
    ) -> Result<bool, Error> {
        if self.open.find(id).is_some() {
            return Ok(true);
        }
        self.select(&ask, rng);
        self.check_list(shown)?;
        let chosen = self.decision.action.iter().map(|item| self.items.handle(item));
        let is_same = chosen.eq(shown.iter().copied());
        let place = self.add_shown(id, ask.user, shown);
        if is_same {
            self.open.at_mut(place).shown_mut().set_propensities(self.draws.propensities());
        }
        Ok(is_same)
    }

    /// Refuses values of the moment, a limit of groups, or pins that cannot be kept. Nothing
    /// changes; a choice is made without those that are refused here.
    ///
    /// # Errors
    ///
    /// A value is none or of an unknown item, or the policy has no values; `most` is 0 or no item
    /// has a group; a pin is twice, not available or beyond the list; or there are propensities.
    pub fn check(&mut self, ask: &Ask<'_>) -> Result<(), Error> {
        let &Ask { among, positions, values, most, pins, .. } = ask;
        if values.is_empty() && most.is_none() && pins.is_empty() {
            return Ok(());
        }
        let n_positions = L::table(self.learner.policy_mut()).ok_or(Error::NoTerms)?.n_positions();
        if !values.is_empty() {
            valued(&mut self.learner)?;
        }
        let mut named = BTreeSet::new();
        for &(item, value) in values {
            check_value(value).map_err(|_| Error::Value(value))?;
            if !self.items.is_known(item) {
                return Err(Error::UnknownItem(item));
            }
            if !named.insert(item) {
                return Err(Error::RepeatedItem(item));
            }
        }
        match most {
            Some(0) => return Err(Error::NoneOfAGroup),
            Some(_) if !self.groups.has_any() => return Err(Error::NoGroups),
            _ => {}
        }
        if self.settings.propensities.is_some() && (most.is_some() || !pins.is_empty()) {
            return Err(Error::TermsAndPropensities);
        }
        let positions = positions.min(n_positions);
        for (place, &(position, item)) in pins.iter().enumerate() {
            let is_allowed = match among {
                Among::All => true,
                Among::Only(items) => items.contains(&item),
                Among::Except(items) => !items.contains(&item),
            };
            if position >= positions {
                return Err(Error::PinBeyondList { position, positions });
            }
            if !is_allowed || !self.items.is_present(item) {
                return Err(Error::PinNotAvailable(item));
            }
            if pins[..place].iter().any(|&(at, other)| at == position || other == item) {
                return Err(Error::PinnedTwice(item));
            }
        }
        Ok(())
    }

    /// The terms of a choice, if it has any.
    fn terms(&mut self, ask: &Ask<'_>) -> Option<Terms> {
        let &Ask { positions, values, most, pins, .. } = ask;
        let table = L::table(self.learner.policy_mut())?;
        let n_positions = table.n_positions();
        let positions = positions.min(n_positions) - pins.len();
        let is_short = |table: &mut dyn Tallies| table.valued().is_some_and(|of| !of.values().are_none());
        let has_terms = !values.is_empty() || most.is_some() || !pins.is_empty();
        if !has_terms && (positions == n_positions || !is_short(table)) {
            return None;
        }
        Some(Terms {
            values: values.iter().map(|&(item, value)| (item.slot, value)).collect(),
            positions: Some(positions),
            most,
            groups: Arc::clone(&self.groups.of),
            taken: pins.iter().map(|(_, item)| self.groups.number(item.slot)).collect(),
        })
    }

    /// Lets the policy choose a list, in `decision`.
    fn select<R: Rng + ?Sized>(&mut self, ask: &Ask<'_>, rng: &mut R) {
        let without = Ask { values: &[], most: None, pins: &[], ..*ask };
        let ask = if self.check(ask).is_ok() { ask } else { &without };
        let terms = self.terms(ask);
        if let (Some(terms), Some(table)) = (&terms, L::table(self.learner.policy_mut())) {
            table.set_terms(Some(Box::new(terms.clone())));
        }
        let &Ask { user, among, positions, pins, .. } = ask;
        let available = self.items.available(among, pins, &mut self.available);
        let pins: Vec<_> = pins.iter().map(|&(position, item)| (position, item.slot)).collect();
        let select = |policy: &mut L::Policy, rng: &mut R, out: &mut Decision<Ranking, L::Note>| {
            policy.select_among_for(user, available, rng, out);
            if let Some(table) = L::table(policy) {
                choose::arrange(&mut out.action, &pins, positions, table);
            }
        };
        let (free, terms) = ((positions, &*pins), terms.as_ref());
        let memory = (&mut self.draws, &mut self.decision);
        let policy = self.learner.policy_mut();
        choose::choose(&self.settings, available, free, (policy, rng), memory, terms, select);
        self.items.reveal();
        if let Some(table) = L::table(self.learner.policy_mut()).filter(|_| terms.is_some()) {
            table.set_terms(None);
        }
    }

    /// The propensities of an open decision, position by position, if [`Settings::propensities`]
    /// asks for them; none of a list that was shown without being asked for.
    pub fn propensities(&self, id: &D) -> Option<&[Propensity]> {
        self.open.find(id).map(|place| &*self.open.at(place).shown().propensities)
    }

    /// Takes a list that was shown to a user without being asked for, such as one of another
    /// server. Nothing is selected, but a round passes. [`Taken::Repeated`] if a decision of this
    /// name is open.
    ///
    /// # Errors
    ///
    /// An item is unknown or repeated, or there are too many positions. Nothing changes then.
    pub fn show(&mut self, id: &D, user: &Context, list: &[Handle]) -> Result<Taken, Error> {
        self.check_list(list)?;
        if self.open.find(id).is_some() {
            return Ok(Taken::Repeated);
        }
        self.learner.pass_round();
        self.add_shown(id, user, list);
        Ok(Taken::Counted)
    }

    /// Refuses what cannot have been shown.
    ///
    /// # Errors
    ///
    /// As [`show`](Self::show).
    pub fn check_list(&self, list: &[Handle]) -> Result<(), Error> {
        let kinds = self.learner.n_kinds();
        self.items.check_list(list, if kinds > 1 { kinds } else { crate::error::MOST_POSITIONS })
    }

    fn add_shown(&mut self, id: &D, context: &Context, list: &[Handle]) -> usize {
        let place = self.open.add(id);
        let open = self.open.at_mut(place);
        self.learner.begin(open, context, list.iter().copied());
        self.learner.learn(&self.settings, &self.items, open);
        self.learner.decided();
        place
    }

    /// The list that the policy chose last, whether or not it was shown.
    pub fn chosen(&self) -> impl Iterator<Item = Handle> + '_ {
        self.decision.action.iter().map(|item| self.items.handle(item))
    }

    /// The open decision that is oldest.
    pub fn oldest(&self) -> Option<&D> {
        self.open.in_order().next().map(|(id, _)| id)
    }

    /// Forgets the open decision that is oldest: what is counted stays, and later answers to it are
    /// [`Taken::Unknown`].
    pub fn forget_oldest(&mut self) -> Option<D> {
        self.open.remove_oldest().map(|(id, _)| id)
    }

    /// Takes a click on a position, from 0. In a [`LiveFor`](crate::LiveFor) it counts when the
    /// decision is closed.
    pub fn click(&mut self, id: &D, position: usize) -> Taken {
        let Some(place) = self.open.find(id) else { return Taken::Unknown };
        let open = self.open.at_mut(place);
        let shown = open.shown_mut();
        if position >= shown.list.len() {
            return Taken::NoSuchPosition;
        }
        if shown.clicks.get(position) {
            return Taken::Repeated;
        }
        if shown.end.is_some() && !L::CORRECTS {
            return Taken::Closed;
        }
        shown.clicks = shown.clicks.with(position);
        self.learner.learn(&self.settings, &self.items, open);
        Taken::Counted
    }

    /// Closes a decision: of its list, the first `seen` positions were seen, by default all; 0 if
    /// it was not shown. If a [`Live`](crate::Live) is closed more than once, the largest number
    /// counts, and clicks that come later still count. A [`LiveFor`](crate::LiveFor) learns now; a
    /// click below those positions tells that more were seen.
    pub fn close(&mut self, id: &D, seen: Option<usize>) -> Taken {
        let Some(place) = self.open.find(id) else { return Taken::Unknown };
        let open = self.open.at_mut(place);
        let shown = open.shown_mut();
        let end = seen.unwrap_or(usize::MAX).min(shown.list.len());
        let end = u8::try_from(end).unwrap_or(u8::MAX);
        match shown.end {
            Some(before) if before >= end => return Taken::Repeated,
            Some(_) if !L::CORRECTS => return Taken::Closed,
            _ => shown.end = Some(end),
        }
        self.learner.learn(&self.settings, &self.items, open);
        Taken::Counted
    }
}

/// The policy, if it has values of items.
fn valued<I: ObservationRule, L: Learns<I>>(learner: &mut L) -> Result<&mut dyn Valued, Error> {
    L::table(learner.policy_mut()).and_then(|table| table.valued()).ok_or(Error::NoValues)
}

fn set_source<I: ObservationRule, L: Learns<I>>(learner: &mut L, source: ItemValues) -> Result<(), Error> {
    match valued(learner) {
        Err(_) if source == ItemValues::Told => {}
        valued => valued?.change_values(&mut |values, n_items| values.set_source(source, n_items)),
    }
    Ok(())
}
