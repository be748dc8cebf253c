//! `result.json`: what an experiment found, the same bytes wherever and however it was run.
//!
//! What does not apply is empty or none, and absent in the file: where regret is measured, answers; where policies are asked for the best
//! items, everything that has checkpoints.

use serde::{Deserialize, Serialize};
use sim::{Identification, Summary, mean_and_error};

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResultFile {
    /// Version of this layout.
    pub(crate) schema: u32,
    /// The experiment's name.
    pub(crate) name: String,
    /// What regret is counted in; not in the file.
    #[serde(skip)]
    pub(crate) unit: &'static str,
    /// What was done: `"regret"`, `"identify"` or `"budget"`.
    pub(crate) task: String,
    /// Independent runs.
    pub(crate) runs: u64,
    /// Rounds of a run, if all have the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) horizon: Option<u64>,
    /// The most rounds of a run, if policies stop by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_steps: Option<u64>,
    /// Master seed.
    pub(crate) seed: u64,
    /// One entry a policy, in the order of the spec.
    pub(crate) policies: Vec<PolicyResult>,
    /// One entry for every pair of policies, the earlier one of the spec first.
    pub(crate) paired: Vec<Paired>,
    /// Theoretical bounds, mean over the instances.
    pub(crate) bounds: Vec<Bound>,
    /// What always playing a best list collects on the instances that the runs drew, in expected clicks.
    #[serde(default, skip_serializing_if = "Optimum::is_empty")]
    pub(crate) optimum: Optimum,
}

/// What one policy did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicyResult {
    /// Name in this experiment.
    pub(crate) label: String,
    /// The policy's own name.
    pub(crate) policy: String,
    /// Checkpoints, 1-based rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) t: Vec<u64>,
    /// Cumulative expected regret at the checkpoints, over the runs.
    #[serde(default, skip_serializing_if = "Spread::is_empty")]
    pub(crate) regret: Spread,
    /// Cumulative realised clicks at the checkpoints, over the runs.
    #[serde(default, skip_serializing_if = "MeanSe::is_empty")]
    pub(crate) clicks: MeanSe,
    /// Share of the runs that would recommend the best item at the checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) accuracy: Vec<f64>,
    /// What it said of the best items.
    #[serde(flatten)]
    pub(crate) answers: Option<Answers>,
}

impl ResultFile {
    /// What policies are compared by at the end of a run.
    pub(crate) fn outcome(&self) -> EndValue {
        EndValue::of_task(&self.task)
    }

    /// The policy of a label.
    pub(crate) fn policy(&self, label: &str) -> Option<&PolicyResult> {
        self.policies.iter().find(|policy| policy.label == label)
    }

    /// Mean over runs and standard error of what a policy has at the end of a run; none if it has no such value.
    pub(crate) fn at_the_end(&self, label: &str, value: EndValue) -> Option<(f64, f64)> {
        let policy = self.policy(label)?;
        let share = |share: f64| {
            let spread = share * (1.0 - share) / (self.runs.max(2) - 1) as f64;
            (share, spread.max(0.0).sqrt())
        };
        match value {
            EndValue::Regret => Some((*policy.regret.mean.last()?, *policy.regret.se.last()?)),
            EndValue::Accuracy => policy.accuracy.last().map(|accuracy| share(*accuracy)),
            EndValue::Answer(quantity) => {
                let answers = policy.answers?;
                let stopped = answers.stopped.unwrap_or(1.0);
                match quantity {
                    Quantity::StoppingTime => answers.stopping_time.map(|time| (time.mean, time.se)),
                    Quantity::Observations => Some((answers.observations.mean, answers.observations.se)),
                    Quantity::Wrong => Some(share(stopped - answers.correct)),
                    Quantity::Capped => answers.stopped.map(|stopped| share(1.0 - stopped)),
                }
            }
        }
    }
}

/// A value that policies are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndValue {
    /// Cumulative expected regret at the last checkpoint.
    Regret,
    /// Share of the runs that would recommend the best item at the last checkpoint.
    Accuracy,
    /// A quantity of runs that end with an answer.
    Answer(Quantity),
}

impl EndValue {
    /// What a task, by its name, is about.
    pub(crate) fn of_task(task: &str) -> Self {
        match task {
            "identify" => Self::Answer(Quantity::StoppingTime),
            "budget" => Self::Answer(Quantity::Wrong),
            _ => Self::Regret,
        }
    }

    /// What readers call its mean over runs.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::Accuracy => "accuracy, share of runs",
            Self::Answer(quantity) => quantity.words(),
        }
    }

    /// The same as a heading.
    pub(crate) fn heading(self) -> &'static str {
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

/// What the answers of a policy's runs were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answers {
    /// Rounds until it stopped, the most that were allowed where it did not; none where every run has the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopping_time: Option<Extent>,
    /// Items observed in all rounds of a run.
    pub(crate) observations: Estimate,
    /// Share of runs whose answer is right.
    pub(crate) correct: f64,
    /// Share of runs that stopped; none where they are not asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopped: Option<f64>,
}

