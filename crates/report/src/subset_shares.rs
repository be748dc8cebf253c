//! How often a random subset of the items has a Condorcet winner, and how often it is in a total order.
//!
//! The first is counted: of the subsets of `K` items, item `r` is the winner of those that consist of it and `K - 1` of the `N_r` items that
//! it beats, so that `sum_r C(N_r, K - 1) / C(N, K)` of them have one. The second is estimated from 100,000 random subsets of each size. A part
//! of what is in order is in order, so sizes above one of which not a single subset was are taken for 0.

use click_models::{Error, PreferenceMatrix};
use sim::Streams;

/// How many random subsets of every size are looked at for an order.
const SAMPLES: u64 = 100_000;
/// The seed of these subsets: what a matrix is like does not depend on a run.
const SEED: u64 = 1;
/// Of more items no order is looked for.
const MAX_ITEMS: usize = 512;

/// Shares of the subsets of 1 item, of 2 and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// With a Condorcet winner, exact.
    pub condorcet: Vec<f64>,
    /// In a total order, estimated; empty if there are too many items.
    pub ordered: Vec<f64>,
}

/// Those of a matrix.
///
/// # Errors
///
/// None for sizes that it has.
pub fn shares(matrix: &PreferenceMatrix) -> Result<Shares, Error> {
    let n_items = matrix.shape().n_items();
    let condorcet = (1..=n_items).map(|size| matrix.condorcet_share(size)).collect::<Result<_, _>>()?;
    if n_items > MAX_ITEMS {
        return Ok(Shares { condorcet, ordered: Vec::new() });
    }
    if matrix.total_order().is_some() {
        return Ok(Shares { condorcet, ordered: vec![1.0; n_items] });
    }
    let mut ordered = vec![0.0; n_items];
    for (size, share) in (1..).zip(&mut ordered) {
        let mut rng = Streams::new(SEED).subset(0, size as u64);
        let count = matrix.count_total_orders(size, SAMPLES, &mut rng)?;
        if count == 0 {
            break;
        }
        *share = count as f64 / SAMPLES as f64;
    }
    Ok(Shares { condorcet, ordered })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_winner_above_a_cycle() {
        // Item 0 beats all; 1, 2 and 3 beat each other in a circle.
        let matrix = PreferenceMatrix::parse(
            "0.5 0.6 0.6 0.6\n0.4 0.5 0.9 0.1\n0.4 0.1 0.5 0.9\n0.4 0.9 0.1 0.5\n",
            "cycle",
        )
        .unwrap();
        let Shares { condorcet, ordered } = shares(&matrix).unwrap();
        // Of four triples the circle alone has no winner and no order; all four items have a winner and no order.
        for (share, expected) in condorcet.iter().zip([1.0, 1.0, 0.75, 1.0]) {
            assert!((share - expected).abs() < 1e-15, "{condorcet:?}");
        }
        assert_eq!((ordered[0], ordered[1], ordered[3]), (1.0, 1.0, 0.0));
        // 100,000 samples: five standard deviations are .0069.
        assert!((ordered[2] - 0.75).abs() < 0.0069, "{}", ordered[2]);
    }
}
