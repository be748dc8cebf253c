//! Every policy a second time, straight from the papers, and the test that both make the same choices.
//!
//! Nothing is remembered but counts, every index is worked out every round, and lists are sorted. What is shared with the policies is
//! the sampler of Beta variates and the documented order of random draws: one 64-bit key for the round's ties, then, if
//! parsimonious, a coin whose upper bit shows the leaders, then the choice among candidates in the order of items. Equal scores
//! rank by the `SplitMix64` finaliser of `key ^ item * 0x9e3779b97f4a7c15`, the larger first.

use crate::sampling::{BetaShape, Sampler};
use crate::{
    BcMpTs, Decision, PbmPie, PbmUcb, Pie, Policy, PrefixKlUcb, PrefixTs, PrefixUcb, RbaKlUcb, Update,
};
use click_models::{
    ClickModel, Feedback, Interaction, ItemId, Pbm, PbmFeedback, PositionBased, PrefixFeedback,
    RandomSemiBandit, Ranking, SemiBandit,
};
use confidence::{NonNegative, Rate, kl_ucb_upper, multi_position_upper};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::fmt::Debug;

const ROUNDS: u64 = 100_000;

type Generator = Xoshiro256PlusPlus;

/// Position of `item` among equals.
fn tie_rank(key: u64, item: usize) -> (u64, usize) {
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
    ranking.iter().map(|(_, item)| item.index()).collect()
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
    n_positions: usize,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl PrefixHistory {
    fn new(n_items: usize, n_positions: usize) -> Self {
        Self { n_positions, shows: vec![0; n_items], clicks: vec![0; n_items] }
    }

    fn learn(&mut self, list: &[usize], feedback: PrefixFeedback) {
        for (position, &item) in list.iter().enumerate().take(feedback.clicks.len()) {
            self.shows[item] += 1;
            self.clicks[item] += u64::from(feedback.clicks.get(position));
        }
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
        ranked(scores, key)[..self.n_positions].to_vec()
    }

    fn kl_index(&self, item: usize, delta: f64) -> f64 {
        kl_ucb_upper(self.mean(item), self.shows[item] as f64, delta)
    }
}

fn rsf_ucb(history: &PrefixHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let radius = |item: usize| (2.0 * log(t) / (3.0 * history.shows[item] as f64)).sqrt();
    history.top(&history.scores(|item| history.mean(item) + radius(item)), key)
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

fn learn_prefix(history: &mut PrefixHistory, decision: &Decision<Ranking>, feedback: &PrefixFeedback) {
    history.learn(&list_of(&decision.action), *feedback);
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

fn assert_prefix<P: Policy<SemiBandit, Note = ()> + Debug>(
    build: impl Fn(&RandomSemiBandit) -> P,
    choose: impl Fn(&PrefixHistory, u64, &mut Generator) -> Vec<usize>,
) {
    for (number, model) in semi_bandit_instances().iter().enumerate() {
        let history = || PrefixHistory::new(model.shape().n_items(), model.shape().n_positions());
        for delay in DELAYS.into_iter().take(if number < 3 { 2 } else { 1 }) {
            let choose = |history: &mut PrefixHistory, t, rng: &mut _| choose(history, t, rng);
            assert_same_choices(model, build(model), history(), delay, ROUNDS, choose, learn_prefix);
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
fn rsf_ucb_is_the_naive_one() {
    assert_prefix(|model| PrefixUcb::rsf(model.shape()), rsf_ucb);
}

#[test]
fn rsf_kl_ucb_is_the_naive_one() {
    assert_prefix(
        |model| PrefixKlUcb::new(model.shape(), Rate::LOG),
        |history, t, rng| rsf_kl_ucb(history, log(t), rng),
    );
}

#[test]
fn rsf_ts_is_the_naive_one() {
    assert_prefix(|model| PrefixTs::new(model.shape()), |history, _, rng| rsf_ts(history, rng));
}

#[test]
fn pie_is_the_naive_one() {
    assert_prefix(
        |model| Pie::last(model.shape(), Rate::LOG),
        |history, t, rng| pie(history, history.n_positions - 1, log(t), rng),
    );
}

#[test]
fn pie_at_the_top_is_the_naive_one() {
    assert_prefix(
        |model| Pie::at(model.shape(), 0, Rate::LOG_PLUS_4_LOG_LOG).expect("a list has a first position"),
        |history, t, rng| {
            let level = if t == 1 { 0.0 } else { (log(t) + 4.0 * confidence::math::ln(log(t))).max(0.0) };
            pie(history, 0, level, rng)
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

/// The test itself: a reference with `log(t + 1)` for `log t`, or with ties to the lowest item, is told apart.
#[test]
#[should_panic(expected = "round")]
fn a_later_logarithm_is_caught() {
    let model = &position_based_instances()[0];
    let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_ucb(history, t + 1, 0.0, rng);
    assert_same_choices(model, PbmUcb::new(model.known(), Rate::LOG), fresh(model), 0, ROUNDS, choose, learn);
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
        items.truncate(history.n_positions);
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
