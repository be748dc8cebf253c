//! All integration tests of the crate in one binary, since every further binary has to be linked.

mod certainty;
mod interleave;
mod launch;
mod preferences;
mod support;
mod synthetic;
mod team_test;
mod users;
