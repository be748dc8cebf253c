//! Interleavings on lists of four documents, compared with enumeration from the papers'
//! definitions.
//!
//! The coins of balanced and team-draft interleaving are enumerated, so their checks are exact.
//! Probabilistic lists are drawn from a fixed seed: a correct implementation fails a test with
//! probability at most 1e-6, by exact binomial limits, and two wrong ones fail.

use crate::support::{Coins, is_rare, permutations, ranking};
use click_models::Clicks;
use interleaving::{
    Balanced, InterleavedList, Interleaving, Outcome, Probabilistic, RankedDocuments, RankedPair, TeamDraft,
};
use quickcheck::quickcheck;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

const IDENTITY: [u32; 4] = [0, 1, 2, 3];

/// Runs every sequence of `n_coins` coins, all of which have to be used.
fn with_all_coins(n_coins: u32, mut run: impl FnMut(&mut Coins)) {
    for tape in 0..1 << n_coins {
        let mut coins = Coins { tape, used: 0 };
        run(&mut coins);
        assert_eq!(coins.used, n_coins);
    }
}

fn all_clicks(length: usize) -> impl Iterator<Item = Clicks> {
    (0..1 << length).map(move |bits| Clicks::from_bits(bits, length).unwrap())
}

/// Counts of (list, picks of the first): Algorithm 2 as printed, coins enumerated by recursion. A
/// coin is tossed where both teams are of one size.
fn team_drafts(first: &[u32], second: &[u32], length: usize) -> BTreeMap<(Vec<u32>, u64), f64> {
    fn go(
        rankings: [&[u32]; 2],
        length: usize,
        list: &[u32],
        teams: [u32; 2],
        note: u64,
        chance: f64,
        out: &mut BTreeMap<(Vec<u32>, u64), f64>,
    ) {
        if list.len() == length {
            *out.entry((list.to_vec(), note)).or_default() += chance;
            return;
        }
        let pickers: &[usize] = match teams[0].cmp(&teams[1]) {
            std::cmp::Ordering::Less => &[0],
            std::cmp::Ordering::Greater => &[1],
            std::cmp::Ordering::Equal => &[0, 1],
        };
        for &picker in pickers {
            let document = rankings[picker].iter().find(|document| !list.contains(document)).unwrap();
            let mut larger = teams;
            larger[picker] += 1;
            let note = if picker == 0 { note | 1 << list.len() } else { note };
            let chance = chance / pickers.len() as f64;
            go(rankings, length, &[list, &[*document]].concat(), larger, note, chance, out);
        }
    }
    let mut out = BTreeMap::new();
    go([first, second], length, &[], [0, 0], 0, 1.0, &mut out);
    out
}

#[test]
fn team_drafts_match_the_definition() {
    for other in permutations(4) {
        let (first, second) = (ranking(&IDENTITY), ranking(&other));
        for length in 1..=4_usize {
            let n_coins = u32::try_from(length.div_ceil(2)).unwrap();
            let mut found = BTreeMap::new();
            with_all_coins(n_coins, |coins| {
                let mut shown = InterleavedList::default();
                TeamDraft.interleave(RankedPair::new(&first, &second).unwrap(), length, coins, &mut shown);
                *found.entry((shown.documents, shown.note)).or_default() += 1.0 / f64::from(1 << n_coins);
            });
            assert_eq!(found, team_drafts(&IDENTITY, &other, length), "{other:?}, {length}");
        }
    }
}

/// Clicks of both sides by Algorithm 2's definition.
#[test]
fn a_team_draft_counts_the_clicks_of_teams() {
    for (list, note) in team_drafts(&IDENTITY, &[3, 1, 0, 2], 4).into_keys() {
        let shown = InterleavedList { documents: list, note };
        for clicks in all_clicks(4) {
            let count = |first| (0..4).filter(|&at| clicks.get(at) && (note >> at & 1 == 1) == first).count();
            let expected = match count(true).cmp(&count(false)) {
                std::cmp::Ordering::Greater => Outcome::First,
                std::cmp::Ordering::Less => Outcome::Second,
                std::cmp::Ordering::Equal => Outcome::Tie,
            };
            assert_eq!(TeamDraft.outcome(&shown, clicks), expected);
        }
    }
}

/// A team draft without a coin: the first ranker always picks first.
struct FirstPicksFirst;

