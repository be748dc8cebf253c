//! The trait of fitted models.

use crate::fit::Purpose;
use crate::fit::fitted::{Fit, QueryFit};
use crate::fit::options::Options;
use crate::fit::predict::{List, Prediction};
use crate::fit::users::Users;
use documents::parameters::Model;
use log_reader::{Counts, Id, Sessions};

/// A fitted model.
pub(crate) struct Row {
    pub(crate) model: Model,
    /// Fits the model.
    pub(in crate::fit) fit: fn(&Counts, &Sessions, &Options, Purpose<'_>) -> Fit,
    pub(in crate::fit) predicts: Predicts,
    pub(crate) users: Simulation,
}

/// How a model predicts clicks.
pub(in crate::fit) enum Predicts {
    /// The probability of a click on an item at a position, whatever the rest of the list.
    Alone(fn(&Fit, Option<&QueryFit>, Id, usize) -> f64),
    /// The probabilities of all clicks on a list.
    Lists(fn(&List<'_>, &mut Prediction)),
}

/// Users of a query who see its first positions.
type OfQuery = fn(&Fit, &QueryFit, usize) -> Option<Users>;

/// Which queries have users that can be simulated.
pub(crate) enum Simulation {
    /// None.
    Never,
    /// All.
    Always(OfQuery),
    /// Queries whose best list is found soon enough have users; also counts the queries that
    /// have no users of their positions.
    IfSearched(OfQuery, fn(&Fit, &Counts) -> usize),
}

impl Simulation {
    /// The function that makes users.
    pub(crate) fn users(&self) -> Option<OfQuery> {
        match *self {
            Self::Never => None,
            Self::Always(users) | Self::IfSearched(users, _) => Some(users),
        }
    }
}
