//! Events and snapshots in files of a directory, by redb.
//!
//! Rows before the last snapshot are in a file of their own, which a start does not read: after a
//! kill, redb reads all of a file to which each commit was one sync. Commits to the other files
//! leave what makes that unnecessary.

use super::row::{Last, Sum, checksum};
use super::rows::{Rows, are_small, name_of, small_settings, sum_of_row};
use super::{
    Events, MakeValue, Queries, Receive, ReceiveState, Store, StoreError, of_snapshot, opened, sealed,
};
use crate::event::{Batch, Name, from_bytes, to_bytes};
use crate::lock;
use crate::metrics::log;
use redb::{
    Database, DatabaseError, Durability, Key, ReadOnlyTable, ReadTransaction, ReadableDatabase as _,
    ReadableTable as _, TableDefinition, WriteTransaction,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::io::Read as _;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Batches by the number of their first event.
const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");
/// Names by number, which small rows have in their place.
const NAMES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("names");
const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// States of queries by name.
const QUERIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("queries");

/// The key of a row of `META` that names the first event that is kept, with the checksum of the row
/// before it.
const FIRST: &str = "first";
/// As [`FIRST`], of the first event in the file of the last ones.
const RECENT: &str = "recent";
/// The bytes of rows that go over to the file of earlier events at once: no request waits longer.
const AT_ONCE: usize = 1 << 18;

/// The most bytes of a file in memory: redb would take a gigabyte.
const CACHE: usize = 32 << 20;

/// A file that is opened again after a failure, for which redb asks.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    /// Whether all pages are checked when the file is opened. Rows have checksums, but a key that
    /// is damaged is a row that is not found.
    is_checked: bool,
    open: Mutex<Option<Arc<Database>>>,
}

impl File {
    pub(super) fn new(path: PathBuf, is_checked: bool) -> Result<Self, StoreError> {
        let file = Self::unopened(path, is_checked);
        file.database()?;
        Ok(file)
    }

    /// A file that is opened, or made, when it is used.
    fn unopened(path: PathBuf, is_checked: bool) -> Self {
        Self { path, is_checked, open: Mutex::new(None) }
    }

    fn database(&self) -> Result<Arc<Database>, StoreError> {
        let mut open = lock(&self.open);
        if let Some(database) = &*open {
            return Ok(database.clone());
        }
        let path = self.path.display();
        let fault = |error| match error {
            DatabaseError::DatabaseAlreadyOpen => StoreError::InUse(path.to_string()),
            DatabaseError::UpgradeRequired(version) => {
                StoreError::Damaged(format!("{path} has format {version} of redb"))
            }
            other => self.fault(&other.into()),
        };
        let create = || Database::builder().set_cache_size(CACHE).create(&self.path);
        let mut database = self.guarded(|| create().map_err(fault))?;
        let is_whole = self.guarded(|| Ok(!self.is_checked || database.check_integrity().map_err(fault)?));
        let database = Arc::new(database);
        if !matches!(is_whole, Ok(true)) {
            self.close(database);
            is_whole?;
            return Err(StoreError::Damaged(format!("{path}: some of its pages are damaged")));
        }
        *open = Some(database.clone());
        Ok(database)
    }

    /// Runs work on the open file; after a failure, the file is opened anew next time.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let database = self.database()?;
        let outcome = self.guarded(|| work(&database).map_err(|error| self.fault(&error)));
        if outcome.is_err() {
            self.close(lock(&self.open).take());
        }
        self.close(database);
        outcome
    }

    /// Lets an open file go, which writes to it.
    fn close<T>(&self, database: T) {
        _ = self.guarded(|| {
            drop(database);
            Ok(())
        });
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
        let row = self.with(|database| {
            let Some(table) = table_of(database, table)? else { return Ok(None) };
            Ok(table.get(key)?.map(|row| row.value().to_vec()))
        })?;
        let content = row.map(|row| opened(key.as_bytes(), row)).transpose();
        content.map_err(|what| StoreError::Damaged(format!("{}: `{key}`: {what}", self.path.display())))
    }

    /// Keeps content at a key of the table of settings.
    fn put(&self, key: &str, content: Vec<u8>) -> Result<(), StoreError> {
        self.with(|database| {
            let transaction = database.begin_write()?;
            put(&transaction, key, content)?;
            Ok(transaction.commit()?)
        })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.close(lock(&self.open).take());
    }
}

