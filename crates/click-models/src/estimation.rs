//! Estimating the attraction of an item from displays at several positions, in the position-based
//! model.
//!
//! The clicks at position `l` on an item that was shown `shows[l]` times there are Bernoulli with
//! mean `examination[l] * attraction`. The maximum likelihood estimate has no closed form. The
//! pooled estimate
//!
//! ```text
//! all clicks / (sum over l of shows[l] * examination[l])
//! ```
//!
//! is unbiased, and its variance is at most `1 / (1 - attraction)` times the smallest possible
//! variance.
//!
//! Reference: Lagree, Vernade and Cappe, *Multiple-play bandits in the position-based model*, NIPS
//! 2016, section 2, equation (2), and appendix A. Deviations: none; the estimate is not clipped and
//! may exceed 1.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `shows`, `clicks` | `N_{k,l}`, `S_{k,l}` | `n_positions` (L) | displays, clicks |
//! | `examination` | kappa | `n_positions` | probability |
//! | `attraction` | `theta_k` | number | probability |
//! | [`Pooled::shows`], [`Pooled::clicks`] | `N_k`, `S_k` | number | displays, clicks |
//! | [`Pooled::examined`] | `N~_k` | number | displays examined, expected |
//! | [`Pooled::attraction`] | theta hat, (2) | number | clicks per examined display |
//! | [`fisher_information`], [`pooled_variance`] | `I(theta_k)`, upsilon | number | - |
//! | [`pooled_variance_ratio`] | upsilon times `I` | number | - |
//!
//! Numerics: `1 - examination * attraction` is a sum of two non-negative numbers, so nothing
//! cancels; relative error a few times 1e-16 for each position. Complexity: O(`n_positions`), the
//! ratio O(`n_positions`^2).
//!
//! # Examples
//!
//! ```
//! use click_models::estimation::{Pooled, fisher_information, pooled_variance};
//!
//! let (shows, examination) = ([100, 50], [1.0, 0.5]);
//! let seen = Pooled::new(&shows, &[30, 10], &examination);
//! // 40 clicks on 100 * 1 + 50 * 0.5 = 125 examined displays
//! assert_eq!(seen.attraction(), Some(0.32));
//! // 100 / (.5 * .5) + 25 / (.5 * .75), and (100 * .5 * .5 + 25 * .5 * .75) / 125^2
//! assert!((fisher_information(&shows, &examination, 0.5) - 1400.0 / 3.0).abs() < 1e-9);
//! assert!((pooled_variance(&shows, &examination, 0.5).unwrap() - 0.0022).abs() < 1e-15);
//! ```

/// Totals of the clicks on and displays of one item at all positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    /// Displays of the item at any position.
    pub shows: u64,
    /// Clicks on it at any position.
    pub clicks: u64,
    /// Expected number of examined displays.
    pub examined: f64,
}

impl Pooled {
    /// Adds up displays and clicks; totals saturate at `u64::MAX`.
    ///
    /// # Panics
    ///
    /// When the three slices are not equally long.
    pub fn new(shows: &[u64], clicks: &[u64], examination: &[f64]) -> Self {
        assert_eq!(shows.len(), clicks.len(), "one number of clicks a position");
        let total = |counts: &[u64]| counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
        let examined = examined_shows(shows, examination).sum();
        Self { shows: total(shows), clicks: total(clicks), examined }
    }

    /// The pooled estimate of the attraction, equation (2); above 1 if there are more clicks than
    /// expected examined displays.
    ///
    /// `None` if the expected number of examined displays is 0.
    pub fn attraction(&self) -> Option<f64> {
        (self.examined > 0.0).then(|| self.clicks as f64 / self.examined)
    }
}

/// The Fisher information of `shows` displays about the attraction of the item, whose true value is
/// `attraction` (section 2): no unbiased estimate has a smaller variance than its inverse.
///
/// 0 without examined displays; `+inf` if the attraction is 0, or if it is 1 at a position that is
/// always examined. Meaningless, but no panic, if `attraction` or an examination is not a
/// probability.
///
/// # Panics
///
/// When the slices are not equally long.
pub fn fisher_information(shows: &[u64], examination: &[f64], attraction: f64) -> f64 {
    examined_shows(shows, examination)
        .zip(examination)
        .filter(|&(examined, _)| examined != 0.0)
        .map(|(examined, &examination)| examined / (attraction * no_click(examination, attraction)))
        .sum()
}

