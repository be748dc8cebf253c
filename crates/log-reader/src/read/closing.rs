//! Ends the open lists of a log after its last line.

use super::Reader;
use super::line::LineFault;
use super::meaning::Meaning;
use super::open_lists::{OpenLists, Run};
use super::thread_report::ThreadReport;
use crate::collect::{Batches, Collector};
use crate::columns::{ByRole, LIST, NUMBERS, POSITION, PROPENSITY, QUERY, READ, USER};
use crate::error::{Error, HIDDEN};
use crate::fault::Fault;
use crate::keys::ListKey;
use crate::lists::ShownList;
use crate::logged::Propensities;
use crate::names::Id;
use crate::read_report::ReadReport;
use std::sync::Arc;

impl Reader {
    /// Ends the lists that are open, and sums up. Lists to hand over stay open if lines of lists
    /// that were handed over stand apart; the log is then read again.
    pub(super) fn finish(
        &self,
        mut report: ThreadReport,
        collector: &Collector<'_>,
        names: &[Arc<str>],
        source: &ReadReport,
    ) -> Result<ReadReport, Error> {
        let open = std::mem::take(&mut report.open);
        if let Some(columns) = self.format.columns() {
            let n_strata = columns.strata.len();
            let columns = columns.by_role();
            let closing = Closing { names, columns, meaning: self.meaning, open: &open };
            let runs = closing.runs();
            if !report.failed()
                && collector.handing.as_ref().is_some_and(|lists| lists.find_apart(|| unfinished(&runs)))
            {
                return Ok(ReadReport::default());
            }
            let (mut batches, mut faults) = (collector.batches(), ThreadReport::new(self.max_skipped));
            closing.close(&runs, &mut batches, &mut faults);
            report.absorb(faults, &batches.finish());
            report.read.strata = n_strata;
        }
        let report = report.finish(source)?;
        self.meaning.check(report.positions).map(|()| report)
    }
}

#[derive(Debug, Clone, Copy)]
struct RunOfThread<'a> {
    run: &'a Run,
    thread: usize,
    number: usize,
}

#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    position: usize,
    /// The 1-based line of its file.
    in_file: u64,
    held: RunOfThread<'a>,
    /// Its number within the run.
    number: usize,
}

impl Line<'_> {
    /// Its place among all lines of its thread's lists.
    fn place(self) -> usize {
        self.held.run.start + self.number
    }

    fn clicked(self) -> u64 {
        self.held.run.clicks >> self.number & 1
    }
}

/// Ends all lists: those of all threads, in any order.
struct Closing<'a> {
    names: &'a [Arc<str>],
    columns: ByRole<'a>,
    meaning: Meaning,
    open: &'a [OpenLists],
}

