//! Tables in memory are read as the same rows in a file, for any threads and batches.

use log_reader::{ErrorKind, Fault, Format, Frame, Input, Log, ReadColumn, Reader, Value};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

const COLUMNS: &str = "query=q,item=i,position=p,click=c";
const SESSIONS: &str = "query=q,item=i,position=p,click=c,session=s";
/// More than a thread takes at once.
const N: usize = 140_000;

/// Texts, of which some may be missing.
struct Texts(Vec<Option<String>>);

impl ReadColumn for Texts {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        let value = |text: &'a Option<String>| text.as_deref().map_or(Value::Missing, Value::from);
        into.extend(self.0[rows].iter().map(value));
    }
}

/// Row `row` of a log of lists of three.
fn row(row: usize) -> (String, i64, u64, bool, u64) {
    let list = row / 3;
    (
        format!("query {}", list % 7),
        i64::try_from(row * row % 11).unwrap() - 3,
        row as u64 % 3 + 1,
        row.is_multiple_of(5),
        list as u64,
    )
}

/// The rows in batches of these lengths, repeated.
fn frame(rows: Range<usize>, lengths: &[usize]) -> Frame<'static> {
    let mut frame = Frame::new(["q", "i", "p", "c", "s"]);
    let (mut start, mut lengths) = (rows.start, lengths.iter().cycle());
    while start < rows.end {
        let end = rows.end.min(start + lengths.next().unwrap());
        let rows: Vec<_> = (start..end).map(row).collect();
        let columns: Vec<Box<dyn ReadColumn>> = vec![
            Box::new(Texts(rows.iter().map(|row| Some(row.0.clone())).collect())),
            Box::new(rows.iter().map(|row| row.1).collect::<Vec<i64>>()),
            Box::new(rows.iter().map(|row| row.2 as f64).collect::<Vec<f64>>()),
            Box::new(rows.iter().map(|row| row.3).collect::<Vec<bool>>()),
            Box::new(rows.iter().map(|row| row.4).collect::<Vec<u64>>()),
        ];
        frame = frame.batch(end - start, columns).unwrap();
        start = end;
    }
    frame
}

fn csv(rows: Range<usize>) -> String {
    let lines = rows.map(row).map(|(q, i, p, c, s)| format!("{q},{i},{p},{},{s}\n", u8::from(c)));
    format!("q,i,p,c,s\n{}", lines.collect::<String>())
}

fn reader(columns: &str) -> Reader {
    Reader::new(Format::delimited(columns).unwrap())
}

fn assert_same(log: &Log, expected: &Log) {
    assert!(log.counts == expected.counts);
    assert!(log.sessions == expected.sessions);
    assert_eq!(log.report.skipped, expected.report.skipped);
    assert_eq!((log.report.lines, log.report.sessions), (expected.report.lines, expected.report.sessions));
}

#[test]
fn rows_are_those_of_a_file() {
    let text = csv(0..N);
    for columns in [COLUMNS, SESSIONS] {
        let reader = reader(columns).keep_sessions();
        let expected = reader.read("log.csv", text.as_bytes()).unwrap();
        for (threads, lengths) in [(1, vec![N]), (3, vec![N]), (2, vec![1000, 1, 70_001]), (1, vec![4096, 5])]
        {
            let reader = reader.clone().threads(NonZeroUsize::new(threads).unwrap());
            assert_same(&reader.read_frame("log", &frame(0..N, &lengths), None).unwrap(), &expected);
        }
    }
}

/// The first fault is reported, whichever thread finds one first.
#[test]
fn the_first_fault_is_reported() {
    let mut positions: Vec<f64> = (0..N).map(|row| (row % 3 + 1) as f64).collect();
    for row in [139_000, 70_000, 139_999] {
        positions[row] = 65.0;
    }
    let column = || Box::new(vec![1_u64; N]);
    for threads in 1..5 {
        let frame = Frame::new(["i", "p", "c"]);
        let columns: Vec<Box<dyn ReadColumn>> = vec![column(), Box::new(positions.clone()), column()];
        let frame = frame.batch(N, columns).unwrap();
        let reader = reader("item=i,position=p,click=c").threads(NonZeroUsize::new(threads).unwrap());
        let error = reader.read_frame("log", &frame, None).unwrap_err();
        assert_eq!(
            (error.place().line, error.place().column.clone()),
            (70_001, Some((2, "p".into()))),
            "{error}"
        );
        let lenient = reader.lenient(0.1).unwrap().read_frame("log", &frame, None).unwrap();
        assert_eq!((lenient.report.n_skipped(), lenient.report.lines), (3, N as u64));
    }
}

#[test]
fn values_at_fault() {
    let read = |query: Option<&str>, item: f64, position: i64, click: u64| {
        let columns: Vec<Box<dyn ReadColumn>> = vec![
            Box::new(Texts(vec![query.map(str::to_owned)])),
            Box::new(vec![item]),
            Box::new(vec![position]),
            Box::new(vec![click]),
        ];
        let frame = Frame::new(["q", "i", "p", "c"]).batch(1, columns).unwrap();
        reader(COLUMNS).read_frame("log", &frame, None)
    };
    assert_eq!(read(Some("q"), 7.0, 1, 1).unwrap().counts.clicks(), 1);
    for (log, fault, column) in [
        (read(None, 7.0, 1, 1), Fault::Empty, "q"),
        (read(Some(""), 7.0, 1, 1), Fault::Empty, "q"),
        (read(Some("q"), 7.5, 1, 1), Fault::NotANumber, "i"),
        (read(Some("q"), f64::NAN, 1, 1), Fault::NotANumber, "i"),
        (read(Some("q"), 7.0, -1, 1), Fault::Negative, "p"),
        (read(Some("q"), 7.0, 0, 1), Fault::PositionZero, "p"),
        (read(Some("q"), 7.0, 1, 1 << 40), Fault::TooLarge { max: (1 << 40) - 1 }, "c"),
        (read(Some("q"), 7.0, 1, 2), Fault::ClicksAboveImpressions { impressions: 1 }, "c"),
    ] {
        let error = log.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Line(fault), "{error}");
        assert_eq!((error.place().line, error.place().column.as_ref().unwrap().1.as_str()), (1, column));
    }
}

