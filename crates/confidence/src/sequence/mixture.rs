//! Confidence sequences that are KL balls: [`BetaMixture`], [`CoinMixture`] and [`KlMixture`].

use super::{ConfidenceSequence, Interval, checked, clamped};
use crate::divergence::larger_ratio;
use crate::klucb::{kl_ucb_lower, kl_ucb_upper};
use crate::math::{ln, ln_1p};
use crate::threshold::kl_ucb_entropy;
use crate::{Error, bernoulli_kl};
use serde::{Deserialize, Serialize};

/// The number of observations and their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Tally {
    n: u64,
    sum: f64,
}

impl Tally {
    fn of_counts(ones: u64, zeros: u64) -> Self {
        Self { n: ones.saturating_add(zeros), sum: ones as f64 }
    }

    fn observe(&mut self, x: f64) {
        if let Some(x) = clamped(x) {
            self.n += 1;
            self.sum += x;
        }
    }

    /// The sums of the observations and of their distances from 1.
    fn counts(self) -> (f64, f64) {
        let n = self.n as f64;
        let ones = self.sum.clamp(0.0, n);
        (ones, n - ones)
    }

    fn mean(self) -> f64 {
        (self.sum / self.n as f64).clamp(0.0, 1.0)
    }

    /// The means with `n d(mean, q) <= level`.
    fn interval(self, level: f64) -> Interval {
        let (mean, n) = (self.mean(), self.n as f64);
        Interval { lower: kl_ucb_lower(mean, n, level), upper: kl_ucb_upper(mean, n, level) }
    }

    fn contains(self, candidate: f64, level: f64) -> bool {
        self.n as f64 * bernoulli_kl(self.mean(), candidate) <= level
    }
}

/// Implements sequences whose intervals are the means with `n d(mean, q)` up to `level`. Each has a
/// field that follows from the logarithm of `1 / miss`, and perhaps a lower bound of its level, for
/// candidates that need no level.
macro_rules! kl_balls {
    ($($Sequence:ident { $field:ident: |$log:ident| $value:expr } $(level above $bound:ident)?;)+) => {$(
        impl $Sequence {
            /// A sequence that ever misses with probability at most `miss`.
            ///
            /// # Errors
            ///
            /// [`Error::NotAnErrorProbability`] unless `0 < miss < 1`.
            pub fn new(miss: f64) -> Result<Self, Error> {
                let $log = -ln(checked(miss)?);
                Ok(Self { $field: $value, tally: Tally::default() })
            }

            /// The sequence after these numbers of ones and zeros, in any order: for callers that
            /// keep counts.
            ///
            /// # Errors
            ///
            /// [`Error::NotAnErrorProbability`] unless `0 < miss < 1`.
            ///
            /// ```
            #[doc = concat!("use confidence::sequence::{ConfidenceSequence, ", stringify!($Sequence), "};")]
            ///
            #[doc = concat!("let mut clicks = ", stringify!($Sequence), "::new(0.05)?;")]
            /// for x in [1.0, 0.0, 0.0] {
            ///     clicks.observe(x);
            /// }
            #[doc = concat!("assert_eq!(", stringify!($Sequence), "::with_counts(0.05, 1, 2)?, clicks);")]
            /// # Ok::<(), confidence::Error>(())
            /// ```
            pub fn with_counts(miss: f64, ones: u64, zeros: u64) -> Result<Self, Error> {
                Ok(Self { tally: Tally::of_counts(ones, zeros), ..Self::new(miss)? })
            }
        }

        impl ConfidenceSequence for $Sequence {
            fn observe(&mut self, x: f64) {
                self.tally.observe(x);
            }

            fn interval(&self) -> Interval {
                if self.tally.n == 0 { Interval::EVERYTHING } else { self.tally.interval(self.level()) }
            }

            fn contains(&self, candidate: f64) -> bool {
                self.tally.n == 0
                    $(|| self.tally.contains(candidate, self.$bound))?
                    || self.tally.contains(candidate, self.level())
            }
        }
    )+};
}

kl_balls! {
    BetaMixture { log_inverse_miss: |log| log };
    // The mixture is less likely than the mean of the observations. A level takes twelve logarithms
    // of the gamma function.
    CoinMixture { log_inverse_miss: |log| log } level above log_inverse_miss;
    KlMixture { threshold: |log| mixture_threshold(log) };
}

/// Robbins' beta-binomial mixture: the likelihood ratio of a uniformly drawn mean against the
/// candidate.
///
/// With `S` the sum and `F = n - S`, a candidate `q` is excluded while
///
/// ```text
/// B(1 + S, 1 + F) / (q^S (1 - q)^F) > 1 / alpha        (B: the beta function),
/// ```
///
/// which is `n d(S / n, q) > ln(1 / alpha) - ln B(1 + S, 1 + F) + S ln(S / n) + F ln(F / n)`: a
/// KL-UCB interval whose level grows like `ln(1 / alpha) + ln(n) / 2`. Constant state and cost.
///
/// ```
/// use confidence::sequence::{BetaMixture, ConfidenceSequence};
///
/// let mut clicks = BetaMixture::new(0.05)?;
/// clicks.observe(0.0);
/// // (1/2) / (1 - q) = 20
/// assert!((clicks.interval().upper - 0.975).abs() < 1e-14);
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BetaMixture {
    log_inverse_miss: f64,
    tally: Tally,
}

