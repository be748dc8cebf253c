//! A normal distribution of coefficients: mean, and the upper triangular factor of the precision.

use crate::Error;
use crate::checked::checked;
use crate::sampling::Sampler;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The largest number in a saved posterior. Squares and sums of such numbers are far from infinity.
pub(super) const LARGEST: f64 = 1e100;

/// `N(mean, P^-1)` with `P = R' R`, `R` upper triangular.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct Normal {
    pub(super) mean: Vec<f64>,
    /// The rows of `R`, each from its diagonal on.
    factor: Vec<f64>,
    #[serde(skip)]
    buffers: Buffers,
}

/// Reused from list to list.
#[derive(Debug, Clone, Default, PartialEq)]
struct Buffers {
    /// `R'^-1 phi` of every answer.
    solved: Vec<f64>,
    /// Covariances of the answers' log-odds, given the answers before.
    covariance: Vec<f64>,
    /// The part of each answer's direction that is left, given the answers before.
    left: Vec<f64>,
    means: Vec<f64>,
    weights: Vec<f64>,
    /// `phi` of every answer by the root of its weight.
    weighted: Vec<f64>,
    change: Vec<f64>,
}

/// The change of the distribution by an answer, as a function of the mean and variance of its
/// log-odds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    /// Change of the mean per covariance with the answer's direction.
    pub(super) step: f64,
    /// Precision that is added in this direction.
    pub(super) weight: f64,
}

impl Normal {
    /// Independent coefficients.
    pub(super) fn new(mean: Vec<f64>, precision: impl Iterator<Item = f64>) -> Self {
        let n = mean.len();
        let mut factor = vec![0.0; n * (n + 1) / 2];
        let mut diagonal = 0;
        for (row, precision) in precision.take(n).enumerate() {
            factor[diagonal] = precision.sqrt();
            diagonal += n - row;
        }
        Self { mean, factor, buffers: Buffers::default() }
    }

    /// Number of coefficients.
    pub(super) fn len(&self) -> usize {
        self.mean.len()
    }

    /// The precision of each coefficient given those after it.
    pub(super) fn conditional_precisions(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows().map(|row| row[0] * row[0])
    }

    /// Twice the sum of the logarithms of the factor's diagonal: the log-determinant of `P`.
    pub(super) fn log_determinant(&self) -> f64 {
        2.0 * self.rows().map(|row| confidence::math::ln(row[0])).sum::<f64>()
    }

    /// The covariance, row by row.
    pub(super) fn covariance(&self) -> Vec<f64> {
        let n = self.len();
        let mut inverse = vec![0.0; n * n];
        for (unit, column) in inverse.chunks_exact_mut(n).enumerate() {
            column[unit] = 1.0;
            self.solve_transposed(column);
            self.solve(column);
        }
        inverse
    }

