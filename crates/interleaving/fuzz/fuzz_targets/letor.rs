//! Reads any bytes as a LETOR file: there is no panic, errors name a place, and written queries are
//! read back unchanged.
//!
//! `cargo +nightly fuzz run letor -- -max_total_time=60`
#![no_main]

use interleaving::{Query, letor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match letor::Reader::new("fuzz", bytes).collect::<Result<Vec<Query>, _>>() {
        Ok(queries) => {
            let mut text = Vec::new();
            letor::write(&queries, &mut text).unwrap();
            let again: Result<Vec<Query>, _> = letor::Reader::new("again", &text[..]).collect();
            assert_eq!(again.unwrap(), queries);
        }
        Err(error) => {
            let in_a_line = error.line().is_some() && error.column().is_some();
            assert!(in_a_line || error.message().starts_with("no documents: "));
            assert!(error.to_string().starts_with("fuzz:"));
        }
    }
});
