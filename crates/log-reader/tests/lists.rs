//! Complete lists with users and propensities: handed over once, the same from every source.

use flate2::Compression;
use flate2::write::GzEncoder;
use log_reader::{
    Error, ErrorKind, Fault, Format, Frame, GROUPS, Id, Ids, Input, Log, LoggerColumns, ReadColumn,
    ReadLists, Reader, ReceiveLists, ShownList, Value, unit_hash,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Ninety lines; the logger's propensities differ from list to list.
const LOG: &str = include_str!("data/adaptive-logger.csv");
const COLUMNS: &str = "query=query,item=item,position=position,click=click,session=session,user=user,\
                       propensity=propensity,prefix-propensity=prefix_propensity,list_propensity=list_propensity";
const ALL: LoggerColumns = LoggerColumns {
    user: true,
    session: true,
    propensity: true,
    prefix_propensity: true,
    list_propensity: true,
    value: false,
};

/// A list with names in place of identifiers.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    query: Id,
    session: Option<u64>,
    unit: u64,
    first_position: usize,
    items: Vec<Id>,
    clicks: u64,
    times: u64,
    propensities: Option<Vec<f64>>,
    prefix_propensities: Option<Vec<f64>>,
    list_propensity: Option<f64>,
}

#[derive(Debug, Default)]
struct Receiver(Vec<Seen>);

impl ReceiveLists for Receiver {
    fn list(&mut self, list: &ShownList<'_>) {
        self.0.push(Seen {
            query: list.query,
            session: list.session,
            unit: list.unit,
            first_position: list.positions.iter().next().unwrap(),
            items: list.items.to_vec(),
            clicks: list.clicks,
            times: list.times,
            propensities: list.propensities.map(<[f64]>::to_vec),
            prefix_propensities: list.prefix_propensities.map(<[f64]>::to_vec),
            list_propensity: list.list_propensity,
        });
    }
}

/// Names whose identifiers are the same in every reading: numbers of texts depend on their order.
const NAMES: [&str; 9] = ["a", "b", "q", "i0", "i1", "i2", "i3", "all", "shoes"];

fn ids() -> (Ids, BTreeMap<&'static str, Id>) {
    let ids = Ids::new();
    let known = NAMES.map(|name| (name, ids.id(name.as_bytes()).unwrap())).into();
    (ids, known)
}

/// The lists, sorted, with the names of items.
fn named(lists: ReadLists<Receiver>, known: &BTreeMap<&str, Id>) -> Vec<String> {
    let name = |id: Id| known.iter().find(|(_, known)| **known == id).map_or("?", |(name, _)| *name);
    let describe = |seen: Seen| {
        let items: Vec<&str> = seen.items.iter().map(|&item| name(item)).collect();
        let what = format!("{} {items:?} ", name(seen.query));
        what + &format!("{:?}", Seen { query: known["a"], items: Vec::new(), ..seen })
            .replace(&format!("{:?}", known["a"]), "")
    };
    let mut all: Vec<String> =
        lists.receivers.into_iter().flat_map(|receiver| receiver.0).map(describe).collect();
    all.sort_unstable();
    all
}

fn reader(columns: &str) -> Reader {
    Reader::new(Format::delimited(columns).unwrap())
}

fn read(reader: &Reader, log: &[u8]) -> Result<(Vec<String>, LoggerColumns, Option<Log>), Error> {
    let (ids, known) = ids();
    let mut passes = 0;
    let lists = reader.read_lists(
        ids,
        |pass| {
            assert_eq!(pass, passes);
            passes += 1;
            Ok::<_, Error>(vec![Input::stream("log", log)])
        },
        Receiver::default,
    )?;
    let (logged, report) = (lists.logged, lists.report.clone());
    let mut lists = lists;
    let log = lists.log.take();
    let times: u64 = lists.receivers.iter().flat_map(|receiver| &receiver.0).map(|seen| seen.times).sum();
    if report.sessions > 0 {
        assert_eq!(times, report.sessions - report.sessions_at_fault);
    }
    Ok((named(lists, &known), logged, log))
}

