//! The order of the log: which session came before which.
//!
//! A session has the place of its line, or of its first line if a list has several, in the order of
//! files and lines. A session takes 8 bytes.
//!
//! If the log has times, they decide, and the order of lines only among sessions of one time. Where
//! the log begins and ends is told by most of them: a few wrong ones, such as 1970 or 2099, stand
//! first or last, and that is all they do.
//!
//! Counts have no order. Nor have the sessions of more than 65,536 files or of 2^32 sessions and
//! more.

use super::{Pattern, QuerySessions, Sessions};
use crate::log::Part;
use crate::names::Id;
use click_models::Clicks;
use num_traits::ToPrimitive as _;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The places of lines are in the order of this many files; later files are mixed up with them.
pub(crate) const MAX_FILES_IN_ORDER: usize = 1 << 16;

/// A session in the order of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Its number among all sessions of the log, from 0: unique, and increasing within a query. A
    /// filtered log and a part of a log have gaps.
    pub place: u32,
    /// The index of its list among [`QuerySessions::lists`].
    pub list: usize,
    /// The clicked items of the list, from the top.
    pub clicks: Clicks,
    /// The group of its user, below [`GROUPS`](crate::GROUPS); 0 if lists were not handed over
    /// while the log was read ([`Reader::read_lists`](crate::Reader::read_lists)).
    pub group: u8,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionPlace {
    place: u32,
    /// The index of its pattern among those of its query.
    pub(super) pattern: u32,
}

/// A session as it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadSession {
    /// Its place in the log; of two sessions, the later one has the larger number.
    pub(crate) at: u64,
    /// Its time in milliseconds since 1970; of two sessions of a time, the place decides.
    pub(crate) time: i64,
    /// The number of its pattern in its table.
    pub(crate) pattern: u32,
    pub(crate) table: u16,
    pub(crate) group: u8,
}

/// The times of a log: those of some of its sessions, by their places, and the number of sessions
/// whose times are apart from those of the log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Calendar(Vec<(u32, i64)>, u64);

/// Sessions whose times are kept.
const TIMES: usize = 4096;
/// The share of the sessions, at either end, whose times may be apart, and the least number of
/// sessions of which one may be.
const APART: usize = 100;
const FEWEST: usize = 20;

impl Calendar {
    /// The calendar of the sessions of a log in their order; empty without times.
    fn new(read: &[ReadSession]) -> Self {
        let of_log = of_log(read);
        let apart = (read.len() - of_log.len()) as u64;
        let (start, read) = (of_log.start, &read[of_log]);
        let [Some(first), Some(last)] = [read.first(), read.last()] else { return Self::default() };
        if first.time == last.time {
            return Self::default();
        }
        let mut places: Vec<usize> = (0..read.len()).step_by(read.len().div_ceil(TIMES)).collect();
        places.extend((places.last() != Some(&(read.len() - 1))).then_some(read.len() - 1));
        Self(places.into_iter().map(|place| (narrow(start + place), read[place].time)).collect(), apart)
    }
}

/// The sessions in their order without those whose times are apart: at either end at most a share,
/// that are farther from all others than these are from each other.
fn of_log(read: &[ReadSession]) -> Range<usize> {
    let few = if read.len() < FEWEST { 0 } else { (read.len() / APART).max(1) };
    let others = few..read.len() - few;
    let [Some(first), Some(last)] = [read[others.clone()].first(), read[others.clone()].last()] else {
        return others;
    };
    let between = |from: &ReadSession, to: &ReadSession| i128::from(to.time) - i128::from(from.time);
    let length = between(first, last);
    let before = read[..others.start].partition_point(|session| between(session, first) > length);
    let after = read[others.end..].partition_point(|session| between(last, session) <= length);
    before..others.end + after
}

/// The sessions of a log in its order, or those of one query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    placed: Vec<SessionPlace>,
    /// The groups of users, if they are known.
    groups: Vec<u8>,
}

impl Order {
    pub(super) fn len(&self) -> usize {
        self.placed.len()
    }

    pub(super) fn extend(&mut self, sessions: impl Iterator<Item = (SessionPlace, Option<u8>)>) {
        for (placed, group) in sessions {
            self.placed.push(placed);
            self.groups.extend(group);
        }
    }
}

