//! PBM-PIE: show the best list by estimate, and explore in its last position only.
//!
//! The leaders are the L items of largest pooled estimate `S_k / N~_k`, in decreasing order. The candidates are the
//! other items whose multi-position KL index (equation (7)) at level `delta` reaches the last leader's estimate. With
//! probability 1/2 the leaders are shown, otherwise a uniformly drawn candidate takes the last leader's place; without
//! candidates the leaders are shown. The first K rounds show every item at every position.
//!
//! Reference: Lagree, Vernade, Cappe 2016, Algorithm 1 and Theorem 11. Deviations: the level is `(1 + epsilon) ln t` by
//! default, as in Theorem 11 and its proof, where Algorithm 1 prints `(1 + epsilon) ln T`; `Rate::at_horizon` gives
//! the latter. In the first rounds position `l` shows item `(t + l) mod K` (0-based), which the paper leaves open.
//! Feedback may come late: an item of which nothing has come back yet ranks first among the leaders and is always a
//! candidate.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `estimate` | theta^_k | `n_items` | probability, may exceed 1 |
//! | `rate` | delta | - | nats |
//! | `candidates` | B(t) | at most `n_items` - `n_positions` | items |
//!
//! Numerics: no index is solved for. A candidate's index reaches `q` exactly when `q` is not beyond the minimum of
//! `Phi` or `Phi(q) <= delta` (`confidence::multi_position`), and estimates above 1 are reached by nobody. Whether a round
//! explores is decided before the candidates are looked for, which changes nothing in law. Complexity:
//! O(`n_items` `n_positions`) in every other round.

use super::counts::{PbmCounts, place};
use crate::coin::{heads, pick};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{ItemId, PbmFeedback, PbmKnown, Ranking};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// PBM-PIE.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PbmPie {
    rate: Rate,
    counts: PbmCounts,
    #[serde(skip)]
    estimate: Vec<f64>,
    #[serde(skip)]
    top: TopL,
    #[serde(skip)]
    candidates: Vec<u32>,
}

#[derive(Deserialize)]
struct Saved {
    rate: Rate,
    counts: PbmCounts,
}

impl PbmPie {
    /// A fresh policy; `rate` is the paper's delta.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::from(Saved { rate, counts: PbmCounts::new(known) })
    }

    /// Every item at every position, in as many rounds as there are items.
    fn initialise(&self, round: u64, out: &mut Ranking) {
        let n_items = self.counts.n_items();
        #[expect(clippy::cast_possible_truncation, reason = "at most the number of items")]
        let shift = (round - 1) as usize;
        for (position, item) in out.positions_mut(self.counts.n_positions()).iter_mut().enumerate() {
            *item = ItemId::from_index((shift + position) % n_items);
        }
    }
}

impl From<Saved> for PbmPie {
    fn from(Saved { rate, counts }: Saved) -> Self {
        let estimate = (0..counts.n_items()).map(|item| estimate(&counts, item)).collect();
        let candidates = Vec::with_capacity(counts.n_items());
        Self { rate, estimate, top: TopL::new(counts.n_positions()), candidates, counts }
    }
}

/// The pooled estimate (equation (2)); infinite for an item of which nothing is known.
#[inline]
fn estimate(counts: &PbmCounts, item: usize) -> f64 {
    let weighted = counts.weighted_shows(item);
    if weighted > 0.0 { counts.total_clicks(item) / weighted } else { f64::INFINITY }
}

impl Select<Ranking> for PbmPie {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let round = self.counts.next_round();
        if round <= self.counts.n_items() as u64 {
            self.initialise(round, &mut out.action);
            return;
        }
        let ties = Ties::draw(rng);
        self.top.clear();
        for (item, &estimate) in (0_u32..).zip(&self.estimate) {
            self.top.offer(item, estimate, ties);
        }
        place(self.top.best(), self.counts.order(), &mut out.action);
        if heads(rng) {
            return;
        }
        let level = self.rate.level(round);
        let last_leader = self.top.threshold();
        self.candidates.clear();
        for item in 0_u32.. {
            let index = item as usize;
            if index >= self.counts.n_items() {
                break;
            }
            if !out.action.contains(ItemId::new(item)) {
                let (clicks, shows) = (self.counts.clicks(index), self.counts.shows(index));
                let upper =
                    confidence::multi_position_upper(clicks, shows, self.counts.examination(), level);
                if upper >= last_leader {
                    self.candidates.push(item);
                }
            }
        }
        if let (Some(candidate), Some(&last)) = (pick(&self.candidates, rng), self.counts.order().last()) {
            out.action.positions_mut(self.counts.n_positions())[last] = ItemId::new(candidate);
        }
    }
}

impl Update<Ranking, PbmFeedback> for PbmPie {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        let Self { counts, estimate: estimates, .. } = self;
        counts.record(&decision.action, feedback.clicks, |counts, item| {
            estimates[item] = estimate(counts, item);
        });
    }
}
