//! What a paper claims, as a statistical test, and what a result says about it.
//!
//! A claim is one or several comparisons. It is **reproduced** if every comparison is significant in the direction that the
//! paper states, **contradicted** if any is significant in the other direction, and **undecided** otherwise: each of the two
//! wrongly with a probability of at most the claim's level (0.001 unless it says otherwise), however many comparisons there are
//! ([`Levels`]). The statistic of a comparison is a mean over the runs divided by its standard error, judged one-sided with
//! Student's t distribution; of too few runs it decides nothing. Two policies, or
//! two variants of an experiment, are compared on the difference run by run, since both met the same users.
//!
//! That two things are the same cannot be shown, only that they differ by less than a margin: then both one-sided tests
//! against the margin have to be significant (Schuirmann's two one-sided tests), and either can contradict.
//!
//! Where runs end with an answer (a stopping policy's, or one after a fixed number of rounds), the same comparisons are made of stopping
//! times, observations, or the shares of runs with a wrong answer or with none; a share alone is judged by exact binomial tests.
//!
//! Every claim carries the verdict known to be true and the evidence for it (a larger run with another seed). A check
//! fails when it finds the opposite; a check at full scale also fails when it finds nothing.

pub mod below_bound;
pub mod condorcet;
pub mod fit;
pub mod growth;
pub mod near_optimum;
pub mod not_testable;
pub mod order;
pub mod parallel;
pub mod printed;
pub mod ratio;
pub mod same_slope;
pub mod share;
pub mod table;
pub mod time_ratio;

mod evidence;
mod finding;
mod levels;
mod reading;
mod verdict;
mod within;

pub use evidence::Evidence;
pub use finding::{Comparison, Finding};
pub use levels::Levels;
pub use table::{Column, Row};
pub use verdict::{Agreement, Verdict};
pub use within::Limits;

pub(crate) use not_testable::Untested;
pub(crate) use reading::Reading;

use anyhow::{Context as _, Result};
use experiment::number;
use experiment::result::EndValue;
use experiment::toml_reader::{Error, Field, choice};
use sim::mean_and_error;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

use self::evidence::bound_at;
use self::finding::{finding, verdict_of};
use self::levels::{Sign, fewest_runs, freedom_of};

/// Every kind of test: a row each, in a file of its own.
pub static KINDS: [&Kind; 14] = [
    &order::KIND,
    &near_optimum::KIND,
    &below_bound::KIND,
    &parallel::KIND,
    &same_slope::KIND,
    &ratio::KIND,
    &printed::KIND,
    &growth::KIND,
    &fit::KIND,
    &share::KIND,
    &time_ratio::KIND,
    &condorcet::KIND,
    &table::KIND,
    &not_testable::KIND,
];

/// A kind of test.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name in files.
    pub name: &'static str,
    /// Its keys in files, in Markdown.
    pub keys: &'static str,
    /// What has to hold, in Markdown.
    pub holds: &'static str,
    /// How a test of the kind is read.
    read: fn(&Reading<'_, '_>) -> Result<Arc<dyn Test>, Error>,
}

impl Kind {
    /// The kind that a field names.
    pub(crate) fn named(field: &Field<'_>) -> Result<&'static Self, Error> {
        choice(field, &KINDS.map(|kind| (kind.name, kind)), "kind")
    }

    /// Reads a test of this kind; every other key of its table is refused.
    pub(crate) fn read(&self, reading: &Reading<'_, '_>) -> Result<Arc<dyn Test>, Error> {
        let test = (self.read)(reading)?;
        reading.table.finish()?;
        Ok(test)
    }
}

/// How a claim is judged: one kind of test, with its parameters.
pub trait Test: Any + fmt::Debug + Send + Sync {
    /// How many one-sided tests are made, any of which could contradict; 1 of an exact comparison, which has no level.
    fn tests(&self) -> usize;

    /// Whether means over runs are compared by their standard errors, which few runs do not tell.
    fn is_of_means(&self) -> bool {
        true
    }

    /// Whether it judges the rows of the paper's table.
    fn is_of_rows(&self) -> bool {
        false
    }

    /// What the runs say.
    ///
    /// # Errors
    ///
    /// What is judged lacks a policy or a checkpoint that the test speaks of.
    fn judge(&self, basis: &Basis<'_>) -> Result<Finding>;
}

/// A statement of a paper and how it is judged.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Short name, unique in its experiment.
    pub name: String,
    /// The panel whose result it speaks of; none for a claim about the instances themselves.
    pub panel: Option<String>,
    /// What the paper says, in our words.
    pub says: String,
    /// Where it says so.
    pub place: String,
    /// Probability with which, at most, it is found reproduced though it is not true, or contradicted though it is.
    pub level: f64,
    /// How it is judged.
    pub test: Arc<dyn Test>,
    /// What of the runs is judged, where a test compares values.
    pub value: EndValue,
    /// The verdict known to be true.
    pub known: Verdict,
    /// Why it is known.
    pub evidence: String,
    /// What else a reader should know.
    pub remark: Option<String>,
}

/// What a test is judged on.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Basis<'a> {
    /// What the panel of the claim measured; none for a claim about no panel.
    pub evidence: Option<&'a Evidence<'a>>,
    /// The rows of the paper's table.
    pub rows: &'a [Row],
    /// At which levels.
    pub levels: Levels,
}

impl<'a> Basis<'a> {
    /// What the panel measured.
    ///
    /// # Errors
    ///
    /// The claim is about no panel.
    pub fn evidence(&self) -> Result<&'a Evidence<'a>> {
        self.evidence.context("this kind of test needs the result of a panel")
    }
}

/// Judges a claim by what its panel measured and the rows of the paper's table.
///
/// # Errors
///
/// The result lacks a policy or a checkpoint that the test speaks of.
pub fn judge(claim: &Claim, evidence: Option<&Evidence<'_>>, rows: &[Row]) -> Result<Finding> {
    let basis = Basis { evidence, rows, levels: Levels::of(claim.level, claim.test.tests()) };
    let judged = claim.test.judge(&basis).map(|finding| match claim.value {
        EndValue::Regret | EndValue::Accuracy => finding,
        EndValue::Answer(_) => finding.of_whole_runs(),
    });
    judged
        .map(|finding| match evidence.filter(|_| claim.test.is_of_means()) {
            Some(evidence) => finding.of_enough_runs(evidence.fewest_runs(), fewest_runs(claim.level)),
            None => finding,
        })
        .with_context(|| format!("claim `{}` cannot be judged", claim.name))
}

#[cfg(test)]
mod tests;
