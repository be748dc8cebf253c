//! Writes the table of formats into the README, between its markers.
//!
//! `cargo run -p log-reader --example formats`

use log_reader::formats::table;
use std::{fs, io};

const BEGIN: &str = "<!-- table: formats -->\n";
const END: &str = "<!-- end: formats -->";

fn main() -> io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let text = fs::read_to_string(path)?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| io::Error::other("no marks of the table of formats"))?;
    fs::write(path, format!("{before}{BEGIN}{}{END}{after}", table()))
}
