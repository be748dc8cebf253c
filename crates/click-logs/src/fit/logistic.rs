//! `ctr-logistic`: a logistic regression of a click on the item, the position and the position of the last click. A yardstick: it says how much of
//! the clicks these three predict, and nothing about how users behave, so it cannot be simulated.
//!
//! An impression of item `i` at position `l` with the last click at `m` (or none) is clicked with the log-odds
//!
//! ```text
//! alpha_i + beta_{l m},        beta = 0 at the first position.
//! ```
//!
//! It has the parameters of the user browsing model; there, probabilities multiply, and here, odds do. Items have a normal prior around the
//! mean of their
//! query, and means of queries one around the mean of the site: `alpha_i ~ N(mu_q, tau^2)`, `mu_q ~ N(mu, omega^2)`. The variances are
//! estimated in
//! turns with the maximum of the penalised likelihood, which Newton's method finds: its matrix is diagonal in the items of a query, which
//! are eliminated item by item, then the mean of the query, and what is left has the size of `beta`.
//!
//! Reference: Breslow, Clayton, *Approximate inference in generalized linear mixed models*, JASA 88, 1993, section 2 (penalised
//! quasi-likelihood). Deviations: variances are mean squares with the items' own uncertainty, as in an EM step; `beta` is a parameter of
//! the
//! site for every [`Scope`](super::Scope). With a given prior strength `s`, `tau^2` is that of a log-odds with `s` pseudo-impressions, `1 /
//! (s p (1 - p))` with the site's mean `p`.
//!
//! | here | meaning |
//! |---|---|
//! | `items` | `alpha`, one per item and query |
//! | `queries` | `mu_q` |
//! | `places` | `beta`, in the order of [`Model::places`](super::Model::places) |
//! | attraction | the probability of a click at the first position, `1 / (1 + exp(-alpha))` |
//! | examination | odds ratio to the first position, `exp(beta)` |
//!
//! Numerics: a Newton step is halved until it does not lower the penalised likelihood; rounding errors are allowed. Errors are those given
//! the means of the queries. Complexity: a step is linear in the cells, with O(k^2) for an item shown in `k` places, and O(places^3).

use super::credibility::{Count, Source, items};
use super::estimate::{Estimate, normal_quantile};
use super::in_order::in_order;
use super::linear::Cholesky;
use super::options::Options;
use super::position_based::Impressions;
use super::squarem::{Convergence, Progress};
use super::{Attractions, ByPosition, Fit, ItemFit, QueryFit, Site};
use crate::counts::Positions;
use crate::names::Id;
use crate::session::Sessions;
use confidence::math::{ln, sqrt};
use libm::{exp, log1p};
use num_traits::ToPrimitive as _;
use std::f64::consts::PI;
use std::ops::Range;

/// Newton steps at most, and the largest change of a log-odds at which they end.
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-9;
/// Alternations between parameters and variances at most, and the relative change of the variances at which they end.
const TURNS: usize = 20;
const TOLERANCE_OF_TURNS: f64 = 1e-3;
/// Number of queries of one task for a thread.
const QUERIES_OF_A_TASK: usize = 1 << 12;
/// The longest Newton step: the quadratic approximation is not valid for longer ones.
const LONGEST_STEP: f64 = 3.0;
/// Precision of the prior of each place, around 0. The log-odds of deep positions are a few units below those of the first.
const PRECISION_OF_PLACES: f64 = 0.1;
/// Precisions of items and queries are at least this, so that there is a maximum without a click, and at most the other.
const PRECISIONS: [f64; 2] = [1e-4, 1e4];

pub(super) fn fit(sessions: &Sessions, options: &Options) -> Fit {
    let mut regression = Regression::new(sessions);
    let (at, information, convergence) = regression.in_turns(options);
    regression.estimates(&at, information.as_ref(), convergence, normal_quantile(options.level))
}

/// Clicks and skips of an item in a place.
struct Cell {
    place: usize,
    clicks: f64,
    skips: f64,
}

/// The log, and the precisions of priors.
struct Regression {
    ids: Vec<(Id, Positions)>,
    /// Item, and its cells.
    items: Vec<(Id, Range<usize>)>,
    cells: Vec<Cell>,
    /// The items of each query.
    queries: Vec<Range<usize>>,
    n_places: usize,
    of_items: f64,
    of_queries: f64,
    /// The mean of the site.
    mean: f64,
}

/// Log-odds.
#[derive(Clone)]
struct Point {
    items: Vec<f64>,
    queries: Vec<f64>,
    places: Vec<f64>,
}

