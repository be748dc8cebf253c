//! UTS, unimodal Thompson sampling for rank-one bandits: Thompson sampling on the row and the column of the leader.
//!
//! The *leader* is the cell of largest mean. Every second time that a cell leads, it is played. Otherwise every cell of its row and of
//! its column gets a draw from `Beta(1 + clicks, 1 + plays - clicks)`, and the largest draw is played. In a matrix of rank one, every
//! cell except the best has a better one in its row or its column, so the leader climbs to the best cell.
//!
//! Reference: Trinh, Kaufmann, Vernade, Combes, *Solving Bernoulli rank-one bandits with unimodal Thompson sampling*, ALT 2020,
//! Algorithm 1. Deviations: the period with which a leader is played is a parameter of the paper, and its analysis needs at least 2; here
//! the default is 2. It matters: on the needle in a haystack with K = L = 32 (.75 against .25, 200,000 rounds) the regret is below 1,300
//! with 2, and above with `K + L - 1`, the number of draws, as secondary descriptions have it (a test checks both,
//! `thompson_sampling_finds_the_papers_needle`). The loss comes from leaders with a few lucky clicks, which only playing them reveals.
//! The mean of a cell never played counts as 0, and ties for the leader are random.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `counts` | `S`, `N` | `n_rows` x `n_columns` | - |
//! | `leads` | `l_k(t)` | the same | rounds |
//! | leader | `L(t)` | - | cell |
//! | `lead_every` | gamma | - | rounds |
//!
//! Numerics: one key for ties a round, then two Gamma draws for every cell of the row (by column) and then of the column (by row, without
//! the leader). The leader is tracked exactly: another cell is searched when the leader's mean falls to one that another cell may have.
//! Complexity: O(K + L) draws a round, and occasionally O(K L) comparisons.
//!
//! # Examples
//!
//! A table of one cell has one leader. A good cell among bad ones is found through its row and column:
//!
//! ```
//! use click_models::{Cell, ClickModel, RankOneModel};
//! use policies::{Decision, Select, Update, Uts};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = RankOneModel::from_values(&[0.1, 0.9, 0.1], &[0.1, 0.1, 0.9])?;
//! let mut policy = Uts::new(users.shape());
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let best = (0..1000)
//!     .filter(|_| {
//!         policy.select(&mut rng, &mut decision);
//!         policy.update(&decision, &users.respond(&decision.action, &mut rng));
//!         decision.action == users.optimal_action()
//!     })
//!     .count();
//! assert!(best > 900);
//! # Ok::<(), click_models::Error>(())
//! ```

use super::cell_counts::CellCounts;
use crate::error::{MAX_COUNT, check_counts};
use crate::exact::float;
use crate::sampling::{BetaShape, Sampler};
use crate::sizes::Sizes;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Error, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Unimodal Thompson sampling.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Uts {
    lead_every: u64,
    counts: CellCounts,
    /// Number of rounds in which every cell has led.
    leads: Vec<u64>,
    #[serde(skip)]
    posteriors: Vec<BetaShape>,
    #[serde(skip)]
    leaders: Leaders,
    #[serde(skip)]
    sampler: Sampler,
}

#[derive(Deserialize)]
struct Saved {
    lead_every: u64,
    counts: CellCounts,
    leads: Vec<u64>,
}

impl Uts {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self::leading_every(shape, 2)
    }

    /// A fresh policy in which a cell is played every `rounds`-th time that it leads. 0 counts as 1, and a number above 2^40 as
    /// 2^40.
    pub fn leading_every(shape: TableShape, rounds: u64) -> Self {
        let (counts, leads) = (CellCounts::new(shape), vec![0; shape.n_cells()]);
        Self::assemble(Saved { lead_every: rounds.clamp(1, MAX_COUNT), counts, leads })
    }

    fn assemble(Saved { lead_every, counts, leads }: Saved) -> Self {
        let posteriors = counts.all().map(|(plays, clicks)| posterior(plays, clicks)).collect();
        let means = counts.all().map(|(plays, clicks)| mean(plays, clicks)).collect();
        Self { leaders: Leaders::new(means), lead_every, counts, leads, posteriors, sampler: Sampler::new() }
    }

    /// The largest of one draw for each cell of the leader's row and column.
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, leader: usize, rng: &mut R) -> usize {
        let n_columns = self.counts.shape().n_columns();
        let (row, column) = (leader / n_columns, leader % n_columns);
        let in_row = row * n_columns..(row + 1) * n_columns;
        let in_column = (column..self.posteriors.len()).step_by(n_columns).filter(|&cell| cell != leader);
        let mut best = (f64::NEG_INFINITY, leader);
        for cell in in_row.chain(in_column) {
            let draw = self.sampler.beta(self.posteriors[cell], rng);
            if draw > best.0 {
                best = (draw, cell);
            }
        }
        best.1
    }
}

