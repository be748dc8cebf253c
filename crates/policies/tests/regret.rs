//! The mean regret of every policy after 1,000 rounds, against a plain second simulation.
//!
//! The second simulation shares nothing with the crates: users, counts, indices (by bisection),
//! Beta variates (polar normals), ties (shuffle, then sort) and the generator (`ChaCha8`) are its
//! own. The two means are independent and as good as normal; a check fails at |z| of 5, which
//! happens by chance with probability 6e-7. A true difference of 7.33 standard errors, printed as a
//! share of the regret, is seen with a probability of .99. It is at most .3 of the regret, and
//! mostly .2. Wrong versions are expected to be 7.3 standard errors away or more.

use crate::every_policy::trials::{Playable, Trial};
use click_models::{CascadeModel, DcmReward, DependentClick, PositionBased, RandomSemiBandit};
use libm::{exp, log};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use std::rc::Rc;

const ROUNDS: u64 = 1000;
const THETA: [f64; 4] = [0.2, 0.8, 0.4, 0.6];
const PBM_KAPPA: [f64; 2] = [0.5, 0.9];
const PREFIX_KAPPA: [f64; 2] = [1.0, 0.6];
/// Leave probabilities of dependent clicks: the lower position is the better one.
const LEAVE: [f64; 2] = [0.2, 0.9];

/// The users of the second simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    PositionBased,
    SemiBandit,
    Cascade,
    /// Whether the policy knows that the lower position is the better one.
    DependentClick {
        known: bool,
    },
}

impl Users {
    /// Mean reward of a list.
    fn value(self, list: &[usize; 2]) -> f64 {
        let [a, b] = [THETA[list[0]], THETA[list[1]]];
        match self {
            Self::PositionBased => PBM_KAPPA[0] * a + PBM_KAPPA[1] * b,
            Self::SemiBandit => PREFIX_KAPPA[0] * a + PREFIX_KAPPA[1] * b,
            Self::Cascade => 1.0 - (1.0 - a) * (1.0 - b),
            Self::DependentClick { .. } => 1.0 - (1.0 - LEAVE[0] * a) * (1.0 - LEAVE[1] * b),
        }
    }

    /// Clicks, or nothing where nothing is learned.
    fn answer(self, list: &[usize; 2], rng: &mut ChaCha8Rng) -> [Option<bool>; 2] {
        let [a, b] = [0, 1].map(|position: usize| rng.random::<f64>() < THETA[list[position]]);
        let [first, second] = [rng.random::<f64>(), rng.random::<f64>()];
        match self {
            Self::PositionBased => [Some(a && first < PBM_KAPPA[0]), Some(b && second < PBM_KAPPA[1])],
            Self::SemiBandit => [Some(a), (second < PREFIX_KAPPA[1]).then_some(b)],
            Self::Cascade => [Some(a), (!a).then_some(b)],
            Self::DependentClick { .. } => {
                let clicked_below = b && !(a && first < LEAVE[0]);
                [Some(a), (clicked_below || !a).then_some(clicked_below)]
            }
        }
    }
}

/// A mean with its squared standard error.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    mean: f64,
    variance: f64,
}

impl Estimate {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Self { mean, variance: spread / (n - 1.0) / n }
    }

    fn z(self, other: Self) -> f64 {
        (self.mean - other.mean) / (self.variance + other.variance).sqrt()
    }
}

/// The trial of the second simulation.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Uniform,
    /// Clicks by displays, and a random list with this probability.
    EpsilonGreedy {
        epsilon: f64,
    },
    /// Equation of section 4; `corrected` by the root of N over N~.
    PbmUcb {
        corrected: bool,
    },
    /// The items of largest index (equation (7)) at this many times ln t.
    PbmKlUcb {
        factor: f64,
    },
    /// Algorithm 1 with ln t, exploring with this probability.
    PbmPie {
        explore: f64,
    },
    /// Beta(1 + S, 1 + N~ - S), or N for N~.
    BetaTs {
        corrected: bool,
    },
    /// The posterior, by rejection from the position with most displays.
    PbmTs,
    /// KL-UCB for every position; whether a bandit is paid for what is shown instead of its pick.
    Ranked {
        filler_pays: bool,
    },
    /// mean + sqrt(scale ln t / N), at most 1 if clipped.
    Ucb {
        scale: f64,
        clipped: bool,
    },
    /// mean + sqrt(2 v ln t / N) + bias ln t / N.
    UcbV {
        bias: f64,
    },
    /// mean + Z max(sqrt(v ln(t + 1) / (N + 1)), ln(t + 1) / (N + 1)), one Z for all items or not.
    TsCascade {
        shared: bool,
    },
    /// KL-UCB with this many times ln t, and this many times ln ln t.
    KlUcb {
        factor: f64,
        log_log: f64,
    },
    /// Insertion at this position, with this probability.
    Pie {
        position: usize,
        explore: f64,
    },
}

