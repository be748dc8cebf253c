//! Policies for the position-based model, with known and with unknown examination probabilities.

mod assignment;
mod bc_mp_ts;
mod cells;
mod counts;
mod grab;
mod known;
mod leaders;
mod pb_mhb;
mod pbm_gibbs;
mod pbm_pie;
mod pbm_ts;
mod pbm_ucb;

pub use bc_mp_ts::BcMpTs;
pub use grab::Grab;
pub use known::PositionsKnown;
pub use pb_mhb::PbMhb;
pub use pbm_gibbs::{PbmGibbs, PbmGibbsOrder};
pub use pbm_pie::PbmPie;
pub use pbm_ts::PbmTs;
pub use pbm_ucb::PbmUcb;
