//! Fits of logs of users of the DBN, the click chain and the user browsing model.
//!
//! Statistical tests have a fixed seed; a correct implementation fails a test with probability
//! below 1e-6, and every test has a wrong implementation that it detects.

use super::intervals::{covers, hits};
use super::lists::{HEADER, push_session, ranked};
use super::without_one_in;
use click_logs::fit::{Comparison, Estimate, Fit, Model, Options, Scope, fit};
use click_models::{
    ClickChain, ClickModel, Clicks, DbnReward, DynamicBayesian, Feedback, Interaction, ItemId, ListFeedback,
    Ranking, UserBrowsing,
};
use confidence::Probability;
use log_reader::{Format, Log, Reader};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::num::NonZeroUsize;

const ATTRACTION: [f64; 6] = [0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
const SATISFACTION: [f64; 6] = [0.7, 0.3, 0.5, 0.6, 0.4, 0.5];
const CONTINUATION: [f64; 3] = [0.8, 0.9, 0.4];
const BROWSING: [&[f64]; 4] = [&[1.0], &[0.6, 0.8], &[0.4, 0.5, 0.7], &[0.3, 0.35, 0.5, 0.6]];

fn dbn_users(n_positions: usize) -> DynamicBayesian {
    DynamicBayesian::from_values(&ATTRACTION, &SATISFACTION, 0.8, n_positions, DbnReward::Clicks).unwrap()
}

fn ccm_users() -> ClickChain {
    ClickChain::from_values(&ATTRACTION, CONTINUATION, 4).unwrap()
}

fn ubm_users() -> UserBrowsing {
    UserBrowsing::from_values(&ATTRACTION, &BROWSING).unwrap()
}

/// `n` sessions of each query. Better items tend to stand higher.
fn log_of<M>(users: &[M], n_positions: usize, n: usize, rng: &mut impl Rng) -> String
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    Feedback<M>: ListFeedback,
{
    let mut log = String::from(HEADER);
    for (query, users) in users.iter().enumerate() {
        for _ in 0..n {
            let keys: [f64; ATTRACTION.len()] =
                std::array::from_fn(|item| item as f64 / 4.0 + 2.0 * rng.random::<f64>());
            let list = ranked(&keys, n_positions);
            let clicks = users.respond(&list, rng).list_clicks();
            push_session(&mut log, query, &list, clicks);
        }
    }
    log
}

fn read(log: &str) -> Log {
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    reader.read("generated", log.as_bytes()).unwrap()
}

fn fitted(model: Model, log: &Log, scope: Scope) -> Fit {
    fit(model, &log.counts, &log.sessions, &Options { scope, ..Options::default() }).unwrap()
}

/// Attraction, satisfaction, continuation, examination, as far as the model has them.
fn all_of(fit: &Fit) -> Vec<Estimate> {
    let query = &fit.queries()[0];
    let attraction = query.items.iter().map(|item| item.attraction);
    let rest = [fit.satisfaction(query.id), fit.continuation(query), fit.positions(query)].concat();
    attraction.chain(rest).collect()
}

/// Number of logs. [`covers`] refuses 166 hits and fewer: at a single parameter, a coverage of 75%
/// is detected with probability .997, and one of 80% with .88. Intervals that are too wide are not
/// refused: 200 hits are possible at a coverage of 96%.
const LOGS: u64 = 200;

/// The parameters are in their intervals in both scopes, and some are not in those of a wrong
/// model.
fn check_intervals(
    model: Model,
    wrong: Model,
    n_sessions: usize,
    truth: &[f64],
    log: impl Fn(usize, &mut Xoshiro256PlusPlus) -> String,
) {
    let found = hits(LOGS, 31, [truth, truth, &ATTRACTION], |rng| {
        let log = read(&log(n_sessions, rng));
        let right = [Scope::Query, Scope::Site].map(|scope| all_of(&fitted(model, &log, scope)));
        let [query, site] = right;
        [query, site, all_of(&fitted(wrong, &log, Scope::Site))]
    });
    let [query, site, wrong] = found;
    println!("{model}: {query:?} {site:?}, wrong {wrong:?}");
    for right in [&query, &site] {
        assert!(right.iter().all(|&hits| covers(hits, LOGS)), "{model}: {query:?} {site:?}");
    }
    assert!(!wrong.iter().all(|&hits| covers(hits, LOGS)), "{wrong:?}");
}

#[test]
fn dynamic_bayesian_parameters_are_in_their_intervals() {
    let truth = [&ATTRACTION[..], &SATISFACTION, &[0.8]].concat();
    // Users who stop after a click only.
    check_intervals(Model::Dbn, Model::Sdbn, 3000, &truth, |n, rng| log_of(&[dbn_users(4)], 4, n, rng));
}

/// Satisfaction of two items in a hundred hardly differs from none. In 60 logs, coverage of 90%
/// fails with probability below 1e-7 for each of 12 items: with 38 hits or fewer. Intervals of a
/// third of the width are rejected.
#[test]
fn satisfaction_near_0_is_in_its_intervals() {
    const NEAR_0: [f64; 6] = [0.02, 0.005, 0.3, 0.02, 0.01, 0.002];
    let users = DynamicBayesian::from_values(&ATTRACTION, &NEAR_0, 1.0, 4, DbnReward::Clicks).unwrap();
    let satisfaction = |fit: &Fit| fit.satisfaction(fit.queries()[0].id).to_vec();
    let wrong = |estimate: &Estimate| {
        let third = |end: f64| estimate.value + (end - estimate.value) / 3.0;
        Estimate { interval: estimate.interval.map(|(low, high)| (third(low), third(high))), ..*estimate }
    };
    let [sdbn, dbn, wrong] = hits(60, 44, [&NEAR_0; 3], |rng| {
        let log = read(&log_of(std::slice::from_ref(&users), 4, 400, rng));
        let [sdbn, dbn] =
            [Model::Sdbn, Model::Dbn].map(|model| satisfaction(&fitted(model, &log, Scope::Site)));
        let wrong = sdbn.iter().map(wrong).collect();
        [sdbn, dbn, wrong]
    });
    assert!(sdbn.iter().chain(&dbn).all(|&hits| hits > 38), "{sdbn:?} {dbn:?}");
    assert!(wrong.iter().any(|&hits| hits <= 38), "{wrong:?}");
}

/// Users of 20 queries are hardly ever satisfied, and continuation is that of the site. In 100
/// logs, coverage of 90% fails with probability below 1e-7: with 72 hits or fewer. Satisfaction
/// that is bounded at 0 raises continuation.
#[test]
fn continuation_is_in_its_interval_though_satisfaction_is_near_0() {
    let users = DynamicBayesian::from_values(&ATTRACTION, &[0.01; 6], 0.8, 4, DbnReward::Clicks).unwrap();
    let [site, half] = hits(100, 45, [&[0.8]; 2], |rng| {
        let log = read(&log_of(&vec![users.clone(); 20], 4, 200, rng));
        let found = fitted(Model::Dbn, &log, Scope::Site).continuation.site[0];
        let nearer = |end: f64| found.value.midpoint(end);
        let half = found.interval.map(|(low, high)| (nearer(low), nearer(high)));
        [vec![found], vec![Estimate { interval: half, ..found }]]
    });
    assert!(site[0] > 72 && half[0] <= 72, "{site:?} {half:?}");
}

/// The click chain with 30 sessions of each query: the log hardly tells continuation after clicks
/// on bad items from that after clicks on good ones, so the site's estimates, which are uncertain,
/// must not decide. Of 2,000 intervals 90% hold the truth, and their mean width is at most 1.5
/// times 3.92 standard deviations.
#[test]
fn continuation_of_queries_is_in_its_intervals() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(46);
    let (mut found, users) = ([const { Vec::new() }; 3], vec![ccm_users(); 10]);
    for _ in 0..200 {
        let fit = fitted(Model::Ccm, &read(&log_of(&users, 4, 30, &mut rng)), Scope::Query);
        for query in fit.queries() {
            let own = fit.own_continuation(query.id);
            found.iter_mut().zip(own).for_each(|(all, estimate)| all.push(*estimate));
        }
    }
    for (all, truth) in found.iter().zip(CONTINUATION) {
        let mean = |of: &dyn Fn(&Estimate) -> f64| all.iter().map(of).sum::<f64>() / 2000.0;
        let value = mean(&|of| of.value);
        let deviation = mean(&|of| (of.value - value).powi(2)).sqrt();
        let width = mean(&|of| of.interval.map_or(0.0, |(low, high)| high - low)) / (3.92 * deviation);
        let covered = mean(&|of| f64::from(u8::from(of.covers(truth))));
        assert!(covered >= 0.9 && width <= 1.5, "{truth}: {covered} covered, width {width}");
    }
}