fn entropy(p: f64, q: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * log(p / q) } else { 0.0 };
    part(p, q) + part(1.0 - p, 1.0 - q)
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * rng.random::<f64>() - 1.0, 2.0 * rng.random::<f64>() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * log(square) / square).sqrt();
        }
    }
}

fn gamma(shape: f64, rng: &mut ChaCha8Rng) -> f64 {
    let d = shape - 1.0 / 3.0;
    loop {
        let x = normal(rng);
        let v = 1.0 + x / (9.0 * d).sqrt();
        if v > 0.0 {
            let v = v * v * v;
            let u: f64 = rng.random();
            // Mostly the first comparison, which implies the second, is enough.
            if u < 1.0 - 0.0331 * (x * x) * (x * x) || log(u) < 0.5 * x * x + d - d * v + d * log(v) {
                return d * v;
            }
        }
    }
}

fn beta(a: f64, b: f64, rng: &mut ChaCha8Rng) -> f64 {
    let (x, y) = (gamma(a, rng), gamma(b, rng));
    x / (x + y)
}

/// Displays and clicks of four items at two positions.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    shows: f64,
    clicks: f64,
}

struct Simulation {
    rule: Rule,
    kappa: [f64; 2],
    cells: [[Cell; 2]; 4],
}

impl Simulation {
    fn total(&self, item: usize) -> Cell {
        let [first, second] = self.cells[item];
        Cell { shows: first.shows + second.shows, clicks: first.clicks + second.clicks }
    }

    fn weighted(&self, item: usize) -> f64 {
        self.cells[item][0].shows * self.kappa[0] + self.cells[item][1].shows * self.kappa[1]
    }

    /// Items by decreasing score, equal ones in random order.
    fn sorted(scores: [f64; 4], rng: &mut ChaCha8Rng) -> [usize; 4] {
        let mut items = [0, 1, 2, 3].map(|item| (rng.random::<u64>(), item));
        items.sort_unstable();
        items.sort_by(|a, b| scores[b.1].total_cmp(&scores[a.1]));
        items.map(|(_, item)| item)
    }

    /// The items in the order of their indices as far as the first `n` of them, equal ones in
    /// random order. Whether an index is at least `q` says `reaches`. All are bisected at once, and
    /// no further than their order needs.
    fn by_index(n: usize, rng: &mut ChaCha8Rng, reaches: impl Fn(usize, f64) -> bool) -> [usize; 4] {
        fn sort(
            items: &mut [usize],
            n: usize,
            [low, high]: [f64; 2],
            steps: u32,
            reaches: &impl Fn(usize, f64) -> bool,
        ) {
            if n == 0 || items.len() < 2 || steps == 0 {
                return;
            }
            let middle = 0.5 * (low + high);
            let mut is_above = [false; 4];
            for &item in &*items {
                is_above[item] = reaches(item, middle);
            }
            items.sort_by_key(|&item| !is_above[item]);
            let n_above = items.iter().filter(|&&item| is_above[item]).count();
            let (above, below) = items.split_at_mut(n_above);
            sort(above, n, [middle, high], steps - 1, reaches);
            sort(below, n.saturating_sub(n_above), [low, middle], steps - 1, reaches);
        }
        let mut items = Self::sorted([0.0; 4], rng);
        // From 1 on there are the infinite ones.
        sort(&mut items, n, [0.0, 2.0], 31, &reaches);
        items
    }

