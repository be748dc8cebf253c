//! `cargo xtask`: tasks of this project that are more than one command.
//!
//! It is built without optimisation and imports none of the project's crates: what computes is started, optimised, as a
//! command of its own.

mod reproduce;
mod signals;
#[cfg(test)]
mod words;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks of this project.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run a paper's experiment, check its claims, and write a report with figures
    Reproduce(reproduce::Arguments),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Reproduce(arguments) => reproduce::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        // Nobody may be there to read it any more.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}
