//! Confidence sequences: intervals for a mean that hold *simultaneously for all* numbers of observations.
//!
//! # Definition
//!
//! Observations `X_1, X_2, ...` in `[0, 1]` have the same mean `m` given the past. Intervals `C_1, C_2, ...`, each a function of
//! the observations so far, are a confidence sequence with miss probability `alpha` if
//!
//! ```text
//! P(there is n >= 1 with m not in C_n) <= alpha.
//! ```
//!
//! One may look at them after every observation and stop whenever one likes. Each comes from a process that is a non-negative
//! supermartingale with start 1 under the true mean and large under a false one: by Ville's inequality it ever reaches `1 / alpha`
//! with probability at most `alpha`.
//!
//! | sequence | what it is good for | state | reference |
//! |---|---|---|---|
//! | [`BetaMixture`] | clicks: close to the best for Bernoulli variables at all `n` | constant | Robbins 1970 |
//! | [`KlMixture`] | where a rate `ln(1/alpha) + O(ln ln n)` is wanted in an analysis | constant | Kaufmann and Koolen, JMLR 2021, Theorem 7 |
//! | [`EmpiricalBernstein`] | rewards of small variance | constant | Waudby-Smith and Ramdas, JRSS-B 2024, Theorem 2 |
//! | [`HedgedBetting`] | rewards of small variance, narrowest | a grid | same, Theorem 3 |
//!
//! # Deviations
//!
//! - [`BetaMixture`] and [`KlMixture`] are stated for Bernoulli variables. They hold for variables in `[0, 1]`, because the moment
//!   generating function of such a variable is at most that of the Bernoulli variable with the same mean (convexity of `exp`).
//! - [`HedgedBetting`] rejects the points of a grid, and its interval is rounded outward to the grid. The capital of a candidate that the
//!   running intersection has excluded is not followed any further.
//! - [`EmpiricalBernstein`] and [`HedgedBetting`] truncate bets at `c = 1/2`, one of the values that the paper names.
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `miss` | `alpha`, `delta` | number in `(0, 1)` | probability |
//! | `n` | `t` | count | observations |
//! | `sum` | `S_t` | `sum_i X_i` | reward |
//! | `candidate` | `m` | number in `[0, 1]` | mean |
//!
//! # Numerics
//!
//! The intervals of the first two are inverted by [`kl_ucb_upper`] and [`kl_ucb_lower`], so they are never too narrow by rounding
//! of the solver; the logarithm of the beta function is right to about 1e-15 of its size. Observations outside `[0, 1]` count as the
//! nearer edge; NaN is not counted. An interval without observations is `[0, 1]`. On the rare paths where a sequence misses, the
//! intersection that [`HedgedBetting`] keeps can become empty (`lower > upper`).
//!
//! Complexity: constant per observation; for [`HedgedBetting`] proportional to the grid points not yet excluded.
//!
//! ```
//! use confidence::sequence::{BetaMixture, ConfidenceSequence};
//!
//! let mut clicks = BetaMixture::new(0.05)?;
//! for i in 0..1000 {
//!     clicks.observe(if i % 10 == 0 { 1.0 } else { 0.0 });
//! }
//! let interval = clicks.interval();
//! assert!(interval.lower < 0.1 && 0.1 < interval.upper && interval.upper - interval.lower < 0.08);
//! # Ok::<(), confidence::Error>(())
//! ```

use crate::Error;
use crate::divergence::{bernoulli_kl, larger_ratio};
use crate::klucb::{kl_ucb_lower, kl_ucb_upper};
use crate::math::{ln, ln_1p, sqrt};
use crate::threshold::kl_ucb_entropy;
use serde::{Deserialize, Serialize};

/// Where to truncate a bet, as a share of what can be lost (`c` in Waudby-Smith and Ramdas).
const TRUNCATION: f64 = 0.5;

/// An interval of means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The smallest mean not excluded.
    pub lower: f64,
    /// The largest mean not excluded.
    pub upper: f64,
}

impl Interval {
    const EVERYTHING: Self = Self { lower: 0.0, upper: 1.0 };
}

/// A streaming confidence sequence.
pub trait ConfidenceSequence {
    /// Takes one observation in `[0, 1]`.
    fn observe(&mut self, x: f64);

    /// The interval after the observations so far.
    fn interval(&self) -> Interval;

    /// Whether `candidate` is in [`Self::interval`]; cheaper where that solves an equation.
    fn contains(&self, candidate: f64) -> bool {
        let interval = self.interval();
        interval.lower <= candidate && candidate <= interval.upper
    }
}

