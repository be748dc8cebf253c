//! Logs as exports, spreadsheets and tapes change them: every format reads it in the same way.

use flate2::Compression;
use flate2::write::GzEncoder;
use log_reader::{Counts, Error, ErrorKind, Fault, Format, Frame, Input, Log, ReadColumn, Reader, Value};
use std::io::Write as _;
use std::num::NonZeroUsize;

const COLUMNS: &str = "query=query,item=item,position=position,click=click";
const OF_SESSIONS: &str = "query=query,item=item,position=position,click=click,session=session";
const HEADER: &str = "query,item,position,click\n";

fn table() -> Format {
    Format::delimited(COLUMNS).unwrap()
}

fn read(format: &Format, log: impl AsRef<[u8]>) -> Result<Log, Error> {
    Reader::new(format.clone()).keep_sessions().read("log", log.as_ref())
}

fn csv(counts: &Counts) -> String {
    let mut csv = Vec::new();
    counts.write_csv(&mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

/// Query, list and bits of the clicks of every session.
fn sessions(log: &Log) -> Vec<(String, String, u64)> {
    let names = log.sessions.names();
    let mut all = Vec::new();
    for query in log.sessions.queries() {
        for list in query.lists() {
            let items: Vec<_> = list.items.iter().map(|&item| names.name(item)).collect();
            for pattern in list.patterns {
                let session = (names.name(query.id()).into_owned(), items.join(" "), pattern.clicks.bits());
                all.extend(vec![session; usize::try_from(pattern.sessions).unwrap()]);
            }
        }
    }
    all
}

/// Blocks of these sizes are read on two threads.
fn in_blocks(format: &Format, log: &str, mut check: impl FnMut(Result<Log, Error>)) {
    for bytes in [1, 7, 64, 100, 1 << 18] {
        let reader =
            Reader::new(format.clone()).keep_sessions().block_bytes(NonZeroUsize::new(bytes).unwrap());
        check(reader.threads(NonZeroUsize::new(2).unwrap()).read("log", log.as_bytes()));
    }
}

/// Query and region are told apart, whatever is in them.
#[test]
fn queries_with_a_separator_in_their_names_are_not_one() {
    let pairs = [
        ("a", "b/c"),
        ("a/b", "c"),
        ("a", "b%2Fc"),
        ("a%2Fb", "c"),
        ("a/b/", "c"),
        ("a/b", "/c"),
        ("a/", "b/c"),
    ];
    let of_sessions = |(query, region): &(&str, &str)| format!("{query}\t{region}\tx,y\t10\n");
    let of_yandex = |(query, region): &(&str, &str)| {
        format!("1\t0\tQ\t{query}\t{region}\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n")
    };
    let header = "query\tregion\turls\tclicked_mask\n";
    for (format, log) in [
        (Format::Sessions, header.to_owned() + &pairs.iter().map(of_sessions).collect::<String>()),
        (Format::Yandex, pairs.iter().map(of_yandex).collect()),
    ] {
        assert_eq!(read(&format, log).unwrap().counts.n_queries(), pairs.len());
    }
    // The names of other queries have not changed.
    let log = read(&Format::Sessions, format!("{header}men/shoes\t213\ta,b\t10\n")).unwrap();
    assert_eq!(sessions(&log), [("men/shoes/213".to_owned(), "a b".to_owned(), 1)]);
}

/// The query `a/1` of one file and the query `a` of region 1 in another would have one name.
#[test]
fn files_have_regions_or_none_has() {
    let parts =
        ["query\turls\tclicked_mask\na/1\tx,y\t10\n", "query\tregion\turls\tclicked_mask\na\t1\tx,y\t10\n"];
    let read = |parts: &[&str]| {
        let names = ["0", "1", "2"].iter().zip(parts);
        let inputs = names.map(|(name, part)| Input::stream(name, part.as_bytes())).collect();
        Reader::new(Format::Sessions).read_inputs(inputs).map(|log| log.counts.n_queries())
    };
    assert_eq!([read(&parts[..1]).unwrap(), read(&[parts[1], parts[1]]).unwrap()], [1, 1]);
    for parts in [[parts[0], parts[0], parts[1]], [parts[1], parts[1], parts[0]]] {
        let message = read(&parts).unwrap_err().to_string();
        assert!(message.contains("2:1") && message.contains("`region` in some files only"), "{message}");
    }
}

/// Names with line ends, quotation marks and other characters, through CSV and back, in blocks of
/// any size.
#[test]
fn counts_with_any_names_are_read_again() {
    let names = [
        "red\nshoes",
        "a\r\nb",
        "a\r",
        "\n",
        "\"",
        "a\"\n\"b",
        "\u{feff}x",
        "x,1,2\ny,1",
        "nul\0",
        " ",
        "\t",
        "'=1",
    ];
    let names: Vec<String> =
        names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}{}", "z".repeat(70))]).collect();
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let line = |name: &String| format!("{},{},1,3,10\nplain,7,1,1,2\n", quoted(name), quoted(name));
    let log =
        "query,item,position,clicks,impressions\n".to_owned() + &names.iter().map(line).collect::<String>();
    let counts = read(&Format::counts(), &log).unwrap().counts;
    assert_eq!(counts.n_queries(), names.len() + 1);
    for name in &names {
        assert!(counts.names().find(name).is_some_and(|id| counts.query(id).is_some()), "{name:?}");
    }
    for log in [log, csv(&counts)] {
        for log in [log.replace("0\nplain", "0\r\nplain"), log.trim_end().to_owned()] {
            in_blocks(&Format::counts(), &log, |log| {
                assert!(log.is_ok_and(|log| log.counts == counts || log.counts.clicks() == counts.clicks()));
            });
        }
    }
    in_blocks(&Format::counts(), &csv(&counts), |log| assert_eq!(log.unwrap().counts, counts));
}

/// A quotation mark too many makes one line faulty, not the rest of the file; inches are no
/// quotation marks.
#[test]
fn a_column_that_is_not_closed_is_one_fault() {
    let rest = "q,a,1,0\n".repeat(20_000);
    let log = format!("{HEADER}q,27\" screen,1,1\n\"q,b,1,1\n{rest}");
    in_blocks(&table(), &log, |log| {
        assert_eq!(*log.unwrap_err().kind(), ErrorKind::Line(Fault::UnclosedQuote));
    });
    let lenient = Reader::new(table()).lenient(0.1).unwrap();
    for bytes in [1 << 10, 1 << 18] {
        let reader = lenient.clone().block_bytes(NonZeroUsize::new(bytes).unwrap());
        let log = reader.read("log", log.as_bytes()).unwrap();
        assert_eq!((log.report.lines, log.report.n_skipped(), log.report.clicks), (20_002, 1, 1));
        // Errors below have the lines of the file.
        let wrong = format!("{HEADER}\"two\nlines\",b,1,1\n\n{rest}q,a,0,0\n");
        let error = reader.read("log", wrong.as_bytes()).unwrap();
        assert_eq!(error.report.skipped["position 0"].first.line, 20_005);
    }
}

#[test]
fn blank_lines_are_skipped() {
    let expected = read(&table(), format!("{HEADER}q,a,1,1\nq,b,2,0\n")).unwrap().counts;
    for blank in ["\n", " \n", "\t \n", "\r\n", " \r\n"] {
        for log in [
            format!("{HEADER}q,a,1,1\n{blank}q,b,2,0\n"),
            format!("{HEADER}q,a,1,1\nq,b,2,0\n{blank}{blank}"),
            format!("{blank}{HEADER}{blank}q,a,1,1\nq,b,2,0\n{}", blank.trim_end_matches('\n')),
        ] {
            in_blocks(&table(), &log, |log| {
                let log = log.unwrap();
                assert_eq!((&log.counts, log.report.lines), (&expected, 2));
            });
        }
        let wrong = format!("{blank}{HEADER}{blank}q,a,1,1\n{blank}q,b,0,0\n");
        assert_eq!(read(&table(), wrong).unwrap_err().place().line, 6);
        let yandex = "10\t0\tQ\t7\t3\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n10\t30\tC\t3\n";
        in_blocks(&Format::Yandex, &yandex.replace('\n', &format!("\n{blank}")), |log| {
            assert_eq!(log.unwrap().counts, read(&Format::Yandex, yandex).unwrap().counts);
        });
    }
    // Nothing but blank lines is nothing.
    for log in [format!("{HEADER}\n\n"), "\n \n".to_owned()] {
        assert_eq!(*read(&table(), log).unwrap_err().kind(), ErrorKind::Empty);
    }
}

#[test]
fn a_negative_zero_is_zero() {
    let log = read(&table(), format!("{HEADER}q,a,1,1.0\nq,b,2,-0.0\nq,c,3,-0\n")).unwrap();
    assert_eq!((log.report.impressions, log.report.clicks), (3, 1));
    let error = read(&table(), format!("{HEADER}q,a,1,-0.5\n")).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::NotANumber));
}

