use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::live::{LiveState, OnTable, SavedLive, last, on_counts};
use crate::setup::Setup;
use crate::shortlist::Arm as _;
use crate::top_l::Ties;
use crate::ucb_arms::Line;
use crate::{Decision, Error, Select, SelectAmong, Update};
use click_models::{ItemSet, ObservedPrefix, Ranking};
use confidence::{NonNegative, Rate};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// UCB on an observed prefix: shows the items of largest mean plus radius.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the index
/// `mu + sqrt(scale ln t / n)`; an item that was never observed comes first. RSF-UCB has
/// `scale = 2/3`. `CascadeUCB1` has `scale = 3/2` and clips the index at 1; items with a clipped
/// index tie.
///
/// Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-UCB; Kveton, Szepesvari, Wen,
/// Ashkan, *Cascading bandits*, ICML 2015, `CascadeUCB1`. Deviations: `CascadeUCB1` starts with one
/// free observation of every item; here items that were never observed come before those with an
/// index of 1. Its radius at round `t` has `ln (t - 1)`, here `ln t`. (The first paper writes
/// `mu_i`, `N_i` in the index of arm k; `N` counts observed displays only.)
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` of `arms` | `mu^_k`, `w^_e` | `n_items` | probability |
/// | `width` of `arms` | `sqrt(2 / (3 N_k))`, `sqrt(1.5 / T_e)` | `n_items` | per root of a nat |
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State")]
pub struct PrefixUcb {
    scale: NonNegative,
    clipped: bool,
    counts: PrefixCounts,
    live: LiveState,
    #[serde(skip)]
    arms: BestArms<Line>,
}

#[derive(Deserialize)]
struct State {
    scale: NonNegative,
    #[serde(default)]
    clipped: bool,
    counts: PrefixCounts,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl PrefixUcb {
    /// A fresh policy with the radius `sqrt(scale ln t / n)`; `clipped`: indices are at most 1.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, scale: NonNegative, clipped: bool) -> Self {
        Self::over(scale, clipped, PrefixCounts::new(known.into()), LiveState::default())
    }

    fn over(scale: NonNegative, clipped: bool, counts: PrefixCounts, live: LiveState) -> Self {
        let arms = (0..counts.n_items()).map(|item| arm(&counts, scale, clipped, item));
        Self {
            scale,
            clipped,
            arms: BestArms::new(arms, counts.n_positions()).without(&live.absent),
            counts,
            live,
        }
    }

    /// RSF-UCB: the radius `sqrt(2 ln t / (3 n))`.
    #[expect(clippy::missing_panics_doc, reason = "2/3 is not negative")]
    pub fn rsf<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::new(known, NonNegative::new(2.0 / 3.0).expect("a positive constant"), false)
    }

    /// `CascadeUCB1`: the radius `sqrt(1.5 ln t / n)` and the index clipped at 1.
    #[expect(clippy::missing_panics_doc, reason = "1.5 is not negative")]
    pub fn cascade<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::new(known, NonNegative::new(1.5).expect("a positive constant"), true)
    }
}

impl TryFrom<State> for PrefixUcb {
    type Error = Error;

    fn try_from(State { scale, clipped, counts, live }: State) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        Ok(Self::over(scale, clipped, counts, live))
    }
}

#[inline]
fn arm(counts: &PrefixCounts, scale: NonNegative, clipped: bool, item: usize) -> Line {
    if counts.shows(item) == 0 {
        return Line::FRESH;
    }
    let shows = counts.shows(item) as f64;
    let line = Line::new(counts.clicks(item) as f64 / shows, (scale.get() / shows).sqrt());
    if clipped { line.clipped_at(1.0) } else { line }
}

impl Setup for PrefixUcb {
    const SETTINGS: &'static [&'static str] = &["/scale", "/clipped", "/counts/places"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PrefixUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let root_of_log = Rate::LOG.level(self.counts.next_round()).sqrt();
        let winners = self.arms.select(root_of_log, Ties::draw(rng));
        self.counts.show_items(winners.iter().copied(), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.repeat_round()
    }
}

impl SelectAmong<Ranking> for PrefixUcb {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { counts, live, arms, .. } = self;
        let root_of_log = Rate::LOG.level(counts.next_round()).sqrt();
        let winners = arms.select_among(available, &live.absent, root_of_log, Ties::draw(rng));
        counts.show_items(winners.iter().copied(), &mut out.action);
    }

    fn pass_round(&mut self) {
        self.counts.next_round();
    }
}

impl OnTable for PrefixUcb {
    on_counts!(PrefixCounts);

    #[inline]
    fn changed(&mut self, item: usize) {
        self.arms.set(item, arm(&self.counts, self.scale, self.clipped, item));
    }

    fn pushed(&mut self) {
        self.arms.push(Line::FRESH, &self.live.absent);
    }

    fn came_or_went(&mut self, item: usize, present: bool) {
        self.arms.set_present(item, present);
    }

    fn index(&self, item: usize) -> Option<f64> {
        let root_of_log = Rate::LOG.level(self.counts.coming_round()).sqrt();
        Some(arm(&self.counts, self.scale, self.clipped, item).index(root_of_log))
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { scale, clipped, counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms.set(item, arm(counts, *scale, *clipped, item));
        });
    }
}
