//! Damage at random: bodies of requests, rows of a store, and snapshots. Whatever they contain,
//! nothing panics, and what is refused is named. `DAMAGE` in the environment is for how many
//! seconds each.

use crate::engine::{Served, act, base, for_users, name, template};
use crate::kills::environment;
use crate::rows::begin_as_older;
use crate::server::Server;
use click_bandits_service::config::{Limits, Template, agree};
use click_bandits_service::engine::{Engine, ItemRow};
use click_bandits_service::event::{Batch, Name, from_bytes, to_bytes};
use click_bandits_service::store::{EmbeddedStore, Events, Queries, Receive, Store, StoreError};
use rand::{Rng, RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The number of a case, said if it fails.
struct Case(u64);

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("case {}", self.0);
        }
    }
}

/// Runs cases, each with a generator of its own, for as long as is asked for, and 60 at least.
fn cases(what: &str, mut run: impl FnMut(&mut Xoshiro256PlusPlus)) {
    let (time, start) = (Duration::from_secs(environment("DAMAGE", 3).into()), Instant::now());
    let mut number = 0;
    while start.elapsed() < time || number < 60 {
        let _case = Case(number);
        run(&mut Xoshiro256PlusPlus::seed_from_u64(number));
        number += 1;
    }
    println!("{number} cases of {what}");
}

/// Bytes with one to three changes.
fn damaged(bytes: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.random_range(1..4) {
        let place = rng.random_range(0..bytes.len().max(1));
        let other = rng.random_range(0..bytes.len().max(1));
        match rng.random_range(0..7) {
            _ if bytes.is_empty() => bytes.push(rng.random()),
            0 => bytes[place] = rng.random(),
            1 => bytes[place] ^= 1 << rng.random_range(0..8),
            2 => bytes[place] = bytes[other],
            3 => bytes.truncate(place),
            4 => _ = bytes.splice(place..place, [0xff; 9]),
            5 => _ = bytes.splice(place..place, *b"1e999"),
            _ => {
                let part = bytes[place.min(other)..place.max(other)].to_vec();
                bytes.extend(part);
            }
        }
    }
    bytes
}

