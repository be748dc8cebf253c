//! Times of rows: ISO 8601, that of the USA with `AM` or `PM`, a time of a typed column, a number
//! since 1970, or the digits of a date.

use crate::fault::Fault;
use crate::read::Value;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use num_traits::ToPrimitive as _;

/// Milliseconds of a day.
pub const MILLISECONDS_OF_A_DAY: i64 = 86_400_000;

/// Smaller numbers are days; larger ones are seconds, and from the second on milliseconds, from the
/// third on microseconds, from the fourth on nanoseconds.
const NUMBERS: [f64; 4] = [1e5, 1e11, 1e14, 1e17];

/// Units of the day in numbers that are the digits of a date, such as 20260302, perhaps with hours
/// and minutes, perhaps with seconds. Since 1970 they would be a few weeks of that year, the year
/// 1976, or one after 2500.
const UNITS_OF_DATES: [i64; 3] = [1, 10_000, 1_000_000];

/// Milliseconds since 1970-01-01 in UTC.
///
/// # Errors
///
/// [`Fault::NotATime`], or [`Fault::Empty`].
pub fn milliseconds(value: Value<'_>) -> Result<i64, Fault> {
    match value {
        Value::Missing | Value::Text(b"") => return Err(Fault::Empty),
        Value::Time(ticks, of_day) => of_ticks(ticks, of_day),
        Value::Number(number) => of_whole(i64::try_from(number).ok()),
        Value::Fraction(number) => of_fraction(number),
        Value::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| Fault::NotATime)?;
            of_text(text).or_else(|| of_whole(text.parse().ok())).or_else(|| of_fraction(text.parse().ok()?))
        }
        _ => None,
    }
    .ok_or(Fault::NotATime)
}

fn of_ticks(ticks: i64, of_day: i64) -> Option<i64> {
    let milliseconds = i128::from(ticks) * i128::from(MILLISECONDS_OF_A_DAY);
    i64::try_from(milliseconds.div_euclid(of_day.into())).ok()
}

/// Nanoseconds are beyond the whole numbers that a float holds.
fn of_whole(number: Option<i64>) -> Option<i64> {
    match unit_of_date(number?) {
        Some(unit) => of_digits(number?, unit),
        None => of_ticks(number?, ticks_of_day(number? as f64)?),
    }
}

fn of_fraction(number: f64) -> Option<i64> {
    match number.floor().to_i64().and_then(|whole| Some((whole, unit_of_date(whole)?))) {
        Some((whole, unit)) => (whole as f64 == number).then(|| of_digits(whole, unit))?,
        None => (number * MILLISECONDS_OF_A_DAY as f64 / ticks_of_day(number)? as f64).floor().to_i64(),
    }
}

/// The unit of the day in a number that begins with a year from 1900 on, and has the digits of a
/// date. Whether it is one is another question.
fn unit_of_date(number: i64) -> Option<i64> {
    UNITS_OF_DATES.into_iter().find(|unit| (19_000_000..22_000_000).contains(&(number / unit)))
}

fn of_digits(number: i64, unit: i64) -> Option<i64> {
    let text = (number * (UNITS_OF_DATES[2] / unit)).to_string();
    Some(NaiveDateTime::parse_from_str(&text, "%Y%m%d%H%M%S").ok()?.and_utc().timestamp_millis())
}

/// The ticks of a day, by the size of a number.
fn ticks_of_day(number: f64) -> Option<i64> {
    let powers = NUMBERS.iter().filter(|&&from| number >= from).count();
    (number >= 0.0).then_some([1, 86_400, 86_400_000, 86_400_000_000, 86_400_000_000_000][powers])
}

/// `2026-03-02`, perhaps with `T10:00`, seconds, a fraction of them, and `Z` or an offset.
fn of_text(text: &str) -> Option<i64> {
    if let Ok(time) = NaiveDateTime::parse_from_str(text, OF_USA) {
        return Some(time.and_utc().timestamp_millis());
    }
    let (date, time) = text.split_at_checked(10).filter(|_| text.as_bytes()[0].is_ascii_digit())?;
    if time.is_empty() {
        let date = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
        return Some(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis());
    }
    let time = time.strip_prefix(['T', 't', ' '])?;
    let time = time.strip_suffix("UTC").unwrap_or(time).trim_end().replace(',', ".").to_uppercase();
    let text = format!("{date}T{time}");
    let local = |form: &str| NaiveDateTime::parse_from_str(&text, form).ok().map(|time| time.and_utc());
    let zoned =
        |form: &str| DateTime::parse_from_str(&text, &format!("{form} %#z")).ok().map(|time| time.to_utc());
    // The usual forms are read without a description of a form.
    let usual = || DateTime::parse_from_rfc3339(&text).ok().map(|time| time.to_utc());
    let usual = || usual().or_else(|| text.parse::<NaiveDateTime>().ok().map(|time| time.and_utc()));
    let found = usual().or_else(|| FORMS.iter().find_map(|form| local(form).or_else(|| zoned(form))));
    found.map(|time| time.timestamp_millis())
}

/// `11/13/2019 8:36:57 AM`: with `AM` or `PM`, the month comes first.
const OF_USA: &str = "%m/%d/%Y %I:%M:%S %p";

/// A date with a time of day. A space stands for any number of them, also none.
const FORMS: [&str; 2] = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f"];

/// The date of a day since 1970-01-01, as `2026-03-02`.
pub fn date(day: i64) -> String {
    let midnight = DateTime::from_timestamp_millis(day.saturating_mul(MILLISECONDS_OF_A_DAY));
    midnight.map_or_else(|| format!("day {day}"), |midnight| midnight.format("%Y-%m-%d").to_string())
}
