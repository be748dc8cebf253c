//! Doubts about the log stand before the answer.

use super::{answer, text, works};
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
