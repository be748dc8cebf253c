//! Reads the log: the models that it supports, the data to fit, and the held-out part.

use super::arguments::{Arguments, SettingSource};
use super::inputs::Inputs;
use crate::progress::Progress;
use anyhow::{Result, anyhow, bail};
use click_logs::fit::{Model, split};
use click_logs::formats::{self, FormatRow, SessionsOf};
use click_logs::{Counts, ErrorKind, Fault, Filter, Format, HeldOut, Log, ReadReport, Reader, Sessions};
use std::fs::{self, File};
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The source of counts and sessions.
#[derive(Debug)]
pub(super) struct Source {
    reader: Reader,
    is_parquet: bool,
    /// The format of the logs; `None` if the files are counts, one line for each cell.
    format: Option<&'static FormatRow>,
    threads: NonZeroUsize,
    models: Vec<Model>,
    /// Models that `all` would include but the log does not support.
    left_out: Vec<Model>,
    filter: Filter,
    held_out: u64,
    seed: u64,
    quiet: bool,
    settings_from: SettingSource,
}

/// The whole log after the filter.
#[derive(Debug)]
pub(super) struct UnsplitLog {
    /// Counts of what was read and skipped.
    pub(super) report: ReadReport,
    /// Number of queries of the log, before the filter.
    pub(super) n_queries: usize,
    /// The cells that pass the filter.
    pub(super) counts: Counts,
    /// The sessions of the queries that pass, if a model needs them.
    pub(super) sessions: Sessions,
}

/// The log in two parts: one for fits, one to compare them on.
#[derive(Debug)]
pub(super) struct SplitLog {
    /// Counts for fits.
    pub(super) counts: Counts,
    /// Sessions for fits.
    pub(super) sessions: Sessions,
    /// The held-out part.
    pub(super) held_out: HeldOut,
}

/// The models of `--model all`.
const ALL: [Model; 7] =
    [Model::Pbm, Model::Cascade, Model::Dcm, Model::Ubm, Model::Sdbn, Model::Dbn, Model::Ccm];

impl Source {
    /// Checks the arguments, and prepares a reader.
    ///
    /// # Errors
    ///
    /// The arguments do not go together.
    pub(super) fn new(arguments: &Arguments) -> Result<Self> {
        let format = format(arguments)?;
        let no_sessions = match arguments.format {
            None => Some("counts have none".to_owned()),
            Some(_) if !format.has_sessions() => Some(format!(
                "this log has none: give one of format {}, or a table with session=.. in --columns",
                with_sessions()
            )),
            Some(_) if arguments.positions.is_some() => {
                Some("--positions cuts them short: leave it out".to_owned())
            }
            Some(_) => None,
        };
        let (mut models, mut left_out) = (Vec::new(), Vec::new());
        for name in &arguments.model {
            let asked = name.model();
            for model in asked.map_or(ALL.to_vec(), |model| vec![model]) {
                match no_sessions.as_ref().filter(|_| model.needs_sessions()) {
                    Some(why) if asked.is_some() => bail!(
                        "--model {model}: it needs whole sessions with their lists in order, and {why}; or fit pbm"
                    ),
                    Some(_) if !left_out.contains(&model) => left_out.push(model),
                    None if !models.contains(&model) => models.push(model),
                    _ => {}
                }
            }
        }
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads =
            arguments.threads.and_then(|threads| NonZeroUsize::new(threads.into())).unwrap_or(cores);
        let is_parquet = matches!(format, Format::Parquet(_));
        let mut reader = Reader::new(format).threads(threads);
        if arguments.lenient {
            reader = reader
                .lenient(arguments.share_to_skip())
                .map_err(|error| anyhow!("--max-skipped: {error}"))?;
        }
        if arguments.clip_clicks {
            reader = reader.clip_clicks();
        }
        if arguments.first_position == 0 {
            if arguments.format.is_some_and(|format| !format.names_columns()) {
                bail!(
                    "--first-position: only for --format {} and for --counts; the other formats define the first position",
                    with_named_columns()
                );
            }
            reader = reader.positions_from_zero();
        }
        // The answer needs the log's lists, whatever the models need.
        if no_sessions.is_none()
            && (arguments.answer > 0 || models.iter().any(|model| model.needs_sessions()))
        {
            reader = reader.keep_sessions();
        }
        Ok(Self {
            reader,
            is_parquet,
            format: arguments.format,
            threads,
            models,
            left_out,
            filter: arguments.filter(),
            held_out: arguments.held_out,
            seed: arguments.seed,
            quiet: arguments.quiet,
            settings_from: arguments.settings_from,
        })
    }

