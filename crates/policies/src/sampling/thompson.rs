//! Thompson sampling of lists: every item draws from its posterior, and the largest draws are
//! shown.
//!
//! The policies differ in their counts, in the posteriors that these determine, and in the feedback
//! that they count. A policy wraps [`Thompson`], and everything but the counting follows.

use super::beta_posteriors::BetaPosteriors;
use super::largest_draws::{Large, LargestDraws};
use super::thinning::{Posteriors, SavedThinning};
use crate::live::{LiveState, OnTable, SavedLive, Table, last};
use crate::setup::Setup;
use crate::{Bayesian, Decision, Error, Prior, Select, SelectAmong};
use click_models::{ItemSet, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Displays and clicks of items on lists.
pub(crate) trait ListCounts: Table {
    fn n_positions(&self) -> usize;

    /// Shows `best` (scores and items, best first), every item at the position of its rank.
    fn show(&self, best: &[(f64, u32)], out: &mut Ranking);

    /// As [`Bayesian::examination`].
    fn examination(&self) -> &[f64];
}

/// Posteriors of all items that counts of type `C` determine.
pub(crate) trait PosteriorsOf<C>: Posteriors + Sized {
    /// Where draws are thinned.
    const LARGE: Large;

    fn of(counts: &C, prior: Prior, is_thinned: bool) -> Self;

    /// Makes the posterior of an item from its counts.
    fn learn(&mut self, counts: &C, item: usize);

    /// Adds the posterior of the last of the items that are counted.
    fn add(&mut self, counts: &C, prior: Prior, is_thinned: bool);

    /// Refuses a prior whose posteriors cannot be drawn from.
    fn check(_prior: Prior) -> Result<(), Error> {
        Ok(())
    }
}

/// Counts that are successes and failures of every item.
pub(crate) trait BetaEvidence: Table {
    fn evidence(&self, item: usize) -> (f64, f64);
}

impl<C: BetaEvidence> PosteriorsOf<C> for BetaPosteriors {
    const LARGE: Large = Large { items: 60, per_position: 7, settled_per_position: 2 };

    fn of(counts: &C, prior: Prior, _is_thinned: bool) -> Self {
        Self::with_prior(prior, (0..counts.n_items()).map(|item| counts.evidence(item)))
    }

    fn learn(&mut self, counts: &C, item: usize) {
        self.set(item, counts.evidence(item));
    }

    fn add(&mut self, _counts: &C, _prior: Prior, _is_thinned: bool) {
        self.push((0.0, 0.0));
    }
}

/// Counts, the posteriors that they determine, and the search for the largest draws.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    try_from = "State<C>",
    bound(serialize = "C: Serialize", deserialize = "C: ListCounts + Deserialize<'de>, P: PosteriorsOf<C>")
)]
pub(crate) struct Thompson<C, P> {
    pub(crate) counts: C,
    pub(crate) draws: LargestDraws,
    pub(crate) live: LiveState,
    #[serde(skip)]
    pub(crate) posteriors: P,
}

#[derive(Deserialize)]
struct State<C> {
    counts: C,
    draws: Option<SavedThinning<'static>>,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl<C: ListCounts, P: PosteriorsOf<C>> Thompson<C, P> {
    pub(crate) fn new(counts: C) -> Self {
        Self::thinning_from(P::LARGE, counts)
    }

    /// Thins draws in every round, whatever the size.
    pub(crate) fn thinning(counts: C) -> Self {
        Self::thinning_from(Large { items: 0, per_position: 0, settled_per_position: 0 }, counts)
    }

    fn thinning_from(large: Large, counts: C) -> Self {
        let (n_positions, live) = (counts.n_positions(), LiveState::default());
        let is_thinned = large.pace(counts.n_items(), n_positions).is_some();
        let posteriors = P::of(&counts, live.prior, is_thinned);
        Self { draws: LargestDraws::new(&posteriors, &live, n_positions, large), posteriors, counts, live }
    }

    /// Draws all items in every round.
    pub(crate) fn drawing_all(counts: C) -> Self {
        let live = LiveState::default();
        let posteriors = P::of(&counts, live.prior, false);
        Self { draws: LargestDraws::of_all(counts.n_positions()), posteriors, counts, live }
    }
}

impl<C: ListCounts, P: PosteriorsOf<C>> TryFrom<State<C>> for Thompson<C, P> {
    type Error = Error;

    fn try_from(State { counts, draws, live }: State<C>) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        P::check(live.prior)?;
        let posteriors = P::of(&counts, live.prior, draws.is_some());
        let present = live.present(&posteriors);
        let draws = LargestDraws::restore(draws.as_ref(), &present, counts.n_positions(), P::LARGE)?;
        Ok(Self { counts, draws, live, posteriors })
    }
}

