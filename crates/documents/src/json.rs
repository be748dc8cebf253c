//! JSON whose errors have a place.

use crate::input_file::without_byte_order_mark;
use crate::toml_reader::{Error, Location};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Files of this project, each with a key that those below it do not have, and with what reads it.
const FILES: [(&str, &str); 6] = [
    ("coins", "a saved `Policy` of Python, which `Policy.load` reads"),
    ("notes", "a `Decision` or a `Batch` of Python, which `from_json` of its class reads"),
    ("names", "a saved `Live` of Python, which `Live.load` reads"),
    ("generator", "users of Python's `models`, which `from_json` of their class reads"),
    ("identifiability", "the parameters that `fit` writes, which `Fitted.load` of Python reads"),
    ("of_positions", "the context.json of a fit with --context, which `ContextFit.load` of Python reads"),
];

/// The file of this project that the content is, in words.
fn known(content: &[u8]) -> Option<&'static str> {
    if content.starts_with(b"\x80") {
        return Some("a pickle of Python, which `pickle.loads` reads");
    }
    let keys: BTreeMap<String, Value> = serde_json::from_slice(content).ok()?;
    FILES.into_iter().find_map(|(key, file)| keys.contains_key(key).then_some(file))
}

/// Reads the content of a file, without its byte order mark. `expected` names what it should be,
/// for messages.
///
/// # Errors
///
/// The first place where the content is not JSON, or not that of a `T`; if it looks like another
/// file of this project, also what that is.
pub fn read_json<T: DeserializeOwned>(file: &str, content: &[u8], expected: &str) -> Result<T, Error> {
    let content = without_byte_order_mark(content);
    serde_json::from_slice(content).map_err(|error| {
        let other = known(content).filter(|other| !other.starts_with(expected));
        let found = other.map_or_else(String::new, |other| format!(", found {other}"));
        Location::new(file, error.line().max(1), error.column().max(1), "")
            .error(format!("{}: expected {expected}{found}", without_place(&error)))
    })
}

/// The message of a serde error without its place.
pub fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}
