//! One item's counts, its divergence `Phi`, and the search for the index.

use super::LEAST_EXAMINATION;
use crate::klucb::guess as displacement_guess;
use crate::math::{ln_ratio, relative_entropy, relative_entropy_of_normal, sqrt};

/// Bound on the relative rounding error of a computed `Phi`; see [`Point`].
const VALUE_ERROR: f64 = 64.0 * f64::EPSILON;
/// Bound on the relative rounding error of each sum of logarithms in [`Item::shifted`].
const DIFFERENCE_ERROR: f64 = 16.0 * f64::EPSILON;
/// Bound on the relative error of `q` that is equivalent to the rounding of `kappa_l q` and
/// `N_l kappa_l q`.
const ARGUMENT_ERROR: f64 = 2.0 * f64::EPSILON;
/// A Newton step is the last one if its own error is below this share of `q`.
const STOP: f64 = 2e-15;
/// More steps than any search has needed; reaching the limit costs tightness, not validity.
const MAX_STEPS: u32 = 100;
/// Steps from a good guess before the careful search takes over.
const MAX_REFINEMENTS: u32 = 6;
/// After this number of steps the search halves the bracket instead.
const MAX_FAST_STEPS: u32 = 30;

/// An item's counts.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    clicks: &'a [u64],
    shows: &'a [u64],
    examination: &'a [f64],
}

/// Sums over the positions that can be examined.
pub(super) struct Totals {
    pub(super) clicks: f64,
    pub(super) failures: f64,
    /// `sum_l kappa_l N_l`.
    examined: f64,
}

/// `Phi` and its derivatives at one `q`.
#[derive(Clone, Copy, Default)]
struct Point {
    value: f64,
    /// Bound on the rounding error of `value`.
    value_error: f64,
    slope: f64,
    curvature: f64,
    third: f64,
    /// `sum_l |Phi_l'|`: the effect of a relative error of `q` in single positions, divided by `q`.
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
    pub(super) fn new(clicks: &'a [u64], shows: &'a [u64], examination: &'a [f64]) -> Self {
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
        counts.filter(|((_, shows), kappa)| **shows > 0 && **kappa >= LEAST_EXAMINATION).map(
            |((&clicks, &shows), &kappa)| {
                let clicks = clicks.min(shows);
                (count(clicks), count(shows - clicks), kappa.min(1.0))
            },
        )
    }

    #[inline]
    pub(super) fn totals(self) -> Totals {
        let mut totals = Totals { clicks: 0.0, failures: 0.0, examined: 0.0 };
        for (clicks, failures, kappa) in self.positions() {
            totals.clicks += clicks;
            totals.failures += failures;
            totals.examined += kappa * (clicks + failures);
        }
        totals
    }

    #[inline]
    pub(super) fn value(self, q: f64) -> f64 {
        let cost = |(clicks, failures, kappa): (f64, f64, f64)| {
            let (n, mean) = (clicks + failures, kappa * q);
            let excess = n * mean - clicks;
            relative_entropy(clicks, n * mean, excess) + relative_entropy(failures, n * (1.0 - mean), -excess)
        };
        self.positions().map(cost).sum()
    }

    /// `Phi` at `q`; `ORDINARY` promises that `q` is neither 0 nor 1 nor tiny.
    fn at<const ORDINARY: bool>(self, q: f64) -> Point {
        let mut point = Point::default();
        let over_q = 1.0 / q;
        for (clicks, failures, kappa) in self.positions() {
            let n = clicks + failures;
            let mean = kappa * q;
            let miss = 1.0 - mean;
            let (expected, expected_failures) = (n * mean, n * miss);
            let excess = expected - clicks;
            point.value += if ORDINARY {
                relative_entropy_of_normal::<false>(clicks, expected, excess)
                    + relative_entropy_of_normal::<false>(failures, expected_failures, -excess)
            } else {
                relative_entropy(clicks, expected, excess)
                    + relative_entropy(failures, expected_failures, -excess)
            };
            // At q = 1 = kappa without failures, 0 / 0.
            let rate = if ORDINARY || failures > 0.0 { kappa / miss } else { 0.0 };
            point.add_slopes(clicks * over_q, failures * rate, over_q, rate);
        }
        point.value_error = VALUE_ERROR * point.value;
        point
    }

