//! A short trial of every policy, so that it can be said at once how long an experiment takes.

use super::PlayRequest;
use super::runs::Games;
use crate::timing::Stopwatch;
use rayon::prelude::*;
use sim::{Keeper, Pause};
use std::time::Duration;

/// Experiments with fewer rounds in all end within seconds, and are not tried.
const FEWEST_ROUNDS: u64 = 100_000_000;
/// Time that a policy is tried.
const LONGEST: Duration = Duration::from_millis(50);

/// The seconds that a run of each contender takes; `None` if it has no runs to play or cannot be stopped, and for short experiments.
/// `runs` are the runs that each contender has to play.
pub(super) fn seconds(games: &dyn Games, runs: &[u64], game: &PlayRequest<'_>) -> Vec<Option<f64>> {
    let n_rounds = runs.iter().sum::<u64>().saturating_mul(game.horizon);
    if n_rounds < FEWEST_ROUNDS || !game.observer.wants_times() {
        return vec![None; runs.len()];
    }
    let of_one = |contender: usize| {
        // A contender that is not saved may be one of the caller that plays to its end.
        if runs[contender] == 0 || !games.is_saved(contender) {
            return None;
        }
        let mut trial = Trial { watch: Stopwatch::start(), rounds: 0 };
        let played = games.try_one(contender, game.runs.start, &mut trial);
        let seconds = trial.watch.wall().as_secs_f64();
        // A trial that was not stopped is a whole run.
        Some(if played.is_ok() {
            seconds
        } else {
            seconds * game.horizon as f64 / trial.rounds.max(1) as f64
        })
    };
    (0..runs.len()).into_par_iter().with_max_len(1).map(of_one).collect()
}

/// Stops a run after a short time.
struct Trial {
    watch: Stopwatch,
    rounds: u64,
}

impl Keeper for Trial {
    fn pause(&mut self, rounds: u64) -> Pause {
        self.rounds = rounds;
        if self.watch.wall() < LONGEST { Pause::GoOn } else { Pause::Stop }
    }

    fn keep(&mut self, _state: &[u8]) {}
}