/// The variance of the pooled estimate after `shows` displays, if the true value is `attraction`
/// (section 2).
///
/// `None` while no display was examined, in expectation. Not a meaningful number, but no panic, if
/// `attraction` or an examination is not a probability.
///
/// # Panics
///
/// When the slices are not equally long.
pub fn pooled_variance(shows: &[u64], examination: &[f64], attraction: f64) -> Option<f64> {
    let total: f64 = examined_shows(shows, examination).sum();
    // Weights first: their squares would leave the range of floating point for tiny examination.
    let mean: f64 = examined_shows(shows, examination)
        .zip(examination)
        .map(|(examined, &examination)| examined / total * no_click(examination, attraction))
        .sum();
    (total > 0.0).then(|| attraction * mean / total)
}

/// The variance of the pooled estimate divided by the smallest possible variance:
/// [`pooled_variance`] times [`fisher_information`].
///
/// It is a weighted arithmetic mean divided by a harmonic mean, so it is at least 1, and at most
/// [`pooled_variance_ratio_limit`]. It is 1 if all displays were at positions with the same
/// examination. If the factors are 0 and infinite, it is defined by its limit.
///
/// `None` while no display was examined, in expectation. Not a meaningful number, but no panic, if
/// `attraction` or an examination is not a probability.
///
/// # Panics
///
/// When the slices are not equally long.
///
/// # Examples
///
/// ```
/// use click_models::estimation::{pooled_variance_ratio, pooled_variance_ratio_limit};
///
/// // 25/32 examined displays have 1 - .5 * .8 = .6 and 7/32 of them .9: weighted mean of them, times that of the inverses.
/// let ratio = pooled_variance_ratio(&[125, 140], &[0.8, 0.2], 0.5).unwrap();
/// let (arithmetic, inverse) = ((100.0 * 0.6 + 28.0 * 0.9) / 128.0, (100.0 / 0.6 + 28.0 / 0.9) / 128.0);
/// assert!((ratio - arithmetic * inverse).abs() < 1e-15);
/// assert!(1.0 <= ratio && ratio <= pooled_variance_ratio_limit(0.5));
/// ```
pub fn pooled_variance_ratio(shows: &[u64], examination: &[f64], attraction: f64) -> Option<f64> {
    let total: f64 = examined_shows(shows, examination).sum();
    let weighted: Vec<(f64, f64)> = examined_shows(shows, examination)
        .zip(examination)
        .filter(|&(examined, _)| examined != 0.0)
        .map(|(examined, &examination)| (examined / total, no_click(examination, attraction)))
        .collect();
    // (sum w a) (sum w / a) = 1 + sum over pairs of w w' (a - a')^2 / (a a') for weights that add
    // up to 1: never below 1.
    let mut ratio = 1.0;
    for (place, &(weight, a)) in weighted.iter().enumerate() {
        for &(other_weight, b) in &weighted[..place] {
            if a != b {
                ratio += weight * other_weight * ((a - b) / a) * ((a - b) / b);
            }
        }
    }
    (total > 0.0).then_some(ratio)
}

/// Upper bound on [`pooled_variance_ratio`] for all examinations: `1 / (1 - attraction)`.
pub fn pooled_variance_ratio_limit(attraction: f64) -> f64 {
    1.0 / (1.0 - attraction)
}

/// The expected numbers of examined displays at each position (`N~_{k,l}`).
fn examined_shows<'a>(shows: &'a [u64], examination: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    assert_eq!(shows.len(), examination.len(), "one examination a position");
    shows.iter().zip(examination).map(|(&shows, examination)| shows as f64 * examination)
}

/// `1 - examination * attraction` as a sum of two non-negative numbers.
fn no_click(examination: f64, attraction: f64) -> f64 {
    (1.0 - examination) + examination * (1.0 - attraction)
}
