//! Rank-one users, on the paper's needle in a haystack: `Rank1ElimKL` by whole sweeps compared with
//! round by round, UCB1 over all cells compared with a plain version that computes every index,
//! from the same state and with the same choices, and UTS with thinned draws compared with all of
//! them.

use click_models::{Cell, CellClick, ClickModel, RankOneModel, TableShape};
use confidence::{Rate, math::ln};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use policies::{CellKlUcb, Decision, Rank1Elim, Rank1Gibbs, Select, Ucb1, Update, Uts};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim::{Contender, Entry, Replication, Schedule, Streams};

/// The paper's largest table.
const SIZE: usize = 128;
/// Rounds of a run of the elimination.
const HORIZON: u64 = 20_000_000;
/// Rounds of UCB1 before the measurement, in which a cell usually ties with hundreds of others, and
/// measured rounds.
const WARM: u64 = 500_000;
const ROUNDS: u64 = 100_000;
const NAIVE_ROUNDS: u64 = 300;

fn users(size: usize) -> RankOneModel {
    let shape = TableShape::new(size, size).expect("valid");
    RankOneModel::needle(shape, (0.25, 0.5), (0.25, 0.5)).expect("valid")
}

fn elimination(criterion: &mut Criterion) {
    let model = users(SIZE);
    let schedule = Schedule::new(vec![HORIZON / 100, HORIZON / 10, HORIZON]).expect("increasing");
    let kl = |shape| Rank1Elim::kl(shape, HORIZON);
    let contenders: [Box<dyn Contender<RankOneModel>>; 2] =
        [Box::new(Entry::sweeps("by whole sweeps", kl)), Box::new(Entry::new("draw by draw", kl))];
    let mut group = criterion.benchmark_group(format!("rank1-elim-kl K=L={SIZE} n={HORIZON}"));
    group.sample_size(10).throughput(Throughput::Elements(HORIZON));
    for contender in &contenders {
        let mut replication = 0;
        group.bench_function(contender.label(), |bencher| {
            bencher.iter(|| {
                replication += 1;
                contender.replicate(Replication::new(&model, Streams::new(1), replication), &schedule)
            });
        });
    }
    group.finish();
}

/// Computes every index in every round.
#[derive(Debug, Clone)]
struct NaiveUcb1 {
    shape: TableShape,
    rounds: u64,
    plays: Vec<f64>,
    clicks: Vec<f64>,
    tied: Vec<usize>,
}

impl NaiveUcb1 {
    fn new(shape: TableShape) -> Self {
        let none = vec![0.0; shape.n_cells()];
        Self { shape, rounds: 0, plays: none.clone(), clicks: none, tied: vec![] }
    }
}

impl Select<Cell> for NaiveUcb1 {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        self.rounds += 1;
        let root_of_log = ln(self.rounds as f64).sqrt();
        let mut best = f64::NEG_INFINITY;
        for (cell, (plays, clicks)) in self.plays.iter().zip(&self.clicks).enumerate() {
            let seen = *plays > 0.0;
            let index =
                if seen { clicks / plays + (2.0 / plays).sqrt() * root_of_log } else { f64::INFINITY };
            if index > best {
                best = index;
                self.tied.clear();
            }
            if index == best {
                self.tied.push(cell);
            }
        }
        let place = (u128::from(rng.next_u64()) * self.tied.len() as u128) >> 64;
        out.action = self.shape.cell(self.tied[usize::try_from(place).expect("small")]);
    }
}

impl Update<Cell, CellClick> for NaiveUcb1 {
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        let cell = self.shape.number(decision.action).expect("a cell of the table");
        self.plays[cell] += 1.0;
        self.clicks[cell] += f64::from(u8::from(feedback.clicked));
    }
}

