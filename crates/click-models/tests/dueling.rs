//! Preference matrices compared with enumeration, and the behaviour of dueling users.

use crate::support::{assert_close, cases, number, numbers};
use click_models::dueling::Benchmark;
use click_models::preferences::SKEW_TOLERANCE;
use click_models::{ClickModel, DuelingModel, Error, ItemId, Pair, PreferenceMatrix, bounds};
use quickcheck::{Arbitrary, Gen, quickcheck};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// At most seven items, with many ties and many equal preferences.
#[derive(Debug, Clone)]
struct Small(PreferenceMatrix);

impl Arbitrary for Small {
    fn arbitrary(g: &mut Gen) -> Self {
        let n_items = 2 + usize::from(u8::arbitrary(g) % 6);
        let even = bool::arbitrary(g);
        Self(matrix(n_items, |_, _| {
            let twelfths = f64::from(u8::arbitrary(g) % 12);
            if even { twelfths / 11.0 } else { (twelfths - twelfths % 4.0) / 12.0 }
        }))
    }
}

fn matrix(n_items: usize, mut chance: impl FnMut(usize, usize) -> f64) -> PreferenceMatrix {
    let mut rows = vec![vec![0.5; n_items]; n_items];
    for (i, j) in (0..n_items).flat_map(|i| (i + 1..n_items).map(move |j| (i, j))) {
        rows[i][j] = chance(i, j);
        rows[j][i] = 1.0 - rows[i][j];
    }
    PreferenceMatrix::new(&rows).expect("valid")
}

fn items(numbers: &[u32]) -> Vec<ItemId> {
    numbers.iter().copied().map(ItemId::new).collect()
}

/// Every subset of this number of the items.
fn subsets(matrix: &PreferenceMatrix, size: usize) -> Vec<Vec<ItemId>> {
    let all: Vec<ItemId> = matrix.shape().items().collect();
    let chosen = |bits: u32| all.iter().copied().filter(move |item| bits >> item.index() & 1 == 1).collect();
    (0..1_u32 << all.len()).filter(|bits| bits.count_ones() as usize == size).map(chosen).collect()
}

/// Every order of the items.
fn orders(items: &[ItemId]) -> Vec<Vec<ItemId>> {
    if items.is_empty() {
        return vec![vec![]];
    }
    let first = |place: usize| {
        let mut rest = items.to_vec();
        let first = rest.remove(place);
        orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
    };
    (0..items.len()).flat_map(first).collect()
}