/// Rounding errors of eliminated information are no information: a few lists that say nothing of
/// continuation leave it without an interval, and do not widen those of attraction.
#[test]
fn rounding_errors_are_no_information() {
    let log = "query\turls\tclicked_mask\nq0\ta,b\t10\nq0\ta,b\t01\nq1\ta,b\t01\nq1\ta,b\t00\n";
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    let log = read(log);
    let fit = fit(Model::Dbn, &log.counts, &log.sessions, &options).unwrap();
    let query = &fit.queries()[1];
    assert!(fit.continuation(query).iter().all(|continuation| continuation.standard_error.is_none()));
    let clicked = query.items.iter().map(|item| item.attraction).find(|of| of.value > 0.1).unwrap();
    assert!(
        clicked.standard_error.is_some_and(|error| (error - 0.125_f64.sqrt()).abs() < 1e-6),
        "{clicked:?}"
    );
}

#[test]
fn click_chain_parameters_are_in_their_intervals() {
    let truth = [ATTRACTION.as_slice(), &CONTINUATION].concat();
    check_intervals(Model::Ccm, Model::Dcm, 3000, &truth, |n, rng| log_of(&[ccm_users()], 4, n, rng));
}

#[test]
fn user_browsing_parameters_are_in_their_intervals() {
    // The first position sets the scale, and is certain.
    let truth = [ATTRACTION.as_slice(), &BROWSING.concat()].concat();
    let found = hits(LOGS, 32, [&truth, &truth, &ATTRACTION], |rng| {
        let log = read(&log_of(&[ubm_users()], 4, 2000, rng));
        let [query, site] = [Scope::Query, Scope::Site].map(|scope| all_of(&fitted(Model::Ubm, &log, scope)));
        [query, site, all_of(&fitted(Model::Cascade, &log, Scope::Site))]
    });
    let [query, site, wrong] = found;
    println!("{query:?} {site:?}, wrong {wrong:?}");
    for right in [&query, &site] {
        assert_eq!(right[ATTRACTION.len()], LOGS);
        let others = right.iter().enumerate().filter(|(of, _)| *of != ATTRACTION.len());
        assert!(others.into_iter().all(|(_, &hits)| covers(hits, LOGS)), "{query:?} {site:?}");
    }
    assert!(!wrong.iter().all(|&hits| covers(hits, LOGS)), "{wrong:?}");
}

