use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::exact::float;
use crate::live::{LiveState, OnTable, SavedLive, draws_from_posteriors, last, on_counts};
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::largest_draws::{Large, LargestDraws};
use crate::sampling::thinning::{Present, SavedThinning};
use crate::setup::{Setup, learns_from_table};
use crate::{Bayesian, Decision, Error, Prior, Select, SelectAmong, Update};
use click_models::{ItemSet, ObservedPrefix, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Where draws are thinned from the first round on.
const LARGE: Large = Large { items: 256, per_position: 32, settles: true };

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
    live: LiveState,
    #[serde(skip)]
    posteriors: BetaPosteriors,
}

#[derive(Deserialize)]
struct Saved {
    counts: PrefixCounts,
    #[serde(default)]
    draws: Option<SavedThinning<'static>>,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl PrefixTs {
    /// A fresh policy.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        let (counts, live) = (PrefixCounts::new(known.into()), LiveState::default());
        let posteriors = posteriors(&counts, live.prior);
        let draws = LargestDraws::new(&posteriors, counts.n_positions(), LARGE);
        Self { counts, draws, live, posteriors }
    }

    /// A fresh policy that draws every item in every round. Its lists have the same distribution as
    /// those of [`PrefixTs::new`], so it is what that policy can be compared with.
    pub fn drawing_all<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        let (counts, live) = (PrefixCounts::new(known.into()), LiveState::default());
        let draws = LargestDraws::of_all(counts.n_positions());
        Self { draws, posteriors: posteriors(&counts, live.prior), counts, live }
    }
}

impl TryFrom<Saved> for PrefixTs {
    type Error = Error;

    fn try_from(Saved { counts, draws, live }: Saved) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        let posteriors = posteriors(&counts, live.prior);
        let present = Present { posteriors: &posteriors, absent: &live.absent };
        let draws = LargestDraws::restore(draws.as_ref(), &present, counts.n_positions(), LARGE)?;
        Ok(Self { counts, draws, live, posteriors })
    }
}

fn posteriors(counts: &PrefixCounts, prior: Prior) -> BetaPosteriors {
    BetaPosteriors::with_prior(prior, (0..counts.n_items()).map(|item| evidence(counts, item)))
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

    learns_from_table!();
}

impl Select<Ranking> for PrefixTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.counts.show(self.draws.select(&self.posteriors, &self.live, rng), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl SelectAmong<Ranking> for PrefixTs {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { counts, draws, live, posteriors } = self;
        counts.show(draws.select_among(posteriors, live, available, rng), &mut out.action);
    }
}

impl OnTable for PrefixTs {
    on_counts!(PrefixCounts);

    #[inline]
    fn changed(&mut self, item: usize) {
        let Self { counts, draws, live, posteriors } = self;
        posteriors.set(item, evidence(counts, item));
        draws.update(posteriors, live, item);
    }

    fn pushed(&mut self) {
        self.posteriors.push((0.0, 0.0));
        self.draws.push(&self.posteriors, &self.live);
    }

    fn came_or_went(&mut self, item: usize) {
        self.draws.came_or_went(&self.posteriors, &self.live, item);
    }

    draws_from_posteriors!();
}

impl Bayesian for PrefixTs {
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        self.live.prior = prior;
        self.posteriors = posteriors(&self.counts, prior);
        self.draws.renew(&self.posteriors, &self.live);
        Ok(())
    }

    fn prior(&self) -> Prior {
        self.live.prior
    }

    fn examination(&self) -> &[f64] {
        &[]
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, draws, live, posteriors } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            posteriors.set(item, evidence(counts, item));
            draws.update(posteriors, live, item);
        });
    }
}
