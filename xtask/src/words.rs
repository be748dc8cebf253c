//! The wording and the width of prose: of pages, and of comments in source files.

use crate::numbered::top;
use std::fs;
use std::path::{Path, PathBuf};

/// Wordings at the beginning of a paragraph or a line, and the better way.
const BEGINNINGS: [(&str, &str); 3] = [
    ("What ", "begin with the subject"),
    ("Of a ", "begin with the subject"),
    ("Of the ", "begin with the subject"),
];
/// Wordings anywhere in a line, and the better way.
const WORDINGS: [(&str, &str); 4] = [
    ("so many", "say how many"),
    ("whoever", "name the person"),
    ("foretold", "say predicted"),
    ("of nobody's", "say that it belongs to none"),
];
/// The columns of a line of prose.
const WIDTH: usize = 100;
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
fn prose_is_plain_and_ends_at_the_width() {
    let files = files(top(), &["md", "rs"]);
    assert!(files.len() > 300, "{} files with prose", files.len());
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("xtask/src/words.rs")) {
        let text = fs::read_to_string(file).unwrap();
        for (number, line, words) in prose(&text, file.extension().is_some_and(|end| end == "md")) {
            let mut fault = |better: &str| found.push(format!("{}:{number}: {better}", file.display()));
            for (beginning, better) in BEGINNINGS {
                if words.starts_with(beginning) && !line.contains('?') {
                    fault(better);
                }
            }
            for (wording, better) in WORDINGS {
                if line.to_lowercase().contains(wording) {
                    fault(better);
                }
            }
            let before = line.chars().count() - words.chars().count();
            let fits = words.chars().take(WIDTH.saturating_sub(before)).any(|letter| letter == ' ');
            if fits && line.chars().count() > WIDTH {
                fault("wrap it at 100 columns");
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
