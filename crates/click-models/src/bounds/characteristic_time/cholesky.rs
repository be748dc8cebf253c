//! Symmetric linear systems.

/// A pivot below this share of its diagonal entry is rounding.
const ROUNDING: f64 = 1e-15;
/// In place of such a pivot: the step in its direction becomes 0.
const NO_STEP: f64 = 1e100;

/// The factor `C` of a positive definite matrix `C C^T`.
#[derive(Debug)]
pub(super) struct Cholesky {
    /// Row by row; what is above the diagonal is not read.
    rows: Vec<f64>,
    size: usize,
}

impl Cholesky {
    /// Factors a matrix that is given row by row. Only the lower triangle is read.
    pub(super) fn new(mut rows: Vec<f64>, size: usize) -> Self {
        for row in 0..size {
            let (above, own) = rows.split_at_mut(row * size);
            let own = &mut own[..=row];
            for column in 0..row {
                let other = &above[column * size..=column * size + column];
                own[column] = (own[column] - dot(&own[..column], &other[..column])) / other[column];
            }
            let pivot = own[row] - dot(&own[..row], &own[..row]);
            own[row] = if pivot > ROUNDING * own[row] { pivot.sqrt() } else { NO_STEP };
        }
        Self { rows, size }
    }

    /// Replaces the right side of the system by its solution.
    pub(super) fn solve(&self, side: &mut [f64]) {
        let row = |row: usize| &self.rows[row * self.size..=row * self.size + row];
        for index in 0..self.size {
            let entries = row(index);
            side[index] = (side[index] - dot(&entries[..index], &side[..index])) / entries[index];
        }
        for index in (0..self.size).rev() {
            let entries = row(index);
            side[index] /= entries[index];
            let solved = side[index];
            for (side, entry) in side[..index].iter_mut().zip(entries) {
                *side -= entry * solved;
            }
        }
    }
}

/// The scalar product, in eight sums that share vector registers.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (lefts, rights) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: f64 = lefts.remainder().iter().zip(rights.remainder()).map(|(left, right)| left * right).sum();
    let mut sums = [0.0; 8];
    for (left, right) in lefts.zip(rights) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}
