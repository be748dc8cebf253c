//! Several reproductions in one directory, with an index.

use super::folder::scale;
use super::{Arguments, play_parts, reproduce, simulated};
use crate::embedded::{ALL, EXPERIMENTS, Place, bare_name};
use crate::terminal::{self, say};
use crate::usage::bail_usage;
use anyhow::{Context as _, Result, bail};
use documents::number;
use report::claims::Verdict;
use report::index::{self, Summary};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The experiments that the arguments name; `all` stands for those of the program.
pub(super) fn experiments(arguments: &Arguments) -> Result<Vec<PathBuf>> {
    let mut experiments: Vec<PathBuf> = Vec::new();
    for argument in std::iter::once(&arguments.experiment).chain(&arguments.more) {
        if bare_name(argument).is_some_and(|name| name == ALL) {
            experiments.extend(EXPERIMENTS.iter().map(|experiment| PathBuf::from(experiment.name)));
        } else {
            Place::of(argument)?;
            experiments.push(argument.clone());
        }
    }
    let of_one = [
        ("data", arguments.data.is_some()),
        ("matrix", arguments.matrix.is_some()),
        ("panel", arguments.panel.is_some()),
    ];
    match of_one.into_iter().find(|(_, given)| *given) {
        Some((option, _)) if experiments.len() > 1 => {
            bail_usage!("--{option} is for one experiment, not for several")
        }
        _ => Ok(experiments),
    }
}

/// Runs several experiments, and writes the index after each. An error does not keep the others
/// from being run.
pub(super) fn run(arguments: &Arguments, experiments: &[PathBuf]) -> Result<ExitCode> {
    let (out, suffix) = (&arguments.out, scale(arguments));
    let mut folders: Vec<String> = Vec::new();
    for experiment in experiments {
        let name =
            experiment.file_name().with_context(|| format!("{}: has no name", experiment.display()))?;
        let folder = format!("{}{suffix}", name.to_string_lossy());
        if folders.contains(&folder) {
            bail!("{}: another experiment also has this name", experiment.display());
        }
        folders.push(folder);
    }
    let name = format!("index{suffix}");
    index::check(out, &name)?;
    let (mut summaries, mut failed): (Vec<Summary>, Vec<&str>) = (Vec::new(), Vec::new());
    for (experiment, folder) in experiments.iter().zip(&folders) {
        let one = Arguments {
            experiment: experiment.clone(),
            more: Vec::new(),
            out: out.join(folder),
            ..arguments.clone()
        };
        if let Some(shard) = arguments.shard {
            play_parts(&one, shard)?;
            continue;
        }
        match reproduce(&one, None, simulated(&one)) {
            Ok(summary) => {
                if !summary.ok {
                    failed.push(folder);
                }
                summaries.push(summary);
                index::write(out, &name, &summaries, experiments.len(), arguments.quick)?;
            }
            Err(error) => {
                terminal::tell(&format_args!("error: {}: {error:#}", experiment.display()));
                failed.push(folder);
            }
        }
    }
    if arguments.shard.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    say(&table(&summaries, &out.join(format!("{name}.html"))))?;
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    terminal::tell(&format_args!("not as known: {}", failed.join(", ")));
    Ok(ExitCode::FAILURE)
}

/// Claims and times of every paper, for the terminal.
fn table(summaries: &[Summary], page: &Path) -> String {
    let heads = Verdict::ALL.map(Verdict::words).into_iter().chain(["CPU-seconds", "paper"]);
    let mut rows = vec![heads.map(str::to_owned).collect::<Vec<_>>()];
    for paper in index::by_paper(summaries) {
        let counts = Verdict::ALL.iter().zip(paper.claims).map(|(_, count)| count.to_string());
        rows.push(counts.chain([number::significant(paper.cpu_seconds, 3), paper.citation]).collect());
    }
    let mut text = format!("\n{}", terminal::table(&rows, 0..rows[0].len() - 1));
    let _ = writeln!(text, "Index: {}", page.display());
    text
}
