//! Several replications of PBM-UCB at once, one in each lane of the vector registers.
//!
//! The choices and the counts are those of [`PbmUcb`], bit for bit: every number is computed by the same operations in the same order. The
//! methods are loops over lanes without branches, and are always inlined, so they are compiled for the vector instructions of their
//! caller. Only ties are settled lane by lane; they are rare once every item has been shown.
//!
//! A list has `L` positions. The position of a row comes before its lane.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the vector instructions of the caller"
)]
#![expect(clippy::needless_range_loop, reason = "loops over lanes of several rows at once")]

use super::{PbmCounts, PbmUcb, Saved};
use crate::Error;
use crate::top_l::{Ties, TopL};
use confidence::Rate;
use std::array;

/// Replications in lockstep.
pub const LANES: usize = 8;

/// Lanes that are compared together: as many as a register of AVX2 holds.
const GROUP: usize = 4;

/// One number for each lane.
type Row<T> = [T; LANES];

/// The largest number of items, a power of two.
const MAX_ITEMS: usize = 16;

/// The index of an item that a lane does not have, below those of all items.
const ABSENT: f64 = -2.0;
/// Below the indices of all items, above [`ABSENT`].
const NOTHING: f64 = -1.0;

/// Adds one item to a count above the bits of its number.
const ONE_ITEM: u64 = 1 << 32;

/// Replications of [`PbmUcb`] in lockstep, on lists of `L` positions.
///
/// # Examples
///
/// ```
/// use click_models::{ClickModel, PositionBased};
/// use confidence::Rate;
/// use policies::{LANES, PbmUcb, PbmUcbLanes};
///
/// let users = PositionBased::from_values(&[0.5, 0.3, 0.1], &[0.9, 0.6])?;
/// let fresh = std::array::from_fn(|_| PbmUcb::new(users.known(), Rate::LOG));
/// let mut lanes = PbmUcbLanes::<2>::new(fresh).expect("equal sizes");
/// // One random number for each lane, as `PbmUcb` draws one in every round.
/// let shown = *lanes.select(&[7; LANES]);
/// assert!((0..LANES).all(|lane| shown[0][lane] != shown[1][lane]));
/// lanes.update(&[[1.0; LANES], [0.0; LANES]]);
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PbmUcbLanes<const L: usize> {
    policies: [PbmUcb; LANES],
    rate: Rate,
    rounds: u64,
    /// Positions of the best, the second best, ... item.
    order: [usize; L],
    /// Examination of a position, once for every position at which the item may be shown now.
    weights: [[Row<f64>; L]; L],
    n_items: usize,
    /// Of a fixed size, so that an index needs no check.
    items: Box<[Item<L>; MAX_ITEMS]>,
    /// The item at every position.
    shown: [Row<u64>; L],
}

/// What the lanes know of an item. Counts are whole numbers below `2^53`.
#[derive(Debug, Clone)]
struct Item<const L: usize> {
    estimate: Row<f64>,
    width: Row<f64>,
    total_clicks: Row<f64>,
    shows: [Row<f64>; L],
    clicks: [Row<f64>; L],
}

impl<const L: usize> PbmUcbLanes<L> {
    /// The largest number of items: beyond it, [`PbmUcb`] is not slower.
    pub const MAX_ITEMS: usize = MAX_ITEMS;

    /// The largest number of rounds, below which counts are exact as floating-point numbers.
    const MAX_ROUNDS: u64 = 1 << 52;

