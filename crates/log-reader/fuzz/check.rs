//! Properties of every reader, for any bytes.

use log_reader::{Format, Reader};
use std::num::NonZeroUsize;

/// The result is the same in the smallest blocks; counts are written and read again.
pub fn check(format: &Format, bytes: &[u8]) {
    let strict = Reader::new(format.clone()).keep_sessions().threads(NonZeroUsize::MIN);
    let lenient = strict.clone().lenient(1.0).unwrap();
    for reader in [strict, lenient] {
        let whole = reader.read("log", bytes);
        let parts = reader.block_bytes(NonZeroUsize::MIN).read("log", bytes);
        match (whole, parts) {
            (Ok(whole), Ok(parts)) => {
                assert!(whole.counts == parts.counts && whole.sessions == parts.sessions);
                assert_eq!(whole.report, parts.report);
                let mut csv = Vec::new();
                whole.counts.write_csv(&mut csv).unwrap();
                let names = || whole.counts.queries().map(|query| whole.counts.names().name(query.id()));
                // A name with a line end is not read back.
                if whole.counts.n_cells() > 0
                    && !csv.contains(&b'\r')
                    && names().all(|name| !name.contains('\n'))
                {
                    if let Ok(again) = Reader::new(Format::counts()).read("csv", csv.as_slice()) {
                        assert!(again.counts == whole.counts);
                    }
                }
            }
            (Err(whole), Err(parts)) => assert_eq!(whole.to_string(), parts.to_string()),
            (whole, parts) => panic!("{whole:?} {parts:?}"),
        }
    }
}
