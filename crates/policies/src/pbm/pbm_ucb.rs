//! PBM-UCB: the items of largest upper confidence bound, the bound from Hoeffding's inequality on the pooled estimator.
//!
//! At round `t` item `k` has the index
//!
//! ```text
//! S_k / N~_k  +  sqrt(N_k / N~_k) sqrt(delta / (2 N~_k)),      delta = (1 + epsilon) ln t
//! ```
//!
//! and the L largest indices are shown, the largest where examination is largest. An item that was never shown comes first.
//!
//! Reference: Lagree, Vernade, Cappe 2016, section 4, Proposition 8 and Theorem 9. Deviations: none (`epsilon = 0` is
//! the default, the paper's theory needs it positive and its experiments do not say).
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `estimate` | `theta^_k = S_k / N~_k` | `n_items` | probability, may exceed 1 |
//! | `width` | `sqrt(N_k / 2) / N~_k` | `n_items` | per root of a nat |
//! | `rate` | delta | - | nats |
//!
//! Numerics: an index is a pure function of the counts. Complexity: O(`n_items`) a round.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, PositionBased, Ranking};
//! use confidence::Rate;
//! use policies::{Decision, PbmUcb, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3])?;
//! let mut policy = PbmUcb::new(users.known(), Rate::LOG);
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::<Ranking>::default();
//! for _ in 0..100 {
//!     policy.select(&mut rng, &mut decision);
//!     let feedback = users.respond(&decision.action, &mut rng);
//!     policy.update(&decision, &feedback);
//! }
//! # Ok::<(), click_models::Error>(())
//! ```

use super::counts::{PbmCounts, place};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{PbmFeedback, PbmKnown, Ranking};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// PBM-UCB.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PbmUcb {
    rate: Rate,
    counts: PbmCounts,
    #[serde(skip)]
    estimate: Vec<f64>,
    #[serde(skip)]
    width: Vec<f64>,
    #[serde(skip)]
    top: TopL,
}

#[derive(Deserialize)]
struct Saved {
    rate: Rate,
    counts: PbmCounts,
}

impl PbmUcb {
    /// A fresh policy; `rate` is the paper's delta.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::from(Saved { rate, counts: PbmCounts::new(known) })
    }
}

impl From<Saved> for PbmUcb {
    fn from(Saved { rate, counts }: Saved) -> Self {
        let (estimate, width) = (0..counts.n_items()).map(|item| estimate_and_width(&counts, item)).unzip();
        Self { rate, estimate, width, top: TopL::new(counts.n_positions()), counts }
    }
}

/// The part of the index that does not grow with `t`, and the factor of `sqrt(delta)`.
#[inline]
fn estimate_and_width(counts: &PbmCounts, item: usize) -> (f64, f64) {
    let weighted = counts.weighted_shows(item);
    if weighted > 0.0 {
        let per_show = 1.0 / weighted;
        (counts.total_clicks(item) * per_show, (0.5 * counts.total_shows(item)).sqrt() * per_show)
    } else {
        (f64::INFINITY, 0.0)
    }
}

impl Select<Ranking> for PbmUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let root_of_level = self.rate.level(self.counts.next_round()).sqrt();
        let ties = Ties::draw(rng);
        self.top.clear();
        for (item, (estimate, width)) in (0_u32..).zip(self.estimate.iter().zip(&self.width)) {
            self.top.offer(item, estimate + width * root_of_level, ties);
        }
        place(self.top.best(), self.counts.order(), &mut out.action);
    }
}

impl Update<Ranking, PbmFeedback> for PbmUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        let Self { counts, estimate, width, .. } = self;
        counts.record(&decision.action, feedback.clicks, |counts, item| {
            (estimate[item], width[item]) = estimate_and_width(counts, item);
        });
    }
}
