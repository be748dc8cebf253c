//! What a paper claims, as a statistical test, and what a result says about it.
//!
//! A claim is one or several comparisons. It is **reproduced** if every comparison is significant in the direction that the
//! paper states, **contradicted** if any is significant in the other direction, and **undecided** otherwise: each of the two
//! wrongly with a probability of at most the claim's level (0.001 unless it says otherwise), however many comparisons there are
//! ([`Levels`]). The statistic of a comparison is a mean over the runs divided by its standard error, judged one-sided with
//! Student's t distribution ([`super::student`]); of too few runs it decides nothing ([`fewest_runs`]). Two policies, or
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

mod bound;
mod condorcet;
mod fit;
mod growth;
mod optimum;
mod order;
mod printed;
mod ratio;
mod share;
mod slopes;
mod table;
mod time_ratio;
mod within;

pub use within::Limits;

use anyhow::{Context, Result};
use confidence::math::ln;
use serde::Serialize;
use sim::mean_and_error;
use std::slice::from_ref;

use super::series::{Series, Simulated};
use super::student;
use experiment::Measured;
use experiment::number;
use experiment::result::{Bound, EndValue};

/// What is known or found of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The paper's statement holds.
    Reproduced,
    /// Its opposite holds.
    Contradicted,
    /// The runs are too few to tell.
    Undecided,
    /// The data it speaks of are not public.
    NotTestable,
    /// A quick check leaves it to the full run.
    Left,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Contradicted, Self::Undecided, Self::NotTestable, Self::Left];

    /// Those that can be known of a claim, by their names in files.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("reproduced", Self::Reproduced),
        ("contradicted", Self::Contradicted),
        ("undecided", Self::Undecided),
        ("not-testable", Self::NotTestable),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
            Self::NotTestable => "not-testable",
            Self::Left => "left",
        }
    }

    /// Its name for readers.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotTestable => "cannot be tested here",
            Self::Left => "left to the full run",
            _ => self.name(),
        }
    }
}

/// A statement of a paper and how it is judged.
#[derive(Debug, Clone, PartialEq)]
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
    pub test: Test,
    /// What of the runs is judged, where a test compares values.
    pub value: EndValue,
    /// The verdict known to be true.
    pub known: Verdict,
    /// Why it is known.
    pub evidence: String,
    /// What else a reader should know.
    pub remark: Option<String>,
}

/// How a claim is judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// What each of `lower` has is below `factor` times what each of `upper` has: regret, or another value of whole runs.
    Order {
        /// The better ones.
        lower: Vec<Series>,
        /// The worse ones.
        upper: Vec<Series>,
        /// What is compared.
        at: At,
        /// How much of `upper`.
        factor: f64,
    },
    /// The expected clicks up to round `t` are at least this share of what a best list collects.
    NearOptimum {
        /// The policies, each of which has to reach it.
        policies: Vec<Series>,
        /// The share, between 0 and 1.
        share: f64,
        /// Checkpoint, the last one when absent.
        t: Option<u64>,
    },
    /// The regret is below a bound at round `t`.
    BelowBound {
        /// Whose.
        series: Vec<Series>,
        /// Checkpoint, the last one when absent.
        t: Option<u64>,
        /// Label of the bound, the first one when absent.
        bound: Option<String>,
    },
    /// The regret grows with `ln t` as a bound does.
    Parallel {
        /// Whose.
        series: Vec<Series>,
        /// The checkpoints between which it grows.
        slope: (u64, u64),
        /// How far the two may be apart, as a share of the bound's.
        margin: f64,
        /// Label of the bound, the first one when absent.
        bound: Option<String>,
    },
    /// Every two regrets grow the same with `ln t`.
    SameSlope {
        /// Whose.
        series: Vec<Series>,
        /// The checkpoints between which they grow.
        slope: (u64, u64),
        /// How far two may be apart, as a share of their mean.
        margin: f64,
    },
    /// Every regret is so many times another.
    Ratio(Ratio),
    /// Every mean at the end is so many times what a paper prints.
    Printed {
        /// Whose, and what is printed of it.
        printed: Vec<(Series, f64)>,
        /// How large the ratios may be.
        limits: Limits,
    },
    /// The regret grows like a power of a number that differs from variant to variant.
    Growth(Growth),
    /// The means over runs grow like a power of the number by which variants differ.
    Fit(FitClaim),
    /// At most, or at least, this share of the runs has an answer that is wrong, or none at all.
    Share {
        /// Whose.
        series: Vec<Series>,
        /// How large it may be.
        limit: ShareLimit,
    },
    /// The times that one policy needs to recommend the best item are so many times those of another, on average over the levels of
    /// accuracy.
    TimeRatio {
        /// The labels of the two, which all variants have.
        policies: [String; 2],
        /// How large the ratio may be.
        limits: Limits,
    },
    /// Of the random subsets of items of any size at least this share has a Condorcet winner; exact.
    Condorcet {
        /// The share.
        least: f64,
        /// The share of every size, the smallest first.
        shares: Vec<f64>,
    },
    /// These columns of a printed table are what the instances have, rounded to as many decimals as printed.
    Table {
        /// Which columns.
        columns: Vec<Column>,
        /// Decimals of the printed figures.
        decimals: u32,
    },
    /// Nothing that can be run here decides it.
    NotTestable {
        /// Why not.
        reason: String,
    },
    /// A quick check does not decide it.
    Left {
        /// Why not.
        reason: String,
    },
}