impl BetaMixture {
    /// The threshold of `n d(mean, q)`, in nats.
    pub fn level(&self) -> f64 {
        let (clicks, failures) = self.tally.counts();
        self.log_inverse_miss - ln_beta(1.0 + clicks, 1.0 + failures) + kl_ucb_entropy(clicks, failures)
    }
}

/// An even mixture of four beta-binomial mixtures, of which all but the first expect a mean near
/// 1/2.
///
/// With `S` the sum and `F = n - S`, a candidate `q` is excluded once
///
/// ```text
/// (1/4) sum over a of B(a + S, a + F) / B(a, a) / (q^S (1 - q)^F) >= 1 / alpha,       a = 1, 10, 100, 1000
/// ```
///
/// Against `q = 1/2` it finds a large difference nearly as soon as [`BetaMixture`], which is its
/// part with `a = 1`, and a small one much sooner: at 550 of 1,000 its evidence is 13.9 in place of
/// 5.9.
///
/// ```
/// use confidence::sequence::CoinMixture;
///
/// let evidence = CoinMixture::with_counts(0.05, 550, 450)?.evidence();
/// assert!((evidence - 13.899_589_084_902_155).abs() < 1e-9);
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoinMixture {
    log_inverse_miss: f64,
    tally: Tally,
}

/// The shapes of the symmetric beta distributions.
const SHAPES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

impl CoinMixture {
    /// The evidence against a mean of 1/2, a martingale that starts at 1 if the mean is 1/2.
    pub fn evidence(&self) -> f64 {
        libm::exp(self.ln_evidence())
    }

    /// Its logarithm, which is finite for all counts.
    pub fn ln_evidence(&self) -> f64 {
        self.log_marginal() + self.tally.n as f64 * core::f64::consts::LN_2
    }

    /// The threshold of `n d(mean, q)`, in nats.
    pub fn level(&self) -> f64 {
        let (ones, zeros) = self.tally.counts();
        self.log_inverse_miss - self.log_marginal() + kl_ucb_entropy(ones, zeros)
    }

    /// The logarithm of the mixture's probability of the observations.
    fn log_marginal(&self) -> f64 {
        let (ones, zeros) = self.tally.counts();
        let logs = SHAPES.map(|shape| ln_beta(shape + ones, shape + zeros) - ln_beta(shape, shape));
        let largest = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| libm::exp(log - largest)).sum();
        largest + ln(sum / SHAPES.len() as f64)
    }
}

/// `ln B(a, b)`.
fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// The KL ball with the mixture rate of Kaufmann and Koolen:
/// `n d(mean, q) <= 3 ln(1 + ln n) + T(ln(1 / alpha))`.
///
/// `T` is [`mixture_threshold`], about `x + 4 ln(1 + x + sqrt(2 x))`. Its level grows more slowly
/// than that of [`BetaMixture`] but starts larger: it is narrower only for astronomically many
/// observations.
///
/// ```
/// use confidence::sequence::{ConfidenceSequence, KlMixture, mixture_threshold};
///
/// let mut clicks = KlMixture::new(0.05)?;
/// clicks.observe(0.0);
/// // n = 1: -ln(1 - q) = T(ln 20)
/// let expected = 1.0 - libm::exp(-mixture_threshold(libm::log(20.0)));
/// assert!((clicks.interval().upper - expected).abs() < 1e-14);
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KlMixture {
    threshold: f64,
    tally: Tally,
}

impl KlMixture {
    /// The threshold of `n d(mean, q)`, in nats.
    pub fn level(&self) -> f64 {
        // Before the first observation, the level is that of the first one.
        3.0 * ln_1p(ln(self.tally.n.max(1) as f64)) + self.threshold
    }
}

/// The function `T` of Kaufmann and Koolen (2021), Theorem 7; `x` is `ln(1 / alpha)`, a negative
/// one counts as 0.
///
/// ```text
/// T(x) = 2 g((h_inv(1 + x) + ln(2 zeta(2))) / 2),      h(u) = u - ln u for u >= 1
/// g(y) = exp(1 / h_inv(y)) h_inv(y) if y >= h(1 / ln(3/2)), and (3/2) (y - ln ln(3/2)) otherwise
/// ```
///
/// ```
/// use confidence::sequence::mixture_threshold;
///
/// // The paper's approximation for x >= 5: x + 4 ln(1 + x + sqrt(2 x)).
/// let x = 10.0;
/// let approximation = x + 4.0 * libm::log(1.0 + x + libm::sqrt(2.0 * x));
/// assert!((mixture_threshold(x) - approximation).abs() < 0.05 * approximation);
/// ```
pub fn mixture_threshold(x: f64) -> f64 {
    /// `ln(2 zeta(2)) = ln(pi^2 / 3)`.
    const LN_2_ZETA_2: f64 = 1.190_847_481_218_461_8;
    /// `ln(3/2)` and its logarithm.
    const LN_1_5: f64 = 0.405_465_108_108_164_4;
    const LN_LN_1_5: f64 = -0.902_720_455_995_706_7;
    // h(u) = y means r - 1 - ln r = y - 1 for r = u.
    let h_inverse = |y: f64| larger_ratio((y - 1.0).max(0.0));
    let y = 0.5 * (h_inverse(1.0 + x.max(0.0)) + LN_2_ZETA_2);
    let switch = 1.0 / LN_1_5 + LN_LN_1_5;
    let g = if y >= switch {
        let u = h_inverse(y);
        libm::exp(1.0 / u) * u
    } else {
        1.5 * (y - LN_LN_1_5)
    };
    2.0 * g
}
