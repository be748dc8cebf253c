//! All integration tests of the crate in one binary, since every further binary has to be linked.

#[path = "support/bisection.rs"]
mod bisection;
mod certified;
mod common;
mod concentration;
mod coverage;
mod divergences;
mod front_page;
mod golden;
mod no_std;
mod properties;
