//! The leaderboard: which policy is best at the end of an experiment, by how much, how surely, and
//! since when. "Which policy is best" in the README of `click-bandits` describes the tests. They
//! are not corrected for the number of rounds, as in claims.

mod words;

use crate::claims::share::binomial_up_to;
use crate::claims::{Family, fewest_runs, observations_needed, statistic};
use crate::figure::PolicyStyles;
use documents::number;
use experiment::result::{Difference, EndValue, MeanAndError, PolicyResult, ResultFile};
use experiment::{JournalError, Measurement};
use num_traits::ToPrimitive as _;
use serde::{Serialize, Serializer};

/// The largest probability with which any two policies are told apart that are equal.
pub use crate::claims::LEVEL;

/// A median is worth a column if it differs from the mean by more than this share of the mean.
const PARTED: f64 = 0.2;

/// The number of standard errors by which a test with four chances in five exceeds its limit.
const FOUR_IN_FIVE: f64 = 0.841_621_233_572_914_2;

/// The leaderboard of the policies of an experiment. `Display` gives it in sentences, one a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leaderboard {
    /// The value by which policies are ordered; less is better.
    #[serde(serialize_with = "name_of_value")]
    pub value: EndValue,
    /// The unit of the value; empty for shares.
    pub unit: &'static str,
    /// Rounds of a run, or the maximal number if policies stop by themselves.
    pub rounds: Option<u64>,
    /// Runs of each policy.
    pub runs: u64,
    /// Runs without which nothing is told apart.
    pub fewest_runs: u64,
    /// The level of all comparisons together.
    pub level: f64,
    /// The number of comparisons, for which p-values are corrected.
    pub comparisons: usize,
    /// Every policy, from best to worst.
    pub places: Vec<Place>,
    /// Every two policies that compete, in the order of their places.
    pub pairs: Vec<Pair>,
}

/// The place of a policy in a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Label of the policy.
    pub label: String,
    /// Its name in the catalogue.
    pub policy: String,
    /// Mean over the runs.
    pub mean: f64,
    /// Standard error of the mean; absent for a single observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// Median over the runs; absent if the runs were not read, and for shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// The share of what personal lists gain on one list for all users that it has earned, negative
    /// if it lost more than that list; absent unless users differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earned: Option<f64>,
    /// Whether it knows the users, and so does not compete.
    pub is_oracle: bool,
    /// Share of runs with the right answer, if runs end with an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correct: Option<f64>,
    /// Share of runs that ended with an answer, if policies stop by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<f64>,
    /// Its `delta`, if it is surely wrong more often; then it does not compete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_beyond: Option<f64>,
}

/// Two policies that compete.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Label of the policy with the lower mean.
    pub better: String,
    /// Label of the other policy.
    pub worse: String,
    /// How much lower the mean of `better` is; at least 0.
    pub difference: f64,
    /// Standard error of the difference, run by run; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// `difference / se`; absent for a single run, and if it is the same in every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// Two-sided p-value, corrected for the number of comparisons; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Whether they are told apart.
    pub told_apart: bool,
    /// The first round from which on `better` stays ahead; absent without curves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// About how many runs would tell such a difference in four of five cases, unless told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<u64>,
    /// Whether `better` is surely right less often; absent unless runs stop with an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_often_right: Option<bool>,
    /// The share of its variance from the users drawn; absent unless runs share them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_users: Option<MeanAndError>,
}

impl Leaderboard {
    /// The leaderboard of a result, without medians.
    pub fn of(result: &ResultFile) -> Self {
        let value = result.outcome();
        let mut places: Vec<Place> =
            result.policies.iter().filter_map(|policy| Place::of(policy, result, value)).collect();
        places.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let competing: Vec<&Place> = places.iter().filter(|place| !place.is_oracle).collect();
        let n = competing.len();
        let comparisons = (n * n.saturating_sub(1) / 2).max(1);
        let (observations, runs_of_each) = (result.observations(), result.runs_per_observation());
        let test = Test { observations, runs_of_each, family: Family { comparisons } };
        let mut pairs = Vec::new();
        for (index, better) in competing.iter().enumerate() {
            let behind = competing[index + 1..].iter();
            pairs.extend(behind.filter_map(|worse| test.compare(result, better, worse)));
        }
        Self {
            value,
            unit: match value {
                EndValue::Regret => result.unit,
                EndValue::Answer(experiment::result::Quantity::StoppingTime) => "rounds",
                EndValue::Accuracy | EndValue::Answer(_) => "",
            },
            rounds: result.horizon.or(result.max_steps),
            runs: result.runs,
            fewest_runs: fewest_runs(LEVEL).saturating_mul(runs_of_each),
            level: LEVEL,
            comparisons,
            places,
            pairs,
        }
    }

