//! Shortlist for large catalogues: the arms that can win for a while.
//!
//! A list has a *floor* and a *ceiling*. Every arm that is not listed has an index below the floor
//! at every level up to the ceiling, as long as its counts stay. A [`Filter`] finds these arms in
//! one pass over the catalogue, hundreds of rounds apart. So as long as the last winner's index
//! reaches the floor and the level is below the ceiling, all winners are listed. An arm is tested
//! again as soon as its counts change. When the list no longer suffices, a new one is made with a
//! lower floor.
//!
//! Arms with the same counts have the same index. They form one *run* on the list: one index, with
//! ties broken by hash. In a large catalogue most arms were never clicked; arms never shown also
//! form such a run.
//!
//! The index `U(level)` is concave and grows with the level from `m = U(0)`. With `U(ceiling)`
//! computed once,
//!
//! ```text
//! m + (U(ceiling) - m) level / ceiling  <=  U(level)  <=  U(ceiling)
//! ```
//!
//! These two bounds usually order the winners; indices are computed only where the bounds overlap.
//! Both bounds are widened by [`SLACK`] of their size, many times the error of a computed index
//! (for KL-UCB 2e-14 of `U - m` and four units in the last place).

use crate::top_l::{Ties, TopL};
use std::fmt::Debug;

/// Relative slack of the bounds of a computed index.
const SLACK: f64 = 1e-12;
/// Marks an arm that is not listed.
const UNLISTED: u32 = u32::MAX;
/// The ceiling exceeds the level by at most this share of the level.
const FURTHEST_CEILING: f64 = 1.0 / 512.0;
/// A list with fewer members makes the next one longer; a list with more runs makes it shorter.
const FEWEST_MEMBERS: usize = 32;
const MOST_RUNS: usize = 96;
/// Range of the distance of the floor below the last winner; the lower end is far above the slack.
const GAPS: [f64; 2] = [1e-8, 0.25];

/// An arm whose index is a concave, increasing function of the level, and not negative.
pub(crate) trait Arm: Copy + Debug {
    /// Finds the arms for a list.
    type Filter: Filter<Self>;

    /// Arms with the same key have the same index at every level.
    fn key(&self) -> (u64, u64);

    /// Whether the index is infinite, at every level.
    fn is_fresh(&self) -> bool;

    /// The index at level 0, unless the arm is fresh.
    fn mean(&self) -> f64;

    /// The index. Its relative error is far below [`SLACK`].
    fn index(&self, level: f64) -> f64;
}

/// Which arms have an index below a floor at every level up to a ceiling.
pub(crate) trait Filter<A>: Clone + Debug {
    /// The filter for this number of arms, all of them fresh.
    fn new(n_arms: usize) -> Self;

    fn set_floor(&mut self, floor: f64);

    /// Notes that the arm of `item` changed.
    fn set(&mut self, item: usize, arm: &mut A);

    /// Whether the index is certainly below the floor.
    fn excludes(&self, arm: &mut A, ceiling: f64) -> bool;

    /// Lists arms, among them all whose index reaches the floor.
    fn list(&self, arms: &[A], ceiling: f64, list: impl FnMut(usize));
}

/// Listed arms with the same counts.
#[derive(Debug, Clone)]
struct Run<A> {
    arm: A,
    /// The index at the ceiling.
    reach: f64,
    /// Start of its members, and the room reserved for them.
    start: u32,
    len: u32,
    room: u32,
}

impl<A: Arm> Run<A> {
    /// A lower bound of the index at `share` of the ceiling.
    #[inline]
    fn low(&self, share: f64) -> f64 {
        if self.arm.is_fresh() {
            return f64::INFINITY;
        }
        (self.arm.mean() + (self.reach - self.arm.mean()) * share) * (1.0 - SLACK)
    }
}

/// The list, and what making the next one needs.
#[derive(Debug, Clone)]
pub(crate) struct Shortlist<A: Arm> {
    capacity: usize,
    filter: A::Filter,
    /// Arms with an infinite index.
    n_fresh: usize,
    floor: f64,
    ceiling: f64,
    /// The level when the list was made, and its growth since the previous list.
    made_at: f64,
    pace: f64,
    /// Distance of the next floor below the last winner.
    gap: f64,
    runs: Vec<Run<A>>,
    members: Vec<u32>,
    used: usize,
    /// The run and the index in `members` of every arm.
    home: Vec<u32>,
    place: Vec<u32>,
    /// The largest possible index of every run with members, in decreasing order.
    order: Vec<(f64, u32)>,
    /// Approximate index of the last winner.
    last: f64,
    /// Buffer: runs whose bounds do not order them, with their indices, in decreasing order.
    computed: Vec<(f64, u32)>,
    top: TopL,
    chosen: Vec<u32>,
}

