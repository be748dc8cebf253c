//! The same choices as a version that compares everybody with everybody; what the ratios are made
//! of; and how often it is wrong.

use super::need::{LEAST_SHARE, Need, equally_far, smoothed_mean};
use super::*;
use crate::identify::evidence::{largest_ln_likelihoods, ln_likelihood};
use crate::tests::{falling, sort_by_score};
use crate::{Stop, Update};
use click_models::{CascadeModel, ClickModel, ObservedPrefix};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::function::beta::{beta_reg, ln_beta};
use std::ops::ControlFlow;

/// `cascade-kl` without anything that spares work.
struct Plain {
    settings: Settings,
    n_best: usize,
    has_begun: bool,
    observations: Vec<u64>,
    clicks: Vec<u64>,
    in_question: Vec<usize>,
    accepted: Vec<usize>,
    rejected: Vec<usize>,
    looked_at: u64,
}

impl Plain {
    fn new(shape: ListShape, settings: Settings) -> Self {
        Self {
            settings,
            n_best: shape.n_positions(),
            has_begun: false,
            observations: vec![0; shape.n_items()],
            clicks: vec![0; shape.n_items()],
            in_question: (0..shape.n_items()).collect(),
            accepted: vec![],
            rejected: vec![],
            looked_at: 0,
        }
    }

    fn n_others(&self) -> usize {
        self.observations.len() - self.n_best
    }

    fn is_done(&self) -> bool {
        self.accepted.len() >= self.n_best || self.rejected.len() >= self.n_others()
    }

    fn answer(&self) -> Vec<usize> {
        self.accepted.iter().chain(&self.in_question).copied().take(self.n_best).collect()
    }

    fn list(&mut self, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
        if !self.has_begun {
            self.has_begun = true;
            self.in_question.shuffle(rng);
        }
        if self.is_done() {
            return self.answer();
        }
        let mut list = match self.settings.order {
            CascadeKlOrder::LeastObserved => self.in_question.clone(),
            CascadeKlOrder::Need => self.by_need(),
        };
        list.extend(self.accepted.iter().chain(&self.rejected));
        list.truncate(self.n_best);
        list
    }

    fn by_need(&self) -> Vec<usize> {
        let size = self.in_question.len();
        let n_open = self.n_best - self.accepted.len();
        let means: Vec<f64> =
            self.in_question.iter().map(|&i| smoothed_mean(self.observations[i], self.clicks[i])).collect();
        let means = falling(&means);
        let boundary = equally_far(means[n_open - 1], means[n_open]);
        let logarithms = (confidence::math::ln(boundary), confidence::math::ln_1p(-boundary));
        let total: u64 = self.in_question.iter().map(|&i| self.observations[i]).sum();
        let least = LEAST_SHARE * total as f64 / size as f64;
        let (mut hungry, mut fed) = (vec![], vec![]);
        for (place, &item) in self.in_question.iter().enumerate() {
            let n = self.observations[item];
            let need = Need::new(n, self.clicks[item]);
            let progress = need.base - need.clicks * logarithms.0 - need.failures * logarithms.1;
            let depth = need.ln_mean + progress;
            if (n as f64) < least {
                hungry.push((n as f64, depth, place));
            } else {
                fed.push((progress, depth, place));
            }
        }
        // Stable: equals stay in the random order.
        for list in [&mut hungry, &mut fed] {
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        hungry.truncate(self.n_best);
        fed.truncate(self.n_best - hungry.len());
        for list in [&mut hungry, &mut fed] {
            list.sort_by_key(|&(_, _, place)| place);
            list.sort_by(|a, b| a.1.total_cmp(&b.1));
        }
        hungry.into_iter().chain(fed).map(|(_, _, place)| self.in_question[place]).collect()
    }

    fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.is_done() {
            return;
        }
        for (position, item) in shown.by_position().take(seen.len()) {
            let item = item.index();
            let Some(place) = self.in_question.iter().position(|&other| other == item) else { continue };
            self.observations[item] += 1;
            self.clicks[item] += u64::from(seen.get(position));
            if self.settings.order == CascadeKlOrder::LeastObserved {
                self.in_question.remove(place);
                self.in_question.push(item);
                self.in_question.sort_by_key(|&other| self.observations[other]);
            }
        }
        let open = |plain: &Self| plain.in_question.iter().map(|&i| plain.observations[i]).sum::<u64>();
        let mut look = 1;
        while look <= self.looked_at {
            look += 1 + look / 64;
        }
        if open(self) >= look {
            while !self.is_done() && self.classify() {}
            self.looked_at = open(self);
        }
    }

