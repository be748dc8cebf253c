//! Serves decisions over HTTP. See `click-bandits-serve --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match click_bandits_service::program::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
