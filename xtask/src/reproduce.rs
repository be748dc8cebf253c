//! `cargo xtask reproduce`: builds the program with the features that an experiment needs, and
//! calls its command `reproduce` with the same arguments.
//!
//! The experiments are part of the program, so it is built again if one of their files changes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::signals::{end_as, wait_for_the_command_on_ctrl_c};
use anyhow::{Context, Result};

/// Runs one experiment or all of them; fails if a verdict is not the known one.
///
/// # Errors
///
/// Cargo cannot be started.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let root = workspace()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--package", "click-bandits"]).args(features(arguments));
    command.arg("--manifest-path").arg(root.join("Cargo.toml")).args(["--", "reproduce"]).args(arguments);
    if !is_given(arguments, &["--out", "--reports"]) {
        command.arg("--reports").arg(shortest(&target(&root).join("reproduce")));
    }
    wait_for_the_command_on_ctrl_c();
    let status = command.status().context("cargo cannot be started")?;
    end_as(status);
    Ok(ExitCode::from(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))))
}

/// The features of the program. Readers of logs, above all of Parquet, take long to compile, and
/// most experiments take no data.
fn features(arguments: &[OsString]) -> &'static [&'static str] {
    if is_given(arguments, &["--data", "--log", "--matrix", "--letor"]) {
        &[]
    } else {
        &["--no-default-features"]
    }
}

/// Whether one of these options is among the arguments, as `--option` or `--option=value`.
fn is_given(arguments: &[OsString], options: &[&str]) -> bool {
    arguments.iter().any(|argument| {
        let argument = argument.to_string_lossy();
        options.contains(&argument.split_once('=').map_or(&*argument, |(option, _)| option))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_the_features_that_its_data_need() {
        let of = |line: &str| features(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("kdd2012 --quick --out --database"), ["--no-default-features"]);
        for line in
            ["yandex --data a.json", "kdd2012 --log=training.txt", "rucb --letor a", "rucb --matrix a"]
        {
            assert!(of(line).is_empty(), "{line}");
        }
    }
}
