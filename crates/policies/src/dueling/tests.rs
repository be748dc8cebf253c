//! Every policy a second time, straight from the papers: only counts are kept, every bound is
//! computed in every round, batches are lists of lists. Both compare the same pairs on the same
//! streams. RUCB's plain version is in `tests/support/plain_rucb.rs`.
//!
//! They share the counting, the samplers (which have tests of their own) and the documented order
//! of random draws.

use super::counts::DuelCounts;
use super::posterior::{Upsets, above_half, sample};
use super::*;
use crate::sampling::Sampler;
use crate::tests::{ranked, sort_by_score, tie_rank};
use crate::{Decision, Select, Update};
use click_models::{ClickModel, DuelOutcome, DuelingModel, ItemId, Pair, PreferenceMatrix};
use confidence::{NonNegative, bernoulli_kl};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Serialize, de::DeserializeOwned};

type Generator = Xoshiro256PlusPlus;

fn generator(seed: u64) -> Generator {
    Generator::seed_from_u64(seed)
}

/// Users with these chances above the diagonal.
fn users(n_items: usize, mut chance: impl FnMut(usize, usize) -> f64) -> DuelingModel {
    let mut rows = vec![vec![0.5; n_items]; n_items];
    for (i, j) in (0..n_items).flat_map(|i| (i + 1..n_items).map(move |j| (i, j))) {
        rows[i][j] = chance(i, j);
        rows[j][i] = 1.0 - rows[i][j];
    }
    DuelingModel::new(PreferenceMatrix::new(&rows).expect("valid"))
}

fn in_line(n_items: usize) -> DuelingModel {
    users(n_items, |i, j| 0.5 + 0.4 * (j - i) as f64 / n_items as f64)
}

/// The last one beats everybody by little, and the others beat each other in circles by much.
fn cyclic(n_items: usize) -> DuelingModel {
    let others = n_items - 1;
    users(n_items, |i, j| match j {
        _ if j == others => 0.4,
        _ if j - i <= others / 2 => 0.9,
        _ => 0.1,
    })
}

/// A total order, a Condorcet winner among cycles, none, anything, ties all the way, certainty.
fn instances() -> Vec<DuelingModel> {
    let mut rng = generator(3);
    vec![
        in_line(2),
        in_line(6),
        cyclic(6),
        users(5, |i, j| if j - i <= 2 { 0.7 } else { 0.3 }),
        users(9, |_, _| rng.random()),
        users(4, |_, _| 0.5),
        users(5, |_, _| 1.0),
    ]
}

/// One answer after the other.
struct History<'a> {
    model: &'a DuelingModel,
    users: Generator,
    counts: DuelCounts,
    pairs: Vec<Pair>,
}

impl<'a> History<'a> {
    fn new(model: &'a DuelingModel) -> Self {
        Self { model, users: generator(2), counts: DuelCounts::new(model.known()), pairs: vec![] }
    }

    fn n_items(&self) -> usize {
        self.model.known().n_items()
    }

    /// The 1-based number of the next round.
    fn round(&self) -> u64 {
        self.pairs.len() as u64 + 1
    }

    fn play(&mut self, first: usize, second: usize) -> bool {
        let pair = Pair::new(ItemId::from_index(first), ItemId::from_index(second));
        let outcome = self.model.respond(&pair, &mut self.users);
        self.counts.record(pair, outcome);
        self.pairs.push(pair);
        outcome.first_won()
    }

    /// Share of the duels that the first won; 1/2 before there is one.
    fn share(&self, item: usize, other: usize) -> f64 {
        match self.counts.duels(item, other) {
            0 => 0.5,
            duels => self.counts.wins(item, other) as f64 / duels as f64,
        }
    }

    /// Returns whether a sample is above 1/2.
    fn coin(&self, item: usize, other: usize, rng: &mut Generator) -> bool {
        rng.next_u64() < above_half(self.counts.wins(item, other), self.counts.wins(other, item))
    }

    /// `share + sign sqrt(alpha log / n)` with x/0 := 1.
    fn bound(&self, item: usize, other: usize, sign: f64, alpha: f64, log: f64) -> f64 {
        match self.counts.duels(item, other) {
            0 => 1.0 + sign,
            duels => self.share(item, other) + sign * (alpha * log / duels as f64).sqrt(),
        }
    }
}

/// The pair that `policy` plays.
fn choices<P: Update<Pair, DuelOutcome>>(mut policy: P, model: &DuelingModel, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let mut decision = Decision::default();
    for _ in 0..rounds {
        Select::select(&mut policy, &mut rng, &mut decision);
        let won = history.play(decision.action.first.index(), decision.action.second.index());
        policy.update(&decision, if won { &DuelOutcome::FirstWon } else { &DuelOutcome::SecondWon });
    }
    history.pairs
}