/// Numbers and truth values as texts are what they are in CSV.
#[test]
fn texts_of_a_frame_are_those_of_csv() {
    for (position, click) in [("1", "1"), ("1.0", "True"), ("1,0", "TRUE"), ("1.0000", "true"), ("1", "1.0")]
    {
        let column = |cell: &str| Box::new(Cells(vec![cell.to_owned()])) as Box<dyn ReadColumn>;
        let frame = Frame::new(["query", "item", "position", "click"]);
        let frame = frame.batch(1, ["q", "a", position, click].map(column).into()).unwrap();
        let counts = Reader::new(table()).read_frame("frame", &frame, None).unwrap().counts;
        assert_eq!(csv(&counts), "query,item,position,clicks,impressions\nq,a,1,1,1\n");
        let log = format!("query;item;position;click\nq;a;{position};{click}\n");
        assert_eq!(read(&table(), log).unwrap().counts, counts);
    }
}

/// Tapes and archives pad a member with zero bytes.
#[test]
fn zero_bytes_after_gzip_are_padding() {
    let packed = |text: &str| {
        let mut member = GzEncoder::new(Vec::new(), Compression::default());
        member.write_all(text.as_bytes()).unwrap();
        member.finish().unwrap()
    };
    let [first, second] = [format!("{HEADER}q,a,1,1\n"), "q,b,2,0\n".to_owned()].map(|text| packed(&text));
    let expected = read(&table(), format!("{HEADER}q,a,1,1\nq,b,2,0\n")).unwrap().counts;
    for padding in [0, 1, 10, 512, 1 << 17] {
        let padding = vec![0; padding];
        let log = [&first[..], &padding, &second, &padding].concat();
        assert_eq!(read(&table(), log).unwrap().counts, expected);
        let error = read(&table(), [&first[..], &padding, b"x"].concat()).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Compression);
    }
}

