//! Shows the progress of an experiment.

use super::forecast::Forecast;
use super::{Counted, Progress};
use crate::terminal;
use experiment::number::{counted, grouped, significant};
use experiment::{Observer, Plan, Step};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shows how many runs have ended, and how long the others will take.
pub(crate) struct RunCounter {
    name: String,
    is_quiet: bool,
    shown: Mutex<Option<Shown>>,
}

struct Shown {
    progress: Progress,
    forecast: Arc<Mutex<Forecast>>,
}

impl fmt::Debug for RunCounter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunCounter").field("name", &self.name).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The state is only shown.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunCounter {
    /// Shows nothing before the experiment begins.
    pub(crate) fn new(experiment: &str, is_quiet: bool) -> Self {
        Self { name: experiment.to_owned(), is_quiet, shown: Mutex::default() }
    }

    /// Ends the display.
    pub(crate) fn end(&self) {
        *lock(&self.shown) = None;
    }

    fn tell(&self, sentence: &str) {
        terminal::tell(&format_args!("{}: {sentence}", self.name));
    }
}

impl Observer for RunCounter {
    fn begin(&self, plan: &Plan) {
        if self.is_quiet {
            return;
        }
        if let Some(sentence) = announcement(plan) {
            self.tell(&sentence);
        }
        let total = plan.runs.iter().sum();
        if total == 0 {
            return;
        }
        let forecast = Arc::new(Mutex::new(Forecast::new(plan)));
        let of_display = Arc::clone(&forecast);
        let left = Arc::new(move || lock(&of_display).left());
        let progress = Progress::show(&self.name, Counted { total, unit: "runs", left: Some(left) });
        *lock(&self.shown) = Some(Shown { progress, forecast });
    }

    fn step(&self, step: &Step) {
        let shown = lock(&self.shown);
        let Some(Shown { progress, forecast }) = &*shown else { return };
        lock(forecast).step(step);
        progress.add(u64::from(step.ends_run));
    }

    fn note(&self, sentence: &str) {
        self.tell(sentence);
    }
}

/// The sentence before the first run: what is recorded already, and the place on disk. `None` if runs are kept in
/// memory.
fn announcement(plan: &Plan) -> Option<String> {
    let bytes = plan.bytes?;
    let (missing, recorded) = (plan.runs.iter().sum::<u64>(), plan.recorded.iter().sum::<u64>());
    if missing == 0 {
        return Some(format!("all {} are recorded, nothing is left to play", counted(recorded, "run")));
    }
    let what = if recorded == 0 {
        format!("{} to play", counted(missing, "run"))
    } else {
        format!(
            "{} of {} runs are recorded, {} to play",
            grouped(recorded),
            grouped(recorded + missing),
            grouped(missing)
        )
    };
    let restarting = match plan.restarting.as_slice() {
        [] => String::new(),
        [first, others @ ..] => {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            format!("; unfinished runs of {first:?}{more} begin again after an interruption")
        }
    };
    let continued = match plan.continued {
        0 => String::new(),
        n => format!(", {} of them continued from where they were interrupted", grouped(n)),
    };
    Some(format!("{what}{continued}, {} of records on disk{restarting}", size(bytes)))
}

/// A number of bytes for readers.
fn size(bytes: u64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", significant(bytes as f64 / 1e3, 2)),
        1_000_000..1_000_000_000 => format!("{} MB", significant(bytes as f64 / 1e6, 2)),
        _ => format!("{} GB", significant(bytes as f64 / 1e9, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_is_left_and_what_it_takes() {
        let plan = |runs: u64, recorded| Plan {
            runs: vec![runs, 0],
            recorded: vec![recorded, recorded],
            horizon: 10,
            threads: 2,
            bytes: Some(3_210 * runs),
            continued: 0,
            restarting: Vec::new(),
        };
        let said = |plan: &Plan| announcement(plan).unwrap();
        assert_eq!(said(&plan(1_000, 0)), "1,000 runs to play, 3.2 MB of records on disk");
        assert_eq!(
            said(&plan(1_000, 250)),
            "500 of 1,500 runs are recorded, 1,000 to play, 3.2 MB of records on disk"
        );
        assert_eq!(said(&plan(0, 1)), "all 2 runs are recorded, nothing is left to play");
        let continued = Plan { continued: 2, ..plan(1_000, 0) };
        assert_eq!(
            said(&continued),
            "1,000 runs to play, 2 of them continued from where they were interrupted, 3.2 MB of records on disk"
        );
        let own = Plan { restarting: vec!["mine".to_owned()], ..plan(1, 0) };
        assert!(said(&own).ends_with("; unfinished runs of \"mine\" begin again after an interruption"));
        assert_eq!(announcement(&Plan { bytes: None, ..own }), None);
    }
}
