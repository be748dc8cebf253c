//! Policies that read an observed prefix.

use super::*;
use crate::{Pie, Policy, PrefixKlUcb, PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV, Select, TsCascade};

/// Observed displays and clicks of every item.
#[derive(Debug)]
pub(super) struct PrefixHistory {
    /// Positions of the best item, of the next one, and so on.
    pub(super) places: Vec<usize>,
    pub(super) shows: Vec<u64>,
    pub(super) clicks: Vec<u64>,
}

impl PrefixHistory {
    pub(super) fn new(n_items: usize, n_positions: usize) -> Self {
        Self { places: (0..n_positions).collect(), shows: vec![0; n_items], clicks: vec![0; n_items] }
    }

    pub(super) fn learn(&mut self, list: &[usize], observed: Clicks) {
        for (position, &item) in list.iter().enumerate().take(observed.len()) {
            self.shows[item] += 1;
            self.clicks[item] += u64::from(observed.get(position));
        }
    }

    /// `best[rank]` at position `places[rank]`.
    pub(super) fn laid_out(&self, best: &[usize]) -> Vec<usize> {
        let mut list = vec![usize::MAX; best.len()];
        for (&place, &item) in self.places.iter().zip(best) {
            list[place] = item;
        }
        list
    }

    pub(super) fn mean(&self, item: usize) -> f64 {
        self.clicks[item] as f64 / self.shows[item] as f64
    }

    /// Scores of seen items; unseen ones come first.
    pub(super) fn scores(&self, mut score: impl FnMut(usize) -> f64) -> Vec<f64> {
        let score = |item| if self.shows[item] == 0 { f64::INFINITY } else { score(item) };
        (0..self.shows.len()).map(score).collect()
    }

    pub(super) fn top(&self, scores: &[f64], key: u64) -> Vec<usize> {
        first_ranked(scores, key, self.places.len())
    }

    pub(super) fn kl_index(&self, item: usize, delta: f64) -> f64 {
        kl_ucb_upper(self.mean(item), self.shows[item] as f64, delta)
    }
}

fn rsf_ucb(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let log = log(t);
    let radius = |item: usize| (2.0 * log / (3.0 * history.shows[item] as f64)).sqrt();
    history.top(&history.scores(|item| history.mean(item) + radius(item)), key)
}

fn cascade_ucb1(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let root = log(t).sqrt();
    let radius = |item: usize| (1.5 / history.shows[item] as f64).sqrt() * root;
    history.top(&history.scores(|item| (history.mean(item) + radius(item)).min(1.0)), key)
}

fn cascade_ucb_v(history: &PrefixHistory, exploration: f64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let index = |item: usize| {
        let (mean, shows) = (history.mean(item), history.shows[item] as f64);
        mean + (2.0 * mean * (1.0 - mean) * exploration / shows).sqrt() + 3.0 * exploration / shows
    };
    history.top(&history.scores(index), key)
}

pub(super) fn ts_cascade(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let shared = Sampler::new().normal(rng);
    let log = log(t + 1);
    let score = |item: usize| {
        let shows = history.shows[item] as f64;
        let mean = if shows == 0.0 { 0.0 } else { history.mean(item) };
        let share = log / (shows + 1.0);
        mean + shared * (mean * (1.0 - mean) * share).sqrt().max(share)
    };
    let scores: Vec<f64> = (0..history.shows.len()).map(score).collect();
    history.top(&scores, key)
}

pub(super) fn rsf_kl_ucb(history: &PrefixHistory, delta: f64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    history.top(&history.scores(|item| history.kl_index(item, delta)), key)
}

fn rsf_ts(history: &PrefixHistory, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let draw = |item: usize| {
        let clicks = history.clicks[item] as f64;
        Sampler::new().beta(BetaShape::after(clicks, history.shows[item] as f64 - clicks), rng)
    };
    let scores: Vec<f64> = (0..history.shows.len()).map(draw).collect();
    history.top(&scores, key)
}

fn pie(history: &PrefixHistory, position: usize, delta: f64, rng: &mut Generator) -> Vec<usize> {
    let means = history.scores(|item| history.mean(item));
    let mut list = history.top(&means, rng.next_u64());
    let last = means[*list.last().expect("a list is not empty")];
    let explore = rng.next_u64() >> 63 == 0;
    if !explore {
        return list;
    }
    let indices = history.scores(|item| history.kl_index(item, delta));
    let candidates: Vec<usize> =
        (0..means.len()).filter(|item| !list.contains(item) && indices[*item] >= last).collect();
    if !candidates.is_empty() {
        list.insert(position, candidates[rng.random_range(0..candidates.len())]);
        list.pop();
    }
    list
}

pub(super) fn learn_prefix<F: ObservedPrefix>(
    history: &mut PrefixHistory,
    decision: &Decision<Ranking>,
    feedback: &F,
) {
    history.learn(&list_of(&decision.action), feedback.observed_clicks());
}