/// A table to read; `None` if nothing was ever written to it.
pub(super) fn table_of<K: redb::Key + 'static, V: redb::Value + 'static>(
    database: &Database,
    table: TableDefinition<'_, K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>, redb::Error> {
    table_in(&database.begin_read()?, table)
}

fn table_in<K: redb::Key + 'static, V: redb::Value + 'static>(
    transaction: &ReadTransaction,
    table: TableDefinition<'_, K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>, redb::Error> {
    match transaction.open_table(table) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(Some(table?)),
    }
}

/// The row at a key of the table of settings that names an event and the checksum before it.
fn anchor(transaction: &ReadTransaction, key: &str) -> Result<Last, redb::Error> {
    let Some(table) = table_in(transaction, META)? else { return Ok(Last::default()) };
    let Some(row) = table.get(key)? else { return Ok(Last::default()) };
    let content = opened(key.as_bytes(), row.value().to_vec()).and_then(|row| from_bytes(&row));
    content.map_err(|what| redb::Error::Corrupted(format!("`{key}`: {what}")))
}

fn put(transaction: &WriteTransaction, key: &str, content: Vec<u8>) -> Result<(), redb::Error> {
    transaction.open_table(META)?.insert(key, &*sealed(key.as_bytes(), content))?;
    Ok(())
}

/// Copies the tables that a transaction sees into a new file, and compares both.
fn copy(from: &ReadTransaction, path: &Path) -> Result<(), redb::Error> {
    let database = Database::create(path)?;
    let mut to = database.begin_write()?;
    to.set_quick_repair(true);
    let sum = take_tables(from, Some(&to))?;
    to.commit()?;
    drop(database);
    let database = Database::open(path)?;
    if take_tables(&database.begin_read()?, None)? == sum {
        return Ok(());
    }
    Err(redb::Error::Corrupted("the copy is another one than the original".into()))
}

/// A checksum of all tables that a transaction sees, which are also copied if another is given.
fn take_tables(from: &ReadTransaction, to: Option<&WriteTransaction>) -> Result<[u8; 32], redb::Error> {
    fn take<K: Key + 'static>(
        (from, to): (&ReadTransaction, Option<&WriteTransaction>),
        table: TableDefinition<'_, K, &[u8]>,
        sum: &mut Sha256,
    ) -> Result<(), redb::Error> {
        let Some(rows) = table_in(from, table)? else { return Ok(()) };
        let mut to = to.map(|to| to.open_table(table)).transpose()?;
        for row in rows.iter()? {
            let (key, row) = row?;
            sum.update(K::as_bytes(&key.value()));
            sum.update(row.value());
            if let Some(to) = &mut to {
                to.insert(key.value(), row.value())?;
            }
        }
        Ok(())
    }
    let mut sum = Sha256::new();
    take((from, to), EVENTS, &mut sum)?;
    take((from, to), NAMES, &mut sum)?;
    take((from, to), META, &mut sum)?;
    take((from, to), QUERIES, &mut sum)?;
    Ok(sum.finalize().into())
}

/// The store of a single server: a directory.
#[derive(Debug)]
pub struct EmbeddedStore {
    events: File,
    /// The rows before the last snapshot.
    history: File,
    /// Held while events are dropped, and while the files of a copy are opened.
    dropping: Mutex<()>,
    /// Apart from the events, since a file has one writer at a time, and events do not wait.
    snapshots: File,
    /// The number of the event after the last one that was kept. After a kill, redb takes a damaged
    /// last commit for one that was not over, and undoes it. The file is not synced: it may tell
    /// less.
    kept: Mutex<std::fs::File>,
    directory: PathBuf,
    /// How rows of events are read and written.
    rows: Mutex<Rows>,
}

/// The key of the row in that file.
const KEPT: &[u8] = b"kept";

