use super::counts::{PbmCounts, place};
use crate::live::{LiveState, OnTable, SavedLive, draws_from_posteriors, last, on_counts};
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::largest_draws::{Large, LargestDraws};
use crate::sampling::thinning::{Present, SavedThinning};
use crate::setup::{Setup, learns_from_table};
use crate::{Bayesian, Decision, Error, Prior, Select, SelectAmong, Update};
use click_models::{ItemSet, PbmKnown, Ranking, RenderedClicks};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Where draws are thinned from the first round on.
const LARGE: Large = Large { items: 256, per_position: 32, settles: true };

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
/// 256 items and 32 a position. The order that thinning keeps the items in is saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct BcMpTs {
    counts: PbmCounts,
    draws: LargestDraws,
    live: LiveState,
    #[serde(skip)]
    posteriors: BetaPosteriors,
}

#[derive(Deserialize)]
struct Saved {
    counts: PbmCounts,
    #[serde(default)]
    draws: Option<SavedThinning<'static>>,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl BcMpTs {
    /// A fresh policy.
    ///
    /// # Panics
    ///
    /// If `known` does not have one examination probability per position.
    /// [`ClickModel::known`](click_models::ClickModel::known) always has.
    pub fn new(known: PbmKnown<'_>) -> Self {
        let (counts, live) = (PbmCounts::new(known), LiveState::default());
        let posteriors = posteriors(&counts, live.prior);
        let draws = LargestDraws::new(&posteriors, counts.n_positions(), LARGE);
        Self { counts, draws, live, posteriors }
    }

    /// A fresh policy that draws every item in every round. Its lists have the same distribution as
    /// those of [`BcMpTs::new`], so it is what that policy can be compared with.
    ///
    /// # Panics
    ///
    /// As [`BcMpTs::new`].
    pub fn drawing_all(known: PbmKnown<'_>) -> Self {
        let (counts, live) = (PbmCounts::new(known), LiveState::default());
        let draws = LargestDraws::of_all(counts.n_positions());
        Self { draws, posteriors: posteriors(&counts, live.prior), counts, live }
    }
}

impl TryFrom<Saved> for BcMpTs {
    type Error = Error;

    fn try_from(Saved { counts, draws, live }: Saved) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        let posteriors = posteriors(&counts, live.prior);
        let present = Present { posteriors: &posteriors, absent: &live.absent };
        let draws = LargestDraws::restore(draws.as_ref(), &present, counts.n_positions(), LARGE)?;
        Ok(Self { counts, draws, live, posteriors })
    }
}

fn posteriors(counts: &PbmCounts, prior: Prior) -> BetaPosteriors {
    BetaPosteriors::with_prior(prior, (0..counts.n_items()).map(|item| evidence(counts, item)))
}

/// Successes, and failures as corrected for bias.
#[inline]
fn evidence(counts: &PbmCounts, item: usize) -> (f64, f64) {
    let clicks = counts.total_clicks(item);
    (clicks, (counts.weighted_shows(item) - clicks).max(0.0))
}

impl Setup for BcMpTs {
    const SETTINGS: &'static [&'static str] = &["/counts/examination"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }

    learns_from_table!();
}

impl Select<Ranking> for BcMpTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        place(self.draws.select(&self.posteriors, &self.live, rng), self.counts.order(), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl SelectAmong<Ranking> for BcMpTs {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { counts, draws, live, posteriors } = self;
        place(draws.select_among(posteriors, live, available, rng), counts.order(), &mut out.action);
    }
}

impl OnTable for BcMpTs {
    on_counts!(PbmCounts);

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

impl Bayesian for BcMpTs {
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
        self.counts.examination()
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for BcMpTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, draws, live, posteriors } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            posteriors.set(item, evidence(counts, item));
            draws.update(posteriors, live, item);
        });
    }
}
