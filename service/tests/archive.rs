//! Events that end: archived by day and dropped, each once, whatever happens in between; backups.

use crate::damage::{restarted, seen};
use crate::engine::{Served, act, exported, name, template};
use crate::kills::environment;
use crate::postgres::{Database, configured};
use crate::server::{Server, one_item_config};
use click_bandits_service::archive::{DAY, drop_days, read_all, write_days};
use click_bandits_service::clock::now;
use click_bandits_service::config::{Config, Limits, Template, agree};
use click_bandits_service::engine::{Beginning, Engine};
use click_bandits_service::event::{Event, Name};
use click_bandits_service::export::Form;
use click_bandits_service::store::{EmbeddedStore, SharedStore, Store, StoreError};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Numbered = Vec<(u64, u64, Event)>;

/// The events that archives and a store tell together.
fn all_events(store: &dyn Store, archives: &Path) -> Result<Numbered, String> {
    let mut events = vec![];
    let archives = archives.is_dir().then(|| archives.to_owned());
    read_all(store, &Vec::from_iter(archives), &mut |first, batch| {
        let time = batch.time;
        events.extend((first..).zip(batch.events).map(|(number, event)| (number, time, event)));
        ControlFlow::Continue(())
    })?;
    Ok(events)
}

/// Archives the days before a time, as a server does.
fn archive(store: &dyn Store, archives: &Path, before: u64) -> Result<u64, String> {
    write_days(store, archives, before).and_then(|written| drop_days(store, &written))
}

/// A store of the configuration of [`one_item_config`] that is made by a first server.
fn store_of(directory: &Path, text: &str) -> (Arc<dyn Store>, Arc<Template>) {
    std::fs::write(directory.join("config.toml"), text).unwrap();
    let template = Config::parse(text).unwrap().policy;
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(&directory.join("data")).unwrap());
    agree(&*store, &mut template.clone()).unwrap();
    (store, Arc::new(template))
}

fn queries() -> Vec<Name> {
    (0..3).map(|n| name(&format!("q{n}"))).collect()
}

fn size(directory: &Path) -> u64 {
    let files = ["events.redb", "history.redb", "snapshot.redb", "snapshot.older"];
    files.iter().filter_map(|file| std::fs::metadata(directory.join(file)).ok()).map(|file| file.len()).sum()
}

