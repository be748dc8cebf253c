//! Worked examples: choices that can be computed by hand.

use crate::support::generator;
use click_models::{
    CascadeFeedback, Cell, CellClick, ClickModel, Clicks, DuelOutcome, DuelShape, ItemId, ListShape, Pair,
    PbmFeedback, PositionBased, PrefixFeedback, Ranking, TableShape,
};
use confidence::{NonNegative, Probability, Rate, multi_position_upper};
use policies::{
    BatchRank, BcMpTs, BeatTheMean, CascadeBai, CascadeKl, CondorcetSavage, Decision, Delta, DoubleTs,
    EpsilonGreedy, InterleavedFilter, KlLucb, MergeDts, PbmKlUcb, PbmPie, PbmTs, PbmUcb, Pie, PrefixKlUcb,
    PrefixTs, PrefixUcb, PrefixUcbV, Rank1Elim, RbaKlUcb, Recommend, Rmed1, Rucb, Select, Stop,
    SuccessiveRejects, TopRank, TsCascade, Ucb1, Ucb1Elim, Update,
};
use std::ops::ControlFlow;

const ZERO: ItemId = ItemId::new(0);
const ONE: ItemId = ItemId::new(1);

/// Two items and one position, which half of the users examine.
fn half_examined() -> PositionBased {
    PositionBased::from_values(&[0.5, 0.4], &[0.5]).expect("valid")
}

fn list_shape(n_items: usize, n_positions: usize) -> ListShape {
    ListShape::new(n_items, n_positions).expect("valid")
}

fn two_items() -> DuelShape {
    DuelShape::new(2).expect("valid")
}

fn list<const N: usize>(items: [u32; N]) -> Ranking {
    items.map(ItemId::new).into_iter().collect()
}

fn one_click(clicked: bool) -> Clicks {
    if clicked { Clicks::new(1).with(0) } else { Clicks::new(1) }
}

/// The policy after `[item, clicks, displays]`, the clicks first.
fn after<P, F>(mut policy: P, feedback: impl Fn(Clicks) -> F, counts: &[[u32; 3]]) -> P
where
    P: Update<Ranking, F> + Select<Ranking, Note = ()>,
{
    for &[item, clicks, displays] in counts {
        let decision = Decision { action: list([item]), note: () };
        for display in 0..displays {
            policy.update(&decision, &feedback(one_click(display < clicks)));
        }
    }
    policy
}

fn on_prefixes<P>(policy: P, counts: &[[u32; 3]]) -> P
where
    P: Update<Ranking, PrefixFeedback> + Select<Ranking, Note = ()>,
{
    after(policy, |clicks| PrefixFeedback { clicks }, counts)
}

fn on_positions<P>(policy: P, counts: &[[u32; 3]]) -> P
where
    P: Update<Ranking, PbmFeedback> + Select<Ranking, Note = ()>,
{
    after(policy, |clicks| PbmFeedback { clicks }, counts)
}

/// The choices of the next rounds, without feedback.
fn choices<A: Default + Clone, P: Select<A>>(mut policy: P, rounds: usize) -> Vec<A> {
    let (mut rng, mut decision) = (generator(1), Decision::default());
    let mut choice = || {
        policy.select(&mut rng, &mut decision);
        decision.action.clone()
    };
    (0..rounds).map(|_| choice()).collect()
}

/// The first items of the lists of the next rounds, without feedback.
fn shown<P: Select<Ranking>>(policy: P, rounds: usize) -> Vec<usize> {
    choices(policy, rounds).iter().map(|list| list[0].index()).collect()
}

/// Plays rounds, numbered from 1, with feedback that depends on the choice.
fn play<A, F, P>(policy: &mut P, rounds: u32, mut feedback: impl FnMut(u32, &A) -> F)
where
    A: Default,
    P: Update<A, F>,
{
    let (mut rng, mut decision) = (generator(1), Decision::default());
    for round in 1..=rounds {
        policy.select(&mut rng, &mut decision);
        policy.update(&decision, &feedback(round, &decision.action));
    }
}

/// Indices `3/5 + sqrt(5) / 5 sqrt(ln t)` and `sqrt(ln t)` cross at `t = 3.2`.
#[test]
fn pbm_ucb() {
    let policy = PbmUcb::new(half_examined().known(), Rate::LOG);
    assert_eq!(shown(on_positions(policy, &[[0, 3, 10], [1, 0, 2]]), 4), [0, 0, 0, 1]);
}

