//! Invalid arguments and logs: refused, or skipped if `--lenient` is given.

use super::{pbm_log, refused, run, text, works};
use std::fs;
use tempfile::tempdir;

/// The option `--columns` for small tables.
const COLUMNS: &str = "query=query,item=item,position=position,click=click";

#[test]
fn invalid_inputs_are_refused_with_a_message_that_names_the_remedy() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let log = text(&log);
    let empty = top.path().join("empty.txt");
    fs::write(&empty, "").unwrap();
    let missing = top.path().join("missing.txt");
    let parquet = top.path().join("counts.parquet");
    fs::write(&parquet, "query,item").unwrap();
    let [table, nothing, from_zero, above, deep, twice] =
        ["table.txt", "nothing.txt", "from_zero.txt", "above.txt", "deep.txt", "twice.txt"]
            .map(|name| top.path().join(name));
    fs::write(&twice, "query,item,position,click\nq,a,1,0\nq,a,1,0\n").unwrap();
    fs::write(&deep, "query,item,position,click\nq,a,65,0\n").unwrap();
    fs::write(&from_zero, "query,item,position,click\nq,a,0,0\n").unwrap();
    fs::write(&above, "query,item,position,click\nq,a,1,2\n").unwrap();
    fs::write(&table, "query,item,position,click\nq,a,1,0\n").unwrap();
    fs::write(&nothing, "0\t0\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n").unwrap();
    let nothing_passes = ["--min-impressions", "1000000", "--min-items", "5", "--positions", "3"];
    for (arguments, expected) in [
        (&[text(&missing), "--format", "kdd2012"][..], "missing.txt: No such file or directory"),
        (&[text(&empty), "--format", "kdd2012"], "empty.txt: "),
        (&[log, "--format", "yandex"], "training.txt:1: "),
        (&[log, "--format", "parchment"], "possible values: kdd2012"),
        (&[log], "--format"),
        (&[log, "--format", "delimited"], "--columns"),
        (&[log, "--format", "delimited", "--columns", "item=a b=c"], "`click` is missing: pairs have commas"),
        (
            &[log, "--format", "kdd2012", "--columns", "item=a"],
            "--columns: only for --format delimited and parquet",
        ),
        (&[log, "--format", "kdd2012", "--counts", log], "cannot be used with"),
        (&[log, "--format", "kdd2012", "--model", "cascade"], "--model cascade: it needs whole sessions"),
        (&["--counts", log, "--model", "pbm,dcm"], "--model dcm: it needs whole sessions"),
        (&["--counts", log], "training.txt:1: "),
        (
            &[log, "--format", "parquet", "--columns", "item=a,position=b,click=c"],
            "training.txt: Parquet error: it does not end as Parquet does: it has another format, or is cut off",
        ),
        (&["--counts", text(&parquet)], "counts.parquet: "),
        (
            &[log, "--format", "kdd2012", "--first-position", "0"],
            "--first-position: only for format delimited and parquet, and for counts",
        ),
        (
            &[text(&from_zero), "--format", "delimited", "--columns", COLUMNS],
            "positions count from 1, found `0`; if they count from 0, give --first-position 0",
        ),
        (
            &[text(&table), "--format", "delimited", "--columns", COLUMNS, "--first-position", "0"],
            "--first-position: 0, but no position of the log is 0: it counts from 1",
        ),
        (
            &[text(&above), "--format", "delimited", "--columns", COLUMNS],
            "more clicks than the 1 impression, found `2`; give --clip-clicks to clip clicks to impressions",
        ),
        (
            &[
                text(&twice),
                "--format",
                "delimited",
                "--columns",
                &format!("session=query,{}", &COLUMNS[12..]),
            ],
            "a list shows a position once, found `1`; --lenient --max-skipped 0.5 leaves out lines that stand twice",
        ),
        (
            &[text(&deep), "--format", "delimited", "--columns", COLUMNS],
            "a position below the last, 64, found `65`; --positions N leaves out what is below position N",
        ),
        (&[text(&table), "--format", "kdd2012"], ": give --format delimited --columns "),
        (&[text(&nothing), "--format", "kdd2012"], "the log has no impressions: 1 line, 0 impressions"),
        (&[text(top.path()), "--format", "kdd2012"], "a directory: name the files in it"),
        (&[&[log, "--format", "kdd2012"], &nothing_passes[..]].concat(), "nothing to fit: none of 2 queries"),
        (
            &[log, "--format", "kdd2012", "--prior", "-1"],
            "'--prior <STRENGTH>': expected a number from 0 to 1,000,000,000",
        ),
        (&[log, "--format", "kdd2012", "--held-out", "1"], "--held-out"),
        (&[log, "--format", "kdd2012", "--max-skipped", "0.5"], "--lenient"),
        (
            &[log, "--format", "kdd2012", "--lenient", "--max-skipped", "2"],
            "'--max-skipped <SHARE>': expected a number from 0 to 1",
        ),
    ] {
        let message = refused(arguments);
        assert!(message.contains(expected), "{arguments:?}: {message}");
        let n_missing = usize::from(expected.contains("No such file"));
        assert_eq!(message.matches("No such file").count(), n_missing);
    }
}

#[test]
fn lenient_fits_report_the_lines_that_they_skip() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let good = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{good}1\t2\n")).unwrap();
    let out = top.path().join("out");
    let arguments = [text(&log), "--format", "kdd2012", "--out", text(&out)];
    assert!(refused(&arguments[..3]).contains("training.txt:4001: "));
    let printed = works("fit", &[&arguments[..], &["--lenient"]].concat());
    assert!(printed.contains("skipped 1 line\n") && printed.contains("too few columns"), "{printed}");
    assert!(
        refused(&[&arguments[..3], &["--lenient", "--max-skipped", "0.00001"]].concat()).contains("skipped")
    );
}

/// Otherwise every impression in it would be counted twice.
#[test]
fn a_file_named_twice_is_refused_and_a_copy_is_reported() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let roundabout = top.path().join(".").join("training.txt");
    let message = refused(&[text(&log), text(&roundabout), "--format", "kdd2012"]);
    assert!(message.contains("the same file twice"), "{message}");
    let copy = top.path().join("copy.txt");
    fs::copy(&log, &copy).unwrap();
    let out = top.path().join("out");
    let arguments = [text(&log), text(&copy), "--format", "kdd2012", "--model", "pbm", "--out", text(&out)];
    let output = run("fit", &arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && message.contains("have the same content"), "{message}");
}

/// A wrong column names the one that may be meant; words that are no clicks and a forgotten
/// position say what is expected.
#[test]
fn columns_and_cells_that_do_not_fit_say_what_would() {
    let top = tempdir().unwrap();
    let words = top.path().join("words.txt");
    fs::write(&words, "query,item_name,position,click\nq,a,1,yes\n").unwrap();
    for (columns, expected) in [
        (COLUMNS, "words.txt:1: no column `item` (did you mean `item_name`?) in the header"),
        (
            "item=itm_name,position=position,click=click",
            "no column `itm_name` (did you mean `item_name`?) in the header",
        ),
        ("item=price,position=position,click=click", "no column `price` in the header"),
        (
            "item=item_name,position=position,click=click",
            "column 4 (click): expected 0, 1, true or false, found `yes`",
        ),
        (
            "item=item_name,click=click,session=query",
            "column 2 (item_name): `position=..` is missing if a row is one item of a list",
        ),
    ] {
        let error = refused(&[text(&words), "--format", "csv", "--columns", columns]);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
