mod tiles;

use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::checked::with_state;
use crate::live::{LiveState, OnTable, on_table};
use crate::sampling::Sampler;
use crate::setup::{restored, setup};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, SelectAmong, Update};
use click_models::{ItemSet, ObservedPrefix, Ranking};
use confidence::Rate;
use rand::Rng;
use tiles::{Arm, Round, Tiles};

with_state! {
/// TS-Cascade: Thompson sampling with one normal draw a round that all items share.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the score
/// `mu + Z max(sqrt(v ln(t + 1) / (n + 1)), ln(t + 1) / (n + 1))`, with the empirical variance
/// `v = mu (1 - mu)` and a standard normal draw `Z`, the same for every item. The mean of an item
/// that was never observed is 0. The policy shows the items of largest score, the best at the best
/// position.
///
/// Reference: Zhong, Cheung, Tan, *Thompson sampling algorithms for cascading bandits*, JMLR 2021,
/// Algorithm 1. Deviations: none.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` | `mu^_t(i)` | `n_items` | probability |
/// | `deviation` | `sqrt(nu^_t(i) / (N_t(i) + 1))` | `n_items` | per root of a nat |
/// | `floor` | `1 / (N_t(i) + 1)` | `n_items` | per nat |
pub struct TsCascade {
    counts: PrefixCounts,
} live derived {
    arms: Tiles =
        Tiles::new((0..counts.n_items()).map(|item| Arm::new(counts.shows(item), counts.clicks(item)))),
    top: TopL = TopL::new(counts.n_positions),
}
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
        Self::over(PrefixCounts::new(known.into()), LiveState::default())
    }

    /// Counts a round, and draws what all items share.
    fn next_round<R: Rng + ?Sized>(&mut self, rng: &mut R) -> (Round, Ties) {
        let log = Rate::LOG.level(self.counts.rounds.next() + 1);
        let ties = Ties::draw(rng);
        (Round { shared: Sampler::new().normal(rng), log, root_of_log: log.sqrt() }, ties)
    }
}

restored!(TsCascade, |State { counts, live }| {
    let live = LiveState::restore(live, counts.n_items())?;
    Ok(Self::over(counts, live))
});

setup!(TsCascade, &["/counts/places"], |policy| policy.counts.sizes());

impl Select<Ranking> for TsCascade {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let (round, ties) = self.next_round(rng);
        self.arms.select(|_| true, round, ties, &mut self.top);
        self.counts.show(&self.top.best, &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.rounds.repeat()
    }
}

impl SelectAmong<Ranking> for TsCascade {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let (round, ties) = self.next_round(rng);
        self.top.limit(self.live.terms.as_deref());
        self.arms.select_among((available, &self.live.absent), round, ties, &mut self.top);
        self.top.limit(None);
        self.counts.show(&self.top.best, &mut out.action);
    }

    fn pass_round(&mut self) {
        self.counts.rounds.next();
    }
}

impl OnTable for TsCascade {
    on_table!(PrefixCounts, |policy| policy.counts);

    #[inline]
    fn changed(&mut self, item: usize) {
        self.arms.set(item, Arm::new(self.counts.shows(item), self.counts.clicks(item)));
    }

    fn pushed(&mut self) {
        self.arms.push(Arm::new(0, 0));
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for TsCascade {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms.set(item, Arm::new(counts.shows(item), counts.clicks(item)));
        });
    }
}
