//! Starts the command; all of it stands in `commands`, which is compiled once for the program and its tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
