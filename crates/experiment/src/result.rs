//! `result.json`: the result of an experiment. Its bytes depend on the experiment only, not on the
//! machine or the number of threads.
//!
//! The runs of a policy are summed up as curves if the task is regret, as answers if policies name
//! the best items. Values that do not apply are absent in the file.

use crate::draws::{DrawsOfRuns, observations, whole_blocks};
use documents::read_json;
use documents::toml_reader::{Error, read_file};
use serde::{Deserialize, Deserializer, Serialize};
use sim::{Identification, Summary};
pub use spec::Bound;
use spec::Task;
use std::borrow::Cow;
use std::path::Path;

/// Version of the layout of `result.json`.
pub const SCHEMA: u32 = 1;

/// The content of `result.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultFile {
    /// Version of this layout.
    pub schema: u32,
    /// The experiment's name.
    pub name: String,
    /// The unit of regret, which is not in the file; a result that was read has the unit "reward".
    #[serde(skip, default = "unit_of_a_file")]
    pub unit: &'static str,
    /// The task of the experiment.
    pub task: Task,
    /// Number of independent runs of each policy.
    pub runs: u64,
    /// The number of runs in a row that meet the same users, if it is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_draw: Option<u64>,
    /// The number of instances, if it is not 1. Means are over blocks that take each once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<u64>,
    /// Rounds of a run, if all runs have the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
    /// The maximal number of rounds of a run, if policies stop by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Master seed.
    pub seed: u64,
    /// One entry for each policy, in the order of the spec.
    pub policies: Vec<PolicyResult>,
    /// One entry for every pair of policies; `a` comes before `b` in the spec.
    pub paired: Vec<Contrast>,
    /// Theoretical bounds, mean over the instances. If users differ, also the regret of one list
    /// for all of them, and of one for each segment.
    pub bounds: Vec<Bound>,
    /// The expected clicks of a best list on the instances that the runs drew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimum: Option<Optimum>,
}

fn unit_of_a_file() -> &'static str {
    "reward"
}

/// Reads a standard error, which is null if it is unknown.
fn or_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

fn each_or_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let errors: Vec<Option<f64>> = Vec::deserialize(deserializer)?;
    Ok(errors.into_iter().map(|error| error.unwrap_or(f64::NAN)).collect())
}

/// The result of one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// Its name in this experiment.
    pub label: String,
    /// Its name in the catalogue.
    pub policy: String,
    /// The probability of a wrong answer that it keeps below, if it stops with such a guarantee;
    /// not in the file.
    #[serde(skip)]
    pub delta: Option<f64>,
    /// The summary of its runs.
    #[serde(flatten)]
    pub summary: PolicySummary,
}

/// The runs of a policy, summed up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PolicySummary {
    /// Regret and clicks at checkpoints.
    Curves(Curves),
    /// Answers to the question which items are best.
    Answers(Answers),
}

/// Regret, clicks and accuracy of a policy at every checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// Checkpoints, 1-based rounds.
    pub t: Vec<u64>,
    /// Cumulative expected regret over the runs.
    pub regret: Spread,
    /// Cumulative realised clicks over the runs.
    pub clicks: MeanSe,
    /// Share of the runs that would recommend the best item; empty without recommendations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accuracy: Vec<f64>,
}

/// Statistics of which nothing is known.
const UNKNOWN: Summary = Summary {
    mean: f64::NAN,
    standard_error: f64::NAN,
    min: f64::NAN,
    max: f64::NAN,
    q10: f64::NAN,
    q90: f64::NAN,
};

impl Curves {
    /// Statistics at a checkpoint, by their names in `curves.csv`; what is unknown is NaN.
    pub fn at(&self, checkpoint: usize) -> Vec<(&'static str, Summary)> {
        let (mean, standard_error) = (self.clicks.mean[checkpoint], self.clicks.se[checkpoint]);
        let clicks = Summary { mean, standard_error, ..UNKNOWN };
        let accuracy = self.accuracy.get(checkpoint).map(|share| Summary { mean: *share, ..UNKNOWN });
        let all = [("regret", self.regret.at(checkpoint)), ("clicks", clicks)];
        all.into_iter().chain(accuracy.map(|share| ("accuracy", share))).collect()
    }
}

