//! The content of a log after reading.

use crate::counts::Counts;
use crate::read_report::ReadReport;
use crate::session::Sessions;
use std::borrow::Cow;

/// The content of a log after reading.
#[derive(Debug, Clone)]
pub struct Log {
    /// Clicks and impressions of every (query, item, position).
    pub counts: Counts,
    /// The sessions, if the format has them and the reader keeps them
    /// ([`Reader::keep_sessions`](crate::Reader::keep_sessions)).
    pub sessions: Sessions,
    /// The part that [`Reader::hold_out`](crate::Reader::hold_out) holds out.
    pub held_out: Option<Part>,
    /// Counts of what was read and what was skipped.
    pub report: ReadReport,
}

impl Log {
    /// Counts and sessions of the whole log, with what is held out.
    pub fn whole(&self) -> (Cow<'_, Counts>, Cow<'_, Sessions>) {
        match &self.held_out {
            None => (Cow::Borrowed(&self.counts), Cow::Borrowed(&self.sessions)),
            Some(held_out) => {
                let counts = self.counts.merged(&held_out.counts);
                (Cow::Owned(counts), Cow::Owned(self.sessions.with(&held_out.sessions)))
            }
        }
    }

    /// As [`Self::whole`], with the report; no copy of a log of which nothing is held out.
    pub fn into_whole(self) -> (Counts, Sessions, ReadReport) {
        if self.held_out.is_none() {
            return (self.counts, self.sessions, self.report);
        }
        let (counts, sessions) = self.whole();
        (counts.into_owned(), sessions.into_owned(), self.report.clone())
    }
}

/// A part of a log, as the one held out from fits. Its identifiers are those of the whole log.
#[derive(Debug, Clone)]
pub struct Part {
    /// As [`Log::counts`].
    pub counts: Counts,
    /// As [`Log::sessions`].
    pub sessions: Sessions,
}