    fn classify(&mut self) -> bool {
        let epsilon = self.settings.epsilon.get().min(1.0);
        let n_open = self.n_best - self.accepted.len();
        let evidence: Vec<Evidence> =
            self.in_question.iter().map(|&i| Evidence::new(self.observations[i], self.clicks[i])).collect();
        let inverse_level = |n: usize| n as f64 / self.settings.delta.get();
        let level = rejection_level(prior_of_better(epsilon), inverse_level(self.n_best * self.n_others()));
        let lower: Vec<f64> = evidence.iter().map(|e| e.lower(inverse_level(2 * self.n_others()))).collect();
        let upper: Vec<f64> = evidence.iter().map(|e| e.upper(inverse_level(2 * self.n_best))).collect();
        let beats = |i: usize, j: usize, epsilon: f64| match self.settings.test {
            CascadeKlTest::Pair => evidence[i].ln_ratio_to_worse(evidence[j], epsilon) >= level,
            CascadeKlTest::Item => lower[i] > upper[j] - epsilon,
        };
        let size = self.in_question.len();
        let (mut accepted, mut rejected) = (vec![], vec![]);
        for i in 0..size {
            let others = || (0..size).filter(move |&j| j != i);
            if others().filter(|&j| beats(j, i, 0.0)).count() >= n_open {
                rejected.push(self.in_question[i]);
            } else if others().filter(|&j| beats(i, j, epsilon)).count() >= size - n_open {
                accepted.push(self.in_question[i]);
            }
        }
        let mean = |item: usize| self.clicks[item] as f64 / (self.observations[item] as f64).max(1.0);
        for items in [&mut accepted, &mut rejected] {
            sort_by_score(items, &mean);
        }
        self.in_question.retain(|item| !accepted.contains(item) && !rejected.contains(item));
        let has_changed = !accepted.is_empty() || !rejected.is_empty();
        self.accepted.extend(accepted);
        self.rejected.extend(rejected);
        has_changed
    }
}

fn settings(delta: f64, epsilon: f64, test: CascadeKlTest, order: CascadeKlOrder) -> Settings {
    let (delta, epsilon) = (Delta::new(delta).unwrap(), NonNegative::new(epsilon).unwrap());
    Settings { delta, epsilon, test, order }
}

fn policy(shape: ListShape, settings: Settings) -> CascadeKl {
    CascadeKl::assemble(State { settings, candidates: Candidates::new(shape) })
}

fn numbers<'a>(items: impl IntoIterator<Item = &'a ItemId>) -> Vec<usize> {
    items.into_iter().map(|item| item.index()).collect()
}

/// Both versions on the same users: the same lists and the same sets in every step. Gives whether
/// they stopped. With `late`, answers come in a random order, some twice and some never.
fn plays_alike(weights: &[f64], n_best: usize, settings: Settings, seed: u64, cap: u64, late: bool) -> bool {
    let users = CascadeModel::from_values(weights, n_best).unwrap();
    let (mut fast, mut plain) = (policy(users.shape(), settings), Plain::new(users.shape(), settings));
    let [mut rng, mut plain_rng, mut user] =
        [seed, seed, seed ^ 0xffff].map(Xoshiro256PlusPlus::seed_from_u64);
    let mut decision = Decision::default();
    let mut waiting = vec![];
    for step in 0..cap {
        let end = fast.check();
        assert_eq!(end.is_break(), plain.is_done(), "step {step}, {weights:?}, {settings:?}");
        fast.select(&mut rng, &mut decision);
        let list = plain.list(&mut plain_rng);
        assert_eq!(numbers(decision.action.as_slice()), list, "step {step}, {weights:?}, {settings:?}");
        if let ControlFlow::Break(answer) = end {
            let mut plain_answer = plain.answer();
            plain_answer.sort_unstable();
            assert_eq!(numbers(&answer), plain_answer);
            return true;
        }
        waiting.push((decision.clone(), users.respond(&decision.action, &mut user)));
        while !waiting.is_empty() && (!late || user.random_range(0..4) > 0) {
            let (decision, answer) = waiting.swap_remove(user.random_range(0..waiting.len()));
            for _ in 0..if late { user.random_range(0..3) } else { 1 } {
                fast.update(&decision, &answer);
                plain.learn(&decision.action, answer.observed_clicks());
            }
        }
        assert_eq!(numbers(fast.accepted()), plain.accepted, "step {step}, {weights:?}, {settings:?}");
        assert_eq!(numbers(fast.rejected()), plain.rejected, "step {step}, {weights:?}, {settings:?}");
    }
    false
}

