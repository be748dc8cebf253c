//! The new ranking: one list for each query or session, or several with probabilities.

mod check;
mod read;

pub use self::check::Row;
pub(crate) use self::check::TOLERANCE;

use click_logs::Format;
use std::collections::BTreeMap;
use std::fmt;
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
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    pub(crate) key: Key,
    /// Lists by name; those of a query follow each other and are equally long.
    pub(crate) lists: Vec<NewList>,
}

/// A new list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewList {
    /// The name of its query or session.
    pub(crate) name: String,
    pub(crate) probability: f64,
    /// The names of the items from the top; 1 to 64.
    pub(crate) items: Vec<String>,
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
        Self { key: Key::Query, lists: Vec::new() }
    }

    /// Whether the lists are learned.
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
        let name = path.display().to_string();
        let mut content = Vec::new();
        documents::open_regular(path)
            .and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut content))
            .map_err(|error| RankingError { file: name.clone(), ..RankingError::of(0, error.to_string()) })?;
        Self::read(&name, &content)
    }

    /// Reads the content of a file; errors call it `name`.
    ///
    /// # Errors
    ///
    /// A line is invalid.
    pub fn read(name: &str, content: &[u8]) -> Result<Self, RankingError> {
        read::read(content).map_err(|error| RankingError { file: name.to_owned(), ..error })
    }

    /// A ranking of rows in memory.
    ///
    /// # Errors
    ///
    /// A row is invalid.
    pub fn from_rows<'a>(key: Key, rows: impl Iterator<Item = Row<'a>>) -> Result<Self, RankingError> {
        check::ranking(key, (1..).zip(rows).collect(), &check::COLUMNS)
    }

    /// The ranking with queries as a log of this format spells them, or the query that has two
    /// different rankings then.
    pub(crate) fn of_log(self, format: &Format) -> Result<Self, String> {
        if self.key == Key::Session {
            return Ok(self);
        }
        let mut queries: BTreeMap<String, &[NewList]> = BTreeMap::new();
        let is_same = |(a, b): (&NewList, &NewList)| (a.probability, &a.items) == (b.probability, &b.items);
        for lists in self.queries() {
            let first = queries.entry(format.query_name(&lists[0].name).into_owned()).or_insert(lists);
            if first.len() != lists.len() || !first.iter().zip(lists).all(is_same) {
                return Err(format.query_name(&lists[0].name).into_owned());
            }
        }
        let renamed = |(name, lists): (String, &[NewList])| {
            let list = |list: &NewList| NewList { name: name.clone(), ..list.clone() };
            lists.iter().map(list).collect::<Vec<_>>()
        };
        Ok(Self { key: self.key, lists: queries.into_iter().flat_map(renamed).collect() })
    }

    /// Positions of the longest list.
    pub fn n_positions(&self) -> usize {
        self.lists.iter().map(|list| list.items.len()).max().unwrap_or(0)
    }

    /// The lists of each query or session.
    pub(crate) fn queries(&self) -> impl Iterator<Item = &[NewList]> {
        self.lists.chunk_by(|a, b| a.name == b.name)
    }
}

impl RankingError {
    /// An error of a line.
    fn of(line: u64, message: impl Into<String>) -> Self {
        Self { file: String::new(), line, column: None, message: message.into() }
    }
}

impl fmt::Display for RankingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (self.file.as_str(), self.line) {
            ("", 0) => "ranking".to_owned(),
            ("", row) => format!("ranking: row {row}"),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        };
        write!(f, "{place}: ")?;
        if let Some((number, name)) = self.column {
            write!(f, "column {number} ({name}): ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RankingError {}
