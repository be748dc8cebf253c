//! Properties for all arguments: monotonicity, limit cases, round trips, no NaN and no panic.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are made from positive numbers"
)]

use crate::bisection::{kl_ucb_upper_bisection, multi_position_upper_bisection};
use approx::assert_relative_eq;
use confidence::{
    Rate, bernoulli_kl, bernoulli_kl_derivative, hoeffding_radius, kl_ucb_lower, kl_ucb_upper, lil_radius,
    lil_radius_scaled, math, multi_position_divergence, multi_position_lower, multi_position_minimum,
    multi_position_upper, pbm_ucb_radius, rsf_ucb_radius, ucb1_radius,
};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// A probability, often an extreme one.
#[derive(Clone, Copy, Debug)]
struct P(f64);

impl Arbitrary for P {
    fn arbitrary(g: &mut Gen) -> Self {
        let unit = (u64::arbitrary(g) >> 11) as f64 / (1_u64 << 53) as f64;
        Self(match u8::arbitrary(g) % 8 {
            0 => *g
                .choose(&[0.0, 1.0, 5e-324, f64::MIN_POSITIVE, f64::EPSILON, 1.0 - f64::EPSILON / 2.0, 0.5])
                .unwrap(),
            1 => libm::pow(10.0, -300.0 * unit),
            2 => libm::pow(10.0, -16.0 * unit),
            3 => 1.0 - libm::pow(10.0, -16.0 * unit),
            _ => unit,
        })
    }
}

/// A count from 0 to about 10^6 and a level from 0 to about 100.
#[derive(Clone, Copy, Debug)]
struct Count(u64);

impl Arbitrary for Count {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(u64::arbitrary(g) >> (44 + u32::arbitrary(g) % 20))
    }
}

#[derive(Clone, Copy, Debug)]
struct Level(f64);

impl Arbitrary for Level {
    fn arbitrary(g: &mut Gen) -> Self {
        let unit = (u64::arbitrary(g) >> 11) as f64 / (1_u64 << 53) as f64;
        Self(if u8::arbitrary(g).is_multiple_of(8) { 0.0 } else { libm::pow(10.0, 8.0 * unit - 6.0) })
    }
}

/// Counts at some positions: (clicks, shows, examination).
#[derive(Clone, Debug)]
struct Item(Vec<u64>, Vec<u64>, Vec<f64>);

impl Arbitrary for Item {
    fn arbitrary(g: &mut Gen) -> Self {
        let positions = 1 + usize::arbitrary(g) % 64;
        let mut item = Self(vec![], vec![], vec![]);
        for _ in 0..positions {
            let shows = Count::arbitrary(g).0;
            item.0.push((P::arbitrary(g).0 * shows as f64) as u64);
            item.1.push(shows);
            item.2.push(P::arbitrary(g).0);
        }
        item
    }
}

