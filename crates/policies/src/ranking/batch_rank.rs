use crate::coin::draw_in_order;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::sort::sort_unstable;
use crate::{Decision, Error, Select, Update};
use click_models::{Clicks, ListFeedback, ListShape, Ranking};
use confidence::math::ln;
use confidence::{Rate, kl_ucb_lower, kl_ucb_upper};
use num_traits::ToPrimitive as _;
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// `BatchRank`: safe ranking from clicks, by eliminating items and splitting batches.
///
/// A batch is a run of positions with the items that may stand there, at the start one batch. In
/// every round each batch shows, in random order, the items that it has shown least in its present
/// stage. Stage `l = 0, 1, ..` of a batch ends when each of its items has been counted
/// `ceil(16 * 4^l ln T)` times. KL bounds with level `ln T + 3 ln ln T` then decide:
///
/// - If the lower bounds of some `s` items, fewer than the positions, exceed the upper bounds of
///   all others, the batch splits: these items go to its first `s` positions, the others to the
///   rest. The largest such `s` counts. Both batches start at stage 0.
/// - Otherwise an item is dropped if at least as many lower bounds as there are positions exceed
///   its upper bound. The next stage starts.
///
/// A display counts if the item was among the least counted ones, so that all counts are equal at
/// the end. Counts restart with every stage.
///
/// Reference: Zoghi, Tunys, Ghavamzadeh, Kveton, Szepesvari, Wen, *Online learning to rank in
/// stochastic click models*, ICML 2017, Algorithms 1 to 4. Deviations: a batch with as many items
/// as positions that does not split continues with its next stage. A batch of one item at one
/// position has no stages. `T = 1` counts every item once a stage.
///
/// The decision's note is the number of changes of batches and stages before it. Feedback from
/// before the last change is ignored, which does not depend on the click; so is late feedback
/// beyond what the items need.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `batches` | `A_t`, `I_b`, `B_b,l` | - | positions and items |
/// | `shows` | `n_b,l` | `n_items` | counted displays in the stage |
/// | `clicks` | `c_b,l` | `n_items` | clicks on these |
/// | `needed` | `n_l` | - | displays |
///
/// Numerics: the bounds err on the safe side.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct BatchRank {
    n_positions: usize,
    horizon: u64,
    /// Number of changes of batches and stages, from 1; the note of current decisions.
    epoch: u64,
    /// Batches from the top of the list down.
    batches: Vec<Batch>,
    /// Items by batch: first those that need a count, then others, by number; dropped ones last.
    items: Vec<u32>,
    /// Counted displays of every item in its batch's stage, and the clicks on them.
    shows: Vec<u64>,
    clicks: Vec<u64>,
    /// Buffer: the bounds of a batch's items when a stage ends.
    bounds: Vec<Bounds>,
}

/// A batch. Items and positions of all but the last are equally many, from the same index.
#[derive(Debug, Clone, Copy)]
struct Batch {
    /// Its first position, and the index of its first item.
    start: usize,
    n_positions: usize,
    n_items: usize,
    stage: u32,
    /// Number of items with the smallest count.
    n_waiting: usize,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    lower: f64,
    upper: f64,
    item: u32,
}

#[derive(Serialize, Deserialize)]
struct State {
    n_positions: usize,
    horizon: u64,
    epoch: u64,
    batches: Vec<SavedBatch>,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct SavedBatch {
    stage: u32,
    items: Vec<u32>,
}

impl BatchRank {
    /// A fresh policy for `horizon` rounds; it may be played for longer.
    pub fn new(shape: ListShape, horizon: u64) -> Self {
        let (n_items, n_positions) = (shape.n_items(), shape.n_positions());
        let mut batches = Vec::with_capacity(n_positions);
        batches.push(Batch::fresh(0, n_positions, n_items));
        Self {
            n_positions,
            horizon,
            epoch: 1,
            batches,
            items: (0_u32..).take(n_items).collect(),
            shows: vec![0; n_items],
            clicks: vec![0; n_items],
            bounds: Vec::with_capacity(n_items),
        }
    }

