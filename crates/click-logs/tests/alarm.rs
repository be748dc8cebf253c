//! The alarm where lists do not decide clicks alone: logs of 12,000 sessions of four queries.

use click_logs::study::{ListsAlone, are_kept_apart};
use confidence::math::ln;
use log_reader::{Format, Id, QuerySessions, Reader, Sessions};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const N_QUERIES: usize = 4;
const N_ITEMS: usize = 8;
const N_POSITIONS: usize = 5;
const N_DAYS: usize = 20;
const EXAMINATION: [f64; N_POSITIONS] = [1.0, 0.7, 0.5, 0.35, 0.25];
/// Standard deviation of the noise of rankers.
const NOISE: f64 = 0.4;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// The ranking and the clicks depend on items alone.
    Plain,
    /// As plain, with users who leave after most of their clicks.
    Leaving,
    /// Two segments of users have attractions, and rankings, of their own.
    Personal,
    /// As personal, with one segment by day and the other one by night.
    Clock,
    /// As plain, with scores that jump from day to day, as the number of clicks does.
    Jumping,
    /// Two rankers for users of which one half clicks more; items are alike.
    TwoRankers,
    /// An item looks better beside a worse one.
    Contrast,
    /// As plain, with an item that is tried on some sessions of the last fifth.
    Arriving,
}

type Rng = Xoshiro256PlusPlus;

fn attractions(rng: &mut Rng) -> [f64; N_ITEMS] {
    [(); N_ITEMS].map(|()| {
        let normal: f64 = StandardNormal.sample(rng);
        (0.2 * libm::exp(0.8 * normal)).clamp(0.02, 0.9)
    })
}

/// The probability that the item at a place is clicked once it is examined.
fn clicked(kind: Kind, attraction: &[f64], list: &[usize], place: usize) -> f64 {
    let own = attraction[list[place]];
    if kind != Kind::Contrast {
        return own;
    }
    let beside: Vec<f64> = [place.checked_sub(1), Some(place + 1)]
        .into_iter()
        .flatten()
        .filter_map(|at| list.get(at))
        .map(|&item| attraction[item])
        .collect();
    let beside = beside.iter().sum::<f64>() / beside.len() as f64;
    (own * (1.0 + 1.2 * (own - beside) / (own + beside))).clamp(0.005, 0.95)
}

