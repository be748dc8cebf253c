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
mod report_dir;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::config::{Experiment, Overrides};
use crate::output::OutputDir;
use crate::report::claims::{Agreement, Comparison, Verdict, judge};
use crate::report::figure::{self, Figure, Looks};
use crate::result::ResultFile;
use experiment::Reproduction;
use page::{Judged, PanelReport, Report};
use report_dir::Owner;

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
    let owner = Owner {
        schema: report_dir::SCHEMA,
        experiment: reproduction.name.clone(),
        quick: arguments.quick,
        seed: arguments.seed,
        runs: arguments.runs,
    };
    report_dir::check(out, &owner)?;
    for (panel, experiment) in reproduction.panels.iter().zip(&experiments) {
        let mut files = figure::file_names(&panel.figures);
        files.push("spec.toml".to_owned());
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        OutputDir::claim(&out.join(&experiment.name), &experiment.identity(), &experiment.name, &files)?;
    }

    let labels =
        experiments.iter().flat_map(|experiment| &experiment.policies).map(|policy| policy.label.as_str());
    let looks = Looks::of(labels).named(reproduction.names.clone());
    let mut panels = Vec::new();
    for (panel, experiment) in reproduction.panels.iter().zip(&experiments) {
        let directory = out.join(&experiment.name);
        let result = simulate(&Job { experiment, directory, figures: &panel.figures, looks: &looks })?;
        panels.push(report_panel(out, result, &panel.figures)?);
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
    report_dir::write(out, &claims_json(&report, &owner, ok)?, &page::page(&report))?;
    // A closed or full standard output is no reason to fail: the report is written.
    let _ = write!(std::io::stdout(), "{}", verdicts(&report, ok, out));
    Ok(ok)
}

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

/// Gathers what the page says of a panel.
///
/// # Errors
///
/// A figure that the simulation drew cannot be read.
fn report_panel(out: &Path, result: ResultFile, figures: &[Figure]) -> Result<PanelReport> {
    let name = result.name.clone();
    let directory = out.join(&name);
    let mut files = figure::file_names(figures);
    let picture = |file: &String| {
        let path = directory.join(file);
        let picture =
            fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        Ok((format!("{name}/{file}"), picture))
    };
    let pictures = files.iter().map(picture).collect::<Result<_>>()?;
    files.extend(
        ["result.json", "curves.csv", "timing.json", "manifest.json", "spec.toml"].map(str::to_owned),
    );
    files.retain(|file| directory.join(file).is_file());
    let files = files.into_iter().map(|file| format!("{name}/{file}")).collect();
    let timing = read_json(&directory.join("timing.json"));
    let manifest = read_json(&directory.join("manifest.json"));
    Ok(PanelReport { result, pictures, files, timing, manifest })
}

/// A file for the report only: nothing when it is not there or not what it should be.
fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// `claims.json`.
fn claims_json(report: &Report<'_>, owner: &Owner, ok: bool) -> Result<String> {
    #[derive(Serialize)]
    struct File<'a> {
        #[serde(flatten)]
        owner: &'a Owner,
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
    let file = File { owner, ok, claims };
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
    // A name of any length is printed whole, but does not push the others aside: formatting has a limit, too.
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(60);
    let widths = [0, 1, 2].map(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", row[3]);
    }
    let scale = if report.quick { " (quick)" } else { "" };
    let mark = if ok { "" } else { " (marked with !)" };
    let _ = writeln!(
        text,
        "{}{scale}: {}{mark}. Report: {}",
        report.reproduction.name,
        report.outcome(),
        out.join("index.html").display()
    );
    text
}

#[cfg(test)]
mod tests;
