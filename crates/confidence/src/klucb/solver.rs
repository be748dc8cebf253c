//! The equation behind both indices: how far from the mean the divergence reaches a level.

use crate::math::{ln, relative_entropy, sqrt, two_relative_entropies};

/// Rounds up by at least one unit in the last place.
pub(super) fn round_up(x: f64) -> f64 {
    x * (1.0 + f64::EPSILON) + f64::MIN_POSITIVE
}

/// Rounds down by at least one unit in the last place; may become negative.
pub(super) fn round_down(x: f64) -> f64 {
    x * (1.0 - f64::EPSILON) - f64::MIN_POSITIVE
}

/// Bound on the relative rounding error of a computed divergence.
const VALUE_ERROR: f64 = 32.0 * f64::EPSILON;
/// A Newton step is the last one if its own error is below half of this share of the displacement.
const STOP: f64 = 1e-14;
/// More steps than any search has needed; reaching the limit costs tightness, not validity.
const MAX_STEPS: u32 = 100;
/// After this number of steps the search halves the bracket instead.
const MAX_FAST_STEPS: u32 = 30;
/// Below this the solver's products could leave the range of normal numbers.
pub(super) const TINY: f64 = 1e-150;

/// The displacement `x` in `(0, b]` with `a ln(a / (a + x)) + b ln(b / (b - x)) = c`, rounded up,
/// where `b = 1 - a`.
///
/// The upper index of mean `p` is `p + x` for `a = p`; the lower one is `p - x` for `a = 1 - p`.
///
/// `b` may be a rounded `1 - a`. For `a < 1/2` its error is at most 2^-54, which moves the root by
/// at most as much: half a unit in the last place of an index above 1/2. [`round_up`] covers this.
#[inline]
pub(super) fn displacement(a: f64, b: f64, c: f64) -> f64 {
    if a < TINY || b < TINY || c < TINY {
        return displacement_by_bisection(a, b, c);
    }
    let mut x = guess(a, b, c);
    if x >= b {
        return b;
    }
    // One rough step always: it is cheaper than checking whether the guess was good enough.
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
pub(super) struct Place {
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
    pub(super) fn at<const ROUGH: bool>(a: f64, b: f64, x: f64) -> Self {
        let (u, w) = (a + x, b - x);
        let divergence = two_relative_entropies::<ROUGH>([a, b], [u, w], [x, -x]);
        Self { a, b, x, u, w, divergence, over_slope: u * w / x }
    }

    /// Returns whether a Newton step from here is accurate enough to be the last, and its end,
    /// rounded up.
    #[inline]
    pub(super) fn newton(&self, c: f64) -> (bool, f64) {
        let h = (c - self.divergence) * self.over_slope;
        // A Newton step of size h is off by at most about h^2 / 2 (1 / x + 1 / w) = h^2 b / (2 x
        // w).
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

    pub(super) fn is_near(&self, c: f64) -> bool {
        (c - self.divergence).abs() * self.over_slope <= self.x
    }

    /// The inverse function to third order, as a quotient, which does not overshoot if `1 - q`
    /// decays.
    #[inline]
    pub(super) fn onwards_nearby(&self, c: f64) -> f64 {
        let h = (c - self.divergence) * self.over_slope;
        // Lane by lane, like the divergence.
        let (p, q) = ([self.a, self.b], [self.u, self.w]);
        let (mut curvature, mut change) = ([0.0; 2], [0.0; 2]);
        for lane in 0..2 {
            let over_q = 1.0 / q[lane];
            curvature[lane] = p[lane] * over_q * over_q;
            change[lane] = curvature[lane] * over_q;
        }
        let second = 0.5 * (curvature[0] + curvature[1]) * self.over_slope;
        let third = (1.0 / 3.0) * (change[1] - change[0]) * self.over_slope;
        self.x + h / (1.0 + h * (second + h * (third - second * second)))
    }
}

/// Beyond this share of `b`, [`guess`] uses the approximation at the edge instead of the one in the
/// middle.
pub(super) const EDGE: f64 = 0.7;

/// A first guess for [`displacement`], accurate to a few per cent for most arms.
#[inline]
pub(crate) fn guess(a: f64, b: f64, c: f64) -> f64 {
    let x = middle_guess(a, b, c);
    if x <= EDGE * b { x } else { edge_guess(a, b, c) }
}

/// [`guess`] close to the edge, where the divergence is `a ln a + b ln(b / w) + a w` up to the
/// square of `w = b - x`.
#[inline]
pub(super) fn edge_guess(a: f64, b: f64, c: f64) -> f64 {
    let decay = b * libm::exp((a * ln(a) - c) / b);
    let w = (decay * (1.0 + a * decay / b)).min(0.5 * b);
    // If `w` is negligible beside `b`, this is the edge itself.
    b - w
}

/// [`guess`] far from the edge.
///
/// The divergence is the integral of `x / (q (1 - q))` from `p`; with the variance at two thirds of
/// the way to `q` it becomes quadratic: `x^2 = 2 c V(p + 2 x / 3)`, `V(t) = t (1 - t)`.
pub(super) fn middle_guess(a: f64, b: f64, c: f64) -> f64 {
    let skew = (b - a) * c * (2.0 / 3.0);
    let scale = 1.0 + (8.0 / 9.0) * c;
    (skew + sqrt(skew * skew + 2.0 * c * (a * b) * scale)) * (1.0 / scale)
}

/// [`displacement`] for arguments that are too small for its formulas.
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