impl<A: Arm> Shortlist<A> {
    pub(crate) fn new(arms: &mut [A], capacity: usize) -> Self {
        let mut list = Self {
            capacity,
            filter: A::Filter::new(arms.len()),
            n_fresh: arms.len(),
            floor: f64::INFINITY,
            ceiling: f64::NEG_INFINITY,
            made_at: f64::INFINITY,
            pace: 0.0,
            gap: 1e-3,
            // A new list fills at most a quarter; the rest is room for arms that join.
            runs: Vec::with_capacity(4 * arms.len()),
            members: vec![0; 4 * arms.len()],
            used: 0,
            home: vec![UNLISTED; arms.len()],
            place: vec![0; arms.len()],
            order: Vec::with_capacity(arms.len()),
            last: 1.0,
            computed: Vec::with_capacity(4 * arms.len()),
            top: TopL::new(capacity),
            chosen: Vec::with_capacity(capacity),
        };
        for (item, arm) in arms.iter_mut().enumerate() {
            if !arm.is_fresh() {
                list.set(item, true, arm);
            }
        }
        list
    }

    /// Sets the counts of an arm.
    #[inline]
    pub(crate) fn set(&mut self, item: usize, was_fresh: bool, arm: &mut A) {
        self.n_fresh = self.n_fresh + usize::from(arm.is_fresh()) - usize::from(was_fresh);
        self.filter.set(item, arm);
        let stays = if self.floor == f64::INFINITY {
            arm.is_fresh()
        } else {
            !self.filter.excludes(arm, self.ceiling)
        };
        let alone = self.leave(item);
        if stays {
            self.join(item, alone, arm);
        } else {
            self.home[item] = UNLISTED;
        }
    }

    /// Removes the arm from its run. Returns the run if it is empty now.
    fn leave(&mut self, item: usize) -> Option<u32> {
        let home = self.home[item];
        let run = self.runs.get_mut(home as usize)?;
        run.len -= 1;
        let (hole, last) = (self.place[item], run.start + run.len);
        let moved = self.members[last as usize];
        self.members[hole as usize] = moved;
        self.place[moved as usize] = hole;
        if run.len > 0 {
            return None;
        }
        let high = run.reach * (1.0 + SLACK);
        let mut entry = self.order.partition_point(|&(other, _)| other > high);
        while self.order[entry].1 != home {
            entry += 1;
        }
        self.order.remove(entry);
        Some(home)
    }

    /// Lists the arm in the run with its counts, or in its own, in the place of `alone` if given.
    fn join(&mut self, item: usize, alone: Option<u32>, arm: &A) {
        if self.used == self.members.len() {
            return self.give_up(item);
        }
        let reach = reach(arm, self.ceiling);
        let high = reach * (1.0 + SLACK);
        let entry = self.order.partition_point(|&(other, _)| other > high);
        let equal = self.order[entry..].iter().take_while(|&&(other, _)| other == high);
        let equal = equal.map(|&(_, run)| run).find(|&run| self.runs[run as usize].arm.key() == arm.key());
        let home = match (equal, alone) {
            (Some(home), _) => home,
            (None, Some(home)) => {
                let run = &mut self.runs[home as usize];
                (run.arm, run.reach) = (*arm, reach);
                home
            }
            (None, None) => {
                self.runs.push(Run { arm: *arm, reach, start: 0, len: 0, room: 0 });
                count(self.runs.len() - 1)
            }
        };
        let run = &mut self.runs[home as usize];
        if run.len == run.room {
            // The run moves to where there is more room.
            let room = 2 * run.len + 1;
            if self.used + room as usize > self.members.len() {
                return self.give_up(item);
            }
            let place = count(self.used);
            for offset in 0..run.len {
                let member = self.members[(run.start + offset) as usize];
                self.members[(place + offset) as usize] = member;
                self.place[member as usize] = place + offset;
            }
            (run.start, run.room) = (place, room);
            self.used += room as usize;
        }
        let place = run.start + run.len;
        run.len += 1;
        self.members[place as usize] = count(item);
        (self.home[item], self.place[item]) = (home, place);
        if equal.is_none() {
            self.order.insert(entry, (high, home));
        }
    }

