//! Experiments from Python: a path, a TOML text, or a dict.

use super::own_users;
use crate::json;
use crate::message::{type_error, value_error};
use crate::models;
use crate::options::to_toml;
use documents::toml_reader::Source;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use spec::{Experiment, Overrides};
use std::path::PathBuf;

/// The name of a spec that is not a file, in messages.
const NAME: &str = "spec";

/// Users written in Python, in the order of the instances.
pub(crate) type OwnObjects = Vec<Py<PyAny>>;

/// Reads a spec; overrides replace its values. It may name files beside it and below, and in these
/// folders. Users written in Python have to be given to it with their answers.
pub(crate) fn read(
    spec: &Bound<'_, PyAny>,
    overrides: Overrides,
    allow: &[PathBuf],
) -> PyResult<(Experiment, OwnObjects)> {
    let mut own = OwnObjects::new();
    let source = if let Ok(dict) = spec.cast::<PyDict>() {
        let dict = with_users(dict, &mut own)?;
        let text = toml::to_string(&to_toml(&dict, NAME, 0)?).map_err(value_error)?;
        let empty = |_| value_error("spec: the dict is empty");
        Source::from_text(NAME, text).map_err(empty)?.without_lines()
    } else if let Some(text) = spec.extract::<String>().ok().filter(|text| text.contains('\n')) {
        Source::from_text(NAME, text).map_err(value_error)?
    } else {
        let path: PathBuf = spec.extract().map_err(|_| {
            let found = spec.get_type();
            type_error(format!("spec: expected a path, a TOML text of several lines or a dict, got {found}"))
        })?;
        Source::read(&path).map_err(value_error)?
    };
    let source = source.allowing(allow);
    let document = source.parse().map_err(value_error)?;
    let experiment = Experiment::check(&document, overrides).map_err(|errors| {
        // Faults of a dict are told by their keys alone.
        let dict = format!("{NAME}: ");
        let messages = errors.iter().map(ToString::to_string);
        let messages = messages.map(|text| text.strip_prefix(&dict).unwrap_or(&text).to_owned());
        value_error(messages.collect::<Vec<_>>().join("\n"))
    })?;
    Ok((experiment, own))
}

/// The dict of a spec with tables in the place of users: objects of `models`, or of Python with
/// `respond`, by themselves or as {"name": .., "users": object}.
fn with_users<'py>(dict: &Bound<'py, PyDict>, own: &mut OwnObjects) -> PyResult<Bound<'py, PyDict>> {
    let py = dict.py();
    let instances = dict.get_item("instances")?.map(Bound::cast_into::<PyList>);
    let Some(Ok(instances)) = instances else { return Ok(dict.clone()) };
    let written = PyList::empty(py);
    for (number, instance) in instances.iter().enumerate() {
        let (mut users, mut name) = (instance.clone(), None);
        if let Ok(table) = instance.cast::<PyDict>() {
            let Some(given) = table.get_item("users")? else {
                // The parts of `Fitted.instances` about the log are no keys of users.
                let table = table.copy()?;
                table.call_method1("pop", ("log", py.None()))?;
                written.append(table)?;
                continue;
            };
            (users, name) = (given, table.get_item("name")?);
        }
        let table = if let Some(table) = models::instance(&users)? {
            table
        } else {
            let table = own_users::instance(&users, &format!("{NAME}[\"instances\"][{number}]"))?;
            own.push(users.unbind());
            table
        };
        let table = json::to_python(py, &table)?;
        if let Some(name) = name {
            table.set_item("name", name)?;
        }
        written.append(table)?;
    }
    let dict = dict.copy()?;
    dict.set_item("instances", written)?;
    Ok(dict)
}
