//! The multi-position KL index: how attractive an item may still be, given its clicks at several
//! positions.
//!
//! # Definition
//!
//! An item that was shown `N_l` times at position `l` and clicked `S_l` times there has
//!
//! ```text
//! Phi(q) = sum_l N_l d(S_l / N_l, kappa_l q)                    kappa_l: probability that position l is examined
//! U = max { q in [theta_min, 1] : Phi(q) <= level },    lower = min { q in [0, theta_min] : Phi(q) <= level }
//! ```
//!
//! where `theta_min` is the arg min of the convex function `Phi` over `[0, 1]`.
//!
//! Reference: Lagree, Vernade and Cappe, *Multiple-play bandits in the position-based model*, 2016,
//! equation (7). The lower index is its mirror image and not in the paper.
//!
//! Deviations: the paper's "minimum" is the arg min. It does not define the following cases:
//!
//! - With several positions, `min Phi` is positive in general and may exceed the level. Then the
//!   set is empty, and both indices are `theta_min`.
//! - No data: `U = 1`, `lower = 0`. No clicks: `theta_min = 0`. Clicks on every show:
//!   `theta_min = 1`.
//! - A position that is never examined (`kappa_l = 0`, or below 1e-100) carries no information and
//!   is ignored.
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `clicks` | `S_{k,l}` | one count per position | clicks |
//! | `shows` | `N_{k,l}` | one count per position | shows |
//! | `examination` | `kappa_l` | one number in `[0, 1]` per position | probability |
//! | `level` | `delta` | number, not negative | nats |
//! | result | `U_k(t, delta)` | number in `[0, 1]` | probability |
//!
//! # Numerics
//!
//! `Phi` is summed from [`relative_entropy`](crate::math::relative_entropy) terms, none negative,
//! each accurate in relative terms. `Phi` is convex, so a Newton step from *any* point right of
//! `theta_min` ends right of the upper root (the tangent lies below the function), and one from the
//! left ends left of the lower root. The last step of the solver is such a step, plus a bound on
//! its rounding error: an upper index never lies below the true root, a lower one never above it.
//!
//! Arguments out of range are clamped: clicks beyond shows count as shows, examinations outside
//! `[0, 1]` as the nearer edge (NaN as 0), a negative level as 0, and a positive level below 1e-250
//! as 1e-250. Slices of unequal length are cut to the shortest.
//!
//! Complexity: time proportional to the number of positions, usually three evaluations of `Phi`; no
//! allocation.
//!
//! ```
//! use confidence::{kl_ucb_upper, multi_position_upper};
//!
//! // No click in 5 shows at one position: 5 (-ln(1 - 0.8 q)) = 2, so q = (1 - exp(-0.4)) / 0.8.
//! let upper = multi_position_upper(&[0], &[5], &[0.8], 2.0);
//! assert!((upper - 0.412_099_942_455_450_9).abs() < 1e-12);
//! // One position that is always examined: plain KL-UCB.
//! let plain = kl_ucb_upper(0.3, 10.0, 2.0);
//! assert!((multi_position_upper(&[3], &[10], &[1.0], 2.0) - plain).abs() < 1e-12);
//! ```

mod item;

use item::Item;

/// Examination probabilities below this count as 0: a hundred orders of magnitude away from any
/// effect, and from underflow.
pub(crate) const LEAST_EXAMINATION: f64 = 1e-100;
/// Positive levels below this value are raised to it.
const LEAST_LEVEL: f64 = 1e-250;

/// The arg min and the minimum of an item's [`multi_position_divergence`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultiPositionMinimum {
    /// The arg min over `[0, 1]`: the maximum-likelihood estimate of the item's attraction
    /// probability.
    pub theta: f64,
    /// The divergence there, in nats; an index is feasible if the level is at least this.
    pub divergence: f64,
}

/// `sum_l N_l d(S_l / N_l, kappa_l q)`, the function that the multi-position index inverts; may be
/// `+inf`.
///
/// `q` outside `[0, 1]` counts as the nearer edge.
///
/// ```
/// // d(1/2, 1/4) = ln(4/3) / 2, four times
/// let phi = confidence::multi_position_divergence(&[2], &[4], &[0.5], 0.5);
/// assert!((phi - 2.0 * 0.287_682_072_451_780_9).abs() < 1e-14);
/// ```
pub fn multi_position_divergence(clicks: &[u64], shows: &[u64], examination: &[f64], q: f64) -> f64 {
    let q = q.clamp(0.0, 1.0);
    Item::new(clicks, shows, examination).value(q)
}

/// The arg min of [`multi_position_divergence`] and its value there; `None` without data.
///
/// ```
/// let minimum = confidence::multi_position_minimum(&[3], &[10], &[0.5]).unwrap();
/// assert!((minimum.theta - 0.6).abs() < 1e-15);
/// assert!(confidence::multi_position_minimum(&[0], &[0], &[0.5]).is_none());
/// ```
pub fn multi_position_minimum(
    clicks: &[u64],
    shows: &[u64],
    examination: &[f64],
) -> Option<MultiPositionMinimum> {
    let item = Item::new(clicks, shows, examination);
    let totals = item.totals();
    if totals.clicks + totals.failures == 0.0 {
        return None;
    }
    let theta = item.minimum(&totals);
    Some(MultiPositionMinimum { theta, divergence: item.value(theta) })
}

/// The upper multi-position KL index, equation (7) of the PBM paper; never below the true root.
///
/// See the [module](self) for the conventions.
pub fn multi_position_upper(clicks: &[u64], shows: &[u64], examination: &[f64], level: f64) -> f64 {
    let item = Item::new(clicks, shows, examination);
    let totals = item.totals();
    if totals.failures == 0.0 || level.is_nan() {
        return 1.0;
    }
    item.solve::<true>(&totals, usable(level))
}

/// The lower multi-position KL index; never above the true root.
///
/// See the [module](self) for the conventions.
///
/// ```
/// // Ten clicks in ten shows, always examined: -10 ln q = 2.
/// let lower = confidence::multi_position_lower(&[10], &[10], &[1.0], 2.0);
/// assert!((lower - 0.818_730_753_077_981_8).abs() < 1e-12);
/// ```
pub fn multi_position_lower(clicks: &[u64], shows: &[u64], examination: &[f64], level: f64) -> f64 {
    let item = Item::new(clicks, shows, examination);
    let totals = item.totals();
    if totals.clicks == 0.0 || level.is_nan() {
        return 0.0;
    }
    item.solve::<false>(&totals, usable(level))
}

/// The level that the solver uses: not negative, and far enough from underflow if positive.
pub(crate) fn usable(level: f64) -> f64 {
    if level <= 0.0 { 0.0 } else { level.max(LEAST_LEVEL) }
}
