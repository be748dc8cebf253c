//! Policies written in Python, as contenders beside the compiled ones.
//!
//! Python errors end the whole experiment: the first one is kept, the runs are stopped, and rounds
//! until then play a best action.

use crate::decision::Decision;
use crate::known::Known;
use crate::message::{type_error, value_error};
use crate::models::{self, not_admitted};
use crate::play::Played;
use click_models::{
    Action, Cascade, CascadeFeedback, CellClick, Clicks, ClicksOnly, Dcm, DcmFeedback, DuelOutcome, Dueling,
    Feedback, ListClicks, ListFeedback as _, Pbm, PbmFeedback, PrefixFeedback, RankOne, SemiBandit,
};
use experiment::{Runner, Task};
use policies::{Select, Update};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};
use rand::Rng;
use sim::{Contender, Curve, Entry, Replication, Schedule, StateError, StateStore};
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

    /// Whether something has failed or the caller has stopped the runs: Python is not called any
    /// more, so that the next pause comes soon.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The exception, once.
    pub(super) fn check(&self) -> PyResult<()> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// A protocol whose answers a policy in Python understands.
pub(crate) trait Answers: Played {
    /// The arguments of `update` after the decision: the clicks, and the number of observed
    /// positions if the model reveals it.
    fn outcome<'py>(
        py: Python<'py>,
        numbers: &[u32],
        feedback: &Self::Feedback,
    ) -> PyResult<(Bound<'py, PyAny>, Option<usize>)>;
}

fn list_of(py: Python<'_>, clicks: Clicks, n_positions: usize) -> PyResult<Bound<'_, PyAny>> {
    let flags = (0..n_positions).map(|position| position < clicks.len() && clicks.get(position));
    Ok(PyList::new(py, flags.collect::<Vec<bool>>())?.into_any())
}

/// Protocols of lists, and whether `observed` is given.
macro_rules! answers_of_lists {
    ($($Protocol:ident($Feedback:ident), $reveals:literal;)*) => {$(
        impl Answers for $Protocol {
            fn outcome<'py>(
                py: Python<'py>,
                numbers: &[u32],
                feedback: &$Feedback,
            ) -> PyResult<(Bound<'py, PyAny>, Option<usize>)> {
                let clicks = feedback.list_clicks();
                Ok((list_of(py, clicks, numbers.len())?, $reveals.then_some(clicks.len())))
            }
        }
    )*};
}

answers_of_lists! {
    Pbm(PbmFeedback), false;
    SemiBandit(PrefixFeedback), true;
    Cascade(CascadeFeedback), false;
    Dcm(DcmFeedback), false;
    ClicksOnly(ListClicks), false;
}

impl Answers for RankOne {
    fn outcome<'py>(
        py: Python<'py>,
        _numbers: &[u32],
        feedback: &CellClick,
    ) -> PyResult<(Bound<'py, PyAny>, Option<usize>)> {
        Ok((PyBool::new(py, feedback.clicked).to_owned().into_any(), None))
    }
}

impl Answers for Dueling {
    fn outcome<'py>(
        py: Python<'py>,
        numbers: &[u32],
        feedback: &DuelOutcome,
    ) -> PyResult<(Bound<'py, PyAny>, Option<usize>)> {
        let winner = numbers[usize::from(!feedback.first_won())];
        Ok((winner.into_pyobject(py)?.into_any(), None))
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
    M: Known<Interaction: Answers>,
{
    fn label(&self) -> &str {
        &self.label
    }

    fn resume(
        &self,
        replication: Replication<'_, M>,
        schedule: &Schedule,
        state: Option<&[u8]>,
        store: &mut dyn StateStore,
    ) -> Result<Curve, StateError> {
        let seed = replication.policy(&self.label).next_u64();
        let entry = Entry::new(self.label.clone(), |_known: M::Known<'_>| {
            PolicyInPython::new(self, replication.told, seed)
        });
        entry.resume(replication, schedule, state, store)
    }
}

