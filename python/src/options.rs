//! Keyword arguments that the library declares: names, types, ranges and defaults of options are
//! the fields of its types.

use crate::message::{did_you_mean, type_error, value_error};
use documents::toml_reader::{InFiles, Source, read, schema};
use log_reader::Columns;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::path::PathBuf;
use toml::{Table, Value};

/// The name of a call's arguments as a document, which messages leave out.
const NAME: &str = "options";
/// How deep a dict may be nested. A spec needs four levels.
const DEEPEST: usize = 16;

/// The keyword arguments of a call. None leaves one out.
#[derive(Debug)]
pub(crate) struct Keywords {
    given: Table,
    known: Vec<String>,
}

impl Keywords {
    pub(crate) fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut table = Table::new();
        for (name, value) in given.into_iter().flat_map(PyDictMethods::iter) {
            if !value.is_none() {
                let name: String = name.extract()?;
                let value = to_toml(&value, &name, 1)?;
                table.insert(name, value);
            }
        }
        Ok(Self { given: table, known: Vec::new() })
    }

    /// The options of this type, all of which have defaults.
    pub(crate) fn take<T: InFiles>(&mut self) -> PyResult<T> {
        let mut table = Table::new();
        for name in schema::<T>()["properties"].as_object().into_iter().flat_map(|keys| keys.keys()) {
            self.known.push(name.clone());
            table.extend(self.given.remove_entry(name));
        }
        // A file is not empty.
        let text = format!("#\n{}", toml::to_string(&table).map_err(value_error)?);
        let source = Source::from_text(NAME, text).map_err(value_error)?;
        read(&source.without_lines()).map_err(|error| {
            let all: Vec<String> = error.all().iter().map(ToString::to_string).collect();
            value_error(all.join("\n").replace(&format!("{NAME}: "), ""))
        })
    }

    /// Refuses names that no type has taken; `others` are those of the function's other arguments.
    pub(crate) fn end(self, function: &str, others: &[&str]) -> PyResult<()> {
        let Some((name, _)) = self.given.iter().next() else { return Ok(()) };
        let meant = if Columns::KEYS.contains(&&**name) {
            format!(": columns={{{name:?}: ..}} names a column")
        } else {
            did_you_mean(name, self.known.iter().map(String::as_str).chain(others.iter().copied()))
        };
        Err(type_error(format!("{function}() got an unexpected keyword argument '{name}'{meant}")))
    }

    /// The first argument that is given and none of these.
    pub(crate) fn other_than(&self, names: &[&str]) -> Option<&str> {
        self.given.keys().map(String::as_str).find(|name| !names.contains(name))
    }
}

/// The schemas of the options of the functions that read a log, as JSON by type: tests compare
/// them with the signatures of the stubs.
#[pyfunction]
pub(crate) fn _options() -> String {
    serde_json::json!({
        "read": schema::<log_reader::ReadSettings>(),
        "ubi": schema::<log_reader::Ubi>(),
        "fit": schema::<click_logs::settings::FitSettings>(),
    })
    .to_string()
}

/// The value as TOML; `path` names it in messages.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(value_error(format!("{path}: nested more than {DEEPEST} times")));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        Ok(Value::Boolean(flag.is_true()))
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::String(text.extract()?))
    } else if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? && !value.hasattr("tolist")? {
        let wrong = |_| value_error(format!("{path} is {value}: expected an integer from -2^63 to 2^63 - 1"));
        value.extract().map(Value::Integer).map_err(wrong)
    } else if value.is_instance_of::<PyFloat>() {
        Ok(Value::Float(value.extract()?))
    } else if let Ok(dict) = value.cast::<PyDict>() {
        table(dict, path, depth).map(Value::Table)
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.enumerate();
        let item =
            |(index, item): (usize, PyResult<_>)| to_toml(&item?, &format!("{path}[{index}]"), depth + 1);
        items.map(item).collect::<PyResult<_>>().map(Value::Array)
    } else if value.hasattr("tolist")? {
        // Arrays, series and numbers of numpy.
        to_toml(&value.call_method0("tolist")?, path, depth + 1)
    } else if value.hasattr("__fspath__")? && !value.is_instance_of::<PyBytes>() {
        let file: PathBuf = value.extract()?;
        let text = file.to_str().ok_or_else(|| value_error(format!("{path}: the path is not UTF-8")))?;
        Ok(Value::String(text.to_owned()))
    } else {
        let found = value.get_type().name()?.to_string();
        Err(type_error(format!("{path}: expected a number, text, list or dict, got {found}")))
    }
}

fn table(dict: &Bound<'_, PyDict>, path: &str, depth: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in dict.iter() {
        let key: String =
            key.extract().map_err(|_| type_error(format!("{path}: key {key}: expected a text")))?;
        let value = to_toml(&value, &format!("{path}[{key:?}]"), depth + 1)?;
        table.insert(key, value);
    }
    Ok(table)
}
