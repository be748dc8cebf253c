//! Tables for other programs: `curves.csv` and `runs.csv`.

use crate::Measurement;
use crate::draws::DrawsOfRuns;
use crate::journal::JournalError;
use crate::result::{Quantity, ResultFile};
use crate::run_error::RunError;
use crate::runs::Runs;
use crate::spreads::Spreads;
use sim::{Identification, Summary};
use std::io::Write;

/// A row of `curves.csv`: a statistic of a policy over its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow<'a> {
    /// The policy's label.
    pub policy: &'a str,
    /// The round; the last one that a run may have if runs end with an answer.
    pub t: u64,
    /// The quantity that it measures, such as `regret`.
    pub statistic: &'static str,
    /// Mean, standard error and quantiles over the runs.
    pub summary: Summary,
}

impl Measurement {
    /// The rows of `curves.csv`: one for each policy, statistic and checkpoint.
    ///
    /// # Errors
    ///
    /// The runs cannot be read.
    pub fn summaries(&self) -> Result<Vec<SummaryRow<'_>>, JournalError> {
        if self.runs.n_checkpoints().is_some() {
            Ok(of_curves(&self.result, &self.spreads))
        } else {
            of_answers(&self.result, &self.runs)
        }
    }
}

/// `curves.csv`.
///
/// # Errors
///
/// The runs cannot be read.
pub(crate) fn curves(measured: &Measurement) -> Result<Vec<u8>, RunError> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["policy", "t", "statistic", "mean", "se", "min", "q10", "q90", "max"])?;
    for SummaryRow { policy, t, statistic, summary } in measured.summaries()? {
        let Summary { mean, standard_error, min, q10, q90, max } = summary;
        let values = [mean, standard_error, min, q10, q90, max].map(number);
        let head = [policy.to_owned(), t.to_string(), statistic.to_owned()];
        table.write_record(head.iter().chain(&values))?;
    }
    table.into_inner().map_err(|error| csv::Error::from(error.into_error()).into())
}

/// `runs.csv`: a row for each run, policy and checkpoint; for each run and policy with answers.
///
/// # Errors
///
/// The runs cannot be read, or the table cannot be written.
pub(crate) fn runs(measured: &Measurement, writer: impl Write) -> Result<(), RunError> {
    let mut table = csv::Writer::from_writer(writer);
    if measured.runs.n_checkpoints().is_some() {
        write_runs(&mut table, &measured.result, &measured.runs)?;
    } else {
        write_answers_of_runs(&mut table, &measured.result, &measured.runs)?;
    }
    table.flush().map_err(|error| csv::Error::from(error).into())
}

/// Regret, clicks and, if policies recommend an item, accuracy of every policy.
fn of_curves<'a>(result: &'a ResultFile, spreads: &[Spreads]) -> Vec<SummaryRow<'a>> {
    let mut rows = Vec::new();
    for (policy, Spreads { regret, clicks, accuracy }) in result.policies.iter().zip(spreads) {
        let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
        let statistics =
            [("regret", Some(regret)), ("clicks", Some(clicks)), ("accuracy", accuracy.as_ref())];
        for (statistic, spread) in statistics {
            let Some(spread) = spread else { continue };
            for (index, &t) in checkpoints.iter().enumerate() {
                let summary = Summary {
                    mean: spread.mean[index],
                    standard_error: spread.se[index],
                    min: spread.min[index],
                    q10: spread.q10[index],
                    q90: spread.q90[index],
                    max: spread.max[index],
                };
                rows.push(SummaryRow { policy: &policy.label, t, statistic, summary });
            }
        }
    }
    rows
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
fn of_answers<'a>(result: &'a ResultFile, runs: &Runs) -> Result<Vec<SummaryRow<'a>>, JournalError> {
    let stops = result.max_steps.is_some();
    let draws = DrawsOfRuns::new(result, runs.instances());
    let t = result.max_steps.or(result.horizon).unwrap_or_default();
    let mut rows = Vec::new();
    for (index, policy) in result.policies.iter().enumerate() {
        let runs = runs.answers(index)?;
        let mut add = |statistic, value: fn(&Identification) -> f64| {
            let sample: Vec<f64> = runs.iter().map(value).collect();
            let summary = draws.summary(&sample);
            rows.extend(summary.map(|summary| SummaryRow { policy: &policy.label, t, statistic, summary }));
        };
        if stops {
            add("stopping_time", |run| Quantity::StoppingTime.of(run));
        }
        add("observations", |run| Quantity::Observations.of(run));
        add("correct", |run| f64::from(u8::from(run.correct)));
        if stops {
            add("stopped", |run| f64::from(u8::from(run.answered)));
        }
    }
    Ok(rows)
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

/// The shortest decimal that reads back as the same number; empty for an unknown standard error.
fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}
