//! Starts the command; all of it stands in the library, which is compiled once for the program and its tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    click_bandits::main()
}
