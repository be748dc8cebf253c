//! A policy that is saved and restored continues unchanged, and damaged data is refused.

use super::trials::{Extent, Trial, large_trials, trials, trials_without_a_row};
use super::users::Users;
use crate::support::{generator, saved::for_each_damage};
use rand::RngExt;
use serde_json::Value;
use std::collections::BTreeSet;

fn play(trial: &mut dyn Trial, rounds: u32) {
    for _ in 0..rounds {
        trial.round();
    }
}

/// The two recommend the same, play 150 rounds alike and end alike.
fn assert_go_on_alike(original: &dyn Trial, mut restored: Box<dyn Trial>) {
    assert_eq!(restored.saved(), original.saved(), "{}", original.name());
    assert_eq!(restored.recommended(), original.recommended(), "{}", original.name());
    let mut original = original.copy();
    for round in 0..150 {
        for trial in [&mut original, &mut restored] {
            trial.round();
        }
        assert_eq!(original.choice(), restored.choice(), "{}, {round} rounds later", original.name());
    }
    // The same notes, and the same random numbers left.
    assert_eq!(original.moment(), restored.moment(), "{}", original.name());
    assert_eq!(original.recommended(), restored.recommended(), "{}", original.name());
    assert_eq!(original.saved(), restored.saved(), "{}", original.name());
}

#[test]
fn restored_policies_go_on_as_the_original() {
    for mut trial in trials(Users::all(), Extent::Variants, 1500).into_iter().chain(trials_without_a_row()) {
        let mut played = 0;
        // The last is past the horizon.
        for start in [0, 1, 3, 20, 300, 1600] {
            play(&mut *trial, start - played);
            played = start;
            let restored = trial.restored(trial.saved()).expect("a saved policy can be restored");
            assert_go_on_alike(&*trial, restored);
            // A list is shown, and its answer has not come.
            let mut waiting = trial.copy();
            waiting.decide();
            let restored = waiting.restored(waiting.saved()).expect("a saved policy can be restored");
            assert_eq!(restored.recommended(), waiting.recommended(), "{}", waiting.name());
        }
        let (bytes, restored) = (trial.bytes(), trial.restored_from(&trial.bytes()));
        assert_eq!(restored.bytes(), bytes, "{}", trial.name());
        assert_go_on_alike(&*trial, restored);
    }
}

/// Large catalogues are thinned: their threshold and the order of the items are also saved.
#[test]
fn restored_policies_go_on_as_the_original_on_large_catalogues() {
    for mut trial in large_trials() {
        let mut played = 0;
        for start in [0, 1, 30, 3000] {
            play(&mut *trial, start - played);
            played = start;
            let saved = trial.saved();
            assert!(saved["state"]["draws"]["order"].is_array(), "{}", trial.name());
            assert_go_on_alike(&*trial, trial.restored(saved).expect("a saved policy can be restored"));
        }
        assert_go_on_alike(&*trial, trial.restored_from(&trial.bytes()));
    }
}

/// Another order inside the buckets is another random stream, which the comparison above sees.
#[test]
#[should_panic(expected = "rsf-ts")]
fn another_order_is_seen() {
    let mut trial = large_trials().remove(0);
    play(&mut *trial, 100);
    let mut saved = trial.saved();
    let order = saved["state"]["draws"]["order"].as_array_mut().expect("an order");
    order.reverse();
    let mut restored = trial.restored(saved).expect("as good an order as the other");
    // The comparison is of choices, not of saved states.
    for _ in 0..300 {
        trial.round();
        restored.round();
        assert_eq!(trial.choice(), restored.choice(), "{}", trial.name());
    }
}

/// One count that is restored as another is what the comparison above is for.
#[test]
#[should_panic(expected = "pbm-ts")]
fn another_count_is_seen() {
    let mut trial = trials(Users::first(), Extent::Defaults, 1500)
        .into_iter()
        .find(|trial| trial.name().starts_with("pbm-ts"))
        .expect("a policy of the catalogue");
    play(&mut *trial, 20);
    let mut saved = trial.saved();
    let shows = &mut saved["state"]["counts"]["shows"][0];
    *shows = (shows.as_u64().expect("a count") + 1).into();
    let restored = trial.restored(saved).expect("as good a count as the other");
    assert_go_on_alike(&*trial, restored);
}

