//! Keyword arguments that the library declares: names, types, ranges and defaults of options are
//! the fields of its types.

use crate::message::{argument, did_you_mean, one_of, type_error, value_error};
use crate::name::query_text;
use crate::sequence::numbers;
use crate::task::{count, seed_or_rng, size};
use documents::toml_reader::{InFiles, Source, read, schema};
use log_reader::Columns;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use toml::{Table, Value};

/// The name of a call's arguments as a document, which messages leave out.
const NAME: &str = "options";
/// How deep a dict may be nested. A spec needs four levels.
const DEEPEST: usize = 16;

/// Keyword arguments, which are taken by name: errors have it.
pub(crate) struct Given<'py> {
    /// Those that are left.
    pub(crate) dict: Bound<'py, PyDict>,
    taken: Vec<String>,
}

impl<'py> Given<'py> {
    /// None means the default.
    pub(crate) fn new(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let dict = PyDict::new(py);
        let mut given = given.into_iter().flatten().filter(|(_, value)| !value.is_none());
        given.try_for_each(|(name, value)| dict.set_item(name, value))?;
        Ok(Self { dict, taken: Vec::new() })
    }

    pub(crate) fn take(&mut self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.taken.push(name.to_owned());
        let taken = self.dict.call_method1("pop", (name, self.dict.py().None()))?;
        Ok(Some(taken).filter(|value| !value.is_none()))
    }

    pub(crate) fn one<T>(&mut self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
    {
        self.take(name)?.map(|given| argument(name, &given)).transpose()
    }

    /// The meaning of the word that an argument gives.
    pub(crate) fn word<T: Copy>(&mut self, name: &str, default: &str, known: &[(&str, T)]) -> PyResult<T> {
        one_of(name, self.one::<String>(name)?.as_deref().unwrap_or(default), known)
    }

    pub(crate) fn count(&mut self, name: &str) -> PyResult<Option<u64>> {
        count(name, self.take(name)?.as_ref())
    }

    pub(crate) fn whole<T: TryFrom<u64>>(
        &mut self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> PyResult<Option<T>> {
        let Some(number) = self.count(name)? else { return Ok(None) };
        let value = T::try_from(number).ok().filter(|_| range.contains(&number));
        value.map(Some).ok_or_else(|| {
            let (min, max) = range.into_inner();
            value_error(format!("{name} is {number}: expected an integer from {min} to {max}"))
        })
    }

    pub(crate) fn size(&mut self, name: &str) -> PyResult<Option<usize>> {
        size(name, self.take(name)?.as_ref())
    }

    pub(crate) fn examination(&mut self) -> PyResult<Option<Vec<f64>>> {
        self.take("examination")?.map(|given| numbers("examination", &given)).transpose()
    }

    pub(crate) fn query(&mut self) -> PyResult<Option<String>> {
        self.take("query")?.map(|query| query_text(&query, None)).transpose()
    }

    pub(crate) fn seed(&mut self) -> PyResult<Option<u64>> {
        seed_or_rng(self.take("seed")?.as_ref(), self.take("rng")?.as_ref())
    }

    /// The options of this type, all of which have defaults.
    pub(crate) fn all<T: InFiles>(&mut self) -> PyResult<T> {
        let (mut table, schema) = (Table::new(), schema::<T>());
        let options = &schema["properties"];
        for name in options.as_object().into_iter().flat_map(|keys| keys.keys()) {
            if let Some(value) = self.take(name)? {
                table.insert(name.clone(), to_toml(&value, name, 1)?);
            }
        }
        // A file is not empty.
        let text = format!("#\n{}", toml::to_string(&table).map_err(value_error)?);
        let source = Source::from_text(NAME, text).map_err(value_error)?;
        read(&source.without_lines()).map_err(|error| {
            let explained = |error: String| {
                let error = error.replacen(&format!("{NAME}: "), "", 1);
                let name = error.split_once(':').map_or("", |(name, _)| name);
                let meaning = options[name]["description"].as_str().unwrap_or_default();
                // Defaults are those of the command.
                let meaning = meaning.split(" [default").next().unwrap_or_default();
                format!("{error} ({name}: {meaning})")
            };
            let all: Vec<String> = error.all().iter().map(|error| explained(error.to_string())).collect();
            value_error(all.join("\n").replace("expected true or false", "expected True or False"))
        })
    }

    /// Refuses names that were not taken.
    pub(crate) fn end(&self, function: &str) -> PyResult<()> {
        let Some(name) = self.dict.keys().iter().next() else { return Ok(()) };
        let name = &*name.to_string();
        let meant = if Columns::KEYS.contains(&name) {
            format!(": columns={{{name:?}: ..}} names a column")
        } else {
            did_you_mean(name, self.taken.iter().map(String::as_str))
        };
        Err(type_error(format!("{function}() got an unexpected keyword argument '{name}'{meant}")))
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
