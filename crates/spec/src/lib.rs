#![doc = include_str!("../README.md")]

mod bound;
mod builder;
mod canonical;
mod fields;
mod logged_lists;
mod posterior;
mod queries;
mod task;

pub mod experiment;
pub mod key;
pub mod models;
pub mod schema;

pub use bound::Bound;
pub use builder::{BuildError, Builder};
pub use canonical::{Canonical, CanonicalPolicy};
pub use experiment::{DataInstances, Experiment, OverrideError, Overrides, SpecContext, SpecError};
pub use live::{ClicksByList, ColumnGain, ContextFit, ContextReport, Gain};
pub use logged_lists::logged_lists;
pub use models::{FeatureTable, Instance, Instances};
pub use posterior::{PosteriorFile, Transfer};
pub use queries::{FittedQuery, Queries};
pub use task::Task;

#[cfg(test)]
mod tests;
