//! `ctr-logistic`: a logistic regression of a click on the item, the position and the position of
//! the last click. A yardstick: it shows how much of the clicks these three predict, and nothing
//! about how users behave, so it cannot be simulated.
//!
//! An impression of item `i` at position `l` with the last click at `m` (or none) is clicked with
//! the log-odds
//!
//! ```text
//! alpha_i + beta_{l m},        beta = 0 at the first position.
//! ```
//!
//! It has the parameters of the user browsing model; there, probabilities multiply, and here, odds
//! do. Items have a normal prior around the mean of their query, and means of queries one around
//! the mean of the site: `alpha_i ~ N(mu_q, tau^2)`, `mu_q ~ N(mu, omega^2)`. The variances are
//! estimated in turns with the maximum of the penalised likelihood, which Newton's method finds.
//! Given `beta`, a step of the items and of the means of queries is in closed form. With them
//! eliminated, the step of `beta` comes from a factorised matrix, or from conjugate gradients,
//! which need none.
//!
//! Reference: Breslow, Clayton, *Approximate inference in generalized linear mixed models*, JASA
//! 88, 1993, section 2 (penalised quasi-likelihood). Deviations: variances are those of the fixed
//! point of EM, squares divided by the effective number of items; `beta` is a parameter of the site
//! for every [`Scope`](super::Scope). With a given prior strength `s`, `tau^2` is that of a
//! log-odds with `s` pseudo-impressions, `1 / (s p (1 - p))` with the site's mean `p`.
//!
//! | here | meaning |
//! |---|---|
//! | `items` | `alpha`, one per item and query |
//! | `queries` | `mu_q` |
//! | `places` | `beta`, in the order of [`Model::places`](super::Model::places) |
//! | attraction | the probability of a click at the first position, `1 / (1 + exp(-alpha))` |
//! | examination | odds ratio to the first position, `exp(beta)` |
//!
//! Numerics: a long Newton step is halved until it does not lower the penalised likelihood;
//! rounding errors are allowed. Errors are those given the means of the queries; lists of more than
//! 22 positions have more than [`MANY_COLUMNS`] places, and no errors. Complexity: a step takes
//! O(k^2) for an item shown in `k` places, O(places^2) for a query, and O(places^3). With many
//! places it is linear in the cells, times the steps of conjugate gradients.

use super::credibility::{Count, MANY_COLUMNS, Source, items as by_item};
use super::estimate::{Estimate, normal_quantile};
use super::in_order::{in_order, sum_in_order};
use super::linear::Cholesky;
use super::options::Options;
use super::position_based::Impressions;
use super::squarem::{Convergence, Progress};
use super::{Attractions, Fit, ItemFit, Model, QueryFit, Scoped, Site};
use confidence::math::{ln, sqrt};
use libm::exp;
use log_reader::{Id, Positions, Sessions};
use num_traits::ToPrimitive as _;
use std::f64::consts::PI;
use std::ops::Range;

/// Newton steps at most, and the largest change of a log-odds at which they end: a step leaves an
/// error of about its square.
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-4;
/// The same between two estimates of the variances, which mostly have one step between them.
const ROUGH_TOLERANCE: f64 = 0.1;
/// Conjugate gradients end when the squared residual has fallen by this factor.
const RESIDUAL: f64 = 1e-8;
/// Alternations between parameters and variances at most, and the relative change of the variances
/// at which they end.
const TURNS: usize = 20;
const TOLERANCE_OF_TURNS: f64 = 0.01;
/// Number of queries of one task for a thread.
const QUERIES_OF_A_TASK: usize = 1 << 12;
/// The longest Newton step: the quadratic approximation is not valid for longer ones.
const LONGEST_STEP: f64 = 3.0;
/// Precision of the prior of each place, around 0. The log-odds of deep positions are a few units
/// below those of the first.
const PRECISION_OF_PLACES: f64 = 0.1;
/// Precisions of items and queries are at least this, so that there is a maximum without a click,
/// and at most the other.
const PRECISIONS: [f64; 2] = [1e-4, 1e4];

