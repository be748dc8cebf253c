//! The crate works without a standard library: a static library without std, with a panic handler
//! of its own, is built against it, linked into a C program, and run.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const LIBRARY: &str = r#"
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
pub extern "C" fn upper(mean: f64, n: f64, level: f64) -> f64 {
    confidence::kl_ucb_upper(mean, n, level)
}

#[unsafe(no_mangle)]
pub extern "C" fn multi_position(clicks: u64, shows: u64, examination: f64, level: f64) -> f64 {
    confidence::multi_position_upper(&[clicks], &[shows], &[examination], level)
}

#[unsafe(no_mangle)]
pub extern "C" fn refused(probability: f64) -> i32 {
    confidence::Probability::new(probability).is_err().into()
}
"#;

const PROGRAM: &str = r#"
#include <stdio.h>
double upper(double mean, double n, double level);
double multi_position(unsigned long long clicks, unsigned long long shows, double examination, double level);
int refused(double probability);
int main(void) {
    printf("%.17g %.17g %d\n", upper(0.3, 10.0, 2.0), multi_position(3, 10, 0.8, 2.0), refused(1.5));
    return 0;
}
"#;

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn static_library_without_std_links_and_runs() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-std");
    fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"bare\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"staticlib\"]\n\
         [dependencies]\nconfidence = {{ path = {:?}, default-features = false }}\n\
         [profile.release]\npanic = \"abort\"\nlto = true\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    fs::write(directory.join("src/lib.rs"), LIBRARY).unwrap();
    fs::write(directory.join("main.c"), PROGRAM).unwrap();
    // Everything needed was downloaded to build this test.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo)
        .args(["build", "--release", "--offline", "--target-dir"])
        .arg(directory.join("target"))
        .current_dir(&directory));
    let program = directory.join("main");
    run(Command::new("cc")
        .arg(directory.join("main.c"))
        .arg(directory.join("target/release/libbare.a"))
        .arg("-o")
        .arg(&program));
    let expected = format!(
        "{:?} {:?} 1",
        confidence::kl_ucb_upper(0.3, 10.0, 2.0),
        confidence::multi_position_upper(&[3], &[10], &[0.8], 2.0)
    );
    let numbers = |text: &str| -> Vec<u64> {
        text.split_whitespace().map(|number| number.parse::<f64>().unwrap().to_bits()).collect()
    };
    assert_eq!(numbers(&run(&mut Command::new(program))), numbers(&expected));
}
