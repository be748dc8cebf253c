//! Dueling bandits without a Condorcet winner: a lower bound on the regret of any policy.
//!
//! Item i's *superiors* `S_i` beat it, its *inferiors* `I_i` lose to it, and `L_i` is the number of
//! its superiors. The Copeland winners have the fewest, `L_(1)`; `L_(2)` is the second smallest
//! number of the list, equal to `L_(1)` if there are several winners. `d_ij` is the divergence of
//! `mu_ij` from 1/2. Comparing i and j costs `r_ij = (L_i + L_j - 2 L_(1)) / (2 (K - 1))`.
//!
//! A policy must rule out that the winner w is not a winner. In another matrix an item `i` has at
//! most `l` superiors and w at least `l + 1`. So some `l + 1 - L_(1)` inferiors of w beat it there,
//! and i beats all but `l` of its superiors. The duels of these pairs have to tell one nat per
//! `ln T`. With `e_ij` nats from the pair `i, j`,
//!
//! ```text
//! lim inf R(T) / ln T >= min over winners w of min over e >= 0 of sum over pairs of e_ij r_ij / d_ij    such that
//! sum over j in I of e_wj + sum over j in S of e_ij >= 1    for all i other than w, l from max(0, L_(1) - 1) to L_(2),
//!     I in I_w of l + 1 - L_(1) items, S in S_i without w of L_i - l items, or one less if I has i.
//! ```
//!
//! Reference: Komiyama, Honda, Nakagawa, *Copeland dueling bandit problem: regret lower bound,
//! optimal algorithm, and computationally efficient algorithm*, ICML 2016, Theorem 2. Deviations:
//! none. The sum over pairs of `e_ij r_ij / d_ij` counts each pair once.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `preferences` | `mu_ij` | K x K | probability |
//! | `n_superiors` | `L_i` | K | items |
//! | `cost` | `r_ij / d_ij` | pairs | Copeland regret per nat |
//! | `nats` | `e_ij` | pairs | nats per `ln T` |
//! | a set of pairs | I and S | - | - |
//! | result | `C*` | - | Copeland regret per `ln T` |
//!
//! Regret is [Copeland regret](crate::dueling), a share of the other items, also if there is a
//! Condorcet winner.
//!
//! Numerics: a linear program with a constraint for each set of pairs. The number of sets grows
//! exponentially, but the set of least `e` is found by sorting. So the dual program, `max sum y`
//! over one `y >= 0` for each set such that the `y` of the sets with a pair do not exceed its cost,
//! is solved by the revised simplex method, which asks for a set with `e` below 1 and stops if none
//! is left. The lexicographic rule prevents cycles. Entries of sets are 0 or 1, whatever the costs.
//! The `y` at the end, whose sum is returned, is feasible; so rounding, and the limit on pivots,
//! can only make the bound too small. Complexity: P pairs take `8 P^2` bytes, and O(P^2) steps a
//! pivot.

use super::dueling::divergence_from_half;
use crate::{ItemId, PreferenceMatrix};
use std::cmp::Ordering;

/// More items have too many pairs for the dense inverse of the program.
pub const COPELAND_LOWER_BOUND_MOST_ITEMS: usize = 32;

/// Nats may fall short of 1 by this much.
const TOLERANCE: f64 = 1e-10;
/// Smaller pivots count as rounding errors.
const PIVOT: f64 = 1e-9;

/// Lower bound on the Copeland regret of any uniformly efficient policy, per `ln T`: Theorem 2.
///
/// 0 if every item is a Copeland winner. NaN if two items beat each other equally often, which the
/// paper excludes, and for more than [`COPELAND_LOWER_BOUND_MOST_ITEMS`] items.
///
/// # Examples
///
/// The matrix "Cyclic" of the paper's Table 2, whose bound its Table 4 prints as 27.5. Item 0 beats
/// all others by little, and these form a circle.
///
/// ```
/// use click_models::{PreferenceMatrix, bounds::copeland_lower_bound};
///
/// let cyclic = PreferenceMatrix::parse(".5 .6 .6 .6\n.4 .5 .9 .1\n.4 .1 .5 .9\n.4 .9 .1 .5", "cyclic")?;
/// assert!((copeland_lower_bound(&cyclic) - 27.549).abs() < 5e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copeland_lower_bound(preferences: &PreferenceMatrix) -> f64 {
    let Some(duels) = Duels::new(preferences) else { return f64::NAN };
    let of_winner = |winner: &ItemId| {
        let mut program = Program::new(&duels.cost);
        program.solve(|nats| duels.least_set(winner.index(), nats));
        program.value()
    };
    // There is at least one winner.
    preferences.copeland_winners().iter().map(of_winner).fold(f64::INFINITY, f64::min)
}