/// Regrets, each divided by another.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// What is divided.
    pub series: Vec<Series>,
    /// What each is divided by, as many as there are `series`.
    pub by: Vec<Series>,
    /// Checkpoint, the last one when absent.
    pub t: Option<u64>,
    /// Checkpoint of what it is divided by, the same when absent.
    pub by_t: Option<u64>,
    /// How large the ratios may be.
    pub limits: Limits,
}

/// Regrets, and the numbers with a power of which they grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Whose, at least three.
    pub series: Vec<Series>,
    /// The number that each belongs to, above 0, strictly increasing.
    pub sizes: Vec<f64>,
    /// Checkpoint, the last one when absent.
    pub t: Option<u64>,
    /// How large the exponent may be.
    pub limits: Limits,
}

/// A fitted curve, and how well it has to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitClaim {
    /// Label of the policy, which all variants have.
    pub policy: String,
    /// With which power of the size it grows.
    pub power: f64,
    /// The least share of the variance of the means that it explains.
    pub r_squared: f64,
}

/// How large a share of runs may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShareLimit {
    /// Not a single run, of enough to have seen one if it were as many as this share.
    Never {
        /// The share.
        below: f64,
    },
    /// No larger.
    Most(f64),
    /// No smaller.
    Least(f64),
}

/// What is compared of two series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Regret after a checkpoint, the last one when absent; or a value of whole runs.
    Round(Option<u64>),
    /// Growth of the regret between two checkpoints, for each unit of `ln t`.
    Slope(u64, u64),
}

/// A column of a printed table of instances that the instances themselves determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Number of items.
    Items,
    /// Smallest attraction.
    MinTheta,
    /// Largest attraction.
    MaxTheta,
}

impl Column {
    /// All of them, by their names in files.
    pub const NAMES: [(&'static str, Self); 3] =
        [("n_items", Self::Items), ("min_theta", Self::MinTheta), ("max_theta", Self::MaxTheta)];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Items => "n_items",
            Self::MinTheta => "min_theta",
            Self::MaxTheta => "max_theta",
        }
    }

    /// Its value for these attractions.
    pub fn of(self, theta: &[f64]) -> f64 {
        match self {
            Self::Items => theta.len() as f64,
            Self::MinTheta => theta.iter().copied().fold(f64::INFINITY, f64::min),
            Self::MaxTheta => theta.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// An instance as a table of a paper lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Attractions of its items.
    pub theta: Vec<f64>,
    /// What the paper prints of it, by column name.
    pub printed: Vec<(String, f64)>,
}

/// What a test found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What follows from it.
    pub verdict: Verdict,
    /// In one sentence.
    pub summary: String,
    /// What the comparisons measure, with its unit.
    pub quantity: &'static str,
    /// The comparisons it rests on.
    pub comparisons: Vec<Comparison>,
}

impl Finding {
    fn without_a_test(verdict: Verdict, reason: &str) -> Self {
        Self { verdict, summary: reason.to_owned(), quantity: "", comparisons: Vec::new() }
    }

    /// The same without rounds, since whole runs were compared.
    fn of_whole_runs(mut self) -> Self {
        for comparison in &mut self.comparisons {
            (comparison.t, comparison.leads_from) = (None, None);
        }
        self
    }

