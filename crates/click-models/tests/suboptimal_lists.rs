//! Lemmas on lists with suboptimal items: PBM paper, Lemmas 15, 16 and 18, Fact 17 and Proposition
//! 14; RSF paper, Lemma 9.
//!
//! Items and positions are in decreasing order, so items `0..n_positions` are the best list.

#![expect(clippy::needless_pass_by_value, reason = "quickcheck hands a property its arguments by value")]

use crate::linear_program::Instance;
use crate::support::{all_lists, assert_close};
use click_models::{ClickModel, ItemId, PositionBased, RandomSemiBandit, Ranking};
use confidence::bernoulli_kl;
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// Rounding of a gap: the difference of two rewards below 5.
const ROUNDING: f64 = 1e-14;

/// The suboptimal items of a list and their positions.
fn suboptimal(list: &Ranking, n_positions: usize) -> impl Iterator<Item = (usize, usize)> {
    list.by_position()
        .map(|(position, item)| (position, item.index()))
        .filter(move |&(_, item)| item >= n_positions)
}

/// `v_{k,l}`: the best list with an item inserted.
fn inserted(item: usize, position: usize, n_positions: usize) -> Ranking {
    let mut items: Vec<usize> = (0..n_positions - 1).collect();
    items.insert(position, item);
    items.into_iter().map(ItemId::from_index).collect()
}

// --- RSF paper, Lemma 9
// -----------------------------------------------------------------------------------------------

/// A list loses at least the examination of its suboptimal items times their distance to the last
/// item of the best list.
#[test]
fn lemma_9_of_the_rsf_paper_bounds_the_gap_of_every_list() {
    fn property(Instance { theta, kappa }: Instance) {
        let (readers, viewers) = (
            RandomSemiBandit::from_values(&theta, &kappa).unwrap(),
            PositionBased::from_values(&theta, &kappa).unwrap(),
        );
        let n_positions = kappa.len();
        let last = theta[n_positions - 1];
        for list in all_lists(theta.len(), n_positions) {
            let least: f64 = suboptimal(&list, n_positions)
                .map(|(position, item)| kappa[position] * (last - theta[item]))
                .sum();
            assert!(readers.gap(&list) >= least - ROUNDING, "{list:?}: {} below {least}", readers.gap(&list));
            assert!((readers.gap(&list) - viewers.gap(&list)).abs() <= ROUNDING);
        }
        // Equality, where the printed proof says "more": one suboptimal item at the last position.
        for (item, attraction) in theta.iter().enumerate().skip(n_positions) {
            let gap = readers.gap(&inserted(item, n_positions - 1, n_positions));
            assert!((gap - kappa[n_positions - 1] * (last - attraction)).abs() <= ROUNDING);
        }
    }
    QuickCheck::new().tests(500).quickcheck(property as fn(Instance));
}

/// The distance to the item that would be shown there is too much to ask.
#[test]
fn lemma_9_with_the_distance_to_the_best_item_of_the_position_is_noticed() {
    let (theta, kappa) = ([0.9, 0.5, 0.4], [1.0, 0.5]);
    let users = RandomSemiBandit::from_values(&theta, &kappa).unwrap();
    let list = inserted(2, 0, 2);
    assert!(users.gap(&list) < kappa[0] * (theta[0] - theta[2]) - 0.1);
}

// --- PBM paper, Lemmas 15 and 16, Proposition 14
// ----------------------------------------------------------------------

/// The gap of a list is at least the sum of the gaps of the lists with one of its suboptimal items
/// each.
#[test]
fn lemma_16_holds_for_any_number_of_suboptimal_items() {
    fn property(Instance { theta, kappa }: Instance) {
        let users = PositionBased::from_values(&theta, &kappa).unwrap();
        let n_positions = kappa.len();
        for list in all_lists(theta.len(), n_positions) {
            let single = |(position, item)| users.gap(&inserted(item, position, n_positions));
            let sum: f64 = suboptimal(&list, n_positions).map(single).sum();
            assert!(users.gap(&list) >= sum - ROUNDING, "{list:?}: {} below {sum}", users.gap(&list));
        }
    }
    QuickCheck::new().tests(500).quickcheck(property as fn(Instance));
    // The printed inequality is strict, but a list with one suboptimal item is its own sum.
    let users = PositionBased::from_values(&[0.9, 0.5, 0.4], &[1.0, 0.5]).unwrap();
    let list = inserted(2, 0, 2);
    let (place, item) = suboptimal(&list, 2).next().unwrap();
    assert_eq!(users.gap(&list), users.gap(&inserted(item, place, 2)));
}

