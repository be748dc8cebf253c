//! `cargo xtask performance`: measures the policies beside their plain versions, how their rates
//! grow, and the packages of others.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crate::reproduce::workspace;
use crate::tables;
use anyhow::{Context as _, Result, anyhow};
use lexopt::{
    Arg::{Long, Short},
    ValueExt as _,
};

/// The help of `cargo xtask performance`.
pub(crate) const HELP: &str = "\
Measure the policies beside their plain versions and beside the packages of others

Usage: cargo xtask performance [OPTIONS]

Options:
  --repetitions <N>   How often each number is measured; the tables have medians [default: 5]
  --pictures <DIR>    Draw the pictures of growth into this folder
  --python <PROGRAM>  The Python interpreter for the packages of others [default: python3]
  --growth            Only hold every policy to the contract of cost, and write its table into
                      docs/performance.md
  -h, --help          Print help
";

/// The arguments of `cargo xtask performance`.
#[derive(Debug)]
pub(crate) struct Arguments {
    repetitions: u64,
    pictures: Option<PathBuf>,
    python: PathBuf,
    growth: bool,
}

impl Arguments {
    /// Reads what follows `cargo xtask performance`; `None` if help is asked for.
    ///
    /// # Errors
    ///
    /// An option that does not exist, has no value or is given twice.
    pub(crate) fn parse(parser: &mut lexopt::Parser) -> Result<Option<Self>> {
        let mut arguments = Self { repetitions: 5, pictures: None, python: "python3".into(), growth: false };
        let mut given = Vec::new();
        while let Some(argument) = parser.next()? {
            if let Long(name) = argument {
                if given.iter().any(|other| other == name) {
                    return Err(anyhow!("--{name} is given twice"));
                }
                given.push(name.to_owned());
            }
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("repetitions") => {
                    let repetitions = parser.value()?.parse();
                    arguments.repetitions = repetitions.map_err(|error| anyhow!("--repetitions: {error}"))?;
                }
                Long("pictures") => arguments.pictures = Some(parser.value()?.into()),
                Long("growth") => arguments.growth = true,
                Long("python") => arguments.python = parser.value()?.into(),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Some(arguments))
    }
}

/// Prints the tables of `docs/performance.md`.
///
/// # Errors
///
/// If cargo or Python cannot be started.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = workspace()?;
    let repetitions = arguments.repetitions.max(1).to_string();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut measure = Command::new(cargo);
    measure.args(["run", "--release", "--package", "measurements", "--bin", "performance"]);
    measure.arg("--manifest-path").arg(root.join("Cargo.toml")).args(["--", "--repetitions", &repetitions]);
    if arguments.growth {
        let output = measure.arg("--growth").stderr(Stdio::inherit()).output();
        let output = output.context("cargo cannot be started")?;
        let printed = String::from_utf8(output.stdout)?;
        print!("{printed}");
        tables::write_all(&root, &printed)?;
        return Ok(if output.status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if let Some(folder) = &arguments.pictures {
        measure.arg("--pictures").arg(folder);
    }
    if !measure.status().context("cargo cannot be started")?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut packages = Command::new(&arguments.python);
    packages.arg(root.join("python/benches/packages.py")).arg(repetitions);
    let played =
        packages.status().with_context(|| format!("{} cannot be started", arguments.python.display()))?;
    Ok(if played.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
