//! Position-based policies.

use super::*;
use crate::{
    BcMpTs, PbmGibbs, PbmGibbsOrder, PbmKlUcb, PbmPie, PbmPiePosition, PbmPrior, PbmUcb, Policy,
    PositionsKnown, PrefixKnown,
};

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

    pub(super) fn s(&self, item: usize) -> f64 {
        self.clicks[item].iter().sum::<u64>() as f64
    }

    pub(super) fn n(&self, item: usize) -> f64 {
        self.shows[item].iter().sum::<u64>() as f64
    }

    pub(super) fn n_tilde(&self, item: usize) -> f64 {
        (0..self.examination.len()).map(|l| self.examination[l] * self.shows[item][l] as f64).sum()
    }

    fn estimate(&self, item: usize) -> f64 {
        if self.n_tilde(item) == 0.0 { f64::INFINITY } else { self.s(item) / self.n_tilde(item) }
    }

    pub(super) fn scores(&self, score: impl FnMut(usize) -> f64) -> Vec<f64> {
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
    placed(&first_ranked(&scores, key, history.examination.len()), &history.examination)
}

fn pbm_kl_ucb(history: &PbmHistory, delta: f64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let scores = history.scores(|item| {
        if history.n_tilde(item) == 0.0 {
            return f64::INFINITY;
        }
        multi_position_upper(&history.clicks[item], &history.shows[item], &history.examination, delta)
    });
    placed(&first_ranked(&scores, key, history.examination.len()), &history.examination)
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
    let explore = rng.next_u64() >> 63 == 0;
    if !explore {
        return placed(&leaders, &history.examination);
    }
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
    if !candidates.is_empty() {
        leaders[positions - 1] = candidates[rng.random_range(0..candidates.len())];
    }
    placed(&leaders, &history.examination)
}

/// The list with the candidate at the rank of least gap per nat, by estimates; `items` are in order
/// of their estimates.
fn explored_at_least_cost(items: &[usize], candidate: usize, estimates: &[f64], kappa: &[f64]) -> Vec<usize> {
    let clipped = |item: usize| estimates[item].min(1.0);
    let n = kappa.len();
    let last = clipped(items[n - 1]);
    let mut rank = n - 1;
    if clipped(candidate) < last {
        let worse = clipped(candidate);
        let costs: Vec<f64> = (0..n)
            .map(|l| {
                let mut displaced = 0.0;
                for below in (l..n - 1).rev() {
                    displaced += (kappa[below] - kappa[below + 1]) * (clipped(items[below]) - last);
                }
                let information = bernoulli_kl(kappa[l] * worse, kappa[l] * last);
                (kappa[l] * (last - worse) + displaced) / information
            })
            .collect();
        for l in (0..n).rev() {
            if costs[l] < costs[rank] {
                rank = l;
            }
        }
    }
    let mut list: Vec<usize> = items.iter().copied().filter(|&item| item != candidate).collect();
    list.insert(rank, candidate);
    list
}

/// PBM-PIE at the position of least cost: positions that nobody examines are not part of the game,
/// except that they are filled.
pub(super) fn pbm_pie_least_cost(
    history: &PbmHistory,
    t: u64,
    delta: f64,
    rng: &mut Generator,
) -> Vec<usize> {
    let (n_items, positions) = (history.shows.len(), history.examination.len());
    if t <= n_items as u64 {
        return (0..positions).map(|l| (usize::try_from(t).expect("small") - 1 + l) % n_items).collect();
    }
    let kappa: Vec<f64> = history.examination.iter().copied().filter(|&kappa| kappa > 0.0).collect();
    let kappa = falling(&kappa);
    let estimates = history.scores(|item| history.estimate(item));
    let mut order = ranked(&estimates, rng.next_u64());
    let explore = rng.next_u64() >> 63 == 0;
    if !explore {
        return placed(&order[..positions], &history.examination);
    }
    let mut candidates: Vec<usize> = order[kappa.len()..]
        .iter()
        .copied()
        .filter(|&item| {
            let (clicks, shows) = (&history.clicks[item], &history.shows[item]);
            history.n_tilde(item) == 0.0
                || multi_position_upper(clicks, shows, &history.examination, delta)
                    >= estimates[order[kappa.len() - 1]]
        })
        .collect();
    candidates.sort_unstable();
    if !candidates.is_empty() {
        let candidate = candidates[rng.random_range(0..candidates.len())];
        order = explored_at_least_cost(&order, candidate, &estimates, &kappa);
    }
    placed(&order[..positions], &history.examination)
}

