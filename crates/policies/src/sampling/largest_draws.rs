//! The L largest of one posterior draw an item: all of them drawn, or thinned.

use super::Sampler;
use super::thinning::{Pace, Posteriors, Present, SavedThinning, Thinning};
use crate::Error;
use crate::live::LiveState;
use crate::top_l::{Ties, TopL};
use click_models::{ItemId, ItemSet};
use rand::Rng;
use serde::{Serialize, Serializer};

/// Thinned rounds among `m` of `n` items are faster from `m * m = MANY * n` on: their cost grows
/// with `n / m`, that of drawing all `m` with `m` (about 600 of 16,384 items).
const MANY: usize = 22;

/// From what size on thinned rounds are faster: where the costs of both ways cross in
/// `cargo bench -p benches --bench thinning`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Large {
    /// From the first round on: this number of items,
    pub(crate) items: usize,
    /// and this number more for each position.
    pub(crate) per_position: usize,
    /// Once settled: this number for each position.
    pub(crate) settled_per_position: usize,
}

impl Large {
    fn includes(self, n_items: usize, n_positions: usize) -> bool {
        n_items >= self.items + self.per_position * n_positions
    }

    /// When thresholds are searched. `None`: every item is drawn in every round.
    pub(crate) fn pace(self, n_items: usize, n_positions: usize) -> Option<Pace> {
        if self.includes(n_items, n_positions) {
            Some(Pace::Eager)
        } else {
            (n_items >= self.settled_per_position * n_positions).then_some(Pace::Rare)
        }
    }
}

/// Finds the largest draws.
#[derive(Debug, Clone)]
pub(crate) struct LargestDraws {
    n_positions: usize,
    /// None: all items are drawn in every round, however many there are.
    large: Option<Large>,
    top: TopL,
    thinning: Option<Box<Thinning>>,
}

impl LargestDraws {
    /// Draws all items in every round.
    pub(crate) fn of_all(n_positions: usize) -> Self {
        Self { n_positions, large: None, top: TopL::new(n_positions), thinning: None }
    }

    /// Thins the draws of all but the smallest catalogues.
    pub(crate) fn new<P: Posteriors>(posteriors: &P, n_positions: usize, large: Large) -> Self {
        let mut draws = Self { large: Some(large), ..Self::of_all(n_positions) };
        draws.set_pace(&Present { posteriors, absent: &ItemSet::default() });
        draws
    }

    fn pace_at(&self, n_items: usize) -> Option<Pace> {
        self.large.and_then(|large| large.pace(n_items, self.n_positions))
    }

    /// Returns whether the draws of this number of items are thinned.
    pub(crate) fn thins_at(&self, n_items: usize) -> bool {
        self.pace_at(n_items).is_some()
    }

    /// Begins to thin, or thins at another pace, if there are as many items.
    fn set_pace<P: Posteriors>(&mut self, posteriors: &Present<'_, P>) {
        let pace = self.pace_at(posteriors.n_items());
        if pace != self.thinning.as_ref().map(|thinning| thinning.pace()) {
            self.thinning = pace.map(|pace| Box::new(Thinning::new(posteriors, self.n_positions, pace)));
        }
    }

    /// Continues as saved. Without a saved thinning, all items are drawn in every round.
    pub(crate) fn restore<P: Posteriors>(
        saved: Option<&SavedThinning<'_>>,
        posteriors: &Present<'_, P>,
        n_positions: usize,
        large: Large,
    ) -> Result<Self, Error> {
        let (pace, all) = (large.pace(posteriors.n_items(), n_positions), Self::of_all(n_positions));
        match (saved, pace) {
            (Some(saved), Some(pace)) => {
                let thinning = Thinning::restore(saved, posteriors, n_positions, pace)?;
                Ok(Self { large: Some(large), thinning: Some(Box::new(thinning)), ..all })
            }
            (Some(_), None) => Err(Error::SavedThinning),
            (None, Some(_)) => Ok(all),
            (None, None) => Ok(Self { large: Some(large), ..all }),
        }
    }

    /// The largest draws of a round and their items, best first.
    #[inline]
    pub(crate) fn select<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        live: &LiveState,
        rng: &mut R,
    ) -> &[(f64, u32)] {
        let Self { top, thinning, .. } = self;
        if let Some(thinning) = thinning
            // An absent item never exceeds the threshold.
            && live.absent.is_empty()
            && !thinning.counts_as_full()
        {
            thinning.select(&Present { posteriors, absent: &live.absent }, top, rng);
        } else {
            draw_all(posteriors, (0..posteriors.n_items()).map(ItemId::from_index), top, rng);
        }
        top.best()
    }

    /// The largest draws of a round among the items of `available` that are present.
    #[inline]
    pub(crate) fn select_among<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        live: &mut LiveState,
        available: &ItemSet,
        rng: &mut R,
    ) -> &[(f64, u32)] {
        let Self { top, thinning, .. } = self;
        let n_items = posteriors.n_items();
        let (m, n) = (available.len(), n_items - live.absent.len());
        let is_many = m.saturating_mul(m) > MANY.saturating_mul(n);
        if let Some(thinning) = thinning
            && is_many
            && (thinning.pace() == Pace::Eager || !thinning.counts_as_full())
        {
            let LiveState { absent, late, .. } = live;
            if absent.is_empty() && available.is_all(n_items) {
                thinning.select(posteriors, top, rng);
            } else {
                thinning.select_among(&Present { posteriors, absent }, available, late, top, rng);
            }
        } else {
            draw_all(posteriors, live.items(available, n_items), top, rng);
        }
        top.best()
    }

    /// The posterior of `item` has changed.
    #[inline]
    pub(crate) fn update<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState, item: usize) {
        if let Some(thinning) = &mut self.thinning {
            thinning.update(&Present { posteriors, absent: &live.absent }, item);
        }
    }

    /// An item left, or returned.
    pub(crate) fn came_or_went<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState, item: usize) {
        if let Some(thinning) = &mut self.thinning {
            thinning.leave(item);
        }
        self.update(posteriors, live, item);
    }

    /// There is a further item.
    pub(crate) fn push<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState) {
        if let Some(thinning) = &mut self.thinning {
            thinning.push();
        }
        self.update(posteriors, live, posteriors.n_items() - 1);
        self.set_pace(&Present { posteriors, absent: &live.absent });
    }

    /// All posteriors have changed.
    pub(crate) fn renew<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState) {
        if self.thinning.take().is_some() {
            self.set_pace(&Present { posteriors, absent: &live.absent });
        }
    }
}

/// Draws all of these items.
#[inline]
fn draw_all<P: Posteriors, R: Rng + ?Sized>(
    posteriors: &P,
    items: impl Iterator<Item = ItemId>,
    top: &mut TopL,
    rng: &mut R,
) {
    let ties = Ties::draw(rng);
    let sampler = Sampler::new();
    top.clear();
    for item in items {
        top.offer(item.number(), posteriors.draw(item.index(), sampler, rng), ties);
    }
}

/// Nothing, or the thinning.
impl Serialize for LargestDraws {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.thinning.as_ref().map(|thinning| thinning.to_save()).serialize(serializer)
    }
}
