//! The characteristic time of cascading best-K identification against reference values and against
//! two other algorithms: a repeated game over all lists, and for two weights the minimum over `x`
//! of a dynamic program.

use crate::support::{all_lists, assert_close, cases, number, numbers};
use click_models::ItemId;
use click_models::bounds::{
    cascade_bai_lower_bound, cascade_bai_lower_bound_unrounded, cascade_characteristic_time,
    cascade_optimal_mixture,
};
use confidence::bernoulli_kl;
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// The guarantees of the functions.
const PROMISED: f64 = 1e-6;

/// Mean observations of every item in a step that shows this list.
fn observations(weights: &[f64], list: &[usize]) -> Vec<f64> {
    let mut observed = vec![0.0; weights.len()];
    let mut examined = 1.0;
    for &item in list {
        observed[item] = examined;
        examined *= 1.0 - weights[item];
    }
    observed
}

/// The least information over all pairs, and the cut where it is: `d(w, x)` of the two items.
fn least_information(weights: &[f64], n_positions: usize, observed: &[f64]) -> (f64, Vec<f64>) {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&left, &right| weights[right].total_cmp(&weights[left]));
    let (best, others) = order.split_at(n_positions);
    let mut least = (f64::INFINITY, Vec::new());
    for &i in best {
        for &j in others {
            let all = observed[i] + observed[j];
            let x = if all == 0.0 {
                weights[i]
            } else {
                (observed[i] * weights[i] + observed[j] * weights[j]) / all
            };
            let divergence =
                |item: usize| if observed[item] == 0.0 { 0.0 } else { bernoulli_kl(weights[item], x) };
            let nats = observed[i] * divergence(i) + observed[j] * divergence(j);
            if nats < least.0 {
                let mut cut = vec![0.0; weights.len()];
                // Away from the edges, where the divergence of an item without observations is
                // infinite.
                let x = x.clamp(1e-9, 1.0 - 1e-9);
                (cut[i], cut[j]) = (bernoulli_kl(weights[i], x), bernoulli_kl(weights[j], x));
                least = (nats, cut);
            }
        }
    }
    least
}

/// Two numbers that `T*` is between, by a repeated game over all lists: regret matching against the
/// alternative that costs least. The mean strategies of both players bound the value of the game,
/// within a few per cent: the exact value is left to the other tests.
fn by_regret_matching(weights: &[f64], n_positions: usize, rounds: u32) -> (f64, f64) {
    let lists: Vec<Vec<f64>> = all_lists(weights.len(), n_positions)
        .iter()
        .map(|list| observations(weights, &list.iter().map(ItemId::index).collect::<Vec<_>>()))
        .collect();
    let observed = |shares: &[f64]| -> Vec<f64> {
        let of = |item: usize| shares.iter().zip(&lists).map(|(share, list)| share * list[item]).sum();
        (0..weights.len()).map(of).collect()
    };
    let worth = |prices: &[f64], list: &[f64]| -> f64 {
        prices.iter().zip(list).map(|(price, seen)| price * seen).sum()
    };
    let even = 1.0 / lists.len() as f64;
    let mut regrets = vec![1.0; lists.len()];
    let mut sums = (vec![0.0; lists.len()], vec![0.0; weights.len()], 0.0);
    for round in 1..=rounds {
        let total: f64 = regrets.iter().sum();
        let share = |regret: &f64| if total > 0.0 { regret / total } else { even };
        // A little of every list, so that everything is observed.
        let shares: Vec<f64> =
            regrets.iter().map(|regret| share(regret) * (1.0 - 1e-6) + 1e-6 * even).collect();
        let (_, prices) = least_information(weights, n_positions, &observed(&shares));
        let values: Vec<f64> = lists.iter().map(|list| worth(&prices, list)).collect();
        let mean: f64 = values.iter().zip(&shares).map(|(value, share)| value * share).sum();
        for (regret, value) in regrets.iter_mut().zip(values) {
            *regret = (*regret + value - mean).max(0.0);
        }
        let weight = f64::from(round);
        for (sum, share) in sums.0.iter_mut().zip(&shares) {
            *sum += weight * share;
        }
        for (sum, price) in sums.1.iter_mut().zip(&prices) {
            *sum += weight * price;
        }
        sums.2 += weight;
    }
    let mixture: Vec<f64> = sums.0.iter().map(|sum| sum / sums.2).collect();
    let best = lists.iter().map(|list| worth(&sums.1, list)).fold(0.0, f64::max);
    (sums.2 / best, 1.0 / least_information(weights, n_positions, &observed(&mixture)).0)
}

