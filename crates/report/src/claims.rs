//! Claims of papers as statistical tests, and their verdicts: "How claims are judged" in
//! `xtask/experiments/README.md` describes them.
//!
//! Every claim has a known verdict and the evidence for it (a larger run with another seed). A
//! check fails if it finds the opposite. A check at full scale also fails if a claim with a known
//! verdict stays undecided.

pub mod condorcet;
pub mod fit;
pub mod growth;
pub mod not_testable;
pub mod order;
pub mod share;
pub mod table;
pub mod time_ratio;
pub mod within;
pub mod worst;

mod evidence;
mod finding;
mod levels;
mod limits;
mod power;
mod verdict;

pub use crate::reproduction::PrintedRow;
pub use evidence::Evidence;
pub use finding::{Comparison, Finding};
pub use levels::{LEVEL, Levels};
pub use limits::Limits;
pub use table::Column;
pub use verdict::{Agreement, Verdict};

pub(crate) use levels::{Family, fewest_runs, statistic};
pub(crate) use not_testable::MissingTest;
pub(crate) use power::{POWER, observations_needed};

use crate::reading::KindReader;
use experiment::JournalError;
use experiment::result::EndValue;
use sim::mean_and_error;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

use self::finding::{finding, verdict_of};

pub(crate) type Kind = crate::keys::Kind<dyn Test>;

/// Every kind of test: one row and one file for each.
pub(crate) static KINDS: [&Kind; 10] = [
    &order::KIND,
    &worst::KIND,
    &within::KIND,
    &growth::KIND,
    &fit::KIND,
    &share::KIND,
    &time_ratio::KIND,
    &condorcet::KIND,
    &table::KIND,
    &not_testable::KIND,
];

/// A test of a claim: one kind, with its parameters.
pub trait Test: Any + fmt::Debug + Send + Sync {
    /// The number of one-sided tests that could contradict the claim; 1 for an exact comparison.
    fn tests(&self) -> usize {
        1
    }

    /// The numbers that the test is made of.
    fn sample(&self) -> Sample {
        Sample::Means
    }

    /// Returns whether the test judges the rows of a printed table.
    fn is_of_rows(&self) -> bool {
        false
    }

    /// Judges the claim.
    ///
    /// # Errors
    ///
    /// The result lacks what the test needs, or its runs cannot be read.
    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError>;
}

/// Why a claim cannot be judged by these runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The result lacks a policy, a checkpoint or the like; in words.
    #[error("{0}")]
    Lacks(String),
    /// The runs cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The numbers that a test is made of. They decide how many observations it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Means and their standard errors.
    Means,
    /// Single runs, by tests that are exact for any number of them.
    Runs,
    /// Nothing that is random.
    Exact,
}

impl Sample {
    /// The observations, of one run or of several each, without which nothing is decided.
    fn fewest(self, level: f64, of_several: bool) -> u64 {
        match self {
            Self::Means => fewest_runs(level),
            Self::Runs if of_several => 2,
            Self::Runs | Self::Exact => 0,
        }
    }
}

/// A statement of a paper, and the test that judges it.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Short name, unique in its experiment.
    pub name: String,
    /// The name of the panel that it is about; `None` for a claim about the instances.
    pub panel: Option<String>,
    /// The statement of the paper, in our words.
    pub says: String,
    /// The place of the statement in the paper.
    pub place: String,
    /// The maximal probability of the verdict *reproduced* for a false claim, and of *contradicted*
    /// for a true one.
    pub level: f64,
    /// The test that judges it.
    pub test: Arc<dyn Test>,
    /// The value of the runs that is judged.
    pub value: EndValue,
    /// The known verdict.
    pub known: Verdict,
    /// The verdict known of the full run, where that of a quick check is another one.
    pub full: Option<Verdict>,
    /// The evidence for the known verdict.
    pub evidence: String,
    /// A remark for readers.
    pub remark: Option<String>,
}

impl Claim {
    /// The known verdict for readers, with that of the full run where it is another one.
    pub fn known_words(&self) -> String {
        let full = self.full.map_or_else(String::new, |full| format!(" (full run: {})", full.words()));
        format!("{}{full}", self.known.words())
    }
}

/// The inputs of a test.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Basis<'a> {
    /// The runs of the claim's panel; `None` for a claim about no panel.
    pub evidence: Option<&'a Evidence<'a>>,
    /// The rows of the printed table.
    pub rows: &'a [PrintedRow],
    /// The levels of its one-sided tests.
    pub levels: Levels,
}

impl<'a> Basis<'a> {
    /// The runs of the claim's panel.
    ///
    /// # Errors
    ///
    /// The claim is about no panel.
    pub fn evidence(&self) -> Result<&'a Evidence<'a>, JudgeError> {
        self.evidence.ok_or_else(|| JudgeError::Lacks("this kind of test needs the result of a panel".into()))
    }
}

/// Judges a claim by the runs of its panel and the rows of the printed table.
///
/// # Errors
///
/// The result lacks what the test needs, or its runs cannot be read.
pub fn judge(
    claim: &Claim,
    evidence: Option<&Evidence<'_>>,
    rows: &[PrintedRow],
) -> Result<Finding, JudgeError> {
    let levels = Levels::of(claim.level, claim.test.tests());
    let mut finding = claim.test.judge(&Basis { evidence, rows, levels })?;
    if matches!(claim.value, EndValue::Answer(_)) {
        finding = finding.of_whole_runs();
    }
    let Some(evidence) = evidence else { return Ok(finding) };
    let each = evidence.runs_per_observation();
    let needed = claim.test.sample().fewest(claim.level, each > 1).saturating_mul(each);
    Ok(finding.of_enough_runs(evidence.fewest_runs(), needed))
}

/// From how many runs on a check comes to the verdict of `finding` again with a probability of
/// 0.99, if effects and spread are as measured. `None` if the claim is undecided, or no run decides
/// it.
pub fn runs_needed(claim: &Claim, finding: &Finding, evidence: Option<&Evidence<'_>>) -> Option<u64> {
    let evidence = evidence.filter(|_| claim.test.sample() == Sample::Means)?;
    let levels = Levels::of(claim.level, claim.test.tests());
    let each = evidence.runs_per_observation();
    let needed = power::runs_needed(finding, claim.level, levels, evidence.fewest_runs() / each)?;
    Some(needed.saturating_mul(each))
}

#[cfg(test)]
mod tests;