    /// Returns whether `U_k` of equation (7) reaches `q`: the sum is convex, so it does if it is
    /// below the level at `q` or falls there.
    fn reaches(&self, item: usize, level: f64, q: f64) -> bool {
        let cost = |q: f64| -> f64 {
            (0..2)
                .map(|l| (self.cells[item][l], self.kappa[l] * q))
                .filter(|(cell, _)| cell.shows > 0.0)
                .map(|(cell, mean)| cell.shows * entropy(cell.clicks / cell.shows, mean))
                .sum()
        };
        q <= 1.0 && (q == 0.0 || cost(q) <= level || cost(q) < cost(q * (1.0 - 1e-7)))
    }

    /// Returns whether the KL-UCB index of `cell` reaches `q`.
    fn kl_reaches(cell: Cell, level: f64, q: f64) -> bool {
        let mean = cell.clicks / cell.shows;
        cell.shows == 0.0 || q <= mean || (q <= 1.0 && cell.shows * entropy(mean, q) <= level)
    }

    fn posterior_draw(&self, item: usize, rng: &mut ChaCha8Rng) -> f64 {
        let cells = self.cells[item];
        let (m, other) = if cells[0].shows >= cells[1].shows { (0, 1) } else { (1, 0) };
        let rest = |theta: f64| {
            cells[other].clicks * log(theta)
                + (cells[other].shows - cells[other].clicks) * log(1.0 - self.kappa[other] * theta)
        };
        let (s, f) = (cells[other].clicks, cells[other].shows - cells[other].clicks);
        let top = if s + f == 0.0 { 1.0 } else { (s / (s + f) / self.kappa[other]).clamp(1e-300, 1.0) };
        loop {
            let theta =
                beta(cells[m].clicks + 1.0, cells[m].shows - cells[m].clicks + 1.0, rng) / self.kappa[m];
            if theta < 1.0 && log(rng.random()) < rest(theta) - rest(top) {
                return theta;
            }
        }
    }

    fn ucb_v(&self, item: usize, level: f64, bias: f64) -> f64 {
        let Cell { shows, clicks } = self.total(item);
        let (mean, share) = (clicks / shows, level / shows);
        mean + (2.0 * mean * (1.0 - mean) * share).sqrt() + bias * share
    }

    fn ts_cascade(&self, t: u64, shared: bool, rng: &mut ChaCha8Rng) -> [f64; 4] {
        let z = [0; 4].map(|_| normal(rng));
        [0, 1, 2, 3].map(|item| {
            let Cell { shows, clicks } = self.total(item);
            let (mean, share) = (clicks / shows.max(1.0), log(t as f64 + 1.0) / (shows + 1.0));
            let z = if shared { z[0] } else { z[item] };
            mean + z * (mean * (1.0 - mean) * share).sqrt().max(share)
        })
    }

    /// A list by a bandit for each position, and what each of them wanted.
    fn ranked(&self, level: f64, rng: &mut ChaCha8Rng) -> ([usize; 2], [usize; 2]) {
        let (mut shown, mut wanted) = ([0; 2], [0; 2]);
        for position in 0..2 {
            let reaches = |item: usize, q| Self::kl_reaches(self.cells[item][position], level, q);
            let pick = Self::by_index(1, rng, reaches)[0];
            wanted[position] = pick;
            let above = &shown[..position];
            shown[position] = if above.contains(&pick) {
                let rest: Vec<usize> = (0..4).filter(|item| !above.contains(item)).collect();
                rest[rng.random_range(0..rest.len())]
            } else {
                pick
            };
        }
        (shown, wanted)
    }

