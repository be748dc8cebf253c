//! Policies that look for the best items and stop when they are sure of them, with as few rounds as they can.
//!
//! A policy here is given the number of items that it has to find, the probability `delta` with which it may be wrong, and a
//! tolerance `epsilon`: an item that is less attractive than the last of the best by at most `epsilon` will do. It says through
//! [`Stop`](crate::Stop) when it is done.

mod candidates;
mod cascade_bai;
mod cascade_kl;
mod kl_lucb;
mod successive_rejects;

pub use cascade_bai::{CascadeBai, Pulls, ShowOrder};
pub use cascade_kl::{CascadeKl, CascadeKlOrder, CascadeKlTest};
pub use kl_lucb::KlLucb;
pub use successive_rejects::SuccessiveRejects;

/// The probability with which an answer may be wrong.
pub type Delta = confidence::ErrorProbability;
