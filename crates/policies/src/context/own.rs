//! Independent normal coefficients with one prior for all of a kind, whose standard deviation is
//! estimated.

use super::normal::LARGEST;
use crate::Error;
use crate::checked::with_state;
use crate::setup::restored;

/// The range of an estimated standard deviation.
const DEVIATIONS: std::ops::RangeInclusive<f64> = 0.03..=3.0;

with_state! {
/// Coefficients of one kind, `N(0, deviation^2)` each before the first answer.
#[derive(PartialEq)]
pub(super) struct Independent {
    pub(super) deviation: f64,
    pub(super) means: Vec<f64>,
    pub(super) precisions: Vec<f64>,
} derived {
    /// Reciprocals of the precisions, so that scores need no division.
    pub(super) variances: Vec<f64> = precisions.iter().map(|precision| 1.0 / precision).collect(),
}
}

impl Independent {
    pub(super) fn new(n: usize, deviation: f64) -> Self {
        let precisions = vec![1.0 / (deviation * deviation); n];
        Self::assemble(State { deviation, means: vec![0.0; n], precisions })
    }

    pub(super) fn len(&self) -> usize {
        self.means.len()
    }

    /// Adds coefficients of which nothing is known.
    pub(super) fn extend(&mut self, n: usize) {
        let more = Self::new(n, self.deviation);
        self.means.extend(more.means);
        self.precisions.extend(more.precisions);
        self.variances.extend(more.variances);
    }

    /// Makes `rows` of equal length this long; nothing is known of the coefficients at their ends.
    pub(super) fn widen(&mut self, rows: usize, width: usize) {
        let (before, mut wide) = (self.len() / rows, Self::new(rows * width, self.deviation));
        for row in 0..rows {
            let (from, to) = (row * before..(row + 1) * before, row * width..row * width + before);
            wide.means[to.clone()].copy_from_slice(&self.means[from.clone()]);
            wide.precisions[to.clone()].copy_from_slice(&self.precisions[from.clone()]);
            wide.variances[to].copy_from_slice(&self.variances[from]);
        }
        *self = wide;
    }

    /// Forgets what is known of a coefficient.
    pub(super) fn forget(&mut self, place: usize) {
        let precision = 1.0 / (self.deviation * self.deviation);
        (self.means[place], self.precisions[place]) = (0.0, precision);
        self.variances[place] = 1.0 / precision;
    }

    /// Whether a coefficient has been learned; rounding may have moved the precision of others.
    pub(super) fn is_learned(&self, place: usize) -> bool {
        let prior = 1.0 / (self.deviation * self.deviation);
        self.means[place] != 0.0 || self.precisions[place] > prior * (1.0 + 1e-9)
    }

    /// Learns from an answer whose log-odds have this coefficient times `factor` as a part.
    pub(super) fn learn(&mut self, place: usize, factor: f64, step: f64, information: f64) {
        self.means[place] += factor * self.variances[place] * step;
        self.precisions[place] += factor * factor * information;
        self.variances[place] = 1.0 / self.precisions[place];
    }

    /// Estimates the standard deviation by a step of expectation and maximisation, as if `worth`
    /// coefficients of standard deviation `usual` had been seen, and takes it for the prior.
    ///
    /// Without them a few lists, whose sum of squares is nearly 0, would pool everything.
    pub(super) fn estimate(&mut self, worth: f64, usual: f64) {
        let before = 1.0 / (self.deviation * self.deviation);
        let (mut squares, mut seen) = (worth * usual * usual, worth);
        for (mean, variance) in self.means.iter().zip(&self.variances) {
            squares += mean * mean;
            seen += 1.0 - before * variance;
        }
        self.deviation = (squares / seen).sqrt().clamp(*DEVIATIONS.start(), *DEVIATIONS.end());
        let now = 1.0 / (self.deviation * self.deviation);
        let numbers = self.means.iter_mut().zip(&mut self.precisions).zip(&mut self.variances);
        for ((mean, precision), variance) in numbers {
            let other = (*precision + now - before).max(now);
            *mean *= *precision / other;
            *precision = other;
            *variance = 1.0 / other;
        }
    }
}

restored!(Independent, |saved| {
    let State { deviation, means, precisions } = &saved;
    if means.len() != precisions.len() {
        return Err(Error::SavedSizes);
    }
    let is_posterior = means.iter().all(|mean| mean.abs() <= LARGEST)
        && precisions.iter().all(|precision| *precision > 0.0 && *precision <= LARGEST);
    if is_posterior && DEVIATIONS.contains(deviation) {
        Ok(Self::assemble(saved))
    } else {
        Err(Error::SavedPosterior)
    }
});
