//! All integration tests of the crate in one binary, since every further binary has to be linked.

mod determinism;
mod identify;
mod live;
