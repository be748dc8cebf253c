//! The lower bounds in closed form are values of linear programs over all lists: PBM paper,
//! Corollary 5; RSF paper, section 4.4; for the cascade and the dependent click model the program
//! of Graves and Lai.
//!
//! The program minimises regret over the numbers of plays of all lists, per unit of `ln T`, such
//! that every suboptimal item gets one nat of information against the last item of the best list.

#![expect(clippy::needless_pass_by_value, reason = "quickcheck hands a property its arguments by value")]

use crate::support::simplex::covering_program;
use crate::support::{all_lists, assert_close, cases, numbers};
use click_models::{
    CascadeModel, ClickModel, DcmReward, DependentClick, Interaction, PositionBased, Ranking, bounds,
};
use confidence::bernoulli_kl;
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// The program's value for decreasing `theta`; one display of an item at a position gives
/// `information`.
fn program(theta: &[f64], kappa: &[f64], information: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let n_positions = kappa.len();
    let users = PositionBased::from_values(theta, kappa).unwrap();
    let lists = all_lists(theta.len(), n_positions);
    let cost: Vec<f64> = lists.iter().map(|list| users.gap(list).max(0.0)).collect();
    let told = |item: usize| {
        let at = |position: usize| information(kappa[position], theta[item], theta[n_positions - 1]);
        let shown_at =
            |list: &click_models::Ranking| list.by_position().find(|(_, shown)| shown.index() == item);
        lists.iter().map(|list| shown_at(list).map_or(0.0, |(position, _)| at(position))).collect()
    };
    let rows: Vec<Vec<f64>> = (n_positions..theta.len()).map(told).collect();
    covering_program(&cost, &rows).0
}

fn pbm_program(theta: &[f64], kappa: &[f64]) -> f64 {
    program(theta, kappa, |examined, worse, better| bernoulli_kl(examined * worse, examined * better))
}

fn semi_bandit_program(theta: &[f64], kappa: &[f64]) -> f64 {
    program(theta, kappa, |examined, worse, better| examined * bernoulli_kl(worse, better))
}

/// Decreasing attractions and examinations, at most 5 items, at least one of them suboptimal.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub(crate) theta: Vec<f64>,
    pub(crate) kappa: Vec<f64>,
}

impl Arbitrary for Instance {
    fn arbitrary(g: &mut Gen) -> Self {
        let n_items = 2 + usize::arbitrary(g) % 4;
        let n_positions = 1 + usize::arbitrary(g) % (n_items - 1);
        // Thousandths, because products of attraction and examination round, which the divergence
        // of closer numbers would magnify above the tolerance of 1e-9.
        let mut decreasing = |n: usize, distinct: bool, below: u32| {
            let mut values: Vec<u32> = Vec::new();
            while values.len() < n {
                let value = 1 + u32::arbitrary(g) % below;
                if !(distinct && values.contains(&value)) {
                    values.push(value);
                }
            }
            values.sort_unstable_by(|left, right| right.cmp(left));
            values.into_iter().map(|value| f64::from(value) / 1000.0).collect()
        };
        Self { theta: decreasing(n_items, true, 999), kappa: decreasing(n_positions, false, 1000) }
    }
}

#[test]
fn theorem_6_is_corollary_5_on_random_instances() {
    fn agrees(Instance { theta, kappa }: Instance) {
        let bound = bounds::pbm_lower_bound(&theta, &kappa);
        assert_close(bound, pbm_program(&theta, &kappa), 1e-9, "Theorem 6 and Corollary 5");
    }
    QuickCheck::new().tests(2000).quickcheck(agrees as fn(Instance));
}

#[test]
fn theorem_4_of_the_rsf_paper_is_its_program_whatever_the_examination() {
    fn agrees(Instance { theta, kappa }: Instance) {
        let bound = bounds::semi_bandit_lower_bound(&theta, kappa.len());
        assert_close(bound, semi_bandit_program(&theta, &kappa), 1e-9, "Theorem 4 and the program");
    }
    QuickCheck::new().tests(2000).quickcheck(agrees as fn(Instance));
}

