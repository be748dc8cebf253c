//! `cargo xtask tables`: writes every generated table of READMEs and pages between its marks.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::reproduce::workspace;
use anyhow::{Context as _, Result, ensure};

/// Crates with an example `tables`, which prints each table after the line
/// `<!-- table: NAME in PAGE -->`.
const CRATES: [&str; 3] = ["policies", "report", "log-reader"];

/// Writes the tables.
///
/// # Errors
///
/// A crate does not compile, or a page has no marks of a table.
pub(crate) fn run() -> Result<ExitCode> {
    let root = workspace()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for name in CRATES {
        let mut command = Command::new(&cargo);
        command.args(["run", "--quiet", "--package", name, "--example", "tables"]).current_dir(&root);
        let output = command.stderr(std::process::Stdio::inherit()).output();
        let output = output.context("cargo cannot be started")?;
        ensure!(output.status.success(), "the tables of {name} cannot be printed");
        write_all(&root, &String::from_utf8(output.stdout)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the tables that a program printed, each after its line.
pub(crate) fn write_all(root: &Path, printed: &str) -> Result<()> {
    for block in printed.split("<!-- table: ").skip(1) {
        let (head, table) = block.split_once(" -->\n").context("a table without its head")?;
        let (name, page) = head.split_once(" in ").context("a table without its page")?;
        write(&root.join(page), name, table)?;
        println!("{page}: {name}");
    }
    Ok(())
}

fn write(page: &Path, name: &str, table: &str) -> Result<()> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
    let parts = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.with_context(|| format!("{}: no marks of {name}", page.display()))?;
    fs::write(page, format!("{before}{begin}{table}{end}{after}")).with_context(|| page.display().to_string())
}
