//! Times of rows: ISO 8601, or a number since 1970.

use super::MILLISECONDS_OF_A_DAY;
use click_logs::{Fault, Value};

/// Smaller numbers are days; larger ones are seconds, and from the second on milliseconds, from the
/// third on microseconds, from the fourth on nanoseconds.
const NUMBERS: [i64; 4] = [100_000, 100_000_000_000, 100_000_000_000_000, 100_000_000_000_000_000];

/// Milliseconds since 1970-01-01 in UTC.
pub(super) fn milliseconds(value: Value<'_>) -> Result<i64, Fault> {
    match value {
        Value::Missing | Value::Text(b"") => Err(Fault::Empty),
        Value::Number(number) => of_number(i64::try_from(number).map_err(|_| Fault::NotATime)?),
        Value::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| Fault::NotATime)?;
            of_text(text).or_else(|| of_number(text.parse().ok()?).ok()).ok_or(Fault::NotATime)
        }
        _ => Err(Fault::NotATime),
    }
}

fn of_number(number: i64) -> Result<i64, Fault> {
    match NUMBERS.iter().filter(|&&from| number >= from).count() {
        _ if number < 0 => Err(Fault::NotATime),
        0 => Ok(number * MILLISECONDS_OF_A_DAY),
        1 => Ok(number * 1000),
        2 => Ok(number),
        3 => Ok(number / 1000),
        _ => Ok(number / 1_000_000),
    }
}

/// `2026-03-02`, perhaps with `T10:00`, seconds, a fraction of them, and `Z` or an offset.
fn of_text(text: &str) -> Option<i64> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
    let (date, time) = text.split_at_checked(10)?;
    let [year, month, day] = date.split('-').map(number).collect::<Option<Vec<_>>>()?.try_into().ok()?;
    if !(1..=12).contains(&month) || !(1..=days_of_month(year, month)).contains(&day) {
        return None;
    }
    let midnight = days_from_civil(year, month, day) * MILLISECONDS_OF_A_DAY;
    if time.is_empty() {
        return Some(midnight);
    }
    let time = time.strip_prefix(['T', 't', ' '])?;
    let clock = |text: &str| -> Option<i64> {
        let (hour, minute) = (number(text.get(..2)?)?, number(text.get(text.len() - 2..)?)?);
        let is_clock = matches!(text.len(), 4 | 5) && (text.len() == 4 || text.as_bytes()[2] == b':');
        (is_clock && hour < 24 && minute < 60).then_some(60 * hour + minute)
    };
    let end = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(end);
    let offset = match zone.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [b'+', ..] => clock(&zone[1..])?,
        [b'-', ..] => -clock(&zone[1..])?,
        _ => return None,
    };
    let minutes = clock(time.get(..5)?)?;
    let milliseconds = match time.get(5..)?.strip_prefix(':') {
        None if time.len() == 5 => 0,
        None => return None,
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
            if whole.len() != 2 || number(whole)? > 60 || fraction.is_empty() {
                return None;
            }
            number(fraction)?;
            1000 * number(whole)? + number(&format!("{fraction:0<3}")[..3])?
        }
    };
    Some(midnight + (minutes - offset) * 60_000 + milliseconds)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_from_civil(next, month, 1) - days_from_civil(year, if month == 1 { 12 } else { month - 1 }, 1)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469
}

/// The date of a day since 1970-01-01, as `2026-03-02`.
pub(super) fn date(day: i64) -> String {
    let year_of = |year: i64| days_from_civil(year, 1, 1);
    let mut year = 1970 + day.div_euclid(365).min(day.div_euclid(366));
    while year_of(year + 1) <= day {
        year += 1;
    }
    let month = (1..=12).rev().find(|&month| days_from_civil(year, month, 1) <= day).unwrap_or(1);
    format!("{year:04}-{month:02}-{:02}", day - days_from_civil(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_dates_written() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("1970-01-02T00:00:01.5Z", Some(86_401_500)),
            ("2026-03-02 10:00:01+01:00", Some(1_772_442_001_000)),
            ("2026-03-02T10:00-0530", Some(1_772_465_400_000)),
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
        for day in -800..40_000 {
            assert_eq!(of_text(&date(day)), Some(day * MILLISECONDS_OF_A_DAY));
        }
    }
}