    /// Counted displays per item at the end of a stage.
    fn needed(&self, batch: Batch) -> u64 {
        if batch.n_items == 1 {
            return u64::MAX;
        }
        let doublings = i32::try_from(batch.stage).unwrap_or(i32::MAX).saturating_mul(2);
        let displays = libm::ldexp(16.0 * ln(self.horizon.max(1) as f64), doublings).ceil();
        // Positive, so what has no conversion is too large.
        displays.to_u64().unwrap_or(u64::MAX).max(1)
    }

    /// Counts the displays of one batch, and ends its stage when no item needs another count.
    #[inline]
    fn record(&mut self, number: usize, shown: &Ranking, clicks: Clicks) {
        let Batch { start, n_positions, n_items, mut n_waiting, .. } = self.batches[number];
        for (position, id) in shown.by_position().skip(start).take(n_positions) {
            let items = &mut self.items[start..start + n_items];
            let item = id.index();
            let Ok(place) = items[..n_waiting].binary_search_by(|&other| (other as usize).cmp(&item)) else {
                continue;
            };
            self.shows[item] += 1;
            self.clicks[item] += u64::from(clicks.get(position));
            // From the items that need a count to the others, by number.
            let before = items[n_waiting..].partition_point(|&other| (other as usize) < item);
            n_waiting -= 1;
            items[place..=n_waiting + before].rotate_left(1);
        }
        self.batches[number].n_waiting = n_waiting;
        if n_waiting == 0 {
            self.arrange(number);
            if self.shows[self.items[start] as usize] >= self.needed(self.batches[number]) {
                self.end_stage(number);
            }
        }
    }

    /// Puts the least counted items of a batch first; each part by number.
    fn arrange(&mut self, number: usize) {
        let Self { items, shows, batches, .. } = self;
        let batch = &mut batches[number];
        let items = &mut items[batch.start..batch.start + batch.n_items];
        let displays = |item: u32| shows[item as usize];
        let least = items.iter().map(|&item| displays(item)).min().unwrap_or(0);
        items.sort_unstable_by_key(|&item| (displays(item) != least, item));
        batch.n_waiting = items.partition_point(|&item| displays(item) == least);
    }

