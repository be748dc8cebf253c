//! Rounds on large catalogues, users included: the lazy KL-UCB compared with policies that solve
//! for every index, and UCB policies compared with the same rules that compare all items.
//!
//! All rows of a catalogue start from the same state, that of the lazy policy after [`WARM`]
//! rounds, since early rounds differ from late ones. The plain policies play fewer rounds from
//! there, since the cost of their rounds is constant. The rows `from the first round` are whole
//! runs of the lazy policy.

use benches::{AllItems, IndexRule, PlainKlUcb, Solver};
use click_models::{ClickModel, Feedback, Interaction, ListShape, PositionBased, RandomSemiBandit, Ranking};
use confidence::Rate;
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use policies::{Decision, PbmUcb, PrefixKlUcb, PrefixUcb, PrefixUcbV, Select, Update};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rounds before the measurement.
const WARM: u64 = 100_000;
/// Measured rounds of the lazy policy, and approximate number of measured indices of a plain one.
const ROUNDS: u64 = 10_000;
const INDICES: u64 = 100_000;
/// Users who examine the first item and continue with probability 0.9.
const EXAMINATION: [f64; 5] = [1.0, 0.9, 0.81, 0.73, 0.66];
const N_POSITIONS: usize = EXAMINATION.len();

/// Most items rarely attract, as in advertising.
fn attraction(n_items: usize) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..n_items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect()
}

fn users(n_items: usize) -> RandomSemiBandit {
    RandomSemiBandit::from_values(&attraction(n_items), &EXAMINATION).expect("valid")
}

/// Plays rounds, and shows them to `watch`.
fn play<M, P>(model: &M, policy: &mut P, rounds: u64, mut watch: impl FnMut(&Decision<Ranking>, &Feedback<M>))
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()>,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut users = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut decision = Decision::default();
    for _ in 0..rounds {
        policy.select(&mut rng, &mut decision);
        let feedback = model.respond(&decision.action, &mut users);
        policy.update(&decision, &feedback);
        watch(&decision, &feedback);
    }
}

fn measure<M, P>(group: &mut BenchmarkGroup<'_, WallTime>, label: &str, model: &M, policy: &P, rounds: u64)
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Clone,
{
    group.sample_size(10).throughput(Throughput::Elements(rounds));
    group.bench_function(label, |bencher| {
        let run = |mut policy: P| {
            play(model, &mut policy, rounds, |_, _| ());
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
    play(&model, &mut lazy, WARM, |decision, feedback| {
        for watcher in &mut plain {
            watcher.skip_round();
            watcher.update(decision, feedback);
        }
    });
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

/// A UCB policy and the same rule comparing all items, from the same state.
fn ucb<M, P>(criterion: &mut Criterion, name: &str, model: &M, mut lazy: P, mut plain: AllItems)
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Clone,
    AllItems: Update<Ranking, Feedback<M>>,
{
    play(model, &mut lazy, ROUNDS, |decision, feedback| {
        plain.skip_round();
        plain.update(decision, feedback);
    });
    let mut group = criterion.benchmark_group(name);
    measure(&mut group, "lazy", model, &lazy, ROUNDS);
    measure(&mut group, "all items", model, &plain, ROUNDS);
    group.finish();
}

fn upper_bounds(criterion: &mut Criterion) {
    for n_items in [300, 4096] {
        let model = users(n_items);
        let shape = model.shape();
        let name = |policy: &str| format!("{policy} K={n_items} L={N_POSITIONS}");
        let all = |rule| AllItems::prefix(rule, shape);
        ucb(criterion, &name("rsf-ucb"), &model, PrefixUcb::rsf(shape), all(IndexRule::RsfUcb));
        ucb(criterion, &name("cascade-ucb1"), &model, PrefixUcb::cascade(shape), all(IndexRule::CascadeUcb1));
        ucb(criterion, &name("cascade-ucb-v"), &model, PrefixUcbV::new(shape), all(IndexRule::CascadeUcbV));
        let model = PositionBased::from_values(&attraction(n_items), &EXAMINATION).expect("valid");
        let (lazy, plain) = (PbmUcb::new(model.known(), Rate::LOG), AllItems::position_based(model.known()));
        ucb(criterion, &name("pbm-ucb"), &model, lazy, plain);
    }
}

criterion_group!(benches, large, upper_bounds);
criterion_main!(benches);
