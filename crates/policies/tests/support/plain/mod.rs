//! The rules of policies with every item compared in every round: what the policies do in small
//! catalogues and avoid in large ones. Tests hold the policies against them, and benches time both.

#![allow(unreachable_pub, reason = "benches export the policies, and tests do not")]

mod all_candidates;
mod all_items;

pub use all_candidates::AllCandidates;
#[cfg(test)]
pub(crate) use all_items::draw_equals;
pub use all_items::{AllItems, IndexRule};
