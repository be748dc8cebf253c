//! Conversions between kinds of numbers.

/// A count as a floating point number, exact below 2^53.
///
/// Through a signed integer: one instruction on baseline x86-64, and five for an unsigned one.
pub(crate) fn float(count: u64) -> f64 {
    #[expect(clippy::cast_possible_wrap, reason = "no run is long enough to count to 2^63")]
    let signed = count as i64;
    signed as f64
}

/// The number of an item, a cell, or a pair that a policy of the catalogue tells apart: all are
/// numbered by 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "below 2^32, as shapes and limits are")]
pub(crate) fn number(place: usize) -> u32 {
    place as u32
}
