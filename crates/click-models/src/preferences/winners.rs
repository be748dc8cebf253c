//! Condorcet, Copeland, Borda and von Neumann winners.

use super::PreferenceMatrix;
use crate::ItemId;

/// Borda scores that differ by less count as equal: they are sums in different orders.
const ROUNDING: f64 = 1e-12;

impl PreferenceMatrix {
    /// The number of items that `item` beats: K - 1 times its Copeland score.
    pub fn n_beaten(&self, item: ItemId) -> usize {
        self.excess_row(item).iter().filter(|&&excess| excess > 0.0).count()
    }

    /// The item that beats all others, if it exists.
    pub fn condorcet_winner(&self) -> Option<ItemId> {
        self.shape.items().find(|&item| self.n_beaten(item) + 1 == self.shape.n_items())
    }

    /// The items that beat the most others, in increasing order.
    pub fn copeland_winners(&self) -> Vec<ItemId> {
        let beaten: Vec<usize> = self.shape.items().map(|item| self.n_beaten(item)).collect();
        let most = beaten.iter().max();
        self.shape.items().filter(|item| beaten.get(item.index()) == most).collect()
    }

    /// The probability that `item` wins against a uniformly drawn other item: its Borda score.
    pub fn borda_score(&self, item: ItemId) -> f64 {
        0.5 + self.excess_row(item).iter().sum::<f64>() / (self.shape.n_items() - 1) as f64
    }

    /// The items with the largest Borda score, in increasing order; scores that differ by less than
    /// 1e-12 count as equal.
    pub fn borda_winners(&self) -> Vec<ItemId> {
        let scores: Vec<f64> = self.shape.items().map(|item| self.borda_score(item)).collect();
        let largest = scores.iter().copied().fold(0.0, f64::max);
        self.shape.items().filter(|item| scores[item.index()] >= largest - ROUNDING).collect()
    }

    /// A lottery over the items that wins at least half of its duels with any item, as one
    /// probability per item. If there are several such lotteries, it is one of them; with a
    /// Condorcet winner it is that item.
    ///
    /// It is the optimal mixed strategy of the game whose payoff is the excess. The value of this
    /// game is 0, so shares `y` that maximise `sum y` subject to `(1 + e) y <= 1, y >= 0` add up to
    /// 1 and are the lottery. The simplex method, with Bland's rule against cycling after many
    /// pivots, solves it, in about K pivots on a dense table. On tested matrices the lottery falls
    /// short of one half by at most 1e-10.
    pub fn von_neumann_winner(&self) -> Vec<f64> {
        let n_items = self.shape.n_items();
        if let Some(winner) = self.condorcet_winner() {
            return self.shape.items().map(|item| f64::from(u8::from(item == winner))).collect();
        }
        let payoff = |row: usize, column: usize| 1.0 + self.excess[row * n_items + column];
        let shares = maximal_shares(n_items, payoff);
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| share / sum).collect()
    }
}

/// Smaller pivots count as rounding errors.
const PIVOT: f64 = 1e-11;

/// The `y >= 0` with largest sum for which no row of `payoff y` exceeds 1; all payoffs are
/// positive.
///
/// A tableau of K constraints and the objective. The tableau does not store the columns of basic
/// variables: the column of the leaving variable replaces that of the entering one.
fn maximal_shares(n_items: usize, payoff: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let width = n_items + 1;
    let mut table: Vec<Vec<f64>> = (0..n_items)
        .map(|row| (0..n_items).map(|column| payoff(row, column)).chain([1.0]).collect())
        .collect();
    // The negative of what one unit of each non-basic variable would add to the sum.
    table.push((0..width).map(|column| if column < n_items { -1.0 } else { 0.0 }).collect());
    // Variables: the shares, then the slack of each constraint.
    let mut outside: Vec<usize> = (0..n_items).collect();
    let mut basic: Vec<usize> = (n_items..2 * n_items).collect();
    // First the candidate that adds most per unit, which takes far fewer pivots than Bland's rule.
    // Then Bland's rule, the candidate with the smallest index: it terminates in exact arithmetic.
    // The limit on pivots guards against rounding.
    for pivots in 0..1000 * n_items {
        let candidates = (0..n_items).filter(|&column| table[n_items][column] < -PIVOT);
        let entering = if pivots < 20 * n_items {
            candidates.min_by(|&a, &b| table[n_items][a].total_cmp(&table[n_items][b]))
        } else {
            candidates.min_by_key(|&column| outside[column])
        };
        let Some(column) = entering else { break };
        let leaving = (0..n_items).filter(|&row| table[row][column] > PIVOT).min_by(|&a, &b| {
            let room = |row: usize| table[row][n_items] / table[row][column];
            room(a).total_cmp(&room(b)).then(basic[a].cmp(&basic[b]))
        });
        let Some(row) = leaving else { break };
        let pivot = table[row][column];
        table[row][column] = 1.0;
        for entry in &mut table[row] {
            *entry /= pivot;
        }
        let pivot_row = table[row].clone();
        for (_, entries) in table.iter_mut().enumerate().filter(|&(other, _)| other != row) {
            let factor = entries[column];
            entries[column] = 0.0;
            if factor == 0.0 {
                continue;
            }
            for (entry, pivot) in entries.iter_mut().zip(&pivot_row) {
                *entry -= factor * pivot;
            }
        }
        std::mem::swap(&mut outside[column], &mut basic[row]);
    }
    let mut shares = vec![0.0; n_items];
    for (row, &variable) in basic.iter().enumerate() {
        if let Some(share) = shares.get_mut(variable) {
            *share = table[row][n_items].max(0.0);
        }
    }
    shares
}
