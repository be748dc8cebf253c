//! Thompson samples of preference probabilities, mostly whether they exceed 1/2.
//!
//! The probability that item i is preferred to j is sampled from `Beta(1 + w_ij, 1 + w_ji)`. Mostly
//! it only matters whether a sample exceeds 1/2, and after many duels the samples of an item that
//! lost most of them rarely do. [`Upsets::draw_all`] returns the sample if it exceeds 1/2. This
//! has the distribution of drawing the sample and comparing, but usually costs one uniform draw.
//! With `n = w_ij + w_ji` and `s = 2 (w_ji - w_ij) > 0`, the density
//! `f(x) = (n + 1) C(n, w_ij) x^w_ij (1 - x)^w_ji` is log-concave, and therefore below its tangent
//! at 1/2:
//!
//! ```text
//! f(x) <= h(x) = f(1/2) exp(-s (x - 1/2)),    integral of h over x > 1/2 = f(1/2) / s = limit
//! ```
//!
//! If the limit is small, there is a proposal with this probability: `1/2 + Exp(s)`, accepted with
//! probability `f / h`. So a sample x above 1/2 has density f. If the limit is large, the sampler
//! draws the Beta variate.
//!
//! If only the comparison with 1/2 matters, [`Coins`] draws a Bernoulli variable with the
//! probability of a sample above 1/2. This is the probability of at most `w_ij` heads in `n + 1`
//! tosses of a fair coin, `chance(w_ij, w_ji)`. As a sum it has O(root n) terms. One more duel
//! changes it by one term,
//!
//! ```text
//! chance(w + 1, v) = chance(w, v) + C(w + 1 + v, v) / 2^(w + v + 2),    chance(v, w) = 1 - chance(w, v)
//! ```
//!
//! so an estimate is updated, and the sum is computed only if the estimate cannot decide: a toss
//! compares a uniform draw with the chance, and a draw that differs from the estimate by more than
//! its error is on the same side of both. *Lazily exact*: the result is a function of the counts
//! and the draw alone, for any history of the estimate. The estimate restarts from the sum once in
//! about root n duels. A change is at most `0.4 / root n`, so between two sums a relative error e
//! of the changes adds up to 0.4 e; e is 1e-11, and [`MARGIN`] is 2^-30.
//!
//! Reference: Devroye, *Non-uniform random variate generation*, 1986, chapter VII.2, for rejection
//! from log-concave densities; Loader, *Fast and accurate computation of binomial probabilities*,
//! 2000, for `C(n, w) / 2^n`. Deviations: none.
//!
//! | here | formula | shape | unit |
//! |---|---|---|---|
//! | `limits` | `f(1/2) / s`, 0 if a Beta variate is drawn | K x K | probability / 2^64 |
//! | `estimates` | integral of f over x > 1/2, within [`MARGIN`] | K x K | probability / 2^64 |
//!
//! Numerics: `f(1/2)` has a relative error of 1e-11 (tested against statrs), coins are exact to
//! 2^-64. Complexity: one draw if a limit is small, two Gamma draws otherwise; a few logarithms
//! when a count changes. A toss is a comparison; one in 5e8 needs the sum. Memory: 8 bytes an
//! ordered pair for either.

use super::counts::DuelCounts;
use crate::exact::float;
use crate::sampling::{BetaShape, Sampler};
use confidence::bernoulli_kl;
use confidence::math::{ln, ln_1p, stirling_error};
use rand::{Rng, RngExt};
use std::ops::ControlFlow;

/// A sample of the probability that `item` is preferred to `other`.
#[inline]
pub(super) fn sample<R: Rng + ?Sized>(
    sampler: Sampler,
    counts: &DuelCounts,
    item: usize,
    other: usize,
    rng: &mut R,
) -> f64 {
    let (wins, losses) = (counts.wins(item, other), counts.wins(other, item));
    sampler.beta(BetaShape::after(float(wins), float(losses)), rng)
}

/// Draws whether samples exceed 1/2.
#[derive(Debug, Clone)]
pub(super) struct Coins {
    n_items: usize,
    /// Chances that a row's item has a sample above 1/2 against the column's, in 2^-64.
    estimates: Vec<u64>,
}

