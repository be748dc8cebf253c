//! `dbn`, dynamic Bayesian network: users scan from the top, may leave satisfied after a click,
//! with a probability by item, and may stop after any position.

use super::{Predicts, Row};
use crate::fit::predict::{List, Prediction, value_at};
use crate::fit::users::{Users, attraction, continuation, known_or};
use crate::fit::{Fit, Model, QueryFit, chain};
use click_models::{DbnReward, DynamicBayesian};

pub(super) const ROW: Row = Row {
    model: Model::Dbn,
    fit: |_, sessions, options, purpose| chain::dbn(sessions, options, purpose),
    predicts: Predicts::Lists(predict),
    users: Some(users),
};

pub(super) fn predict(list: &List<'_>, out: &mut Prediction) {
    let typical = list.fit.typical_leave.unwrap_or(0.0);
    let satisfaction = list.known.map_or(&[][..], |query| list.fit.satisfaction(query.id));
    let continuation = value_at(list.continuation(), 0);
    list.scan(out, |_, _, place| {
        let satisfied = place.map_or(typical, |place| satisfaction[place].value);
        [1.0, 1.0 - satisfied].map(|stays| stays * continuation)
    });
}

pub(super) fn users(fit: &Fit, query: &QueryFit, n_positions: usize) -> Option<Users> {
    let typical = fit.typical_leave.unwrap_or(0.0);
    let satisfaction = fit.satisfaction(query.id).iter();
    let satisfaction: Vec<f64> = satisfaction.map(|s| known_or(s.value, typical).clamp(0.0, 1.0)).collect();
    let [continuation] = continuation(fit, query);
    let (attraction, reward) = (attraction(query, 1.0), DbnReward::Clicks);
    let users = DynamicBayesian::from_values(&attraction, &satisfaction, continuation, n_positions, reward);
    users.map(Users::new).ok()
}
