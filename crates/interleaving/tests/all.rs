//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod certainty;
mod interleave;
mod pair_test;
mod preferences;
mod support;
