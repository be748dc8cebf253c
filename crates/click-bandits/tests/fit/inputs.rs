//! The same data give the same parameters in every form: logs, tables, counts, Parquet, standard
//! input.

use super::{contents, dcm_log, pbm_log, refused, run, table, text, works};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::tempdir;

/// `counts.csv` of one fit is the input of the next, and gives the same parameters.
#[test]
fn the_counts_of_a_log_give_the_same_parameters_as_the_log() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let (first, second) = (top.path().join("first"), top.path().join("second"));
    works("fit", &[text(&log), "--format", "kdd2012", "--out", text(&first)]);
    let counts = first.join("counts.csv");
    let printed = works("fit", &["--counts", text(&counts), "--out", text(&second)]);
    assert!(printed.contains("not fitted: cascade, dcm, ubm, sdbn"), "{printed}");
    for file in ["parameters.csv", "counts.csv", "examination.svg"] {
        assert_eq!(fs::read(first.join(file)).unwrap(), fs::read(second.join(file)).unwrap());
    }
    let delimited = top.path().join("delimited");
    let columns = "query=query,item=item,position=position,click=clicks,impressions=impressions";
    works(
        "fit",
        &[text(&counts), "--format", "delimited", "--columns", columns, "--out", text(&delimited), "--quiet"],
    );
    assert_eq!(contents(&delimited)["parameters.csv"], contents(&first)["parameters.csv"]);
}

/// The lists and clicks of a Yandex log as a table with one line for each impression, and with a
/// column of users.
fn as_table(yandex: &str) -> String {
    let mut lists: Vec<(Vec<&str>, Vec<bool>)> = Vec::new();
    for line in yandex.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[2] == "Q" {
            lists.push((fields[5..].to_vec(), vec![false; 10]));
        } else {
            // The sessions of the generated log have one list each.
            let (items, clicks) = lists.last_mut().unwrap();
            clicks[items.iter().position(|item| *item == fields[3]).unwrap()] = true;
        }
    }
    let mut table = "visit,user,rank,doc,clicked\n".to_owned();
    for (visit, (items, clicks)) in lists.iter().enumerate() {
        for (place, (item, click)) in items.iter().zip(clicks).enumerate() {
            writeln!(table, "v{visit},user-{visit},{},{item},{}", place + 1, u8::from(*click)).unwrap();
        }
    }
    table
}

/// The files of the fit contain neither sessions nor users.
#[test]
fn a_table_with_sessions_gives_the_same_parameters_as_a_log_of_sessions() {
    let top = tempdir().unwrap();
    let log = dcm_log(top.path(), 11, 600);
    let table = top.path().join("log.csv");
    fs::write(&table, as_table(&fs::read_to_string(&log).unwrap())).unwrap();
    let outs = ["yandex", "table"].map(|name| top.path().join(name));
    works("fit", &[text(&log), "--format", "yandex", "--answer", "0", "--out", text(&outs[0]), "--quiet"]);
    let columns = "item=doc,position=rank,click=clicked,session=visit";
    let arguments = [text(&table), "--format", "delimited", "--columns", columns];
    let printed = works("fit", &[&arguments[..], &["--out", text(&outs[1])]].concat());
    assert!(
        printed.contains("6,000 lines, 600 sessions, 6,000 impressions") && !printed.contains("not fitted"),
        "{printed}"
    );
    let fits = outs.each_ref().map(|out| fs::read_to_string(out.join("parameters.csv")).unwrap());
    // The query of the generated log is called 9/1, the table has none.
    assert!(fits[0].replace(",9/1,", ",all,") == fits[1]);
    for (name, bytes) in contents(&outs[1]) {
        let content = String::from_utf8(bytes).unwrap();
        assert!(!content.contains("user-") && !content.contains("v12,"), "{name}");
    }

    // Models of sessions keep the items that a filter drops, and the overview says so.
    let filtered = top.path().join("filtered");
    let filter = ["--min-impressions", "44", "--model", "pbm,dcm", "--answer", "0", "--out", text(&filtered)];
    let printed = works("fit", &[&arguments[..], &filter].concat());
    assert!(printed.contains("have all 6,000 impressions: a session is predicted whole"), "{printed}");
    let message = refused(&[&arguments[..], &["--positions", "3", "--model", "dcm"]].concat());
    assert!(message.contains("--positions cuts them short"), "{message}");
    let message =
        refused(&[&arguments[..4], &["item=doc,position=rank,click=clicked", "--model", "dcm"]].concat());
    assert!(message.contains("session=.. in --columns"), "{message}");

    // A bound on the clicks of a session.
    let few = top.path().join("few");
    let bound = ["--max-clicks", "1", "--model", "dcm", "--answer", "0", "--out", text(&few)];
    let printed = works("fit", &[&arguments[..], &bound].concat());
    let mut clicks = BTreeMap::<_, u32>::new();
    for line in fs::read_to_string(&table).unwrap().lines().filter(|line| line.ends_with(",1")) {
        *clicks.entry(line.split(',').next().unwrap().to_owned()).or_default() += 1;
    }
    let above = clicks.values().filter(|clicks| **clicks > 1).count();
    let left_out = format!("{} sessions (and {above} left out, with too many clicks)", 600 - above);
    assert!(above > 0 && printed.contains(&left_out), "{printed}");
    let record: Value = serde_json::from_slice(&contents(&few)["parameters.json"]).unwrap();
    assert_eq!(record["log"]["sessions_left_out"], above);
}