quickcheck! {
    fn winners_match_their_definitions(small: Small) -> bool {
        let Small(matrix) = small;
        let all: Vec<ItemId> = matrix.shape().items().collect();
        let p = |i: ItemId, j: ItemId| matrix.probability(i, j).get();
        let condorcet: Vec<ItemId> = all.iter().copied().filter(|&i| all.iter().all(|&j| i == j || p(i, j) > 0.5)).collect();
        let copeland = |i: ItemId| all.iter().filter(|&&j| p(i, j) > 0.5).count();
        let most = all.iter().map(|&i| copeland(i)).max();
        let borda = |i: ItemId| all.iter().filter(|&&j| j != i).map(|&j| p(i, j)).sum::<f64>() / (all.len() - 1) as f64;
        let largest = all.iter().map(|&i| borda(i)).fold(0.0, f64::max);
        matrix.condorcet_winner().into_iter().collect::<Vec<_>>() == condorcet
            && matrix.copeland_winners() == all.iter().copied().filter(|&i| Some(copeland(i)) == most).collect::<Vec<_>>()
            && matrix.borda_winners() == all.iter().copied().filter(|&i| borda(i) > largest - 1e-9).collect::<Vec<_>>()
            && all.iter().all(|&i| (matrix.borda_score(i) - borda(i)).abs() < 1e-14)
    }

    fn the_lottery_is_unbeaten(small: Small) -> bool {
        let Small(matrix) = small;
        is_unbeaten(&matrix, &matrix.von_neumann_winner())
    }

    fn order_and_cycles_match_their_definitions(small: Small) -> bool {
        let Small(matrix) = small;
        let all: Vec<ItemId> = matrix.shape().items().collect();
        let beats_later = |order: &Vec<ItemId>| (0..order.len()).all(|at| order[at + 1..].iter().all(|&later| matrix.beats(order[at], later)));
        let order = orders(&all).into_iter().find(beats_later);
        let mut cycles = vec![];
        for &i in &all {
            for &j in &all {
                for &k in &all {
                    if i < j && i < k && matrix.beats(i, j) && matrix.beats(j, k) && matrix.beats(k, i) {
                        cycles.push([i, j, k]);
                    }
                }
            }
        }
        let transitive = order.as_ref().is_some_and(|order| {
            let e = |i: usize, j: usize| matrix.excess(order[i], order[j]);
            let n = order.len();
            (0..n).all(|i| (i + 1..n).all(|j| (j + 1..n).all(|k| e(i, k) >= e(i, j) && e(i, k) >= e(j, k))))
        });
        matrix.total_order() == order
            && matrix.three_cycles().collect::<Vec<_>>() == cycles
            && matrix.is_strongly_transitive() == transitive
    }

    /// `gamma` suffices, and a slightly smaller number does not.
    fn gamma_is_the_smallest(small: Small) -> bool {
        let Small(matrix) = small;
        let (Some(winner), Some(gamma)) = (matrix.condorcet_winner(), matrix.gamma()) else {
            return matrix.condorcet_winner().is_none() && matrix.gamma().is_none();
        };
        let enough = |gamma: f64| {
            let others: Vec<ItemId> = matrix.shape().items().filter(|&item| item != winner).collect();
            others.iter().all(|&j| others.iter().all(|&k| {
                let of_winner = |item| matrix.excess(winner, item);
                !matrix.beats(j, k) || gamma * of_winner(k) >= of_winner(j).max(matrix.excess(j, k))
            }))
        };
        gamma >= 1.0 && enough(gamma * (1.0 + 1e-12)) && (gamma == 1.0 || !enough(gamma * (1.0 - 1e-9)))
    }

    fn shares_of_subsets_match_enumeration(small: Small, seed: u64) -> bool {
        let Small(matrix) = small;
        let n_items = matrix.shape().n_items();
        (2..=n_items).all(|size| {
            let subsets = subsets(&matrix, size);
            let has_winner = |subset: &&Vec<ItemId>| matrix.restricted_to(subset).is_ok_and(|some| some.condorcet_winner().is_some());
            let share = subsets.iter().filter(has_winner).count() as f64 / subsets.len() as f64;
            let drawn = matrix.random_items(size, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            drawn.is_ok_and(|drawn| subsets.contains(&drawn))
                && matrix.condorcet_share(size).is_ok_and(|found| (found - share).abs() < 1e-14)
        })
    }

    fn a_saved_matrix_is_the_same(small: Small) -> bool {
        let Small(matrix) = small;
        let users = DuelingModel::new(matrix.clone());
        let saved = serde_json::to_string(&users).expect("saved");
        let lines: Vec<String> = matrix
            .shape()
            .items()
            .map(|item| matrix.row(item).iter().map(|entry| entry.get().to_string()).collect::<Vec<_>>().join(", "))
            .collect();
        serde_json::from_str::<DuelingModel>(&saved).expect("restored") == users
            && PreferenceMatrix::parse(&lines.join("\n"), "lines") == Ok(matrix)
    }
}

/// Remark 4: `2 D^2 <= d(1/2 + D, 1/2) <= 4 D^2`, so a bound of KL-UCB gains a factor of 2 at most
/// in the constant before `ln t`; in fact less than 1.4.
#[test]
fn divergences_from_one_half_satisfy_remark_4() {
    for step in 1..=1000 {
        let gap = f64::from(step) / 2000.0;
        for chance in [0.5 + gap, 0.5 - gap] {
            let nats = confidence::bernoulli_kl(chance, 0.5);
            let squared = gap * gap;
            assert!(2.0 * squared <= nats * (1.0 + 1e-9) && nats <= 4.0 * squared, "{gap}");
            // The largest ratio, ln 2 / (1/4) / 2, at a certain preference.
            assert!(nats <= 2.0 * squared * 2.0 * std::f64::consts::LN_2 * (1.0 + 1e-9), "{gap}");
        }
    }
    // Both bounds are needed: 2 near a tie, more than 2.7 at a certain preference.
    let ratio = |gap: f64| confidence::bernoulli_kl(0.5 + gap, 0.5) / (gap * gap);
    assert!(ratio(0.01) < 2.01 && ratio(0.5) > 2.7);
}

fn is_unbeaten(matrix: &PreferenceMatrix, lottery: &[f64]) -> bool {
    let all = || matrix.shape().items();
    let against = |j: ItemId| all().map(|i| lottery[i.index()] * matrix.excess(i, j)).sum::<f64>();
    lottery.iter().all(|&share| share >= 0.0)
        && (lottery.iter().sum::<f64>() - 1.0).abs() < 1e-12
        && all().all(|j| against(j) > -1e-10)
}

#[test]
fn lotteries_of_larger_matrices_are_unbeaten() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for n_items in [20, 60, 140] {
        // Without a Condorcet winner, so that the shortcut does not apply.
        let random = matrix(n_items, |_, _| rng.random());
        assert!(random.condorcet_winner().is_none());
        let lottery = random.von_neumann_winner();
        assert!(is_unbeaten(&random, &lottery));
        // A uniform lottery is beaten, so the test can fail.
        assert!(!is_unbeaten(&random, &vec![1.0 / n_items as f64; n_items]));
        // Every pair decided, and by the same margin, ties of the ratio test in each pivot.
        let coins = matrix(n_items, |_, _| f64::from(u8::from(rng.random::<bool>())));
        assert!(coins.condorcet_winner().is_some() || is_unbeaten(&coins, &coins.von_neumann_winner()));
    }
    assert!(is_unbeaten(&matrix(30, |_, _| 0.5), &matrix(30, |_, _| 0.5).von_neumann_winner()));
}

