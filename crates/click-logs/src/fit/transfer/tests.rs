use super::*;
use crate::fit::{Fit, Prediction, Purpose, Scope, fit_checked};
use click_models::Clicks;
use log_reader::{Format, Reader};
use rand::seq::SliceRandom as _;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::fmt::Write;
use std::num::NonZeroUsize;

/// A session: query, items, clicked positions.
type Shown = (usize, Vec<usize>, Vec<bool>);

fn read(log: &[Shown]) -> Sessions {
    let mut text = String::from("query\turls\tclicked_mask\n");
    for (query, items, clicks) in log {
        let items: Vec<String> = items.iter().map(ToString::to_string).collect();
        let mask: String = clicks.iter().map(|&click| if click { '1' } else { '0' }).collect();
        writeln!(text, "{query}\t{}\t{mask}", items.join(",")).unwrap();
    }
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    reader.read("log", text.as_bytes()).unwrap().sessions
}

fn grouped(sessions: &Sessions) -> Vec<SessionGroups> {
    sessions.queries().map(|query| SessionGroups::new(&query, true)).collect()
}

/// A session: group, query, list, predicted and observed clicks.
type Plain = ((usize, usize), usize, usize, f64, f64);

/// `sum S_pp`, `sum S_py`, and the number of sessions, from the definition.
fn by_definition<'a>(sessions: &(impl Iterator<Item = &'a Plain> + Clone)) -> [f64; 3] {
    let mut groups: Vec<_> = sessions.clone().map(|session| session.0).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut sums = [0.0, 0.0, sessions.clone().count() as f64];
    for group in groups {
        let of_group: Vec<&Plain> = sessions.clone().filter(|session| session.0 == group).collect();
        let n = of_group.len() as f64;
        let [p, y] =
            [|s: &Plain| s.3, |s: &Plain| s.4].map(|of| of_group.iter().map(|s| of(s)).sum::<f64>() / n);
        sums[0] += of_group.iter().map(|s| (s.3 - p) * (s.3 - p)).sum::<f64>();
        sums[1] += of_group.iter().map(|s| (s.3 - p) * (s.4 - y)).sum::<f64>();
    }
    sums
}

fn error_by_definition(statistics: &[f64]) -> f64 {
    let n = statistics.len() as f64;
    let mean = statistics.iter().sum::<f64>() / n;
    sqrt((n - 1.0) / n * statistics.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>())
}

