//! Policies written in Python, as contenders beside the compiled ones.
//!
//! Python errors end the whole experiment: the first one is kept, the runs are stopped, and rounds
//! until then play a best action.

use crate::decision::Decision;
use crate::json::dict;
use crate::message::{type_error, value_error};
use crate::models::PolicyFacts;
use crate::models::{self, not_admitted};
use crate::play;
use crate::policy::Policy;
use click_models::{Action, Context, Feedback, Personal, Ranking, WithAttraction};
use experiment::Runner;
use numpy::{PyArray1, PyArrayMethods};
use policies::{Select, SelectFor, Update, UpdateFor};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::Rng;
use sim::{Contender, Curve, Entry, PersonalKnown, Schedule, Start, StateError};
use spec::Task;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of a policy. It stops the runs.
#[derive(Debug)]
pub(super) struct Fault {
    first: Mutex<Option<PyErr>>,
    stop: Arc<AtomicBool>,
}

impl Fault {
    pub(super) fn new(stop: Arc<AtomicBool>) -> Self {
        Self { first: Mutex::default(), stop }
    }

    pub(super) fn set(&self, exception: PyErr) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether something has failed or the caller has stopped the runs: Python is not
    /// called any more, so that the next pause comes soon.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The exception, once.
    pub(super) fn check(&self) -> PyResult<()> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Builds a policy in Python for every replication.
pub(crate) struct InPython {
    label: String,
    factory: Py<PyAny>,
    fault: Arc<Fault>,
}

impl<M> Contender<M> for InPython
where
    M: PolicyFacts,
{
    fn label(&self) -> &str {
        &self.label
    }

    fn resume(&self, start: Start<'_, M>, schedule: &Schedule) -> Result<Curve, StateError> {
        let (seed, users) = (start.replication.policy(&self.label).next_u64(), start.replication.told);
        let entry = Entry::new(self.label.clone(), |_known: M::Known<'_>| {
            PolicyInPython::new(self, users, |py| users.known_in(py), seed)
        });
        entry.resume(start, schedule)
    }
}

/// Leaves those of the arguments that a function takes by name.
fn leave_taken(function: &Bound<'_, PyAny>, arguments: &Bound<'_, PyDict>) -> PyResult<()> {
    let inspect = function.py().import("inspect")?;
    // Some functions that are not written in Python have no signature.
    let Ok(signature) = inspect.call_method1("signature", (function,)) else { return Ok(()) };
    let taken = signature.getattr("parameters")?;
    let kinds = taken.call_method0("values")?.try_iter()?.map(|one| one?.getattr("kind"));
    let kinds = kinds.collect::<PyResult<Vec<_>>>()?;
    let rest = inspect.getattr("Parameter")?.getattr("VAR_KEYWORD")?;
    if kinds.iter().any(|kind| kind.is(&rest)) {
        return Ok(());
    }
    for name in arguments.keys() {
        if !taken.contains(&name)? {
            arguments.del_item(name)?;
        }
    }
    Ok(())
}

/// The arguments of `select` that tell of the user.
fn of_user<'py>(py: Python<'py>, user: &Context) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py; "features": PyArray1::from_slice(py, &user.features), "segment": user.segment))
}

/// How a policy's `select` gets the user.
#[derive(Clone, Copy, PartialEq)]
enum UserArgument {
    Nothing,
    /// By one argument, a dict.
    Context,
    /// By the arguments that it takes of `features` and `segment`.
    Parts([bool; 2]),
}

impl UserArgument {
    fn by(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        if policy.cast::<Policy>().is_ok_and(|policy| !policy.get().sees_contexts()) {
            return Ok(Self::Nothing);
        }
        let py = policy.py();
        let arguments = of_user(py, &Context::default())?;
        arguments.set_item("context", ())?;
        leave_taken(&policy.getattr("select")?, &arguments)?;
        let takes = |name: &str| arguments.contains(name);
        Ok(match [takes("features")?, takes("segment")?] {
            // One that takes anything is given the parts.
            [false, false] if takes("context")? => Self::Context,
            [false, false] => Self::Nothing,
            parts => Self::Parts(parts),
        })
    }
}

