//! `cargo xtask performance`: measures the policies beside their plain versions, how their rates grow, and the packages of others.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::reproduce::workspace;
use anyhow::{Context as _, Result};

/// The arguments of `cargo xtask performance`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often each number is measured; the tables have medians
    #[arg(long, default_value_t = 5, value_name = "N")]
    repetitions: u64,
    /// Draw the pictures of growth into this folder
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// The Python interpreter for the packages of others
    #[arg(long, default_value = "python3", value_name = "PROGRAM")]
    python: PathBuf,
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
    measure.args(["run", "--release", "--package", "benches", "--example", "performance"]);
    measure.arg("--manifest-path").arg(root.join("Cargo.toml")).args(["--", "--repetitions", &repetitions]);
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
