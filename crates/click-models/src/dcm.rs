//! The dependent click model (DCM): the user scans the list from the top, may click several times,
//! and may leave after a click.
//!
//! At position `l` showing item `k`, a user who is still there clicks with probability
//! `attraction[k]`; after a click the user leaves satisfied with probability `leave[l]`, and
//! otherwise continues. The learner observes the clicks, but not whether the user left after the
//! last one. [`DcmReward`] selects the reward: whether the user left satisfied, or the number of
//! clicks.
//!
//! Reference: Guo, Liu, Wang, *Efficient multiple-click models in web search*, WSDM 2009; as a
//! bandit Katariya, Kveton, Szepesvari, Wen, *DCM bandits: learning to rank with multiple clicks*,
//! ICML 2016, section 2 (satisfaction). Deviations: ties and the values 0 and 1 are allowed; leave
//! probabilities may come in any order. Users who leave *whether or not there was a click* (the DCM
//! of the PBM paper's introduction) are a random semi-bandit:
//! [`RandomSemiBandit::leaving`](crate::RandomSemiBandit::leaving).
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `attraction` | `w bar(e)` | `n_items` (L there, K elsewhere) | probability |
//! | `leave` | `v bar(k)` | `n_positions` (K there) | probability, given a click |
//! | `expected_reward` | `f(A, v bar, w bar)` | - | satisfied users, or clicks, per round |
//!
//! The best list. Satisfaction is `1 - prod(1 - leave[l] * attraction[item at l])`, so the most
//! attractive item stands where leaving is most likely. For clicks it is the reverse, except that
//! an item that is rarely clicked may be the best start. The value is linear in the attraction of
//! each item, so some best list consists of the `j` most attractive and otherwise the least
//! attractive items. Leave probabilities that only fall or only rise determine their order;
//! otherwise a search finds it.
//!
//! Numerics: one uniform draw per position decides on the click (`u < attraction`) and, rescaled,
//! on leaving (`u < attraction * leave`). Complexity: O(`n_positions`) per round; the search, at
//! construction, at most O(2^`n_positions` `n_positions`^2).

use crate::linear_list::{decreasing, decreasing_numbers};
use crate::model::{earns, shows_lists};
use crate::parameters::parameters;
use crate::value::{GoesOn, best_list, checked};
use crate::{ClickModel, Clicks, Dcm, DcmFeedback, Error, ItemId, ListShape, Ranking, bounds};
use confidence::Probability;
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A smaller share of the clicks on a list is a rounding error.
const ROUNDING: f64 = 1e-12;

/// The reward of a user's visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DcmReward {
    /// 1 if the user left satisfied, after a click; the learner does not observe it.
    #[default]
    Satisfaction,
    /// The number of clicks.
    Clicks,
}

/// Users who click on attractive items and leave after some clicks.
///
/// Saved as its parameters, `attraction`, `leave` and `reward`, and checked again when it is
/// loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct DependentClick {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// Probability that an item attracts, one per item.
    #[field]
    attraction: Vec<Probability>,
    /// Probability that the user leaves after a click, one per position.
    #[field]
    leave: Vec<Probability>,
    /// The reward of this instance.
    #[field(copy)]
    reward: DcmReward,
    values: Option<Vec<f64>>,
    places: Vec<usize>,
    best: (Ranking, f64),
}

parameters! {
    #[serde(deny_unknown_fields)]
    DependentClick as users {
        attraction: Vec<Probability> = users.attraction,
        leave: Vec<Probability> = users.leave,
        #[serde(default)]
        reward: DcmReward = users.reward,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        values: Option<Vec<f64>> = users.values,
    } by {
        let users = Self::new(attraction, leave, reward)?;
        if let Some(values) = values { users.with_values(&values) } else { Ok(users) }
    }
}

/// The learner's knowledge of a dependent-click instance: its size, and the order of the positions
/// by value.
#[derive(Debug, Clone, Copy, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct DcmKnown<'a> {
    /// Numbers of items and positions.
    #[field(copy)]
    shape: ListShape,
    /// The 0-based positions, the one for the most attractive item first: by decreasing leave
    /// probability for satisfaction, by increasing leave probability for clicks.
    places: &'a [usize],
}

impl<'a> DcmKnown<'a> {
    /// Lists of this shape. `places` holds the 0-based positions, the one for the most attractive
    /// item first.
    ///
    /// # Errors
    ///
    /// [`Error::NotAnOrder`] unless `places` holds every position once.
    pub fn new(shape: ListShape, places: &'a [usize]) -> Result<Self, Error> {
        let n_positions = shape.n_positions();
        let is_order = places.len() == n_positions && (0..n_positions).all(|place| places.contains(&place));
        if is_order { Ok(Self { shape, places }) } else { Err(Error::NotAnOrder { n_positions }) }
    }
}

