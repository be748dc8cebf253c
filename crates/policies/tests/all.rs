//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod allocation;
mod cascade_kl;
mod catalogue;
mod dueling;
mod dueling_policies;
mod identify;
mod rank_one;
mod regret;
mod relabelling;
mod robustness;
mod saved_state;
mod support;
mod value_stability;