/// A number of sessions, patterns or queries. It fits if there is an order.
pub(super) fn narrow(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// Puts the sessions of a log in its order. `places` are the indices of the patterns of every
/// table.
pub(crate) fn put_in_order(
    sessions: &mut Sessions,
    mut read: Vec<ReadSession>,
    places: &[Vec<u32>],
    with_groups: bool,
) {
    if u32::try_from(read.len()).is_err() {
        return;
    }
    for session in &mut read {
        session.pattern = places[usize::from(session.table)][session.pattern as usize];
    }
    read.sort_unstable_by_key(|session| (session.time, session.at));
    sessions.calendar = Arc::new(Calendar::new(&read));
    // The query of each pattern; the first pattern and the next session of each query.
    let mut of_patterns: Vec<u32> = Vec::with_capacity(sessions.patterns.len());
    let mut queries: Vec<(u32, u32)> = Vec::with_capacity(sessions.queries.len());
    let mut next = 0;
    for query in &mut sessions.queries {
        query.first_session = next as usize;
        let patterns = of_patterns.len()..sessions.lists[query.lists.1 - 1].patterns.1;
        of_patterns.resize(patterns.end, narrow(queries.len()));
        queries.push((narrow(patterns.start), next));
        next += narrow(sessions.patterns[patterns].iter().map(|pattern| pattern.sessions).sum::<u64>());
    }
    let order = &mut sessions.order;
    order.placed = vec![SessionPlace::default(); next as usize];
    order.groups = vec![0; if with_groups { next as usize } else { 0 }];
    for (place, ReadSession { pattern, group, .. }) in (0..).zip(read) {
        let (first, next) = &mut queries[of_patterns[pattern as usize] as usize];
        order.placed[*next as usize] = SessionPlace { place, pattern: pattern - *first };
        if let Some(of_session) = order.groups.get_mut(*next as usize) {
            *of_session = group;
        }
        *next += 1;
    }
}

impl<'a> QuerySessions<'a> {
    /// The sessions of this query in the order of the log; none if that order is unknown
    /// ([`Sessions::has_order`]).
    pub fn in_order(&self) -> impl ExactSizeIterator<Item = Session> + Clone + use<'a> {
        let sessions = self.sessions;
        let lists = &sessions.lists[self.entry.lists.0..self.entry.lists.1];
        let first = lists.first().map_or(0, |list| list.patterns.0);
        self.order().map(move |(placed, group)| {
            let pattern = first + placed.pattern as usize;
            Session {
                place: placed.place,
                list: lists.partition_point(|list| list.patterns.1 <= pattern),
                clicks: sessions.patterns[pattern].clicks,
                group: group.unwrap_or(0),
            }
        })
    }

    /// The same, with their groups, if they are known.
    pub(super) fn order(
        &self,
    ) -> impl ExactSizeIterator<Item = (SessionPlace, Option<u8>)> + Clone + use<'a> {
        let Order { placed, groups } = &self.sessions.order;
        let n_sessions = usize::try_from(self.n_sessions()).unwrap_or(usize::MAX);
        let first = self.entry.first_session;
        let placed = placed.get(first..).and_then(|rest| rest.get(..n_sessions)).unwrap_or_default();
        placed.iter().enumerate().map(move |(at, placed)| (*placed, groups.get(first + at).copied()))
    }
}

impl Sessions {
    /// The first and the last time of the log in milliseconds since 1970; `None` if it has none.
    /// Those of [`n_apart`](Self::n_apart) do not count.
    pub fn times(&self) -> Option<[i64; 2]> {
        let times = &self.calendar.0;
        Some([times.first()?.1, times.last()?.1])
    }

    /// Sessions whose times are apart from those of the log: of 20 sessions and more, at most one
    /// in a hundred at either end, that are farther from all others than these are from each other.
    pub fn n_apart(&self) -> u64 {
        self.calendar.1
    }

    /// The first [`Session::place`] of the last part of the log, and its time: of less than this
    /// share of the log's time, or of its sessions if it has no times. Up to one session in 4,096
    /// before it is not told apart.
    pub fn start_of_last(&self, share: f64) -> (u32, Option<i64>) {
        let Some([first, last]) = self.times() else {
            let end = self.order.placed.iter().map(|placed| placed.place + 1).max().unwrap_or(0);
            return ((f64::from(end) * (1.0 - share)).to_u32().unwrap_or(0), None);
        };
        // Two days of a log of dates are its last two dates.
        let length = (i128::from(last) - i128::from(first)) as f64 * share;
        let before = if share < 1.0 {
            last.saturating_sub(length.max(1.0).to_i64().unwrap_or(i64::MAX))
        } else {
            i64::MIN
        };
        let after = self.calendar.0.partition_point(|(_, time)| *time <= before);
        self.calendar.0.get(after).map_or((0, None), |&(place, time)| (place, Some(time)))
    }

