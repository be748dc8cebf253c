//! Records the compiler, for `manifest.json`.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    if let Ok(output) = Command::new(compiler).arg("--version").output() {
        let version = String::from_utf8_lossy(&output.stdout);
        println!("cargo::rustc-env=CLICK_BANDITS_RUSTC={}", version.trim());
    }
    println!("cargo::rerun-if-changed=build.rs");
}
