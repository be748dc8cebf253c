//! The page for people: its token, what it shows of each hour, and the counts beside it.

use crate::engine::{Served, name, template};
use crate::server::{Server, one_item_config};
use click_bandits_service::api::{AnswerBody, DecideBody};
use click_bandits_service::clock::now;
use click_bandits_service::config::Limits;
use click_bandits_service::event::{Batch, Change};
use click_bandits_service::store::{EmbeddedStore, Store as _};
use serde_json::json;
use std::sync::Arc;

const HOUR: u64 = 3_600_000;

/// A store with some days of decisions, the busier the later the hour: `n` in the hour of number
/// `n` of a day, and a click a quarter of an hour later on every other one.
fn with_days(directory: &std::path::Path, days: u64) -> u64 {
    let config = one_item_config("");
    std::fs::write(directory.join("config.toml"), config).unwrap();
    let store = Arc::new(EmbeddedStore::open(&directory.join("data")).unwrap());
    let template = template("");
    store.make_for(&template.to_text()).unwrap();
    let mut served = Served::on(store.clone(), directory, &template, &Limits::default());
    let mut events = vec![];
    for item in [
        "red shoes",
        "a-name-without-a-space-that-is-as-long-as-names-of-items-may-well-become-in-practice",
        "hats",
        "b",
        "c",
    ] {
        served.engine.change_item(&name(item), None, Change::Add, &[], &mut events).unwrap();
    }
    let (start, mut made) = ((now() / HOUR - 24 * days) * HOUR, 0);
    let commit = |time: u64, events: Vec<_>, next: u64| {
        store.append(next - events.len() as u64, &Batch { time, events }).unwrap();
    };
    commit(start, events, served.engine.next);
    for hour in 0..24 * days {
        for n in 0..(start / HOUR + hour) % 24 {
            let (time, id) = (start + hour * HOUR + n * 1_000, format!("{hour}-{n}"));
            let query = ["shoes", "hats", "everything else that a shop has"][usize::try_from(n % 3).unwrap()];
            let body: DecideBody = serde_json::from_value(json!({ "id": id, "query": query })).unwrap();
            let mut events = vec![];
            served.engine.decide(body, time, &mut events).unwrap();
            commit(time, events, served.engine.next);
            made += 1;
            if n % 2 == 0 {
                let body: AnswerBody =
                    serde_json::from_value(json!({ "id": id, "clicks": [1 + n % 3] })).unwrap();
                let mut events = vec![];
                served.engine.begin_at(time + HOUR / 4, false);
                served.engine.answer(body, &mut events).unwrap();
                commit(time + HOUR / 4, events, served.engine.next);
            }
        }
    }
    made
}

#[test]
fn the_page_shows_hours_and_days() {
    let directory = tempfile::tempdir().unwrap();
    let made = with_days(directory.path(), 6);
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let page = |server: &Server| server.get("/").1.as_str().unwrap().to_owned();
    let shown = page(&server);
    if let Ok(path) = std::env::var("PAGE") {
        std::fs::write(path, &shown).unwrap();
    }
    let busiest: u64 = (0..24).sum();
    for expected in [
        format!("<td>{} decided", documents::number::fixed(made as f64, 0)),
        "Decisions by hour<span>at most 23, now".into(),
        format!("Decisions by day<span>at most {busiest}, now"),
        "Time to a click, mean by day<span>at most 15.0 min, now".into(),
        "<h2>Best items of the busiest queries</h2>".into(),
        "<title>1 day ago: 276</title>".into(),
    ] {
        assert!(shown.contains(&expected), "{expected}\n{shown}");
    }
    assert!(!shown.contains("<script"));
    // The knowledge of the hours outlives the server, in its snapshot.
    let before =
        shown.split("<div class=figures>").nth(1).unwrap().split("</div>").next().unwrap().to_owned();
    assert!(server.stop("-TERM"));
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    assert!(server.get("/metrics").1.as_str().unwrap().contains("clickbandits_recovery_events 0\n"));
    let again = page(&server);
    assert!(again.contains(&before) && again.contains("<tr><td>shoes<td class=n>"), "{again}");
    assert!(!server.get("/v1/queries").1.to_string().contains("default"));
    let size = std::fs::metadata(directory.path().join("data/events.redb")).unwrap().len();
    let metrics = server.get("/metrics").1.as_str().unwrap().to_owned();
    let bytes = metrics.lines().find_map(|line| line.strip_prefix("clickbandits_store_bytes ")).unwrap();
    assert!(bytes.parse::<u64>().unwrap() >= size);
}

