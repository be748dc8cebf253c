//! Dueling bandits: rounds of RUCB, users included, compared with a plain version that computes all
//! bounds in every round.

#[path = "../../crates/policies/tests/support/plain_rucb.rs"]
mod plain_rucb;

use click_models::{ClickModel, Dueling, DuelingModel, PreferenceMatrix};
use confidence::NonNegative;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use plain_rucb::PlainRucb;
use policies::{Decision, Policy, Rucb};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;

/// As in the paper's experiments.
const ALPHA: f64 = 0.51;
const STEPS: u64 = 1_000_000;
/// Early rounds, before there is a sole champion.
const EARLY_STEPS: u64 = 100_000;
const PLAIN_STEPS: u64 = 5_000;

/// Rankers with different strengths, and noise that creates cycles; the first beats all others by a
/// little.
fn users(n_items: usize) -> DuelingModel {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut rows = vec![vec![0.5; n_items]; n_items];
    for (i, j) in (0..n_items).flat_map(|i| (i + 1..n_items).map(move |j| (i, j))) {
        let noise = 0.1 * rng.random::<f64>();
        let strength = 0.3 * (j - i) as f64 / n_items as f64;
        let chance = if i == 0 { 0.52 + strength + noise } else { 0.45 + strength + noise };
        rows[i][j] = chance;
        rows[j][i] = 1.0 - chance;
    }
    DuelingModel::new(PreferenceMatrix::new(&rows).expect("valid"))
}

/// Plays like the round loop, users included.
fn play<P: Policy<Dueling>>(users: &DuelingModel, mut policy: P, steps: u64) -> (P, f64) {
    let mut own = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut user = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut decision = Decision::default();
    let mut regret = 0.0;
    for _ in 0..steps {
        policy.select(&mut own, &mut decision);
        let answer = users.respond(&decision.action, &mut user);
        policy.update(&decision, &answer);
        regret += users.gap(&decision.action);
    }
    (policy, regret)
}

fn steps(criterion: &mut Criterion) {
    let alpha = NonNegative::new(ALPHA).expect("valid");
    for n_items in [16, 64] {
        let users = users(n_items);
        let mut group = criterion.benchmark_group(format!("rucb K={n_items}"));
        group.sample_size(10);
        for (name, steps) in [("lazy", STEPS), ("lazy, early", EARLY_STEPS)] {
            group.throughput(Throughput::Elements(steps));
            group.bench_function(name, |bencher| {
                bencher.iter_batched(
                    || Rucb::new(users.known(), alpha),
                    |policy| black_box(play(&users, policy, steps)),
                    BatchSize::LargeInput,
                );
            });
        }
        group.throughput(Throughput::Elements(PLAIN_STEPS));
        group.bench_function("plain", |bencher| {
            bencher.iter_batched(
                || PlainRucb::new(users.known(), ALPHA),
                |policy| black_box(play(&users, policy, PLAIN_STEPS)),
                BatchSize::LargeInput,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