/// `T*` of `n_best` items of weight `best` and `n_items - n_best` of weight `other`: `1 / T*` is
/// the minimum over `x` of what the best list observes if an observation is worth
/// `d(best, x) / n_best` or `d(other, x) / (n_items - n_best)`.
fn of_two_weights(best: f64, other: f64, n_items: usize, n_best: usize) -> f64 {
    let of_best_list = |x: f64| {
        let worth =
            [bernoulli_kl(best, x) / n_best as f64, bernoulli_kl(other, x) / (n_items - n_best) as f64];
        // Lists of equal items differ by how many of each are below: the value of a list of `c`
        // items on top of which anything may be.
        let mut value = vec![vec![0.0_f64; n_best + 1]; n_best + 1];
        for a in 0..=n_best {
            for b in 0..=n_best.min(n_items - n_best) {
                if a + b == 0 || a + b > n_best {
                    continue;
                }
                let with_best = if a > 0 { worth[0] + (1.0 - best) * value[a - 1][b] } else { 0.0 };
                let with_other = if b > 0 { worth[1] + (1.0 - other) * value[a][b - 1] } else { 0.0 };
                value[a][b] = with_best.max(with_other);
            }
        }
        let counts = (0..=n_best).filter(|&a| n_best - a <= n_items - n_best);
        counts.map(|a| value[a][n_best - a]).fold(0.0, f64::max)
    };
    // A maximum of convex functions of x is convex.
    let (mut low, mut high) = (other, best);
    for _ in 0..200 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if of_best_list(left) < of_best_list(right) {
            high = right;
        } else {
            low = left;
        }
    }
    1.0 / of_best_list(f64::midpoint(low, high))
}

fn assert_mixture_attains(weights: &[f64], n_positions: usize, time: f64) {
    let mixture = cascade_optimal_mixture(weights, n_positions);
    let mut observed = vec![0.0; weights.len()];
    for (list, share) in &mixture {
        assert!(*share > 0.0 && list.len() == n_positions);
        assert!(list.iter().all(|item| list.iter().filter(|other| *other == item).count() == 1), "{list:?}");
        for (sum, seen) in observed.iter_mut().zip(observations(weights, list)) {
            *sum += share * seen;
        }
    }
    assert_close(mixture.iter().map(|(_, share)| share).sum(), 1.0, 1e-12, "all shares");
    let (nats, _) = least_information(weights, n_positions, &observed);
    // From both sides: no mixture gives more than 1 / T*, and this one gives that.
    assert!(
        nats * time <= 1.0 + 1e-9 && nats * time >= 1.0 - 1.01 * PROMISED,
        "{weights:?}: {}",
        nats * time
    );
    // Items of equal weight are treated alike.
    for (item, weight) in weights.iter().enumerate() {
        let twin = weights.iter().position(|other| other == weight).unwrap();
        assert!((observed[item] - observed[twin]).abs() <= 1e-9 * observed[item]);
    }
}

#[derive(Debug, Clone)]
struct Instance {
    weights: Vec<f64>,
    n_positions: usize,
}

impl Arbitrary for Instance {
    /// Two to five items with weights in twentieths, 0 and 1 among them, and a gap after the best
    /// ones.
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let n_items = 2 + usize::arbitrary(g) % 4;
            let n_positions = 1 + usize::arbitrary(g) % (n_items - 1);
            let weights: Vec<f64> = (0..n_items).map(|_| f64::from(u32::arbitrary(g) % 21) / 20.0).collect();
            let mut sorted = weights.clone();
            sorted.sort_by(|left, right| right.total_cmp(left));
            if sorted[n_positions - 1] > sorted[n_positions] {
                return Self { weights, n_positions };
            }
        }
    }
}

