//! Rounds of every policy as a simulation runs them, environment and regret included, compared with
//! plain versions of the papers' policies.

use benches::{Plain, Rule};
use click_models::{ListShape, PbmKnown, PositionBased, RandomSemiBandit};
use confidence::Rate;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use policies::{BcMpTs, PbmPie, PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixTs, PrefixUcb, RbaKlUcb, Uniform};
use sim::{Contender, Entry, Replication, Schedule, Streams};

/// Rounds of a run; the plain policies play a tenth, since they are slow and become slower.
const ROUNDS: u64 = 100_000;
const PLAIN_ROUNDS: u64 = 10_000;

fn measure<M: click_models::ClickModel>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    model: &M,
    rounds: u64,
    contender: &dyn Contender<M>,
) {
    let schedule = Schedule::new(vec![rounds]).expect("one checkpoint");
    group.sample_size(10).throughput(Throughput::Elements(rounds));
    group.bench_function(contender.label(), |bencher| {
        bencher.iter(|| contender.replicate(Replication::new(model, Streams::new(1), 0), &schedule));
    });
}

fn pbm(criterion: &mut Criterion) {
    let model = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]).expect("valid");
    let mut group = criterion.benchmark_group("pbm K=5 L=3");
    let contenders: [Box<dyn Contender<PositionBased>>; 6] = [
        Box::new(Entry::new("pbm-ucb", |known: PbmKnown<'_>| PbmUcb::new(known, Rate::LOG))),
        Box::new(Entry::new("pbm-pie", |known: PbmKnown<'_>| PbmPie::new(known, Rate::LOG))),
        Box::new(Entry::new("bc-mp-ts", |known: PbmKnown<'_>| BcMpTs::new(known))),
        Box::new(Entry::new("pbm-ts", |known: PbmKnown<'_>| PbmTs::new(known))),
        Box::new(Entry::new("rba-kl-ucb", |known: PbmKnown<'_>| RbaKlUcb::new(known.shape()))),
        Box::new(Entry::new("uniform", |known: PbmKnown<'_>| Uniform::new(known.shape()))),
    ];
    for contender in &contenders {
        measure(&mut group, &model, ROUNDS, contender.as_ref());
    }
    for (label, rule) in [
        ("pbm-ucb, plain", Rule::PbmUcb),
        ("pbm-pie, plain", Rule::PbmPie),
        ("bc-mp-ts, plain", Rule::BcMpTs),
        ("pbm-ts, plain", Rule::PbmTs),
    ] {
        let contender = Entry::new(label, move |known: PbmKnown<'_>| Plain::new(rule, known));
        measure(&mut group, &model, PLAIN_ROUNDS, &contender);
    }
    group.finish();
}

fn semi_bandit(criterion: &mut Criterion) {
    let model =
        RandomSemiBandit::from_values(&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4], &[1.0, 0.8, 0.6]).expect("valid");
    let mut group = criterion.benchmark_group("semi-bandit K=6 L=3");
    let contenders: [Box<dyn Contender<RandomSemiBandit>>; 4] = [
        Box::new(Entry::new("rsf-ucb", PrefixUcb::rsf)),
        Box::new(Entry::new("rsf-kl-ucb", |shape: ListShape| PrefixKlUcb::new(shape, Rate::LOG))),
        Box::new(Entry::new("rsf-ts", PrefixTs::new)),
        Box::new(Entry::new("pie", |shape: ListShape| Pie::last(shape, Rate::LOG))),
    ];
    for contender in &contenders {
        measure(&mut group, &model, ROUNDS, contender.as_ref());
    }
    group.finish();
}

criterion_group!(benches, pbm, semi_bandit);
criterion_main!(benches);
