//! Fresh policies that do not begin in a given order begin with any list, or any cell, each equally
//! often.

use super::trials::{Extent, Trial, trials};
use super::users::Users;
use crate::support::generator;
use click_models::RankOneModel;
use rand::RngExt;
use std::collections::BTreeMap;

const DRAWS: u64 = 5000;

/// Returns whether `n` choices are equally likely: their counts are within seven standard
/// deviations of the mean, all of them but for a probability below 2e-10. A choice that is half as
/// often again as it should be is caught with a probability of .998, and one that never occurs with
/// certainty.
fn is_uniform(n: u64, choices: impl Iterator<Item = Vec<usize>>) -> bool {
    let mut counts = BTreeMap::new();
    for choice in choices {
        *counts.entry(choice).or_insert(0_u64) += 1;
    }
    let mean = DRAWS as f64 / n as f64;
    let allowed = 7.0 * (mean * (1.0 - 1.0 / n as f64)).sqrt();
    counts.len() as u64 == n && counts.values().all(|&count| (count as f64 - mean).abs() < allowed)
}

fn first_choices(trial: &dyn Trial) -> impl Iterator<Item = Vec<usize>> {
    let mut rng = generator(2);
    (0..DRAWS).map(move |_| {
        let mut fresh = trial.copy();
        fresh.reseed(rng.random::<u64>() >> 1);
        fresh.decide();
        fresh.choice()
    })
}

/// These show every item, or play every cell, in a given order.
const IN_ORDER: [&str; 4] = ["pbm-pie", "rank1-elim", "rank1-elim-kl", "ucb1-elim"];

#[test]
fn the_first_choice_is_uniform() {
    let mut users = Users::who_like(&[0.5; 4], &[0.9, 0.4]);
    users.rank_one = vec![RankOneModel::from_values(&[0.5; 3], &[0.5; 4]).expect("valid")];
    for trial in trials(users, Extent::Defaults, 1000) {
        let saved = trial.saved();
        let policy = saved["policy"].as_str().expect("a name");
        if !IN_ORDER.contains(&policy) {
            // Two of four items in order, or a cell of twelve.
            assert!(is_uniform(12, first_choices(&*trial)), "{}", trial.name());
        }
    }
}

/// Ties to the lowest item, and a uniform first item followed by the next one.
#[test]
fn choices_that_are_not_uniform_are_seen() {
    let mut rng = generator(1);
    assert!(!is_uniform(12, (0..DRAWS).map(|_| vec![0, 1])));
    assert!(!is_uniform(
        12,
        (0..DRAWS).map(|_| {
            let first = rng.random_range(0..4);
            vec![first, (first + 1) % 4]
        })
    ));
}
