#[cfg(test)]
mod tests;

use super::Delta;
use super::candidates::{Candidates, Verdict};
use super::evidence::{Evidence, ItemLevels};
use crate::checked::with_state;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::{Decision, Error, Select};
use click_models::{Clicks, ItemId, ListShape, Ranking};
use confidence::math::ln;
use confidence::{NonNegative, kl_ucb_lower, kl_ucb_upper};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The source of the confidence levels of KL-LUCB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KlLucbLevels {
    /// The number of rounds, as in the paper.
    #[default]
    Rounds,
    /// Mixtures of likelihoods, as in [`CascadeKlTest::Item`](crate::CascadeKlTest::Item).
    Mixture,
}

with_state! {
/// KL-LUCB under cascade feedback: finds the K most attractive items by KL confidence bounds.
///
/// With mean `m_i` of the `N_i` observations of item `i` and the level `beta` at round `t`,
///
/// ```text
/// upper_i = max { q >= m_i : N_i d(m_i, q) <= beta },    lower_i = min { q <= m_i : N_i d(m_i, q) <= beta },
/// levels = "rounds":   beta = x + ln x,    x = ln(405.5 L t^1.1 / delta)
/// levels = "mixture":  the bounds of cascade-kl with test = "item" in place of these
/// ```
///
/// The K items of largest mean are the leaders. The policy stops when the largest upper bound of
/// the others is below the smallest lower bound of a leader plus `epsilon`; the answer is the
/// leaders.
///
/// Reference: Kaufmann, Kalyanakrishnan, *Information complexity in bandit subset selection*, COLT
/// 2013, KL-LUCB. The level is the one for their constant:
/// `405.5 > (e + 1) / (a - 1)^2 + e / (a - 1) + 2 e + 1` with `a = 1.1` bounds the probability that
/// any bound fails by `delta`, if the term `ln x` is there (`docs/cascade-bai.md`). The level is
/// often quoted without this term, and then there is no proof. The levels of mixtures are ours
/// ([`CascadeKl`](crate::CascadeKl)), and show which part of the gain of `cascade-kl` comes from
/// the bounds alone. With them the probability of a wrong answer is also at most `delta`, for any
/// rule that chooses the lists (Lemma 3 in `docs/cascade-bai.md`).
///
/// Deviations, which are necessary because a round shows a list and does not pull two arms:
///
/// - Half of the list's positions, rounded up, show the others of largest upper bound, and as many
///   show the leaders of smallest lower bound. The paper's two arms are among them. The least
///   observed items stand first. With an odd number of positions the most observed item is left
///   out, which may be one of the paper's two arms.
/// - `t` counts rounds, and is rounded up to the next member of a sequence that grows by an eighth.
///   This raises the level by at most a tenth of a nat, and is as safe.
/// - Ties are broken by a random order, drawn once a run.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `candidates.n_best` | m | - | items |
/// | `level` | beta(t, delta); for mixtures inverse levels of the bounds | - | nats |
/// | `sides` | J(t), then its complement | `n_items` | items |
///
/// Numerics: the bounds are rounded outward. Memory: O(L).
pub struct KlLucb {
    delta: Delta,
    epsilon: NonNegative,
    /// States from before there was a choice have none.
    #[serde(default)]
    levels: KlLucbLevels,
    rounds: u64,
    #[serde(rename = "counts")]
    candidates: Candidates,
} derived {
    level: Level = Level::Rounds(f64::INFINITY),
    /// The last round with this level.
    level_until: u64 = 0,
    /// By item.
    bounds: Vec<(f64, f64)> = vec![(0.0, 1.0); candidates.n_items()],
    /// All items: the leaders, then the others.
    sides: Vec<BoundedItem> = Vec::with_capacity(bounds.len()),
    shown: Vec<BoundedItem> = Vec::with_capacity(bounds.len() + 1),
} then raise_level, take_sides with #[serde(deny_unknown_fields)]
}

/// The input of an item's bounds, besides its counts.
#[derive(Debug, Clone, Copy)]
enum Level {
    /// In nats.
    Rounds(f64),
    Mixture(ItemLevels),
}

impl Level {
    /// The lower and the upper bound of an item.
    fn bounds(self, candidates: &Candidates, item: ItemId) -> (f64, f64) {
        let observations = candidates.observations(item);
        match self {
            Self::Rounds(level) => {
                let (mean, n) = (candidates.mean(item), float(observations));
                (kl_ucb_lower(mean, n, level), kl_ucb_upper(mean, n, level))
            }
            Self::Mixture(levels) => levels.bounds(Evidence::new(observations, candidates.clicks(item))),
        }
    }
}

/// An item among the leaders or the others, with its confidence bounds.
#[derive(Debug, Clone, Copy)]
struct BoundedItem {
    item: ItemId,
    /// Rank in the random order.
    place: usize,
    mean: f64,
    lower: f64,
    upper: f64,
    observations: u64,
}

impl KlLucb {
    /// A fresh policy with levels from the rounds, without tolerance; finds as many as positions.
    pub fn new(shape: ListShape, delta: Delta) -> Self {
        let (epsilon, levels) = (NonNegative::ZERO, KlLucbLevels::default());
        Self::assemble(State { delta, epsilon, levels, rounds: 0, candidates: Candidates::new(shape) })
    }

