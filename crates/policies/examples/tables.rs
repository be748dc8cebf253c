//! Writes the tables of policies into the READMEs and the page on live use, between their markers.
//!
//! `cargo run -p policies --example tables`

use policies::catalogue::table;
use std::{fs, io};

fn main() -> io::Result<()> {
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    for (readme, name, table) in [
        ("crates/policies/README.md", "policies", table::policies()),
        ("crates/click-bandits/README.md", "parameters", table::parameters()),
        ("docs/live.md", "live", table::live()),
    ] {
        let path = format!("{top}{readme}");
        let text = fs::read_to_string(&path)?;
        let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
        let parts =
            text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
        let (before, after) =
            parts.ok_or_else(|| io::Error::other(format!("{readme}: no marks of {name}")))?;
        fs::write(&path, format!("{before}{begin}{table}{end}{after}"))?;
        println!("{readme}: {name}");
    }
    Ok(())
}
