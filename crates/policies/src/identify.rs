//! Policies that identify the best items in few rounds, and stop.
//!
//! A policy is given the number of items to find, the largest probability `delta` of a wrong
//! answer, and a tolerance `epsilon`: the answer may contain items that are less attractive than
//! the K-th best by at most `epsilon`. [`Stop`](crate::Stop) returns the answer.

mod candidates;
mod cascade_bai;
mod cascade_kl;
mod evidence;
mod kl_lucb;
mod successive_rejects;

pub use cascade_bai::{CascadeBai, Pulls, ShowOrder};
pub use cascade_kl::{CascadeKl, CascadeKlOrder, CascadeKlTest};
pub use kl_lucb::{KlLucb, KlLucbLevels};
pub use successive_rejects::SuccessiveRejects;

/// The largest probability of a wrong answer.
pub type Delta = confidence::ErrorProbability;
