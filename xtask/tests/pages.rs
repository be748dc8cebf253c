//! The pages: their links lead somewhere, the book has all of them, and those with commands say how
//! to get the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn pages_with_commands_say_how_to_install_them() {
    let docs = top().join("docs");
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

/// The folder of the checkout.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The pages below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "corpus"].contains(&name) {
                pages(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
}

fn all_pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    pages(top(), &mut found);
    found.sort();
    assert!(found.len() > 60, "{found:?}");
    found
}

/// A page without its blocks of code.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            out.extend([line, "\n"]);
        }
    }
    out
}

/// The links of a page, without the addresses of other sites.
fn links(text: &str) -> Vec<String> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let links = ends.map(|(link, _)| link.split_whitespace().next().unwrap_or_default().to_owned());
    links.filter(|link| !link.contains(':') && !link.is_empty()).collect()
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let mut words = heading.trim_start_matches('#').trim().to_lowercase();
        // A link in a heading counts by its text.
        while let Some((before, rest)) = words.split_once("](") {
            let after = rest.split_once(')').map_or("", |(_, after)| after);
            words = format!("{before}{after}");
        }
        let letters = words.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        letters.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_of_all_pages_lead_somewhere() {
    let mut broken = Vec::new();
    for page in all_pages() {
        let text = without_code(&fs::read_to_string(&page).unwrap());
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            // Names of Rust items are links for rustdoc.
            if !path.is_empty() && !path.contains('/') && !path.contains('.') && !path.contains("LICENSE") {
                continue;
            }
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let index = target.join("README.md");
            let target = if index.exists() { index } else { target };
            let is_page = target.extension().is_some_and(|end| end == "md");
            let has_anchor = || {
                let text = fs::read_to_string(&target).unwrap();
                anchor.is_empty() || anchors(&without_code(&text)).contains(anchor)
            };
            // The book has no page of its own contents.
            if !target.exists() || link.contains("SUMMARY.md") || is_page && !has_anchor() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The book has every page once, in the order of `docs/SUMMARY.md`.
#[test]
fn the_book_has_every_page() {
    let docs = top().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> =
        links(&summary).iter().map(|link| docs.join(link).canonicalize().expect(link)).collect();
    let all = all_pages().into_iter().filter(|page| !page.ends_with("SUMMARY.md"));
    // The experiments are also in the folder of the program, by a symbolic link.
    let all: BTreeSet<PathBuf> = all.map(|page| page.canonicalize().unwrap()).collect();
    assert_eq!(listed.len(), all.len());
    assert_eq!(BTreeSet::from_iter(listed), all);
}

#[test]
fn broken_links_and_anchors_are_noticed() {
    let page = "# A\n[a](b.md#c-d_e), [x](https://y.z)\n```\n[c](d.md)\n```\n## C `d_e`, [f](g.md)\n";
    let text = without_code(page);
    assert_eq!(links(&text), ["b.md#c-d_e", "g.md"]);
    assert_eq!(anchors(&text).into_iter().collect::<Vec<_>>(), ["a", "c-d_e-f"]);
}

/// The crates that examples of a page use, by the names in their `use`.
fn used(text: &str) -> BTreeSet<&str> {
    let blocks = text.split("```rust").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).map(|line| line.trim_start_matches("# ").trim_start());
    let paths = lines.filter_map(|line| line.strip_prefix("use "));
    paths.map(|path| path.split([':', ';']).next().unwrap()).filter(|name| *name != "std").collect()
}

#[test]
fn readmes_of_crates_name_what_their_examples_use() {
    let mut found = 0;
    for page in all_pages().into_iter().filter(|page| page.starts_with(top().join("crates"))) {
        let own = page.parent().unwrap().file_name().unwrap().to_str().unwrap().replace('-', "_");
        let text = fs::read_to_string(&page).unwrap();
        for name in used(&text).into_iter().filter(|name| *name != own) {
            let names = [name.to_owned(), name.replace('_', "-")].map(|name| format!("`{name}`"));
            assert!(names.iter().any(|name| text.contains(name)), "{}: {name}", page.display());
            found += 1;
        }
    }
    assert!(found > 15, "{found}");
}

#[test]
fn the_page_of_installation_lists_the_archive_of_a_release() {
    let script = fs::read_to_string(top().join("service/release.sh")).unwrap();
    let page = fs::read_to_string(top().join("docs/install.md")).unwrap();
    let copied = script.lines().find_map(|line| line.strip_prefix("cp README.md")).unwrap();
    let files = copied.split_whitespace().filter(|path| !path.starts_with('"'));
    let names: Vec<&str> = files.map(|path| path.rsplit('/').next().unwrap()).collect();
    assert!(names.len() > 4, "{names:?}");
    for name in names.into_iter().chain(["README.md", "bin/click-bandits", "bin/click-bandits-serve", ".whl"])
    {
        assert!(page.contains(name), "docs/install.md: {name}");
    }
}
