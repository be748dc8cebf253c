//! Sessions that are in the log twice: rows that were written again soon after, and parts of the
//! log that stand in it a second time.
//!
//! Equal sessions are frequent by chance where a ranker always shows the same list and few users
//! click. If sessions come in any order, they are as frequent just before a session as somewhat
//! earlier, so the difference of the two shares is what is repeated. Rankers also show a list for
//! some time and then another; then only sessions with the same list are compared, the nearest with
//! as many before them.
//!
//! In a part of a log that stands in it twice, sessions that are rare in the log have their equals
//! at one and the same distance. By chance, the number of pairs at a distance has a Poisson
//! distribution, whose tail has Chernoff's bound.
//!
//! | here | meaning |
//! |---|---|
//! | window | a session is near another if at most this number of sessions later |
//! | weight | the less likely a session has an equal one by chance, the more it tells |
//!
//! The standard error takes differences for independent. It is too large rather than too small:
//! what both comparisons have in common cancels in the sum.
//!
//! Complexity: O(sessions (window + log lists)), 12 bytes a session of the largest query.

use click_models::Clicks;
use confidence::math::{ln, sqrt};
use log_reader::{ListSessions, Sessions};
use serde::Serialize;
use std::ops::RangeInclusive;

/// The share of repeated sessions that matters: users who search again are fewer.
const SHARE: f64 = 0.015;
/// Standard errors of a share that is not chance, and of a change of lists that may be.
const ERRORS: f64 = 4.0;
const CHANGED: f64 = 3.0;
/// Rows are written again at once, or after a time-out.
const WINDOWS: [u32; 3] = [1, 4, 32];
/// Sessions that occur this often at most are rare.
const RARE: u64 = 4;
/// Distances beside one, which tell how many pairs it has by chance.
const BESIDE: u32 = 100;
/// The logarithm of the probability, 1e-9, with which a log without repeated parts has one.
const BY_CHANCE: f64 = -20.7;
/// The least number of pairs of a repeated part.
const PAIRS: usize = 5;

/// Sessions that equal an earlier one of the same query, list and clicks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeats {
    /// Sessions of the log.
    pub sessions: u64,
    /// The largest number of sessions between those that are compared.
    pub within: u32,
    /// The estimated share of sessions that repeat one of those before them.
    pub share: f64,
    /// Standard error of the share.
    pub standard_error: f64,
    /// The part of the log that stands in it twice.
    pub again: Option<Again>,
}

/// A part of a log that stands in it twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Again {
    /// Sessions of it that are rare in the log.
    pub sessions: u64,
    /// How many sessions later it stands again.
    pub later: u32,
    /// Share of the log's sessions that equal the session so much earlier.
    pub share: f64,
}

/// Weighted differences of near and far sessions.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: u64,
    difference: f64,
    without: f64,
    squares: f64,
}

impl Sums {
    /// Adds a session that has an equal one near it, and one farther away. `chance` is the expected
    /// number of these.
    fn add(&mut self, chance: f64, near: bool, far: bool) {
        let weight = 1.0 / (chance.min(1.0) + 0.05);
        let difference = weight * (f64::from(u8::from(near)) - f64::from(u8::from(far)));
        self.n += 1;
        self.difference += difference;
        self.without += if far { 0.0 } else { weight };
        self.squares += difference * difference;
    }

    /// The difference in its standard errors.
    fn errors(&self) -> f64 {
        if self.squares > 0.0 { self.difference / sqrt(self.squares) } else { 0.0 }
    }

    /// The share of repeated sessions, of all those of a log, and its error.
    fn share(&self, sessions: f64) -> [f64; 2] {
        let of = self.without * sessions / self.n as f64;
        [self.difference / of, sqrt(self.squares) / of]
    }
}

/// The findings of a window.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    /// Equal sessions, near against farther away.
    equal: Sums,
    /// Sessions with the same list and other clicks: whether lists themselves change.
    other: Sums,
    /// Equal sessions among those with the same list.
    of_list: Sums,
}