/// A miss probability strictly between 0 and 1.
fn checked(miss: f64) -> Result<f64, Error> {
    if 0.0 < miss && miss < 1.0 { Ok(miss) } else { Err(Error::NotAMissProbability(miss)) }
}

/// How many observations there were, and their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Tally {
    n: u64,
    sum: f64,
}

impl Tally {
    fn observe(&mut self, x: f64) {
        if !x.is_nan() {
            self.n += 1;
            self.sum += x.clamp(0.0, 1.0);
        }
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

/// Robbins' beta-binomial mixture: the likelihood ratio of a uniformly drawn mean against the candidate.
///
/// With `S` the sum and `F = n - S`, a candidate `q` is excluded while
///
/// ```text
/// B(1 + S, 1 + F) / (q^S (1 - q)^F) > 1 / alpha        (B: the beta function),
/// ```
///
/// which is `n d(S / n, q) > ln(1 / alpha) - ln B(1 + S, 1 + F) + S ln(S / n) + F ln(F / n)`: a KL-UCB interval whose level grows
/// like `ln(1 / alpha) + ln(n) / 2`. Constant state and cost.
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
    /// A sequence that ever misses with probability at most `miss`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAMissProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, Error> {
        Ok(Self { log_inverse_miss: -ln(checked(miss)?), tally: Tally::default() })
    }

    /// What `n d(mean, q)` is compared with, in nats.
    pub fn level(&self) -> f64 {
        let n = self.tally.n as f64;
        let clicks = self.tally.sum.clamp(0.0, n);
        let failures = n - clicks;
        self.log_inverse_miss - ln_beta(1.0 + clicks, 1.0 + failures) + kl_ucb_entropy(clicks, failures)
    }
}

impl ConfidenceSequence for BetaMixture {
    fn observe(&mut self, x: f64) {
        self.tally.observe(x);
    }

    fn interval(&self) -> Interval {
        if self.tally.n == 0 { Interval::EVERYTHING } else { self.tally.interval(self.level()) }
    }

    fn contains(&self, candidate: f64) -> bool {
        self.tally.n == 0 || self.tally.contains(candidate, self.level())
    }
}

/// `ln B(a, b)`.
fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// The KL ball with the mixture rate of Kaufmann and Koolen: `n d(mean, q) <= 3 ln(1 + ln n) + T(ln(1 / alpha))`.
///
/// `T` is [`mixture_threshold`], about `x + 4 ln(1 + x + sqrt(2 x))`. Grows more slowly than [`BetaMixture`], from a larger start: it
/// is narrower only for astronomically many observations.
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
    /// A sequence that ever misses with probability at most `miss`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAMissProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, Error> {
        Ok(Self { threshold: mixture_threshold(-ln(checked(miss)?)), tally: Tally::default() })
    }

    /// What `n d(mean, q)` is compared with, in nats.
    pub fn level(&self) -> f64 {
        // Before the first observation as at the first one.
        3.0 * ln_1p(ln(self.tally.n.max(1) as f64)) + self.threshold
    }
}

impl ConfidenceSequence for KlMixture {
    fn observe(&mut self, x: f64) {
        self.tally.observe(x);
    }

    fn interval(&self) -> Interval {
        if self.tally.n == 0 { Interval::EVERYTHING } else { self.tally.interval(self.level()) }
    }

    fn contains(&self, candidate: f64) -> bool {
        self.tally.n == 0 || self.tally.contains(candidate, self.level())
    }
}

/// The function `T` of Kaufmann and Koolen (2021), Theorem 7; `x` is `ln(1 / alpha)`, a negative one counts as 0.
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

/// The running mean and variance that choose the next bet.
///
/// ```text
/// mean_n = (1/2 + sum X_i) / (n + 1),      variance_n = (1/4 + sum (X_i - mean_i)^2) / (n + 1)
/// lambda_n = sqrt(2 ln(2 / alpha) / (variance_{n-1} n ln(1 + n)))
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct PlugIn {
    n: u64,
    sum: f64,
    squares: f64,
    /// `ln(2 / alpha)`.
    log_inverse_miss: f64,
}

impl PlugIn {
    fn new(miss: f64) -> Self {
        Self { n: 0, sum: 0.0, squares: 0.0, log_inverse_miss: core::f64::consts::LN_2 - ln(miss) }
    }