impl Answers {
    /// Those of these runs, none if there are no runs; `stops`: they end when the policy stops.
    pub(crate) fn of(runs: &[Identification], stops: bool) -> Option<Self> {
        let sample = |quantity: Quantity| -> Vec<f64> { runs.iter().map(|run| quantity.of(run)).collect() };
        let share = |holds: fn(&Identification) -> bool| {
            runs.iter().filter(|run| holds(run)).count() as f64 / runs.len() as f64
        };
        let time = Summary::of(&sample(Quantity::StoppingTime))?;
        let (mean, se) = mean_and_error(&sample(Quantity::Observations));
        Some(Self {
            stopping_time: stops.then_some(Extent {
                mean: time.mean,
                se: time.standard_error,
                min: time.min,
                max: time.max,
            }),
            observations: Estimate { mean, se },
            correct: share(|run| run.correct),
            stopped: stops.then(|| share(|run| run.answered)),
        })
    }
}

/// Mean over runs, its standard error, smallest and largest value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub(crate) mean: f64,
    pub(crate) se: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// Mean over runs and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) se: f64,
}

/// Mean, standard error of the mean, and spread over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) mean: Vec<f64>,
    pub(crate) se: Vec<f64>,
    pub(crate) min: Vec<f64>,
    pub(crate) max: Vec<f64>,
    pub(crate) q10: Vec<f64>,
    pub(crate) q90: Vec<f64>,
}

impl Spread {
    fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }
}

/// Mean and standard error of the mean over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct MeanSe {
    pub(crate) mean: Vec<f64>,
    pub(crate) se: Vec<f64>,
}

impl MeanSe {
    fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }
}

/// Differences between two policies, `a - b`, over the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Paired {
    pub(crate) a: String,
    pub(crate) b: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) t: Vec<u64>,
    #[serde(default, skip_serializing_if = "MeanSe::is_empty")]
    pub(crate) regret: MeanSe,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopping_time: Option<Estimate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) observations: Option<Estimate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) correct: Option<Estimate>,
}

/// A bound on the cumulative regret at every checkpoint, or, without any, on the mean stopping time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) label: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) t: Vec<u64>,
    pub(crate) value: Vec<f64>,
}

impl Bound {
    /// What readers call it: the lower bounds on regret are what regret grows like in the end, and it may be less after any number of rounds.
    pub(crate) fn reader_name(&self) -> String {
        let is_of_regret = !self.t.is_empty();
        let asymptotic =
            if is_of_regret && self.label.starts_with("lower bound") { "asymptotic " } else { "" };
        format!("{asymptotic}{}", self.label)
    }
}

/// Cumulative expected clicks of a best list over the runs' instances.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Optimum {
    pub(crate) t: Vec<u64>,
    pub(crate) clicks: MeanSe,
}

impl Optimum {
    fn is_empty(&self) -> bool {
        self.t.is_empty()
    }
}

/// What a run that ends with an answer is looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Rounds until the policy stopped, the most that were allowed where it did not.
    StoppingTime,
    /// Items observed.
    Observations,
    /// 1 if there was an answer and it was wrong.
    Wrong,
    /// 1 if there was no answer.
    Capped,
}

impl Quantity {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::StoppingTime, Self::Observations, Self::Wrong, Self::Capped];

    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::StoppingTime => "stopping-time",
            Self::Observations => "observations",
            Self::Wrong => "wrong",
            Self::Capped => "capped",
        }
    }

    /// What readers call its mean over runs.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::StoppingTime => "stopping time",
            Self::Observations => "observations",
            Self::Wrong => "wrong answers, share of runs",
            Self::Capped => "runs without an answer, share",
        }
    }

    /// What readers call the difference of two means.
    pub(crate) fn difference(self) -> &'static str {
        match self {
            Self::StoppingTime => "difference of stopping times",
            Self::Observations => "difference of observations",
            Self::Wrong => "difference of shares of wrong answers",
            Self::Capped => "difference of shares without an answer",
        }
    }

    /// Its value in a run.
    pub(crate) fn of(self, run: &Identification) -> f64 {
        match self {
            Self::StoppingTime => run.steps as f64,
            Self::Observations => run.observations as f64,
            Self::Wrong => f64::from(u8::from(run.answered && !run.correct)),
            Self::Capped => f64::from(u8::from(!run.answered)),
        }
    }
}

/// What one experiment measured: its result, and what the result sums up of every run.
///
/// Experiments with the same seed meet the same users run by run, so what is compared across them is compared on these.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// What the file says.
    pub(crate) result: ResultFile,
    /// Cumulative expected regret of every policy (in the order of the result), run and checkpoint.
    pub(crate) regrets: Vec<Vec<Vec<f64>>>,
    /// Whether the best item would be recommended, the same way; no checkpoints where nothing is.
    pub(crate) accurate: Vec<Vec<Vec<bool>>>,
    /// Every run of every policy (in the order of the result), where runs end with an answer.
    pub(crate) answers: Vec<Vec<Identification>>,
}