    /// The rows of the factor, each from its diagonal on.
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let n = self.len();
        let mut rest = &self.factor[..];
        (0..n).map(move |row| {
            let (first, others) = rest.split_at(n - row);
            rest = others;
            first
        })
    }

    /// `R'^-1 phi`, in its place; of the columns of a matrix, if `phi` has several.
    pub(super) fn solve_transposed(&self, phi: &mut [f64]) {
        let n = self.len();
        for (k, row) in self.rows().enumerate() {
            let inverse = 1.0 / row[0];
            for phi in phi.chunks_exact_mut(n) {
                let (solved, rest) = phi[k..].split_first_mut().expect("one number a row");
                *solved *= inverse;
                subtract(rest, &row[1..], *solved);
            }
        }
    }

    /// `R^-1 phi`, in its place.
    fn solve(&self, phi: &mut [f64]) {
        let n = self.len();
        let mut end = self.factor.len();
        for k in (0..n).rev() {
            let row = &self.factor[end - (n - k)..end];
            end -= n - k;
            phi[k] = (phi[k] - dot(&row[1..], &phi[k + 1..])) / row[0];
        }
    }

    /// A draw, with the standard deviations of the distribution times `scale`.
    pub(super) fn draw<R: Rng + ?Sized>(&self, scale: f64, rng: &mut R, out: &mut [f64]) {
        let sampler = Sampler::new();
        out.fill_with(|| scale * sampler.normal(rng));
        self.solve(out);
        for (drawn, mean) in out.iter_mut().zip(&self.mean) {
            *drawn += mean;
        }
    }

    /// Learns from answers in the directions `phis`, row by row, one after the other. `answer`
    /// returns the change by an answer, given its number and the mean and variance of its log-odds.
    ///
    /// The posterior is the one after as many single answers, with one pass over the factor: the
    /// covariances of the answers carry means and variances from one to the next.
    pub(super) fn learn(&mut self, phis: &[f64], mut answer: impl FnMut(usize, f64, f64) -> Change) {
        let n = self.len();
        let n_answers = phis.len() / n;
        let mut buffers = std::mem::take(&mut self.buffers);
        let Buffers { solved, covariance, left, means, weights, weighted, change } = &mut buffers;
        refill(solved, phis);
        self.solve_transposed(solved);
        covariance.clear();
        left.clear();
        means.clear();
        for (one, direction) in solved.chunks_exact(n).enumerate() {
            covariance.extend(solved.chunks_exact(n).map(|other| dot(direction, other)));
            left.extend((0..n_answers).map(|other| if other == one { 1.0 } else { 0.0 }));
            means.push(dot(&self.mean, &phis[one * n..(one + 1) * n]));
        }
        weights.clear();
        weights.resize(n_answers, 0.0);
        refill(weighted, phis);
        for now in 0..n_answers {
            let row = now * n_answers..(now + 1) * n_answers;
            let variance = covariance[row.start + now];
            let Change { step, weight } = answer(now, means[now], variance);
            for (mean, covariance) in means.iter_mut().zip(&covariance[row.clone()]) {
                *mean += covariance * step;
            }
            for (sum, left) in weights.iter_mut().zip(&left[row.clone()]) {
                *sum += left * step;
            }
            let gain = weight / (1.0 + weight * variance);
            for later in now + 1..n_answers {
                let share = gain * covariance[row.start + later];
                for (matrix, from) in [(&mut *left, 0), (&mut *covariance, now + 1)] {
                    let (above, below) = matrix.split_at_mut(later * n_answers);
                    subtract(&mut below[from..n_answers], &above[row.start + from..row.end], share);
                }
            }
            let root = weight.sqrt();
            weighted[now * n..(now + 1) * n].iter_mut().for_each(|phi| *phi *= root);
        }
        // mean += P^-1 sum of phi by its weight
        change.clear();
        change.resize(n, 0.0);
        for (direction, weight) in solved.chunks_exact(n).zip(&*weights) {
            subtract(change, direction, -weight);
        }
        self.solve(change);
        for (mean, change) in self.mean.iter_mut().zip(&*change) {
            *mean += change;
        }
        self.rotate_in(weighted);
        self.buffers = buffers;
    }

    /// Adds `sum of v v'` over rows `v` to the precision, by Givens rotations. Overwrites `rows`.
    fn rotate_in(&mut self, rows: &mut [f64]) {
        let n = self.len();
        let mut start = 0;
        for k in 0..n {
            let factor = &mut self.factor[start..start + (n - k)];
            start += n - k;
            let (diagonal, factor) = factor.split_first_mut().expect("one number a row");
            for row in rows.chunks_exact_mut(n) {
                let (first, row) = row[k..].split_first_mut().expect("one number a row");
                let first = *first;
                let length = (*diagonal * *diagonal + first * first).sqrt();
                let (cosine, sine) = (length / *diagonal, first / *diagonal);
                let inverse = 1.0 / cosine;
                *diagonal = length;
                for (factor, row) in factor.iter_mut().zip(row) {
                    *factor = (*factor + sine * *row) * inverse;
                    *row = cosine * *row - sine * *factor;
                }
            }
        }
    }
}

checked!(Normal, |self| {
    let n = self.mean.len();
    if self.factor.len() != n * (n + 1) / 2 {
        return Err(Error::SavedSizes);
    }
    let is_sound = self.mean.iter().chain(&self.factor).all(|number| number.abs() <= LARGEST);
    if is_sound && self.rows().all(|row| row[0] > 0.0) { Ok(self) } else { Err(Error::SavedPosterior) }
});

fn refill(buffer: &mut Vec<f64>, numbers: &[f64]) {
    buffer.clear();
    buffer.extend_from_slice(numbers);
}

#[inline]
fn subtract(from: &mut [f64], numbers: &[f64], factor: f64) {
    for (from, number) in from.iter_mut().zip(numbers) {
        *from -= number * factor;
    }
}

/// Sum of products, in eight lanes.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h)) + rest
}
