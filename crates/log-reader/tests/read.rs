//! Valid and faulty logs.

use crate::log_generator::{Traffic, kdd2012, yandex};
use click_models::{CascadeModel, PositionBased};
use flate2::Compression;
use flate2::write::GzEncoder;
use log_reader::formats::{self, FormatRow};
use log_reader::{
    Counts, Error, ErrorKind, Fault, Filter, Format, Ids, Input, Log, Part, Reader, ReceiveLists, ShownList,
};
use std::io::Write;
use std::num::NonZeroUsize;

const KDD: &str = "\
0\t1\t4298118681424644510\t7686695\t385\t3\t3\t1601\t5521\t7709\t576\t490234
2\t3\t10710025208886284288\t7686695\t385\t2\t1\t1601\t21264\t27892\t1559\t490235
1\t1\t4298118681424644510\t9027238\t385\t1\t1\t1601\t5521\t7709\t576\t490236
0\t5\t4298118681424644510\t7686695\t385\t3\t3\t1601\t5521\t7709\t576\t0
";
const YANDEX: &str = "\
10\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10
10\t30\tC\t3
10\t31\tC\t3
10\t60\tQ\t8\t3\t11\t12\t13\t14\t15\t16\t17\t18\t19\t20
10\t70\tC\t1
10\t71\tC\t20\t\t\t\t\t\t\t\t\t\t\t
10\t72\tC\t999
11\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10
";
const SESSIONS: &str = "\
query\tregion\turls\tclicked_mask\tn_clicks_outside_top10
5\t1\t8,9,7\t100\t0
5\t1\t8,9,7\t000\t2
5\t2\t8,9,7\t011\t0
";
const OBD: &str = "\
,timestamp,item_id,position,click,propensity_score,user_feature_0
0,2019-11-24 00:00:34.762830+00:00,14,3,0,0.0125,81ce
1,2019-11-24 00:00:53.965051+00:00,14,3,1,0.0125,03a5
";
const COUNTS: &str = "query,item,position,clicks,impressions\n";
const TABLE: &str = "\
who;what;rank;clicks;shown;note
red shoes;\"a;b\";1;3;10;x
red shoes;c;2;1;9;x
7;c;1;0;4;x
";

const TABLE_OF_SESSIONS: &str = "\
user,click,page,rank,query,item
ann,0,v1,1,red,a
ann,1,v1,2,red,b
bob,1,v2,1,red,a
bob,0,v2,2,red,b
bob,1,v2,1,\"blue, dark\",c
ann,0,v1,1,red,a
";

fn table_of_sessions() -> Format {
    Format::delimited("query=query,item=item,position=rank,click=click,session=page").unwrap()
}

fn table() -> Format {
    Format::delimited("query=who,item=what,position=rank,click=clicks,impressions=shown").unwrap()
}

/// Logs for tests of all formats: those above, and the example of every format.
fn all() -> Vec<(&'static str, Format, &'static str)> {
    let columns = "query=query,item=item,position=position,click=click";
    let example = |row: &FormatRow| {
        Some((row.name, row.format(row.names_columns().then_some(columns)).unwrap(), row.example?))
    };
    let mut all = vec![
        ("kdd2012", Format::Kdd2012, KDD),
        ("yandex", Format::Yandex, YANDEX),
        ("sessions", Format::Sessions, SESSIONS),
        ("obd", Format::Obd, OBD),
        ("delimited", table(), TABLE),
        ("delimited with sessions", table_of_sessions(), TABLE_OF_SESSIONS),
    ];
    all.extend(formats::rows().iter().filter_map(example));
    all
}

fn read(format: &Format, log: impl AsRef<[u8]>) -> Result<Log, Error> {
    Reader::new(format.clone()).keep_sessions().read("log", log.as_ref())
}

fn skip(format: &Format, log: impl AsRef<[u8]>) -> Result<Log, Error> {
    let reader = Reader::new(format.clone()).keep_sessions().lenient(0.5).unwrap();
    reader.read("log", log.as_ref())
}

fn csv(counts: &Counts) -> String {
    let mut csv = Vec::new();
    counts.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    csv.strip_prefix(COUNTS).unwrap().into()
}

/// Query, list, and (bits, sessions) of its patterns.
type ListPatterns = (String, String, Vec<(u64, u64)>);

/// (bits, sessions) of every list of every query, with the names of query and items.
fn patterns(log: &Log) -> Vec<ListPatterns> {
    let names = log.sessions.names();
    let mut patterns = Vec::new();
    for query in log.sessions.queries() {
        for list in query.lists() {
            let items: Vec<_> = list.items.iter().map(|&item| names.name(item)).collect();
            let of_list = list.patterns.iter().map(|pattern| (pattern.clicks.bits(), pattern.sessions));
            patterns.push((names.name(query.id()).into_owned(), items.join(" "), of_list.collect()));
        }
    }
    patterns
}

#[test]
fn kdd2012_lines_of_one_cell_add_up() {
    let log = read(&Format::Kdd2012, KDD).unwrap();
    assert_eq!(csv(&log.counts), "1601,7686695,1,2,3\n1601,7686695,3,0,6\n1601,9027238,1,1,1\n");
    assert_eq!((log.report.lines, log.report.impressions, log.report.clicks), (4, 10, 3));
    assert_eq!(log.report.bytes, KDD.len() as u64);
    assert!(log.sessions.is_empty());
}

#[test]
fn identifiers_of_64_bits_keep_their_names() {
    let line = "0\t1\t1\t18446744073709551615\t1\t1\t1\t9223372036854775808\t1\t1\t1\t1\n";
    let log = read(&Format::Kdd2012, line).unwrap();
    assert_eq!(csv(&log.counts), "9223372036854775808,18446744073709551615,1,0,1\n");
}

#[test]
fn yandex_clicks_find_their_list() {
    let log = read(&Format::Yandex, YANDEX).unwrap();
    let expected = [
        ("7/3".to_owned(), "1 2 3 4 5 6 7 8 9 10".to_owned(), vec![(0, 1), (0b101, 1)]),
        ("8/3".to_owned(), "11 12 13 14 15 16 17 18 19 20".to_owned(), vec![(1 << 9, 1)]),
    ];
    assert_eq!(patterns(&log), expected);
    assert_eq!((log.report.sessions, log.report.clicks, log.report.clicks_outside), (3, 3, 1));
    let query = log.counts.query(log.counts.names().find("7/3").unwrap()).unwrap();
    let cell = query.cells().find(|cell| cell.position == 2).unwrap();
    assert_eq!((cell.clicks, cell.impressions), (1, 2));
}

