//! Tables for other programs: `curves.csv` and `runs.csv`, and rows of results.

use crate::Measurement;
use crate::draws::DrawsOfRuns;
use crate::journal::JournalError;
use crate::result::{PolicySummary, Quantity, ResultFile, Spreads};
use crate::run_error::RunError;
use crate::runs::Runs;
use serde::Serialize;
use sim::{Identification, Summary};
use std::fmt;
use std::io::Write;

/// The value of a row in a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell<'a> {
    /// A text.
    Text(&'a str),
    /// A count.
    Count(u64),
    /// A number; NaN if it is unknown.
    Number(f64),
    /// Whether something holds.
    Flag(bool),
    /// Nothing.
    Missing,
}

/// As in CSV: numbers are the shortest decimals that read back as the same number.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Count(count) => count.fmt(formatter),
            Self::Number(number) if number.is_nan() => Ok(()),
            Self::Number(number) => number.fmt(formatter),
            Self::Flag(flag) => flag.fmt(formatter),
            Self::Missing => Ok(()),
        }
    }
}

/// Takes a row: cells with their columns, in any order. Other columns are empty.
pub type EachRow<'a, E> = dyn FnMut(&[(&'static str, Cell<'_>)]) -> Result<(), E> + 'a;

/// Gives every row of a table.
pub type Rows<'a, E> = dyn Fn(&mut EachRow<'_, E>) -> Result<(), E> + 'a;

/// The cell of a row in a column.
pub fn cell<'a>(column: &str, row: &[(&'static str, Cell<'a>)]) -> Cell<'a> {
    row.iter().find(|(name, _)| *name == column).map_or(Cell::Missing, |(_, cell)| *cell)
}

/// Writes a table as CSV.
///
/// # Errors
///
/// The errors of `rows`; the table cannot be written.
pub fn write_csv<E: From<csv::Error>>(
    columns: &[&'static str],
    rows: &Rows<'_, E>,
    writer: impl Write,
) -> Result<(), E> {
    let mut table = csv::Writer::from_writer(writer);
    table.write_record(columns)?;
    rows(&mut |row| Ok(table.write_record(columns.iter().map(|column| cell(column, row).to_string()))?))?;
    table.flush().map_err(|error| csv::Error::from(error).into())
}

/// The columns of statistics over runs.
pub const STATISTICS: [&str; 6] = ["mean", "se", "min", "q10", "q90", "max"];

/// The cells of statistics; those that are unknown are NaN.
pub fn statistics(summary: &Summary) -> [(&'static str, Cell<'static>); 6] {
    let &Summary { mean, standard_error, min, q10, q90, max } = summary;
    let mut values = [mean, standard_error, min, q10, q90, max].into_iter();
    STATISTICS.map(|name| (name, Cell::Number(values.next().unwrap_or(f64::NAN))))
}

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

impl SummaryRow<'_> {
    /// The first columns; those of [`STATISTICS`] follow.
    pub const HEAD: [&'static str; 3] = ["policy", "t", "statistic"];

    /// The cells of the row.
    pub fn cells(&self) -> Vec<(&'static str, Cell<'_>)> {
        let head = [Cell::Text(self.policy), Cell::Count(self.t), Cell::Text(self.statistic)];
        Self::HEAD.into_iter().zip(head).chain(statistics(&self.summary)).collect()
    }
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
pub(crate) fn curves(measured: &Measurement) -> Result<Vec<u8>, RunError> {
    let (summaries, mut table) = (measured.summaries()?, Vec::new());
    let columns: Vec<&str> = SummaryRow::HEAD.into_iter().chain(STATISTICS).collect();
    let rows = |each: &mut EachRow<'_, RunError>| summaries.iter().try_for_each(|row| each(&row.cells()));
    write_csv(&columns, &rows, &mut table)?;
    Ok(table)
}

/// Writes `runs.csv`: a row for each run, policy and checkpoint; for each run and policy with
/// answers. The policies are also those of the caller, whose runs are in no journal.
///
/// # Errors
///
/// The runs cannot be read; the table cannot be written.
pub fn runs(measured: &Measurement, writer: impl Write) -> Result<(), RunError> {
    let (result, runs) = (&measured.result, &measured.runs);
    write_csv(&columns_of_runs([result]), &|each| each_run(result, runs, each), writer)
}

/// The columns of a row for each run, of results that may differ in them.
pub fn columns_of_runs<'a>(results: impl IntoIterator<Item = &'a ResultFile>) -> Vec<&'static str> {
    let mut columns = vec!["run", "instance", "policy"];
    for policy in results.into_iter().flat_map(|result| &result.policies) {
        // The last column only if policies recommend an item, or stop by themselves.
        let (of_policy, has_last) = match &policy.summary {
            PolicySummary::Curves(curves) => {
                (["t", "regret", "clicks", "accurate"], !curves.accuracy.is_empty())
            }
            PolicySummary::Answers(answers) => {
                (["steps", "observations", "correct", "stopped"], answers.stopped.is_some())
            }
        };
        let of_policy = of_policy.into_iter().take(3 + usize::from(has_last));
        let new: Vec<&str> = of_policy.filter(|column| !columns.contains(column)).collect();
        columns.extend(new);
    }
    columns
}

/// Gives a row for each run, policy and checkpoint to `each`; for each run and policy with answers.
///
/// # Errors
///
/// The runs cannot be read; the errors of `each`.
pub fn each_run<E: From<JournalError>>(
    result: &ResultFile,
    runs: &Runs,
    each: &mut EachRow<'_, E>,
) -> Result<(), E> {
    let answers = (0..runs.n_policies()).map(|policy| runs.answers(policy)).collect::<Result<Vec<_>, _>>()?;
    for (run, &instance) in runs.instances().iter().enumerate() {
        for (index, policy) in result.policies.iter().enumerate() {
            let head = [
                ("run", Cell::Count(run as u64)),
                ("instance", Cell::Count(instance as u64)),
                ("policy", Cell::Text(&policy.label)),
            ];
            let mut row = |cells: [(&'static str, Cell<'_>); 4]| each(&[&head[..], &cells].concat());
            let curve = runs.curve(index, run)?;
            let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
            for (checkpoint, &t) in checkpoints.iter().enumerate() {
                let accurate = curve.accurate.get(checkpoint);
                row([
                    ("t", Cell::Count(t)),
                    ("regret", Cell::Number(curve.regret[checkpoint])),
                    ("clicks", Cell::Number(curve.clicks[checkpoint])),
                    ("accurate", accurate.map_or(Cell::Missing, |accurate| Cell::Flag(*accurate))),
                ])?;
            }
            if let Some(answer) = answers[index].get(run) {
                let stops = result.max_steps.is_some();
                row([
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

/// Regret, clicks and, if policies recommend an item, accuracy of every policy.
fn of_curves<'a>(result: &'a ResultFile, spreads: &[Spreads]) -> Vec<SummaryRow<'a>> {
    let mut rows = Vec::new();
    for (policy, Spreads { regret, clicks, accuracy }) in result.policies.iter().zip(spreads) {
        let checkpoints = policy.curves().map_or(&[][..], |curves| &curves.t);
        let statistics =
            [("regret", Some(regret)), ("clicks", Some(clicks)), ("accuracy", accuracy.as_ref())];
        for (statistic, spread) in statistics {
            let Some(spread) = spread else { continue };
            rows.extend(checkpoints.iter().enumerate().map(|(index, &t)| {
                let summary = spread.at(index);
                SummaryRow { policy: &policy.label, t, statistic, summary }
            }));
        }
    }
    rows
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
