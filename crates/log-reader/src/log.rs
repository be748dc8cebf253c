//! The content of a log after reading.

use crate::counts::Counts;
use crate::read_report::ReadReport;
use crate::session::Sessions;

/// The content of a log after reading.
#[derive(Debug, Clone)]
pub struct Log {
    /// Clicks and impressions of every (query, item, position).
    pub counts: Counts,
    /// The sessions, if the format has them and the reader keeps them
    /// ([`Reader::keep_sessions`](crate::Reader::keep_sessions)).
    pub sessions: Sessions,
    /// Counts of what was read and what was skipped.
    pub report: ReadReport,
}

/// A part of a log, as the one held out from fits. Its identifiers are those of the whole log.
#[derive(Debug, Clone)]
pub struct Part {
    /// As [`Log::counts`].
    pub counts: Counts,
    /// As [`Log::sessions`].
    pub sessions: Sessions,
}

impl From<Sessions> for Part {
    fn from(sessions: Sessions) -> Self {
        Self { counts: sessions.counts(), sessions }
    }
}