/// Slope, squared error, and their errors, by deletion of every session of a query or list.
#[test]
fn slopes_and_errors_are_those_of_the_definition() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for n_queries in [3, 6] {
        let mut log: Vec<Shown> = Vec::new();
        for _ in 0..100 * n_queries {
            let mut items: Vec<usize> = (0..4).collect();
            items.shuffle(&mut rng);
            items.truncate(rng.random_range(1..3));
            let clicks = items.iter().map(|_| rng.random::<f64>() < 0.4).collect();
            log.push((rng.random_range(0..n_queries), items, clicks));
        }
        let sessions = read(&log);
        let queries = grouped(&sessions);
        assert_eq!(queries.len(), n_queries);
        let mut predicted = || -> Vec<Vec<f64>> {
            queries.iter().map(|query| (0..query.parts.len()).map(|_| rng.random()).collect()).collect()
        };
        let predicted = [predicted(), predicted()];
        let used: Vec<&SessionGroups> = SessionGroups::differing(&queries).collect();
        let found = Transfers::of_predictions(&[Model::Pbm, Model::Ubm], &used, &[], &predicted);
        let plain = |model: usize| -> Vec<Plain> {
            let of_query = |(number, query): (usize, log_reader::QuerySessions<'_>)| {
                let n_sessions = query.in_order().len();
                let session = |(place, session): (usize, log_reader::Session)| {
                    let p = predicted[model][number][session.list];
                    let y = f64::from(session.clicks.count());
                    let group = 5 * (place * 10 / n_sessions) + queries[number].parts[session.list];
                    ((number, group), number, session.list, p, y)
                };
                query.in_order().enumerate().map(session).collect::<Vec<_>>()
            };
            sessions.queries().enumerate().flat_map(of_query).collect()
        };
        let plain = [plain(0), plain(1)];
        let mut units: Vec<(usize, usize)> =
            plain[0].iter().map(|s| if n_queries < 5 { (s.1, s.2) } else { (s.1, 0) }).collect();
        units.sort_unstable();
        units.dedup();
        let without = |model: usize, unit: &(usize, usize)| {
            let is_unit = |s: &Plain| s.1 == unit.0 && (n_queries >= 5 || s.2 == unit.1);
            by_definition(&plain[model].iter().filter(|session| !is_unit(session)))
        };
        let slope = |[pp, py, _]: [f64; 3]| py / pp;
        let squared_error = |[pp, py, n]: [f64; 3]| (pp - 2.0 * py) / n;
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{n_queries}: {a} {b}");
        for (model, transfer) in found.models.iter().enumerate() {
            let all = by_definition(&plain[model].iter());
            same(transfer.slope.unwrap(), slope(all));
            same(transfer.squared_error, squared_error(all));
            let statistics: Vec<f64> = units.iter().map(|unit| slope(without(model, unit))).collect();
            same(transfer.standard_error.unwrap(), error_by_definition(&statistics));
            same(transfer.predicted, plain[model].iter().map(|s| s.3).sum::<f64>() / all[2]);
        }
        let apart = |unit| squared_error(without(1, unit)) - squared_error(without(0, unit));
        let statistics: Vec<f64> = units.iter().map(apart).collect();
        let difference = found.difference(Model::Pbm, Model::Ubm).unwrap();
        same(difference.standard_error.unwrap(), error_by_definition(&statistics));
        same(difference.mean, found.models[1].squared_error - found.models[0].squared_error);
        same(found.observed, plain[0].iter().map(|s| s.4).sum::<f64>() / plain[0].len() as f64);
        assert_eq!(
            (found.sessions, found.lists),
            (100 * n_queries as u64, queries.iter().map(|q| q.parts.len()).sum())
        );
    }
}

/// Two lists in turn, predicted to have .2 and .6 clicks. There are ten tenths, each with a session
/// of each list: the second list is clicked in six and the first in two: 4 clicks more in 10
/// sessions, as predicted. The lists of the other parts are alone in theirs.
#[test]
fn a_slope_by_hand() {
    let mut log = Vec::new();
    for tenth in 0..10 {
        log.push((7, vec![1, 2], vec![tenth < 2, false]));
        log.push((7, vec![2, 1], vec![tenth < 6, false]));
        (2..6).for_each(|part| log.push((7, vec![1, 2, part + 10], vec![true; 3])));
    }
    let queries = [SessionGroups::new(&read(&log).queries().next().unwrap(), true)];
    let used: Vec<&SessionGroups> = SessionGroups::differing(&queries).collect();
    // Lists are sorted by items: 1 2; 1 2 12; ..; 2 1. All have as many sessions.
    assert_eq!(queries[0].parts, [0, 1, 2, 3, 4, 0]);
    let of = |[first, second]: [f64; 2]| {
        let predicted = vec![first, 0.1, 0.9, 0.9, 0.9, second];
        Transfers::of_predictions(&[Model::Pbm], &used, &[], &[vec![predicted]]).models[0].clone()
    };
    let transfer = of([0.2, 0.6]);
    assert!((transfer.slope.unwrap() - 1.0).abs() < 1e-12);
    // S_pp = .8 and S_py = .8, in 60 sessions.
    assert!((transfer.squared_error + 0.8 / 60.0).abs() < 1e-12);
    assert!((transfer.predicted - 3.6 / 6.0).abs() < 1e-12);
    // Without one of the lists there is nothing to compare.
    assert_eq!((transfer.standard_error, transfer.verdict()), (None, Verdict::CannotTest));
    assert!((of([0.2, 0.4]).slope.unwrap() - 2.0).abs() < 1e-12);
    // Equal predictions, equal up to rounding.
    assert_eq!((of([0.3, 0.3]).slope, of([0.3, 0.1 + 0.2]).slope), (None, None));
}

