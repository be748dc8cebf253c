//! Samplers against exact distribution functions.
//!
//! Each comparison is a Kolmogorov-Smirnov test with the Dvoretzky-Kiefer-Wolfowitz bound in
//! Massart's form: the largest distance of the empirical distribution function of `n` draws exceeds
//! `sqrt(ln(2 / alpha) / (2 n))` with probability at most `alpha` = 1e-6, which is 0.0076 here; a
//! sampler that is off by 0.011 anywhere is caught with a probability of .99.

use super::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{Beta, ContinuousCDF, Gamma, Normal};

const DRAWS: usize = 125_000;
const FALSE_ALARM: f64 = 1e-6;

fn tolerance() -> f64 {
    (libm::log(2.0 / FALSE_ALARM) / (2.0 * DRAWS as f64)).sqrt()
}

fn distance(draws: impl Iterator<Item = f64>, exact: impl Fn(f64) -> f64) -> f64 {
    let mut draws: Vec<f64> = draws.collect();
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let mut largest = 0.0_f64;
    for (rank, &draw) in draws.iter().enumerate() {
        let exact = exact(draw);
        largest = largest.max((exact - rank as f64 / n).abs()).max((exact - (rank + 1) as f64 / n).abs());
    }
    largest
}

/// The same at 401 points from `low` to `high` only, because incomplete gamma and beta functions
/// are costly. The bound on false alarms holds at fixed points all the more.
fn distance_at_points(
    draws: impl Iterator<Item = f64>,
    exact: impl Fn(f64) -> f64,
    low: f64,
    high: f64,
) -> f64 {
    let mut draws: Vec<f64> = draws.collect();
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    (0..=400_u32)
        .map(|step| low + (high - low) * f64::from(step) / 400.0)
        .map(|point| (exact(point) - draws.partition_point(|&draw| draw <= point) as f64 / n).abs())
        .fold(0.0, f64::max)
}

const SHAPES: [f64; 12] = [1.0, 1.2, 1.5, 2.0, 3.0, 7.5, 20.0, 100.0, 1e3, 1e4, 1e5, 1e6];

#[test]
fn normal_variates_are_normal() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let sampler = Sampler::new();
    let normal = Normal::standard();
    let draws = (0..DRAWS).map(|_| sampler.normal(&mut rng));
    assert!(distance(draws, |x| normal.cdf(x)) <= tolerance());
    // A variance of 1.02 moves the distribution function by 0.0024 only, so its square root is
    // wrong by more here.
    let draws = (0..DRAWS).map(|_| 1.05 * sampler.normal(&mut rng));
    assert!(distance(draws, |x| normal.cdf(x)) > tolerance(), "a standard deviation of 1.05 passes");
    let draws = (0..DRAWS).map(|_| 0.03 + sampler.normal(&mut rng));
    assert!(distance(draws, |x| normal.cdf(x)) > tolerance(), "a mean of 0.03 passes");
}

/// The layers fit together: every layer has the same area, and the last one ends at the top of the
/// density. Each has one draw in 256, so an area that is off by 1e-7 in relative terms moves no
/// probability by more than 1e-9.
#[test]
fn the_ziggurat_closes() {
    let Ziggurat { edge, density } = &*ZIGGURAT;
    for layer in 1..LAYERS {
        let area = edge[layer] * (density[layer + 1] - density[layer]);
        assert!((area / AREA - 1.0).abs() < 1e-7, "layer {layer}: {area}");
    }
    // The lowest: the rectangle up to the edge of the tail, and the tail, which statrs knows to
    // about 1e-9.
    let tail = (2.0 * std::f64::consts::PI).sqrt() * Normal::standard().sf(TAIL);
    assert!(((TAIL * density[1] + tail) / AREA - 1.0).abs() < 1e-8);
}

/// The tail, hardly ever reached: compared with the normal distribution given that it is beyond, on
/// both sides.
#[test]
fn the_tail_is_the_normal_tail() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let beyond = Normal::standard();
    let all = beyond.sf(TAIL);
    let draws = (0..DRAWS).map(|_| tail(&mut rng));
    assert!(distance(draws, |x| 1.0 - beyond.sf(x) / all) <= tolerance());
    // An exponential tail, the proposal without its rejections, is caught.
    let draws = (0..DRAWS).map(|_| TAIL - ln(1.0 - rng.random::<f64>()) / TAIL);
    assert!(distance(draws, |x| 1.0 - beyond.sf(x) / all) > tolerance());
}

/// Marsaglia and Tsang's condition agrees with every acceptance without logarithms: on a grid of
/// offsets from -1 to 3, for scales from 2/3 on. A constant that is 1 % smaller accepts too much at
/// the smallest scale.
#[test]
fn the_squeeze_is_below_what_is_accepted() {
    let excess = |constant: f64, scale: f64| {
        let at = |step: u32| {
            let z = -1.0 + f64::from(step) / 50_000.0;
            let x = 3.0 * scale.sqrt() * z;
            // The first terms of the series in z cancel.
            let log_accepted = if z.abs() > 0.1 {
                4.5 * z * z + 1.0 - (1.0 + z) * (1.0 + z) * (1.0 + z) + 3.0 * libm::log1p(z)
            } else {
                -3.0 * (4..24).map(|k| libm::pow(-z, f64::from(k)) / f64::from(k)).sum::<f64>()
            };
            let small = z * x;
            1.0 - constant * (small * small) - libm::exp(scale * log_accepted)
        };
        (1..200_000).map(at).fold(f64::NEG_INFINITY, f64::max)
    };
    for scale in [2.0 / 3.0, 0.7, 1.0, 2.0, 10.0, 1e3, 1e6] {
        let found = excess(SQUEEZE, scale);
        assert!(found <= 1e-15, "scale {scale}: {found}");
    }
    assert!(excess(0.99 * SQUEEZE, 2.0 / 3.0) > 1e-4);
}