impl<'a> Closing<'a> {
    /// All runs, by list and place.
    fn runs(&self) -> Vec<RunOfThread<'a>> {
        let mut runs = Vec::with_capacity(self.open.iter().map(|part| part.runs.len()).sum());
        for (thread, part) in self.open.iter().enumerate() {
            runs.extend(part.runs.iter().enumerate().map(|(number, run)| RunOfThread {
                run,
                thread,
                number,
            }));
        }
        runs.sort_unstable_by_key(|held| (held.run.key, held.run.spot.at));
        runs
    }

    fn close(&self, runs: &[RunOfThread<'_>], batches: &mut Batches<'_>, report: &mut ThreadReport) {
        for mut of_key in runs.chunk_by(|a, b| a.run.key == b.run.key) {
            while !of_key.is_empty() {
                let lowest = of_key.iter().filter_map(|held| held.run.positions.iter().next()).min();
                let starts = |run: &Run| lowest.is_some() && run.positions.iter().next() == lowest;
                // The next list starts where the first position comes again.
                let again = (1..of_key.len()).find(|&place| {
                    let [before, run] = [place - 1, place].map(|place| of_key[place].run);
                    starts(run)
                        && (before.query != run.query || !before.continues(run.spot))
                        && of_key[..place].iter().any(|earlier| starts(earlier.run))
                });
                let (list, rest) = of_key.split_at(again.unwrap_or(of_key.len()));
                of_key = rest;
                self.list(list, batches, report);
            }
        }
    }

    /// Ends a list.
    fn list(&self, runs: &[RunOfThread<'_>], batches: &mut Batches<'_>, report: &mut ThreadReport) {
        // The usual case.
        if let &[RunOfThread { run, thread, .. }] = runs
            && !run.positions.is_empty()
            && self.open[thread].logged.is_none()
        {
            let items = &self.open[thread].items[run.start..][..run.positions.len()];
            let list = ShownList::plain(run.query, items, run.clicks, run.spot.at);
            batches.session(&list.at(run.positions).timed(run.spot.time), true);
            return;
        }
        let lost = runs.iter().any(|held| held.run.positions.is_empty());
        let mut at_fault = lost;
        let mut lines: Vec<Line<'_>> = Vec::new();
        for &held in runs {
            // A run has at most 64 lines.
            lines.extend(held.run.positions.iter().enumerate().map(|(number, position)| Line {
                position,
                // Without positions, a line has all of its list.
                in_file: held.run.spot.line + self.columns[POSITION].map_or(0, |_| number as u64),
                held,
                number,
            }));
        }
        lines.sort_by_key(|line| (line.position, line.held.run.spot.file, line.in_file));
        let (mut next, mut above) = (0, None);
        lines.retain(|&line| {
            // The position of a line that was skipped is unknown: it may be that of any gap.
            let fits = line.position == next || line.position > next && !lost;
            if fits {
                (next, above) = (line.position + 1, Some(line));
            } else {
                // The same line again takes nothing from its list.
                at_fault |= above.is_none_or(|above| self.content(above) != self.content(line));
                let twice = line.position < next;
                let next = self.meaning.named(next);
                let fault = if twice { Fault::PositionTwice } else { Fault::OutOfOrder { next } };
                self.at_fault(line, POSITION, fault, report);
            }
            fits
        });
        let propensities = self.propensities(&lines);
        let propensities = Propensities(propensities.each_ref().map(Vec::as_slice));
        let differs = |differ: &dyn Fn(&Line<'_>, &Line<'_>) -> bool| {
            lines.windows(2).position(|pair| differ(&pair[0], &pair[1])).map(|above| above + 1)
        };
        // The key has the query without its strata.
        let other_stratum = differs(&|above, line| above.held.run.query != line.held.run.query);
        let other_user = || differs(&|above, line| self.user(above) != self.user(line));
        let other_user = || other_user().map(|number| (number, USER, Fault::AnotherUser));
        // A list that lost lines is not handed over.
        let wrong = if at_fault { None } else { other_user().or_else(|| propensities.fault()) };
        let wrong = other_stratum.map(|number| (number, QUERY, Fault::AnotherStratum)).or(wrong);
        if let Some((number, role, fault)) = wrong {
            at_fault = true;
            self.at_fault(lines[number], role, fault, report);
            lines.truncate(number);
        }
        if let ([_, ..], Some(first)) =
            (lines.as_slice(), runs.iter().find(|held| !held.run.positions.is_empty()))
        {
            let items: Vec<Id> =
                lines.iter().map(|line| self.open[line.held.thread].items[line.place()]).collect();
            let clicks = (0..).zip(&lines).fold(0, |clicks, (place, line)| clicks | line.clicked() << place);
            let positions = lines.iter().map(|line| line.position).collect();
            let list = ShownList::plain(first.run.query, &items, clicks, first.run.spot.at)
                .at(positions)
                .timed(first.run.spot.time);
            let list = match self.open[first.thread].logged.as_ref().map(|logged| logged.runs[first.number]) {
                Some(of) => propensities.with(list.of(of.user, of.session)),
                None => list,
            };
            let is_counted = batches.session(&list, !at_fault);
            if is_counted && at_fault {
                batches.report.sessions_at_fault += 1;
            }
        }
    }

    /// The propensities of lines, by kind.
    fn propensities(&self, lines: &[Line<'_>]) -> [Vec<f64>; NUMBERS] {
        let mut all: [Vec<f64>; NUMBERS] = Default::default();
        for line in lines {
            let Some(logged) = &self.open[line.held.thread].logged else { continue };
            for (all, one) in all.iter_mut().zip(logged.propensities(line.place(), 1).0) {
                all.extend(one);
            }
        }
        all
    }

    /// The place of a line in its list, and all that it says of it.
    fn content(&self, line: Line<'_>) -> impl PartialEq {
        let (item, run) = (self.open[line.held.thread].items[line.place()], line.held.run);
        let logged = (self.user(&line), self.propensities(&[line]));
        (line.position, item, line.clicked(), run.query, logged)
    }

    /// The user of a line, if lists are handed over.
    fn user(&self, line: &Line<'_>) -> Option<u64> {
        self.open[line.held.thread].logged.as_ref()?.runs[line.held.number].user
    }

    #[cold]
    fn at_fault(&self, line: Line<'_>, role: usize, fault: Fault, report: &mut ThreadReport) {
        let run = line.held.run;
        let logged = self.open[line.held.thread].logged.as_ref();
        let (column, text) = if role == QUERY {
            // Strata may have several columns.
            (0, HIDDEN.to_owned())
        } else if role < READ {
            (run.column as usize, self.meaning.named(line.position).to_string())
        } else {
            let place = logged.and_then(|logged| logged.place(line.held.number, role));
            // A user is not shown.
            let kind = (PROPENSITY..=LIST).contains(&role).then(|| role - PROPENSITY);
            let value = kind.and_then(|kind| logged?.propensities(line.place(), 1).0[kind].first().copied());
            let text = value.map_or_else(|| HIDDEN.to_owned(), |value| value.to_string());
            (place.map_or(0, |place| place + 1), text)
        };
        let file = run.spot.file;
        let name = self.names.get(file).map_or("", |name| name);
        let fault = LineFault::new(fault, column, text.as_bytes()).of(Ok(line.clicked()), Ok(1));
        report.line(
            fault,
            &|_| self.columns[role].unwrap_or_default().to_owned(),
            name,
            (file, line.in_file),
        );
    }
}

/// The keys of lists with lines that stand apart.
fn unfinished(runs: &[RunOfThread<'_>]) -> Vec<ListKey> {
    let of_key = runs.chunk_by(|a, b| a.run.key == b.run.key);
    let follows = |before: Option<&RunOfThread<'_>>, run: &Run| {
        run.is_first()
            || !run.positions.is_empty() && before.is_some_and(|before| before.run.continues(run.spot))
    };
    let stands_apart = |runs: &&[RunOfThread<'_>]| {
        let mut before = None;
        !runs.iter().all(|held| follows(before.replace(held), held.run))
    };
    of_key.filter(stands_apart).map(|runs| runs[0].run.key).collect()
}
