//! KL-UCB indices: the largest and the smallest mean that the observations still allow.
//!
//! # Definition
//!
//! ```text
//! upper = max { q in [p, 1] : n d(p, q) <= level },      lower = min { q in [0, p] : n d(p, q) <= level }
//! ```
//!
//! with the Bernoulli divergence `d` of [`bernoulli_kl`]. It is a bound for the mean of any variable in `[0, 1]`.
//!
//! Reference: Garivier and Cappe, *The KL-UCB algorithm for bounded stochastic bandits and beyond*, COLT 2011, Algorithm 1;
//! the lower index as in Katariya et al., *Bernoulli rank-1 bandits*, 2017, section 3. Deviations: none. (Where papers write
//! `arg max`, the maximal `q` is meant.)
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `mean` | `p`, `S / N` | number in `[0, 1]` | probability |
//! | `n` | `N` | count, need not be whole | observations |
//! | `level` | `delta`, `f(t)` | number, not negative | nats |
//! | result | `U`, `L` | number in `[0, 1]` | probability |
//!
//! # Numerics
//!
//! `n = 0` gives 1 and 0, a level of 0 gives the mean. Means outside `[0, 1]` count as the nearer edge, a negative level as 0,
//! a negative count as 0; a NaN argument and an infinite level count as no information.
//!
//! The solver looks for the displacement `x = |q - p|`. `d` is convex in it, so a Newton step from *any* point ends
//! on the far side of the root, because the tangent lies below the function. The last step is such a step, plus a bound on
//! its rounding error: **an upper index never lies below the true root and a lower one never above it**. Before, steps of third
//! order from a closed-form guess bring the point so close that the last step is off by less than 1e-14 of `x`. The
//! result is a function of the arguments alone, with the same bits on every x86-64 processor.
//!
//! Complexity: constant; mostly two evaluations of `d`.
//!
//! ```
//! // p = 0: n (-ln(1 - q)) = level, so q = 1 - exp(-level / n). With level = ln 10 and n = 1, q = 0.9.
//! let upper = confidence::kl_ucb_upper(0.0, 1.0, core::f64::consts::LN_10);
//! assert!((upper - 0.9).abs() < 1e-15);
//! ```

use crate::divergence::bernoulli_kl;
use crate::math::{ln, relative_entropy, relative_entropy_of_normal, sqrt};

/// Steps of the bisection references: enough to halve `[0, 1]` down to the spacing of the numbers near 1.
const BISECTION_STEPS: u32 = 53;

/// The upper KL-UCB index `max { q in [mean, 1] : n d(mean, q) <= level }`; never below the true root.
///
/// See the [module](self) for what happens at the edges and out of range.
///
/// ```
/// // d(1/2, q) = ln(4/3) / 2 at q = 3/4, by symmetry with d(1/2, 1/4).
/// let upper = confidence::kl_ucb_upper(0.5, 2.0, 0.287_682_072_451_780_9);
/// assert!((upper - 0.75).abs() < 1e-14);
/// assert_eq!(confidence::kl_ucb_upper(0.5, 0.0, 1.0), 1.0);
/// ```
#[inline]
pub fn kl_ucb_upper(mean: f64, n: f64, level: f64) -> f64 {
    let Some((p, c)) = checked(mean, n, level) else { return 1.0 };
    if c <= 0.0 {
        return p;
    }
    if p == 0.0 {
        return round_up(-libm::expm1(-c)).min(1.0);
    }
    if p == 1.0 {
        return 1.0;
    }
    let x = displacement(p, 1.0 - p, c);
    round_up(p + x).min(1.0)
}

/// The lower KL-UCB index `min { q in [0, mean] : n d(mean, q) <= level }`; never above the true root.
///
/// See the [module](self) for what happens at the edges and out of range.
///
/// ```
/// let lower = confidence::kl_ucb_lower(0.5, 2.0, 0.287_682_072_451_780_9);
/// assert!((lower - 0.25).abs() < 1e-14);
/// assert_eq!(confidence::kl_ucb_lower(0.5, 0.0, 1.0), 0.0);
/// ```
#[inline]
pub fn kl_ucb_lower(mean: f64, n: f64, level: f64) -> f64 {
    let Some((p, c)) = checked(mean, n, level) else { return 0.0 };
    if c <= 0.0 {
        return p;
    }
    if p == 1.0 {
        return round_down(libm::exp(-c)).max(0.0);
    }
    if p == 0.0 {
        return 0.0;
    }
    let x = displacement(1.0 - p, p, c);
    round_down(p - x).max(0.0)
}

