#![doc = include_str!("../README.md")]

/// Tests the code of the page on live use.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/live.md")]
struct Page;

mod choose;
mod counted;
mod entry;
mod error;
mod for_users;
mod in_order;
mod items;
mod open;
mod prior;
mod saved;
mod window;

pub use counted::Counted;
pub use entry::{Entry, interval};
pub use error::{Error, SavedError};
pub use for_users::LiveFor;
pub use in_order::InOrder;
pub use items::Handle;

use click_models::{ItemId, ItemSet, Ranking};
use error::MOST_POSITIONS;
use items::Items;
use open::OpenDecisions;
use policies::{Decision, Drawing, Draws, Prior, Propensity, SelectAmong, Tallies, Tally};
use prior::Estimator;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::hash::Hash;
use std::marker::PhantomData;
use window::Windows;

/// When a display without a click counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skips {
    /// When the decision is closed.
    #[default]
    AtClose,
    /// At once, and a click corrects it. For deterministic policies whose answers come late; Thompson
    /// sampling regrets more.
    AtOnce,
}

/// The settings of live use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of observations of each item that count, the last ones; by default all.
    pub window: Option<usize>,
    /// The probability with which the last position shows a random available item, uniformly.
    pub explore: f64,
    /// How several lists are drawn, one of which is shown, so that its propensities are known; by
    /// default the policy's list is shown. Excludes `explore`: its epsilon explores.
    #[serde(default)]
    pub propensities: Option<Drawing>,
    /// When a display without a click counts.
    pub skips: Skips,
    /// Whether the prior is estimated, every 5,000 decisions and more often before: the Beta
    /// distribution under which the counts of all items are most probable, retired and forgotten
    /// ones included. For policies that draw from posteriors.
    pub estimate_prior: bool,
    /// The most decisions that can be answered: the last ones.
    pub keep_open: usize,
    /// The most retired items that are kept; beyond, the one that retired first is forgotten.
    pub keep_retired: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: None,
            explore: 0.0,
            propensities: None,
            skips: Skips::default(),
            estimate_prior: false,
            keep_open: 1_000_000,
            keep_retired: 100_000,
        }
    }
}

impl Settings {
    fn check(self) -> Result<Self, Error> {
        match self {
            Self { window: Some(0), .. } => Err(Error::EmptyWindow),
            Self { keep_open: 0, .. } => Err(Error::NothingOpen),
            Self { explore, .. } if !(0.0..=1.0).contains(&explore) => Err(Error::Exploration(explore)),
            Self { explore, propensities: Some(_), .. } if explore > 0.0 => Err(Error::ExploresTwice),
            _ => Ok(self),
        }
    }
}

/// The items that a list may have.
#[derive(Debug, Clone, Copy)]
pub enum Among<'a> {
    /// All present ones.
    All,
    /// These, if they are present.
    Only(&'a [Handle]),
    /// All present ones but these.
    Except(&'a [Handle]),
}

/// What an answer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Taken {
    /// It was new, and counts as far as its protocol and the catalogue tell.
    Counted,
    /// It was known.
    Repeated,
    /// No open decision has this name: it was never made, or is too old.
    Unknown,
    /// The list does not have this position.
    NoSuchPosition,
    /// The decision was closed, and its policy, a [`LiveFor`], has learned from it as it was then.
    Closed,
}

/// A policy in live use. `I` is the protocol by which answers are read, `D` the client's name of a
/// decision.
///
/// An answer may come late, twice or never, and in any order: the table of the policy is determined
/// by the clicks and the end of each decision, whatever came first. See the example of the crate.
#[derive(Debug, Clone)]
pub struct Live<I, P, D = u64> {
    policy: P,
    settings: Settings,
    items: Items,
    windows: Option<Windows>,
    open: OpenDecisions<D>,
    estimator: Option<Estimator>,
    decision: Decision<Ranking>,
    draws: Draws,
    available: ItemSet,
    protocol: PhantomData<fn() -> I>,
}

