//! The formats of logs: one row and one file each.
//!
//! A new format needs its file beside this one and its row below. Names on the command line and in experiments, the command's help and
//! messages, and the README's table come from the rows (`cargo run -p click-logs --example formats` writes the table). The crate's tests
//! read every row's example.
//!
//! # Examples
//!
//! ```
//! use click_logs::formats::{find, names, rows};
//! use click_logs::{Format, Reader};
//!
//! let row = find("kdd2012").unwrap();
//! assert_eq!(row.format(None)?, Format::Kdd2012);
//! let log = Reader::new(Format::Kdd2012).read("example", row.example.unwrap().as_bytes())?;
//! assert_eq!(log.counts.n_queries(), 1);
//!
//! // Formats whose columns the user names.
//! assert_eq!(names(|row| row.names_columns()), ["delimited", "parquet"]);
//! # Ok::<(), click_logs::Error>(())
//! ```

mod define;
mod delimited;
mod frame;
mod kdd2012;
mod obd;
mod parquet;
mod row;
mod rows;
mod sessions;
pub mod table;
mod yandex;

pub use self::delimited::{Columns, Delimited};
pub use self::frame::{Frame, ReadColumn};
pub use self::row::{FormatRow, SessionsOf};
pub use self::rows::Value;

use self::define::formats;
use self::delimited::NamesColumns;
use self::row::Making;
use super::Reader;
use super::source::Input;
use crate::collect::Collector;
use crate::error::Error;
use crate::read_report::ReadReport;

formats! {
    /// KDD Cup 2012 track 2, `training.txt`: 12 tab-separated columns without header, `Click Impression DisplayURL AdID AdvertiserID
    /// Depth Position QueryID KeywordID TitleID DescriptionID
    /// UserID`. A line represents `Impression` sessions of one user, `Click` of them with a click. Query and item are `QueryID` and `AdID`;
    /// the user is not read.
    Kdd2012 = "kdd2012" in kdd2012 {
        holds: "KDD Cup 2012 track 2, training.txt",
        line: "`Impression` sessions with the same user, ad, query and position, `Click` of them with a click",
        query: "`QueryID`",
        sessions: SessionsOf::None,
        making: Making::Fixed(Format::Kdd2012),
        example: Some("\
            0\t3\t4298118681424644510\t7686695\t385\t3\t3\t1601\t5521\t7709\t576\t490234\n\
            1\t1\t4298118681424644510\t9027238\t385\t1\t1\t1601\t5521\t7709\t576\t490236\n"),
    }

    /// Yandex Relevance Prediction: tab-separated, no header. A query has `SessionID TimePassed Q QueryID RegionID` and ten URLs, a click
    /// `SessionID TimePassed C URL`. A click belongs to the last list of its session that shows the URL. The name of a query is
    /// `QueryID/RegionID`. Or Yandex Personalized Web Search of 2013: a query has `SessionID TimePassed Q SERPID QueryID Terms` and ten pairs
    /// `URL,Domain`, a click `SessionID TimePassed C SERPID URL`. The name of a query is `QueryID`; test queries (`T`), whose clicks were
    /// withheld, are not counted.
    Yandex = "yandex" in yandex {
        holds: "Yandex Relevance Prediction, or Personalized Web Search of 2013",
        line: "a query with ten results, or a click",
        query: "`QueryID/RegionID`; of 2013 `QueryID`",
        sessions: SessionsOf::Log,
        making: Making::Fixed(Format::Yandex),
        example: Some("\
            10\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n\
            10\t30\tC\t3\n"),
    }

    /// One session a line, tab-separated, with a header: `query`, `urls` (comma-separated), `clicked_mask` (a 0 or 1 for each URL), and
    /// optionally `region` and `n_clicks_outside_top10`. The name of a query with a region is `query/region`, where a slash in
    /// the region is written `%2F`. All files have regions or none.
    Sessions = "sessions" in sessions {
        holds: "A session a line, with a header",
        line: "a session; tab-separated, with a header: `query`, `urls` (comma-separated), `clicked_mask` (a 0 or 1 for each URL, `100`), optionally `region` and `n_clicks_outside_top10`",
        query: "`query` or `query/region`",
        sessions: SessionsOf::Log,
        making: Making::Fixed(Format::Sessions),
        example: Some("\
            query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n\
            5\t1\t8,9,7\t100\t0\n"),
    }

    /// Open Bandit Dataset: CSV with the columns `item_id`, `position` and `click`, among others. It has no queries: the only query is
    /// called `all`.
    Obd = "obd" in obd {
        holds: "Open Bandit Dataset",
        line: "a recommendation at a position",
        query: "`all`",
        sessions: SessionsOf::None,
        making: Making::Fixed(Format::Obd),
        example: Some("\
            ,timestamp,item_id,position,click,propensity_score\n\
            0,2019-11-24 00:00:34.762830+00:00,14,3,0,0.0125\n"),
    }

    /// Any table with a header; the user names the columns.
    Delimited(table: Delimited) = "delimited" in delimited {
        holds: "Any table with a header, columns named with --columns",
        line: "clicks and impressions of an item at a position, columns by name",
        query: "a column, or `all`",
        sessions: SessionsOf::Column,
        making: Making::Columns(Format::delimited),
        example: Some("\
            query,item,position,click\n\
            shoes,a,1,1\n\
            shoes,b,2,0\n"),
    }

    /// A Parquet table; the user names the columns. Row groups are read on all cores. Needs the
    /// feature `parquet`.
    Parquet(columns: Columns) = "parquet" in parquet {
        holds: "A Parquet table, columns named with --columns",
        line: "the same, as Parquet; needs the feature `parquet`, which is off by default (it adds a C library)",
        query: "a column, or `all`",
        sessions: SessionsOf::Column,
        making: Making::Columns(Format::parquet),
        example: None,
    }
}

/// The table of formats.
pub fn rows() -> &'static [FormatRow] {
    &ROWS
}

/// The format of this name.
pub fn find(name: &str) -> Option<&'static FormatRow> {
    rows().iter().find(|row| row.name == name)
}

/// The names of the formats for which `passes` is true.
pub fn names(passes: impl Fn(&FormatRow) -> bool) -> Vec<&'static str> {
    rows().iter().filter(|row| passes(row)).map(|row| row.name).collect()
}

impl Format {
    /// Whether the format has sessions, and so the order of impressions and clicks.
    pub fn has_sessions(&self) -> bool {
        match self.row().sessions {
            SessionsOf::None => false,
            SessionsOf::Log => true,
            SessionsOf::Column => self.columns().is_some_and(|columns| columns.session.is_some()),
        }
    }
}
