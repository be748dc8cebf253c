#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(feature = "std")]
extern crate std;

pub mod beta_binomial;
pub mod coverage_bound;
pub mod divergence;
mod error;
pub mod klucb;
pub mod math;
pub mod multi_position;
mod normal;
mod probability;
pub mod radius;
pub mod rate;
pub mod sequence;
pub mod threshold;

pub use divergence::{
    Bernoulli, Divergence, Exponential, Gaussian, Poisson, bernoulli_kl, bernoulli_kl_derivative,
};
pub use error::Error;
pub use klucb::{kl_ucb_lower, kl_ucb_lower_batch, kl_ucb_upper, kl_ucb_upper_batch};
pub use multi_position::{
    MultiPositionMinimum, multi_position_divergence, multi_position_lower, multi_position_minimum,
    multi_position_upper,
};
pub use normal::{normal_quantile, normal_tails};
pub use probability::{ErrorProbability, NonNegative, Probability};
pub use radius::{
    bernstein_radius, hoeffding_radius, lil_radius, lil_radius_scaled, pbm_ucb_radius, rsf_ucb_radius,
    sample_bernstein_radius, scaled_radius, ucb1_radius,
};
pub use rate::Rate;
pub use threshold::{
    KlUcbThreshold, MAX_POSITIONS, MultiPositionThreshold, kl_ucb_entropy, multi_position_entropy,
};
