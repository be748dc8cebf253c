//! How often every list has been the leader.
//!
//! Room for the lists is taken once. If there are more, the one that led longest ago is forgotten.

use crate::Error;
use crate::error::MAX_COUNT;
use serde::{Deserialize, Serialize};

/// The number of lists that are remembered.
pub(super) const ROOM: usize = 2048;

/// The lists that have led, how often, and when last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Leaders {
    /// One list after the other.
    lists: Vec<u32>,
    times: Vec<u64>,
    last: Vec<u64>,
    /// The place of the latest leader.
    #[serde(skip)]
    latest: usize,
}

impl Leaders {
    /// Counts that `list` leads in this round, and returns how often it has led before.
    #[inline]
    pub(super) fn count(&mut self, list: &[u32], round: u64) -> u64 {
        if self.lists.get(self.latest * list.len()..(self.latest + 1) * list.len()) != Some(list) {
            self.latest = self.find(list);
        }
        let before = self.times[self.latest];
        self.times[self.latest] += 1;
        self.last[self.latest] = round;
        before
    }

    /// The place of `list`, or one that is made for it.
    fn find(&mut self, list: &[u32]) -> usize {
        let n_lists = self.times.len();
        if let Some(place) = self.lists.chunks_exact(list.len()).position(|other| other == list) {
            return place;
        }
        if n_lists < ROOM {
            self.lists.extend_from_slice(list);
            self.times.push(0);
            self.last.push(0);
            return n_lists;
        }
        let place = (0..ROOM).min_by_key(|&place| self.last[place]).unwrap_or(0);
        self.lists[place * list.len()..][..list.len()].copy_from_slice(list);
        self.times[place] = 0;
        place
    }

    /// Makes room for all lists that are remembered.
    pub(super) fn make_room(&mut self, n_positions: usize) {
        self.lists.reserve_exact(ROOM * n_positions - self.lists.len());
        self.times.reserve_exact(ROOM - self.times.len());
        self.last.reserve_exact(ROOM - self.last.len());
    }

    /// Checks leaders that were saved.
    ///
    /// # Errors
    ///
    /// Wrong lengths, a list with an unknown item or an item twice, or too large a count.
    pub(super) fn check(&self, n_items: usize, n_positions: usize) -> Result<(), Error> {
        let Self { lists, times, last, .. } = self;
        if times.len() > ROOM || last.len() != times.len() || lists.len() != times.len() * n_positions {
            return Err(Error::SavedSizes);
        }
        for list in lists.chunks_exact(n_positions) {
            let is_known =
                |(place, &item): (usize, &u32)| (item as usize) < n_items && !list[..place].contains(&item);
            if !list.iter().enumerate().all(is_known) {
                return Err(Error::SavedLeaders);
            }
        }
        let too_large = times.iter().chain(last).find(|&&count| count > MAX_COUNT);
        too_large.map_or(Ok(()), |&count| Err(Error::TooManyRounds(count)))
    }
}

#[cfg(test)]
mod tests;
