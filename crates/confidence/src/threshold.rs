//! Inverted tests: can an arm's upper index reach a given threshold? Without solving for the index.
//!
//! # Definition
//!
//! A policy that only needs to know which indices reach a threshold `q*` (the L-th best index so far, or a leader's mean) need not
//! compute the others. With `S` clicks, `F` failures, `n = S + F` and the cached
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
//! `d(p, .)` is convex with its minimum 0 at `p`, so it increases on `[p, 1]`. Let `U` be the upper index.
//!
//! 1. If `q* <= p`, then `U >= p >= q*`.
//! 2. If `q* > p` and `n d(p, q*) <= level`, then `q*` is in the set whose maximum is `U`, so `U >= q*`.
//! 3. If `q* > p` and `n d(p, q*) > level`, then no `q >= q*` is in the set, so `U < q*`.
//!
//! Hence `U >= q*` if and only if `q* <= p` or `n d(p, q*) <= level`. The multi-position index is the same with `Phi` for `n d(p, .)` and
//! its arg min for `p`; `q* <= theta_min` is the same as `Phi'(q*) <= 0`, that is
//! `S >= sum_l F_l kappa_l q* / (1 - kappa_l q*)`, and it also covers the case that no `q` satisfies `Phi(q) <= level`, where `U = theta_min`.
//!
//! # Rounding
//!
//! The index in question is the *computed* one, so that a policy that skips arms chooses exactly as one that solves all. With
//!
//! ```text
//! slack = SLACK (level + |H| + S (|ln q*| + 1) + F (|ln(1 - q*)| + q* / (1 - q*))),      SLACK = 2^-42
//! ```
//!
//! an arm is *excluded* if `q* > p` and `n d > level`, both by more than the slack: its computed index is below `q*`. It is *included*
//! if one of `q* <= p`, `n d <= level` holds with the slack to spare: its computed index is at least `q*`. In between, which
//! has a width of about 1e-12 in terms of `q`, solve.
//!
//! The slack is enough. A computed upper index lies above the true root by at most 2e-14 of its distance from `p` plus four units in
//! the last place, which raises `n d` by less than `4e-14 (level + F q* / (1 - q*)) + 2^-50 (S + F q* / (1 - q*))`; `p = S / n` is
//! rounded once, which changes `n d` by less than `2^-53 S` times a difference of log-odds below 620 (thresholds below 1e-250
//! are left to the solver); and each product and sum above is off by a few `2^-53` of its size. Together that is less than half
//! of the slack.
//!
//! For several positions, `Phi'` counts as positive or negative only if that survives a relative change of `q*` by 2^-46 as well, which is far
//! more than the error of a computed arg min.
//!
//! Reference: the test is folklore; PBM-PIE's set `B(t)` (Lagree, Vernade and Cappe 2016, Algorithm 1) is this question. Deviations: none.
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `entropy` | `H` | nats |
//! | `clicks`, `failures` | `S`, `F` | counts |
//! | `q` | `q*` | probability |
//! | `level` | exploration level | nats |
//!
//! Numerics: as above. Many arms at once are scanned by [`KlUcbThreshold::candidates`], in blocks without branches, and in half the time by
//! [`KlUcbThreshold::rough_candidates`] on numbers rounded to `f32`, with a slack of 2^-20.
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

use crate::Error;
use crate::math::{ln, ln_1p, ln_ratio};
use crate::multi_position::{self, LEAST_EXAMINATION};

/// Relative slack of the tests, see the [module](self).
const SLACK: f64 = 1.0 / (1_u64 << 42) as f64;

/// Relative error of `q`, and of a computed arg min, that the sign of the slope allows for.
const SLOPE_SLACK: f64 = 1.0 / (1_u64 << 46) as f64;

/// Thresholds below this are left to the solver: the slack would vanish between subnormal numbers.
const TINY: f64 = 1e-250;

/// The most positions that [`MultiPositionThreshold`] holds.
pub const MAX_POSITIONS: usize = 64;

/// `x ln(x / y)`, with `0 ln 0 = 0`; `difference` is `x - y`.
#[inline]
fn weighted_log_ratio(x: f64, y: f64, difference: f64) -> f64 {
    if x > 0.0 { x * ln_ratio(y, x, difference) } else { 0.0 }
}