#[inline]
fn posterior(plays: u64, clicks: u64) -> BetaShape {
    BetaShape::after(float(clicks), float(plays - clicks))
}

#[inline]
fn mean(plays: u64, clicks: u64) -> f64 {
    float(clicks) / float(plays.max(1))
}

impl TryFrom<Saved> for Uts {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        if saved.leads.len() != saved.counts.shape().n_cells() {
            return Err(Error::SavedSizes);
        }
        check_counts(saved.lead_every, &saved.leads, &saved.leads)?;
        let saved = Saved { lead_every: saved.lead_every.max(1), ..saved };
        Ok(Self::assemble(saved))
    }
}

impl Sizes for Uts {
    fn sizes(&self) -> [usize; 2] {
        self.counts.sizes()
    }
}

impl Select<Cell> for Uts {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        self.counts.next_round();
        let leader = self.leaders.select(Ties::draw(rng));
        self.leads[leader] += 1;
        let plays_leader = self.leads[leader].is_multiple_of(self.lead_every);
        out.action = self.counts.shape().cell(if plays_leader { leader } else { self.sample(leader, rng) });
    }
}

impl Update<Cell, CellClick> for Uts {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        if let Some(cell) = self.counts.record(decision.action, *feedback) {
            let (plays, clicks) = (self.counts.plays(cell), self.counts.clicks(cell));
            self.posteriors[cell] = posterior(plays, clicks);
            self.leaders.set(cell, mean(plays, clicks));
        }
    }
}

/// The cells of largest mean.
#[derive(Debug, Clone)]
struct Leaders {
    means: Vec<f64>,
    best: f64,
    /// All cells whose mean is `best`, in any order; empty if they have to be searched.
    cells: Vec<u32>,
    /// No other cell has a larger mean.
    others: f64,
    top: TopL,
}

impl Leaders {
    fn new(means: Vec<f64>) -> Self {
        let cells = Vec::with_capacity(means.len());
        Self { means, best: 0.0, cells, others: 0.0, top: TopL::new(1) }
    }

    fn find(&mut self) {
        self.best = self.means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.others = f64::NEG_INFINITY;
        for (cell, &mean) in (0..).zip(&self.means) {
            if mean == self.best {
                self.cells.push(cell);
            } else {
                self.others = self.others.max(mean);
            }
        }
    }

    #[inline]
    fn select(&mut self, ties: Ties) -> usize {
        if self.cells.is_empty() {
            self.find();
        }
        if let [only] = self.cells[..] {
            return only as usize;
        }
        self.top.clear();
        self.top.offer_equals(&self.cells, self.best, ties);
        self.top.best()[0].1 as usize
    }

    /// Sets the mean of a cell.
    #[inline]
    fn set(&mut self, cell: usize, mean: f64) {
        let before = std::mem::replace(&mut self.means[cell], mean);
        if self.cells.is_empty() || mean == before {
            return;
        }
        let led = before == self.best;
        if mean > self.best {
            // The only leader: former leaders are among the others now.
            if !(led && self.cells.len() == 1) {
                self.others = self.best;
            }
            self.best = mean;
            self.cells.clear();
            self.cells.push(number(cell));
        } else if led {
            if self.cells.len() == 1 && mean > self.others {
                self.best = mean;
                return;
            }
            self.cells.retain(|&other| other as usize != cell);
            self.others = self.others.max(mean);
        } else if mean == self.best {
            self.cells.push(number(cell));
        } else {
            self.others = self.others.max(mean);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "cells are numbered by 32 bits")]
fn number(cell: usize) -> u32 {
    cell as u32
}
