//! User Behavior Insights: the lists of the cases, forms of the same log, and every fault.

use flate2::{Compression, write::GzEncoder};
use log_reader::{
    ErrorKind, Fault, Format, Id, Ids, Input, Log, ReadLists, Reader, ReceiveLists, ShownList, TakeRows, Ubi,
    Value, read_ubi_clicks, unit_hash,
};
use std::io::Write as _;
use std::num::NonZeroUsize;

const QUERIES: &str = include_str!("data/ubi_queries.ndjson");
const EVENTS: &str = include_str!("data/ubi_events.ndjson");

fn ubi() -> Ubi {
    Ubi::default()
}

fn inputs<'a>(files: &[&'a [u8]]) -> Vec<Input<'a>> {
    files.iter().enumerate().map(|(number, bytes)| Input::stream(&format!("file-{number}"), *bytes)).collect()
}

fn reader(ubi: Ubi) -> Reader {
    Reader::new(Format::Ubi(ubi)).keep_sessions()
}

/// Query, items and clicks of every session, in order.
fn lists(log: &Log) -> Vec<(String, String, String)> {
    let name = |id: Id| log.counts.names().name(id).into_owned();
    let mut lists = Vec::new();
    for query in log.sessions.queries() {
        for list in query.lists() {
            for pattern in list.patterns {
                let items: Vec<String> = list.items.iter().map(|item| name(*item)).collect();
                let clicks = (0..items.len()).map(|place| if pattern.clicks.get(place) { '1' } else { '0' });
                lists.push((name(query.id()), items.join(" "), clicks.collect()));
            }
        }
    }
    lists.sort();
    lists
}

fn read(ubi: Ubi, files: &[&[u8]]) -> Log {
    reader(ubi).read_inputs(inputs(files)).unwrap_or_else(|error| panic!("{error}"))
}

fn expected() -> Vec<(String, String, String)> {
    [
        ("red running shoes", "p-07 p-11 p-32", "101"),
        ("red running shoes", "p-11 p-07 p-32", "010"),
        ("toner", "p-90 p-91", "00"),
    ]
    .map(|(query, items, clicks)| (query.to_owned(), items.to_owned(), clicks.to_owned()))
    .into()
}

#[test]
fn a_document_is_the_same_after_an_event_named_its_user() {
    let query = r#"{"query_id":"q1","user_query":"toner","query_response_hit_ids":["a","b"]}"#;
    let event = r#"{"query_id":"q1","client_id":"u1","action_name":"click","event_attributes":{"object":{"object_id":"a"},"position":{"ordinal":1}}}"#;
    let log = read(ubi(), &[[query, event, query].join("\n").as_bytes()]);
    let (queries, clicks) = ("toner".to_owned(), "1".to_owned());
    assert_eq!(lists(&log), [(queries, "a".to_owned(), clicks)]);
    assert_eq!(log.report.ubi.unwrap().repeated_queries, 1);
}