/// Rock, paper, scissors with unequal margins: the probability of each is proportional to the
/// margin of the duel between the other two.
#[test]
fn lottery_of_a_three_cycle_has_the_closed_form() {
    let three = PreferenceMatrix::parse("0.5 0.6 0.2\n0.4 0.5 0.7\n0.8 0.3 0.5", "three").expect("valid");
    let wanted = [0.2 / 0.6, 0.3 / 0.6, 0.1 / 0.6];
    for (found, wanted) in three.von_neumann_winner().iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-14);
    }
    assert_eq!(three.copeland_winners(), items(&[0, 1, 2]));
    // (.6 + .2) / 2, (.4 + .7) / 2, (.8 + .3) / 2
    assert_eq!(three.borda_winners(), items(&[1, 2]));
}

/// The paper's number of subsets whose Condorcet winner is `r`, `C(N_r, K)`, is wrong: for the best
/// item and three items that it beats, it gives 1 for K = 3 instead of 3.
#[test]
fn the_printed_number_of_subsets_is_wrong() {
    let four =
        PreferenceMatrix::parse(".5 .6 .6 .6\n.4 .5 .9 .1\n.4 .1 .5 .9\n.4 .9 .1 .5", "four").expect("valid");
    assert_eq!(subsets(&four, 3).len(), 4);
    assert!((four.condorcet_share(3).expect("a size") - 0.75).abs() < 1e-15);
    assert_eq!(four.condorcet_share(1), Ok(1.0));
    assert_eq!(four.condorcet_share(4), Ok(1.0));
    for size in [0, 5] {
        let wrong = Err(Error::NotASubsetSize { size, n_items: 4 });
        assert_eq!(four.condorcet_share(size), wrong);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert_eq!(four.random_items(size, &mut rng).map(|_| 0.0), wrong);
        assert_eq!(four.count_total_orders(size, 10, &mut rng).map(|_| 0.0), wrong);
    }
}

