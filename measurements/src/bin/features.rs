//! The gain of a logistic regression of clicks from each feature: held-out log-likelihood of an
//! impression, mean over hold-outs of one session in five.
//!
//! ```text
//! cargo run --release -p measurements --bin features -- sessions sessions.tsv 1 2 3
//! ```
//!
//! The numbers are seeds. A feature has an effect for each of its values; effects add up to the
//! log-odds of a click. Effects of items have the prior N(mean, 1), others N(0, 10). The maximum is
//! found one effect at a time.

use click_logs::fit::{Model, Options, Scope, compare, fit};
use confidence::math::ln;
use libm::exp;
use log_reader::{Id, Part, Reader, Sessions, formats};
use std::collections::BTreeMap;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// An impression, and the clicks above it.
struct Impression {
    query: Id,
    item: Id,
    position: usize,
    /// The position of the last click counted from 1; 0 without one.
    last: usize,
    n_clicks: usize,
}

/// The number of a feature, its query (and item) if it has an effect for each, and its values.
type Effect = (u8, Option<(Id, Option<Id>)>, [usize; 2]);
type Features = fn(&Impression) -> Vec<Effect>;

fn value(feature: u8, value: usize) -> Effect {
    (feature, None, [value, 0])
}

fn place(of: &Impression) -> Effect {
    (1, None, [of.position, of.last])
}

/// The distance to the last click; 0 without one.
fn distance(of: &Impression) -> usize {
    if of.last == 0 { 0 } else { of.position + 1 - of.last }
}

/// The sets, each with the item.
const SETS: [(&str, Features); 9] = [
    ("item", |_| vec![]),
    ("position", |of| vec![value(1, of.position)]),
    ("position + any click above", |of| vec![value(1, of.position), value(2, of.last.min(1))]),
    ("position + last click", |of| vec![value(1, of.position), value(2, of.last)]),
    ("position + distance to the last click", |of| vec![value(1, of.position), value(2, distance(of))]),
    ("position x last click", |of| vec![place(of)]),
    ("position x last click + position by query", |of| {
        vec![place(of), (2, Some((of.query, None)), [of.position, 0])]
    }),
    ("position x last click + distance by query", |of| {
        vec![place(of), (2, Some((of.query, None)), [distance(of), 0])]
    }),
    ("position x last click + number of clicks above", |of| vec![place(of), value(2, of.n_clicks)]),
];

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, path, seeds @ ..] = arguments.as_slice() else {
        return Err("expected: FORMAT FILE SEEDS..".into());
    };
    let row = formats::find(format).ok_or_else(|| format!("`{format}` is no format"))?;
    let models = [(Model::Ubm, Scope::Site), (Model::Ubm, Scope::Query)];
    let mut scores = vec![0.0; SETS.len() + models.len()];
    for seed in seeds {
        let log = Reader::new(row.format(None)?).keep_sessions().read_files(&[path])?;
        let parts = log.sessions.without_one_in(5, seed.parse()?).ok_or("the order is not known")?;
        let [log, held_out] = parts.map(Part::from);
        for (score, (_, features)) in scores.iter_mut().zip(SETS) {
            *score += Regression::new(&log.sessions, features).score(&held_out.sessions) / seeds.len() as f64;
        }
        for (score, (model, scope)) in scores[SETS.len()..].iter_mut().zip(models) {
            let fit = fit(model, &log.counts, &log.sessions, &Options { scope, ..Options::default() })?;
            *score += compare(&fit, &held_out)?.log_likelihood / seeds.len() as f64;
        }
    }
    let names = SETS.iter().map(|set| set.0.to_owned());
    let names = names.chain(models.iter().map(|(model, scope)| format!("{model}, {scope:?}")));
    names.zip(scores).for_each(|(name, score)| println!("{name:<55} {score:.5}"));
    Ok(())
}

/// Calls `each` with every impression, whether it was clicked, and in how many sessions.
fn impressions(sessions: &Sessions, mut each: impl FnMut(&Impression, bool, f64)) {
    for query in sessions.queries() {
        for list in query.lists() {
            for pattern in list.patterns {
                let (mut last, mut n_clicks) = (0, 0);
                for (position, &item) in list.items.iter().enumerate() {
                    let clicked = pattern.clicks.get(position);
                    let of = Impression { query: query.id(), item, position, last, n_clicks };
                    each(&of, clicked, pattern.sessions as f64);
                    if clicked {
                        (last, n_clicks) = (position + 1, n_clicks + 1);
                    }
                }
            }
        }
    }
}

fn effects(of: &Impression, features: Features) -> Vec<Effect> {
    let mut effects = features(of);
    effects.push((0, Some((of.query, Some(of.item))), [0, 0]));
    effects
}

/// The mean of log-odds, and effects.
struct Regression {
    features: Features,
    mean: f64,
    effects: BTreeMap<Effect, f64>,
}

/// The largest change of an effect in the last round.
const TOLERANCE: f64 = 1e-5;
const ROUNDS: usize = 2000;

impl Regression {
    fn new(sessions: &Sessions, features: Features) -> Self {
        // Impressions with equal effects are counted together.
        let mut counted: BTreeMap<Vec<Effect>, [f64; 2]> = BTreeMap::new();
        impressions(sessions, |of, clicked, times| {
            let counts = counted.entry(effects(of, features)).or_default();
            counts[usize::from(!clicked)] += times;
        });
        let all = counted.values().fold([0.0, 0.0], |all, [clicks, skips]| [all[0] + clicks, all[1] + skips]);
        let mean = ln(all[0] / all[1]);
        let mut cells_of: BTreeMap<Effect, Vec<usize>> = BTreeMap::new();
        for (cell, effects) in counted.keys().enumerate() {
            for &effect in effects {
                cells_of.entry(effect).or_default().push(cell);
            }
        }
        let counts: Vec<[f64; 2]> = counted.values().copied().collect();
        let mut log_odds = vec![mean; counts.len()];
        let mut found: BTreeMap<Effect, f64> = cells_of.keys().map(|&effect| (effect, 0.0)).collect();
        for _ in 0..ROUNDS {
            let mut largest = 0.0_f64;
            for ((effect, at), cells) in found.iter_mut().zip(cells_of.values()) {
                let precision = if effect.0 == 0 { 1.0 } else { 0.1 };
                let (mut slope, mut curvature) = (-precision * *at, precision);
                for &cell in cells {
                    let ([clicks, skips], p) = (counts[cell], 1.0 / (1.0 + exp(-log_odds[cell])));
                    slope += clicks - (clicks + skips) * p;
                    curvature += (clicks + skips) * p * (1.0 - p);
                }
                let step = (slope / curvature).clamp(-1.0, 1.0);
                *at += step;
                for &cell in cells {
                    log_odds[cell] += step;
                }
                largest = largest.max(step.abs());
            }
            if largest < TOLERANCE {
                break;
            }
        }
        Self { features, mean, effects: found }
    }

    /// Mean log-likelihood of an impression. Values that were not seen have no effect.
    fn score(&self, sessions: &Sessions) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        impressions(sessions, |of, clicked, times| {
            let effects =
                effects(of, self.features).into_iter().filter_map(|effect| self.effects.get(&effect));
            let p = 1.0 / (1.0 + exp(-self.mean - effects.sum::<f64>()));
            sum += times * ln(if clicked { p } else { 1.0 - p });
            all += times;
        });
        sum / all
    }
}