    /// Best item first, and for ranked bandits what each position's bandit wanted.
    fn choose(&self, t: u64, rng: &mut ChaCha8Rng) -> ([usize; 2], Option<[usize; 2]>) {
        let level = log(t as f64);
        let all = [0, 1, 2, 3];
        let unseen =
            |item: usize, score: f64| if self.total(item).shows > 0.0 { score } else { f64::INFINITY };
        let ratio = |item: usize| {
            let total = self.total(item);
            unseen(item, total.clicks / total.shows)
        };
        let best = match self.rule {
            Rule::Uniform => Self::sorted([0.0; 4], rng),
            Rule::EpsilonGreedy { epsilon } => {
                let greedy = rng.random::<f64>() >= epsilon;
                Self::sorted(if greedy { all.map(ratio) } else { [0.0; 4] }, rng)
            }
            Rule::PbmUcb { corrected } => {
                let index = |item: usize| {
                    let (total, weighted) = (self.total(item), self.weighted(item));
                    let bias = if corrected { (total.shows / weighted).sqrt() } else { 1.0 };
                    unseen(item, total.clicks / weighted + bias * (level / (2.0 * weighted)).sqrt())
                };
                Self::sorted(all.map(index), rng)
            }
            Rule::PbmKlUcb { factor } => Self::by_index(2, rng, |item, q| {
                self.total(item).shows == 0.0 || self.reaches(item, factor * level, q)
            }),
            Rule::PbmPie { explore } => {
                if t <= 4 {
                    let first = usize::try_from(t - 1).expect("small");
                    // The list itself, not by examination.
                    let list = [first, (first + 1) % 4];
                    return (if self.kappa[0] < self.kappa[1] { [list[1], list[0]] } else { list }, None);
                }
                let estimates = all.map(|item| self.total(item).clicks / self.weighted(item));
                let mut best = Self::sorted(estimates, rng);
                let others: Vec<usize> = best[2..]
                    .iter()
                    .copied()
                    .filter(|&item| self.reaches(item, level, estimates[best[1]]))
                    .collect();
                if !others.is_empty() && rng.random::<f64>() < explore {
                    best[1] = others[rng.random_range(0..others.len())];
                }
                best
            }
            Rule::BetaTs { corrected } => {
                let draws = all.map(|item| {
                    let total = self.total(item);
                    let shows = if corrected { self.weighted(item) } else { total.shows };
                    beta(1.0 + total.clicks, 1.0 + (shows - total.clicks).max(0.0), rng)
                });
                Self::sorted(draws, rng)
            }
            Rule::PbmTs => Self::sorted(all.map(|item| self.posterior_draw(item, rng)), rng),
            Rule::Ranked { .. } => {
                let (shown, wanted) = self.ranked(level, rng);
                return (shown, Some(wanted));
            }
            Rule::Ucb { scale, clipped } => {
                let most = if clipped { 1.0 } else { f64::INFINITY };
                let index = |item: usize| ratio(item) + (scale * level / self.total(item).shows).sqrt();
                Self::sorted(all.map(|item| unseen(item, index(item).min(most))), rng)
            }
            Rule::UcbV { bias } => {
                let index = |item: usize| self.ucb_v(item, level, bias);
                Self::sorted(all.map(|item| unseen(item, index(item))), rng)
            }
            Rule::TsCascade { shared } => Self::sorted(self.ts_cascade(t, shared, rng), rng),
            Rule::KlUcb { factor, log_log } => {
                let iterated = if t == 1 || log_log == 0.0 { 0.0 } else { log_log * log(level) };
                let level = (factor * level + iterated).max(0.0);
                Self::by_index(2, rng, |item, q| Self::kl_reaches(self.total(item), level, q))
            }
            Rule::Pie { position, explore } => {
                let means = all.map(ratio);
                let mut best = Self::sorted(means, rng);
                let others: Vec<usize> = best[2..]
                    .iter()
                    .copied()
                    .filter(|&item| Self::kl_reaches(self.total(item), level, means[best[1]]))
                    .collect();
                if !others.is_empty() && rng.random::<f64>() < explore {
                    best[1] = best[0];
                    best[position] = others[rng.random_range(0..others.len())];
                }
                best
            }
        };
        ([best[0], best[1]], None)
    }

    fn run(rule: Rule, users: Users, rng: &mut ChaCha8Rng) -> f64 {
        let kappa = if users == Users::PositionBased { PBM_KAPPA } else { PREFIX_KAPPA };
        let mut simulation = Self { rule, kappa, cells: [[Cell::default(); 2]; 4] };
        let best_below = match users {
            Users::PositionBased => {
                !matches!(rule, Rule::Ranked { .. } | Rule::EpsilonGreedy { .. } | Rule::Uniform)
            }
            Users::DependentClick { known } => known,
            Users::SemiBandit | Users::Cascade => false,
        };
        let best = users.value(&[1, 3]).max(users.value(&[3, 1]));
        let mut regret = 0.0;
        for t in 1..=ROUNDS {
            let (mut list, wanted) = simulation.choose(t, rng);
            if best_below {
                list.swap(0, 1);
            }
            regret += best - users.value(&list);
            for (position, seen) in users.answer(&list, rng).into_iter().enumerate() {
                let Some(click) = seen else { continue };
                let (item, paid) = match (rule, wanted) {
                    (Rule::Ranked { filler_pays }, Some(wanted)) => {
                        let pick = wanted[position];
                        (pick, click && (filler_pays || pick == list[position]))
                    }
                    _ => (list[position], click),
                };
                simulation.cells[item][position].shows += 1.0;
                simulation.cells[item][position].clicks += f64::from(u8::from(paid));
            }
        }
        regret
    }
}

