//! Numbers of columns.

use super::*;

/// Eight bytes at a time and one by one give the same numbers for any content.
#[test]
fn eight_at_a_time_is_one_by_one() {
    #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands values over")]
    fn same(bytes: Vec<u8>, start: usize, len: usize) -> bool {
        // Few different bytes, so that numbers occur.
        let line: Vec<u8> =
            bytes.iter().map(|byte| b"0123456789\t\n-/:\xb9"[usize::from(byte % 16)]).collect();
        let start = start % (line.len() + 1);
        let end = (start + len % 24).min(line.len());
        number_in(&line, start, end) == number(&line[start..end])
    }
    quickcheck::QuickCheck::new()
        .tests(100_000)
        .max_tests(100_000)
        .quickcheck(same as fn(Vec<u8>, usize, usize) -> bool);
}

#[test]
fn numbers_are_digits() {
    for (text, expected) in [
        ("0", Ok(0)),
        ("007", Ok(7)),
        ("12345678", Ok(12_345_678)),
        ("9999999999999999999", Ok(9_999_999_999_999_999_999)),
        ("18446744073709551615", Ok(u64::MAX)),
        ("00000000000000000000000000000001", Ok(1)),
        ("18446744073709551616", Err(Fault::TooLarge { max: u64::MAX })),
        ("", Err(Fault::Empty)),
        ("-1", Err(Fault::Negative)),
        ("-0", Ok(0)),
        ("-0000000000000000000000000", Ok(0)),
        ("-00000000000000000000000001", Err(Fault::Negative)),
        ("-", Err(Fault::NotANumber)),
        ("+1", Err(Fault::NotANumber)),
        ("1.0", Err(Fault::NotANumber)),
        (" 1", Err(Fault::NotANumber)),
        ("1e3", Err(Fault::NotANumber)),
        ("nan", Err(Fault::NotANumber)),
    ] {
        assert_eq!(number(text.as_bytes()), expected, "{text}");
        assert_eq!(number_in(format!("{text}\t00000000").as_bytes(), 0, text.len()), expected, "{text}");
    }
    for (text, expected) in [
        ("3.0", Ok(3)),
        ("3,00", Ok(3)),
        ("0.0000", Ok(0)),
        ("7", Ok(7)),
        ("3.000", Err(Fault::NotANumber)),
        ("3.5", Err(Fault::NotANumber)),
        ("3.", Err(Fault::NotANumber)),
        (".0", Err(Fault::NotANumber)),
        ("1.0.0", Err(Fault::NotANumber)),
        ("-3.0", Err(Fault::Negative)),
        ("-0.0", Ok(0)),
        ("-0,00", Ok(0)),
        ("-0.5", Err(Fault::NotANumber)),
        ("", Err(Fault::Empty)),
    ] {
        assert_eq!(table_number(text.as_bytes()), expected, "{text}");
    }
    assert_eq!(["True", "false", "TRUE"].map(|text| table_clicks(text.as_bytes())), [Ok(1), Ok(0), Ok(1)]);
    assert_eq!(table_clicks(b"yes"), Err(Fault::NotAClick));
    assert_eq!(table_clicks(b"0.5"), Err(Fault::NotANumber));
    assert_eq!(count(b"1099511627775"), Ok(MAX_COUNT));
    assert_eq!(count(b"1099511627776"), Err(Fault::TooLarge { max: MAX_COUNT }));
}
