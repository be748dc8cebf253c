//! The models in a file of parameters: one row for each, with its name and its parameters.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The parameters of a model besides the attraction of items.
#[derive(Debug, Clone, Copy)]
pub struct ModelParameters {
    /// Whether the model needs the order of clicks, so that it is fitted to sessions.
    pub needs_sessions: bool,
    /// The largest attraction: infinite if attraction is relative to the first position.
    pub largest_attraction: f64,
    pub positions: Option<PositionParameters>,
    /// Whether items have a probability of leaving satisfied after a click.
    pub has_satisfaction: bool,
    /// The names of the probabilities of examining the next position.
    pub continuation: &'static [&'static str],
    /// Whether there is a click-through rate below the first click.
    pub has_below_first_click: bool,
}

/// Parameters of positions.
#[derive(Debug, Clone, Copy)]
pub struct PositionParameters {
    pub name: &'static str,
    /// The largest value.
    pub largest: f64,
    /// Whether they also depend on the position of the last click above.
    pub have_last_clicks: bool,
}

/// A model of sessions with nothing but attraction.
const OF_SESSIONS: ModelParameters = ModelParameters {
    needs_sessions: true,
    largest_attraction: 1.0,
    positions: None,
    has_satisfaction: false,
    continuation: &[],
    has_below_first_click: false,
};

/// A model of counts with nothing but attraction.
const OF_COUNTS: ModelParameters = ModelParameters { needs_sessions: false, ..OF_SESSIONS };

/// Examination relative to the first position.
const EXAMINATION: PositionParameters =
    PositionParameters { name: "examination", largest: f64::INFINITY, have_last_clicks: false };

macro_rules! models {
    ($($Model:ident = $name:literal { about: $about:literal, parameters: $parameters:expr, })+) => {
        /// A click model that can be fitted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Model {
            $(
                #[doc = concat!($about, ".")]
                #[serde(rename = $name)]
                $Model,
            )+
        }

        impl Model {
            /// All models.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Model),+];

            /// The name on the command line and in results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Model => $name,)+
                }
            }

            /// One sentence on the model, without its full stop.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$Model => $about,)+
                }
            }

            /// Its parameters.
            pub const fn parameters(self) -> ModelParameters {
                match self {
                    $(Self::$Model => $parameters,)+
                }
            }
        }
    };
}

models! {
    Pbm = "pbm" {
        about: "Position-based",
        parameters: ModelParameters {
            largest_attraction: f64::INFINITY,
            positions: Some(EXAMINATION),
            ..OF_COUNTS
        },
    }
    Cascade = "cascade" {
        about: "Cascade: users stop at the first click",
        parameters: ModelParameters { has_below_first_click: true, ..OF_SESSIONS },
    }
    Dcm = "dcm" {
        about: "Dependent clicks: users may leave after a click, with a probability for each position",
        parameters: ModelParameters {
            positions: Some(PositionParameters { name: "leave", largest: 1.0, ..EXAMINATION }),
            ..OF_SESSIONS
        },
    }
    Ubm = "ubm" {
        about: "User browsing: examination depends on the position and the last click",
        parameters: ModelParameters {
            largest_attraction: f64::INFINITY,
            positions: Some(PositionParameters { have_last_clicks: true, ..EXAMINATION }),
            ..OF_SESSIONS
        },
    }
    Sdbn = "sdbn" {
        about: "Simplified dynamic Bayesian network: users may leave after a click, with a probability for \
                each item",
        parameters: ModelParameters { has_satisfaction: true, ..OF_SESSIONS },
    }
    Dbn = "dbn" {
        about: "Dynamic Bayesian network: users may leave after a click, with a probability for each item, \
                and may stop anywhere",
        parameters: ModelParameters {
            has_satisfaction: true,
            continuation: &["continuation"],
            ..OF_SESSIONS
        },
    }
    Ccm = "ccm" {
        about: "Click chain: users continue with a probability that depends on whether they clicked, and on \
                what",
        parameters: ModelParameters {
            continuation: &["continuation-1", "continuation-2", "continuation-3"],
            ..OF_SESSIONS
        },
    }
    CtrDocument = "ctr-document" {
        about: "A click-through rate for each query and item",
        parameters: OF_COUNTS,
    }
    CtrRank = "ctr-rank" {
        about: "A click-through rate for each position",
        parameters: ModelParameters {
            positions: Some(PositionParameters { name: "rate", largest: 1.0, ..EXAMINATION }),
            ..OF_COUNTS
        },
    }
    CtrGlobal = "ctr-global" {
        about: "One click-through rate for all",
        parameters: OF_COUNTS,
    }
}

impl Model {
    /// The model of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    /// For each of `count` parameters of positions, in their order: the position, and the position
    /// of the last click above. The latter is `None` if there is no click above, and for models
    /// whose parameters do not depend on it.
    pub fn places(self, count: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
        let clicks_above = move |position: usize| if self.has_last_clicks() { position } else { 0 };
        (0..count)
            .flat_map(move |position| {
                (0..=clicks_above(position)).map(move |above| (position, above.checked_sub(1)))
            })
            .take(count)
    }

    /// Returns whether parameters of positions depend on the last click.
    pub fn has_last_clicks(self) -> bool {
        self.parameters().positions.is_some_and(|positions| positions.have_last_clicks)
    }

    /// Returns whether the model needs the order of clicks, so that it is fitted to sessions.
    pub const fn needs_sessions(self) -> bool {
        self.parameters().needs_sessions
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which queries share the parameters of positions, examination in the PBM and the UBM, leaving in
/// the DCM; and continuation, in the DBN and the CCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every query has its own parameters, as in the PBM and RSF papers.
    #[default]
    Query,
    /// All queries share the parameters: the position bias of the site.
    Site,
}
