//! The server keeps to `openapi.json`: schemathesis makes requests from it, allowed ones and
//! others, with each token. Where it cannot be installed, the test says so.

use crate::server::{Server, one_item_config};
use click_bandits_service::http::OPENAPI;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of schemathesis; others may find more.
const VERSION: &str = "schemathesis==4.32.5";

/// The program, in an environment of its own.
fn installed() -> Option<PathBuf> {
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let run = |program: &Path, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let pip = ["install", "--quiet", "--disable-pip-version-check", VERSION];
    let is_made = run(Path::new("python3"), &["-m", "venv", environment.to_str()?])
        && run(&environment.join("bin/pip"), &pip);
    is_made.then(|| environment.join("bin/schemathesis"))
}

#[test]
fn the_description_holds() {
    let Some(program) = installed() else {
        // Past the harness, which would keep it to itself.
        _ = writeln!(std::io::stderr(), "SKIPPED: {VERSION} cannot be installed here");
        return;
    };
    let tokens = "shop-shop-shop-shop decide,manage\nreader-reader-reader read\n";
    let launch = "[launch]\nname = 'autumn'\nsteps = [0.5]\nfirst = 0\n\
                  guards = [{ metric = 'bounce', worse = 'up', most = 0.1 }]";
    let config = one_item_config(&format!("tokens = 'tokens'\n{launch}"));
    let server = Server::start_with(&config, &[("tokens", tokens)]);
    let elsewhere = tempfile::tempdir().unwrap();
    // The configuration decides whether requests have today's list, and which metrics are known.
    let mut described: Value = serde_json::from_str(OPENAPI).unwrap();
    let schemas = &mut described["components"]["schemas"];
    // Entries of a batch are refused one by one.
    let of_batch = schemas["Decide"].clone();
    schemas["Decide"]["required"] = json!(["id", "baseline"]);
    schemas["Decide"]["properties"]["baseline"]["type"] = json!("array");
    schemas["Decide"]["properties"]["baseline"]["uniqueItems"] = json!(true);
    schemas["Answer"]["properties"]["metrics"] = json!({
        "type": ["object", "null"], "additionalProperties": false,
        "properties": { "bounce": { "type": "number" } },
    });
    let body = "/paths/~1v1~1decide~1batch/post/requestBody/content/application~1json/schema/items";
    *described.pointer_mut(body).unwrap() = of_batch;
    let description = elsewhere.path().join("openapi.json");
    std::fs::write(&description, described.to_string()).unwrap();
    for token in ["shop-shop-shop-shop", "reader-reader-reader"] {
        let mut command = Command::new(&program);
        command.arg("run").arg(&description).args(["--checks", "all"]);
        command.args(["--url", &format!("http://{}", server.address), "--continue-on-failure"]);
        command.args(["--header", &format!("Authorization: Bearer {token}"), "--seed", "1"]);
        command.args(["--max-examples", "20"]);
        let output = command.current_dir(elsewhere.path()).output().unwrap();
        assert!(output.status.success(), "{token}:\n{}", String::from_utf8_lossy(&output.stdout));
    }
    lines_are_as_described(&program.with_file_name("python"));
}

/// Each line of the log of some requests has the schema of lines.
fn lines_are_as_described(python: &Path) {
    let settings = "segments = ['de']\nfeatures = ['age']\n";
    let server = Server::start_with(&(one_item_config("") + settings), &[]);
    let context = json!({ "segment": "de", "features": [1.5] });
    server.post("/v1/decide", &json!({ "id": "1", "user": "u", "context": context }));
    server.post("/v1/decide", &json!({ "id": "2", "query": "q" }));
    server.post("/v1/show", &json!({ "id": "3", "items": ["a"] }));
    server.post("/v1/clicks", &json!({ "id": "1", "clicks": [1], "seen": 2 }));
    server.post("/v1/clicks", &json!({ "id": "2", "close": true }));
    server.send("DELETE", "/v1/items/b", "", b"");
    server.send("PUT", "/v1/items/a?query=q", "", b"");
    server.send("DELETE", "/v1/queries/q", "", b"");
    let log = server.get("/v1/log").1;
    let events = ["decided", "shown", "clicked", "closed", "item", "used", "dropped"];
    assert!(events.iter().all(|event| log.as_str().unwrap().contains(&format!("\"{event}\""))), "{log}");
    let check = "import json, sys, jsonschema_rs
described = json.load(open(sys.argv[1]))
schema = {'$ref': '#/components/schemas/LogLine', 'components': described['components']}
validator = jsonschema_rs.Draft202012Validator(schema)
for line in sys.argv[2].splitlines():
    validator.validate(json.loads(line))
broken = json.loads(line)
broken['position'] = 0
assert not validator.is_valid(broken)
";
    let description = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let output =
        Command::new(python).args(["-c", check, description, log.as_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