/// Runs of `rule` that are enough for an estimate.
fn runs(rule: Rule, users: Users) -> u32 {
    match rule {
        // Every index is bisected, and the regret varies little.
        Rule::Ranked { .. } => 70,
        Rule::KlUcb { .. } | Rule::PbmKlUcb { .. } => 150,
        Rule::Pie { .. } => 300,
        // Both versions lose little, and nearly the same.
        Rule::BetaTs { .. } if users == Users::Cascade => 1000,
        Rule::BetaTs { .. } => 800,
        _ => 350,
    }
}

/// Mean regret of `rule` in the second simulation.
fn simulated(rule: Rule, users: Users, seed: u64) -> Estimate {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let run = |_| Simulation::run(rule, users, &mut rng);
    let regrets: Vec<f64> = (0..runs(rule, users)).map(run).collect();
    Estimate::of(&regrets)
}

/// Mean regret of the crate's policy.
fn measured<M: Playable>(model: &Rc<M>, policy: &str) -> Estimate {
    // Thompson sampling loses little, and that varies; with a Gibbs sampler it takes longest, and
    // varies less.
    let runs = match policy {
        "cascade-ts" => 1000,
        _ if policy.ends_with("-ts") => 800,
        _ if policy.starts_with("pbm-gibbs") => 400,
        _ => 600,
    };
    mean_regret(&*M::named(model, policy, ROUNDS), runs)
}

fn mean_regret(fresh: &dyn Trial, runs: u64) -> Estimate {
    let run = |run: u64| {
        let mut trial = fresh.copy();
        trial.reseed(2 * run + 1);
        (0..ROUNDS).map(|_| trial.round()).sum()
    };
    let regrets: Vec<f64> = (0..runs).map(run).collect();
    Estimate::of(&regrets)
}

fn assert_equal(name: &str, policy: Estimate, right: Estimate) {
    let z = policy.z(right);
    let visible = 7.33 * (policy.variance + right.variance).sqrt() / right.mean;
    println!(
        "{name:10} {:8.3} and {:8.3}: z = {z:5.2}, seen from {:.1} % on",
        policy.mean,
        right.mean,
        100.0 * visible
    );
    assert!(z.abs() < 5.0, "{name}: {policy:?} against {right:?}, z = {z}");
    assert!(visible < 0.3, "{name}: too few runs to tell anything");
}

fn assert_different(name: &str, policy: Estimate, wrong: Estimate) {
    let z = policy.z(wrong);
    println!("{name:10} {:8.3} and wrong {:8.3}: z = {z:5.2}", policy.mean, wrong.mean);
    assert!(z.abs() > 5.0, "{name}: a wrong policy is not told apart, z = {z}");
}

fn viewers() -> Rc<PositionBased> {
    Rc::new(PositionBased::from_values(&THETA, &PBM_KAPPA).expect("a valid instance"))
}

fn readers() -> Rc<RandomSemiBandit> {
    Rc::new(RandomSemiBandit::from_values(&THETA, &PREFIX_KAPPA).expect("a valid instance"))
}

#[test]
fn pbm_ucb() {
    let model = viewers();
    let found = measured(&model, "pbm-ucb");
    assert_equal("PBM-UCB", found, simulated(Rule::PbmUcb { corrected: true }, Users::PositionBased, 11));
    assert_different(
        "PBM-UCB",
        found,
        simulated(Rule::PbmUcb { corrected: false }, Users::PositionBased, 12),
    );
}

