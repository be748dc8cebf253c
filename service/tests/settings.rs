//! Settings that change while a store lives.

use crate::engine::{Served, act, base, name, template};
use crate::kills::{Clients, check, environment, table_of_log, table_of_queries};
use crate::replay::saved;
use crate::server::{Server, one_item_config};
use click_bandits_service::api::Refusal;
use click_bandits_service::config::{Config, FirstItem, Limits, Template};
use click_bandits_service::event::{Event, Name};
use click_bandits_service::store::{EmbeddedStore, NEWER, Store};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

fn settings(text: &str) -> Arc<Template> {
    Arc::new(Config::parse(&format!("[policy]\n{text}")).unwrap().policy)
}

fn change(served: &mut Served, template: &Template, items: &[FirstItem]) -> Result<Vec<Event>, Refusal> {
    let store = served.store.clone();
    served.commit(|engine, time, events| {
        let differences = engine.differences(&*store, template, items)?;
        engine.change_settings(&differences, time, events)?;
        assert_eq!(&*engine.template, template);
        Ok(events.clone())
    })
}

const PBM: &str = "users = 'pbm'\npolicy = 'pbm-ts'\npositions = 4\nexamination = [1, 0.8, 0.6, 0.4]\n";
const CASCADE: &str = "users = 'cascade'\npositions = 4\n";

/// Whatever changes, a repetition and a snapshot with room for one query or for all tell the same.
#[test]
fn every_change_is_repeated_at_its_place() {
    let cascade = |text: &str| format!("{CASCADE}policy = 'cascade-ts'\n{text}");
    let pbm = |from: &str, to: &str| PBM.replace(from, to);
    for (old, new) in [
        (cascade("wait = 7"), cascade("wait = 9\nkeep-days = 3\nkeep = 50")),
        (cascade(""), cascade("explore = 0.3")),
        (cascade("keep-retired = 9"), cascade("keep-retired = 2")),
        (cascade(""), cascade("propensities = { draws = 20, epsilon = 0.05 }")),
        (cascade(""), cascade("window = 5")),
        (cascade("window = 9"), cascade("window = 4")),
        (cascade("window = 3"), cascade("")),
        (cascade("prior = [1, 9]"), cascade("prior = [2, 3]")),
        (cascade("prior = [1, 9]"), cascade("prior = 'estimated'")),
        (cascade("prior = 'estimated'"), cascade("")),
        (cascade(""), cascade("").replace("cascade-ts", "cascade-kl-ucb")),
        (cascade(""), cascade("").replace("positions = 4", "positions = 6")),
        (cascade(""), cascade("").replace("positions = 4", "positions = 2")),
        (cascade("segments = ['de']"), cascade("segments = ['de', 'fr']\nfeatures = ['age']")),
        (PBM.to_owned(), pbm("0.8", "0.7")),
        (PBM.to_owned(), pbm("positions = 4", "positions = 2").replace(", 0.6, 0.4", "")),
        (pbm("positions = 4", "positions = 2").replace(", 0.6, 0.4", ""), PBM.to_owned() + "window = 4"),
        (PBM.to_owned(), pbm("pbm-ts", "pbm-kl-ucb")),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (settings(&old), settings(&new));
        let queries: Vec<Name> = (0..8).map(|n| name(&format!("q{n}"))).collect();
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        store.make_for(&first.to_text()).unwrap();
        let limits = |queries| Limits { queries, ..Limits::default() };
        let mut served = Served::on(store.clone(), directory.path(), &first, &limits(1_000));
        // Policies without values take over no store that has some.
        served.has_terms = new.starts_with(CASCADE) && new.contains("cascade-ts") && !new.contains("seg");
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(4);
        for n in 0..600 {
            act(&mut served, rng, &queries, n);
            match n {
                150 | 400 => served.twin().save(&*store).unwrap(),
                // New segments stay.
                350 | 450 if second.segments.len() > 1 => {}
                250 | 450 => assert_eq!(change(&mut served, &second, &[]).unwrap().len(), 1, "{new}"),
                350 => assert_eq!(change(&mut served, &first, &[]).unwrap().len(), 1, "{old}"),
                _ => {}
            }
        }
        let expected = saved(&mut served.engine, &queries);
        let base = |queries| base(&store, &first, &limits(queries), directory.path());
        assert!(saved(&mut base(1_000).repeat("a test").unwrap(), &queries) == expected, "{old} {new}");
        for mut engine in
            [base(1_000).recover(), base(1).recover(), base(1).repeat("a test")].map(Result::unwrap)
        {
            assert_eq!(engine.template, second);
            assert_eq!(engine.totals, served.engine.totals);
            for query in &queries {
                let rows = |engine: &mut click_bandits_service::engine::Engine| {
                    engine.rows(query, 0, 99).map_err(|refusal| refusal.to_json())
                };
                assert_eq!(rows(&mut engine), rows(&mut served.engine), "{old} {new}");
            }
        }
    }
}

