//! `click-bandits completions` and `man`: completions for shells and manual pages, made from the definition of the arguments.

use crate::Cli;
use crate::terminal::{put, say};
use anyhow::{Context as _, Result, bail};
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use experiment::TemporaryFile;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The arguments of `completions`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CompletionArguments {
    /// Shell that reads the completions
    shell: Shell,
}

/// The arguments of `man`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ManArguments {
    /// Directory for all pages [default: the program's page, on standard output]
    dir: Option<PathBuf>,
}

/// The name of the program.
const PROGRAM: &str = "click-bandits";
/// The beginning of every page, a comment in the language of manual pages. Pages with it may be replaced.
const WRITTEN_BY: &str = ".\\\" Written by `click-bandits man`";

/// Prints the completions of a shell.
///
/// # Errors
///
/// Standard output cannot be written.
pub(crate) fn completions(arguments: &CompletionArguments) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), PROGRAM, &mut text);
    put(&String::from_utf8(text)?)
}

/// Prints the program's manual page, or writes those of all commands.
///
/// # Errors
///
/// A file is in the way or cannot be written; standard output cannot be written.
pub(crate) fn man(arguments: &ManArguments) -> Result<()> {
    let pages = pages()?;
    let Some(dir) = &arguments.dir else { return put(&pages[0].1) };
    let paths: Vec<PathBuf> = pages.iter().map(|(name, _)| dir.join(format!("{name}.1"))).collect();
    for path in &paths {
        may_replace(path)?;
    }
    let write = || -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let written =
            paths.iter().zip(&pages).map(|(path, (_, page))| TemporaryFile::write(path, page.as_bytes()));
        written.collect::<io::Result<Vec<_>>>()?.into_iter().try_for_each(TemporaryFile::rename)
    };
    write().with_context(|| format!("{}: cannot be written", dir.display()))?;
    say(&format!(
        "{} pages in {dir}. Read one: man -l {first}\n",
        pages.len(),
        dir = dir.display(),
        first = paths[0].display()
    ))
}

/// The pages with their names: the program's, then those of its commands.
fn pages() -> Result<Vec<(String, String)>> {
    let mut program = Cli::command().version(env!("CARGO_PKG_VERSION"));
    program.build();
    let mut pages = vec![(PROGRAM.to_owned(), page(program.clone())?)];
    for command in
        program.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
    {
        let name = format!("{PROGRAM}-{}", command.get_name());
        // `display_name` is the name in the heading of a page, `bin_name` that in its synopsis.
        let bin_name = format!("{PROGRAM} {}", command.get_name());
        pages.push((name.clone(), page(command.clone().display_name(name).bin_name(bin_name))?));
    }
    Ok(pages)
}

fn page(command: Command) -> Result<String> {
    let mut text = Vec::new();
    Man::new(command).manual("click-bandits").render(&mut text)?;
    Ok(format!("{WRITTEN_BY}\n{}", String::from_utf8(text)?))
}

/// Refuses a file that is not a page of this command.
fn may_replace(path: &Path) -> Result<()> {
    match fs::read_to_string(path) {
        Ok(text) if text.starts_with(WRITTEN_BY) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => bail!("{}: is in the way: it is not a page that this command has written", path.display()),
    }
}
