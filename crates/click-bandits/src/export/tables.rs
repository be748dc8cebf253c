//! The tables of finished results, row by row.

use super::Table;
use crate::panels::Panel;
use anyhow::{Error, Result, bail};
use experiment::result::{Difference, MeanSe};
use experiment::tables::{Cell, EachRow, STATISTICS, SummaryRow, columns_of_runs, each_run, statistics};
use experiment::{ResultFile, Runs};

type Each<'a> = EachRow<'a, Error>;

/// The columns of a table. Runs that end with an answer have no curves, which is an error.
pub(super) fn columns(table: Table, panels: &[Panel]) -> Result<Vec<&'static str>> {
    let has_curves = |panel: &Panel| panel.finished.result.policies.iter().any(|one| one.curves().is_some());
    if table == Table::Curves && !panels.iter().any(has_curves) {
        bail!(
            "{}: its runs end with an answer, so there are no curves: give --table final or --table runs",
            panels[0].finished.dir.display()
        );
    }
    let are_named = panels.iter().any(|panel| panel.name.is_some());
    let names: &[&str] = if are_named { &["panel", "variant"] } else { &[] };
    let of_runs = columns_of_runs(panels.iter().map(|panel| &panel.finished.result));
    let (head, statistics): (&[&str], &[&str]) = match table {
        Table::Curves => (&SummaryRow::HEAD, &STATISTICS),
        Table::Final => (&["policy", "name", "t", "runs", "statistic"], &STATISTICS),
        Table::Paired => (&["a", "b", "t", "statistic"], &STATISTICS[..2]),
        Table::Runs => (&of_runs, &[]),
    };
    Ok([names, head, statistics].concat())
}

/// Gives every row of a table to `each`. `all_runs` are those of each panel, for the table of runs.
pub(super) fn write(table: Table, panels: &[Panel], all_runs: &[Runs], each: &mut Each<'_>) -> Result<()> {
    for (index, panel) in panels.iter().enumerate() {
        let [name, variant] = [&panel.name, &panel.variant].map(|text| text.as_deref());
        let [name, variant] = [name, variant].map(|text| text.map_or(Cell::Missing, Cell::Text));
        let names = [("panel", name), ("variant", variant)];
        let mut of_panel = |cells: &[(&'static str, Cell<'_>)]| each(&[&names, cells].concat());
        let result = &panel.finished.result;
        match table {
            Table::Curves => curves(result, &mut of_panel)?,
            Table::Final => final_values(result, &mut of_panel)?,
            Table::Paired => paired(result, &mut of_panel)?,
            Table::Runs => each_run(result, &all_runs[index], &mut of_panel)?,
        }
    }
    Ok(())
}

fn curves(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    for policy in &result.policies {
        let Some(curves) = policy.curves() else { continue };
        // One statistic after the other, as in `curves.csv`.
        for statistic in 0..policy.at_the_end().len() {
            for (index, &t) in curves.t.iter().enumerate() {
                let (name, summary) = curves.at(index)[statistic];
                each(&SummaryRow { policy: &policy.label, t, statistic: name, summary }.cells())?;
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
        for (name, summary) in policy.at_the_end() {
            let mut row = vec![
                ("policy", Cell::Text(&policy.label)),
                ("name", Cell::Text(&policy.policy)),
                ("t", rounds(result)),
                ("runs", Cell::Count(result.runs)),
                ("statistic", Cell::Text(name)),
            ];
            row.extend(statistics(&summary));
            each(&row)?;
        }
    }
    Ok(())
}

fn paired(result: &ResultFile, each: &mut Each<'_>) -> Result<()> {
    for pair in &result.paired {
        let mut row = |t: Cell<'_>, statistic: &str, mean: f64, se: f64| {
            let (a, b) = (("a", Cell::Text(&pair.a)), ("b", Cell::Text(&pair.b)));
            let statistics = [("mean", Cell::Number(mean)), ("se", Cell::Number(se))];
            each(&[&[a, b, ("t", t), ("statistic", Cell::Text(statistic))][..], &statistics].concat())
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
