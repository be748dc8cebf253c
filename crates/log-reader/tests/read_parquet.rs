//! Parquet files as engines write them, and faulty ones.

use log_reader::{
    Error, ErrorKind, Fault, Format, Input, Log, Reader, RowColumn, TakeRows, Value, read_rows,
};
use parquet::basic::Compression;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const COLUMNS: &str = "query=q,item=i,position=p,click=c,impressions=n";
/// [`Table::new`] in Zstandard, with both kinds of pages: by polars 2.1 and by pyarrow 26.0.
const ZSTANDARD: [&[u8]; 2] =
    [include_bytes!("data/zstandard-v1.parquet"), include_bytes!("data/zstandard-v2.parquet")];

struct Table {
    /// `None` is a missing value.
    queries: Vec<Option<&'static str>>,
    items: Vec<i64>,
    positions: Vec<i32>,
    clicks: Vec<i64>,
    impressions: Vec<f64>,
}

impl Table {
    fn new() -> Self {
        Self {
            queries: vec![Some("red shoes"), Some("red shoes"), Some("7")],
            items: vec![12, 12, -3],
            positions: vec![1, 2, 1],
            clicks: vec![3, 0, 1],
            impressions: vec![10.0, 4.0, 1.0],
        }
    }

    fn write(&self, compression: Compression) -> Vec<u8> {
        Self::write_groups(std::slice::from_ref(self), compression)
    }

    /// A row group for each of the tables.
    fn write_groups(tables: &[Self], compression: Compression) -> Vec<u8> {
        let schema = "message log { OPTIONAL BYTE_ARRAY q (UTF8); REQUIRED INT64 i; REQUIRED INT32 p; REQUIRED INT64 c;
            REQUIRED DOUBLE n; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
        for table in tables {
            table.write_group(&mut writer);
        }
        writer.close().unwrap();
        bytes
    }

    fn write_group(&self, writer: &mut SerializedFileWriter<&mut Vec<u8>>) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let queries: Vec<ByteArray> = self.queries.iter().flatten().map(|&query| query.into()).collect();
        let levels: Vec<i16> = self.queries.iter().map(|query| query.is_some().into()).collect();
        column.typed::<ByteArrayType>().write_batch(&queries, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&self.items, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&self.positions, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&self.clicks, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&self.impressions, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
}

/// Reads on one thread: starting others would take longer than reading.
fn read(bytes: &[u8]) -> Result<Log, Error> {
    let reader = Reader::new(Format::parquet(COLUMNS).unwrap()).threads(std::num::NonZeroUsize::MIN);
    reader.read("log.parquet", bytes)
}

#[test]
fn a_table_is_the_counts_it_holds() {
    let csv = "query,item,position,clicks,impressions\nred shoes,12,1,3,10\nred shoes,12,2,0,4\n7,-3,1,1,1\n";
    let expected = Reader::new(Format::counts()).read("log.csv", csv.as_bytes()).unwrap().counts;
    let written = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
        Compression::LZ4_RAW,
    ]
    .map(|compression| Table::new().write(compression));
    for (number, bytes) in written.iter().map(Vec::as_slice).chain(ZSTANDARD).enumerate() {
        let log = read(bytes).unwrap();
        assert_eq!((&log.counts, log.report.lines), (&expected, 3), "{number}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.parquet");
        std::fs::write(&path, bytes).unwrap();
        let files = Reader::new(Format::parquet(COLUMNS).unwrap()).read_files(&[&path, &path]).unwrap();
        assert_eq!(files.counts.without(&expected), expected, "{number}");
    }
}

