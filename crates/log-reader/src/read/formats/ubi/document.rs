//! The fields of queries and events that are read.

use crate::fault::Fault;
use crate::names::Id;
use crate::read::line::LineFault;
use serde::de::{Error, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

/// Larger numbers with a fraction or an exponent, and integers of more than 64 bits, lose digits.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// An identifier or a text; a number is its text.
#[derive(Debug, Clone)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                // Beyond, different numbers are read as one.
                if number.abs() > MOST_EXACT {
                    return Err(E::custom("a number with too many digits"));
                }
                Ok(Text(Cow::Owned(number.to_string())))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A query, an event, or a line of a bulk request.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Document<'a> {
    pub(super) application: Option<Text<'a>>,
    pub(super) action_name: Option<Text<'a>>,
    pub(super) query_id: Option<Text<'a>>,
    pub(super) client_id: Option<Text<'a>>,
    pub(super) timestamp: Option<Text<'a>>,
    pub(super) user_query: Option<Text<'a>>,
    pub(super) event_attributes: Option<EventAttributes<'a>>,
    pub(super) query_response_hit_ids: Option<Vec<Text<'a>>>,
    pub(super) query_attributes: Option<QueryAttributes<'a>>,
    /// Of clicks that were counted by configuration, without users.
    pub(super) search_configuration: Option<IgnoredAny>,
    pub(super) count: Option<IgnoredAny>,
    #[serde(rename = "_source")]
    pub(super) source: Option<Box<Document<'a>>>,
    index: Option<IgnoredAny>,
    create: Option<IgnoredAny>,
    update: Option<IgnoredAny>,
    delete: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct EventAttributes<'a> {
    pub(super) object: Option<Object<'a>>,
    pub(super) position: Option<Position<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Object<'a> {
    #[serde(borrow)]
    pub(super) object_id: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Position<'a> {
    #[serde(borrow)]
    pub(super) ordinal: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct QueryAttributes<'a> {
    pub(super) list_propensity: Option<f64>,
    #[serde(borrow)]
    pub(super) stratum: Option<Text<'a>>,
}

/// An impression or a click on an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemEvent {
    pub(super) item: Id,
    pub(super) ordinal: Option<u64>,
    pub(super) is_click: bool,
    pub(super) user: Option<u64>,
    /// Bits of the hash of the application, which decides where ordinals begin.
    pub(super) application: u16,
}

impl Document<'_> {
    /// The document inside `_source`, or this one.
    pub(super) fn opened(&self) -> &Self {
        self.source.as_deref().unwrap_or(self)
    }

    /// Returns whether it is the first line of two in a bulk request.
    pub(super) fn is_bulk(&self) -> bool {
        let is_action =
            [&self.index, &self.create, &self.update, &self.delete].into_iter().any(Option::is_some);
        is_action && self.query_id.is_none()
    }
}

/// The answer of `OpenSearch` to a search of its documents.
#[derive(Deserialize)]
struct Answer<T> {
    hits: Hits<T>,
}

#[derive(Deserialize)]
struct Hits<T> {
    hits: Vec<T>,
}

/// Hands the documents of a line to `take`: none, one, or all of an array or of an answer. A fault
/// of one of them is that of the line, and the others are taken all the same.
pub(super) fn each<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    mut take: impl FnMut(&T) -> Result<(), LineFault>,
) -> Result<(), LineFault> {
    // Not the text, which may name a user.
    let not_json = |part: &str, error: &serde_json::Error| {
        let byte = part.as_ptr().addr() - line.as_ptr().addr() + error.column();
        LineFault::new(Fault::NotJson, 0, format!(".. at byte {byte}").as_bytes())
    };
    // Checked once, and not string by string.
    let text = std::str::from_utf8(line).map_err(|_| Fault::NotUtf8)?.trim();
    let is_array = text.starts_with('[') && text.ends_with(']');
    let all = if is_array {
        serde_json::from_str::<Vec<T>>(text).map_err(|error| not_json(text, &error))?
    } else {
        // A part of an array that has a document a line.
        let text = text.strip_prefix(['[', ',']).unwrap_or(text);
        let text = text.strip_suffix([']', ',']).unwrap_or(text).trim();
        if text.is_empty() {
            return Ok(());
        }
        // A number or a text would pass for a document without fields.
        if !text.starts_with('{') {
            return Err(Fault::NotJson.into());
        }
        let is_answer = memchr::memmem::find(text.as_bytes(), b"\"hits\"").is_some();
        match is_answer.then(|| serde_json::from_str::<Answer<T>>(text)) {
            Some(Ok(answer)) => answer.hits.hits,
            _ => return take(&serde_json::from_str(text).map_err(|error| not_json(text, &error))?),
        }
    };
    // A fault in one document leaves the others of its line.
    let mut first: Result<(), LineFault> = Ok(());
    for document in &all {
        match (&mut first, take(document)) {
            (Err(fault), Err(more)) => fault.lost.add(more.lost),
            (Ok(()), taken) => first = taken,
            (Err(_), Ok(())) => {}
        }
    }
    first
}