    fn mean(&self) -> f64 {
        (0.5 + self.sum) / (self.n as f64 + 1.0)
    }

    /// The bet on the next observation, from the observations so far.
    fn bet(&self) -> f64 {
        let next = self.n as f64 + 1.0;
        let variance = (0.25 + self.squares) / next;
        sqrt(2.0 * self.log_inverse_miss / (variance * next * ln_1p(next)))
    }

    fn observe(&mut self, x: f64) {
        self.n += 1;
        self.sum += x;
        let difference = x - self.mean();
        self.squares += difference * difference;
    }
}

/// The predictable plug-in empirical Bernstein sequence.
///
/// ```text
/// sum_i lambda_i X_i / sum_i lambda_i  +-  (ln(2 / alpha) + sum_i v_i psi(lambda_i)) / sum_i lambda_i
/// v_i = 4 (X_i - mean_{i-1})^2,      psi(lambda) = (-ln(1 - lambda) - lambda) / 4
/// ```
///
/// with the bets `lambda_i` truncated at 1/2. Constant state and cost.
///
/// ```
/// use confidence::sequence::{ConfidenceSequence, EmpiricalBernstein};
///
/// let mut rewards = EmpiricalBernstein::new(0.05)?;
/// for _ in 0..1000 {
///     rewards.observe(0.3);
/// }
/// // No variance at all: far narrower than sqrt(ln(2 / 0.05) / 2000) = 0.043 to each side.
/// let interval = rewards.interval();
/// assert!(interval.lower > 0.28 && interval.upper < 0.32);
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EmpiricalBernstein {
    plug_in: PlugIn,
    bets: f64,
    weighted_sum: f64,
    cost: f64,
}

impl EmpiricalBernstein {
    /// A sequence that ever misses with probability at most `miss`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAMissProbability`] unless `0 < miss < 1`.
    pub fn new(miss: f64) -> Result<Self, Error> {
        Ok(Self { plug_in: PlugIn::new(checked(miss)?), bets: 0.0, weighted_sum: 0.0, cost: 0.0 })
    }
}

impl ConfidenceSequence for EmpiricalBernstein {
    fn observe(&mut self, x: f64) {
        if x.is_nan() {
            return;
        }
        let x = x.clamp(0.0, 1.0);
        let bet = self.plug_in.bet().min(TRUNCATION);
        let difference = x - self.plug_in.mean();
        // v psi = (x - mean)^2 (-ln(1 - bet) - bet).
        self.cost += difference * difference * crate::math::x_minus_ln_1p(-bet);
        self.bets += bet;
        self.weighted_sum += bet * x;
        self.plug_in.observe(x);
    }

    fn interval(&self) -> Interval {
        if self.plug_in.n == 0 {
            return Interval::EVERYTHING;
        }
        let center = self.weighted_sum / self.bets;
        let radius = (self.plug_in.log_inverse_miss + self.cost) / self.bets;
        Interval { lower: (center - radius).max(0.0), upper: (center + radius).min(1.0) }
    }
}

/// The capital of two gamblers who bet that the mean is above, or below, one candidate.
///
/// ```text
/// plus = prod_i (1 + min(lambda_i, c / m) (X_i - m)),      minus = prod_i (1 - min(lambda_i, c / (1 - m)) (X_i - m))
/// ```
///
/// If the candidate `m` is the mean, each is a non-negative martingale that starts at 1, and so is their average. The candidate is
/// rejected when half of the larger one reaches `1 / alpha`. `plus` decreases in `m` and `minus` increases, whatever the data.
///
/// ```
/// use confidence::sequence::Betting;
///
/// let mut betting = Betting::new(0.5, 0.05)?;
/// while !betting.is_rejected() {
///     betting.observe(0.9);
/// }
/// # Ok::<(), confidence::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Betting {
    plug_in: PlugIn,
    candidate: f64,
    capital: Capital,
    /// `2 / alpha`: what the larger capital has to reach.
    goal: f64,
    rejected: bool,
}

impl Betting {
    /// A test of the hypothesis that the mean is `candidate`, wrong with probability at most `miss`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAMissProbability`] unless `0 < miss < 1`, [`Error::NotAProbability`] for a candidate outside `[0, 1]`.
    pub fn new(candidate: f64, miss: f64) -> Result<Self, Error> {
        let candidate = crate::Probability::new(candidate)?.get();
        let miss = checked(miss)?;
        Ok(Self {
            plug_in: PlugIn::new(miss),
            candidate,
            capital: Capital::START,
            goal: 2.0 / miss,
            rejected: false,
        })
    }