fn bc_mp_ts(history: &PbmHistory, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let scores = history.scores(|item| {
        let clicks = history.s(item);
        let shape = BetaShape::after(clicks, (history.n_tilde(item) - clicks).max(0.0));
        Sampler::new().beta(shape, rng)
    });
    placed(&first_ranked(&scores, key, history.examination.len()), &history.examination)
}

/// The history's `examination` is the last sweep's.
fn pbm_gibbs(history: &mut PbmHistory, places: Option<&[f64]>, rng: &mut Generator) -> Vec<usize> {
    pbm_gibbs_from(history, places, [&[], &[]], rng)
}

/// Beliefs of the first items and of the first positions: displays, and clicks.
fn pbm_gibbs_from(
    history: &mut PbmHistory,
    places: Option<&[f64]>,
    [items, positions]: [&[(f64, f64)]; 2],
    rng: &mut Generator,
) -> Vec<usize> {
    let key = rng.next_u64();
    let draw = |plays: f64, clicks: f64, expected: f64, belief: Option<&(f64, f64)>, rng: &mut Generator| {
        let (more_plays, more_clicks) = belief.copied().unwrap_or_default();
        let (plays, clicks, expected) = (plays + more_plays, clicks + more_clicks, expected + more_plays);
        let b = 1.0 - clicks / (plays + 1.0);
        b / (expected + 1.0) * Sampler::new().gamma(GammaShape::new((clicks + 1.0) / b), rng)
    };
    let (n_items, n_positions) = (history.shows.len(), history.examination.len());
    let attraction: Vec<f64> = (0..n_items)
        .map(|item| draw(history.n(item), history.s(item), history.n_tilde(item), items.get(item), rng))
        .collect();
    let examination: Vec<f64> = (0..n_positions)
        .map(|position| {
            let of = |table: &[Vec<u64>]| table.iter().map(|item| item[position]).sum::<u64>() as f64;
            let shown = attraction.iter().zip(&history.shows);
            let expected = shown.map(|(attraction, shows)| attraction * shows[position] as f64).sum();
            draw(of(&history.shows), of(&history.clicks), expected, positions.get(position), rng)
        })
        .collect();
    let largest = examination.iter().copied().fold(0.0, f64::max);
    history.examination = examination.iter().map(|examined| examined / largest).collect();
    placed(&ranked(&attraction, key), places.unwrap_or(&history.examination))
}

/// A history of users whose examination is not known.
fn unknown(model: &PositionBased) -> PbmHistory {
    PbmHistory::new(model.shape().n_items(), &vec![1.0; model.shape().n_positions()])
}

pub(super) fn fresh(model: &PositionBased) -> PbmHistory {
    let examination: Vec<f64> = model.examination().iter().map(|examined| examined.get()).collect();
    PbmHistory::new(model.shape().n_items(), &examination)
}

/// Updates the history of a position-based policy without notes.
pub(super) fn learn(history: &mut PbmHistory, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
    history.learn(&list_of(&decision.action), *feedback);
}

