//! The best list of user browsing, by branch and bound.
//!
//! A beginning of a list leaves a distribution `p_j` of the last click. The reward below is the sum
//! of `attraction[item] E_t` over its later positions `t`, where `E_t` is the probability that `t`
//! is examined. The search drops a beginning if no list that starts with it can be the best.
//!
//! **The bound.** Let `X_j(m)` be the most that position `t` can be examined if the last click
//! above position `m <= t` is `j`, and every attraction from `m` on is any number between the
//! smallest, `low`, and the largest, `high`, of the items that are left:
//!
//! ```text
//! X_j(t) = examination[t][j],
//! X_j(m) = max over a in {low, high} of  a e X_{m+1}(m + 1) + (1 - a e) X_j(m + 1),      e = examination[m][j].
//! ```
//!
//! The expression is linear in `a`, so its maximum is at an end. By induction from `t` upwards no
//! choice of items examines `t` with a larger probability: `E_t <= sum over j of p_j X_j(m)`. By
//! the rearrangement inequality the later items earn at most the sum of the sorted bounds of `E_t`
//! times the sorted attractions of the items that are left. After the next item, of attraction `a`,
//! `p` and so the bound of each `E_t` is linear in `a`: two coefficients serve all next items.
//!
//! **Ties.** The answer has the list and the bits of an enumeration of all lists in lexicographic
//! order that keeps the first of equal lists: beginnings are extended in this order, and dropped
//! only if they are worse by more than [`ROUNDING`]. Two shortcuts leave out later lists with the
//! same bits: of items of equal attraction the first one that is left is tried, and positions below
//! the last one that anybody can examine get the first items that are left.
//!
//! Reference: Land, Doig, *An automatic method of solving discrete programming problems*,
//! Econometrica 28, 1960; the bound is ours.
//!
//! Numerics: sums of at most 64 products of probabilities; their rounding is below 1e-11.
//! Complexity: O(`n_positions`^3 + `n_items n_positions`) for every beginning that is extended; at
//! most [`MAX_BEGINNINGS`] beginnings, and fewer with more than ten positions, so that the longest
//! lists take about as long.

use super::UserBrowsing;
use crate::linear_list::decreasing;
use crate::{ItemId, ListShape, Ranking};
use confidence::Probability;

/// Beginnings of lists that are tried at most: with up to 10^6 lists there are fewer in all.
pub(super) const MAX_BEGINNINGS: u64 = 10_000_000;

/// A beginning is dropped if its bound is this much below the best list.
const ROUNDING: f64 = 1e-10;

/// A number for every last click: none, or one of the positions.
type ByLastClick = [f64; ListShape::MAX_POSITIONS + 1];

/// Finds the best list and its clicks, and says how many beginnings that took; `None` if more than
/// [`MAX_BEGINNINGS`].
pub(super) fn best_list(users: &UserBrowsing) -> Option<((Ranking, f64), u64)> {
    let mut search = Search::new(users);
    let mut last = [0.0; ListShape::MAX_POSITIONS + 1];
    last[0] = 1.0;
    search.extend(&last, 0.0)?;
    Some(((search.best, search.most), search.beginnings))
}

struct Search<'a> {
    users: &'a UserBrowsing,
    attraction: Vec<f64>,
    /// The items, most attractive first.
    order: Vec<usize>,
    /// The item before with the same attraction, if there is one, by item.
    twin: Vec<Option<usize>>,
    /// Positions down to the last one that anybody can examine.
    n_examined: usize,
    is_shown: Vec<bool>,
    list: Ranking,
    /// The best list is known to have this many clicks at least.
    reached: f64,
    best: Ranking,
    most: f64,
    beginnings: u64,
}

/// A bound on the examination of a later position, after a next item of attraction `a`:
/// `constant + slope a`.
struct Examined {
    constant: f64,
    slope: f64,
}

impl<'a> Search<'a> {
    fn new(users: &'a UserBrowsing) -> Self {
        let attraction: Vec<f64> = users.attraction.iter().map(|attraction| attraction.get()).collect();
        let order = decreasing(&users.attraction);
        let mut twin = vec![None; order.len()];
        for pair in
            order.windows(2).filter(|pair| pair[0] < pair[1] && attraction[pair[0]] == attraction[pair[1]])
        {
            twin[pair[1]] = Some(pair[0]);
        }
        let is_examined = |row: &Vec<Probability>| row.iter().any(|examined| examined.get() > 0.0);
        let mut search = Self {
            users,
            order,
            twin,
            n_examined: users.examination.iter().rposition(is_examined).map_or(0, |last| last + 1),
            is_shown: vec![false; attraction.len()],
            attraction,
            list: Ranking::default(),
            reached: -1.0,
            best: Ranking::default(),
            most: -1.0,
            beginnings: 0,
        };
        search.reached = search.climb();
        search
    }

