//! The shares of subsets of items that have a Condorcet winner, and of those that are in a total
//! order.
//!
//! The first share is exact. Item `r` is the winner of the subsets of `K` items that consist of it
//! and `K - 1` of the `N_r` items that it beats. So the share of subsets with a winner is `sum_r
//! C(N_r, K - 1) / C(N, K)`.
//!
//! The second share is estimated from 100,000 random subsets of each size. A part of an ordered
//! subset is ordered. So once no subset of one size is found in order, the share of all larger
//! sizes is taken as 0.

use click_models::PreferenceMatrix;
use serde::Serialize;
use sim::Streams;

/// The number of random subsets of each size in the estimate of ordered subsets.
const SAMPLES: u64 = 100_000;
/// The seed of these subsets. It is fixed: the shares are a property of the matrix, not of a run.
const SEED: u64 = 1;
/// With more items the share of ordered subsets is not estimated.
const MAX_ITEMS: usize = 512;

/// Shares of the subsets of 1 item, of 2 items, and so on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shares {
    /// Share of subsets with a Condorcet winner, exact.
    #[serde(rename = "condorcet_share")]
    pub condorcet: Vec<f64>,
    /// Share of subsets in a total order, estimated; empty if there are too many items.
    #[serde(rename = "ordered_share")]
    pub ordered: Vec<f64>,
}

/// The shares of the subsets of a matrix.
pub fn shares(matrix: &PreferenceMatrix) -> Shares {
    let n_items = matrix.shape().n_items();
    // Only sizes that the matrix does not have are errors.
    let share = |size| matrix.condorcet_share(size).unwrap_or(f64::NAN);
    let condorcet = (1..=n_items).map(share).collect();
    let mut ordered = vec![0.0; if n_items > MAX_ITEMS { 0 } else { n_items }];
    if matrix.total_order().is_some() {
        ordered.fill(1.0);
        return Shares { condorcet, ordered };
    }
    for (size, share) in (1..).zip(&mut ordered) {
        let mut rng = Streams::new(SEED).subset(0, size as u64);
        let count = matrix.count_total_orders(size, SAMPLES, &mut rng).unwrap_or(0);
        if count == 0 {
            break;
        }
        *share = count as f64 / SAMPLES as f64;
    }
    Shares { condorcet, ordered }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_matrix_with_a_winner_above_a_cycle_are_those_counted_by_hand() {
        // Item 0 beats all others; 1, 2 and 3 beat each other in a cycle.
        let matrix = PreferenceMatrix::parse(
            "0.5 0.6 0.6 0.6\n0.4 0.5 0.9 0.1\n0.4 0.1 0.5 0.9\n0.4 0.9 0.1 0.5\n",
            "cycle",
        )
        .unwrap();
        let Shares { condorcet, ordered } = shares(&matrix);
        // Among the four triples, only the cycle has no winner and no order. The set of all four
        // items has a winner and no order.
        for (share, expected) in condorcet.iter().zip([1.0, 1.0, 0.75, 1.0]) {
            assert!((share - expected).abs() < 1e-15, "{condorcet:?}");
        }
        assert_eq!((ordered[0], ordered[1], ordered[3]), (1.0, 1.0, 0.0));
        // 100,000 samples: five standard deviations are .0069.
        assert!((ordered[2] - 0.75).abs() < 0.0069, "{}", ordered[2]);
    }
}
