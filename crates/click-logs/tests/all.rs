//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod alarm;
mod chain;
mod checks;
mod compare;
mod fit;
mod intervals;
mod judgments;
mod lists;
mod order;
mod parameters;
#[cfg(feature = "parquet")]
mod parameters_parquet;
mod ranked;
mod transfer;
mod users;
