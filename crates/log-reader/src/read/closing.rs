//! Ends the open lists of a log after its last line.

use super::Reader;
use super::line::Lost;
use super::meaning::Meaning;
use super::open_lists::{OpenLists, Run};
use super::thread_report::ThreadReport;
use crate::collect::{Batches, Collector};
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::names::Id;
use crate::read_report::ReadReport;
use std::sync::Arc;

impl Reader {
    /// Ends the lists that are open, and sums up.
    pub(super) fn finish(
        &self,
        mut report: ThreadReport,
        collector: &Collector,
        names: &[Arc<str>],
        source: &ReadReport,
    ) -> Result<ReadReport, Error> {
        let open = std::mem::take(&mut report.open);
        if let Some(columns) = self.format.columns() {
            let (column, lenient) = (columns.position.as_str(), self.max_skipped.is_some());
            let closing = Closing { names, column, meaning: self.meaning, lenient };
            let (mut batches, mut faults) = (collector.batches(), ThreadReport::default());
            closing.close(&open, &mut batches, &mut faults);
            report.absorb(faults, &batches.finish());
        }
        report.finish(source, self.max_skipped)
    }
}

/// A line of a list.
type Line<'a> = (u8, u64, &'a Run, usize);

/// Ends all lists: those of all threads, in any order.
struct Closing<'a> {
    names: &'a [Arc<str>],
    /// The name of the column of positions.
    column: &'a str,
    meaning: Meaning,
    lenient: bool,
}

impl Closing<'_> {
    fn close(&self, parts: &[OpenLists], batches: &mut Batches<'_>, report: &mut ThreadReport) {
        let mut runs: Vec<(&Run, &[Id])> = Vec::with_capacity(parts.iter().map(|part| part.runs.len()).sum());
        for part in parts {
            runs.extend(part.runs.iter().map(|run| (run, &part.items[run.start..][..usize::from(run.len)])));
        }
        runs.sort_unstable_by_key(|(run, _)| (run.key, run.spot.at));
        for mut of_key in runs.chunk_by(|(a, _), (b, _)| a.key == b.key) {
            while !of_key.is_empty() {
                let starts = |run: &Run| run.len > 0 && run.first == 0;
                // The next list starts where the first position comes again.
                let again = (1..of_key.len()).find(|&place| {
                    let (run, before) = (of_key[place].0, of_key[place - 1].0);
                    starts(run)
                        && !before.continues(run.spot)
                        && of_key[..place].iter().any(|(earlier, _)| starts(earlier))
                });
                let (list, rest) = of_key.split_at(again.unwrap_or(of_key.len()));
                of_key = rest;
                self.list(list, batches, report);
            }
        }
    }

    /// Ends a list.
    fn list(&self, runs: &[(&Run, &[Id])], batches: &mut Batches<'_>, report: &mut ThreadReport) {
        // The usual case.
        if let &[(run @ &Run { first: 0, len: 1.., .. }, items)] = runs {
            batches.session(run.query, items, run.clicks, run.spot.at);
            return;
        }
        let mut at_fault = runs.iter().any(|(run, _)| run.len == 0);
        let mut lines: Vec<(Line<'_>, Id)> = Vec::new();
        for &(run, items) in runs {
            let of_run = |(number, &item): (usize, &Id)| {
                // A run has at most 64 lines.
                let line = run.spot.line + number as u64;
                ((run.first + u8::try_from(number).unwrap_or(0), line, run, number), item)
            };
            lines.extend(items.iter().enumerate().map(of_run));
        }
        lines.sort_by_key(|((position, line, run, _), _)| (*position, run.spot.file, *line));
        let (mut items, mut clicks) = (Vec::new(), 0);
        for &(line @ (position, _, run, number), item) in &lines {
            let clicked = run.clicks >> number & 1;
            if usize::from(position) == items.len() {
                clicks |= clicked << position;
                items.push(item);
            } else {
                at_fault = true;
                self.at_fault(line, clicked, items.len(), report);
            }
        }
        if let ([_, ..], Some(first)) = (items.as_slice(), runs.iter().find(|(run, _)| run.len > 0)) {
            let is_counted = batches.session(first.0.query, &items, clicks, first.0.spot.at);
            if is_counted && at_fault {
                batches.session_at_fault();
            }
        }
    }

    #[cold]
    fn at_fault(&self, line: Line<'_>, clicks: u64, next: usize, report: &mut ThreadReport) {
        let (position, line, run, _) = line;
        let fault = Fault::OutOfOrder { next: self.meaning.named(next) };
        let file = run.spot.file;
        let place = Place {
            file: self.names.get(file).map_or("", |name| name).to_owned(),
            line,
            column: Some((run.column as usize, self.column.to_owned())),
            text: self.meaning.named(position.into()).to_string(),
            message: fault.to_string(),
        };
        if self.lenient {
            report.skip(fault, Lost { clicks, impressions: 1 }, (file, line), place);
        } else {
            report.fail((file, line), Error::at(ErrorKind::Line(fault), place));
        }
    }
}
