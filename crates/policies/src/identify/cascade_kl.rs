mod by_need;
mod need;
mod packed;
#[cfg(test)]
mod tests;

use super::Delta;
use super::candidates::{Candidates, Verdict};
use super::evidence::{
    Evidence, ItemLevels, Logarithms, largest_ln_likelihoods, prior_below, prior_of_better, rejection_level,
};
use crate::checked::with_state;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::{Decision, Select};
use by_need::ByNeed;
use click_models::{Clicks, ItemId, ListShape, Ranking};
use confidence::NonNegative;
use need::boundary;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The test by which `cascade-kl` decides that an item is better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CascadeKlTest {
    /// By the likelihood ratio of the two.
    #[default]
    Pair,
    /// By a confidence bound of each.
    Item,
}

/// The undecided items that `cascade-kl` shows, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CascadeKlOrder {
    /// The items with the least progress towards a decision; rarely clicked items above the others.
    #[default]
    Need,
    /// The least observed first, as in `CascadeBAI`.
    LeastObserved,
}

/// The settings, which do not change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    delta: Delta,
    epsilon: NonNegative,
    test: CascadeKlTest,
    order: CascadeKlOrder,
}

with_state! {
/// `cascade-kl`: finds the K most attractive items under cascade feedback in few rounds.
///
/// Items are accepted and rejected as in [`CascadeBai`](crate::CascadeBai), with another test and
/// another choice of lists. Let `D` be the undecided items and `k` the number still to be found. A
/// classification accepts all `i` of `D` that beat `|D| - k` other items of `D` up to `epsilon`. It
/// rejects all `i` that `k` other items beat outright (`e = 0`); an item that satisfies both is
/// rejected. Let item `i` have `S_i` clicks and `F_i` failures in `N_i` observations, and mean
/// `m_i`. Let `J_i` be the probability of these under a mean drawn from Jeffreys' prior,
/// `J_i = B(S_i + 1/2, F_i + 1/2) / B(1/2, 1/2)`:
///
/// ```text
/// test = "pair":  i beats j up to e  if  ln J_i + ln J_j - max { ln P(i, j | a, b) : a <= b - e } >= ln(c K (L - K) / delta + 1 - c)
/// test = "item":  i beats j up to e  if  lower_i > upper_j - e,
///                 upper_i = max { p >= m_i : ln J_i - S_i ln p - F_i ln(1 - p) <= ln(2 K A(p) / delta + 1 - A(p)) }
///                 lower_i the same with clicks and failures exchanged, and L - K in the place of K
/// ```
///
/// where `P(i, j | a, b)` is the probability of both items' clicks with means `a` and `b`. `c` is
/// the prior probability that a mean is larger than another less `epsilon` (1/2 for `epsilon = 0`),
/// and `A(p)` the prior probability of a mean below `p`.
///
/// The order by need uses `mu_i = (S_i + 1/2) / (N_i + 1)` and the mean `c` with
/// `d(x, c) = d(y, c)` for the k-th and the next largest `mu`, `x` and `y`:
///
/// ```text
/// progress_i = N_i d(mu_i, c) + 0.02 sqrt(N_i).
/// ```
///
/// Items with less than 0.3 times the average number of observations are selected first, the least
/// observed before the others; then the items of least progress. The list shows the selected items
/// in increasing order of `mu_i exp(progress_i)`, the items of the first kind above the others.
/// Rarely clicked items go first so that the user keeps scanning; items with much progress go last.
/// Without the rule of 0.3 the number of rounds has a heavy tail.
///
/// Reference: none, the policy is ours. The classification is that of Zhong, Cheung, Tan, ICML
/// 2020, Algorithm 1; one-sided mixtures of likelihoods are Robbins' (1970). Proven
/// (`docs/cascade-bai.md`): with probability `1 - delta` the policy never gives a wrong answer, in
/// any order and with either test. Not proven: that it stops, and how soon.
///
/// Deviations from Algorithm 1, besides test and order:
///
/// - An item is rejected on evidence that K items are better, not that they are better by
///   `epsilon`. This decides sooner and is as safe.
/// - Items are classified when the observations of undecided items have grown by one plus a 64th,
///   not after every step; and again after a decision.
///
/// | here | above | shape | unit |
/// |---|---|---|---|
/// | `candidates` | `D`, `N`, `S` | at most `n_items` (L) | items, observations, clicks |
/// | `candidates.n_best`, `.n_open` | K, k | - | items |
/// | `pair_level` | right side of the test of pairs | - | nats |
/// | `item_levels.upper`, `.lower` | `2 K / delta`, `2 (L - K) / delta` | - | - |
/// | `boundary` | c of the order by need | - | clicks per observation |
///
/// Numerics: `upper` and `lower` are rounded outward. The ratio of a pair has an error of about
/// `1e-15 N ln N` nats, and the probability of a wrong answer grows at most by its exponential.
/// Complexity: a step costs O(L), a classification O(L), and O(L^2) at worst if some pair is far
/// enough apart. Memory: O(L).
pub struct CascadeKl {
    settings: Settings,
    #[serde(rename = "counts")]
    candidates: Candidates,
} derived {
    /// The tolerance, at most 1.
    epsilon: f64 = settings.epsilon.get().min(1.0),
    pair_level: f64 = {
        let n_pairs = candidates.n_best * (candidates.n_items() - candidates.n_best);
        rejection_level(prior_of_better(epsilon), float(n_pairs as u64) / settings.delta.get())
    },
    item_levels: ItemLevels = ItemLevels::new(&candidates, settings.delta),
    /// Observations of the undecided items, now and at the next classification.
    open_observations: u64 = 0,
    next_look: u64 = 1,
    /// Used by the order by need only.
    by_need: Option<ByNeed> =
        (settings.order == CascadeKlOrder::Need).then(|| ByNeed::new(candidates.n_items())),
    means: Vec<f64> = Vec::with_capacity(candidates.n_items()),
    contestants: Vec<Contestant> = Vec::with_capacity(candidates.n_items()),
    bounds: Vec<(f64, f64)> = Vec::with_capacity(candidates.n_items()),
    sorted: Vec<f64> = Vec::with_capacity(candidates.n_items()),
} then set_next_look with #[serde(deny_unknown_fields)]
}