/// `S ln(S / n) + F ln(F / n)`: what an arm has to remember for [`KlUcbThreshold`], in nats, never positive.
///
/// ```
/// // One click, one failure: 2 ln(1/2)
/// assert!((confidence::kl_ucb_entropy(1.0, 1.0) + 2.0 * core::f64::consts::LN_2).abs() < 1e-15);
/// assert_eq!(confidence::kl_ucb_entropy(0.0, 7.0), 0.0);
/// ```
#[inline]
pub fn kl_ucb_entropy(clicks: f64, failures: f64) -> f64 {
    let n = clicks + failures;
    weighted_log_ratio(clicks, n, -failures) + weighted_log_ratio(failures, n, -clicks)
}

/// `S ln(S / (N kappa)) + F ln(F / N)` of one position: an item's `H` is the sum over its positions, in nats.
///
/// A position that is never examined adds nothing.
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

/// What to do with thresholds for which the formulas have no finite weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Between 0 and 1, both excluded.
    Inside,
    /// At most 0: reached by everything.
    Always,
    /// Exactly 1: reached by an index that is 1, which rounding may also produce.
    One,
    /// Above 1: reached by nothing.
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

/// The level that the solvers use: not negative, and no information for NaN.
#[inline]
fn usable(level: f64) -> f64 {
    if level.is_nan() { f64::INFINITY } else { level.max(0.0) }
}

/// The same for the multi-position index.
#[inline]
fn multi_position_level(level: f64) -> f64 {
    if level.is_nan() { f64::INFINITY } else { multi_position::usable(level) }
}

/// A threshold that upper KL-UCB indices of many arms are compared with.
///
/// Clicks and failures are counts or sums of rewards, not negative.
#[derive(Debug, Clone, Copy)]
pub struct KlUcbThreshold {
    kind: Kind,
    /// `|ln q|` and `|ln(1 - q)|`, lowered by the slack, for [`Self::excludes`].
    low_click: f64,
    low_failure: f64,
    low_odds: f64,
    /// The same raised by the slack, for [`Self::includes`].
    high_click: f64,
    high_failure: f64,
    high_odds: f64,
    /// For [`Self::rough_candidates`], unless the threshold is too small for `f32`.
    rough: Option<Rough>,
}

/// The weights of [`KlUcbThreshold::rough_candidates`].
#[derive(Debug, Clone, Copy)]
struct Rough {
    click: f32,
    failure: f32,
    odds: f32,
    level: f32,
}

impl Rough {
    /// Slack for numbers of 24 bits: sixteen times their rounding.
    const SLACK: f64 = 1.0 / (1_u64 << 20) as f64;
    /// Smaller thresholds, odds and levels would lose digits to underflow.
    const LEAST: f64 = 1e-30;

    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the point")]
    fn new(q: f64, click: f64, failure: f64, odds: f64) -> Option<Self> {
        const LESS: f64 = (1.0 - Rough::SLACK) / (1.0 + Rough::SLACK);
        const LESS_SLACK: f64 = Rough::SLACK / (1.0 + Rough::SLACK);
        (q >= Self::LEAST).then_some(Self {
            click: (click * LESS - LESS_SLACK) as f32,
            failure: (failure * LESS - odds * LESS_SLACK) as f32,
            odds: (odds * LESS) as f32,
            level: 0.0,
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the point")]
    fn with_level(self, level: f64) -> Self {
        Self { level: level.max(Self::LEAST) as f32, ..self }
    }

    #[inline]
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "no branch between the two: the loop over arms is vectorised"
    )]
    fn passes(&self, entropy: f32, clicks: f32, failures: f32) -> bool {
        let divergence = entropy + clicks * self.click + failures * self.failure;
        (divergence <= self.level) | (clicks >= failures * self.odds)
    }
}

impl KlUcbThreshold {
    /// The threshold `q`, any number.
    #[inline]
    pub fn new(q: f64) -> Self {
        // (1 - SLACK) / (1 + SLACK), SLACK / (1 + SLACK), and their counterparts with the opposite signs.
        const LESS: f64 = (1.0 - SLACK) / (1.0 + SLACK);
        const LESS_SLACK: f64 = SLACK / (1.0 + SLACK);
        const MORE: f64 = (1.0 + SLACK) / (1.0 - SLACK);
        const MORE_SLACK: f64 = SLACK / (1.0 - SLACK);
        let kind = Kind::of(q);
        // Without effect unless `q` is inside.
        let q = if kind == Kind::Inside { q } else { 0.5 };
        let (click, failure, odds) = (-ln(q), -ln_1p(-q), q / (1.0 - q));
        Self {
            kind,
            low_click: click * LESS - LESS_SLACK,
            low_failure: failure * LESS - odds * LESS_SLACK,
            low_odds: odds * LESS,
            high_click: click * MORE + MORE_SLACK,
            high_failure: failure * MORE + odds * MORE_SLACK,
            high_odds: odds * MORE,
            rough: Rough::new(q, click, failure, odds),
        }
    }

