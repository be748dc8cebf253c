//! Parameters as Parquet: `--parameters parquet`, what the files of both forms have in common, and
//! who reads them.

use super::{contents, dcm_log, pbm_log, run, text, works};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::{self, File};
use std::path::Path;
use tempfile::tempdir;

/// The rows of a CSV file as texts, with the head.
fn of_csv(path: &Path) -> Vec<Vec<String>> {
    let mut table = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    table.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The rows of a Parquet file as texts as CSV has them, with the head.
fn of_parquet(path: &Path) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => panic!("{other}"),
    };
    let rows = reader.get_row_iter(None).unwrap();
    let rows = rows.map(|row| row.unwrap().get_column_iter().map(|(_, field)| text(field)).collect());
    [columns.iter().map(|column| column.name().to_owned()).collect()].into_iter().chain(rows).collect()
}

#[test]
fn the_table_has_the_rows_of_the_csv_file_and_the_other_files_are_the_same() {
    let top = tempdir().unwrap();
    // Sessions, so that all models are fitted.
    let log = dcm_log(top.path(), 11, 500);
    let arguments = [text(&log), "--format", "yandex", "--answer", "0", "--quiet"];
    let written = |name: &str, more: &[&str]| {
        let out = top.path().join(name);
        works("fit", &[&arguments[..], &["--out", text(&out)], more].concat());
        (contents(&out), out)
    };
    let (by_size, _) = written("by-size", &[]);
    let (json, of_json) = written("json", &["--parameters", "json"]);
    assert!(by_size == json);
    let (one, of_table) = written("one", &["--parameters", "parquet", "--threads", "1"]);
    let (two, _) = written("two", &["--parameters", "parquet", "--threads", "2"]);
    assert!(one == two);
    let rows = of_csv(&of_json.join("parameters.csv"));
    assert!(rows.len() > 100);
    assert_eq!(of_parquet(&of_table.join("parameters.parquet")), rows);
    for more in [&[][..], &["--model", "dbn", "--min-impressions", "30"]] {
        let [of_json, of_table] = [&of_json, &of_table].map(|dir| {
            let output = run("judgments", &[&[text(dir), "--as", "csv"], more].concat());
            String::from_utf8(output.stdout).unwrap()
        });
        assert!(of_json.lines().count() > 10 && of_json == of_table, "{of_json}{of_table}");
    }
    let output = run("judgments", &[text(&of_table), "--as", "csv", "--model", "ctr-rank"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the fit has no model ctr-rank"));
    let names = |files: &std::collections::BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let parameters = ["parameters.json", "parameters.csv", "parameters.parquet", "index.html"];
        files.keys().filter(|name| !parameters.contains(&name.as_str())).cloned().collect()
    };
    assert_eq!(names(&one), names(&json));
    assert!(names(&one).iter().all(|name| one[name] == json[name]));
    assert!(!one.contains_key("parameters.csv") && !json.contains_key("parameters.parquet"));
    let page = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        String::from_utf8(files["index.html"].clone()).unwrap()
    };
    assert!(page(&one).replace("parameters.parquet", "parameters.csv") == page(&json));
    let value = |files: &std::collections::BTreeMap<String, Vec<u8>>| -> serde_json::Value {
        serde_json::from_slice(&files["parameters.json"]).unwrap()
    };
    let (with_table, whole) = (value(&one), value(&json));
    assert_eq!(with_table["table"], "parameters.parquet");
    for model in 0..whole["models"].as_array().unwrap().len() {
        assert_eq!(with_table["models"][model]["site"], whole["models"][model]["site"]);
        assert_eq!(with_table["models"][model].get("queries"), None);
    }
}