quickcheck! {
    fn divergence_is_positive_and_zero_on_the_diagonal(p: P, q: P) -> bool {
        let d = bernoulli_kl(p.0, q.0);
        d >= 0.0 && bernoulli_kl(p.0, p.0) == 0.0
    }

    // Pinsker from below, chi-square from above.
    fn divergence_is_between_its_classical_bounds(p: P, q: P) -> bool {
        let (d, x) = (bernoulli_kl(p.0, q.0), p.0 - q.0);
        // In this order no relevant term underflows.
        let chi_square = x / q.0 * x / (1.0 - q.0);
        d >= 2.0 * x * x * (1.0 - 1e-14) && (chi_square.is_nan() || d <= chi_square * (1.0 + 1e-14) + 1e-320)
    }

    fn divergence_is_symmetric_under_exchange_of_the_outcomes(p: P, q: P) -> bool {
        // Only where 1 - p and 1 - q are exact.
        let (p, q) = (0.5 + 0.5 * p.0, 0.5 + 0.5 * q.0);
        let (a, b) = (bernoulli_kl(p, q), bernoulli_kl(1.0 - p, 1.0 - q));
        a == b || (a - b).abs() <= 1e-14 * a
    }

    fn derivative_has_the_sign_of_the_difference(p: P, q: P) -> bool {
        let slope = bernoulli_kl_derivative(p.0, q.0);
        p.0 == q.0 || (slope > 0.0) == (q.0 > p.0)
    }

    fn indices_bracket_the_mean(p: P, n: Count, level: Level) -> bool {
        let n = n.0 as f64;
        let (lower, upper) = (kl_ucb_lower(p.0, n, level.0), kl_ucb_upper(p.0, n, level.0));
        0.0 <= lower && lower <= p.0 && p.0 <= upper && upper <= 1.0
    }

    fn indices_agree_with_bisection(p: P, n: Count, level: Level) -> bool {
        let n = n.0 as f64;
        (kl_ucb_upper(p.0, n, level.0) - kl_ucb_upper_bisection(p.0, n, level.0)).abs() < 1e-13
    }

    // Beyond the width of the rounding margin, more level or fewer observations never narrow the
    // interval.
    fn indices_are_monotone(p: P, n: Count, level: Level, more: Level) -> bool {
        let (n, wider) = (n.0 as f64, level.0 + more.0);
        kl_ucb_upper(p.0, n, wider) >= kl_ucb_upper(p.0, n, level.0) - 1e-14
            && kl_ucb_lower(p.0, n, wider) <= kl_ucb_lower(p.0, n, level.0) + 1e-14
            && kl_ucb_upper(p.0, n + 1.0, level.0) <= kl_ucb_upper(p.0, n, level.0) + 1e-14
            && kl_ucb_lower(p.0, n + 1.0, level.0) >= kl_ucb_lower(p.0, n, level.0) - 1e-14
    }

    fn indices_are_monotone_in_the_mean(p: P, q: P, n: Count, level: Level) -> bool {
        let (low, high, n) = (p.0.min(q.0), p.0.max(q.0), n.0 as f64);
        kl_ucb_upper(low, n, level.0) <= kl_ucb_upper(high, n, level.0) + 1e-14
            && kl_ucb_lower(low, n, level.0) <= kl_ucb_lower(high, n, level.0) + 1e-14
    }

    fn indices_invert_the_divergence(p: P, q: P, n: Count) -> bool {
        let n = (n.0 + 1) as f64;
        let level = n * bernoulli_kl(p.0, q.0);
        // A subnormal level has lost the digits that would lead back.
        if !level.is_finite() || level < 1e-290 {
            return true;
        }
        let back = if q.0 > p.0 { kl_ucb_upper(p.0, n, level) } else { kl_ucb_lower(p.0, n, level) };
        (back - q.0).abs() < 1e-13
    }

    fn indices_are_symmetric_under_reflection(p: P, n: Count, level: Level) -> bool {
        let n = n.0 as f64;
        let p = 0.5 + 0.5 * p.0;
        (kl_ucb_upper(p, n, level.0) - (1.0 - kl_ucb_lower(1.0 - p, n, level.0))).abs() < 1e-14
    }

    fn one_examined_position_is_plain_kl_ucb(clicks: Count, failures: Count, level: Level) -> bool {
        let (clicks, shows) = (clicks.0, clicks.0 + failures.0);
        let (mean, n) = (clicks as f64 / shows as f64, shows as f64);
        shows == 0
            || (multi_position_upper(&[clicks], &[shows], &[1.0], level.0) - kl_ucb_upper(mean, n, level.0)).abs() < 1e-11
            && (multi_position_lower(&[clicks], &[shows], &[1.0], level.0) - kl_ucb_lower(mean, n, level.0)).abs() < 1e-11
    }

    fn order_of_the_positions_does_not_matter(item: Item, level: Level) -> bool {
        let Item(mut clicks, mut shows, mut examination) = item;
        let upper = multi_position_upper(&clicks, &shows, &examination, level.0);
        let lower = multi_position_lower(&clicks, &shows, &examination, level.0);
        let theta = multi_position_minimum(&clicks, &shows, &examination);
        // The side is always right; the distance is small only if the level is not just reached.
        let decided = theta.is_none_or(|theta| (theta.divergence - level.0).abs() > 1e-6 * (1.0 + theta.divergence));
        clicks.reverse();
        shows.reverse();
        examination.reverse();
        !decided
            || (multi_position_upper(&clicks, &shows, &examination, level.0) - upper).abs() < 1e-10
            && (multi_position_lower(&clicks, &shows, &examination, level.0) - lower).abs() < 1e-10
    }

    fn multi_position_indices_bracket_the_minimum(item: Item, level: Level) -> bool {
        let Item(clicks, shows, examination) = item;
        let upper = multi_position_upper(&clicks, &shows, &examination, level.0);
        let lower = multi_position_lower(&clicks, &shows, &examination, level.0);
        match multi_position_minimum(&clicks, &shows, &examination) {
            None => upper == 1.0 && lower == 0.0,
            Some(minimum) => {
                (0.0..=1.0).contains(&lower) && (0.0..=1.0).contains(&upper)
                    && lower <= minimum.theta && minimum.theta <= upper && minimum.divergence >= 0.0
            }
        }
    }

    fn multi_position_agrees_with_bisection(item: Item, level: Level) -> bool {
        let Item(clicks, shows, examination) = item;
        let decided = multi_position_minimum(&clicks, &shows, &examination)
            .is_none_or(|theta| (theta.divergence - level.0).abs() > 1e-6 * (1.0 + theta.divergence));
        let plain = multi_position_upper_bisection(&clicks, &shows, &examination, level.0);
        !decided || (multi_position_upper(&clicks, &shows, &examination, level.0) - plain).abs() < 1e-11
    }

    fn no_other_point_beats_the_minimum(item: Item, q: P) -> bool {
        let Item(clicks, shows, examination) = item;
        let value = multi_position_divergence(&clicks, &shows, &examination, q.0);
        multi_position_minimum(&clicks, &shows, &examination)
            .is_none_or(|minimum| minimum.divergence <= value * (1.0 + 1e-12) + 1e-12)
    }

    // Every bit pattern: infinities, NaN, negative and huge numbers included.
    fn no_arguments_give_nan(a: f64, b: f64, c: f64, n: u64) -> bool {
        let finite = |x: f64| if x.is_nan() { 0.5 } else { x };
        let (a, b, c) = (finite(a), finite(b), finite(c));
        let clean = [
            bernoulli_kl(a, b), bernoulli_kl_derivative(a, b), kl_ucb_upper(a, b, c), kl_ucb_lower(a, b, c),
            hoeffding_radius(a, b), ucb1_radius(a, b), rsf_ucb_radius(a, b), pbm_ucb_radius(a, b, c),
            lil_radius(n, a), lil_radius_scaled(n, a, b), Rate::LOG.level(n), Rate::LOG_PLUS_3_LOG_LOG.level(n),
            multi_position_upper(&[n, 3], &[n / 2, 5], &[a, b], c), multi_position_lower(&[n, 3], &[n, 5], &[a, b], c),
            multi_position_divergence(&[n, 3], &[n, 5], &[a, b], c),
        ];
        clean.iter().all(|x| !x.is_nan())
    }

    fn indices_survive_nan(a: f64, b: f64) -> bool {
        [(f64::NAN, a, b), (a, f64::NAN, b), (a, b, f64::NAN)].into_iter().all(|(mean, n, level)| {
            kl_ucb_upper(mean, n, level) == 1.0 && kl_ucb_lower(mean, n, level) == 0.0
        })
    }

    fn logarithm_is_as_accurate_as_libm(bits: u64) -> bool {
        let x = f64::from_bits(bits).abs();
        let (ours, reference) = (math::ln(x), libm::log(x));
        ours == reference || (ours.is_nan() && reference.is_nan()) || (ours - reference).abs() <= reference.abs() * f64::EPSILON
    }

    fn logarithm_of_one_plus_x_is_accurate(x: P, negative: bool) -> bool {
        let x = if negative { -x.0 } else { x.0 };
        let (ours, reference) = (math::ln_1p(x), libm::log1p(x));
        ours == reference || (ours - reference).abs() <= reference.abs() * 2.0 * f64::EPSILON
    }
}

