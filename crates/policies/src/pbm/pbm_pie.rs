//! PBM-PIE: shows the best list by estimate, and explores at one position only: the last one, or the one of least cost.
//!
//! The leaders are the L items of largest pooled estimate `S_k / N~_k`, in decreasing order. The candidates are the
//! other items whose multi-position KL index (equation (7)) at level `delta` reaches the last leader's estimate. With
//! probability 1/2 the leaders are shown, otherwise a uniformly drawn candidate takes the last leader's place; without
//! candidates the leaders are shown. The first K rounds show every item at every position.
//!
//! With [`PbmPiePosition::LeastCost`] the candidate is inserted where this costs least per nat of information (`least_cost`), and the
//! leaders below move down. Then only examined positions count: there are as many leaders as examined positions, the next items fill
//! the other positions and are candidates too, and an inserted item leaves its place to those that move down.
//!
//! Reference: Lagree, Vernade, Cappe 2016, Algorithm 1 and Theorem 11; the position of least cost is ours, after Theorem 6 (see
//! `docs/pbm-least-cost.md`). Deviations: by default the level is `(1 + epsilon) ln t`, as in
//! Theorem 11 and its proof; Algorithm 1 prints `(1 + epsilon) ln T`, which is `Rate::at_horizon` here. Positions may come in any order
//! of examination: the first leader gets the largest examination, and the last position is the least examined one. In the first rounds
//! position `l` shows item `(t + l) mod K` (0-based), which the paper leaves open. Feedback may be late: an item without feedback ranks
//! first among the leaders and is always a candidate.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `estimate` | `theta^_k` | `n_items` | probability, may exceed 1 |
//! | `rate` | delta | - | nats |
//! | `candidates` | B(t) | at most `n_items` - `n_leaders` | items |
//! | `n_leaders` | L | - | items |
//!
//! Numerics: the policy tests whether an index reaches the last leader's estimate (`confidence::threshold`), and solves for the index
//! only if rounding could decide. No index reaches an estimate above 1. The policy decides whether to explore before it looks for
//! candidates, which does not change the law of its choices. Complexity: O(`n_items`) a round, and O(`n_items` `n_positions`) in every
//! other one; with the position of least cost also one divergence per leader in every round that explores.
//!
//! # Examples
//!
//! With examination 1/2, item 0 with 1 click in 10 displays has the estimate 1/5. Item 1 with no click in 20 displays has the index
//! `2 (1 - t^(-1/20))`, which reaches it at `t = 0.9^-20 = 8.2`: item 1 is explored from round 9 on.
//!
//! ```
//! use click_models::{ClickModel, Clicks, ItemId, PbmFeedback, PositionBased, Ranking};
//! use confidence::Rate;
//! use policies::{Decision, PbmPie, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! // One display of one item at the only position.
//! let one = |item, clicked| {
//!     let action: Ranking = [ItemId::new(item)].into_iter().collect();
//!     let clicks = if clicked { Clicks::new(1).with(0) } else { Clicks::new(1) };
//!     (Decision { action, note: () }, PbmFeedback { clicks })
//! };
//! let users = PositionBased::from_values(&[0.2, 0.1], &[0.5])?;
//! let mut policy = PbmPie::new(users.known(), Rate::LOG);
//! for display in 0..10 {
//!     let (decision, feedback) = one(0, display == 0);
//!     policy.update(&decision, &feedback);
//! }
//! for _ in 0..20 {
//!     let (decision, feedback) = one(1, false);
//!     policy.update(&decision, &feedback);
//! }
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let mut shown = vec![];
//! for _ in 1..=40 {
//!     policy.select(&mut rng, &mut decision);
//!     shown.push(decision.action[0].index());
//! }
//! // Rounds 1 and 2 show every item once, for any counts.
//! assert_eq!(shown[..8], [0, 1, 0, 0, 0, 0, 0, 0]);
//! assert!(shown[8..].contains(&1));
//! # Ok::<(), click_models::Error>(())
//! ```

use super::counts::{PbmCounts, place};
use super::index_test::IndexTest;
use super::least_cost::cheapest_rank;
use crate::coin::{heads, pick};
use crate::sizes::Sizes;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{ItemId, PbmKnown, Ranking, RenderedClicks};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The position at which PBM-PIE explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PbmPiePosition {
    /// The last position of the list (Algorithm 1).
    #[default]
    Last,
    /// The examined position at which the candidate costs fewest clicks per nat, by the estimates (Theorem 6).
    LeastCost,
}

