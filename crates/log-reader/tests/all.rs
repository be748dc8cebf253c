//! All integration tests of the crate in one binary: linking is what a further binary costs.

#[cfg(feature = "parquet")]
mod engines;
mod formats;
mod frame;
mod generate;
mod lists;
mod meaning;
mod odd_input;
mod personal;
mod read;
#[cfg(feature = "parquet")]
mod read_parquet;
mod ubi;
