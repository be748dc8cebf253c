//! Lists with contexts: in the order of the log, from files and tables in memory, and every fault.

use log_reader::{
    Error, ErrorKind, Format, Frame, Input, ListNames, PersonalLists, ReadColumn, ReadReport, Value,
    unit_hash,
};
use std::ops::Range;

const HEAD: &str = "who,s,q,i,p,c,g,x,y\n";
const COLUMNS: &str = "user=who,session=s,query=q,item=i,position=p,click=c,segment=g,features=x;y";
const LINES: &str = "\
ann,1,shoes,a,1,0,at,0.5,-1
ann,1,shoes,b,2,1,at,0.5,-1
ann,2,hats,z,1,1,at,0.5,-1
bob,3,shoes,b,1,0,de,\"1,5\",2e1
bob,3,shoes,b,1,1,de,-3,7
bob,3,shoes,a,2,0,de,-3,7
";

/// Unit, segment, features, items and clicks of a list.
type Found = (u64, u32, Vec<f64>, Vec<u32>, u64);

struct Reading {
    lists: Vec<Found>,
    names: ListNames,
    result: Result<ReadReport, Error>,
}

fn read(columns: &str, log: &str, mut names: ListNames, max_skipped: Option<f64>) -> Reading {
    let format = Format::delimited(columns).unwrap();
    let query = columns.contains("query").then_some("shoes");
    let source = PersonalLists::new(&format, query).unwrap();
    let source = max_skipped.map_or(source.clone(), |share| source.lenient(share));
    let mut lists: Vec<Found> = vec![];
    let result = source.read(vec![Input::stream("log.csv", log.as_bytes())], &mut names, &mut |list| {
        assert_eq!(list.number, lists.len() as u64);
        lists.push((list.unit, list.segment, list.features.to_vec(), list.items.to_vec(), list.clicks));
    });
    Reading { lists, names, result }
}

fn expected() -> Vec<Found> {
    let [ann, bob] = [b"ann", b"bob"].map(|name| unit_hash(name));
    vec![
        (ann, 0, vec![0.5, -1.0], vec![0, 1], 0b10),
        (bob, 1, vec![1.5, 20.0], vec![1], 0),
        (bob, 1, vec![-3.0, 7.0], vec![1, 0], 0b1),
    ]
}

#[test]
fn lists_come_in_the_order_of_the_log() {
    let found = read(COLUMNS, &format!("{HEAD}{LINES}"), ListNames::new(), None);
    assert_eq!(found.result.unwrap().lines, 6);
    assert_eq!(found.lists, expected());
    assert_eq!(
        (found.names.items(), found.names.segments()),
        (&["a", "b"].map(String::from)[..], &["at", "de"].map(String::from)[..])
    );
    // Known items keep their numbers; without a segment there is one without a name.
    let names = ListNames::of_items(["b", "a"].map(String::from));
    let found = read(&COLUMNS.replace("segment=g,", ""), &format!("{HEAD}{LINES}"), names, None);
    assert_eq!((found.lists[0].1, &found.lists[0].3[..], found.names.segments().len()), (0, &[1, 0][..], 0));
    // A list may be cut by a block of any size.
    let list = |list: usize| format!("u,{list},shoes,a,1,0,at,1,2\nu,{list},shoes,b,2,1,at,1,2\n");
    let many = (0..60_000).map(list).collect::<Vec<_>>().concat();
    let found = read(COLUMNS, &format!("{HEAD}{many}"), ListNames::new(), None);
    assert_eq!(found.lists.len(), 60_000);
    assert!(found.lists.iter().all(|list| list.3 == [0, 1] && list.4 == 0b10));
}

/// Numbers as they are, and texts.
struct Column(Vec<String>);

impl ReadColumn for Column {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(self.0[rows].iter().map(|text| match text.replace(',', ".").parse::<f64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(text.as_str()),
        }));
    }
}

#[test]
fn a_table_in_memory_has_the_same_lists() {
    let rows: Vec<Vec<String>> = LINES
        .lines()
        .map(|line| line.replace("\"1,5\"", "1.5").split(',').map(str::to_owned).collect())
        .collect();
    let column = |at: usize| -> Box<dyn ReadColumn> {
        Box::new(Column(rows.iter().map(|row| row[at].clone()).collect()))
    };
    let frame = Frame::new(HEAD.trim().split(',')).batch(rows.len(), (0..9).map(column).collect()).unwrap();
    let format = Format::delimited(COLUMNS).unwrap();
    let (mut names, mut lists) = (ListNames::new(), vec![]);
    let source = PersonalLists::new(&format, Some("shoes")).unwrap();
    source
        .read(vec![Input::frame("log", &frame)], &mut names, &mut |list| {
            lists.push((list.unit, list.segment, list.features.to_vec(), list.items.to_vec(), list.clicks));
        })
        .unwrap();
    assert_eq!(lists, expected());
}

