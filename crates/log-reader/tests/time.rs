//! Times in every spelling and type.

use log_reader::time::{MILLISECONDS_OF_A_DAY, date, milliseconds};
use log_reader::{Fault, Value};

fn of_text(text: &str) -> Option<i64> {
    milliseconds(Value::Text(text.as_bytes())).ok()
}

#[test]
fn times_are_read_and_dates_written() {
    for (text, expected) in [
        ("1970-01-01", Some(0)),
        ("1970-01-02T00:00:01.5Z", Some(86_401_500)),
        ("2026-03-02 10:00:01+01:00", Some(1_772_442_001_000)),
        ("2026-03-02T10:00-0530", Some(1_772_465_400_000)),
        ("2026-03-02 10:00:01.123456+01", Some(1_772_442_001_123)),
        ("2026-03-02 09:00:01 UTC", Some(1_772_442_001_000)),
        ("2026-03-02 10:00:01 +0100", Some(1_772_442_001_000)),
        ("2024-02-29", Some(1_709_164_800_000)),
        ("2023-02-29", None),
        ("2026-13-01", None),
        ("2026-03-02T25:00", None),
        ("yesterday", None),
    ] {
        assert_eq!(of_text(text), expected, "{text}");
    }
    for (number, expected) in
        [(1, 86_400_000), (1_772_442_001, 1_772_442_001_000), (1_772_442_001_000, 1_772_442_001_000)]
    {
        assert_eq!(milliseconds(Value::Number(number)), Ok(expected));
    }
    // One instant in every spelling and type.
    let seconds = 1_772_442_001_i64;
    for value in [
        Value::Fraction(1_772_442_001.25),
        Value::Text(b"1772442001.25"),
        Value::Text(b"1.77244200125e9"),
        Value::Text(b"1772442001250"),
        Value::Text(b"2026-03-02T09:00:01.25Z"),
        Value::Number(1_772_442_001_250_000),
        Value::Number(1_772_442_001_250_000_000),
        Value::Time(seconds * 1000 + 250, 86_400_000),
        Value::Time(seconds * 1_000_000 + 250_000, 86_400_000_000),
        Value::Time(seconds * 1_000_000_000 + 250_000_000, 86_400_000_000_000),
    ] {
        assert_eq!(milliseconds(value), Ok(seconds * 1000 + 250), "{value:?}");
    }
    // The digits of a date are no seconds, in every type; nor are digits near it a time.
    let (day, at) = (of_text("2026-11-28"), of_text("2026-11-28T10:30:05"));
    for value in [
        Value::Number(20_261_128),
        Value::Text(b"20261128"),
        Value::from(20_261_128.0),
        Value::Text(b"20261128.0"),
    ] {
        assert_eq!(milliseconds(value).ok(), day, "{value:?}");
    }
    assert_eq!(of_text("20261128103005"), at);
    assert_eq!(of_text("202611281030"), at.map(|at| at - 5_000));
    for text in ["20261328", "20261131", "20260000", "20261128.5", "20261128250000", "202611281060"] {
        assert_eq!(milliseconds(Value::from(text)), Err(Fault::NotATime), "{text}");
    }
    // Typed columns know their unit, so small and negative numbers are times too.
    assert_eq!(milliseconds(Value::Time(-1, 1)), Ok(-MILLISECONDS_OF_A_DAY));
    assert_eq!(milliseconds(Value::Time(-1, 86_400_000_000)), Ok(-1));
    assert_eq!(milliseconds(Value::Time(3, 86_400)), Ok(3000));
    for text in ["inf", "nan", "-1", "1e300", "2026-03-02T10:00+1", "UTC"] {
        assert_eq!(milliseconds(Value::from(text)), Err(Fault::NotATime), "{text}");
    }
    for day in -800..40_000 {
        assert_eq!(of_text(&date(day)), Some(day * MILLISECONDS_OF_A_DAY));
    }
}