fn assert_same(policy: &[Pair], naive: &[Pair], model: &DuelingModel) {
    let first = policy.iter().zip(naive).position(|(policy, naive)| policy != naive);
    assert!(first.is_none() && policy.len() == naive.len(), "round {first:?} on {model:?}");
}

/// The comparison must notice a slightly different rule.
fn assert_other(policy: &[Pair], wrong: &[Pair]) {
    assert!(policy != wrong, "a wrong rule was not noticed");
}

fn log(number: u64) -> f64 {
    confidence::math::ln(number as f64)
}

/// The item of largest score among `items`, ties by hash.
fn best_of(items: &[usize], score: impl Fn(usize) -> f64, key: u64) -> usize {
    let largest = items.iter().map(|&item| score(item)).fold(f64::NEG_INFINITY, f64::max);
    let tied = items.iter().copied().filter(|&item| score(item) == largest);
    tied.max_by_key(|&item| tie_rank(key, item)).expect("there is an item")
}

const ROUNDS: usize = 30_000;
/// Rounds where the plain version takes long: with seven instances still 105,000.
const SAMPLED: usize = 15_000;

// --- ECW-RMED
// -------------------------------------------------------------------------------------------------

/// Sets of `size` of these items. A bit of the set is one for those that are in it.
fn sets(items: &[usize], size: usize) -> impl Iterator<Item = u32> {
    (0_u32..1 << items.len()).filter(move |set| set.count_ones() as usize == size)
}

/// Those of `items` that are in the set.
fn members(items: &[usize], set: u32) -> impl Iterator<Item = usize> {
    items.iter().enumerate().filter(move |&(place, _)| set >> place & 1 == 1).map(|(_, &item)| item)
}

/// Two items, and how many duels of theirs a nat of evidence takes.
type DuelsPerNat = ((usize, usize), f64);

/// The duels so far, as the paper sees them.
struct Seen {
    n: usize,
    superiors: Vec<Vec<usize>>,
    divergence: Vec<Vec<f64>>,
    duels: Vec<Vec<f64>>,
}

impl Seen {
    fn of(history: &History<'_>) -> Self {
        let n = history.n_items();
        let table = |cell: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|i| (0..n).map(|j| cell(i, j)).collect()).collect()
        };
        let share =
            |i: usize, j: usize| history.share(i.min(j), i.max(j)).max(history.share(i.max(j), i.min(j)));
        Self {
            n,
            superiors: (0..n)
                .map(|i| (0..n).filter(|&j| j != i && history.share(i, j) < 0.5).collect())
                .collect(),
            divergence: table(&|i, j| bernoulli_kl(share(i, j), 0.5)),
            duels: table(&|i, j| history.counts.duels(i, j) as f64),
        }
    }

    fn others(&self, item: usize) -> Vec<usize> {
        (0..self.n).filter(|&other| other != item).collect()
    }

    fn winners(&self) -> Vec<usize> {
        let fewest = self.superiors.iter().map(Vec::len).min();
        (0..self.n).filter(|&i| Some(self.superiors[i].len()) == fewest).collect()
    }

    /// Returns whether no constraint of the lower bound is violated, by trying every set.
    fn suffices(&self, winner: usize, log: f64) -> bool {
        let e = |i: usize, j: usize| (self.duels[i][j] * self.divergence[i][j] / log).min(1.0);
        let inferiors: Vec<usize> =
            self.others(winner).into_iter().filter(|&j| self.superiors[j].contains(&winner)).collect();
        let mut numbers: Vec<usize> = self.superiors.iter().map(Vec::len).collect();
        numbers.sort_unstable();
        self.others(winner).into_iter().all(|item| {
            let superiors: Vec<usize> =
                self.superiors[item].iter().copied().filter(|&j| j != winner).collect();
            (numbers[0].saturating_sub(1)..=numbers[1]).all(|l| {
                sets(&inferiors, l + 1 - numbers[0]).all(|set| {
                    let is_in = members(&inferiors, set).any(|j| j == item);
                    let size = self.superiors[item].len().saturating_sub(l + usize::from(is_in));
                    let first: f64 = members(&inferiors, set).map(|j| e(winner, j)).sum();
                    let sum = |others| first + members(&superiors, others).map(|j| e(item, j)).sum::<f64>();
                    sets(&superiors, size).all(|others| sum(others) >= 1.0)
                })
            })
        })
    }

    /// The plan's cost, and its pairs with the duels per nat.
    fn plan(&self, winner: usize) -> (f64, Vec<DuelsPerNat>) {
        let l = |i: usize| self.superiors[i].len() as f64;
        let cost = |i: usize, j: usize| {
            (l(i) + l(j) - 2.0 * l(winner)) / (2.0 * (self.n - 1) as f64) / self.divergence[i][j]
        };
        let (mut total, mut pairs) = (0.0, vec![]);
        for j in self.others(winner).into_iter().filter(|&j| self.superiors[j].contains(&winner)) {
            total += cost(winner, j);
            pairs.push(((winner, j), 1.0 / self.divergence[winner][j]));
        }
        for i in self.others(winner) {
            let mut others: Vec<usize> = self.superiors[i].iter().copied().filter(|&j| j != winner).collect();
            sort_by_score(&mut others, &|j| -cost(i, j));
            let size = self.superiors[i].len() - self.superiors[winner].len() + 1;
            if size > others.len() {
                continue;
            }
            let k = others.len() - size;
            let of = |h: usize| others[..h].iter().map(|&j| cost(i, j)).sum::<f64>() / (h - k) as f64;
            let best = (k + 1..=others.len()).map(of).fold(f64::INFINITY, f64::min);
            let h = (k + 1..=others.len()).find(|&h| of(h) == best).expect("one of them");
            total += best;
            pairs.extend(others[..h].iter().map(|&j| ((i, j), 1.0 / (h - k) as f64 / self.divergence[i][j])));
        }
        (total, pairs)
    }
}

