//! The common part of policies in live use.

use crate::items::Items;
use crate::open::{OpenDecision as _, OpenDecisions};
use crate::{Ask, Entry, Error, Handle, Keeps, Learns, ObservationRule, Settings, Taken, choose};
use click_models::{Context, ItemId, ItemSet, Ranking};
use policies::{Decision, Draws, Prior, Propensity, SelectAmongFor as _, Tally};
use rand::Rng;
use std::hash::Hash;
use std::marker::PhantomData;

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
        let mut learner = L::with_settings(policy, settings.check()?)?;
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
    /// that left stay away.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or does not fit the policy. Nothing changes then.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), Error> {
        self.learner.set_settings(&settings.check()?, &mut self.open.states_mut())?;
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
    /// counts positions apart and the other does not. Nothing changes then.
    pub fn set_policy(&mut self, policy: L::Policy) -> Result<(), Error> {
        self.learner.set_policy(policy, &self.items, &mut self.open.states_mut())?;
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

    /// Lets the policy choose a list, in `decision`.
    fn select<R: Rng + ?Sized>(&mut self, &Ask { user, among, positions }: &Ask<'_>, rng: &mut R) {
        let available = self.items.available(among, &mut self.available);
        let select = |policy: &mut L::Policy, rng: &mut R, out: &mut Decision<Ranking, L::Note>| {
            policy.select_among_for(user, available, rng, out);
        };
        let memory = (&mut self.draws, &mut self.decision);
        let policy = self.learner.policy_mut();
        choose::choose(&self.settings, available, positions, (policy, rng), memory, select);
        self.items.reveal();
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

    fn check_list(&self, list: &[Handle]) -> Result<(), Error> {
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
