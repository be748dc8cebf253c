//! Policies that choose a row and a column; eliminations are simulated by whole sweeps.

use crate::{Entrant, MaybeContender, Play};
use click_models::{RankOne, RankOneModel, TableShape};
use policies::catalogue::{PolicySpec, WithCells};
use policies::{Error, Policy, Rank1Elim, Ucb1Elim};
use serde::{Serialize, de::DeserializeOwned};
use sim::{Contender, Entry, oracle};

impl Play for RankOneModel {
    fn contender(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
        let label = entrant.label.clone();
        match entrant.spec {
            PolicySpec::Rank1ElimKl {} => {
                Some(Box::new(Entry::sweeps(label, move |shape| Rank1Elim::kl(shape, horizon)).saved()))
            }
            PolicySpec::Rank1Elim {} => Some(Box::new(
                Entry::sweeps(label, move |shape| Rank1Elim::hoeffding(shape, horizon)).saved(),
            )),
            PolicySpec::Ucb1Elim {} => {
                Some(Box::new(Entry::sweeps(label, move |shape| Ucb1Elim::new(shape, horizon)).saved()))
            }
            PolicySpec::Oracle {} => Some(oracle(label)),
            spec => spec.with_cells(EnterCells { label, horizon }),
        }
    }
}

/// Enters a policy under its own type.
struct EnterCells {
    label: String,
    horizon: u64,
}

impl WithCells for EnterCells {
    type Output = Box<dyn Contender<RankOneModel>>;

    fn with<P, F>(self, build: F) -> Self::Output
    where
        P: Policy<RankOne> + Serialize + DeserializeOwned,
        F: Fn(TableShape, u64) -> Result<P, Error> + Send + Sync + 'static,
    {
        let Self { label, horizon } = self;
        Box::new(
            Entry::new(label, move |shape| build(shape, horizon).expect("a policy for any table")).saved(),
        )
    }
}