    /// The leaderboard of an outcome, with the medians of its runs.
    ///
    /// # Errors
    ///
    /// The runs cannot be read.
    pub fn of_runs(measured: &Measurement) -> Result<Self, JournalError> {
        let mut leaderboard = Self::of(&measured.result);
        if leaderboard.unit.is_empty() {
            return Ok(leaderboard);
        }
        for place in &mut leaderboard.places {
            let Some(policy) = measured.policy(&place.label) else { continue };
            let mut values = measured.values(policy, leaderboard.value)?;
            values.sort_by(f64::total_cmp);
            place.median = (!values.is_empty()).then(|| sim::quantile(&values, 0.5));
        }
        Ok(leaderboard)
    }

    /// The leaderboard with other names for the policies: those of figures.
    pub(crate) fn named(mut self, styles: &PolicyStyles) -> Self {
        let rename = |label: &mut String| *label = styles.name(label).to_owned();
        self.places.iter_mut().for_each(|place| rename(&mut place.label));
        for pair in &mut self.pairs {
            rename(&mut pair.better);
            rename(&mut pair.worse);
        }
        self
    }

    /// Returns whether medians are worth showing: one of them differs from its mean by more than a
    /// fifth of the mean.
    pub fn has_parted_medians(&self) -> bool {
        let parted = |place: &Place| {
            place.median.is_some_and(|median| (median - place.mean).abs() > PARTED * place.mean.abs())
        };
        self.places.iter().any(parted)
    }

    /// The policies that compete, from best to worst: without those that know the users, or break
    /// their guarantee.
    pub fn competing(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| !place.is_oracle && place.wrong_beyond.is_none())
    }

    /// The policy with the lowest mean that competes.
    pub fn leader(&self) -> Option<&Place> {
        self.competing().next()
    }

    /// The comparison of two policies by their labels, `better` with the lower mean.
    pub fn pair(&self, better: &str, worse: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.better == better && pair.worse == worse)
    }

    /// The first recorded round from which on the leader is ahead of every other policy; `None` if
    /// it is not at the end, and without curves.
    pub fn since(&self) -> Option<u64> {
        let leader = self.leader()?;
        let of_leader = self.pairs.iter().filter(|pair| pair.better == leader.label);
        of_leader.map(|pair| pair.since).reduce(|a, b| Some(a?.max(b?)))?
    }
}

impl Place {
    fn of(policy: &PolicyResult, result: &ResultFile, value: EndValue) -> Option<Self> {
        let (mean, se) = result.at_the_end(&policy.label, value)?;
        Some(Self {
            label: policy.label.clone(),
            policy: policy.policy.clone(),
            mean,
            se: Some(se).filter(|se| !se.is_nan()),
            median: None,
            earned: result.lost_by_one_list().map(|lost| 1.0 - mean / lost),
            is_oracle: policy.knows_users(),
            correct: policy.answers().map(|answers| answers.correct),
            stopped: policy.answers().and_then(|answers| answers.stopped),
            wrong_beyond: policy.delta.filter(|&delta| is_wrong_beyond(delta, policy, result)),
        })
    }
}

/// Returns whether a policy that stops is surely wrong with more than this probability. On every
/// instance it may be wrong with `delta` at most, so the tail is that of the binomial distribution.
fn is_wrong_beyond(delta: f64, policy: &PolicyResult, result: &ResultFile) -> bool {
    let Some((correct, Some(stopped))) = policy.answers().map(|answers| (answers.correct, answers.stopped))
    else {
        return false;
    };
    let right = (1.0 - (stopped - correct)) * result.runs as f64;
    let right = libm::round(right).to_u64().unwrap_or(result.runs);
    binomial_up_to(right, result.runs, 1.0 - delta) <= LEVEL / result.policies.len() as f64
}