/// The information at a point, factorised.
struct Information {
    /// On each item, given the rest.
    items: Vec<f64>,
    /// On the mean of each query, with its items eliminated.
    queries: Vec<f64>,
    /// On all places but the first, with items and queries eliminated.
    places: Cholesky,
}

/// What is left of some queries for the places, with items and means eliminated.
struct Eliminated {
    gradient: Vec<f64>,
    information: Vec<f64>,
    queries: Vec<OfQuery>,
}

/// A query, with its items eliminated.
struct OfQuery {
    /// Gradient and information of items.
    items: Vec<[f64; 2]>,
    /// Gradient and information of the mean, and its information with places.
    mean: [f64; 2],
    cross: Vec<(usize, f64)>,
}

/// The probability of these log-odds.
fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + exp(-log_odds))
}

/// `ln(1 + exp(x))`
fn softplus(x: f64) -> f64 {
    x.max(0.0) + log1p(exp(-x.abs()))
}

/// The log-odds of a share, with half a click and half a skip more.
fn log_odds(clicks: f64, skips: f64) -> f64 {
    ln((clicks + 0.5) / (skips + 0.5))
}

/// Clicks and skips.
fn sums(cells: &[Cell]) -> (f64, f64) {
    cells.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.clicks, sum.1 + cell.skips))
}

fn bounded(precision: f64) -> f64 {
    precision.clamp(PRECISIONS[0], PRECISIONS[1])
}