#[test]
fn matches_the_reference_values() {
    for case in cases("cascade_characteristic_time.json") {
        let (weights, k) = (
            numbers(&case["inputs"]["w_sorted"]),
            usize::try_from(case["inputs"]["K"].as_u64().unwrap()).unwrap(),
        );
        let time = cascade_characteristic_time(&weights, k);
        let wanted = number(&case["output"]["characteristic_time"]);
        assert_close(time, wanted, number(&case["output"]["relative_accuracy"]), "T*");
        assert_mixture_attains(&weights, k, time);
    }
}

#[test]
fn is_the_value_of_a_game_over_all_lists() {
    for (weights, n_positions) in [
        (&[0.75, 0.6, 0.3][..], 2),
        (&[0.7, 0.4, 0.35], 1),
        (&[1.0, 0.5, 0.2], 2),
        (&[0.0, 0.6, 0.3, 0.65], 3),
        (&[0.9, 0.6, 0.3, 0.0], 2),
        (&[0.8, 0.5, 0.4, 0.1], 2),
        (&[0.95, 0.8, 0.6, 0.3, 0.05], 3),
    ] {
        let time = cascade_characteristic_time(weights, n_positions);
        let (low, high) = by_regret_matching(weights, n_positions, 100_000);
        assert!(high <= 1.05 * low, "{weights:?}: not sharp, {low} to {high}");
        assert!(time >= low * (1.0 - PROMISED) && time <= high, "{weights:?}: {time}, not {low} to {high}");
        assert_mixture_attains(weights, n_positions, time);
    }
}

#[test]
fn mixtures_of_random_instances_attain_it() {
    fn attains(Instance { weights, n_positions }: Instance) {
        let time = cascade_characteristic_time(&weights, n_positions);
        assert_mixture_attains(&weights, n_positions, time);
    }
    QuickCheck::new().tests(500).quickcheck(attains as fn(Instance));
}

#[test]
fn two_weights_are_a_minimum_over_x() {
    for (best, other, n_items, k) in [
        (0.05, 0.0025, 128, 20),
        (0.9975, 0.95, 128, 20),
        (0.95, 0.05, 128, 20),
        (1.0, 0.3, 12, 4),
        (0.4, 0.0, 12, 4),
        (0.6, 0.5, 9, 7),
    ] {
        let weights: Vec<f64> = (0..n_items).map(|item| if item < k { best } else { other }).collect();
        let time = cascade_characteristic_time(&weights, k);
        assert_close(time, of_two_weights(best, other, n_items, k), PROMISED, "T*");
        assert_mixture_attains(&weights, k, time);
    }
}

#[test]
fn all_weights_different() {
    // Weights that fall evenly from .9 to .05: 9.2 times the coefficient of Theorem 4.8.
    let weights: Vec<f64> = (0..64).map(|item| 0.9 - 0.85 * f64::from(item) / 63.0).collect();
    let time = cascade_characteristic_time(&weights, 16);
    assert_mixture_attains(&weights, 16, time);
    let ratio = time / per_nat(&weights, 16);
    assert!((9.15..9.25).contains(&ratio), "{ratio}");
}

/// The coefficient of Theorem 4.8.
fn per_nat(weights: &[f64], n_positions: usize) -> f64 {
    cascade_bai_lower_bound_unrounded(weights, n_positions, 0.1) / bernoulli_kl(0.9, 0.1)
}

#[test]
fn ratios_to_theorem_4_8_of_the_papers_weights() {
    // The rows of Table E.1 with L = 128, K = 20.
    let k = 20.0_f64;
    for (best, other, ratio) in [
        (1.0 / k, 1.0 / (k * k), 1.65),
        (1.0 - 1.0 / (k * k), 1.0 - 1.0 / k, 2.21),
        (1.0 / k.sqrt(), 1.0 / k, 1.96),
        (1.0 - 1.0 / k, 1.0 - 1.0 / k.sqrt(), 2.03),
        (1.0 - 1.0 / k, 1.0 / k, 5.87),
    ] {
        let weights: Vec<f64> = (0..128).map(|item| if item < 20 { best } else { other }).collect();
        let found = cascade_characteristic_time(&weights, 20) / per_nat(&weights, 20);
        assert!((found - ratio).abs() < 0.005 * ratio, "{found} instead of {ratio}");
    }
}

