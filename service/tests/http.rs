//! The API of the running program: bodies, errors, limits, tokens, page.

use crate::server::{Server, one_item_config};
use click_bandits_service::http::{OPENAPI, routes};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn lists_are_decided_answered_and_told() {
    let server = Server::start("");
    let first = server.post("/v1/decide", &json!({ "id": "1", "user": "u" }));
    assert_eq!(first.0, 200, "{first:?}");
    let items = first.1["items"].as_array().unwrap().clone();
    assert_eq!((items.len(), &items[2]["position"], &first.1["version"]), (3, &json!(3), &json!(5)));
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })), first);
    let short =
        server.post("/v1/decide", &json!({ "id": "2", "except": ["a", "b", "nobody"], "positions": 2 })).1;
    let names: Vec<&str> =
        short["items"].as_array().unwrap().iter().map(|slot| slot["item"].as_str().unwrap()).collect();
    assert!(names.len() == 2 && !names.contains(&"a") && !names.contains(&"b"), "{names:?}");
    let click = json!({ "id": "1", "items": [items[1]["item"]], "close": true });
    assert_eq!(server.post("/v1/clicks", &click).1, json!({ "id": "1", "outcome": "counted" }));
    assert_eq!(server.post("/v1/clicks", &click).1["outcome"], "repeated");
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "2", "seen": 0 })).1["outcome"], "counted");
    let shown = json!({ "id": "3", "items": ["e", "d"] });
    assert_eq!(server.post("/v1/show", &shown).1["outcome"], "counted");
    assert_eq!(server.post("/v1/show", &shown).1["outcome"], "repeated");
    // Two displays of the first list, down to the click; none of the others.
    let table = server.get("/v1/items").1;
    let sum = |key: &str| -> u64 {
        table["items"].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
    };
    assert_eq!([sum("shows"), sum("clicks")], [2, 1]);
    let mixed = server
        .post("/v1/clicks/batch", &json!([{ "id": "3", "clicks": [2] }, { "id": "9", "close": true }]))
        .1;
    assert_eq!(
        (&mixed[0]["outcome"], &mixed[1]["error"]["code"]),
        (&json!("counted"), &json!("unknown_decision"))
    );
    let log = server.get("/v1/log?from=5&limit=2").1;
    let lines: Vec<Value> =
        log.as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["number"], &lines[0]["user"]), (2, &json!(5), &json!("u")));
    let page = server.get("/").1;
    let page = page.as_str().unwrap();
    assert!(page.contains("Items of query default") && !page.contains("<script"), "{page}");
    let metrics = server.get("/metrics").1;
    assert!(metrics.as_str().unwrap().contains("\nclickbandits_decisions_total 2\n"), "{metrics}");
}