/// A policy in Python during one replication.
struct PolicyInPython<'a, M: PolicyFacts> {
    /// `None` after an exception of its constructor.
    policy: Option<(Py<PyAny>, UserArgument)>,
    /// The last return value of `select`.
    decision: Option<Py<PyAny>>,
    numbers: Vec<u32>,
    users: &'a M,
    contender: &'a InPython,
}

impl<'a, M: PolicyFacts> PolicyInPython<'a, M> {
    /// `known` has the arguments of the factory but for the seed.
    fn new(
        contender: &'a InPython,
        users: &'a M,
        known: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyDict>>,
        seed: u64,
    ) -> Self {
        let build = |py: Python<'_>| {
            let (factory, arguments) = (contender.factory.bind(py), known(py)?);
            arguments.set_item("seed", seed)?;
            leave_taken(factory, &arguments)?;
            let policy = factory.call((), Some(&arguments))?;
            let told = UserArgument::by(&policy)?;
            PyResult::Ok((policy.unbind(), told))
        };
        let policy = Python::attach(build).map_err(|exception| contender.fault.set(exception)).ok();
        let width = play::width(&users.optimal_action());
        Self { policy, decision: None, numbers: vec![0; width], users, contender }
    }

    fn choose(&mut self, user: Option<&Context>, action: &mut Action<M>) -> PyResult<()> {
        let Some((policy, told)) = &self.policy else { return Err(value_error("no policy")) };
        Python::attach(|py| {
            let policy = policy.bind(py);
            let decision = match (told, user) {
                (UserArgument::Nothing, _) | (_, None) => policy.call_method0("select")?,
                (UserArgument::Context, Some(user)) => {
                    policy.call_method1("select", (of_user(py, user)?,))?
                }
                (UserArgument::Parts(takes), Some(user)) => {
                    let parts = of_user(py, user)?;
                    for (name, _) in
                        ["features", "segment"].into_iter().zip(takes).filter(|(_, takes)| !**takes)
                    {
                        parts.del_item(name)?;
                    }
                    policy.call_method("select", (), Some(&parts))?
                }
            };
            let numbers: Vec<u32> = match decision.cast::<Decision>() {
                Ok(decision) => decision.get().action.to_vec(),
                Err(_) => decision.extract().map_err(|error: PyErr| {
                    let label = &self.contender.label;
                    type_error(format!(
                        "policy {label:?}: select: expected a decision or a list of numbers: {error}"
                    ))
                })?,
            };
            let is_right = numbers.len() == self.numbers.len() && {
                *action = play::read(&numbers);
                self.users.admits(action)
            };
            if !is_right {
                let fault = not_admitted(self.users, self.numbers.len(), &numbers);
                return Err(value_error(format!("policy {:?}: select: {fault}", self.contender.label)));
            }
            self.numbers = numbers;
            self.decision = Some(decision.unbind());
            Ok(())
        })
    }

    fn learn(&self, feedback: &Feedback<M>) -> PyResult<()> {
        let (Some((policy, _)), Some(decision)) = (&self.policy, &self.decision) else { return Ok(()) };
        Python::attach(|py| {
            let (clicks, observed) = play::outcome::<M::Interaction>(py, &self.numbers, feedback)?;
            let policy = policy.bind(py);
            match observed {
                None => policy.call_method1("update", (decision, clicks))?,
                Some(observed) => policy.call_method1("update", (decision, clicks, observed))?,
            };
            Ok(())
        })
    }

    /// Writes the policy's action, or after an exception another one.
    fn select_or_stop(&mut self, user: Option<&Context>, action: &mut Action<M>) {
        if !self.contender.fault.is_stopping() {
            match self.choose(user, action) {
                Ok(()) => return,
                Err(exception) => self.contender.fault.set(exception),
            }
        }
        *action = self.users.optimal_action();
    }

    fn learn_or_stop(&self, feedback: &Feedback<M>) {
        if !self.contender.fault.is_stopping()
            && let Err(exception) = self.learn(feedback)
        {
            self.contender.fault.set(exception);
        }
    }
}

