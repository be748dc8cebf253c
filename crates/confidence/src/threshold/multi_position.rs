//! [`MultiPositionThreshold`]: inverted tests of the multi-position index.

use super::{Kind, SLACK, weighted_log_ratio};
use crate::Error;
use crate::math::{ln, ln_1p};
use crate::multi_position::{self, LEAST_EXAMINATION};

/// Relative error of `q`, and of a computed arg min, that must not change the sign of the slope.
const SLOPE_SLACK: f64 = 1.0 / (1_u64 << 46) as f64;

/// The most positions that [`MultiPositionThreshold`] holds.
pub const MAX_POSITIONS: usize = 64;

/// `S ln(S / (N kappa)) + F ln(F / N)` of one position: an item's `H` is the sum over its
/// positions, in nats.
///
/// A position that is never examined contributes 0.
///
/// ```
/// // One click in two shows, examined half of the time: 1 ln(1 / 1) + 1 ln(1 / 2)
/// let entropy = confidence::multi_position_entropy(1.0, 1.0, 0.5);
/// assert!((entropy + core::f64::consts::LN_2).abs() < 1e-15);
/// ```
#[inline]
pub fn multi_position_entropy(clicks: f64, failures: f64, examination: f64) -> f64 {
    if examination < LEAST_EXAMINATION || examination.is_nan() {
        return 0.0;
    }
    let n = clicks + failures;
    let expected = n * examination.min(1.0);
    weighted_log_ratio(clicks, expected, clicks - expected) + weighted_log_ratio(failures, n, -clicks)
}

/// The level that the solver uses: not negative, and `+inf` for NaN.
fn multi_position_level(level: f64) -> f64 {
    if level.is_nan() { f64::INFINITY } else { multi_position::usable(level) }
}

/// A threshold for the upper multi-position indices of many items; create it once, then set it
/// every round.
///
/// An item is described by its `entropy` (the sum of [`multi_position_entropy`] over positions),
/// the number of its clicks at positions with positive examination probability, and its failures at
/// each position.
///
/// ```
/// use confidence::{MultiPositionThreshold, multi_position_entropy, multi_position_upper};
///
/// let examination = [0.9, 0.6];
/// let mut threshold = MultiPositionThreshold::new(&examination)?;
/// threshold.set(0.7);
/// // 3 clicks in 10 shows at the first position, 1 in 10 at the second.
/// let entropy = multi_position_entropy(3.0, 7.0, 0.9) + multi_position_entropy(1.0, 9.0, 0.6);
/// for level in [0.5, 1.0, 2.0, 4.0, 8.0] {
///     let upper = multi_position_upper(&[3, 1], &[10, 10], &examination, level);
///     assert_eq!(threshold.includes(entropy, 4.0, &[7.0, 9.0], level), upper >= 0.7);
///     assert_eq!(threshold.excludes(entropy, 4.0, &[7.0, 9.0], level), upper < 0.7);
/// }
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MultiPositionThreshold {
    kind: Kind,
    positions: usize,
    examination: [f64; MAX_POSITIONS],
    /// `|ln q|`.
    click: f64,
    /// `|ln(1 - kappa_l q)|`.
    failure: [f64; MAX_POSITIONS],
    /// `kappa_l q / (1 - kappa_l q)`.
    odds: [f64; MAX_POSITIONS],
    /// The largest relative change of any of the odds for a relative change of `q`:
    /// `1 / (1 - kappa q)`.
    steepest: f64,
}

/// An item compared with a threshold.
struct Comparison {
    /// `Phi(q)`.
    divergence: f64,
    divergence_slack: f64,
    /// `q Phi'(q)`.
    slope: f64,
    slope_slack: f64,
}

impl MultiPositionThreshold {
    /// A threshold for items shown at positions with these examination probabilities; it is 0 until
    /// [`Self::set`].
    ///
    /// Values outside `[0, 1]` count as the nearer edge, NaN as 0.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPositions`] for more than [`MAX_POSITIONS`].
    pub fn new(examination: &[f64]) -> Result<Self, Error> {
        if examination.len() > MAX_POSITIONS {
            return Err(Error::TooManyPositions(examination.len()));
        }
        let mut kept = [0.0; MAX_POSITIONS];
        for (kept, &kappa) in kept.iter_mut().zip(examination) {
            *kept = if kappa >= LEAST_EXAMINATION { kappa.min(1.0) } else { 0.0 };
        }
        Ok(Self {
            kind: Kind::Always,
            positions: examination.len(),
            examination: kept,
            click: 0.0,
            failure: [0.0; MAX_POSITIONS],
            odds: [0.0; MAX_POSITIONS],
            steepest: 1.0,
        })
    }

    /// Moves the threshold to `q`, any number. Cost: one logarithm per position.
    #[inline]
    pub fn set(&mut self, q: f64) {
        self.kind = Kind::of(q);
        if self.kind != Kind::Inside {
            return;
        }
        self.click = -ln(q);
        self.steepest = 1.0;
        for position in 0..self.positions {
            let mean = self.examination[position] * q;
            self.failure[position] = -ln_1p(-mean);
            let over_miss = 1.0 / (1.0 - mean);
            self.odds[position] = mean * over_miss;
            self.steepest = self.steepest.max(over_miss);
        }
    }

    /// Returns whether the computed [`multi_position_upper`](crate::multi_position_upper) is
    /// certainly below the threshold.
    #[inline]
    pub fn excludes(&self, entropy: f64, clicks: f64, failures: &[f64], level: f64) -> bool {
        match self.kind {
            Kind::Inside => {
                let level = multi_position_level(level);
                let item = self.compare(entropy, clicks, failures, level);
                item.divergence - level > item.divergence_slack && item.slope > item.slope_slack
            }
            Kind::Never => true,
            Kind::Always | Kind::One | Kind::Unknown => false,
        }
    }

    /// Returns whether the computed [`multi_position_upper`](crate::multi_position_upper) is
    /// certainly at least the threshold.
    #[inline]
    pub fn includes(&self, entropy: f64, clicks: f64, failures: &[f64], level: f64) -> bool {
        match self.kind {
            Kind::Inside => {
                let level = multi_position_level(level);
                let item = self.compare(entropy, clicks, failures, level);
                level - item.divergence >= item.divergence_slack || -item.slope > item.slope_slack
            }
            Kind::Always => true,
            Kind::One | Kind::Never | Kind::Unknown => false,
        }
    }

    #[inline]
    fn compare(&self, entropy: f64, clicks: f64, failures: &[f64], level: f64) -> Comparison {
        let (mut cost, mut odds) = (0.0, 0.0);
        for (&failures, (&failure, &position_odds)) in
            failures.iter().zip(self.failure.iter().zip(&self.odds))
        {
            cost += failures * failure;
            odds += failures * position_odds;
        }
        Comparison {
            divergence: entropy + clicks * self.click + cost,
            divergence_slack: SLACK * (level + entropy.abs() + clicks * (self.click + 1.0) + cost + odds),
            slope: odds - clicks,
            slope_slack: SLACK * (clicks + odds) + SLOPE_SLACK * odds * self.steepest,
        }
    }
}
