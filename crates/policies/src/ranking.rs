//! Policies for lists that rely on no examination probabilities.
//!
//! Some need to know which prefix of the list the user examined: they read any
//! [`ObservedPrefix`](click_models::ObservedPrefix). [`TopRank`], [`BatchRank`], [`RbaKlUcb`] and
//! [`EpsilonGreedy`] need the clicks only: they read any
//! [`ListFeedback`](click_models::ListFeedback) and rely on no click model.

mod batch_rank;
mod counts;
mod epsilon_greedy;
mod kl_ucb;
mod known;
mod pie;
mod rba_kl_ucb;
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
pub use rba_kl_ucb::RbaKlUcb;
pub use thompson::PrefixTs;
pub use top_rank::TopRank;
pub use ts_cascade::TsCascade;
pub use ucb::PrefixUcb;
pub use ucb_v::PrefixUcbV;
