//! Counts of what was read and what was skipped.

use crate::counts::Positions;
use crate::error::{Error, ErrorKind, Place};
use crate::names::Id;
use crate::read::Value;
use crate::table::LineCounts;
use documents::number::{counted, grouped};
use documents::parameters::IdType;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Counts of what was read and what was skipped. They do not depend on the number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadReport {
    /// Number of files.
    pub files: usize,
    /// Lines without headers, with skipped lines. In Parquet: rows.
    pub lines: u64,
    /// Decompressed bytes.
    pub bytes: u64,
    /// Sessions, if the format has them, without those left out.
    pub sessions: u64,
    /// Sessions left out since they have too many clicks; they count nowhere else but in lines.
    pub sessions_left_out: u64,
    /// Sessions that lost lines to a lenient reader: their lists end above the first skipped line.
    pub sessions_at_fault: u64,
    /// Sessions whose list shows an item more than once; every display counts.
    pub sessions_with_repeats: u64,
    /// Impressions of items.
    pub impressions: u64,
    /// Clicks on these impressions.
    pub clicks: u64,
    /// Clicks on items that no list shows; not counted elsewhere.
    pub clicks_outside: u64,
    /// Lines with more clicks than impressions, if the reader clips clicks.
    pub lines_clipped: u64,
    /// Clicks of those lines above their impressions; not counted elsewhere.
    pub clicks_clipped: u64,
    /// Files without lines, which a lenient reader accepts.
    pub empty_files: u64,
    /// Byte order marks that were removed.
    pub byte_order_marks: u64,
    /// The types of the names of items and of queries.
    pub ids: IdTypes,
    /// Lines that a lenient reader skipped, by [`Fault::reason`](crate::Fault::reason).
    pub skipped: BTreeMap<Cow<'static, str>, SkippedLines>,
    /// The positions at which items were shown.
    #[serde(skip)]
    pub(crate) positions: Positions,
    /// For a log of User Behavior Insights.
    pub ubi: Option<UbiReport>,
    /// Number of columns that divide queries into strata.
    #[serde(default)]
    pub strata: usize,
}

/// The types of the names of items and of queries: whether there are whole numbers, and texts. Text
/// files have texts. A column of Parquet or of a table in memory that has both is refused: 1 and
/// "1" would be one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdTypes([[bool; 2]; 2]);

impl IdTypes {
    /// Names of items and of queries of these types.
    pub fn new(items: IdType, queries: IdType) -> Self {
        Self([items, queries].map(|of| [!of.is_text(), of.is_text()]))
    }

    /// The types of the names of items and of queries.
    pub fn of(self) -> [IdType; 2] {
        self.0.map(|[whole, _]| if whole { IdType::Integer } else { IdType::Text })
    }

    #[inline]
    pub(crate) fn add(&mut self, item: Option<Value<'_>>, query: Option<Value<'_>>) {
        for ([whole, text], value) in self.0.iter_mut().zip([item, query]) {
            *whole |= matches!(value, Some(Value::Number(_) | Value::Negative(_)));
            *text |= matches!(value, Some(Value::Text(_)));
        }
    }

    /// Refuses a column of both types.
    pub(crate) fn check(self) -> Result<(), Error> {
        let Some(place) = self.0.iter().position(|found| *found == [true; 2]) else { return Ok(()) };
        let column = ["item", "query"][place];
        let message = format!("the column for `{column}` mixes whole numbers and texts: give all one type");
        Err(Error::of(ErrorKind::Header, "", message))
    }
}

/// Counts of the documents of a log of User Behavior Insights.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UbiReport {
    /// Queries, without repeated documents.
    pub queries: u64,
    /// Queries of which no event is known: their lists were not shown.
    pub queries_without_events: u64,
    /// Impressions and clicks that are events of these queries: all that were logged, those of an
    /// item outside the list or clicked before included.
    pub events: [u64; 2],
    /// Documents of queries without hits. They count only if all of their query are.
    pub without_hits: u64,
    /// Items of lists that their ordinals do not make: each counts at its place.
    pub without_list: u64,
    /// Documents of queries that repeat an equal one.
    pub repeated_queries: u64,
    /// Clicks on an item that was clicked in this list before.
    pub repeated_clicks: u64,
    /// Events of other actions.
    pub other_actions: u64,
    /// Documents of other applications.
    pub other_applications: u64,
    /// Events without an ordinal, in lists with hit ids.
    pub without_ordinal: u64,
    /// Ordinals that count from 0, and from 1, in lists with hit ids.
    pub bases: [UbiBase; 2],
    /// If clicks were read as rows: every list with hit ids, by the hash of its query's identifier,
    /// and a number that lists with the same words and the same items in the same order share.
    #[serde(skip)]
    pub lists: Vec<(u64, u64)>,
}

/// Ordinals with the same first position.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UbiBase {
    /// Their number.
    pub count: u64,
    /// The first ten characters of the earliest time.
    pub first_day: String,
}

impl UbiReport {
    /// Adds what a thread or a part of the queries counted.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.without_hits += other.without_hits;
        self.without_list += other.without_list;
        self.repeated_queries += other.repeated_queries;
        self.repeated_clicks += other.repeated_clicks;
        self.other_actions += other.other_actions;
        self.other_applications += other.other_applications;
        self.without_ordinal += other.without_ordinal;
    }
}