impl Interleaving for FirstPicksFirst {
    type Note = u64;

    fn interleave<R: rand::Rng + ?Sized>(
        &mut self,
        pair: RankedPair<'_>,
        length: usize,
        rng: &mut R,
        shown: &mut InterleavedList<u64>,
    ) {
        TeamDraft.interleave(pair, length, rng, shown);
        shown.note = 0b0101;
    }

    fn outcome(&self, shown: &InterleavedList<u64>, clicks: Clicks) -> Outcome {
        TeamDraft.outcome(shown, clicks)
    }
}

/// Wins of the first minus wins of the second, over all coins: exactly 0 for identical rankers and
/// any clicks.
fn advantage_of_identical(mut method: impl Interleaving, n_coins: impl Fn(usize) -> u32) -> i32 {
    let mut largest = 0_i32;
    for order in permutations(4) {
        let same = ranking(&order);
        for length in 1..=4 {
            for clicks in all_clicks(length) {
                let mut advantage = 0_i32;
                with_all_coins(n_coins(length), |coins| {
                    let mut shown = InterleavedList::default();
                    method.interleave(RankedPair::new(&same, &same).unwrap(), length, coins, &mut shown);
                    assert_eq!(shown.documents, order[..length]);
                    advantage += match method.outcome(&shown, clicks) {
                        Outcome::First => 1,
                        Outcome::Second => -1,
                        Outcome::Tie => 0,
                    };
                });
                largest = largest.max(advantage.abs());
            }
        }
    }
    largest
}

#[test]
fn identical_rankers_are_even() {
    let coins_of_teams = |length: usize| u32::try_from(length.div_ceil(2)).unwrap();
    assert_eq!(advantage_of_identical(TeamDraft, coins_of_teams), 0);
    assert_eq!(advantage_of_identical(Balanced, |_| 1), 0);
    // A draft without a coin is not even.
    assert!(advantage_of_identical(FirstPicksFirst, coins_of_teams) > 0);
}

/// With probabilistic or balanced interleaving, every single comparison of identical rankers is a
/// tie.
#[test]
fn identical_rankers_tie() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut probabilistic = Probabilistic::default();
    for n_documents in [1, 4, 70, 1000] {
        let same = ranking(&(0..n_documents).rev().collect::<Vec<_>>());
        let pair = RankedPair::new(&same, &same).unwrap();
        for length in [1, 3, 10, 64, 100] {
            let (mut drawn, mut balanced) = (InterleavedList::default(), InterleavedList::default());
            for _ in 0..20 {
                probabilistic.interleave(pair, length, &mut rng, &mut drawn);
                assert_eq!(drawn.documents.len(), length.min(64).min(n_documents as usize));
                assert!(drawn.note.iter().all(|&lean| lean == 0.0));
                Balanced.interleave(pair, length, &mut rng, &mut balanced);
                let clicks = Clicks::from_bits(u64::MAX, 64).unwrap();
                assert_eq!(probabilistic.outcome(&drawn, clicks), Outcome::Tie);
                assert_eq!(Balanced.outcome(&balanced, clicks), Outcome::Tie);
            }
        }
    }
}

/// Algorithm 1 as printed, with pointers from 1 and a search of the list.
fn balanced_list(first: &[u32], second: &[u32], first_leads: bool, length: usize) -> Vec<u32> {
    let (mut list, mut at_first, mut at_second) = (Vec::new(), 1, 1);
    while list.len() < length {
        let (document, pointer) = if at_first < at_second || (at_first == at_second && first_leads) {
            (first[at_first - 1], &mut at_first)
        } else {
            (second[at_second - 1], &mut at_second)
        };
        if !list.contains(&document) {
            list.push(document);
        }
        *pointer += 1;
    }
    list
}

fn balanced_outcome(first: &[u32], second: &[u32], list: &[u32], clicks: Clicks) -> Outcome {
    let clicked: Vec<u32> = (0..list.len()).filter(|&at| clicks.get(at)).map(|at| list[at]).collect();
    let Some(lowest) = clicked.last() else { return Outcome::Tie };
    let depth = (1..=first.len()).find(|&k| first[k - 1] == *lowest || second[k - 1] == *lowest).unwrap();
    let hits =
        |ranking: &[u32]| clicked.iter().filter(|document| ranking[..depth].contains(document)).count();
    match hits(first).cmp(&hits(second)) {
        std::cmp::Ordering::Greater => Outcome::First,
        std::cmp::Ordering::Less => Outcome::Second,
        std::cmp::Ordering::Equal => Outcome::Tie,
    }
}