#[test]
fn sessions_of_two_regions_are_two_queries() {
    let log = read(&Format::Sessions, SESSIONS).unwrap();
    let expected = [
        ("5/1".to_owned(), "8 9 7".to_owned(), vec![(0, 1), (0b001, 1)]),
        ("5/2".to_owned(), "8 9 7".to_owned(), vec![(0b110, 1)]),
    ];
    assert_eq!(patterns(&log), expected);
    assert_eq!(log.report.clicks_outside, 2);
    let second = log.sessions.names().find("5/2").unwrap();
    assert_eq!(log.sessions.restricted(&|query| query == second).n_sessions(), 1);
}

#[test]
fn tables_are_read_by_the_names_of_their_columns() {
    assert_eq!(csv(&read(&Format::Obd, OBD).unwrap().counts), "all,14,3,1,2\n");
    let counts = read(&table(), TABLE).unwrap().counts;
    // Numbers first, then texts.
    assert_eq!(csv(&counts), "7,c,1,0,4\nred shoes,a;b,1,3,10\nred shoes,c,2,1,9\n");
    // Another order of columns, and tabs or commas, change nothing.
    let other =
        "shown\trank\twho\twhat\tclicks\n4\t1\t7\tc\t0\n9\t2\tred shoes\tc\t1\n10\t1\tred shoes\ta;b\t3\n";
    assert_eq!(read(&table(), other).unwrap().counts, counts);
    let names = "query,item,position,clicks,impressions\nq,\"a,\"\"b\"\"\",1,0,4\n";
    let counts = read(&Format::counts(), names).unwrap().counts;
    assert_eq!(csv(&counts), "q,\"a,\"\"b\"\"\",1,0,4\n");
}

/// Lines with the same session and query are a list, wherever they stand. A session that starts
/// again has another list.
#[test]
fn lines_of_a_table_make_sessions() {
    let log = read(&table_of_sessions(), TABLE_OF_SESSIONS).unwrap();
    let expected: [ListPatterns; 2] = [
        ("blue, dark".into(), "c".into(), vec![(1, 1)]),
        // The last list has one item, and is not part of the first two.
        ("red".into(), "a".into(), vec![(0, 1)]),
    ];
    let found = patterns(&log);
    assert_eq!(found[..2], expected);
    assert_eq!(found[2], ("red".into(), "a b".into(), vec![(0b01, 1), (0b10, 1)]));
    assert_eq!(
        (log.report.sessions, log.report.lines, log.report.impressions, log.report.clicks),
        (4, 6, 6, 3)
    );
    // The counts are those of the lines.
    let lines = Format::delimited("query=query,item=item,position=rank,click=click").unwrap();
    assert_eq!(log.counts, read(&lines, TABLE_OF_SESSIONS).unwrap().counts);
    assert!(table_of_sessions().has_sessions() && !lines.has_sessions());

    let twice = TABLE_OF_SESSIONS.replacen("v1,2", "v1,1", 1);
    let error = read(&table_of_sessions(), &twice).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Line(Fault::PositionTwice));
    let message = "a position of this session on an earlier line: a list shows a position once, found `1`";
    assert_eq!(error.to_string(), format!("log:3: column 4 (rank): {message}"));
    // A gap, and a list that begins later.
    for other in [("v1,2", "v1,3"), ("v1,2", "v0,2")] {
        let text = TABLE_OF_SESSIONS.replacen(other.0, other.1, 1);
        let log = read(&table_of_sessions(), &text).unwrap();
        assert_eq!(log.counts, read(&lines, &text).unwrap().counts, "{other:?}");
        assert_eq!(log.sessions.counts(), log.counts, "{other:?}");
    }
    let nameless = TABLE_OF_SESSIONS.replacen(",v2,", ",,", 1);
    let error = read(&table_of_sessions(), &nameless).unwrap_err();
    assert_eq!(error.to_string(), "log:4: column 3 (page): nothing there");
    // The session of the skipped line is unknown: the rest of its list begins later.
    let log = skip(&table_of_sessions(), nameless).unwrap();
    assert_eq!(log.report.n_skipped(), 1);
    assert_eq!(patterns(&log)[2], ("red".into(), "a b".into(), vec![(0b10, 1)]));
    assert_eq!(patterns(&log)[3], ("red".into(), "b".into(), vec![(0, 1)]));
}

/// The name of a session may identify a user.
#[test]
fn sessions_of_a_table_are_never_shown() {
    let columns = Format::delimited("item=item,position=rank,click=click,session=page").unwrap();
    let log = "page,rank,item,click\nsecret,1,a\n";
    assert_eq!(read(&columns, log).unwrap_err().to_string(), "log:2: 3 columns, expected 4");
    for columns in
        ["item=a,position=b,click=c,session=c", "item=a,position=b,click=c,impressions=d,session=e"]
    {
        assert_eq!(*Format::delimited(columns).unwrap_err().kind(), ErrorKind::Settings, "{columns}");
    }
}

#[test]
fn numbers_and_texts_are_not_mixed_up() {
    let log = "item,position,click\n7,1,0\n007,1,1\n7 ,1,0\n-7,1,0\n7,1,1\n";
    let format = Format::delimited("item=item,position=position,click=click").unwrap();
    let counts = read(&format, log).unwrap().counts;
    assert_eq!(csv(&counts), "all,7,1,1,2\nall,-7,1,0,1\nall,007,1,1,1\nall,7 ,1,0,1\n");
}

/// Two names that had the same hash with constants of an earlier version.
#[test]
fn names_are_told_apart_letter_by_letter() {
    let [one, other] = ["shoe-redlv2hx6hb", "shoesztai3jx6100"];
    let log =
        format!("{COUNTS}q,{one},1,3,10\nq,{other},1,5,10\n{one},{other},1,1,1\n{other},{other},1,0,2\n");
    let read_back = csv(&read(&Format::counts(), &log).unwrap().counts);
    assert_eq!(format!("{COUNTS}{read_back}"), log);
    let sessions =
        format!("query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\nq\t1\t{one},{other}\t10\t0\n");
    let log = read(&Format::Sessions, sessions).unwrap();
    assert_eq!(patterns(&log), [("q/1".into(), format!("{one} {other}"), vec![(1, 1)])]);
}

