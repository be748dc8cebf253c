//! Writes the tables of claim kinds and figure kinds into the README of the experiments, between
//! their markers.
//!
//! `cargo run -p report --example kinds`

use report::tables;
use std::{fs, io};

fn main() -> io::Result<()> {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/experiments/README.md");
    let mut text = fs::read_to_string(readme)?;
    for (name, table) in [("claim kinds", tables::claim_kinds()), ("figure kinds", tables::figure_kinds())] {
        let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
        let parts =
            text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
        let (before, after) = parts.ok_or_else(|| io::Error::other(format!("no marks of {name}")))?;
        text = format!("{before}{begin}{table}{end}{after}");
    }
    fs::write(readme, text)
}
