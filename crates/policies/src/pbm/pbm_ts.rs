//! PBM-TS: Thompson sampling from the exact posterior of the position-based model.
//!
//! Under a flat prior the posterior of an item's attraction after `S_l` clicks and `F_l = N_l - S_l` displays without a
//! click at position `l` is
//!
//! ```text
//! pi(theta)  proportional to  theta^S  prod_l (1 - kappa_l theta)^{F_l}      on (0, 1),     S = sum_l S_l
//! ```
//!
//! Every item draws from its posterior; the L largest draws are shown, the largest where examination is largest.
//!
//! Reference: Lagree, Vernade, Cappe 2016, section 4, *PBM-TS*. Deviations: none in law. The paper prints the rejection
//! sampler's proposal as `Beta(S_m, F_m) / kappa_m`, which is improper without clicks or without failures and belongs to
//! another prior; and rejecting from the best single position, the acceptance rate falls to 0 as counts grow. Here the
//! proposal takes in all positions (below).
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `counts.clicks` | alpha_{k,l} = S_{k,l} | `n_items` x `n_positions` | - |
//! | failures | beta_{k,l} = N_{k,l} - S_{k,l} | `n_items` x `n_positions` | - |
//! | `examination` | kappa | `n_positions` | probability |
//!
//! # The sampler
//!
//! Rejection with one of two proposals; both bound every factor `ln(1 - kappa_l theta)` by a tangent, so the bound is exact
//! at the tangent's point and draws are exact whatever that point is. It should be near the mode, and costs only
//! acceptance when it is not.
//!
//! *Stretched Beta.* With `kappa` the smallest examination that has failures, `ln(1 - kappa_l theta)` is a concave function
//! of `ln(1 - kappa theta)` since `kappa_l >= kappa`. Its tangent at `m` has slope
//! `kappa_l (1 - kappa m) / (kappa (1 - kappa_l m))`, so with `B` the sum of the `F_l` times their slopes, the posterior
//! is at most a multiple of `theta^S (1 - kappa theta)^B`: a `Beta(S + 1, B + 1)` variate divided by `kappa`. Draws from 1 up
//! are rejected.
//!
//! *Power.* Where most of those draws would be above 1, because little is known or because the clicks are more than the
//! model explains: `ln(1 - kappa_l theta)` is a concave function of `ln theta` too. Its tangent at `m` has slope
//! `-kappa_l m / (1 - kappa_l m)`, so the posterior is at most a multiple of `theta^{S - sum of the F_l times these}`: a
//! `Beta(.., 1)` variate.
//!
//! Complexity: O(`n_positions`) expected for each of `n_items` draws a round.

use super::counts::{PbmCounts, place};
use crate::sampling::{BetaShape, Sampler};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Select, Update};
use click_models::{PbmFeedback, PbmKnown, Ranking};
use confidence::math::ln;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// PBM-TS.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct PbmTs {
    counts: PbmCounts,
    #[serde(skip)]
    posteriors: Vec<Posterior>,
    /// What each position's factor has too much in the proposal: the exponents of `1 - kappa_l theta` in the ratio of
    /// posterior to proposal; item by item, every position.
    #[serde(skip)]
    exponents: Vec<f64>,
    #[serde(skip)]
    top: TopL,
}

#[derive(Deserialize)]
struct Saved {
    counts: PbmCounts,
}

/// How to draw from the posterior of one item.
#[derive(Debug, Clone, Copy)]
struct Posterior {
    proposal: BetaShape,
    /// What a proposal is multiplied by.
    stretch: f64,
    /// Exponent of `theta` in the ratio of posterior to proposal.
    theta_exponent: f64,
    /// Logarithm of that ratio at the tangents' point, where it is largest.
    log_peak: f64,
    /// Whether the proposal is the posterior itself (but for draws above 1).
    exact: bool,
}

impl PbmTs {
    /// A fresh policy.
    pub fn new(known: PbmKnown<'_>) -> Self {
        Self::from(Saved { counts: PbmCounts::new(known) })
    }
}

impl From<Saved> for PbmTs {
    fn from(Saved { counts }: Saved) -> Self {
        let mut exponents = vec![0.0; counts.n_items() * counts.n_positions()];
        let posteriors = exponents
            .chunks_exact_mut(counts.n_positions())
            .enumerate()
            .map(|(item, exponents)| Posterior::of(&counts, item, exponents))
            .collect();
        Self { posteriors, exponents, top: TopL::new(counts.n_positions()), counts }
    }
}

/// The largest tangent point: keeps `1 - kappa m` away from 0.
const ALMOST_ONE: f64 = 1.0 - 1e-12;

impl Posterior {
    /// Works out the proposal of `item` and writes the exponents of its positions.
    #[inline]
    fn of(counts: &PbmCounts, item: usize, exponents: &mut [f64]) -> Self {
        let clicks = counts.total_clicks(item);
        let mut slope_at_0 = 0.0;
        let mut slope_at_1 = 0.0;
        let mut curvature_at_1 = 0.0;
        let (mut least, mut most, mut with_failures) = (1.0, 0.0, 0_u32);
        let cells = counts.shows(item).iter().zip(counts.clicks(item)).zip(counts.examination());
        for (exponent, ((shows, clicks), &examined)) in exponents.iter_mut().zip(cells) {
            // A position that nobody examines says nothing.
            let failures = if examined > 0.0 { (shows - clicks) as f64 } else { 0.0 };
            *exponent = failures;
            if failures > 0.0 {
                let odds = examined / (1.0 - examined);
                slope_at_0 += failures * examined;
                slope_at_1 += failures * odds;
                curvature_at_1 += failures * odds / (1.0 - examined);
                least = examined.min(least);
                most = examined.max(most);
                with_failures += 1;
            }
        }
        if with_failures == 0 {
            return Self {
                proposal: BetaShape::after(clicks, 0.0),
                stretch: 1.0,
                theta_exponent: 0.0,
                log_peak: 0.0,
                exact: true,
            };
        }
        // The posterior still rises at 1 by this much, per unit of ln theta.
        let rise_at_1 = clicks - slope_at_1;
        if rise_at_1 > 0.0 && rise_at_1 * rise_at_1 >= 0.25 * curvature_at_1 {
            return Self::power(clicks, 1.0, counts.examination(), exponents);
        }
        let mode = mode(clicks, slope_at_0, (least, most), counts.examination(), exponents);
        if slope_at_0 <= 1.0 {
            Self::power(clicks, mode, counts.examination(), exponents)
        } else {
            Self::stretched_beta(clicks, mode, least, with_failures == 1, counts.examination(), exponents)
        }
    }

