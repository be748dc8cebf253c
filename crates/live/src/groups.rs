//! Groups of items, and values of clicks that may still change.

use crate::SavedError;
use click_models::ItemId;
use policies::check_value;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The value of a click.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Earned {
    pub(crate) value: f64,
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

/// Groups by place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Groups {
    names: Vec<String>,
    /// Their numbers, from 1; 0 of items without one, and nothing of the last ones.
    pub(crate) of: Arc<Vec<u32>>,
}

/// The saved form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedWorth {
    group_names: Vec<String>,
    groups: Vec<u32>,
    /// By place of the open decision, the oldest first, and position.
    pub(crate) open: Vec<(usize, u8, Earned)>,
}

impl Groups {
    pub(crate) fn to_save(&self, open: Vec<(usize, u8, Earned)>) -> Option<SavedWorth> {
        let is_used = self.has_any() || !open.is_empty();
        let (group_names, groups) = (self.names.clone(), self.of.to_vec());
        is_used.then_some(SavedWorth { group_names, groups, open })
    }

    pub(crate) fn restore(saved: &SavedWorth, n_items: usize) -> Result<Self, SavedError> {
        let SavedWorth { group_names, groups, .. } = saved;
        let is_group = |&group: &u32| group as usize <= group_names.len();
        if groups.len() > n_items || !groups.iter().all(is_group) {
            return Err(SavedError::Values);
        }
        Ok(Self { names: group_names.clone(), of: Arc::new(groups.clone()) })
    }

    pub(crate) fn has_any(&self) -> bool {
        self.of.iter().any(|&group| group > 0)
    }

    pub(crate) fn number(&self, slot: ItemId) -> u32 {
        self.of.get(slot.index()).copied().unwrap_or(0)
    }

    pub(crate) fn name(&self, slot: ItemId) -> Option<&str> {
        let number = self.number(slot).checked_sub(1)?;
        self.names.get(number as usize).map(String::as_str)
    }

    pub(crate) fn set(&mut self, slot: ItemId, group: Option<&str>) {
        let Self { names, of } = self;
        let number = group.map_or(0, |group| {
            let known = names.iter().position(|name| name == group);
            1 + known.unwrap_or_else(|| {
                names.push(group.to_owned());
                names.len() - 1
            })
        });
        if number > 0 || of.get(slot.index()).is_some() {
            let of = Arc::make_mut(of);
            of.resize(of.len().max(slot.index() + 1), 0);
            of[slot.index()] = u32::try_from(number).unwrap_or(u32::MAX);
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
