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
//! Absent arms are not listed. A choice among some of the present arms passes over the listed ones
//! in order, so the list is made longer, by the ratio of present to available arms.
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

use crate::best_arms::FewArms;
use crate::exact::number;
use crate::top_l::{MOST_HASHED, Ties, TopL};
use click_models::{ItemId, ItemSet};
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
/// Lists of more arms than this are longer in proportion: they cost a pass over all arms.
const ARMS_A_LIST: usize = 16_384;
/// A list for choices among some arms is this many times longer than is needed on average.
const LONGER: usize = 3;
/// Comparing `m` of `n` available arms costs about as much as a choice from the list if `m * m` is
/// this number times `n`, for each arm that is chosen.
const FEW: usize = 4;
/// Range of the distance of the floor below the last winner; the lower end is far above the slack.
const GAPS: [f64; 2] = [1e-8, 0.25];

/// An arm whose index is a concave, increasing function of the level, and not negative.
pub(crate) trait Arm: Copy + Debug {
    /// Finds the best of few arms.
    type Few: FewArms<Self>;
    /// Finds the arms for a list.
    type Filter: Filter<Self>;
    /// Whether an index costs much more than a comparison of keys.
    const IS_SOLVED: bool = false;

    /// Arms with the same key have the same index at every level.
    fn key(&self) -> (u64, u64);

    /// Returns whether the index is infinite, at every level.
    #[inline]
    fn is_fresh(&self) -> bool {
        self.mean() == f64::INFINITY
    }

    /// The index at level 0; of a fresh arm infinite, unless it has an `is_fresh` of its own.
    fn mean(&self) -> f64;

    /// The index. Its relative error is far below [`SLACK`].
    fn index(&self, level: f64) -> f64;
}

/// Which arms have an index below a floor at every level up to a ceiling.
pub(crate) trait Filter<A>: Clone + Debug {
    /// The filter for this number of arms, all of them fresh.
    fn new(n_arms: usize) -> Self;

    fn set_floor(&mut self, floor: f64);

    /// There is a further arm, which is fresh.
    fn push(&mut self);

    /// Notes that the arm of `item` changed.
    fn set(&mut self, item: usize, arm: &mut A);

    /// Returns whether the index is certainly below the floor.
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
    /// Whether its members are in `tied`.
    is_tied: bool,
}

impl<A: Arm> Run<A> {
    /// A lower bound of the index at `share` of the ceiling.
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
    /// More equals than this are drawn by their places.
    pub(crate) most_hashed: usize,
    absent: ItemSet,
    /// Present arms with an infinite index.
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
    /// The largest possible index of every run with members, in decreasing order, with the only
    /// member if the run is known to have one, or `UNLISTED`.
    order: Vec<(f64, u32, u32)>,
    /// Approximate index of the last winner.
    last: f64,
    /// Buffer: runs whose bounds do not order them, with their indices and numbers of
    /// available members (of those that are wanted), in decreasing order.
    computed: Vec<(f64, u32, usize)>,
    top: TopL,
    /// The members of some runs that tie, and, as a buffer, those that are available.
    tied: ItemSet,
    some: ItemSet,
    /// The number of members that choices among some arms need.
    depth: usize,
    /// Arms that were compared because the list did not suffice, and the number of them for which
    /// a new one is made.
    compared: usize,
    patience: usize,
}

impl<A: Arm> Shortlist<A> {
    pub(crate) fn new(arms: &mut [A], capacity: usize) -> Self {
        let mut list = Self {
            capacity,
            filter: A::Filter::new(arms.len()),
            most_hashed: MOST_HASHED,
            absent: ItemSet::default(),
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
            last: f64::INFINITY,
            computed: Vec::with_capacity(4 * arms.len()),
            top: TopL::new(capacity),
            tied: ItemSet::none(arms.len()),
            some: ItemSet::none(arms.len()),
            depth: 0,
            compared: 0,
            patience: 0,
        };
        for (item, arm) in arms.iter_mut().enumerate() {
            if !arm.is_fresh() {
                list.set(item, true, arm);
            }
        }
        list
    }

