//! Items by rate: one bucket for every power of two, and one for the items that are drawn in full.
//!
//! All buckets are in one array; an item moves by exchanges at each boundary on the way.

use super::power_of_two;
use crate::exact::number;

/// Rates are summed as multiples of this, so that sums do not depend on their history.
const UNIT: f64 = 1.0 / 4_294_967_296.0;

/// Where an item is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// Rate of the item's points; infinite if the item is drawn in full.
    rate: f64,
    /// Its place in the order of all buckets.
    at: u32,
    bucket: u8,
}

#[derive(Debug, Clone)]
pub(super) struct Buckets {
    /// Bucket by bucket: items drawn in full, then rates up to `2^-1`, `2^-2` and so on.
    order: Vec<u32>,
    places: Vec<Place>,
    /// Start of every bucket, and the end of the last.
    starts: Vec<u32>,
    /// Sum of all finite rates, in units of `2^-32`.
    pub(super) total: u64,
    /// Buffer of [`Buckets::fill`].
    next: Vec<u32>,
}

#[cfg(test)]
impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        (&self.order, &self.places, &self.starts, self.total)
            == (&other.order, &other.places, &other.starts, other.total)
    }
}

impl Buckets {
    /// All items are drawn in full.
    pub(super) fn new(n_items: usize) -> Self {
        let mut starts = vec![number(n_items); n_bounds(n_items)];
        starts[0] = 0;
        Self {
            order: (0..number(n_items)).collect(),
            places: (0..number(n_items)).map(|at| Place { rate: f64::INFINITY, at, bucket: 0 }).collect(),
            next: vec![0; starts.len()],
            starts,
            total: 0,
        }
    }

    /// Adds an item with a rate of 0.
    pub(super) fn push(&mut self) {
        let item = self.order.len();
        if n_bounds(item + 1) > self.starts.len() {
            // Only the last bucket may have rates far below its cells, so it is divided.
            self.starts.resize(n_bounds(item + 1), number(item));
            self.next.resize(self.starts.len(), 0);
            let rates: Vec<f64> = self.places.iter().map(|place| place.rate).collect();
            self.fill(|item| rates[item]);
        }
        self.order.push(number(item));
        self.places.push(Place { rate: 0.0, at: number(item), bucket: self.last() });
        let last = self.starts.len() - 1;
        self.starts[last] += 1;
    }

    fn last(&self) -> u8 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 40 buckets")]
        let last = (self.starts.len() - 2) as u8;
        last
    }

    /// Buckets with a rate, from the highest down: the exponent of the rate, and the items.
    #[inline]
    pub(super) fn with_rate(&self) -> impl Iterator<Item = (u8, &[u32])> {
        let bounds = self.starts[1..].windows(2);
        (1..=self.last()).zip(bounds.map(|bounds| &self.order[bounds[0] as usize..bounds[1] as usize]))
    }

    /// Items that are drawn in full.
    #[inline]
    pub(super) fn in_full(&self) -> &[u32] {
        &self.order[..self.starts[1] as usize]
    }

    pub(super) fn is_in_full(&self, item: usize) -> bool {
        self.places[item].bucket == 0
    }

    #[inline]
    pub(super) fn all_in_full(&self) -> bool {
        self.in_full().len() == self.order.len()
    }

    /// At least the length of all cells: twice the rate of an item, except in the last bucket.
    pub(super) fn most_cells(&self) -> f64 {
        let n_items = self.order.len() as f64;
        // Every rate may be a unit longer than in the sum.
        2.0 * UNIT * (self.total as f64 + n_items) + n_items / power_of_two(self.last())
    }

    pub(super) fn rate(&self, item: usize) -> f64 {
        self.places[item].rate
    }

    /// All items, bucket by bucket.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The bucket `k` with rates in `2^-(k + 1)..=2^-k`; a power of two may be one higher.
    #[inline]
    fn bucket_of(&self, rate: f64) -> u8 {
        if rate == f64::INFINITY {
            return 0;
        }
        let exponent = 1022_u64.saturating_sub(rate.to_bits() >> 52);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most 1022, and at most the last bucket after it"
        )]
        let bucket = exponent.clamp(1, u64::from(self.last())) as u8;
        bucket
    }

    #[inline]
    pub(super) fn set(&mut self, item: usize, rate: f64) {
        let place = self.places[item];
        self.total = self.total - units(place.rate) + units(rate);
        self.places[item].rate = rate;
        let bucket = self.bucket_of(rate);
        let mut at = place.bucket;
        while at < bucket {
            // The last of its bucket becomes the first of the next.
            self.starts[usize::from(at) + 1] -= 1;
            self.exchange(item, self.starts[usize::from(at) + 1]);
            at += 1;
        }
        while at > bucket {
            self.exchange(item, self.starts[usize::from(at)]);
            self.starts[usize::from(at)] += 1;
            at -= 1;
        }
        self.places[item].bucket = bucket;
    }

    /// Exchanges `item` with the one at place `to`.
    #[inline]
    fn exchange(&mut self, item: usize, to: u32) {
        let from = self.places[item].at;
        let other = self.order[to as usize];
        self.order[from as usize] = other;
        self.places[other as usize].at = from;
        self.order[to as usize] = number(item);
        self.places[item].at = to;
    }

    /// Sets the rates of all items. In each bucket, items follow in the order of their numbers.
    pub(super) fn fill(&mut self, rate: impl Fn(usize) -> f64) {
        self.next.fill(0);
        self.total = 0;
        for item in 0..self.places.len() {
            let rate = rate(item);
            let bucket = self.bucket_of(rate);
            self.places[item] = Place { rate, at: 0, bucket };
            self.next[usize::from(bucket)] += 1;
            self.total += units(rate);
        }
        let mut start = 0;
        for (begin, next) in self.starts.iter_mut().zip(&mut self.next) {
            *begin = start;
            start += *next;
            *next = *begin;
        }
        for item in 0..self.places.len() {
            let next = &mut self.next[usize::from(self.places[item].bucket)];
            self.places[item].at = *next;
            self.order[*next as usize] = number(item);
            *next += 1;
        }
    }

    /// Takes up the order of items inside the buckets. `order` has every item once.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.next.copy_from_slice(&self.starts);
        for &item in order {
            let place = &mut self.places[item as usize];
            let next = &mut self.next[usize::from(place.bucket)];
            place.at = *next;
            self.order[*next as usize] = item;
            *next += 1;
        }
    }
}

/// Bounds of the buckets of this number of items: items in the last bucket have fewer than 2^-8
/// points a round together.
fn n_bounds(n_items: usize) -> usize {
    n_items.next_power_of_two().ilog2() as usize + 8 + 2
}

/// A finite rate in units, 0 for an infinite one.
fn units(rate: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are from 0 to 1")]
    let units = if rate == f64::INFINITY { 0 } else { (rate * (1.0 / UNIT)) as u64 };
    units
}

/// This number of units, for a number that is not negative.
pub(super) fn in_units(rates: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let units = (rates * (1.0 / UNIT)) as u64;
    units
}