#[test]
fn both_theorems_are_their_programs_on_the_papers_and_golden_instances() {
    let mut instances = vec![
        (vec![0.45, 0.35, 0.25, 0.15, 0.05], vec![0.9, 0.6, 0.3]),
        (vec![0.95, 0.85, 0.75, 0.65, 0.55], vec![0.9, 0.6, 0.3]),
        (vec![0.6, 0.58, 0.55, 0.45, 0.45, 0.4], vec![1.0, 0.8, 0.6]),
    ];
    for case in cases("pbm_lower_bound.json") {
        let (theta, kappa) = (numbers(&case["inputs"]["theta_sorted"]), numbers(&case["inputs"]["kappa"]));
        if theta.len() <= 5 {
            instances.push((theta, kappa));
        }
    }
    assert!(instances.len() > 10);
    for (theta, kappa) in instances {
        assert_close(bounds::pbm_lower_bound(&theta, &kappa), pbm_program(&theta, &kappa), 1e-9, "Theorem 6");
        let bound = bounds::semi_bandit_lower_bound(&theta, kappa.len());
        assert_close(bound, semi_bandit_program(&theta, &kappa), 1e-9, "Theorem 4");
    }
}

/// PBM paper, Theorem 4, and RSF paper, Theorem 5: what solves the programs, which change one item
/// at a time to the last of the best list, has the information that the theorems require against
/// every change of suboptimal items that improves the best list.
#[test]
fn solutions_of_the_programs_satisfy_theorems_4_and_5_for_any_change() {
    fn satisfies(Instance { theta, kappa }: Instance, draws: Vec<(u16, u16, u16, u16)>) {
        let n_positions = kappa.len();
        let last = theta[n_positions - 1];
        let lists = all_lists(theta.len(), n_positions);
        let users = PositionBased::from_values(&theta, &kappa).unwrap();
        let cost: Vec<f64> = lists.iter().map(|list| users.gap(list).max(0.0)).collect();
        let censored = |examined: f64, p: f64, q: f64| bernoulli_kl(examined * p, examined * q);
        let observed = |examined: f64, p: f64, q: f64| examined * bernoulli_kl(p, q);
        let both: [&dyn Fn(f64, f64, f64) -> f64; 2] = [&censored, &observed];
        for nats in both {
            let against = |lambda: &[f64], list: &Ranking| -> f64 {
                let at = |(position, item): (usize, click_models::ItemId)| {
                    nats(kappa[position], theta[item.index()], lambda[item.index()])
                };
                list.by_position().map(at).sum()
            };
            let to_the_last = |item: usize| {
                let mut lambda = theta.clone();
                lambda[item] = last;
                lists.iter().map(|list| against(&lambda, list)).collect()
            };
            let rows: Vec<Vec<f64>> = (n_positions..theta.len()).map(to_the_last).collect();
            let (_, plays) = covering_program(&cost, &rows);
            let improvement = draws.iter().map(|&(a, b, c, d)| {
                let mut lambda = theta.clone();
                for (item, draw) in (n_positions..theta.len()).zip([a, b, c, d]) {
                    lambda[item] = (f64::from(draw) + 0.5) / 65_536.0;
                }
                lambda
            });
            for lambda in improvement.filter(|lambda| lambda[n_positions..].iter().any(|&new| new > last)) {
                let information: f64 =
                    lists.iter().zip(&plays).map(|(list, plays)| plays * against(&lambda, list)).sum();
                assert!(information >= 1.0 - 1e-9, "{information} for {lambda:?} instead of {theta:?}");
            }
        }
    }
    QuickCheck::new().tests(300).quickcheck(satisfies as fn(Instance, Vec<(u16, u16, u16, u16)>));
}

#[test]
fn a_bound_at_the_last_position_only_is_not_the_program() {
    // The program distinguishes Theorem 6 from the printed relaxation.
    let (theta, kappa) = ([0.95, 0.85, 0.75, 0.65, 0.55], [0.9, 0.6, 0.3]);
    assert!(bounds::pbm_last_position_cost(&theta, &kappa) > 1.1 * pbm_program(&theta, &kappa));
}

