//! Live use of a policy that sees who asks for a list.

use crate::choose::choose;
use crate::error::MOST_POSITIONS;
use crate::items::{Items, SavedItems};
use crate::open::{OpenDecisions, Shown};
use crate::{Among, Counted, Error, Handle, SavedError, Settings, Skips, Taken};
use click_models::{Context, ItemId, ItemSet, ListProtocol, Ranking};
use policies::{Decision, Draws, FeaturedItems, Propensity, SelectAmongFor, Tally, UpdateFor};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;
use std::marker::PhantomData;

/// A policy in live use that sees who asks, such as `hybrid-ts`. `I` is the protocol by which answers
/// are read, `D` the client's name of a decision.
///
/// The policy learns from the whole answer to a decision, with its context, when the decision is
/// closed. A posterior cannot be taken back from, so what comes later is [`Taken::Closed`] and
/// changes nothing, and the settings `window`, `skips` and `estimate_prior` of a
/// [`Live`](crate::Live) are refused. Answers that come twice count once; decisions that are never
/// closed teach nothing. Of an item that is forgotten, what its answers told of the coefficients of
/// all items stays.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, Context, ContextKnown, ListShape};
/// use live::{Among, LiveFor, Settings, Taken};
/// use policies::{HybridSettings, HybridTs};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// // Users have one feature, items two; a list has two positions.
/// let known = ContextKnown::new(2, &[0.0; 4])?.with_user_features(1);
/// let policy = HybridTs::new(ListShape::new(2, 2)?, known, HybridSettings::default())?;
/// let mut live = LiveFor::<Cascade, _>::empty(policy, Settings::default())?;
/// for features in [[0.3, 1.0], [-0.2, 0.0], [0.5, 0.5]] {
///     live.add_item(&features)?;
/// }
/// let user = Context { segment: 0, features: vec![0.7] };
/// let list = live.decide(&17, &user, Among::All, rng).to_vec();
/// assert_eq!(live.decide(&17, &user, Among::All, rng), list);
/// assert_eq!(live.click(&17, 1), Taken::Counted);
/// assert_eq!(live.tally(list[0]).shows, 0);
/// assert_eq!(live.close(&17, None), Taken::Counted);
/// assert_eq!([live.tally(list[0]).shows, live.tally(list[1]).clicks], [1, 1]);
/// assert_eq!(live.click(&17, 0), Taken::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LiveFor<I, P, D = u64> {
    policy: P,
    settings: Settings,
    items: Items,
    /// Displays and clicks that the policy has learned from, by place.
    tallies: Vec<Tally>,
    open: OpenDecisions<D, Asked>,
    decision: Decision<Ranking, Context>,
    draws: Draws<Context>,
    available: ItemSet,
    protocol: PhantomData<fn() -> I>,
}

/// In place of an item that was forgotten: policies ignore an item that they do not have.
const NONE: ItemId = ItemId::new(u32::MAX);

/// A list that was shown to a user.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    shown: Shown,
    context: Context,
}

impl Asked {
    /// Begins with a list, in the memory of an old one.
    fn reset(&mut self, context: &Context, list: impl Iterator<Item = Handle>) {
        self.shown.reset(list, false);
        self.context.clone_from(context);
        // Policies read them so, and a saved state has numbers only.
        let odd = self.context.features.iter_mut().filter(|feature| !feature.is_finite());
        odd.for_each(|feature| *feature = 0.0);
    }
}

fn check(settings: Settings) -> Result<Settings, Error> {
    match settings {
        Settings { window: Some(_), .. } => Err(Error::NoTable("window")),
        Settings { skips: Skips::AtOnce, .. } => Err(Error::NoTable("skips")),
        Settings { estimate_prior: true, .. } => Err(Error::NoTable("estimate_prior")),
        settings => settings.check(),
    }
}