#[test]
fn written_counts_read_back() {
    for (name, format, log) in all() {
        let counts = read(&format, log).unwrap().counts;
        let mut csv = Vec::new();
        counts.write_csv(&mut csv).unwrap();
        assert_eq!(read(&Format::counts(), csv).unwrap().counts, counts, "{name}");
    }
}

#[test]
fn compression_and_splitting_do_not_change_counts() {
    for (name, format, log) in all() {
        let plain = read(&format, log).unwrap();
        let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
        compressed.write_all(log.as_bytes()).unwrap();
        let compressed = compressed.finish().unwrap();
        assert_eq!(read(&format, &compressed).unwrap().counts, plain.counts, "{name}");
        let without_last_newline = &log[..log.len() - 1];
        assert_eq!(read(&format, without_last_newline).unwrap().counts, plain.counts, "{name}");

        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("one.gz"), folder.path().join("two"));
        std::fs::write(&first, compressed).unwrap();
        std::fs::write(&second, log).unwrap();
        let both = Reader::new(format.clone()).keep_sessions().read_files(&[first, second]).unwrap();
        // The same queries again, by their identifiers.
        if name == "ubi" {
            assert_eq!(both.counts, plain.counts, "{name}");
            continue;
        }
        assert_eq!(both.counts.without(&plain.counts), plain.counts, "{name}");
        assert_eq!((both.report.files, both.report.lines), (2, 2 * plain.report.lines), "{name}");
        assert_eq!(both.sessions.n_sessions(), 2 * plain.sessions.n_sessions(), "{name}");
    }
    // Several members, as `cat a.gz b.gz` makes them.
    let mut members = Vec::new();
    for part in KDD.split_inclusive('\n') {
        let mut member = GzEncoder::new(&mut members, Compression::default());
        member.write_all(part.as_bytes()).unwrap();
        member.finish().unwrap();
    }
    assert_eq!(read(&Format::Kdd2012, members).unwrap().counts, read(&Format::Kdd2012, KDD).unwrap().counts);
}

/// Checks the error of a strict reader, and the skipped line of a lenient one.
#[track_caller]
fn refused(format: &Format, log: &str, fault: Fault, message: &str) {
    let error = read(format, log).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(*error.kind(), ErrorKind::Line(fault));
    let line = error.place().line;
    // A single line is the whole log, more than the share to skip.
    match skip(format, log) {
        Ok(log) => {
            assert_eq!(log.report.n_skipped(), 1);
            let skipped = &log.report.skipped[fault.reason()];
            assert_eq!((skipped.lines, skipped.first.line), (1, line));
        }
        Err(error) => assert_eq!(*error.kind(), ErrorKind::TooManySkipped),
    }
}

/// The KDD lines with one column of the second line changed.
fn kdd_with(column: usize, text: &str) -> String {
    let mut lines: Vec<Vec<&str>> = KDD.lines().map(|line| line.split('\t').collect()).collect();
    lines[1][column - 1] = text;
    lines.iter().map(|line| line.join("\t") + "\n").collect()
}

#[test]
fn kdd2012_refuses_faulty_lines() {
    let format = &Format::Kdd2012;
    let max = (1 << 40) - 1;
    for (column, text, fault, message) in [
        (1, "-1", Fault::Negative, "log:2: column 1 (Click): a negative number, found `-1`"),
        (1, "x", Fault::NotANumber, "log:2: column 1 (Click): expected a whole number, found `x`"),
        (1, "", Fault::Empty, "log:2: column 1 (Click): nothing there"),
        (
            1,
            "4",
            Fault::ClicksAboveImpressions { impressions: 3 },
            "log:2: column 1 (Click): more clicks than the 3 impressions, found `4`",
        ),
        (
            2,
            "18446744073709551616",
            Fault::TooLarge { max: u64::MAX },
            "log:2: column 2 (Impression): larger than 18446744073709551615, found `18446744073709551616`",
        ),
        (
            2,
            "1099511627776",
            Fault::TooLarge { max },
            "log:2: column 2 (Impression): larger than 1099511627775, found `1099511627776`",
        ),
        (4, "1.5", Fault::NotANumber, "log:2: column 4 (AdID): expected a whole number, found `1.5`"),
        (6, "0", Fault::BadDepth, "log:2: column 6 (Depth): a list shows from 1 to 64 items, found `0`"),
        (6, "65", Fault::BadDepth, "log:2: column 6 (Depth): a list shows from 1 to 64 items, found `65`"),
        (7, "0", Fault::PositionZero, "log:2: column 7 (Position): positions count from 1, found `0`"),
        (
            7,
            "3",
            Fault::PositionBeyondDepth { last: 2 },
            "log:2: column 7 (Position): a position below the last, 2, found `3`",
        ),
        (8, "abc", Fault::NotANumber, "log:2: column 8 (QueryID): expected a whole number, found `abc`"),
    ] {
        refused(format, &kdd_with(column, text), fault, message);
    }
}

#[test]
fn kdd2012_with_other_columns_shows_no_user() {
    let format = &Format::Kdd2012;
    // One column is missing, and it may be the user's: the last column is not shown.
    let lost = KDD.replacen("\t385\t2", "\t2", 1);
    let fault = Fault::TooFewColumns { found: 11, expected: 12 };
    refused(
        format,
        &lost,
        fault,
        "log:2: 11 columns, expected 12, found `2\\t3\\t10710025208886284288\\t7686695\\t2\\t1\\t1601\\t21264\\t27892\\t1559`",
    );
    let more = KDD.replacen("490235\n", "490235\t1\n", 1);
    let error = read(format, &more).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::TooManyColumns { expected: 12 }));
    let short = format!("{KDD}7\n");
    let fault = Fault::TooFewColumns { found: 1, expected: 12 };
    refused(format, &short, fault, "log:5: 1 column, expected 12");
    for log in [lost, more, KDD.replace("490235", "490235\t490235")] {
        let error = format!("{0} {0:?}", read(format, &log).unwrap_err());
        let report = format!("{0} {0:?}", skip(format, &log).unwrap().report);
        assert!(!error.contains("490235") && !report.contains("490235"), "{error} {report}");
    }
    // Long lines, with columns where short ones end.
    let long = KDD.replace("4298118681424644510", &"1".repeat(100));
    assert_eq!(read(format, long).unwrap().counts, read(format, KDD).unwrap().counts);
}

