//! Words that no text of the project may contain, because a reader would have to guess their
//! meaning; and the width of pages.

use crate::numbered::top;
use std::fs;
use std::path::{Path, PathBuf};

/// Each word is split in two, so that this file does not contain it.
const RIDDLES: [[&str; 2]; 4] = [["so ", "many"], ["who", "ever"], ["fore", "told"], ["of nobody", "'s"]];
/// The columns of a line of prose.
const WIDTH: usize = 100;
/// Extensions of files with text.
const TEXTS: [&str; 3] = ["rs", "md", "toml"];
/// Folders to skip.
const OTHERS: [&str; 5] = ["target", ".git", "data", "corpus", "node_modules"];

/// The files with these extensions in a folder and below, without those of [`OTHERS`].
pub(crate) fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if !OTHERS.iter().any(|other| name == *other) {
                found.extend(files(&path, extensions));
            }
        } else if path.extension().is_some_and(|end| extensions.iter().any(|text| end == *text)) {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_riddles() {
    let files = files(top(), &TEXTS);
    assert!(files.len() > 300, "{} files with text", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            for riddle in RIDDLES.map(|parts| parts.concat()) {
                if line.to_lowercase().contains(&riddle) {
                    found.push(format!("{}:{number}: {riddle}", file.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "say it plainly:\n{}", found.join("\n"));
}

/// The lines of prose of a page, or of the comments of a source file, with their numbers: neither
/// code nor tables, headings and links.
fn prose(text: &str, is_page: bool) -> Vec<(usize, &str, &str)> {
    let (mut is_code, mut is_example, mut found) = (false, false, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        let words = match start.strip_prefix("//") {
            _ if is_page => start,
            Some(comment) => comment.strip_prefix(['/', '!']).unwrap_or(comment).trim_start(),
            None => {
                (is_code, is_example) = (false, false);
                continue;
            }
        };
        let is_fence = words.starts_with("```");
        is_code ^= is_fence;
        // Examples of Python's docstrings end with the comment.
        is_example |= words.starts_with("Examples:");
        let is_block = is_page && line.starts_with("    ");
        if !(is_code || is_fence || is_example || is_block || words.starts_with(['|', '#', '<', '!', '['])) {
            found.push((number, line, words));
        }
    }
    found
}

#[test]
fn prose_ends_at_the_width() {
    let mut found = Vec::new();
    for file in files(top(), &["md", "rs"]) {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line, words) in prose(&text, file.extension().is_some_and(|end| end == "md")) {
            let before = line.chars().count() - words.chars().count();
            let fits = words.chars().take(WIDTH.saturating_sub(before)).any(|letter| letter == ' ');
            if fits && line.chars().count() > WIDTH {
                found.push(format!("{}:{number}", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "lines of more than {WIDTH} columns:\n{}", found.join("\n"));
}

/// A sentence begins with its subject.
#[test]
fn no_sentence_begins_with_what() {
    let mut found = Vec::new();
    for file in files(top(), &["md", "rs"]) {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line, words) in prose(&text, file.extension().is_some_and(|end| end == "md")) {
            if ["What ", "Of a ", "Of the "].iter().any(|start| words.starts_with(start))
                && !line.contains('?')
            {
                found.push(format!("{}:{number}: {words}", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "begin with the subject:\n{}", found.join("\n"));
}
