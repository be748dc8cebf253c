//! KL-UCB on an observed prefix: the items of largest KL-UCB index, from the top position down.
//!
//! At round `t` an item with `n` observed displays and mean `mu` has the index
//! `max { q in [mu, 1] : n d(mu, q) <= level(t) }`; an item that was never observed comes first. RSF-KL-UCB has the level
//! `ln t`.
//!
//! Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-KL-UCB; the index is that of Garivier and Cappe 2011.
//! Deviations: none (the paper writes `mu_i`, `N_i` in the index of arm k; `N` counts observed displays only).
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `arms` | `mu^_k`, `N_k` | `n_items` | - |
//! | `rate` | log t | - | nats |
//!
//! Numerics: the same choices as solving for every index, see `kl_arms`. Complexity: O(`n_items`) multiply-adds and a few
//! solutions a round.

use super::counts::{PrefixCounts, show};
use crate::kl_arms::{KlArm, KlTop};
use crate::top_l::Ties;
use crate::{Decision, Select, Update};
use click_models::{ListShape, ObservedPrefix, Ranking};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// KL-UCB on an observed prefix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PrefixKlUcb {
    rate: Rate,
    counts: PrefixCounts,
    #[serde(skip)]
    arms: Vec<KlArm>,
    #[serde(skip)]
    top: KlTop,
}

#[derive(Deserialize)]
struct Saved {
    rate: Rate,
    counts: PrefixCounts,
}

impl PrefixKlUcb {
    /// A fresh policy; RSF-KL-UCB with the rate [`Rate::LOG`].
    pub fn new(shape: ListShape, rate: Rate) -> Self {
        Self::from(Saved { rate, counts: PrefixCounts::new(shape) })
    }
}

impl From<Saved> for PrefixKlUcb {
    fn from(Saved { rate, counts }: Saved) -> Self {
        let arms = (0..counts.n_items()).map(|item| KlArm::new(counts.shows(item), counts.clicks(item)));
        Self { rate, arms: arms.collect(), top: KlTop::new(counts.n_positions()), counts }
    }
}

impl Select<Ranking> for PrefixKlUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let level = self.rate.level(self.counts.next_round());
        let best = self.top.select(&mut self.arms, level, Ties::draw(rng));
        show(best, &mut out.action);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixKlUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms[item] = KlArm::new(counts.shows(item), counts.clicks(item));
        });
    }
}