const TESTS: [CascadeKlTest; 2] = [CascadeKlTest::Pair, CascadeKlTest::Item];
const ORDERS: [CascadeKlOrder; 2] = [CascadeKlOrder::Need, CascadeKlOrder::LeastObserved];

#[test]
fn chooses_as_the_plain_version_does() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut ends = 0;
    for number in 0..400 {
        let n_items = rng.random_range(1..=10);
        let n_best = rng.random_range(1..=n_items);
        let levels = [0.0, 0.02, 0.1, 0.3, 0.35, 0.5, 0.8, 0.97, 1.0];
        let is_smooth: bool = rng.random();
        let mut weight = || if is_smooth { rng.random() } else { levels[rng.random_range(0..levels.len())] };
        let weights: Vec<f64> = (0..n_items).map(|_| weight()).collect();
        let delta = [0.001, 0.1, 0.5, 0.999][number % 4];
        let epsilon = [0.0, 0.0, 0.03, 0.2, 1.0, 1.5][rng.random_range(0..6)];
        let settings = settings(delta, epsilon, TESTS[number / 4 % 2], ORDERS[number / 8 % 2]);
        ends += u64::from(plays_alike(&weights, n_best, settings, rng.random(), 800, number % 3 == 0));
    }
    assert!(ends > 150, "{ends} ends");
}

#[test]
fn chooses_as_the_plain_version_does_at_the_papers_scale() {
    let mut ends = 0;
    for test in TESTS {
        for order in ORDERS {
            let weights: Vec<f64> =
                (0..64).map(|item| if item < 16 { 15.0 / 16.0 } else { 1.0 / 16.0 }).collect();
            ends += u64::from(plays_alike(&weights, 16, settings(0.1, 0.0, test, order), 5, 400, false));
        }
    }
    assert!(ends >= 3, "{ends} ends");
}

/// Lists of the policy against lists sorted from its counts, in runs of 5,000 rounds or until it
/// stops. A version that misses the last observation of every list must show other lists.
fn lists_are_sorted_by_need(weights: &[f64], n_best: usize, rounds: u64) {
    let users = CascadeModel::from_values(weights, n_best).unwrap();
    let settings = settings(0.1, 0.0, CascadeKlTest::Pair, CascadeKlOrder::Need);
    let mut plain = Plain::new(users.shape(), settings);
    let [mut rng, mut user] = [8, 9].map(Xoshiro256PlusPlus::seed_from_u64);
    let mut decision = Decision::default();
    let (mut played, mut n_wrong) = (0, 0);
    while played < rounds {
        let mut fast = policy(users.shape(), settings);
        let mut wrong = by_need::ByNeed::new(weights.len());
        for _ in 0..5000.min(rounds - played) {
            if fast.check().is_break() {
                break;
            }
            fast.select(&mut rng, &mut decision);
            let candidates = &fast.candidates;
            plain.observations.clone_from_slice(&all(weights.len(), |item| candidates.observations(item)));
            plain.clicks.clone_from_slice(&all(weights.len(), |item| candidates.clicks(item)));
            plain.in_question = numbers(&candidates.in_question);
            plain.accepted = numbers(&candidates.accepted);
            plain.rejected = numbers(&candidates.rejected);
            let mut list = plain.by_need();
            let n_undecided = list.len();
            list.extend(plain.accepted.iter().chain(&plain.rejected));
            list.truncate(n_best);
            assert_eq!(numbers(decision.action.as_slice()), list, "round {played}");

            let places = wrong.first(candidates, fast.open_observations);
            n_wrong += u64::from(
                !places.map(|place| plain.in_question[place]).eq(list[..n_undecided].iter().copied()),
            );

            let answer = users.respond(&decision.action, &mut user);
            let n_open = candidates.in_question.len();
            fast.update(&decision, &answer);
            wrong
                .refresh(&fast.candidates, &decision.action.as_slice()[..answer.observed_clicks().len() - 1]);
            if fast.candidates.in_question.len() < n_open {
                wrong.set_stale();
            }
            played += 1;
        }
    }
    assert!(n_wrong > rounds / 100, "{n_wrong}");
}