#[test]
fn items_come_and_go_for_all_queries_and_for_one() {
    let server = Server::start("");
    let ask = |id: &str, query: &str| {
        let list = server.post("/v1/decide", &json!({ "id": id, "query": query, "positions": 3 })).1;
        let items = list["items"].as_array().unwrap();
        items.iter().map(|slot| slot["item"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for item in ["a", "b", "c"] {
        assert_eq!(server.send("DELETE", &format!("/v1/items/{item}"), "", b"").1["outcome"], "counted");
    }
    assert_eq!(ask("1", "q").len(), 2);
    assert_eq!(server.send("PUT", "/v1/items/%3Cb%3E%26?query=q", "", b"").1["id"], "<b>&");
    assert_eq!([ask("2", "q").len(), ask("3", "r").len()], [3, 2]);
    assert_eq!(server.send("DELETE", "/v1/items/d?forget=true", "", b"").1["outcome"], "counted");
    assert_eq!(server.send("DELETE", "/v1/items/d", "", b"").0, 404);
    assert_eq!(server.send("PUT", "/v1/items/a", "", b"").1["outcome"], "counted");
    assert_eq!(server.send("PUT", "/v1/items/a", "", b"").1["outcome"], "repeated");
    let mut list = ask("4", "q");
    list.sort();
    assert_eq!(list, ["<b>&", "a", "e"]);
    assert!(server.get("/?query=q").1.as_str().unwrap().contains("&lt;b&gt;&amp;"));
    assert_eq!(server.get("/v1/items?query=nobody").1["error"]["code"], "unknown_query");
}

#[test]
fn bad_requests_are_refused_by_what_is_at_fault() {
    let server = Server::start("");
    let long = "é".repeat(129);
    let refused = |path: &str, body: &str| {
        let (status, answer) = server.send("POST", path, "", body.as_bytes());
        let of = |key: &str| answer["error"][key].as_str().unwrap_or_default().to_owned();
        (status, of("code"), of("at"))
    };
    let deep = format!("{{\"id\": {}", "[".repeat(100_000));
    let long_name = format!("{{\"id\": \"{long}\"}}");
    let many = format!("[{}]", vec!["{\"id\":\"1\"}"; 1_001].join(","));
    for (path, body, status, code, at) in [
        ("/v1/decide", "{", 400, "malformed", ""),
        ("/v1/decide", "null", 400, "malformed", ""),
        ("/v1/decide", "{\"id\": 7}", 400, "malformed", "id"),
        ("/v1/decide", "{\"id\": \"\"}", 400, "malformed", "id"),
        ("/v1/decide", "{\"id\": \"a\\n\"}", 400, "malformed", "id"),
        ("/v1/decide", &long_name, 400, "malformed", "id"),
        ("/v1/decide", &deep, 400, "malformed", "id"),
        ("/v1/decide", "{\"id\": \"1\", \"excpet\": []}", 400, "malformed", "excpet"),
        ("/v1/decide", "{\"id\": \"1\", \"only\": [\"a\", 3]}", 400, "malformed", "only[1]"),
        ("/v1/decide", "{\"id\": \"1\", \"only\": [], \"except\": []}", 400, "malformed", "only"),
        ("/v1/decide", "{\"id\": \"1\", \"positions\": 0}", 400, "malformed", "positions"),
        ("/v1/decide", "{\"id\": \"1\", \"positions\": 1e99}", 400, "malformed", "positions"),
        ("/v1/decide", "{\"id\": \"1\", \"positions\": 1.5}", 400, "malformed", "positions"),
        ("/v1/decide", "{\"id\": \"1\", \"positions\": 256}", 400, "malformed", "positions"),
        ("/v1/decide", "{\"id\": \"1\", \"positions\": -1}", 400, "malformed", "positions"),
        ("/v1/decide", "\u{0}\u{ff}", 400, "malformed", ""),
        // An array of the fields in their order is no object.
        ("/v1/decide", "[\"1\", null, null, null, null, null, null]", 400, "malformed", ""),
        ("/v1/decide", "{\"id\": \"1\", \"context\": [\"de\", []]}", 400, "malformed", "context"),
        ("/v1/decide/batch", "[{\"id\": \"1\"}, [\"2\"]]", 400, "malformed", "[1]"),
        ("/v1/decide/batch", "[{\"id\": \"1\", \"only\": [], \"except\": []}]", 400, "malformed", "[0].only"),
        ("/v1/clicks/batch", "[{\"id\": \"1\", \"clicks\": []}]", 400, "malformed", "[0].clicks"),
        ("/v1/clicks", "[\"1\", [1], [], true, null]", 400, "malformed", ""),
        ("/v1/clicks", "{\"id\": \"1\", \"clicks\": [\"1\"]}", 400, "malformed", "clicks[0]"),
        ("/v1/items/batch", "[[\"1\", null, \"add\", []]]", 400, "malformed", "[0]"),
        ("/v1/show", "[\"1\", null, [\"a\"], null, null]", 400, "malformed", ""),
        ("/v1/clicks", "{\"id\": \"1\", \"close\": true}", 404, "unknown_decision", "id"),
        ("/v1/show", "{\"id\": \"1\", \"items\": [\"a\", \"a\"]}", 409, "repeated_item", "items[1]"),
        ("/v1/show", "{\"id\": \"1\", \"items\": [\"z\"]}", 404, "unknown_item", "items[0]"),
        ("/v1/decide/batch", "[{\"id\": \"1\"}, {\"id\": []}]", 400, "malformed", "[1].id"),
        ("/v1/decide/batch", &many, 413, "too_long", ""),
        ("/v1/nothing", "{}", 404, "no_such_path", ""),
        ("/healthz", "{}", 405, "wrong_method", ""),
    ] {
        assert_eq!(refused(path, body), (status, code.to_owned(), at.to_owned()), "{path} {body:.60}");
    }
    assert_eq!(refused("/v1/decide", &" ".repeat(1 << 21)).1, "too_large");
    // Its length is in characters, as that of the description is.
    assert_eq!(server.post("/v1/decide", &json!({ "id": "é".repeat(128) })).0, 200);
    server.post("/v1/decide", &json!({ "id": "1" }));
    assert_eq!(
        refused("/v1/clicks", "{\"id\": \"1\", \"clicks\": [1, 4]}"),
        (404, "no_such_position".into(), "clicks[1]".into())
    );
    for (fields, status, at) in [
        ("\"clicks\": [1.5]", 400, "clicks[0]"),
        ("\"clicks\": [3, 256]", 400, "clicks[1]"),
        ("\"clicks\": [0]", 400, "clicks[0]"),
        ("\"clicks\": [-1.0]", 400, "clicks[0]"),
        ("\"clicks\": [3.0, 4.0]", 404, "clicks[1]"),
        ("\"seen\": 4", 404, "seen"),
        ("\"seen\": 0.5", 400, "seen"),
    ] {
        let code = if status == 400 { "malformed" } else { "no_such_position" };
        let body = format!("{{\"id\": \"1\", {fields}}}");
        assert_eq!(refused("/v1/clicks", &body), (status, code.into(), at.into()), "{body}");
    }
    assert_eq!(refused("/v1/clicks", "{\"id\": \"1\"}").0, 400);
    let nothing = server.post("/v1/clicks", &json!({ "id": "1", "clicks": [], "close": false })).1;
    assert!(nothing["error"]["message"].as_str().unwrap().contains("has a click, in `clicks`"), "{nothing}");
    assert_eq!(
        refused("/v1/decide", "{\"id\": \"1\", \"query\": \"q\"}"),
        (409, "other_query".into(), "query".into())
    );
    // None of them changed a count.
    let table = server.get("/v1/items").1;
    assert!(table["items"].as_array().unwrap().iter().all(|row| row["shows"] == 0));
}

#[test]
fn a_whole_number_is_a_position_and_null_is_nothing() {
    let server = Server::start("");
    let ask = r#"{"id": "1", "query": null, "only": null, "except": null, "positions": 2.0, "user": null, "context": null}"#;
    let (status, list) = server.send("POST", "/v1/decide", "", ask.as_bytes());
    assert_eq!((status, list["items"].as_array().map(Vec::len)), (200, Some(2)), "{list}");
    let context = json!({ "id": "2", "context": { "segment": null } });
    assert_eq!(server.post("/v1/decide", &context).0, 200);
    let click = r#"{"id": "1", "clicks": [2.0], "items": null, "close": null, "seen": 2.0}"#;
    assert_eq!(server.send("POST", "/v1/clicks", "", click.as_bytes()).1["outcome"], "counted");
    let again = json!({ "id": "1", "clicks": [2], "seen": 2 });
    assert_eq!(server.post("/v1/clicks", &again).1["outcome"], "repeated");
    let close = r#"{"id": "2", "clicks": null, "close": true}"#;
    assert_eq!(server.send("POST", "/v1/clicks", "", close.as_bytes()).0, 200);
    let item = json!([{ "item": "x", "query": null, "change": null, "features": null }]);
    assert_eq!(server.post("/v1/items/batch", &item).1[0]["outcome"], "counted");
}

#[test]
fn rows_are_as_many_as_are_asked_for_or_refused() {
    let server = Server::start("");
    server.post("/v1/decide", &json!({ "id": "1" }));
    for (path, most) in [("/v1/items", 1_000), ("/v1/log", 10_000), ("/", 200)] {
        assert_eq!(server.get(&format!("{path}?limit={most}")).0, 200);
        for limit in [0, most + 1] {
            let (status, answer) = server.get(&format!("{path}?limit={limit}"));
            assert_eq!((status, &answer["error"]["at"]), (400, &json!("limit")), "{path} {answer}");
        }
    }
}

fn zipped(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

/// A body in gzip is read; its limit is that of the text, and other encodings are refused.
#[test]
fn bodies_may_be_compressed() {
    let server = Server::start("");
    let send = |encoding: &str, body: &[u8]| {
        let head = format!("content-encoding: {encoding}\r\n");
        let (status, answer) = server.send("POST", "/v1/decide", &head, body);
        (status, answer["error"]["code"].as_str().map(str::to_owned))
    };
    let body = zipped(b"{\"id\": \"1\"}");
    assert_eq!(send("gzip", &body), (200, None));
    assert_eq!(send("GZIP", &body), (200, None));
    for encoding in ["br", "gzip, gzip", "deflate"] {
        assert_eq!(send(encoding, &body), (415, Some("unknown_encoding".into())));
    }
    assert_eq!(send("gzip", &body[..body.len() - 4]), (400, Some("malformed".into())));
    assert_eq!(send("gzip", &zipped(b"{")), (400, Some("malformed".into())));
    let large = zipped(&b" ".repeat(1 << 26));
    assert!(large.len() < 1 << 17);
    assert_eq!(send("gzip", &large), (413, Some("too_large".into())));
}

/// A client that still sends its body reads the refusal; the connection is not reset.
#[test]
fn refusals_before_the_end_of_a_body_arrive() {
    let server = Server::start_with(
        &one_item_config("tokens = 'tokens'"),
        &[("tokens", "reader-reader-reader read\nwriter-writer-writer decide\n")],
    );
    let body = b" ".repeat(16 << 20);
    let head = format!("HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n", body.len());
    let write = "authorization: Bearer writer-writer-writer\r\n";
    for (path, extra, status) in [
        ("/v1/decide", write, "413"),
        ("/v1/decide", "", "401"),
        ("/v1/nothing", write, "404"),
        ("/healthz", write, "405"),
        ("/v1/decide", &format!("{write}content-encoding: br\r\n"), "415"),
    ] {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(stream, "POST {path} {head}{extra}\r\n").unwrap();
        stream.write_all(&body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path} {extra}: {answer}");
    }
}

/// The scheme of a token is one in any letters.
#[test]
fn bearer_may_be_in_lower_case() {
    let server = Server::start_with(
        &one_item_config("tokens = 'tokens'"),
        &[("tokens", "reader-reader-reader read\n")],
    );
    let status = |given: &str| server.send("GET", "/v1/log", &format!("authorization: {given}\r\n"), b"").0;
    for scheme in ["Bearer", "bearer", "BEARER", "bearer "] {
        assert_eq!(status(&format!("{scheme} reader-reader-reader")), 200, "{scheme}");
    }
    for given in
        ["reader-reader-reader", "Basic reader-reader-reader", "bearer", "bearerreader-reader-reader"]
    {
        assert_eq!(status(given), 401, "{given}");
    }
}

#[test]
fn names_that_are_not_known_are_listed_and_the_others_are_used() {
    let server = Server::start("");
    let ask = |body: Value| server.post("/v1/decide", &body);
    let only = json!({ "id": "1", "only": ["zz", "a", "b", "yy"] });
    let first = ask(only.clone());
    assert_eq!((first.0, &first.1["unknown"]), (200, &json!(["zz", "yy"])), "{first:?}");
    let names = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap();
        items.iter().map(|slot| slot["item"].as_str().unwrap().to_owned()).collect()
    };
    let mut found = names(&first.1);
    found.sort();
    assert_eq!(found, ["a", "b"]);
    let (_, except) = ask(json!({ "id": "2", "except": ["a", "nobody"] }));
    assert_eq!((&except["unknown"], names(&except).contains(&"a".into())), (&json!(["nobody"]), false));
    let (status, none) = ask(json!({ "id": "3", "only": ["zz"] }));
    assert_eq!((status, &none["unknown"], names(&none).len()), (200, &json!(["zz"]), 0));
    assert_eq!(ask(json!({ "id": "4", "only": ["a"] })).1.get("unknown"), None);
    // The same request has the same answer, whatever the order of its items and whatever came
    // since.
    server.send("PUT", "/v1/items/zz", "", b"");
    assert_eq!(ask(only), first);
    assert_eq!(ask(json!({ "id": "1", "only": ["a", "yy", "zz", "b", "b"], "positions": 3 })), first);
    let refused = |body: Value| {
        let (status, answer) = ask(body);
        (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    for other in [
        json!({ "id": "1" }),
        json!({ "id": "1", "only": ["a", "b"] }),
        json!({ "id": "1", "except": ["zz", "a", "b", "yy"] }),
        json!({ "id": "1", "only": ["zz", "a", "b", "yy"], "positions": 2 }),
        json!({ "id": "2" }),
    ] {
        assert_eq!(refused(other.clone()), (409, "other_request".into()), "{other}");
    }
    assert_eq!(server.post("/v1/show", &json!({ "id": "s", "items": ["a"] })).0, 200);
    let other = server.post("/v1/show", &json!({ "id": "s", "items": ["b"] }));
    assert_eq!((other.0, &other.1["error"]["code"]), (409, &json!("other_request")));
}

#[test]
fn tokens_have_roles() {
    let server = Server::start_with(
        &one_item_config("tokens = 'tokens'"),
        &[("tokens", "# who\nreader-reader-reader read\nshop-shop-shop-shop decide,manage\n")],
    );
    let status = |method: &str, path: &str, token: &str| {
        let head =
            if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
        server.send(method, path, &head, b"{\"id\": \"1\"}").0
    };
    let (reader, shop) = ("reader-reader-reader", "shop-shop-shop-shop");
    assert_eq!(
        [
            status("POST", "/v1/decide", ""),
            status("POST", "/v1/decide", "wrong"),
            status("POST", "/v1/decide", reader),
            status("POST", "/v1/decide", shop)
        ],
        [401, 401, 403, 200]
    );
    assert_eq!(
        [status("GET", "/metrics", ""), status("GET", "/", reader), status("GET", "/v1/log", shop)],
        [401, 200, 403]
    );
    assert_eq!([status("PUT", "/v1/items/x", reader), status("PUT", "/v1/items/x", shop)], [403, 200]);
    assert_eq!(
        [status("GET", "/healthz", ""), status("GET", "/readyz", ""), status("GET", "/openapi.json", "")],
        [200; 3]
    );
}

#[test]
fn slow_and_many_clients_are_let_go() {
    let server =
        Server::start_with(&one_item_config("[limits]\nconnections = 4\nseconds = 1\nidle-seconds = 1"), &[]);
    let mut slow: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    for (place, stream) in slow.iter_mut().enumerate() {
        let half: &[u8] = if place < 2 {
            b"POST /v1/decide HTTP/1.1\r\nhost"
        } else {
            b"POST /v1/decide HTTP/1.1\r\nhost: x\r\ncontent-length: 90\r\n\r\n{"
        };
        stream.write_all(half).unwrap();
    }
    std::thread::sleep(Duration::from_millis(200));
    let mut beyond = TcpStream::connect(&server.address).unwrap();
    let mut text = String::new();
    beyond.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 503") && text.ends_with("\"at\":\"\"}}"), "{text}");
    let start = Instant::now();
    let mut texts = slow.into_iter().map(|mut stream| {
        let mut text = String::new();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        _ = stream.read_to_string(&mut text);
        text
    });
    assert!(texts.by_ref().take(2).all(|text| text.is_empty() || text.contains("408")));
    assert!(texts.all(|text| text.contains("408") && text.contains("too_slow")));
    assert!(start.elapsed() < Duration::from_secs(15));
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })).0, 200);
}

