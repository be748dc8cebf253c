//! A policy whose type is known at run time only: by name, with its knowledge of the users.

mod knowledge;
mod live;
mod protocols;
mod saved;
mod segments;

use super::erased::{AsList, Ask, BoxedPolicy, Maker, Note};
use super::{Family, Limit, PolicySpec, Protocol};
use crate::context::{Coefficients, HybridPrior, SelectFor, UpdateFor};
use crate::{Decision, Error, Recommend, Select, Setup, Tallies, Update};
use click_models::{
    Cascade, Clicks, ClicksOnly, Context, ContextKnown, Dcm, Dueling, Interaction, ItemId, Pbm, PbmKnown,
    RankOne, Ranking, SemiBandit,
};
use rand::Rng;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

pub use knowledge::{ContextKnowledge, Knowledge};
pub use live::{AmongItems, NamedLive, WITH_VALUES};
pub use protocols::CatalogueProtocol;

/// Why a policy cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum BuildError {
    #[error("`{policy}` cannot read the answers of {users} users: it plays {plays}")]
    Protocol { policy: &'static str, users: Protocol, plays: String },
    #[error("`{0}` chooses by segments or features: it plays users who differ, whose contexts it is told")]
    NoContexts(&'static str),
    #[error("`{0}` needs a horizon: give the number of rounds")]
    NoHorizon(&'static str),
    #[error("`{policy}` keeps numbers for {of}, of which there are {found}: at most {most} are supported")]
    TooLarge { policy: &'static str, of: &'static str, found: usize, most: usize },
    #[error("`{policy}` cannot be used live with a table: {can}{}", live::live_instead(policy))]
    NotLive { policy: &'static str, can: &'static str },
    #[error("`{0}` cannot be used live for users who differ: `hybrid-ts` can")]
    NotAmong(&'static str),
    #[error("`{policy}` has no values of items for {users} users: {WITH_VALUES}")]
    NoValues { policy: &'static str, users: Protocol },
    /// The parameters are not valid for these sizes.
    #[error("`{policy}`: {error}")]
    Parameters { policy: &'static str, error: Error },
}

/// A policy of the catalogue for users of a protocol, both chosen at run time. Its actions are
/// lists of items ([`AsList`]), and its answers are clicks ([`CatalogueProtocol::feedback`]).
///
/// It is saved with its name, parameters and knowledge, and restored only from its own state.
///
/// # Examples
///
/// ```
/// use click_models::{Clicks, ListShape, Pbm};
/// use policies::catalogue::{AnyPolicy, Ask, CatalogueProtocol, Protocol};
/// use policies::{Decision, PositionsKnown};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let known = PositionsKnown::from(ListShape::new(3, 2)?);
/// let mut policy =
///     AnyPolicy::build("pbm-gibbs".parse()?, Protocol::PositionBased, Pbm::knowledge(&known))?;
/// let mut decision = Decision::default();
/// policy.select(&Ask::default(), &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// policy.update(&decision, Clicks::new(2).with(0));
/// let saved = serde_json::to_value(&policy)?;
/// assert_eq!(AnyPolicy::read(Protocol::PositionBased, saved)?.told().sizes, [3, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct AnyPolicy {
    /// The protocol of the users.
    #[field(copy)]
    protocol: Protocol,
    /// Name and parameters of the policy.
    #[field]
    spec: PolicySpec,
    /// The policy's knowledge of the users.
    #[field(name = told)]
    knowledge: Knowledge,
    policy: BoxedPolicy,
}

impl AnyPolicy {
    /// A fresh policy of the catalogue that needs no more than this knowledge. A policy that does
    /// not see who asks for a list ignores contexts.
    ///
    /// # Errors
    ///
    /// As [`NamedPolicy::build`].
    pub fn build(spec: PolicySpec, protocol: Protocol, knowledge: Knowledge) -> Result<Self, BuildError> {
        let invalid = |error| BuildError::Parameters { policy: spec.name(), error };
        let family = spec.within().row().family_on(protocol);
        let mut knowledge = if family == Some(Family::UnknownExamination) {
            knowledge.without_examination().map_err(invalid)?
        } else {
            knowledge
        };
        knowledge.context = knowledge.context.filter(|_| spec.sees_contexts(protocol));
        let policy = fresh(&spec, &knowledge, protocol)?;
        let mut policy = Self { protocol, spec, knowledge, policy };
        // It learns how its users go on down a list, if it can have values.
        _ = policy.valued();
        Ok(policy)
    }

    /// Writes the next decision to `out`, whose previous content does not matter. The list is empty
    /// if some items are given and the policy has no [`NamedLive`].
    pub fn select<R: Rng + ?Sized>(
        &mut self,
        ask: &Ask<'_>,
        mut rng: &mut R,
        out: &mut Decision<Ranking, Note>,
    ) {
        self.policy.select(ask, &mut rng, out);
        if ask.positions < out.action.len() {
            out.action.positions_mut(ask.positions);
        }
    }

    /// As [`Select::repeat_round`].
    pub fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round()
    }

    /// Learns from clicks on the positions that were observed. Never fails, allocates, or draws.
    /// Ignores unknown items.
    #[inline]
    pub fn update(&mut self, decision: &Decision<Ranking, Note>, clicks: Clicks) {
        self.policy.update(decision, clicks);
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
        let table: &dyn Tallies = self.policy.table()?;
        Some(table)
    }

    /// As [`tallies`](Self::tallies), to change them. [`NamedLive`] adds items.
    pub fn tallies_mut(&mut self) -> Option<&mut dyn Tallies> {
        let table: &mut dyn Tallies = self.policy.table_mut()?;
        Some(table)
    }

    /// Counts a round whose list the policy did not choose, if it learns from a table.
    pub fn pass_round(&mut self) {
        if let Some(table) = self.policy.table_mut() {
            table.pass();
        }
    }

    /// The score of every item, if the policy learns from a table: the index in the next round of a
    /// policy that ranks by indices, infinite for an item without displays; the posterior mean of
    /// attraction of a policy that draws from posteriors; otherwise clicks per display.
    pub fn scores(&mut self) -> Option<Vec<f64>> {
        Some(self.policy.table_mut()?.scores())
    }

    /// The best items, if the policy is one that stops and has stopped.
    pub fn answer(&self) -> Option<Vec<ItemId>> {
        self.policy.answer()
    }

    /// Writes the recommended items to `out`; `false` if the policy identifies none.
    pub fn recommend<R: Rng + ?Sized>(&self, mut rng: &mut R, out: &mut Ranking) -> bool {
        self.policy.recommend(&mut rng, out)
    }
}

impl SelectFor<Ranking> for AnyPolicy {
    type Note = Note;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Note>,
    ) {
        self.select(&Ask { context, ..Ask::default() }, rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.repeat_round()
    }
}

impl Debug for AnyPolicy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyPolicy")
            .field("spec", &self.spec)
            .field("knowledge", &self.knowledge)
            .finish_non_exhaustive()
    }
}

/// How the functions of a [`ProtocolPolicy`] policy are called.
pub trait Calls: 'static {
    /// Refuses a policy of this name, told of contexts or not, that cannot be called so.
    #[doc(hidden)]
    fn admit(_spec: &PolicySpec, _sees_contexts: bool) -> Result<(), BuildError> {
        Ok(())
    }

    /// Refuses a policy that cannot be called so.
    #[doc(hidden)]
    fn check(_policy: &mut AnyPolicy) -> Result<(), BuildError> {
        Ok(())
    }
}

