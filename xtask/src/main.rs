//! `cargo xtask`: tasks of this project that take more than one command.
//!
//! It is built without optimisation and imports none of the project's crates. It starts programs that compute as separate, optimised
//! commands.

#[cfg(test)]
mod links;
#[cfg(test)]
mod numbered;
mod performance;
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
    /// Measure the policies beside their plain versions and beside the packages of others
    Performance(performance::Arguments),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Reproduce(arguments) => reproduce::run(&arguments),
        Task::Performance(arguments) => performance::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        // Ignore errors: the reader may be gone.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        ExitCode::FAILURE
    })
}