fn all(n_items: usize, count: impl Fn(ItemId) -> u64) -> Vec<u64> {
    (0..n_items).map(|item| count(ItemId::from_index(item))).collect()
}

/// 20,000 rounds at the size of the paper's table E.1.
#[test]
fn lists_are_sorted_by_need_of_128_items() {
    let weights: Vec<f64> = (0..128).map(|item| if item < 20 { 1.0 / 20.0 } else { 1.0 / 400.0 }).collect();
    lists_are_sorted_by_need(&weights, 20, 20_000);
}

/// More items, which takes more bits of a packed key, and means on both sides of the limit for
/// small ones.
#[test]
fn lists_are_sorted_by_need_of_many_items() {
    let spread: Vec<f64> = (0..300).map(|item| f64::from(item) / 300.0).collect();
    lists_are_sorted_by_need(&spread, 10, 6_000);
    let alike: Vec<f64> = (0..2100).map(|item| if item % 3 == 0 { 0.3 } else { 0.28 }).collect();
    lists_are_sorted_by_need(&alike, 7, 1_500);
}

/// Items together have the bits of one alone.
#[test]
fn needs_of_several_items_are_those_of_each() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..20_000 {
        let most = [3, 50, 100_000][rng.random_range(0..3)];
        let counts: [(u64, u64); 4] = std::array::from_fn(|_| random_counts(&mut rng, most));
        let means = counts.map(|(n, clicks)| smoothed_mean(n, clicks));
        let needs = Need::of_several(counts.map(|(n, _)| n as f64), means);
        for (need, (n, clicks)) in needs.iter().zip(counts) {
            let alone = Need::new(n, clicks);
            let bits = |need: &Need| [need.base, need.clicks, need.failures, need.ln_mean].map(f64::to_bits);
            assert_eq!(bits(need), bits(&alone), "{clicks} of {n}");
        }
    }
}

/// The bound on the largest likelihood is one, and close.
#[test]
fn the_largest_likelihood_is_bounded() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    for _ in 0..20_000 {
        let most = [3, 50, 100_000, 1 << 40][rng.random_range(0..4)];
        let (n, clicks) = random_counts(&mut rng, most);
        let (n, clicks) = (n as f64, clicks as f64);
        let exact = confidence::kl_ucb_entropy(clicks, n - clicks);
        let [bound] = largest_ln_likelihoods([clicks], [n - clicks]);
        assert!(exact <= bound && bound <= exact + 2e-14 * n, "{clicks} of {n}: {bound} {exact}");
    }
}

/// Counts of an item that can have been seen.
fn random_counts(rng: &mut Xoshiro256PlusPlus, most: u64) -> (u64, u64) {
    let n = rng.random_range(0..=most);
    (n, rng.random_range(0..=n))
}

#[test]
fn the_marginal_is_that_of_the_prior() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    for _ in 0..1000 {
        let (n, clicks) = random_counts(&mut rng, 2000);
        let failures = (n - clicks) as f64;
        let exact = ln_beta(clicks as f64 + 0.5, failures + 0.5) - ln_beta(0.5, 0.5);
        let marginal = Evidence::new(n, clicks).ln_ratio(0.3) + ln_likelihood(clicks as f64, failures, 0.3);
        assert!((marginal - exact).abs() < 1e-10 * (1.0 + exact.abs()), "{clicks} of {n}");
    }
    // A click, then none: 1/2 * (1/2) / 2.
    assert!((libm::exp(Evidence::new(2, 1).ln_ratio(0.5)) - 0.125 / 0.25).abs() < 1e-14);
}

