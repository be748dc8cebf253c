//! Newton's method in the logarithms of the parameters, and the observed information.

use super::super::in_order::{in_order, in_order_each};
use super::super::linear::Cholesky;
use super::super::squarem::{Convergence, Em};
use super::em::ROWS_OF_A_TASK;
use super::{Cells, Total};
use std::ops::Range;

/// Newton's method usually takes a few steps; EM is better for a likelihood that needs more.
const NEWTON_STEPS: usize = 60;
/// Number of EM steps before Newton's method, which lead from any start to where it converges fast.
pub(super) const FIRST_EM_STEPS: usize = 8;
/// Newton's method stops when the gain promised by a step, in nats, is below this.
const DECREMENT: f64 = 1e-12;
/// Relative error of a sum over all counts.
const ROUNDING: f64 = 1e-13;

impl Cells {
    /// Newton's method from `start`, after some EM steps; `None` if it does not converge.
    pub(super) fn newton(&self, start: &[f64], pins: &[usize]) -> Option<(Vec<f64>, Convergence)> {
        let mut at = start.to_vec();
        let mut next = at.clone();
        for _ in 0..FIRST_EM_STEPS {
            self.step(&at, &mut next);
            std::mem::swap(&mut at, &mut next);
        }
        self.newton_near(&at, FIRST_EM_STEPS, pins)
    }

    /// Newton's method from a point near the maximum, after this number of steps; `None` if it does
    /// not converge.
    pub(super) fn newton_near(
        &self,
        start: &[f64],
        done: usize,
        pins: &[usize],
    ) -> Option<(Vec<f64>, Convergence)> {
        let mut at = start.to_vec();
        let mut next = at.clone();
        let mut log_likelihood = self.log_likelihood(&at);
        for iterations in 1..=NEWTON_STEPS {
            let information = self.information(&at, pins)?;
            let (steps, decrement) = information.step(self, &at, pins)?;
            let last = decrement <= DECREMENT;
            let mut length = 1.0;
            loop {
                for ((next, at), step) in next.iter_mut().zip(&at).zip(&steps) {
                    *next = at * libm::exp(length * step);
                }
                let reached =
                    if self.is_inside(&next) { self.log_likelihood(&next) } else { f64::NEG_INFINITY };
                // Smaller differences are rounding errors; the decrement decides whether to
                // continue.
                if reached >= log_likelihood - ROUNDING * log_likelihood.abs() {
                    log_likelihood = reached;
                    break;
                }
                length /= 2.0;
                if length < 1e-6 {
                    return None;
                }
            }
            std::mem::swap(&mut at, &mut next);
            if last {
                let (rows, columns) = at.split_at(self.rows.len());
                let largest = |numbers: &[f64]| numbers.iter().copied().fold(0.0, f64::max);
                // An item and a position that never occur together could have a product above 1. EM
                // keeps to probabilities.
                if largest(rows) * largest(columns) > 1.0 {
                    return None;
                }
                let iterations = done + iterations;
                return Some((at, Convergence { converged: true, iterations, log_likelihood }));
            }
        }
        None
    }

    /// Whether the probabilities of all cells are below 1, or 1 without skips.
    pub(super) fn is_inside(&self, at: &[f64]) -> bool {
        let (rows, columns) = at.split_at(self.rows.len());
        rows.iter().enumerate().all(|(row, a)| {
            self.row(row).all(|(column, skips)| {
                let p = a * columns[column];
                p < 1.0 || (p == 1.0 && skips == 0.0)
            })
        })
    }

