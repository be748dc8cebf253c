//! The log-likelihood, its derivatives, and the variance of its gradient: sums over all items.

use super::super::in_order::in_order;
use super::super::item_prior::ItemPrior;
use super::maximum::step_of_rank;
use super::{Count, Credibility, PSEUDO_CLICKS, PositionEffects, items};
use confidence::math::ln;
use libm::exp;
use std::ops::Range;

/// Number of queries of one task for a thread.
const QUERIES_OF_A_TASK: usize = 1 << 12;
/// Weight of the shape if means are not trusted.
const NEXT_TO_NOTHING: f64 = 1e-6;
/// A smaller share of the squared exposure is a rounding error: the item was shown at most once.
const ROUNDING: f64 = 1e-9;

/// Sums over all counts.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Minus the second derivatives.
    pub(super) information: Vec<f64>,
    /// The variance of the gradient.
    pub(super) variance: Vec<f64>,
    /// The lift of every item, by task.
    pub(super) lifts: Vec<Vec<f64>>,
}

impl Sums {
    pub(super) fn new(n: usize, matrices: usize) -> Self {
        let matrix = |wanted: bool| vec![0.0; if wanted { n * n } else { 0 }];
        Self {
            value: 0.0,
            gradient: vec![0.0; n],
            information: matrix(matrices > 0),
            variance: matrix(matrices > 1),
            lifts: Vec::new(),
        }
    }

