//! Prints the tables of keys: of models, claims and figures; `cargo xtask tables` writes them.

use report::tables;

fn main() {
    for (name, page, table) in [
        ("claim kinds", "xtask/experiments/README.md", tables::claim_kinds()),
        ("figure kinds", "xtask/experiments/README.md", tables::figure_kinds()),
        ("experiment", "docs/files.md", spec::experiment::keys::subsections()),
        ("models", "crates/click-bandits/README.md", spec::models::subsections()),
    ] {
        print!("<!-- table: {name} in {page} -->\n{table}");
    }
}
