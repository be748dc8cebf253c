//! TS-Cascade: Thompson sampling with one normal draw a round that all items share.
//!
//! At round `t` an item with `n` observed displays and mean `mu` has the score
//! `mu + Z max(sqrt(v ln(t + 1) / (n + 1)), ln(t + 1) / (n + 1))`, where `v = mu (1 - mu)` is its empirical variance and `Z` a standard
//! normal draw, the same for every item. The mean of an item that was never observed is 0. The policy shows the items of largest score,
//! the best at the best position. A positive draw moves all little-observed items to the front, a negative one to the back.
//!
//! Reference: Zhong, Cheung, Tan, *Thompson sampling algorithms for cascading bandits*, JMLR 2021, Algorithm 1. Deviations: none.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `mean` | `mu^_t(i)` | `n_items` | probability |
//! | `deviation` | `sqrt(nu^_t(i) / (N_t(i) + 1))` | `n_items` | per root of a nat |
//! | `floor` | `1 / (N_t(i) + 1)` | `n_items` | per nat |
//!
//! Numerics: a score is a pure function of the counts and of `Z`. Complexity: O(`n_items`) and one normal draw a round; less on average in
//! large catalogues, see `tiles`.
//!
//! # Examples
//!
//! Item 0 with 9 clicks in 99 displays has mean 1/11 and deviation 0.029; item 1 has never been shown. At round 1 the score of item 1 is
//! `Z ln 2`. It leads if `Z > 0.0909 / (0.6931 - 0.0239) = 0.136`: in 44.6 % of all draws.
//!
//! ```
//! use click_models::{Clicks, ItemId, ListShape, PrefixFeedback, Ranking};
//! use policies::{Decision, Select, TsCascade, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let mut known = TsCascade::new(ListShape::new(2, 1)?);
//! for display in 0..99 {
//!     let action: Ranking = [ItemId::new(0)].into_iter().collect();
//!     let clicks = if display < 9 { Clicks::new(1).with(0) } else { Clicks::new(1) };
//!     known.update(&Decision { action, note: () }, &PrefixFeedback { clicks });
//! }
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let mut explored = 0;
//! for _ in 0..10_000 {
//!     known.clone().select(&mut rng, &mut decision);
//!     explored += u32::from(decision.action[0] == ItemId::new(1));
//! }
//! // Seven standard deviations.
//! assert!(explored.abs_diff(4460) < 350);
//! # Ok::<(), click_models::Error>(())
//! ```

mod tiles;

use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::sampling::Sampler;
use crate::setup::Setup;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{ObservedPrefix, Ranking};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};
use tiles::{Arm, Round, Tiles};

/// TS-Cascade.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct TsCascade {
    counts: PrefixCounts,
    #[serde(skip)]
    arms: Tiles,
    #[serde(skip)]
    top: TopL,
}

#[derive(Deserialize)]
struct Saved {
    counts: PrefixCounts,
}

impl Arm {
    #[inline]
    fn new(shows: u64, clicks: u64) -> Self {
        let mean = clicks as f64 / shows.max(1) as f64;
        let floor = 1.0 / (shows + 1) as f64;
        Self { mean, deviation: (mean * (1.0 - mean) * floor).sqrt(), floor }
    }
}

impl TsCascade {
    /// A fresh policy.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::from(Saved { counts: PrefixCounts::new(known.into()) })
    }
}

impl From<Saved> for TsCascade {
    fn from(Saved { counts }: Saved) -> Self {
        let arms = (0..counts.n_items()).map(|item| Arm::new(counts.shows(item), counts.clicks(item)));
        Self { arms: Tiles::new(arms), top: TopL::new(counts.n_positions()), counts }
    }
}

impl Setup for TsCascade {
    const SETTINGS: &'static [&'static str] = &["/counts/places"];

    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Ranking> for TsCascade {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let log = Rate::LOG.level(self.counts.next_round() + 1);
        let ties = Ties::draw(rng);
        let round = Round { shared: Sampler::new().normal(rng), log, root_of_log: log.sqrt() };
        self.arms.select(round, ties, &mut self.top);
        self.counts.show(self.top.best(), &mut out.action);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for TsCascade {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms.set(item, Arm::new(counts.shows(item), counts.clicks(item)));
        });
    }
}