#[test]
fn headers_are_not_data_and_data_no_headers() {
    let header = "Click\tImpression\tDisplayURL\tAdID\tAdvertiserID\tDepth\tPosition\tQueryID\tKeywordID\tTitleID\tDescriptionID\tUserID\n";
    let error = read(&Format::Kdd2012, format!("{header}{KDD}")).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::UnexpectedHeader));
    assert!(
        error.to_string().starts_with(
            "log:1: a header? the format has none: a table with a header is of format delimited, found `Click"
        ),
        "{error}"
    );
    let skipped = skip(&Format::Kdd2012, format!("{header}{KDD}")).unwrap();
    assert_eq!(skipped.counts, read(&Format::Kdd2012, KDD).unwrap().counts);

    let without = SESSIONS.split_once('\n').unwrap().1;
    for result in [read(&Format::Sessions, without), skip(&Format::Sessions, without)] {
        assert_eq!(*result.unwrap_err().kind(), ErrorKind::Header);
    }
    let error = read(&table(), TABLE.replace("rank", "place")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "log:1: no column `rank` in the header, with semicolons between columns, found `who;what;place;clicks;shown;note`"
    );
    // If no name belongs into a header, the line may be data that identify a user.
    let rest = TABLE.split_once('\n').unwrap().1;
    let error = read(&table(), rest).unwrap_err();
    let none = "log:1: no header: none of the 6 columns, with semicolons between them, is called `who`, `what`, `rank`, `clicks`, `shown`";
    assert_eq!((error.kind(), error.to_string().as_str()), (&ErrorKind::Header, none));
    let error = read(&Format::Sessions, without).unwrap_err();
    assert!(error.to_string().ends_with("`list_propensity`, `stratum`"), "{error}");
    let twice = read(&table(), TABLE.replace("note", "rank")).unwrap_err();
    assert_eq!(*twice.kind(), ErrorKind::Header);
}

#[test]
fn yandex_refuses_faulty_lines() {
    let format = &Format::Yandex;
    let with = |from: &str, to: &str| YANDEX.replacen(from, to, 1);
    refused(
        format,
        &with("11\t12\t", "11\t"),
        Fault::TooFewColumns { found: 14, expected: 15 },
        "log:4: 14 columns, expected 15, found `10\\t60\\tQ\\t8\\t3\\t11\\t13\\t14\\t15\\t16\\t17\\t18\\t19\\t20`",
    );
    let kind = "log:2: column 3 (TypeOfAction): expected a line of kind Q (query) or C (click), found `X`";
    refused(format, &with("30\tC", "30\tX"), Fault::UnknownKind, kind);
    let extra = Fault::TooManyColumns { expected: 4 };
    let message = "log:2: column 5 (RegionID, QueryID or URL): more columns than the 4 expected, found `9`";
    refused(format, &with("30\tC\t3", "30\tC\t3\t9"), extra, message);
    let message = "log:2: column 1 (SessionID): expected a whole number, found `ten`";
    refused(format, &with("10\t30", "ten\t30"), Fault::NotANumber, message);
    let message = "log:1: column 10 (URL): nothing there";
    refused(format, &with("\t5\t", "\t\t"), Fault::Empty, message);
    refused(
        format,
        &with("10\t30\tC\t3", "10"),
        Fault::TooFewColumns { found: 1, expected: 4 },
        "log:2: 1 column, expected 4, found `10`",
    );
}

/// A faulty line between two parts of a session ends it, for any fault: otherwise the end of a
/// block would matter.
#[test]
fn a_faulty_line_ends_a_session() {
    let lines: Vec<&str> = YANDEX.split_inclusive('\n').collect();
    let (query, click) = (lines[0], lines[1]);
    for fault in ["11\n", "x\t0\tC\t1\n", &query.replacen("10\t", "11\t11\t", 1)] {
        let log = format!("{query}{fault}{click}");
        for bytes in [1, 1 << 20] {
            let reader = Reader::new(Format::Yandex).block_bytes(NonZeroUsize::new(bytes).unwrap());
            let report = reader.lenient(0.5).unwrap().read("log", log.as_bytes()).unwrap().report;
            assert_eq!((report.n_skipped(), report.clicks, report.clicks_outside), (1, 0, 1), "{fault}");
        }
    }
}

#[test]
fn sessions_refuse_faulty_lines() {
    let format = &Format::Sessions;
    let with = |from: &str, to: &str| SESSIONS.replacen(from, to, 1);
    let length = Fault::ListLength { found: 2, expected: 3 };
    refused(
        format,
        &with("000", "00"),
        length,
        "log:3: column 4 (clicked_mask): 2 characters, expected 3: a 0 or a 1 for each item, with nothing between them, found `00`",
    );
    let message = "log:3: column 4 (clicked_mask): expected a 0 or a 1 for each item, found `020`";
    refused(format, &with("000", "020"), Fault::NotAMark, message);
    let message = "log:2: column 3 (urls): nothing there, found `8,,7`";
    refused(format, &with("8,9,7", "8,,7"), Fault::Empty, message);
    let message = "log:3: column 5 (n_clicks_outside_top10): a negative number, found `-2`";
    refused(format, &with("\t2\n", "\t-2\n"), Fault::Negative, message);
    let few = Fault::TooFewColumns { found: 4, expected: 5 };
    refused(format, &with("000\t2", "000"), few, "log:3: 4 columns, expected 5, found `5\\t1\\t8,9,7\\t000`");
    let long = vec!["1"; 65].join(",");
    let error = read(format, with("8,9,7", &long)).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::BadDepth));
}

