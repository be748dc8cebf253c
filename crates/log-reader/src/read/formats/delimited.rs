//! Any table with a header and one (query, item, position) a line; the user names the columns.
//!
//! A quoted column may contain the delimiter, line ends, and a quotation mark written twice. Other
//! columns than the named ones are not read. Positions count from 1 or, if the reader is set so,
//! from 0.
//!
//! If a column names sessions, the lines with the same session and query are one list, wherever
//! they stand. If a line of a list is skipped, the list ends above it; such lists are counted.
//! Names of sessions are neither kept nor shown.

use super::Format;
use crate::collect::Batches;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::fields::{check_count, table_clicks, table_number};
use crate::read::line::{LineFault, LineFormat, MAX_TEXT};
use crate::read::marks::{CutLine, Cuts, after_last_record};
use crate::read::meaning::Meaning;
use crate::read::open_lists::{KeyHash, OpenLists, Spot};
use crate::table::Shown;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The columns by role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The query. `None`: the only query is called `all`.
    pub query: Option<String>,
    /// The item.
    pub item: String,
    /// Its position, from 1 to 64 (0 to 63 if the reader counts from 0).
    pub position: String,
    /// Clicks on it.
    pub click: String,
    /// Impressions of it. `None`: one per line.
    pub impressions: Option<String>,
    /// The session, one list that a user saw. `None`: the order of clicks is unknown.
    pub session: Option<String>,
}

/// The name of the query in a log without queries.
pub(crate) const ONE_QUERY: &[u8] = b"all";

