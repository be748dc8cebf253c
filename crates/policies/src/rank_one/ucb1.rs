//! UCB1 over cells: every pair of a row and a column is an arm of its own.
//!
//! At round `t` a cell with `n` plays and mean `mu` has the index `mu + sqrt(2 ln t / n)`; the cell of largest index is played, those
//! never played first.
//!
//! Reference: Auer, Cesa-Bianchi, Fischer, *Finite-time analysis of the multiarmed bandit problem*, Machine Learning 47, 2002, figure 1,
//! as a rival in Katariya et al., IJCAI 2017, section 5.1. Deviations: `t` is the round being decided, where the paper counts the
//! plays before it.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `counts` | `x-bar_j`, `n_j` | `n_rows` x `n_columns` | - |
//! | round being decided | n + 1 | - | - |
//!
//! Numerics: the index is `mu + sqrt(2 / n) sqrt(ln t)`, rounded step by step and therefore never falling in `t`. *Lazily exact*: a list
//! is made of the cells whose index at a somewhat later round, the ceiling, reaches a floor. While the round is before the ceiling and the
//! best listed index is not below the floor, no other cell can win. Cells with the same counts have the same index and are one run on
//! the list. The choices are the same as with all indices worked out every round. *Ties*: with thousands of cells, hundreds have the same
//! counts in most rounds, and a hash of each, as other policies break their ties, would cost more than all the rest. One draw a round says
//! the how-manieth of the tied cells, in the order of their numbers, is played; that does not depend on how they were found either.
//! Complexity: a multiply-add a run a round, and moving half of a run when a cell leaves it; O(cells) multiply-adds when another list
//! is made, hundreds of rounds apart.
//!
//! # Examples
//!
//! Cell 0 with 1 click in 2 plays and cell 1 with none in 1: `1/2 + sqrt(ln t)` against `sqrt(2 ln t)`. The latter is larger from
//! `sqrt(ln t) = 1/2 / (sqrt(2) - 1) = 1.2071` on: `t = 4.29`, so not at round 4, but at round 5.
//!
//! ```
//! use click_models::{Cell, CellClick, TableShape};
//! use policies::{Decision, Select, Ucb1, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let mut policy = Ucb1::new(TableShape::new(1, 2)?);
//! for (column, clicked) in [(0, true), (0, false), (1, false)] {
//!     policy.update(&Decision { action: Cell::new(0, column), note: () }, &CellClick { clicked });
//! }
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! for round in 1..=5 {
//!     policy.select(&mut rng, &mut decision);
//!     assert_eq!(decision.action, Cell::new(0, u32::from(round == 5)));
//! }
//! # Ok::<(), click_models::Error>(())
//! ```

use super::cell_counts::CellCounts;
use crate::coin::place;
use crate::exact::float;
use crate::sizes::Sizes;
use crate::{Decision, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// UCB1 over cells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct Ucb1 {
    counts: CellCounts,
    #[serde(skip)]
    arms: Arms,
}

#[derive(Deserialize)]
struct Saved {
    counts: CellCounts,
}

impl Ucb1 {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self::from(Saved { counts: CellCounts::new(shape) })
    }
}

impl From<Saved> for Ucb1 {
    fn from(Saved { counts }: Saved) -> Self {
        let arms = counts.all().map(|(plays, clicks)| Arm::new(plays, clicks)).collect();
        Self { arms: Arms::new(arms), counts }
    }
}