/// Some damage is as good as what was there: another count, another examination. What is saved
/// later can be read.
#[test]
fn damaged_data_is_refused_or_usable() {
    let (mut refused, mut accepted) = (0, 0);
    for mut trial in trials(Users::first(), Extent::Variants, 1500).into_iter().chain(large_trials()) {
        play(&mut *trial, 30);
        for_each_damage(&trial.saved(), |damaged| match trial.restored(damaged.clone()) {
            Err(error) => {
                assert!(!error.is_empty());
                refused += 1;
            }
            Ok(mut usable) => {
                accepted += 1;
                for _ in 0..10 {
                    usable.round();
                    assert!(usable.is_admitted(), "{} from {damaged}", trial.name());
                }
                usable.recommended();
                let fault = trial.restored(usable.saved()).err().unwrap_or_default();
                // The largest counts are counted further.
                let is_sound = fault.is_empty() || fault.contains("more than can have been counted");
                assert!(is_sound, "{} from {damaged}: {fault}", trial.name());
            }
        });
    }
    assert!(refused > 1000 && accepted > 1000, "{refused} refused, {accepted} accepted");
}

/// Counts of any size up to the largest that is accepted, in place of those of a fresh policy; none
/// if it keeps no counts.
fn extreme(fresh: &Value, rng: &mut impl rand::Rng) -> Option<Value> {
    let mut saved = fresh.clone();
    let state = &mut saved["state"];
    if let Some(products) = state.get_mut("products") {
        let cells = products["plays"].as_array()?.len();
        let n_columns = products["columns"].as_array()?.len();
        // Sums of rows and columns may be as large as 2^50.
        let sizes = [0, 1, 2, 1000, 1_000_000, (1_u64 << 50) / cells.max(1 << 10) as u64];
        let plays: Vec<u64> = (0..cells).map(|_| sizes[rng.random_range(0..sizes.len())]).collect();
        let rows = plays.chunks(n_columns).map(|row| row.iter().sum());
        let columns = (0..n_columns).map(|column| plays.iter().skip(column).step_by(n_columns).sum());
        let mut share = |plays: u64| [0, plays, plays / 2, plays.min(1)][rng.random_range(0..4)];
        products["row_clicks"] = rows.map(&mut share).collect();
        products["column_clicks"] = columns.map(&mut share).collect();
        products["plays"] = plays.into();
        return Some(saved);
    }
    let inside = ["counts", "run"].into_iter().find(|name| state.get(name).is_some());
    let table = if let Some(name) = inside { &mut state[name] } else { state };
    let sizes = [0, 1, 2, 1000, 1_000_000, 1_000_000_000, 1 << 40];
    if let Some(pairs) = table.get_mut("wins").and_then(Value::as_array_mut) {
        pairs.fill_with(|| sizes[rng.random_range(0..sizes.len())].into());
        return Some(saved);
    }
    let cells = table["clicks"].as_array()?.len();
    let shows: Vec<u64> = (0..cells).map(|_| sizes[rng.random_range(0..sizes.len())]).collect();
    let share = |&shows: &u64| match rng.random_range(0..5) {
        0 => 0,
        1 => shows,
        2 => shows / 2,
        3 => shows.min(1),
        _ => shows - shows.min(1),
    };
    table["clicks"] = shows.iter().map(share).collect();
    let displays = ["pulls", "observations"].into_iter().find(|name| table.get(name).is_some());
    table[displays.unwrap_or("shows")] = shows.into();
    if let Some(rounds) = table.get_mut("rounds") {
        *rounds = (1_u64 << 40).into();
    }
    Some(saved)
}

/// Policies for lists, whose tables have the same names.
#[test]
fn extreme_counts_are_played_with() {
    let mut without = BTreeSet::new();
    for trial in trials(Users::of_lists(), Extent::Variants, 1500) {
        let (fresh, mut rng) = (trial.saved(), generator(4));
        for _ in 0..40 {
            let Some(extreme) = extreme(&fresh, &mut rng) else {
                without.insert(fresh["policy"].as_str().expect("a name").to_owned());
                break;
            };
            let mut extreme = trial.restored(extreme).expect("counts like these are accepted");
            for _ in 0..25 {
                extreme.round();
                assert!(extreme.is_admitted(), "{}", trial.name());
            }
        }
    }
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    let of_contexts = ["c3-ucb", "cascade-lin-ts", "cascade-lin-ucb", "hybrid-ts", "segmented"];
    assert_eq!(without, [&of_contexts[..], &["uniform"]].concat());
}
