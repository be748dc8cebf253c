//! The prior of the attraction of every item.

use crate::checked::checked;
use crate::{Error, Tally};
use confidence::math::{ln, ln_1p};
use serde::{Deserialize, Serialize};

/// A Beta distribution as prior of the attraction of every item: as if every item began with
/// `a - 1` clicks and `b - 1` displays without a click.
///
/// # Examples
///
/// ```
/// use click_models::ListShape;
/// use policies::{Bayesian, PrefixTs, Prior};
///
/// // Three clicks in a hundred displays are usual.
/// let prior = Prior::new(0.3, 9.7)?;
/// PrefixTs::new(ListShape::new(5, 3)?).set_prior(prior)?;
/// assert!(Prior::new(0.0, 9.7).is_err() && Prior::new(0.3, 0.7).is_err());
/// # Ok::<(), policies::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(remote = "Self")]
#[fieldwork(get(doc_template = "{}"))]
pub struct Prior {
    /// The first shape.
    a: f64,
    /// The second shape.
    b: f64,
}

impl Prior {
    /// The most displays that a prior is worth.
    pub(crate) const MOST: f64 = 1_073_741_824.0;

    /// The least first shape of an estimate.
    pub(crate) const LEAST: f64 = 1e-3;

    /// Beta(1, 1), which is uniform.
    pub const UNIFORM: Self = Self { a: 1.0, b: 1.0 };

    /// Beta(`a`, `b`).
    ///
    /// # Errors
    ///
    /// [`Error::NotAPrior`] unless `a` is above 0, `b` is at least 1, and both are at most 2^30.
    pub fn new(a: f64, b: f64) -> Result<Self, Error> {
        let is_sound = a > 0.0 && (1.0..=Self::MOST).contains(&b) && a <= Self::MOST;
        if is_sound { Ok(Self { a, b }) } else { Err(Error::NotAPrior { a, b }) }
    }

    /// The clicks that the prior is worth; negative if `a` is below 1.
    pub(crate) fn clicks(self) -> f64 {
        self.a - 1.0
    }

    /// The displays without a click that the prior is worth.
    pub(crate) fn failures(self) -> f64 {
        self.b - 1.0
    }

    /// The mean of an item's attraction after these displays and clicks at each position, given how
    /// probably each is examined; without `examination` all displays were examined.
    ///
    /// With `N_l` displays and `C_l` clicks at position `l`, the density of the attraction `x` is
    /// proportional to `x^(a - 1 + C) (1 - x)^(b - 1)` times all `(1 - kappa_l x)^(N_l - C_l)`.
    ///
    /// Numerics: a Beta distribution if all displays were examined. Otherwise trapezoids in the
    /// log-odds of `x`, at whose ends the density is below `e^-45` of the largest.
    ///
    /// # Examples
    ///
    /// ```
    /// use policies::{Prior, Tally};
    ///
    /// let seen = [Tally { shows: 8, clicks: 3 }];
    /// assert_eq!(Prior::UNIFORM.posterior_mean(&seen, &[]), 0.4);
    /// assert!(Prior::UNIFORM.posterior_mean(&seen, &[0.5]) > 0.6);
    /// ```
    pub fn posterior_mean(self, tallies: &[Tally], examination: &[f64]) -> f64 {
        const INTERVALS: u32 = 4096;
        let examined = |kind: usize| examination.get(kind).copied().unwrap_or(1.0);
        let (mut a, mut b, mut hidden) = (self.a, self.b, Vec::new());
        for (kind, &Tally { shows, clicks }) in
            tallies.iter().enumerate().filter(|&(kind, _)| examined(kind) > 0.0)
        {
            let failures = shows.saturating_sub(clicks) as f64;
            a += clicks as f64;
            if examined(kind) < 1.0 && failures > 0.0 {
                hidden.push((examined(kind), failures));
            } else {
                b += failures;
            }
        }
        if hidden.is_empty() {
            return a / (a + b);
        }
        // Both probabilities from the smaller exponential, so that neither loses its digits.
        let probability = |odds: f64| {
            let small = libm::exp(-odds.abs());
            let [less, more] = [small / (1.0 + small), 1.0 / (1.0 + small)];
            if odds < 0.0 { (less, more) } else { (more, less) }
        };
        let density = |odds: f64| {
            let (x, miss) = probability(odds);
            let of_hidden = hidden.iter().map(|&(examined, failures)| failures * ln_1p(-examined * x));
            a * ln(x) + b * ln(miss) + of_hidden.sum::<f64>()
        };
        let (mut low, mut high) = (-40.0, 40.0);
        for _ in 0..100 {
            let third = (high - low) / 3.0;
            if density(low + third) < density(high - third) { low += third } else { high -= third }
        }
        let (mode, largest) = (low, density(low));
        let end = |sign: f64| {
            let steps = std::iter::successors(Some(1e-6), |step| Some(2.0 * step));
            let beyond = |step: &f64| *step > 500.0 || density(mode + sign * step) < largest - 45.0;
            mode + sign * steps.into_iter().find(beyond).unwrap_or(500.0).min(500.0)
        };
        let (low, high) = (end(-1.0), end(1.0));
        let (mut mass, mut moment) = (0.0, 0.0);
        for place in 0..=INTERVALS {
            let odds = low + (high - low) * f64::from(place) / f64::from(INTERVALS);
            let weight = libm::exp(density(odds) - largest);
            mass += weight;
            moment += weight * probability(odds).0;
        }
        moment / mass
    }

    /// The prior, if its first shape is at least 1.
    pub(crate) fn at_least_1(self) -> Result<Self, Error> {
        let Self { a, b } = self;
        if a >= 1.0 { Ok(self) } else { Err(Error::PriorTooSmall { a, b }) }
    }
}

impl Default for Prior {
    fn default() -> Self {
        Self::UNIFORM
    }
}

checked!(Prior, |self| Self::new(self.a, self.b));