/// Weights 1, mean 2, `Q = 8`, so the variance is `(8 - 2) / (3 - 3 / 3) = 3`.
#[test]
fn the_variance_between_queries_by_hand() {
    let variance = |slopes: &[(f64, f64)]| variance_between(slopes.iter().copied());
    assert!((variance(&[(0.0, 1.0), (2.0, 1.0), (4.0, 1.0)]) - 3.0).abs() < 1e-12);
    // Weights 1 and 1/4: mean .8, Q = .64 + 10.24 / 4 = 3.2, and (3.2 - 1) / (1.25 - 1.0625 /
    // 1.25) = 5.5.
    assert!((variance(&[(0.0, 1.0), (4.0, 2.0)]) - 5.5).abs() < 1e-12);
    assert_eq!(variance(&[(0.0, 1.0), (1.0, 1.0)]), 0.0);
    assert_eq!((variance(&[(0.3, 1.0)]), variance(&[])), (0.0, 0.0));
}

#[test]
fn verdicts_and_what_they_need() {
    let of = |slope: f64, error: f64| {
        let transfer = Transfer {
            model: Model::Pbm,
            slope: Some(slope),
            standard_error: Some(error),
            squared_error: 0.0,
            predicted: 1.0,
            deviations: Vec::new(),
            between_queries: 0.0,
            tenths: Vec::new(),
            own_variance: OwnVariance::default(),
        };
        (transfer.verdict(), transfer.needed())
    };
    assert_eq!(of(0.5, 0.2), (Verdict::Supported, None));
    // Surely above 1, and by more than a model that is a little wrong.
    assert_eq!(of(1.5, 0.2), (Verdict::Exceeded, None));
    assert_eq!([of(1.2, 0.05), of(1.5, 0.3)], [(Verdict::Supported, None); 2]);
    assert_eq!(of(0.1, 0.1), (Verdict::Contradicted, None));
    // Both: what is above 0 is supported.
    assert_eq!(of(0.1, 0.02), (Verdict::Supported, None));
    let z = normal_quantile(0.95);
    for (slope, error, needed) in [
        (0.2, 1.0, z * z / 0.25),
        (-0.5, 1.0, z * z / 0.25),
        (0.8, 1.0, z * z / 0.64),
        // A slope of .5 could be told: the estimate lies between.
        (0.2, 0.2, z * z * 0.04 / 0.04),
        (0.1, 0.2, z * z * 0.04 / 0.04),
    ] {
        let (verdict, found) = of(slope, error);
        assert_eq!(verdict, Verdict::CannotTest);
        assert!((found.unwrap() - needed).abs() < 1e-9, "{slope} {error} {found:?} {needed}");
    }
}

/// A query of the log with clicks of a position-based model: one in `one_in` of ten lists of four
/// of six items.
fn position_based(n_sessions: usize, seed: u64) -> Vec<Shown> {
    const EXAMINATION: [f64; 4] = [1.0, 0.6, 0.4, 0.3];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let session = |number: usize| {
        let query = number % 6;
        let mut items: Vec<usize> = (0..6).collect();
        for place in 0..4 {
            items.swap(place, rng.random_range(place..6));
        }
        items.truncate(4);
        let attraction = |item: usize| 0.6 / (1 + (item + query) % 6) as f64;
        let click = |(&item, g): (&usize, f64)| rng.random::<f64>() < attraction(item) * g;
        let clicks = items.iter().zip(EXAMINATION).map(click).collect();
        (query, items, clicks)
    };
    (0..n_sessions).map(session).collect()
}

