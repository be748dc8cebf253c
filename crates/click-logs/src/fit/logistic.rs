//! `ctr-logistic`: a logistic regression of a click on the item, the position and the position of the last click. A yardstick: it says how much of
//! the clicks these three predict, and nothing about how users behave, so it cannot be simulated.
//!
//! An impression of item `i` at position `l` with the last click at `m` (or none) is clicked with the log-odds
//!
//! ```text
//! alpha_i + beta_{l m},        beta = 0 at the first position.
//! ```
//!
//! It has the parameters of the user browsing model; there, probabilities multiply, and here, odds
//! do. Items have a normal prior around the mean of their query, and means of queries one around
//! the mean of the site: `alpha_i ~ N(mu_q, tau^2)`, `mu_q ~ N(mu, omega^2)`. The variances are
//! estimated in turns with the maximum of the penalised likelihood, which Newton's method finds.
//! Given `beta`, a step of the items and of the means of queries is in closed form; that of `beta`
//! itself comes from conjugate gradients, which need no matrix.
//!
//! Reference: Breslow, Clayton, *Approximate inference in generalized linear mixed models*, JASA
//! 88, 1993, section 2 (penalised quasi-likelihood). Deviations: variances are those of the fixed
//! point of EM, squares divided by the effective number of items; `beta` is a parameter of the site
//! for every [`Scope`](super::Scope). With a given prior strength `s`, `tau^2` is that of a log-odds
//! with `s` pseudo-impressions, `1 / (s p (1 - p))` with the site's mean `p`.
//!
//! | here | meaning |
//! |---|---|
//! | `items` | `alpha`, one per item and query |
//! | `queries` | `mu_q` |
//! | `places` | `beta`, in the order of [`Model::places`](super::Model::places) |
//! | attraction | the probability of a click at the first position, `1 / (1 + exp(-alpha))` |
//! | examination | odds ratio to the first position, `exp(beta)` |
//!
//! Numerics: a Newton step is halved until it does not lower the penalised likelihood; rounding
//! errors are allowed. Errors are those given the means of the queries; lists of more than 22
//! positions have more than [`MANY_COLUMNS`] places, and no errors. Complexity: a step is linear in
//! the cells, times the steps of conjugate gradients; errors take O(k^2) for an item shown in `k`
//! places, and O(places^3).

use super::credibility::{Count, MANY_COLUMNS, Source, items};
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
use libm::exp;
use num_traits::ToPrimitive as _;
use std::f64::consts::PI;
use std::ops::Range;

/// Newton steps at most, and the largest change of a log-odds at which they end.
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-9;
/// The same between two estimates of the variances, which mostly have one step between them.
const ROUGH_TOLERANCE: f64 = 0.1;
/// Conjugate gradients end when the squared residual has fallen by this factor.
const RESIDUAL: f64 = 1e-8;
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
    let (at, slopes, convergence) = regression.in_turns(options);
    regression.estimates(&at, &slopes, convergence, normal_quantile(options.level))
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

/// The penalised log-likelihood at a point, and its derivatives.
struct Slopes {
    value: f64,
    /// The information of each cell.
    weights: Vec<f64>,
    /// Gradient and information of each item, given the rest.
    items: Vec<[f64; 2]>,
    /// The same of the mean of each query, with its items eliminated.
    queries: Vec<[f64; 2]>,
    /// Gradient of places, and their own information with items eliminated.
    places: Vec<f64>,
    diagonal: Vec<f64>,
}

