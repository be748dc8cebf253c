//! Faults of a line.

use std::fmt;

/// A fault of a line. A strict reader stops at it; a lenient one skips the line and counts it by [`reason`](Fault::reason).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Fewer columns than the format has.
    TooFewColumns {
        /// Columns of the line.
        found: usize,
        /// Columns of the format.
        expected: usize,
    },
    /// More columns than the format has.
    TooManyColumns {
        /// Columns of the format.
        expected: usize,
    },
    /// An empty field where a value is required.
    Empty,
    /// A field that is not a number where a number is required.
    NotANumber,
    /// A negative number.
    Negative,
    /// A number that is too large to count.
    TooLarge {
        /// The largest number.
        max: u64,
    },
    /// More clicks than impressions.
    ClicksAboveImpressions {
        /// Impressions of the line.
        impressions: u64,
    },
    /// Position 0, where positions count from 1.
    PositionZero,
    /// A position beyond the end of the list.
    PositionBeyondDepth {
        /// The last position of the list, or the last one supported.
        last: u64,
    },
    /// The lines of a list do not have every position from the first on, once.
    OutOfOrder {
        /// The expected position, as the log counts.
        next: u64,
    },
    /// A list without items, or with more than 64.
    BadDepth,
    /// A line of an unknown kind.
    UnknownKind,
    /// The number of click marks differs from the number of items.
    ListLength {
        /// Marks found.
        found: usize,
        /// Marks expected.
        expected: usize,
    },
    /// A mark that is neither 0 nor 1.
    NotAMark,
    /// A name that is not UTF-8.
    NotUtf8,
    /// A quotation mark without its partner on the line.
    UnclosedQuote,
    /// Names of columns where the format has no header.
    UnexpectedHeader,
}

impl Fault {
    /// The reason by which skipped lines are counted.
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooFewColumns { .. } => "too few columns",
            Self::TooManyColumns { .. } => "too many columns",
            Self::Empty => "empty column",
            Self::NotANumber => "not a number",
            Self::Negative => "negative number",
            Self::TooLarge { .. } => "number too large",
            Self::ClicksAboveImpressions { .. } => "more clicks than impressions",
            Self::PositionZero => "position 0",
            Self::PositionBeyondDepth { .. } => "position beyond the list",
            Self::OutOfOrder { .. } => "session out of order",
            Self::BadDepth => "bad length of the list",
            Self::UnknownKind => "unknown kind of line",
            Self::ListLength { .. } => "wrong number of click marks",
            Self::NotAMark => "click mark other than 0 and 1",
            Self::NotUtf8 => "not UTF-8",
            Self::UnclosedQuote => "unclosed quotation mark",
            Self::UnexpectedHeader => "header where the format has none",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewColumns { found: 1, expected } => write!(f, "1 column, expected {expected}"),
            Self::TooFewColumns { found, expected } => write!(f, "{found} columns, expected {expected}"),
            Self::TooManyColumns { expected } => write!(f, "more columns than the {expected} expected"),
            Self::Empty => write!(f, "nothing there"),
            Self::NotANumber => write!(f, "expected a whole number"),
            Self::Negative => write!(f, "a negative number"),
            Self::TooLarge { max } => write!(f, "larger than {max}"),
            Self::ClicksAboveImpressions { impressions } => {
                let end = if *impressions == 1 { "" } else { "s" };
                write!(f, "more clicks than the {impressions} impression{end}")
            }
            Self::PositionZero => write!(f, "positions count from 1"),
            Self::PositionBeyondDepth { last } => write!(f, "a position below the last, {last}"),
            Self::OutOfOrder { next } => write!(
                f,
                "expected position {next} of this session: its list shows every position from the first on, once"
            ),
            Self::BadDepth => write!(f, "a list shows from 1 to 64 items"),
            Self::UnknownKind => write!(f, "expected a line of kind Q (query) or C (click)"),
            Self::ListLength { found, expected } => write!(
                f,
                "{found} characters, expected {expected}: a 0 or a 1 for each item, with nothing between them"
            ),
            Self::NotAMark => write!(f, "expected a 0 or a 1 for each item"),
            Self::UnclosedQuote => write!(f, "a quotation mark without its partner in the line"),
            Self::UnexpectedHeader => {
                write!(f, "a header? the format has none: a table with a header is of format delimited")
            }
            Self::NotUtf8 => write!(f, "{}", self.reason()),
        }
    }
}