/// One table has positions from 0 and more clicks than impressions; the other is the same table
/// without either.
#[test]
fn positions_from_0_and_clicks_above_impressions_can_be_read() {
    let top = tempdir().unwrap();
    let mut tables = [0, 1].map(|_| String::from("query,item,position,click,impressions\n"));
    for item in 0..6 {
        for position in 0..3 {
            let clicks = 40 * (6 - item) / (position + 1);
            writeln!(tables[0], "q,{item},{position},{},{clicks}", clicks + 3).unwrap();
            writeln!(tables[1], "q,{item},{},{clicks},{clicks}", position + 1).unwrap();
            writeln!(tables[0], "q,{item},{position},0,400").unwrap();
            writeln!(tables[1], "q,{item},{},0,400", position + 1).unwrap();
        }
    }
    let columns = "query=query,item=item,position=position,click=click,impressions=impressions";
    let fitted = [0, 1].map(|number| {
        let (log, out) = (top.path().join(format!("{number}.csv")), top.path().join(format!("out-{number}")));
        fs::write(&log, &tables[number]).unwrap();
        let mut arguments =
            vec![text(&log), "--format", "delimited", "--columns", columns, "--out", text(&out)];
        arguments.extend(["--min-total-impressions", "1000"]);
        if number == 0 {
            arguments.extend(["--first-position", "0", "--clip-clicks"]);
        }
        (works("fit", &arguments), fs::read_to_string(out.join("parameters.csv")).unwrap())
    });
    assert_eq!(fitted[0].1, fitted[1].1);
    let clipped = "(without 54 clicks above the impressions of 18 lines)";
    assert!(fitted[0].0.contains(clipped), "{}", fitted[0].0);
}

