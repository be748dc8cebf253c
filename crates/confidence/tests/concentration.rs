//! Concentration lemmas in the proofs of the papers' upper bounds: PBM paper, Lemmas 19 to 22;
//! `CascadeBAI` paper, Theorem B.1 and Remark D.1.
//!
//! Probabilities are exact: sums over binomial distributions, and dynamic programs over all
//! strategies that choose what is observed and when to stop. Every lemma comes with a stronger
//! version that fails.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are made from positive numbers"
)]

use confidence::bernoulli_kl;

/// `ln n!` for all `n` up to a limit.
fn log_factorials(limit: usize) -> Vec<f64> {
    (0..=limit).map(|n| libm::lgamma(n as f64 + 1.0)).collect()
}

/// `d(x, y)` if `x < y`, else 0.
fn divergence_below(x: f64, y: f64) -> f64 {
    if x < y { bernoulli_kl(x, y) } else { 0.0 }
}

// --- PBM paper, Lemma 19
// ----------------------------------------------------------------------------------------------

/// Both sides of Lemma 19: `shown` and `clicked` say in which rounds the list is `v_{k,L}` and what
/// users do; no other list shows the item at the last position.
fn sides_of_lemma_19(rounds: u32, shown: u32, clicked: u32) -> (u32, u32) {
    let level = |round: u32| 1.1 * libm::log(f64::from(round));
    let passes = |clicks: u32, displays: u32, level: f64| {
        displays == 0
            || f64::from(displays) * divergence_below(f64::from(clicks) / f64::from(displays), 0.4) <= level
    };
    let (mut displays, mut clicks, mut left, mut right) = (0, 0, 0, 0);
    for round in 1..=rounds {
        if shown >> round & 1 == 1 {
            left += u32::from(passes(clicks, displays, level(round)));
            displays += 1;
            clicks += clicked >> round & 1;
            right += u32::from(passes(clicks, displays, level(rounds)));
        }
    }
    // The right side also has the samples that are not drawn: clicks and no clicks, by further
    // bits.
    (displays + 1..=rounds).for_each(|sample| {
        clicks += clicked >> (rounds + sample) & 1;
        right += u32::from(passes(clicks, sample, level(rounds)));
    });
    (left, right)
}

/// The left side counts displays before the round, so it begins with 0 displays; the right side
/// begins with one. It lacks this term.
#[test]
fn lemma_19_needs_a_term_for_no_display() {
    assert_eq!(sides_of_lemma_19(1, 0b10, 0b00), (1, 0));
    let mut exceeded = 0;
    for shown in 0..1 << 7 {
        for clicked in 0..1 << 12 {
            let (left, right) = sides_of_lemma_19(6, shown, clicked << 1);
            assert!(left <= right + 1, "{shown:b} {clicked:b}");
            exceeded += u32::from(left > right);
        }
    }
    assert!(exceeded > 0);
}

// --- PBM paper, Lemma 20
// ----------------------------------------------------------------------------------------------

/// An item of a search for the best ones: examination at the last position, the item's attraction,
/// and `theta_L - eta`.
#[derive(Debug, Clone, Copy)]
struct Search {
    examination: f64,
    attraction: f64,
    threshold: f64,
}

impl Search {
    /// The clicks per display of the item, and of one at the threshold.
    fn means(self) -> (f64, f64) {
        (self.examination * self.attraction, self.examination * self.threshold)
    }

