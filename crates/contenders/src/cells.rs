//! Policies that choose a row and a column. The eliminations are simulated by whole sweeps, which is equal in law.

use crate::{CannotPlay, Entered, Entrant, Play, enter_all};
use click_models::RankOneModel;
use policies::spec::PolicySpec;
use policies::{CellKlUcb, Rank1Elim, Rank1Gibbs, Ucb1, Ucb1Elim, UniformCell, Uts};
use sim::{Contender, Entry, Oracle, StageEntry};

impl Play for RankOneModel {
    fn contenders(entrants: &[Entrant], horizon: u64) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
        enter_all(entrants, |entrant| enter(entrant, horizon))
    }
}

fn enter(entrant: &Entrant, horizon: u64) -> Entered<RankOneModel> {
    let label = entrant.label.clone();
    match entrant.spec {
        PolicySpec::Rank1ElimKl {} => {
            Some(Box::new(StageEntry::new(label, move |shape| Rank1Elim::kl(shape, horizon))))
        }
        PolicySpec::Rank1Elim {} => {
            Some(Box::new(StageEntry::new(label, move |shape| Rank1Elim::hoeffding(shape, horizon))))
        }
        PolicySpec::Ucb1Elim {} => {
            Some(Box::new(StageEntry::new(label, move |shape| Ucb1Elim::new(shape, horizon))))
        }
        PolicySpec::Ucb1 {} => Some(Box::new(Entry::new(label, Ucb1::new))),
        PolicySpec::KlUcb { level } => {
            Some(Box::new(Entry::new(label, move |shape| CellKlUcb::new(shape, level.into()))))
        }
        PolicySpec::Uts {} => Some(Box::new(Entry::new(label, Uts::new))),
        PolicySpec::Rank1Gibbs {} => Some(Box::new(Entry::new(label, Rank1Gibbs::new))),
        PolicySpec::Uniform {} => Some(Box::new(Entry::new(label, UniformCell::new))),
        PolicySpec::Oracle {} => Some(Box::new(Oracle::new(label))),
        _ => None,
    }
}
