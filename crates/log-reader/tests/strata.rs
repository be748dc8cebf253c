//! Columns that divide queries into strata, and times that order sessions.

use log_reader::{
    Columns, ErrorKind, Fault, Format, Frame, Ids, Input, Log, PersonalLists, ReadColumn, Reader,
    ReceiveLists, ShownList, Value,
};
use std::ops::Range;

const COLUMNS: &str =
    "query=query,session=s,item=item,position=position,click=click,stratum=device;land,time=t";
const LOG: &str = "s,t,device,land,query,item,position,click\n\
    1,2026-03-03,phone,de,hats,a,1,1\n1,2026-03-03,phone,de,hats,b,2,0\n\
    2,2026-03-01,phone,de,hats,b,1,0\n2,2026-03-01,phone,de,hats,a,2,0\n\
    3,2026-03-02,desk,de,hats,a,1,0\n3,2026-03-02,desk,de,hats,b,2,1\n";

fn read(columns: &str, log: &str) -> Result<Log, log_reader::Error> {
    Reader::new(Format::delimited(columns)?).keep_sessions().read("log.csv", log.as_bytes())
}

/// The queries with the first item of each session, in the order of the log.
fn shown(log: &Log) -> Vec<(String, Vec<String>)> {
    let name = |id| log.sessions.names().name(id).into_owned();
    let of_query = |query: log_reader::QuerySessions<'_>| {
        let lists: Vec<_> = query.lists().collect();
        let first = query.in_order().map(|session| name(lists[session.list].items[0])).collect();
        (name(query.id()), first)
    };
    let mut found: Vec<_> = log.sessions.queries().map(of_query).collect();
    found.sort();
    found
}

#[test]
fn a_query_within_a_stratum_is_a_query_and_times_order_its_sessions() {
    let log = read(COLUMNS, LOG).unwrap();
    let expected = [("hats / desk / de", vec!["a"]), ("hats / phone / de", vec!["b", "a"])];
    let expected =
        expected.map(|(query, first)| (query.to_owned(), first.into_iter().map(str::to_owned).collect()));
    assert_eq!(shown(&log), expected);
    assert_eq!(log.report.strata, 2);
    let day = 86_400_000;
    let [first, last] = log.sessions.times().unwrap();
    assert_eq!(last - first, 2 * day);
    // One of two days of dates is the last date, and more of it begins with the second session.
    assert_eq!(log.sessions.start_of_last(0.5), (2, Some(last)));
    assert_eq!(log.sessions.start_of_last(1e-12), (2, Some(last)));
    assert_eq!(log.sessions.start_of_last(0.6), (1, Some(first + day)));
    assert_eq!(log.sessions.start_of_last(1.0), (0, Some(first)));
}

/// A wrong time or two change neither where the log begins and ends, nor where its last part does.
#[test]
fn a_few_wrong_times_do_not_move_the_log() {
    let columns = "session=s,item=item,position=position,click=click,time=t";
    let log = |wrong: &dyn Fn(usize) -> Option<&'static str>| {
        let mut log = "s,t,item,position,click\n".to_owned();
        for n in 0..400_usize {
            let time = wrong(n).map_or_else(|| format!("2026-03-{:02}", 1 + n / 20), str::to_owned);
            log.extend([format!("{n},{time},a,1,0\n"), format!("{n},{time},b,2,1\n")]);
        }
        read(columns, &log).unwrap().sessions
    };
    let right = log(&|_| None);
    let [first, last] = right.times().unwrap();
    assert_eq!((last - first, right.n_apart()), (19 * 86_400_000, 0));
    for wrong in [
        |n: usize| (n == 390).then_some("2099-01-01"),
        |n: usize| (n == 390).then_some("0"),
        |n: usize| (n % 100 == 90).then_some(if n < 200 { "2099-01-01" } else { "1970-01-01" }),
    ] {
        let log = log(&wrong);
        assert_eq!(log.times(), Some([first, last]));
        assert!((1..=4).contains(&log.n_apart()));
        for share in [0.05, 0.5] {
            let [(place, time), (of_right, at)] = [&log, &right].map(|log| log.start_of_last(share));
            assert!(time == at && place.abs_diff(of_right) <= 3, "{place} {of_right}");
        }
    }
    // More than a few are no mistake.
    assert_eq!(log(&|n| (n % 10 == 0).then_some("2099-01-01")).n_apart(), 0);
}

