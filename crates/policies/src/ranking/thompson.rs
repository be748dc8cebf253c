use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::exact::float;
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::largest_draws::{Large, LargestDraws};
use crate::sampling::thinning::SavedThinning;
use crate::setup::Setup;
use crate::{Decision, Error, Select, Update};
use click_models::{ObservedPrefix, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Where draws are thinned from the first round on.
const LARGE: Large = Large { items: 256, per_position: 32 };

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
#[serde(try_from = "Saved")]
pub struct PrefixTs {
    counts: PrefixCounts,
    draws: LargestDraws,
    #[serde(skip)]
    posteriors: BetaPosteriors,
}

#[derive(Deserialize)]
struct Saved {
    counts: PrefixCounts,
    #[serde(default)]
    draws: Option<SavedThinning<'static>>,
}

impl PrefixTs {
    /// A fresh policy.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        let counts = PrefixCounts::new(known.into());
        let posteriors = posteriors(&counts);
        Self { draws: LargestDraws::new(&posteriors, counts.n_positions(), LARGE), posteriors, counts }
    }

    /// A fresh policy that draws every item in every round. Its lists have the same distribution as
    /// those of [`PrefixTs::new`], so it is what that policy can be compared with.
    pub fn drawing_all<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        let counts = PrefixCounts::new(known.into());
        Self { draws: LargestDraws::of_all(counts.n_positions()), posteriors: posteriors(&counts), counts }
    }
}

impl TryFrom<Saved> for PrefixTs {
    type Error = Error;

    fn try_from(Saved { counts, draws }: Saved) -> Result<Self, Error> {
        let posteriors = posteriors(&counts);
        let draws = LargestDraws::restore(draws.as_ref(), &posteriors, counts.n_positions(), LARGE)?;
        Ok(Self { counts, draws, posteriors })
    }
}

fn posteriors(counts: &PrefixCounts) -> BetaPosteriors {
    BetaPosteriors::new((0..counts.n_items()).map(|item| evidence(counts, item)))
}

/// Successes and failures.
#[inline]
fn evidence(counts: &PrefixCounts, item: usize) -> (f64, f64) {
    let (shows, clicks) = (counts.shows(item), counts.clicks(item));
    (float(clicks), float(shows - clicks))
}

impl Setup for PrefixTs {
    const SETTINGS: &'static [&'static str] = &["/counts/places"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PrefixTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.counts.show(self.draws.select(&self.posteriors, rng), &mut out.action);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, posteriors, draws } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            posteriors.set(item, evidence(counts, item));
            draws.update(posteriors, item);
        });
    }
}
