//! Symmetric positive definite systems of the size of a list, by Cholesky's factorisation.
//!
//! Numerics: backward stable without pivoting. A pivot below 1e-12 of its diagonal element counts
//! as zero; there is no factor then. Complexity: O(n^3) to factorise, O(n^2) to solve.

use confidence::math::{ln, sqrt};

/// The lower factor of a symmetric positive definite matrix, row by row.
#[derive(Debug, Clone)]
pub struct Cholesky {
    n: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises a matrix of `n * n` numbers; reads its lower triangle. `None` if it is not
    /// positive definite.
    pub fn new(n: usize, mut matrix: Vec<f64>) -> Option<Self> {
        for column in 0..n {
            for row in column..n {
                let (above, below) = matrix.split_at(row * n);
                let left =
                    if row == column { &below[..column] } else { &above[column * n..column * n + column] };
                let dot: f64 = below[..column].iter().zip(left).map(|(a, b)| a * b).sum();
                let rest = matrix[row * n + column] - dot;
                if row == column {
                    if rest.is_nan() || rest <= 1e-12 * matrix[row * n + row] {
                        return None;
                    }
                    matrix[row * n + row] = sqrt(rest);
                } else {
                    matrix[row * n + column] = rest / matrix[column * n + column];
                }
            }
        }
        Some(Self { n, lower: matrix })
    }

    /// Solves in place.
    pub fn solve(&self, right: &mut [f64]) {
        self.forward(right);
        for row in (0..self.n).rev() {
            let below: f64 = (row + 1..self.n).map(|k| self.lower[k * self.n + row] * right[k]).sum();
            right[row] = (right[row] - below) / self.lower[row * self.n + row];
        }
    }

    /// Half of the logarithm of the determinant of the matrix.
    pub(crate) fn half_ln_determinant(&self) -> f64 {
        (0..self.n).map(|row| ln(self.lower[row * self.n + row])).sum()
    }

    /// Multiplies by the inverse of the factor.
    fn forward(&self, right: &mut [f64]) {
        self.forward_from(0, right);
    }

    /// The same for a vector of zeros before `first`, which are not read.
    fn forward_from(&self, first: usize, right: &mut [f64]) {
        for row in first..self.n {
            let line = &self.lower[row * self.n + first..row * self.n + row];
            let above: f64 = line.iter().zip(&right[first..]).map(|(a, b)| a * b).sum();
            right[row] = (right[row] - above) / self.lower[row * self.n + row];
        }
    }

    pub(crate) fn inverse_diagonal(&self) -> Vec<f64> {
        let mut unit = vec![0.0; self.n];
        let element = |at: usize| {
            unit[at] = 1.0;
            unit[at + 1..].fill(0.0);
            self.forward_from(at, &mut unit);
            unit[at..].iter().map(|x| x * x).sum()
        };
        (0..self.n).map(element).collect()
    }

    /// `v' A^-1 v`; overwrites `v`.
    pub(crate) fn form(&self, vector: &mut [f64]) -> f64 {
        self.forward(vector);
        vector.iter().map(|x| x * x).sum()
    }
}

#[cfg(test)]
mod tests;
