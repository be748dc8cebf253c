use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use quickcheck::quickcheck;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write;

fn read(bytes: &[u8]) -> Result<Vec<Query>, Error> {
    Reader::new("f", bytes).collect()
}

fn is_damaged_gzip(error: &Error) -> bool {
    error.line().is_some() && error.message().starts_with("damaged gzip: ")
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GOOD: &str = "0 qid:a 1:0.5 2:1\n1 qid:a 1:0.25 2:-1e3 # doc\n2 qid:b 2:.5\n";

fn assert_good(queries: &[Query]) {
    assert_eq!(queries.iter().map(Query::id).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(queries[0].labels(), [0, 1]);
    assert_eq!(queries[0].mentioned(1), [(0, 0.25), (1, -1000.0)]);
    assert_eq!(
        (queries[1].feature(0, 0), queries[1].feature(0, 1), queries[1].feature(0, 2)),
        (0.0, 0.5, 0.0)
    );
}

#[test]
fn accepted_variants_are_read() {
    let crlf = GOOD.replace('\n', "\r\n");
    let marked = format!("\u{feff}{GOOD}");
    let spaced = GOOD.replace(' ', " \t ").replace('\n', " \n\n# only a comment\n \t\n");
    for text in [GOOD, GOOD.trim_end(), &crlf, &marked, &spaced] {
        assert_good(&read(text.as_bytes()).unwrap());
        assert_good(&read(&compressed(text.as_bytes())).unwrap());
    }
    // A comment may hold any bytes.
    let mut latin = GOOD.as_bytes().to_vec();
    let comment = GOOD.find("doc").unwrap();
    latin[comment] = 0xff;
    assert_good(&read(&latin).unwrap());
    // Two gzip members, one after the other, are one file.
    let (head, tail) = GOOD.split_at(25);
    assert_good(&read(&[compressed(head.as_bytes()), compressed(tail.as_bytes())].concat()).unwrap());
    // Zero bytes after a member are padding.
    for n_zeros in [1, 512, 1 << 17] {
        let zeros = vec![0; n_zeros];
        let padded =
            [compressed(head.as_bytes()), zeros.clone(), compressed(tail.as_bytes()), zeros].concat();
        assert_good(&read(&padded).unwrap());
        assert!(is_damaged_gzip(&read(&[&padded[..], b"xyz"].concat()).unwrap_err()));
    }
    // Gzip is recognised even if the reader returns one byte at a time.
    let slow = BufReader::with_capacity(1, io::Cursor::new(compressed(GOOD.as_bytes())));
    assert_good(&Reader::new("f", slow).collect::<Result<Vec<_>, _>>().unwrap());
}

#[test]
fn faults_are_rejected_with_their_place() {
    let cases: [(&[u8], &str); 25] = [
        (b"", "f: no documents"),
        (b"# nothing\n\n", "f: no documents"),
        (b"high qid:1 1:2\n", "f:1:1: \"high\" is not a label"),
        (b"-1 qid:1 1:2\n", "f:1:1: \"-1\" is not a label"),
        (b"1.5 qid:1 1:2\n", "f:1:1: \"1.5\" is not a label"),
        (b"256 qid:1 1:2\n", "f:1:1: \"256\" is not a label"),
        (b"1 qid:1 1:2\n1\n", "f:2:2: the line ends after its label"),
        (b"1 1:2\n", "f:1:3: \"1:2\" names no query"),
        (b"1 qid: 1:2\n", "f:1:3: \"qid:\" names no query"),
        (b"1 qid:1\r2 1:2\n", "f:1:3: \"qid:1\\r2\" names no query"),
        (b"1 QID:1 1:2\n", "f:1:3: \"QID:1\" names no query"),
        (b"1 qid:1 1:2 x\n", "f:1:13: \"x\" is not a feature: expected INDEX:VALUE"),
        (b"1 qid:1 0:2\n", "f:1:9: \"0\" is not a feature: expected a whole number from 1 to 4096"),
        (b"1 qid:1 4097:2\n", "f:1:9: \"4097\" is not a feature"),
        (b"1 qid:1 -1:2\n", "f:1:9: \"-1\" is not a feature"),
        (b"1 qid:1 1:2 1:3\n", "f:1:13: feature 1 twice, after feature 1"),
        (b"1 qid:1 7:2 5:3\n", "f:1:13: feature 5 out of order, after feature 7"),
        (b"1 qid:1 1:\n", "f:1:11: \"\" is not a number: expected the value of feature 1"),
        (b"1 qid:1 1:NULL\n", "f:1:11: \"NULL\" is not a number"),
        (b"1 qid:1 1:nan\n", "f:1:11: \"nan\" is not a finite number"),
        (b"1 qid:1 1:1e999\n", "f:1:11: \"1e999\" is not a finite number"),
        (b"1 qid:1 1:-inf\n", "f:1:11: \"-inf\" is not a finite number"),
        ("1 qid:é 1:2 2:x\n".as_bytes(), "f:1:15: \"x\" is not a number"),
        (b"1 qid:1 1:2\n1 qid:\xff 1:2\n", "f:2:7: byte 0xff is not UTF-8"),
        (
            b"1 qid:1 1:2\n1 qid:2 1:2\n\n0 qid:1 1:2\n",
            "f:4:7: query \"1\" comes again after another one: its documents were on lines 1 to 1",
        ),
    ];
    for (text, message) in cases {
        for bytes in [text.to_vec(), compressed(text)] {
            let error = read(&bytes).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}

#[test]
fn damaged_gzip_is_distinguished_from_text() {
    let text = GOOD.as_bytes();
    let whole = compressed(text);
    for length in 2..whole.len() {
        let error = read(&whole[..length]).unwrap_err();
        assert!(is_damaged_gzip(&error), "{length}: {error}");
    }
    // The check sum, and bytes after the end.
    let mut flipped = whole.clone();
    let at = flipped.len() - 6;
    flipped[at] ^= 1;
    assert!(is_damaged_gzip(&read(&flipped).unwrap_err()));
    let trailing = [whole, b"xyz".to_vec()].concat();
    assert!(is_damaged_gzip(&read(&trailing).unwrap_err()));
}

#[test]
fn an_endless_line_does_not_fill_memory() {
    let endless = BufReader::new(io::repeat(b'1'));
    let error = Reader::new("f", endless).next().unwrap().unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(1), Some(MAX_LINE + 1)));
    assert!(error.message().starts_with("a line above 1 MiB: "), "{error}");
    assert!(error.to_string().len() < 200);
    // The longest permitted line.
    let mut longest = b"1 qid:1 1:2 #".to_vec();
    longest.resize(MAX_LINE, b'x');
    assert_eq!(read(&[&longest[..], b"\r\n"].concat()).unwrap().len(), 1);
    longest.push(b'x');
    let error = read(&[&longest[..], b"\n"].concat()).unwrap_err();
    assert!(error.message().starts_with("a line above 1 MiB: "), "{error}");
}

#[test]
fn nothing_comes_after_an_error() {
    let mut reader = Reader::new("f", &b"1 qid:1 1:2\n1 qid:2 1:2\nx\n1 qid:3 1:2\n"[..]);
    assert_eq!(reader.next().unwrap().unwrap().id(), "1");
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

#[test]
fn a_missing_file_is_an_error() {
    let error = read_file(Path::new("no/such/file.txt")).unwrap_err();
    assert!(error.to_string().starts_with("no/such/file.txt: cannot be read: "), "{error}");
}

quickcheck! {
    /// Any bytes, plain and as gzip.
    fn no_bytes_make_it_panic(bytes: Vec<u8>) -> bool {
        let _ = read(&bytes);
        let _ = read(&[&b"\x1f\x8b"[..], &bytes].concat());
        true
    }

    /// A valid file with one byte changed is read, or rejected with an error that names a place in
    /// it.
    fn no_changed_byte_makes_it_panic(at: usize, byte: u8) -> bool {
        let mut bytes = GOOD.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        match read(&bytes) {
            Ok(queries) => !queries.is_empty(),
            Err(error) => error.line().is_some_and(|line| line <= 5) && error.column().is_some(),
        }
    }
}

/// Heavily damaged files: tokens of the format in any order. Queries that are read survive writing
/// and reading again.
#[test]
fn written_queries_are_read_back_unchanged() {
    const TOKENS: [&str; 20] = [
        "1",
        "0",
        " ",
        "\t",
        "qid:",
        "a",
        "\u{e9}",
        ":",
        "1:",
        "2:0.5",
        "\n",
        "\r",
        "#",
        "-0.0",
        "1e308",
        "4096:",
        " 3:1e-320",
        "\u{a0}",
        "0 qid:7 1:1\n",
        "2 qid:8 ",
    ];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut read_whole = 0;
    for _ in 0..200_000 {
        let n_tokens = rng.random_range(1..8);
        let text: String = (0..n_tokens).map(|_| TOKENS[rng.random_range(0..TOKENS.len())]).collect();
        match read(text.as_bytes()) {
            Ok(queries) => {
                let mut written = Vec::new();
                write(&queries, &mut written).unwrap();
                assert_eq!(read(&written).unwrap(), queries, "{text:?}");
                read_whole += 1;
            }
            Err(error) => {
                let lines = text.lines().count() + 1;
                assert!(
                    error.is_about_whole_file() || error.line().is_some_and(|line| line <= lines),
                    "{error}"
                );
            }
        }
    }
    assert!(read_whole > 5_000, "{read_whole}");
}

/// Programs that print fewer digits write the largest number as one above it.
#[test]
fn the_largest_number_rounded_up_is_read() {
    let text = "2 qid:1 1:1.79769313486232e+308 2:-1.8E308\n0 qid:1 1:1.797693134862316e308 2:17.98e307\n";
    let queries: Vec<Query> = Reader::new("f", text.as_bytes()).collect::<Result<_, _>>().unwrap();
    for (document, second) in [(0, -f64::MAX), (1, f64::MAX)] {
        assert_eq!([0, 1].map(|feature| queries[0].feature(document, feature)), [f64::MAX, second]);
    }
    for value in ["1.81e308", "1e309", "-1e999", "inf", "infinity", "1.7e+999999999999", "e308"] {
        let text = format!("2 qid:1 1:{value}\n");
        assert!(Reader::new("f", text.as_bytes()).next().unwrap().is_err(), "{value}");
    }
}