/// [`kl_ucb_upper`] of many arms at one level: `out[i]` is the index of the arm with mean `means[i]` and `n[i]` observations.
///
/// Exactly the same numbers as one call an arm, in less time: eight arms at once, stage by stage, so that their
/// dependent operations overlap and share vector registers. Works on the common length of the slices and leaves the rest of
/// `out` alone.
///
/// ```
/// use confidence::{kl_ucb_upper, kl_ucb_upper_batch};
///
/// let (means, n) = ([0.1, 0.5, 0.9], [10.0, 100.0, 0.0]);
/// let mut out = [0.0; 3];
/// kl_ucb_upper_batch(&means, &n, 2.0, &mut out);
/// assert_eq!(out, [0, 1, 2].map(|arm| kl_ucb_upper(means[arm], n[arm], 2.0)));
/// ```
pub fn kl_ucb_upper_batch(means: &[f64], n: &[f64], level: f64, out: &mut [f64]) {
    batch::<true>(means, n, level, out);
}

/// [`kl_ucb_lower`] of many arms at one level, the mirror image of [`kl_ucb_upper_batch`].
///
/// ```
/// let mut out = [0.0; 2];
/// confidence::kl_ucb_lower_batch(&[0.5, 0.5], &[10.0, 0.0], 2.0, &mut out);
/// assert_eq!(out, [confidence::kl_ucb_lower(0.5, 10.0, 2.0), 0.0]);
/// ```
pub fn kl_ucb_lower_batch(means: &[f64], n: &[f64], level: f64, out: &mut [f64]) {
    batch::<false>(means, n, level, out);
}

/// Arms that a batch treats together.
const LANES: usize = 8;

#[inline]
fn batch<const UPPER: bool>(means: &[f64], n: &[f64], level: f64, out: &mut [f64]) {
    let arms = means.len().min(n.len()).min(out.len());
    let (means, n, out) = (&means[..arms], &n[..arms], &mut out[..arms]);
    let (mean_blocks, means) = means.as_chunks::<LANES>();
    let (n_blocks, n) = n.as_chunks::<LANES>();
    let (out_blocks, out) = out.as_chunks_mut::<LANES>();
    for ((means, n), out) in mean_blocks.iter().zip(n_blocks).zip(out_blocks) {
        block::<UPPER>(means, n, level, out);
    }
    for ((&mean, &n), out) in means.iter().zip(n).zip(out) {
        *out = if UPPER { kl_ucb_upper(mean, n, level) } else { kl_ucb_lower(mean, n, level) };
    }
}

