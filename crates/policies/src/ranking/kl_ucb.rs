//! KL-UCB on an observed prefix: shows the items of largest KL-UCB index.
//!
//! At round `t` an item with `n` observed displays and mean `mu` has the index `max { q in [mu, 1] : n d(mu, q) <= level(t) }`; an item
//! that was never observed comes first. The feedback defines which displays were observed, so RSF-KL-UCB, CascadeKL-UCB and dcmKL-UCB are
//! the same rule. The first has the level `ln t`, the other two `ln t + 3 ln ln t`. The best item goes to the top; under a dependent
//! click model it goes where leaving is most likely.
//!
//! Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-KL-UCB; Kveton, Szepesvari, Wen, Ashkan, *Cascading bandits*, ICML
//! 2015, CascadeKL-UCB; Katariya, Kveton, Szepesvari, Wen, *DCM bandits*, ICML 2016, dcmKL-UCB; the index is that of Garivier and Cappe 2011.
//! Deviations: the second and third paper start with one free observation of every item; here items that were never observed come
//! first. (The first paper writes `mu_i`, `N_i` in the index of arm k; `N` counts observed displays only.)
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `arms` | `mu^_k`, `N_k` | `n_items` | - |
//! | `rate` | log t | - | nats |
//!
//! Numerics: the same choices as solving for every index, see `kl_arms`. Complexity: O(`n_items`) multiply-adds and a few solutions a
//! round. In large catalogues the multiply-adds are hundreds of rounds apart, and only the hashing of items that tie for the last place
//! grows with the catalogue.
//!
//! # Examples
//!
//! Item 0 with 5 clicks in 10 displays has the index `(1 + sqrt(1 - t^(-1/5))) / 2`, since `d(1/2, q) = -ln(4 q (1 - q)) / 2`. Item 1
//! with no click in 2 displays has `1 - t^(-1/2)`: 0.87619 and 0.87597 at round 65, 0.87663 and 0.87691 at round 66.
//!
//! ```
//! use click_models::{Clicks, ItemId, ListShape, PrefixFeedback, Ranking};
//! use confidence::Rate;
//! use policies::{Decision, PrefixKlUcb, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! // One display of one item at the only position.
//! let one = |item, clicked| {
//!     let action: Ranking = [ItemId::new(item)].into_iter().collect();
//!     let clicks = if clicked { Clicks::new(1).with(0) } else { Clicks::new(1) };
//!     (Decision { action, note: () }, PrefixFeedback { clicks })
//! };
//! let mut policy = PrefixKlUcb::new(ListShape::new(2, 1)?, Rate::LOG);
//! for display in 0..10 {
//!     let (decision, feedback) = one(0, display < 5);
//!     policy.update(&decision, &feedback);
//! }
//! for _ in 0..2 {
//!     let (decision, feedback) = one(1, false);
//!     policy.update(&decision, &feedback);
//! }
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let shown: Vec<usize> = (1..=66)
//!     .map(|_round| {
//!         policy.select(&mut rng, &mut decision);
//!         decision.action[0].index()
//!     })
//!     .collect();
//! assert!(shown[..65].iter().all(|&item| item == 0) && shown[65] == 1);
//! # Ok::<(), click_models::Error>(())
//! ```

use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::kl_arms::KlTop;
use crate::setup::Setup;
use crate::top_l::Ties;
use crate::{Decision, Select, Update};
use click_models::{ObservedPrefix, Ranking};
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
    arms: KlTop,
}

#[derive(Deserialize)]
struct Saved {
    rate: Rate,
    counts: PrefixCounts,
}

impl PrefixKlUcb {
    /// A fresh policy; RSF-KL-UCB with the rate [`Rate::LOG`], CascadeKL-UCB and dcmKL-UCB with [`Rate::LOG_PLUS_3_LOG_LOG`].
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, rate: Rate) -> Self {
        Self::from(Saved { rate, counts: PrefixCounts::new(known.into()) })
    }
}

impl From<Saved> for PrefixKlUcb {
    fn from(Saved { rate, counts }: Saved) -> Self {
        let items = (0..counts.n_items()).map(|item| (counts.shows(item), counts.clicks(item)));
        Self { rate, arms: KlTop::new(items, counts.n_positions()), counts }
    }
}

impl Setup for PrefixKlUcb {
    const SETTINGS: &'static [&'static str] = &["/rate", "/counts/places"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PrefixKlUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let level = self.rate.level(self.counts.next_round());
        let winners = self.arms.select(level, Ties::draw(rng));
        self.counts.show_items(winners.iter().copied(), &mut out.action);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixKlUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms.set(item, counts.shows(item), counts.clicks(item));
        });
    }
}
