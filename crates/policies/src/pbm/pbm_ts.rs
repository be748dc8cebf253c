mod items;
mod posterior;
mod tail;

use super::counts::{PbmCounts, place};
use super::plug_in::AssumesExamination;
use crate::live::{LiveState, OnTable, SavedLive, draws_from_posteriors, last, on_counts};
use crate::sampling::largest_draws::{Large, LargestDraws};
use crate::sampling::thinning::{Present, SavedThinning};
use crate::setup::{Setup, learns_from_table};
use crate::{Bayesian, Decision, Error, Prior, Select, SelectAmong, Update};
use click_models::{ItemSet, PbmKnown, Ranking, RenderedClicks};
use items::Items;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Where draws are thinned.
const LARGE: Large = Large { items: 512, per_position: 128, settles: false };

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
/// Numerics: practically exact while counts stay below `2^40`. From 512 items on (and 128 a
/// position) items that cannot be among the largest are thinned, with the same distribution of
/// lists (`pbm_ts/tail.rs`); the order that thinning keeps the items in is saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct PbmTs {
    counts: PbmCounts,
    draws: LargestDraws,
    live: LiveState,
    #[serde(skip)]
    items: Items,
}

#[derive(Deserialize)]
struct Saved {
    counts: PbmCounts,
    #[serde(default)]
    draws: Option<SavedThinning<'static>>,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl PbmTs {
    /// A fresh policy.
    ///
    /// # Panics
    ///
    /// If `known` does not have one examination probability per position.
    /// [`ClickModel::known`](click_models::ClickModel::known) always has.
    pub fn new(known: PbmKnown<'_>) -> Self {
        let (counts, live) = (PbmCounts::new(known), LiveState::default());
        let is_thinned = LARGE.includes(counts.n_items(), counts.n_positions());
        let items = Items::new(&counts, live.prior, is_thinned);
        Self { draws: LargestDraws::new(&items, counts.n_positions(), LARGE), items, counts, live }
    }

    /// A fresh policy that draws all items in every round, to compare [`PbmTs::new`] with.
    ///
    /// # Panics
    ///
    /// As [`PbmTs::new`].
    pub fn drawing_all(known: PbmKnown<'_>) -> Self {
        Self::over(PbmCounts::new(known), LiveState::default())
    }
}

impl TryFrom<Saved> for PbmTs {
    type Error = Error;

    fn try_from(Saved { counts, draws, live }: Saved) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        let items = Items::new(&counts, live.prior.at_least_1()?, draws.is_some());
        let present = Present { posteriors: &items, absent: &live.absent };
        let draws = LargestDraws::restore(draws.as_ref(), &present, counts.n_positions(), LARGE)?;
        Ok(Self { counts, draws, live, items })
    }
}

/// Draws all items: every round's examination is another one.
impl AssumesExamination for PbmTs {
    fn over(counts: PbmCounts, live: LiveState) -> Self {
        let items = Items::new(&counts, live.prior, false);
        Self { draws: LargestDraws::of_all(counts.n_positions()), items, counts, live }
    }

    fn counts(&self) -> &PbmCounts {
        &self.counts
    }

    fn counts_mut(&mut self) -> &mut PbmCounts {
        &mut self.counts
    }

    #[inline]
    fn assume(&mut self, examination: &[f64]) {
        self.counts.assume(examination);
        self.items.prepare(&self.counts);
    }
}

impl Setup for PbmTs {
    const SETTINGS: &'static [&'static str] = &["/counts/examination"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }

    learns_from_table!();
}

impl Select<Ranking> for PbmTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        place(self.draws.select(&self.items, &self.live, rng), self.counts.order(), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl SelectAmong<Ranking> for PbmTs {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { counts, draws, live, items } = self;
        place(draws.select_among(items, live, available, rng), counts.order(), &mut out.action);
    }
}

impl OnTable for PbmTs {
    on_counts!(PbmCounts);

    #[inline]
    fn changed(&mut self, item: usize) {
        let Self { counts, draws, live, items } = self;
        items.update(counts, item);
        draws.update(items, live, item);
    }

    fn pushed(&mut self) {
        let Self { counts, draws, live, items } = self;
        let thins = draws.thins_at(counts.n_items());
        if thins == items.are_thinned() {
            items.push(counts);
        } else {
            *items = Items::new(counts, live.prior, thins);
        }
        draws.push(items, live);
    }

    fn came_or_went(&mut self, item: usize) {
        self.draws.came_or_went(&self.items, &self.live, item);
    }

    draws_from_posteriors!();
}

impl Bayesian for PbmTs {
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        self.live.prior = prior.at_least_1()?;
        self.items = Items::new(&self.counts, prior, self.items.are_thinned());
        self.draws.renew(&self.items, &self.live);
        Ok(())
    }

    fn prior(&self) -> Prior {
        self.live.prior
    }

    fn examination(&self) -> &[f64] {
        self.counts.examination()
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, draws, live, items } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            items.update(counts, item);
            draws.update(items, live, item);
        });
    }
}

#[cfg(test)]
mod tests;
