//! Faults of a line.

/// Defines the faults: each with its message and the reason by which skipped lines are counted,
/// which is also its documentation.
macro_rules! faults {
    ($($(#[$of:meta])* $name:ident $({ $($field:ident: $type:ty),* })? => $reason:literal,)*) => {
        /// A fault of a line. A strict reader stops at it; a lenient one skips the line and counts
        /// it by [`reason`](Fault::reason). Positions are those of the log.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        #[allow(missing_docs, clippy::doc_markdown, reason = "messages name fields; reasons are plain")]
        pub enum Fault {
            $(#[doc = $reason] $(#[$of])* $name $({ $($field: $type),* })?,)*
        }

        impl Fault {
            /// The reason by which skipped lines are counted.
            pub fn reason(self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $reason,)*
                }
            }
        }
    };
}

faults! {
    #[error("{found} column{}, expected {expected}", if *.found == 1 { "" } else { "s" })]
    TooFewColumns { found: usize, expected: usize } => "too few columns",
    #[error("more columns than the {expected} expected")]
    TooManyColumns { expected: usize } => "too many columns",
    #[error("nothing there")]
    Empty => "empty column",
    #[error("expected a whole number")]
    NotANumber => "not a number",
    #[error("expected 0, 1, true or false")]
    NotAClick => "not a click",
    #[error("a negative number")]
    Negative => "negative number",
    #[error("larger than {max}")]
    TooLarge { max: u64 } => "number too large",
    #[error("more clicks than the {impressions} impression{}", if *.impressions == 1 { "" } else { "s" })]
    ClicksAboveImpressions { impressions: u64 } => "more clicks than impressions",
    #[error("out of range: a parameter is 0 or more, and a probability at most 1")]
    OutOfRange => "parameter out of range",
    #[error("above the upper end of the interval")]
    AboveUpperEnd => "interval out of order",
    #[error("positions count from 1")]
    PositionZero => "position 0",
    #[error("a position below the last, {last}")]
    PositionBeyondDepth { last: u64 } => "position beyond the list",
    #[error("a position of this session on an earlier line: a list shows a position once")]
    PositionTwice => "position twice in a session",
    /// The lines of a list do not have every position from the first on, once: a line of it was
    /// skipped, or the format has no gaps.
    #[error(
        "expected position {next} of this session: its list shows every position from the first on, once"
    )]
    OutOfOrder { next: u64 } => "session out of order",
    #[error("a list shows from 1 to 64 items")]
    BadDepth => "bad length of the list",
    /// A line of a list in a log with contexts that stands apart from the list's first line.
    #[error("expected the first position, {first}: the lines of a list stand together here, from the top")]
    StandsApart { first: u64 } => "line apart from its list",
    #[error("expected a finite number")]
    NotFinite => "not a finite number",
    #[error("another value than in the first line of the list")]
    OtherContext => "two contexts in a list",
    #[error("more than {most} different segments")]
    TooManySegments { most: usize } => "too many segments",
    #[error("an item without a row in the table of items")]
    UnknownItem => "unknown item",
    #[error("another query than in the first line: choose one")]
    AnotherQuery => "another query",
    #[error("expected a line of kind Q (query) or C (click)")]
    UnknownKind => "unknown kind of line",
    #[error("{found} characters, expected {expected}: a 0 or a 1 for each item, with nothing between them")]
    ListLength { found: usize, expected: usize } => "wrong number of click marks",
    #[error("expected a 0 or a 1 for each item")]
    NotAMark => "click mark other than 0 and 1",
    #[error("not UTF-8")]
    NotUtf8 => "not UTF-8",
    #[error("a propensity is above 0 and at most 1")]
    NotAPropensity => "not a propensity",
    #[error("a value is a number from 0 to 1,000,000,000, without a currency or thousands separators")]
    NotAValue => "not a value",
    #[error("a value without a click")]
    ValueWithoutClick => "value without a click",
    #[error("{found} propensit{}, expected {expected}, one for each item", if *.found == 1 { "y" } else { "ies" })]
    NumberOfPropensities { found: usize, expected: usize } => "wrong number of propensities",
    #[error(
        "`position=..` is missing if a row is one item of a list, else expected a list: `[a, b]`, or with `separator=..`"
    )]
    NotAList => "not a list",
    #[error("expected an item and a 0 or 1, such as `item-1`")]
    NotAPair => "not an item and a click",
    #[error("{found} element{}, expected {expected}, one for each item", if *.found == 1 { "" } else { "s" })]
    NumberOfElements { found: usize, expected: usize } => "wrong number of elements",
    #[error("expected a JSON object on the line, as on the first one")]
    NotAnObject => "not a JSON object",
    #[error("larger than the prefix propensity of the position above")]
    PrefixGrows => "growing prefix propensity",
    #[error("another list propensity than at the first position of the list")]
    AnotherListPropensity => "two list propensities",
    #[error("not the prefix propensity of the last position")]
    NotTheLastPrefix => "list propensity other than the last prefix",
    #[error("another user than at the position above")]
    AnotherUser => "two users in a list",
    #[error("another stratum than at the position above: a list has one, so `session` names too much")]
    AnotherStratum => "two strata in a list",
    #[error(
        "expected a JSON object with the fields of User Behavior Insights on the line (if JSON goes over \
         several lines, `jq -c . FILE` writes it on one)"
    )]
    NotJson => "not a JSON object of UBI",
    #[error("no `query_id`")]
    NoQueryId => "no query_id",
    #[error("no `object_id` in an event of this query")]
    NoObject => "no object_id",
    #[error("an event whose query is in no file")]
    UnknownQuery => "event of an unknown query",
    #[error("an event on an item that its query did not return")]
    OutsideList => "event outside the list",
    /// An event below the last of the hit ids of its query, or below the longest list.
    #[error("an event below the end of its query\u{2019}s list")]
    BelowList => "event below the end of the list",
    #[error("an earlier document of this query differs, so the query has no list")]
    OtherDocument => "two documents of a query",
    #[error("expected an `ordinal`, a whole number from 0 on")]
    NotAnOrdinal => "not an ordinal",
    #[error("no `ordinal`, and the query has no hit ids")]
    NoOrdinal => "no ordinal",
    #[error("an ordinal other than the place of the item among the hit ids")]
    OtherOrdinal => "ordinal that contradicts the hit ids",
    #[error("this item is in the list twice")]
    RepeatedItem => "item twice in a list",
    #[error(
        "clicks counted by configuration: the clicks of a user are not independent, so log every click with \
         `client_id` and the configuration"
    )]
    CountedClicks => "clicks counted by configuration",
    #[error("a third name: a test compares two")]
    ThirdName => "third team or arm",
    #[error("expected a time as `2026-03-02T10:00:00Z`, a date as `2026-03-02` or `20260302`, or seconds since 1970")]
    NotATime => "not a time",
    #[error("a quotation mark without its partner in the line")]
    UnclosedQuote => "unclosed quotation mark",
    #[error("a header? the format has none: a table with a header is of format delimited")]
    UnexpectedHeader => "header where the format has none",
}

impl Fault {
    /// The fault of a line with another number of columns than expected.
    pub(crate) fn columns(found: usize, expected: usize) -> Self {
        if found < expected {
            Self::TooFewColumns { found, expected }
        } else {
            Self::TooManyColumns { expected }
        }
    }

    /// Events and documents that join no list. A strict reader counts them, too: nothing is wrong
    /// with their lines.
    pub(crate) const UNJOINED: [Self; 6] = [
        Self::UnknownQuery,
        Self::OutsideList,
        Self::BelowList,
        Self::OtherDocument,
        Self::NoOrdinal,
        Self::OtherOrdinal,
    ];
}
