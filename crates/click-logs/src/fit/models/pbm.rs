//! `pbm`, position-based: attraction times examination.

use super::{Predicts, Row};
use crate::fit::users::{Users, attraction, known_or};
use crate::fit::{Fit, Model, QueryFit, position_based};
use click_models::PositionBased;
use log_reader::Id;

pub(super) const ROW: Row = Row {
    model: Model::Pbm,
    fit: |counts, _, options, purpose| position_based::by_position(counts, options, purpose),
    predicts: Predicts::Alone(click),
    users: Some(users),
};

fn click(fit: &Fit, query: Option<&QueryFit>, item: Id, position: usize) -> f64 {
    let of_site = |position| fit.site_position(position);
    let own = query.filter(|query| !fit.own_positions(query.id).is_empty());
    let examined = own.map_or_else(
        || of_site(position),
        |query| {
            let own = fit.own_positions(query.id).get(position);
            // Where the log does not show the query, as for others, relative to its first position.
            let first = query.positions.iter().next().map(of_site).filter(|first| *first > 0.0);
            let of_others = || of_site(position) / first.unwrap_or(1.0);
            own.map(|own| own.value).filter(|own| !own.is_nan()).unwrap_or_else(of_others)
        },
    );
    fit.attraction(query, item, position).0 * examined
}

fn users(fit: &Fit, query: &QueryFit, n_positions: usize) -> Option<Users> {
    let known = fit.positions(query);
    let value = |position: usize| known_or(known.get(position).map_or(f64::NAN, |g| g.value), 0.0);
    let examination: Vec<f64> = query.first_positions(n_positions).map(value).collect();
    let scale = examination.iter().copied().fold(1.0, f64::max);
    let examination: Vec<f64> = examination.iter().map(|g| (g / scale).clamp(0.0, 1.0)).collect();
    PositionBased::from_values(&attraction(query, scale), &examination).map(Users::new).ok()
}