impl Regression {
    fn new(sessions: &Sessions) -> Self {
        let source = Impressions::browsing(sessions);
        let mut of_items = Vec::new();
        let (mut cells, mut queries, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = Vec::new();
        for query in 0..source.n_queries() {
            source.counts(query, &mut counts);
            let first = of_items.len();
            for of_item in items(&counts) {
                let start = cells.len();
                cells.extend(of_item.iter().map(|count: &Count| {
                    let clicks = count.clicks as f64;
                    Cell { place: count.column, clicks, skips: count.impressions - clicks }
                }));
                of_items.push((of_item[0].item, start..cells.len()));
            }
            queries.push(first..of_items.len());
            ids.push((source.id(query), source.positions(query)));
        }
        let n_places = cells.iter().map(|cell| cell.place + 1).max().unwrap_or(1);
        Self { ids, items: of_items, cells, queries, n_places, of_items: 1.0, of_queries: 1.0, mean: 0.0 }
    }

    fn cells(&self, item: usize) -> &[Cell] {
        &self.cells[self.items[item].1.clone()]
    }

    fn start(&self) -> Point {
        let (clicks, skips) = sums(&self.cells);
        Point {
            items: vec![log_odds(clicks, skips); self.items.len()],
            queries: vec![log_odds(clicks, skips); self.queries.len()],
            places: vec![0.0; self.n_places],
        }
    }

    /// Finds the maximum in turns with the variances of priors.
    fn in_turns(&mut self, options: &Options) -> (Point, Option<Information>, Convergence) {
        let mut at = self.start();
        let mut convergence = Convergence::closed_form(0.0);
        let mut turn = 0;
        loop {
            self.mean = at.queries.iter().sum::<f64>() / at.queries.len() as f64;
            if let Some(strength) = options.prior_strength {
                let mean = probability(self.mean);
                self.of_items = bounded(strength * mean * (1.0 - mean));
            }
            let (information, of_turn) = self.maximise(&mut at, options.trace);
            convergence = convergence.then(of_turn);
            let before = [self.of_items, self.of_queries];
            let Some(found) = &information else { return (at, information, convergence) };
            let after = self.precisions(&at, found, options);
            turn += 1;
            let stays = |(after, before): (&f64, &f64)| (after / before - 1.0).abs() < TOLERANCE_OF_TURNS;
            if turn == TURNS || after.iter().zip(&before).all(stays) {
                return (at, information, convergence);
            }
            [self.of_items, self.of_queries] = after;
        }
    }

    /// The reciprocals of the mean squared distances to the prior means, each with its variance.
    fn precisions(&self, at: &Point, information: &Information, options: &Options) -> [f64; 2] {
        let mean_of = |numbers: Vec<f64>| numbers.iter().sum::<f64>() / numbers.len() as f64;
        let of_query = |(query, items): (usize, &Range<usize>)| {
            let distance = move |item: usize| at.items[item] - at.queries[query];
            items.clone().map(move |item| distance(item) * distance(item) + 1.0 / information.items[item])
        };
        let of_items = mean_of(self.queries.iter().enumerate().flat_map(of_query).collect());
        let queries = at.queries.iter().zip(&information.queries);
        let of_queries =
            mean_of(queries.map(|(q, of)| (q - self.mean) * (q - self.mean) + 1.0 / of).collect());
        let of_items = if options.prior_strength.is_some() { self.of_items } else { bounded(1.0 / of_items) };
        [of_items, bounded(1.0 / of_queries)]
    }

    /// Queries, in parts for threads.
    fn tasks(&self) -> Vec<Range<usize>> {
        let starts = (0..self.queries.len()).step_by(QUERIES_OF_A_TASK);
        starts.map(|start| start..self.queries.len().min(start + QUERIES_OF_A_TASK)).collect()
    }

    /// The penalised log-likelihood.
    fn value(&self, at: &Point) -> f64 {
        let of_query = |query: usize| {
            let mean = at.queries[query];
            let of_item = |item: usize| {
                let of_cell = |cell: &Cell| {
                    let x = at.items[item] + at.places[cell.place];
                    cell.clicks * x - (cell.clicks + cell.skips) * softplus(x)
                };
                let distance = at.items[item] - mean;
                self.cells(item).iter().map(of_cell).sum::<f64>() - 0.5 * self.of_items * distance * distance
            };
            let distance = mean - self.mean;
            self.queries[query].clone().map(of_item).sum::<f64>()
                - 0.5 * self.of_queries * distance * distance
        };
        let of_places = at.places.iter().map(|beta| 0.5 * PRECISION_OF_PLACES * beta * beta).sum::<f64>();
        let of_task = |queries: Range<usize>| queries.map(of_query).sum::<f64>();
        in_order(self.tasks(), of_task).iter().sum::<f64>() - of_places
    }

    /// Eliminates the items and the means of some queries.
    fn eliminate(&self, queries: Range<usize>, at: &Point) -> Eliminated {
        let n = self.n_places;
        let mut left = Eliminated {
            gradient: vec![0.0; n],
            information: vec![0.0; n * n],
            queries: Vec::with_capacity(queries.len()),
        };
        let mut weights = Vec::new();
        let mut cross = vec![0.0; n];
        for query in queries {
            let mut of_items = Vec::with_capacity(self.queries[query].len());
            let mut mean = [self.of_queries * (self.mean - at.queries[query]), self.of_queries];
            for item in self.queries[query].clone() {
                let pull = self.of_items * (at.queries[query] - at.items[item]);
                let (mut slope, mut curvature) = (pull, self.of_items);
                weights.clear();
                for cell in self.cells(item) {
                    let p = probability(at.items[item] + at.places[cell.place]);
                    let impressions = cell.clicks + cell.skips;
                    let (of_cell, weight) = (cell.clicks - impressions * p, impressions * p * (1.0 - p));
                    slope += of_cell;
                    curvature += weight;
                    left.gradient[cell.place] += of_cell;
                    left.information[cell.place * n + cell.place] += weight;
                    weights.push((cell.place, weight));
                }
                for &(a, of_a) in &weights {
                    left.gradient[a] -= of_a * slope / curvature;
                    cross[a] += of_a * self.of_items / curvature;
                    for &(b, of_b) in &weights {
                        left.information[a * n + b] -= of_a * of_b / curvature;
                    }
                }
                mean[0] += self.of_items * slope / curvature - pull;
                mean[1] += self.of_items - self.of_items * self.of_items / curvature;
                of_items.push([slope, curvature]);
            }
            let touched = cross.iter_mut().enumerate().filter(|(_, of)| **of > 0.0);
            let cross: Vec<(usize, f64)> = touched.map(|(place, of)| (place, std::mem::take(of))).collect();
            let [slope, curvature] = mean;
            for &(a, of_a) in &cross {
                left.gradient[a] -= of_a * slope / curvature;
                for &(b, of_b) in &cross {
                    left.information[a * n + b] -= of_a * of_b / curvature;
                }
            }
            left.queries.push(OfQuery { items: of_items, mean, cross });
        }
        left
    }

    /// A Newton step, and the information at its start; `None` if that is singular.
    fn step(&self, at: &Point) -> Option<(Point, Information)> {
        let n = self.n_places;
        let parts = in_order(self.tasks(), |queries| self.eliminate(queries, at));
        // The first place has no parameter.
        let mut step: Vec<f64> = (1..n).map(|place| -PRECISION_OF_PLACES * at.places[place]).collect();
        let mut information = vec![0.0; (n - 1) * (n - 1)];
        for a in 1..n {
            information[(a - 1) * n] = PRECISION_OF_PLACES;
            for part in &parts {
                step[a - 1] += part.gradient[a];
                let row = &mut information[(a - 1) * (n - 1)..a * (n - 1)];
                row.iter_mut().zip(&part.information[a * n + 1..]).for_each(|(sum, of)| *sum += of);
            }
        }
        let places = Cholesky::new(n - 1, information)?;
        places.solve(&mut step);
        step.insert(0, 0.0);
        let mut next = Point { items: Vec::new(), queries: Vec::new(), places: step };
        let mut found = Information { items: Vec::new(), queries: Vec::new(), places };
        for (query, left) in parts.iter().flat_map(|part| &part.queries).enumerate() {
            let [slope, curvature] = left.mean;
            let of_places: f64 = left.cross.iter().map(|&(place, of)| of * next.places[place]).sum();
            let of_mean = (slope - of_places) / curvature;
            for (item, &[slope, curvature]) in self.queries[query].clone().zip(&left.items) {
                let of_places: f64 = self
                    .cells(item)
                    .iter()
                    .map(|cell| {
                        let p = probability(at.items[item] + at.places[cell.place]);
                        (cell.clicks + cell.skips) * p * (1.0 - p) * next.places[cell.place]
                    })
                    .sum();
                next.items.push((slope - of_places + self.of_items * of_mean) / curvature);
                found.items.push(curvature);
            }
            next.queries.push(of_mean);
            found.queries.push(curvature);
        }
        Some((next, found))
    }

    /// Newton's method; the information is that at the end.
    fn maximise(&self, at: &mut Point, trace: bool) -> (Option<Information>, Convergence) {
        let mut value = self.value(at);
        let mut convergence = Convergence::closed_form(value);
        convergence.converged = false;
        let mut information = None;
        while let Some((step, found)) = self.step(at) {
            information = Some(found);
            if convergence.converged || convergence.last.iterations == STEPS {
                break;
            }
            let largest = step.all().map(f64::abs).fold(0.0, f64::max);
            let mut length = (LONGEST_STEP / largest).min(1.0);
            loop {
                let next = at.moved(&step, length);
                let reached = self.value(&next);
                // Smaller differences are rounding errors.
                if reached >= value - 1e-13 * value.abs() || length < 1e-6 {
                    (*at, value) = (next, reached);
                    break;
                }
                length /= 2.0;
            }
            let iterations = convergence.last.iterations + 1;
            convergence.last = Progress { iterations, log_likelihood: value, change: length * largest };
            convergence.converged = convergence.last.change <= TOLERANCE;
            if trace {
                convergence.trace.push(convergence.last);
            }
        }
        (information, convergence)
    }

    fn estimates(
        &self,
        at: &Point,
        information: Option<&Information>,
        convergence: Convergence,
        z: f64,
    ) -> Fit {
        let n = self.n_places;
        // The mean of a probability with normal log-odds is about that of smaller log-odds.
        let typical = |mean: f64, variance: f64| probability(mean / sqrt(1.0 + PI / 8.0 * variance));
        let of_item = 1.0 / self.of_items;
        let of_row = |item: usize| {
            let (id, cells) = (self.items[item].0, self.cells(item));
            let p = probability(at.items[item]);
            let (clicks, skips) = sums(cells);
            let variance = information.map(|information| {
                let curvature = information.items[item];
                let mut of_places = vec![0.0; n];
                for cell in cells {
                    let p = probability(at.items[item] + at.places[cell.place]);
                    of_places[cell.place] += (cell.clicks + cell.skips) * p * (1.0 - p) / curvature;
                }
                1.0 / curvature + information.places.form(&mut of_places[1..])
            });
            ItemFit {
                item: id,
                attraction: Estimate::probability(p, variance.map(|of| of * (1.0 - p) * (1.0 - p)), z),
                clicks: clicks.to_u64().unwrap_or(0),
                impressions: (clicks + skips).to_u64().unwrap_or(0),
            }
        };
        let of_query = |query: usize| QueryFit {
            id: self.ids[query].0,
            positions: self.ids[query].1,
            items: self.queries[query].clone().map(of_row).collect(),
            typical: typical(at.queries[query], of_item),
            convergence: None,
        };
        let variances = information.map(|information| information.places.inverse_diagonal());
        let of_place = |place: usize| match place.checked_sub(1) {
            None => Estimate { value: 1.0, standard_error: Some(0.0), interval: Some((1.0, 1.0)) },
            Some(of) => Estimate::ratio(exp(at.places[place]), variances.as_ref().map(|all| all[of]), z),
        };
        let p = probability(self.mean);
        let site = Site {
            typical: typical(self.mean, of_item + 1.0 / self.of_queries),
            lift: Vec::new(),
            prior_strength: self.of_items / (p * (1.0 - p)),
            convergence: Some(convergence),
        };
        let queries = in_order((0..self.queries.len()).collect(), of_query);
        let odds = ByPosition { site: (0..n).map(of_place).collect(), queries: None };
        Fit::CtrLogistic { attractions: Attractions { queries, site }, odds }
    }
}

impl Point {
    fn all(&self) -> impl Iterator<Item = f64> {
        self.items.iter().chain(&self.queries).chain(&self.places).copied()
    }

