//! [`KlUcbThreshold`]: inverted tests of single arms and scans of many.

use super::{Kind, SLACK, weighted_log_ratio};
use crate::math::{ln, ln_1p};

/// `S ln(S / n) + F ln(F / n)`, the value to cache per arm for [`KlUcbThreshold`], in nats; never
/// positive.
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

/// The level that the solvers use: not negative, and `+inf` for NaN.
fn usable(level: f64) -> f64 {
    if level.is_nan() { f64::INFINITY } else { level.max(0.0) }
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
    /// `|ln q|` and `|ln(1 - q)|`, raised by the slack, for [`Self::includes`].
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
        // (1 - SLACK) / (1 + SLACK), SLACK / (1 + SLACK), and their counterparts with the opposite
        // signs.
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

    /// Returns whether the computed [`kl_ucb_upper`](crate::kl_ucb_upper)`(S / n, n, level)` is
    /// certainly below the threshold.
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

    /// Returns whether the computed [`kl_ucb_upper`](crate::kl_ucb_upper)`(S / n, n, level)` is
    /// certainly at least the threshold.
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

    /// Calls `found` with the index of each arm that is not *clearly* excluded, in order. Only
    /// these arms need the exact test.
    ///
    /// The slices hold the arms' [`kl_ucb_entropy`], clicks and failures, rounded to `f32`
    /// (`as f32`), and are cut to their common length. A slack of 2^-20 instead of 2^-42 covers all
    /// roundings. A scan takes less than half a nanosecond per arm if few pass.
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
