//! An estimate of examination from a run's clicks, for policies that need examination.
//!
//! Item `k` at position `l` is clicked with probability `theta_k kappa_l`. With Poisson counts for
//! clicks, either side's maximum of the likelihood given the other is its clicks over its weighted
//! displays. One display with a click is added to each, so that no estimate is 0. A round makes one
//! pass from the estimate of the round before:
//!
//! ```text
//! theta_k = (S_k + 1) / (sum over l of kappa_l N_kl + 1)
//! kappa_l = (S_l + 1) / (sum over k of theta_k N_kl + 1),   divided by the largest of them
//! ```
//!
//! The first estimate is 1 everywhere. Items and positions take turns in this way until the
//! likelihood no longer grows; one pass a round is enough, since a round adds little.
//!
//! An estimate can keep a run in a wrong order of positions or items: what it shows confirms it. Of
//! 520 runs of `pbm-ts-plug-in` one lost 2,031 clicks, where others of its query lost 48 on
//! average; of 100 runs of `pbm-ucb-plug-in` 3 lost more than 3,100, the others 280 at most. No run
//! of `pbm-gibbs` was stuck (23 November 2026; 100,000 rounds of
//! `cargo run --release -p measurements --bin position_based_regret`).
//!
//! Sums are in the order of items and positions.

use super::counts::PbmCounts;
use crate::exact::float;
use crate::live::{LiveState, OnTable, SavedLive, last};
use crate::{Error, Select};
use click_models::{ListShape, Ranking};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A policy that is built with examination, and that can be given another one.
pub(super) trait AssumesExamination: OnTable<Table = PbmCounts> {
    /// The policy with these counts. It computes every item in every round, since each round has
    /// another examination.
    fn computing_all(counts: PbmCounts, live: LiveState) -> Self;

    /// Continues as a policy that always had this examination.
    fn assume(&mut self, examination: &[f64]);
}

/// The saved state of a policy with an estimate.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Saved<'a> {
    /// Examination of every position by the last round's pass.
    estimate: Cow<'a, [f64]>,
    rounds: u64,
    shows: Cow<'a, [u64]>,
    clicks: Cow<'a, [u64]>,
    #[serde(default, with = "last")]
    live: SavedLive,
}

/// The policy `P` with an estimate of the examination.
#[derive(Debug, Clone)]
pub(super) struct PlugIn<P> {
    pub(super) policy: P,
    estimate: Vec<f64>,
    /// Buffer: clicks, and displays weighted by attraction, of every position.
    sums: Vec<(f64, f64)>,
    /// Whether the next decision belongs to the round of the last pass.
    is_passed: bool,
}

impl<P: AssumesExamination> PlugIn<P> {
    pub(super) fn new(shape: ListShape) -> Self {
        let counts = PbmCounts::without_examination(shape);
        Self::over(counts, LiveState::default(), vec![1.0; shape.n_positions()])
    }

    fn over(counts: PbmCounts, live: LiveState, estimate: Vec<f64>) -> Self {
        let sums = vec![(0.0, 0.0); estimate.len()];
        Self { policy: P::computing_all(counts, live), sums, estimate, is_passed: false }
    }

    pub(super) fn restore(saved: Saved<'_>) -> Result<Self, Error> {
        let Saved { estimate, rounds, shows, clicks, live } = saved;
        let n_positions = estimate.len();
        let in_range = |&examined: &f64| examined > 0.0 && examined <= 1.0;
        if !estimate.iter().all(in_range) || estimate.iter().copied().fold(0.0, f64::max) < 1.0 {
            return Err(Error::SavedEstimate);
        }
        if !shows.len().is_multiple_of(n_positions) {
            return Err(Error::SavedSizes);
        }
        let shape = ListShape::new(shows.len() / n_positions, n_positions)?;
        let counts = PbmCounts::without_examination(shape).with_table(
            rounds,
            shows.into_owned(),
            clicks.into_owned(),
        )?;
        let live = LiveState::restore(live, counts.n_items())?;
        live.prior.at_least_1()?;
        Ok(Self::over(counts, live, estimate.into_owned()))
    }

    pub(super) fn to_save(&self) -> Saved<'_> {
        let (rounds, shows, clicks) = self.policy.table().saved();
        let live = self.policy.live().to_save();
        Saved { estimate: (&self.estimate).into(), rounds, shows: shows.into(), clicks: clicks.into(), live }
    }

    /// The next round is the current one again.
    pub(super) fn repeat_round(&mut self) -> bool
    where
        P: Select<Ranking>,
    {
        self.is_passed = true;
        self.policy.repeat_round()
    }

    /// Makes one pass a round, and tells the policy what it found.
    #[inline]
    pub(super) fn pass(&mut self) {
        if std::mem::take(&mut self.is_passed) {
            return;
        }
        let Self { policy, estimate, sums, .. } = self;
        let counts = policy.table();
        sums.fill((1.0, 1.0));
        for item in 0..counts.n_items() {
            let (shows, clicks) = (counts.shows(item), counts.clicks(item));
            let (mut found, mut weighted) = (1.0, 1.0);
            for ((&shows, &clicks), examined) in shows.iter().zip(clicks).zip(&*estimate) {
                found += float(clicks);
                weighted += float(shows) * examined;
            }
            let attraction = found / weighted;
            for ((&shows, &clicks), (found, weighted)) in shows.iter().zip(clicks).zip(&mut *sums) {
                *found += float(clicks);
                *weighted += float(shows) * attraction;
            }
        }
        let mut largest = 0.0_f64;
        for (examined, (found, weighted)) in estimate.iter_mut().zip(&*sums) {
            *examined = found / weighted;
            largest = largest.max(*examined);
        }
        for examined in &mut *estimate {
            *examined /= largest;
        }
        policy.assume(estimate);
    }
}

/// A policy with an estimate is on the table of the policy inside, and makes everything that it
/// derives from it anew in the next pass.
macro_rules! on_table_of_plug_in {
    ($Policy:ident: $($also:tt)*) => {
        impl crate::SelectAmong<Ranking> for $Policy {
            #[inline]
            fn select_among<R: Rng + ?Sized>(
                &mut self,
                available: &click_models::ItemSet,
                rng: &mut R,
                out: &mut Decision<Ranking>,
            ) {
                self.0.pass();
                self.0.policy.select_among(available, rng, out);
            }

            fn pass_round(&mut self) {
                self.0.pass();
                self.0.policy.pass_round();
            }
        }

        impl crate::live::OnTable for $Policy {
            type Table = super::counts::PbmCounts;

            fn table(&self) -> &Self::Table {
                self.0.policy.table()
            }

            fn table_mut(&mut self) -> &mut Self::Table {
                self.0.policy.table_mut()
            }

            fn live(&self) -> &crate::live::LiveState {
                self.0.policy.live()
            }

            fn live_mut(&mut self) -> &mut crate::live::LiveState {
                self.0.policy.live_mut()
            }

            fn changed(&mut self, _item: usize) {}

            fn pushed(&mut self) {
                self.0.policy.pushed();
            }

            $($also)*
        }
    };
}
pub(super) use on_table_of_plug_in;
