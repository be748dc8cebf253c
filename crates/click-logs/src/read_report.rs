//! How much was read and what was skipped.

use crate::error::Place;
use std::collections::BTreeMap;
use std::fmt;

/// How much was read and what was skipped. The same for any number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReport {
    /// Files read.
    pub files: usize,
    /// Lines, headers apart; skipped ones too. In Parquet: rows.
    pub lines: u64,
    /// Bytes of them, decompressed.
    pub bytes: u64,
    /// Sessions, where the format has them.
    pub sessions: u64,
    /// Those of which a lenient reader skipped lines: the list ends above the first of them.
    pub sessions_at_fault: u64,
    /// Those whose list shows an item more than once: every place counts.
    pub sessions_with_repeats: u64,
    /// Items shown, in all lines.
    pub impressions: u64,
    /// Clicks on them.
    pub clicks: u64,
    /// Clicks on what was on no list; not counted elsewhere.
    pub clicks_outside: u64,
    /// Lines with more clicks than impressions, where these are clipped.
    pub lines_clipped: u64,
    /// The clicks that those lines have above their impressions; not counted elsewhere.
    pub clicks_clipped: u64,
    /// Files without a line, which a lenient reader passes over.
    pub empty_files: u64,
    /// Byte order marks that were taken off.
    pub byte_order_marks: u64,
    /// Lines that a lenient reader skipped, by [`Fault::reason`](crate::Fault::reason).
    pub skipped: BTreeMap<&'static str, Skipped>,
}

/// Lines that were skipped for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub lines: u64,
    /// Clicks that they have, as far as these can be read.
    pub clicks: u64,
    /// Impressions that they have, as far as these can be read.
    pub impressions: u64,
    /// The first of them.
    pub first: Place,
}

impl ReadReport {
    /// Lines skipped for whatever reason.
    pub fn n_skipped(&self) -> u64 {
        self.skipped.values().map(|skipped| skipped.lines).sum()
    }
}

impl fmt::Display for ReadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", some(self.lines, "line"))?;
        if self.sessions > 0 {
            write!(f, "{}", some(self.sessions, "session"))?;
            if self.sessions_at_fault > 0 {
                write!(f, " ({} of them cut short by skipped lines)", self.sessions_at_fault)?;
            }
            if self.sessions_with_repeats > 0 {
                write!(
                    f,
                    " ({} of them with an item more than once in the list)",
                    self.sessions_with_repeats
                )?;
            }
            write!(f, ", ")?;
        }
        write!(f, "{}, {}", some(self.impressions, "impression"), some(self.clicks, "click"))?;
        if self.clicks_outside > 0 {
            write!(f, " (and {} outside the lists)", self.clicks_outside)?;
        }
        if self.lines_clipped > 0 {
            let (clicks, lines) = (some(self.clicks_clipped, "click"), some(self.lines_clipped, "line"));
            write!(f, " (without {clicks} above the impressions of {lines})")?;
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
            write!(f, "\n  {reason}: {}", some(skipped.lines, "line"))?;
            if skipped.clicks > 0 || skipped.impressions > skipped.lines {
                let [impressions, clicks] =
                    [some(skipped.impressions, "impression"), some(skipped.clicks, "click")];
                write!(f, " ({impressions}, {clicks})")?;
            }
            write!(f, ", the first at {}", skipped.first)?;
        }
        Ok(())
    }
}

/// One line, two lines.
fn some(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