    /// Returns whether no arm is absent.
    pub(crate) fn has_all(&self) -> bool {
        self.absent.is_empty()
    }

    /// Adds an arm, which is fresh.
    pub(crate) fn push(&mut self, arm: &mut A) {
        let n_arms = self.home.len() + 1;
        self.filter.push();
        self.home.push(UNLISTED);
        self.place.push(0);
        self.members.resize(4 * n_arms, 0);
        self.runs.reserve(4 * n_arms - self.runs.len());
        self.order.reserve(n_arms - self.order.len());
        self.computed.reserve(4 * n_arms - self.computed.len());
        self.tied.grow(n_arms);
        self.some.grow(n_arms);
        if !self.absent.is_empty() {
            self.absent.grow(n_arms);
        }
        self.n_fresh += 1;
        self.set(n_arms - 1, true, arm);
    }

    /// An arm left, or returned.
    pub(crate) fn set_present(&mut self, item: usize, present: bool, arm: &mut A) {
        self.absent.grow(self.home.len());
        let id = ItemId::from_index(item);
        if present != self.absent.contains(id) {
            return;
        }
        if present {
            self.absent.remove(id);
            self.n_fresh += usize::from(arm.is_fresh());
        } else {
            self.n_fresh -= usize::from(arm.is_fresh());
            self.absent.insert(id);
        }
        self.set(item, arm.is_fresh(), arm);
    }

    pub(crate) fn set(&mut self, item: usize, was_fresh: bool, arm: &mut A) {
        self.filter.set(item, arm);
        if self.absent.contains(ItemId::new(number(item))) {
            self.leave_for_good(item);
            return;
        }
        self.n_fresh = self.n_fresh + usize::from(arm.is_fresh()) - usize::from(was_fresh);
        let stays = if self.floor == f64::INFINITY {
            arm.is_fresh()
        } else {
            !self.filter.excludes(arm, self.ceiling)
        };
        if stays {
            let alone = self.leave(item);
            self.join(item, alone, arm);
        } else {
            self.leave_for_good(item);
        }
    }

    /// Takes the arm off the list.
    fn leave_for_good(&mut self, item: usize) {
        if let Some((_, entry)) = self.leave(item) {
            self.order.remove(entry);
        }
        self.home[item] = UNLISTED;
    }

    /// Removes the arm from its run. Returns the run and its place in the order if it is empty now.
    fn leave(&mut self, item: usize) -> Option<(u32, usize)> {
        let home = self.home[item];
        let run = self.runs.get_mut(home as usize)?;
        run.len -= 1;
        if run.is_tied {
            self.tied.remove(ItemId::new(number(item)));
        }
        let (hole, last) = (self.place[item], run.start + run.len);
        let moved = self.members[last as usize];
        self.members[hole as usize] = moved;
        self.place[moved as usize] = hole;
        if run.len > 0 {
            return None;
        }
        let high = run.reach * (1.0 + SLACK);
        let mut entry = self.order.partition_point(|&(other, ..)| other > high);
        while self.order[entry].1 != home {
            entry += 1;
        }
        Some((home, entry))
    }

