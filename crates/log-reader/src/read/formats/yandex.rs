//! Yandex Relevance Prediction (2011) and Personalized Web Search (2013): queries with ten results,
//! and clicks, in the order of their sessions.
//!
//! Tab-separated, no header. The columns are
//!
//! | | of a query | of a click |
//! |---|---|---|
//! | 2011 | `SessionID TimePassed Q QueryID RegionID URL x 10` | `SessionID TimePassed C URL` |
//! | 2013 | `SessionID TimePassed Q SERPID QueryID Terms URL,Domain x 10` | `SessionID TimePassed C SERPID URL` |
//!
//! Lines of a session are consecutive. A click of 2011 belongs to the last list of its session that
//! shows the URL, one of 2013 to the list of its number (`SERPID`), and to its topmost position
//! there; a second click on the same position adds nothing. Clicks on URLs that no such list shows
//! (a second page, a list that was not logged) are counted as clicks outside. The name of a query
//! is `QueryID/RegionID`, in 2013 `QueryID`. Terms and domains are not read.
//!
//! In 2013 a line `SessionID M Day USERID` begins a session; it is skipped. A line of kind `T`
//! instead of `Q` is a test query, whose clicks were withheld: its list is not counted.
//!
//! If a faulty line of a query is skipped, clicks after it belong to earlier lists or none.

use super::table_rows::push_escaped;
use crate::collect::Batches;
use crate::error::HIDDEN;
use crate::fault::Fault;
use crate::fields::number;
use crate::lists::{ShownList, unit_hash};
use crate::names::Id;
use crate::read::line::{LineFault, LineFormat, cut_between};
use crate::read::marks::CutLine;
use crate::read::open_lists::Spot;

const URLS: usize = 10;
const QUERY_COLUMNS: usize = 5 + URLS;
/// Columns of a query and of a click of 2013.
const QUERY_2013: usize = 6 + URLS;
const CLICK_2013: usize = 5;

pub(super) struct Yandex;

/// The session that is being read.
#[derive(Default)]
pub(super) struct OpenSession {
    id: Vec<u8>,
    lists: Vec<OpenList>,
    name: Vec<u8>,
}

struct OpenList {
    query: Id,
    /// Its `SERPID`, if it is of 2013.
    number: Option<u64>,
    /// Whether its clicks were withheld.
    is_test: bool,
    at: u64,
    items: [Id; URLS],
    clicks: u64,
}

impl OpenSession {
    fn close(&mut self, batches: &mut Batches<'_>) {
        let session = batches.lists.is_some().then(|| unit_hash(&self.id));
        for list in self.lists.drain(..).filter(|list| !list.is_test) {
            let shown = ShownList::plain(list.query, &list.items, list.clicks, list.at);
            batches.session(&shown.of(None, session), true);
        }
    }
}

/// Reads a click: of the latest list of the session that has its URL.
fn click(
    columns: &[&[u8]; QUERY_2013],
    found: usize,
    session: &mut OpenSession,
    batches: &mut Batches<'_>,
) -> Result<(), LineFault> {
    let in_column = |number: usize| move |fault| LineFault::new(fault, number, columns[number - 1]);
    let of_2011 = session.lists.iter().any(|list| list.number.is_none());
    let is_2013 = !columns[4].is_empty() && !of_2011;
    // Copies of the log pad clicks to the columns of a query.
    let expected = if is_2013 { CLICK_2013 } else { 4 };
    if let Some(extra) = (expected + 1..=found).find(|&number| !columns[number - 1].is_empty()) {
        return Err(in_column(extra)(Fault::TooManyColumns { expected }));
    }
    let of_list = is_2013.then(|| number(columns[3]).map_err(in_column(4))).transpose()?;
    let url = batches.id(columns[expected - 1]).map_err(in_column(expected))?;
    let place = session.lists.iter_mut().rev().find_map(|list| {
        let place = list.items.iter().position(|&item| item == url)?;
        (of_list.is_none() || of_list == list.number).then_some((list, place))
    });
    match place {
        Some((list, place)) => list.clicks |= 1 << place,
        None => batches.report.clicks_outside += 1,
    }
    Ok(())
}