    /// Reads the files, and shows progress.
    fn read(&self, reader: &Reader, inputs: &Inputs, what: &str) -> Result<Log> {
        const MEGABYTE: u64 = 1_000_000;
        let progress = Progress::start(what, inputs.bytes().div_ceil(MEGABYTE), "MB", self.quiet);
        let done = AtomicU64::new(0);
        let watch = |more: u64| {
            let before = done.fetch_add(more, Ordering::Relaxed);
            match (before + more) / MEGABYTE - before / MEGABYTE {
                0 => {}
                megabytes => progress.add(megabytes),
            }
        };
        let inputs = inputs.read(&watch)?;
        let read = || reader.read_inputs(inputs).map_err(|error| self.with_remedy(&error));
        if self.is_parquet { without_panic_messages(read) } else { read() }
    }

    /// The models to fit, at least one.
    pub(super) fn models(&self) -> &[Model] {
        &self.models
    }

    /// Models that `all` would include but the log does not support.
    pub(super) fn left_out(&self) -> &[Model] {
        &self.left_out
    }

    /// The number of threads that read.
    pub(super) fn threads(&self) -> usize {
        self.threads.get()
    }

    /// Reads everything.
    ///
    /// # Errors
    ///
    /// The log cannot be read, or nothing passes the filter.
    pub(super) fn whole(&self, inputs: &Inputs) -> Result<UnsplitLog> {
        let log = self.read(&self.reader, inputs, "reading")?;
        let n_queries = log.counts.n_queries();
        if n_queries == 0 {
            bail!("nothing to fit: the log has no impressions: {}", log.report);
        }
        let counts = log.counts.filtered(&self.filter);
        if counts.n_queries() == 0 {
            let options = match self.settings_from {
                SettingSource::CommandLine => {
                    ": lower --min-items, --min-impressions, --min-total-impressions or --positions"
                }
                SettingSource::Experiment => ", as the experiment requires (`[log]`)",
            };
            let in_total = match self.filter.min_total_impressions {
                0 => String::new(),
                total => format!(" and {total} in total"),
            };
            bail!(
                "nothing to fit: none of {n_queries} queries has {} items with {} impressions at each of {} positions{in_total}{options}",
                self.filter.min_items,
                self.filter.min_impressions,
                self.filter.n_positions.unwrap_or_else(|| log.counts.n_positions()),
            );
        }
        let sessions = log.sessions.restricted(|query| counts.query(query).is_some());
        Ok(UnsplitLog { report: log.report, n_queries, counts, sessions })
    }

