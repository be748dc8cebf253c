use super::learner::{HybridSettings, Learner, Score};
use super::posterior::HybridPosterior;
use super::{FeatureScale, FeaturedItems, HybridPrior, SelectAmongFor, SelectFor, UpdateFor};
use crate::checked::checked;
use crate::pbm::counts::{order_of, place};
use crate::setup::setup;
use crate::{Decision, Error, PrefixKnown, Setup};
use click_models::{
    Context, ContextKnown, ItemId, ItemSet, ListShape, ObservedPrefix, PbmKnown, Ranking, RenderedClicks,
};
use confidence::Probability;
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

/// Thompson sampling in a hybrid logistic model, for users with an observed prefix.
///
/// The log-odds of the attraction of item `i` for a user with features `x` in segment `g` are
///
/// ```text
/// beta' phi + delta_i' (1, x) + e_gi       phi = (1, x) (1, z_i)', row by row
/// ```
///
/// with normal priors: `beta` is shared by all items, `delta_i` belongs to the item, `e_gi` to the
/// item in a segment. Every item draws its log-odds; the largest are shown, best first. Told
/// nothing, the policy estimates a rate for every item, with a common prior.
///
/// Reference: ours, of Chapelle, Li, *An empirical evaluation of Thompson sampling*, NIPS 2011
/// (Laplace approximation of a logistic posterior); Li, Chu, Langford, Schapire, *A
/// contextual-bandit approach to personalized news article recommendation*, WWW 2010, section 3.2
/// (shared and own coefficients); Wan, Ge, Song, AISTATS 2023 (effects of items around their
/// features); Hong et al., *Hierarchical Bayesian bandits*, AISTATS 2022 (hierarchy). Deviations:
/// the posterior is updated answer by answer, and its three parts as if they were independent; the
/// standard deviations of items and cells are estimated from the answers.
///
/// | here | in the formulas | shape | unit |
/// |---|---|---|---|
/// | shared coefficients | `beta` | products of features, or 1 | log-odds |
/// | `intercepts`, `slopes` | `delta` | `n_items` x (1 + `n_user_features`) | log-odds |
/// | `cells` | `e` | `n_segments` x `n_items`; none for one segment | log-odds |
///
/// Cost, with D products: a selection takes `D^2 / 2` multiply-adds and a normal draw for every
/// item; a list of L answers `2 L D^2`. From 256 items on, items that were never learned from are
/// thinned, unless they are few: a selection draws about as many of them as it has positions, with
/// the same distribution of lists.
///
/// # Examples
///
/// Users with a positive feature click on the first item, others on the second:
///
/// ```
/// use click_models::{CascadeFeedback, Context, ContextKnown, ListShape, Ranking};
/// use policies::{Decision, HybridSettings, HybridTs, SelectFor, UpdateFor};
/// use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
///
/// let known = ContextKnown::new(2, &[1.0, -1.0])?.with_user_features(1);
/// let mut policy = HybridTs::new(ListShape::new(2, 1)?, known, HybridSettings::default())?;
/// let (mut rng, mut decision) = (ChaCha8Rng::seed_from_u64(1), Decision::default());
/// let mut clicks = 0;
/// for round in 0..500 {
///     let user = Context { segment: 0, features: vec![if rng.random() { 1.0 } else { -1.0 }] };
///     policy.select_for(&user, &mut rng, &mut decision);
///     let first: &Ranking = &decision.action;
///     let click = (first[0].index() == 0) == (user.features[0] > 0.0);
///     let feedback = CascadeFeedback::new(click.then_some(0), 1)?;
///     policy.update_for(&decision, &feedback);
///     clicks += usize::from(click && round >= 400);
/// }
/// assert!(clicks >= 95);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct HybridTs {
    learner: Learner,
    /// The position of the best item, of the second best, and so on.
    order: Vec<usize>,
}

/// [`HybridTs`] for position-based users with known examination.
///
/// A missing click says less the less its position is examined. The best item gets the position
/// that is examined most.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct PbmHybridTs {
    policy: HybridTs,
    examination: Vec<Probability>,
}

impl HybridTs {
    /// A fresh policy.
    ///
    /// # Errors
    ///
    /// [`Error::FeaturesOfOtherItems`], [`Error::TooManyCoefficients`], [`Error::TooManyCells`].
    pub fn new<'a>(
        known: impl Into<PrefixKnown<'a>>,
        context: ContextKnown<'_>,
        settings: HybridSettings,
    ) -> Result<Self, Error> {
        let known = known.into();
        Ok(Self { learner: Learner::new(known.shape(), context, settings)?, order: known.order() })
    }

    /// The same policy, before its first list, which standardises all features by this scale.
    ///
    /// # Errors
    ///
    /// [`Error::SavedSizes`] for a scale of other features.
    pub fn standardising(self, scale: FeatureScale) -> Result<Self, Error> {
        Ok(Self { learner: self.learner.standardising(scale)?, ..self })
    }

    /// The same policy, before its first list, which begins with what another has learned.
    ///
    /// # Errors
    ///
    /// [`Error::PriorOfOthers`], [`Error::PriorOfOtherFeatures`] if users or items are not those of
    /// the prior, [`Error::PriorWithInteractions`].
    pub fn with_prior(self, prior: &HybridPrior) -> Result<Self, Error> {
        Ok(Self { learner: prior.begin(&self.learner)?, ..self })
    }

    /// The posterior so far.
    pub fn learned(&self) -> HybridPrior {
        HybridPrior::of(&self.learner)
    }

    /// The posterior of every item's log-odds for a user.
    pub fn scores(&mut self, context: &Context) -> Vec<Score> {
        self.learner.scores(context)
    }

    /// The posterior of all coefficients.
    pub fn posterior(&self) -> HybridPosterior {
        HybridPosterior::of(&self.learner)
    }

    /// Estimates the standard deviations of the coefficients of items and cells now, as the policy
    /// does by itself after 100 lists, and whenever there are a quarter more.
    pub fn estimate_deviations(&mut self) {
        self.learner.estimate();
    }
}