#[test]
fn balanced_lists_and_credit_match_the_definition() {
    for other in permutations(4) {
        let (first, second) = (ranking(&IDENTITY), ranking(&other));
        for length in 1..=4 {
            with_all_coins(1, |coins| {
                let first_leads = coins.tape == 1;
                let mut shown = InterleavedList::default();
                Balanced.interleave(RankedPair::new(&first, &second).unwrap(), length, coins, &mut shown);
                assert_eq!(shown.documents, balanced_list(&IDENTITY, &other, first_leads, length));
                for clicks in all_clicks(length) {
                    let expected = balanced_outcome(&IDENTITY, &other, &shown.documents, clicks);
                    assert_eq!(Balanced.outcome(&shown, clicks), expected);
                }
            });
        }
    }
}

/// The bias that Radlinski, Kurup and Joachims describe: one click at a random position is more
/// often credited to the ranking that puts the other's first document last.
#[test]
fn balanced_is_biased_as_described() {
    let (first, second) = (ranking(&IDENTITY), ranking(&[1, 2, 3, 0]));
    let mut wins = [0, 0];
    with_all_coins(1, |coins| {
        let mut shown = InterleavedList::default();
        Balanced.interleave(RankedPair::new(&first, &second).unwrap(), 4, coins, &mut shown);
        for position in 0..4 {
            match Balanced.outcome(&shown, Clicks::new(4).with(position)) {
                Outcome::First => wins[0] += 1,
                Outcome::Second => wins[1] += 1,
                Outcome::Tie => {}
            }
        }
    });
    assert_eq!(wins, [2, 6]);
}

/// Chance that a ranker draws a document, others being gone: ranks to the power of `-exponent` of
/// the full ranking, over those that are left. `renumbered` counts ranks among those left instead,
/// which is wrong.
fn softmax(ranking: &[u32], gone: &[u32], document: u32, exponent: i32, renumbered: bool) -> f64 {
    let left: Vec<(usize, u32)> =
        (1..).zip(ranking.iter().copied()).filter(|(_, document)| !gone.contains(document)).collect();
    let left: Vec<(usize, u32)> =
        if renumbered { (1..).zip(left.iter().map(|&(_, document)| document)).collect() } else { left };
    let weight = |rank: usize| (rank as f64).powi(-exponent);
    let total: f64 = left.iter().map(|&(rank, _)| weight(rank)).sum();
    left.iter().find(|&&(_, other)| other == document).map_or(0.0, |&(rank, _)| weight(rank) / total)
}

/// Chance of (list, assignment): a coin and a draw per position. Bit `l` of the assignment: the
/// first drew position `l`.
fn chance(rankings: [&[u32]; 2], list: &[u32], assignment: u32, exponent: i32, renumbered: bool) -> f64 {
    (0..list.len())
        .map(|at| {
            let drawer = rankings[usize::from(assignment >> at & 1 == 0)];
            0.5 * softmax(drawer, &list[..at], list[at], exponent, renumbered)
        })
        .product()
}

fn chance_of_list(rankings: [&[u32]; 2], list: &[u32], exponent: i32, renumbered: bool) -> f64 {
    (0..1 << list.len()).map(|assignment| chance(rankings, list, assignment, exponent, renumbered)).sum()
}

const DRAWS: u64 = 40_000;

/// Lists drawn for a pair of rankings, and the leans that came with each.
fn draw_lists(other: &[u32], length: usize, seed: u64) -> BTreeMap<Vec<u32>, (u64, Vec<f64>)> {
    let (first, second) = (ranking(&IDENTITY), ranking(other));
    let pair = RankedPair::new(&first, &second).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut method = Probabilistic::default();
    let mut shown = InterleavedList::default();
    let mut counts: BTreeMap<Vec<u32>, (u64, Vec<f64>)> = BTreeMap::new();
    for _ in 0..DRAWS {
        method.interleave(pair, length, &mut rng, &mut shown);
        let entry = counts.entry(shown.documents.clone()).or_insert_with(|| (0, shown.note.clone()));
        entry.0 += 1;
        assert_eq!(entry.1, shown.note, "leans depend on the list only");
    }
    counts
}