impl<I, P, D> LiveFor<I, P, D>
where
    I: Counted + ListProtocol,
    P: SelectAmongFor<Ranking, Note = Context> + UpdateFor<Ranking, I::Feedback> + FeaturedItems,
    D: Clone + Eq + Hash,
{
    /// A policy all of whose items are present.
    ///
    /// # Errors
    ///
    /// A setting is out of range, or needs a table.
    pub fn new(policy: P, settings: Settings) -> Result<Self, Error> {
        Self::with_items(policy, settings, true)
    }

    /// A policy whose items are yet to come: it has places for the first ones.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn empty(policy: P, settings: Settings) -> Result<Self, Error> {
        Self::with_items(policy, settings, false)
    }

    fn with_items(policy: P, settings: Settings, present: bool) -> Result<Self, Error> {
        let (settings, n_items) = (check(settings)?, policy.n_items());
        Ok(Self {
            policy,
            settings,
            items: Items::new(n_items, present),
            tallies: vec![Tally::default(); n_items],
            open: OpenDecisions::new(settings.keep_open),
            decision: Decision::default(),
            draws: Draws::default(),
            available: ItemSet::none(n_items),
            protocol: PhantomData,
        })
    }

    /// The policy, which has learned from the decisions that are closed.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The items, present and retired, by place.
    pub fn items(&self) -> impl Iterator<Item = Handle> + '_ {
        self.items.iter()
    }

    /// As [`Live::is_known`](crate::Live::is_known).
    pub fn is_known(&self, item: Handle) -> bool {
        self.items.is_known(item)
    }

    /// As [`Live::is_present`](crate::Live::is_present).
    pub fn is_present(&self, item: Handle) -> bool {
        self.items.is_present(item)
    }

    /// Displays and clicks of an item that the policy has learned from. Nothing for an item that was
    /// forgotten.
    pub fn tally(&self, item: Handle) -> Tally {
        if self.items.is_known(item) { self.tallies[item.slot.index()] } else { Tally::default() }
    }

    /// Adds an item with these features. Takes the place of a forgotten one if there is one;
    /// otherwise allocates, in constant amortised time.
    ///
    /// # Errors
    ///
    /// As [`FeaturedItems::add_item`]. Nothing changes then.
    pub fn add_item(&mut self, features: &[f64]) -> Result<Handle, policies::Error> {
        match self.items.first_free() {
            Some(slot) => self.policy.replace_item(slot, features)?,
            None => _ = self.policy.add_item(features)?,
        }
        if let Some(item) = self.items.take_free() {
            return Ok(item);
        }
        self.tallies.push(Tally::default());
        let item = self.items.push();
        self.available.grow(self.items.len());
        Ok(item)
    }

    /// As [`Live::retire`](crate::Live::retire).
    pub fn retire(&mut self, item: Handle) -> bool {
        let was_present = self.items.retire(item);
        while let Some(first) = self.items.beyond(self.settings.keep_retired) {
            self.clear(first);
        }
        was_present
    }

    /// As [`Live::bring_back`](crate::Live::bring_back).
    pub fn bring_back(&mut self, item: Handle) -> bool {
        self.items.bring_back(item)
    }

    /// As [`Live::forget`](crate::Live::forget).
    pub fn forget(&mut self, item: Handle) -> bool {
        let was_retired = self.items.is_known(item) && !self.items.is_present(item);
        if was_retired {
            self.clear(item);
        }
        was_retired
    }

    fn clear(&mut self, item: Handle) {
        if self.items.forget(item) {
            self.tallies[item.slot.index()] = Tally::default();
            let nothing = vec![0.0; self.policy.n_item_features()];
            self.policy.replace_item(item.slot, &nothing).expect("as many features as items have");
        }
    }

    /// Decides on a list for a user, from the top; empty if no item may be shown. An open decision of
    /// this name is returned as it is.
    pub fn decide<R: Rng + ?Sized>(
        &mut self,
        id: &D,
        context: &Context,
        among: Among<'_>,
        rng: &mut R,
    ) -> &[Handle] {
        self.decide_top(id, context, among, usize::MAX, rng)
    }

    /// Decides on a list of which at most the first `positions` are shown.
    pub fn decide_top<R: Rng + ?Sized>(
        &mut self,
        id: &D,
        context: &Context,
        among: Among<'_>,
        positions: usize,
        rng: &mut R,
    ) -> &[Handle] {
        let place = self.open.find(id).unwrap_or_else(|| {
            self.select(context, among, positions, rng);
            let place = self.open.add(id);
            let asked = self.open.at_mut(place);
            asked.reset(context, self.decision.action.iter().map(|item| self.items.handle(item)));
            asked.shown.set_propensities(self.draws.propensities());
            place
        });
        &self.open.at(place).shown.list
    }

    /// As [`Live::decide_again`](crate::Live::decide_again).
    ///
    /// # Errors
    ///
    /// As [`LiveFor::show`]. The policy has chosen, but nothing was shown.
    pub fn decide_again<R: Rng + ?Sized>(
        &mut self,
        id: &D,
        context: &Context,
        among: Among<'_>,
        positions: usize,
        shown: &[Handle],
        rng: &mut R,
    ) -> Result<bool, Error> {
        if self.open.find(id).is_some() {
            return Ok(true);
        }
        self.select(context, among, positions, rng);
        let chosen = self.decision.action.iter().map(|item| self.items.handle(item));
        let is_same = chosen.eq(shown.iter().copied());
        _ = self.show(id, context, shown)?;
        if is_same && let Some(place) = self.open.find(id) {
            self.open.at_mut(place).shown.set_propensities(self.draws.propensities());
        }
        Ok(is_same)
    }

    /// Lets the policy choose a list, in `decision`.
    fn select<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        among: Among<'_>,
        positions: usize,
        rng: &mut R,
    ) {
        let available = self.items.available(among, &mut self.available);
        let select = |policy: &mut P, rng: &mut R, out: &mut Decision<Ranking, Context>| {
            policy.select_among_for(context, available, rng, out);
        };
        let memory = (&mut self.draws, &mut self.decision);
        choose(&self.settings, available, positions, (&mut self.policy, rng), memory, select);
    }

    /// As [`Live::propensities`](crate::Live::propensities).
    pub fn propensities(&self, id: &D) -> Option<&[Propensity]> {
        self.open.find(id).map(|place| &*self.open.at(place).shown.propensities)
    }

    /// Takes a list that was shown to a user without being asked for, such as one of another server.
    /// [`Taken::Repeated`] if a decision of this name is open.
    ///
    /// # Errors
    ///
    /// An item is unknown or repeated, or there are too many positions. Nothing changes then.
    pub fn show(&mut self, id: &D, context: &Context, list: &[Handle]) -> Result<Taken, Error> {
        self.items.check_list(list, MOST_POSITIONS)?;
        if self.open.find(id).is_some() {
            return Ok(Taken::Repeated);
        }
        let place = self.open.add(id);
        self.open.at_mut(place).reset(context, list.iter().copied());
        Ok(Taken::Counted)
    }

    /// The open decision that is oldest.
    pub fn oldest(&self) -> Option<&D> {
        self.open.in_order().next().map(|(id, _)| id)
    }

    /// Forgets the open decision that is oldest: later answers to it are [`Taken::Unknown`].
    pub fn forget_oldest(&mut self) -> Option<D> {
        self.open.remove_oldest().map(|(id, _)| id)
    }

    /// Takes a click on a position, from 0. It counts when the decision is closed.
    pub fn click(&mut self, id: &D, position: usize) -> Taken {
        let Some(place) = self.open.find(id) else { return Taken::Unknown };
        let shown = &mut self.open.at_mut(place).shown;
        match shown.end {
            _ if position >= shown.list.len() => Taken::NoSuchPosition,
            _ if shown.clicks.get(position) => Taken::Repeated,
            Some(_) => Taken::Closed,
            None => {
                shown.clicks = shown.clicks.with(position);
                Taken::Counted
            }
        }
    }

    /// Closes a decision, and learns from it: of its list, the first `seen` positions were seen, by
    /// default all; 0 if it was not shown. A click below them tells that more were seen.
    pub fn close(&mut self, id: &D, seen: Option<usize>) -> Taken {
        let Some(place) = self.open.find(id) else { return Taken::Unknown };
        let shown = &mut self.open.at_mut(place).shown;
        let end = seen.unwrap_or(usize::MAX).min(shown.list.len());
        match shown.end {
            Some(before) if before >= end => return Taken::Repeated,
            Some(_) => return Taken::Closed,
            None => shown.end = Some(end),
        }
        self.learn(place, end);
        Taken::Counted
    }

    fn learn(&mut self, place: usize, end: usize) {
        let Asked { shown, context } = self.open.at(place);
        let seen = end.max((u64::BITS - shown.clicks.bits().leading_zeros()) as usize);
        if seen == 0 {
            return;
        }
        let list = self.decision.action.positions_mut(seen);
        let observed = I::observed(shown.clicks, Some(seen));
        for (position, (slot, &item)) in list.iter_mut().zip(&shown.list).enumerate() {
            *slot = if self.items.is_known(item) { item.slot } else { NONE };
            if observed >> position & 1 == 1
                && let Some(tally) = self.tallies.get_mut(slot.index())
            {
                tally.shows += 1;
                tally.clicks += u64::from(shown.clicks.get(position));
            }
        }
        self.decision.note.clone_from(context);
        self.policy.update_for(&self.decision, &I::read(shown.clicks, seen));
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<P, O> {
    settings: Settings,
    items: SavedItems,
    tallies: Vec<Tally>,
    /// The oldest first.
    open: Vec<O>,
    policy: P,
}

impl<I, P: Serialize, D: Clone + Eq + Hash + Serialize> Serialize for LiveFor<I, P, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved {
            settings: self.settings,
            items: SavedItems::from(&self.items),
            tallies: self.tallies.clone(),
            open: self.open.in_order().collect::<Vec<&(D, Asked)>>(),
            policy: &self.policy,
        }
        .serialize(serializer)
    }
}