impl DependentClick {
    /// The largest number of positions for which all orders are searched for the list with the most
    /// clicks.
    pub const MAX_SEARCHED_POSITIONS: usize = 16;

    /// Users with these attraction (one per item) and leave (one per position) probabilities.
    ///
    /// # Errors
    ///
    /// As [`ListShape::new`], and [`Error::TooManyOrders`] if the reward is clicks, the leave
    /// probabilities neither only fall nor only rise, and there are more than 16 positions.
    pub fn new(
        attraction: Vec<Probability>,
        leave: Vec<Probability>,
        reward: DcmReward,
    ) -> Result<Self, Error> {
        let shape = ListShape::new(attraction.len(), leave.len())?;
        let by_attraction = decreasing(&attraction);
        let places = match reward {
            DcmReward::Satisfaction => decreasing(&leave),
            // Increasing order.
            DcmReward::Clicks => {
                decreasing_numbers(&leave.iter().map(|leave| -leave.get()).collect::<Vec<_>>())
            }
        };
        let best = match reward {
            DcmReward::Satisfaction => placed(&by_attraction, &places),
            DcmReward::Clicks => most_clicks(&attraction, &leave, &by_attraction, &places)?,
        };
        let mut users = Self { shape, attraction, leave, reward, values: None, places, best: (best, 0.0) };
        users.best.1 = users.expected_reward(&users.best.0);
        Ok(users)
    }

    /// [`DependentClick::new`] from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`DependentClick::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(attraction: &[f64], leave: &[f64], reward: DcmReward) -> Result<Self, Error> {
        Self::new(
            Error::probabilities("attraction", attraction)?,
            Error::probabilities("leave", leave)?,
            reward,
        )
    }

    /// Gives every item a value, the reward of a click on it; the reward is that of clicks. Other
    /// users derived from these, and lower bounds, stay those of clicks.
    ///
    /// # Errors
    ///
    /// [`Error::OneForEachItem`], [`Error::NotAValue`], and [`Error::OtherContinuations`] unless users
    /// leave equally often after a click at all positions.
    pub fn with_values(mut self, values: &[f64]) -> Result<Self, Error> {
        let leave = self.leave[0].get();
        if self.leave.iter().any(|other| other.get() != leave) {
            return Err(Error::OtherContinuations);
        }
        self.values = Some(checked(values, self.attraction.len())?);
        self.reward = DcmReward::Clicks;
        let users = GoesOn { skip: 1.0, click: 1.0 - leave };
        self.best.0 = best_list(&self.attraction, values, users, self.leave.len());
        self.best.1 = self.expected_reward(&self.best.0);
        Ok(self)
    }

    /// Lower bound on the regret of any uniformly efficient policy on this instance, per `ln T`:
    /// [`bounds::dcm_lower_bound`]; NaN if the reward is the number of clicks, for which no bound
    /// is implemented.
    pub fn lower_bound(&self) -> f64 {
        let numbers =
            |list: &[Probability]| -> Vec<f64> { list.iter().map(|probability| probability.get()).collect() };
        match self.reward {
            DcmReward::Satisfaction => {
                bounds::dcm_lower_bound(&numbers(&self.attraction), &numbers(&self.leave))
            }
            DcmReward::Clicks => f64::NAN,
        }
    }
}

/// `items[rank]` at position `places[rank]`.
fn placed(items: &[usize], places: &[usize]) -> Ranking {
    let mut list = Ranking::default();
    let positions = list.positions_mut(places.len());
    for (&place, &item) in places.iter().zip(items) {
        positions[place] = ItemId::from_index(item);
    }
    list
}