fn assert_prefix<P>(
    build: impl Fn(PrefixKnown<'_>) -> P,
    choose: impl Fn(&PrefixHistory, u64, &mut Generator) -> Vec<usize>,
) where
    P: Select<Ranking, Note = ()> + Policy<SemiBandit> + Policy<Cascade> + Policy<Dcm> + Debug,
{
    let history = |shape: ListShape| PrefixHistory::new(shape.n_items(), shape.n_positions());
    let choose = |history: &mut PrefixHistory, t, rng: &mut _| history.laid_out(&choose(history, t, rng));
    for (number, model) in semi_bandit_instances().iter().enumerate() {
        for &(delay, rounds) in delays_and_rounds(number) {
            let policy = build(model.shape().into());
            assert_same_choices(model, policy, history(model.shape()), delay, rounds, choose, learn_prefix);
        }
    }
    let rounds = ROUNDS / 2;
    for model in &cascade_instances() {
        let policy = build(model.shape().into());
        assert_same_choices(model, policy, history(model.shape()), 0, rounds, choose, learn_prefix);
    }
    for model in &dependent_click_instances() {
        let mut history = history(model.shape());
        history.places = model.known().places().to_vec();
        assert_same_choices(model, build(model.known().into()), history, 0, rounds, choose, learn_prefix);
    }
}

#[test]
fn rsf_ucb_is_the_naive_one() {
    assert_prefix(|known| PrefixUcb::rsf(known), rsf_ucb);
}

#[test]
fn cascade_ucb1_is_the_naive_one() {
    assert_prefix(|known| PrefixUcb::cascade(known), cascade_ucb1);
}

#[test]
fn cascade_ucb_v_is_the_naive_one() {
    assert_prefix(|known| PrefixUcbV::new(known), |history, t, rng| cascade_ucb_v(history, log(t), rng));
}

/// As in independent code of the paper.
#[test]
fn cascade_ucb_v_with_twice_the_exploration_is_the_naive_one() {
    assert_prefix(
        |known| PrefixUcbV::new(known).with_zeta(NonNegative::from_count(2)),
        |history, t, rng| cascade_ucb_v(history, 2.0 * log(t), rng),
    );
}

#[test]
fn ts_cascade_is_the_naive_one() {
    assert_prefix(|known| TsCascade::new(known), ts_cascade);
}

#[test]
pub(super) fn rsf_kl_ucb_is_the_naive_one() {
    assert_prefix(
        |known| PrefixKlUcb::new(known, Rate::LOG),
        |history, t, rng| rsf_kl_ucb(history, log(t), rng),
    );
}

/// `ln t + times ln ln t`, or 0 where that is less or nothing.
fn log_log(t: u64, times: f64) -> f64 {
    if t == 1 { 0.0 } else { (log(t) + times * confidence::math::ln(log(t))).max(0.0) }
}

/// The cascade's and the dependent click model's.
#[test]
fn cascade_kl_ucb_is_the_naive_one() {
    assert_prefix(
        |known| PrefixKlUcb::new(known, Rate::LOG_PLUS_3_LOG_LOG),
        |history, t, rng| rsf_kl_ucb(history, log_log(t, 3.0), rng),
    );
}

#[test]
fn rsf_ts_is_the_naive_one() {
    assert_prefix(|known| PrefixTs::new(known).drawing_all(), |history, _, rng| rsf_ts(history, rng));
}

#[test]
fn pie_is_the_naive_one() {
    assert_prefix(
        |known| Pie::last(known, Rate::LOG),
        |history, t, rng| pie(history, history.places.len() - 1, log(t), rng),
    );
}

#[test]
fn pie_at_the_top_is_the_naive_one() {
    assert_prefix(
        |known| Pie::at(known, 0, Rate::LOG_PLUS_4_LOG_LOG).expect("a list has a first position"),
        |history, t, rng| {
            let rank =
                history.places.iter().position(|&place| place == 0).expect("a list has a first position");
            pie(history, rank, log_log(t, 4.0), rng)
        },
    );
}

#[test]
fn pie_in_the_middle_is_the_naive_one() {
    let model = &semi_bandit_instances()[0];
    let policy = Pie::at(model.shape(), 1, Rate::LOG).expect("a list has a second position");
    let history = PrefixHistory::new(6, 3);
    let choose = |history: &mut PrefixHistory, t, rng: &mut _| pie(history, 1, log(t), rng);
    assert_same_choices(model, policy, history, 0, ROUNDS, choose, learn_prefix);
}

#[test]
#[should_panic(expected = "round 1 ")]
fn ties_to_the_lowest_item_are_caught() {
    let model = &semi_bandit_instances()[0];
    let policy = PrefixKlUcb::new(model.shape(), Rate::LOG);
    let choose = |history: &mut PrefixHistory, t, rng: &mut Generator| {
        rng.next_u64();
        let scores = history.scores(|item| history.kl_index(item, log(t)));
        let mut items: Vec<usize> = (0..scores.len()).collect();
        sort_by_score(&mut items, &|item| scores[item]);
        items.truncate(history.places.len());
        items
    };
    assert_same_choices(model, policy, PrefixHistory::new(6, 3), 0, ROUNDS, choose, learn_prefix);
}
