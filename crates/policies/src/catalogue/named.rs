//! A policy whose type is known at run time only: by name, for the users of one protocol.

mod among;
mod for_users;
mod knowledge;
mod on_table;
mod protocols;
mod saved;
mod segments;

use super::erased::{BoxedPolicy, Note};
use super::{Family, Limit, PolicySpec, Protocol};
use crate::context::{Coefficients, HybridPrior};
use crate::{Decision, Error, Recommend, Select, Setup, Tallies, Update};
use click_models::{Cascade, Context, Dueling, ItemId, PbmKnown, Ranking};
use rand::Rng;
use std::fmt::{self, Debug, Formatter};

pub use among::NamedAmong;
pub use for_users::NamedFor;
pub use knowledge::{ContextKnowledge, Knowledge};
pub use on_table::NamedTable;
pub use protocols::Catalogued;

/// Why a policy cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The policy cannot read the feedback of these users.
    #[error("`{policy}` cannot read the answers of {users} users: it plays {plays}")]
    Protocol {
        /// The policy's name.
        policy: &'static str,
        /// The protocol of the users.
        users: Protocol,
        /// The protocols that the policy plays, in words.
        plays: String,
    },
    /// The policy sees who asks for a list.
    #[error("`{0}` chooses by segments or features: it plays users who differ, whose contexts it is told")]
    NoContexts(&'static str),
    /// The policy needs the number of rounds.
    #[error("`{0}` needs a horizon: give the number of rounds")]
    NoHorizon(&'static str),
    /// The policy would need too much memory.
    #[error("`{policy}` keeps numbers for {of}, of which there are {found}: at most {most} are supported")]
    TooLarge {
        /// The policy's name.
        policy: &'static str,
        /// The objects that it stores numbers for.
        of: &'static str,
        /// Number of these objects.
        found: usize,
        /// Largest number supported.
        most: usize,
    },
    /// The policy does not learn from a table that can be changed.
    #[error("`{policy}` cannot be used live with a table: {can}")]
    NotLive {
        /// The policy's name.
        policy: &'static str,
        /// Its abilities, in words.
        can: &'static str,
    },
    /// The policy does not choose among items that come and go, for users who differ.
    #[error("`{0}` cannot be used live for users who differ: `hybrid-ts` can")]
    NotAmong(&'static str),
    /// The parameters are not valid for these sizes.
    #[error("`{policy}`: {error}")]
    Parameters {
        /// The policy's name.
        policy: &'static str,
        /// The fault.
        error: Error,
    },
}

/// The context of an ordinary user.
static NOBODY: Context = Context { segment: 0, features: Vec::new() };

/// A policy of the catalogue for the protocol `I`, chosen at run time.
///
/// It is saved with its name, parameters and knowledge, and restored only from its own state.
pub struct NamedPolicy<I: Catalogued> {
    spec: PolicySpec,
    knowledge: Knowledge,
    policy: BoxedPolicy<I>,
}

impl<I: Catalogued> NamedPolicy<I> {
    /// A fresh policy of the catalogue; only some need the number of rounds, `horizon`.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: the policy plays another protocol, the horizon or examination probabilities
    /// that it needs are missing, the sizes need too much memory, or the parameters are not valid
    /// for these sizes.
    pub fn build<'a>(
        spec: PolicySpec,
        known: impl Into<I::Known<'a>>,
        horizon: impl Into<Option<u64>>,
    ) -> Result<Self, BuildError> {
        Self::told_all(spec, Knowledge { horizon: horizon.into(), ..I::knowledge(&known.into()) })
    }

    /// A fresh policy that needs no more than this knowledge.
    fn told_all(spec: PolicySpec, knowledge: Knowledge) -> Result<Self, BuildError> {
        let invalid = |error| BuildError::Parameters { policy: spec.name(), error };
        let knowledge = told_to(&spec.within(), knowledge, I::PROTOCOL).map_err(invalid)?;
        let policy = Self::fresh(&spec, &knowledge)?;
        Ok(Self { spec, knowledge, policy })
    }

    fn fresh(spec: &PolicySpec, knowledge: &Knowledge) -> Result<BoxedPolicy<I>, BuildError> {
        check(spec, knowledge, I::PROTOCOL)?;
        let maker = I::maker(spec).ok_or_else(|| foreign(spec, I::PROTOCOL))?;
        maker.fresh(knowledge).map_err(|error| BuildError::Parameters { policy: spec.name(), error })
    }

    /// Name and parameters of the policy.
    pub fn spec(&self) -> &PolicySpec {
        &self.spec
    }

    /// The policy's knowledge of the users.
    pub fn told(&self) -> &Knowledge {
        &self.knowledge
    }

    /// As [`Select::select`], for a user. A policy that was told of no contexts ignores this one.
    #[inline]
    pub fn choose_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        mut rng: &mut R,
        out: &mut Decision<I::Action, Note>,
    ) {
        self.policy.select(context, &mut rng, out);
    }

    /// Posterior and estimates of a policy for users who differ, if it estimates coefficients.
    pub fn coefficients(&mut self) -> Option<&mut dyn Coefficients> {
        self.policy.coefficients()
    }

    /// Begins, before the first list, with what `hybrid-ts` has learned elsewhere. From then on the
    /// policy [knows](Self::told) the features of items as the prior has standardised them.
    ///
    /// # Errors
    ///
    /// As [`HybridTs::with_prior`](crate::HybridTs::with_prior); [`Error::NoPrior`] for other
    /// policies.
    pub fn begin_with(&mut self, prior: &HybridPrior) -> Result<(), Error> {
        self.policy.coefficients().ok_or(Error::NoPrior)?.begin_with(prior)?;
        if let Some(context) = &mut self.knowledge.context {
            context.item_features = prior.known().item_features().to_vec();
        }
        Ok(())
    }

    /// The displays and clicks that count, if the policy learns from a table.
    pub fn tallies(&self) -> Option<&dyn Tallies> {
        let table: &dyn Tallies = self.policy.on_table()?;
        Some(table)
    }

    /// Counts a round whose list the policy did not choose, if it learns from a table.
    pub fn pass_round(&mut self) {
        if let Some(table) = self.policy.on_table_mut() {
            table.pass();
        }
    }

    /// The score of every item, if the policy learns from a table: the index in the next round of a
    /// policy that ranks by indices, infinite for an item without displays; the posterior mean of
    /// attraction of a policy that draws from posteriors; otherwise clicks per display.
    pub fn scores(&mut self) -> Option<Vec<f64>> {
        Some(self.policy.on_table_mut()?.scores())
    }
}

