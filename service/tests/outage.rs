//! Lists while the database is stopped or locked, or a server is frozen.

use crate::lost::{metric, names, of_log, signal, wait};
use crate::postgres::{Database, configured};
use crate::server::Server;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A directory of a server that gives lists without the database.
fn serving(database: &Database) -> tempfile::TempDir {
    configured(&database.url(), "without-store = 'serve'")
}

fn start(directory: &tempfile::TempDir) -> Server {
    Server::start_in(directory.path(), "127.0.0.1:0").unwrap()
}

fn decide(server: &Server, id: &str) -> Value {
    let (status, answer) = server.post("/v1/decide", &json!({ "id": id }));
    assert_eq!(status, 200, "{answer}\n{}", server.log());
    answer
}

/// Decides and clicks; returns the slowest decision but one in a hundred, in seconds.
fn use_server(server: &Server, ids: std::ops::Range<usize>, lists: &mut BTreeMap<String, Value>) -> f64 {
    let mut times = vec![];
    for n in ids {
        let (id, start) = (format!("d{n}"), Instant::now());
        let answer = decide(server, &id);
        times.push(start.elapsed().as_secs_f64());
        let click = json!({ "id": id, "clicks": [1 + n % 3], "close": true });
        let (status, given) = server.post("/v1/clicks", &click);
        assert_eq!((status, &given["outcome"]), (200, &json!("counted")), "{given}");
        lists.insert(id, answer["items"].clone());
    }
    times.sort_by(f64::total_cmp);
    times[(times.len() * 99).div_ceil(100) - 1]
}

fn misses_the_store(server: &Server) {
    wait("it has a store", server, || metric(server, "clickbandits_without_store") == 1);
}

/// The lists of the log, once the database has been reached again.
fn stored_lists(server: &Server) -> BTreeMap<String, Value> {
    wait("no log", server, || server.get("/v1/log?limit=1").0 == 200);
    of_log(server)
}

/// The store has every list as it was given, with its click and its end, once.
fn all_are_stored(server: &Server, lists: &BTreeMap<String, Value>) {
    wait("not recorded", server, || metric(server, "clickbandits_deferred_events") == 0);
    let stored = stored_lists(server);
    for (id, items) in lists {
        assert_eq!(names(items), stored[id], "{id}");
    }
    for what in ["clicks", "closed"] {
        let counted = metric(server, &format!("clickbandits_{what}_total"));
        assert_eq!(counted, lists.len() as u64, "{what}");
    }
}

#[test]
fn lists_are_given_while_the_database_is_stopped() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directory = serving(&database);
    let (mut server, mut lists) = (start(&directory), BTreeMap::new());
    use_server(&server, 0..20, &mut lists);
    let known = decide(&server, "d7");
    database.kill();
    misses_the_store(&server);
    let first = decide(&server, "first");
    assert_eq!(first["stored"], false);
    assert_eq!(decide(&server, "first"), first);
    assert_eq!(decide(&server, "d7"), known);
    let refused = |body: Value| {
        let (status, answer) = server.post("/v1/decide", &body);
        (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused(json!({ "id": "x", "query": "elsewhere" })), (503, "unavailable".into()));
    assert_eq!(refused(json!({ "id": "first", "positions": 1 })), (409, "other_request".into()));
    assert_eq!(server.post("/v1/show", &json!({ "id": "y", "items": ["a"] })).0, 503);
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "z", "clicks": [1] })).0, 503);
    let far = server.post("/v1/clicks", &json!({ "id": "first", "clicks": [4] }));
    assert_eq!((far.0, &far.1["error"]["code"]), (404, &json!("no_such_position")));
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "first", "clicks": [2], "close": true })).0, 200);
    lists.insert("first".into(), first["items"].clone());
    assert_eq!(server.get("/readyz"), (200, "ready, without the store\n".into()));
    assert!(use_server(&server, 20..220, &mut lists) < 0.15);
    // All that was answered outlives the server, which waits for the database.
    server.stop("-KILL");
    server = start(&directory);
    let (status, why) = server.get("/readyz");
    assert_eq!((status, &why["error"]["code"]), (503, &json!("not_ready")));
    assert!(why["error"]["message"].as_str().unwrap().contains("does not answer"), "{why}");
    assert_eq!(server.post("/v1/decide", &json!({ "id": "w" })).0, 503);
    database.wait();
    wait("not ready", &server, || server.get("/readyz") == (200, "ready\n".into()));
    all_are_stored(&server, &lists);
    // Once more, without a kill of the server.
    database.kill();
    misses_the_store(&server);
    use_server(&server, 220..320, &mut lists);
    database.wait();
    all_are_stored(&server, &lists);
    use_server(&server, 320..330, &mut lists);
    all_are_stored(&server, &lists);
    assert_eq!(metric(&server, "clickbandits_conflicting_total"), 0);
    assert_eq!(metric(&server, "clickbandits_without_store"), 0);
}