    /// Makes the information symmetric.
    fn fill_upper_triangle(&mut self) {
        let n = self.gradient.len();
        for a in 0..n {
            for b in 0..a {
                self.information[b * n + a] = self.information[a * n + b];
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.value += other.value;
        let pairs = [
            (&mut self.gradient, other.gradient),
            (&mut self.information, other.information),
            (&mut self.variance, other.variance),
        ];
        for (sum, part) in pairs {
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        self.lifts.extend(other.lifts);
    }
}

impl Credibility<'_> {
    /// Sums over all items at a point, with the shapes of `lifts_before`, or of the point itself.
    /// `matrices`: 0 for the gradient alone, 1 also for the information, 2 also for the variance of
    /// the gradient, with means of queries eliminated.
    pub(super) fn sums(
        &self,
        at: &PositionEffects,
        lifts_before: Option<&[Vec<f64>]>,
        item_prior: &ItemPrior,
        matrices: usize,
    ) -> Sums {
        let examination = at.examination();
        let column = |(&position, &examination): (&usize, &f64)| Column {
            examination,
            lift: at.lift[position],
            of_lift: self.position(position),
        };
        let columns: Vec<Column> = self.positions.iter().zip(&examination).map(column).collect();
        let n = self.n_parameters();
        let task = |queries: Range<usize>| {
            let mut sums = Sums::new(n, matrices);
            let mut of_query = OfQuery { cross: vec![0.0; n], of_clicks: vec![0.0; n], ..OfQuery::default() };
            let mut terms = ItemTerms::default();
            let mut lifts = Vec::new();
            let before = lifts_before.map(|before| &before[queries.start / QUERIES_OF_A_TASK]);
            for query in queries {
                let mean = item_prior.means[query];
                of_query.start(item_prior.weight * mean);
                for item in items(&self.counts[query]) {
                    terms.set(item, &columns, self.examines);
                    let lift_before = before.map_or(terms.lift, |before| before[lifts.len()]);
                    let shape = item_prior.strength * mean * lift_before;
                    lifts.push(terms.lift);
                    let prior = Prior {
                        mean: mean * terms.lift,
                        strength: item_prior.strength,
                        shape,
                        is_trusted: self.trusts_means,
                    };
                    terms.add(prior, &mut sums, matrices, &mut of_query);
                }
                if matrices > 1 {
                    of_query.eliminate(&mut sums);
                }
            }
            if matrices > 0 {
                sums.fill_upper_triangle();
            }
            sums.lifts.push(lifts);
            sums
        };
        let starts = (0..self.counts.len()).step_by(QUERIES_OF_A_TASK);
        let tasks = starts.map(|start| start..self.counts.len().min(start + QUERIES_OF_A_TASK)).collect();
        let mut all = Sums::new(n, matrices);
        for sums in in_order(tasks, task) {
            all.add(sums);
        }
        self.add_priors(&mut all, at, &examination, item_prior, matrices);
        all
    }

    /// The exposure and the lift of an item.
    pub(in super::super) fn placed(
        &self,
        of_item: &[Count],
        examination: &[f64],
        found: &PositionEffects,
    ) -> (f64, f64) {
        let exposure = of_item.iter().map(|count| count.impressions * examination[count.column]);
        let lift = of_item.iter().map(|count| count.share * found.lift[self.positions[count.column]]);
        (exposure.sum(), exp(lift.sum()))
    }

    pub(super) fn add_priors(
        &self,
        sums: &mut Sums,
        at: &PositionEffects,
        examination: &[f64],
        item_prior: &ItemPrior,
        matrices: usize,
    ) {
        let n = self.n_parameters();
        if self.examines {
            let exposure = self.pseudo_exposure(at, item_prior.mean);
            for (column, (&y, &g)) in at.examination.iter().zip(examination).enumerate() {
                let clicks = self.columns[column].0;
                let expected = exposure * g;
                sums.value += (clicks + PSEUDO_CLICKS) * y - expected;
                sums.gradient[column] += clicks + PSEUDO_CLICKS - expected;
                if matrices > 0 {
                    sums.information[column * n + column] += expected;
                }
                if matrices > 1 {
                    sums.variance[column * n + column] += PSEUDO_CLICKS;
                }
            }
        }
        if self.has_lift() {
            for position in 1..at.lift.len() {
                let precision = 1.0 / (at.variance * step_of_rank(position));
                let step = at.lift[position] - at.lift[position - 1];
                sums.value -= 0.5 * precision * step * step;
                let ends = [(self.position(position - 1), -1.0), (self.position(position), 1.0)];
                for (a, sign) in ends.iter().filter_map(|&(end, sign)| Some((end?, sign))) {
                    sums.gradient[a] -= sign * precision * step;
                    for (b, other) in ends.iter().filter_map(|&(end, sign)| Some((end?, sign))) {
                        if matrices > 0 {
                            sums.information[a * n + b] += sign * other * precision;
                        }
                        if matrices > 1 {
                            sums.variance[a * n + b] += sign * other * precision;
                        }
                    }
                }
            }
        }
    }
}

/// A column at a point.
struct Column {
    examination: f64,
    /// The logarithm.
    lift: f64,
    /// The parameter of the lift.
    of_lift: Option<usize>,
}

#[derive(Debug, Default)]
struct ItemTerms {
    clicks: f64,
    exposure: f64,
    lift: f64,
    ln_lift: f64,
    /// Per cell, if examination is estimated: its parameter, `n g`, and examination `g`.
    cells: Vec<(usize, f64, f64)>,
    /// Per position with a parameter: the parameter, and the share of impressions; sorted.
    placed: Vec<(usize, f64)>,
}

impl ItemTerms {
    fn set(&mut self, of_item: &[Count], columns: &[Column], examines: bool) {
        self.cells.clear();
        self.placed.clear();
        (self.clicks, self.exposure, self.ln_lift) = (0.0, 0.0, 0.0);
        for &Count { column, clicks, impressions, share, .. } in of_item {
            let Column { examination, lift, of_lift } = columns[column];
            let exposure = impressions * examination;
            self.clicks += clicks as f64;
            self.exposure += exposure;
            self.ln_lift += share * lift;
            if examines {
                self.cells.push((column, exposure, examination));
            }
            let Some(lifted) = of_lift else { continue };
            // Columns of a position are next to each other.
            match self.placed.last_mut().filter(|last| last.0 == lifted) {
                Some(last) => last.1 += share,
                None => self.placed.push((lifted, share)),
            }
        }
        self.lift = exp(self.ln_lift);
    }

    /// Adds the terms of the item; those of the information to its lower triangle. Cells are sorted
    /// by column.
    fn add(&self, prior: Prior, sums: &mut Sums, matrices: usize, of_query: &mut OfQuery) {
        let n = sums.gradient.len();
        let (mean, shape) = (prior.mean, prior.effective_shape());
        let total = shape + mean * self.exposure;
        let by_total = mean / total;
        let (share, weight) = (self.exposure * by_total, self.clicks + shape);
        // Clicks of columns are added once for all items.
        sums.value += self.clicks * self.ln_lift - weight * ln(total / shape);
        let by_mean = self.clicks - weight * share;
        let expected = weight * by_total;
        for &(column, exposure, _) in &self.cells {
            sums.gradient[column] -= expected * exposure;
        }
        for &(place, part) in &self.placed {
            sums.gradient[place] += part * by_mean;
        }
        if matrices == 0 {
            return;
        }
        let spread = weight * share * (1.0 - share);
        for (place, &(a, of_a, _)) in self.cells.iter().enumerate() {
            let share_of_a = of_a * by_total;
            let (row, of_row) = (&mut sums.information[a * n..=a * n + a], expected * share_of_a);
            row[a] += expected * of_a;
            for &(b, of_b, _) in &self.cells[..=place] {
                row[b] -= of_row * of_b;
            }
            let cross = weight * share_of_a * (1.0 - share);
            for &(b, part) in &self.placed {
                sums.information[b * n + a] += cross * part;
            }
        }
        for (place, &(a, of_a)) in self.placed.iter().enumerate() {
            let (row, of_row) = (&mut sums.information[a * n..=a * n + a], spread * of_a);
            for &(b, of_b) in &self.placed[..=place] {
                row[b] += of_row * of_b;
            }
        }
        if matrices > 1 {
            self.add_variance(prior, sums, of_query);
        }
    }

    /// Adds the variance of the gradient, which is linear in clicks and attraction. Clicks have a
    /// binomial distribution, attraction has a Beta distribution.
    fn add_variance(&self, prior: Prior, sums: &mut Sums, of_query: &mut OfQuery) {
        let n = sums.gradient.len();
        let (mean, shape) = (prior.mean, prior.effective_shape());
        let total = shape + mean * self.exposure;
        let (share, weight) = (mean * self.exposure / total, self.clicks + shape);
        let (attraction, square) = prior.moments(self);
        // Derivative by a click in any column.
        let common: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|cell| (cell.0, -cell.1 * mean / total))
            .chain(self.placed.iter().map(|placed| (placed.0, placed.1 * (1.0 - share))))
            .collect();
        let variances: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|&(column, exposure, g)| (column, exposure * (attraction - g * square)))
            .map(|(column, variance)| (column, if prior.is_trusted { variance.max(0.0) } else { variance }))
            .collect();
        let all: f64 = variances.iter().map(|cell| cell.1).sum();
        for &(a, of_a) in &variances {
            sums.variance[a * n + a] += of_a;
            for &(b, of_b) in &common {
                sums.variance[a * n + b] += of_a * of_b;
                sums.variance[b * n + a] += of_a * of_b;
            }
            of_query.of_clicks[a] += (1.0 - share) * of_a;
        }
        // Derivative by attraction.
        let spread =
            mean * (1.0 - mean).max(0.0) / (prior.strength + 1.0) * (shape / total) * (shape / total);
        let by_attraction: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|cell| (cell.0, cell.1))
            .chain(self.placed.iter().map(|placed| (placed.0, placed.1 * self.exposure)))
            .collect();
        for (&(a, of_a), &(_, attracted_a)) in common.iter().zip(&by_attraction) {
            for (&(b, of_b), &(_, attracted_b)) in common.iter().zip(&by_attraction) {
                sums.variance[a * n + b] += all * of_a * of_b + spread * attracted_a * attracted_b;
            }
            of_query.of_clicks[a] += (1.0 - share) * all * of_a + spread * self.exposure * attracted_a;
            of_query.touched.push(a);
        }
        of_query.variance += all * (1.0 - share) * (1.0 - share) + spread * self.exposure * self.exposure;
        // Second derivatives by the mean of the query.
        let curvature = weight * share * (1.0 - share);
        of_query.curvature += curvature;
        for &(column, exposure, _) in &self.cells {
            of_query.cross[column] += weight * exposure * mean / total * (1.0 - share);
        }
        for &(place, part) in &self.placed {
            of_query.cross[place] += curvature * part;
        }
    }
}

