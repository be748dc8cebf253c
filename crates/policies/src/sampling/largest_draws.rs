//! The L largest of one posterior draw an item: all of them drawn, or thinned. If items have
//! values, the list of them that earns most.

use super::Sampler;
use super::thinning::{Pace, Posteriors, Present, SavedThinning, Thinning};
use crate::Error;
use crate::live::LiveState;
use crate::top_l::{Ties, TopL};
use click_models::value::{BestList, Offer, index};
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

#[derive(Debug, Clone)]
pub(crate) struct LargestDraws {
    n_positions: usize,
    /// None: all items are drawn in every round, however many there are.
    large: Option<Large>,
    top: TopL,
    thinning: Option<Box<Thinning>>,
    best_list: BestList,
    /// The list that earns most, if that is not one of the largest indices.
    chosen: Option<Vec<(f64, u32)>>,
}

/// With fewer items of value for each position all are drawn: most thinned rounds would be short.
const ENOUGH: usize = 4;

impl LargestDraws {
    /// Draws all items in every round.
    pub(crate) fn of_all(n_positions: usize) -> Self {
        let (top, best_list) = (TopL::new(n_positions), BestList::default());
        Self { n_positions, large: None, top, thinning: None, best_list, chosen: None }
    }

    /// Thins the draws of all but the smallest catalogues.
    pub(crate) fn new<P: Posteriors>(
        posteriors: &P,
        live: &LiveState,
        n_positions: usize,
        large: Large,
    ) -> Self {
        let mut draws = Self { large: Some(large), ..Self::of_all(n_positions) };
        draws.set_pace(&live.present(posteriors));
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
        if pace != self.thinning.as_ref().map(|thinning| thinning.pace) {
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
        live: &mut LiveState,
        rng: &mut R,
    ) -> &[(f64, u32)] {
        self.top.limit(None);
        if live.has_terms() && self.select_by_value(posteriors, live, None, rng) {
            return self.best();
        }
        let Self { top, thinning, .. } = self;
        if let Some(thinning) = thinning
            // An absent item never exceeds the threshold.
            && live.absent.is_empty()
            && !thinning.counts_as_full()
        {
            thinning.select(&live.present(posteriors), top, rng);
        } else {
            draw_all(posteriors, (0..posteriors.n_items()).map(ItemId::from_index), top, rng);
        }
        &top.best
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
        self.top.limit(live.terms.as_deref());
        if live.has_terms() && self.select_by_value(posteriors, live, Some(available), rng) {
            return self.best();
        }
        let Self { top, thinning, .. } = self;
        let n_items = posteriors.n_items();
        if let Some(thinning) = thinning
            && is_thinned(thinning, live, available, n_items)
        {
            if live.absent.is_empty() && available.is_all(n_items) {
                thinning.select(posteriors, top, rng);
            } else {
                thin_among(thinning, posteriors, live, available, top, rng);
            }
        } else {
            draw_all(posteriors, live.items(available, n_items), top, rng);
        }
        &top.best
    }

    fn best(&self) -> &[(f64, u32)] {
        self.chosen.as_deref().unwrap_or_else(|| &self.top.best)
    }

    /// Chooses the list that earns most, and returns true, if items have different values.
    #[cold]
    #[inline(never)]
    fn select_by_value<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        live: &mut LiveState,
        available: Option<&ItemSet>,
        rng: &mut R,
    ) -> bool {
        self.chosen = None;
        let n_items = posteriors.n_items();
        let all = available.is_none().then(|| ItemSet::all(n_items));
        let Some(available) = available.or(all.as_ref()) else { return false };
        let terms = live.terms.as_deref();
        let is_of_moment = terms.is_some_and(|terms| !terms.values.is_empty());
        if !is_of_moment && live.values.users.is_none() {
            let (scale, is_enough) = live.values.next(&live.absent, ENOUGH * self.n_positions);
            if std::mem::replace(&mut live.values.scale, scale) != scale {
                self.renew(posteriors, live);
            }
            if scale == 0.0 {
                return false;
            }
            if is_enough
                && let Some(thinning) = &mut self.thinning
                && is_thinned(thinning, live, available, n_items)
            {
                thin_among(thinning, posteriors, live, available, &mut self.top, rng);
                return true;
            }
        }
        let values = live.differing(available, n_items);
        // Otherwise the thresholds are those of the values of other items.
        if values.is_none() && live.values.scale == 0.0 {
            return false;
        }
        let Self { n_positions, top, best_list, chosen, .. } = self;
        let value = |item: u32| values.map_or(1.0, |values| values.get(ItemId::new(item)));
        let (ties, sampler) = (Ties::draw(rng), Sampler::new());
        let users = live.values.users;
        let is_limited = terms.is_some_and(|terms| terms.most.is_some());
        top.clear();
        best_list.clear();
        for id in live.items(available, n_items) {
            let (item, attraction) = (id.number(), posteriors.draw(id.index(), sampler, rng));
            if users.is_some() {
                best_list.offer(Offer { item, attraction, value: value(item), tie: ties.hash(item) });
            }
            if users.is_none() || is_limited {
                top.offer(item, index(attraction, value(item)), ties);
            }
        }
        if let Some(users) = users {
            let most = terms.and_then(|terms| terms.positions).unwrap_or(*n_positions).min(*n_positions);
            let mut list = best_list.find(users, most);
            let keeps = |terms: &crate::Terms| {
                let above = |place: usize| list[..place].iter().map(|offer| offer.item);
                let mut places = list.iter().enumerate();
                terms.taken.is_empty() && places.all(|(place, offer)| terms.admits(offer.item, above(place)))
            };
            if is_limited && !terms.is_some_and(keeps) {
                // The items are then those of the largest indices, in the best order.
                best_list.clear();
                for &(index, item) in &top.best {
                    let value = value(item);
                    let attraction = if value > 0.0 { index / value } else { -1.0 / index };
                    best_list.offer(Offer { item, attraction, value, tie: ties.hash(item) });
                }
                list = best_list.find(users, most);
            }
            *chosen = Some(list.iter().map(|offer| (offer.attraction, offer.item)).collect());
        }
        true
    }