impl EmbeddedStore {
    /// Opens the store of a directory, which is created if it is not there.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(directory).map_err(|error| unavailable(directory, &error))?;
        let events = File::new(directory.join("events.redb"), false)?;
        let path = directory.join("snapshot.redb");
        let snapshots = File::new(path.clone(), true);
        let snapshots = snapshots.and_then(|snapshots| belongs_to(&events, snapshots));
        let snapshots = snapshots.or_else(|error| match of_snapshot(error) {
            StoreError::Snapshot(what) => {
                log("error", "snapshot-unreadable", json!({ "error": what }));
                let aside = path.with_extension("unreadable");
                std::fs::rename(&path, aside).map_err(|error| StoreError::Unavailable(error.to_string()))?;
                File::new(path, true)
            }
            other => Err(other),
        })?;
        let is_without_events = events.get(META, "settings")?.is_none();
        if is_without_events && matches!(snapshots.get(META, "head"), Ok(Some(_))) {
            let what = "has no events, but the snapshot beside it was made from some";
            return Err(StoreError::Damaged(format!("{}: {what}", events.path.display())));
        }
        let rows = rows_of(&events)?;
        let (path, mut kept) = kept_file(directory, rows.are_small)?;
        let (mut row, rows) = (vec![], Mutex::new(rows));
        kept.read_to_end(&mut row).map_err(|error| unavailable(&path, &error))?;
        let (kept, directory) = (Mutex::new(kept), directory.to_owned());
        let history = File::unopened(directory.join("history.redb"), false);
        let store = Self { events, history, dropping: Mutex::new(()), snapshots, kept, directory, rows };
        let next = opened(KEPT, row).ok().and_then(|next| Some(u64::from_le_bytes(next.try_into().ok()?)));
        let Some(last) = next.and_then(|next| next.checked_sub(1)) else { return Ok(store) };
        if store.has(last)? {
            return Ok(store);
        }
        let (events, path) = (store.events.path.display(), path.display());
        let what = format!("{events} has lost event {last}, which was kept; without {path} it is not missed");
        Err(StoreError::Damaged(what))
    }

    /// Hands over the rows of a file with these numbers, the first of which continues the row
    /// before `anchor` if it has its number. Breaks if no more is wanted, or with the damage.
    fn hand_over(
        &self,
        rows: &ReadTransaction,
        numbers: Range<u64>,
        (anchor, sum): Last,
        receive: Receive<'_>,
    ) -> Result<ControlFlow<Option<StoreError>>, redb::Error> {
        let Some(table) = table_in(rows, EVENTS)? else { return Ok(ControlFlow::Continue(())) };
        // The batch that contains the event may begin before it.
        let first = table.range(..=numbers.start)?.next_back().transpose()?;
        let first = first.map_or(numbers.start, |(key, _)| key.value()).max(anchor);
        let before = if first == anchor { None } else { last_before(&table, first, sum_of_row)? };
        let mut before = before.map_or(if first == anchor { sum } else { Sum::default() }, |(_, sum)| sum);
        // The writer does not wait for this thread, which may be one of low priority.
        let names = lock(&self.rows).names();
        for row in table.range(first..numbers.end)? {
            let (first, row) = row?;
            let first = first.value();
            match Rows::batch(&names, &first.to_le_bytes(), row.value().to_vec(), before) {
                Ok((batch, sum)) => {
                    before = sum;
                    let is_wanted = first + (batch.events.len() as u64) > numbers.start;
                    if is_wanted && receive(first, batch).is_break() {
                        return Ok(ControlFlow::Break(None));
                    }
                }
                Err(what) => {
                    let what = format!("the events from number {first} on: {what}");
                    return Ok(ControlFlow::Break(Some(StoreError::Damaged(what))));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Lets the rows before a row that stays go over to the file of earlier events.
    fn put_by_to(&self, end: u64) -> Result<(), StoreError> {
        loop {
            let rows = self.events.with(|database| {
                let Some(table) = table_of(database, EVENTS)? else { return Ok(vec![]) };
                let (mut rows, mut bytes) = (vec![], 0);
                for row in table.range(..end)? {
                    let (number, row) = row?;
                    rows.push((number.value(), row.value().to_vec()));
                    bytes += row.value().len();
                    if bytes > AT_ONCE {
                        break;
                    }
                }
                Ok(rows)
            })?;
            let Some((last, row)) = rows.last() else { return Ok(()) };
            let sum = sum_of_row(&last.to_le_bytes(), row);
            self.history.with(|database| {
                let mut transaction = database.begin_write()?;
                transaction.set_quick_repair(true);
                let mut table = transaction.open_table(EVENTS)?;
                for (number, row) in &rows {
                    table.insert(number, row.as_slice())?;
                }
                drop(table);
                Ok(transaction.commit()?)
            })?;
            self.events.with(|database| {
                let mut transaction = database.begin_write()?;
                // Until the next batch is durable, these rows may be in both files.
                transaction.set_durability(Durability::None)?;
                let mut table = transaction.open_table(EVENTS)?;
                table.retain_in(..=*last, |_, _| false)?;
                let first = table.first()?.map_or(end, |(first, _)| first.value());
                drop(table);
                put(&transaction, RECENT, to_bytes(&(first, sum)))?;
                Ok(transaction.commit()?)
            })?;
        }
    }

    fn older(&self) -> PathBuf {
        self.directory.join("snapshot.older")
    }
}

fn unavailable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("{}: {error}", path.display()))
}

/// The file that tells of the last event. Beside small rows it has another name: older programs
/// read that event before they compare settings, and would call the store damaged.
fn kept_file(directory: &Path, are_small: bool) -> Result<(PathBuf, std::fs::File), StoreError> {
    let path = directory.join(if are_small { "events.last" } else { "events.kept" });
    let mut options = std::fs::File::options();
    let file = options.read(true).write(true).create(true).truncate(false).open(&path);
    file.map_err(|error| unavailable(&path, &error)).map(|file| (path, file))
}

/// The last event before a number; `None` without one.
fn last_event(events: &File, next: u64) -> Result<Option<Last>, StoreError> {
    events.with(|database| {
        let Some(table) = table_of(database, EVENTS)? else { return Ok(None) };
        // As older programs name it, who would take the snapshot for one of another store.
        last_before(&table, next, checksum)
    })
}

fn last_before(
    table: &ReadOnlyTable<u64, &[u8]>,
    next: u64,
    sum: fn(&[u8], &[u8]) -> Sum,
) -> Result<Option<Last>, redb::Error> {
    let row = table.range(..next)?.next_back().transpose()?;
    Ok(row.map(|(first, row)| (first.value(), sum(&first.value().to_le_bytes(), row.value()))))
}

/// How the rows of a file of events are coded, with the names in them.
fn rows_of(events: &File) -> Result<Rows, StoreError> {
    let settings = events.get(META, "settings")?;
    let mut rows = Rows::default();
    rows.are_small = settings.is_some_and(|settings| are_small(&settings));
    let mut damage = None;
    events.with(|database| {
        if let Some(table) = table_of(database, EVENTS)? {
            rows.last = last_before(&table, u64::MAX, sum_of_row)?.map_or(Sum::default(), |(_, sum)| sum);
        }
        let Some(table) = table_of(database, NAMES)? else { return Ok(()) };
        for (expected, row) in (0..).zip(table.range::<u32>(..)?) {
            let (number, row) = row?;
            let name = opened(&number.value().to_le_bytes(), row.value().to_vec());
            match name.and_then(|name| name_of(&name)) {
                Ok(name) if number.value() == expected => rows.add_name(&name),
                Ok(_) => damage = Some(format!("name {expected} is missing")),
                Err(what) => damage = Some(format!("name {expected}: {what}")),
            }
        }
        Ok(())
    })?;
    damage.map_or(Ok(rows), |what| Err(StoreError::Damaged(format!("{}: {what}", events.path.display()))))
}

/// A file of snapshots, if it was made from these events. Snapshots of older versions do not tell.
fn belongs_to(events: &File, snapshots: File) -> Result<File, StoreError> {
    let Some(row) = snapshots.get(META, "last")? else { return Ok(snapshots) };
    let last = from_bytes::<Last>(&row).map_err(StoreError::Damaged)?;
    // A store that has lost its last events is refused later.
    let has_lost = last_event(events, u64::MAX)?.is_none_or(|newest| newest.0 < last.0);
    if has_lost || last_event(events, last.0.saturating_add(1))? == Some(last) {
        return Ok(snapshots);
    }
    Err(StoreError::Damaged(format!("{}: made from other events", snapshots.path.display())))
}

impl Store for EmbeddedStore {
    fn has_small_rows(&self) -> bool {
        lock(&self.rows).are_small
    }

    fn append(&self, first: u64, batch: &Batch) -> Result<(), StoreError> {
        let mut rows = lock(&self.rows);
        let (row, sum) = rows.of_batch(&first.to_le_bytes(), batch);
        let outcome = self.events.with(|database| {
            let transaction = database.begin_write()?;
            let is_new = transaction.open_table(EVENTS)?.insert(first, row.as_slice())?.is_none();
            if !is_new {
                // It was kept although the commit failed.
                return Ok(transaction.abort()?);
            }
            if rows.new_names().next().is_some() {
                let mut names = transaction.open_table(NAMES)?;
                for (number, name) in rows.new_names() {
                    let row = sealed(&number.to_le_bytes(), name.as_bytes().to_vec());
                    names.insert(number, row.as_slice())?;
                }
            }
            Ok(transaction.commit()?)
        });
        outcome.inspect_err(|_| rows.undo())?;
        rows.keep(sum);
        drop(rows);
        let next = first + batch.events.len() as u64;
        let kept = lock(&self.kept);
        _ = kept.write_all_at(&sealed(KEPT, next.to_le_bytes().into()), 0);
        Ok(())
    }

    fn read(&self, from: u64, receive: Receive<'_>) -> Result<(), StoreError> {
        // Rows that go over to the other file meanwhile are still in this one.
        let (rows, first, recent) = self.events.with(|database| {
            let rows = database.begin_read()?;
            let anchors = (anchor(&rows, FIRST)?, anchor(&rows, RECENT)?);
            Ok((rows, anchors.0, anchors.1))
        })?;
        let mut flow = ControlFlow::Continue(());
        if from < recent.0 {
            flow = self
                .history
                .with(|database| self.hand_over(&database.begin_read()?, from..recent.0, first, receive))?;
        }
        if flow.is_continue() {
            let numbers = from.max(recent.0)..u64::MAX;
            flow = self.events.with(|_| self.hand_over(&rows, numbers, recent, receive))?;
        }
        if let ControlFlow::Break(Some(damage)) = flow { Err(damage) } else { Ok(()) }
    }

    fn head(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.snapshots.get(META, "head").map_err(of_snapshot)
    }

    fn query(&self, name: &str, _next: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.snapshots.get(QUERIES, name).map_err(of_snapshot)
    }

    fn replace(&self, (events, _): Events, head: &[u8], queries: Queries<'_>) -> Result<(), StoreError> {
        let last = last_event(&self.events, events.end)?;
        let mut fault = None;
        self.snapshots.with(|database| {
            let mut transaction = database.begin_write()?;
            transaction.set_quick_repair(true);
            {
                let mut table = transaction.open_table(QUERIES)?;
                for query in queries {
                    match query {
                        Ok((name, state)) => {
                            table.insert(&*name, sealed(name.as_bytes(), state).as_slice())?;
                        }
                        Err(error) => {
                            fault = Some(error);
                            return Ok(());
                        }
                    }
                }
            }
            put(&transaction, "head", head.to_vec())?;
            last.map_or(Ok(()), |last| put(&transaction, "last", to_bytes(&last)))?;
            Ok(transaction.commit()?)
        })?;
        fault.map_or(Ok(()), Err)
    }

    fn put_by(&self) -> Result<(), StoreError> {
        let last = self.snapshots.get(META, "last").map_err(of_snapshot)?;
        // An older program finds all events in one file.
        let Some(last) = last.filter(|_| self.has_small_rows()) else { return Ok(()) };
        from_bytes::<Last>(&last).map_err(StoreError::Snapshot).and_then(|last| self.put_by_to(last.0))
    }

    fn size(&self) -> Result<u64, StoreError> {
        let files = [&self.events, &self.history, &self.snapshots];
        Ok(files.iter().filter_map(|file| file.path.metadata().ok()).map(|about| about.len()).sum())
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.events.get(META, key)
    }

    fn make_for(&self, settings: &str) -> Result<(), StoreError> {
        self.events.put("settings", small_settings(settings))?;
        let (_, file) = kept_file(&self.directory, true)?;
        *lock(&self.kept) = file;
        lock(&self.rows).are_small = true;
        match std::fs::remove_file(self.directory.join("events.kept")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(unavailable(&self.directory, &error))
            }
            _ => Ok(()),
        }
    }

    fn first(&self) -> Result<u64, StoreError> {
        self.events.with(|database| Ok(anchor(&database.begin_read()?, FIRST)?.0))
    }

    fn keep_snapshot(&self) -> Result<u64, StoreError> {
        let part = self.directory.join("snapshot.part");
        _ = std::fs::remove_file(&part);
        self.snapshots.with(|database| copy(&database.begin_read()?, &part))?;
        let last = File::new(part.clone(), true)?.get(META, "last")?;
        put_in_place(&part, &self.older()).map_err(|error| unavailable(&part, &error))?;
        let last = last.map_or(Ok(Last::default()), |row| from_bytes::<Last>(&row));
        last.map(|last| last.0).map_err(StoreError::Damaged)
    }

    fn kept_snapshot(&self, receive: ReceiveState<'_>) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.older().is_file() {
            return Ok(None);
        }
        let file = File::new(self.older(), true)?;
        let names = file.with(|database| {
            let Some(table) = table_of(database, QUERIES)? else { return Ok(vec![]) };
            table.iter()?.map(|row| Ok(row?.0.value().to_owned())).collect()
        })?;
        for name in names {
            let state = file.get(QUERIES, &name)?.unwrap_or_default();
            receive(Name::new(&name).map_err(|what| StoreError::Damaged(what.into()))?, state)?;
        }
        file.get(META, "head")
    }

    fn drop_before(&self, next: u64) -> Result<(), StoreError> {
        self.put_by_to(next)?;
        let _dropping = lock(&self.dropping);
        let before = self.history.with(|database| {
            let Some(table) = table_of(database, EVENTS)? else { return Ok(None) };
            last_before(&table, next, sum_of_row)
        })?;
        let Some((_, sum)) = before else { return Ok(()) };
        self.events.put(FIRST, to_bytes(&(next, sum)))?;
        self.history.with(|database| {
            let mut transaction = database.begin_write()?;
            transaction.set_quick_repair(true);
            transaction.open_table(EVENTS)?.retain_in(..next, |_, _| false)?;
            Ok(transaction.commit()?)
        })
    }

    fn back_up(&self, directory: &Path) -> Result<(), StoreError> {
        let read = |file: &File| file.with(|database| Ok(database.begin_read()?));
        let dropping = lock(&self.dropping);
        // In this order events may be newer than the snapshot, and none is missing in between.
        let snapshot = (&self.snapshots, read(&self.snapshots)?);
        let events = (&self.events, read(&self.events)?);
        let has_history = self.history.path.is_file();
        let history = has_history.then(|| Ok((&self.history, read(&self.history)?))).transpose()?;
        drop(dropping);
        for (file, rows) in [Some(snapshot), Some(events), history].into_iter().flatten() {
            let path = directory.join(file.path.file_name().unwrap_or_default());
            file.with(|_| copy(&rows, &path))?;
        }
        Ok(())
    }

    fn once(&self, key: &str, make: MakeValue<'_>) -> Result<Vec<u8>, StoreError> {
        if let Some(value) = self.events.get(META, key)? {
            return Ok(value);
        }
        let value = make()?;
        self.events.put(key, value.clone()).map(|()| value)
    }
}

/// Gives a file that is written its name, durably.
pub(crate) fn put_in_place(part: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::File::open(part)?.sync_all()?;
    std::fs::rename(part, path)?;
    std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