/// Numbers with more digits than are read would be one query.
#[test]
fn identifiers_of_too_many_digits_are_refused() {
    for (number, is_read) in
        [("18446744073709551615", true), ("18446744073709551616", false), ("1e16", false)]
    {
        let query = format!(r#"{{"query_id":{number},"user_query":"toner","query_response_hit_ids":["a"]}}"#);
        let read = reader(ubi()).read_inputs(inputs(&[query.as_bytes()]));
        assert_eq!(read.is_ok(), is_read, "{number}");
    }
}

#[test]
fn the_lists_of_the_cases_in_every_form() {
    let (queries, events) = (QUERIES.as_bytes(), EVENTS.as_bytes());
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let each = |form: &dyn Fn(&str) -> String| EVENTS.lines().map(form).collect::<String>();
    let bulk = each(&|line| format!("{{\"index\": {{\"_index\": \"ubi_events\"}}}}\n{line}\n"));
    let source =
        each(&|line| format!("{{\"_index\": \"ubi_events\", \"_id\": \"7\", \"_source\": {line}}}\n"));
    let array = format!("[{}]\n", EVENTS.trim().lines().collect::<Vec<_>>().join(","));
    let lines = format!("[\n{}\n]\n", EVENTS.trim().lines().collect::<Vec<_>>().join(",\n"));
    let mixed = format!("{EVENTS}{QUERIES}");
    let [packed, crlf] = [gzip(events), EVENTS.replace('\n', "\r\n").into_bytes()];
    let small = |files: &[&[u8]]| {
        let reader = reader(ubi()).block_bytes(NonZeroUsize::MIN).threads(NonZeroUsize::new(3).unwrap());
        reader.read_inputs(inputs(files)).unwrap()
    };
    let found = read(ubi(), &[queries, events]);
    assert_eq!(lists(&found), expected());
    let report = found.report.ubi.as_ref().unwrap();
    assert_eq!((report.queries, report.repeated_clicks, report.other_actions), (3, 1, 1));
    assert_eq!((report.bases[0].count, report.bases[1].count), (0, 12));
    assert_eq!((found.report.sessions, found.report.clicks, found.report.impressions), (3, 3, 8));
    for files in [
        [events, queries],
        [queries, bulk.as_bytes()],
        [source.as_bytes(), queries],
        [queries, array.as_bytes()],
        [queries, lines.as_bytes()],
        [queries, packed.as_slice()],
        [queries, crlf.as_slice()],
        [mixed.as_bytes(), b"{\"create\": {}}\n"],
    ] {
        for log in [read(ubi(), &files), small(&files)] {
            assert_eq!(lists(&log), expected());
            assert!(log.counts == found.counts, "{}", log.report);
        }
    }
    let exact = QUERIES.replace("red running shoes", " Red  running shoes ");
    assert_eq!(lists(&read(ubi(), &[exact.as_bytes(), events]))[0].0, "red  running shoes");
    let kept = Ubi { exact_queries: true, ..ubi() };
    assert_eq!(lists(&read(kept, &[exact.as_bytes(), events]))[0].0, " Red  running shoes ");
    let other = Ubi { application: Some("other-shop".into()), ..ubi() };
    let report = reader(other).read_inputs(inputs(&[queries, events])).unwrap().report;
    assert_eq!((report.sessions, report.ubi.unwrap().other_applications), (0, 16));
    let views = EVENTS.replace("\"impression\"", "\"View\"");
    let view = Ubi { impression: Some("view".into()), ..ubi() };
    assert_eq!(lists(&read(view, &[queries, views.as_bytes()])), expected());
}

/// Without hit ids, ordinals make the lists.
#[test]
fn ordinals_make_lists_without_hit_ids() {
    let bare: String = QUERIES
        .lines()
        .map(|line| {
            line.split("\"query_response_hit_ids\"")
                .next()
                .unwrap()
                .trim_end()
                .trim_end_matches(',')
                .to_owned()
                + "}\n"
        })
        .collect();
    let from_zero = EVENTS
        .replace("\"ordinal\": 1", "\"ordinal\": 0")
        .replace("\"ordinal\": 2", "\"ordinal\": 1")
        .replace("\"ordinal\": 3", "\"ordinal\": 2");
    assert_eq!(lists(&read(ubi(), &[bare.as_bytes(), from_zero.as_bytes()])), expected());
    let error = reader(ubi()).read_inputs(inputs(&[bare.as_bytes(), EVENTS.as_bytes()])).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Settings, "{error}");
    let base = Ubi { position_base: Some(1), ..ubi() };
    assert_eq!(lists(&read(base.clone(), &[bare.as_bytes(), EVENTS.as_bytes()])), expected());
    let fault = |events: &str, fault: Fault, lost: (u64, u64)| {
        let log = read(base.clone(), &[bare.as_bytes(), events.as_bytes()]);
        let skipped = &log.report.skipped[fault.reason()];
        assert_eq!((skipped.clicks, skipped.impressions), lost, "{}", log.report);
    };
    fault(&EVENTS.replace("{\"ordinal\": 3}", "{}"), Fault::NoOrdinal, (1, 2));
    fault(&EVENTS.replace("\"ordinal\": 3", "\"ordinal\": 65"), Fault::BelowList, (1, 2));
    let zero = reader(base.clone()).read_inputs(inputs(&[bare.as_bytes(), from_zero.as_bytes()]));
    assert_eq!(*zero.unwrap_err().kind(), ErrorKind::Line(Fault::PositionZero));
    // Ordinals that are no list: a gap, or two items at one. Every item counts at its place.
    for ordinal in [4, 1] {
        let events = EVENTS.replace("\"ordinal\": 2", &format!("\"ordinal\": {ordinal}"));
        let log = read(base.clone(), &[bare.as_bytes(), events.as_bytes()]);
        let report = &log.report;
        assert_eq!((report.sessions, report.impressions, report.clicks), (0, 8, 3), "{report}");
        assert_eq!(report.ubi.as_ref().unwrap().without_list, 8, "{report}");
        let cells: Vec<_> = log.counts.queries().flat_map(|query| query.cells()).collect();
        assert!(cells.iter().any(|cell| cell.position + 1 == ordinal && cell.clicks > 0), "{cells:?}");
    }
}

