//! Complete lists, with what is known about their users and logger, handed over while a log is
//! read. No list is held whose lines stand together.

use crate::counts::Positions;
use crate::log::Log;
use crate::names::Id;
use crate::read_report::ReadReport;

/// Number of groups of units: a jackknife leaves out one at a time.
pub const GROUPS: u64 = 20;

/// The hash of the name of a user or a session: FNV-1a of 64 bits over its bytes, then the
/// finaliser of `MurmurHash3`. Its remainder modulo [`GROUPS`] is the group of the user.
///
/// # Examples
///
/// ```
/// use log_reader::{GROUPS, unit_hash};
///
/// let groups = ["u0", "u1", "u2", "u3"].map(|user| unit_hash(user.as_bytes()) % GROUPS);
/// assert_eq!(groups, [11, 5, 18, 0]);
/// ```
pub fn unit_hash(name: &[u8]) -> u64 {
    let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    finalised(name.iter().fold(0xcbf2_9ce4_8422_2325, add))
}

/// Every bit of the result depends on every bit of the number.
fn finalised(mut hash: u64) -> u64 {
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ hash >> 33).wrapping_mul(factor);
    }
    hash ^ hash >> 33
}

/// A list that was shown, or several equal ones.
#[derive(Debug, Clone, Copy)]
pub struct ShownList<'a> {
    /// The query, as named by the [`Ids`](crate::Ids) of the reading.
    pub query: Id,
    /// The [`unit_hash`] of the session's name, if the log names sessions.
    pub session: Option<u64>,
    /// The [`unit_hash`] of the user's name; without users that of the session's name; without
    /// sessions a hash of the place in the log.
    pub unit: u64,
    /// The place in the log: of two lists of a file, the later one has the larger number.
    pub place: u64,
    /// The time in milliseconds since 1970; 0 if the log has none.
    pub time: i64,
    /// The positions of the items: the first ones, unless the log leaves gaps or begins later. A
    /// row that belongs to no session has one.
    pub positions: Positions,
    /// The items, from the top; 1 to 64. A log may show an item twice.
    pub items: &'a [Id],
    /// Bit `l` is 1 if the `l`-th of the items was clicked.
    pub clicks: u64,
    /// Number of such lists: 1, except for rows with impressions. A row of `n` impressions with `c`
    /// clicks is handed over as `c` rows with a click and `n - c` without.
    pub times: u64,
    /// The probability with which the logger shows the item at its position, of each item.
    pub propensities: Option<&'a [f64]>,
    /// The probability with which the logger shows the items down to this one, of each item.
    pub prefix_propensities: Option<&'a [f64]>,
    /// The probability with which the logger shows the list. The last prefix propensity, if the log
    /// has them.
    pub list_propensity: Option<f64>,
    /// The value of each item's click, 0 without one.
    pub values: Option<&'a [f64]>,
}

impl<'a> ShownList<'a> {
    /// A list of which nothing else is known.
    pub(crate) fn plain(query: Id, items: &'a [Id], clicks: u64, place: u64) -> Self {
        Self {
            query,
            session: None,
            unit: 0,
            place,
            time: 0,
            positions: Positions::first(items.len()),
            items,
            clicks,
            times: 1,
            propensities: None,
            prefix_propensities: None,
            list_propensity: None,
            values: None,
        }
    }

    /// The same list at these positions.
    pub(crate) fn at(self, positions: Positions) -> Self {
        Self { positions, ..self }
    }

    /// The same list at this time.
    pub(crate) fn timed(self, time: i64) -> Self {
        Self { time, ..self }
    }

    /// The same list of this user and session, as far as they are known.
    pub(crate) fn of(self, user: Option<u64>, session: Option<u64>) -> Self {
        let unit = user.or(session).unwrap_or_else(|| finalised(self.place));
        Self { session, unit, ..self }
    }
}

/// Gets the lists that one thread completes, in no particular order.
pub trait ReceiveLists: Send {
    /// Called for every list of the log once, by one of the receivers.
    fn list(&mut self, list: &ShownList<'_>);
}

/// Which columns about users and logger a log has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each column is there or not")]
pub struct LoggerColumns {
    /// Users.
    pub user: bool,
    /// Sessions.
    pub session: bool,
    /// Propensities of items at their positions.
    pub propensity: bool,
    /// Propensities of the items down to each position.
    pub prefix_propensity: bool,
    /// Propensities of lists, or of prefixes.
    pub list_propensity: bool,
    /// Values of clicks.
    pub value: bool,
}

/// The result of [`Reader::read_lists`](crate::Reader::read_lists).
#[derive(Debug)]
pub struct ReadLists<R> {
    /// The receivers of all threads.
    pub receivers: Vec<R>,
    /// The columns about users and logger.
    pub logged: LoggerColumns,
    /// Counts and sessions, if the reader keeps sessions
    /// ([`Reader::keep_sessions`](crate::Reader::keep_sessions)).
    pub log: Option<Log>,
    /// Counts of what was read and what was skipped.
    pub report: ReadReport,
}
