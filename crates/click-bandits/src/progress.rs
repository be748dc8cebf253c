//! Shows the progress of a long run on standard error: a bar on a terminal, a line every ten seconds elsewhere, nothing with `--quiet`.
//!
//! The unit is a run of one policy, or anything else that can be counted. Any thread may report progress.

mod forecast;
mod runs;

pub(crate) use runs::RunCounter;

use crate::terminal;
use experiment::number::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Time between two drawings of the bar, so that the time left is updated during long runs.
const BETWEEN_TICKS: Duration = Duration::from_millis(500);

/// Gives the time left; `None` while it is unknown.
type TimeLeft = Arc<dyn Fn() -> Option<Duration> + Send + Sync>;

/// A display of progress. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    display: Display,
}

#[derive(Debug)]
enum Display {
    #[cfg_attr(not(feature = "logs"), expect(dead_code, reason = "runs without a display have no counter"))]
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
}

impl Progress {
    /// Begins to show how many of `total` units of the experiment `name` are done; `unit` is their name in the plural.
    #[cfg(feature = "logs")]
    pub(crate) fn start(name: &str, total: u64, unit: &'static str, quiet: bool) -> Self {
        if quiet {
            Self { display: Display::Nothing }
        } else {
            Self::show(name, Counted { total, unit, left: None })
        }
    }

    /// Begins to show progress with a forecast of the time left.
    fn show(name: &str, counted: Counted) -> Self {
        let display = if std::io::stderr().is_terminal() {
            Display::Bar(bar(name, counted))
        } else {
            Display::Lines(Lines::start(name, counted, BETWEEN_LINES))
        };
        Self { display }
    }

    /// Counts `runs` more as done.
    pub(crate) fn add(&self, runs: u64) {
        match &self.display {
            Display::Nothing => {}
            Display::Bar(bar) => bar.inc(runs),
            Display::Lines(lines) => {
                lines.done.fetch_add(runs, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// What is counted.
#[derive(Clone)]
struct Counted {
    total: u64,
    /// Its name in the plural.
    unit: &'static str,
    /// A forecast of the time left; without one it follows from the rate.
    left: Option<TimeLeft>,
}

impl Counted {
    fn status(&self, done: u64, elapsed: Duration) -> Status {
        let &Self { total, unit, ref left } = self;
        let left = match left {
            Some(left) => left(),
            None if done == 0 => None,
            None => {
                let per_second = done as f64 / elapsed.as_secs_f64();
                let left = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / per_second);
                Some(left.unwrap_or(Duration::MAX)).filter(|_| per_second.is_finite())
            }
        };
        Status { done, total, unit, elapsed, left }
    }
}

fn bar(name: &str, counted: Counted) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(counted.total), ProgressDrawTarget::stderr());
    // The text behind the bar is the text of a line without a bar.
    let numbers = move |state: &ProgressState, text: &mut dyn fmt::Write| {
        let _ = write!(text, "{}", counted.status(state.pos(), state.elapsed()));
    };
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{wide_bar}] {numbers}") {
        bar.set_style(style.with_key("numbers", numbers).progress_chars("=> "));
    }
    bar.set_prefix(terminal::in_line(name).into_owned());
    bar.enable_steady_tick(BETWEEN_TICKS);
    bar
}

/// A thread that writes lines. It ends when this is dropped.
#[derive(Debug)]
struct Lines {
    done: Arc<AtomicU64>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn start(name: &str, counted: Counted, between: Duration) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = channel();
        let (name, count) = (name.to_owned(), Arc::clone(&done));
        #[expect(
            clippy::disallowed_methods,
            reason = "the display says how long it will take; no result depends on it"
        )]
        let start = Instant::now();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(between) == Err(RecvTimeoutError::Timeout) {
                let done = count.load(Ordering::Relaxed);
                // Between the last run and the end, results are summed up and written.
                if done == counted.total {
                    continue;
                }
                let status = counted.status(done, start.elapsed());
                terminal::tell(&format_args!("{name}: {status}"));
            }
        });
        Self { done, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The progress of a run, displayed as `1,234 of 10,000 runs, 12 %, 345 runs/s, 25 s left`.
#[derive(Debug, Clone, Copy)]
struct Status {
    done: u64,
    total: u64,
    unit: &'static str,
    elapsed: Duration,
    left: Option<Duration>,
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done, total, unit, elapsed, left } = *self;
        let of_all = if total == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
        write!(formatter, "{} of {} {of_all}", grouped(done), grouped(total))?;
        let percent = u128::from(done) * 100 / u128::from(total.max(1));
        write!(formatter, ", {percent} %")?;
        let rate = done as f64 / elapsed.as_secs_f64();
        if done > 0 && rate.is_finite() {
            let decimals = if rate < 1.0 { 2 } else { usize::from(rate < 10.0) };
            write!(formatter, ", {rate:.decimals$} {unit}/s")?;
        }
        left.map_or(Ok(()), |left| write!(formatter, ", {} left", Span(left)))
    }
}

