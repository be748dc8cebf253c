//! Items sorted by turns.

use click_models::ItemId;

/// Items sorted by turns, then by stamp. A move costs O(items), which only late feedback pays and
/// orders by mean or bound.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) items: Vec<ItemId>,
    /// Turns and stamp of every item in the catalogue.
    places: Vec<(u64, i64)>,
    first_stamp: i64,
    last_stamp: i64,
}

impl Line {
    pub(super) fn new(n_items: usize) -> Self {
        let items = Vec::with_capacity(n_items);
        Self { items, places: vec![(0, 0); n_items], first_stamp: 0, last_stamp: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        (self.first_stamp, self.last_stamp) = (0, 0);
    }

    /// Turns and stamp of an item; they grow along the line.
    pub(super) fn place(&self, item: ItemId) -> (u64, i64) {
        self.places[item.index()]
    }

    /// Adds an item, which has at least as many turns as all others.
    pub(super) fn push(&mut self, item: ItemId, turns: u64) {
        self.last_stamp += 1;
        self.places[item.index()] = (turns, self.last_stamp);
        self.items.push(item);
    }

    pub(super) fn retain(&mut self, keep: impl Fn(ItemId) -> bool) {
        self.items.retain(|&item| keep(item));
    }

    /// Gives an item another turn, and puts it behind its equals.
    pub(super) fn raise(&mut self, item: ItemId) {
        self.last_stamp += 1;
        self.put(item, (self.place(item).0 + 1, self.last_stamp));
    }

    /// Takes a turn from an item, and puts it before its equals.
    pub(super) fn lower(&mut self, item: ItemId) {
        self.first_stamp -= 1;
        self.put(item, (self.place(item).0 - 1, self.first_stamp));
    }

    /// Puts an item behind its equals.
    pub(super) fn move_back(&mut self, item: ItemId) {
        self.last_stamp += 1;
        self.put(item, (self.place(item).0, self.last_stamp));
    }

    fn put(&mut self, item: ItemId, place: (u64, i64)) {
        let Self { items, places, .. } = self;
        let n_before = |place| items.partition_point(|item| places[item.index()] < place);
        let (from, to) = (n_before(places[item.index()]), n_before(place));
        if from < to {
            items[from..to].rotate_left(1);
        } else {
            items[to..=from].rotate_right(1);
        }
        places[item.index()] = place;
    }
}
