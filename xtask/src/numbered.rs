//! The table of the papers' numbered items, `docs/numbered-items.md`: what it names has to exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::words::files;

/// The page's tables, each under a heading with the number of its rows.
const PAPERS: [(&str, usize); 5] = [
    ("PBM paper", 26),
    ("Random semi-bandit paper", 14),
    ("Rank-1 paper", 10),
    ("CascadeBAI paper", 36),
    ("RUCB paper", 11),
];

pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn page() -> String {
    fs::read_to_string(top().join("docs/numbered-items.md")).unwrap()
}

/// The rows of a paper's table: item, statement, code, test.
fn rows<'a>(page: &'a str, paper: &str) -> Vec<[&'a str; 4]> {
    let heading = format!("\n## {paper}\n");
    let (_, section) = page.split_once(&*heading).unwrap_or_else(|| panic!("no section {paper}"));
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            cells.try_into().unwrap_or_else(|cells| panic!("not four cells: {cells:?}"))
        })
        .collect()
}

/// The texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The contents of the files with this ending below a folder.
fn texts(folder: &str, ending: &str) -> Vec<String> {
    files(&top().join(folder), &[ending]).iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// The word that follows one of these words, of every line that has one.
fn named_after(texts: &[String], keywords: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            if keywords.contains(&word) {
                let name = words.clone().next().unwrap_or_default();
                names.insert(
                    name.chars().take_while(|&letter| letter.is_alphanumeric() || letter == '_').collect(),
                );
            }
        }
    }
    names
}

/// Functions that tests run: those after `#[test]`, and the properties in `quickcheck!`.
fn tests(texts: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in texts {
        let (mut is_test, mut is_property) = (false, false);
        for line in text.lines() {
            let indented = line.strip_prefix("    fn ").filter(|_| is_property);
            let function = line.trim().strip_prefix("fn ").filter(|_| is_test);
            if let Some(rest) = indented.or(function) {
                names.insert(rest.split('(').next().unwrap_or_default().to_owned());
            }
            // Other attributes may stand in between.
            let line = line.trim_end();
            is_test = line.trim() == "#[test]" || is_test && line.trim().starts_with('#');
            is_property = line == "quickcheck! {" || is_property && line != "}";
        }
    }
    names
}

/// The names of claims about the experiments.
fn claims(texts: &[String]) -> BTreeSet<String> {
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter_map(|line| Some(line.strip_prefix("name = \"")?.strip_suffix('"')?.to_owned())).collect()
}

/// Names of the last column that are no test of the sources and no claim of an experiment.
fn unknown_tests<'a>(rows: &[[&'a str; 4]], known: &BTreeSet<String>) -> Vec<&'a str> {
    let is_unknown = |name: &&str| !known.contains(name.rsplit('/').next().unwrap_or_default());
    rows.iter().flat_map(|[.., test]| quoted(test)).filter(is_unknown).collect()
}

/// Names of the third column whose last part is nothing that the sources define. Commands and
/// longer code are skipped.
fn unknown_code<'a>(rows: &[[&'a str; 4]], known: &BTreeSet<String>) -> Vec<&'a str> {
    let names = rows.iter().flat_map(|[_, _, code, _]| quoted(code)).filter(|name| !name.contains(' '));
    names.filter(|name| !known.contains(name.rsplit("::").next().unwrap_or_default())).collect()
}

#[test]
fn every_item_has_one_row() {
    let page = page();
    for (paper, number) in PAPERS {
        let rows = rows(&page, paper);
        let items: BTreeSet<&str> = rows.iter().map(|[item, ..]| *item).collect();
        assert_eq!((rows.len(), items.len()), (number, number), "{paper}");
        assert!(rows.iter().flatten().all(|cell| !cell.is_empty()), "{paper} has an empty cell");
    }
}

#[test]
fn every_test_and_claim_of_the_table_exists() {
    let page = page();
    let mut known = tests(&texts("crates", "rs"));
    known.extend(claims(&texts("xtask/experiments", "toml")));
    assert!(known.len() > 1000, "{} tests and claims", known.len());
    for (paper, _) in PAPERS {
        let unknown = unknown_tests(&rows(&page, paper), &known);
        assert!(unknown.is_empty(), "{paper}: {}", unknown.join(", "));
    }
}

#[test]
fn every_name_of_code_in_the_table_exists() {
    let page = page();
    let keywords = ["fn", "struct", "enum", "trait", "const", "type", "mod"];
    let known = named_after(&texts("crates", "rs"), &keywords);
    for (paper, _) in PAPERS {
        let unknown = unknown_code(&rows(&page, paper), &known);
        assert!(unknown.is_empty(), "{paper}: {}", unknown.join(", "));
    }
}

#[test]
fn code_tests_and_claims_are_linked_to_the_file_that_defines_them() {
    let page = page();
    let mut links = 0;
    let cells = PAPERS.iter().flat_map(|(paper, _)| rows(&page, paper)).flat_map(|row| [row[2], row[3]]);
    for cell in cells {
        let names = quoted(cell).filter(|name| !name.contains(' ')).count();
        let linked: Vec<_> = cell.split("[`").skip(1).filter_map(|rest| rest.split_once("`](")).collect();
        assert_eq!(linked.len(), names, "{cell}");
        for (name, rest) in linked {
            let path = top().join("docs").join(rest.split(')').next().unwrap());
            let last = match name.split_once('/') {
                Some((experiment, claim)) if rest.contains(experiment) => format!("name = \"{claim}\""),
                _ => format!(" {}", name.rsplit("::").next().unwrap()),
            };
            assert!(fs::read_to_string(&path).unwrap().contains(&last), "{name}: {}", path.display());
            links += 1;
        }
    }
    assert!(links > 200, "{links}");
}

#[test]
fn rows_without_their_test_are_noticed() {
    let page = "\n## A\n\n| item | says | code | test |\n|---|---|---|---|\n\
        | Lemma 1 | x | `a::one`, `cargo run` | `first`, and `second` |\n| Lemma 2 | y | `gone` | `third` |\n\n## B\n";
    let rows = rows(page, "A");
    assert_eq!(rows.len(), 2);
    let sources = ["#[test]\nfn first() {\n}\nfn third() {\n}\nquickcheck! {\n    fn second(x: u8) -> bool {\n    }\n}\npub fn one() {".to_owned()];
    assert_eq!(unknown_tests(&rows, &tests(&sources)), ["third"]);
    assert_eq!(unknown_code(&rows, &named_after(&sources, &["fn"])), ["gone"]);
    assert!(claims(&["name = \"a-claim\"\npanel = \"b\"".to_owned()]).contains("a-claim"));
}
