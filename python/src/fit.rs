//! `fit`: click models of a log, from files or from tables in memory.
//!
//! `source` finds the log's columns, `columns` reads Arrow and numpy arrays, and `fitted` is the
//! result; `contexts` fits users who differ. Fits and comparison are those of `click_logs::study`,
//! which the command `click-bandits fit` also calls.

mod columns;
mod contexts;
mod evaluation;
mod fitted;
mod online;
mod policy;
mod source;
mod state;

pub(crate) use contexts::ContextFit;
pub(crate) use evaluation::{Evaluation, evaluate};
pub(crate) use fitted::Fitted;
pub(crate) use online::{ab_test, interleaving_test, judgments, test_plan};
pub(crate) use policy::{CountedItem, FromFit, given_of};

use self::contexts::{ContextArguments, fit_log};
use self::source::{Content, Source};
use crate::interrupt::{abandoning, check_signals};
use crate::message::{in_row, none_of, type_error, value_error, warn};
use crate::options::Given;
use click_logs::fit::Model;
use click_logs::settings::{FitSettings, HoldOut};
use click_logs::study::{HeldOut, ModelsToFit, Settings, Step, StudyError, study, with_users};
use log_reader::{Error, ErrorKind, Fault, Filter, Format, ReadSettings, Reader, Ubi};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Fit click models to a click log, with intervals, and compare them on a part that is held out.
///
/// log is a path or a list of paths; or a table in memory: anything with __arrow_c_stream__
/// (polars, pyarrow, DuckDB, pandas), a LazyFrame of polars, a Dataset or Scanner of pyarrow, a
/// connection of DuckDB that has executed a statement, a dict of arrays by column, a list of dicts,
/// or an array of numpy with named fields. A row is an item that was shown at a position.
///
/// Items and queries keep the type that their column has: ints, or strs, as all names of text
/// files. A column that mixes both is refused.
///
/// format is the format of files, as in `click-bandits fit`; "counts" for files or tables with the
/// columns query, item, position, clicks and impressions. columns names columns, as a dict or as
/// text: {"query": .., "item": .., "position": .., "click": ..} and, if a row has several
/// impressions, "impressions"; or "session", for models that need sessions: the rows of a session
/// are one list, wherever they stand, unless it starts from its first position again, elsewhere in
/// the log. Columns of a table that are not named have these names.
///
/// model is a name, a list of names, or "all" for every model that the log supports; with
/// positions, which cuts lists short, that is "pbm" alone, and there is no answer. max_skipped is
/// the largest share of invalid rows that may be skipped; without it the first one is an error. One
/// session in held_out is held out, by seed (one impression without sessions); with "last" the
/// models are fitted to the first half of the sessions and compared on the second. With 0 nothing
/// is held out: there is neither a comparison nor transfer, which take most of the time. Without
/// intervals, estimates have no standard errors either. threads are those that read the log;
/// results do not depend on them.
///
/// Of format "ubi": only what application has logged; impression and click are the actions that
/// show an item and click on it; position_base, 0 or 1, is the ordinal of the first position of
/// lists without hit ids; with exact_queries the words of queries are kept as they are. The other
/// arguments are those of the command.
///
/// With segment, features or items, a policy that sees who asks is fitted, to a log that says who
/// saw its lists: the result is a ContextFit. segment is the column of the user's segment, features
/// are columns of numbers, and columns needs "session"; with "user", users are held out and not
/// sessions. The rows of a list stand together, from the top, and have one segment and the same
/// features. items is a CSV file or a table with the column item and numbers. query is the one to
/// fit, if a column names queries; with ablate, the report tells what each column is worth. model
/// is "cascade", "dcm" or "pbm". The other arguments that it takes are format, columns,
/// first_position, max_skipped, held_out (a number) and seed.
///
/// All other options are those of the command, with underscores: first_position, clip_clicks,
/// max_clicks, min_impressions, min_total_impressions, min_items, top_queries, positions, scope,
/// prior, and today, which `Fitted.answer` uses. In columns, "stratum" names one column or several
/// with ; between them, and "time" one.
///
/// Raises ValueError for what is not a log, with the row and the column, TypeError for columns of
/// other types, and OSError for files.
///
/// Examples:
///     >>> log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 30 + [0] * 40}
///     >>> fitted = fit(log, model="pbm")
///     >>> fitted.models, fitted.counts["clicks"].tolist()
///     (['pbm'], [30, 0])
///     >>> log = {"session": [n // 2 for n in range(100)], **log, "age": [20, 20, 60, 60] * 25}
///     >>> fit(log, model="pbm", features=["age"]).user_features
///     ('age',)
#[pyfunction]
#[pyo3(text_signature = "(log, *, format=None, columns=None, model='all', segment=None, features=None, items=None, query=None, ablate=False, **options)",
    signature = (log, **given))]
