//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod bad_spec;
mod fit;
#[cfg(unix)]
mod interrupt;
mod preferences;
mod reproduce_log;
mod same_bytes;
mod terminal;
mod valgrind;
