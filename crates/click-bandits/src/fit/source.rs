//! Reads the log and fits, with progress and the command's messages.

use super::arguments::{Arguments, ONLY_UBI, SettingSource};
use super::inputs::Inputs;
use crate::progress::Progress;
use crate::usage::{Usage, bail_usage};
use anyhow::{Result, anyhow};
use click_logs::fit::Model;
use click_logs::study::{HeldOut, ModelsToFit, Settings, Step, Study, StudyError, study};
use evaluation::{Question, Tally};
use log_reader::formats::{self, FormatRow, SessionsOf};
use log_reader::{ErrorKind, Fault, Format, Ids, Log, Place, ReadLists, ReadSettings, Reader, Ubi};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The source of counts and sessions.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    arguments: &'a Arguments,
    pub(crate) reader: Reader,
    is_parquet: bool,
    pub(crate) threads: usize,
    pub(crate) models: Vec<Model>,
    /// Models that `all` would include but the log does not support.
    pub(crate) left_out: Vec<Model>,
}

impl<'a> Source<'a> {
    /// Checks the arguments, and prepares a reader.
    pub(crate) fn new(arguments: &'a Arguments) -> Result<Self> {
        let format = format(arguments)?;
        let none_in_log = match arguments.format {
            None => Some("counts have none".to_owned()),
            Some(_) if !format.has_sessions() => Some(format!(
                "this log has none: give one of format {}, or a table with session=.. in --columns",
                formats::names(|row| row.sessions == SessionsOf::Log).join(" or ")
            )),
            Some(_) => None,
        };
        if let (Some(_), Some(why)) = (arguments.settings.max_clicks, &none_in_log) {
            bail_usage!("--max-clicks: it needs sessions, and {why}");
        }
        let cut_short =
            || arguments.settings.positions.map(|_| "--positions cuts them short: leave it out".to_owned());
        let no_sessions = none_in_log.or_else(cut_short);
        let named = arguments.model.iter().copied();
        let to_fit = ModelsToFit::new(named, no_sessions.is_none());
        let ModelsToFit { models, left_out } = to_fit.map_err(|model| {
            let why = no_sessions.clone().unwrap_or_default();
            anyhow!(Usage(format!(
                "--model {model}: it needs whole sessions with their lists in order, and {why}; or fit pbm"
            )))
        })?;
        let by_order = arguments.settings.held_out.0 == Some(HeldOut::Last);
        if let (true, Some(why)) = (by_order, &no_sessions) {
            bail_usage!("--held-out last: it needs sessions, since counts have no order, and {why}");
        }
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads =
            arguments.reading.threads.filter(|threads| *threads > 0).map_or_else(cores, usize::from);
        let is_parquet = matches!(format, Format::Parquet(_));
        let max_skipped = arguments.max_skipped();
        let reading = ReadSettings { max_skipped, ..arguments.reading.clone() };
        let reader = arguments.settings.reader(&reading, format);
        let mut reader = reader.map_err(|error| anyhow!(Usage(as_option(&error))))?;
        // The answer needs the log's lists, whatever the models need.
        if no_sessions.is_none()
            && (by_order || arguments.answer > 0 || models.iter().any(|model| model.needs_sessions()))
        {
            reader = reader.keep_sessions();
        }
        Ok(Self { arguments, reader, is_parquet, threads, models, left_out })
    }

    fn read(&self, reader: &Reader, inputs: &Inputs) -> Result<Log> {
        reading(inputs, self.is_parquet, self.arguments.quiet, |watch| {
            let inputs = inputs.read(watch)?;
            reader.read_inputs(inputs).map_err(|error| with_remedy(self.arguments, &error))
        })
    }

    /// Reads the lists of the files for a question, and the log with its sessions if models need
    /// it.
    pub(crate) fn read_lists<'q>(
        &self,
        inputs: &Inputs,
        ids: Ids,
        question: &'q Question,
    ) -> Result<ReadLists<Tally<'q>>> {
        let read = reading(inputs, self.is_parquet, self.arguments.quiet, |watch| {
            // Files that are read twice are not counted twice.
            let open = |pass| inputs.read(if pass == 0 { watch } else { &|_| {} });
            let read: Result<_> = self.reader.read_lists(ids, open, || question.tally());
            read.map_err(|error| match error.downcast::<log_reader::Error>() {
                Ok(error) => with_remedy(self.arguments, &error),
                Err(error) => error,
            })
        })?;
        inputs.check_unchanged()?;
        Ok(read)
    }

    /// Reads the log and fits the models. `tell` gets what is done next.
    pub(crate) fn study(&self, inputs: &Inputs, tell: &dyn Fn(&str)) -> Result<Study> {
        let (models, fit) = (self.models.clone(), self.arguments.settings.clone());
        let settings = Settings { models, fit, transfer: self.arguments.answer > 0 };
        let read = || {
            let log = self.read(&self.reader, inputs)?;
            inputs.check_unchanged()?;
            Ok(log)
        };
        let before = |step| {
            match step {
                Step::Read => tell(&format!("reading {}", self.arguments.named())),
                Step::Fit(model) => tell(&format!("fitting {model}")),
                Step::Compare => tell("comparing on what is held out"),
                Step::Transfer => tell("predicting lists that are left out"),
            }
            Ok(())
        };
        study(&settings, read, before).map_err(|error| match error {
            StudyError::Caller(error) => error,
            StudyError::NothingPasses { n_queries, n_positions } => {
                self.nothing_passes(n_queries, n_positions)
            }
            error => anyhow!("{error}"),
        })
    }

    /// The filter, and how to let more pass.
    fn nothing_passes(&self, n_queries: usize, n_positions: usize) -> anyhow::Error {
        let options = match self.arguments.settings_from {
            SettingSource::CommandLine | SettingSource::Evaluation => {
                ": lower --min-items, --min-impressions, --min-total-impressions or --positions"
            }
            SettingSource::Experiment => ", as the experiment requires (`[log]`)",
        };
        let filter = self.arguments.settings.filter();
        let in_total = match filter.min_total_impressions {
            0 => String::new(),
            total => format!(" and {total} in total"),
        };
        anyhow!(
            "nothing to fit: none of {n_queries} queries has {} items with {} impressions at each of {} positions{in_total}{options}",
            filter.min_items,
            filter.min_impressions,
            filter.n_positions.unwrap_or(n_positions),
        )
    }
}

