//! JSON whose errors have a place.

use crate::byte_order_mark::without_byte_order_mark;
use crate::toml_reader::{Error, Location};
use serde::de::DeserializeOwned;

/// Reads the content of a file, without its byte order mark. `expected` names what it should be,
/// for messages.
///
/// # Errors
///
/// The first place where the content is not JSON, or not that of a `T`.
pub fn read_json<T: DeserializeOwned>(file: &str, content: &[u8], expected: &str) -> Result<T, Error> {
    serde_json::from_slice(without_byte_order_mark(content)).map_err(|error| {
        Location::new(file, error.line().max(1), error.column().max(1), "")
            .error(format!("{}: expected {expected}", without_place(&error)))
    })
}

/// The message of a serde error without its place.
pub fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}