    /// The mean `kappa_L r` between the two whose divergence from the upper one is a share
    /// `1 / (1 + gamma)`.
    fn between(self, gamma: f64) -> f64 {
        let (mean, threshold) = self.means();
        let wanted = bernoulli_kl(mean, threshold) / (1.0 + gamma);
        let (mut low, mut high) = (mean, threshold);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if bernoulli_kl(middle, threshold) > wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// The left side of Lemma 20 after `horizon` rounds, at most this much: exact probabilities,
    /// then a geometric series.
    fn sum(self, gamma: f64, epsilon: f64, horizon: f64) -> f64 {
        let (mean, threshold) = self.means();
        let limit = bernoulli_kl(mean, threshold) / (1.0 + gamma);
        let first = self.first(gamma, epsilon, horizon);
        let between = self.between(gamma);
        let decay = bernoulli_kl(between, mean);
        let (hit, miss) = (libm::log(mean), libm::log1p(-mean));
        let end = first + 20.0 / decay;
        let (first, end) = (first.floor() as usize + 1, end.ceil() as usize);
        let log_factorial = log_factorials(end);
        let chance = |displays: usize| -> f64 {
            // The first count that passes; the search begins just below it.
            let least = ((between * displays as f64) as usize).saturating_sub(1);
            let least = (least..=displays)
                .find(|&clicks| divergence_below(clicks as f64 / displays as f64, threshold) <= limit)
                .unwrap_or(displays + 1);
            (least..=displays)
                .map(|clicks| {
                    let choose =
                        log_factorial[displays] - log_factorial[clicks] - log_factorial[displays - clicks];
                    libm::exp(choose + clicks as f64 * hit + (displays - clicks) as f64 * miss)
                })
                .sum()
        };
        let rest = libm::exp(-(end as f64 + 1.0) * decay) / (1.0 - libm::exp(-decay));
        (first..=end).map(chance).sum::<f64>() + rest
    }

    /// `K_T`.
    fn first(self, gamma: f64, epsilon: f64, horizon: f64) -> f64 {
        let (mean, threshold) = self.means();
        (1.0 + gamma) * (1.0 + epsilon) * libm::log(horizon) / bernoulli_kl(mean, threshold)
    }
}

/// The constants that the proof of Lemma 20 leads to: `C_2 = 1 / (1 - exp(-D))` and
/// `beta = (1 + gamma) (1 + epsilon) D / d`, where `D` is the divergence of `kappa_L r` from the
/// item's mean and `d` that of the item's mean from the threshold's.
#[test]
fn lemma_20_holds_with_the_constants_of_its_proof() {
    for (search, gamma, epsilon) in [
        (Search { examination: 1.0, attraction: 0.2, threshold: 0.5 }, 0.5, 0.1),
        (Search { examination: 0.6, attraction: 0.2, threshold: 0.6 }, 0.5, 0.1),
        (Search { examination: 0.5, attraction: 0.1, threshold: 0.9 }, 0.5, 0.0),
        (Search { examination: 0.9, attraction: 0.3, threshold: 0.9 }, 1.0, 1.0),
    ] {
        let (mean, threshold) = search.means();
        let decay = bernoulli_kl(search.between(gamma), mean);
        let power = (1.0 + gamma) * (1.0 + epsilon) * decay / bernoulli_kl(mean, threshold);
        let constant = 1.0 / (1.0 - libm::exp(-decay));
        let sums = [2.0, 10.0, 1000.0, 1e5].map(|horizon| {
            let sum = search.sum(gamma, epsilon, horizon);
            let bound = constant * libm::pow(horizon, -power);
            assert!(0.0 < sum && sum <= bound, "{sum} above {bound} for {search:?} after {horizon}");
            sum
        });
        // It falls with the horizon about as fast as stated: one and a half times the power would
        // be too much.
        let fall = libm::log(sums[2] / sums[3]) / libm::log(100.0);
        assert!(fall < 1.5 * power, "{fall} {power} {search:?}");
    }
}

// --- PBM paper, Lemma 21
// ----------------------------------------------------------------------------------------------

/// The largest probability, over all strategies that choose a position for every display and a time
/// to stop between `least` and `most` displays, that `is_off(clicks, examined displays, displays)`
/// when they stop.
fn best_strategy(
    examination: [f64; 2],
    attraction: f64,
    (least, most): (usize, usize),
    is_off: impl Fn(f64, f64, f64) -> bool,
) -> f64 {
    // By the number of displays at the first position and of clicks, from the end to the start.
    let mut after: Vec<Vec<f64>> = vec![];
    for displays in (0..=most).rev() {
        let value = |first: usize, clicks: usize| {
            let examined = first as f64 * examination[0] + (displays - first) as f64 * examination[1];
            if displays >= least && is_off(clicks as f64, examined, displays as f64) {
                return 1.0;
            }
            if displays == most {
                return 0.0;
            }
            let shown_at = |position: usize| {
                let chance = examination[position] * attraction;
                let next = &after[first + 1 - position];
                chance * next[clicks + 1] + (1.0 - chance) * next[clicks]
            };
            shown_at(0).max(shown_at(1))
        };
        after =
            (0..=displays).map(|first| (0..=displays).map(|clicks| value(first, clicks)).collect()).collect();
    }
    after[0][0]
}

#[test]
fn lemma_21_bounds_the_best_strategy() {
    for (examination, attraction, least, eta) in [
        ([1.0, 1.0], 0.5, 20, 0.3),
        ([1.0, 0.6], 0.5, 20, 0.3),
        ([0.9, 0.3], 0.8, 25, 0.25),
        ([0.8, 0.7], 0.9, 12, 0.4),
    ] {
        let most = 60;
        // (16): the sum of centred clicks.
        let sums = best_strategy(examination, attraction, (least, most), |clicks, examined, displays| {
            (clicks - attraction * examined).abs() >= displays * eta
        });
        let bound = |exponent: f64| 2.0 * libm::exp(-exponent * least as f64 * eta * eta);
        assert!(bound(2.0) < 0.5 && sums <= bound(2.0), "{sums} above {}", bound(2.0));
        // (17): the estimate. Off by more, so that the bound is not trivial.
        let last = examination[1];
        let off = eta / last;
        let estimates = best_strategy(examination, attraction, (least, most), |clicks, examined, _| {
            (clicks / examined - attraction).abs() >= off
        });
        assert!(estimates <= bound(2.0), "{estimates} above {}", bound(2.0));
        assert!(estimates <= sums, "the estimate is off only if the sum is");
    }
    // Twice the exponent is too much.
    let sums = best_strategy([1.0, 1.0], 0.5, (20, 60), |clicks, examined, displays| {
        (clicks - 0.5 * examined).abs() >= displays * 0.3
    });
    assert!(sums > 2.0 * libm::exp(-4.0 * 20.0 * 0.09));
}

// --- PBM paper, Lemma 22
// ----------------------------------------------------------------------------------------------

/// The left side of Lemma 22 if `H` has all rounds and the item is shown in each with probability
/// `chance`, at the positions in turn; at most this much.
///
/// The number of rounds with exactly `n` displays before them has the mean `1 / chance`. Without a
/// display the estimate is undefined and counts as off.
fn expected_rounds_off(examination: &[f64], attraction: f64, chance: f64, eta: f64) -> f64 {
    let last = examination.iter().copied().fold(1.0, f64::min);
    let rate = 2.0 * last * last * eta * eta;
    let longest = (30.0 / rate).ceil() as usize;
    let mut clicks = vec![1.0];
    let mut examined = 0.0;
    let mut sum = 1.0;
    for display in 0..longest {
        let position = display % examination.len();
        let click = examination[position] * attraction;
        examined += examination[position];
        clicks.push(0.0);
        for count in (0..clicks.len()).rev() {
            let before = if count == 0 { 0.0 } else { clicks[count - 1] };
            clicks[count] = clicks[count] * (1.0 - click) + before * click;
        }
        let is_off = |count: usize| (count as f64 / examined - attraction).abs() >= eta;
        sum += (0..clicks.len()).filter(|&count| is_off(count)).map(|count| clicks[count]).sum::<f64>();
    }
    // By Lemma 21.
    let rest = 2.0 * libm::exp(-rate * (longest as f64 + 1.0)) / (1.0 - libm::exp(-rate));
    (sum + rest) / chance
}

#[test]
fn lemma_22_bounds_the_rounds_with_a_wrong_estimate() {
    let bound =
        |chance: f64, last: f64, eta: f64| 2.0 / chance * (2.0 / chance + 1.0 / (last * last * eta * eta));
    for (examination, attraction, chance, eta) in [
        (&[1.0][..], 0.5, 1.0, 0.1),
        (&[0.9, 0.6, 0.3], 0.45, 0.5, 0.2),
        (&[0.3], 0.9, 0.1, 0.2),
        (&[0.5, 0.25], 0.05, 0.125, 0.3),
    ] {
        let last = examination[examination.len() - 1];
        let rounds = expected_rounds_off(examination, attraction, chance, eta);
        assert!(rounds <= bound(chance, last, eta), "{rounds} above {}", bound(chance, last, eta));
        // Half of the part that does not depend on `eta` suffices; the statement is not tight.
        assert!(rounds <= 2.0 / chance * (1.0 / chance + 1.0 / (last * last * eta * eta)));
    }
    // Without the examination it does not hold.
    assert!(expected_rounds_off(&[0.1], 0.9, 1.0, 0.5) > bound(1.0, 1.0, 0.5));
}

// --- CascadeBAI paper, Remark D.1 and Theorem B.1
// -----------------------------------------------------------------------

/// Returns whether `E exp(lambda D) <= exp(v^2 lambda^2 / 2)` at this `lambda`, with room for
/// rounding.
fn is_light(law: &[(f64, f64)], v: f64, lambda: f64) -> bool {
    let mean: f64 = law.iter().map(|&(value, chance)| chance * libm::exp(lambda * value)).sum();
    mean <= libm::exp(v * v * lambda * lambda / 2.0) * (1.0 + 1e-14)
}

#[test]
fn remark_d_1_centred_clicks_are_sub_gaussian_with_one_half() {
    let lambdas = || (-200..=200).map(|step| f64::from(step) / 10.0);
    let clicks = |w: f64| [(1.0 - w, w), (-w, 1.0 - w)];
    for percent in 0..=100 {
        let law = clicks(f64::from(percent) / 100.0);
        assert!(lambdas().all(|lambda| is_light(&law, 0.5, lambda)), "{percent} %");
    }
    // Less does not suffice.
    assert!(!lambdas().all(|lambda| is_light(&clicks(0.5), 0.49, lambda)));
}

/// Steps of a martingale that go down `a` or up `b`, with mean 0.
fn two_point(a: usize, b: usize) -> [(f64, f64); 2] {
    let (a, b) = (a as f64, b as f64);
    [(-a, b / (a + b)), (b, a / (a + b))]
}

/// All steps `(a, b)` up to 8 that are `v`-light for `lambda <= 0`.
fn light_steps(v: usize) -> Vec<(usize, usize)> {
    let is_possible = |&(a, b): &(usize, usize)| {
        (0..400).all(|step| is_light(&two_point(a, b), v as f64, -f64::from(step) / 50.0))
    };
    (1..=8).flat_map(|a| (1..=8).map(move |b| (a, b))).filter(is_possible).collect()
}

/// The largest probability that a martingale is at `-omega` or below at the end, if every step may
/// be chosen by the past among the given ones.
fn deepest(steps: &[Vec<(usize, usize)>], omega: usize) -> f64 {
    let reach = 8 * steps.len();
    let width = 2 * reach + 17;
    // The place of the sum 0, with room for one more step on either side.
    let zero = reach + 8;
    let mut value: Vec<f64> = (0..width).map(|place| f64::from(place + omega <= zero)).collect();
    for choices in steps.iter().rev() {
        value = (0..width)
            .map(|place| {
                let after = |&(a, b): &(usize, usize)| {
                    let down = value[place.saturating_sub(a)];
                    let up = value[(place + b).min(width - 1)];
                    (b as f64 * down + a as f64 * up) / (a + b) as f64
                };
                choices.iter().map(after).fold(0.0, f64::max)
            })
            .collect();
    }
    value[zero]
}

/// Theorem B.1 with the corrected hypothesis: the parameter of step `t` is `v_t`, and `omega` is
/// the deviation.
#[test]
fn theorem_b_1_bounds_the_deepest_martingale() {
    let choices: Vec<Vec<(usize, usize)>> = (1..=3).map(light_steps).collect();
    // Not only symmetric steps: those of Theorem 5.4, and steep ones down.
    assert!(choices[1].contains(&(2, 2)) && choices[1].contains(&(1, 3)) && choices[2].len() > 6);
    let mut tightest = f64::INFINITY;
    for scales in [&[1; 16][..], &[2; 12], &[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3], &[3, 3, 1, 1, 1, 1, 1, 1]] {
        let steps: Vec<_> = scales.iter().map(|&scale: &usize| choices[scale - 1].clone()).collect();
        let variance = scales.iter().map(|&scale| (scale * scale) as f64).sum::<f64>();
        for omega in 0..=scales.iter().sum::<usize>() {
            let exponent = (omega * omega) as f64 / (2.0 * variance);
            let chance = deepest(&steps, omega);
            assert!(chance <= libm::exp(-exponent) * (1.0 + 1e-12), "{chance} at {omega} for {scales:?}");
            if omega > 0 && chance > 0.0 {
                tightest = tightest.min(-libm::log(chance) / exponent);
            }
        }
    }
    // An exponent that is twice as large would be noticed.
    assert!((1.0..2.0).contains(&tightest), "{tightest}");
}
