//! Policies that learn nothing: the two baselines of every comparison.

mod fixed;
mod uniform;

pub use fixed::Fixed;
pub use uniform::{Uniform, UniformCell, UniformPair};