impl Columns {
    /// Reads `query=..,item=..,position=..,click=..,impressions=..,session=..`; `query`,
    /// `impressions` and `session` may be missing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for an unknown, repeated or missing key, a key without a column, one
    /// column for two keys, or both `impressions` and `session`.
    ///
    /// # Examples
    ///
    /// ```
    /// use log_reader::Columns;
    ///
    /// let columns = Columns::parse("item=ad,position=rank,click=clicked")?;
    /// assert_eq!((columns.item.as_str(), columns.query), ("ad", None));
    /// # Ok::<(), log_reader::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let pair = |part: &'_ str| {
            let pair =
                part.split_once('=').map(|(key, column)| (key.trim().to_owned(), column.trim().to_owned()));
            pair.ok_or_else(|| wrong(format!("`{part}`: expected key=column")))
        };
        Self::named(text.split(',').map(pair).collect::<Result<Vec<_>, _>>()?)
    }

    /// The columns of pairs of key and column.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn named(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let keys = Self::KEYS;
        let mut names: [Option<String>; ROLES] = Default::default();
        for (key, column) in pairs {
            let Some(place) = keys.iter().position(|&known| known == key) else {
                return Err(wrong(format!("`{key}`: expected one of {}", keys.join(", "))));
            };
            if column.is_empty() {
                return Err(wrong(format!("`{key}=`: a column has a name")));
            }
            let other = names.iter().position(|name| name.as_ref() == Some(&column));
            if let Some(other) = other.filter(|&other| other != place) {
                return Err(wrong(format!("column `{column}` is given for `{}` and `{key}`", keys[other])));
            }
            if names[place].replace(column).is_some() {
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

    /// The keys of columns, by role.
    pub const KEYS: [&str; ROLES] = ["query", "item", "position", "click", "impressions", "session"];

    /// The columns of [`Counts::write_csv`](crate::Counts::write_csv).
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

    /// The names of the columns, by role.
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

/// The place of each role's column among the names of a table.
pub(super) fn places<N: AsRef<str>>(columns: &Columns, names: &[N]) -> Result<Places, String> {
    let mut places = [None; ROLES];
    for (place, name) in places.iter_mut().zip(columns.by_role()) {
        let Some(name) = name else { continue };
        let mut found = (0..names.len()).filter(|&place| names[place].as_ref() == name);
        *place = Some(found.next().ok_or_else(|| format!("no column `{name}`"))?);
        if found.next().is_some() {
            return Err(format!("two columns `{name}`"));
        }
    }
    Ok(places)
}

fn wrong(message: String) -> Error {
    Error::of(ErrorKind::Settings, "columns", message)
}

impl Format {
    /// Any table with a header, whose columns are named as for [`Columns::parse`]. With
    /// `session=..`, the order of clicks is known; all lists are in memory until the log is read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the names cannot be read.
    pub fn delimited(columns: &str) -> Result<Self, Error> {
        Ok(Self::Delimited(Columns::parse(columns)?))
    }

    /// The table that [`Counts::write_csv`](crate::Counts::write_csv) writes.
    pub fn counts() -> Self {
        Self::Delimited(Columns::counts())
    }

    /// The same table in files, all Parquet, by their first bytes or names, or all delimited.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for files of both kinds, and as [`parquet_of`](Self::parquet_of).
    pub fn counts_of<P: AsRef<Path>>(files: &[P]) -> Result<Self, Error> {
        match files.iter().filter(|path| is_parquet(path.as_ref())).count() {
            0 => Ok(Self::counts()),
            all if all == files.len() => Self::parquet_of(Columns::counts()),
            _ => {
                let message = "some of the files are Parquet and some are not: expected files of one kind";
                Err(Error::of(ErrorKind::Settings, "counts", message))
            }
        }
    }
}

/// Whether a file is Parquet, by its first bytes or its name.
fn is_parquet(path: &Path) -> bool {
    let mut beginning = [0; 4];
    // A pipe can be read only once, so its bytes are not checked.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let of_content = is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && beginning == *b"PAR1";
    of_content || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// The roles of columns; each is an index into [`Columns::by_role`].
pub(crate) const ROLES: usize = 6;
/// The 0-based column of each role.
pub(super) type Places = [Option<usize>; ROLES];
pub(crate) const QUERY: usize = 0;
pub(crate) const ITEM: usize = 1;
pub(crate) const POSITION: usize = 2;
pub(crate) const CLICK: usize = 3;
pub(crate) const IMPRESSIONS: usize = 4;
pub(crate) const SESSION: usize = 5;

/// The indices of the columns in a file.
pub(super) struct Layout {
    delimiter: u8,
    n_columns: usize,
    columns: Places,
    names: Vec<String>,
}

/// The delimiters, in the order of trial, and how messages call them.
const DELIMITERS: [(u8, &str); 4] =
    [(b'\t', "tabs"), (b',', "commas"), (b';', "semicolons"), (b'|', "vertical bars")];

impl Layout {
    /// The indices of the columns in the header, if this is the delimiter.
    fn new(named: &Columns, header: &[u8], delimiter: u8, called: &str) -> Result<Self, String> {
        let fields = split(header, delimiter).map_err(|fault| fault.to_string())?;
        let names: Vec<String> =
            fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let columns = places(named, &names)
            .map_err(|message| format!("{message} in the header, with {called} between columns"))?;
        Ok(Self { delimiter, n_columns: names.len(), columns, names })
    }
}

/// A table, and the meaning of its numbers.
pub(super) struct TableLines<'a> {
    table: &'a Columns,
    meaning: Meaning,
    hash: KeyHash,
}

impl<'a> TableLines<'a> {
    pub(super) fn new(table: &'a Columns, meaning: Meaning) -> Self {
        Self { table, meaning, hash: KeyHash::default() }
    }
}

impl LineFormat for TableLines<'_> {
    type Layout = Layout;
    type Memory = OpenLists;
    const HEADER: bool = true;

    fn layout(&self, header: &[u8]) -> Result<Layout, String> {
        let mut wrong = None;
        for (delimiter, called) in DELIMITERS {
            match Layout::new(self.table, header, delimiter, called) {
                Ok(layout) => return Ok(layout),
                Err(message) if header.contains(&delimiter) => wrong = wrong.or(Some(message)),
                Err(_) => {}
            }
        }
        if let Some((delimiter, called)) = DELIMITERS.iter().find(|(delimiter, _)| header.contains(delimiter))
            && let Ok(columns) = split(header, *delimiter)
            && !self.is_header(header)
        {
            let names: Vec<&str> = self.table.by_role().into_iter().flatten().collect();
            let (names, n_columns) = (names.join("`, `"), columns.len());
            return Err(format!(
                "no header: none of the {n_columns} columns, with {called} between them, is called `{names}`"
            ));
        }
        Err(wrong.unwrap_or_else(|| {
            let name = self.table.query.as_ref().unwrap_or(&self.table.item);
            format!("no column `{name}` in the header, with a tab, comma, semicolon or vertical bar between columns")
        }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        let named = self.table.by_role();
        DELIMITERS.iter().any(|&(delimiter, _)| {
            let columns = split(line, delimiter).unwrap_or_default();
            columns.iter().any(|column| named.contains(&Some(String::from_utf8_lossy(column).trim())))
        })
    }

    fn cuts(&self, layout: &Layout) -> Cuts {
        Cuts { delimiter: layout.delimiter, quotes: true }
    }

    #[inline]
    fn line(
        &self,
        layout: &Layout,
        line: CutLine<'_>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let fields = layout.columns.map(|column| line.get(column?));
        self.count_line(layout, line.n_columns(), fields, at, lists, batches)
    }

    fn quoted(
        &self,
        layout: &Layout,
        line: &[u8],
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let fields = split(line, layout.delimiter).map_err(|fault| LineFault::new(fault, 0, b"\""))?;
        let by_role = layout.columns.map(|column| fields.get(column?).map(AsRef::as_ref));
        self.count_line(layout, fields.len(), by_role, at, lists, batches)
    }

    fn open_lists(lists: OpenLists) -> OpenLists {
        lists
    }

    fn cut(&self, layout: &Layout, bytes: &[u8]) -> usize {
        after_last_record(bytes, layout.delimiter)
    }

    fn column_name(&self, layout: &Layout, column: usize) -> String {
        layout.names.get(column.wrapping_sub(1)).cloned().unwrap_or_default()
    }
}

impl TableLines<'_> {
    /// Reads a line, and notes a fault in its list.
    #[inline]
    fn count_line(
        &self,
        layout: &Layout,
        found: usize,
        fields: [Option<&[u8]>; ROLES],
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let Some(session) = fields[SESSION].filter(|_| layout.columns[SESSION].is_some()) else {
            let shown = self.read(layout, found, fields, batches)?;
            if let Some(shown) = shown {
                batches.count_shown(shown, at.at);
            }
            return Ok(());
        };
        let query = self.hash.of_text(fields[QUERY].unwrap_or_default());
        let key = self.hash.of_both(self.hash.of_text(session), query);
        let shown = self.read(layout, found, fields, batches).inspect_err(|_| lists.skip(key, at))?;
        if let Some(shown) = shown {
            lists.push(key, &shown, at, layout.columns[POSITION].map_or(0, |column| column + 1));
        }
        Ok(())
    }

    /// Reads a line of `found` columns; `None` if its position is not wanted.
    fn read(
        &self,
        layout: &Layout,
        found: usize,
        fields: [Option<&[u8]>; ROLES],
        batches: &mut Batches<'_>,
    ) -> Result<Option<Shown>, LineFault> {
        let expected = layout.n_columns;
        if found != expected {
            // The columns cannot be assigned; nothing is shown if one of them may identify users.
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
        let position =
            table_number(field(POSITION)).and_then(|position| self.meaning.position(position, u64::MAX));
        if position == Ok(None) {
            return Ok(None);
        }
        if layout.columns[SESSION].is_some() && field(SESSION).is_empty() {
            return Err(in_role(SESSION)(Fault::Empty));
        }
        let query = fields[QUERY].unwrap_or(ONE_QUERY);
        let query = batches.id(query).map_err(in_role(QUERY))?;
        let item = batches.id(field(ITEM)).map_err(in_role(ITEM))?;
        let position = position.map_err(in_role(POSITION))?;
        let clicks = clicks().map_err(in_role(CLICK))?;
        let impressions = impressions().map_err(in_role(IMPRESSIONS))?;
        let clicks = self.meaning.clicks(clicks, impressions, batches).map_err(in_role(CLICK))?;
        Ok(position.map(|position| Shown { query, item, clicks, impressions, position }))
    }
}

/// Splits a line with quotation marks into columns.
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
