//! Events that wait for a shared store, in a file of the server's own.

use super::embedded::{File, table_of};
use super::{StoreError, opened, sealed};
use crate::event::{Event, from_bytes, to_bytes};
use redb::TableDefinition;
use std::path::Path;

/// Events by the number of the first of each row.
const WAITING: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("waiting");

/// The file, whose events are those of one server.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    /// Opens the file in a directory; `None` if it is neither there nor to be made.
    pub fn open(directory: &Path, is_made: bool) -> Result<Option<Self>, StoreError> {
        let path = directory.join("deferred.redb");
        if is_made || path.exists() { File::new(path, true).map(|file| Some(Self(file))) } else { Ok(None) }
    }

    /// The events, in order.
    pub fn read(&self) -> Result<Vec<Event>, StoreError> {
        let rows = self.0.with(|database| {
            let Some(table) = table_of(database, WAITING)? else { return Ok(vec![]) };
            let rows = table.range(0..)?.map(|row| row.map(|(key, row)| (key.value(), row.value().to_vec())));
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        let events = rows.into_iter().map(|(first, row)| {
            let events = opened(&first.to_le_bytes(), row).and_then(|row| from_bytes::<Vec<Event>>(&row));
            events.map_err(|what| StoreError::Damaged(format!("deferred.redb: event {first}: {what}")))
        });
        Ok(events.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Appends events, the first of which has this number, and returns once they are durable.
    pub fn append(&self, first: u64, events: &[Event]) -> Result<(), StoreError> {
        self.0.with(|database| {
            let transaction = database.begin_write()?;
            if first == 0 {
                // Those before it are in the store, if they could not be let go.
                transaction.delete_table(WAITING)?;
            }
            let row = sealed(&first.to_le_bytes(), to_bytes(&events));
            transaction.open_table(WAITING)?.insert(first, &*row)?;
            Ok(transaction.commit()?)
        })
    }

    /// Lets all events go, which the store has.
    pub fn clear(&self) -> Result<(), StoreError> {
        self.0.with(|database| {
            let transaction = database.begin_write()?;
            transaction.delete_table(WAITING)?;
            Ok(transaction.commit()?)
        })
    }
}
