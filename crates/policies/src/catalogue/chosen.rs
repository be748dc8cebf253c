//! A policy chosen at run time: by name, for the users of one protocol.
//!
//! It is a [`Policy`](crate::Policy) as any other. It is saved with its name, its parameters and what it was told, and nothing else is restored from what was
//! saved than the policy that it names.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, Pbm, PositionBased};
//! use policies::catalogue::{Chosen, PolicySpec};
//! use policies::{Decision, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[1.0, 0.5])?;
//! let spec: PolicySpec = "pbm-pie(level=log-horizon)".parse()?;
//! let mut policy = Chosen::<Pbm>::build(spec, users.known(), 10_000)?;
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! policy.select(&mut rng, &mut decision);
//! policy.update(&decision, &users.respond(&decision.action, &mut rng));
//!
//! let saved = serde_json::to_string(&policy)?;
//! assert!(saved.starts_with(r#"{"format":1,"policy":"pbm-pie","parameters":{"epsilon":0.0,"level":"log-horizon""#));
//! let restored: Chosen<Pbm> = serde_json::from_str(&saved)?;
//! assert_eq!(restored.spec(), policy.spec());
//!
//! // A policy that cannot read these answers is refused by name.
//! let error = Chosen::<Pbm>::build("ucb1".parse()?, users.known(), None).unwrap_err();
//! assert_eq!(error.to_string(), "`ucb1` cannot read the answers of position-based users: it plays rank-one users");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod knowledge;
mod protocols;
mod saved;

use super::families::{IdentifyPolicy, Note, OneOf};
use super::{Limit, PolicySpec, Protocol};
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{Cascade, Dueling, ItemId, Ranking};
use rand::Rng;
use std::fmt::{self, Debug, Formatter};

pub use knowledge::Knowledge;
pub use protocols::Catalogued;

/// A policy that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// It cannot read these users' answers.
    #[error("`{policy}` cannot read the answers of {users} users: it plays {plays}")]
    Protocol {
        /// The policy's name.
        policy: &'static str,
        /// Whose answers it was to read.
        users: Protocol,
        /// Whose answers it reads.
        plays: String,
    },
    /// It has to be told how many rounds there will be.
    #[error("`{0}` needs a horizon: give the number of rounds")]
    NoHorizon(&'static str),
    /// There is no memory for it.
    #[error("`{policy}` keeps numbers for {of}, of which there are {found}: at most {most} are supported")]
    TooLarge {
        /// The policy's name.
        policy: &'static str,
        /// What it keeps numbers for.
        of: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Examination probabilities of another number of positions.
    #[error("`{policy}`: {found} examination probabilities for {expected} positions: expected one for each")]
    Examination {
        /// The policy's name.
        policy: &'static str,
        /// How many were given.
        found: usize,
        /// Positions of a list.
        expected: usize,
    },
    /// Its parameters do not go with these sizes.
    #[error("`{policy}`: {error}")]
    Parameters {
        /// The policy's name.
        policy: &'static str,
        /// What is wrong.
        error: Error,
    },
}

/// A policy of the catalogue for the protocol `I`, chosen at run time.
pub struct Chosen<I: Catalogued> {
    spec: PolicySpec,
    told: Knowledge,
    policy: I::Chosen,
}

impl<I: Catalogued> Chosen<I> {
    /// A fresh policy. `known` is what the users' model lets a learner know, `horizon` the number of rounds, which only some policies ask for.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: a policy of another protocol, a horizon or examination probabilities that are missing, sizes for which there is no memory, or
    /// parameters that do not go with these sizes.
    pub fn build<'a>(
        spec: PolicySpec,
        known: impl Into<I::Known<'a>>,
        horizon: impl Into<Option<u64>>,
    ) -> Result<Self, BuildError> {
        let told = Knowledge { horizon: horizon.into(), ..I::told(&known.into()) };
        let policy = Self::fresh(&spec, &told)?;
        Ok(Self { spec, told, policy })
    }

    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Result<I::Chosen, BuildError> {
        let (row, policy) = (spec.row(), spec.name());
        let foreign = || {
            let models: Vec<String> = row.protocols().map(|protocol| format!("{protocol} users")).collect();
            BuildError::Protocol { policy, users: I::PROTOCOL, plays: models.join(", ") }
        };
        if !row.speaks(I::PROTOCOL) {
            return Err(foreign());
        }
        if spec.needs_horizon() && told.horizon.is_none() {
            return Err(BuildError::NoHorizon(policy));
        }
        if I::PROTOCOL == Protocol::PositionBased && told.examination.len() != told.sizes[1] {
            return Err(BuildError::Examination {
                policy,
                found: told.examination.len(),
                expected: told.sizes[1],
            });
        }
        let [first, second] = told.sizes;
        let too_large = match row.limit {
            Limit::Cells(most) if I::PROTOCOL == Protocol::RankOne => {
                Some(("every cell", first.saturating_mul(second), most))
            }
            Limit::Items(most) => Some(("every pair of items", first, most)),
            Limit::Cells(_) | Limit::None => None,
        };
        if let Some((of, found, most)) = too_large.filter(|(_, found, most)| found > most) {
            return Err(BuildError::TooLarge { policy, of, found, most });
        }
        let built = I::fresh(spec, told).ok_or_else(foreign)?;
        built.map_err(|error| BuildError::Parameters { policy, error })
    }

    /// Which policy it is.
    pub fn spec(&self) -> &PolicySpec {
        &self.spec
    }

    /// What it was told.
    pub fn told(&self) -> &Knowledge {
        &self.told
    }
}

impl Chosen<Cascade> {
    /// The best items, once it is sure of them; only policies that stop ever are.
    pub fn answer(&self) -> Option<Vec<ItemId>> {
        self.identify()?.answer()
    }

    /// Writes the items that it would name as the best to `out`; false, and nothing written, of a policy that names none.
    pub fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) -> bool {
        let policy = self.identify();
        if let Some(policy) = policy {
            policy.recommend(rng, out);
        }
        policy.is_some()
    }

    fn identify(&self) -> Option<&IdentifyPolicy> {
        if let OneOf::First(OneOf::Second(policy)) = &self.policy { Some(policy) } else { None }
    }
}

impl Recommend<ItemId> for Chosen<Dueling> {
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        self.policy.recommend(rng, out);
    }
}

// By hand, since a derived one would ask the protocol for it, which has no values.
impl<I: Catalogued> Clone for Chosen<I> {
    fn clone(&self) -> Self {
        Self { spec: self.spec, told: self.told.clone(), policy: self.policy.clone() }
    }
}

impl<I: Catalogued> Debug for Chosen<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chosen").field("spec", &self.spec).field("told", &self.told).finish_non_exhaustive()
    }
}

impl<I: Catalogued> Select<I::Action> for Chosen<I> {
    type Note = Note;

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<I::Action, Note>) {
        self.policy.select(rng, out);
    }
}

impl<I: Catalogued> Update<I::Action, I::Feedback> for Chosen<I> {
    #[inline]
    fn update(&mut self, decision: &Decision<I::Action, Note>, feedback: &I::Feedback) {
        self.policy.update(decision, feedback);
    }
}