#[test]
fn tables_refuse_faulty_lines() {
    let format = &table();
    let with = |from: &str, to: &str| TABLE.replacen(from, to, 1);
    let above = Fault::ClicksAboveImpressions { impressions: 9 };
    let message = "log:3: column 4 (clicks): more clicks than the 9 impressions, found `10`";
    refused(format, &with("2;1;9", "2;10;9"), above, message);
    let message = "log:3: column 3 (rank): positions count from 1, found `0`";
    refused(format, &with("c;2;1", "c;0;1"), Fault::PositionZero, message);
    let beyond = Fault::PositionBeyondDepth { last: 64 };
    let message = "log:3: column 3 (rank): a position below the last, 64, found `65`";
    refused(format, &with("c;2;1", "c;65;1"), beyond, message);
    let message = "log:3: column 2 (what): nothing there";
    refused(format, &with(";c;2", ";;2"), Fault::Empty, message);
    // An unnamed column may identify a user: none is shown.
    let few = Fault::TooFewColumns { found: 5, expected: 6 };
    refused(format, &with("1;9;x", "1;9"), few, "log:3: 5 columns, expected 6");
    let message = "log:2: a quotation mark without its partner in the line, found `\\\"`";
    refused(format, &with("b\"", "b"), Fault::UnclosedQuote, message);
    let mut bytes = TABLE.as_bytes().to_vec();
    let place = TABLE.find("red").unwrap();
    bytes[place] = 0xff;
    assert_eq!(*read(format, bytes).unwrap_err().kind(), ErrorKind::Line(Fault::NotUtf8));

    // The delimiter is the one that gives the named columns, for any other columns of the header.
    let log = |delimiter: &str| {
        let header = ["\"a,b\"", "who", "what", "rank", "clicks"].join(delimiter);
        format!("{header}\n{}\n", ["x", "1", "2", "1", "0"].join(delimiter))
    };
    let format = Format::delimited("query=who,item=what,position=rank,click=clicks").unwrap();
    for delimiter in ["\t", ",", ";", "|"] {
        assert_eq!(csv(&read(&format, log(delimiter)).unwrap().counts), "1,2,1,0,1\n", "{delimiter:?}");
    }
    let message = "log:1: no column `who` in the header, with a tab, comma, semicolon, vertical bar or space between columns";
    assert!(read(&format, "who:what:rank:clicks\n").unwrap_err().to_string().starts_with(message));

    for columns in [
        "",
        "item",
        "item=a,position=b",
        "item=a,position=b,click=c,users=d",
        "item=a,item=b,position=b,click=c",
        "item=,position=b,click=c",
    ] {
        assert_eq!(*Format::delimited(columns).unwrap_err().kind(), ErrorKind::Settings, "{columns}");
    }
}

#[test]
fn line_ends_and_byte_order_marks_do_not_change_counts() {
    for (name, format, log) in all() {
        let plain = read(&format, log).unwrap();
        let crlf = read(&format, log.replace('\n', "\r\n")).unwrap();
        assert_eq!((&crlf.counts, &crlf.sessions), (&plain.counts, &plain.sessions), "{name}");
        let marked = read(&format, format!("\u{feff}{log}")).unwrap();
        assert_eq!((&marked.counts, &marked.sessions), (&plain.counts, &plain.sessions), "{name}");
        assert_eq!(marked.report.byte_order_marks, 1, "{name}");
    }
}

/// Quotation marks around all fields, truth values, numbers with a fraction of zeros; and a table
/// saved by a German spreadsheet: a byte order mark, semicolons, decimal commas, CR LF.
#[test]
fn tables_are_read_as_other_programs_write_them() {
    let format = Format::delimited("query=query,item=item,position=rank,click=click").unwrap();
    let quoted = "\"query\",\"item\",\"rank\",\"click\"\n\"red, or so\",\"a\",\"1\",\"True\"\n\"red, or so\",\"b\",\"2.0\",\"False\"\n";
    let log = read(&format, quoted).unwrap();
    assert_eq!(csv(&log.counts), "\"red, or so\",a,1,1,1\n\"red, or so\",b,2,0,1\n");
    let german = "\u{feff}query;item;position;clicks;impressions\r\nrot;a;1;3,0;10,00\r\nrot;b;2,0;1;9\r\n";
    let log = read(&Format::counts(), german).unwrap();
    assert_eq!(csv(&log.counts), "rot,a,1,3,10\nrot,b,2,1,9\n");
    // `3.000` is three thousand or three.
    let doubtful = german.replace("10,00", "10,000");
    let error = read(&Format::counts(), doubtful).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::NotANumber));
}