#[test]
fn probabilistic_lists_have_the_defined_probabilities() {
    let orders = permutations(4);
    let n_checks = orders.len() * orders.len();
    let (mut steep, mut renumbered) = (0, 0);
    for (number, other) in (0..).zip(&orders) {
        let counts = draw_lists(other, 4, number);
        let rankings = [&IDENTITY[..], other];
        let mut total = 0.0;
        for list in &orders {
            let count = counts.get(list).map_or(0, |&(count, _)| count);
            let expected = chance_of_list(rankings, list, 3, false);
            total += expected;
            assert!(!is_rare(count, DRAWS, expected, n_checks), "{other:?} {list:?}: {count}, {expected}");
            let wrong = |exponent, renumbered| chance_of_list(rankings, list, exponent, renumbered);
            steep += u32::from(is_rare(count, DRAWS, wrong(2, false), n_checks));
            renumbered += u32::from(is_rare(count, DRAWS, wrong(3, true), n_checks));
        }
        assert!((total - 1.0).abs() < 1e-12);
    }
    // A softmax with another power, and one that renumbers the remaining ranks, would fail many
    // times.
    assert!(steep > 100 && renumbered > 100, "{steep}, {renumbered}");
}

/// The credit of clicks is the mean over all 16 assignments that could have made the list, weighted
/// by their chance.
#[test]
fn probabilistic_credit_is_the_mean_over_all_assignments() {
    let orders = permutations(4);
    let mut seen = 0;
    for (number, other) in (0..).zip(&orders) {
        let rankings = [&IDENTITY[..], other];
        for (list, (_, leans)) in draw_lists(other, 4, number) {
            seen += 1;
            let all = chance_of_list(rankings, &list, 3, false);
            for clicks in all_clicks(4) {
                let expected: f64 = (0..16_u32)
                    .map(|assignment| {
                        let side = |at: usize| if assignment >> at & 1 == 1 { 1.0 } else { -1.0 };
                        let credit: f64 = (0..4).filter(|&at| clicks.get(at)).map(side).sum();
                        credit * chance(rankings, &list, assignment, 3, false) / all
                    })
                    .sum();
                let found: f64 = (0..4).filter(|&at| clicks.get(at)).map(|at| leans[at]).sum();
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{other:?} {list:?} {clicks:?}: {found}, {expected}"
                );
                let shown = InterleavedList { documents: list.clone(), note: leans.clone() };
                let outcome = Probabilistic::default().outcome(&shown, clicks);
                let winner = if expected.abs() < 1e-9 {
                    Outcome::Tie
                } else if expected > 0.0 {
                    Outcome::First
                } else {
                    Outcome::Second
                };
                assert_eq!(outcome, winner);
            }
        }
    }
    // Nearly all of the 576 lists came up.
    assert!(seen > 550, "{seen}");
}

/// Clicks that do not depend on documents have expected credit 0 at every position, for any two
/// rankings; a click on a document that one ranker puts higher has positive credit for it.
#[test]
fn no_position_favours_a_ranker() {
    let orders = permutations(4);
    let mut complete = 0;
    for (number, other) in (0..).zip(&orders) {
        let rankings = [&IDENTITY[..], other];
        let drawn = draw_lists(other, 4, number);
        if drawn.len() < orders.len() {
            continue;
        }
        complete += 1;
        for position in 0..4 {
            let mean: f64 = drawn
                .iter()
                .map(|(list, (_, leans))| chance_of_list(rankings, list, 3, false) * leans[position])
                .sum();
            assert!(mean.abs() < 1e-12, "{other:?}, position {position}: {mean}");
        }
        for (list, (_, leans)) in &drawn {
            let rank = |ranking: &[u32]| ranking.iter().position(|&document| document == list[0]).unwrap();
            let better = rank(other) as f64 - rank(&IDENTITY) as f64;
            assert!(better * leans[0] >= 0.0 && (better == 0.0) == (leans[0] == 0.0));
        }
    }
    // For nearly all pairs of rankings every list came up.
    assert!(complete > 12, "{complete}");
}

