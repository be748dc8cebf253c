//! Open Bandit Dataset: recommendations of a fashion shop at three positions, one a line.
//!
//! CSV with a header; counted are `item_id`, `position` (1 to 3) and `click`. There are no queries, all is one, called `all`. The columns
//! that describe users are not looked at.

use super::delimited::{Columns, Delimited, TableLines};
use super::{Input, Keep, ReadReport, Reader};
use crate::error::Error;

pub(super) fn read<K: Keep>(reader: &Reader, inputs: Vec<Input<'_>>, keep: &K) -> Result<ReadReport, Error> {
    reader.read_lines(&TableLines { table: &columns(), meaning: reader.meaning.of_format() }, inputs, keep)
}

fn columns() -> Delimited {
    let columns = Columns {
        query: None,
        item: "item_id".into(),
        position: "position".into(),
        click: "click".into(),
        impressions: None,
        session: None,
    };
    Delimited { columns, delimiter: Some(b',') }
}