/// Who looks makes no query and no event, and yet sees what the next decision would find.
#[test]
fn no_get_changes_anything() {
    let server = Server::start("");
    server.post("/v1/decide", &json!({ "id": "1", "query": "shoes" }));
    server.send("PUT", "/v1/items/Lamp%2C%20LED", "", b"");
    let before = (server.get("/v1/log"), server.get("/v1/queries"));
    assert_eq!(server.get("/v1/items").1["items"].as_array().unwrap().len(), 6);
    assert_eq!(server.get("/v1/items/Lamp%2C%20LED?query=shoes").1["state"], "present");
    for path in ["/", "/?query=default", "/?query=nobody", "/v1/items?query=shoes", "/v1/items/a", "/metrics"]
    {
        assert_eq!(server.get(path).0, 200, "{path}");
    }
    assert_eq!(server.get("/v1/items?query=nobody").0, 404);
    assert_eq!((server.get("/v1/log"), server.get("/v1/queries")), before);
    let list = json!({ "id": "2", "query": "shoes", "items": ["Lamp, LED", "a"] });
    assert_eq!(server.post("/v1/show", &list).0, 200);
    assert!(server.get("/").1.as_str().unwrap().contains("<td>Lamp, LED · a"));
}

/// A query without an item is said once, and its lists are counted apart.
#[test]
fn a_query_without_items_is_told() {
    let server = Server::start_with(&one_item_config("").replace("'a', 'b', 'c', 'd', 'e'", ""), &[]);
    for id in ["1", "2"] {
        assert_eq!(server.post("/v1/decide", &json!({ "id": id, "query": "USB-C Hub" })).0, 200);
    }
    let metrics = server.get("/metrics").1;
    let expected = "clickbandits_outcomes_total{of=\"decide\",outcome=\"empty\"} 2\n";
    assert!(metrics.as_str().unwrap().contains(expected), "{metrics}");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(9);
    while !server.log().contains("\"no-items\"") {
        assert!(std::time::Instant::now() < until, "{}", server.log());
    }
    assert_eq!(server.log().matches("\"no-items\"").count(), 1);
}

#[test]
fn a_browser_keeps_a_token_in_a_cookie_that_reads() {
    let tokens = "read;er-reader%reader read,manage\nshop-shop-shop-shop decide\n";
    let server = Server::start_with(&one_item_config("tokens = 'tokens'"), &[("tokens", tokens)]);
    let (status, form) = server.get("/");
    assert!(status == 401 && form.as_str().unwrap().contains("<form method=post action=/login>"), "{form}");
    let login = |token: &str| {
        server.send_raw(
            "POST",
            "/login",
            "content-type: application/x-www-form-urlencoded\r\n",
            token.as_bytes(),
        )
    };
    for refused in ["token=shop-shop-shop-shop", "token=nobody-nobody-nobody"] {
        assert!(login(refused).starts_with("HTTP/1.1 401"), "{refused}");
    }
    assert!(login("tok=x").starts_with("HTTP/1.1 400"));
    let answer = login("token=read%3Ber-reader%25reader");
    assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("location: /\r\n"), "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict;"), "{cookie}");
    let cookie = format!("cookie: other=1; {}\r\n", cookie.split(';').next().unwrap());
    for path in ["/", "/v1/log", "/metrics", "/v1/items"] {
        assert_eq!(server.send("GET", path, &cookie, b"").0, 200, "{path}");
    }
    // Its role is no help: another site could have made the browser send it.
    assert_eq!(server.send("PUT", "/v1/items/x", &cookie, b"").0, 401);
    assert_eq!(server.send("DELETE", "/v1/items/a", &cookie, b"").0, 401);
}

#[test]
fn outcomes_are_counted_and_new_queries_limited() {
    let tokens = "shop-shop-shop-shop decide,read\nother-other-other decide\n";
    let config = one_item_config("tokens = 'tokens'\n[limits]\nnew-queries-a-minute = 3");
    let server = Server::start_with(&config, &[("tokens", tokens)]);
    let ask = |token: &str, body: serde_json::Value| {
        let head = format!("authorization: Bearer {token}\r\n");
        let path = if body.is_array() { "/v1/decide/batch" } else { "/v1/decide" };
        server.send("POST", path, &head, body.to_string().as_bytes())
    };
    let batch: Vec<_> = (0..5).map(|n| json!({ "id": format!("{n}"), "query": format!("q{n}") })).collect();
    let (status, answers) = ask("shop-shop-shop-shop", batch.into());
    let codes: Vec<&str> =
        answers.as_array().unwrap().iter().filter_map(|one| one["error"]["code"].as_str()).collect();
    assert_eq!((status, codes), (200, vec!["too_many_new"; 2]));
    let (status, refused) = ask("shop-shop-shop-shop", json!({ "id": "x", "query": "another" }));
    assert_eq!((status, &refused["error"]["code"]), (429, &json!("too_many_new")));
    // Queries that are there, and other tokens, are not at fault.
    assert_eq!(ask("shop-shop-shop-shop", json!({ "id": "y", "query": "q1" })).0, 200);
    assert_eq!(ask("other-other-other", json!({ "id": "x", "query": "another" })).0, 200);
    let metrics = server.send("GET", "/metrics", "authorization: Bearer shop-shop-shop-shop\r\n", b"").1;
    for expected in ["decided\"} 5\n", "too_many_new\"} 3\n"] {
        let expected = format!("clickbandits_outcomes_total{{of=\"decide\",outcome=\"{expected}");
        assert!(metrics.as_str().unwrap().contains(&expected), "{expected}{metrics}");
    }
}
