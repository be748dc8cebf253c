//! The levels of weights, from the weakest assumption on.

/// The part of a list on which the weight of a shown item depends.
///
/// Reference: `McInerney` et al., *Counterfactual evaluation of slate recommendations with
/// sequential reward interactions*, KDD 2020 (RIPS: `Prefix`); Li et al., *Offline evaluation of
/// ranking policies with click models*, KDD 2018 (IIPS: `Position`). Deviations: self-normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The whole list: always right.
    List,
    /// The items down to the position: right if no click depends on items below it.
    Prefix,
    /// The item at its position: right for position-based users.
    Position,
}

impl Level {
    /// All, from the weakest assumption on.
    pub const ALL: [Self; 3] = [Self::List, Self::Prefix, Self::Position];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Prefix => "prefix",
            Self::Position => "position",
        }
    }

    /// The assumption, besides those of every level.
    pub fn assumption(self) -> &'static str {
        match self {
            Self::List => "a click may depend on the whole list",
            Self::Prefix => "a click depends only on its item and on the items above it",
            Self::Position => "a click depends only on its item and on its position",
        }
    }

    /// The column with its propensities, as a key of `--columns`.
    pub fn column(self) -> &'static str {
        match self {
            Self::List => "list-propensity",
            Self::Prefix => "prefix-propensity",
            Self::Position => "propensity",
        }
    }
}
