//! Doubts about the log stand before the answer.

use super::{answer, run, text, works};
use std::fs;
use tempfile::tempdir;

#[test]
fn robots_are_reported_before_the_answer() {
    let top = tempdir().unwrap();
    let (log, out) = (answer::log(top.path()), top.path().join("out"));
    let robots = "7\t0\t100,101,102\t111\n".repeat(30);
    fs::write(&log, fs::read_to_string(&log).unwrap() + &robots).unwrap();
    let printed = works("fit", &[text(&log), "--format", "sessions", "--model", "pbm", "--out", text(&out)]);
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for (shown, answer) in [(printed, "The answer for "), (page, "The answer</h2>")] {
        let [first, answer] = ["They may be robots.", answer].map(|text| shown.find(text).expect(&shown));
        assert!(first < answer && shown[first..].contains("(--max-clicks 2)"), "{shown}");
    }
    let comparison = fs::read_to_string(out.join("comparison.json")).unwrap();
    let comparison: serde_json::Value = serde_json::from_str(&comparison).unwrap();
    let found = &comparison["checks"]["many_clicks"];
    assert!((30..40).contains(&found["sessions"].as_u64().unwrap()) && found["limit"] == 2, "{found}");
}

#[test]
fn counts_are_not_checked_and_this_is_said() {
    let top = tempdir().unwrap();
    let (counts, out) = (top.path().join("counts.csv"), top.path().join("out"));
    let cells = "q,a,1,60,100\nq,a,2,30,100\nq,b,1,40,100\nq,b,2,20,100\n";
    fs::write(&counts, format!("query,item,position,clicks,impressions\n{cells}")).unwrap();
    let printed = works("fit", &["--counts", text(&counts), "--out", text(&out)]);
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for shown in [printed, page] {
        assert_eq!(shown.matches("which counts do not have").count(), 1, "{shown}");
    }
}

/// Rows and counts without what was shown and not clicked: said first, and no answer.
#[test]
fn swapped_columns_are_remarked() {
    let top = tempdir().unwrap();
    let log = top.path().join("log.csv");
    let rows = |session: usize| {
        let row = |place: usize| {
            let item = 3 * (session % 5) + place;
            format!(
                "s{session},u{session},q{},i{item},{},{}\n",
                session % 5,
                place + 1,
                (session + place) % 3 / 2
            )
        };
        (0..3).map(row).collect::<String>()
    };
    let rows: String = (0..60).map(rows).collect();
    fs::write(&log, format!("session,user,query,item,position,click\n{rows}")).unwrap();
    let (one_item, once) =
        ("Every list has one item, so there is nothing to rank.", "Every query is in the log once,");
    for (number, (columns, expected)) in [
        ("query=item,item=query,session=session", Some(one_item)),
        ("query=item,item=query", Some(one_item)),
        ("query=user,item=item,session=session", Some(once)),
        ("query=query,item=item,session=session", None),
        ("query=query,item=item", None),
    ]
    .into_iter()
    .enumerate()
    {
        let (out, columns) =
            (top.path().join(number.to_string()), format!("{columns},position=position,click=click"));
        let arguments = [text(&log), "--format", "delimited", "--columns", &columns, "--out", text(&out)];
        let printed = works("fit", &[&arguments[..], &["--model", "all", "--answer", "0"]].concat());
        for sentence in [one_item, once] {
            assert_eq!(printed.contains(sentence), expected == Some(sentence), "{columns}: {printed}");
        }
    }
}

#[test]
fn a_log_of_clicks_alone_is_said_before_anything_else_and_has_no_answer() {
    let top = tempdir().unwrap();
    let lists =
        (0..200).map(|session| format!("s{session},q{},i{},{}\n", session % 2, session % 7, 1 + session % 3));
    let rows = lists.map(|row| row.replace('\n', ",1\n")).collect::<String>();
    let cells = (0..90).map(|cell| format!("q,i{},{},{},50\n", cell / 3, 1 + cell % 3, 1 + cell % 3 / 2));
    let counts = cells.collect::<String>();
    let columns = "session=session,query=query,item=item,position=position,click=click";
    for (name, head, table, format) in [
        (
            "rows.csv",
            "session,query,item,position,click",
            rows,
            &["--format", "delimited", "--columns", columns, "--lenient", "--max-skipped", "1"][..],
        ),
        ("counts.csv", "query,item,position,clicks,impressions", counts, &[][..]),
    ] {
        let (log, out) = (top.path().join(name), top.path().join(name).with_extension("out"));
        fs::write(&log, format!("{head}\n{table}")).unwrap();
        let source = if format.is_empty() { vec!["--counts", text(&log)] } else { vec![text(&log)] };
        let printed = works("fit", &[&source[..], format, &["--model", "pbm", "--out", text(&out)]].concat());
        assert!(
            printed.starts_with("No fit to this log can be right: the log has only what was clicked: "),
            "{printed}"
        );
        assert!(
            printed.contains("\nNo answer on today's ranking: the log has only what was clicked: "),
            "{printed}"
        );
        assert!(
            fs::read_to_string(out.join("index.html")).unwrap().contains("No fit to this log can be right")
        );
        // A quiet fit says it as well, apart from its answer.
        let quiet =
            run("fit", &[&source[..], format, &["--model", "pbm", "--quiet", "--out", text(&out)]].concat());
        let answer = "No answer on today's ranking: the log has only what was clicked: ";
        assert!(quiet.status.success() && quiet.stdout.starts_with(answer.as_bytes()));
        let said = String::from_utf8(quiet.stderr).unwrap();
        assert!(said.starts_with("No fit to this log can be right: "), "{said}");
    }
}
