//! `CascadeBAI` straight from the paper: sorts, and works out every bound, in every step. Choices
//! that the paper leaves open are made as in `policies::CascadeBai`.

#![allow(dead_code, reason = "tests and benches each use their part")]

use click_models::{CascadeFeedback, Clicks, ItemId, ListShape, ObservedPrefix, PrefixFeedback, Ranking};
use confidence::lil_radius_scaled;
use policies::{Decision, Select, ShowOrder, Update};
use rand::Rng;
use rand::seq::SliceRandom;
use std::cmp::Ordering;

/// The plain version; `bat_rac` is its rule with a number of pulls a step.
#[derive(Debug, Clone)]
pub(crate) struct PlainCascadeBai {
    pub(crate) n_best: usize,
    pub(crate) epsilon: f64,
    pub(crate) scale: f64,
    pub(crate) order: ShowOrder,
    pub(crate) bat_rac: Option<usize>,
    /// Whether the list is of the items that come first in `order`, instead of the least observed
    /// in that order.
    pub(crate) order_chooses: bool,
    /// Whether an item counts as observed while its display is open. Otherwise the list is
    /// Algorithm 1's to the letter.
    pub(crate) counts_open_displays: bool,
    rho: f64,
    rank: Vec<usize>,
    has_begun: bool,
    /// The one observed or shown longest ago first.
    in_question: Vec<usize>,
    open: Vec<u64>,
    pub(crate) accepted: Vec<usize>,
    pub(crate) rejected: Vec<usize>,
    pub(crate) observations: Vec<u64>,
    clicks: Vec<u64>,
}

impl PlainCascadeBai {
    pub(crate) fn new(shape: ListShape, delta: f64) -> Self {
        let n_items = shape.n_items();
        Self {
            n_best: shape.n_positions(),
            epsilon: 0.0,
            scale: 4.0,
            order: ShowOrder::LeastObserved,
            bat_rac: None,
            order_chooses: false,
            counts_open_displays: true,
            rho: (delta / (12.0 * n_items as f64)).sqrt(),
            rank: (0..n_items).collect(),
            has_begun: false,
            in_question: (0..n_items).collect(),
            open: vec![0; n_items],
            accepted: vec![],
            rejected: vec![],
            observations: vec![0; n_items],
            clicks: vec![0; n_items],
        }
    }

    /// Items on a list.
    pub(crate) fn n_shown(&self) -> usize {
        self.bat_rac.unwrap_or(self.n_best)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.accepted.len() >= self.n_best || self.rejected.len() >= self.rank.len() - self.n_best
    }

    /// Items in question, those of the fewest observations and open displays first.
    fn queue(&self) -> Vec<usize> {
        let mut queue = self.in_question.clone();
        queue.sort_by_key(|&item| self.observations[item] + self.open[item]);
        queue
    }

    /// In increasing order.
    pub(crate) fn answer(&self) -> Vec<usize> {
        let mut answer: Vec<usize> =
            self.accepted.iter().chain(&self.in_question).copied().take(self.n_best).collect();
        answer.sort_unstable();
        answer
    }

    /// Means, upper and lower bounds of all items.
    fn scores(&self) -> [Vec<f64>; 3] {
        let counts = self.observations.iter().zip(&self.clicks);
        let mean = |(&n, &s): (&u64, &u64)| if n == 0 { 0.0 } else { s as f64 / n as f64 };
        let means: Vec<f64> = counts.map(mean).collect();
        let radii: Vec<f64> =
            self.observations.iter().map(|&n| lil_radius_scaled(n, self.rho, self.scale)).collect();
        let uppers = means.iter().zip(&radii).map(|(mean, radius)| mean + radius).collect();
        let lowers = means.iter().zip(&radii).map(|(mean, radius)| mean - radius).collect();
        [means, uppers, lowers]
    }

    /// Items in question, largest score first.
    fn ranked(&self, scores: &[f64]) -> Vec<usize> {
        let mut items = self.in_question.clone();
        items.sort_by(|&a, &b| self.largest_first(scores, a, b));
        items
    }

    fn largest_first(&self, scores: &[f64], a: usize, b: usize) -> Ordering {
        scores[b].total_cmp(&scores[a]).then(self.rank[a].cmp(&self.rank[b]))
    }