/// Calls a function with those of the arguments that it takes.
pub(super) fn call_with(function: &Bound<'_, PyAny>, arguments: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    let py = function.py();
    let inspect = py.import("inspect")?;
    // Some functions that are not written in Python have no signature.
    if let Ok(signature) = inspect.call_method1("signature", (function,)) {
        let taken = signature.getattr("parameters")?;
        let kinds = taken.call_method0("values")?.try_iter()?.map(|one| one?.getattr("kind"));
        let kinds = kinds.collect::<PyResult<Vec<_>>>()?;
        let rest = inspect.getattr("Parameter")?.getattr("VAR_KEYWORD")?;
        if !kinds.iter().any(|kind| kind.is(&rest)) {
            for name in arguments.keys() {
                if !taken.contains(&name)? {
                    arguments.del_item(name)?;
                }
            }
        }
    }
    function.call((), Some(arguments)).map(Bound::unbind)
}

/// A policy in Python during one replication.
struct PolicyInPython<'a, M: Known> {
    /// `None` after an exception of its constructor.
    policy: Option<Py<PyAny>>,
    /// The last return value of `select`.
    decision: Option<Py<PyAny>>,
    numbers: Vec<u32>,
    users: &'a M,
    contender: &'a InPython,
}

impl<'a, M: Known<Interaction: Answers>> PolicyInPython<'a, M> {
    fn new(contender: &'a InPython, users: &'a M, seed: u64) -> Self {
        let build = |py: Python<'_>| {
            let arguments = users.known_in(py)?;
            arguments.set_item("seed", seed)?;
            call_with(contender.factory.bind(py), &arguments)
        };
        let policy = Python::attach(build).map_err(|exception| contender.fault.set(exception)).ok();
        let width = M::Interaction::width(&users.optimal_action());
        Self { policy, decision: None, numbers: vec![0; width], users, contender }
    }

    fn choose(&mut self, action: &mut Action<M>) -> PyResult<()> {
        let Some(policy) = &self.policy else { return Err(value_error("no policy")) };
        Python::attach(|py| {
            let decision = policy.bind(py).call_method0("select")?;
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
                M::Interaction::read(&numbers, action);
                self.users.admits(action)
            };
            if !is_right {
                let error = not_admitted(py, self.users, self.numbers.len(), &numbers)?;
                let label = &self.contender.label;
                return Err(value_error(format!("policy {label:?}: select: {}", error.value(py))));
            }
            self.numbers = numbers;
            self.decision = Some(decision.unbind());
            Ok(())
        })
    }

    fn learn(&self, feedback: &Feedback<M>) -> PyResult<()> {
        let (Some(policy), Some(decision)) = (&self.policy, &self.decision) else { return Ok(()) };
        Python::attach(|py| {
            let (clicks, observed) = M::Interaction::outcome(py, &self.numbers, feedback)?;
            let policy = policy.bind(py);
            match observed {
                None => policy.call_method1("update", (decision, clicks))?,
                Some(observed) => policy.call_method1("update", (decision, clicks, observed))?,
            };
            Ok(())
        })
    }
}

impl<M: Known<Interaction: Answers>> Select<Action<M>> for PolicyInPython<'_, M> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut policies::Decision<Action<M>, ()>) {
        if !self.contender.fault.is_stopping() {
            match self.choose(&mut out.action) {
                Ok(()) => return,
                Err(exception) => self.contender.fault.set(exception),
            }
        }
        out.action = self.users.optimal_action();
    }
}

impl<M: Known<Interaction: Answers>> Update<Action<M>, Feedback<M>> for PolicyInPython<'_, M> {
    fn update(&mut self, _decision: &policies::Decision<Action<M>, ()>, feedback: &Feedback<M>) {
        if !self.contender.fault.is_stopping()
            && let Err(exception) = self.learn(feedback)
        {
            self.contender.fault.set(exception);
        }
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
        return Err(type_error(format!("policies[{label:?}]: expected a function that builds the policy")));
    }
    let contender = InPython { label, factory, fault: Arc::clone(fault) };
    models::with_contender(runner, contender)
}
