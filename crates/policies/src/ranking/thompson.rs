use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::exact::float;
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::thompson::{BetaEvidence, ListCounts, Thompson, samples};
use click_models::{ObservedPrefix, Ranking};
use serde::{Deserialize, Serialize};

/// Thompson sampling on an observed prefix (RSF-TS, `CascadeTS`, DCM-TS), Beta posteriors.
///
/// Every item draws from `Beta(1 + clicks, 1 + observed displays without a click)`. The policy
/// shows the L largest draws from the top position down; under a dependent click model it starts
/// where leaving is most likely. The feedback defines which displays were observed, so the policies
/// of this kind for several click models are one rule.
///
/// Reference: Vahabi, Lagree, Vernade, Cappe 2016, Algorithm 1 (RSF-TS); Zhong, Cheung, Tan,
/// *Thompson sampling algorithms for cascading bandits*, JMLR 2021 (`CascadeTS` with Beta
/// posteriors). Deviations: none.
///
/// Draws are thinned as in [`BcMpTs`](crate::BcMpTs).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PrefixTs(Thompson<PrefixCounts, BetaPosteriors>);

impl PrefixTs {
    /// A fresh policy.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self(Thompson::new(PrefixCounts::new(known.into())))
    }
}

impl ListCounts for PrefixCounts {
    fn n_positions(&self) -> usize {
        self.n_positions
    }

    #[inline]
    fn show(&self, best: &[(f64, u32)], out: &mut Ranking) {
        self.show(best, out);
    }

    fn examination(&self) -> &[f64] {
        &[]
    }
}

impl BetaEvidence for PrefixCounts {
    fn evidence(&self, item: usize) -> (f64, f64) {
        let (shows, clicks) = (self.shows(item), self.clicks(item));
        (float(clicks), float(shows - clicks))
    }
}

samples!(PrefixTs: PrefixCounts, BetaPosteriors, settings &["/counts/places"], reads ObservedPrefix, |feedback| feedback.observed_clicks());
