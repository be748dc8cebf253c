//! Open Bandit Dataset: recommendations of a fashion shop at three positions, one a line.
//!
//! CSV with a header. The columns `item_id`, `position` (1 to 3) and `click` are read; columns that
//! describe users are not.

use super::Columns;

pub(super) fn columns() -> Columns {
    Columns {
        query: None,
        item: "item_id".into(),
        position: "position".into(),
        click: "click".into(),
        impressions: None,
        session: None,
    }
}
