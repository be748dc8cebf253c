//! The program: its commands are in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    click_bandits::main()
}