/// A log is predicted best by the model of its users, by more than three standard errors of the
/// difference. The differences are 4.9 standard errors and more; the model of another log is not
/// ahead.
#[test]
fn the_model_that_made_a_log_predicts_it_best() {
    let models = [Model::Pbm, Model::Dcm, Model::Ubm, Model::Sdbn, Model::Dbn, Model::Ccm];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(33);
    // After a click the users continue more often than without one.
    let eager = ClickChain::from_values(&ATTRACTION, [0.6, 0.95, 0.8], 6).unwrap();
    let logs = [
        (Model::Dbn, log_of(&[dbn_users(6)], 6, 30_000, &mut rng)),
        (Model::Ccm, log_of(&[eager], 6, 30_000, &mut rng)),
        (Model::Ubm, log_of(&[ubm_users()], 4, 30_000, &mut rng)),
    ];
    for (right, log) in logs {
        let reader = Reader::new(Format::Sessions).keep_sessions();
        let (log, held_out) = without_one_in(&reader.read("generated", log.as_bytes()).unwrap(), 3, 1);
        let fits = models.map(|model| fit(model, &log.counts, &log.sessions, &Options::default()));
        let comparison = Comparison::new(&held_out, fits).unwrap();
        let second = comparison.difference(0, 1);
        let apart = second.mean / second.standard_error.unwrap();
        println!("{right} {apart} {:?}", comparison.scores.iter().map(|s| s.model).collect::<Vec<_>>());
        assert_eq!(comparison.scores[0].model, right);
        assert!(apart > 3.0, "{right} {apart}");
    }
}