/// Moving the plays of a list to the lists that explore its items one at a time, each at its
/// cheapest position, leaves the information of every suboptimal item as it was, and does not cost
/// more.
#[test]
fn lemma_15_keeps_the_constraints_and_proposition_14_the_cost() {
    fn property(Instance { theta, kappa }: Instance, plays: Vec<u8>, moved: usize) {
        let users = PositionBased::from_values(&theta, &kappa).unwrap();
        let n_positions = kappa.len();
        let lists = all_lists(theta.len(), n_positions);
        let nats = |position: usize, item: usize| {
            bernoulli_kl(kappa[position] * theta[item], kappa[position] * theta[n_positions - 1])
        };
        let cost = |list: &Ranking| users.gap(list).max(0.0);
        let cheapest = |item: usize| {
            let price =
                |position: &usize| cost(&inserted(item, *position, n_positions)) / nats(*position, item);
            (0..n_positions).min_by(|left, right| price(left).total_cmp(&price(right))).unwrap()
        };
        let mut before: Vec<f64> = plays
            .iter()
            .map(|&plays| f64::from(plays))
            .chain(std::iter::repeat(1.0))
            .take(lists.len())
            .collect();
        let is_cheapest = |list: &Ranking| {
            (n_positions..theta.len()).any(|item| *list == inserted(item, cheapest(item), n_positions))
        };
        let explorers: Vec<usize> = (0..lists.len())
            .filter(|&number| {
                suboptimal(&lists[number], n_positions).next().is_some() && !is_cheapest(&lists[number])
            })
            .collect();
        if explorers.is_empty() {
            return;
        }
        let alpha = explorers[moved % explorers.len()];
        before[alpha] += 1.0;
        let mut after = before.clone();
        after[alpha] = 0.0;
        for (position, item) in suboptimal(&lists[alpha], n_positions) {
            let place = cheapest(item);
            let target = inserted(item, place, n_positions);
            let number = lists.iter().position(|list| *list == target).unwrap();
            after[number] += nats(position, item) / nats(place, item) * before[alpha];
        }
        let information = |plays: &[f64], item: usize| -> f64 {
            let of = |(list, plays): (&Ranking, &f64)| {
                suboptimal(list, n_positions)
                    .filter(|&(_, shown)| shown == item)
                    .map(|(position, _)| plays * nats(position, item))
                    .sum::<f64>()
            };
            lists.iter().zip(plays).map(of).sum()
        };
        for item in n_positions..theta.len() {
            assert_close(information(&after, item), information(&before, item), 1e-12, "information");
        }
        let total =
            |plays: &[f64]| -> f64 { lists.iter().zip(plays).map(|(list, plays)| plays * cost(list)).sum() };
        assert!(total(&after) <= total(&before) * (1.0 + 1e-12), "{} {}", total(&after), total(&before));
    }
    QuickCheck::new().tests(500).quickcheck(property as fn(Instance, Vec<u8>, usize));
}

// --- PBM paper, Fact 17
// -----------------------------------------------------------------------------------------------

/// The gap of the list with the largest indices, and twice its examined bonuses. Estimates are
/// `errors` bonuses off.
fn gap_and_bonuses(theta: &[f64], kappa: &[f64], errors: &[f64], bonuses: &[f64]) -> (f64, f64) {
    let index = |item: usize| theta[item] + (errors[item] + 1.0) * bonuses[item];
    let mut items: Vec<usize> = (0..theta.len()).collect();
    items.sort_by(|&left, &right| index(right).total_cmp(&index(left)));
    let list: Ranking = items[..kappa.len()].iter().map(|&item| ItemId::from_index(item)).collect();
    let examined = list.by_position().map(|(position, item)| kappa[position] * bonuses[item.index()]);
    let bonuses = 2.0 * examined.sum::<f64>();
    (PositionBased::from_values(theta, kappa).unwrap().gap(&list), bonuses)
}

/// If no estimate is off by more than its bonus, the list with the largest indices loses at most
/// twice its examined bonuses.
#[test]
fn fact_17_holds_if_every_estimate_is_within_its_bonus() {
    fn property(Instance { theta, kappa }: Instance, draws: Vec<(i8, u8)>) {
        let drawn = || draws.iter().copied().chain(std::iter::repeat((0, 100))).take(theta.len());
        let errors: Vec<f64> = drawn().map(|(error, _)| f64::from(error) / 128.0).collect();
        let bonuses: Vec<f64> = drawn().map(|(_, bonus)| f64::from(bonus) / 500.0).collect();
        let (gap, bonuses) = gap_and_bonuses(&theta, &kappa, &errors, &bonuses);
        assert!(gap <= bonuses + ROUNDING, "{gap} above {bonuses}");
    }
    QuickCheck::new().tests(2000).quickcheck(property as fn(Instance, Vec<(i8, u8)>));
    // The printed event asks this of the items of the list only. Here the best item is
    // underestimated and not shown.
    let (gap, bonuses) = gap_and_bonuses(&[0.9, 0.3], &[1.0], &[-8.0, 0.0], &[0.1, 0.01]);
    assert!(gap > 10.0 * bonuses, "{gap} {bonuses}");
}

