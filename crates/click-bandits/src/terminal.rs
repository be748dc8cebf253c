//! Text for standard output and standard error.
//!
//! Names may come from untrusted files: characters that control a terminal are written as `\u{1b}`.
//! Columns are those of a terminal, so that names in any script are aligned.

use crate::interrupt;
use anyhow::Result;
use report::into_lines;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _, stderr, stdout};
use std::ops::Range;
use terminal_size::{Width, terminal_size};
use unicode_width::UnicodeWidthStr as _;

/// Columns of text where nothing says how many there are.
const COLUMNS: usize = 80;
/// In fewer columns no text is set.
const LEAST: usize = 40;

/// Writes to standard output, on a terminal in lines of its width.
pub(crate) fn say(text: &dyn Display) -> Result<()> {
    let text = text.to_string();
    let text = harmless(&text);
    match given_columns() {
        Some(columns) => put(&fitted(&text, columns)),
        None => put(&text),
    }
}

/// The columns of the terminal, or those that `COLUMNS` names. A file and a pipe have none: their
/// lines are whole, for programs that search them.
fn given_columns() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let of_terminal = || terminal_size().filter(|_| stdout().is_terminal());
    let columns = named.or_else(|| of_terminal().map(|(Width(columns), _)| columns.into()));
    columns.map(|columns| columns.max(LEAST))
}

/// The columns of text that has its lines in any case: at most 80.
pub(crate) fn columns() -> usize {
    given_columns().map_or(COLUMNS, |columns| columns.min(COLUMNS))
}

/// A text whose lines of prose have at most `columns` columns. Rows of tables stay whole: they have
/// two spaces between cells.
fn fitted(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        let words = line.trim_start_matches(' ');
        let (indent, end) = line.split_at(line.len() - words.len());
        if words.contains("  ") || indent.len() + width(end.trim_end()) <= columns {
            out += line;
            continue;
        }
        for part in wrapped(words, columns.saturating_sub(indent.len())) {
            out.extend([indent, &part, "\n"]);
        }
    }
    out
}

/// Writes a text of the program's own, which may have tabs, to standard output.
pub(crate) fn put(text: &str) -> Result<()> {
    print(text.as_bytes())
}

/// Writes a file's content to standard output.
pub(crate) fn print(content: &[u8]) -> Result<()> {
    let mut output = stdout().lock();
    Ok(written(output.write_all(content).and_then(|()| output.flush()))?)
}

/// The outcome of writing to standard output. A pipe that its reader has closed ends the program.
pub(crate) fn written<T>(outcome: io::Result<T>) -> io::Result<T> {
    outcome.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => interrupt::end_cut_off(),
        kind => io::Error::new(kind, format!("standard output cannot be written: {error}")),
    })
}

/// Writes a line to standard error. Errors are ignored.
pub(crate) fn tell(text: &dyn Display) {
    let text = text.to_string();
    let _ = writeln!(stderr(), "{}", harmless(&text));
}

/// A text with the characters escaped that control a terminal, except line breaks.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character != '\n' && controls_terminal(character))
}

/// A text with all characters escaped that control a terminal, so that it is one line.
pub(crate) fn in_line(text: &str) -> Cow<'_, str> {
    escaped(text, controls_terminal)
}

/// The number of terminal columns of a text of one line.
pub(crate) fn width(text: &str) -> usize {
    in_line(text).width()
}

