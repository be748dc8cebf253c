//! Items in buckets of equally many turns, with moves in O(1).

use super::circles::Circles;
use click_models::ItemId;

/// Items in buckets of equally many turns, the bucket of the fewest turns first.
#[derive(Debug)]
pub(super) struct Buckets {
    /// The items of each bucket in a circle, whose sentinel is `n_items` plus the bucket's number.
    items: Circles,
    /// The buckets in a circle with the sentinel [`Buckets::START`].
    in_order: Circles,
    /// Turns of the items in each bucket.
    turns: Vec<u64>,
    free: Vec<u32>,
    bucket_of: Vec<u32>,
    /// Stamps that grow along each bucket.
    stamps: Vec<i64>,
    first_stamp: i64,
    last_stamp: i64,
}

impl Buckets {
    const START: u32 = 0;

    pub(super) fn new(n_items: usize) -> Self {
        // One bucket per item, one that is filled before another one is empty, and the sentinel.
        let n_buckets = n_items + 2;
        let mut buckets = Self {
            items: Circles::new(n_items + n_buckets),
            in_order: Circles::new(n_buckets),
            turns: vec![0; n_buckets],
            free: Vec::with_capacity(n_buckets),
            bucket_of: vec![Self::START; n_items],
            stamps: vec![0; n_items],
            first_stamp: 0,
            last_stamp: 0,
        };
        buckets.clear();
        buckets
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.in_order.clear();
        self.free.clear();
        self.free.extend((0..).take(self.turns.len()).skip(1));
        (self.first_stamp, self.last_stamp) = (0, 0);
    }

    pub(super) fn sentinel(&self, bucket: u32) -> u32 {
        number(self.bucket_of.len()) + bucket
    }

    /// Sort key: turns, then the order inside the bucket.
    pub(super) fn place(&self, item: ItemId) -> (u64, i64) {
        (self.turns[self.bucket_of[item.index()] as usize], self.stamps[item.index()])
    }

    /// All items in order.
    pub(super) fn items(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.in_order
            .after(Self::START)
            .flat_map(|bucket| self.items.after(self.sentinel(bucket)))
            .map(ItemId::new)
    }

    /// Adds an item with at least as many turns as every other item.
    pub(super) fn push(&mut self, item: ItemId, turns: u64) {
        let last = self.in_order.before[Self::START as usize];
        let bucket = self.bucket(last, turns, Self::START);
        self.put_back(item, bucket);
    }

    /// Returns `bucket` if it has this number of turns, or else a new bucket before `next`.
    pub(super) fn bucket(&mut self, bucket: u32, turns: u64, next: u32) -> u32 {
        if bucket != Self::START && self.turns[bucket as usize] == turns {
            return bucket;
        }
        let new = self.free.pop().expect("more buckets than items");
        self.turns[new as usize] = turns;
        self.in_order.insert(new, next);
        new
    }

    pub(super) fn put_back(&mut self, item: ItemId, bucket: u32) {
        self.last_stamp += 1;
        self.stamps[item.index()] = self.last_stamp;
        self.bucket_of[item.index()] = bucket;
        self.items.insert(number(item.index()), self.sentinel(bucket));
    }

    pub(super) fn put_in_front(&mut self, item: ItemId, bucket: u32) {
        self.first_stamp -= 1;
        self.stamps[item.index()] = self.first_stamp;
        self.bucket_of[item.index()] = bucket;
        let sentinel = self.sentinel(bucket) as usize;
        self.items.insert(number(item.index()), self.items.after[sentinel]);
    }

    pub(super) fn remove(&mut self, item: ItemId) {
        let bucket = self.bucket_of[item.index()];
        self.items.remove(number(item.index()));
        let sentinel = self.sentinel(bucket);
        if self.items.after[sentinel as usize] == sentinel {
            self.in_order.remove(bucket);
            self.free.push(bucket);
        }
    }

    /// Adds a turn: the item goes behind all items with as many turns.
    pub(super) fn raise(&mut self, item: ItemId) {
        let bucket = self.bucket_of[item.index()];
        let next = self.in_order.after[bucket as usize];
        let higher = self.bucket(next, self.turns[bucket as usize] + 1, next);
        self.remove(item);
        self.put_back(item, higher);
    }

    /// Removes a turn: the item goes before all items with as many turns.
    pub(super) fn lower(&mut self, item: ItemId) {
        let bucket = self.bucket_of[item.index()];
        let before = self.in_order.before[bucket as usize];
        let lower = self.bucket(before, self.turns[bucket as usize] - 1, bucket);
        self.remove(item);
        self.put_in_front(item, lower);
    }

    pub(super) fn move_back(&mut self, item: ItemId) {
        let bucket = self.bucket_of[item.index()];
        self.items.remove(number(item.index()));
        self.put_back(item, bucket);
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("items are numbered with 32 bits")
}
