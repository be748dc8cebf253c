//! The fitted models: one row and one file for each.
//!
//! The file of a model has its estimator or names the one that it shares, its predictions and its
//! users. The names and parameters of all models are in [`documents::parameters`].

mod cascade;
mod ccm;
mod ctr_document;
mod ctr_global;
mod ctr_logistic;
mod ctr_rank;
mod dbn;
mod dcm;
mod pbm;
mod sdbn;
mod ubm;

use super::options::Options;
use super::predict::{List, Prediction};
use super::users::Users;
use super::{Fit, Model, QueryFit};
use log_reader::{Counts, Id, Sessions};

/// A row of [`SIMPLEST_FIRST`].
pub(crate) struct Row {
    pub(crate) model: Model,
    /// Fits the model.
    pub(super) fit: fn(&Counts, &Sessions, &Options) -> Fit,
    pub(super) predicts: Predicts,
    pub(crate) users: Simulated,
}

/// How a model predicts clicks.
pub(super) enum Predicts {
    /// The probability of a click on an item at a position, whatever the rest of the list.
    Alone(fn(&Fit, Option<&QueryFit>, Id, usize) -> f64),
    /// The probabilities of all clicks on a list.
    Lists(fn(&List<'_>, &mut Prediction)),
}

/// Users of a query who see its first positions.
type OfQuery = fn(&Fit, &QueryFit, usize) -> Option<Users>;

/// Which queries have users that can be simulated.
pub(crate) enum Simulated {
    /// None.
    Never,
    /// All.
    Always(OfQuery),
    /// Those whose best list is found soon enough.
    IfSearched(OfQuery),
}

/// From the simplest model on, by its parameters: one rate; a rate per position; a rate per item;
/// attraction per item; then with three numbers for the site, a number per position (first the PBM,
/// which needs no sessions), a number per pair of positions (first the UBM, which has users), and a
/// second number per item, without and with a number for the site.
static SIMPLEST_FIRST: [&Row; 11] = [
    &ctr_global::ROW,
    &ctr_rank::ROW,
    &ctr_document::ROW,
    &cascade::ROW,
    &ccm::ROW,
    &pbm::ROW,
    &dcm::ROW,
    &ubm::ROW,
    &ctr_logistic::ROW,
    &sdbn::ROW,
    &dbn::ROW,
];

/// The place of a model among all, from the simplest on.
pub(super) fn simplicity(model: Model) -> usize {
    SIMPLEST_FIRST.iter().position(|row| row.model == model).unwrap_or(0)
}

/// The row of a model.
pub(crate) fn row(model: Model) -> &'static Row {
    SIMPLEST_FIRST[simplicity(model)]
}

impl Simulated {
    /// The function that makes users.
    pub(crate) fn users(&self) -> Option<OfQuery> {
        match *self {
            Self::Never => None,
            Self::Always(users) | Self::IfSearched(users) => Some(users),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_a_row() {
        for model in Model::ALL {
            assert_eq!(row(model).model, model);
        }
    }
}
