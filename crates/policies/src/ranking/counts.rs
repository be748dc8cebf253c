//! Observed displays and clicks of every item: the statistics of an observed prefix.

use super::PrefixKnown;
use crate::Tally;
use crate::checked::checked;
use crate::error::check_counts;
use crate::live::Table;
use crate::pbm::counts::place_items;
use crate::rounds::Rounds;
use click_models::{Clicks, ItemId, ListShape, Ranking};
use serde::{Deserialize, Serialize};

/// The counts of a prefix policy. Only observed displays count: positions inside the prefix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) struct PrefixCounts {
    pub(crate) n_positions: usize,
    /// Position of the best item, of the second best, and so on; empty for top down.
    #[serde(default)]
    places: Vec<usize>,
    pub(crate) rounds: Rounds,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl PrefixCounts {
    pub(crate) fn new(known: PrefixKnown<'_>) -> Self {
        let shape = known.shape();
        let fresh = vec![0; shape.n_items()];
        let places = if known.places.is_sorted() { vec![] } else { known.places.to_vec() };
        Self {
            n_positions: shape.n_positions(),
            places,
            rounds: Rounds::default(),
            shows: fresh.clone(),
            clicks: fresh,
        }
    }

    pub(crate) fn n_items(&self) -> usize {
        self.shows.len()
    }

    /// Numbers of items and positions.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.n_items(), self.n_positions]
    }

    pub(crate) fn shows(&self, item: usize) -> u64 {
        self.shows[item]
    }

    pub(crate) fn clicks(&self, item: usize) -> u64 {
        self.clicks[item]
    }

    /// The position of the item of this rank, 0 for the best.
    pub(crate) fn place(&self, rank: usize) -> usize {
        self.places.get(rank).copied().unwrap_or(rank)
    }

    /// Shows `best` (scores and items, best first), every item at the position of its rank.
    #[inline]
    pub(crate) fn show(&self, best: &[(f64, u32)], out: &mut Ranking) {
        self.show_items(best.iter().map(|&(_, item)| item), out);
    }

    /// Shows `best` (items, best first), every item at the position of its rank.
    #[inline]
    pub(crate) fn show_items(&self, best: impl ExactSizeIterator<Item = u32>, out: &mut Ranking) {
        if self.places.is_empty() {
            for (position, item) in out.positions_mut(best.len()).iter_mut().zip(best) {
                *position = ItemId::new(item);
            }
        } else {
            place_items(best, &self.places, out);
        }
    }

    /// Counts a round's observed displays and clicks; calls `changed` for every known item.
    #[inline]
    pub(crate) fn record(
        &mut self,
        shown: &Ranking,
        observed: Clicks,
        mut changed: impl FnMut(&Self, usize),
    ) {
        for (position, item) in shown.by_position().take(observed.len()) {
            if item.index() < self.n_items() {
                self.shows[item.index()] += 1;
                self.clicks[item.index()] += u64::from(observed.get(position));
                changed(self, item.index());
            }
        }
    }
}

impl Table for PrefixCounts {
    fn n_items(&self) -> usize {
        self.shows.len()
    }

    fn n_kinds(&self) -> usize {
        1
    }

    fn tally(&self, item: usize, _kind: usize) -> Tally {
        Tally { shows: self.shows[item], clicks: self.clicks[item] }
    }

    fn set_tally(&mut self, item: usize, _kind: usize, tally: Tally) {
        (self.shows[item], self.clicks[item]) = (tally.shows, tally.clicks);
    }

    fn push(&mut self) {
        self.shows.push(0);
        self.clicks.push(0);
    }

    fn place(&self, rank: usize) -> usize {
        self.place(rank)
    }
}

checked!(PrefixCounts, |self| {
    let shape = ListShape::new(self.shows.len(), self.n_positions)?;
    let known = PrefixKnown::with_places(shape, &self.places)?;
    check_counts(self.rounds.get(), &self.shows, &self.clicks)?;
    Ok(Self { places: Self::new(known).places, ..self })
});
