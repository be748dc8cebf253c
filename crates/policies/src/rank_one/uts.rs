mod cross;
#[cfg(test)]
mod tests;

use super::cell_counts::CellCounts;
use crate::error::{MAX_COUNT, check_counts};
use crate::exact::float;
use crate::largest::Largest;
use crate::sampling::Sampler;
use crate::sampling::beta_posteriors::BetaPosteriors;
use crate::sampling::thinning::Posteriors;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use cross::{Cross, LeaderDraws, SavedLeaderDraws};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// From this number of rows and columns together on, draws are thinned.
const LARGE: usize = 256;

/// UTS, unimodal Thompson sampling: draws for the row and the column of the leader.
///
/// The *leader* is the cell of largest mean; ties are random, and a cell never played has mean 0.
/// Every second time that a cell leads, it is played. Otherwise every cell of its row and of its
/// column gets a draw from `Beta(1 + clicks, 1 + plays - clicks)`, and the largest draw is played.
/// In a matrix of rank one, every cell except the best has a better one in its row or its column,
/// so the leader climbs to the best cell.
///
/// Reference: Trinh, Kaufmann, Vernade, Combes, *Solving Bernoulli rank-one bandits with unimodal
/// Thompson sampling*, ALT 2020, Algorithm 1. The period with which a leader is played is a
/// parameter of the paper, whose analysis needs at least 2, the default here. With `K + L - 1`, as
/// secondary descriptions have it, regret is larger (`thompson_sampling_finds_the_papers_needle`),
/// since only playing leaders reveals those with a few lucky clicks.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts` | `S`, `N` | `n_rows` x `n_columns` | clicks, rounds |
/// | `leads` | `l_k(t)` | the same | rounds |
/// | `lead_every` | gamma | - | rounds |
///
/// A round draws one key for ties, then two Gamma draws for every cell of the row (by column) and
/// of the column (by row, without the leader). From 256 rows and columns together on, most draws of
/// a leader that lasts are left out by thinning; choices have the same distribution.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State")]
pub struct Uts {
    lead_every: u64,
    counts: CellCounts,
    /// Number of rounds in which every cell has led.
    leads: Vec<u64>,
    /// `None` if all draws are made in every round.
    thinned: Option<LeaderDraws>,
    #[serde(skip)]
    posteriors: BetaPosteriors,
    #[serde(skip)]
    leaders: Largest,
    #[serde(skip)]
    sampler: Sampler,
}

#[derive(Deserialize)]
struct State {
    lead_every: u64,
    counts: CellCounts,
    leads: Vec<u64>,
    thinned: Option<SavedLeaderDraws<'static>>,
}

impl Uts {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self::leading_every(shape, 2)
    }

    /// A fresh policy that plays a leader every `rounds`-th time; 0 counts as 1.
    pub fn leading_every(shape: TableShape, rounds: u64) -> Self {
        let (counts, leads) = (CellCounts::new(shape), vec![0; shape.n_cells()]);
        let policy = Self::assemble(rounds.clamp(1, MAX_COUNT), counts, leads);
        policy.with_thinning(shape.n_rows() + shape.n_columns() >= LARGE)
    }

    /// The policy from the start, with or without thinning: the same distribution from another
    /// random stream. By default thinning begins at 256 rows and columns, so that smaller runs
    /// repeat bit for bit.
    #[must_use]
    pub fn with_thinning(self, thins: bool) -> Self {
        let shape = self.counts.shape;
        let fresh = Self::assemble(self.lead_every, CellCounts::new(shape), vec![0; shape.n_cells()]);
        Self { thinned: thins.then(|| LeaderDraws::new(&fresh.posteriors, shape)), ..fresh }
    }

    fn assemble(lead_every: u64, counts: CellCounts, leads: Vec<u64>) -> Self {
        let posteriors = BetaPosteriors::new(counts.all().map(evidence));
        let means = counts.all().map(|(plays, clicks)| mean(plays, clicks)).collect();
        let leaders = Largest::new(means);
        Self { lead_every, counts, leads, thinned: None, posteriors, leaders, sampler: Sampler::new() }
    }

    /// The cell to play among those of the leader's row and column.
    fn sample<R: Rng + ?Sized>(&mut self, leader: usize, rng: &mut R) -> usize {
        let cross = Cross::new(&self.posteriors, self.counts.shape, leader);
        let thinned = self.thinned.as_mut().and_then(|thinned| thinned.select(&cross, rng));
        thinned.unwrap_or_else(|| self.draw_all(leader, rng))
    }

    /// The largest of one draw for each cell of the leader's row and column.
    fn draw_all<R: Rng + ?Sized>(&self, leader: usize, rng: &mut R) -> usize {
        let n_columns = self.counts.shape.n_columns();
        let (row, column) = (leader / n_columns, leader % n_columns);
        let in_row = row * n_columns..(row + 1) * n_columns;
        let in_column = (column..self.posteriors.n_items()).step_by(n_columns).filter(|&cell| cell != leader);
        let mut best = (f64::NEG_INFINITY, leader);
        for cell in in_row.chain(in_column) {
            let draw = self.posteriors.draw(cell, self.sampler, rng);
            if draw > best.0 {
                best = (draw, cell);
            }
        }
        best.1
    }
}

/// Successes and failures.
fn evidence((plays, clicks): (u64, u64)) -> (f64, f64) {
    (float(clicks), float(plays - clicks))
}

#[inline]
fn mean(plays: u64, clicks: u64) -> f64 {
    float(clicks) / float(plays.max(1))
}

restored!(Uts, |saved| {
    if saved.leads.len() != saved.counts.shape.n_cells() {
        return Err(Error::SavedSizes);
    }
    check_counts(saved.lead_every, &saved.leads, &saved.leads)?;
    let State { lead_every, counts, leads, thinned } = saved;
    let policy = Self::assemble(lead_every.max(1), counts, leads);
    let shape = policy.counts.shape;
    let thinned = thinned.map(|saved| LeaderDraws::restore(&saved, &policy.posteriors, shape));
    Ok(Self { thinned: thinned.transpose()?, ..policy })
});

setup!(Uts, &["/lead_every"], |policy| policy.counts.sizes());

impl Select<Cell> for Uts {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        self.counts.rounds.next();
        let leader = self.leaders.select(Ties::draw(rng));
        self.leads[leader] += 1;
        let plays_leader = self.leads[leader].is_multiple_of(self.lead_every);
        out.action = self.counts.shape.cell(if plays_leader { leader } else { self.sample(leader, rng) });
    }
}

impl Update<Cell, CellClick> for Uts {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        if let Some(cell) = self.counts.record(decision.action, *feedback) {
            let (plays, clicks) = (self.counts.plays(cell), self.counts.clicks(cell));
            self.posteriors.set(cell, evidence((plays, clicks)));
            self.leaders.set(cell, mean(plays, clicks));
            if let Some(thinned) = &mut self.thinned {
                thinned.update(&self.posteriors, self.counts.shape, cell);
            }
        }
    }
}