/// A few lines may have many clicks.
#[test]
fn a_share_to_skip_is_one_of_impressions_and_clicks_too() {
    let lines: Vec<String> = (0..99).map(|item| format!("q,{item},1,1,10\n")).collect();
    let log = format!("{COUNTS}{}q,x,0,30,40\n", lines.concat());
    let lenient = |share| Reader::new(Format::counts()).lenient(share).unwrap().read("log", log.as_bytes());
    for (share, message) in [
        (0.005, "1.00 % of the lines would have to be skipped, more than 0.50 %"),
        (0.02, "3.88 % of the impressions would have to be skipped, more than 2.00 %"),
        (0.05, "23.26 % of the clicks would have to be skipped, more than 5.00 %"),
    ] {
        let error = lenient(share).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
    let report = lenient(0.25).unwrap().report;
    let skipped = &report.skipped["position 0"];
    assert_eq!((skipped.lines, skipped.impressions, skipped.clicks), (1, 40, 30));
    assert!(
        report.to_string().contains("position 0: 1 line (40 impressions, 30 clicks), the first at"),
        "{report}"
    );
}

/// The list ends above the skipped line, and is counted.
#[test]
fn lists_that_a_fault_cuts_short_are_counted() {
    let log = "page,rank,item,click\nv1,1,a,0\nv1,x,b,1\nv1,3,c,1\nv2,1,a,1\nv2,2,b,0\nv3,0,a,1\nv4,1,a,0\n";
    let format = Format::delimited("item=item,position=rank,click=click,session=page").unwrap();
    let log = Reader::new(format).keep_sessions().lenient(0.9).unwrap().read("log", log.as_bytes()).unwrap();
    let all = |items: &str, of_list| ("all".into(), items.into(), of_list);
    assert_eq!(patterns(&log), [all("a", vec![(0, 2)]), all("a b", vec![(1, 1)])]);
    // The third list has no items left.
    assert_eq!((log.report.sessions, log.report.sessions_at_fault), (3, 1));
    assert!(
        log.report.to_string().contains("3 sessions (1 of them cut short by skipped lines), "),
        "{}",
        log.report
    );
}

/// Other kinds of files are named, by strict and lenient readers, since none of their lines is
/// valid.
#[test]
fn other_kinds_of_files_are_named() {
    for (bytes, what) in [
        (&b"\xff\xfe0\0\t\0"[..], "text in UTF-16, expected UTF-8"),
        (b"\xfe\xff\0x\0\t", "text in UTF-16, expected UTF-8"),
        (b"PAR1....PAR1", "a Parquet file: its format is parquet"),
        (b"\x28\xb5\x2f\xfd....", "compressed with zstd: only gzip is read, decompress it first"),
        (b"BZh91AY", "compressed with bzip2: only gzip is read, decompress it first"),
        (b"\xfd7zXZ\0..", "compressed with xz: only gzip is read, decompress it first"),
        (b"PK\x03\x04...", "a zip archive: only gzip is read, decompress it first"),
    ] {
        for (_, format, _) in all() {
            for result in [read(&format, bytes), skip(&format, bytes)] {
                let error = result.unwrap_err();
                assert_eq!((error.kind(), error.to_string()), (&ErrorKind::Read, format!("log: {what}")));
            }
        }
    }
}

#[test]
fn an_empty_log_is_an_error() {
    for (name, format, log) in all() {
        for result in [read(&format, ""), skip(&format, "")] {
            assert_eq!(*result.unwrap_err().kind(), ErrorKind::Empty, "{name}");
        }
        let (header, below) = log.split_at(log.find('\n').unwrap() + 1);
        // Events without the query of the first line are a fault.
        let has_header = name != "ubi" && read(&format, below).is_err();
        if has_header {
            for result in [read(&format, header), skip(&format, header)] {
                assert_eq!(*result.unwrap_err().kind(), ErrorKind::Empty, "{name}");
            }
        }
        // An empty part among others.
        let folder = tempfile::tempdir().unwrap();
        let files = [folder.path().join("empty"), folder.path().join("full")];
        std::fs::write(&files[0], "").unwrap();
        std::fs::write(&files[1], log).unwrap();
        let reader = Reader::new(format.clone());
        assert_eq!(*reader.read_files(&files).unwrap_err().kind(), ErrorKind::Empty, "{name}");
        assert_eq!(reader.lenient(0.0).unwrap().read_files(&files).unwrap().report.empty_files, 1, "{name}");
    }
    let missing = Reader::new(Format::Kdd2012).read_files(&["no such file"]).unwrap_err();
    assert_eq!(*missing.kind(), ErrorKind::Read);
    assert!(missing.to_string().starts_with("no such file: "), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(*Reader::new(Format::Obd).read_files(&[folder.path()]).unwrap_err().kind(), ErrorKind::Read);
    assert_eq!(*Reader::new(Format::Obd).read_files::<&str>(&[]).unwrap_err().kind(), ErrorKind::Settings);
}

#[test]
fn damaged_compression_is_never_skipped() {
    let mut whole = GzEncoder::new(Vec::new(), Compression::default());
    whole.write_all(KDD.repeat(1000).as_bytes()).unwrap();
    let whole = whole.finish().unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    // The changed byte may make a line faulty before the checksum is read; a lenient reader reaches
    // the checksum.
    assert!(read(&Format::Kdd2012, &flipped).is_err());
    assert_eq!(*skip(&Format::Kdd2012, &flipped).unwrap_err().kind(), ErrorKind::Compression);
    for damaged in [&whole[..whole.len() / 2], &whole[..whole.len() - 3], &whole[..5]] {
        for result in [read(&Format::Kdd2012, damaged), skip(&Format::Kdd2012, damaged)] {
            let error = result.unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Compression, "{error}");
        }
    }
    let error = read(&Format::Kdd2012, &whole[..whole.len() - 3]).unwrap_err();
    assert_eq!(error.to_string(), "log: the compressed data end in the middle");
    // A member may also be truncated in its header.
    for (more, message) in [
        (&b"\0\0x"[..], "damaged compressed data (something other than gzip follows their end)"),
        (
            b"no gzip, and longer than its header",
            "damaged compressed data (something other than gzip follows their end)",
        ),
        (&whole[..5], "the compressed data end in the middle"),
    ] {
        for result in
            [read(&Format::Kdd2012, [&whole, more].concat()), skip(&Format::Kdd2012, [&whole, more].concat())]
        {
            let error = result.unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string()),
                (&ErrorKind::Compression, format!("log: {message}"))
            );
        }
    }
}

#[test]
fn a_lenient_reader_counts_what_it_skips_and_has_a_limit() {
    let log = format!("{KDD}x\n{KDD}x\n{}{KDD}", kdd_with(7, "0"));
    let lenient = |share| Reader::new(Format::Kdd2012).lenient(share).unwrap().read("log", log.as_bytes());
    let report = lenient(0.2).unwrap().report;
    assert_eq!((report.lines, report.n_skipped()), (18, 3));
    assert_eq!(report.skipped["too few columns"].lines, 2);
    assert_eq!(report.skipped["too few columns"].first.line, 5);
    assert_eq!(report.skipped["position 0"].first.line, 12);
    assert_eq!(
        report.to_string(),
        "18 lines, 37 impressions, 10 clicks; skipped 3 lines\n  position 0: 1 line (3 impressions, 2 clicks), the first at log:12: column 7 (Position): \
         positions count from 1, found `0`\n  too few columns: 2 lines, the first at log:5: 1 column, expected 12"
    );
    let error = lenient(0.1).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TooManySkipped);
    assert!(
        error.to_string().starts_with("16.67 % of the lines would have to be skipped, more than 10.00 %")
    );
    for share in [-0.1, 1.1, f64::NAN] {
        assert_eq!(*Reader::new(Format::Obd).lenient(share).unwrap_err().kind(), ErrorKind::Settings);
    }
}

/// Logs of several blocks, with faults.
fn large(name: &str) -> Vec<u8> {
    let mut log = Vec::new();
    if name == "delimited with sessions" {
        log.extend_from_slice(b"query,page,item,rank,click\n");
        for page in 0..1000 {
            for rank in 1..=page % 12 + 1 {
                let click = u32::from((page + rank) % 7 == 0);
                let quote = if page % 5 == 0 { "\"" } else { "" };
                writeln!(log, "{},{quote}{}{quote},{},{rank},{click}", page % 3, page, rank % 5).unwrap();
            }
        }
    } else if name == "kdd2012" {
        let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[1.0, 0.4, 0.2]).unwrap();
        let traffic: Vec<_> = (0..50)
            .map(|query| Traffic { query, items: vec![1, 2, query + 3], weight: 1.0, users: users.clone() })
            .collect();
        kdd2012(&traffic, 5000, 1, &mut log).unwrap();
    } else {
        let users = CascadeModel::from_values(&[0.1; 12], 10).unwrap();
        let traffic: Vec<_> = (0..5)
            .map(|query| Traffic { query, items: (0..12).collect(), weight: 1.0, users: users.clone() })
            .collect();
        yandex(&traffic, 1000, 1, &mut log).unwrap();
    }
    for (number, byte) in log.iter_mut().enumerate() {
        if number % 997 == 996 && *byte != b'\n' {
            *byte = b'x';
        }
    }
    log
}