/// By [`Select`] and [`Update`].
#[derive(Debug)]
pub enum ByRounds {}

/// By [`SelectFor`] and [`UpdateFor`]: a policy that does not see who asks ignores the contexts.
#[derive(Debug)]
pub enum ForUsers {}

impl Calls for ByRounds {}

impl Calls for ForUsers {}

/// A policy of the catalogue for the protocol `I`, chosen at run time: an [`AnyPolicy`], with the
/// actions and answers of its protocol, and traits that are called by `C`.
pub struct ProtocolPolicy<I, C> {
    policy: AnyPolicy,
    /// For actions that are no lists, or notes of another type.
    buffer: Decision<Ranking, Note>,
    called: PhantomData<fn() -> (I, C)>,
}

/// A [`ProtocolPolicy`] policy for rounds.
pub type NamedPolicy<I> = ProtocolPolicy<I, ByRounds>;

/// A [`ProtocolPolicy`] policy for rounds of users who differ.
pub type NamedFor<I> = ProtocolPolicy<I, ForUsers>;

impl<I: CatalogueProtocol, C: Calls> ProtocolPolicy<I, C> {
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
        C::admit(&spec, false)?;
        let knowledge = Knowledge { horizon: horizon.into(), ..I::knowledge(&known.into()) };
        Self::try_from(AnyPolicy::build(spec, I::PROTOCOL, knowledge)?)
    }

    /// As [`build`](Self::build), for users who differ. A policy that does not see who asks for a
    /// list ignores the contexts.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and [`Error::FeaturesOfOtherItems`].
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{Cascade, Context, ContextKnown, ListShape};
    /// use policies::catalogue::NamedFor;
    /// use policies::{Decision, SelectFor};
    /// use rand::{SeedableRng, rngs::ChaCha8Rng};
    ///
    /// let known = ContextKnown::new(3, &[1.0, 0.2, -1.0])?.with_user_features(1);
    /// let (shape, spec) = (ListShape::new(3, 2)?, "hybrid-ts(alpha=0.25)".parse()?);
    /// let mut policy = NamedFor::<Cascade>::build_for(spec, shape, known, None)?;
    /// let (user, mut decision) = (Context { segment: 0, features: vec![0.5] }, Decision::default());
    /// policy.select_for(&user, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
    ///
    /// let other = NamedFor::<Cascade>::build_for(spec, shape, known, 1_000)?;
    /// assert_eq!(
    ///     other.restore(serde_json::to_value(&policy)?).unwrap_err().to_string(),
    ///     "the saved policy `hybrid-ts(alpha=0.25)` was told horizon = none, expected 1000",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_for<'a>(
        spec: PolicySpec,
        known: impl Into<I::Known<'a>>,
        context: ContextKnown<'_>,
        horizon: impl Into<Option<u64>>,
    ) -> Result<Self, BuildError> {
        C::admit(&spec, true)?;
        let knowledge = I::knowledge(&known.into());
        let (found, n_items) = (context.n_items(), knowledge.sizes[0]);
        if found != n_items {
            let error = Error::FeaturesOfOtherItems { found, n_items };
            return Err(BuildError::Parameters { policy: spec.name(), error });
        }
        let context = Some(context.into());
        let knowledge = Knowledge { horizon: horizon.into(), context, ..knowledge };
        Self::try_from(AnyPolicy::build(spec, I::PROTOCOL, knowledge)?)
    }

    fn choose<R: Rng + ?Sized>(&mut self, ask: &Ask<'_>, rng: &mut R, out: &mut Decision<I::Action, Note>) {
        let Self { policy, buffer, .. } = self;
        I::Action::decide(out, buffer, |out| policy.select(ask, rng, out));
    }
}

