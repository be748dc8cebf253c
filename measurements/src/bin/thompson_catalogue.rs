//! Thompson sampling: rounds per CPU-second of the policies that thin their draws, beside the same
//! policies with every item drawn in every round.
//!
//! `cargo run --release -p measurements --bin thompson_catalogue -- rsf-ts 4096 1000000` plays a
//! policy (`rsf-ts`, `bc-mp-ts` or `pbm-ts`), a number of items and a number of rounds. A fourth
//! argument is the number of positions, 5 by default. With `tied` after it all items attract alike.
//!
//! Each row is a window of rounds. The plain policy starts each window from the state of the
//! thinned one and plays a sample of rounds, because the cost of its rounds is constant. Short
//! windows are played up to 50 times. Times are of this thread, users included; ratios are medians
//! of five paired runs.

use click_models::{ClickModel, PositionBased, RandomSemiBandit, Ranking};
use policies::{BcMpTs, Decision, PbmTs, Policy, PrefixTs, Select};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use serde::{Serialize, de::DeserializeOwned};

const N_POSITIONS: usize = 5;
const RUNS: u64 = 5;
/// About this number of draws of a plain policy in a window.
const PLAIN_DRAWS: u64 = 2_000_000;
/// At most this number of times a window is played.
const MOST_TIMES: u64 = 50;

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Most items rarely attract, as in advertising.
fn attraction(n_items: usize) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..n_items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect()
}

/// Each position is examined nine times as often in ten as the one above it.
fn examination(n_positions: usize) -> Vec<f64> {
    std::iter::successors(Some(1.0), |above| Some(0.9 * above)).take(n_positions).collect()
}

/// A run in progress.
struct Run<P> {
    policy: P,
    decision: Decision<Ranking>,
    rng: Xoshiro256PlusPlus,
    users: Xoshiro256PlusPlus,
}

impl<P: Select<Ranking, Note = ()>> Run<P> {
    fn new(policy: P, seed: u64) -> Self {
        let [rng, users] = [seed, seed + 1000].map(Xoshiro256PlusPlus::seed_from_u64);
        Self { policy, decision: Decision::default(), rng, users }
    }

    /// Plays rounds, and gives their CPU time.
    fn play<M>(&mut self, model: &M, rounds: u64) -> f64
    where
        M: ClickModel,
        M::Interaction: click_models::Interaction<Action = Ranking>,
        P: Policy<M::Interaction>,
    {
        let start = cpu_seconds();
        for _ in 0..rounds {
            self.policy.select(&mut self.rng, &mut self.decision);
            let feedback = model.respond(&self.decision.action, &mut self.users);
            self.policy.update(&self.decision, &feedback);
        }
        cpu_seconds() - start
    }
}

/// The policy in its present state, with every item drawn in every round.
fn plain<P: Serialize + DeserializeOwned>(policy: &P) -> P {
    let mut saved = serde_json::to_value(policy).expect("saved");
    saved["draws"] = serde_json::Value::Null;
    serde_json::from_value(saved).expect("restored")
}

fn compare<M, P>(model: &M, n_items: u64, horizon: u64, fresh: impl Fn() -> P)
where
    M: ClickModel,
    M::Interaction: click_models::Interaction<Action = Ranking>,
    P: Policy<M::Interaction> + Select<Ranking, Note = ()> + Serialize + DeserializeOwned + Clone,
{
    let mut ends: Vec<u64> =
        [1000, 10_000, 100_000, 1_000_000].into_iter().filter(|&end| end < horizon).collect();
    ends.push(horizon);
    let plain_rounds = (PLAIN_DRAWS / n_items).max(3);
    let mut rates = vec![(vec![], vec![]); ends.len() + 1];
    for seed in 1..=RUNS {
        let mut run = Run::new(fresh(), seed);
        let (mut played, mut seconds, mut plain_seconds) = (0, 0.0, 0.0);
        for (&end, rates) in ends.iter().zip(&mut rates) {
            let window = end - played;
            let sampled_rounds = plain_rounds.min(window);
            // Short windows are played again and again from their start.
            let times = (plain_rounds / window).clamp(1, MOST_TIMES);
            let start = run.policy.clone();
            let (mut used, mut sampled) = (0.0, 0.0);
            for time in 1..=times {
                let mut sample = Run::new(plain(&start), seed);
                sampled += sample.play(model, sampled_rounds);
                if time < times {
                    used += Run::new(start.clone(), seed).play(model, window);
                }
            }
            used += run.play(model, window);
            let rounds = window as f64;
            used /= times as f64;
            sampled *= rounds / (sampled_rounds * times) as f64;
            played = end;
            seconds += used;
            plain_seconds += sampled;
            rates.0.push(rounds / used);
            rates.1.push(sampled / used);
        }
        let overall = rates.last_mut().expect("a row for all");
        overall.0.push(horizon as f64 / seconds);
        overall.1.push(plain_seconds / seconds);
    }
    println!("{n_items} items: rounds to, rounds per CPU-second, times faster than plain");
    let names = ends.iter().map(u64::to_string).chain(["all".to_owned()]);
    for (name, (rate, ratio)) in names.zip(rates) {
        println!("{name:>9} {:>9.0} {:>7.1}", median(rate), median(ratio));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, n_items, horizon, more @ ..] = &arguments[..] else {
        panic!("expected a policy, a number of items and a number of rounds, and perhaps of positions");
    };
    let n_positions = more.first().map_or(N_POSITIONS, |number| number.parse().expect("a number"));
    let n_items: usize = n_items.parse().expect("a number of items");
    let horizon = horizon.parse().expect("a number of rounds");
    let is_tied = more.get(1).is_some_and(|word| word == "tied");
    let attraction = if is_tied { vec![0.2; n_items] } else { attraction(n_items) };
    let semi_bandit = RandomSemiBandit::from_values(&attraction, &examination(n_positions)).expect("valid");
    let position_based = PositionBased::from_values(&attraction, &examination(n_positions)).expect("valid");
    let items = n_items as u64;
    match &policy[..] {
        "rsf-ts" => compare(&semi_bandit, items, horizon, || PrefixTs::new(semi_bandit.shape())),
        "bc-mp-ts" => compare(&position_based, items, horizon, || BcMpTs::new(position_based.known())),
        "pbm-ts" => compare(&position_based, items, horizon, || PbmTs::new(position_based.known())),
        other => panic!("{other}: expected rsf-ts, bc-mp-ts or pbm-ts"),
    }
}
