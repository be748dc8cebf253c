//! A database that lost its last commits, under servers that run.

use crate::kills::{table_of_log, table_of_queries};
use crate::postgres::{Database, configured};
use crate::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Few events between snapshots, so that there are some of events that are lost.
const LIMITS: &str = "[limits]\nsnapshot-events = 10\nqueries = 2";

/// The list of each decision, as clients got it.
pub(crate) type Lists = BTreeMap<String, Value>;

/// Decides, and answers at another server.
fn use_servers(servers: &[&Server], ids: std::ops::Range<usize>, lists: &mut Lists) {
    for n in ids {
        let id = format!("d{n}");
        let ask = json!({ "id": id, "query": format!("q{}", n % 4) });
        let (status, answer) = servers[n % servers.len()].post("/v1/decide", &ask);
        assert_eq!(status, 200, "{answer}");
        let click = json!({ "id": id, "clicks": [1 + n % 3], "close": true });
        let (status, given) = servers[(n + 1) % servers.len()].post("/v1/clicks", &click);
        assert_eq!(status, 200, "{given}");
        lists.insert(id, answer["items"].clone());
    }
}

/// Waits for something.
pub(crate) fn wait(what: &str, server: &Server, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}:\n{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn metric(server: &Server, name: &str) -> u64 {
    let text = server.get("/metrics").1;
    let line = text.as_str().unwrap().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

/// The events that a server says were lost.
fn said(server: &Server) -> Vec<[u64; 3]> {
    let log = server.log();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lost = lines.filter(|line| line["event"] == "events-lost");
    lost.map(|line| ["events", "first", "last"].map(|key| line[key].as_u64().unwrap())).collect()
}

/// Lists by id, as the log tells, whose numbers have no gap.
pub(crate) fn of_log(server: &Server) -> Lists {
    let (status, log) = server.get("/v1/log?limit=10000");
    assert_eq!(status, 200);
    let lines: Vec<Value> = match log {
        Value::String(text) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        line => vec![line],
    };
    assert!(lines.iter().zip(0..).all(|(line, number)| line["number"] == number));
    let decided = lines.iter().filter(|line| line["event"] == "decided");
    decided.map(|line| (line["id"].as_str().unwrap().to_owned(), line["items"].clone())).collect()
}

pub(crate) fn names(items: &Value) -> Value {
    items.as_array().unwrap().iter().map(|slot| slot["item"].clone()).collect()
}

/// All servers, and a new one, tell the same; the decisions that the database has are as they were.
fn agree(servers: &[&Server], directories: &[TempDir], url: &str, lists: &Lists) {
    let kept = of_log(servers[0]);
    for (id, items) in &kept {
        assert_eq!(names(&lists[id]), *items, "{id}");
    }
    let (table, count) = (table_of_log(servers[0]), metric(servers[0], "clickbandits_next_event"));
    let fresh = Server::start_in(directories.last().unwrap().path(), "127.0.0.1:0").unwrap();
    for server in servers.iter().copied().chain([&fresh]) {
        wait("not at the end", server, || metric(server, "clickbandits_next_event") == count);
        assert_eq!(table_of_queries(server, 4), table);
        for (id, items) in &kept {
            let query = format!("q{}", id[1..].parse::<usize>().unwrap() % 4);
            let (status, answer) = server.post("/v1/decide", &json!({ "id": id, "query": query }));
            assert_eq!((status, names(&answer["items"])), (200, items.clone()));
        }
    }
    let out = directories[0].path().join("out");
    let mut export = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    export.args(["export", "--store", url, "--out"]).arg(&out);
    let done = export.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let rows = std::fs::read_to_string(Path::new(&out).join("decisions.csv")).unwrap();
    assert!(rows.lines().count() > kept.len());
}

pub(crate) fn signal(server: &Server, signal: &str) {
    assert!(
        Command::new("kill").args([signal, &server.process.id().to_string()]).status().unwrap().success()
    );
}

fn delete(database: &Database, events: u64) -> [u64; 3] {
    let next = database.number("select count(*) from click_bandits_events");
    database.run_sql(&format!("delete from click_bandits_events where number >= {}", next - events));
    [events, next - events, next - 1]
}

#[test]
fn rows_that_are_deleted_under_servers_are_missed() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 3].map(|()| configured(&database.url(), LIMITS));
    let [one, other] = [0, 1].map(|n| Server::start_in(directories[n].path(), "127.0.0.1:0").unwrap());
    let (servers, mut lists) = ([&one, &other], Lists::new());
    use_servers(&servers, 0..40, &mut lists);
    std::thread::sleep(Duration::from_secs(1));
    assert!(database.number("select count(*) from click_bandits_queries") > 0);
    let lost = delete(&database, 33);
    for server in servers {
        wait("not said", server, || said(server) == [lost]);
        wait("not ready", server, || server.get("/readyz").0 == 200);
        assert_eq!(metric(server, "clickbandits_events_lost_total"), 33);
    }
    agree(&servers, &directories, &database.url(), &lists);
    // Requests that are made again are decided again.
    use_servers(&servers, 20..60, &mut lists);
    std::thread::sleep(Duration::from_secs(1));
    agree(&servers, &directories, &database.url(), &lists);
}

