//! `evaluate`: what another ranking would have earned on a log.

use super::columns::text;
use super::source::{Source, is_path};
use super::{Texts, models, of_log};
use crate::interrupt::interruptible;
use crate::message::{existing, in_python, in_row, type_error, value_error};
use crate::options::Given;
use crate::reduced::reduced;
use crate::sequence;
use crate::table::{Column, Table};
use ::evaluation::{EvaluationError, Key, Question, Ranking, RankingError, Row};
use click_logs::study::ModelsToFit;
use log_reader::{Columns, Format, Ids, ReadSettings, Ubi};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// Estimate what another ranking would have earned on a log: how much, how sure, on what
/// assumption.
///
/// log, format, columns, first_position, max_skipped, threads and the options of format "ubi" are
/// those of fit. columns may also name "user", "propensity", "prefix-propensity" and
/// "list-propensity", the probabilities with which the ranker of the log showed an item at its
/// position, the items down to it, and the list. Without columns, those of a table in memory with
/// these names are read. columns may name "value", the value of a row's click in place of 1, of
/// which models know nothing.
///
/// ranking is the path of a file (CSV or a TREC run); a table with the columns query (or session),
/// position and item, or with those of the log in their place, and list and probability if a query
/// has several lists; or "learned", the best lists of the models, learned on one half of the users
/// and valued on the other. values are those of a click at each position, 1 by default. model is a
/// name, a list of names, "all", or None.
///
/// Raises ValueError for what is no log or no ranking, with the row and the column, TypeError for
/// other types, and OSError for files.
///
/// Examples:
///     >>> log = {"session": [row // 2 for row in range(200)], "item": ["a", "b", "b", "a"] * 50,
///     ...        "position": [1, 2] * 100, "click": [1, 0, 0, 0] * 50}
///     >>> ranking = {"query": ["all"] * 2, "position": [1, 2], "item": ["b", "a"]}
///     >>> evaluate(log, ranking, model="pbm").sentence.split(" per ")[0]
///     'The new ranking would have earned 500 clicks fewer'
#[pyfunction]
#[pyo3(text_signature = "(log, ranking, *, format=None, columns=None, values=None, model='all', **options)",
    signature = (log, ranking, *, model=Some(Texts(vec!["all".into()])), **given))]
pub(crate) fn evaluate(
    log: &Bound<'_, PyAny>,
    ranking: &Bound<'_, PyAny>,
    model: Option<Texts>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Evaluation> {
    let (py, mut given) = (log.py(), Given::new(log.py(), given)?);
    let (format, columns) = (given.one::<String>("format")?, given.take("columns")?);
    let values = given.take("values")?.map(|values| sequence::numbers("values", &values)).transpose()?;
    let (reading, ubi): (ReadSettings, Ubi) = (given.all()?, given.all()?);
    // For a name that is near.
    given.take("model")?;
    given.end("evaluate")?;
    let named = model.filter(|Texts(names)| names[..] != ["none"]);
    let named = named.map_or_else(|| Ok(Vec::new()), models)?;
    // A column that is called `value` may be of anything.
    let [also @ .., _] = &Columns::LOGGED_KEYS;
    let (source, format) = Source::new(log, format.as_deref(), columns.as_ref(), ubi, None, also)?;
    let ranking = new_ranking(ranking, &format)?;
    let has_sessions = format.has_sessions() && !source.is_counts;
    let mut reader = reading.reader(format.clone()).map_err(value_error)?;
    let named = ModelsToFit::new(named, has_sessions).map_err(|model| {
        value_error(format!("model {:?} needs whole lists: name a column for `session`", model.name()))
    })?;
    if has_sessions && !named.models.is_empty() {
        reader = reader.keep_sessions();
    }
    let ids = Ids::new();
    let question = Question::new(ranking, &format, values.as_deref(), &ids).map_err(value_error)?;
    let found = interruptible(py, |stop| {
        let read = reader.read_lists(ids, |_| source.inputs(stop), || question.tally()).map_err(Ok)?;
        let before = |_| !stop.load(Ordering::Relaxed);
        ::evaluation::Evaluation::new(&question, read, &named.models, before).map_err(Err)
    })?;
    let found = found.map_err(|error| match error {
        Ok(error) => of_log(&error, &source),
        Err(error @ EvaluationError::NoQuery(..)) => value_error(format!("{error}{ONE_QUERY}")),
        Err(error) => value_error(error),
    })?;
    let warnings = found.warnings().into_iter().map(in_python).collect();
    Ok(Evaluation { sentence: in_python(found.sentence()), warnings, json: found.to_json() })
}

/// The values that stand for a ranking.
const EXPECTED: &str =
    "a path, \"learned\", or a table with the columns query (or session), position and item";
const LEARNED: &str = "learned";
const ONE_QUERY: &str = "; a log without queries has one, `all`";

/// A ranking from a path, a table, or "learned", for a log of this format.
fn new_ranking(given: &Bound<'_, PyAny>, format: &Format) -> PyResult<Ranking> {
    let of_ranking = |error: RankingError| {
        if error.line == 0 { PyOSError::new_err(error.to_string()) } else { value_error(error) }
    };
    if given.cast::<PyString>().is_ok_and(|name| name == LEARNED) {
        return Ok(Ranking::learned());
    }
    if is_path(given)? {
        let path = existing("ranking", given.extract()?, EXPECTED, &[LEARNED])?;
        return Ranking::open_for(&path, format).map_err(of_ranking);
    }
    let frames = given.py().import("click_bandits._frames")?;
    let given = &frames.call_method1("by_name", ("ranking", given))?;
    let key = if column(given, "session").is_some() { Key::Session } else { Key::Query };
    let of_log = |name: &str| match format {
        Format::Delimited(columns) | Format::Parquet(columns) => {
            columns.by_key().find(|(key, _)| *key == name)
        }
        _ => None,
    };
    let needed = |name: &str| {
        let remedy = if name == "query" { ONE_QUERY } else { "" };
        let missing = || type_error(format!("ranking: expected {EXPECTED}; no column `{name}`{remedy}"));
        column(given, name).or_else(|| column(given, &of_log(name)?.1)).ok_or_else(missing)
    };
    let names = |name: &str| -> PyResult<Vec<String>> {
        let values = needed(name)?.try_iter()?.enumerate();
        let name_at = |(row, value): (usize, PyResult<_>)| {
            let nothing = || value_error(in_row("ranking", row, name, "nothing there"));
            text("ranking", name, row, &value?)?.ok_or_else(nothing)
        };
        values.map(name_at).collect()
    };
    let numbers = |name: &str, error: PyErr| {
        type_error(format!("ranking: column `{name}`: {}", error.value(given.py())))
    };
    let query = names(if key == Key::Session { "session" } else { "query" })?;
    let items = names("item")?;
    let positions: Vec<u64> = needed("position")?.extract().map_err(|error| numbers("position", error))?;
    let several = column(given, "list").is_some();
    let lists = if several { names("list")? } else { vec![String::new(); query.len()] };
    let probabilities = if several {
        needed("probability")?.extract().map_err(|error| numbers("probability", error))?
    } else {
        vec![1.0; query.len()]
    };
    if [items.len(), positions.len(), lists.len(), probabilities.len()].iter().any(|len| *len != query.len())
    {
        return Err(value_error("ranking: columns of different lengths"));
    }
    let rows = (0..query.len()).map(|row| Row {
        query: &query[row],
        list: &lists[row],
        probability: probabilities[row],
        position: positions[row],
        item: &items[row],
    });
    Ranking::from_rows(key, rows).map_err(value_error)
}

/// A column of a table as a list; `None` if there is no such column.
fn column<'py>(table: &Bound<'py, PyAny>, name: &str) -> Option<Bound<'py, PyAny>> {
    let column = table.get_item(name).ok()?;
    let list = ["to_pylist", "to_list", "tolist"].iter().find_map(|method| column.call_method0(*method).ok());
    Some(list.unwrap_or(column))
}