/// Pads a text of one line with spaces to `columns` columns. A wider text is not cut.
pub(crate) fn left(text: &str, columns: usize) -> String {
    let text = in_line(text);
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Rows of equal length as lines, indented by two columns, with two columns between the cells. The
/// cells of the columns in `right` are aligned to the right, the others to the left. A table of
/// more than two columns begins with its heads. If a terminal would break its lines, it is in
/// paragraphs.
pub(crate) fn table<R: AsRef<[String]>>(rows: &[R], right: Range<usize>) -> String {
    let text = grid(rows, right.clone());
    let is_too_wide = given_columns().is_some_and(|columns| text.lines().any(|line| width(line) > columns));
    if is_too_wide { paragraphs(rows, right) } else { text }
}

fn grid<R: AsRef<[String]>>(rows: &[R], right: Range<usize>) -> String {
    let width_of = |column: usize| rows.iter().map(|row| width(&row.as_ref()[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, |row| row.as_ref().len())).map(width_of).collect();
    let line = |row: &R| {
        let cell = |(column, cell): (usize, &String)| {
            let (text, space) = (in_line(cell), " ".repeat(widths[column] - width(cell)));
            if right.contains(&column) { format!("  {space}{text}") } else { format!("  {text}{space}") }
        };
        row.as_ref().iter().enumerate().map(cell).collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// The rows of a table as prose: the first column that is not in `right`, and the others below it
/// with their heads.
fn paragraphs<R: AsRef<[String]>>(rows: &[R], right: Range<usize>) -> String {
    let n_columns = rows.first().map_or(0, |row| row.as_ref().len());
    let title = (0..n_columns).find(|column| !right.contains(column)).unwrap_or(0);
    let heads = rows.first().map(AsRef::as_ref).filter(|heads| heads.len() > 2);
    let mut text = String::new();
    for row in rows.iter().map(AsRef::as_ref).skip(usize::from(heads.is_some())) {
        let others = (0..n_columns).filter(|column| *column != title && !row[*column].is_empty());
        let cell = |column: usize| match heads.map(|heads| heads[column].trim()) {
            Some(head) if !head.is_empty() => format!("{head}: {}", in_line(&row[column])),
            _ => in_line(&row[column]).into_owned(),
        };
        // A number alone does not say what it is.
        let is_number = row[title].starts_with(|letter: char| letter.is_ascii_digit());
        let title = if is_number { cell(title) } else { in_line(&row[title]).into_owned() };
        text.extend(["  ", &title, "\n"]);
        let others = others.map(cell).collect::<Vec<_>>().join("; ");
        if !others.is_empty() {
            text.extend(["      ", &others, "\n"]);
        }
    }
    text
}

/// [`tell`], unless it is to be quiet.
#[cfg(feature = "logs")]
pub(crate) fn telling(quiet: bool) -> impl Fn(&str) {
    move |text| {
        if !quiet {
            tell(&text);
        }
    }
}

/// A document as JSON, with a line break at its end.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// A text in lines of at most `columns` columns. A wider word has a line of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    into_lines(text.split_ascii_whitespace(), |line, word| width(line) + 1 + width(word) <= columns)
}

/// Returns whether a character controls a terminal: control characters, line breaks, and characters
/// that change the direction of the text.
fn controls_terminal(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_escaped) {
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
    fn characters_that_control_a_terminal_are_escaped() {
        assert_eq!(harmless("plain, é, 日本, 👩‍🔬\n"), "plain, é, 日本, 👩‍🔬\n");
        assert_eq!(harmless("\u{1b}[2Ja\r\nb\u{9b}m\u{202e}c"), "\\u{1b}[2Ja\\r\nb\\u{9b}m\\u{202e}c");
        assert_eq!(in_line("a\nb\t\u{7}\u{2028}"), "a\\nb\\t\\u{7}\\u{2028}");
    }

    #[test]
    fn texts_are_broken_at_spaces_by_their_width() {
        assert_eq!(wrapped("one two  \nthree", 7), ["one two", "three"]);
        assert_eq!(wrapped("日本 日本 日本", 9), ["日本 日本", "日本"]);
        assert_eq!(wrapped("a longer-than-that b", 7), ["a", "longer-than-that", "b"]);
        assert!(wrapped("", 9).is_empty());
    }

    #[test]
    fn prose_has_the_width_of_the_terminal_and_rows_stay_whole() {
        let row = "  cascade     0.76  [−0.12, 1.64]        −0.0016  supported\n";
        let text = format!("  one two three\n\n{row}short\n");
        assert_eq!(fitted(&text, 12), format!("  one two\n  three\n\n{row}short\n"));
        assert_eq!(fitted(&text, 40), text);
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        // Letters of two columns; a letter with a combining accent; joined emoji.
        for (text, columns) in [("日本", 4), ("e\u{301}", 1), ("👩‍🔬", 2), ("\u{1b}", 6), ("", 0)] {
            assert_eq!(width(text), columns, "{text:?}");
            assert_eq!(width(&left(text, 9)), 9, "{text:?}");
        }
        let rows =
            [["ab", "1", "x"], ["日本語", "23", "y"], ["👍🏽", "4", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows, 1..2), "  ab       1  x\n  日本語  23  y\n  👍🏽       4\n");
    }

    #[test]
    fn a_table_that_is_too_wide_is_in_paragraphs() {
        let rows = [
            ["lists", "query", "gain", ""],
            ["12", "lamp", "3 [1, 5]", "used"],
            ["7", "a\tb", "", ""],
            ["", "7", "", ""],
        ]
        .map(|row| row.map(str::to_owned));
        let by_query = "  lamp\n      lists: 12; gain: 3 [1, 5]; used\n  a\\tb\n      lists: 7\n  query: 7\n";
        assert_eq!(paragraphs(&rows, 0..1), by_query);
        let pairs = [["lamp", "lamp-1 · lamp-2"]].map(|row| row.map(str::to_owned));
        assert_eq!(paragraphs(&pairs, 0..0), "  lamp\n      lamp-1 · lamp-2\n");
    }
}
