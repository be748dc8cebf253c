//! The places of lists that were clicked: a repeated click counts once, and lists tell whether
//! users stop at clicks.
//!
//! Where users stop, a click below another one is rarer than a click anywhere. With `n_k` lists
//! clicked at position `k`, `m_k` clicked below it, and `N` lists in all, clicks that do not depend
//! on each other have `n_k m_k / N` lists with both, with a hypergeometric variance; users and
//! queries that differ have more (Mantel and Haenszel, *Statistical aspects of the analysis of data
//! from retrospective studies of disease*, 1959). A table has no lists without clicks, so `N` is
//! taken as twenty times those with one: more than there are, if one list in twenty is clicked.

use hashbrown::HashSet;
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Lists of a table for each one that is clicked.
const LISTS_OF_A_CLICKED: u64 = 20;
/// Fewer further clicks by this many standard deviations are told: by chance in 1 of 1,000 logs.
const TOLD: f64 = 3.09;

/// Lists and positions that were clicked.
#[derive(Debug, Default)]
pub(super) struct Places {
    clicked: HashSet<(u64, u32), BuildHasherDefault<DefaultHasher>>,
    /// Clicks on a place that was clicked before.
    pub(super) repeated: u64,
}

/// Clicks below another one of their list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stops {
    /// Lists with a click.
    pub clicked: u64,
    /// Lists in all, perhaps more than there are.
    pub lists: u64,
    /// Clicks with a click below them.
    pub further: u64,
    /// Those that are expected if users do not stop.
    pub expected: f64,
    /// The standard deviation of their number.
    pub deviation: f64,
}

impl Stops {
    /// Whether users stop at clicks, with a probability of a false alarm of .001.
    pub fn is_told(&self) -> bool {
        self.further as f64 - self.expected < -TOLD * self.deviation
    }
}

impl Places {
    /// Whether a place was not clicked before.
    pub(super) fn is_first(&mut self, list: u64, position: u32) -> bool {
        let is_first = self.clicked.insert((list, position));
        self.repeated += u64::from(!is_first);
        is_first
    }

    /// `None` if no list is known. `lists`: those of a log that has them.
    pub(super) fn stops(&self, lists: Option<u64>) -> Option<Stops> {
        let mut places: Vec<(u64, u32)> = self.clicked.iter().copied().collect();
        places.sort_unstable();
        // Lists clicked at a position, and last there.
        let mut counts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        let mut clicked = 0;
        for of_list in places.chunk_by(|a, b| a.0 == b.0) {
            clicked += 1;
            for (_, position) in of_list {
                counts.entry(*position).or_default()[0] += 1;
            }
            counts.entry(of_list[of_list.len() - 1].1).or_default()[1] += 1;
        }
        let lists = lists.unwrap_or(LISTS_OF_A_CLICKED * clicked).max(clicked);
        let (all, mut below, mut expected, mut variance) = (lists as f64, 0.0, 0.0, 0.0);
        for [at, last_at] in counts.into_values().rev().map(|counts| counts.map(|count| count as f64)) {
            let both = at * below / all;
            expected += both;
            variance += both * (all - at) / all * (all - below) / (all - 1.0).max(1.0);
            below += last_at;
        }
        let further = self.clicked.len() as u64 - clicked;
        (clicked > 0).then_some(Stops { clicked, lists, further, expected, deviation: variance.sqrt() })
    }
}