    /// `Phi` at `to`, from its value at a nearby point `from`: sums only the differences of
    /// logarithms.
    ///
    /// Both points are ordinary in the sense of [`Self::at`].
    #[inline]
    fn shifted(self, anchor: &Point, from: f64, to: f64) -> Point {
        let mut point = Point::default();
        let over_q = 1.0 / to;
        let shift = to - from;
        let (mut clicks_total, mut loss) = (0.0, 0.0);
        for (clicks, failures, kappa) in self.positions() {
            let miss = 1.0 - kappa * to;
            let rate = kappa / miss;
            clicks_total += clicks;
            loss += failures * ln_ratio(miss, 1.0 - kappa * from, kappa * shift);
            point.add_slopes(clicks * over_q, failures * rate, over_q, rate);
        }
        let gain = clicks_total * ln_ratio(from, to, shift);
        point.value = anchor.value + (loss - gain);
        point.value_error = anchor.value_error + DIFFERENCE_ERROR * (loss.abs() + gain.abs());
        point.slope_size = point.slope_size.max(anchor.slope_size);
        point
    }

    /// The arg min of `Phi` over `[0, 1]`, given that there is data.
    pub(super) fn minimum(self, totals: &Totals) -> f64 {
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
    #[inline]
    pub(super) fn solve<const UPPER: bool>(self, totals: &Totals, level: f64) -> f64 {
        let found = match self.guess::<UPPER>(totals, level) {
            // With few observations every value may be allowed: one evaluation at the edge decides.
            Some(guess) if UPPER && guess >= 0.99 => {
                if self.value(1.0) <= level {
                    return 1.0;
                }
                self.refine::<UPPER>(guess.min(0.99), level)
            }
            Some(guess) => self.refine::<UPPER>(guess, level),
            None => None,
        };
        match found {
            Some(q) => q,
            None => self.search::<UPPER>(totals, level),
        }
    }

    /// A first guess at the index, from slopes at the pooled estimate; `None` if it needs the
    /// careful search.
    ///
    /// Near its minimum `m` the function is approximated by that of a single position,
    /// `n d(mu, mu q / m)`, with `mu` and `n` such that the second and third derivatives agree:
    /// `mu = (r + 2) / (r + 4)` for `r = m Phi''' / Phi''`.
    fn guess<const UPPER: bool>(self, totals: &Totals, level: f64) -> Option<f64> {
        if UPPER && totals.clicks == 0.0 {
            return Some(self.guess_without_clicks(level));
        }
        let q = (totals.clicks / totals.examined).min(0.98);
        if q < 1e-9 {
            return None;
        }
        let (mut value, mut slope, mut curvature, mut third) = (0.0, 0.0, 0.0, 0.0);
        let over_q = 1.0 / q;
        for (clicks, failures, kappa) in self.positions() {
            let mean = kappa * q;
            let miss = 1.0 - mean;
            let rate = kappa / miss;
            let excess = (clicks + failures) * mean - clicks;
            // q Phi' and the chi-square approximation of Phi.
            let change = excess / miss;
            slope += change;
            value += 0.5 * excess * change / ((clicks + failures) * mean);
            let failures = failures * rate * rate;
            curvature += failures;
            third += failures * rate;
        }
        let successes = totals.clicks * over_q * over_q;
        curvature += successes;
        third = 2.0 * (third - successes * over_q);
        slope *= over_q;
        let minimum = q - slope / curvature;
        let budget = level - (value - 0.5 * slope * (slope / curvature));
        let ratio = q * third / curvature;
        let mean = (ratio + 2.0) / (ratio + 4.0);
        if !(0.0 < minimum && minimum < 1.0 && budget > 0.01 * level && 0.0 < mean && mean < 1.0) {
            return None;
        }
        let stretch = minimum / mean;
        let per_show = budget * mean / (curvature * minimum * minimum * (1.0 - mean));
        let guess = if UPPER {
            minimum + stretch * displacement_guess(mean, 1.0 - mean, per_show)
        } else {
            minimum - stretch * displacement_guess(1.0 - mean, mean, per_show)
        };
        (guess > 0.0).then_some(guess)
    }

    /// The guess without clicks: `Phi(q) = -sum_l F_l ln(1 - kappa_l q)`, with one mean `kappa` for
    /// all positions.
    fn guess_without_clicks(self, level: f64) -> f64 {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (_, failures, kappa) in self.positions() {
            slope += failures * kappa;
            curvature += failures * kappa * kappa;
        }
        -libm::expm1(-level * curvature / (slope * slope)) * slope / curvature
    }

    /// Steps of third order from a good guess; `None` if one of them is implausible.
    fn refine<const UPPER: bool>(self, guess: f64, level: f64) -> Option<f64> {
        let ordinary = |q: f64| 1e-30 < q && q < 1.0;
        if !ordinary(guess) {
            return None;
        }
        let (mut q, mut from) = (guess, guess);
        let mut anchor = self.at::<true>(q);
        let mut step = anchor.step::<UPPER>(q, level)?;
        for _ in 0..MAX_REFINEMENTS {
            if step.last {
                return Some(step.end);
            }
            q += step.onwards;
            if !ordinary(q) {
                return None;
            }
            // Differences are as accurate as values only between nearby points.
            let point = if (q - from).abs() <= 0.3 * q {
                self.shifted(&anchor, from, q)
            } else {
                from = q;
                anchor = self.at::<true>(q);
                anchor
            };
            step = point.step::<UPPER>(q, level)?;
        }
        None
    }

    /// The index by a search that keeps it in a bracket.
    #[cold]
    fn search<const UPPER: bool>(self, totals: &Totals, level: f64) -> f64 {
        let sign = if UPPER { 1.0 } else { -1.0 };
        let edge = if UPPER { 1.0 } else { 0.0 };
        let theta = self.minimum(totals);
        if theta == edge || (UPPER && self.value(1.0) <= level) {
            return edge;
        }
        let bottom = self.at::<false>(theta);
        // The level above the minimum, increased by the rounding error of the minimum, so that the
        // set can only grow.
        let budget = level - bottom.value + VALUE_ERROR * bottom.value;
        if budget <= 0.0 {
            return outward::<UPPER>(theta);
        }
        let mut q = if theta == 0.0 {
            self.guess_without_clicks(level)
        } else {
            theta + sign * sqrt(2.0 * budget / bottom.curvature)
        };
        // The root lies between the two: `inner` is on the side of theta.
        let (mut inner, mut outer) = (theta, edge);
        let mut end = edge;
        for step in 0..MAX_STEPS {
            let inside = sign * (q - inner) > 0.0 && sign * (outer - q) > 0.0;
            if !inside || step >= MAX_FAST_STEPS {
                q = 0.5 * (inner + outer);
            }
            let point = self.at::<false>(q);
            // Rounding may hide the slope next to a very flat minimum; move outwards until it is
            // visible.
            let Some(step) = point.step::<UPPER>(q, level) else {
                inner = q;
                continue;
            };
            end = step.end;
            if step.last {
                break;
            }
            *if point.value > level { &mut outer } else { &mut inner } = q;
            q += step.onwards;
        }
        end
    }
}

/// The possible next points of the search.
struct Step {
    /// The end of the Newton step, rounded outward: beyond the root, for any start.
    end: f64,
    /// Whether that end is as close to the root as possible.
    last: bool,
    /// The step of third order.
    onwards: f64,
}

impl Point {
    /// One position's share of the derivatives: `rate` is the derivative of `-ln(1 - kappa q)`,
    /// `over_q` that of `ln q`.
    #[inline]
    fn add_slopes(&mut self, success_slope: f64, failure_slope: f64, over_q: f64, rate: f64) {
        let slope = failure_slope - success_slope;
        self.slope += slope;
        self.slope_size += slope.abs();
        let (success_curvature, failure_curvature) = (success_slope * over_q, failure_slope * rate);
        self.curvature += success_curvature + failure_curvature;
        self.third += 2.0 * (failure_curvature * rate - success_curvature * over_q);
    }

    /// `None` on the wrong side of the arg min.
    fn step<const UPPER: bool>(&self, q: f64, level: f64) -> Option<Step> {
        let sign = if UPPER { 1.0 } else { -1.0 };
        if sign * self.slope <= 0.0 || self.slope.is_nan() {
            return None;
        }
        let over_slope = 1.0 / self.slope;
        let h = (level - self.value) * over_slope;
        let a = 0.5 * self.curvature * over_slope;
        let b = (1.0 / 6.0) * self.third * over_slope;
        let value_error = self.value_error + VALUE_ERROR * level;
        let argument_error = ARGUMENT_ERROR * q * self.slope_size;
        Some(Step {
            end: outward::<UPPER>(q + h + (value_error + argument_error) * over_slope),
            last: (a * h * h).abs() <= STOP * q,
            onwards: h / (1.0 + h * (a + h * (b - a * a))),
        })
    }
}

/// Rounds away from the arg min by more than the rounding error of the last operations.
fn outward<const UPPER: bool>(q: f64) -> f64 {
    if UPPER { (q * (1.0 + 4.0 * f64::EPSILON)).min(1.0) } else { (q * (1.0 - 4.0 * f64::EPSILON)).max(0.0) }
}
