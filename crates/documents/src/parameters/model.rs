//! Names in a file of parameters: of the models, and of the scope of their parameters.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A click model that can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Position-based.
    Pbm,
    /// Cascade: users scan down to the first click.
    Cascade,
    /// Dependent clicks: users may leave after a click, with a probability by position.
    Dcm,
    /// User browsing: examination by position and last click.
    Ubm,
    /// Simplified dynamic Bayesian network: users may leave after a click, with a probability by
    /// item.
    Sdbn,
    /// Dynamic Bayesian network: users may leave after a click, with a probability by item, and may
    /// stop after any position.
    Dbn,
    /// Click chain: users continue with a probability that depends on whether they clicked, and on
    /// what.
    Ccm,
    /// A logistic regression on the item, and the position with the last click: a yardstick.
    CtrLogistic,
    /// One click-through rate for all.
    CtrGlobal,
    /// A click-through rate for each position.
    CtrRank,
    /// A click-through rate for each query and item.
    CtrDocument,
}

impl Model {
    /// All models.
    pub const ALL: [Self; 11] = [
        Self::Pbm,
        Self::Cascade,
        Self::Dcm,
        Self::Ubm,
        Self::Sdbn,
        Self::Dbn,
        Self::Ccm,
        Self::CtrLogistic,
        Self::CtrGlobal,
        Self::CtrRank,
        Self::CtrDocument,
    ];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pbm => "pbm",
            Self::Cascade => "cascade",
            Self::Dcm => "dcm",
            Self::Ubm => "ubm",
            Self::Sdbn => "sdbn",
            Self::Dbn => "dbn",
            Self::Ccm => "ccm",
            Self::CtrLogistic => "ctr-logistic",
            Self::CtrGlobal => "ctr-global",
            Self::CtrRank => "ctr-rank",
            Self::CtrDocument => "ctr-document",
        }
    }

    /// The model of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    /// For each of `count` parameters of positions, in their order: the position, and the position
    /// of the last click above. The latter is `None` if there is no click above, and for all models
    /// but the user browsing model and the logistic regression.
    pub fn places(self, count: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
        let clicks_above = move |position: usize| if self.has_last_clicks() { position } else { 0 };
        (0..count)
            .flat_map(move |position| {
                (0..=clicks_above(position)).map(move |above| (position, above.checked_sub(1)))
            })
            .take(count)
    }

    /// Whether parameters of positions depend on the last click.
    pub const fn has_last_clicks(self) -> bool {
        matches!(self, Self::Ubm | Self::CtrLogistic)
    }

    /// Whether the model needs the order of clicks, so that it is fitted to sessions.
    pub const fn needs_sessions(self) -> bool {
        matches!(
            self,
            Self::Cascade | Self::Dcm | Self::Ubm | Self::Sdbn | Self::Dbn | Self::Ccm | Self::CtrLogistic
        )
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which queries share the parameters of positions, examination in the PBM and the UBM, leaving in
/// the DCM; and continuation, in the DBN and the CCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every query has its own parameters, as in the PBM and RSF papers.
    #[default]
    Query,
    /// All queries share the parameters: the position bias of the site.
    Site,
}
