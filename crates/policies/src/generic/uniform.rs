//! Uniform: a fresh random list, or a random cell of a table, in every round.
//!
//! Every ordered list of `n_positions` distinct items has the same probability, and so has every
//! cell.
//!
//! Reference: none needed; the lower baseline of every comparison. Deviations: none. Symbols: none.
//! Numerics: items are drawn without modulo bias. Complexity: O(`n_positions`^2) a round; up to
//! `n_positions` ln `n_positions` draws when all items are shown.
//!
//! # Examples
//!
//! ```
//! use click_models::{ListShape, Ranking};
//! use policies::{Decision, Select, Uniform};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let shape = ListShape::new(5, 3)?;
//! let mut decision = Decision::<Ranking>::default();
//! Uniform::new(shape).select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
//! assert!(decision.action.fits(shape));
//! // One list of 5 * 4 * 3 = 60.
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::checked::with_state;
use crate::error::check_counts;
use crate::live::{LiveState, OnTable, Table, on_table, present_items};
use crate::setup::{restored, setup};
use crate::top_l::{MOST_HASHED, Ties, TopL};
use crate::{Decision, Error, Recommend, Select, SelectAmong, Tally, Update};
use click_models::{Cell, DuelShape, ItemId, ItemSet, ListShape, Pair, Ranking, TableShape};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

with_state! {
/// Shows a uniformly random list.
///
/// It learns nothing: its table of displays and clicks is for the caller only, and does not count
/// the feedback of its rounds.
pub struct Uniform {
    shape: ListShape,
} live derived {
    top: TopL = TopL::new(shape.n_positions()),
}
}

impl Uniform {
    /// A uniform policy for lists of this shape.
    pub fn new(shape: ListShape) -> Self {
        Self::over(shape, LiveState::default())
    }
}

restored!(Uniform, |State { shape, live }| {
    let live = LiveState::restore(live, shape.n_items())?;
    if live.shows.len() > shape.n_items() {
        return Err(Error::SavedSizes);
    }
    check_counts(0, &live.shows, &live.clicks)?;
    Ok(Self::over(shape, live))
});

setup!(Uniform, &[], |policy| [policy.shape.n_items(), policy.shape.n_positions()]);

impl Select<Ranking> for Uniform {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        draw_list(self.shape, rng, &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

#[inline]
pub(crate) fn draw_list<R: Rng + ?Sized>(shape: ListShape, rng: &mut R, list: &mut Ranking) {
    list.clear();
    while list.len() < shape.n_positions() {
        // Redrawing an item is cheap: a list has at most 64 positions.
        let item = ItemId::from_index(rng.random_range(0..shape.n_items()));
        if !list.contains(item) {
            list.push(item);
        }
    }
}

/// Draws a list of the items of `available` that are present, below `n_items`.
#[inline]
pub(crate) fn draw_list_among<R: Rng + ?Sized>(
    available: &ItemSet,
    (absent, n_items): (&ItemSet, usize),
    top: &mut TopL,
    rng: &mut R,
    list: &mut Ranking,
) {
    list.clear();
    if available.len() > MOST_HASHED && !top.has_groups() {
        // Hardly any draw is in vain, unless most of these items are absent or unknown.
        for _ in 0..MOST_HASHED {
            let item = available.nth(rng.random_range(0..available.len()));
            let is_offered =
                |item: &ItemId| item.index() < n_items && !absent.contains(*item) && !list.contains(*item);
            item.filter(is_offered).into_iter().for_each(|item| list.push(item));
            if list.len() == top.capacity {
                return;
            }
        }
    }
    // Equals, whose order is random.
    let ties = Ties::draw(rng);
    top.clear();
    let rest = present_items(available, absent, n_items).filter(|item| !list.contains(*item));
    rest.for_each(|item| top.offer(item.number(), 0.0, ties));
    let wanted = top.capacity - list.len();
    top.best.iter().take(wanted).for_each(|&(_, item)| list.push(ItemId::new(item)));
}

impl SelectAmong<Ranking> for Uniform {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { shape, live, top } = self;
        top.limit(live.terms.as_deref());
        if !live.has_terms() && live.absent.is_empty() && available.is_all(shape.n_items()) {
            return draw_list(*shape, rng, &mut out.action);
        }
        draw_list_among(available, (&live.absent, shape.n_items()), top, rng, &mut out.action);
    }
}

/// Counts up to the last item that has any: the number of items may come from a damaged state.
impl Table for Uniform {
    fn n_items(&self) -> usize {
        self.shape.n_items()
    }

    fn n_kinds(&self) -> usize {
        1
    }

    fn tally(&self, item: usize, _kind: usize) -> Tally {
        let [shows, clicks] =
            [&self.live.shows, &self.live.clicks].map(|counts| counts.get(item).copied().unwrap_or(0));
        Tally { shows, clicks }
    }

    fn set_tally(&mut self, item: usize, _kind: usize, tally: Tally) {
        let LiveState { shows, clicks, .. } = &mut self.live;
        if shows.len() <= item {
            shows.resize(item + 1, 0);
            clicks.resize(item + 1, 0);
        }
        (shows[item], clicks[item]) = (tally.shows, tally.clicks);
    }

    fn push(&mut self) {
        self.shape = self.shape.with_another_item();
    }
}

impl OnTable for Uniform {
    on_table!(Self, |policy| *policy);
}

impl<F> Update<Ranking, F> for Uniform {
    fn update(&mut self, _decision: &Decision<Ranking>, _feedback: &F) {}
}

/// Plays a uniformly random cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniformCell {
    shape: TableShape,
}

impl UniformCell {
    /// A uniform policy for tables of this shape.
    pub fn new(shape: TableShape) -> Self {
        Self { shape }
    }
}

setup!(UniformCell, &[], |policy| [policy.shape.n_rows(), policy.shape.n_columns()]);

impl Select<Cell> for UniformCell {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        out.action = self.shape.cell(rng.random_range(0..self.shape.n_cells()));
    }
}

impl<F> Update<Cell, F> for UniformCell {
    fn update(&mut self, _decision: &Decision<Cell>, _feedback: &F) {}
}

/// Compares two uniformly random items, which may be the same one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniformPair {
    shape: DuelShape,
}

impl UniformPair {
    /// A uniform policy for pairs of these items.
    pub fn new(shape: DuelShape) -> Self {
        Self { shape }
    }

    fn item<R: Rng + ?Sized>(&self, rng: &mut R) -> ItemId {
        ItemId::from_index(rng.random_range(0..self.shape.n_items()))
    }
}

setup!(UniformPair, &[], |policy| [policy.shape.n_items(), 2]);

impl Select<Pair> for UniformPair {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        out.action = Pair::new(self.item(rng), self.item(rng));
    }
}

impl<F> Update<Pair, F> for UniformPair {
    fn update(&mut self, _decision: &Decision<Pair>, _feedback: &F) {}
}

impl Recommend<ItemId> for UniformPair {
    /// A random item: the policy has learnt nothing.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        *out = self.item(rng);
    }
}
