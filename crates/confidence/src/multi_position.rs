//! The multi-position KL index: how attractive an item may still be, given its clicks at several positions.
//!
//! # Definition
//!
//! An item that was shown `N_l` times at position `l` and clicked `S_l` times there has
//!
//! ```text
//! Phi(q) = sum_l N_l d(S_l / N_l, kappa_l q)                    kappa_l: probability that position l is examined
//! U = max { q in [theta_min, 1] : Phi(q) <= level },    lower = min { q in [0, theta_min] : Phi(q) <= level }
//! ```
//!
//! where `theta_min` is the arg min of the convex function `Phi` over `[0, 1]`.
//!
//! Reference: Lagree, Vernade and Cappe, *Multiple-play bandits in the position-based model*, 2016, equation (7). The lower
//! index is its mirror image and not in the paper.
//!
//! Deviations: the paper says "the minimum" for the arg min, and leaves open what follows.
//!
//! - With several positions `min Phi` is positive in general and may exceed the level; the set is empty then, and both
//!   indices are `theta_min`.
//! - No data: `U = 1`, `lower = 0`. No clicks: `theta_min = 0`. Clicks on every show: `theta_min = 1`.
//! - A position that is never examined (`kappa_l = 0`) tells nothing and is left out.
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `clicks` | `S_{k,l}` | one count a position | clicks |
//! | `shows` | `N_{k,l}` | one count a position | shows |
//! | `examination` | `kappa_l` | one number in `[0, 1]` a position | probability |
//! | `level` | `delta` | number, not negative | nats |
//! | result | `U_k(t, delta)` | number in `[0, 1]` | probability |
//!
//! # Numerics
//!
//! `Phi` is summed from [`relative_entropy`] terms, none negative, each accurate in relative terms. `Phi` is
//! convex, so a Newton step from *any* point right of `theta_min` ends right of the upper root (the tangent lies below the
//! function), and one from the left ends left of the lower root. The last step of the solver is such a step, plus a bound on
//! its rounding error: an upper index never lies below the true root, a lower one never above it.
//!
//! Arguments out of range are moved into it: clicks beyond shows count as shows, examinations outside `[0, 1]` as the nearer
//! edge (NaN as 0), a negative level as 0; of slices of unequal length the common part counts.
//!
//! Complexity: time proportional to the number of positions, usually three evaluations of `Phi`; no allocation.
//!
//! ```
//! use confidence::{kl_ucb_upper, multi_position_upper};
//!
//! // No click in 5 shows at one position: 5 (-ln(1 - 0.8 q)) = 2, so q = (1 - exp(-0.4)) / 0.8.
//! let upper = multi_position_upper(&[0], &[5], &[0.8], 2.0);
//! assert!((upper - 0.412_099_942_455_450_9).abs() < 1e-12);
//! // One position that is always examined: plain KL-UCB.
//! let plain = kl_ucb_upper(0.3, 10.0, 2.0);
//! assert!((multi_position_upper(&[3], &[10], &[1.0], 2.0) - plain).abs() < 1e-12);
//! ```

use crate::math::{relative_entropy, sqrt};

/// Halvings of the bisection references.
const BISECTION_STEPS: u32 = 60;
/// Bound on the relative rounding error of a computed `Phi`; see [`Point`].
const VALUE_ERROR: f64 = 64.0 * f64::EPSILON;
/// Bound on the relative error of `q` that the rounding of `kappa_l q` and `N_l kappa_l q` amounts to.
const ARGUMENT_ERROR: f64 = 2.0 * f64::EPSILON;
/// A Newton step is the last one if its own error is below this share of `q`.
const STOP: f64 = 2e-15;
/// More than any search has needed; reaching it costs tightness, never validity.
const MAX_STEPS: u32 = 100;
/// After so many steps the search halves the bracket instead.
const MAX_FAST_STEPS: u32 = 30;

/// Where an item's [`multi_position_divergence`] is smallest, and how small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultiPositionMinimum {
    /// The arg min over `[0, 1]`: the maximum-likelihood estimate of the item's attraction probability.
    pub theta: f64,
    /// The divergence there, in nats; an index is feasible if the level is at least this.
    pub divergence: f64,
}

