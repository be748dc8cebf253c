//! Values of items by the answers, and groups of items.

use crate::SavedError;
use click_models::ItemId;
use policies::check_value;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// Where the values of items come from.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ItemValues {
    /// The client tells them ([`LiveUse::set_value`](crate::LiveUse::set_value)).
    #[default]
    Told,
    /// They are means of the values in the answers ([`LiveUse::earned`](crate::LiveUse::earned)),
    /// shrunk by five orders to the mean of all, to half a percent, at most `cap`; 1 before the
    /// first order.
    Answers {
        /// The largest value of an item, by default none.
        cap: Option<f64>,
    },
}

/// Orders that shrink the mean of an item to that of all.
const SHRUNK_BY: f64 = 5.0;

/// The number of clicks with a value, and the sum of these. It is exact, so that it does not depend
/// on the order in which values came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^94")]
    fn add(&mut self, value: f64) {
        self.n += 1;
        self.sum = self.sum.saturating_add((value * UNITS) as u128);
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^94")]
    fn take_back(&mut self, value: f64) {
        self.n = self.n.saturating_sub(1);
        self.sum = self.sum.saturating_sub((value * UNITS) as u128);
    }

    /// The mean, shrunk to that of all.
    fn mean(self, all: f64) -> f64 {
        (SHRUNK_BY * all + self.sum()) / (SHRUNK_BY + self.n as f64)
    }
}

/// The value of a click.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Earned {
    value: f64,
    pub(crate) revision: Option<u64>,
}

impl Earned {
    /// The value that holds after another one came: the one of the larger revision, of the same one
    /// the larger value, and without revisions the later one.
    pub(crate) fn after(before: Option<Self>, value: f64, revision: Option<u64>) -> Self {
        let of = |earned: Self| earned.revision.map(|revision| (revision, earned.value));
        let new = Self { value, revision };
        before.filter(|&before| of(before) > of(new)).unwrap_or(new)
    }
}

/// Values in the answers, and groups, by place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Worth {
    orders: Vec<Orders>,
    all: Orders,
    /// Whether the values of items are those of the orders.
    pub(crate) is_known: bool,
    group_names: Vec<String>,
    groups: Arc<Vec<u32>>,
}

/// The saved form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedWorth {
    pub(crate) values: ItemValues,
    group_names: Vec<String>,
    groups: Vec<u32>,
    /// Numbers and sums, these as two numbers of 64 bits.
    orders: Vec<[u64; 3]>,
    /// By place of the open decision, the oldest first, and position.
    pub(crate) open: Vec<(usize, u8, Earned)>,
}

