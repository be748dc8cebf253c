//! UCB and Thompson sampling on an observed prefix that compute the score of every item in every round.

use click_models::{ItemId, ListShape, ObservedPrefix, Ranking};
use confidence::math::ln;
use policies::{Decision, Select, Update};
use rand::Rng;
use rand_distr::{Beta, Distribution};

/// How a plain policy scores an item.
#[derive(Debug, Clone, Copy)]
pub enum PrefixRule {
    /// The index of RSF-UCB, `mean + sqrt(2 ln t / (3 n))`.
    Ucb,
    /// A draw from `Beta(1 + clicks, 1 + displays without a click)`.
    Ts,
}

/// The plain policy. Ties are broken arbitrarily.
#[derive(Debug, Clone)]
pub struct PlainPrefix {
    rule: PrefixRule,
    n_positions: usize,
    round: u64,
    shows: Vec<f64>,
    clicks: Vec<f64>,
    scores: Vec<f64>,
    items: Vec<ItemId>,
}

impl PlainPrefix {
    /// A fresh policy.
    pub fn new(rule: PrefixRule, shape: ListShape) -> Self {
        let fresh = vec![0.0; shape.n_items()];
        Self {
            rule,
            n_positions: shape.n_positions(),
            round: 0,
            shows: fresh.clone(),
            clicks: fresh.clone(),
            scores: fresh,
            items: (0..shape.n_items()).map(ItemId::from_index).collect(),
        }
    }
}

impl Select<Ranking> for PlainPrefix {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.round += 1;
        let Self { rule, n_positions, round, shows, clicks, scores, items } = self;
        let level = ln(*round as f64);
        for ((score, &shows), &clicks) in scores.iter_mut().zip(&*shows).zip(&*clicks) {
            *score = match rule {
                PrefixRule::Ucb if shows == 0.0 => f64::INFINITY,
                PrefixRule::Ucb => clicks / shows + (2.0 / 3.0 * level / shows).sqrt(),
                PrefixRule::Ts => {
                    Beta::new(1.0 + clicks, 1.0 + shows - clicks).expect("shapes of at least 1").sample(rng)
                }
            };
        }
        let largest_first = |a: &ItemId, b: &ItemId| scores[b.index()].total_cmp(&scores[a.index()]);
        items.select_nth_unstable_by(*n_positions - 1, largest_first);
        items[..*n_positions].sort_unstable_by(largest_first);
        out.action.positions_mut(*n_positions).copy_from_slice(&items[..*n_positions]);
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PlainPrefix {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            self.shows[item.index()] += 1.0;
            self.clicks[item.index()] += f64::from(u8::from(clicks.get(position)));
        }
    }
}
