//! `judgments`: ratings by hand, the form of every file, and names that a form cannot have.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::tempdir;

const COUNTS: &str = "query,item,position,clicks,impressions\n\
                      red shoes,a,1,40,100\nred shoes,b,2,10,100\n\"x, \"\"y\"\" = z\",a,1,0,100\n\"x, \"\"y\"\" = z\",b,2,30,100\n";

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).args(arguments).output().unwrap()
}

fn fit(top: &Path, counts: &str) -> String {
    let [file, out] = ["counts.csv", "fitted"].map(|name| top.join(name).to_str().unwrap().to_owned());
    fs::write(&file, counts).unwrap();
    let output = program(&["fit", "--counts", &file, "--model", "pbm", "--out", &out, "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out
}

fn judgments(dir: &str, more: &[&str]) -> String {
    let output = program(&[&["judgments", dir], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn clicks_over_expected_clicks_by_hand() {
    let top = tempdir().unwrap();
    let dir = fit(top.path(), COUNTS);
    // Rates are 40 / 200 at both positions, so 20 clicks are expected of 100 impressions.
    let csv = judgments(&dir, &["--as", "csv", "--by", "coec"]);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "query,item,rating,lower,upper,clicks,impressions");
    assert!(rows[1].starts_with("red shoes,a,2,"), "{csv}");
    assert!(rows[2].starts_with("red shoes,b,0.5,"), "{csv}");
    assert!(rows[3].starts_with("\"x, \"\"y\"\" = z\",a,0,0,"), "{csv}");
    let quepid = judgments(&dir, &["--as", "quepid", "--by", "coec", "--scale", "0-3"]);
    assert_eq!(
        quepid,
        "query,docid,rating\nred shoes,a,3\nred shoes,b,1\n\"x, \"\"y\"\" = z\",a,0\n\"x, \"\"y\"\" = z\",b,2\n"
    );
    let ltr = judgments(&dir, &["--as", "ltr", "--by", "coec"]);
    assert_eq!(ltr.lines().last().unwrap(), "1.5 qid:2 # b x, \"y\" = z");
    let workbench: Value =
        serde_json::from_str(&judgments(&dir, &["--as", "workbench", "--by", "coec"])).unwrap();
    assert_eq!((&workbench["type"], &workbench["name"]), (&"IMPORT_JUDGMENT".into(), &"fitted".into()));
    assert_eq!(workbench["judgmentRatings"][1]["query"], "x, \"y\" = z");
    assert_eq!(
        workbench["judgmentRatings"][0]["ratings"],
        serde_json::json!([{ "docId": "a", "rating": "2.000" }, { "docId": "b", "rating": "0.500" }])
    );
    let few = judgments(&dir, &["--as", "csv", "--by", "coec", "--min-impressions", "0"]);
    assert_eq!(few, csv);
}

#[test]
fn attraction_is_that_of_the_fit() {
    let top = tempdir().unwrap();
    let dir = fit(top.path(), COUNTS);
    let csv = judgments(&dir, &["--as", "csv"]);
    let parameters: Value =
        serde_json::from_slice(&fs::read(Path::new(&dir).join("parameters.json")).unwrap()).unwrap();
    let item = &parameters["models"][0]["queries"][0]["items"][0];
    let fields: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    let number = |place: usize| fields[place].parse::<f64>().unwrap();
    assert_eq!((fields[1], number(2)), ("a", item["attraction"]["value"].as_f64().unwrap()));
    assert_eq!(
        (number(3), number(4)),
        (item["attraction"]["lower"].as_f64().unwrap(), item["attraction"]["upper"].as_f64().unwrap())
    );
}

#[test]
fn what_a_form_cannot_have_is_refused() {
    let top = tempdir().unwrap();
    let dir = fit(top.path(), COUNTS);
    let out = top.path().join("out");
    for (more, expected) in [
        (vec!["--as", "trec"], "the query `red shoes` has white space"),
        (vec!["--as", "csv", "--min-impressions", "1000"], "no item has 1000 impressions"),
        (vec!["--as", "csv", "--model", "dcm"], "the fit has no model dcm"),
        (vec!["--as", "csv", "--by", "coec", "--model", "pbm"], "--model: only for --by attraction"),
        (vec!["--as", "yaml"], "expected one of quepid, workbench, trec, ltr, csv"),
    ] {
        let output = program(&[&["judgments", &dir, "--out", out.to_str().unwrap()], &more[..]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{expected}: {error}");
        assert!(!out.exists());
    }
    let numbered = tempdir().unwrap();
    let dir = fit(numbered.path(), "query,item,position,clicks,impressions\n7,a,1,4,10\n7,b,2,1,10\n");
    assert_eq!(judgments(&dir, &["--as", "trec", "--by", "coec"]), "7 0 a 3\n7 0 b 3\n");
    let empty = tempdir().unwrap();
    for by in ["attraction", "coec"] {
        let output = program(&["judgments", empty.path().to_str().unwrap(), "--as", "csv", "--by", by]);
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("not a directory of `fit`"), "{by}: {error}");
    }
}

/// Damage anywhere in a table of parameters is found, whether or not a reader would notice it.
#[test]
#[cfg(feature = "parquet")]
fn a_damaged_table_is_refused() {
    let top = tempdir().unwrap();
    let [file, out] = ["counts.csv", "fitted"].map(|name| top.path().join(name).to_str().unwrap().to_owned());
    fs::write(&file, COUNTS).unwrap();
    let fitted =
        ["fit", "--counts", &file, "--model", "pbm", "--parameters", "parquet", "--out", &out, "--quiet"];
    assert!(program(&fitted).status.success());
    let whole = judgments(&out, &["--as", "csv"]);
    let table = Path::new(&out).join("parameters.parquet");
    let bytes = fs::read(&table).unwrap();
    for place in (4..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        fs::write(&table, damaged).unwrap();
        let output = program(&["judgments", &out, "--as", "csv"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && error.contains("not the table that `fit` wrote"),
            "{place}: {error}"
        );
    }
    // A table that stands alone is read.
    fs::write(&table, bytes).unwrap();
    fs::remove_file(Path::new(&out).join("manifest.json")).unwrap();
    assert_eq!(judgments(&out, &["--as", "csv"]), whole);
}
