//! A policy of the catalogue for users who differ.

use super::super::PolicySpec;
use super::super::erased::Note;
use super::{BuildError, Catalogued, ContextKnowledge, Knowledge, NamedPolicy};
use crate::context::{SelectFor, UpdateFor};
use crate::{Decision, Error};
use click_models::{Context, ContextKnown, Interaction, Ranking};
use rand::Rng;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Debug;

/// A policy of the catalogue, chosen at run time, for users who differ. A policy that does not see
/// who asks for a list ignores the contexts.
///
/// It is saved as a [`NamedPolicy`].
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
/// let shape = ListShape::new(3, 2)?;
/// let mut policy = NamedFor::<Cascade>::build("hybrid-ts(alpha=0.25)".parse()?, shape, known, None)?;
/// let (user, mut decision) = (Context { segment: 0, features: vec![0.5] }, Decision::default());
/// policy.select_for(&user, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
///
/// let other = NamedFor::<Cascade>::build("hybrid-ts(alpha=0.25)".parse()?, shape, known, 1_000)?;
/// assert_eq!(
///     other.restore(serde_json::to_value(&policy)?).unwrap_err().to_string(),
///     "the saved policy `hybrid-ts(alpha=0.25)` was told horizon = none, expected 1000",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Serialize)]
#[serde(transparent, bound = "")]
pub struct NamedFor<I: Catalogued>(NamedPolicy<I>);

impl<I: Catalogued> NamedFor<I> {
    /// A fresh policy of the catalogue; only some need the number of rounds, `horizon`.
    ///
    /// # Errors
    ///
    /// As [`NamedPolicy::build`], and [`Error::FeaturesOfOtherItems`].
    pub fn build<'a>(
        spec: PolicySpec,
        known: impl Into<I::Known<'a>>,
        context: ContextKnown<'_>,
        horizon: impl Into<Option<u64>>,
    ) -> Result<Self, BuildError> {
        let known = I::knowledge(&known.into());
        let (found, n_items) = (context.n_items(), known.sizes[0]);
        if found != n_items {
            let error = Error::FeaturesOfOtherItems { found, n_items };
            return Err(BuildError::Parameters { policy: spec.name(), error });
        }
        let sees = spec.sees_contexts(I::PROTOCOL);
        let context = sees.then(|| ContextKnowledge::from(context));
        NamedPolicy::told_all(spec, Knowledge { horizon: horizon.into(), context, ..known }).map(Self)
    }

    /// The policy as one for ordinary users.
    pub fn policy(&self) -> &NamedPolicy<I> {
        &self.0
    }

    /// The policy as one for ordinary users, by value.
    pub(super) fn into_policy(self) -> NamedPolicy<I> {
        self.0
    }

    /// As [`NamedPolicy::restore`].
    ///
    /// # Errors
    ///
    /// As [`NamedPolicy::restore`].
    pub fn restore<'de, D: Deserializer<'de>>(&self, saved: D) -> Result<Self, D::Error> {
        self.0.restore(saved).map(Self)
    }
}

impl<I: Catalogued> From<NamedFor<I>> for NamedPolicy<I> {
    fn from(policy: NamedFor<I>) -> Self {
        policy.0
    }
}

// Written by hand, as for the policy inside.
impl<I: Catalogued> Clone for NamedFor<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'de, I: Catalogued> Deserialize<'de> for NamedFor<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NamedPolicy::deserialize(deserializer).map(Self)
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> SelectFor<Ranking> for NamedFor<I> {
    type Note = Note;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Note>,
    ) {
        self.0.choose_for(context, rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.0.policy.repeat_round()
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> UpdateFor<Ranking, I::Feedback> for NamedFor<I> {
    fn update_for(&mut self, decision: &Decision<Ranking, Note>, feedback: &I::Feedback) {
        self.0.policy.update(decision, feedback);
    }
}
