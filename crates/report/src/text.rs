//! Text in pictures and pages: allowed characters, widths, and line breaks.
//!
//! A letter here is a grapheme: an accent stays with its letter, and joined emoji stay together.
//! Widths are in units of the font's size.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The most marks on a letter: a taller stack would cover the lines around it.
const MOST_MARKS: usize = 4;

/// Returns whether XML 1.0 allows the character, without which no browser shows a picture.
pub(crate) fn is_in_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// A text without the marks that are stacked too high on a letter.
pub(crate) fn flat(text: &str) -> impl Iterator<Item = char> {
    let mut marks = 0;
    text.chars().filter(move |&character| {
        match character {
            // Invisible: joiners, and characters that choose the form of the one before.
            '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e0fff}' => {}
            mark if mark.width() == Some(0) => marks += 1,
            _ => marks = 0,
        }
        marks <= MOST_MARKS
    })
}

/// A text for a picture: in one line, flat, and with characters that XML does not allow replaced.
pub(crate) fn drawable(text: &str) -> String {
    let drawn = |character: char| match character {
        character if character.is_control() => ' ',
        character if !is_in_xml(character) => char::REPLACEMENT_CHARACTER,
        character => character,
    };
    flat(text).map(drawn).collect()
}

/// A generous estimate of the width of a text: the reader's font is unknown.
pub(crate) fn breadth(text: &str) -> f64 {
    text.graphemes(true).map(breadth_of).sum()
}

/// The width of a letter, in a font that is wider than most.
fn breadth_of(letter: &str) -> f64 {
    match (letter.chars().next(), letter.width()) {
        (None, _) | (_, 0) => 0.0,
        (Some(narrow), _) if " !'(),-./:;I[]fijlrt|".contains(narrow) => 0.41,
        (Some(wide), _) if "MWmw@%—…".contains(wide) => 1.0,
        // Whole words, and signs of cuneiform, in one letter.
        (Some('\u{2e3a}' | '\u{2e3b}' | '\u{fdf0}'..='\u{fdff}' | '\u{12000}'..='\u{1254f}'), _) => 3.0,
        (Some('a'..='z' | '0'..='9' | '_' | '"' | '$' | '*' | '?' | '\\' | '`' | '{' | '}'), _) => 0.64,
        (_, 1) => 0.8,
        (_, columns) => 0.57 * columns as f64,
    }
}

/// The letters (graphemes) of a text.
pub fn letters(text: &str) -> Vec<&str> {
    text.graphemes(true).collect()
}

/// Breaks a label into at most two lines of this width. A longer label is cut.
pub(crate) fn wrapped(label: &str, room: f64) -> Vec<String> {
    let label = drawable(label);
    if breadth(&label) <= room {
        return vec![label];
    }
    let all = letters(&label);
    let n_first = fitting(&all, room).max(1);
    // Break after the last space, hyphen, comma or closing bracket that fits.
    let at = (n_first / 2..n_first)
        .rev()
        .find(|&index| matches!(all[index], " " | "-" | "," | ")" | "/"))
        .map_or(n_first, |index| index + 1);
    let first = all[..at].concat().trim_end().to_owned();
    let rest: Vec<&str> = all[at..].iter().copied().skip_while(|letter| *letter == " ").collect();
    let second = if breadth(&rest.concat()) <= room {
        rest.concat()
    } else {
        rest[..fitting(&rest, room - breadth("…"))].concat() + "…"
    };
    vec![first, second]
}

/// Breaks a text between words into lines of this width; a longer word has its own.
pub(crate) fn in_lines(text: &str, room: f64) -> Vec<String> {
    let fits = |line: &str, word: &str| breadth(line) + breadth(" ") + breadth(word) <= room;
    into_lines(drawable(text).split_whitespace(), fits)
}

/// Puts words into lines: each at the end of the last line if it fits there.
pub fn into_lines<'a>(
    words: impl Iterator<Item = &'a str>,
    fits: impl Fn(&str, &str) -> bool,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if fits(line, word) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Breaks a text into lines of this width, and cuts longer words.
