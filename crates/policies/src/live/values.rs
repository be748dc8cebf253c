//! The value of a click on an item, and the terms on which a list is chosen.

use crate::Error;
use click_models::value::GoesOn;
use click_models::{ItemId, ItemSet};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The largest value of an item.
pub const MAX_VALUE: f64 = 1e9;

/// A policy whose list can be the one that earns most, not the one that is clicked most.
pub trait Valued {
    /// The values of items. As long as those of all present items are equal, the policy chooses as
    /// if it had none.
    fn values(&self) -> &Values;

    /// Changes values, given the number of items. `change` returns of which.
    fn change_values(&mut self, change: &mut dyn FnMut(&mut Values, usize) -> Range<usize>);

    /// How users go on down the list. By default they examine each position with a probability of
    /// its own. It is not saved.
    fn set_users(&mut self, users: Option<GoesOn>);

    /// Tells the values of some items; unknown items are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::NotAValue`] for one that is negative, not finite or above [`MAX_VALUE`]. Nothing
    /// changes then.
    fn set_values(&mut self, values: &[(ItemId, f64)]) -> Result<(), Error> {
        values.iter().try_for_each(|&(_, value)| check_value(value))?;
        for &(item, value) in values {
            self.change_values(&mut |values, n_items| values.tell(item, value, n_items));
        }
        Ok(())
    }
}

/// The source of the values of items.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ItemValues {
    /// They are told.
    #[default]
    Told,
    /// They are means of the values of clicks ([`Values::earn`]), shrunk by five orders to the mean
    /// of all, at most `cap`; 1 before the first order.
    Answers {
        /// The largest value of an item, by default none.
        cap: Option<f64>,
    },
}

/// Orders that shrink the mean of an item to that of all.
const SHRUNK_BY: f64 = 5.0;

/// The number of clicks with a value, and the sum of these. It is exact, so that it does not depend
/// on the order in which values came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "[u64; 3]", into = "[u64; 3]")]
pub struct Orders {
    n: u64,
    /// In units of 2^-64.
    sum: u128,
}

/// 2^64.
const UNITS: f64 = 18_446_744_073_709_551_616.0;

impl Orders {
    /// Number of clicks with a value.
    pub fn n(self) -> u64 {
        self.n
    }

    /// The sum of the values.
    pub fn sum(self) -> f64 {
        self.sum as f64 / UNITS
    }

    /// With other orders in place of some of its own.
    fn with(self, before: Self, now: Self) -> Self {
        let sum = self.sum.saturating_sub(before.sum).saturating_add(now.sum);
        Self { n: self.n.saturating_sub(before.n).saturating_add(now.n), sum }
    }

    /// The mean; 1 without orders.
    #[inline]
    fn mean(self) -> f64 {
        if self.n == 0 { 1.0 } else { self.sum() / self.n as f64 }
    }

    /// The mean, shrunk to that of all.
    fn shrunk(self, all: f64) -> f64 {
        (SHRUNK_BY * all + self.sum()) / (SHRUNK_BY + self.n as f64)
    }
}

/// With the sum as two numbers, since JSON has none of 128 bits.
impl From<[u64; 3]> for Orders {
    fn from([n, high, low]: [u64; 3]) -> Self {
        Self { n, sum: u128::from(high) << 64 | u128::from(low) }
    }
}

impl From<Orders> for [u64; 3] {
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn from(Orders { n, sum }: Orders) -> Self {
        [n, (sum >> 64) as u64, sum as u64]
    }
}

impl From<Option<f64>> for Orders {
    /// A click, if it has a value.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^94")]
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::default(), |value| Self { n: 1, sum: (value * UNITS) as u128 })
    }
}

/// Refuses a number that is not the value of a click.
///
/// # Errors
///
/// [`Error::NotAValue`].
pub fn check_value(value: f64) -> Result<(), Error> {
    if (0.0..=MAX_VALUE).contains(&value) { Ok(()) } else { Err(Error::NotAValue(value)) }
}

/// The terms of the next choices of a policy, beside what it has learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Terms {
    /// Values of the moment, in place of those that were set.
    pub values: Vec<(ItemId, f64)>,
    /// The most positions of a list that earns most; others are longer, and best from the top on.
    pub positions: Option<usize>,
    /// The most items of a group.
    pub most: Option<usize>,
    /// The group of each item by number, from 1; items beyond, and those with 0, have none.
    pub groups: Arc<Vec<u32>>,
    /// Groups of items that the list has already.
    pub taken: Vec<u32>,
}

impl Terms {
    /// The group of an item, or 0.
    pub(crate) fn group(&self, item: u32) -> u32 {
        self.groups.get(item as usize).copied().unwrap_or(0)
    }

