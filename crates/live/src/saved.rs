//! A policy in live use as it is saved: all of it, with open decisions and windows.

use crate::items::SavedItems;
use crate::open::{OpenDecisions, Shown};
use crate::prior::Estimator;
use crate::window::Windows;
use crate::{Counted, Live, SavedError, Settings};
use click_models::{ItemId, ItemSet, Ranking};
use policies::{Decision, Draws, SelectAmong, Tallies};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;
use std::marker::PhantomData;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<P, D> {
    settings: Settings,
    items: SavedItems,
    windows: Option<Windows>,
    /// The oldest first.
    open: Vec<(D, Shown)>,
    estimator: Option<Estimator>,
    policy: P,
}

#[derive(Serialize)]
struct ToSave<'a, P, D> {
    settings: Settings,
    items: SavedItems,
    windows: &'a Option<Windows>,
    open: Vec<&'a (D, Shown)>,
    estimator: &'a Option<Estimator>,
    policy: &'a P,
}

impl<I, P: Serialize, D: Clone + Eq + Hash + Serialize> Serialize for Live<I, P, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ToSave {
            settings: self.settings,
            items: SavedItems::from(&self.items),
            windows: &self.windows,
            open: self.open.in_order().collect(),
            estimator: &self.estimator,
            policy: &self.policy,
        }
        .serialize(serializer)
    }
}

impl<I, P, D> TryFrom<Saved<P, D>> for Live<I, P, D>
where
    I: Counted,
    P: SelectAmong<Ranking, Note = ()> + Tallies,
    D: Clone + Eq + Hash,
{
    type Error = SavedError;

    fn try_from(saved: Saved<P, D>) -> Result<Self, SavedError> {
        let Saved { settings, items, windows, open, estimator, mut policy } = saved;
        let settings = settings.check().map_err(|_| SavedError::Settings)?;
        let items = crate::Items::try_from(items)?;
        let n_items = policy.n_items();
        if items.len() != n_items {
            return Err(SavedError::Items);
        }
        match (&windows, settings.window) {
            (None, None) => {}
            (Some(windows), Some(most)) => {
                windows.check(most, n_items, |item, kind| policy.tally(item, kind))?;
            }
            _ => return Err(SavedError::Window),
        }
        match &estimator {
            None if !settings.estimate_prior => {}
            Some(estimator) if settings.estimate_prior && policy.bayesian().is_some() => estimator.check()?,
            _ => return Err(SavedError::Prior),
        }
        let is_place = |item: crate::Handle| item.slot.index() < n_items;
        let is_sound = |shown: &Shown| shown.is_sound(windows.is_some(), is_place);
        let open = OpenDecisions::restore(open, settings.keep_open, is_sound)?;
        for slot in (0..n_items).map(ItemId::from_index) {
            policy.set_present(slot, items.present().contains(slot));
        }
        Ok(Self {
            policy,
            settings,
            items,
            windows,
            open,
            estimator,
            decision: Decision::default(),
            draws: Draws::default(),
            available: ItemSet::none(n_items),
            protocol: PhantomData,
        })
    }
}

impl<'de, I, P, D> Deserialize<'de> for Live<I, P, D>
where
    I: Counted,
    P: SelectAmong<Ranking, Note = ()> + Tallies + Deserialize<'de>,
    D: Clone + Eq + Hash + Deserialize<'de>,
{
    fn deserialize<E: Deserializer<'de>>(deserializer: E) -> Result<Self, E::Error> {
        Self::try_from(Saved::deserialize(deserializer)?).map_err(E::Error::custom)
    }
}
