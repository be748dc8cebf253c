//! Users written in Python, as instances of an experiment.
//!
//! Python errors end the whole experiment, as those of policies do ([`Fault`]).

use super::contender::Fault;
use crate::clicks;
use crate::message::{type_error, value_error};
use crate::models::PolicyFacts;
use crate::play::filled;
use crate::task::protocol_named;
use click_models::{ClickModel as _, Clicks, ItemId, Ranking};
use policies::catalogue::{Knowledge, Protocol};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spec::models::{MODELS, OwnAnswers, OwnProtocol, OwnRun, OwnUsers};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use toml::{Table, Value};

/// Lists whose mean reward is kept, since policies show the same ones again and again.
const KEPT: usize = 1 << 16;

impl<I: OwnProtocol> PolicyFacts for OwnUsers<I> {
    fn told(&self) -> Knowledge {
        I::knowledge(&self.known())
    }
}

/// The value of an attribute, or what a method of this name returns.
fn value_of<'py>(users: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(value) = users.getattr_opt(name)? else { return Ok(None) };
    if value.is_callable() { value.call0().map(Some) } else { Ok(Some(value)) }
}

/// An object with `respond`, `expected`, `known`, and `best_list` or `best`, as the table of an
/// instance.
pub(super) fn instance(users: &Bound<'_, PyAny>, path: &str) -> PyResult<Table> {
    let needs = |what: &str| {
        let class = users.get_type();
        type_error(format!("{path}: {class} is no user of an experiment: it needs {what}"))
    };
    let unreadable =
        |what: &str, error: PyErr| value_error(format!("{path}: {what}: {}", error.value(users.py())));
    for method in ["respond", "expected"] {
        if !users.getattr_opt(method)?.is_some_and(|method| method.is_callable()) {
            return Err(needs(&format!("{method}(list)")));
        }
    }
    let known = value_of(users, "known")?
        .ok_or_else(|| needs("known(), a dict such as {\"model\": .., \"items\": .., \"positions\": ..}"))?;
    let known = known.cast_into::<PyDict>().map_err(|_| needs("known() that returns a dict"))?;
    let mut table = Table::new();
    let (mut protocol, mut n_positions) = (None, None);
    for (key, value) in known {
        let key: String = key.extract().map_err(|error| unreadable("a key of known()", error))?;
        let in_key = |error| unreadable(&format!("known()[{key:?}]"), error);
        match key.as_str() {
            "model" => {
                let name: String = value.extract().map_err(in_key)?;
                let of_model = MODELS.iter().find(|model| model.name == name).map(|model| model.protocol);
                protocol = protocol_named(&name).or(of_model).filter(|protocol| protocol.has_lists());
                let wrong = || value_error(format!("{path}: known(): model {name:?} shows no lists"));
                let own = format!("own-{}", protocol.ok_or_else(wrong)?.name());
                table.insert("model".to_owned(), Value::String(own));
            }
            "items" | "positions" => {
                let size: u32 = value.extract().map_err(in_key)?;
                if key == "positions" {
                    n_positions = Some(size);
                }
                table.insert(key, Value::Integer(size.into()));
            }
            "examination" => {
                let numbers: Vec<f64> = value.extract().map_err(in_key)?;
                table.insert(
                    "kappa".to_owned(),
                    Value::Array(numbers.into_iter().map(Value::Float).collect()),
                );
            }
            _ => {
                return Err(value_error(format!(
                    "{path}: known(): {key:?} is none of model, items, positions and examination"
                )));
            }
        }
    }
    let (Some(_), Some(n_positions), true) = (protocol, n_positions, table.contains_key("items")) else {
        return Err(needs("\"model\", \"items\" and \"positions\" in known()"));
    };
    let (list, reward) = if let Some(list) = value_of(users, "best_list")? {
        let list: Vec<u32> = list.extract().map_err(|error| unreadable("best_list", error))?;
        let reward = users.call_method1("expected", (PyTuple::new(users.py(), &list)?,))?;
        (list, reward.extract().map_err(|error| unreadable("expected(best_list)", error))?)
    } else {
        let best = value_of(users, "best")?;
        let best = best.ok_or_else(|| needs("best_list, or best, the largest expected"))?;
        ((0..n_positions).collect(), best.extract().map_err(|error| unreadable("best", error))?)
    };
    let list = list.into_iter().map(|item| Value::Float(item.into())).collect();
    table.insert("best".to_owned(), Value::Array(list));
    table.insert("best-reward".to_owned(), Value::Float(reward));
    Ok(table)
}

