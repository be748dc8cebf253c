//! Variances of the parameters from the observed information.

use super::super::linear::Cholesky;
use super::problem::Problem;
use std::ops::Range;

const LARGEST_BLOCK: usize = 800;

/// The information on the rows of a query (and on leaving by item, after them), and its mixed derivatives with leaving by position.
struct Block {
    n: usize,
    matrix: Vec<f64>,
    border: Vec<f64>,
}

impl Problem {
    /// Variances of all parameters; infinite if the information is singular.
    pub(super) fn variances(&self, at: &[f64], leave_by_item: bool) -> Vec<f64> {
        let (attraction, leave) = self.split(at);
        let mut variances = vec![f64::INFINITY; at.len()];
        let n_border = if leave_by_item { 0 } else { leave.len() };
        let mut shared = vec![0.0; n_border * n_border];
        for of in 0..n_border {
            shared[of * n_border + of] = curvature(self.left[of], self.stayed[of], leave[of]);
        }
        let blocks: Vec<_> = self
            .queries
            .iter()
            .map(|[rows, tails]| {
                if rows.len() > LARGEST_BLOCK {
                    return None;
                }
                let block =
                    self.block(rows.clone(), tails.clone(), attraction, leave, leave_by_item, &mut shared);
                let factor = Cholesky::new(block.n, block.matrix)?;
                // Subtracts border' inverse border from the shared part.
                let mut solved = block.border.clone();
                for of in 0..n_border {
                    factor.solve(&mut solved[of * block.n..(of + 1) * block.n]);
                }
                for a in 0..n_border {
                    for b in 0..=a {
                        let column =
                            |matrix: &[f64], of: usize| matrix[of * block.n..(of + 1) * block.n].to_vec();
                        let product: f64 = column(&block.border, a)
                            .iter()
                            .zip(&column(&solved, b))
                            .map(|(x, y)| x * y)
                            .sum();
                        shared[a * n_border + b] -= product;
                    }
                }
                Some((factor, solved))
            })
            .collect();
        if blocks.iter().any(Option::is_none) && n_border > 0 {
            return variances;
        }
        // A position after which no user can leave has no information; it is made independent of the others.
        let unknown: Vec<bool> = (0..n_border).map(|of| shared[of * n_border + of] <= 0.0).collect();
        for of in (0..n_border).filter(|&of| unknown[of]) {
            for other in 0..n_border {
                shared[of * n_border + other] = 0.0;
                shared[other * n_border + of] = 0.0;
            }
            shared[of * n_border + of] = 1.0;
        }
        let Some(shared) = Cholesky::new(n_border, shared) else { return variances };
        let first_leave = attraction.len();
        for (of, variance) in shared.inverse_diagonal().into_iter().enumerate() {
            variances[first_leave + of] = if unknown[of] { f64::INFINITY } else { variance };
        }
        for ([rows, _], block) in self.queries.iter().zip(blocks) {
            let Some((factor, solved)) = block else { continue };
            let n = if leave_by_item { 2 * rows.len() } else { rows.len() };
            for (of, alone) in factor.inverse_diagonal().into_iter().enumerate() {
                let mut common: Vec<f64> =
                    (0..n_border).map(|b| if unknown[b] { 0.0 } else { solved[b * n + of] }).collect();
                let variance = alone + shared.form(&mut common);
                let place = if of < rows.len() {
                    rows.start + of
                } else {
                    first_leave + rows.start + of - rows.len()
                };
                variances[place] = variance;
            }
        }
        for (variance, &p) in variances.iter_mut().zip(at) {
            if !(p > 0.0 && p < 1.0) {
                *variance = f64::INFINITY;
            }
        }
        variances
    }

    fn block(
        &self,
        rows: Range<usize>,
        tails: Range<usize>,
        attraction: &[f64],
        leave: &[f64],
        leave_by_item: bool,
        shared: &mut [f64],
    ) -> Block {
        let n_rows = rows.len();
        let n = if leave_by_item { 2 * n_rows } else { n_rows };
        let n_border = if leave_by_item { 0 } else { leave.len() };
        let mut block = Block { n, matrix: vec![0.0; n * n], border: vec![0.0; n_border * n] };
        for row in rows.clone() {
            let of = row - rows.start;
            block.matrix[of * n + of] = curvature(self.clicks[row], self.skips[row], attraction[row]);
            if leave_by_item {
                let of = n_rows + of;
                block.matrix[of * n + of] = curvature(self.left[row], self.stayed[row], leave[row]);
            }
        }
        for tail in &self.tails[tails] {
            let v = leave[tail.leave];
            let in_vain = self.in_vain(tail, attraction);
            let likelihood = v + (1.0 - v) * in_vain;
            let rows_below = &self.tail_rows[tail.rows.clone()];
            // Derivatives of the likelihood, divided by the likelihood.
            let by_leave = (1.0 - in_vain) / likelihood;
            let by_row = |row: usize| -(1.0 - v) * in_vain / (1.0 - attraction[row]) / likelihood;
            let of_leave = if leave_by_item { n_rows + tail.leave - rows.start } else { 0 };
            if leave_by_item {
                block.matrix[of_leave * n + of_leave] += tail.sessions * by_leave * by_leave;
            } else {
                shared[tail.leave * n_border + tail.leave] += tail.sessions * by_leave * by_leave;
            }
            for (place, &row) in rows_below.iter().enumerate() {
                let of = row - rows.start;
                let mixed = in_vain / (1.0 - attraction[row]) / likelihood;
                let with_leave = tail.sessions * (by_leave * by_row(row) - mixed);
                if leave_by_item {
                    block.matrix[of_leave * n + of] += with_leave;
                } else {
                    block.border[tail.leave * n + of] += with_leave;
                }
                for (other_place, &other) in rows_below.iter().enumerate() {
                    let twice = if place == other_place {
                        0.0
                    } else {
                        (1.0 - v) * in_vain
                            / ((1.0 - attraction[row]) * (1.0 - attraction[other]))
                            / likelihood
                    };
                    block.matrix[of * n + other - rows.start] +=
                        tail.sessions * (by_row(row) * by_row(other) - twice);
                }
            }
        }
        // A parameter without information is made independent of the others.
        for of in 0..n {
            if block.matrix[of * n + of] == 0.0 || !block.matrix[of * n + of].is_finite() {
                for other in 0..n {
                    block.matrix[of * n + other] = 0.0;
                    block.matrix[other * n + of] = 0.0;
                }
                (0..n_border).for_each(|b| block.border[b * n + of] = 0.0);
                block.matrix[of * n + of] = f64::MIN_POSITIVE;
            }
        }
        block
    }
}

/// Minus the second derivative of a binomial log-likelihood.
fn curvature(successes: f64, failures: f64, p: f64) -> f64 {
    let term = |count: f64, p: f64| if count > 0.0 { count / (p * p) } else { 0.0 };
    term(successes, p) + term(failures, 1.0 - p)
}
