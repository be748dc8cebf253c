//! KL-UCB on an observed prefix that computes the index of every item in every round.

use crate::bisection::kl_ucb_upper_bisection;
use click_models::{ItemId, ListShape, ObservedPrefix, Ranking};
use confidence::math::ln;
use confidence::{kl_ucb_upper, kl_ucb_upper_batch};
use policies::{Decision, Select, Update};
use rand::Rng;

/// How a plain policy solves for an index.
#[derive(Debug, Clone, Copy)]
pub enum Solver {
    /// Bisection down to the last bit.
    Bisection,
    /// The library's solver, one item at a time.
    Fast,
    /// The library's solver, eight items at a time.
    Batched,
}

/// The plain policy at the level `ln t`. Ties are broken arbitrarily.
#[derive(Debug, Clone)]
pub struct PlainKlUcb {
    solver: Solver,
    n_positions: usize,
    round: u64,
    means: Vec<f64>,
    shows: Vec<f64>,
    clicks: Vec<f64>,
    indices: Vec<f64>,
    items: Vec<ItemId>,
}

impl PlainKlUcb {
    /// A fresh policy.
    pub fn new(solver: Solver, shape: ListShape) -> Self {
        let fresh = vec![0.0; shape.n_items()];
        Self {
            solver,
            n_positions: shape.n_positions(),
            round: 0,
            means: fresh.clone(),
            shows: fresh.clone(),
            clicks: fresh.clone(),
            indices: fresh,
            items: (0..shape.n_items()).map(ItemId::from_index).collect(),
        }
    }

    /// Counts a round whose list another policy chose.
    pub fn skip_round(&mut self) {
        self.round += 1;
    }

    fn each(&mut self, index: impl Fn(f64, f64, f64) -> f64, level: f64) {
        for ((out, &mean), &shows) in self.indices.iter_mut().zip(&self.means).zip(&self.shows) {
            *out = index(mean, shows, level);
        }
    }
}

impl Select<Ranking> for PlainKlUcb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _: &mut R, out: &mut Decision<Ranking>) {
        self.round += 1;
        let level = ln(self.round as f64);
        match self.solver {
            Solver::Bisection => self.each(kl_ucb_upper_bisection, level),
            Solver::Fast => self.each(kl_ucb_upper, level),
            Solver::Batched => kl_ucb_upper_batch(&self.means, &self.shows, level, &mut self.indices),
        }
        let Self { indices, items, .. } = self;
        let largest_first = |a: &ItemId, b: &ItemId| indices[b.index()].total_cmp(&indices[a.index()]);
        items.select_nth_unstable_by(self.n_positions - 1, largest_first);
        items[..self.n_positions].sort_unstable_by(largest_first);
        out.action.positions_mut(self.n_positions).copy_from_slice(&items[..self.n_positions]);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PlainKlUcb {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            let item = item.index();
            self.shows[item] += 1.0;
            self.clicks[item] += f64::from(u8::from(clicks.get(position)));
            self.means[item] = self.clicks[item] / self.shows[item];
        }
    }
}