pub(crate) fn fit(log: &Bound<'_, PyAny>, given: Option<&Bound<'_, PyDict>>) -> PyResult<Fit> {
    let (py, mut given) = (log.py(), Given::new(log.py(), given)?);
    let (format, columns) = (given.one::<String>("format")?, given.take("columns")?);
    let (format, columns) = (format.as_deref(), columns.as_ref());
    let model = given.one("model")?.unwrap_or(Texts(vec!["all".into()]));
    let features = given.one("features")?.map(|Texts(names)| names);
    let asked = ContextArguments {
        segment: given.one("segment")?,
        features,
        items: given.take("items")?,
        query: given.query()?,
        ablate: given.one("ablate")?.unwrap_or(false),
    };
    let of_contexts = ["first_position", "max_skipped", "held_out", "seed"];
    let mut names = given.dict.keys().iter().map(|name| name.to_string());
    let excess = names.find(|name| !of_contexts.contains(&&**name));
    let (reading, settings, ubi): (ReadSettings, FitSettings, Ubi) =
        (given.all()?, given.all()?, given.all()?);
    given.end("fit")?;
    if asked.is_asked()? {
        if let Some(name) = excess {
            return Err(value_error(format!("{name}: not with segment, features or items")));
        }
        let of_contexts = fit_log((log, format, columns), model, &reading, &settings, asked);
        return of_contexts.map(Fit::Contexts);
    }
    let (options, HoldOut(held_out)) = (settings.options(), settings.held_out);
    let named = models(model)?;
    let (source, format) = Source::new(log, format, columns, ubi, None, &[])?;
    let is_counts = source.is_counts;
    let mut reader = settings.reader(&reading, format.clone()).map_err(value_error)?;
    let no_sessions = no_sessions(&format, is_counts, settings.positions.is_some());
    if no_sessions.is_none() {
        reader = reader.keep_sessions();
    }
    if let (Some(HeldOut::Last), Some(why)) = (held_out, &no_sessions) {
        return Err(value_error(format!(
            "held_out \"last\" needs sessions, since counts have no order, and {why}"
        )));
    }
    let chosen = ModelsToFit::new(named, no_sessions.is_none()).map_err(|model| {
        let why = no_sessions.clone().unwrap_or_default();
        let name = model.name();
        value_error(format!(
            "model {name:?} needs whole sessions with their lists in order, and {why}; or fit \"pbm\""
        ))
    })?;
    if settings.positions.is_some() && format.has_sessions() && !chosen.left_out.is_empty() {
        let names: Vec<&str> = chosen.left_out.iter().map(|model| model.name()).collect();
        let why = no_sessions.unwrap_or_default();
        warn(py, format!("not fitted: {}: they need whole sessions, and {why}", names.join(", ")))?;
    }
    let settings = Settings { models: chosen.models, fit: settings, transfer: held_out.is_some() };
    let study = abandoning(
        py,
        &Arc::default(),
        |_| check_signals(),
        move |stop| {
            run(&settings, &source, &reader, stop).map_err(|error| of_study(error, &settings.fit.filter()))
        },
    )??;
    Ok(Fit::Counts(Fitted { study: Arc::new(study), options, left_out: chosen.left_out, json: None }))
}

/// The results of `fit`.
#[derive(Debug, IntoPyObject)]
#[allow(clippy::large_enum_variant, reason = "moved once")]
pub(crate) enum Fit {
    Counts(Fitted),
    Contexts(ContextFit),
}