    /// Takes one observation in `[0, 1]`.
    pub fn observe(&mut self, x: f64) {
        if x.is_nan() {
            return;
        }
        let x = x.clamp(0.0, 1.0);
        self.capital.bet(self.plug_in.bet(), self.candidate, x);
        self.rejected |= self.capital.plus >= self.goal || self.capital.minus >= self.goal;
        self.plug_in.observe(x);
    }

    /// Whether the candidate has been rejected, now or earlier.
    pub fn is_rejected(&self) -> bool {
        self.rejected
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Capital {
    plus: f64,
    minus: f64,
}

impl Capital {
    const START: Self = Self { plus: 1.0, minus: 1.0 };

    #[inline]
    fn bet(&mut self, bet: f64, candidate: f64, x: f64) {
        // Capital that vanishes could not recover; this gift of 1e-300 now and then is paid for by rounding the goal.
        const LEAST: f64 = 1e-300;
        const MOST: f64 = 1e300;
        let plus_bet = bet.min(TRUNCATION / candidate);
        let minus_bet = bet.min(TRUNCATION / (1.0 - candidate));
        let surprise = x - candidate;
        self.plus = (self.plus * (1.0 + plus_bet * surprise)).clamp(LEAST, MOST);
        self.minus = (self.minus * (1.0 - minus_bet * surprise)).clamp(LEAST, MOST);
    }
}

/// Hedged betting: all candidates of a grid, each tested by [`Betting`].
///
/// Needs the standard library (feature `std`) for the grid.
///
/// ```
/// use confidence::sequence::{ConfidenceSequence, HedgedBetting};
///
/// let mut rewards = HedgedBetting::new(0.05, 1000)?;
/// for i in 0..1000 {
///     rewards.observe(if i % 2 == 0 { 0.25 } else { 0.35 });
/// }
/// let interval = rewards.interval();
/// assert!(0.28 < interval.lower && interval.lower < 0.3 && 0.3 < interval.upper && interval.upper < 0.32);
/// # Ok::<(), confidence::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HedgedBetting {
    plug_in: PlugIn,
    capitals: std::vec::Vec<Capital>,
    /// The grid points not rejected: from `start` to before `end`.
    start: usize,
    end: usize,
    goal: f64,
}

#[cfg(feature = "std")]
impl HedgedBetting {
    /// A sequence that ever misses with probability at most `miss`, on the grid `0, 1 / cells, ..., 1`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAMissProbability`] unless `0 < miss < 1`; [`Error::NoGrid`] unless there is at least one cell, and at most 2^24.
    pub fn new(miss: f64, cells: usize) -> Result<Self, Error> {
        let miss = checked(miss)?;
        if cells == 0 || cells > 1 << 24 {
            return Err(Error::NoGrid(cells));
        }
        Ok(Self {
            plug_in: PlugIn::new(miss),
            capitals: std::vec![Capital::START; cells + 1],
            start: 0,
            end: cells + 1,
            goal: 2.0 / miss,
        })
    }

    fn at(&self, point: usize) -> f64 {
        point as f64 / (self.capitals.len() as f64 - 1.0)
    }
}

#[cfg(feature = "std")]
impl ConfidenceSequence for HedgedBetting {
    fn observe(&mut self, x: f64) {
        if x.is_nan() {
            return;
        }
        let x = x.clamp(0.0, 1.0);
        let bet = self.plug_in.bet();
        let cells = self.capitals.len() as f64 - 1.0;
        let (start, end) = (self.start, self.end);
        // Nothing is left on the rare path where everything has been rejected.
        let inside = self.capitals.get_mut(start..end).unwrap_or_default();
        for (point, capital) in (start..end).zip(inside) {
            capital.bet(bet, point as f64 / cells, x);
            // Capitals are monotone in the candidate: everything below (above) is rejected as well.
            if capital.plus >= self.goal {
                self.start = self.start.max(point + 1);
            }
            if capital.minus >= self.goal {
                self.end = self.end.min(point);
            }
        }
        self.plug_in.observe(x);
    }

    fn interval(&self) -> Interval {
        // The mean may lie anywhere between the last rejected point and the next one.
        let lower = if self.start == 0 { 0.0 } else { self.at(self.start - 1) };
        let upper = if self.end < self.capitals.len() { self.at(self.end) } else { 1.0 };
        Interval { lower, upper }
    }
}
