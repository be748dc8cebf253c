//! Click models: users who respond to lists, cells and pairs.
//!
//! A model is one file and one row below; `lib.rs` and the Python module `models` list its class.

mod class;
mod crowd;
mod reward;

pub(crate) mod cascade;
pub(crate) mod click_chain;
pub(crate) mod dependent_click;
pub(crate) mod dueling;
pub(crate) mod dynamic_bayesian;
pub(crate) mod position_based;
pub(crate) mod random_semi_bandit;
pub(crate) mod rank_one;
pub(crate) mod user_browsing;