/// Thirty days, at the end of each of which those before the last two are archived. `REQUESTS` in
/// the environment is how many there are a day.
#[test]
fn a_month_of_events_is_bounded() {
    let requests = environment("REQUESTS", 400) as usize;
    let directory = tempfile::tempdir().unwrap();
    let template = template("keep = 300\nkeep-days = 1");
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    agree(&*store, &mut (*template).clone()).unwrap();
    let archives = directory.path().join("archive");
    let mut served = Served::on(store.clone(), directory.path(), &template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut sizes, mut expected) = (vec![], Numbered::new());
    for (n_day, day) in (0..30).enumerate() {
        served.time = (day + 20_000) * DAY;
        for n in 0..requests {
            act(&mut served, rng, &queries(), n_day * requests + n);
        }
        let from = expected.len() as u64;
        let read = store.read(from, &mut |first, batch| {
            let events = (first..).zip(batch.events).map(|(number, event)| (number, batch.time, event));
            expected.extend(events.filter(|(number, ..)| *number >= from));
            ControlFlow::Continue(())
        });
        read.unwrap();
        served.twin().save(&*store).unwrap();
        let first = archive(&*store, &archives, served.time - 2 * DAY).unwrap();
        assert_eq!(first, store.first().unwrap());
        let files = std::fs::read_dir(&archives).unwrap().flatten();
        let days = files.filter(|file| file.path().extension().is_some_and(|of| of == "parquet"));
        assert_eq!(days.count() as u64, day.saturating_sub(2));
        sizes.push(size(directory.path()));
    }
    assert_eq!(all_events(&*store, &archives).unwrap(), expected);
    let first = store.first().unwrap();
    assert!(first > 0 && expected.iter().find(|event| event.0 == first).unwrap().1 / DAY == 20_027);
    // Growth ends with the first days.
    println!("bytes by day: {sizes:?}, {} events", expected.len());
    assert!(sizes[29] <= sizes[5] * 3 / 2, "{sizes:?}");
    let state = seen(&mut served.engine);
    drop((served, store));
    assert_eq!(restarted(directory.path(), &template).unwrap(), state);
    // The first row that is kept continues the last one that was dropped.
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let mut n = 0;
    store
        .read(first, &mut |_, batch| {
            n += batch.events.len() as u64;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(first + n, expected.len() as u64);
    // A file that is missing in between is named.
    std::fs::remove_file(archives.join("events-2024-10-10.parquet")).unwrap();
    let fault = all_events(&store, &archives).unwrap_err();
    assert!(
        fault.contains("the events from number") && fault.contains("are missing in the archives"),
        "{fault}"
    );
}

/// A snapshot that cannot be read leaves the copy beside it; without both, that is said.
#[test]
fn a_store_without_its_first_events_has_two_snapshots() {
    let directory = tempfile::tempdir().unwrap();
    let template = template("keep = 300");
    let mut served = crate::damage::on_disk(directory.path(), &template, 600, 500);
    served.time += 4 * DAY;
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(4);
    for n in 600..700 {
        act(&mut served, rng, &queries(), n);
    }
    served.twin().save(&*served.store).unwrap();
    let beginning = Beginning::of(&*served.store).unwrap();
    let first = archive(&*served.store, &directory.path().join("archive"), served.time - DAY).unwrap();
    assert!(first > 0);
    assert_eq!(Beginning::of(&*served.store).unwrap(), beginning);
    for n in 700..800 {
        act(&mut served, rng, &queries(), n);
    }
    served.twin().save(&*served.store).unwrap();
    let state = seen(&mut served.engine);
    drop(served);
    let damage = |file: &str| {
        let path = directory.path().join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        let end = bytes.len();
        bytes[..end].fill(7);
        std::fs::write(&path, bytes).unwrap();
    };
    damage("snapshot.redb");
    assert_eq!(restarted(directory.path(), &template).unwrap(), state);
    // The next snapshot has all queries again.
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    let served = Served::on(store, directory.path(), &template, &Limits::default());
    served.twin().save(&*served.store).unwrap();
    drop(served);
    damage("snapshot.older");
    assert_eq!(restarted(directory.path(), &template).unwrap(), state);
    damage("snapshot.redb");
    let error = restarted(directory.path(), &template).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged(what) if what.contains("are archived")), "{error}");
}

