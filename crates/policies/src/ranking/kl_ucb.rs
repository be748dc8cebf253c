use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::kl_arms::KlArm;
use crate::live::{LiveState, OnTable, SavedLive, last, on_counts};
use crate::setup::Setup;
use crate::shortlist::Arm as _;
use crate::top_l::Ties;
use crate::{Decision, Error, Select, SelectAmong, Update};
use click_models::{ItemSet, ObservedPrefix, Ranking};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// KL-UCB on an observed prefix: shows the items of largest KL-UCB index.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the index
/// `max { q in [mu, 1] : n d(mu, q) <= level(t) }`; an item that was never observed comes first.
/// The feedback defines which displays were observed, so RSF-KL-UCB (level `ln t`), CascadeKL-UCB
/// and dcmKL-UCB (level `ln t + 3 ln ln t`) are one rule. The best item goes to the top; under a
/// dependent click model it goes where leaving is most likely.
///
/// Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-KL-UCB; Kveton, Szepesvari, Wen,
/// Ashkan, *Cascading bandits*, ICML 2015, CascadeKL-UCB; Katariya, Kveton, Szepesvari, Wen, *DCM
/// bandits*, ICML 2016, dcmKL-UCB; the index is that of Garivier and Cappe 2011. Deviations: the
/// second and third paper start with one free observation of every item; here items that were never
/// observed come first.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `arms` | `mu^_k`, `N_k` | `n_items` | - |
/// | `rate` | log t | - | nats |
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State")]
pub struct PrefixKlUcb {
    rate: Rate,
    counts: PrefixCounts,
    live: LiveState,
    #[serde(skip)]
    arms: BestArms<KlArm>,
}

#[derive(Deserialize)]
struct State {
    rate: Rate,
    counts: PrefixCounts,
    #[serde(default, with = "last")]
    live: SavedLive,
}

impl PrefixKlUcb {
    /// A fresh policy; RSF-KL-UCB has [`Rate::LOG`], the others [`Rate::LOG_PLUS_3_LOG_LOG`].
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, rate: Rate) -> Self {
        Self::over(rate, PrefixCounts::new(known.into()), LiveState::default())
    }

    fn over(rate: Rate, counts: PrefixCounts, live: LiveState) -> Self {
        let arms = (0..counts.n_items()).map(|item| arm(&counts, item));
        Self { rate, arms: BestArms::new(arms, counts.n_positions()).without(&live.absent), counts, live }
    }
}

#[inline]
fn arm(counts: &PrefixCounts, item: usize) -> KlArm {
    KlArm::new(counts.shows(item), counts.clicks(item))
}

impl TryFrom<State> for PrefixKlUcb {
    type Error = Error;

    fn try_from(State { rate, counts, live }: State) -> Result<Self, Error> {
        let live = LiveState::restore(live, counts.n_items())?;
        Ok(Self::over(rate, counts, live))
    }
}

impl Setup for PrefixKlUcb {
    const SETTINGS: &'static [&'static str] = &["/rate", "/counts/places"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for PrefixKlUcb {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let level = self.rate.level(self.counts.next_round());
        let winners = self.arms.select(level, Ties::draw(rng));
        self.counts.show_items(winners.iter().copied(), &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.repeat_round()
    }
}

impl SelectAmong<Ranking> for PrefixKlUcb {
    #[inline]
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let Self { rate, counts, live, arms } = self;
        let level = rate.level(counts.next_round());
        let winners = arms.select_among(available, &live.absent, level, Ties::draw(rng));
        counts.show_items(winners.iter().copied(), &mut out.action);
    }

    fn pass_round(&mut self) {
        self.counts.next_round();
    }
}

impl OnTable for PrefixKlUcb {
    on_counts!(PrefixCounts);

    #[inline]
    fn changed(&mut self, item: usize) {
        self.arms.set(item, arm(&self.counts, item));
    }

    fn pushed(&mut self) {
        self.arms.push(KlArm::new(0, 0), &self.live.absent);
    }

    fn came_or_went(&mut self, item: usize, present: bool) {
        self.arms.set_present(item, present);
    }

    fn index(&self, item: usize) -> Option<f64> {
        Some(arm(&self.counts, item).index(self.rate.level(self.counts.coming_round())))
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PrefixKlUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms.set(item, arm(counts, item));
        });
    }
}
