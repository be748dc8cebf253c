//! Observations of an answer, by protocol.

use click_models::{Cascade, Clicks, ClicksOnly, Dcm, Interaction, Pbm, Ranking, SemiBandit};

/// A protocol whose answers are counted position by position, as they come.
pub trait ObservationRule: Interaction<Action = Ranking> {
    /// The positions that are known to be observed, one bit each: from the clicks so far, and from
    /// `end`, the number of positions that were seen, once the decision is closed.
    fn observed(clicks: Clicks, end: Option<usize>) -> u64;
}

/// Bits of the first `n` positions.
pub(crate) fn first(n: usize) -> u64 {
    1_u64.checked_shl(u32::try_from(n).unwrap_or(u32::MAX)).map_or(u64::MAX, |bit| bit - 1)
}

fn all_seen(end: Option<usize>) -> u64 {
    end.map_or(0, first)
}

/// Positions with clicks at once, the others of the list at the end.
impl ObservationRule for Pbm {
    fn observed(clicks: Clicks, end: Option<usize>) -> u64 {
        clicks.bits() | all_seen(end)
    }
}

/// Positions with clicks at once, the others of the list at the end.
impl ObservationRule for ClicksOnly {
    fn observed(clicks: Clicks, end: Option<usize>) -> u64 {
        Pbm::observed(clicks, end)
    }
}

/// Down to the first click, at once; without a click, the whole list at the end.
impl ObservationRule for Cascade {
    fn observed(clicks: Clicks, end: Option<usize>) -> u64 {
        match clicks.bits() {
            0 => all_seen(end),
            bits => first(bits.trailing_zeros() as usize + 1),
        }
    }
}

/// Down to the last click so far, at once; without a click, the whole list at the end.
impl ObservationRule for Dcm {
    fn observed(clicks: Clicks, end: Option<usize>) -> u64 {
        match clicks.bits() {
            0 => all_seen(end),
            bits => first((u64::BITS - bits.leading_zeros()) as usize),
        }
    }
}

/// Down to the last click, at once; at the end also the prefix that was seen.
impl ObservationRule for SemiBandit {
    fn observed(clicks: Clicks, end: Option<usize>) -> u64 {
        Dcm::observed(clicks, None) | all_seen(end)
    }
}