/// Item 1 has the index `2 (1 - t^(-1/2))`, which rises from 0; item 0 has index 1/5 at level 0.
#[test]
fn pbm_kl_ucb() {
    let policy = PbmKlUcb::new(half_examined().known(), Rate::LOG);
    let shown = shown(on_positions(policy, &[[0, 1, 10], [1, 0, 2]]), 40);
    for (t, item) in (1..).zip(&shown) {
        let level = Rate::LOG.level(t);
        let [zero, one] =
            [(1, 10), (0, 2)].map(|(clicks, shows)| multi_position_upper(&[clicks], &[shows], &[0.5], level));
        assert!(zero == one || *item == usize::from(one > zero), "round {t}");
    }
    assert!(shown[0] == 0 && shown.contains(&1));
}

/// Item 0 has the estimate 1/5. The index of item 1, `2 (1 - t^(-1/20))`, reaches it at
/// `t = 0.9^-20 = 8.2`. Rounds 1 and 2 show every item once.
#[test]
fn pbm_pie() {
    let policy = PbmPie::new(half_examined().known(), Rate::LOG);
    let shown = shown(on_positions(policy, &[[0, 1, 10], [1, 0, 20]]), 40);
    assert_eq!(shown[..8], [0, 1, 0, 0, 0, 0, 0, 0]);
    assert!(shown[8..].contains(&1));
}

/// `1/2 + sqrt(ln t / 15)` and `sqrt(2 ln t / 3)` cross at `t = 2.2`.
#[test]
fn rsf_ucb() {
    let policy = PrefixUcb::rsf(list_shape(2, 1));
    assert_eq!(shown(on_prefixes(policy, &[[0, 5, 10], [1, 0, 1]]), 3), [0, 0, 1]);
}

/// `1/2 + sqrt(ln t / 20) + 3 ln t / 10` and `ln t`, of variance 0, cross at `t = 2.83`.
#[test]
fn cascade_ucb_v() {
    let policy = PrefixUcbV::new(list_shape(2, 1));
    assert_eq!(shown(on_prefixes(policy, &[[0, 5, 10], [1, 0, 3]]), 3), [0, 0, 1]);
}

/// `(1 + sqrt(1 - t^(-1/5))) / 2`, since `d(1/2, q) = -ln(4 q (1 - q)) / 2`, and `1 - t^(-1/2)`:
/// 0.87619 and 0.87597 at round 65, 0.87663 and 0.87691 at round 66.
#[test]
fn rsf_kl_ucb() {
    let policy = PrefixKlUcb::new(list_shape(2, 1), Rate::LOG);
    let shown = shown(on_prefixes(policy, &[[0, 5, 10], [1, 0, 2]]), 66);
    assert_eq!(shown.iter().position(|&item| item == 1), Some(65));
}

/// Item 0 leads with 1/5. The index of item 1, `1 - t^(-1/20)`, reaches it at
/// `t = 0.8^-20 = 86.7`.
#[test]
fn pie() {
    let policy = Pie::last(list_shape(2, 1), Rate::LOG);
    let shown = shown(on_prefixes(policy, &[[0, 2, 10], [1, 0, 20]]), 120);
    assert!(shown.iter().position(|&item| item == 1).is_some_and(|round| round >= 86));
}

/// How often an item with these clicks in these displays leads one without displays. Bounds are
/// seven standard deviations.
fn leads(shown: &[usize]) -> usize {
    shown.iter().filter(|&&item| item == 0).count()
}

/// `Beta(4, 1)` exceeds a uniform draw with probability 4/5.
#[test]
fn rsf_ts() {
    let policy = PrefixTs::new(list_shape(2, 1));
    assert!(leads(&shown(on_prefixes(policy, &[[0, 3, 3]]), 10_000)).abs_diff(8000) < 280);
}

/// 8 clicks in 20 displays at examination 1/2 count as 8 in 10: `Beta(9, 3)`, with 9/12.
#[test]
fn bc_mp_ts() {
    let policy = BcMpTs::new(half_examined().known());
    assert!(leads(&shown(on_positions(policy, &[[0, 8, 20]]), 10_000)).abs_diff(7500) < 303);
}

