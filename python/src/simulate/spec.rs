//! Experiments from Python: a path, a TOML text, or a dict.

use super::own_users;
use crate::json;
use crate::message::{existing, type_error, value_error};
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
        let mut table = to_toml(with_users(dict, &mut own)?.as_any(), NAME, 0)?;
        list_policies(&mut table);
        let text = toml::to_string(&table).map_err(value_error)?;
        let empty = |_| value_error("spec: the dict is empty");
        Source::from_text(NAME, text).map_err(empty)?.without_lines()
    } else if let Some(text) = spec.extract::<String>().ok().filter(|text| text.contains('\n')) {
        Source::from_text(NAME, text).map_err(value_error)?
    } else {
        let expected = "a path, a TOML text of several lines or a dict";
        let wrong = |_| type_error(format!("spec: expected {expected}, got {}", spec.get_type()));
        let path = existing("spec", spec.extract().map_err(wrong)?, expected, &[])?;
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

/// Tables in the place of names of policies, and a list in that of one policy.
fn list_policies(spec: &mut toml::Value) {
    let Some(policies) = spec.get_mut("policies") else { return };
    if !policies.is_array() {
        *policies = vec![policies.clone()].into();
    }
    for policy in policies.as_array_mut().into_iter().flatten().filter(|policy| policy.is_str()) {
        *policy = toml::Table::from_iter([("policy".to_owned(), policy.clone())]).into();
    }
}

/// The dict of a spec with tables in the place of users: objects of `models`, or of Python with
/// `respond`, by themselves or as {"name": .., "users": object}.
fn with_users<'py>(dict: &Bound<'py, PyDict>, own: &mut OwnObjects) -> PyResult<Bound<'py, PyDict>> {
    let py = dict.py();
    let Some(instances) = dict.get_item("instances")? else { return Ok(dict.clone()) };
    let is_one = instances.is_instance_of::<PyDict>() || instances.hasattr("respond")?;
    let instances = if is_one { PyList::new(py, [instances])?.into_any() } else { instances };
    let Ok(instances) = instances.cast::<PyList>() else { return Ok(dict.clone()) };
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
