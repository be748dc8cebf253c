//! Results as tables for other programs: `curves.csv` and `runs.csv`.

use crate::result::Quantity;
use crate::spreads::Spreads;
use anyhow::Result;
use sim::{Curve, Identification, Outcome, Summary};

/// `curves.csv`: a row a policy, statistic and checkpoint; regret, clicks and, where something is recommended, accuracy of every policy in
/// turn.
///
/// # Errors
///
/// Never in memory, but the writer could.
pub(crate) fn curves(labels: &[&str], checkpoints: &[u64], spreads: &[Spreads]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["policy", "t", "statistic", "mean", "se", "min", "q10", "q90", "max"])?;
    for (label, Spreads { regret, clicks, accuracy }) in labels.iter().zip(spreads) {
        let statistics =
            [("regret", Some(regret)), ("clicks", Some(clicks)), ("accuracy", accuracy.as_ref())];
        for (statistic, spread) in statistics {
            let Some(spread) = spread else { continue };
            for (index, t) in checkpoints.iter().enumerate() {
                let columns = [&spread.mean, &spread.se, &spread.min, &spread.q10, &spread.q90, &spread.max];
                let values = columns.map(|column| number(column[index]));
                let head = [(*label).to_owned(), t.to_string(), statistic.to_owned()];
                table.write_record(head.iter().chain(&values))?;
            }
        }
    }
    Ok(table.into_inner()?)
}

/// `runs.csv`: a row a run, policy and checkpoint.
///
/// # Errors
///
/// Never in memory, but the writer could.
pub(crate) fn runs(labels: &[&str], checkpoints: &[u64], outcome: &Outcome<Curve>) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let recommends = outcome.records.iter().flatten().any(|curve| !curve.accurate.is_empty());
    let mut heads = vec!["run", "instance", "policy", "t", "regret", "clicks"];
    heads.extend(recommends.then_some("accurate"));
    table.write_record(heads)?;
    for (run, instance) in outcome.drawn.iter().enumerate() {
        for (label, curves) in labels.iter().zip(&outcome.records) {
            let curve = &curves[run];
            for (index, t) in checkpoints.iter().enumerate() {
                let mut row = vec![run.to_string(), instance.to_string(), (*label).to_owned(), t.to_string()];
                row.extend([number(curve.regret[index]), number(curve.clicks[index])]);
                row.extend(curve.accurate.get(index).map(bool::to_string));
                table.write_record(row)?;
            }
        }
    }
    Ok(table.into_inner()?)
}

/// `curves.csv` where runs end with an answer: a row a policy and statistic, at the last round that a run may have.
///
/// # Errors
///
/// Never in memory, but the writer could.
pub(crate) fn answers(
    labels: &[&str],
    last: u64,
    stops: bool,
    records: &[Vec<Identification>],
) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["policy", "t", "statistic", "mean", "se", "min", "q10", "q90", "max"])?;
    for (label, runs) in labels.iter().zip(records) {
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
            let head = [(*label).to_owned(), last.to_string(), name.to_owned()];
            table.write_record(head.iter().chain(&values))?;
        }
    }
    Ok(table.into_inner()?)
}

/// `runs.csv` where runs end with an answer: a row a run and policy.
///
/// # Errors
///
/// Never in memory, but the writer could.
pub(crate) fn answers_of_runs(
    labels: &[&str],
    stops: bool,
    outcome: &Outcome<Identification>,
) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut heads = vec!["run", "instance", "policy", "steps", "observations", "correct"];
    heads.extend(stops.then_some("stopped"));
    table.write_record(heads)?;
    for (run, instance) in outcome.drawn.iter().enumerate() {
        for (label, runs) in labels.iter().zip(&outcome.records) {
            let Identification { steps, observations, answered, correct } = runs[run];
            let mut row = vec![run.to_string(), instance.to_string(), (*label).to_owned()];
            row.extend([steps.to_string(), observations.to_string(), correct.to_string()]);
            row.extend(stops.then(|| answered.to_string()));
            table.write_record(row)?;
        }
    }
    Ok(table.into_inner()?)
}

/// The shortest decimal that reads back as the same number.
fn number(value: f64) -> String {
    value.to_string()
}
