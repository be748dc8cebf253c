//! Everything acknowledged is there after the process was killed, or the disk was full.

use crate::server::{Server, one_item_config};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn load(address: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-load"));
    command.arg(address).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Clients that are there as long as servers are killed: when some have done their part, others
/// come.
pub(crate) struct Clients {
    arguments: Vec<String>,
    directory: PathBuf,
    running: Vec<Child>,
}

impl Clients {
    /// Clients of servers, which write their records in a directory.
    pub(crate) fn start(servers: &[String], arguments: &[&str], directory: &Path) -> Self {
        let arguments = servers.iter().cloned().chain(arguments.iter().map(ToString::to_string)).collect();
        let mut clients = Self { arguments, directory: directory.to_owned(), running: vec![] };
        clients.go_on();
        clients
    }

    fn record(&self, turn: usize) -> PathBuf {
        self.directory.join(format!("record{turn}"))
    }

    /// Lets others come if those of before are gone.
    pub(crate) fn go_on(&mut self) {
        if self.running.last_mut().is_none_or(|last| last.try_wait().unwrap().is_some()) {
            let (turn, mut clients) = (self.running.len(), load(&self.arguments[0]));
            clients.args(&self.arguments[1..]).args(["--queries", "6", "--seconds", "6", "--record"]);
            let clients = clients.arg(self.record(turn)).args(["--seed", &turn.to_string()]);
            self.running.push(clients.spawn().unwrap());
        }
    }

    /// Waits until they are gone. The acknowledged pairs, and their records.
    pub(crate) fn end(mut self) -> (u64, Vec<PathBuf>) {
        let mut pairs = 0;
        for clients in std::mem::take(&mut self.running) {
            let result = output(clients);
            assert_eq!(result["empty_lists"], 0, "{result}");
            pairs += result["pairs"].as_u64().unwrap();
        }
        let records = (0..).map(|turn| self.record(turn)).take_while(|record| record.exists());
        (pairs, records.collect())
    }
}

pub(crate) fn output(load: Child) -> Value {
    let output = load.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The table that the log of a server tells: cascade users have examined the list down to the first
/// click, or all of it if it was closed without one.
pub(crate) fn table_of_log(server: &Server) -> BTreeMap<String, [u64; 2]> {
    type Known = (Vec<String>, Option<usize>, bool);
    let mut decisions: BTreeMap<String, Known> = BTreeMap::new();
    let mut from = 0;
    loop {
        let (_, lines) = server.get(&format!("/v1/log?from={from}&limit=10000"));
        let Some(lines) = lines.as_str().filter(|lines| !lines.is_empty()) else { break };
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            from = event["number"].as_u64().unwrap() + 1;
            let id = event["id"].as_str().unwrap_or_default().to_owned();
            match event["event"].as_str().unwrap() {
                "decided" => {
                    let list = event["items"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|item| item.as_str().unwrap().to_owned());
                    assert!(decisions.insert(id, (list.collect(), None, false)).is_none(), "decided twice");
                }
                "clicked" => {
                    let position = usize::try_from(event["position"].as_u64().unwrap()).unwrap() - 1;
                    let clicked = &mut decisions.get_mut(&id).unwrap().1;
                    assert!(clicked.is_none(), "clicked twice");
                    *clicked = Some(position);
                }
                "closed" => decisions.get_mut(&id).unwrap().2 = true,
                _ => {}
            }
        }
    }
    let mut table: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (list, click, is_closed) in decisions.into_values() {
        let seen = click.map_or(if is_closed { list.len() } else { 0 }, |click| click + 1);
        for (place, item) in list.into_iter().enumerate().take(seen) {
            let row = table.entry(item).or_default();
            row[0] += 1;
            row[1] += u64::from(click == Some(place));
        }
    }
    table
}

pub(crate) fn table_of_queries(server: &Server, queries: usize) -> BTreeMap<String, [u64; 2]> {
    let mut table: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for query in 0..queries {
        let (status, rows) = server.get(&format!("/v1/items?query=q{query}"));
        for row in rows["items"].as_array().into_iter().flatten().filter(|_| status == 200) {
            let sum = table.entry(row["item"].as_str().unwrap().to_owned()).or_default();
            sum[0] += row["shows"].as_u64().unwrap();
            sum[1] += row["clicks"].as_u64().unwrap();
        }
    }
    table.retain(|_, row| row[0] > 0);
    table
}

pub(crate) fn check(server: &Server, record: &Path) {
    let checked = output(load(&server.address).arg("--check").arg(record).spawn().unwrap());
    assert_eq!((&checked["other_lists"], &checked["new_answers"]), (&json!(0), &json!(0)), "{checked}");
}

/// A number of the environment.
pub(crate) fn environment(name: &str, usual: u32) -> u32 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// Kills the server again and again while clients use it; `KILLS` in the environment is how often.
#[test]
fn nothing_acknowledged_is_lost_by_kills() {
    let kills = environment("KILLS", 6);
    let directory = tempfile::tempdir().unwrap();
    // Few events between snapshots, and few queries in memory: kills meet both.
    let config = one_item_config("[limits]\nsnapshot-events = 500\nqueries = 3");
    std::fs::write(directory.path().join("config.toml"), config).unwrap();
    let mut server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let address = server.address.clone();
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(3);
    let arguments = ["--connections", "8", "--patience", "60"];
    let mut clients = Clients::start(std::slice::from_ref(&address), &arguments, directory.path());
    for _ in 0..kills {
        clients.go_on();
        std::thread::sleep(Duration::from_millis(rng.random_range(1..900)));
        server.stop("-KILL");
        // Some kills come before the recovery is over.
        if rng.random_range(0..4) == 0 {
            let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
            command
                .arg(directory.path().join("config.toml"))
                .args(["--listen", &address])
                .stderr(Stdio::null());
            let mut early = command.spawn().unwrap();
            std::thread::sleep(Duration::from_millis(rng.random_range(1..40)));
            early.kill().unwrap();
            early.wait().unwrap();
        }
        server = Server::start_in(directory.path(), &address).unwrap();
    }
    let (pairs, records) = clients.end();
    assert!(pairs > 50, "{pairs}");
    for record in &records {
        check(&server, record);
    }
    let table = table_of_log(&server);
    assert_eq!(table_of_queries(&server, 6), table);
    // A stop makes a snapshot, and begins where it was.
    assert!(server.stop("-TERM"));
    let server = Server::start_in(directory.path(), &address).unwrap();
    assert!(server.log().contains("\"events\":0"), "{}", server.log());
    assert_eq!(table_of_queries(&server, 6), table);
    for record in &records {
        check(&server, record);
    }
    assert!(server.get("/metrics").1.as_str().unwrap().contains("clickbandits_differing_total 0\n"));
    println!("{kills} kills: {pairs} pairs");
}

/// The limit of a file's size stands for a full disk: the server must refuse, and recover when
/// there is room again. `FULL` in the environment is how often.
#[test]
fn a_full_disk_is_survived() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    let program = env!("CARGO_BIN_EXE_click-bandits-serve");
    let config = directory.path().join("config.toml");
    let mut command = Command::new("bash");
    // SIGXFSZ is ignored, so that writes fail as on a full disk.
    let script = "trap '' XFSZ; ulimit -S -f 3000; exec \"$0\" \"$1\" --listen 127.0.0.1:0";
    command.args(["-c", script, program]).arg(&config);
    let server = Server::run(command).unwrap();
    let limit = |size: &str| {
        let id = server.process.id().to_string();
        let limit =
            Command::new("prlimit").args(["--pid", &id, &format!("--fsize={size}:")]).status().unwrap();
        assert!(limit.success());
    };
    let (mut number, mut acknowledged, mut unknown) = (0, vec![], vec![]);
    let mut times_full = 0;
    let rounds = environment("FULL", 3);
    for round in 0..rounds {
        limit(&((3 + 2 * round) << 20).to_string());
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < Duration::from_mins(1), "the disk is never full");
            let asks: Vec<Value> = (0..500)
                .map(|entry| json!({ "id": format!("{number}-{entry}"), "user": "u".repeat(100) }))
                .collect();
            number += 1;
            let (status, lists) = server.post("/v1/decide/batch", &Value::from(asks.clone()));
            if status != 200 {
                assert_eq!((status, &lists["error"]["code"]), (503, &json!("unavailable")), "{lists}");
                unknown.push(asks);
                times_full += 1;
                break;
            }
            acknowledged.push((asks, lists));
        }
        assert_eq!(server.get("/readyz").0, 503);
        assert_eq!(server.get("/healthz").0, 200);
        limit("unlimited");
        let start = Instant::now();
        while server.get("/readyz").0 != 200 {
            assert!(start.elapsed() < Duration::from_secs(30), "not ready again:\n{}", server.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(times_full, rounds);
    for asks in unknown {
        let (status, lists) = server.post("/v1/decide/batch", &Value::from(asks.clone()));
        assert_eq!(status, 200);
        acknowledged.push((asks, lists));
    }
    server.stop("-KILL");
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    for (asks, lists) in acknowledged {
        assert_eq!(server.post("/v1/decide/batch", &Value::from(asks)).1, lists);
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let fault = |config: &str, listen: &str| {
        std::fs::write(directory.path().join("config.toml"), config).unwrap();
        Server::start_in(directory.path(), listen).err().expect("refused")
    };
    let plain = one_item_config("");
    for (config, listen, expected) in [
        (plain.clone(), "0.0.0.0:0", "without `tokens`, only a loopback address"),
        (plain.replace("cascade-ts", "top-rank"), "127.0.0.1:0", "`top-rank` cannot be used live"),
        (plain.replace("cascade-ts", "pbm-ts"), "127.0.0.1:0", "`pbm-ts` cannot read the answers"),
        (plain.replace("positions = 3", "positions = 99"), "127.0.0.1:0", "positions"),
        (
            plain.replace("positions = 3", "positions = 3\nwindow = 0"),
            "127.0.0.1:0",
            "window: 0 is too small",
        ),
        (plain.replace("positions = 3", "positions = 3\nprior = [0, 1]"), "127.0.0.1:0", "policy.prior: "),
        (plain.replace("users", "user"), "127.0.0.1:0", "unknown key: did you mean `users`"),
        (plain.clone() + "examination = [1, 0.5, 0.2]", "127.0.0.1:0", "policy.examination: only for"),
        (
            plain.replace("cascade-ts", "pbm-ts").replace("'cascade'", "'pbm'"),
            "127.0.0.1:0",
            "config.toml:3:1: policy.examination: missing key: expected one probability for each of the 3",
        ),
        (one_item_config("store-authorities = 'x.pem'"), "127.0.0.1:0", "store-authorities: only for"),
    ] {
        let found = fault(&config, listen);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    std::fs::write(directory.path().join("config.toml"), &plain).unwrap();
    let running = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let found = fault(&plain, "127.0.0.1:0");
    assert!(found.contains("another process uses") && found.contains("stop it first"), "{found}");
    drop(running);
    // Options that the command would ignore.
    for (arguments, expected) in [
        (vec!["config.toml", "--data", "a", "--data", "b"], "'--data <DIR>' cannot be used multiple"),
        (vec!["config.toml", "--as", "csv"], "unexpected argument '--as'"),
        (vec!["config.toml", "--store", "data"], "unexpected argument '--store'"),
        (vec!["config.toml", "--lists-a-day", "9"], "were not provided:\n  --check"),
        (vec!["config.toml", "--check", "--lists-a-day", "0"], "expected a number above 0"),
        (vec!["config.toml", "--check", "--lists-a-day", "9"], "the configuration has no [launch]"),
        (vec!["config.toml", "--check", "--clicks-a-list", "9"], "were not provided:\n  --lists-a-day"),
        (vec!["config.toml", "--check", "--apply"], "'--check' cannot be used with '--apply'"),
        (vec!["config.toml", "--listen", "here"], "expected an address such as 127.0.0.1:7300"),
        (vec!["export", "--store", "data", "--out", "out", "--from", "x"], "unexpected argument '--from'"),
        (vec!["export", "config.toml", "--out", "out"], "unexpected argument 'config.toml'"),
        (vec!["export", "--out", "out"], "were not provided:\n  --store <STORE>"),
        (vec![], "were not provided:\n  <CONFIG>"),
        (
            vec!["export", "--store", "data", "--out", "out", "--authorities", "x"],
            "--authorities: only for a",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
        let output = command.args(&arguments).current_dir(directory.path()).output().unwrap();
        let found = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && found.contains(expected), "{arguments:?}: {found}");
    }
}

/// The text of `--check` on the configuration and the fit of a directory.
fn checked(directory: &std::path::Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    let command = command.arg(directory.join("config.toml")).args(["--check", "--from"]).arg(directory);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// A store that begins with a log's fit, and its decisions as a table that is read as a log.
#[test]
fn a_store_begins_with_a_fit_and_is_exported() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let estimate = |value: f64| json!({ "value": value });
    let item = |name: &str, shows: u64, clicks: u64| json!({ "item": name, "attraction": estimate(0.1), "clicks": clicks, "impressions": shows });
    let query =
        json!({ "query": "shoes, red", "typical": 0.2, "items": [item("x", 50, 20), item("y", 50, 1)] });
    let site = json!({ "typical": 0.1, "prior": 10.0, "below_first_click": 0.0 });
    let model = json!({ "model": "cascade", "site": site, "queries": [query] });
    let log = json!({ "files": 1, "lines": 1, "bytes": 1, "impressions": 100, "clicks": 21, "queries": 1, "skipped": [] });
    let fitted = json!({ "queries": 1, "cells": 2, "positions": 3, "impressions": 100, "clicks": 21 });
    let fit = json!({
        "schema": 1, "log": log, "fitted": fitted, "scope": "site", "level": 0.95, "models": [model],
        "identifiability": [], "rank_one": [],
    });
    std::fs::write(at("parameters.json"), fit.to_string()).unwrap();
    let settings = "propensities = { draws = 4, epsilon = 0.1 }\nfeatures = ['age', 'visits']";
    std::fs::write(at("config.toml"), one_item_config("") + settings).unwrap();
    let start = |from: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
        command.arg(at("config.toml")).args(["--listen", "127.0.0.1:0"]);
        if from {
            command.arg("--from").arg(directory.path());
        }
        Server::run(command).unwrap()
    };
    assert!(checked(&at("")).ends_with("begins with 2 items of 1 query\n"));
    let table = |server: &Server| server.get("/v1/items?query=shoes%2C%20red").1;
    let server = start(true);
    let rows = table(&server);
    assert_eq!((&rows["items"][5]["item"], &rows["items"][5]["clicks"]), (&json!("x"), &json!(20)), "{rows}");
    for number in 0..20 {
        let ask = json!({ "id": format!("\"{number}\""), "query": "shoes, red", "user": format!("u{number}"),
                "context": { "segment": "de", "features": [number, 0.5] } });
        let list = server.post("/v1/decide", &ask).1;
        assert!(
            list["items"].as_array().unwrap().iter().all(|slot| slot["propensity"].as_f64().unwrap() > 0.0)
        );
        let clicks = if number % 2 == 0 { json!([1]) } else { json!([]) };
        server.post("/v1/clicks", &json!({ "id": ask["id"], "clicks": clicks, "close": true }));
    }
    let rows = table(&server);
    server.stop("-KILL");
    let server = start(false);
    assert_eq!(table(&server), rows);
    drop(server);
    let mut export = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    let export =
        export.arg("export").arg("--store").arg(at("data")).arg("--out").arg(at("out")).output().unwrap();
    let said = String::from_utf8(export.stdout).unwrap();
    assert!(
        said.contains("--columns 'query=query,")
            && said.contains("user=user,propensity=propensity")
            && said.contains(",segment=segment,features=age;visits'"),
        "{said}{}",
        String::from_utf8_lossy(&export.stderr)
    );
    let csv = std::fs::read_to_string(at("out/decisions.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert!(rows[1].starts_with("\"shoes, red\",\"\"\"0\"\"\",u0,1,"), "{}", rows[1]);
    let clicks = rows[1..].iter().filter(|row| row.split(',').nth_back(7) == Some("1"));
    assert_eq!(clicks.count(), 10);
    let mut export = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    export.arg("export").arg("--store").arg(at("data")).arg("--out").arg(at("out")).args(["--as", "ubi"]);
    let of_ubi = String::from_utf8(export.output().unwrap().stdout).unwrap();
    let [queries, events] = ["ubi_queries.ndjson", "ubi_events.ndjson"].map(|name| {
        let text = std::fs::read_to_string(at("out").join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    });
    assert_eq!(
        (queries.len(), &queries[0]["query_id"], &queries[0]["client_id"]),
        (20, &json!("\"0\""), &json!("u0"))
    );
    assert!(queries[0]["query_attributes"]["list_propensity"].as_f64().unwrap() > 0.0);
    assert!(queries[0]["timestamp"].as_str().unwrap().starts_with("20"), "{}", queries[0]);
    assert_eq!(events.iter().filter(|event| event["action_name"] == "click").count(), 10);
    assert_eq!(events.len(), rows.len() - 1 + 10);
    // Read as a log by the command, where it was built.
    for (said, fitted) in [(&said, "fitted"), (&of_ubi, "fitted-ubi")] {
        let Some(command) = std::env::var_os("CLICK_BANDITS") else { break };
        let words: Vec<&str> = said.lines().last().unwrap().split(' ').skip(1).collect();
        let words: Vec<String> = words
            .iter()
            .map(|word| word.replace("FITTED", at(fitted).to_str().unwrap()).replace('\'', ""))
            .collect();
        let fit = Command::new(command).args(words).output().unwrap();
        assert!(fit.status.success(), "{}", String::from_utf8_lossy(&fit.stderr));
    }
}

/// From the fit of a log with contexts to a service, and from its export to a fit.
#[test]
fn decisions_for_users_who_differ_are_a_log_with_contexts() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("context.json"), crate::engine::context_fit().to_string()).unwrap();
    let config = "[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3";
    std::fs::write(at("config.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    command.arg(at("config.toml")).args(["--listen", "127.0.0.1:0", "--from"]).arg(directory.path());
    let server = Server::run(command).unwrap();
    for number in 0..40 {
        let segment = if number % 2 == 0 { "at" } else { "de" };
        let context = json!({ "segment": segment, "features": [20 + number] });
        let list = server.post("/v1/decide", &json!({ "id": number.to_string(), "context": context })).1;
        assert_eq!(list["items"].as_array().unwrap().len(), 3, "{list}");
        let clicks = if number % 3 == 0 { json!([2]) } else { json!([]) };
        let answer = json!({ "id": number.to_string(), "clicks": clicks, "close": true });
        assert_eq!(server.post("/v1/clicks", &answer).0, 200);
    }
    server.stop("-TERM");
    let mut export = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    let export =
        export.arg("export").arg("--store").arg(at("data")).arg("--out").arg(at("out")).output().unwrap();
    let said = String::from_utf8(export.stdout).unwrap();
    let options = format!(
        ",segment=segment,features=age --context --model cascade --query=default --items {} --out FITTED\n",
        at("out/items.csv").display()
    );
    assert!(said.ends_with(&options), "{said}{}", String::from_utf8_lossy(&export.stderr));
    // Read as a log by the command, where it was built.
    if let Some(command) = std::env::var_os("CLICK_BANDITS") {
        let fitted = at("fitted");
        let words = said.lines().last().unwrap().split(' ').skip(1);
        let words = words.map(|word| word.replace("FITTED", fitted.to_str().unwrap()).replace('\'', ""));
        let fit = Command::new(command).args(words).output().unwrap();
        assert!(fit.status.success(), "{}", String::from_utf8_lossy(&fit.stderr));
        let text = std::fs::read(fitted.join("context.json")).unwrap();
        let fit: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!((&fit["lists"], &fit["query"]), (&json!(40), &json!("default")));
        assert_eq!(fit["items"], json!(["a", "b", "c, d", "d"]));
    }
}

#[test]
fn a_restart_waits_for_the_process_that_was_killed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    let first = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let killed = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(300));
        first.stop("-KILL")
    });
    let second = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    assert!(killed.is_finished() && !killed.join().unwrap());
    assert_eq!(second.post("/v1/decide", &json!({ "id": "1" })).0, 200);
}

