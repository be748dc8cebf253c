//! The cascade model: the user scans the list from the top, clicks on the first attractive item and
//! leaves.
//!
//! Item `k` attracts with probability `attraction[k]`, independently of the items above. The reward
//! of a round is 1 if there is a click; with weights it is the weight of the clicked position. The
//! learner observes the click: items above it were examined and not attractive, and there is no
//! information below it.
//!
//! Reference: Craswell, Zoeter, Taylor, Ramsey, *An experimental comparison of click position-bias
//! models*, WSDM 2008; as a bandit Kveton, Szepesvari, Wen, Ashkan, *Cascading bandits*, ICML 2015,
//! section 2, equation (1); weights Combes, Magureanu, Proutiere, Laroche, *Learning to rank:
//! regret lower bounds and efficient algorithms*, SIGMETRICS 2015, section 2. Deviations: ties and
//! the values 0 and 1 are allowed.
//!
//! | here | paper (Kveton et al.) | shape | unit |
//! |---|---|---|---|
//! | `attraction` | `w bar(e)` | `n_items` (L there, K elsewhere) | probability |
//! | `weights` | `r(l)` (Combes et al.) | `n_positions` (K there), not increasing | reward of a click |
//! | `expected_reward` | `f(A, w bar)` | - | reward per round: clicks, if there are no weights |
//! | `optimal_action` | `A*` | `n_positions` | - |
//!
//! Numerics: one uniform draw `u` per list, so that all policies meet the same users. The click is
//! on the first position `k` with `u >= (1 - w(a_1)) ... (1 - w(a_k))`, a probability that is right
//! to `2^-46`. Attractions of 0 and 1 are exact; an item whose click at its position is rarer than
//! `2^-53` may never be clicked. Complexity: O(number of examined positions) per round.
//!
//! # Examples
//!
//! ```
//! use click_models::{CascadeModel, ClickModel, ItemId, Ranking};
//!
//! let users = CascadeModel::from_values(&[0.5, 0.4, 0.2, 0.1], 2)?;
//! // 1 - (1 - .5)(1 - .4), in either order.
//! assert!((users.optimal_reward() - 0.7).abs() < 1e-15);
//! let reversed: Ranking = [1, 0].map(ItemId::new).into_iter().collect();
//! assert_eq!(users.gap(&reversed), 0.0);
//! // Where a click on the second position is worth half as much, order matters: .5 + .5 * .4 / 2 against .4 + .6 * .5 / 2.
//! let hasty = users.with_weights(&[1.0, 0.5])?;
//! assert!((hasty.gap(&reversed) - 0.05).abs() < 1e-15);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::linear_list::decreasing;
use crate::model::{earns, shows_lists};
use crate::parameters::parameters;
use crate::value::{GoesOn, best_list, checked};
use crate::{Cascade, CascadeFeedback, ClickModel, Error, ItemId, ListShape, Ranking, bounds};
use confidence::{NonNegative, Probability};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The largest weight.
const MAX_WEIGHT: f64 = 1e9;

/// Users who click on the first attractive item.
///
/// Saved as its parameters, `attraction`, `n_positions` and, if there are any, `weights`, and
/// checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct CascadeModel {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Probability that an item attracts, one per item.
    #[field]
    attraction: Vec<Probability>,
    /// The reward of a click, one number per position; `None` if it is 1 everywhere.
    #[field]
    weights: Option<Vec<NonNegative>>,
    values: Option<Vec<f64>>,
    best: (Ranking, f64),
}

parameters! {
    #[serde(deny_unknown_fields)]
    CascadeModel as users {
        attraction: Vec<Probability> = users.attraction,
        n_positions: usize = users.shape.n_positions(),
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weights: Option<Vec<f64>> = users.weights.map(|weights| weights.iter().map(|weight| weight.get()).collect()),
        #[serde(default, skip_serializing_if = "Option::is_none")]
        values: Option<Vec<f64>> = users.values,
    } by {
        let mut users = Self::new(attraction, n_positions)?;
        if let Some(values) = values {
            users = users.with_values(&values)?;
        }
        if let Some(weights) = weights { users.with_weights(&weights) } else { Ok(users) }
    }
}

impl CascadeModel {
    /// Users with these attraction probabilities, one per item, and lists of `n_positions`.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`].
    pub fn new(attraction: Vec<Probability>, n_positions: usize) -> Result<Self, Error> {
        let shape = ListShape::new(attraction.len(), n_positions)?;
        let best = decreasing(&attraction).into_iter().take(n_positions).map(ItemId::from_index).collect();
        let users = Self { shape, attraction, weights: None, values: None, best: (best, 0.0) };
        Ok(users.valued())
    }

