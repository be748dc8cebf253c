//! A policy's choice as the settings of live use ask for it.

use crate::Settings;
use click_models::{ItemId, ItemSet, Ranking};
use policies::{Decision, Draws, SelectFor, Tallies, Terms};
use rand::{Rng, RngExt as _};

/// Writes a list of at most `positions` of the items of `available` to the decision.
pub(crate) fn choose<P, N, R>(
    settings: &Settings,
    available: &ItemSet,
    positions: usize,
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
    if settings.explore > 0.0 && !list.is_empty() && rng.random::<f64>() < settings.explore {
        let item = available.nth(rng.random_range(0..available.len()));
        let last = list.len() - 1;
        let others = || list.iter().take(last).map(ItemId::number);
        let is_new = |item: &ItemId| !list.contains(*item);
        let is_admitted = |item: &ItemId| terms.is_none_or(|terms| terms.admits(item.number(), others()));
        if let Some(item) = item.filter(|item| is_new(item) && is_admitted(item)) {
            list.positions_mut(last + 1)[last] = item;
        }
    }
}

/// Inserts items at their positions, which the policy has left them, of a list of at most
/// `positions`. The others keep their order of ranks.
pub(crate) fn pin(list: &mut Ranking, pins: &[(usize, ItemId)], positions: usize, policy: &dyn Tallies) {
    let (n_chosen, n_pins) = (list.len(), pins.len());
    let places = || (0..policy.n_positions()).map(|rank| policy.place(rank));
    let chosen: Vec<ItemId> = places().filter(|&place| place < n_chosen).map(|place| list[place]).collect();
    let n_shown = (n_chosen + n_pins).min(positions).min(policy.n_positions());
    let pinned = |place: usize| pins.iter().find(|(at, _)| *at == place).map(|&(_, item)| item);
    let beyond = pins.iter().filter(|(at, _)| *at >= n_shown).map(|&(_, item)| item);
    let mut others = chosen.into_iter().take(n_shown - n_pins.min(n_shown)).chain(beyond);
    let list = list.positions_mut(n_shown);
    for place in places().filter(|&place| place < n_shown) {
        if let Some(item) = pinned(place).or_else(|| others.next()) {
            list[place] = item;
        }
    }
}