/// Fits of parts stop earlier, and predict the same to a thousandth; near the fit to the whole log,
/// too. A thousand times earlier still, they do not.
#[test]
fn fits_that_stop_earlier_predict_the_same() {
    let sessions = read(&position_based(3000, 2));
    let queries = grouped(&sessions);
    let exact = Options::default().without_errors();
    let early = Options::default().of_folds();
    let mut wrong = early;
    wrong.em.tolerance = 0.1;
    for model in crate::study::with_users() {
        let whole = fit_checked(model, &sessions.counts(), &sessions, &exact, Purpose::default()).unwrap();
        let predicted = |(whole, options): (&[Fit], &Options)| {
            let predicted = folds::predicted(&[model], whole, &sessions, &queries, options);
            predicted.unwrap().unwrap().into_iter().flatten().flatten().collect::<Vec<f64>>()
        };
        let none: &[Fit] = &[];
        let runs = [(none, &exact), (none, &early), (none, &wrong), (&[whole], &early)];
        let [exact, early, wrong, near] = runs.map(predicted);
        let apart =
            |other: &[f64]| exact.iter().zip(other).map(|(a, b)| (b / a - 1.0).abs()).fold(0.0, f64::max);
        assert!(apart(&early) < 1e-3, "{model}: {}", apart(&early));
        // The prior is searched to a hundredth.
        assert!(apart(&near) < 5e-3, "{model}: {}", apart(&near));
        // Other models have no EM.
        if matches!(model, Model::Dcm | Model::Sdbn | Model::Dbn | Model::Ccm) {
            assert!(apart(&wrong) > 1e-3, "{model}: {}", apart(&wrong));
        }
    }
}

/// A fit for the prediction of some queries has the fits of all for them, and no others.
#[test]
fn predicted_queries_have_the_fits_of_all() {
    let sessions = read(&position_based(600, 4));
    let counts = sessions.counts();
    let ids: Vec<_> = sessions.queries().map(|query| query.id()).collect();
    assert!(ids.len() > 2);
    let one = &ids[1..2];
    for scope in [Scope::Query, Scope::Site] {
        let options = Options { scope, ..Options::default() };
        for model in crate::study::with_users() {
            let [all, some] = [None, Some(one)].map(|predicted| {
                let purpose = Purpose { predicted, ..Purpose::default() };
                fit_checked(model, &counts, &sessions, &options, purpose).unwrap()
            });
            assert_eq!(some.queries().len(), 1, "{model}");
            assert_eq!(some.query(one[0]), all.query(one[0]), "{model}");
            let of_query = |fit: &Fit| {
                let id = one[0];
                [fit.own_positions(id), fit.satisfaction(id), fit.own_continuation(id)].map(<[_]>::to_vec)
            };
            assert_eq!(of_query(&some), of_query(&all), "{model}");
        }
    }
}