// --- PBM paper, Lemma 18
// ----------------------------------------------------------------------------------------------

/// The largest left side of Lemma 18 over all sequences of lists with an item. Every such list
/// raises the item's count by one, so a sequence loses most if each count meets the largest gap
/// that the indicator still lets through.
fn largest_sum(gaps: &[f64], constant: f64) -> f64 {
    let largest = |count: f64| {
        gaps.iter().copied().filter(|gap| count <= constant / (gap * gap)).fold(f64::NEG_INFINITY, f64::max)
    };
    (0..1_000_000).map(|count| largest(f64::from(count))).take_while(|gap| *gap > 0.0).sum()
}

/// Positive gaps, and a constant that lets some thousands of displays through at most.
#[derive(Debug, Clone)]
struct Gaps {
    gaps: Vec<f64>,
    constant: f64,
}

impl Arbitrary for Gaps {
    fn arbitrary(g: &mut Gen) -> Self {
        let n = 1 + usize::arbitrary(g) % 8;
        let gaps: Vec<f64> = (0..n).map(|_| f64::from(1 + u32::arbitrary(g) % 200) / 100.0).collect();
        let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let displays = f64::from(u16::arbitrary(g) % 5000) / 10.0;
        Self { gaps, constant: displays * least * least }
    }
}

#[test]
fn lemma_18_holds_if_the_constant_exceeds_the_largest_squared_gap() {
    fn property(Gaps { gaps, constant }: Gaps) {
        let (least, most) =
            gaps.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &gap| (least.min(gap), most.max(gap)));
        let sum = largest_sum(&gaps, constant);
        // The first display, at a count of 0, is free of any condition: the term that the statement
        // lacks.
        let corrected = 2.0 * constant / least + most - constant / most;
        assert!(sum <= corrected * (1.0 + 1e-12) + 1e-12, "{sum} above {corrected}");
        if constant >= most * most {
            assert!(sum <= 2.0 * constant / least * (1.0 + 1e-12), "{sum} above the printed bound");
        }
    }
    QuickCheck::new().tests(2000).quickcheck(property as fn(Gaps));
}

#[test]
fn lemma_18_is_false_as_printed_for_small_constants() {
    // One list with a gap of 1, C = .01: its first display counts, since 0 <= .01, and costs 1. The
    // printed bound is .02.
    assert_eq!(largest_sum(&[1.0], 0.01), 1.0);
    // Forty lists, whose gaps halve every eighth time: the factor 2 is hardly too large.
    let gaps: Vec<f64> = (0..40).map(|step| libm::exp2(-f64::from(step) / 8.0)).collect();
    let ratio = largest_sum(&gaps, 4.0) / (4.0 / gaps[39]);
    assert!(ratio > 1.8, "{ratio}");
}

/// Lemma 18, on the smallest gap of a list with an item: right for a suboptimal item, wrong for an
/// item of the best list.
#[test]
fn smallest_gaps_of_lists_with_an_item() {
    fn property(Instance { theta, kappa }: Instance) {
        let users = PositionBased::from_values(&theta, &kappa).unwrap();
        let n_positions = kappa.len();
        for item in n_positions..theta.len() {
            let lists = all_lists(theta.len(), n_positions);
            let with_it = lists.iter().filter(|list| list.contains(ItemId::from_index(item)));
            let smallest = with_it.map(|list| users.gap(list)).fold(f64::INFINITY, f64::min);
            let stated = kappa[n_positions - 1] * (theta[n_positions - 1] - theta[item]);
            assert!((smallest - stated).abs() <= ROUNDING, "{smallest} {stated}");
        }
    }
    QuickCheck::new().tests(300).quickcheck(property as fn(Instance));
    let users = PositionBased::from_values(&[0.9, 0.5, 0.49], &[1.0, 0.5]).unwrap();
    let of = |items: [usize; 2]| users.gap(&items.into_iter().map(ItemId::from_index).collect());
    assert_close(of([1, 0]), 0.2, 1e-12, "the other order of the best items");
    assert_close(of([0, 2]), 0.005, 1e-12, "the best item, and a suboptimal one");
}