/// Writes counts as Parquet, with columns of text and of integers, as query engines do.
fn counts_parquet(path: &Path, rows: &[BTreeMap<String, String>]) {
    let schema =
        "message counts { REQUIRED BYTE_ARRAY query (UTF8); REQUIRED INT64 item; REQUIRED INT64 position;
        REQUIRED INT64 clicks; REQUIRED INT64 impressions; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let queries: Vec<ByteArray> = rows.iter().map(|row| row["query"].as_str().into()).collect();
    column.typed::<ByteArrayType>().write_batch(&queries, None, None).unwrap();
    column.close().unwrap();
    for name in ["item", "position", "clicks", "impressions"] {
        let mut column = group.next_column().unwrap().unwrap();
        let numbers: Vec<i64> = rows.iter().map(|row| row[name].parse().unwrap()).collect();
        column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// Engines write a table in several files with arbitrary names.
#[test]
fn counts_in_parquet_give_the_same_parameters_as_in_csv() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let [first, second] = ["first", "second"].map(|name| top.path().join(name));
    works("fit", &[text(&log), "--format", "kdd2012", "--model", "pbm", "--out", text(&first), "--quiet"]);
    let rows = table(&first.join("counts.csv"));
    let parts = ["part-0.parquet", "part-1"].map(|name| top.path().join(name));
    counts_parquet(&parts[0], &rows[..5]);
    counts_parquet(&parts[1], &rows[5..]);
    works("fit", &["--counts", text(&parts[0]), text(&parts[1]), "--out", text(&second), "--quiet"]);
    for file in ["parameters.csv", "counts.csv"] {
        assert_eq!(fs::read(first.join(file)).unwrap(), fs::read(second.join(file)).unwrap());
    }
    let message = refused(&["--counts", text(&parts[0]), text(&first.join("counts.csv"))]);
    assert!(message.contains("files of one kind"), "{message}");
}

/// The library that decodes Parquet panics on some damaged files, mostly if a lowest bit is
/// changed. The user should see one line and no backtrace.
#[test]
fn a_damaged_parquet_file_is_an_error_of_one_line() {
    let top = tempdir().unwrap();
    let path = top.path().join("counts.parquet");
    let numbers = [("item", "1"), ("position", "1"), ("clicks", "1"), ("impressions", "5"), ("query", "q")];
    let row: BTreeMap<String, String> = numbers.map(|(name, text)| (name.into(), text.into())).into();
    counts_parquet(&path, &[row]);
    let bytes = fs::read(&path).unwrap();
    let mut panics = 0;
    // Tests of `click-logs` damage every byte in memory. Here every place is a process, so only
    // some are damaged.
    for place in (bytes.len() / 2..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x01;
        fs::write(&path, damaged).unwrap();
        // A directory of its own: another fit's would be refused before the file is read.
        let out = top.path().join(place.to_string());
        let output = run("fit", &["--counts", text(&path), "--quiet", "--out", text(&out)]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.lines().count() <= 1, "{place}: {message}");
        assert!(output.status.success() || message.starts_with("error: "), "{place}: {message}");
        panics += usize::from(message.contains("damaged Parquet"));
    }
    assert!(panics > 0, "the library did not panic");
}

/// Standard input is copied to a file, which is named on standard error, since a log is read twice.
#[cfg(target_os = "linux")]
#[test]
fn a_log_on_standard_input_gives_the_same_parameters_as_a_file() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let content = fs::read(&log).unwrap();
    let piped = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        command.arg("fit").args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A process that refuses its arguments does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    };
    let [whole, out] = ["whole", "out"].map(|name| top.path().join(name));
    works("fit", &[text(&log), "--format", "kdd2012", "--out", text(&whole), "--quiet"]);
    for name in ["/dev/stdin", "-"] {
        let out = top.path().join(name.trim_matches('/').replace('/', "-"));
        let output = piped(&[name, "--format", "kdd2012", "--out", text(&out)], &content);
        let message = String::from_utf8(output.stderr).unwrap();
        let megabytes = content.len().div_ceil(1_000_000);
        assert!(
            output.status.success() && message.contains(&format!(": {megabytes} MB, copied into ")),
            "{message}"
        );
        assert!(contents(&out)["parameters.json"] == contents(&whole)["parameters.json"]);
        let digest = |out: &Path| -> serde_json::Value {
            let manifest: serde_json::Value =
                serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
            manifest["experiment"]["logs"][0]["sha256"].clone()
        };
        assert!(digest(&out) == digest(&whole) && digest(&out).as_str().unwrap().len() == 64);
    }
    let cells = "query,item,position,clicks,impressions\n1,a,1,100,1000\n1,a,2,50,1000\n1,b,1,200,1000\n1,b,2,100,1000\n";
    let output = piped(&["--counts", "-", "--out", text(&out)], cells.as_bytes());
    assert!(output.status.success() && out.join("spec.toml").exists());
}