/// Implements a policy that wraps [`Thompson`], given the settings in its saved state and what its
/// counts record of the feedback.
macro_rules! samples {
    (
        $Policy:ident: $Counts:ty, $Posteriors:ty, settings $settings:expr,
        reads $Feedback:ident, |$feedback:ident| $seen:expr
    ) => {
        impl $Policy {
            /// A fresh policy that draws every item in every round. Its lists have the same
            /// distribution, so it is what the policy can be compared with.
            #[must_use]
            pub fn drawing_all(self) -> Self {
                Self(Thompson::drawing_all(self.0.counts))
            }

            /// A fresh policy that thins its draws from the first round on, whatever its size.
            #[must_use]
            pub fn thinning(self) -> Self {
                Self(Thompson::thinning(self.0.counts))
            }
        }

        impl crate::sampling::thompson::Samples for $Policy {
            type Counts = $Counts;
            type Posteriors = $Posteriors;

            const SETTINGS: &'static [&'static str] = $settings;

            #[inline]
            fn sampling(&self) -> &Thompson<$Counts, $Posteriors> {
                &self.0
            }

            #[inline]
            fn sampling_mut(&mut self) -> &mut Thompson<$Counts, $Posteriors> {
                &mut self.0
            }
        }

        impl<F: $Feedback> crate::Update<click_models::Ranking, F> for $Policy {
            #[inline]
            fn update(&mut self, decision: &crate::Decision<click_models::Ranking>, $feedback: &F) {
                use crate::sampling::thompson::PosteriorsOf as _;
                let Thompson { counts, draws, live, posteriors } = &mut self.0;
                counts.record(&decision.action, $seen, |counts, item| {
                    posteriors.learn(counts, item);
                    draws.update(posteriors, live, item);
                });
            }
        }
    };
}
pub(crate) use samples;

/// A policy that samples in this way.
pub(crate) trait Samples: Send + Sync + Sized {
    type Counts: ListCounts;
    type Posteriors: PosteriorsOf<Self::Counts>;

    /// As [`Setup::SETTINGS`].
    const SETTINGS: &'static [&'static str];

    fn sampling(&self) -> &Thompson<Self::Counts, Self::Posteriors>;

    fn sampling_mut(&mut self) -> &mut Thompson<Self::Counts, Self::Posteriors>;
}

impl<S: Samples> Setup for S {
    const SETTINGS: &'static [&'static str] = <S as Samples>::SETTINGS;

    fn sizes(&self) -> [usize; 2] {
        let counts = &self.sampling().counts;
        [counts.n_items(), counts.n_positions()]
    }
}

impl<S: Samples> Select<Ranking> for S {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let Thompson { counts, draws, live, posteriors } = self.sampling_mut();
        counts.show(draws.select(posteriors, live, rng), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl<S: Samples> SelectAmong<Ranking> for S {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Thompson { counts, draws, live, posteriors } = self.sampling_mut();
        counts.show(draws.select_among(posteriors, live, available, rng), &mut out.action);
    }
}

impl<S: Samples> OnTable for S {
    const MULTIPLIES: bool = true;

    type Table = S::Counts;

    fn table(&self) -> &S::Counts {
        &self.sampling().counts
    }

    fn table_mut(&mut self) -> &mut S::Counts {
        &mut self.sampling_mut().counts
    }

    fn live(&self) -> &LiveState {
        &self.sampling().live
    }

    fn live_mut(&mut self) -> &mut LiveState {
        &mut self.sampling_mut().live
    }

    fn revalued(&mut self, item: usize) {
        let Thompson { draws, live, posteriors, .. } = self.sampling_mut();
        draws.revalued(posteriors, live, item);
    }

    fn changed(&mut self, item: usize) {
        let Thompson { counts, draws, live, posteriors } = self.sampling_mut();
        posteriors.learn(counts, item);
        draws.update(posteriors, live, item);
    }

    fn pushed(&mut self) {
        let Thompson { counts, draws, live, posteriors } = self.sampling_mut();
        posteriors.add(counts, live.prior, draws.thins_at(counts.n_items()));
        draws.push(posteriors, live);
    }

    fn came_or_went(&mut self, item: usize, _: bool) {
        let Thompson { draws, live, posteriors, .. } = self.sampling_mut();
        draws.came_or_went(posteriors, live, item);
    }

    fn posteriors(&mut self) -> Option<&mut dyn Bayesian> {
        Some(self)
    }
}

impl<S: Samples> Bayesian for S {
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        S::Posteriors::check(prior)?;
        let Thompson { counts, draws, live, posteriors } = self.sampling_mut();
        live.prior = prior;
        *posteriors = S::Posteriors::of(counts, prior, draws.thins_at(counts.n_items()));
        draws.renew(posteriors, live);
        Ok(())
    }

    fn prior(&self) -> Prior {
        self.sampling().live.prior
    }

    fn examination(&self) -> &[f64] {
        self.sampling().counts.examination()
    }
}
