//! Any table with a header, one (query, item, position) a line, columns named by the user.
//!
//! The delimiter is the first of tab, comma, semicolon and vertical bar under which the header has the columns that are named. A column
//! in quotation marks may hold the delimiter, and a quotation mark written twice; not the end of a line. Columns that are not named are
//! not looked at. Positions count from 1, or from 0 where the reader is told so.
//!
//! Where a column names sessions, lines that stand together with the same session and query are one list, from its first position down.
//! Where a line of a list is skipped, the list ends above it, and such lists are counted. What sessions are called is compared from line
//! to line, and neither kept nor shown.

use super::{Format, Input, Keep, ReadReport, Reader};
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::names::Id;
use crate::read::fields::{MAX_POSITIONS, check_count, table_clicks, table_number};
use crate::read::line::{LineFault, LineFormat, MAX_TEXT, after_last_line, cut_between};
use crate::read::meaning::Meaning;
use crate::sink::Sink;
use crate::table::Shown;
use std::borrow::Cow;

/// Which column says what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The query; without it all is one query, called `all`.
    pub query: Option<String>,
    /// The item.
    pub item: String,
    /// Its position, from 1 to 64 (0 to 63 where the reader is told so).
    pub position: String,
    /// Clicks on it.
    pub click: String,
    /// Impressions of it; without it one a line.
    pub impressions: Option<String>,
    /// The session, one list that a user saw; without it the order of clicks is not known. Then a line is one impression.
    pub session: Option<String>,
}

/// A table with a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimited {
    /// Which column says what.
    pub columns: Columns,
    /// What stands between columns; without it a tab, a comma, a semicolon or a vertical bar, as the header has it.
    pub delimiter: Option<u8>,
}

/// The query of a log that has none.
pub(crate) const ONE_QUERY: &[u8] = b"all";

impl Columns {
    /// Reads `query=..,item=..,position=..,click=..,impressions=..,session=..`; `query`, `impressions` and `session` may be missing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for another key, one twice, one without a column, a missing one, one column for two keys, or both
    /// `impressions` and `session`.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_logs::Columns;
    ///
    /// let columns = Columns::parse("item=ad,position=rank,click=clicked")?;
    /// assert_eq!((columns.item.as_str(), columns.query), ("ad", None));
    /// # Ok::<(), click_logs::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |message: String| Error::of(ErrorKind::Settings, "columns", message);
        let keys = ["query", "item", "position", "click", "impressions", "session"];
        let mut names: [Option<String>; ROLES] = Default::default();
        for part in text.split(',') {
            let Some((key, column)) = part.split_once('=') else {
                return Err(wrong(format!("`{part}`: expected key=column")));
            };
            let Some(place) = keys.iter().position(|&known| known == key.trim()) else {
                return Err(wrong(format!("`{key}`: expected one of {}", keys.join(", "))));
            };
            if column.trim().is_empty() {
                return Err(wrong(format!("`{part}`: a column has a name")));
            }
            let column = column.trim();
            let other = names.iter().position(|name| name.as_deref() == Some(column));
            if let Some(other) = other.filter(|&other| other != place) {
                return Err(wrong(format!("column `{column}` is given for `{}` and `{key}`", keys[other])));
            }
            if names[place].replace(column.into()).is_some() {
                return Err(wrong(format!("`{key}` is given twice")));
            }
        }
        let [query, item, position, click, impressions, session] = names;
        if impressions.is_some() && session.is_some() {
            return Err(wrong("`impressions` and `session`: a line of a session is one impression".into()));
        }
        let needed =
            |name: Option<String>, key: &str| name.ok_or_else(|| wrong(format!("`{key}` is missing")));
        Ok(Self {
            query,
            item: needed(item, "item")?,
            position: needed(position, "position")?,
            click: needed(click, "click")?,
            impressions,
            session,
        })
    }

    /// Those of [`Counts::write_csv`](crate::Counts::write_csv).
    pub(crate) fn counts() -> Self {
        Self {
            query: Some("query".into()),
            item: "item".into(),
            position: "position".into(),
            click: "clicks".into(),
            impressions: Some("impressions".into()),
            session: None,
        }
    }

    /// The names, by role.
    pub(crate) fn by_role(&self) -> [Option<&str>; ROLES] {
        [
            self.query.as_deref(),
            Some(&self.item),
            Some(&self.position),
            Some(&self.click),
            self.impressions.as_deref(),
            self.session.as_deref(),
        ]
    }
}

