//! The items of a replication, round by round: which there are, which may be shown, and how
//! attractive they are.
//!
//! Everything here depends on the replication alone, so all policies meet the same catalogue.

use super::conditions::{Conditions, Drift, geometric};
use crate::{SimRng, Streams};
use click_models::{ItemId, ItemSet, Ranking, WithAttraction};
use confidence::Probability;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most replaced items that may return.
const MOST_REPLACED: usize = 10_000;

/// One item in the place of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// The item that leaves.
    pub leaves: ItemId,
    /// The earlier item that has left for good, and whose place is free.
    pub forgotten: Option<ItemId>,
    /// The item that comes.
    pub comes: Newcomer,
}

/// An item that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newcomer {
    /// A new item, at this place: the one that became free last, or the next one after all.
    New(ItemId),
    /// An item that was there before.
    Again(ItemId),
}

/// The part of the catalogue that a saved replication needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Items {
    /// By place, without the wave.
    attraction: Vec<f64>,
    /// The phase of each wave, as a part of it.
    phases: Vec<f64>,
    is_present: Vec<bool>,
    is_available: Vec<bool>,
    /// Replaced items, the first one first.
    replaced: VecDeque<u32>,
    free: Vec<u32>,
    /// Chances of items to be replaced, one an item and a round, before the next one is.
    until_replaced: u64,
    availability: SimRng,
    changes: SimRng,
}

pub(super) struct Catalogue<'a, M> {
    conditions: Conditions,
    /// The users at the beginning.
    first: &'a M,
    of_instance: Vec<f64>,
    /// The users in this round. Absent items attract nobody.
    pub(super) users: M,
    pub(super) items: Items,
    /// Present and available.
    available: ItemSet,
    /// Items in decreasing order of attraction, if they change.
    order: Vec<u32>,
    best: f64,
    replacements: Vec<Replacement>,
}

impl<'a, M: WithAttraction> Catalogue<'a, M> {
    pub(super) fn new(conditions: Conditions, first: &'a M, streams: Streams, replication: u64) -> Self {
        let attraction: Vec<f64> = first.attraction().iter().map(|attraction| attraction.get()).collect();
        let n_items = attraction.len();
        let mut items = Items {
            attraction,
            phases: Vec::new(),
            is_present: vec![true; n_items],
            is_available: vec![true; n_items],
            replaced: VecDeque::new(),
            free: Vec::new(),
            until_replaced: 0,
            availability: streams.availability(replication),
            changes: streams.changes(replication),
        };
        if let Some(Drift::Waves { .. }) = conditions.drift {
            items.phases = (0..n_items).map(|_| items.changes.random()).collect();
        }
        if let Some(churn) = conditions.churn {
            items.until_replaced = geometric(churn.rate, &mut items.changes);
        }
        Self::with_items(conditions, first, items, 0).expect("the items of the instance")
    }

    /// The catalogue of a saved replication after `rounds`; `None` if it cannot be its own.
    pub(super) fn with_items(
        conditions: Conditions,
        first: &'a M,
        items: Items,
        rounds: u64,
    ) -> Option<Self> {
        let of_instance: Vec<f64> = first.attraction().iter().map(|attraction| attraction.get()).collect();
        let n_items = items.attraction.len();
        let has_waves = matches!(conditions.drift, Some(Drift::Waves { .. }));
        let lengths = [items.is_present.len(), items.is_available.len()];
        let places = items.replaced.iter().chain(&items.free);
        let is_sound = lengths == [n_items; 2]
            && items.is_present.iter().filter(|present| **present).count() == of_instance.len()
            && items.phases.len() == if has_waves { n_items } else { 0 }
            && items.attraction.iter().chain(&items.phases).all(|number| (0.0..=1.0).contains(number))
            && places.clone().all(|&place| items.is_present.get(place as usize) == Some(&false))
            && places.count() == items.is_present.iter().filter(|present| !**present).count()
            && items.replaced.len() <= MOST_REPLACED;
        if !is_sound {
            return None;
        }
        let mut catalogue = Self {
            conditions,
            first,
            of_instance,
            users: first.clone(),
            available: ItemSet::none(n_items),
            items,
            order: Vec::new(),
            best: 0.0,
            replacements: Vec::new(),
        };
        catalogue.attractions_changed(rounds);
        catalogue.availability_changed();
        Some(catalogue)
    }

