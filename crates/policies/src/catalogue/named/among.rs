//! A policy of the catalogue that is used live, for users who differ.

use super::super::PolicySpec;
use super::super::erased::{AsNote as _, Note};
use super::{BuildError, Catalogued, NamedFor, NamedPolicy};
use crate::context::{AnyFeaturedItems, FeaturedItems, HybridPrior, SelectAmongFor, SelectFor, UpdateFor};
use crate::{Decision, Error};
use click_models::{Context, ContextKnown, Interaction, ItemId, ItemSet, Ranking};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// A policy of the catalogue, chosen at run time, that sees who asks and chooses among the items
/// that may be shown. Items come and go, each with its features.
///
/// It is saved as a [`NamedPolicy`]; items that were added count as items that it was told of.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, Context, ContextKnown, ItemSet, ListShape};
/// use policies::catalogue::NamedAmong;
/// use policies::{Decision, FeaturedItems, SelectAmongFor};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let (shape, known) = (ListShape::new(2, 2)?, ContextKnown::new(2, &[1.0, -1.0])?.with_user_features(1));
/// let mut policy = NamedAmong::<Cascade>::build("hybrid-ts".parse()?, shape, known)?;
/// let new = policy.add_item(&[0.5])?;
/// let mut available = ItemSet::all(3);
/// available.remove(new);
/// let (user, mut decision) = (Context { segment: 0, features: vec![0.5] }, Decision::default());
/// policy.select_among_for(&user, &available, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// assert!(decision.action.len() == 2 && !decision.action.contains(new));
///
/// let refused = NamedAmong::<Cascade>::build("cascade-ts".parse()?, shape, known).unwrap_err();
/// let message = "`cascade-ts` cannot be used live for users who differ: `hybrid-ts` can";
/// assert_eq!(refused.to_string(), message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Serialize)]
#[serde(transparent, bound = "")]
pub struct NamedAmong<I: Catalogued> {
    policy: NamedPolicy<I>,
    /// The decision that the policy learns from.
    #[serde(skip)]
    decision: Decision<Ranking, Note>,
}

impl<I: Catalogued> NamedAmong<I> {
    /// A fresh policy, told the features of its first items.
    ///
    /// # Errors
    ///
    /// As [`NamedFor::build`], and [`BuildError::NotAmong`].
    pub fn build<'a>(
        spec: PolicySpec,
        known: impl Into<I::Known<'a>>,
        context: ContextKnown<'_>,
    ) -> Result<Self, BuildError> {
        // Refused by what it can do, even if it also needs a horizon.
        spec.check_live_among()?;
        NamedFor::build(spec, known, context, None).and_then(|policy| Self::try_from(policy.into_policy()))
    }

    /// The policy as one that is not used live.
    pub fn policy(&self) -> &NamedPolicy<I> {
        &self.policy
    }

    /// As [`NamedPolicy::begin_with`].
    ///
    /// # Errors
    ///
    /// As [`NamedPolicy::begin_with`].
    pub fn begin_with(&mut self, prior: &HybridPrior) -> Result<(), Error> {
        self.policy.begin_with(prior)
    }

    fn featured(&mut self) -> &mut dyn AnyFeaturedItems {
        self.policy.policy.featured().expect("checked when it was made")
    }

    /// The features of an item that the policy keeps, which a saved state is compared with; all of
    /// them if it uses none.
    fn kept(&mut self, item: ItemId, features: &[f64]) -> Vec<f64> {
        let kept = self.featured().features(item);
        if kept.len() == features.len() { kept } else { features }.to_vec()
    }

    fn check(&self, features: &[f64]) -> Result<(), Error> {
        let expected = self.n_item_features();
        if features.len() == expected {
            return Ok(());
        }
        Err(Error::FeaturesOfItem { found: features.to_vec(), expected })
    }
}