    /// Whether the order of the log is known. It is for sessions that were read, unless they are
    /// 2^32 or more, or from more than 65,536 files.
    pub fn has_order(&self) -> bool {
        self.order.len() > 0 || self.is_empty()
    }

    /// Divides the sessions into those for which `first` is true and the others. `first` gets the
    /// query of each session; queries come one after another, the sessions of each in the order of
    /// the log. `None` if that order is unknown.
    ///
    /// # Examples
    ///
    /// The first half of each query's sessions, and the second:
    ///
    /// ```
    /// use log_reader::{Format, Reader};
    ///
    /// let log = "query\turls\tclicked_mask\n5\t8,9\t10\n6\t8,9\t00\n5\t9,8\t01\n6\t9,8\t11\n";
    /// let log = Reader::new(Format::Sessions).keep_sessions().read("log.tsv", log.as_bytes())?;
    /// let mut seen = std::collections::BTreeMap::new();
    /// let halves = log.sessions.split(|query, _| {
    ///     let n_sessions = log.sessions.query(query).unwrap().n_sessions();
    ///     let n_seen = seen.entry(query).or_insert(0);
    ///     *n_seen += 1;
    ///     2 * *n_seen <= n_sessions
    /// });
    /// let clicks = halves.unwrap().map(|half| half.counts().clicks());
    /// assert_eq!(clicks, [1, 3]);
    /// # Ok::<(), log_reader::Error>(())
    /// ```
    pub fn split(&self, mut first: impl FnMut(Id, Session) -> bool) -> Option<[Self; 2]> {
        self.has_order().then(|| {
            let mut parts = [(); 2].map(|()| self.none());
            for query in self.queries() {
                let mut chosen = [Vec::new(), Vec::new()];
                for (session, placed) in query.in_order().zip(query.order()) {
                    chosen[usize::from(!first(query.id(), session))].push(placed);
                }
                for (part, chosen) in parts.iter_mut().zip(&chosen) {
                    part.push_some(query, chosen);
                }
            }
            parts
        })
    }

    /// The sessions of the users of some groups ([`Session::group`]). `None` if the order of the
    /// log is unknown.
    pub fn of_groups(&self, keep: &dyn Fn(usize) -> bool) -> Option<Self> {
        self.has_order().then(|| {
            let mut part = self.none();
            for query in self.queries() {
                let of_groups = |(_, group): &(SessionPlace, Option<u8>)| keep(group.unwrap_or(0).into());
                part.push_some(query, &query.order().filter(of_groups).collect::<Vec<_>>());
            }
            part
        })
    }

    /// Sessions and counts of the first and of the second half of the log, in its order. The first
    /// half has one session more if the number of sessions is odd. `None` if the order is unknown.
    pub fn halves(&self) -> Option<[Part; 2]> {
        let mut places: Vec<u32> = self.order.placed.iter().map(|placed| placed.place).collect();
        let middle = places.len().div_ceil(2);
        // Every place is below the end if there are fewer than two sessions.
        let end = if middle < places.len() { *places.select_nth_unstable(middle).1 } else { u32::MAX };
        let halves = self.split(|_, session| session.place < end)?;
        Some(halves.map(Part::from))
    }

    /// Adds these sessions of a query with the same names.
    fn push_some(&mut self, query: QuerySessions<'_>, chosen: &[(SessionPlace, Option<u8>)]) {
        if chosen.is_empty() {
            return;
        }
        let mut of_patterns = vec![0; query.lists().map(|list| list.patterns.len()).sum()];
        for (placed, _) in chosen {
            of_patterns[placed.pattern as usize] += 1;
        }
        self.open(query.id());
        let (mut of_patterns, mut n_kept) = (of_patterns.into_iter(), 0);
        let mut numbers = Vec::with_capacity(of_patterns.len());
        for list in query.lists() {
            let before = n_kept;
            let patterns = list.patterns.iter().zip(&mut of_patterns).filter_map(|(pattern, sessions)| {
                numbers.push(n_kept);
                n_kept += u32::from(sessions > 0);
                (sessions > 0).then_some(Pattern { sessions, ..*pattern })
            });
            self.patterns.extend(patterns);
            if n_kept > before {
                self.push_items((list.items, list.positions), (n_kept - before) as usize);
            }
        }
        self.order.extend(chosen.iter().map(|&(placed, group)| {
            (SessionPlace { pattern: numbers[placed.pattern as usize], ..placed }, group)
        }));
    }
}