/// The page on the service lists the codes of the source.
#[test]
fn all_codes_of_refusals_are_documented() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../docs/service.md")).unwrap();
    let table = page.split("The codes of refusals").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut codes = std::collections::BTreeSet::from(["unavailable".to_owned()]);
    for file in
        ["src/api.rs", "src/engine/launch.rs", "src/engine/lists.rs", "src/http.rs", "src/http/body.rs"]
    {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        // Rows of the table of refusals.
        let rows = text.lines().filter_map(|line| line.trim().split_once(' '));
        let rows = rows.filter(|(status, _)| status.parse::<u16>().is_ok());
        codes.extend(rows.filter_map(|(_, row)| Some(row.split_once('(')?.0.to_owned())));
        for call in ["Refusal::new(", "Self::new("].iter().flat_map(|call| text.split(call).skip(1)) {
            let mut words = call.split([',', '"']).map(str::trim).filter(|word| !word.is_empty());
            if words.next().is_some_and(|status| status.parse::<u16>().is_ok()) {
                codes.insert(words.next().unwrap().to_owned());
            }
        }
    }
    let said = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| status"));
    let said = said.flat_map(|line| line.split('`').skip(1).step_by(2));
    let said: std::collections::BTreeSet<String> =
        said.filter(|word| !["limits", "seconds"].contains(word)).map(str::to_owned).collect();
    assert_eq!(said, codes);
}

