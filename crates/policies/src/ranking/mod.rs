//! Policies for lists of which the user's answer reveals a prefix.
//!
//! They read any feedback that is an [`ObservedPrefix`](click_models::ObservedPrefix).

mod counts;
mod kl_ucb;
mod pie;
mod thompson;
mod ucb;

pub use kl_ucb::PrefixKlUcb;
pub use pie::Pie;
pub use thompson::PrefixTs;
pub use ucb::PrefixUcb;
