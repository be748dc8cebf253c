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
    /// Values and groups of items by the change that told them, the last one, and while events are
    /// repeated those before it; saved apart.
    #[serde(skip)]
    worths: BTreeMap<Name, BTreeMap<u64, Worth>>,
    /// Items by the changes that told of their worth.
    #[serde(skip)]
    told: BTreeMap<u64, Name>,
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
        if self.told.len() > self.worths.len() {
            self.told.clear();
            for (item, mut worths) in std::mem::take(&mut self.worths) {
                self.restore_worths(worths.pop_last().map(|last| (item, last)));
            }
        }
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
        if let Some(old) = old.filter(|_| is_later) {
            self.earlier.insert(old.changed, (item.clone(), old.clone(), changed));
        }
        self.items.insert(item.clone(), SharedItem { state, changed, forgotten, features });
        self.changes.insert(changed, item.clone());
        if state == Change::Forget && self.worths.contains_key(item) {
            self.tell(item, Worth::default(), is_later);
        }
        if state != Change::Add {
            self.absent.insert(changed);
        }
        while self.absent.len() > keep {
            let Some(first) = self.absent.pop_first() else { break };
            self.dropped = first;
            if let Some(name) = self.changes.remove(&first) {
                self.items.remove(&name);
                self.untell(&name);
            }
        }
    }

    /// Tells the value or the group of an item, and returns whether that is new; `None` if the item
    /// is not known. With `is_later`, queries can still see what was before.
    pub(crate) fn set_worth(&mut self, item: &Name, worth: &Worth, is_later: bool) -> Option<bool> {
        self.is_present(item)?;
        let (old, worth) = (self.worth(item), worth.clone());
        let worth = worth.or(&old);
        let is_new = worth != old;
        if is_new {
            self.version += 1;
            self.tell(item, worth, is_later);
        }
        Some(is_new)
    }

    fn tell(&mut self, item: &Name, worth: Worth, is_later: bool) {
        if !is_later {
            self.untell(item);
        }
        self.worths.entry(item.clone()).or_default().insert(self.version, worth);
        self.told.insert(self.version, item.clone());
    }

    fn untell(&mut self, item: &Name) {
        for told in self.worths.remove(item).into_iter().flat_map(BTreeMap::into_keys) {
            self.told.remove(&told);
        }
    }

    /// The value and the group of an item, as queries see them.
    pub(crate) fn worth(&self, item: &str) -> Worth {
        let of_item = self.worths.get(item).and_then(|of| of.range(..=self.seen()).next_back());
        of_item.map(|(_, worth)| worth.clone()).unwrap_or_default()
    }

    /// The items of whose worth changes told after a version.
    pub(crate) fn told_since(&self, version: u64) -> impl Iterator<Item = &Name> {
        let seen = self.seen();
        self.told.range(version + 1..).take_while(move |(told, _)| **told <= seen).map(|(_, item)| item)
    }

    /// Forgets the values of all items, which keep their groups.
    pub(crate) fn forget_values(&mut self) {
        self.worths.values_mut().flat_map(BTreeMap::values_mut).for_each(|worth| worth.value = None);
    }

    /// Values and groups of the items that have some, with the changes that told them.
    pub(crate) fn worths(&self) -> BTreeMap<&Name, (u64, &Worth)> {
        let last = self.worths.iter().filter_map(|(name, of)| Some((name, of.last_key_value()?)));
        last.map(|(name, (told, worth))| (name, (*told, worth))).collect()
    }

    /// Gives items the values and groups that were saved.
    pub(crate) fn restore_worths(&mut self, worths: impl IntoIterator<Item = (Name, (u64, Worth))>) {
        for (name, (told, worth)) in worths {
            if worth != Worth::default() {
                self.told.insert(told, name.clone());
                self.worths.insert(name, BTreeMap::from([(told, worth)]));
            }
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
