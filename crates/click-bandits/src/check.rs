//! `click-bandits check`: finds all errors of an experiment's file, or lists what it runs.

mod answer;
mod overview;

use self::answer::Answer;
use crate::terminal;
use crate::usage::{AllowedArguments, OverrideArguments};
use crate::usage::{STATUS, bail_usage, read_source};
use anyhow::Result;
use documents::number::counted;
use documents::toml_reader::Error;
use report::reproduction::Reproduction;
use spec::{Experiment, Overrides, SpecError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// TOML file of the experiment, `-` for standard input, or a directory with experiment.toml and
    /// claims.toml
    spec: PathBuf,
    /// Print the answer as JSON, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overrides: OverrideArguments,
    #[command(flatten)]
    allowed: AllowedArguments,
}

/// Checks a file or a directory. The exit status is 1 if there are errors.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (path, overrides) = (&arguments.spec, arguments.overrides.overrides());
    let allowed = arguments.allowed.allow.as_slice();
    let found = if path.is_dir() {
        if overrides != Overrides::default() {
            bail_usage!(
                "{}: is a directory, whose panels have values of their own: leave out the options that replace them",
                path.display()
            );
        }
        check_directory(path, allowed)
    } else {
        check_file(path, allowed, overrides).map(|experiment| vec![experiment])
    };
    let (faults, experiments) = match found {
        Ok(experiments) => (Vec::new(), experiments),
        Err(faults) => (faults, Vec::new()),
    };
    let answer = Answer { path, faults: &faults, experiments: &experiments };
    if arguments.json {
        terminal::put(&terminal::json(&answer.json())?)?;
    } else {
        terminal::say(&answer)?;
        if !faults.is_empty() {
            // Standard output has the errors alone, one a line, for other programs.
            terminal::tell(&counted(faults.len() as u64, "error"));
            if faults.len() >= Error::MOST {
                terminal::tell(&"there may be more: errors after these are not listed");
            }
            if path.is_dir() && !faults.iter().any(is_of_claims) {
                terminal::tell(&"claims.toml: its claims are checked once experiment.toml has no errors");
            }
        }
    }
    Ok(match faults.first() {
        None => ExitCode::SUCCESS,
        Some(SpecError::Override(_)) => ExitCode::from(STATUS),
        Some(_) => ExitCode::FAILURE,
    })
}

fn is_of_claims(fault: &SpecError) -> bool {
    matches!(fault, SpecError::File(error) if Path::new(error.file()).ends_with("claims.toml"))
}

/// Reads the experiment of a file; if there are errors, all of them.
fn check_file(path: &Path, allowed: &[PathBuf], overrides: Overrides) -> Result<Experiment, Vec<SpecError>> {
    let one = |error: Error| vec![SpecError::File(error)];
    let source = read_source(path).map_err(one)?.allowing(allowed);
    let document = source.parse().map_err(one)?;
    Experiment::check(&document, overrides)
}

/// Reads the experiments of a directory: of each panel, or of each of its variants.
fn check_directory(path: &Path, allowed: &[PathBuf]) -> Result<Vec<Experiment>, Vec<SpecError>> {
    let read = Reproduction::check(path, allowed);
    let of_log = crate::reproduce::check_log(path, allowed);
    match (read, of_log) {
        (Ok(read), Ok(())) => {
            let variants = read.panels.into_iter().flat_map(|panel| panel.variants);
            Ok(variants.map(|variant| variant.experiment).collect())
        }
        (read, of_log) => {
            let faults = read.err().into_iter().flatten().chain(of_log.err()).reduce(Error::and);
            Err(faults.map_or_else(Vec::new, Error::all).into_iter().map(SpecError::File).collect())
        }
    }
}