    /// Begins a round, counted from 1: returns the items that were replaced before it.
    pub(super) fn begin(&mut self, round: u64) -> &[Replacement] {
        self.replacements.clear();
        let has_jumped = round > 1 && (self.replace() | self.jump(round));
        let is_waving = matches!(self.conditions.drift, Some(Drift::Waves { .. }));
        if has_jumped || is_waving {
            self.attractions_changed(round);
        }
        let is_drawn = self.draw_availability(round);
        if has_jumped || is_waving || is_drawn {
            self.availability_changed();
        }
        &self.replacements
    }

    /// Replaces items. Returns whether any was replaced.
    fn replace(&mut self) -> bool {
        let Some(churn) = self.conditions.churn.filter(|churn| churn.rate > 0.0) else { return false };
        let Items {
            attraction,
            phases,
            is_present,
            is_available,
            replaced,
            free,
            until_replaced,
            changes,
            ..
        } = &mut self.items;
        let n_present = self.of_instance.len() as u64;
        if *until_replaced >= n_present {
            *until_replaced -= n_present;
            return false;
        }
        // Those that are there at the beginning of the round, whatever comes.
        let present: Vec<u32> =
            (0..).zip(&*is_present).filter(|(_, is)| **is).map(|(item, _)| item).collect();
        let mut chance = *until_replaced;
        while chance < n_present {
            // Only a damaged state has fewer.
            let Some(&leaves) = usize::try_from(chance).ok().and_then(|chance| present.get(chance)) else {
                break;
            };
            is_present[leaves as usize] = false;
            let returns = !replaced.is_empty() && changes.random::<f64>() < churn.returning;
            let again = if returns { replaced.remove(changes.random_range(0..replaced.len())) } else { None };
            let mut forgotten = None;
            if churn.returning > 0.0 {
                replaced.push_back(leaves);
                forgotten = if replaced.len() > MOST_REPLACED { replaced.pop_front() } else { None };
                free.extend(forgotten);
            } else {
                free.push(leaves);
                forgotten = forgotten.or(Some(leaves));
            }
            let comes = again.unwrap_or_else(|| {
                let place = free.pop().unwrap_or_else(|| {
                    attraction.push(0.0);
                    is_present.push(false);
                    is_available.push(true);
                    if !phases.is_empty() {
                        phases.push(0.0);
                    }
                    u32::try_from(attraction.len() - 1).expect("fewer items than numbers of items")
                });
                attraction[place as usize] = churn.prior.draw(&self.of_instance, changes);
                if let Some(phase) = phases.get_mut(place as usize) {
                    *phase = changes.random();
                }
                place
            });
            is_present[comes as usize] = true;
            let item = ItemId::new;
            self.replacements.push(Replacement {
                leaves: item(leaves),
                forgotten: forgotten.map(item),
                comes: if again.is_some() {
                    Newcomer::Again(item(comes))
                } else {
                    Newcomer::New(item(comes))
                },
            });
            chance = chance.saturating_add(1).saturating_add(geometric(churn.rate, changes));
        }
        *until_replaced = chance.saturating_sub(n_present);
        true
    }