fn assert_pbm<P: Policy<Pbm, Note = ()> + Debug>(
    build: impl Fn(&PositionBased) -> P,
    choose: impl Fn(&PbmHistory, u64, &mut Generator) -> Vec<usize>,
) {
    for (number, model) in position_based_instances().iter().enumerate() {
        for &(delay, rounds) in delays_and_rounds(number) {
            let choose = |history: &mut PbmHistory, t, rng: &mut _| choose(history, t, rng);
            assert_same_choices(model, build(model), fresh(model), delay, rounds, choose, learn);
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
fn pbm_pie_at_least_cost_is_the_naive_one() {
    let least_cost = |model: &PositionBased| {
        PbmPie::new(model.known(), Rate::LOG).with_position(PbmPiePosition::LeastCost)
    };
    assert_pbm(least_cost, |history, t, rng| pbm_pie_least_cost(history, t, log(t), rng));
    // Where it matters: high attraction, positions in any order, one that nobody looks at,
    // estimates above 1.
    for (attraction, examination) in [
        (&[0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.7][..], &[0.25, 1.0, 0.5][..]),
        (&[0.95, 0.94, 0.93, 0.88, 0.86, 0.84, 0.82, 0.8], &[1.0, 0.0, 0.6, 0.3]),
        (&[0.95, 0.9, 0.85, 0.8], &[1.0, 0.5, 0.0, 0.9]),
        (&[1.0, 1.0, 0.99, 0.98], &[0.1, 0.05]),
    ] {
        let model = PositionBased::from_values(attraction, examination).expect("a valid instance");
        let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_pie_least_cost(history, t, log(t), rng);
        assert_same_choices(&model, least_cost(&model), fresh(&model), 0, ROUNDS, choose, learn);
    }
}

/// The test itself: on one of these instances the last position is distinguished from the one of
/// least cost.
#[test]
#[should_panic(expected = "round")]
fn the_last_position_is_caught() {
    let model = PositionBased::from_values(&[0.9, 0.9, 0.9, 0.8, 0.8], &[1.0, 0.5, 0.25]).expect("valid");
    let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_pie_least_cost(history, t, log(t), rng);
    assert_same_choices(
        &model,
        PbmPie::new(model.known(), Rate::LOG),
        fresh(&model),
        0,
        ROUNDS,
        choose,
        learn,
    );
}

#[test]
fn pbm_kl_ucb_is_the_naive_one() {
    assert_pbm(
        |model| PbmKlUcb::new(model.known(), Rate::LOG),
        |history, t, rng| pbm_kl_ucb(history, log(t), rng),
    );
}

#[test]
fn pbm_kl_ucb_at_another_level_is_the_naive_one() {
    let model = &position_based_instances()[2];
    let rate = Rate::scaled_log(NonNegative::new(0.25).expect("not negative"));
    let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_kl_ucb(history, 1.25 * log(t), rng);
    assert_same_choices(model, PbmKlUcb::new(model.known(), rate), fresh(model), 0, ROUNDS, choose, learn);
}

#[test]
fn bc_mp_ts_is_the_naive_one() {
    assert_pbm(|model| BcMpTs::new(model.known()).drawing_all(), |history, _, rng| bc_mp_ts(history, rng));
}

fn assert_unknown<P: Policy<Pbm, Note = ()> + Debug>(
    rounds: u64,
    build: impl Fn(&PositionBased) -> P,
    choose: impl Fn(&PositionBased, &mut PbmHistory, u64, &mut Generator) -> Vec<usize>,
) {
    for (number, model) in position_based_instances().iter().enumerate() {
        for &(delay, share) in delays_and_rounds(number) {
            let choose = |history: &mut PbmHistory, t, rng: &mut _| choose(model, history, t, rng);
            let rounds = rounds * share / ROUNDS;
            assert_same_choices(model, build(model), unknown(model), delay, rounds, choose, learn);
        }
    }
}

/// Sums are taken in another order, and a choice among continuous draws does not depend on the last
/// bit.
#[test]
fn pbm_gibbs_is_the_naive_one() {
    assert_unknown(
        ROUNDS,
        |model| PbmGibbs::new(model.shape(), PbmGibbsOrder::Unknown),
        |_, history, _, rng| pbm_gibbs(history, None, rng),
    );
}

#[test]
fn pbm_gibbs_with_a_known_order_is_the_naive_one() {
    assert_unknown(
        ROUNDS,
        |model| {
            let places = PositionsKnown::from(model.known()).places();
            let known = PrefixKnown::with_places(model.shape(), &places).expect("their positions");
            PbmGibbs::new(known, PbmGibbsOrder::Known)
        },
        |model, history, _, rng| pbm_gibbs(history, Some(&fresh(model).examination), rng),
    );
}

/// A belief of mean .3 and deviation .05 is worth 83 displays, and one without deviation 2^20.
#[test]
fn pbm_gibbs_with_a_prior_is_the_naive_one() {
    let model = &position_based_instances()[0];
    let prior =
        PbmPrior::new([None, Some((0.3, 0.05))], [Some((1.0, 0.0)), Some((0.5, 0.1))]).expect("beliefs");
    let policy = PbmGibbs::new(model.shape(), PbmGibbsOrder::Unknown).with_prior(&prior).expect("they fit");
    let ones = 1_048_576.0;
    let choose = |history: &mut PbmHistory, _, rng: &mut _| {
        let beliefs: [&[(f64, f64)]; 2] = [&[(0.0, 0.0), (83.0, 24.9)], &[(ones, ones), (24.0, 12.0)]];
        pbm_gibbs_from(history, None, beliefs, rng)
    };
    assert_same_choices(model, policy, unknown(model), 0, ROUNDS, choose, learn);
}

/// The test itself: a reference with `log(t + 1)` for `log t`, or with ties to the lowest item, is
/// told apart.
#[test]
#[should_panic(expected = "round")]
fn a_later_logarithm_is_caught() {
    let model = &position_based_instances()[0];
    let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_ucb(history, t + 1, 0.0, rng);
    assert_same_choices(model, PbmUcb::new(model.known(), Rate::LOG), fresh(model), 0, ROUNDS, choose, learn);
}
