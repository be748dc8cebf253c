//! Yandex Relevance Prediction: queries with ten results, and clicks, in the order of their sessions.
//!
//! Tab-separated, no header: `SessionID TimePassed Q QueryID RegionID URL x 10` for a query, `SessionID TimePassed C URL` for a click.
//! Lines of a session are consecutive. A click belongs to the last list of its session that shows the URL, and to its topmost position
//! there; a second click on the same position adds nothing. Clicks on URLs that no list of the session shows (a second page, a list that
//! was not logged) are counted as clicks outside. The name of a query, which includes its region, is `QueryID/RegionID`.
//!
//! If a faulty line of a query is skipped, the clicks after it belong to earlier lists or count as clicks outside.

use super::{Input, Keep, ReadReport, Reader};
use crate::error::Error;
use crate::fault::Fault;
use crate::names::Id;
use crate::read::fields::number;
use crate::read::line::{LineFault, LineFormat, cut_between};
use crate::sink::Sink;

const URLS: usize = 10;
const QUERY_COLUMNS: usize = 5 + URLS;

struct Yandex;

pub(super) fn read<K: Keep>(reader: &Reader, inputs: Vec<Input<'_>>, keep: &K) -> Result<ReadReport, Error> {
    reader.read_lines(&Yandex, inputs, keep)
}

/// The session that is being read.
#[derive(Default)]
struct OpenSession {
    id: Vec<u8>,
    lists: Vec<OpenList>,
    name: Vec<u8>,
}

struct OpenList {
    query: Id,
    at: u64,
    items: [Id; URLS],
    clicks: u64,
}

impl OpenSession {
    fn close<S: Sink>(&mut self, sink: &mut S) {
        for list in self.lists.drain(..) {
            sink.session(list.query, &list.items, list.clicks, list.at);
        }
    }
}

impl LineFormat for Yandex {
    type Layout = ();
    type Memory = OpenSession;
    const HEADER: bool = false;

    fn layout(&self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Any line, faulty or not, with another beginning ends the session, as in [`cut`](LineFormat::cut).
    fn enter<S: Sink>(&self, (): &(), line: &[u8], session: &mut OpenSession, sink: &mut S) {
        let id = session_of(line);
        if session.id != id {
            session.close(sink);
            session.id.clear();
            session.id.extend_from_slice(id);
        }
    }

    fn line<S: Sink>(
        &self,
        (): &(),
        line: &[u8],
        at: u64,
        session: &mut OpenSession,
        sink: &mut S,
    ) -> Result<(), LineFault> {
        // A click is the shortest kind of line.
        let mut columns: [&[u8]; QUERY_COLUMNS] = [b""; QUERY_COLUMNS];
        let mut found = 0;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\t', line).chain([line.len()]) {
            let Some(column) = columns.get_mut(found) else {
                return Err(LineFault::new(Fault::TooManyColumns { expected: QUERY_COLUMNS }, 0, line));
            };
            *column = &line[start..end];
            found += 1;
            start = end + 1;
        }
        let too_few = |expected| LineFault::new(Fault::TooFewColumns { found, expected }, 0, line);
        let in_column = |number: usize| move |fault| LineFault::new(fault, number, columns[number - 1]);
        if found < 4 {
            return Err(too_few(4));
        }
        number(columns[0]).map_err(in_column(1))?;
        match columns[2] {
            b"Q" => {
                if found < QUERY_COLUMNS {
                    return Err(too_few(QUERY_COLUMNS));
                }
                for number in 4..=5 {
                    if columns[number - 1].is_empty() {
                        return Err(in_column(number)(Fault::Empty));
                    }
                }
                let mut items = [Id(0); URLS];
                for (number, item) in (6..).zip(&mut items) {
                    *item = sink.id(columns[number - 1]).map_err(in_column(number))?;
                }
                let name = &mut session.name;
                let query = query_of_region(columns[3], columns[4], name, sink).map_err(in_column(4))?;
                session.lists.push(OpenList { query, at, items, clicks: 0 });
            }
            b"C" => {
                // Copies of the log pad clicks to the columns of a query.
                if let Some(extra) = (5..=found).find(|&number| !columns[number - 1].is_empty()) {
                    return Err(in_column(extra)(Fault::TooManyColumns { expected: 4 }));
                }
                let url = sink.id(columns[3]).map_err(in_column(4))?;
                let place = session.lists.iter_mut().rev().find_map(|list| {
                    let place = list.items.iter().position(|&item| item == url)?;
                    Some((list, place))
                });
                match place {
                    Some((list, place)) => list.clicks |= 1 << place,
                    None => sink.clicks_outside(1),
                }
            }
            _ => return Err(in_column(3)(Fault::UnknownKind)),
        }
        Ok(())
    }

    fn end<S: Sink>(&self, session: &mut OpenSession, sink: &mut S) {
        session.close(sink);
    }

    /// Cuts before the last session, which may continue.
    fn cut(&self, (): &(), bytes: &[u8]) -> usize {
        cut_between(bytes, |last, above| session_of(last) == session_of(above))
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        match column {
            1 => "SessionID".into(),
            2 => "TimePassed".into(),
            3 => "TypeOfAction".into(),
            4 => "QueryID or URL".into(),
            5 => "RegionID".into(),
            _ => format!("URL {}", column - 5),
        }
    }
}

/// The beginning of a line; consecutive lines with the same beginning are a session.
fn session_of(line: &[u8]) -> &[u8] {
    memchr::memchr(b'\t', line).map_or(line, |end| &line[..end])
}

/// The identifier of `query/region`; `name` is a buffer.
pub(super) fn query_of_region<S: Sink>(
    query: &[u8],
    region: &[u8],
    name: &mut Vec<u8>,
    sink: &mut S,
) -> Result<Id, Fault> {
    name.clear();
    name.extend_from_slice(query);
    name.push(b'/');
    name.extend_from_slice(region);
    sink.id(name)
}