/// A store with days that are over, and its events.
fn old_store(directory: &Path, text: &str, days: u64) -> Numbered {
    let (store, template) = store_of(directory, text);
    let mut served = Served::on(store.clone(), directory, &template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(5);
    for (n_day, day) in (0..days).enumerate() {
        served.time = now() - (days + 1 - day) * DAY;
        for n in 0..300 {
            act(&mut served, rng, &queries(), n_day * 300 + n);
        }
    }
    all_events(&*store, Path::new("none")).unwrap()
}

/// Waits for the thread of archives, whose priority is low.
fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(3), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Kills between writing, renaming and dropping; `KILLS` in the environment is how many.
#[test]
fn kills_while_days_are_archived_keep_each_event_once() {
    let kills = environment("KILLS", 12);
    let directory = tempfile::tempdir().unwrap();
    let text = one_item_config("[limits]\nretain-days = 1");
    let expected = old_store(directory.path(), &text, 12);
    let archives = directory.path().join("data/archive");
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(6);
    let data = directory.path().join("data");
    let files = std::fs::read_dir(&data).unwrap().map(|file| file.unwrap().path());
    let whole: Vec<_> = files.map(|path| (std::fs::read(&path).unwrap(), path)).collect();
    for kill in 0..kills {
        if kill % 2 == 0 {
            // From the beginning; the others go on where the last one was killed.
            std::fs::remove_dir_all(&data).unwrap();
            std::fs::create_dir(&data).unwrap();
            for (bytes, path) in &whole {
                std::fs::write(path, bytes).unwrap();
            }
        }
        let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        wait("begun", || archives.is_dir());
        std::thread::sleep(Duration::from_millis(rng.random_range(0..300)));
        server.stop("-KILL");
        let store = EmbeddedStore::open(&data).unwrap();
        let found = all_events(&store, &archives).unwrap();
        assert!(found.starts_with(&expected));
        let files = std::fs::read_dir(&archives).map_or(0, Iterator::count);
        println!("killed with {files} files, the first event that is kept is {}", store.first().unwrap());
    }
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let metric = |name: &str| {
        let text = server.get("/metrics").1;
        let line = text.as_str().unwrap().lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        line.split(' ').next_back().unwrap().parse::<u64>().unwrap()
    };
    wait("archived", || metric("clickbandits_first_event") > 0);
    let first = metric("clickbandits_first_event");
    let (status, refusal) = server.get(&format!("/v1/log?from={}", first - 1));
    assert_eq!((status, &refusal["error"]["code"]), (410, &json!("archived")));
    assert!(refusal["error"]["message"].as_str().unwrap().ends_with(&format!("has number {first}")));
    assert_eq!(server.get(&format!("/v1/log?from={first}&limit=1")).0, 200);
    server.stop("-TERM");
    let store = EmbeddedStore::open(&data).unwrap();
    assert!(all_events(&store, &archives).unwrap().starts_with(&expected));
    drop(store);
    // The export has the decisions of before.
    let rows = |archives: &[PathBuf]| {
        let out = directory.path().join("out");
        exported(&data, archives, &out, Form::Csv);
        std::fs::read_to_string(out.join("decisions.csv")).unwrap()
    };
    let (whole, kept) = (rows(&[archives.clone(), archives]), rows(&[]));
    assert!(whole.lines().count() > 1_000 && kept.lines().count() < whole.lines().count() / 4);
    assert!(whole.starts_with("query,session,user,position,item,click,"));
}

#[test]
fn an_archive_that_cannot_be_written_keeps_the_events() {
    let directory = tempfile::tempdir().unwrap();
    let text = one_item_config("archive = 'taken/archive'\n[limits]\nretain-days = 1");
    let expected = old_store(directory.path(), &text, 4);
    std::fs::write(directory.path().join("taken"), "").unwrap();
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let ready = || server.get("/readyz").1.as_str().unwrap_or_default().to_owned();
    wait("said", || ready().contains("events cannot be archived: "));
    assert!(ready().contains("taken/archive: ") && server.get("/readyz").0 == 200);
    assert_eq!(server.post("/v1/decide", &json!({ "id": "new" })).0, 200);
    assert_eq!(server.get("/v1/log?limit=1").0, 200);
    // It is tried again.
    std::fs::remove_file(directory.path().join("taken")).unwrap();
    wait("tried again", || ready() == "ready\n");
    wait("dropped", || server.get("/v1/log?limit=1").0 == 410);
    server.stop("-KILL");
    let store = EmbeddedStore::open(&directory.path().join("data")).unwrap();
    let archives = directory.path().join("taken/archive");
    assert!(all_events(&store, &archives).unwrap().starts_with(&expected));
    // Another day's file in the place of one is not overwritten.
    let day = archives.join("events-2024-10-04.parquet");
    let mut files = std::fs::read_dir(&archives).unwrap().map(|file| file.unwrap().path());
    let first = files.find(|file| file.extension().is_some_and(|of| of == "parquet")).unwrap();
    std::fs::copy(first, &day).unwrap();
    let other = tempfile::tempdir().unwrap();
    let mut another = crate::damage::on_disk(other.path(), &template(""), 100, 0);
    another.time = 20_000 * DAY;
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(4);
    for (n_day, day) in (0..2).enumerate() {
        another.time = (20_000 + day) * DAY;
        act(&mut another, rng, &queries(), 100 + n_day);
        another.commit(|engine, time, events| {
            engine
                .change_item(
                    &name(&format!("of{day}")),
                    None,
                    click_bandits_service::event::Change::Add,
                    &[],
                    events,
                )
                .unwrap();
            assert!(time > 0);
        });
    }
    another.twin().save(&*another.store).unwrap();
    let fault = archive(&*another.store, &archives, 20_001 * DAY).unwrap_err();
    assert!(fault.contains("it has other events of this day"), "{fault}");
    assert_eq!(another.store.first().unwrap(), 0);
}

/// A backup while clients use the server, killed now and then, is a store as it was.
#[test]
fn a_backup_is_a_store_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let text = one_item_config("tokens = 'tokens'\n[limits]\nsnapshot-events = 300");
    std::fs::write(
        directory.path().join("tokens"),
        "shop-shop-shop-shop decide\nboss-boss-boss-boss decide,manage,read\n",
    )
    .unwrap();
    drop(store_of(directory.path(), &text));
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(7);
    let token = |token: &str| format!("authorization: Bearer {token}\r\n");
    let boss = token("boss-boss-boss-boss");
    let mut known = 0;
    for round in 0..environment("KILLS", 12) {
        let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        for n in 0..3 {
            let asks: Vec<Value> = (0..100).map(|m| json!({ "id": format!("{round}-{n}-{m}") })).collect();
            server.send("POST", "/v1/decide/batch", &boss, json!(asks).to_string().as_bytes());
        }
        let process = server.process.id().to_string();
        let after = Duration::from_micros(rng.random_range(100..60_000));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(after);
            Command::new("kill").args(["-KILL", &process]).status().unwrap()
        });
        let body = json!({ "name": format!("b{round}") }).to_string();
        let address = server.address.clone();
        let asked = std::thread::spawn(move || {
            let Ok(mut stream) = std::net::TcpStream::connect(address) else { return };
            let head = format!(
                "POST /v1/backup HTTP/1.1\r\nhost: x\r\nauthorization: Bearer boss-boss-boss-boss\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            _ = stream.write_all(head.as_bytes());
            _ = stream.read(&mut [0; 1_000]);
        });
        asked.join().unwrap();
        killer.join().unwrap();
        drop(server);
        let backup = directory.path().join(format!("data/backups/b{round}"));
        if backup.is_dir() {
            known += 1;
            let (mut one, mut other) = (0, 0);
            for (path, end) in [(&backup, &mut one), (&directory.path().join("data"), &mut other)] {
                let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(path).unwrap());
                let template = Arc::new(Config::parse(&text).unwrap().policy);
                *end = Served::on(store, path, &template, &Limits::default()).engine.next;
            }
            assert!(one == other && one >= 300, "{one} {other}");
        }
    }
    println!("{known} backups are whole");
    // A start and a backup remove what a kill left.
    let backups = directory.path().join("data/backups");
    let leave = || std::fs::create_dir_all(backups.join(".killed.part")).unwrap();
    let is_left = || {
        let names = std::fs::read_dir(&backups).unwrap().flatten().map(|of| of.file_name());
        names.into_iter().any(|name| name.to_string_lossy().contains(".part"))
    };
    leave();
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    wait("removed", || !is_left());
    let ask = |head: &str, name: &str| {
        server.send("POST", "/v1/backup", head, json!({ "name": name }).to_string().as_bytes())
    };
    assert_eq!(ask(&token("shop-shop-shop-shop"), "x").0, 403);
    for bad in ["../x", "a/b", ".", "..", "", "/etc"] {
        assert_eq!(ask(&boss, bad).0, 400, "{bad}");
    }
    let (status, written) = ask(&boss, "monday");
    assert_eq!(status, 200, "{written}");
    let (status, again) = ask(&boss, "monday");
    assert_eq!((status, &again["error"]["code"]), (409, &json!("backup_exists")));
    assert!(again["error"]["message"].as_str().unwrap().contains("`monday`"));
    leave();
    assert_eq!(ask(&boss, "tuesday").0, 200);
    assert!(!is_left());
    let read = |server: &Server| server.send("GET", "/v1/log?limit=10000", &boss, b"").1;
    let expected = read(&server);
    server.stop("-KILL");
    // A directory with the backup is a store.
    let elsewhere = tempfile::tempdir().unwrap();
    for file in ["config.toml", "tokens"] {
        std::fs::copy(directory.path().join(file), elsewhere.path().join(file)).unwrap();
    }
    std::fs::rename(directory.path().join("data/backups/monday"), elsewhere.path().join("data")).unwrap();
    let server = Server::start_in(elsewhere.path(), "127.0.0.1:0").unwrap();
    assert_eq!(read(&server), expected);
}