impl PolicyResult {
    /// Returns whether it is `oracle`, which knows the users and does not compete with policies
    /// that learn.
    pub fn knows_users(&self) -> bool {
        self.policy == "oracle"
    }

    /// Its curves, if regret was measured.
    pub fn curves(&self) -> Option<&Curves> {
        match &self.summary {
            PolicySummary::Curves(curves) => Some(curves),
            PolicySummary::Answers(_) => None,
        }
    }

    /// Statistics at the end of its runs, by their names in `curves.csv`; what is unknown is NaN.
    pub fn at_the_end(&self) -> Vec<(&'static str, Summary)> {
        match &self.summary {
            PolicySummary::Curves(curves) => {
                curves.t.len().checked_sub(1).map_or_else(Vec::new, |last| curves.at(last))
            }
            PolicySummary::Answers(Answers { stopping_time, observations, correct, stopped }) => {
                let time = stopping_time.map(|Extent { mean, se, min, max }| {
                    ("stopping_time", Summary { mean, standard_error: se, min, max, ..UNKNOWN })
                });
                let MeanAndError { mean, se } = *observations;
                let observations = ("observations", Summary { mean, standard_error: se, ..UNKNOWN });
                let shares = [("correct", Some(*correct)), ("stopped", *stopped)];
                let share =
                    |(name, share): (_, Option<f64>)| Some((name, Summary { mean: share?, ..UNKNOWN }));
                time.into_iter().chain([observations]).chain(shares.into_iter().filter_map(share)).collect()
            }
        }
    }

    /// Its answers, if policies named the best items.
    pub fn answers(&self) -> Option<&Answers> {
        match &self.summary {
            PolicySummary::Curves(_) => None,
            PolicySummary::Answers(answers) => Some(answers),
        }
    }
}