#[test]
fn logarithm_is_accurate_at_every_binary_magnitude() {
    for exponent in -1074..1024 {
        for mantissa in [1.0, 1.0 + f64::EPSILON, 1.2, core::f64::consts::SQRT_2, 1.7, 2.0 - f64::EPSILON] {
            let x = libm::ldexp(mantissa, exponent);
            assert_relative_eq!(math::ln(x), libm::log(x), max_relative = f64::EPSILON, epsilon = 0.0);
            if x >= f64::MIN_POSITIVE {
                assert_eq!(math::ln_of_normals([x, 1.0]), [math::ln(x), 0.0]);
            }
        }
    }
    assert_eq!(math::ln(0.0), f64::NEG_INFINITY);
    assert_eq!(math::ln(-0.0), f64::NEG_INFINITY);
    assert_eq!(math::ln(f64::INFINITY), f64::INFINITY);
    assert!(math::ln(-1.0).is_nan() && math::ln(f64::NAN).is_nan() && math::ln(f64::NEG_INFINITY).is_nan());
}

#[test]
fn x_minus_logarithm_keeps_its_digits() {
    // x^2/2 - x^3/3 + x^4/4 - x^5/5 is exact to 1e-22 relative here.
    for x in [1e-6, -1e-6, 1e-9, -1e-9, 1e-100] {
        let series = x * x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * 0.2)));
        assert_relative_eq!(math::x_minus_ln_1p(x), series, max_relative = 1e-15, epsilon = 0.0);
    }
    assert_relative_eq!(math::x_minus_ln_1p(1.0), 1.0 - core::f64::consts::LN_2, max_relative = 1e-15);
    assert_eq!(math::x_minus_ln_1p(-1.0), f64::INFINITY);
}

/// Found by fuzzing: extreme means, counts and levels.
#[test]
fn indices_bracket_a_tiny_mean() {
    let (mean, n, level) =
        (7.291_118_558_163_503e-304, 1.491_669_519_553_301e-154, 1.321_764_930_922_892_6e-302);
    assert!((0.0..=mean).contains(&kl_ucb_lower(mean, n, level)));
    assert!((mean..=1.0).contains(&kl_ucb_upper(mean, n, level)));
}

/// Pins the bits of some results.
#[test]
fn values_are_stable() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for i in 1..200_u32 {
        let (p, n) = (f64::from(i) / 200.0, f64::from(i * i));
        for level in [0.01, 1.0, 10.0] {
            for x in [
                kl_ucb_upper(p, n, level),
                kl_ucb_lower(p, n, level),
                bernoulli_kl(p, level / 11.0),
                math::ln(n),
            ] {
                hash = (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    assert_eq!(hash, 0xa1ae_3967_75cd_1420);
}
