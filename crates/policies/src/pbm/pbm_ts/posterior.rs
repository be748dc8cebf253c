//! A sampler of the exact posterior of the position-based model,
//! `theta^S prod_l (1 - kappa_l theta)^{F_l}` on (0, 1).
//!
//! Rejection sampling. The proposal replaces every factor `ln(1 - kappa_l theta)` of the posterior
//! by its tangent at a point `m`. For any `m` the proposal bounds the posterior and draws are
//! exact; `m` near the mode makes rejections rare. Two facts give tangents that are the logarithm
//! of a Beta density:
//!
//! - `ln(1 - kappa_l theta)` is a concave function of `ln theta`, with slope
//!   `-kappa_l m / (1 - kappa_l m)` at `m`;
//! - for `kappa_l >= kappa` it is a concave function of `ln(1 - kappa theta)`, with slope
//!   `kappa_l (1 - kappa m) / (kappa (1 - kappa_l m))`.
//!
//! *Stretched Beta.* One position is the reference. Positions with at least its examination go into
//! the exponent `B` of `1 - kappa theta`, the others into the exponent `A` of `theta`. The proposal
//! is a `Beta(A + 1, B + 1)` variate divided by `kappa`; draws above 1 are rejected. The reference
//! is the position that makes the proposal narrowest: usually the position where the item was shown
//! most, whose failures the proposal then contains exactly. In terms of `ln theta` the posterior's
//! curvature at `m` is at most the number of positions times the proposal's, so the acceptance rate
//! does not fall to 0 as counts grow.
//!
//! *Power.* If most of those draws would exceed 1, because counts are small or clicks are more
//! frequent than the model explains, all positions go into the exponent of `theta`: a
//! `Beta(A + 1, 1)` variate.
//!
//! *Acceptance.* The logarithm of the ratio of posterior to proposal is a smooth function with a
//! known series around `m`. Its first terms and a bound on the others decide nearly always without
//! logarithms, and always agree with the logarithms.
//!
//! Numerics: the tangents' point is clicks over weighted displays. If that is more than a quarter
//! of a standard deviation from the mode, Newton's method improves it. Exponents and logarithms of
//! ratios are accurate to about `2^-50` times the counts, so draws are practically exact while
//! counts stay below `2^40`. Nothing is approximated without failures, or if all failures are at
//! positions of one examination. Complexity: constant expected time for a draw, and
//! O(`n_positions`) for the posterior of new counts.

use super::super::counts::PbmCounts;
use crate::Prior;
use crate::exact::float;
use crate::sampling::{BetaShape, Sampler};
use confidence::math::{ln, ln_1p};
use rand::{Rng, RngExt};

/// The sampler of one item's posterior.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posterior {
    pub(super) proposal: BetaShape,
    /// Factor of the proposal's variate.
    pub(super) stretch: f64,
    /// Exponent of `theta` in the ratio of posterior to proposal.
    pub(super) theta_exponent: f64,
    /// The tangents' point, where that ratio is largest.
    pub(super) point: f64,
    /// That ratio around the point.
    pub(super) series: Series,
    /// Whether the proposal is the posterior itself, except for draws above 1.
    pub(super) exact: bool,
}

/// The drop of the logarithm of the ratio of posterior to proposal below its maximum, at the
/// distance `d` from the tangents' point: `first d + second d^2 + third d^3`, to within
/// `fourth d^4` while `steepest |d| <= 1/4`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Series {
    /// 0 unless the point is 0.
    pub(super) first: f64,
    pub(super) second: f64,
    pub(super) third: f64,
    pub(super) fourth: f64,
    pub(super) steepest: f64,
}

/// The largest tangent point. At 1 the factor of a position with `kappa` = 1 has no logarithm.
const ALMOST_ONE: f64 = 1.0 - 1e-12;

/// The largest point for the tangents of `tail.rs`. Near 1 they have hardly any mass.
const MOST_POINT: f64 = 0.9;

/// Largest squared distance of the tangents' point from the mode, as a share of the variance.
const NEAR_MODE: f64 = 1.0 / 16.0;

/// Newton steps towards the mode: enough from [`ALMOST_ONE`] on, since near a pole they double.
const MAX_STEPS: u32 = 64;

/// `ln(1 - x)` with small relative error for small `x`, since exponents are divided by `kappa`.
#[inline]
pub(super) fn ln_miss(x: f64) -> f64 {
    if x < 0.25 { ln_1p(-x) } else { ln(1.0 - x) }
}

/// The larger of two numbers in one instruction; [`f64::max`] also handles NaN.
fn larger(left: f64, right: f64) -> f64 {
    if left > right { left } else { right }
}

