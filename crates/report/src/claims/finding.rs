//! The finding of a test: its comparisons, and a summary in one sentence.

use super::levels::Sign;
use super::{Levels, Verdict};
use crate::student;
use documents::number;
use serde::Serialize;

/// The finding of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// A summary in one sentence.
    pub summary: String,
    /// The quantity that the comparisons measure, with its unit.
    pub quantity: &'static str,
    /// The comparisons that the verdict rests on.
    pub comparisons: Vec<Comparison>,
}

impl Finding {
    pub(crate) fn without_a_test(verdict: Verdict, reason: &str) -> Self {
        Self { verdict, summary: reason.to_owned(), quantity: "", comparisons: Vec::new() }
    }

    /// Removes the rounds from a finding about whole runs.
    pub(super) fn of_whole_runs(mut self) -> Self {
        for comparison in &mut self.comparisons {
            (comparison.t, comparison.leads_from) = (None, None);
        }
        self
    }

    /// Makes a finding undecided if there are fewer runs than needed.
    pub(super) fn of_enough_runs(mut self, runs: u64, needed: u64) -> Self {
        if runs >= needed {
            return self;
        }
        for comparison in &mut self.comparisons {
            (comparison.says, comparison.leads_from) = (Verdict::Undecided, None);
        }
        self.verdict = Verdict::Undecided;
        let decide = if runs == 1 { "decides" } else { "decide" };
        self.summary =
            format!("{} {decide} nothing: at least {needed} are needed.", number::counted(runs, "run"));
        self
    }
}

/// One comparison of a test.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The two sides of the comparison, by their names in files.
    pub what: String,
    /// The two sides of the comparison, by their names for readers.
    #[serde(skip)]
    pub readers: String,
    /// The round of the comparison, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<u64>,
    /// The compared quantity: negative if the paper is right.
    pub difference: f64,
    /// Its standard error; absent for an exact comparison and for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// Difference divided by standard error; absent for an exact comparison, and if it is infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistic: Option<f64>,
    /// The verdict of this comparison.
    pub says: Verdict,
    /// The first checkpoint from which on the difference is significant at every checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_from: Option<u64>,
    /// The measured quantity in words.
    pub measured: String,
}

impl Comparison {
    /// The test of a mean, given with its standard error, for being negative.
    pub(super) fn of((mean, se): (f64, f64), freedom: u64, levels: Levels) -> Self {
        let Sign { statistic, says } = Sign::of(mean, se, freedom, levels);
        Self {
            difference: mean,
            se: (freedom > 0).then_some(se),
            statistic: Some(statistic).filter(|statistic| statistic.is_finite()),
            says,
            measured: number::with_error(mean, se),
            ..Self::default()
        }
    }
}

pub(super) fn verdict_of(comparisons: &[Comparison]) -> Verdict {
    Verdict::of_all(comparisons.iter().map(|comparison| comparison.says))
}

/// The finding of comparisons at these levels with this number of degrees of freedom.
pub(super) fn finding(
    quantity: &'static str,
    comparisons: Vec<Comparison>,
    levels: Levels,
    freedom: u64,
) -> Finding {
    let verdict = verdict_of(&comparisons);
    let [stated, opposite] =
        [levels.stated, levels.opposite].map(|level| number::fixed(student::critical(level, freedom), 2));
    let summary = summary(verdict, &comparisons, &stated, &opposite);
    Finding { verdict, summary, quantity, comparisons }
}

/// Sums up comparisons in one sentence, with the values of |z| that are needed.
fn summary(verdict: Verdict, comparisons: &[Comparison], stated: &str, opposite: &str) -> String {
    let count = comparisons.len();
    let n_with = |wanted: Verdict| comparisons.iter().filter(|comparison| comparison.says == wanted).count();
    let sizes = comparisons.iter().map(|comparison| comparison.statistic.map_or(f64::INFINITY, f64::abs));
    let smallest = number::fixed(sizes.fold(f64::INFINITY, f64::min), 1);
    match verdict {
        Verdict::Reproduced if count == 1 => format!("Holds: |z| = {smallest}, needed {stated}."),
        Verdict::Reproduced => {
            let all = if count == 2 { "Both".to_owned() } else { format!("All {count}") };
            format!("{all} comparisons hold: |z| at least {smallest}, needed {stated}.")
        }
        Verdict::Contradicted if count == 1 => {
            format!("Significantly the other way round: |z| = {smallest}, needed {opposite}.")
        }
        Verdict::Contradicted => format!(
            "{} of {count} comparisons significantly the other way round (|z| needed: {opposite}), {} as stated \
             (needed: {stated}).",
            n_with(Verdict::Contradicted),
            n_with(Verdict::Reproduced)
        ),
        _ if count == 1 => format!("Not significant: |z| = {smallest}, needed {stated}."),
        _ => format!(
            "{} of {count} comparisons hold, the others are not significant (|z| needed: {stated}).",
            n_with(Verdict::Reproduced)
        ),
    }
}
