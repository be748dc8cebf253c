//! Thompson sampling on an observed prefix that draws every item in every round, with `rand_distr`.

use click_models::{ItemId, ListShape, ObservedPrefix, Ranking};
use policies::{Decision, Select, Update};
use rand::Rng;
use rand_distr::{Beta, Distribution};

/// The plain policy. Ties are broken arbitrarily.
#[derive(Debug, Clone)]
pub struct PlainPrefixTs {
    n_positions: usize,
    shows: Vec<f64>,
    clicks: Vec<f64>,
    scores: Vec<f64>,
    items: Vec<ItemId>,
}

impl PlainPrefixTs {
    /// A fresh policy.
    pub fn new(shape: ListShape) -> Self {
        let fresh = vec![0.0; shape.n_items()];
        Self {
            n_positions: shape.n_positions(),
            shows: fresh.clone(),
            clicks: fresh.clone(),
            scores: fresh,
            items: (0..shape.n_items()).map(ItemId::from_index).collect(),
        }
    }
}

impl Select<Ranking> for PlainPrefixTs {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let Self { n_positions, shows, clicks, scores, items } = self;
        for ((score, &shows), &clicks) in scores.iter_mut().zip(&*shows).zip(&*clicks) {
            *score = Beta::new(1.0 + clicks, 1.0 + shows - clicks).expect("shapes of at least 1").sample(rng);
        }
        let largest_first = |a: &ItemId, b: &ItemId| scores[b.index()].total_cmp(&scores[a.index()]);
        items.select_nth_unstable_by(*n_positions - 1, largest_first);
        items[..*n_positions].sort_unstable_by(largest_first);
        out.action.positions_mut(*n_positions).copy_from_slice(&items[..*n_positions]);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PlainPrefixTs {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            self.shows[item.index()] += 1.0;
            self.clicks[item.index()] += f64::from(u8::from(clicks.get(position)));
        }
    }
}