impl<'de, I, P, D> Deserialize<'de> for LiveFor<I, P, D>
where
    P: FeaturedItems + Deserialize<'de>,
    D: Clone + Eq + Hash + Deserialize<'de>,
{
    fn deserialize<E: Deserializer<'de>>(deserializer: E) -> Result<Self, E::Error> {
        let Saved { settings, items, tallies, open, policy } =
            Saved::<P, (D, Asked)>::deserialize(deserializer)?;
        let settings = check(settings).map_err(|_| E::Error::custom(SavedError::Settings))?;
        let items = Items::try_from(items).map_err(E::Error::custom)?;
        let n_items = policy.n_items();
        if items.len() != n_items {
            return Err(E::Error::custom(SavedError::Items));
        }
        let is_possible = |tally: &Tally| tally.clicks <= tally.shows && tally.shows < u64::MAX / 2;
        if tallies.len() != n_items || !tallies.iter().all(is_possible) {
            return Err(E::Error::custom(SavedError::Tallies));
        }
        let is_sound = |Asked { shown, context }: &Asked| {
            shown.is_sound(false, |item| item.slot.index() < n_items)
                && context.features.iter().all(|feature| feature.is_finite())
        };
        let open = OpenDecisions::restore(open, settings.keep_open, is_sound).map_err(E::Error::custom)?;
        Ok(Self {
            policy,
            settings,
            items,
            tallies,
            open,
            decision: Decision::default(),
            draws: Draws::default(),
            available: ItemSet::none(n_items),
            protocol: PhantomData,
        })
    }
}
