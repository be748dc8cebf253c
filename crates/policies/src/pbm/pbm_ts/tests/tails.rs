//! Thinning of the exact posterior: its upper tails, and the distribution of the lists.

use super::*;
use crate::sampling::thinning::tests::law::{every_item, half_short, thinned};
use crate::sampling::thinning::{Posteriors, Threshold};
use crate::sampling::thompson::PosteriorsOf as _;

const CANDIDATES: u32 = 15_000;

fn items_of(examination: &[f64], shows: &[u64], clicks: &[u64]) -> Items {
    let counts = json!({ "examination": examination, "rounds": 0, "shows": shows, "clicks": clicks });
    Items::of(&serde_json::from_value(counts).expect("valid counts"), Prior::UNIFORM, true)
}

impl Table {
    /// This item as the first one of as many as a list needs.
    fn items(&self) -> Items {
        let positions = self.examination.len();
        let mut shows = vec![0; positions * positions];
        let mut clicks = shows.clone();
        shows[..positions].copy_from_slice(&self.shows);
        clicks[..positions].copy_from_slice(&self.clicks);
        items_of(&self.examination, &shows, &clicks)
    }
}

/// The value that a draw exceeds with this probability.
fn upper_quantile(exact: &Distribution, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if 1.0 - exact.at(middle) > probability { low = middle } else { high = middle }
    }
    low
}

/// Candidates exceed the threshold with the probability that they should, within five standard
/// deviations, and are distributed as the upper tail by the Kolmogorov-Smirnov test of the module
/// above. Without the second event, the share is too large in most of the tables where it matters.
#[test]
fn candidates_have_the_law_of_the_upper_tail() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
    let (mut compared, mut seen_without) = (0, 0);
    for (name, table, _) in tables() {
        let (exact, items) = (table.distribution(), table.items());
        for probability in [0.2, 0.03] {
            let threshold = Threshold::near(upper_quantile(&exact, probability));
            let above = 1.0 - exact.at(threshold.value);
            let bound = items.bound(0, &threshold);
            assert!(bound.is_nan() || bound >= above * (1.0 - 1e-3), "{name}: {bound} for {above}");
            // Drawn in full; or the threshold is beyond its range.
            if bound > 0.35 || bound.is_nan() || above < 0.1 * probability {
                continue;
            }
            compared += 1;
            let candidates = (0..CANDIDATES).filter_map(|_| items.draw_above(0, &threshold, 0.0, &mut rng));
            let draws: Vec<f64> = candidates.collect();
            let (share, expected) = (draws.len() as f64 / f64::from(CANDIDATES), (above / bound).min(1.0));
            let tolerance = 5.0 * (expected * (1.0 - expected) / f64::from(CANDIDATES)).sqrt() + 1e-3;
            assert!((share - expected).abs() <= tolerance, "{name}: {share} of {expected}");
            let at = exact.at(threshold.value);
            let mut sorted = draws;
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len() as f64;
            // At every fifth of the draws.
            let distances = sorted.iter().enumerate().step_by(5).map(|(rank, &draw)| {
                let tail = ((exact.at(draw) - at) / above).clamp(0.0, 1.0);
                (tail - (rank + 1) as f64 / n).abs()
            });
            let found = distances.fold(0.0, f64::max);
            assert!(found <= (libm::log(2e6) / (2.0 * n)).sqrt() + 1e-3, "{name}: {found}");

            let failures = items.failures.chunks(table.examination.len()).next().expect("the first item");
            let proposals = (0..CANDIDATES).filter_map(|_| {
                items.tails[0].propose(&threshold, failures, &items.examination, 0.0, &mut rng)
            });
            let share = proposals.count() as f64 / f64::from(CANDIDATES);
            seen_without += u32::from((share - expected).abs() > tolerance);
        }
    }
    println!("compared {compared}, without the second event {seen_without} are rejected");
    assert!(compared >= 50 && seen_without >= 30, "{compared}, {seen_without}");
}

/// Clicks and failures of an item at a position.
type Count = fn(usize, usize) -> (u64, u64);

/// At fixed counts of 200 items, from fresh ones to tens of thousands of rounds.
#[test]
fn thinned_rounds_have_the_law_of_plain_ones() {
    let examination = [0.9, 0.6, 0.3, 0.8];
    let catalogues: [(&str, Count); 6] = [
        ("no rounds", |_, _| (0, 0)),
        ("no clicks", |item, position| (0, ((item + position) % 5) as u64)),
        ("clicks only", |item, position| (((item + position) % 3) as u64, 0)),
        ("few rounds", |item, position| {
            (u64::from((item + position) % 9 == 0), ((item * position) % 7) as u64)
        }),
        ("leaders", |item, position| {
            if item % 40 == 0 { (3000 + item as u64, 9000 - 1000 * position as u64) } else { (1, 9) }
        }),
        ("tens of thousands of rounds", |item, position| {
            (2_000 + 3 * item as u64, 11_000 + 2_000 * position as u64)
        }),
    ];
    for (name, count) in catalogues {
        let cells = (0..200).flat_map(|item| (0..4).map(move |position| (item, position)));
        let counts: Vec<(u64, u64)> = cells.map(|(item, position)| count(item, position)).collect();
        let clicks: Vec<u64> = counts.iter().map(|&(clicks, _)| clicks).collect();
        let shows: Vec<u64> = counts.iter().map(|&(clicks, failures)| clicks + failures).collect();
        let items = items_of(&examination, &shows, &clicks);
        let [expected] = every_item(&items, [4]);
        let mut moves = vec![-1.0, 0.0, half_short(&items, 4)];
        // No draw is above, and all are drawn as plain ones are.
        moves.extend(["no rounds", "clicks only"].contains(&name).then_some(30.0));
        for moved in moves {
            let (seen, share) = thinned(&items, 4, moved);
            let p = expected.compare(&seen);
            println!("{name}, moved by {moved}: short {share}, p {p:e}");
            assert!(p > 1e-6, "{name}, moved by {moved}: {p:e}");
        }
    }
}
