//! Every policy a second time, straight from the papers, and the test that both make the same
//! choices.
//!
//! These versions keep only counts, compute every index in every round, and sort lists. They share
//! with the policies only the samplers of Gamma and Beta variates and the documented order of
//! random draws: one 64-bit key for the round's ties, then, for PIE and PBM-PIE, a coin whose upper
//! bit decides whether the leaders are shown, then the choice among candidates in the order of
//! items. Equal scores rank by the `SplitMix64` finaliser of `key ^ item * 0x9e3779b97f4a7c15`, the
//! larger first.

mod any_list;
mod growth;
mod large_catalogues;
mod live;
#[path = "../tests/support/plain/mod.rs"]
mod plain;
mod position_based;
mod prefix;
mod unknown_examination;

pub(crate) use position_based::PbmHistory;

use crate::sampling::{BetaShape, GammaShape, Sampler};
use crate::{Decision, Update};
use click_models::{
    Cascade, CascadeModel, ClickModel, Clicks, Dcm, DcmReward, DependentClick, Feedback, Interaction, ItemId,
    ListFeedback, ListShape, ObservedPrefix, Pbm, PbmFeedback, PositionBased, RandomSemiBandit, Ranking,
    SemiBandit,
};
use confidence::{
    NonNegative, Probability, Rate, bernoulli_kl, kl_ucb_lower, kl_ucb_upper, multi_position_upper,
};
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
    first_ranked(scores, key, scores.len())
}

/// The first `n` items, best first.
pub(crate) fn first_ranked(scores: &[f64], key: u64, n: usize) -> Vec<usize> {
    let order = |&a: &usize, &b: &usize| {
        let ties = || tie_rank(key, b).cmp(&tie_rank(key, a));
        scores[b].partial_cmp(&scores[a]).expect("numbers").then_with(ties)
    };
    let mut items: Vec<usize> = (0..scores.len()).collect();
    if n < items.len() {
        items.select_nth_unstable_by(n, order);
        items.truncate(n);
    }
    items.sort_unstable_by(order);
    items
}

/// The largest score first; equals stay in their order. For all tests, since a sort is much to
/// compile.
pub(crate) fn sort_by_score(items: &mut [usize], score: &dyn Fn(usize) -> f64) {
    items.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
}

/// The largest value first.
pub(crate) fn falling(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted
}

/// `items[0]` where examination is largest, and so on; of equal positions the upper one first.
pub(crate) fn placed(items: &[usize], examination: &[f64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..examination.len()).collect();
    sort_by_score(&mut positions, &|position| examination[position]);
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

/// Plays `policy` and asserts that `choose` would have shown the same list in every round. Feedback
/// arrives `delay` rounds late.
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
    compare(model, &mut policy, &mut history, delay, rounds, &mut choose, &mut learn);
}

/// The plain version of a policy: what it shows in a round, and what it learns.
type Choose<'a, H> = &'a mut dyn FnMut(&mut H, u64, &mut Generator) -> Vec<usize>;
type Learn<'a, H, N, F> = &'a mut dyn FnMut(&mut H, &Decision<Ranking, N>, &F);

/// Compiled once for a policy and its users, whatever the plain version.
#[inline(never)]
fn compare<M, P, H>(
    model: &M,
    policy: &mut P,
    history: &mut H,
    delay: usize,
    rounds: u64,
    choose: Choose<'_, H>,
    learn: Learn<'_, H, P::Note, Feedback<M>>,
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
        let expected = choose(history, t, &mut naive);
        if list_of(&decision.action) != expected {
            differs(t, &decision.action, &expected, [model, history, policy]);
        }
        let feedback = model.respond(&decision.action, &mut environment);
        late.push_back((decision.clone(), feedback));
        if late.len() > delay {
            let (decision, feedback) = late.pop_front().expect("not empty");
            policy.update(&decision, &feedback);
            learn(history, &decision, &feedback);
        }
    }
    assert_eq!(fast, naive, "equally many random draws");
}

#[cold]
fn differs(round: u64, found: &Ranking, expected: &[usize], [model, history, policy]: [&dyn Debug; 3]) -> ! {
    let found = list_of(found);
    panic!("round {round} of {model:?}: {found:?} is not {expected:?}; {history:?} {policy:?}");
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

/// How late feedback is, and for how many rounds. The first four instances are played for long,
/// also with late feedback. In the others there is soon nothing left to learn, so they are played
/// for a while. In all there are 150,000 rounds of the ten position-based instances, and 135,000 of
/// the seven others.
fn delays_and_rounds(number: usize) -> &'static [(usize, u64)] {
    match number {
        0..4 => &[(0, ROUNDS), (17, ROUNDS / 2)],
        _ => &[(0, ROUNDS / 4)],
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

/// Items are placed by examination, ties in the order of positions.
#[test]
fn lists_are_placed_by_examination() {
    assert_eq!(placed(&[7, 8, 9], &[0.3, 0.9, 0.6]), [9, 7, 8]);
    assert_eq!(placed(&[7, 8, 9], &[0.5, 0.5, 0.5]), [7, 8, 9]);
    let ranking: Ranking = [9, 7].map(ItemId::new).into_iter().collect();
    assert_eq!(list_of(&ranking), [9, 7]);
}
