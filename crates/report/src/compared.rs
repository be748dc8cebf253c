//! Two results of one experiment, from two versions, machines or seeds: what differs beyond chance.
//!
//! The experiments must be the same but for their runs, policies and seed. With the same seed, run
//! number i of both meets the same users, so the journals are compared run by run. Otherwise, or if
//! a journal is missing, means are compared by Welch's t test.

use crate::claims::{Family, LEVEL, fewest_runs, statistic};
use experiment::manifest::Manifest;
use experiment::result::PolicyResult;
use experiment::{FinishedResult, JournalError, Quantity, ResultFile, Runs};
use itertools::Itertools as _;
use num_traits::ToPrimitive as _;
use serde::Serialize;
use serde_json::Value;
use sim::{Identification, Summary, mean_and_error};

/// Two results of one experiment, side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultComparison {
    /// The experiment's name.
    pub name: String,
    /// Seeds of the two results.
    pub seeds: [u64; 2],
    /// Runs of each policy in the two results.
    pub runs: [u64; 2],
    /// Whether `result.json` has the same bytes.
    pub same_bytes: bool,
    /// Runs that were compared one by one; absent if only means were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_by_run: Option<u64>,
    /// Why runs of the same seed were not compared one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run_by_run: Option<String>,
    /// Runs without which nothing counts as a difference.
    pub fewest_runs: u64,
    /// The level of all comparisons together.
    pub level: f64,
    /// The number of comparisons, for which p-values are corrected.
    pub comparisons: usize,
    /// A row for each quantity of each policy that both results have.
    pub rows: Vec<ComparedQuantity>,
    /// Labels of policies that only the first, or only the second result has.
    pub only: [Vec<String>; 2],
    /// Labels of policies that have other parameters in the second result.
    pub other_parameters: Vec<String>,
    /// Differences in how the results were made.
    pub origins: Vec<Origin>,
}

/// A quantity of a policy at the end of its runs, in both results.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct ComparedQuantity {
    /// Label of the policy.
    pub policy: String,
    /// The quantity, as in the column `statistic` of `curves.csv`.
    pub quantity: &'static str,
    /// Mean over the runs, in the two results.
    pub means: [f64; 2],
    /// Standard errors of the means; NaN, in JSON null, of a single observation.
    pub ses: [f64; 2],
    /// Second mean minus the first one; over the runs that were compared one by one, if any were.
    pub difference: f64,
    /// Its standard error; absent if a result has a single observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// Difference divided by standard error; absent without an error, and if it is infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// Two-sided p-value, corrected for the number of comparisons; absent without an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Whether it differs beyond chance.
    pub differs: bool,
    /// Runs with the same values at every checkpoint; absent if only means were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_runs: Option<u64>,
}

/// Something that differs in how two results were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Its name: `version`, `sources`, `commit`, `compiler`, `processor` or `system`.
    pub what: &'static str,
    /// Its values in the two results; `unknown` if missing in a manifest.
    pub values: [String; 2],
}

/// Why two results cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// They are of different experiments.
    #[error("the results are of different experiments: {}", .0.join("; "))]
    OtherExperiment(Vec<String>),
    /// The runs cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl ResultComparison {
    /// Compares two results.
    ///
    /// # Errors
    ///
    /// Results of different experiments; a journal that cannot be read.
    pub fn of(first: &FinishedResult, second: &FinishedResult) -> Result<Self, CompareError> {
        let faults = differences(&first.manifest.experiment, &second.manifest.experiment);
        if !faults.is_empty() {
            return Err(CompareError::OtherExperiment(faults));
        }
        let (a, b) = (&first.result, &second.result);
        let mut not_run_by_run = None;
        let runs = if a.seed == b.seed {
            match (first.runs(), second.runs()) {
                (Ok(a), Ok(b)) => Some([a, b]),
                (Err(error), _) | (_, Err(error)) => {
                    not_run_by_run = Some(error.to_string());
                    None
                }
            }
        } else {
            None
        };
        let mut untested = Vec::new();
        for (index, policy) in a.policies.iter().enumerate() {
            let Some(other) = b.policies.iter().position(|other| other.label == policy.label) else {
                continue;
            };
            let rows = rows_of([(policy, a), (&b.policies[other], b)]);
            match &runs {
                Some([of_a, of_b]) => untested.extend(run_by_run(rows, a, [(of_a, index), (of_b, other)])?),
                None => untested.extend(rows.into_iter().map(|row| by_means(row, [a, b]))),
            }
        }
        let family = Family { comparisons: untested.len() };
        let rows: Vec<ComparedQuantity> =
            untested.into_iter().map(|(row, freedom)| row.judged(family, freedom)).collect();
        let json = |finished: &FinishedResult| finished.result.to_json();
        Ok(Self {
            name: a.name.clone(),
            seeds: [a.seed, b.seed],
            runs: [a.runs, b.runs],
            same_bytes: json(first) == json(second),
            run_by_run: runs.map(|_| a.runs.min(b.runs)),
            not_run_by_run,
            fewest_runs: fewest_runs(LEVEL).saturating_mul(a.runs_per_observation()),
            level: LEVEL,
            comparisons: rows.len(),
            rows,
            only: [only_in(a, b), only_in(b, a)],
            other_parameters: other_parameters(&first.manifest, &second.manifest),
            origins: origins(&first.manifest, &second.manifest),
        })
    }

    /// The quantities that differ beyond chance.
    pub fn differing(&self) -> impl Iterator<Item = &ComparedQuantity> {
        self.rows.iter().filter(|row| row.differs)
    }

    /// Returns whether all runs of all policies that both results have are the same.
    pub fn is_identical(&self) -> bool {
        self.run_by_run.is_some() && self.rows.iter().all(|row| row.equal_runs == self.run_by_run)
    }
}