#[test]
fn threads_and_blocks_change_nothing() {
    let three = ["kdd2012", "yandex", "delimited with sessions"];
    for (name, format) in three.into_iter().zip([Format::Kdd2012, Format::Yandex, table_of_sessions()]) {
        let log = large(name);
        let lenient = Reader::new(format.clone()).keep_sessions().lenient(0.1).unwrap();
        let with = |reader: &Reader, threads, bytes| {
            let (threads, bytes) = (NonZeroUsize::new(threads).unwrap(), NonZeroUsize::new(bytes).unwrap());
            reader.clone().threads(threads).block_bytes(bytes).read("log", log.as_slice())
        };
        let expected = with(&lenient, 1, 1 << 20).unwrap();
        assert!(expected.report.n_skipped() > 10, "{name}");
        if !expected.sessions.is_empty() {
            let [rest, held_out] = expected.sessions.without_one_in(5, 3).unwrap().map(Part::from);
            let share = held_out.counts.impressions() as f64 / expected.report.impressions as f64;
            // 1000 sessions have a standard error of .0126; a deviation of 4.9 standard errors has
            // probability 1e-6. One in three would be detected.
            assert!((share - 0.2).abs() < 0.062, "{name}: {share}");
            // The held-out part and the rest add up to the whole log.
            assert_eq!(expected.counts.without(&held_out.counts), rest.counts);
            assert_eq!(expected.counts.without(&rest.counts), held_out.counts);
        }
        // Sessions that are not kept are counted all the same.
        let counted = with(&Reader::new(format.clone()).lenient(0.1).unwrap(), 2, 1000).unwrap();
        assert_eq!((csv(&counted.counts), counted.sessions.is_empty()), (csv(&expected.counts), true));
        let strict = Reader::new(format);
        let first = with(&strict, 1, 1 << 20).unwrap_err().to_string();
        for (threads, bytes) in [(1, 100), (2, 1000), (4, 333), (16, 5000), (3, 1)] {
            let log = with(&lenient, threads, bytes).unwrap();
            assert_eq!(log.report, expected.report, "{name}");
            assert_eq!(csv(&log.counts), csv(&expected.counts), "{name}");
            assert_eq!(patterns(&log), patterns(&expected), "{name}");
            assert_eq!((&log.counts, &log.sessions), (&expected.counts, &expected.sessions));
            assert_eq!(with(&strict, threads, bytes).unwrap_err().to_string(), first, "{name}");
        }
    }
}

#[test]
fn the_filter_selects_the_queries_of_the_papers() {
    let mut log = b"query,item,position,clicks,impressions\n".to_vec();
    // Items 1 to 5 of query 1 have enough impressions at all positions, item 6 not at position 3;
    // query 2 has too few such items.
    for (query, item, third) in [
        (1, 1, 10),
        (1, 2, 11),
        (1, 3, 12),
        (1, 4, 13),
        (1, 5, 10),
        (1, 6, 9),
        (2, 1, 99),
        (2, 2, 99),
        (3, 1, 10),
    ] {
        for (position, impressions) in [(1, 10), (2, 20), (3, third), (4, 1)] {
            writeln!(log, "{query},{item},{position},1,{impressions}").unwrap();
        }
    }
    let counts = read(&Format::counts(), &log).unwrap().counts;
    let filter = Filter { min_impressions: 10, min_items: 2, n_positions: Some(3), ..Filter::default() };
    let kept = |filter: &Filter| {
        let counts = counts.filtered(filter);
        let queries = counts.queries().map(|query| {
            let name = counts.names().name(query.id()).into_owned();
            (name, query.items().count(), query.n_positions(), query.impressions())
        });
        queries.collect::<Vec<_>>()
    };
    assert_eq!(kept(&filter), [("1".into(), 5, 3, 206), ("2".into(), 2, 3, 258)]);
    assert_eq!(kept(&Filter { min_items: 3, ..filter }), [("1".into(), 5, 3, 206)]);
    assert_eq!(kept(&Filter { top_queries: Some(1), ..filter }), [("2".into(), 2, 3, 258)]);
    // Without a number of positions the fourth one also counts, and no item has enough impressions
    // there.
    assert_eq!(kept(&Filter { n_positions: None, ..filter }), []);
    assert_eq!(counts.filtered(&Filter::default()), counts);
}

#[test]
fn counts_are_restricted_cell_by_cell() {
    let log =
        "query,item,position,clicks,impressions\nq,a,1,1,2\nq,a,2,2,3\nq,b,1,3,4\nr,a,1,4,5\ns,a,2,5,6\n";
    let counts = read(&Format::counts(), log).unwrap().counts;
    let [q, s] = ["q", "s"].map(|query| counts.names().find(query).unwrap());
    let first = counts.restricted(&mut |_, cell| cell.position == 0);
    assert_eq!(csv(&first), "q,a,1,1,2\nq,b,1,3,4\nr,a,1,4,5\n");
    // A query without cells is dropped; the others stay the same.
    assert_eq!((first.n_queries(), first.n_positions(), first.query(s).is_none()), (2, 1, true));
    assert_eq!(first.query(q).unwrap().impressions(), 6);
    let of_q = counts.restricted(&mut |query, _| query == q);
    assert_eq!((csv(&of_q).as_str(), of_q.impressions()), ("q,a,1,1,2\nq,a,2,2,3\nq,b,1,3,4\n", 9));
    assert_eq!(of_q.names(), counts.names());
    assert_eq!(counts.restricted(&mut |_, _| true), counts);
    assert_eq!(counts.restricted(&mut |_, _| false).n_queries(), 0);
}

#[test]
fn a_cell_is_counted_up_to_2_to_the_40() {
    let half = (1_u64 << 39) - 1;
    let log = |n: usize| {
        let line = format!("1,1,1,0,{half}\n");
        format!("query,item,position,clicks,impressions\n{}", line.repeat(n))
    };
    assert_eq!(read(&Format::counts(), log(2)).unwrap().counts.impressions(), 2 * half);
    let error = read(&Format::counts(), log(3)).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TooManyImpressions);
    assert_eq!(
        error.to_string(),
        "query 1, item 1, position 1: more impressions than can be counted, 1099511627774"
    );
}

