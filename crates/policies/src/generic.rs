//! Policies that learn nothing: the baselines of comparisons.

mod fixed;
mod logged;
mod uniform;

pub use fixed::Fixed;
pub use logged::{Logged, NoLists};
pub use uniform::{Uniform, UniformCell, UniformPair};
pub(crate) use uniform::{draw_list, draw_list_among};
