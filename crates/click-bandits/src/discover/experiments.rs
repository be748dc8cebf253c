//! `click-bandits experiments`: the experiments of the papers, which are part of the program.

use super::named::EXPERIMENT;
use super::page::Page;
use super::{Form, show};
use crate::embedded::{EXPERIMENTS, EmbeddedExperiment};
use crate::terminal::put;
use anyhow::{Context as _, Result};
use documents::number;
use itertools::Itertools as _;
use report::reproduction::{Extent, Inputs, Panel, Paper, Reproduction};
use serde::Serialize;
use spec::Experiment;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Show everything about this experiment
    #[arg(value_parser = EXPERIMENT, hide_possible_values = true)]
    name: Option<&'static str>,
    /// Print its README, with the results of the authors of the program, in Markdown
    #[arg(long, requires = "name", conflicts_with_all = ["json", "example"])]
    readme: bool,
    /// Write its files to a new directory, to make an experiment of your own of them
    #[arg(long, value_name = "DIR", requires = "name", conflicts_with_all = ["json", "example", "readme"])]
    files: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

#[derive(Debug, Serialize)]
struct ExperimentRow {
    name: &'static str,
    title: String,
    summary: Vec<String>,
    papers: Vec<Paper>,
    models: Vec<&'static str>,
    panels: Vec<PanelRow>,
    n_claims: usize,
    /// The option that gives it data of the user, if there is one.
    takes: Vec<&'static str>,
    command: String,
    #[serde(skip)]
    toml: &'static str,
}

#[derive(Debug, Serialize)]
struct PanelRow {
    name: String,
    title: String,
    place: String,
    statement: String,
    models: Vec<&'static str>,
    task: &'static str,
    variants: usize,
    /// Runs of each policy, in all variants together.
    runs: u64,
    /// Rounds of the longest run; the largest number for tasks that end earlier.
    rounds: u64,
    policies: Vec<String>,
    needs_data: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(name) = arguments.name {
        let embedded = EmbeddedExperiment::find(name)?;
        if arguments.readme {
            return put(embedded.text("README.md").unwrap_or_default());
        }
        if let Some(dir) = &arguments.files {
            anyhow::ensure!(!dir.exists(), "--files {}: it is there already: give a new name", dir.display());
            write_files(embedded, dir).with_context(|| format!("{}: cannot be written", dir.display()))?;
            let dir = dir.display();
            return put(&format!("{dir}: written. Change it, then: click-bandits check {dir}\n"));
        }
        let row = ExperimentRow::of(embedded)?;
        return show(&row, &row.page(), Some(row.toml), arguments.form);
    }
    let all: Vec<ExperimentRow> = EXPERIMENTS.iter().map(ExperimentRow::of).collect::<Result<_>>()?;
    show(&all, &listed(&all), None, arguments.form)
}

/// Writes the files of an experiment to a directory that does not exist yet: all or none.
fn write_files(embedded: &EmbeddedExperiment, dir: &Path) -> std::io::Result<()> {
    fs::create_dir(dir)?;
    let mut files = embedded.files.iter();
    let written = files.try_for_each(|(name, content)| fs::write(dir.join(name), content));
    if written.is_err() {
        let _ = fs::remove_dir_all(dir);
    }
    written
}

fn listed(all: &[ExperimentRow]) -> Page {
    let mut page = Page::default();
    page.text(0, "Experiments of papers. Each runs with `click-bandits reproduce NAME`; with --quick it takes about a minute of one core.");
    page.line("");
    for experiment in all {
        let models = experiment.models.join(", ");
        page.beside(2, experiment.name, 22, &format!("{} ({models})", experiment.title));
    }
    page.heading("More: click-bandits experiments NAME. All of them: click-bandits reproduce all --quick.");
    page
}

