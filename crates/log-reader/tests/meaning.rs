//! Logs with other meanings of numbers: positions from 0, more clicks than impressions, lists with
//! repeated items.

use log_reader::{ErrorKind, Fault, Filter, Format, Ids, Input, Reader, ReceiveLists, ShownList};

const HEADER: &str = "query,item,position,clicks,impressions\n";

/// A receiver that ignores its lists.
struct Nothing;

impl ReceiveLists for Nothing {
    fn list(&mut self, _: &ShownList<'_>) {}
}

fn reader() -> Reader {
    Reader::new(Format::counts())
}

#[test]
fn positions_may_count_from_zero() {
    let log = format!("{HEADER}q,a,0,1,10\nq,b,63,2,10\n");
    let counts = reader().positions_from_zero().read("log", log.as_bytes()).unwrap().counts;
    let cells: Vec<_> = counts.queries().flat_map(|query| query.cells()).collect();
    assert_eq!(cells.iter().map(|cell| (cell.position, cell.clicks)).collect::<Vec<_>>(), [(0, 1), (63, 2)]);

    let error = reader().read("log", log.as_bytes()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::PositionZero));
    let beyond = format!("{HEADER}q,a,64,1,10\n");
    let error = reader().positions_from_zero().read("log", beyond.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "log:2: column 3 (position): a position below the last, 63, found `64`");

    // The first position of a session is also 0, and messages use the log's positions.
    let sessions = Format::delimited("item=item,position=rank,click=click,session=page").unwrap();
    let sessions = Reader::new(sessions).keep_sessions().positions_from_zero();
    let log = sessions.read("log", &b"page,rank,item,click\nv,0,a,0\nv,1,b,1\n"[..]).unwrap();
    assert_eq!((log.report.sessions, log.report.clicks), (1, 1));
    let gap = sessions.read("log", &b"page,rank,item,click\nv,0,a,0\nv,2,b,1\n"[..]).unwrap();
    let positions = gap.counts.queries().flat_map(|query| query.cells()).map(|cell| cell.position);
    assert_eq!(positions.collect::<Vec<_>>(), [0, 2]);
    let error = sessions.read("log", &b"page,rank,item,click\nv,0,a,0\nv,0,b,1\n"[..]).unwrap_err();
    assert!(error.to_string().contains("a position of this session on an earlier line"), "{error}");

    // A log without position 0 counts from 1, whatever reads it.
    let refused = "first_position: 0, but no position of the log is 0: it counts from 1";
    let rows = &b"item,rank,click,p\na,1,0,0.5\nb,2,1,0.5\n"[..];
    let format = Format::delimited("item=item,position=rank,click=click,propensity=p").unwrap();
    let rows_from_zero = Reader::new(format).positions_from_zero();
    assert_eq!(rows_from_zero.read("log", rows).unwrap_err().to_string(), refused);
    let inputs = |_| Ok::<_, log_reader::Error>(vec![Input::stream("log", rows)]);
    let error = rows_from_zero.read_lists(Ids::new(), inputs, || Nothing).err().unwrap();
    assert_eq!(error.to_string(), refused);

    // Formats that define their first position keep it.
    let kdd = "1\t3\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n";
    let usual = Reader::new(Format::Kdd2012).read("log", kdd.as_bytes()).unwrap();
    let told = Reader::new(Format::Kdd2012).positions_from_zero().read("log", kdd.as_bytes()).unwrap();
    assert_eq!(usual.counts, told.counts);
}

#[test]
fn clicks_above_impressions_are_clipped_and_counted() {
    let log = format!("{HEADER}q,a,1,12,10\nq,b,1,2,10\nq,c,1,3,0\n");
    assert!(reader().read("log", log.as_bytes()).is_err());
    let clipped = reader().clip_clicks().read("log", log.as_bytes()).unwrap();
    assert_eq!((clipped.counts.clicks(), clipped.counts.impressions()), (12, 20));
    let report = clipped.report;
    assert_eq!((report.clicks, report.lines_clipped, report.clicks_clipped), (12, 2, 5));
    let expected = "3 lines, 20 impressions, 12 clicks (without 5 clicks above the impressions of 2 lines)";
    assert_eq!(report.to_string(), expected);

    let kdd = "5\t3\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n";
    let clipped = Reader::new(Format::Kdd2012).clip_clicks().read("log", kdd.as_bytes()).unwrap();
    assert_eq!((clipped.counts.clicks(), clipped.report.clicks_clipped), (3, 2));
}