/// The same list, whether a document with hits, one without, or none names its query.
#[test]
fn events_that_name_all_need_no_document() {
    let without = QUERIES.lines().nth(1).unwrap();
    let from_zero = (1..4).fold(EVENTS.to_owned(), |events, ordinal| {
        events.replace(&format!("\"ordinal\": {ordinal}"), &format!("\"ordinal\": {}", ordinal - 1))
    });
    for log in [
        read(ubi(), &[from_zero.as_bytes()]),
        read(ubi(), &[from_zero.as_bytes(), without.as_bytes()]),
        read(Ubi { position_base: Some(1), ..ubi() }, &[EVENTS.as_bytes()]),
        // One document has hits, so where ordinals begin is known.
        read(ubi(), &[EVENTS.as_bytes(), without.as_bytes()]),
    ] {
        assert_eq!(lists(&log), expected(), "{}", log.report);
        assert_eq!(log.report.ubi.unwrap().events, [8, 4]);
    }
    let asked = reader(ubi()).read_inputs(inputs(&[EVENTS.as_bytes()])).unwrap_err();
    assert_eq!(*asked.kind(), ErrorKind::Settings, "{asked}");
    // Nothing is asked of a hundred ordinals without a 0, nor of another application.
    let many = EVENTS.repeat(9);
    assert_eq!(lists(&read(ubi(), &[many.as_bytes()])), expected());
    let other = from_zero.replace("sample-shop", "other").replace("\"q-0", "\"r-0");
    let both = read(ubi(), &[many.as_bytes(), other.as_bytes()]);
    assert_eq!((lists(&both), both.report.sessions), (expected(), 6), "{}", both.report);
    // Without words nothing says what the user searched.
    let nameless = EVENTS.replace("user_query", "no_query");
    let error = reader(ubi()).read_inputs(inputs(&[nameless.as_bytes()])).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TooManySkipped, "{error}");
}

