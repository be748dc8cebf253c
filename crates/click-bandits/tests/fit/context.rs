//! `fit --context`: from a log with segment and features to `context.json`.

use super::{refused, text, works};
use spec::ContextFit;
use std::fs;
use tempfile::tempdir;

const COLUMNS: &str = "session=s,item=i,position=p,click=c,segment=g,features=age";

/// Young users click on `a`, old ones on `b`.
fn log() -> String {
    let lines = (0..200).map(|list| {
        let (age, order) = (20 + list * 7 % 50, if list % 2 == 0 { ["a", "b"] } else { ["b", "a"] });
        let clicked = if age < 45 { "a" } else { "b" };
        let line = |position: usize| {
            let item = order[position];
            format!("{list},{item},{},{},g{},{age}\n", position + 1, u8::from(item == clicked), list % 3)
        };
        line(0) + &line(1)
    });
    "s,i,p,c,g,age\n".to_owned() + &lines.collect::<Vec<_>>().concat()
}

#[test]
fn a_log_becomes_a_policy_that_starts_where_it_ends() {
    let top = tempdir().unwrap();
    let [log_file, items, out] = ["log.csv", "items.csv", "out"].map(|name| top.path().join(name));
    fs::write(&log_file, log()).unwrap();
    fs::write(&items, "item,price\na,1\nb,3.5\n").unwrap();
    let arguments = [
        text(&log_file),
        "--format",
        "delimited",
        "--columns",
        COLUMNS,
        "--context",
        "--model",
        "cascade",
        "--items",
        text(&items),
        "--ablate",
        "--out",
        text(&out),
    ];
    let printed = works("fit", &arguments);
    for part in [
        "Fitted: hybrid-ts to 200 lists by cascade: 2 items, 3 segments, 1 feature",
        "higher without age by",
        "personal lists",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    let path = out.join("context.json");
    let content = fs::read(&path).unwrap();
    let fit = ContextFit::read(text(&path), &content).unwrap();
    assert_eq!((fit.items.as_slice(), fit.segments.len()), (&["a".to_owned(), "b".to_owned()][..], 3));
    let age = fit.report.columns.iter().find(|column| column.column == "age").unwrap();
    assert!(age.gain.unwrap().lower > 0.0);
    works("fit", &arguments);
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn wrong_arguments_and_files_name_what_is_wrong() {
    let top = tempdir().unwrap();
    let [log_file, items] = ["log.csv", "items.csv"].map(|name| top.path().join(name));
    fs::write(&log_file, log().replace("\n7,a,2,", "\n7,c,2,")).unwrap();
    fs::write(&items, "item,price\na,1\nb,3.5\n").unwrap();
    let error_of = |columns: &str, more: &[&str]| {
        let arguments = [text(&log_file), "--format", "delimited", "--columns", columns, "--context"];
        refused(&[&arguments[..], more].concat())
    };
    for (columns, more, message) in [
        (COLUMNS, &[][..], "--model: expected one of cascade, dcm and pbm"),
        (COLUMNS, &["--model", "dbn"], "--model dbn: expected cascade, dcm or pbm"),
        (
            COLUMNS,
            &["--model", "dcm", "--held-out", "last"],
            "--held-out: expected a number from 2 with --context",
        ),
        (COLUMNS, &["--model", "dcm", "--query", "x"], "`query` is missing"),
        (COLUMNS, &["--model", "dcm", "--answer", "3"], "cannot be used with"),
        ("query=g,session=s,item=i,position=p,click=c", &["--model", "dcm"], "--query: missing"),
        ("item=i,position=p,click=c", &["--model", "dcm"], "`session` is missing"),
        (
            COLUMNS,
            &["--model", "dcm", "--items", text(&items)],
            "log.csv:17: column 2 (i): an item without a row",
        ),
        (COLUMNS, &["--model", "dcm", "--items", "none.csv"], "none.csv"),
        (
            COLUMNS,
            &["--model", "dcm", "--first-position", "0"],
            "expected the first position, 0: the lines of a list stand together here, from the top, found `1`; \
             if they count from 1, leave --first-position out",
        ),
    ] {
        let error = error_of(columns, more);
        assert!(error.contains(message), "{error}\n{message}");
    }
}
