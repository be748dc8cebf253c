//! Helpers shared by several tests.

pub(crate) mod numbers;
pub(crate) mod wide;