#[test]
fn never_below_theorem_4_8_and_never_lower_with_another_item() {
    fn holds(Instance { weights, n_positions }: Instance) {
        let time = cascade_characteristic_time(&weights, n_positions);
        assert!(time >= per_nat(&weights, n_positions) * (1.0 - PROMISED), "{weights:?}");
        let mut sorted = weights.clone();
        sorted.sort_by(|left, right| right.total_cmp(left));
        // Lists without the new item observe the others at least as often.
        let more = [&weights[..], &[sorted[n_positions] * 0.5]].concat();
        assert!(cascade_characteristic_time(&more, n_positions) >= time * (1.0 - PROMISED), "{weights:?}");
        // The order of the items does not matter, to the bit.
        assert_eq!(cascade_characteristic_time(&sorted, n_positions), time);
    }
    QuickCheck::new().tests(300).quickcheck(holds as fn(Instance));
}

#[test]
fn certain_clicks_and_certain_misses() {
    // x = 1/2, o = (1/2, 1/2): each observation gives ln 2.
    assert_close(
        cascade_characteristic_time(&[1.0, 0.0], 1),
        std::f64::consts::LOG2_E,
        PROMISED,
        "two certain items",
    );
    // Near ties and tiny weights. To first order the divergences are (gap / 2)^2 / (2 x (1 - x)).
    let gap = 1e-9;
    let time = cascade_characteristic_time(&[0.5 + gap, 0.5], 1);
    assert_close(time, 8.0 * 0.25 / (gap * gap), 1e-6, "a near tie");
    for weights in
        [&[1e-12, 1e-13, 1e-14][..], &[1.0 - 1e-12, 1.0 - 1e-11, 0.5], &[0.9, 0.9 - 1e-7, 1e-9, 0.0]]
    {
        let time = cascade_characteristic_time(weights, 1);
        assert!(time.is_finite() && time >= per_nat(weights, 1) * (1.0 - PROMISED), "{weights:?}: {time}");
        assert_close(time, cascade_characteristic_time(weights, 1), 0.0, "again");
    }
}

/// Two arms with tiny weights: the divergences are those of Poisson distributions, so `T*` is
/// inversely proportional to the scale.
#[test]
fn tiny_weights_are_solved_as_well() {
    let scaled = |scale: f64, ratio: f64| cascade_characteristic_time(&[scale, ratio * scale], 1) * scale;
    for ratio in [0.5, 0.1, 0.0] {
        let expected = scaled(1e-100, ratio);
        for scale in [1e-120, 1e-170, 1e-250, 1e-300] {
            let found = scaled(scale, ratio);
            assert!((found / expected - 1.0).abs() < 2e-6, "{scale} {ratio}: {found} {expected}");
        }
    }
    assert!((scaled(1e-170, 0.5) / 23.47 - 1.0).abs() < 1e-3);
    let mixture = cascade_optimal_mixture(&[0.9, 0.8, 1e-200, 0.0], 3);
    assert!(!mixture.is_empty());
}

#[test]
fn odd_input_gives_the_documented_values() {
    for (weights, k) in
        [(&[][..], 1), (&[1.5, 0.5], 1), (&[f64::NAN, 0.5], 1), (&[0.5, 0.4], 0), (&[0.5, 0.4], 3)]
    {
        assert!(cascade_characteristic_time(weights, k).is_nan());
        assert!(cascade_optimal_mixture(weights, k).is_empty());
    }
    assert_eq!(cascade_characteristic_time(&[0.4, 0.5], 2), 0.0);
    assert_eq!(cascade_optimal_mixture(&[0.4, 0.5], 2), [(vec![1, 0], 1.0)]);
    assert_eq!(cascade_characteristic_time(&[0.4, 0.5, 0.4], 2), f64::INFINITY);
    assert_eq!(cascade_optimal_mixture(&[0.4, 0.5, 0.4], 2), [(vec![1, 0], 1.0)]);
    // T* is about 4.6e323, no double.
    assert!(cascade_characteristic_time(&[5e-324, 0.0], 1).is_nan());
    assert!(cascade_optimal_mixture(&[5e-324, 0.0], 1).is_empty());
    // As in Theorem 4.8.
    assert_eq!(cascade_bai_lower_bound(&[0.4, 0.5, 0.4], 2, 0.1), f64::INFINITY);
}
