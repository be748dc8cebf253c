//! Indices by bisection: the plain references that faster code is compared with.

use confidence::{bernoulli_kl, multi_position_divergence, multi_position_minimum};

/// The upper end of the last bracket around the last number that is not above.
fn bisect(mut low: f64, steps: u32, is_above: impl Fn(f64) -> bool) -> f64 {
    let mut high = 1.0;
    for _ in 0..steps {
        let middle = 0.5 * (low + high);
        if is_above(middle) { high = middle } else { low = middle }
    }
    high
}

/// [`confidence::kl_ucb_upper`], with as many steps as halve `[0, 1]` down to the spacing of the
/// numbers near 1.
pub(crate) fn kl_ucb_upper_bisection(mean: f64, n: f64, level: f64) -> f64 {
    if n <= 0.0 || n.is_nan() || mean.is_nan() || level.is_nan() || level == f64::INFINITY {
        return 1.0;
    }
    let p = mean.clamp(0.0, 1.0);
    if level <= 0.0 {
        return p;
    }
    let c = (level / n).max(f64::MIN_POSITIVE);
    bisect(p, 53, |q| bernoulli_kl(p, q) > c)
}

/// [`confidence::multi_position_upper`].
pub(crate) fn multi_position_upper_bisection(
    clicks: &[u64],
    shows: &[u64],
    examination: &[f64],
    level: f64,
) -> f64 {
    let Some(minimum) = multi_position_minimum(clicks, shows, examination) else { return 1.0 };
    let divergence = |q| multi_position_divergence(clicks, shows, examination, q);
    if level.is_nan() {
        return 1.0;
    }
    let level = if level <= 0.0 { 0.0 } else { level.max(1e-250) };
    if minimum.divergence > level {
        return minimum.theta;
    }
    if divergence(1.0) <= level {
        return 1.0;
    }
    bisect(minimum.theta, 60, |q| divergence(q) > level)
}