fn log(kind: Kind, sessions: usize, seed: u64) -> String {
    let mut rng = Rng::seed_from_u64(seed);
    let rng = &mut rng;
    let mut text = "query\turls\tclicked_mask\n".to_owned();
    let queries = [(); N_QUERIES].map(|()| [attractions(rng), attractions(rng)]);
    let days =
        [(); N_DAYS].map(|()| (rng.random_range(0.6..1.0), [(); N_QUERIES].map(|()| attractions(rng))));
    for number in 0..sessions {
        let (level, scores) = &days[number * N_DAYS / sessions];
        let by_clock = (2 * N_DAYS * number / sessions) % 2;
        let drawn = usize::from(rng.random_bool(0.5));
        let (query, segment) = (number % N_QUERIES, if kind == Kind::Clock { by_clock } else { drawn });
        let is_own = matches!(kind, Kind::Personal | Kind::Clock | Kind::TwoRankers);
        let ranked = queries[query][if is_own { segment } else { 0 }];
        let attraction = match (kind, segment) {
            (Kind::TwoRankers, 0) => [0.2; N_ITEMS],
            (Kind::TwoRankers, _) => [0.3; N_ITEMS],
            _ => ranked,
        };
        let scores = if kind == Kind::Jumping { scores[query] } else { [1.0; N_ITEMS] };
        let scored = ranked.iter().zip(scores).map(|(attraction, score)| {
            let normal: f64 = StandardNormal.sample(rng);
            ln(attraction * score) + NOISE * normal
        });
        let mut scored: Vec<(f64, usize)> = scored.zip(0..).collect();
        if kind == Kind::Arriving && !(5 * number >= 4 * sessions && rng.random_bool(0.3)) {
            scored.pop();
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let list: Vec<usize> = scored[..N_POSITIONS].iter().map(|scored| scored.1).collect();
        let mut mask = String::new();
        let mut has_left = false;
        for (place, examination) in EXAMINATION.into_iter().enumerate() {
            let examination =
                if kind == Kind::Leaving { f64::from(u8::from(!has_left)) } else { examination };
            let level = if kind == Kind::Jumping { *level } else { 1.0 };
            let click = rng.random_bool(level * examination * clicked(kind, &attraction, &list, place));
            has_left |= click && rng.random_bool(0.6);
            mask.push(if click { '1' } else { '0' });
        }
        let items: Vec<String> = list.iter().map(usize::to_string).collect();
        writeln!(text, "{query}\t{}\t{mask}", items.join(",")).unwrap();
    }
    text
}

fn read(text: &str) -> Sessions {
    Reader::new(Format::Sessions).keep_sessions().read("log", text.as_bytes()).unwrap().sessions
}

fn test_of(kind: Kind, seed: u64) -> ListsAlone {
    ListsAlone::new(&read(&log(kind, 12_000, seed)), 1.0).unwrap()
}

/// Chance: each of the logs without cause alarms with probability .01.
#[test]
fn users_and_neighbours_are_told_from_lists() {
    let alarms = |kind| (1..=10).filter(|&seed| test_of(kind, seed).is_denied()).count();
    let found = [Kind::Plain, Kind::Leaving, Kind::Jumping].map(alarms);
    assert!(found.iter().all(|&n| n <= 1), "{found:?}");
    let found = [Kind::Personal, Kind::Clock, Kind::TwoRankers, Kind::Contrast].map(alarms);
    assert!(found[0] >= 9 && found[1] >= 9 && found[2] >= 6 && found[3] == 10, "{found:?}");
}

/// The five items that each query shows most, or four and one that arrives: one ranking shows them
/// together, and those of different users do not.
#[test]
fn rankings_of_different_users_keep_items_apart() {
    let apart = |kind, n_sessions| -> usize {
        let of_log = |seed| {
            let sessions = read(&log(kind, n_sessions, seed));
            let of_query = |query: &QuerySessions<'_>| {
                let mut shown = BTreeMap::<Id, u64>::new();
                for list in query.lists() {
                    let times: u64 = list.patterns.iter().map(|pattern| pattern.sessions).sum();
                    list.items.iter().for_each(|item| *shown.entry(*item).or_default() += times);
                }
                let mut items: Vec<Id> = shown.keys().copied().collect();
                items.sort_by_key(|item| Reverse(shown[item]));
                items.rotate_right(usize::from(kind == Kind::Arriving));
                are_kept_apart(query, &items[..N_POSITIONS])
            };
            sessions.queries().filter(of_query).count()
        };
        (21..=30).map(of_log).sum()
    };
    for kind in [Kind::Plain, Kind::Leaving, Kind::Contrast, Kind::Arriving] {
        assert_eq!([1_200, 12_000].map(|n_sessions| apart(kind, n_sessions)), [0, 0], "{kind:?}");
    }
    for kind in [Kind::Personal, Kind::TwoRankers] {
        assert!(apart(kind, 12_000) >= 20, "{kind:?}: {}", apart(kind, 12_000));
    }
}

/// The file twice: without the share of what is repeated every second statistic would be doubled.
#[test]
fn a_file_that_is_read_twice_is_no_alarm() {
    for seed in 1..=10 {
        let text = log(Kind::Plain, 3_000, seed);
        let twice = text.clone() + text.split_once('\n').unwrap().1;
        assert!(!ListsAlone::new(&read(&twice), 2.0).unwrap().is_denied(), "{seed}");
    }
}

/// One list a query, or lists that do not differ below two items, leave nothing to compare.
#[test]
fn lists_that_do_not_differ_below_are_not_tested() {
    let head = "query\turls\tclicked_mask\n";
    let one = head.to_owned() + &"1\t1,2,3\t010\n1\t1,2,3\t100\n".repeat(100);
    let two = head.to_owned() + &"1\t1,2\t01\n1\t2,1\t10\n".repeat(100);
    for text in [one, two] {
        assert_eq!(ListsAlone::new(&read(&text), 1.0), None);
    }
}