/// Reads and fits; stops before the next part of a file and before the next fit.
fn run(
    settings: &Settings,
    source: &Source,
    reader: &Reader,
    stop: &AtomicBool,
) -> Result<click_logs::study::Study, StudyError<PyErr>> {
    // A signal handler that raises nothing.
    let before = |_: Step| if stop.load(Ordering::Relaxed) { Err(value_error("stopped")) } else { Ok(()) };
    let read = || source.inputs(stop).and_then(|inputs| reader.read_inputs(inputs));
    study(settings, || read().map_err(|error| of_log(&error, source)), before)
}

/// A text, or several.
pub(crate) struct Texts(Vec<String>);

impl FromPyObject<'_, '_> for Texts {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let several = given.extract().map(|one: String| vec![one]).or_else(|_| given.extract());
        several
            .map(Self)
            .map_err(|_| type_error(format!("expected a text or a list of texts, got {}", given.get_type())))
    }
}

/// The named models; `None` for all.
fn models(Texts(names): Texts) -> PyResult<Vec<Option<Model>>> {
    if names.is_empty() {
        return Err(value_error("model: expected the name of a model, a list of names, or \"all\""));
    }
    let of_name = |name: String| match Model::from_name(&name)
        .filter(|model| with_users().any(|other| other == *model))
    {
        Some(model) => Ok(Some(model)),
        None if name == "all" => Ok(None),
        None => {
            let known = with_users().map(Model::name).chain(["all"]);
            Err(value_error(none_of(format!("model {name:?} is unknown"), &name, known)))
        }
    };
    names.into_iter().map(of_name).collect()
}

/// Why there are no whole sessions, if so.
fn no_sessions(format: &Format, is_counts: bool, cut: bool) -> Option<String> {
    if is_counts {
        Some("counts have none".into())
    } else if !format.has_sessions() {
        Some("this log has none: name a column for `session`".into())
    } else if cut {
        Some("`positions` cuts them short: leave it out".into())
    } else {
        None
    }
}

fn of_study(error: StudyError<PyErr>, filter: &Filter) -> PyErr {
    match error {
        StudyError::Caller(error) => error,
        StudyError::NothingPasses { n_queries, n_positions } => value_error(format!(
            "nothing to fit: none of {n_queries} queries has {} items with {} impressions at each of {} positions and {} in total: lower \
             min_items, min_impressions, min_total_impressions or positions",
            filter.min_items,
            filter.min_impressions,
            filter.n_positions.unwrap_or(n_positions),
            filter.min_total_impressions,
        )),
        error => value_error(error),
    }
}

/// The library's error; rows of a table in memory count from 0, as its library counts them.
fn of_log(error: &Error, source: &Source) -> PyErr {
    of_log_of(error, source.name, matches!(source.content, Content::Frame(_)))
}

/// An error of a log or a table called `name`, whose rows are counted from 0 if it is in memory.
fn of_log_of(error: &Error, name: &str, is_frame: bool) -> PyErr {
    let place = error.place();
    let message = if place.line > 0 && is_frame {
        let found = if place.text.is_empty() { String::new() } else { format!(", found `{}`", place.text) };
        let column = place.column.as_ref().map_or("", |(_, name)| name);
        in_row(name, place.line - 1, column, format!("{}{found}", place.message))
    } else {
        error.to_string()
    };
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    match (error.kind(), io.map(std::io::Error::kind)) {
        (_, Some(std::io::ErrorKind::NotFound)) => PyFileNotFoundError::new_err(message),
        (ErrorKind::Read, _) => PyOSError::new_err(message),
        (ErrorKind::Line(Fault::PositionZero), _) => {
            value_error(format!("{message}; if positions count from 0, give first_position=0"))
        }
        (ErrorKind::Line(Fault::StandsApart { first: 0 } | Fault::OutOfOrder { next: 0 }), _) => {
            value_error(format!("{message}; if positions count from 1, leave first_position out"))
        }
        (ErrorKind::Line(Fault::PositionBeyondDepth { last: 63.. }), _) if name == "log" => {
            value_error(format!("{message}; positions=N leaves out what is below position N"))
        }
        (ErrorKind::Line(Fault::PositionTwice), _) => {
            value_error(format!("{message}; max_skipped=0.5 leaves out rows that stand twice"))
        }
        (ErrorKind::Line(Fault::ClicksAboveImpressions { .. }), _) => {
            value_error(format!("{message}; give clip_clicks=True to clip clicks to impressions"))
        }
        _ => value_error(message),
    }
}