    /// Changes attractions at once. Returns whether they changed.
    fn jump(&mut self, round: u64) -> bool {
        let Some(Drift::Jumps { jumps, share, prior }) = self.conditions.drift else { return false };
        if !(round - 1).is_multiple_of(jumps) {
            return false;
        }
        let Items { attraction, is_present, changes, .. } = &mut self.items;
        let mut present: Vec<usize> = (0..attraction.len()).filter(|&item| is_present[item]).collect();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the number of items"
        )]
        let n_changed = (share * present.len() as f64).round() as usize;
        for place in 0..n_changed.min(present.len()) {
            let other = changes.random_range(place..present.len());
            present.swap(place, other);
            attraction[present[place]] = prior.draw(&self.of_instance, changes);
        }
        true
    }

    /// Draws the items that may be shown, at the beginning of a block. Returns whether they were
    /// drawn.
    fn draw_availability(&mut self, round: u64) -> bool {
        let Some(availability) = self.conditions.availability else { return false };
        let is_drawn = (round - 1).is_multiple_of(availability.rounds);
        if is_drawn {
            for is_available in &mut self.items.is_available {
                *is_available = self.items.availability.random::<f64>() < availability.share;
            }
        }
        is_drawn
    }

    fn attractions_changed(&mut self, round: u64) {
        let Items { attraction, phases, is_present, .. } = &self.items;
        let wave = match self.conditions.drift {
            Some(Drift::Waves { waves, height }) => Some(((round % waves) as f64 / waves as f64, height)),
            _ => None,
        };
        let now: Vec<Probability> = (0..attraction.len())
            .map(|item| {
                let mut now = attraction[item];
                if let Some((part, height)) = wave.filter(|_| now > 0.0 && now < 1.0) {
                    let wave = height * libm::sin(std::f64::consts::TAU * (part + phases[item]));
                    now = 1.0 / (1.0 + (1.0 - now) / now * libm::exp(-wave));
                }
                Probability::new(if is_present[item] { now } else { 0.0 }).unwrap_or(Probability::ZERO)
            })
            .collect();
        if self.conditions.items_change() {
            self.order = (0..).take(now.len()).collect();
            self.order.sort_by(|&one, &other| {
                let attraction = |item: u32| now[item as usize].get();
                attraction(other).total_cmp(&attraction(one))
            });
        }
        self.users = self.first.with_attraction(now).expect("as many items as positions");
    }

    fn availability_changed(&mut self) {
        let Items { is_present, is_available, .. } = &self.items;
        self.available.clear();
        self.available.grow(is_present.len());
        for item in (0..is_present.len()).filter(|&item| is_present[item] && is_available[item]) {
            self.available.insert(ItemId::from_index(item));
        }
        self.best = self.best_reward();
    }

    /// The mean reward of the best list of items that may be shown.
    fn best_reward(&self) -> f64 {
        if !self.conditions.items_change() {
            return self.users.optimal_reward();
        }
        let n_positions = self.n_positions().min(self.available.len());
        if n_positions == 0 {
            return 0.0;
        }
        let may_be_shown = |item: &&u32| self.available.contains(ItemId::new(**item));
        // A best list has the most attractive and the least attractive items, under every model.
        let attraction = |item: &u32| self.users.attraction()[*item as usize];
        let top = self.order.iter().filter(may_be_shown).take(n_positions).map(attraction);
        let n_bottom = n_positions.min(self.available.len() - n_positions);
        let bottom = self.order.iter().rev().filter(may_be_shown).take(n_bottom).map(attraction);
        let best = self.first.restricted(top.chain(bottom).collect(), n_positions);
        best.expect("as many items as positions").optimal_reward()
    }

    /// The items that may be shown in this round, if they can be others than all.
    pub(super) fn available(&self) -> Option<&ItemSet> {
        self.conditions.items_change().then_some(&self.available)
    }

    /// Returns whether a list shows as many of the items that may be shown as it can, each once.
    pub(super) fn admits(&self, list: &Ranking) -> bool {
        list.len() == self.n_positions().min(self.available.len())
            && list.by_position().all(|(position, item)| {
                self.available.contains(item) && !list.as_slice()[..position].contains(&item)
            })
    }

    /// The regret of a list in this round, with the rule of [`click_models::ClickModel::gap`] for
    /// rounding.
    pub(super) fn gap(&self, list: &Ranking) -> f64 {
        let gap = self.best - self.users.expected_reward(list);
        if gap.abs() < 1e-13 * self.best { 0.0 } else { gap }
    }

    /// A list of all positions that begins with `list`, to draw as many numbers for a short list.
    pub(super) fn filled(&self, list: &Ranking) -> Ranking {
        let mut filled = list.clone();
        let items = (0..self.items.attraction.len()).map(ItemId::from_index);
        for item in items.filter(|&item| !list.contains(item)).take(self.n_positions() - list.len()) {
            filled.push(item);
        }
        filled
    }

    pub(super) fn n_positions(&self) -> usize {
        self.first.n_positions()
    }
}

#[cfg(test)]
mod tests;