    /// The clicks on a good list: the most attractive items in their order, improved by exchanging
    /// two items until no exchange helps.
    fn climb(&self) -> f64 {
        let mut order: Ranking = self.order.iter().copied().map(ItemId::from_index).collect();
        let n_positions = self.users.shape.n_positions();
        let mut most = self.users.clicks_on(&order.as_slice()[..n_positions]);
        loop {
            let before = most;
            for place in 0..n_positions {
                for other in place + 1..order.len() {
                    let items = order.positions_mut(self.order.len());
                    items.swap(place, other);
                    let reached = self.users.clicks_on(&items[..n_positions]);
                    if reached > most + ROUNDING {
                        most = reached;
                    } else {
                        items.swap(place, other);
                    }
                }
            }
            if most <= before {
                return most;
            }
        }
    }

    /// Tries all lists that begin with the current one, after which the last click has this
    /// distribution; `None` if the search gets too long.
    fn extend(&mut self, last: &ByLastClick, clicks: f64) -> Option<()> {
        let position = self.list.len();
        if position == self.n_examined {
            self.end(clicks);
            return Some(());
        }
        let examined = self.examined_below(last);
        // The share of a long list in the time for all beginnings.
        let long = (self.n_examined - position).saturating_sub(10) as u64;
        self.beginnings += long.pow(3) / 32;
        for item in 0..self.attraction.len() {
            if self.is_shown[item] || self.twin[item].is_some_and(|twin| !self.is_shown[twin]) {
                continue;
            }
            self.beginnings += 1 + long / 2;
            if self.beginnings > MAX_BEGINNINGS {
                return None;
            }
            let (mut next, mut here) = (*last, 0.0);
            self.users.click(position, self.attraction[item], &mut next, &mut here);
            self.is_shown[item] = true;
            if clicks + here + self.most_below(&examined, self.attraction[item]) >= self.reached - ROUNDING {
                self.list.push(ItemId::from_index(item));
                self.extend(&next, clicks + here)?;
                self.list.positions_mut(position);
            }
            self.is_shown[item] = false;
        }
        Some(())
    }

    /// Keeps the first list with the current beginning if it is better than all before. Nobody
    /// examines the positions that are left.
    fn end(&mut self, clicks: f64) {
        if clicks <= self.most {
            return;
        }
        self.most = clicks;
        self.reached = self.reached.max(clicks);
        self.best.clone_from(&self.list);
        let left = self.is_shown.iter().enumerate().filter(|(_, is_shown)| !**is_shown);
        let left = left.map(|(item, _)| ItemId::from_index(item));
        left.take(self.users.shape.n_positions() - self.n_examined).for_each(|item| self.best.push(item));
    }

    /// Bounds on the examination of the positions below the next one.
    fn examined_below(&self, last: &ByLastClick) -> Vec<Examined> {
        let position = self.list.len();
        let mut left =
            self.order.iter().filter(|&&item| !self.is_shown[item]).map(|&item| self.attraction[item]);
        let high = left.next().unwrap_or(0.0);
        let low = left.next_back().unwrap_or(high);
        let next = &self.users.examination[position];
        let bound = |later: usize| {
            let mut most = [0.0; ListShape::MAX_POSITIONS + 1];
            for (most, examined) in most.iter_mut().zip(&self.users.examination[later]) {
                *most = examined.get();
            }
            for above in (position + 1..later).rev() {
                let clicked = most[above + 1];
                for (most, examined) in most.iter_mut().zip(&self.users.examination[above]) {
                    let a = if clicked > *most { high } else { low };
                    *most += a * examined.get() * (clicked - *most);
                }
            }
            let clicked = most[position + 1];
            let mut bound = Examined { constant: 0.0, slope: 0.0 };
            for ((last, most), examined) in last.iter().zip(&most).zip(next) {
                bound.constant += last * most;
                bound.slope += last * examined.get() * (clicked - most);
            }
            bound
        };
        (position + 1..self.n_examined).map(bound).collect()
    }

    /// A bound on the clicks below the next item, which is marked as shown and has this attraction.
    fn most_below(&self, examined: &[Examined], attraction: f64) -> f64 {
        let mut sorted = [0.0; ListShape::MAX_POSITIONS];
        let sorted = &mut sorted[..examined.len()];
        for (bound, examined) in sorted.iter_mut().zip(examined) {
            *bound = examined.constant + examined.slope * attraction;
        }
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let left = self.order.iter().filter(|&&item| !self.is_shown[item]);
        sorted.iter().zip(left).map(|(bound, &item)| bound * self.attraction[item]).sum()
    }
}