#[test]
fn what_is_no_table() {
    let kind = |columns: &str, frame: &Frame<'_>| {
        reader(columns).read_frame("log", frame, None).unwrap_err().kind().clone()
    };
    assert_eq!(kind(COLUMNS, &Frame::new(["q", "i", "p", "c"])), ErrorKind::Empty);
    assert_eq!(kind("item=x,position=p,click=c", &frame(0..3, &[3])), ErrorKind::Header);
    let columns = || -> Vec<Box<dyn ReadColumn>> { vec![Box::new(vec![1_u64]), Box::new(vec![1_u64; 2])] };
    assert!(Frame::new(["i", "p", "c"]).batch(2, columns()).is_err());
    let mut all = columns();
    all.push(Box::new(vec![1_u64; 2]));
    let shorter = Frame::new(["i", "p", "c"]).batch(2, all).unwrap();
    assert_eq!(kind("item=i,position=p,click=c", &shorter), ErrorKind::Header);
    let error = Reader::new(Format::Kdd2012).read_frame("log", &shorter, None).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Settings);
    // Nor is a table in memory one of several files, of any format.
    for format in [Format::delimited(COLUMNS).unwrap(), Format::Ubi(log_reader::Ubi::default())] {
        let both = vec![Input::stream("log.csv", &b"q,i,p,c\n"[..]), Input::frame("table", &shorter)];
        let error = Reader::new(format).read_inputs(both).unwrap_err();
        let expected = "table: a table in memory is read alone, by the names of its columns";
        assert_eq!((error.kind(), &*error.to_string()), (&ErrorKind::Settings, expected));
    }
}

#[test]
fn reading_can_be_stopped() {
    let (now, later) = (AtomicBool::new(true), AtomicBool::new(false));
    let frame = frame(0..30, &[10]);
    assert_eq!(*reader(COLUMNS).read_frame("log", &frame, Some(&now)).unwrap_err().kind(), ErrorKind::Read);
    assert!(reader(COLUMNS).read_frame("log", &frame, Some(&later)).is_ok());
    let read = |stop| {
        let text = csv(0..30);
        let input = Input::stream("log.csv", std::io::Cursor::new(text)).until(stop);
        reader(COLUMNS).read_inputs(vec![input])
    };
    assert_eq!(*read(&now).unwrap_err().kind(), ErrorKind::Read);
    assert!(read(&later).is_ok());
}

/// A column of one text, as a dictionary has it.
struct Same(String);

impl ReadColumn for Same {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(rows.map(|_| Value::from(self.0.as_str())));
    }
}

/// Rows that share a long text cost no more than rows with a short one.
#[test]
fn a_long_text_of_many_rows_is_hashed_once() {
    let same = |text: &str| -> Box<dyn ReadColumn> { Box::new(Same(text.repeat(2_000_000))) };
    let columns = vec![
        same("q"),
        same("i"),
        Box::new(vec![1_u64; 20_000]),
        Box::new(vec![false; 20_000]),
        Box::new((0..20_000).collect::<Vec<u64>>()),
    ];
    let frame = Frame::new(["q", "i", "p", "c", "s"]).batch(20_000, columns).unwrap();
    #[expect(clippy::disallowed_methods, reason = "time is what is tested")]
    let started = std::time::Instant::now();
    let log = reader(COLUMNS).read_frame("log", &frame, None).unwrap();
    assert_eq!((log.counts.n_cells(), log.counts.impressions()), (1, 20_000));
    // The texts of all rows together have 80 GB.
    assert!(started.elapsed().as_secs() < 5);
}

/// Items and queries have the types of their columns; a column that mixes types is refused.
#[test]
fn names_have_types() {
    use documents::parameters::IdType::{Integer, Text};
    let texts = |names: [&str; 2]| Box::new(Texts(names.map(|name| Some(name.to_owned())).into()));
    let read = |items: [Box<dyn ReadColumn>; 2], columns: &str| {
        let mut frame = Frame::new(["q", "i", "p", "c", "s"]);
        for (list, items) in (1_u64..).zip(items) {
            let rest: [Box<dyn ReadColumn>; 3] =
                [Box::new(vec![1_u64, 2]), Box::new(vec![0_u64; 2]), Box::new(vec![list; 2])];
            let columns = [texts(["7", "7"]) as Box<dyn ReadColumn>, items].into_iter().chain(rest).collect();
            frame = frame.batch(2, columns).unwrap();
        }
        reader(columns).read_frame("log", &frame, None)
    };
    for columns in [COLUMNS, SESSIONS] {
        let ids = read([Box::new(vec![1_i64, -2]), Box::new(vec![1.0, 3.0])], columns).unwrap().report.ids;
        assert_eq!(ids.of(), [Integer, Text]);
        let ids = read([texts(["1", "2"]), texts(["a", "1"])], columns).unwrap().report.ids;
        assert_eq!(ids.of(), [Text, Text]);
        let error = read([Box::new(vec![1_u64, 2]), texts(["1", "2"])], columns).unwrap_err();
        assert!(error.to_string().contains("`item` mixes whole numbers and texts"), "{error}");
    }
    assert_eq!(reader(COLUMNS).read("log.csv", csv(0..3).as_bytes()).unwrap().report.ids.of(), [Text; 2]);
}
