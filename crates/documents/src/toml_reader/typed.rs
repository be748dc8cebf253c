//! Values of types whose declaration is all that a file needs: the type's JSON Schema, which
//! `schemars` derives, finds all faults with their places, and serde builds the value.
//!
//! Keys are the fields of a struct, their meanings its documentation, their ranges
//! `#[schemars(range(..))]`, examples `#[schemars(example = ..)]`, defaults `#[serde(default)]`.
//! Alternatives, such as a number or a table, are an untagged enum. Structs and enums need
//! `#[serde(deny_unknown_fields)]`, without which unknown keys are accepted. What a schema cannot
//! say is refused by `#[serde(try_from = ..)]`, at the value.

use super::{Error, Faults, Field, FromToml as _, Source, Table, collect, push_known};
use crate::number::{counted, grouped};
use itertools::Itertools as _;
use schemars::JsonSchema;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeArray, DeValue, ValueDeserializer};

/// A type whose values are read from files.
pub trait InFiles: DeserializeOwned + JsonSchema {}

impl<T: DeserializeOwned + JsonSchema> InFiles for T {}

/// Reads a whole file as a `T`: `let config: Config = read(&Source::read(path)?)?;`.
///
/// # Errors
///
/// The text is not TOML; all faults of its values and keys in one ([`Error::all`]).
pub fn read<T: InFiles>(source: &Source) -> Result<T, Error> {
    source.parse()?.root().build()
}

/// The schema of a `T` in files, without references and without `null`, which TOML lacks.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    without_null(&mut schema);
    schema.to_value()
}

fn without_null(schema: &mut Schema) {
    transform_subschemas(&mut without_null, schema);
    let null = [Value::Null, json!("null"), json!({ "type": "null" })];
    for list in ["type", "enum", "anyOf"] {
        let Some(Value::Array(values)) = schema.get_mut(list) else { continue };
        values.retain(|value| !null.contains(value));
        if let ([one], "type") = (&values[..], list) {
            let one = one.clone();
            schema.insert(list.to_owned(), one);
        } else if let ([Value::Object(one)], "anyOf") = (&values[..], list) {
            let one = one.clone();
            schema.remove(list);
            for (key, value) in one {
                schema.ensure_object().entry(key).or_insert(value);
            }
        }
    }
    // Markdown breaks lines where the source does.
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        let text = text.replace('\n', " ");
        schema.insert("description".to_owned(), text.into());
    }
    if schema.remove("format").is_some_and(|format| format == "uint32") {
        schema.ensure_object().entry("maximum").or_insert_with(|| u32::MAX.into());
    }
}

impl Table<'_> {
    /// The table as a `T`, with all its keys.
    ///
    /// # Errors
    ///
    /// All faults of its values and keys in one.
    pub fn build<T: InFiles>(&self) -> Result<T, Error> {
        let (built, fault) = self.build_rest()?;
        fault.map_or(Ok(built), Err)
    }

    /// The table as a `T` from its parts that serde can read, and all faults: for relations between
    /// keys, which are then checked as well.
    ///
    /// # Errors
    ///
    /// All faults, if a part is missing that a `T` needs.
    pub fn build_rest<T: InFiles>(&self) -> Result<(T, Option<Error>), Error> {
        let value = Spanned::new(self.span.clone(), DeValue::Table(self.entries.clone()));
        Field { source: self.source, value: &value, path: self.path.clone() }.build_rest()
    }
}

