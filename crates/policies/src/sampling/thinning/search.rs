//! The search for a threshold: the largest one that too few draws exceed in few rounds only.
//!
//! Items with equal posteriors are a class. The number of draws above a threshold is approximated
//! by a Poisson number, of the rates of all classes that are thinned, plus a Bernoulli number for
//! every item that is drawn in full. The approximation decides how fast rounds are, not what is
//! chosen in them.

use super::buckets::in_units;
use super::threshold::{MOST_STEPS, Threshold};
use super::{Posteriors, rate};
use crate::exact::number;

/// A round in which fewer draws than positions exceed the threshold costs about as much as drawing
/// all items. So the share of such rounds is this number over the number of items right after a
/// search,
const SHORT_AFTER_SEARCH: f64 = 0.03;
/// and with many items at most this one before the next search.
const SHORT_BEFORE_SEARCH: f64 = 4.0;
/// Log-odds between the ends of the bracket at the end of a search, in steps.
const PRECISION: i32 = 1 << 11;
/// Half of the first bracket, in steps.
const REACH: i32 = 1 << 18;

/// Items with equal posteriors.
#[derive(Debug, Clone, Copy)]
struct Class {
    /// One of them.
    item: u32,
    size: u32,
    rate: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SearchResult {
    pub(super) threshold: Threshold,
    /// Below this sum of rates too many rounds are short; in units of the buckets.
    pub(super) least: u64,
    /// Above this sum of rates, with 1 for every item drawn in full, rounds have become slow.
    pub(super) most: u64,
}

/// Buffers of a search.
#[derive(Debug, Clone)]
pub(super) struct Search {
    n_positions: usize,
    /// Share of the items that are available in a round.
    share: f64,
    classes: Vec<Class>,
    /// Class of every item.
    class_of: Vec<u32>,
    /// Classes by hash; `EMPTY` where there is none.
    slots: Vec<u32>,
    /// Classes that may have draws above some threshold of the bracket.
    relevant: Vec<u32>,
    /// Probability that 0, 1, ... items drawn in full exceed the threshold.
    in_full: Vec<f64>,
}

const EMPTY: u32 = u32::MAX;

/// The expected number of draws above a threshold, in two parts.
#[derive(Debug, Clone, Copy)]
struct Load {
    rates: f64,
    n_in_full: f64,
}

impl Search {
    pub(super) fn new(n_items: usize, n_positions: usize) -> Self {
        Self {
            n_positions,
            share: 1.0,
            classes: Vec::with_capacity(n_items),
            class_of: vec![0; n_items],
            slots: vec![EMPTY; (2 * n_items).next_power_of_two()],
            relevant: Vec::with_capacity(n_items),
            in_full: vec![0.0; n_positions],
        }
    }

    /// The rate of `item` at the threshold that was found.
    pub(super) fn rate(&self, item: usize) -> f64 {
        self.classes[self.class_of[item] as usize].rate
    }

    /// Adds an item.
    pub(super) fn push(&mut self) {
        self.class_of.push(0);
        let n_items = self.class_of.len();
        self.slots.resize((2 * n_items).next_power_of_two(), EMPTY);
        self.classes.reserve(n_items);
        self.relevant.reserve(n_items);
    }

    /// Searches around the threshold `before`, or everywhere, for rounds in which each item is
    /// available with the probability `share`.
    pub(super) fn find<P: Posteriors>(
        &mut self,
        posteriors: &P,
        before: Option<Threshold>,
        share: f64,
    ) -> SearchResult {
        self.share = share;
        self.group(posteriors);
        let n_items = self.class_of.len() as f64;
        let allowed = SHORT_AFTER_SEARCH / n_items;
        let (mut low, mut high) = self.bracket(posteriors, before, allowed);
        while high - low > PRECISION {
            let middle = low + (high - low) / 2;
            let load = self.load(posteriors, Threshold::at(middle));
            if self.short(load.rates) > allowed { high = middle } else { low = middle }
        }
        let threshold = Threshold::at(low);
        for class in &mut self.classes {
            class.rate = rate(posteriors.bound(class.item as usize, &threshold));
        }
        let load = self.load(posteriors, threshold);
        SearchResult {
            threshold,
            least: in_units(self.least_rates(load.rates, SHORT_BEFORE_SEARCH / n_items) / share),
            most: in_units(1.5 * (load.rates / share + load.n_in_full) + 8.0),
        }
    }

