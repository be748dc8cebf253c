//! In progress.
pub mod spec;