pub(crate) fn in_cut_lines(text: &str, room: f64) -> Vec<String> {
    in_lines(text, room).iter().flat_map(|line| wrapped(line, room)).collect()
}

/// The number of letters from the first on that fit into a width.
fn fitting(letters: &[&str], room: f64) -> usize {
    let mut used = 0.0;
    letters
        .iter()
        .take_while(|letter| {
            used += breadth_of(letter);
            used <= room
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_break_into_two_lines() {
        assert_eq!(wrapped("short", 6.0), ["short"]);
        assert_eq!(wrapped("lower bound of the paper", 8.0), ["lower bound", "of the paper"]);
        assert_eq!(wrapped("abcdeabcdeabcdeabcdeabcde", 6.5), ["abcdeabcde", "abcdeabc…"]);
        // As many of them as fit, whatever follows.
        assert_eq!(wrapped("MMMMMMMMMMMMiiiiiiiiiiiiiiii", 10.0), ["MMMMMMMMMM", "MMiiiiiiiiiiiiiiii"]);
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(in_lines("position based, steep", 6.0), ["position", "based,", "steep"]);
        assert_eq!(in_lines("a b c", 6.0), ["a b c"]);
        assert_eq!(in_lines("a aaaaaaaaaaaa b", 6.5), ["a", "aaaaaaaaaaaa", "b"]);
        assert_eq!(in_cut_lines("a aaaaaaaaaaaa b", 6.5), ["a", "aaaaaaaaaa", "aa", "b"]);
        assert!(in_cut_lines(" \u{0}", 10.0).is_empty());
    }

    #[test]
    fn lines_break_between_letters_only_and_keep_their_width() {
        let (family, accented) = ("👩\u{200d}👩\u{200d}👧", "e\u{301}");
        for letter in [family, accented, "日", "👍🏽", "🇫🇷", "W", "m", "i", "﷽"] {
            for room in (1..12).map(f64::from) {
                for line in wrapped(&letter.repeat(20), room) {
                    let rest = line.replace(letter, "");
                    assert!(rest.is_empty() || rest == "…", "{letter}, {room}: {line}");
                    assert!(breadth(&line) <= room.max(breadth(letter) + 1.0), "{letter}, {room}: {line}");
                }
            }
        }
        assert_eq!(wrapped("日本語の文字列", 4.6), ["日本語の", "文字列"]);
    }

    // The widths of DejaVu Sans.
    #[test]
    fn no_letter_is_wider_than_estimated() {
        let widths = [
            ("iIl.,:;|!", 0.402),
            ("abdeghknopqu0123456789", 0.637),
            ("ABCDEGHNOQRUVX", 0.788),
            ("MWmw@%", 1.0),
            ("+=<>~#", 0.8),
            ("日本語", 1.0),
            ("éüß", 0.635),
        ];
        for (letters, width) in widths {
            for letter in letters.chars() {
                assert!(breadth(&letter.to_string()) >= width, "{letter}");
            }
        }
    }

    #[test]
    fn stacks_of_marks_are_cut_and_letters_of_all_scripts_are_kept() {
        let tall = |marks: usize| format!("z{}o", "\u{301}".repeat(marks));
        assert_eq!(drawable(&tall(60)), tall(4));
        assert_eq!(drawable(&tall(4)), tall(4));
        // Invisible characters between marks do not hide a stack.
        assert_eq!(drawable(&format!("z{}", "\u{301}\u{200d}".repeat(60))).matches('\u{301}').count(), 4);
        for whole in [
            "שָּׁ",
            "ệ",
            "क्षि",
            "กี่",
            "각",
            "👩\u{200d}👩\u{200d}👧\u{200d}👦",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        ] {
            assert_eq!(drawable(whole), whole);
        }
    }

    #[test]
    fn characters_that_xml_does_not_allow_are_replaced() {
        assert_eq!(drawable("a\u{fffe}b\u{ffff}c\u{0}\n\u{1b}日👍"), "a\u{fffd}b\u{fffd}c   日👍");
        assert!(drawable("\u{e000}\u{fffd}\u{10ffff}") == "\u{e000}\u{fffd}\u{10ffff}");
    }
}
