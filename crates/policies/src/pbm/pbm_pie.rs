use super::counts::PbmCounts;
use super::index_test::{IndexTest, ItemTests, threshold};
use super::least_cost::cheapest_rank;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::coin::heads;
use crate::reaching::{Question, Reaching};
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::ucb_arms::Mean;
use crate::{Decision, Select, Update};
use click_models::{ItemId, ListShape, PbmKnown, Ranking, RenderedClicks};
use confidence::{MultiPositionThreshold, Rate};
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
    /// The examined position of fewest clicks per nat, by the estimates (Theorem 6).
    LeastCost,
}

with_state! {
/// PBM-PIE: shows the best list by estimate, and explores at one position.
///
/// The leaders are the L items of largest pooled estimate `S_k / N~_k`, in decreasing order. The
/// candidates are the other items whose multi-position KL index (equation (7)) at level `delta`
/// reaches the last leader's estimate. With probability 1/2, or without candidates, the leaders are
/// shown; otherwise a uniformly drawn candidate takes the last leader's place. The first K rounds
/// show every item at every position.
///
/// With [`PbmPiePosition::LeastCost`] the candidate is inserted at the position where it costs
/// least per nat of information (`least_cost`), and the leaders below move down.
///
/// In this mode only examined positions count, and there are as many leaders as examined positions.
/// The items that rank next fill the other positions, and are also candidates. If one of them is
/// inserted, its old place is filled by the items that move down.
///
/// Reference: Lagree, Vernade, Cappe 2016, Algorithm 1 and Theorem 11; the position of least cost
/// is ours, after Theorem 6 (`docs/pbm-least-cost.md`). Deviations: the default level is
/// `(1 + epsilon) ln t`, as in Theorem 11; Algorithm 1 prints `(1 + epsilon) ln T`, here
/// `Rate::at_horizon`. Positions may come in any order of examination. In the first rounds position
/// `l` shows item `(t + l) mod K` (0-based), which the paper leaves open. An item without feedback
/// ranks first and is always a candidate.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `best` | `theta^_k` | `n_items` | probability, may exceed 1 |
/// | `rate` | delta | - | nats |
/// | `candidates` | B(t) | at most `n_items` - `n_leaders` | items |
/// | `n_leaders` | L | - | items |
///
/// Numerics: an index is solved for only if rounding could decide. The policy decides whether to
/// explore before it looks for candidates: the same distribution of choices.
pub struct PbmPie {
    rate: Rate,
    counts: PbmCounts,
    #[serde(default)]
    position: PbmPiePosition,
} derived {
    /// The best items whose places are not explored: as many as (examined) positions.
    n_leaders: usize = match position {
        PbmPiePosition::Last => counts.n_positions(),
        // Nothing can be learnt if there is none; then any place will do.
        PbmPiePosition::LeastCost => {
            counts.examination().iter().filter(|&&examined| examined > 0.0).count().max(1)
        }
    },
    /// Items in the order of their estimates.
    best: BestArms<Mean> =
        BestArms::new((0..counts.n_items()).map(|item| estimate(&counts, item)), counts.n_positions()),
    /// Tests whether an index reaches the last leader's estimate.
    test: IndexTest = IndexTest::new(&counts),
    candidates: Reaching<MultiPositionThreshold> = Reaching::new(counts.n_items(), threshold(&counts)),
}
}

impl PbmPie {
    /// A fresh policy that explores at the last position; `rate` is the paper's delta.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::assemble(State { rate, counts: PbmCounts::new(known), position: PbmPiePosition::Last })
    }

    /// Sets the position at which the policy explores.
    #[must_use]
    pub fn with_position(self, position: PbmPiePosition) -> Self {
        Self::assemble(State { rate: self.rate, counts: self.counts, position })
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
fn estimate(counts: &PbmCounts, item: usize) -> Mean {
    let weighted = counts.weighted_shows(item);
    if weighted > 0.0 { Mean(counts.total_clicks(item) / weighted) } else { Mean::FRESH }
}

/// Inserts the candidate among `best`, best first; items below move down to its place.
#[inline]
fn insert(
    candidate: ItemId,
    list: &mut Ranking,
    (best, n_leaders): (&[u32], usize),
    position: PbmPiePosition,
    counts: &PbmCounts,
) {
    let order = &counts.order;
    let rank = match position {
        PbmPiePosition::Last => order.len() - 1,
        PbmPiePosition::LeastCost => {
            let mut leaders = [0.0; ListShape::MAX_POSITIONS];
            for (leader, &item) in leaders.iter_mut().zip(&best[..n_leaders]) {
                *leader = estimate(counts, item as usize).0;
            }
            let Mean(worse) = estimate(counts, candidate.index());
            cheapest_rank(worse, &leaders[..n_leaders], order, counts.examination())
        }
    };
    let is_candidate = |&item: &u32| ItemId::new(item) == candidate;
    let left = best.iter().position(is_candidate).unwrap_or(order.len() - 1);
    let places = list.positions_mut(order.len());
    for lower in (rank..left).rev() {
        places[order[lower + 1]] = places[order[lower]];
    }
    places[order[rank]] = candidate;
}

restored!(PbmPie, |saved| Ok(Self::assemble(saved)));
setup!(PbmPie, &["/rate", "/position", "/counts/examination"], |policy| policy.counts.sizes());

impl Select<Ranking> for PbmPie {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let round = self.counts.rounds.next();
        if round <= self.counts.n_items() as u64 {
            self.initialise(round, &mut out.action);
            return;
        }
        let Self { rate, counts, position, n_leaders, best, test, candidates } = self;
        let best = best.select(0.0, Ties::draw(rng));
        counts.show_items(best.iter().copied(), &mut out.action);
        if heads(rng) {
            return;
        }
        let leaders = &best[..*n_leaders];
        let Mean(q) = estimate(counts, leaders[leaders.len() - 1] as usize);
        let question = Question { leaders, q, level: rate.level(round) };
        if let Some(candidate) = candidates.draw(&mut ItemTests { counts, test }, question, rng) {
            insert(candidate, &mut out.action, (best, *n_leaders), *position, counts);
        }
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.rounds.repeat()
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmPie {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, best, test, candidates, .. } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            best.set(item, estimate(counts, item));
            test.forget(item);
            candidates.changed(item);
        });
    }
}