impl ComparedQuantity {
    /// The row after its test, with this many degrees of freedom.
    fn judged(mut self, family: Family, freedom: u64) -> Self {
        if let Some(se) = self.se {
            let z = statistic(self.difference, se);
            self.z = Some(z).filter(|z| z.is_finite());
            self.p = Some(family.p(z, freedom));
            self.differs = family.is_significant(z, freedom);
        }
        self
    }
}

/// The quantities of a policy that both results have, before they are tested.
fn rows_of(
    [(policy, result), (other, other_result)]: [(&PolicyResult, &ResultFile); 2],
) -> Vec<ComparedQuantity> {
    let others = final_values(other, other_result);
    let row = |(quantity, mean, se)| {
        let &(_, other, other_se) = others.iter().find(|(name, ..)| *name == quantity)?;
        Some(ComparedQuantity {
            policy: policy.label.clone(),
            quantity,
            means: [mean, other],
            ses: [se, other_se],
            difference: other - mean,
            ..ComparedQuantity::default()
        })
    };
    final_values(policy, result).into_iter().filter_map(row).collect()
}

/// A row with the standard error and the degrees of freedom of Welch's test of the means.
fn by_means(row: ComparedQuantity, results: [&ResultFile; 2]) -> (ComparedQuantity, u64) {
    let squares = row.ses.map(|se| se * se);
    let se = Some((squares[0] + squares[1]).sqrt()).filter(|se| !se.is_nan());
    (ComparedQuantity { se, ..row }, welch(squares, results.map(ResultFile::observations)))
}

/// Rows with the differences in the runs that both results have, and the degrees of freedom. A side
/// is given by its runs and the index of the policy in them.
fn run_by_run(
    rows: Vec<ComparedQuantity>,
    result: &ResultFile,
    sides: [(&Runs, usize); 2],
) -> Result<Vec<(ComparedQuantity, u64)>, JournalError> {
    let [(first, one), (second, other)] = sides;
    let n_runs = first.n_runs().min(second.n_runs());
    let answers = [first.answers(one)?, second.answers(other)?];
    let mut equal = 0;
    for run in 0..n_runs {
        let same_answers = answers[0].get(run) == answers[1].get(run);
        equal += u64::from(first.curve(one, run)? == second.curve(other, run)? && same_answers);
    }
    let test = |row: ComparedQuantity| {
        let before = values(row.quantity, first, one, &answers[0])?;
        let after = values(row.quantity, second, other, &answers[1])?;
        let sample = after.iter().zip(&before).take(n_runs).map(|(after, before)| after - before);
        let sample: Vec<f64> = sample.collect();
        let observed = result.observed(&sample);
        let (difference, se) = mean_and_error(&observed);
        let se = Some(se).filter(|se| !se.is_nan());
        let freedom = (observed.len() as u64).saturating_sub(1);
        Ok((ComparedQuantity { difference, se, equal_runs: Some(equal), ..row }, freedom))
    };
    rows.into_iter().map(test).collect()
}

/// The degrees of freedom of Welch's test, from the squared standard errors; rounded down.
fn welch(squares: [f64; 2], observations: [u64; 2]) -> u64 {
    let least = observations[0].min(observations[1]).saturating_sub(1);
    let total = squares[0] + squares[1];
    let parts = squares
        .iter()
        .zip(observations)
        .map(|(square, n)| square * square / n.saturating_sub(1).max(1) as f64);
    (total * total / parts.sum::<f64>()).to_u64().unwrap_or(least).max(least)
}