#[test]
fn many_rows_are_read_in_parts() {
    let mut table = Table::new();
    let n = 10_000;
    table.queries = (0..n).map(|row| (row % 10 != 0).then_some("q")).collect();
    table.items = (0..n).map(|row| row % 100).collect();
    table.positions = vec![1; 10_000];
    table.clicks = vec![0; 10_000];
    table.impressions = vec![2.0; 10_000];
    let bytes = table.write(Compression::SNAPPY);
    // One row in ten lacks its query.
    let message = "log.parquet:1: column 1 (q): nothing there";
    assert_eq!(read(&bytes).unwrap_err().to_string(), message);
    let lenient = Reader::new(Format::parquet(COLUMNS).unwrap()).lenient(0.1).unwrap();
    let log = lenient.read("log.parquet", bytes.as_slice()).unwrap();
    assert_eq!((log.report.lines, log.report.n_skipped(), log.counts.impressions()), (10_000, 1000, 18_000));
    assert_eq!(log.counts.n_cells(), 90);
}

/// Sessions extend over the groups in which rows are read; a column of any type may name them.
#[test]
fn rows_make_sessions() {
    let columns = "query=q,item=i,position=p,click=c,session=n";
    let n: usize = 3000;
    let table = Table {
        queries: vec![Some("q"); 3 * n],
        items: (0..3 * n).map(|row| [5, 6, 7][row % 3]).collect(),
        positions: (0..3 * n).map(|row| [1, 2, 3][row % 3]).collect(),
        clicks: (0..3 * n).map(|row| i64::from(row % 9 == 4)).collect(),
        impressions: (0..3 * n).map(|row| (row / 3) as f64 / 2.0).collect(),
    };
    let reader = Reader::new(Format::parquet(columns).unwrap()).keep_sessions();
    let log = reader.read("log.parquet", table.write(Compression::SNAPPY).as_slice()).unwrap();
    assert_eq!((log.report.sessions, log.report.clicks, log.counts.impressions()), (3000, 1000, 9000));
    let query = log.sessions.queries().next().unwrap();
    let lists: Vec<_> = query.lists().collect();
    assert_eq!((lists.len(), lists[0].items.len()), (1, 3));
    let patterns: Vec<_> = lists[0].patterns.iter().map(|p| (p.clicks.bits(), p.sessions)).collect();
    assert_eq!(patterns, [(0b000, 2000), (0b010, 1000)]);

    let mixed_up = Table { positions: (0..3 * n).map(|row| [1, 3, 3][row % 3]).collect(), ..table };
    let error = reader.read("log.parquet", mixed_up.write(Compression::SNAPPY).as_slice()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Line(Fault::PositionTwice));
}

#[test]
fn faulty_values_and_columns_are_refused() {
    type Change = fn(&mut Table);
    let cases: [(Change, Fault, &str); 5] = [
        (|t| t.positions[1] = 0, Fault::PositionZero, "2: column 3 (p): positions count from 1, found `0`"),
        (|t| t.clicks[1] = -1, Fault::Negative, "2: column 4 (c): a negative number, found `-1`"),
        (
            |t| t.clicks[1] = 5,
            Fault::ClicksAboveImpressions { impressions: 4 },
            "2: column 4 (c): more clicks than the 4 impressions, found `5`",
        ),
        (
            |t| t.impressions[1] = 4.5,
            Fault::NotANumber,
            "2: column 5 (n): expected a whole number, found `4.5`",
        ),
        (
            |t| t.impressions[1] = f64::NAN,
            Fault::NotANumber,
            "2: column 5 (n): expected a whole number, found `NaN`",
        ),
    ];
    for (change, fault, message) in cases {
        let mut table = Table::new();
        change(&mut table);
        let error = read(&table.write(Compression::SNAPPY)).unwrap_err();
        assert_eq!(error.to_string(), format!("log.parquet:{message}"));
        assert_eq!(*error.kind(), ErrorKind::Line(fault));
    }
    let other = Reader::new(Format::parquet("item=i,position=p,click=clicks").unwrap());
    let error = other.read("log.parquet", Table::new().write(Compression::SNAPPY).as_slice()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Header);
    let empty =
        Table { queries: vec![], items: vec![], positions: vec![], clicks: vec![], impressions: vec![] };
    assert_eq!(*read(&empty.write(Compression::SNAPPY)).unwrap_err().kind(), ErrorKind::Empty);
    for bytes in [&b""[..], b"PAR1", b"query,item\n"] {
        assert_eq!(*read(bytes).unwrap_err().kind(), ErrorKind::Parquet);
    }
}