/// The probability of these log-odds.
fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + exp(-log_odds))
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
        for query in 0..source.n_queries() {
            let counts = source.counts(query);
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
    fn in_turns(&mut self, options: &Options) -> (Point, Slopes, Convergence) {
        let mut at = self.start();
        let mut convergence = Convergence::closed_form(0.0);
        for _ in 0..TURNS {
            self.mean = at.queries.iter().sum::<f64>() / at.queries.len() as f64;
            if let Some(strength) = options.prior_strength {
                let mean = probability(self.mean);
                self.of_items = bounded(strength * mean * (1.0 - mean));
            }
            let (slopes, of_turn) = self.maximise(&mut at, ROUGH_TOLERANCE, options.trace);
            convergence = convergence.then(of_turn);
            let before = [self.of_items, self.of_queries];
            let after = self.precisions(&at, &slopes, options);
            let stays = |(after, before): (&f64, &f64)| (after / before - 1.0).abs() < TOLERANCE_OF_TURNS;
            if after.iter().zip(&before).all(stays) {
                break;
            }
            [self.of_items, self.of_queries] = after;
        }
        let (slopes, last) = self.maximise(&mut at, TOLERANCE, options.trace);
        (at, slopes, convergence.then(last))
    }

    /// The effective numbers of items and queries, divided by the squared distances to the prior means.
    fn precisions(&self, at: &Point, slopes: &Slopes, options: &Options) -> [f64; 2] {
        let precision = |before: f64, parts: &mut dyn Iterator<Item = (f64, f64)>| {
            let (mut squares, mut effective, mut variances, mut n) = (0.0, 0.0, 0.0, 0.0);
            for (distance, information) in parts {
                squares += distance * distance;
                effective += 1.0 - before / information;
                variances += 1.0 / information;
                n += 1.0;
            }
            // Without information on differences, a step of EM.
            let of_em = n / (squares + variances);
            bounded(if effective > 0.1 && squares > 0.0 { effective / squares } else { of_em })
        };
        let of_query = |(query, items): (usize, &Range<usize>)| {
            let distance = move |item: usize| at.items[item] - at.queries[query];
            items.clone().map(move |item| (distance(item), slopes.items[item][1]))
        };
        let mut of_items = self.queries.iter().enumerate().flat_map(of_query);
        let queries = at.queries.iter().zip(&slopes.queries);
        let mut of_queries = queries.map(|(mean, [_, information])| (mean - self.mean, *information));
        let given = options.prior_strength.is_some();
        let of_items = if given { self.of_items } else { precision(self.of_items, &mut of_items) };
        [of_items, precision(self.of_queries, &mut of_queries)]
    }

    /// Queries, in parts for threads.
    fn tasks(&self) -> Vec<Range<usize>> {
        let starts = (0..self.queries.len()).step_by(QUERIES_OF_A_TASK);
        starts.map(|start| start..self.queries.len().min(start + QUERIES_OF_A_TASK)).collect()
    }

    /// The penalised log-likelihood and its derivatives.
    fn slopes(&self, at: &Point) -> Slopes {
        let n = self.n_places;
        let of_task = |queries: Range<usize>| {
            let (places, diagonal) = (vec![0.0; n], vec![0.0; n]);
            let mut sum = Slopes {
                value: 0.0,
                weights: Vec::new(),
                items: Vec::new(),
                queries: Vec::new(),
                places,
                diagonal,
            };
            for query in queries {
                let away = self.mean - at.queries[query];
                sum.value -= 0.5 * self.of_queries * away * away;
                let mut mean = [self.of_queries * away, self.of_queries];
                for item in self.queries[query].clone() {
                    let distance = at.queries[query] - at.items[item];
                    let pull = self.of_items * distance;
                    sum.value -= 0.5 * pull * distance;
                    let (mut slope, mut curvature) = (pull, self.of_items);
                    let first = sum.weights.len();
                    for cell in self.cells(item) {
                        let x = at.items[item] + at.places[cell.place];
                        let e = exp(-x.abs());
                        let p = if x > 0.0 { 1.0 } else { e } / (1.0 + e);
                        let impressions = cell.clicks + cell.skips;
                        let (of_cell, weight) = (cell.clicks - impressions * p, impressions * p * (1.0 - p));
                        sum.value += cell.clicks * x - impressions * (x.max(0.0) + ln(1.0 + e));
                        slope += of_cell;
                        curvature += weight;
                        sum.places[cell.place] += of_cell;
                        sum.weights.push(weight);
                    }
                    for (cell, weight) in self.cells(item).iter().zip(&sum.weights[first..]) {
                        sum.diagonal[cell.place] += weight - weight * weight / curvature;
                    }
                    mean[0] += self.of_items * slope / curvature - pull;
                    mean[1] += self.of_items - self.of_items * self.of_items / curvature;
                    sum.items.push([slope, curvature]);
                }
                sum.queries.push(mean);
            }
            sum
        };
        let mut all = of_task(0..0);
        for part in in_order(self.tasks(), of_task) {
            all.value += part.value;
            all.weights.extend(part.weights);
            all.items.extend(part.items);
            all.queries.extend(part.queries);
            all.places.iter_mut().zip(part.places).for_each(|(sum, of)| *sum += of);
            all.diagonal.iter_mut().zip(part.diagonal).for_each(|(sum, of)| *sum += of);
        }
        for ((&beta, slope), diagonal) in at.places.iter().zip(&mut all.places).zip(&mut all.diagonal) {
            all.value -= 0.5 * PRECISION_OF_PLACES * beta * beta;
            *slope -= PRECISION_OF_PLACES * beta;
            *diagonal += PRECISION_OF_PLACES;
        }
        all
    }

    /// The step of items and queries for one of places, and the information times this step. With
    /// `own`, items and queries follow their own gradients as well.
    fn respond(&self, slopes: &Slopes, places: &[f64], own: bool) -> Point {
        let own = if own { 1.0 } else { 0.0 };
        let of_task = |queries: Range<usize>| {
            let mut sum = Point { items: Vec::new(), queries: Vec::new(), places: vec![0.0; places.len()] };
            for query in queries {
                let weighted =
                    |item: usize| self.cells(item).iter().zip(&slopes.weights[self.items[item].1.clone()]);
                let first = sum.items.len();
                let mut of_items = 0.0;
                for item in self.queries[query].clone() {
                    let moved: f64 = weighted(item).map(|(cell, weight)| weight * places[cell.place]).sum();
                    of_items += self.of_items * moved / slopes.items[item][1];
                    sum.items.push(moved);
                }
                let [slope, curvature] = slopes.queries[query];
                let of_mean = (own * slope - of_items) / curvature;
                for (item, step) in self.queries[query].clone().zip(&mut sum.items[first..]) {
                    let [slope, curvature] = slopes.items[item];
                    *step = (own * slope - *step + self.of_items * of_mean) / curvature;
                    for (cell, weight) in weighted(item) {
                        sum.places[cell.place] += weight * (places[cell.place] + *step);
                    }
                }
                sum.queries.push(of_mean);
            }
            sum
        };
        let of_prior = places.iter().map(|step| PRECISION_OF_PLACES * step).collect();
        let mut all = Point { items: Vec::new(), queries: Vec::new(), places: of_prior };
        for part in in_order(self.tasks(), of_task) {
            all.items.extend(part.items);
            all.queries.extend(part.queries);
            all.places.iter_mut().zip(part.places).for_each(|(sum, of)| *sum += of);
        }
        // The first place has no parameter.
        all.places[0] = 0.0;
        all
    }

    /// A Newton step.
    fn step(&self, slopes: &Slopes) -> Point {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let scaled =
            |rest: &[f64]| -> Vec<f64> { rest.iter().zip(&slopes.diagonal).map(|(of, d)| of / d).collect() };
        let mut step = vec![0.0; self.n_places];
        let start = self.respond(slopes, &step, true);
        let mut rest: Vec<f64> = slopes.places.iter().zip(start.places).map(|(of, less)| of - less).collect();
        rest[0] = 0.0;
        let mut direction = scaled(&rest);
        let mut size = dot(&rest, &direction);
        let enough = RESIDUAL * size;
        for _ in 0..self.n_places {
            if size <= enough {
                break;
            }
            let curved = self.respond(slopes, &direction, false).places;
            let length = size / dot(&direction, &curved);
            step.iter_mut().zip(&direction).for_each(|(step, of)| *step += length * of);
            rest.iter_mut().zip(&curved).for_each(|(rest, of)| *rest -= length * of);
            let next = scaled(&rest);
            let before = std::mem::replace(&mut size, dot(&rest, &next));
            direction.iter_mut().zip(next).for_each(|(of, next)| *of = next + size / before * *of);
        }
        Point { places: step.clone(), ..self.respond(slopes, &step, true) }
    }

    /// The information on all places but the first, with items and queries eliminated, factorised.
    fn of_places(&self, slopes: &Slopes) -> Option<Cholesky> {
        let n = self.n_places;
        if n > MANY_COLUMNS {
            return None;
        }
        let of_task = |queries: Range<usize>| {
            let (mut matrix, mut cross) = (vec![0.0; n * n], vec![0.0; n]);
            for query in queries {
                for item in self.queries[query].clone() {
                    let curvature = slopes.items[item][1];
                    let weights = &slopes.weights[self.items[item].1.clone()];
                    for (a, (cell, weight)) in self.cells(item).iter().zip(weights).enumerate() {
                        cross[cell.place] += weight * self.of_items / curvature;
                        matrix[cell.place * n + cell.place] += weight;
                        for (other, of) in self.cells(item)[..=a].iter().zip(weights) {
                            matrix[cell.place * n + other.place] -= weight * of / curvature;
                        }
                    }
                }
                let touched = cross.iter_mut().enumerate().filter(|(_, of)| **of > 0.0);
                let touched: Vec<(usize, f64)> =
                    touched.map(|(place, of)| (place, std::mem::take(of))).collect();
                for (a, &(place, of)) in touched.iter().enumerate() {
                    for (other, of_other) in &touched[..=a] {
                        matrix[place * n + other] -= of * of_other / slopes.queries[query][1];
                    }
                }
            }
            matrix
        };
        let mut information = vec![0.0; (n - 1) * (n - 1)];
        for part in in_order(self.tasks(), of_task) {
            for a in 1..n {
                let row = &mut information[(a - 1) * (n - 1)..a * (n - 1)];
                row.iter_mut().zip(&part[a * n + 1..]).for_each(|(sum, of)| *sum += of);
            }
        }
        (1..n).for_each(|a| information[(a - 1) * n] += PRECISION_OF_PLACES);
        Cholesky::new(n - 1, information)
    }

    /// Newton's method; the derivatives are those at the end.
    fn maximise(&self, at: &mut Point, tolerance: f64, trace: bool) -> (Slopes, Convergence) {
        let mut here = self.slopes(at);
        let mut convergence = Convergence::closed_form(here.value);
        convergence.converged = false;
        while !convergence.converged && convergence.last.iterations < STEPS {
            let step = self.step(&here);
            let largest = step.all().map(f64::abs).fold(0.0, f64::max);
            let mut length = (LONGEST_STEP / largest).min(1.0);
            loop {
                let next = at.moved(&step, length);
                let there = self.slopes(&next);
                // Smaller differences are rounding errors.
                if there.value >= here.value - 1e-13 * here.value.abs() || length < 1e-6 {
                    (*at, here) = (next, there);
                    break;
                }
                length /= 2.0;
            }
            let iterations = convergence.last.iterations + 1;
            convergence.last = Progress { iterations, log_likelihood: here.value, change: length * largest };
            convergence.converged = convergence.last.change <= tolerance;
            if trace {
                convergence.trace.push(convergence.last);
            }
        }
        (here, convergence)
    }

    fn estimates(&self, at: &Point, slopes: &Slopes, convergence: Convergence, z: f64) -> Fit {
        let n = self.n_places;
        // The mean of a probability with normal log-odds is about that of smaller log-odds.
        let typical = |mean: f64, variance: f64| probability(mean / sqrt(1.0 + PI / 8.0 * variance));
        let of_item = 1.0 / self.of_items;
        let information = self.of_places(slopes);
        let of_row = |item: usize| {
            let (id, cells) = (self.items[item].0, self.cells(item));
            let p = probability(at.items[item]);
            let (clicks, skips) = sums(cells);
            let variance = information.as_ref().map(|information| {
                let curvature = slopes.items[item][1];
                let mut of_places = vec![0.0; n];
                for (cell, weight) in cells.iter().zip(&slopes.weights[self.items[item].1.clone()]) {
                    of_places[cell.place] += weight / curvature;
                }
                1.0 / curvature + information.form(&mut of_places[1..])
            });
            ItemFit {
                item: id,
                attraction: Estimate::probability(p, variance.map(|of| of * (1.0 - p) * (1.0 - p)), z),
                prior: None,
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
        let variances = information.as_ref().map(Cholesky::inverse_diagonal);
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
        let mut value = regression.slopes(at).value;
        let mut step = 1.0;
        while step > 1e-6 {
            let mut helps = false;
            for of in (0..first_place + at.places.len()).filter(|&of| of != first_place) {
                for move_by in [step, -step] {
                    let mut next = at.clone();
                    let mut all = next.items.iter_mut().chain(&mut next.queries).chain(&mut next.places);
                    *all.nth(of).unwrap() += move_by;
                    let reached = regression.slopes(&next).value;
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
            let (_, convergence) = regression.maximise(&mut newton, TOLERANCE, false);
            climb(&regression, &mut climbed);
            assert!(convergence.converged && convergence.last.iterations < 12, "{convergence:?}");
            assert!(convergence.last.log_likelihood >= regression.slopes(&climbed).value - 1e-10);
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
        let (at, slopes, convergence) = regression.in_turns(&Options::default());
        let value = convergence.last.log_likelihood;
        let fit = regression.estimates(&at, &slopes, convergence, 2.0);
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
