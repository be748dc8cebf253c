//! The commands of the program `click-bandits`: a module for each, with its arguments and its
//! output.
//!
//! To do the same from Rust, use the crates `experiment`, `report`, `click_logs`, `answer` and
//! `interleaving`: this crate has only [`main`].

mod check;
mod compare;
mod destination;
mod discover;
mod embedded;
#[cfg(feature = "logs")]
mod evaluate;
mod export;
#[cfg(feature = "logs")]
mod fit;
mod help;
mod init;
mod interrupt;
#[cfg(feature = "logs")]
mod judgments;
mod merge;
#[cfg(feature = "logs")]
mod output;
mod panels;
#[cfg(feature = "logs")]
mod preferences;
mod program;
mod progress;
mod reproduce;
mod schema;
mod serve;
mod shell;
mod simulate;
mod simulation;
mod terminal;
#[cfg(feature = "logs")]
mod test;
mod usage;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use documents::toml_reader::with_short_numbers;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

/// Bandits that learn which ranked list to show from clicks alone: experiments and reproductions.
#[derive(Debug, Parser)]
#[command(name = "click-bandits", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the policies, or show one
    ///
    /// A policy decides which list to show, and learns from the clicks. With a name: the users that
    /// it plays, what it knows of them, its task, cost, guarantee and source, its parameters, and
    /// an experiment that runs.
    Policies(discover::policies::Arguments),
    /// List the click models, or show one
    ///
    /// A click model describes how users click. With a name: its keys in an experiment, the
    /// policies that play it, and an experiment that runs.
    Models(discover::models::Arguments),
    /// List the formats of logs and other files, or show one
    ///
    /// With a name: columns or keys with their meanings, an example, and the command that reads or
    /// writes it.
    Formats(discover::formats::Arguments),
    /// List the experiments of papers, or show one
    ///
    /// They are part of the program. With a name: what it is about, its papers, its panels with
    /// runs and policies, and the commands.
    Experiments(discover::experiments::Arguments),
    /// Write an experiment to start from
    ///
    /// It has comments on every key, policies that suit the click model, and the others behind
    /// comment signs. It runs as it is.
    Init(init::Arguments),
    /// Run an experiment from a TOML file
    ///
    /// Policies choose what users see and learn from their clicks, in many independent runs.
    /// Results and figures are written to a directory.
    Simulate(simulate::Arguments),
    /// Find all errors of an experiment's file
    ///
    /// If there are none, it lists what the experiment runs. Nothing is played or written.
    Check(check::Arguments),
    /// Print the JSON Schema of an experiment's file
    ///
    /// Editors complete and check TOML files by it.
    Schema(schema::Arguments),
    /// Join parts that were run with --shard
    ///
    /// The result is that of one process, for parts of an experiment and of a reproduction.
    Merge(merge::Arguments),
    /// Write a table of a finished result
    ///
    /// Curves, final values, single runs or paired differences, of a simulation or of a whole
    /// reproduction, as CSV or JSON.
    Export(export::Arguments),
    /// Compare two results of one experiment
    ///
    /// The results may come from two versions or two machines. The command lists the differences
    /// that exceed chance.
    Compare(compare::Arguments),
    /// Report a preference matrix, or estimate one
    ///
    /// The report has winners, cycles and transitivity. A matrix is estimated by interleaving the
    /// rankings of features of documents.
    #[cfg(feature = "logs")]
    Preferences(preferences::Arguments),
    /// Fit click models to a click log
    ///
    /// Models are compared on sessions that no fit has used. An experiment with the fitted users is
    /// written, and, from logs with sessions, what today's ranking loses and what a policy would
    /// gain.
    #[cfg(feature = "logs")]
    Fit(fit::Arguments),
    /// Evaluate a new ranking on a click log
    ///
    /// The earnings of the ranking in place of what was shown, with an interval and the
    /// assumption that it needs: from the propensities of the log, or from click models.
    #[cfg(feature = "logs")]
    Evaluate(evaluate::Arguments),
    /// Test which of two rankers users prefer, or plan such a test
    ///
    /// From the events of an interleaved comparison or of an A/B test with real users: a verdict
    /// that may be looked at every day, its interval, and whether the split was as planned. With
    /// --plan: how many users a test takes.
    #[cfg(feature = "logs")]
    Test(test::Arguments),
    /// Write the ratings of items from a fit, as the tools of search teams import them
    ///
    /// Attraction, or clicks over expected clicks: for Quepid, the Search Relevance Workbench,
    /// TREC, learning to rank, or as CSV with intervals.
    #[cfg(feature = "logs")]
    Judgments(judgments::Arguments),
    /// Missing from this program, which was built without the feature `logs`
    #[cfg(not(feature = "logs"))]
    #[command(hide = true, disable_help_flag = true, name = "fit", aliases = ["preferences", "evaluate", "test", "judgments"])]
    Missing {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Run a paper's experiment and judge its claims
    ///
    /// The report is a page with the figures and a verdict on every claim.
    Reproduce(reproduce::CommandLine),
    /// Serve decisions of a policy over HTTP
    ///
    /// Starts `click-bandits-serve`, a program of its own, with these arguments.
    Serve(serve::Arguments),
    /// Print completions for a shell
    Completions(shell::CompletionArguments),
    /// Print the manual page, or write all pages
    Man(shell::ManArguments),
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    let cli = match parsed() {
        Ok(cli) => cli,
        Err(error) => return unparsed(&plain(error)),
    };
    interrupt::watch();
    let outcome = match cli.command {
        Command::Policies(arguments) => discover::policies::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Models(arguments) => discover::models::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Formats(arguments) => discover::formats::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Experiments(arguments) => discover::experiments::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Init(arguments) => init::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Completions(arguments) => shell::completions(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Man(arguments) => shell::man(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Simulate(arguments) => simulate::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Check(arguments) => check::run(&arguments),
        Command::Schema(arguments) => schema::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Export(arguments) => export::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Compare(arguments) => Ok(compare::run(&arguments)),
        #[cfg(feature = "logs")]
        Command::Preferences(arguments) => preferences::run(&arguments).map(|()| ExitCode::SUCCESS),
        #[cfg(not(feature = "logs"))]
        Command::Missing { .. } => Err(anyhow::anyhow!(
            "fit, evaluate, test, judgments and preferences: this program was built without them: build it with the feature `logs`, as `cargo run --release` does"
        )),
        #[cfg(feature = "logs")]
        Command::Fit(arguments) => fit::run(&arguments).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "logs")]
        Command::Evaluate(arguments) => evaluate::run(&arguments).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "logs")]
        Command::Test(arguments) => test::run(&arguments).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "logs")]
        Command::Judgments(arguments) => judgments::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        // If standard error cannot be written, the exit status still reports the failure.
        terminal::tell(&format_args!("error: {error:#}"));
        if usage::is_at_fault(&error) { ExitCode::from(usage::STATUS) } else { ExitCode::FAILURE }
    })
}