impl PolicySpec {
    /// Whether policies of this name can be used live for users who differ.
    ///
    /// # Errors
    ///
    /// [`BuildError::NotAmong`].
    pub fn check_live_among(&self) -> Result<(), BuildError> {
        let is_one = self.row().live == super::super::Live::Whole;
        if is_one { Ok(()) } else { Err(BuildError::NotAmong(self.name())) }
    }
}

impl<I: Catalogued> TryFrom<NamedPolicy<I>> for NamedAmong<I> {
    type Error = BuildError;

    fn try_from(mut policy: NamedPolicy<I>) -> Result<Self, BuildError> {
        if policy.knowledge.context.is_none() || policy.policy.featured().is_none() {
            return Err(BuildError::NotAmong(policy.spec.name()));
        }
        Ok(Self { policy, decision: Decision::default() })
    }
}

// Written by hand, as for the policy inside.
impl<I: Catalogued> Clone for NamedAmong<I> {
    fn clone(&self) -> Self {
        Self { policy: self.policy.clone(), decision: Decision::default() }
    }
}

impl<'de, I: Catalogued> Deserialize<'de> for NamedAmong<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(NamedPolicy::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> SelectFor<Ranking> for NamedAmong<I> {
    type Note = Context;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Context>,
    ) {
        self.select_among_for(context, &ItemSet::all(self.n_items()), rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.policy.policy.repeat_round()
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> SelectAmongFor<Ranking> for NamedAmong<I> {
    fn select_among_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        available: &ItemSet,
        mut rng: &mut R,
        out: &mut Decision<Ranking, Context>,
    ) {
        self.featured().select_list_for(context, available, &mut rng, out);
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> UpdateFor<Ranking, I::Feedback> for NamedAmong<I> {
    fn update_for(&mut self, decision: &Decision<Ranking, Context>, feedback: &I::Feedback) {
        self.decision.action.clone_from(&decision.action);
        decision.note.store(&mut self.decision.note);
        self.policy.policy.update(&self.decision, feedback);
    }
}

impl<I: Catalogued> FeaturedItems for NamedAmong<I> {
    fn n_items(&self) -> usize {
        self.policy.knowledge.sizes[0]
    }

    fn n_item_features(&self) -> usize {
        let of_all = self.policy.knowledge.context.as_ref().map_or(0, |known| known.item_features.len());
        of_all / self.policy.knowledge.sizes[0]
    }

    fn has_features(&mut self, item: ItemId, features: &[f64]) -> bool {
        let n = features.len();
        if self.check(features).is_err() {
            return false;
        }
        if self.featured().n_item_features() == n {
            return self.featured().has_features(item, features);
        }
        // Without interactions the policy itself does not keep them.
        let known = self.policy.knowledge.context.as_ref();
        known.and_then(|known| known.item_features.get(item.index() * n..(item.index() + 1) * n))
            == Some(features)
    }

    fn features(&mut self, item: ItemId) -> &[f64] {
        let n = self.n_item_features();
        let known = self.policy.knowledge.context.as_ref();
        known.map_or(&[], |known| &known.item_features[item.index() * n..(item.index() + 1) * n])
    }

    fn add_item(&mut self, features: &[f64]) -> Result<ItemId, Error> {
        self.check(features)?;
        let item = self.featured().add_item(features)?;
        let kept = self.kept(item, features);
        let knowledge = &mut self.policy.knowledge;
        knowledge.sizes[0] = item.index() + 1;
        if let Some(context) = &mut knowledge.context {
            context.item_features.extend(kept);
        }
        Ok(item)
    }

    fn replace_item(&mut self, item: ItemId, features: &[f64]) -> Result<(), Error> {
        self.check(features)?;
        self.featured().replace_item(item, features)?;
        if item.index() < self.n_items() {
            let kept = self.kept(item, features);
            let places = item.index() * kept.len()..(item.index() + 1) * kept.len();
            if let Some(known) = &mut self.policy.knowledge.context {
                known.item_features[places].copy_from_slice(&kept);
            }
        }
        Ok(())
    }
}