impl ResultFile {
    /// Reads a `result.json`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has another layout, or has lists of another length than its
    /// checkpoints.
    pub fn read(path: &Path) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Head {
            schema: u64,
        }
        let (file, text) = (path.display().to_string(), read_file(path, "a result.json")?);
        let Head { schema } = read_json(&file, &text, "a result.json")?;
        if schema != u64::from(SCHEMA) {
            return Err(Error::whole_file(&file, format!("schema: {schema} found: expected {SCHEMA}")));
        }
        let result: Self = read_json(&file, &text, "a result.json")?;
        match result.contradiction() {
            None => Ok(result),
            Some((field, fault)) => Err(Error::whole_file(&file, format!("{field}: {fault}"))),
        }
    }

    /// The file's content.
    ///
    /// # Panics
    ///
    /// Never: every value of a result can be written as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec(self).expect("a result has only numbers and text");
        text.push(b'\n');
        text
    }

    /// The first contradiction (field and fault): a list of the wrong length, or values that do not
    /// belong to the task.
    fn contradiction(&self) -> Option<(String, String)> {
        let length = |field: String, found: usize, wanted: usize| {
            (found != wanted).then(|| (field, format!("{found} numbers for {wanted} checkpoints")))
        };
        let of_policy = |(index, policy): (usize, &PolicyResult)| match (&policy.summary, self.task) {
            (PolicySummary::Curves(Curves { t, regret, clicks, accuracy }), Task::Regret) => {
                let field = |name: &str| format!("policies[{index}].{name}");
                let columns = [
                    ("regret.mean", &regret.mean),
                    ("regret.se", &regret.se),
                    ("regret.min", &regret.min),
                    ("regret.max", &regret.max),
                    ("regret.q10", &regret.q10),
                    ("regret.q90", &regret.q90),
                    ("clicks.mean", &clicks.mean),
                    ("clicks.se", &clicks.se),
                ];
                let accuracy = Some(("accuracy", accuracy)).filter(|(_, column)| !column.is_empty());
                let mut columns = columns.into_iter().chain(accuracy);
                if !t.is_sorted_by(|earlier, later| earlier < later) || t.first() == Some(&0) {
                    return Some((
                        field("t"),
                        "expected rounds from 1 on, each later than the one before".to_owned(),
                    ));
                }
                columns.find_map(|(name, column)| length(field(name), column.len(), t.len()))
            }
            (PolicySummary::Answers(_), Task::Identify | Task::Budget) => None,
            _ => Some((format!("policies[{index}]"), format!("not what task {:?} leaves", self.task.name()))),
        };
        let of_bound = |(index, bound): (usize, &Bound)| {
            let wanted = if bound.t.is_empty() { 1 } else { bound.t.len() };
            length(format!("bounds[{index}].value"), bound.value.len(), wanted)
        };
        let of_optimum = |optimum: &Optimum| {
            let MeanSe { mean, se } = &optimum.clicks;
            let mut columns = [("optimum.clicks.mean", mean), ("optimum.clicks.se", se)].into_iter();
            columns.find_map(|(name, column)| length(name.to_owned(), column.len(), optimum.t.len()))
        };
        let of_pair = |(index, paired): (usize, &Contrast)| {
            let Difference::Curves { t, regret, .. } = &paired.difference else { return None };
            let wrong = [&regret.mean, &regret.se].into_iter().find(|column| column.len() != t.len())?;
            length(format!("paired[{index}].regret"), wrong.len(), t.len())
        };
        if self.runs == 0 {
            return Some(("runs".to_owned(), "0 found: expected at least 1".to_owned()));
        }
        let labels: Vec<&str> = self.policies.iter().map(|policy| policy.label.as_str()).collect();
        if let Some(again) = (1..labels.len()).find(|&index| labels[..index].contains(&labels[index])) {
            return Some((
                format!("policies[{again}].label"),
                format!("{:?} is already used", labels[again]),
            ));
        }
        let of_policies = self.policies.iter().enumerate().find_map(of_policy);
        let of_bounds = || self.bounds.iter().enumerate().find_map(of_bound);
        let of_pairs = || self.paired.iter().enumerate().find_map(of_pair);
        of_policies
            .or_else(of_bounds)
            .or_else(of_pairs)
            .or_else(|| self.optimum.as_ref().and_then(of_optimum))
    }

    /// The number of runs that make one independent observation: one for every instance, times
    /// those that meet the same users.
    pub fn runs_per_observation(&self) -> u64 {
        self.runs_per_draw.unwrap_or(1).max(1).saturating_mul(self.instances.unwrap_or(1).max(1))
    }

    /// The number of independent observations, on which standard errors and tests stand.
    pub fn observations(&self) -> u64 {
        self.runs / self.runs_per_observation()
    }

    /// Independent observations of these values of the runs: the means of whole blocks.
    pub fn observed<'a>(&self, values: &'a [f64]) -> Cow<'a, [f64]> {
        observations(values, usize::try_from(self.runs_per_observation()).unwrap_or(usize::MAX))
    }

    /// Keeps the runs that make whole observations; all of them if they make none.
    pub fn whole_blocks<'a, T>(&self, runs: &'a [T]) -> &'a [T] {
        whole_blocks(runs, usize::try_from(self.runs_per_observation()).unwrap_or(usize::MAX))
    }

    /// The value by which policies are compared at the end of a run.
    pub fn outcome(&self) -> EndValue {
        EndValue::of_task(self.task)
    }

    /// The regret of one list for all users at the end, if users differ and it has one.
    pub fn lost_by_one_list(&self) -> Option<f64> {
        let bound = self.bounds.iter().find(|bound| bound.label == Bound::BEST_LIST)?;
        bound.value.last().copied().filter(|lost| *lost > 0.0)
    }

    /// The policy with this label.
    pub fn policy(&self, label: &str) -> Option<&PolicyResult> {
        self.policies.iter().find(|policy| policy.label == label)
    }

    /// The standard error of a share of runs, NaN of a single observation. If shares differ between
    /// instances, it is smaller than this.
    pub fn error_of_share(&self, share: f64) -> f64 {
        let draws = self.observations() * self.instances.unwrap_or(1);
        match self.observations() {
            0 | 1 => f64::NAN,
            _ => (share * (1.0 - share) / (draws - 1) as f64).max(0.0).sqrt(),
        }
    }

    /// A value of a policy at the end of a run: mean over the runs and standard error, NaN if it is
    /// unknown. `None` if the policy has no such value.
    pub fn at_the_end(&self, label: &str, value: EndValue) -> Option<(f64, f64)> {
        let policy = self.policy(label)?;
        let share = |share: f64| (share, self.error_of_share(share));
        match (value, &policy.summary) {
            (EndValue::Regret, PolicySummary::Curves(Curves { regret, .. })) => {
                Some((*regret.mean.last()?, *regret.se.last()?))
            }
            (EndValue::Accuracy, PolicySummary::Curves(Curves { accuracy, .. })) => {
                accuracy.last().map(|accuracy| share(*accuracy))
            }
            (EndValue::Answer(quantity), PolicySummary::Answers(answers)) => {
                let stopped = answers.stopped.unwrap_or(1.0);
                match quantity {
                    Quantity::StoppingTime => answers.stopping_time.map(|time| (time.mean, time.se)),
                    Quantity::Observations => Some((answers.observations.mean, answers.observations.se)),
                    Quantity::Wrong => Some(share(stopped - answers.correct)),
                    Quantity::Capped => answers.stopped.map(|stopped| share(1.0 - stopped)),
                }
            }
            _ => None,
        }
    }
}

