//! Policies that identify the best items in few rounds, and stop.
//!
//! A policy is given the number of items to find, the largest probability `delta` of a wrong
//! answer, and a tolerance `epsilon`: the answer may contain items that are less attractive than
//! the K-th best by at most `epsilon`. [`Stop`](crate::Stop) returns the answer.

/// Implements `Update` by the policy's `learn`: users examine a prefix of the list, and
/// observations do not depend on the clicks of the prefix.
macro_rules! reads_prefixes {
    ($Policy:ident) => {
        reads_prefixes!($Policy, click_models::CascadeFeedback);
        reads_prefixes!($Policy, click_models::PrefixFeedback);
    };
    ($Policy:ident, $Feedback:ty) => {
        impl crate::Update<click_models::Ranking, $Feedback> for $Policy {
            #[inline]
            fn update(&mut self, decision: &crate::Decision<click_models::Ranking>, feedback: &$Feedback) {
                self.learn(&decision.action, click_models::ObservedPrefix::observed_clicks(feedback));
            }
        }
    };
}

/// Implements what follows from the field `candidates`.
macro_rules! identifies {
    ($Policy:ident, and stops) => {
        identifies!($Policy);

        impl crate::Stop for $Policy {
            /// The best items, in increasing order.
            type Answer = Vec<click_models::ItemId>;

            #[inline]
            fn check(&self) -> std::ops::ControlFlow<Self::Answer> {
                self.candidates.check()
            }
        }
    };
    ($Policy:ident) => {
        reads_prefixes!($Policy);

        impl $Policy {
            /// Observations of an item while undecided; 0 for an unknown item.
            pub fn observations(&self, item: click_models::ItemId) -> u64 {
                self.candidates.observations(item)
            }

            /// Observations of all items while undecided.
            pub fn total_observations(&self) -> u64 {
                self.candidates.total_observations()
            }

            /// Accepted items, in order of entry.
            pub fn accepted(&self) -> &[click_models::ItemId] {
                &self.candidates.accepted
            }

            /// Rejected items, in order of entry.
            pub fn rejected(&self) -> &[click_models::ItemId] {
                &self.candidates.rejected
            }
        }

        impl crate::Recommend<click_models::Ranking> for $Policy {
            /// The items accepted so far, and the undecided items of largest mean; ties are random.
            fn recommend<R: rand::Rng + ?Sized>(&self, rng: &mut R, out: &mut click_models::Ranking) {
                self.candidates.recommend(rng, out);
            }
        }
    };
}

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