/// `sum_l N_l d(S_l / N_l, kappa_l q)`, the function that the multi-position index inverts; may be `+inf`.
///
/// `q` outside `[0, 1]` counts as the nearer edge.
///
/// ```
/// // d(1/2, 1/4) = ln(4/3) / 2, four times
/// let phi = confidence::multi_position_divergence(&[2], &[4], &[0.5], 0.5);
/// assert!((phi - 2.0 * 0.287_682_072_451_780_9).abs() < 1e-14);
/// ```
pub fn multi_position_divergence(clicks: &[u64], shows: &[u64], examination: &[f64], q: f64) -> f64 {
    let q = q.clamp(0.0, 1.0);
    Item::new(clicks, shows, examination).at(q).value
}

/// The arg min of [`multi_position_divergence`] and its value there; `None` without data.
///
/// ```
/// let minimum = confidence::multi_position_minimum(&[3], &[10], &[0.5]).unwrap();
/// assert!((minimum.theta - 0.6).abs() < 1e-15);
/// assert!(confidence::multi_position_minimum(&[0], &[0], &[0.5]).is_none());
/// ```
pub fn multi_position_minimum(
    clicks: &[u64],
    shows: &[u64],
    examination: &[f64],
) -> Option<MultiPositionMinimum> {
    let item = Item::new(clicks, shows, examination);
    let totals = item.totals();
    if totals.clicks + totals.failures == 0.0 {
        return None;
    }
    let theta = item.minimum(&totals);
    Some(MultiPositionMinimum { theta, divergence: item.at(theta).value })
}

/// The upper multi-position KL index, equation (7) of the PBM paper; never below the true root.
///
/// See the [module](self) for the conventions.
///
/// ```
/// assert_eq!(confidence::multi_position_upper(&[0, 0], &[0, 0], &[0.9, 0.3], 5.0), 1.0);
/// ```
pub fn multi_position_upper(clicks: &[u64], shows: &[u64], examination: &[f64], level: f64) -> f64 {
    let item = Item::new(clicks, shows, examination);
    let totals = item.totals();
    if totals.failures == 0.0 || level.is_nan() {
        return 1.0;
    }
    item.solve::<true>(&totals, level.max(0.0))
}

/// The lower multi-position KL index; never above the true root.
///
/// See the [module](self) for the conventions.
///
/// ```
/// // Ten clicks in ten shows, always examined: -10 ln q = 2.
/// let lower = confidence::multi_position_lower(&[10], &[10], &[1.0], 2.0);
/// assert!((lower - 0.818_730_753_077_981_8).abs() < 1e-12);
/// ```
pub fn multi_position_lower(clicks: &[u64], shows: &[u64], examination: &[f64], level: f64) -> f64 {
    let item = Item::new(clicks, shows, examination);
    let totals = item.totals();
    if totals.clicks == 0.0 || level.is_nan() {
        return 0.0;
    }
    item.solve::<false>(&totals, level.max(0.0))
}

/// [`multi_position_upper`] by bisection: the straightforward code that the fast solver is tested against.
///
/// ```
/// let (clicks, shows, examination) = ([39, 20_249], [96, 60_133], [1.0, 0.786_674_059_098_672_6]);
/// let plain = confidence::multi_position_upper_bisection(&clicks, &shows, &examination, 13.0);
/// assert!((plain - confidence::multi_position_upper(&clicks, &shows, &examination, 13.0)).abs() < 1e-12);
/// ```
pub fn multi_position_upper_bisection(clicks: &[u64], shows: &[u64], examination: &[f64], level: f64) -> f64 {
    if level.is_nan() {
        return 1.0;
    }
    let Some(minimum) = multi_position_minimum(clicks, shows, examination) else { return 1.0 };
    let divergence = |q| multi_position_divergence(clicks, shows, examination, q);
    let level = level.max(0.0);
    if minimum.divergence > level {
        return minimum.theta;
    }
    if divergence(1.0) <= level {
        return 1.0;
    }
    let (mut low, mut high) = (minimum.theta, 1.0);
    for _ in 0..BISECTION_STEPS {
        let middle = 0.5 * (low + high);
        if divergence(middle) > level { high = middle } else { low = middle }
    }
    high
}