/// A value at the end of a run, by which policies are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndValue {
    /// Cumulative expected regret at the last checkpoint.
    Regret,
    /// Share of the runs that would recommend the best item at the last checkpoint.
    Accuracy,
    /// A quantity of runs that end with an answer.
    Answer(Quantity),
}

impl EndValue {
    /// The value by which policies of a task are compared.
    pub fn of_task(task: Task) -> Self {
        match task {
            Task::Regret => Self::Regret,
            Task::Identify => Self::Answer(Quantity::StoppingTime),
            Task::Budget => Self::Answer(Quantity::Wrong),
        }
    }

    /// The name for readers of its mean over runs.
    pub fn words(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::Accuracy => "accuracy, share of runs",
            Self::Answer(quantity) => quantity.words(),
        }
    }

    /// The heading of a table or figure of this value.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Regret => "Regret at the end",
            Self::Accuracy => "Accuracy at the end",
            Self::Answer(Quantity::StoppingTime) => "Stopping time",
            Self::Answer(Quantity::Observations) => "Observations",
            Self::Answer(Quantity::Wrong) => "Wrong answers",
            Self::Answer(Quantity::Capped) => "Runs without an answer",
        }
    }
}

/// The answers of a policy's runs, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Rounds until the policy stopped; a run that did not stop counts with the maximal number.
    /// `None` if every run has the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping_time: Option<Extent>,
    /// Items observed in all rounds of a run.
    pub observations: MeanAndError,
    /// Share of runs with the right answer.
    pub correct: f64,
    /// Share of runs that stopped; `None` if policies do not stop by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<f64>,
}

impl Answers {
    /// Sums up these runs; `None` without a run. `stops`: whether runs end when the policy stops.
    pub(crate) fn of(runs: &[Identification], stops: bool, draws: &DrawsOfRuns) -> Option<Self> {
        let sample = |quantity: Quantity| -> Vec<f64> { runs.iter().map(|run| quantity.of(run)).collect() };
        let time = draws.summary(&sample(Quantity::StoppingTime))?;
        Some(Self {
            stopping_time: stops.then_some(Extent {
                mean: time.mean,
                se: time.standard_error,
                min: time.min,
                max: time.max,
            }),
            observations: draws.mean_and_error(&sample(Quantity::Observations)),
            correct: draws.share(runs, |run| run.correct),
            stopped: stops.then(|| draws.share(runs, |run| run.answered)),
        })
    }
}

/// Mean over runs, its standard error, smallest and largest value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// Mean over the runs.
    pub mean: f64,
    /// Standard error of the mean; NaN, in files null, if there is a single observation.
    #[serde(deserialize_with = "or_unknown")]
    pub se: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

/// Mean over runs and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanAndError {
    /// Mean over the runs.
    pub mean: f64,
    /// Standard error of the mean; NaN, in files null, if there is a single observation.
    #[serde(deserialize_with = "or_unknown")]
    pub se: f64,
}