/// A list with the most clicks. `by_attraction` holds the items, the most attractive first;
/// `places` holds the positions, the one where leaving is least likely first.
fn most_clicks(
    attraction: &[Probability],
    leave: &[Probability],
    by_attraction: &[usize],
    places: &[usize],
) -> Result<Ranking, Error> {
    let n_positions = leave.len();
    let one_way =
        leave.is_sorted_by(|a, b| a.get() >= b.get()) || leave.is_sorted_by(|a, b| a.get() <= b.get());
    if !one_way && n_positions > DependentClick::MAX_SEARCHED_POSITIONS {
        return Err(Error::TooManyOrders { n_positions, most: DependentClick::MAX_SEARCHED_POSITIONS });
    }
    // If leaving were as unlikely everywhere as it is anywhere, the order would not matter, and
    // items would get at least as many clicks.
    let least = vec![leave[places[0]]; n_positions];
    let at_most = |items: &[usize]| mean_clicks(attraction, &least, &placed(items, places));
    let mut best: Option<(f64, Ranking)> = None;
    // Among equally good lists, prefer the one with more attractive items.
    for n_top in (0..=n_positions).rev() {
        let n_bottom = n_positions - n_top;
        let mut items = by_attraction[..n_top].to_vec();
        items.extend_from_slice(&by_attraction[by_attraction.len() - n_bottom..]);
        if best.as_ref().is_some_and(|(most, _)| at_most(&items) < most * (1.0 - ROUNDING)) {
            continue;
        }
        let list = if one_way { placed(&items, places) } else { best_order(attraction, leave, &items) };
        let value = mean_clicks(attraction, leave, &list);
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, list));
        }
    }
    Ok(best.map(|(_, list)| list).unwrap_or_default())
}

/// The order of `items`, one per position, that collects the most clicks: dynamic programming over
/// the sets of items at the bottom.
fn best_order(attraction: &[Probability], leave: &[Probability], items: &[usize]) -> Ranking {
    let n = items.len();
    // For every set of items at the last positions of the list: the most clicks from these
    // positions, and the first item there.
    let mut most = vec![(0.0, 0); 1 << n];
    for set in 1_usize..1 << n {
        let position = n - set.count_ones() as usize;
        let first = |place: usize| {
            let attracted = attraction[items[place]].get();
            let below = most[set & !(1 << place)].0;
            attracted + (1.0 - leave[position].get() * attracted) * below
        };
        let choices = (0..n).filter(|place| set >> place & 1 == 1).map(|place| (first(place), place));
        most[set] = choices.max_by(|a, b| a.0.total_cmp(&b.0)).expect("the set is not empty");
    }
    let mut left = (1 << n) - 1;
    (0..n)
        .map(|_| {
            let place = most[left].1;
            left &= !(1 << place);
            ItemId::from_index(items[place])
        })
        .collect()
}

#[inline]
fn mean_clicks(attraction: &[Probability], leave: &[Probability], list: &Ranking) -> f64 {
    let (mut clicks, mut examined) = (0.0, 1.0);
    for (item, leave) in list.as_slice().iter().zip(leave) {
        let click = examined * attraction[item.index()].get();
        clicks += click;
        examined -= click * leave.get();
    }
    clicks
}

impl ClickModel for DependentClick {
    type Interaction = Dcm;
    shows_lists!(
        |users| users.shape,
        users.best,
        DcmKnown<'a> = DcmKnown { shape: users.shape, places: &users.places }
    );
    earns!(|users| users.values);

    fn respond<R: Rng + ?Sized>(&self, action: &Ranking, rng: &mut R) -> DcmFeedback {
        let mut bits = 0_u64;
        let mut reading = true;
        for (position, (item, leave)) in action.as_slice().iter().zip(&self.leave).enumerate() {
            // Draw even after the user has left, so that every policy meets the same user in the
            // next round.
            let uniform = rng.random::<f64>();
            let attraction = self.attraction[item.index()].get();
            bits |= u64::from(reading && uniform < attraction) << position;
            reading &= uniform >= attraction * leave.get();
        }
        DcmFeedback { clicks: Clicks::from_bits(bits, action.len()).expect("one bit a position of the list") }
    }

    #[inline]
    fn expected_reward(&self, action: &Ranking) -> f64 {
        if let Some(values) = &self.values {
            let users = GoesOn { skip: 1.0, click: 1.0 - self.leave[0].get() };
            let list = action.iter().map(ItemId::index);
            return users.earned(list.map(|item| (self.attraction[item].get(), values[item])));
        }
        match self.reward {
            DcmReward::Clicks => self.expected_clicks(action),
            DcmReward::Satisfaction => {
                let (mut satisfied, mut reading) = (0.0, 1.0);
                for (item, leave) in action.as_slice().iter().zip(&self.leave) {
                    let leaves = reading * leave.get() * self.attraction[item.index()].get();
                    satisfied += leaves;
                    reading -= leaves;
                }
                satisfied
            }
        }
    }

    #[inline]
    fn expected_clicks(&self, action: &Ranking) -> f64 {
        mean_clicks(&self.attraction, &self.leave, action)
    }
}
