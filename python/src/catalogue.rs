//! The catalogue of policies as Python data, and policies from names and keyword arguments.

use crate::json::{dict, to_python};
use crate::message::{did_you_mean, type_error, value_error};
use crate::task::protocols;
use policies::catalogue::{Answers, Kind, PolicySpec, Protocol, Purpose, Row, SpecError, find, rows};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::{Map, Value};

/// The catalogue: one dict for each policy that `Policy` builds, in the order of the
/// documentation's tables.
///
/// Keys:
///     name: str, the name that `Policy` takes.
///     sentence: str, what the policy is.
///     plays: list of str, the protocols that it plays; one of them is the argument `model` of
///         `Policy`.
///     parameters: list of dicts with `name`, `default` (None: absent), `values` (what is accepted,
///         in words), `choices` (list of str, or None for numbers) and `meaning`.
///     task: "regret", "stopping" (has an `answer`) or "recommending".
///     told: str, what it has to know.
///     contexts: str, whether `item_features`, `user_features` and `segments` tell it of users who
///         differ: "no", "optional" or "needed".
///     needs_horizon: bool, whether it needs `horizon` with its default parameters.
///     late_answers: "count", or "only if independent of clicks".
///     live: str, its use in a service. "table": it chooses among the items that may be shown, and
///         answers may come late or be taken back; "whole": the same items, for users who differ,
///         and whole answers; "in order": whole answers, in the order of the decisions; "no".
///     cost: str, the cost of a round with K items and L positions.
///     guarantee: str, what is proven.
///     dominated_by: list of str, a policy with the same knowledge that had less regret in all
///         experiments of the project, if there is one.
///     source: str, the paper.
///
/// Examples:
///     >>> [row["name"] for row in policies() if row["contexts"] == "needed"]
///     ['segmented', 'cascade-lin-ucb', 'cascade-lin-ts', 'c3-ucb']
#[pyfunction]
#[pyo3(name = "policies")]
pub(crate) fn entries(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for row in rows().iter().filter(|row| row.is_built_from_knowledge()) {
        list.append(entry(py, row)?)?;
    }
    Ok(list)
}

fn entry<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let defaults = row.spec().parameters();
    let parameters = PyList::empty(py);
    for parameter in row.parameters {
        let default = to_python(py, defaults.get(parameter.name).unwrap_or(&Value::Null))?;
        let choices = if let Kind::Choice(names) = parameter.kind { Some(names.to_vec()) } else { None };
        parameters.append(dict!(py;
            "name": parameter.name, "default": default, "values": parameter.kind.to_string(),
            "choices": choices, "meaning": parameter.meaning,
        ))?;
    }
    let task = match row.purpose() {
        Purpose::Stopping => "stopping",
        Purpose::Recommending => "recommending",
        _ => "regret",
    };
    let sees = row.families.iter().any(|family| family.sees_contexts());
    let contexts = match (sees, row.protocols().next()) {
        (false, _) => "no",
        (true, Some(_)) => "optional",
        (true, None) => "needed",
    };
    let late = match row.answers {
        Answers::Late => "count",
        Answers::IndependentOfClicks => "only if independent of clicks",
    };
    let plays: Vec<&str> = protocols(&row.spec()).map(Protocol::name).collect();
    Ok(dict!(py;
        "name": row.name, "sentence": row.sentence, "plays": plays, "parameters": parameters, "task": task,
        "told": row.told(), "contexts": contexts, "needs_horizon": row.spec().needs_horizon(),
        "late_answers": late, "live": row.live.to_string(), "cost": row.cost, "guarantee": row.guarantee,
        "dominated_by": row.dominated_by.to_vec(), "source": row.source,
    ))
}

