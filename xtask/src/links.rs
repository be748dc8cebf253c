//! Links of the READMEs of packages: a registry has no files outside a package.

use crate::numbered::top;
use std::fs;
use std::path::PathBuf;

/// The relative links of a page in Markdown, without their anchors.
pub(crate) fn links(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(link, _)| link.split('#').next().unwrap_or_default())
        .filter(|link| !link.is_empty() && !link.contains(':') && !link.contains(' '))
}

fn packages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(top().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn readmes_link_within_their_package() {
    let mut broken = Vec::new();
    for package in packages() {
        let text = fs::read_to_string(package.join("README.md")).unwrap();
        // Links that rustdoc alone follows are dead everywhere else.
        let of_rustdoc = text
            .lines()
            .filter(|line| line.contains("](crate::") || line.starts_with("[`") && line.contains("crate::"));
        let dead = links(&text).filter(|link| link.starts_with("..") || !package.join(link).exists());
        broken.extend(of_rustdoc.chain(dead).map(|link| format!("{}: {link}", package.display())));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn packages_have_their_licences() {
    for package in packages() {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = fs::read_to_string(package.join(licence));
            assert!(text.is_ok_and(|text| text.len() > 1000), "{}/{licence}", package.display());
        }
    }
}

#[test]
fn links_are_found_with_and_without_anchors() {
    let page = "[a](b/c.md#d), [e](https://f.g), [`H`](crate::H), ![i](../j.svg), [k](#l)";
    assert_eq!(links(page).collect::<Vec<_>>(), ["b/c.md", "../j.svg"]);
}
