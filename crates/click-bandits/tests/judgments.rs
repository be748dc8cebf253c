//! `judgments`: ratings by hand, the form of every file, and names that a form cannot have.

use serde_json::Value;
use std::fmt::Write as _;
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
        "query,docid,rating\nred shoes,a,3\nred shoes,b,1\n\"x, \"\"y\"\" = z\",a,0\n\"x, \"\"y\"\" = z\",b,3\n"
    );
    let ltr = judgments(&dir, &["--as", "ltr", "--by", "coec"]);
    assert_eq!(ltr.lines().last().unwrap(), "1.5 qid:2 # b x, \"y\" = z");
    let workbench: Value =
        serde_json::from_str(&judgments(&dir, &["--as", "workbench", "--by", "coec"])).unwrap();
    assert_eq!((&workbench["type"], &workbench["name"]), (&"IMPORT_JUDGMENT".into(), &"fitted".into()));
    assert_eq!(workbench["judgmentRatings"][1]["query"], "x, \"y\" = z");
    assert_eq!(
        workbench["judgmentRatings"][0]["ratings"],
        serde_json::json!([{ "docId": "a", "rating": "2" }, { "docId": "b", "rating": "0.5" }])
    );
    // The prior alone rates the items of a query without clicks.
    let other = tempdir().unwrap();
    let unclicked = fit(other.path(), &format!("{COUNTS}z,a,1,0,9\nz,b,2,0,9\n"));
    let output = program(&["judgments", &unclicked, "--as", "csv"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 query: each has no clicks: its ratings are those of the prior alone"), "{said}");
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
        (vec!["--as", "csv", "--min-impressions", "1000"], "no item has 1000 impressions"),
        (vec!["--as", "csv", "--model", "dcm"], "the fit has no model dcm"),
        (vec!["--as", "csv", "--by", "coec", "--model", "pbm"], "--model: only for --by attraction"),
        (vec!["--as", "yaml"], "expected one of quepid, workbench, trec, topics, ltr, csv"),
    ] {
        let output = program(&[&["judgments", &dir, "--out", out.to_str().unwrap()], &more[..]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{expected}: {error}");
        assert!(!out.exists());
    }
    let numbered = tempdir().unwrap();
    let dir = fit(numbered.path(), "query,item,position,clicks,impressions\n7,a,1,4,10\n7,b,2,1,10\n");
    let output = program(&["judgments", &dir, "--as", "trec", "--by", "coec"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1 0 a 3\n1 0 b 3\n");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("1 query: each has ratings that are all equal"), "{told}");
    assert!(told.contains("--as topics"), "{told}");
    let spaced = tempdir().unwrap();
    let dir = fit(spaced.path(), "query,item,position,clicks,impressions\n7,a b,1,4,10\n7,b,2,1,10\n");
    let output = program(&["judgments", &dir, "--as", "trec"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("the item `a b` has white space"));
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

/// Ratings keep their digits: eight items that are hardly clicked have eight ratings.
#[test]
fn ratings_of_rare_clicks_differ() {
    let top = tempdir().unwrap();
    let cells = [(9, 4), (7, 3), (5, 2), (4, 2), (3, 1), (2, 1), (1, 0), (0, 0)].into_iter().enumerate();
    let rows = cells.map(|(item, (first, second))| {
        format!("shoes,s{item},1,{first},20000\nshoes,s{item},2,{second},20000\n")
    });
    let dir =
        fit(top.path(), &format!("query,item,position,clicks,impressions\n{}", rows.collect::<String>()));
    let request: Value = serde_json::from_str(&judgments(&dir, &["--as", "workbench"])).unwrap();
    let ratings = request["judgmentRatings"][0]["ratings"].as_array().unwrap();
    let ratings: Vec<&str> = ratings.iter().map(|rating| rating["rating"].as_str().unwrap()).collect();
    let csv = judgments(&dir, &["--as", "csv"]);
    let expected: Vec<&str> = csv.lines().skip(1).map(|row| row.split(',').nth(2).unwrap()).collect();
    assert_eq!(ratings, expected);
    let different: std::collections::BTreeSet<_> = ratings.iter().collect();
    assert_eq!(different.len(), 8, "{ratings:?}");
}

/// Grades are those of a query, so a rare one has them all; topics have numbers, and words beside
/// them.
#[test]
fn grades_and_topics_are_those_of_a_query() {
    let top = tempdir().unwrap();
    let mut counts = "query,item,position,clicks,impressions\n".to_owned();
    for (query, clicks) in [("a brand", [1600, 960, 480, 160]), ("long tail", [120, 72, 36, 12])] {
        for (item, clicks) in clicks.iter().enumerate() {
            for (position, clicks) in [(1, *clicks), (2, clicks / 2)] {
                writeln!(counts, "{query},i{item},{position},{clicks},2000").unwrap();
            }
        }
    }
    let dir = fit(top.path(), &counts);
    let grades = "3 2 1 0 3 2 1 0";
    for by in ["attraction", "coec"] {
        let csv = judgments(&dir, &["--as", "quepid", "--scale", "0-3", "--by", by]);
        let found: Vec<&str> = csv.lines().skip(1).map(|row| row.rsplit(',').next().unwrap()).collect();
        assert_eq!(found.join(" "), grades, "{csv}");
    }
    let out = top.path().join("qrels");
    judgments(&dir, &["--as", "trec", "--out", out.to_str().unwrap()]);
    let qrels = fs::read_to_string(&out).unwrap();
    let found: Vec<&str> = qrels.lines().map(|row| row.rsplit(' ').next().unwrap()).collect();
    assert_eq!(found.join(" "), grades, "{qrels}");
    assert!(qrels.starts_with("1 0 i0 3\n") && qrels.contains("\n2 0 i3 0\n"), "{qrels}");
    let topics = "1\ta brand\n2\tlong tail\n";
    assert_eq!(fs::read_to_string(top.path().join("qrels.topics.tsv")).unwrap(), topics);
    assert_eq!(judgments(&dir, &["--as", "topics"]), topics);
    // Neither file is replaced.
    fs::remove_file(&out).unwrap();
    let again = program(&["judgments", &dir, "--as", "trec", "--out", out.to_str().unwrap()]);
    assert!(!again.status.success() && !out.exists());
}

/// The words of a query are anybody's: a spreadsheet must not run them. Tools get them as they are.
#[test]
fn formulas_are_text() {
    let top = tempdir().unwrap();
    let dir = fit(
        top.path(),
        "query,item,position,clicks,impressions\n=cmd|1,@a,1,4,10\n=cmd|1,b,2,1,10\n\"-1,5 volt\",c,1,1,10\n",
    );
    for form in ["csv", "quepid"] {
        let output = program(&["judgments", &dir, "--as", form]);
        let [text, told] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        for expected in ["\n'=cmd|1,'@a,", "\n'=cmd|1,b,", "\n\"'-1,5 volt\",c,"] {
            assert!(text.contains(expected), "{text}");
        }
        assert!(told.contains("4 names: each would be a formula"), "{told}");
        assert!(judgments(&dir, &["--as", form, "--keep-formulas"]).contains("\n=cmd|1,@a,"));
    }
    assert!(judgments(&dir, &["--as", "workbench"]).contains("\"=cmd|1\""));
    assert!(judgments(&dir, &["--as", "ltr"]).contains("qid:1 # c -1,5 volt"));
}

/// Every file that ratings come from has to be the one that `fit` wrote.
#[test]
fn changed_sources_are_refused() {
    for (name, by, from, to) in [
        ("parameters.json", "attraction", "\"value\":0.", "\"value\":2"),
        ("counts.csv", "coec", ",40,", ",41,"),
    ] {
        let top = tempdir().unwrap();
        let dir = fit(top.path(), COUNTS);
        let file = Path::new(&dir).join(name);
        let text = fs::read_to_string(&file).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        fs::write(&file, changed).unwrap();
        let output = program(&["judgments", &dir, "--as", "csv", "--by", by]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains("not the table that `fit` wrote"), "{error}");
    }
}