#[test]
fn an_item_is_told_by_itself() {
    let server = Server::start("");
    let list = server.post("/v1/decide", &json!({ "id": "1", "query": "q" })).1;
    server.post("/v1/clicks", &json!({ "id": "1", "clicks": [1] }));
    let item = list["items"][0]["item"].as_str().unwrap();
    let (status, row) = server.get(&format!("/v1/items/{item}?query=q"));
    let table = server.get("/v1/items?query=q").1["items"].clone();
    assert_eq!((status, row["clicks"].as_u64(), row["shows"].as_u64()), (200, Some(1), Some(1)));
    assert!(table.as_array().unwrap().contains(&row), "{table}");
    for (path, code) in [
        ("/v1/items/x?query=q", "unknown_item"),
        ("/v1/items/a?query=other", "unknown_query"),
        ("/v1/items/a?queri=q", "malformed"),
    ] {
        assert_eq!(server.get(path).1["error"]["code"], code, "{path}");
    }
}

/// Items are what they are by the last request, and queries are known, whether or not one is used.
#[test]
fn items_and_queries_are_those_of_now() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    let mut server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let table = |server: &Server| {
        let rows = server.get("/v1/items").1["items"].as_array().unwrap().clone();
        rows.into_iter()
            .map(|row| format!("{} {}", row["item"].as_str().unwrap(), row["state"].as_str().unwrap()))
            .collect::<std::collections::BTreeSet<_>>()
    };
    let present = ["a present", "b present", "c present", "d present", "e present"].map(str::to_owned);
    assert_eq!(table(&server), present.into());
    // A request makes the query, and not who looks.
    assert_eq!(server.send("PUT", "/v1/items/c?query=default", "", b"").0, 200);
    for (method, path) in [("PUT", "kiwi"), ("DELETE", "a"), ("DELETE", "b?forget=true")] {
        assert_eq!(server.send(method, &format!("/v1/items/{path}"), "", b"").1["outcome"], "counted");
    }
    let now = ["a retired", "c present", "d present", "e present", "kiwi present"].map(str::to_owned);
    let status = |item: &str| server.get(&format!("/v1/items/{item}")).0;
    assert_eq!(["kiwi", "a", "b"].map(status), [200, 200, 404]);
    assert_eq!(table(&server), now.clone().into());
    // A request that finds the item makes the query.
    for outcome in ["counted", "repeated"] {
        assert_eq!(server.send("PUT", "/v1/items/kiwi?query=shoes", "", b"").1["outcome"], outcome);
    }
    let known = server.get("/v1/queries").1;
    let row = |query: &str| json!({ "query": query, "decisions": 0, "clicks": 0, "last": null });
    assert_eq!(known["queries"], json!([row("default"), row("shoes")]));
    for stop in ["-KILL", "-TERM"] {
        server.stop(stop);
        server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        assert_eq!((table(&server), server.get("/v1/queries").1), (now.clone().into(), known.clone()));
    }
}