/// Who beats whom, and the costs of the pairs that cost something.
struct Duels {
    superiors: Vec<Vec<usize>>,
    inferiors: Vec<Vec<usize>>,
    /// K x K: the number of a pair in `cost`. Duels of two winners cost nothing, so they never
    /// limit a policy.
    numbers: Vec<Option<usize>>,
    cost: Vec<f64>,
}

/// Numbers of pairs.
type PairSet = Vec<usize>;

impl Duels {
    /// `None` if there are ties, or too many items.
    fn new(preferences: &PreferenceMatrix) -> Option<Self> {
        let n_items = preferences.shape().n_items();
        let pairs = || (0..n_items).flat_map(|i| (0..i).map(move |j| (i, j)));
        let excess = |i: usize, j: usize| preferences.excess(ItemId::from_index(i), ItemId::from_index(j));
        if n_items > COPELAND_LOWER_BOUND_MOST_ITEMS || pairs().any(|(i, j)| excess(i, j) == 0.0) {
            return None;
        }
        let of_item = |i: usize, beats: bool| {
            (0..n_items).filter(|&j| j != i && (excess(i, j) > 0.0) == beats).collect::<Vec<_>>()
        };
        let superiors: Vec<_> = (0..n_items).map(|i| of_item(i, false)).collect();
        let inferiors = (0..n_items).map(|i| of_item(i, true)).collect();
        let fewest = superiors.iter().map(Vec::len).min().unwrap_or(0);
        let (mut numbers, mut cost) = (vec![None; n_items * n_items], Vec::new());
        for (i, j) in pairs() {
            let above = superiors[i].len() + superiors[j].len() - 2 * fewest;
            if above > 0 {
                let regret = above as f64 / (2.0 * (n_items - 1) as f64);
                numbers[i * n_items + j] = Some(cost.len());
                numbers[j * n_items + i] = Some(cost.len());
                cost.push(regret / divergence_from_half(excess(i, j)));
            }
        }
        Some(Self { superiors, inferiors, numbers, cost })
    }

    /// The set of pairs with the smallest sum of nats among those of which a policy with this
    /// winner needs one nat, and the sum. `None` if there is no such set, or each has a pair that
    /// costs nothing.
    fn least_set(&self, winner: usize, nats: &[f64]) -> Option<(f64, PairSet)> {
        let n_items = self.superiors.len();
        // Pairs that cost nothing give any number of nats.
        let pair = |i: usize, j: usize| {
            let number = self.numbers[i * n_items + j];
            (number.map_or(f64::INFINITY, |number| nats[number]), number.unwrap_or_default(), j)
        };
        let by_nats = |i: usize, others: &[usize], without: usize| {
            let mut pairs: Vec<_> = others.iter().filter(|&&j| j != without).map(|&j| pair(i, j)).collect();
            pairs.sort_unstable_by(|(one, ..), (other, ..)| one.total_cmp(other));
            pairs
        };
        let fewest = self.superiors[winner].len();
        let others = || (0..n_items).filter(|&item| item != winner);
        let second = others().map(|item| self.superiors[item].len()).min()?;
        let (mut least, mut set) = (f64::INFINITY, None);
        for item in others() {
            let rest = by_nats(winner, &self.inferiors[winner], item);
            let superiors = by_nats(item, &self.superiors[item], winner);
            let is_inferior = self.inferiors[winner].contains(&item);
            for l in fewest.saturating_sub(1)..=second {
                for own in [false, true] {
                    if own && !is_inferior {
                        continue;
                    }
                    let n_superiors = self.superiors[item].len().saturating_sub(l + usize::from(own));
                    let Some(n_rest) = (l + 1 - fewest).checked_sub(usize::from(own)) else { continue };
                    if n_rest > rest.len() || n_superiors > superiors.len() {
                        continue;
                    }
                    let own = own.then(|| pair(winner, item));
                    let pairs = || own.iter().chain(&rest[..n_rest]).chain(&superiors[..n_superiors]);
                    let sum: f64 = pairs().map(|(nats, ..)| nats).sum();
                    if sum < least {
                        (least, set) = (sum, Some(pairs().map(|&(_, number, _)| number).collect()));
                    }
                }
            }
        }
        set.map(|set| (least, set))
    }
}