/// The answers of an object.
#[derive(Debug)]
pub(super) struct InPython {
    users: Py<PyAny>,
    protocol: Protocol,
    best: f64,
    expected: Mutex<BTreeMap<Vec<u32>, f64>>,
    fault: Arc<Fault>,
}

impl InPython {
    pub(super) fn new(users: Py<PyAny>, protocol: Protocol, best: f64, fault: &Arc<Fault>) -> Self {
        Self { users, protocol, best, expected: Mutex::default(), fault: Arc::clone(fault) }
    }
}

fn numbers(list: &Ranking) -> Vec<u32> {
    list.iter().map(ItemId::number).collect()
}

impl OwnAnswers for InPython {
    fn begin(&self, seed: u64) -> Arc<dyn OwnRun> {
        let begin = |py: Python<'_>| {
            let users = py.import("copy")?.call_method1("copy", (&self.users,))?;
            let random = py.import("numpy.random")?.call_method1("default_rng", (seed,))?;
            users.setattr("random", random)?;
            PyResult::Ok(users.unbind())
        };
        let users = Python::attach(begin).map_err(|exception| self.fault.set(exception)).ok();
        Arc::new(Run { users, protocol: self.protocol, fault: Arc::clone(&self.fault) })
    }

    fn expected(&self, list: &Ranking) -> f64 {
        let list = numbers(list);
        let kept = || self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(expected) = kept().get(&list) {
            return *expected;
        }
        if self.fault.is_stopping() {
            return self.best;
        }
        let ask = |py: Python<'_>| {
            let expected: f64 =
                self.users.bind(py).call_method1("expected", (PyTuple::new(py, &list)?,))?.extract()?;
            // Rounding may add the same numbers in another order.
            if expected.is_finite() && expected <= self.best + 1e-9 * self.best.abs() {
                return Ok(expected);
            }
            let best = self.best;
            Err(value_error(format!("expected({list:?}) is {expected}: that of the best list is {best}")))
        };
        match Python::attach(ask) {
            Ok(expected) => {
                let mut kept = kept();
                if kept.len() < KEPT {
                    kept.insert(list, expected);
                }
                expected
            }
            Err(exception) => {
                self.fault.set(exception);
                self.best
            }
        }
    }
}

/// The users of one run: a copy of the object, with a generator of its own.
#[derive(Debug)]
struct Run {
    /// `None` after an exception.
    users: Option<Py<PyAny>>,
    protocol: Protocol,
    fault: Arc<Fault>,
}

impl OwnRun for Run {
    fn respond(&self, list: &Ranking) -> Clicks {
        let ask = |py: Python<'_>, users: &Py<PyAny>| {
            let list = numbers(list);
            let answer = users.bind(py).call_method1("respond", (PyTuple::new(py, &list)?,))?;
            // Clicks, and the number of observed positions if the model reveals it.
            let pair = answer
                .cast::<PyTuple>()
                .ok()
                .filter(|pair| self.protocol == Protocol::SemiBandit && pair.len() == 2);
            let (answer, observed) = match pair {
                Some(pair) => (pair.get_item(0)?, Some(pair.get_item(1)?)),
                None => (answer, None),
            };
            clicks::one(self.protocol, filled(&list), &answer, observed.as_ref())
        };
        let none = Clicks::new(list.len());
        let Some(users) = self.users.as_ref().filter(|_| !self.fault.is_stopping()) else { return none };
        Python::attach(|py| ask(py, users)).unwrap_or_else(|exception| {
            self.fault.set(exception);
            none
        })
    }
}

/// The protocol and the reward of the best list of every instance of an experiment on own users.
pub(super) fn best<I: OwnProtocol>(instances: &[spec::Instance<OwnUsers<I>>]) -> (Protocol, Vec<f64>) {
    (I::PROTOCOL, instances.iter().map(|instance| instance.model.optimal_reward()).collect())
}