fn naive_ecw_rmed(model: &DuelingModel, alpha: f64, beta: f64, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let mut now = pairs.clone();
    // The key of the first round; after a comparison that of the next round.
    rng.next_u64();
    loop {
        for &(i, j) in &pairs {
            let (t, duels) = (history.round(), history.counts.duels(i, j) as f64);
            let close = beta / confidence::math::ln(log(t));
            if t < 3 || duels < alpha * log(t).sqrt() || (history.share(i, j) - 0.5).abs() < close {
                history.play(i, j);
                if history.pairs.len() == rounds {
                    return history.pairs;
                }
                rng.next_u64();
            }
        }
        let (mut remaining, mut next): (_, Vec<(usize, usize)>) = (now.clone(), vec![]);
        for (i, j) in now {
            history.play(i, j);
            if history.pairs.len() == rounds {
                return history.pairs;
            }
            let key = rng.next_u64();
            let (seen, log) = (Seen::of(&history), log(history.pairs.len() as u64));
            let winners = seen.winners();
            let able: Vec<usize> = winners.iter().copied().filter(|&w| seen.suffices(w, log)).collect();
            let mut candidates = vec![];
            let winner = if able.is_empty() {
                let winner = best_of(&winners, |w| -seen.plan(w).0, key);
                let short =
                    seen.plan(winner).1.into_iter().filter(|&((i, j), need)| need * log > seen.duels[i][j]);
                candidates.extend(short.map(|((i, j), _)| (i.max(j), i.min(j))));
                winner
            } else {
                best_of(&able, |_| 0.0, key)
            };
            candidates.push((winner, winner));
            remaining.retain(|&pair| pair != (i, j));
            for pair in candidates {
                if !remaining.contains(&pair) && !next.contains(&pair) {
                    next.push(pair);
                }
            }
        }
        next.sort_unstable();
        now = next;
    }
}

#[test]
fn ecw_rmed_is_the_naive_one() {
    for model in instances() {
        // Every set of superiors is tried.
        let rounds = if model.known().n_items() > 6 { 3000 } else { SAMPLED };
        let naive = naive_ecw_rmed(&model, 3.0, 0.01, rounds);
        assert_same(&choices(EcwRmed::new(model.known()), &model, rounds), &naive, &model);
    }
    let model = users(5, |i, j| if j - i <= 2 { 0.7 } else { 0.3 });
    let naive = naive_ecw_rmed(&model, 2.9, 0.01, 5000);
    assert_other(&choices(EcwRmed::new(model.known()), &model, 5000), &naive);
}

// --- RMED1
// -------------------------------------------------------------------------------------------------

