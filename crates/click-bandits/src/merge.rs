//! `click-bandits merge`: joins parts of an experiment or of a reproduction.
//!
//! All parts are checked first. Merging fills the journal of the new directory; the rest is what
//! `simulate` and `reproduce` do when nothing is left to play.

use crate::reproduce::{self, PartOfReproduction};
use crate::simulate::simulate_and_print;
use crate::simulation::Options;
use crate::usage::AllowedArguments;
use anyhow::{Context as _, Result, bail};
use experiment::{Parts, SPEC};
use spec::Experiment;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Directories of the parts, in any order
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Directory for the result, as of `simulate` or `reproduce`
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Directory of the experiment, if the parts are of a reproduction and it is no longer where
    /// they were run
    #[arg(long, value_name = "DIR")]
    experiment: Option<PathBuf>,
    /// The data that the parts were given with --data or --matrix, if they are elsewhere now
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    #[command(flatten)]
    allowed: AllowedArguments,
    /// Also write runs.csv, with one row for each run, policy and checkpoint
    #[arg(long)]
    keep_runs: bool,
    /// Replace runs that the directory has already
    #[arg(long)]
    fresh: bool,
    /// Print no progress and no overview
    #[arg(long)]
    quiet: bool,
}

/// Joins the parts.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { parts, out, quiet, .. } = arguments;
    if let Some(part) = PartOfReproduction::read(&parts[0])? {
        let (experiment, data) = (arguments.experiment.as_deref(), arguments.data.as_deref());
        let again = reproduce::Arguments {
            fresh: arguments.fresh,
            quiet: *quiet,
            ..part.arguments(experiment, data, out, arguments.allowed.clone())?
        };
        return reproduce::merge(&again, &part, parts);
    }
    for dir in parts {
        if PartOfReproduction::read(dir)?.is_some() {
            bail!("{}: is a part of a reproduction, {} is not", dir.display(), parts[0].display());
        }
    }
    let parts = Parts::read(parts)?;
    let first = parts.first().context("no parts")?;
    let experiment = Experiment::read_file(&first.join(SPEC))?;
    let options = Options {
        quiet: *quiet,
        keep_runs: arguments.keep_runs,
        fresh: arguments.fresh,
        parts: Some(&parts),
        ..Options::default()
    };
    simulate_and_print(&experiment, out, options, false)?;
    Ok(ExitCode::SUCCESS)
}
