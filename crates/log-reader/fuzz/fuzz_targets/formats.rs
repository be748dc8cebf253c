//! Any bytes as a log of each format with fixed columns, plain or (by their first bytes)
//! compressed. The first byte selects the format.
//!
//! `cargo +nightly fuzz run formats -- -max_total_time=60`
#![no_main]

use log_reader::formats::{FormatRow, rows};
use log_reader_fuzz::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (which, bytes) = input;
    let own: Vec<&FormatRow> = rows().iter().filter(|row| !row.names_columns()).collect();
    check(&own[usize::from(which) % own.len()].format(None).unwrap(), bytes);
});