/// Queries whose users differ have their own continuation and examination; with one for the site
/// the prediction is worse.
#[test]
fn queries_have_their_own_continuation_and_examination() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(34);
    let dbn = [0.95, 0.5]
        .map(|c| DynamicBayesian::from_values(&ATTRACTION, &SATISFACTION, c, 4, DbnReward::Clicks).unwrap());
    let ccm = [[0.95, 0.9, 0.8], [0.5, 0.5, 0.2]];
    let ccm = ccm.map(|continuation| ClickChain::from_values(&ATTRACTION, continuation, 4).unwrap());
    let low =
        BROWSING.map(|row| row.iter().map(|g| if row.len() > 1 { g * 0.4 } else { *g }).collect::<Vec<_>>());
    let low: Vec<&[f64]> = low.iter().map(Vec::as_slice).collect();
    let ubm = [ubm_users(), UserBrowsing::from_values(&ATTRACTION, &low).unwrap()];
    for (model, log) in [
        (Model::Dbn, log_of(&dbn, 4, 6000, &mut rng)),
        (Model::Ccm, log_of(&ccm, 4, 6000, &mut rng)),
        (Model::Ubm, log_of(&ubm, 4, 6000, &mut rng)),
    ] {
        let reader = Reader::new(Format::Sessions).keep_sessions();
        let (log, held_out) = without_one_in(&reader.read("generated", log.as_bytes()).unwrap(), 3, 1);
        let fits = [Scope::Query, Scope::Site].map(|scope| fitted(model, &log, scope));
        assert_eq!(fits.each_ref().map(Fit::scope), [Scope::Query, Scope::Site]);
        for query in fits[1].queries() {
            assert!(
                fits[1].own_continuation(query.id).is_empty() && fits[1].own_positions(query.id).is_empty()
            );
        }
        let [query, site] = fits.map(|fit| click_logs::fit::compare(&fit, &held_out).unwrap().log_likelihood);
        assert!(query > site + 2e-3, "{model} {query} {site}");
    }
}

fn values(probabilities: &[Probability]) -> Vec<f64> {
    probabilities.iter().map(|probability| probability.get()).collect()
}

