//! All integration tests of the crate in one binary, since every further binary has to be linked.

mod certainty;
mod interleave;
mod launch;
mod pair_test;
mod preferences;
mod support;
mod synthetic;
mod users;