    fn power(clicks: f64, point: f64, examination: &[f64], exponents: &[f64]) -> Self {
        let cells = || exponents.iter().zip(examination).filter(|(failures, _)| **failures > 0.0);
        let slope: f64 =
            cells().map(|(failures, examined)| failures * examined * point / (1.0 - examined * point)).sum();
        if slope > clicks {
            // Beyond the mode the power would be negative; at 0 the tangents are flat.
            return Self::power(clicks, 0.0, examination, exponents);
        }
        let peak: f64 = cells().map(|(failures, examined)| failures * ln(1.0 - examined * point)).sum();
        Self {
            proposal: BetaShape::after(clicks - slope, 0.0),
            stretch: 1.0,
            theta_exponent: slope,
            log_peak: if slope > 0.0 { peak + slope * ln(point) } else { peak },
            exact: false,
        }
    }

    #[inline]
    fn stretched_beta(
        clicks: f64,
        point: f64,
        least: f64,
        exact: bool,
        examination: &[f64],
        exponents: &mut [f64],
    ) -> Self {
        let mut total_slope = 0.0;
        for (failures, examined) in exponents.iter().zip(examination) {
            total_slope += failures * examined / (1.0 - examined * point);
        }
        let mut failures_at_least = total_slope * (1.0 - least * point) / least;
        let mut log_peak = 0.0;
        if exact {
            // One position alone: its factor is the proposal's, and the slope cancels but for rounding.
            failures_at_least = exponents.iter().sum();
        } else {
            let mut left = failures_at_least;
            for (exponent, &examined) in exponents.iter_mut().zip(examination) {
                if examined == least {
                    let taken = left;
                    left = 0.0;
                    *exponent -= taken;
                }
                if *exponent != 0.0 {
                    log_peak += *exponent * ln(1.0 - examined * point);
                }
            }
        }
        Self {
            proposal: BetaShape::after(clicks, failures_at_least),
            stretch: 1.0 / least,
            theta_exponent: 0.0,
            log_peak,
            exact,
        }
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(
        &self,
        exponents: &[f64],
        examination: &[f64],
        sampler: Sampler,
        rng: &mut R,
    ) -> f64 {
        loop {
            let theta = sampler.beta(self.proposal, rng) * self.stretch;
            if theta >= 1.0 {
                continue;
            }
            if self.exact {
                return theta;
            }
            let mut log_ratio = -self.log_peak;
            for (exponent, examined) in exponents.iter().zip(examination) {
                log_ratio += exponent * ln(1.0 - examined * theta);
            }
            if self.theta_exponent > 0.0 {
                log_ratio += self.theta_exponent * ln(theta);
            }
            if ln(rng.random::<f64>()) < log_ratio {
                return theta;
            }
        }
    }
}

/// The maximum of the posterior, or a point near it: the root of
/// `clicks - sum_l failures_l kappa_l m / (1 - kappa_l m)`, which is concave and falls, so that Newton's step from the left
/// of the root lands on its right and stays there. With the largest and the smallest `kappa` in all denominators the root
/// is explicit and lies on its left and right.
#[inline]
fn mode(
    clicks: f64,
    slope_at_0: f64,
    (least, most): (f64, f64),
    examination: &[f64],
    failures: &[f64],
) -> f64 {
    if clicks == 0.0 {
        return 0.0;
    }
    let left = (clicks / (slope_at_0 + most * clicks)).min(ALMOST_ONE);
    let right = (clicks / (slope_at_0 + least * clicks)).min(ALMOST_ONE);
    let mut point = left;
    for _ in 0..2 {
        let (mut value, mut slope) = (clicks, 0.0);
        for (failures, examined) in failures.iter().zip(examination) {
            let part = failures * examined / (1.0 - examined * point);
            value -= part * point;
            slope += part / (1.0 - examined * point);
        }
        point = (point + value / slope).clamp(left, right);
    }
    point
}

impl Select<Ranking> for PbmTs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let ties = Ties::draw(rng);
        let sampler = Sampler::new();
        let examination = self.counts.examination();
        let exponents = self.exponents.chunks_exact(examination.len());
        self.top.clear();
        for (item, (posterior, exponents)) in (0_u32..).zip(self.posteriors.iter().zip(exponents)) {
            self.top.offer(item, posterior.draw(exponents, examination, sampler, rng), ties);
        }
        place(self.top.best(), self.counts.order(), &mut out.action);
    }
}

impl Update<Ranking, PbmFeedback> for PbmTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        let Self { counts, posteriors, exponents, .. } = self;
        counts.record(&decision.action, feedback.clicks, |counts, item| {
            let positions = counts.n_positions();
            let exponents = &mut exponents[item * positions..][..positions];
            posteriors[item] = Posterior::of(counts, item, exponents);
        });
    }
}