/// Counts stay; and a decision that was made before keeps its list, however long.
#[test]
fn nothing_that_was_acknowledged_changes() {
    let directory = tempfile::tempdir().unwrap();
    let first = settings(&format!("{CASCADE}policy = 'cascade-ts'"));
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
    let mut served = Served::on(store, directory.path(), &first, &Limits::default());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(5);
    let query = [name("q")];
    (0..400).for_each(|n| act(&mut served, rng, &query, n));
    let decide = |served: &mut Served| {
        let ask = serde_json::from_value(json!({ "id": "x", "query": "q" })).unwrap();
        let answer = served.commit(|engine, time, events| engine.decide(ask, time, events).unwrap());
        serde_json::to_value(answer).unwrap()
    };
    let (list, rows) = (decide(&mut served), served.engine.rows(&query[0], 0, 99).unwrap());
    assert_eq!(list["items"].as_array().unwrap().len(), 4);
    for other in ["positions = 2", "positions = 6", "positions = 4\nexplore = 1.0\nprior = [1, 5]"] {
        let text = format!("{CASCADE}policy = 'cascade-ts'").replace("positions = 4", other);
        change(&mut served, &settings(&text), &[]).unwrap();
        assert_eq!(
            (decide(&mut served), served.engine.rows(&query[0], 0, 99).unwrap()),
            (list.clone(), rows.clone())
        );
    }
}

#[test]
fn what_cannot_change_is_refused_by_name() {
    let cascade = format!("{CASCADE}policy = 'cascade-ts'\nsegments = ['de']\n");
    let hybrid = cascade.replace("cascade-ts", "hybrid-ts");
    for (old, new, expected) in [
        (cascade.clone(), cascade.clone() + "seed = 3", "policy.seed cannot change: it holds as long"),
        (cascade.clone(), cascade.clone() + "skips = 'at-once'", "policy.skips cannot change"),
        (
            cascade.clone(),
            cascade.replace("'de'", "'fr', 'de'"),
            "policy.segments cannot change: new ones come behind",
        ),
        (cascade.clone(), PBM.to_owned(), "policy.users cannot change"),
        (
            hybrid.clone(),
            hybrid.replace("positions = 4", "positions = 3"),
            "policy.positions cannot change: the policy has learned",
        ),
        (
            hybrid.clone(),
            hybrid.replace("'de'", "'de', 'fr'"),
            "policy.segments cannot change: the policy has learned",
        ),
        (hybrid.clone(), cascade.clone(), "policy.policy cannot change: the policy has learned"),
        (cascade.clone(), hybrid.clone(), "policy.policy cannot change: a policy that sees who asks begins"),
        (
            PBM.to_owned(),
            PBM.replace("positions = 4", "positions = 1").replace(", 0.8, 0.6, 0.4", ""),
            "policy: the counts of the present policy do not tell",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        let mut served = Served::on(store, directory.path(), &settings(&old), &Limits::default());
        let Err(Refusal::Store(refusal)) = change(&mut served, &settings(&new), &[]) else { panic!("{new}") };
        let refusal = refusal.to_string();
        assert!(refusal.contains(expected), "{expected}: {refusal}");
        assert_eq!(served.engine.template, settings(&old));
        assert_eq!(served.engine.next, 0);
    }
}

fn start(directory: &Path, arguments: &[&str]) -> Result<Server, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    command.arg(directory.join("config.toml")).args(["--listen", "127.0.0.1:0"]).args(arguments);
    Server::run(command)
}

