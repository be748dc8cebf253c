//! The tables of finished results, row by row.

use super::Table as Which;
use crate::panels::Panel;
use anyhow::{Result, bail};
use experiment::result::{Curves, Difference, Estimate, MeanSe, PolicyResult, PolicySummary};
use experiment::{ResultFile, Runs};
use serde::Serialize;

/// A value in a table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Count(u64),
    Number(f64),
    Flag(bool),
    Missing,
}

/// Takes a row: a cell for each column.
pub(super) type Each<'a> = dyn FnMut(&[Cell<'_>]) -> Result<()> + 'a;

/// A table of some results.
pub(super) struct Table<'a> {
    columns: Vec<&'static str>,
    panels: &'a [Panel],
    /// Whether rows begin with panel and variant.
    are_named: bool,
    which: Which,
    /// The runs of every panel, for the table of runs.
    runs: Vec<Runs>,
}

const POLICY: &str = "policy";
const T: &str = "t";
const STATISTIC: &str = "statistic";

/// The columns of a run with a curve; the last one only if policies recommend an item.
const CURVES: [&str; 4] = [T, "regret", "clicks", "accurate"];

/// The columns of a run that ends with an answer; the last one only if policies stop by themselves.
const ANSWERS: [&str; 4] = ["steps", "observations", "correct", "stopped"];

/// The columns of statistics over the runs.
const STATISTICS: [&str; 6] = ["mean", "se", "min", "q10", "q90", "max"];

/// A table of these results.
pub(super) fn table(which: Which, panels: &[Panel]) -> Result<Table<'_>> {
    let mut runs = Vec::new();
    if which == Which::Runs {
        for panel in panels {
            runs.push(panel.finished.runs()?);
        }
    }
    let results = || panels.iter().map(|panel| panel.finished.result());
    let has_curves = results().flat_map(|result| &result.policies).any(|policy| policy.curves().is_some());
    if which == Which::Curves && !has_curves {
        bail!(
            "{}: its runs end with an answer, so there are no curves: give --table final or --table runs",
            panels[0].finished.dir().display()
        );
    }
    let are_named = panels.iter().any(|panel| panel.name.is_some());
    let mut columns = Vec::new();
    if are_named {
        columns.extend(["panel", "variant"]);
    }
    match which {
        Which::Curves => columns.extend([POLICY, T, STATISTIC].iter().chain(&STATISTICS)),
        Which::Final => {
            let head = [POLICY, "name", T, "runs", STATISTIC];
            columns.extend(head.iter().chain(&STATISTICS));
        }
        Which::Paired => {
            columns.extend(["a", "b", T, STATISTIC]);
            columns.extend(["mean", "se"]);
        }
        Which::Runs => columns.extend(of_runs(results())),
    }
    Ok(Table { columns, panels, are_named, which, runs })
}

/// The columns of a table of the runs of these results: those that any of them has.
fn of_runs<'a>(results: impl Iterator<Item = &'a ResultFile>) -> Vec<&'static str> {
    let mut columns = vec!["run", "instance", POLICY];
    for result in results {
        for policy in &result.policies {
            let own: &[&str] = match &policy.summary {
                PolicySummary::Curves(curves) if curves.accuracy.is_empty() => &CURVES[..3],
                PolicySummary::Curves(_) => &CURVES,
                PolicySummary::Answers(answers) if answers.stopped.is_none() => &ANSWERS[..3],
                PolicySummary::Answers(_) => &ANSWERS,
            };
            for column in own {
                if !columns.contains(column) {
                    columns.push(*column);
                }
            }
        }
    }
    columns
}

impl Table<'_> {
    pub(super) fn columns(&self) -> &[&str] {
        &self.columns
    }

    /// Gives every row.
    pub(super) fn write(&self, each: &mut Each<'_>) -> Result<()> {
        for (index, panel) in self.panels.iter().enumerate() {
            let names = [&panel.name, &panel.variant];
            let mut of_panel = |cells: &[Cell<'_>]| {
                if !self.are_named {
                    return each(cells);
                }
                let mut row: Vec<Cell<'_>> = names.map(|name| text_or_missing(name.as_deref())).to_vec();
                row.extend(cells);
                each(&row)
            };
            let result = panel.finished.result();
            match self.which {
                Which::Curves => curves(result, &mut of_panel)?,
                Which::Final => final_values(result, &mut of_panel)?,
                Which::Paired => paired(result, &mut of_panel)?,
                Which::Runs => {
                    // Results with other columns leave a cell empty.
                    let columns = &self.columns[if self.are_named { 2 } else { 0 }..];
                    runs(columns, result, &self.runs[index], &mut of_panel)?;
                }
            }
        }
        Ok(())
    }
}

fn text_or_missing(text: Option<&str>) -> Cell<'_> {
    text.map_or(Cell::Missing, Cell::Text)
}

/// Mean, standard error, minimum, first and last decile, and maximum, as far as known.
type Statistics = [Option<f64>; 6];

/// The statistics of a policy's curves at a checkpoint.
fn of_curves(curves: &Curves, at: usize) -> Vec<(&'static str, Statistics)> {
    let (regret, clicks) = (&curves.regret, &curves.clicks);
    let all = [&regret.mean, &regret.se, &regret.min, &regret.q10, &regret.q90, &regret.max];
    let mut statistics = vec![
        ("regret", all.map(|values| Some(values[at]))),
        ("clicks", [Some(clicks.mean[at]), Some(clicks.se[at]), None, None, None, None]),
    ];
    statistics.extend(curves.accuracy.get(at).map(|share| ("accuracy", of_share(*share))));
    statistics
}

