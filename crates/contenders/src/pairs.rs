//! Policies that compare two items.

use crate::{CannotPlay, Entered, Entrant, Play, enter_all};
use click_models::{ClickModel, DuelingModel};
use confidence::NonNegative;
use policies::spec::PolicySpec;
use policies::{
    BeatTheMean, CondorcetSavage, DoubleTs, Fixed, InterleavedFilter, MergeDts, Rmed1, Rucb, UniformPair,
};
use sim::{Contender, DuelEntry};

impl Play for DuelingModel {
    fn contenders(entrants: &[Entrant], horizon: u64) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
        enter_all(entrants, |entrant| enter(entrant, horizon))
    }
}

fn enter(entrant: &Entrant, horizon: u64) -> Entered<DuelingModel> {
    let (label, told) = (entrant.label.clone(), entrant.told_gamma);
    match entrant.spec {
        PolicySpec::Rucb { alpha, unseen } => {
            let build = move |users: &DuelingModel| Rucb::new(users.known(), alpha).with_unseen(unseen);
            Some(Box::new(DuelEntry::new(label, build)))
        }
        PolicySpec::CondorcetSavage {} => {
            let build = move |users: &DuelingModel| CondorcetSavage::new(users.known(), horizon);
            Some(Box::new(DuelEntry::new(label, build)))
        }
        PolicySpec::BeatTheMean { gamma, radius } => {
            let build = move |users: &DuelingModel| {
                let needed = || users.preferences().gamma().and_then(|gamma| NonNegative::new(gamma).ok());
                let gamma = if told { needed().unwrap_or(gamma) } else { gamma };
                BeatTheMean::with_radius(users.known(), horizon, gamma, radius)
            };
            Some(Box::new(DuelEntry::new(label, build)))
        }
        PolicySpec::InterleavedFilter {} => {
            let build = move |users: &DuelingModel| InterleavedFilter::new(users.known(), horizon);
            Some(Box::new(DuelEntry::new(label, build)))
        }
        PolicySpec::Rmed1 {} => {
            Some(Box::new(DuelEntry::new(label, |users: &DuelingModel| Rmed1::new(users.known()))))
        }
        PolicySpec::DoubleTs {} => {
            Some(Box::new(DuelEntry::new(label, |users: &DuelingModel| DoubleTs::new(users.known()))))
        }
        PolicySpec::MergeDts {} => {
            Some(Box::new(DuelEntry::new(label, |users: &DuelingModel| MergeDts::new(users.known()))))
        }
        PolicySpec::Uniform {} => {
            Some(Box::new(DuelEntry::new(label, |users: &DuelingModel| UniformPair::new(users.known()))))
        }
        PolicySpec::Oracle {} => {
            let build = |users: &DuelingModel| Fixed::new(users.optimal_action());
            Some(Box::new(DuelEntry::new(label, build)))
        }
        _ => None,
    }
}
