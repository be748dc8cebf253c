//! Every policy a second time, straight from the papers, and the test that both make the same choices.
//!
//! Nothing is remembered but counts, every index is worked out every round, and lists are sorted. What is shared with the policies is
//! the sampler of Beta variates and the documented order of random draws: one 64-bit key for the round's ties, then, if
//! parsimonious, a coin whose upper bit shows the leaders, then the choice among candidates in the order of items. Equal scores
//! rank by the `SplitMix64` finaliser of `key ^ item * 0x9e3779b97f4a7c15`, the larger first.

use crate::sampling::{BetaShape, Sampler};
use crate::{
    BatchRank, BcMpTs, Decision, EpsilonGreedy, PbmPie, PbmUcb, Pie, Policy, PrefixKlUcb, PrefixKnown,
    PrefixTs, PrefixUcb, PrefixUcbV, RbaKlUcb, Select, TopRank, TsCascade, Update,
};
use click_models::{
    Cascade, CascadeModel, ClickModel, Clicks, Dcm, DcmReward, DependentClick, Feedback, Interaction, ItemId,
    ListFeedback, ListShape, ObservedPrefix, Pbm, PbmFeedback, PositionBased, RandomSemiBandit, Ranking,
    SemiBandit,
};
use confidence::{NonNegative, Probability, Rate, kl_ucb_lower, kl_ucb_upper, multi_position_upper};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::fmt::Debug;

const ROUNDS: u64 = 20_000;

type Generator = Xoshiro256PlusPlus;

/// Position of `item` among equals.
pub(crate) fn tie_rank(key: u64, item: usize) -> (u64, usize) {
    let mut hash = key ^ (item as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31), item)
}

/// All items, best first.
pub(crate) fn ranked(scores: &[f64], key: u64) -> Vec<usize> {
    let mut items: Vec<usize> = (0..scores.len()).collect();
    items.sort_by(|&a, &b| {
        scores[b].partial_cmp(&scores[a]).expect("numbers").then(tie_rank(key, b).cmp(&tie_rank(key, a)))
    });
    items
}

/// `items[0]` where examination is largest, and so on; of equal positions the upper one first.
pub(crate) fn placed(items: &[usize], examination: &[f64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..examination.len()).collect();
    positions.sort_by(|&a, &b| examination[b].partial_cmp(&examination[a]).expect("numbers").then(a.cmp(&b)));
    let mut list = vec![usize::MAX; examination.len()];
    for (place, &position) in positions.iter().enumerate() {
        list[position] = items[place];
    }
    list
}

/// The natural logarithm that the policies use: the last bit decides ties.
fn log(t: u64) -> f64 {
    confidence::math::ln(t as f64)
}

fn list_of(ranking: &Ranking) -> Vec<usize> {
    ranking.iter().map(ItemId::index).collect()
}

/// Displays and clicks of every item at every position.
#[derive(Debug)]
pub(crate) struct PbmHistory {
    pub(crate) examination: Vec<f64>,
    pub(crate) shows: Vec<Vec<u64>>,
    pub(crate) clicks: Vec<Vec<u64>>,
}

impl PbmHistory {
    pub(crate) fn new(n_items: usize, examination: &[f64]) -> Self {
        let fresh = vec![vec![0; examination.len()]; n_items];
        Self { examination: examination.to_vec(), shows: fresh.clone(), clicks: fresh }
    }

    pub(crate) fn learn(&mut self, list: &[usize], feedback: PbmFeedback) {
        for (position, &item) in list.iter().enumerate() {
            self.shows[item][position] += 1;
            self.clicks[item][position] += u64::from(feedback.clicks.get(position));
        }
    }

    fn s(&self, item: usize) -> f64 {
        self.clicks[item].iter().sum::<u64>() as f64
    }

    fn n(&self, item: usize) -> f64 {
        self.shows[item].iter().sum::<u64>() as f64
    }

    fn n_tilde(&self, item: usize) -> f64 {
        (0..self.examination.len()).map(|l| self.examination[l] * self.shows[item][l] as f64).sum()
    }

    fn estimate(&self, item: usize) -> f64 {
        if self.n_tilde(item) == 0.0 { f64::INFINITY } else { self.s(item) / self.n_tilde(item) }
    }

