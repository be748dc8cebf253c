//! Prints the tables of policies; `cargo xtask tables` writes them.

use policies::catalogue::table;

fn main() {
    for (name, page, table) in [
        ("policies", "crates/policies/README.md", table::policies()),
        ("parameters", "crates/policies/README.md", table::parameters()),
        ("dominated", "docs/which-policy.md", table::dominated()),
    ] {
        print!("<!-- table: {name} in {page} -->\n{table}");
    }
}