/// A query that is forgotten is new when it is asked for again, and stays so after a kill and a
/// snapshot.
#[test]
fn a_query_may_be_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let config = one_item_config("[limits]\nsnapshot-events = 40\nqueries = 1");
    std::fs::write(directory.path().join("config.toml"), config).unwrap();
    let mut server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let answered = |server: &Server, id: &str, query: &str| {
        let list = server.post("/v1/decide", &json!({ "id": id, "query": query })).1;
        let click = json!({ "id": id, "clicks": [3], "close": true });
        assert_eq!(server.post("/v1/clicks", &click).1["outcome"], "counted");
        list
    };
    let lists = ["a", "b", "c"].map(|query| answered(&server, query, query));
    for stop in ["-TERM", "-KILL"] {
        server.stop(stop);
        server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    }
    for query in ["a", "c"] {
        assert_eq!(server.send("DELETE", &format!("/v1/queries/{query}"), "", b"").0, 200);
    }
    let shows = |server: &Server, query: &str| {
        let rows = server.get(&format!("/v1/items?query={query}")).1;
        rows["items"]
            .as_array()
            .map(|rows| rows.iter().map(|row| row["shows"].as_u64().unwrap()).sum::<u64>())
    };
    let check = |server: &Server| {
        assert_eq!(["a", "b", "c"].map(|query| shows(server, query)), [None, Some(3), None]);
        // Sent again, it has the same answer, and one that was never there is unknown.
        let again = server.send("DELETE", "/v1/queries/a", "", b"");
        assert_eq!((again.0, &again.1["outcome"]), (200, &json!("repeated")));
        let refused = server.send("DELETE", "/v1/queries/z", "", b"");
        assert_eq!((refused.0, &refused.1["error"]["code"]), (404, &json!("unknown_query")));
        // Its decisions keep their lists.
        assert_eq!(
            server.post("/v1/decide", &json!({ "id": "a", "query": "a" })).1["items"],
            lists[0]["items"]
        );
        let late = server.post("/v1/clicks", &json!({ "id": "a", "clicks": [1] }));
        assert_eq!((late.0, &late.1["error"]["code"]), (410, &json!("dropped_query")));
        assert!(server.get("/metrics").1.as_str().unwrap().contains("clickbandits_queries 1\n"));
    };
    check(&server);
    let (status, known) = server.get("/v1/queries");
    assert_eq!((status, &known["queries"][0]["query"], &known["next"]), (200, &json!("b"), &Value::Null));
    assert_eq!((&known["queries"][0]["decisions"], &known["queries"][0]["clicks"]), (&json!(1), &json!(1)));
    assert_eq!(known["queries"].as_array().unwrap().len(), 1);
    assert_eq!(server.get("/v1/queries?limit=1").1["next"], "b");
    assert_eq!(server.get("/v1/queries?after=b").1["queries"], json!([]));
    assert_eq!(server.get("/v1/queries?limit=0").0, 400);
    for stop in ["-KILL", "-TERM", "-KILL"] {
        server.stop(stop);
        server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        check(&server);
    }
    // It is made anew, with others in its place in memory meanwhile.
    answered(&server, "a2", "a");
    (0..40).for_each(|n| _ = answered(&server, &format!("b{n}"), "b"));
    for stop in ["-TERM", "-KILL"] {
        server.stop(stop);
        server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        assert_eq!(["a", "b", "c"].map(|query| shows(&server, query)), [Some(3), Some(123), None]);
    }
}

