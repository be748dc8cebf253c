//! The part that the position-based model and the random semi-bandit share: the mean number of
//! clicks on a list is `sum over positions l of examination[l] * attraction[item at l]`.

use crate::value::{checked, index};
use crate::{Error, ItemId, ListShape, Ranking};
use confidence::Probability;

/// Attraction of every item, examination of every position, and the best list, computed once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinearList {
    pub(crate) shape: ListShape,
    pub(crate) attraction: Vec<Probability>,
    pub(crate) examination: Vec<Probability>,
    /// The value of a click on each item; `None` if all are worth 1.
    pub(crate) values: Option<Vec<f64>>,
    /// The best list, and its reward.
    pub(crate) best: (Ranking, f64),
}

impl LinearList {
    pub(crate) fn new(attraction: Vec<Probability>, examination: Vec<Probability>) -> Result<Self, Error> {
        let shape = ListShape::new(attraction.len(), examination.len())?;
        let best = (best_list(&decreasing(&attraction), &examination), 0.0);
        let mut linear = Self { shape, attraction, examination, values: None, best };
        linear.best.1 = linear.expected_reward(&linear.best.0);
        Ok(linear)
    }

    pub(crate) fn with_values(mut self, values: &[f64]) -> Result<Self, Error> {
        let pairs = self.attraction.iter().zip(values);
        let indices: Vec<f64> = pairs.map(|(attraction, &value)| index(attraction.get(), value)).collect();
        self.values = Some(checked(values, self.attraction.len())?);
        self.best.0 = best_list(&decreasing_numbers(&indices), &self.examination);
        self.best.1 = self.expected_reward(&self.best.0);
        Ok(self)
    }

    /// Attractions, and the examination probabilities that are positive, as plain numbers.
    pub(crate) fn attraction_and_seen_positions(&self) -> (Vec<f64>, Vec<f64>) {
        let attraction = self.attraction.iter().map(|probability| probability.get()).collect();
        let examination = self.examination.iter().map(|probability| probability.get());
        (attraction, examination.filter(|&examined| examined > 0.0).collect())
    }

    #[inline]
    pub(crate) fn expected_reward(&self, action: &Ranking) -> f64 {
        let Some(values) = &self.values else { return self.expected_clicks(action) };
        let earned = |(item, examined): (ItemId, &Probability)| {
            examined.get() * self.attraction[item.index()].get() * values[item.index()]
        };
        action.iter().zip(&self.examination).map(earned).sum()
    }

    #[inline]
    pub(crate) fn expected_clicks(&self, action: &Ranking) -> f64 {
        action
            .as_slice()
            .iter()
            .zip(&self.examination)
            .map(|(item, examined)| examined.get() * self.attraction[item.index()].get())
            .sum()
    }
}

/// Implements what models of a [`LinearList`] have in common. They have a constructor `new`, of
/// attraction and examination, by which they are read.
macro_rules! linear {
    ($Model:ident) => {
        impl $Model {
            /// [`Self::new`] from plain numbers.
            ///
            /// # Errors
            ///
            /// As [`Self::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
            pub fn from_values(attraction: &[f64], examination: &[f64]) -> Result<Self, Error> {
                Self::new(
                    Error::probabilities("attraction", attraction)?,
                    Error::probabilities("examination", examination)?,
                )
            }

            /// Gives every item a value, the reward of a click on it. Other users derived from
            /// these, and lower bounds, stay those of clicks.
            ///
            /// # Errors
            ///
            /// [`Error::OneForEachItem`], [`Error::NotAValue`].
            pub fn with_values(mut self, values: &[f64]) -> Result<Self, Error> {
                self.list = self.list.with_values(values)?;
                Ok(self)
            }

            /// Numbers of items and positions.
            pub fn shape(&self) -> ListShape {
                self.list.shape
            }

            /// Probability that an item attracts, one per item.
            pub fn attraction(&self) -> &[Probability] {
                &self.list.attraction
            }

            /// Probability that a position is examined, one per position.
            pub fn examination(&self) -> &[Probability] {
                &self.list.examination
            }
        }

        crate::parameters::parameters! {
            #[serde(deny_unknown_fields)]
            $Model as users {
                attraction: Vec<Probability> = users.list.attraction,
                examination: Vec<Probability> = users.list.examination,
                #[serde(default, skip_serializing_if = "Option::is_none")]
                values: Option<Vec<f64>> = users.list.values,
            } by {
                let users = Self::new(attraction, examination)?;
                if let Some(values) = values { users.with_values(&values) } else { Ok(users) }
            }
        }
    };
}
pub(crate) use linear;

/// The first item, the best one, at the most examined position, the next one at the next, and so on
/// (rearrangement inequality).
fn best_list(items: &[usize], examination: &[Probability]) -> Ranking {
    let mut list = Ranking::default();
    let places = list.positions_mut(examination.len());
    for (position, item) in decreasing(examination).into_iter().zip(items) {
        places[position] = ItemId::from_index(*item);
    }
    list
}

/// Indices in decreasing order of their values; equal values keep their order.
pub(crate) fn decreasing(values: &[Probability]) -> Vec<usize> {
    decreasing_numbers(&values.iter().map(|value| value.get()).collect::<Vec<_>>())
}

/// [`decreasing`] for any numbers.
pub(crate) fn decreasing_numbers(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| values[right].total_cmp(&values[left]));
    order
}