pub(super) fn fit(sessions: &Sessions, options: &Options) -> Fit {
    let mut regression = Regression::new(sessions);
    let (at, slopes, convergence) = regression.in_turns(options);
    regression.estimates(&at, &slopes, convergence, normal_quantile(options.level))
}

/// Clicks and impressions of an item in a place.
type Cell = (f64, f64);

/// The log, and the precisions of priors.
struct Regression {
    ids: Vec<(Id, Positions)>,
    /// Item, and its cells.
    items: Vec<(Id, Range<usize>)>,
    cells: Vec<Cell>,
    /// The place of each cell.
    places: Vec<usize>,
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

/// Derivatives of the log-likelihood at a point.
struct Derivatives {
    /// The information of each cell.
    weights: Vec<f64>,
    /// Gradient and information of each item.
    items: Vec<[f64; 2]>,
    /// Gradient of places.
    places: Vec<f64>,
}

/// Derivatives of the penalised log-likelihood at a point.
struct Slopes {
    of_clicks: Derivatives,
    /// Gradient and information of each item, given the rest.
    items: Vec<[f64; 2]>,
    /// The same of the mean of each query, with its items eliminated.
    queries: Vec<[f64; 2]>,
    /// Gradient of places with queries and items eliminated, and their own information with items
    /// eliminated.
    places: Vec<f64>,
    diagonal: Vec<f64>,
}

/// The probability of these log-odds.
fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + exp(-log_odds))
}

/// Clicks and impressions.
fn sums(cells: &[Cell]) -> Cell {
    cells.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1))
}

fn bounded(precision: f64) -> f64 {
    precision.clamp(PRECISIONS[0], PRECISIONS[1])
}

impl Regression {
    fn new(sessions: &Sessions) -> Self {
        let source = Impressions::browsing(sessions);
        let mut items = Vec::new();
        let (mut cells, mut places) = (Vec::new(), Vec::new());
        let (mut queries, mut ids) = (Vec::new(), Vec::new());
        for query in 0..source.n_queries() {
            let counts = source.counts(query);
            let first = items.len();
            for of_item in by_item(&counts) {
                let start = cells.len();
                cells.extend(of_item.iter().map(|count: &Count| (count.clicks as f64, count.impressions)));
                places.extend(of_item.iter().map(|count| count.column));
                items.push((of_item[0].item, start..cells.len()));
            }
            queries.push(first..items.len());
            ids.push((source.id(query), source.positions(query)));
        }
        let n_places = places.iter().max().map_or(1, |last| last + 1);
        Self { ids, items, cells, places, queries, n_places, of_items: 1.0, of_queries: 1.0, mean: 0.0 }
    }