impl Field<'_> {
    /// The value as a `T`.
    ///
    /// # Errors
    ///
    /// All faults of the value, and of the values and keys inside, in one.
    pub fn build<T: InFiles>(&self) -> Result<T, Error> {
        let (built, fault) = self.build_rest()?;
        fault.map_or(Ok(built), Err)
    }

    /// Refuses a value that a schema does not accept.
    ///
    /// # Errors
    ///
    /// All faults of the value.
    pub fn accept(&self, schema: &Value) -> Result<(), Error> {
        check(schema, self)
    }

    fn build_rest<T: InFiles>(&self) -> Result<(T, Option<Error>), Error> {
        let (mut faults, mut value) = (Faults::default(), self.value.clone());
        // Paths of faults: what has one inside lacks a part, or is at fault by it.
        let mut said = vec![];
        for fault in check(&schema::<T>(), self).err().map_or_else(Vec::new, Error::all) {
            said.push(fault.field().to_owned());
            faults.add(fault);
        }
        let mut left = Error::MOST;
        loop {
            let fault = match serde_path_to_error::deserialize(ValueDeserializer::from(value.clone())) {
                Ok(built) => return Ok((built, faults.end().err())),
                Err(fault) => fault,
            };
            let path: Vec<&Segment> = fault.path().iter().collect();
            let at = self.original(&value, &path);
            let error = at.error(fault.inner().message());
            let is_inside = |inner: &str, outer: &str| {
                let rest = inner.strip_prefix(outer);
                rest.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let is_said = said.iter().any(|said| is_inside(said, &at.path) || is_inside(&at.path, said))
                || OF_SERDE.iter().any(|words| error.message().starts_with(words));
            if faults.is_empty() || !is_said {
                faults.add(error.clone());
            }
            said.push(at.path);
            left -= 1;
            if left == 0 || !remove(&mut value, &path) {
                return Err(faults.end().err().unwrap_or(error));
            }
        }
    }

    /// The value at a path of a copy of this one without some of its parts.
    fn original(&self, copy: &Spanned<DeValue<'_>>, path: &[&Segment]) -> Self {
        let (Some((first, rest)), field) = (path.split_first(), self.clone()) else { return self.clone() };
        match (first, copy.get_ref()) {
            (Segment::Map { key }, DeValue::Table(copy)) => {
                let inside = Table::from_toml(&field).ok().and_then(|table| table.field(key));
                let both = inside.zip(copy.get(key.as_str()));
                both.map_or(field, |(inside, copy)| inside.original(copy, rest))
            }
            (Segment::Seq { index }, DeValue::Array(copy)) => {
                let Some(copy) = copy.get(*index) else { return field };
                let all = Vec::<Field<'_>>::from_toml(&field).unwrap_or_default();
                let inside = all.into_iter().find(|inside| inside.value.span() == copy.span());
                inside.map_or(field, |inside| inside.original(copy, rest))
            }
            _ => field,
        }
    }
}

/// How messages of serde itself begin: about what the schema has found, and what lacks a part that
/// was removed. Those of conversions say what a schema cannot.
const OF_SERDE: [&str; 7] = [
    "invalid type",
    "invalid length",
    "invalid value",
    "missing field",
    "unknown field",
    "unknown variant",
    "data did not match",
];

/// Removes what is at a path, as far as it leads; `false` if that is the whole value.
fn remove(value: &mut Spanned<DeValue<'_>>, path: &[&Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    match (first, value.get_mut()) {
        (Segment::Map { key }, DeValue::Table(table)) => {
            let Some(inside) = table.get_mut(key.as_str()) else { return false };
            if !remove(inside, rest) {
                table.remove(key.as_str());
            }
            true
        }
        (Segment::Seq { index }, DeValue::Array(array)) => {
            let Some(inside) = array.get_mut(*index) else { return false };
            if !remove(inside, rest) {
                let others = array.iter().enumerate().filter(|(place, _)| place != index);
                let others: Vec<_> = others.map(|(_, other)| other.clone()).collect();
                *array = DeArray::new();
                for other in others {
                    array.push(other);
                }
            }
            true
        }
        _ => false,
    }
}

/// Refuses a value that the schema does not accept.
fn check(schema: &Value, field: &Field<'_>) -> Result<(), Error> {
    let all = alternatives(schema);
    let found: Vec<&Value> = all.into_iter().filter(|one| fits(one, field)).collect();
    let names: Vec<&str> = found.iter().flat_map(|one| names(one)).collect();
    match field.value.get_ref() {
        _ if found.is_empty() => Err(field.wrong_type(&words(schema))),
        DeValue::String(text) if !names.is_empty() && !names.contains(&text.as_ref()) => {
            let key = field.path.rsplit('.').next().unwrap_or_default().split('[').next().unwrap_or_default();
            // A title says what is named.
            let kind = found.iter().find_map(|one| one["title"].as_str()).unwrap_or(key);
            let mut message = format!("unknown {kind} {}", field.describe());
            push_known(&mut message, text, &names, kind);
            Err(field.error(message))
        }
        DeValue::String(_) => Ok(()),
        DeValue::Table(_) => check_tables(&found, &field.get()?),
        // Of several arrays the one is meant that fits best.
        _ => {
            let faults = found.into_iter().map(|one| check_one(one, field).err());
            faults.min_by_key(|fault| fault.as_ref().map_or(0, Error::count)).flatten().map_or(Ok(()), Err)
        }
    }
}

