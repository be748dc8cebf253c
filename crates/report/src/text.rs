//! Text in pictures and pages: allowed characters, widths, and line breaks.
//!
//! A letter here is a grapheme: an accent stays with its letter, and joined emoji stay together. Widths are counted in narrow letters; a
//! wide letter of Chinese, Japanese or Korean counts as two.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Whether XML 1.0 allows the character. A browser does not show a picture with any other character.
pub(crate) fn is_in_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// A text for a picture: in one line, and with characters that XML does not allow replaced.
pub(crate) fn drawable(text: &str) -> String {
    let drawn = |character: char| match character {
        character if character.is_control() => ' ',
        character if !is_in_xml(character) => char::REPLACEMENT_CHARACTER,
        character => character,
    };
    text.chars().map(drawn).collect()
}

/// The width of a text in narrow letters.
pub(crate) fn n_columns(text: &str) -> usize {
    text.width()
}

/// The letters (graphemes) of a text.
pub fn letters(text: &str) -> Vec<&str> {
    text.graphemes(true).collect()
}

/// Breaks a label into at most two lines of at most `columns` narrow letters. A longer label is cut.
pub(crate) fn wrapped(label: &str, columns: usize) -> Vec<String> {
    let label = drawable(label);
    if n_columns(&label) <= columns {
        return vec![label];
    }
    let all = letters(&label);
    let room = fitting(&all, columns).max(1);
    // Break after the last space, hyphen, comma or closing bracket that fits.
    let at = (room / 2..room)
        .rev()
        .find(|&index| matches!(all[index], " " | "-" | "," | ")" | "/"))
        .map_or(room, |index| index + 1);
    let first = all[..at].concat().trim_end().to_owned();
    let rest: Vec<&str> = all[at..].iter().copied().skip_while(|letter| *letter == " ").collect();
    let second = if n_columns(&rest.concat()) <= columns {
        rest.concat()
    } else {
        rest[..fitting(&rest, columns.saturating_sub(1))].concat() + "…"
    };
    vec![first, second]
}

/// Breaks a text between words into lines of at most `columns` narrow letters. A single longer word has a line of its own.
pub(crate) fn in_lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in drawable(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if n_columns(line) + 1 + n_columns(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Breaks a text into lines of at most `columns` narrow letters, and cuts longer words.
pub(crate) fn in_cut_lines(text: &str, columns: usize) -> Vec<String> {
    in_lines(text, columns).iter().flat_map(|line| wrapped(line, columns)).collect()
}

/// The number of letters from the first on that fit into `columns`.
fn fitting(letters: &[&str], columns: usize) -> usize {
    let mut used = 0;
    letters
        .iter()
        .take_while(|letter| {
            used += n_columns(letter);
            used <= columns
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_break_into_two_lines() {
        assert_eq!(wrapped("short", 10), ["short"]);
        assert_eq!(wrapped("lower bound of the paper", 14), ["lower bound", "of the paper"]);
        assert_eq!(wrapped("abcdefghijklmnopqrstuvwxyz", 10), ["abcdefghij", "klmnopqrs…"]);
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(in_lines("position based, steep", 10), ["position", "based,", "steep"]);
        assert_eq!(in_lines("a b c", 10), ["a b c"]);
        assert_eq!(in_lines("a abcdefghijkl b", 10), ["a", "abcdefghijkl", "b"]);
        assert_eq!(in_cut_lines("a abcdefghijkl b", 10), ["a", "abcdefghij", "kl", "b"]);
        assert!(in_cut_lines(" \u{0}", 10).is_empty());
    }

    #[test]
    fn lines_break_between_letters_only() {
        let (family, accented) = ("👩\u{200d}👩\u{200d}👧", "e\u{301}");
        for letter in [family, accented, "日", "👍🏽", "🇫🇷"] {
            for columns in 1..12 {
                for line in wrapped(&letter.repeat(20), columns) {
                    let rest = line.replace(letter, "");
                    assert!(rest.is_empty() || rest == "…", "{letter}, {columns}: {line}");
                    assert!(
                        n_columns(&line) <= columns.max(n_columns(letter) + 1),
                        "{letter}, {columns}: {line}"
                    );
                }
            }
        }
        assert_eq!(wrapped("日本語の文字列", 8), ["日本語の", "文字列"]);
    }

    #[test]
    fn characters_that_xml_does_not_allow_are_replaced() {
        assert_eq!(drawable("a\u{fffe}b\u{ffff}c\u{0}\n\u{1b}日👍"), "a\u{fffd}b\u{fffd}c   日👍");
        assert!(drawable("\u{e000}\u{fffd}\u{10ffff}") == "\u{e000}\u{fffd}\u{10ffff}");
    }
}
