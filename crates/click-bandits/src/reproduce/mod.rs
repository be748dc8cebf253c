//! `click-bandits reproduce`: the experiment of a paper, from its files to a report with verdicts.
//!
//! Every panel is simulated into a directory of its own, its claims are judged, and the report is written:
//!
//! ```text
//! OUT/index.html                 the report
//! OUT/claims.json                every claim with what was found, for programs
//! OUT/PANEL/result.json ...      what `simulate` writes of the panel, its figures among it
//! ```

pub(crate) mod experiment;
mod page;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::config::{Experiment, Overrides};
use crate::output::OutputDir;
use crate::report::claims::{Agreement, Comparison, Verdict, judge};
use crate::report::figure::{self, Figure, Looks};
use crate::result::ResultFile;
use experiment::Reproduction;
use page::{Judged, PanelReport, Report};

/// What `reproduce` is asked for.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Directory with `experiment.toml` and `claims.toml`
    pub(crate) experiment: PathBuf,
    /// Where the report and the results go
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Fewer runs: about a minute; claims may stay undecided
    #[arg(long)]
    pub(crate) quick: bool,
    /// Threads that simulate [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Another master seed for every panel, as for a run that a verdict is taken from
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Another number of runs for every panel
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A panel to be run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// What is simulated.
    pub(crate) experiment: &'a Experiment,
    /// Where its files go.
    pub(crate) directory: PathBuf,
    /// What is drawn.
    pub(crate) figures: &'a [Figure],
    /// In which colours.
    pub(crate) looks: &'a Looks,
}

/// Runs an experiment with `simulate`, which runs a panel and writes its files.
///
/// The verdicts are printed; the answer is whether they are what is known.
///
/// # Errors
///
/// A file of the experiment is faulty, the output directory is another experiment's, or a simulation fails.
pub(crate) fn run(
    arguments: &Arguments,
    mut simulate: impl FnMut(&Job<'_>) -> Result<ResultFile>,
) -> Result<bool> {
    let reproduction = Reproduction::read(&arguments.experiment)?;
    let experiments = experiments(&reproduction, arguments)?;
    let out = &arguments.out;
    refuse_another(out, &reproduction.name, arguments.quick)?;
    for (panel, experiment) in reproduction.panels.iter().zip(&experiments) {
        let mut files = figure::file_names(&panel.figures);
        files.push("spec.toml".to_owned());
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        OutputDir::claim(&out.join(&experiment.name), &experiment.identity(), &experiment.name, &files)?;
    }

    let labels =
        experiments.iter().flat_map(|experiment| &experiment.policies).map(|policy| policy.label.as_str());
    let looks = Looks::of(labels);
    let mut panels = Vec::new();
    for (panel, experiment) in reproduction.panels.iter().zip(&experiments) {
        let directory = out.join(&experiment.name);
        let result = simulate(&Job { experiment, directory, figures: &panel.figures, looks: &looks })?;
        let drawn = figure::draw(&panel.figures, &result, &looks)?;
        panels.push(report_panel(out, result, drawn));
    }

    let mut claims = Vec::new();
    let rows = reproduction.printed.as_ref().map_or(&[][..], |printed| &printed.rows);
    for claim in &reproduction.claims {
        let result =
            claim.panel.as_ref().and_then(|name| panels.iter().find(|panel| panel.result.name == *name));
        let finding = judge(claim, result.map(|panel| &panel.result), rows)?;
        let agreement = Agreement::of(finding.verdict, claim.known);
        claims.push(Judged { claim, finding, agreement });
    }
    let ok = !claims.iter().any(|judged| judged.agreement.fails(arguments.quick));
    let report =
        Report { reproduction: &reproduction, quick: arguments.quick, panels, claims, looks: &looks };
    write(&out.join(CLAIMS), &claims_json(&report, ok)?)?;
    write(&out.join("index.html"), &page::page(&report))?;
    print!("{}", verdicts(&report, ok, out));
    Ok(ok)
}

/// The file that says whose the directory is.
const CLAIMS: &str = "claims.json";

/// The panels as they are to be run.
fn experiments(reproduction: &Reproduction, arguments: &Arguments) -> Result<Vec<Experiment>> {
    let mut experiments = Vec::new();
    for panel in &reproduction.panels {
        let mut experiment = panel.experiment.clone();
        if arguments.quick {
            experiment.apply(panel.quick)?;
        }
        experiment.apply(Overrides { seed: arguments.seed, runs: arguments.runs, horizon: None })?;
        experiments.push(experiment);
    }
    Ok(experiments)
}

/// Refuses a directory with the report of another experiment, or of this one at another scale.
fn refuse_another(out: &Path, name: &str, quick: bool) -> Result<()> {
    let file = out.join(CLAIMS);
    let Ok(text) = fs::read(&file) else { return Ok(()) };
    let found: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    if found["experiment"] == name && found["quick"] == quick {
        return Ok(());
    }
    let whose = match (found["experiment"].as_str(), found["quick"].as_bool()) {
        (Some(other), Some(true)) => format!("a quick run of {other}"),
        (Some(other), _) => format!("a full run of {other}"),
        (None, _) => "something else".to_owned(),
    };
    bail!(
        "{}: holds the report of {whose}: give another --out, or delete {} first",
        out.display(),
        file.display()
    )
}

/// Gathers what the page says of a panel.
fn report_panel(out: &Path, result: ResultFile, drawn: Vec<(String, String)>) -> PanelReport {
    let name = result.name.clone();
    let directory = out.join(&name);
    let (mut files, pictures): (Vec<String>, Vec<String>) = drawn.into_iter().unzip();
    files.extend(
        ["result.json", "curves.csv", "timing.json", "manifest.json", "spec.toml"].map(str::to_owned),
    );
    files.retain(|file| directory.join(file).is_file());
    let files = files.into_iter().map(|file| format!("{name}/{file}")).collect();
    let timing = read_json(&directory.join("timing.json"));
    let manifest = read_json(&directory.join("manifest.json"));
    PanelReport { result, pictures, files, timing, manifest }
}

/// A file for the report only: nothing when it is not there or not what it should be.
fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Writes a file whole or not at all.
fn write(file: &Path, content: &str) -> Result<()> {
    let failed = || format!("{}: cannot be written", file.display());
    let directory = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).with_context(failed)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let part = directory.join(format!(".{name}.part"));
    fs::write(&part, content).and_then(|()| fs::rename(&part, file)).with_context(failed)
}