/// The failures' part of the log-posterior around one point `m`: every position's factor is a power
/// of `1 - b (theta - m)` with `b = kappa_l / (1 - kappa_l m)`.
#[derive(Debug, Clone, Copy)]
struct Slopes {
    /// `sum_l F_l b_l`; times `m` it is minus the derivative in `ln theta`.
    first: f64,
    /// `sum_l F_l b_l / (1 - kappa_l m)`; times `m` it is minus the second derivative in
    /// `ln theta`. Clicks contribute nothing to it, since their part is linear.
    curvature: f64,
    /// `sum_l F_l b_l^k` for `k` = 2, 3 and 4.
    powers: [f64; 3],
    /// The largest `b_l`.
    steepest: f64,
    /// The reference of the narrowest stretched Beta, if one is possible.
    reference: Reference,
}

/// A position whose factor is part of the stretched Beta.
#[derive(Debug, Clone, Copy)]
struct Reference {
    /// Its rank among the positions, from the most examined down.
    rank: usize,
    /// Its `b`.
    steepness: f64,
    /// The part of [`Slopes::first`] from all positions down to this one.
    slope: f64,
    /// The proposal's part of [`Slopes::curvature`].
    curvature: f64,
}

impl Reference {
    const NONE: Self = Self { rank: 0, steepness: 0.0, slope: 0.0, curvature: 0.0 };
}

impl Slopes {
    #[inline]
    fn at(point: f64, failures: &[f64], examination: &[f64]) -> Self {
        let (mut first, mut curvature, mut powers, mut steepest) = (0.0, 0.0, [0.0; 3], 0.0);
        let mut reference = Reference::NONE;
        for (rank, (&failures, examined)) in failures.iter().zip(examination).enumerate() {
            let over_miss = 1.0 / (1.0 - examined * point);
            let steepness = examined * over_miss;
            let slope = failures * steepness;
            first += slope;
            curvature += slope * over_miss;
            let square = slope * steepness;
            powers[0] += square;
            powers[1] += square * steepness;
            powers[2] += square * (steepness * steepness);
            steepest = larger(steepest, steepness);
            if first * over_miss > reference.curvature {
                reference = Reference { rank, steepness, slope: first, curvature: first * over_miss };
            }
        }
        Self { first, curvature, powers, steepest, reference }
    }
}

/// Sums over an item's displays.
#[derive(Debug, Clone, Copy)]
pub(super) struct DisplaySums {
    pub(super) clicks: f64,
    /// Displays weighted by examination.
    pub(super) weighted_shows: f64,
    /// Failures weighted by examination.
    slope_at_0: f64,
    /// The least and the most examination of a position with failures; `most` is 0 without any.
    pub(super) least: f64,
    pub(super) most: f64,
}

impl DisplaySums {
    /// Counts what was seen of `item`, and writes the failures at its positions. `examination`
    /// holds their probabilities, from the most to the least examined, after that of the prior if
    /// there is one.
    // Inlined, it is compiled again for every kind of feedback, and no faster.
    #[inline(never)]
    pub(super) fn of(
        counts: &PbmCounts,
        item: usize,
        prior: Prior,
        examination: &[f64],
        failures: &mut [f64],
    ) -> Self {
        let (shows, position_clicks) = (counts.shows(item), counts.clicks(item));
        let (mut clicks, mut weighted_shows, mut slope_at_0) = (0, 0.0, 0.0);
        let (mut least, mut most) = (1.0, 0.0);
        let mut n_before = 0;
        if examination.len() > counts.n_positions() {
            n_before = 1;
            failures[0] = prior.failures();
            weighted_shows = prior.clicks() + prior.failures();
            slope_at_0 = prior.failures();
            most = if prior.failures() > 0.0 { 1.0 } else { 0.0 };
        }
        let positions = failures[n_before..].iter_mut().zip(&examination[n_before..]).zip(&counts.order);
        for ((failures, &examined), &position) in positions {
            let (shows, position_clicks) = (shows[position], position_clicks[position]);
            clicks += position_clicks;
            weighted_shows += float(shows) * examined;
            // A position that is never examined has no information.
            *failures = if examined > 0.0 { float(shows - position_clicks) } else { 0.0 };
            if *failures > 0.0 {
                slope_at_0 += *failures * examined;
                most = larger(most, examined);
                least = examined;
            }
        }
        Self { clicks: float(clicks) + prior.clicks(), weighted_shows, slope_at_0, least, most }
    }
}

