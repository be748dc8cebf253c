#![doc = include_str!("../README.md")]

mod coin;
mod error;
mod exact;
mod kl_arms;
#[cfg(test)]
mod naive;
mod policy;
mod read_as;
mod sampling;
mod sizes;
mod top_l;

pub mod catalogue;
pub mod dueling;
pub mod generic;
pub mod identify;
pub mod pbm;
pub mod rank_one;
pub mod ranking;

pub use dueling::{
    BeatTheMean, CondorcetSavage, DoubleTs, InterleavedFilter, MeanRadius, MergeDts, Rmed1, Rucb,
};
pub use error::Error;
pub use generic::{Fixed, Uniform, UniformCell, UniformPair};
pub use identify::{
    CascadeBai, CascadeKl, CascadeKlOrder, CascadeKlTest, Delta, KlLucb, Pulls, ShowOrder, SuccessiveRejects,
};
pub use pbm::{BcMpTs, PbmPie, PbmTs, PbmUcb, RbaKlUcb};
pub use policy::{Decision, Policy, Recommend, Select, Stop, Update};
pub use rank_one::{CellKlUcb, Rank1Elim, Rank1Gibbs, Ucb1, Ucb1Elim, Uts};
pub use ranking::{
    BatchRank, Pie, PrefixKlUcb, PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV, TopRank, TsCascade,
};
pub use read_as::ReadAs;