/// `claims.json`.
fn claims_json(report: &Report<'_>, ok: bool) -> Result<String> {
    #[derive(Serialize)]
    struct File<'a> {
        schema: u32,
        experiment: &'a str,
        quick: bool,
        ok: bool,
        claims: Vec<Entry<'a>>,
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        panel: Option<&'a str>,
        says: &'a str,
        place: &'a str,
        level: f64,
        verdict: Verdict,
        known: Verdict,
        agreement: Agreement,
        evidence: &'a str,
        summary: &'a str,
        comparisons: &'a [Comparison],
    }
    let claims = report
        .claims
        .iter()
        .map(|judged| Entry {
            name: &judged.claim.name,
            panel: judged.claim.panel.as_deref(),
            says: &judged.claim.says,
            place: &judged.claim.place,
            level: judged.claim.level,
            verdict: judged.finding.verdict,
            known: judged.claim.known,
            agreement: judged.agreement,
            evidence: &judged.claim.evidence,
            summary: &judged.finding.summary,
            comparisons: &judged.finding.comparisons,
        })
        .collect();
    let file = File { schema: 1, experiment: &report.reproduction.name, quick: report.quick, ok, claims };
    let mut text = serde_json::to_string_pretty(&file).context("claims.json cannot be written")?;
    text.push('\n');
    Ok(text)
}

/// What is printed at the end.
fn verdicts(report: &Report<'_>, ok: bool, out: &Path) -> String {
    let heads = ["claim", "found", "known", "measured"].map(str::to_owned);
    let mut rows = vec![heads];
    for judged in &report.claims {
        let mark = if judged.agreement.fails(report.quick) { "! " } else { "  " };
        rows.push([
            format!("{mark}{}", judged.claim.name),
            judged.finding.verdict.words().to_owned(),
            judged.claim.known.words().to_owned(),
            judged.finding.summary.clone(),
        ]);
    }
    rows[0][0].insert_str(0, "  ");
    let widths =
        [0, 1, 2].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", row[3]);
    }
    let word = if ok { "as known" } else { "NOT as known (marked with !)" };
    let scale = if report.quick { " (quick)" } else { "" };
    let _ = writeln!(
        text,
        "{}{scale}: {word}. Report: {}",
        report.reproduction.name,
        out.join("index.html").display()
    );
    text
}

#[cfg(test)]
mod tests;
