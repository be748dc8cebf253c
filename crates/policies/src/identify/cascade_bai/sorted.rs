//! Items sorted by a score that changes a little at a time, largest first.

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
    pub(super) fn largest_first(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }

    fn precedes(&self, other: &Self) -> bool {
        self.score > other.score || (self.score == other.score && self.rank < other.rank)
    }
}

/// Sorts keys, largest score first.
pub(super) fn sort(keys: &mut [Key]) {
    keys.sort_unstable_by(Key::largest_first);
}

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

    /// The item at this place.
    pub(super) fn item(&self, place: usize) -> ItemId {
        self.keys[place].item
    }
}