    /// Lists the arm in the run with its counts, or in its own, in the place of `alone` if given.
    fn join(&mut self, item: usize, alone: Option<(u32, usize)>, arm: &A) {
        if self.used == self.members.len() {
            return self.give_up(item);
        }
        let reach = reach(arm, self.ceiling);
        let high = reach * (1.0 + SLACK);
        let entry = self.order.partition_point(|&(other, ..)| other > high);
        let is_equal = |run: u32| {
            let run = &self.runs[run as usize];
            run.len > 0 && run.arm.key() == arm.key()
        };
        let equals = self.order[entry..].iter().take_while(|&&(other, ..)| other == high);
        let equal = equals.zip(entry..).find(|&(&(_, run, _), _)| is_equal(run));
        let home = match (equal, alone) {
            (Some((&(_, home, _), entry)), alone) => {
                self.order[entry].2 = UNLISTED;
                if let Some((_, empty)) = alone {
                    self.order.remove(empty);
                }
                home
            }
            (None, Some((home, empty))) => {
                let run = &mut self.runs[home as usize];
                (run.arm, run.reach, run.is_tied) = (*arm, reach, false);
                // Mostly a short way.
                let entry = if empty < entry {
                    self.order[empty..entry].rotate_left(1);
                    entry - 1
                } else {
                    self.order[entry..=empty].rotate_right(1);
                    entry
                };
                self.order[entry] = (high, home, number(item));
                home
            }
            (None, None) => {
                self.runs.push(Run { arm: *arm, reach, start: 0, len: 0, room: 0, is_tied: false });
                let home = number(self.runs.len() - 1);
                self.order.insert(entry, (high, home, number(item)));
                home
            }
        };
        let run = &mut self.runs[home as usize];
        if run.len == run.room {
            // The run moves to where there is more room.
            let room = 2 * run.len + 1;
            if self.used + room as usize > self.members.len() {
                return self.give_up(item);
            }
            let place = number(self.used);
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
        if run.is_tied {
            self.tied.insert(ItemId::new(number(item)));
        }
        self.members[place as usize] = number(item);
        (self.home[item], self.place[item]) = (home, place);
    }

    /// There is no room for the arm: the next choice makes a new list.
    #[cold]
    fn give_up(&mut self, item: usize) {
        self.home[item] = UNLISTED;
        (self.floor, self.ceiling) = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// The arms of largest index at `level`, best first.
    pub(crate) fn select(&mut self, arms: &[A], level: f64, ties: Ties, chosen: &mut Vec<u32>) {
        if level > self.ceiling {
            self.make(arms, level, self.last);
        }
        while !self.choose(level, ties, None, chosen) {
            self.make(arms, level, self.floor);
        }
    }

    /// Chooses among the arms of `available` that are present; `false` if comparing them is faster.
    pub(crate) fn select_among(
        &mut self,
        arms: &[A],
        available: &ItemSet,
        level: f64,
        ties: Ties,
        chosen: &mut Vec<u32>,
    ) -> bool {
        let (m, n) = (available.len(), arms.len() - self.absent.len());
        if m < self.capacity || m.saturating_mul(m) < FEW * self.capacity * n {
            return false;
        }
        self.depth = self.depth.max(if m < n { LONGER * self.capacity * n / m } else { self.capacity });
        if level > self.ceiling {
            self.make(arms, level, self.last);
        }
        while !self.choose(level, ties, Some(available), chosen) {
            self.compared += m;
            if self.compared < self.patience {
                return false;
            }
            (self.compared, self.patience) = (0, 2 * self.patience.max(n / 4));
            self.gap = (2.0 * self.gap).min(GAPS[1]);
            self.make(arms, level, self.floor);
        }
        self.patience = n / 4;
        true
    }

    /// Chooses from the list; `false` if an unlisted arm may win.
    fn choose(&mut self, level: f64, ties: Ties, available: Option<&ItemSet>, chosen: &mut Vec<u32>) -> bool {
        let share = if level < self.ceiling { level / self.ceiling } else { 1.0 };
        chosen.clear();
        let mut next = 0;
        // Comparing all available arms is faster than passing over more members.
        let mut left = available.map_or(usize::MAX, ItemSet::len);
        while chosen.len() < self.capacity {
            let Some(&(_, run, only)) = self.order.get(next).filter(|_| left > 0) else { return false };
            let is_offered = |item| available.is_none_or(|set| set.contains(ItemId::new(item)));
            if only != UNLISTED && !is_offered(only) {
                (left, next) = (left.saturating_sub(1), next + 1);
                continue;
            }
            let run = &self.runs[run as usize];
            if run.len == 1 {
                let item = self.members[run.start as usize];
                if !is_offered(item) {
                    (left, next) = (left.saturating_sub(1), next + 1);
                    continue;
                }
                let low = run.low(share);
                let rest = self.order.get(next + 1).map_or(f64::NEG_INFINITY, |&(high, ..)| high);
                if low > rest && low >= self.floor {
                    chosen.push(item);
                    self.last = low;
                    next += 1;
                    continue;
                }
            }
            let wanted = self.capacity - chosen.len();
            next = self.compute(next, wanted, level, available, &mut left);
            if left == 0 {
                return false;
            }
            self.rank(wanted, ties, available);
            for &(index, item) in self.top.best.iter().take(wanted) {
                if index < self.floor {
                    return false;
                }
                chosen.push(item);
                self.last = index;
            }
        }
        true
    }

    /// Computes indices of runs from `next` on until others are below; returns the next run.
    fn compute(
        &mut self,
        mut next: usize,
        wanted: usize,
        level: f64,
        available: Option<&ItemSet>,
        left: &mut usize,
    ) -> usize {
        let Self { order, runs, members, computed, .. } = self;
        computed.clear();
        let mut worst = f64::NEG_INFINITY;
        while let Some(&(high, run, _)) = order.get(next) {
            if high < worst {
                break;
            }
            next += 1;
            let members = members_of(members, &runs[run as usize]);
            let n_offered = match available {
                None => members.len(),
                Some(set) => {
                    let mut n_offered = 0;
                    let enough = |&&item: &&u32| {
                        n_offered += usize::from(set.contains(ItemId::new(item)));
                        n_offered < wanted
                    };
                    let passed = members.iter().take(*left).take_while(enough).count();
                    *left -= (passed + 1).min(*left).min(members.len());
                    n_offered
                }
            };
            if n_offered == 0 {
                if *left == 0 {
                    break;
                }
                continue;
            }
            let index = runs[run as usize].arm.index(level);
            let place = computed.partition_point(|&(other, ..)| other >= index);
            computed.insert(place, (index, run, n_offered));
            let mut rest = wanted;
            for &(index, _, n_offered) in &*computed {
                worst = index;
                rest = rest.saturating_sub(n_offered);
                if rest == 0 {
                    break;
                }
            }
        }
        next
    }

    /// Finds the best available arms of the runs with a computed index.
    fn rank(&mut self, wanted: usize, ties: Ties, available: Option<&ItemSet>) {
        let Self { runs, members, computed, top, tied, some, most_hashed, .. } = self;
        let most_hashed = *most_hashed;
        top.clear();
        for equals in computed.chunk_by(|one, other| one.0 == other.0) {
            let wanted = wanted.saturating_sub(top.best.len());
            if wanted == 0 {
                break;
            }
            let index = equals[0].0;
            let n_members = equals.iter().map(|&(_, run, _)| runs[run as usize].len as usize).sum();
            if n_members <= most_hashed || available.is_some_and(|set| set.len() <= most_hashed) {
                let is_offered = |item| available.is_none_or(|set| set.contains(ItemId::new(item)));
                let members = equals.iter().map(|&(_, run, _)| members_of(members, &runs[run as usize]));
                top.offer_equals(members, is_offered, index, ties);
                continue;
            }
            tie(equals, n_members, runs, members, tied);
            let Some(set) = available else {
                top.draw_equals(wanted, n_members, index, ties, |place| tied.nth(place));
                continue;
            };
            some.clone_from(tied);
            some.keep(set);
            if some.len() <= most_hashed {
                some.iter().for_each(|item| top.offer(item.number(), index, ties));
            } else {
                top.draw_equals(wanted, some.len(), index, ties, |place| some.nth(place));
            }
        }
    }

    /// Writes all present arms that reach the floor into `members`.
    fn list(&mut self, arms: &[A]) {
        self.filter.set_floor(self.floor);
        self.used = 0;
        let Self { members, used, absent, .. } = self;
        let list = |item| {
            if !absent.contains(ItemId::new(number(item))) {
                members[*used] = number(item);
                *used += 1;
            }
        };
        if self.floor == f64::INFINITY {
            (0..arms.len()).filter(|&item| arms[item].is_fresh()).for_each(list);
        } else {
            self.filter.list(arms, self.ceiling, list);
        }
    }

    /// The index of the last winner among all present arms, by a pass over them.
    fn last_of_all(&mut self, arms: &[A], level: f64) -> f64 {
        self.top.clear();
        for (item, arm) in (0..).zip(arms) {
            if !arm.is_fresh() && !self.absent.contains(ItemId::new(item)) {
                self.top.offer(item, arm.index(level), Ties::of(0));
            }
        }
        self.top.best.last().map_or(1.0, |last| last.0)
    }

    /// Makes a list for `level` and some levels above it, with a floor below `from`.
    #[inline(never)]
    fn make(&mut self, arms: &[A], level: f64, from: f64) {
        let depth = std::mem::take(&mut self.depth).max(self.capacity);
        if self.n_fresh >= depth {
            // No other arm can win at any level.
            (self.floor, self.ceiling) = (f64::INFINITY, f64::INFINITY);
            self.list(arms);
        } else {
            if level > self.made_at {
                self.pace = level - self.made_at;
            }
            let from = if from.is_finite() { from } else { self.last_of_all(arms, level) };
            self.floor = from - self.gap;
            self.ceiling = level + (2.0 * self.pace).min(level * FURTHEST_CEILING);
            self.list(arms);
            // No index is negative.
            while self.used < depth && self.floor > 0.0 {
                self.gap *= 2.0;
                self.floor = from - self.gap;
                self.list(arms);
            }
        }
        self.made_at = level;
        self.tied.clear();
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
                    self.runs.push(Run { arm: *arm, reach, start: place, len: 1, room: 1, is_tied: false });
                }
            }
            self.home[item as usize] = number(self.runs.len() - 1);
            self.place[item as usize] = place;
        }
        let scale = (depth / (LONGER * self.capacity)).max(arms.len() / ARMS_A_LIST).max(1);
        if self.used < 4 * scale * FEWEST_MEMBERS && self.runs.len() < scale * FEWEST_MEMBERS {
            self.gap = (2.0 * self.gap).min(GAPS[1]);
        } else if self.runs.len() > scale * MOST_RUNS || self.used > arms.len() / 2 {
            self.gap = (0.5 * self.gap).max(GAPS[0]);
        }
        self.order.clear();
        self.order.extend((0..).zip(&self.runs).map(|(home, run)| {
            let only = if run.len == 1 { self.members[run.start as usize] } else { UNLISTED };
            (run.reach * (1.0 + SLACK), home, only)
        }));
        sort_by_reach(&mut self.order);
    }
}