impl Measured {
    /// Index of a policy by its label.
    pub(crate) fn policy(&self, label: &str) -> Option<usize> {
        self.result.policies.iter().position(|policy| policy.label == label)
    }

    /// Regret of a policy in every run, by the indices of policy and checkpoint.
    pub(crate) fn regret(&self, policy: usize, checkpoint: usize) -> Vec<f64> {
        let runs = self.regrets.get(policy).map_or(&[][..], Vec::as_slice);
        runs.iter().filter_map(|run| run.get(checkpoint).copied()).collect()
    }

    /// 1 for every run in which a policy would recommend the best item and 0 for every other, by the indices of policy and checkpoint.
    pub(crate) fn accuracy(&self, policy: usize, checkpoint: usize) -> Vec<f64> {
        let runs = self.accurate.get(policy).map_or(&[][..], Vec::as_slice);
        runs.iter().filter_map(|run| run.get(checkpoint)).map(|&yes| f64::from(u8::from(yes))).collect()
    }

    /// What a policy has at the end of every run, by its index; nothing where runs have no such value.
    pub(crate) fn values(&self, policy: usize, value: EndValue) -> Vec<f64> {
        let last = self.result.policies.get(policy).and_then(|policy| policy.t.len().checked_sub(1));
        match value {
            EndValue::Regret => last.map_or_else(Vec::new, |last| self.regret(policy, last)),
            EndValue::Accuracy => last.map_or_else(Vec::new, |last| self.accuracy(policy, last)),
            EndValue::Answer(quantity) => {
                let runs = self.answers.get(policy).map_or(&[][..], Vec::as_slice);
                runs.iter().map(|run| quantity.of(run)).collect()
            }
        }
    }
}

#[cfg(test)]
impl Measured {
    /// What runs with these regrets (policy, run, checkpoint) measure, where a best list collects ten clicks a round.
    pub(crate) fn synthetic(t: &[u64], policies: &[(&str, Vec<Vec<f64>>)]) -> Self {
        let at =
            |runs: &[Vec<f64>], index: usize| -> Vec<f64> { runs.iter().map(|run| run[index]).collect() };
        let times = |factor: f64| t.iter().map(|&t| factor * t as f64).collect::<Vec<_>>();
        let of = |(label, runs): &(&str, Vec<Vec<f64>>)| {
            let mut regret = Spread::default();
            for index in 0..t.len() {
                let summary = Summary::of(&at(runs, index)).unwrap();
                regret.mean.push(summary.mean);
                regret.se.push(summary.standard_error);
                regret.min.push(summary.min);
                regret.max.push(summary.max);
                regret.q10.push(summary.q10);
                regret.q90.push(summary.q90);
            }
            let (label, policy) = ((*label).to_owned(), (*label).to_owned());
            let clicks = MeanSe { mean: times(9.0), se: times(0.1) };
            PolicyResult { label, policy, t: t.to_vec(), regret, clicks, accuracy: Vec::new(), answers: None }
        };
        let result = ResultFile {
            schema: 1,
            name: "synthetic".to_owned(),
            unit: "clicks",
            task: "regret".to_owned(),
            runs: policies.first().map_or(1, |(_, runs)| runs.len() as u64),
            horizon: Some(t[t.len() - 1]),
            max_steps: None,
            seed: 1,
            policies: policies.iter().map(of).collect(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: times(0.0) } },
        };
        let regrets = policies.iter().map(|(_, runs)| runs.clone()).collect();
        Self { result, regrets, accurate: Vec::new(), answers: Vec::new() }
    }

    /// What runs that end with these answers (policy, run) measure, of at most so many rounds; `task`: `"identify"` or `"budget"`.
    pub(crate) fn of_answers(task: &str, rounds: u64, policies: &[(&str, Vec<Identification>)]) -> Self {
        let stops = task == "identify";
        let mut measured = Self::synthetic(&[rounds], &[]);
        measured.result.task = task.to_owned();
        measured.result.runs = policies[0].1.len() as u64;
        measured.result.horizon = (!stops).then_some(rounds);
        measured.result.max_steps = stops.then_some(rounds);
        measured.result.optimum = Optimum::default();
        measured.result.policies = policies
            .iter()
            .map(|(label, runs)| PolicyResult {
                label: (*label).to_owned(),
                policy: (*label).to_owned(),
                t: Vec::new(),
                regret: Spread::default(),
                clicks: MeanSe::default(),
                accuracy: Vec::new(),
                answers: Answers::of(runs, stops),
            })
            .collect();
        measured.answers = policies.iter().map(|(_, runs)| runs.clone()).collect();
        measured
    }

    /// The same with a bound that is this factor times `ln t`.
    pub(crate) fn with_bound(mut self, label: &str, factor: f64) -> Self {
        let t = self.result.optimum.t.clone();
        let value = t.iter().map(|&t| factor * confidence::math::ln(t as f64)).collect();
        self.result.bounds.push(Bound { label: label.to_owned(), t, value });
        self
    }
}
