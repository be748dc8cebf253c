//! The posterior of a policy that estimates coefficients, as arrays.

use super::learner::{Learner, Score};
use super::linear::CascadeLinear;
use super::{HybridPrior, HybridTs, PbmHybridTs};
use crate::{Error, Setup as _};
use click_models::Context;

/// An array with a name, and its shape, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArray {
    /// The name.
    pub name: &'static str,
    /// The length of every axis.
    pub shape: Vec<usize>,
    /// The numbers, whose last axis varies fastest.
    pub numbers: Vec<f64>,
}

/// A policy that estimates coefficients of features.
pub trait Coefficients {
    /// The posterior of all coefficients: the fields of [`HybridPosterior`]; of a linear policy
    /// mean and covariance.
    fn posterior(&self) -> Vec<NamedArray>;

    /// The estimates of every item for a user, an array of shape (`n_items`,) for each field of
    /// [`Score`] or [`LinearScore`](super::LinearScore).
    fn scores(&mut self, context: &Context) -> Vec<NamedArray>;

    /// Returns the posterior as a prior for others; `None` for a linear policy.
    fn learned(&self) -> Option<HybridPrior> {
        None
    }

    /// Begins, before the first list, with what another policy has learned. A policy by name begins
    /// with [`AnyPolicy::begin_with`](crate::catalogue::AnyPolicy::begin_with).
    ///
    /// # Errors
    ///
    /// As [`HybridTs::with_prior`]; [`Error::NoPrior`] for other policies.
    fn begin_with(&mut self, _prior: &HybridPrior) -> Result<(), Error> {
        Err(Error::NoPrior)
    }
}

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
            mean: learner.shared.mean.clone(),
            covariance: learner.shared.covariance(),
            item_means: joined(&intercepts.means, &slopes.means),
            item_precisions: joined(&intercepts.precisions, &slopes.precisions),
            cell_means: learner.of_cells(&cells.means).collect(),
            cell_precisions: learner.of_cells(&cells.precisions).collect(),
            deviations: [intercepts.deviation, slopes.deviation, cells.deviation],
        }
    }

    fn into_arrays(self, n_items: usize) -> Vec<NamedArray> {
        let n = self.mean.len();
        let of_items = [n_items, self.item_means.len() / n_items];
        let of_cells = [self.cell_means.len() / n_items, n_items];
        vec![
            array("mean", &[n], self.mean),
            array("covariance", &[n, n], self.covariance),
            array("item_means", &of_items, self.item_means),
            array("item_precisions", &of_items, self.item_precisions),
            array("cell_means", &of_cells, self.cell_means),
            array("cell_precisions", &of_cells, self.cell_precisions),
            array("deviations", &[3], self.deviations.to_vec()),
        ]
    }
}

fn array(name: &'static str, shape: &[usize], numbers: Vec<f64>) -> NamedArray {
    NamedArray { name, shape: shape.to_vec(), numbers }
}

/// A field of every score.
fn column<S>(name: &'static str, scores: &[S], number: impl Fn(&S) -> f64) -> NamedArray {
    array(name, &[scores.len()], scores.iter().map(number).collect())
}

/// Both hybrid policies, whose own functions have these names; one contains the other.
macro_rules! hybrid {
    ($($Policy:ident),+) => {$(
        impl Coefficients for $Policy {
            fn posterior(&self) -> Vec<NamedArray> {
                HybridTs::posterior(self).into_arrays(self.sizes()[0])
            }

            fn scores(&mut self, context: &Context) -> Vec<NamedArray> {
                let scores: Vec<Score> = HybridTs::scores(self, context);
                vec![
                    column("mean", &scores, |score| score.mean),
                    column("shared_variance", &scores, |score| score.shared_variance),
                    column("own_variance", &scores, |score| score.own_variance),
                ]
            }

            fn learned(&self) -> Option<HybridPrior> {
                Some(HybridTs::learned(self))
            }

            fn begin_with(&mut self, prior: &HybridPrior) -> Result<(), Error> {
                *self = self.clone().with_prior(prior)?;
                Ok(())
            }
        }
    )+};
}
hybrid!(HybridTs, PbmHybridTs);

impl Coefficients for CascadeLinear {
    fn posterior(&self) -> Vec<NamedArray> {
        let n = self.mean().len();
        vec![array("mean", &[n], self.mean().to_vec()), array("covariance", &[n, n], self.covariance())]
    }

    fn scores(&mut self, context: &Context) -> Vec<NamedArray> {
        let scores = CascadeLinear::scores(self, context);
        vec![
            column("mean", &scores, |score| score.mean),
            column("width", &scores, |score| score.width),
            column("index", &scores, |score| score.index),
        ]
    }
}
