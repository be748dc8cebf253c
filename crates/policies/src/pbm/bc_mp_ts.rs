use super::counts::PbmCounts;
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::thompson::{BetaEvidence, Thompson, samples};
use click_models::{PbmKnown, RenderedClicks};
use serde::{Deserialize, Serialize};

/// BC-MP-TS: Thompson sampling with a bias-corrected Beta posterior.
///
/// Every item draws from `Beta(1 + S_k, 1 + max(0, N~_k - S_k))`. The policy shows the L largest
/// draws, the largest at the position of largest examination.
///
/// Reference: Komiyama, Honda, Nakagawa, *Optimal regret analysis of Thompson sampling in
/// stochastic multi-armed bandit problem with multiple plays*, ICML 2015, supplement. Lagree,
/// Vernade, Cappe 2016, section 4, compare with it. The distribution approximates the posterior,
/// and explores too little if attraction is near 1 (figure 1(a) of the latter);
/// [`PbmTs`](crate::PbmTs) draws from the exact one. Deviations: the second parameter as printed
/// can be at most 0 in the first rounds; here `N~_k - S_k` is at least 0.
///
/// With two items a position and more, later rounds draw only items that may reach the list, by
/// thinning, with the same distribution of lists: from round 1,025 on, or from the first one with
/// 60 items and seven more a position. The order that thinning keeps the items in is saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BcMpTs(Thompson<PbmCounts, BetaPosteriors>);

impl BcMpTs {
    /// A fresh policy.
    pub fn new(known: PbmKnown<'_>) -> Self {
        Self(Thompson::new(PbmCounts::new(known)))
    }
}

impl BetaEvidence for PbmCounts {
    /// Failures are corrected for bias.
    #[inline]
    fn evidence(&self, item: usize) -> (f64, f64) {
        let clicks = self.total_clicks(item);
        (clicks, (self.weighted_shows(item) - clicks).max(0.0))
    }
}

samples!(BcMpTs: PbmCounts, BetaPosteriors, settings &["/counts/examination"], reads RenderedClicks, |feedback| feedback);