    /// Puts every policy into a lane. `None` if they cannot go in lockstep: unless all have `L` positions, at most
    /// [`Self::MAX_ITEMS`] items, and the same round, rate and order of positions. Examination and the number of items may differ.
    pub fn new(policies: [PbmUcb; LANES]) -> Option<Self> {
        let first = &policies[0];
        let rate = first.rate;
        let (rounds, ..) = first.counts.table();
        let order: [usize; L] = first.counts.order().try_into().ok()?;
        let fits = |policy: &PbmUcb| {
            policy.counts.n_items() <= Self::MAX_ITEMS
                && policy.counts.table().0 == rounds
                && policy.rate == rate
                && policy.counts.order() == order
        };
        if L == 0 || rounds >= Self::MAX_ROUNDS || !policies.iter().all(fits) {
            return None;
        }
        let weights = array::from_fn(|position| {
            [array::from_fn(|lane| policies[lane].counts.examination()[position]); L]
        });
        let n_items = policies.iter().map(|policy| policy.counts.n_items()).max()?;
        let items = Box::new(array::from_fn(|item| Item::of(item, &policies)));
        Some(Self { n_items, rate, rounds, order, weights, items, shown: [[0; LANES]; L], policies })
    }

    /// Chooses the lists of a new round: the item of each lane at every position. `keys` are the random numbers of the lanes.
    #[inline(always)]
    pub fn select(&mut self, keys: &Row<u64>) -> &[Row<u64>; L] {
        self.rounds += 1;
        let root_of_level = self.rate.level(self.rounds).sqrt();
        let mut ties = 0;
        for group in 0..LANES / GROUP {
            let first = group * GROUP;
            // Loops over a fixed number of items are compiled to better code, up to about eight. Absent items are never chosen.
            ties |= match self.n_items {
                0..=5 => self.choose(first, root_of_level, &mut [[0.0; GROUP]; 5]),
                6..=8 => self.choose(first, root_of_level, &mut [[0.0; GROUP]; 8]),
                _ => self.choose(first, root_of_level, &mut [[0.0; GROUP]; MAX_ITEMS][..self.n_items]),
            };
        }
        if ties != 0 {
            self.settle(keys, root_of_level);
        }
        &self.shown
    }

    /// Chooses the lists of the lanes from `first` on. Returns 0 if there was no tie. `indices` has room for all items.
    #[inline(always)]
    fn choose(&mut self, first: usize, root_of_level: f64, indices: &mut [[f64; GROUP]]) -> u64 {
        for (index, item) in indices.iter_mut().zip(&*self.items) {
            for lane in 0..GROUP {
                index[lane] = item.estimate[first + lane] + item.width[first + lane] * root_of_level;
            }
        }
        let mut ties = [0; GROUP];
        for position in self.order {
            let mut largest = [NOTHING; GROUP];
            for index in indices.iter() {
                for lane in 0..GROUP {
                    largest[lane] = if index[lane] > largest[lane] { index[lane] } else { largest[lane] };
                }
            }
            // The sum of the largest items: their numbers, and above them how many there are.
            let mut best = [0_u64; GROUP];
            for (number, index) in (ONE_ITEM..).zip(indices.iter_mut()) {
                for lane in 0..GROUP {
                    let is_best = 0_u64.wrapping_sub(u64::from(index[lane] == largest[lane]));
                    best[lane] += is_best & number;
                    // Not a number, so never the largest again.
                    index[lane] = f64::from_bits(index[lane].to_bits() | is_best);
                }
            }
            let shown = &mut self.shown[position][first..first + GROUP];
            for lane in 0..GROUP {
                shown[lane] = best[lane] & (ONE_ITEM - 1);
                ties[lane] |= (best[lane] - shown[lane]) ^ ONE_ITEM;
            }
        }
        ties.iter().fold(0, |all, one| all | one)
    }

