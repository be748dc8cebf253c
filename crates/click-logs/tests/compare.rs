//! Hold-out, and comparisons on held-out data.
//!
//! Statistical tests have a fixed seed; a right implementation fails a check with probability below
//! 1e-6, and every test has a wrong one that it catches.

use super::without_one_in;
use crate::log_generator::{Traffic, yandex};
use click_logs::fit::{Comparison, Difference, Fit, Model, Options, Prediction, compare, fit};
use click_models::{DcmReward, DependentClick};
use log_reader::{Format, Log, Part, Reader, Sessions};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write;
use std::num::NonZeroUsize;

const SESSIONS: &str = "query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n";

fn read(log: &str) -> Log {
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    reader.read("generated", log.as_bytes()).unwrap()
}

fn as_held_out(log: Log) -> Part {
    Part { counts: log.counts, sessions: log.sessions }
}

fn counts(rows: &str) -> Log {
    let log = format!("query,item,position,clicks,impressions\n{rows}");
    Reader::new(Format::counts()).read("counts.csv", log.as_bytes()).unwrap()
}

fn fitted(model: Model, log: &Log) -> Fit {
    fit(model, &log.counts, &log.sessions, &Options::default()).unwrap()
}

/// A line represents as many sessions as it has impressions, and these are held out one by one.
/// Binomial numbers, within six standard deviations.
#[test]
fn a_line_of_many_impressions_is_cut() {
    let log = "2000\t11820\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n0\t1\t17\t902\t4\t2\t2\t55\t6\t7\t8\t9\n";
    let whole = Reader::new(Format::Kdd2012).read("training.txt", log.as_bytes()).unwrap();
    for seed in 0..20 {
        let (log, held_out) = without_one_in(&whole, 10, seed);
        let held_out = held_out.counts;
        assert_eq!(whole.counts.without(&held_out), log.counts);
        assert_eq!(whole.counts.impressions(), log.counts.impressions() + held_out.impressions());
        assert!((1182.0 - held_out.impressions() as f64).abs() < 6.0 * (11_820.0_f64 * 0.09).sqrt());
        assert!((200.0 - held_out.clicks() as f64).abs() < 6.0 * (2000.0_f64 * 0.09).sqrt());
    }
}

/// `sqrt(G / (G - 1) sum (d - R m)^2) / sum m`, one term per cluster.
fn by_hand(clusters: &[(f64, f64)]) -> (f64, f64) {
    let n = clusters.len() as f64;
    let impressions: f64 = clusters.iter().map(|cluster| cluster.1).sum();
    let mean = clusters.iter().map(|cluster| cluster.0).sum::<f64>() / impressions;
    let squares: f64 = clusters.iter().map(|(d, m)| (d - mean * m) * (d - mean * m)).sum();
    (mean, (squares * n / (n - 1.0)).sqrt() / impressions)
}

fn assert_difference(found: Difference, (mean, error): (f64, f64)) {
    let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(same(found.mean, mean) && same(found.standard_error.unwrap(), error), "{found:?} {mean} {error}");
}

