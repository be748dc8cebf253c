//! Events and snapshots in two files of a directory, by redb.

use super::{Store, StoreError};
use crate::event::{Batch, Name};
use crate::metrics::log;
use redb::{Database, DatabaseError, ReadableDatabase as _, TableDefinition};
use serde_json::json;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Batches by the number of their first event.
const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");
const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// States of queries by name.
const QUERIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("queries");

/// A file that is opened again after a failure, for which redb asks.
struct File {
    path: PathBuf,
    open: Mutex<Option<Arc<Database>>>,
}

impl File {
    fn new(path: PathBuf) -> Result<Self, StoreError> {
        let file = Self { path, open: Mutex::new(None) };
        file.database()?;
        Ok(file)
    }

    fn database(&self) -> Result<Arc<Database>, StoreError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &*open {
            return Ok(database.clone());
        }
        let created = self.guarded(|| Ok(Database::create(&self.path)))?;
        let database = Arc::new(created.map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => StoreError::InUse(self.path.display().to_string()),
            DatabaseError::UpgradeRequired(version) => {
                StoreError::Damaged(format!("{} has format {version} of redb", self.path.display()))
            }
            other => self.fault(&other.into()),
        })?);
        *open = Some(database.clone());
        Ok(database)
    }

    /// Runs work on the open file; after a failure, the file is opened anew next time.
    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T, redb::Error>) -> Result<T, StoreError> {
        let database = self.database()?;
        let outcome = self.guarded(|| work(&database).map_err(|error| self.fault(&error)));
        outcome.inspect_err(|_| *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None)
    }

    /// redb panics on some damaged files.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let outcome = panic::catch_unwind(AssertUnwindSafe(work));
        outcome.unwrap_or_else(|_| Err(StoreError::Damaged(format!("{}: damaged", self.path.display()))))
    }

    fn fault(&self, error: &redb::Error) -> StoreError {
        let text = format!("{}: {error}", self.path.display());
        match error {
            redb::Error::Corrupted(_)
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TypeDefinitionChanged { .. } => StoreError::Damaged(text),
            // A file that is no database, as redb reports it.
            redb::Error::Io(io) if io.kind() == std::io::ErrorKind::InvalidData => StoreError::Damaged(text),
            _ => StoreError::Unavailable(text),
        }
    }

    fn get(&self, table: TableDefinition<'_, &str, &[u8]>, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|database| {
            let table = match database.begin_read()?.open_table(table) {
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                table => table?,
            };
            Ok(table.get(key)?.map(|value| value.value().to_vec()))
        })
    }
}

/// The store of a single server: a directory.
pub struct Embedded {
    events: File,
    /// Apart from the events, since a file has one writer at a time, and events do not wait.
    snapshots: File,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").field("events", &self.events.path).finish_non_exhaustive()
    }
}

impl Embedded {
    /// Opens the store of a directory, which is created if it is not there.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(directory)
            .map_err(|error| StoreError::Unavailable(format!("{}: {error}", directory.display())))?;
        let events = File::new(directory.join("events.redb"))?;
        let path = directory.join("snapshot.redb");
        let snapshots = File::new(path.clone()).or_else(|error| match of_snapshot(error) {
            StoreError::Snapshot(what) => {
                log("error", "snapshot-unreadable", json!({ "error": what }));
                let aside = path.with_extension("unreadable");
                std::fs::rename(&path, aside).map_err(|error| StoreError::Unavailable(error.to_string()))?;
                File::new(path)
            }
            other => Err(other),
        })?;
        let is_without_events = events.get(META, "settings")?.is_none();
        if is_without_events && matches!(snapshots.get(META, "head"), Ok(Some(_))) {
            let what = "has no events, but the snapshot beside it was made from some";
            return Err(StoreError::Damaged(format!("{}: {what}", events.path.display())));
        }
        Ok(Self { events, snapshots })
    }
}

/// Damage to the file of the snapshot is no damage to the events.
fn of_snapshot(error: StoreError) -> StoreError {
    if let StoreError::Damaged(what) = error { StoreError::Snapshot(what) } else { error }
}

impl Store for Embedded {
    fn append(&self, first: u64, batch: &Batch) -> Result<(), StoreError> {
        let bytes = batch.to_bytes();
        self.events.with(|database| {
            let transaction = database.begin_write()?;
            let is_new = transaction.open_table(EVENTS)?.insert(first, bytes.as_slice())?.is_none();
            if is_new {
                transaction.commit()?;
            } else {
                // It was kept although the commit failed.
                transaction.abort()?;
            }
            Ok(())
        })
    }

    fn read(
        &self,
        from: u64,
        receive: &mut dyn FnMut(u64, Batch) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut damage = None;
        self.events.with(|database| {
            let table = match database.begin_read()?.open_table(EVENTS) {
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(()),
                table => table?,
            };
            // The batch that contains the event may begin before it.
            let first = table.range(..=from)?.next_back().transpose()?.map_or(from, |(key, _)| key.value());
            for row in table.range(first..)? {
                let (first, bytes) = row?;
                let first = first.value();
                match Batch::from_bytes(bytes.value()) {
                    Ok(batch) if first + (batch.events.len() as u64) <= from => {}
                    Ok(batch) => {
                        if receive(first, batch).is_break() {
                            break;
                        }
                    }
                    Err(what) => {
                        damage =
                            Some(StoreError::Damaged(format!("the events from number {first} on: {what}")));
                        break;
                    }
                }
            }
            Ok(())
        })?;
        damage.map_or(Ok(()), Err)
    }

    fn head(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.snapshots.get(META, "head").map_err(of_snapshot)
    }

    fn query(&self, name: &str, _next: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.snapshots.get(QUERIES, name).map_err(of_snapshot)
    }

    fn replace(
        &self,
        _next: u64,
        head: &[u8],
        queries: &mut dyn Iterator<Item = Result<(Name, Vec<u8>), StoreError>>,
    ) -> Result<(), StoreError> {
        let mut fault = None;
        self.snapshots.with(|database| {
            let transaction = database.begin_write()?;
            {
                let mut table = transaction.open_table(QUERIES)?;
                for query in queries {
                    match query {
                        Ok((name, state)) => _ = table.insert(&*name, state.as_slice())?,
                        Err(error) => {
                            fault = Some(error);
                            return Ok(());
                        }
                    }
                }
                transaction.open_table(META)?.insert("head", head)?;
            }
            Ok(transaction.commit()?)
        })?;
        fault.map_or(Ok(()), Err)
    }

    fn settings(&self) -> Result<Option<String>, StoreError> {
        let found = self.events.get(META, "settings")?;
        let text = found.map(String::from_utf8).transpose();
        text.map_err(|_| StoreError::Damaged("its settings are no text".into()))
    }

    fn make_for(&self, settings: &str) -> Result<(), StoreError> {
        self.events.with(|database| {
            let transaction = database.begin_write()?;
            transaction.open_table(META)?.insert("settings", settings.as_bytes())?;
            Ok(transaction.commit()?)
        })
    }
}