#[test]
fn an_older_store_forgets_no_query() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    crate::rows::begin_as_older(&data, &crate::engine::template(""));
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1", "query": "a" })).0, 200);
    let refused = server.send("DELETE", "/v1/queries/a", "", b"");
    assert_eq!((refused.0, &refused.1["error"]["code"]), (409, &json!("older_store")));
}

/// Where queries have to be known, others get the lists of a common one.
#[test]
fn new_queries_may_be_common() {
    let server = Server::start("[limits]\nnew-queries = 'known'");
    assert_eq!(server.send("PUT", "/v1/items/x?query=shoes", "", b"").0, 200);
    for (id, query) in [("1", json!("shoes")), ("2", json!("socks")), ("3", Value::Null)] {
        let list = server.post("/v1/decide", &json!({ "id": id, "query": query }));
        assert_eq!((list.0, server.post("/v1/decide", &json!({ "id": id, "query": query }))), (200, list));
        let click = json!({ "id": id, "clicks": [1], "close": true });
        assert_eq!(server.post("/v1/clicks", &click).1["outcome"], "counted");
    }
    let show = json!({ "id": "4", "query": "hats", "items": ["a", "b"] });
    assert_eq!(server.post("/v1/show", &show).1["outcome"], "counted");
    let known = ["shoes", "socks", "hats", "default", "other"].map(|query| {
        let rows = server.get(&format!("/v1/items?query={query}")).1;
        rows["items"]
            .as_array()
            .map(|rows| rows.iter().map(|row| row["clicks"].as_u64().unwrap()).sum::<u64>())
    });
    assert_eq!(known, [Some(1), None, None, Some(1), Some(1)]);
    // Once it is known, its decisions are still those of the common one.
    assert_eq!(server.send("PUT", "/v1/items/x?query=socks", "", b"").0, 200);
    assert_eq!(server.post("/v1/decide", &json!({ "id": "2", "query": "socks" })).0, 200);
}