/// The share of 100,000 subsets with a total order matches enumeration within 4.9 standard
/// deviations (false alarm 1e-6). A sampler that never draws the last item fails.
#[test]
fn sampled_total_orders_are_as_frequent_as_enumerated() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let twelve = matrix(12, |i, j| {
        if rng.random::<f64>() < 0.1 + 0.2 * f64::from(u8::from(j == 11)) || i == j { 0.3 } else { 0.7 }
    });
    let eleven = twelve.restricted_to(&twelve.shape().items().take(11).collect::<Vec<_>>()).expect("items");
    let exact = |matrix: &PreferenceMatrix| {
        let subsets = subsets(matrix, 4);
        let in_order = |subset: &&Vec<ItemId>| {
            matrix.restricted_to(subset).is_ok_and(|some| some.total_order().is_some())
        };
        subsets.iter().filter(in_order).count() as f64 / subsets.len() as f64
    };
    let share = exact(&twelve);
    let score = |matrix: &PreferenceMatrix, rng: &mut Xoshiro256PlusPlus| {
        let found = matrix.count_total_orders(4, 100_000, rng).expect("a size") as f64;
        (found - 100_000.0 * share) / (100_000.0 * share * (1.0 - share)).sqrt()
    };
    assert!(score(&twelve, &mut rng).abs() < 4.9);
    assert!(score(&eleven, &mut rng).abs() > 10.0);
    // More items than bits in a word.
    assert_eq!(matrix(130, |_, _| 0.9).count_total_orders(70, 50, &mut rng), Ok(50));
}

#[test]
fn subsets_are_renumbered() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let ten = matrix(10, |_, _| rng.random());
    let chosen = items(&[7, 2, 9]);
    let some = ten.restricted_to(&chosen).expect("items");
    for (i, &item) in chosen.iter().enumerate() {
        for (j, &other) in chosen.iter().enumerate() {
            assert_eq!(
                some.probability(ItemId::from_index(i), ItemId::from_index(j)),
                ten.probability(item, other)
            );
        }
    }
    assert_eq!(ten.restricted_to(&items(&[1, 2, 1])), Err(Error::NotInASubset(1)));
    assert_eq!(ten.restricted_to(&items(&[1, 10])), Err(Error::NotInASubset(10)));
    assert_eq!(ten.restricted_to(&items(&[1])), Err(Error::TooFewToCompare(1)));
    // Each of 120 subsets of 3 in 120,000: standard deviation 31.5, all within 190 of 1,000, with a
    // false alarm of about 1e-6.
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..120_000 {
        *counts.entry(ten.random_items(3, &mut rng).expect("a size")).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 120);
    assert!(counts.values().all(|count| count.abs_diff(1000) < 190));
}

#[test]
fn bad_matrices_are_refused() {
    let new = |rows: &[&[f64]]| {
        PreferenceMatrix::new(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).map(|_| ())
    };
    assert_eq!(new(&[]), Err(Error::TooFewToCompare(0)));
    assert_eq!(new(&[&[0.5]]), Err(Error::TooFewToCompare(1)));
    assert_eq!(new(&[&[0.5, 0.6], &[0.4]]), Err(Error::NotSquare { row: 1, found: 1, expected: 2 }));
    assert!(matches!(
        new(&[&[0.5, f64::NAN], &[0.4, 0.5]]),
        Err(Error::NotAPreference { row: 0, column: 1, .. })
    ));
    assert!(matches!(
        new(&[&[0.5, 0.6], &[-0.4, 0.5]]),
        Err(Error::NotAPreference { row: 1, column: 0, .. })
    ));
    assert_eq!(new(&[&[0.5, 0.6], &[0.4, 0.6]]), Err(Error::DiagonalNotHalf { item: 1, value: 0.6 }));
    assert_eq!(
        new(&[&[0.5, 0.6], &[0.5, 0.5]]),
        Err(Error::NotSkew { row: 1, column: 0, value: 0.5, mirrored: 0.6 })
    );
    assert!(new(&[&[0.5, 0.6], &[0.4 + 0.9 * SKEW_TOLERANCE, 0.5]]).is_ok());
    assert!(new(&[&[0.5, 0.6], &[0.4 + 1.1 * SKEW_TOLERANCE, 0.5]]).is_err());
    assert!(serde_json::from_str::<PreferenceMatrix>("[[0.5, 0.6], [0.6, 0.5]]").is_err());
}