    /// Steps of a threshold with few short rounds, and of one above it with too many.
    fn bracket<P: Posteriors>(
        &mut self,
        posteriors: &P,
        before: Option<Threshold>,
        allowed: f64,
    ) -> (i32, i32) {
        let Some(before) = before.filter(|before| before.step - REACH > -MOST_STEPS) else {
            self.keep_relevant(posteriors, Threshold::at(-MOST_STEPS));
            return (-MOST_STEPS, MOST_STEPS);
        };
        let mut reach = REACH;
        let mut high = before.step + reach;
        let mut low = before.step - reach;
        while low > -MOST_STEPS && self.is_short(posteriors, Threshold::at(low), allowed) {
            high = low;
            reach *= 2;
            low = (low - reach).max(-MOST_STEPS);
        }
        (low, high.min(MOST_STEPS))
    }

    /// Returns whether too many rounds are short at this threshold. Makes its classes relevant.
    fn is_short<P: Posteriors>(&mut self, posteriors: &P, threshold: Threshold, allowed: f64) -> bool {
        self.keep_relevant(posteriors, threshold);
        let load = self.load(posteriors, threshold);
        self.short(load.rates) > allowed
    }

    /// Remembers the classes that matter at this threshold or a higher one.
    fn keep_relevant<P: Posteriors>(&mut self, posteriors: &P, threshold: Threshold) {
        // All others together have a hundredth of a point.
        let negligible = 0.01 / self.class_of.len() as f64;
        self.relevant.clear();
        for (number, class) in (0..).zip(&self.classes) {
            if posteriors.bound(class.item as usize, &threshold) > negligible {
                self.relevant.push(number);
            }
        }
    }

    /// The load at a threshold, and `in_full`.
    fn load<P: Posteriors>(&mut self, posteriors: &P, threshold: Threshold) -> Load {
        let mut load = Load { rates: 0.0, n_in_full: 0.0 };
        self.in_full.fill(0.0);
        self.in_full[0] = 1.0;
        for &class in &self.relevant {
            let class = self.classes[class as usize];
            let size = f64::from(class.size);
            let rate = rate(posteriors.bound(class.item as usize, &threshold));
            if rate < f64::INFINITY {
                load.rates += size * rate * self.share;
                continue;
            }
            load.n_in_full += size;
            let chance = self.share * posteriors.chance(class.item as usize, &threshold);
            // Small numbers have hardly any probability after a hundred more items.
            for _ in 0..class.size.min(100 + 10 * number(self.n_positions)) {
                for above in (0..self.in_full.len()).rev() {
                    let one_less = if above > 0 { self.in_full[above - 1] } else { 0.0 };
                    self.in_full[above] = self.in_full[above] * (1.0 - chance) + one_less * chance;
                }
            }
        }
        load
    }

    /// Probability that fewer draws than positions exceed the threshold.
    fn short(&self, rates: f64) -> f64 {
        let (mut term, mut at_most, mut sum) = (libm::exp(-rates), 0.0, 0.0);
        for (thinned, of_in_full) in self.in_full.iter().rev().enumerate() {
            at_most += term;
            term *= rates / (thinned + 1) as f64;
            sum += of_in_full * at_most;
        }
        sum
    }

    /// The smallest sum of rates with at most this probability, for the last `in_full`.
    fn least_rates(&self, rates: f64, allowed: f64) -> f64 {
        let (mut low, mut high) = (0.0, rates);
        for _ in 0..12 {
            let middle = 0.5 * (low + high);
            if self.short(middle) > allowed { low = middle } else { high = middle }
        }
        low
    }

    /// Finds the classes.
    fn group<P: Posteriors>(&mut self, posteriors: &P) {
        self.classes.clear();
        self.slots.fill(EMPTY);
        let mask = self.slots.len() - 1;
        for (item, class_of) in self.class_of.iter_mut().enumerate() {
            let mut slot = spread(posteriors.hash(item)) & mask;
            let class = loop {
                let class = self.slots[slot];
                if class == EMPTY {
                    let class = number(self.classes.len());
                    self.slots[slot] = class;
                    self.classes.push(Class { item: number(item), size: 0, rate: 0.0 });
                    break class;
                }
                if posteriors.is_like(item, self.classes[class as usize].item as usize) {
                    break class;
                }
                slot = (slot + 1) & mask;
            };
            self.classes[class as usize].size += 1;
            *class_of = class;
        }
    }
}

/// Spreads a hash over all bits.
fn spread(hash: u64) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}
