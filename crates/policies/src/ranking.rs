//! Policies for lists of which the user's answer reveals a prefix, and for lists of any kind.
//!
//! The former read any feedback that is an [`ObservedPrefix`](click_models::ObservedPrefix), the latter ([`TopRank`], [`BatchRank`])
//! any [`ListFeedback`](click_models::ListFeedback): they rely on no click model.

mod batch_rank;
mod counts;
mod epsilon_greedy;
mod kl_ucb;
mod known;
mod pie;
mod thompson;
mod top_rank;
mod ts_cascade;
mod ucb;
mod ucb_v;

pub use batch_rank::BatchRank;
pub use epsilon_greedy::EpsilonGreedy;
pub use kl_ucb::PrefixKlUcb;
pub use known::PrefixKnown;
pub use pie::Pie;
pub use thompson::PrefixTs;
pub use top_rank::TopRank;
pub use ts_cascade::TsCascade;
pub use ucb::PrefixUcb;
pub use ucb_v::PrefixUcbV;
