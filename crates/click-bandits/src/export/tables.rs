//! The tables of finished results, row by row.

use super::Table;
use crate::panels::Panel;
use anyhow::{Result, bail};
use experiment::result::{Curves, Difference, MeanAndError, MeanSe, PolicyResult, PolicySummary};
use experiment::{ResultFile, Runs};
use itertools::Itertools as _;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Count(u64),
    Number(f64),
    Flag(bool),
    Missing,
}

/// Takes a row: cells with their columns, in any order. Other columns are empty.
pub(super) type Each<'a> = dyn FnMut(&[(&str, Cell<'_>)]) -> Result<()> + 'a;

const STATISTICS: [&str; 6] = ["mean", "se", "min", "q10", "q90", "max"];

/// The columns of a table. Runs that end with an answer have no curves, which is an error.
pub(super) fn columns(table: Table, panels: &[Panel]) -> Result<Vec<&'static str>> {
    let has_curves =
        |panel: &Panel| panel.finished.result().policies.iter().any(|one| one.curves().is_some());
    if table == Table::Curves && !panels.iter().any(has_curves) {
        bail!(
            "{}: its runs end with an answer, so there are no curves: give --table final or --table runs",
            panels[0].finished.dir().display()
        );
    }
    let are_named = panels.iter().any(|panel| panel.name.is_some());
    let names: &[&str] = if are_named { &["panel", "variant"] } else { &[] };
    let (head, statistics): (&[&str], &[&str]) = match table {
        Table::Curves => (&["policy", "t", "statistic"], &STATISTICS),
        Table::Final => (&["policy", "name", "t", "runs", "statistic"], &STATISTICS),
        Table::Paired => (&["a", "b", "t", "statistic"], &STATISTICS[..2]),
        Table::Runs => (&["run", "instance", "policy"], &[]),
    };
    let policies = panels.iter().flat_map(|panel| &panel.finished.result().policies);
    let of_runs = policies.filter(|_| table == Table::Runs).flat_map(|policy| match &policy.summary {
        // The last column only if policies recommend an item, or stop by themselves.
        PolicySummary::Curves(curves) => {
            let n_columns = if curves.accuracy.is_empty() { 3 } else { 4 };
            &["t", "regret", "clicks", "accurate"][..n_columns]
        }
        PolicySummary::Answers(answers) => {
            let n_columns = if answers.stopped.is_none() { 3 } else { 4 };
            &["steps", "observations", "correct", "stopped"][..n_columns]
        }
    });
    Ok(names.iter().chain(head).chain(statistics).chain(of_runs).copied().unique().collect())
}

/// Gives every row of a table to `each`. `all_runs` are those of each panel, for the table of runs.
pub(super) fn write(table: Table, panels: &[Panel], all_runs: &[Runs], each: &mut Each<'_>) -> Result<()> {
    for (index, panel) in panels.iter().enumerate() {
        let [name, variant] = [&panel.name, &panel.variant].map(|text| text.as_deref());
        let [name, variant] = [name, variant].map(|text| text.map_or(Cell::Missing, Cell::Text));
        let names = [("panel", name), ("variant", variant)];
        let mut of_panel = |cells: &[(&str, Cell<'_>)]| each(&[&names, cells].concat());
        let result = panel.finished.result();
        match table {
            Table::Curves => curves(result, &mut of_panel)?,
            Table::Final => final_values(result, &mut of_panel)?,
            Table::Paired => paired(result, &mut of_panel)?,
            Table::Runs => runs(result, &all_runs[index], &mut of_panel)?,
        }
    }
    Ok(())
}

/// Mean, standard error, minimum, first and last decile, and maximum, as far as known.
type Statistics = [Option<f64>; 6];

fn of_curves(curves: &Curves, checkpoint: usize) -> Vec<(&'static str, Statistics)> {
    let (regret, clicks) = (&curves.regret, &curves.clicks);
    let all = [&regret.mean, &regret.se, &regret.min, &regret.q10, &regret.q90, &regret.max];
    let mut statistics = vec![
        ("regret", all.map(|values| Some(values[checkpoint]))),
        ("clicks", [Some(clicks.mean[checkpoint]), Some(clicks.se[checkpoint]), None, None, None, None]),
    ];
    statistics.extend(curves.accuracy.get(checkpoint).map(|share| ("accuracy", of_share(*share))));
    statistics
}

fn of_share(share: f64) -> Statistics {
    [Some(share), None, None, None, None, None]
}

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
            let MeanAndError { mean, se } = answers.observations;
            statistics.push(("observations", [Some(mean), Some(se), None, None, None, None]));
            statistics.push(("correct", of_share(answers.correct)));
            statistics.extend(answers.stopped.map(|stopped| ("stopped", of_share(stopped))));
            statistics
        }
    }
}