    /// The place of each cell of an item, with its entry of a slice of all cells.
    fn cells<'a, T>(&'a self, item: usize, all: &'a [T]) -> impl Iterator<Item = (usize, &'a T)> + Clone {
        let cells = self.items[item].1.clone();
        self.places[cells.clone()].iter().copied().zip(&all[cells])
    }

    fn start(&self) -> Point {
        let (clicks, impressions) = sums(&self.cells);
        let log_odds = ln((clicks + 0.5) / (impressions - clicks + 0.5));
        Point {
            items: vec![log_odds; self.items.len()],
            queries: vec![log_odds; self.queries.len()],
            places: vec![0.0; self.n_places],
        }
    }

    /// Finds the maximum in turns with the variances of priors.
    fn in_turns(&mut self, options: &Options) -> (Point, Slopes, Convergence) {
        let mut at = self.start();
        let mut of_clicks = self.derivatives(&at);
        let mut convergence = Convergence::closed_form(0.0);
        for _ in 0..TURNS {
            self.mean = at.queries.iter().sum::<f64>() / at.queries.len() as f64;
            if let Some(strength) = options.prior_strength {
                let mean = probability(self.mean);
                self.of_items = bounded(strength * mean * (1.0 - mean));
            }
            let (slopes, of_turn) = self.maximise(&mut at, of_clicks, ROUGH_TOLERANCE, options.trace);
            convergence = convergence.then(of_turn);
            let before = [self.of_items, self.of_queries];
            let after = self.precisions(&at, &slopes, options);
            of_clicks = slopes.of_clicks;
            let stays = |(after, before): (&f64, &f64)| (after / before - 1.0).abs() < TOLERANCE_OF_TURNS;
            if after.iter().zip(&before).all(stays) {
                break;
            }
            [self.of_items, self.of_queries] = after;
        }
        let (slopes, last) = self.maximise(&mut at, of_clicks, TOLERANCE, options.trace);
        convergence = convergence.then(last);
        convergence.last.log_likelihood = self.value(&at);
        (at, slopes, convergence)
    }

    /// The effective numbers of items and queries, divided by the squared distances to the prior
    /// means.
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

    /// The penalised log-likelihood.
    fn value(&self, at: &Point) -> f64 {
        let of_query = |query: usize| {
            let away = self.mean - at.queries[query];
            let mut value = -0.5 * self.of_queries * away * away;
            for item in self.queries[query].clone() {
                let distance = at.queries[query] - at.items[item];
                value -= 0.5 * self.of_items * distance * distance;
                for (place, (clicks, impressions)) in self.cells(item, &self.cells) {
                    let x = at.items[item] + at.places[place];
                    value += clicks * x - impressions * (x.max(0.0) + ln(1.0 + exp(-x.abs())));
                }
            }
            value
        };
        let squares = at.places.iter().map(|beta| beta * beta).sum::<f64>();
        sum_in_order(self.queries.len(), of_query) - 0.5 * PRECISION_OF_PLACES * squares
    }

    /// The derivatives of the log-likelihood.
    fn derivatives(&self, at: &Point) -> Derivatives {
        let of_task = |queries: Range<usize>| {
            let items = self.queries[queries.start].start..self.queries[queries.end - 1].end;
            let n_cells = self.items[items.clone()].iter().map(|item| item.1.len()).sum();
            let (weights, of_items) = (Vec::with_capacity(n_cells), Vec::with_capacity(items.len()));
            let mut sum = Derivatives { weights, items: of_items, places: vec![0.0; self.n_places] };
            for item in items {
                let (mut slope, mut curvature) = (0.0, 0.0);
                for (place, (clicks, impressions)) in self.cells(item, &self.cells) {
                    let p = probability(at.items[item] + at.places[place]);
                    let (of_cell, weight) = (clicks - impressions * p, impressions * p * (1.0 - p));
                    slope += of_cell;
                    curvature += weight;
                    sum.places[place] += of_cell;
                    sum.weights.push(weight);
                }
                sum.items.push([slope, curvature]);
            }
            sum
        };
        let mut all =
            Derivatives { weights: Vec::new(), items: Vec::new(), places: vec![0.0; self.n_places] };
        for part in in_order(self.tasks(), of_task) {
            all.weights.extend(part.weights);
            all.items.extend(part.items);
            all.places.iter_mut().zip(part.places).for_each(|(sum, term)| *sum += term);
        }
        all
    }

    /// With the priors.
    fn slopes(&self, at: &Point, of_clicks: Derivatives) -> Slopes {
        let prior = |beta: &f64, slope: &f64| slope - PRECISION_OF_PLACES * beta;
        let places = at.places.iter().zip(&of_clicks.places).map(|(beta, slope)| prior(beta, slope));
        let (places, diagonal) = (places.collect(), vec![PRECISION_OF_PLACES; self.n_places]);
        let (items, queries) = (Vec::with_capacity(self.items.len()), Vec::with_capacity(self.queries.len()));
        let mut all = Slopes { of_clicks, items, queries, places, diagonal };
        for (&query, of_query) in at.queries.iter().zip(&self.queries) {
            let mut mean = [self.of_queries * (self.mean - query), self.of_queries];
            for item in of_query.clone() {
                let pull = self.of_items * (query - at.items[item]);
                let [slope, curvature] = all.of_clicks.items[item];
                let (slope, curvature) = (slope + pull, curvature + self.of_items);
                for (place, weight) in self.cells(item, &all.of_clicks.weights) {
                    all.diagonal[place] += weight - weight * weight / curvature;
                }
                mean[0] += self.of_items * slope / curvature - pull;
                mean[1] += self.of_items - self.of_items * self.of_items / curvature;
                all.items.push([slope, curvature]);
            }
            all.queries.push(mean);
            for item in of_query.clone() {
                let [slope, curvature] = all.items[item];
                let step = (slope + self.of_items * mean[0] / mean[1]) / curvature;
                for (place, weight) in self.cells(item, &all.of_clicks.weights) {
                    all.places[place] -= weight * step;
                }
            }
        }
        // The first place has no parameter.
        all.places[0] = 0.0;
        all
    }

    /// The step of items and queries for one of places, and the information times this step. With
    /// `own`, items and queries follow their own gradients as well.
    fn respond(&self, slopes: &Slopes, places: &[f64], own: bool) -> Point {
        let own = if own { 1.0 } else { 0.0 };
        let of_task = |queries: Range<usize>| {
            let mut sum = Point { items: Vec::new(), queries: Vec::new(), places: vec![0.0; places.len()] };
            for query in queries {
                let weighted = |item: usize| self.cells(item, &slopes.of_clicks.weights);
                let first = sum.items.len();
                let mut of_items = 0.0;
                for item in self.queries[query].clone() {
                    let moved: f64 = weighted(item).map(|(place, weight)| weight * places[place]).sum();
                    of_items += self.of_items * moved / slopes.items[item][1];
                    sum.items.push(moved);
                }
                let [slope, curvature] = slopes.queries[query];
                let of_mean = (own * slope - of_items) / curvature;
                for (item, step) in self.queries[query].clone().zip(&mut sum.items[first..]) {
                    let [slope, curvature] = slopes.items[item];
                    *step = (own * slope - *step + self.of_items * of_mean) / curvature;
                    for (place, weight) in weighted(item) {
                        sum.places[place] += weight * (places[place] + *step);
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
            all.places.iter_mut().zip(part.places).for_each(|(sum, term)| *sum += term);
        }
        // The first place has no parameter.
        all.places[0] = 0.0;
        all
    }

    /// A Newton step.
    fn step(&self, slopes: &Slopes) -> Point {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let scaled = |rest: &[f64]| -> Vec<f64> {
            rest.iter().zip(&slopes.diagonal).map(|(rest, d)| rest / d).collect()
        };
        let mut step = vec![0.0; self.n_places];
        let mut rest = slopes.places.clone();
        if let Some(information) = self.of_places(slopes) {
            information.solve(&mut rest[1..]);
            return Point { places: rest.clone(), ..self.respond(slopes, &rest, true) };
        }
        let mut direction = scaled(&rest);
        let mut size = dot(&rest, &direction);
        let enough = RESIDUAL * size;
        for _ in 0..self.n_places {
            if size <= enough {
                break;
            }
            let curved = self.respond(slopes, &direction, false).places;
            let length = size / dot(&direction, &curved);
            step.iter_mut().zip(&direction).for_each(|(step, direction)| *step += length * direction);
            rest.iter_mut().zip(&curved).for_each(|(rest, curved)| *rest -= length * curved);
            let next = scaled(&rest);
            let before = std::mem::replace(&mut size, dot(&rest, &next));
            direction.iter_mut().zip(next).for_each(|(old, next)| *old = next + size / before * *old);
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
                    let inverse = 1.0 / slopes.items[item][1];
                    let weighted = self.cells(item, &slopes.of_clicks.weights);
                    for (a, (place, weight)) in weighted.clone().enumerate() {
                        let row = &mut matrix[place * n..=place * n + place];
                        row[place] += weight;
                        cross[place] += weight * self.of_items * inverse;
                        for (other, other_weight) in weighted.clone().take(a + 1) {
                            row[other] -= weight * other_weight * inverse;
                        }
                    }
                }
                for place in (0..n).filter(|&place| cross[place] > 0.0) {
                    let share = cross[place] / slopes.queries[query][1];
                    let row = &mut matrix[place * n..=place * n + place];
                    row.iter_mut().zip(&cross).for_each(|(sum, cross)| *sum -= share * cross);
                }
                cross.fill(0.0);
            }
            matrix
        };
        let mut information = vec![0.0; (n - 1) * (n - 1)];
        for part in in_order(self.tasks(), of_task) {
            for a in 1..n {
                let row = &mut information[(a - 1) * (n - 1)..a * (n - 1)];
                row.iter_mut().zip(&part[a * n + 1..]).for_each(|(sum, term)| *sum += term);
            }
        }
        (1..n).for_each(|a| information[(a - 1) * n] += PRECISION_OF_PLACES);
        Cholesky::new(n - 1, information)
    }

    /// Newton's method; the derivatives are those at the end. The log-likelihood is only in a
    /// trace.
    ///
    /// A step that moves no log-odds by more than 1 climbs, and is not checked. After the share `t`
    /// of the step, the curvature has grown at most by the factor `exp(t)`. It takes back at most
    /// `e - 2 < 1` of what the gradient promises.
    fn maximise(
        &self,
        at: &mut Point,
        of_clicks: Derivatives,
        tolerance: f64,
        trace: bool,
    ) -> (Slopes, Convergence) {
        let mut here = self.slopes(at, of_clicks);
        let mut last_value = None;
        let mut convergence = Convergence::closed_form(0.0);
        convergence.converged = false;
        while !convergence.converged && convergence.last.iterations < STEPS {
            let step = self.step(&here);
            let largest = step.all().map(f64::abs).fold(0.0, f64::max);
            let mut length = (LONGEST_STEP / largest).min(1.0);
            if largest <= 0.5 {
                (*at, last_value) = (at.moved(&step, length), None);
            } else {
                let value = last_value.unwrap_or_else(|| self.value(at));
                loop {
                    let next = at.moved(&step, length);
                    let of_next = self.value(&next);
                    // Smaller differences are rounding errors.
                    if of_next >= value - 1e-13 * value.abs() || length < 1e-6 {
                        (*at, last_value) = (next, Some(of_next));
                        break;
                    }
                    length /= 2.0;
                }
            }
            here = self.slopes(at, self.derivatives(at));
            let iterations = convergence.last.iterations + 1;
            let log_likelihood = last_value.or_else(|| trace.then(|| self.value(at))).unwrap_or_default();
            convergence.last = Progress { iterations, log_likelihood, change: length * largest };
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
        let information = if z > 0.0 { self.of_places(slopes) } else { None };
        let of_row = |item: usize| {
            let (id, cells) = self.items[item].clone();
            let p = probability(at.items[item]);
            let (clicks, impressions) = sums(&self.cells[cells]);
            let variance = information.as_ref().map(|information| {
                let curvature = slopes.items[item][1];
                let mut of_places = vec![0.0; n];
                for (place, weight) in self.cells(item, &slopes.of_clicks.weights) {
                    of_places[place] += weight / curvature;
                }
                1.0 / curvature + information.form(&mut of_places[1..])
            });
            ItemFit {
                item: id,
                attraction: Estimate::probability(
                    p,
                    variance.map(|variance| variance * (1.0 - p) * (1.0 - p)),
                    z,
                ),
                prior: None,
                clicks: clicks.to_u64().unwrap_or(0),
                impressions: impressions.to_u64().unwrap_or(0),
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
        let positions = Scoped { site: (0..n).map(of_place).collect(), queries: None };
        Fit { positions, ..Fit::new(Model::CtrLogistic, Attractions { queries, site }) }
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
            for parameter in (0..first_place + at.places.len()).filter(|&parameter| parameter != first_place)
            {
                for move_by in [step, -step] {
                    let mut next = at.clone();
                    let mut all = next.items.iter_mut().chain(&mut next.queries).chain(&mut next.places);
                    *all.nth(parameter).unwrap() += move_by;
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
            let of_clicks = regression.derivatives(&newton);
            let (_, convergence) = regression.maximise(&mut newton, of_clicks, TOLERANCE, true);
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