#[test]
fn the_first_list_of_an_id_holds() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 2].map(|()| serving(&database));
    let servers = directories.each_ref().map(start);
    for server in &servers {
        decide(server, "before");
    }
    database.kill();
    servers.iter().for_each(misses_the_store);
    let lists = servers.each_ref().map(|server| {
        let lists = (0..20).map(|n| decide(server, &format!("d{n}"))["items"].clone());
        let lists: Vec<Value> = lists.collect();
        for n in 0..20 {
            server.post("/v1/clicks", &json!({ "id": format!("d{n}"), "clicks": [1] }));
        }
        lists
    });
    let differing = lists[0].iter().zip(&lists[1]).filter(|(one, other)| one != other).count() as u64;
    assert!(differing > 0);
    database.wait();
    for server in &servers {
        wait("not recorded", server, || metric(server, "clickbandits_deferred_events") == 0);
    }
    let conflicting = servers.each_ref().map(|server| metric(server, "clickbandits_conflicting_total"));
    // A list with its click; who comes first may change from one list to the next.
    assert_eq!(conflicting[0] + conflicting[1], 2 * differing);
    let next = || servers.each_ref().map(|server| metric(server, "clickbandits_next_event"));
    wait("not alike", &servers[0], || next()[0] == next()[1]);
    let stored = servers.each_ref().map(stored_lists);
    assert_eq!(stored[0], stored[1]);
    assert!((0..20).all(|n| lists.iter().any(|of| names(&of[n]) == stored[0][&format!("d{n}")])));
    assert_eq!(metric(&servers[0], "clickbandits_clicks_total"), 20);
}

/// Queries that lag behind the catalogue are asked by copies, of which a few are kept.
#[test]
fn queries_that_lag_draw_new_numbers_each_time() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directory = serving(&database);
    let server = start(&directory);
    let ask = |n: usize, query: usize| {
        let ask = json!({ "id": format!("{n} of {query}"), "query": format!("q{query}") });
        let (status, answer) = server.post("/v1/decide", &ask);
        assert_eq!(status, 200, "{answer}");
        answer["items"].to_string()
    };
    (0..10).for_each(|query| _ = ask(0, query));
    assert_eq!(server.post("/v1/items/batch", &json!([{ "item": "late" }])).0, 200);
    database.kill();
    misses_the_store(&server);
    let lists = (1..9).flat_map(|n| (0..10).map(move |query| (query, n)));
    let lists: BTreeSet<_> = lists.map(|(query, n)| (query, ask(n, query))).collect();
    for query in 0..10 {
        assert!(lists.iter().filter(|(of, _)| *of == query).count() > 1, "{lists:?}");
    }
}

/// A database that is frozen says nothing: nobody waits for ever, and who looks is told.
#[test]
fn a_frozen_database_is_one_that_fails() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [configured(&database.url(), ""), serving(&database)];
    let [refuses, serves] = directories.each_ref().map(start);
    for server in [&refuses, &serves] {
        decide(server, "before");
    }
    database.signal("-STOP");
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(refuses.post("/v1/decide", &json!({ "id": "x" })).0, 503));
        scope.spawn(|| assert_eq!(refuses.get("/v1/log").0, 503));
        wait("it is ready", &refuses, || refuses.get("/readyz").0 == 503);
        assert_eq!(decide(&serves, "y")["stored"], false);
        wait("nobody sees it", &serves, || metric(&serves, "clickbandits_without_store") == 1);
        assert_eq!(serves.get("/readyz"), (200, "ready, without the store\n".into()));
        assert!(serves.log().contains("it says nothing"), "{}", serves.log());
        // A server that starts meanwhile can be asked how it stands.
        let late = configured(&database.url(), "");
        let late = start(&late);
        assert_eq!((late.get("/healthz").0, late.get("/readyz").0), (200, 503));
        let values = json!({ "id": "z", "values": { "a": 2 } });
        scope.spawn(move || assert_eq!(late.post("/v1/decide", &values).0, 503));
    });
    database.signal("-CONT");
    for server in [&refuses, &serves] {
        wait("not ready", server, || server.get("/readyz") == (200, "ready\n".into()));
        decide(server, "after");
    }
}

#[test]
fn lists_are_given_while_the_database_is_locked() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directory = serving(&database);
    let (server, mut lists) = (start(&directory), BTreeMap::new());
    use_server(&server, 0..10, &mut lists);
    let url = database.url();
    let lock = std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        let lock = "begin; lock table click_bandits_events in access exclusive mode; select pg_sleep(7)";
        client.batch_execute(lock).unwrap();
    });
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    let slowest = use_server(&server, 10..510, &mut lists);
    assert!(slowest < 0.15, "{slowest}");
    println!("p99 of a decision {:.1} ms in {:?} of a lock", slowest * 1e3, start.elapsed());
    assert!(!lock.is_finished(), "the lock was too short");
    lock.join().unwrap();
    all_are_stored(&server, &lists);
}

/// It stops with the lock of its turn, which the database takes back.
#[test]
fn a_frozen_server_holds_the_others_for_a_second() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 2].map(|()| configured(&database.url(), ""));
    let [frozen, other] = directories.each_ref().map(start);
    let (mut rows, mut slowest) = (database.client(), Duration::ZERO);
    let is_one =
        |state: &str| database.number(&format!("select count(*) from pg_stat_activity where {state}")) > 0;
    for round in 0..3 {
        // Its rows wait for this lock, so that it cannot end its turn before it is frozen.
        let mut lock = rows.transaction().unwrap();
        lock.batch_execute("lock table click_bandits_events in share mode").unwrap();
        std::thread::scope(|scope| {
            // The turn is lost, and with it the answer.
            scope.spawn(|| frozen.post("/v1/decide", &json!({ "id": format!("f{round}") })));
            wait("no turn", &frozen, || is_one("wait_event_type = 'Lock'"));
            signal(&frozen, "-STOP");
            lock.commit().unwrap();
            wait("not held", &other, || is_one("state = 'idle in transaction'"));
            let start = Instant::now();
            decide(&other, &format!("a{round}"));
            slowest = slowest.max(start.elapsed());
            signal(&frozen, "-CONT");
        });
        wait("not ready", &frozen, || frozen.get("/readyz").0 == 200);
    }
    println!("the longest wait for a server that was frozen in its turn: {slowest:?}");
    assert!(slowest < Duration::from_millis(1_500), "{slowest:?}");
}
