//! Times of rows: ISO 8601, a time of a typed column, a number since 1970, or the digits of a date.

use crate::fault::Fault;
use crate::read::Value;
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
    let (day, clock) = (number / unit, number % unit * (UNITS_OF_DATES[2] / unit));
    let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100);
    let is_clock = hour < 24 && minute < 60 && second <= 60;
    let midnight = is_clock.then(|| midnight(day / 10_000, day / 100 % 100, day % 100))?;
    Some(midnight? + 1000 * (3600 * hour + 60 * minute + second))
}

/// The time at which a day of the calendar begins; `None` if there is no such day.
fn midnight(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_day = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    is_day.then(|| days_from_civil(year, month, day) * MILLISECONDS_OF_A_DAY)
}

/// The ticks of a day, by the size of a number.
fn ticks_of_day(number: f64) -> Option<i64> {
    let powers = NUMBERS.iter().filter(|&&from| number >= from).count();
    (number >= 0.0).then_some([1, 86_400, 86_400_000, 86_400_000_000, 86_400_000_000_000][powers])
}

/// `2026-03-02`, perhaps with `T10:00`, seconds, a fraction of them, and `Z` or an offset.
fn of_text(text: &str) -> Option<i64> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
    let (date, time) = text.split_at_checked(10)?;
    let [year, month, day] = date.split('-').map(number).collect::<Option<Vec<_>>>()?.try_into().ok()?;
    let midnight = midnight(year, month, day)?;
    if time.is_empty() {
        return Some(midnight);
    }
    let time = time.strip_prefix(['T', 't', ' '])?;
    let clock = |text: &str| -> Option<i64> {
        // PostgreSQL writes offsets of whole hours so.
        if text.len() == 2 {
            return number(text).filter(|hour| *hour < 24).map(|hour| 60 * hour);
        }
        let (hour, minute) = (number(text.get(..2)?)?, number(text.get(text.len() - 2..)?)?);
        let is_clock = matches!(text.len(), 4 | 5) && (text.len() == 4 || text.as_bytes()[2] == b':');
        (is_clock && hour < 24 && minute < 60).then_some(60 * hour + minute)
    };
    let time = time.strip_suffix("UTC").unwrap_or(time);
    let end = time.find(['Z', 'z', '+', '-', ' ']).unwrap_or(time.len());
    let (time, zone) = time.split_at(end);
    let zone = zone.strip_prefix(' ').unwrap_or(zone);
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
pub fn date(day: i64) -> String {
    let year_of = |year: i64| days_from_civil(year, 1, 1);
    let mut year = 1970 + day.div_euclid(365).min(day.div_euclid(366));
    while year_of(year + 1) <= day {
        year += 1;
    }
    let month = (1..=12).rev().find(|&month| days_from_civil(year, month, 1) <= day).unwrap_or(1);
    format!("{year:04}-{month:02}-{:02}", day - days_from_civil(year, month, 1) + 1)
}