impl Sizes for Ucb1 {
    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Cell> for Ucb1 {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        let root_of_log = Rate::LOG.level(self.counts.next_round()).sqrt();
        let winner = self.arms.select(root_of_log, rng.next_u64());
        out.action = self.counts.shape().cell(winner as usize);
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

/// What the index is made of; the same for the same counts only.
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

/// No home: the arm is not listed.
const UNLISTED: u32 = u32::MAX;
/// The ceiling exceeds the root of the logarithm by this share of it.
const RISE: f64 = 1.0 / 1024.0;
/// A ceiling that no round reaches.
const NEVER: f64 = 1e9;
/// A list of fewer members or more runs makes the next one longer or shorter.
const FEWEST_MEMBERS: usize = 64;
const MOST_RUNS: usize = 32;
/// With this number of runs, those that joined among them, a list takes longer to look through than another one to be made.
const RUNS_KEPT: usize = 192;
/// How far below the best index a floor may be.
const GAPS: [f64; 2] = [1e-9, 0.25];

/// Listed arms with the same counts.
#[derive(Debug, Clone)]
struct Run {
    arm: Arm,
    start: u32,
    len: u32,
}

/// Arms, and a list of those that can win for a while.
#[derive(Debug, Clone)]
struct Arms {
    indexed: Vec<Arm>,
    floor: f64,
    ceiling: f64,
    gap: f64,
    runs: Vec<Run>,
    /// Runs up to which the list is kept.
    most_runs: usize,
    /// Run by run, each by number.
    members: Vec<u32>,
    /// The run of every arm.
    home: Vec<u32>,
    /// Where several runs tie.
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
            // A new list takes up half at most; the rest is room for what joins.
            runs: Vec::with_capacity(2 * n + RUNS_KEPT),
            most_runs: 0,
            members: Vec::with_capacity(2 * n),
            home: vec![UNLISTED; n],
            tied: Vec::with_capacity(2 * n),
        }
    }

    /// The arm now has other counts.
    #[inline]
    fn set(&mut self, item: usize, arm: Arm) {
        self.indexed[item] = arm;
        let alone = self.leave(item);
        if arm.index(self.ceiling) < self.floor {
            return;
        }
        if let Some(home) = alone {
            // In the run's own place, which still holds its number.
            let run = &mut self.runs[home as usize];
            (run.arm, run.len) = (arm, 1);
            self.home[item] = home;
            return;
        }
        if self.members.len() == self.members.capacity() || self.runs.len() >= self.most_runs {
            // The next choice makes another list.
            self.ceiling = f64::NEG_INFINITY;
            return;
        }
        self.home[item] = count(self.runs.len());
        self.runs.push(Run { arm, start: count(self.members.len()), len: 1 });
        self.members.push(count(item));
    }

    /// Takes the arm out of its run. Gives the run if it was alone there.
    #[inline]
    fn leave(&mut self, item: usize) -> Option<u32> {
        let home = std::mem::replace(&mut self.home[item], UNLISTED);
        let run = self.runs.get_mut(home as usize)?;
        if run.len > 1 {
            let members = &mut self.members[run.start as usize..][..run.len as usize];
            let hole = members.partition_point(|&member| member < count(item));
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
        // The first exists: it has the best index.
        let (first, second) = (ahead.next(), ahead.next());
        if let (Some(only), None) = (first, second) {
            return members(only)[place(draw, only.len as usize)];
        }
        tied.clear();
        for run in first.into_iter().chain(second).chain(ahead) {
            tied.extend_from_slice(members(run));
        }
        let at = place(draw, tied.len());
        *tied.select_nth_unstable(at).1
    }

    #[inline]
    fn best_listed(&self, root_of_log: f64) -> f64 {
        let indices = self.runs.iter().filter(|run| run.len > 0).map(|run| run.arm.index(root_of_log));
        indices.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Makes a list for now and some rounds more.
    #[inline(never)]
    fn make(&mut self, root_of_log: f64) {
        let Self { indexed: arms, runs, members, home, .. } = self;
        let best = arms.iter().map(|arm| arm.index(root_of_log)).fold(f64::NEG_INFINITY, f64::max);
        (self.floor, self.ceiling) = if best == f64::INFINITY {
            // Nothing else can win, whatever the round.
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
            home[item as usize] = count(runs.len() - 1);
        }
        self.most_runs = runs.len() + RUNS_KEPT;
        if members.len() < FEWEST_MEMBERS {
            self.gap = (2.0 * self.gap).min(GAPS[1]);
        } else if runs.len() > MOST_RUNS {
            self.gap = (0.5 * self.gap).max(GAPS[0]);
        }
    }
}

/// The number of an arm or a run; cells are numbered by 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "at most twice the number of cells")]
fn count(place: usize) -> u32 {
    place as u32
}
