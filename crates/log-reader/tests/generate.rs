//! Generated logs are logs of the users they were generated from.

use crate::log_generator::{Traffic, kdd2012, yandex};
use click_models::{CascadeModel, PositionBased};
use log_reader::{Counts, Format, Reader};

const ATTRACTION: [f64; 3] = [0.5, 0.3, 0.1];
const EXAMINATION: [f64; 3] = [1.0, 0.6, 0.3];

fn position_based_log(lines: u64) -> Counts {
    let users = PositionBased::from_values(&ATTRACTION, &EXAMINATION).unwrap();
    let traffic = [
        Traffic { query: 5, items: vec![0, 1, 2], weight: 3.0, users: users.clone() },
        Traffic { query: 6, items: vec![2, 1, 0], weight: 1.0, users },
    ];
    let mut log = Vec::new();
    kdd2012(&traffic, lines, 1, &mut log).unwrap();
    Reader::new(Format::Kdd2012).read("generated", log.as_slice()).unwrap().counts
}

/// Whether the click rates of all cells of the first query are those of the model with this
/// examination, each within 6 standard errors.
///
/// The cell with the fewest clicks expects 500; there Chernoff's bound for each side is 6e-8, and
/// for nine cells 1e-6.
fn agrees(counts: &Counts, examination: [f64; 3]) -> bool {
    let query = counts.queries().next().unwrap();
    assert_eq!(query.cells().len(), 9);
    query.cells().all(|cell| {
        let item: usize = counts.names().name(cell.item).parse().unwrap();
        let expected = ATTRACTION[item] * examination[cell.position];
        let impressions = cell.impressions as f64;
        let error = (cell.clicks as f64 / impressions - expected).abs();
        error < 6.0 * (expected * (1.0 - expected) / impressions).sqrt()
    })
}

#[test]
fn kdd2012_clicks_are_those_of_the_model() {
    let counts = position_based_log(300_000);
    assert!(agrees(&counts, EXAMINATION));
    // An error of a tenth at one position is detected.
    assert!(!agrees(&counts, [1.0, 0.66, 0.3]));
    // The first query is three quarters of the traffic; lines have 2 sessions on average, with
    // variance 2.
    let share = counts.queries().next().unwrap().impressions() as f64 / counts.impressions() as f64;
    assert!((share - 0.75).abs() < 4.9 * (0.75 * 0.25 * 1.5 / 300_000_f64).sqrt(), "{share}");
}

#[test]
fn yandex_sessions_are_those_of_the_model() {
    let users = CascadeModel::from_values(&[0.2; 12], 10).unwrap();
    let traffic = [Traffic { query: 5, items: (100..112).collect(), weight: 1.0, users }];
    let mut log = Vec::new();
    yandex(&traffic, 20_000, 1, &mut log).unwrap();
    let log = Reader::new(Format::Yandex).keep_sessions().read("generated", log.as_slice()).unwrap();
    assert_eq!((log.sessions.n_sessions(), log.report.clicks_outside), (20_000, 0));
    let mut clicked = [0_u64; 10];
    for list in log.sessions.queries().flat_map(|query| query.lists()) {
        for pattern in list.patterns {
            // The user of a cascade clicks once.
            assert!(pattern.clicks.count() <= 1);
            for position in (0..10).filter(|&position| pattern.clicks.get(position)) {
                clicked[position] += pattern.sessions;
            }
        }
    }
    // The first click is at position l with probability .8^l * .2: within 4.9 standard errors,
    // wrong with probability 1e-6 each.
    let mut above = 1.0;
    for clicks in clicked {
        let expected = 0.2 * above;
        let error = (clicks as f64 / 20_000.0 - expected).abs();
        assert!(error < 4.9 * (expected * (1.0 - expected) / 20_000.0).sqrt(), "{clicked:?}");
        above *= 0.8;
    }
}

#[test]
fn the_same_seed_is_the_same_log() {
    assert_eq!(position_based_log(3000), position_based_log(3000));
    let users = PositionBased::from_values(&ATTRACTION, &EXAMINATION).unwrap();
    let traffic = |items: Vec<u64>, weight| [Traffic { query: 1, items, weight, users: users.clone() }];
    for wrong in [traffic(vec![1, 2], 1.0), traffic(vec![1, 2, 3], 0.0), traffic(vec![1, 2, 3], f64::NAN)] {
        assert!(kdd2012(&wrong, 1, 1, &mut Vec::new()).is_err());
    }
    // Three positions instead of ten.
    assert!(yandex(&traffic(vec![1, 2, 3], 1.0), 1, 1, &mut Vec::new()).is_err());
    assert!(kdd2012(&[], 1, 1, &mut Vec::new()).is_err());
}