/// Prior of an item's attraction.
#[derive(Debug, Clone, Copy)]
struct Prior {
    /// With the lift.
    mean: f64,
    strength: f64,
    shape: f64,
    is_trusted: bool,
}

impl Prior {
    /// The shape, or a negligible part of it if means are not trusted.
    fn effective_shape(&self) -> f64 {
        if self.is_trusted { self.shape } else { NEXT_TO_NOTHING * self.shape }
    }

    /// Attraction and its square in the variance of clicks: moments of the posterior or, if means
    /// are not trusted, unbiased estimates from the item's clicks alone. A sum of `C` independent
    /// clicks has `E[C (C - 1)] = a^2 (exposure^2 - sum of n g^2)`.
    fn moments(&self, item: &ItemTerms) -> (f64, f64) {
        if self.is_trusted {
            let weight = item.clicks + self.shape;
            let attraction = weight * self.mean / (self.shape + self.mean * item.exposure);
            return (attraction, (attraction * attraction * (1.0 + 1.0 / weight)).min(attraction));
        }
        let all = item.exposure * item.exposure;
        let of_pairs = all - item.cells.iter().map(|cell| cell.1 * cell.2).sum::<f64>();
        let square =
            if of_pairs > ROUNDING * all { item.clicks * (item.clicks - 1.0) / of_pairs } else { 0.0 };
        (item.clicks / item.exposure.max(f64::MIN_POSITIVE), square)
    }
}

/// Terms of the mean of a query and the parameters.
#[derive(Debug, Default)]
struct OfQuery {
    curvature: f64,
    /// Variance of the clicks in the equation of the mean.
    variance: f64,
    cross: Vec<f64>,
    of_clicks: Vec<f64>,
    touched: Vec<usize>,
}

impl OfQuery {
    /// Starts a query, with the curvature of its prior.
    fn start(&mut self, curvature: f64) {
        self.curvature = curvature;
        self.variance = curvature;
        for &of in &self.touched {
            self.cross[of] = 0.0;
            self.of_clicks[of] = 0.0;
        }
        self.touched.clear();
    }

    fn eliminate(&mut self, sums: &mut Sums) {
        if self.curvature <= 0.0 {
            return;
        }
        let n = sums.gradient.len();
        self.touched.sort_unstable();
        self.touched.dedup();
        for &a in &self.touched {
            let share = self.cross[a] / self.curvature;
            for &b in &self.touched {
                let other = self.cross[b] / self.curvature;
                sums.information[a * n + b] -= share * self.cross[b];
                sums.variance[a * n + b] +=
                    self.variance * share * other - share * self.of_clicks[b] - other * self.of_clicks[a];
            }
        }
    }
}
