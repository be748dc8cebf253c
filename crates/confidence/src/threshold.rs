//! Inverted tests: they decide whether an arm's upper index reaches a given threshold without
//! solving for the index.
//!
//! # Definition
//!
//! A policy that only needs to know which indices reach a threshold `q*` (the L-th best index so
//! far, or a leader's mean) need not compute the others. With `S` clicks, `F` failures, `n = S + F`
//! and the cached
//!
//! ```text
//! H = S ln(S / n) + F ln(F / n)          (changes only when the arm is shown)
//! n d(S / n, q*) = H - S ln q* - F ln(1 - q*)
//! ```
//!
//! an arm costs two multiplications and additions; the two logarithms are shared by all arms.
//!
//! # Proof
//!
//! `d(p, .)` is convex with its minimum 0 at `p`, so it increases on `[p, 1]`. Let `U` be the upper
//! index.
//!
//! 1. If `q* <= p`, then `U >= p >= q*`.
//! 2. If `q* > p` and `n d(p, q*) <= level`, then `q*` is in the set whose maximum is `U`, so
//!    `U >= q*`.
//! 3. If `q* > p` and `n d(p, q*) > level`, then no `q >= q*` is in the set, so `U < q*`.
//!
//! Hence `U >= q*` if and only if `q* <= p` or `n d(p, q*) <= level`. The multi-position index is
//! the same with `Phi` for `n d(p, .)` and its arg min for `p`; `q* <= theta_min` is the same as
//! `Phi'(q*) <= 0`, that is `S >= sum_l F_l kappa_l q* / (1 - kappa_l q*)`, and it also covers the
//! case that no `q` satisfies `Phi(q) <= level`, where `U = theta_min`.
//!
//! # Rounding
//!
//! The test is about the *computed* index, so that a policy that skips arms makes exactly the
//! choices of one that solves for all. With
//!
//! ```text
//! slack = SLACK (level + |H| + S (|ln q*| + 1) + F (|ln(1 - q*)| + q* / (1 - q*))),      SLACK = 2^-42
//! ```
//!
//! an arm is *excluded* if `q* > p` and `n d > level`, both by more than the slack: its computed
//! index is below `q*`. It is *included* if one of `q* <= p`, `n d <= level` holds with the slack
//! to spare: its computed index is at least `q*`. Between the two, in a band of about 1e-12 in
//! terms of `q`, the caller solves for the index.
//!
//! The slack is enough. A computed upper index lies above the true root by at most 2e-14 of its
//! distance from `p` plus four units in the last place, which raises `n d` by less than `4e-14
//! (level + F q* / (1 - q*)) + 2^-50 (S + F q* / (1 - q*))`; `p = S / n` is rounded once, which
//! changes `n d` by less than `2^-53 S` times a difference of log-odds below 620 (thresholds below
//! 1e-250 are left to the solver); and each product and sum above is off by a few `2^-53` of its
//! size. Together that is less than half of the slack.
//!
//! For several positions, `Phi'` counts as positive or negative only if its sign also survives a
//! relative change of `q*` by 2^-46, which is far more than the error of a computed arg min.
//!
//! Reference: the test is folklore; it decides membership in PBM-PIE's set `B(t)` (Lagree, Vernade
//! and Cappe 2016, Algorithm 1). Deviations: none.
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `entropy` | `H` | nats |
//! | `clicks`, `failures` | `S`, `F` | counts |
//! | `q` | `q*` | probability |
//! | `level` | exploration level | nats |
//!
//! Numerics: as above. [`KlUcbThreshold::rough_candidates`] scans many arms in blocks without
//! branches, on numbers rounded to `f32` and with a slack of 2^-20.
//!
//! Complexity: constant time for an arm, or proportional to the number of positions; no allocation.
//!
//! ```
//! use confidence::{KlUcbThreshold, kl_ucb_entropy, kl_ucb_upper};
//!
//! let threshold = KlUcbThreshold::new(0.5);
//! // 2 clicks in 10 shows: 10 d(0.2, 0.5) = 1.927...
//! let entropy = kl_ucb_entropy(2.0, 8.0);
//! assert!(threshold.includes(entropy, 2.0, 8.0, 2.0) && kl_ucb_upper(0.2, 10.0, 2.0) >= 0.5);
//! assert!(threshold.excludes(entropy, 2.0, 8.0, 1.9) && kl_ucb_upper(0.2, 10.0, 1.9) < 0.5);
//! ```

mod kl_ucb;
mod multi_position;

pub use kl_ucb::{KlUcbThreshold, kl_ucb_entropy};
pub use multi_position::{MAX_POSITIONS, MultiPositionThreshold, multi_position_entropy};

use crate::math::ln_ratio;

/// Relative slack of the tests, see the [module](self).
const SLACK: f64 = 1.0 / (1_u64 << 42) as f64;

/// The solver handles thresholds below this: their slack would underflow to subnormal numbers.
const TINY: f64 = 1e-250;

/// `x ln(x / y)`, with `0 ln 0 = 0`; `difference` is `x - y`.
#[inline]
fn weighted_log_ratio(x: f64, y: f64, difference: f64) -> f64 {
    if x > 0.0 { x * ln_ratio(y, x, difference) } else { 0.0 }
}

/// Classifies thresholds, including those for which the formulas have no finite weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Between 0 and 1, both excluded.
    Inside,
    /// At most 0: every index reaches it.
    Always,
    /// Exactly 1: only an index of 1 reaches it, which rounding may also produce.
    One,
    /// Above 1: no index reaches it.
    Never,
    /// NaN, or so small that the slack underflows: nothing is certain.
    Unknown,
}

impl Kind {
    fn of(q: f64) -> Self {
        if q.is_nan() {
            Self::Unknown
        } else if q <= 0.0 {
            Self::Always
        } else if q < TINY {
            Self::Unknown
        } else if q < 1.0 {
            Self::Inside
        } else if q == 1.0 {
            Self::One
        } else {
            Self::Never
        }
    }
}
