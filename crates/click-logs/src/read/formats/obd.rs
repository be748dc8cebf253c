//! Open Bandit Dataset: recommendations of a fashion shop at three positions, one a line.
//!
//! CSV with a header. The columns `item_id`, `position` (1 to 3) and `click` are read; columns that describe users are not. There are no
//! queries: the only query is called `all`.

use super::delimited::{Columns, Delimited, TableLines};
use super::{Collector, Input, ReadReport, Reader};
use crate::error::Error;
use crate::read::open_lists::KeyHash;

pub(super) fn read(
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector,
) -> Result<ReadReport, Error> {
    let (meaning, hash) = (reader.meaning.of_format(), KeyHash::default());
    reader.read_lines(&TableLines { table: &columns(), meaning, hash }, inputs, collector)
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
