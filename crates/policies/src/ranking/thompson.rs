//! Thompson sampling on an observed prefix (RSF-TS): a Beta posterior for every item.
//!
//! Every item draws from `Beta(1 + clicks, 1 + observed displays without a click)`; the L largest draws are shown from the
//! top position down.
//!
//! Reference: Vahabi, Lagree, Vernade, Cappe 2016, Algorithm 1 (RSF-TS). Deviations: none.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `posterior` | `Beta(alpha_k, beta_k)` | `n_items` | - |
//!
//! Complexity: `n_items` Beta draws a round.

use super::counts::{PrefixCounts, show};
use crate::sampling::{BetaShape, Sampler};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{ListShape, ObservedPrefix, Ranking};
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
    pub fn new(shape: ListShape) -> Self {
        Self::from(Saved { counts: PrefixCounts::new(shape) })
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
        show(self.top.best(), &mut out.action);
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