/// Any bytes give the same result for any number of threads and any size of blocks.
#[test]
fn any_bytes_get_an_answer() {
    struct Ignoring;
    impl ReceiveLists for Ignoring {
        fn list(&mut self, _: &ShownList<'_>) {}
    }
    fn check(format: &Format, bytes: &[u8]) -> bool {
        let strict = Reader::new(format.clone()).keep_sessions();
        let lenient = strict.clone().lenient(1.0).unwrap();
        [strict, lenient].iter().all(|reader| {
            let whole = reader.clone().threads(NonZeroUsize::MIN);
            let one = whole.read("log", bytes);
            let small = reader.clone().threads(NonZeroUsize::new(2).unwrap()).block_bytes(NonZeroUsize::MIN);
            let inputs = |_| Ok::<_, Error>(vec![Input::stream("log", bytes)]);
            let lists = whole.read_lists(Ids::new(), inputs, || Ignoring);
            // Some faults are of columns that are read with lists alone.
            let same_counts = match (&one, lists) {
                (Ok(one), Ok(lists)) => {
                    let same = |log: Log| log.counts == one.counts && log.report == one.report;
                    lists.logged.propensity || lists.log.is_some_and(same)
                }
                (one, lists) => one.is_ok() || lists.is_err(),
            };
            match (one, small.read("log", bytes)) {
                _ if !same_counts => false,
                (Ok(a), Ok(b)) => a.counts == b.counts && a.sessions == b.sessions && a.report == b.report,
                (Err(a), Err(b)) => a.to_string() == b.to_string(),
                _ => false,
            }
        })
    }
    #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands values over")]
    fn random(bytes: Vec<u8>) -> bool {
        all().iter().all(|(_, format, _)| check(format, &bytes))
    }
    /// Lines of a log with some changed bytes get further than random bytes, if the log has this
    /// format.
    fn changed(which: usize, changes: Vec<(usize, u8)>) -> bool {
        let all = all();
        let (_, format, log) = &all[which % all.len()];
        let mut bytes = log.as_bytes().to_vec();
        for (place, byte) in changes.into_iter().take(8) {
            let place = place % bytes.len();
            bytes[place] = b"\t\n\r,;\"0123456789QC-.\xff\xef\x00"[usize::from(byte) % 23];
        }
        check(format, &bytes)
    }
    let all = all();
    for (_, format, _) in &all {
        assert!(all.iter().all(|(_, _, log)| check(format, log.as_bytes())));
    }
    quickcheck::QuickCheck::new().tests(100).quickcheck(random as fn(Vec<u8>) -> bool);
    quickcheck::QuickCheck::new().tests(300).quickcheck(changed as fn(usize, Vec<(usize, u8)>) -> bool);
}

/// Lines of few impressions wait in batches, those of many are counted at once: both add up.
#[test]
fn counts_of_any_size_add_up() {
    let counts: [u64; 7] = [1, 1 << 15, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 34, 2];
    let lines: Vec<String> = counts.iter().map(|n| format!("7,8,64,{},{n}\n", n - 1)).collect();
    let log = format!("query,item,position,click,impressions\n{}", lines.concat());
    let format = "query=query,item=item,position=position,click=click,impressions=impressions";
    let log = Reader::new(Format::delimited(format).unwrap()).read("log.csv", log.as_bytes()).unwrap();
    let cells: Vec<_> = log.counts.queries().flat_map(|query| query.cells()).collect();
    let impressions = counts.iter().sum();
    let cell = cells.iter().map(|cell| (cell.position, cell.clicks, cell.impressions));
    assert!(cell.eq([(63, impressions - 7, impressions)]));
}

/// Lines of a table are the same in quotation marks, which are read another way, and in blocks that
/// end after any byte: the same counts, and the same faults at the same line and column.
#[test]
fn lines_are_read_alike_in_quotes_and_in_any_blocks() {
    const USUAL: [&[&[u8]]; 5] = [
        &[b"7", b"12", b"shoes", b"red shoes", b"123456789", "größe".as_bytes()],
        &[b"0", b"a", b"3000001", b"12345678", b"9223372036854775807", b"9223372036854775808"],
        &[b"1", b"2", b"64", b"3.0"],
        &[b"0", b"1", b"false", b"-0"],
        &[b"1", b"2", b"10", b"536870912", b"1099511627775"],
    ];
    const ODD: [&[u8]; 16] = [
        b"",
        b"0",
        b"-1",
        b"007",
        b" 5",
        b"5 ",
        b"65",
        b"+3",
        b"1:",
        b"2/",
        b"\xff",
        b"True",
        b"12345678x",
        b"18446744073709551616",
        b"1099511627776",
        &[b'x'; 300],
    ];
    type Line = ((u8, u8), (u8, u8), (u8, u8), (u8, u8), (u8, u8), u8);
    fn write(lines: &[Line], quote: &str) -> Vec<u8> {
        let mut log = b"query,item,position,clicks,impressions\n".to_vec();
        for (number, &(query, item, position, click, impressions, kind)) in lines.iter().enumerate() {
            let picked = [query, item, position, click, impressions].into_iter().zip(USUAL);
            let field = |((odd, pick), usual): ((u8, u8), &[&'static [u8]])| {
                let from = if odd < 16 { &ODD } else { usual };
                from[usize::from(pick) % from.len()]
            };
            let mut fields: Vec<&[u8]> = picked.map(field).collect();
            match kind {
                0..8 => drop(fields.pop()),
                8..16 => fields.push(b"1"),
                16..24 => log.extend(b" \n"),
                _ => {}
            }
            for (place, field) in fields.iter().enumerate() {
                let before = if place == 0 { "" } else { "," };
                log.extend([before.as_bytes(), quote.as_bytes(), field, quote.as_bytes()].concat());
            }
            let end = if kind % 2 == 0 { &b"\n"[..] } else { b"\r\n" };
            log.extend(if number + 1 == lines.len() && kind % 3 == 0 { b"" } else { end });
        }
        log
    }
    #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands values over")]
    fn same(lines: Vec<Line>) -> bool {
        let logs = ["", "\""].map(|quote| write(&lines[..lines.len().min(8)], quote));
        let strict = Reader::new(Format::counts());
        let lenient = strict.clone().lenient(1.0).unwrap();
        [strict, lenient].iter().all(|reader| {
            let found = |log: &[u8], bytes: usize| {
                let reader = reader.clone().block_bytes(NonZeroUsize::new(bytes).unwrap());
                let log =
                    reader.threads(NonZeroUsize::MIN).read("log", log).map_err(|error| error.to_string());
                log.map(|Log { counts, report, .. }| {
                    (counts, report.lines, report.impressions, report.skipped)
                })
            };
            let expected = found(&logs[1], 1 << 18);
            (1..=logs[0].len()).chain([1 << 18]).all(|bytes| found(&logs[0], bytes) == expected)
        })
    }
    quickcheck::QuickCheck::new().tests(100).quickcheck(same as fn(Vec<Line>) -> bool);
}
