//! Counts of what was read and what was skipped.

use crate::error::Place;
use std::collections::BTreeMap;
use std::fmt;

/// Counts of what was read and what was skipped. They do not depend on the number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReport {
    /// Number of files.
    pub files: usize,
    /// Lines without headers, with skipped lines. In Parquet: rows.
    pub lines: u64,
    /// Decompressed bytes.
    pub bytes: u64,
    /// Sessions, if the format has them.
    pub sessions: u64,
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
    /// Lines that a lenient reader skipped, by [`Fault::reason`](crate::Fault::reason).
    pub skipped: BTreeMap<&'static str, Skipped>,
}

/// The lines skipped for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
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
    /// Lines skipped for any reason.
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

/// A number with its noun: "1 line", "2 lines".
fn some(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
