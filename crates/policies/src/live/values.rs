//! The value of a click on an item, and the terms on which a list is chosen.

use crate::Error;
use click_models::value::GoesOn;
use click_models::{ItemId, ItemSet};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// The largest value of an item.
pub const MAX_VALUE: f64 = 1e9;

/// A policy whose list can be the one that earns most, not the one that is clicked most.
pub trait Valued {
    /// The value of a click on an item; 1 unless it was set, and of unknown items.
    fn value(&self, item: ItemId) -> f64;

    /// Sets the values of some items; unknown items are ignored. As long as the values of all
    /// present items are equal, the policy chooses as if it had none.
    ///
    /// # Errors
    ///
    /// [`Error::NotAValue`] for one that is negative, not finite or above [`MAX_VALUE`]. Nothing
    /// changes then.
    fn set_values(&mut self, values: &[(ItemId, f64)]) -> Result<(), Error>;

    /// How users go on down the list. By default they examine each position with a probability of
    /// its own. It is not saved.
    fn set_users(&mut self, users: Option<GoesOn>);
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
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    /// By item; empty until one is set: all are 1.
    pub(crate) of: Vec<f64>,
    /// Thinned draws are multiplied by the value over this power of two; 0 if they are not
    /// multiplied.
    pub(crate) scale: f64,
    /// The scale for the items that are present now, and whether enough of them have value for
    /// thinned rounds; `None` if it is to be found again.
    next: Option<(f64, bool)>,
    pub(crate) users: Option<GoesOn>,
}

/// The saved form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedValues {
    of: Vec<f64>,
    scale: f64,
}

impl SavedValues {
    pub(crate) fn is_fresh(&self) -> bool {
        self.of.is_empty()
    }
}

impl Values {
    pub(crate) fn restore(SavedValues { of, scale }: SavedValues, n_items: usize) -> Result<Self, Error> {
        of.iter().try_for_each(|&value| check_value(value))?;
        if !of.is_empty() && of.len() != n_items {
            return Err(Error::SavedSizes);
        }
        if !(0.0..=2.0 * MAX_VALUE).contains(&scale) || scale != 0.0 && of.is_empty() {
            return Err(Error::SavedThinning);
        }
        Ok(Self { of, scale, ..Self::default() })
    }

    pub(crate) fn to_save(&self) -> SavedValues {
        SavedValues { of: self.of.clone(), scale: self.scale }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub(crate) fn get(&self, item: usize) -> f64 {
        self.of.get(item).copied().unwrap_or(1.0)
    }

    /// Sets a value. Returns whether it changed.
    pub(crate) fn set(&mut self, item: usize, value: f64, n_items: usize) -> bool {
        self.of.resize(n_items, 1.0);
        self.next = None;
        std::mem::replace(&mut self.of[item], value) != value
    }

    /// Items came or went.
    pub(crate) fn came_or_went(&mut self, n_items: usize) {
        if !self.of.is_empty() {
            self.of.resize(n_items, 1.0);
            self.next = None;
        }
    }

    /// The values of these items, those of the moment included; `None` if all are equal.
    pub(crate) fn differing(
        &self,
        terms: Option<&Terms>,
        mut items: impl Iterator<Item = ItemId>,
        n_items: usize,
    ) -> Option<Cow<'_, [f64]>> {
        let mut values = Cow::Borrowed(&*self.of);
        for &(item, value) in terms.iter().flat_map(|terms| &terms.values) {
            let values = values.to_mut();
            values.resize(n_items, 1.0);
            if let Some(of) = values.get_mut(item.index()) {
                *of = value;
            }
        }
        let value = |item: ItemId| values.get(item.index()).copied().unwrap_or(1.0);
        let first = value(items.next()?);
        items.any(|item| value(item) != first).then_some(values)
    }

    /// The scale for the items that are present: 0 if their values are equal. Also returns whether
    /// this number of items have value.
    pub(crate) fn next(&mut self, absent: &ItemSet, many: usize) -> (f64, bool) {
        let Self { of, next, .. } = self;
        *next.get_or_insert_with(|| {
            let is_present = |&(item, _): &(usize, &f64)| !absent.contains(ItemId::from_index(item));
            let present = of.iter().enumerate().filter(is_present).map(|(_, &value)| value);
            let (mut least, mut largest, mut n_valued) = (f64::INFINITY, 0.0_f64, 0);
            for value in present {
                (least, largest) = (least.min(value), largest.max(value));
                n_valued += usize::from(value > 0.0);
            }
            let scale = if least < largest { power_of_two_from(largest) } else { 0.0 };
            (scale, n_valued >= many)
        })
    }
}

/// The smallest power of two that is at least as large as a positive number.
fn power_of_two_from(number: f64) -> f64 {
    let below = f64::from_bits(number.max(f64::MIN_POSITIVE).to_bits() & !((1 << 52) - 1));
    if below < number { 2.0 * below } else { below }
}
