//! The new ranking: one list for each query or session, or several with probabilities.

mod check;
mod names;
mod read;

pub use self::check::Row;
pub(crate) use self::check::TOLERANCE;

use self::names::Names;
use log_reader::{Columns, Format};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// The part of a log that new lists are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Queries.
    Query,
    /// Sessions: personal rankings.
    Session,
}

/// New lists by query or session.
///
/// # Examples
///
/// ```
/// use evaluation::Ranking;
///
/// let csv = "query,position,item\nshoes,1,boots\nshoes,2,sandals\n";
/// assert_eq!(Ranking::read("new.csv", csv.as_bytes())?.n_positions(), 2);
///
/// let gap = Ranking::read("new.csv", b"query,position,item\nshoes,2,boots\n");
/// assert_eq!(gap.unwrap_err().to_string(), "new.csv:2: column 2 (position): expected position 1 of `shoes`, found `2`");
/// # Ok::<(), evaluation::RankingError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ranking {
    pub(crate) key: Key,
    pub(crate) names: Names,
    /// The numbers of the names of all lists' items, list by list from the top.
    pub(crate) items: Vec<u32>,
    /// Lists in the order of names; those of a query follow each other and are equally long.
    pub(crate) lists: Vec<NewList>,
}

#[derive(Debug, Clone)]
pub(crate) struct NewList {
    /// The number of the name of its query or session.
    pub(crate) name: u32,
    pub(crate) probability: f64,
    /// The places of its items, 1 to 64, among those of all lists.
    pub(crate) items: Range<usize>,
}

/// A fault of a ranking, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RankingError {
    /// The file, as given; empty for rows in memory.
    pub file: String,
    /// 1-based line, or row in memory; 0 for the whole.
    pub line: u64,
    /// 1-based column and its name, if the fault is in one column.
    pub column: Option<(usize, &'static str)>,
    /// Description of the fault.
    pub message: String,
}

impl Ranking {
    /// The best lists of a model, which are learned from the log.
    pub fn learned() -> Self {
        Self { key: Key::Query, names: Names::default(), items: Vec::new(), lists: Vec::new() }
    }

    pub(crate) fn is_learned(&self) -> bool {
        self.lists.is_empty()
    }

    /// Reads a file: CSV with a header (`query` or `session`, `position`, `item`; `list` and
    /// `probability` if there are several lists), or a TREC run (`query Q0 item rank score tag`);
    /// plain or compressed with gzip.
    ///
    /// # Errors
    ///
    /// The file cannot be read; a line is invalid.
    pub fn open(path: &Path) -> Result<Self, RankingError> {
        Self::open_as(path, &Columns::default())
    }

    /// [`open`](Self::open), for a log of this format: where a header lacks `query`, `position` or
    /// `item`, the columns that the log has for it stand in their place.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_for(path: &Path, format: &Format) -> Result<Self, RankingError> {
        match format {
            Format::Delimited(columns) | Format::Parquet(columns) => Self::open_as(path, columns),
            _ => Self::open(path),
        }
    }

    fn open_as(path: &Path, columns: &Columns) -> Result<Self, RankingError> {
        let file = path.display().to_string();
        let opened = documents::open_regular(path).map_err(RankingError::unread);
        opened.and_then(|stream| read::read(stream, columns)).map_err(|error| RankingError { file, ..error })
    }

    /// Reads the content of a file; errors call it `name`.
    ///
    /// # Errors
    ///
    /// A line is invalid.
    pub fn read(name: &str, content: &[u8]) -> Result<Self, RankingError> {
        read::read(content, &Columns::default())
            .map_err(|error| RankingError { file: name.to_owned(), ..error })
    }

    /// A ranking of rows in memory.
    ///
    /// # Errors
    ///
    /// A row is invalid.
    pub fn from_rows<'a>(key: Key, rows: impl Iterator<Item = Row<'a>>) -> Result<Self, RankingError> {
        let mut all = check::Rows::new(check::COLUMNS);
        (1..).zip(rows).try_for_each(|(number, row)| all.add(number, row))?;
        all.ranking(key)
    }

    /// The ranking with queries as a log of this format spells them, or the query that has two
    /// different rankings then.
    pub(crate) fn of_log(mut self, format: &Format) -> Result<Self, String> {
        let name_of = |lists: &[NewList]| self.names.name(lists[0].name);
        let is_as_spelt = |lists: &[NewList]| format.query_name(name_of(lists)) == name_of(lists);
        if self.key == Key::Session || self.queries().all(is_as_spelt) {
            return Ok(self);
        }
        let mut queries: BTreeMap<String, Range<usize>> = BTreeMap::new();
        let mut first = 0;
        for lists in self.queries() {
            let places = first..first + lists.len();
            first = places.end;
            let name = format.query_name(name_of(lists)).into_owned();
            let known = &self.lists[queries.entry(name).or_insert(places).clone()];
            let content = |lists: &[NewList]| -> Vec<(f64, &[u32])> {
                lists.iter().map(|list| (list.probability, &self.items[list.items.clone()])).collect()
            };
            if content(known) != content(lists) {
                return Err(format.query_name(name_of(lists)).into_owned());
            }
        }
        let mut lists = Vec::with_capacity(self.lists.len());
        for (name, places) in queries {
            let name = self.names.number(&name);
            lists.extend(self.lists[places].iter().map(|list| NewList { name, ..list.clone() }));
        }
        Ok(Self { lists, ..self })
    }

    /// Positions of the longest list.
    pub fn n_positions(&self) -> usize {
        self.lists.iter().map(|list| list.items.len()).max().unwrap_or(0)
    }

    /// The names of a list's items, from the top.
    pub(crate) fn items(&self, list: &NewList) -> impl Iterator<Item = &str> {
        self.items[list.items.clone()].iter().map(|&item| self.names.name(item))
    }

    /// Two of its queries or sessions.
    pub(crate) fn examples(&self) -> String {
        let names = self.queries().map(|lists| self.names.name(lists[0].name));
        names.take(2).collect::<Vec<_>>().join("`, `")
    }

    /// The lists of each query or session.
    pub(crate) fn queries(&self) -> impl Iterator<Item = &[NewList]> {
        self.lists.chunk_by(|a, b| a.name == b.name)
    }
}

/// Rankings are equal if their lists are, whatever the order in which names came.
impl PartialEq for Ranking {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&NewList, &NewList)| {
            self.names.name(a.name) == other.names.name(b.name)
                && a.probability == b.probability
                && self.items(a).eq(other.items(b))
        };
        self.key == other.key
            && self.lists.len() == other.lists.len()
            && self.lists.iter().zip(&other.lists).all(is_same)
    }
}

impl RankingError {
    /// An error of a line.
    fn of(line: u64, message: impl Into<String>) -> Self {
        Self { file: String::new(), line, column: None, message: message.into() }
    }

    #[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
    fn unread(error: std::io::Error) -> Self {
        Self::of(0, error.to_string())
    }
}

impl fmt::Display for RankingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (self.file.as_str(), self.line) {
            ("", 0) => "ranking".to_owned(),
            // As the libraries of tables in memory count.
            ("", row) => format!("ranking: row {}", row - 1),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        };
        match self.column {
            Some((_, name)) if self.file.is_empty() => write!(f, "{place}, column `{name}`: "),
            Some((number, name)) => write!(f, "{place}: column {number} ({name}): "),
            None => write!(f, "{place}: "),
        }?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for RankingError {}
