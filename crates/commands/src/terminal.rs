//! What a command says, on standard output and standard error.
//!
//! Names come from files of others, and a terminal obeys some characters: what is said has none of them. They are written as `\u{1b}`.
//! Columns are as wide as a terminal shows them, so that names in any script stand in line.

use anyhow::{Context as _, Result};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stderr, stdout};
use unicode_width::UnicodeWidthStr as _;

/// Writes to standard output. A reader who closed it has seen enough.
///
/// # Errors
///
/// What the system says, as of a full disk: what was asked for is not there, whatever files are.
pub(crate) fn say(text: &impl Display) -> Result<()> {
    let text = text.to_string();
    let mut output = stdout().lock();
    match write!(output, "{}", harmless(&text)).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. With nowhere to say it the program goes on.
pub(crate) fn tell(text: &impl Display) {
    let text = text.to_string();
    let _ = writeln!(stderr(), "{}", harmless(&text));
}

/// The text without what a terminal obeys, but for line breaks.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character != '\n' && is_obeyed(character))
}

/// The same in one line.
pub(crate) fn in_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// The columns of a terminal that a text of one line takes.
pub(crate) fn width(text: &str) -> usize {
    in_line(text).width()
}

/// A text of one line at the left of `columns` columns; of more where it is wider.
pub(crate) fn left(text: &str, columns: usize) -> String {
    let text = in_line(text);
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Whether a terminal does something else with a character than to show it: control characters, among them those that break lines, and
/// what turns the direction of the text.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_escaped(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing() {
        assert_eq!(harmless("plain, é, 日本, 👩‍🔬\n"), "plain, é, 日本, 👩‍🔬\n");
        assert_eq!(harmless("\u{1b}[2Ja\r\nb\u{9b}m\u{202e}c"), "\\u{1b}[2Ja\\r\nb\\u{9b}m\\u{202e}c");
        assert_eq!(in_line("a\nb\t\u{7}\u{2028}"), "a\\nb\\t\\u{7}\\u{2028}");
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        // Letters of two columns; a letter and an accent of its own; three joined to one.
        for (text, columns) in [("日本", 4), ("e\u{301}", 1), ("👩‍🔬", 2), ("\u{1b}", 6), ("", 0)] {
            assert_eq!(width(text), columns, "{text:?}");
            assert_eq!(width(&left(text, 9)), 9, "{text:?}");
        }
        assert_eq!((left("ab", 4).as_str(), left("abc", 2).as_str()), ("ab  ", "abc"));
    }
}
