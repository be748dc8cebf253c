//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod chain;
mod checks;
mod compare;
#[cfg(feature = "parquet")]
mod engines;
mod fit;
mod formats;
mod frame;
mod generate;
mod intervals;
mod lists;
mod logistic;
mod meaning;
mod odd_input;
mod order;
mod parameters;
#[cfg(feature = "parquet")]
mod parameters_parquet;
mod ranked;
mod read;
#[cfg(feature = "parquet")]
mod read_parquet;
mod transfer;
mod users;
