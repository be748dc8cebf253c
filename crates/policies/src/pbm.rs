//! Policies for the position-based model with known examination probabilities.

mod bc_mp_ts;
mod counts;
mod index_test;
mod least_cost;
mod pbm_kl_ucb;
mod pbm_pie;
mod pbm_ts;
mod pbm_ucb;

pub use bc_mp_ts::BcMpTs;
pub use pbm_kl_ucb::PbmKlUcb;
pub use pbm_pie::{PbmPie, PbmPiePosition};
pub use pbm_ts::PbmTs;
pub use pbm_ucb::PbmUcb;
