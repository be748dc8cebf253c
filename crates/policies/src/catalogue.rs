//! The catalogue: policies by name, with their parameters, requirements and constructors.
//!
//! [`rows`] is the table, one row a policy. A [`PolicySpec`] is a policy with its parameters. It
//! reads and writes as text (`pbm-pie(level=log-horizon)`) and with serde
//! (`{ "pbm-pie": { "level": "log-horizon" } }`, every parameter optional). [`NamedPolicy::build`]
//! builds the policy for one protocol. Visitors ([`WithPrefix`] and others) get the policy's own
//! type, so that round loops are compiled for it.
//!
//! # Examples
//!
//! ```
//! use policies::catalogue::{PolicySpec, Protocol, find, rows};
//!
//! // The policies for cascade users.
//! let names: Vec<_> = rows().iter().filter(|row| row.speaks(Protocol::Cascade)).map(|row| row.name).collect();
//! assert!(names.contains(&"cascade-ts") && !names.contains(&"pbm-ts"));
//!
//! let row = find("pbm-pie").unwrap();
//! assert_eq!(row.parameters[1].name, "level");
//! assert_eq!(row.parameters[1].kind.to_string(), "`log-t`, `log-horizon`");
//!
//! let spec: PolicySpec = "pbm-pie(level=log-horizon)".parse()?;
//! assert_eq!(spec, serde_json::from_str(r#"{ "pbm-pie": { "level": "log-horizon" } }"#)?);
//! assert_eq!(spec.to_string(), "pbm-pie(level=log-horizon)");
//! assert!(spec.needs_horizon() && !row.spec().needs_horizon());
//!
//! let error = "pbm-ts(epsilon=0.1)".parse::<PolicySpec>().unwrap_err();
//! assert_eq!(error.to_string(), "`pbm-ts`: unknown parameter `epsilon`: it has none");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod define;
mod erased;
mod named;
mod parameters;
mod reader;
mod row;
mod rows;
pub mod table;
mod text;
mod visit;

pub use crate::PbmPiePosition;
use named::maker;

pub use erased::{AsList, Ask, Note};
pub use named::{
    AmongItems, AnyPolicy, BuildError, ByRounds, Calls, CatalogueProtocol, ContextKnowledge, ForUsers,
    Knowledge, NamedFor, NamedLive, NamedPolicy, ProtocolPolicy, WITH_VALUES,
};
pub use parameters::{Kind, Level, ListPolicy, PbmPieLevel, Range, Scale};
pub use row::{Answers, Family, Limit, Live, ParameterRow, Protocol, Purpose, Row};
pub use rows::{PolicySpec, rows};
pub use text::SpecError;
pub use visit::{
    PairKnown, WithAnyList, WithBudgeted, WithCells, WithPairs, WithPositionBased, WithPositionContexts,
    WithPrefix, WithPrefixContexts, WithStopping, WithUnknownExamination,
};

/// The policy of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    rows().iter().find(|row| row.name == name)
}

impl PolicySpec {
    /// Returns whether the policy can read the feedback of this protocol.
    ///
    /// ```
    /// use policies::catalogue::{PolicySpec, Protocol};
    ///
    /// assert!(PolicySpec::PbmTs {}.speaks(Protocol::PositionBased));
    /// assert!(!PolicySpec::PbmTs {}.speaks(Protocol::Cascade));
    /// // Policies for an observed prefix play three protocols.
    /// assert!(PolicySpec::RsfTs {}.speaks(Protocol::Cascade) && PolicySpec::CascadeTs {}.speaks(Protocol::Dcm));
    /// assert!(PolicySpec::Uts {}.speaks(Protocol::RankOne) && !PolicySpec::TopRank {}.speaks(Protocol::RankOne));
    /// assert!(PolicySpec::Rmed1 {}.speaks(Protocol::Dueling) && !PolicySpec::RsfTs {}.speaks(Protocol::Dueling));
    /// ```
    pub fn speaks(&self, protocol: Protocol) -> bool {
        self.row().speaks(protocol)
    }

    /// Returns whether the policy can read the feedback of this protocol, and sees who asks for a
    /// list.
    ///
    /// ```
    /// use policies::catalogue::{PolicySpec, Protocol};
    ///
    /// let policy = |text: &str| text.parse::<PolicySpec>();
    /// assert!(policy("cascade-lin-ts")?.sees_contexts(Protocol::Dcm));
    /// assert!(!policy("cascade-lin-ts")?.speaks(Protocol::Dcm));
    /// assert!(policy("segmented(of=pbm-ts)")?.sees_contexts(Protocol::PositionBased));
    /// assert!(!policy("segmented(of=pbm-ts)")?.sees_contexts(Protocol::Cascade));
    /// # Ok::<(), policies::catalogue::SpecError>(())
    /// ```
    pub fn sees_contexts(&self, protocol: Protocol) -> bool {
        let plays = match self {
            Self::Segmented { of } => of.spec().speaks(protocol),
            _ => true,
        };
        plays && self.row().sees_contexts(protocol)
    }

    /// The policy of a segment, or the policy itself.
    #[must_use]
    pub fn within(&self) -> Self {
        match self {
            Self::Segmented { of } => of.spec(),
            other => *other,
        }
    }

    /// Returns whether the policy stops when it has identified the best items.
    pub fn stops(&self) -> bool {
        self.row().purpose() == Purpose::Stopping
    }

    /// Returns whether the policy can recommend the best items at any time.
    pub fn recommends(&self) -> bool {
        self.row().purpose() != Purpose::Regret
    }

    /// Tolerance: how much less attractive than the K-th best item an item of its answer may be.
    pub fn epsilon_of_answer(&self) -> f64 {
        struct Tolerance;
        impl WithStopping for Tolerance {
            type Output = f64;

            fn with<P, F>(self, _build: F, tolerance: confidence::NonNegative) -> f64 {
                tolerance.get()
            }
        }
        let stopping = self.with_stopping(Tolerance);
        stopping.or_else(|| self.with_full_feedback(Tolerance)).unwrap_or(0.0)
    }
}
