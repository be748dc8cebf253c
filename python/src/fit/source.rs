//! The log that `fit` was given: files, or a table in memory with its columns by role.

use super::columns::ArrowColumn;
use crate::message::{did_you_mean, existing, none_of, type_error, value_error, warn};
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, RecordBatch, RecordBatchReader as _};
use arrow_pyarrow::FromPyArrow as _;
use documents::named_twice;
use log_reader::formats;
use log_reader::{Columns, Error, Format, Frame, Input, ReadColumn, Ubi};
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const NAME: &str = "log";
/// The format of counts, one row for each query, item and position.
const COUNTS: &str = "counts";
/// The format of User Behavior Insights.
const UBI: &str = "ubi";

#[derive(Debug)]
pub(super) struct Source {
    /// That of a table in memory in messages.
    pub(super) name: &'static str,
    pub(super) content: Content,
    /// Whether rows are counts.
    pub(super) is_counts: bool,
}

#[derive(Debug)]
pub(super) enum Content {
    Files(Vec<PathBuf>),
    Frame(Frame<'static>),
}

impl Source {
    /// The log, and its format. `contexts` are columns beyond `columns`, of a log that is read with
    /// its contexts; `also` are keys beyond those of all logs.
    ///
    /// # Errors
    ///
    /// `TypeError` for other objects; `ValueError` for a format or columns that do not fit.
    pub(super) fn new(
        log: &Bound<'_, PyAny>,
        format: Option<&str>,
        columns: Option<&Bound<'_, PyAny>>,
        ubi: Ubi,
        contexts: Option<&Pairs>,
        also: &[&'static str],
    ) -> PyResult<(Self, Format)> {
        if format != Some(UBI) && ubi != Ubi::default() {
            let options = "application, impression, click, position_base and exact_queries";
            return Err(value_error(format!("{options}: only for format {UBI:?}")));
        }
        let mut named = columns.map(pairs).transpose()?;
        if named.iter().flatten().any(|(key, _)| Columns::CONTEXT_KEYS.contains(&&**key)) {
            return Err(value_error(
                "columns: `segment` and `features` are arguments of fit: segment=\"..\", features=[\"..\", ..]",
            ));
        }
        if let (Some(named), Some(contexts)) = (&mut named, contexts) {
            named.extend_from_slice(contexts);
        }
        if format == Some(COUNTS) && named.is_some() {
            return Err(value_error(
                "columns: format \"counts\" has the columns of its own name: leave them out",
            ));
        }
        let is_counts = format == Some(COUNTS);
        if let Some(files) = paths(log)? {
            let format = match of_files(&files, format, named)? {
                Format::Ubi(_) => Format::Ubi(ubi),
                other => other,
            };
            return Ok((Self { name: NAME, content: Content::Files(files), is_counts }, format));
        }
        if let Some(format) = format.filter(|_| !is_counts) {
            return Err(value_error(format!(
                "format {format:?} is of files: leave it out for a table in memory"
            )));
        }
        let (frame, format) = of_table(log, is_counts, named, contexts, also)?;
        Ok((Self { name: NAME, content: Content::Frame(frame), is_counts }, format))
    }

    /// Inputs for readers, until they are stopped.
    pub(super) fn inputs<'a>(&'a self, stop: &'a AtomicBool) -> Result<Vec<Input<'a>>, Error> {
        match &self.content {
            Content::Files(files) => files.iter().map(|path| Ok(Input::file(path)?.until(stop))).collect(),
            Content::Frame(frame) => Ok(vec![Input::frame(self.name, frame).until(stop)]),
        }
    }
}

pub(super) type Pairs = Vec<(String, String)>;

/// The columns by key, from a dict or a text.
pub(super) fn pairs(given: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    if let Ok(dict) = given.cast::<PyDict>() {
        let pair = |(key, column): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<(String, String)> {
            // None leaves a column out.
            Ok((key.extract()?, column.extract::<Option<String>>()?.unwrap_or_default()))
        };
        return dict.iter().map(pair).collect();
    }
    let Ok(text) = given.extract::<String>() else {
        let found = given.get_type().name()?;
        return Err(type_error(format!("columns: expected a dict or a text, got {found}")));
    };
    let columns = Columns::parse(&text).map_err(value_error)?;
    Ok(columns.by_key().map(|(key, name)| (key.to_owned(), name.into_owned())).collect())
}

pub(super) fn is_path(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.cast::<PyString>().is_ok() || object.hasattr("__fspath__")?)
}

/// The paths, if the log is one or several.
pub(super) fn paths(log: &Bound<'_, PyAny>) -> PyResult<Option<Vec<PathBuf>>> {
    if is_path(log)? {
        return Ok(Some(vec![log.extract()?]));
    }
    let is_list = log.cast::<PyList>().is_ok() || log.cast::<PyTuple>().is_ok();
    // A list of dicts is a table.
    if !is_list || log.len()? > 0 && log.get_item(0)?.cast::<PyDict>().is_ok() {
        return Ok(None);
    }
    let mut paths = Vec::new();
    for path in log.try_iter()? {
        let path = path?;
        if !is_path(&path)? {
            let found = path.get_type().name()?;
            return Err(type_error(format!("log: expected a list of paths, found {found} in it")));
        }
        paths.push(path.extract()?);
    }
    if let Some([first, path]) = named_twice(&paths).map(|twice| twice.map(Path::display)) {
        let what = "the same file twice: everything in it would be counted twice";
        return Err(value_error(format!("log: {first} and {path}: {what}")));
    }
    Ok(Some(paths))
}

fn of_files(files: &[PathBuf], format: Option<&str>, named: Option<Pairs>) -> PyResult<Format> {
    let are_there =
        || files.iter().try_for_each(|path| existing(NAME, path.clone(), "files or a table", &[]).map(drop));
    let names = || formats::names(|_| true).into_iter().chain(["csv", COUNTS]);
    let Some(format) = format else {
        are_there()?;
        return Err(value_error(none_of("format: missing for files".to_owned(), "", names())));
    };
    if format == COUNTS {
        return Format::counts_of(files).map_err(value_error);
    }
    let Some(row) = formats::find(format) else {
        return Err(value_error(none_of(format!("format {format:?} is unknown"), format, names())));
    };
    are_there()?;
    match named {
        Some(_) if !row.names_columns() => {
            Err(value_error(format!("columns: format {format:?} defines its columns")))
        }
        None if row.names_columns() => Err(value_error(format!(
            "columns: missing for format {format:?}, expected {{\"query\": .., \"item\": .., \"position\": .., \"click\": ..}}"
        ))),
        None => row.format(None).map_err(value_error),
        Some(pairs) => {
            let columns = Columns::named(pairs).map_err(value_error)?;
            let is_parquet = row.name == "parquet";
            if is_parquet {
                Format::parquet_of(columns).map_err(value_error)
            } else {
                Ok(Format::Delimited(columns))
            }
        }
    }
}

/// A table in memory with its format: the named columns only.
fn of_table(
    log: &Bound<'_, PyAny>,
    is_counts: bool,
    named: Option<Pairs>,
    contexts: Option<&Pairs>,
    also: &[&'static str],
) -> PyResult<(Frame<'static>, Format)> {
    frame_of(NAME, log, &|there: &[String]| {
        if is_counts {
            let names = ["query", "item", "position", "clicks", "impressions"];
            return Ok((Format::counts(), names.map(str::to_owned).to_vec()));
        }
        let mut pairs = named.clone().unwrap_or_else(|| contexts.cloned().unwrap_or_default());
        // Columns that are not named have the names of their keys, in Python with underscores.
        for key in Columns::KEYS.iter().chain(also) {
            let Some(name) = there.iter().find(|name| name.replace('_', "-") == *key) else { continue };
            let rivals = [("impressions", "session"), ("session", "impressions")];
            let is_taken = |(other, column): &(String, String)| {
                other.replace('_', "-") == *key
                    || column == name
                    || named.is_some() && rivals.contains(&(*key, other.as_str()))
            };
            if !pairs.iter().any(is_taken) {
                pairs.push(((*key).to_owned(), name.clone()));
            }
        }
        let columns = Columns::named(pairs).map_err(|error| {
            if named.is_some() {
                value_error(error)
            } else {
                let all = if there.is_empty() {
                    "no column with a text as its name".into()
                } else {
                    there.join(", ")
                };
                value_error(format!("{error}; the table has {all}: columns={{\"item\": ..}} names a column"))
            }
        })?;
        let names = columns.by_key().flat_map(|(key, name)| match key {
            "features" => columns.features.clone(),
            "stratum" => columns.strata.clone(),
            _ => vec![name.into_owned()],
        });
        let names: Vec<String> = names.collect();
        if let Some(name) = names.iter().find(|name| !there.contains(name)) {
            let (all, meant) = (there.join(", "), did_you_mean(name, there.iter().map(String::as_str)));
            return Err(value_error(format!("{NAME}: no column `{name}`; the table has {all}{meant}")));
        }
        Ok((Format::Delimited(columns), names))
    })
}

/// From the names of all columns: something, and the names of those that are read.
type NamedBy<'a, T> = dyn Fn(&[String]) -> PyResult<(T, Vec<String>)> + 'a;

/// A table in memory, called `of` in messages, and what `format` makes of the names of its columns:
/// with the columns that it names only.
pub(super) fn frame_of<T>(
    of: &str,
    log: &Bound<'_, PyAny>,
    format: &NamedBy<'_, T>,
) -> PyResult<(Frame<'static>, T)> {
    let frames = log.py().import("click_bandits._frames")?;
    let resolved = frames.call_method1("resolved", (of, log))?;
    let (log, there): (Bound<'_, PyAny>, Option<Vec<String>>) = resolved.extract()?;
    let Some(there) = there else {
        let batches = batches(of, &log)?;
        let (format, names) = format(&batches.0)?;
        return Ok((of_batches(log.py(), of, &batches, &names)?, format));
    };
    let (format, names) = format(&there)?;
    let used: Vec<&String> = there.iter().filter(|name| names.contains(name)).collect();
    // Only the named columns: others may hold what Arrow does not.
    let chosen = frames.call_method1("chosen", (&log, used))?;
    if chosen.is_none() {
        return Ok((by_columns(of, &log, &names, &there)?, format));
    }
    match batches(of, &chosen) {
        Ok(batches) => return Ok((of_batches(log.py(), of, &batches, &names)?, format)),
        // pandas hands out Arrow only with pyarrow, and refuses columns of mixed types; polars
        // hands out columns of nulls with a buffer too many.
        Err(error) if error.is_instance_of::<PyImportError>(log.py()) => {}
        Err(error) if error.is_instance_of::<PyValueError>(log.py()) => {}
        Err(error) if error.get_type(log.py()).name()?.to_string_lossy().starts_with("Arrow") => {}
        Err(error) => return Err(error),
    }
    Ok((by_columns(of, &chosen, &names, &there)?, format))
}

/// The names of the columns of a table that hands out Arrow, and all its batches.
type Batches = (Vec<String>, Vec<RecordBatch>);

fn batches(of: &str, table: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let reader = RecordBatchStreamReader::from_pyarrow_bound(table)?;
    let schema = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    // Without the lock: the table may be computed now, by threads that need it.
    let batches = table.py().detach(|| reader.collect::<Result<Vec<_>, _>>());
    Ok((schema, batches.map_err(|error| value_error(format!("{of}: {error}")))?))
}

/// The named columns of all batches. A column that is missing or there twice is reported by the
/// reader.
fn of_batches(
    py: Python<'_>,
    name: &str,
    (schema, batches): &Batches,
    names: &[String],
) -> PyResult<Frame<'static>> {
    let used: Vec<usize> = (0..schema.len()).filter(|&place| names.contains(&schema[place])).collect();
    let (first, second) = batches.split_at(batches.len() / 2);
    let n_rows: usize = first.iter().map(RecordBatch::num_rows).sum();
    let is_copy = match &batches[..] {
        [all] => is_doubled(&used.iter().map(|&place| &**all.column(place)).collect::<Vec<_>>()),
        _ => n_rows >= FEW && first == second,
    };
    warn_of_copy(py, name, is_copy)?;
    let mut frame = Frame::new(used.iter().map(|&place| schema[place].clone()));
    for batch in batches {
        let column = |&place: &usize| ArrowColumn::new(name, &schema[place], batch.column(place).clone());
        frame = add(frame, batch.num_rows(), used.iter().map(column).collect::<PyResult<_>>()?)?;
    }
    Ok(frame)
}

/// Rows that may be there twice by chance.
const FEW: usize = 50;

/// Returns whether the second half of the rows is a copy of the first, which repeats no part of
/// itself, as the rows of an example may.
fn is_doubled(columns: &[&dyn Array]) -> bool {
    let n_rows = columns.first().map_or(0, |column| column.len());
    let repeats_after = |period: usize| {
        let n = n_rows - period;
        columns.iter().all(|column| *column.slice(0, n) == *column.slice(period, n))
    };
    let half = n_rows / 2;
    let mut parts = (2..=half).filter(|part| half.is_multiple_of(*part));
    n_rows.is_multiple_of(2)
        && half >= FEW
        && repeats_after(half)
        && !parts.any(|part| repeats_after(half / part))
}

fn warn_of_copy(py: Python<'_>, of: &str, is_copy: bool) -> PyResult<()> {
    let message =
        format!("{of}: the second half of the rows is a copy of the first: everything counts twice");
    if is_copy { warn(py, message) } else { Ok(()) }
}

/// The named columns of a dict or a data frame, copied.
fn by_columns(
    of: &str,
    table: &Bound<'_, PyAny>,
    names: &[String],
    there: &[String],
) -> PyResult<Frame<'static>> {
    let used: Vec<&String> = there.iter().filter(|name| names.contains(name)).collect();
    let mut arrays: Vec<ArrowColumn> = Vec::new();
    for name in &used {
        let array = ArrowColumn::copied(of, name, &table.get_item(name.as_str())?)?;
        if let Some((first, other)) =
            used.first().zip(arrays.first()).filter(|(_, other)| other.len() != array.len())
        {
            return Err(value_error(format!(
                "{of}: column `{name}` has {} rows and column `{first}` has {}",
                array.len(),
                other.len()
            )));
        }
        arrays.push(array);
    }
    let n_rows = arrays.first().map_or(0, ArrowColumn::len);
    let columns: Vec<&dyn Array> = arrays.iter().map(ArrowColumn::array).collect();
    warn_of_copy(table.py(), of, is_doubled(&columns))?;
    add(Frame::new(used.iter().map(|name| (*name).clone())), n_rows, arrays)
}

fn add(frame: Frame<'static>, n_rows: usize, columns: Vec<ArrowColumn>) -> PyResult<Frame<'static>> {
    let columns = columns.into_iter().map(|column| Box::new(column) as Box<dyn ReadColumn>);
    frame.batch(n_rows, columns.collect()).map_err(value_error)
}
