//! Words that no text of the project may contain, because a reader would have to guess their meaning.

use std::fs;
use std::path::{Path, PathBuf};

/// Each word is split in two, so that this file does not contain it.
const RIDDLES: [[&str; 2]; 4] = [["so ", "many"], ["who", "ever"], ["fore", "told"], ["of nobody", "'s"]];
/// Extensions of files with text.
const TEXTS: [&str; 3] = ["rs", "md", "toml"];
/// Folders to skip.
const OTHERS: [&str; 4] = ["target", ".git", "data", "corpus"];

fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if !OTHERS.iter().any(|other| name == *other) {
                texts(&path, found);
            }
        } else if path.extension().is_some_and(|end| TEXTS.iter().any(|text| end == *text)) {
            found.push(path);
        }
    }
}

#[test]
fn no_riddles() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    texts(top, &mut files);
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
