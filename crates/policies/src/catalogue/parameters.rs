//! Types and values of policy parameters.

use super::{PolicySpec, Protocol, Purpose, Row, find, rows};
use crate::{
    CascadeKlOrder, CascadeKlTest, CascadeLinWidth, Delta, Deviations, KlLucbLevels, MeanRadius,
    PbmGibbsOrder, PbmPiePosition, Pulls, ShowOrder,
};
use confidence::{NonNegative, Probability, Rate};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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
    /// `true` or `false`.
    Flag,
    /// The name of a policy for lists; its parameters have their defaults.
    ListPolicy,
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
    /// Between 0 and a million.
    const SCALE: Self = Self { from: 0, to: Some(1_000_000), is_closed: false };
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
    Option<Probability> = Kind::Number(Range::UNIT);
    Delta = Kind::Number(Range::INSIDE_UNIT);
    Scale = Kind::Number(Range::SCALE);
    bool = Kind::Flag;
    ListPolicy = Kind::ListPolicy;
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
    Deviations = Kind::Choice(&["estimated", "fixed"]);
    CascadeLinWidth = Kind::Choice(&["c", "theory"]);
}

/// A positive number, such as a precision or a standard deviation. Its square and the reciprocal of
/// that are far from the largest numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Scale(NonNegative);

impl Scale {
    /// The number 1.
    pub(super) fn one() -> Self {
        Self(NonNegative::from_count(1))
    }

    /// A number that the table gives.
    pub(super) fn of(number: f64) -> Self {
        Self::try_from(number).expect("a scale")
    }

    /// The number.
    pub(super) fn get(self) -> NonNegative {
        self.0
    }
}

impl TryFrom<f64> for Scale {
    type Error = confidence::Error;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        let is_scale = (1e-6..1e6).contains(&number);
        NonNegative::new(if is_scale { number } else { f64::NAN }).map(Self)
    }
}

/// A policy for lists by its name, with its default parameters.
#[derive(Debug, Clone, Copy)]
pub struct ListPolicy(&'static Row);

impl ListPolicy {
    /// The names of all of them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        rows().iter().filter(|row| Self::is_one(row)).map(|row| row.name)
    }

    /// The policy of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        find(name).filter(|row| Self::is_one(row)).map(Self)
    }

    /// The policy with its default parameters.
    pub fn spec(self) -> PolicySpec {
        self.0.spec()
    }

    fn is_one(row: &Row) -> bool {
        let is_for_regret = row.purpose() == Purpose::Regret && row.is_built_from_knowledge();
        is_for_regret && row.protocols().any(Protocol::has_lists)
    }
}

impl PartialEq for ListPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Serialize for ListPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for ListPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| D::Error::custom("no policy for lists"))
    }
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