/// A server that was stopped meanwhile finds the numbers of its events, with other events.
#[test]
fn rows_that_were_replaced_are_missed() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 3].map(|()| configured(&database.url(), LIMITS));
    let [one, other] = [0, 1].map(|n| Server::start_in(directories[n].path(), "127.0.0.1:0").unwrap());
    let mut lists = Lists::new();
    use_servers(&[&one, &other], 0..30, &mut lists);
    std::thread::sleep(Duration::from_secs(1));
    signal(&one, "-STOP");
    let lost = delete(&database, 25);
    wait("not said", &other, || said(&other) == [lost]);
    use_servers(&[&other], 30..80, &mut lists);
    signal(&one, "-CONT");
    wait("not said", &one, || said(&one) == [lost]);
    // A snapshot of what was lost, as a server may leave it that is slow.
    agree(&[&one, &other], &directories, &database.url(), &lists);
    use_servers(&[&one, &other], 80..90, &mut lists);
    agree(&[&one, &other], &directories, &database.url(), &lists);
}

/// Servers do not decide on nothing: one that is started again gives the store its items.
#[test]
fn a_database_that_lost_all_events_waits_for_a_start() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 3].map(|()| configured(&database.url(), LIMITS));
    let start = |n: usize| Server::start_in(directories[n].path(), "127.0.0.1:0").unwrap();
    let ([mut one, other], mut lists) = ([start(0), start(1)], Lists::new());
    let count = "select count(*) from click_bandits_events";
    for statement in ["delete from click_bandits_events", "drop table click_bandits_events"] {
        use_servers(&[&one, &other], 0..30, &mut lists);
        std::thread::sleep(Duration::from_secs(1));
        let (all, before) = (database.number(count), said(&other).len());
        let lines = [&one, &other].map(|server| server.log().lines().count());
        database.run_sql(statement);
        for (server, lines) in [&one, &other].into_iter().zip(lines) {
            let says = |what: &str| server.log().lines().skip(lines).any(|line| line.contains(what));
            wait("not said", server, || says("all events are lost") || says("does not exist"));
            assert_eq!(server.get("/readyz").0, 503);
            assert_eq!(server.post("/v1/decide", &json!({ "id": "d0", "query": "q0" })).0, 503);
        }
        one.stop("-KILL");
        one = start(0);
        wait("not said", &other, || said(&other)[before..] == [[all, 0, all - 1]]);
        wait("not ready", &other, || other.get("/readyz").0 == 200);
        lists.clear();
    }
    // Requests that are made again are decided again.
    use_servers(&[&one, &other], 0..30, &mut lists);
    std::thread::sleep(Duration::from_secs(1));
    agree(&[&one, &other], &directories, &database.url(), &lists);
}

/// A standby that had not received the last commits takes the place of a database that died.
#[test]
fn a_standby_is_promoted_under_three_servers() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let mut standby = database.standby();
    standby.wait();
    let url = format!(
        "postgres://bandits@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        database.port, standby.port
    );
    let directories = [(); 4].map(|()| configured(&url, LIMITS));
    let servers = [0, 1, 2].map(|n| Server::start_in(directories[n].path(), "127.0.0.1:0").unwrap());
    let (servers, mut lists) = (servers.each_ref(), Lists::new());
    use_servers(&servers, 0..60, &mut lists);
    let count = "select count(*) from click_bandits_events";
    let kept = database.number(count);
    wait("no standby", servers[0], || standby.number(count) == kept);
    standby.run_sql("alter system set primary_conninfo = ''");
    standby.run_sql("select pg_reload_conf()");
    std::thread::sleep(Duration::from_secs(1));
    use_servers(&servers, 60..100, &mut lists);
    std::thread::sleep(Duration::from_secs(1));
    let all = database.number(count);
    assert_eq!(standby.number(count), kept);
    database.kill();
    wait("still ready", servers[0], || servers[0].get("/readyz").0 == 503);
    standby.run_sql("select pg_promote()");
    for server in servers {
        wait("not said", server, || said(server) == [[all - kept, kept, all - 1]]);
        wait("not ready", server, || server.get("/readyz").0 == 200);
    }
    agree(&servers, &directories, &url, &lists);
    use_servers(&servers, 80..130, &mut lists);
    std::thread::sleep(Duration::from_secs(1));
    agree(&servers, &directories, &url, &lists);
}