/// A display without a click at examination 1/2: density `(1 - theta / 2) / (3/4)`, mean 4/9. The
/// approximation of BC-MP-TS gives 2/5.
#[test]
fn pbm_ts() {
    let policy = PbmTs::new(half_examined().known());
    assert!(leads(&shown(on_positions(policy, &[[0, 0, 1]]), 90_000)).abs_diff(40_000) < 1044);
}

/// Item 0 has mean 1/11 and deviation 0.029. At round 1 the score of item 1 is `Z ln 2`. It leads
/// if `Z > 0.0909 / (0.6931 - 0.0239) = 0.136`, with probability 0.446.
#[test]
fn ts_cascade() {
    let policy = on_prefixes(TsCascade::new(list_shape(2, 1)), &[[0, 9, 99]]);
    let (mut rng, mut decision) = (generator(1), Decision::default());
    let mut explored = 0_u32;
    for _ in 0..10_000 {
        policy.clone().select(&mut rng, &mut decision);
        explored += u32::from(decision.action[0] == ONE);
    }
    assert!(explored.abs_diff(4460) < 350);
}

/// Both bandits picked item 0, and both displays were clicked. Both now pick item 1, which neither
/// has pulled, and the lower one shows item 0 instead.
#[test]
fn rba_kl_ucb() {
    let mut policy = RbaKlUcb::new(list_shape(2, 2));
    let mut decision = Decision { action: list([0, 1]), note: list([0, 0]) };
    policy.update(&decision, &PbmFeedback { clicks: Clicks::new(2).with(0).with(1) });
    policy.select(&mut generator(1), &mut decision);
    assert_eq!((decision.action, decision.note), (list([1, 0]), list([1, 1])));
}

/// Item 1 was clicked in one of two displays, item 0 in none of one, and item 2 was never shown.
#[test]
fn epsilon_greedy() {
    let mut policy = EpsilonGreedy::new(list_shape(3, 2), Probability::ZERO);
    let clicks = Clicks::new(2).with(0);
    policy.update(&Decision { action: list([1, 0]), note: () }, &PbmFeedback { clicks });
    assert_eq!(choices(on_positions(policy, &[[1, 0, 1]]), 1), [list([2, 1])]);
}

/// T = 1000. Item 1 is clicked in every round and item 0 in none: `S = N`, and
/// `N >= 2 ln(3430 sqrt(N))` from `N = 20` on (19.28; 19.23 for `N = 19`).
#[test]
fn top_rank() {
    let mut on_top = 0;
    play(&mut TopRank::new(list_shape(2, 2), 1000), 100, |round, shown: &Ranking| {
        let place = usize::from(shown[1] == ONE);
        assert!(round <= 20 || place == 0);
        on_top += u32::from(round <= 20 && place == 0);
        PbmFeedback { clicks: Clicks::new(2).with(place) }
    });
    assert!((1..20).contains(&on_top));
}

/// T = 1000: `ceil(16 ln 1000) = 111` displays each. Item 1 is always clicked, item 0 never. With
/// the level `ln 1000 + 3 ln ln 1000 = 12.71` the lower bound of item 1 is
/// `exp(-12.71 / 111) = 0.892`, and the upper bound of item 0 is 0.108.
#[test]
fn batch_rank() {
    let mut of_stage = 0;
    play(&mut BatchRank::new(list_shape(2, 1), 1000), 322, |round, shown: &Ranking| {
        let is_best = shown[0] == ONE;
        assert!(round <= 222 || is_best);
        of_stage += u32::from(round <= 222 && is_best);
        PbmFeedback { clicks: one_click(is_best) }
    });
    assert_eq!(of_stage, 111);
}

/// One row and two columns, horizon 1000: 111 sweeps of 1 + 2 plays. Column 1 is always clicked and
/// column 0 never: their intervals end at 0.892 and 0.108, as for `BatchRank`.
#[test]
fn rank1_elim_kl() {
    let mut policy = Rank1Elim::kl(TableShape::new(1, 2).expect("valid"), 1000);
    play(&mut policy, 1000, |round, cell: &Cell| {
        assert!(round <= 333 || cell.column == 1);
        CellClick { clicked: cell.column == 1 }
    });
    assert_eq!(policy.remaining_columns(), [1]);
}

