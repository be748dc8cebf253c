//! The L largest of one posterior draw an item: all of them drawn, or thinned on large catalogues.

use super::Sampler;
use super::thinning::{Posteriors, SavedThinning, Thinning};
use crate::Error;
use crate::top_l::{Ties, TopL};
use rand::Rng;
use serde::{Serialize, Serializer};

/// From what size on thinned rounds are faster than rounds that draw every item.
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

    /// Thins a large catalogue.
    pub(crate) fn new<P: Posteriors>(posteriors: &P, n_positions: usize, large: Large) -> Self {
        let is_large = large.includes(posteriors.n_items(), n_positions);
        let thinning = is_large.then(|| Box::new(Thinning::new(posteriors, n_positions)));
        Self { thinning, ..Self::of_all(n_positions) }
    }

    /// Goes on as saved. Without a saved thinning, all items are drawn in every round.
    pub(crate) fn restore<P: Posteriors>(
        saved: Option<&SavedThinning>,
        posteriors: &P,
        n_positions: usize,
    ) -> Result<Self, Error> {
        let thinning = saved.map(|saved| Thinning::restore(saved, posteriors, n_positions).map(Box::new));
        Ok(Self { thinning: thinning.transpose()?, ..Self::of_all(n_positions) })
    }

    /// The largest draws of a round and their items, best first.
    #[inline]
    pub(crate) fn select<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        rng: &mut R,
    ) -> &[(f64, u32)] {
        let Self { top, thinning } = self;
        if let Some(thinning) = thinning {
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