/// Runs the commands that an export prints in a shell, where they were built, in a directory.
pub(crate) fn run_printed(said: &str, directory: &Path) {
    let Some(program) = std::env::var_os("CLICK_BANDITS") else { return };
    let programs = directory.join("bin");
    if std::fs::create_dir(&programs).is_ok() {
        std::os::unix::fs::symlink(program, programs.join("click-bandits")).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let commands = said.rsplit("to read them:\n").next().unwrap();
    shell.args(["-ec", commands]).env("PATH", path).current_dir(directory);
    let fit = shell.output().unwrap();
    assert!(fit.status.success(), "{said}{}", String::from_utf8_lossy(&fit.stderr));
}

/// Names with spaces and quotes, and decisions of which not everything is told, come back as a fit.
#[test]
fn an_export_is_read_whatever_its_names_and_contexts() {
    let directory = tempfile::Builder::new().prefix("it's a $HOME").tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let items = [" a ", "\"b\"", "c, d", "it's", "\u{a0}e", "-f"];
    let query = "-shoes, \"red\" & $HOME; 'n' blue";
    let featured = (1..).zip(items).map(|(price, item)| {
        format!("{{ item = {}, features = [{price}] }}", serde_json::to_string(item).unwrap())
    });
    let featured: Vec<String> = featured.collect();
    let config = format!(
        "items = [{}]\n[policy]\nusers = 'cascade'\npolicy = 'hybrid-ts'\npositions = 3\n\
         segments = [\"de 'n'\", '*']\nfeatures = ['age in years', '$HOME']\nitem-features = ['price']",
        featured.join(", ")
    );
    std::fs::write(at("config.toml"), config).unwrap();
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let decide = |id: &str, query: &str, mut context: Value, closes: bool| {
        let (mut ask, mut answer) = (json!({ "id": id, "query": query }), json!({ "id": id, "clicks": [1] }));
        ask["user"] = if id.len() > 3 { "u, \"1\"".into() } else { Value::Null };
        if !context.is_null() {
            ask["context"] = context.take();
        }
        answer["close"] = closes.into();
        assert_eq!(server.post("/v1/decide", &ask).0, 200);
        if closes {
            assert_eq!(server.post("/v1/clicks", &answer).0, 200);
        }
    };
    let whole = |number: u32| {
        let segment = if number.is_multiple_of(2) { "*" } else { "de 'n'" };
        json!({ "segment": segment, "features": [number, 0.5 * f64::from(number % 5)] })
    };
    // The first query has an open decision, the second one a decision of which nothing is told.
    decide("open", "!", whole(1), false);
    decide("untold", "\"", Value::Null, true);
    for number in 0..40 {
        decide(&number.to_string(), query, whole(number), true);
    }
    decide("none", query, Value::Null, true);
    decide("segment", query, json!({ "segment": "*" }), true);
    decide("features", query, json!({ "features": [1, 2] }), true);
    server.stop("-TERM");
    let export = |out: &str| {
        let mut export = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
        export.arg("export").arg("--store").arg(at("data")).arg("--out").arg(at(out));
        let output = export.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let said = export("out");
    assert!(said.starts_with("120 rows in ") && said.contains("; 12 rows of 4 decisions without"), "{said}");
    run_printed(&said, directory.path());
    let without = std::fs::read_to_string(at("out/without-context.csv")).unwrap();
    let all = std::fs::read_to_string(at("out/decisions.csv")).unwrap();
    assert_eq!(without.lines().next(), all.lines().next());
    if let Ok(fit) = std::fs::read(at("FITTED/context.json")) {
        let fit: Value = serde_json::from_slice(&fit).unwrap();
        assert_eq!((&fit["lists"], &fit["query"]), (&json!(40), &json!(query)));
        let mut found: Vec<&str> =
            fit["items"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        found.sort_unstable();
        let mut shown = items;
        shown.sort_unstable();
        assert_eq!(found, shown);
        // Both files are a log of every decision.
        let plain = "\nclick-bandits fit out/decisions.csv out/without-context.csv --format delimited \
             --columns query=query,session=session,position=position,item=item,click=click --out plain";
        run_printed(plain, directory.path());
    }
    // Another export leaves nothing behind that it did not write.
    std::fs::remove_dir_all(at("data")).unwrap();
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let told = json!({ "segment": "*", "features": [1, 2] });
    server.post("/v1/decide", &json!({ "id": "1", "context": told }));
    server.post("/v1/clicks", &json!({ "id": "1", "close": true }));
    server.stop("-TERM");
    assert!(export("out").starts_with("3 rows in ") && !at("out/without-context.csv").exists());
}

/// Examination, order and prior of a fit are in the store: a later start needs no fit.
#[test]
fn a_store_knows_the_fit_with_which_it_began() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("parameters.json"), crate::engine::pbm_fit().to_string()).unwrap();
    for policy in ["pbm-ts", "pbm-gibbs(order=known)"] {
        let config = format!("[policy]\nusers = 'pbm'\npositions = 2\npolicy = '{policy}'");
        std::fs::write(at("config.toml"), config).unwrap();
        let start = |from: bool| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
            command.arg(at("config.toml")).args(["--listen", "127.0.0.1:0"]);
            if from {
                command.arg("--from").arg(directory.path());
            }
            Server::run(command)
        };
        let error = start(false).err().filter(|_| policy == "pbm-ts");
        assert!(error.is_none_or(|error| error.contains("policy.examination: missing key")));
        _ = std::fs::remove_dir_all(at("data"));
        let table = |server: &Server| server.get("/v1/items?query=shoes%2C%20red").1;
        let server = start(true).unwrap();
        let ask = json!({ "id": "1", "query": "shoes, red" });
        let list = server.post("/v1/decide", &ask).1;
        let rows = table(&server);
        server.stop("-KILL");
        for from in [false, true] {
            let server = start(from).unwrap();
            assert_eq!((server.post("/v1/decide", &ask).1, table(&server)), (list.clone(), rows.clone()));
            server.stop("-TERM");
        }
        let other = crate::engine::pbm_fit().to_string();
        std::fs::write(at("parameters.json"), other.replace("0.5", "0.25")).unwrap();
        let server = start(true).unwrap();
        assert!(
            server.log().contains("examination: the store's [1.0,0.5] holds, the file has [1.0,0.25]"),
            "{}",
            server.log()
        );
        drop(server);
        std::fs::write(at("parameters.json"), other.replace("70", "71")).unwrap();
        let error = start(true).err().unwrap();
        assert!(error.contains("it began with another fit than "), "{error}");
        std::fs::write(at("parameters.json"), other).unwrap();
        std::fs::remove_dir_all(at("data")).unwrap();
    }
}

