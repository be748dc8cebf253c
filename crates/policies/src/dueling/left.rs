//! Remaining items of an elimination.

use super::counts::DuelCounts;
use crate::Error;
use crate::top_l::Ties;
use click_models::DuelShape;

/// Checks saved remaining items: at least one, all known, distinct, and sorted by number.
pub(super) fn check_left(left: &[u32], shape: DuelShape) -> Result<(), Error> {
    let in_order = left.windows(2).all(|pair| pair[0] < pair[1]);
    let known = left.last().is_some_and(|&item| (item as usize) < shape.n_items());
    if in_order && known { Ok(()) } else { Err(Error::SavedLeft) }
}

/// Removes an item from items sorted by number. Returns whether it was there.
pub(super) fn remove(left: &mut Vec<u32>, item: usize) -> bool {
    let place = left.partition_point(|&other| (other as usize) < item);
    let is_there = left.get(place).is_some_and(|&other| other as usize == item);
    if is_there {
        left.remove(place);
    }
    is_there
}

/// The item that beat most of the others in more than half of their duels; ties are random.
pub(super) fn most_beating(counts: &DuelCounts, items: &[u32], ties: Ties) -> u32 {
    let beaten = |item: u32| {
        let beats = |&&other: &&u32| {
            let (item, other) = (item as usize, other as usize);
            counts.wins(item, other) > counts.wins(other, item)
        };
        items.iter().filter(beats).count() as f64
    };
    ties.first(items.iter().copied(), beaten).unwrap_or(0)
}
