//! Statistics over the runs of a policy at every checkpoint.

use crate::draws::DrawsOfRuns;
use crate::result::Spread;

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
}