/// Largest error of an estimated chance, in units of 2^-64.
const MARGIN: u64 = 1 << 34;

impl Coins {
    pub(super) fn new(counts: &DuelCounts) -> Self {
        Self { n_items: counts.shape.n_items(), estimates: counts.table(above_half) }
    }

    /// Updates the estimate after one more win, which is counted already.
    #[inline]
    pub(super) fn set(&mut self, counts: &DuelCounts, winner: usize, loser: usize) {
        let (wins, losses) = (counts.wins(winner, loser), counts.wins(loser, winner));
        let duels = wins + losses;
        let cell = winner * self.n_items + loser;
        // The largest power of two that is at most root n.
        let between_sums = 1 << (duels.ilog2() / 2);
        let estimate = if duels % between_sums == 0 {
            above_half(wins, losses)
        } else {
            let change = 0.5 * even_binomial(wins.min(losses), wins.max(losses));
            self.estimates[cell].saturating_add(units(change))
        };
        self.estimates[cell] = estimate;
        self.estimates[loser * self.n_items + winner] = !estimate;
    }

    /// Draws whether `item` beats each `wanted` other, in turn, until `tossed` breaks.
    #[inline]
    pub(super) fn toss_all<R: Rng + ?Sized>(
        &self,
        counts: &DuelCounts,
        item: usize,
        rng: &mut R,
        wanted: impl Fn(usize) -> bool,
        mut tossed: impl FnMut(usize, bool) -> ControlFlow<()>,
    ) {
        let estimates = &self.estimates[item * self.n_items..][..self.n_items];
        let mut next = 0;
        while next < estimates.len() {
            // A loop without calls keeps the generator in registers.
            let mut near = None;
            while next < estimates.len() {
                let (other, estimate) = (next, estimates[next]);
                next += 1;
                if !wanted(other) {
                    continue;
                }
                let draw = rng.next_u64();
                if draw.abs_diff(estimate) <= MARGIN {
                    near = Some((other, draw));
                    break;
                }
                if tossed(other, draw < estimate).is_break() {
                    return;
                }
            }
            if let Some((other, draw)) = near
                && tossed(other, is_below(draw, counts, item, other)).is_break()
            {
                return;
            }
        }
    }

    /// Draws whether `item` beats `other` in a sample. Takes one draw.
    pub(super) fn toss<R: Rng + ?Sized>(
        &self,
        counts: &DuelCounts,
        item: usize,
        other: usize,
        rng: &mut R,
    ) -> bool {
        let draw = rng.next_u64();
        let estimate = self.estimates[item * self.n_items + other];
        if draw.abs_diff(estimate) > MARGIN { draw < estimate } else { is_below(draw, counts, item, other) }
    }
}

/// Returns whether a draw is below the chance of `item`, by the sum.
#[cold]
fn is_below(draw: u64, counts: &DuelCounts, item: usize, other: usize) -> bool {
    draw < above_half(counts.wins(item, other), counts.wins(other, item))
}

/// Draws samples if they exceed 1/2.
#[derive(Debug, Clone)]
pub(super) struct Upsets {
    /// One row per item: the limits of the others' samples against it.
    limits: Vec<u64>,
    sampler: Sampler,
}

/// If the limit exceeds this share of 2^64, a Beta variate is drawn.
const SMALL: f64 = 0.25;

impl Upsets {
    pub(super) fn new(counts: &DuelCounts) -> Self {
        Self { limits: counts.table(|wins, losses| limit(losses, wins)), sampler: Sampler::new() }
    }

    /// Updates the limits after the counts of these two items changed.
    #[inline]
    pub(super) fn set(&mut self, counts: &DuelCounts, item: usize, other: usize) {
        let n_items = counts.shape.n_items();
        let (wins, losses) = (counts.wins(item, other), counts.wins(other, item));
        self.limits[other * n_items + item] = limit(wins, losses);
        self.limits[item * n_items + other] = limit(losses, wins);
    }