/// Long names make a large file of few parameters.
#[test]
fn the_size_decides_not_the_number() {
    let top = tempdir().unwrap();
    let counts = top.path().join("counts.csv");
    let written = |n_items: usize, name: &str, more: &[&str]| {
        let long = "x".repeat(2000);
        let cell = |item| format!("q,{long}{item},{},{},1000\n", item % 3 + 1, item % 7 + 100);
        let cells: String = (0..n_items).map(cell).collect();
        fs::write(&counts, format!("query,item,position,clicks,impressions\n{cells}")).unwrap();
        let out = top.path().join(name);
        let arguments = ["--counts", text(&counts), "--model", "pbm", "--out", text(&out)];
        works("fit", &[&arguments[..], &["--quiet"], more].concat());
        contents(&out)
    };
    let size = |files: &std::collections::BTreeMap<String, Vec<u8>>| files["parameters.json"].len();
    let small = written(9_000, "small", &[]);
    assert!(small.contains_key("parameters.csv") && (18_000_000..=20_000_000).contains(&size(&small)));
    let large = written(10_000, "large", &[]);
    assert!(!large.contains_key("parameters.csv") && large.contains_key("parameters.parquet"));
    assert!(size(&large) < 10_000);
    let asked = written(10_000, "asked", &["--parameters", "json"]);
    assert!(asked.contains_key("parameters.csv") && size(&asked) > 20_000_000);
}

#[test]
fn the_same_fit_may_be_written_in_the_other_form_and_leaves_no_file_of_the_first() {
    let top = tempdir().unwrap();
    let (log, out) = (pbm_log(top.path(), 4000), top.path().join("out"));
    let arguments = [text(&log), "--format", "kdd2012", "--out", text(&out), "--parameters"];
    let printed = works("fit", &[&arguments[..], &["json"]].concat());
    assert!(!printed.contains("parameters.parquet"), "{printed}");
    let json = contents(&out);
    let printed = works("fit", &[&arguments[..], &["parquet"]].concat());
    assert!(
        printed.contains("in parameters.parquet; parameters.json has what belongs to all queries together"),
        "{printed}"
    );
    let table = contents(&out);
    assert!(table.contains_key("parameters.parquet") && !table.contains_key("parameters.csv"));
    works("fit", &[&arguments[..], &["json"]].concat());
    assert!(contents(&out) == json);
    // A file of the user is refused before the log is read, and stays.
    fs::write(out.join("parameters.parquet"), "mine").unwrap();
    let output = run("fit", &[&arguments[..], &["parquet"]].concat());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("parameters.parquet: is in the way"), "{message}");
    assert_eq!(fs::read(out.join("parameters.parquet")).unwrap(), b"mine");
    fs::remove_file(out.join("parameters.parquet")).unwrap();
    assert!(contents(&out) == json);
}

/// The answer has parameters of its own, from halves of the log, whatever the form of the others.
#[test]
fn the_decision_plays_again_and_users_of_the_file_without_queries_are_refused() {
    let top = tempdir().unwrap();
    let log = super::answer::log(top.path());
    let arguments = [text(&log), "--format", "sessions", "--model", "pbm", "--quiet", "--parameters"];
    let [json, table] = ["json", "parquet"].map(|form| {
        let out = top.path().join(form);
        works("fit", &[&arguments[..], &[form, "--out", text(&out)]].concat());
        out
    });
    for file in ["answer.json", "decision.toml", "first-half.json", "second-half.json", "logged.csv"] {
        let [one, other] = [&json, &table].map(|out| fs::read(out.join(file)).unwrap());
        assert!(one == other, "{file}");
    }
    let played = top.path().join("played");
    let spec = table.join("decision.toml");
    works("simulate", &[text(&spec), "--out", text(&played), "--runs", "3", "--quiet"]);
    assert!(played.join("result.json").is_file());

    let decision = fs::read_to_string(&spec).unwrap();
    let halves = "[\"first-half.json\", \"second-half.json\"]";
    assert!(decision.contains(halves), "{decision}");
    fs::write(&spec, decision.replace(halves, "\"parameters.json\"")).unwrap();
    for command in ["check", "simulate"] {
        let out = top.path().join("refused");
        let more = ["--out", text(&out)];
        let more = if command == "simulate" { &more[..] } else { &[] };
        let output = run(command, &[&[text(&spec)], more].concat());
        let message = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!output.status.success() && !out.exists());
        assert!(
            message
                .contains("parameters.json: table: the parameters of queries are in \"parameters.parquet\"")
                && message.contains("`fit --parameters json`"),
            "{message}"
        );
    }
}