/// The earnings that another ranking would have had on a log: made by evaluate.
///
/// Examples:
///     >>> log = {"session": [row // 2 for row in range(200)], "item": ["a", "b", "b", "a"] * 50,
///     ...        "position": [1, 2] * 100, "click": [1, 0, 0, 0] * 50}
///     >>> ranking = {"query": ["all"] * 2, "position": [1, 2], "item": ["b", "a"]}
///     >>> result = evaluate(log, ranking, model="none")
///     >>> result.models is None, result.to_json()[:1]
///     (True, b'{')
#[pyclass(module = "click_bandits", frozen)]
#[derive(Debug)]
pub(crate) struct Evaluation {
    /// The answer in one sentence.
    #[pyo3(get)]
    sentence: String,
    /// Doubts about all numbers, and what was left out.
    #[pyo3(get)]
    warnings: Vec<String>,
    json: Value,
}

impl Evaluation {
    /// The single values of the records of levels or models, as a table.
    fn table(&self, key: &str, of: &'static str) -> PyResult<Option<Table>> {
        let Some(records) = self.json[key].as_object() else { return Ok(None) };
        let mut columns = vec![(of.to_owned(), Column::texts(records.keys().map(Some)))];
        let fields = records.values().filter_map(Value::as_object).flat_map(|record| record.keys());
        for name in fields.collect::<BTreeSet<_>>() {
            let values = || records.values().map(|record| &record[name]);
            let known = values().find(|value| !value.is_null());
            columns.push((
                name.clone(),
                match known {
                    Some(Value::String(_)) => Column::texts(values().map(Value::as_str)),
                    Some(Value::Bool(_)) => Column::flags(values().map(Value::as_bool)),
                    Some(Value::Array(_) | Value::Object(_)) => continue,
                    _ => Column::floats(values().map(Value::as_f64)),
                },
            ));
        }
        Table::new(columns).map(Some)
    }
}

#[pymethods]
impl Evaluation {
    /// The levels of weights, a row for each; None of learned lists.
    #[getter]
    fn levels(&self) -> PyResult<Option<Table>> {
        self.table("estimators", "level")
    }

    /// The models, a row for each; None if none was fitted.
    #[getter]
    fn models(&self) -> PyResult<Option<Table>> {
        self.table("models", "model")
    }

    /// The content of the command's answer.json: also the mean weight of each position.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let json = serde_json::to_vec_pretty(&self.json).map_err(value_error)?;
        Ok(PyBytes::new(py, &json))
    }

    #[staticmethod]
    fn _restored(sentence: String, warnings: Vec<String>, json: &[u8]) -> PyResult<Self> {
        Ok(Self { sentence, warnings, json: serde_json::from_slice(json).map_err(value_error)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = (self.sentence.clone(), self.warnings.clone(), self.to_json(py)?);
        reduced::<Self>(py, "_restored", state)
    }

    fn __repr__(&self) -> String {
        self.sentence.clone()
    }
}
