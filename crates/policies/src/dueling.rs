//! Policies that compare two items a round, and observe which one is preferred.
//!
//! They look for the item that beats all others, the Condorcet winner. Each policy documents its
//! behaviour without one. [`EcwRmed`] and [`DoubleTs`] look for a Copeland winner, one that beats
//! the most others.
//!
//! If in doubt take [`DoubleTs`]; for hundreds of items take [`MergeDts`]; for reproducible choices
//! take [`Rmed1`]. The other four are for comparison: [`Rucb`], and, with a horizon,
//! [`CondorcetSavage`], [`BeatTheMean`] and [`InterleavedFilter`].

mod beat_the_mean;
mod condorcet_savage;
mod counts;
mod double_ts;
mod ecw_rmed;
mod interleaved_filter;
mod merge_dts;
mod posterior;
mod rmed1;
mod rucb;

pub use beat_the_mean::{BeatTheMean, MeanRadius};
pub use condorcet_savage::CondorcetSavage;
pub use double_ts::DoubleTs;
pub use ecw_rmed::EcwRmed;
pub use interleaved_filter::InterleavedFilter;
pub use merge_dts::MergeDts;
pub use rmed1::Rmed1;
pub use rucb::Rucb;

#[cfg(test)]
mod tests;
