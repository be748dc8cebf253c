//! Items by a score that changes a little at a time, largest first.

use click_models::ItemId;
use std::cmp::Ordering;

/// A score and whose it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) score: f64,
    /// Breaks ties; the smaller goes first.
    pub(super) rank: u32,
    pub(super) item: ItemId,
}

impl Key {
    /// Scores are numbers.
    #[inline]
    pub(super) fn largest_first(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }

    #[inline]
    fn precedes(&self, other: &Self) -> bool {
        self.score > other.score || (self.score == other.score && self.rank < other.rank)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Sorted {
    keys: Vec<Key>,
    /// Where an item is in `keys`.
    places: Vec<usize>,
}

impl Sorted {
    /// No item, and room for this number.
    pub(super) fn new(n_items: usize) -> Self {
        Self { keys: Vec::with_capacity(n_items), places: vec![usize::MAX; n_items] }
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
    }

    /// Adds an item that is not there yet.
    pub(super) fn insert(&mut self, key: Key) {
        self.places[key.item.index()] = self.keys.len();
        self.keys.push(key);
        self.update(key);
    }

    /// Moves an item that is there to where its new score belongs.
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

    /// Drops the items that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl Fn(ItemId) -> bool) {
        let Self { keys, places } = self;
        keys.retain(|key| keep(key.item));
        for (place, key) in keys.iter().enumerate() {
            places[key.item.index()] = place;
        }
    }

    /// The item with this number before it.
    #[inline]
    pub(super) fn item(&self, place: usize) -> ItemId {
        self.keys[place].item
    }
}
