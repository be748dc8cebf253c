//! Plays and records runs, whatever the users. [`play`] is not generic in the model, so it is compiled once.

use super::{PlayError, PlayRequest, trial};
use crate::journal::{Journal, JournalBook, JournalError, Syncer};
use crate::observer::Plan;
use crate::runs::{Layout, Recorded, Runs, Sequence, lock};
use crate::timing::{Stopwatch, Timing};
use click_models::ClickModel;
use rayon::ThreadPool;
use sim::{Keeper, StateError, Tournament};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// A tournament on users of any model, with any task.
pub(super) trait Games: Sync {
    fn n_contenders(&self) -> usize;

    fn label(&self, contender: usize) -> &str;

    /// Whether a run of the contender can be continued in another process.
    fn is_saved(&self, contender: usize) -> bool;

    fn draw_instances(&self, runs: Range<u64>) -> Vec<usize>;

    /// Plays a run without recording it. An error says that `keeper` stopped it.
    fn try_one(&self, contender: usize, run: u64, keeper: &mut dyn Keeper) -> Result<(), StateError>;

    /// Plays what is not recorded of these runs, on the current thread pool.
    fn play_into(&self, runs: Range<u64>, book: &JournalBook<'_>) -> Result<(), JournalError>;
}

impl<M, T> Games for Tournament<'_, M, T>
where
    M: ClickModel + Clone + Send + Sync,
    T: sim::Task<Record: Recorded>,
{
    fn n_contenders(&self) -> usize {
        self.contenders.len()
    }

    fn label(&self, contender: usize) -> &str {
        self.contenders[contender].label()
    }

    fn is_saved(&self, contender: usize) -> bool {
        self.contenders[contender].is_saved()
    }

    fn draw_instances(&self, runs: Range<u64>) -> Vec<usize> {
        Tournament::draw_instances(self, runs)
    }

    fn try_one(&self, contender: usize, run: u64, keeper: &mut dyn Keeper) -> Result<(), StateError> {
        self.play_one(contender, run, None, keeper).map(|_| ())
    }

    fn play_into(&self, runs: Range<u64>, book: &JournalBook<'_>) -> Result<(), JournalError> {
        Tournament::play_into(self, runs, book)
    }
}

/// Plays the runs that are not recorded yet. Returns all runs, how long they took, and how many are new.
pub(super) fn play(games: &dyn Games, game: &PlayRequest<'_>) -> Result<(Runs, Timing, u64), PlayError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(game.threads.unwrap_or(0))
        .build()
        .map_err(PlayError::Threads)?;
    let layout = game.layout;
    let of_each = |of: fn(&Sequence) -> u64| game.recorded.iter().map(|one| of(&lock(one))).collect();
    let contenders = || 0..games.n_contenders();
    let restarting = contenders().filter(|&contender| !games.is_saved(contender));
    let runs: Vec<u64> = of_each(Sequence::n_missing);
    let missing: u64 = runs.iter().sum();
    game.observer.begin(&Plan {
        recorded: of_each(Sequence::n_recorded),
        horizon: game.horizon,
        threads: pool.current_num_threads(),
        bytes: game.journal.map(|_| missing * layout.usual() as u64),
        continued: game.journal.map_or(0, Journal::n_states),
        restarting: restarting.map(|contender| games.label(contender).to_owned()).collect(),
        seconds: on(&pool, &|| trial::seconds(games, &runs, game)),
        runs,
    });
    let wall = Stopwatch::start();
    let syncer = game.journal.map(|_| Syncer::start(&game.recorded));
    let book = JournalBook {
        sequences: &game.recorded,
        journal: game.journal,
        syncer: syncer.as_ref(),
        observer: game.observer,
        stop: game.stop,
        horizon: game.horizon,
        failed: Mutex::default(),
        has_failed: AtomicBool::new(false),
    };
    let played = on(&pool, &|| games.play_into(game.runs.clone(), &book));
    played.map_err(|error| {
        // A run that was stopped is the consequence of another error.
        let of_syncer = || syncer.as_ref().and_then(|syncer| syncer.check().err());
        book.first_error().or_else(of_syncer).unwrap_or(error)
    })?;
    syncer.map_or(Ok(()), Syncer::finish)?;
    let wall = wall.elapsed().wall;

    let runs = Runs::new(layout, games.draw_instances(game.runs.clone()), Arc::clone(&game.recorded))?;
    let mut speeds = Vec::new();
    for contender in contenders() {
        let rounds = match layout {
            Layout::Curves(_) => runs.n_runs() as u64 * game.horizon,
            Layout::Answers => runs.answers(contender)?.iter().map(|answer| answer.steps).sum(),
        };
        speeds.push((games.label(contender), lock(&game.recorded[contender]).elapsed(), rounds));
    }
    Ok((runs, Timing::new(pool.current_num_threads(), wall, &speeds), missing))
}

/// Works on the threads of `pool`.
fn on<R: Send>(pool: &ThreadPool, work: &(dyn Fn() -> R + Sync)) -> R {
    pool.install(work)
}
