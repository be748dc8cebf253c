//! Results as tables for other programs: `curves.csv` and `runs.csv`.

use crate::result::Spread;
use anyhow::Result;
use sim::Outcome;

/// `curves.csv`: a row a policy, statistic and checkpoint; regret and clicks of every policy in turn.
///
/// # Errors
///
/// Never in memory, but the writer could.
pub(crate) fn curves(labels: &[String], checkpoints: &[u64], spreads: &[[Spread; 2]]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["policy", "t", "statistic", "mean", "se", "min", "q10", "q90", "max"])?;
    for (label, quantities) in labels.iter().zip(spreads) {
        for (statistic, spread) in ["regret", "clicks"].into_iter().zip(quantities) {
            for (index, t) in checkpoints.iter().enumerate() {
                let columns = [&spread.mean, &spread.se, &spread.min, &spread.q10, &spread.q90, &spread.max];
                let values = columns.map(|column| number(column[index]));
                let head = [label.clone(), t.to_string(), statistic.to_owned()];
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
pub(crate) fn runs(labels: &[String], checkpoints: &[u64], outcome: &Outcome) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["run", "instance", "policy", "t", "regret", "clicks"])?;
    for (run, instance) in outcome.drawn.iter().enumerate() {
        for (label, curves) in labels.iter().zip(&outcome.curves) {
            let curve = &curves[run];
            for ((t, &regret), &clicks) in checkpoints.iter().zip(&curve.regret).zip(&curve.clicks) {
                let row = [run.to_string(), instance.to_string(), label.clone(), t.to_string()];
                table.write_record(row.iter().chain(&[number(regret), number(clicks)]))?;
            }
        }
    }
    Ok(table.into_inner()?)
}

/// The shortest decimal that reads back as the same number.
fn number(value: f64) -> String {
    value.to_string()
}
