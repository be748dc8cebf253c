//! Numbers in columns, parsed eight bytes at a time: digits, or a negative zero.

#[cfg(test)]
#[path = "fields/tests.rs"]
mod tests;

use crate::fault::Fault;

/// Clicks and impressions of a line and of a cell are below this number.
pub(crate) const MAX_COUNT: u64 = (1 << 40) - 1;
/// Largest number of positions of a list, as in [`click_models::Clicks`].
pub(crate) const MAX_POSITIONS: u64 = 64;

/// Parses a 64-bit number.
#[inline]
pub(crate) fn number(text: &[u8]) -> Result<u64, Fault> {
    // Any number of up to 19 digits fits.
    if text.is_empty() || text.len() > 19 {
        return long_number(text);
    }
    digits(text).map_or_else(|| other_than_digits(text), Ok)
}

/// The number of up to 19 digits, if the text has nothing else.
#[inline]
pub(crate) fn digits(text: &[u8]) -> Option<u64> {
    if let &[byte] = text {
        let digit = byte.wrapping_sub(b'0');
        return (digit <= 9).then_some(digit.into());
    }
    if let (4..=8, Some(&first), Some(&last)) = (text.len(), text.first_chunk(), text.last_chunk()) {
        // The bytes in the middle are in both, at the same place.
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(four)));
        return of_up_to_8(first | last << (8 * (text.len() - 4)), text.len());
    }
    if let (len @ 2..=3, &[first, ..], &[.., last]) = (text.len(), text, text) {
        // So are these: no branch depends on the length.
        let [middle, last] =
            [(text[len / 2], len / 2), (last, len - 1)].map(|(byte, place)| u64::from(byte) << (8 * place));
        return of_up_to_8(u64::from(first) | middle | last, len);
    }
    let mut number = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// The number of the `len` lowest bytes, 1 to 8 digits, the first in the lowest byte.
#[inline]
fn of_up_to_8(text: u64, len: usize) -> Option<u64> {
    // Digits with zeros in front; bytes after the number are shifted out.
    let digits = (text ^ (u64::from(b'0') * ONES)) << (64 - 8 * len);
    if (digits.wrapping_add(0x76 * ONES) | digits) & HIGH_BITS != 0 {
        return None;
    }
    // Combines neighbours into pairs, fours and eights. The first digit is in the lowest byte.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x80 * ONES;

/// The high bits of the bytes that are this one.
pub(crate) fn high_bits_of(bytes: u64, byte: u8) -> u64 {
    const LOW_BITS: u64 = 0x7f * ONES;
    // The byte is a zero now; the addition leaves only the high bit of a zero byte clear.
    let zeros = bytes ^ (u64::from(byte) * ONES);
    !(((zeros & LOW_BITS) + LOW_BITS) | zeros | LOW_BITS)
}

/// Moves the high bits of eight bytes next to each other.
pub(crate) fn in_lowest_bits(high_bits: u64) -> u64 {
    (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The number from `start` to `end` of a line; accepts the same as [`number`].
pub(crate) fn number_in(line: &[u8], start: usize, end: usize) -> Result<u64, Fault> {
    digits_in(line, start, end).map_or_else(|| number(&line[start..end]), Ok)
}

/// The number from `start` to `end` of a line, if it is written in up to eight digits.
#[inline]
pub(crate) fn digits_in(line: &[u8], start: usize, end: usize) -> Option<u64> {
    let len = end - start;
    if len == 1 {
        let digit = line[start].wrapping_sub(b'0');
        return (digit <= 9).then_some(digit.into());
    }
    let eight = line[start..].first_chunk().filter(|_| (2..=8).contains(&len))?;
    of_up_to_8(u64::from_le_bytes(*eight), len)
}

#[cold]
fn long_number(text: &[u8]) -> Result<u64, Fault> {
    if text.is_empty() {
        return Err(Fault::Empty);
    }
    if !text.iter().all(u8::is_ascii_digit) {
        return other_than_digits(text);
    }
    let number = std::str::from_utf8(text).ok().and_then(|digits| digits.parse().ok());
    number.ok_or(Fault::TooLarge { max: u64::MAX })
}

#[cold]
fn other_than_digits(text: &[u8]) -> Result<u64, Fault> {
    match text {
        // Programs that count in floating point write a sum of nothing so.
        [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(|&byte| byte == b'0') => Ok(0),
        [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            Err(Fault::Negative)
        }
        _ => Err(Fault::NotANumber),
    }
}

/// A number in a table. A fraction of zeros may follow (`3.0`; a German spreadsheet writes `3,0`),
/// but not three zeros, since `3.000` may mean three thousand.
#[inline]
pub(crate) fn table_number(text: &[u8]) -> Result<u64, Fault> {
    number(text).or_else(|fault| with_fraction(text).unwrap_or(Err(fault)))
}

#[cold]
fn with_fraction(text: &[u8]) -> Option<Result<u64, Fault>> {
    let point = text.iter().position(|byte| matches!(byte, b'.' | b','))?;
    let zeros = &text[point + 1..];
    let whole = !zeros.is_empty() && zeros.len() != 3 && zeros.iter().all(|&byte| byte == b'0');
    (whole && point > 0).then(|| number(&text[..point]))
}

/// Clicks in a table: a number or a truth value.
#[inline]
pub(crate) fn table_clicks(text: &[u8]) -> Result<u64, Fault> {
    table_number(text).or_else(|fault| {
        truth(text).ok_or(match text {
            [b'A'..=b'Z' | b'a'..=b'z', ..] => Fault::NotAClick,
            _ => fault,
        })
    })
}

#[cold]
fn truth(text: &[u8]) -> Option<u64> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    if is(b"true") { Some(1) } else { is(b"false").then_some(0) }
}

/// A propensity in a table.
pub(crate) fn propensity(text: &[u8]) -> Result<f64, Fault> {
    if text.is_empty() {
        return Err(Fault::Empty);
    }
    decimal(text).ok_or(Fault::NotAPropensity).and_then(check_propensity)
}

/// The largest value of a click.
const MAX_VALUE: f64 = 1e9;

/// A value of a click in a table. `1,234` may be a thousand and more, or little more than 1.
pub(crate) fn value(text: &[u8]) -> Result<f64, Fault> {
    if text.is_empty() {
        return Err(Fault::Empty);
    }
    let is_clear = text.len() < 4 || text[text.len() - 4] != b',';
    decimal(text).filter(|_| is_clear).ok_or(Fault::NotAValue).and_then(check_value)
}

/// The number, if it may be a value.
pub(crate) fn check_value(number: f64) -> Result<f64, Fault> {
    if (0.0..=MAX_VALUE).contains(&number) { Ok(number) } else { Err(Fault::NotAValue) }
}

/// A number; a spreadsheet may write `0,25`.
pub(crate) fn decimal(text: &[u8]) -> Option<f64> {
    let text = str::from_utf8(text).ok()?;
    text.parse().or_else(|_| text.replacen(',', ".", 1).parse()).ok()
}

/// The number, if it may be a propensity.
pub(crate) fn check_propensity(number: f64) -> Result<f64, Fault> {
    if number > 0.0 && number <= 1.0 { Ok(number) } else { Err(Fault::NotAPropensity) }
}

/// A number of clicks or impressions.
pub(crate) fn count(text: &[u8]) -> Result<u64, Fault> {
    number(text).and_then(check_count)
}

/// The number, if it is in the range of clicks and impressions.
pub(crate) fn check_count(count: u64) -> Result<u64, Fault> {
    if count > MAX_COUNT { Err(Fault::TooLarge { max: MAX_COUNT }) } else { Ok(count) }
}