/// Positions that are left out are no faults, in every format.
#[test]
fn positions_that_are_not_wanted_may_be_beyond_the_longest_list() {
    let line = |position: usize| format!("s,q,i{position},{position},{}\n", position % 2);
    let lines: String = (1..=100).map(line).collect();
    let log = format!("session,{HEADER}{lines}");
    let items: Vec<String> = (0..100).map(|item| format!("i{item}")).collect();
    let list = format!("query\turls\tclicked_mask\nq\t{}\t{}\n", items.join(","), "10".repeat(50));
    let of_kdd = |place: usize| format!("0\t1\t1\t{place}\t3\t100\t{place}\t1\t5\t6\t7\t8\n");
    let kdd: String = (1..=100).map(of_kdd).collect();
    for (format, log) in [
        (table(), &log),
        (Format::delimited(OF_SESSIONS).unwrap(), &log),
        (Format::Sessions, &list),
        (Format::Kdd2012, &kdd),
    ] {
        for (n_positions, is_read) in [(10, true), (64, true), (65, false)] {
            let log = Reader::new(format.clone()).positions(n_positions).read("log", log.as_bytes());
            assert_eq!(log.as_ref().map_or(0, |log| log.counts.n_positions()), if is_read { 64 } else { 0 });
        }
        assert!(read(&format, log).is_err());
    }
    // A position beyond its own list is at fault, wanted or not.
    let wrong = kdd.replace("\t100\t70\t", "\t60\t70\t");
    assert!(Reader::new(Format::Kdd2012).positions(10).read("log", wrong.as_bytes()).is_err());
}