struct Test {
    /// The runs, or fewer if several of them share users or instances.
    observations: u64,
    runs_of_each: u64,
    family: Family,
}

impl Test {
    fn freedom(&self) -> u64 {
        self.observations.saturating_sub(1)
    }

    /// Returns whether a mean is surely above zero.
    fn is_above(&self, MeanAndError { mean, se }: MeanAndError) -> bool {
        mean > 0.0 && self.family.is_significant(statistic(mean, se), self.freedom())
    }

    fn compare(&self, result: &ResultFile, better: &Place, worse: &Place) -> Option<Pair> {
        let is_of = |a: &str, b: &str| a == better.label && b == worse.label;
        let paired = result.paired.iter().find(|pair| is_of(&pair.a, &pair.b) || is_of(&pair.b, &pair.a))?;
        // The file has `a - b`.
        let sign = if is_of(&paired.b, &paired.a) { 1.0 } else { -1.0 };
        let signed =
            |difference: MeanAndError| MeanAndError { mean: sign * difference.mean, se: difference.se };
        let (mut since, mut less_often_right) = (None, None);
        let end = match &paired.difference {
            Difference::Curves { t, regret, .. } => {
                let rounds = t.iter().zip(regret.mean.iter().zip(&regret.se));
                let ahead = |&(_, (&mean, &se)): &(&u64, (&f64, &f64))| {
                    self.is_above(signed(MeanAndError { mean, se }))
                };
                since = rounds.rev().take_while(ahead).last().map(|(&t, _)| t);
                signed(MeanAndError { mean: *regret.mean.last()?, se: *regret.se.last()? })
            }
            Difference::Answers { stopping_time: Some(time), correct, .. } => {
                less_often_right = Some(self.is_above(signed(*correct)));
                signed(*time)
            }
            // A policy that is right more often is wrong less often.
            Difference::Answers { correct, .. } => {
                signed(MeanAndError { mean: -correct.mean, se: correct.se })
            }
        };
        // Means that are equal but for rounding may have a difference with the other sign.
        let difference = end.mean.max(0.0);
        let z = statistic(difference, end.se);
        let told_apart = self.is_above(end);
        Some(Pair {
            better: better.label.clone(),
            worse: worse.label.clone(),
            difference,
            se: Some(end.se).filter(|se| !se.is_nan()),
            z: Some(z).filter(|z| self.observations > 1 && z.is_finite()),
            p: (self.observations > 1).then(|| self.family.p(z, self.freedom())),
            told_apart,
            since,
            runs_needed: if told_apart { None } else { self.runs_needed(difference, end.se) },
            less_often_right,
            share_of_users: paired.difference.share_of_users(),
        })
    }

    /// As [`Pair::runs_needed`], rounded up to two digits; at most a billion.
    fn runs_needed(&self, difference: f64, se: f64) -> Option<u64> {
        if self.observations < 2 || difference <= 0.0 || se.is_nan() {
            return None;
        }
        let one_sided = LEVEL / 2.0 / self.family.comparisons as f64;
        let (fewest, statistic) = (fewest_runs(LEVEL), difference / se);
        let needed = observations_needed(one_sided, fewest, FOUR_IN_FIVE, statistic, self.observations)?;
        let needed = Some(needed).filter(|needed| *needed <= 1e9)?.max(self.observations as f64 + 1.0);
        rounded_up(self.runs_of_each as f64 * needed)
    }
}

/// The next integer with at most two digits that are not zero.
fn rounded_up(number: f64) -> Option<u64> {
    let unit = libm::exp10(libm::floor(libm::log10(number)) - 1.0).max(1.0);
    (libm::ceil(number / unit) * unit).to_u64()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn name_of_value<S: Serializer>(value: &EndValue, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match value {
        EndValue::Regret => "regret",
        EndValue::Accuracy => "accuracy",
        EndValue::Answer(quantity) => quantity.name(),
    })
}

/// A value with its standard error, if it is known, and without a unit.
pub(crate) fn estimate(value: f64, se: Option<f64>) -> String {
    match se {
        Some(se) => number::with_error(value, se),
        None => number::significant(value, 4),
    }
}

#[cfg(test)]
mod tests;