/// A log line says what `values = "answers"` forgets. Decisions before propensities were asked for
/// are exported to a file of their own, so that the others can be read as weights.
#[test]
fn values_that_are_forgotten_and_decisions_without_propensities_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let with = |more: &str| {
        let config = one_item_config("").replace("positions = 3", &format!("positions = 3\n{more}"));
        std::fs::write(at("config.toml"), config).unwrap();
    };
    let answered = |server: &Server, id: &str, close: bool| {
        assert_eq!(server.post("/v1/decide", &json!({ "id": id })).0, 200);
        let told = json!({ "id": id, "clicks": [1], "close": close });
        assert_eq!(server.post("/v1/clicks", &told).0, 200);
    };
    with("");
    let server = start(directory.path(), &[]).unwrap();
    assert_eq!(server.send("PUT", "/v1/items/a?value=7", "", b"").0, 200);
    answered(&server, "1", true);
    server.stop("-TERM");
    with("values = 'answers'\npropensities = { draws = 5, epsilon = 0.1 }");
    for (apply, line) in [(&[][..], "are forgotten by --apply"), (&["--apply"], "are forgotten\"")] {
        let server = start(directory.path(), apply).unwrap();
        let line = format!("values: those that were told {line}");
        assert!(server.log().contains(&line), "{}", server.log());
        server.stop("-TERM");
    }
    let server = start(directory.path(), &[]).unwrap();
    assert!(!server.log().contains("forgotten"), "{}", server.log());
    answered(&server, "2", true);
    answered(&server, "3", true);
    let shown = json!({ "id": "shown", "items": ["a", "b", "c"] });
    assert_eq!(server.post("/v1/show", &shown).0, 200);
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "shown", "close": true })).0, 200);
    answered(&server, "open", false);
    server.stop("-TERM");
    let mut export = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    let output = export.arg("export").arg("--store").arg(at("data")).arg("--out").arg(at("out")).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    for part in [
        "6 rows in ",
        "; 6 rows of 2 decisions without propensities in ",
        "; left out 1 decision never closed, with 1 click; to read them:\nclick-bandits fit ",
        "without-propensities.csv --format delimited",
        "decisions.csv --ranking NEW --out ANSWER --format delimited --columns query=query,",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(said.starts_with("`fit` uses no values: it recommends lists for clicks"), "{said}");
    std::fs::write(at("NEW"), "query,position,item\ndefault,1,a\ndefault,2,b\ndefault,3,c\n").unwrap();
    crate::kills::run_printed(&said, directory.path());
    let sessions = |file: &str| {
        let text = std::fs::read_to_string(at("out").join(file)).unwrap();
        let of_row = |row: &str| row.split(',').nth(1).unwrap().to_owned();
        text.lines().skip(1).step_by(3).map(of_row).collect::<Vec<_>>()
    };
    assert_eq!(
        (sessions("decisions.csv"), sessions("without-propensities.csv")),
        (vec!["2".into(), "3".into()], vec!["1".to_owned(), "shown".into()])
    );
}