/// The final values of a policy: quantity, mean and standard error.
fn final_values(policy: &PolicyResult, result: &ResultFile) -> Vec<(&'static str, f64, f64)> {
    let value = |(name, Summary { mean, standard_error, .. })| match name {
        "accuracy" | "correct" | "stopped" => (name, mean, result.error_of_share(mean)),
        _ => (name, mean, standard_error),
    };
    policy.at_the_end().into_iter().map(value).collect()
}

/// A quantity of a policy at the end of every run.
fn values(
    quantity: &str,
    runs: &Runs,
    policy: usize,
    answers: &[Identification],
) -> Result<Vec<f64>, JournalError> {
    let of_answers = |value: fn(&Identification) -> f64| -> Result<Vec<f64>, JournalError> {
        Ok(answers.iter().map(value).collect())
    };
    let last = runs.n_checkpoints().and_then(|n| n.checked_sub(1)).unwrap_or(0);
    match quantity {
        "regret" => runs.column(policy, Quantity::Regret, last),
        "clicks" => runs.column(policy, Quantity::Clicks, last),
        "accuracy" => runs.column(policy, Quantity::Accuracy, last),
        "stopping_time" => of_answers(|run| run.steps as f64),
        "observations" => of_answers(|run| run.observations as f64),
        "correct" => of_answers(|run| f64::from(u8::from(run.correct))),
        _ => of_answers(|run| f64::from(u8::from(run.answered))),
    }
}

/// Differences between two canonical forms, other than runs, policies and seed.
fn differences(a: &Value, b: &Value) -> Vec<String> {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else {
        return vec!["a manifest names no experiment".to_owned()];
    };
    let keys = a.keys().chain(b.keys()).sorted().dedup();
    let mut faults = Vec::new();
    for key in keys.filter(|key| !["runs", "policies", "seed"].contains(&key.as_str())) {
        let (a, b) = (a.get(key), b.get(key));
        // For runs of each instance, it only matters whether there are any.
        if a == b || (key == "runs_per_instance" && a.is_some() == b.is_some()) {
            continue;
        }
        let short = |value: Option<&Value>| match value {
            None => Some("absent".to_owned()),
            Some(value) if value.is_array() || value.is_object() => None,
            Some(value) => Some(value.to_string()),
        };
        faults.push(match (short(a), short(b)) {
            (Some(a), Some(b)) => format!("{key} is {a} in the first and {b} in the second"),
            _ => format!("{key} differ"),
        });
    }
    faults
}

fn only_in(a: &ResultFile, b: &ResultFile) -> Vec<String> {
    let missing = a.policies.iter().filter(|policy| b.policy(&policy.label).is_none());
    missing.map(|policy| policy.label.clone()).collect()
}

/// The labels of policies that both have, with other parameters.
fn other_parameters(a: &Manifest, b: &Manifest) -> Vec<String> {
    let policies =
        |manifest: &Manifest| manifest.experiment["policies"].as_array().cloned().unwrap_or_default();
    let others = policies(b);
    let differs =
        |policy: &Value| others.iter().any(|other| other["label"] == policy["label"] && other != policy);
    let labels = policies(a).into_iter().filter(differs);
    labels.filter_map(|policy| policy["label"].as_str().map(str::to_owned)).collect()
}

/// Differences in how results were made.
fn origins(a: &Manifest, b: &Manifest) -> Vec<Origin> {
    let unknown = || "unknown".to_owned();
    let facts = |manifest: &Manifest| {
        let (program, host) = (&manifest.program, &manifest.host);
        let commit = program.git.as_ref().map(|git| {
            let changed = if git.dirty { " with changes" } else { "" };
            format!("{}{changed}", git.commit.get(..12).unwrap_or(&git.commit))
        });
        [
            ("version", format!("{} {}", program.name, program.version)),
            ("sources", program.sources.clone().unwrap_or_else(unknown)),
            ("commit", commit.unwrap_or_else(unknown)),
            ("compiler", program.rustc.clone().unwrap_or_else(unknown)),
            ("processor", host.cpu.clone().unwrap_or_else(unknown)),
            ("system", format!("{}, {}", host.os, host.arch)),
        ]
    };
    let pairs = facts(a).into_iter().zip(facts(b)).filter(|((_, a), (_, b))| a != b);
    pairs.map(|((what, a), (_, b))| Origin { what, values: [a, b] }).collect()
}

#[cfg(test)]
mod tests;