    /// First and second derivatives, with rows eliminated. `None` if a row has no curvature.
    pub(super) fn information(&self, at: &[f64], pins: &[usize]) -> Option<Information> {
        let (rows, columns) = at.split_at(self.rows.len());
        let n = columns.len();
        // Adding up the matrices of tasks must not take longer than the tasks.
        let rows_of_a_task = ROWS_OF_A_TASK.max(n * n);
        let tasks = (0..rows.len().max(1)).step_by(rows_of_a_task);
        let tasks = tasks.map(|start| start..rows.len().min(start + rows_of_a_task)).collect();
        let (mut all, mut is_flat) = (None::<Information>, false);
        in_order_each(
            tasks,
            |range| self.information_of_rows(range, rows, columns),
            |of_rows| match (&mut all, of_rows) {
                (_, None) => is_flat = true,
                (None, first) => all = first,
                (Some(sum), Some(of_rows)) => sum.add(of_rows),
            },
        );
        let mut information = all.filter(|_| !is_flat)?;
        // Fixed parameters: columns that set the scale, and columns without clicks.
        for column in 0..n {
            if pins[column] == column || columns[column] == 0.0 {
                information.gradient[column] = 0.0;
                for other in 0..n {
                    information.matrix[column * n + other] = 0.0;
                    information.matrix[other * n + column] = 0.0;
                }
                information.matrix[column * n + column] = 1.0;
            }
        }
        Some(information)
    }

    /// [`Information::variances`] with columns eliminated in place of rows. Equal rows have
    /// parameters of their own.
    pub(super) fn variances_by_rows(&self, at: &[f64], pins: &[usize]) -> Option<[Vec<f64>; 2]> {
        let (rows, columns) = at.split_at(self.rows.len());
        let n = self.row_of.len();
        let mut matrix = vec![0.0; n * n];
        let mut by_column = vec![vec![0.0; n]; columns.len()];
        for (row, &of) in self.row_of.iter().enumerate() {
            for (column, skips) in self.row(of as usize).filter(|cell| cell.1 > 0.0) {
                let p = rows[of as usize] * columns[column];
                by_column[column][row] = skips * p / ((1.0 - p) * (1.0 - p));
                matrix[row * n + row] += by_column[column][row];
            }
            if rows[of as usize] == 0.0 {
                matrix[row * n + row] = 1.0;
            }
        }
        let mut curvatures = Vec::with_capacity(columns.len());
        for (column, h) in by_column.iter().enumerate() {
            let is_fixed = pins[column] == column || columns[column] == 0.0;
            let curvature = if is_fixed { f64::INFINITY } else { h.iter().sum() };
            for row in 0..n {
                for left in 0..=row {
                    matrix[row * n + left] -= h[row] * h[left] / curvature;
                }
            }
            curvatures.push(curvature);
        }
        let factor = Cholesky::new(n, matrix)?;
        let of_column = |((g, curvature), mut h): ((&f64, f64), Vec<f64>)| {
            if *g > 0.0 {
                1.0 / curvature + factor.form(&mut h) / (curvature * curvature)
            } else {
                f64::INFINITY
            }
        };
        let of_columns = columns.iter().zip(curvatures).zip(by_column).map(of_column).collect();
        let mut of_rows = vec![f64::INFINITY; rows.len()];
        let variances = self.row_of.iter().zip(factor.inverse_diagonal());
        let known = variances.filter(|(row, _)| rows[**row as usize] > 0.0);
        known.for_each(|(&row, variance)| of_rows[row as usize] = variance);
        Some([of_rows, of_columns])
    }

    /// The share of some rows in the derivatives; the first rows also have that of the clicks of
    /// columns. `None` if a row has no curvature.
    fn information_of_rows(&self, of: Range<usize>, rows: &[f64], columns: &[f64]) -> Option<Information> {
        let n = columns.len();
        let first = of.start;
        let of_column = |total: &Total| if first == 0 { total.clicks } else { 0.0 };
        let mut information = Information {
            n,
            rows: vec![(0.0, 0.0); of.len()],
            gradient: self.column_totals.iter().map(of_column).collect(),
            matrix: vec![0.0; n * n],
        };
        let mut of_row: Vec<(usize, f64)> = Vec::with_capacity(n);
        for (row, &a) in of.clone().zip(&rows[of]).filter(|(_, a)| **a > 0.0) {
            of_row.clear();
            let mut gradient = self.rows[row];
            let mut curvature = 0.0;
            for (column, skips) in self.row(row) {
                let g = columns[column];
                if g > 0.0 && skips > 0.0 {
                    let slope = skips * a * g / (1.0 - a * g);
                    let h = slope / (1.0 - a * g);
                    gradient -= slope;
                    information.gradient[column] -= self.times[row] * slope;
                    curvature += h;
                    of_row.push((column, h));
                }
            }
            if curvature.is_nan() || curvature <= 0.0 {
                return None;
            }
            information.rows[row - first] = (gradient, curvature);
            let times = self.times[row];
            for &(column, h) in &of_row {
                let h = times * h;
                information.matrix[column * n + column] += h;
                let share = h / curvature;
                information.gradient[column] -= share * gradient;
                for &(left, of_left) in of_row.iter().filter(|other| other.0 <= column) {
                    information.matrix[column * n + left] -= share * of_left;
                }
            }
        }
        Some(information)
    }
}