    /// Returns whether the group of an item has room for it beside these others.
    pub fn admits(&self, item: u32, others: impl Iterator<Item = u32>) -> bool {
        let (most, group) = (self.most.unwrap_or(usize::MAX), self.group(item));
        let of_group = others.map(|other| self.group(other)).chain(self.taken.iter().copied());
        group == 0 || of_group.filter(|&other| other == group).take(most).count() < most
    }
}

/// Values of all items, and how they are used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    is_of_orders: bool,
    /// The largest one of those of orders.
    cap: Option<f64>,
    /// By item; empty until one is set: all are 1. Those of orders are a little larger, so that an
    /// order changes few of them: draws are thinned by these, and chosen by those that are exact.
    of: Vec<f64>,
    orders: Vec<Orders>,
    /// Those of all items.
    #[serde(skip)]
    all: Orders,
    /// Thinned draws are multiplied by the value over this power of two; 0 if they are not
    /// multiplied.
    pub(crate) scale: f64,
    /// The scale for the items that are present now, and whether enough of them have value for
    /// thinned rounds; `None` if it is to be found again.
    #[serde(skip)]
    next: Option<(f64, bool)>,
    #[serde(skip)]
    pub(crate) users: Option<GoesOn>,
}

impl Values {
    /// Whether nothing is to be saved.
    pub(crate) fn is_fresh(&self) -> bool {
        self.of.is_empty() && self.orders.is_empty() && !self.is_of_orders
    }

    pub(crate) fn to_save(&self) -> Self {
        Self { next: None, users: None, ..self.clone() }
    }

    /// Checks values that were saved for this number of items.
    pub(crate) fn restored(mut self, n_items: usize) -> Result<Self, Error> {
        self.of.iter().try_for_each(|&value| check_value(value))?;
        if !self.of.is_empty() && self.of.len() != n_items || self.orders.len() > n_items {
            return Err(Error::SavedSizes);
        }
        if !(0.0..=2.0 * MAX_VALUE).contains(&self.scale) || self.scale != 0.0 && self.of.is_empty() {
            return Err(Error::SavedThinning);
        }
        let add = |all: Orders, one: &Orders| {
            Some(Orders { n: all.n.checked_add(one.n)?, sum: all.sum.checked_add(one.sum)? })
        };
        self.all = self.orders.iter().try_fold(Orders::default(), add).ok_or(Error::SavedSizes)?;
        if !self.of.is_empty() {
            self.price(None, n_items);
        }
        Ok(self)
    }

    /// The source of the values.
    pub fn source(&self) -> ItemValues {
        if self.is_of_orders { ItemValues::Answers { cap: self.cap } } else { ItemValues::Told }
    }

    /// Returns whether values were never other than 1.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Returns whether a policy without values would choose the same lists, now and later.
    pub fn are_none(&self) -> bool {
        !self.is_of_orders && self.of.iter().all(|&value| value == 1.0)
    }

    /// The value of a click on an item; 1 of unknown ones.
    #[inline]
    pub fn value(&self, item: ItemId) -> f64 {
        if self.is_of_orders {
            self.of_orders(item, self.all.mean())
        } else {
            self.of.get(item.index()).copied().unwrap_or(1.0)
        }
    }

    /// At least the value of an item over the scale, at most 1.
    #[inline]
    pub(crate) fn share(&self, item: usize) -> f64 {
        if self.scale == 0.0 { 1.0 } else { self.of[item] / self.scale }
    }

    #[inline]
    fn of_orders(&self, item: ItemId, mean: f64) -> f64 {
        self.orders(item).shrunk(mean).min(self.cap.unwrap_or(MAX_VALUE))
    }

    /// The clicks on an item that have a value.
    #[inline]
    pub fn orders(&self, item: ItemId) -> Orders {
        self.orders.get(item.index()).copied().unwrap_or_default()
    }

    fn tell(&mut self, item: ItemId, value: f64, n_items: usize) -> Range<usize> {
        if item.index() >= n_items || self.of.is_empty() && value == 1.0 {
            return 0..0;
        }
        self.of.resize(n_items, 1.0);
        self.next = None;
        let before = std::mem::replace(&mut self.of[item.index()], value);
        if before == value { 0..0 } else { item.index()..item.index() + 1 }
    }

    /// Takes the value of a click on an item, in place of the one before.
    pub fn earn(&mut self, item: ItemId, before: Option<f64>, now: f64, n_items: usize) -> Range<usize> {
        self.replace(item, before.into(), Some(now).into(), n_items)
    }

    /// Another item has this place, or none.
    pub fn forget(&mut self, item: ItemId, n_items: usize) -> Range<usize> {
        let changed = self.replace(item, self.orders(item), Orders::default(), n_items);
        if self.is_of_orders { changed } else { self.tell(item, 1.0, n_items) }
    }

