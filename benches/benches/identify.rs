//! Best arm identification under cascade feedback, users included: steps of `CascadeBAI` compared
//! with a plain version that sorts and computes every bound in every step, with the orders of
//! section 6.1, and with late feedback; and the first steps of `cascade-kl`, beside a version that
//! computes its order for every item in every step, and of KL-LUCB.

#[path = "../../crates/policies/tests/support/plain_cascade_bai.rs"]
mod plain_cascade_bai;

use benches::PlainByNeed;
use click_models::{Cascade, CascadeModel, ClickModel, ListShape};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use plain_cascade_bai::PlainCascadeBai;
use policies::{
    CascadeBai, CascadeKl, CascadeKlOrder, CascadeKlTest, Decision, Delta, KlLucb, Policy, Select, ShowOrder,
    Update,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;

/// The first row of the paper's Table E.1: K items of attraction 1 / K, the others 1 / K^2.
const N_ITEMS: usize = 128;
const N_POSITIONS: usize = 20;
/// Number of measured steps, of the 1.6 million that a run takes.
const STEPS: u64 = 1_000_000;
const OTHER_STEPS: u64 = 100_000;
const PLAIN_STEPS: u64 = 2_000;
const FEW_STEPS: u64 = 4_000;
const MANY_ITEMS: usize = 4096;
const LATE_STEPS: usize = 100_000;

fn users() -> CascadeModel {
    let k = N_POSITIONS as f64;
    let weights: Vec<f64> =
        (0..N_ITEMS).map(|item| if item < N_POSITIONS { 1.0 / k } else { 1.0 / (k * k) }).collect();
    CascadeModel::from_values(&weights, N_POSITIONS).expect("valid")
}

/// Plays like the round loop, users included.
fn play<P: Policy<Cascade>>(users: &CascadeModel, mut policy: P, steps: u64) -> P {
    let mut own = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut user = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut decision = Decision::default();
    for _ in 0..steps {
        policy.select(&mut own, &mut decision);
        let answer = users.respond(&decision.action, &mut user);
        policy.update(&decision, &answer);
    }
    policy
}

fn steps(criterion: &mut Criterion) {
    let users = users();
    let shape = ListShape::new(N_ITEMS, N_POSITIONS).expect("valid");
    let delta = Delta::new(0.1).expect("valid");
    let mut group = criterion.benchmark_group(format!("cascade-bai L={N_ITEMS} K={N_POSITIONS}"));
    group.sample_size(10);
    group.throughput(Throughput::Elements(STEPS));
    group.bench_function("incremental", |bencher| {
        bencher.iter_batched(
            || CascadeBai::new(shape, delta),
            |policy| black_box(play(&users, policy, STEPS)),
            BatchSize::LargeInput,
        );
    });
    group.throughput(Throughput::Elements(PLAIN_STEPS));
    group.bench_function("plain", |bencher| {
        bencher.iter_batched(
            || PlainCascadeBai::new(shape, delta.get()),
            |policy| black_box(play(&users, policy, PLAIN_STEPS)),
            BatchSize::LargeInput,
        );
    });
    group.throughput(Throughput::Elements(OTHER_STEPS));
    for order in [
        ShowOrder::MeanAsc,
        ShowOrder::MeanDesc,
        ShowOrder::UpperAsc,
        ShowOrder::UpperDesc,
        ShowOrder::LowerAsc,
        ShowOrder::LowerDesc,
    ] {
        group.bench_function(format!("{order:?}"), |bencher| {
            bencher.iter_batched(
                || CascadeBai::new(shape, delta).with_order(order),
                |policy| black_box(play(&users, policy, OTHER_STEPS)),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// Plays like the round loop, with feedback that arrives `delay` steps late.
fn play_late(users: &CascadeModel, mut policy: CascadeBai, delay: usize) -> CascadeBai {
    let mut own = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut user = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut open = vec![(Decision::default(), None); delay + 1];
    for step in 0..LATE_STEPS {
        let (decision, answer) = &mut open[step % (delay + 1)];
        policy.select(&mut own, decision);
        *answer = Some(users.respond(&decision.action, &mut user));
        if let (decision, Some(answer)) = &open[(step + 1) % (delay + 1)] {
            policy.update(decision, answer);
        }
    }
    policy
}

/// Large catalogues, and feedback on lists other than the last one.
fn late_answers(criterion: &mut Criterion) {
    let k = N_POSITIONS as f64;
    let weights: Vec<f64> =
        (0..MANY_ITEMS).map(|item| if item < N_POSITIONS { 1.0 / k } else { 1.0 / (k * k) }).collect();
    let users = CascadeModel::from_values(&weights, N_POSITIONS).expect("valid");
    let shape = ListShape::new(MANY_ITEMS, N_POSITIONS).expect("valid");
    let delta = Delta::new(0.1).expect("valid");
    let mut group = criterion.benchmark_group(format!("cascade-bai L={MANY_ITEMS} K={N_POSITIONS}"));
    group.sample_size(10);
    group.throughput(Throughput::Elements(LATE_STEPS as u64));
    for delay in [0, 1, 50] {
        group.bench_function(format!("answers {delay} steps late"), |bencher| {
            bencher.iter_batched(
                || CascadeBai::new(shape, delta),
                |policy| black_box(play_late(&users, policy, delay)),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// The first steps of the policies that need few: a run takes some 5,000 to 13,000.
fn first_steps(criterion: &mut Criterion) {
    let users = users();
    let shape = ListShape::new(N_ITEMS, N_POSITIONS).expect("valid");
    let delta = Delta::new(0.1).expect("valid");
    let mut group = criterion.benchmark_group(format!("first steps L={N_ITEMS} K={N_POSITIONS}"));
    group.sample_size(10);
    group.throughput(Throughput::Elements(FEW_STEPS));
    group.bench_function("cascade-kl", |bencher| {
        bencher.iter_batched(
            || CascadeKl::new(shape, delta),
            |policy| black_box(play(&users, policy, FEW_STEPS)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("cascade-kl, plain order, no decisions", |bencher| {
        bencher.iter_batched(
            || PlainByNeed::new(shape),
            |policy| black_box(play(&users, policy, FEW_STEPS)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("cascade-kl, a test an item, least observed", |bencher| {
        bencher.iter_batched(
            || {
                let order = CascadeKlOrder::LeastObserved;
                CascadeKl::new(shape, delta).with_test(CascadeKlTest::Item).with_order(order)
            },
            |policy| black_box(play(&users, policy, FEW_STEPS)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("KL-LUCB", |bencher| {
        bencher.iter_batched(
            || KlLucb::new(shape, delta),
            |policy| black_box(play(&users, policy, FEW_STEPS)),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, steps, late_answers, first_steps);
criterion_main!(benches);