/// A user's name is kept, hashed or left out, from the event of the setting on.
#[test]
fn a_backup_that_cannot_be_written_says_where() {
    let server = Server::start_with(&one_item_config("backups = 'config.toml'"), &[]);
    let (status, answer) = server.post("/v1/backup", &json!({ "name": "monday" }));
    let said = answer["error"]["message"].as_str().unwrap();
    assert_eq!((status, &answer["error"]["code"]), (503, &json!("no_backup")), "{answer}");
    assert!(said.contains("/config.toml: "), "{said}");
}

/// A store, its backup of the middle and its archives of then and later; and the backup, which goes
/// on otherwise, with archives of its own.
#[test]
fn archives_of_two_histories_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let template = template("");
    let days = |served: &mut Served, who: &str, days: std::ops::Range<u64>| {
        for day in days {
            served.time = day * DAY + 5;
            for n in 0..40 {
                served.commit(|engine, time, events| {
                    let ask = json!({ "id": format!("{who}-{day}-{n}") });
                    engine.decide(crate::engine::body(ask), time, events).unwrap();
                });
            }
        }
    };
    let mut one = Served::new(&at("one"), &template, &Limits::default());
    one.store.make_for(&template.to_text()).unwrap();
    days(&mut one, "both", 10..13);
    std::fs::create_dir(at("two")).unwrap();
    one.store.back_up(&at("two")).unwrap();
    days(&mut one, "one", 13..16);
    let mut two = Served::new(&at("two"), &template, &Limits::default());
    days(&mut two, "two", 13..17);
    assert_eq!(all_events(&*two.store, &at("none")).unwrap().len() as u64, two.engine.next);
    // The store continues the archives of its own history only.
    one.twin().save(&*one.store).unwrap();
    archive(&*one.store, &at("of-one"), 15 * DAY).unwrap();
    let before = all_events(&*one.store, &at("of-one")).unwrap().len() as u64;
    assert_eq!(before, one.engine.next);
    let error = all_events(&*two.store, &at("of-one")).unwrap_err();
    assert!(error.starts_with("the store: event 120 is another one than in "), "{error}");
    assert!(error.contains("events-1970-01-14.parquet"), "{error}");
    // Nor do archives go together; the same ones twice do.
    two.twin().save(&*two.store).unwrap();
    archive(&*two.store, &at("of-two"), 16 * DAY).unwrap();
    let read =
        |places: [&str; 2]| read_all(&*two.store, &places.map(at), &mut |_, _| ControlFlow::Continue(()));
    assert_eq!(read(["of-two", "of-two"]), Ok(0));
    let error = read(["of-two", "of-one"]).unwrap_err();
    let [one, two] =
        ["of-one", "of-two"].map(|of| at(of).join("events-1970-01-14.parquet").display().to_string());
    assert!(error.contains(&one) && error.contains(&two) && error.contains("event 120 "), "{error}");
}