/// What the user is asked for, where the user names columns.
pub(super) trait NamesColumns {
    fn columns(&self) -> &Columns;
}

impl NamesColumns for Columns {
    fn columns(&self) -> &Columns {
        self
    }
}

impl NamesColumns for Delimited {
    fn columns(&self) -> &Columns {
        &self.columns
    }
}

impl Format {
    /// Any table with a header: `query=..,item=..,position=..,click=..,impressions=..` say which column is what. Without `query` all is
    /// one query, called `all`; without `impressions` a line is one. Where `session=..` says which lines are one list, they stand
    /// together, from the first position down, and the order of clicks is known.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for what cannot be read so.
    pub fn delimited(columns: &str) -> Result<Self, Error> {
        Ok(Self::Delimited(Delimited { columns: Columns::parse(columns)?, delimiter: None }))
    }

    /// What [`Counts::write_csv`](crate::Counts::write_csv) writes: `query,item,position,clicks,impressions`.
    pub fn counts() -> Self {
        Self::Delimited(Delimited { columns: Columns::counts(), delimiter: None })
    }
}

pub(super) fn read<K: Keep>(
    table: &Delimited,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    keep: &K,
) -> Result<ReadReport, Error> {
    reader.read_lines(&TableLines { table, meaning: reader.meaning }, inputs, keep)
}

/// What columns may say, and the place of each among [`Columns::by_role`].
pub(crate) const ROLES: usize = 6;
pub(crate) const QUERY: usize = 0;
pub(crate) const ITEM: usize = 1;
pub(crate) const POSITION: usize = 2;
pub(crate) const CLICK: usize = 3;
pub(crate) const IMPRESSIONS: usize = 4;
pub(crate) const SESSION: usize = 5;

/// The list whose lines are being read, where a column names sessions.
#[derive(Default)]
pub(crate) struct OpenList {
    /// Of the lines: the session, and the query where there is one.
    key: Vec<u8>,
    query: Option<Id>,
    at: u64,
    items: Vec<Id>,
    clicks: u64,
    /// Whether a line of it was skipped.
    at_fault: bool,
}

impl OpenList {
    /// A line comes, perhaps a faulty one; another key than that of the line above ends the list.
    pub(crate) fn enter<S: Sink>(&mut self, key: &[u8], sink: &mut S) {
        if self.key != key {
            self.close(sink);
            self.key.clear();
            self.key.extend_from_slice(key);
        }
    }

    /// The next item of the list; `at` is its line's place in the log.
    pub(crate) fn push(&mut self, shown: &Shown, meaning: Meaning, at: u64) -> Result<(), Fault> {
        let next = self.items.len();
        if usize::from(shown.position) != next {
            return Err(Fault::OutOfOrder { next: meaning.named(next) });
        }
        if next == 0 {
            (self.query, self.at) = (Some(shown.query), at);
        }
        self.items.push(shown.item);
        self.clicks |= shown.clicks.min(1) << shown.position;
        Ok(())
    }

    /// A line of the list is skipped.
    pub(crate) fn skip(&mut self) {
        self.at_fault = true;
    }

    /// The list is over.
    pub(crate) fn close<S: Sink>(&mut self, sink: &mut S) {
        if let Some(query) = self.query.take() {
            sink.session(query, &self.items, self.clicks, self.at);
            if self.at_fault {
                sink.session_at_fault();
            }
        }
        self.items.clear();
        (self.clicks, self.at_fault) = (0, false);
    }
}

/// Where the columns stand in a file.
pub(crate) struct Layout {
    delimiter: u8,
    n_columns: usize,
    /// 0-based column of each role.
    columns: [Option<usize>; ROLES],
    names: Vec<String>,
}

/// What may stand between columns, in the order in which it is tried.
const DELIMITERS: [u8; 4] = [b'\t', b',', b';', b'|'];

/// What stands between columns, in words.
fn called(delimiter: u8) -> Cow<'static, str> {
    match delimiter {
        b'\t' => "tabs".into(),
        b',' => "commas".into(),
        b';' => "semicolons".into(),
        b'|' => "vertical bars".into(),
        other => format!("`{}`", char::from(other).escape_debug()).into(),
    }
}

