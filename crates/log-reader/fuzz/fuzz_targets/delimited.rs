//! Any bytes below the header of a table, with each delimiter.
//!
//! `cargo +nightly fuzz run delimited -- -max_total_time=60`
#![no_main]

use log_reader::{Columns, Format};
use log_reader_fuzz::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (delimiter, bytes) = input;
    let delimiter = [b',', b'\t', b';', b'|'][usize::from(delimiter % 4)];
    // The fifth column counts impressions, or names sessions.
    let fifth = if input.0 & 4 == 0 { "impressions=n" } else { "session=n" };
    let columns = Columns::parse(&format!("query=q,item=i,position=p,click=c,{fifth}")).unwrap();
    let header = ["q", "i", "p", "c", "n", "x"].join(&*char::from(delimiter).to_string());
    let log = [header.as_bytes(), b"\n", bytes].concat();
    check(&Format::Delimited(columns), &log);
});