#[test]
fn users_have_names_hashes_or_nothing() {
    let users = |server: &Server| -> Vec<Value> {
        let lines = server.get("/v1/log").1;
        let lines = lines.as_str().unwrap().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter(|line| line["event"] == "decided" || line["event"] == "shown")
            .map(|line| line["user"].clone())
            .collect()
    };
    let directory = tempfile::tempdir().unwrap();
    let write = |names: &str| {
        let text = one_item_config("").replace("positions = 3", &format!("positions = 3\n{names}"));
        std::fs::write(directory.path().join("config.toml"), text).unwrap();
    };
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
        command.arg(directory.path().join("config.toml")).args(["--listen", "127.0.0.1:0", "--apply"]);
        Server::run(command).unwrap()
    };
    let ask = |server: &Server, id: &str, user: &str| {
        assert_eq!(server.post("/v1/decide", &json!({ "id": id, "user": user })).0, 200);
    };
    write("");
    let server = start();
    ask(&server, "1", "ann");
    server.stop("-TERM");
    write("user-names = 'hash'");
    let server = start();
    for (id, user) in [("2", "ann"), ("3", "bob"), ("4", "ann")] {
        ask(&server, id, user);
    }
    let shown = json!({ "id": "5", "items": ["a"], "user": "bob" });
    assert_eq!(server.post("/v1/show", &shown).0, 200);
    server.stop("-KILL");
    let server = start();
    ask(&server, "6", "ann");
    let found = users(&server);
    assert_eq!(found[0], "ann");
    assert!(found[1] != "ann" && found[1] == found[3] && found[1] == found[5] && found[2] == found[4]);
    assert_ne!(found[1], found[2]);
    server.stop("-TERM");
    write("user-names = 'drop'");
    let server = start();
    ask(&server, "7", "ann");
    assert_eq!(users(&server).last(), Some(&Value::Null));
    assert!(server.log().contains("user-names = \\\"hash\\\", now \\\"drop\\\""), "{}", server.log());
    // Another store has other hashes.
    let other = Server::start_with(
        &one_item_config("").replace("positions = 3", "positions = 3\nuser-names = 'hash'"),
        &[],
    );
    ask(&other, "1", "ann");
    assert_ne!(users(&other)[0], found[1]);
}