/// Personalized Web Search of 2013.
const YANDEX_2013: &str = "\
744899\tM\t23\t123123123
744899\t0\tQ\t0\t192902\t4857,3847,2939\t632428,2384\t309585,28374\t319567,38724\t6547,28744\t20264,2332\t3094446,34535\t90,21\t841,231\t8344,2342\t119571,45767
744899\t1403\tC\t0\t309585
";

#[test]
fn yandex_of_2013_is_read() {
    let items = "632428 309585 319567 6547 20264 3094446 90 841 8344 119571".to_owned();
    let list = |clicks| ("192902".to_owned(), items.clone(), clicks);
    assert_eq!(sessions(&read(&Format::Yandex, YANDEX_2013).unwrap()), [list(2)]);
    // A click belongs to the list of its number, also if a later one shows the URL.
    let query = YANDEX_2013.lines().nth(1).unwrap();
    let later = query.replacen("\t0\tQ\t0\t", "\t900\tQ\t1\t", 1);
    let log = format!("{query}\n{later}\n744899\t1403\tC\t0\t632428\n744899\t1404\tC\t7\t632428\n");
    let log = read(&Format::Yandex, log).unwrap();
    assert_eq!((sessions(&log), log.report.clicks_outside), (vec![list(0), list(1)], 1));
    // The clicks of a test query were withheld.
    let log = read(&Format::Yandex, format!("{YANDEX_2013}{}\n", later.replace("\tQ\t", "\tT\t"))).unwrap();
    assert_eq!(sessions(&log), [list(2)]);
    for (from, to) in [
        ("\t119571,45767", ""),
        ("119571,45767", "119571,45767\t1,2"),
        ("\t192902\t", "\t\t"),
        ("\tQ\t0", "\tQ\tx"),
        ("\tC\t0\t309585", "\tC\t0\t309585\t5"),
        ("\t123123123", "\t123123123\t5"),
    ] {
        let error = read(&Format::Yandex, YANDEX_2013.replacen(from, to, 1)).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Line(_)) && !error.to_string().contains("123123123"),
            "{error}"
        );
    }
}

/// Two sessions whose lines alternate.
const INTERLEAVED: &str = "\
ts,session,query,item,position,click,device,event,dwell
1,s1,q,a,1,1,mobile,click,12
1,s2,q,b,1,0,desktop,,
1,s1,q,b,2,0,mobile,,
1,s2,q,a,2,1,desktop,purchase,30
";