/// The value of the program for a model in which position `l` of a list is examined with
/// probability `examined(list)[l]`; `theta` is in decreasing order.
fn scanning_program<M>(
    users: &M,
    theta: &[f64],
    n_positions: usize,
    examined: impl Fn(&Ranking) -> Vec<f64>,
) -> f64
where
    M: ClickModel<Interaction: Interaction<Action = Ranking>>,
{
    let lists = all_lists(theta.len(), n_positions);
    let cost: Vec<f64> = lists.iter().map(|list| users.gap(list).max(0.0)).collect();
    let told = |item: usize| {
        let nats = bernoulli_kl(theta[item], theta[n_positions - 1]);
        let shown_at = |list: &Ranking| list.by_position().find(|(_, shown)| shown.index() == item);
        lists
            .iter()
            .map(|list| shown_at(list).map_or(0.0, |(position, _)| examined(list)[position] * nats))
            .collect()
    };
    let rows: Vec<Vec<f64>> = (n_positions..theta.len()).map(told).collect();
    covering_program(&cost, &rows).0
}

/// The share of users who examine each position, if examining item `k` at position `l` ends the
/// visit with probability `leaves(l, k)`.
fn examined(list: &Ranking, leaves: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut reading = 1.0;
    list.by_position()
        .map(|(position, item)| {
            let here = reading;
            reading *= 1.0 - leaves(position, item.index());
            here
        })
        .collect()
}

#[test]
fn the_cascade_bound_is_its_program_and_the_weighted_one_below_it() {
    fn agrees(Instance { theta, kappa: weights }: Instance) {
        let (value, rounding) = cascade_program(&theta, &vec![1.0; weights.len()]);
        assert_close(bounds::cascade_lower_bound(&theta, weights.len()), value, rounding, "without weights");
        let (value, rounding) = cascade_program(&theta, &weights);
        let bound = bounds::weighted_cascade_lower_bound(&theta, &weights);
        assert!(bound > 0.0 && bound <= value * (1.0 + rounding), "{bound} above {value}");
    }
    QuickCheck::new().tests(1000).quickcheck(agrees as fn(Instance));
}

/// The program's value, and its relative rounding: gaps are differences of rewards, each rounded a
/// few times.
fn cascade_program(theta: &[f64], weights: &[f64]) -> (f64, f64) {
    let n_positions = weights.len();
    let users = CascadeModel::from_values(theta, n_positions).unwrap().with_weights(weights).unwrap();
    let value = scanning_program(&users, theta, n_positions, |list| examined(list, |_, item| theta[item]));
    let explores = |list: &Ranking| list.by_position().any(|(_, item)| item.index() >= n_positions);
    let lists = all_lists(theta.len(), n_positions);
    let smallest_gap =
        lists.iter().filter(|list| explores(list)).map(|list| users.gap(list)).fold(f64::INFINITY, f64::min);
    (value, 1e-9 + 1e-15 * weights[0] / smallest_gap)
}

/// The bound that Combes et al. quote for convex weights: the last weight times the multiple-play
/// bound.
fn quoted(theta: &[f64], weights: &[f64]) -> f64 {
    weights[weights.len() - 1] * bounds::multiple_play_lower_bound(theta, weights.len())
}

/// Weights whose steps, down to 0 below the list, are the last weight plus `extra`.
fn weights_with_steps(last: f64, extra: &[f64]) -> Vec<f64> {
    let mut weights = vec![last];
    for more in extra.iter().rev() {
        weights.push(weights[weights.len() - 1] + last + more);
    }
    weights.reverse();
    weights
}

#[test]
fn the_weighted_cascade_bound_is_its_program_where_every_step_is_at_least_the_last_weight() {
    fn agrees(Instance { theta, kappa }: Instance, rotation: usize) {
        let (last, extra) = kappa.split_last().unwrap();
        let mut shuffled = extra.to_vec();
        shuffled.rotate_left(rotation % extra.len().max(1));
        // Convex weights, whose steps fall from the top down, and others.
        for extra in [extra, &shuffled] {
            let weights = weights_with_steps(*last, extra);
            let (value, rounding) = cascade_program(&theta, &weights);
            assert_close(
                bounds::weighted_cascade_lower_bound(&theta, &weights),
                value,
                rounding,
                "the program",
            );
            assert_close(quoted(&theta, &weights), value, rounding, "as quoted");
        }
    }
    QuickCheck::new().tests(1000).quickcheck(agrees as fn(Instance, usize));
}