/// Horizon 1000: `n_0 = ceil(2 ln 1000) = 14` and `r = sqrt(ln 1000 / 28) = 0.497`. Means of 0 and
/// 1 are told apart after 28 plays: `0 + r < 1 - r`.
#[test]
fn ucb1_elim() {
    let mut policy = Ucb1Elim::new(TableShape::new(1, 2).expect("valid"), 1000);
    play(&mut policy, 1000, |round, cell: &Cell| {
        assert!(round <= 28 || cell.column == 1);
        CellClick { clicked: cell.column == 1 }
    });
}

/// `1/2 + sqrt(ln t)` against `sqrt(2 ln t)`: the second is larger if
/// `sqrt(ln t) > 1/2 / (sqrt(2) - 1) = 1.2071`, `t > 4.29`.
#[test]
fn ucb1() {
    let mut policy = Ucb1::new(TableShape::new(1, 2).expect("valid"));
    for (column, clicked) in [(0, true), (0, false), (1, false)] {
        policy.update(&Decision { action: Cell::new(0, column), note: () }, &CellClick { clicked });
    }
    assert_eq!(choices(policy, 5), [0, 0, 0, 0, 1].map(|column| Cell::new(0, column)));
}

/// T = 1000: `ln(2 * 1000 * 1000) = 14.51`. An item that never wins is removed when
/// `sqrt(14.51 / (2 n)) < 1/2`, after 30 duels.
#[test]
fn condorcet_savage() {
    play(&mut CondorcetSavage::new(two_items(), 1000), 1000, |round, pair| {
        assert_eq!(*pair == Pair::of_one(ONE), round > 30);
        DuelOutcome::SecondWon
    });
}

/// T = 1000: `ln 4000 = 8.294`. An incumbent, the first of a pair, that never wins is beaten when
/// `sqrt(33.18 / n) < 1/2`, after 133 duels; the other item is then the last.
#[test]
fn interleaved_filter() {
    let mut follower = None;
    play(&mut InterleavedFilter::new(two_items(), 1000), 1000, |round, pair: &Pair| {
        let follower = *follower.get_or_insert(pair.second);
        assert_eq!(*pair == Pair::of_one(follower), round > 133);
        DuelOutcome::SecondWon
    });
}

/// Item 1 wins as the first of a pair, and loses to no one.
fn one_wins(pair: Pair) -> DuelOutcome {
    if pair.first == ONE { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon }
}

/// An item that lost all of `n` duels is removed when `n > 4 alpha ln(t + C) = 13.5`.
#[test]
fn merge_dts() {
    play(&mut MergeDts::new(two_items()), 100, |round, pair| {
        assert_eq!(*pair == Pair::of_one(ONE), round > 14);
        one_wins(*pair)
    });
}

/// `gamma = 0.1` (to be quick), T = 1000: `ln 4000 = 8.29`. Item 0 is soon removed.
#[test]
fn beat_the_mean() {
    let gamma = NonNegative::new(0.1).expect("not negative");
    play(&mut BeatTheMean::new(two_items(), 1000, gamma), 1000, |round, pair| {
        assert!(round < 1000 || *pair == Pair::of_one(ONE));
        one_wins(*pair)
    });
}

/// The policy after duels of items 0 and 1, of which item 1 won all but some.
fn after_duels<P>(mut policy: P, duels: u32, lost: u32) -> P
where
    P: Update<Pair, DuelOutcome> + Select<Pair, Note = ()>,
{
    for duel in 0..duels {
        let outcome = if duel < lost { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon };
        policy.update(&Decision { action: Pair::new(ZERO, ONE), note: () }, &outcome);
    }
    policy
}

/// Item 0 lost all of 8 duels: `u_01 = sqrt(.51 ln t / 8) > 1/2` if
/// `ln t > 64 / (4 * .51 * 8) = 3.92`, from round 51 on. Before, item 1 is the only candidate.
#[test]
fn double_ts() {
    let pairs = choices(after_duels(DoubleTs::new(two_items()), 8, 0), 50);
    assert!(pairs.iter().all(|pair| pair.first == ONE));
}

/// Item 0 lost all of 4 duels: `I_0 = 4 d(0, 1/2) = 4 ln 2 = 2.77`, and the evidence against item 1
/// is 0. With `f(2) = 0.3 * 2^1.01 = 0.604` item 0 is compared again when `ln t >= 2.77 - 0.604`,
/// at round 9. Before come the initial duel and the first pass, of all items.
#[test]
fn rmed1() {
    let pairs = choices(after_duels(Rmed1::new(two_items()), 4, 0), 11);
    let differ: Vec<usize> = (0..11).filter(|&round| pairs[round] != Pair::of_one(ONE)).collect();
    assert_eq!(differ, [0, 1, 9]);
}

