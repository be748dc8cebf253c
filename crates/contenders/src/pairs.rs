//! Policies that compare two items.

use crate::{Entrant, MaybeContender, Play};
use click_models::{ClickModel, Dueling, DuelingModel, ItemId};
use confidence::NonNegative;
use policies::catalogue::{PairKnown, PolicySpec, WithPairs};
use policies::{Error, Fixed, Policy, Recommend};
use serde::{Serialize, de::DeserializeOwned};
use sim::{Contender, Entry};

impl Play for DuelingModel {
    fn contender(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
        if let PolicySpec::Oracle {} = entrant.spec {
            let build = |users: &DuelingModel| Fixed::new(users.optimal_action());
            return Some(Box::new(Entry::duels(entrant.label.clone(), build).saved()));
        }
        entrant.spec.with_pairs(EnterPairs { entrant, horizon })
    }
}

/// Enters a policy under its own type.
struct EnterPairs<'a> {
    entrant: &'a Entrant,
    horizon: u64,
}

impl WithPairs for EnterPairs<'_> {
    type Output = Box<dyn Contender<DuelingModel>>;

    fn with<P, F>(self, build: F) -> Self::Output
    where
        P: Policy<Dueling> + Recommend<ItemId> + Serialize + DeserializeOwned,
        F: Fn(PairKnown, u64) -> Result<P, Error> + Send + Sync + 'static,
    {
        let (told, horizon) = (self.entrant.told_gamma, self.horizon);
        Box::new(
            Entry::duels(self.entrant.label.clone(), move |users: &DuelingModel| {
                let needed = || users.preferences().gamma().and_then(|gamma| NonNegative::new(gamma).ok());
                let gamma = if told { needed() } else { None };
                build(PairKnown { shape: users.known(), gamma }, horizon)
                    .expect("a policy for any number of items")
            })
            .saved(),
        )
    }
}
