//! The keys of files as data, for readers, help, starting points and a schema.
//!
//! The rows describe what a reader accepts. Tests read each row's example, and compare the names
//! with those that the reader asks for.

use crate::models::Parameter;
use crate::schema::described;
use documents::toml_reader::{Error, Field, FromToml, Table, inline, words};
use itertools::Itertools as _;
use serde::Serialize;
use serde_json::Value;

/// A key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// The name of its value for readers: its own, unless it has another.
    pub title: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// Whether the table needs it, unless another key [replaces](Self::replaces) it.
    pub required: bool,
    /// The keys whose place it takes; a table has these or this one.
    pub replaces: &'static [&'static str],
    /// Meaning, one sentence. For an optional key, it includes the default.
    pub meaning: &'static str,
    /// A value in TOML. The examples of the required keys together are a valid table.
    pub example: &'static str,
}

/// The accepted values of a key as a JSON Schema. Its title, if it has one, is their description
/// for readers.
pub type Kind = fn() -> Value;

impl Key {
    /// A required key.
    pub const fn required(
        name: &'static str,
        kind: Kind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, title: name, kind, required: true, replaces: &[], meaning, example }
    }

    /// A key that may be absent.
    pub const fn optional(
        name: &'static str,
        kind: Kind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { required: false, ..Self::required(name, kind, meaning, example) }
    }

    /// The key with another name for readers.
    pub(crate) const fn called(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// The value of the key in a table that needs it, with its place.
    pub(crate) fn read<'doc, T: FromToml<'doc>>(&self, table: &Table<'doc>) -> Result<Part<'doc, T>, Error> {
        Self::read_one_of(&[*self], table)
    }

    /// [`read`](Self::read) of a key with several names.
    pub(crate) fn read_one_of<'doc, T: FromToml<'doc>>(
        names: &[Self],
        table: &Table<'doc>,
    ) -> Result<Part<'doc, T>, Error> {
        let missing = || table.missing(names[0].name, &names[0].words());
        let field = Self::one_of(names, table)?.ok_or_else(missing)?;
        Ok(Part { value: field.get()?, field })
    }

    /// The field of a key with several names, of which a table may use one.
    pub(crate) fn one_of<'doc>(names: &[Self], table: &Table<'doc>) -> Result<Option<Field<'doc>>, Error> {
        let given = names.iter().filter_map(|key| Some((key.name, table.field(key.name)?)));
        match given.collect::<Vec<_>>().as_slice() {
            [(name, _), (_, second), ..] => {
                Err(second.error(format!("`{name}` already gives it: expected one or the other")))
            }
            given => Ok(given.first().map(|(_, field)| field.clone())),
        }
    }

    /// The schema of the values, with the meaning.
    pub fn schema(&self) -> Value {
        described(&(self.kind)(), self.meaning)
    }

    /// The key with a value, as an instance has it.
    pub(crate) fn with(&self, value: impl Into<Parameter>) -> (&'static str, Parameter) {
        (self.name, value.into())
    }

    /// Returns whether it has a number for each item, position or the like.
    pub(crate) fn is_list(&self) -> bool {
        let kind = (self.kind)();
        kind["items"]["type"] == "number" && kind["minItems"] != kind["maxItems"]
    }

    /// The key that may take the place of others.
    pub(crate) const fn in_place_of(self, replaces: &'static [&'static str]) -> Self {
        Self { required: false, replaces, ..self }
    }

    /// Returns whether the key is needed, in words.
    pub fn need(&self) -> String {
        match (self.required, self.replaces) {
            (true, _) => "required".to_owned(),
            (false, []) => "optional".to_owned(),
            (false, others) => format!("in the place of {}", others.join(" and ")),
        }
    }

    /// Its row in a table in Markdown, and those of the keys of the table that it accepts.
    pub(crate) fn rows(&self) -> String {
        let inner = |one: KeyInside| {
            row(&format!("{}.{}", self.name, one.name), "", &one.meaning, &one.values, &one.example)
        };
        let own = row(self.name, &self.need(), self.meaning, &self.words(), self.example);
        own + &self.inside().into_iter().map(inner).collect::<String>()
    }

    /// The accepted values in words.
    pub fn words(&self) -> String {
        words_with_keys(&(self.kind)())
    }

    /// The keys of the table that it accepts, required ones first; empty if it accepts none.
    pub fn inside(&self) -> Vec<KeyInside> {
        inside(&(self.kind)())
    }
}

/// The head of a table of keys in Markdown.
pub(crate) const HEAD: &str = "| key | needed | meaning | values | example |\n|---|---|---|---|---|\n";

/// A row of such a table.
pub(crate) fn row(name: &str, need: &str, meaning: &str, values: &str, example: &str) -> String {
    format!("| `{name}` | {need} | {meaning} | {values} | `{example}` |\n")
}

/// A value with its field, for errors that are found later.
pub(crate) struct Part<'doc, T> {
    pub(crate) value: T,
    pub(crate) field: Field<'doc>,
}

/// A key of a table that is the value of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyInside {
    /// Name.
    pub name: String,
    /// Accepted values in words.
    pub values: String,
    /// Meaning, one sentence.
    pub meaning: String,
    /// A value in TOML.
    pub example: String,
}

/// The keys of a table by its schema, required ones first; empty for other values.
pub fn inside(kind: &Value) -> Vec<KeyInside> {
    let all = kind["anyOf"].as_array().map_or(std::slice::from_ref(kind), Vec::as_slice);
    let of_table = |table: &Value| {
        let required = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let others = table["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let of_schema = |name: &str| {
            let key = &table["properties"][name];
            KeyInside {
                values: words_with_keys(key),
                meaning: key["description"].as_str().unwrap_or_default().to_owned(),
                example: inline(&key["examples"][0]),
                name: name.to_owned(),
            }
        };
        required.chain(others).unique().map(of_schema).collect_vec()
    };
    let tables = all.iter().filter(|one| one["properties"].is_object());
    tables.flat_map(of_table).unique_by(|key| key.name.clone()).collect()
}

/// The accepted values in words, tables with the names of their keys.
fn words_with_keys(kind: &Value) -> String {
    let names = inside(kind).into_iter().map(|key| key.name).join(", ");
    let table = if names.is_empty() { "a table".to_owned() } else { format!("a table {{ {names} }}") };
    words(kind).replace("a table", &table)
}