/// A time in its two largest units.
pub(crate) struct Span(pub(crate) Duration);

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            seconds @ ..60 => write!(formatter, "{seconds} s"),
            seconds @ 60..3_600 => write!(formatter, "{} min {} s", seconds / 60, seconds % 60),
            seconds @ 3_600..86_400 => write!(formatter, "{} h {} min", seconds / 3_600, seconds / 60 % 60),
            seconds @ 86_400..63_072_000 => {
                write!(formatter, "{} d {} h", seconds / 86_400, seconds / 3_600 % 24)
            }
            seconds => write!(formatter, "{} years", grouped(seconds / 31_536_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(done: u64, total: u64, seconds: f64) -> String {
        let counted = Counted { total, unit: "runs", left: None };
        counted.status(done, Duration::from_secs_f64(seconds)).to_string()
    }

    #[test]
    fn a_status_shows_rate_and_time_left() {
        assert_eq!(status(1_234, 10_000, 12.34), "1,234 of 10,000 runs, 12 %, 100 runs/s, 1 min 27 s left");
        assert_eq!(status(0, 10_000, 10.0), "0 of 10,000 runs, 0 %");
        assert_eq!(status(3, 4, 10.0), "3 of 4 runs, 75 %, 0.30 runs/s, 3 s left");
        assert_eq!(status(4, 4, 1.0), "4 of 4 runs, 100 %, 4.0 runs/s, 0 s left");
        assert_eq!(status(1, 5_000, 10.0), "1 of 5,000 runs, 0 %, 0.10 runs/s, 13 h 53 min left");
        assert_eq!(
            status(1, u64::MAX, 1e6),
            "1 of 18,446,744,073,709,551,615 runs, 0 %, 0.00 runs/s, 584,942,417,355 years left"
        );
        assert_eq!(status(0, 0, 0.0), "0 of 0 runs, 0 %");
        assert_eq!(status(1, 1, 0.0), "1 of 1 run, 100 %");
    }

    fn runs(total: u64) -> Counted {
        Counted { total, unit: "runs", left: None }
    }

    #[test]
    fn a_forecast_replaces_the_rate() {
        let counted = Counted { left: Some(Arc::new(|| Some(Duration::from_mins(90)))), ..runs(10) };
        let text = counted.status(0, Duration::from_secs(1)).to_string();
        assert_eq!(text, "0 of 10 runs, 0 %, 1 h 30 min left");
    }

    #[test]
    fn every_display_counts_from_many_threads_and_ends() {
        let progress = [
            Display::Nothing,
            Display::Bar(ProgressBar::hidden()),
            Display::Lines(Lines::start("test", runs(400), Duration::from_hours(1))),
        ]
        .map(|display| Progress { display });
        for progress in progress {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..100).for_each(|_| progress.add(1)));
                }
            });
            match &progress.display {
                Display::Nothing => {}
                Display::Bar(bar) => assert_eq!(bar.position(), 400),
                Display::Lines(lines) => assert_eq!(lines.done.load(Ordering::Relaxed), 400),
            }
        }
    }

    #[test]
    fn the_bar_has_a_valid_style() {
        assert!(ProgressStyle::with_template("{prefix} [{wide_bar}] {numbers}").is_ok());
        drop(bar("test", runs(10)));
    }
}
