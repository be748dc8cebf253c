//! `sdbn`, simplified dynamic Bayesian network: a [`dbn`] whose users always continue unless they
//! left satisfied.

use super::dbn;
use super::{Predicts, Row};
use crate::fit::{Model, stopping};

pub(super) const ROW: Row = Row {
    model: Model::Sdbn,
    fit: |_, sessions, options, purpose| stopping::by_item(sessions, options, purpose),
    predicts: Predicts::Lists(dbn::predict),
    users: Some(dbn::users),
};
