//! A policy's choice as the settings of live use ask for it.

use crate::Settings;
use click_models::{ItemId, ItemSet, Ranking};
use policies::{Decision, Draws, SelectFor, Tallies, Terms};
use rand::{Rng, RngExt as _};

/// Writes a list of at most `positions`, some of which have pins, of the items of `available` to
/// the decision. The lists of `select` are [arranged](arrange).
pub(crate) fn choose<P, N, R>(
    settings: &Settings,
    available: &ItemSet,
    (positions, pins): (usize, &[(usize, ItemId)]),
    (policy, rng): (&mut P, &mut R),
    (draws, decision): (&mut Draws<N>, &mut Decision<Ranking, N>),
    terms: Option<&Terms>,
    select: impl Fn(&mut P, &mut R, &mut Decision<Ranking, N>),
) where
    P: SelectFor<Ranking, Note = N>,
    R: Rng + ?Sized,
{
    match settings.propensities {
        None => select(policy, rng, decision),
        Some(drawing) => {
            let item = |number| available.nth(number).expect("one of them");
            draws.decide(drawing, (available.len(), item), (policy, &mut *rng), decision, select);
        }
    }
    let list = &mut decision.action;
    if positions < list.len() {
        list.positions_mut(positions);
    }
    let is_free = |item: &ItemId| pins.iter().all(|(_, pinned)| pinned != item);
    let last = list.iter().rposition(|item| is_free(&item));
    if let Some(last) = last.filter(|_| settings.explore > 0.0 && rng.random::<f64>() < settings.explore) {
        let item = available.nth(rng.random_range(0..available.len()));
        let others = || list.iter().take(last).filter(is_free).map(ItemId::number);
        let is_admitted = |item: &ItemId| terms.is_none_or(|terms| terms.admits(item.number(), others()));
        if let Some(item) = item.filter(|item| !list.contains(*item) && is_admitted(item)) {
            list.positions_mut(list.len())[last] = item;
        }
    }
}

/// Brings the items of a list to those of the first `positions` that pins leave free, by rank, and
/// the others behind them. Without pins and with all positions nothing changes.
pub(crate) fn arrange(list: &mut Ranking, pins: &[(usize, ItemId)], positions: usize, policy: &dyn Tallies) {
    let (n_chosen, n_positions) = (list.len(), policy.n_positions());
    if pins.is_empty() && positions >= n_chosen {
        return;
    }
    let places = || (0..n_positions).map(|rank| policy.place(rank));
    let chosen: Vec<ItemId> = places().filter(|&place| place < n_chosen).map(|place| list[place]).collect();
    let n_shown = (n_chosen + pins.len()).min(positions).min(n_positions);
    let (first, rest) = chosen.split_at(n_shown.saturating_sub(pins.len()).min(n_chosen));
    let pinned = |place: usize| pins.iter().find(|(at, _)| *at == place).map(|&(_, item)| item);
    let beyond = pins.iter().filter(|(at, _)| *at >= n_shown).map(|&(_, item)| item);
    let mut others = first.iter().copied().chain(beyond).chain(rest.iter().copied());
    let list = list.positions_mut(n_shown.max(n_chosen));
    for place in places().filter(|&place| place < n_shown).chain(n_shown..n_chosen) {
        if let Some(item) = pinned(place).or_else(|| others.next()) {
            list[place] = item;
        }
    }
}
