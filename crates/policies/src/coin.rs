//! The random choices of parsimonious exploration: a fair coin, and one of several candidates.

use click_models::ItemId;
use rand::{Rng, RngExt};

/// Heads or tails.
#[inline]
pub(crate) fn heads<R: Rng + ?Sized>(rng: &mut R) -> bool {
    rng.next_u64() >> 63 == 1
}

/// One of the candidates, uniformly; `None` when there is none.
#[inline]
pub(crate) fn pick<R: Rng + ?Sized>(candidates: &[ItemId], rng: &mut R) -> Option<ItemId> {
    if candidates.is_empty() { None } else { Some(candidates[rng.random_range(0..candidates.len())]) }
}