    /// The same if there are as many runs as needed; otherwise it decides nothing.
    fn of_enough_runs(mut self, runs: u64, needed: u64) -> Self {
        if runs >= needed {
            return self;
        }
        for comparison in &mut self.comparisons {
            (comparison.says, comparison.leads_from) = (Verdict::Undecided, None);
        }
        self.verdict = Verdict::Undecided;
        self.summary = {
            let decide = if runs == 1 { "decides" } else { "decide" };
            format!("{} {decide} nothing: at least {needed} are needed.", number::counted(runs, "run"))
        };
        self
    }
}

/// One comparison of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What is compared with what.
    pub what: String,
    /// The same with the names that readers know.
    #[serde(skip)]
    pub readers: String,
    /// Round at which it is compared, if it depends on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<u64>,
    /// The quantity that is negative if the paper is right.
    pub difference: f64,
    /// Its standard error; absent for an exact comparison and for one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// Difference by standard error; absent for an exact comparison, and where it is infinite (no variation at all).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistic: Option<f64>,
    /// What it says of the claim.
    pub says: Verdict,
    /// First checkpoint from which on it is significant at every one to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_from: Option<u64>,
    /// The measured quantity in words.
    pub measured: String,
}

/// How what was found compares with what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The same.
    Agrees,
    /// The opposite.
    Contradicts,
    /// Something is known, this run cannot tell.
    Undecided,
    /// Nothing was known, this run can tell.
    New,
}

impl Agreement {
    /// Compares a verdict found with the one known.
    pub fn of(found: Verdict, known: Verdict) -> Self {
        match (found, known) {
            _ if found == known => Self::Agrees,
            // With data that are not public nothing is known beforehand.
            (Verdict::Undecided, Verdict::NotTestable) => Self::Agrees,
            (Verdict::Undecided | Verdict::Left, _) => Self::Undecided,
            (_, Verdict::Undecided | Verdict::NotTestable) => Self::New,
            _ => Self::Contradicts,
        }
    }

    /// Whether a check with this outcome fails.
    pub fn fails(self, quick: bool) -> bool {
        match self {
            Self::Agrees | Self::New => false,
            Self::Contradicts => true,
            Self::Undecided => !quick,
        }
    }
}

/// What claims about a panel are judged by.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Evidence<'a> {
    /// What its variants measured; of a panel without, one.
    pub variants: &'a [Simulated],
    /// What of their runs is judged.
    pub value: EndValue,
    /// What readers call a series.
    pub reader_name: &'a dyn Fn(&Series) -> String,
}

/// The runs of one series.
struct Runs<'a> {
    measured: &'a Measured,
    policy: usize,
    value: EndValue,
}

impl Evidence<'_> {
    /// Runs of the variant that has fewest.
    fn fewest_runs(&self) -> u64 {
        self.variants.iter().map(|variant| variant.measured.result.runs).min().unwrap_or(0)
    }

    fn runs(&self, series: &Series) -> Result<Runs<'_>> {
        let variant = self.variants.iter().find(|variant| variant.name == series.variant);
        let runs = variant.and_then(|variant| {
            let policy = variant.measured.policy(&series.policy)?;
            Some(Runs { measured: &variant.measured, policy, value: self.value })
        });
        runs.with_context(|| format!("the result has no policy `{series}`"))
    }
}

impl<'a> Runs<'a> {
    /// The checkpoints; of runs that are judged as a whole, the last round that they may have.
    fn rounds(&self) -> &'a [u64] {
        let result = &self.measured.result;
        match self.value {
            EndValue::Regret | EndValue::Accuracy => {
                result.policies[self.policy].curves().map_or(&[], |curves| &curves.t)
            }
            EndValue::Answer(_) => {
                result.horizon.as_ref().or(result.max_steps.as_ref()).map_or(&[], from_ref)
            }
        }
    }

    /// Index of a checkpoint, the last one when none is asked for.
    fn checkpoint(&self, t: Option<u64>) -> Result<usize> {
        let rounds = self.rounds();
        let found = match t {
            Some(t) => rounds.iter().position(|&round| round == t),
            None => rounds.len().checked_sub(1),
        };
        found.with_context(|| match t {
            Some(t) => format!("round {} is no checkpoint of the result", number::grouped(t)),
            None => "the result has no checkpoint".to_owned(),
        })
    }

    /// Regret of every run after a checkpoint, or the value of whole runs that is judged.
    fn regret(&self, t: u64) -> Result<Vec<f64>> {
        Ok(match self.value {
            EndValue::Regret => self.measured.regret(self.policy, self.checkpoint(Some(t))?),
            EndValue::Accuracy => self.measured.accuracy(self.policy, self.checkpoint(Some(t))?),
            // Whatever the round: runs of different lengths can be compared.
            EndValue::Answer(_) => self.measured.values(self.policy, self.value),
        })
    }

    /// Growth of the regret of every run between two checkpoints, for each unit of `ln t`.
    fn slope(&self, (from, to): (u64, u64)) -> Result<Vec<f64>> {
        let (before, after) = (self.regret(from)?, self.regret(to)?);
        let length = ln(to as f64 / from as f64);
        Ok(before.iter().zip(&after).map(|(before, after)| (after - before) / length).collect())
    }

    /// A bound by its label, or the first one.
    fn bound(&self, label: Option<&str>) -> Result<&'a Bound> {
        let bounds = &self.measured.result.bounds;
        let wanted = bounds.iter().find(|bound| label.is_none_or(|label| bound.label == label));
        // Readers of claims have refused what the instances do not have.
        wanted.context("the result lacks the bound")
    }
}