/// Every list is predicted by the fit to the four other parts, and parts are of equal size: the
/// lists with the most sessions first.
#[test]
fn lists_are_predicted_by_fits_that_have_not_seen_them() {
    let log = position_based(400, 3);
    let sessions = read(&log);
    let queries = grouped(&sessions);
    let options = Options::default().of_folds();
    let predicted = folds::predicted(&[Model::Pbm], &[], &sessions, &queries, &options).unwrap().unwrap();
    let names = sessions.names();
    for part in [0, 3] {
        // The lists of the part, with their predictions, and the rest of the log as a log of its
        // own.
        let mut left_out: Vec<(usize, Vec<usize>, f64)> = Vec::new();
        for (number, query) in sessions.queries().enumerate() {
            let sizes = query.lists().map(|list| list.patterns.iter().map(|p| p.sessions).sum());
            let mut sizes: Vec<(usize, u64)> = sizes.enumerate().collect();
            sizes.sort_by_key(|size| Reverse(size.1));
            for &(place, _) in sizes.iter().skip(part).step_by(5) {
                let items = query.lists().nth(place).unwrap().items.iter();
                let items = items.map(|&item| names.name(item).parse().unwrap()).collect();
                left_out.push((number, items, predicted[0][number][place]));
            }
        }
        let is_left_out =
            |shown: &&Shown| left_out.iter().any(|list| (list.0, &list.1) == (shown.0, &shown.1));
        let rest: Vec<Shown> = log.iter().filter(|shown| !is_left_out(shown)).cloned().collect();
        let rest = read(&rest);
        let fit = fit_checked(Model::Pbm, &rest.counts(), &rest, &options, Purpose::default()).unwrap();
        let mut prediction = Prediction::default();
        for query in sessions.queries() {
            for list in query.lists() {
                let items: Vec<usize> =
                    list.items.iter().map(|&item| names.name(item).parse().unwrap()).collect();
                let of_list = |other: &&(usize, Vec<usize>, f64)| {
                    names.name(query.id()) == other.0.to_string() && other.1 == items
                };
                let Some((_, _, predicted)) = left_out.iter().find(of_list) else { continue };
                fit.predict(query.id(), list.items, Clicks::new(items.len()), &mut prediction);
                assert!((prediction.marginal.iter().sum::<f64>() - predicted).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn tenths_are_means_over_sessions() {
    // One list has half of the sessions: five tenths, all of which it fills.
    let mut differences: Vec<[f64; 3]> =
        (0..10).map(|list| [f64::from(list), 2.0 * f64::from(list), 2.0]).collect();
    let pairs = tenths(differences.clone());
    assert_eq!(pairs, (0..10).map(|list| [f64::from(list), 2.0 * f64::from(list)]).collect::<Vec<_>>());
    differences.push([-1.0, 3.0, 20.0]);
    let pairs = tenths(differences);
    assert_eq!(pairs.first(), Some(&[-1.0, 3.0]));
    assert_eq!(pairs[1..], [0.5, 2.5, 4.5, 6.5, 8.5].map(|mean| [mean, 2.0 * mean]));
    assert!(tenths(Vec::new()).is_empty());
}

/// The variance of lists, where all are predicted to have these clicks.
fn own_variance(log: &[Shown], predicted: f64) -> OwnVariance {
    let sessions = read(log);
    let all = grouped(&sessions);
    let of_query = |grouped: &SessionGroups| Lists::new(&sessions.query(grouped.query).unwrap(), grouped);
    let lists: Vec<Lists> = all.iter().map(of_query).collect();
    let predicted: Vec<Vec<f64>> = all.iter().map(|grouped| vec![predicted; grouped.parts.len()]).collect();
    OwnVariance::new(&lists, &predicted, 1.0)
}

/// A list of a query with its number.
fn numbered(list: usize) -> Vec<usize> {
    vec![list % 7, 7 + list % 6, 13 + list % 5]
}

/// Lists whose clicks differ from their predictions by something of their own have a variance;
/// lists that differ by chance alone have none beyond its error.
#[test]
fn the_variance_of_lists_is_what_chance_does_not_explain() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for own in [0.0, 0.2] {
        let mut log = Vec::new();
        for query in 0..4 {
            for list in 0..40 {
                let probability = 0.4 + own * if list % 2 == 0 { 1.0 } else { -1.0 };
                for _ in 0..20 + list {
                    log.push((query, numbered(list), vec![rng.random::<f64>() < probability, false, false]));
                }
            }
        }
        let found = own_variance(&log, 0.4);
        let error = (found.estimate - own * own).abs();
        assert!(error < 3.0 * found.standard_error.max(0.1 * own * own), "{found:?} for {own}");
        assert!(own == 0.0 || found.estimate > 5.0 * found.standard_error);
    }
}

/// Many queries of few sessions, with as many clicks or with different ones: over some logs, the
/// variance of lists has that of their deviation as its mean, 0 if they differ by chance alone.
#[test]
fn queries_of_few_sessions_have_no_variance_of_lists_by_chance() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for (least, most, own) in [(0.15, 0.15, 0.0), (0.02, 0.4, 0.0), (0.15, 0.15, 0.1)] {
        let found: Vec<OwnVariance> = (0..10)
            .map(|_| {
                let mut log = Vec::new();
                for query in 0..300 {
                    let of_query = least + (most - least) * rng.random::<f64>();
                    for list in 0..12 {
                        let of_list = of_query + own * if rng.random() { 1.0 } else { -1.0 };
                        for _ in 0..=list / 6 {
                            let clicks = vec![rng.random::<f64>() < of_list, false, false];
                            log.push((query, numbered(list), clicks));
                        }
                    }
                }
                own_variance(&log, 0.15)
            })
            .collect();
        let mean = |of: fn(&OwnVariance) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
        let error = mean(|found| found.standard_error);
        let by = mean(|found| found.estimate) - own * own;
        assert!(by.abs() < 3.0 * error / sqrt(found.len() as f64), "{by} +- {error} for {least} {own}");
    }
}

/// Up to two standard errors, the variance of lists is taken for chance, and is none; beyond them,
/// it is what exceeds one.
#[test]
fn a_variance_of_lists_within_two_standard_errors_is_none() {
    let sessions = read(&position_based(3000, 2));
    let options = Options::default();
    let fit = fit_checked(Model::Pbm, &sessions.counts(), &sessions, &options, Purpose::default()).unwrap();
    let transfers = Transfers::new(&[Model::Pbm], &[], &sessions, &options).unwrap().unwrap();
    let of = |estimate: f64| {
        let own_variance = OwnVariance { estimate, standard_error: 0.01 };
        let transfer = Transfer { own_variance, ..transfers.models[0].clone() };
        // Halves with the same fit: it has no error of its own.
        transfer.variance_of_lists(&sessions, [&fit, &fit], 1.0)
    };
    assert_eq!([-0.01, 0.0, 0.015, 0.0199].map(of), [0.0; 4]);
    assert!((of(0.0201) - 0.0101).abs() < 1e-12, "{}", of(0.0201));
}

/// Where a fifth of the sessions is written twice, lists that differ by chance alone have a
/// variance unless chance is multiplied; those that differ keep theirs.
#[test]
fn copies_are_no_variance_of_lists() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let options = Options::default();
    for own in [0.0, 0.0, 0.0, 0.2] {
        let mut log = Vec::new();
        for (query, list) in (0..16).flat_map(|query| (0..60).map(move |list| (query, list))) {
            let probability = 0.4 + own * if list % 2 == 0 { 1.0 } else { -1.0 };
            for _ in 0..20 {
                let shown = (query, numbered(list), vec![rng.random::<f64>() < probability, false, false]);
                log.extend(std::iter::repeat_n(shown, if rng.random_bool(0.2) { 2 } else { 1 }));
            }
        }
        let sessions = read(&log);
        let fit =
            fit_checked(Model::Pbm, &sessions.counts(), &sessions, &options, Purpose::default()).unwrap();
        let transfers = Transfers::new(&[Model::Pbm], &[], &sessions, &options).unwrap().unwrap();
        let transfer = Transfer { own_variance: own_variance(&log, 0.4), ..transfers.models[0].clone() };
        let [with, without] =
            [1.0, 4.0 / 3.0].map(|of| transfer.variance_of_lists(&sessions, [&fit, &fit], of));
        assert!(with > 0.0 && if own > 0.0 { without > 0.02 } else { without == 0.0 }, "{with} {without}");
    }
}

/// A query with many sessions keeps the variance of its own sessions, however large it is beside
/// that of others with as many clicks; one with few or without clicks has about that of the others.
#[test]
fn sessions_have_the_variance_of_their_query_where_it_is_known() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut log = Vec::new();
    for number in 0..6_000 {
        let all = rng.random::<f64>() < 1.0 / 3.0;
        log.push((0, numbered(number % 20), vec![all; 3]));
        log.push((1, numbered(number % 20), (0..3).map(|_| rng.random::<f64>() < 1.0 / 3.0).collect()));
    }
    (0..3).for_each(|list| log.push((2, numbered(list), vec![false; 3])));
    let sessions = read(&log);
    let variances = SessionVariance::new(&sessions);
    let of: Vec<f64> = sessions.queries().map(|query| variances.of(&query)).collect();
    // Three clicks or none, and three independent ones.
    assert!((of[0] - 2.0).abs() < 0.1 && (of[1] - 2.0 / 3.0).abs() < 0.1, "{of:?}");
    assert!(of[2] > 0.5 && of[2] < 1.5, "{of:?}");
}
