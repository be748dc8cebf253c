//! The cases of `data`: every number of `expected.json`, by reading the log.

use evaluation::{Estimate, Evaluation, Level, LevelEstimate, Levels, Question, Ranking};
use log_reader::{Error, Format, Ids, Input, Reader, unit_hash};
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const CASES: [&str; 6] = [
    "adaptive-logger-two-queries",
    "by-hand",
    "latin-square",
    "never-on-top",
    "never-shown",
    "uniform-to-deterministic",
];

fn path(case: &str, file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data", case, file].iter().collect()
}

fn expected(case: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path(case, "expected.json")).unwrap()).unwrap()
}

const COLUMNS: &str = "session=session,user=user,query=query,item=item,position=position,click=click,propensity=propensity,\
                       prefix-propensity=prefix_propensity,list-propensity=list_propensity";

/// The evaluation of a case, without models.
fn evaluated(case: &str, threads: usize) -> Levels {
    let ranking = Ranking::open(&path(case, "ranking.csv")).unwrap();
    let values: Vec<f64> = serde_json::from_value(expected(case)["values_of_clicks"].clone()).unwrap();
    let levels = read(case, ranking, &values, threads);
    assert_eq!(levels.about.users, expected(case)["users"].as_u64().unwrap());
    levels
}

/// The evaluation of another ranking on the log of a case.
fn of_ranking(case: &str, ranking: &str, values: &[f64]) -> Levels {
    read(case, Ranking::read("ranking", ranking.as_bytes()).unwrap(), values, 1)
}

fn read(case: &str, ranking: Ranking, values: &[f64], threads: usize) -> Levels {
    let reader =
        Reader::new(Format::delimited(COLUMNS).unwrap()).threads(NonZeroUsize::new(threads).unwrap());
    let reader = reader.block_bytes(NonZeroUsize::new(100).unwrap());
    let ids = Ids::new();
    let question = Question::new(ranking, reader.format(), Some(values), &ids).unwrap();
    let inputs = |_| Ok::<_, Error>(vec![Input::file(&path(case, "log.csv"))?]);
    let read = reader.read_lists(ids, inputs, || question.tally()).unwrap();
    Evaluation::new(&question, read, &[], |_| true).unwrap().levels.unwrap()
}

fn close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("{what}: no number expected, found {found}"));
    assert!((found - expected).abs() <= 1e-9, "{what}: {found} is not {expected}");
}

fn estimate(found: Option<&Estimate>, value: &Value, error: &Value, what: &str) {
    close(found.unwrap().value, value, what);
    match found.unwrap().standard_error {
        Some(found) => close(found, error, &format!("{what}, error")),
        None => assert!(error.is_null(), "{what}"),
    }
}

fn level(found: &LevelEstimate, expected: &Value, what: &str) {
    if let Some(why) = expected.get("refused") {
        assert_eq!(why, "a position of the new ranking has no row with weight");
        assert!(
            found.value.is_none() && found.difference.is_none() && found.effective_lists == 0.0,
            "{what}"
        );
        return;
    }
    estimate(found.value.as_ref(), &expected["value"], &expected["se"], what);
    estimate(found.difference.as_ref(), &expected["difference"], &expected["difference_se"], what);
    close(found.effective_lists, &expected["effective_lists"], what);
    close(found.largest_share, &expected["largest_share"], what);
    let means = expected["mean_weight"].as_array().unwrap();
    assert_eq!(found.mean_weights.len(), means.len(), "{what}");
    for (found, mean) in found.mean_weights.iter().zip(means) {
        close(found.value, mean, what);
    }
}

#[test]
fn every_number_of_every_case_is_found() {
    for case in CASES {
        let expected = expected(case);
        let found = evaluated(case, 1);
        assert_eq!(found.lists, expected["lists"].as_u64().unwrap());
        assert_eq!(found.groups as u64, expected["groups"].as_u64().unwrap());
        estimate(Some(&found.today), &expected["today"]["value"], &expected["today"]["se"], case);
        for of in Level::ALL {
            let what = format!("{case}, {}", of.name());
            level(found.of(of), &expected["estimators"][of.name()], &what);
        }
        let never = found.never_shown.unwrap();
        let mass = &expected["target_mass_without_support"];
        let found = [
            ("list", never.list),
            ("prefix", never.prefix),
            ("position", never.position),
            ("item", never.item),
        ];
        for (name, found) in found {
            close(found, &mass[name], case);
        }
    }
}

#[test]
fn threads_and_order_change_no_bit() {
    for case in CASES {
        let alone = evaluated(case, 1);
        for threads in [2, 7] {
            assert_eq!(evaluated(case, threads), alone, "{case}, {threads} threads");
        }
    }
}

#[test]
fn users_have_the_groups_of_the_definition() {
    let groups: Vec<u64> = (0..8).map(|user| unit_hash(format!("u{user}").as_bytes()) % 20).collect();
    assert_eq!(groups, [11, 5, 18, 0, 17, 0, 15, 4]);
}

/// A ranking of each session by its name is that of the queries, and of the first position alone
/// compares longer lists down to its end.
#[test]
fn personal_and_shorter_rankings() {
    let case = "by-hand";
    let of_queries = evaluated(case, 1);
    let rows = ["s0", "s1", "s2", "s3"].map(|session| format!("{session},1,i0\n{session},2,i1\n")).concat();
    let personal = of_ranking(case, &format!("session,position,item\n{rows}"), &[1.0, 1.0]);
    assert_eq!(personal.levels, of_queries.levels);
    assert_eq!(personal.never_shown, None);

    let short = of_ranking(case, "query,position,item\nq,1,i0\n", &[1.0]);
    assert_eq!((short.about.longer, short.about.shorter), (4, 0));
    // Item i0 was clicked in one of the two lists with it on top, i1 in none.
    assert_eq!(short.today.value, 0.25);
    let values = short.levels.iter().map(|level| level.value.as_ref().unwrap().value);
    assert_eq!(values.collect::<Vec<_>>(), [0.5; 3]);
}