/// The lists of the file, from its texts.
fn expected() -> Vec<String> {
    let rows: Vec<Vec<&str>> = LOG.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let lists = rows.chunk_by(|a, b| a[0] == b[0]).map(|rows| {
        let numbers = |column: usize| rows.iter().map(|row| row[column].parse().unwrap()).collect();
        let items: Vec<&str> = rows.iter().map(|row| row[3]).collect();
        let clicks = (0..).zip(rows).map(|(position, row)| u64::from(row[5] == "1") << position).sum();
        let seen = Seen {
            query: ids().1["a"],
            session: Some(unit_hash(rows[0][0].as_bytes())),
            unit: unit_hash(rows[0][1].as_bytes()),
            first_position: 0,
            items: Vec::new(),
            clicks,
            times: 1,
            propensities: Some(numbers(6)),
            prefix_propensities: Some(numbers(7)),
            list_propensity: Some(rows[0][8].parse().unwrap()),
        };
        let text = format!("{seen:?}").replace(&format!("{:?}", seen.query), "");
        format!("{} {items:?} {text}", rows[0][2])
    });
    let mut all: Vec<String> = lists.collect();
    all.sort_unstable();
    all
}

#[test]
fn users_have_the_groups_of_the_definition() {
    let groups = [11, 5, 18, 0, 17, 0, 15, 4];
    for (user, group) in (0..).zip(groups) {
        assert_eq!(unit_hash(format!("u{user}").as_bytes()) % GROUPS, group, "u{user}");
    }
}

#[test]
fn every_list_is_handed_over_once_for_any_threads_and_blocks() {
    let expected = expected();
    assert!(expected.len() > 40 && expected.iter().all(|list| !list.contains('?')));
    for threads in [1, 2, 7] {
        for block in [1, 100, 1000, 1 << 18] {
            let [threads, block] = [threads, block].map(|number| NonZeroUsize::new(number).unwrap());
            let reader = reader(COLUMNS).threads(threads).block_bytes(block);
            let (lists, logged, log) = read(&reader, LOG.as_bytes()).unwrap();
            assert_eq!(lists, expected, "{threads} threads, blocks of {block}");
            assert_eq!((logged, log.is_none()), (ALL, true));
        }
    }
}

/// Threads take blocks in turn, and most blocks cut a list.
#[test]
fn threads_that_take_turns_cut_no_list() {
    let (header, lines) = LOG.split_once('\n').unwrap();
    let mut log = format!("{header}\n");
    for copy in 0..300 {
        lines.lines().for_each(|line| writeln!(log, "{copy}-{line}").unwrap());
    }
    // Propensities would tell that a list was cut.
    let columns = "query=query,item=item,position=position,click=click,session=session,user=user";
    let reader = reader(columns).block_bytes(NonZeroUsize::new(700).unwrap());
    let one = read(&reader.clone().threads(NonZeroUsize::MIN), log.as_bytes()).unwrap().0;
    assert_eq!(one.len(), 300 * expected().len());
    for threads in [2, 3, 7] {
        let reader = reader.clone().threads(NonZeroUsize::new(threads).unwrap());
        let (ids, known) = ids();
        let once = |pass| {
            assert_eq!(pass, 0, "all lines of a list stand together");
            Ok::<_, Error>(vec![Input::stream("log", log.as_bytes())])
        };
        let lists = reader.read_lists(ids, once, Receiver::default).unwrap();
        assert!(named(lists, &known) == one, "{threads} threads");
    }
}

/// The file in another order of lines.
fn shuffled(by: usize) -> String {
    let mut lines: Vec<&str> = LOG.lines().skip(1).collect();
    let keys: Vec<usize> = (0..lines.len()).map(|line| line * by % lines.len()).collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&line| keys[line]);
    lines = order.iter().map(|&line| lines[line]).collect();
    format!("{}\n{}\n", LOG.lines().next().unwrap(), lines.join("\n"))
}