impl Layout {
    /// Where the header has the columns, if this stands between them.
    fn new(named: &Columns, header: &[u8], delimiter: u8) -> Result<Self, String> {
        let fields = split(header, delimiter).map_err(|fault| fault.to_string())?;
        let names: Vec<String> =
            fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let mut columns = [None; ROLES];
        for (column, name) in columns.iter_mut().zip(named.by_role()) {
            let Some(name) = name else { continue };
            let mut places = (0..names.len()).filter(|&place| names[place] == name);
            *column = places.next();
            if column.is_none() {
                return Err(format!(
                    "no column `{name}` in the header, with {} between columns",
                    called(delimiter)
                ));
            }
            if places.next().is_some() {
                return Err(format!("two columns `{name}` in the header"));
            }
        }
        Ok(Self { delimiter, n_columns: names.len(), columns, names })
    }

    /// What the lines of one list have in common, session and query as they are written; nothing where there are no sessions.
    fn key(&self, line: &[u8], key: &mut Vec<u8>) {
        key.clear();
        let Some(session) = self.columns[SESSION] else { return };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let split = split(line, self.delimiter).unwrap_or_default();
        for column in [Some(session), self.columns[QUERY]].into_iter().flatten() {
            key.extend_from_slice(split.get(column).map_or(b"", AsRef::as_ref));
            // No field holds the end of a line.
            key.push(b'\n');
        }
    }
}

/// A table, and what its numbers mean.
pub(crate) struct TableLines<'a> {
    pub(crate) table: &'a Delimited,
    pub(crate) meaning: Meaning,
}