    /// Reads everything again and holds a part out. `None` if one of the parts is empty. Sessions are held out whole, including items that
    /// do not pass the filter; then all models are fitted to all items of the queries that pass.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub(super) fn apart(&self, whole: &UnsplitLog, inputs: &Inputs) -> Result<Option<SplitLog>> {
        let apart = if self.format.is_none() {
            let [counts, held_out] = split(&whole.counts, self.held_out, self.seed)?;
            let held_out = HeldOut { counts: held_out, sessions: Sessions::default() };
            SplitLog { counts, sessions: Sessions::default(), held_out }
        } else {
            let reader = self
                .reader
                .clone()
                .hold_out(self.held_out, self.seed)
                .map_err(|error| self.with_remedy(&error))?;
            let log = self.read(&reader, inputs, "reading again")?;
            // Queries and items are numbered in the order of the log, so identifiers of a changed log would differ.
            if log.report != whole.report {
                bail!("the log changed between two readings: fit a copy of it");
            }
            let held_out = log
                .held_out
                .unwrap_or_else(|| HeldOut { counts: Counts::default(), sessions: Sessions::default() });
            let query_passes = |query| whole.counts.query(query).is_some();
            if whole.sessions.is_empty() {
                let passing = |counts: Counts| passing(&counts, &whole.counts);
                let held_out = HeldOut { counts: passing(held_out.counts), sessions: Sessions::default() };
                SplitLog { counts: passing(log.counts), sessions: Sessions::default(), held_out }
            } else {
                SplitLog {
                    counts: log.counts.restricted(|query, _| query_passes(query)),
                    sessions: log.sessions.restricted(query_passes),
                    held_out: HeldOut {
                        counts: held_out.counts.restricted(|query, _| query_passes(query)),
                        sessions: held_out.sessions.restricted(query_passes),
                    },
                }
            }
        };
        let empty = apart.counts.n_cells() == 0 || apart.held_out.counts.n_cells() == 0;
        Ok((!empty).then_some(apart))
    }

    /// The library's message, which includes the system's, with an option that may help.
    fn with_remedy(&self, error: &click_logs::Error) -> anyhow::Error {
        match (self.settings_from, error.kind()) {
            (SettingSource::CommandLine, ErrorKind::Line(Fault::UnexpectedHeader))
                if ["urls", "clicked_mask"].iter().all(|name| error.place().text.contains(name)) =>
            {
                anyhow!("{error}: these are the columns of --format sessions")
            }
            (SettingSource::CommandLine, ErrorKind::Header)
                if !self.format.is_none_or(FormatRow::names_columns) =>
            {
                anyhow!(
                    "{error}; a table with other columns is of --format delimited, with --columns query=..,item=..,position=..,click=.."
                )
            }
            (SettingSource::CommandLine, ErrorKind::Line(Fault::UnexpectedHeader)) => {
                anyhow!("{error}: give --format delimited --columns query=..,item=..,position=..,click=..")
            }
            (SettingSource::CommandLine, ErrorKind::Line(Fault::PositionZero)) => {
                anyhow!("{error}; if they count from 0, give --first-position 0")
            }
            (SettingSource::CommandLine, ErrorKind::Line(Fault::ClicksAboveImpressions { .. })) => {
                anyhow!("{error}; give --clip-clicks to clip clicks to impressions")
            }
            _ => anyhow!(error.to_string()),
        }
    }
}

/// The cells of `counts` that `others` also have.
fn passing(counts: &Counts, others: &Counts) -> Counts {
    let mut of_query: Option<(click_logs::Id, Vec<click_logs::Cell>)> = None;
    counts.restricted(|query, cell| {
        if of_query.as_ref().is_none_or(|(last, _)| *last != query) {
            let cells = others.query(query).map_or_else(Vec::new, |query| query.cells().collect());
            of_query = Some((query, cells));
        }
        let place = (cell.item, cell.position);
        of_query.as_ref().is_some_and(|(_, cells)| {
            cells.binary_search_by_key(&place, |other| (other.item, other.position)).is_ok()
        })
    })
}

fn format(arguments: &Arguments) -> Result<Format> {
    let columns = arguments.columns.as_deref();
    let settings = |error: click_logs::Error| anyhow!("--{error}");
    let Some(format) = arguments.format else {
        let n_parquet = arguments.counts.iter().filter(|path| is_parquet(path)).count();
        return match n_parquet {
            0 => Ok(Format::counts()),
            all if all == arguments.counts.len() => Format::parquet(COUNTS).map_err(settings),
            _ => {
                bail!("--counts: some of the files are Parquet and some are not: expected files of one kind")
            }
        };
    };
    match columns {
        None if format.names_columns() => {
            bail!("--columns: missing: expected query=..,item=..,position=..,click=.. (see --help)")
        }
        Some(_) if !format.names_columns() => {
            bail!(
                "--columns: only for --format {}; the other formats define their columns",
                with_named_columns()
            )
        }
        columns => format.format(columns).map_err(settings),
    }
}

/// The names of the formats that need `--columns`, for readers.
fn with_named_columns() -> String {
    formats::names(FormatRow::names_columns).join(" and ")
}

/// The names of the formats that always have sessions, for readers.
fn with_sessions() -> String {
    formats::names(|row| row.sessions == SessionsOf::Log).join(" or ")
}

/// The columns of a table of counts.
const COUNTS: &str = "query=query,item=item,position=position,click=clicks,impressions=impressions";

/// Suppresses the messages of panics. The Parquet library may panic on a damaged file; the reader turns that into an error for the user.
fn without_panic_messages<T>(read: impl FnOnce() -> T) -> T {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = read();
    std::panic::set_hook(usual);
    result
}

/// Whether a file is Parquet, by its first bytes or its name.
fn is_parquet(path: &Path) -> bool {
    let mut beginning = [0; 4];
    // A pipe can be read only once, so its bytes are not checked.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let of_content = is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && beginning == *b"PAR1";
    of_content || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}