/// At an upper bound the mixture over smaller means is more probable than the bound by the factor
/// asked for, and not by much more.
#[test]
fn upper_bounds_are_where_the_truncated_mixture_rejects() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for _ in 0..2000 {
        let (n, clicks) = random_counts(&mut rng, 500);
        let inverse_level = [2.0, 40.0, 4000.0][rng.random_range(0..3)];
        let evidence = Evidence::new(n, clicks);
        let (upper, mirrored) =
            (evidence.upper(inverse_level), Evidence::new(n, n - clicks).lower(inverse_level));
        assert!((upper + mirrored - 1.0).abs() < 1e-9, "{clicks} of {n}: {upper}, {mirrored}");
        if clicks == n {
            assert_eq!(upper.to_bits(), 1.0_f64.to_bits());
            continue;
        }
        let prior = prior_below(upper);
        let posterior = beta_reg(clicks as f64 + 0.5, (n - clicks) as f64 + 0.5, upper);
        let ratio = libm::exp(evidence.ln_ratio(upper)) * posterior / prior;
        // The cost of leaving out the incomplete Beta function, and of three rounds of the level.
        let spent = 0.01 * inverse_level + 1.0 / prior;
        assert!(ratio >= inverse_level * (1.0 - 1e-9), "{clicks} of {n}: {ratio}");
        assert!(ratio <= inverse_level + spent, "{clicks} of {n}: {ratio} for {inverse_level}");
    }
}

#[test]
fn the_prior_of_being_better_is_from_above() {
    assert_eq!(prior_of_better(0.0).to_bits(), 0.5_f64.to_bits());
    assert!((prior_of_better(1.0) - 1.0).abs() < 1e-12);
    for epsilon in [1e-6, 0.01, 0.05, 0.2, 0.7] {
        const STEPS: u32 = 20_000;
        // The second mean at the middles of shares of equal probability.
        let mean = |step: u32| {
            let sine = libm::sin((f64::from(step) + 0.5) / f64::from(STEPS) * std::f64::consts::FRAC_PI_2);
            beta_reg(0.5, 0.5, (sine * sine + epsilon).min(1.0))
        };
        let exact = (0..STEPS).map(mean).sum::<f64>() / f64::from(STEPS);
        let bound = prior_of_better(epsilon);
        assert!(exact <= bound && bound < exact + 1e-3, "{epsilon}: {exact}, {bound}");
    }
}

/// Against the largest probability on a grid of means that the null allows.
#[test]
fn the_null_is_given_its_largest_likelihood() {
    const STEPS: u32 = 400;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for _ in 0..200 {
        let epsilon = [0.0, 0.05, 0.25, 0.9, 1.0][rng.random_range(0..5)];
        let (a, b) = (random_counts(&mut rng, 12), random_counts(&mut rng, 12));
        let likelihood =
            |(n, clicks): (u64, u64), p: f64| ln_likelihood(clicks as f64, (n - clicks) as f64, p);
        let mut largest = f64::NEG_INFINITY;
        for first in 0..=STEPS {
            for second in first..=STEPS {
                let (p, q) = (f64::from(first) / f64::from(STEPS), f64::from(second) / f64::from(STEPS));
                if p <= q - epsilon + 1e-12 {
                    largest = largest.max(likelihood(a, p) + likelihood(b, q));
                }
            }
        }
        let marginal =
            |counts: (u64, u64)| Evidence::new(counts.0, counts.1).ln_ratio(0.5) + likelihood(counts, 0.5);
        let ratio = Evidence::new(a.0, a.1).ln_ratio_to_worse(Evidence::new(b.0, b.1), epsilon);
        let found = marginal(a) + marginal(b) - ratio;
        let is_close = found >= largest - 1e-9 && found <= largest + 1e-2;
        assert!(is_close || found == largest, "{a:?} {b:?} {epsilon}: {found}, {largest}");
    }
}

/// The probability, to the last digit, that the evidence for item `a` against item `b` reaches each
/// of the levels at some time in `n` observations of each in turn.
fn beats_within<const N: usize>(
    n: usize,
    [mean_a, mean_b]: [f64; 2],
    levels: [f64; N],
    evidence: impl Fn(Evidence, Evidence) -> f64,
) -> [f64; N] {
    let mut alive = vec![vec![[0.0; N]; n + 1]; n + 1];
    alive[0][0] = [1.0; N];
    let mut beaten = [0.0; N];
    for step in 0..2 * n {
        let is_first = step % 2 == 0;
        let (seen_a, seen_b) = (step.div_ceil(2), step / 2);
        let mut next = vec![vec![[0.0; N]; n + 1]; n + 1];
        for a in 0..=seen_a {
            for b in 0..=seen_b {
                let (clicked, mean) = if is_first { ((a + 1, b), mean_a) } else { ((a, b + 1), mean_b) };
                for (level, mass) in alive[a][b].into_iter().enumerate() {
                    next[clicked.0][clicked.1][level] += mass * mean;
                    next[a][b][level] += mass * (1.0 - mean);
                }
            }
        }
        let (seen_a, seen_b) = ((step / 2 + 1) as u64, step.div_ceil(2) as u64);
        for (a, row) in next.iter_mut().enumerate() {
            for (b, masses) in row.iter_mut().enumerate() {
                if *masses == [0.0; N] {
                    continue;
                }
                let found = evidence(Evidence::new(seen_a, a as u64), Evidence::new(seen_b, b as u64));
                for ((mass, &level), beaten) in masses.iter_mut().zip(&levels).zip(&mut beaten) {
                    if found >= level {
                        *beaten += std::mem::take(mass);
                    }
                }
            }
        }
        alive = next;
    }
    beaten
}

