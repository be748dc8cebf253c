//! The fields of queries and events that are read.

use super::json::Json;
use crate::fault::Fault;
use crate::names::Id;
use serde_json::Value;
use std::borrow::Cow;

/// A text of a document; a number is its text.
type Text<'a> = Option<Cow<'a, str>>;

/// A query, an event, or a line of a bulk request; that of `_source` if it has one.
#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    pub(super) application: Text<'a>,
    pub(super) action_name: Text<'a>,
    pub(super) query_id: Text<'a>,
    pub(super) client_id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    pub(super) user_query: Text<'a>,
    pub(super) object_id: Text<'a>,
    pub(super) ordinal: Text<'a>,
    pub(super) hit_ids: Option<Vec<Cow<'a, str>>>,
    pub(super) list_propensity: Option<f64>,
    /// Of clicks that were counted by configuration.
    search_configuration: Option<()>,
    count: Option<()>,
    /// Whether it has an action of a bulk request.
    has_action: bool,
    /// How the document is written.
    written: &'a str,
}

/// An impression or a click on an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) item: Id,
    pub(super) ordinal: Option<u64>,
    pub(super) is_click: bool,
    pub(super) user: Option<u64>,
}

impl<'a> Document<'a> {
    fn read(json: &mut Json<'a>) -> Option<Self> {
        let mut of = Self::default();
        of.fill(json).map(|()| of)
    }

    fn fill(&mut self, json: &mut Json<'a>) -> Option<()> {
        let (of, mut source) = (&mut *self, None);
        let members = |json: &mut Json<'a>| {
            json.members(|json, key| match key {
                "application" => json.set(&mut of.application, Json::text),
                "action_name" => json.set(&mut of.action_name, Json::text),
                "query_id" => json.set(&mut of.query_id, Json::text),
                "client_id" => json.set(&mut of.client_id, Json::text),
                "timestamp" => json.set(&mut of.timestamp, Json::text),
                "user_query" => json.set(&mut of.user_query, Json::text),
                "event_attributes" => {
                    let attributes = |json: &mut Json<'a>| {
                        json.members(|json, key| match key {
                            "object" => set_member(&mut of.object_id, json, "object_id", Json::text),
                            "position" => set_member(&mut of.ordinal, json, "ordinal", Json::text),
                            _ => json.skip(),
                        })
                    };
                    json.set(&mut None, attributes)
                }
                "query_response_hit_ids" => json.set(&mut of.hit_ids, |json| json.elements(Json::text)),
                "query_attributes" => {
                    set_member(&mut of.list_propensity, json, "list_propensity", Json::number)
                }
                "search_configuration" => json.set(&mut of.search_configuration, Json::skip),
                "count" => json.set(&mut of.count, Json::skip),
                "index" | "create" | "update" | "delete" => json.set(&mut None, |json| {
                    of.has_action = true;
                    json.skip()
                }),
                "_source" => json.set(&mut source, Self::read),
                _ => json.skip(),
            })
        };
        ((), self.written) = json.written(members)?;
        if let Some(source) = source {
            *self = source;
        }
        Some(())
    }

    /// Whether it is the first line of two in a bulk request.
    pub(super) fn is_bulk(&self) -> bool {
        self.has_action && self.query_id.is_none()
    }

    /// Whether it is a number of clicks, without users.
    pub(super) fn is_count(&self) -> bool {
        self.search_configuration.is_some() && self.count.is_some()
    }

    /// The text at a path of keys with dots between them; empty if there is none.
    pub(super) fn text_at(&self, path: &str) -> String {
        let whole: Value = serde_json::from_str(self.written).unwrap_or_default();
        match path.split('.').try_fold(&whole, |value, key| value.get(key)) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            _ => String::new(),
        }
    }
}

/// Reads the value of a field of an object in the document.
fn set_member<'a, T>(
    field: &mut Option<T>,
    json: &mut Json<'a>,
    name: &str,
    of: impl Fn(&mut Json<'a>) -> Option<T>,
) -> Option<()> {
    let member =
        |json: &mut Json<'a>, key: &str| if key == name { json.set(field, &of) } else { json.skip() };
    json.set(&mut None, |json| json.members(member))
}

/// Hands the documents of a line to `take`: none, one, or all of an array.
pub(super) fn each<'a, E: From<Fault>>(
    line: &'a [u8],
    mut take: impl FnMut(&Document<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let line = std::str::from_utf8(line).map_err(|_| Fault::NotUtf8)?.trim();
    if line.starts_with('[') && line.ends_with(']') {
        let all = Json::whole(line, |json| json.elements(Document::read)).ok_or(Fault::NotJson)?;
        return all.iter().try_for_each(take);
    }
    // A part of an array that has a document a line.
    let line = line.strip_prefix(['[', ',']).unwrap_or(line);
    let line = line.strip_suffix([']', ',']).unwrap_or(line).trim();
    if line.is_empty() {
        return Ok(());
    }
    let mut document = Document::default();
    Json::whole(line, |json| document.fill(json)).ok_or(Fault::NotJson)?;
    take(&document)
}
