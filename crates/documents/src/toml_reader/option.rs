//! Options of a command line whose types are those of files.

use super::typed::{schema, words};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::str::FromStr;

/// Parses the option that is the field `name` of a `T`: its range is that of the field.
///
/// # Errors
///
/// The parser returns what is expected, in words.
pub fn option<T: JsonSchema, V: FromStr + Serialize>(
    name: &'static str,
) -> impl Fn(&str) -> Result<V, String> + Clone {
    move |text| {
        let schema = &schema::<T>()["properties"][name];
        let limit = |limit: &str| schema[limit].as_f64();
        let number = |value: &V| serde_json::to_value(value).as_ref().ok().and_then(Value::as_f64);
        let is_inside = |value: &V| {
            number(value).is_some_and(|number| {
                limit("minimum").is_none_or(|least| number >= least)
                    && limit("maximum").is_none_or(|most| number <= most)
            })
        };
        let found = text.parse().ok().filter(is_inside);
        found.ok_or_else(|| {
            let mut schema = schema.clone();
            // The largest number of a file is not said: no file has a larger one.
            if schema["type"] == "integer" && schema["maximum"].is_null() {
                schema["maximum"] = u64::MAX.into();
            }
            format!("expected {}", words(&schema))
        })
    }
}