/// Makes a policy and checks what it gets.
fn fresh(spec: &PolicySpec, knowledge: &Knowledge, users: Protocol) -> Result<BoxedPolicy, BuildError> {
    check(spec, knowledge, users)?;
    let maker = maker(spec, users).ok_or_else(|| foreign(spec, users))?;
    (maker.fresh)(knowledge).map_err(|error| BuildError::Parameters { policy: spec.name(), error })
}

/// Makes the policies of this name, if they play the protocol.
pub(super) fn maker(spec: &PolicySpec, users: Protocol) -> Option<Maker> {
    match users {
        Protocol::PositionBased => Pbm::maker(spec),
        Protocol::SemiBandit => SemiBandit::maker(spec),
        Protocol::Cascade => Cascade::maker(spec),
        Protocol::Dcm => Dcm::maker(spec),
        Protocol::ClicksOnly => ClicksOnly::maker(spec),
        Protocol::RankOne => RankOne::maker(spec),
        Protocol::Dueling => Dueling::maker(spec),
    }
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

impl<I, C> Deref for ProtocolPolicy<I, C> {
    type Target = AnyPolicy;

    fn deref(&self) -> &AnyPolicy {
        &self.policy
    }
}

impl<I, C> DerefMut for ProtocolPolicy<I, C> {
    fn deref_mut(&mut self) -> &mut AnyPolicy {
        &mut self.policy
    }
}

/// The policy, if its users have the protocol, and it can be called so.
impl<I: CatalogueProtocol, C: Calls> TryFrom<AnyPolicy> for ProtocolPolicy<I, C> {
    type Error = BuildError;

    fn try_from(mut policy: AnyPolicy) -> Result<Self, BuildError> {
        if policy.protocol != I::PROTOCOL {
            return Err(foreign(&policy.spec, I::PROTOCOL));
        }
        C::check(&mut policy)?;
        Ok(Self { policy, buffer: Decision::default(), called: PhantomData })
    }
}

impl<I, C> From<ProtocolPolicy<I, C>> for AnyPolicy {
    fn from(policy: ProtocolPolicy<I, C>) -> Self {
        policy.policy
    }
}

impl<I: CatalogueProtocol> Setup for NamedPolicy<I> {
    fn sizes(&self) -> [usize; 2] {
        self.knowledge.sizes
    }
}

impl Recommend<ItemId> for NamedPolicy<Dueling> {
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        let mut items = Ranking::default();
        if self.policy.recommend(rng, &mut items) {
            *out = items.as_slice()[0];
        }
    }
}

// Written by hand: a derived one would require it of the protocol, which has no values.
impl<I, C> Debug for ProtocolPolicy<I, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)
    }
}

// As above.
impl<I, C> Clone for ProtocolPolicy<I, C> {
    fn clone(&self) -> Self {
        Self { policy: self.policy.clone(), buffer: Decision::default(), called: PhantomData }
    }
}

impl<I: CatalogueProtocol> Select<I::Action> for NamedPolicy<I> {
    type Note = Note;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<I::Action, Note>) {
        self.choose(&Ask::default(), rng, out);
    }

    fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round()
    }
}

impl<I: CatalogueProtocol> Update<I::Action, I::Feedback> for NamedPolicy<I> {
    fn update(&mut self, decision: &Decision<I::Action, Note>, feedback: &I::Feedback) {
        self.policy.update(I::Action::decided(decision, &mut self.buffer), I::clicks(feedback));
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> SelectFor<Ranking> for NamedFor<I> {
    type Note = Note;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Note>,
    ) {
        self.policy.select_for(context, rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.policy.repeat_round()
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> UpdateFor<Ranking, I::Feedback> for NamedFor<I> {
    fn update_for(&mut self, decision: &Decision<Ranking, Note>, feedback: &I::Feedback) {
        self.policy.update(decision, I::clicks(feedback));
    }
}