/// No error is more probable than its level, by enumeration; with a level of which only the tenth
/// root is used it is.
#[test]
fn a_pair_is_parted_wrongly_as_seldom_as_promised() {
    for (mean, epsilon) in [(0.5, 0.0), (0.1, 0.0), (0.9, 0.0), (0.4, 0.1), (0.3, 0.05)] {
        let probabilities = [0.5, 0.05, 0.01];
        let [half, twentieth, hundredth] =
            probabilities.map(|level| rejection_level(prior_of_better(epsilon), 1.0 / level));
        let levels = [half, twentieth, hundredth, hundredth / 10.0];
        let ratio = |a: Evidence, b| a.ln_ratio_to_worse(b, epsilon);
        let found = beats_within(60, [mean, mean + epsilon], levels, ratio);
        let is_kept = found.iter().zip(&probabilities).all(|(found, promised)| found <= promised);
        assert!(is_kept, "{mean}, {epsilon}: {found:?}");
        assert!(found[3] > 0.01, "{mean}, {epsilon}, loose: {}", found[3]);
    }
}

/// The same for single items: the second one's observations are not looked at.
#[test]
fn a_bound_fails_as_seldom_as_promised() {
    for mean in [0.5, 0.1, 0.9] {
        for level in [0.5, 0.05, 0.01] {
            let error = |inverse_level: f64| {
                let is_below = |item: Evidence, _| f64::from(u8::from(item.upper(inverse_level) < mean));
                beats_within(60, [mean, 0.0], [1.0], is_below)[0]
            };
            assert!(error(1.0 / level) <= level, "{mean}, {level}: {}", error(1.0 / level));
            let loose = error(libm::pow(level, -0.1));
            assert!(level > 0.01 || loose > level, "{mean}, {level}: {loose}");
        }
    }
}