/// [`multi_position_lower`] by bisection: the straightforward code that the fast solver is tested against.
///
/// ```
/// let plain = confidence::multi_position_lower_bisection(&[10], &[10], &[1.0], 2.0);
/// assert!((plain - 0.818_730_753_077_981_8).abs() < 1e-12);
/// ```
pub fn multi_position_lower_bisection(clicks: &[u64], shows: &[u64], examination: &[f64], level: f64) -> f64 {
    if level.is_nan() {
        return 0.0;
    }
    let Some(minimum) = multi_position_minimum(clicks, shows, examination) else { return 0.0 };
    let divergence = |q| multi_position_divergence(clicks, shows, examination, q);
    let level = level.max(0.0);
    if minimum.divergence > level {
        return minimum.theta;
    }
    let (mut low, mut high) = (0.0, minimum.theta);
    for _ in 0..BISECTION_STEPS {
        let middle = 0.5 * (low + high);
        if divergence(middle) > level { low = middle } else { high = middle }
    }
    low
}

/// An item's counts.
#[derive(Clone, Copy)]
struct Item<'a> {
    clicks: &'a [u64],
    shows: &'a [u64],
    examination: &'a [f64],
}

/// Sums over the positions that can be examined.
struct Totals {
    clicks: f64,
    failures: f64,
    /// `sum_l kappa_l N_l`.
    examined: f64,
}

/// `Phi` and its derivatives at one `q`.
#[derive(Clone, Copy)]
struct Point {
    value: f64,
    slope: f64,
    curvature: f64,
    third: f64,
    /// `sum_l |Phi_l'|`: what a relative error of `q` in single positions costs, over `q`.
    slope_size: f64,
}

#[inline]
#[expect(
    clippy::cast_possible_wrap,
    reason = "below 2^62 after the minimum; the signed conversion is one instruction"
)]
fn count(n: u64) -> f64 {
    n.min(1 << 62) as i64 as f64
}

impl<'a> Item<'a> {
    #[inline]
    fn new(clicks: &'a [u64], shows: &'a [u64], examination: &'a [f64]) -> Self {
        let positions = clicks.len().min(shows.len()).min(examination.len());
        Self {
            clicks: &clicks[..positions],
            shows: &shows[..positions],
            examination: &examination[..positions],
        }
    }

    /// (clicks, failures, examination probability) of the positions that carry information.
    #[inline]
    fn positions(self) -> impl Iterator<Item = (f64, f64, f64)> {
        let counts = self.clicks.iter().zip(self.shows).zip(self.examination);
        // NaN compares false.
        counts.filter(|((_, shows), kappa)| **shows > 0 && **kappa > 0.0).map(
            |((&clicks, &shows), &kappa)| {
                let clicks = clicks.min(shows);
                (count(clicks), count(shows - clicks), kappa.min(1.0))
            },
        )
    }

    #[inline]
    fn totals(self) -> Totals {
        let mut totals = Totals { clicks: 0.0, failures: 0.0, examined: 0.0 };
        for (clicks, failures, kappa) in self.positions() {
            totals.clicks += clicks;
            totals.failures += failures;
            totals.examined += kappa * (clicks + failures);
        }
        totals
    }

    #[inline]
    fn at(self, q: f64) -> Point {
        let mut point = Point { value: 0.0, slope: 0.0, curvature: 0.0, third: 0.0, slope_size: 0.0 };
        let over_q = 1.0 / q;
        for (clicks, failures, kappa) in self.positions() {
            let n = clicks + failures;
            let mean = kappa * q;
            let miss = 1.0 - mean;
            let expected = n * mean;
            let excess = expected - clicks;
            point.value +=
                relative_entropy(clicks, expected, excess) + relative_entropy(failures, n * miss, -excess);
            let success_rate = if clicks > 0.0 { clicks * over_q } else { 0.0 };
            let (failure_rate, rate) =
                if failures > 0.0 { (failures * kappa / miss, kappa / miss) } else { (0.0, 0.0) };
            let slope = failure_rate - success_rate;
            point.slope += slope;
            point.slope_size += slope.abs();
            point.curvature += success_rate * over_q + failure_rate * rate;
            point.third += 2.0 * (failure_rate * rate * rate - success_rate * over_q * over_q);
        }
        point
    }