/// Statistics with their columns; an unknown standard error is missing.
fn cells<'a>(statistics: Statistics) -> impl Iterator<Item = (&'static str, Cell<'a>)> {
    let known =
        |value: Option<f64>| value.filter(|value| !value.is_nan()).map_or(Cell::Missing, Cell::Number);
    STATISTICS.into_iter().zip(statistics.map(known))
}

fn curves(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    for policy in &result.policies {
        let Some(curves) = policy.curves() else { continue };
        // One statistic after the other, as in `curves.csv`.
        let n_statistics = if curves.t.is_empty() { 0 } else { of_curves(curves, 0).len() };
        for statistic in 0..n_statistics {
            for (index, &t) in curves.t.iter().enumerate() {
                let (name, values) = of_curves(curves, index)[statistic];
                let mut row = vec![
                    ("policy", Cell::Text(&policy.label)),
                    ("t", Cell::Count(t)),
                    ("statistic", Cell::Text(name)),
                ];
                row.extend(cells(values));
                each(&row)?;
            }
        }
    }
    Ok(())
}

/// The rounds of a run, or their largest number.
fn rounds(result: &ResultFile) -> Cell<'static> {
    result.horizon.or(result.max_steps).map_or(Cell::Missing, Cell::Count)
}

fn final_values(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    for policy in &result.policies {
        for (name, values) in at_the_end(policy) {
            let mut row = vec![
                ("policy", Cell::Text(&policy.label)),
                ("name", Cell::Text(&policy.policy)),
                ("t", rounds(result)),
                ("runs", Cell::Count(result.runs)),
                ("statistic", Cell::Text(name)),
            ];
            row.extend(cells(values));
            each(&row)?;
        }
    }
    Ok(())
}

fn paired(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    for pair in &result.paired {
        let mut row = |t: Cell<'_>, statistic: &str, mean: f64, se: f64| {
            let (a, b) = (("a", Cell::Text(&pair.a)), ("b", Cell::Text(&pair.b)));
            let mut row = vec![a, b, ("t", t), ("statistic", Cell::Text(statistic))];
            row.extend(cells([Some(mean), Some(se), None, None, None, None]));
            each(&row)
        };
        match &pair.difference {
            Difference::Curves { t, regret: MeanSe { mean, se }, .. } => {
                for (&t, (&mean, &se)) in t.iter().zip(mean.iter().zip(se)) {
                    row(Cell::Count(t), "regret", mean, se)?;
                }
            }
            Difference::Answers { stopping_time, observations, correct, .. } => {
                if let Some(time) = stopping_time {
                    row(rounds(result), "stopping_time", time.mean, time.se)?;
                }
                row(rounds(result), "observations", observations.mean, observations.se)?;
                row(rounds(result), "correct", correct.mean, correct.se)?;
            }
        }
        if let Some(share) = pair.difference.share_of_users() {
            row(rounds(result), "share_of_users", share.mean, share.se)?;
        }
    }
    Ok(())
}

fn runs(result: &ResultFile, runs: &Runs, each: &mut Each<'_>) -> Result<()> {
    let answers = (0..runs.n_policies()).map(|policy| runs.answers(policy)).collect::<Result<Vec<_>, _>>()?;
    for (run, &instance) in runs.instances().iter().enumerate() {
        for (index, policy) in result.policies.iter().enumerate() {
            let head = [
                ("run", Cell::Count(run as u64)),
                ("instance", Cell::Count(instance as u64)),
                ("policy", Cell::Text(&policy.label)),
            ];
            let mut row = |cells: &[(&str, Cell<'_>)]| each(&[&head, cells].concat());
            let curve = runs.curve(index, run)?;
            let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
            for (checkpoint, &t) in checkpoints.iter().enumerate() {
                let accurate = curve.accurate.get(checkpoint);
                row(&[
                    ("t", Cell::Count(t)),
                    ("regret", Cell::Number(curve.regret[checkpoint])),
                    ("clicks", Cell::Number(curve.clicks[checkpoint])),
                    ("accurate", accurate.map_or(Cell::Missing, |accurate| Cell::Flag(*accurate))),
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