#[test]
fn pbm_kl_ucb() {
    let model = viewers();
    let found = measured(&model, "pbm-kl-ucb");
    assert_equal("PBM-KL-UCB", found, simulated(Rule::PbmKlUcb { factor: 1.0 }, Users::PositionBased, 57));
    assert_different(
        "PBM-KL-UCB",
        found,
        simulated(Rule::PbmKlUcb { factor: 1.5 }, Users::PositionBased, 58),
    );
}

#[test]
fn pbm_pie() {
    let model = viewers();
    let found = measured(&model, "pbm-pie");
    assert_equal("PBM-PIE", found, simulated(Rule::PbmPie { explore: 0.5 }, Users::PositionBased, 13));
    assert_different("PBM-PIE", found, simulated(Rule::PbmPie { explore: 1.0 }, Users::PositionBased, 14));
}

#[test]
fn pbm_ts() {
    let model = viewers();
    let found = measured(&model, "pbm-ts");
    assert_equal("PBM-TS", found, simulated(Rule::PbmTs, Users::PositionBased, 15));
    assert_different("PBM-TS", found, simulated(Rule::BetaTs { corrected: false }, Users::PositionBased, 16));
}

#[test]
fn bc_mp_ts() {
    let model = viewers();
    let found = measured(&model, "bc-mp-ts");
    assert_equal("BC-MP-TS", found, simulated(Rule::BetaTs { corrected: true }, Users::PositionBased, 17));
    assert_different(
        "BC-MP-TS",
        found,
        simulated(Rule::BetaTs { corrected: false }, Users::PositionBased, 18),
    );
}

#[test]
fn rba_kl_ucb() {
    let model = viewers();
    let found = measured(&model, "rba-kl-ucb");
    assert_equal(
        "RBA-KL-UCB",
        found,
        simulated(Rule::Ranked { filler_pays: false }, Users::PositionBased, 19),
    );
    assert_different(
        "RBA-KL-UCB",
        found,
        simulated(Rule::Ranked { filler_pays: true }, Users::PositionBased, 20),
    );
}

#[test]
fn uniform() {
    let model = viewers();
    let found = measured(&model, "uniform");
    assert_equal("uniform", found, simulated(Rule::Uniform, Users::PositionBased, 21));
    // By hand: 1.02 at best, 0.5 * (0.5 + 0.9) on average.
    let exact = Estimate { mean: 1000.0 * (0.9 * 0.8 + 0.5 * 0.6 - 0.5 * 1.4), variance: 0.0 };
    assert!(found.z(exact).abs() < 5.0);
}

#[test]
fn epsilon_greedy() {
    let model = viewers();
    let found = measured(&model, "epsilon-greedy");
    let with =
        |epsilon: f64, seed: u64| simulated(Rule::EpsilonGreedy { epsilon }, Users::PositionBased, seed);
    assert_equal("epsilon-greedy", found, with(0.1, 61));
    assert_different("epsilon-greedy", found, with(0.3, 62));
}

#[test]
fn rsf_ucb() {
    let model = readers();
    let found = measured(&model, "rsf-ucb");
    assert_equal(
        "RSF-UCB",
        found,
        simulated(Rule::Ucb { scale: 2.0 / 3.0, clipped: false }, Users::SemiBandit, 22),
    );
    assert_different(
        "RSF-UCB",
        found,
        simulated(Rule::Ucb { scale: 0.5, clipped: false }, Users::SemiBandit, 23),
    );
}

#[test]
fn rsf_kl_ucb() {
    let model = readers();
    let found = measured(&model, "rsf-kl-ucb");
    assert_equal(
        "RSF-KL-UCB",
        found,
        simulated(Rule::KlUcb { factor: 1.0, log_log: 0.0 }, Users::SemiBandit, 24),
    );
    assert_different(
        "RSF-KL-UCB",
        found,
        simulated(Rule::KlUcb { factor: 1.5, log_log: 0.0 }, Users::SemiBandit, 25),
    );
}

#[test]
fn rsf_ts() {
    let model = readers();
    let found = measured(&model, "rsf-ts");
    // Everything inside the prefix is examined, so N is right.
    assert_equal("RSF-TS", found, simulated(Rule::BetaTs { corrected: false }, Users::SemiBandit, 26));
    assert_different("RSF-TS", found, simulated(Rule::BetaTs { corrected: true }, Users::SemiBandit, 27));
}

