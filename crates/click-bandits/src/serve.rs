//! `click-bandits serve`: starts the service, a program of its own.

use crate::interrupt;
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::process::{Command, ExitCode};

const PROGRAM: &str = "click-bandits-serve";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The arguments of `click-bandits-serve`: a configuration, or `-- --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes `click-bandits-serve`: the one beside this program, or the one on the path.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name(PROGRAM));
    let program = beside.filter(|beside| beside.is_file()).unwrap_or_else(|| PROGRAM.into());
    let outcome = interrupt::give_way_to(Command::new(&program).args(&arguments.arguments));
    match outcome {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "{PROGRAM} is neither beside this program nor on the path: it is in the archive of a release, \
             and in the sources `cargo install --path service --bin {PROGRAM}` installs it"
        ),
        outcome => outcome.with_context(|| format!("cannot start {}", program.display())),
    }
}
