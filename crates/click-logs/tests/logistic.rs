//! The logistic regression: logs of users whose log-odds add up, and of user browsing.
//!
//! Statistical tests have a fixed seed; a correct implementation fails a test with probability
//! below 1e-6, and every test has a wrong implementation that it detects.

use click_logs::fit::{Comparison, Difference, Estimate, Fit, Model, Options, fit};
use click_logs::{Format, Log, Reader};
use confidence::math::ln;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write;

const ITEMS: [f64; 5] = [0.9, 0.7, 0.5, 0.2, 0.05];
/// By position, and the position of the last click above, first without one: odds ratios here,
/// examination of user browsing there.
const ODDS: [&[f64]; 3] = [&[1.0], &[0.5, 3.0], &[0.2, 0.8, 5.0]];
const EXAMINATION: [&[f64]; 3] = [&[1.0], &[0.5, 0.9], &[0.2, 0.4, 0.8]];

/// Odds multiply.
fn additive(item: f64, position: usize, last: usize) -> f64 {
    let odds = item / (1.0 - item) * ODDS[position][last];
    odds / (1.0 + odds)
}

/// Probabilities multiply.
fn browsing(item: f64, position: usize, last: usize) -> f64 {
    item * EXAMINATION[position][last]
}

/// Sessions of one query with lists in random order.
fn log_of(click: fn(f64, usize, usize) -> f64, n: usize, seed: u64) -> String {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut log = String::from("query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n");
    let mut order: Vec<usize> = (0..ITEMS.len()).collect();
    for _ in 0..n {
        order.shuffle(&mut rng);
        let (mut last, mut mask) = (0, String::new());
        for (position, &item) in order[..3].iter().enumerate() {
            let clicked = rng.random::<f64>() < click(ITEMS[item], position, last);
            mask.push(if clicked { '1' } else { '0' });
            last = if clicked { position + 1 } else { last };
        }
        let items: Vec<String> = order[..3].iter().map(|item| (item + 1).to_string()).collect();
        writeln!(log, "1\t0\t{}\t{mask}\t0", items.join(",")).unwrap();
    }
    log
}

fn read(log: &str) -> Log {
    let reader = Reader::new(Format::Sessions).keep_sessions().hold_out(5, 1).unwrap();
    reader.read("generated", log.as_bytes()).unwrap()
}

fn fitted(model: Model, log: &Log) -> Fit {
    fit(model, &log.counts, &log.sessions, &Options::default()).unwrap()
}

/// The largest distance to the truth, in standard errors.
fn farthest(fit: &Fit) -> f64 {
    let far = |(estimate, truth): (&Estimate, f64)| {
        let error = estimate.standard_error.unwrap();
        (estimate.value - truth).abs() / error.max(f64::MIN_POSITIVE)
    };
    let items = fit.queries()[0].items.iter().zip(ITEMS).map(|(item, truth)| far((&item.attraction, truth)));
    let odds = ODDS.iter().flat_map(|row| row.iter().copied());
    let places = fit.site_positions().iter().zip(odds).map(far);
    items.chain(places).fold(0.0, f64::max)
}

/// How much better the logistic regression predicts than user browsing.
fn ahead(log: &Log) -> Difference {
    let fits = [Model::CtrLogistic, Model::Ubm].map(|model| Ok(fitted(model, log)));
    let comparison = Comparison::new(log.held_out.as_ref().unwrap(), fits).unwrap();
    let place = |model| comparison.scores().iter().position(|score| score.model == model).unwrap();
    comparison.difference(place(Model::CtrLogistic), place(Model::Ubm))
}

/// Ten estimates, each farther than 6 standard errors with probability 2e-9. The other users'
/// parameters are farther.
#[test]
fn the_parameters_of_additive_log_odds_are_found() {
    let right = farthest(&fitted(Model::CtrLogistic, &read(&log_of(additive, 40_000, 1))));
    assert!(right < 6.0, "{right}");
    let wrong = farthest(&fitted(Model::CtrLogistic, &read(&log_of(browsing, 40_000, 1))));
    assert!(wrong > 12.0, "{wrong}");
}

/// Each model is ahead on its own users by more than 5 standard errors, so that the models are not
/// the same.
#[test]
fn the_regression_predicts_additive_log_odds_better_and_user_browsing_worse() {
    let own = ahead(&read(&log_of(additive, 40_000, 2)));
    assert!(own.mean > 5.0 * own.standard_error.unwrap(), "{own:?}");
    let other = ahead(&read(&log_of(browsing, 40_000, 2)));
    assert!(other.mean < -5.0 * other.standard_error.unwrap(), "{other:?}");
}

/// Predictions are the probabilities of the users.
#[test]
fn predictions_are_the_probabilities_of_the_users() {
    let log = read(&log_of(additive, 40_000, 3));
    let regression = fitted(Model::CtrLogistic, &log);
    let query = log.held_out.as_ref().unwrap().sessions.queries().next().unwrap();
    let items: Vec<_> = regression.queries()[0].items.iter().map(|item| item.item).collect();
    let mut prediction = click_logs::fit::Prediction::default();
    let (mut sessions, mut truth, mut predicted) = (0, 0.0, 0.0);
    for list in query.lists() {
        for pattern in list.patterns() {
            regression.predict(query.id(), list.items(), pattern.clicks, &mut prediction);
            let mut last = 0;
            for (position, item) in list.items().iter().enumerate() {
                let of = ITEMS[items.iter().position(|other| other == item).unwrap()];
                let (p, clicked) = (additive(of, position, last), pattern.clicks.get(position));
                assert!((prediction.conditional[position] - p).abs() < 0.06, "{p} {prediction:?}");
                let log_likelihood = |p: f64| pattern.sessions as f64 * ln(if clicked { p } else { 1.0 - p });
                truth += log_likelihood(p);
                predicted += log_likelihood(prediction.conditional[position]);
                last = if clicked { position + 1 } else { last };
            }
            sessions += pattern.sessions;
        }
    }
    // Fourteen parameters from 32,000 sessions lose about 14 / 2 / 32,000 nats a session.
    assert!((truth - predicted) / (sessions as f64) < 0.002, "{truth} {predicted} {sessions}");
}
