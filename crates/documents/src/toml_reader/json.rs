//! TOML as JSON, as editors see it that check a file by its schema.

use super::Document;
use crate::names::quoted;
use itertools::Itertools as _;
use serde_json::{Number, Value};
use toml::de::{DeInteger, DeTable, DeValue};

impl Document<'_> {
    /// The document as JSON, which has one kind of numbers: `1e5` becomes the same as `100000`.
    /// Values that JSON lacks become `null` (`nan` and `inf`), a string (dates), or the nearest
    /// floating-point number (integers of more than 64 bits).
    pub fn to_json(&self) -> Value {
        of_table(&self.root)
    }
}

/// A JSON value as TOML on one line.
pub fn inline(value: &Value) -> String {
    match value {
        // The shortest digits that read back as the same number, with a point or an exponent.
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or_default()),
        Value::String(text) => quoted(text),
        Value::Array(entries) => format!("[{}]", entries.iter().map(inline).join(", ")),
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| format!("{key} = {}", inline(value));
            format!("{{ {} }}", entries.iter().map(entry).join(", "))
        }
        other => other.to_string(),
    }
}

fn of_table(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        (key.clone().into_owned(), of_value(value.get_ref()))
    };
    Value::Object(table.iter().map(entry).collect())
}

fn of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => of_integer(number),
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Null, of_number),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(moment) => Value::from(moment.to_string()),
        DeValue::Array(entries) => entries.iter().map(|entry| of_value(entry.get_ref())).collect(),
        DeValue::Table(table) => of_table(table),
    }
}

fn of_integer(number: &DeInteger<'_>) -> Value {
    let (digits, radix) = (number.as_str(), number.radix());
    let signed = i64::from_str_radix(digits, radix).map(Value::from);
    let unsigned = || u64::from_str_radix(digits, radix).map(Value::from);
    let wide = || i128::from_str_radix(digits, radix).map(|number| of_number(number as f64));
    signed.or_else(|_| unsigned()).or_else(|_| wide()).unwrap_or_else(|_| of_number(f64::INFINITY))
}

/// A number as `null` if it is not finite. A whole number is written without a point.
fn of_number(number: f64) -> Value {
    let whole = num_traits::ToPrimitive::to_i64(&number).filter(|whole| *whole as f64 == number);
    whole.map_or_else(|| Number::from_f64(number).map_or(Value::Null, Value::Number), Value::from)
}

#[cfg(test)]
mod tests;
