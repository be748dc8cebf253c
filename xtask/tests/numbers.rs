//! Numbers of the front page are those of the page of reproductions, whose table has every claim of
//! the experiments that it lists.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(top.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A page as one line.
fn joined(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Experiments with their claims that are reproduced, contradicted, undecided and not testable.
fn outcome(page: &str) -> Vec<(String, [usize; 4])> {
    let (_, table) = page.split_once("| experiment | reproduced |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let count = |cell: &str| cell.parse().unwrap_or(0);
        let counts = [1, 2, 3, 4].map(|column: usize| count(cells[column]));
        (cells[0].trim_matches('`').to_owned(), counts)
    };
    rows.map(row).collect()
}

#[test]
fn the_table_of_outcomes_has_every_claim() {
    for (name, counts) in outcome(&read("docs/reproductions.md")) {
        let claims = read(&format!("xtask/experiments/{name}/claims.toml"));
        let claims = claims.lines().filter(|line| *line == "[[claims]]").count();
        assert_eq!(counts.iter().sum::<usize>(), claims, "{name}: run it again and renew its row");
    }
}

#[test]
fn the_front_page_has_the_numbers_of_the_outcome() {
    let [front, page] = ["README.md", "docs/reproductions.md"].map(|path| joined(&read(path)));
    let rows = outcome(&read("docs/reproductions.md"));
    let sum = |column: usize| rows.iter().map(|(_, counts)| counts[column]).sum::<usize>();
    let [reproduced, contradicted, undecided, untestable] = [0, 1, 2, 3].map(sum);
    let all = reproduced + contradicted + undecided + untestable;
    let totals = format!(
        "of {all} claims of thirteen experiments, {reproduced} are reproduced, {contradicted} contradicted, {undecided} undecided and \
         {untestable} not testable"
    );
    assert_eq!(rows.len(), 13);
    assert!(front.contains(&totals), "README.md: {totals}");
    for shared in ["regret 120 and 196 against 737 and 504 clicks", "commit d731fb9a, 30 November 2026"] {
        assert!(front.contains(shared) && page.contains(shared), "{shared}");
    }
    let (_, cost) = page.split_once("| `kdd2012` | 5 | 1 | - | 1 | ").unwrap();
    let cost = cost.split(' ').next().unwrap();
    assert!(front.contains(&format!("it took {cost} CPU-seconds")), "README.md: {cost}");
}
