//! The posterior of a hybrid policy, as arrays.

use super::learner::Learner;

/// The posterior of all coefficients: means and precisions of independent ones, mean and covariance
/// of the shared ones.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridPosterior {
    /// Mean of the shared coefficients: products of user and item features, row by row.
    pub mean: Vec<f64>,
    /// Their covariance, row by row.
    pub covariance: Vec<f64>,
    /// Means of the items' own coefficients, `n_items` x (1 + `n_user_features`).
    pub item_means: Vec<f64>,
    /// Precisions of these.
    pub item_precisions: Vec<f64>,
    /// Means of the cells, `n_segments` x `n_items`; empty for one segment.
    pub cell_means: Vec<f64>,
    /// Precisions of these.
    pub cell_precisions: Vec<f64>,
    /// Prior standard deviations of an item's intercept, of its slopes, and of a cell.
    pub deviations: [f64; 3],
}

impl HybridPosterior {
    pub(super) fn of(learner: &Learner) -> Self {
        let [intercepts, slopes, cells] = learner.own();
        let n_slopes = slopes.len() / intercepts.len();
        let joined = |first: &[f64], others: &[f64]| {
            let item = |(item, first): (usize, &f64)| {
                let others = &others[item * n_slopes..(item + 1) * n_slopes];
                std::iter::once(*first).chain(others.iter().copied()).collect::<Vec<_>>()
            };
            first.iter().enumerate().flat_map(item).collect()
        };
        Self {
            mean: learner.shared().mean().to_vec(),
            covariance: learner.shared().covariance(),
            item_means: joined(intercepts.means(), slopes.means()),
            item_precisions: joined(intercepts.precisions(), slopes.precisions()),
            cell_means: learner.of_cells(cells.means()).collect(),
            cell_precisions: learner.of_cells(cells.precisions()).collect(),
            deviations: [intercepts.deviation(), slopes.deviation(), cells.deviation()],
        }
    }
}