/// The lines of a session are a list in any order, in blocks of any size, in several files, and in
/// a frame.
#[test]
fn lines_of_a_session_stand_anywhere() {
    let format = Format::delimited(OF_SESSIONS).unwrap();
    let (header, lines) = INTERLEAVED.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    let expected = [("q".to_owned(), "a b".to_owned(), 1), ("q".to_owned(), "b a".to_owned(), 2)];
    // All orders of four lines.
    for order in 0..256_usize {
        let order: Vec<usize> = (0..4).map(|place| order >> (2 * place) & 3).collect();
        if (0..4).any(|line| !order.contains(&line)) {
            continue;
        }
        let all: Vec<&str> = order.iter().map(|&line| lines[line]).collect();
        let log = format!("{header}\n{}\n", all.join("\n"));
        in_blocks(&format, &log, |log| assert_eq!(sessions(&log.unwrap()), expected, "{order:?}"));
        let part = |lines: &[&str]| format!("{header}\n{}\n", lines.join("\n"));
        let parts = [part(&all[..1]), part(&all[1..])];
        let inputs = parts.iter().map(|part| Input::stream("part", part.as_bytes())).collect();
        let log = Reader::new(format.clone()).keep_sessions().read_inputs(inputs).unwrap();
        assert_eq!(sessions(&log), expected);
        let column = |place: usize| {
            let cells = all.iter().map(|line| line.split(',').nth(place).unwrap().to_owned());
            Box::new(Cells(cells.collect())) as Box<dyn ReadColumn>
        };
        let frame = Frame::new(["session", "query", "item", "position", "click"]);
        let frame = frame.batch(4, (1..=5).map(column).collect()).unwrap();
        let log = Reader::new(format.clone()).keep_sessions().read_frame("frame", &frame, None).unwrap();
        assert_eq!(sessions(&log), expected);
    }
    // Thousands of sessions, of which each has its lines far apart, with as many blocks.
    let line = |row: usize| format!("s{},q,{},{},{}\n", row % 3000, row / 3000, row / 3000 + 1, row % 7 / 6);
    let far = "session,query,item,position,click\n".to_owned() + &(0..9000).map(line).collect::<String>();
    in_blocks(&format, &far, |log| {
        let log = log.unwrap();
        assert_eq!((log.report.sessions, log.report.lines, log.report.impressions), (3000, 9000, 9000));
        assert!(log.sessions.queries().all(|query| query.lists().all(|list| list.items.len() == 3)));
    });
    // A skipped line: its list ends above it.
    let lenient = Reader::new(format.clone()).keep_sessions().lenient(0.5).unwrap();
    let log = lenient.read("log", INTERLEAVED.replace("q,b,1,0", "q,b,1,-1").as_bytes()).unwrap();
    assert_eq!((sessions(&log), log.report.n_skipped()), (vec![expected[0].clone()], 2));
    // A gap changes positions, and nothing else.
    let log = read(&format, INTERLEAVED.replace("b,2,0", "b,3,0")).unwrap();
    assert_eq!(
        (sessions(&log), log.counts.positions().iter().collect::<Vec<_>>()),
        (expected.to_vec(), vec![0, 1, 2])
    );
}

/// Lists with gaps and lists that begin later, in any order, are the rows of the same table.
#[test]
fn lists_with_gaps_are_read_as_their_rows() {
    let with = Format::delimited("session=s,query=q,item=i,position=p,click=c").unwrap();
    let without = Format::delimited("query=q,item=i,position=p,click=c").unwrap();
    let mut log = "s,q,i,p,c\n".to_owned();
    let mut rows = Vec::new();
    for session in 0..400_u64 {
        // The fifth position is an advertisement; some lists lack others, and some begin later.
        let lacks = match session % 5 {
            0 | 1 => 4,
            2 => 8,
            3 => session % 9,
            _ => 0,
        };
        for position in (0..8).filter(|position| *position != 4 && *position != lacks) {
            let row = format!(
                "s{session},q{},i{},{},{}\n",
                session % 3,
                (session + position) % 11,
                position + 1,
                u64::from((session * 7 + position) % 9 == 0)
            );
            log += &row;
            rows.push(row);
        }
    }
    let expected = read(&without, log.clone()).unwrap();
    rows.sort_by_key(|row| {
        row.bytes().rev().map(u64::from).fold(7, |sum: u64, byte| sum.wrapping_mul(31) ^ byte)
    });
    for text in [log, "s,q,i,p,c\n".to_owned() + &rows.concat()] {
        in_blocks(&with, &text, |log| {
            let log = log.unwrap();
            assert_eq!((log.report.sessions, log.report.impressions), (400, expected.report.impressions));
            assert_eq!((&log.counts, &log.sessions.counts()), (&expected.counts, &expected.counts));
            let halves = log.sessions.halves().unwrap();
            assert_eq!(expected.counts.without(&halves[0].counts), halves[1].counts);
        });
    }
    // A session that begins at its first position again, elsewhere, has shown another list.
    let again = "s,q,i,p,c\nv,q,a,2,1\nv,q,b,4,0\nw,q,a,2,0\nv,q,a,2,1\nv,q,b,4,0\n";
    let log = read(&with, again).unwrap();
    assert_eq!((log.report.sessions, log.report.impressions, log.report.clicks), (3, 5, 2));
}

/// Texts of a frame that own them.
struct Cells(Vec<String>);

impl ReadColumn for Cells {
    fn values<'a>(&'a self, rows: std::ops::Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(self.0[rows].iter().map(|text| Value::from(text.as_str())));
    }
}
