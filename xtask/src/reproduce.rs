//! `cargo xtask reproduce`: builds the program with the features that an experiment needs, and has `click-bandits reproduce` run it.
//!
//! The experiments are part of the program, so it is built again if one of their files changes.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::signals::{end_as, wait_for_the_command_on_ctrl_c};
use anyhow::{Context, Result, bail};

/// The arguments of `cargo xtask reproduce`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of an experiment (a folder of `xtask/experiments`), or `all`
    name: String,
    /// Quick check of about a minute, with fewer runs and some smaller instances; at most a tenth of the claims may stay undecided
    #[arg(long)]
    quick: bool,
    /// Folder of the report [default: target/reproduce/NAME, or NAME-quick; with `all`, one folder per experiment beside an index]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<u64>,
    /// Run only this panel and its claims
    #[arg(long, value_name = "NAME")]
    panel: Option<String>,
    /// Override the master seed, as for evidence runs
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Override the number of runs
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Measured queries as JSON (a file that ends in .json), or a click log to fit them to, if the experiment takes data
    #[arg(long, value_name = "FILE", visible_alias = "log")]
    data: Option<PathBuf>,
    /// A preference matrix as text, if the experiment has one
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// A LETOR collection from which to estimate the preference matrix
    #[arg(long, value_name = "FILE")]
    letor: Option<PathBuf>,
    /// Play only this share of the runs of every panel, as in 2/8, to be joined with `click-bandits merge`
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Play everything again, even if there are runs from earlier
    #[arg(long)]
    fresh: bool,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
    /// Further options of `click-bandits reproduce`
    #[arg(last = true, value_name = "OPTIONS")]
    rest: Vec<OsString>,
}

impl Arguments {
    /// Data that replace an experiment's own files, with the names of the options.
    fn files(&self) -> [(&'static str, &Option<PathBuf>); 3] {
        [("data", &self.data), ("matrix", &self.matrix), ("letor", &self.letor)]
    }

    /// The options of `click-bandits reproduce`, except the directory.
    fn options(&self) -> Vec<OsString> {
        let flags = [("--quick", self.quick), ("--fresh", self.fresh), ("--quiet", self.quiet)];
        let mut options: Vec<OsString> =
            flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.into()).collect();
        for (option, value) in [("--threads", self.threads), ("--seed", self.seed), ("--runs", self.runs)] {
            if let Some(value) = value {
                options.extend([option.into(), value.to_string().into()]);
            }
        }
        for (option, value) in [("--panel", &self.panel), ("--shard", &self.shard)] {
            if let Some(value) = value {
                options.extend([option.into(), value.into()]);
            }
        }
        for (option, file) in self.files() {
            if let Some(file) = file {
                options.extend([format!("--{option}").into(), file.into()]);
            }
        }
        options.extend(self.rest.iter().cloned());
        options
    }
}

/// Runs one experiment or all of them; fails if a verdict is not the known one.
///
/// # Errors
///
/// If there is no such experiment, or cargo cannot be started.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.name == "all"
        && let Some((option, _)) = arguments.files().into_iter().find(|(_, file)| file.is_some())
    {
        bail!("--{option} is for one experiment, not for all of them");
    }
    let root = workspace()?;
    let known = experiments(&root.join("xtask/experiments"))?;
    // Checked here, too, because the program has to be built before it can refuse a name.
    if arguments.name != "all" && !known.contains(&arguments.name) {
        bail!(
            "there is no experiment {:?}: known are {}, or all of them with `all`",
            arguments.name,
            known.join(", ")
        );
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--package", "click-bandits"]);
    command.args(features(arguments.data.as_deref()));
    command.arg("--manifest-path").arg(root.join("Cargo.toml")).args(["--", "reproduce"]);
    command.arg(&arguments.name);
    match &arguments.out {
        Some(out) => command.arg("--out").arg(out),
        None => command.arg("--reports").arg(shortest(&target(&root).join("reproduce"))),
    };
    wait_for_the_command_on_ctrl_c();
    let status = command.args(arguments.options()).status().context("cargo cannot be started")?;
    end_as(status);
    Ok(ExitCode::from(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))))
}

/// The features of the program that these data need. Readers of logs, above all of Parquet, take long to compile.
fn features(data: Option<&Path>) -> &'static [&'static str] {
    let is_log = |data: &&Path| data.extension().is_none_or(|end| !end.eq_ignore_ascii_case("json"));
    match data.filter(is_log) {
        None => &["--no-default-features"],
        Some(log) if is_parquet(log) => &[],
        Some(_) => &["--no-default-features", "--features", "logs"],
    }
}

/// Whether a log is Parquet, by its first bytes.
fn is_parquet(log: &Path) -> bool {
    let mut start = [0; 4];
    fs::File::open(log).is_ok_and(|mut log| log.read_exact(&mut start).is_ok()) && start == *b"PAR1"
}

/// The folder of the workspace, from any folder inside it.
pub(crate) fn workspace() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).context("the xtask package is not in a workspace")
}

/// Cargo's target folder.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The path relative to the current folder, if it is inside it, for shorter messages.
fn shortest(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}

/// Sorted names of the experiments, the folders that hold an `experiment.toml`.
fn experiments(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("experiment.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn the_shipped_experiments_are_found() {
        let known = experiments(&workspace().unwrap().join("xtask/experiments")).unwrap();
        assert!(known.iter().any(|name| name == "kdd2012"), "{known:?}");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let arguments = Cli::parse_from(["xtask", "kdd2013"]).arguments;
        let error = run(&arguments).unwrap_err().to_string();
        assert!(error.contains("\"kdd2013\"") && error.contains("kdd2012"), "{error}");
    }

    #[test]
    fn options_are_passed_on_in_any_order() {
        let parse = |line: &str| Cli::parse_from(line.split(' ')).arguments;
        let arguments = parse("xtask kdd2012 --threads 2 --quick --out x --quiet -- --keep");
        assert_eq!(arguments.out.as_deref(), Some(Path::new("x")));
        assert_eq!(arguments.options(), ["--quick", "--quiet", "--threads", "2", "--keep"]);
    }

    #[test]
    fn the_program_has_the_features_that_its_data_need() {
        let parquet = std::env::temp_dir().join(format!("xtask-{}.parquet", std::process::id()));
        std::fs::write(&parquet, b"PAR1....").unwrap();
        let without = features(None);
        assert_eq!(without, ["--no-default-features"]);
        assert_eq!(features(Some(Path::new("queries.JSON"))), without);
        assert_eq!(features(Some(Path::new("log.csv"))), ["--no-default-features", "--features", "logs"]);
        assert!(features(Some(&parquet)).is_empty());
        std::fs::remove_file(parquet).unwrap();
    }

    #[test]
    fn data_are_for_one_experiment() {
        let parse = |line: &str| Cli::parse_from(line.split(' ')).arguments;
        assert_eq!(parse("xtask yandex --data a/b.json").options(), ["--data", "a/b.json"]);
        assert_eq!(parse("xtask kdd2012 --log a/training.txt").options(), ["--data", "a/training.txt"]);
        let error = run(&parse("xtask all --data a.json")).unwrap_err().to_string();
        assert!(error.contains("--data is for one experiment"), "{error}");
        assert_eq!(parse("xtask rucb --matrix a/b.csv").options(), ["--matrix", "a/b.csv"]);
        let error = run(&parse("xtask all --letor a.txt")).unwrap_err().to_string();
        assert!(error.contains("--letor is for one experiment"), "{error}");
    }
}
