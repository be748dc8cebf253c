//! Random choices: a fair coin, one of several candidates, items in random order.

use click_models::{ItemId, ListShape};
use rand::{Rng, RngExt};

/// A fair coin: `true` with probability 1/2.
pub(crate) fn heads<R: Rng + ?Sized>(rng: &mut R) -> bool {
    rng.next_u64() >> 63 == 1
}

/// A candidate drawn uniformly; `None` if there is no candidate.
pub(crate) fn pick<R: Rng + ?Sized>(candidates: &[ItemId], rng: &mut R) -> Option<ItemId> {
    if candidates.is_empty() { None } else { Some(candidates[rng.random_range(0..candidates.len())]) }
}

/// A number below `n`, uniform except for a bias of at most `n / 2^64`.
#[expect(clippy::cast_possible_truncation, reason = "below n")]
pub(crate) fn place(draw: u64, n: usize) -> usize {
    ((u128::from(draw) * n as u128) >> 64) as usize
}

/// Fills `places` with distinct items in random order, every ordered choice equally likely. Needs
/// at least as many items as places. Leaves `items` in its original order.
#[inline]
pub(crate) fn draw_in_order<R: Rng + ?Sized>(items: &mut [u32], places: &mut [ItemId], rng: &mut R) {
    if let ([item], [place]) = (&*items, &mut *places) {
        *place = ItemId::new(*item);
        return;
    }
    let mut picks = [0; ListShape::MAX_POSITIONS];
    for (drawn, (place, pick)) in places.iter_mut().zip(&mut picks).enumerate() {
        // The last item needs no draw.
        *pick = if drawn + 1 < items.len() { rng.random_range(drawn..items.len()) } else { drawn };
        items.swap(drawn, *pick);
        *place = ItemId::new(items[drawn]);
    }
    for drawn in (0..places.len()).rev() {
        items.swap(drawn, picks[drawn]);
    }
}