#[test]
fn errors_are_those_of_sessions_or_cells() {
    let rows =
        "5\t1\t8,9,7\t100\t0\n5\t1\t8,9,7\t000\t2\n5\t1\t8,9,7\t100\t0\n5\t1\t9,8\t01\t0\n6\t1\t1\t1\t0\n";
    let log = read(&format!("{SESSIONS}{rows}"));
    let models = [Model::Pbm, Model::CtrGlobal];
    let fits = models.map(|model| fitted(model, &log));
    let given = |list: &[_], query, clicks| {
        let mut prediction = Prediction::default();
        let [a, b] = fits.each_ref().map(|fit| {
            fit.predict(query, list, clicks, &mut prediction);
            let of = |(l, p): (usize, &f64)| libm::log(if clicks.get(l) { *p } else { 1.0 - p });
            prediction.conditional.iter().enumerate().map(of).sum::<f64>()
        });
        a - b
    };
    let mut clusters = Vec::new();
    for query in log.sessions.queries() {
        for list in query.lists() {
            for pattern in list.patterns {
                let d = given(list.items, query.id(), pattern.clicks);
                clusters.extend((0..pattern.sessions).map(|_| (d, list.items.len() as f64)));
            }
        }
    }
    assert_eq!(clusters.len(), 5);
    let mut held_out = as_held_out(log.clone());
    let compared = |held_out: &Part| {
        let comparison = Comparison::new(held_out, models.map(|model| Ok(fitted(model, &log)))).unwrap();
        let places =
            models.map(|model| comparison.scores.iter().position(|score| score.model == model).unwrap());
        (comparison.difference(places[0], places[1]), comparison)
    };
    let (difference, comparison) = compared(&held_out);
    assert_difference(difference, by_hand(&clusters));
    assert!(comparison.by_session && comparison.n_clusters == 5);
    let [best, worst] = [0, 1].map(|place| comparison.scores[place].log_likelihood);
    assert!((best - worst - comparison.difference(0, 1).mean).abs() < 1e-12);

    held_out.sessions = Sessions::default();
    let mut clusters = Vec::new();
    for query in log.counts.queries() {
        for cell in query.cells() {
            let [a, b] = fits.each_ref().map(|fit| {
                let p = fit.click_probability(query.id(), cell.item, cell.position).unwrap();
                cell.clicks as f64 * libm::log(p)
                    + (cell.impressions - cell.clicks) as f64 * libm::log(1.0 - p)
            });
            clusters.push((a - b, cell.impressions as f64));
        }
    }
    let (difference, comparison) = compared(&held_out);
    assert_difference(difference, by_hand(&clusters));
    assert!(!comparison.by_session && comparison.n_clusters == 6);

    // A single session has no information about the variation between sessions.
    let one = as_held_out(read(&format!("{SESSIONS}5\t1\t8,9,7\t100\t0\n")));
    let (difference, comparison) = compared(&one);
    assert!(difference.standard_error.is_none() && !difference.is_told_apart());
    assert_eq!(comparison.choice(&|_| true).unwrap().model, Model::CtrGlobal);
}

/// A query with a first and a second page: each click is scored at its position of the log.
#[test]
fn lists_are_scored_where_they_stand() {
    let mut log = "session,query,item,position,click\n".to_owned();
    for session in 0..200 {
        let first = if session % 2 == 0 { 1 } else { 11 };
        for place in 0..3 {
            let clicked = u8::from(session % (first + 2 + place) < 2);
            writeln!(log, "{session},q,{},{},{clicked}", (session / 2 + place) % 4, first + place).unwrap();
        }
    }
    let columns = "session=session,query=query,item=item,position=position,click=click";
    let reader = Reader::new(Format::delimited(columns).unwrap()).keep_sessions();
    let log = reader.read("log.csv", log.as_bytes()).unwrap();
    let pbm = fitted(Model::Pbm, &log);
    let (mut sum, mut by_rank) = (0.0, [0.0; 13]);
    for query in log.counts.queries() {
        for cell in query.cells() {
            let p = pbm.click_probability(query.id(), cell.item, cell.position).unwrap();
            let skips = (cell.impressions - cell.clicks) as f64;
            let of_cell = cell.clicks as f64 * libm::log(p) + skips * libm::log(1.0 - p);
            sum += of_cell;
            by_rank[cell.position] += of_cell / 100.0;
        }
    }
    let score = compare(&pbm, &as_held_out(log)).unwrap();
    assert!((score.log_likelihood - sum / 600.0).abs() < 1e-12, "{sum} {score:?}");
    for (rank, sum) in by_rank.into_iter().enumerate() {
        let is_shown = !(3..10).contains(&rank);
        assert_eq!(score.impressions_by_rank[rank], if is_shown { 100 } else { 0 });
        let perplexity = score.perplexity_by_rank[rank];
        assert!(if is_shown { (perplexity - libm::exp(-sum)).abs() < 1e-12 } else { perplexity.is_nan() });
    }
}

