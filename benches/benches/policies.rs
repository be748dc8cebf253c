//! Rounds of every policy, environment and regret included, as a simulation runs them.

use click_models::{ListShape, PbmKnown, PositionBased, RandomSemiBandit};
use confidence::Rate;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use policies::{BcMpTs, PbmPie, PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixTs, PrefixUcb, RbaKlUcb, Uniform};
use sim::{Contender, Entry, Schedule, Streams};

const ROUNDS: u64 = 100_000;

fn rounds<M: click_models::ClickModel>(
    criterion: &mut Criterion,
    group: &str,
    model: &M,
    contenders: &[Box<dyn Contender<M>>],
) {
    let schedule = Schedule::new(vec![ROUNDS]).expect("one checkpoint");
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10).throughput(Throughput::Elements(ROUNDS));
    for contender in contenders {
        group.bench_function(contender.label(), |bencher| {
            bencher.iter(|| contender.replicate(model, &schedule, Streams::new(1), 0));
        });
    }
    group.finish();
}

fn pbm(criterion: &mut Criterion) {
    let model = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]).expect("valid");
    rounds(
        criterion,
        "pbm K=5 L=3",
        &model,
        &[
            Box::new(Entry::new("pbm-ucb", |known: PbmKnown<'_>| PbmUcb::new(known, Rate::LOG))),
            Box::new(Entry::new("pbm-pie", |known: PbmKnown<'_>| PbmPie::new(known, Rate::LOG))),
            Box::new(Entry::new("bc-mp-ts", |known: PbmKnown<'_>| BcMpTs::new(known))),
            Box::new(Entry::new("pbm-ts", |known: PbmKnown<'_>| PbmTs::new(known))),
            Box::new(Entry::new("rba-kl-ucb", |known: PbmKnown<'_>| RbaKlUcb::new(known.shape))),
            Box::new(Entry::new("uniform", |known: PbmKnown<'_>| Uniform::new(known.shape))),
        ],
    );
}

fn semi_bandit(criterion: &mut Criterion) {
    let model =
        RandomSemiBandit::from_values(&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4], &[1.0, 0.8, 0.6]).expect("valid");
    rounds(
        criterion,
        "semi-bandit K=6 L=3",
        &model,
        &[
            Box::new(Entry::new("rsf-ucb", PrefixUcb::rsf)),
            Box::new(Entry::new("rsf-kl-ucb", |shape: ListShape| PrefixKlUcb::new(shape, Rate::LOG))),
            Box::new(Entry::new("rsf-ts", PrefixTs::new)),
            Box::new(Entry::new("pie", |shape: ListShape| Pie::last(shape, Rate::LOG))),
        ],
    );
}

criterion_group!(benches, pbm, semi_bandit);
criterion_main!(benches);