#[test]
fn pie() {
    let model = readers();
    let found = measured(&model, "pie");
    assert_equal("PIE(L)", found, simulated(Rule::Pie { position: 1, explore: 0.5 }, Users::SemiBandit, 28));
    assert_different(
        "PIE(L)",
        found,
        simulated(Rule::Pie { position: 1, explore: 1.0 }, Users::SemiBandit, 29),
    );
    let found = measured(&model, "pie(position=0)");
    assert_equal("PIE(1)", found, simulated(Rule::Pie { position: 0, explore: 0.5 }, Users::SemiBandit, 30));
    assert_different(
        "PIE(1)",
        found,
        simulated(Rule::Pie { position: 1, explore: 0.5 }, Users::SemiBandit, 31),
    );
}

fn hasty_readers() -> Rc<CascadeModel> {
    Rc::new(CascadeModel::from_values(&THETA, 2).expect("a valid instance"))
}

#[test]
fn cascade_ucb1() {
    let model = hasty_readers();
    let found = measured(&model, "cascade-ucb1");
    let rule = |scale| Rule::Ucb { scale, clipped: true };
    assert_equal("CascadeUCB1", found, simulated(rule(1.5), Users::Cascade, 41));
    assert_different("CascadeUCB1", found, simulated(rule(2.0 / 3.0), Users::Cascade, 42));
}

#[test]
fn cascade_kl_ucb() {
    let model = hasty_readers();
    let found = measured(&model, "cascade-kl-ucb");
    let (right, wrong) =
        (Rule::KlUcb { factor: 1.0, log_log: 3.0 }, Rule::KlUcb { factor: 1.0, log_log: 0.0 });
    assert_equal("CascadeKL-UCB", found, simulated(right, Users::Cascade, 43));
    assert_different("CascadeKL-UCB", found, simulated(wrong, Users::Cascade, 44));
}

#[test]
fn cascade_ts() {
    let model = hasty_readers();
    let found = measured(&model, "cascade-ts");
    assert_equal("CascadeTS", found, simulated(Rule::BetaTs { corrected: false }, Users::Cascade, 45));
    assert_different("CascadeTS", found, simulated(Rule::BetaTs { corrected: true }, Users::Cascade, 46));
}

#[test]
fn cascade_ucb_v() {
    let model = hasty_readers();
    let found = measured(&model, "cascade-ucb-v");
    assert_equal("CascadeUCB-V", found, simulated(Rule::UcbV { bias: 3.0 }, Users::Cascade, 47));
    assert_different("CascadeUCB-V", found, simulated(Rule::UcbV { bias: 7.0 / 3.0 }, Users::Cascade, 48));
}

/// Twice the exploration, as in independent code of the paper, costs more.
#[test]
fn cascade_ucb_v_with_twice_the_exploration() {
    let model = hasty_readers();
    let found = measured(&model, "cascade-ucb-v");
    let twice = measured(&model, "cascade-ucb-v(zeta=2)");
    assert_different("CascadeUCB-V", found, twice);
    assert!(twice.mean > found.mean);
}

#[test]
fn ts_cascade() {
    let model = hasty_readers();
    let found = measured(&model, "ts-cascade");
    assert_equal("TS-Cascade", found, simulated(Rule::TsCascade { shared: true }, Users::Cascade, 49));
    assert_different("TS-Cascade", found, simulated(Rule::TsCascade { shared: false }, Users::Cascade, 50));
}

#[test]
fn dependent_clicks() {
    let model = DependentClick::from_values(&THETA, &LEAVE, DcmReward::Satisfaction);
    let model = Rc::new(model.expect("a valid instance"));
    let users = |known| Users::DependentClick { known };
    let found = measured(&model, "cascade-ucb1");
    let right = Rule::Ucb { scale: 1.5, clipped: true };
    assert_equal("DCM-UCB1", found, simulated(right, users(true), 51));
    assert_different("DCM-UCB1", found, simulated(right, users(false), 52));
    // PIE(2) inserts at the lower position, which is the first leader's.
    let found = measured(&model, "pie(position=1)");
    let pie = |position| Rule::Pie { position, explore: 0.5 };
    assert_equal("PIE(2)", found, simulated(pie(0), users(true), 55));
    assert_different("PIE(2)", found, simulated(pie(1), users(true), 56));
}