impl Posterior {
    /// The proposal; turns the failures into the exponents of the positions. Also returns a point
    /// near the mode, and the sum of `F_l kappa_l / (1 - kappa_l m)` there.
    #[inline(never)]
    pub(super) fn of(seen: &DisplaySums, exponents: &mut [f64], examination: &[f64]) -> (Self, (f64, f64)) {
        let &DisplaySums { clicks, weighted_shows, slope_at_0, least, most } = seen;
        if most == 0.0 {
            return (Self::no_failures(clicks), (0.0, 0.0));
        }
        if clicks == 0.0 && slope_at_0 <= 1.0 {
            let posterior = Self::power(clicks, 0.0, Slopes::at(0.0, exponents, examination));
            return (posterior, (0.0, slope_at_0));
        }
        let above = |clicks| clicks / (slope_at_0 + least * clicks);
        let (point, slopes) = mode(clicks, clicks / weighted_shows, above, exponents, examination);
        // Whether the posterior still rises at 1, and by how much per unit of ln theta.
        let rise = if point == ALMOST_ONE { clicks - point * slopes.first } else { 0.0 };
        let mut reference = slopes.reference;
        if (slopes.first - reference.slope) * point > clicks {
            reference = narrowest_possible(clicks, point, slopes.first, exponents, examination);
        }
        let at = if point <= MOST_POINT {
            (point, slopes.first)
        } else {
            (MOST_POINT, Slopes::at(MOST_POINT, exponents, examination).first)
        };
        // Otherwise the proposal has so much mass above 1 that most of its draws are rejected.
        let posterior = if rise > 0.0 && rise * rise >= 0.25 * reference.curvature {
            Self::power(clicks, point, slopes)
        } else if least == most {
            Self::one_position(clicks, least, exponents)
        } else {
            Self::stretched_beta(clicks, point, slopes, reference, exponents, examination)
        };
        (posterior, at)
    }

    /// Clicks on every display: `theta^S`.
    pub(super) fn no_failures(clicks: f64) -> Self {
        Self {
            proposal: BetaShape::after(clicks, 0.0),
            stretch: 1.0,
            theta_exponent: 0.0,
            point: 0.0,
            series: Series::NONE,
            exact: true,
        }
    }

    /// Failures at positions of one examination only: `theta^S (1 - kappa theta)^F`.
    #[inline]
    fn one_position(clicks: f64, examined: f64, failures: &[f64]) -> Self {
        Self {
            proposal: BetaShape::after(clicks, failures.iter().sum()),
            stretch: 1.0 / examined,
            theta_exponent: 0.0,
            point: 0.0,
            series: Series::NONE,
            exact: true,
        }
    }

    /// Every factor is a power of `theta`. `slopes` are those at `point`.
    #[inline]
    fn power(clicks: f64, point: f64, slopes: Slopes) -> Self {
        let theta_exponent = point * slopes.first;
        Self {
            proposal: BetaShape::after(clicks - theta_exponent, 0.0),
            stretch: 1.0,
            theta_exponent,
            point,
            series: Series::new(point, slopes, Reference::NONE),
            exact: false,
        }
    }

    /// Puts every position's factor into the power of the reference or of `theta`, with `slopes` at
    /// `point`.
    #[inline]
    fn stretched_beta(
        clicks: f64,
        point: f64,
        slopes: Slopes,
        reference: Reference,
        exponents: &mut [f64],
        examination: &[f64],
    ) -> Self {
        let examined = examination[reference.rank];
        let stretch = 1.0 / examined;
        let theta_exponent = (slopes.first - reference.slope) * point;
        let failures_at_reference = reference.slope * (1.0 - examined * point) * stretch;
        exponents[reference.rank] -= failures_at_reference;
        Self {
            // `narrowest_possible` guarantees that the difference is not negative.
            proposal: BetaShape::after(clicks - theta_exponent, failures_at_reference),
            stretch,
            theta_exponent,
            point,
            series: Series::new(point, slopes, reference),
            exact: false,
        }
    }

    #[inline]
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        exponents: &[f64],
        examination: &[f64],
        sampler: Sampler,
        rng: &mut R,
    ) -> f64 {
        loop {
            if let Some(theta) = self.attempt(exponents, examination, sampler, rng) {
                return theta;
            }
        }
    }

    /// Draws one proposal; `None` if it is rejected.
    #[inline]
    pub(super) fn attempt<R: Rng + ?Sized>(
        &self,
        exponents: &[f64],
        examination: &[f64],
        sampler: Sampler,
        rng: &mut R,
    ) -> Option<f64> {
        let theta = sampler.beta(self.proposal, rng) * self.stretch;
        if theta > 1.0 {
            return None;
        }
        if self.exact {
            return Some(theta);
        }
        let uniform = rng.random::<f64>();
        let accepted = self.series.accepts(theta - self.point, uniform);
        accepted
            .unwrap_or_else(|| ln(uniform) < self.log_ratio(theta, exponents, examination))
            .then_some(theta)
    }

    /// Logarithm of the ratio of posterior to proposal at `theta`, relative to its maximum.
    #[cold]
    pub(super) fn log_ratio(&self, theta: f64, exponents: &[f64], examination: &[f64]) -> f64 {
        let mut log_ratio = 0.0;
        for (exponent, examined) in exponents.iter().zip(examination) {
            if *exponent != 0.0 {
                log_ratio += exponent * (ln_miss(examined * theta) - ln_miss(examined * self.point));
            }
        }
        if self.theta_exponent > 0.0 {
            log_ratio += self.theta_exponent * (ln(theta) - ln(self.point));
        }
        log_ratio
    }
}

