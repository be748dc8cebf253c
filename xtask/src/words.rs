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

#[test]
fn prose_ends_at_the_width() {
    let mut found = Vec::new();
    for file in files(top(), &["md"]) {
        let text = fs::read_to_string(&file).unwrap();
        let mut is_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            let start = line.trim_start();
            is_code ^= start.starts_with("```");
            let is_prose =
                !is_code && !line.starts_with("    ") && !start.starts_with(['|', '#', '<', '!', '[']);
            let fits = start
                .chars()
                .take(WIDTH.saturating_sub(line.len() - start.len()))
                .any(|letter| letter == ' ');
            if is_prose && fits && line.chars().count() > WIDTH {
                found.push(format!("{}:{number}", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "lines of more than {WIDTH} columns:\n{}", found.join("\n"));
}
