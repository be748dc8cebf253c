//! `cargo xtask`: tasks of this project that take more than one command.
//!
//! It is built without optimisation and imports none of the project's crates. It starts programs
//! that compute as separate, optimised commands.

#[cfg(test)]
mod links;
#[cfg(test)]
mod numbered;
mod performance;
mod reproduce;
mod signals;
mod tables;
#[cfg(test)]
mod words;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use lexopt::Arg::{Long, Short, Value};

/// The help of `cargo xtask`.
const HELP: &str = "\
Tasks of this project

Usage: cargo xtask <COMMAND>

Commands:
  reproduce    Run a paper's experiment, check its claims, and write a report with figures
  performance  Measure the policies beside their plain versions and beside the packages of others
  tables       Write the generated tables of READMEs and pages

Options:
  -h, --help   Print help; `cargo xtask <COMMAND> --help` prints that of a command
";

/// The task on the command line.
enum Task {
    Help(&'static str),
    /// The arguments for the program.
    Reproduce(Vec<OsString>),
    Performance(performance::Arguments),
    Tables,
}

impl Task {
    fn parse(parser: &mut lexopt::Parser) -> Result<Self> {
        Ok(
            match parser.next()?.context("a command is missing: expected reproduce, performance or tables")? {
                Value(task) if task == "reproduce" => Self::Reproduce(parser.raw_args()?.collect()),
                Value(task) if task == "performance" => performance::Arguments::parse(parser)?
                    .map_or(Self::Help(performance::HELP), Self::Performance),
                Value(task) if task == "tables" => Self::Tables,
                Value(task) if task == "help" => Self::Help(HELP),
                Short('h') | Long("help") => Self::Help(HELP),
                Value(task) => {
                    bail!(
                        "unknown command {:?}: expected reproduce, performance or tables",
                        task.to_string_lossy()
                    )
                }
                other => return Err(other.unexpected().into()),
            },
        )
    }
}

fn main() -> ExitCode {
    let done = match Task::parse(&mut lexopt::Parser::from_env()) {
        Ok(Task::Reproduce(arguments)) => reproduce::run(&arguments),
        Ok(Task::Performance(arguments)) => performance::run(&arguments),
        Ok(Task::Tables) => tables::run(),
        // Errors of writing are ignored, here and below: the reader may be gone.
        Ok(Task::Help(help)) => {
            let _ = std::io::stdout().write_all(help.as_bytes());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}\n\nFor more information, try '--help'.");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_help_and_an_unknown_one_names_them() {
        let parse = |line: &[&str]| Task::parse(&mut lexopt::Parser::from_args(line));
        for (line, help) in
            [(&["--help"][..], HELP), (&["help"], HELP), (&["performance", "-h"], performance::HELP)]
        {
            assert!(matches!(parse(line), Ok(Task::Help(found)) if found == help), "{line:?}");
        }
        let passed_on = ["reproduce", "kdd2012", "--runs=3", "--help"];
        assert!(matches!(parse(&passed_on), Ok(Task::Reproduce(given)) if given == passed_on[1..]));
        let performance = ["performance", "--repetitions", "3", "--pictures=x", "--python", "python3.11"];
        assert!(matches!(parse(&performance), Ok(Task::Performance(_))));
        for (line, fault) in [
            (&[][..], "a command is missing: expected reproduce, performance or tables"),
            (&["repro"], "unknown command \"repro\": expected reproduce, performance or tables"),
            (&["performance", "--repetition", "3"], "invalid option '--repetition'"),
            (&["performance", "--python", "a", "--python=b"], "--python is given twice"),
        ] {
            assert_eq!(parse(line).err().map(|error| error.to_string()).as_deref(), Some(fault));
        }
    }
}
