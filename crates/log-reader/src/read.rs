//! Reading logs: files in order, on all cores.
//!
//! Counts, reports, and which error comes first do not depend on the number of threads. The README
//! describes lines and files.

mod blocks;
mod closing;
pub mod formats;
mod frames;
mod handing;
mod line;
mod marks;
mod meaning;
mod open_lists;
mod rows;
mod source;
mod thread_report;

pub use self::formats::{Format, Frame, ReadColumn, Ubi, Value};
pub use self::rows::{RowColumn, TakeRows, read_rows, read_ubi_clicks};
pub use self::source::Input;

pub(crate) use self::meaning::Meaning;
use crate::collect::Collector;
use crate::error::{Error, ErrorKind};
use crate::log::Log;
use crate::names::Ids;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::Path;

/// Reads logs of one format.
///
/// # Examples
///
/// Two lines of the KDD Cup 2012 log. The first ad was shown 3 times and clicked twice:
///
/// ```
/// use log_reader::{Format, Reader};
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
/// # Ok::<(), log_reader::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Reader {
    /// The format of the logs.
    #[field]
    format: Format,
    meaning: Meaning,
    /// The largest share of lines that may be skipped; `None` for a strict reader.
    max_skipped: Option<f64>,
    threads: NonZeroUsize,
    block_bytes: usize,
    keep_sessions: bool,
    max_clicks: Option<u32>,
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
            max_clicks: None,
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

    /// Also keeps the sessions in memory: the lists that were shown, their clicks and their order.
    #[must_use]
    pub fn keep_sessions(self) -> Self {
        Self { keep_sessions: true, ..self }
    }

    /// Leaves out sessions with more than `most` clicked positions, such as those of robots. The
    /// report contains their number.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the format has no sessions ([`Format::has_sessions`]).
    pub fn max_clicks(self, most: u32) -> Result<Self, Error> {
        if !self.format.has_sessions() {
            let message =
                format!("sessions of more than {most} clicks cannot be left out: the log has no sessions");
            return Err(Error::of(ErrorKind::Settings, "max_clicks", message));
        }
        Ok(Self { max_clicks: Some(most), ..self })
    }

    /// Reads files, one after another.
    ///
    /// # Errors
    ///
    /// The first error in the order of files and lines: an unreadable file, a fault of a line
    /// (strict reader), or too many skipped lines (lenient reader). No position is 0, although
    /// positions are to count from 0.
    pub fn read_files<P: AsRef<Path>>(&self, files: &[P]) -> Result<Log, Error> {
        let inputs = files.iter().map(|path| Input::file(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
        self.read_inputs(inputs)
    }

    /// Reads files and streams, one after another, or a table in memory.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files); [`ErrorKind::Settings`] for a table in memory among
    /// others, or if the format has fixed columns.
    pub fn read_inputs(&self, inputs: Vec<Input<'_>>) -> Result<Log, Error> {
        let collector = self.collector(Ids::new());
        let (report, _) = self.format.read(self, inputs, &collector)?;
        collector.finish(self.threads, report)
    }

    fn collector<'a>(&self, ids: Ids) -> Collector<'a> {
        Collector::new(ids, self.keep_sessions, self.max_clicks)
    }

    /// Reads one stream; errors call it `name`.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files).
    pub fn read<'a>(&self, name: &str, stream: impl Read + Send + 'a) -> Result<Log, Error> {
        self.read_inputs(vec![Input::stream(name, stream)])
    }
}

/// Checks that these are files and streams, and that there are any.
fn check_files(inputs: &[Input<'_>]) -> Result<(), Error> {
    if inputs.is_empty() {
        return Err(Error::of(ErrorKind::Settings, "", "no file to read"));
    }
    let message = "a table in memory is read alone, by the names of its columns";
    let in_memory = inputs.iter().find(|input| input.frame.is_some());
    in_memory.map_or(Ok(()), |input| Err(Error::of(ErrorKind::Settings, &input.name, message)))
}
