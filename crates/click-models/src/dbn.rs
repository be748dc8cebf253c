//! The dynamic Bayesian network model (DBN): the user scans the list from the top, may be satisfied
//! by a click and leave, and may lose patience.
//!
//! A user who examines a position that shows item `u` clicks with probability `attraction[u]`.
//! After a click the user is satisfied with probability `satisfaction[u]` and leaves. Otherwise the
//! user examines the next position with probability `continuation`. The learner observes the clicks
//! only. [`DbnReward`] selects the reward: the number of clicks, or whether the user left
//! satisfied.
//!
//! Reference: Chapelle, Zhang, *A dynamic Bayesian network click model for web search ranking*, WWW
//! 2009, section 4. Deviations: ties and the values 0 and 1 are allowed. With `continuation = 1`
//! the model is the simplified DBN, and with satisfaction 1 everywhere in addition the cascade.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `attraction` | `a_u` | `n_items` | probability of a click, given examination |
//! | `satisfaction` | `s_u` | `n_items` | probability, given a click |
//! | `continuation` | `gamma` | - | probability |
//!
//! The best list is exact (`chain`): an examined item earns `a_u` clicks, or satisfaction
//! `a_u s_u`, and the user continues with probability `gamma (1 - a_u s_u)`. Numerics: two uniform
//! draws per position; one decides on the click and, rescaled, on satisfaction. Complexity:
//! O(`n_positions`) per round.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, DbnReward, DynamicBayesian};
//!
//! let users = DynamicBayesian::from_values(&[0.5, 0.4], &[1.0, 0.0], 0.5, 2, DbnReward::Clicks)?;
//! // The second item first: nobody leaves after it but those who lose patience. .4 + .5 * .5
//! assert!((users.optimal_reward() - 0.65).abs() < 1e-15);
//! assert_eq!(users.optimal_action()[0].index(), 1);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::chain::Chain;
use crate::model::shows_lists;
use crate::parameters::parameters;
use crate::{ClickModel, Clicks, ClicksOnly, Error, ListClicks, ListShape, Ranking};
use confidence::Probability;
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reward of a user's visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DbnReward {
    /// The number of clicks.
    #[default]
    Clicks,
    /// 1 if the user left satisfied; the learner does not observe it.
    Satisfaction,
}

/// Users who leave satisfied after a click, or without patience.
///
/// Saved as its parameters and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct DynamicBayesian {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Probability of a click on an examined item, one per item.
    #[field]
    attraction: Vec<Probability>,
    /// Probability that a click satisfies, one per item.
    #[field]
    satisfaction: Vec<Probability>,
    /// Probability that a user who is not satisfied examines the next position.
    #[field(copy)]
    continuation: Probability,
    /// The reward.
    #[field(copy)]
    reward: DbnReward,
    clicks: Chain,
    satisfied: Chain,
    best: (Ranking, f64),
}

parameters! {
    #[serde(deny_unknown_fields)]
    DynamicBayesian as users {
        attraction: Vec<Probability> = users.attraction,
        satisfaction: Vec<Probability> = users.satisfaction,
        continuation: Probability = users.continuation,
        n_positions: usize = users.shape.n_positions(),
        #[serde(default)]
        reward: DbnReward = users.reward,
    } by Self::new(attraction, satisfaction, continuation, n_positions, reward)
}

impl DynamicBayesian {
    /// Users with these attraction and satisfaction probabilities, one of each per item, this
    /// continuation probability, and lists of `n_positions`.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`], and [`Error::OneForEachItem`] for another number of satisfaction
    /// probabilities.
    pub fn new(
        attraction: Vec<Probability>,
        satisfaction: Vec<Probability>,
        continuation: Probability,
        n_positions: usize,
        reward: DbnReward,
    ) -> Result<Self, Error> {
        let shape = ListShape::new(attraction.len(), n_positions)?;
        if satisfaction.len() != attraction.len() {
            let (found, n_items) = (satisfaction.len(), attraction.len());
            return Err(Error::OneForEachItem { field: "satisfaction", found, n_items });
        }
        let pairs = || attraction.iter().zip(&satisfaction).map(|(a, s)| (a.get(), s.get()));
        let continuations: Vec<f64> = pairs().map(|(a, s)| continuation.get() * (1.0 - a * s)).collect();
        let clicks =
            Chain { rewards: pairs().map(|(a, _)| a).collect(), continuations: continuations.clone() };
        let satisfied = Chain { rewards: pairs().map(|(a, s)| a * s).collect(), continuations };
        let rewarded = if reward == DbnReward::Clicks { &clicks } else { &satisfied };
        let best = rewarded.best_list(shape);
        Ok(Self { shape, attraction, satisfaction, continuation, reward, clicks, satisfied, best })
    }

    /// [`DynamicBayesian::new`] from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`DynamicBayesian::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(
        attraction: &[f64],
        satisfaction: &[f64],
        continuation: f64,
        n_positions: usize,
        reward: DbnReward,
    ) -> Result<Self, Error> {
        let continuation = Error::probabilities("continuation", &[continuation])?[0];
        Self::new(
            Error::probabilities("attraction", attraction)?,
            Error::probabilities("satisfaction", satisfaction)?,
            continuation,
            n_positions,
            reward,
        )
    }
}

impl ClickModel for DynamicBayesian {
    type Interaction = ClicksOnly;
    shows_lists!(|users| users.shape, users.best);

    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> ListClicks {
        let mut clicks = Clicks::new(action.len());
        let mut is_there = true;
        for (position, item) in action.by_position() {
            // Draw even after the user has left, so that every policy meets the same user in the
            // next round.
            let (click, patience) = (rng.random::<f64>(), rng.random::<f64>());
            let attraction = self.attraction[item.index()].get();
            if is_there && click < attraction {
                clicks = clicks.with(position);
            }
            let is_satisfied = click < attraction * self.satisfaction[item.index()].get();
            is_there = is_there && !is_satisfied && patience < self.continuation.get();
        }
        ListClicks { clicks }
    }

    #[inline]
    fn expected_reward(&self, action: &Ranking) -> f64 {
        if self.reward == DbnReward::Clicks {
            self.clicks.value(action)
        } else {
            self.satisfied.value(action)
        }
    }

    #[inline]
    fn expected_clicks(&self, action: &Ranking) -> f64 {
        self.clicks.value(action)
    }
}