/// One block: the stages of [`displacement`] for all lanes, and the scalar function for lanes that are not ordinary.
#[inline]
fn block<const UPPER: bool>(means: &[f64; LANES], n: &[f64; LANES], level: f64, out: &mut [f64; LANES]) {
    let mut ordinary = [false; LANES];
    let (mut a, mut b, mut c, mut x) = ([0.5; LANES], [0.5; LANES], [1.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let (mean, per_show) = (means[lane], level / n[lane]);
        // False for NaN, too.
        ordinary[lane] =
            (TINY..1.0).contains(&mean) && (TINY..f64::INFINITY).contains(&per_show) && n[lane] > 0.0;
        if ordinary[lane] {
            (a[lane], b[lane]) = if UPPER { (mean, 1.0 - mean) } else { (1.0 - mean, mean) };
            c[lane] = per_show;
        }
    }
    for lane in 0..LANES {
        x[lane] = middle_guess(a[lane], b[lane], c[lane]);
    }
    for lane in 0..LANES {
        if x[lane] > EDGE * b[lane] {
            x[lane] = edge_guess(a[lane], b[lane], c[lane]);
            ordinary[lane] &= x[lane] < b[lane];
            x[lane] = if ordinary[lane] { x[lane] } else { 0.5 * b[lane] };
        }
    }
    for lane in 0..LANES {
        let place = Place::at::<true>(a[lane], b[lane], x[lane]);
        x[lane] = place.onwards_nearby(c[lane]);
        ordinary[lane] &= place.is_near(c[lane]) && 0.0 < x[lane] && x[lane] < b[lane];
        x[lane] = if ordinary[lane] { x[lane] } else { 0.5 * b[lane] };
    }
    let mut end = [0.0; LANES];
    for lane in 0..LANES {
        let place = Place::at::<false>(a[lane], b[lane], x[lane]);
        let (last, there) = place.newton(c[lane]);
        ordinary[lane] &= last;
        end[lane] = there;
    }
    for lane in 0..LANES {
        out[lane] = match (ordinary[lane], UPPER) {
            (true, true) => round_up(means[lane] + end[lane]).min(1.0),
            (true, false) => round_down(means[lane] - end[lane]).max(0.0),
            (false, true) => kl_ucb_upper(means[lane], n[lane], level),
            (false, false) => kl_ucb_lower(means[lane], n[lane], level),
        };
    }
}

/// [`kl_ucb_upper`] by bisection: the straightforward code that every faster way is tested against.
///
/// Returns the upper end of the last bracket.
///
/// ```
/// let plain = confidence::kl_ucb_upper_bisection(0.3, 10.0, 2.0);
/// assert!((plain - confidence::kl_ucb_upper(0.3, 10.0, 2.0)).abs() < 1e-14);
/// ```
pub fn kl_ucb_upper_bisection(mean: f64, n: f64, level: f64) -> f64 {
    let Some((p, c)) = checked(mean, n, level) else { return 1.0 };
    if c <= 0.0 {
        return p;
    }
    let (mut low, mut high) = (p, 1.0);
    for _ in 0..BISECTION_STEPS {
        let middle = 0.5 * (low + high);
        if bernoulli_kl(p, middle) > c { high = middle } else { low = middle }
    }
    high
}

/// [`kl_ucb_lower`] by bisection: the straightforward code that every faster way is tested against.
///
/// Returns the lower end of the last bracket.
///
/// ```
/// let plain = confidence::kl_ucb_lower_bisection(0.3, 10.0, 2.0);
/// assert!((plain - confidence::kl_ucb_lower(0.3, 10.0, 2.0)).abs() < 1e-14);
/// ```
pub fn kl_ucb_lower_bisection(mean: f64, n: f64, level: f64) -> f64 {
    let Some((p, c)) = checked(mean, n, level) else { return 0.0 };
    if c <= 0.0 {
        return p;
    }
    let (mut low, mut high) = (0.0, p);
    for _ in 0..BISECTION_STEPS {
        let middle = 0.5 * (low + high);
        if bernoulli_kl(p, middle) > c { low = middle } else { high = middle }
    }
    low
}

/// Mean in `[0, 1]` and level per observation, or `None` when nothing is known.
#[inline]
fn checked(mean: f64, n: f64, level: f64) -> Option<(f64, f64)> {
    if n <= 0.0 || n.is_nan() || mean.is_nan() || level.is_nan() || level == f64::INFINITY {
        return None;
    }
    Some((mean.clamp(0.0, 1.0), level / n))
}

/// Up by at least one unit in the last place.
#[inline]
fn round_up(x: f64) -> f64 {
    x * (1.0 + f64::EPSILON) + f64::MIN_POSITIVE
}

/// Down by at least one unit in the last place; may become negative.
#[inline]
fn round_down(x: f64) -> f64 {
    x * (1.0 - f64::EPSILON) - f64::MIN_POSITIVE
}

/// Bound on the relative rounding error of a computed divergence.
const VALUE_ERROR: f64 = 32.0 * f64::EPSILON;
/// A Newton step is the last one if its own error is below half of this share of the displacement.
const STOP: f64 = 1e-14;
/// More than any search has needed; reaching it costs tightness, never validity.
const MAX_STEPS: u32 = 100;
/// After so many steps the search halves the bracket instead.
const MAX_FAST_STEPS: u32 = 30;
/// Below this the solver's products could leave the range of normal numbers.
const TINY: f64 = 1e-150;

/// The displacement `x` in `(0, b]` with `a ln(a / (a + x)) + b ln(b / (b - x)) = c`, rounded up, where `b = 1 - a`.
///
/// The upper index of mean `p` is `p + x` for `a = p`; the lower one is `p - x` for `a = 1 - p`.
///
/// `b` may be a rounded `1 - a`: for `a < 1/2` it is off by up to 2^-54, which moves the root by no more than that, that
/// is by half a unit in the last place of an index above 1/2, and which [`round_up`] covers.
#[inline]
fn displacement(a: f64, b: f64, c: f64) -> f64 {
    if a < TINY || c < TINY {
        return displacement_by_bisection(a, b, c);
    }
    let mut x = guess(a, b, c);
    if x >= b {
        return b;
    }
    // Always one rough step: cheaper than finding out whether the guess was good enough.
    x = Place::at::<true>(a, b, x).onwards(c);
    let (mut low, mut high) = (0.0, b);
    for step in 0..MAX_STEPS {
        if !(low < x && x < high) || step >= MAX_FAST_STEPS {
            x = 0.5 * (low + high);
        }
        let place = Place::at::<false>(a, b, x);
        let (last, end) = place.newton(c);
        if last || step + 1 == MAX_STEPS {
            return end;
        }
        *if c > place.divergence { &mut low } else { &mut high } = x;
        x = place.onwards(c);
    }
    b
}

/// The divergence at one displacement.
struct Place {
    a: f64,
    b: f64,
    x: f64,
    u: f64,
    w: f64,
    divergence: f64,
    /// One over the derivative of the divergence, which is `x / (u w)`.
    over_slope: f64,
}

impl Place {
    #[inline]
    fn at<const ROUGH: bool>(a: f64, b: f64, x: f64) -> Self {
        let (u, w) = (a + x, b - x);
        let divergence =
            relative_entropy_of_normal::<ROUGH>(a, u, x) + relative_entropy_of_normal::<ROUGH>(b, w, -x);
        Self { a, b, x, u, w, divergence, over_slope: u * w / x }
    }

    /// Whether a Newton step from here is good enough to be the last, and where it ends, rounded up.
    #[inline]
    fn newton(&self, c: f64) -> (bool, f64) {
        let h = (c - self.divergence) * self.over_slope;
        // A Newton step of size h is off by at most about h^2 / 2 (1 / x + 1 / w) = h^2 b / (2 x w).
        let last = h * h * self.b <= STOP * (self.x * self.x * self.w);
        let error = VALUE_ERROR * (c + self.divergence) * self.over_slope;
        let end = round_up(self.x + h + error);
        (last, if end < self.b { end } else { self.b })
    }

    /// The displacement after a step of third order towards the level `c`.
    #[inline]
    fn onwards(&self, c: f64) -> f64 {
        if self.is_near(c) {
            self.onwards_nearby(c)
        } else {
            // Far off, the divergence is nearly quadratic.
            self.x * sqrt(c / self.divergence)
        }
    }

    #[inline]
    fn is_near(&self, c: f64) -> bool {
        (c - self.divergence).abs() * self.over_slope <= self.x
    }

    /// The inverse function to third order, as a quotient, which does not overshoot where 1 - q decays.
    #[inline]
    fn onwards_nearby(&self, c: f64) -> f64 {
        let h = (c - self.divergence) * self.over_slope;
        let (over_u, over_w) = (1.0 / self.u, 1.0 / self.w);
        let (curvature_u, curvature_w) = (self.a * over_u * over_u, self.b * over_w * over_w);
        let second = 0.5 * (curvature_u + curvature_w) * self.over_slope;
        let third = (1.0 / 3.0) * (curvature_w * over_w - curvature_u * over_u) * self.over_slope;
        self.x + h / (1.0 + h * (second + h * (third - second * second)))
    }
}

/// Beyond this share of `b`, [`guess`] looks at the edge instead of at the middle.
const EDGE: f64 = 0.7;

/// A first guess for [`displacement`], right to a few per cent for most arms.
#[inline]
pub(crate) fn guess(a: f64, b: f64, c: f64) -> f64 {
    let x = middle_guess(a, b, c);
    if x <= EDGE * b { x } else { edge_guess(a, b, c) }
}

/// [`guess`] close to the edge, where the divergence is `a ln a + b ln(b / w) + a w` up to the square of `w = b - x`.
#[inline]
fn edge_guess(a: f64, b: f64, c: f64) -> f64 {
    let decay = b * libm::exp((a * ln(a) - c) / b);
    let w = (decay * (1.0 + a * decay / b)).min(0.5 * b);
    // A w that vanishes beside b is the edge itself.
    b - w
}

/// [`guess`] far from the edge.
///
/// The divergence is the integral of `x / (q (1 - q))` from `p`; with the variance taken two thirds of the way to `q` it
/// becomes quadratic: `x^2 = 2 c V(p + 2 x / 3)`, `V(t) = t (1 - t)`.
#[inline]
fn middle_guess(a: f64, b: f64, c: f64) -> f64 {
    let skew = (b - a) * c * (2.0 / 3.0);
    let scale = 1.0 + (8.0 / 9.0) * c;
    (skew + sqrt(skew * skew + 2.0 * c * (a * b) * scale)) * (1.0 / scale)
}

/// [`displacement`] where the arguments are too small for its formulas.
#[cold]
fn displacement_by_bisection(a: f64, b: f64, c: f64) -> f64 {
    let (mut low, mut high) = (0.0, b);
    loop {
        let x = 0.5 * (low + high);
        if x <= low || x >= high {
            return high * (1.0 + VALUE_ERROR);
        }
        let divergence = relative_entropy(a, a + x, x) + relative_entropy(b, b - x, -x);
        *if divergence > c { &mut high } else { &mut low } = x;
    }
}
