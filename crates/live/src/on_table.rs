//! Live use of a policy with a table.

use crate::error::MOST_POSITIONS;
use crate::groups::{Beside, Groups};
use crate::items::{Items, SavedItems};
use crate::observation_rule::first;
use crate::open::{OpenDecisions, ShownList};
use crate::prior::Estimator;
use crate::window::{BEFORE, Windows};
use crate::{
    Error, Handle, ItemValues, Keeps, Learns, LiveUse, ObservationRule, SavedError, Settings, Skips,
};
use click_models::{Context, ItemId, Ranking};
use policies::{Prior, SelectAmongFor, SelectFor, Tallies, Tally};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;

/// A policy in live use. `I` is the protocol by which answers are read, `D` the client's name of a
/// decision.
///
/// An answer may come late, twice or never, and in any order: the table of the policy is determined
/// by the clicks and the end of each decision, whatever came first. See the example of the crate.
pub type Live<I, P, D = u64> = LiveUse<I, OnTable<P>, D>;

/// A policy with a table, and what corrects the table.
#[derive(Debug, Clone)]
pub struct OnTable<P> {
    policy: P,
    windows: Option<Windows>,
    estimator: Option<Estimator>,
}

impl<I, P, D> Live<I, P, D>
where
    I: ObservationRule,
    P: SelectAmongFor<Ranking> + Tallies,
    D: Clone + Eq + Hash,
{
    /// Adds an item. Takes the place of a forgotten one if there is one; otherwise allocates, in
    /// constant amortised time.
    pub fn add_item(&mut self) -> Handle {
        self.learner.add(self.items.first_free());
        self.add_place()
    }
}

impl<P: Tallies> OnTable<P> {
    /// Gives an item a place that is free, or a new one.
    fn add(&mut self, free: Option<ItemId>) {
        if let Some(item) = free {
            self.policy.set_present(item, true);
        } else {
            self.policy.add_item();
            if let Some(windows) = &mut self.windows {
                windows.push();
            }
        }
    }
}

/// Bits of the positions that a policy counts: lists of an earlier policy may be longer.
fn counted_positions(policy: &impl Tallies) -> u64 {
    let kinds = policy.n_kinds();
    first(if kinds > 1 { kinds } else { MOST_POSITIONS })
}

impl<P: SelectFor<Ranking>> Keeps for OnTable<P> {
    type Open = ShownList;
    type Note = P::Note;
}

impl<I: ObservationRule, P: SelectAmongFor<Ranking> + Tallies> Learns<I> for OnTable<P> {
    type Policy = P;
    const CORRECTS: bool = true;

    fn of(policy: P) -> Self {
        Self { policy, windows: None, estimator: None }
    }

    fn set_settings(
        &mut self,
        settings: &Settings,
        open: &mut dyn Iterator<Item = &mut ShownList>,
    ) -> Result<(), Error> {
        if settings.estimate_prior && self.policy.bayesian().is_none() {
            return Err(Error::NoPrior);
        }
        self.estimator = settings.estimate_prior.then(|| self.estimator.take().unwrap_or_default());
        match (&mut self.windows, settings.window) {
            (None, None) => {}
            (None, Some(most)) => {
                self.windows = Some(Windows::new(most, self.policy.n_items()));
                open.for_each(|shown| shown.numbers = vec![BEFORE; shown.list.len()].into());
            }
            (Some(windows), Some(most)) => {
                for (item, kind, tally) in windows.set_most(most) {
                    self.policy.take_back(item, kind, tally);
                }
            }
            (Some(windows), None) => {
                for shown in open {
                    let numbers = std::mem::take(&mut shown.numbers);
                    for ((position, item), number) in shown.list.iter().enumerate().zip(numbers) {
                        if !windows.has(item.slot, number) {
                            shown.counted &= !(1 << position);
                        }
                    }
                    shown.as_clicks &= shown.counted;
                }
                self.windows = None;
            }
        }
        Ok(())
    }

    fn set_policy(
        &mut self,
        mut policy: P,
        items: &Items,
        open: &mut dyn Iterator<Item = &mut ShownList>,
        needs_values: bool,
    ) -> Result<(), Error> {
        if needs_values && policy.valued().is_none() {
            return Err(Error::NoValues);
        }
        let (kinds, before) = (policy.n_kinds(), self.policy.n_kinds());
        if (kinds > 1) != (before > 1) {
            return Err(Error::OtherCounts);
        }
        while policy.n_items() < items.len() {
            policy.add_item();
        }
        for slot in (0..policy.n_items()).map(ItemId::from_index) {
            for kind in (0..kinds.min(before)).filter(|_| slot.index() < items.len()) {
                policy.add(slot, kind, self.policy.tally(slot, kind));
            }
            policy.set_present(slot, items.present().contains(slot));
        }
        let counted = counted_positions(&policy);
        for shown in open {
            shown.counted &= counted;
            shown.as_clicks &= counted;
        }
        if let Some(windows) = &mut self.windows {
            windows.set_kinds(kinds);
            (items.len()..policy.n_items()).for_each(|_| windows.push());
        }
        self.policy = policy;
        Ok(())
    }

    fn policy(&self) -> &P {
        &self.policy
    }

    fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    fn table(policy: &mut P) -> Option<&mut dyn Tallies> {
        Some(policy)
    }

    fn prior(&mut self) -> Option<Prior> {
        self.policy.bayesian().map(|policy| policy.prior())
    }

    fn n_items(&self) -> usize {
        self.policy.n_items()
    }

    fn n_kinds(&self) -> usize {
        self.policy.n_kinds()
    }

    fn tally(&self, item: ItemId, kind: usize) -> Tally {
        self.policy.tally(item, kind)
    }

