//! Errors about text that is not TOML, with the field in which it occurs.

use super::error::{Error, Location};
use toml::de::{DeTable, DeValue};

/// The parser's error with file, line, column, and the field if it is in one.
pub(crate) fn explain(file: &str, text: &str, error: &toml::de::Error) -> Error {
    let offset = error.span().map_or(0, |span| span.start).min(text.len());
    let field = field_at(text, offset);
    let mut message = error.message().to_owned();
    let fault = error.span().and_then(|span| text.get(span)).unwrap_or_default().trim();
    if message.starts_with("string values must be quoted") {
        // The parser reports every unquoted value that is not a number as a string without quotes.
        message = match fault.lines().next() {
            None => "a value is missing".to_owned(),
            Some(fault) => format!("{fault:?} is neither a number nor a string in quotes"),
        };
    }
    if message.starts_with("invalid mantissa") {
        message = "a number needs a digit before its point, such as 0.9".into();
    }
    let duplicate = message == "duplicate key";
    if duplicate && let Some(first) = field.as_deref().and_then(|field| first_line_of(text, field, offset)) {
        message = format!("duplicate key: it was already given in line {first}");
    } else if !duplicate {
        message = format!("not TOML: {}", message.replace('\n', " "));
    }
    Location::of_text(file, text, offset, field.as_deref().unwrap_or_default()).error(message)
}

/// The path of the key at the byte `offset`.
fn field_at(text: &str, offset: usize) -> Option<String> {
    let text_before = text.get(..offset)?;
    let line_start = text_before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    if let Some(header) = line.trim_start().strip_prefix('[') {
        let name = header.trim_start_matches('[').split([']', '#']).next()?.trim();
        return (!name.is_empty()).then(|| name.to_owned());
    }
    // In an inline table the key follows a brace or a comma; elsewhere it begins the line.
    let inline = text_before[line_start..].rfind(['{', ',']).map(|at| line_start + at + 1);
    let key = inline.into_iter().chain([line_start]).find_map(|start| key_of(&text[start..]))?;
    let (recovered, _) = DeTable::parse_recoverable(text);
    let table = enclosing_table(recovered.get_ref(), "", offset);
    Some(if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") })
}

/// The key at the start of `text`, if `=` follows it.
fn key_of(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']);
    let end = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            text[1..].find([quote, '\n']).filter(|&end| text[1 + end..].starts_with(quote))? + 2
        }
        _ => {
            text.find(|character: char| !(character.is_ascii_alphanumeric() || "-_.".contains(character)))?
        }
    };
    let key = &text[..end];
    (!key.is_empty() && text[end..].trim_start_matches([' ', '\t']).starts_with('=')).then_some(key)
}

/// The path of the innermost table that is open at the byte `offset`.
fn enclosing_table(table: &DeTable<'_>, path: &str, offset: usize) -> String {
    let mut entries: Vec<_> = table.iter().filter(|(key, _)| key.span().start < offset).collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    // The innermost table is the last one that begins before the offset and does not end before it.
    let mut best = (path.to_owned(), 0);
    for (key, value) in entries {
        let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        match value.get_ref() {
            DeValue::Table(inner) => consider(&mut best, inner, &value.span(), &path, offset),
            DeValue::Array(array) => {
                for (index, entry) in array.iter().enumerate() {
                    if let DeValue::Table(inner) = entry.get_ref() {
                        consider(&mut best, inner, &entry.span(), &format!("{path}[{index}]"), offset);
                    }
                }
            }
            _ => {}
        }
    }
    best.0
}

/// Replaces `best` by `table` or a table inside it, if `table` is open at `offset` and does not
/// begin before `best`.
fn consider(
    best: &mut (String, usize),
    table: &DeTable<'_>,
    span: &std::ops::Range<usize>,
    path: &str,
    offset: usize,
) {
    let inline = table.iter().next().is_some_and(|(key, _)| span.contains(&key.span().start));
    let open = span.start < offset && (!inline || offset < span.end);
    if open && span.start >= best.1 {
        *best = (enclosing_table(table, path, offset), span.start);
    }
}

/// The line of the first field with this path, if it is before the byte `offset`.
fn first_line_of(text: &str, field: &str, offset: usize) -> Option<usize> {
    let (recovered, _) = DeTable::parse_recoverable(text);
    let mut table = recovered.get_ref();
    let mut steps = field.split('.').peekable();
    while let Some(step) = steps.next() {
        let (name, index) = match step.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (step, None),
        };
        let (key, value) = table.get_key_value(name)?;
        if steps.peek().is_none() {
            let start = key.span().start;
            return (start < offset).then(|| 1 + text[..start].matches('\n').count());
        }
        let value = match index {
            Some(index) => value.get_ref().as_array()?.get(index)?.get_ref(),
            None => value.get_ref(),
        };
        table = value.as_table()?;
    }
    None
}

#[cfg(test)]
mod tests;
