//! The gain of a policy over today's lists in the course of a simulation, and when it passes them.
//!
//! A policy gains what today's lists lose, less its own regret. Today's loss is known from more
//! draws of users than there are runs, so the losses of the runs are scaled to its mean.
//!
//! Drawn users nearly always like some list better than today's, even if the log shows none. The
//! lower end of a gain, and the upper end of the time that it takes, therefore come from a
//! *cautious* gain: that of the recommended lists, less the regret.

use crate::{HORIZON, Interval};
use experiment::{JournalError, Measurement, Quantity};
use itertools::Itertools as _;
use serde::Serialize;

/// Regret of a policy and of today's lists, query by query and run by run.
#[derive(Debug)]
pub(crate) struct Gains {
    policy: String,
    rounds: Vec<u64>,
    /// By query.
    runs: Vec<Vec<Run>>,
}

/// Regret by checkpoint.
#[derive(Debug, Clone)]
struct Run {
    of_today: Vec<f64>,
    of_policy: Vec<f64>,
}

/// A query by the draws of users, in clicks per 1,000 lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfDraws<'a> {
    /// Mean loss of today's lists.
    pub(crate) loss: f64,
    /// Gain of the recommended list.
    pub(crate) gain: &'a [f64],
}

/// Clicks gained by run and checkpoint.
struct Curves {
    likely: Vec<Vec<f64>>,
    /// At most what is likely.
    cautious: Vec<Vec<f64>>,
}

/// The gain of a policy over today's lists, and when it passes them.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PolicyGain {
    /// Clicks gained after [`HORIZON`] lists.
    pub gained: Interval,
    /// When it passes them.
    pub passed: PassingTime,
    /// Share of the runs that pass them within [`HORIZON`] lists.
    pub share_passed: f64,
}

/// The lists after which today's are passed for good: the middle run, and the limits of 95 % of the
/// runs. `None`: later than [`HORIZON`], or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PassingTime {
    /// In the middle run.
    pub median: Option<u64>,
    /// Lower end.
    pub lower: Option<u64>,
    /// Upper end.
    pub upper: Option<u64>,
}

impl Gains {
    /// The gains of the policy with the least regret; `None` if no policy but `today` has curves.
    ///
    /// # Errors
    ///
    /// The runs cannot be read.
    pub(crate) fn new(measured: &Measurement, today: &str) -> Result<Option<Self>, JournalError> {
        let runs = &measured.runs;
        let n_checkpoints = runs.n_checkpoints().unwrap_or(0);
        let mut regrets = Vec::new();
        for policy in 0..runs.n_policies() {
            regrets.push(runs.columns(policy, Quantity::Regret, 0..n_checkpoints)?);
        }
        Ok(Self::of_regrets(measured, today, &regrets))
    }

    /// The gains by the regret of each policy (outer index) at each checkpoint in each run.
    fn of_regrets(measured: &Measurement, today: &str, regrets: &[Vec<Vec<f64>>]) -> Option<Self> {
        let labels: Vec<&str> = measured.result.policies.iter().map(|policy| policy.label.as_str()).collect();
        let place = labels.iter().position(|label| *label == today)?;
        let regret = |policy: usize| regrets[policy].last().map_or(0.0, |last| last.iter().sum::<f64>());
        let others = (0..labels.len()).filter(|&policy| policy != place);
        let best = others.min_by(|&a, &b| regret(a).total_cmp(&regret(b)))?;
        let drawn = measured.runs.instances();
        let mut runs = vec![Vec::new(); drawn.iter().max()? + 1];
        for (run, &query) in drawn.iter().enumerate() {
            let [of_today, of_policy] =
                [place, best].map(|policy| regrets[policy].iter().map(|column| column[run]).collect());
            runs[query].push(Run { of_today, of_policy });
        }
        let rounds = measured.result.policies[best].curves()?.t.clone();
        Some(Self { policy: labels[best].to_owned(), rounds, runs })
    }

    /// Adds the runs of the same policy with other users, at the same checkpoints.
    pub(crate) fn add(&mut self, other: Self) {
        if other.rounds == self.rounds && other.policy == self.policy {
            for (runs, others) in self.runs.iter_mut().zip(other.runs) {
                runs.extend(others);
            }
        }
    }

    /// The policy's label.
    pub(crate) fn policy(&self) -> &str {
        &self.policy
    }

    pub(crate) fn of_query(&self, query: usize, draws: OfDraws<'_>) -> PolicyGain {
        self.played(&self.curves(query, draws))
    }

