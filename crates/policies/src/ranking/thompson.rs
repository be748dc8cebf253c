//! Thompson sampling on an observed prefix (RSF-TS, `CascadeTS`, DCM-TS): a Beta posterior for every item.
//!
//! Every item draws from `Beta(1 + clicks, 1 + observed displays without a click)`. The policy shows the L largest draws from the top
//! position down; under a dependent click model it starts where leaving is most likely. The feedback defines which displays were
//! observed, so the policies of this kind for several click models are one rule.
//!
//! Reference: Vahabi, Lagree, Vernade, Cappe 2016, Algorithm 1 (RSF-TS); Zhong, Cheung, Tan, *Thompson sampling algorithms for
//! cascading bandits*, JMLR 2021 (`CascadeTS` with Beta posteriors). Deviations: none.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `posterior` | `Beta(alpha_k, beta_k)` | `n_items` | - |
//!
//! Numerics: shapes are at least 1, where the Gamma sampler needs no correction. Complexity: `n_items` Beta draws a round.
//!
//! # Examples
//!
//! Three clicks in three observed displays make a `Beta(4, 1)` draw. It beats the uniform draw of an item without observations with
//! probability 4/5.
//!
//! ```
//! use click_models::{Clicks, ItemId, ListShape, PrefixFeedback, Ranking};
//! use policies::{Decision, PrefixTs, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! // One display of one item at the only position.
//! let one = |item, clicked| {
//!     let action: Ranking = [ItemId::new(item)].into_iter().collect();
//!     let clicks = if clicked { Clicks::new(1).with(0) } else { Clicks::new(1) };
//!     (Decision { action, note: () }, PrefixFeedback { clicks })
//! };
//! let mut policy = PrefixTs::new(ListShape::new(2, 1)?);
//! for _ in 0..3 {
//!     let (decision, feedback) = one(0, true);
//!     policy.update(&decision, &feedback);
//! }
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let mut wins = 0;
//! for _ in 0..10_000 {
//!     policy.select(&mut rng, &mut decision);
//!     wins += u32::from(decision.action[0] == ItemId::new(0));
//! }
//! // Seven standard deviations.
//! assert!(wins.abs_diff(8000) < 280);
//! # Ok::<(), click_models::Error>(())
//! ```

use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::sampling::{BetaShape, Sampler};
use crate::sizes::Sizes;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{ObservedPrefix, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Thompson sampling on an observed prefix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PrefixTs {
    counts: PrefixCounts,
    #[serde(skip)]
    posterior: Vec<BetaShape>,
    #[serde(skip)]
    top: TopL,
}

#[derive(Deserialize)]
struct Saved {
    counts: PrefixCounts,
}

impl PrefixTs {
    /// A fresh policy.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::from(Saved { counts: PrefixCounts::new(known.into()) })
    }
}

impl From<Saved> for PrefixTs {
    fn from(Saved { counts }: Saved) -> Self {
        let posterior = (0..counts.n_items()).map(|item| posterior(&counts, item)).collect();
        Self { posterior, top: TopL::new(counts.n_positions()), counts }
    }
}

#[inline]
fn posterior(counts: &PrefixCounts, item: usize) -> BetaShape {
    let (shows, clicks) = (counts.shows(item), counts.clicks(item));
    BetaShape::after(clicks as f64, (shows - clicks) as f64)
}

impl Sizes for PrefixTs {
    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PrefixTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let ties = Ties::draw(rng);
        let sampler = Sampler::new();
        self.top.clear();
        for (item, &posterior) in (0_u32..).zip(&self.posterior) {
            self.top.offer(item, sampler.beta(posterior, rng), ties);
        }
        self.counts.show(self.top.best(), &mut out.action);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, posterior: posteriors, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            posteriors[item] = posterior(counts, item);
        });
    }
}
