//! Reading logs: files in order, in blocks of whole lines, on all cores.
//!
//! A thread reads and decompresses a block and then parses it; one thread reads at a time. So
//! memory does not grow with the file. Counts, reports, and which error comes first do not depend
//! on the number of threads. The README describes what lines and files may look like.

pub mod formats;
mod line;
mod marks;
mod meaning;
mod open_lists;
mod progress;
mod source;

pub use self::formats::{Columns, Format, Frame, ReadColumn, Value};
pub use self::source::Input;

use self::line::{LineFault, LineFormat, is_blank};
use self::marks::{Line, Lines};
use self::meaning::Meaning;
use self::open_lists::{Closing, Spot};
use self::progress::Progress;
use self::source::{Block, Source};
use crate::collect::{Batches, Collector};
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::hold_out::HoldOut;
use crate::log::Log;
use crate::names::{lock, unlocked};
use crate::read_report::ReadReport;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Reads logs of one format.
///
/// # Examples
///
/// Two lines of the KDD Cup 2012 log. The first ad was shown 3 times and clicked twice:
///
/// ```
/// use click_logs::{Format, Reader};
///
/// let log = "2\t3\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n0\t1\t17\t902\t4\t2\t2\t55\t6\t7\t8\t9\n";
/// let log = Reader::new(Format::Kdd2012).read("training.txt", log.as_bytes())?;
/// assert_eq!((log.counts.n_cells(), log.counts.clicks(), log.counts.impressions()), (2, 2, 4));
///
/// // A position beyond the end of the list.
/// let wrong = "0\t1\t17\t901\t4\t2\t3\t55\t6\t7\t8\t9\n";
/// let error = Reader::new(Format::Kdd2012).read("training.txt", wrong.as_bytes()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "training.txt:1: column 7 (Position): a position below the last, 2, found `3`"
/// );
/// # Ok::<(), click_logs::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    format: Format,
    meaning: Meaning,
    /// The largest share of lines that may be skipped; `None` for a strict reader.
    max_skipped: Option<f64>,
    threads: NonZeroUsize,
    block_bytes: usize,
    keep_sessions: bool,
    hold_out: Option<HoldOut>,
}

