//! Policies for the position-based model, with known and with unknown examination probabilities.

mod assignment;
mod bc_mp_ts;
mod cells;
pub(crate) mod counts;
mod grab;
mod index_test;
mod known;
mod leaders;
mod least_cost;
mod pb_mhb;
mod pbm_gibbs;
mod pbm_kl_ucb;
mod pbm_pie;
mod pbm_ts;
mod pbm_ucb;
mod prior;

pub use bc_mp_ts::BcMpTs;
pub use grab::Grab;
pub use known::PositionsKnown;
pub use pb_mhb::PbMhb;
pub use pbm_gibbs::{PbmGibbs, PbmGibbsOrder};
pub use pbm_kl_ucb::PbmKlUcb;
pub use pbm_pie::{PbmPie, PbmPiePosition};
pub use pbm_ts::PbmTs;
pub use pbm_ucb::PbmUcb;
pub use prior::PbmPrior;
