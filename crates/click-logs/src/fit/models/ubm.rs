//! `ubm`, user browsing: attraction times examination, which depends on the position and on that of
//! the last click above.

use super::{Predicts, Row};
use crate::fit::users::{Users, attraction, known_or};
use crate::fit::{Fit, Model, QueryFit, position_based};
use click_models::{ListShape, UserBrowsing};
use log_reader::Counts;

pub(super) const ROW: Row = Row {
    model: Model::Ubm,
    fit: |_, sessions, options, purpose| position_based::by_last_click(sessions, options, purpose),
    predicts: Predicts::Lists(|list, out| list.by_last_click(out)),
    users: Some(users),
};

/// Beginnings of lists that are tried for all queries of a log, about five seconds.
pub(super) const MOST_TRIED: u64 = 5 * UserBrowsing::MAX_BEGINNINGS;

/// The number of queries whose best list was not found: its search, or all searches together, which
/// try `most` beginnings, took too long.
pub(super) fn n_not_found(fit: &Fit, counts: &Counts, most: u64) -> usize {
    let mut tried = 0;
    let is_found = |query: &&QueryFit| {
        if tried > most {
            return false;
        }
        let n_positions = counts.query(query.id).map_or(0, |counts| counts.n_positions());
        let found = fit.users(query, n_positions).and_then(Users::model::<UserBrowsing>);
        tried += found.as_ref().map_or(UserBrowsing::MAX_BEGINNINGS, UserBrowsing::beginnings);
        found.is_some()
    };
    fit.queries().len() - fit.queries().iter().filter(is_found).count()
}

/// Examination is divided by its largest value if that exceeds 1, as far as the attraction of no
/// item gets larger than 1.
fn users(fit: &Fit, query: &QueryFit, n_positions: usize) -> Option<Users> {
    let positions = fit.positions(query);
    let known = (1..=ListShape::MAX_POSITIONS).take_while(|l| l * (l + 1) / 2 <= positions.len()).count();
    let n_positions = n_positions.min(known);
    let known = positions.iter().map(|estimate| known_or(estimate.value, 0.0));
    let examination: Vec<f64> = known.take(n_positions * (n_positions + 1) / 2).collect();
    let largest = attraction(query, 1.0).into_iter().fold(0.0, f64::max);
    let scale = examination.iter().copied().fold(1.0, f64::max).min(1.0 / largest.max(f64::MIN_POSITIVE));
    let scaled: Vec<f64> = examination.iter().map(|g| (g / scale).clamp(0.0, 1.0)).collect();
    let rows: Vec<&[f64]> =
        (0..n_positions).map(|l| &scaled[l * (l + 1) / 2..(l + 1) * (l + 2) / 2]).collect();
    UserBrowsing::from_values(&attraction(query, scale), &rows).map(Users::new).ok()
}

#[cfg(test)]
mod tests;
