//! Markdown tables of the kinds of claims and of figures.

use crate::{claims, figure};

/// The table of claim kinds: keys, and the statement that has to hold.
pub fn claim_kinds() -> String {
    let head = "| `kind` | keys | what has to hold |\n|---|---|---|\n".to_owned();
    let rows = claims::KINDS.iter();
    rows.fold(head, |text, kind| text + &format!("| `{}` | {} | {} |\n", kind.name, kind.keys, kind.holds))
}

/// The table of figure kinds, with a description of each.
pub fn figure_kinds() -> String {
    let head = "| `kind` | what it shows |\n|---|---|\n".to_owned();
    let rows = figure::KINDS.iter();
    rows.fold(head, |text, kind| text + &format!("| `\"{}\"` | {} |\n", kind.name, kind.shows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_of_the_experiments_has_the_generated_tables() {
        let readme = include_str!("../../../xtask/experiments/README.md");
        for (name, table) in [("claim kinds", claim_kinds()), ("figure kinds", figure_kinds())] {
            let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
            let found = readme.split_once(&begin).and_then(|(_, rest)| Some(rest.split_once(&end)?.0));
            assert_eq!(found, Some(table.as_str()), "cargo run -p report --example kinds");
        }
    }
}
