use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::coin::heads;
use crate::kl_arms::KlArm;
use crate::reaching::{Question, Reaching};
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::ucb_arms::Mean;
use crate::{Decision, Error, Select, Update};
use click_models::{ObservedPrefix, Ranking};
use confidence::{KlUcbThreshold, Rate};
use rand::Rng;

with_state! {
/// PIE(l): shows the best list by mean, and explores at one fixed position.
///
/// The leaders are the L items of largest mean, in decreasing order. The candidates are the other
/// items whose KL-UCB index reaches the last leader's mean. With probability 1/2, or without
/// candidates, the leaders are shown; otherwise a uniformly drawn candidate is inserted at the
/// exploring position, later leaders move down and the last one drops out. PIE(L) explores in the
/// last position. Under a dependent click model positions are in the order in which leaving is
/// likely.
///
/// Reference: Combes, Magureanu, Proutiere, Laroche, *Learning to rank: regret lower bounds and
/// efficient algorithms*, SIGMETRICS 2015. Vahabi, Lagree, Vernade, Cappe 2016, section 6, compare
/// with it. Deviations: the level is a parameter (`ln t + 4 ln ln t` in the analysis; the default
/// of experiments is `ln t`). Items that were never observed rank first and are always candidates.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `arms` | mean and `N_k` | `n_items` | - |
/// | `rate` | f(t) | - | nats |
/// | `candidates` | B(t) | at most `n_items` - `n_positions` | items |
///
/// Numerics: an index is solved for only if rounding could decide (`kl_arms`). The policy decides
/// whether to explore before it looks for candidates: the same distribution of choices.
pub struct Pie {
    rate: Rate,
    /// 0-based position at which it explores.
    position: usize,
    counts: PrefixCounts,
} derived {
    /// Rank of the leader at that position.
    rank: usize = (0..counts.n_positions).find(|&rank| counts.place(rank) == position).unwrap_or(0),
    arms: Vec<KlArm> =
        (0..counts.n_items()).map(|item| KlArm::new(counts.shows(item), counts.clicks(item))).collect(),
    leaders: BestArms<Mean> =
        BestArms::new((0..counts.n_items()).map(|item| mean(&counts, item)), counts.n_positions),
    candidates: Reaching<KlUcbThreshold> =
        Reaching::new(counts.n_items(), KlUcbThreshold::new(f64::INFINITY)),
}
}

impl Pie {
    /// PIE(L), which explores at the last leader's position.
    pub fn last<'a>(known: impl Into<PrefixKnown<'a>>, rate: Rate) -> Self {
        let counts = PrefixCounts::new(known.into());
        Self::assemble(State { rate, position: counts.place(counts.n_positions - 1), counts })
    }

    /// PIE(l), which explores at the 0-based `position`.
    ///
    /// # Errors
    ///
    /// [`Error::PositionBeyondList`] if the list has no such position.
    pub fn at<'a>(known: impl Into<PrefixKnown<'a>>, position: usize, rate: Rate) -> Result<Self, Error> {
        Self::try_from(State { rate, position, counts: PrefixCounts::new(known.into()) })
    }
}

restored!(Pie, |saved| {
    let policy = Self::assemble(saved);
    let Self { position, rank, counts: PrefixCounts { n_positions, .. }, .. } = policy;
    let is_in_list = policy.counts.place(rank) == position;
    if is_in_list { Ok(policy) } else { Err(Error::PositionBeyondList { position, n_positions }) }
});

/// Largest mean first; items without observations before all others.
fn mean(counts: &PrefixCounts, item: usize) -> Mean {
    match counts.shows(item) {
        0 => Mean::FRESH,
        shows => Mean(counts.clicks(item) as f64 / shows as f64),
    }
}

setup!(Pie, &["/rate", "/position", "/counts/places"], |policy| policy.counts.sizes());

impl Select<Ranking> for Pie {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let level = self.rate.level(self.counts.rounds.next());
        let leaders = self.leaders.select(0.0, Ties::draw(rng));
        self.counts.show_items(leaders.iter().copied(), &mut out.action);
        if heads(rng) {
            return;
        }
        let Mean(q) = mean(&self.counts, leaders[leaders.len() - 1] as usize);
        let question = Question { leaders, q, level };
        if let Some(candidate) = self.candidates.draw(&mut self.arms, question, rng) {
            let list = out.action.positions_mut(self.counts.n_positions);
            for rank in (self.rank + 1..list.len()).rev() {
                list[self.counts.place(rank)] = list[self.counts.place(rank - 1)];
            }
            list[self.counts.place(self.rank)] = candidate;
        }
    }

    fn repeat_round(&mut self) -> bool {
        self.counts.rounds.repeat()
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for Pie {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, arms, leaders, candidates, .. } = self;
        counts.record(&decision.action, feedback.observed_clicks(), |counts, item| {
            arms[item] = KlArm::new(counts.shows(item), counts.clicks(item));
            leaders.set(item, mean(counts, item));
            candidates.changed(item);
        });
    }
}
