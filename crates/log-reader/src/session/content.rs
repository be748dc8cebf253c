//! Parts of sessions by their content: the same whatever the order of the log's rows.
//!
//! Each session has a key of its query, its list, its clicks, and the number of equal sessions
//! before it. Equal sessions are alike, so the parts do not depend on which comes first; and they
//! are dealt as others are, neither together nor in turn.

use super::Sessions;
use crate::hold_out::{HoldOut, finalised};
use crate::names::Id;

impl Sessions {
    /// Two parts of each query's sessions, of as many sessions, or one more in the first.
    /// `None` if the order of the log is unknown.
    pub fn dealt(&self) -> Option<[Self; 2]> {
        let of_query = |keys: Vec<u64>| {
            let mut by_key: Vec<usize> = (0..keys.len()).collect();
            by_key.sort_unstable_by_key(|&session| keys[session]);
            let mut is_first = vec![false; keys.len()];
            by_key.into_iter().step_by(2).for_each(|session| is_first[session] = true);
            is_first
        };
        self.split_by_key(0, &of_query)
    }

    /// The sessions without one in `one_in`, at least 2, each drawn with a seed, and these. `None`
    /// if the order of the log is unknown.
    pub fn without_one_in(&self, one_in: u64, seed: u64) -> Option<[Self; 2]> {
        let draw = HoldOut::new(one_in, seed);
        let of_query = |keys: Vec<u64>| keys.into_iter().map(|key| !draw.at(key).takes_one()).collect();
        self.split_by_key(seed, &of_query)
    }

    /// `first` gets the keys of a query's sessions, and says which are in the first part.
    fn split_by_key(&self, seed: u64, first: &dyn Fn(Vec<u64>) -> Vec<bool>) -> Option<[Self; 2]> {
        let (mut last, mut is_first) = (None, Vec::new().into_iter());
        self.split(|query, _| {
            if last.replace(query) != Some(query) {
                is_first = first(self.keys(query, seed)).into_iter();
            }
            is_first.next().unwrap_or_default()
        })
    }

    /// The keys of a query's sessions, in the order of the log.
    fn keys(&self, query: Id, seed: u64) -> Vec<u64> {
        let Some(sessions) = self.query(query) else { return Vec::new() };
        let of_query = finalised(finalised(seed) ^ query.0);
        let mut before = vec![0_u64; sessions.lists().map(|list| list.patterns.len()).sum()];
        sessions
            .order()
            .map(|(placed, _)| {
                let times = &mut before[placed.pattern as usize];
                *times += 1;
                finalised(finalised(of_query ^ u64::from(placed.pattern)) ^ *times)
            })
            .collect()
    }
}