#[test]
fn gamma_variates_are_gamma() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let sampler = Sampler::new();
    for shape in SHAPES {
        let exact = Gamma::new(shape, 1.0).expect("a valid shape");
        let spread = 5.0 * shape.sqrt();
        let (low, high) = ((shape - spread).max(0.0), shape + spread + 5.0);
        let prepared = GammaShape::new(shape);
        let draws = (0..DRAWS).map(|_| sampler.gamma(prepared, &mut rng));
        let found = distance_at_points(draws, |x| exact.cdf(x), low, high);
        assert!(found <= tolerance(), "shape {shape}: {found}");
        // A shape that is wrong by 3 % of its standard deviation moves the distribution function by
        // about 0.012.
        let wrong = GammaShape::new(shape + 0.03 * shape.sqrt());
        let draws = (0..DRAWS).map(|_| sampler.gamma(wrong, &mut rng));
        assert!(distance_at_points(draws, |x| exact.cdf(x), low, high) > tolerance(), "shape {shape}");
    }
}

/// The distribution function of Beta(a, b): from statrs, whose continued fraction has too few terms
/// for large shapes, or then by Simpson's rule between twelve standard deviations on both sides of
/// the mean, 20 panels a standard deviation.
pub(super) fn beta_distribution(a: f64, b: f64) -> Box<dyn Fn(f64) -> f64> {
    if a.min(b) < 100.0 {
        let exact = Beta::new(a, b).expect("valid shapes");
        return Box::new(move |x| exact.cdf(x));
    }
    let mean = a / (a + b);
    let deviation = (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
    let low = mean - 12.0 * deviation;
    let step = deviation / 20.0;
    let log_density = move |x: f64| (a - 1.0) * libm::log(x) + (b - 1.0) * libm::log1p(-x);
    let density = move |x: f64| libm::exp(log_density(x) - log_density(mean));
    let simpson = move |left: f64, width: f64| {
        (density(left) + 4.0 * density(left + 0.5 * width) + density(left + width)) * width / 6.0
    };
    let mut cumulated = vec![0.0];
    for panel in 0..480_u32 {
        cumulated.push(cumulated[panel as usize] + simpson(low + f64::from(panel) * step, step));
    }
    Box::new(move |x| {
        let panel = (0..480_u32).rev().find(|&panel| low + f64::from(panel) * step <= x).unwrap_or(0);
        let left = low + f64::from(panel) * step;
        (cumulated[panel as usize] + simpson(left, x - left)) / cumulated[480]
    })
}

/// Quadrature and statrs agree where both can be had.
#[test]
fn the_reference_for_large_shapes_is_right() {
    let exact = Beta::new(150.0, 250.0).expect("valid shapes");
    let found = beta_distribution(150.0, 250.0);
    for step in 0..=40 {
        let x = 0.275 + 0.005 * f64::from(step);
        assert!((found(x) - exact.cdf(x)).abs() < 1e-7, "at {x}");
    }
}

#[test]
fn beta_variates_are_beta() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let sampler = Sampler::new();
    let pairs = [
        (1.0, 1.0),
        (1.0, 2.0),
        (2.0, 1.0),
        (1.5, 1.5),
        (3.0, 30.0),
        (1.0, 1000.0),
        (1000.0, 1.0),
        (50.0, 50.0),
        (15_000.0, 85_000.0),
        (1e6, 1.0),
        (1.0, 1e6),
        (1e6, 1e6),
    ];
    for (successes, failures) in pairs {
        let exact = beta_distribution(successes, failures);
        let n = successes + failures;
        let mean = successes / n;
        let spread = 6.0 * (mean * (1.0 - mean) / (n + 1.0)).sqrt();
        let (low, high) = ((mean - spread).max(0.0), (mean + spread).min(1.0));
        let prepared = BetaShape::after(successes - 1.0, failures - 1.0);
        let draws = (0..DRAWS).map(|_| sampler.beta(prepared, &mut rng));
        let found = distance_at_points(draws, &exact, low, high);
        assert!(found <= tolerance(), "Beta({successes}, {failures}): {found}");
        // Exchanged shapes, unless they are equal; and one click too many where that can be seen.
        if successes != failures {
            let wrong = BetaShape::after(failures - 1.0, successes - 1.0);
            let draws = (0..DRAWS).map(|_| sampler.beta(wrong, &mut rng));
            assert!(distance_at_points(draws, &exact, low, high) > tolerance());
        }
        if n < 200.0 {
            let wrong = BetaShape::after(successes, failures - 1.0);
            let draws = (0..DRAWS).map(|_| sampler.beta(wrong, &mut rng));
            assert!(distance_at_points(draws, &exact, low, high) > tolerance());
        }
    }
}

/// Also with shapes below 1, where a sampler that leaves out the additional uniform draw is
/// noticed.
#[test]
fn beta_draws_of_any_shape_are_beta() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    for (first, second) in [(0.05, 0.2), (0.3, 4.0), (2.5, 0.6), (30.0, 70.0)] {
        let exact = beta_distribution(first, second);
        let draws = (0..DRAWS).map(|_| draw_beta(first, second, &mut rng));
        let found = distance_at_points(draws, &exact, 0.0, 1.0);
        assert!(found <= tolerance(), "{first}, {second}: {found}");
    }
    let exact = beta_distribution(0.3, 4.0);
    let draws = (0..DRAWS).map(|_| draw_beta(1.3, 4.0, &mut rng));
    assert!(distance_at_points(draws, &exact, 0.0, 1.0) > tolerance());
}
