//! The attraction of one item, given examination.

use libm::exp;

/// The posterior mean of an item's attraction with known examination, and the variance of the logarithm at the posterior mode of the
/// log-odds. `cells` are skips and examination; clicks and skips of the prior are included, with examination 1. The mode would be too
/// low: examination below 1 makes the posterior skew. Numerics: the next term of Laplace's approximation, which vanishes for a Beta
/// posterior. It divides the third derivative by the square of the second, and multiplies the odds, which keeps the mean below 1.
pub(in super::super) fn attraction(clicks: f64, cells: &[(f64, f64)]) -> (f64, f64) {
    let skipped = || cells.iter().filter(|cell| cell.0 > 0.0 && cell.1 > 0.0);
    let mut low = 0.0;
    let bound = 1.0 / skipped().map(|cell| cell.1).fold(1.0, f64::max);
    let mut high = bound;
    let exposure: f64 = skipped().map(|(skips, g)| skips * g).sum();
    let mut a = (clicks / (clicks + exposure)).min(0.999 * high);
    let mut curvature = f64::INFINITY;
    // Bisection alone would take 50 steps.
    for _ in 0..100 {
        let mut rest = clicks;
        curvature = 0.0;
        for &(skips, g) in skipped() {
            let slope = skips * a * g / (1.0 - a * g);
            rest -= slope;
            curvature += slope / (1.0 - a * g);
        }
        if rest > 0.0 {
            low = a;
        } else {
            high = a;
        }
        let newton = a * exp((rest / curvature).clamp(-2.0, 2.0));
        let next = if newton > low && newton < high { newton } else { low.midpoint(high) };
        let change = (next / a - 1.0).abs();
        a = next;
        if change < 1e-14 {
            break;
        }
    }
    let trials = curvature * (1.0 - a) / a;
    let skew: f64 = skipped().map(|&(skips, g)| skips * g * (1.0 - g) / (1.0 - g * a).powi(3)).sum();
    let shift = skew / (trials * trials);
    let odds = a / (1.0 - a) * if shift > 0.0 { 1.0 + shift } else { 1.0 / (1.0 - shift) };
    ((odds / (1.0 + odds)).min(a.midpoint(bound)), 1.0 / curvature)
}
