//! KDD Cup 2012 track 2, `training.txt`: impressions and clicks of an ad at a position.
//!
//! Twelve tab-separated columns without header: `Click Impression DisplayURL AdID AdvertiserID Depth Position QueryID KeywordID TitleID
//! DescriptionID UserID`. A line represents all sessions with the same user, ad, query, depth and position, so `Click` may exceed 1, but
//! not `Impression`. `Depth` is the length of the list, `Position` the 1-based position on it.
//!
//! Other columns are not read. The user's column is never shown. If a line has another number of columns, any of them may be the user's:
//! errors then show only the text before the last column and before the twelfth.

use super::{Collector, Input, ReadReport, Reader};
use crate::collect::Batches;
use crate::error::Error;
use crate::fault::Fault;
use crate::fields::{MAX_POSITIONS, check_count, number_in, tabs_of_64};
use crate::names::Id;
use crate::read::line::{LineFault, LineFormat};
use crate::read::meaning::Meaning;
use crate::read::open_lists::Spot;
use crate::table::Shown;

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

const N_TABS: usize = COLUMNS.len() - 1;
/// The last column that is read, `QueryID`, from 1.
const LAST_COUNTED: usize = 8;

struct Kdd2012 {
    meaning: Meaning,
}

pub(super) fn read(
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector,
) -> Result<ReadReport, Error> {
    reader.read_lines(&Kdd2012 { meaning: reader.meaning.of_format() }, inputs, collector)
}

impl LineFormat for Kdd2012 {
    type Layout = ();
    type Memory = ();
    const HEADER: bool = false;

    fn layout(&self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    #[inline]
    fn line(
        &self,
        (): &(),
        line: &[u8],
        at: Spot,
        (): &mut (),
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        // The ends of the columns to read, after a 0 for the start of the first.
        let mut ends = [0; LAST_COUNTED + 1];
        let tabs = tabs_of_64(line);
        let below = line.get(64..).map_or(0, |rest| if rest.len() <= 64 { tabs_of_64(rest) } else { 0 });
        let n_tabs = [tabs, below].map(|tabs| tabs.count_ones() as usize);
        if n_tabs[0] + n_tabs[1] == N_TABS && n_tabs[0] >= LAST_COUNTED && line.len() <= 128 {
            let mut tabs = tabs;
            for end in &mut ends[1..] {
                *end = tabs.trailing_zeros() as usize;
                tabs &= tabs.wrapping_sub(1);
            }
        } else {
            find_ends(line, &mut ends)?;
        }
        let range = |column: usize| (ends[column - 1] + usize::from(column > 1), ends[column]);
        let text = |column: usize| &line[range(column).0..range(column).1];
        let number = |column: usize| number_in(line, range(column).0, range(column).1);
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
            batches.shown(Shown { query, item, clicks, impressions, position }, at.at);
        }
        Ok(())
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        COLUMNS.get(column.wrapping_sub(1)).copied().unwrap_or_default().into()
    }
}

/// The ends of the columns of a line of any length.
#[cold]
fn find_ends(line: &[u8], ends: &mut [usize; LAST_COUNTED + 1]) -> Result<(), LineFault> {
    let mut n_tabs = 0;
    for tab in memchr::memchr_iter(b'\t', line) {
        n_tabs += 1;
        if let Some(end) = ends.get_mut(n_tabs) {
            *end = tab;
        }
    }
    if n_tabs == N_TABS { Ok(()) } else { Err(wrong_columns(line)) }
}

/// The name of a number; a number of 64 bits is kept as text.
#[inline]
fn id(number: u64, text: &[u8], batches: &mut Batches<'_>) -> Result<Id, Fault> {
    if number < 1 << 63 { Ok(Id(number)) } else { batches.id(text) }
}

#[cold]
fn wrong_columns(line: &[u8]) -> LineFault {
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let shown = (columns.len() - 1).min(COLUMNS.len() - 1);
    let text = columns[..shown].join(&b'\t');
    let (found, expected) = (columns.len(), COLUMNS.len());
    let fault = if found < expected {
        Fault::TooFewColumns { found, expected }
    } else {
        Fault::TooManyColumns { expected }
    };
    LineFault::new(fault, 0, &text)
}
