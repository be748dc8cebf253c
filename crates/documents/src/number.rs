//! Numbers for readers: digits in groups of three, and only as many decimals as carry meaning.

use itertools::Itertools as _;
use num_traits::ToPrimitive as _;
use std::fmt::Display;

/// A count with its digits in groups of three: `1,228,004`.
pub fn grouped(count: u64) -> String {
    group_digits(&count.to_string())
}

/// A count and what is counted, in the plural unless it is one: `1 run`, `1,000 queries`.
pub fn counted(count: u64, one: &str) -> String {
    format!("{} {}", grouped(count), noun(count, one))
}

/// The first `most` of some things, and the number of the others.
pub fn first_of(all: impl ExactSizeIterator<Item: Display>, most: usize) -> String {
    let others = all.len().saturating_sub(most);
    let shown = all.take(most).join(", ");
    if others > 0 { format!("{shown} and {others} more") } else { shown }
}

/// The counted noun, in the plural unless the count is one; a y after a vowel stays.
pub fn noun(count: u64, one: &str) -> String {
    match one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o'])) {
        _ if count == 1 => one.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{one}s"),
    }
}

/// A number with a fixed count of decimals, grouped digits, and a true minus sign.
///
/// From 10¹⁵ on the digits would not be exact, so the number is written with a power of ten.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "–".to_owned()
        } else if value > 0.0 {
            "∞".to_owned()
        } else {
            "−∞".to_owned()
        };
    }
    if value.abs() >= 1e15 {
        return format!("{value:.2e}").replace('-', "−");
    }
    let digits = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let is_zero = digits.bytes().all(|byte| byte == b'0' || byte == b'.');
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", group_digits(whole))
}

/// The most decimals that are shown. A smaller number is written with a power of ten.
const MOST_DECIMALS: i32 = 12;

/// A number with at least `digits` significant digits; digits before the point are always kept:
/// `1,234`, `12.3`, `0.0123`.
pub fn significant(value: f64, digits: i32) -> String {
    let decimals = decimals_for(value, digits);
    if decimals > MOST_DECIMALS {
        let places = usize::try_from(digits - 1).unwrap_or(0);
        return format!("{value:.places$e}").replace('-', "−");
    }
    fixed(value, usize::try_from(decimals).unwrap_or(0))
}

/// `mean ± se`, both rounded so that the standard error has two significant digits; the mean alone
/// if the error is not known (NaN).
pub fn with_error(mean: f64, se: f64) -> String {
    let alone = beside(mean, se);
    match se {
        se if se.is_nan() => alone,
        se if is_rounding(se, mean) => format!("{alone} ± 0"),
        se => format!("{alone} ± {}", significant(se, 2)),
    }
}

/// A number with as many decimals as [`with_error`] gives to a mean with this standard error.
pub fn beside(value: f64, se: f64) -> String {
    let decimals = decimals_for(se, 2);
    if !se.is_finite() || is_rounding(se, value) || decimals > MOST_DECIMALS {
        return significant(value, 4);
    }
    fixed(value, usize::try_from(decimals).unwrap_or(0))
}

/// Returns whether a standard error is nothing but what sums of such values lose by rounding: the
/// value is the same in every run.
pub fn is_rounding(se: f64, value: f64) -> bool {
    se <= 1e-9 * value.abs()
}

/// The number of decimals that shows `value` with `digits` significant digits.
fn decimals_for(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // The decimal exponent of an f64 is within ±324.
    let exponent = libm::floor(libm::log10(value.abs())).to_i32().unwrap_or(0);
    let decimals = (digits - 1 - exponent).max(0);
    // Rounding may carry: with three digits 99.96 is 100, with one more digit before the point.
    let unit = libm::exp10(f64::from(decimals));
    let carried = libm::round(value.abs() * unit) >= libm::exp10(f64::from(exponent + 1)) * unit;
    decimals - i32::from(carried && decimals > 0)
}

fn group_digits(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests;