    /// On all queries together, each with its share of the lists.
    pub(crate) fn of_all(&self, shares: &[f64], draws: &[OfDraws<'_>]) -> PolicyGain {
        let of_queries: Vec<Curves> =
            draws.iter().enumerate().map(|(query, draws)| self.curves(query, *draws)).collect();
        let n_runs = self.runs.iter().map(Vec::len).min().unwrap_or(0);
        let together = |of: fn(&Curves) -> &[Vec<f64>]| -> Vec<Vec<f64>> {
            let gain = |run: usize, round: u64| -> f64 {
                let queries = of_queries.iter().zip(shares);
                queries.map(|(curves, share)| self.interpolated(&of(curves)[run], round as f64 * share)).sum()
            };
            (0..n_runs).map(|run| self.rounds.iter().map(|&round| gain(run, round)).collect()).collect()
        };
        let (likely, cautious) = (together(|curves| &curves.likely), together(|curves| &curves.cautious));
        self.played(&Curves { likely, cautious })
    }

    fn curves(&self, query: usize, draws: OfDraws<'_>) -> Curves {
        let runs = &self.runs[query];
        let of_horizon = |run: &Run| run.of_today.last().copied().unwrap_or(0.0) / HORIZON as f64;
        let lost = runs.iter().map(of_horizon).sum::<f64>() / runs.len().max(1) as f64;
        let scale = if lost > 0.0 { draws.loss / 1000.0 / lost } else { 1.0 };
        let likely = |run: &Run| -> Vec<f64> {
            run.of_today.iter().zip(&run.of_policy).map(|(today, policy)| scale * today - policy).collect()
        };
        let cautious = |(number, likely): (usize, &Vec<f64>)| -> Vec<f64> {
            // The draws in turn, as many for each run.
            let draw = number * draws.gain.len() / runs.len();
            let gained = draws.gain.get(draw).map_or(0.0, |gain| gain / 1000.0);
            let policy = runs[number].of_policy.iter().zip(&self.rounds);
            let gains = policy.map(|(policy, &round)| gained * round as f64 - policy);
            likely.iter().zip(gains).map(|(likely, cautious)| likely.min(cautious)).collect()
        };
        let likely: Vec<Vec<f64>> = runs.iter().map(likely).collect();
        let cautious = likely.iter().enumerate().map(cautious).collect();
        Curves { likely, cautious }
    }

    /// A gain after this number of rounds, linear between checkpoints.
    fn interpolated(&self, gains: &[f64], round: f64) -> f64 {
        let (mut before, mut gained) = (0.0, 0.0);
        for (&checkpoint, &gain) in self.rounds.iter().zip(gains) {
            let checkpoint = checkpoint as f64;
            if round <= checkpoint {
                return gained + (gain - gained) * (round - before) / (checkpoint - before);
            }
            (before, gained) = (checkpoint, gain);
        }
        gained
    }

    fn played(&self, Curves { likely, cautious }: &Curves) -> PolicyGain {
        let ends = |runs: &[Vec<f64>]| -> Vec<f64> {
            runs.iter().map(|gains| gains.last().copied().unwrap_or(0.0)).collect()
        };
        let passed = |runs: &[Vec<f64>]| -> Vec<u64> {
            runs.iter().map(|gains| self.passed(gains).unwrap_or(u64::MAX)).sorted_unstable().collect()
        };
        let (early, late) = (passed(likely), passed(cautious));
        let n_passed = early.partition_point(|&round| round <= HORIZON);
        // The run at this share of the runs, towards the outside.
        let at = |passed: &[u64], percent: usize| {
            let place = if percent < 50 { passed.len() * percent } else { passed.len() * percent + 99 } / 100;
            passed.get(place.min(passed.len().saturating_sub(1))).copied().filter(|&round| round <= HORIZON)
        };
        let lower = Interval::of_draws(&ends(cautious)).lower;
        PolicyGain {
            gained: Interval { lower, ..Interval::of_draws(&ends(likely)) },
            passed: PassingTime { median: at(&early, 50), lower: at(&early, 2), upper: at(&late, 98) },
            share_passed: n_passed as f64 / early.len().max(1) as f64,
        }
    }

    /// The first checkpoint from which on the gain is positive.
    fn passed(&self, gains: &[f64]) -> Option<u64> {
        let last_behind = gains.iter().rposition(|&gain| gain <= 0.0);
        self.rounds.get(last_behind.map_or(0, |place| place + 1)).copied()
    }
}

#[cfg(test)]
mod tests;