/// Mean credit 0 does not imply winning half of the time: for 0 1 2 3 and 1 2 3 0, a click on 0
/// favours the first ranker by much, and a click on any other document favours the second by
/// little. One random click is more often credited to the second. Team draft is even.
#[test]
fn the_sign_of_an_unbiased_credit_is_biased() {
    let other = [1, 2, 3, 0];
    let (mut credit, mut wins) = (0.0, [0.0, 0.0]);
    for list in permutations(4) {
        let rankings = [&IDENTITY[..], &other];
        let all = chance_of_list(rankings, &list, 3, false);
        for position in 0..4 {
            let first_drew = |assignment: &u32| assignment >> position & 1 == 1;
            let by_first: f64 =
                (0..16).filter(first_drew).map(|drawers| chance(rankings, &list, drawers, 3, false)).sum();
            // The document at the last position is determined.
            let lean = if position == 3 { 0.0 } else { 2.0 * by_first / all - 1.0 };
            let mut note = vec![0.0; 4];
            note[position] = lean;
            credit += all * lean / 4.0;
            let shown = InterleavedList { documents: list.clone(), note };
            match Probabilistic::default().outcome(&shown, Clicks::new(4).with(position)) {
                Outcome::First => wins[0] += all / 4.0,
                Outcome::Second => wins[1] += all / 4.0,
                Outcome::Tie => {}
            }
        }
    }
    assert!(credit.abs() < 1e-12, "{credit}");
    assert!((wins[0] - 0.288_23).abs() < 1e-5 && (wins[1] - 0.461_77).abs() < 1e-5, "{wins:?}");

    let (first, second) = (ranking(&IDENTITY), ranking(&other));
    let mut balance = 0;
    with_all_coins(2, |coins| {
        let mut shown = InterleavedList::default();
        TeamDraft.interleave(RankedPair::new(&first, &second).unwrap(), 4, coins, &mut shown);
        for position in 0..4 {
            match TeamDraft.outcome(&shown, Clicks::new(4).with(position)) {
                Outcome::First => balance += 1,
                Outcome::Second => balance -= 1,
                Outcome::Tie => panic!("a click is somebody's"),
            }
        }
    });
    assert_eq!(balance, 0);
}

fn check_shown<I: Interleaving>(mut method: I, orders: &[Vec<u32>; 2], length: usize, seed: u64) -> bool {
    let [first, second]: [RankedDocuments; 2] = [ranking(&orders[0]), ranking(&orders[1])];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut shown = InterleavedList::default();
    method.interleave(RankedPair::new(&first, &second).unwrap(), length, &mut rng, &mut shown);
    let mut documents = shown.documents.clone();
    documents.sort_unstable();
    documents.dedup();
    let back: InterleavedList<I::Note> =
        serde_json::from_str(&serde_json::to_string(&shown).unwrap()).unwrap();
    let clicks = Clicks::from_bits(rand::Rng::next_u64(&mut rng), 64).unwrap();
    documents.len() == length.min(orders[0].len()).min(64)
        && documents.iter().all(|&document| (document as usize) < orders[0].len())
        && method.outcome(&back, clicks) == method.outcome(&shown, clicks)
        && method.outcome(&InterleavedList::default(), clicks) == Outcome::Tie
}

quickcheck! {
    /// A list has distinct documents, as many as requested and available; its note survives saving;
    /// clicks beyond the list are ignored.
    fn lists_have_distinct_documents_and_save_their_note(keys: Vec<(u8, u8)>, length: usize, seed: u64) -> bool {
        let length = length % 80;
        let order = |key: &dyn Fn(usize) -> u8| {
            let mut order: Vec<u32> = (0..u32::try_from(keys.len()).unwrap()).collect();
            order.sort_by_key(|&document| key(document as usize));
            order
        };
        let orders = [order(&|at| keys[at].0), order(&|at| keys[at].1)];
        check_shown(Balanced, &orders, length, seed)
            && check_shown(TeamDraft, &orders, length, seed)
            && check_shown(Probabilistic::default(), &orders, length, seed)
    }
}

#[test]
fn rankings_of_different_documents_are_rejected() {
    assert!(RankedPair::new(&ranking(&[0, 1]), &ranking(&[0, 1, 2])).is_err());
    for wrong in [&[0, 0][..], &[1, 2], &[u32::MAX]] {
        assert!(RankedDocuments::new(wrong.to_vec()).is_err());
    }
}