    fn replace(&mut self, item: ItemId, before: Orders, now: Orders, n_items: usize) -> Range<usize> {
        if before == now || item.index() >= n_items {
            return 0..0;
        }
        let mean = self.all.mean();
        self.orders.resize(self.orders.len().max(item.index() + 1), Orders::default());
        for orders in [&mut self.orders[item.index()], &mut self.all] {
            *orders = orders.with(before, now);
        }
        let is_near = a_little_above(self.all.mean()) == a_little_above(mean) && !self.of.is_empty();
        self.price(is_near.then_some(item), n_items)
    }

    /// Sets what is at least the value of an item, or of all, if values are those of orders.
    fn price(&mut self, only: Option<ItemId>, n_items: usize) -> Range<usize> {
        if !self.is_of_orders {
            return 0..0;
        }
        self.next = None;
        self.of.resize(n_items, 1.0);
        let mean = a_little_above(self.all.mean());
        let places = only.map_or(0..n_items, |item| item.index()..item.index() + 1);
        for place in places.clone() {
            self.of[place] = self.of_orders(ItemId::from_index(place), mean);
        }
        places
    }

    /// Takes values from a source. After those of orders, all are 1 until they are told.
    pub fn set_source(&mut self, source: ItemValues, n_items: usize) -> Range<usize> {
        let before = self.source();
        (self.is_of_orders, self.cap) = match source {
            ItemValues::Told => (false, None),
            ItemValues::Answers { cap } => (true, cap),
        };
        if before == source || self.of.is_empty() && self.all.n == 0 {
            return 0..0;
        }
        self.of.fill(1.0);
        self.next = None;
        self.price(None, n_items);
        0..n_items
    }

    /// Takes the values of another policy, which has perhaps fewer items.
    pub fn take_over(&mut self, other: &Self, n_items: usize) -> Range<usize> {
        *self = Self { users: self.users, scale: self.scale, next: None, ..other.clone() };
        self.came_or_went(n_items);
        0..n_items
    }

    pub(crate) fn came_or_went(&mut self, n_items: usize) {
        if !self.of.is_empty() {
            let known = self.of.len();
            self.of.resize(n_items, 1.0);
            (known..n_items).for_each(|place| _ = self.price(Some(ItemId::from_index(place)), n_items));
            self.next = None;
        }
    }

    /// The values of these items, those of the moment included; `None` if all are equal.
    pub(crate) fn differing<'a>(
        &'a self,
        terms: Option<&'a Terms>,
        mut items: impl Iterator<Item = ItemId>,
    ) -> Option<Priced<'a>> {
        let priced = Priced { values: self, of_moment: terms.map_or(&[], |terms| &terms.values) };
        let first = priced.get(items.next()?);
        items.any(|item| are_unequal(priced.get(item), first)).then_some(priced)
    }

    /// The scale for the items that are present: 0 if their values are equal. Also returns whether
    /// this number of items have value.
    pub(crate) fn next(&mut self, absent: &ItemSet, many: usize) -> (f64, bool) {
        if let Some(next) = self.next {
            return next;
        }
        let (mut least, mut largest, mut above, mut n_valued) = (f64::INFINITY, 0.0_f64, 0.0_f64, 0);
        for (item, of) in (0..).map(ItemId::new).zip(&self.of).filter(|(item, _)| !absent.contains(*item)) {
            let value = self.value(item);
            (least, largest, above) = (least.min(value), largest.max(value), above.max(*of));
            n_valued += usize::from(value > 0.0);
        }
        let scale = if are_unequal(least, largest) { power_of_two_from(above) } else { 0.0 };
        *self.next.insert((scale, n_valued >= many))
    }
}

/// The values of items for a choice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Priced<'a> {
    values: &'a Values,
    /// In the order of the items.
    of_moment: &'a [(ItemId, f64)],
}

impl Priced<'_> {
    #[inline]
    pub(crate) fn get(self, item: ItemId) -> f64 {
        let of_moment = self.of_moment.binary_search_by_key(&item, |&(item, _)| item);
        of_moment.map_or_else(|_| self.values.value(item), |place| self.of_moment[place].1)
    }
}

/// Returns whether two values differ by more than the rounding of means of equal orders.
fn are_unequal(one: f64, other: f64) -> bool {
    (one - other).abs() > 1e-12 * one.max(other)
}

/// The next number above with five binary digits, or this one.
fn a_little_above(number: f64) -> f64 {
    f64::from_bits((number.to_bits() + (1 << 47) - 1) & (u64::MAX << 47))
}

/// The smallest power of two that is at least as large as a positive number.
fn power_of_two_from(number: f64) -> f64 {
    let below = f64::from_bits(number.max(f64::MIN_POSITIVE).to_bits() & !((1 << 52) - 1));
    if below < number { 2.0 * below } else { below }
}
