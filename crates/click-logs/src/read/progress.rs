//! What threads report while they read, and the report or the error that all of it is.

use super::source::Totals;
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::report::{Report, Skipped};
use crate::sink::Tally;
use std::collections::BTreeMap;

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
