//! `cascade`: users scan from the top and stop at the first click.
//!
//! Below the first click, where the model allows no click, the prediction is the rate of such
//! clicks in the fitted sessions.

use super::{Predicts, Row};
use crate::fit::predict::{List, Prediction, inside};
use crate::fit::users::{Users, attraction};
use crate::fit::{Model, stopping};
use click_models::CascadeModel;

pub(super) const ROW: Row = Row {
    model: Model::Cascade,
    fit: |_, sessions, options, purpose| stopping::cascade(sessions, options, purpose),
    predicts: Predicts::Lists(predict),
    users: Some(|_, query, n_positions| {
        CascadeModel::from_values(&attraction(query, 1.0), n_positions).map(Users::new).ok()
    }),
};

fn predict(list: &List<'_>, out: &mut Prediction) {
    let below = list.fit.below_first_click.unwrap_or(0.0);
    let (mut there, mut clicked) = (1.0, false);
    for (position, attraction, _) in list.attractions() {
        out.conditional.push(inside(if clicked { below } else { attraction }));
        out.marginal.push(inside(there * attraction + (1.0 - there) * below));
        there *= 1.0 - attraction;
        clicked |= list.clicks.get(position);
    }
}
