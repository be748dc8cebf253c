//! Lists that earn most, for items whose clicks are worth different amounts.
//!
//! A click on item `i`, of attraction `a`, earns its value `v`. Where the examination of a position
//! does not depend on clicks, the best list has the largest `a v`, by examination. Where users go
//! on with probability `q` after a skip and `c` after a click, an item that is examined lets the
//! next one be examined with probability `g = q (1 - a) + c a`. By exchange of neighbours the best
//! order of given items is that of `a v / (1 - g)`, and the best list of at most `k` of the items
//! from the `n`-th on, in this order, earns
//!
//! ```text
//! V(n, k) = max(V(n + 1, k), a v + g V(n + 1, k - 1))
//! ```
//!
//! Complexity: a sort, and one multiply-add for each item and position.

use crate::random_users::normal;
use crate::{Error, ItemId, Ranking};
use confidence::Probability;
use rand::Rng;

/// The largest value of a click.
const MAX_VALUE: f64 = 1e9;

/// Values from a log-normal distribution of median 1, the logarithm of which has this deviation.
pub fn log_normal<R: Rng + ?Sized>(deviation: f64, n_items: usize, rng: &mut R) -> Vec<f64> {
    (0..n_items).map(|_| libm::exp(deviation * normal(rng))).collect()
}

/// The values of this number of items.
pub(crate) fn checked(values: &[f64], n_items: usize) -> Result<Vec<f64>, Error> {
    if values.len() != n_items {
        return Err(Error::OneForEachItem { field: "values", found: values.len(), n_items });
    }
    match values.iter().position(|value| !(0.0..=MAX_VALUE).contains(value)) {
        Some(index) => Err(Error::NotAValue { index, value: values[index] }),
        None => Ok(values.to_vec()),
    }
}

/// The list that earns most; of two items that are alike, the first one comes first.
pub(crate) fn best_list(
    attraction: &[Probability],
    values: &[f64],
    users: GoesOn,
    n_positions: usize,
) -> Ranking {
    let mut best = BestList::default();
    for (item, (attraction, &value)) in (0..).zip(attraction.iter().zip(values)) {
        best.offer(Offer { item, attraction: attraction.get(), value, tie: !u64::from(item) });
    }
    best.find(users, n_positions).iter().map(|offer| ItemId::new(offer.item)).collect()
}

/// The index of an item where examination does not depend on clicks: the expected value of a
/// display. Items without value come last, by attraction.
///
/// # Examples
///
/// ```
/// use click_models::value::index;
///
/// assert!(index(0.1, 3.0) > index(0.2, 1.0));
/// assert!(index(0.1, 0.0) < index(0.2, 0.0) && index(0.2, 0.0) < index(0.0, 1.0));
/// ```
pub fn index(attraction: f64, value: f64) -> f64 {
    if value > 0.0 { attraction * value } else { -1.0 / attraction }
}

/// Users who go on down a list with one probability after a skip, and another one after a click.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoesOn {
    /// The probability after a skip.
    pub skip: f64,
    /// The probability after a click.
    pub click: f64,
}

impl GoesOn {
    /// Users who leave at the first click, and not before.
    pub const CASCADE: Self = Self { skip: 1.0, click: 0.0 };

    /// The probability that the item below one of this attraction is examined too.
    fn continuation(self, attraction: f64) -> f64 {
        self.skip * (1.0 - attraction) + self.click * attraction
    }

    /// The expected value of a list of (attraction, value), from the top down.
    pub fn earned(self, list: impl DoubleEndedIterator<Item = (f64, f64)>) -> f64 {
        list.rev().fold(0.0, |below, (attraction, value)| {
            attraction * value + self.continuation(attraction) * below
        })
    }
}

/// An item that a list may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offer {
    /// Number of the item.
    pub item: u32,
    /// Attraction.
    pub attraction: f64,
    /// Value of a click, at least 0.
    pub value: f64,
    /// Of two items that are alike, the one with the larger number comes first.
    pub tie: u64,
}

/// Finds the list that earns most.
///
/// # Examples
///
/// ```
/// use click_models::value::{BestList, GoesOn, Offer};
///
/// let mut best = BestList::default();
/// for (item, attraction, value) in [(0, 0.9, 1.0), (1, 0.2, 10.0), (2, 0.8, 2.0)] {
///     best.offer(Offer { item, attraction, value, tie: 0 });
/// }
/// // The dear item first: who clicks on a cheap one leaves.
/// let list: Vec<u32> = best.find(GoesOn::CASCADE, 2).iter().map(|offer| offer.item).collect();
/// assert_eq!(list, [1, 2]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct BestList {
    offers: Vec<Offer>,
    /// Value of the best list below, by the number of positions.
    earned: Vec<f64>,
    /// By offer, in one bit each, for which numbers of positions the item is taken.
    taken: Vec<u64>,
    list: Vec<Offer>,
}

impl BestList {
    /// Forgets all offers.
    pub fn clear(&mut self) {
        self.offers.clear();
    }

    /// Offers an item, each at most once.
    #[inline]
    pub fn offer(&mut self, offer: Offer) {
        self.offers.push(offer);
    }

    /// The best list of at most this number of positions, up to 64, from the top down. If fewer
    /// items have value, others fill its end, by attraction.
    pub fn find(&mut self, users: GoesOn, n_positions: usize) -> &[Offer] {
        let n_positions = n_positions.min(u64::BITS as usize);
        let Self { offers, earned, taken, list } = self;
        // Without the first condition rounding would order items of equal values.
        let rank = |offer: &Offer| {
            if users.skip == 1.0 || offer.value == 0.0 {
                offer.value
            } else {
                offer.attraction * offer.value / (1.0 - users.continuation(offer.attraction))
            }
        };
        sort(offers, rank);
        earned.clear();
        earned.resize(n_positions + 1, 0.0);
        taken.clear();
        for offer in offers.iter().rev() {
            let Offer { attraction, value, .. } = *offer;
            let (gain, continuation) = (attraction * value, users.continuation(attraction));
            let mut bits = 0;
            for left in (1..=n_positions).rev() {
                let with = gain + continuation * earned[left - 1];
                if with > earned[left] {
                    earned[left] = with;
                    bits |= 1_u64 << (left - 1);
                }
            }
            taken.push(bits);
        }
        list.clear();
        for (offer, bits) in offers.iter().zip(taken.iter().rev()) {
            let left = n_positions - list.len();
            if left > 0 && bits >> (left - 1) & 1 == 1 {
                list.push(*offer);
            }
        }
        if list.len() < n_positions.min(offers.len()) {
            let mut rest: Vec<Offer> = offers.iter().filter(|offer| !list.contains(offer)).copied().collect();
            sort(&mut rest, |offer| index(offer.attraction, offer.value));
            list.extend(rest.iter().take(n_positions - list.len()));
        }
        list
    }
}

/// Sorts by decreasing rank, equals by attraction.
fn sort(offers: &mut [Offer], rank: impl Fn(&Offer) -> f64) {
    offers.sort_unstable_by(|one, other| {
        let by_rank = rank(other).total_cmp(&rank(one));
        by_rank.then(other.attraction.total_cmp(&one.attraction)).then(other.tie.cmp(&one.tie))
    });
}
