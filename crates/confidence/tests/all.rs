//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod certified;
mod common;
mod coverage;
mod divergences;
mod front_page;
mod golden;
mod no_std;
mod properties;
