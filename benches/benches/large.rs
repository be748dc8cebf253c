//! Rounds of KL-UCB on large catalogues, users included: the lazy policy compared with policies that solve for every index.
//!
//! All rows of a catalogue start from the same state, that of the lazy policy after [`WARM`] rounds, since early rounds differ from late
//! ones. The plain policies play fewer rounds from there, since the cost of their rounds is constant. The rows `from the first round` are
//! whole runs of the lazy policy.

use benches::{PlainKlUcb, Solver};
use click_models::{ClickModel, ListShape, RandomSemiBandit, Ranking, SemiBandit};
use confidence::Rate;
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use policies::{Decision, Policy, PrefixKlUcb, Select, Update};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rounds before the measurement.
const WARM: u64 = 100_000;
/// Measured rounds of the lazy policy, and approximate number of measured indices of a plain one.
const ROUNDS: u64 = 10_000;
const INDICES: u64 = 100_000;
const N_POSITIONS: usize = 5;

/// Users who examine the first item and continue with probability 0.9. Most items rarely attract, as in advertising.
fn users(n_items: usize) -> RandomSemiBandit {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let attraction: Vec<f64> =
        (0..n_items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect();
    RandomSemiBandit::from_values(&attraction, &[1.0, 0.9, 0.81, 0.73, 0.66]).expect("valid")
}

/// Plays rounds, and passes the feedback to every policy in `watching`.
fn play<P>(model: &RandomSemiBandit, policy: &mut P, rounds: u64, watching: &mut [PlainKlUcb])
where
    P: Policy<SemiBandit> + Select<Ranking, Note = ()>,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut users = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut decision = Decision::default();
    for _ in 0..rounds {
        policy.select(&mut rng, &mut decision);
        let feedback = model.respond(&decision.action, &mut users);
        policy.update(&decision, &feedback);
        for watcher in &mut *watching {
            watcher.skip_round();
            watcher.update(&decision, &feedback);
        }
    }
}

fn measure<P>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    label: &str,
    model: &RandomSemiBandit,
    policy: &P,
    rounds: u64,
) where
    P: Policy<SemiBandit> + Select<Ranking, Note = ()> + Clone,
{
    group.sample_size(10).throughput(Throughput::Elements(rounds));
    group.bench_function(label, |bencher| {
        let run = |mut policy: P| {
            play(model, &mut policy, rounds, &mut []);
            policy
        };
        bencher.iter_batched(|| policy.clone(), run, BatchSize::PerIteration);
    });
}

fn catalogue(criterion: &mut Criterion, n_items: usize, solvers: &[(&str, Solver)]) {
    let model = users(n_items);
    let shape = ListShape::new(n_items, N_POSITIONS).expect("valid");
    let fresh = PrefixKlUcb::new(shape, Rate::LOG);
    let mut plain: Vec<PlainKlUcb> =
        solvers.iter().map(|&(_, solver)| PlainKlUcb::new(solver, shape)).collect();
    let mut lazy = fresh.clone();
    play(&model, &mut lazy, WARM, &mut plain);
    let mut group = criterion.benchmark_group(format!("kl-ucb K={n_items} L={N_POSITIONS}"));
    measure(&mut group, "lazy", &model, &lazy, ROUNDS);
    measure(&mut group, "lazy, from the first round", &model, &fresh, WARM);
    for (&(label, _), plain) in solvers.iter().zip(&plain) {
        measure(&mut group, label, &model, plain, (INDICES / n_items as u64).max(10));
    }
    group.finish();
}

fn large(criterion: &mut Criterion) {
    let solvers = [
        ("bisection for all", Solver::Bisection),
        ("fast solver for all", Solver::Fast),
        ("batched solver for all", Solver::Batched),
    ];
    catalogue(criterion, 100, &solvers);
    catalogue(criterion, 1000, &solvers);
    catalogue(criterion, 16_384, &solvers[1..]);
}

criterion_group!(benches, large);
criterion_main!(benches);