impl Series {
    /// The series of proposals that need no ratio.
    const NONE: Self = Self { first: 0.0, second: 0.0, third: 0.0, fourth: 0.0, steepest: 0.0 };

    /// The series of the positions' factors, divided by two powers: of the reference's factor, so
    /// that the first term down to the reference vanishes; and of `theta` (whose factor has
    /// `b = -1 / m`), so that the whole first term vanishes.
    #[inline]
    fn new(point: f64, slopes: Slopes, reference: Reference) -> Self {
        let left = slopes.first - reference.slope;
        let over_point = if left > 0.0 && point > 0.0 { 1.0 / point } else { 0.0 };
        let term = |power: f64, at_reference: f64, at_theta: f64| {
            power + reference.slope * at_reference + left * at_theta
        };
        let steepness = reference.steepness;
        let [square, cube, fourth] = slopes.powers;
        Self {
            first: if point > 0.0 { 0.0 } else { left },
            second: term(square, -steepness, over_point) * (1.0 / 2.0),
            third: term(cube, -steepness * steepness, -over_point * over_point) * (1.0 / 3.0),
            // While |b d| <= 1/4, the terms from the fourth on are at most (b d)^4 / 4 / (1 - 1/4).
            fourth: term(fourth, steepness * steepness * steepness, over_point * over_point * over_point)
                * (1.0 / 3.0),
            steepest: larger(slopes.steepest, over_point),
        }
    }

    /// Returns whether `uniform` is below the ratio; `None` if only logarithms can decide.
    #[inline]
    pub(super) fn accepts(self, distance: f64, uniform: f64) -> Option<bool> {
        if distance.abs() * self.steepest > 0.25 {
            return None;
        }
        let square = distance * distance;
        let value = self.first * distance + square * (self.second + self.third * distance);
        let error = square * square * self.fourth;
        // The Taylor polynomials are alternately above and below the exponential.
        let most = value + error;
        if uniform < 1.0 - most * (1.0 - most * (1.0 / 2.0 - most * (1.0 / 6.0))) {
            return Some(true);
        }
        let least = (value - error).max(0.0);
        let above = 1.0 - least * (1.0 - least * (1.0 / 2.0 - least * (1.0 / 6.0 - least * (1.0 / 24.0))));
        (uniform > above).then_some(false)
    }
}

/// The maximum of the posterior, or a point near it, and the slopes there. Newton's method from
/// `start` looks for the root of `clicks - sum_l failures_l kappa_l m / (1 - kappa_l m)`. This
/// function is concave and decreasing, so a step from anywhere lands to the right of the root, and
/// later ones stay there. `above` is a point to the right of the root and below the poles.
#[inline]
fn mode(
    clicks: f64,
    start: f64,
    above: impl Fn(f64) -> f64,
    failures: &[f64],
    examination: &[f64],
) -> (f64, Slopes) {
    let mut point = if start < ALMOST_ONE { start } else { ALMOST_ONE };
    let mut slopes = Slopes::at(point, failures, examination);
    for _ in 0..MAX_STEPS {
        let value = clicks - point * slopes.first;
        if value * value <= NEAR_MODE * point * slopes.curvature || (value >= 0.0 && point == ALMOST_ONE) {
            break;
        }
        point = (point + value / slopes.curvature).min(above(clicks)).min(ALMOST_ONE);
        slopes = Slopes::at(point, failures, examination);
    }
    (point, slopes)
}

/// The reference of the narrowest stretched Beta with an exponent of `theta` of at least 0; `slope`
/// is [`Slopes::first`].
#[cold]
fn narrowest_possible(
    clicks: f64,
    point: f64,
    slope: f64,
    failures: &[f64],
    examination: &[f64],
) -> Reference {
    let mut best = Reference::NONE;
    let mut so_far = 0.0;
    for (rank, (failures, examined)) in failures.iter().zip(examination).enumerate() {
        let over_miss = 1.0 / (1.0 - examined * point);
        let steepness = examined * over_miss;
        so_far += failures * steepness;
        let curvature = so_far * over_miss;
        if curvature > best.curvature && (slope - so_far) * point <= clicks {
            best = Reference { rank, steepness, slope: so_far, curvature };
        }
    }
    best
}
