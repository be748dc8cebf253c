//! What a paper claims, as a statistical test, and what a result says about it.
//!
//! A claim is one or several one-sided comparisons, each at the claim's level (0.001 unless it says otherwise). It is
//! **reproduced** if every comparison is significant in the direction that the paper states, **contradicted** if any is
//! significant in the other direction, and **undecided** otherwise. The statistic of a comparison is a mean over the runs
//! divided by its standard error, judged with Student's t distribution ([`super::student`]). Two policies are compared on
//! the difference of their regrets run by run, since both met the same users.
//!
//! Every claim carries the verdict known to be true and the evidence for it (a larger run with another seed). A check
//! fails when it finds the opposite; a check at full scale also fails when it finds nothing.

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::number;
use super::student;
use crate::result::{Paired, ResultFile};

/// What is known or found of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The paper's statement holds.
    Reproduced,
    /// Its opposite holds.
    Contradicted,
    /// The runs are too few to tell.
    Undecided,
    /// The data it speaks of are not public.
    NotTestable,
}

impl Verdict {
    /// All of them, by their names in files.
    pub(crate) const NAMES: [(&'static str, Self); 4] = [
        ("reproduced", Self::Reproduced),
        ("contradicted", Self::Contradicted),
        ("undecided", Self::Undecided),
        ("not-testable", Self::NotTestable),
    ];

    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
            Self::NotTestable => "not-testable",
        }
    }

    /// Its name for readers.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NotTestable => "cannot be tested here",
            _ => self.name(),
        }
    }
}

/// A statement of a paper and how it is judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// Short name, unique in its experiment.
    pub(crate) name: String,
    /// The panel whose result it speaks of; none for a claim about the instances themselves.
    pub(crate) panel: Option<String>,
    /// What the paper says, in our words.
    pub(crate) says: String,
    /// Where it says so.
    pub(crate) place: String,
    /// Probability with which a comparison comes out significant although there is no difference.
    pub(crate) level: f64,
    /// How it is judged.
    pub(crate) test: Test,
    /// The verdict known to be true.
    pub(crate) known: Verdict,
    /// Why it is known.
    pub(crate) evidence: String,
    /// What else a reader should know.
    pub(crate) remark: Option<String>,
}

/// How a claim is judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// The regret of each of `lower` is below that of each of `upper` at round `t` (the last one when absent).
    Order {
        /// Labels of the better policies.
        lower: Vec<String>,
        /// Labels of the worse ones.
        upper: Vec<String>,
        /// Checkpoint.
        t: Option<u64>,
    },
    /// The expected clicks up to round `t` are at least this share of what a best list collects.
    NearOptimum {
        /// Labels of the policies, each of which has to reach it.
        policies: Vec<String>,
        /// The share, between 0 and 1.
        share: f64,
        /// Checkpoint.
        t: Option<u64>,
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
}

/// A column of a printed table of instances that the instances themselves determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Number of items.
    Items,
    /// Smallest attraction.
    MinTheta,
    /// Largest attraction.
    MaxTheta,
}

impl Column {
    /// All of them, by their names in files.
    pub(crate) const NAMES: [(&'static str, Self); 3] =
        [("n_items", Self::Items), ("min_theta", Self::MinTheta), ("max_theta", Self::MaxTheta)];

    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Items => "n_items",
            Self::MinTheta => "min_theta",
            Self::MaxTheta => "max_theta",
        }
    }

    /// Its value for these attractions.
    pub(crate) fn of(self, theta: &[f64]) -> f64 {
        match self {
            Self::Items => theta.len() as f64,
            Self::MinTheta => theta.iter().copied().fold(f64::INFINITY, f64::min),
            Self::MaxTheta => theta.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// An instance as a table of a paper lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: String,
    /// Attractions of its items.
    pub(crate) theta: Vec<f64>,
    /// What the paper prints of it, by column name.
    pub(crate) printed: Vec<(String, f64)>,
}

/// What a test found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Finding {
    /// What follows from it.
    pub(crate) verdict: Verdict,
    /// In one sentence.
    pub(crate) summary: String,
    /// What the comparisons measure, with its unit.
    pub(crate) quantity: &'static str,
    /// The comparisons it rests on.
    pub(crate) comparisons: Vec<Comparison>,
}

/// One comparison of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// What is compared with what.
    pub(crate) what: String,
    /// Labels of the policies, of two the difference; none for a comparison of something else.
    #[serde(skip)]
    pub(crate) policies: Vec<String>,
    /// Round at which it is compared, if it depends on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) t: Option<u64>,
    /// The quantity that is negative if the paper is right.
    pub(crate) difference: f64,
    /// Its standard error; absent for an exact comparison and for one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) se: Option<f64>,
    /// Difference by standard error; absent for an exact comparison, and where it is infinite (no variation at all).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) statistic: Option<f64>,
    /// What it says of the claim.
    pub(crate) says: Verdict,
    /// First checkpoint from which on it is significant at every one to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) leads_from: Option<u64>,
    /// The measured quantity in words.
    pub(crate) measured: String,
}

