//! The formats of logs: one row and one file each.
//!
//! A new format needs its file beside this one, a variant of [`Format`] and a row below. Names on
//! the command line and in experiments, the command's help and messages, and the README's table
//! come from the rows (`cargo xtask tables` writes the table).
//!
//! # Examples
//!
//! ```
//! use log_reader::formats::{find, names};
//! use log_reader::{Format, Reader};
//!
//! let row = find("kdd2012").unwrap();
//! assert_eq!(row.format(None)?, Format::Kdd2012);
//! let log = Reader::new(Format::Kdd2012).read("example", row.example.unwrap().as_bytes())?;
//! assert_eq!(log.counts.n_queries(), 1);
//!
//! // Formats whose columns the user names.
//! assert_eq!(names(|row| row.names_columns()), ["delimited", "parquet"]);
//! # Ok::<(), log_reader::Error>(())
//! ```

mod delimited;
mod frame;
mod json;
mod kdd2012;
mod named;
mod obd;
pub(super) mod parquet;
mod sessions;
mod table_rows;
pub(super) mod ubi;
mod yandex;

pub use self::frame::{Frame, ReadColumn};
pub use self::named::is_parquet;
pub use self::table_rows::Value;
pub(super) use self::table_rows::{Rows, TableOfRows, TableRows};
pub use self::ubi::Ubi;

use self::kdd2012::Kdd2012;
use self::sessions::SessionLines;
use self::yandex::Yandex;
use super::source::Input;
use super::{Meaning, Reader};
use crate::collect::Collector;
use crate::columns::Columns;
use crate::error::{Error, ErrorKind};
use crate::lists::LoggerColumns;
use crate::read_report::ReadReport;
use std::borrow::Cow;

/// The format of a log. [`rows`] describes each.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// KDD Cup 2012 track 2, `training.txt`.
    Kdd2012,
    /// Yandex Relevance Prediction, or Personalized Web Search of 2013.
    Yandex,
    /// A session a line, with a header.
    Sessions,
    /// Open Bandit Dataset.
    Obd,
    /// Any table with a header; the user names the columns.
    Delimited(Columns),
    /// A Parquet table; the user names the columns.
    Parquet(Columns),
    /// User Behavior Insights, as `OpenSearch` stores them.
    Ubi(Ubi),
}