impl Reader {
    /// A strict reader: the first faulty line is an error. Keeps counts only, and uses all cores.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            meaning: Meaning::USUAL,
            max_skipped: None,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            block_bytes: 1 << 18,
            keep_sessions: false,
            hold_out: None,
        }
    }

    /// Skips faulty lines and counts them by reason. Fails if more than the share `max_share` of
    /// all lines was skipped, or of their impressions or clicks, as far as these can be read.
    /// Damaged compression, an empty log, a wrong header and unreadable files remain errors.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the share is not between 0 and 1.
    pub fn lenient(self, max_share: f64) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&max_share) {
            let message = format!("{max_share} is no share of lines: expected a number from 0 to 1");
            return Err(Error::of(ErrorKind::Settings, "", message));
        }
        Ok(Self { max_skipped: Some(max_share), ..self })
    }

    /// Counts as many clicks as impressions if a line has more clicks, instead of reporting a
    /// fault. The report contains the number of such lines and clicks.
    #[must_use]
    pub fn clip_clicks(self) -> Self {
        Self { meaning: Meaning { clip_clicks: true, ..self.meaning }, ..self }
    }

    /// Lets the positions of a table ([`Format::Delimited`] or Parquet) count from 0. Other formats
    /// define their first position.
    #[must_use]
    pub fn positions_from_zero(self) -> Self {
        Self { meaning: Meaning { first_position: 0, ..self.meaning }, ..self }
    }

    /// Leaves out positions beyond the first `n_positions` instead of reporting a fault if they are
    /// beyond the longest list, 64.
    #[must_use]
    pub fn positions(self, n_positions: usize) -> Self {
        Self { meaning: Meaning { n_positions: n_positions as u64, ..self.meaning }, ..self }
    }

    /// Sets the number of threads; results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the size of a block in bytes, 256 KiB by default; results do not depend on it.
    #[must_use]
    pub fn block_bytes(self, block_bytes: NonZeroUsize) -> Self {
        Self { block_bytes: block_bytes.get().min(source::MAX_BLOCK), ..self }
    }

    /// Also keeps the sessions in memory: the lists that were shown and their clicks.
    #[must_use]
    pub fn keep_sessions(self) -> Self {
        Self { keep_sessions: true, ..self }
    }

    /// Holds out one of `one_in` sessions (impressions, if lines are no sessions) at random, by its
    /// place in the log and `seed`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if `one_in` is below 2: nothing would be left.
    pub fn hold_out(self, one_in: u64, seed: u64) -> Result<Self, Error> {
        if one_in < 2 {
            let message = format!("one in {one_in} held out leaves nothing: expected 2 or more");
            return Err(Error::of(ErrorKind::Settings, "", message));
        }
        Ok(Self { hold_out: Some(HoldOut::new(one_in, seed)), ..self })
    }

    /// Reads files, one after another.
    ///
    /// # Errors
    ///
    /// The first error in the order of files and lines: an unreadable file, a fault of a line
    /// (strict reader), or too many skipped lines (lenient reader).
    pub fn read_files<P: AsRef<Path>>(&self, files: &[P]) -> Result<Log, Error> {
        let inputs = files.iter().map(|path| Input::file(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
        self.read_inputs(inputs)
    }

    /// Reads files and streams, one after another.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files).
    pub fn read_inputs(&self, inputs: Vec<Input<'_>>) -> Result<Log, Error> {
        let collector = Collector::new(self.keep_sessions, self.hold_out);
        let report = self.format.read(self, inputs, &collector)?;
        collector.finish(self.threads, report)
    }

    /// Reads one stream; errors call it `name`.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files).
    pub fn read<'a>(&self, name: &str, stream: impl Read + Send + 'a) -> Result<Log, Error> {
        self.read_inputs(vec![Input::stream(name, stream)])
    }

    fn read_lines<F: LineFormat>(
        &self,
        format: &F,
        inputs: Vec<Input<'_>>,
        collector: &Collector,
    ) -> Result<ReadReport, Error> {
        if inputs.is_empty() {
            return Err(no_file());
        }
        let names: Vec<Arc<str>> = inputs.iter().map(Input::name).collect();
        let source = Mutex::new(Source::new(format, inputs, self.block_bytes, self.max_skipped.is_some()));
        let progress = self.on_threads(collector, usize::MAX, |batches, progress, (memory, buffer)| {
            self.next_block(format, &source, memory, buffer, batches, progress)
        });
        self.finish(progress, collector, &names, &unlocked(source).report)
    }

    /// Calls `step` on at most `most` threads until it returns false or one failed, and sums up.
    fn on_threads<S: Default>(
        &self,
        collector: &Collector,
        most: usize,
        step: impl Fn(&mut Batches<'_>, &mut Progress, &mut S) -> bool + Sync,
    ) -> Progress {
        let (progress, stop) = (Mutex::new(Progress::default()), AtomicBool::new(false));
        let work = || {
            let (mut batches, mut mine, mut state) = (collector.batches(), Progress::default(), S::default());
            while !stop.load(Ordering::Relaxed) && step(&mut batches, &mut mine, &mut state) {
                if mine.failed() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            let report = batches.finish();
            lock(&progress).absorb(mine, &report);
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.get().min(most) {
                scope.spawn(work);
            }
            work();
        });
        unlocked(progress)
    }

    /// Ends the lists that are open, and sums up.
    fn finish(
        &self,
        mut progress: Progress,
        collector: &Collector,
        names: &[Arc<str>],
        source: &ReadReport,
    ) -> Result<ReadReport, Error> {
        let open = std::mem::take(&mut progress.open);
        if let Some(columns) = self.format.columns() {
            let (column, lenient) = (columns.position.as_str(), self.max_skipped.is_some());
            let closing = Closing { names, column, meaning: self.meaning, lenient };
            let (mut batches, mut faults) = (collector.batches(), Progress::default());
            closing.close(&open, &mut batches, &mut faults);
            progress.absorb(faults, &batches.finish());
        }
        progress.finish(source, self.max_skipped)
    }

    /// Reads and parses a block. Returns whether there was one, or an error.
    fn next_block<F: LineFormat>(
        &self,
        format: &F,
        source: &Mutex<Source<'_, F>>,
        memory: &mut F::Memory,
        buffer: &mut Vec<u8>,
        batches: &mut Batches<'_>,
        progress: &mut Progress,
    ) -> bool {
        let block = lock(source).next_block(buffer);
        match block {
            Ok(None) => {
                progress.open.push(F::open_lists(std::mem::take(memory)));
                return false;
            }
            Ok(Some(block)) => self.parse(format, &block, &buffer[..block.len], memory, batches, progress),
            Err((file, error)) => progress.fail((file, u64::MAX), error),
        }
        true
    }

    /// Parses a block; a strict reader stops at the first fault.
    fn parse<F: LineFormat>(
        &self,
        format: &F,
        block: &Block<F::Layout>,
        bytes: &[u8],
        memory: &mut F::Memory,
        batches: &mut Batches<'_>,
        progress: &mut Progress,
    ) {
        let mut lines = Lines::new(bytes, format.cuts(&block.layout));
        let (mut number, mut n_blank) = (block.first_line, 0);
        while let Some((start, line)) = lines.next_line() {
            let at = Spot { at: block.at(start), file: block.file, line: number };
            let n_lines = line.n_lines();
            let counted = match line {
                _ if is_blank(line.whole()) => {
                    n_blank += 1;
                    Ok(())
                }
                Line::Quoted(line) => format.quoted(&block.layout, line, at, memory, batches),
                Line::Cut(columns) => format.line(&block.layout, columns, at, memory, batches),
            };
            if let Err(mut fault) = counted {
                let line = lines.line_from(start);
                if number == 1 && !F::HEADER && looks_like_a_header(line) {
                    fault = LineFault::new(Fault::UnexpectedHeader, 0, line);
                }
                let place = place_of(format, block, number, &fault);
                if self.max_skipped.is_none() {
                    progress.fail((block.file, number), Error::at(ErrorKind::Line(fault.fault), place));
                    return;
                }
                progress.skip(fault.fault, fault.lost, (block.file, number), place);
            }
            number += n_lines;
        }
        progress.report.lines += number - block.first_line - n_blank;
        format.end(memory, batches);
    }
}

fn no_file() -> Error {
    Error::of(ErrorKind::Settings, "", "no file to read")
}

#[cold]
fn place_of<F: LineFormat>(format: &F, block: &Block<F::Layout>, line: u64, fault: &LineFault) -> Place {
    let column = (fault.column > 0).then(|| (fault.column, format.column_name(&block.layout, fault.column)));
    Place {
        file: block.name.to_string(),
        line,
        column,
        text: String::from_utf8_lossy(&fault.text).escape_debug().to_string(),
        message: fault.fault.to_string(),
    }
}

/// Whether every column begins like a word; a line of data has numbers.
fn looks_like_a_header(line: &[u8]) -> bool {
    // A column of row numbers often has no name.
    let mut names = line.split(|byte| b"\t,;|".contains(byte)).filter_map(<[u8]>::first).peekable();
    let begins_a_name =
        |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || matches!(byte, b'_' | b'#' | b'"');
    names.peek().is_some() && names.all(begins_a_name)
}