/// Users who click on everything or on nothing. The variance of differences on 2000 held-out parts
/// has a standard deviation of 3.2 %, and the correct standard error is within six of these. The
/// standard error for independent impressions is not: ten impressions of a list are worth one.
#[test]
fn differences_vary_as_their_standard_errors_say() {
    let models = [500, 300].map(|clicks| counts(&format!("a,a,1,{clicks},1000\n")));
    let p = models.each_ref().map(|log| {
        let rate = fitted(Model::CtrGlobal, log);
        let query = log.counts.queries().next().unwrap();
        rate.click_probability(query.id(), query.items().next().unwrap(), 0).unwrap()
    });
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let (n_logs, n_sessions) = (2000, 100);
    let mut differences = Vec::new();
    let (mut right, mut wrong) = (0.0, 0.0);
    for _ in 0..n_logs {
        let mut log = String::from(SESSIONS);
        for _ in 0..n_sessions {
            let mask = if rng.random::<f64>() < 0.4 { "1111111111" } else { "0000000000" };
            writeln!(log, "5\t1\t1,2,3,4,5,6,7,8,9,10\t{mask}\t0").unwrap();
        }
        let log = read(&log);
        let (clicks, impressions) = (log.counts.clicks() as f64, log.counts.impressions() as f64);
        let fits = models.each_ref().map(|model| Ok(fitted(Model::CtrGlobal, model)));
        let comparison = Comparison::new(&as_held_out(log), fits).unwrap();
        let of_first = (clicks * libm::log(p[0] / p[1])
            + (impressions - clicks) * libm::log((1.0 - p[0]) / (1.0 - p[1])))
            / impressions;
        let difference = comparison.difference(0, 1);
        assert!((difference.mean - of_first.abs()).abs() < 1e-9);
        differences.push(of_first);
        right += difference.standard_error.unwrap().powi(2) / f64::from(n_logs);
        let rate = clicks / impressions;
        let spread = libm::log(p[0] / p[1]) - libm::log((1.0 - p[0]) / (1.0 - p[1]));
        wrong += rate * (1.0 - rate) * spread * spread / impressions / f64::from(n_logs);
    }
    let mean = differences.iter().sum::<f64>() / f64::from(n_logs);
    let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / f64::from(n_logs - 1);
    let apart = |claimed: f64| (variance / claimed - 1.0).abs() / (2.0 / f64::from(n_logs)).sqrt();
    assert!(apart(right) < 6.0, "{variance} {right}");
    assert!(apart(wrong) > 6.0, "{variance} {wrong}");
}

fn compared(log: &[u8], seed: u64) -> Comparison {
    let log = Reader::new(Format::Yandex).keep_sessions().read("generated", log).unwrap();
    let (log, held_out) = without_one_in(&log, 10, seed);
    let models = [Model::Pbm, Model::Dcm, Model::Sdbn];
    let fits = models.map(|model| fit(model, &log.counts, &log.sessions, &Options::default()));
    Comparison::new(&held_out, fits).unwrap()
}

/// Users leave after half of their clicks, on any item at any position. A dependent click model and
/// a simplified DBN are both right, and chance decides which of them predicts better. The DBN is
/// ahead by two standard errors on one part in forty; it is ahead on more than 7 of 30 with
/// probability below 1e-6, if the parts were independent. A rule that takes the best passes with
/// probability .003.
#[test]
fn the_simplest_of_models_that_are_not_told_apart_is_chosen() {
    let attraction: Vec<f64> = (0..12).map(|item| 0.5 / f64::from(item + 1)).collect();
    let users = DependentClick::from_values(&attraction, &[0.5; 10], DcmReward::Clicks).unwrap();
    let traffic = [Traffic { query: 9, items: (1..=12).collect(), weight: 1.0, users }];
    let mut log = Vec::new();
    yandex(&traffic, 6_000, 5, &mut log).unwrap();
    let (mut best, mut chosen) = (0, 0);
    for seed in 1..=30 {
        let comparison = compared(&log, seed);
        let choice = comparison.choice(&|_| true).unwrap();
        assert!(choice.best != Model::Pbm && !choice.alike.contains(&Model::Pbm));
        best += u32::from(choice.best == Model::Dcm);
        chosen += u32::from(choice.model == Model::Dcm);
        assert_eq!(comparison.choice(&|model| model == Model::Pbm).unwrap().model, Model::Pbm);
    }
    assert!(chosen >= 23, "{chosen}");
    assert!(best < 23, "{best}");
}