/// The part of the knowledge that a policy may have.
fn told_to(spec: &PolicySpec, knowledge: Knowledge, users: Protocol) -> Result<Knowledge, Error> {
    let is_unknown = spec.row().family_on(users) == Some(Family::UnknownExamination);
    if is_unknown { knowledge.without_examination() } else { Ok(knowledge) }
}

/// Refuses users whose feedback the policy cannot read, and knowledge that it cannot use.
fn check(spec: &PolicySpec, knowledge: &Knowledge, users: Protocol) -> Result<(), BuildError> {
    let (row, policy) = (spec.within().row(), spec.name());
    let sees = spec.sees_contexts(users);
    if !(row.speaks(users) || sees) {
        return Err(foreign(spec, users));
    }
    if sees && knowledge.context.is_none() && !spec.speaks(users) {
        return Err(BuildError::NoContexts(policy));
    }
    if spec.needs_horizon() && knowledge.horizon.is_none() {
        return Err(BuildError::NoHorizon(policy));
    }
    let parameters = |error: Error| BuildError::Parameters { policy, error };
    // Saved knowledge may be of any length, and not every family builds `PbmKnown`.
    if users == Protocol::PositionBased {
        let shape = knowledge.list_shape().map_err(parameters)?;
        if row.family_on(users) != Some(Family::UnknownExamination) {
            PbmKnown::new(shape, &knowledge.examination).map_err(|error| parameters(error.into()))?;
        } else if !knowledge.examination.is_empty() {
            return Err(parameters(Error::KnowsExamination));
        }
    }
    let [first, second] = knowledge.sizes;
    let too_large = match row.limit {
        Limit::Cells(most) if users == Protocol::RankOne => {
            Some(("every cell", first.saturating_mul(second), most))
        }
        Limit::Items(most) => Some(("every pair of items", first, most)),
        Limit::Cells(_) | Limit::None => None,
    };
    match too_large {
        Some((of, found, most)) if found > most => Err(BuildError::TooLarge { policy, of, found, most }),
        _ => Ok(()),
    }
}

fn foreign(spec: &PolicySpec, users: Protocol) -> BuildError {
    let protocols = spec.within().row().protocols();
    let models: Vec<String> = protocols.map(|protocol| format!("{protocol} users")).collect();
    BuildError::Protocol { policy: spec.name(), users, plays: models.join(", ") }
}

impl<I: Catalogued> Setup for NamedPolicy<I> {
    fn sizes(&self) -> [usize; 2] {
        self.knowledge.sizes
    }
}

impl NamedPolicy<Cascade> {
    /// The best items, if the policy is one that stops and has stopped.
    pub fn answer(&self) -> Option<Vec<ItemId>> {
        self.policy.answer()
    }

    /// Writes the recommended items to `out`; `false` if the policy identifies none.
    pub fn recommend<R: Rng + ?Sized>(&self, mut rng: &mut R, out: &mut Ranking) -> bool {
        self.policy.recommend(&mut rng, out)
    }
}

impl Recommend<ItemId> for NamedPolicy<Dueling> {
    fn recommend<R: Rng + ?Sized>(&self, mut rng: &mut R, out: &mut ItemId) {
        let mut items = Ranking::default();
        if self.policy.recommend(&mut rng, &mut items) {
            *out = items.as_slice()[0];
        }
    }
}

// Written by hand: a derived one would require `I: Clone`, and a protocol has no values.
impl<I: Catalogued> Clone for NamedPolicy<I> {
    fn clone(&self) -> Self {
        Self { spec: self.spec, knowledge: self.knowledge.clone(), policy: self.policy.duplicate() }
    }
}

impl<I: Catalogued> Debug for NamedPolicy<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedPolicy")
            .field("spec", &self.spec)
            .field("knowledge", &self.knowledge)
            .finish_non_exhaustive()
    }
}

impl<I: Catalogued> Select<I::Action> for NamedPolicy<I> {
    type Note = Note;

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<I::Action, Note>) {
        self.choose_for(&NOBODY, rng, out);
    }

    fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round()
    }
}

impl<I: Catalogued> Update<I::Action, I::Feedback> for NamedPolicy<I> {
    #[inline]
    fn update(&mut self, decision: &Decision<I::Action, Note>, feedback: &I::Feedback) {
        self.policy.update(decision, feedback);
    }
}