/// Opposite entries with rounding errors: both orders of a duel have the same distribution, and at
/// most one item beats the other.
#[test]
fn entries_rounded_apart_are_a_tie() {
    let rounded =
        PreferenceMatrix::parse("0.5 0.500004\n0.500002 0.5", "rounded").expect("within the tolerance");
    let [first, second] = [0, 1].map(ItemId::new);
    assert_eq!(rounded.excess(first, second), -rounded.excess(second, first));
    assert!(rounded.beats(first, second) && !rounded.beats(second, first));
    assert!((rounded.excess(first, second) - 1e-6).abs() < 1e-15);
    assert_eq!(rounded.probability(second, first).get(), 0.500_002);
}

#[test]
fn text_with_any_separator_is_parsed() {
    let wanted = PreferenceMatrix::new(&[vec![0.5, 0.25], vec![0.75, 0.5]]).expect("valid");
    for text in [
        "0.5,0.25\n0.75,0.5\n",
        "0.5;0.25\r\n0.75;0.5\r\n",
        "\u{feff}0.5, 0.25\n\n0.75 ,0.5",
        "  .5\t\t25e-2  \n# a remark\n.75   .5 # and another\n\n",
    ] {
        assert_eq!(PreferenceMatrix::parse(text, "text").as_ref(), Ok(&wanted), "{text:?}");
    }
}

#[test]
fn errors_point_to_the_faulty_text() {
    for (text, wanted) in [
        ("", "f:1:1: no row: expected a preference matrix, one line per row"),
        ("# nothing\n", "f:1:1: no row: expected a preference matrix, one line per row"),
        ("0.5", "f:1:1: 1 to compare: at least 2 are needed"),
        ("0.5,x\n0.4,0.5", "f:1:5: `x` is not a number"),
        ("0.5  é0\n0.4 0.5", "f:1:6: `é0` is not a number"),
        ("0.5,0.6,\n0.4,0.5", "f:1:9: expected a number before this separator or the end of the line"),
        ("0.5,,0.6\n0.4,0.5", "f:1:5: expected a number before this separator or the end of the line"),
        ("0.5 0.6\n0.4", "f:2:4: 1 entries in this row, 2 in the first: a preference matrix is square"),
        (
            "0.5 0.6\n0.4 0.5  0.1",
            "f:2:10: 3 entries in this row, 2 in the first: a preference matrix is square",
        ),
        ("0.5 0.6 0.7\n\n0.4 0.5 0.6", "f:3:1: 2 rows of 3 entries: a preference matrix is square"),
        ("0.5 0.6\n0.4 0.5\n0.4 0.5", "f:3:1: 3 rows of 2 entries: a preference matrix is square"),
        ("0.5 NaN\n0.4 0.5", "f:1:5: NaN is not a probability: expected a number from 0 to 1"),
        ("0.5 0.6\n# .\n 0.4  1.5", "f:3:7: 1.5 is not a probability: expected a number from 0 to 1"),
        ("0.5 0.6\n0.4 0.6", "f:2:5: 0.6 on the diagonal: expected 1/2, an item compared with itself"),
        ("0.5,0.6\n 0.5,0.5", "f:2:2: 0.5 here and 0.6 the other way round do not add up to 1"),
    ] {
        let error = PreferenceMatrix::parse(text, "f").expect_err(text);
        assert_eq!(error.to_string(), wanted);
        assert_eq!(error.file, "f");
    }
}

quickcheck! {
    /// Text of the characters of matrices, and any text: it gives a matrix, or an error that points
    /// into the text.
    fn any_text_is_a_matrix_or_an_error(letters: Vec<u8>, any: String) -> bool {
        const LETTERS: [&str; 16] =
            ["0", ".5", "0.5", "1", ",", ",", ";", " ", " ", "\t", "\n", "\n", "#", "-", "e3", "é"];
        let written: String = letters.iter().map(|letter| LETTERS[usize::from(letter % 16)]).collect();
        [written, any].iter().all(|text| match PreferenceMatrix::parse(text, "any") {
            Ok(matrix) => matrix.shape().n_items() >= 2,
            Err(error) => {
                let length = text.lines().nth(error.line - 1).map_or(0, |line| line.chars().count());
                (1..=length + 1).contains(&error.column)
            }
        })
    }
}