/// Present items of the query `default`, which sees changes when it is used.
fn present(server: &Server) -> Vec<String> {
    let id = format!("{:?}", std::time::Instant::now());
    assert_eq!(server.post("/v1/decide", &json!({ "id": id })).0, 200);
    let rows = server.get("/v1/items?query=default").1;
    let present = rows["items"].as_array().unwrap().iter().filter(|row| row["state"] != "retired");
    let mut names: Vec<String> = present.map(|row| row["item"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The program: without `--apply` the store's settings hold, after a crash as well.
#[test]
fn a_configuration_is_applied_once_and_holds() {
    let directory = tempfile::tempdir().unwrap();
    let (config, old) = (
        directory.path().join("config.toml"),
        one_item_config("").replace("positions = 3", "positions = 3\nwindow = 50"),
    );
    std::fs::write(&config, &old).unwrap();
    // An older program's store becomes a newer one by this.
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    crate::rows::begin_as_older(&data, &template("window = 50"));
    let server = start(directory.path(), &[]).unwrap();
    let list = server.post("/v1/decide", &json!({ "id": "1" })).1;
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "1", "clicks": [1] })).0, 200);
    assert_eq!(server.send("PUT", "/v1/items/by-request", "", b"").0, 200);
    server.stop("-KILL");
    let of_store = || {
        let events = data.join("events.redb");
        String::from_utf8_lossy(&crate::damage::row(&events, crate::damage::META, "settings")).into_owned()
    };
    assert!(!of_store().contains(NEWER));
    let new = old.replace("'b', 'c'", "'f'").replace("positions = 3", "positions = 2\nwait = 60");
    std::fs::write(&config, &new).unwrap();
    let server = start(directory.path(), &[]).unwrap();
    let log = server.log();
    for line in [
        "positions: the store's 3 holds, the file has 2 (--apply changes it)",
        "wait: the store's 1800 holds",
        "items: `f` is new in the file (--apply adds it)",
        "items: `b` is gone in the file",
    ] {
        assert!(log.contains("settings-differ") && log.contains(line), "{log}");
    }
    assert_eq!(present(&server), ["a", "b", "by-request", "c", "d", "e"]);
    server.stop("-TERM");
    assert!(!of_store().contains(NEWER));
    let server = start(directory.path(), &["--apply"]).unwrap();
    let log = server.log();
    for line in ["settings-applied", "wait = 1800, now 60", "items: `f` is new\""] {
        assert!(log.contains(line), "{log}");
    }
    let shown = |server: &Server, id: &str| {
        server.post("/v1/decide", &json!({ "id": id })).1["items"].as_array().unwrap().len()
    };
    assert_eq!(shown(&server, "2"), 2);
    assert_eq!(present(&server), ["a", "by-request", "d", "e", "f"]);
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })).1["items"], list["items"]);
    server.stop("-KILL");
    assert!(of_store().contains(NEWER));
    // A crash with the old file flips nothing back, nor does one with the new file twice.
    for (text, apply, differs) in [(&old, false, true), (&new, true, false), (&new, false, false)] {
        std::fs::write(&config, text).unwrap();
        let server = start(directory.path(), if apply { &["--apply"] } else { &[] }).unwrap();
        assert_eq!(server.log().contains("settings-differ"), differs, "{}", server.log());
        assert!(!server.log().contains("settings-applied"));
        assert_eq!(server.log().contains("settings-unchanged"), apply);
        assert_eq!(shown(&server, &format!("{apply}{differs}")), 2);
        assert_eq!(present(&server), ["a", "by-request", "d", "e", "f"]);
        let lines = server.get("/v1/log?limit=1000").1;
        let changes: Vec<Value> = lines
            .as_str()
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|event| event["event"] == "settings")
            .collect();
        assert_eq!(changes.len(), 1);
        assert_eq!(
            (&changes[0]["settings"]["wait"], &changes[0]["settings"]["seed"]),
            (&json!(60), &Value::Null)
        );
        server.stop("-TERM");
    }
    // A key that cannot change is refused, and the store stays as it is.
    std::fs::write(&config, new.clone() + "\nseed = 4").unwrap();
    let server = start(directory.path(), &[]).unwrap();
    let line = "the file has 4 (cannot change: it holds as long as the store)";
    assert!(server.log().contains(line), "{}", server.log());
    server.stop("-TERM");
    let fault = start(directory.path(), &["--apply"]).err().unwrap();
    assert!(fault.contains("policy.seed cannot change"), "{fault}");
    let fault = start(directory.path(), &["--apply", "--check"]).err().unwrap();
    assert!(fault.contains("'--apply' cannot be used with '--check'"), "{fault}");
    std::fs::write(&config, new).unwrap();
    let server = start(directory.path(), &[]).unwrap();
    assert!(!server.log().contains("settings-differ"));
}