    /// The policy from the start; answers may be worse than the K-th best by at most `epsilon`.
    #[must_use]
    pub fn with_epsilon(self, epsilon: NonNegative) -> Self {
        let Self { delta, levels, candidates, .. } = self;
        Self::assemble(State { delta, epsilon, levels, rounds: 0, candidates: candidates.fresh() })
    }

    /// The policy from the start with other levels.
    #[must_use]
    pub fn with_levels(self, levels: KlLucbLevels) -> Self {
        let Self { delta, epsilon, candidates, .. } = self;
        Self::assemble(State { delta, epsilon, levels, rounds: 0, candidates: candidates.fresh() })
    }

    #[inline]
    fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.candidates.is_done() {
            return;
        }
        self.rounds += 1;
        let Self { candidates, bounds, level, .. } = self;
        candidates.record(shown, seen, |candidates, item| {
            bounds[item.index()] = level.bounds(candidates, item);
        });
        if self.rounds > self.level_until {
            self.raise_level();
        }
        self.take_sides();
        self.compare();
    }

    /// Computes the level of this round and some later ones, and all bounds.
    #[cold]
    fn raise_level(&mut self) {
        self.level = match self.levels {
            KlLucbLevels::Rounds => {
                while self.level_until < self.rounds.max(1) {
                    self.level_until += 1 + self.level_until / 8;
                }
                let n_items = float(self.candidates.n_items() as u64);
                let rounds = libm::pow(float(self.level_until), 1.1);
                let x = ln(405.5 * n_items * rounds / self.delta.get());
                Level::Rounds(x + ln(x))
            }
            KlLucbLevels::Mixture => {
                self.level_until = u64::MAX;
                Level::Mixture(ItemLevels::new(&self.candidates, self.delta))
            }
        };
        for &item in &self.candidates.in_question {
            self.bounds[item.index()] = self.level.bounds(&self.candidates, item);
        }
    }

    /// Finds the leaders.
    fn take_sides(&mut self) {
        let Self { candidates, bounds, sides, .. } = self;
        sides.clear();
        sides.extend(candidates.in_question.iter().enumerate().map(|(place, &item)| {
            let (lower, upper) = bounds[item.index()];
            let observations = candidates.observations(item);
            BoundedItem { item, place, mean: candidates.mean(item), lower, upper, observations }
        }));
        let n_best = candidates.n_best;
        if n_best < sides.len() {
            sides
                .select_nth_unstable_by(n_best, |a, b| b.mean.total_cmp(&a.mean).then(a.place.cmp(&b.place)));
        }
    }

    /// Chooses leaders of smallest lower and others of largest upper bounds, as they are shown.
    fn choose(&mut self) {
        let Self { candidates, sides, shown, .. } = self;
        shown.clear();
        if candidates.is_done() {
            return;
        }
        let n_best = candidates.n_best;
        let (leaders, others) = sides.split_at_mut(n_best);
        let n_others = n_best.div_ceil(2).min(others.len());
        let n_leaders = n_best.div_ceil(2).max(n_best - n_others);
        let smallest =
            |a: &BoundedItem, b: &BoundedItem| a.lower.total_cmp(&b.lower).then(a.place.cmp(&b.place));
        let largest =
            |a: &BoundedItem, b: &BoundedItem| b.upper.total_cmp(&a.upper).then(a.place.cmp(&b.place));
        leaders.select_nth_unstable_by(n_leaders - 1, smallest);
        others.select_nth_unstable_by(n_others - 1, largest);
        shown.extend_from_slice(&leaders[..n_leaders]);
        shown.extend_from_slice(&others[..n_others]);
        shown.sort_unstable_by_key(|entry| (entry.observations, entry.place));
    }

    /// Accepts the leaders if they are far enough from the others.
    fn compare(&mut self) {
        let Self { candidates, sides, epsilon, .. } = self;
        let (leaders, others) = sides.split_at(candidates.n_best.min(sides.len()));
        let lower = leaders.iter().map(|leader| leader.lower).fold(f64::INFINITY, f64::min);
        let upper = others.iter().map(|other| other.upper).fold(f64::NEG_INFINITY, f64::max);
        if upper - lower < epsilon.get() {
            let best = leaders.iter().map(|leader| (leader.item, Verdict::Accept));
            candidates.decide(best.chain(others.iter().map(|other| (other.item, Verdict::Reject))));
        }
    }
}

restored!(KlLucb, |saved| {
    check_counts(saved.rounds, &[], &[])?;
    // All items are decided at once, at the end.
    let candidates = &saved.candidates;
    if !candidates.is_done() && candidates.in_question.len() < candidates.n_items() {
        return Err(Error::SavedItems);
    }
    Ok(Self::assemble(saved))
});

identifies!(KlLucb, and stops);
setup!(KlLucb, &["/delta", "/epsilon", "/levels"], |policy| policy.candidates.sizes());

impl Select<Ranking> for KlLucb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        if self.candidates.begin(rng) {
            self.take_sides();
        }
        self.choose();
        self.candidates.show(self.shown.iter().map(|entry| entry.item), &mut out.action);
    }
}