/// In 200,000 duels of every pair, the share of wins of the first item matches the matrix within
/// 4.9 standard deviations (false alarm 1e-6). Users who confuse first and second fail.
#[test]
fn users_prefer_with_the_probabilities_of_the_matrix() {
    let three = PreferenceMatrix::parse("0.5 0.6 1\n0.4 0.5 0.05\n0 0.95 0.5", "three").expect("valid");
    let users = DuelingModel::new(three.clone());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let n = 200_000;
    for first in users.known().items() {
        for second in users.known().items() {
            let wins =
                (0..n).filter(|_| users.respond(&Pair::new(first, second), &mut rng).first_won()).count();
            let score =
                |p: f64| (wins as f64 - f64::from(n) * p) / (f64::from(n) * p * (1.0 - p)).sqrt().max(1e-9);
            assert!(score(three.probability(first, second).get()).abs() < 4.9);
            assert!(first == second || score(three.probability(second, first).get()).abs() > 10.0);
        }
    }
}

#[test]
fn regret_with_a_condorcet_winner_is_the_mean_gap() {
    let four = PreferenceMatrix::parse(".5 .4 .3 .9\n.6 .5 .75 .625\n.7 .25 .5 .5\n.1 .375 .5 .5", "four")
        .expect("valid");
    let users = DuelingModel::new(four);
    let [first, best, third, last] = [0, 1, 2, 3].map(ItemId::new);
    assert_eq!(users.benchmark(), Benchmark::Condorcet(best));
    assert_eq!(users.optimal_action(), Pair::of_one(best));
    assert_eq!((users.optimal_reward(), users.gap(&Pair::of_one(best))), (0.5, 0.0));
    assert_eq!(users.gap(&Pair::new(third, last)), 0.1875);
    assert_eq!(users.gap(&Pair::new(last, third)), 0.1875);
    assert_eq!(users.expected_reward(&Pair::new(best, last)), 0.4375);
    assert!((users.gap(&Pair::new(first, best)) - 0.05).abs() < 1e-15);
    assert!(!users.admits(&Pair::new(first, ItemId::new(4))));
    assert_eq!(users.expected_clicks(&Pair::new(first, last)), 1.0);
}

/// The items beat shares 2/3, 1/3, 2/3 and 0 of the other items.
#[test]
fn regret_without_a_condorcet_winner_is_copeland_regret() {
    let four =
        PreferenceMatrix::parse(".5 .4 .6 .9\n.6 .5 .3 .5\n.4 .7 .5 .6\n.1 .5 .4 .5", "four").expect("valid");
    let users = DuelingModel::new(four);
    assert_eq!(users.benchmark(), Benchmark::Copeland(ItemId::new(0)));
    let pair = |first: u32, second: u32| Pair::new(ItemId::new(first), ItemId::new(second));
    assert_eq!(users.optimal_reward(), 2.0 / 3.0);
    assert_eq!((users.gap(&pair(0, 2)), users.gap(&pair(2, 2))), (0.0, 0.0));
    assert_eq!((users.gap(&pair(1, 2)), users.gap(&pair(3, 3))), (1.0 / 6.0, 2.0 / 3.0));
    assert_eq!(users.optimal_action(), pair(0, 0));
}

/// Theorems 2 and 3 against reference values with at least 60 digits.
#[test]
fn rucb_bounds_match_the_reference_values() {
    for case in cases("rucb_bounds.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let rows: Vec<Vec<f64>> = serde_json::from_value(input["P"].clone()).expect("numbers");
        let preferences = PreferenceMatrix::new(&rows).expect("valid");
        let (alpha, delta) = (number(&input["alpha"]), number(&input["delta"]));
        let t = input["t"].as_u64().expect("a count");
        let settled = bounds::rucb_settled_after(rows.len(), alpha, delta);
        assert_close(settled, number(&output["C_delta"]), 1e-12, "C(delta)");
        let users = DuelingModel::new(preferences.clone());
        for (&gap, wanted) in users.losses().iter().zip(numbers(&output["Delta"])) {
            assert!((gap - wanted).abs() <= 1e-15, "Delta: {gap} {wanted}");
        }
        let duels = bounds::rucb_duels(&preferences, alpha).expect("a winner");
        let wanted = output["D_ij"].as_array().expect("rows").iter().flat_map(numbers);
        for (duels, wanted) in duels.into_iter().zip(wanted) {
            assert_close(duels, wanted, 1e-12, "D_ij");
        }
        let coefficient = bounds::rucb_log_coefficient(&preferences, alpha);
        assert_close(coefficient, number(&output["log_coefficient"]), 1e-12, "coefficient of ln t");
        let bound = bounds::rucb_high_probability_bound(&preferences, alpha, delta, t);
        assert_close(bound, number(&output["theorem2"]), 1e-12, "Theorem 2");
        let mean = bounds::rucb_expected_bound(&preferences, alpha, t);
        if alpha > 1.0 {
            assert_close(mean, number(&output["theorem3"]), 1e-12, "Theorem 3");
        } else {
            assert!(output["theorem3"].is_null() && mean == f64::INFINITY);
        }
    }
}

