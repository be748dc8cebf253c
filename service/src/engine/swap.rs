//! Queries that are not in memory: in a file that does not outlive the process, or in the snapshot.

use crate::event::Name;
use crate::store::{Store, StoreError, opened, sealed};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

/// Where a query is in the file.
#[derive(Debug, Clone, Copy)]
struct Room {
    at: u64,
    length: usize,
    capacity: usize,
}

/// The queries that were written out; the others are in the snapshot of the store.
pub(crate) struct Swap {
    /// `None` if the snapshot is passed over.
    store: Option<Arc<dyn Store>>,
    file: File,
    end: u64,
    rooms: HashMap<Name, Room>,
}

impl Swap {
    /// Makes the file, and removes its name: it is gone when the process is.
    pub(crate) fn new(store: Option<Arc<dyn Store>>, directory: &Path) -> io::Result<Self> {
        let path = directory.join(format!("swap-{}-{:?}", std::process::id(), std::thread::current().id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(Self { store, file, end: 0, rooms: HashMap::new() })
    }

    pub(crate) fn put(&mut self, query: &Name, state: Vec<u8>) -> io::Result<()> {
        let row = sealed(query.as_bytes(), state);
        let length = row.len();
        let room = match self.rooms.get(query) {
            Some(room) if room.capacity >= length => Room { length, ..*room },
            // Room to grow, so that a query moves seldom.
            _ => Room { at: self.end, length, capacity: length + length / 2 },
        };
        self.file.seek(SeekFrom::Start(room.at))?;
        self.file.write_all(&row)?;
        self.end = self.end.max(room.at + room.capacity as u64);
        self.rooms.insert(query.clone(), room);
        Ok(())
    }

    /// The state of a query before the event with this number, and whether it differs from the
    /// snapshot.
    pub(crate) fn get(&mut self, query: &str, next: u64) -> Result<Option<(Vec<u8>, bool)>, StoreError> {
        let Some(&room) = self.rooms.get(query) else {
            let Some(store) = &self.store else { return Ok(None) };
            return Ok(store.query(query, next)?.map(|state| (state, false)));
        };
        let mut read = || {
            self.file.seek(SeekFrom::Start(room.at))?;
            let mut row = vec![0; room.length];
            self.file.read_exact(&mut row)?;
            io::Result::Ok(row)
        };
        let row = read().map_err(|error| StoreError::Unavailable(format!("the swap file: {error}")))?;
        let state = opened(query.as_bytes(), row);
        let state = state.map_err(|what| StoreError::Snapshot(format!("query `{query}`: {what}")))?;
        Ok(Some((state, true)))
    }

    pub(crate) fn forget(&mut self, query: &str) {
        self.rooms.remove(query);
    }

    pub(crate) fn names(&self) -> Vec<Name> {
        self.rooms.keys().cloned().collect()
    }
}