    /// [`CascadeModel::new`] from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`CascadeModel::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(attraction: &[f64], n_positions: usize) -> Result<Self, Error> {
        Self::new(Error::probabilities("attraction", attraction)?, n_positions)
    }

    /// Gives every position a weight, the reward of a click there. Weights must not rise from the
    /// top down.
    ///
    /// # Errors
    ///
    /// [`Error::OneForEachPosition`], [`Error::NotAWeight`], [`Error::WeightsRise`],
    /// [`Error::WeightsAndValues`].
    pub fn with_weights(self, weights: &[f64]) -> Result<Self, Error> {
        if self.values.is_some() {
            return Err(Error::WeightsAndValues);
        }
        let n_positions = self.shape.n_positions();
        if weights.len() != n_positions {
            return Err(Error::OneForEachPosition { field: "weights", found: weights.len(), n_positions });
        }
        let mut checked = Vec::with_capacity(n_positions);
        let mut above = f64::INFINITY;
        for (position, &weight) in weights.iter().enumerate() {
            // The limit keeps sums over any number of rounds finite.
            match NonNegative::new(weight) {
                Ok(number) if weight <= MAX_WEIGHT => checked.push(number),
                _ => return Err(Error::NotAWeight { index: position, value: weight }),
            }
            if weight > above {
                return Err(Error::WeightsRise { position, above, below: weight });
            }
            above = weight;
        }
        Ok(Self { weights: Some(checked), ..self }.valued())
    }

    /// Gives every item a value, the reward of a click on it. Other users derived from these, and
    /// lower bounds, stay those of clicks.
    ///
    /// # Errors
    ///
    /// [`Error::OneForEachItem`], [`Error::NotAValue`], [`Error::WeightsAndValues`].
    pub fn with_values(mut self, values: &[f64]) -> Result<Self, Error> {
        if self.weights.is_some() {
            return Err(Error::WeightsAndValues);
        }
        self.values = Some(checked(values, self.attraction.len())?);
        self.best.0 = best_list(&self.attraction, values, GoesOn::CASCADE, self.shape.n_positions());
        Ok(self.valued())
    }

    /// Fills in the reward of the best list.
    fn valued(mut self) -> Self {
        self.best.1 = self.expected_reward(&self.best.0);
        self
    }

    /// Lower bound on the regret of any uniformly efficient policy on this instance, per `ln T`:
    /// [`bounds::cascade_lower_bound`], or with weights [`bounds::weighted_cascade_lower_bound`].
    pub fn lower_bound(&self) -> f64 {
        let attraction: Vec<f64> = self.attraction.iter().map(|probability| probability.get()).collect();
        match &self.weights {
            None => bounds::cascade_lower_bound(&attraction, self.shape.n_positions()),
            Some(weights) => {
                let weights: Vec<f64> = weights.iter().map(|weight| weight.get()).collect();
                bounds::weighted_cascade_lower_bound(&attraction, &weights)
            }
        }
    }

    /// Returns whether `items` are `n_positions` distinct items, each at most `epsilon` less
    /// attractive than the last item of the best list. (Differences below `1e-12` count as
    /// rounding.)
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{CascadeModel, ItemId};
    ///
    /// let users = CascadeModel::from_values(&[0.5, 0.1, 0.4, 0.3], 2)?;
    /// let items = |numbers: [u32; 2]| numbers.map(ItemId::new);
    /// assert!(users.are_best(&items([2, 0]), 0.0));
    /// // .3 is .1 below the second best, .4.
    /// assert!(!users.are_best(&items([0, 3]), 0.0) && users.are_best(&items([0, 3]), 0.1));
    /// assert!(!users.are_best(&items([0, 0]), 1.0) && !users.are_best(&items([0, 2])[..1], 1.0));
    /// # Ok::<(), click_models::Error>(())
    /// ```
    pub fn are_best(&self, items: &[ItemId], epsilon: f64) -> bool {
        let list: Ranking = items.iter().copied().take(self.shape.n_positions() + 1).collect();
        if items.len() != self.shape.n_positions() || !list.fits(self.shape) {
            return false;
        }
        let last = self.best.0.as_slice().last().map_or(0.0, |item| self.attraction[item.index()].get());
        items.iter().all(|item| self.attraction[item.index()].get() >= last - epsilon - 1e-12)
    }

    /// The mean of `worth` of the clicked position over one round on `action`.
    #[inline]
    fn mean_worth(&self, action: &Ranking, worth: impl Fn(usize) -> f64) -> f64 {
        let (mut mean, mut examined) = (0.0, 1.0);
        for (position, item) in action.as_slice().iter().enumerate() {
            let attraction = self.attraction[item.index()].get();
            mean += worth(position) * examined * attraction;
            examined *= 1.0 - attraction;
        }
        mean
    }
}

impl ClickModel for CascadeModel {
    type Interaction = Cascade;
    shows_lists!(|users| users.shape, users.best);
    earns!(|users| users.values);

    #[inline]
    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> CascadeFeedback {
        // One draw for the whole list: with one per position, drawing takes most of the time of a
        // long list.
        let draw: f64 = rng.random();
        let mut no_click = 1.0;
        let click = action.as_slice().iter().position(|item| {
            no_click *= 1.0 - self.attraction[item.index()].get();
            draw >= no_click
        });
        CascadeFeedback::new(click, action.len()).expect("the click is on a list of the catalogue's shape")
    }

    #[inline]
    fn expected_reward(&self, action: &Ranking) -> f64 {
        match (&self.weights, &self.values) {
            (None, None) => self.expected_clicks(action),
            (None, Some(values)) => {
                self.mean_worth(action, |position| values[action.as_slice()[position].index()])
            }
            (Some(weights), _) => self.mean_worth(action, |position| weights[position].get()),
        }
    }

    #[inline]
    fn expected_clicks(&self, action: &Ranking) -> f64 {
        self.mean_worth(action, |_| 1.0)
    }
}