/// Users of a fit are those of the log: every parameter within .05, and their expected clicks
/// within 2 %.
#[test]
fn fitted_users_are_those_of_the_log() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(35);
    let near = |found: Vec<f64>, truth: &[f64], by: f64| {
        assert_eq!(found.len(), truth.len());
        assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() < by), "{found:?} {truth:?}");
    };
    let list: Ranking = (0..4).map(ItemId::from_index).collect();
    let users = |model, log: &str| {
        let fit = fitted(model, &read(log), Scope::Query);
        fit.users(&fit.queries()[0], 4).unwrap()
    };
    let log = log_of(&[dbn_users(4)], 4, 60_000, &mut rng);
    let dbn: DynamicBayesian = users(Model::Dbn, &log).model().unwrap();
    near(values(dbn.attraction()), &ATTRACTION, 0.05);
    near(values(dbn.satisfaction()), &SATISFACTION, 0.1);
    near(vec![dbn.continuation().get()], &[0.8], 0.05);
    let clicks = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.02, "{a} {b}");
    clicks(dbn.expected_clicks(&list), dbn_users(4).expected_clicks(&list));
    // A simplified DBN is one with certain continuation.
    let sdbn: DynamicBayesian = users(Model::Sdbn, &log).model().unwrap();
    assert_eq!(sdbn.continuation().get(), 1.0);
    let log = log_of(&[ccm_users()], 4, 60_000, &mut rng);
    let ccm: ClickChain = users(Model::Ccm, &log).model().unwrap();
    near(values(ccm.attraction()), &ATTRACTION, 0.05);
    near(values(&ccm.continuation()), &CONTINUATION, 0.1);
    clicks(ccm.expected_clicks(&list), ccm_users().expected_clicks(&list));
    let log = log_of(&[ubm_users()], 4, 60_000, &mut rng);
    let ubm: UserBrowsing = users(Model::Ubm, &log).model().unwrap();
    near(values(ubm.attraction()), &ATTRACTION, 0.05);
    near(ubm.examination().iter().flat_map(|row| values(row)).collect(), &BROWSING.concat(), 0.1);
    clicks(ubm.expected_clicks(&list), ubm_users().expected_clicks(&list));
}

/// Logs whose maximum has the third probability at 0. The numbers are those of a general optimiser
/// with many starts.
#[test]
fn click_chains_are_fitted_on_the_bounds() {
    for (log, log_likelihood, continuation) in [
        (include_str!("data/w3-ccm-repeated-and-short.sessions.tsv"), -744.898, [0.764, 0.625, 0.0]),
        (include_str!("data/w3-ccm-satisfied-leave.sessions.tsv"), -473.323, [0.814, 0.564, 0.0]),
    ] {
        let log = read(log);
        let options = Options { prior_strength: Some(0.0), scope: Scope::Site, ..Options::default() };
        let ccm = fit(Model::Ccm, &log.counts, &log.sessions, &options).unwrap();
        let convergence = ccm.attractions.site.convergence.as_ref().unwrap();
        let found = convergence.log_likelihood;
        assert!(convergence.converged && (found - log_likelihood).abs() < 1e-3, "{found}");
        for (found, expected) in ccm.continuation.site.iter().zip(continuation) {
            assert!((found.value - expected).abs() < 1e-3, "{found:?} {expected}");
        }
    }
}

/// User browsing has 2,080 pairs of position and last click in lists of 64, most of which no
/// session reaches.
#[test]
fn lists_of_64_positions_are_fitted_by_user_browsing() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(64);
    let mut log = String::from(HEADER);
    for _ in 0..100 {
        let keys: [f64; 70] = std::array::from_fn(|_| rng.random());
        let list = ranked(&keys, 64);
        let clicked = |bits, _| (bits << 1) | u64::from(rng.random::<f64>() < 0.1);
        push_session(&mut log, 0, &list, Clicks::from_bits((0..64).fold(0, clicked), 64).unwrap());
    }
    let fit = fitted(Model::Ubm, &read(&log), Scope::Query);
    let own = fit.positions.queries.as_ref().unwrap();
    assert_eq!(own[0].len(), 2080);
    assert!(own[0].iter().all(|of| of.value > 0.0 && of.value.is_finite()));
    let query = &fit.queries()[0];
    assert!(query.convergence.as_ref().unwrap().converged);
    assert!(query.items.iter().all(|item| item.attraction.interval.is_some()));
}
