//! `cargo xtask reproduce`: builds the program with the features that an experiment needs, and has `click-bandits reproduce` run it.
//!
//! The experiments are part of the program, so it is built again if one of their files changes.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::signals::{end_as, wait_for_the_command_on_ctrl_c};
use anyhow::{Context, Result, anyhow, bail};
use lexopt::{
    Arg::{Long, Short, Value},
    ValueExt as _,
};

/// What `cargo xtask reproduce --help` prints.
pub(crate) const HELP: &str = "\
Run a paper's experiment, check its claims, and write a report with figures

Usage: cargo xtask reproduce [OPTIONS] <NAME>

Arguments:
  <NAME>           Name of an experiment (a folder of `xtask/experiments`), or `all`

Options:
  --quick          Quick check of about a minute, with fewer runs and some smaller instances; at
                   most a tenth of the claims may stay undecided
  --out <DIR>      Folder of the report [default: target/reproduce/NAME, or NAME-quick; with
                   `all`, one folder per experiment beside an index]
  --threads <N>    Number of threads; results do not depend on it [default: one per core]
  --panel <NAME>   Run only this panel and its claims
  --seed <S>       Override the master seed, as for evidence runs
  --runs <N>       Override the number of runs
  --data <FILE>    Measured queries as JSON (a file that ends in .json), or a click log to fit
                   them to, if the experiment takes data [alias: --log]
  --matrix <FILE>  A preference matrix as text, if the experiment has one
  --letor <FILE>   A LETOR collection from which to estimate the preference matrix
  --shard <I/N>    Play only this share of the runs of every panel, as in 2/8, to be joined with
                   `click-bandits merge`
  --fresh          Play everything again, even if there are runs from earlier
  --quiet          Print no progress
  -h, --help       Print help
";

/// The arguments of `cargo xtask reproduce`.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    name: String,
    /// Folder of the report.
    out: Option<PathBuf>,
    /// The option with a file of its own data, which only one experiment can have.
    of_one: Option<&'static str>,
    /// That file.
    file: Option<PathBuf>,
    /// The options of `click-bandits reproduce`, except the directory.
    options: Vec<OsString>,
}

impl Arguments {
    /// Reads what follows `cargo xtask reproduce`; `None` if help is asked for.
    ///
    /// # Errors
    ///
    /// An option that does not exist, is given twice or has no value, or a second name.
    pub(crate) fn parse(parser: &mut lexopt::Parser) -> Result<Option<Self>> {
        const FLAGS: [&str; 3] = ["quick", "fresh", "quiet"];
        const TEXTS: [&str; 3] = ["out", "panel", "shard"];
        const NUMBERS: [&str; 3] = ["threads", "seed", "runs"];
        const FILES: [&str; 3] = ["data", "matrix", "letor"];
        let named = |names: &[&'static str], name: &str| names.iter().copied().find(|known| *known == name);
        let (mut arguments, mut name, mut given) = (Self::default(), None, Vec::new());
        while let Some(argument) = parser.next()? {
            let option = match argument {
                Value(value) if name.is_none() => {
                    name = Some(value.string()?);
                    continue;
                }
                Short('h') | Long("help") => return Ok(None),
                Long("log") => "data".to_owned(),
                Long(option) => option.to_owned(),
                other => return Err(other.unexpected().into()),
            };
            if given.contains(&option) {
                bail!("--{option} is given twice");
            }
            if named(&FLAGS, &option).is_some() {
                arguments.options.push(format!("--{option}").into());
            } else if let Some(file) = named(&FILES, &option) {
                if let Some(other) = arguments.of_one.replace(file) {
                    bail!("--{other} and --{file} exclude each other");
                }
                let value = value_of(parser, &option)?;
                arguments.file = Some(PathBuf::from(&value));
                arguments.options.extend([format!("--{option}").into(), value]);
            } else if named(&TEXTS, &option).or(named(&NUMBERS, &option)).is_some() {
                let value = value_of(parser, &option)?;
                if named(&NUMBERS, &option).is_some() {
                    value.parse::<u64>().map_err(|error| anyhow!("--{option}: {error}"))?;
                }
                if option == "out" {
                    arguments.out = Some(value.into());
                } else {
                    arguments.options.extend([format!("--{option}").into(), value]);
                }
            } else {
                return Err(Long(&option).unexpected().into());
            }
            given.push(option);
        }
        arguments.name = name.context("the name of an experiment is missing, or `all`")?;
        Ok(Some(arguments))
    }
}

/// Runs one experiment or all of them; fails if a verdict is not the known one.
///
/// # Errors
///
/// If there is no such experiment, or cargo cannot be started.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let ("all", Some(option)) = (&*arguments.name, arguments.of_one) {
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
    command.args(features(arguments));
    command.arg("--manifest-path").arg(root.join("Cargo.toml")).args(["--", "reproduce"]);
    command.arg(&arguments.name);
    match &arguments.out {
        Some(out) => command.arg("--out").arg(out),
        None => command.arg("--reports").arg(shortest(&target(&root).join("reproduce"))),
    };
    wait_for_the_command_on_ctrl_c();
    let status = command.args(&arguments.options).status().context("cargo cannot be started")?;
    end_as(status);
    Ok(ExitCode::from(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))))
}

