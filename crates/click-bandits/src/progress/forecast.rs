//! Forecasts how long an experiment takes. Policies differ by factors of a hundred, so each has a rate of its own.

use experiment::{Plan, Step};
use std::time::Duration;

/// What is left, and how fast each policy plays.
#[derive(Debug)]
pub(super) struct Forecast {
    plan: Plan,
    of_policies: Vec<Measured>,
}

/// What was played of one policy since the experiment began.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    runs: u64,
    rounds: u64,
    wall: Duration,
    /// Rounds of unfinished runs that an earlier process played.
    earlier_rounds: u64,
}

impl Forecast {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { of_policies: vec![Measured::default(); plan.runs.len()], plan: plan.clone() }
    }

    /// Takes note of progress.
    pub(super) fn step(&mut self, step: &Step) {
        if let Some(policy) = self.of_policies.get_mut(step.policy) {
            policy.runs += u64::from(step.ends_run);
            policy.rounds += step.rounds;
            policy.wall += step.wall;
            policy.earlier_rounds += step.earlier_rounds;
        }
    }

    /// The time until everything is played; `None` while no policy has played.
    pub(super) fn left(&self) -> Option<Duration> {
        let per_run: Vec<Option<f64>> =
            (0..self.of_policies.len()).map(|policy| self.seconds(policy)).collect();
        let known: Vec<f64> = per_run.iter().copied().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let mut seconds = 0.0;
        for ((measured, &runs), per_run) in self.of_policies.iter().zip(&self.plan.runs).zip(&per_run) {
            // Unfinished runs count as far as they were played.
            let earlier = measured.earlier_rounds as f64 / self.plan.horizon as f64;
            let whole = measured.wall.as_secs_f64() / per_run.unwrap_or(mean) + earlier;
            let played = if whole.is_finite() { whole.max(measured.runs as f64) } else { 0.0 };
            seconds += (runs as f64 - played).max(0.0) * per_run.unwrap_or(mean);
        }
        let seconds = seconds / self.plan.threads.max(1) as f64;
        if known.is_empty() {
            None
        } else {
            Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
        }
    }

    /// The seconds that a whole run of a policy takes, as far as is known.
    fn seconds(&self, policy: usize) -> Option<f64> {
        let Measured { runs, rounds, wall, .. } = self.of_policies[policy];
        let of_all = self.plan.horizon.saturating_mul(runs.max(1));
        if wall.is_zero() || rounds == 0 {
            return None;
        }
        let wall = wall.as_secs_f64();
        // Runs may end before the horizon. Before the first one has ended, the horizon is all that is known.
        Some(if runs > 0 && rounds < of_all {
            wall / runs as f64
        } else {
            wall * self.plan.horizon as f64 / rounds as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(runs: &[u64]) -> Forecast {
        Forecast::new(&Plan {
            runs: runs.to_vec(),
            recorded: vec![0; runs.len()],
            horizon: 1_000,
            threads: 2,
            bytes: None,
            continued: 0,
            restarting: Vec::new(),
        })
    }

    fn step(policy: usize, rounds: u64, seconds: u64, ends_run: bool) -> Step {
        Step { policy, rounds, earlier_rounds: 0, wall: Duration::from_secs(seconds), ends_run }
    }

    #[test]
    fn every_policy_counts_with_its_own_rate() {
        let mut forecast = forecast(&[10, 10]);
        assert_eq!(forecast.left(), None);
        forecast.step(&step(0, 1_000, 1, true));
        forecast.step(&step(1, 1_000, 100, true));
        // 9 runs of 1 s and 9 of 100 s on two threads.
        assert_eq!(forecast.left(), Some(Duration::from_secs_f64(454.5)));
    }

    #[test]
    fn unfinished_runs_count_as_far_as_they_were_played() {
        let mut forecast = forecast(&[1, 1]);
        forecast.step(&step(0, 250, 10, false));
        // 40 s in all, 10 of them played; and the mean for the policy that has not played.
        assert_eq!(forecast.left(), Some(Duration::from_secs(35)));
    }

    #[test]
    fn rounds_of_an_earlier_process_are_not_left() {
        let mut forecast = forecast(&[1]);
        forecast.step(&Step { earlier_rounds: 600, ..step(0, 100, 4, false) });
        // Three tenths of 40 s on two threads.
        assert_eq!(forecast.left(), Some(Duration::from_secs(6)));
    }

    #[test]
    fn runs_that_end_early_count_as_runs() {
        let mut forecast = forecast(&[4]);
        forecast.step(&step(0, 10, 2, true));
        forecast.step(&step(0, 30, 4, true));
        assert_eq!(forecast.left(), Some(Duration::from_secs(3)));
    }
}