/// Tokens are read again on SIGHUP; a file that cannot be read changes nothing.
#[test]
fn tokens_are_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = directory.path().join("tokens");
    std::fs::write(directory.path().join("config.toml"), one_item_config("tokens = 'tokens'")).unwrap();
    std::fs::write(&tokens, "first-first-first-first read\n").unwrap();
    let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
    let status =
        |token: &str| server.send("GET", "/v1/log", &format!("authorization: Bearer {token}\r\n"), b"").0;
    let hang_up = |line: &str| {
        let id = server.process.id().to_string();
        assert!(std::process::Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
        while server.log().matches(line).count() == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    std::fs::write(&tokens, "short read\n").unwrap();
    hang_up("tokens-unreadable");
    assert_eq!(status("first-first-first-first"), 200);
    std::fs::write(&tokens, "other-other-other-other read\n").unwrap();
    hang_up("tokens-read");
    assert_eq!((status("first-first-first-first"), status("other-other-other-other")), (401, 200));
    // Without tokens there is nothing to read.
    let open = Server::start("");
    let id = open.process.id().to_string();
    assert!(std::process::Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!((open.get("/readyz").0, open.log().contains("tokens-")), (200, false));
}

#[test]
fn the_description_has_the_routes_and_the_keys() {
    let described: Value = serde_json::from_str(OPENAPI).unwrap();
    let mut of_file: Vec<(String, String)> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            of_file.push((path.clone(), method.clone()));
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
            let has_role = operation.get("security").is_some();
            let route = routes().into_iter().find(|(of, by, ..)| of == path && by == method);
            let (.., role, _) = route.unwrap_or_else(|| panic!("{method} {path} is no route"));
            assert_eq!(role.is_some(), has_role, "{path}");
        }
    }
    let mut of_routes: Vec<_> =
        routes().iter().map(|(path, method, ..)| ((*path).to_owned(), (*method).to_owned())).collect();
    of_file.sort();
    of_routes.sort();
    assert_eq!(of_file, of_routes);
    // A body with all described keys is read, and every one is described.
    let server = Server::start("");
    for (path, schema) in [
        ("/v1/decide", "Decide"),
        ("/v1/show", "Show"),
        ("/v1/clicks", "Answer"),
        ("/v1/items/batch", "Item"),
        ("/v1/launch", "LaunchChange"),
    ] {
        let keys = described["components"]["schemas"][schema]["properties"].as_object().unwrap().keys();
        let body =
            if path.ends_with("batch") { json!([{ "no such key": 1 }]) } else { json!({ "no such key": 1 }) };
        let message = server.post(path, &body).1["error"]["message"].as_str().unwrap().to_owned();
        let expected = message.split("expected").nth(1).unwrap();
        let mut known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let mut keys: Vec<&str> = keys.map(String::as_str).collect();
        known.sort_unstable();
        keys.sort_unstable();
        assert_eq!(known, keys, "{path}: {message}");
    }
}
