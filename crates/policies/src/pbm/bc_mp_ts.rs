use super::counts::{PbmCounts, place};
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::largest_draws::{Large, LargestDraws};
use crate::sampling::thinning::SavedThinning;
use crate::setup::Setup;
use crate::{Decision, Error, Select, Update};
use click_models::{PbmKnown, Ranking, RenderedClicks};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Where draws are thinned from the first round on.
const LARGE: Large = Large { items: 256, per_position: 32 };

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
    #[serde(skip)]
    posteriors: BetaPosteriors,
}

#[derive(Deserialize)]
struct Saved {
    counts: PbmCounts,
    #[serde(default)]
    draws: Option<SavedThinning<'static>>,
}

impl BcMpTs {
    /// A fresh policy.
    ///
    /// # Panics
    ///
    /// If `known` does not have one examination probability per position.
    /// [`ClickModel::known`](click_models::ClickModel::known) always has.
    pub fn new(known: PbmKnown<'_>) -> Self {
        let counts = PbmCounts::new(known);
        let posteriors = posteriors(&counts);
        Self { draws: LargestDraws::new(&posteriors, counts.n_positions(), LARGE), posteriors, counts }
    }

    /// A fresh policy that draws every item in every round. Its lists have the same distribution as
    /// those of [`BcMpTs::new`], so it is what that policy can be compared with.
    ///
    /// # Panics
    ///
    /// As [`BcMpTs::new`].
    pub fn drawing_all(known: PbmKnown<'_>) -> Self {
        let counts = PbmCounts::new(known);
        Self { draws: LargestDraws::of_all(counts.n_positions()), posteriors: posteriors(&counts), counts }
    }
}

impl TryFrom<Saved> for BcMpTs {
    type Error = Error;

    fn try_from(Saved { counts, draws }: Saved) -> Result<Self, Error> {
        let posteriors = posteriors(&counts);
        let draws = LargestDraws::restore(draws.as_ref(), &posteriors, counts.n_positions(), LARGE)?;
        Ok(Self { counts, draws, posteriors })
    }
}

fn posteriors(counts: &PbmCounts) -> BetaPosteriors {
    BetaPosteriors::new((0..counts.n_items()).map(|item| evidence(counts, item)))
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
}

impl Select<Ranking> for BcMpTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        place(self.draws.select(&self.posteriors, rng), self.counts.order(), &mut out.action);
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for BcMpTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, posteriors, draws } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            posteriors.set(item, evidence(counts, item));
            draws.update(posteriors, item);
        });
    }
}
