//! Displays and clicks of every item at every position (PBM paper, section 2).
//!
//! | here | paper |
//! |---|---|
//! | `shows(item)[position]` | `N_{k,l}` |
//! | `clicks(item)[position]` | `S_{k,l}` |
//! | `weighted_shows(item)` | `N~_k`, displays weighted by examination |

use crate::checked::with_state;
use crate::error::check_counts;
use crate::exact::float;
use crate::live::Table;
use crate::rounds::Rounds;
use crate::sampling::thompson::ListCounts;
use crate::setup::restored;
use crate::{Error, Tally};
use click_models::{ItemId, ListShape, PbmKnown, Ranking, RenderedClicks};
use confidence::Probability;

/// A position with a smaller examination counts as never examined, as in `confidence`: no run is
/// long enough to learn from it, and the reciprocal would overflow.
const LEAST_EXAMINATION: f64 = 1e-100;

/// The examination that counts.
fn weight(examined: Probability) -> f64 {
    if examined.get() < LEAST_EXAMINATION { 0.0 } else { examined.get() }
}

/// Positions from the most to the least examined, the upper one first among equals.
pub(crate) fn order_of(examination: &[Probability]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..examination.len()).collect();
    order.sort_by(|&a, &b| weight(examination[b]).total_cmp(&weight(examination[a])));
    order
}

/// Sorts positions by decreasing examination, the upper one first among equals.
pub(super) fn sort_by_examination(order: &mut [usize], examination: &[f64]) {
    order.sort_unstable_by(|&a, &b| examination[b].total_cmp(&examination[a]).then(a.cmp(&b)));
}

with_state! {
/// The counts of a position-based policy, and its knowledge of the users.
#[derive(PartialEq)]
pub(crate) struct PbmCounts {
    examination: Vec<Probability>,
    pub(crate) rounds: Rounds,
    /// Item by item, every position.
    shows: Vec<u64>,
    clicks: Vec<u64>,
} derived {
    /// Positions from the most to the least examined.
    pub(crate) order: Vec<usize> = order_of(&examination),
    weights: Vec<f64> = examination.iter().copied().map(weight).collect(),
}
}

impl PbmCounts {
    pub(crate) fn new(known: PbmKnown<'_>) -> Self {
        let (examination, rounds) = (known.examination().to_vec(), Rounds::default());
        let fresh = vec![0; known.shape().n_items() * known.shape().n_positions()];
        Self::assemble(State { examination, rounds, shows: fresh.clone(), clicks: fresh })
    }

    pub(crate) fn n_positions(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn n_items(&self) -> usize {
        self.shows.len() / self.n_positions()
    }

    /// Numbers of items and positions.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.n_items(), self.n_positions()]
    }

    /// Examination of every position; 0 where it is too small to matter.
    pub(crate) fn examination(&self) -> &[f64] {
        &self.weights
    }

    pub(crate) fn shows(&self, item: usize) -> &[u64] {
        let positions = self.n_positions();
        &self.shows[item * positions..][..positions]
    }

    pub(crate) fn clicks(&self, item: usize) -> &[u64] {
        let positions = self.n_positions();
        &self.clicks[item * positions..][..positions]
    }

    /// Clicks on `item` at all positions (`S_k`).
    #[inline]
    pub(crate) fn total_clicks(&self, item: usize) -> f64 {
        float(self.clicks(item).iter().sum())
    }

    /// Displays of `item` at all positions (`N_k`).
    #[inline]
    pub(crate) fn total_shows(&self, item: usize) -> f64 {
        float(self.shows(item).iter().sum())
    }

    /// Displays of `item`, each weighted by the examination of its position (N~_k). Computed in the
    /// order of the positions, so that items with equal counts have equal sums and tie.
    #[inline]
    pub(crate) fn weighted_shows(&self, item: usize) -> f64 {
        self.shows(item).iter().zip(&self.weights).map(|(&shows, weight)| float(shows) * weight).sum()
    }

    /// Shows `best` (items, best first), by decreasing examination.
    #[inline]
    pub(crate) fn show_items(&self, best: impl ExactSizeIterator<Item = u32>, out: &mut Ranking) {
        place_items(best, &self.order, out);
    }

    /// Counts one round's displays and clicks at the rendered positions, then calls `changed` for
    /// every item there. Ignores unknown items and positions beyond the list.
    #[inline]
    pub(crate) fn record(
        &mut self,
        shown: &Ranking,
        seen: &impl RenderedClicks,
        mut changed: impl FnMut(&Self, usize),
    ) {
        let positions = self.n_positions();
        let clicks = seen.rendered_clicks(positions);
        for (position, item) in shown.by_position().take(clicks.len()) {
            if item.index() < self.n_items() {
                let cell = item.index() * positions + position;
                self.shows[cell] += 1;
                self.clicks[cell] += u64::from(clicks.get(position));
                changed(self, item.index());
            }
        }
    }
}

/// Shows `best` (scores and items, best first), by decreasing examination.
#[inline]
pub(crate) fn place(best: &[(f64, u32)], order: &[usize], out: &mut Ranking) {
    place_items(best.iter().map(|&(_, item)| item), order, out);
}

/// Shows `best` (items, best first); the best item gets the position with the largest examination.
#[inline]
pub(crate) fn place_items(best: impl ExactSizeIterator<Item = u32>, order: &[usize], out: &mut Ranking) {
    let n_shown = best.len();
    let places = out.positions_mut(n_shown);
    // A short list has no lower positions.
    let order = order.iter().filter(|&&position| position < n_shown);
    for (&position, item) in order.zip(best) {
        places[position] = ItemId::new(item);
    }
}

impl ListCounts for PbmCounts {
    fn n_positions(&self) -> usize {
        self.n_positions()
    }

    #[inline]
    fn show(&self, best: &[(f64, u32)], out: &mut Ranking) {
        place(best, &self.order, out);
    }

    fn examination(&self) -> &[f64] {
        self.examination()
    }
}

impl Table for PbmCounts {
    fn n_items(&self) -> usize {
        self.shows.len() / self.weights.len()
    }

    fn n_kinds(&self) -> usize {
        self.weights.len()
    }

    #[inline]
    fn tally(&self, item: usize, kind: usize) -> Tally {
        Tally { shows: self.shows(item)[kind], clicks: self.clicks(item)[kind] }
    }

    fn set_tally(&mut self, item: usize, kind: usize, tally: Tally) {
        let cell = item * self.weights.len() + kind;
        (self.shows[cell], self.clicks[cell]) = (tally.shows, tally.clicks);
    }

    fn push(&mut self) {
        let positions = self.weights.len();
        self.shows.resize(self.shows.len() + positions, 0);
        self.clicks.resize(self.clicks.len() + positions, 0);
    }

    fn place(&self, rank: usize) -> usize {
        self.order[rank]
    }
}

restored!(PbmCounts, |saved| {
    let positions = saved.examination.len();
    if positions == 0 || !saved.shows.len().is_multiple_of(positions) {
        return Err(Error::SavedSizes);
    }
    ListShape::new(saved.shows.len() / positions, positions)?;
    check_counts(saved.rounds.get(), &saved.shows, &saved.clicks)?;
    Ok(Self::assemble(saved))
});
