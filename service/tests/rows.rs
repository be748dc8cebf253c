//! The form of rows: small in new stores, and as older programs read them in theirs.

use crate::damage::{EVENTS, FILES, META, on_disk, put, restarted, row, seen};
use crate::engine::{Served, name, template};
use click_bandits_service::config::{Limits, Template};
use click_bandits_service::event::{AllowedItems, Batch, Choice, Context, Decision, Event, from_bytes};
use click_bandits_service::store::{EmbeddedStore, NEWER, Store, StoreError, opened};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use redb::{Database, ReadableDatabase as _, ReadableTable as _};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Begins a store of an older version, which this one keeps as that version reads it.
pub(crate) fn begin_as_older(directory: &Path, template: &Template) {
    drop(Database::create(directory.join(FILES[0])).unwrap());
    put(&directory.join(FILES[0]), META, "settings", template.to_text().as_bytes());
}

fn rows(events: &Path) -> Vec<(u64, Vec<u8>)> {
    let database = Database::open(events).unwrap();
    let table = database.begin_read().unwrap().open_table(EVENTS).unwrap();
    let rows = table.iter().unwrap().map(|row| row.map(|(key, row)| (key.value(), row.value().to_vec())));
    rows.collect::<Result<_, _>>().unwrap()
}

/// The older version reads what this one adds to its store.
#[test]
fn a_store_of_an_older_version_stays_one() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("keep = 4");
    begin_as_older(directory.path(), &template);
    let mut served = on_disk(directory.path(), &template, 100, 60);
    let expected = seen(&mut served.engine);
    drop(served);
    assert_eq!(restarted(directory.path(), &template).unwrap(), expected);
    let [events, snapshot, _] = FILES.map(|file| directory.path().join(file));
    for (key, row) in rows(&events) {
        let content = opened(&key.to_le_bytes(), row.clone()).unwrap();
        assert!(content.len() < row.len() && from_bytes::<Batch>(&content).is_ok());
    }
    assert_ne!(row(&snapshot, META, "head")[..10], [0xff; 10]);
    assert!(!String::from_utf8_lossy(&row(&events, META, "settings")).contains(NEWER));
}

/// A row has what is known of the requests, beside a head that older programs read.
#[test]
fn an_older_store_knows_its_requests_by_a_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("");
    begin_as_older(directory.path(), &template);
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    let mut served = Served::on(store.clone(), directory.path(), &template, &Limits::default());
    let ask = |positions: u8| {
        serde_json::from_value(json!({ "id": "d", "only": ["x"], "positions": positions })).unwrap()
    };
    served.commit(|engine, time, events| engine.decide(ask(1), time, events).unwrap());
    served.engine.save(&*store).unwrap();
    let mut twin = served.twin();
    assert_eq!(twin.snapshot, twin.next);
    let answer = twin.decide(ask(1), 1, &mut vec![]).unwrap();
    assert_eq!(serde_json::to_value(answer).unwrap()["unknown"], json!(["x"]));
    assert!(twin.decide(ask(2), 1, &mut vec![]).is_err());
}

/// Older programs compare settings by key, and name those that differ.
#[test]
fn an_older_program_is_told_of_a_newer_store() {
    let directory = tempfile::tempdir().unwrap();
    drop(on_disk(directory.path(), &template("keep = 4"), 10, 0));
    let settings = row(&directory.path().join(FILES[0]), META, "settings");
    assert!(String::from_utf8_lossy(&settings).contains("\"written by a newer version\":3"));
    let newer = String::from_utf8_lossy(&settings[..settings.len() - 12]).replace(":3", ":4");
    put(&directory.path().join(FILES[0]), META, "settings", newer.as_bytes());
    let fault = restarted(directory.path(), &template("keep = 4")).unwrap_err();
    assert!(matches!(&fault, StoreError::OtherSettings(what) if what.contains(NEWER)), "{fault}");
}