/// How many of the runs take a wrong decision: accept an item that is too bad or, without a
/// tolerance, reject one of the best. They end with it, for what is left may have no answer, or
/// after `rounds` rounds. `looseness` divides the logarithms of all levels.
fn errors(
    (weights, n_best, rounds): (&[f64], usize, u32),
    settings: Settings,
    looseness: f64,
    runs: u64,
) -> u64 {
    let users = CascadeModel::from_values(weights, n_best).unwrap();
    let (last, epsilon) = (falling(weights)[n_best - 1], settings.epsilon.get());
    let is_wrong = |policy: &CascadeKl| {
        let is = |items: &[ItemId], what: &dyn Fn(f64) -> bool| {
            items.iter().any(|item| what(weights[item.index()]))
        };
        is(policy.accepted(), &|weight| weight < last - epsilon)
            || epsilon == 0.0 && is(policy.rejected(), &|weight| weight >= last)
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut decision = Decision::default();
    let mut n_errors = 0;
    for _ in 0..runs {
        let mut policy = policy(users.shape(), settings);
        policy.pair_level /= looseness;
        let loose = |inverse_level: f64| libm::pow(inverse_level, 1.0 / looseness);
        let ItemLevels { upper, lower } = policy.item_levels;
        policy.item_levels = ItemLevels { upper: loose(upper), lower: loose(lower) };
        for _ in 0..rounds {
            if policy.check().is_break() || is_wrong(&policy) {
                break;
            }
            policy.select(&mut rng, &mut decision);
            let clicks = users.respond(&decision.action, &mut rng);
            policy.update(&decision, &clicks);
        }
        let is_wrong_in_the_end = match policy.check() {
            ControlFlow::Break(answer) => answer.iter().any(|item| weights[item.index()] < last - epsilon),
            ControlFlow::Continue(()) => false,
        };
        n_errors += u64::from(is_wrong(&policy) || is_wrong_in_the_end);
    }
    n_errors
}

/// Returns whether this number of errors is too large for a probability of `delta`, at level 1e-6,
/// by the exact binomial distribution.
fn too_many(n_errors: u64, runs: u64, delta: f64) -> bool {
    n_errors > 0 && Binomial::new(delta, runs).unwrap().sf(n_errors - 1) < 1e-6
}

/// Runs of the policy. Where it may be wrong in .01 of them, .1 is seen with a probability of .99;
/// where in .05, .19; where in .5, .72.
const RUNS: u64 = 250;
/// Runs with wrong levels, where these are wrong in .12 of them and .05 was promised: seen with a
/// probability of .99.
const LOOSE_RUNS: u64 = 800;
/// The divisor of the logarithms of the wrong levels.
const LOOSENESS: f64 = 30.0;

/// Six items of which two are better by a tenth, at a `delta` so large that errors may happen. With
/// loose levels 845 of 846 errors come in the first 300 rounds.
#[test]
fn errs_as_seldom_as_promised() {
    for (test, order) in
        [(CascadeKlTest::Pair, CascadeKlOrder::Need), (CascadeKlTest::Item, CascadeKlOrder::LeastObserved)]
    {
        let settings = settings(0.5, 0.0, test, order);
        let valid = errors((&[0.5, 0.5, 0.4, 0.4, 0.4, 0.4], 2, 400), settings, 1.0, RUNS);
        assert!(!too_many(valid, RUNS, 0.5), "{test:?}: {valid}");
    }
}

/// A larger gap and a `delta` that loose levels exceed: how the test above would fail. All of 673
/// errors of loose levels come in the first 300 rounds.
#[test]
fn loose_levels_err_too_often() {
    for test in TESTS {
        let settings = settings(0.05, 0.0, test, CascadeKlOrder::Need);
        let instance = (&[0.6, 0.6, 0.4, 0.4, 0.4, 0.4][..], 2, 400);
        let valid = errors(instance, settings, 1.0, RUNS);
        assert!(!too_many(valid, RUNS, 0.05), "{test:?}: {valid}");
        let invalid = errors(instance, settings, LOOSENESS, RUNS);
        assert!(too_many(invalid, RUNS, 0.05), "{test:?}: {invalid}");
    }
}

/// Two items, one of which has to be named. All of 206 errors of loose levels come in the first 100
/// rounds.
#[test]
fn errs_as_seldom_as_promised_of_two() {
    let instance = (&[0.5, 0.4][..], 1, 300);
    for test in TESTS {
        let settings = |delta| settings(delta, 0.0, test, CascadeKlOrder::Need);
        for delta in [0.01, 0.5] {
            let valid = errors(instance, settings(delta), 1.0, RUNS);
            assert!(!too_many(valid, RUNS, delta), "{test:?} {delta}: {valid}");
        }
        let invalid = errors(instance, settings(0.01), LOOSENESS, RUNS);
        assert!(too_many(invalid, RUNS, 0.01), "{test:?}: {invalid}");
    }
}

/// With a tolerance; in the second instance two steps of less than `epsilon` make a forbidden one.
/// 273 of 279 errors of loose levels come in the first 1,000 rounds there, and 515 of 515 in the
/// first instance.
#[test]
fn errs_as_seldom_as_promised_with_a_tolerance() {
    for (weights, n_best, epsilon, loose_runs) in [
        (&[0.6, 0.6, 0.5, 0.3, 0.3, 0.3][..], 2, 0.15, RUNS),
        (&[0.7, 0.6, 0.5, 0.5, 0.5, 0.5], 1, 0.12, LOOSE_RUNS),
    ] {
        let instance = (weights, n_best, 1000);
        for test in TESTS {
            let settings = |delta| settings(delta, epsilon, test, CascadeKlOrder::Need);
            for delta in [0.05, 0.5] {
                let valid = errors(instance, settings(delta), 1.0, RUNS);
                assert!(!too_many(valid, RUNS, delta), "{test:?} {delta}: {valid}");
            }
            let invalid = errors(instance, settings(0.05), LOOSENESS, loose_runs);
            assert!(too_many(invalid, loose_runs, 0.05), "{test:?} {weights:?}: {invalid}");
        }
    }
}