#[test]
fn damaged_bodies_are_answered() {
    let config = "items = [{ item = 'a', features = [1] }, { item = 'b', features = [2] }]\n[policy]\n\
        users = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3\nsegments = ['de']\nfeatures = ['age']\n\
        item-features = ['price']";
    let server = Server::start_with(config, &[]);
    let bodies = [
        ("/v1/decide", r#"{"id": "7", "query": "q", "only": ["a", "b"], "positions": 2, "user": "u"}"#),
        ("/v1/decide", r#"{"id": "8", "except": ["a"], "context": {"segment": "de", "features": [3.5]}}"#),
        ("/v1/show", r#"{"id": "9", "items": ["b", "a"], "query": "q"}"#),
        ("/v1/clicks", r#"{"id": "7", "clicks": [1, 2], "close": true}"#),
        ("/v1/clicks", r#"{"id": "9", "items": ["a"], "seen": 2}"#),
        ("/v1/decide/batch", r#"[{"id": "10"}, {"id": "11", "query": "r"}]"#),
        ("/v1/clicks/batch", r#"[{"id": "10", "clicks": [1]}, {"id": "11", "close": true}]"#),
        ("/v1/items/batch", r#"[{"item": "c", "query": "q", "change": "add", "features": [0.5]}]"#),
        ("/v1/items/batch", r#"[{"item": "b", "change": "retire"}, {"item": "c", "change": "forget"}]"#),
    ];
    cases("bodies", |rng| {
        let (path, body) = bodies[rng.random_range(0..bodies.len())];
        let body = damaged(body.as_bytes(), rng);
        let (status, answer) = server.send("POST", path, "", &body);
        let is_named = ["code", "message", "at"].iter().all(|key| answer["error"][key].is_string());
        let text = String::from_utf8_lossy(&body);
        assert!(
            status == 200 || (400..500).contains(&status) && is_named,
            "{path} {text}: {status} {answer}"
        );
    });
    assert_eq!(server.get("/readyz").0, 200, "{}", server.log());
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

/// A store in memory, of which anything can be changed.
#[derive(Debug, Default)]
struct Memory {
    rows: Mutex<BTreeMap<u64, Vec<u8>>>,
    head: Mutex<Option<Vec<u8>>>,
    queries: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Store for Memory {
    fn append(&self, first: u64, batch: &Batch) -> Result<(), StoreError> {
        self.rows.lock().unwrap().insert(first, to_bytes(batch));
        Ok(())
    }

    fn read(&self, from: u64, receive: Receive<'_>) -> Result<(), StoreError> {
        for (&first, bytes) in &*self.rows.lock().unwrap() {
            let batch = from_bytes::<Batch>(bytes).map_err(StoreError::Damaged)?;
            if first + batch.events.len() as u64 > from && receive(first, batch).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn head(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.head.lock().unwrap().clone())
    }

    fn query(&self, name: &str, _: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.queries.lock().unwrap().get(name).cloned())
    }

    fn replace(&self, _: Events, head: &[u8], queries: Queries<'_>) -> Result<(), StoreError> {
        for query in queries {
            let (name, state) = query?;
            self.queries.lock().unwrap().insert(name.to_string(), state);
        }
        *self.head.lock().unwrap() = Some(head.to_vec());
        Ok(())
    }

    fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    fn make_for(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The settings of stores: policies on a table, and one that sees who asks.
fn templates() -> Vec<Arc<Template>> {
    let text = template("").to_text();
    let pbm = text.replace("cascade-ts", "pbm-gibbs").replace("\"cascade\"", "\"pbm\"");
    vec![
        template("window = 4\nkeep = 50"),
        template("propensities = { draws = 5, epsilon = 0.1 }\nprior = 'estimated'"),
        Arc::new(serde_json::from_str(&pbm).unwrap()),
        for_users("keep = 60"),
    ]
}

const QUERIES: usize = 3;

fn queries() -> Vec<Name> {
    (0..QUERIES).map(|n| name(&format!("q{n}"))).collect()
}

/// A store with a history, and perhaps a snapshot.
fn served(directory: &Path, template: &Arc<Template>, has_snapshot: bool) -> (Arc<Memory>, Served) {
    let store = Arc::new(Memory::default());
    let mut served = Served::on(store.clone(), directory, template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(6);
    for n in 0..200 {
        act(&mut served, rng, &queries(), n);
        if n == 150 && has_snapshot {
            served.twin().save(&*store).unwrap();
        }
    }
    (store, served)
}

/// Uses what a store tells; whether it was refused.
fn is_refused(store: &Arc<dyn Store>, directory: &Path, template: &Arc<Template>) -> bool {
    let limits = Limits { queries: 2, ..Limits::default() };
    let mut served = match base(store, template, &limits, directory).recover() {
        Ok(_) => Served::on(store.clone(), directory, template, &limits),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return true;
        }
    };
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(8);
    for n in 300..330 {
        act(&mut served, rng, &queries(), n);
    }
    for query in queries() {
        _ = served.engine.rows(&query, 0, 100);
    }
    _ = served.engine.save(&**store);
    false
}

#[test]
fn damaged_rows_are_refused_or_usable() {
    let directory = tempfile::tempdir().unwrap();
    let histories: Vec<_> = templates()
        .into_iter()
        .map(|template| {
            let rows = served(directory.path(), &template, false).0.rows.lock().unwrap().clone();
            (template, rows)
        })
        .collect();
    let mut refused = [0, 0];
    cases("rows", |rng| {
        let (template, rows) = &histories[rng.random_range(0..histories.len())];
        let mut rows = rows.clone();
        let place = rng.random_range(0..rows.len());
        let row = rows.values_mut().nth(place).unwrap();
        *row = damaged(row, rng);
        let store: Arc<dyn Store> = Arc::new(Memory { rows: rows.into(), ..Memory::default() });
        refused[usize::from(is_refused(&store, directory.path(), template))] += 1;
    });
    assert!(refused[0] > 5 && refused[1] > 5, "{refused:?}");
}

#[test]
fn damaged_snapshots_are_passed_over_or_usable() {
    let directory = tempfile::tempdir().unwrap();
    let histories: Vec<_> = templates()
        .into_iter()
        .map(|template| {
            let store = served(directory.path(), &template, true).0;
            (template, store)
        })
        .collect();
    let mut passed_over = [0, 0];
    cases("snapshots", |rng| {
        let (template, whole) = &histories[rng.random_range(0..histories.len())];
        let copy = Memory {
            rows: whole.rows.lock().unwrap().clone().into(),
            head: whole.head.lock().unwrap().clone().into(),
            queries: whole.queries.lock().unwrap().clone().into(),
        };
        if rng.random() {
            let mut head = copy.head.lock().unwrap();
            *head = head.as_ref().map(|head| damaged(head, rng));
        } else {
            let mut queries = copy.queries.lock().unwrap();
            let state = queries.values_mut().nth(rng.random_range(0..QUERIES)).unwrap();
            *state = damaged(state, rng);
        }
        let store: Arc<dyn Store> = Arc::new(copy);
        // The events tell everything, unless the damage goes unnoticed and does not agree with
        // them.
        let recovered = base(&store, template, &Limits::default(), directory.path()).recover();
        passed_over[usize::from(recovered.is_ok_and(|engine| engine.snapshot == 0))] += 1;
        is_refused(&store, directory.path(), template);
    });
    // Nearly all damage is found by the checksums.
    assert!(passed_over[0] > 0 && passed_over[1] > 5, "{passed_over:?}");
}

pub(crate) const FILES: [&str; 3] = ["events.redb", "snapshot.redb", "events.last"];
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
pub(crate) const STATES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("queries");
pub(crate) const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");

/// A directory with a history of requests, of which a snapshot has the first ones.
pub(crate) fn on_disk(
    directory: &Path,
    template: &Arc<Template>,
    requests: usize,
    of_snapshot: usize,
) -> Served {
    let store = Arc::new(EmbeddedStore::open(directory).unwrap());
    agree(&*store, &mut (**template).clone()).unwrap();
    let mut served = Served::on(store, directory, template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(9);
    for n in 0..requests {
        act(&mut served, rng, &queries(), n);
        if n + 1 == of_snapshot {
            served.twin().save(&*served.store).unwrap();
        }
    }
    served
}

/// The part of a state that clients see: the number of its events, and the items of each query.
pub(crate) type Seen = (u64, Vec<Result<Vec<(usize, ItemRow)>, u16>>);

pub(crate) fn seen(engine: &mut Engine) -> Seen {
    let rows = |query: &Name| engine.rows(query, 0, 100).map_err(|refusal| refusal.status());
    let rows = queries().iter().map(rows).collect();
    (engine.next, rows)
}

/// The state that clients see after a restart on the files of a directory.
pub(crate) fn restarted(directory: &Path, template: &Arc<Template>) -> Result<Seen, StoreError> {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory)?);
    agree(&*store, &mut (**template).clone())?;
    let mut engine = base(&store, template, &Limits::default(), directory).recover()?;
    let found = seen(&mut engine);
    // As the thread that answers does.
    match engine.unreadable.as_deref() {
        Some(fault) => base(&store, template, &Limits::default(), directory)
            .repeat(fault)
            .map(|mut engine| seen(&mut engine)),
        None => Ok(found),
    }
}

#[test]
fn a_flipped_bit_is_right_or_named() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("keep = 300\nprior = [1.0, 9.0]");
    let mut served = on_disk(directory.path(), &template, 1_200, 800);
    let expected = seen(&mut served.engine);
    let files = || FILES.map(|file| std::fs::read(directory.path().join(file)).unwrap());
    let killed = files();
    drop(served);
    let histories = [killed, files()];
    let (mut right, mut named) = (0, 0);
    cases("flipped bits", |rng| {
        let after = rng.random_range(0..2);
        let mut files = histories[after].clone();
        let place = rng.random_range(0..3);
        let file = &mut files[place];
        // A file begins with what tells where the rest is.
        let end = if rng.random_range(0..4) == 0 { file.len().min(512) } else { file.len() };
        let (byte, bit) = (rng.random_range(0..end), rng.random_range(0..8));
        file[byte] ^= 1 << bit;
        let directory = tempfile::tempdir().unwrap();
        for (name, file) in FILES.iter().zip(&files) {
            std::fs::write(directory.path().join(name), file).unwrap();
        }
        let at = format!("{} byte {byte} bit {bit} after a {}", FILES[place], ["kill", "stop"][after]);
        match restarted(directory.path(), &template) {
            Ok(found) => {
                assert_eq!(found, expected, "{at}");
                right += 1;
            }
            Err(error) => {
                assert!(
                    matches!(error, StoreError::Damaged(_) | StoreError::Unavailable(_)),
                    "{at}: {error}"
                );
                named += 1;
            }
        }
    });
    println!("{right} right, {named} named");
}

pub(crate) fn row(file: &Path, table: TableDefinition<'_, &str, &[u8]>, key: &str) -> Vec<u8> {
    let database = Database::open(file).unwrap();
    let table = database.begin_read().unwrap().open_table(table).unwrap();
    table.get(key).unwrap().unwrap().value().to_vec()
}

pub(crate) fn put(file: &Path, table: TableDefinition<'_, &str, &[u8]>, key: &str, row: &[u8]) {
    let transaction = Database::open(file).unwrap().begin_write().unwrap();
    transaction.open_table(table).unwrap().insert(key, row).unwrap();
    transaction.commit().unwrap();
}

/// Each byte of a snapshot's rows, changed, is found; those of an older version are read.
#[test]
fn every_byte_of_a_snapshot_counts() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("keep = 4");
    let mut served = on_disk(directory.path(), &template, 60, 60);
    let expected = seen(&mut served.engine);
    drop(served);
    let file = directory.path().join(FILES[1]);
    for (table, key) in [(META, "head"), (STATES, "q0")] {
        let whole = row(&file, table, key);
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1 << (place % 8);
            put(&file, table, key, &changed);
            let store = EmbeddedStore::open(directory.path()).unwrap();
            let found = if key == "head" { store.head() } else { store.query(key, 0) };
            let is_mark = place >= whole.len() - 4;
            assert!(found.is_err() || is_mark, "{key} {place}");
            drop(store);
            if is_mark || place % 32 == 0 {
                assert_eq!(restarted(directory.path(), &template).unwrap(), expected, "{key} {place}");
            }
        }
        put(&file, table, key, &whole);
    }
}

/// A store of an older version, whose rows have no checksums.
#[test]
fn rows_without_checksums_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("keep = 4");
    begin_as_older(directory.path(), &template);
    let mut served = on_disk(directory.path(), &template, 100, 60);
    let (expected, of_snapshot) = (seen(&mut served.engine), served.twin().snapshot);
    drop(served);
    let [events, snapshot, _] = FILES.map(|file| directory.path().join(file));
    let short = |row: &[u8]| row[..row.len() - 12].to_vec();
    let names = queries().iter().map(|query| (&snapshot, STATES, query.to_string())).collect::<Vec<_>>();
    for (file, table, key) in [(&snapshot, META, "head".to_owned())].into_iter().chain(names) {
        put(file, table, &key, &short(&row(file, table, &key)));
    }
    // Nor do snapshots name their events.
    let transaction = Database::open(&snapshot).unwrap().begin_write().unwrap();
    assert!(transaction.open_table(META).unwrap().remove("last").unwrap().is_some());
    transaction.commit().unwrap();
    {
        let transaction = Database::open(&events).unwrap().begin_write().unwrap();
        {
            let mut table = transaction.open_table(EVENTS).unwrap();
            let rows =
                table.iter().unwrap().map(|row| row.map(|(key, row)| (key.value(), short(row.value()))));
            for (key, row) in rows.collect::<Result<Vec<_>, _>>().unwrap() {
                table.insert(key, row.as_slice()).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
    assert_eq!(restarted(directory.path(), &template).unwrap(), expected);
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    let engine = base(&store, &template, &Limits::default(), directory.path()).recover().unwrap();
    assert_eq!(engine.snapshot, of_snapshot);
}

/// redb panics on some damaged files, also when it lets them go: a user is told the file.
#[test]
fn a_damaged_file_is_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("");
    drop(on_disk(directory.path(), &template, 900, 500));
    let files = FILES.map(|file| std::fs::read(directory.path().join(file)).unwrap());
    let (mut right, mut named) = (0, 0);
    cases("damaged files", |rng| {
        let mut files = files.clone();
        let file = &mut files[rng.random_range(0..2)];
        for _ in 0..rng.random_range(1..4) {
            let from = rng.random_range(0..file.len());
            let to = file.len().min(from + (1 << rng.random_range(0..14)));
            match rng.random_range(0..4) {
                0 => file[from..to].fill(rng.random()),
                1 => rng.fill(&mut file[from..to]),
                2 => {
                    let there = rng.random_range(0..=file.len() - (to - from));
                    file.copy_within(from..to, there);
                }
                _ => file.truncate(from.max(1)),
            }
        }
        let directory = tempfile::tempdir().unwrap();
        for (name, file) in FILES.iter().zip(&files) {
            std::fs::write(directory.path().join(name), file).unwrap();
        }
        match restarted(directory.path(), &template) {
            Ok(_) => right += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                named += 1;
            }
        }
    });
    println!("{right} right, {named} named");
}

/// Events that a snapshot has, and the store no more, are missed.
#[test]
fn a_store_that_lost_its_last_events_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("");
    drop(on_disk(directory.path(), &template, 60, 60));
    {
        let transaction = Database::open(directory.path().join(FILES[0])).unwrap().begin_write().unwrap();
        transaction.open_table(EVENTS).unwrap().pop_last().unwrap();
        transaction.commit().unwrap();
    }
    let error = restarted(directory.path(), &template).unwrap_err().to_string();
    assert!(error.contains("has lost event ") && error.contains("events.last"), "{error}");
    std::fs::remove_file(directory.path().join(FILES[2])).unwrap();
    let error = restarted(directory.path(), &template).unwrap_err().to_string();
    assert!(error.starts_with("the store is damaged: it has a snapshot of "), "{error}");
}
