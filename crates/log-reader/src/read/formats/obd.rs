//! Open Bandit Dataset: recommendations of a fashion shop at three positions, one a line.
//!
//! CSV with a header. The columns `item_id`, `position` (1 to 3) and `click` are read, and
//! `propensity_score` if lists are handed over; columns that describe users are not.

use crate::columns::Columns;

pub(super) fn columns(hands_over: bool) -> Columns {
    let propensity = hands_over.then(|| "propensity_score".to_owned());
    Columns { propensity, ..Columns::of_rows("item_id", "position", "click") }
}
