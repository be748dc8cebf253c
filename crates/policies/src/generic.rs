//! Policies that learn nothing, which every table needs as its two ends.

mod fixed;
mod uniform;

pub use fixed::Fixed;
pub use uniform::{Uniform, UniformCell, UniformPair};
