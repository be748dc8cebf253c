//! `click-bandits completions` and `man`, made from the definition of the arguments.

use crate::program_with_help;
use crate::terminal::{put, say};
use anyhow::{Context as _, Result, bail};
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use documents::{TemporaryFile, read_own};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CompletionArguments {
    /// Shell that reads the completions
    shell: Shell,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ManArguments {
    /// Directory for all pages [default: the program's page, on standard output]
    dir: Option<PathBuf>,
}

const PROGRAM: &str = "click-bandits";
/// The first line of every page, a comment. Pages with it may be replaced.
const WRITTEN_BY: &str = ".\\\" Written by `click-bandits man`";

pub(crate) fn completions(arguments: &CompletionArguments) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program_with_help(), PROGRAM, &mut text);
    let mut text = String::from_utf8(text)?;
    match arguments.shell {
        // The script completes a command under another name than it recognizes if the program's
        // name has a dash (clap_complete 4.6).
        Shell::Bash => text = text.replace("click__subcmd__bandits", "click__bandits"),
        Shell::Fish => text += &names_for_fish(),
        _ => {}
    }
    put(&text)
}

/// Completions of names in fish: values of arguments, which `clap_complete` leaves out.
fn names_for_fish() -> String {
    let (program, mut text) = (program_with_help(), String::new());
    for command in program.get_subcommands() {
        let values = command.get_positionals().flat_map(Arg::get_possible_values);
        let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        if !names.is_empty() {
            let condition = format!("__fish_seen_subcommand_from {}", command.get_name());
            let _ = writeln!(text, "complete -c {PROGRAM} -n \"{condition}\" -f -a \"{}\"", names.join(" "));
        }
    }
    text
}

/// Prints the program's manual page, or writes those of all commands.
pub(crate) fn man(arguments: &ManArguments) -> Result<()> {
    let pages = pages()?;
    let Some(dir) = &arguments.dir else { return put(&pages[0].1) };
    let paths: Vec<PathBuf> = pages.iter().map(|(name, _)| dir.join(format!("{name}.1"))).collect();
    if dir.exists() && !dir.is_dir() {
        bail!("{}: is not a directory: name one for the pages", dir.display());
    }
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
    let mut program = program_with_help().disable_help_subcommand(true);
    program.build();
    let mut pages = vec![(PROGRAM.to_owned(), page(program.clone(), PROGRAM)?)];
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("{PROGRAM}-{}", command.get_name());
        pages.push((name.clone(), page(command.clone(), &name)?));
    }
    Ok(pages)
}

/// The page of a command. Its examples keep their lines, which `clap_mangen` would fill.
fn page(command: Command, name: &str) -> Result<String> {
    let examples = command.get_after_long_help().map_or_else(String::new, ToString::to_string);
    let man = Man::new(command.display_name(name))
        .title(name.to_uppercase())
        .date(option_env!("CLICK_BANDITS_DATE").unwrap_or_default())
        .source(concat!("click-bandits ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if name == PROGRAM {
        man.render_subcommands_section(&mut text)?;
    }
    let text = without_double_breaks(&String::from_utf8(text)?);
    let examples = examples.replace('\\', "\\e").replace('-', "\\-");
    Ok(format!(
        "{WRITTEN_BY}\n{text}.SH EXAMPLES\n.nf\n{}\n.fi\n",
        examples.trim_start_matches("Examples:\n")
    ))
}

/// The page without line breaks beside empty lines, which have no effect.
fn without_double_breaks(page: &str) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let is_space = |number: Option<usize>| {
        number.and_then(|number| lines.get(number)).is_some_and(|line| line.is_empty() || *line == ".sp")
    };
    let has_effect = |number: &usize| {
        lines[*number] != ".br" || !(is_space(number.checked_sub(1)) || is_space(number.checked_add(1)))
    };
    let mut text: Vec<&str> = (0..lines.len()).filter(has_effect).map(|number| lines[number]).collect();
    // The last line also ends with a line break.
    text.push("");
    text.join("\n")
}

/// Refuses a file that is not a page of this command.
fn may_replace(path: &Path) -> Result<()> {
    match read_own(path) {
        Ok(text) if text.starts_with(WRITTEN_BY.as_bytes()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => bail!("{}: is in the way: it is not a page that this command has written", path.display()),
    }
}