/// A snapshot that cannot be read is passed over by a server that runs.
#[test]
fn a_server_recovers_from_a_snapshot_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let ask = |query: &str| json!({ "id": query, "query": query });
    let lists = ["p", "q"].map(|query| server.post("/v1/decide", &ask(query)).1);
    server.stop("-TERM");
    {
        use click_bandits_service::event::Name;
        use click_bandits_service::store::{EmbeddedStore, Store as _};
        let store = EmbeddedStore::open(&directory.path().join("data")).unwrap();
        let head = store.head().unwrap().unwrap();
        store
            .replace((0..0, None), &head, &mut [Ok((Name::new("q").unwrap(), vec![9; 99]))].into_iter())
            .unwrap();
    }
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    assert_eq!(server.post("/v1/decide", &ask("p")).1, lists[0]);
    let start = Instant::now();
    let click = json!({ "id": "q", "clicks": [1] });
    while server.post("/v1/clicks", &click).0 != 200 {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", server.log());
    }
    // The answer may be here before the line is.
    while !server.log().contains("snapshot-unreadable") {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", server.log());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.post("/v1/decide", &ask("q")).1, lists[1]);
    assert_eq!(server.post("/v1/clicks", &click).1["outcome"], "repeated");
    server.stop("-TERM");
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    assert_eq!(server.post("/v1/clicks", &click).1["outcome"], "repeated");
    assert!(!server.log().contains("snapshot-unreadable"), "{}", server.log());
}

