//! `result.json`: what an experiment found, the same bytes wherever and however it was run.

use serde::{Deserialize, Serialize};

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
    /// What was done: `"regret"`.
    pub(crate) task: String,
    /// Independent runs.
    pub(crate) runs: u64,
    /// Rounds of a run.
    pub(crate) horizon: u64,
    /// Master seed.
    pub(crate) seed: u64,
    /// One entry a policy, in the order of the spec.
    pub(crate) policies: Vec<PolicyResult>,
    /// One entry for every pair of policies, the earlier one of the spec first.
    pub(crate) paired: Vec<Paired>,
    /// Theoretical bounds, mean over the instances.
    pub(crate) bounds: Vec<Bound>,
    /// What always playing a best list collects on the instances that the runs drew, in expected clicks.
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
    pub(crate) t: Vec<u64>,
    /// Cumulative expected regret at the checkpoints, over the runs.
    pub(crate) regret: Spread,
    /// Cumulative realised clicks at the checkpoints, over the runs.
    pub(crate) clicks: MeanSe,
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

/// Mean and standard error of the mean over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeanSe {
    pub(crate) mean: Vec<f64>,
    pub(crate) se: Vec<f64>,
}

/// Difference of two policies' regrets, `a - b`, over the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Paired {
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) t: Vec<u64>,
    pub(crate) regret: MeanSe,
}

/// A bound on the cumulative regret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) label: String,
    pub(crate) t: Vec<u64>,
    pub(crate) value: Vec<f64>,
}

/// Cumulative expected clicks of a best list over the runs' instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Optimum {
    pub(crate) t: Vec<u64>,
    pub(crate) clicks: MeanSe,
}

/// What one experiment measured: its result, and the regret of every run that the result sums up.
///
/// Experiments with the same seed meet the same users run by run, so what is compared across them is compared on these.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// What the file says.
    pub(crate) result: ResultFile,
    /// Cumulative expected regret of every policy (in the order of the result), run and checkpoint.
    pub(crate) regrets: Vec<Vec<Vec<f64>>>,
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
                let summary = sim::Summary::of(&at(runs, index)).unwrap();
                regret.mean.push(summary.mean);
                regret.se.push(summary.standard_error);
                regret.min.push(summary.min);
                regret.max.push(summary.max);
                regret.q10.push(summary.q10);
                regret.q90.push(summary.q90);
            }
            let (label, policy) = ((*label).to_owned(), (*label).to_owned());
            let clicks = MeanSe { mean: times(9.0), se: times(0.1) };
            PolicyResult { label, policy, t: t.to_vec(), regret, clicks }
        };
        let result = ResultFile {
            schema: 1,
            name: "synthetic".to_owned(),
            unit: "clicks",
            task: "regret".to_owned(),
            runs: policies.first().map_or(1, |(_, runs)| runs.len() as u64),
            horizon: t[t.len() - 1],
            seed: 1,
            policies: policies.iter().map(of).collect(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: times(0.0) } },
        };
        let regrets = policies.iter().map(|(_, runs)| runs.clone()).collect();
        Self { result, regrets }
    }

    /// The same with a bound that is this factor times `ln t`.
    pub(crate) fn with_bound(mut self, label: &str, factor: f64) -> Self {
        let t = self.result.optimum.t.clone();
        let value = t.iter().map(|&t| factor * confidence::math::ln(t as f64)).collect();
        self.result.bounds.push(Bound { label: label.to_owned(), t, value });
        self
    }
}