impl LineFormat for TableLines<'_> {
    type Layout = Layout;
    type Memory = (OpenList, Vec<u8>);
    const HEADER: bool = true;

    fn layout(&self, header: &[u8]) -> Result<Layout, String> {
        let delimiters = self.table.delimiter.as_ref().map_or(&DELIMITERS[..], std::slice::from_ref);
        let mut wrong = None;
        for &delimiter in delimiters {
            match Layout::new(&self.table.columns, header, delimiter) {
                Ok(layout) => return Ok(layout),
                Err(message) if header.contains(&delimiter) => wrong = wrong.or(Some(message)),
                Err(_) => {}
            }
        }
        if let Some(&delimiter) = delimiters.iter().find(|delimiter| header.contains(delimiter))
            && let Ok(columns) = split(header, delimiter)
            && !self.is_header(header)
        {
            let names: Vec<&str> = self.table.columns.by_role().into_iter().flatten().collect();
            let (names, n_columns) = (names.join("`, `"), columns.len());
            let between = called(delimiter);
            return Err(format!(
                "no header: none of the {n_columns} columns, with {between} between them, is called `{names}`"
            ));
        }
        Err(wrong.unwrap_or_else(|| {
            let name = self.table.columns.query.as_ref().unwrap_or(&self.table.columns.item);
            format!("no column `{name}` in the header, with a tab, comma, semicolon or vertical bar between columns")
        }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        let delimiters = self.table.delimiter.as_ref().map_or(&DELIMITERS[..], std::slice::from_ref);
        let named = self.table.columns.by_role();
        delimiters.iter().any(|&delimiter| {
            let columns = split(line, delimiter).unwrap_or_default();
            columns.iter().any(|column| named.contains(&Some(String::from_utf8_lossy(column).trim())))
        })
    }

    fn enter<S: Sink>(
        &self,
        layout: &Layout,
        line: &[u8],
        (list, key): &mut (OpenList, Vec<u8>),
        sink: &mut S,
    ) {
        if layout.columns[SESSION].is_some() {
            layout.key(line, key);
            list.enter(key, sink);
        }
    }

    fn line<S: Sink>(
        &self,
        layout: &Layout,
        line: &[u8],
        at: u64,
        (list, _): &mut (OpenList, Vec<u8>),
        sink: &mut S,
    ) -> Result<(), LineFault> {
        if memchr::memchr(b'"', line).is_some() {
            let fields = split(line, layout.delimiter).map_err(|fault| LineFault::new(fault, 0, b"\""));
            let fields = fields.inspect_err(|_| list.skip())?;
            let fields_of = layout.columns.map(|column| fields.get(column?).map(AsRef::as_ref));
            return self.shown(layout, fields.len(), fields_of, at, list, sink).inspect_err(|_| list.skip());
        }
        let mut fields: [Option<&[u8]>; ROLES] = [None; ROLES];
        let mut found = 0;
        let mut start = 0;
        for end in memchr::memchr_iter(layout.delimiter, line).chain([line.len()]) {
            for (field, column) in fields.iter_mut().zip(&layout.columns) {
                if *column == Some(found) {
                    *field = Some(&line[start..end]);
                }
            }
            found += 1;
            start = end + 1;
        }
        self.shown(layout, found, fields, at, list, sink).inspect_err(|_| list.skip())
    }

    fn end<S: Sink>(&self, (list, _): &mut (OpenList, Vec<u8>), sink: &mut S) {
        list.close(sink);
    }

    fn cut(&self, layout: &Layout, bytes: &[u8]) -> usize {
        if layout.columns[SESSION].is_none() {
            return after_last_line(bytes);
        }
        let (mut last, mut key) = (Vec::new(), Vec::new());
        cut_between(bytes, |lowest, above| {
            layout.key(lowest, &mut last);
            layout.key(above, &mut key);
            last == key
        })
    }

    fn column_name(&self, layout: &Layout, column: usize) -> String {
        layout.names.get(column.wrapping_sub(1)).cloned().unwrap_or_default()
    }
}

impl TableLines<'_> {
    /// What a line says; `found` is its number of columns, `fields` are those of each role.
    fn shown<S: Sink>(
        &self,
        layout: &Layout,
        found: usize,
        fields: [Option<&[u8]>; ROLES],
        at: u64,
        list: &mut OpenList,
        sink: &mut S,
    ) -> Result<(), LineFault> {
        let expected = layout.n_columns;
        if found != expected {
            // Nobody knows which column is which, and one that was not asked for, or the session's, may name users.
            let named = layout.columns.iter().flatten().count();
            let text = if named == expected && layout.columns[SESSION].is_none() {
                fields.map(Option::unwrap_or_default).join(&b' ')
            } else {
                b"..".into()
            };
            let fault = if found < expected {
                Fault::TooFewColumns { found, expected }
            } else {
                Fault::TooManyColumns { expected }
            };
            return Err(LineFault::new(fault, 0, &text[..text.len().min(MAX_TEXT)]));
        }
        let field = |role: usize| fields[role].unwrap_or_default();
        let clicks = || table_clicks(field(CLICK)).and_then(check_count);
        let impressions =
            || fields[IMPRESSIONS].map_or(Ok(1), |text| table_number(text).and_then(check_count));
        let in_role = |role: usize| {
            move |fault| {
                let column = layout.columns[role].map_or(0, |column| column + 1);
                LineFault::new(fault, column, field(role)).of(clicks(), impressions())
            }
        };
        let query = fields[QUERY].unwrap_or(ONE_QUERY);
        let query = sink.id(query).map_err(in_role(QUERY))?;
        let item = sink.id(field(ITEM)).map_err(in_role(ITEM))?;
        let position =
            table_number(field(POSITION)).and_then(|position| self.meaning.position(position, MAX_POSITIONS));
        let position = position.map_err(in_role(POSITION))?;
        let clicks = clicks().map_err(in_role(CLICK))?;
        let impressions = impressions().map_err(in_role(IMPRESSIONS))?;
        let clicks = self.meaning.clicks(clicks, impressions, sink).map_err(in_role(CLICK))?;
        let shown = Shown { query, item, clicks, impressions, position };
        match fields[SESSION] {
            None => sink.shown(shown, at),
            Some(b"") => return Err(in_role(SESSION)(Fault::Empty)),
            Some(_) => list.push(&shown, self.meaning, at).map_err(in_role(POSITION))?,
        }
        Ok(())
    }
}

/// The columns of a line that has quotation marks.
fn split(line: &[u8], delimiter: u8) -> Result<Vec<Cow<'_, [u8]>>, Fault> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        if rest.first() == Some(&b'"') {
            let mut field = Vec::new();
            rest = &rest[1..];
            loop {
                let end = memchr::memchr(b'"', rest).ok_or(Fault::UnclosedQuote)?;
                field.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                if rest.first() != Some(&b'"') {
                    break;
                }
                field.push(b'"');
                rest = &rest[1..];
            }
            fields.push(field.into());
            match rest {
                [] => return Ok(fields),
                [byte, after @ ..] if *byte == delimiter => rest = after,
                _ => return Err(Fault::UnclosedQuote),
            }
        } else {
            let Some(end) = memchr::memchr(delimiter, rest) else {
                fields.push(rest.into());
                return Ok(fields);
            };
            fields.push(rest[..end].into());
            rest = &rest[end + 1..];
        }
    }
}