/// A server that never lived long enough for a snapshot does not repeat more with every start.
#[test]
fn a_server_that_repeats_much_begins_with_a_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let start = |events: u32| {
        let config = one_item_config(&format!("[limits]\nsnapshot-events = {events}"));
        std::fs::write(directory.path().join("config.toml"), config).unwrap();
        Server::start_in(directory.path(), "127.0.0.1:0").unwrap()
    };
    let repeated = |server: &Server| {
        let log = server.log();
        let line = log.lines().find(|line| line.contains("\"recovered\"")).unwrap();
        serde_json::from_str::<Value>(line).unwrap()["events"].as_u64().unwrap()
    };
    let mut server = start(1_000);
    let decisions: Vec<Value> = (0..40).map(|id| json!({ "id": id.to_string() })).collect();
    let lists = server.post("/v1/decide/batch", &json!(decisions)).1;
    // It is killed as soon as it listens, before the thread that makes snapshots can.
    for (events, is_repeated) in [(1_000, true), (5, true), (5, false)] {
        server.stop("-KILL");
        server = start(events);
        assert_eq!(repeated(&server) >= 40, is_repeated, "{}", server.log());
    }
    assert_eq!(server.post("/v1/decide/batch", &json!(decisions)).1, lists);
}

/// A snapshot with a damaged key, where a row would not be found, or of another store.
#[test]
fn snapshots_with_damaged_keys_or_of_other_stores_are_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let folder = |name: &str| directory.path().join(name);
    let ask = |id: usize| json!({ "id": id.to_string(), "query": "query1" });
    let seen = ["a", "b"].map(|name| {
        std::fs::create_dir_all(folder(name)).unwrap();
        std::fs::write(folder(name).join("config.toml"), one_item_config("")).unwrap();
        let server = Server::start_in(&folder(name), "127.0.0.1:0").unwrap();
        for id in 0..if name == "a" { 12 } else { 9 } {
            server.post("/v1/decide", &ask(id));
            server.post("/v1/clicks", &json!({ "id": id.to_string(), "clicks": [id % 2 + 1] }));
        }
        let seen = server.get("/v1/items?query=query1");
        server.stop("-TERM");
        seen
    });
    let snapshot = folder("a").join("data/snapshot.redb");
    let good = std::fs::read(&snapshot).unwrap();
    let keys = (0..good.len() - 6).filter(|place| &good[*place..place + 6] == b"query1");
    let damaged: Vec<_> = keys
        .map(|place| {
            let mut bytes = good.clone();
            bytes[place + 5] ^= 4;
            bytes
        })
        .collect();
    assert!(!damaged.is_empty());
    let other = std::fs::read(folder("b").join("data/snapshot.redb")).unwrap();
    for bytes in damaged.into_iter().chain([other]) {
        std::fs::write(&snapshot, bytes).unwrap();
        let server = Server::start_in(&folder("a"), "127.0.0.1:0").unwrap();
        assert_eq!(server.get("/v1/items?query=query1"), seen[0], "{}", server.log());
        server.stop("-KILL");
    }
}
