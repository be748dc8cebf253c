//! Markdown tables of the kinds of claims and of figures.

use crate::{claims, figure};

/// The table of claim kinds: keys, and the statement that has to hold.
pub fn claim_kinds() -> String {
    claims::Kind::table(&claims::KINDS, "what has to hold")
}

/// The table of figure kinds: keys, and what is shown.
pub fn figure_kinds() -> String {
    figure::Kind::table(&figure::KINDS, "what it shows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readmes_have_the_generated_tables() {
        let experiments = include_str!("../../../xtask/experiments/README.md");
        let program = include_str!("../../click-bandits/README.md");
        let files = include_str!("../../../docs/files.md");
        for (readme, name, table) in [
            (files, "experiment", spec::experiment::keys::subsections()),
            (experiments, "claim kinds", claim_kinds()),
            (experiments, "figure kinds", figure_kinds()),
            (program, "models", spec::models::subsections()),
        ] {
            let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
            let found = readme.split_once(&begin).and_then(|(_, rest)| Some(rest.split_once(&end)?.0));
            assert_eq!(found, Some(table.as_str()), "write the tables anew: cargo xtask tables");
        }
    }
}
