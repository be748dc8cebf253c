use super::cell_counts::CellCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::ucb_arms::Line;
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
/// decreasing in `t`. *Ties*: with thousands of cells, hundreds have the same counts in most
/// rounds. One draw a round is the rank of the cell to play among the tied ones, by number.
pub struct Ucb1 {
    counts: CellCounts,
} derived {
    arms: BestArms<Line> = {
        let arms = counts.all().map(|(plays, clicks)| line(plays, clicks));
        BestArms::without_shortlist(arms, 1).with_shortlist().hashing(0)
    },
}
}

impl Ucb1 {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self::assemble(State { counts: CellCounts::new(shape) })
    }
}

restored!(Ucb1, |saved| Ok(Self::assemble(saved)));
setup!(Ucb1, &[], |policy| policy.counts.sizes());

impl Select<Cell> for Ucb1 {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        let level = Rate::LOG.level(self.counts.rounds.next()).sqrt();
        let winner = self.arms.select(level, Ties::with_first(rng.next_u64()))[0];
        out.action = self.counts.shape.cell(winner as usize);
    }
}

impl Update<Cell, CellClick> for Ucb1 {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        if let Some(cell) = self.counts.record(decision.action, *feedback) {
            self.arms.set(cell, line(self.counts.plays(cell), self.counts.clicks(cell)));
        }
    }
}

/// The index is `mean + width level`, and the level is `sqrt(ln t)`.
#[inline]
fn line(plays: u64, clicks: u64) -> Line {
    if plays == 0 {
        return Line::FRESH;
    }
    let plays = float(plays);
    Line::new(float(clicks) / plays, (2.0 / plays).sqrt())
}