fn naive_rmed1(model: &DuelingModel, slack: f64, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
        rng.next_u64();
        history.play(i, j);
    }
    let (mut now, mut remaining, mut next): (Vec<usize>, Vec<usize>, Vec<usize>) =
        ((0..n).collect(), (0..n).collect(), vec![]);
    loop {
        for l in now {
            if history.pairs.len() >= rounds {
                history.pairs.truncate(rounds);
                return history.pairs;
            }
            let key = rng.next_u64();
            let not_beaten = |i: usize| -> Vec<usize> {
                (0..n).filter(|&j| j != i && history.share(i, j) <= 0.5).collect()
            };
            // To 2^-64, so that equal evidence is equal.
            let evidence = |i: usize| -> u128 {
                let term =
                    |&j: &usize| history.counts.duels(i, j) as f64 * bernoulli_kl(history.share(i, j), 0.5);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
                not_beaten(i).iter().map(|j| (term(j) * 2.0_f64.powi(64)) as u128).sum()
            };
            let all: Vec<u128> = (0..n).map(evidence).collect();
            let nats: Vec<f64> = all.iter().map(|&i| i as f64 / 2.0_f64.powi(64)).collect();
            let least = nats.iter().copied().fold(f64::INFINITY, f64::min);
            let excess: Vec<f64> = nats.iter().map(|i| i - least).collect();
            let negative: Vec<f64> = nats.iter().map(|i| -i).collect();
            let leader = ranked(&negative, key)[0];
            let others = not_beaten(l);
            let m = if others.is_empty() || others.contains(&leader) {
                leader
            } else {
                let candidates: Vec<usize> = (0..n).filter(|&j| j != l).collect();
                best_of(&candidates, |j| history.share(j, l), key)
            };
            remaining.retain(|&i| i != l);
            for (j, &excess) in excess.iter().enumerate() {
                let listed = remaining.contains(&j) || next.contains(&j);
                if !listed && excess <= log(history.round()) + slack {
                    next.push(j);
                }
            }
            history.play(l, m);
        }
        next.sort_unstable();
        (now, remaining, next) = (next.clone(), next, vec![]);
    }
}

#[test]
fn rmed1_is_the_naive_one() {
    for model in instances() {
        let slack = 0.3 * libm::pow(model.known().n_items() as f64, 1.01);
        let naive = naive_rmed1(&model, slack, SAMPLED);
        assert_same(&choices(Rmed1::new(model.known()), &model, SAMPLED), &naive, &model);
        if model.known().n_items() == 9 {
            assert_other(&naive, &naive_rmed1(&model, 0.0, SAMPLED));
        }
    }
}

// --- Thompson sampling
// -------------------------------------------------------------------------------------------------

fn naive_double_ts(model: &DuelingModel, alpha: f64, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    for _ in 0..rounds {
        let log_t = log(history.round());
        let key = rng.next_u64();
        let upper = |i: usize, j: usize| history.bound(i, j, 1.0, alpha, log_t);
        let zeta = |i: usize| (0..n).filter(|&j| j != i && upper(i, j) > 0.5).count();
        let most = (0..n).map(zeta).max();
        let candidates: Vec<usize> = (0..n).filter(|&i| Some(zeta(i)) == most).collect();
        let mut first = candidates[0];
        if candidates.len() > 1 {
            let led = |i: usize| {
                (0..n).filter(|&j| history.counts.duels(i, j) > 0 && history.share(i, j) > 0.5).count()
            };
            let favourite = candidates.iter().copied().rev().max_by_key(|&i| led(i)).expect("candidates");
            // None until a pair is sampled.
            let mut won: Vec<Vec<Option<bool>>> = vec![vec![None; n]; n];
            let lost = |won: &[Vec<Option<bool>>], i: usize| {
                won[i].iter().filter(|&&won| won == Some(false)).count()
            };
            let mut complete: Vec<usize> = vec![];
            let rest: Vec<usize> = candidates.iter().copied().filter(|&i| i != favourite).collect();
            for i in [vec![favourite], rest].concat() {
                let fewest = complete.iter().map(|&i| lost(&won, i)).min().unwrap_or(n);
                for j in (0..n).filter(|&j| j != i) {
                    if lost(&won, i) <= fewest && won[i][j].is_none() {
                        let heads = history.coin(i, j, &mut rng);
                        (won[i][j], won[j][i]) = (Some(heads), Some(!heads));
                    }
                }
                if lost(&won, i) <= fewest {
                    complete.push(i);
                }
            }
            first = best_of(&complete, |i| -(lost(&won, i) as f64), key);
        }
        let upsets = Upsets::new(&history.counts);
        let (mut second, mut largest) = (first, 0.5);
        for i in (0..n).filter(|&i| i != first && history.bound(i, first, -1.0, alpha, log_t) <= 0.5) {
            upsets.draw_all(
                &history.counts,
                first,
                &mut rng,
                |other| other == i,
                |_, draw| {
                    if draw > largest {
                        (second, largest) = (i, draw);
                    }
                },
            );
        }
        history.play(first, second);
    }
    history.pairs
}

