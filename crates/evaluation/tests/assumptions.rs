//! Tests of assumptions on logs of 3,000 uniform lists of five of eight items for ten queries.

use click_logs::fit::Model;
use evaluation::{Basis, Evaluation, Level, Question, Ranking};
use log_reader::{Error, Format, Ids, Input, Reader};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;

const N_QUERIES: usize = 10;
const N_ITEMS: usize = 8;
const N_POSITIONS: usize = 5;
const EXAMINATION: [f64; N_POSITIONS] = [1.0, 0.7, 0.5, 0.35, 0.25];
const SEEDS: u64 = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Users {
    PositionBased,
    /// They leave after most of their clicks.
    Leaving,
    /// They leave after an item that satisfies them, clicked or not.
    GoodAbandonment,
    /// An item looks better beside a worse one.
    Contrast,
}

fn clicks(users: Users, attraction: &[f64], rng: &mut Xoshiro256PlusPlus) -> Vec<bool> {
    let mut there = true;
    let click = |place: usize| {
        let own = attraction[place];
        let examined = match users {
            Users::PositionBased | Users::Contrast => EXAMINATION[place],
            Users::Leaving | Users::GoodAbandonment => f64::from(u8::from(there)),
        };
        let beside = &attraction[place.saturating_sub(1)..(place + 2).min(N_POSITIONS)];
        let beside = (beside.iter().sum::<f64>() - own) / (beside.len() - 1) as f64;
        let attracts = match users {
            Users::Contrast => (own * (1.0 + 1.2 * (own - beside) / (own + beside))).clamp(0.005, 0.95),
            _ => own,
        };
        let click = rng.random::<f64>() < examined * attracts;
        there &= rng.random::<f64>()
            >= match users {
                Users::Leaving => f64::from(u8::from(click)) * 0.6,
                Users::GoodAbandonment => 0.75 * own,
                _ => 0.0,
            };
        click
    };
    (0..N_POSITIONS).map(click).collect()
}

fn evaluated(users: Users, seed: u64) -> Evaluation {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let attractions: Vec<Vec<f64>> = (0..N_QUERIES)
        .map(|_| (0..N_ITEMS).map(|_| 0.02 + 0.7 * rng.random::<f64>() * rng.random::<f64>()).collect())
        .collect();
    let mut log = "session,user,query,position,item,click,p,prefix,list\n".to_owned();
    for session in 0..3_000 {
        let query = rng.random_range(0..N_QUERIES);
        let mut items: Vec<usize> = (0..N_ITEMS).collect();
        (0..N_POSITIONS).for_each(|place| items.swap(place, rng.random_range(place..N_ITEMS)));
        items.truncate(N_POSITIONS);
        let attraction: Vec<f64> = items.iter().map(|&item| attractions[query][item]).collect();
        let clicks = clicks(users, &attraction, &mut rng);
        let mut prefix = 1.0;
        for (place, (item, click)) in items.iter().zip(clicks).enumerate() {
            prefix /= (N_ITEMS - place) as f64;
            let (position, click, user) = (place + 1, u8::from(click), session / 3);
            writeln!(
                log,
                "s{session},u{user},q{query},{position},i{item},{click},0.125,{prefix},{}",
                1.0 / 6720.0
            )
            .unwrap();
        }
    }
    let mut ranking = "query,position,item\n".to_owned();
    for (query, attraction) in attractions.iter().enumerate() {
        let mut best: Vec<usize> = (0..N_ITEMS).collect();
        best.sort_by(|&a, &b| attraction[b].total_cmp(&attraction[a]));
        for (place, item) in best[..N_POSITIONS].iter().enumerate() {
            writeln!(ranking, "q{query},{},i{item}", place + 1).unwrap();
        }
    }
    let columns = "session=session,user=user,query=query,item=item,position=position,click=click,\
                   propensity=p,prefix-propensity=prefix,list-propensity=list";
    let reader = Reader::new(Format::delimited(columns).unwrap()).keep_sessions();
    let ids = Ids::new();
    let ranking = Ranking::read("ranking.csv", ranking.as_bytes()).unwrap();
    let question = Question::new(ranking, reader.format(), None, &ids).unwrap();
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", log.as_bytes())]);
    let read = reader.read_lists(ids, inputs, || question.tally()).unwrap();
    Evaluation::new(&question, read, &[Model::Pbm, Model::Dcm, Model::Ccm], |_| true).unwrap()
}

/// For each level or model, the number of logs on which it passes all tests.
fn passing<const N: usize>(users: Users, bases: [Basis; N]) -> [usize; N] {
    let mut passing = [0; N];
    for seed in 1..=SEEDS {
        let evaluation = evaluated(users, seed);
        let assumptions = evaluation.findings.assumptions.as_ref().unwrap();
        for (passing, basis) in passing.iter_mut().zip(bases) {
            *passing += usize::from(assumptions.failed(basis).is_none());
        }
        let answer = evaluation.findings.answer();
        assert!(answer.is_none_or(|answer| assumptions.failed(answer.basis).is_none()));
    }
    passing
}

const POSITION: Basis = Basis::Level(Level::Position);
const PREFIX: Basis = Basis::Level(Level::Prefix);

/// A wrong assumption is refused, and a right one is kept: one of a hundred logs fails it.
#[test]
fn assumptions_are_told_from_the_log() {
    assert_eq!(passing(Users::Contrast, [POSITION, PREFIX]), [0, 0]);
    let [position, prefix] = passing(Users::GoodAbandonment, [POSITION, PREFIX]);
    assert!(position <= 1 && prefix >= 4, "{position} {prefix}");
    let [position, prefix] = passing(Users::PositionBased, [POSITION, PREFIX]);
    assert!(position >= 4 && prefix >= 4, "{position} {prefix}");
    let [prefix, model] = passing(Users::Leaving, [PREFIX, Basis::Model(Model::Dcm)]);
    assert!(prefix >= 4 && model >= 4, "{prefix} {model}");
}

/// A failed test is the reason, and the sentence says what still answers.
#[test]
fn a_denied_assumption_does_not_answer() {
    let of = evaluated(Users::Contrast, 1);
    let codes: Vec<String> = of.remarks().iter().map(|remark| remark.code.to_string()).collect();
    assert!(codes.contains(&"assumption-fails".to_owned()), "{codes:?}");
    assert!(of.findings.answer().is_none(), "{}", of.sentence());
    assert!(of.sentence().contains("`list-propensity`"), "{}", of.sentence());
    assert!(of.to_json()["estimators"]["position"]["tests"][0]["z"].is_number());
}
