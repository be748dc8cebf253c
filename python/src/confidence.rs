//! Functions of the crate `confidence` over arrays.

pub(crate) mod coverage_bound;
pub(crate) mod divergence;
pub(crate) mod kl_ucb;
pub(crate) mod multi_position;
pub(crate) mod radius;
pub(crate) mod rate;
pub(crate) mod sequence;