impl<M: PolicyFacts> Select<Action<M>> for PolicyInPython<'_, M> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut policies::Decision<Action<M>, ()>) {
        self.select_or_stop(None, &mut out.action);
    }
}

impl<M: PolicyFacts> Update<Action<M>, Feedback<M>> for PolicyInPython<'_, M> {
    fn update(&mut self, _decision: &policies::Decision<Action<M>, ()>, feedback: &Feedback<M>) {
        self.learn_or_stop(feedback);
    }
}

/// Keyword arguments of `Policy` for these users.
fn known_in<'py, M: PolicyFacts + WithAttraction>(
    users: &Personal<M>,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (arguments, known) = (users.user(0).known_in(py)?, users.known());
    if known.n_item_features() > 0 {
        let features = PyArray1::from_slice(py, known.item_features());
        arguments.set_item("item_features", features.reshape([known.n_items(), known.n_item_features()])?)?;
    }
    arguments.set_item("user_features", known.n_user_features())?;
    arguments.set_item("segments", known.n_segments())?;
    Ok(arguments)
}

impl<M> Contender<Personal<M>> for InPython
where
    M: PolicyFacts + WithAttraction + Send + Sync,
{
    fn label(&self) -> &str {
        &self.label
    }

    fn resume(&self, start: Start<'_, Personal<M>>, schedule: &Schedule) -> Result<Curve, StateError> {
        let (seed, users) = (start.replication.policy(&self.label).next_u64(), start.replication.users);
        let entry = Entry::for_users(self.label.clone(), |_known: PersonalKnown<'_, M>| {
            ForUsers(PolicyInPython::new(self, users.user(0), |py| known_in(users, py), seed))
        });
        entry.resume(start, schedule)
    }
}

/// A policy that may see who asks.
struct ForUsers<'a, M: PolicyFacts>(PolicyInPython<'a, M>);

impl<M: PolicyFacts + WithAttraction> SelectFor<Ranking> for ForUsers<'_, M> {
    type Note = ();

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        user: &Context,
        _rng: &mut R,
        out: &mut policies::Decision<Ranking>,
    ) {
        self.0.select_or_stop(Some(user), &mut out.action);
    }
}

impl<M: PolicyFacts + WithAttraction> UpdateFor<Ranking, Feedback<M>> for ForUsers<'_, M> {
    fn update_for(&mut self, _decision: &policies::Decision<Ranking>, feedback: &Feedback<M>) {
        self.0.learn_or_stop(feedback);
    }
}

/// Adds a policy that `factory` builds, for the users of the experiment.
pub(super) fn with_contender<'a>(
    runner: Runner<'a>,
    label: String,
    factory: Py<PyAny>,
    fault: &Arc<Fault>,
) -> PyResult<Runner<'a>> {
    let experiment = runner.experiment();
    if experiment.task() != Task::Regret {
        let task = experiment.task().name();
        return Err(value_error(format!(
            "policies: task {task:?}: policies written in Python play \"regret\""
        )));
    }
    if !Python::attach(|py| factory.bind(py).is_callable()) {
        return Err(type_error(format!(
            "policies[{label:?}]: expected a function that builds the policy, such as its class; policies of the \
             catalogue are in the spec, {{\"policies\": [\"pbm-ts\"]}}"
        )));
    }
    let contender = InPython { label, factory, fault: Arc::clone(fault) };
    models::with_contender(runner, contender)
}
