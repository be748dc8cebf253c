//! Prints the tables of claim kinds and figure kinds; `cargo xtask tables` writes them.

use report::tables;

fn main() {
    for (name, table) in [("claim kinds", tables::claim_kinds()), ("figure kinds", tables::figure_kinds())] {
        print!("<!-- table: {name} in xtask/experiments/README.md -->\n{table}");
    }
}