/// The remedy for a log of which too much is skipped.
pub(crate) const MORE_SKIPPED: &str = "\nTo skip more, give --lenient --max-skipped SHARE, up to 1.";

/// The library's message, which includes the system's, with an option that may help.
pub(super) fn with_remedy(arguments: &Arguments, error: &log_reader::Error) -> anyhow::Error {
    let Arguments { settings_from, format, settings, .. } = arguments;
    let names_columns = format.is_none_or(FormatRow::names_columns);
    let is_fit = *settings_from == SettingSource::CommandLine && !arguments.context.context;
    let remedy = match error.kind() {
        _ if *settings_from == SettingSource::Experiment => "",
        ErrorKind::Settings => return anyhow!(as_option(error)),
        ErrorKind::Line(Fault::UnexpectedHeader)
            if ["urls", "clicked_mask"].iter().all(|name| error.place().text.contains(name)) =>
        {
            ": these are the columns of --format sessions"
        }
        ErrorKind::Header if !names_columns => {
            "; a table with other columns is of --format delimited, with --columns query=..,item=..,position=..,click=.."
        }
        ErrorKind::Line(Fault::UnexpectedHeader) => {
            ": give --format delimited --columns query=..,item=..,position=..,click=.."
        }
        ErrorKind::Line(Fault::PositionZero) if names_columns => {
            "; if they count from 0, give --first-position 0"
        }
        ErrorKind::Line(Fault::StandsApart { first: 0 } | Fault::OutOfOrder { next: 0 }) => {
            "; if they count from 1, leave --first-position out"
        }
        // 64 positions, or those of a format that counts them.
        ErrorKind::Line(Fault::PositionBeyondDepth { last: 63.. })
            if is_fit && settings.positions.is_none() =>
        {
            "; --positions N leaves out what is below position N"
        }
        ErrorKind::Line(Fault::PositionTwice) => {
            "; --lenient --max-skipped 0.5 leaves out lines that stand twice; if a session has several lists, name a column with a value for each list"
        }
        ErrorKind::TooManySkipped => MORE_SKIPPED,
        ErrorKind::Line(Fault::ClicksAboveImpressions { .. }) if is_fit => {
            "; give --clip-clicks to clip clicks to impressions"
        }
        _ => "",
    };
    anyhow!("{error}{remedy}")
}

/// Shows progress while files are read.
pub(crate) fn reading<T>(
    inputs: &Inputs,
    is_parquet: bool,
    quiet: bool,
    read: impl FnOnce(&(dyn Fn(u64) + Sync)) -> Result<T>,
) -> Result<T> {
    const MEGABYTE: u64 = 1_000_000;
    let progress = Progress::start("reading", inputs.bytes().div_ceil(MEGABYTE), "MB", quiet);
    let done = AtomicU64::new(0);
    let watch = |more: u64| {
        let before = done.fetch_add(more, Ordering::Relaxed);
        match (before + more) / MEGABYTE - before / MEGABYTE {
            0 => {}
            megabytes => progress.add(megabytes),
        }
    };
    let read = || read(&watch);
    if is_parquet { without_panic_messages(read) } else { read() }
}

/// The library's message about a setting, which has the name of its field, about the option.
pub(crate) fn as_option(error: &log_reader::Error) -> String {
    let Place { file, message, .. } = error.place();
    if file.is_empty() { message.clone() } else { format!("--{}: {message}", file.replace('_', "-")) }
}

pub(super) fn format(arguments: &Arguments) -> Result<Format> {
    let columns = arguments.columns.as_deref();
    let settings = |error: log_reader::Error| anyhow!(Usage(as_option(&error)));
    if arguments.format.is_some_and(|format| matches!(format.format(columns), Ok(Format::Ubi(_)))) {
        return Ok(Format::Ubi(arguments.ubi.clone()));
    }
    if arguments.ubi != Ubi::default() {
        bail_usage!("{ONLY_UBI}");
    }
    let Some(format) = arguments.format else {
        return Format::counts_of(&arguments.counts).map_err(settings);
    };
    match columns {
        None if format.names_columns() => {
            bail_usage!("--columns: missing: expected query=..,item=..,position=..,click=.. (see --help)")
        }
        Some(_) if !format.names_columns() => {
            bail_usage!(
                "--columns: only for --format {}; the other formats define their columns",
                formats::names(FormatRow::names_columns).join(" and ")
            )
        }
        columns => format.format(columns).map_err(settings),
    }
}

/// Suppresses the messages of panics, into which a damaged Parquet file may drive its library. The
/// reader turns them into errors.
fn without_panic_messages<T>(read: impl FnOnce() -> T) -> T {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = read();
    std::panic::set_hook(usual);
    result
}