#[test]
fn double_ts_is_the_naive_one() {
    for model in instances() {
        let naive = naive_double_ts(&model, 0.51, SAMPLED);
        assert_same(&choices(DoubleTs::new(model.known()), &model, SAMPLED), &naive, &model);
        let policy = DoubleTs::with_alpha(model.known(), NonNegative::new(0.8).expect("valid"));
        assert_same(
            &choices(policy, &model, SAMPLED / 3),
            &naive_double_ts(&model, 0.8, SAMPLED / 3),
            &model,
        );
    }
    let model = cyclic(6);
    assert_other(&choices(DoubleTs::new(model.known()), &model, 5000), &naive_double_ts(&model, 0.52, 5000));
}

/// The rule as printed, with a Beta sample for every pair and a whole column of new ones.
fn printed_double_ts(counts: &DuelCounts, round: u64, alpha: f64, rng: &mut Generator) -> (usize, usize) {
    let n = counts.shape.n_items();
    let sampler = Sampler::new();
    let radius = |i: usize, j: usize| match counts.duels(i, j) {
        0 => 1.0,
        duels => (alpha * log(round) / duels as f64).sqrt(),
    };
    let share = |i: usize, j: usize| match counts.duels(i, j) {
        0 => 1.0,
        duels => counts.wins(i, j) as f64 / duels as f64,
    };
    let zeta = |i: usize| (0..n).filter(|&j| j != i && share(i, j) + radius(i, j) > 0.5).count();
    let most = (0..n).map(zeta).max();
    let mut theta = vec![vec![0.5; n]; n];
    for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
        theta[i][j] = sample(sampler, counts, i, j, rng);
        theta[j][i] = 1.0 - theta[i][j];
    }
    let candidates: Vec<usize> = (0..n).filter(|&i| Some(zeta(i)) == most).collect();
    let score = |i: usize| theta[i].iter().filter(|&&theta| theta > 0.5).count() as f64;
    let first = best_of(&candidates, score, rng.next_u64());
    let column: Vec<f64> =
        (0..n).map(|i| if i == first { 0.5 } else { sample(sampler, counts, i, first, rng) }).collect();
    let possible = |i: usize| i == first || share(i, first) - radius(i, first) <= 0.5;
    let second = best_of(&(0..n).filter(|&i| possible(i)).collect::<Vec<_>>(), |i| column[i], 0);
    (first, second)
}

/// Fewer draws, the same distribution: pairs as often as by the rule as printed, after histories of
/// all lengths. In each of 36 cells the difference of two counts of 20,000 is within 5.9 standard
/// deviations, but for a probability of 1e-6 with 8 histories. A pair that comes with probability
/// 0.1 and is off by 0.027 is noticed with a probability of .99.
#[test]
fn double_ts_has_the_law_of_the_printed_rule() {
    const DRAWS: u32 = 20_000;
    let model = cyclic(6);
    let frequencies = |draw: &mut dyn FnMut() -> (usize, usize)| {
        let mut cells = vec![0_u32; 36];
        for _ in 0..DRAWS {
            let (first, second) = draw();
            cells[first * 6 + second] += 1;
        }
        cells
    };
    let differ = |one: &[u32], other: &[u32]| {
        one.iter().zip(other).any(|(&one, &other)| {
            let (difference, sum) = (f64::from(one) - f64::from(other), f64::from(one + other));
            // The variance of a difference is at most the sum of the means; a cell of few has
            // Poisson tails.
            difference.abs() > 5.9 * sum.sqrt() + 12.0
        })
    };
    let mut is_wrong_caught = false;
    for rounds in [0, 3, 10, 30, 100, 300, 1000, 4000] {
        let mut history = History::new(&model);
        let mut policy = DoubleTs::new(model.known());
        let (mut rng, mut decision) = (generator(5), Decision::default());
        for _ in 0..rounds {
            policy.select(&mut rng, &mut decision);
            let won = history.play(decision.action.first.index(), decision.action.second.index());
            policy.update(&decision, if won { &DuelOutcome::FirstWon } else { &DuelOutcome::SecondWon });
        }
        let fast = frequencies(&mut || {
            let mut copy = policy.clone();
            copy.select(&mut rng, &mut decision);
            (decision.action.first.index(), decision.action.second.index())
        });
        let mut rng = generator(6);
        let mut printed =
            |alpha| frequencies(&mut || printed_double_ts(&history.counts, history.round(), alpha, &mut rng));
        assert!(!differ(&fast, &printed(0.51)), "{rounds}");
        is_wrong_caught = is_wrong_caught || differ(&fast, &printed(0.05));
    }
    assert!(is_wrong_caught, "a wrong candidate set is noticed");
}

