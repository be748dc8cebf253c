//! The position-based model (PBM): an item is clicked if its position is examined and the item
//! attracts, independently.
//!
//! At position `l` showing item `k`, the click is `Bernoulli(examination[l] * attraction[k])`, all
//! positions independent; examination itself is not observed. The reward is the number of clicks.
//!
//! Reference: Lagree, Vernade, Cappe, *Multiple-play bandits in the position-based model*, NIPS
//! 2016, section 2, equation (1). Deviations: positions may come in any order of examination (the
//! paper assumes decreasing); ties and the values 0 and 1 are allowed.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `attraction` | theta | `n_items` (K) | probability |
//! | `examination` | kappa | `n_positions` (L) | probability |
//! | `expected_reward`, `optimal_reward` | `mu_a`, `mu*` | - | clicks per round |
//! | `gap` | `Delta_a` | - | clicks per round |
//!
//! Numerics: a click is one draw, uniform on the multiples of `2^-53`, below one rounded product; 0
//! and 1 are exact. Complexity: O(`n_positions`) per round.

use crate::linear_list::{LinearList, linear};
use crate::model::{earns, shows_lists};
use crate::{ClickModel, Clicks, Error, ListShape, Pbm, PbmFeedback, Ranking, bounds};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Users who click as in the position-based model.
///
/// Saved as its two parameters, `attraction` and `examination`, and checked again when it is
/// loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct PositionBased {
    list: LinearList,
}

/// The learner's knowledge of a position-based instance: its size and the examination
/// probabilities.
#[derive(Debug, Clone, Copy, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct PbmKnown<'a> {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Examination probabilities, one per position.
    examination: &'a [Probability],
}

impl<'a> PbmKnown<'a> {
    /// Lists of this shape with these examination probabilities, one per position.
    ///
    /// # Errors
    ///
    /// [`Error::OneForEachPosition`] if the number of probabilities differs from the number of
    /// positions.
    pub fn new(shape: ListShape, examination: &'a [Probability]) -> Result<Self, Error> {
        let (found, n_positions) = (examination.len(), shape.n_positions());
        if found == n_positions {
            Ok(Self { shape, examination })
        } else {
            Err(Error::OneForEachPosition { field: "examination", found, n_positions })
        }
    }
}

impl PositionBased {
    /// Users with these attraction (one per item) and examination (one per position) probabilities.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`].
    pub fn new(attraction: Vec<Probability>, examination: Vec<Probability>) -> Result<Self, Error> {
        Ok(Self { list: LinearList::new(attraction, examination)? })
    }

    /// Lower bound on the regret of any uniformly efficient policy on this instance, in clicks per
    /// `ln T`: Theorem 6 of the PBM paper, [`bounds::pbm_lower_bound`] for the positions with
    /// positive examination; 0 if there are none.
    pub fn lower_bound(&self) -> f64 {
        let (attraction, examination) = self.list.attraction_and_seen_positions();
        if examination.is_empty() { 0.0 } else { bounds::pbm_lower_bound(&attraction, &examination) }
    }
}

linear!(PositionBased);

impl ClickModel for PositionBased {
    type Interaction = Pbm;
    shows_lists!(
        |users| users.shape(),
        users.list.best,
        PbmKnown<'a> = PbmKnown { shape: users.shape(), examination: users.examination() }
    );
    earns!(|users| users.list.values);

    #[inline]
    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> PbmFeedback {
        let mut bits = 0_u64;
        let places = action.as_slice().iter().zip(self.examination());
        for (position, (item, examined)) in places.enumerate() {
            let click = examined.get() * self.attraction()[item.index()].get();
            // No branch on the click, which would be unpredictable.
            bits |= u64::from(rng.random::<f64>() < click) << position;
        }
        let clicks = Clicks::from_bits(bits, action.len()).expect("bits were set below the length only");
        PbmFeedback { clicks }
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