/// How what was found compares with what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Agreement {
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
    pub(crate) fn of(found: Verdict, known: Verdict) -> Self {
        match (found, known) {
            _ if found == known => Self::Agrees,
            (Verdict::Undecided, _) => Self::Undecided,
            (_, Verdict::Undecided) => Self::New,
            _ => Self::Contradicts,
        }
    }

    /// Whether a check with this outcome fails.
    pub(crate) fn fails(self, quick: bool) -> bool {
        match self {
            Self::Agrees | Self::New => false,
            Self::Contradicts => true,
            Self::Undecided => !quick,
        }
    }
}

/// Judges a claim by the result of its panel and the rows of the paper's table.
///
/// # Errors
///
/// The result lacks a policy, a pair or a checkpoint that the test speaks of.
pub(crate) fn judge(claim: &Claim, result: Option<&ResultFile>, rows: &[Row]) -> Result<Finding> {
    let needed = || result.context("this kind of test needs the result of a panel");
    match &claim.test {
        Test::Order { lower, upper, t } => order(needed()?, lower, upper, *t, claim.level),
        Test::NearOptimum { policies, share, t } => {
            near_optimum(needed()?, policies, *share, *t, claim.level)
        }
        Test::Table { columns, decimals } => table(rows, columns, *decimals),
        Test::NotTestable { reason } => Ok(Finding {
            verdict: Verdict::NotTestable,
            summary: reason.clone(),
            quantity: "",
            comparisons: Vec::new(),
        }),
    }
    .with_context(|| format!("claim `{}` cannot be judged", claim.name))
}

/// What a mean and its standard error say of "it is negative".
struct Sign {
    statistic: f64,
    says: Verdict,
}

