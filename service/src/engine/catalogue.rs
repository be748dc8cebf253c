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
    /// Saved apart.
    #[serde(skip)]
    pub(crate) worth: Worth,
    /// The last change of the state, if that of the worth came later; saved with the worth.
    #[serde(skip)]
    stated: Option<u64>,
}

impl SharedItem {
    /// The last change of its state or features.
    pub(crate) fn stated(&self) -> u64 {
        self.stated.unwrap_or(self.changed)
    }
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

    /// As [`change`](Self::change), so that queries can still see what was before.
    pub(crate) fn change_later(&mut self, item: &Name, state: Change, features: &[f64], keep: usize) {
        let old = self.items.get(item).cloned();
        self.change(item, state, features, keep);
        if let Some(old) = old {
            self.earlier.insert(old.changed, (item.clone(), old, self.version));
        }
    }

    /// Changes an item, and forgets the longest absent ones if more than `keep` are.
    pub(crate) fn change(&mut self, item: &Name, state: Change, features: &[f64], keep: usize) {
        self.version += 1;
        let changed = self.version;
        let old = self.items.get(item);
        if let Some(old) = old {
            self.changes.remove(&old.changed);
            self.absent.remove(&old.changed);
        }
        let forgotten = if state == Change::Forget { changed } else { old.map_or(0, |old| old.forgotten) };
        let features = match (state, old) {
            (Change::Retire, Some(old)) => old.features.clone(),
            _ => features.into(),
        };
        let worth = old.filter(|_| state != Change::Forget).map(|old| old.worth.clone()).unwrap_or_default();
        self.items
            .insert(item.clone(), SharedItem { state, changed, forgotten, features, worth, stated: None });
        self.changes.insert(changed, item.clone());
        if state != Change::Add {
            self.absent.insert(changed);
        }
        while self.absent.len() > keep {
            let Some(first) = self.absent.pop_first() else { break };
            self.dropped = first;
            if let Some(name) = self.changes.remove(&first) {
                self.items.remove(&name);
            }
        }
    }

    /// Tells the value or the group of an item, and returns whether that is new; `None` if the item
    /// is not known.
    pub(crate) fn set_worth(
        &mut self,
        item: &Name,
        worth: &Worth,
        keep: usize,
        is_later: bool,
    ) -> Option<bool> {
        let old = self.items.get(item).filter(|old| old.state != Change::Forget)?.clone();
        let worth = worth.clone().or(&old.worth);
        if worth == old.worth {
            return Some(false);
        }
        if is_later {
            self.change_later(item, old.state, &old.features, keep);
        } else {
            self.change(item, old.state, &old.features, keep);
        }
        let item = self.items.get_mut(item)?;
        (item.worth, item.stated) = (worth, Some(old.stated()));
        Some(true)
    }

    /// Values and groups of the items that have some.
    pub(crate) fn worths(&self) -> BTreeMap<Name, (Worth, Option<u64>)> {
        let told = self.items.iter().filter(|(_, item)| item.worth != Worth::default());
        told.map(|(name, item)| (name.clone(), (item.worth.clone(), item.stated))).collect()
    }

    /// Gives items the values and groups that were saved.
    pub(crate) fn restore_worths(&mut self, worths: BTreeMap<Name, (Worth, Option<u64>)>) {
        for (name, worth) in worths {
            self.items.entry(name).and_modify(|item| (item.worth, item.stated) = worth);
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
