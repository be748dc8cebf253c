//! How much of the predicted differences between lists happens on lists outside the fit.
//!
//! Statistical tests have a fixed seed, and bounds of five standard errors or more.

use click_logs::fit::{Model, Options, Transfers, Verdict};
use click_logs::study::{Settings, study};
use log_reader::{Format, Reader, Sessions};
use rand::seq::SliceRandom as _;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write;
use std::num::NonZeroUsize;

const N_QUERIES: usize = 4;
const N_ITEMS: usize = 8;
const EXAMINATION: [f64; 5] = [1.0, 0.7, 0.5, 0.35, 0.25];

/// A session: query, items from the top, probability of a click on each, given a click above or
/// not.
struct Shown(usize, Vec<usize>);

/// Lists of five items, ordered by scores with noise.
fn shown(score: &[f64], noise: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let mut scored: Vec<(f64, usize)> = score
        .iter()
        .map(|score| {
            let z: f64 = StandardNormal.sample(rng);
            score + noise * z
        })
        .zip(0..)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.iter().take(EXAMINATION.len()).map(|scored| scored.1).collect()
}

fn read(lines: &[String]) -> Sessions {
    let text = format!("query\turls\tclicked_mask\n{}", lines.concat());
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    reader.read("generated", text.as_bytes()).unwrap().sessions
}

fn line(Shown(query, items): &Shown, clicks: &[bool]) -> String {
    let mut line = format!("{query}\t");
    items.iter().enumerate().for_each(|(place, item)| {
        write!(line, "{}{item}", if place > 0 { "," } else { "" }).unwrap();
    });
    let mask: String = clicks.iter().map(|&click| if click { '1' } else { '0' }).collect();
    writeln!(line, "\t{mask}").unwrap();
    line
}

fn slope(model: Model, sessions: &Sessions) -> (f64, f64) {
    let transfers = Transfers::new(&[model], &[], sessions, &Options::default()).unwrap().unwrap();
    let transfer = transfers.of(model).unwrap();
    (transfer.slope.unwrap(), transfer.standard_error.unwrap())
}

/// Sessions of lines with the day of each.
fn read_days(lines: &[(usize, String)], columns: &str) -> Sessions {
    let mut text = "session,query,item,position,click,day\n".to_owned();
    for (day, line) in lines {
        let [query, items, mask] = line.trim_end().split('\t').collect::<Vec<_>>()[..] else { panic!() };
        for (place, (item, click)) in items.split(',').zip(mask.chars()).enumerate() {
            writeln!(text, "{day},{query},{item},{},{click},{day}", place + 1).unwrap();
        }
    }
    let columns = format!("session=session,query=query,item=item,position=position,click=click{columns}");
    let reader = Reader::new(Format::delimited(&columns).unwrap()).keep_sessions();
    reader.read("generated", text.as_bytes()).unwrap().sessions
}

/// One ranker for the first half of each query, another for the second; all items alike, and users
/// of the second half click a fifth more. No list is better than another of its time. The order of
/// rows is no time.
#[test]
fn a_ranker_that_came_later_is_not_taken_for_better() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut lines = Vec::new();
    for query in 0..N_QUERIES {
        for attraction in [0.25, 0.3] {
            let score: Vec<f64> = (0..N_ITEMS).map(|_| StandardNormal.sample(&mut rng)).collect();
            for _ in 0..1000 {
                let items = shown(&score, 0.3, &mut rng);
                let clicks = EXAMINATION.map(|g| rng.random::<f64>() < attraction * g);
                lines.push((lines.len(), line(&Shown(query, items), &clicks)));
            }
        }
    }
    let slope_with = |lines: &[_], columns| slope(Model::Pbm, &read_days(lines, columns));
    let (by_time, without) = (slope_with(&lines, ",time=day"), slope_with(&lines, ""));
    assert!(by_time.0 < 1.0 && by_time.0 - 2.0 * by_time.1 < 0.0, "{by_time:?}");
    // Without times, the two rankers are not told apart.
    assert!(without.0 > 1.0 && without.0 > 5.0 * without.1, "{without:?}");
    lines.shuffle(&mut rng);
    assert_eq!([slope_with(&lines, ",time=day"), slope_with(&lines, "")], [by_time, without]);
}

