use super::cell_counts::CellCounts;
use crate::checked::with_state;
use crate::coin::place;
use crate::exact::{float, number};
use crate::setup::setup;
use crate::{Decision, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use confidence::Rate;
use rand::Rng;

with_state! {
/// UCB1 over cells: every pair of a row and a column is a separate arm.
///
/// At round `t` a cell with `n` plays and mean `mu` has the index `mu + sqrt(2 ln t / n)`. The
/// policy plays the cell of largest index; cells never played come first.
///
/// Reference: Auer, Cesa-Bianchi, Fischer, *Finite-time analysis of the multiarmed bandit problem*,
/// Machine Learning 47, 2002, figure 1; a baseline in Katariya et al., IJCAI 2017, section 5.1.
/// Deviations: `t` is the round being decided; the paper counts the plays before it.
///
/// Numerics: the index is `mu + sqrt(2 / n) sqrt(ln t)`, rounded step by step and therefore never
/// decreasing in `t`. *Lazily exact*: a list contains the cells whose index reaches a floor at a
/// somewhat later round, the ceiling. Before the ceiling no other cell can win as long as the best
/// listed index is not below the floor. Cells with the same counts have the same index, and are one
/// run on the list. *Ties*: with thousands of cells, hundreds have the same counts in most rounds.
/// One draw a round is the rank of the cell to play among the tied ones, by number.
pub struct Ucb1 {
    counts: CellCounts,
} derived {
    arms: Arms,
}
}

impl Ucb1 {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self::from(State { counts: CellCounts::new(shape) })
    }
}

impl From<State> for Ucb1 {
    fn from(State { counts }: State) -> Self {
        let arms = counts.all().map(|(plays, clicks)| Arm::new(plays, clicks)).collect();
        Self { arms: Arms::new(arms), counts }
    }
}

setup!(Ucb1, &[], |policy| policy.counts.sizes());

impl Select<Cell> for Ucb1 {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        let root_of_log = Rate::LOG.level(self.counts.rounds.next()).sqrt();
        let winner = self.arms.select(root_of_log, rng.next_u64());
        out.action = self.counts.shape.cell(winner as usize);
    }
}

impl Update<Cell, CellClick> for Ucb1 {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        if let Some(cell) = self.counts.record(decision.action, *feedback) {
            self.arms.set(cell, Arm::new(self.counts.plays(cell), self.counts.clicks(cell)));
        }
    }
}

/// The terms of the index; equal for equal counts only.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arm {
    /// Infinite for an arm never played.
    mean: f64,
    width: f64,
}

impl Arm {
    #[inline]
    fn new(plays: u64, clicks: u64) -> Self {
        if plays == 0 {
            return Self { mean: f64::INFINITY, width: 0.0 };
        }
        let plays = float(plays);
        Self { mean: float(clicks) / plays, width: (2.0 / plays).sqrt() }
    }

    #[inline]
    fn index(self, root_of_log: f64) -> f64 {
        self.mean + self.width * root_of_log
    }
}

/// Marks an arm that is not listed.
const UNLISTED: u32 = u32::MAX;
/// The ceiling exceeds the root of the logarithm by this share of it.
const RISE: f64 = 1.0 / 1024.0;
/// A ceiling that no round reaches.
const NEVER: f64 = 1e9;
/// A list with fewer members makes the next one longer; a list with more runs makes it shorter.
const FEWEST_MEMBERS: usize = 64;
const MOST_RUNS: usize = 32;
/// With this many runs, searching a list takes longer than making a new one.
const RUNS_KEPT: usize = 192;
/// Range of the distance of the floor below the best index.
const GAPS: [f64; 2] = [1e-9, 0.25];

/// Listed arms with the same counts.
#[derive(Debug, Clone)]
struct Run {
    arm: Arm,
    start: u32,
    len: u32,
}

/// Arms, and a list of the arms that can win for a while.
#[derive(Debug, Clone)]
struct Arms {
    indexed: Vec<Arm>,
    floor: f64,
    ceiling: f64,
    gap: f64,
    runs: Vec<Run>,
    /// The list is kept up to this number of runs.
    most_runs: usize,
    /// Run by run, each sorted by number.
    members: Vec<u32>,
    /// The run of every arm.
    home: Vec<u32>,
    /// Buffer for ties between several runs.
    tied: Vec<u32>,
}

impl Arms {
    fn new(arms: Vec<Arm>) -> Self {
        let n = arms.len();
        Self {
            indexed: arms,
            floor: f64::INFINITY,
            ceiling: f64::NEG_INFINITY,
            gap: 1e-3,
            // A new list fills at most half; the rest is room for arms that join.
            runs: Vec::with_capacity(2 * n + RUNS_KEPT),
            most_runs: 0,
            members: Vec::with_capacity(2 * n),
            home: vec![UNLISTED; n],
            tied: Vec::with_capacity(2 * n),
        }
    }