fn naive_merge_dts(model: &DuelingModel, alpha: f64, head_start: u64, m: usize, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    let mut order: Vec<usize> = (0..n).collect();
    for drawn in (1..n).rev() {
        order.swap(drawn, rng.random_range(0..=drawn));
    }
    let mut batches: Vec<Vec<usize>> = order.chunks(m).map(<[usize]>::to_vec).collect();
    let mut stage = 1;
    for t in 1..=rounds as u64 {
        let left = |batches: &[Vec<usize>]| batches.iter().map(Vec::len).sum::<usize>();
        if left(&batches) == 1 {
            history.play(batches[0][0], batches[0][0]);
            continue;
        }
        let key = rng.next_u64();
        if batches.len() > 1 && left(&batches) * (1 << stage) <= n {
            // The sort is stable.
            batches.sort_by_key(|batch| std::cmp::Reverse(batch.len()));
            let mut merged = vec![];
            while !batches.is_empty() {
                let mut batch = batches.remove(0);
                if batches.last().is_some_and(|small| 2 * (batch.len() + small.len()) <= 3 * m) {
                    batch.extend(batches.pop().expect("there is one"));
                }
                merged.push(batch);
            }
            batches = merged;
            stage += 1;
        }
        let mut turn = usize::try_from(t).expect("small") % batches.len();
        let level = log(t + head_start);
        let upper = |i: usize, j: usize| if i == j { 0.5 } else { history.bound(i, j, 1.0, alpha, level) };
        let batch = &batches[turn];
        let stays = |&i: &usize| batch.iter().all(|&j| upper(i, j) >= 0.5);
        let staying: Vec<usize> = batch.iter().copied().filter(|i| stays(i)).collect();
        if !staying.is_empty() {
            batches[turn] = staying;
        }
        if batches.len() > 1 && batches[turn].len() == 1 {
            let alone = batches.remove(turn);
            turn %= batches.len();
            batches[turn].splice(0..0, alone);
        }
        let batch = batches[turn].clone();
        let mut scores = vec![0; n];
        for (place, &i) in batch.iter().enumerate() {
            for &j in &batch[place + 1..] {
                let won = history.coin(i, j, &mut rng);
                scores[if won { i } else { j }] += 1;
            }
        }
        let first = best_of(&batch, |i| f64::from(scores[i]), key);
        let (mut second, mut least) = (first, 1.0);
        for &j in batch.iter().filter(|&&j| j != first) {
            let draw = sample(Sampler::new(), &history.counts, j, first, &mut rng);
            if draw < least {
                (second, least) = (j, draw);
            }
        }
        history.play(first, second);
    }
    history.pairs
}

#[test]
fn merge_dts_is_the_naive_one() {
    let alpha = NonNegative::new(0.262_144).expect("valid");
    for model in instances() {
        let policy = MergeDts::with_parameters(model.known(), alpha, 1000, 3);
        let naive = naive_merge_dts(&model, alpha.get(), 1000, 3.min(model.known().n_items()), SAMPLED);
        assert_same(&choices(policy, &model, SAMPLED), &naive, &model);
    }
    let mut rng = generator(4);
    for model in [in_line(70), cyclic(33), users(40, |_, _| rng.random())] {
        let naive = naive_merge_dts(&model, alpha.get(), 400_000, 16, ROUNDS);
        assert_same(&choices(MergeDts::new(model.known()), &model, ROUNDS), &naive, &model);
        let policy = MergeDts::with_parameters(model.known(), alpha, 0, 4);
        let naive = naive_merge_dts(&model, alpha.get(), 0, 4, ROUNDS);
        assert_same(&choices(policy, &model, ROUNDS), &naive, &model);
    }
}

/// After half a million million duels of two items that are nearly alike a round costs what it
/// costs at the beginning. With a sum of three million terms for each toss this takes minutes.
#[test]
fn near_ties_are_not_dear() {
    fn restored<P: Serialize + DeserializeOwned>(fresh: &P) -> P {
        let mut saved = serde_json::to_value(fresh).expect("saved");
        let wins = 1_u64 << 38;
        saved["counts"]["rounds"] = (2 * wins).into();
        saved["counts"]["wins"] = vec![0, wins, wins + 1, 0].into();
        serde_json::from_value(saved).expect("a saved policy")
    }
    let model = users(2, |_, _| 0.5);
    let shape = model.known();
    let n_first = |pairs: Vec<Pair>| pairs.iter().filter(|pair| pair.first == ItemId::new(0)).count();
    for n_first in [
        n_first(choices(restored(&DoubleTs::new(shape)), &model, ROUNDS)),
        n_first(choices(restored(&MergeDts::new(shape)), &model, ROUNDS)),
    ] {
        // Half of the rounds, but for 1e-6.
        assert!((n_first as f64 - 15_000.0).abs() < 4.9 * 87.0, "{n_first}");
    }
}