/// An undecided item during classification.
#[derive(Debug, Clone, Copy)]
struct Contestant {
    item: ItemId,
    place: usize,
    mean: f64,
    evidence: Evidence,
    /// Likelihood ratios to the boundary, and to the means `epsilon / 2` below and above it.
    at_boundary: f64,
    below: f64,
    above: f64,
    verdict: Verdict,
}

/// An upper bound, with a large margin, of the rounding in a sum of logarithms.
const SLACK: f64 = 1e-6;
/// Items whose logarithms are computed at once.
const LANES: usize = 4;

impl CascadeKl {
    /// A fresh policy that finds as many items as a list has positions, without tolerance.
    pub fn new(shape: ListShape, delta: Delta) -> Self {
        let (test, order) = (CascadeKlTest::default(), CascadeKlOrder::default());
        let settings = Settings { delta, epsilon: NonNegative::ZERO, test, order };
        Self::assemble(State { settings, candidates: Candidates::new(shape) })
    }

    /// The policy from the start; answers may be worse than the K-th best by at most `epsilon`.
    #[must_use]
    pub fn with_epsilon(self, epsilon: NonNegative) -> Self {
        self.with(Settings { epsilon, ..self.settings })
    }

    /// The policy from the start with another test.
    #[must_use]
    pub fn with_test(self, test: CascadeKlTest) -> Self {
        self.with(Settings { test, ..self.settings })
    }

    /// The policy from the start with another order.
    #[must_use]
    pub fn with_order(self, order: CascadeKlOrder) -> Self {
        self.with(Settings { order, ..self.settings })
    }

    fn with(&self, settings: Settings) -> Self {
        Self::assemble(State { settings, candidates: self.candidates.fresh() })
    }