#[test]
fn without_times_the_rows_order_sessions() {
    let log = read(COLUMNS.strip_suffix(",time=t").unwrap(), LOG).unwrap();
    assert_eq!(shown(&log)[1].1, ["a", "b"]);
    assert_eq!((log.sessions.times(), log.sessions.start_of_last(0.5)), (None, (1, None)));
}

#[test]
fn what_is_no_time_is_a_fault_with_its_place() {
    let error = read(COLUMNS, &LOG.replace("2026-03-02,desk,de,hats,b", "soon,desk,de,hats,b")).unwrap_err();
    assert!(error.to_string().starts_with("log.csv:7: column 2 (t): expected a time as"), "{error}");
    let format = Format::delimited(&COLUMNS.replace("query=query,", "")).unwrap();
    let error = PersonalLists::new(&format, None).unwrap_err();
    assert!(error.to_string().contains("`stratum`: with contexts"), "{error}");
    let error = Columns::parse("item=i,position=p,click=c,time=t").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Settings), "{error}");
}

/// A query within a stratum whose name has a slash is none within two strata, nor is that of the
/// slash that of its escape.
#[test]
fn slashes_and_percent_signs_of_strata_are_written_otherwise() {
    let log = "s,device,query,item,position,click\n1,x,a / b,i,1,1\n2,b / x,a,i,1,0\n";
    let columns = "query=query,session=s,item=item,position=position,click=click,stratum=device";
    let names: Vec<String> =
        shown(&read(columns, log).unwrap()).into_iter().map(|(query, _)| query).collect();
    assert_eq!(names, ["a / b %2F x", "a / b / x"]);
    let log = log.replace("1,x,a / b", "1,c/d,a").replace("2,b / x", "2,c%2Fd");
    let names: Vec<String> =
        shown(&read(columns, &log).unwrap()).into_iter().map(|(query, _)| query).collect();
    assert_eq!(names, ["a / c%252Fd", "a / c%2Fd"]);
}

