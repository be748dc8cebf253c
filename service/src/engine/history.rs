//! The events of a store: those that other servers append are taken, those that are lost are
//! missed, and a snapshot stands for those before it.

use super::queries::restored;
use super::{Engine, Most};
use crate::event::{Batch, Name};
use crate::store::{Receive, Store, StoreError, Sum, sum_of_event};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// The server whose events a batch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This server's: policies choose again, and take the list that was shown.
    Own,
    /// Another server's: its lists were shown.
    Other,
}

/// The events of a state, as far as it knows them.
#[derive(Debug)]
pub struct Known {
    sums: BTreeMap<u64, Sum>,
    /// Why a query of the snapshot could not be read, as [`Engine::unreadable`] tells.
    pub unreadable: Option<String>,
}

impl Known {
    /// The events that were taken, and that a store does not have, or not as they were.
    pub fn lost(&self, store: &dyn Store) -> Result<Range<u64>, StoreError> {
        let [first, end] = [self.sums.first_key_value(), self.sums.last_key_value()];
        let mut lost = first.map_or(0, |(first, _)| *first)..end.map_or(0, |(last, _)| last + 1);
        // Those that were archived are not lost.
        lost.start = lost.start.max(store.first()?);
        let outcome = store.read(lost.start, &mut |number, batch| {
            if self.sums.get(&number) != Some(&sum_of_event(number, batch.time, &batch.events[0])) {
                return ControlFlow::Break(());
            }
            lost.start = number + 1;
            ControlFlow::Continue(())
        });
        // After a gap all is lost.
        outcome.or_else(|error| if matches!(error, StoreError::Damaged(_)) { Ok(()) } else { Err(error) })?;
        Ok(lost)
    }
}

/// The most rows whose checksums a server knows, to tell what a database has lost.
const KNOWN_ROWS: usize = 100_000;

impl Engine {
    /// Takes the events of a store that it has not seen.
    pub fn catch_up(&mut self, store: &dyn Store, origin: Origin) -> Result<(), StoreError> {
        // The last event before them tells the time, and has a checksum.
        self.take_all(origin, |next, receive| store.read(next.saturating_sub(1), receive))
    }

    /// The number of the next event, and the checksum of the last one, for
    /// [`begin`](Store::begin).
    pub fn place(&self) -> (u64, Option<Sum>) {
        (self.next, self.last())
    }

    /// Takes the events of other servers, with which a turn begins.
    pub fn take_others(&mut self, batches: Vec<(u64, Batch)>) -> Result<(), StoreError> {
        self.take_all(Origin::Other, |_, receive| {
            _ = batches.into_iter().try_for_each(|(first, batch)| receive(first, batch));
            Ok(())
        })
    }

    fn take_all<T>(
        &mut self,
        origin: Origin,
        read: impl FnOnce(u64, Receive<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Entries that were taken under other limits stay.
        let most = std::mem::replace(&mut self.most, Most::UNLIMITED);
        let mut outcome = Ok(());
        let is_read = read(self.next, &mut |first, batch| {
            outcome = self.take(first, batch, origin);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let outcome = is_read.and_then(|read| outcome.and_then(|()| self.take_later(origin)).map(|()| read));
        self.most = most;
        outcome
    }

    fn take(&mut self, first: u64, batch: Batch, origin: Origin) -> Result<(), StoreError> {
        if first > self.next {
            return Err(StoreError::Damaged(format!("the events from number {} on are missing", self.next)));
        }
        self.keep(first, &batch);
        for (number, event) in (first..).zip(batch.events) {
            if number >= self.next {
                self.apply(event, batch.time, origin)?;
            }
        }
        Ok(())
    }

    /// Notes events that are in the store now.
    pub fn keep(&mut self, first: u64, batch: &Batch) {
        self.time = self.time.max(batch.time);
        for (number, event) in (first..).zip(&batch.events).filter(|_| self.salt.is_some()) {
            self.sums.insert(number, sum_of_event(number, batch.time, event));
            if self.sums.len() > KNOWN_ROWS {
                self.sums.pop_first();
            }
        }
    }

    fn last(&self) -> Option<Sum> {
        self.sums.last_key_value().map(|(_, sum)| *sum)
    }

    /// The events that it knows, which outlives it.
    pub fn known(&self) -> Known {
        Known { sums: self.sums.clone(), unreadable: self.unreadable.clone() }
    }

    /// Makes a snapshot, unless what it would contain cannot be read again: then the last one
    /// stays.
    pub fn save(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        self.take_later(Origin::Other)?;
        let head = self.head(store.has_small_rows())?;
        let of_requests = (!store.has_small_rows())
            .then(|| Ok((Name::of_requests(), self.decisions.save_requests(self.next))));
        let (history, prior) = (&self.history, self.prior);
        let (next, events) = (self.next, (self.snapshot..self.next, self.last()));
        let (queries, swap) = (&self.queries, &mut self.swap);
        let out = swap.names().into_iter().filter(|name| !queries.contains_key(name));
        let out = out.filter_map(|name| match swap.get(&name, next) {
            Ok(state) => state.map(|(state, _)| Ok((name, state))),
            Err(error) => Some(Err(error)),
        });
        let changed = queries.iter().filter(|(_, query)| query.is_changed);
        let changed = changed.map(|(name, query)| Ok((name.clone(), query.save(history.len() - 1))));
        let read_again = changed.chain(out).map(|query| {
            let (name, state) = query?;
            restored(history, prior, &name, &state)?;
            Ok((name, state))
        });
        let dropped = self.dropped.iter().map(|name| Ok((name.clone(), vec![])));
        store.replace(events, &head, &mut read_again.chain(of_requests).chain(dropped))
    }
}