impl fmt::Display for UbiReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} quer{}", self.queries, if self.queries == 1 { "y" } else { "ies" })?;
        for (count, what) in [
            (self.queries_without_events, "without events, which are not lists"),
            (self.repeated_queries, "repeated"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        let [impressions, clicks] = self.events;
        if impressions + clicks > 0 {
            write!(
                f,
                "; their events are {}, {}",
                counted(impressions, "impression"),
                counted(clicks, "click")
            )?;
        }
        for (count, what) in [
            (self.without_hits, "document without hits"),
            (self.without_list, "item that counts without its list"),
            (self.repeated_clicks, "repeated click"),
            (self.other_actions, "event of another action"),
            (self.other_applications, "document of another application"),
            (self.without_ordinal, "event without ordinal"),
        ] {
            if count > 0 {
                write!(f, "; {count} x {what}")?;
            }
        }
        let [zero, one] = &self.bases;
        if zero.count > 0 && one.count > 0 {
            write!(
                f,
                "; ordinals count from 0 in {} events (first on {}) and from 1 in {} (first on {}): hit ids decide",
                zero.count, zero.first_day, one.count, one.first_day
            )?;
        }
        Ok(())
    }
}

/// The lines skipped for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLines {
    /// Number of lines.
    pub lines: u64,
    /// Their clicks, as far as they can be read.
    pub clicks: u64,
    /// Their impressions, as far as they can be read.
    pub impressions: u64,
    /// The first of these lines.
    pub first: Place,
}

impl ReadReport {
    pub(crate) fn add_shown(&mut self, clicks: u64, impressions: u64, positions: Positions) {
        self.impressions = self.impressions.saturating_add(impressions);
        self.clicks = self.clicks.saturating_add(clicks);
        self.positions.0 |= positions.0;
    }

    pub(crate) fn add_line(&mut self, shown: &LineCounts) {
        let position = u64::from(shown.impressions > 0) << shown.position;
        self.add_shown(shown.clicks, shown.impressions, Positions(position));
    }

    /// Adds a session whose `l`-th item was clicked if bit `l` of `clicks` is 1.
    pub(crate) fn add_session(&mut self, items: &[Id], positions: Positions, clicks: u64) {
        self.sessions += 1;
        // Lists are short, 64 items at most.
        let repeated = |place: usize| items[..place].contains(&items[place]);
        self.sessions_with_repeats += u64::from((1..items.len()).any(repeated));
        self.add_shown(clicks.count_ones().into(), items.len() as u64, positions);
    }

    /// Adds the counts of another part of the log, except those of skipped lines.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.files += other.files;
        self.positions.0 |= other.positions.0;
        self.ids
            .0
            .iter_mut()
            .flatten()
            .zip(other.ids.0.as_flattened())
            .for_each(|(mine, more)| *mine |= more);
        for (mine, more) in [
            (&mut self.lines, other.lines),
            (&mut self.bytes, other.bytes),
            (&mut self.sessions, other.sessions),
            (&mut self.sessions_left_out, other.sessions_left_out),
            (&mut self.sessions_at_fault, other.sessions_at_fault),
            (&mut self.sessions_with_repeats, other.sessions_with_repeats),
            (&mut self.impressions, other.impressions),
            (&mut self.clicks, other.clicks),
            (&mut self.clicks_outside, other.clicks_outside),
            (&mut self.lines_clipped, other.lines_clipped),
            (&mut self.clicks_clipped, other.clicks_clipped),
            (&mut self.empty_files, other.empty_files),
            (&mut self.byte_order_marks, other.byte_order_marks),
        ] {
            *mine = mine.saturating_add(more);
        }
    }

    /// Lines skipped for any reason.
    pub fn n_skipped(&self) -> u64 {
        self.skipped.values().map(|skipped| skipped.lines).sum()
    }
}

impl fmt::Display for ReadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", counted(self.lines, "line"))?;
        if self.sessions > 0 || self.sessions_left_out > 0 {
            write!(f, "{}", counted(self.sessions, "session"))?;
            if self.sessions_left_out > 0 {
                write!(f, " (and {} left out, with too many clicks)", grouped(self.sessions_left_out))?;
            }
            if self.sessions_at_fault > 0 {
                write!(f, " ({} of them cut short by skipped lines)", grouped(self.sessions_at_fault))?;
            }
            if self.sessions_with_repeats > 0 {
                write!(
                    f,
                    " ({} of them with an item more than once in the list)",
                    grouped(self.sessions_with_repeats)
                )?;
            }
            write!(f, ", ")?;
        }
        write!(f, "{}, {}", counted(self.impressions, "impression"), counted(self.clicks, "click"))?;
        if self.clicks_outside > 0 {
            write!(f, " (and {} outside the lists)", grouped(self.clicks_outside))?;
        }
        if self.lines_clipped > 0 {
            let (clicks, lines) =
                (counted(self.clicks_clipped, "click"), counted(self.lines_clipped, "line"));
            write!(f, " (without {clicks} above the impressions of {lines})")?;
        }
        if self.empty_files > 0 {
            write!(f, "; {}", counted(self.empty_files, "empty file"))?;
        }
        if self.byte_order_marks > 0 {
            write!(f, "; {} taken off", counted(self.byte_order_marks, "byte order mark"))?;
        }
        if let Some(ubi) = &self.ubi {
            write!(f, "; {ubi}")?;
        }
        if !self.skipped.is_empty() {
            write!(f, "; skipped {}", counted(self.n_skipped(), "line"))?;
        }
        for (reason, skipped) in &self.skipped {
            write!(f, "\n  {reason}: {}", counted(skipped.lines, "line"))?;
            if skipped.clicks > 0 || skipped.impressions > skipped.lines {
                let [impressions, clicks] =
                    [counted(skipped.impressions, "impression"), counted(skipped.clicks, "click")];
                write!(f, " ({impressions}, {clicks})")?;
            }
            write!(f, ", the first at {}", skipped.first)?;
        }
        Ok(())
    }
}
