//! The pages of `docs`: who meets a command is told how to get it.

use std::fs;
use std::path::Path;

#[test]
fn pages_with_commands_say_how_to_install_them() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs");
    let mut pages = 0;
    for entry in fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let is_command = |line: &str| line.trim_start_matches("$ ").starts_with("click-bandits ");
        if text.lines().any(is_command) {
            assert!(text.contains("install.md)"), "{}: no link to install.md", path.display());
            pages += 1;
        }
    }
    assert!(pages > 5, "{pages} pages with commands");
}
