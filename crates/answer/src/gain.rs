//! The gain of a policy over today's lists in the course of a simulation, and when it passes them.

use crate::{HORIZON, Interval};
use experiment::{JournalError, Measured, Quantity};
use serde::Serialize;

/// Clicks gained over today's lists, query by query and run by run.
#[derive(Debug)]
pub(crate) struct Gains {
    policy: String,
    rounds: Vec<u64>,
    /// By query, run and checkpoint.
    of_queries: Vec<Vec<Vec<f64>>>,
}

/// The gain of a policy over today's lists, and when it passes them.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Played {
    /// Clicks gained after [`HORIZON`] lists.
    pub gained: Interval,
    /// When it passes them.
    pub passed: Passed,
    /// Share of the runs that pass them within [`HORIZON`] lists.
    pub share_passed: f64,
}

/// The lists after which today's are passed for good: the middle run, and the limits of 95 % of the
/// runs. `None`: later than [`HORIZON`], or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Passed {
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
    pub(crate) fn new(measured: &Measured, today: &str) -> Result<Option<Self>, JournalError> {
        let runs = &measured.runs;
        let n_checkpoints = runs.n_checkpoints().unwrap_or(0);
        let mut regrets = Vec::new();
        for policy in 0..runs.n_policies() {
            regrets.push(runs.columns(policy, Quantity::Regret, 0..n_checkpoints)?);
        }
        Ok(Self::of_regrets(measured, today, &regrets))
    }

    /// The gains by the regret of each policy (outer index) at each checkpoint in each run.
    fn of_regrets(measured: &Measured, today: &str, regrets: &[Vec<Vec<f64>>]) -> Option<Self> {
        let labels: Vec<&str> = measured.result.policies.iter().map(|policy| policy.label.as_str()).collect();
        let place = labels.iter().position(|label| *label == today)?;
        let regret = |policy: usize| regrets[policy].last().map_or(0.0, |last| last.iter().sum::<f64>());
        let others = (0..labels.len()).filter(|&policy| policy != place);
        let best = others.min_by(|&a, &b| regret(a).total_cmp(&regret(b)))?;
        let drawn = measured.runs.instances();
        let mut gains = vec![Vec::new(); drawn.iter().max()? + 1];
        for (run, &query) in drawn.iter().enumerate() {
            let both = regrets[place].iter().zip(&regrets[best]);
            gains[query].push(both.map(|(today, policy)| today[run] - policy[run]).collect());
        }
        let rounds = measured.result.policies[best].curves()?.t.clone();
        Some(Self { policy: labels[best].to_owned(), rounds, of_queries: gains })
    }

    /// Adds the runs of the same policy with other users, at the same checkpoints.
    pub(crate) fn add(&mut self, other: Self) {
        if other.rounds == self.rounds && other.policy == self.policy {
            for (runs, others) in self.of_queries.iter_mut().zip(other.of_queries) {
                runs.extend(others);
            }
        }
    }

    /// The policy's label.
    pub(crate) fn policy(&self) -> &str {
        &self.policy
    }

    /// On one query.
    pub(crate) fn of_query(&self, query: usize) -> Played {
        self.gained(&self.of_queries[query])
    }

    /// On all queries together, each with its share of the lists.
    pub(crate) fn of_all(&self, shares: &[f64]) -> Played {
        let n_runs = self.of_queries.iter().map(Vec::len).min().unwrap_or(0);
        let run = |run: usize| -> Vec<f64> {
            let gain_after = |&round: &u64| {
                let of_query = |(gains, share): (&Vec<Vec<f64>>, &f64)| {
                    self.interpolated(&gains[run], round as f64 * share)
                };
                self.of_queries.iter().zip(shares).map(of_query).sum()
            };
            self.rounds.iter().map(gain_after).collect()
        };
        self.gained(&(0..n_runs).map(run).collect::<Vec<_>>())
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

    fn gained(&self, runs: &[Vec<f64>]) -> Played {
        let ends: Vec<f64> = runs.iter().map(|gains| gains.last().copied().unwrap_or(0.0)).collect();
        let mut passed: Vec<u64> = runs.iter().map(|gains| self.passed(gains).unwrap_or(u64::MAX)).collect();
        passed.sort_unstable();
        let n_passed = passed.partition_point(|&round| round <= HORIZON);
        // The run at this share of the runs, towards the outside.
        let at = |percent: usize| {
            let place = if percent < 50 { passed.len() * percent } else { passed.len() * percent + 99 } / 100;
            passed.get(place.min(passed.len().saturating_sub(1))).copied().filter(|&round| round <= HORIZON)
        };
        Played {
            gained: Interval::of_draws(&ends),
            passed: Passed { median: at(50), lower: at(2), upper: at(98) },
            share_passed: n_passed as f64 / passed.len().max(1) as f64,
        }
    }

    /// The first checkpoint from which on the gain is positive.
    fn passed(&self, gains: &[f64]) -> Option<u64> {
        let last_behind = gains.iter().rposition(|&gain| gain <= 0.0);
        self.rounds.get(last_behind.map_or(0, |place| place + 1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains() -> Gains {
        let runs = |of: [f64; 3]| vec![of.to_vec(); 3];
        Gains {
            policy: "p".to_owned(),
            rounds: vec![1, 10, HORIZON],
            of_queries: vec![runs([-1.0, -2.0, 8.0]), runs([1.0, -1.0, -3.0])],
        }
    }

    #[test]
    fn today_is_passed_where_the_gain_stays_positive() {
        let first = gains().of_query(0);
        assert_eq!((first.passed.median, first.share_passed, first.gained.mean), (Some(HORIZON), 1.0, 8.0));
        let second = gains().of_query(1);
        assert_eq!((second.passed.median, second.share_passed, second.gained.mean), (None, 0.0, -3.0));
        assert_eq!(gains().passed(&[1.0, 2.0, 3.0]), Some(1));
        assert_eq!(gains().passed(&[1.0, -2.0, 3.0]), Some(HORIZON));
    }

    #[test]
    fn gains_of_all_queries_are_read_where_their_share_of_the_lists_ends() {
        assert_eq!(gains().interpolated(&[-1.0, -2.0, 8.0], 0.5), -0.5);
        assert_eq!(gains().interpolated(&[-1.0, -2.0, 8.0], 5.5), -1.5);
        let all = gains().of_all(&[1.0, 0.0]);
        assert_eq!((all.passed.median, all.gained.mean), (Some(HORIZON), 8.0));
        let half = gains().of_all(&[0.5, 0.5]).gained.mean;
        let expected = [[-2.0, 8.0], [-1.0, -3.0]].map(|[a, b]| a + (b - a) * 4990.0 / 9990.0);
        assert!((half - expected.iter().sum::<f64>()).abs() < 1e-12, "{half}");
    }
}
