//! Standard errors and intervals: a jackknife over groups of users.
//!
//! With `z_g` a number computed without group `g`, of `G` groups with lists, the variance is
//! `(G - 1)/G sum (z_g - mean z)^2`. The interval has the quantile of Student's distribution with
//! `G - 1` degrees of freedom.
//!
//! Reference: Efron, *The jackknife, the bootstrap and other resampling plans*, 1982, chapter 3.
//! Deviations: groups of users in place of observations. Numerics: two passes.

use click_logs::fit::jackknife;

/// Groups of users.
pub const GROUPS: usize = 20;
/// With fewer groups there is no interval.
pub const FEWEST_GROUPS: usize = 10;
/// A smaller standard error is rounding.
const ROUNDING: f64 = 1e-12;
/// `t_{G - 1}(.975)` for 10 to 20 groups.
const QUANTILES: [f64; GROUPS - FEWEST_GROUPS + 1] = [
    2.262_157_162_798_2,
    2.228_138_851_986_28,
    2.200_985_160_091_64,
    2.178_812_829_667_23,
    2.160_368_656_462_79,
    2.144_786_687_917_8,
    2.131_449_545_559_78,
    2.119_905_299_221_26,
    2.109_815_577_833_32,
    2.100_922_040_241_04,
    2.093_024_054_408_31,
];

/// A number with its values without each group.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error; `None` if it has no value without one of the groups. If all groups
    /// agree, it is 0 or rounding; see [`known_error`](Self::known_error).
    pub standard_error: Option<f64>,
    /// The numbers without each group; empty if one of them has no value.
    without: Vec<f64>,
}

impl Estimate {
    /// A number from a function of the group that is left out; `groups` are those with lists.
    pub(crate) fn new(groups: &[usize], number: impl Fn(Option<usize>) -> Option<f64>) -> Option<Self> {
        let without: Option<Vec<f64>> = groups.iter().map(|&group| number(Some(group))).collect();
        Some(Self::of(number(None)?, without.unwrap_or_default()))
    }

    /// A number and its values without each group.
    pub(crate) fn of(value: f64, without: Vec<f64>) -> Self {
        Self { value, standard_error: jackknife(&without), without }
    }

    /// The interval at 95 %; `None` with fewer than [`FEWEST_GROUPS`] groups, or if all agree.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let quantile = QUANTILES.get(self.without.len().checked_sub(FEWEST_GROUPS)?)?;
        let half = quantile * self.known_error()?;
        Some((self.value - half, self.value + half))
    }

    /// The standard error; `None` also if all groups agree, so that nothing tells it.
    pub fn known_error(&self) -> Option<f64> {
        self.standard_error.filter(|error| *error > ROUNDING)
    }

    /// Number of groups that were left out in turn; 0 if it has no value without one of them.
    pub fn groups(&self) -> usize {
        self.without.len()
    }

    /// This number less another of the same groups.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let both_known = self.without.len() == other.without.len();
        let pairs = self.without.iter().zip(&other.without).filter(|_| both_known);
        Self::of(self.value - other.value, pairs.map(|(a, b)| a - b).collect())
    }

    /// Whether it is further from a number than this number of standard errors. Rounding alone is
    /// no distance.
    pub(crate) fn is_beyond(&self, number: f64, errors: f64) -> bool {
        let distance = (self.value - number).abs();
        self.standard_error.is_some_and(|error| distance > errors * error && distance > 1e-9)
    }
}