    fn classify(&mut self) {
        let k = self.n_best - self.accepted.len();
        let [means, uppers, lowers] = self.scores();
        let (upper_to_beat, lower_to_beat) = if self.bat_rac.is_some() {
            (uppers[self.ranked(&uppers)[k]], lowers[self.ranked(&lowers)[k - 1]])
        } else {
            let by_mean = self.ranked(&means);
            (uppers[by_mean[k]], lowers[by_mean[k - 1]])
        };
        let is_worse = |item: usize| uppers[item] < lower_to_beat - self.epsilon;
        let is_better = |item: usize| lowers[item] > upper_to_beat - self.epsilon && !is_worse(item);
        if !self.in_question.iter().any(|&item| is_worse(item) || is_better(item)) {
            return;
        }
        let by_lower = self.ranked(&lowers);
        let rejected: Vec<usize> = by_lower.iter().copied().filter(|&item| is_worse(item)).collect();
        let accepted: Vec<usize> = by_lower.iter().copied().filter(|&item| is_better(item)).collect();
        self.in_question.retain(|item| !accepted.contains(item) && !rejected.contains(item));
        self.accepted.extend(accepted);
        self.rejected.extend(rejected);
    }

    fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.is_done() {
            return;
        }
        let shown: Vec<usize> = shown.iter().map(click_models::ItemId::index).take(64).collect();
        let (observed, unobserved) = shown.split_at(shown.len().min(seen.len()));
        // In the order in which they stand in the queue, before all that are equal to them.
        let queue = self.queue();
        let place = |item: usize| queue.iter().position(|&other| other == item);
        let mut closed: Vec<usize> =
            unobserved.iter().copied().filter(|&item| place(item).is_some()).collect();
        closed.sort_by_key(|&item| place(item));
        for &item in closed.iter().rev() {
            if self.open[item] > 0 {
                self.open[item] -= 1;
                self.in_question.retain(|&other| other != item);
                self.in_question.insert(0, item);
            }
        }
        for (position, &item) in observed.iter().enumerate() {
            if !self.in_question.contains(&item) {
                continue;
            }
            self.observations[item] += 1;
            self.clicks[item] += u64::from(seen.get(position));
            self.open[item] = self.open[item].saturating_sub(1);
            self.in_question.retain(|&other| other != item);
            self.in_question.push(item);
        }
        self.classify();
    }
}

impl Select<Ranking> for PlainCascadeBai {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        if !self.has_begun {
            self.has_begun = true;
            // In any other order after feedback that came before the first step.
            self.in_question.sort_unstable();
            self.in_question.shuffle(rng);
            for (rank, &item) in self.in_question.iter().enumerate() {
                self.rank[item] = rank;
            }
        }
        let n_shown = self.n_shown();
        let mut in_question = self.queue();
        if !self.order_chooses {
            in_question.truncate(n_shown);
        }
        if self.counts_open_displays && !self.is_done() {
            for &item in &in_question {
                self.open[item] += 1;
                self.in_question.retain(|&other| other != item);
                self.in_question.push(item);
            }
        }
        let [means, uppers, lowers] = self.scores();
        let scores = match self.order {
            ShowOrder::UpperAsc | ShowOrder::UpperDesc => &uppers,
            ShowOrder::LowerAsc | ShowOrder::LowerDesc => &lowers,
            _ => &means,
        };
        if self.order != ShowOrder::LeastObserved {
            in_question.sort_by(|&a, &b| self.largest_first(scores, a, b));
        }
        if matches!(self.order, ShowOrder::MeanAsc | ShowOrder::UpperAsc | ShowOrder::LowerAsc) {
            in_question.reverse();
        }
        in_question.truncate(n_shown);
        let list: Vec<usize> = if self.is_done() {
            self.accepted.iter().chain(&self.queue()).copied().take(n_shown).collect()
        } else {
            let fill = self.accepted.iter().chain(&self.rejected);
            in_question.iter().chain(fill).copied().take(n_shown).collect()
        };
        out.action = list.into_iter().map(ItemId::from_index).collect();
    }
}

impl Update<Ranking, CascadeFeedback> for PlainCascadeBai {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &CascadeFeedback) {
        self.learn(&decision.action, feedback.observed_clicks());
    }
}

impl Update<Ranking, PrefixFeedback> for PlainCascadeBai {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PrefixFeedback) {
        self.learn(&decision.action, feedback.observed_clicks());
    }
}
