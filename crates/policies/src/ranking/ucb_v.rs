use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::live::{LiveState, OnTable, SavedLive, last, on_counts};
use crate::setup::Setup;
use crate::shortlist::Arm;
use crate::top_l::Ties;
use crate::ucb_arms::{Compared, Floor};
use crate::{Decision, Error, Select, SelectAmong, Update};
use click_models::{ItemSet, ObservedPrefix, Ranking};
use confidence::{NonNegative, Rate};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// UCB-V on an observed prefix (`CascadeUCB-V`): mean plus empirical Bernstein radius.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the index
/// `mu + sqrt(2 v E / n) + 3 E / n`, with the empirical variance `v = mu (1 - mu)` and the
/// exploration `E = zeta ln t`; an item that was never observed comes first. Rare clicks have a
/// small variance, so their radius is far below that of UCB1.
///
/// Reference: Vial, Sanghavi, Shakkottai, Srikant, *Minimax regret for cascading bandits*, Neural
/// Information Processing Systems 2022; the index is UCB-V, from Audibert, Munos, Szepesvari,
/// *Exploration-exploitation tradeoff using variance estimates in multi-armed bandits*, TCS 2009.
/// Deviations: `zeta` is 1 by default. The text of the former paper was not available; independent
/// code of it has `zeta = 2`, which had more regret in our experiments (`docs/cascade-and-dcm.md`).
/// As in UCB-V, an index above 1 is not clipped.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` | `w^_e` | `n_items` | probability |
/// | `zeta` | `zeta` (Audibert et al.) | - | nats per `ln t` |
/// | `deviation` | `sqrt(2 v_e / T_e)` | `n_items` | per root of a nat |
/// | `bias` | `3 / T_e` | `n_items` | per nat |
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State")]
pub struct PrefixUcbV {
    zeta: NonNegative,
    counts: PrefixCounts,
    live: LiveState,
    #[serde(skip)]
    arms: BestArms<BernsteinArm>,
}

#[derive(Deserialize)]
struct State {
    #[serde(default = "PrefixUcbV::default_zeta")]
    zeta: NonNegative,
    counts: PrefixCounts,
    #[serde(default, with = "last")]
    live: SavedLive,
}

/// The index `mean + deviation sqrt(level) + bias level`, at the level `zeta ln t`.
#[derive(Debug, Clone, Copy)]
struct BernsteinArm {
    mean: f64,
    deviation: f64,
    bias: f64,
}

impl BernsteinArm {
    #[inline]
    fn new(shows: u64, clicks: u64) -> Self {
        if shows == 0 {
            return Self { mean: f64::INFINITY, deviation: 0.0, bias: 0.0 };
        }
        let shows = shows as f64;
        let mean = clicks as f64 / shows;
        Self { mean, deviation: (2.0 * (mean * (1.0 - mean)) / shows).sqrt(), bias: 3.0 / shows }
    }
}

impl Arm for BernsteinArm {
    type Few = Compared;
    type Filter = Floor;

    /// Mean and displays determine the index; below 2^52 the bias determines the displays.
    #[inline]
    fn key(&self) -> (u64, u64) {
        (self.mean.to_bits(), self.bias.to_bits())
    }

    #[inline]
    fn is_fresh(&self) -> bool {
        self.mean == f64::INFINITY
    }

    #[inline]
    fn mean(&self) -> f64 {
        self.mean
    }

    #[inline]
    fn index(&self, level: f64) -> f64 {
        self.mean + self.deviation * level.sqrt() + self.bias * level
    }
}

impl PrefixUcbV {
    /// A fresh policy with exploration `ln t`.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::over(Self::default_zeta(), PrefixCounts::new(known.into()), LiveState::default())
    }

    fn over(zeta: NonNegative, counts: PrefixCounts, live: LiveState) -> Self {
        let arms =
            (0..counts.n_items()).map(|item| BernsteinArm::new(counts.shows(item), counts.clicks(item)));
        Self { arms: BestArms::new(arms, counts.n_positions()).without(&live.absent), zeta, counts, live }
    }

    /// Sets the exploration to `zeta ln t`.
    #[must_use]
    pub fn with_zeta(self, zeta: NonNegative) -> Self {
        Self { zeta, ..self }
    }

    pub(crate) fn default_zeta() -> NonNegative {
        NonNegative::from_count(1)
    }
}

impl TryFrom<State> for PrefixUcbV {
    type Error = Error;

    fn try_from(State { zeta, counts, live }: State) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        Ok(Self::over(zeta, counts, live))
    }
}

impl Setup for PrefixUcbV {
    const SETTINGS: &'static [&'static str] = &["/zeta", "/counts/places"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PrefixUcbV {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let exploration = self.zeta.get() * Rate::LOG.level(self.counts.next_round());
        let winners = self.arms.select(exploration, Ties::draw(rng));
        self.counts.show_items(winners.iter().copied(), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.repeat_round()
    }
}

impl SelectAmong<Ranking> for PrefixUcbV {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { zeta, counts, live, arms } = self;
        let exploration = zeta.get() * Rate::LOG.level(counts.next_round());
        let winners = arms.select_among(available, &live.absent, exploration, Ties::draw(rng));
        counts.show_items(winners.iter().copied(), &mut out.action);
    }

    fn pass_round(&mut self) {
        self.counts.next_round();
    }
}

impl OnTable for PrefixUcbV {
    on_counts!(PrefixCounts);

    #[inline]
    fn changed(&mut self, item: usize) {
        self.arms.set(item, BernsteinArm::new(self.counts.shows(item), self.counts.clicks(item)));
    }

    fn pushed(&mut self) {
        self.arms.push(BernsteinArm::new(0, 0), &self.live.absent);
    }

    fn came_or_went(&mut self, item: usize, present: bool) {
        self.arms.set_present(item, present);
    }

    fn index(&self, item: usize) -> Option<f64> {
        let arm = BernsteinArm::new(self.counts.shows(item), self.counts.clicks(item));
        Some(arm.index(self.zeta.get() * Rate::LOG.level(self.counts.coming_round())))
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixUcbV {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms.set(item, BernsteinArm::new(counts.shows(item), counts.clicks(item)));
        });
    }
}
