//! Today: the last part of the log, whose lists are today's ranking.
//!
//! A ranking that learns, or was renewed, shows other lists than it did. Today is the shortest last
//! part of the log's time with which gains are hardly less sure than with all of it: the interval
//! of no query with [`FEWEST`] lists, and of all together, is more than [`WIDER`] times as wide.
//! The lists of a part are a sample of those to come, so its value is drawn with their sampling
//! error. Users are known from the whole log. A log without times is of today as a whole, unless
//! its last rows are asked for.

use crate::Interval;
use click_logs::settings::LastPart;
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
    /// Whether the log has times.
    pub has_times: bool,
    /// Whether the part was asked for.
    pub is_asked: bool,
    /// Number of its lists, of the answer's queries.
    pub lists: u64,
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
            "the last days are asked for as today's ranking, and the log has no times (`--columns ..,time=..`)"
                .to_owned(),
        ),
    }
}

impl Today {
    pub(crate) fn new(share: f64, lists: u64, is_asked: bool, sessions: &Sessions) -> Self {
        const DAY: i64 = time::MILLISECONDS_OF_A_DAY;
        let (_, start) = sessions.start_of_last(share);
        let since = start.map(|start| time::date(start.div_euclid(DAY)));
        let days = sessions.times().map(|[first, last]| share * (last - first) as f64 / DAY as f64);
        Self { share, days, has_times: days.is_some(), since, is_asked, lists }
    }

    /// A sentence about it.
    pub(crate) fn sentence(&self) -> String {
        let lists = documents::number::counted(self.lists, "list");
        let percent = documents::number::fixed(100.0 * self.share, 0);
        match (&self.since, self.share < 1.0) {
            (Some(day), true) => format!(
                "Today's ranking is that of the last {percent} % of the log's time, since {day} ({lists}); --today all takes all of it."
            ),
            (None, true) => {
                format!("Today's ranking is that of the last {percent} % of the log's rows ({lists}).")
            }
            (Some(_), false) if self.is_asked => "Today's ranking is that of the whole log.".to_owned(),
            (Some(_), false) => {
                "Today's ranking is that of the whole log: with a later part of it gains would be much less sure."
                    .to_owned()
            }
            (None, false) => {
                "Today's ranking is that of the whole log, which has no times (time=.. in --columns): if the ranking has changed, \
                 --today .1 takes the last tenth of the rows."
                    .to_owned()
            }
        }
    }
}

/// Which part is today: 0 for the whole log, or the number of a part, from 1. `shares` are those of
/// the queries, `lists` their numbers of lists.
pub(crate) fn chosen(is_asked: bool, evidence: &[Evidence], shares: &[f64], lists: &[u64]) -> usize {
    let n_parts = evidence.iter().map(|evidence| evidence.today.len()).min().unwrap_or(1);
    if is_asked || n_parts == 1 {
        return n_parts - 1;
    }
    let widths = |part: usize| -> Vec<f64> {
        let gains: Vec<Vec<f64>> = evidence.iter().map(|evidence| evidence.gains(part)).collect();
        let n_draws = gains.iter().map(Vec::len).min().unwrap_or(0);
        let together = |draw: usize| gains.iter().zip(shares).map(|(gains, share)| share * gains[draw]).sum();
        let all: Vec<f64> = (0..n_draws).map(together).collect();
        let told = gains.iter().zip(lists).filter(|(_, lists)| **lists >= FEWEST).map(|(gains, _)| gains);
        told.chain([&all]).map(|gains| Interval::of_draws(gains)).map(|of| of.upper - of.lower).collect()
    };
    let whole = widths(0);
    let is_sure = |part: &usize| widths(*part).iter().zip(&whole).all(|(part, all)| *part <= WIDER * all);
    (1..n_parts).find(is_sure).unwrap_or(0)
}
