use super::cell_counts::CellCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::kl_arms::KlArm;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use confidence::Rate;
use rand::Rng;

with_state! {
/// KL-UCB over cells: every pair of a row and a column is a separate arm.
///
/// At round `t` a cell with `n` plays and mean `mu` has the index
/// `max { q in [mu, 1] : n d(mu, q) <= level(t) }`. The policy plays the cell of largest index;
/// cells never played come first. It ignores rows and columns: a baseline for the rank-one
/// policies.
///
/// Reference: Garivier and Cappe, *The KL-UCB algorithm for bounded stochastic bandits and beyond*,
/// COLT 2011. Deviations: the default level is `ln t`, as in its experiments.
pub struct CellKlUcb {
    rate: Rate,
    counts: CellCounts,
} derived {
    arms: BestArms<KlArm> = {
        let arms = counts.all().map(|(plays, clicks)| KlArm::new(plays, clicks));
        BestArms::new(arms, 1).hashing(usize::MAX)
    },
}
}

impl CellKlUcb {
    /// A fresh policy.
    pub fn new(shape: TableShape, rate: Rate) -> Self {
        Self::assemble(State { rate, counts: CellCounts::new(shape) })
    }
}

restored!(CellKlUcb, |saved| Ok(Self::assemble(saved)));
setup!(CellKlUcb, &["/rate"], |policy| policy.counts.sizes());

impl Select<Cell> for CellKlUcb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        let level = self.rate.level(self.counts.rounds.next());
        let winner = self.arms.select(level, Ties::draw(rng))[0];
        out.action = self.counts.shape.cell(winner as usize);
    }
}

impl Update<Cell, CellClick> for CellKlUcb {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        if let Some(cell) = self.counts.record(decision.action, *feedback) {
            self.arms.set(cell, KlArm::new(self.counts.plays(cell), self.counts.clicks(cell)));
        }
    }
}
