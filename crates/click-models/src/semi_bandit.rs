//! Random semi-bandit feedback (RSF): the user rates items from the top and leaves after a random
//! number of them.
//!
//! The number of observed positions `Lambda` does not depend on the list;
//! `examination[l] = P(Lambda > l)` for the 0-based position `l`. Inside the observed prefix item
//! `k` is clicked with probability `attraction[k]`, independently. The learner observes where the
//! prefix ends. The reward of a round is its number of clicks.
//!
//! Reference: Vahabi, Lagree, Vernade, Cappe, *Sequential ranking under random semi-bandit
//! feedback*, 2016, section 2; the front page contains the instance of its section 6.2. Deviations:
//! `examination[0]` may be below 1 (the paper's `Lambda` is at least 1); ties and the values 0 and
//! 1 are allowed.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `attraction` | theta | `n_items` (K) | probability |
//! | `examination` | kappa, `P(Lambda >= l)` | `n_positions` (L), not increasing | probability |
//! | `expected_reward` | `mu_a` | - | clicks per round |
//!
//! Numerics: one uniform draw per position decides whether the user continues (`u < r`, `r` the
//! conditional probability) and, rescaled, whether the item is clicked (`u < r * attraction`).
//! Complexity: O(`n_positions`) per round.

use crate::linear_list::{LinearList, linear};
use crate::model::{earns, shows_lists};
use crate::{ClickModel, Clicks, Error, ListShape, PrefixFeedback, Ranking, SemiBandit, bounds};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Users who rate a random prefix of the list.
///
/// Saved as its two parameters, `attraction` and `examination`, and checked again when it is
/// loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct RandomSemiBandit {
    list: LinearList,
    /// Probability that a position is observed, given that the position above was.
    goes_on: Vec<f64>,
}

impl RandomSemiBandit {
    /// Users with these attraction (one per item) and examination (one per position, not
    /// increasing) probabilities.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`], and [`Error::ExaminationRises`].
    pub fn new(attraction: Vec<Probability>, examination: Vec<Probability>) -> Result<Self, Error> {
        let mut above = 1.0;
        let mut goes_on = Vec::with_capacity(examination.len());
        for (position, observed) in examination.iter().map(|probability| probability.get()).enumerate() {
            if observed > above {
                return Err(Error::ExaminationRises { position, above, below: observed });
            }
            goes_on.push(if above > 0.0 { observed / above } else { 0.0 });
            above = observed;
        }
        Ok(Self { list: LinearList::new(attraction, examination)?, goes_on })
    }

    /// Users who leave after every position with the given probability, click or no click:
    /// `examination[l]` is the product of `1 - leave[i]` over the positions `i` above `l`. This is
    /// the model that the PBM paper's introduction calls the dependent click model.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{ClickModel, RandomSemiBandit};
    ///
    /// let users = RandomSemiBandit::leaving(&[0.5, 0.4], &[0.25, 0.9])?;
    /// // .5 + .75 * .4
    /// assert_eq!(users.optimal_reward(), 0.8);
    /// # Ok::<(), click_models::Error>(())
    /// ```
    pub fn leaving(attraction: &[f64], leave: &[f64]) -> Result<Self, Error> {
        let mut examined = 1.0;
        let examination: Vec<f64> = Error::probabilities("leave", leave)?
            .iter()
            .map(|leave| {
                let here = examined;
                examined *= 1.0 - leave.get();
                here
            })
            .collect();
        Self::from_values(attraction, &examination)
    }

    /// Lower bound on the regret of any uniformly efficient policy on this instance, in clicks per
    /// `ln T`: Theorem 4 of the RSF paper, [`bounds::semi_bandit_lower_bound`] for the positions
    /// with positive examination; 0 if there are none.
    pub fn lower_bound(&self) -> f64 {
        let (attraction, examination) = self.list.attraction_and_seen_positions();
        if examination.is_empty() {
            0.0
        } else {
            bounds::semi_bandit_lower_bound(&attraction, examination.len())
        }
    }
}

linear!(RandomSemiBandit);

impl ClickModel for RandomSemiBandit {
    type Interaction = SemiBandit;
    shows_lists!(|users| users.shape(), users.list.best);
    earns!(|users| users.list.values);

    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> PrefixFeedback {
        let mut bits = 0_u64;
        let mut observed = 0;
        let mut reading = true;
        for (position, (item, &goes_on)) in action.as_slice().iter().zip(&self.goes_on).enumerate() {
            // Draw even after the user has left, so that every policy meets the same user in the
            // next round.
            let uniform = rng.random::<f64>();
            reading &= uniform < goes_on;
            if reading {
                observed = position + 1;
                bits |= u64::from(uniform < goes_on * self.attraction()[item.index()].get()) << position;
            }
        }
        PrefixFeedback {
            clicks: Clicks::from_bits(bits, observed).expect("bits were set below `observed` only"),
        }
    }

    #[inline]
    fn expected_reward(&self, action: &Ranking) -> f64 {
        self.list.expected_reward(action)
    }

    #[inline]
    fn expected_clicks(&self, action: &Ranking) -> f64 {
        self.list.expected_clicks(action)
    }
}