/// A store that has settings and no event yet keeps them, too.
#[test]
fn a_store_without_events_has_settings() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("config.toml");
    let without = one_item_config("").replace("items = ['a', 'b', 'c', 'd', 'e']", "");
    std::fs::write(&config, &without).unwrap();
    start(directory.path(), &[]).unwrap().stop("-TERM");
    std::fs::write(&config, one_item_config("").replace("positions = 3", "positions = 2")).unwrap();
    let server = start(directory.path(), &[]).unwrap();
    assert!(server.log().contains("positions: the store's 3 holds"), "{}", server.log());
    assert_eq!(present(&server), ["a", "b", "c", "d", "e"]);
    server.stop("-TERM");
    let server = start(directory.path(), &["--apply"]).unwrap();
    assert!(!server.log().contains("items: "), "{}", server.log());
    assert_eq!(present(&server), ["a", "b", "c", "d", "e"]);
    // With other settings and items at once.
    std::fs::remove_dir_all(directory.path().join("data")).unwrap();
    std::fs::write(&config, &without).unwrap();
    start(directory.path(), &[]).unwrap().stop("-TERM");
    std::fs::write(&config, one_item_config("").replace("positions = 3", "positions = 2")).unwrap();
    start(directory.path(), &["--apply"]).unwrap().stop("-KILL");
    let server = start(directory.path(), &[]).unwrap();
    assert!(!server.log().contains("settings-differ"), "{}", server.log());
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })).1["items"].as_array().unwrap().len(), 2);
}

/// Clients that do not know a new feature go on, and requests that are repeated have their answers,
/// at once and after a kill.
#[test]
fn a_new_feature_stops_no_client() {
    let directory = tempfile::tempdir().unwrap();
    let config = |features: &str| {
        let text = one_item_config("").replace("positions = 3", &format!("positions = 3\n{features}"));
        std::fs::write(directory.path().join("config.toml"), text).unwrap();
    };
    config("features = ['age']");
    let server = start(directory.path(), &[]).unwrap();
    let ask = |server: &Server, id: &str, features: &[f64]| {
        server.post("/v1/decide", &json!({ "id": id, "context": { "features": features } }))
    };
    let one = ask(&server, "1", &[0.5]);
    server.stop("-TERM");
    config("features = ['age', 'visits']");
    let server = start(directory.path(), &["--apply"]).unwrap();
    let lists = [ask(&server, "1", &[0.5]), ask(&server, "2", &[0.5]), ask(&server, "3", &[0.5, 2.0])];
    assert_eq!(lists[0], one);
    assert_eq!(lists.each_ref().map(|(status, _)| *status), [200; 3]);
    assert_eq!(ask(&server, "4", &[0.5, 2.0, 3.0]).0, 409);
    server.stop("-KILL");
    let server = start(directory.path(), &[]).unwrap();
    assert_eq!(ask(&server, "2", &[0.5]), lists[1]);
    assert_eq!(ask(&server, "3", &[0.5, 2.0]), lists[2]);
}

