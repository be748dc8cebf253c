//! The L largest of one posterior draw an item: all of them drawn, or thinned.

use super::Sampler;
use super::thinning::{Pace, Posteriors, SavedThinning, Thinning};
use crate::Error;
use crate::top_l::{Ties, TopL};
use rand::Rng;
use serde::{Serialize, Serializer};

/// From this number of items a position on, thinned rounds are faster once settled.
const SETTLED_PER_POSITION: usize = 2;

/// From what size on thinned rounds are faster from the first round on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Large {
    /// At least this number of items,
    pub(crate) items: usize,
    /// and at least this number for each position.
    pub(crate) per_position: usize,
}

impl Large {
    pub(crate) fn includes(self, n_items: usize, n_positions: usize) -> bool {
        n_items >= self.items.max(self.per_position * n_positions)
    }

    /// When thresholds are searched. `None`: every item is drawn in every round.
    fn pace(self, n_items: usize, n_positions: usize) -> Option<Pace> {
        if self.includes(n_items, n_positions) {
            Some(Pace::Eager)
        } else {
            (n_items >= SETTLED_PER_POSITION * n_positions).then_some(Pace::Rare)
        }
    }
}

/// Finds the largest draws.
#[derive(Debug, Clone)]
pub(crate) struct LargestDraws {
    top: TopL,
    thinning: Option<Box<Thinning>>,
}

impl LargestDraws {
    /// Draws all items in every round.
    pub(crate) fn of_all(n_positions: usize) -> Self {
        Self { top: TopL::new(n_positions), thinning: None }
    }

    /// Thins the draws of all but the smallest catalogues.
    pub(crate) fn new<P: Posteriors>(posteriors: &P, n_positions: usize, large: Large) -> Self {
        let pace = large.pace(posteriors.n_items(), n_positions);
        let thinning = pace.map(|pace| Box::new(Thinning::new(posteriors, n_positions, pace)));
        Self { thinning, ..Self::of_all(n_positions) }
    }

    /// Goes on as saved. Without a saved thinning, all items are drawn in every round.
    pub(crate) fn restore<P: Posteriors>(
        saved: Option<&SavedThinning<'_>>,
        posteriors: &P,
        n_positions: usize,
        large: Large,
    ) -> Result<Self, Error> {
        let pace = large.pace(posteriors.n_items(), n_positions);
        let thinning = match (saved, pace) {
            (Some(saved), Some(pace)) => {
                Some(Box::new(Thinning::restore(saved, posteriors, n_positions, pace)?))
            }
            (Some(_), None) => return Err(Error::SavedThinning),
            (None, _) => None,
        };
        Ok(Self { thinning, ..Self::of_all(n_positions) })
    }

    /// The largest draws of a round and their items, best first.
    #[inline]
    pub(crate) fn select<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        rng: &mut R,
    ) -> &[(f64, u32)] {
        let Self { top, thinning } = self;
        if let Some(thinning) = thinning
            && !thinning.counts_as_full()
        {
            thinning.select(posteriors, top, rng);
        } else {
            let ties = Ties::draw(rng);
            let sampler = Sampler::new();
            top.clear();
            for item in 0..posteriors.n_items() {
                #[expect(clippy::cast_possible_truncation, reason = "items are numbered by 32 bits")]
                top.offer(item as u32, posteriors.draw(item, sampler, rng), ties);
            }
        }
        top.best()
    }

    /// The posterior of `item` has changed.
    #[inline]
    pub(crate) fn update<P: Posteriors>(&mut self, posteriors: &P, item: usize) {
        if let Some(thinning) = &mut self.thinning {
            thinning.update(posteriors, item);
        }
    }
}

/// Nothing, or the thinning.
impl Serialize for LargestDraws {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.thinning.as_ref().map(|thinning| thinning.to_save()).serialize(serializer)
    }
}