    /// Samples of the probabilities that the others that are `wanted` are preferred to `item`, in
    /// the order of their numbers. `drawn` gets those that exceed 1/2.
    #[inline]
    pub(super) fn draw_all<R: Rng + ?Sized>(
        &self,
        counts: &DuelCounts,
        item: usize,
        rng: &mut R,
        wanted: impl Fn(usize) -> bool,
        mut drawn: impl FnMut(usize, f64),
    ) {
        let n_items = counts.shape.n_items();
        let limits = &self.limits[item * n_items..][..n_items];
        let mut next = 0;
        loop {
            // The next item whose sample may exceed 1/2. Without calls the generator stays in
            // registers.
            let mut candidate = None;
            while candidate.is_none() && next < limits.len() {
                let (other, limit) = (next, limits[next]);
                next += 1;
                if wanted(other) && (limit == 0 || rng.next_u64() < limit) {
                    candidate = Some((other, limit));
                }
            }
            let Some((other, limit)) = candidate else { return };
            let sample = if limit == 0 {
                Some(sample(self.sampler, counts, other, item, rng)).filter(|&sample| sample > 0.5)
            } else {
                propose(float(counts.wins(other, item)), float(counts.wins(item, other)), rng)
            };
            if let Some(sample) = sample {
                drawn(other, sample);
            }
        }
    }
}

/// The probability of a proposal in 2^-64, at least one; 0 if a Beta variate is drawn.
#[inline]
fn limit(wins: u64, losses: u64) -> u64 {
    if wins >= losses {
        return 0;
    }
    let duels = float(wins + losses);
    let probability = (duels + 1.0) * even_binomial(wins, losses) / (2.0 * float(losses - wins));
    if probability > SMALL {
        return 0;
    }
    units(probability).max(1)
}

/// The probability that a `Beta(1 + wins, 1 + losses)` variate exceeds 1/2, in units of 2^-64: the
/// probability of at most `wins` heads in `wins + losses + 1` tosses of a fair coin.
pub(super) fn above_half(wins: u64, losses: u64) -> u64 {
    if wins == losses {
        return 1 << 63;
    }
    if wins > losses {
        return !above_half(losses, wins);
    }
    let (mut sum, mut ratio) = (0.0, 1.0);
    let (mut below, mut above) = (float(wins), float(losses + 2));
    // Every term is smaller than the previous one.
    while ratio > 1e-17 * sum {
        sum += ratio;
        ratio *= below / above;
        below -= 1.0;
        above += 1.0;
    }
    units(even_binomial(wins, losses + 1) * sum)
}

/// A probability below 1, in units of 2^-64.
#[inline]
fn units(probability: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and below 2^64"
    )]
    let units = (probability * 18_446_744_073_709_551_616.0) as u64;
    units
}

/// Draws one proposal.
#[cold]
fn propose<R: Rng + ?Sized>(wins: f64, losses: f64, rng: &mut R) -> Option<f64> {
    let slope = 2.0 * (losses - wins);
    // 1 - u is in (0, 1], so the logarithms are finite.
    let above = -ln(1.0 - rng.random::<f64>()) / slope;
    let accepted = 1.0 - rng.random::<f64>();
    if above >= 0.5 {
        return None;
    }
    let ratio = wins * ln_1p(2.0 * above) + losses * ln_1p(-2.0 * above) + slope * above;
    (ln(accepted) < ratio).then_some(0.5 + above)
}

/// `C(n, k) / 2^n`, `n = k + rest`, for `k <= rest`.
fn even_binomial(k: u64, rest: u64) -> f64 {
    let n = float(k + rest);
    if k < FEW {
        let factors = (1..=k).map(|i| ln(float(rest + i) / float(i)));
        return libm::exp(factors.sum::<f64>() - n * std::f64::consts::LN_2);
    }
    let (k, rest) = (float(k), float(rest));
    let correction = stirling_error(n) - stirling_error(k) - stirling_error(rest);
    let exponent = correction - n * bernoulli_kl(k / n, 0.5);
    libm::exp(exponent) * (n / (2.0 * std::f64::consts::PI * k * rest)).sqrt()
}

/// Below this number binomial coefficients are products.
const FEW: u64 = 16;

#[cfg(test)]
mod tests;