    /// Whether the computed [`kl_ucb_upper`](crate::kl_ucb_upper)`(S / n, n, level)` is certainly below the threshold.
    ///
    /// `entropy` is [`kl_ucb_entropy`]`(clicks, failures)`.
    #[inline]
    pub fn excludes(&self, entropy: f64, clicks: f64, failures: f64, level: f64) -> bool {
        match self.kind {
            Kind::Inside => !self.passes(entropy, clicks, failures, usable(level)),
            Kind::Never => true,
            Kind::Always | Kind::One | Kind::Unknown => false,
        }
    }

    /// Whether the computed [`kl_ucb_upper`](crate::kl_ucb_upper)`(S / n, n, level)` is certainly at least the threshold.
    ///
    /// `entropy` is [`kl_ucb_entropy`]`(clicks, failures)`.
    #[inline]
    pub fn includes(&self, entropy: f64, clicks: f64, failures: f64, level: f64) -> bool {
        match self.kind {
            Kind::Inside => {
                let divergence = entropy + clicks * self.high_click + failures * self.high_failure;
                divergence <= usable(level) || (clicks > 0.0 && clicks >= failures * self.high_odds)
            }
            Kind::Always => true,
            Kind::One => failures == 0.0 && clicks == 0.0,
            Kind::Never | Kind::Unknown => false,
        }
    }

