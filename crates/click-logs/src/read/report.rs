//! How much was read and what was skipped.

use super::source::Totals;
use super::{Fault, Shown, Sink};
use crate::error::{Error, ErrorKind, Place};
use crate::names::Id;
use std::collections::BTreeMap;
use std::fmt;

/// How much was read and what was skipped. The same for any number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Files read.
    pub files: usize,
    /// Lines, headers apart; skipped ones too. In Parquet: rows.
    pub lines: u64,
    /// Bytes of them, decompressed.
    pub bytes: u64,
    /// Sessions, where the format has them.
    pub sessions: u64,
    /// Items shown, in all lines.
    pub impressions: u64,
    /// Clicks on them.
    pub clicks: u64,
    /// Clicks on what was on no list; not counted elsewhere.
    pub clicks_outside: u64,
    /// Files without a line, which a lenient reader passes over.
    pub empty_files: u64,
    /// Byte order marks that a lenient reader took off.
    pub byte_order_marks: u64,
    /// Lines that a lenient reader skipped, by [`Fault::reason`].
    pub skipped: BTreeMap<&'static str, Skipped>,
}

/// Lines that were skipped for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub lines: u64,
    /// The first of them.
    pub first: Place,
}

impl Report {
    /// Lines skipped for whatever reason.
    pub fn n_skipped(&self) -> u64 {
        self.skipped.values().map(|skipped| skipped.lines).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", some(self.lines, "line"))?;
        if self.sessions > 0 {
            write!(f, "{}, ", some(self.sessions, "session"))?;
        }
        write!(f, "{}, {}", some(self.impressions, "impression"), some(self.clicks, "click"))?;
        if self.clicks_outside > 0 {
            write!(f, " (and {} outside the lists)", self.clicks_outside)?;
        }
        if self.empty_files > 0 {
            write!(f, "; {}", some(self.empty_files, "empty file"))?;
        }
        if self.byte_order_marks > 0 {
            write!(f, "; {} taken off", some(self.byte_order_marks, "byte order mark"))?;
        }
        if !self.skipped.is_empty() {
            write!(f, "; skipped {}", some(self.n_skipped(), "line"))?;
        }
        for (reason, skipped) in &self.skipped {
            write!(f, "\n  {reason}: {}, the first at {}", some(skipped.lines, "line"), skipped.first)?;
        }
        Ok(())
    }
}

/// One line, two lines.
fn some(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What one thread adds up while it reads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    sessions: u64,
    impressions: u64,
    clicks: u64,
    pub(crate) clicks_outside: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn shown(&mut self, shown: &Shown) {
        self.impressions = self.impressions.saturating_add(shown.impressions);
        self.clicks = self.clicks.saturating_add(shown.clicks);
    }

    pub(crate) fn session(&mut self, items: &[Id], clicks: u64) {
        self.sessions += 1;
        self.impressions = self.impressions.saturating_add(items.len() as u64);
        self.clicks = self.clicks.saturating_add(clicks.count_ones().into());
    }
}

/// A tally is a place for observations, too: for those who only look through.
impl Sink for Tally {
    #[inline]
    fn id(&mut self, name: &[u8]) -> Result<Id, Fault> {
        match crate::names::plain_number(name) {
            Some(number) => Ok(Id(number)),
            None if name.is_empty() => Err(Fault::Empty),
            None if std::str::from_utf8(name).is_err() => Err(Fault::NotUtf8),
            None => Ok(crate::names::text_id(name)),
        }
    }

    #[inline]
    fn shown(&mut self, shown: Shown, _: u64) {
        self.shown(&shown);
    }

    fn session(&mut self, _: Id, items: &[Id], clicks: u64, _: u64) {
        self.session(items, clicks);
    }

    fn clicks_outside(&mut self, clicks: u64) {
        self.clicks_outside = self.clicks_outside.saturating_add(clicks);
    }
}

/// What threads report, and what all of them together do.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) lines: u64,
    tally: Tally,
    /// Lines, where the first of them stands, and what it is.
    skipped: BTreeMap<&'static str, (u64, (usize, u64), Place)>,
    /// The first in the order of (file, line).
    failure: Option<((usize, u64), Error)>,
}

impl Progress {
    pub(crate) fn fail(&mut self, at: (usize, u64), error: Error) {
        if self.failure.as_ref().is_none_or(|(first, _)| at < *first) {
            self.failure = Some((at, error));
        }
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn skip(&mut self, fault: Fault, at: (usize, u64), place: Place) {
        self.add_skipped(fault.reason(), 1, at, place);
    }

    fn add_skipped(&mut self, reason: &'static str, lines: u64, at: (usize, u64), place: Place) {
        match self.skipped.entry(reason) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert((lines, at, place));
            }
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.0 += lines;
                if at < known.1 {
                    (known.1, known.2) = (at, place);
                }
            }
        }
    }

    pub(crate) fn absorb(&mut self, other: Self, tally: &Tally) {
        self.lines += other.lines;
        self.tally.sessions += tally.sessions;
        for (mine, more) in [
            (&mut self.tally.impressions, tally.impressions),
            (&mut self.tally.clicks, tally.clicks),
            (&mut self.tally.clicks_outside, tally.clicks_outside),
        ] {
            *mine = mine.saturating_add(more);
        }
        for (reason, (lines, at, place)) in other.skipped {
            self.add_skipped(reason, lines, at, place);
        }
        if let Some((at, error)) = other.failure {
            self.fail(at, error);
        }
    }

    /// The report, or the error that there was, or the one that too much was skipped.
    pub(crate) fn finish(self, totals: Totals, max_skipped: Option<f64>) -> Result<Report, Error> {
        if let Some((_, error)) = self.failure {
            return Err(error);
        }
        let Tally { sessions, impressions, clicks, clicks_outside } = self.tally;
        let skipped = self.skipped.into_iter();
        let report = Report {
            files: totals.files,
            lines: self.lines,
            bytes: totals.bytes,
            sessions,
            impressions,
            clicks,
            clicks_outside,
            empty_files: totals.empty_files,
            byte_order_marks: totals.byte_order_marks,
            skipped: skipped.map(|(reason, (lines, _, first))| (reason, Skipped { lines, first })).collect(),
        };
        if report.lines == 0 {
            return Err(Error::of(ErrorKind::Empty, "", "no line to read in any file"));
        }
        let share = report.n_skipped() as f64 / report.lines as f64;
        if share > max_skipped.unwrap_or(0.0) {
            let message = format!(
                "{:.2} % of the lines would have to be skipped, more than {:.2} %: {report}",
                100.0 * share,
                100.0 * max_skipped.unwrap_or(0.0),
            );
            return Err(Error::of(ErrorKind::TooManySkipped, "", message));
        }
        Ok(report)
    }
}
