//! KDD Cup 2012 track 2, `training.txt`: impressions and clicks of an ad at a position.
//!
//! Twelve tab-separated columns without header, [`COLUMNS`]. A line represents all sessions with
//! the same user, ad, query, depth and position, so `Click` may exceed 1, but not `Impression`.
//! `Depth` is the length of the list, `Position` the 1-based position on it.
//!
//! The user's column is never shown. If a line has another number of columns, any of them may be
//! the user's: errors then show only the text before the last column and before the twelfth.

use crate::collect::Batches;
use crate::fault::Fault;
use crate::fields::{MAX_POSITIONS, check_count};
use crate::names::Id;
use crate::read::line::{LineFault, LineFormat};
use crate::read::marks::CutLine;
use crate::read::meaning::Meaning;
use crate::read::open_lists::Spot;
use crate::table::LineCounts;

const COLUMNS: [&str; 12] = [
    "Click",
    "Impression",
    "DisplayURL",
    "AdID",
    "AdvertiserID",
    "Depth",
    "Position",
    "QueryID",
    "KeywordID",
    "TitleID",
    "DescriptionID",
    "UserID",
];

pub(super) struct Kdd2012 {
    pub(super) meaning: Meaning,
}

impl LineFormat for Kdd2012 {
    type Layout = ();
    type Memory = ();

    #[inline]
    fn line(
        &self,
        (): &(),
        line: CutLine<'_>,
        at: Spot,
        (): &mut (),
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        if line.n_columns() != COLUMNS.len() {
            return Err(wrong_columns(line));
        }
        let text = |column: usize| line.get(column - 1).unwrap_or_default();
        let number = |column: usize| line.number(column - 1);
        let in_column = |column: usize| {
            move |fault| {
                let [clicks, impressions] = [1, 2].map(|column| number(column).and_then(check_count));
                LineFault::new(fault, column, text(column)).of(clicks, impressions)
            }
        };
        let clicks = number(1).and_then(check_count).map_err(in_column(1))?;
        let impressions = number(2).and_then(check_count).map_err(in_column(2))?;
        let clicks = self.meaning.clicks(clicks, impressions, batches).map_err(in_column(1))?;
        let item = number(4).and_then(|number| id(number, text(4), batches)).map_err(in_column(4))?;
        let depth = number(6).map_err(in_column(6))?;
        if depth == 0 || depth > MAX_POSITIONS && self.meaning.n_positions > MAX_POSITIONS {
            return Err(in_column(6)(Fault::BadDepth));
        }
        let position =
            number(7).and_then(|place| self.meaning.position(place, depth)).map_err(in_column(7))?;
        let query = number(8).and_then(|number| id(number, text(8), batches)).map_err(in_column(8))?;
        if let Some(position) = position {
            batches.count_shown(&LineCounts { query, item, clicks, impressions, position }, at.at);
        }
        Ok(())
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        COLUMNS.get(column.wrapping_sub(1)).copied().unwrap_or_default().into()
    }
}

/// The name of a number; a number of 64 bits is kept as text.
#[inline]
fn id(number: u64, text: &[u8], batches: &mut Batches<'_>) -> Result<Id, Fault> {
    if number < 1 << 63 { Ok(Id(number)) } else { batches.id(text) }
}

#[cold]
fn wrong_columns(line: CutLine<'_>) -> LineFault {
    let (found, expected) = (line.n_columns(), COLUMNS.len());
    let shown = (found - 1).min(expected - 1);
    let text: Vec<&[u8]> = (0..shown).filter_map(|column| line.get(column)).collect();
    LineFault::new(Fault::columns(found, expected), 0, &text.join(&b'\t'))
}