#[test]
fn a_fault_names_line_and_column_and_is_skipped_and_counted() {
    let second = "ann,1,shoes,b,2,1,at,0.5,-1";
    for (other, column, text, reason) in [
        (
            "ann,1,shoes,b,2,1,at,0.25,-1",
            "column 8 (x)",
            "another value than in the first line of the list, found `0.25`",
            "two contexts in a list",
        ),
        (
            "ann,1,shoes,b,2,1,de,0.5,-1",
            "column 7 (g)",
            "another value than in the first line of the list, found `de`",
            "two contexts in a list",
        ),
        ("ann,1,shoes,b,2,1,at,0.5,", "column 9 (y)", "nothing there", "empty column"),
        (
            "ann,1,shoes,b,2,1,at,nan,-1",
            "column 8 (x)",
            "expected a finite number, found `nan`",
            "not a finite number",
        ),
        (
            "ann,1,shoes,b,2,1,at,0.5,old",
            "column 9 (y)",
            "expected a finite number, found `old`",
            "not a finite number",
        ),
        ("ann,1,shoes,b,2,1,,0.5,-1", "column 7 (g)", "nothing there", "empty column"),
        (
            "zoe,1,shoes,b,2,1,at,0.5,-1",
            "column 1 (who)",
            "another user than at the position above",
            "two users in a list",
        ),
        (
            "ann,1,shoes,b,3,1,at,0.5,-1",
            "column 5 (p)",
            "expected position 2 of this session",
            "session out of order",
        ),
        (
            "ann,9,shoes,b,2,1,at,0.5,-1",
            "column 5 (p)",
            "expected the first position, 1: the lines of a list stand together",
            "line apart from its list",
        ),
        (
            "ann,1,shoes,c,2,1,at,0.5,-1",
            "column 4 (i)",
            "an item without a row in the table of items, found `c`",
            "unknown item",
        ),
        (
            "ann,1,shoes,a,2,1,at,0.5,-1",
            "column 4 (i)",
            "this item is in the list twice",
            "item twice in a list",
        ),
        (
            "ann,1,shoes,b,2,2,at,0.5,-1",
            "column 6 (c)",
            "more clicks than the 1 impression",
            "more clicks than impressions",
        ),
        ("ann,1,shoes,b,0,1,at,0.5,-1", "column 5 (p)", "positions count from 1", "position 0"),
    ] {
        let log = format!("{HEAD}{}", LINES.replace(second, other));
        let names = || ListNames::of_items(["a", "b"].map(String::from));
        let error = read(COLUMNS, &log, names(), None).result.unwrap_err().to_string();
        let start = format!("log.csv:3: {column}: {text}");
        assert!(error.starts_with(&start) && !error.contains("zoe"), "{error}\n{start}");
        let found = read(COLUMNS, &log, names(), Some(0.5));
        let report = found.result.unwrap();
        assert_eq!(report.skipped.len(), 1, "{other}");
        assert_eq!(report.skipped[reason].lines, 1, "{other}");
        // The list ends above the line.
        let mut lists = expected();
        (lists[0].3, lists[0].4) = (vec![0], 0);
        assert_eq!(found.lists, lists, "{other}");
        assert!(read(COLUMNS, &log, names(), Some(0.1)).result.is_err());
    }
}

#[test]
fn columns_that_cannot_be_read_are_refused() {
    let refused = |columns: &str, query: Option<&str>| {
        let format = Format::delimited(columns).unwrap();
        let error = PersonalLists::new(&format, query).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Settings);
        error.to_string()
    };
    assert!(refused("item=i,position=p,click=c", None).contains("`session` is missing"));
    assert!(refused("item=i,position=p,click=c,impressions=n", None).contains("`impressions`"));
    assert!(refused("item=i,position=p,click=c,session=s", Some("shoes")).contains("`query` is missing"));
    assert!(PersonalLists::new(&Format::Kdd2012, None).is_err());
    for (columns, message) in [
        ("item=i,position=p,click=c,features=x;", "`features=`: a column has a name"),
        ("item=i,position=p,click=c,features=x;i", "column `i` is given for `item` and `features`"),
        ("item=i,position=p,click=c,features=x;x", "column `x` is given for `features` and `features`"),
        ("item=i,position=p,click=c,segment=g,segment=h", "`segment` is given twice"),
    ] {
        let error = Format::delimited(columns).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // Two queries, and none was chosen.
    let format = Format::delimited(COLUMNS).unwrap();
    let source = PersonalLists::new(&format, None).unwrap();
    let log = format!("{HEAD}{LINES}");
    let error = source
        .read(vec![Input::stream("log.csv", log.as_bytes())], &mut ListNames::new(), &mut |_| {})
        .unwrap_err();
    assert!(error.to_string().contains("log.csv:4: column 3 (q): another query"), "{error}");
}

#[test]
fn segments_are_limited() {
    let line = |g: usize| format!("u,{g},shoes,a,1,0,{g},1,2\n");
    let lines = |n: usize| (0..n).map(line).collect::<Vec<_>>().concat();
    let names = read(COLUMNS, &format!("{HEAD}{}", lines(1 << 16)), ListNames::new(), None).names;
    assert_eq!(names.segments().len(), 1 << 16);
    let error = read(COLUMNS, &format!("{HEAD}{}", lines((1 << 16) + 1)), ListNames::new(), None);
    let error = error.result.unwrap_err().to_string();
    assert!(error.starts_with("log.csv:65538: column 7 (g): more than 65536 different segments"), "{error}");
}
