use super::learner::Learner;
use super::posterior::HybridPosterior;
use super::scale::{FeatureScale, first_difference, standardise};
use crate::Error;
use crate::sampling::Sampler;
use click_models::{Context, ContextKnown, LogOdds};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The posterior of a [`HybridTs`](super::HybridTs), for others to begin with: it is saved by
/// itself, and checked when it is read. It contains the scale of the features.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HybridPrior(Learner);

impl HybridPrior {
    pub(super) fn of(learner: &Learner) -> Self {
        Self(learner.clone())
    }

    /// The sizes and features of users and items; features of items are standardised.
    pub fn known(&self) -> ContextKnown<'_> {
        self.0.known()
    }

    /// The scale of the features, if they are standardised.
    pub fn scale(&self) -> &FeatureScale {
        self.0.scale()
    }

    /// The posterior of all coefficients.
    pub fn posterior(&self) -> HybridPosterior {
        HybridPosterior::of(&self.0)
    }

    /// The smallest precision: of a shared coefficient given those after it, of an item's, or of a
    /// cell's.
    pub fn least_precision(&self) -> f64 {
        let own = self.0.own().into_iter().flat_map(|own| &own.precisions).copied();
        self.0.shared.conditional_precisions().chain(own).fold(f64::INFINITY, f64::min)
    }

    /// A user's context with features on the scale of the coefficients.
    #[must_use]
    pub fn standardised(&self, context: &Context) -> Context {
        let mut context = context.clone();
        standardise(self.scale().user(), &mut context.features);
        context
    }

    /// The mean coefficients, for standardised features.
    pub fn mean(&self) -> LogOdds {
        self.0.coefficients(&self.0.shared.mean, |own| own.means.clone())
    }

    /// A draw of the coefficients, for standardised features.
    ///
    /// The posterior of the policy takes its parts for independent. On the log of a bandit its
    /// deviations are not those of the exact posterior, so differences between draws are a rough
    /// measure of what is not known.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> LogOdds {
        let mut shared = vec![0.0; self.0.shared.len()];
        self.0.shared.draw(1.0, rng, &mut shared);
        let sampler = Sampler::new();
        self.0.coefficients(&shared, |own| {
            let numbers = own.means.iter().zip(&own.variances);
            numbers.map(|(mean, variance)| mean + variance.sqrt() * sampler.normal(rng)).collect()
        })
    }

    /// The prior for users and items whose features `first` has standardised before.
    ///
    /// # Errors
    ///
    /// [`Error::NotAFeatureScale`].
    pub fn after(mut self, first: &FeatureScale) -> Result<Self, Error> {
        let scale = self.scale().after(first)?;
        self.0.set_scale(scale);
        Ok(self)
    }

    /// The state of a fresh learner that begins with this.
    pub(super) fn begin(&self, fresh: &Learner) -> Result<Learner, Error> {
        if self.0.interactions() != fresh.interactions() {
            return Err(Error::PriorWithInteractions(self.0.interactions()));
        }
        let (own, others) = (self.known(), fresh.known());
        let sizes = |known: ContextKnown<'_>| {
            [
                ("items", known.n_items()),
                ("segments", known.n_segments() as usize),
                ("features of users", known.n_user_features()),
                ("features of items", known.n_item_features()),
            ]
        };
        for ((of, expected), (_, found)) in sizes(own).into_iter().zip(sizes(others)) {
            if expected != found {
                return Err(Error::PriorOfOthers { of, found, expected });
            }
        }
        let mut features = others.item_features().to_vec();
        standardise(self.scale().item(), &mut features);
        let n_features = own.n_item_features().max(1);
        match first_difference(&features, own.item_features()) {
            Some(at) => Err(Error::PriorOfOtherFeatures { item: at / n_features, feature: at % n_features }),
            None => Ok(self.0.continued_by(fresh)),
        }
    }
}
