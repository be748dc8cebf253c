//! `evaluate`: every number of the cases of the crate `evaluation`, and what is refused.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::tempdir;

const CASES: [&str; 6] = [
    "adaptive-logger-two-queries",
    "by-hand",
    "latin-square",
    "never-on-top",
    "never-shown",
    "uniform-to-deterministic",
];
const COLUMNS: &str = "session=session,user=user,query=query,item=item,position=position,click=click,propensity=propensity,\
                       prefix-propensity=prefix_propensity,list-propensity=list_propensity";

fn file(case: &str, name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../evaluation/tests/data", case, name].iter().collect()
}

fn run(log: &Path, ranking: &Path, columns: &str, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    command.arg("evaluate").arg(log).args(["--format", "delimited", "--columns", columns]);
    command.arg("--ranking").arg(ranking).arg("--out").arg(out).args(more).output().unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Compares every number of the expected record with that of the same name.
fn compare(found: &Value, expected: &Value, what: &str) {
    match expected {
        Value::Object(fields) => {
            for (name, expected) in fields {
                compare(&found[name], expected, &format!("{what}.{name}"));
            }
        }
        Value::Array(all) => {
            assert_eq!(found.as_array().unwrap().len(), all.len(), "{what}");
            for (place, expected) in all.iter().enumerate() {
                compare(&found[place], expected, what);
            }
        }
        Value::Number(number) => {
            let (found, number) = (found.as_f64().expect(what), number.as_f64().unwrap());
            assert!((found - number).abs() <= 1e-9, "{what}: {found} is not {number}");
        }
        Value::String(text) => assert!(found.as_str().unwrap().starts_with(text), "{what}: {found}"),
        other => assert_eq!(found, other, "{what}"),
    }
}

#[test]
fn the_command_finds_every_number_of_every_case() {
    for case in CASES {
        let expected = read(&file(case, "expected.json"));
        let values: Vec<String> =
            expected["values_of_clicks"].as_array().unwrap().iter().map(Value::to_string).collect();
        let [one, seven] = ["1", "7"].map(|threads| {
            let top = tempdir().unwrap();
            let out = top.path().join("out");
            let more = ["--model", "none", "--values", &values.join(","), "--threads", threads];
            let output = run(&file(case, "log.csv"), &file(case, "ranking.csv"), COLUMNS, &out, &more);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let found = read(&out.join("answer.json"));
            let sentence = found["sentence"].as_str().unwrap();
            assert!(String::from_utf8_lossy(&output.stdout).starts_with(sentence), "{sentence}");
            // Ten groups of users are the fewest with an interval, and no case has enough lists.
            assert!(found["answer"].is_null(), "{found}");
            ["answer.json", "index.html"].map(|name| fs::read(out.join(name)).unwrap())
        });
        assert_eq!(one, seven, "{case}");
        compare(&serde_json::from_slice(&one[0]).unwrap(), &expected, case);
        assert!(fs::metadata(file(case, "log.csv")).is_ok());
    }
}

#[test]
fn what_cannot_be_evaluated_is_refused_and_nothing_is_written() {
    let top = tempdir().unwrap();
    let [log, new, out] = ["log.csv", "new.csv", "out"].map(|name| top.path().join(name));
    let rows = |p: &str, prefix: &str, list: &str| {
        format!(
            "session,user,query,item,position,click,propensity,prefix_propensity,list_propensity\n\
                 s,u,q,a,1,0,0.5,0.5,{list}\ns,u,q,b,2,1,{p},{prefix},{list}\n"
        )
    };
    let good = rows("0.5", "0.25", "0.25");
    for (log_text, ranking, columns, more, expected) in [
        (&rows("0", "0.25", "0.25"), "q,1,a\n", COLUMNS, "", "log.csv:3: column 7 (propensity)"),
        (&rows("1.5", "0.25", "0.25"), "q,1,a\n", COLUMNS, "", "log.csv:3: column 7 (propensity)"),
        (&rows("NaN", "0.25", "0.25"), "q,1,a\n", COLUMNS, "", "log.csv:3: column 7 (propensity)"),
        (&rows("", "0.25", "0.25"), "q,1,a\n", COLUMNS, "", "log.csv:3: column 7 (propensity)"),
        (&rows("0.5", "0.6", "0.6"), "q,1,a\n", COLUMNS, "", "log.csv:3: column 8 (prefix"),
        (&rows("0.5", "0.25", "0.3"), "q,1,a\n", COLUMNS, "", "column 9 (list"),
        (&good, "q,1,a\nq,2,a\n", COLUMNS, "", "new.csv:3: column 3 (item): item `a` twice"),
        (&good, "q,2,a\n", COLUMNS, "", "new.csv:2: column 2 (position): expected position 1"),
        (
            &good,
            "other,1,a\n",
            COLUMNS,
            "",
            "no query of the ranking is in the log: it has `other`, and the log `q`",
        ),
        (&good, "q,1,a\n", COLUMNS, "--values=-1", "the values of clicks: expected 1 numbers"),
        (&good, "q,1,a\nq,2,b\n", COLUMNS, "--values=1", "expected 2 numbers"),
        (&good, "q,1,a\n", COLUMNS, "--model=linear", "--model linear: expected one of pbm"),
        (
            &good,
            "q,1,a\n",
            "item=item,position=position,click=click",
            "--model=dcm",
            "it needs whole sessions",
        ),
        (
            &good,
            "q,1,a\n",
            "query=query,item=item,position=position,click=click,propensity=propensity",
            "--first-position=0",
            "--first-position: 0, but no position of the log is 0: it counts from 1",
        ),
        (
            &good,
            "q,1,a\n",
            COLUMNS,
            "--first-position=0",
            "--first-position: 0, but no position of the log is 0",
        ),
    ] {
        fs::write(&log, log_text).unwrap();
        fs::write(&new, format!("query,position,item\n{ranking}")).unwrap();
        let more: Vec<&str> = more.split_whitespace().collect();
        let output = run(&log, &new, columns, &out, &more);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{expected}: {error}");
        assert!(!out.join("answer.json").exists());
    }
    // A column that the log lacks is the fault of a ranking with its columns as well.
    fs::write(&log, "session,q,item,position,click\ns,q,a,1,0\n").unwrap();
    fs::write(&new, "q,item,position\nq,a,1\n").unwrap();
    let told = |columns| String::from_utf8(run(&log, &new, columns, &out, &[]).stderr).unwrap();
    let columns = "query=query,item=item,position=position,click=click,session=session";
    let error = told(columns);
    assert!(error.contains("log.csv:1: no column `query` in the header"), "{error}");
    fs::write(&log, "session,query,item,position,click\ns,q,a,1,0\n").unwrap();
    let error = told(columns);
    assert!(
        error.contains("new.csv:1: expected a header") && error.contains("names that the log has"),
        "{error}"
    );
}

/// A log of one ranking a query tells nothing of examination, and says what to randomise. With two
/// rankers the model answers.
#[test]
fn deterministic_rankers() {
    let top = tempdir().unwrap();
    let [log, new] = ["log.csv", "new.csv"].map(|name| top.path().join(name));
    fs::write(&new, "query,position,item\nq,1,b\nq,2,a\n").unwrap();
    let columns = "session=session,query=query,item=item,position=position,click=click";
    for (swap, answer) in [(false, None), (true, Some("pbm"))] {
        let mut text = "session,query,item,position,click\n".to_owned();
        for session in 0..2000 {
            let items = if swap && session % 10 == 0 { ["b", "a"] } else { ["a", "b"] };
            for (place, item) in items.iter().enumerate() {
                let click = (session / 10 * 7 + place * 3) % 10 < if *item == "b" { 5 } else { 2 };
                writeln!(text, "s{session},q,{item},{},{}", place + 1, u8::from(click)).unwrap();
            }
        }
        fs::write(&log, text).unwrap();
        let out = top.path().join(format!("out-{swap}"));
        let output = run(&log, &new, columns, &out, &["--model", "pbm", "--quiet"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Quiet is of progress; the answer stays.
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.starts_with("This log has no answer to "), answer.is_none(), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let found = read(&out.join("answer.json"));
        assert_eq!(found["answer"].as_str(), answer, "{found}");
        let advice =
            found["models"]["pbm"]["refused"].as_str().is_some_and(|why| why.contains("swap two neighbours"));
        assert_eq!(advice, !swap, "{found}");
    }
}

/// Groups of users that agree do not tell how sure a number is.
#[test]
fn a_log_without_clicks_has_no_answer() {
    let top = tempdir().unwrap();
    let [log, new, out] = ["log.csv", "new.csv", "out"].map(|name| top.path().join(name));
    fs::write(&new, "query,position,item\nq,1,b\nq,2,a\n").unwrap();
    let mut text =
        "session,user,query,item,position,click,propensity,prefix_propensity,list_propensity\n".to_owned();
    for list in 0..2000 {
        for (place, item) in if list % 2 == 0 { ["a", "b"] } else { ["b", "a"] }.iter().enumerate() {
            writeln!(text, "s{list},u{list},q,{item},{},0,0.5,0.5,0.5", place + 1).unwrap();
        }
    }
    fs::write(&log, text).unwrap();
    let output = run(&log, &new, COLUMNS, &out, &["--model", "none"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = read(&out.join("answer.json"));
    assert!(found["answer"].is_null(), "{found}");
    let remark = |place: usize, key: &str| found["remarks"][place][key].as_str();
    assert_eq!([remark(0, "code"), remark(0, "kind")], [Some("no-answer"), Some("refusal")]);
    assert_eq!([remark(1, "code"), remark(1, "of")], [Some("groups-agree"), Some("list")]);
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("all groups of users agree, so nothing tells how sure it is"), "{sentence}");
    assert!(found["today"]["se"].is_null() && found["estimators"]["list"]["se"].is_null(), "{found}");
}

/// A ranking that shows every list of the log earns what they earned, with or without propensities.
#[test]
fn the_log_s_own_ranking_differs_by_nothing() {
    let top = tempdir().unwrap();
    let [log, new] = ["log.csv", "new.csv"].map(|name| top.path().join(name));
    fs::write(&new, "query,position,item\nq,1,a\nq,2,b\nr,1,c\n").unwrap();
    let header = "session,user,query,item,position,click,propensity,prefix_propensity,list_propensity\n";
    let rows = |click: &dyn Fn(u32) -> bool| {
        let list = |list: u32| {
            let click = u8::from(click(list));
            format!(
                "s{list},u{list},q,a,1,{click},1,1,1\ns{list},u{list},q,b,2,0,1,1,1\ns{list},u{list},r,c,1,0,1,1,1\n"
            )
        };
        header.to_owned() + &(0..400).map(list).collect::<String>()
    };
    let evaluated = |text: &str, columns: &str, name: &str| {
        fs::write(&log, text).unwrap();
        let out = top.path().join(name);
        let output = run(&log, &new, columns, &out, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        read(&out.join("answer.json"))
    };
    let clicked = rows(&|list| list % 3 == 0);
    let plain = COLUMNS.split_once(",propensity").unwrap().0;
    for (columns, name) in [(COLUMNS, "with"), (plain, "without")] {
        let found = evaluated(&clicked, columns, name);
        let sentence = found["sentence"].as_str().unwrap();
        let earned = "the difference is 0 by definition: it earns what they earned, 168 clicks per 1,000 lists (95 % interval 1";
        assert!(sentence.contains(earned), "{sentence}");
        assert_eq!(found["compared"]["as_shown"], 800);
        assert_eq!(found["answer"], "as-shown");
        for level in ["list", "prefix", "position"] {
            let level = &found["estimators"][level];
            assert_eq!(
                (&level["value"], level["difference"].as_f64()),
                (&found["today"]["value"], Some(0.0))
            );
            assert!(level["difference_lower"].is_null() && level["difference_se"].is_null(), "{level}");
        }
    }
    let found = evaluated(&rows(&|_| false), COLUMNS, "no-clicks");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.ends_with("0 clicks per 1,000 lists (nothing tells how sure that is)."), "{sentence}");
    // Longer lists show more than the log.
    fs::write(&new, "query,position,item\nq,1,a\nq,2,b\nq,3,d\nr,1,c\n").unwrap();
    let found = evaluated(&clicked, COLUMNS, "longer");
    assert_eq!((&found["compared"]["as_shown"], &found["compared"]["shorter"]), (&json!(800), &json!(400)));
    assert!(!found["sentence"].as_str().unwrap().contains("by definition"), "{found}");
    fs::write(&new, "query,position,item\nq,1,a\nq,2,b\nr,1,c\n").unwrap();
    // One list that is another one is compared.
    let found = evaluated(&clicked.replacen("s0,u0,r,c", "s0,u0,r,d", 1), COLUMNS, "another");
    assert!(!found["sentence"].as_str().unwrap().contains("by definition"), "{found}");
}

/// A refusal names what to mend: the items that the log does not show for their query.
#[test]
fn items_that_the_log_never_shows_are_named() {
    let top = tempdir().unwrap();
    let [log, new, out] = ["log.csv", "new.csv", "out"].map(|name| top.path().join(name));
    let header = "session,user,query,item,position,click,propensity,prefix_propensity,list_propensity\n";
    let list = |list: usize| {
        let query = list % 6;
        format!("s{list},u{list},q{query},a,1,0,1,1,1\ns{list},u{list},q{query},b,2,1,1,1,1\n")
    };
    fs::write(&log, header.to_owned() + &(0..600).map(list).collect::<String>()).unwrap();
    // Every query but q5 has an item that is new, and q0 two; no list of `other` is in the log.
    let rows = "q0,1,\"x, red\"\nq0,2,y\nq1,1,b\nq1,2,z\nq2,1,b\nq2,2,z\nq3,1,z\nq3,2,b\nq4,1,z\nq4,2,a\nq5,1,b\nq5,2,a\nother,1,z\n";
    fs::write(&new, format!("query,position,item\n{rows}")).unwrap();
    let output = run(&log, &new, COLUMNS, &out, &["--model", "pbm"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.starts_with("This log has no answer"), "{printed}");
    let named = "Items that the log never shows down to the end of a new list, for the first such lists: for `q0` x, red · y; for `q1` z; for `q2` z.";
    assert!(printed.contains(named), "{printed}");
    let found = read(&out.join("answer.json"));
    let codes: Vec<&str> =
        found["remarks"].as_array().unwrap().iter().map(|remark| remark["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"items-never-shown"), "{found}");
    assert!(fs::read_to_string(out.join("index.html")).unwrap().contains("x, red · y"));
}