    fn moved(&self, step: &Self, length: f64) -> Self {
        let moved =
            |from: &[f64], step: &[f64]| from.iter().zip(step).map(|(x, step)| x + length * step).collect();
        Self {
            items: moved(&self.items, &step.items),
            queries: moved(&self.queries, &step.queries),
            places: moved(&self.places, &step.places),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::test_sessions;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Two queries with four items each, three positions, 60 sessions.
    fn small_log() -> Sessions {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        test_sessions::of_lists((0..60).map(|session| {
            let first = rng.random_range(0..4);
            let items = (first..first + 3).map(|item| item % 4).collect();
            let clicks = (1..=3).map(|l| rng.random_range(0..=l) == 0).collect();
            (session % 2, items, clicks)
        }))
    }

    /// Moves one parameter at a time by a step, which is halved once no move helps.
    fn climb(regression: &Regression, at: &mut Point) {
        let first_place = at.items.len() + at.queries.len();
        let mut value = regression.value(at);
        let mut step = 1.0;
        while step > 1e-6 {
            let mut helps = false;
            for of in (0..first_place + at.places.len()).filter(|&of| of != first_place) {
                for move_by in [step, -step] {
                    let mut next = at.clone();
                    let mut all = next.items.iter_mut().chain(&mut next.queries).chain(&mut next.places);
                    *all.nth(of).unwrap() += move_by;
                    let reached = regression.value(&next);
                    // Smaller differences are rounding errors.
                    if reached > value + 1e-12 {
                        (*at, value, helps) = (next, reached, true);
                    }
                }
            }
            if !helps {
                step /= 2.0;
            }
        }
    }

    #[test]
    fn newton_and_a_climb_by_single_parameters_reach_the_same_point() {
        let mut regression = Regression::new(&small_log());
        for precisions in [[1.0, 1.0], [0.2, 5.0], [20.0, 0.3]] {
            [regression.of_items, regression.of_queries] = precisions;
            regression.mean = -0.5;
            let (mut newton, mut climbed) = (regression.start(), regression.start());
            let (_, convergence) = regression.maximise(&mut newton, false);
            climb(&regression, &mut climbed);
            assert!(convergence.converged && convergence.last.iterations < 12, "{convergence:?}");
            assert!(convergence.last.log_likelihood >= regression.value(&climbed) - 1e-10);
            for (ours, theirs) in newton.all().zip(climbed.all()) {
                assert!((ours - theirs).abs() < 1e-4, "{ours}, expected {theirs}");
            }
        }
    }

    /// The likelihood of the data is the one of the predictions.
    #[test]
    fn the_value_is_that_of_the_predictions_and_of_the_priors() {
        let sessions = small_log();
        let mut regression = Regression::new(&sessions);
        let (at, information, convergence) = regression.in_turns(&Options::default());
        let value = convergence.last.log_likelihood;
        let fit = regression.estimates(&at, information.as_ref(), convergence, 2.0);
        let mut prediction = crate::fit::Prediction::default();
        let mut expected = 0.0;
        for query in sessions.queries() {
            for list in query.lists() {
                for pattern in list.patterns() {
                    fit.predict(query.id(), list.items(), pattern.clicks, &mut prediction);
                    for (position, &p) in prediction.conditional.iter().enumerate() {
                        let clicked = pattern.clicks.get(position);
                        expected += pattern.sessions as f64 * ln(if clicked { p } else { 1.0 - p });
                    }
                }
            }
        }
        let square = |x: f64| x * x;
        for (query, items) in regression.queries.iter().enumerate() {
            expected -= 0.5 * regression.of_queries * square(at.queries[query] - regression.mean);
            let distances = items.clone().map(|item| square(at.items[item] - at.queries[query]));
            expected -= 0.5 * regression.of_items * distances.sum::<f64>();
        }
        expected -= 0.5 * PRECISION_OF_PLACES * at.places.iter().map(|&beta| square(beta)).sum::<f64>();
        assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
    }
}