/// The PBM paper (section 3.1) quotes it for decreasing weights, the RSF paper (section 4.2) for
/// convex ones without a step below the list. Neither suffices: here the cheapest position to
/// explore is the top.
#[test]
fn the_quoted_weighted_bound_is_no_lower_bound_for_all_decreasing_weights() {
    let (theta, weights) = ([0.5, 0.4, 0.2], [1.0, 0.9]);
    let (value, _) = cascade_program(&theta, &weights);
    assert_close(value, 1.311, 1e-3, "the program");
    assert_close(quoted(&theta, &weights), 1.967, 1e-3, "as quoted");
    assert!(bounds::weighted_cascade_lower_bound(&theta, &weights) <= value);
}

#[test]
fn the_dependent_click_bound_is_below_its_program_and_meets_it_where_positions_are_alike() {
    fn agrees(Instance { theta, kappa }: Instance, rotation: usize) {
        // Any order of the positions.
        let mut leave = kappa;
        let n = leave.len();
        leave.rotate_left(rotation % n);
        let program = |leave: &[f64]| {
            let users = DependentClick::from_values(&theta, leave, DcmReward::Satisfaction).unwrap();
            let look = |list: &Ranking| examined(list, |position, item| leave[position] * theta[item]);
            let lists = all_lists(theta.len(), n);
            let explores = |list: &&Ranking| list.iter().any(|item| item.index() >= n);
            let smallest_gap =
                lists.iter().filter(explores).map(|list| users.gap(list)).fold(f64::INFINITY, f64::min);
            // A gap is a difference of rewards of about 1, so small gaps are rounded more.
            (scanning_program(&users, &theta, n, look), 1e-9 + 1e-15 / smallest_gap)
        };
        let (bound, (value, rounding)) = (bounds::dcm_lower_bound(&theta, &leave), program(&leave));
        assert!(
            bound > 0.0 && bound <= value * (1.0 + rounding),
            "{bound} above {value}, rounding {rounding}"
        );
        let alike = vec![leave[0]; n];
        let (value, rounding) = program(&alike);
        assert_close(bounds::dcm_lower_bound(&theta, &alike), value, rounding, "positions alike");
    }
    QuickCheck::new().tests(1000).quickcheck(agrees as fn(Instance, usize));
}

/// Exploring one item at a time, each at its cheapest position, is not a lower bound: showing two
/// suboptimal items at once can be cheaper.
#[test]
fn one_suboptimal_item_at_a_time_is_not_the_weighted_program() {
    let (theta, weights) = ([0.98, 0.88, 0.7, 0.52, 0.5], [1.0, 0.95, 0.94]);
    let users = CascadeModel::from_values(&theta, 3).unwrap().with_weights(&weights).unwrap();
    let look = |list: &Ranking| examined(list, |_, item| theta[item]);
    let value = scanning_program(&users, &theta, 3, look);
    // The cheapest position of each item.
    let one_by_one: f64 = (3..5)
        .map(|item| {
            let places = all_lists(5, 3).into_iter().filter_map(|list| {
                let suboptimal = list.by_position().filter(|(_, shown)| shown.index() >= 3).count();
                let place = list.by_position().find(|(_, shown)| shown.index() == item)?.0;
                let told = look(&list)[place] * bernoulli_kl(theta[item], theta[2]);
                (suboptimal == 1).then_some(users.gap(&list) / told)
            });
            places.fold(f64::INFINITY, f64::min)
        })
        .sum();
    assert!(one_by_one > 1.2 * value, "{one_by_one} {value}");
    assert!(bounds::weighted_cascade_lower_bound(&theta, &weights) <= value);
}

#[test]
fn exploring_at_the_bottom_of_a_cascade_is_not_the_program() {
    // The program distinguishes the cheapest position from another one.
    let theta = [0.5, 0.4, 0.2];
    let users = CascadeModel::from_values(&theta, 2).unwrap();
    let look = |list: &Ranking| examined(list, |_, item| theta[item]);
    let bottom = 0.2 / bernoulli_kl(0.2, 0.4);
    assert!(bottom > 1.9 * scanning_program(&users, &theta, 2, look));
}