/// Mean, standard error of the mean, and spread over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Spread {
    /// Mean over the runs.
    pub mean: Vec<f64>,
    /// Standard error of the mean; NaN, in files null, if there is a single observation.
    #[serde(deserialize_with = "each_or_unknown")]
    pub se: Vec<f64>,
    /// Smallest value.
    pub min: Vec<f64>,
    /// Largest value.
    pub max: Vec<f64>,
    /// First decile.
    pub q10: Vec<f64>,
    /// Last decile.
    pub q90: Vec<f64>,
}

impl Spread {
    /// Adds the next checkpoints, each with the values of all runs.
    pub(crate) fn add_all(&mut self, samples: &[Vec<f64>], draws: &DrawsOfRuns) {
        for sample in samples {
            self.add(sample, draws);
        }
    }

    /// Adds the next checkpoint, with the values of all runs.
    pub(crate) fn add(&mut self, sample: &[f64], draws: &DrawsOfRuns) {
        if let Some(summary) = draws.summary(sample) {
            self.mean.push(summary.mean);
            self.se.push(summary.standard_error);
            self.min.push(summary.min);
            self.max.push(summary.max);
            self.q10.push(summary.q10);
            self.q90.push(summary.q90);
        }
    }

    /// The statistics at a checkpoint.
    pub fn at(&self, checkpoint: usize) -> Summary {
        Summary {
            mean: self.mean[checkpoint],
            standard_error: self.se[checkpoint],
            min: self.min[checkpoint],
            max: self.max[checkpoint],
            q10: self.q10[checkpoint],
            q90: self.q90[checkpoint],
        }
    }
}

/// Mean, standard error, range and quantiles of regret, clicks and accuracy over the runs of a
/// policy, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spreads {
    /// Cumulative expected regret.
    pub regret: Spread,
    /// Cumulative realised clicks.
    pub clicks: Spread,
    /// 1 if the recommended item would be best, 0 otherwise; `None` without recommendations.
    pub accuracy: Option<Spread>,
}

/// Mean and standard error of the mean over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MeanSe {
    /// Mean over the runs.
    pub mean: Vec<f64>,
    /// Standard error of the mean; NaN, in files null, if there is a single observation.
    #[serde(deserialize_with = "each_or_unknown")]
    pub se: Vec<f64>,
}

/// Differences between two policies, `a - b`, over the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// Label of the first policy.
    pub a: String,
    /// Label of the second policy.
    pub b: String,
    /// Their differences.
    #[serde(flatten)]
    pub difference: Difference,
}

/// A difference between two policies over the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Difference {
    /// Differences of regret at every checkpoint.
    Curves {
        /// Checkpoints, 1-based rounds.
        t: Vec<u64>,
        /// Cumulative expected regret.
        regret: MeanSe,
        /// The share of the variance over runs at the last checkpoint that comes from the users;
        /// `None` if every run has its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_of_users: Option<MeanAndError>,
    },
    /// Differences of answers.
    Answers {
        /// Rounds until the policy stopped; `None` if every run has the same number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopping_time: Option<MeanAndError>,
        /// Items observed in all rounds of a run.
        observations: MeanAndError,
        /// 1 for a right answer, 0 otherwise.
        correct: MeanAndError,
        /// The share of the variance of the stopping time, or of right answers, from the users.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_of_users: Option<MeanAndError>,
    },
}

impl Difference {
    /// The share of the variance from the users; `None` if every run has users of its own.
    pub fn share_of_users(&self) -> Option<MeanAndError> {
        match self {
            Self::Curves { share_of_users, .. } | Self::Answers { share_of_users, .. } => *share_of_users,
        }
    }
}

/// Cumulative expected clicks of a best list over the runs' instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// Checkpoints, 1-based rounds.
    pub t: Vec<u64>,
    /// One number for each checkpoint.
    pub clicks: MeanSe,
}

/// A quantity of a run that ends with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Rounds until the policy stopped; the maximal number if it did not.
    StoppingTime,
    /// Items observed.
    Observations,
    /// 1 if the run gave a wrong answer, 0 otherwise.
    Wrong,
    /// 1 if the run ended without an answer, 0 otherwise.
    Capped,
}

