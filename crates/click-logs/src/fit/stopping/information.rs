//! Variances of the parameters from the observed information.

use super::super::bordered::{Arrowhead, Block, SharedTerms};
use super::super::estimate::curvature;
use super::problem::Problem;
use std::ops::Range;

/// Largest number of items of a query whose information is inverted.
pub(in super::super) const LARGEST_BLOCK: usize = 800;

/// About how long it takes to invert the information of a query with these rows, and tails or
/// lists.
pub(in super::super) fn size_of_block([rows, lists]: &[Range<usize>; 2]) -> usize {
    let n_rows = rows.len().min(LARGEST_BLOCK);
    n_rows * n_rows + lists.len()
}

impl Problem {
    /// Variances of all parameters; infinite if the information is singular.
    pub(super) fn variances(&self, at: &[f64], leave_by_item: bool) -> Vec<f64> {
        let (attraction, leave) = self.split(at);
        let n_shared = if leave_by_item { 0 } else { leave.len() };
        let mut bordered = Arrowhead::new(n_shared);
        for (place, &v) in leave.iter().enumerate().take(n_shared) {
            bordered.shared[place * n_shared + place] = curvature(self.left[place], self.stayed[place], v);
        }
        let block = |[rows, tails]: &[Range<usize>; 2], shared: &mut SharedTerms| {
            let (rows, tails) = (rows.clone(), tails.clone());
            (rows.len() <= LARGEST_BLOCK)
                .then(|| self.block(rows, tails, attraction, leave, leave_by_item, shared))
        };
        bordered.push_all(&self.queries, size_of_block, block);
        bordered.variances().by_parameter(at, self.queries.iter().map(|[rows, _]| rows))
    }

    fn block(
        &self,
        rows: Range<usize>,
        tails: Range<usize>,
        attraction: &[f64],
        leave: &[f64],
        leave_by_item: bool,
        shared: &mut SharedTerms,
    ) -> Block {
        let n_rows = rows.len();
        let n = if leave_by_item { 2 * n_rows } else { n_rows };
        let n_border = if leave_by_item { 0 } else { leave.len() };
        let mut block = Block::new(n, n_border);
        for row in rows.clone() {
            let place = row - rows.start;
            block.matrix[place * n + place] = curvature(self.clicks[row], self.skips[row], attraction[row]);
            if leave_by_item {
                let place = n_rows + place;
                block.matrix[place * n + place] = curvature(self.left[row], self.stayed[row], leave[row]);
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
                shared.push((tail.leave * n_border + tail.leave, tail.sessions * by_leave * by_leave));
            }
            for (place, &row) in rows_below.iter().enumerate() {
                let own = row - rows.start;
                let mixed = in_vain / (1.0 - attraction[row]) / likelihood;
                let with_leave = tail.sessions * (by_leave * by_row(row) - mixed);
                if leave_by_item {
                    block.matrix[of_leave * n + own] += with_leave;
                } else {
                    block.border[tail.leave * n + own] += with_leave;
                }
                for (other_place, &other) in rows_below.iter().enumerate() {
                    let twice = if place == other_place {
                        0.0
                    } else {
                        (1.0 - v) * in_vain
                            / ((1.0 - attraction[row]) * (1.0 - attraction[other]))
                            / likelihood
                    };
                    block.matrix[own * n + other - rows.start] +=
                        tail.sessions * (by_row(row) * by_row(other) - twice);
                }
            }
        }
        block.separate_unknown();
        block
    }
}
