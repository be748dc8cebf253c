//! `click-bandits compare`: what differs beyond chance between two results of one experiment.

use crate::terminal::{self, wrapped};
use anyhow::Result;
use documents::number::{self, counted, grouped};
use experiment::FinishedResult;
use itertools::Itertools as _;
use report::compared::{ComparedQuantity, ResultComparison};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit status of an error, as of `diff`: 1 means that something differs.
const TROUBLE: u8 = 2;

/// The number of policies that a sentence names.
const NAMED: usize = 5;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Directory of a finished experiment
    first: PathBuf,
    /// Directory of the same experiment, from another version, machine or seed
    second: PathBuf,
    /// Print the comparison as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Prints the comparison. The status is 0 if nothing differs beyond chance, otherwise 1.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match compare(arguments) {
        Ok(true) => ExitCode::FAILURE,
        Ok(false) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::tell(&format_args!("error: {error:#}"));
            ExitCode::from(TROUBLE)
        }
    }
}

/// Returns whether something differs.
fn compare(arguments: &Arguments) -> Result<bool> {
    let Arguments { first, second, .. } = arguments;
    let compared = ResultComparison::of(&FinishedResult::open(first)?, &FinishedResult::open(second)?)?;
    if arguments.json {
        terminal::put(&terminal::json(&compared)?)?;
    } else {
        terminal::say(&text(&compared, &[first, second].map(|dir| dir.display().to_string())))?;
    }
    Ok(compared.differing().next().is_some())
}

fn text(compared: &ResultComparison, dirs: &[String; 2]) -> String {
    let mut text = String::new();
    let sides = dirs.iter().zip(["first:", "second:"]).zip(compared.runs.iter().zip(&compared.seeds));
    for ((dir, side), (runs, seed)) in sides {
        let _ = writeln!(text, "{side:<8} {dir}, {}, seed {seed}", counted(*runs, "run"));
    }
    for origin in &compared.origins {
        let [a, b] = &origin.values;
        let _ = writeln!(text, "{:<8} {a} / {b}", format!("{}:", origin.what));
    }
    text.push('\n');
    text += &table(compared);
    let mut sentences = vec![how(compared)];
    sentences.extend(policies(compared));
    sentences.push(verdict(compared));
    for sentence in sentences {
        let _ = writeln!(text, "{}\n", wrapped(&sentence, terminal::columns()).join("\n"));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// A line for each quantity; one for all quantities of a policy whose runs are the same.
fn table(compared: &ResultComparison) -> String {
    let mut rows = vec![["policy", "quantity", "first", "second", "difference", "z"].map(str::to_owned)];
    let is_same = |row: &ComparedQuantity| row.equal_runs.is_some() && row.equal_runs == compared.run_by_run;
    let mut same: Vec<&str> = Vec::new();
    for row in &compared.rows {
        if is_same(row) {
            if !same.contains(&row.policy.as_str()) {
                same.push(&row.policy);
            }
            continue;
        }
        let mark = if row.differs { " !" } else { "" };
        rows.push([
            row.policy.clone(),
            row.quantity.replace('_', " "),
            number::with_error(row.means[0], row.ses[0]),
            number::with_error(row.means[1], row.ses[1]),
            row.se.map_or_else(
                || number::significant(row.difference, 3),
                |se| number::with_error(row.difference, se),
            ),
            format!("{}{mark}", row.z.map_or_else(String::new, |z| number::fixed(z, 1))),
        ]);
    }
    let mut text = String::new();
    if rows.len() > 1 {
        text += &terminal::table(&rows, 2..5);
        text.push('\n');
    }
    if !same.is_empty() {
        let runs = counted(compared.run_by_run.unwrap_or(0), "run");
        let shared =
            if compared.runs[0] == compared.runs[1] { String::new() } else { " that both have".to_owned() };
        let labels = same.iter().map(|label| terminal::in_line(label)).join(", ");
        text +=
            &wrapped(&format!("Identical in all {runs}{shared}: {labels}."), terminal::columns()).join("\n");
        text += "\n\n";
    }
    text
}

fn how(compared: &ResultComparison) -> String {
    match (&compared.run_by_run, &compared.not_run_by_run) {
        (_, None) if compared.same_bytes => "result.json has the same bytes.".to_owned(),
        (Some(runs), _) => {
            let differing = compared.rows.iter().filter(|row| row.equal_runs != Some(*runs));
            let equal =
                |row: &ComparedQuantity| format!("{} {}", row.policy, grouped(row.equal_runs.unwrap_or(0)));
            let equal: Vec<String> = differing.map(equal).unique().collect();
            let equal = match equal.len() {
                0 => String::new(),
                _ => format!(" Equal among them: {}.", number::first_of(equal.iter(), NAMED)),
            };
            format!(
                "Compared run by run, in the {} that both have with one seed.{equal}",
                counted(*runs, "run")
            )
        }
        (None, Some(reason)) => {
            let same = if compared.same_bytes { "result.json has the same bytes. " } else { "" };
            let reason = terminal::in_line(reason);
            format!("{same}Compared by means, since the runs cannot be read: {reason}.")
        }
        (None, None) => "Compared by means, since the seeds differ.".to_owned(),
    }
}

/// A sentence on policies that are not in both results, or not the same.
fn policies(compared: &ResultComparison) -> Option<String> {
    let mut sentences = Vec::new();
    for (labels, side) in compared.only.iter().zip(["first", "second"]) {
        if !labels.is_empty() {
            sentences.push(format!("Only in the {side}: {}.", labels.join(", ")));
        }
    }
    if !compared.other_parameters.is_empty() {
        sentences.push(format!("With other parameters: {}.", compared.other_parameters.join(", ")));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn verdict(compared: &ResultComparison) -> String {
    let fewest = compared.runs[0].min(compared.runs[1]);
    let differing: Vec<&ComparedQuantity> = compared.differing().collect();
    let correction = match compared.comparisons {
        0 | 1 => String::new(),
        many => format!(" after correction for {} comparisons", grouped(many as u64)),
    };
    let level = compared.level;
    if compared.rows.is_empty() {
        "No policy is in both results.".to_owned()
    } else if compared.same_bytes || compared.is_identical() {
        "Nothing differs.".to_owned()
    } else if fewest < compared.fewest_runs {
        format!(
            "{} cannot show that anything differs beyond chance: at least {} are needed.",
            counted(fewest, "run"),
            compared.fewest_runs
        )
    } else if differing.is_empty() {
        format!("Nothing differs beyond chance (level {level}{correction}).")
    } else {
        let (count, differ) =
            (differing.len() as u64, if differing.len() == 1 { "differs" } else { "differ" });
        let quantities = if count == 1 { "quantity" } else { "quantities" };
        format!(
            "{} {quantities} {differ} beyond chance, marked with ! (level {level}{correction}).",
            grouped(count)
        )
    }
}