/// Item 2 nearly always loses to item 1, and barely loses to the best item: comparing it with item
/// 1 is the cheaper way to rule it out.
#[test]
fn lower_bound_uses_the_cheapest_opponent() {
    let three = PreferenceMatrix::parse("0.5 0.6 0.51\n0.4 0.5 0.99\n0.49 0.01 0.5", "three").expect("valid");
    let d = |p: f64| confidence::bernoulli_kl(p, 0.5);
    let wanted = 0.05 / d(0.4) + 0.055 / d(0.01);
    assert_close(bounds::dueling_lower_bound(&three), wanted, 1e-12, "the lower bound");
    // Compared with the best item only, which takes 25 duels for each duel with item 1.
    assert!(0.005 / d(0.49) > 0.055 / d(0.01));
    // Theorem 2 of RUCB is above it.
    assert!(bounds::rucb_log_coefficient(&three, 0.51) > wanted);
}

#[test]
fn bounds_without_a_winner_or_rounds_are_nan() {
    let circle = PreferenceMatrix::parse("0.5 0.6 0.4\n0.4 0.5 0.6\n0.6 0.4 0.5", "circle").expect("valid");
    assert!(bounds::dueling_lower_bound(&circle).is_nan());
    assert!(bounds::rucb_duels(&circle, 0.51).is_none());
    assert!(bounds::rucb_log_coefficient(&circle, 0.51).is_nan());
    assert!(bounds::rucb_high_probability_bound(&circle, 0.51, 0.1, 10).is_nan());
    assert!(bounds::rucb_expected_bound(&circle, 2.0, 10).is_nan());
    let two = PreferenceMatrix::parse("0.5 1\n0 0.5", "two").expect("valid");
    // Regret 1/2, at ln 2 nats per duel.
    assert_close(bounds::dueling_lower_bound(&two), 0.25 / std::f64::consts::LN_2, 1e-15, "certain");
    for (alpha, delta, rounds) in [
        (0.5, 0.1, 10),
        (f64::NAN, 0.1, 10),
        (f64::INFINITY, 0.1, 10),
        (0.51, 0.0, 10),
        (0.51, f64::NAN, 10),
        (0.51, 0.1, 0),
    ] {
        assert!(bounds::rucb_high_probability_bound(&two, alpha, delta, rounds).is_nan());
    }
    assert!(bounds::rucb_expected_bound(&two, 0.4, 10).is_nan());
}

/// A text that is no matrix takes no more memory than a matrix, and errors keep their places.
#[test]
fn texts_that_are_no_matrices_are_refused_with_their_place() {
    let refused = |text: &str| PreferenceMatrix::parse(text, "m").expect_err("no matrix").to_string();
    let wide = "0.5,".repeat(70_000) + "0.5";
    assert!(refused(&wide).starts_with("m:1:1: ") && refused(&wide).contains("70001"), "{}", refused(&wide));
    let long = "0.5,0.5\n".repeat(70_000);
    assert_eq!(refused(&long), "m:3:1: 70000 rows of 2 entries: a preference matrix is square");
    let wrong = "# two\n\n0.5,0.6\n  0.3, 0.5 # not skew\n";
    assert_eq!(refused(wrong), "m:4:3: 0.3 here and 0.6 the other way round do not add up to 1");
    assert_eq!(
        refused("0.5 0.6\n0.4 0.5 0.1\n"),
        "m:2:9: 3 entries in this row, 2 in the first: a preference matrix is square"
    );
}