    /// Chooses all lists as [`PbmUcb`] does.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, keys: &Row<u64>, root_of_level: f64) {
        let mut top = TopL::new(L);
        for (lane, &key) in keys.iter().enumerate() {
            top.clear();
            for (number, item) in (0_u32..).zip(&self.items[..self.n_items]) {
                let index = item.estimate[lane] + item.width[lane] * root_of_level;
                top.offer(number, index, Ties::of(key));
            }
            for (&position, &(_, item)) in self.order.iter().zip(top.best()) {
                self.shown[position][lane] = u64::from(item);
            }
        }
    }

    /// Learns from the clicks on the lists chosen last: 1 for a click, and 0 for none.
    #[inline(always)]
    pub fn update(&mut self, clicked: &[Row<f64>; L]) {
        let mut shows = [[[0.0; LANES]; L]; L];
        let mut total_clicks = [[0.0; LANES]; L];
        for shown in 0..L {
            for lane in 0..LANES {
                let item = &mut self.items[number(self.shown[shown][lane])];
                item.shows[shown][lane] += 1.0;
                item.clicks[shown][lane] += clicked[shown][lane];
                item.total_clicks[lane] += clicked[shown][lane];
                total_clicks[shown][lane] = item.total_clicks[lane];
                for position in 0..L {
                    shows[position][shown][lane] = item.shows[position][lane];
                }
            }
        }
        let (mut estimate, mut width) = ([[0.0; LANES]; L], [[0.0; LANES]; L]);
        // One loop over all positions and lanes, which is more easily compiled to vectors than two.
        for cell in 0..L * LANES {
            let (mut weighted, mut total) = (0.0, 0.0);
            for (shows, weights) in shows.iter().zip(&self.weights) {
                weighted += shows.as_flattened()[cell] * weights.as_flattened()[cell];
                total += shows.as_flattened()[cell];
            }
            let clicks = total_clicks.as_flattened()[cell];
            let (new_estimate, new_width) = estimate_and_width(weighted, total, clicks);
            estimate.as_flattened_mut()[cell] = new_estimate;
            width.as_flattened_mut()[cell] = new_width;
        }
        for shown in 0..L {
            for lane in 0..LANES {
                let item = &mut self.items[number(self.shown[shown][lane])];
                item.estimate[lane] = estimate[shown][lane];
                item.width[lane] = width[shown][lane];
            }
        }
    }

    /// The policy of a lane, as it would be if it had been played alone.
    ///
    /// # Errors
    ///
    /// It was given clicks other than 0 and 1.
    ///
    /// # Panics
    ///
    /// If there is no such lane.
    pub fn policy(&self, lane: usize) -> Result<PbmUcb, Error> {
        let counts = self.policies[lane].counts.clone();
        let items = &self.items[..counts.n_items()];
        let cells = |of: fn(&Item<L>) -> &[Row<f64>; L]| {
            items.iter().flat_map(of).map(|row| count(row[lane])).collect()
        };
        let counts = counts.with_table(self.rounds, cells(|item| &item.shows), cells(|item| &item.clicks))?;
        Ok(PbmUcb::from(Saved { rate: self.rate, counts }))
    }
}

impl<const L: usize> Item<L> {
    fn of(item: usize, policies: &[PbmUcb; LANES]) -> Self {
        let row = |value: &dyn Fn(&PbmUcb) -> f64, absent: f64| {
            array::from_fn(|lane| {
                let policy = &policies[lane];
                if item < policy.counts.n_items() { value(policy) } else { absent }
            })
        };
        let at = |of: fn(&PbmCounts, usize) -> &[u64]| {
            array::from_fn(|position| row(&|policy| of(&policy.counts, item)[position] as f64, 0.0))
        };
        Self {
            estimate: row(&|policy| policy.arms.arm(item).mean_and_width().0, ABSENT),
            width: row(&|policy| policy.arms.arm(item).mean_and_width().1, 0.0),
            total_clicks: row(&|policy| policy.counts.total_clicks(item), 0.0),
            shows: at(PbmCounts::shows),
            clicks: at(PbmCounts::clicks),
        }
    }
}

/// As [`super::arm`], free of branches.
#[inline(always)]
fn estimate_and_width(weighted: f64, total: f64, clicks: f64) -> (f64, f64) {
    let per_show = 1.0 / weighted;
    let (estimate, width) = (clicks * per_show, (0.5 * total).sqrt() * per_show);
    let is_seen = weighted > 0.0;
    (if is_seen { estimate } else { f64::INFINITY }, if is_seen { width } else { 0.0 })
}

/// The number of an item as an index.
#[inline(always)]
fn number(item: u64) -> usize {
    usize::try_from(item).unwrap_or(0) % MAX_ITEMS
}

/// A count as it is saved.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 2^53")]
fn count(count: f64) -> u64 {
    count as u64
}

#[cfg(test)]
mod tests;