    fn scores(&self, score: impl FnMut(usize) -> f64) -> Vec<f64> {
        (0..self.shows.len()).map(score).collect()
    }
}

fn pbm_ucb(history: &PbmHistory, t: u64, epsilon: f64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let delta = (1.0 + epsilon) * log(t);
    let scores = history.scores(|item| {
        let (n, n_tilde) = (history.n(item), history.n_tilde(item));
        if n_tilde == 0.0 {
            return f64::INFINITY;
        }
        history.s(item) / n_tilde + (n / n_tilde).sqrt() * (delta / (2.0 * n_tilde)).sqrt()
    });
    placed(&ranked(&scores, key), &history.examination)
}

fn pbm_pie(history: &PbmHistory, t: u64, delta: f64, rng: &mut Generator) -> Vec<usize> {
    let (n_items, positions) = (history.shows.len(), history.examination.len());
    if t <= n_items as u64 {
        return (0..positions).map(|l| (usize::try_from(t).expect("small") - 1 + l) % n_items).collect();
    }
    let estimates = history.scores(|item| history.estimate(item));
    let order = ranked(&estimates, rng.next_u64());
    let mut leaders = order[..positions].to_vec();
    let last = leaders[positions - 1];
    let mut candidates: Vec<usize> = order[positions..]
        .iter()
        .copied()
        .filter(|&item| {
            let (clicks, shows) = (&history.clicks[item], &history.shows[item]);
            let index = if history.n_tilde(item) == 0.0 {
                f64::INFINITY
            } else {
                multi_position_upper(clicks, shows, &history.examination, delta)
            };
            index >= estimates[last]
        })
        .collect();
    candidates.sort_unstable();
    let explore = rng.next_u64() >> 63 == 0;
    if explore && !candidates.is_empty() {
        leaders[positions - 1] = candidates[rng.random_range(0..candidates.len())];
    }
    placed(&leaders, &history.examination)
}

fn bc_mp_ts(history: &PbmHistory, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let scores = history.scores(|item| {
        let clicks = history.s(item);
        let shape = BetaShape::after(clicks, (history.n_tilde(item) - clicks).max(0.0));
        Sampler::new().beta(shape, rng)
    });
    placed(&ranked(&scores, key), &history.examination)
}

