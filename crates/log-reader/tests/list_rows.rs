//! A list in one row is read as the same list with a row for each item.

use log_reader::{ErrorKind, Fault, Format, Frame, NUMBERS, ReadColumn, Reader, TEXTS, Value};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::ops::Range;
use std::sync::Arc;

/// Two lists of a query, and one of another.
const ROWS: &str = "\
    q,i,p,c,s\n\
    red shoes,a,1,0,1\n\
    red shoes,b,2,1,1\n\
    red shoes,b,1,0,2\n\
    red shoes,c,2,0,2\n\
    red shoes,a,3,1,2\n\
    hat,d,1,1,3\n";

fn content(columns: &str, text: &str) -> String {
    let reader = Reader::new(Format::delimited(columns).unwrap()).keep_sessions();
    let log = reader.read("log", text.as_bytes()).unwrap_or_else(|error| panic!("{columns}: {error}"));
    described(&log)
}

/// Names, lists and clicks.
fn described(log: &log_reader::Log) -> String {
    let name = |id| log.sessions.names().name(id).into_owned();
    let mut lines: Vec<String> = Vec::new();
    for query in log.sessions.queries() {
        for list in query.lists() {
            let items: Vec<String> = list.items.iter().map(|&item| name(item)).collect();
            for pattern in list.patterns {
                let (clicks, sessions) = (pattern.clicks.bits(), pattern.sessions);
                lines.push(format!("{} {items:?} {clicks:b} {sessions}", name(query.id())));
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

#[test]
fn every_form_of_a_list_is_the_same_log() {
    let expected = content("query=q,item=i,position=p,click=c,session=s", ROWS);
    assert_eq!(expected.lines().count(), 3);
    let numbered = "query=#2,item=#3,click=#3,separator=space";
    for (columns, text) in [
        ("query=q,item=i,click=c,separator=|", "q,i,c\nred shoes,a|b,0|1\nred shoes,b|c|a,0|0|1\nhat,d,1\n"),
        (
            "query=q,item=i,click=c,separator=bar",
            "q,i,c\nred shoes,a|b,0|1\nred shoes,b|c|a,0|0|1\nhat,d,1\n",
        ),
        // As Python, numpy and JSON write lists in CSV.
        (
            "query=q,item=i,click=c",
            "q,i,c\nred shoes,\"['a', 'b']\",\"[0, 1]\"\nred shoes,['b' 'c' 'a'],[0 0 1]\n\
             hat,\"[\"\"d\"\"]\",[true]\n",
        ),
        // Without a header, and with an item and its click in one element, as MIND has them.
        (numbered, "1\tred shoes\ta-0 b-1\n2\tred shoes\tb-0 c-0 a-1\n3\that\td-1\n"),
        (
            "query=q,item=i,click=c",
            "{\"q\": \"red shoes\", \"i\": [\"a\", \"b\"], \"c\": [0, 1]}\n\
             {\"i\": [\"b\", \"c\", \"a\"], \"c\": [false, 0, true], \"q\": \"red shoes\", \"x\": {}}\n\
             {\"q\": \"hat\", \"i\": [\"d\"], \"c\": [1]}\n",
        ),
        // As pyClickModels has them: all lists of a query in one line.
        (
            "query=keys.q,item=all.list.doc,click=all.list.click",
            "{\"keys\": {\"q\": \"red shoes\"}, \"all\": [{\"list\": [{\"doc\": \"a\", \"click\": 0}, \
             {\"doc\": \"b\", \"click\": 1}]}, {\"list\": [{\"doc\": \"b\", \"click\": 0}, {\"doc\": \"c\", \
             \"click\": 0}, {\"doc\": \"a\", \"click\": 1}]}]}\n\
             {\"keys\": {\"q\": \"hat\"}, \"all\": [{\"list\": [{\"doc\": \"d\", \"click\": 1}]}]}\n",
        ),
        // An item a line.
        (
            "query=q,item=i,position=p,click=c,session=s",
            "{\"q\":\"red shoes\",\"i\":\"a\",\"p\":1,\"c\":0,\"s\":1}\n\
             {\"q\":\"red shoes\",\"i\":\"b\",\"p\":2,\"c\":1,\"s\":1}\n\
             {\"q\":\"red shoes\",\"i\":\"b\",\"p\":1,\"c\":0,\"s\":2}\n\
             {\"q\":\"red shoes\",\"i\":\"c\",\"p\":2,\"c\":0,\"s\":2}\n\
             {\"q\":\"red shoes\",\"i\":\"a\",\"p\":3,\"c\":1,\"s\":2}\n\
             {\"q\":\"hat\",\"i\":\"d\",\"p\":1,\"c\":true,\"s\":3}\n",
        ),
    ] {
        assert_eq!(content(columns, text), expected, "{text}");
    }
    let log = Reader::new(Format::parquet("query=q,item=i,click=c").unwrap()).keep_sessions();
    assert_eq!(described(&log.read("log", &*parquet()).unwrap()), expected);
    let texts = |texts: [&str; 3]| Box::new(Lists(texts.map(str::to_owned).to_vec())) as Box<dyn ReadColumn>;
    let [text, number] = [TEXTS, NUMBERS].map(char::from);
    let joined = |mark: char, list: &[&str]| {
        list.iter().flat_map(|one| [mark.to_string(), (*one).to_owned()]).collect::<String>()
    };
    let items = [["a", "b"].as_slice(), &["b", "c", "a"], &["d"]].map(|list| joined(text, list));
    let clicks = [["0", "1"].as_slice(), &["0", "0", "1"], &["1"]].map(|list| joined(number, list));
    let columns = vec![
        texts(["red shoes", "red shoes", "hat"]),
        texts(items.each_ref().map(String::as_str)),
        texts(clicks.each_ref().map(String::as_str)),
    ];
    let frame = Frame::new(["q", "i", "c"]).batch(3, columns).unwrap();
    let reader = Reader::new(Format::delimited("query=q,item=i,click=c").unwrap()).keep_sessions();
    assert_eq!(described(&reader.read_frame("log", &frame, None).unwrap()), expected);
}

struct Lists(Vec<String>);

impl ReadColumn for Lists {
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(self.0[rows].iter().map(|text| Value::from(text.as_str())));
    }
}

/// The lists as Parquet, in the form of lists of all engines.
fn parquet() -> Vec<u8> {
    let schema = "message log { REQUIRED BYTE_ARRAY q (UTF8);
        OPTIONAL group i (LIST) { REPEATED group list { OPTIONAL BYTE_ARRAY element (UTF8); } }
        OPTIONAL group c (LIST) { REPEATED group list { OPTIONAL INT32 element; } } }";
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts = |all: &[&str]| -> Vec<ByteArray> { all.iter().map(|&text| text.into()).collect() };
    // The fourth row has an empty list, and the last one none.
    let (defined, starts) = ([3, 3, 3, 3, 3, 3, 1, 0], [0, 1, 0, 1, 1, 0, 0, 0]);
    let mut column = group.next_column().unwrap().unwrap();
    let queries = texts(&["red shoes", "red shoes", "hat", "none", "none"]);
    column.typed::<ByteArrayType>().write_batch(&queries, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let items = texts(&["a", "b", "b", "c", "a", "d"]);
    column.typed::<ByteArrayType>().write_batch(&items, Some(&defined), Some(&starts)).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[0, 1, 0, 0, 1, 1], Some(&defined), Some(&starts)).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn faults_name_the_cell() {
    let fault = |columns: &str, text: &str| {
        Reader::new(Format::delimited(columns).unwrap()).read("log", text.as_bytes()).unwrap_err()
    };
    // A table of items, where `position` was forgotten.
    let error = fault("query=q,item=i,click=c", "q,i,c\nshoes,a,0\n");
    assert_eq!(error.kind(), &ErrorKind::Line(Fault::NotAList));
    assert!(error.to_string().starts_with("log:2: column 2 (i): `position=..` is missing if "), "{error}");
    let error = fault("item=i,click=c,separator=;", "i,c\na;b,0;1\na;b,1\n");
    assert_eq!(error.to_string(), "log:3: column 2 (c): 1 element, expected 2, one for each item, found `1`");
    let error = fault("item=#1,click=#1,separator=space", "a-0 b\n");
    assert_eq!(error.kind(), &ErrorKind::Line(Fault::NotAPair));
    let error = fault("item=i,click=c", "{\"i\": [1], \"c\": [0]}\n{\"i\": [1, 2], \"c\": [0]}\n");
    assert_eq!(error.to_string(), "log:2: column 1 (c): 1 element, expected 2, one for each item, found `0`");
    let error = fault("item=i,click=c", "{\"i\": [1], \"c\": [0]}\n[1]\n");
    assert_eq!(error.kind(), &ErrorKind::Line(Fault::NotAnObject));
    let error = fault("item=i,click=c", "{\"i\": [1], \"c\": [2]}\n");
    assert!(
        error.to_string().starts_with("log:1: column 1 (c): more clicks than the 1 impression"),
        "{error}"
    );
    for (columns, expected) in [
        ("item=i,position=p,click=c,separator=;", "which has no `position`"),
        ("item=i,click=c,separator=blank", "expected a character, or space, comma, semicolon, bar"),
        ("item=i,position=p,click=i", "column `i` is given for `item` and `click`"),
        ("item=i,click=c,impressions=n", "a list in one row is one impression"),
    ] {
        let error = Format::delimited(columns).unwrap_err().to_string();
        assert!(error.contains(expected), "{columns}: {error}");
    }
    // In Parquet, a list where a row is an item.
    let format = Format::parquet("query=q,item=i,position=c,click=q2").unwrap();
    assert!(Reader::new(format).read("log", &*parquet()).is_err());
    let format = Format::parquet("query=i,item=q,click=c").unwrap();
    let error = Reader::new(format).read("log", &*parquet()).unwrap_err().to_string();
    assert!(error.contains("column `i` holds lists"), "{error}");
}

/// A lenient reader ends a list above the element at fault, and keeps the others.
#[test]
fn a_skipped_element_ends_its_list() {
    let format = Format::delimited("item=i,click=c,separator=;").unwrap();
    let reader = Reader::new(format).lenient(0.9).unwrap().keep_sessions();
    let log = reader.read("log", "i,c\na;b;c,1;x;0\nd;e,0;1\n".as_bytes()).unwrap();
    assert_eq!((log.report.sessions, log.report.sessions_at_fault), (2, 1));
    assert_eq!(described(&log), "all [\"a\"] 1 1\nall [\"d\", \"e\"] 10 1");
}