/// Plays rounds, and passes each to `watch`.
fn play<P: Update<Cell, CellClick>>(
    model: &RankOneModel,
    policy: &mut P,
    rounds: u64,
    mut watch: impl FnMut(&Decision<Cell, P::Note>, &CellClick),
) {
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

fn all_cells(criterion: &mut Criterion) {
    let model = users(SIZE);
    let shape = model.shape();
    let (mut lazy, mut naive) = (Ucb1::new(shape), NaiveUcb1::new(shape));
    play(&model, &mut lazy, WARM, |decision, feedback| {
        naive.rounds += 1;
        naive.update(decision, feedback);
    });
    // The same choices from here on.
    let (mut ours, mut theirs) = (vec![], vec![]);
    play(&model, &mut lazy.clone(), NAIVE_ROUNDS, |decision, _| ours.push(decision.action));
    play(&model, &mut naive.clone(), NAIVE_ROUNDS, |decision, _| theirs.push(decision.action));
    assert_eq!(ours, theirs);

    let mut group = criterion.benchmark_group(format!("ucb1 over {} cells", shape.n_cells()));
    group.sample_size(10);
    group.throughput(Throughput::Elements(ROUNDS)).bench_function("lazy", |bencher| {
        let run = |mut policy: Ucb1| {
            play(&model, &mut policy, ROUNDS, |_, _| ());
            policy
        };
        bencher.iter_batched(|| lazy.clone(), run, BatchSize::PerIteration);
    });
    group.throughput(Throughput::Elements(NAIVE_ROUNDS)).bench_function("naive", |bencher| {
        let run = |mut policy: NaiveUcb1| {
            play(&model, &mut policy, NAIVE_ROUNDS, |_, _| ());
            policy
        };
        bencher.iter_batched(|| naive.clone(), run, BatchSize::PerIteration);
    });
    group.finish();
}

/// A policy from its first round on.
fn from_the_first_round<P>(
    criterion: &mut Criterion,
    name: &str,
    size: usize,
    fresh: impl Fn(TableShape) -> P,
) where
    P: Update<Cell, CellClick> + Clone,
{
    let model = users(size);
    let mut group = criterion.benchmark_group(format!("{name} K=L={size}"));
    group.sample_size(10).throughput(Throughput::Elements(ROUNDS));
    group.bench_function("from the first round", |bencher| {
        let run = |mut policy: P| {
            play(&model, &mut policy, ROUNDS, |_, _| ());
            policy
        };
        bencher.iter_batched(|| fresh(model.shape()), run, BatchSize::PerIteration);
    });
    group.finish();
}

/// UTS with a leader that has settled, beside a version that draws all cells of the leader's row
/// and column.
fn settled(criterion: &mut Criterion) {
    for size in [32, SIZE, 2 * SIZE] {
        let model = users(size);
        let mut group = criterion.benchmark_group(format!("uts K=L={size}"));
        group.sample_size(10).throughput(Throughput::Elements(ROUNDS));
        for (name, thins) in [("thinned", true), ("plain", false)] {
            let mut policy = Uts::new(model.shape()).with_thinning(thins);
            play(&model, &mut policy, WARM, |_, _| ());
            group.bench_function(name, |bencher| {
                let run = |mut policy: Uts| {
                    play(&model, &mut policy, ROUNDS, |_, _| ());
                    policy
                };
                bencher.iter_batched(|| policy.clone(), run, BatchSize::PerIteration);
            });
        }
        group.finish();
    }
}

fn others(criterion: &mut Criterion) {
    for size in [32, SIZE] {
        from_the_first_round(criterion, "ucb1", size, Ucb1::new);
        from_the_first_round(criterion, "kl-ucb", size, |shape| CellKlUcb::new(shape, Rate::LOG));
        from_the_first_round(criterion, "uts", size, Uts::new);
        from_the_first_round(criterion, "rank1-gibbs", size, Rank1Gibbs::new);
    }
}

criterion_group!(benches, elimination, all_cells, settled, others);
criterion_main!(benches);
