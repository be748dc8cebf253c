mod items;
mod posterior;
mod tail;

use super::counts::PbmCounts;
use crate::sampling::thompson::{Thompson, samples};
use click_models::{PbmKnown, RenderedClicks};
use items::Items;
use serde::{Deserialize, Serialize};

/// PBM-TS: Thompson sampling from the exact posterior of the position-based model.
///
/// Under a uniform prior the posterior of an item's attraction after `S_l` clicks and
/// `F_l = N_l - S_l` displays without a click at position `l` is
///
/// ```text
/// pi(theta)  proportional to  theta^S  prod_l (1 - kappa_l theta)^{F_l}      on (0, 1),     S = sum_l S_l
/// ```
///
/// Every item draws from its posterior. The L largest draws are shown, by examination.
///
/// Reference: Lagree, Vernade, Cappe 2016, section 4, *PBM-TS*. Deviations: none in the
/// distribution of draws. The proposal of the paper's rejection sampler,
/// `Beta(S_m, F_m) / kappa_m`, is improper without clicks or failures, belongs to another prior,
/// and has no positive lower bound on its acceptance rate. The proposal here uses all positions
/// (`pbm_ts/posterior.rs`).
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts.clicks` | `alpha_{k,l} = S_{k,l}` | `n_items` x `n_positions` | clicks |
/// | failures | `beta_{k,l} = N_{k,l} - S_{k,l}` | `n_items` x `n_positions` | displays |
/// | `examination` | kappa | `n_positions` | probability |
///
/// Numerics: practically exact while counts stay below `2^40`. Items that cannot be among the
/// largest are thinned, with the same distribution of lists (`pbm_ts/tail.rs`): with six items a
/// position and more from round 1,025 on, or from the first one with 30 items and 27 a position.
/// The order that thinning keeps the items in is saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PbmTs(Thompson<PbmCounts, Items>);

impl PbmTs {
    /// A fresh policy.
    pub fn new(known: PbmKnown<'_>) -> Self {
        Self(Thompson::new(PbmCounts::new(known)))
    }
}

samples!(PbmTs: PbmCounts, Items, settings &["/counts/examination"], reads RenderedClicks, |feedback| feedback);

#[cfg(test)]
mod tests;