// --- Eliminations
// -------------------------------------------------------------------------------------------------

fn naive_savage(model: &DuelingModel, horizon: u64, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    let (n_pairs, delta) = (n as f64 * (n as f64 - 1.0) / 2.0, 1.0 / horizon as f64);
    let level = confidence::math::ln(2.0 * n_pairs * horizon as f64 / delta);
    let mut pool: Vec<usize> = (0..n).collect();
    for t in 1..=rounds as u64 {
        let loses = |i: usize, j: usize| {
            let duels = history.counts.duels(i, j) as f64;
            duels > 0.0 && history.share(i, j) + (level / (2.0 * duels)).sqrt() < 0.5
        };
        let left: Vec<usize> = pool.iter().copied().filter(|&i| !pool.iter().any(|&j| loses(i, j))).collect();
        pool = left;
        if pool.len() > 1 && t > horizon {
            let beaten = |i: usize| pool.iter().filter(|&&j| history.share(i, j) > 0.5).count() as f64;
            pool = vec![best_of(&pool, beaten, rng.next_u64())];
        }
        if let [winner] = pool[..] {
            history.play(winner, winner);
            continue;
        }
        let mut pairs: Vec<(usize, usize)> = vec![];
        for (place, &i) in pool.iter().enumerate() {
            pairs.extend(pool[place + 1..].iter().map(|&j| (i, j)));
        }
        let fewest = pairs.iter().map(|&(i, j)| history.counts.duels(i, j)).min();
        pairs.retain(|&(i, j)| Some(history.counts.duels(i, j)) == fewest);
        let (i, j) = pairs[rng.random_range(0..pairs.len())];
        history.play(i, j);
    }
    history.pairs
}

#[test]
fn condorcet_savage_is_the_naive_one() {
    for model in instances() {
        for horizon in [ROUNDS as u64, 2000] {
            let naive = naive_savage(&model, horizon, ROUNDS);
            let policy = CondorcetSavage::new(model.known(), horizon);
            assert_same(&choices(policy, &model, ROUNDS), &naive, &model);
        }
    }
    let model = in_line(6);
    let policy = CondorcetSavage::new(model.known(), 30_000);
    assert_other(&choices(policy, &model, ROUNDS), &naive_savage(&model, 20_000, ROUNDS));
}

fn naive_beat_the_mean(
    model: &DuelingModel,
    horizon: u64,
    gamma: f64,
    radius: MeanRadius,
    rounds: usize,
) -> Vec<Pair> {
    let factor = if radius == MeanRadius::Tight { 1.0 } else { 3.0 };
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    let mut left: Vec<usize> = (0..n).collect();
    // Every comparison: whose it is, with whom, won.
    let mut all: Vec<(usize, usize, bool)> = vec![];
    let count = |all: &[(usize, usize, bool)]| {
        let (mut duels, mut wins) = (vec![0_u32; n], vec![0_u32; n]);
        for &(item, _, won) in all {
            duels[item] += 1;
            wins[item] += u32::from(won);
        }
        (duels, wins)
    };
    let level = confidence::math::ln(2.0 * horizon as f64 * n as f64);
    for t in 1..=rounds as u64 {
        if left.len() > 1 {
            let key = rng.next_u64();
            let (duels, wins) = count(&all);
            let mean = |b: usize| if duels[b] == 0 { -1.0 } else { f64::from(wins[b]) / f64::from(duels[b]) };
            let fewest = left.iter().map(|&b| duels[b]).min().expect("an item");
            if t > horizon {
                left = vec![best_of(&left, mean, key)];
            } else if fewest > 0 {
                let c = factor * gamma * gamma * (level / f64::from(fewest)).sqrt();
                let least = left.iter().map(|&b| mean(b)).fold(f64::INFINITY, f64::min);
                let largest = left.iter().map(|&b| mean(b)).fold(f64::NEG_INFINITY, f64::max);
                if least + c <= largest - c {
                    let worst = best_of(&left, |b| -mean(b), key);
                    left.retain(|&b| b != worst);
                    all.retain(|&(item, other, _)| item != worst && other != worst);
                }
            }
        }
        if let [winner] = left[..] {
            history.play(winner, winner);
            continue;
        }
        let (duels, _) = count(&all);
        let fewest = left.iter().map(|&b| duels[b]).min();
        let due: Vec<usize> = left.iter().copied().filter(|&b| Some(duels[b]) == fewest).collect();
        let b = due[rng.random_range(0..due.len())];
        let met = |&&other: &&usize| radius == MeanRadius::Paper || other != b;
        let opponents: Vec<usize> = left.iter().filter(met).copied().collect();
        let other = opponents[rng.random_range(0..opponents.len())];
        let won = history.play(b, other);
        all.push((b, other, won));
    }
    history.pairs
}

