//! The lower bound on Copeland regret: values of the paper's matrices, and the linear program over
//! all matrices that a policy must rule out.

use crate::support::assert_close;
use crate::support::simplex::covering_program;
use click_models::bounds::{COPELAND_LOWER_BOUND_MOST_ITEMS, copeland_lower_bound};
use click_models::{ItemId, PreferenceMatrix};
use confidence::bernoulli_kl;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The matrix with these entries right of the diagonal.
fn matrix(upper: &[&[f64]]) -> PreferenceMatrix {
    let n_items = upper.len() + 1;
    let mut rows = vec![vec![0.5; n_items]; n_items];
    for (i, row) in upper.iter().enumerate() {
        for (place, &entry) in row.iter().enumerate() {
            rows[i][i + 1 + place] = entry;
            rows[i + 1 + place][i] = 1.0 - entry;
        }
    }
    PreferenceMatrix::new(&rows).unwrap()
}

/// Matrices of the paper's Tables 2 and 3. Its Table 4 prints the first value as 27.5; all values
/// are those of another program, which cuts off what violates a constraint.
#[test]
fn matrices_of_the_paper_have_known_bounds() {
    let cases: [(&[&[f64]], f64); 5] = [
        (&[&[0.6, 0.6, 0.6], &[0.9, 0.1], &[0.9]], 27.549),
        (&[&[0.8, 0.8, 0.51, 0.2], &[0.8, 0.2, 0.8], &[0.8, 0.8], &[0.2]], 11.025),
        (&[&[0.2, 0.8, 0.8, 0.8], &[0.2, 0.8, 0.8], &[0.8, 0.8], &[0.6]], 3.243),
        (&[&[0.535, 0.613, 0.757, 0.765], &[0.580, 0.727, 0.738], &[0.659, 0.669], &[0.510]], 66.769),
        (&[&[0.484, 0.519, 0.529, 0.518], &[0.481, 0.530, 0.539], &[0.504, 0.512], &[0.503]], 261.954),
    ];
    for (upper, expected) in cases {
        let bound = copeland_lower_bound(&matrix(upper));
        assert!((bound - expected).abs() < 6e-4, "{bound} and {expected}");
    }
}

/// The least cost of ruling out every choice of who wins which duel that would take the title from
/// this winner: the duels that come out differently have to tell one nat. Enumerates all `2^P`
/// choices for P pairs.
fn program(preferences: &PreferenceMatrix, winner: ItemId) -> f64 {
    let items: Vec<ItemId> = preferences.shape().items().collect();
    let pairs: Vec<(usize, usize)> = (0..items.len()).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let takes_the_title = |flipped: u32| {
        let mut beaten = vec![0; items.len()];
        for (number, &(i, j)) in pairs.iter().enumerate() {
            let is_flipped = flipped >> number & 1 == 1;
            beaten[if preferences.beats(items[i], items[j]) == is_flipped { j } else { i }] += 1;
        }
        beaten.iter().max() > beaten.get(winner.index())
    };
    let mut choices: Vec<u32> = (0..1 << pairs.len()).filter(|&flipped| takes_the_title(flipped)).collect();
    // If a choice is ruled out, choices that flip more are ruled out as well.
    choices.sort_by_key(|flipped| flipped.count_ones());
    let mut smallest: Vec<u32> = Vec::new();
    for choice in choices {
        if !smallest.iter().any(|&small| small & !choice == 0) {
            smallest.push(choice);
        }
    }
    let most = items.iter().map(|&item| preferences.n_beaten(item)).max().unwrap();
    let cost = |&(i, j): &(usize, usize)| {
        let below = 2 * most - preferences.n_beaten(items[i]) - preferences.n_beaten(items[j]);
        let regret = below as f64 / (2 * (items.len() - 1)) as f64;
        regret / bernoulli_kl(preferences.probability(items[i], items[j]).get(), 0.5)
    };
    let has = |set: u32, number: usize| f64::from(set >> number & 1);
    let rows: Vec<Vec<f64>> =
        smallest.iter().map(|&set| (0..pairs.len()).map(|number| has(set, number)).collect()).collect();
    covering_program(&pairs.iter().map(cost).collect::<Vec<_>>(), &rows).0
}

/// A matrix without ties; hundredths, so that no divergence is tiny.
fn random(n_items: usize, rng: &mut Xoshiro256PlusPlus) -> PreferenceMatrix {
    let mut entry = || {
        f64::from(if rng.random() { rng.random_range(2..=48) } else { rng.random_range(52..=98_u32) }) / 100.0
    };
    let upper: Vec<Vec<f64>> = (1..n_items).map(|i| (i..n_items).map(|_| entry()).collect()).collect();
    matrix(&upper.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn the_bound_is_the_linear_program_over_all_choices() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut without_condorcet_winner = 0;
    for number in 0..150 {
        let preferences = random(3 + number % 3, &mut rng);
        without_condorcet_winner += u32::from(preferences.condorcet_winner().is_none());
        let of_winners =
            preferences.copeland_winners().into_iter().map(|winner| program(&preferences, winner));
        let expected = of_winners.fold(f64::INFINITY, f64::min);
        assert_close(copeland_lower_bound(&preferences), expected, 1e-9, &format!("{preferences:?}"));
    }
    assert!(without_condorcet_winner > 50, "{without_condorcet_winner}");
}

/// The bound does not depend on the numbers of the items, also with more items than can be
/// enumerated.
#[test]
fn the_order_of_items_does_not_count() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    for n_items in [6, 10, 16] {
        let preferences = random(n_items, &mut rng);
        let reversed: Vec<ItemId> = (0..n_items).rev().map(ItemId::from_index).collect();
        let bound = copeland_lower_bound(&preferences);
        assert!(bound > 0.0 && bound.is_finite());
        assert_close(
            copeland_lower_bound(&preferences.restricted_to(&reversed).unwrap()),
            bound,
            1e-8,
            "reversed",
        );
    }
}

#[test]
fn odd_matrices_have_the_documented_values() {
    // A circle of three: every item is a winner.
    assert_eq!(copeland_lower_bound(&matrix(&[&[0.9, 0.2], &[0.7]])), 0.0);
    // Two items: one pair, half of the regret of playing the loser alone.
    assert_close(
        copeland_lower_bound(&matrix(&[&[0.75]])),
        0.5 / bernoulli_kl(0.75, 0.5),
        1e-14,
        "two items",
    );
    // A certain duel.
    assert_close(copeland_lower_bound(&matrix(&[&[1.0]])), 0.5 / std::f64::consts::LN_2, 1e-14, "certain");
    // Ties, and too many items.
    assert!(copeland_lower_bound(&matrix(&[&[0.9, 0.5], &[0.7]])).is_nan());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    assert!(copeland_lower_bound(&random(COPELAND_LOWER_BOUND_MOST_ITEMS + 1, &mut rng)).is_nan());
}
