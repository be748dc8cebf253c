//! Types and values of policy parameters.

use crate::{CascadeKlOrder, CascadeKlTest, Delta, MeanRadius, Pulls, ShowOrder};
use confidence::{NonNegative, Probability, Rate};
use serde::{Deserialize, Serialize};

/// The values that a parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number in the range described.
    Number(&'static str),
    /// A whole number in the range described.
    Integer(&'static str),
    /// One of these names.
    Choice(&'static [&'static str]),
}

/// A type of parameters.
pub(super) trait Parameter {
    const KIND: Kind;
}

impl Parameter for NonNegative {
    const KIND: Kind = Kind::Number("at least 0");
}

impl Parameter for Probability {
    const KIND: Kind = Kind::Number("from 0 to 1");
}

impl Parameter for Delta {
    const KIND: Kind = Kind::Number("above 0 and below 1");
}

impl Parameter for Option<usize> {
    const KIND: Kind = Kind::Integer("from 0, below the number of positions; may be absent");
}

impl Parameter for Level {
    const KIND: Kind = Kind::Choice(&["log-t", "log-t-3-log-log-t", "log-t-4-log-log-t"]);
}

impl Parameter for PbmPieLevel {
    const KIND: Kind = Kind::Choice(&["log-t", "log-horizon"]);
}

impl Parameter for PbmPiePosition {
    const KIND: Kind = Kind::Choice(&["last"]);
}

impl Parameter for ShowOrder {
    const KIND: Kind = Kind::Choice(&[
        "least-observed",
        "mean-asc",
        "mean-desc",
        "upper-asc",
        "upper-desc",
        "lower-asc",
        "lower-desc",
    ]);
}

impl Parameter for Pulls {
    const KIND: Kind = Kind::Choice(&["list", "one"]);
}

impl Parameter for CascadeKlTest {
    const KIND: Kind = Kind::Choice(&["pair", "item"]);
}

impl Parameter for CascadeKlOrder {
    const KIND: Kind = Kind::Choice(&["need", "least-observed"]);
}

impl Parameter for MeanRadius {
    const KIND: Kind = Kind::Choice(&["paper", "tight"]);
}

/// An exploration rate by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// `ln t`.
    #[default]
    LogT,
    /// `ln t + 3 ln ln t`.
    #[serde(rename = "log-t-3-log-log-t")]
    LogTPlus3LogLogT,
    /// `ln t + 4 ln ln t`.
    #[serde(rename = "log-t-4-log-log-t")]
    LogTPlus4LogLogT,
}

impl Level {
    /// The rate in the analyses of KL-UCB; the policies for the cascade and the dependent click model use it.
    pub(super) const fn log_t_plus_3_log_log_t() -> Self {
        Self::LogTPlus3LogLogT
    }
}

impl From<Level> for Rate {
    fn from(level: Level) -> Self {
        match level {
            Level::LogT => Self::LOG,
            Level::LogTPlus3LogLogT => Self::LOG_PLUS_3_LOG_LOG,
            Level::LogTPlus4LogLogT => Self::LOG_PLUS_4_LOG_LOG,
        }
    }
}

/// The logarithm in PBM-PIE's exploration rate: the paper's Algorithm 1 prints `log T`, its Theorem 11 `log t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PbmPieLevel {
    /// `ln t` (Theorem 11).
    #[default]
    LogT,
    /// `ln T`, the horizon's (Algorithm 1).
    LogHorizon,
}

impl PbmPieLevel {
    /// The exploration rate with this logarithm, for a run of `horizon` rounds.
    pub fn rate(self, epsilon: NonNegative, horizon: u64) -> Rate {
        let rate = Rate::scaled_log(epsilon);
        match self {
            Self::LogT => rate,
            Self::LogHorizon => rate.at_horizon(horizon),
        }
    }
}

/// The position at which PBM-PIE explores.
///
/// Only the last position is implemented. The position at which exploring costs least is not available yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PbmPiePosition {
    /// The last position of the list.
    #[default]
    Last,
}

/// The factor of the radius in Algorithm 1 of `CascadeBAI`.
pub(super) fn radius_as_printed() -> NonNegative {
    NonNegative::from_count(4)
}

/// The value in the experiments of the RUCB paper.
pub(super) fn rucb_alpha() -> NonNegative {
    NonNegative::new(0.51).expect("not negative")
}

/// RUCB defines `x/0 := 1` in both terms of its bound.
pub(super) fn rucb_unseen() -> NonNegative {
    NonNegative::from_count(2)
}

/// With this constant relaxed stochastic transitivity is strong stochastic transitivity.
pub(super) fn strong_transitivity() -> NonNegative {
    NonNegative::from_count(1)
}
