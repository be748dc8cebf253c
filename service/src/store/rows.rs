//! The form of a store's rows of events: small and chained, or as older versions read them.

use super::coded::Coded;
use super::row::{Sum, chained, checksum, key_of_event, opened, sealed};
use crate::event::{Batch, Event, Name, from_bytes, to_bytes, whole};
use crate::names::Names;
use serde::Serialize;
use std::sync::Arc;

type Settings = serde_json::Map<String, serde_json::Value>;

/// The key in the settings of a store whose rows are small. The programs before it compare
/// settings by key, and so say why they refuse such a store.
pub const NEWER: &str = "written by a newer version";

/// Version of the small form.
pub const SMALL: u8 = 3;

/// The form of the rows of a store, with the names in them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Whether new rows are small. Older programs cannot read them.
    pub(super) are_small: bool,
    names: Names,
    /// The number of names that are in the store.
    stored: usize,
    /// The checksum of the last row; 0 before the first one.
    pub(super) last: Sum,
}

/// A row without its key, or its content, with the checksum that the next row continues.
pub(super) type Summed<T> = (T, Sum);

impl Rows {
    /// Takes the next name of the store.
    pub(super) fn add_name(&mut self, name: &Name) {
        // Names that were not stored have no number yet.
        self.names.truncate(self.stored);
        self.names.intern(name);
        self.stored = self.names.len();
    }

    /// Forgets all names, which are read again.
    pub(super) fn forget_names(&mut self) {
        self.names.truncate(0);
        self.stored = 0;
    }

    /// Number of names that the store is known to have.
    pub(super) fn n_names(&self) -> usize {
        self.stored
    }

    /// Names that are not in the store, with their numbers.
    pub(super) fn new_names(&self) -> impl Iterator<Item = (u32, &Name)> {
        let first = u32::try_from(self.stored).expect("names are fewer than 2^32");
        (first..).zip(self.names.since(self.stored))
    }

    /// Notes that new names and rows up to one with this checksum are in the store.
    pub(super) fn keep(&mut self, sum: Sum) {
        self.stored = self.names.len();
        self.last = sum;
    }

    /// Forgets the names that did not get into the store.
    pub(super) fn undo(&mut self) {
        self.names.truncate(self.stored);
    }

    /// The row of a batch. Those of several batches are chained with [`keep`](Self::keep).
    pub(super) fn of_batch(&mut self, key: &[u8], batch: &Batch) -> Summed<Vec<u8>> {
        if !self.are_small {
            return old(key, batch);
        }
        let events: Vec<Coded> =
            batch.events.iter().map(|event| Coded::new(event, &mut self.names)).collect();
        small(self.last, key, &(batch.time, events))
    }

    /// The rows of events that have one each, from this number on.
    pub(super) fn of_events(&mut self, first: u64, batch: &Batch) -> Vec<Summed<Vec<u8>>> {
        let mut last = self.last;
        let rows = (first..).zip(&batch.events).map(|(number, event)| {
            let key = key_of_event(number, batch.time);
            let row = if self.are_small {
                small(last, &key, &Coded::new(event, &mut self.names))
            } else {
                old(&key, event)
            };
            last = row.1;
            row
        });
        rows.collect()
    }

    /// The names that rows have by number.
    pub(super) fn names(&self) -> Arc<Vec<Name>> {
        self.names.all()
    }

    /// Reads a row of a batch.
    pub(super) fn batch(
        names: &[Name],
        key: &[u8],
        row: Vec<u8>,
        before: Sum,
    ) -> Result<Summed<Batch>, String> {
        let sum = sum_of_row(key, &row);
        let Some(content) = small_content(key, &row, before)? else {
            return Ok((opened(key, row).and_then(|content| from_bytes(&content))?, sum));
        };
        let (time, events): (u64, Vec<Coded>) = whole(content)?;
        let events = events.into_iter().map(|event| event.event(names)).collect::<Result<_, _>>()?;
        Ok((Batch { time, events }, sum))
    }

    /// Reads a row of an event; `None` if a name of it is not known yet.
    pub(super) fn event(
        &mut self,
        key: &[u8],
        row: Vec<u8>,
        before: Option<Sum>,
    ) -> Result<Option<Summed<Event>>, String> {
        let sum = sum_of_row(key, &row);
        let Some(content) = small_content(key, &row, before)? else {
            return Ok(Some((opened(key, row).and_then(|content| from_bytes(&content))?, sum)));
        };
        let coded = Coded::read(content)?;
        self.are_small = true;
        if coded.last_name().is_some_and(|last| last as usize >= self.names.len()) {
            return Ok(None);
        }
        Ok(Some((coded.event(&self.names())?, sum)))
    }
}

/// Settings as a store keeps them whose rows are small: with [`NEWER`] beside them.
pub(super) fn small_settings(settings: &str) -> Vec<u8> {
    let mut settings: Settings = serde_json::from_str(settings).expect("settings are an object");
    settings.insert(NEWER.into(), SMALL.into());
    serde_json::to_vec(&settings).expect("settings are plain data")
}

/// Whether a store with these settings has small rows.
pub(super) fn are_small(settings: &[u8]) -> bool {
    serde_json::from_slice::<Settings>(settings).is_ok_and(|settings| settings.contains_key(NEWER))
}

/// A name in a row of names.
pub(super) fn name_of(text: &[u8]) -> Result<Name, String> {
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    Name::new(text).map_err(str::to_owned)
}

fn is_small(row: &[u8]) -> bool {
    row.first() == Some(&SMALL)
}

/// A row as older versions read it.
fn old(key: &[u8], value: &impl Serialize) -> Summed<Vec<u8>> {
    let row = sealed(key, to_bytes(value));
    let sum = checksum(key, &row);
    (row, sum)
}

fn small(before: Sum, key: &[u8], value: &impl Serialize) -> Summed<Vec<u8>> {
    let mut row = postcard::to_extend(value, vec![SMALL]).expect("events are plain data");
    let sum = chained(before, key, &row);
    row.extend(sum);
    (row, sum)
}

/// The content of a small row, which continues the row before it; `None` if it is of an older form.
fn small_content<'a>(
    key: &[u8],
    row: &'a [u8],
    before: impl Into<Option<Sum>>,
) -> Result<Option<&'a [u8]>, String> {
    let [SMALL, rest @ ..] = row else { return Ok(None) };
    let (content, sum) = rest.split_last_chunk().ok_or("it is too short")?;
    let whole = &row[..=content.len()];
    match before.into() {
        Some(before) if chained(before, key, whole) != *sum => {
            Err("its checksum is not that of its content and of the row before it".into())
        }
        _ => Ok(Some(content)),
    }
}

/// The checksum by which the row after it continues a row.
pub(super) fn sum_of_row(key: &[u8], row: &[u8]) -> Sum {
    match row.split_last_chunk() {
        Some((_, sum)) if is_small(row) => *sum,
        _ => checksum(key, row),
    }
}
