//! Tables for other programs: `curves.csv` and `runs.csv`.

use crate::result::{Quantity, ResultFile};
use crate::spreads::Spreads;
use crate::{Measured, Runs};
use sim::{Curve, Identification, Outcome, Summary};

/// `curves.csv`: one row for each policy, statistic and checkpoint.
///
/// # Errors
///
/// Never, since the table is written to memory; the type is the writer's.
pub(crate) fn curves(measured: &Measured) -> Result<Vec<u8>, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["policy", "t", "statistic", "mean", "se", "min", "q10", "q90", "max"])?;
    match &measured.runs {
        Runs::Curves { spreads, .. } => write_curves(&mut table, &measured.result, spreads)?,
        Runs::Answers(outcome) => write_answers(&mut table, &measured.result, &outcome.records)?,
    }
    bytes(table)
}

/// `runs.csv`: one row for each run, policy and checkpoint. If runs end with an answer, one row for each run and policy.
///
/// # Errors
///
/// Never, since the table is written to memory; the type is the writer's.
pub(crate) fn runs(measured: &Measured) -> Result<Vec<u8>, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    match &measured.runs {
        Runs::Curves { outcome, .. } => write_runs(&mut table, &measured.result, outcome)?,
        Runs::Answers(outcome) => write_answers_of_runs(&mut table, &measured.result, outcome)?,
    }
    bytes(table)
}

type Table = csv::Writer<Vec<u8>>;

fn bytes(table: Table) -> Result<Vec<u8>, csv::Error> {
    table.into_inner().map_err(|error| error.into_error().into())
}

/// Regret, clicks and, if policies recommend an item, accuracy of every policy.
fn write_curves(table: &mut Table, result: &ResultFile, spreads: &[Spreads]) -> Result<(), csv::Error> {
    for (policy, Spreads { regret, clicks, accuracy }) in result.policies.iter().zip(spreads) {
        let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
        let statistics =
            [("regret", Some(regret)), ("clicks", Some(clicks)), ("accuracy", accuracy.as_ref())];
        for (statistic, spread) in statistics {
            let Some(spread) = spread else { continue };
            for (index, t) in checkpoints.iter().enumerate() {
                let columns = [&spread.mean, &spread.se, &spread.min, &spread.q10, &spread.q90, &spread.max];
                let values = columns.map(|column| number(column[index]));
                let head = [policy.label.clone(), t.to_string(), statistic.to_owned()];
                table.write_record(head.iter().chain(&values))?;
            }
        }
    }
    Ok(())
}

fn write_runs(table: &mut Table, result: &ResultFile, outcome: &Outcome<Curve>) -> Result<(), csv::Error> {
    let recommends = outcome.records.iter().flatten().any(|curve| !curve.accurate.is_empty());
    let mut heads = vec!["run", "instance", "policy", "t", "regret", "clicks"];
    heads.extend(recommends.then_some("accurate"));
    table.write_record(heads)?;
    for (run, instance) in outcome.drawn.iter().enumerate() {
        for (policy, curves) in result.policies.iter().zip(&outcome.records) {
            let curve = &curves[run];
            let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
            for (index, t) in checkpoints.iter().enumerate() {
                let mut row =
                    vec![run.to_string(), instance.to_string(), policy.label.clone(), t.to_string()];
                row.extend([number(curve.regret[index]), number(curve.clicks[index])]);
                row.extend(curve.accurate.get(index).map(bool::to_string));
                table.write_record(row)?;
            }
        }
    }
    Ok(())
}

/// One row for each policy and statistic, at the last round that a run may have.
fn write_answers(
    table: &mut Table,
    result: &ResultFile,
    records: &[Vec<Identification>],
) -> Result<(), csv::Error> {
    let stops = result.max_steps.is_some();
    let last = result.max_steps.or(result.horizon).unwrap_or_default();
    for (policy, runs) in result.policies.iter().zip(records) {
        let mut statistics: Vec<(&str, Vec<f64>)> = Vec::new();
        let mut add = |name, value: fn(&Identification) -> f64| {
            statistics.push((name, runs.iter().map(value).collect()));
        };
        if stops {
            add("stopping_time", |run| Quantity::StoppingTime.of(run));
        }
        add("observations", |run| Quantity::Observations.of(run));
        add("correct", |run| f64::from(u8::from(run.correct)));
        if stops {
            add("stopped", |run| f64::from(u8::from(run.answered)));
        }
        for (name, sample) in statistics {
            let Some(summary) = Summary::of(&sample) else { continue };
            let Summary { mean, standard_error, min, q10, q90, max } = summary;
            let values = [mean, standard_error, min, q10, q90, max].map(number);
            let head = [policy.label.clone(), last.to_string(), name.to_owned()];
            table.write_record(head.iter().chain(&values))?;
        }
    }
    Ok(())
}

fn write_answers_of_runs(
    table: &mut Table,
    result: &ResultFile,
    outcome: &Outcome<Identification>,
) -> Result<(), csv::Error> {
    let stops = result.max_steps.is_some();
    let mut heads = vec!["run", "instance", "policy", "steps", "observations", "correct"];
    heads.extend(stops.then_some("stopped"));
    table.write_record(heads)?;
    for (run, instance) in outcome.drawn.iter().enumerate() {
        for (policy, runs) in result.policies.iter().zip(&outcome.records) {
            let Identification { steps, observations, answered, correct } = runs[run];
            let mut row = vec![run.to_string(), instance.to_string(), policy.label.clone()];
            row.extend([steps.to_string(), observations.to_string(), correct.to_string()]);
            row.extend(stops.then(|| answered.to_string()));
            table.write_record(row)?;
        }
    }
    Ok(())
}

/// The shortest decimal that reads back as the same number.
fn number(value: f64) -> String {
    value.to_string()
}