impl Repeats {
    /// The repeats of a log. `None` without an order, or if no query has three sessions.
    pub fn new(sessions: &Sessions) -> Option<Self> {
        let n = sessions.n_sessions() as f64;
        let (mut found, mut distances) = ([Found::default(); WINDOWS.len()], Vec::new());
        for query in sessions.queries().filter(|query| query.in_order().len() > 0) {
            let lists: Vec<ListSessions<'_>> = query.lists().collect();
            let all = |list: &ListSessions<'_>| list.patterns.iter().map(|pattern| pattern.sessions).sum();
            let of_lists: Vec<u64> = lists.iter().map(all).collect();
            let mut shown: Vec<Vec<(u32, Clicks)>> = vec![Vec::new(); lists.len()];
            let mut rare = Vec::new();
            for session in query.in_order() {
                let patterns = lists[session.list].patterns;
                let bits = session.clicks.bits();
                let pattern = patterns.partition_point(|pattern| pattern.clicks.bits() < bits);
                let times = patterns.get(pattern).map_or(1, |pattern| pattern.sessions);
                if (2..=RARE).contains(&times) {
                    rare.push((session.list, pattern, session.place));
                }
                let others = (times - 1) as f64;
                let share = others / (of_lists[session.list] - 1).max(1) as f64;
                let of_list = &mut shown[session.list];
                for (window, found) in WINDOWS.into_iter().zip(&mut found) {
                    found.add(of_list, (session.place, session.clicks), window, [others / n, share]);
                }
                of_list.push((session.place, session.clicks));
            }
            rare.sort_unstable();
            for same in rare.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let pairs =
                    same.iter().enumerate().flat_map(|(at, a)| same[at + 1..].iter().map(|b| b.2 - a.2));
                distances.extend(pairs.filter(|distance| *distance > 2 * WINDOWS[WINDOWS.len() - 1]));
            }
        }
        let candidates = WINDOWS.into_iter().zip(found).flat_map(|(window, found)| {
            let honest = found.other.errors() < CHANGED;
            [Some(found.of_list), honest.then_some(found.equal)]
                .into_iter()
                .flatten()
                .map(move |sums| (window, sums))
        });
        let (within, sums) = candidates.max_by(|a, b| a.1.errors().total_cmp(&b.1.errors()))?;
        let is_compared = sums.without > 0.0;
        let [share, standard_error] = if is_compared { sums.share(n) } else { [0.0; 2] };
        let is_known = is_compared || !distances.is_empty();
        is_known.then(|| Self {
            sessions: sessions.n_sessions(),
            within,
            share,
            standard_error,
            again: again(distances, n).map(|again| {
                let all = equal_again(sessions, again.later);
                let equal = all.iter().filter(|(_, is_equal)| *is_equal).count();
                Again { share: equal as f64 / n, ..again }
            }),
        })
    }

    /// How many times the variance of sessions the sums of a log have, of whose sessions a share
    /// `r` repeats others: `1 + 2 r`. It is 1 as far as that may be chance.
    pub fn overdispersion(repeats: Option<&Self>) -> f64 {
        let of = |of: &Self| {
            let near = if of.is_excessive() { of.share } else { 0.0 };
            1.0 + 2.0 * of.again.map_or(near, |again| again.share.max(near))
        };
        repeats.map_or(1.0, of)
    }

    /// Whether more sessions repeat one before them than chance makes probable.
    pub fn is_excessive(&self) -> bool {
        self.share > SHARE.max(ERRORS * self.standard_error)
    }
}

impl Found {
    /// Adds a session, by the earlier ones with its list. `chances` are the expected numbers of
    /// equal sessions for each session of the log, and of its list.
    fn add(&mut self, earlier: &[(u32, Clicks)], session: (u32, Clicks), window: u32, chances: [f64; 2]) {
        let (place, clicks) = session;
        let from = |apart: u32| earlier.partition_point(|(other, _)| other.saturating_add(apart) < place);
        let has =
            |some: &[(u32, Clicks)], equal: bool| some.iter().any(|(_, other)| (*other == clicks) == equal);
        let (near, far) = (from(window), from(2 * window));
        if place >= 2 * window {
            let [near, far] = [&earlier[near..], &earlier[far..near]];
            self.equal.add(f64::from(window) * chances[0], has(near, true), has(far, true));
            self.other.add(1.0, has(near, false), has(far, false));
        }
        let n = earlier.len() - near;
        if n > 0 && near >= n {
            let [near, far] = [&earlier[near..], &earlier[near - n..near]];
            self.of_list.add(n as f64 * chances[1], has(near, true), has(far, true));
        }
    }
}

/// The most frequent distance of equal sessions, if it is too frequent for chance.
fn again(mut distances: Vec<u32>, sessions: f64) -> Option<Again> {
    distances.sort_unstable();
    let same = distances.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?;
    let (later, n) = (same[0], same.len());
    let below = |distance: u32| distances.partition_point(|other| *other < distance);
    let beside = below(later.saturating_add(BESIDE + 1)) - below(later.saturating_sub(BESIDE)) - n;
    let mean = (2.0 * distances.len() as f64 / sessions).max(beside as f64 / f64::from(2 * BESIDE));
    let times = n as f64 / mean;
    let chance = ln(sessions) + n as f64 * (1.0 - ln(times)) - mean;
    (n >= PAIRS && times > 1.0 && chance < BY_CHANCE).then_some(Again {
        sessions: n as u64,
        later,
        share: 0.0,
    })
}

/// The sessions, by their places, and whether they equal the session of their query `later` places
/// earlier.
fn equal_again(sessions: &Sessions, later: u32) -> Vec<(u32, bool)> {
    let mut all = Vec::new();
    for query in sessions.queries() {
        let mut earlier = query.in_order().peekable();
        for session in query.in_order() {
            while earlier.next_if(|other| other.place.saturating_add(later) < session.place).is_some() {}
            let is_equal = earlier.peek().is_some_and(|other| {
                (other.place + later, other.list, other.clicks)
                    == (session.place, session.list, session.clicks)
            });
            all.push((session.place, is_equal));
        }
    }
    all
}

impl Again {
    /// The places where the part stands again: the longest run of sessions that equal those so much
    /// earlier.
    pub(super) fn places(&self, sessions: &Sessions) -> RangeInclusive<u32> {
        let mut all = equal_again(sessions, self.later);
        all.sort_unstable();
        let runs = all.chunk_by(|a, b| a.1 && b.1);
        // A log without repeated sessions has no such part.
        let longest =
            runs.filter(|run| run[0].1).max_by_key(|run| run.len()).unwrap_or(&[(1, true), (0, true)]);
        longest[0].0..=longest[longest.len() - 1].0
    }
}