/// Row groups are read on several threads. Counts, what is held out, the report and the first fault
/// are those of one thread, from a stream and from files.
#[test]
fn threads_and_row_groups_change_nothing() {
    let groups = |n: i64| -> Vec<Table> {
        let table = |group: i64| Table {
            queries: vec![Some(if group % 3 == 0 { "a" } else { "b" }); 100],
            items: (0..100).map(|row| (row * 7 + group) % 90).collect(),
            positions: (0..100).map(|row| 1 + row % 5).collect(),
            clicks: (0..100).map(|row| i64::from(row % 11 == 0)).collect(),
            impressions: (0..100).map(|row| f64::from(1 + row % 4)).collect(),
        };
        (0..n).map(table).collect()
    };
    let mut faulty = groups(30);
    (faulty[11].positions[80], faulty[11].positions[81], faulty[12].positions[0]) = (0, 99, 99);
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<_> = [groups(30), groups(1), faulty]
        .iter()
        .enumerate()
        .map(|(number, groups)| {
            let path = dir.path().join(format!("{number}.parquet"));
            std::fs::write(&path, Table::write_groups(groups, Compression::SNAPPY)).unwrap();
            path
        })
        .collect();
    let reader = |threads: usize| {
        let reader = Reader::new(Format::parquet(COLUMNS).unwrap());
        reader.threads(std::num::NonZeroUsize::new(threads).unwrap())
    };
    let expected = reader(1).read_files(&files[..2]).unwrap();
    assert_eq!((expected.report.lines, expected.report.files), (31 * 100, 2));
    for threads in [1, 2, 7] {
        let log = reader(threads).read_files(&files[..2]).unwrap();
        assert_eq!((&log.counts, &log.report), (&expected.counts, &expected.report), "{threads}");
        let stream = std::fs::read(&files[2]).unwrap();
        let errors = [
            reader(threads).read_files(&files).unwrap_err().to_string(),
            reader(threads).read("2.parquet", stream.as_slice()).unwrap_err().to_string(),
        ];
        for error in errors {
            assert!(error.contains("2.parquet:1181: column 3 (p)"), "{threads}: {error}");
        }
        let skipped = reader(threads).lenient(0.1).unwrap().read_files(&files).unwrap().report;
        assert_eq!((skipped.n_skipped(), skipped.lines), (3, 61 * 100), "{threads}");
    }
}

/// A list continues in the next row group.
#[test]
fn row_groups_do_not_cut_lists() {
    let group = |first: i32| Table {
        queries: vec![Some("a"); 3],
        items: vec![1, 2, 3],
        positions: (first..first + 3).collect(),
        clicks: vec![0, 1, 0],
        impressions: vec![5.0; 3],
    };
    let bytes = Table::write_groups(&[group(1), group(4), group(7)], Compression::SNAPPY);
    let format = Format::parquet("query=q,item=i,position=p,click=c,session=n").unwrap();
    for threads in [1, 2, 7] {
        let reader = Reader::new(format.clone()).keep_sessions();
        let reader = reader.threads(std::num::NonZeroUsize::new(threads).unwrap());
        let sessions = reader.read("log.parquet", bytes.as_slice()).unwrap().sessions;
        let query = sessions.queries().next().unwrap();
        assert_eq!(query.lists().next().unwrap().items.len(), 9, "{threads}");
    }
}

#[test]
fn a_codec_that_is_not_read_is_named() {
    // The codec of a column is one byte in the description at the end of the file: 2 for Snappy, 8
    // for Brotli.
    let bytes = Table::new().write(Compression::SNAPPY);
    let with_other_codec = |place: usize| {
        let mut bytes = bytes.clone();
        bytes[place] = 8;
        read(&bytes).err().map(|error| error.to_string())
    };
    let messages: Vec<_> =
        (0..bytes.len()).filter(|&place| bytes[place] == 2).filter_map(with_other_codec).collect();
    for column in ["q", "i", "p", "c", "n"] {
        let wrong = format!("column `{column}` is compressed with Brotli");
        let expected = format!("log.parquet: {wrong}, expected Snappy, gzip, LZ4 or Zstandard");
        assert!(messages.contains(&expected), "{messages:#?}");
    }
}

