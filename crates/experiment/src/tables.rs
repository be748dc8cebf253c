//! Tables for other programs: `curves.csv` and `runs.csv`.

use crate::Measured;
use crate::result::{Quantity, ResultFile};
use crate::run_error::RunError;
use crate::runs::Runs;
use crate::spreads::Spreads;
use sim::{Identification, Summary};
use std::io::Write;

/// `curves.csv`: one row for each policy, statistic and checkpoint.
///
/// # Errors
///
/// The runs cannot be read.
pub(crate) fn curves(measured: &Measured) -> Result<Vec<u8>, RunError> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["policy", "t", "statistic", "mean", "se", "min", "q10", "q90", "max"])?;
    if measured.runs.n_checkpoints().is_some() {
        write_curves(&mut table, &measured.result, &measured.spreads)?;
    } else {
        write_answers(&mut table, &measured.result, &measured.runs)?;
    }
    table.into_inner().map_err(|error| csv::Error::from(error.into_error()).into())
}

/// `runs.csv`: one row for each run, policy and checkpoint. If runs end with an answer, one row for each run and policy.
///
/// # Errors
///
/// The runs cannot be read, or the table cannot be written.
pub(crate) fn runs(measured: &Measured, writer: impl Write) -> Result<(), RunError> {
    let mut table = csv::Writer::from_writer(writer);
    if measured.runs.n_checkpoints().is_some() {
        write_runs(&mut table, &measured.result, &measured.runs)?;
    } else {
        write_answers_of_runs(&mut table, &measured.result, &measured.runs)?;
    }
    table.flush().map_err(|error| csv::Error::from(error).into())
}

type Table = csv::Writer<Vec<u8>>;

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

fn write_runs(table: &mut csv::Writer<impl Write>, result: &ResultFile, runs: &Runs) -> Result<(), RunError> {
    let recommends = (0..runs.n_policies()).any(|policy| runs.has_accuracy(policy));
    let mut heads = vec!["run", "instance", "policy", "t", "regret", "clicks"];
    heads.extend(recommends.then_some("accurate"));
    table.write_record(heads)?;
    for (run, instance) in runs.instances().iter().enumerate() {
        for (index, policy) in result.policies.iter().enumerate() {
            let curve = runs.curve(index, run)?;
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
fn write_answers(table: &mut Table, result: &ResultFile, runs: &Runs) -> Result<(), RunError> {
    let stops = result.max_steps.is_some();
    let last = result.max_steps.or(result.horizon).unwrap_or_default();
    for (index, policy) in result.policies.iter().enumerate() {
        let runs = runs.answers(index)?;
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
    table: &mut csv::Writer<impl Write>,
    result: &ResultFile,
    runs: &Runs,
) -> Result<(), RunError> {
    let stops = result.max_steps.is_some();
    let mut heads = vec!["run", "instance", "policy", "steps", "observations", "correct"];
    heads.extend(stops.then_some("stopped"));
    table.write_record(heads)?;
    let answers = (0..runs.n_policies()).map(|policy| runs.answers(policy)).collect::<Result<Vec<_>, _>>()?;
    for (run, instance) in runs.instances().iter().enumerate() {
        for (policy, answers) in result.policies.iter().zip(&answers) {
            let Identification { steps, observations, answered, correct } = answers[run];
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
