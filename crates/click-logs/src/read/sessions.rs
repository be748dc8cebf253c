//! One session a line: what was shown and what of it was clicked.
//!
//! Tabs, and the header `query region urls clicked_mask n_clicks_outside_top10`; `urls` have commas between them, from 1 to 64 of them, and
//! `clicked_mask` has a 0 or a 1 for each. A query is one of a region: it is called `query/region`.

use super::fields::{MAX_POSITIONS, count};
use super::line::{LineFault, LineFormat};
use super::yandex::query_of_region;
use crate::fault::Fault;
use crate::names::Id;
use crate::sink::Sink;

const COLUMNS: [&str; 5] = ["query", "region", "urls", "clicked_mask", "n_clicks_outside_top10"];

pub(crate) struct SessionLines;

#[derive(Default)]
pub(crate) struct Scratch {
    items: Vec<Id>,
    name: Vec<u8>,
}

impl LineFormat for SessionLines {
    type Layout = ();
    type Memory = Scratch;
    const HEADER: bool = true;

    fn layout(&self, header: &[u8]) -> Result<(), String> {
        let expected = COLUMNS.join("\t");
        if header == expected.as_bytes() {
            return Ok(());
        }
        Err(format!("expected the header `{}`", expected.escape_debug()))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.split(|&byte| byte == b'\t').any(|column| COLUMNS.iter().any(|name| name.as_bytes() == column))
    }

    fn line<S: Sink>(
        &self,
        (): &(),
        line: &[u8],
        at: u64,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<(), LineFault> {
        let expected = COLUMNS.len();
        let mut columns: [&[u8]; COLUMNS.len()] = [b""; COLUMNS.len()];
        let mut found = 0;
        for column in line.split(|&byte| byte == b'\t') {
            let Some(place) = columns.get_mut(found) else {
                return Err(LineFault::new(Fault::TooManyColumns { expected }, 0, line));
            };
            *place = column;
            found += 1;
        }
        if found < expected {
            return Err(LineFault::new(Fault::TooFewColumns { found, expected }, 0, line));
        }
        let [query, region, urls, marks, outside] = columns;
        let in_column = |number: usize| {
            move |fault| {
                let clicks = memchr::memchr_iter(b'1', marks).count();
                LineFault::new(fault, number, columns[number - 1])
                    .of(Ok(clicks as u64), Ok(marks.len() as u64))
            }
        };
        for number in 1..=2 {
            if columns[number - 1].is_empty() {
                return Err(in_column(number)(Fault::Empty));
            }
        }
        scratch.items.clear();
        for url in urls.split(|&byte| byte == b',') {
            if scratch.items.len() as u64 == MAX_POSITIONS {
                return Err(in_column(3)(Fault::BadDepth));
            }
            scratch.items.push(sink.id(url).map_err(in_column(3))?);
        }
        let expected = scratch.items.len();
        if marks.len() != expected {
            return Err(in_column(4)(Fault::ListLength { found: marks.len(), expected }));
        }
        let mut clicks = 0;
        for (position, mark) in marks.iter().enumerate() {
            match mark {
                b'0' => {}
                b'1' => clicks |= 1 << position,
                _ => return Err(in_column(4)(Fault::NotAMark)),
            }
        }
        let outside = count(outside).map_err(in_column(5))?;
        let query = query_of_region(query, region, &mut scratch.name, sink).map_err(in_column(1))?;
        sink.session(query, &scratch.items, clicks, at);
        sink.clicks_outside(outside);
        Ok(())
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        COLUMNS.get(column.wrapping_sub(1)).copied().unwrap_or_default().into()
    }
}