static ROWS: [FormatRow; 7] = [
    FormatRow {
        name: "kdd2012",
        holds: "KDD Cup 2012 track 2, training.txt",
        description: "\
            KDD Cup 2012 track 2, `training.txt`: 12 tab-separated columns without header, `Click \
            Impression DisplayURL AdID AdvertiserID Depth Position QueryID KeywordID TitleID \
            DescriptionID UserID`. A line represents `Impression` sessions of one user, `Click` \
            of them with a click. Query and item are `QueryID` and `AdID`; the user is not read.",
        line: "\
            `Impression` sessions with the same user, ad, query and position, `Click` of them \
            with a click",
        query: "`QueryID`",
        propensities: "no",
        sessions: SessionsOf::None,
        format: Making::Fixed(|| Format::Kdd2012),
        example: Some(
            "\
            0\t3\t4298118681424644510\t7686695\t385\t3\t3\t1601\t5521\t7709\t576\t490234\n\
            1\t1\t4298118681424644510\t9027238\t385\t1\t1\t1601\t5521\t7709\t576\t490236\n",
        ),
    },
    FormatRow {
        name: "yandex",
        holds: "Yandex Relevance Prediction, or Personalized Web Search of 2013",
        description: "\
            Yandex Relevance Prediction: tab-separated, no header. A query has `SessionID \
            TimePassed Q QueryID RegionID` and ten URLs, a click `SessionID TimePassed C URL`. A \
            click belongs to the last list of its session that shows the URL. The name of a query \
            is `QueryID/RegionID`. Or Yandex Personalized Web Search of 2013: a query has \
            `SessionID TimePassed Q SERPID QueryID Terms` and ten pairs `URL,Domain`, a click \
            `SessionID TimePassed C SERPID URL`. The name of a query is `QueryID`; test queries \
            (`T`), whose clicks were withheld, are not counted.",
        line: "a query with ten results, or a click",
        query: "`QueryID/RegionID`; of 2013 `QueryID`",
        propensities: "no",
        sessions: SessionsOf::Log,
        format: Making::Fixed(|| Format::Yandex),
        example: Some(
            "\
            10\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n\
            10\t30\tC\t3\n",
        ),
    },
    FormatRow {
        name: "sessions",
        holds: "A session a line, with a header",
        description: "\
            One session a line, tab-separated, with a header: `query`, `urls` (comma-separated), \
            `clicked_mask` (a 0 or 1 for each URL), and optionally `region`, \
            `n_clicks_outside_top10`, `user`, `propensities` (comma-separated, of each URL at its \
            position), `list_propensity` and `stratum`. The name of a query with a region is \
            `query/region`, and within a stratum `query / stratum`, where a slash in the region or \
            the stratum is written `%2F`, and a percent sign `%25`. All files have regions or none, \
            and strata or none.",
        line: "\
            a session; tab-separated, with a header: `query`, `urls` (comma-separated), \
            `clicked_mask` (a 0 or 1 for each URL, `100`), optionally `region`, \
            `n_clicks_outside_top10`, `user`, `propensities` (comma-separated, of each URL at its \
            position), `list_propensity` and `stratum`",
        query: "`query` or `query/region`",
        propensities: "optional columns",
        sessions: SessionsOf::Log,
        format: Making::Fixed(|| Format::Sessions),
        example: Some(
            "\
            query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n\
            5\t1\t8,9,7\t100\t0\n",
        ),
    },
    FormatRow {
        name: "obd",
        holds: "Open Bandit Dataset",
        description: "\
            Open Bandit Dataset: CSV with the columns `item_id`, `position`, `click` and \
            `propensity_score`, among others. It has no queries: the only query is called `all`.",
        line: "a recommendation at a position",
        query: "`all`",
        propensities: "`propensity_score`",
        sessions: SessionsOf::None,
        format: Making::Fixed(|| Format::Obd),
        example: Some(
            "\
            ,timestamp,item_id,position,click,propensity_score\n\
            0,2019-11-24 00:00:34.762830+00:00,14,3,0,0.0125\n",
        ),
    },
    FormatRow {
        name: "delimited",
        holds: "Any table, or JSON lines, columns named with --columns",
        description: "\
            Any table with a header, or a JSON object a line; the user names the columns: without a \
            header `#1`, `#2` and so on, in JSON keys with points between them. Users and \
            propensities (of an item at its position, of the items down to it, of the list) may be \
            among them. Without `position`, a row is a list.",
        line: "clicks and impressions of an item at a position, or a list; columns by name",
        query: "a column, or `all`",
        propensities: "if columns name them",
        sessions: SessionsOf::Column,
        format: Making::Columns(Format::delimited),
        example: Some(
            "\
            query,item,position,click\n\
            shoes,a,1,1\n\
            shoes,b,2,0\n",
        ),
    },
    FormatRow {
        name: "parquet",
        holds: "A Parquet table, columns named with --columns",
        description: "\
            A Parquet table; the user names the columns. Row groups are read on all cores. Needs \
            the feature `parquet`.",
        line: "\
            the same, as Parquet; needs the feature `parquet`, which is off by default (it doubles \
            the code to compile)",
        query: "a column, or `all`",
        propensities: "if columns name them",
        sessions: SessionsOf::Column,
        format: Making::Columns(Format::parquet),
        example: None,
    },
    FormatRow {
        name: "ubi",
        holds: "User Behavior Insights of OpenSearch, queries and events",
        description: "\
            User Behavior Insights, as `OpenSearch` stores them: queries and events, a JSON object a \
            line, in any order and any number of files. An event joins its query by `query_id`. A \
            list has the hit ids of its query down to the deepest impression or click; without hit \
            ids or a document, its items are those of the events, by `ordinal`. The user is \
            `client_id`, the propensity of the list `query_attributes.list_propensity`, the stratum \
            that divides a query `query_attributes.stratum`. A second click on an item counts once. Lines of bulk requests, `_source`, arrays and answers of \
            `_search` are read as well.",
        line: "a query or an event of User Behavior Insights, a JSON object",
        query: "`user_query`, trimmed and in lower case",
        propensities: "`list_propensity`, if all queries have it",
        sessions: SessionsOf::Log,
        format: Making::Fixed(|| Format::Ubi(Ubi::default())),
        example: Some(
            "\
            {\"query_id\": \"q-1\", \"client_id\": \"c-1\", \"user_query\": \"red shoes\", \"query_response_hit_ids\": [\"a\", \"b\", \"c\"]}\n\
            {\"query_id\": \"q-1\", \"action_name\": \"impression\", \"event_attributes\": {\"object\": {\"object_id\": \"a\"}, \"position\": {\"ordinal\": 1}}}\n\
            {\"query_id\": \"q-1\", \"action_name\": \"click\", \"event_attributes\": {\"object\": {\"object_id\": \"b\"}, \"position\": {\"ordinal\": 2}}}\n",
        ),
    },
];