impl ExperimentRow {
    fn of(embedded: &'static EmbeddedExperiment) -> Result<Self> {
        let (experiment, claims) = (embedded.source("experiment.toml")?, embedded.source("claims.toml")?);
        let all = Reproduction::from_sources(&experiment, &claims, Inputs::default(), Extent::Full)?;
        let document = experiment.parse()?;
        let mut takes = Vec::new();
        if !all.awaiting.is_empty() || document.root().field("log").is_some() {
            takes.push("--data");
        }
        if all.panels.iter().any(|panel| panel.matrix().is_some()) {
            takes.push("--matrix");
        }
        let run = all.panels.iter().map(|panel| PanelRow::of(panel, false));
        let panels: Vec<PanelRow> =
            run.chain(all.awaiting.iter().map(|panel| PanelRow::of(panel, true))).collect();
        let models = panels.iter().flat_map(|panel| panel.models.iter().copied()).sorted().dedup().collect();
        Ok(Self {
            name: embedded.name,
            title: all.title.clone(),
            summary: all.summary.clone(),
            papers: all.papers.clone(),
            models,
            panels,
            n_claims: all.claims.len(),
            takes,
            command: format!("click-bandits reproduce {} --quick", embedded.name),
            toml: embedded.text("experiment.toml").unwrap_or_default(),
        })
    }
}

impl PanelRow {
    fn of(panel: &Panel, needs_data: bool) -> Self {
        let experiments = || panel.variants.iter().map(|variant| &variant.experiment);
        let models = experiments().map(|experiment| experiment.instances().model().name).sorted().dedup();
        let policies = experiments().flat_map(Experiment::policies).map(|entry| entry.label.clone()).unique();
        Self {
            name: panel.name.clone(),
            title: panel.title.clone(),
            place: panel.place.clone(),
            statement: panel.statement.clone(),
            models: models.collect(),
            task: panel.task().name(),
            variants: panel.variants.len(),
            runs: experiments().map(Experiment::runs).sum(),
            rounds: experiments().map(Experiment::horizon).max().unwrap_or(0),
            policies: policies.collect(),
            needs_data,
        }
    }

    fn scale(&self) -> String {
        let (runs, rounds) = (number::grouped(self.runs), number::grouped(self.rounds));
        let most = if self.task == "identify" || self.variants > 1 { "at most " } else { "" };
        let variants =
            if self.variants > 1 { format!(" in {} variants", self.variants) } else { String::new() };
        let data = if self.needs_data { "; needs --data" } else { "" };
        format!("{runs} runs of {most}{rounds} rounds{variants}{data}")
    }
}

impl ExperimentRow {
    fn page(&self) -> Page {
        let mut page = Page::about(self.name, &self.title);
        for paragraph in &self.summary {
            page.line("");
            page.text(0, paragraph);
        }
        page.heading("Papers");
        for Paper { citation, link, .. } in &self.papers {
            page.text(2, citation);
            if let Some(link) = link {
                page.text(4, link);
            }
        }
        page.heading(&format!("Panels, with {} claims that are judged", self.n_claims));
        for panel in &self.panels {
            page.line(&format!("  {}", panel.name));
            page.text(4, &format!("{} ({})", panel.title, panel.place));
            page.text(4, &format!("{} users; {}", panel.models.join(", "), panel.scale()));
            page.text(4, &panel.policies.join(", "));
        }
        page.heading("Commands");
        page.line("");
        let mut commands = format!("{}\nclick-bandits reproduce {}\n", self.command, self.name);
        if let [panel, _, ..] = &*self.panels {
            let _ = writeln!(commands, "click-bandits reproduce {} --panel {}", self.name, panel.name);
        }
        for option in &self.takes {
            let _ = writeln!(commands, "click-bandits reproduce {} {option} FILE", self.name);
        }
        page.file(&commands);
        page.heading(
            "The first is a check of about a minute; docs/reproductions.md has the times of the full runs.",
        );
        page.text(
            0,
            &format!("Our results: click-bandits experiments {} --readme. Its file: --example.", self.name),
        );
        page
    }
}