/// The number of runs in which a policy shows only best lists after `rounds` rounds.
fn settles<M: Playable>(model: &Rc<M>, policy: &str, horizon: u64, rounds: u32, runs: u64) -> usize {
    let fresh = M::named(model, policy, horizon);
    let settled = |run: &u64| {
        let mut trial = fresh.copy();
        trial.reseed(2 * run);
        let mut play = |rounds| (0..rounds).map(|_| trial.round()).sum::<f64>();
        play(rounds);
        play(1000) == 0.0
    };
    (0..runs).filter(settled).count()
}

/// Policies that rely on no click model end with the best list under each, every time: with the
/// horizon `10^12` a run goes wrong with probability below `16 / 10^12` (`TopRank`, a union over
/// pairs) and `100 / 10^12` (`BatchRank`, over items, stages and bounds), and all 24 with less than
/// `1e-8`.
#[test]
fn safe_policies_find_the_best_list_under_every_model() {
    fn check<M: Playable>(model: M) {
        let model = Rc::new(model);
        for policy in ["top-rank", "batch-rank"] {
            assert_eq!(settles(&model, policy, 1_000_000_000_000, 300_000, 3), 3, "{policy}");
        }
    }
    check(PositionBased::from_values(&THETA, &[0.9, 0.5]).expect("a valid instance"));
    check(RandomSemiBandit::from_values(&THETA, &PREFIX_KAPPA).expect("a valid instance"));
    check(CascadeModel::from_values(&THETA, 2).expect("a valid instance"));
    let satisfied = DependentClick::from_values(&THETA, &[0.9, 0.2], DcmReward::Satisfaction);
    check(satisfied.expect("a valid instance"));
}

/// The test itself: policies with a horizon of 1 believe their first observations, and some runs go
/// wrong.
#[test]
fn rash_policies_are_caught() {
    let model = Rc::new(PositionBased::from_values(&THETA, &[0.9, 0.5]).expect("a valid instance"));
    assert!(settles(&model, "top-rank", 1, 50_000, 100) < 100);
    assert!(settles(&model, "batch-rank", 1, 50_000, 10) < 10);
}

/// The second simulation's own parts, by hand.
#[test]
fn the_second_simulation_is_sound() {
    let (never_clicked, index) = (Cell { shows: 5.0, clicks: 0.0 }, 1.0 - exp(-0.1));
    assert!(Simulation::kl_reaches(never_clicked, 0.5, index - 1e-8));
    assert!(!Simulation::kl_reaches(never_clicked, 0.5, index + 1e-8));
    let indices = [0.3, 1.0, 0.3 + 1e-8, f64::INFINITY];
    for n in 1..=4 {
        let mut rng = ChaCha8Rng::seed_from_u64(33);
        let found = Simulation::by_index(n, &mut rng, |item, q| q <= indices[item]);
        assert!(found.starts_with(&[3, 1, 2, 0][..n]), "{found:?}");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let draws: Vec<f64> = (0..200_000).map(|_| beta(3.0, 7.0, &mut rng)).collect();
    let found = Estimate::of(&draws);
    // Mean 0.3 and variance 0.3 * 0.7 / 11.
    assert!(found.z(Estimate { mean: 0.3, variance: 0.0 }).abs() < 5.0);
    assert!((found.variance * 200_000.0 / (0.21 / 11.0) - 1.0).abs() < 0.03);
}

/// Policies that do not know examination, against a third simulation: a few lines of numpy with its
/// own Gamma variates and a generator of its own.
/// Mean regret and its standard error; then a wrong version: a Gibbs sweep with the variance of
/// Poisson counts (2,000 runs).
#[test]
fn unknown_examination() {
    let model = viewers();
    let simulated = |mean: f64, error: f64| Estimate { mean, variance: error * error };
    for (policy, right, wrong) in [
        ("pbm-gibbs", simulated(23.398, 0.114), simulated(27.548, 0.209)),
        ("pbm-gibbs(order=known)", simulated(23.342, 0.116), simulated(27.548, 0.209)),
    ] {
        let found = measured(&model, policy);
        assert_equal(policy, found, right);
        assert_different(policy, found, wrong);
    }
}