    /// Sets the counts of an arm.
    #[inline]
    fn set(&mut self, item: usize, arm: Arm) {
        self.indexed[item] = arm;
        let alone = self.leave(item);
        if arm.index(self.ceiling) < self.floor {
            return;
        }
        if let Some(home) = alone {
            // At the place of its own run, which still holds its number.
            let run = &mut self.runs[home as usize];
            (run.arm, run.len) = (arm, 1);
            self.home[item] = home;
            return;
        }
        if self.members.len() == self.members.capacity() || self.runs.len() >= self.most_runs {
            // The next choice makes a new list.
            self.ceiling = f64::NEG_INFINITY;
            return;
        }
        self.home[item] = number(self.runs.len());
        self.runs.push(Run { arm, start: number(self.members.len()), len: 1 });
        self.members.push(number(item));
    }

    /// Removes the arm from its run. Returns the run if it is empty now.
    #[inline]
    fn leave(&mut self, item: usize) -> Option<u32> {
        let home = std::mem::replace(&mut self.home[item], UNLISTED);
        let run = self.runs.get_mut(home as usize)?;
        if run.len > 1 {
            let members = &mut self.members[run.start as usize..][..run.len as usize];
            let hole = members.partition_point(|&member| member < number(item));
            members.copy_within(hole + 1.., hole);
        }
        run.len -= 1;
        (run.len == 0).then_some(home)
    }

    /// The arm of largest index.
    #[inline]
    fn select(&mut self, root_of_log: f64, draw: u64) -> u32 {
        let mut best = self.best_listed(root_of_log);
        while root_of_log > self.ceiling || best < self.floor {
            self.make(root_of_log);
            best = self.best_listed(root_of_log);
        }
        let Self { runs, members, tied, .. } = self;
        let mut ahead = runs.iter().filter(|run| run.len > 0 && run.arm.index(root_of_log) == best);
        let members = |run: &Run| &members[run.start as usize..][..run.len as usize];
        // The first run exists: it has the best index.
        let (first, second) = (ahead.next(), ahead.next());
        if let (Some(only), None) = (first, second) {
            return members(only)[place(draw, only.len as usize)];
        }
        tied.clear();
        for run in first.into_iter().chain(second).chain(ahead) {
            tied.extend_from_slice(members(run));
        }
        let at = place(draw, tied.len());
        nth(tied, at)
    }

    #[inline]
    fn best_listed(&self, root_of_log: f64) -> f64 {
        let indices = self.runs.iter().filter(|run| run.len > 0).map(|run| run.arm.index(root_of_log));
        indices.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Makes a list for this round and some later ones.
    #[inline(never)]
    fn make(&mut self, root_of_log: f64) {
        let Self { indexed: arms, runs, members, home, .. } = self;
        let best = arms.iter().map(|arm| arm.index(root_of_log)).fold(f64::NEG_INFINITY, f64::max);
        (self.floor, self.ceiling) = if best == f64::INFINITY {
            // No other arm can win in any round.
            (best, NEVER)
        } else {
            (best - self.gap, root_of_log * (1.0 + RISE))
        };
        let (floor, ceiling) = (self.floor, self.ceiling);
        members.clear();
        members
            .extend((0..).zip(&*arms).filter(|(_, arm)| arm.index(ceiling) >= floor).map(|(item, _)| item));
        members.sort_unstable_by_key(|&item| {
            let Arm { mean, width } = arms[item as usize];
            (width.to_bits(), mean.to_bits(), item)
        });
        runs.clear();
        home.fill(UNLISTED);
        for (at, &item) in (0..).zip(&*members) {
            match runs.last_mut() {
                Some(run) if run.arm == arms[item as usize] => run.len += 1,
                _ => runs.push(Run { arm: arms[item as usize], start: at, len: 1 }),
            }
            home[item as usize] = number(runs.len() - 1);
        }
        self.most_runs = runs.len() + RUNS_KEPT;
        if members.len() < FEWEST_MEMBERS {
            self.gap = (2.0 * self.gap).min(GAPS[1]);
        } else if runs.len() > MOST_RUNS {
            self.gap = (0.5 * self.gap).max(GAPS[0]);
        }
    }
}

/// The arm at a place of the arms in order.
fn nth(arms: &mut [u32], place: usize) -> u32 {
    *arms.select_nth_unstable(place).1
}