/// Observed displays and clicks of every item.
#[derive(Debug)]
struct PrefixHistory {
    /// Positions of the best item, of the next one, and so on.
    places: Vec<usize>,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl PrefixHistory {
    fn new(n_items: usize, n_positions: usize) -> Self {
        Self { places: (0..n_positions).collect(), shows: vec![0; n_items], clicks: vec![0; n_items] }
    }

    fn learn(&mut self, list: &[usize], observed: Clicks) {
        for (position, &item) in list.iter().enumerate().take(observed.len()) {
            self.shows[item] += 1;
            self.clicks[item] += u64::from(observed.get(position));
        }
    }

    /// `best[rank]` at position `places[rank]`.
    fn laid_out(&self, best: &[usize]) -> Vec<usize> {
        let mut list = vec![usize::MAX; best.len()];
        for (&place, &item) in self.places.iter().zip(best) {
            list[place] = item;
        }
        list
    }

    fn mean(&self, item: usize) -> f64 {
        self.clicks[item] as f64 / self.shows[item] as f64
    }

    /// Scores of seen items; unseen ones come first.
    fn scores(&self, mut score: impl FnMut(usize) -> f64) -> Vec<f64> {
        let score = |item| if self.shows[item] == 0 { f64::INFINITY } else { score(item) };
        (0..self.shows.len()).map(score).collect()
    }

    fn top(&self, scores: &[f64], key: u64) -> Vec<usize> {
        ranked(scores, key)[..self.places.len()].to_vec()
    }

    fn kl_index(&self, item: usize, delta: f64) -> f64 {
        kl_ucb_upper(self.mean(item), self.shows[item] as f64, delta)
    }
}

fn epsilon_greedy(history: &PrefixHistory, epsilon: f64, rng: &mut Generator) -> Vec<usize> {
    if rng.random::<f64>() < epsilon {
        let mut list = Vec::new();
        while list.len() < history.places.len() {
            let item = rng.random_range(0..history.shows.len());
            if !list.contains(&item) {
                list.push(item);
            }
        }
        return list;
    }
    let key = rng.next_u64();
    history.top(&history.scores(|item| history.mean(item)), key)
}

fn rsf_ucb(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let radius = |item: usize| (2.0 * log(t) / (3.0 * history.shows[item] as f64)).sqrt();
    history.top(&history.scores(|item| history.mean(item) + radius(item)), key)
}

fn cascade_ucb1(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let radius = |item: usize| (1.5 / history.shows[item] as f64).sqrt() * log(t).sqrt();
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

fn ts_cascade(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let shared = Sampler::new().normal(rng);
    let score = |item: usize| {
        let shows = history.shows[item] as f64;
        let mean = if shows == 0.0 { 0.0 } else { history.mean(item) };
        let share = log(t + 1) / (shows + 1.0);
        mean + shared * (mean * (1.0 - mean) * share).sqrt().max(share)
    };
    let scores: Vec<f64> = (0..history.shows.len()).map(score).collect();
    history.top(&scores, key)
}

fn rsf_kl_ucb(history: &PrefixHistory, delta: f64, rng: &mut Generator) -> Vec<usize> {
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
    let indices = history.scores(|item| history.kl_index(item, delta));
    let candidates: Vec<usize> =
        (0..means.len()).filter(|item| !list.contains(item) && indices[*item] >= last).collect();
    let explore = rng.next_u64() >> 63 == 0;
    if explore && !candidates.is_empty() {
        list.insert(position, candidates[rng.random_range(0..candidates.len())]);
        list.pop();
    }
    list
}

/// The first `n` of `items` in random order.
fn first_of(items: &[usize], n: usize, rng: &mut Generator) -> Vec<usize> {
    let mut items = items.to_vec();
    for place in 0..n {
        let pick = if place + 1 < items.len() { rng.random_range(place..items.len()) } else { place };
        items.swap(place, pick);
    }
    items.truncate(n);
    items
}

/// `S_ij` and `N_ij` of all pairs.
#[derive(Debug)]
struct TopRankHistory {
    n_positions: usize,
    horizon: f64,
    lead: Vec<Vec<i64>>,
    differing: Vec<Vec<u64>>,
    /// Who beats whom, row by row.
    beats: Vec<Vec<bool>>,
    /// How often somebody began to beat somebody, or stopped; and its value when the rounds still to come back were decided.
    changes: u64,
    pending: VecDeque<u64>,
}

impl TopRankHistory {
    fn new(n_items: usize, n_positions: usize, horizon: u64) -> Self {
        Self {
            n_positions,
            horizon: horizon as f64,
            lead: vec![vec![0; n_items]; n_items],
            differing: vec![vec![0; n_items]; n_items],
            beats: vec![vec![false; n_items]; n_items],
            changes: 0,
            pending: VecDeque::new(),
        }
    }

    fn count_beats(&self) -> Vec<Vec<bool>> {
        let beats = |(&lead, &differing): (&i64, &u64)| {
            let n = differing as f64;
            let bar = (2.0 * n * confidence::math::ln(3.43 * self.horizon * n.sqrt())).sqrt();
            differing > 0 && lead as f64 >= bar
        };
        self.lead
            .iter()
            .zip(&self.differing)
            .map(|(leads, ns)| leads.iter().zip(ns).map(beats).collect())
            .collect()
    }

    fn blocks(&self) -> Vec<Vec<usize>> {
        let mut left: Vec<usize> = (0..self.lead.len()).collect();
        let mut blocks = vec![];
        while !left.is_empty() {
            let unbeaten = |&item: &usize| !left.iter().any(|&other| self.beats[other][item]);
            let mut block: Vec<usize> = left.iter().copied().filter(unbeaten).collect();
            if block.is_empty() {
                block.clone_from(&left);
            }
            left.retain(|item| !block.contains(item));
            blocks.push(block);
        }
        blocks
    }

    fn choose(&mut self, rng: &mut Generator) -> Vec<usize> {
        self.pending.push_back(self.changes);
        let mut list = vec![];
        for block in self.blocks() {
            let shown = block.len().min(self.n_positions - list.len());
            list.extend(first_of(&block, shown, rng));
        }
        list
    }

    fn learn(&mut self, list: &[usize], clicks: Clicks) {
        if self.pending.pop_front() != Some(self.changes) {
            return;
        }
        let clicked =
            |item: usize| list.iter().position(|&shown| shown == item).is_some_and(|l| clicks.get(l));
        for block in self.blocks() {
            for &i in &block {
                for &j in &block {
                    let difference = i64::from(clicked(i)) - i64::from(clicked(j));
                    self.lead[i][j] += difference;
                    self.differing[i][j] += difference.unsigned_abs();
                }
            }
        }
        let beats = self.count_beats();
        self.changes += u64::from(beats != self.beats);
        self.beats = beats;
    }
}

/// A batch of the paper's.
#[derive(Debug, Clone)]
struct NaiveBatch {
    first: usize,
    len: usize,
    stage: i32,
    items: Vec<usize>,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl NaiveBatch {
    fn new(first: usize, len: usize, mut items: Vec<usize>, stage: i32, n_items: usize) -> Self {
        items.sort_unstable();
        Self { first, len, stage, items, shows: vec![0; n_items], clicks: vec![0; n_items] }
    }

    fn least(&self) -> u64 {
        self.items.iter().map(|&item| self.shows[item]).min().expect("a batch is not empty")
    }

    fn choose(&self, rng: &mut Generator) -> Vec<usize> {
        let least = self.least();
        let (waiting, others): (Vec<usize>, Vec<usize>) =
            self.items.iter().partition(|&&item| self.shows[item] == least);
        let n_waiting = self.len.min(waiting.len());
        let mut list = first_of(&waiting, n_waiting, rng);
        if n_waiting < self.len {
            list.extend(first_of(&others, self.len - n_waiting, rng));
            list.shuffle(rng);
        }
        list
    }

    fn collect(&mut self, list: &[usize], clicks: Clicks) {
        let least = self.least();
        for (position, &item) in list.iter().enumerate().skip(self.first).take(self.len) {
            if self.items.contains(&item) && self.shows[item] == least {
                self.shows[item] += 1;
                self.clicks[item] += u64::from(clicks.get(position));
            }
        }
    }

    /// What the batch becomes: itself, its next stage, or two.
    fn next(self, horizon: u64) -> Vec<Self> {
        let n_items = self.shows.len();
        let needed = (16.0 * 4.0_f64.powi(self.stage) * log(horizon)).ceil();
        if self.items.len() == 1 || (self.least() as f64) < needed.max(1.0) {
            return vec![self];
        }
        let level = Rate::LOG_PLUS_3_LOG_LOG.level(horizon);
        let n = |item: usize| self.shows[item] as f64;
        let mean = |item: usize| self.clicks[item] as f64 / n(item);
        let lower = |item: usize| kl_ucb_lower(mean(item), n(item), level);
        let upper = |item: usize| kl_ucb_upper(mean(item), n(item), level);
        let mut items = self.items.clone();
        items.sort_by(|&a, &b| lower(b).total_cmp(&lower(a)));
        let split =
            (1..self.len).rev().find(|&k| items[k..].iter().all(|&other| lower(items[k - 1]) > upper(other)));
        if let Some(k) = split {
            let below = items.split_off(k);
            return vec![
                Self::new(self.first, k, items, 0, n_items),
                Self::new(self.first + k, self.len - k, below, 0, n_items),
            ];
        }
        let bar = lower(items[self.len - 1]);
        let kept = items.into_iter().filter(|&item| upper(item) >= bar).collect();
        vec![Self::new(self.first, self.len, kept, self.stage + 1, n_items)]
    }
}

#[derive(Debug)]
struct BatchRankHistory {
    horizon: u64,
    batches: Vec<NaiveBatch>,
    changes: u64,
    pending: VecDeque<u64>,
}

impl BatchRankHistory {
    fn new(n_items: usize, n_positions: usize, horizon: u64) -> Self {
        let batches = vec![NaiveBatch::new(0, n_positions, (0..n_items).collect(), 0, n_items)];
        Self { horizon, batches, changes: 0, pending: VecDeque::new() }
    }

    fn choose(&mut self, rng: &mut Generator) -> Vec<usize> {
        self.pending.push_back(self.changes);
        self.batches.iter().flat_map(|batch| batch.choose(rng)).collect()
    }

    fn learn(&mut self, list: &[usize], clicks: Clicks) {
        if self.pending.pop_front() != Some(self.changes) {
            return;
        }
        for mut batch in std::mem::take(&mut self.batches) {
            batch.collect(list, clicks);
            let stage = (batch.stage, batch.len);
            let next = batch.next(self.horizon);
            self.changes += u64::from(next.len() > 1 || (next[0].stage, next[0].len) != stage);
            self.batches.extend(next);
        }
    }
}

/// One KL-UCB bandit a position; picks, and what is shown instead of repeated ones.
fn rba(bandits: &[PrefixHistory], t: u64, rng: &mut Generator) -> (Vec<usize>, Vec<usize>) {
    let (mut picks, mut list) = (vec![], vec![]);
    for bandit in bandits {
        let pick = rsf_kl_ucb(bandit, log(t), rng)[0];
        let mut shown = pick;
        while list.contains(&shown) {
            shown = rng.random_range(0..bandit.shows.len());
        }
        picks.push(pick);
        list.push(shown);
    }
    (picks, list)
}

/// Plays `policy` and asserts that `choose` would have shown the same list in every round. Feedback arrives `delay` rounds late.
pub(crate) fn assert_same_choices<M, P, H>(
    model: &M,
    mut policy: P,
    mut history: H,
    delay: usize,
    rounds: u64,
    mut choose: impl FnMut(&mut H, u64, &mut Generator) -> Vec<usize>,
    mut learn: impl FnMut(&mut H, &Decision<Ranking, P::Note>, &Feedback<M>),
) where
    M: ClickModel + Debug,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Debug,
    H: Debug,
{
    let (mut fast, mut naive) = (Generator::seed_from_u64(5), Generator::seed_from_u64(5));
    let mut environment = Generator::seed_from_u64(6);
    let mut decision = Decision::default();
    let mut late = VecDeque::new();
    for t in 1..=rounds {
        policy.select(&mut fast, &mut decision);
        let expected = choose(&mut history, t, &mut naive);
        assert_eq!(list_of(&decision.action), expected, "round {t} of {model:?}: {history:?} {policy:?}");
        let feedback = model.respond(&decision.action, &mut environment);
        late.push_back((decision.clone(), feedback));
        if late.len() > delay {
            let (decision, feedback) = late.pop_front().expect("not empty");
            policy.update(&decision, &feedback);
            learn(&mut history, &decision, &feedback);
        }
    }
    assert_eq!(fast, naive, "equally many random draws");
}

/// Position-based instances: the papers', and one for every special case.
pub(crate) fn position_based_instances() -> Vec<PositionBased> {
    let kdd = [0.149, 0.022, 0.04, 0.04, 0.035, 0.08, 0.03, 0.03, 0.061, 0.025, 0.149];
    [
        (&[0.45, 0.35, 0.25, 0.15, 0.05][..], &[0.9, 0.6, 0.3][..]),
        (&[0.95, 0.85, 0.75, 0.65, 0.55], &[0.9, 0.6, 0.3]),
        (&kdd, &[1.0, 0.526, 0.358]),
        // Positions in any order, equal ones, certain ones and one that nobody looks at.
        (&[0.3, 0.5, 0.2, 0.5, 0.1, 0.3], &[0.3, 0.9, 0.6, 0.9]),
        (&[0.3, 0.5, 0.2, 0.1], &[0.0, 1.0, 0.5]),
        // Nothing to tell apart; all or nothing.
        (&[0.5; 6], &[0.5; 3]),
        (&[0.0, 1.0, 0.0, 1.0, 1.0], &[1.0, 0.7]),
        // All items shown; one position.
        (&[0.2, 0.4, 0.6, 0.8], &[1.0, 0.8, 0.4, 0.2]),
        (&[0.2, 0.4, 0.6, 0.8, 0.6], &[0.7]),
        (&[0.5], &[0.5]),
    ]
    .map(|(attraction, examination)| {
        PositionBased::from_values(attraction, examination).expect("a valid instance")
    })
    .into()
}

fn semi_bandit_instances() -> Vec<RandomSemiBandit> {
    let kdd = [0.149, 0.022, 0.04, 0.04, 0.035, 0.08, 0.03, 0.03, 0.061, 0.025, 0.149];
    [
        (&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4][..], &[1.0, 0.8, 0.6][..]),
        (&kdd, &[1.0, 0.526, 0.358]),
        (&[0.5; 6], &[0.9, 0.9, 0.1, 0.0]),
        (&[0.0, 1.0, 0.0, 1.0, 1.0], &[1.0, 1.0]),
        (&[0.2, 0.4, 0.6, 0.8], &[1.0, 0.8, 0.4, 0.2]),
        (&[0.2, 0.4, 0.6, 0.8, 0.6], &[0.7]),
        (&[0.5], &[0.5]),
    ]
    .map(|(attraction, examination)| {
        RandomSemiBandit::from_values(attraction, examination).expect("a valid instance")
    })
    .into()
}

fn fresh(model: &PositionBased) -> PbmHistory {
    let examination: Vec<f64> = model.examination().iter().map(|examined| examined.get()).collect();
    PbmHistory::new(model.shape().n_items(), &examination)
}

/// What the history of a position-based policy without notes learns.
fn learn(history: &mut PbmHistory, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
    history.learn(&list_of(&decision.action), *feedback);
}

fn learn_prefix<F: ObservedPrefix>(history: &mut PrefixHistory, decision: &Decision<Ranking>, feedback: &F) {
    history.learn(&list_of(&decision.action), feedback.observed_clicks());
}

/// At once, and in some instances late.
const DELAYS: [usize; 2] = [0, 17];

fn assert_pbm<P: Policy<Pbm, Note = ()> + Debug>(
    build: impl Fn(&PositionBased) -> P,
    choose: impl Fn(&PbmHistory, u64, &mut Generator) -> Vec<usize>,
) {
    for (number, model) in position_based_instances().iter().enumerate() {
        for delay in DELAYS.into_iter().take(if number < 4 { 2 } else { 1 }) {
            let choose = |history: &mut PbmHistory, t, rng: &mut _| choose(history, t, rng);
            assert_same_choices(model, build(model), fresh(model), delay, ROUNDS, choose, learn);
        }
    }
}

fn cascade_instances() -> Vec<CascadeModel> {
    [
        (&[0.2, 0.2, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05][..], 3),
        (&[0.9, 0.5, 0.5, 0.0, 1.0], 2),
        (&[0.02, 0.01, 0.0], 3),
    ]
    .map(|(attraction, n_positions)| {
        CascadeModel::from_values(attraction, n_positions).expect("a valid instance")
    })
    .into()
}

/// The best item belongs in the middle, to the top, and (most clicks) to the bottom.
fn dependent_click_instances() -> Vec<DependentClick> {
    [
        (&[0.3, 0.5, 0.2, 0.5, 0.1, 0.3][..], &[0.5, 0.9, 0.2][..], DcmReward::Satisfaction),
        (&[0.6, 0.5, 0.3, 0.2, 0.1], &[0.9, 0.7], DcmReward::Satisfaction),
        (&[0.6, 0.5, 0.3, 0.2, 0.1], &[0.9, 0.7, 0.0], DcmReward::Clicks),
    ]
    .map(|(attraction, leave, reward)| {
        DependentClick::from_values(attraction, leave, reward).expect("a valid instance")
    })
    .into()
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
        for delay in DELAYS.into_iter().take(if number < 3 { 2 } else { 1 }) {
            let policy = build(model.shape().into());
            assert_same_choices(model, policy, history(model.shape()), delay, ROUNDS, choose, learn_prefix);
        }
    }
    for model in &cascade_instances() {
        let policy = build(model.shape().into());
        assert_same_choices(model, policy, history(model.shape()), 0, ROUNDS, choose, learn_prefix);
    }
    for model in &dependent_click_instances() {
        let mut history = history(model.shape());
        history.places = model.known().places().to_vec();
        assert_same_choices(model, build(model.known().into()), history, 0, ROUNDS, choose, learn_prefix);
    }
}

/// Holds a policy for lists of every kind against its history on users of every kind. Both are built for a size and a horizon, which is
/// that of the run, or much shorter, so that they are often wrong.
fn assert_anywhere<P, H>(
    build: impl Fn(ListShape, u64) -> P,
    fresh: impl Fn(usize, usize, u64) -> H,
    choose: impl Fn(&mut H, &mut Generator) -> Vec<usize> + Copy,
    learn: impl Fn(&mut H, &[usize], Clicks) + Copy,
) where
    P: Policy<Pbm> + Policy<SemiBandit> + Policy<Cascade> + Policy<Dcm> + Debug,
    H: Debug,
{
    let hold = Anywhere { build, fresh, choose, learn };
    for model in &position_based_instances() {
        hold.on(model, model.shape());
    }
    for model in &semi_bandit_instances()[..3] {
        hold.on(model, model.shape());
    }
    for model in &cascade_instances() {
        hold.on(model, model.shape());
    }
    for model in &dependent_click_instances() {
        hold.on(model, model.shape());
    }
}

struct Anywhere<B, N, C, L> {
    build: B,
    fresh: N,
    choose: C,
    learn: L,
}

impl<B, N, C, L> Anywhere<B, N, C, L> {
    fn on<M, P, H>(&self, model: &M, shape: ListShape)
    where
        M: ClickModel + Debug,
        M::Interaction: Interaction<Action = Ranking, Feedback: ListFeedback>,
        P: Policy<M::Interaction> + Debug,
        H: Debug,
        B: Fn(ListShape, u64) -> P,
        N: Fn(usize, usize, u64) -> H,
        C: Fn(&mut H, &mut Generator) -> Vec<usize> + Copy,
        L: Fn(&mut H, &[usize], Clicks) + Copy,
    {
        for (horizon, delay) in [(ROUNDS, 0), (ROUNDS, 17), (2, 0)] {
            assert_same_choices(
                model,
                (self.build)(shape, horizon),
                (self.fresh)(shape.n_items(), shape.n_positions(), horizon),
                delay,
                ROUNDS,
                |history, _, rng| (self.choose)(history, rng),
                |history, decision, feedback| {
                    (self.learn)(history, &list_of(&decision.action), feedback.list_clicks());
                },
            );
        }
    }
}

#[test]
fn pbm_ucb_is_the_naive_one() {
    assert_pbm(
        |model| PbmUcb::new(model.known(), Rate::LOG),
        |history, t, rng| pbm_ucb(history, t, 0.0, rng),
    );
}

#[test]
fn pbm_ucb_with_epsilon_is_the_naive_one() {
    let rate = Rate::scaled_log(NonNegative::new(0.25).expect("not negative"));
    let model = &position_based_instances()[2];
    let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_ucb(history, t, 0.25, rng);
    assert_same_choices(model, PbmUcb::new(model.known(), rate), fresh(model), 0, ROUNDS, choose, learn);
}

#[test]
fn pbm_pie_is_the_naive_one() {
    assert_pbm(
        |model| PbmPie::new(model.known(), Rate::LOG),
        |history, t, rng| pbm_pie(history, t, log(t), rng),
    );
}

#[test]
fn pbm_pie_at_the_horizon_is_the_naive_one() {
    assert_pbm(
        |model| PbmPie::new(model.known(), Rate::LOG.at_horizon(ROUNDS)),
        |history, t, rng| pbm_pie(history, t, log(ROUNDS), rng),
    );
}

#[test]
fn bc_mp_ts_is_the_naive_one() {
    assert_pbm(|model| BcMpTs::new(model.known()), |history, _, rng| bc_mp_ts(history, rng));
}

#[test]
fn rba_kl_ucb_is_the_naive_one() {
    for (number, model) in position_based_instances().iter().enumerate() {
        let (n_items, n_positions) = (model.shape().n_items(), model.shape().n_positions());
        let bandits: Vec<_> = (0..n_positions).map(|_| PrefixHistory::new(n_items, 1)).collect();
        // The picks of rounds whose feedback is still to come.
        let (policy, history) = (RbaKlUcb::new(model.shape()), (bandits, VecDeque::new()));
        assert_same_choices(
            model,
            policy,
            history,
            if number < 2 { 17 } else { 0 },
            ROUNDS,
            |(bandits, pending), t, rng| {
                let (picks, list) = rba(bandits, t, rng);
                pending.push_back((picks, list.clone()));
                list
            },
            |(bandits, pending), _, feedback| {
                let (picks, list) = pending.pop_front().expect("a round that was played");
                for (position, bandit) in bandits.iter_mut().enumerate() {
                    bandit.shows[picks[position]] += 1;
                    if picks[position] == list[position] && feedback.clicks.get(position) {
                        bandit.clicks[picks[position]] += 1;
                    }
                }
            },
        );
    }
}

#[test]
fn epsilon_greedy_is_the_naive_one() {
    for epsilon in [0.0, 0.1, 1.0] {
        let probability = Probability::new(epsilon).expect("a probability");
        for model in position_based_instances() {
            let shape = model.shape();
            assert_same_choices(
                &model,
                EpsilonGreedy::new(shape, probability),
                PrefixHistory::new(shape.n_items(), shape.n_positions()),
                17,
                ROUNDS / 10,
                |history, _, rng| epsilon_greedy(history, epsilon, rng),
                // Every display counts.
                |history, decision, feedback| history.learn(&list_of(&decision.action), feedback.clicks),
            );
        }
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
fn rsf_kl_ucb_is_the_naive_one() {
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
    assert_prefix(|known| PrefixTs::new(known), |history, _, rng| rsf_ts(history, rng));
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
fn top_rank_is_the_naive_one() {
    assert_anywhere(TopRank::new, TopRankHistory::new, TopRankHistory::choose, TopRankHistory::learn);
}

#[test]
fn batch_rank_is_the_naive_one() {
    assert_anywhere(BatchRank::new, BatchRankHistory::new, BatchRankHistory::choose, BatchRankHistory::learn);
}

/// The test itself: a reference with `log(t + 1)` for `log t`, or with ties to the lowest item, is told apart.
#[test]
#[should_panic(expected = "round")]
fn a_later_logarithm_is_caught() {
    let model = &position_based_instances()[0];
    let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_ucb(history, t + 1, 0.0, rng);
    assert_same_choices(model, PbmUcb::new(model.known(), Rate::LOG), fresh(model), 0, ROUNDS, choose, learn);
}

/// More items than a word has bits, and short horizons so that blocks and batches change often.
#[test]
fn safe_policies_with_many_items_are_the_naive_ones() {
    let attraction: Vec<f64> = (0..130).map(|item| f64::from(item % 13) / 13.0).collect();
    let model = PositionBased::from_values(&attraction, &[0.9, 0.7, 0.5, 0.3]).expect("a valid instance");
    let (n_items, n_positions) = (130, 4);
    assert_same_choices(
        &model,
        TopRank::new(model.shape(), 2),
        TopRankHistory::new(n_items, n_positions, 2),
        3,
        5000,
        |history, _, rng| history.choose(rng),
        |history, decision, feedback| history.learn(&list_of(&decision.action), feedback.clicks),
    );
    assert_same_choices(
        &model,
        BatchRank::new(model.shape(), 2),
        BatchRankHistory::new(n_items, n_positions, 2),
        3,
        ROUNDS,
        |history, _, rng| history.choose(rng),
        |history, decision, feedback| history.learn(&list_of(&decision.action), feedback.clicks),
    );
}

#[test]
#[should_panic(expected = "round")]
fn another_horizon_of_top_rank_is_caught() {
    let fresh = |n_items, n_positions, horizon| TopRankHistory::new(n_items, n_positions, 2 * horizon);
    assert_anywhere(TopRank::new, fresh, TopRankHistory::choose, TopRankHistory::learn);
}

#[test]
#[should_panic(expected = "round")]
fn another_horizon_of_batch_rank_is_caught() {
    let fresh = |n_items, n_positions, horizon| BatchRankHistory::new(n_items, n_positions, 2 * horizon);
    assert_anywhere(BatchRank::new, fresh, BatchRankHistory::choose, BatchRankHistory::learn);
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
        items.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        items.truncate(history.places.len());
        items
    };
    assert_same_choices(model, policy, PrefixHistory::new(6, 3), 0, ROUNDS, choose, learn_prefix);
}

/// What is drawn in the order of positions, so that a list can be compared with one of items.
#[test]
fn lists_are_placed_by_examination() {
    assert_eq!(placed(&[7, 8, 9], &[0.3, 0.9, 0.6]), [9, 7, 8]);
    assert_eq!(placed(&[7, 8, 9], &[0.5, 0.5, 0.5]), [7, 8, 9]);
    let ranking: Ranking = [9, 7].map(ItemId::new).into_iter().collect();
    assert_eq!(list_of(&ranking), [9, 7]);
}
