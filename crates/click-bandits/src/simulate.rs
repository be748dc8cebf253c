//! `click-bandits simulate`: runs an experiment from a TOML file.

mod document;
mod overview;

use crate::simulation::{Options, finished_part, play_part, simulate, simulate_in_memory};
use crate::terminal;
use crate::usage::{AllowedArguments, OverrideArguments, SpecErrors, bail_usage, read_source, threads};
use anyhow::Result;
use document::Document;
use documents::toml_reader::read_file;
use experiment::{Runner, Shard};
use overview::Overview;
use report::{Drawing, Leaderboard};
use spec::Experiment;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct Arguments {
    /// TOML file of the experiment; `-` is standard input
    spec: PathBuf,
    /// Directory for result.json, curves.csv, timing.json, manifest.json, spec.toml and the
    /// figures; `-` for none: then result.json goes to standard output, and an interrupted run
    /// cannot be continued
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the final values and the standing as JSON, and nothing else, on standard output
    #[arg(long, conflicts_with = "shard")]
    json: bool,
    #[command(flatten)]
    overrides: OverrideArguments,
    /// Begin hybrid-ts with the context.json, or pbm-gibbs with the parameters.json, that fit
    /// wrote, where the spec has no prior
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    #[command(flatten)]
    allowed: AllowedArguments,
    /// Play only this share of the runs (2/8: the second of eight), to be joined with `merge`
    #[arg(long, value_name = "I/N", conflicts_with = "keep_runs")]
    shard: Option<Shard>,
    /// Play everything again, even if the directory has runs of this experiment
    #[arg(long)]
    fresh: bool,
    /// Also write runs.csv, with one row for each run, policy and checkpoint
    #[arg(long)]
    keep_runs: bool,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<u16>,
    /// Print no progress and no overview
    #[arg(long)]
    quiet: bool,
}

/// Runs the experiment, or one shard of it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let source = read_source(&arguments.spec)?.allowing(&arguments.allowed.allow);
    let mut experiment =
        Experiment::check(&source.parse()?, arguments.overrides.overrides()).map_err(SpecErrors)?;
    if let Some(path) = &arguments.prior {
        let content = read_file(path, "the fit of a log, as JSON")?;
        experiment.begin_with(&path.display().to_string(), content)?;
    }
    let options = Options {
        threads: arguments.threads.map(usize::from),
        quiet: arguments.quiet,
        keep_runs: arguments.keep_runs,
        fresh: arguments.fresh,
        ..Options::default()
    };
    if arguments.out.as_os_str() == "-" {
        refuse_without_directory(arguments)?;
        let measured = simulate_in_memory(&experiment, options)?;
        return terminal::print(&measured.result.to_json());
    }
    match arguments.shard {
        Some(shard) => {
            play_part(&experiment, &arguments.out, shard, options)?;
            if arguments.quiet { Ok(()) } else { terminal::say(&finished_part(&arguments.out, shard)) }
        }
        None => simulate_and_print(&experiment, &arguments.out, options, arguments.json),
    }
}

/// Runs an experiment with the default figures, and prints the overview, or with `json` the
/// document for programs.
pub(crate) fn simulate_and_print(
    experiment: &Experiment,
    out: &Path,
    options: Options<'_>,
    json: bool,
) -> Result<()> {
    let drawing = Drawing::of(&Runner::new(experiment));
    let (ran, is_new) = simulate(experiment, out, &drawing, options)?;
    if !is_new && !options.quiet {
        terminal::tell(&format_args!(
            "{}: has this result already; its files stay as they are",
            out.display()
        ));
    }
    if json {
        let standing = Leaderboard::of_runs(&ran.measured)?;
        return terminal::put(&terminal::json(&Document::of(&ran.measured.result, &standing))?);
    }
    if options.quiet {
        return Ok(());
    }
    let standing = Leaderboard::of_runs(&ran.measured)?;
    terminal::say(&Overview { simulation: &ran, standing: &standing, out })
}

/// Refuses options that make no sense if result.json goes to standard output.
fn refuse_without_directory(arguments: &Arguments) -> Result<()> {
    let refused = [
        (arguments.json, "--json", "standard output has one document: with `--out -` it is result.json"),
        (arguments.shard.is_some(), "--shard", "a shard is kept in a directory, to be joined with `merge`"),
        (arguments.keep_runs, "--keep-runs", "runs.csv is written to a directory"),
        (arguments.fresh, "--fresh", "without a directory everything is played anyway"),
    ];
    match refused.into_iter().find(|(given, ..)| *given) {
        Some((_, option, reason)) => {
            bail_usage!("{option}: {reason}: leave it out, or give --out a directory");
        }
        None => Ok(()),
    }
}
