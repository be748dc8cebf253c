//! Probabilistic interleaving: every document can appear at every position, and credit is an
//! expectation over all assignments of positions to rankers.
//!
//! Each ranker is a distribution over the remaining documents, with `P(d)` proportional to
//! `1 / rank(d)^3`; ranks refer to the full ranking and count from 1. At every position a fair coin
//! decides which ranker draws, and the drawn document is removed from both. Given the list, the
//! assignments of positions to rankers are independent:
//!
//! ```text
//! P(first drew position l | list) = P_1(d_l) / (P_1(d_l) + P_2(d_l)),      P_i over what is left above l removed,
//! ```
//!
//! so the mean over all 2^n assignments is a sum over positions. The ranker with more clicks in
//! expectation wins.
//!
//! Reference: Hofmann, Whiteson, de Rijke, *A probabilistic method for inferring preferences from
//! clicks*, CIKM 2011: probabilistic interleave with marginalisation over assignments.
//!
//! Deviations: the outcome of an assignment is its difference in clicks. With the sign of the
//! difference instead, the winner is the same whenever there is exactly one click. Expectations
//! that differ by less than 1e-9 clicks are a tie, so that rounding never decides.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `weight` | `1 / r(d)^3`, tau = 3 | one per rank | - |
//! | `below` | sums of `weight` over better ranks | one per rank, and one more | - |
//! | `left` | the softmax's denominator | 2 | - |
//! | `lean` | 2 P(a = first given list) - 1 | one per position | clicks of the first minus clicks of the second, for a click |
//!
//! Numerics: identical rankers have leans of exactly 0; exchanging the rankers exactly negates the
//! leans. Complexity: O(length^2 + length log n) per list for rankings of n documents, and a table
//! of the longest ranking so far.
//!
//! # Examples
//!
//! Rankings 0 1 and 1 0: at the top `P_1(0) = 8/9` and `P_2(0) = 1/9`; the second position has only
//! one document left.
//!
//! ```
//! use interleaving::{Interleaving, Probabilistic, RankedDocuments, RankedPair, InterleavedList};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let (first, second) = (RankedDocuments::new(vec![0, 1])?, RankedDocuments::new(vec![1, 0])?);
//! let mut shown = InterleavedList::default();
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! Probabilistic::default().interleave(RankedPair::new(&first, &second)?, 2, &mut rng, &mut shown);
//! let expected = if shown.documents[0] == 0 { 7.0 / 9.0 } else { -7.0 / 9.0 };
//! assert!((shown.note[0] - expected).abs() < 1e-15 && shown.note[1] == 0.0);
//! # Ok::<(), interleaving::Error>(())
//! ```

use super::{InterleavedList, Interleaving, Outcome, RankedPair, clicked, heads};
use crate::RankedDocuments;
use click_models::{Clicks, ListShape};
use rand::{Rng, RngExt};

/// Expected clicks that differ by less are a tie.
const SAME: f64 = 1e-9;

/// Probabilistic interleaving with marginalised credit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Probabilistic {
    /// `1 / (rank + 1)^3` for 0-based ranks.
    weight: Vec<f64>,
    /// Sum of the weights of all better ranks.
    below: Vec<f64>,
}

impl Probabilistic {
    /// Extends the tables for rankings of `n_documents`.
    fn extend(&mut self, n_documents: usize) {
        if self.below.is_empty() {
            self.below.push(0.0);
        }
        for rank in self.weight.len()..n_documents {
            let rank_from_one = (rank + 1) as f64;
            let weight = 1.0 / (rank_from_one * rank_from_one * rank_from_one);
            self.weight.push(weight);
            self.below.push(self.below[rank] + weight);
        }
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, n_documents: usize, left: &RemainingRanks, rng: &mut R) -> usize {
        let mut target = rng.random::<f64>() * left.weight;
        let removed = &left.removed[..left.n_removed];
        // Convert the target among remaining ranks to a target among all ranks.
        for &rank in removed {
            if target < self.below[rank as usize] {
                break;
            }
            target += self.weight[rank as usize];
        }
        let rank = self.rank_at(n_documents, target);
        // Rounding may move a target on the boundary to a neighbour that is already taken.
        let taken = |rank: &usize| removed.iter().any(|&taken| taken as usize == *rank);
        if taken(&rank) {
            (rank..n_documents).chain((0..rank).rev()).find(|rank| !taken(rank)).unwrap_or(rank)
        } else {
            rank
        }
    }

    /// The rank whose part of the total weight contains `target`.
    #[inline]
    fn rank_at(&self, n_documents: usize, target: f64) -> usize {
        // Most draws are among the best ranks, where a scan is faster than a search.
        const SCANNED: usize = 16;
        let ends = &self.below[1..=n_documents];
        let (near, far) = ends.split_at(ends.len().min(SCANNED));
        let rank = match near.iter().position(|&end| target < end) {
            Some(rank) => rank,
            None => near.len() + far.partition_point(|&end| end <= target),
        };
        rank.min(n_documents - 1)
    }
}

/// The remaining ranks of a ranker.
struct RemainingRanks {
    /// Ranks that are taken, in increasing order.
    removed: [u32; ListShape::MAX_POSITIONS],
    n_removed: usize,
    /// Total weight of the remaining ranks.
    weight: f64,
}

impl RemainingRanks {
    fn everything(weight: f64) -> Self {
        Self { removed: [0; ListShape::MAX_POSITIONS], n_removed: 0, weight }
    }

    #[inline]
    fn remove(&mut self, rank: u32, weight: f64) {
        let mut place = self.n_removed;
        while place > 0 && self.removed[place - 1] > rank {
            self.removed[place] = self.removed[place - 1];
            place -= 1;
        }
        self.removed[place] = rank;
        self.n_removed += 1;
        self.weight -= weight;
    }
}

impl Interleaving for Probabilistic {
    /// The lean of every position: how much more likely the first ranker drew it than the second,
    /// from -1 to 1.
    type Note = Vec<f64>;

    fn interleave<R: Rng + ?Sized>(
        &mut self,
        pair: RankedPair<'_>,
        length: usize,
        rng: &mut R,
        shown: &mut InterleavedList<Self::Note>,
    ) {
        let rankings: [&RankedDocuments; 2] = [pair.first, pair.second];
        let n_documents = rankings[0].order().len();
        self.extend(n_documents);
        let mut left = [
            RemainingRanks::everything(self.below[n_documents]),
            RemainingRanks::everything(self.below[n_documents]),
        ];
        shown.documents.clear();
        shown.note.clear();
        for _ in 0..pair.length(length) {
            let drawer = usize::from(heads(rng));
            let document = rankings[drawer].order()[self.draw(n_documents, &left[drawer], rng)];
            let ranks = rankings.map(|ranking| ranking.rank()[document as usize]);
            let [first, second] = ranks.map(|rank| self.weight[rank as usize]);
            let chances = [first / left[0].weight, second / left[1].weight];
            shown.documents.push(document);
            shown.note.push((chances[0] - chances[1]) / (chances[0] + chances[1]));
            left[0].remove(ranks[0], first);
            left[1].remove(ranks[1], second);
        }
    }

    fn outcome(&self, shown: &InterleavedList<Self::Note>, clicks: Clicks) -> Outcome {
        let lean: f64 = clicked(clicks).filter_map(|position| shown.note.get(position)).sum();
        if lean > SAME {
            Outcome::First
        } else if lean < -SAME {
            Outcome::Second
        } else {
            Outcome::Tie
        }
    }
}

#[cfg(test)]
mod tests;