setup!(
    HybridTs,
    &[
        "/learner/settings",
        "/learner/n_segments",
        "/learner/products/n_user_features",
        "/learner/products/item_features",
        "/order"
    ],
    |policy| policy.learner.sizes()
);

impl PbmHybridTs {
    /// A fresh policy.
    ///
    /// # Errors
    ///
    /// As [`HybridTs::new`].
    pub fn new(
        known: PbmKnown<'_>,
        context: ContextKnown<'_>,
        settings: HybridSettings,
    ) -> Result<Self, Error> {
        let order = order_of(known.examination());
        let policy = HybridTs { learner: Learner::new(known.shape(), context, settings)?, order };
        Ok(Self { policy, examination: known.examination().to_vec() })
    }

    /// As [`HybridTs::standardising`].
    ///
    /// # Errors
    ///
    /// As [`HybridTs::standardising`].
    pub fn standardising(self, scale: FeatureScale) -> Result<Self, Error> {
        Ok(Self { policy: self.policy.standardising(scale)?, ..self })
    }

    /// As [`HybridTs::with_prior`].
    ///
    /// # Errors
    ///
    /// As [`HybridTs::with_prior`].
    pub fn with_prior(self, prior: &HybridPrior) -> Result<Self, Error> {
        Ok(Self { policy: self.policy.with_prior(prior)?, ..self })
    }
}

impl Deref for PbmHybridTs {
    type Target = HybridTs;

    fn deref(&self) -> &HybridTs {
        &self.policy
    }
}

impl DerefMut for PbmHybridTs {
    fn deref_mut(&mut self) -> &mut HybridTs {
        &mut self.policy
    }
}

impl Setup for PbmHybridTs {
    const SETTINGS: &'static [&'static str] = &["/examination"];

    fn settings(&self) -> Vec<Cow<'static, str>> {
        let inside = HybridTs::SETTINGS.iter().map(|pointer| format!("/policy{pointer}").into());
        inside.chain(Self::SETTINGS.iter().map(|&pointer| pointer.into())).collect()
    }

    fn sizes(&self) -> [usize; 2] {
        self.policy.sizes()
    }
}

/// Implements the items and choices of both policies.
macro_rules! hybrid {
    ($($Policy:ident),+) => {$(
        impl FeaturedItems for $Policy {
            fn n_items(&self) -> usize {
                self.learner.sizes()[0]
            }

            fn n_item_features(&self) -> usize {
                self.learner.n_item_features()
            }

            fn has_features(&mut self, item: ItemId, features: &[f64]) -> bool {
                self.learner.has_features(item, features)
            }

            fn features(&mut self, item: ItemId) -> &[f64] {
                self.learner.features(item)
            }

            fn add_item(&mut self, features: &[f64]) -> Result<ItemId, Error> {
                self.learner.add_item(features)
            }

            fn replace_item(&mut self, item: ItemId, features: &[f64]) -> Result<(), Error> {
                self.learner.replace_item(item, features)
            }
        }

        impl SelectAmongFor<Ranking> for $Policy {
            fn select_among_for<R: Rng + ?Sized>(
                &mut self,
                context: &Context,
                available: &ItemSet,
                rng: &mut R,
                out: &mut Decision<Ranking, Context>,
            ) {
                let HybridTs { learner, order }: &mut HybridTs = self;
                out.note.clone_from(context);
                place(learner.choose(context, Some(available), rng), order, &mut out.action);
            }
        }

        impl SelectFor<Ranking> for $Policy {
            type Note = Context;

            fn select_for<R: Rng + ?Sized>(
                &mut self,
                context: &Context,
                rng: &mut R,
                out: &mut Decision<Ranking, Context>,
            ) {
                let HybridTs { learner, order }: &mut HybridTs = self;
                out.note.clone_from(context);
                place(learner.choose(context, None, rng), order, &mut out.action);
            }

            fn repeat_round_for(&mut self) -> bool {
                true
            }
        }
    )+};
}
hybrid!(HybridTs, PbmHybridTs);

impl<F: ObservedPrefix> UpdateFor<Ranking, F> for HybridTs {
    fn update_for(&mut self, decision: &Decision<Ranking, Context>, feedback: &F) {
        self.learner.learn(&decision.note, &decision.action, feedback.observed_clicks(), |_| 1.0);
    }
}

impl<F: RenderedClicks> UpdateFor<Ranking, F> for PbmHybridTs {
    fn update_for(&mut self, decision: &Decision<Ranking, Context>, feedback: &F) {
        let clicks = feedback.rendered_clicks(decision.action.len());
        let examination =
            |position: usize| self.examination.get(position).map_or(0.0, |examined| examined.get());
        self.policy.learner.learn(&decision.note, &decision.action, clicks, examination);
    }
}

checked!(HybridTs, |self| {
    let [n_items, n_positions] = self.learner.sizes();
    PrefixKnown::with_places(ListShape::new(n_items, n_positions)?, &self.order)?;
    if self.order.len() == n_positions { Ok(self) } else { Err(Error::SavedSizes) }
});

checked!(PbmHybridTs, |self| {
    let is_known = self.policy.order == order_of(&self.examination);
    if is_known { Ok(self) } else { Err(Error::SavedSizes) }
});