/// The features of the program that the data need. Readers of logs, above all of Parquet, take long to compile.
fn features(arguments: &Arguments) -> &'static [&'static str] {
    let (without, logs) = (&["--no-default-features"], &["--no-default-features", "--features", "logs"]);
    let Some(file) = &arguments.file else { return without };
    let is_json = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    match arguments.of_one {
        Some("data") if is_json => without,
        Some("data") if begins_with(file, *b"PAR1") => &[],
        Some("matrix") if !begins_with(file, GZIP) => without,
        _ => logs,
    }
}

/// The first bytes of a file compressed with gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whether these are the first bytes of a file.
fn begins_with<const N: usize>(file: &Path, bytes: [u8; N]) -> bool {
    let mut start = [0; N];
    // What is read of a pipe is gone.
    file.is_file()
        && fs::File::open(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == bytes
}

/// The value of an option. A value that looks like an option has to be given as `--option=value`.
fn value_of(parser: &mut lexopt::Parser, option: &str) -> Result<OsString> {
    if let Some(value) = parser.optional_value() {
        return Ok(value);
    }
    let value = parser.value()?;
    if value.to_string_lossy().starts_with("--") {
        bail!("--{option} has no value: {} is an option", value.display());
    }
    Ok(value)
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

    fn parse(line: &str) -> Result<Option<Arguments>> {
        Arguments::parse(&mut lexopt::Parser::from_args(line.split(' ')))
    }

    fn parsed(line: &str) -> Arguments {
        parse(line).unwrap().expect("no call for help")
    }

    #[test]
    fn the_shipped_experiments_are_found() {
        let known = experiments(&workspace().unwrap().join("xtask/experiments")).unwrap();
        assert!(known.iter().any(|name| name == "kdd2012"), "{known:?}");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = run(&parsed("kdd2013")).unwrap_err().to_string();
        assert!(error.contains("\"kdd2013\"") && error.contains("kdd2012"), "{error}");
    }

    #[test]
    fn options_are_passed_on_in_any_order() {
        let arguments = parsed("--threads 2 kdd2012 --quick --out x --shard=1/2 --quiet");
        assert_eq!((&*arguments.name, arguments.out.as_deref()), ("kdd2012", Some(Path::new("x"))));
        assert_eq!(arguments.options, ["--threads", "2", "--quick", "--shard", "1/2", "--quiet"]);
    }

    #[test]
    fn every_option_of_the_help_is_known_and_no_other_one() {
        let options = HELP.lines().filter_map(|line| line.trim().strip_prefix("--"));
        let options: Vec<&str> = options.filter_map(|line| line.split("  ").next()).collect();
        assert_eq!(options.len(), 12);
        for option in options {
            let option = format!("--{}", option.replace("<N>", "3").replace("<S>", "3"));
            assert!(parse(&format!("kdd2012 {option}")).is_ok(), "{option}");
        }
        assert!(parse("kdd2012 --help").unwrap().is_none());
        for (line, fault) in [
            ("kdd2012 --quik", "invalid option '--quik'"),
            ("kdd2012 yandex", "unexpected argument \"yandex\""),
            (
                "kdd2012 --threads two",
                "--threads: cannot parse argument \"two\": invalid digit found in string",
            ),
            ("kdd2012 --out", "missing argument for option '--out'"),
            ("kdd2012 --out --quick", "--out has no value: --quick is an option"),
            ("kdd2012 --quick --quick", "--quick is given twice"),
            ("kdd2012 --data a.json --log b.csv", "--data is given twice"),
            ("rucb --matrix a --letor b", "--matrix and --letor exclude each other"),
            ("--quick", "the name of an experiment is missing, or `all`"),
        ] {
            assert_eq!(format!("{:#}", parse(line).unwrap_err()), fault);
        }
    }

    #[test]
    fn the_program_has_the_features_that_its_data_need() {
        let file = std::env::temp_dir().join(format!("xtask-{}", std::process::id()));
        let of = |options: &str| features(&parsed(&format!("yandex {options}")));
        let (without, logs) = (["--no-default-features"], ["--no-default-features", "--features", "logs"]);
        assert_eq!(of("--quick"), without);
        assert_eq!(of("--data queries.JSON"), without);
        assert_eq!(of("--log log.csv"), logs);
        assert_eq!(of("--letor x.txt"), logs);
        assert_eq!(of("--matrix x.csv"), without);
        fs::write(&file, [0x1f, 0x8b, 8]).unwrap();
        assert_eq!(of(&format!("--matrix {}", file.display())), logs);
        fs::write(&file, b"PAR1....").unwrap();
        assert!(of(&format!("--log {}", file.display())).is_empty());
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn data_are_for_one_experiment() {
        assert_eq!(parsed("yandex --data a/b.json").options, ["--data", "a/b.json"]);
        let arguments = parsed("kdd2012 --log a/training.txt");
        assert_eq!(arguments.options, ["--data", "a/training.txt"]);
        assert_eq!(arguments.file.as_deref(), Some(Path::new("a/training.txt")));
        let error = run(&parsed("all --data a.json")).unwrap_err().to_string();
        assert!(error.contains("--data is for one experiment"), "{error}");
        assert_eq!(parsed("rucb --matrix a/b.csv").options, ["--matrix", "a/b.csv"]);
        let error = run(&parsed("all --letor a.txt")).unwrap_err().to_string();
        assert!(error.contains("--letor is for one experiment"), "{error}");
    }
}
