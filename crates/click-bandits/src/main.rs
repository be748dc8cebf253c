//! The program. Its code is in the crate `commands`, which is compiled once for the program and for its tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