/// On a database, events are archived beside turns and a cleaning of the table, and its dump is a
/// store elsewhere.
#[test]
fn a_database_drops_events_beside_turns() {
    let requests = environment("REQUESTS", 200) as usize;
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directory = configured(&database.url(), "[limits]\nretain-days = 1\nsnapshot-events = 500");
    let text = std::fs::read_to_string(directory.path().join("config.toml")).unwrap();
    let template = Arc::new(Config::parse(&text).unwrap().policy);
    let store: Arc<dyn Store> = Arc::new(shared(&database));
    agree(&*store, &mut (*template).clone()).unwrap();
    let mut served = Served::on(store.clone(), directory.path(), &template, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(8);
    for (n_day, day) in (0..6).enumerate() {
        served.time = now() - (7 - day) * DAY;
        for n in 0..requests {
            let next = served.engine.next;
            begin_turn(&mut served.engine, &*store);
            act(&mut served, rng, &queries(), n_day * requests + n);
            if served.engine.next == next {
                store.give_up().unwrap();
            }
        }
    }
    let expected = all_events(&*store, Path::new("none")).unwrap();
    drop((served, store));
    let first = || database.number("select min(number) from click_bandits_events");
    let servers = [(); 2].map(|()| Server::start_in(directory.path(), "127.0.0.1:0").unwrap());
    let turn = |n: usize| {
        let start = Instant::now();
        assert_eq!(servers[0].post("/v1/decide", &json!({ "id": format!("turn{n}") })).0, 200);
        start.elapsed()
    };
    // The last one of the days that are over may stay until another event is in a snapshot.
    let last_day = expected.last().unwrap().1 / DAY;
    let kept = expected.iter().find(|event| event.1 / DAY == last_day).unwrap().0;
    let (mut before, mut beside) = (vec![], vec![]);
    wait("dropped", || {
        let first = first();
        let times = if first == 0 { &mut before } else { &mut beside };
        let n = times.len() + if first == 0 { 0 } else { 100_000 };
        times.extend((n..n + 20).map(turn));
        first >= kept
    });
    let after: Vec<_> = (0..before.len() + beside.len()).map(|n| turn(1_000_000 + n)).collect();
    for (what, mut times) in [("before", before), ("beside deletions", beside), ("after", after)] {
        times.sort_unstable();
        let p99 = times.get(times.len() * 99 / 100);
        println!("{} turns {what}: p99 {p99:?}", times.len());
    }
    // A cleaning goes on while a turn is open, and a turn while the table is locked for a cleaning.
    database.run_sql("vacuum click_bandits_events");
    let first = first();
    for server in &servers {
        assert_eq!(server.get(&format!("/v1/log?from={}", first - 1)).0, 410);
        assert_eq!(server.get(&format!("/v1/log?from={first}")).0, 200);
    }
    let store = shared(&database);
    let archives = directory.path().join("data/archive");
    assert!(all_events(&store, &archives).unwrap().starts_with(&expected));
    // A copy of the database is the same store.
    database.copy_to("elsewhere");
    let text = text.replace("/postgres'", "/elsewhere'");
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("config.toml"), text).unwrap();
    let copy = Server::start_in(elsewhere.path(), "127.0.0.1:0").unwrap();
    let rows = |server: &Server| server.get("/v1/items?query=q0").1;
    assert_eq!(rows(&copy), rows(&servers[0]));
    let (status, refusal) = copy.post("/v1/backup", &json!({ "name": "x" }));
    assert_eq!((status, &refusal["error"]["code"]), (409, &json!("database")));
}

/// A turn waits for no deletion and no cleaning, nor they for a turn.
#[test]
fn a_turn_keeps_no_cleaning_away() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let template = template("");
    let store: Arc<dyn Store> = Arc::new(shared(&database));
    agree(&*store, &mut (*template).clone()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut engine: Engine =
        Served::on(store.clone(), directory.path(), &template, &Limits::default()).engine;
    begin_turn(&mut engine, &*store);
    database.run_sql("set lock_timeout = '2s'; delete from click_bandits_events where number < 0");
    let mut vacuum = database.client();
    vacuum.batch_execute("set lock_timeout = '2s'").unwrap();
    vacuum.batch_execute("vacuum click_bandits_events").unwrap();
    store.give_up().unwrap();
}

fn shared(database: &Database) -> SharedStore {
    let store = SharedStore::new(&database.url(), None).unwrap();
    store.prepare().unwrap();
    store
}

/// Begins a turn with the events of the other servers.
fn begin_turn(engine: &mut click_bandits_service::engine::Engine, store: &dyn Store) {
    let ((next, last), mut batches) = (engine.place(), vec![]);
    let receive = &mut |first, batch| {
        batches.push((first, batch));
        std::ops::ControlFlow::Continue(())
    };
    store.begin(next, last, receive).unwrap();
    engine.take_others(batches).unwrap();
}