    /// The arg min of `Phi` over `[0, 1]`, given that there is data.
    fn minimum(self, totals: &Totals) -> f64 {
        if totals.clicks == 0.0 {
            return 0.0;
        }
        // q Phi'(q) = -S + sum_l F_l kappa_l q / (1 - kappa_l q) increases in q.
        if totals.failures == 0.0 || self.scaled_slope(1.0).0 <= 0.0 {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        let mut q = (totals.clicks / totals.examined).min(1.0 - 1e-9);
        for _ in 0..MAX_STEPS {
            let (value, derivative) = self.scaled_slope(q);
            *if value > 0.0 { &mut high } else { &mut low } = q;
            let next = q - value / derivative;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - q).abs() <= 1e-16 * q || next <= low || next >= high {
                break;
            }
            q = next;
        }
        q
    }

    /// `q Phi'(q)` and its derivative.
    fn scaled_slope(self, q: f64) -> (f64, f64) {
        let (mut value, mut derivative) = (0.0, 0.0);
        for (clicks, failures, kappa) in self.positions() {
            value -= clicks;
            if failures > 0.0 {
                let miss = 1.0 - kappa * q;
                value += failures * kappa * q / miss;
                derivative += failures * kappa / (miss * miss);
            }
        }
        (value, derivative)
    }

    /// The index on one side of the arg min, given that it is not decided by the edge conventions.
    fn solve<const UPPER: bool>(self, totals: &Totals, level: f64) -> f64 {
        let sign = if UPPER { 1.0 } else { -1.0 };
        let edge = if UPPER { 1.0 } else { 0.0 };
        let theta = self.minimum(totals);
        if theta == edge || (UPPER && self.at(1.0).value <= level) {
            return edge;
        }
        let bottom = self.at(theta);
        // What the level leaves above the minimum, in favour of a larger set by the rounding error of the minimum.
        let budget = level - bottom.value + VALUE_ERROR * bottom.value;
        if budget <= 0.0 {
            return outward::<UPPER>(theta);
        }
        let mut q = theta + sign * sqrt(2.0 * budget / bottom.curvature);
        // The root lies between the two: `inner` is on the side of theta.
        let (mut inner, mut outer) = (theta, edge);
        for step in 0..MAX_STEPS {
            let inside = sign * (q - inner) > 0.0 && sign * (outer - q) > 0.0;
            if !inside || step >= MAX_FAST_STEPS {
                q = 0.5 * (inner + outer);
            }
            let point = self.at(q);
            // Rounding may hide the slope next to a very flat minimum; move out until it shows.
            if sign * point.slope <= 0.0 {
                inner = q;
                continue;
            }
            let h = (level - point.value) / point.slope;
            let a = 0.5 * point.curvature / point.slope;
            if (a * h * h).abs() <= STOP * q || step + 1 == MAX_STEPS {
                let value_error = VALUE_ERROR * (point.value + level);
                let argument_error = ARGUMENT_ERROR * q * point.slope_size;
                return outward::<UPPER>(q + h + (value_error + argument_error) / point.slope);
            }
            *if point.value > level { &mut outer } else { &mut inner } = q;
            let b = point.third / (6.0 * point.slope);
            q += h / (1.0 + h * (a + h * (b - a * a)));
        }
        edge
    }
}

/// Rounds away from the arg min, by more than the last operations can have rounded towards it.
#[inline]
fn outward<const UPPER: bool>(q: f64) -> f64 {
    if UPPER { (q * (1.0 + 4.0 * f64::EPSILON)).min(1.0) } else { (q * (1.0 - 4.0 * f64::EPSILON)).max(0.0) }
}
