//! The L largest of one posterior draw an item: all of them drawn, or thinned on large catalogues.

use super::Sampler;
use super::thinning::{Posteriors, SavedThinning, Thinning};
use crate::Error;
use crate::top_l::{Ties, TopL};
use rand::Rng;
use serde::{Serialize, Serializer};

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

    /// Whether to thin: with at least `fewest` items, and at least sixteen for a position.
    pub(crate) fn thins(n_items: usize, n_positions: usize, fewest: usize) -> bool {
        n_items >= fewest.max(16 * n_positions)
    }

    /// Thins a large catalogue.
    pub(crate) fn new<P: Posteriors>(posteriors: &P, n_positions: usize, fewest: usize) -> Self {
        let is_large = Self::thins(posteriors.n_items(), n_positions, fewest);
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