impl<I, P, D> Live<I, P, D>
where
    I: Counted,
    P: SelectAmong<Ranking, Note = ()> + Tallies,
    D: Clone + Eq + Hash,
{
    /// A policy all of whose items are present.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or does not fit the policy.
    pub fn new(policy: P, settings: Settings) -> Result<Self, Error> {
        Self::with_items(policy, settings, true)
    }

    /// A policy whose items are yet to come: its table has places for the first ones.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn empty(mut policy: P, settings: Settings) -> Result<Self, Error> {
        for item in 0..policy.n_items() {
            policy.set_present(ItemId::from_index(item), false);
        }
        Self::with_items(policy, settings, false)
    }

    fn with_items(mut policy: P, settings: Settings, present: bool) -> Result<Self, Error> {
        let settings = settings.check()?;
        let n_items = policy.n_items();
        if settings.estimate_prior && policy.bayesian().is_none() {
            return Err(Error::NoPrior);
        }
        Ok(Self {
            items: Items::new(n_items, present),
            windows: settings.window.map(|most| Windows::new(most, n_items)),
            open: OpenDecisions::new(settings.keep_open),
            estimator: settings.estimate_prior.then(Estimator::default),
            decision: Decision::default(),
            draws: Draws::default(),
            available: ItemSet::none(n_items),
            policy,
            settings,
            protocol: PhantomData,
        })
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The prior now, if the policy draws from posteriors.
    pub fn prior(&mut self) -> Option<Prior> {
        self.policy.bayesian().map(|policy| policy.prior())
    }

    /// The settings.
    pub fn settings(&self) -> Settings {
        self.settings
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

    /// Displays and clicks of an item that count, at the position `kind` if the policy counts
    /// positions apart ([`Tallies::n_kinds`]). Nothing for an item that was forgotten.
    pub fn tally(&self, item: Handle, kind: usize) -> Tally {
        if self.items.is_known(item) { self.policy.tally(item.slot, kind) } else { Tally::default() }
    }

    /// The table: displays and clicks of every item, present and retired, that count; by position if
    /// the policy counts positions apart.
    pub fn table(&self) -> impl Iterator<Item = Entry> + '_ {
        let kinds = 0..self.policy.n_kinds();
        self.items().flat_map(move |item| {
            kinds.clone().map(move |kind| Entry { item, kind, tally: self.policy.tally(item.slot, kind) })
        })
    }

    /// Adds displays and clicks of before, such as those of a log. They belong to no window. Whether
    /// the item is known.
    pub fn begin_with(&mut self, item: Handle, kind: usize, tally: Tally) -> bool {
        let is_known = self.items.is_known(item);
        if is_known {
            self.policy.add(item.slot, kind, tally);
        }
        is_known
    }

    /// Adds an item. Takes the place of a forgotten one if there is one; otherwise allocates, in
    /// constant amortised time.
    pub fn add_item(&mut self) -> Handle {
        if let Some(item) = self.items.take_free() {
            self.policy.set_present(item.slot, true);
            return item;
        }
        let item = self.items.push();
        self.policy.add_item();
        self.available.grow(self.items.len());
        if let Some(windows) = &mut self.windows {
            windows.push();
        }
        item
    }

    /// Takes an item out of the catalogue; what is known of it stays. Whether it was present.
    pub fn retire(&mut self, item: Handle) -> bool {
        let was_present = self.items.retire(item);
        if was_present {
            self.policy.set_present(item.slot, false);
            while let Some(first) = self.items.beyond(self.settings.keep_retired) {
                self.clear(first);
            }
        }
        was_present
    }

    /// Brings a retired item back. Whether it was retired.
    pub fn bring_back(&mut self, item: Handle) -> bool {
        let was_retired = self.items.bring_back(item);
        if was_retired {
            self.policy.set_present(item.slot, true);
        }
        was_retired
    }

    /// Forgets a retired item: its place is free for another. Whether it was retired.
    pub fn forget(&mut self, item: Handle) -> bool {
        let was_retired = self.items.is_known(item) && !self.items.is_present(item);
        if was_retired {
            self.clear(item);
        }
        was_retired
    }

    fn clear(&mut self, item: Handle) {
        if !self.items.forget(item) {
            return;
        }
        if let Some(estimator) = &mut self.estimator {
            estimator.forget(&mut self.policy, item.slot);
        }
        for kind in 0..self.policy.n_kinds() {
            let tally = self.policy.tally(item.slot, kind);
            self.policy.take_back(item.slot, kind, tally);
        }
        if let Some(windows) = &mut self.windows {
            windows.clear(item.slot);
        }
    }

    /// Decides on a list, from the top; empty if no item may be shown. An open decision of this name
    /// is returned as it is.
    pub fn decide<R: Rng + ?Sized>(&mut self, id: &D, among: Among<'_>, rng: &mut R) -> &[Handle] {
        self.decide_top(id, among, usize::MAX, rng)
    }

    /// Decides on a list of which at most the first `positions` are shown.
    pub fn decide_top<R: Rng + ?Sized>(
        &mut self,
        id: &D,
        among: Among<'_>,
        positions: usize,
        rng: &mut R,
    ) -> &[Handle] {
        let place = self.open.find(id).unwrap_or_else(|| {
            self.select(among, positions, rng);
            let place = self.open.add(id);
            let (items, list) = (&self.items, self.decision.action.iter());
            let shown = self.open.at_mut(place);
            shown.reset(list.map(|item| items.handle(item)), self.windows.is_some());
            shown.set_propensities(self.draws.propensities());
            self.count(place);
            self.decided();
            place
        });
        &self.open.at(place).list
    }

    /// Repeats a decision of before: the policy and the generator move on as in
    /// [`Live::decide_top`], and the list is the one that was shown then. Whether it is also the one
    /// that is chosen now: if not, its propensities are not known.
    ///
    /// # Errors
    ///
    /// As [`Live::show`]. The policy has chosen, but nothing was shown.
    pub fn decide_again<R: Rng + ?Sized>(
        &mut self,
        id: &D,
        among: Among<'_>,
        positions: usize,
        shown: &[Handle],
        rng: &mut R,
    ) -> Result<bool, Error> {
        if self.open.find(id).is_some() {
            return Ok(true);
        }
        self.select(among, positions, rng);
        self.check_list(shown)?;
        let chosen = self.decision.action.iter().map(|item| self.items.handle(item));
        let is_same = chosen.eq(shown.iter().copied());
        let place = self.add_shown(id, shown);
        if is_same {
            self.open.at_mut(place).set_propensities(self.draws.propensities());
        }
        Ok(is_same)
    }

    /// Lets the policy choose a list, in `decision`.
    fn select<R: Rng + ?Sized>(&mut self, among: Among<'_>, positions: usize, rng: &mut R) {
        let available = self.items.available(among, &mut self.available);
        let select = |policy: &mut P, rng: &mut R, out: &mut _| policy.select_among(available, rng, out);
        let memory = (&mut self.draws, &mut self.decision);
        choose::choose(&self.settings, available, positions, (&mut self.policy, rng), memory, select);
    }

    /// The propensities of an open decision, position by position, if [`Settings::propensities`] asks
    /// for them; none of a list that was shown without being asked for.
    pub fn propensities(&self, id: &D) -> Option<&[Propensity]> {
        self.open.find(id).map(|place| &*self.open.at(place).propensities)
    }

    /// Takes a list that was shown without being asked for, such as one of another server. Nothing
    /// is selected, but a round passes. [`Taken::Repeated`] if a decision of this name is open.
    ///
    /// # Errors
    ///
    /// An item is unknown or repeated, or there are too many positions. Nothing changes then.
    pub fn show(&mut self, id: &D, list: &[Handle]) -> Result<Taken, Error> {
        self.check_list(list)?;
        if self.open.find(id).is_some() {
            return Ok(Taken::Repeated);
        }
        self.policy.pass_round();
        self.add_shown(id, list);
        Ok(Taken::Counted)
    }

    fn check_list(&self, list: &[Handle]) -> Result<(), Error> {
        let kinds = self.policy.n_kinds();
        self.items.check_list(list, if kinds > 1 { kinds } else { MOST_POSITIONS })
    }

    fn add_shown(&mut self, id: &D, list: &[Handle]) -> usize {
        let place = self.open.add(id);
        self.open.at_mut(place).reset(list.iter().copied(), self.windows.is_some());
        self.count(place);
        self.decided();
        place
    }

    fn decided(&mut self) {
        if let Some(estimator) = &mut self.estimator {
            estimator.decided(&mut self.policy);
        }
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

    /// Takes a click on a position, from 0.
    pub fn click(&mut self, id: &D, position: usize) -> Taken {
        let Some(place) = self.open.find(id) else { return Taken::Unknown };
        let shown = self.open.at_mut(place);
        if position >= shown.list.len() {
            return Taken::NoSuchPosition;
        }
        if shown.clicks.get(position) {
            return Taken::Repeated;
        }
        shown.clicks = shown.clicks.with(position);
        self.count(place);
        Taken::Counted
    }

    /// Closes a decision: of its list, the first `seen` positions were seen, by default all; 0 if it
    /// was not shown. If it is closed more than once, the largest number counts. Clicks that come
    /// later still count.
    pub fn close(&mut self, id: &D, seen: Option<usize>) -> Taken {
        let Some(place) = self.open.find(id) else { return Taken::Unknown };
        let shown = self.open.at_mut(place);
        let end = seen.unwrap_or(usize::MAX).min(shown.list.len());
        if shown.end.is_some_and(|before| before >= end) {
            return Taken::Repeated;
        }
        shown.end = Some(end);
        self.count(place);
        Taken::Counted
    }

    /// Makes the table contain what is known of a decision, whatever it contained before.
    fn count(&mut self, place: usize) {
        let shown = self.open.at_mut(place);
        let assumed = (self.settings.skips == Skips::AtOnce).then_some(shown.list.len());
        let observed = I::observed(shown.clicks, shown.end.or(assumed));
        let as_clicks = observed & shown.clicks.bits();
        for position in 0..shown.list.len() {
            let item = shown.list[position];
            let bit = |bits: u64| bits >> position & 1 == 1;
            let was = bit(shown.counted).then(|| bit(shown.as_clicks));
            let is = bit(observed).then(|| bit(as_clicks));
            if was == is || !self.items.is_known(item) {
                continue;
            }
            let kind = if self.policy.n_kinds() > 1 { position } else { 0 };
            let tally = |clicked: bool| Tally { shows: 1, clicks: u64::from(clicked) };
            // An observation that has left its window is in the table no more.
            let is_in_table = match (&mut self.windows, was, is) {
                (None, ..) => true,
                (Some(windows), None, Some(clicked)) => {
                    let (number, leaving) = windows.add(item.slot, kind, clicked);
                    shown.numbers[position] = number;
                    if let Some((kind, tally)) = leaving {
                        self.policy.take_back(item.slot, kind, tally);
                    }
                    true
                }
                (Some(windows), Some(_), Some(clicked)) => {
                    windows.correct(item.slot, shown.numbers[position], kind, clicked)
                }
                (Some(windows), _, None) => windows.withdraw(item.slot, shown.numbers[position]),
            };
            if is_in_table {
                if let Some(clicked) = was {
                    self.policy.take_back(item.slot, kind, tally(clicked));
                }
                if let Some(clicked) = is {
                    self.policy.add(item.slot, kind, tally(clicked));
                }
            }
        }
        (shown.counted, shown.as_clicks) = (observed, as_clicks);
    }
}
