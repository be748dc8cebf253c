//! All integration tests of the crate. One binary links faster than several.

mod bad_spec;
mod check;
mod command_line;
mod discover;
mod evaluate;
mod files;
mod files_of_others;
mod fit;
#[cfg(unix)]
mod interrupt;
mod judgments;
#[cfg(unix)]
mod killed;
#[path = "../../log-reader/tests/support/log_generator.rs"]
mod log_generator;
#[cfg(unix)]
mod pages;
mod preferences;
mod reproduce_log;
mod results;
mod same_bytes;
mod terminal;
mod test;
mod valgrind;
