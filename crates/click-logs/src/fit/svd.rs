//! How close the click-through rates of a query are to a product: its matrix, item by position, and
//! the best matrix of rank one.
//!
//! With singular values `s_1 >= s_2 >= ..` and vectors `u`, `v` of the first, the best matrix of
//! rank one is `s_1 u v'`. Scaled so that the first position has examination 1, `examination[l] =
//! v_l / v_1` and `attraction[k] = s_1 u_k v_1`.
//!
//! Reference: Lagree, Vernade, Cappe, *Multiple-play bandits in the position-based model*, NIPS
//! 2016, section 5.2, which calls the first singular value highly dominating. Deviations: items
//! that were not shown at every position are left out, since an empty cell has no rate. All cells
//! have the same weight, however many impressions they have, so maximum likelihood is the better
//! estimate.
//!
//! | here | meaning |
//! |---|---|
//! | `singular_values` | of the matrix of click-through rates, in decreasing order |
//! | `share` | `s_1 / (s_1 + s_2 + ..)` |
//!
//! Numerics: one-sided Jacobi rotations, which find small singular values to full relative
//! accuracy. Complexity: O(items positions^2) a sweep, a handful of sweeps.

use confidence::math::sqrt;
use log_reader::{Id, QueryCounts};

/// The best matrix of rank one.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOneSvd {
    /// The items that were shown at every position of the query.
    pub items: Vec<Id>,
    /// Attraction, one per item; may exceed 1.
    pub attraction: Vec<f64>,
    /// Examination, one per position; 1 for the first.
    pub examination: Vec<f64>,
    /// Singular values, one per position, in decreasing order.
    pub singular_values: Vec<f64>,
}

impl RankOneSvd {
    /// The share of the first singular value in the sum of all.
    pub fn share(&self) -> f64 {
        self.singular_values[0] / self.singular_values.iter().sum::<f64>()
    }

    /// The share of the first singular value in the sum of squares.
    pub fn share_of_squares(&self) -> f64 {
        let squares = |value: &f64| value * value;
        squares(&self.singular_values[0]) / self.singular_values.iter().map(squares).sum::<f64>()
    }
}

/// The best matrix of rank one of a query's click-through rates. `None` if no item was shown at
/// every position, or no such item was clicked at the first one.
pub fn rank_one_svd(query: &QueryCounts<'_>) -> Option<RankOneSvd> {
    let n_positions = query.n_positions();
    let cells: Vec<_> = query.cells().collect();
    let complete = || cells.chunk_by(|a, b| a.item == b.item).filter(|item| item.len() == n_positions);
    let items: Vec<Id> = complete().map(|item| item[0].item).collect();
    let column = |position: usize| -> Vec<f64> {
        complete().map(|item| item[position].clicks as f64 / item[position].impressions as f64).collect()
    };
    let mut columns: Vec<Vec<f64>> = (0..n_positions).map(column).collect();
    let mut right: Vec<Vec<f64>> = (0..n_positions).map(|_| vec![0.0; n_positions]).collect();
    (0..n_positions).for_each(|position| right[position][position] = 1.0);
    orthogonalise(&mut columns, &mut right);
    let mut order: Vec<(f64, usize)> =
        columns.iter().map(|column| sqrt(dot(column, column))).zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let &(largest, first) = order.first()?;
    let scale = right[first][0];
    if scale == 0.0 || largest == 0.0 {
        return None;
    }
    Some(RankOneSvd {
        items,
        // The column is s_1 u.
        attraction: columns[first].iter().map(|x| x * scale).collect(),
        examination: right[first].iter().map(|x| x / scale).collect(),
        singular_values: order.into_iter().map(|(value, _)| value).collect(),
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rotates pairs of columns until all are orthogonal; rotates the columns of `right` along.
fn orthogonalise(columns: &mut [Vec<f64>], right: &mut [Vec<f64>]) {
    for _sweep in 0..60 {
        let mut rotated = false;
        for q in 1..columns.len() {
            for p in 0..q {
                let (a, b, c) = (
                    dot(&columns[p], &columns[p]),
                    dot(&columns[q], &columns[q]),
                    dot(&columns[p], &columns[q]),
                );
                if c.abs() <= 1e-15 * sqrt(a * b) || c == 0.0 {
                    continue;
                }
                rotated = true;
                let zeta = (b - a) / (2.0 * c);
                let tangent = zeta.signum() / (zeta.abs() + sqrt(1.0 + zeta * zeta));
                let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
                let sine = cosine * tangent;
                for matrix in [&mut *columns, &mut *right] {
                    let (left, rest) = matrix.split_at_mut(q);
                    for (x, y) in left[p].iter_mut().zip(&mut rest[0]) {
                        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
}
