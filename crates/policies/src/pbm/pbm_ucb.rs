use super::counts::{PbmCounts, place_items};
use crate::best_arms::BestArms;
use crate::live::{LiveState, OnTable, SavedLive, last, on_counts};
use crate::setup::Setup;
use crate::shortlist::Arm as _;
use crate::top_l::Ties;
use crate::ucb_arms::Line;
use crate::{Decision, Error, Select, SelectAmong, Update};
use click_models::{ItemSet, PbmKnown, Ranking, RenderedClicks};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// PBM-UCB: shows the items of largest upper confidence bound.
///
/// At round `t` item `k` has the index
///
/// ```text
/// S_k / N~_k  +  sqrt(N_k / N~_k) sqrt(delta / (2 N~_k)),      delta = (1 + epsilon) ln t
/// ```
///
/// and the policy shows the L largest indices, the largest at the position of largest examination.
/// An item that was never shown comes first.
///
/// Reference: Lagree, Vernade, Cappe 2016, section 4, Proposition 8 and Theorem 9. Deviations:
/// none. The default is `epsilon = 0`; the theory needs a positive `epsilon`, and the paper's
/// experiments do not state it.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` of `arms` | `theta^_k = S_k / N~_k` | `n_items` | probability, may exceed 1 |
/// | `width` of `arms` | `sqrt(N_k / 2) / N~_k` | `n_items` | per root of a nat |
/// | `rate` | delta | - | nats |
///
/// Items whose weighted displays are equal only before rounding (1 and 1 at examinations 0.9 and
/// 0.3, 2 at 0.6) do not tie.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State")]
pub struct PbmUcb {
    rate: Rate,
    counts: PbmCounts,
    live: LiveState,
    #[serde(skip)]
    arms: BestArms<Line>,
}

#[derive(Deserialize)]
struct State {
    rate: Rate,
    counts: PbmCounts,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl PbmUcb {
    /// A fresh policy; `rate` is the paper's delta.
    ///
    /// # Panics
    ///
    /// If `known` does not have one examination probability per position.
    /// [`ClickModel::known`](click_models::ClickModel::known) always has.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::over(rate, PbmCounts::new(known), LiveState::default())
    }

    fn over(rate: Rate, counts: PbmCounts, live: LiveState) -> Self {
        let arms = (0..counts.n_items()).map(|item| arm(&counts, item));
        Self { rate, arms: BestArms::new(arms, counts.n_positions()).without(&live.absent), counts, live }
    }
}

impl TryFrom<State> for PbmUcb {
    type Error = Error;

    fn try_from(State { rate, counts, live }: State) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        Ok(Self::over(rate, counts, live))
    }
}

/// The part of the index that does not depend on `t`, and the factor of `sqrt(delta)`.
#[inline]
fn arm(counts: &PbmCounts, item: usize) -> Line {
    let weighted = counts.weighted_shows(item);
    if weighted > 0.0 {
        let per_show = 1.0 / weighted;
        Line::new(counts.total_clicks(item) * per_show, (0.5 * counts.total_shows(item)).sqrt() * per_show)
    } else {
        Line::FRESH
    }
}

impl Setup for PbmUcb {
    const SETTINGS: &'static [&'static str] = &["/rate", "/counts/examination"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PbmUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let root_of_level = self.rate.level(self.counts.next_round()).sqrt();
        let winners = self.arms.select(root_of_level, Ties::draw(rng));
        place_items(winners.iter().copied(), self.counts.order(), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.repeat_round()
    }
}

impl SelectAmong<Ranking> for PbmUcb {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { rate, counts, live, arms } = self;
        let root_of_level = rate.level(counts.next_round()).sqrt();
        let winners = arms.select_among(available, &live.absent, root_of_level, Ties::draw(rng));
        place_items(winners.iter().copied(), counts.order(), &mut out.action);
    }

    fn pass_round(&mut self) {
        self.counts.next_round();
    }
}

impl OnTable for PbmUcb {
    on_counts!(PbmCounts);

    #[inline]
    fn changed(&mut self, item: usize) {
        self.arms.set(item, arm(&self.counts, item));
    }

    fn pushed(&mut self) {
        self.arms.push(Line::FRESH, &self.live.absent);
    }

    fn came_or_went(&mut self, item: usize, present: bool) {
        self.arms.set_present(item, present);
    }

    fn index(&self, item: usize) -> Option<f64> {
        Some(arm(&self.counts, item).index(self.rate.level(self.counts.coming_round()).sqrt()))
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback, |counts, item| {
            arms.set(item, arm(counts, item));
        });
    }
}