    /// The posterior of `item` has changed.
    #[inline]
    pub(crate) fn update<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState, item: usize) {
        if let Some(thinning) = &mut self.thinning {
            thinning.update(&live.present(posteriors), item);
        }
    }

    /// An item left, or returned.
    pub(crate) fn came_or_went<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState, item: usize) {
        if let Some(thinning) = &mut self.thinning {
            thinning.leave(item);
        }
        self.update(posteriors, live, item);
    }

    /// The value of `item` has changed.
    pub(crate) fn revalued<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState, item: usize) {
        if live.values.scale != 0.0 {
            self.update(posteriors, live, item);
        }
    }

    /// There is a further item.
    pub(crate) fn push<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState) {
        if let Some(thinning) = &mut self.thinning {
            thinning.push();
        }
        self.update(posteriors, live, posteriors.n_items() - 1);
        self.set_pace(&live.present(posteriors));
    }

    /// All posteriors have changed.
    pub(crate) fn renew<P: Posteriors>(&mut self, posteriors: &P, live: &LiveState) {
        if self.thinning.take().is_some() {
            self.set_pace(&live.present(posteriors));
        }
    }
}

/// Returns whether a round among these items is thinned.
#[inline]
fn is_thinned(thinning: &mut Thinning, live: &LiveState, available: &ItemSet, n_items: usize) -> bool {
    let (m, n) = (available.len(), n_items - live.absent.len());
    let is_many = m.saturating_mul(m) > MANY.saturating_mul(n);
    is_many && (thinning.pace == Pace::Eager || !thinning.counts_as_full())
}

/// A thinned round among these items.
fn thin_among<P: Posteriors, R: Rng + ?Sized>(
    thinning: &mut Thinning,
    posteriors: &P,
    live: &mut LiveState,
    available: &ItemSet,
    top: &mut TopL,
    rng: &mut R,
) {
    let mut late = live.late;
    thinning.select_among(&live.present(posteriors), available, &mut late, top, rng);
    live.late = late;
}

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