/// The arguments of this process. A negative number is the value of an option, so that the message
/// is about that value.
fn parsed() -> Result<Cli, clap::Error> {
    let with_negative = |argument: Arg| {
        let is_option = argument.get_long().is_some() && argument.get_action().takes_values();
        argument.allow_negative_numbers(is_option)
    };
    let program = program_with_help().mut_subcommands(|command| command.mut_args(with_negative));
    Cli::from_arg_matches(&program.try_get_matches()?)
}

/// The definition of the command line, with the end of every help.
fn program_with_help() -> clap::Command {
    let with_end = |command: clap::Command| {
        let end = help::end(command.get_name());
        command.after_long_help(end)
    };
    with_end(Cli::command()).mut_subcommands(with_end)
}

/// Prints the parser's answer in place of a command line: help, the version, or an error.
fn unparsed(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| stdout().flush());
    if error.use_stderr() {
        return ExitCode::from(usage::STATUS);
    }
    match terminal::written(printed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal::tell(&format_args!("error: {failure:#}"));
            ExitCode::FAILURE
        }
    }
}

/// An error that is safe to print: values are escaped, and long numbers shortened.
fn plain(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        // No command takes an option as a value.
        error.remove(ContextKind::Suggested);
    }
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(value)) = error.get(kind) {
            let value = terminal::in_line(&with_short_numbers(value)).into_owned();
            error.insert(kind, ContextValue::String(value));
        }
    }
    error
}