#[test]
fn beat_the_mean_is_the_naive_one() {
    let naive = |model: &DuelingModel, horizon, gamma, radius| {
        naive_beat_the_mean(model, horizon, gamma, radius, 3500)
    };
    let own = |model: &DuelingModel, horizon, gamma, radius| {
        let gamma = NonNegative::new(gamma).expect("valid");
        choices(BeatTheMean::with_radius(model.known(), horizon, gamma, radius), model, 3500)
    };
    let (paper, tight) = (MeanRadius::Paper, MeanRadius::Tight);
    for model in instances() {
        // A small constant, so that items leave while the plain version can still count everything.
        for (gamma, horizon, radius) in [
            (0.3, 3000, paper),
            (0.15, 1000, paper),
            (1.0, 2000, paper),
            (0.5, 3000, tight),
            (0.25, 1000, tight),
            (1.0, 2000, tight),
        ] {
            let naive = naive(&model, horizon, gamma, radius);
            assert_same(&own(&model, horizon, gamma, radius), &naive, &model);
        }
    }
    let model = in_line(6);
    let gamma = NonNegative::new(0.3).expect("valid");
    let printed = choices(BeatTheMean::new(model.known(), 3000, gamma), &model, 3500);
    assert_same(&printed, &naive(&model, 3000, 0.3, paper), &model);
    assert_other(&printed, &naive(&model, 3000, 0.31, paper));
    // Neither half of the difference alone.
    let root = 3.0_f64.sqrt();
    assert_other(&own(&model, 3000, 0.3 * root, tight), &printed);
    assert_other(&own(&model, 3000, 0.3, tight), &naive(&model, 3000, 0.3 * root, tight));
}

fn naive_interleaved_filter(model: &DuelingModel, horizon: u64, rounds: usize) -> Vec<Pair> {
    let mut rng = generator(1);
    let mut history = History::new(model);
    let n = history.n_items();
    let level = log(horizon) + 2.0 * log(n as u64);
    let mut incumbent = rng.random_range(0..n);
    let mut left: Vec<usize> = (0..n).filter(|&b| b != incumbent).collect();
    while history.pairs.len() < rounds {
        // One incumbent.
        let mut wins = vec![0.0; n];
        let mut sweeps = 0.0;
        let follower = loop {
            if left.is_empty() || history.round() > horizon {
                history.play(incumbent, incumbent);
                if history.pairs.len() >= rounds {
                    return history.pairs;
                }
                continue;
            }
            for &b in &left {
                if history.round() <= horizon && history.play(incumbent, b) {
                    wins[b] += 1.0;
                }
            }
            if history.round() > horizon {
                continue;
            }
            sweeps += 1.0;
            let radius = (4.0_f64 * level / sweeps).sqrt();
            let key = rng.next_u64();
            left.retain(|&b| wins[b] / sweeps - radius <= 0.5);
            let lost: Vec<usize> =
                left.iter().copied().filter(|&b| wins[b] / sweeps + radius < 0.5).collect();
            if !lost.is_empty() {
                break best_of(&lost, |_| 0.0, key);
            }
        };
        left.retain(|&b| b != follower && wins[b] / sweeps <= 0.5);
        incumbent = follower;
    }
    history.pairs.truncate(rounds);
    history.pairs
}

#[test]
fn interleaved_filter_is_the_naive_one() {
    for model in instances() {
        for horizon in [ROUNDS as u64, 3000] {
            let naive = naive_interleaved_filter(&model, horizon, ROUNDS);
            let policy = InterleavedFilter::new(model.known(), horizon);
            assert_same(&choices(policy, &model, ROUNDS), &naive[..ROUNDS.min(naive.len())], &model);
        }
    }
    let model = in_line(6);
    let policy = InterleavedFilter::new(model.known(), 30_000);
    assert_other(&choices(policy, &model, ROUNDS), &naive_interleaved_filter(&model, 20_000, ROUNDS));
}
