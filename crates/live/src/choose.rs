//! A policy's choice as the settings of live use ask for it.

use crate::Settings;
use click_models::{ItemSet, Ranking};
use policies::{Decision, Draws, SelectFor};
use rand::{Rng, RngExt as _};

/// Writes a list of at most `positions` of the items of `available` to the decision.
pub(crate) fn choose<P, N, R>(
    settings: &Settings,
    available: &ItemSet,
    positions: usize,
    (policy, rng): (&mut P, &mut R),
    (draws, decision): (&mut Draws<N>, &mut Decision<Ranking, N>),
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
        if let Some(item) = item.filter(|&item| !list.contains(item)) {
            let last = list.len() - 1;
            list.positions_mut(last + 1)[last] = item;
        }
    }
}