fn check_one(schema: &Value, field: &Field<'_>) -> Result<(), Error> {
    match field.value.get_ref() {
        DeValue::Array(_) => check_entries(schema, field),
        _ if schema["type"] == "integer" => {
            let [least, most] = ["minimum", "maximum"].map(|limit| schema[limit].as_u64());
            field.integer_in(&(least.unwrap_or(0)..=most.unwrap_or(u64::MAX))).map(drop)
        }
        _ if schema["type"] == "number" => {
            let number: f64 = field.get()?;
            let holds = |limit: &str, test: fn(&f64, &f64) -> bool| {
                schema[limit].as_f64().is_none_or(|limit| test(&number, &limit))
            };
            let is_inside = holds("minimum", f64::ge)
                && holds("maximum", f64::le)
                && holds("exclusiveMinimum", f64::gt)
                && holds("exclusiveMaximum", f64::lt);
            if is_inside { Ok(()) } else { Err(field.wrong_type(&words(schema))) }
        }
        _ => Ok(()),
    }
}

/// Refuses a table that fits none of these. The one is meant whose first required key it has.
fn check_tables(all: &[&Value], table: &Table<'_>) -> Result<(), Error> {
    let has = |one: &&&Value| required(one).first().is_some_and(|first| table.entries.contains_key(*first));
    let meant = all.iter().find(has).or_else(|| all.iter().find(|one| required(one).is_empty()));
    if let Some(meant) = meant.or_else(|| all.first().filter(|_| all.len() == 1)) {
        return check_table(meant, all, table);
    }
    table.know(&all.iter().flat_map(|one| properties(one)).map(|(key, _)| key.as_str()).collect_vec());
    let first = all.iter().filter_map(|one| required(one).first().map(|key| format!("`{key}`")));
    let fault = table.error(format!("expected {}", first.collect_vec().join(" or ")));
    Err(table.finish().err().into_iter().fold(fault, Error::and))
}

/// The keys of a table with their schemas.
fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The keys that a table must have.
fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Refuses a table with other keys or values than the schema's. Keys of other `all` exclude these.
fn check_table(schema: &Value, all: &[&Value], table: &Table<'_>) -> Result<(), Error> {
    let is_given = |key: &&str| table.entries.contains_key(*key);
    let mut faults = Faults::default();
    for (key, schema) in properties(schema) {
        if let Some(field) = table.field(key) {
            faults.keep(check(schema, &field));
        }
    }
    let others = all.iter().flat_map(|one| properties(one)).map(|(key, _)| key.as_str());
    let others = others.filter(|key| schema["properties"].get(key).is_none()).unique().collect_vec();
    // The first keys of others that are meant as well, or else whatever others have.
    let firsts = all.iter().filter_map(|one| required(one).first().copied()).filter(is_given);
    let mut excluded = firsts.filter(|key| others.contains(key)).collect_vec();
    let is_clear = excluded.is_empty();
    if is_clear {
        excluded = others.iter().copied().filter(is_given).collect();
    }
    if let Some(first) = required(schema).into_iter().find(is_given) {
        let fault = format!("`{first}` is given already: expected one or the other");
        let fields = excluded.into_iter().filter_map(|key| table.field(key));
        fields.for_each(|field| faults.add(field.error(&*fault)));
    }
    // Messages about unknown keys also suggest those of others.
    table.know(&others);
    for key in required(schema).into_iter().filter(|key| is_clear && !is_given(key)) {
        faults.add(table.missing(key, &words(&schema["properties"][key])));
    }
    match &schema["additionalProperties"] {
        Value::Bool(false) => faults.keep(table.finish()),
        others => {
            let others = others.is_object().then_some(others);
            let is_other = |key: &&str| schema["properties"].get(key).is_none();
            let fields = table.keys().into_iter().filter(is_other).filter_map(|key| table.field(key));
            faults.keep(collect(fields.map(|field| others.map_or(Ok(()), |schema| check(schema, &field)))))
        }
    };
    faults.end()
}