/// A damaged file gives an error, or numbers that the damage did not affect, and never a panic. The
/// library panics at 13 of these changes; most are of the lowest bit.
#[test]
fn damaged_files_never_panic() {
    let whole = Table::new().write(Compression::UNCOMPRESSED);
    for end in 0..whole.len() {
        assert!(read(&whole[..end]).is_err());
    }
    // The description at the end of a compressed file is that of the other one but for a few
    // numbers.
    let pages = |bytes: &[u8]| {
        let length: [u8; 4] = *bytes[..bytes.len() - 4].last_chunk().unwrap();
        bytes.len() - 8 - u32::from_le_bytes(length) as usize
    };
    let snappy = Table::new().write(Compression::SNAPPY);
    let compressed = [snappy, ZSTANDARD[0].to_vec(), ZSTANDARD[1].to_vec()];
    let compressed = compressed.map(|bytes| (pages(&bytes), bytes));
    for (end, bytes) in [(whole.len(), whole)].into_iter().chain(compressed) {
        for place in 0..end {
            let mut bytes = bytes.clone();
            for change in [0x01, 0x7f] {
                bytes[place] ^= change;
                let _ = read(&bytes);
            }
        }
    }
}

/// A table of texts: rows with the columns q, i, p, c.
fn texts(rows: &[[&str; 4]]) -> Vec<u8> {
    let schema = "message log { REQUIRED BYTE_ARRAY q (UTF8); REQUIRED BYTE_ARRAY i (UTF8); REQUIRED BYTE_ARRAY p (UTF8);
        REQUIRED BYTE_ARRAY c (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for place in 0..4 {
        let mut column = group.next_column().unwrap().unwrap();
        let values: Vec<ByteArray> = rows.iter().map(|row| row[place].into()).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn read_texts(rows: &[[&str; 4]]) -> Result<Log, Error> {
    Reader::new(Format::parquet("query=q,item=i,position=p,click=c").unwrap())
        .read("log", texts(rows).as_slice())
}

/// Numbers and truth values as texts are read as in CSV.
#[test]
fn texts_are_read_as_those_of_csv() {
    let expected = read_texts(&[["q", "a", "1", "1"], ["q", "b", "2", "0"]]).unwrap().counts;
    for (positions, clicks) in [
        (["1.0", "2.0"], ["True", "False"]),
        (["1,0", "2.00"], ["1.0", "-0.0"]),
        (["1", "2"], ["TRUE", "false"]),
    ] {
        let rows = [["q", "a", positions[0], clicks[0]], ["q", "b", positions[1], clicks[1]]];
        assert_eq!(read_texts(&rows).unwrap().counts, expected);
        let csv = rows.map(|row| row.join(";")).join("\n");
        let format = Format::delimited("query=q,item=i,position=p,click=c").unwrap();
        let log = Reader::new(format).read("log", format!("q;i;p;c\n{csv}\n").as_bytes());
        assert_eq!(log.unwrap().counts, expected);
    }
    let refused = |row| read_texts(&[row]).unwrap_err().kind().clone();
    assert_eq!(refused(["q", "a", "true", "1"]), ErrorKind::Line(Fault::NotANumber));
    assert_eq!(refused(["q", "a", "1", "yes"]), ErrorKind::Line(Fault::NotAClick));
}

/// A table of one column of decimals for items, positions and clicks each: 4, 8 and 16 bytes, and
/// as many as needed.
fn decimals(types: [&str; 3], rows: &[[i128; 3]]) -> Vec<u8> {
    let names = ["i", "p", "c"];
    let columns = types.iter().zip(names).map(|(of, name)| format!("REQUIRED {}; ", of.replace('#', name)));
    let schema = format!("message log {{ {} }}", columns.collect::<String>());
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for place in 0..3 {
        let mut column = group.next_column().unwrap().unwrap();
        let values = rows.iter().map(|row| row[place]);
        let bytes = |value: i128| ByteArray::from(value.to_be_bytes().to_vec());
        match types[place].split(' ').next().unwrap() {
            "INT32" => {
                let values: Vec<i32> = values.map(|value| value.try_into().unwrap()).collect();
                column.typed::<Int32Type>().write_batch(&values, None, None).unwrap();
            }
            "INT64" => {
                let values: Vec<i64> = values.map(|value| value.try_into().unwrap()).collect();
                column.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
            }
            "BYTE_ARRAY" => {
                let needed = |value: i128| {
                    bytes(value).data()[15 - usize::from(value.unsigned_abs() > 127)..].to_vec()
                };
                let values: Vec<ByteArray> = values.map(|value| needed(value).into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
            }
            _ => {
                let values: Vec<FixedLenByteArray> = values.map(|value| bytes(value).into()).collect();
                column.typed::<FixedLenByteArrayType>().write_batch(&values, None, None).unwrap();
            }
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// Decimals are what the same text in CSV is: a name with all its digits, and a whole number.
#[test]
fn decimals_are_read_as_those_of_csv() {
    let fixed = "FIXED_LEN_BYTE_ARRAY(16) # (DECIMAL(38,2))";
    let short = ["INT32 # (DECIMAL(9,2))", "INT64 # (DECIMAL(18,1))", fixed];
    let long = [fixed, "BYTE_ARRAY # (DECIMAL(5,2))", "INT64 # (DECIMAL(18,0))"];
    let read =
        |bytes: &[u8]| Reader::new(Format::parquet("item=i,position=p,click=c").unwrap()).read("log", bytes);
    let csv = |rows: &str| {
        let format = Format::delimited("item=i,position=p,click=c").unwrap();
        Reader::new(format).read("log", format!("i,p,c\n{rows}").as_bytes())
    };
    let found = read(&decimals(short, &[[1250, 10, 100], [-5, 20, 0]])).unwrap().counts;
    assert_eq!(found, csv("12.50,1.0,1.00\n-0.05,2.0,0.00\n").unwrap().counts);
    let many = 10_i128.pow(37) + 1;
    let found = read(&decimals(long, &[[many, 100, 1], [-many, 200, 0]])).unwrap().counts;
    let name = format!("1{}.01", "0".repeat(35));
    assert_eq!(found, csv(&format!("{name},1.00,1\n-{name},2.00,0\n")).unwrap().counts);
    // Whole numbers are those of columns of whole numbers.
    let whole = ["FIXED_LEN_BYTE_ARRAY(16) # (DECIMAL(38,0))"; 3];
    assert_eq!(read(&decimals(whole, &[[7, 1, 1]])).unwrap().counts, csv("7,1,1\n").unwrap().counts);
    for (row, fault) in [([1, 15, 1], Fault::NotANumber), ([1, -10, 1], Fault::Negative)] {
        let kind = read(&decimals(short, &[row])).unwrap_err().kind().clone();
        assert_eq!(kind, ErrorKind::Line(fault));
    }
    let longer = ["FIXED_LEN_BYTE_ARRAY(17) # (DECIMAL(39,0))", short[1], short[2]];
    let message = read(&decimals(longer, &[])).unwrap_err().to_string();
    assert!(message.contains("column `i` holds decimals of more than 38 digits"), "{message}");
}

/// The description of a file promises as many rows as there are.
#[test]
fn declared_rows_are_those_that_are_there() {
    let bytes = texts(&[["q", "a", "1", "1"], ["q", "b", "2", "0"], ["q", "c", "3", "0"]]);
    let length: [u8; 4] = *bytes[..bytes.len() - 4].last_chunk().unwrap();
    let start = bytes.len() - 8 - u32::from_le_bytes(length) as usize;
    // 3 and 4 as the description has them.
    let places: Vec<usize> = (start..bytes.len() - 8).filter(|&place| bytes[place] == 6).collect();
    let reader = Reader::new(Format::parquet("query=q,item=i,position=p,click=c").unwrap());
    let message = |changed: &[usize]| {
        let mut bytes = bytes.clone();
        for &place in changed {
            bytes[place] = 8;
        }
        reader.read("log", bytes.as_slice()).err().map(|error| error.to_string())
    };
    let pairs = places.iter().flat_map(|&a| places.iter().map(move |&b| [a, b]));
    let messages: Vec<_> = pairs.filter_map(|pair| message(&pair)).collect();
    for expected in [
        "log: 4 rows by the description of the file, but 3 in its row groups",
        "log: 3 rows by the description of the file, but 4 in its row groups",
        "log: row group 1 has 3 rows, but 4 by the description of the file",
    ] {
        assert!(messages.iter().any(|message| message == expected), "{messages:#?}");
    }
}

/// Pages with checksums, as pyarrow writes them on request, are compared with these.
#[test]
fn a_changed_page_with_a_checksum_is_refused() {
    let bytes = *include_bytes!("data/checksums.parquet");
    let columns = "item=item,position=position,click=clicks,impressions=impressions";
    let reader = Reader::new(Format::parquet(columns).unwrap());
    assert_eq!(reader.read("log.parquet", &bytes[..]).unwrap().counts.clicks(), 11);
    // The clicks of the third row, 5.
    let mut changed = bytes;
    assert_eq!(std::mem::replace(&mut changed[208], 6), 5);
    let message = reader.read("log.parquet", &changed[..]).unwrap_err().to_string();
    assert!(message.contains("log.parquet") && message.contains("CRC"), "{message}");
}

/// The times of a column of this type in Parquet, as one day in 2026 or the time between its ends.
fn times<T: DataType>(column: &str, values: &[T::T]) -> Vec<String> {
    let schema = Arc::new(parse_message_type(&format!("message log {{ REQUIRED {column}; }}")).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let mut found = Found(Vec::new());
    let inputs = vec![Input::stream("log", &*bytes)];
    let columns = [RowColumn { name: "t", optional: false }];
    read_rows(&columns, true, inputs, None, &mut found).unwrap();
    found.0
}

struct Found(Vec<String>);

impl TakeRows for Found {
    fn row(&mut self, values: &[Option<Value<'_>>; 6], _: &[Value<'_>]) -> Result<(), (usize, Fault)> {
        self.0.push(format!("{:?}", values[0].unwrap()));
        Ok(())
    }
}

#[test]
fn times_are_read_with_their_units() {
    // Spark's type: nanoseconds of the day in two words, and the Julian day.
    let mut of_spark = Int96::new();
    of_spark.set_data(1500, 0, 2_440_588 + 1);
    assert_eq!(times::<Int96Type>("INT96 t", &[of_spark]), ["Time(86400000001, 86400000000)"]);
    assert_eq!(times::<Int32Type>("INT32 t (DATE)", &[-1, 20_000]), ["Time(-1, 1)", "Time(20000, 1)"]);
    for (unit, of_day) in
        [("TIMESTAMP_MILLIS", 86_400_000_i64), ("TIMESTAMP_MICROS", 86_400_000_000)].into_iter().chain([
            ("TIMESTAMP(MILLIS,false)", 86_400_000),
            ("TIMESTAMP(MICROS,false)", 86_400_000_000),
            ("TIMESTAMP(NANOS,true)", 86_400_000_000_000),
        ])
    {
        let found = times::<Int64Type>(&format!("INT64 t ({unit})"), &[-7]);
        assert_eq!(found, [format!("Time(-7, {of_day})")], "{unit}");
    }
    assert_eq!(times::<Int64Type>("INT64 t", &[-7]), ["Negative(-7)"]);
}
