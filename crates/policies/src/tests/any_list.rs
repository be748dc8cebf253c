//! Policies that read any list's clicks.

use super::prefix::{PrefixHistory, rsf_kl_ucb};
use super::*;
use crate::{BatchRank, EpsilonGreedy, Policy, RbaKlUcb, TopRank};

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
    /// The lead that it takes, by the number of differing clicks.
    bars: Vec<f64>,
    /// How often somebody began to beat somebody, or stopped; and its value when the rounds still
    /// to come back were decided.
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
            bars: vec![],
            changes: 0,
            pending: VecDeque::new(),
        }
    }

    fn count_beats(&mut self) -> Vec<Vec<bool>> {
        let most = self.differing.iter().flatten().copied().max().unwrap_or(0);
        for differing in self.bars.len() as u64..=most {
            let n = differing as f64;
            self.bars.push((2.0 * n * confidence::math::ln(3.43 * self.horizon * n.sqrt())).sqrt());
        }
        // The bar is positive.
        let beats = |(&lead, &differing): (&i64, &u64)| {
            lead > 0 && lead as f64 >= self.bars[usize::try_from(differing).expect("small")]
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

    /// The batches that follow: itself, its next stage, or two.
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
        sort_by_score(&mut items, &lower);
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

/// Holds a policy for lists of every kind against its history on users of every kind. Both are
/// built for a size and a horizon, which is that of the run, or much shorter, so that they are
/// often wrong.
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
        for (horizon, delay, rounds) in [(ROUNDS, 0, ROUNDS), (ROUNDS, 17, ROUNDS / 4), (2, 0, ROUNDS / 4)] {
            assert_same_choices(
                model,
                (self.build)(shape, horizon),
                (self.fresh)(shape.n_items(), shape.n_positions(), horizon),
                delay,
                rounds,
                |history, _, rng| (self.choose)(history, rng),
                |history, decision, feedback| {
                    (self.learn)(history, &list_of(&decision.action), feedback.list_clicks());
                },
            );
        }
    }
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
            if number < 4 { ROUNDS } else { ROUNDS / 4 },
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
fn top_rank_is_the_naive_one() {
    assert_anywhere(TopRank::new, TopRankHistory::new, TopRankHistory::choose, TopRankHistory::learn);
}

#[test]
fn batch_rank_is_the_naive_one() {
    assert_anywhere(BatchRank::new, BatchRankHistory::new, BatchRankHistory::choose, BatchRankHistory::learn);
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
