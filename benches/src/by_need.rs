//! The order by need of `cascade-kl`, computed for every item in every round, without its
//! classification.

use click_models::{ItemId, ListShape, ObservedPrefix, Ranking};
use confidence::math::{ln, ln_1p};
use policies::{Decision, Select, Update};
use rand::Rng;

/// Whether an item has its share of observations, its progress or observations, its depth, and its
/// number.
type Key = (bool, f64, f64, usize);

/// Shows the items of least progress, as long as none is decided.
#[derive(Debug, Clone)]
pub struct PlainByNeed {
    n_positions: usize,
    observations: Vec<f64>,
    clicks: Vec<f64>,
    means: Vec<f64>,
    keys: Vec<Key>,
}

impl PlainByNeed {
    /// A fresh policy.
    pub fn new(shape: ListShape) -> Self {
        let fresh = vec![0.0; shape.n_items()];
        Self {
            n_positions: shape.n_positions(),
            observations: fresh.clone(),
            clicks: fresh,
            means: vec![],
            keys: vec![],
        }
    }
}

fn negative_entropy(p: f64) -> f64 {
    p * ln(p) + (1.0 - p) * ln_1p(-p)
}

impl Select<Ranking> for PlainByNeed {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _: &mut R, out: &mut Decision<Ranking>) {
        let Self { n_positions, observations, clicks, means, keys } = self;
        let counts = || observations.iter().zip(&*clicks);
        means.clear();
        means.extend(counts().map(|(n, clicks)| (clicks + 0.5) / (n + 1.0)));
        let by_size = |a: &f64, b: &f64| b.total_cmp(a);
        let (_, &mut last_in, rest) = means.select_nth_unstable_by(*n_positions - 1, by_size);
        let first_out = rest.iter().copied().fold(0.0, f64::max);
        let boundary = if last_in <= first_out {
            last_in
        } else {
            let log_odds = (negative_entropy(last_in) - negative_entropy(first_out)) / (last_in - first_out);
            (1.0 / (1.0 + libm::exp(-log_odds))).clamp(first_out, last_in)
        };
        let (click, failure) = (ln(boundary), ln_1p(-boundary));
        let least = 0.3 * observations.iter().sum::<f64>() / observations.len() as f64;
        keys.clear();
        keys.extend(counts().enumerate().map(|(item, (&n, clicks))| {
            let mean = (clicks + 0.5) / (n + 1.0);
            let divergence = n * negative_entropy(mean) - n * mean * click - n * (1.0 - mean) * failure;
            let progress = divergence + 0.02 * n.sqrt();
            (n >= least, if n >= least { progress } else { n }, ln(mean) + progress, item)
        }));
        keys.select_nth_unstable_by(*n_positions - 1, |a: &Key, b: &Key| {
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.3.cmp(&b.3))
        });
        keys.truncate(*n_positions);
        keys.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)));
        for (place, key) in out.action.positions_mut(*n_positions).iter_mut().zip(keys) {
            *place = ItemId::from_index(key.3);
        }
    }
}

impl<F: ObservedPrefix> Update<Ranking, F> for PlainByNeed {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let clicks = feedback.observed_clicks();
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            self.observations[item.index()] += 1.0;
            self.clicks[item.index()] += f64::from(u8::from(clicks.get(position)));
        }
    }
}