/// The value of a bound at one of its checkpoints.
fn bound_at(bound: &Bound, t: u64) -> Result<f64> {
    let at = bound.t.iter().position(|&round| round == t);
    let value = at.and_then(|at| bound.value.get(at).copied());
    value.with_context(|| format!("the bound lacks round {}", number::grouped(t)))
}

/// The levels of the one-sided tests of a claim: one rule for all kinds.
///
/// *Reproduced* asks that all of them come out as stated. If one is not so in truth, that one alone comes out as stated with a
/// probability of at most the level, and all of them with no more: each is made at the claim's level (an intersection-union test).
///
/// *Contradicted* asks for one that comes out the other way round. Of `m` tests, each is made at the level divided by `m`
/// (Bonferroni), so that any does wrongly with a probability of at most the level, whatever they have in common. Holm's procedure
/// would find the same: its first step has the same threshold, and the verdict needs no second one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Levels {
    /// For "as stated".
    stated: f64,
    /// For "the other way round".
    opposite: f64,
}

impl Levels {
    /// Of a claim at a level, of which this many one-sided tests are made.
    fn of(level: f64, tests: usize) -> Self {
        Self { stated: level, opposite: level / tests.max(1) as f64 }
    }
}

impl Test {
    /// How many one-sided tests are made, any of which could contradict; those of exact kinds have no level.
    fn tests(&self) -> usize {
        match self {
            Self::Order { lower, upper, .. } => lower.len() * upper.len(),
            Self::NearOptimum { policies, .. } => policies.len(),
            Self::BelowBound { series, .. } | Self::Share { series, .. } => series.len(),
            // Both sides of a margin.
            Self::Parallel { series, .. } => 2 * series.len(),
            // Both sides of it for every two.
            Self::SameSlope { series, .. } => series.len() * series.len().saturating_sub(1),
            Self::Ratio(ratio) => ratio.series.len() * ratio.limits.count(),
            Self::Printed { printed, limits } => printed.len() * limits.count(),
            Self::Growth(growth) => growth.limits.count(),
            Self::TimeRatio { limits, .. } => limits.count(),
            // How well the curve fits, and that it rises.
            Self::Fit(_) => 2,
            Self::Condorcet { .. } | Self::Table { .. } | Self::NotTestable { .. } | Self::Left { .. } => 1,
        }
    }

    /// Whether means over runs are compared by their standard errors.
    fn is_of_means(&self) -> bool {
        !matches!(
            self,
            Self::Share { .. }
                | Self::Condorcet { .. }
                | Self::Table { .. }
                | Self::NotTestable { .. }
                | Self::Left { .. }
        )
    }
}

/// The fewest runs whose means decide anything at a level: 10 at 0.001.
///
/// Student's t distribution is that of normal numbers, and few runs cannot show that theirs are: two that happen to be close have
/// any statistic. What holds without that, for any differences as likely above zero as below, is the sign test, and of `n` runs that all
/// fall on one side it finds `2^-n`. So many runs are needed that this is at most the level; the t test never decides on fewer.
fn fewest_runs(level: f64) -> u64 {
    // No number between 0 and 2^-1074 can be written.
    (1..1075).find(|&runs| coin(runs) <= level).unwrap_or(1075)
}

/// The probability that this many fair coins all show heads.
fn coin(runs: u64) -> f64 {
    libm::exp2(-(runs as f64))
}

