//! The receiver of parsed lines: either counts them, or only sums up the report.

use crate::fault::Fault;
use crate::names::{Id, TextHash};
use crate::table::Shown;

/// Receives the content of lines from a parser.
pub(crate) trait Sink {
    /// The identifier of a name.
    fn id(&mut self, name: &[u8]) -> Result<Id, Fault>;
    /// An item was shown; `at` is the line's place in the log.
    fn shown(&mut self, shown: Shown, at: u64);
    /// A list was shown, 64 items at most; bit `l` of `clicks` is position `l`.
    fn session(&mut self, query: Id, items: &[Id], clicks: u64, at: u64);
    /// Lines of the session reported last were skipped.
    fn session_at_fault(&mut self);
    /// Clicks on items that no list shows.
    fn clicks_outside(&mut self, clicks: u64);
    /// A line had this number of clicks above its impressions; they are not counted.
    fn clicks_clipped(&mut self, clicks: u64);
}

/// The sums of one thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) sessions: u64,
    pub(crate) sessions_at_fault: u64,
    pub(crate) sessions_with_repeats: u64,
    pub(crate) impressions: u64,
    pub(crate) clicks: u64,
    pub(crate) clicks_outside: u64,
    pub(crate) lines_clipped: u64,
    pub(crate) clicks_clipped: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn shown(&mut self, shown: &Shown) {
        self.impressions = self.impressions.saturating_add(shown.impressions);
        self.clicks = self.clicks.saturating_add(shown.clicks);
    }

    pub(crate) fn session(&mut self, items: &[Id], clicks: u64) {
        self.sessions += 1;
        // Lists are short, 64 items at most.
        let repeated = |place: usize| items[..place].contains(&items[place]);
        self.sessions_with_repeats += u64::from((1..items.len()).any(repeated));
        self.impressions = self.impressions.saturating_add(items.len() as u64);
        self.clicks = self.clicks.saturating_add(clicks.count_ones().into());
    }

    pub(crate) fn clicks_clipped(&mut self, clicks: u64) {
        self.lines_clipped += 1;
        self.clicks_clipped = self.clicks_clipped.saturating_add(clicks);
    }

    /// Adds the sums of another thread.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.sessions_at_fault += other.sessions_at_fault;
        self.sessions_with_repeats += other.sessions_with_repeats;
        self.lines_clipped += other.lines_clipped;
        for (mine, more) in [
            (&mut self.impressions, other.impressions),
            (&mut self.clicks, other.clicks),
            (&mut self.clicks_outside, other.clicks_outside),
            (&mut self.clicks_clipped, other.clicks_clipped),
        ] {
            *mine = mine.saturating_add(more);
        }
    }
}

/// Sums up the report only, and keeps no names.
#[derive(Debug)]
pub(crate) struct LookThrough {
    pub(crate) names: TextHash,
    pub(crate) tally: Tally,
}

impl Sink for LookThrough {
    #[inline]
    fn id(&mut self, name: &[u8]) -> Result<Id, Fault> {
        self.names.id(name)
    }

    #[inline]
    fn shown(&mut self, shown: Shown, _: u64) {
        self.tally.shown(&shown);
    }

    fn session(&mut self, _: Id, items: &[Id], clicks: u64, _: u64) {
        self.tally.session(items, clicks);
    }

    fn session_at_fault(&mut self) {
        self.tally.sessions_at_fault += 1;
    }

    fn clicks_outside(&mut self, clicks: u64) {
        self.tally.clicks_outside = self.tally.clicks_outside.saturating_add(clicks);
    }

    fn clicks_clipped(&mut self, clicks: u64) {
        self.tally.clicks_clipped(clicks);
    }
}
