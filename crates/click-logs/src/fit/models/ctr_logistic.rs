//! `ctr-logistic`: a logistic regression on the item, and the position with the last click: a
//! yardstick, which has no users.

use super::row::{Predicts, Row, Simulated};
use crate::fit::{Model, logistic};

pub(super) const ROW: Row = Row {
    model: Model::CtrLogistic,
    fit: |_, sessions, options, _| logistic::fit(sessions, options),
    predicts: Predicts::Lists(|list, out| {
        list.by_last_click(out, |attraction, odds_ratio| {
            let product = attraction * odds_ratio;
            product / (1.0 - attraction + product)
        });
    }),
    users: Simulated::Never,
};
