//! The types that a value of a TOML file can be read as.

use super::{Error, Field, Table, collect};
use confidence::Probability;
use toml::Spanned;
use toml::de::DeValue;

/// A type that can be read from a value of a TOML file.
pub trait FromToml<'doc>: Sized {
    /// The expected value, for messages: "an integer".
    fn expected() -> String;

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// The value is of another type, or out of range.
    fn from_toml(field: &Field<'doc>) -> Result<Self, Error>;
}

impl<'doc> FromToml<'doc> for Field<'doc> {
    fn expected() -> String {
        "a value".to_owned()
    }

    fn from_toml(field: &Field<'doc>) -> Result<Self, Error> {
        Ok(field.clone())
    }
}

impl<'doc, T: FromToml<'doc>> FromToml<'doc> for Vec<T> {
    fn expected() -> String {
        format!("an array, each entry {}", T::expected())
    }

    fn from_toml(field: &Field<'doc>) -> Result<Self, Error> {
        let DeValue::Array(entries) = field.value.get_ref() else {
            return Err(field.wrong_type(&Self::expected()));
        };
        let entry = |(index, value): (usize, &'doc Spanned<DeValue<'doc>>)| {
            let path = format!("{}[{index}]", field.path);
            T::from_toml(&Field { source: field.source, value, path })
        };
        collect(entries.iter().enumerate().map(entry))
    }
}

impl<'doc> FromToml<'doc> for Probability {
    fn expected() -> String {
        "a number from 0 to 1".to_owned()
    }

    fn from_toml(field: &Field<'doc>) -> Result<Self, Error> {
        let refused = || {
            let message = format!("{} is not a probability: expected {}", field.describe(), Self::expected());
            field.error(message)
        };
        let value: f64 = field.get().map_err(|_| refused())?;
        Self::new(value).map_err(|_| refused())
    }
}

/// Types that a few kinds of values can be read as; the others are refused.
macro_rules! from_values {
    ($($Type:ty, $expected:literal: |$field:ident| { $($value:pat => $read:expr,)+ })+) => {$(
        impl<'doc> FromToml<'doc> for $Type {
            fn expected() -> String {
                $expected.to_owned()
            }

            fn from_toml($field: &Field<'doc>) -> Result<Self, Error> {
                match $field.value.get_ref() {
                    $($value => $read,)+
                    _ => Err($field.wrong_type($expected)),
                }
            }
        }
    )+};
}
from_values! {
    bool, "true or false": |field| { DeValue::Boolean(flag) => Ok(*flag), }
    String, "a string": |field| { DeValue::String(text) => Ok(text.clone().into_owned()), }
    Table<'doc>, "a table": |field| {
        DeValue::Table(entries) => {
            Ok(Self::new(field.source, entries, field.value.span(), field.path.clone()))
        },
    }
    u64, "an integer": |field| {
        DeValue::Integer(number) => Self::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let message = if number.as_str().starts_with('-') {
                format!("{number} is negative: expected an integer of at least 0")
            } else {
                format!("{number} is too large: expected an integer of at most {}", Self::MAX)
            };
            field.error(message)
        }),
        DeValue::Float(number) => Err(field.error(format!(
            "{number} is not an integer: expected whole digits without point or exponent, as in 100_000"
        ))),
    }
    f64, "a number": |field| {
        DeValue::Float(number) => finite(field, number.as_str().parse().unwrap_or(f64::NAN)),
        // An integer of more than 128 bits counts as infinite.
        DeValue::Integer(number) => finite(
            field,
            i128::from_str_radix(number.as_str(), number.radix()).map_or(f64::INFINITY, |number| number as Self),
        ),
    }
}

fn finite(field: &Field<'_>, value: f64) -> Result<f64, Error> {
    let fault = || field.error(format!("{} is not allowed: expected a finite number", field.describe()));
    if value.is_finite() { Ok(value) } else { Err(fault()) }
}