    fn begin_with(&mut self, item: ItemId, kind: usize, tally: Tally) -> bool {
        self.policy.add(item, kind, tally);
        true
    }

    fn set_present(&mut self, item: ItemId, present: bool) {
        self.policy.set_present(item, present);
    }

    fn add_item(&mut self, free: Option<ItemId>, _: &[f64]) -> Result<(), policies::Error> {
        self.add(free);
        Ok(())
    }

    fn clear(&mut self, item: ItemId) {
        if let Some(estimator) = &mut self.estimator {
            estimator.forget(&mut self.policy, item);
        }
        for kind in 0..self.policy.n_kinds() {
            let tally = self.policy.tally(item, kind);
            self.policy.take_back(item, kind, tally);
        }
        if let Some(windows) = &mut self.windows {
            windows.clear(item);
        }
    }

    fn pass_round(&mut self) {
        self.policy.pass_round_for();
    }

    fn begin(&self, open: &mut ShownList, _: &Context, list: impl ExactSizeIterator<Item = Handle>) {
        open.reset(list, self.windows.is_some());
    }

    fn decided(&mut self) {
        if let Some(estimator) = &mut self.estimator
            && estimator.count()
        {
            estimator.estimate(&mut self.policy);
        }
    }

    /// Makes the table contain what is known of a decision, whatever it contained before.
    fn learn(&mut self, settings: &Settings, items: &Items, shown: &mut ShownList) {
        let assumed = (settings.skips == Skips::AtOnce).then_some(shown.list.len());
        let observed = I::observed(shown.clicks, shown.end().or(assumed)) & counted_positions(&self.policy);
        let as_clicks = observed & shown.clicks.bits();
        for position in 0..shown.list.len() {
            let item = shown.list[position];
            let bit = |bits: u64| bits >> position & 1 == 1;
            let was = bit(shown.counted).then(|| bit(shown.as_clicks));
            let is = bit(observed).then(|| bit(as_clicks));
            if was == is || !items.is_known(item) {
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

#[derive(Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    bound(serialize = "W: Serialize, O: Serialize, E: Serialize + Copy, P: Serialize")
)]
struct State<W, O, E, P> {
    settings: Settings,
    items: SavedItems,
    windows: Option<W>,
    /// The oldest first.
    open: Vec<O>,
    /// With values and groups, if there are any.
    estimator: Beside<E>,
    policy: P,
}

impl<I, P, D> Serialize for Live<I, P, D>
where
    P: SelectFor<Ranking> + Serialize,
    D: Clone + Eq + Hash + Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OnTable { policy, windows, estimator } = &self.learner;
        let lists = self.open.in_order().enumerate();
        let earned =
            lists.flat_map(|(place, (_, shown))| shown.earned().map(move |(at, one)| (place, at, one)));
        let worth = self.groups.to_save(earned.collect());
        State {
            settings: self.settings,
            items: SavedItems::from(&self.items),
            windows: windows.as_ref(),
            open: self.open.in_order().collect::<Vec<&(D, ShownList)>>(),
            estimator: Beside { estimator: estimator.as_ref(), worth },
            policy,
        }
        .serialize(serializer)
    }
}

impl<I, P, D> TryFrom<State<Windows, (D, ShownList), Estimator, P>> for Live<I, P, D>
where
    I: ObservationRule,
    P: SelectAmongFor<Ranking> + Tallies,
    D: Clone + Eq + Hash,
{
    type Error = SavedError;

    fn try_from(saved: State<Windows, (D, ShownList), Estimator, P>) -> Result<Self, SavedError> {
        let State { settings, items, windows, mut open, estimator, mut policy } = saved;
        let Beside { estimator, worth: saved } = estimator;
        let values = policy.valued().map_or(ItemValues::Told, |valued| valued.values().source());
        let settings = Settings { values, ..settings }.check().map_err(|_| SavedError::Settings)?;
        let items = items.check(policy.n_items())?;
        match (&windows, settings.window) {
            (None, None) => {}
            (Some(windows), Some(most)) => {
                windows.check(most, items.len(), |item, kind| policy.tally(item, kind))?;
            }
            _ => return Err(SavedError::Window),
        }
        match &estimator {
            None if !settings.estimate_prior => {}
            Some(estimator) if settings.estimate_prior && policy.bayesian().is_some() => estimator.check()?,
            _ => return Err(SavedError::Prior),
        }
        let is_place = |item: Handle| item.slot.index() < items.len();
        let is_sound = |shown: &ShownList| shown.is_sound(windows.is_some(), is_place);
        if !open.iter().all(|(_, shown)| is_sound(shown)) {
            return Err(SavedError::Decision);
        }
        let groups = saved.as_ref().map(|saved| {
            saved.give(|place, at, earned| {
                open.get_mut(place).is_some_and(|(_, list)| list.give(at, earned))
            })?;
            Groups::restore(saved, items.len())
        });
        let groups = groups.transpose()?.unwrap_or_default();
        let open = OpenDecisions::restore(open, settings.keep_open, is_sound)?;
        for slot in (0..items.len()).map(ItemId::from_index) {
            policy.set_present(slot, items.present().contains(slot));
        }
        let mut live = Self::with_parts(OnTable { policy, windows, estimator }, settings, items, open);
        live.groups = groups;
        Ok(live)
    }
}

impl<'de, I, P, D> Deserialize<'de> for Live<I, P, D>
where
    I: ObservationRule,
    P: SelectAmongFor<Ranking> + Tallies + Deserialize<'de>,
    D: Clone + Eq + Hash + Deserialize<'de>,
{
    fn deserialize<E: Deserializer<'de>>(deserializer: E) -> Result<Self, E::Error> {
        Self::try_from(State::deserialize(deserializer)?).map_err(E::Error::custom)
    }
}