/// Derivatives of the log-likelihood by the logarithms of the parameters.
pub(super) struct Information {
    n: usize,
    /// Gradient and curvature of rows; both are 0 for a row without clicks, which stays at 0.
    rows: Vec<(f64, f64)>,
    /// Gradient of columns, with rows eliminated.
    gradient: Vec<f64>,
    /// Matrix of columns, with rows eliminated; the lower triangle.
    matrix: Vec<f64>,
}

impl Information {
    /// Adds the share of the next rows.
    fn add(&mut self, next: Self) {
        self.rows.extend(next.rows);
        self.gradient.iter_mut().zip(next.gradient).for_each(|(sum, of)| *sum += of);
        self.matrix.iter_mut().zip(next.matrix).for_each(|(sum, of)| *sum += of);
    }

    /// The step in the logarithms, and its decrement: about twice the promised gain.
    pub(super) fn step(self, cells: &Cells, at: &[f64], pins: &[usize]) -> Option<(Vec<f64>, f64)> {
        let (rows, columns) = at.split_at(self.rows.len());
        let mut of_columns = self.gradient.clone();
        Cholesky::new(self.n, self.matrix)?.solve(&mut of_columns);
        let mut decrement: f64 =
            self.gradient.iter().zip(&of_columns).map(|(gradient, step)| gradient * step).sum();
        let mut steps = Vec::with_capacity(at.len());
        for (row, (&a, &(gradient, curvature))) in rows.iter().zip(&self.rows).enumerate() {
            let mut moved = 0.0;
            for (column, skips) in cells.row(row) {
                let g = columns[column];
                if pins[column] != column {
                    moved += skips * a * g / ((1.0 - a * g) * (1.0 - a * g)) * of_columns[column];
                }
            }
            if curvature > 0.0 {
                decrement += cells.times[row] * gradient * gradient / curvature;
                steps.push((gradient - moved) / curvature);
            } else {
                steps.push(0.0);
            }
        }
        steps.extend(of_columns);
        decrement.is_finite().then_some((steps, decrement))
    }

    /// Variances of the logarithms, rows then columns.
    pub(super) fn variances(self, cells: &Cells, at: &[f64], pins: &[usize]) -> Option<[Vec<f64>; 2]> {
        let (rows, columns) = at.split_at(self.rows.len());
        let factor = Cholesky::new(self.n, self.matrix)?;
        let mut of_columns = factor.inverse_diagonal();
        for (column, variance) in of_columns.iter_mut().enumerate() {
            if pins[column] == column {
                *variance = 0.0;
            }
            if columns[column] == 0.0 {
                *variance = f64::INFINITY;
            }
        }
        let variances = |of: Range<usize>| -> Vec<f64> {
            let mut moved = vec![0.0; self.n];
            let variance = |(row, (&a, &(_, curvature))): (usize, (&f64, &(f64, f64)))| {
                if curvature <= 0.0 {
                    return f64::INFINITY;
                }
                moved.fill(0.0);
                for (column, skips) in cells.row(row) {
                    let g = columns[column];
                    if pins[column] != column && g > 0.0 {
                        moved[column] += skips * a * g / ((1.0 - a * g) * (1.0 - a * g)) / curvature;
                    }
                }
                1.0 / curvature + factor.form(&mut moved)
            };
            let of_rows = rows[of.clone()].iter().zip(&self.rows[of.clone()]);
            of.zip(of_rows).map(variance).collect()
        };
        let tasks = (0..rows.len()).step_by(ROWS_OF_A_TASK);
        let tasks = tasks.map(|start| start..rows.len().min(start + ROWS_OF_A_TASK)).collect();
        let of_rows = in_order(tasks, variances).concat();
        Some([of_rows, of_columns])
    }
}