/// A row of the table of formats.
#[derive(Debug)]
pub struct FormatRow {
    /// Name on the command line and in experiments.
    pub name: &'static str,
    /// Content of the log, in a few words.
    pub holds: &'static str,
    /// Content of the log in full, with its columns. In Markdown.
    pub description: &'static str,
    /// Content of a line.
    pub line: &'static str,
    /// Name of a query.
    pub query: &'static str,
    /// Whether the format has propensities of the logger, and users.
    pub propensities: &'static str,
    /// Whether the format has sessions.
    pub sessions: SessionsOf,
    /// A log of a few lines; `None` for a binary format. If the user names the columns, they are
    /// called `query`, `item`, `position` and `click`.
    pub example: Option<&'static str>,
    format: Making,
}

/// Whether a format has sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionsOf {
    /// No.
    None,
    /// Yes.
    Log,
    /// If the user names a column for them.
    Column,
}

/// How a format is constructed.
#[derive(Debug)]
enum Making {
    /// With fixed columns.
    Fixed(fn() -> Format),
    /// From the columns that the user names.
    Columns(fn(&str) -> Result<Format, Error>),
}

/// Compares the names, which are unique.
impl PartialEq for FormatRow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl FormatRow {
    /// Returns whether the user names the columns.
    pub fn names_columns(&self) -> bool {
        matches!(self.format, Making::Columns(_))
    }

    /// Constructs the format. [`Columns::parse`] reads `columns`, which only formats whose columns
    /// the user names have.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if columns are given for fixed ones, are missing, or cannot be read.
    pub fn format(&self, columns: Option<&str>) -> Result<Format, Error> {
        let wrong = |message: String| Err(Error::of(ErrorKind::Settings, "columns", message));
        match (&self.format, columns) {
            (Making::Fixed(make), None) => Ok(make()),
            (Making::Columns(make), Some(columns)) => make(columns),
            (Making::Fixed(_), Some(_)) => {
                wrong(format!("format `{}` says itself which column is what", self.name))
            }
            (Making::Columns(_), None) => wrong(format!(
                "format `{}` has to be told which column is what, query=..,item=..,position=..,click=..",
                self.name
            )),
        }
    }
}

/// The table of formats.
pub fn rows() -> &'static [FormatRow] {
    &ROWS
}

/// The format of this name.
pub fn find(name: &str) -> Option<&'static FormatRow> {
    rows().iter().find(|row| row.name == name || row.name == "delimited" && name == "csv")
}

/// The names of the formats for which `passes` is true.
pub fn names(passes: impl Fn(&FormatRow) -> bool) -> Vec<&'static str> {
    rows().iter().filter(|row| passes(row)).map(|row| row.name).collect()
}