/// PBM-PIE.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PbmPie {
    rate: Rate,
    counts: PbmCounts,
    position: PbmPiePosition,
    /// The best items whose places are not up for exploration: as many as positions, or as examined positions.
    #[serde(skip)]
    n_leaders: usize,
    #[serde(skip)]
    estimate: Vec<f64>,
    /// Tests whether an index reaches the last leader's estimate.
    #[serde(skip)]
    test: IndexTest,
    #[serde(skip)]
    top: TopL,
    #[serde(skip)]
    candidates: Vec<ItemId>,
}

#[derive(Deserialize)]
struct Saved {
    rate: Rate,
    counts: PbmCounts,
    #[serde(default)]
    position: PbmPiePosition,
}

impl PbmPie {
    /// A fresh policy that explores at the last position; `rate` is the paper's delta.
    ///
    /// # Panics
    ///
    /// If `known` does not have one examination probability per position. [`ClickModel::known`](click_models::ClickModel::known) always
    /// has.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::from(Saved { rate, counts: PbmCounts::new(known), position: PbmPiePosition::Last })
    }

    /// Sets the position at which the policy explores.
    #[must_use]
    pub fn with_position(self, position: PbmPiePosition) -> Self {
        Self::from(Saved { rate: self.rate, counts: self.counts, position })
    }

    /// Shows every item at every position, in a number of rounds equal to the number of items.
    fn initialise(&self, round: u64, out: &mut Ranking) {
        let n_items = self.counts.n_items();
        // At most the number of items.
        let shift = usize::try_from(round - 1).unwrap_or(0);
        for (position, item) in out.positions_mut(self.counts.n_positions()).iter_mut().enumerate() {
            *item = ItemId::from_index((shift + position) % n_items);
        }
    }
}

/// The pooled estimate (equation (2)); infinite for an item without displays.
#[inline]
fn estimate(counts: &PbmCounts, item: usize) -> f64 {
    let weighted = counts.weighted_shows(item);
    if weighted > 0.0 { counts.total_clicks(item) / weighted } else { f64::INFINITY }
}

impl From<Saved> for PbmPie {
    fn from(Saved { rate, counts, position }: Saved) -> Self {
        let (n_items, n_positions) = (counts.n_items(), counts.n_positions());
        let n_leaders = match position {
            PbmPiePosition::Last => n_positions,
            // Nothing can be learnt if there is none; then any place will do.
            PbmPiePosition::LeastCost => {
                counts.examination().iter().filter(|&&examined| examined > 0.0).count().max(1)
            }
        };
        Self {
            rate,
            position,
            n_leaders,
            estimate: (0..n_items).map(|item| estimate(&counts, item)).collect(),
            test: IndexTest::new(&counts),
            top: TopL::new(n_positions),
            candidates: Vec::with_capacity(n_items),
            counts,
        }
    }
}

impl PbmPie {
    /// The items below the leaders whose index reaches the last leader's estimate.
    #[inline]
    fn find_candidates(&mut self, list: &Ranking, level: f64) {
        let (last_leader, _) = self.top.best()[self.n_leaders - 1];
        self.test.set(last_leader);
        self.candidates.clear();
        for item in 0..self.counts.n_items() {
            let id = ItemId::from_index(item);
            let leads = list.contains(id) && self.rank_below(list, id).is_none();
            if !leads && (self.estimate[item].is_infinite() || self.test.reaches(&self.counts, item, level)) {
                self.candidates.push(id);
            }
        }
    }

    /// The rank of an item of the list that is no leader.
    #[inline]
    fn rank_below(&self, list: &Ranking, item: ItemId) -> Option<usize> {
        let ranks = self.n_leaders..self.counts.n_positions();
        ranks.into_iter().find(|&rank| list[self.counts.order()[rank]] == item)
    }

    /// Inserts the candidate where it is explored, and moves the items below down to the place that it leaves.
    #[inline]
    fn insert(&self, candidate: ItemId, list: &mut Ranking) {
        let (n_positions, order) = (self.counts.n_positions(), self.counts.order());
        let rank = match self.position {
            PbmPiePosition::Last => n_positions - 1,
            PbmPiePosition::LeastCost => cheapest_rank(
                self.estimate[candidate.index()],
                &self.top.best()[..self.n_leaders],
                order,
                self.counts.examination(),
            ),
        };
        let left = self.rank_below(list, candidate).unwrap_or(n_positions - 1);
        let places = list.positions_mut(n_positions);
        for lower in (rank..left).rev() {
            places[order[lower + 1]] = places[order[lower]];
        }
        places[order[rank]] = candidate;
    }
}

impl Sizes for PbmPie {
    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
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
        self.find_candidates(&out.action, self.rate.level(round));
        if let Some(candidate) = pick(&self.candidates, rng) {
            self.insert(candidate, &mut out.action);
        }
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmPie {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, estimate: estimates, test, .. } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            estimates[item] = estimate(counts, item);
            test.forget(item);
        });
    }
}