#[test]
fn lines_of_a_list_may_stand_apart() {
    let expected = expected();
    // One list is torn apart, then all.
    let mut lines: Vec<&str> = LOG.lines().collect();
    let torn = lines.remove(2);
    lines.push(torn);
    for log in [lines.join("\n"), shuffled(7), shuffled(89)] {
        assert_ne!(log, LOG);
        for threads in [1, 2, 7] {
            let reader = reader(COLUMNS).threads(NonZeroUsize::new(threads).unwrap());
            for block in [1, 300, 1 << 18] {
                let reader = reader.clone().block_bytes(NonZeroUsize::new(block).unwrap());
                assert_eq!(read(&reader, log.as_bytes()).unwrap().0, expected);
            }
        }
    }
}

struct Texts(Vec<&'static str>);

impl ReadColumn for Texts {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(self.0[rows].iter().map(|&text| Value::from(text)));
    }
}

#[test]
fn compressed_logs_and_tables_in_memory_hand_over_the_same() {
    let expected = expected();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(LOG.as_bytes()).unwrap();
    assert_eq!(read(&reader(COLUMNS), &gzip.finish().unwrap()).unwrap().0, expected);

    let rows: Vec<Vec<&str>> = LOG.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let texts = |column: usize| -> Box<dyn ReadColumn> {
        Box::new(Texts(rows.iter().map(|row| row[column]).collect()))
    };
    let whole = |column: usize| -> Box<dyn ReadColumn> {
        Box::new(rows.iter().map(|row| row[column].parse::<u64>().unwrap()).collect::<Vec<_>>())
    };
    let floats = |column: usize| -> Box<dyn ReadColumn> {
        Box::new(rows.iter().map(|row| row[column].parse::<f64>().unwrap()).collect::<Vec<_>>())
    };
    let names: Vec<&str> = LOG.lines().next().unwrap().split(',').collect();
    let frame = Frame::new(names)
        .batch(rows.len(), (0..4).map(texts).chain((4..6).map(whole)).chain((6..9).map(floats)).collect())
        .unwrap();
    let (ids, known) = ids();
    let inputs = |_| Ok::<_, Error>(vec![Input::frame("log", &frame)]);
    let lists = reader(COLUMNS).read_lists(ids, inputs, Receiver::default).unwrap();
    assert_eq!(lists.logged, ALL);
    assert_eq!(named(lists, &known), expected);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_hands_over_the_same() {
    use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    fn column<T: DataType>(
        group: &mut parquet::file::writer::SerializedRowGroupWriter<'_, &mut Vec<u8>>,
        values: &[T::T],
    ) {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
    }

    let names: Vec<&str> = LOG.lines().next().unwrap().split(',').collect();
    let kinds = ["BYTE_ARRAY"; 4].into_iter().chain(["INT64"; 2]).chain(["DOUBLE"; 3]);
    let fields: String = kinds.zip(&names).fold(String::new(), |mut all, (kind, name)| {
        let text = if kind == "BYTE_ARRAY" { " (UTF8)" } else { "" };
        write!(all, "REQUIRED {kind} {name}{text}; ").unwrap();
        all
    });
    let schema = Arc::new(parse_message_type(&format!("message log {{ {fields} }}")).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let rows: Vec<Vec<&str>> = LOG.lines().skip(1).map(|line| line.split(',').collect()).collect();
    // Row groups cut lists.
    for rows in rows.chunks(31) {
        let mut group = writer.next_row_group().unwrap();
        for text in 0..4 {
            let values: Vec<ByteArray> = rows.iter().map(|row| row[text].into()).collect();
            column::<ByteArrayType>(&mut group, &values);
        }
        for whole in 4..6 {
            let values: Vec<i64> = rows.iter().map(|row| row[whole].parse().unwrap()).collect();
            column::<Int64Type>(&mut group, &values);
        }
        for number in 6..9 {
            let values: Vec<f64> = rows.iter().map(|row| row[number].parse().unwrap()).collect();
            column::<DoubleType>(&mut group, &values);
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    let reader = Reader::new(Format::parquet(COLUMNS).unwrap());
    assert_eq!(read(&reader, &bytes).unwrap().0, expected());
}

#[test]
fn the_log_of_the_same_pass_is_that_of_a_plain_reading_with_groups_of_users() {
    for log in [LOG.to_owned(), shuffled(7)] {
        let reader = reader(COLUMNS).keep_sessions();
        let plain = reader.read("log", log.as_bytes()).unwrap();
        let (_, _, read) = read(&reader, log.as_bytes()).unwrap();
        let read = read.unwrap();
        assert_eq!((&read.counts, &read.report), (&plain.counts, &plain.report));
        let groups = |log: &Log| -> Vec<(u32, u8)> {
            let sessions = log.sessions.queries().flat_map(|query| query.in_order().collect::<Vec<_>>());
            sessions.map(|session| (session.place, session.group)).collect()
        };
        assert!(groups(&plain).iter().all(|session| session.1 == 0));
        // By the user of each session, in the order of first lines.
        let mut by_place = groups(&read);
        by_place.sort_unstable();
        let mut seen = Vec::new();
        let mut users = Vec::new();
        for row in log.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
            if !seen.contains(&row[0]) {
                seen.push(row[0]);
                users.push(u8::try_from(unit_hash(row[1].as_bytes()) % GROUPS).unwrap());
            }
        }
        assert_eq!(by_place.iter().map(|session| session.1).collect::<Vec<_>>(), users);

        // Parts keep the groups.
        let [rest, without] = read.sessions.split(|_, session| session.group != 18).unwrap();
        let in_group = |sessions: &log_reader::Sessions| -> Vec<u8> {
            sessions
                .queries()
                .flat_map(|query| query.in_order().map(|session| session.group).collect::<Vec<_>>())
                .collect()
        };
        assert!(in_group(&rest).iter().all(|&group| group != 18));
        assert!(!in_group(&without).is_empty() && in_group(&without).iter().all(|&group| group == 18));
        assert_eq!(rest.n_sessions() + without.n_sessions(), read.sessions.n_sessions());
        assert_eq!(read.counts.without(&without.counts()), rest.counts());
        // Cells of which nothing is left are left out.
        assert_eq!(read.counts.without(&read.counts).n_queries(), 0);
    }
}

const HEADER: &str = "visit,user,item,position,click,p,prefix,list\n";
const OWN: &str = "item=item,position=position,click=click,session=visit,user=user,\
                   propensity=p,prefix-propensity=prefix,list-propensity=list";

#[test]
fn faults_have_their_places() {
    let good = "v0,ann,a,1,1,0.5,0.5,0.25\nv0,ann,b,2,0,0.5,0.25,0.25\n";
    let most = 1.0f64.next_up();
    for (lines, place, fault) in [
        (
            "v,ann,a,1,1,0,0.5,0.5",
            "4: column 6 (p): a propensity is above 0 and at most 1, found `0`",
            Fault::NotAPropensity,
        ),
        (
            &format!("v,ann,a,1,1,{most},0.5,0.5"),
            "4: column 6 (p): a propensity is above 0 and at most 1, found `1.0000000000000002`",
            Fault::NotAPropensity,
        ),
        (
            "v,ann,a,1,1,0.5,NaN,0.5",
            "4: column 7 (prefix): a propensity is above 0 and at most 1, found `NaN`",
            Fault::NotAPropensity,
        ),
        (
            "v,ann,a,1,1,0.5,-0.5,0.5",
            "4: column 7 (prefix): a propensity is above 0 and at most 1, found `-0.5`",
            Fault::NotAPropensity,
        ),
        ("v,ann,a,1,1,0.5,0.5,", "4: column 8 (list): nothing there", Fault::Empty),
        (
            "v,ann,a,1,1,0.5,0.5,x",
            "4: column 8 (list): a propensity is above 0 and at most 1, found `x`",
            Fault::NotAPropensity,
        ),
        ("v,,a,1,1,0.5,0.5,0.5", "4: column 2 (user): nothing there", Fault::Empty),
        (
            "v,ann,a,1,1,0.5,0.5,0.6\nv,ann,b,2,0,0.5,0.6,0.6",
            "5: column 7 (prefix): larger than the prefix propensity of the position above, found `0.6`",
            Fault::PrefixGrows,
        ),
        (
            "v,ann,a,1,1,0.5,0.5,0.3\nv,ann,b,2,0,0.5,0.3,0.2",
            "5: column 8 (list): another list propensity than at the first position of the list, found `0.2`",
            Fault::AnotherListPropensity,
        ),
        (
            "v,ann,a,1,1,0.5,0.5,0.4\nv,ann,b,2,0,0.5,0.3,0.4",
            "5: column 8 (list): not the prefix propensity of the last position, found `0.4`",
            Fault::NotTheLastPrefix,
        ),
        (
            "v,ann,a,1,1,0.5,0.5,0.3\nv,bob,b,2,0,0.5,0.3,0.3",
            "5: column 2 (user): another user than at the position above",
            Fault::AnotherUser,
        ),
        (
            "v,ann,a,1,1,0.5,0.5,0.3\nv,ann,b,1,0,0.5,0.3,0.3",
            "5: column 4 (position): a position of this session on an earlier line: a list shows a position once, found `1`",
            Fault::PositionTwice,
        ),
    ] {
        for more in ["", "w,ann,a,1,1,0.5,0.5,0.5\nx,ann,a,1,1,0.5,0.5,0.5\n"] {
            let log = format!("{HEADER}{good}{lines}\n{more}");
            let error = read(&reader(OWN), log.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("log:{place}"));
            assert_eq!(*error.kind(), ErrorKind::Line(fault));
            // The list with the fault is not handed over; the others are.
            let lenient = reader(OWN).lenient(0.9).unwrap();
            let (lists, ..) = read(&lenient, log.as_bytes()).unwrap();
            assert_eq!(lists.len(), if more.is_empty() { 1 } else { 3 }, "{lines}");
            // Readings without lists neither read nor check users and propensities.
            if fault != Fault::PositionTwice {
                reader(OWN).read("log", log.as_bytes()).unwrap();
            }
        }
    }
    // Rounding to 32 bits is no fault.
    let log =
        format!("{HEADER}v,ann,a,1,1,1,0.33333334,0.3333333333333333\nv,ann,b,2,0,1,0.33333335,0.33333334\n");
    assert_eq!(read(&reader(OWN), log.as_bytes()).unwrap().0.len(), 1);
}

#[test]
fn a_line_that_stands_twice_takes_nothing_from_its_list() {
    let (header, lines) = LOG.split_once('\n').unwrap();
    let twice: String = lines.lines().flat_map(|line| [line, "\n", line, "\n"]).collect();
    let twice = format!("{header}\n{twice}");
    let error = read(&reader(COLUMNS), twice.as_bytes()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::PositionTwice));
    let lenient = reader(COLUMNS).lenient(0.5).unwrap();
    assert_eq!(read(&lenient, twice.as_bytes()).unwrap().0, expected());
    let log = lenient.read("log", twice.as_bytes()).unwrap();
    assert_eq!((log.report.sessions_at_fault, log.report.n_skipped()), (0, log.report.lines / 2));
    // With another item, click, user or propensity, the list is not known.
    let once = "v,ann,a,1,1,0.5,0.5,0.5";
    for other in [
        "v,ann,b,1,1,0.5,0.5,0.5",
        "v,ann,a,1,0,0.5,0.5,0.5",
        "v,bob,a,1,1,0.5,0.5,0.5",
        "v,ann,a,1,1,0.4,0.5,0.5",
    ] {
        let log = format!("{HEADER}{once}\n{other}\n");
        let lenient = reader(OWN).lenient(0.5).unwrap();
        assert!(read(&lenient, log.as_bytes()).unwrap().0.is_empty(), "{other}");
        assert_eq!(read(&lenient, log.replace(other, once).as_bytes()).unwrap().0.len(), 1);
    }
}

#[test]
fn propensities_of_prefixes_give_that_of_the_list() {
    let columns = "item=item,position=position,click=click,session=visit,prefix-propensity=prefix";
    let log = format!("{HEADER}v,ann,a,1,1,0.5,0.5,0.25\nv,ann,b,2,0,0.5,0.25,0.25\n");
    let (lists, logged, _) = read(&reader(columns), log.as_bytes()).unwrap();
    assert!(lists[0].contains("list_propensity: Some(0.25)"), "{lists:?}");
    assert!(logged.list_propensity && !logged.propensity && !logged.user);
    let hash = unit_hash(b"v");
    assert!(lists[0].contains(&format!("session: Some({hash}), unit: {hash}")), "the unit is the session");

    for key in ["prefix-propensity", "list-propensity", "time"] {
        let error = Format::delimited(&format!("item=i,position=p,click=c,{key}=q")).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Settings);
        assert!(error.to_string().contains("is of a list, and needs `session`"), "{error}");
    }
    let error = read(&reader(columns).positions(3), log.as_bytes()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Settings);
}

#[test]
fn sessions_have_users_and_propensities_in_columns() {
    let log = "query\turls\tclicked_mask\tuser\tpropensities\tlist_propensity\n\
               q\ti0,i1\t10\tu0\t0.5,0.25\t0.125\nq\ti1\t0\tu1\t1\t1\n";
    let reader = Reader::new(Format::Sessions);
    let (lists, logged, _) = read(&reader, log.as_bytes()).unwrap();
    assert!(logged.user && logged.propensity && logged.list_propensity && !logged.prefix_propensity);
    assert_eq!(lists.len(), 2);
    let [first, unit] = [&lists[0], &format!("unit: {}", unit_hash(b"u0"))];
    assert!(first.starts_with("q [\"i0\", \"i1\"]") && first.contains(unit.as_str()), "{first}");
    assert!(
        first.contains("propensities: Some([0.5, 0.25])") && first.contains("list_propensity: Some(0.125)")
    );

    for (from, to, expected) in [
        (
            "0.5,0.25",
            "0.5",
            "log:2: column 5 (propensities): 1 propensity, expected 2, one for each item, found `0.5`",
        ),
        (
            "0.5,0.25",
            "0.5,0",
            "log:2: column 5 (propensities): a propensity is above 0 and at most 1, found `0.5,0`",
        ),
        ("0.125", "2", "log:2: column 6 (list_propensity): a propensity is above 0 and at most 1, found `2`"),
        ("\tu0\t", "\t\t", "log:2: column 4 (user): nothing there"),
    ] {
        let error = read(&reader, log.replace(from, to).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
        // Without lists these columns are not read.
        reader.read("log", log.replace(from, to).as_bytes()).unwrap();
    }
    let without = "query\turls\tclicked_mask\nq\ti0\t0\n";
    let both = || {
        Ok::<_, Error>(vec![Input::stream("one", log.as_bytes()), Input::stream("two", without.as_bytes())])
    };
    let error = reader.read_lists(Ids::new(), |_| both(), Receiver::default).unwrap_err();
    assert!(error.to_string().contains("a column `user` in some files only"), "{error}");
    assert_eq!(reader.read_inputs(both().unwrap()).unwrap().report.sessions, 3);
}

#[test]
fn rows_without_lists_are_handed_over_one_by_one() {
    let obd = "item_id,position,click,propensity_score\n14,3,0,0.0125\n9,1,1,0.5\n";
    let (ids, _) = ids();
    let [nine, fourteen] = ["9", "14"].map(|name| ids.id(name.as_bytes()).unwrap());
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log", obd.as_bytes())]);
    let lists = Reader::new(Format::Obd)
        .threads(NonZeroUsize::MIN)
        .read_lists(ids, inputs, Receiver::default)
        .unwrap();
    assert!(lists.logged.propensity && !lists.logged.session);
    let seen: Vec<Seen> = lists.receivers.into_iter().flat_map(|receiver| receiver.0).collect();
    let what: Vec<_> = seen
        .iter()
        .map(|seen| (seen.items[0], seen.first_position, seen.clicks, seen.times, seen.propensities.clone()))
        .collect();
    // The third position is the second of those that the log shows.
    assert_eq!(what, [(fourteen, 1, 0, 1, Some(vec![0.0125])), (nine, 0, 1, 1, Some(vec![0.5]))]);
    assert_ne!(seen[0].unit, seen[1].unit, "the row is the unit");
    let error = read(&Reader::new(Format::Obd), obd.replace("0.5", "1.5").as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("log:3: column 4 (propensity_score): a propensity"), "{error}");

    // Three impressions, two of them with a click.
    let kdd = "2\t3\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n";
    let (lists, logged, _) = read(&Reader::new(Format::Kdd2012), kdd.as_bytes()).unwrap();
    assert_eq!(logged, LoggerColumns::default());
    assert!(
        lists[0].contains("clicks: 0, times: 1") && lists[1].contains("clicks: 1, times: 2"),
        "{lists:?}"
    );
    let yandex = "10\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n10\t30\tC\t3\n";
    let (lists, ..) = read(&Reader::new(Format::Yandex), yandex.as_bytes()).unwrap();
    assert!(
        lists[0].contains(&format!("session: Some({})", unit_hash(b"10"))) && lists[0].contains("clicks: 4")
    );
}

/// Lines of few sessions, in any order, with gaps and repeats: lists that are handed over early are
/// those of a reading that holds all lists to the end, and so are faults.
#[test]
fn any_lines_give_the_lists_of_a_plain_reading() {
    fn same(lines: Vec<u16>, block: u8, threads: u8, lenient: bool) -> bool {
        let mut log = String::from("session,query,item,position,click\n");
        let mut next = [[1; 2]; 4];
        for line in lines {
            let [session, query] = [line % 4, line / 4 % 2].map(usize::from);
            // Mostly the next position of the session, or the first of the next list.
            let position = match line / 8 % 32 {
                0 => 1,
                1 => line / 256 % 4,
                2 => 1 + line / 256 % 3,
                _ if next[session][query] > 3 => 1,
                _ => next[session][query],
            };
            next[session][query] = position + 1;
            writeln!(log, "s{session},q{query},i{},{position},{}", line / 512 % 3, line / 2048 % 2).unwrap();
            if line % 97 == 0 {
                log.push('\n');
            }
        }
        let columns = "query=query,item=item,position=position,click=click,session=session";
        let threads = NonZeroUsize::new(1 + usize::from(threads % 3)).unwrap();
        let block = NonZeroUsize::new(1 + 3 * usize::from(block)).unwrap();
        let reader = reader(columns).keep_sessions().threads(threads).block_bytes(block);
        let reader = if lenient { reader.lenient(1.0).unwrap() } else { reader };
        let in_order = |log: &Log| -> Vec<String> {
            let of_query = |query: log_reader::QuerySessions<'_>| {
                let lists: Vec<_> = query.lists().map(|list| list.items.to_vec()).collect();
                let of = |session: log_reader::Session| {
                    format!(
                        "{:?} {:?} {:?} {}",
                        query.id(),
                        lists[session.list],
                        session.clicks,
                        session.place
                    )
                };
                query.in_order().map(of).collect::<Vec<_>>()
            };
            log.sessions.queries().flat_map(of_query).collect()
        };
        let plain = reader.read("log", log.as_bytes());
        let inputs = |_| Ok::<_, Error>(vec![Input::stream("log", log.as_bytes())]);
        let lists = reader.read_lists(Ids::new(), inputs, Receiver::default);
        match (plain, lists) {
            (Ok(plain), Ok(lists)) => {
                let n_handed_over: usize = lists.receivers.iter().map(|receiver| receiver.0.len()).sum();
                let of_pass = lists.log.unwrap();
                of_pass.counts == plain.counts
                    && in_order(&of_pass) == in_order(&plain)
                    && lists.report == plain.report
                    && n_handed_over as u64 == plain.report.sessions - plain.report.sessions_at_fault
            }
            (Err(plain), Err(lists)) => plain.to_string() == lists.to_string(),
            _ => false,
        }
    }
    let mut lines = quickcheck::QuickCheck::new().rng(quickcheck::Gen::new(120)).tests(1000);
    lines.quickcheck(same as fn(Vec<u16>, u8, u8, bool) -> bool);
}

/// A value of each click is handed over; what is none is a fault with its line and column, in text
/// and in tables.
#[test]
fn values_of_clicks_are_handed_over() {
    let columns = "session=s,item=i,position=p,click=c,value=v";
    let log = |value: &str, click: &str| {
        format!("s,i,p,c,v\n1,a,1,1,12.5\n1,b,2,0,\n2,a,1,{click},{value}\n2,b,2,0,0\n")
    };
    let read = |log: String| {
        let reader = Reader::new(Format::delimited(columns).unwrap());
        let inputs = move |_| Ok::<_, Error>(vec![Input::stream("log", std::io::Cursor::new(log.clone()))]);
        reader.read_lists(Ids::new(), inputs, Worths::default)
    };
    let read_frame = |value: f64, click: u64| {
        let frame = Frame::new(["s", "i", "p", "c", "v"]).batch(
            2,
            vec![
                Box::new(vec![1_u64, 1]),
                Box::new(vec![7_u64, 8]),
                Box::new(vec![1_u64, 2]),
                Box::new(vec![1_u64, click]),
                Box::new(vec![12.5, value]),
            ],
        );
        let reader = Reader::new(Format::delimited(columns).unwrap());
        let frame = frame.unwrap();
        let inputs = |_| Ok::<_, Error>(vec![Input::frame("log", &frame)]);
        reader.read_lists(Ids::new(), inputs, Worths::default)
    };
    let found = read(log("3", "1")).unwrap();
    assert!(found.logged.value);
    let all = |receivers: Vec<Worths>| {
        let mut all: Vec<_> = receivers.into_iter().flat_map(|of| of.0).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    assert_eq!(all(found.receivers), [vec![3.0, 0.0], vec![12.5, 0.0]]);
    assert_eq!(all(read_frame(3.0, 1).unwrap().receivers), [[12.5, 3.0]]);
    for (value, click, fault) in [
        ("-1", "1", Fault::NotAValue),
        ("inf", "1", Fault::NotAValue),
        ("1000000001", "1", Fault::NotAValue),
        ("12.5 EUR", "1", Fault::NotAValue),
        ("\"1,234\"", "1", Fault::NotAValue),
        ("", "1", Fault::Empty),
        ("3", "0", Fault::ValueWithoutClick),
    ] {
        let error = read(log(value, click)).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Line(fault), "{value}");
        assert!(error.to_string().starts_with("log:4: column 5 (v): "), "{error}");
    }
    for (value, click, fault) in
        [(-1.0, 1, Fault::NotAValue), (f64::NAN, 1, Fault::NotAValue), (3.0, 0, Fault::ValueWithoutClick)]
    {
        let error = read_frame(value, click).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Line(fault), "{value}");
        assert_eq!((error.place().line, error.place().column.clone()), (2, Some((5, "v".to_owned()))));
    }
    let error = Format::delimited("item=i,position=p,click=c,impressions=n,value=v").unwrap_err();
    assert!(error.to_string().contains("`impressions` and `value`"), "{error}");
}

#[derive(Debug, Default)]
struct Worths(Vec<Vec<f64>>);

impl ReceiveLists for Worths {
    fn list(&mut self, list: &ShownList<'_>) {
        self.0.extend(list.values.map(<[f64]>::to_vec));
    }
}