/// Item 1 won 7 of 9 duels, alpha = 1: `u_01 = 2/9 + sqrt(ln t / 9)` reaches 1/2 at
/// `ln t = 9 (5/18)^2 = 0.694`, between rounds 2 and 3. At round 2 item 1 is the only champion and
/// meets itself; at round 3 both are champions, and the one that is drawn meets the other.
#[test]
fn rucb() {
    let (mut rng, mut decision) = (generator(1), Decision::default());
    let mut policy = Rucb::new(two_items(), NonNegative::from_count(1));
    policy.select(&mut rng, &mut decision);
    policy = after_duels(policy, 9, 2);
    policy.select(&mut rng, &mut decision);
    assert_eq!(decision.action, Pair::of_one(ONE));
    policy.select(&mut rng, &mut decision);
    assert!(decision.action.first != decision.action.second);
    let mut best = ZERO;
    policy.recommend(&mut rng, &mut best);
    assert_eq!(best, ONE);
}

/// Steps until the policy finds that item 1 is the best of two: it is always clicked, item 0 never.
fn steps<P>(mut policy: P) -> usize
where
    P: Update<Ranking, CascadeFeedback> + Stop<Answer = Vec<ItemId>>,
{
    let (mut rng, mut decision) = (generator(1), Decision::default());
    let mut steps = 0;
    loop {
        if let ControlFlow::Break(answer) = policy.check() {
            assert_eq!(answer, [ONE]);
            return steps;
        }
        policy.select(&mut rng, &mut decision);
        let click = (decision.action[0] == ONE).then_some(0);
        policy.update(&decision, &CascadeFeedback::new(click, 1).expect("one position"));
        steps += 1;
    }
}

/// `rho = sqrt(0.1 / 24) = 0.0645`. The items are shown in turn, and
/// `4 sqrt(ln(log2(2 n) / rho) / n)` is 0.50015 for `n = 318` and 0.49939 for 319.
#[test]
fn cascade_bai() {
    assert_eq!(steps(CascadeBai::new(list_shape(2, 1), Delta::new(0.1).expect("valid"))), 637);
}

/// The level is `ln((10 + 1) / 2) = ln 5.5`. After `n` observations of each,
/// `J = B(n + 1/2, 1/2) / pi`, and the likeliest equal means are 1/2. Item 1 beats item 0 as soon
/// as `J^2 4^n >= 5.5`, with `n = 3`: `(5/16)^2 64 = 6.25`.
#[test]
fn cascade_kl() {
    assert_eq!(steps(CascadeKl::new(list_shape(2, 1), Delta::new(0.1).expect("valid"))), 6);
}

/// After `n` observations of each, `upper_0 = 1 - exp(-beta / n)` and `lower_1 = exp(-beta / n)`,
/// so `n` must exceed `beta / ln 2`. The level of rounds 39 to 43 is `x + ln x = 15.71` with
/// `x = ln(8110 * 43^1.1) = 13.14`: more than 22 are needed. The level of rounds 44 to 49 is 15.87
/// and needs more than 22.89: the policy stops with 23 of each.
#[test]
fn kl_lucb() {
    assert_eq!(steps(KlLucb::new(list_shape(2, 1), Delta::new(0.1).expect("valid"))), 46);
}

/// Three items, six rounds: `C_1 / C_2 = 3/4`, so the decisions are after rounds 5 and 6. The gap
/// of the best item is 1, and so is the gap of the worst: a tie, so both decisions reject an item.
#[test]
fn successive_rejects() {
    let mut policy = SuccessiveRejects::new(list_shape(3, 1), 6);
    let (mut rng, mut decision) = (generator(1), Decision::default());
    for rejected in [0, 0, 0, 0, 1, 2] {
        policy.select(&mut rng, &mut decision);
        let click = (decision.action[0] == ItemId::new(2)).then_some(0);
        policy.update(&decision, &CascadeFeedback::new(click, 1).expect("one position"));
        assert_eq!(policy.rejected().len(), rejected);
    }
    let mut best = Ranking::default();
    policy.recommend(&mut rng, &mut best);
    assert_eq!(best, list([2]));
}
