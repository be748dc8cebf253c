//! Claims and standings on several instances, one of which is rare.

use super::*;
use crate::leaderboard::{LEVEL, Leaderboard};
use click_models::{ItemId, PbmKnown, PositionBased, Ranking};
use experiment::Runner;
use policies::Fixed;
use sim::{Entry, Schedule};
use spec::{Experiment, Instances};

const INSTANCES: usize = 20;

/// Runs of `first` and `second`, which show one item always. It is `first` that is better on
/// nineteen instances, by `often` a round, and `second` on the last one, by `rarely`.
fn played(seed: u64, runs: u64, [often, rarely]: [f64; 2]) -> Measurement {
    let users = |at: usize| {
        let theta = if at + 1 < INSTANCES { [0.5, 0.5 - often] } else { [0.0, rarely] };
        PositionBased::from_values(&theta, &[1.0]).unwrap()
    };
    let entry = |label: &str, item: u32| {
        Entry::new(label, move |_: PbmKnown<'_>| -> Fixed<Ranking> {
            Fixed::new([item].map(ItemId::new).into_iter().collect())
        })
    };
    let instances = Instances::of((0..INSTANCES).map(users));
    let experiment =
        Experiment::builder("rare", instances).horizon(20).runs(runs).seed(seed).build().unwrap();
    let runner = Runner::new(&experiment).with_contender::<PositionBased, Schedule>(entry("first", 0));
    runner.with_contender::<PositionBased, Schedule>(entry("second", 1)).threads(1).run().unwrap()
}

fn verdict(measured: &Measurement) -> Verdict {
    let test = Order {
        lower: series(&["first"]),
        upper: series(&["second"]),
        at: ComparedAt::Round(None),
        factor: 1.0,
    };
    judged(test, 0.001, &alone(measured.clone())).unwrap().verdict
}

/// By the nineteen instances alone `first` is surely better; by all twenty it is much worse. If
/// runs draw their instances, .36 of the experiments of twenty runs miss the rare one, and say so:
/// thirty experiments would be right with probability 2e-6.
#[test]
fn a_rare_instance_is_never_missed() {
    for seed in 0..30 {
        for runs in [1, 20, 39, 199, 220, 239] {
            let measured = played(seed, runs, [0.01, 0.9]);
            let leaderboard = Leaderboard::of(&measured.result);
            let (verdict, pair) = (verdict(&measured), &leaderboard.pairs[0]);
            if runs < 200 {
                assert!(!pair.told_apart && verdict == Verdict::Undecided, "{runs} runs, seed {seed}");
            } else {
                assert!(pair.told_apart && pair.better == "second", "{runs} runs, seed {seed}");
                assert_eq!(verdict, Verdict::Contradicted, "{runs} runs, seed {seed}");
            }
            assert_eq!(leaderboard.fewest_runs, 200);
            assert_eq!((pair.se.is_some(), pair.p.is_some()), (runs >= 40, runs >= 40));
        }
    }
    // The same values, drawn with replacement: a test of the runs as they are is wrong in about a
    // third of the experiments.
    let (mut wrong, mut rng) = (0, sim::Streams::new(1).environment(0));
    for _ in 0..30 {
        let of_run =
            |_| if rand::RngExt::random_range(&mut rng, 0..INSTANCES) + 1 < INSTANCES { -0.2 } else { 18.0 };
        let (mean, se) = mean_and_error(&(0..20).map(of_run).collect::<Vec<f64>>());
        wrong += i32::from(Sign::of(mean, se, 19, Levels::of(LEVEL, 1)).says == Verdict::Reproduced);
    }
    assert!(wrong > 3, "{wrong}");
}

/// The two are equal on average over the instances, so the claim is false at its limit, and equal
/// but for rounding in every block.
#[test]
fn a_claim_at_its_limit_is_undecided() {
    for seed in 0..30 {
        let measured = played(seed, 220, [0.05, 0.95]);
        assert_eq!(verdict(&measured), Verdict::Undecided, "seed {seed}");
        assert!(!Leaderboard::of(&measured.result).pairs[0].told_apart, "seed {seed}");
    }
}