impl Sign {
    fn of(mean: f64, se: f64, freedom: u64, level: f64) -> Self {
        let statistic = if mean == 0.0 { 0.0 } else { mean / se };
        let says = if student::upper_tail(-statistic, freedom) <= level {
            Verdict::Reproduced
        } else if student::upper_tail(statistic, freedom) <= level {
            Verdict::Contradicted
        } else {
            Verdict::Undecided
        };
        Self { statistic, says }
    }
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

fn order(
    result: &ResultFile,
    lower: &[String],
    upper: &[String],
    t: Option<u64>,
    level: f64,
) -> Result<Finding> {
    let mut comparisons = Vec::new();
    for low in lower {
        for high in upper {
            comparisons.push(compare_pair(result, low, high, t, level)?);
        }
    }
    let verdict = verdict_of(&comparisons);
    let critical = student::critical(level, result.runs.saturating_sub(1));
    let summary = summary(verdict, &comparisons, critical);
    Ok(Finding { verdict, summary, quantity: "difference of regrets (clicks)", comparisons })
}

/// Whether `low` has less regret than `high`, run by run.
fn compare_pair(
    result: &ResultFile,
    low: &str,
    high: &str,
    t: Option<u64>,
    level: f64,
) -> Result<Comparison> {
    let (paired, sign) = match result.paired.iter().find(pair_of(low, high)) {
        Some(paired) => (paired, 1.0),
        None => match result.paired.iter().find(pair_of(high, low)) {
            Some(paired) => (paired, -1.0),
            None => bail!("the result has no paired difference of `{low}` and `{high}`"),
        },
    };
    let freedom = result.runs.saturating_sub(1);
    let at = checkpoint(&paired.t, t)?;
    let difference = |index: usize| sign * paired.regret.mean[index];
    let sign_at = |index: usize| Sign::of(difference(index), paired.regret.se[index], freedom, level);
    let here = sign_at(at);
    let after =
        (0..paired.t.len()).rev().take_while(|&index| sign_at(index).says == Verdict::Reproduced).last();
    Ok(Comparison {
        what: format!("{low} − {high}"),
        policies: vec![low.to_owned(), high.to_owned()],
        t: Some(paired.t[at]),
        difference: difference(at),
        se: (freedom > 0).then_some(paired.regret.se[at]),
        statistic: Some(here.statistic).filter(|statistic| statistic.is_finite()),
        says: here.says,
        leads_from: after.map(|index| paired.t[index]),
        measured: number::estimate(difference(at), paired.regret.se[at], result.runs),
    })
}

fn pair_of<'a>(a: &'a str, b: &'a str) -> impl Fn(&&Paired) -> bool + 'a {
    move |paired| paired.a == a && paired.b == b
}

fn near_optimum(
    result: &ResultFile,
    policies: &[String],
    share: f64,
    t: Option<u64>,
    level: f64,
) -> Result<Finding> {
    let freedom = result.runs.saturating_sub(1);
    let mut comparisons = Vec::new();
    for label in policies {
        let Some(policy) = result.policies.iter().find(|policy| policy.label == *label) else {
            bail!("the result has no policy `{label}`");
        };
        let at = checkpoint(&policy.t, t)?;
        let round = policy.t[at];
        let best = result
            .optimum
            .t
            .iter()
            .position(|&other| other == round)
            .context("the optimum lacks a checkpoint")?;
        let optimum = (result.optimum.clicks.mean[best], result.optimum.clicks.se[best]);
        let regret = (policy.regret.mean[at], policy.regret.se[at]);
        // Share of the optimum that is missing. Nothing is known of how regret and optimum go together from run to run, so
        // their relative errors add up: the most that the error of their ratio can be.
        let lost = regret.0 / optimum.0;
        let se = regret.1 / optimum.0 + lost.abs() * optimum.1 / optimum.0;
        let excess = lost - (1.0 - share);
        let sign = Sign::of(excess, se, freedom, level);
        comparisons.push(Comparison {
            what: label.clone(),
            policies: vec![label.clone()],
            t: Some(round),
            difference: excess,
            se: (freedom > 0).then_some(se),
            statistic: Some(sign.statistic).filter(|statistic| statistic.is_finite()),
            says: sign.says,
            leads_from: None,
            measured: format!("{} %", number::estimate(100.0 * (1.0 - lost), 100.0 * se, result.runs)),
        });
    }
    let verdict = verdict_of(&comparisons);
    let critical = student::critical(level, freedom);
    let summary = summary(verdict, &comparisons, critical);
    Ok(Finding { verdict, summary, quantity: "expected clicks, share of the optimum", comparisons })
}

fn table(rows: &[Row], columns: &[Column], decimals: u32) -> Result<Finding> {
    let unit = libm::pow(10.0, f64::from(decimals));
    let mut comparisons = Vec::new();
    let mut entries = 0;
    for row in rows {
        for &column in columns {
            let name = column.name();
            let Some((_, printed)) = row.printed.iter().find(|(key, _)| key == name) else {
                bail!("instance `{}` has no printed `{name}`", row.name);
            };
            entries += 1;
            let value = column.of(&row.theta);
            if libm::round(value * unit) != libm::round(printed * unit) {
                let digits = if column == Column::Items { 0 } else { decimals as usize };
                comparisons.push(Comparison {
                    what: format!("{} of {}", name.replace('_', " "), row.name),
                    policies: Vec::new(),
                    t: None,
                    difference: value - printed,
                    se: None,
                    statistic: None,
                    says: Verdict::Contradicted,
                    leads_from: None,
                    measured: format!(
                        "{}, printed {}",
                        number::fixed(value, digits),
                        number::fixed(*printed, digits)
                    ),
                });
            }
        }
    }
    let verdict = if comparisons.is_empty() { Verdict::Reproduced } else { Verdict::Contradicted };
    let differing: Vec<String> =
        comparisons.iter().map(|one| format!("{} is {}", one.what, one.measured)).collect();
    let summary = match differing.len() {
        0 => format!("All {entries} entries are as printed."),
        1..=3 => format!(
            "{} of {entries} entries as printed; {}.",
            entries - differing.len(),
            differing.join("; ")
        ),
        many => format!("{} of {entries} entries as printed, {many} are not.", entries - many),
    };
    Ok(Finding { verdict, summary, quantity: "value", comparisons })
}

/// Index of a checkpoint, the last one when none is asked for.
fn checkpoint(rounds: &[u64], t: Option<u64>) -> Result<usize> {
    let found = match t {
        Some(t) => rounds.iter().position(|&round| round == t),
        None => rounds.len().checked_sub(1),
    };
    found.with_context(|| match t {
        Some(t) => format!("round {} is no checkpoint of the result", number::grouped(t)),
        None => "the result has no checkpoint".to_owned(),
    })
}

/// The comparisons of a test in one sentence.
fn summary(verdict: Verdict, comparisons: &[Comparison], critical: f64) -> String {
    if critical.is_infinite() {
        return "One run has no standard error: nothing is significant.".to_owned();
    }
    let count = comparisons.len();
    let of = |wanted: Verdict| comparisons.iter().filter(|comparison| comparison.says == wanted).count();
    let needed = number::fixed(critical, 2);
    let sizes = || comparisons.iter().map(|comparison| comparison.statistic.map_or(f64::INFINITY, f64::abs));
    let smallest = number::fixed(sizes().fold(f64::INFINITY, f64::min), 1);
    match verdict {
        Verdict::Reproduced if count == 1 => format!("Holds: |z| = {smallest}, needed {needed}."),
        Verdict::Reproduced => {
            let all = if count == 2 { "Both".to_owned() } else { format!("All {count}") };
            format!("{all} comparisons hold: |z| at least {smallest}, needed {needed}.")
        }
        Verdict::Contradicted if count == 1 => {
            format!("Significantly the other way round: |z| = {smallest}, needed {needed}.")
        }
        Verdict::Contradicted => format!(
            "{} of {count} comparisons significantly the other way round, {} as stated (|z| needed: {needed}).",
            of(Verdict::Contradicted),
            of(Verdict::Reproduced)
        ),
        _ if count == 1 => format!("Not significant: |z| = {smallest}, needed {needed}."),
        _ => format!(
            "{} of {count} comparisons hold, the others are not significant (|z| needed: {needed}).",
            of(Verdict::Reproduced)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{MeanSe, Optimum, PolicyResult, Spread};

    /// Two hundred runs of three policies at four checkpoints. Their own regrets vary so much from run to run that only
    /// the paired differences tell them apart: `good` is better than `bad` from round 100 on, `even` cannot be told
    /// from `good`.
    fn result() -> ResultFile {
        let t = vec![10, 100, 1000, 10_000];
        let policy = |label: &str, last: f64| PolicyResult {
            label: label.to_owned(),
            policy: label.to_owned(),
            t: t.clone(),
            regret: Spread {
                mean: vec![5.0, 50.0, 100.0, last],
                se: vec![50.0; 4],
                min: vec![0.0; 4],
                max: vec![900.0; 4],
                q10: vec![1.0; 4],
                q90: vec![500.0; 4],
            },
            clicks: MeanSe { mean: vec![1.0, 10.0, 100.0, 1000.0], se: vec![1.0; 4] },
        };
        let paired = |a: &str, b: &str, mean: [f64; 4], se: [f64; 4]| Paired {
            a: a.to_owned(),
            b: b.to_owned(),
            t: t.clone(),
            regret: MeanSe { mean: mean.to_vec(), se: se.to_vec() },
        };
        ResultFile {
            schema: 1,
            name: "synthetic".to_owned(),
            task: "regret".to_owned(),
            runs: 200,
            horizon: 10_000,
            seed: 1,
            policies: vec![policy("bad", 160.0), policy("good", 150.0), policy("even", 151.0)],
            paired: vec![
                paired("bad", "good", [-9.0, 4.0, 6.0, 10.0], [1.0, 1.0, 1.0, 1.0]),
                paired("bad", "even", [0.0, 3.0, 5.0, 9.0], [1.0; 4]),
                paired("good", "even", [0.0, -1.0, -1.0, -1.0], [1.0; 4]),
            ],
            bounds: Vec::new(),
            optimum: Optimum { t, clicks: MeanSe { mean: vec![2.0, 20.0, 200.0, 2000.0], se: vec![0.1; 4] } },
        }
    }

    fn names(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    fn claim(test: Test) -> Claim {
        Claim {
            name: "a-claim".to_owned(),
            panel: Some("panel".to_owned()),
            says: "something".to_owned(),
            place: "section 1".to_owned(),
            level: 0.001,
            test,
            known: Verdict::Reproduced,
            evidence: "seen".to_owned(),
            remark: None,
        }
    }

    fn found(lower: &[&str], upper: &[&str], t: Option<u64>) -> Finding {
        let test = Test::Order { lower: names(lower), upper: names(upper), t };
        judge(&claim(test), Some(&result()), &[]).unwrap()
    }

    #[test]
    fn an_order_is_judged_on_paired_differences_in_both_orientations() {
        // Unpaired, 10 ± 71 would decide nothing; with the sign of the stored pair forgotten, it would be contradicted.
        let finding = found(&["good"], &["bad"], None);
        assert_eq!(finding.verdict, Verdict::Reproduced);
        assert_eq!(
            (finding.comparisons[0].difference, finding.comparisons[0].statistic),
            (-10.0, Some(-10.0))
        );
        assert_eq!(found(&["bad"], &["good"], None).verdict, Verdict::Contradicted);
        assert_eq!(found(&["good"], &["even"], None).verdict, Verdict::Undecided);
        assert_eq!(found(&["even"], &["good"], None).verdict, Verdict::Undecided);
    }

    #[test]
    fn every_comparison_counts() {
        assert_eq!(found(&["good", "even"], &["bad"], None).verdict, Verdict::Reproduced);
        assert_eq!(found(&["good"], &["bad", "even"], None).verdict, Verdict::Undecided);
        // One pair the wrong way round outweighs one that cannot be told and one that holds.
        assert_eq!(found(&["good", "bad"], &["even"], None).verdict, Verdict::Contradicted);
    }

    #[test]
    fn the_round_matters_and_so_does_the_order_before_it() {
        let early = found(&["good"], &["bad"], Some(10));
        assert_eq!(early.verdict, Verdict::Contradicted);
        // z = -4 at round 100 is beyond 3.13, z = +9 at round 10 is the other way.
        assert_eq!(early.comparisons[0].leads_from, Some(100));
        let even = found(&["even"], &["bad"], None);
        // z = -3 at round 100 falls short.
        assert_eq!(even.comparisons[0].leads_from, Some(1000));
        assert_eq!(found(&["good"], &["even"], None).comparisons[0].leads_from, None);
    }

    #[test]
    fn a_gap_in_the_lead_starts_it_again() {
        let mut result = result();
        result.paired[0].regret.mean = vec![9.0, 9.0, 0.5, 9.0];
        let test = Test::Order { lower: names(&["good"]), upper: names(&["bad"]), t: None };
        let finding = judge(&claim(test), Some(&result), &[]).unwrap();
        assert_eq!(finding.comparisons[0].leads_from, Some(10_000));
    }

    #[test]
    fn one_run_and_no_variation_prove_what_they_can() {
        let test = || Test::Order { lower: names(&["good"]), upper: names(&["bad"]), t: None };
        let mut one = result();
        one.runs = 1;
        one.paired[0].regret.se = vec![0.0; 4];
        let finding = judge(&claim(test()), Some(&one), &[]).unwrap();
        assert_eq!(finding.verdict, Verdict::Undecided);
        assert_eq!(finding.summary, "One run has no standard error: nothing is significant.");
        assert_eq!((&*finding.comparisons[0].measured, finding.comparisons[0].se), ("−10.00", None));
        let mut exact = result();
        exact.paired[0].regret.se = vec![0.0; 4];
        assert_eq!(judge(&claim(test()), Some(&exact), &[]).unwrap().verdict, Verdict::Reproduced);
        exact.paired[0].regret.mean = vec![0.0; 4];
        assert_eq!(judge(&claim(test()), Some(&exact), &[]).unwrap().verdict, Verdict::Undecided);
        let mut broken = result();
        broken.paired[0].regret.se = vec![f64::NAN; 4];
        assert_eq!(judge(&claim(test()), Some(&broken), &[]).unwrap().verdict, Verdict::Undecided);
    }

    #[test]
    fn few_runs_need_more_than_the_normal_quantile() {
        let mut few = result();
        few.paired[0].regret.mean = vec![3.3; 4];
        let test = || Test::Order { lower: names(&["good"]), upper: names(&["bad"]), t: None };
        assert_eq!(judge(&claim(test()), Some(&few), &[]).unwrap().verdict, Verdict::Reproduced);
        few.runs = 20;
        assert_eq!(judge(&claim(test()), Some(&few), &[]).unwrap().verdict, Verdict::Undecided);
    }

    #[test]
    fn a_share_of_the_optimum_is_judged_with_its_error() {
        let with = |share: f64, regret: f64, se: f64| {
            let mut result = result();
            result.policies[1].regret.mean[3] = regret;
            result.policies[1].regret.se[3] = se;
            let test = Test::NearOptimum { policies: names(&["good"]), share, t: None };
            judge(&claim(test), Some(&result), &[]).unwrap().verdict
        };
        // The optimum is 2000 clicks: 90 % of it leaves 200 for regret.
        assert_eq!(with(0.9, 150.0, 5.0), Verdict::Reproduced);
        assert_eq!(with(0.9, 150.0, 50.0), Verdict::Undecided);
        assert_eq!(with(0.9, 250.0, 5.0), Verdict::Contradicted);
        assert_eq!(with(0.95, 150.0, 5.0), Verdict::Contradicted);
    }

    fn rows() -> Vec<Row> {
        let row = |name: &str, theta: &[f64], printed: [f64; 3]| Row {
            name: name.to_owned(),
            theta: theta.to_vec(),
            printed: ["n_items", "min_theta", "max_theta"]
                .map(str::to_owned)
                .into_iter()
                .zip(printed)
                .collect(),
        };
        vec![
            row("first", &[0.0163, 0.0773], [2.0, 0.016, 0.077]),
            row("second", &[0.0174, 0.0687], [2.0, 0.023, 0.069]),
        ]
    }

    #[test]
    fn a_table_is_compared_entry_by_entry() {
        let judged = |columns: &[Column]| {
            judge(&claim(Test::Table { columns: columns.to_vec(), decimals: 3 }), None, &rows()).unwrap()
        };
        assert_eq!(judged(&[Column::Items, Column::MaxTheta]).verdict, Verdict::Reproduced);
        let finding = judged(&[Column::Items, Column::MinTheta, Column::MaxTheta]);
        assert_eq!(finding.verdict, Verdict::Contradicted);
        assert_eq!(finding.comparisons.len(), 1);
        assert_eq!(finding.comparisons[0].what, "min theta of second");
        assert_eq!(finding.comparisons[0].measured, "0.017, printed 0.023");
        assert_eq!(
            finding.summary,
            "5 of 6 entries as printed; min theta of second is 0.017, printed 0.023."
        );
    }

    #[test]
    fn what_the_result_lacks_is_said() {
        let error = |test: Test| format!("{:#}", judge(&claim(test), Some(&result()), &[]).unwrap_err());
        let order = |lower: &str, t| Test::Order { lower: names(&[lower]), upper: names(&["bad"]), t };
        assert!(error(order("nobody", None)).contains("`nobody` and `bad`"));
        assert!(error(order("good", Some(11))).contains("round 11 is no checkpoint"));
        let near = Test::NearOptimum { policies: names(&["nobody"]), share: 0.9, t: None };
        assert!(error(near).contains("`nobody`"));
        assert!(judge(&claim(order("good", None)), None, &[]).is_err());
    }

    #[test]
    fn a_check_fails_on_the_opposite_and_in_full_on_nothing() {
        use Verdict::{Contradicted, NotTestable, Reproduced, Undecided};
        let fails = |found, known, quick| Agreement::of(found, known).fails(quick);
        for quick in [true, false] {
            for same in [Reproduced, Contradicted, Undecided, NotTestable] {
                assert!(!fails(same, same, quick));
            }
            assert!(fails(Reproduced, Contradicted, quick) && fails(Contradicted, Reproduced, quick));
            assert!(fails(Reproduced, NotTestable, quick) && fails(NotTestable, Reproduced, quick));
            assert!(!fails(Reproduced, Undecided, quick) && !fails(Contradicted, Undecided, quick));
            assert_eq!(fails(Undecided, Reproduced, quick), !quick);
        }
    }
}
