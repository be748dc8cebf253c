//! The log-likelihood, its derivatives, and the variance of its gradient: sums over all items.

use super::super::in_order::in_order;
use super::super::item_prior::ItemPrior;
use super::counts::{Count, Source, items, shares};
use super::item_terms::{OfQuery, Prior, Row};
use super::walk::step_of_rank;
use super::{Credibility, PSEUDO_CLICKS, PositionEffects};
use libm::exp;
use std::ops::Range;

/// Number of queries of one task for a thread.
const QUERIES_OF_A_TASK: usize = 1 << 12;

/// Sums over all counts.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Minus the second derivatives.
    pub(super) information: Vec<f64>,
    /// The variance of the gradient.
    pub(super) variance: Vec<f64>,
}

impl Sums {
    pub(super) fn new(n: usize, matrices: usize) -> Self {
        let matrix = |wanted: bool| vec![0.0; if wanted { n * n } else { 0 }];
        Self {
            value: 0.0,
            gradient: vec![0.0; n],
            information: matrix(matrices > 0),
            variance: matrix(matrices > 1),
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

    fn add(&mut self, other: &Self) {
        self.value += other.value;
        let pairs = [
            (&mut self.gradient, &other.gradient),
            (&mut self.information, &other.information),
            (&mut self.variance, &other.variance),
        ];
        for (sum, of) in pairs {
            sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
        }
    }
}

impl<S: Source> Credibility<'_, S> {
    /// Sums over all items at a point; shapes are taken from `before`. `matrices`: 0 for the gradient alone, 1 also for the information,
    /// 2 also for the variance of the gradient, with means of queries eliminated.
    pub(super) fn sums(
        &self,
        at: &PositionEffects,
        before: &PositionEffects,
        item_prior: &ItemPrior,
        matrices: usize,
    ) -> Sums {
        let examination = at.examination();
        let n = self.n_parameters();
        let task = |queries: Range<usize>| {
            let mut sums = Sums::new(n, matrices);
            let mut of_query = OfQuery { cross: vec![0.0; n], of_clicks: vec![0.0; n], ..OfQuery::default() };
            let mut counts = Vec::new();
            let mut row = Row::default();
            for query in queries {
                self.source.counts(query, &mut counts);
                let mean = item_prior.means[query];
                of_query.start(item_prior.weight * mean);
                for item in items(&counts) {
                    self.row(item, &examination, at, &mut row);
                    let shape = item_prior.strength * mean * self.lift_before(item, &row, at, before);
                    let prior = Prior {
                        mean: mean * row.lift,
                        strength: item_prior.strength,
                        shape,
                        is_trusted: self.trusts_means,
                    };
                    row.add(prior, &mut sums, matrices, &mut of_query);
                }
                if matrices > 1 {
                    of_query.eliminate(&mut sums);
                }
            }
            if matrices > 0 {
                sums.fill_upper_triangle();
            }
            sums
        };
        let starts = (0..self.source.n_queries()).step_by(QUERIES_OF_A_TASK);
        let tasks =
            starts.map(|start| start..self.source.n_queries().min(start + QUERIES_OF_A_TASK)).collect();
        let mut all = Sums::new(n, matrices);
        for sums in in_order(tasks, task) {
            all.add(&sums);
        }
        self.add_priors(&mut all, at, &examination, item_prior, matrices);
        all
    }

    fn row(&self, of_item: &[Count], examination: &[f64], found: &PositionEffects, row: &mut Row) {
        row.cells.clear();
        row.placed.clear();
        row.clicks = of_item.iter().map(|count| count.clicks as f64).sum();
        row.ln_lift = 0.0;
        for (count, share) in of_item.iter().zip(shares(of_item)) {
            let (n, g) = (count.impressions, examination[count.column]);
            row.cells.push((self.column(count.column).unwrap_or(usize::MAX), n * g, g));
            let position = self.positions[count.column];
            row.ln_lift += share * found.lift[position];
            row.placed.push((self.position(position).unwrap_or(usize::MAX), share));
        }
        row.exposure = row.cells.iter().map(|cell| cell.1).sum();
        row.lift = exp(row.ln_lift);
    }

    /// The exposure and the lift of an item.
    pub(in super::super) fn placed(
        &self,
        of_item: &[Count],
        examination: &[f64],
        found: &PositionEffects,
    ) -> (f64, f64) {
        let exposure = of_item.iter().map(|count| count.impressions * examination[count.column]);
        let lift = shares(of_item).zip(of_item);
        let lift = lift.map(|(share, count)| share * found.lift[self.positions[count.column]]);
        (exposure.sum(), exp(lift.sum()))
    }

    fn lift_before(&self, item: &[Count], row: &Row, at: &PositionEffects, before: &PositionEffects) -> f64 {
        if at.lift == before.lift { row.lift } else { self.placed(item, &at.examination, before).1 }
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
