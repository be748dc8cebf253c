//! Today: the last part of the log, whose lists are today's ranking.
//!
//! A ranking that learns, or was renewed, shows other lists than it did. Today is the shortest last
//! part of the log's time with which gains are hardly less sure than with all of it: the interval
//! of no query with [`FEWEST`] lists, and of all together, is more than [`WIDER`] times as wide.
//! The lists of a part are a sample of those to come, so its value is drawn with their sampling
//! error. Users are known from the whole log. A log without times is of today as a whole, unless
//! its last rows are asked for.

use crate::Interval;
use crate::lists::LoggedQueries;
use click_logs::settings::LastPart;
use documents::number::{counted, fixed};
use log_reader::{Sessions, time};
use serde::Serialize;
use spec::models::Evidence;

/// Shares of the log's time that may be today, the shortest first.
const SHARES: [f64; 6] = [0.05, 0.1, 0.2, 1.0 / 3.0, 0.5, 2.0 / 3.0];
/// How much wider the interval of a gain may be than with the whole log.
const WIDER: f64 = 1.25;
/// Queries with fewer lists have no say.
const FEWEST: u64 = 30;

/// The part of the log whose lists are today's ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Today {
    /// Its share of the log's time; of its sessions, if the log has no times.
    pub share: f64,
    /// Its days, if the log has times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<f64>,
    /// Its first day, if the log has times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Whether the part was asked for.
    pub is_asked: bool,
    /// Number of its lists, of the answer's queries.
    pub lists: u64,
    /// Sessions of the log whose times are apart from all others, which do not tell what today is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_apart: Option<u64>,
    /// Queries of the answer that have too few lists in it: all of theirs are today's.
    pub queries_by_all: u64,
}

/// The shares of the last parts of a log that may be today, or why the part that is asked for is
/// not known.
pub(crate) fn shares(asked: Option<LastPart>, sessions: &Sessions) -> Result<Vec<f64>, String> {
    match (asked, sessions.times()) {
        (None, Some(_)) => Ok(SHARES.to_vec()),
        (None, None) | (Some(LastPart::All), _) => Ok(Vec::new()),
        (Some(LastPart::Share(share)), _) => Ok(vec![share]),
        (Some(LastPart::Days(days)), Some([first, last])) => {
            let share = days * time::MILLISECONDS_OF_A_DAY as f64 / (last - first) as f64;
            Ok(if share < 1.0 { vec![share] } else { Vec::new() })
        }
        (Some(LastPart::Days(_)), None) => Err(
            "the last days are asked for as today's ranking, and the log has no times, or the same for all lists (`--columns ..,time=..`)"
                .to_owned(),
        ),
    }
}

impl Today {
    /// `lists` has the number of lists of each query, if they are not all that it has.
    pub(crate) fn new(share: f64, lists: &[Option<u64>], is_asked: bool, sessions: &Sessions) -> Self {
        const DAY: i64 = time::MILLISECONDS_OF_A_DAY;
        let (_, start) = sessions.start_of_last(share);
        let since = start.map(|start| time::date(start.div_euclid(DAY)));
        let days = sessions.times().map(|[first, last]| share * (last - first) as f64 / DAY as f64);
        let queries_by_all = lists.iter().filter(|lists| lists.is_none()).count() as u64;
        Self {
            share,
            days,
            since,
            is_asked,
            lists: lists.iter().flatten().sum(),
            times_apart: Some(sessions.n_apart()).filter(|n| *n > 0),
            queries_by_all,
        }
    }

    pub(crate) fn sentence(&self) -> String {
        let (lists, percent) = (counted(self.lists, "list"), fixed(100.0 * self.share, 0));
        let (last, whole) = (format!("that of the last {percent} % of the log's"), "that of the whole log");
        let today = match (&self.since, self.share < 1.0) {
            (Some(day), true) => format!("{last} time, since {day} ({lists}); --today all takes all of it"),
            (None, true) => format!("{last} rows ({lists})"),
            (Some(_), false) if self.is_asked => whole.to_owned(),
            (Some(_), false) => format!(
                "{whole}: with a later part of it gains would be much less sure, or most of that part's lists are left out"
            ),
            (None, false) => format!(
                "{whole}, which has no times, or the same for all lists (time=.. in --columns): if the ranking has changed, --today .1 \
                 takes the last tenth of the rows"
            ),
        };
        let by_all = match self.queries_by_all {
            0 => String::new(),
            n => format!(
                " In {} most lists of this part are left out, or there are none: all usable lists stand for today.",
                counted(n, "query")
            ),
        };
        let apart = self.times_apart.map_or_else(String::new, |n| {
            let n = counted(n, "session");
            format!(" Times of {n} are farther from all others than these from each other: they do not tell what today is.")
        });
        format!("Today's ranking is {today}.{by_all}{apart}")
    }
}

/// Which part is today: 0 for the whole log, or the number of a part, from 1.
pub(crate) fn chosen(is_asked: bool, evidence: &[Evidence], queries: &LoggedQueries) -> usize {
    let (shares, queries) = (queries.shares(), &queries.queries);
    let n_parts = evidence.iter().map(|evidence| evidence.today.len()).min().unwrap_or(1);
    if is_asked || n_parts == 1 {
        return n_parts - 1;
    }
    let widths = |part: usize| -> Vec<f64> {
        let gains: Vec<Vec<f64>> = evidence.iter().map(|evidence| evidence.gains(part)).collect();
        let n_draws = gains.iter().map(Vec::len).min().unwrap_or(0);
        let together = |draw: usize| gains.iter().zip(&shares).map(|(gain, share)| share * gain[draw]).sum();
        let all: Vec<f64> = (0..n_draws).map(together).collect();
        let told =
            gains.iter().zip(queries).filter(|(_, of)| of.lists.count() >= FEWEST).map(|(gain, _)| gain);
        told.chain([&all]).map(|gains| Interval::of_draws(gains)).map(|of| of.upper - of.lower).collect()
    };
    let whole = widths(0);
    let is_sure = |part: &usize| widths(*part).iter().zip(&whole).all(|(part, all)| *part <= WIDER * all);
    let has_lists = |part: &usize| queries.iter().any(|of| of.lists_of(*part).is_some());
    (1..n_parts).filter(has_lists).find(is_sure).unwrap_or(0)
}