/// The dual program: a basis of sets and slacks of pairs, and its inverse.
struct Program<'c> {
    cost: &'c [f64],
    /// P x P, row by row.
    inverse: Vec<f64>,
    /// The value of each row's set or slack.
    amounts: Vec<f64>,
    /// The set of a row; `None` for a slack.
    sets: Vec<Option<PairSet>>,
    /// The nats of each pair.
    prices: Vec<f64>,
}

impl<'c> Program<'c> {
    /// The basis of all slacks.
    fn new(cost: &'c [f64]) -> Self {
        let n_pairs = cost.len();
        let mut inverse = vec![0.0; n_pairs * n_pairs];
        for row in 0..n_pairs {
            inverse[row * n_pairs + row] = 1.0;
        }
        Self { cost, inverse, amounts: cost.to_vec(), sets: vec![None; n_pairs], prices: vec![0.0; n_pairs] }
    }

    /// Pivots until every pair has non-negative nats and no set has less than one.
    fn solve(&mut self, least_set: impl Fn(&[f64]) -> Option<(f64, PairSet)>) {
        for _ in 0..200 * self.cost.len() {
            let negative = (0..self.prices.len()).find(|&pair| self.prices[pair] < -TOLERANCE);
            let (gain, pairs, set) = if let Some(pair) = negative {
                (-self.prices[pair], vec![pair], None)
            } else {
                match least_set(&self.prices) {
                    Some((sum, set)) if sum < 1.0 - TOLERANCE => (1.0 - sum, set.clone(), Some(set)),
                    _ => return,
                }
            };
            let Some(row) = self.leaving(&pairs) else { return };
            self.pivot(row, &pairs, gain);
            self.sets[row] = set;
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.inverse[row * self.cost.len()..][..self.cost.len()]
    }

    /// By how much one unit of a set lowers the amount of a row.
    fn share(&self, row: usize, pairs: &[usize]) -> f64 {
        let entries = self.row(row);
        pairs.iter().map(|&pair| entries[pair]).sum()
    }

    /// The row whose amount reaches 0 first; of several, the first by the rows of the inverse.
    fn leaving(&self, pairs: &[usize]) -> Option<usize> {
        let shares = (0..self.amounts.len()).map(|row| (row, self.share(row, pairs)));
        let rows = shares.filter(|&(_, share)| share > PIVOT);
        let first = rows.min_by(|&(a, of_a), &(b, of_b)| {
            let by_amount = (self.amounts[a] / of_a).total_cmp(&(self.amounts[b] / of_b));
            by_amount.then_with(|| {
                let entries = self.row(a).iter().zip(self.row(b));
                let mut orders = entries.map(|(x, y)| (x / of_a).total_cmp(&(y / of_b)));
                orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            })
        });
        first.map(|(row, _)| row)
    }

    fn pivot(&mut self, pivot: usize, pairs: &[usize], gain: f64) {
        let n_pairs = self.cost.len();
        let share = self.share(pivot, pairs);
        let entries: Vec<f64> = self.row(pivot).iter().map(|entry| entry / share).collect();
        let amount = self.amounts[pivot] / share;
        for row in 0..n_pairs {
            let share = self.share(row, pairs);
            if share == 0.0 || row == pivot {
                continue;
            }
            for (entry, pivot) in self.inverse[row * n_pairs..][..n_pairs].iter_mut().zip(&entries) {
                *entry -= share * pivot;
            }
            // Rounding leaves no negative amount.
            self.amounts[row] = (self.amounts[row] - share * amount).max(0.0);
        }
        for (price, entry) in self.prices.iter_mut().zip(&entries) {
            *price += gain * entry;
        }
        self.inverse[pivot * n_pairs..][..n_pairs].copy_from_slice(&entries);
        self.amounts[pivot] = amount;
    }

    /// The sum of the amounts of sets, divided by the largest excess over a cost.
    fn value(&self) -> f64 {
        let mut used = vec![0.0; self.cost.len()];
        let mut sum = 0.0;
        for (set, amount) in self.sets.iter().zip(&self.amounts) {
            for &pair in set.iter().flatten() {
                used[pair] += amount;
            }
            sum += set.as_ref().map_or(0.0, |_| *amount);
        }
        let excess = used.iter().zip(self.cost).map(|(used, cost)| used / cost).fold(1.0, f64::max);
        sum / excess
    }
}