    /// There is no room for the arm: the next choice makes a new list.
    #[cold]
    fn give_up(&mut self, item: usize) {
        self.home[item] = UNLISTED;
        (self.floor, self.ceiling) = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// The arms of largest index at `level`, best first.
    pub(crate) fn select(&mut self, arms: &[A], level: f64, ties: Ties) -> &[u32] {
        if level > self.ceiling {
            self.make(arms, level, self.last);
        }
        while !self.choose(level, ties) {
            self.make(arms, level, self.floor);
        }
        &self.chosen
    }

    /// Chooses from the list; `false` if an unlisted arm may win.
    fn choose(&mut self, level: f64, ties: Ties) -> bool {
        let share = if level < self.ceiling { level / self.ceiling } else { 1.0 };
        self.chosen.clear();
        let mut next = 0;
        while self.chosen.len() < self.capacity {
            let Some(&(_, run)) = self.order.get(next) else { return false };
            let run = &self.runs[run as usize];
            let low = run.low(share);
            let rest = self.order.get(next + 1).map_or(f64::NEG_INFINITY, |&(high, _)| high);
            if run.len == 1 && low > rest && low >= self.floor {
                self.chosen.push(self.members[run.start as usize]);
                self.last = low;
                next += 1;
                continue;
            }
            let wanted = self.capacity - self.chosen.len();
            next = self.compute(next, wanted, level);
            self.rank(wanted, ties);
            for &(index, item) in self.top.best().iter().take(wanted) {
                if index < self.floor {
                    return false;
                }
                self.chosen.push(item);
                self.last = index;
            }
        }
        true
    }

    /// Computes indices of runs from `next` on until others are below; returns the next run.
    fn compute(&mut self, mut next: usize, wanted: usize, level: f64) -> usize {
        let Self { order, runs, computed, .. } = self;
        computed.clear();
        let mut worst = f64::NEG_INFINITY;
        while let Some(&(high, run)) = order.get(next) {
            if high < worst {
                break;
            }
            next += 1;
            let index = runs[run as usize].arm.index(level);
            let place = computed.partition_point(|&(other, _)| other >= index);
            computed.insert(place, (index, run));
            let mut rest = wanted;
            for &(index, run) in &*computed {
                worst = index;
                rest = rest.saturating_sub(runs[run as usize].len as usize);
                if rest == 0 {
                    break;
                }
            }
        }
        next
    }

    /// Finds the best arms of the runs with a computed index.
    fn rank(&mut self, wanted: usize, ties: Ties) {
        let Self { runs, members, computed, top, .. } = self;
        top.clear();
        for equals in computed.chunk_by(|one, other| one.0 == other.0) {
            if top.best().len() >= wanted {
                break;
            }
            let members = equals.iter().map(|&(_, run)| {
                let run = &runs[run as usize];
                &members[run.start as usize..][..run.len as usize]
            });
            top.offer_equals(members, equals[0].0, ties);
        }
    }

    /// Makes a list for `level` and some levels above it, with a floor below `from`.
    #[inline(never)]
    fn make(&mut self, arms: &[A], level: f64, from: f64) {
        if self.n_fresh >= self.capacity {
            // No other arm can win at any level.
            (self.floor, self.ceiling) = (f64::INFINITY, f64::INFINITY);
        } else {
            if level > self.made_at {
                self.pace = level - self.made_at;
            }
            self.floor = if from.is_finite() { from } else { 1.0 } - self.gap;
            self.ceiling = level + (2.0 * self.pace).min(level * FURTHEST_CEILING);
        }
        self.made_at = level;
        self.filter.set_floor(self.floor);
        self.used = 0;
        let Self { members, used, .. } = self;
        let list = |item| {
            members[*used] = count(item);
            *used += 1;
        };
        if self.floor == f64::INFINITY {
            (0..arms.len()).filter(|&item| arms[item].is_fresh()).for_each(list);
        } else {
            self.filter.list(arms, self.ceiling, list);
        }
        self.runs.clear();
        self.home.fill(UNLISTED);
        let listed = &mut self.members[..self.used];
        sort_by_key(listed, &|item| arms[item as usize].key());
        for (place, &item) in (0..).zip(&*listed) {
            let arm = &arms[item as usize];
            match self.runs.last_mut() {
                Some(run) if run.arm.key() == arm.key() => (run.len, run.room) = (run.len + 1, run.room + 1),
                _ => {
                    let reach = reach(arm, self.ceiling);
                    self.runs.push(Run { arm: *arm, reach, start: place, len: 1, room: 1 });
                }
            }
            self.home[item as usize] = count(self.runs.len() - 1);
            self.place[item as usize] = place;
        }
        if self.used < 4 * FEWEST_MEMBERS && self.runs.len() < FEWEST_MEMBERS {
            self.gap = (2.0 * self.gap).min(GAPS[1]);
        } else if self.runs.len() > MOST_RUNS || self.used > arms.len() / 2 {
            self.gap = (0.5 * self.gap).max(GAPS[0]);
        }
        self.order.clear();
        self.order.extend((0..).zip(&self.runs).map(|(home, run)| (run.reach * (1.0 + SLACK), home)));
        sort_by_reach(&mut self.order);
    }
}

/// Sorts items by the keys of their arms. Not generic, so that one sort is compiled.
fn sort_by_key(items: &mut [u32], key: &dyn Fn(u32) -> (u64, u64)) {
    items.sort_unstable_by_key(|&item| key(item));
}

/// Sorts runs by what they can reach, largest first.
fn sort_by_reach(order: &mut [(f64, u32)]) {
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
}

/// The index at a ceiling, which is infinite if arms are.
fn reach<A: Arm>(arm: &A, ceiling: f64) -> f64 {
    if arm.is_fresh() { f64::INFINITY } else { arm.index(ceiling) }
}

/// The number of an arm or a run; items are numbered by `u32`.
#[expect(clippy::cast_possible_truncation, reason = "at most twice the number of items")]
fn count(place: usize) -> u32 {
    place as u32
}