/// Columns in another order, and two of them missing.
#[test]
fn sessions_need_no_region_and_no_clicks_outside() {
    let read = |log: &str| Reader::new(Format::Sessions).keep_sessions().read("log", log.as_bytes());
    let full =
        "query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n5\t1\t8,9\t10\t3\n5\t1\t9,8\t01\t0\n";
    let plain = "clicked_mask\tquery\turls\n10\t5/1\t8,9\n01\t5/1\t9,8\n";
    let [full, plain] = [full, plain].map(|log| read(log).unwrap());
    assert_eq!((full.counts, full.sessions), (plain.counts, plain.sessions));
    assert_eq!((full.report.clicks_outside, plain.report.clicks_outside), (3, 0));

    let error = read("query\turls\tclicked_mask\n5\t8,9\t1\n").unwrap_err();
    assert!(
        error.to_string().starts_with("log:2: column 3 (clicked_mask): 1 characters, expected 2: a 0 or a 1")
    );
    for header in
        ["query\turls\n", "query\turls\tclicked_mask\tquery\n", "query\turls\tclicked_mask\tuserid\n"]
    {
        let error = read(header).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Header, "{header}");
        assert!(error.to_string().contains("`query`, `urls`, `clicked_mask`"), "{error}");
    }
}

#[test]
fn an_item_twice_in_a_list_is_reported() {
    let log = "query\turls\tclicked_mask\n5\t8,9,8\t100\n5\t8,9,7\t100\n5\t7,7,7\t000\n";
    let report = Reader::new(Format::Sessions).read("log", log.as_bytes()).unwrap().report;
    assert_eq!((report.sessions, report.sessions_with_repeats), (3, 2));
    let text = "3 sessions (2 of them with an item more than once in the list), ";
    assert!(report.to_string().contains(text), "{report}");
}

/// A session with more clicks counts neither in counts, nor in sessions, nor as cut short.
#[test]
fn sessions_with_too_many_clicks_are_left_out() {
    let logs = [
        ("sessions", None, "query\turls\tclicked_mask\n5\t8,9,7\t111\n5\t8,9,7\t101\n5\t7,9,8\t000\n"),
        (
            "delimited",
            Some("query=q,item=i,position=p,click=c,session=s"),
            "s,q,i,p,c\n1,5,8,1,1\n1,5,9,2,1\n1,5,7,3,1\n1,5,6,5,0\n\
             2,5,8,1,1\n2,5,9,2,0\n2,5,7,3,1\n3,5,7,1,0\n3,5,9,2,0\n3,5,8,3,0\n",
        ),
    ];
    for (name, columns, log) in logs {
        let format = log_reader::formats::find(name).unwrap().format(columns).unwrap();
        let reader = Reader::new(format).keep_sessions().lenient(0.5).unwrap();
        let read = |reader: Reader| reader.read("log", log.as_bytes()).unwrap();
        let all = read(reader.clone().max_clicks(3).unwrap());
        assert_eq!(all.report, read(reader.clone()).report);
        let log = read(reader.max_clicks(2).unwrap());
        let report = &log.report;
        assert_eq!(
            (report.sessions, report.sessions_left_out, report.sessions_at_fault),
            (2, 1, 0),
            "{name}"
        );
        assert_eq!((report.lines, report.impressions, report.clicks), (all.report.lines, 6, 2));
        assert_eq!((log.sessions.n_sessions(), log.counts.clicks(), log.counts.impressions()), (2, 2, 6));
        let text = "2 sessions (and 1 left out, with too many clicks), 6 impressions";
        assert!(report.to_string().contains(text), "{report}");
    }
    let error = Reader::new(Format::Kdd2012).max_clicks(5).unwrap_err();
    let message = "max_clicks: sessions of more than 5 clicks cannot be left out: the log has no sessions";
    assert_eq!((error.kind(), error.to_string().as_str()), (&ErrorKind::Settings, message));
}

#[test]
fn items_pass_by_their_impressions_in_all() {
    let log = format!("{HEADER}q,a,1,0,6\nq,a,2,0,5\nq,b,1,0,9\nq,c,1,0,6\nq,c,3,0,90\n");
    let counts = reader().read("log", log.as_bytes()).unwrap().counts;
    let kept = |filter: Filter| {
        let counts = counts.filtered(&filter);
        let names: Vec<_> = counts
            .queries()
            .flat_map(|query| {
                query.items().map(|item| counts.names().name(item).into_owned()).collect::<Vec<_>>()
            })
            .collect();
        names.concat()
    };
    let total = |min_total_impressions| Filter { min_total_impressions, ..Filter::default() };
    assert_eq!([0, 9, 10, 12, 97].map(|least| kept(total(least))), ["abc", "abc", "ac", "c", ""]);
    // At the given positions only.
    assert_eq!(kept(Filter { n_positions: Some(2), ..total(10) }), "a");
}

/// Positions 2 and 4 are all that the log has.
#[test]
fn items_pass_at_every_position_that_occurs() {
    let log = format!("{HEADER}q,a,2,0,6\nq,a,4,0,5\nq,b,2,0,9\n");
    let counts = reader().read("log", log.as_bytes()).unwrap().counts;
    assert_eq!(counts.n_positions(), 2);
    assert_eq!(counts.positions().iter().collect::<Vec<_>>(), [1, 3]);
    let kept = |n_positions| {
        let filter = Filter { min_impressions: 5, n_positions, ..Filter::default() };
        counts.filtered(&filter).n_cells()
    };
    assert_eq!([None, Some(3), Some(4)].map(kept), [2, 2, 2]);
}
