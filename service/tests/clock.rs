//! Clocks that jump: nothing is closed, and nothing can no longer be answered.

use crate::postgres::{Database, configured};
use crate::server::{Server, one_item_config};
use click_bandits_service::clock::Clock;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
/// A time of the machine.
const NOON: u64 = 1_800_000_000_000;

/// A clock of the machine that jumps is passed over, whatever the steady one does.
#[test]
fn a_jump_of_the_machine_does_not_move_the_time() {
    let start = Instant::now();
    for after in [NOON + 2 * HOUR, NOON - 2 * HOUR, NOON + 8 * DAY, NOON - 8 * DAY, 0, 9 * NOON] {
        let mut clock = Clock::start(start, NOON, None, NOON - 5);
        let second = Duration::from_secs(1);
        assert_eq!(clock.turn(start + second, NOON + 1_000, None, 0), NOON + 1_000);
        assert_eq!(clock.turn(start + 2 * second, after, None, 0), NOON + 2_000, "{after}");
        assert_eq!(clock.turn(start + 3 * second, after + 1_000, None, 0), NOON + 3_000);
        // Back again.
        assert_eq!(clock.turn(start + 4 * second, NOON, None, 0), NOON + 4_000);
        assert_eq!(clock.turn(start + 5 * second, NOON + 1_000, None, 0), NOON + 5_000);
    }
    // The steady clock jumps as well.
    for days in [2, 8] {
        let mut clock = Clock::start(start, NOON, None, 0);
        let jump = Duration::from_millis(days * DAY);
        let time = clock.turn(start + jump, NOON + days * DAY, None, 0);
        assert_eq!(time, NOON + 30_000);
        assert_eq!(clock.turn(start, NOON, None, 0), time);
    }
}

/// Several servers go by the database, whatever their own clocks tell, also after a pause.
#[test]
fn the_time_of_several_servers_is_that_of_the_database() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    for machine in [NOON + 8 * DAY, NOON - 8 * DAY] {
        let mut clock = Clock::start(start, machine, Some(NOON), NOON - HOUR);
        assert_eq!(clock.turn(at(1), machine + 1_000, Some(NOON + 1_000), 0), NOON + 1_000);
        assert_eq!(clock.turn(at(2), machine + 2 * HOUR, Some(NOON + 2_000), 0), NOON + 2_000);
        // Another server has just committed.
        assert_eq!(clock.turn(at(3), machine, Some(NOON + 3_000), NOON + 3_001), NOON + 3_001);
    }
}

/// At a start, the time since the last event is believed, unless the clock was set back.
#[test]
fn a_start_believes_the_time_since_the_last_event() {
    let start = Instant::now();
    let time = |machine, database, last| {
        Clock::start(start, machine, database, last).turn(start, machine, database, last)
    };
    assert_eq!(time(NOON + 8 * DAY, None, NOON), NOON + 8 * DAY);
    assert_eq!(time(NOON - 8 * DAY, None, NOON), NOON);
    assert_eq!(time(NOON - 8 * DAY, Some(NOON + HOUR), NOON), NOON + HOUR);
}

/// A server whose clock is that of a file, which is written anew to make it jump.
fn faked(directory: &Path) -> Option<Server> {
    let library = ["x86_64", "aarch64"]
        .map(|machine| Path::new("/usr/lib").join(format!("{machine}-linux-gnu/faketime/libfaketime.so.1")));
    let Some(library) = library.into_iter().find(|library| library.is_file()) else {
        println!("skipped: libfaketime is not installed");
        return None;
    };
    jump(directory, std::fs::read_to_string(directory.join("start")).as_deref().unwrap_or("+0"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    command.arg(directory.join("config.toml")).args(["--listen", "127.0.0.1:0"]);
    command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", directory.join("time"));
    command.env("FAKETIME_NO_CACHE", "1");
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    Some(Server::run(command).unwrap())
}

fn jump(directory: &Path, offset: &str) {
    std::fs::write(directory.join("new"), offset).unwrap();
    std::fs::rename(directory.join("new"), directory.join("time")).unwrap();
}

/// A decision that is open before jumps of the server's clock stays open, and counts.
fn nothing_happens(server: &Server, directory: &Path) {
    for (n, offset) in ["+2h", "+0", "-2h", "+8d", "-8d", "+0"].into_iter().enumerate() {
        let [old, new] = ["old", "new"].map(|which| format!("{which}{n}"));
        let decide =
            |id: &str| assert_eq!(server.post("/v1/decide", &json!({ "id": id })).0, 200, "{offset}");
        decide(&old);
        let jumps = server.log().matches("clock-jumped").count();
        jump(directory, offset);
        let start = Instant::now();
        while server.log().matches("clock-jumped").count() == jumps {
            assert!(start.elapsed() < Duration::from_secs(20), "{offset}: not logged");
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(600));
        // The next decision lets old ones leave.
        decide(&new);
        for id in [&old, &new] {
            let (status, given) = server.post("/v1/clicks", &json!({ "id": id, "clicks": [1] }));
            assert_eq!((status, &given["outcome"]), (200, &json!("counted")), "{offset} {id}");
        }
        let metrics = server.get("/metrics").1;
        assert!(metrics.as_str().unwrap().contains("clickbandits_closed_total 0\n"), "{offset}");
    }
}

#[test]
fn a_clock_jumps_under_a_server() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    let Some(server) = faked(directory.path()) else { return };
    nothing_happens(&server, directory.path());
    // A start believes that eight days passed: what was open is closed, and leaves.
    drop(server);
    let server = faked(directory.path()).unwrap();
    assert!(server.log().contains("seconds_since_last_event"), "{}", server.log());
    assert_eq!(server.post("/v1/decide", &json!({ "id": "before" })).0, 200);
    drop(server);
    std::fs::write(directory.path().join("start"), "+8d").unwrap();
    let server = faked(directory.path()).unwrap();
    assert_eq!(server.post("/v1/decide", &json!({ "id": "after" })).0, 200);
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "before", "clicks": [1] })).0, 410);
}

#[test]
fn the_clock_of_one_of_several_servers_jumps() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 2].map(|()| configured(&database.url(), ""));
    let Some(faked) = faked(directories[0].path()) else { return };
    let other = Server::start_in(directories[1].path(), "127.0.0.1:0").unwrap();
    assert_eq!(other.post("/v1/decide", &json!({ "id": "first" })).0, 200);
    nothing_happens(&faked, directories[0].path());
    assert_eq!(other.post("/v1/clicks", &json!({ "id": "first", "clicks": [1] })).0, 200);
}