/// Of several servers, one is told; all follow, and a table is that of the log.
#[test]
fn the_newest_settings_hold_for_all_servers() {
    let Some(mut database) = crate::postgres::Database::start() else { return };
    database.wait();
    let directories = [(); 2].map(|()| crate::postgres::configured(&database.url(), ""));
    let [one, other] = directories.each_ref().map(|directory| start(directory.path(), &[]).unwrap());
    let shown = |server: &Server, id: &str| {
        server.post("/v1/decide", &json!({ "id": id })).1["items"].as_array().unwrap().len()
    };
    assert_eq!((shown(&one, "1"), shown(&other, "2")), (3, 3));
    let config = directories[0].path().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("positions = 3", "positions = 2\nwindow = 9")).unwrap();
    one.stop("-KILL");
    let one = start(directories[0].path(), &["--apply"]).unwrap();
    assert_eq!((shown(&other, "3"), shown(&one, "4"), shown(&other, "1")), (2, 2, 3));
    for id in ["1", "2", "3", "4"] {
        let click = json!({ "id": id, "clicks": [2], "close": true });
        assert_eq!(other.post("/v1/clicks", &click).1["outcome"], "counted");
    }
    let items = |server: &Server| server.get("/v1/items?query=default").1["items"].clone();
    assert_eq!(items(&one), items(&other));
    other.stop("-KILL");
    // Its old file changes nothing.
    let other = start(directories[1].path(), &[]).unwrap();
    assert!(other.log().contains("settings-differ"), "{}", other.log());
    assert_eq!((shown(&other, "5"), items(&other)), (2, items(&one)));
}

/// Settings as they follow each other: each list is that of its time, and the table that of the
/// log, whatever was killed when.
const CHANGES: [&str; 6] = [
    "positions = 3\nwait = 60",
    "positions = 4\nexplore = 0.2",
    "positions = 2\nprior = [1, 9]",
    "positions = 3\npropensities = { draws = 3, epsilon = 0.1 }",
    "positions = 5\nprior = 'estimated'\nkeep = 100000",
    "positions = 3\npolicy = 'cascade-kl-ucb'",
];

/// Clients use all servers, which are killed and started with other settings in turn.
fn change_under_load(directories: &[tempfile::TempDir], config: &str) {
    let kills = environment("KILLS", 6);
    let place_of = |n: usize| directories[n % directories.len()].path().join("config.toml");
    let configure = |n: usize, change: &str| {
        let text = config.replace("positions = 3", change);
        let text = if change.contains("policy") { text.replace("policy = 'cascade-ts'\n", "") } else { text };
        std::fs::write(place_of(n), text).unwrap();
    };
    (0..directories.len()).for_each(|n| configure(n, CHANGES[0]));
    let start = |n: usize, listen: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
        command.arg(place_of(n)).args(["--listen", listen]).args(arguments);
        Server::run(command).unwrap()
    };
    let mut servers: Vec<Server> = (0..directories.len()).map(|n| start(n, "127.0.0.1:0", &[])).collect();
    let addresses: Vec<String> = servers.iter().map(|server| server.address.clone()).collect();
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(9);
    let mut clients =
        Clients::start(&addresses, &["--connections", "8", "--patience", "60"], directories[0].path());
    for n in 0..kills as usize {
        clients.go_on();
        std::thread::sleep(Duration::from_millis(rng.random_range(1..900)));
        let place = n % servers.len();
        servers.remove(place).stop("-KILL");
        configure(n, CHANGES[rng.random_range(0..CHANGES.len())]);
        // A kill while it starts with other settings, too.
        if rng.random_range(0..3) == 0 {
            let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
            command.arg(place_of(n)).args(["--listen", &addresses[place], "--apply"]);
            let mut early = command.stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(rng.random_range(1..60)));
            early.kill().unwrap();
            early.wait().unwrap();
        }
        let arguments: &[&str] = if rng.random() { &["--apply"] } else { &[] };
        servers.insert(place, start(n, &addresses[place], arguments));
    }
    let (pairs, records) = clients.end();
    assert!(pairs > 50, "{pairs}");
    let table = table_of_log(&servers[0]);
    for server in &servers {
        assert_eq!(table_of_queries(server, 6), table);
        for record in &records {
            check(server, record);
        }
    }
    println!("{kills} changes: {pairs} pairs");
}

#[test]
fn changes_and_kills_under_load_lose_nothing() {
    let limits = "[limits]\nsnapshot-events = 500\nqueries = 3";
    change_under_load(&[tempfile::tempdir().unwrap()], &one_item_config(limits));
    let Some(mut database) = crate::postgres::Database::start() else { return };
    database.wait();
    let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
    change_under_load(&directories, &one_item_config(&format!("store = '{}'\n{limits}", database.url())));
}
