//! Particulars of policies that compare two items: the saved data that they refuse, and the winners
//! that they find.

use crate::every_policy::trials::{Playable, Trial, rows_for, trial};
use crate::support::duelists::{in_line, users};
use crate::support::generator;
use click_models::{ClickModel, DuelOutcome, DuelShape, DuelingModel};
use confidence::NonNegative;
use policies::catalogue::Protocol;
use policies::{
    BeatTheMean, CondorcetSavage, Decision, DoubleTs, InterleavedFilter, MergeDts, Rmed1, Select, Update,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::rc::Rc;

fn number(value: f64) -> NonNegative {
    NonNegative::new(value).expect("valid")
}

/// Every check of saved data by itself.
#[test]
fn inconsistent_data_is_refused() {
    fn refused<P: Serialize + DeserializeOwned>(policy: &P, place: &str, value: Value) {
        let mut damaged = serde_json::to_value(policy).expect("saved");
        assert!(serde_json::from_value::<P>(damaged.clone()).is_ok());
        *damaged.pointer_mut(place).expect("a place in it") = value;
        assert!(serde_json::from_value::<P>(damaged).is_err(), "{place}");
    }
    let shape = DuelShape::new(3).expect("valid");
    let rmed = Rmed1::new(shape);
    refused(&rmed, "/pass", json!([0, 2, 1]));
    refused(&rmed, "/pass", json!([0, 1, 3]));
    refused(&rmed, "/next", json!([0]));
    refused(&rmed, "/next", json!([3]));
    refused(&rmed, "/place", json!(3));
    refused(&rmed, "/place", json!(4));
    let double = DoubleTs::new(shape);
    refused(&double, "/alpha", json!(-0.5));
    refused(&double, "/counts/wins", json!([0, 0, 0]));
    let merge = MergeDts::with_parameters(shape, number(0.3), 0, 2);
    refused(&merge, "/items", json!([0, 1, 1]));
    refused(&merge, "/items", json!([0, 1, 3]));
    refused(&merge, "/items", json!([0, 1]));
    refused(&merge, "/ends", json!([0, 3]));
    refused(&merge, "/ends", json!([2, 2]));
    refused(&merge, "/ends", json!([]));
    refused(&merge, "/stage", json!(0));
    refused(&merge, "/batch_size", json!(1));
    refused(&merge, "/batch_size", json!(4));
    refused(&merge, "/batch_size", json!(u64::MAX));
    let savage = CondorcetSavage::new(shape, 100);
    refused(&savage, "/left", json!([]));
    refused(&savage, "/left", json!([1, 0]));
    refused(&savage, "/left", json!([0, 3]));
    refused(&savage, "/horizon", json!(0));
    let mean = BeatTheMean::new(shape, 100, number(1.0));
    refused(&mean, "/left", json!([1, 1]));
    refused(&mean, "/wins/1", json!(1));
    refused(&mean, "/wins", json!([0]));
    refused(&mean, "/duels", json!([0]));
    refused(&mean, "/gamma", json!(-1));
    refused(&mean, "/radius", json!("tighter"));
    refused(&mean, "/horizon", json!(0));
    let filter = InterleavedFilter::new(shape, 100);
    refused(&filter, "/left", json!([0, 1]));
    refused(&filter, "/incumbent", json!(0));
    refused(&filter, "/wins/0", json!(1));
    refused(&filter, "/duels", json!([0]));
    // Before the first round no item has met another.
    refused(&filter, "/place", json!(1));
    refused(&filter, "/place", json!(2));
    refused(&filter, "/place", json!(3));
    refused(&filter, "/horizon", json!(0));
}

/// An answer about an earlier incumbent is not taken for one about this one.
#[test]
fn answers_of_another_epoch_are_ignored() {
    let shape = DuelShape::new(4).expect("valid");
    let mut policy = InterleavedFilter::new(shape, 10_000);
    let (mut rng, mut decision) = (generator(1), Decision::default());
    policy.select(&mut rng, &mut decision);
    let early = decision.clone();
    let first = policy.incumbent().expect("there is one");
    while policy.incumbent() == Some(first) {
        policy.update(&decision, &DuelOutcome::SecondWon);
        policy.select(&mut rng, &mut decision);
    }
    assert_ne!(early.note, decision.note);
    let before = serde_json::to_string(&policy).expect("saved");
    policy.update(&early, &DuelOutcome::FirstWon);
    let stale = Decision { action: decision.action, note: early.note };
    policy.update(&stale, &DuelOutcome::FirstWon);
    assert_eq!(serde_json::to_string(&policy).expect("saved"), before);
    policy.update(&decision, &DuelOutcome::FirstWon);
    assert_ne!(serde_json::to_string(&policy).expect("saved"), before);
}

/// The policies that learn, on these users.
fn learners(model: &Rc<DuelingModel>, horizon: u64) -> Vec<(&'static str, Box<dyn Trial>)> {
    // With the constant as printed nothing happens for thousands of rounds.
    let texts = rows_for(Protocol::Dueling).filter(|row| row.name != "uniform").map(|row| match row.name {
        "beat-the-mean" => "beat-the-mean(gamma=0.3)",
        name => name,
    });
    texts.chain([TIGHT]).map(|text| (text, DuelingModel::named(model, text, horizon))).collect()
}

const TIGHT: &str = "beat-the-mean(gamma=0.5,radius=tight)";

/// Answers that come two hundred rounds late, and one in ten not at all: the best item is found all
/// the same, and meets itself.
#[test]
fn late_and_missing_answers_do_not_mislead() {
    let model = Rc::new(users(6, |i, j| match (i, j) {
        (3, _) => 0.85,
        (_, 3) => 0.15,
        _ => 0.6,
    }));
    for (name, mut trial) in learners(&model, 60_000) {
        let regrets = (0..60_000).map(|_| trial.late_round(200));
        let best = regrets.skip(50_000).filter(|&regret| regret == 0.0).count();
        assert!(best >= 9000, "{name}: {best} of the last 10,000 rounds");
        assert_eq!(trial.recommended(), Some(vec![3, 3]), "{name}");
    }
}

/// Three items beat each other in a circle and all others; one of the three is recommended, and the
/// others are mostly left alone. D-TS knows the one that beats its first item, and compares that
/// with itself.
#[test]
fn a_top_cycle_is_found() {
    let model = Rc::new(users(6, |i, j| match (i, j) {
        (0, 1) | (1, 2) => 0.65,
        (0, 2) => 0.35,
        _ => 0.8,
    }));
    assert_eq!(model.preferences().condorcet_winner(), None);
    for (name, mut trial) in learners(&model, 60_000) {
        let (mut below, mut with_itself) = (0, 0);
        for number in 0..60_000 {
            trial.round();
            if number >= 50_000 {
                let choice = trial.choice();
                below += u32::from(choice.iter().any(|&item| item > 2));
                with_itself += u32::from(choice[0] == choice[1]);
            }
        }
        // RUCB draws from all items when nobody is in its pool; RMED1 doubts its leader more and
        // more, and therefore all.
        let most = match name {
            "rucb" => 10_000,
            "rmed1" => 3_333,
            _ => 300,
        };
        assert!(below <= most, "{name}: {below} of the last 10,000 rounds");
        let recommended = trial.recommended().expect("every one of these recommends");
        assert!(recommended[0] <= 2, "{name} recommends {recommended:?}");
        assert!(name != "double-ts" || with_itself > 9000, "{with_itself} of the last 10,000 rounds");
    }
}

/// The regret of each run, with random numbers of its own.
fn regrets(trial: &dyn Trial, runs: u64, rounds: u32) -> Vec<f64> {
    let one = |run| {
        let mut trial = trial.copy();
        trial.reseed(2 * run);
        (0..rounds).map(|_| trial.round()).sum()
    };
    (0..runs).map(one).collect()
}

/// The policies of later papers lose less than RUCB, and those with a horizon more; each by far
/// more than the runs differ.
#[test]
fn the_order_of_the_papers() {
    let model = Rc::new(in_line(10));
    let of = |name: &str| {
        regrets(&*DuelingModel::named(&model, name, 20_000), 10, 20_000).iter().sum::<f64>() / 10.0
    };
    let [rucb, savage] = ["rucb", "condorcet-savage"].map(of);
    let later = ["double-ts", "rmed1", "merge-dts"].map(of);
    assert!(later[0] < 0.5 * rucb && later[1] < 0.7 * rucb, "{later:?} {rucb}");
    assert!(later[2] < savage && rucb < savage, "{later:?} {rucb} {savage}");
}

/// Standard errors between the regret of 3,000 rounds against 6 items in line and that of the same
/// policy written a second time, from its paper in another language with another generator, with
/// all of the samples that the papers draw. 300 runs of each; mean and standard error of theirs.
fn z(trial: &dyn Trial, mean: f64, error: f64) -> f64 {
    let regrets = regrets(trial, 300, 3000);
    let n = regrets.len() as f64;
    let own = regrets.iter().sum::<f64>() / n;
    let variance = regrets.iter().map(|regret| (regret - own).powi(2)).sum::<f64>() / (n - 1.0) / n;
    (own - mean) / (variance + error * error).sqrt()
}

/// Seven checks, 1e-6 in all.
#[test]
fn regrets_are_those_of_a_second_simulation() {
    let model = Rc::new(in_line(6));
    for (name, mean, error) in [
        ("rmed1", 55.86, 0.85),
        ("double-ts", 36.49, 0.66),
        ("condorcet-savage", 361.17, 2.42),
        ("beat-the-mean(gamma=0.3)", 66.33, 3.35),
        (TIGHT, 29.31, 2.76),
        ("interleaved-filter", 549.24, 6.81),
    ] {
        let z = z(&*DuelingModel::named(&model, name, 3000), mean, error);
        assert!(z.abs() < 5.3, "{name}: {z}");
    }
    // Batches of 3.
    let merge = |head_start| {
        let policy = MergeDts::with_parameters(model.known(), number(0.262_144), head_start, 3);
        z(&*trial("merge-dts", &model, policy), 79.03, 1.88)
    };
    assert!(merge(400_000).abs() < 5.3, "{}", merge(400_000));
    // Another rule is noticed: without a head start items leave sooner.
    assert!(merge(0).abs() > 5.3, "{}", merge(0));
}
