//! The order of the items on a list.

use super::super::candidates::fill;
use super::CascadeBai;
use super::settings::ShowOrder;
use click_models::ItemId;
use std::cmp::Ordering;

/// The score of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) score: f64,
    /// Breaks ties; the smaller goes first.
    pub(super) rank: u32,
    pub(super) item: ItemId,
}

impl Key {
    /// Order by score, largest first. Scores are never NaN.
    fn largest_first(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }

    fn precedes(&self, other: &Self) -> bool {
        self.score > other.score || (self.score == other.score && self.rank < other.rank)
    }
}

/// Items sorted by a score that changes a little at a time, largest first.
#[derive(Debug, Clone)]
pub(super) struct SortedKeys {
    keys: Vec<Key>,
    /// Index of every item in `keys`.
    places: Vec<usize>,
}

impl SortedKeys {
    /// An empty set with room for `n_items` items.
    pub(super) fn new(n_items: usize) -> Self {
        Self { keys: Vec::with_capacity(n_items), places: vec![usize::MAX; n_items] }
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
    }

    /// Adds a new item.
    pub(super) fn insert(&mut self, key: Key) {
        self.places[key.item.index()] = self.keys.len();
        self.keys.push(key);
        self.update(key);
    }

    /// Moves an item to the place of its new score.
    #[inline]
    pub(super) fn update(&mut self, key: Key) {
        let Self { keys, places } = self;
        let mut place = places[key.item.index()];
        while place > 0 && key.precedes(&keys[place - 1]) {
            keys[place] = keys[place - 1];
            places[keys[place].item.index()] = place;
            place -= 1;
        }
        while place + 1 < keys.len() && keys[place + 1].precedes(&key) {
            keys[place] = keys[place + 1];
            places[keys[place].item.index()] = place;
            place += 1;
        }
        keys[place] = key;
        places[key.item.index()] = place;
    }

    /// Removes all items for which `keep` is `false`.
    pub(super) fn retain(&mut self, keep: impl Fn(ItemId) -> bool) {
        let Self { keys, places } = self;
        keys.retain(|key| keep(key.item));
        for (place, key) in keys.iter().enumerate() {
            places[key.item.index()] = place;
        }
    }

    pub(super) fn item(&self, place: usize) -> ItemId {
        self.keys[place].item
    }
}

impl CascadeBai {
    /// Sorts the undecided items by mean, if the order needs it.
    pub(super) fn sort(&mut self) {
        if self.settings.order == ShowOrder::LeastObserved {
            return;
        }
        self.by_mean.clear();
        for place in 0..self.queue.len() {
            let key = self.key_by_mean(self.queue.items()[place]);
            self.by_mean.insert(key);
        }
    }

    pub(super) fn key_by_mean(&self, item: ItemId) -> Key {
        Key { score: self.mean(item), rank: self.rank[item.index()], item }
    }

    /// The sort key of an item on a list, largest first.
    fn key(&mut self, item: ItemId) -> Key {
        use ShowOrder::{LeastObserved, LowerAsc, LowerDesc, MeanAsc, MeanDesc, UpperAsc, UpperDesc};
        let by_mean = self.key_by_mean(item);
        let mean = by_mean.score;
        let score = match self.settings.order {
            LeastObserved | MeanAsc | MeanDesc => mean,
            UpperAsc | UpperDesc => mean + self.radii.remembered(self.items[item.index()].n),
            LowerAsc | LowerDesc => mean - self.radii.remembered(self.items[item.index()].n),
        };
        match self.settings.order {
            LeastObserved | MeanDesc | UpperDesc | LowerDesc => Key { score, ..by_mean },
            MeanAsc | UpperAsc | LowerAsc => Key { score: -score, rank: !by_mean.rank, item },
        }
    }

    /// Puts the next items in order. `list` has the keys of those on the last list, in order.
    #[inline]
    pub(super) fn put_in_order(&mut self, shown: &mut [ItemId]) {
        let n_kept = self.list.len();
        for &item in &*shown {
            if !std::mem::replace(&mut self.is_listed[item.index()], true) {
                let key = self.key(item);
                self.list.push(key);
            }
        }
        if n_kept == 0 {
            self.list.sort_unstable_by(Key::largest_first);
        } else {
            for last in n_kept..self.list.len() {
                let key = self.list[last];
                let place = self.list[..last].partition_point(|other| other.largest_first(&key).is_lt());
                self.list.copy_within(place..last, place + 1);
                self.list[place] = key;
            }
        }
        fill(shown, self.list.iter().map(|key| key.item));
    }

    /// Takes the first items, which were observed, off the ordered list: their keys change.
    #[inline]
    pub(super) fn take_off(&mut self, n_observed: usize) {
        for key in self.list.drain(..n_observed) {
            self.is_listed[key.item.index()] = false;
        }
    }

    /// Makes the next list be sorted anew.
    #[inline]
    pub(super) fn forget_order(&mut self) {
        self.take_off(self.list.len());
    }
}
