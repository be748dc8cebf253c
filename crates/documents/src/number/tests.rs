use super::*;

#[test]
fn digits_are_grouped_in_threes() {
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(1_000), "1,000");
    assert_eq!(grouped(1_228_004), "1,228,004");
    assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
}

#[test]
fn nouns_are_plural_unless_the_count_is_one() {
    let texts = [(0, "run"), (1, "run"), (1, "query"), (1000, "query"), (203, "day"), (2, "key")]
        .map(|(n, one)| counted(n, one));
    assert_eq!(texts, ["0 runs", "1 run", "1 query", "1,000 queries", "203 days", "2 keys"]);
}

#[test]
fn negative_zero_and_infinite_numbers_are_written_for_readers() {
    assert_eq!(fixed(-1234.56, 1), "−1,234.6");
    assert_eq!(fixed(-0.001, 1), "0.0");
    assert_eq!(fixed(f64::NAN, 1), "–");
    assert_eq!(fixed(f64::NEG_INFINITY, 1), "−∞");
    assert_eq!(fixed(3e18, 0), "3.00e18");
}

#[test]
fn the_standard_error_decides_how_many_decimals_are_shown() {
    assert_eq!(with_error(123.456, 0.78), "123.46 ± 0.78");
    assert_eq!(with_error(123.456, 7.8), "123.5 ± 7.8");
    assert_eq!(with_error(123_456.0, 780.0), "123,456 ± 780");
    assert_eq!(with_error(0.0, 0.0), "0 ± 0");
    assert_eq!(significant(0.012_345, 3), "0.0123");
    assert_eq!((significant(99.94, 3), significant(99.96, 3)), ("99.9".to_owned(), "100".to_owned()));
    assert_eq!((significant(9.996, 3), significant(0.099_96, 3)), ("10.0".to_owned(), "0.100".to_owned()));
    assert_eq!(beside(41.689, 5.6), "41.7");
    assert_eq!(with_error(41.689, 5.6), "41.7 ± 5.6");
    assert_eq!(with_error(41.689, 0.0), "41.69 ± 0");
    assert_eq!(with_error(41.689, f64::NAN), "41.69");
}

#[test]
fn an_error_that_is_only_rounding_is_none_and_shows_no_rounding_of_the_mean() {
    let sum = 6_899.999_999_999_998;
    for se in [0.0, 5e-324, 9e-13, 6e-12] {
        assert_eq!((with_error(sum, se), beside(sum, se)), ("6,900 ± 0".to_owned(), "6,900".to_owned()));
    }
    assert_eq!(with_error(-0.3, 5e-17), "−0.3000 ± 0");
    assert_eq!(with_error(1.0, 4.5e-12), "1.000 ± 0");
    assert_eq!(with_error(100_000_000.0, 0.12), "100,000,000.00 ± 0.12");
    assert_eq!(beside(0.0, 1e-300), "0");
}

#[test]
fn errors_of_any_size_give_readable_numbers() {
    assert_eq!(with_error(12.345, f64::NAN), "12.35");
    assert_eq!(with_error(f64::NAN, f64::NAN), "–");
    assert_eq!(with_error(12.345, f64::INFINITY), "12.35 ± ∞");
    assert_eq!(with_error(12.345, 4e17), "12 ± 4.00e17");
    assert_eq!(with_error(3e20, 4e18), "3.00e20 ± 4.00e18");
    // Too small for decimals.
    assert_eq!(with_error(3.21e-13, 1.2e-14), "3.210e−13 ± 1.2e−14");
    assert_eq!(with_error(0.0, 2e-300), "0 ± 2.0e−300");
    assert_eq!(
        (significant(-4.56e-12, 2), significant(5e-324, 4)),
        ("−4.6e−12".to_owned(), "4.941e−324".to_owned())
    );
    assert_eq!(
        (significant(4.56e-11, 2), significant(0.0, 4)),
        ("0.000000000046".to_owned(), "0".to_owned())
    );
}
