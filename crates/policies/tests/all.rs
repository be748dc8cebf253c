//! All integration tests of the crate in one binary: linking is what a further binary costs.

mod by_hand;
mod cascade_kl;
mod catalogue;
mod context;
mod context_among;
mod drawn;
mod dueling;
mod dueling_policies;
mod every_policy;
mod identify;
mod large_catalogues;
mod live;
mod personal;
mod position_based;
mod rank_one;
mod refusals;
mod regret;
mod support;
mod unknown_examination;
mod values;
