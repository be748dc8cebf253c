//! How often every list has been the leader.
//!
//! Room for the lists is taken once. If there are more, the one that led longest ago is forgotten.

use crate::Error;
use crate::error::MAX_COUNT;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The number of lists that are remembered.
pub(super) const ROOM: usize = 2048;

/// The lists that have led, how often, and when last.
#[derive(Debug, Clone)]
pub(super) struct Leaders {
    /// One list after the other, and zeros in the room left.
    lists: Vec<u32>,
    times: Vec<u64>,
    last: Vec<u64>,
    used: usize,
    /// The place of the latest leader.
    latest: usize,
}

/// The saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedLeaders<'a> {
    lists: Cow<'a, [u32]>,
    times: Cow<'a, [u64]>,
    last: Cow<'a, [u64]>,
}

impl Leaders {
    pub(super) fn new(n_positions: usize) -> Self {
        Self {
            lists: vec![0; ROOM * n_positions],
            times: vec![0; ROOM],
            last: vec![0; ROOM],
            used: 0,
            latest: 0,
        }
    }

    fn list(&self, place: usize) -> &[u32] {
        let n_positions = self.lists.len() / ROOM;
        &self.lists[place * n_positions..][..n_positions]
    }

    /// Counts that `list` leads in this round, and returns how often it has led before.
    #[inline]
    pub(super) fn count(&mut self, list: &[u32], round: u64) -> u64 {
        if self.used == 0 || self.list(self.latest) != list {
            self.latest = self.find(list);
        }
        let before = self.times[self.latest];
        self.times[self.latest] += 1;
        self.last[self.latest] = round;
        before
    }

    /// The place of `list`, or one that is made for it.
    fn find(&mut self, list: &[u32]) -> usize {
        if let Some(place) = (0..self.used).find(|&place| self.list(place) == list) {
            return place;
        }
        let place = if self.used < ROOM {
            self.used += 1;
            self.used - 1
        } else {
            (0..ROOM).min_by_key(|&place| self.last[place]).unwrap_or(0)
        };
        self.lists[place * list.len()..][..list.len()].copy_from_slice(list);
        self.times[place] = 0;
        place
    }

    pub(super) fn to_save(&self) -> SavedLeaders<'_> {
        let n_positions = self.lists.len() / ROOM;
        SavedLeaders {
            lists: self.lists[..self.used * n_positions].into(),
            times: self.times[..self.used].into(),
            last: self.last[..self.used].into(),
        }
    }

    /// The leaders that were saved.
    ///
    /// # Errors
    ///
    /// Wrong lengths, a list with an unknown item or an item twice, or too large a count.
    pub(super) fn restore(
        saved: &SavedLeaders<'_>,
        n_items: usize,
        n_positions: usize,
    ) -> Result<Self, Error> {
        let SavedLeaders { lists, times, last } = saved;
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
        if let Some(&count) = times.iter().chain(&**last).find(|&&count| count > MAX_COUNT) {
            return Err(Error::TooManyRounds(count));
        }
        let mut leaders = Self::new(n_positions);
        leaders.used = times.len();
        leaders.lists[..lists.len()].copy_from_slice(lists);
        leaders.times[..times.len()].copy_from_slice(times);
        leaders.last[..last.len()].copy_from_slice(last);
        Ok(leaders)
    }
}

#[cfg(test)]
mod tests;
