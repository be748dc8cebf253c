//! Sorts that are not in inner loops. The order is behind a reference, so that one sort is compiled
//! for each type and not for each order.

use std::cmp::Ordering;

/// Sorts; equal elements stay in order.
pub(crate) fn sort<T>(items: &mut [T], order: &dyn Fn(&T, &T) -> Ordering) {
    items.sort_by(order);
}

/// Sorts without memory of its own; equal elements get any order.
pub(crate) fn sort_unstable<T>(items: &mut [T], order: &dyn Fn(&T, &T) -> Ordering) {
    items.sort_unstable_by(order);
}
