//! Work on several threads, whose reports are combined into one report or error.

use super::Reader;
use super::line::{LineFault, Lost};
use super::open_lists::OpenLists;
use crate::collect::{Batches, Collector};
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::names::{lock, unlocked};
use crate::read_report::{ReadReport, SkippedLines};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest share of what joins no list that a strict reader counts. With more, the documents of
/// queries are missing, or those of another log.
const MAX_UNJOINED: f64 = 0.5;

/// The report of one thread, or of all.
#[derive(Debug, Default)]
pub(crate) struct ThreadReport {
    pub(crate) read: ReadReport,
    /// The share that a lenient reader may skip.
    max_skipped: Option<f64>,
    /// Open lists of each thread.
    pub(crate) open: Vec<OpenLists>,
    /// Skipped lines, and the place of the first.
    skipped: BTreeMap<&'static str, (SkippedLines, (usize, u64))>,
    /// The first error in the order of (file, line).
    failure: Option<((usize, u64), Error)>,
}

impl ThreadReport {
    pub(crate) fn new(max_skipped: Option<f64>) -> Self {
        Self { max_skipped, ..Self::default() }
    }

    pub(crate) fn fail(&mut self, at: (usize, u64), error: Error) {
        if self.failure.as_ref().is_none_or(|(first, _)| at < *first) {
            self.failure = Some((at, error));
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Skips a line at fault if the reader is lenient, and what joins no list; otherwise it is an
    /// error.
    #[cold]
    pub(crate) fn line(
        &mut self,
        found: LineFault,
        column_name: &dyn Fn(usize) -> String,
        file: &str,
        at: (usize, u64),
    ) {
        let LineFault { fault, column, text, lost } = found;
        let first = Place {
            file: file.to_owned(),
            line: at.1,
            column: (column > 0).then(|| (column, column_name(column))),
            text: String::from_utf8_lossy(&text).escape_debug().to_string(),
            message: fault.to_string(),
        };
        if self.max_skipped.is_some() || Fault::UNJOINED.contains(&fault) {
            let Lost { clicks, impressions } = lost;
            self.add_skipped(fault.reason(), SkippedLines { lines: 1, clicks, impressions, first }, at);
        } else {
            self.fail(at, Error::at(ErrorKind::Line(fault), first));
        }
    }

    fn add_skipped(&mut self, reason: &'static str, more: SkippedLines, at: (usize, u64)) {
        match self.skipped.get_mut(reason) {
            None => {
                self.skipped.insert(reason, (more, at));
            }
            Some((known, first_at)) => {
                known.lines += more.lines;
                known.clicks = known.clicks.saturating_add(more.clicks);
                known.impressions = known.impressions.saturating_add(more.impressions);
                if at < *first_at {
                    (*first_at, known.first) = (at, more.first);
                }
            }
        }
    }

    pub(crate) fn absorb(&mut self, other: Self, counted: &ReadReport) {
        self.read.absorb(&other.read);
        self.read.absorb(counted);
        self.open.extend(other.open);
        for (reason, (skipped, at)) in other.skipped {
            self.add_skipped(reason, skipped, at);
        }
        if let Some((at, error)) = other.failure {
            self.fail(at, error);
        }
    }

    /// The report, or the first error, or the error that too much was skipped.
    pub(crate) fn finish(self, source: &ReadReport) -> Result<ReadReport, Error> {
        if let Some((_, error)) = self.failure {
            return Err(error);
        }
        let mut report = self.read;
        report.absorb(source);
        report.ids.check()?;
        report.skipped =
            self.skipped.into_iter().map(|(reason, (skipped, _))| (reason.into(), skipped)).collect();
        if report.lines == 0 {
            return Err(Error::of(ErrorKind::Empty, "", "no line to read in any file"));
        }
        let max_share = self.max_skipped.unwrap_or(0.0);
        let is_unjoined = |reason: &str| Fault::UNJOINED.iter().any(|fault| fault.reason() == reason);
        for (max_share, unjoined) in [(max_share, false), (max_share.max(MAX_UNJOINED), true)] {
            let sum = |part: fn(&SkippedLines) -> u64| {
                let skipped = report.skipped.iter().filter(|(reason, _)| is_unjoined(reason) == unjoined);
                skipped.map(|(_, skipped)| part(skipped)).fold(0, u64::saturating_add)
            };
            // A line may be an array of many documents: of these, events count.
            let lines = if unjoined { 0 } else { sum(|skipped| skipped.lines) };
            for (what, lost, kept) in [
                ("lines", lines, report.lines.saturating_sub(lines)),
                ("impressions", sum(|skipped| skipped.impressions), report.impressions),
                ("clicks", sum(|skipped| skipped.clicks), report.clicks),
            ] {
                let share = lost as f64 / (lost as f64 + kept as f64);
                if share > max_share {
                    let message = format!(
                        "{:.2} % of the {what} would have to be skipped, more than {:.2} %: {report}",
                        100.0 * share,
                        100.0 * max_share,
                    );
                    return Err(Error::of(ErrorKind::TooManySkipped, "", message));
                }
            }
        }
        Ok(report)
    }
}

/// A step of a thread's work; false if there is none left.
pub(crate) type Step<'a> = Box<dyn FnMut(&mut Batches<'_>, &mut ThreadReport) -> bool + 'a>;

/// Calls a step of `worker` on the reader's threads, at most this many, until it returns false or
/// one failed, and sums up.
pub(crate) fn on_threads<'a>(
    reader: &Reader,
    most: usize,
    collector: &Collector<'_>,
    worker: &(dyn Fn() -> Step<'a> + Sync),
) -> ThreadReport {
    let (all, stop) = (Mutex::new(ThreadReport::new(reader.max_skipped)), AtomicBool::new(false));
    let work = || {
        let (mut batches, mut mine, mut step) =
            (collector.batches(), ThreadReport::new(reader.max_skipped), worker());
        while !stop.load(Ordering::Relaxed) && step(&mut batches, &mut mine) {
            if mine.failed() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let counted = batches.finish();
        lock(&all).absorb(mine, &counted);
    };
    std::thread::scope(|scope| {
        for _ in 1..reader.threads.get().min(most) {
            scope.spawn(work);
        }
        work();
    });
    unlocked(all)
}
