//! A policy as text: its name and non-default parameters, `pbm-pie(level=log-horizon)`.

use super::parameters::Parameter;
use super::{Kind, PolicySpec, Range, Row, find, rows};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Why a text names no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum SpecError {
    #[error("unknown policy `{name}`: expected one of {known}")]
    UnknownPolicy { name: String, known: String },
    #[error("`{text}` is no policy: expected `name` or `name(parameter=value,..)`")]
    Form { text: String },
    /// The policy has no such parameter (`unknown`), or the text gives it twice (`twice the`).
    #[error("`{policy}`: {fault} parameter `{parameter}`: {expected}")]
    Parameter { policy: &'static str, fault: &'static str, parameter: String, expected: String },
    #[error("`{policy}`: {parameter} = {value}: expected {expected}")]
    Value { policy: &'static str, parameter: String, value: String, expected: String },
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(range) => write!(f, "a number {range}"),
            Self::Position => {
                write!(f, "an integer from 0, below the number of positions; may be absent")
            }
            Self::Count => write!(f, "a whole number from 1 on"),
            Self::Choice(names) => write!(f, "`{}`", names.join("`, `")),
            Self::Flag => write!(f, "`true`, `false`"),
            Self::ListPolicy => write!(f, "the name of a policy for lists, such as `cascade-ts` or `pbm-ts`"),
        }
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { from, to, is_closed } = self;
        match (is_closed, to) {
            (true, Some(to)) => write!(f, "from {from} to {to}"),
            (true, None) => write!(f, "at least {from}"),
            (false, Some(to)) => write!(f, "above {from} and below {to}"),
            (false, None) => write!(f, "above {from}"),
        }
    }
}

impl PolicySpec {
    /// The policy with this name and these parameters; other parameters have their defaults.
    ///
    /// # Errors
    ///
    /// [`SpecError`]: an unknown name, an unknown parameter, or an invalid value.
    pub fn from_parameters(name: &str, parameters: &Map<String, Value>) -> Result<Self, SpecError> {
        let row = find(name).ok_or_else(|| SpecError::unknown(name))?;
        if let Some(key) = parameters.keys().find(|key| row.parameters.iter().all(|known| known.name != *key))
        {
            return Err(SpecError::Parameter {
                policy: row.name,
                fault: "unknown",
                parameter: key.clone(),
                expected: known_parameters(row),
            });
        }
        Self::read(row, parameters)
    }

    /// The parameters as in files; parameters without a value are absent.
    pub fn parameters(&self) -> Map<String, Value> {
        // Serde writes a variant of an enum as a map from its name to a map.
        let Ok(Value::Object(spec)) = serde_json::to_value(self) else { return Map::new() };
        match spec.into_iter().next() {
            Some((_, Value::Object(parameters))) => parameters,
            _ => Map::new(),
        }
    }
}

impl Row {
    /// The policy with all defaults.
    ///
    /// # Panics
    ///
    /// Never: every parameter has a default.
    pub fn spec(&self) -> PolicySpec {
        PolicySpec::from_parameters(self.name, &Map::new()).expect("every parameter has a default")
    }
}

impl SpecError {
    pub(super) fn unknown(name: &str) -> Self {
        let known: Vec<&str> = rows().iter().map(|row| row.name).collect();
        Self::UnknownPolicy { name: name.to_owned(), known: known.join(", ") }
    }

    fn value(row: &Row, name: &str, value: &Value, kind: Kind) -> Self {
        Self::Value {
            policy: row.name,
            parameter: name.to_owned(),
            value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            expected: kind.to_string(),
        }
    }
}

/// The parameter of this name, if it is given.
pub(super) fn parameter<T: Parameter>(
    row: &Row,
    parameters: &Map<String, Value>,
    name: &str,
) -> Result<Option<T>, SpecError> {
    let Some(value) = parameters.get(name) else { return Ok(None) };
    T::deserialize(value).map(Some).map_err(|_| SpecError::value(row, name, value, T::KIND))
}

/// The names of the parameters, for a message.
fn known_parameters(row: &Row) -> String {
    let known: Vec<&str> = row.parameters.iter().map(|known| known.name).collect();
    if known.is_empty() { "it has none".to_owned() } else { format!("expected one of {}", known.join(", ")) }
}

impl Display for PolicySpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let defaults = self.row().spec().parameters();
        let mut open = "(";
        write!(f, "{}", self.name())?;
        for (key, value) in self.parameters() {
            if defaults.get(&key) != Some(&value) {
                match value.as_str() {
                    Some(word) => write!(f, "{open}{key}={word}")?,
                    None => write!(f, "{open}{key}={value}")?,
                }
                open = ",";
            }
        }
        if open == "," { write!(f, ")") } else { Ok(()) }
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        let form = || SpecError::Form { text: text.to_owned() };
        let (name, given) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => (name.trim_end(), rest.strip_suffix(')').ok_or_else(form)?),
        };
        let mut parameters = Map::new();
        for part in given.split(',').filter(|_| !given.trim().is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(form)?;
            let (key, value) = (key.trim(), value.trim());
            // A value that is no number and not `true` or `false` is a name.
            let is_plain = |value: &Value| value.is_number() || value.is_boolean();
            let value = serde_json::from_str(value).ok().filter(is_plain).unwrap_or_else(|| value.into());
            if parameters.insert(key.to_owned(), value).is_some() {
                let policy = find(name).map_or("policy", |row| row.name);
                let expected = "expected it once".to_owned();
                return Err(SpecError::Parameter {
                    policy,
                    fault: "twice the",
                    parameter: key.to_owned(),
                    expected,
                });
            }
        }
        Self::from_parameters(name, &parameters)
    }
}

/// Reads `{ "pbm-pie": { "level": "log-horizon" } }` from formats that describe themselves.
impl<'de> Deserialize<'de> for PolicySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut spec = Map::deserialize(deserializer)?.into_iter();
        match (spec.next(), spec.next()) {
            (Some((name, Value::Object(parameters))), None) => {
                Self::from_parameters(&name, &parameters).map_err(D::Error::custom)
            }
            _ => Err(D::Error::custom("expected the name of a policy and a map of its parameters")),
        }
    }
}