    #[inline]
    fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.candidates.is_done() {
            return;
        }
        let Self { candidates, by_need, settings, open_observations, .. } = self;
        candidates.record(shown, seen, |candidates, item| {
            *open_observations += 1;
            if settings.order == CascadeKlOrder::LeastObserved {
                candidates.requeue(item);
            }
        });
        if let Some(by_need) = by_need {
            by_need.refresh(candidates, &shown.as_slice()[..seen.len().min(shown.len())]);
        }
        if self.open_observations >= self.next_look {
            self.look();
        }
    }

    /// Classifies until no further item can be decided.
    #[cold]
    fn look(&mut self) {
        while !self.candidates.is_done() && self.classify() {}
        self.set_next_look();
    }

    /// Sets the number of observations of the next classification: one plus a 64th more.
    fn set_next_look(&mut self) {
        self.open_observations = self.candidates.open_observations();
        let after = |looked: u64| looked + 1 + looked / 64;
        // Fewer undecided items have fewer observations.
        let mut look = if self.next_look > self.open_observations { 1 } else { self.next_look };
        while look <= self.open_observations {
            look = after(look);
        }
        self.next_look = look;
    }

    /// Accepts and rejects items. Returns whether any was decided.
    fn classify(&mut self) -> bool {
        let boundary = boundary(&self.candidates, &mut self.means);
        if !self.may_decide(boundary) {
            return false;
        }
        self.line_up(boundary);
        match self.settings.test {
            CascadeKlTest::Pair => self.judge_by_pairs(),
            CascadeKlTest::Item => self.judge_by_items(boundary),
        }
        let Self { contestants, candidates, .. } = self;
        let n_open = candidates.in_question.len();
        candidates.decide(contestants.iter().map(|contestant| (contestant.item, contestant.verdict)));
        let has_decided = candidates.in_question.len() < n_open;
        if let Some(by_need) = &mut self.by_need
            && has_decided
        {
            by_need.set_stale();
        }
        has_decided
    }

    /// Returns whether two items are so far apart that one may beat the other: a fast necessary
    /// condition.
    fn may_decide(&self, boundary: f64) -> bool {
        if self.settings.test == CascadeKlTest::Item {
            return true;
        }
        let (below, above) = self.edge(boundary);
        let edges = [below, above].map(Logarithms::new);
        // The two largest values of each kind: the largest may belong to the same item.
        let mut largest = [[(f64::NEG_INFINITY, None); 2]; 2];
        for some in self.candidates.in_question.chunks(LANES) {
            let (mut clicks, mut failures) = ([0.0; LANES], [0.0; LANES]);
            for (lane, &item) in some.iter().enumerate() {
                clicks[lane] = float(self.candidates.clicks(item));
                failures[lane] = float(self.candidates.observations(item)) - clicks[lane];
            }
            let likelihoods = largest_ln_likelihoods(clicks, failures);
            for (lane, &item) in some.iter().enumerate() {
                for (two, edge) in largest.iter_mut().zip(edges) {
                    // The maximum likelihood instead of the prior: an upper bound of the ratio.
                    let ratio = likelihoods[lane] - edge.of_likelihood(clicks[lane], failures[lane]);
                    if ratio > two[0].0 {
                        *two = [(ratio, Some(item)), two[0]];
                    } else if ratio > two[1].0 {
                        two[1] = (ratio, Some(item));
                    }
                }
            }
        }
        let [better, worse] = largest;
        let apart = if better[0].1 == worse[0].1 {
            (better[0].0 + worse[1].0).max(better[1].0 + worse[0].0)
        } else {
            better[0].0 + worse[0].0
        };
        apart >= self.pair_level - SLACK
    }

    /// Two means on the two sides of the boundary whose distance is the tolerance.
    fn edge(&self, boundary: f64) -> (f64, f64) {
        let epsilon = self.epsilon;
        let below = (boundary - epsilon / 2.0).clamp(0.0, 1.0 - epsilon);
        (below, below + epsilon)
    }

    /// Lists the undecided items, larger means first.
    fn line_up(&mut self, boundary: f64) {
        let (below, above) = self.edge(boundary);
        let Self { candidates, contestants, .. } = self;
        contestants.clear();
        contestants.extend(candidates.in_question.iter().enumerate().map(|(place, &item)| {
            let evidence = Evidence::new(candidates.observations(item), candidates.clicks(item));
            Contestant {
                item,
                place,
                mean: candidates.mean(item),
                evidence,
                at_boundary: evidence.ln_ratio(boundary),
                below: evidence.ln_ratio(below),
                above: evidence.ln_ratio(above),
                verdict: Verdict::Open,
            }
        }));
        contestants.sort_unstable_by(|a, b| b.mean.total_cmp(&a.mean).then(a.place.cmp(&b.place)));
    }

    /// Decides by the test of pairs.
    fn judge_by_pairs(&mut self) {
        let (n_open, level) = (self.candidates.n_open(), self.pair_level);
        let epsilon = self.epsilon;
        let size = self.contestants.len();
        // Any two means of the null hypothesis bound the ratio: a fast necessary condition.
        let beats = |a: &Contestant, b: &Contestant| {
            a.mean > b.mean
                && a.at_boundary + b.at_boundary >= level - SLACK
                && a.evidence.ln_ratio_to_worse(b.evidence, 0.0) >= level
        };
        let nearly_beats = |a: &Contestant, b: &Contestant| {
            if epsilon == 0.0 {
                return beats(a, b);
            }
            a.below + b.above >= level - SLACK && a.evidence.ln_ratio_to_worse(b.evidence, epsilon) >= level
        };
        let largest = |ratio: fn(&Contestant) -> f64| {
            self.contestants.iter().map(ratio).fold(f64::NEG_INFINITY, f64::max)
        };
        let (at_boundary, above) = (largest(|other| other.at_boundary), largest(|other| other.above));
        for place in 0..size {
            let this = self.contestants[place];
            if this.at_boundary + at_boundary < level - SLACK && this.below + above < level - SLACK {
                continue;
            }
            // At most n_open - 1 of the others may remain unbeaten. The strongest come first.
            let mut others = self.contestants.iter().filter(|other| other.item != this.item);
            let is_accepted = others.try_fold(n_open - 1, |spare, other| {
                if nearly_beats(&this, other) { Some(spare) } else { spare.checked_sub(1) }
            });
            // Only items of larger mean can beat it; the likeliest come first, to end early.
            let mut missing = n_open;
            let stronger = (0..n_open.min(place)).rev().chain(n_open..place);
            for (seen, other) in stronger.enumerate() {
                if missing == 0 || place - seen < missing {
                    break;
                }
                missing -= usize::from(beats(&self.contestants[other], &this));
            }
            self.contestants[place].verdict = match (missing, is_accepted) {
                (0, _) => Verdict::Reject,
                (_, Some(_)) => Verdict::Accept,
                (_, None) => Verdict::Open,
            };
        }
    }

    /// Decides by the bounds of single items.
    fn judge_by_items(&mut self, boundary: f64) {
        // If one item beats another, a bound of one of them passes the edge of the other kind.
        let (below, above) = self.edge(boundary);
        let lower_level = rejection_level(prior_below(1.0 - below), self.item_levels.lower) - SLACK;
        let upper_level = rejection_level(prior_below(above), self.item_levels.upper) - SLACK;
        let has_passed =
            |contestant: &Contestant| contestant.below >= lower_level || contestant.above >= upper_level;
        if !self.contestants.iter().any(has_passed) {
            return;
        }
        let Self { contestants, bounds, sorted, .. } = self;
        let (n_open, size) = (self.candidates.n_open(), contestants.len());
        let epsilon = self.epsilon;
        bounds.clear();
        bounds.extend(contestants.iter().map(|contestant| self.item_levels.bounds(contestant.evidence)));
        sorted.clear();
        sorted.extend(bounds.iter().map(|&(_, upper)| upper));
        sorted.sort_unstable_by(f64::total_cmp);
        for (contestant, &(lower, upper)) in contestants.iter_mut().zip(&*bounds) {
            // The count includes the item itself if its interval is narrow.
            let beaten = sorted.partition_point(|&other| lower > other - epsilon);
            if beaten - usize::from(lower > upper - epsilon) >= size - n_open {
                contestant.verdict = Verdict::Accept;
            }
        }
        sorted.clear();
        sorted.extend(bounds.iter().map(|&(lower, _)| lower));
        sorted.sort_unstable_by(f64::total_cmp);
        for (contestant, &(_, upper)) in contestants.iter_mut().zip(&*bounds) {
            if size - sorted.partition_point(|&other| other <= upper) >= n_open {
                contestant.verdict = Verdict::Reject;
            }
        }
    }
}

restored!(CascadeKl, |saved| Ok(Self::assemble(saved)));
identifies!(CascadeKl, and stops);
setup!(CascadeKl, &["/settings"], |policy| policy.candidates.sizes());

impl Select<Ranking> for CascadeKl {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let Self { candidates, by_need, open_observations, .. } = self;
        let is_first = candidates.begin(rng);
        let in_question = &candidates.in_question;
        match by_need {
            Some(by_need) if !candidates.is_done() => {
                if is_first {
                    by_need.set_stale();
                }
                let first = by_need.first(candidates, *open_observations);
                candidates.show(first.map(|place| in_question[place]), &mut out.action);
            }
            _ => candidates.show(in_question.iter().copied(), &mut out.action),
        }
    }
}
