//! The progress of long work on standard error: a bar on a terminal, a line every ten seconds
//! elsewhere, nothing with `--quiet`.

use crate::terminal;
use documents::number::{counted, grouped, significant};
use experiment::{Observer, Plan, Step};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Seconds between two lines.
const BETWEEN_LINES: u64 = 10;
/// Time between two drawings of the bar, so that the time left is updated during long runs.
const BETWEEN_TICKS: Duration = Duration::from_millis(500);

/// A display of progress, which ends when it is dropped. Any thread may report to it.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Hidden without a terminal, and with `--quiet`.
    bar: ProgressBar,
    total: u64,
    unit: &'static str,
    lines: Option<Lines>,
}

#[derive(Debug)]
struct Lines {
    name: String,
    written: AtomicU64,
}

impl Progress {
    /// Begins to show how many of `total` units of the work `name` are done; `unit` is a plural.
    pub(crate) fn start(name: &str, total: u64, unit: &'static str, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let numbers = move |state: &ProgressState, text: &mut dyn fmt::Write| {
            let _ = text.write_str(&status(state.pos(), total, unit, state.elapsed()));
        };
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{wide_bar}] {numbers}") {
            bar.set_style(style.with_key("numbers", numbers).progress_chars("=> "));
        }
        bar.set_prefix(terminal::in_line(name).into_owned());
        let are_lines = bar.is_hidden() && !quiet;
        if !bar.is_hidden() {
            bar.enable_steady_tick(BETWEEN_TICKS);
        }
        let lines = are_lines.then(|| Lines { name: name.to_owned(), written: AtomicU64::new(0) });
        Self { bar, total, unit, lines }
    }

    /// Counts `units` more as done.
    pub(crate) fn add(&self, units: u64) {
        self.bar.inc(units);
        let Some(Lines { name, written }) = &self.lines else { return };
        let (done, elapsed) = (self.bar.position(), self.bar.elapsed());
        let n_lines = elapsed.as_secs() / BETWEEN_LINES;
        if done < self.total && written.fetch_max(n_lines, Ordering::Relaxed) < n_lines {
            terminal::tell(&format_args!("{name}: {}", status(done, self.total, self.unit, elapsed)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Progress in words: `1,234 of 10,000 runs, 12 %, 345 runs/s, 25 s left`.
fn status(done: u64, total: u64, unit: &str, elapsed: Duration) -> String {
    let of_all = if total == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    let text = format!("{} of {} {of_all}, {percent} %", grouped(done), grouped(total));
    let rate = done as f64 / elapsed.as_secs_f64();
    if done == 0 || !rate.is_finite() {
        return text;
    }
    let decimals = if rate < 1.0 { 2 } else { usize::from(rate < 10.0) };
    let left = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / rate);
    let left = time(left.unwrap_or(Duration::MAX).as_secs());
    format!("{text}, {rate:.decimals$} {unit}/s, {left} left")
}

/// A time in its two largest units.
fn time(seconds: u64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        86_400..63_072_000 => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
        _ => format!("{} years", grouped(seconds / 31_536_000)),
    }
}

/// Shows how many runs of an experiment have ended.
#[derive(Debug)]
pub(crate) struct RunCounter {
    name: String,
    is_quiet: bool,
    shown: Mutex<Option<Progress>>,
}

impl RunCounter {
    /// Shows nothing before the experiment begins.
    pub(crate) fn new(experiment: &str, is_quiet: bool) -> Self {
        Self { name: experiment.to_owned(), is_quiet, shown: Mutex::default() }
    }

    pub(crate) fn end(&self) {
        *self.shown() = None;
    }

    fn shown(&self) -> MutexGuard<'_, Option<Progress>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for RunCounter {
    fn begin(&self, plan: &Plan) {
        if self.is_quiet {
            return;
        }
        if let Some(sentence) = announcement(plan) {
            self.note(&sentence);
        }
        let total = plan.runs.iter().sum();
        *self.shown() = (total > 0).then(|| Progress::start(&self.name, total, "runs", false));
    }

    fn step(&self, step: &Step) {
        if let Some(progress) = &*self.shown() {
            progress.add(step.ends_run.into());
        }
    }

    fn note(&self, sentence: &str) {
        terminal::tell(&format_args!("{}: {sentence}", self.name));
    }
}

/// A sentence before the first run: what is recorded, what is left, and its size on disk. `None` if
/// runs are kept in memory.
fn announcement(plan: &Plan) -> Option<String> {
    let bytes = plan.bytes?;
    let (missing, recorded) = (plan.runs.iter().sum::<u64>(), plan.recorded.iter().sum::<u64>());
    if missing == 0 {
        return Some(format!("all {} are recorded, nothing is left to play", counted(recorded, "run")));
    }
    let left = if recorded == 0 {
        format!("{} to play", counted(missing, "run"))
    } else {
        let all = grouped(recorded + missing);
        format!("{} of {all} runs are recorded, {} to play", grouped(recorded), grouped(missing))
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
    Some(format!("{left}{continued}, {} of records on disk{restarting}", size(bytes)))
}

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
    fn a_status_shows_rate_and_time_left() {
        let status = |done, total, seconds| status(done, total, "runs", Duration::from_secs_f64(seconds));
        assert_eq!(status(1_234, 10_000, 12.34), "1,234 of 10,000 runs, 12 %, 100 runs/s, 1 min 27 s left");
        assert_eq!(status(0, 10_000, 10.0), "0 of 10,000 runs, 0 %");
        assert_eq!(status(3, 4, 10.0), "3 of 4 runs, 75 %, 0.30 runs/s, 3 s left");
        assert_eq!(status(4, 4, 1.0), "4 of 4 runs, 100 %, 4.0 runs/s, 0 s left");
        assert_eq!(status(1, 5_000, 10.0), "1 of 5,000 runs, 0 %, 0.10 runs/s, 13 h 53 min left");
        assert_eq!(
            status(1, u64::MAX, 1e6),
            "1 of 18,446,744,073,709,551,615 runs, 0 %, 0.00 runs/s, 584,942,417,355 years left"
        );
        assert_eq!(status(1, 1, 0.0), "1 of 1 run, 100 %");
    }

    #[test]
    fn every_display_counts_from_many_threads() {
        for quiet in [true, false] {
            let progress = Progress::start("test", 400, "runs", quiet);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..100).for_each(|_| progress.add(1)));
                }
            });
            assert_eq!(progress.bar.position(), 400);
        }
    }

    #[test]
    fn the_bar_has_a_valid_style() {
        assert!(ProgressStyle::with_template("{prefix} [{wide_bar}] {numbers}").is_ok());
    }

    #[test]
    fn the_first_line_states_what_is_left() {
        let plan = |runs: u64, recorded| Plan {
            runs: vec![runs, 0],
            recorded: vec![recorded, recorded],
            bytes: Some(3_210 * runs),
            continued: 0,
            restarting: Vec::new(),
        };
        let sentence = |plan: &Plan| announcement(plan).unwrap();
        assert_eq!(sentence(&plan(1_000, 0)), "1,000 runs to play, 3.2 MB of records on disk");
        assert_eq!(
            sentence(&plan(1_000, 250)),
            "500 of 1,500 runs are recorded, 1,000 to play, 3.2 MB of records on disk"
        );
        assert_eq!(sentence(&plan(0, 1)), "all 2 runs are recorded, nothing is left to play");
        assert_eq!(
            sentence(&Plan { continued: 2, ..plan(1_000, 0) }),
            "1,000 runs to play, 2 of them continued from where they were interrupted, 3.2 MB of records on disk"
        );
        let own = Plan { restarting: vec!["mine".to_owned()], ..plan(1, 0) };
        let end = "; unfinished runs of \"mine\" begin again after an interruption";
        assert!(sentence(&own).ends_with(end));
        assert_eq!(announcement(&Plan { bytes: None, ..own }), None);
    }
}
