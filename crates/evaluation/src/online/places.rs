//! The places of lists that were clicked: a repeated click counts once, and lists tell whether
//! users stop at clicks.
//!
//! Where users stop, a click below another one of the same list is rarer than a click anywhere. Of
//! `N` lists of one query with the same items in the same order, let `n_k` be clicked at position
//! `k` and `m_k` below it: clicks that do not depend on each other have `n_k m_k / N` lists with
//! both, with a hypergeometric variance, and the sums over positions and orders are compared
//! (Mantel and Haenszel, *Statistical aspects of the analysis of data from retrospective studies of
//! disease*, 1959). Users that differ have more of them. Lists of several orders are never counted
//! together: an item is in one place of a list, so its clicks in two places exclude each other.

use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Fewer further clicks by this many standard deviations are told: by chance in 1 of 1,000 logs.
const TOLD: f64 = 3.09;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// Lists and positions that were clicked.
#[derive(Debug, Default)]
pub(super) struct Places {
    clicked: HashSet<(u64, u32), Hasher>,
    /// Clicks on a place that was clicked before.
    pub(super) repeated: u64,
}

/// Clicks below another one of their list, over lists that were shown again.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stops {
    /// Lists whose items were shown for their query in the same order more than once.
    pub lists: u64,
    /// Their clicks with a click below them.
    pub further: u64,
    /// Those that are expected if users do not stop.
    pub expected: f64,
    /// The variance of their number.
    pub variance: f64,
}

impl Stops {
    /// Whether users stop at clicks, with a probability of a false alarm of .001.
    pub fn is_told(&self) -> bool {
        (self.further as f64) < self.expected - TOLD * self.variance.sqrt()
    }

    /// Whether this would be told if no click had another one below it.
    pub fn may_be_told(&self) -> bool {
        Self { further: 0, ..*self }.is_told()
    }
}

impl Places {
    /// Whether a place was not clicked before.
    pub(super) fn is_first(&mut self, list: u64, position: u32) -> bool {
        let is_first = self.clicked.insert((list, position));
        self.repeated += u64::from(!is_first);
        is_first
    }

    /// `lists`: all that were shown, each with its order.
    pub(super) fn stops(&self, lists: &[(u64, u64)]) -> Stops {
        let orders: HashMap<u64, u64, Hasher> = lists.iter().copied().collect();
        // Lists of an order, their further clicks, and those clicked at a position, and last there.
        let mut counts = BTreeMap::<u64, (u64, u64, BTreeMap<u32, [u64; 2]>)>::new();
        orders.values().for_each(|order| counts.entry(*order).or_default().0 += 1);
        let mut places: Vec<(u64, u32)> = self.clicked.iter().copied().collect();
        places.sort_unstable();
        for of_list in places.chunk_by(|a, b| a.0 == b.0) {
            let order = orders.get(&of_list[0].0).and_then(|order| counts.get_mut(order));
            let Some((_, further, places)) = order else { continue };
            *further += of_list.len() as u64 - 1;
            for (_, position) in of_list {
                places.entry(*position).or_default()[0] += 1;
            }
            places.entry(of_list[of_list.len() - 1].1).or_default()[1] += 1;
        }
        let mut stops = Stops::default();
        for (lists, further, places) in counts.into_values().filter(|(lists, ..)| *lists > 1) {
            stops.lists += lists;
            stops.further += further;
            let (all, mut below) = (lists as f64, 0.0);
            for [at, last_at] in places.into_values().rev().map(|counts| counts.map(|count| count as f64)) {
                let both = at * below / all;
                stops.expected += both;
                stops.variance += both * (all - at) / all * (all - below) / (all - 1.0);
                below += last_at;
            }
        }
        stops
    }
}

#[cfg(test)]
#[path = "places/tests.rs"]
mod tests;
