//! Policies for lists of which the user's answer reveals a prefix.
//!
//! They read any feedback that is an [`ObservedPrefix`](click_models::ObservedPrefix).

mod counts;
mod kl_ucb;
mod known;
mod pie;
mod thompson;
mod ts_cascade;
mod ucb;
mod ucb_v;

pub use kl_ucb::PrefixKlUcb;
pub use known::PrefixKnown;
pub use pie::Pie;
pub use thompson::PrefixTs;
pub use ts_cascade::TsCascade;
pub use ucb::PrefixUcb;
pub use ucb_v::PrefixUcbV;
