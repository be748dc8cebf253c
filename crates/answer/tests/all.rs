//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod contexts;
mod words;
