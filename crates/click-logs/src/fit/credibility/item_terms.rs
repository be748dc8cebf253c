//! Contribution of one item to the sums.

use super::sums::Sums;
use confidence::math::ln;

/// Weight of the shape if means are not trusted.
const NEXT_TO_NOTHING: f64 = 1e-6;
/// A smaller share of the squared exposure is a rounding error: the item was shown at most once.
const ROUNDING: f64 = 1e-9;

/// Terms of one item.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) clicks: f64,
    pub(super) exposure: f64,
    pub(super) lift: f64,
    pub(super) ln_lift: f64,
    /// Per cell: parameter, `n g`, and examination `g`.
    pub(super) cells: Vec<(usize, f64, f64)>,
    /// Per cell: parameter of the position, and share of impressions.
    pub(super) placed: Vec<(usize, f64)>,
}

impl Row {
    /// Adds the terms of the item. Of the information on pairs of positions it adds the lower triangle.
    pub(super) fn add(&self, prior: Prior, sums: &mut Sums, matrices: usize, of_query: &mut OfQuery) {
        let n = sums.gradient.len();
        let (mean, shape) = (prior.mean, prior.effective_shape());
        let total = shape + mean * self.exposure;
        let (share, weight) = (mean * self.exposure / total, self.clicks + shape);
        let known = |of: &usize| *of != usize::MAX;
        // Clicks of columns are added once for all items.
        sums.value += self.clicks * self.ln_lift - weight * ln(total / shape);
        let by_mean = self.clicks - weight * share;
        let expected = weight * mean / total;
        for &(of, exposure, _) in self.cells.iter().filter(|cell| known(&cell.0)) {
            sums.gradient[of] -= expected * exposure;
        }
        for &(of, part) in self.placed.iter().filter(|placed| known(&placed.0)) {
            sums.gradient[of] += part * by_mean;
        }
        if matrices == 0 {
            return;
        }
        let spread = weight * share * (1.0 - share);
        for &(a, of_a, _) in self.cells.iter().filter(|cell| known(&cell.0)) {
            sums.information[a * n + a] += expected * of_a;
            let share_of_a = of_a * mean / total;
            for &(b, of_b, _) in &self.cells {
                sums.information[a * n + b] -= weight * share_of_a * of_b * mean / total;
            }
            for &(b, part) in self.placed.iter().filter(|placed| known(&placed.0)) {
                let cross = weight * share_of_a * (1.0 - share) * part;
                sums.information[a * n + b] += cross;
                sums.information[b * n + a] += cross;
            }
        }
        for &(a, of_a) in self.placed.iter().filter(|placed| known(&placed.0)) {
            let (row, of_row) = (&mut sums.information[a * n..(a + 1) * n], spread * of_a);
            // The lower triangle, since cells are sorted by column.
            for &(b, of_b) in self.placed.iter().filter(|placed| known(&placed.0)).take_while(|of| of.0 <= a)
            {
                row[b] += of_row * of_b;
            }
        }
        if matrices > 1 {
            self.add_variance(prior, sums, of_query);
        }
    }

    /// Adds the variance of the gradient, which is linear in clicks and attraction. Clicks have a binomial distribution, attraction has a
    /// Beta distribution.
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
            .filter(|part| part.0 != usize::MAX)
            .collect();
        let variances: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|&(of, exposure, g)| (of, exposure * (attraction - g * square)))
            .map(|(of, variance)| (of, if prior.is_trusted { variance.max(0.0) } else { variance }))
            .collect();
        let all: f64 = variances.iter().map(|cell| cell.1).sum();
        for &(a, of_a) in variances.iter().filter(|cell| cell.0 != usize::MAX) {
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
            .filter(|part| part.0 != usize::MAX)
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
        for &(of, exposure, _) in self.cells.iter().filter(|cell| cell.0 != usize::MAX) {
            of_query.cross[of] += weight * exposure * mean / total * (1.0 - share);
        }
        for &(of, part) in self.placed.iter().filter(|placed| placed.0 != usize::MAX) {
            of_query.cross[of] += curvature * part;
        }
    }
}

/// Prior of an item's attraction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prior {
    /// With the lift.
    pub(super) mean: f64,
    pub(super) strength: f64,
    pub(super) shape: f64,
    pub(super) is_trusted: bool,
}

impl Prior {
    /// The shape, or a negligible part of it if means are not trusted.
    fn effective_shape(&self) -> f64 {
        if self.is_trusted { self.shape } else { NEXT_TO_NOTHING * self.shape }
    }

    /// Attraction and its square in the variance of clicks: moments of the posterior or, if means are not trusted, unbiased estimates
    /// from the item's clicks alone. A sum of `C` independent clicks has `E[C (C - 1)] = a^2 (exposure^2 - sum of n g^2)`.
    fn moments(&self, row: &Row) -> (f64, f64) {
        if self.is_trusted {
            let weight = row.clicks + self.shape;
            let attraction = weight * self.mean / (self.shape + self.mean * row.exposure);
            return (attraction, (attraction * attraction * (1.0 + 1.0 / weight)).min(attraction));
        }
        let all = row.exposure * row.exposure;
        let of_pairs = all - row.cells.iter().map(|cell| cell.1 * cell.2).sum::<f64>();
        let square = if of_pairs > ROUNDING * all { row.clicks * (row.clicks - 1.0) / of_pairs } else { 0.0 };
        (row.clicks / row.exposure.max(f64::MIN_POSITIVE), square)
    }
}

/// Terms of the mean of a query and the parameters.
#[derive(Debug, Default)]
pub(super) struct OfQuery {
    pub(super) curvature: f64,
    /// Variance of the clicks in the equation of the mean.
    pub(super) variance: f64,
    pub(super) cross: Vec<f64>,
    pub(super) of_clicks: Vec<f64>,
    pub(super) touched: Vec<usize>,
}

impl OfQuery {
    /// Starts a query, with the curvature of its prior.
    pub(super) fn start(&mut self, curvature: f64) {
        self.curvature = curvature;
        self.variance = curvature;
        for &of in &self.touched {
            self.cross[of] = 0.0;
            self.of_clicks[of] = 0.0;
        }
        self.touched.clear();
    }

    pub(super) fn eliminate(&mut self, sums: &mut Sums) {
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
