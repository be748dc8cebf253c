#![doc = include_str!("../README.md")]

// So that the plain policies of the benches, which import `policies`, are those of the tests.
#[cfg(test)]
extern crate self as policies;

mod best_arms;
mod checked;
mod coin;
mod drawn;
mod error;
mod exact;
mod in_order;
mod kl_arms;
mod largest;
mod largest_indices;
mod live;
mod policy;
mod prior;
mod products;
mod reaching;
mod read_as;
mod rounds;
mod sampling;
mod setup;
mod shortlist;
mod sort;
#[cfg(test)]
mod tests;
mod top_l;
mod touched;
mod ucb_arms;

pub mod catalogue;
pub mod context;
pub mod dueling;
pub mod generic;
pub mod identify;
pub mod pbm;
pub mod rank_one;
pub mod ranking;

// Each family documents its policies.
pub use context::*;
pub use dueling::*;
pub use generic::*;
pub use identify::*;
pub use pbm::*;
pub use rank_one::*;
pub use ranking::*;

// For a service that builds a policy by name, saves it and restores it.
pub use catalogue::{AnyPolicy, BuildError, NamedLive, NamedPolicy, PolicySpec, SpecError};

pub use drawn::{Drawing, Drawn, Draws, Propensity};
pub use error::{Error, MAX_COUNT};
pub use in_order::InOrder;
pub use live::{ItemValues, MAX_VALUE, Orders, Terms, Valued, Values, check_value};
pub use policy::{Bayesian, Decision, Policy, Recommend, Select, SelectAmong, Stop, Tallies, Tally, Update};
pub use prior::Prior;
pub use read_as::ReadAs;
pub use sampling::draw_beta;
pub use setup::Setup;