/// The requests of one search: those without hits are counts, and the others must agree.
#[test]
fn documents_without_hits_are_skipped() {
    let document = |words: &str, hits: &str| {
        format!(
            r#"{{"query_id":"q","client_id":"u","user_query":"{words}","query_response_hit_ids":{hits}}}"#
        )
    };
    let event = |action: &str, item: &str, ordinal: u8| {
        format!(
            r#"{{"query_id":"q","action_name":"{action}","event_attributes":{{"object":{{"object_id":"{item}"}},"position":{{"ordinal":{ordinal}}}}}}}"#
        )
    };
    let (facets, hits) = (document("re", "[]"), document("red", r#"["a","b","c"]"#));
    let events = [event("impression", "a", 1), event("click", "b", 2)].join("\n");
    let expected = [("red".to_owned(), "a b".to_owned(), "01".to_owned())];
    for order in [
        [&facets, &hits, &events],
        [&hits, &facets, &events],
        [&events, &facets, &hits],
        [&facets, &events, &hits],
    ] {
        let text = order.map(String::as_str).join("\n");
        let log = read(ubi(), &[text.as_bytes()]);
        assert_eq!(lists(&log), expected, "{}", log.report);
        let found = log.report.ubi.unwrap();
        assert_eq!((found.queries, found.without_hits, found.events), (1, 1, [1, 1]));
        assert_eq!(log.report.skipped.len(), 0);
    }
    // Others of the same search differ: the query has no list, and its events are counted.
    let other = [&*hits, &document("red", r#"["b","a"]"#), &events].join("\n");
    let kept = other.replace("\"q\"", "\"r\"").replace("\"b\",\"a\"", "\"a\",\"b\",\"c\"");
    let log = read(ubi(), &[other.as_bytes(), kept.as_bytes()]);
    assert_eq!(lists(&log), expected);
    let skipped = &log.report.skipped[Fault::OtherDocument.reason()];
    assert_eq!((skipped.lines, skipped.impressions, skipped.clicks), (1, 1, 1));
    // A click on the second page.
    let below = [&*hits, &events, &event("click", "z", 12)].join("\n");
    let report = read(ubi(), &[below.as_bytes()]).report;
    assert_eq!((report.clicks, report.skipped[Fault::BelowList.reason()].clicks), (1, 1), "{report}");
}

/// Events of other actions need no query, and the action that is a click has a name.
#[test]
fn actions_have_names() {
    let other = r#"{"action_name":"search","query_id":null,"event_attributes":null}"#;
    let log = read(ubi(), &[QUERIES.as_bytes(), EVENTS.as_bytes(), other.as_bytes()]);
    assert_eq!((lists(&log), log.report.ubi.unwrap().other_actions), (expected(), 2));
    let events = EVENTS.replace("\"click\"", "\"item_click\"");
    let none = read(ubi(), &[QUERIES.as_bytes(), events.as_bytes()]).report;
    assert_eq!((none.clicks, none.ubi.unwrap().other_actions), (0, 5));
    let named = Ubi { click: Some("Item_Click".into()), ..ubi() };
    assert_eq!(lists(&read(named, &[QUERIES.as_bytes(), events.as_bytes()])), expected());
}

/// A search of `OpenSearch` answers with the documents; all of them are read, whatever is wrong
/// with one.
#[test]
fn answers_are_read() {
    let all = QUERIES.lines().chain(EVENTS.lines());
    let hits: Vec<String> = all.map(|line| format!("{{\"_id\": \"7\", \"_source\": {line}}}")).collect();
    let answer = |hits: &[String]| {
        format!("{{\"took\": 3, \"hits\": {{\"total\": {{\"value\": 9}}, \"hits\": [{}]}}}}", hits.join(","))
    };
    assert_eq!(lists(&read(ubi(), &[answer(&hits).as_bytes()])), expected());
    assert_eq!(lists(&read(ubi(), &[answer(&hits[..3]).as_bytes(), EVENTS.as_bytes()])), expected());
    let broken = [&[r#"{"action_name": "click"}"#.to_owned()], &hits[..]].concat();
    let lenient = reader(ubi()).lenient(1.0).unwrap();
    let log = lenient.read_inputs(inputs(&[answer(&broken).as_bytes()])).unwrap();
    assert_eq!((lists(&log), log.report.n_skipped()), (expected(), 1));
    // As it is printed for readers, it is of many lines.
    let pretty = answer(&hits).replacen("{\"took\"", "{\n\"took\"", 1);
    let error = reader(ubi()).read_inputs(inputs(&[pretty.as_bytes()])).unwrap_err();
    assert!(error.to_string().contains("jq -c"), "{error}");
}

fn strict_reads(fault: Fault) -> bool {
    let counted = [Fault::UnknownQuery, Fault::OutsideList, Fault::OtherOrdinal, Fault::OtherDocument];
    counted.contains(&fault)
}

/// A fault is an error with its place; a lenient reader counts it and reads the rest.
#[test]
fn faults_have_places_and_are_counted() {
    let event = |query: &str, item: &str, ordinal: &str| {
        format!(
            "{{\"query_id\": \"{query}\", \"action_name\": \"CLICK\", \"timestamp\": \"2026-03-05T01:00:00Z\", \
             \"event_attributes\": {{\"object\": {{\"object_id\": \"{item}\"}}, \"position\": {{\"ordinal\": {ordinal}}}}}}}"
        )
    };
    for (line, fault) in [
        ("{\"action_name\": \"click\"}".to_owned(), Fault::NoQueryId),
        ("{\"query_id\": \"q-0001\", \"action_name\": \"click\"}".to_owned(), Fault::NoObject),
        (event("q-0009", "p-11", "1"), Fault::UnknownQuery),
        (event("q-0001", "p-99", "1"), Fault::OutsideList),
        (event("q-0001", "p-11", "3"), Fault::OtherOrdinal),
        (event("q-0001", "p-11", "-1"), Fault::NotAnOrdinal),
        (event("q-0001", "p-11", "\"two\""), Fault::NotAnOrdinal),
        (QUERIES.lines().next().unwrap().replace("p-32", "p-33"), Fault::OtherDocument),
        ("{\"search_configuration\": \"a\", \"count\": 4, \"time\": 1}".to_owned(), Fault::CountedClicks),
        ("{\"query_id\": ".to_owned(), Fault::NotJson),
        ("7".to_owned(), Fault::NotJson),
    ] {
        let events = format!("{EVENTS}{line}\n");
        let files: [&[u8]; 2] = [QUERIES.as_bytes(), events.as_bytes()];
        let strict = reader(ubi()).read_inputs(inputs(&files));
        let place = match strict {
            Ok(log) => log.report.skipped[fault.reason()].first.clone(),
            Err(error) => {
                assert_eq!(*error.kind(), ErrorKind::Line(fault), "{error}");
                error.place().clone()
            }
        };
        // An event that joins no list is no fault of a line.
        assert_eq!(strict_reads(fault), reader(ubi()).read_inputs(inputs(&files)).is_ok());
        assert_eq!((place.file.as_str(), place.line), ("file-1", 14), "{place}");
        let lenient = reader(ubi()).lenient(0.5).unwrap().read_inputs(inputs(&files)).unwrap();
        // Nothing says which of two documents was shown.
        let left_out = usize::from(fault == Fault::OtherDocument);
        assert_eq!(lists(&lenient).len(), 3 - left_out, "{}", lenient.report);
        assert!(lists(&lenient).iter().all(|list| expected().contains(list)), "{}", lenient.report);
        assert_eq!(lenient.report.n_skipped(), 1, "{}", lenient.report);
    }
    // No faults: an equal document, a query without events, an ordinal that counts from 0.
    let more = QUERIES.lines().next().unwrap();
    let unseen = more.replace("q-0001", "q-0007");
    let queries = format!("{QUERIES}{more}\n{unseen}\n");
    let events = format!("{EVENTS}{}\n", event("q-0001", "p-07", "1"));
    let log = read(ubi(), &[queries.as_bytes(), events.as_bytes()]);
    assert_eq!(lists(&log), expected());
    let report = log.report.ubi.as_ref().unwrap();
    assert_eq!((report.repeated_queries, report.queries_without_events), (1, 1));
    let text = log.report.to_string();
    assert!(
        text.contains("from 0 in 1 events (first on 2026-03-05) and from 1 in 12 (first on 2026-03-02)"),
        "{text}"
    );
}

/// Users, sessions and propensities are handed over.
#[test]
fn lists_are_handed_over_with_users_and_propensities() {
    struct Lists(Vec<(u64, Option<f64>, u64)>);

    impl ReceiveLists for Lists {
        fn list(&mut self, list: &ShownList<'_>) {
            assert_eq!(list.items.len() as u64, if list.clicks == 0 { 2 } else { 3 });
            self.0.push((list.unit, list.list_propensity, list.clicks));
        }
    }
    let read = |queries: &str| -> ReadLists<Lists> {
        let open = |_| Ok::<_, log_reader::Error>(inputs(&[queries.as_bytes(), EVENTS.as_bytes()]));
        Reader::new(Format::Ubi(ubi())).read_lists(Ids::new(), open, || Lists(Vec::new())).unwrap()
    };
    let found = read(QUERIES);
    assert!(found.logged.user && found.logged.list_propensity && !found.logged.propensity);
    let mut all: Vec<_> = found.receivers.into_iter().flat_map(|lists| lists.0).collect();
    all.sort_by_key(|list| list.2);
    let users = ["c-2", "c-1", "c-2"].map(|user| unit_hash(user.as_bytes()));
    assert_eq!(all, [(users[0], Some(0.5), 0), (users[1], Some(0.8), 0b010), (users[2], Some(0.2), 0b101)]);
    // Propensities of some lists only are of no use.
    let some = read(&QUERIES.replace(", \"list_propensity\": 0.5", ""));
    assert!(!some.logged.list_propensity);
}

/// Clicks of an interleaved comparison, each item of a list once.
#[test]
fn clicks_are_handed_over_with_their_team() {
    struct Clicks(Vec<String>);

    impl TakeRows for Clicks {
        fn row(&mut self, values: &[Option<Value<'_>>; 6], _: &[Value<'_>]) -> Result<(), (usize, Fault)> {
            let texts =
                values.iter().flatten().map(|value| String::from_utf8_lossy(&value.bytes()).into_owned());
            self.0.push(texts.collect::<Vec<_>>().join(" "));
            Ok(())
        }
    }
    let events =
        EVENTS.replace("\"event_attributes\": {", "\"event_attributes\": {\"search_config\": \"new\", ");
    let read_of = |ubi: &Ubi, files: &[&[u8]], max_skipped| {
        let mut clicks = Clicks(Vec::new());
        let path = "event_attributes.search_config";
        let read = read_ubi_clicks(ubi, path, inputs(files), max_skipped, &mut clicks);
        read.map(|report| (clicks.0, report))
    };
    let read_files = |files: &[&[u8]], max_skipped| read_of(&ubi(), files, max_skipped);
    let read = |ubi: Ubi, events: &str| {
        // Queries are read before events.
        let read = read_of(&ubi, &[events.as_bytes(), QUERIES.as_bytes()], None);
        read.map(|(rows, report)| (rows, report.ubi.unwrap()))
    };
    let expected = [
        "c-1 new 3 2026-03-02T10:00:03.000Z q-0001",
        "c-2 new 2 2026-03-02T10:00:13.000Z q-0002",
        "c-2 new 4 2026-03-02T10:00:14.000Z q-0002",
    ];
    let (rows, report) = read(ubi(), &events).unwrap();
    assert_eq!(
        (rows, report.repeated_clicks, report.other_actions),
        (expected.map(str::to_owned).into(), 1, 1)
    );
    // An event with a click is read whole.
    let unread =
        events.replacen("\"action_name\": \"click\"", "\"rate\": 1e999, \"action_name\": \"click\"", 1);
    assert_ne!(unread, events);
    let error = read(ubi(), &unread).unwrap_err();
    assert_eq!((error.kind(), &*error.place().text), (&ErrorKind::Line(Fault::NotJson), ".. at byte 44"));
    // The user of a query is that of its clicks, and the whole document may be wrapped, or one of
    // many.
    let nameless = events.replace("\"client_id\"", "\"nobody\"");
    assert_ne!(nameless, events);
    let wrap = |line: &str| format!("{{\"_source\": {line}}}");
    let array = format!("[{}]\n", nameless.trim().lines().map(wrap).collect::<Vec<_>>().join(","));
    for events in [&nameless, &array] {
        assert_eq!(read(ubi(), events).unwrap().0, expected);
    }
    // Positions count from 1, whatever the ordinal of the first.
    let positions = |base: u8| -> Result<Vec<String>, ErrorKind> {
        let rows = read(Ubi { position_base: Some(base), ..ubi() }, &events);
        let position = |row: &String| row.split(' ').nth(2).unwrap().to_owned();
        rows.map(|(rows, _)| rows.iter().map(position).collect()).map_err(|error| error.kind().clone())
    };
    assert_eq!(positions(1).unwrap(), ["2", "1", "3"]);
    assert_eq!(positions(0).unwrap_err(), ErrorKind::Settings);
    let without = events.replace("{\"ordinal\": 2}", "{}");
    let based = |events: &str| read(Ubi { position_base: Some(1), ..ubi() }, events).unwrap_err();
    assert_eq!(*based(&without).kind(), ErrorKind::Line(Fault::Empty));
    let from_zero = events.replace("\"ordinal\": 1", "\"ordinal\": 0");
    assert_eq!(*based(&from_zero).kind(), ErrorKind::Line(Fault::PositionZero));
    // A click above its query in the same file has the query's user.
    let above = nameless.clone() + QUERIES;
    let (mut rows, _) = read_files(&[above.as_bytes()], None).unwrap();
    rows.sort();
    assert_eq!(rows, expected);
    // Documents of a query must be equal.
    let twice = QUERIES.to_owned() + QUERIES.lines().next().unwrap();
    let (rows, report) = read_files(&[nameless.as_bytes(), twice.as_bytes()], None).unwrap();
    assert_eq!((rows, report.ubi.unwrap().repeated_queries), (expected.map(str::to_owned).into(), 1));
    let other = twice.replace("red running shoes", "RED shoes").replacen("RED shoes", "red running shoes", 1);
    let files: [&[u8]; 2] = [nameless.as_bytes(), other.as_bytes()];
    // Nothing says which list was shown, wherever the other document is: its click is left out.
    let kept: Vec<String> = expected[1..].iter().map(|row| (*row).to_owned()).collect();
    let below = format!("{nameless}{other}");
    let array = format!("[{}]\n", events.trim().replace('\n', ","));
    for (files, lines) in
        [(files, 2), ([below.as_bytes(), b"{}".as_slice()], 3), ([array.as_bytes(), other.as_bytes()], 2)]
    {
        let (rows, report) = read_files(&files, Some(0.5)).unwrap();
        let skipped = &report.skipped[Fault::OtherDocument.reason()];
        assert_eq!((rows, skipped.lines, skipped.clicks), (kept.clone(), 2, 1));
        assert_eq!((report.n_skipped(), report.clicks), (lines, 2));
        // A strict reader stops at the document without an identifier alone.
        assert_eq!(read_files(&files, None).is_ok(), lines == 2);
    }
    // One click without its position, of three.
    let base = Ubi { position_base: Some(1), ..ubi() };
    let (rows, report) = read_of(&base, &[QUERIES.as_bytes(), without.as_bytes()], Some(0.5)).unwrap();
    assert_eq!((rows.len(), report.n_skipped()), (2, 1));
    // An array in one line has more faults than lines.
    let unknown = EVENTS.trim().replace("\"q-0", "\"r-0").replace("user_query", "words").replace('\n', ",");
    let error = reader(ubi()).lenient(0.9).unwrap();
    let error =
        error.read_inputs(inputs(&[QUERIES.as_bytes(), format!("[{unknown}]").as_bytes()])).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TooManySkipped, "{error}");
}

/// The sample of `OpenSearch`'s own tests, if it is there. Of the 84 queries of its front end 75
/// have one list in all documents with hits, 6 have none, and 3 differ; 67 impressions and 20
/// clicks have neither a document nor words. All numbers were counted by another program.
#[test]
fn the_public_sample_is_read_whole() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/ubi/opensearch_esci.ndjson.gz");
    let Ok(packed) = std::fs::read(file) else {
        eprintln!("not tested: there is no {file}");
        return;
    };
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut text).unwrap();
    let chorus = Ubi { application: Some("Chorus".into()), ..ubi() };
    let report = read(chorus.clone(), &[text.as_bytes()]).report;
    let found = report.ubi.as_ref().unwrap();
    // 75 queries with one list, of which 55 have events; 191 click events are 116 clicks.
    assert_eq!((found.queries, found.queries_without_events, found.events), (84, 26, [883, 191]), "{report}");
    assert_eq!((report.sessions, report.clicks, found.repeated_clicks), (55, 116, 75), "{report}");
    let skipped = |fault: Fault| {
        report.skipped.get(fault.reason()).map(|skipped| (skipped.impressions, skipped.clicks))
    };
    assert_eq!(skipped(Fault::OtherDocument), Some((49, 16)), "{report}");
    assert_eq!(skipped(Fault::UnknownQuery), Some((67, 20)), "{report}");
    let outside = [Fault::OutsideList, Fault::BelowList].map(|fault| skipped(fault).unwrap_or_default().0);
    assert_eq!((outside[0] + outside[1], skipped(Fault::OtherOrdinal)), (50, Some((1, 0))), "{report}");
    let whole = read(ubi(), &[text.as_bytes()]).report;
    let events = whole.ubi.as_ref().unwrap().events;
    assert_eq!((whole.sessions, events), (255, [1883, 251]), "{whole}");
    // Events with words, which `OpenSearch` counts for its own clicks over expected clicks.
    let events: Vec<&str> = text.lines().filter(|line| line.contains("\"action_name\"")).collect();
    let events = events.join("\n");
    let report = read(ubi(), &[events.as_bytes()]).report;
    assert_eq!(report.ubi.as_ref().unwrap().events, [1931, 259], "{report}");
}