/// Users scan down to the first click. The cascade's differences happen. Half of those of a
/// position-based model do not, in which the items above have no effect.
#[test]
fn the_right_model_transfers_and_is_chosen() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    let mut lines = Vec::new();
    for query in 0..N_QUERIES {
        let attraction: Vec<f64> =
            (0..N_ITEMS).map(|item| 0.7 / ((item + query) % N_ITEMS + 1) as f64).collect();
        for _ in 0..1500 {
            let items = shown(&attraction, 1.0, &mut rng);
            let mut there = true;
            let click = |&item: &usize| {
                let clicked = there && rng.random::<f64>() < attraction[item];
                there &= !clicked;
                clicked
            };
            let clicks: Vec<bool> = items.iter().map(click).collect();
            lines.push(line(&Shown(query, items), &clicks));
        }
    }
    let sessions = read(&lines);
    let models = vec![Model::Pbm, Model::Cascade];
    let transfers = Transfers::new(&models, &[], &sessions, &Options::default()).unwrap().unwrap();
    let [wrong, right] = [Model::Pbm, Model::Cascade].map(|model| transfers.of(model).unwrap());
    let error = right.standard_error.unwrap();
    assert!(error < 0.1 && (right.slope.unwrap() - 1.0).abs() < 5.0 * error, "{right:?}");
    assert_eq!(right.verdict(), Verdict::Supported);
    assert!((wrong.slope.unwrap() - 1.0).abs() > 5.0 * wrong.standard_error.unwrap(), "{wrong:?}");
    assert!((right.predicted / transfers.observed - 1.0).abs() < 0.02, "{right:?} {}", transfers.observed);
    assert!(transfers.difference(Model::Cascade, Model::Pbm).unwrap().is_told_apart());
    assert_eq!((transfers.queries, transfers.sessions), (N_QUERIES, 6000));

    let reader = Reader::new(Format::Sessions).keep_sessions();
    let text = format!("query\turls\tclicked_mask\n{}", lines.concat());
    let study_with = |transfer: bool| {
        let settings = Settings { models: models.clone(), transfer, ..Settings::default() };
        let read = || reader.read("log", text.as_bytes());
        study(&settings, read, |_| Ok(())).unwrap()
    };
    let study = study_with(true);
    // The study starts near its fits.
    let near = Transfers::new(&models, &study.fits, &sessions, &Options::default()).unwrap().unwrap();
    for (near, transfer) in near.models.iter().zip(&transfers.models) {
        assert!((near.slope.unwrap() - transfer.slope.unwrap()).abs() < 1e-3, "{near:?} {transfer:?}");
    }
    assert_eq!(study.transfer.unwrap(), near);
    assert_eq!(study.choice.unwrap().alike, [Model::Cascade]);
    assert!(study_with(false).transfer.is_none());
}

/// One list has nothing to be compared with; of two, one has never been left out with another.
#[test]
fn a_log_that_cannot_be_tested_has_no_transfer() {
    for n_lists in [1, 2] {
        let lines: Vec<String> = (0..40)
            .map(|n| {
                line(&Shown(1, if n % n_lists == 0 { vec![1, 2] } else { vec![2, 1] }), &[n % 3 == 0, false])
            })
            .collect();
        assert!(Transfers::new(&[Model::Pbm], &[], &read(&lines), &Options::default()).unwrap().is_none());
    }
    let none = Transfers::new(&[Model::Pbm], &[], &Sessions::default(), &Options::default());
    assert!(none.unwrap().is_none());
}