/// Judges a claim by what its panel measured and the rows of the paper's table.
///
/// # Errors
///
/// The result lacks a policy or a checkpoint that the test speaks of.
pub fn judge(claim: &Claim, evidence: Option<&Evidence<'_>>, rows: &[Row]) -> Result<Finding> {
    let needed = || evidence.context("this kind of test needs the result of a panel");
    let level = Levels::of(claim.level, claim.test.tests());
    match &claim.test {
        Test::Order { lower, upper, at, factor } => {
            order::judge(needed()?, lower, upper, *at, *factor, level)
        }
        Test::NearOptimum { policies, share, t } => optimum::judge(needed()?, policies, *share, *t, level),
        Test::BelowBound { series, t, bound } => bound::judge(needed()?, series, *t, bound.as_deref(), level),
        Test::Parallel { series, slope, margin, bound } => {
            slopes::parallel(needed()?, series, *slope, *margin, bound.as_deref(), level)
        }
        Test::SameSlope { series, slope, margin } => slopes::same(needed()?, series, *slope, *margin, level),
        Test::Ratio(ratio) => ratio::judge(needed()?, ratio, level),
        Test::Printed { printed, limits } => printed::judge(needed()?, printed, *limits, level),
        Test::Growth(growth) => growth::judge(needed()?, growth, level),
        Test::Fit(fit) => fit::judge(needed()?, fit, level),
        Test::Share { series, limit } => share::judge(needed()?, series, *limit, level),
        Test::TimeRatio { policies, limits } => time_ratio::judge(needed()?, policies, *limits, level),
        Test::Condorcet { least, shares } => Ok(condorcet::judge(*least, shares)),
        Test::Table { columns, decimals } => table::judge(rows, columns, *decimals),
        Test::NotTestable { reason } => Ok(Finding::without_a_test(Verdict::NotTestable, reason)),
        Test::Left { reason } => Ok(Finding::without_a_test(Verdict::Left, reason)),
    }
    .map(|finding| match claim.value {
        EndValue::Regret | EndValue::Accuracy => finding,
        EndValue::Answer(_) => finding.of_whole_runs(),
    })
    .map(|finding| match evidence.filter(|_| claim.test.is_of_means()) {
        Some(evidence) => finding.of_enough_runs(evidence.fewest_runs(), fewest_runs(claim.level)),
        None => finding,
    })
    .with_context(|| format!("claim `{}` cannot be judged", claim.name))
}

/// What a mean and its standard error say of "it is negative".
struct Sign {
    statistic: f64,
    says: Verdict,
}

impl Sign {
    fn of(mean: f64, se: f64, freedom: u64, levels: Levels) -> Self {
        let statistic = if mean == 0.0 { 0.0 } else { mean / se };
        let tail = |statistic: f64| {
            // Runs that are all the same have no spread to judge by: their sign alone counts, as if each were a coin.
            if statistic == f64::INFINITY {
                coin(freedom + 1)
            } else {
                student::upper_tail(statistic, freedom)
            }
        };
        let says = if tail(-statistic) <= levels.stated {
            Verdict::Reproduced
        } else if tail(statistic) <= levels.opposite {
            Verdict::Contradicted
        } else {
            Verdict::Undecided
        };
        Self { statistic, says }
    }
}

/// Degrees of freedom of a sample's standard error.
fn freedom_of(sample: &[f64]) -> u64 {
    (sample.len() as u64).saturating_sub(1)
}

/// Whether all comparisons hold, any is the other way round, or neither.
fn verdict_of(comparisons: &[Comparison]) -> Verdict {
    if comparisons.iter().any(|comparison| comparison.says == Verdict::Contradicted) {
        Verdict::Contradicted
    } else if comparisons.iter().all(|comparison| comparison.says == Verdict::Reproduced) {
        Verdict::Reproduced
    } else {
        Verdict::Undecided
    }
}

/// A finding of comparisons that were all made at these levels with this many degrees of freedom.
fn finding(quantity: &'static str, comparisons: Vec<Comparison>, levels: Levels, freedom: u64) -> Finding {
    let verdict = verdict_of(&comparisons);
    let [stated, opposite] =
        [levels.stated, levels.opposite].map(|level| number::fixed(student::critical(level, freedom), 2));
    let summary = summary(verdict, &comparisons, &stated, &opposite);
    Finding { verdict, summary, quantity, comparisons }
}

/// The comparisons of a test in one sentence, with the |z| that are needed.
fn summary(verdict: Verdict, comparisons: &[Comparison], stated: &str, opposite: &str) -> String {
    let count = comparisons.len();
    let of = |wanted: Verdict| comparisons.iter().filter(|comparison| comparison.says == wanted).count();
    let sizes = || comparisons.iter().map(|comparison| comparison.statistic.map_or(f64::INFINITY, f64::abs));
    let smallest = number::fixed(sizes().fold(f64::INFINITY, f64::min), 1);
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
            of(Verdict::Contradicted),
            of(Verdict::Reproduced)
        ),
        _ if count == 1 => format!("Not significant: |z| = {smallest}, needed {stated}."),
        _ => format!(
            "{} of {count} comparisons hold, the others are not significant (|z| needed: {stated}).",
            of(Verdict::Reproduced)
        ),
    }
}

#[cfg(test)]
mod tests;