fn used(time: u64, query: &str) -> Batch {
    Batch { time, events: vec![Event::Used { query: name(query) }] }
}

/// A row that was written in its place, but after another row than the one before it.
#[test]
fn a_row_that_does_not_continue_the_one_before_it_is_damage() {
    let stores = [1, 2].map(|time| {
        let directory = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(directory.path()).unwrap();
        store.make_for("{}").unwrap();
        for (number, batch) in (0..).zip([used(time, "a"), used(3, "b"), used(4, "c")]) {
            store.append(number, &batch).unwrap();
        }
        directory
    });
    let events = stores.each_ref().map(|directory| directory.path().join(FILES[0]));
    let [mut first, second] = events.each_ref().map(|events| rows(events));
    assert_eq!(first.len(), 3);
    assert!(first.iter().zip(&second).all(|(one, other)| one.0 == other.0 && one.1 != other.1));
    first[1] = second[1].clone();
    let transaction = Database::open(&events[0]).unwrap().begin_write().unwrap();
    transaction.open_table(EVENTS).unwrap().insert(1, second[1].1.as_slice()).unwrap();
    transaction.commit().unwrap();
    // The row after it is read when the store is opened.
    let fault = EmbeddedStore::open(stores[0].path()).unwrap_err();
    assert!(matches!(&fault, StoreError::Damaged(what) if what.contains("number 2")), "{fault}");
    std::fs::remove_file(stores[0].path().join(FILES[2])).unwrap();
    let store = EmbeddedStore::open(stores[0].path()).unwrap();
    for (from, damaged) in [(0, "number 1"), (1, "number 1"), (2, "number 2")] {
        let fault = store.read(from, &mut |_, _| ControlFlow::Continue(())).unwrap_err();
        assert!(matches!(&fault, StoreError::Damaged(what) if what.contains(damaged)), "{fault}");
    }
}

/// A pair of a decision and a click, with names as sites have them, takes at most 150 bytes.
#[test]
fn pairs_are_small() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    store.make_for("{}").unwrap();
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(5);
    let uuid = |rng: &mut Xoshiro256PlusPlus| name(&uuid::Uuid::from_u128(rng.random()).to_string());
    let (pairs, mut next, mut events) = (20_000, 0, vec![]);
    let mut read = vec![];
    for pair in 0..pairs {
        let item = |n: usize| name(&format!("SKU-{:08}", 1_000 * (pair % 300) + n));
        let id = uuid(rng);
        events.push(Event::Decided(Box::new(Decision {
            id: id.clone(),
            query: name(&format!("running shoes {}", pair % 300)),
            list: (0..10).map(|place| item((pair + 7 * place) % 200)).collect(),
            chosen: Some(Choice { allowed: AllowedItems::All, positions: Some(10), propensities: None }),
            user: Some(uuid(rng)),
            context: Some(Context { segment: Some(name("mobile")), features: vec![0.25, rng.random()] }),
        })));
        events.push(Event::Clicked { id, position: 3 });
        // A commit serves what waits.
        if pair % 4 == 3 {
            let batch = Batch { time: 1_764_000_000_000 + 13 * next, events: std::mem::take(&mut events) };
            store.append(next, &batch).unwrap();
            next += batch.events.len() as u64;
            read.push(batch);
        }
    }
    let mut batches = read.iter();
    let outcome = store.read(0, &mut |_, batch| {
        assert_eq!(Some(&batch), batches.next());
        ControlFlow::Continue(())
    });
    outcome.unwrap();
    assert_eq!(batches.next(), None);
    drop(store);
    let events = directory.path().join(FILES[0]);
    let rows: usize = rows(&events).iter().map(|(_, row)| 8 + row.len()).sum();
    let file = std::fs::metadata(events).unwrap().len();
    println!("{} bytes a pair in rows, {} in the file", rows / pairs, file / pairs as u64);
    assert!(rows / pairs <= 150);
}
