//! The kinds of claims as a table for readers, in Markdown.

use crate::claims;

/// Keys of every kind of test, and what has to hold.
pub fn claim_kinds() -> String {
    let head = "| `kind` | keys | what has to hold |\n|---|---|---|\n".to_owned();
    let rows = claims::KINDS.iter();
    rows.fold(head, |text, kind| text + &format!("| `{}` | {} | {} |\n", kind.name, kind.keys, kind.holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_experiments_readme_has_the_tables() {
        let readme = include_str!("../../../xtask/experiments/README.md");
        for (name, table) in [("claim kinds", claim_kinds())] {
            let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
            let found = readme.split_once(&begin).and_then(|(_, rest)| Some(rest.split_once(&end)?.0));
            assert_eq!(found, Some(table.as_str()), "cargo run -p report --example tables");
        }
    }
}