    /// Splits a batch, or drops items and starts its next stage.
    fn end_stage(&mut self, number: usize) {
        let level = Rate::LOG_PLUS_3_LOG_LOG.at_horizon(self.horizon).level(1);
        let Self { items, shows, clicks, bounds, batches, .. } = self;
        let Batch { start, n_positions, n_items, stage, .. } = batches[number];
        let items = &mut items[start..start + n_items];
        bounds.clear();
        for &item in items.iter() {
            let (shows, clicks) = (&mut shows[item as usize], &mut clicks[item as usize]);
            let (displays, mean) = (float(*shows), float(*clicks) / float(*shows));
            let (lower, upper) = (kl_ucb_lower(mean, displays, level), kl_ucb_upper(mean, displays, level));
            bounds.push(Bounds { lower, upper, item });
            (*shows, *clicks) = (0, 0);
        }
        sort_unstable(bounds, &|a, b| b.lower.total_cmp(&a.lower));
        let above = split(bounds, n_positions);
        if above == 0 {
            let bar = bounds[n_positions - 1].lower;
            sort_unstable(bounds, &|a, b| (a.upper < bar, a.item).cmp(&(b.upper < bar, b.item)));
            let n_items = bounds.partition_point(|item| item.upper >= bar);
            let stage = stage.saturating_add(1);
            batches[number] = Batch { start, n_positions, n_items, stage, n_waiting: n_items };
        } else {
            sort_unstable(&mut bounds[..above], &|a, b| a.item.cmp(&b.item));
            sort_unstable(&mut bounds[above..], &|a, b| a.item.cmp(&b.item));
            batches[number] = Batch::fresh(start, above, above);
            batches.insert(number + 1, Batch::fresh(start + above, n_positions - above, n_items - above));
        }
        for (place, bounds) in items.iter_mut().zip(bounds) {
            *place = bounds.item;
        }
        self.epoch += 1;
    }
}

impl Batch {
    fn fresh(start: usize, n_positions: usize, n_items: usize) -> Self {
        Self { start, n_positions, n_items, stage: 0, n_waiting: n_items }
    }
}

/// The largest number of items, below `n_positions`, whose lower bounds exceed the upper bounds of
/// all others; 0 if there is none. Items come by decreasing lower bound.
fn split(bounds: &[Bounds], n_positions: usize) -> usize {
    let mut others = f64::NEG_INFINITY;
    for above in (1..bounds.len()).rev() {
        others = others.max(bounds[above].upper);
        if above < n_positions && bounds[above - 1].lower > others {
            return above;
        }
    }
    0
}

impl From<BatchRank> for State {
    fn from(policy: BatchRank) -> Self {
        let BatchRank { n_positions, horizon, epoch, batches, items, shows, clicks, .. } = policy;
        let saved = |batch: &Batch| {
            let mut items = items[batch.start..batch.start + batch.n_items].to_vec();
            items.sort_unstable();
            SavedBatch { stage: batch.stage, items }
        };
        Self { n_positions, horizon, epoch, batches: batches.iter().map(saved).collect(), shows, clicks }
    }
}

restored!(BatchRank, |saved| {
    let State { n_positions, horizon, epoch, batches, shows, clicks } = saved;
    let mut policy = Self::new(ListShape::new(shows.len(), n_positions)?, horizon);
    check_counts(epoch, &shows, &clicks)?;
    let mut dropped = vec![true; shows.len()];
    policy.batches.clear();
    policy.items.clear();
    for (number, SavedBatch { stage, items }) in batches.iter().enumerate() {
        let (start, n_items) = (policy.items.len(), items.len());
        let is_last = number + 1 == batches.len();
        let n_positions = if is_last { n_positions - start } else { n_items };
        let is_new = |&item: &u32| {
            dropped.get_mut(item as usize).is_some_and(|dropped| std::mem::replace(dropped, false))
        };
        let fits =
            n_items >= n_positions && (is_last || (n_items > 0 && start + n_items < policy.n_positions));
        if !fits || !items.iter().all(is_new) {
            return Err(Error::SavedBatches);
        }
        policy.batches.push(Batch { stage: *stage, ..Batch::fresh(start, n_positions, n_items) });
        policy.items.extend_from_slice(items);
    }
    if policy.batches.is_empty() {
        return Err(Error::SavedBatches);
    }
    policy.items.extend((0_u32..).zip(&dropped).filter(|&(_, &dropped)| dropped).map(|(item, _)| item));
    let policy = Self { epoch, shows, clicks, ..policy };
    Ok((0..policy.batches.len()).fold(policy, |mut policy, number| {
        policy.arrange(number);
        policy
    }))
});

setup!(BatchRank, &["/horizon"], |policy| [policy.shows.len(), policy.n_positions]);

impl Select<Ranking> for BatchRank {
    /// The number of changes so far.
    type Note = u64;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, u64>) {
        out.note = self.epoch;
        let list = out.action.positions_mut(self.n_positions);
        for &Batch { start, n_positions, n_items, n_waiting, .. } in &self.batches {
            let (waiting, others) = self.items[start..start + n_items].split_at_mut(n_waiting);
            let places = &mut list[start..start + n_positions];
            let (first, rest) = places.split_at_mut(n_positions.min(n_waiting));
            draw_in_order(waiting, first, rng);
            if !rest.is_empty() {
                draw_in_order(others, rest, rng);
                places.shuffle(rng);
            }
        }
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl<F: ListFeedback> Update<Ranking, F> for BatchRank {
    fn update(&mut self, decision: &Decision<Ranking, u64>, feedback: &F) {
        if decision.note == self.epoch {
            // From the bottom up: a split inserts a batch below.
            for number in (0..self.batches.len()).rev() {
                self.record(number, &decision.action, feedback.list_clicks());
            }
        }
    }
}