impl Worth {
    pub(crate) fn to_save(&self, values: ItemValues, open: Vec<(usize, u8, Earned)>) -> Option<SavedWorth> {
        if *self == Self::default() && values == ItemValues::default() && open.is_empty() {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let halves = |&Orders { n, sum }: &Orders| [n, (sum >> 64) as u64, sum as u64];
        Some(SavedWorth {
            values,
            group_names: self.group_names.clone(),
            groups: self.groups.to_vec(),
            orders: self.orders.iter().map(halves).collect(),
            open,
        })
    }

    pub(crate) fn restore(saved: &SavedWorth, n_items: usize) -> Result<Self, SavedError> {
        let SavedWorth { group_names, groups, orders, .. } = saved;
        let is_group = |&group: &u32| group as usize <= group_names.len();
        let are_sound = groups.len().max(orders.len()) <= n_items && groups.iter().all(is_group);
        let whole = |&[n, high, low]: &[u64; 3]| Orders { n, sum: u128::from(high) << 64 | u128::from(low) };
        let orders: Vec<Orders> = orders.iter().map(whole).collect();
        let mut all = Orders::default();
        for one in &orders {
            let (n, sum) = (all.n.checked_add(one.n), all.sum.checked_add(one.sum));
            let (Some(n), Some(sum)) = (n, sum) else { return Err(SavedError::Values) };
            all = Orders { n, sum };
        }
        if !are_sound {
            return Err(SavedError::Values);
        }
        let (group_names, groups) = (group_names.clone(), Arc::new(groups.clone()));
        Ok(Self { orders, all, is_known: false, group_names, groups })
    }

    pub(crate) fn orders(&self, slot: ItemId) -> Orders {
        self.orders.get(slot.index()).copied().unwrap_or_default()
    }

    /// Another value of a click holds.
    pub(crate) fn replace(&mut self, slot: ItemId, before: Option<Earned>, now: Earned) {
        if self.orders.len() <= slot.index() {
            self.orders.resize(slot.index() + 1, Orders::default());
        }
        for orders in [&mut self.orders[slot.index()], &mut self.all] {
            if let Some(before) = before {
                orders.take_back(before.value);
            }
            orders.add(now.value);
        }
        self.is_known = false;
    }

    /// The values of all items by their orders. The mean of all is rounded to eight binary digits:
    /// otherwise each order would change the values of all items, and what is drawn of each.
    pub(crate) fn values(&self, cap: Option<f64>, n_items: usize) -> Vec<(ItemId, f64)> {
        let mean = if self.all.n == 0 { 1.0_f64 } else { self.all.sum() / self.all.n as f64 };
        let all = f64::from_bits((mean.to_bits() + (1 << 44)) & (u64::MAX << 45));
        let value = |slot: ItemId| self.orders(slot).mean(all).min(cap.unwrap_or(policies::MAX_VALUE));
        (0..n_items).map(ItemId::from_index).map(|slot| (slot, value(slot))).collect()
    }

    /// Another item has this place, or none.
    pub(crate) fn clear(&mut self, slot: ItemId) {
        if let Some(orders) = self.orders.get_mut(slot.index()) {
            let Orders { n, sum } = std::mem::take(orders);
            self.all = Orders { n: self.all.n - n, sum: self.all.sum - sum };
            self.is_known = false;
        }
        if self.groups.get(slot.index()).is_some_and(|&group| group > 0) {
            Arc::make_mut(&mut self.groups)[slot.index()] = 0;
        }
    }

    pub(crate) fn groups(&self) -> &Arc<Vec<u32>> {
        &self.groups
    }

    pub(crate) fn has_groups(&self) -> bool {
        self.groups.iter().any(|&group| group > 0)
    }

    pub(crate) fn group_number(&self, slot: ItemId) -> u32 {
        self.groups.get(slot.index()).copied().unwrap_or(0)
    }

    pub(crate) fn group(&self, slot: ItemId) -> Option<&str> {
        let number = self.group_number(slot).checked_sub(1)?;
        self.group_names.get(number as usize).map(String::as_str)
    }

    pub(crate) fn set_group(&mut self, slot: ItemId, group: Option<&str>) {
        let Self { group_names, groups, .. } = self;
        let number = group.map_or(0, |group| {
            let known = group_names.iter().position(|name| name == group);
            1 + known.unwrap_or_else(|| {
                group_names.push(group.to_owned());
                group_names.len() - 1
            })
        });
        if number > 0 || groups.get(slot.index()).is_some() {
            let groups = Arc::make_mut(groups);
            groups.resize(groups.len().max(slot.index() + 1), 0);
            groups[slot.index()] = u32::try_from(number).unwrap_or(u32::MAX);
        }
    }
}

impl SavedWorth {
    /// Gives the values of clicks to the open decisions; `give` refuses what is no click.
    pub(crate) fn give(&self, mut give: impl FnMut(usize, usize, Earned) -> bool) -> Result<(), SavedError> {
        let is_value = |earned: &Earned| check_value(earned.value).is_ok();
        let mut all = self.open.iter();
        let are_sound = all.all(|&(place, at, earned)| is_value(&earned) && give(place, at.into(), earned));
        if are_sound { Ok(()) } else { Err(SavedError::Values) }
    }
}

/// The saved part beside a policy's table: in binary formats an `Option`, as older states have it,
/// with a further case.
#[derive(Debug)]
pub(crate) struct Beside<E> {
    pub(crate) estimator: Option<E>,
    pub(crate) worth: Option<SavedWorth>,
}

#[derive(Serialize, Deserialize)]
enum Compact<E> {
    Nothing,
    Estimator(E),
    Both(Option<E>, SavedWorth),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Readable<E> {
    Both { estimator: Option<E>, worth: SavedWorth },
    Estimator(Option<E>),
}

impl<E: Serialize + Copy> Serialize for Beside<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (estimator, worth) = (self.estimator, self.worth.clone());
        match (serializer.is_human_readable(), worth) {
            (true, None) => Readable::Estimator(estimator).serialize(serializer),
            (true, Some(worth)) => Readable::Both { estimator, worth }.serialize(serializer),
            (false, None) => estimator.map_or(Compact::Nothing, Compact::Estimator).serialize(serializer),
            (false, Some(worth)) => Compact::Both(estimator, worth).serialize(serializer),
        }
    }
}

impl<'de, E: Deserialize<'de>> Deserialize<'de> for Beside<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(if deserializer.is_human_readable() {
            match Readable::deserialize(deserializer)? {
                Readable::Estimator(estimator) => Self { estimator, worth: None },
                Readable::Both { estimator, worth } => Self { estimator, worth: Some(worth) },
            }
        } else {
            match Compact::deserialize(deserializer)? {
                Compact::Nothing => Self { estimator: None, worth: None },
                Compact::Estimator(estimator) => Self { estimator: Some(estimator), worth: None },
                Compact::Both(estimator, worth) => Self { estimator, worth: Some(worth) },
            }
        })
    }
}