    /// Calls `found` with the index of each arm that is not excluded, in order: the only ones worth solving.
    ///
    /// The slices hold the arms' [`kl_ucb_entropy`], clicks and failures; their common length counts. This is the test for many
    /// arms of which few pass: less than a nanosecond an arm.
    ///
    /// ```
    /// use confidence::{KlUcbThreshold, kl_ucb_entropy};
    ///
    /// let (clicks, failures) = ([2.0, 9.0, 0.0], [8.0, 1.0, 0.0]);
    /// let entropies = [0, 1, 2].map(|arm| kl_ucb_entropy(clicks[arm], failures[arm]));
    /// let mut found = vec![];
    /// KlUcbThreshold::new(0.5).candidates(&entropies, &clicks, &failures, 1.0, |arm| found.push(arm));
    /// assert_eq!(found, [1, 2]);
    /// ```
    #[inline]
    pub fn candidates(
        &self,
        entropies: &[f64],
        clicks: &[f64],
        failures: &[f64],
        level: f64,
        mut found: impl FnMut(usize),
    ) {
        // Two arms fill a vector register; more than eight at once would spill.
        const BLOCK: usize = 8;
        let arms = entropies.len().min(clicks.len()).min(failures.len());
        match self.kind {
            Kind::Inside => {}
            Kind::Never => return,
            Kind::Always | Kind::One | Kind::Unknown => return (0..arms).for_each(found),
        }
        let level = usable(level);
        let (entropies, clicks, failures) = (&entropies[..arms], &clicks[..arms], &failures[..arms]);
        let blocks = entropies.as_chunks::<BLOCK>().0.iter();
        let blocks = blocks.zip(clicks.as_chunks::<BLOCK>().0).zip(failures.as_chunks::<BLOCK>().0);
        for (block, ((entropies, clicks), failures)) in blocks.enumerate() {
            // Without a branch, in vector registers; then one branch, hardly ever taken.
            let mut passes = [0_u64; BLOCK];
            for arm in 0..BLOCK {
                passes[arm] = u64::from(self.passes(entropies[arm], clicks[arm], failures[arm], level));
            }
            if passes.iter().fold(0, |any, pass| any | pass) != 0 {
                let mut left = passes.iter().rev().fold(0_u64, |bits, pass| bits << 1 | pass);
                while left != 0 {
                    found(block * BLOCK + left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        }
        for arm in arms - arms % BLOCK..arms {
            if self.passes(entropies[arm], clicks[arm], failures[arm], level) {
                found(arm);
            }
        }
    }

    /// [`Self::candidates`] on counts and entropies rounded to `f32`: twice as fast, and now and then an arm too many.
    ///
    /// Calls `found` for each arm that is not *clearly* excluded, with a slack of 2^-20 instead of 2^-42, which allows for all roundings to
    /// `f32`, those of the arguments (`as f32`) included. So every arm that [`Self::candidates`] finds is found, and all that it costs
    /// is that a few more arms are solved.
    ///
    /// ```
    /// use confidence::{KlUcbThreshold, kl_ucb_entropy};
    ///
    /// let (clicks, failures) = ([2.0_f32, 9.0, 0.0], [8.0_f32, 1.0, 0.0]);
    /// let entropies = [0, 1, 2].map(|arm| kl_ucb_entropy(clicks[arm].into(), failures[arm].into()) as f32);
    /// let mut found = vec![];
    /// KlUcbThreshold::new(0.5).rough_candidates(&entropies, &clicks, &failures, 1.0, |arm| found.push(arm));
    /// assert_eq!(found, [1, 2]);
    /// ```
    #[inline]
    pub fn rough_candidates(
        &self,
        entropies: &[f32],
        clicks: &[f32],
        failures: &[f32],
        level: f64,
        mut found: impl FnMut(usize),
    ) {
        // Four arms fill a vector register.
        const BLOCK: usize = 16;
        let arms = entropies.len().min(clicks.len()).min(failures.len());
        let test = match (self.kind, &self.rough) {
            (Kind::Inside, Some(rough)) => rough.with_level(usable(level)),
            (Kind::Never, _) => return,
            _ => return (0..arms).for_each(found),
        };
        let (entropies, clicks, failures) = (&entropies[..arms], &clicks[..arms], &failures[..arms]);
        let blocks = entropies.as_chunks::<BLOCK>().0.iter();
        let blocks = blocks.zip(clicks.as_chunks::<BLOCK>().0).zip(failures.as_chunks::<BLOCK>().0);
        for (block, ((entropies, clicks), failures)) in blocks.enumerate() {
            let mut passes = [0_u32; BLOCK];
            for arm in 0..BLOCK {
                passes[arm] = u32::from(test.passes(entropies[arm], clicks[arm], failures[arm]));
            }
            if passes.iter().fold(0, |any, pass| any | pass) != 0 {
                (0..BLOCK).filter(|&arm| passes[arm] != 0).for_each(|arm| found(block * BLOCK + arm));
            }
        }
        for arm in arms - arms % BLOCK..arms {
            if test.passes(entropies[arm], clicks[arm], failures[arm]) {
                found(arm);
            }
        }
    }

    /// Whether the arm is not excluded, for a threshold inside (0, 1).
    #[inline]
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "no branch between the two: the loop over arms is vectorised"
    )]
    fn passes(&self, entropy: f64, clicks: f64, failures: f64, level: f64) -> bool {
        // The slack on H and on the level is a common factor, so it is in the weights.
        let divergence = entropy + clicks * self.low_click + failures * self.low_failure;
        (divergence <= level) | (clicks >= failures * self.low_odds)
    }
}

/// A threshold that upper multi-position indices of many items are compared with; made once, set every round.
///
/// An item is described by its `entropy` (the sum of [`multi_position_entropy`] over positions), all its clicks at positions with
/// positive examination probability, and its failures at each position.
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
    /// The largest relative change of any of the odds for a relative change of `q`: `1 / (1 - kappa q)`.
    steepest: f64,
}

/// An item beside a threshold.
struct Comparison {
    /// `Phi(q)`.
    divergence: f64,
    divergence_slack: f64,
    /// `q Phi'(q)`.
    slope: f64,
    slope_slack: f64,
}

impl MultiPositionThreshold {
    /// A threshold for items shown at positions with these examination probabilities; at 0 until [`Self::set`].
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

    /// Moves the threshold to `q`, any number: one logarithm a position.
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

    /// Whether the computed [`multi_position_upper`](crate::multi_position_upper) is certainly below the threshold.
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

    /// Whether the computed [`multi_position_upper`](crate::multi_position_upper) is certainly at least the threshold.
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