/// The table of formats in Markdown: lines, sessions, queries, propensities and columns of each.
pub fn table() -> String {
    let mut text = String::from(
        "| format | content of a line | sessions | query | propensities | columns |\n|---|---|---|---|---|---|\n",
    );
    for row in rows() {
        let sessions = match row.sessions {
            SessionsOf::None => "no",
            SessionsOf::Log => "yes",
            SessionsOf::Column => "if a column names them",
        };
        let columns = if row.names_columns() { "named by the user" } else { "fixed" };
        let name = format!("`{}`", row.name);
        text.extend([
            "| ",
            &[&name, row.line, sessions, row.query, row.propensities, columns].join(" | "),
            " |\n",
        ]);
    }
    text
}

impl Format {
    /// The format's row in the table.
    pub fn row(&self) -> &'static FormatRow {
        let place = match self {
            Self::Kdd2012 => 0,
            Self::Yandex => 1,
            Self::Sessions => 2,
            Self::Obd => 3,
            Self::Delimited(_) => 4,
            Self::Parquet(_) => 5,
            Self::Ubi(_) => 6,
        };
        &ROWS[place]
    }

    /// The format's name on the command line and in experiments.
    pub fn name(&self) -> &'static str {
        self.row().name
    }

    /// The columns that the user names, for formats without fixed columns.
    pub(crate) fn columns(&self) -> Option<&Columns> {
        match self {
            Self::Delimited(columns) | Self::Parquet(columns) => Some(columns),
            _ => None,
        }
    }

    pub(super) fn read(
        &self,
        reader: &Reader,
        inputs: Vec<Input<'_>>,
        collector: &Collector<'_>,
    ) -> Result<(ReadReport, LoggerColumns), Error> {
        // These formats define their first position.
        let meaning = Meaning { first_position: 1, ..reader.meaning };
        let mut logged = self.columns().map(Columns::logged).unwrap_or_default();
        if let [Input { frame: Some(frame), name, stop, .. }] = &inputs[..] {
            let Some(columns) = self.columns() else {
                let message = format!("format `{}` is no table of named columns", self.name());
                return Err(Error::of(ErrorKind::Settings, "format", message));
            };
            return Ok((reader.rows_of(&columns.into(), name, frame, collector, *stop)?, logged));
        }
        let report = match self {
            Self::Kdd2012 => reader.read_lines(&Kdd2012 { meaning }, inputs, collector),
            Self::Yandex => {
                logged.session = true;
                reader.read_lines(&Yandex, inputs, collector)
            }
            Self::Sessions => {
                let lines = SessionLines::new(meaning, collector.handing.is_some());
                let report = reader.read_lines(&lines, inputs, collector);
                logged = lines.logged();
                report.map(|report| ReadReport { strata: lines.strata(), ..report })
            }
            Self::Obd => {
                let columns = obd::columns(collector.handing.is_some());
                logged = columns.logged();
                reader.read_lines(&TableRows::new(&columns, meaning, collector), inputs, collector)
            }
            Self::Delimited(columns) => {
                reader.read_lines(&TableRows::new(columns, reader.meaning, collector), inputs, collector)
            }
            Self::Parquet(columns) => parquet::read(&columns.into(), reader, inputs, collector),
            Self::Ubi(ubi) => return ubi::read(ubi, reader, inputs, collector),
        };
        Ok((report?, logged))
    }

    /// The name that a query has in a log of this format: that of a ranking is normalised alike.
    pub fn query_name<'q>(&self, query: &'q str) -> Cow<'q, str> {
        if let Self::Ubi(ubi) = self { ubi.normalised(query) } else { Cow::Borrowed(query) }
    }

    /// Returns whether the format has sessions, and so the order of impressions and clicks.
    pub fn has_sessions(&self) -> bool {
        match self.row().sessions {
            SessionsOf::None => false,
            SessionsOf::Log => true,
            SessionsOf::Column => {
                self.columns().is_some_and(|columns| columns.session.is_some() || columns.are_lists())
            }
        }
    }
}
