//! Types and values of policy parameters.

use crate::{
    CascadeKlOrder, CascadeKlTest, Delta, KlLucbLevels, MeanRadius, PbmGibbsOrder, PbmPiePosition, Pulls,
    ShowOrder,
};
use confidence::{NonNegative, Probability, Rate};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The values that a parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A finite number in this range.
    Number(Range),
    /// The number of a position, from 0; it may be absent.
    Position,
    /// A whole number from 1 on. A default that depends on the sizes is absent.
    Count,
    /// One of these names.
    Choice(&'static [&'static str]),
}

/// A range of numbers, whose ends are whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The lower end.
    pub from: u32,
    /// The upper end; none if there is no largest number.
    pub to: Option<u32>,
    /// Whether the ends belong to the range.
    pub is_closed: bool,
}

impl Range {
    /// From 0 on.
    const NOT_NEGATIVE: Self = Self { from: 0, to: None, is_closed: true };
    /// From 0 to 1.
    const UNIT: Self = Self { from: 0, to: Some(1), is_closed: true };
    /// Between 0 and 1.
    const INSIDE_UNIT: Self = Self { is_closed: false, ..Self::UNIT };
}

/// A type of parameters.
pub(super) trait Parameter: DeserializeOwned {
    const KIND: Kind;
}

/// Makes the types of parameters from rows: the type, and the values it accepts.
macro_rules! parameter_types {
    ($($type:ty = $kind:expr;)*) => {$(
        impl Parameter for $type {
            const KIND: Kind = $kind;
        }
    )*};
}

parameter_types! {
    NonNegative = Kind::Number(Range::NOT_NEGATIVE);
    Probability = Kind::Number(Range::UNIT);
    Delta = Kind::Number(Range::INSIDE_UNIT);
    Option<usize> = Kind::Position;
    NonZeroU32 = Kind::Count;
    Option<NonZeroU32> = Kind::Count;
    Level = Kind::Choice(&["log-t", "log-t-3-log-log-t", "log-t-4-log-log-t"]);
    PbmPieLevel = Kind::Choice(&["log-t", "log-horizon"]);
    PbmPiePosition = Kind::Choice(&["last", "least-cost"]);
    PbmGibbsOrder = Kind::Choice(&["unknown", "known"]);
    ShowOrder = Kind::Choice(&[
        "least-observed",
        "mean-asc",
        "mean-desc",
        "upper-asc",
        "upper-desc",
        "lower-asc",
        "lower-desc",
    ]);
    Pulls = Kind::Choice(&["list", "one"]);
    CascadeKlTest = Kind::Choice(&["pair", "item"]);
    CascadeKlOrder = Kind::Choice(&["need", "least-observed"]);
    KlLucbLevels = Kind::Choice(&["rounds", "mixture"]);
    MeanRadius = Kind::Choice(&["paper", "tight"]);
}

/// An exploration rate by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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

impl From<Level> for Rate {
    fn from(level: Level) -> Self {
        match level {
            Level::LogT => Self::LOG,
            Level::LogTPlus3LogLogT => Self::LOG_PLUS_3_LOG_LOG,
            Level::LogTPlus4LogLogT => Self::LOG_PLUS_4_LOG_LOG,
        }
    }
}

/// PBM-PIE's logarithm: `log T` in the paper's Algorithm 1, `log t` in its Theorem 11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
