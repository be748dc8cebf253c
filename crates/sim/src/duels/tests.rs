use super::*;
use crate::Schedule;
use crate::{Contender as _, Replication, Streams};
use click_models::{ClickModel, Pair, PreferenceMatrix};
use confidence::NonNegative;
use policies::{Fixed, Rucb};

fn users(rows: &[Vec<f64>]) -> DuelingModel {
    DuelingModel::new(PreferenceMatrix::new(rows).expect("a matrix"))
}

/// Item 0 beats the others with .75 and 1, item 1 beats item 2 with .625.
fn three() -> DuelingModel {
    users(&[vec![0.5, 0.75, 1.0], vec![0.25, 0.5, 0.625], vec![0.0, 0.375, 0.5]])
}

#[test]
fn a_fixed_pair_costs_its_gap_in_every_round() {
    let schedule = Schedule::new(vec![1, 8]).expect("increasing");
    let [second, third] = [1, 2].map(ItemId::new);
    let pair = |pair| Entry::duels("pair", move |_: &DuelingModel| Fixed::new(pair));
    let curve =
        pair(Pair::new(second, third)).replicate(Replication::new(&three(), Streams::new(1), 0), &schedule);
    // (.25 + .5) / 2 a round, and every user prefers one of the two.
    assert_eq!((curve.regret, curve.clicks), (vec![0.375, 3.0], vec![1.0, 8.0]));
    assert_eq!(curve.accurate, [false, false]);
    let curve = pair(Pair::of_one(ItemId::new(0)))
        .replicate(Replication::new(&three(), Streams::new(1), 0), &schedule);
    assert_eq!((curve.regret, curve.accurate), (vec![0.0, 0.0], vec![true, true]));
}

#[test]
fn checkpoints_change_no_choice() {
    let rucb = Entry::duels("rucb", |users: &DuelingModel| {
        Rucb::new(users.known(), NonNegative::new(0.51).expect("not negative"))
    });
    let replicate = |checkpoints: Vec<u64>| {
        let schedule = Schedule::new(checkpoints).expect("increasing");
        rucb.replicate(Replication::new(&three(), Streams::new(3), 5), &schedule)
    };
    let (often, once) = (replicate((1..=500).collect()), replicate(vec![500]));
    assert_eq!(often.regret.last(), once.regret.last());
    assert!(once.accurate[0] && !often.accurate.iter().all(|accurate| *accurate));
}

#[test]
fn without_a_condorcet_winner_any_copeland_winner_is_right() {
    let cycle = users(&[vec![0.5, 0.9, 0.1], vec![0.1, 0.5, 0.9], vec![0.9, 0.1, 0.5]]);
    let schedule = Schedule::new(vec![3]).expect("increasing");
    let last = Entry::duels("last", |_: &DuelingModel| Fixed::new(Pair::of_one(ItemId::new(2))));
    let curve = last.replicate(Replication::new(&cycle, Streams::new(1), 0), &schedule);
    assert_eq!((curve.regret, curve.accurate), (vec![0.0], vec![true]));
}
