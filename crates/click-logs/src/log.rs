//! What a log says, once it has been read.

use crate::counts::Counts;
use crate::read_report::ReadReport;
use crate::session::Sessions;

/// What a log says.
#[derive(Debug, Clone)]
pub struct Log {
    /// Clicks and impressions of every (query, item, position).
    pub counts: Counts,
    /// The sessions, if the format has them and [`Reader::keep_sessions`](crate::Reader::keep_sessions) was asked for.
    pub sessions: Sessions,
    /// What [`Reader::hold_out`](crate::Reader::hold_out) asked to keep apart.
    pub held_out: Option<HeldOut>,
    /// How much was read and what was skipped.
    pub report: ReadReport,
}

/// A part of a log that no fit is to see. Its identifiers are those of the rest.
#[derive(Debug, Clone)]
pub struct HeldOut {
    /// As [`Log::counts`].
    pub counts: Counts,
    /// As [`Log::sessions`].
    pub sessions: Sessions,
}