impl LineFormat for Yandex {
    type Layout = ();
    type Memory = OpenSession;

    fn line(
        &self,
        (): &(),
        line: CutLine<'_>,
        at: Spot,
        session: &mut OpenSession,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let (found, whole) = (line.n_columns(), line.whole());
        // Any line, faulty or not, with another beginning ends the session, as in `cut`.
        let id = session_of(whole);
        if session.id != id {
            session.close(batches);
            session.id.clear();
            session.id.extend_from_slice(id);
        }
        if found > QUERY_2013 {
            return Err(LineFault::new(Fault::TooManyColumns { expected: QUERY_COLUMNS }, 0, whole));
        }
        let columns: [&[u8]; QUERY_2013] = std::array::from_fn(|column| line.get(column).unwrap_or_default());
        let wrong_columns = |expected| LineFault::new(Fault::columns(found, expected), 0, whole);
        let in_column = |number: usize| move |fault| LineFault::new(fault, number, columns[number - 1]);
        if found < 4 {
            return Err(wrong_columns(4));
        }
        number(columns[0]).map_err(in_column(1))?;
        if columns[1] == b"M" {
            // The last column is a user: nothing is shown.
            let is_fine = columns[4..].iter().all(|column| column.is_empty());
            return if is_fine {
                Ok(())
            } else {
                Err(LineFault::new(Fault::TooManyColumns { expected: 4 }, 0, HIDDEN.as_bytes()))
            };
        }
        match columns[2] {
            kind @ (b"Q" | b"T") => {
                let of_pairs = |columns: &[&[u8]]| columns.iter().all(|column| column.contains(&b','));
                let is_2013 = found > 7 && of_pairs(&columns[6..found.min(QUERY_2013)]) || kind == b"T";
                let expected = if is_2013 { QUERY_2013 } else { QUERY_COLUMNS };
                if found != expected {
                    return Err(wrong_columns(expected));
                }
                let named = if is_2013 { 5..=5 } else { 4..=5 };
                for number in named {
                    if columns[number - 1].is_empty() {
                        return Err(in_column(number)(Fault::Empty));
                    }
                }
                let mut items = [Id(0); URLS];
                let first = expected + 1 - URLS;
                for (number, item) in (first..).zip(&mut items) {
                    let column = columns[number - 1];
                    let end = memchr::memchr(b',', column).filter(|_| is_2013).unwrap_or(column.len());
                    *item = batches.id(&column[..end]).map_err(in_column(number))?;
                }
                let (query, of_list) = if is_2013 {
                    let of_list = number(columns[3]).map_err(in_column(4))?;
                    (batches.id(columns[4]).map_err(in_column(5))?, Some(of_list))
                } else {
                    let name = &mut session.name;
                    (batches.id(in_region(columns[3], columns[4], name)).map_err(in_column(4))?, None)
                };
                let is_test = kind == b"T";
                session.lists.push(OpenList { query, number: of_list, is_test, at: at.at, items, clicks: 0 });
            }
            b"C" => click(&columns, found, session, batches)?,
            _ => return Err(in_column(3)(Fault::UnknownKind)),
        }
        Ok(())
    }

    fn end(&self, session: &mut OpenSession, batches: &mut Batches<'_>) {
        session.close(batches);
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
            4 => "QueryID, URL or SERPID".into(),
            5 => "RegionID, QueryID or URL".into(),
            _ => "URL".into(),
        }
    }
}

/// The beginning of a line; consecutive lines with the same beginning are a session.
fn session_of(line: &[u8]) -> &[u8] {
    memchr::memchr(b'\t', line).map_or(line, |end| &line[..end])
}

/// The name `query/region`; `name` is a buffer.
pub(super) fn in_region<'n>(query: &[u8], region: &[u8], name: &'n mut Vec<u8>) -> &'n [u8] {
    name.clear();
    name.extend_from_slice(query);
    name.push(b'/');
    push_escaped(region, name);
    name
}
