//! Takes any bytes as the records of a journal: the experiment is continued, or there is an error;
//! there is no panic, and the result is that of an undisturbed process.
//!
//! `ASAN_OPTIONS=detect_leaks=0 cargo +nightly fuzz run journal -- -max_total_time=600`: threads of
//! an experiment may end after it, which would count as a leak.
#![no_main]

use click_models::PositionBased;
use experiment::Runner;
use spec::{Experiment, Instances};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// An experiment, its directory with a result, its file of runs, and the beginning of that file.
struct Bench {
    experiment: Experiment,
    dir: tempfile::TempDir,
    file: PathBuf,
    head: Vec<u8>,
    whole: Vec<u8>,
    result: Vec<u8>,
}

static BENCH: LazyLock<Bench> = LazyLock::new(|| {
    let users = PositionBased::from_values(&[0.5, 0.4], &[0.9]).unwrap();
    let builder = Experiment::builder("fuzz", Instances::of([users])).horizon(3).runs(3).policy("pbm-ts");
    let experiment = builder.build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    // No runs yet: the file is its head.
    let result = Runner::new(&experiment).threads(1).run_into(dir.path()).unwrap().result.to_json();
    let journal = fs::read_dir(dir.path().join("journal")).unwrap();
    let file = journal.map(|entry| entry.unwrap().path()).find(|path| path.extension().unwrap() == "runs").unwrap();
    let whole = fs::read(&file).unwrap();
    let line = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let length = u32::from_le_bytes(whole[line..line + 4].try_into().unwrap()) as usize;
    let head = whole[..line + 8 + length].to_vec();
    Bench { experiment, dir, file, head, whole, result }
});

fuzz_target!(|bytes: &[u8]| {
    let bench = &*BENCH;
    // The first byte chooses: damage to a whole file, or records of any bytes.
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let content = if choice & 1 == 0 {
        let mut whole = bench.whole.clone();
        for change in bytes.chunks_exact(3) {
            let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % whole.len();
            whole[place] ^= change[2];
        }
        whole.truncate(whole.len() - usize::from(choice >> 1).min(whole.len()));
        whole
    } else {
        [&bench.head[..], bytes].concat()
    };
    fs::write(&bench.file, content).unwrap();
    if let Ok(measured) = Runner::new(&bench.experiment).threads(1).run_into(bench.dir.path()) {
        // A record with another value and a right checksum cannot be told from a true one.
        if measured.n_new_runs == 3 {
            assert_eq!(measured.result.to_json(), bench.result);
        }
    }
});
