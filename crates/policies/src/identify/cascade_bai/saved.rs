//! The saved state of a policy.

use super::CascadeBai;
use super::items::{Item, ItemState, Radii};
use super::levels::Levels;
use super::queue::Queue;
use super::settings::{Rival, Settings, ShowOrder};
use super::show_order::SortedKeys;
use crate::Error;
use crate::error::{check_counts, is_permutation};
use crate::setup::restored;
use crate::sort::sort;
use click_models::{ItemId, ListShape};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) has_begun: bool,
    pub(super) rank: Vec<u32>,
    pub(super) observations: Vec<u64>,
    pub(super) clicks: Vec<u64>,
    pub(super) in_question: Vec<ItemId>,
    /// Open displays of every item; empty if there are none.
    #[serde(default)]
    pub(super) open: Vec<u64>,
    pub(super) accepted: Vec<ItemId>,
    pub(super) rejected: Vec<ItemId>,
}

impl CascadeBai {
    pub(super) fn assemble(saved: State) -> Self {
        let State { settings, has_begun, rank, observations, clicks, .. } = saved;
        let State { mut in_question, mut open, accepted, rejected, .. } = saved;
        let n_items = rank.len();
        let is_any_open = !open.is_empty();
        open.resize(n_items, 0);
        let turns = |item: ItemId| observations[item.index()] + open[item.index()];
        sort(&mut in_question, &|&a, &b| turns(a).cmp(&turns(b)));
        let fresh = |(&n, &s)| Item { n, s, quiet_n: 0, quiet_s: 0 };
        let with_room = |mut items: Vec<ItemId>| {
            items.reserve_exact(n_items - items.len());
            items
        };
        let mut policy = Self {
            settings,
            radii: Radii::new(settings.delta, n_items, settings.radius_scale),
            has_begun,
            rank,
            items: observations.iter().zip(&clicks).map(fresh).collect(),
            states: vec![ItemState::default(); n_items],
            queue: Queue::new(in_question, &open, settings.n_shown),
            most_observed: 0,
            accepted: with_room(accepted),
            rejected: with_room(rejected),
            by_mean: SortedKeys::new(n_items),
            levels: Levels::NONE,
            candidates: Vec::with_capacity(n_items),
            list: Vec::with_capacity(settings.n_shown),
            is_listed: vec![false; n_items],
            unobserved: Vec::with_capacity(ListShape::MAX_POSITIONS),
        };
        for item in policy.queue.items() {
            policy.states[item.index()].is_in_question = true;
        }
        if is_any_open || settings.order != ShowOrder::LeastObserved {
            policy.make_line();
        }
        policy.sort();
        policy.begin_quietly();
        policy
    }

    /// The undecided items in order, and the open displays of all items; empty if there are none.
    pub(super) fn saved_queue(&self) -> (Vec<ItemId>, Vec<u64>) {
        self.queue.saved(|item| self.observations(item))
    }

    pub(super) fn saved(&self) -> State {
        let (in_question, open) = self.saved_queue();
        State {
            settings: self.settings,
            has_begun: self.has_begun,
            rank: self.rank.clone(),
            observations: self.items.iter().map(|item| item.n).collect(),
            clicks: self.items.iter().map(|item| item.s).collect(),
            in_question,
            open,
            accepted: self.accepted.clone(),
            rejected: self.rejected.clone(),
        }
    }
}

impl From<CascadeBai> for State {
    fn from(policy: CascadeBai) -> Self {
        policy.saved()
    }
}

impl Clone for CascadeBai {
    /// Saves and restores: a derived clone would leave no spare capacity for `update`.
    fn clone(&self) -> Self {
        Self::assemble(self.saved())
    }
}

restored!(CascadeBai, |saved| {
    let Settings { n_best, n_shown, rival, .. } = saved.settings;
    let n_items = saved.rank.len();
    ListShape::new(n_items, n_best)?;
    let fits = match rival {
        Rival::OfMean => n_shown == n_best,
        Rival::OfBound => [1, n_best].contains(&n_shown),
    };
    let has_open = !saved.open.is_empty();
    if saved.observations.len() != n_items || has_open && saved.open.len() != n_items || !fits {
        return Err(Error::SavedSizes);
    }
    check_counts(0, &saved.observations, &saved.clicks)?;
    if has_open {
        check_counts(0, &saved.open, &vec![0; n_items])?;
    }
    let sets = saved.in_question.iter().chain(&saved.accepted).chain(&saved.rejected);
    if saved.rejected.len() > n_items - n_best || !is_permutation(sets.map(|item| item.index()), n_items) {
        return Err(Error::SavedItems);
    }
    if !is_permutation(saved.rank.iter().map(|&rank| rank as usize), n_items) {
        return Err(Error::SavedItems);
    }
    Ok(Self::assemble(saved))
});