/// Formats with fixed columns have strata where a field gives them, under the names that a ranking
/// has for its queries.
#[test]
fn sessions_and_user_behavior_insights_have_strata_of_their_fields() {
    let names = |format: &Format, log: &str| {
        let log = Reader::new(format.clone()).keep_sessions().read("log", log.as_bytes()).unwrap();
        let names: Vec<String> = shown(&log).into_iter().map(|(query, _)| query).collect();
        (names, log.report.strata)
    };
    let header = "query\tregion\turls\tclicked_mask\tstratum\n";
    let rows = "a\t1\tx,y\t01\tphone\na\t1\tx,y\t01\td/k\na\t1\ty,x\t10\tphone\n";
    let found = names(&Format::Sessions, &format!("{header}{rows}"));
    assert_eq!(found, (vec!["a/1 / d%2Fk".to_owned(), "a/1 / phone".to_owned()], 1));
    let plain = names(&Format::Sessions, "query\turls\tclicked_mask\na\tx,y\t01\n");
    assert_eq!(plain, (vec!["a".to_owned()], 0));
    let empty = format!("{header}a\t1\tx,y\t01\t\n");
    let error = Reader::new(Format::Sessions).read("log", empty.as_bytes()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Line(Fault::Empty)), "{error}");
    let one = ["query\turls\tclicked_mask\na\tx,y\t01\n", &format!("{header}{rows}")]
        .map(|text| Input::stream("log", std::io::Cursor::new(text.as_bytes().to_vec())));
    let error = Reader::new(Format::Sessions).read_inputs(one.into()).unwrap_err();
    assert!(error.to_string().contains("in some files only"), "{error}");

    let query = |id: u32, stratum: &str| {
        let hits = r#""query_response_hit_ids":["x","y"]"#;
        let event = r#""action_name":"click","event_attributes":{"object":{"object_id":"x"}}"#;
        format!(
            "{{\"query_id\":{id},\"user_query\":\" Hat\",{hits},\"query_attributes\":{{{stratum}}}}}\n\
             {{\"query_id\":{id},{event}}}\n"
        )
    };
    let ubi = Format::Ubi(log_reader::Ubi::default());
    let found = names(&ubi, &(query(1, r#""stratum":"Phone""#) + &query(2, "")));
    assert_eq!(found, (vec!["hat".to_owned(), "hat / phone".to_owned()], 1));
    assert_eq!(ubi.query_name("Hat / Phone"), "hat / phone");
    assert_eq!(names(&ubi, &query(3, r#""stratum":" ""#)), (vec!["hat".to_owned()], 0));
}

/// A list has one stratum, wherever its lines stand; two lists of a session may have two.
#[test]
fn a_list_of_two_strata_is_a_fault_with_its_line() {
    const ONE: &str = "query=query,session=s,item=item,position=position,click=click,stratum=device";
    let log = |rows: &[&str]| format!("query,s,device,item,position,click\n{}\n", rows.join("\n"));
    let frame = |rows: &[&str]| {
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect();
        let texts = |place: usize| Box::new(Texts(cells.iter().map(|row| row[place].clone()).collect()));
        let columns: Vec<Box<dyn ReadColumn>> =
            (0..6).map(|place| texts(place) as Box<dyn ReadColumn>).collect();
        let frame = Frame::new(["query", "s", "device", "item", "position", "click"]);
        frame.batch(rows.len(), columns).unwrap()
    };
    for (rows, line) in [
        (vec!["q,1,phone,a,1,0", "q,1,desk,b,2,1"], 3),
        (vec!["q,1,phone,a,1,0", "q,1,phone,b,2,1", "q,1,desk,c,3,1", "q,2,desk,c,1,1"], 4),
        (vec!["q,1,desk,b,2,1", "q,2,phone,a,1,0", "q,1,phone,a,1,0"], 2),
    ] {
        let error = read(ONE, &log(&rows)).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Line(Fault::AnotherStratum), "{rows:?}");
        let place = format!("log.csv:{line}: another stratum than at the position above");
        assert!(error.to_string().starts_with(&place), "{error}");
        let reader = || Reader::new(Format::delimited(ONE).unwrap());
        let error = reader().keep_sessions().read_frame("log", &frame(&rows), None).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Line(Fault::AnotherStratum), "{rows:?}");
        assert_eq!(error.place().line, line - 1);
        let lists = |_| {
            Ok::<_, log_reader::Error>(vec![Input::stream(
                "log.csv",
                std::io::Cursor::new(log(&rows).into_bytes()),
            )])
        };
        let error = reader().read_lists(Ids::new(), lists, || Lists).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Line(Fault::AnotherStratum), "{rows:?}");
    }
    for rows in [
        ["q,1,phone,a,1,0", "q,1,phone,b,2,1", "q,1,desk,b,1,1", "q,1,desk,a,2,0"],
        ["q,1,phone,a,1,0", "q,1,phone,b,2,1", "r,1,desk,b,1,1", "r,1,desk,a,2,0"],
    ] {
        assert_eq!(read(ONE, &log(&rows)).unwrap().sessions.n_sessions(), 2);
    }
}

#[derive(Debug)]
struct Lists;

impl ReceiveLists for Lists {
    fn list(&mut self, _: &ShownList<'_>) {}
}

struct Texts(Vec<String>);

impl ReadColumn for Texts {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(self.0[rows].iter().map(|text| Value::from(text.as_str())));
    }
}
