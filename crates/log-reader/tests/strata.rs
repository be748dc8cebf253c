//! Columns that divide queries into strata, and times that order sessions.

use log_reader::{Columns, ErrorKind, Format, Log, PersonalLists, Reader};

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
        let first = query.in_order().map(|session| name(lists[session.list].items()[0])).collect();
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

/// A query within a stratum whose name has a slash is none within two strata.
#[test]
fn slashes_of_strata_are_written_otherwise() {
    let log = "s,device,query,item,position,click\n1,x,a / b,i,1,1\n2,b / x,a,i,1,0\n";
    let read = read("query=query,session=s,item=item,position=position,click=click,stratum=device", log);
    let names: Vec<String> = shown(&read.unwrap()).into_iter().map(|(query, _)| query).collect();
    assert_eq!(names, ["a / b %2F x", "a / b / x"]);
}
