//! The items of all queries, and what changed since a query saw them.

use crate::event::{Change, Name, Worth};
use itertools::Itertools as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An item of all queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SharedItem {
    /// The last change, whose number is the item's key among the changes.
    pub(crate) state: Change,
    changed: u64,
    /// The change that last forgot the item.
    pub(crate) forgotten: u64,
    pub(crate) features: Box<[f64]>,
    /// The last change of `state`, and its value and its group: saved apart.
    #[serde(skip)]
    pub(crate) came: u64,
    #[serde(skip)]
    pub(crate) worth: Worth,
}

/// The items of all queries. Queries see the changes when they are used next, so that a change
/// costs the same whatever the number of queries.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Catalogue {
    items: BTreeMap<Name, SharedItem>,
    /// Names by the number of the item's last change, from 1.
    changes: BTreeMap<u64, Name>,
    /// The numbers of the last changes of the items that are not present.
    absent: BTreeSet<u64>,
    /// Number of changes.
    pub(crate) version: u64,
    /// The last change of an item that is no longer here.
    pub(crate) dropped: u64,
    /// While events are repeated, what was of the items that have changed since: by the number of
    /// the change, with the one that came after it.
    #[serde(skip)]
    earlier: BTreeMap<u64, (Name, SharedItem, u64)>,
    /// The version that queries see, while it is not the last one.
    #[serde(skip)]
    seen: Option<u64>,
}

impl Catalogue {
    /// Whether the item is present; `None` if it is not known.
    pub(crate) fn is_present(&self, item: &str) -> Option<bool> {
        self.items.get(item).filter(|item| item.state != Change::Forget).map(|item| item.state == Change::Add)
    }

    /// Whether the item would have these features if it were added: it has none yet, or these.
    pub(crate) fn may_have(&self, item: &str, features: &[f64]) -> bool {
        let known = self.items.get(item).filter(|item| item.state != Change::Forget);
        known.is_none_or(|item| *item.features == *features)
    }

    /// Number of present and of retired items.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.items.len() - self.absent.len(), self.absent.len()]
    }

    /// Whether one more absent item would let another one go.
    pub(crate) fn is_full(&self, keep: usize) -> bool {
        self.absent.len() >= keep
    }

    /// The version that queries see.
    pub(crate) fn seen(&self) -> u64 {
        self.seen.unwrap_or(self.version)
    }

    /// Lets queries see an earlier version, or again the last one.
    pub(crate) fn see(&mut self, version: Option<u64>) {
        self.seen = version;
    }

    /// Notes that no query will see an earlier version.
    pub(crate) fn forget_earlier(&mut self) {
        self.earlier.clear();
    }

    /// Changes an item, and forgets the longest absent ones if more than `keep` are. With
    /// `is_later`, queries can still see what was before.
    pub(crate) fn change(
        &mut self,
        item: &Name,
        state: Change,
        features: &[f64],
        keep: usize,
        is_later: bool,
    ) {
        let (old, came) = (self.items.get(item), self.version + 1);
        let forgotten = if state == Change::Forget { came } else { old.map_or(0, |old| old.forgotten) };
        let features = match (state, old) {
            (Change::Retire, Some(old)) => old.features.clone(),
            _ => features.into(),
        };
        let known = old.filter(|_| state != Change::Forget);
        let worth = known.map(|old| old.worth.clone()).unwrap_or_default();
        self.put(item, SharedItem { state, changed: came, forgotten, features, came, worth }, is_later);
        while self.absent.len() > keep {
            let Some(first) = self.absent.pop_first() else { break };
            self.dropped = first;
            if let Some(name) = self.changes.remove(&first) {
                self.items.remove(&name);
            }
        }
    }

    /// Tells the value or the group of an item, and returns whether that is new; `None` if the item
    /// is not known. With `is_later`, queries can still see what was before.
    pub(crate) fn set_worth(&mut self, item: &Name, worth: &Worth, is_later: bool) -> Option<bool> {
        let old = self.items.get(item).filter(|item| item.state != Change::Forget)?;
        let (worth, changed) = (worth.clone().or(&old.worth), self.version + 1);
        let is_new = worth != old.worth;
        if is_new {
            self.put(item, SharedItem { changed, worth, ..old.clone() }, is_later);
        }
        Some(is_new)
    }

    /// Puts an item in the place of what was of it.
    fn put(&mut self, name: &Name, item: SharedItem, is_later: bool) {
        let changed = item.changed;
        self.version = changed;
        if item.state != Change::Add {
            self.absent.insert(changed);
        }
        self.changes.insert(changed, name.clone());
        if let Some(old) = self.items.insert(name.clone(), item) {
            self.changes.remove(&old.changed);
            self.absent.remove(&old.changed);
            if is_later {
                self.earlier.insert(old.changed, (name.clone(), old, changed));
            }
        }
    }

    /// The value and the group of an item.
    pub(crate) fn worth(&self, item: &str) -> Worth {
        self.items.get(item).map(|item| item.worth.clone()).unwrap_or_default()
    }

    /// Forgets the values of all items, which keep their groups.
    pub(crate) fn forget_values(&mut self) {
        self.items.values_mut().for_each(|item| item.worth.value = None);
    }

    /// Items that have more than a state: the last change of the state, their value and group.
    pub(crate) fn worths(&self) -> BTreeMap<&Name, (u64, &Worth)> {
        let told = self.items.iter().filter(|(_, of)| of.came < of.changed || of.worth != Worth::default());
        told.map(|(name, of)| (name, (of.came, &of.worth))).collect()
    }

    /// Takes what was saved apart.
    pub(crate) fn restore_worths(&mut self, mut worths: BTreeMap<Name, (u64, Worth)>) {
        for (name, item) in &mut self.items {
            (item.came, item.worth) = worths.remove(name).unwrap_or((item.changed, Worth::default()));
        }
    }

    /// The items that changed after a version, in the order of their changes.
    pub(crate) fn since(&self, version: u64) -> impl Iterator<Item = (&Name, &SharedItem)> {
        let seen = self.seen();
        let is_new = move |changed: u64| version < changed && changed <= seen;
        let last = self.changes.range(version + 1..).take_while(move |(changed, _)| is_new(**changed));
        let last = last.filter_map(|(changed, name)| Some((*changed, name, self.items.get(name)?)));
        let earlier = self.earlier.range(version + 1..).take_while(move |(changed, _)| is_new(**changed));
        let earlier = earlier.filter(move |(_, (.., until))| *until > seen);
        let earlier = earlier.map(|(changed, (name, item, _))| (*changed, name, item));
        last.merge_by(earlier, |one, other| one.0 < other.0).map(|(_, name, item)| (name, item))
    }

    pub(crate) fn contains(&self, item: &str) -> bool {
        let seen = self.seen();
        let was = || {
            let mut of_item = self.earlier.range(..=seen).filter(|(_, (name, ..))| **name == *item);
            of_item.any(|(_, (.., until))| *until > seen)
        };
        self.items.get(item).is_some_and(|item| item.changed <= seen) || was()
    }
}
