//! Text in pictures and pages: what may stand in it, how wide it is, and where it may be cut.
//!
//! Letters are what readers take for one: an accent stays with its letter, and of joined emoji none is cut off. Widths are counted in
//! narrow letters, of which the wide ones of Chinese, Japanese and Korean take two.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Whether XML 1.0 has the character, escaped or not; a picture with another one is not shown at all.
pub(crate) fn is_in_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// The text as a picture has it: in one line, and without what XML does not have.
pub(crate) fn drawable(text: &str) -> String {
    let drawn = |character: char| match character {
        character if character.is_control() => ' ',
        character if !is_in_xml(character) => char::REPLACEMENT_CHARACTER,
        character => character,
    };
    text.chars().map(drawn).collect()
}

/// How wide a text is, in narrow letters.
pub(crate) fn n_columns(text: &str) -> usize {
    text.width()
}

/// The letters of a text.
pub fn letters(text: &str) -> Vec<&str> {
    text.graphemes(true).collect()
}

/// A label in at most two lines of at most `columns` narrow letters, cut where it is longer still.
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

/// How many of the letters fit beside each other.
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
    fn letters_are_never_cut() {
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
    fn what_xml_does_not_have_is_replaced() {
        assert_eq!(drawable("a\u{fffe}b\u{ffff}c\u{0}\n\u{1b}日👍"), "a\u{fffd}b\u{fffd}c   日👍");
        assert!(drawable("\u{e000}\u{fffd}\u{10ffff}") == "\u{e000}\u{fffd}\u{10ffff}");
    }
}
