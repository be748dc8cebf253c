//! `dcm`, dependent clicks: users scan from the top and may leave after a click, with a probability
//! by position.

use super::{Predicts, Row};
use crate::fit::predict::value_at;
use crate::fit::users::{Users, attraction, known_or};
use crate::fit::{Fit, Model, QueryFit, stopping};
use click_models::{DcmReward, DependentClick};

pub(super) const ROW: Row = Row {
    model: Model::Dcm,
    fit: |_, sessions, options, purpose| stopping::by_position(sessions, options, purpose),
    predicts: Predicts::Lists(|list, out| {
        let leave = list.positions();
        list.scan(out, |position, _, _| [1.0, 1.0 - value_at(leave, position)]);
    }),
    users: Some(users),
};

fn users(fit: &Fit, query: &QueryFit, n_positions: usize) -> Option<Users> {
    let known = fit.positions(query);
    let leave = |position: usize| {
        let leave = known.get(position).map_or(f64::NAN, |leave| leave.value);
        known_or(leave, fit.typical_leave.unwrap_or(0.0)).clamp(0.0, 1.0)
    };
    let leave: Vec<f64> = (0..n_positions).map(leave).collect();
    let users = DependentClick::from_values(&attraction(query, 1.0), &leave, DcmReward::default());
    users.map(Users::new).ok()
}