impl Quantity {
    /// Every quantity.
    pub const ALL: [Self; 4] = [Self::StoppingTime, Self::Observations, Self::Wrong, Self::Capped];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::StoppingTime => "stopping-time",
            Self::Observations => "observations",
            Self::Wrong => "wrong",
            Self::Capped => "capped",
        }
    }

    /// The name for readers of its mean over runs.
    pub fn words(self) -> &'static str {
        match self {
            Self::StoppingTime => "stopping time",
            Self::Observations => "observations",
            Self::Wrong => "wrong answers, share of runs",
            Self::Capped => "runs without an answer, share",
        }
    }

    /// The name for readers of the difference of two means.
    pub fn difference(self) -> &'static str {
        match self {
            Self::StoppingTime => "difference of stopping times",
            Self::Observations => "difference of observations",
            Self::Wrong => "difference of shares of wrong answers",
            Self::Capped => "difference of shares without an answer",
        }
    }

    /// Its value in a run.
    pub fn of(self, run: &Identification) -> f64 {
        match self {
            Self::StoppingTime => run.steps as f64,
            Self::Observations => run.observations as f64,
            Self::Wrong => f64::from(u8::from(run.answered && !run.correct)),
            Self::Capped => f64::from(u8::from(!run.answered)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;
    use crate::synthetic::Synthetic as _;
    use std::fs;

    fn written(text: &str) -> Result<ResultFile, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("result.json");
        fs::write(&path, text).unwrap();
        ResultFile::read(&path).map_err(|error| error.to_string().replace(&path.display().to_string(), "F"))
    }

    #[test]
    fn a_written_result_is_read_back_unchanged() {
        let run = |steps| Identification { steps, observations: 2 * steps, answered: true, correct: true };
        let runs = vec![run(3), run(5)];
        for mut measured in [
            Measurement::synthetic(&[1, 10], &[("a", vec![vec![0.1, 0.3], vec![0.2, 1e-17]])])
                .with_bound("b", 2.0),
            Measurement::of_answers(Task::Identify, 9, &[("a", runs.clone())]),
            Measurement::of_answers(Task::Budget, 9, &[("a", runs)]),
        ] {
            let text = String::from_utf8(measured.result.to_json()).unwrap();
            measured.result.unit = "reward";
            assert_eq!(written(&text).unwrap(), measured.result);
        }
    }

    #[test]
    fn a_file_that_is_not_a_result_is_refused() {
        let measured = Measurement::synthetic(&[1, 10], &[("a", vec![vec![0.1, 0.3]])]);
        let text = String::from_utf8(measured.result.to_json()).unwrap();
        for (from, to, expected) in [
            ("\"schema\":1", "\"schema\":2", "F: schema: 2 found: expected 1"),
            ("\"schema\":1,", "", "F:1:"),
            ("\"t\":[1,10]", "\"t\":[1,10,100]", "F: policies[0].regret.mean: 2 numbers for 3 checkpoints"),
            (
                "\"task\":\"regret\"",
                "\"task\":\"identify\"",
                "F: policies[0]: not what task \"identify\" leaves",
            ),
            ("\"task\":\"regret\"", "\"task\":\"guess\"", "F:1:"),
            ("\"runs\":1", "\"runs\":-1", "F:1:"),
            ("\"runs\":1", "\"runs\":0", "F: runs: 0 found"),
            ("\"t\":[1,10]", "\"t\":[10,1]", "F: policies[0].t: expected rounds from 1 on"),
            ("}", "", "F:1:"),
        ] {
            let message = written(&text.replacen(from, to, 1)).unwrap_err();
            assert!(message.starts_with(expected), "{message:?} instead of {expected:?}");
        }
        for text in ["", "[]", "null", "{}", "\u{0}", &text[..40], &"[".repeat(5000)] {
            written(text).unwrap_err();
        }
        let missing = ResultFile::read(Path::new("no-such-file")).unwrap_err().to_string();
        assert!(missing.starts_with("no-such-file: cannot be read"), "{missing}");
    }
}