fn check_entries(schema: &Value, field: &Field<'_>) -> Result<(), Error> {
    let entries: Vec<Field<'_>> = field.get()?;
    let limit = |limit: &str| schema[limit].as_u64();
    let n = entries.len() as u64;
    if limit("minItems").is_some_and(|least| n < least) || limit("maxItems").is_some_and(|most| n > most) {
        return Err(field.error(format!("{} found: expected {}", counted(n, "entry"), words(schema))));
    }
    collect(
        entries
            .iter()
            .enumerate()
            .map(|(index, entry)| check(schema["prefixItems"].get(index).unwrap_or(&schema["items"]), entry)),
    )
}

/// The schemas of which a value has to fit one.
fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        Some(all) => all.iter().flat_map(alternatives).collect(),
        None => vec![schema],
    }
}

/// Returns whether a value is of the schema's type.
fn fits(schema: &Value, field: &Field<'_>) -> bool {
    let types: &[&str] = match field.value.get_ref() {
        DeValue::String(_) => &["string"],
        DeValue::Integer(_) | DeValue::Float(_) => &["integer", "number"],
        DeValue::Boolean(_) => &["boolean"],
        DeValue::Array(_) => &["array"],
        DeValue::Table(_) => &["object"],
        DeValue::Datetime(_) => &[],
    };
    schema["type"].as_str().is_none_or(|one| types.contains(&one))
}

/// The only texts that it accepts; none if it accepts any.
fn names(schema: &Value) -> Vec<&str> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    listed.chain(schema.get("const")).filter_map(Value::as_str).collect()
}

/// The accepted values in words: the schema's title, or what it says of them.
pub fn words(schema: &Value) -> String {
    let all = alternatives(schema);
    let quoted = all.iter().flat_map(|one| names(one)).map(|name| format!("{name:?}")).collect_vec();
    let quoted = match &quoted[..] {
        [others @ .., last] if !others.is_empty() => Some(format!("{} or {last}", others.join(", "))),
        names => names.first().cloned(),
    };
    let others = all.iter().filter(|one| names(one).is_empty()).map(|one| words_of_one(one));
    quoted.into_iter().chain(others).unique().join(", or ")
}

fn words_of_one(schema: &Value) -> String {
    if let Some(title) = schema["title"].as_str() {
        return title.to_owned();
    }
    let number = |key: &str| {
        let whole = schema[key].as_f64().and_then(|limit| num_traits::ToPrimitive::to_u64(&limit));
        whole
            .filter(|whole| schema[key].as_f64() == Some(*whole as f64))
            .map_or_else(|| schema[key].to_string(), grouped)
    };
    // `1e400` is infinite, which schemas exclude so.
    let given = |key: &str| !schema[key].is_null() && schema[key] != f64::MAX;
    let what = match schema["type"].as_str() {
        Some("integer") => "an integer",
        Some("number") => "a number",
        Some("boolean") => return "true or false".to_owned(),
        Some("string") => return "a text".to_owned(),
        Some("object") => return "a table".to_owned(),
        Some("array") => {
            let entries =
                schema["prefixItems"].as_array().map_or_else(Vec::new, |all| all.iter().map(words).collect());
            let each = match entries.iter().all_equal_value() {
                Ok(each) => format!("each {each}"),
                Err(None) => format!("each {}", words(&schema["items"])),
                Err(Some(_)) => entries.join(" and "),
            };
            let length = match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
                (Some(least), Some(most)) if least == most => format!(" of {}", counted(least, "entry")),
                (Some(least @ 1..), _) => format!(" of at least {}", counted(least, "entry")),
                _ => String::new(),
            };
            return format!("an array{length}, {each}");
        }
        _ => return "a value".to_owned(),
    };
    let least = given("minimum");
    match (least || given("exclusiveMinimum"), given("maximum")) {
        (true, true) if least => format!("{what} from {} to {}", number("minimum"), number("maximum")),
        (true, true) => {
            format!("{what} above {} and at most {}", number("exclusiveMinimum"), number("maximum"))
        }
        (true, false) if least => format!("{what} of at least {}", number("minimum")),
        (true, false) => format!("{what} above {}", number("exclusiveMinimum")),
        (false, true) => format!("{what} of at most {}", number("maximum")),
        (false, false) => what.to_owned(),
    }
}

#[cfg(test)]
mod tests;