fn of_share(share: f64) -> Statistics {
    [Some(share), None, None, None, None, None]
}

/// The statistics of a policy at the end of its runs.
fn at_the_end(policy: &PolicyResult) -> Vec<(&'static str, Statistics)> {
    match &policy.summary {
        PolicySummary::Curves(curves) => {
            curves.t.len().checked_sub(1).map_or_else(Vec::new, |last| of_curves(curves, last))
        }
        PolicySummary::Answers(answers) => {
            let mut statistics = Vec::new();
            if let Some(time) = answers.stopping_time {
                let all = [Some(time.mean), Some(time.se), Some(time.min), None, None, Some(time.max)];
                statistics.push(("stopping_time", all));
            }
            let Estimate { mean, se } = answers.observations;
            statistics.push(("observations", [Some(mean), Some(se), None, None, None, None]));
            statistics.push(("correct", of_share(answers.correct)));
            statistics.extend(answers.stopped.map(|stopped| ("stopped", of_share(stopped))));
            statistics
        }
    }
}

/// A number; missing if it is an unknown standard error.
fn number(value: f64) -> Cell<'static> {
    if value.is_nan() { Cell::Missing } else { Cell::Number(value) }
}

fn numbers(statistics: Statistics) -> [Cell<'static>; 6] {
    statistics.map(|value| value.map_or(Cell::Missing, number))
}

fn curves(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    for policy in &result.policies {
        let Some(curves) = policy.curves() else { continue };
        // One statistic after the other, as in `curves.csv`.
        let n_statistics = if curves.t.is_empty() { 0 } else { of_curves(curves, 0).len() };
        for statistic in 0..n_statistics {
            for (at, &t) in curves.t.iter().enumerate() {
                let (name, values) = of_curves(curves, at)[statistic];
                let mut row = vec![Cell::Text(&policy.label), Cell::Count(t), Cell::Text(name)];
                row.extend(numbers(values));
                each(&row)?;
            }
        }
    }
    Ok(())
}

fn final_values(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    let rounds = result.horizon.or(result.max_steps).map_or(Cell::Missing, Cell::Count);
    for policy in &result.policies {
        for (name, values) in at_the_end(policy) {
            let (label, policy) = (Cell::Text(&policy.label), Cell::Text(&policy.policy));
            let mut row = vec![label, policy, rounds, Cell::Count(result.runs), Cell::Text(name)];
            row.extend(numbers(values));
            each(&row)?;
        }
    }
    Ok(())
}

fn paired(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    let rounds = result.horizon.or(result.max_steps).map_or(Cell::Missing, Cell::Count);
    for pair in &result.paired {
        let mut row = |t: Cell<'_>, statistic: &str, mean: f64, se: f64| {
            let (a, b) = (Cell::Text(&pair.a), Cell::Text(&pair.b));
            each(&[a, b, t, Cell::Text(statistic), number(mean), number(se)])
        };
        match &pair.difference {
            Difference::Curves { t, regret: MeanSe { mean, se }, .. } => {
                for (&t, (&mean, &se)) in t.iter().zip(mean.iter().zip(se)) {
                    row(Cell::Count(t), "regret", mean, se)?;
                }
            }
            Difference::Answers { stopping_time, observations, correct, .. } => {
                if let Some(time) = stopping_time {
                    row(rounds, "stopping_time", time.mean, time.se)?;
                }
                row(rounds, "observations", observations.mean, observations.se)?;
                row(rounds, "correct", correct.mean, correct.se)?;
            }
        }
        if let Some(share) = pair.difference.share_of_users() {
            row(rounds, "share_of_users", share.mean, share.se)?;
        }
    }
    Ok(())
}

fn runs(columns: &[&str], result: &ResultFile, runs: &Runs, each: &mut Each<'_>) -> Result<()> {
    let answers = (0..runs.n_policies()).map(|policy| runs.answers(policy)).collect::<Result<Vec<_>, _>>()?;
    for (run, &instance) in runs.instances().iter().enumerate() {
        for (index, policy) in result.policies.iter().enumerate() {
            let mut row = |cells: &[(&str, Cell<'_>)]| {
                let head = [
                    ("run", Cell::Count(run as u64)),
                    ("instance", Cell::Count(instance as u64)),
                    ("policy", Cell::Text(&policy.label)),
                ];
                let cell = |name: &&str| {
                    let found = head.iter().chain(cells).find(|(its, _)| its == name);
                    found.map_or(Cell::Missing, |(_, cell)| *cell)
                };
                each(&columns.iter().map(cell).collect::<Vec<_>>())
            };
            let curve = runs.curve(index, run)?;
            let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
            for (at, &t) in checkpoints.iter().enumerate() {
                let accurate = curve.accurate.get(at).map_or(Cell::Missing, |accurate| Cell::Flag(*accurate));
                row(&[
                    ("t", Cell::Count(t)),
                    ("regret", Cell::Number(curve.regret[at])),
                    ("clicks", Cell::Number(curve.clicks[at])),
                    ("accurate", accurate),
                ])?;
            }
            if let Some(answer) = answers[index].get(run) {
                let stops = result.max_steps.is_some();
                row(&[
                    ("steps", Cell::Count(answer.steps)),
                    ("observations", Cell::Count(answer.observations)),
                    ("correct", Cell::Flag(answer.correct)),
                    ("stopped", if stops { Cell::Flag(answer.answered) } else { Cell::Missing }),
                ])?;
            }
        }
    }
    Ok(())
}
