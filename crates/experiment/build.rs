//! Records a hash of the sources that results depend on: a journal names it, and programs with
//! other sources do not continue its runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(hash) = sources() {
        println!("cargo::rustc-env=CLICK_BANDITS_SOURCES={hash:016x}");
    }
}

/// The crates that results depend on.
const RESULTS: [&str; 8] =
    ["click-models", "confidence", "contenders", "documents", "experiment", "policies", "sim", "spec"];

/// A hash of all sources that results depend on; `None` outside the workspace. Programs with
/// different sources do not continue each other's runs.
fn sources() -> Option<u64> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    for name in RESULTS {
        let folder = here.parent()?.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        files_below(&folder, &mut files)?;
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        // FNV-1a.
        for byte in fs::read(file).ok()? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Some(hash)
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) -> Option<()> {
    for entry in fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        if path.is_dir() { files_below(&path, found)? } else { found.push(path) }
    }
    Some(())
}
