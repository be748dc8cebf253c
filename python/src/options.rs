//! Keyword arguments that the library declares: names, types, ranges and defaults of options are
//! the fields of its types.

use crate::message::{did_you_mean, type_error, value_error};
use crate::simulate::to_toml;
use experiment::toml_reader::{InFiles, Source, read, schema};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toml::Table;

/// The name of a call's arguments as a document, which messages leave out.
const NAME: &str = "options";

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

    /// Refuses names that no type has taken.
    pub(crate) fn end(self, function: &str) -> PyResult<()> {
        let Some((name, _)) = self.given.iter().next() else { return Ok(()) };
        let meant = did_you_mean(name, self.known.iter().map(String::as_str));
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
        "read": schema::<click_logs::ReadSettings>(),
        "ubi": schema::<click_logs::Ubi>(),
        "fit": schema::<click_logs::settings::FitSettings>(),
    })
    .to_string()
}
