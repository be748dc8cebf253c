//! Any bytes as a Parquet table. The reader catches panics of the library that decodes it, but
//! libFuzzer's hook sees them too, so it is removed first.
//!
//! `cargo +nightly fuzz run parquet -- -max_total_time=60 -rss_limit_mb=4096`
#![no_main]

use log_reader::Format;
use log_reader_fuzz::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        std::panic::set_hook(Box::new(|_| {}));
    },
    |bytes: &[u8]| {
        // The last column counts impressions, or names sessions.
        for last in ["impressions=n", "session=n"] {
            check(&Format::parquet(&format!("query=q,item=i,position=p,click=c,{last}")).unwrap(), bytes);
        }
    }
);