fn members_of<'a, A>(members: &'a [u32], run: &Run<A>) -> &'a [u32] {
    &members[run.start as usize..][..run.len as usize]
}

/// Makes `tied` contain the members of these runs, in all `n_members`, and no others.
fn tie<A>(
    equals: &[(f64, u32, usize)],
    n_members: usize,
    runs: &mut [Run<A>],
    members: &[u32],
    tied: &mut ItemSet,
) {
    let add = |runs: &mut [Run<A>], tied: &mut ItemSet| {
        for &(_, run, _) in equals {
            let run = &mut runs[run as usize];
            if !std::mem::replace(&mut run.is_tied, true) {
                for &item in members_of(members, run) {
                    tied.insert(ItemId::new(item));
                }
            }
        }
    };
    add(runs, tied);
    if tied.len() > n_members {
        tied.clear();
        for run in runs.iter_mut() {
            run.is_tied = false;
        }
        add(runs, tied);
    }
}

/// Sorts items by the keys of their arms. Not generic, so that one sort is compiled.
fn sort_by_key(items: &mut [u32], key: &dyn Fn(u32) -> (u64, u64)) {
    items.sort_unstable_by_key(|&item| key(item));
}

/// Sorts runs by what they can reach, largest first.
fn sort_by_reach(order: &mut [(f64, u32, u32)]) {
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
}

/// The index at a ceiling, which is infinite if arms are.
fn reach<A: Arm>(arm: &A, ceiling: f64) -> f64 {
    if arm.is_fresh() { f64::INFINITY } else { arm.index(ceiling) }
}