/// The policy of this name with these parameters, which `function` got beside its own arguments.
pub(crate) fn spec_of(
    name: &str,
    parameters: Map<String, Value>,
    function: &Bound<'_, PyAny>,
) -> PyResult<PolicySpec> {
    let spec = PolicySpec::from_parameters(name, &parameters).map_err(|error| {
        let near = suggestion(&error, &arguments(function).unwrap_or_default());
        match error {
            // The nearest name, and not all names before it.
            SpecError::UnknownPolicy { name, .. } if !near.is_empty() => {
                value_error(format!("unknown policy `{name}`{near} `policies()` has all"))
            }
            error => value_error(format!("{error}{near}")),
        }
    })?;
    if !spec.row().is_built_from_knowledge() {
        let message = format!("`{name}` exists in simulations only: it is built from users or from a log");
        return Err(value_error(message));
    }
    Ok(spec)
}

/// The names of a function's arguments.
fn arguments(function: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let signature = function.py().import("inspect")?.call_method1("signature", (function,))?;
    signature.getattr("parameters")?.try_iter()?.map(|name| name?.extract()).collect()
}

/// The nearest name for what the error is about; `arguments` are no parameters of a policy.
fn suggestion(error: &SpecError, arguments: &[String]) -> String {
    match error {
        SpecError::UnknownPolicy { name, .. } => did_you_mean(name, rows().iter().map(|row| row.name)),
        SpecError::Parameter { policy, parameter, .. } => {
            let own = find(policy).into_iter().flat_map(|row| row.parameters).map(|parameter| parameter.name);
            // The names in other packages.
            match parameter.trim_start_matches("n_").trim_start_matches("num_") {
                "arms" | "items" | "actions" | "k" => "; did you mean `items`?".to_owned(),
                "positions" | "slots" | "list_size" | "len_list" => "; did you mean `positions`?".to_owned(),
                "random_state" | "random_seed" | "rng" => "; did you mean `seed`?".to_owned(),
                _ => did_you_mean(parameter, own.chain(arguments.iter().map(String::as_str))),
            }
        }
        SpecError::Value { policy, parameter, value, .. } => {
            let parameters = find(policy).map_or(&[][..], |row| row.parameters);
            match parameters.iter().find(|row| row.name == parameter).map(|row| row.kind) {
                Some(Kind::Choice(names)) => did_you_mean(value, names.iter().copied()),
                _ => String::new(),
            }
        }
        _ => String::new(),
    }
}

/// Keyword arguments as the catalogue reads them; None means the default.
pub(crate) fn to_parameters(given: Option<&Bound<'_, PyDict>>) -> PyResult<Map<String, Value>> {
    let mut parameters = Map::new();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        let is_known = rows().iter().flat_map(|row| row.parameters).any(|row| row.name == key);
        if !is_known {
            // The name is refused, whatever the value.
            parameters.insert(key, Value::Null);
        } else if !value.is_none() {
            let value = to_value(&key, &value)?;
            parameters.insert(key, value);
        }
    }
    Ok(parameters)
}

/// A number or a name.
pub(crate) fn to_value(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    let wrong = || {
        let found = given.get_type();
        type_error(format!("{key}: expected a number or a string, got {found}"))
    };
    if given.is_instance_of::<PyBool>() {
        let mut parameters = rows().iter().flat_map(|row| row.parameters);
        let is_flag = parameters.any(|row| row.name == key && matches!(row.kind, Kind::Flag));
        return if is_flag { Ok(Value::Bool(given.extract()?)) } else { Err(wrong()) };
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Value::String(text.extract()?));
    }
    if given.is_instance_of::<PyInt>() || !given.is_instance_of::<PyFloat>() && given.hasattr("__index__")? {
        return match given.extract::<i64>() {
            Ok(number) => Ok(number.into()),
            // No parameter is as large: the catalogue's message names the expected value.
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
                Ok(Value::String(given.to_string()))
            }
            Err(error) => Err(error),
        };
    }
    let number: f64 = given.extract().map_err(|error: PyErr| {
        // Other exceptions are those of the object's `__float__`.
        if error.is_instance_of::<PyTypeError>(given.py()) { wrong() } else { error }
    })?;
    // JSON has no NaN; as a text it gets the catalogue's message.
    Ok(serde_json::Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number))
}
