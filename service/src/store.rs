//! Where events and snapshots are kept.

mod coded;
mod embedded;
mod journal;
mod postgres;
mod row;
mod rows;

pub use embedded::EmbeddedStore;
pub(crate) use embedded::put_in_place;
pub use journal::Journal;
pub use postgres::SharedStore;
pub(crate) use row::key_of_event;
pub use row::{Sum, checksum, opened, sealed, sum_of_event};
pub use rows::{NEWER, SMALL};

use crate::event::{Batch, Name};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

/// Why a store did not do what it was asked for.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached or written at the moment, such as a full disk.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Another process has it.
    #[error(
        "another process uses {0}: stop it first; while it serves, POST /v1/backup copies it and GET \
         /v1/log has the events"
    )]
    InUse(String),
    /// It contains what this version cannot read.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Its snapshot contains what this version cannot read; the events still tell everything.
    #[error("the snapshot cannot be read: {0}")]
    Snapshot(String),
    /// It was made for other settings.
    #[error("the store was made for other settings: {0}")]
    OtherSettings(String),
    /// No store can be made for these settings.
    #[error("{0}")]
    Settings(String),
    /// This server is too far behind the others, and begins anew with the last snapshot.
    #[error("this server is behind the last snapshot")]
    Behind,
    /// The database has lost events that this server has taken, as a standby may that is promoted,
    /// or a backup.
    #[error("the database has no event {0}, or another one than this server knows")]
    OtherHistory(u64),
}

/// Damage to a snapshot is no damage to the events.
fn of_snapshot(error: StoreError) -> StoreError {
    if let StoreError::Damaged(what) = error { StoreError::Snapshot(what) } else { error }
}

/// Whether a text is the address of a database, and not a directory.
pub fn is_database(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Opens the store of a configuration: the database that it names, which may not be there yet, or
/// else the directory.
pub fn open(
    url: Option<&str>,
    authorities: Option<&Path>,
    directory: &Path,
) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match url {
        Some(url) => Arc::new(SharedStore::new(url, authorities)?),
        None => Arc::new(EmbeddedStore::open(directory)?),
    })
}

/// Takes batches with the number of the first event of each, as long as it wants more.
pub type Receive<'a> = &'a mut dyn FnMut(u64, Batch) -> ControlFlow<()>;

/// Numbers of events, and the checksum of the last if other servers append as well.
pub type Events = (Range<u64>, Option<Sum>);

/// Takes the states of queries by name.
pub type ReceiveState<'a> = &'a mut dyn FnMut(Name, Vec<u8>) -> Result<(), StoreError>;

/// Makes a value that is kept.
pub type MakeValue<'a> = &'a dyn Fn() -> Result<Vec<u8>, StoreError>;

/// States of queries by name.
pub type Queries<'a> = &'a mut dyn Iterator<Item = Result<(Name, Vec<u8>), StoreError>>;

/// Events in the order of their commits, numbered from 0, and the last snapshot.
///
/// One thread appends. Others read, and write snapshots, at the same time. If several servers share
/// the store, every turn of that thread begins with the events of the others.
pub trait Store: std::fmt::Debug + Send + Sync {
    /// Whether other servers may append as well.
    fn is_shared(&self) -> bool {
        false
    }

    /// Makes it ready for everything else, once it can be reached.
    fn prepare(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Reads again who may vouch for it.
    fn read_authorities(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether its rows are small, which older programs do not read.
    fn has_small_rows(&self) -> bool {
        false
    }

    /// Begins a turn, in which no other server appends: until `append`, `give_up` or a failure.
    /// Hands over the events of other servers from the event with this number on, as `read` does,
    /// if the event before it still has this checksum. Returns the time by which all servers go.
    fn begin(
        &self,
        _next: u64,
        _last: Option<Sum>,
        _receive: Receive<'_>,
    ) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Tells the store that the turn goes on: others wait only for a second.
    fn stay(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Ends a turn without events.
    fn give_up(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Appends the events of a batch, the first of which has this number, and returns once they are
    /// durable. After [`StoreError::Unavailable`], the same batch may be appended again, whether or
    /// not it was kept the first time, unless the store is shared.
    fn append(&self, first: u64, batch: &Batch) -> Result<(), StoreError>;

    /// Hands over the batches from the event with this number on, with the number of the first
    /// event of each.
    fn read(&self, from: u64, receive: Receive<'_>) -> Result<(), StoreError>;

    /// Whether it has the event with this number.
    fn has(&self, number: u64) -> Result<bool, StoreError> {
        let mut has = false;
        self.read(number, &mut |_, _| {
            has = true;
            ControlFlow::Break(())
        })?;
        Ok(has)
    }

    /// The part of the last snapshot that belongs to no query.
    fn head(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// A query in the last snapshot; if the store is shared, the last one that has no event
    /// from this number on.
    fn query(&self, name: &str, next: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The number of the event after the last snapshot, if other servers make some as well.
    fn last_snapshot(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Replaces the last snapshot, all of it or nothing: `head` is everything but the queries,
    /// `queries` those that changed by these events, since the snapshot before.
    fn replace(&self, events: Events, head: &[u8], queries: Queries<'_>) -> Result<(), StoreError>;

    /// Lets the rows before the last snapshot go where a start does not read them.
    fn put_by(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Its size in bytes.
    fn size(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// The value of a key, beside events and queries.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// The settings that the store was made for, in JSON; none if it is new.
    fn settings(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.get("settings")
    }

    /// Makes a new store one for these settings, or one with small rows of an older one.
    fn make_for(&self, settings: &str) -> Result<(), StoreError>;

    /// The number of the first event that is kept, which is not 0 once some were dropped.
    fn first(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Copies the last snapshot beside it, for the time when that one cannot be read, compares
    /// both, and returns the number before which events may then be dropped.
    fn keep_snapshot(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// The head of that copy, after all its queries; `None` without one.
    fn kept_snapshot(&self, _receive: ReceiveState<'_>) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    /// Drops the events before a number: that of a row, up to which they may be dropped.
    fn drop_before(&self, _next: u64) -> Result<(), StoreError> {
        Ok(())
    }

    /// Writes a copy of the store, as it was at one moment, into an empty directory.
    fn back_up(&self, _directory: &Path) -> Result<(), StoreError> {
        Err(StoreError::Settings("pg_dump makes a copy of a database".into()))
    }

    /// The value of a key, which is made once for all servers and starts.
    fn once(&self, _key: &str, make: MakeValue<'_>) -> Result<Vec<u8>, StoreError> {
        make()
    }
}
