//! Policies that compare two items at a time, and see which of the two is preferred.
//!
//! They look for the item that beats all others, the Condorcet winner. What each does where there is none is said at its own
//! place.
//!
//! If in doubt take [`DoubleTs`]; with hundreds of items [`MergeDts`]; where runs have to be alike [`Rmed1`]. The other four are
//! what they are compared with: [`Rucb`], and with a horizon [`CondorcetSavage`], [`BeatTheMean`] and [`InterleavedFilter`].

mod beat_the_mean;
mod condorcet_savage;
mod counts;
mod double_ts;
mod interleaved_filter;
mod left;
mod merge_dts;
mod posterior;
mod rmed1;
mod rucb;

pub use beat_the_mean::{BeatTheMean, MeanRadius};
pub use condorcet_savage::CondorcetSavage;
pub use double_ts::DoubleTs;
pub use interleaved_filter::InterleavedFilter;
pub use merge_dts::MergeDts;
pub use rmed1::Rmed1;
pub use rucb::Rucb;

#[cfg(test)]
mod tests;
