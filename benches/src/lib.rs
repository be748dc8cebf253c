//! Plain policies as a baseline for the library's: the papers' formulas, computed for every item in
//! every round, with standard tools (bisection for indices, `rand_distr` for Beta variates, sorting
//! for the best list).

#[path = "../../crates/confidence/tests/support/bisection.rs"]
mod bisection;
mod by_need;
mod kl_ucb;
#[path = "../../crates/policies/tests/support/plain/mod.rs"]
mod plain;
mod prefix_ts;

pub use by_need::PlainByNeed;
pub use kl_ucb::{PlainKlUcb, Solver};
pub use plain::{AllCandidates, AllItems, IndexRule};
pub use prefix_ts::PlainPrefixTs;

use bisection::multi_position_upper_bisection;
use click_models::{ItemId, PbmFeedback, PbmKnown, Ranking};
use confidence::math::ln;
use policies::{Decision, Select, Update};
use rand::{Rng, RngExt};
use rand_distr::{Beta, Distribution};

/// How a plain policy scores an item.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// The index of Proposition 8.
    PbmUcb,
    /// A draw from the bias-corrected Beta posterior.
    BcMpTs,
    /// A draw from the exact posterior, rejected from the position with the most displays as the
    /// paper describes.
    PbmTs,
    /// The pooled estimate; explores in the last position.
    PbmPie,
}

/// A plain policy for the position-based model, positions in decreasing order of examination.
#[derive(Debug, Clone)]
pub struct Plain {
    rule: Rule,
    examination: Vec<f64>,
    shows: Vec<Vec<u64>>,
    clicks: Vec<Vec<u64>>,
    round: u64,
}

impl Plain {
    /// A fresh policy.
    pub fn new(rule: Rule, known: PbmKnown<'_>) -> Self {
        let examination: Vec<f64> = known.examination().iter().map(|examined| examined.get()).collect();
        let fresh = vec![vec![0; examination.len()]; known.shape().n_items()];
        Self { rule, examination, shows: fresh.clone(), clicks: fresh, round: 0 }
    }

    fn score<R: Rng + ?Sized>(&self, item: usize, level: f64, rng: &mut R) -> f64 {
        let shows = self.shows[item].iter().sum::<u64>() as f64;
        let clicks = self.clicks[item].iter().sum::<u64>() as f64;
        let weighted: f64 = self.shows[item]
            .iter()
            .zip(&self.examination)
            .map(|(&shows, weight)| shows as f64 * weight)
            .sum();
        match self.rule {
            Rule::PbmUcb | Rule::PbmPie if shows == 0.0 => f64::INFINITY,
            Rule::PbmUcb => clicks / weighted + (shows / weighted).sqrt() * (level / (2.0 * weighted)).sqrt(),
            Rule::PbmPie => clicks / weighted,
            Rule::BcMpTs => beta(1.0 + clicks, 1.0 + (weighted - clicks).max(0.0), rng),
            Rule::PbmTs => self.draw(item, clicks, rng),
        }
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, clicks: f64, rng: &mut R) -> f64 {
        let shows = &self.shows[item];
        let failures = |position: usize| (shows[position] - self.clicks[item][position]) as f64;
        let best = (0..shows.len()).max_by_key(|&position| shows[position]).expect("a position");
        let log_rest = |theta: f64| -> f64 {
            let others = (0..shows.len()).filter(|&position| position != best);
            let rest = clicks - self.clicks[item][best] as f64;
            let power = if rest > 0.0 { rest * ln(theta) } else { 0.0 };
            power
                + others
                    .map(|position| failures(position) * ln(1.0 - self.examination[position] * theta))
                    .sum::<f64>()
        };
        // The maximum of the factor that the proposal omits, on a grid: accurate enough for a
        // benchmark.
        let peak =
            (1..100).map(|step| log_rest(f64::from(step) / 100.0)).fold(f64::NEG_INFINITY, f64::max) + 0.1;
        loop {
            let own_clicks = self.clicks[item][best] as f64;
            let theta = beta(1.0 + own_clicks, 1.0 + failures(best), rng) / self.examination[best];
            if theta < 1.0 && ln(rng.random::<f64>()) < log_rest(theta) - peak {
                return theta;
            }
        }
    }

    fn candidates(&self, leaders: &[usize], last: f64, level: f64) -> Vec<usize> {
        let upper = |item: usize| {
            multi_position_upper_bisection(&self.clicks[item], &self.shows[item], &self.examination, level)
        };
        (0..self.shows.len()).filter(|item| !leaders.contains(item) && upper(*item) >= last).collect()
    }
}

fn beta<R: Rng + ?Sized>(successes: f64, failures: f64, rng: &mut R) -> f64 {
    Beta::new(successes, failures).expect("both are at least 1").sample(rng)
}

impl Select<Ranking> for Plain {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.round += 1;
        let level = ln(self.round as f64);
        let scores: Vec<f64> = (0..self.shows.len()).map(|item| self.score(item, level, rng)).collect();
        let mut items: Vec<usize> = (0..scores.len()).collect();
        items.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        items.truncate(self.examination.len());
        if matches!(self.rule, Rule::PbmPie) && self.round > self.shows.len() as u64 {
            let last = items.len() - 1;
            let candidates = self.candidates(&items, scores[items[last]], level);
            if !candidates.is_empty() && rng.random::<bool>() {
                items[last] = candidates[rng.random_range(0..candidates.len())];
            }
        }
        out.action = items.into_iter().map(ItemId::from_index).collect();
    }
}

impl Update<Ranking, PbmFeedback> for Plain {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        for (position, item) in decision.action.by_position() {
            self.shows[item.index()][position] += 1;
            self.clicks[item.index()][position] += u64::from(feedback.clicks.get(position));
        }
    }
}
