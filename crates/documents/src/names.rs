//! Names of experiments, which become file names, and labels, which readers see.

use crate::toml_reader::{Error, Field, Location};
use serde_json::Value;

/// The longest label or other text for readers, in characters: tables and figures have room for it.
pub const MAX_TITLE: usize = 100;
/// The longest name of an experiment, in characters. Files are named after it.
pub const MAX_NAME: usize = 100;

/// Reads the name of an experiment.
///
/// # Errors
///
/// Those of [`name_fault`].
pub fn read_name(field: &Field<'_>) -> Result<String, Error> {
    let name: String = field.get()?;
    name_fault(&name).map_or(Ok(name), |fault| Err(field.error(fault)))
}

/// The fault of a text as the name of an experiment; `None` without one.
pub fn name_fault(name: &str) -> Option<String> {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fault = if name.is_empty() {
        "the name is empty"
    } else if !name.bytes().all(safe) {
        "the name has characters that are not safe in file names"
    } else if name.starts_with(['.', '-']) {
        "the name begins with a point or a dash"
    } else if name.len() > MAX_NAME {
        "the name is longer than 100 characters"
    } else {
        return None;
    };
    Some(format!("{fault}: expected letters A to Z, digits, `-`, `_` and `.`, a letter or digit first"))
}

/// Reads a label or name for readers.
///
/// # Errors
///
/// Those of [`title_fault`].
pub fn read_title(field: &Field<'_>) -> Result<String, Error> {
    let title: String = field.get()?;
    title_fault(&title).map_or(Ok(title), |fault| Err(field.error(fault)))
}

/// The fault of a text as a label or name for readers, which is one line that is not blank.
pub fn title_fault(title: &str) -> Option<String> {
    let fault = if title.is_empty() {
        "the text is empty"
    } else if title.trim() != title {
        "the text begins or ends with a space"
    } else if has_invisible(title) {
        "the text has a line break, a control character or one that cannot be seen"
    } else if title.chars().count() > MAX_TITLE {
        "the text is longer than 100 characters"
    } else {
        return None;
    };
    Some(format!("{fault}: expected one line of text"))
}

/// Returns whether a text has a control character, a line break, a character without width, or one
/// that changes the direction of the text. Joiners between letters of a script or between emoji are
/// allowed, since their effect can be seen.
pub fn has_invisible(text: &str) -> bool {
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
        let joins = || !before.is_ascii() && rest.clone().next().is_some_and(|after| !after.is_ascii());
        let is_invisible = character.is_control()
            || matches!(
                character,
                '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            );
        if is_invisible && !(is_joiner && joins()) {
            return true;
        }
        before = character;
    }
    false
}

/// Text as a TOML string, on one line.
pub fn quoted(text: &str) -> String {
    // JSON's escapes are valid in TOML. TOML also requires DEL to be escaped.
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// Refuses a name that was given before.
///
/// # Errors
///
/// The name was given before.
pub fn unique(
    given: &mut Vec<(String, Location)>,
    name: String,
    location: Location,
    kind: &str,
) -> Result<(), Error> {
    if let Some((_, first)) = given.iter().find(|(other, _)| *other == name) {
        let place = first.words();
        let remedy = if kind == "label" { ": tell them apart with `label`" } else { "" };
        return Err(location.error(format!("{kind} {name:?} is already used in {place}{remedy}")));
    }
    given.push((name, location));
    Ok(())
}
