//! Users of any click model: what the classes of all models share.

use crate::arrays::{one_or_array, room};
use crate::batch::Batch;
use crate::clicks::actions;
use crate::decision::{Decision, fault};
use crate::interrupt::check_signals;
use crate::message::{broken, value_error};
use crate::models::PolicyFacts;
use crate::play;
use crate::task::{is_alive, seed_or_rng, seeded, size};
use click_models::{Action, ListFeedback, Ranking};
use documents::read_json;
use numpy::{PyArray1, PyArrayMethods};
use policies::catalogue::Protocol;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::sync::Mutex;

/// Users drawn between two looks at pending signals.
const BETWEEN_SIGNALS: usize = 1 << 18;

/// Users of a click model, and their generator of random numbers.
pub(super) struct Crowd<M> {
    pub(super) model: M,
    generator: Mutex<Xoshiro256PlusPlus>,
    /// How many numbers an action has.
    width: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCrowd<M> {
    model: M,
    generator: Xoshiro256PlusPlus,
}

/// Actions of Python.
pub(super) struct CrowdArguments<A> {
    actions: Vec<A>,
    /// Whether one action was given, and no array of them.
    pub(super) single: bool,
}

impl<A> CrowdArguments<A> {
    /// A number for each action.
    pub(super) fn each<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(&A) -> f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        one_or_array(py, self.single, self.actions.iter().map(value).collect())
    }
}

/// Why these numbers are no action of these users.
pub(crate) fn not_admitted<M: PolicyFacts>(users: &M, width: usize, numbers: &[u32]) -> String {
    let fault = fault(M::PROTOCOL, users.told().sizes, width, numbers).unwrap_or_default();
    format!("{numbers:?} is no action of these users: {fault}")
}

impl<M> Crowd<M>
where
    M: PolicyFacts + Serialize + DeserializeOwned + Send,
    Action<M>: Sync,
{
    pub(super) fn new(
        model: Result<M, click_models::Error>,
        (seed, rng): (Option<&Bound<'_, PyAny>>, Option<&Bound<'_, PyAny>>),
    ) -> PyResult<Self> {
        Ok(Self::with_generator(model.map_err(value_error)?, seeded(seed_or_rng(seed, rng)?)?))
    }

    fn with_generator(model: M, generator: Xoshiro256PlusPlus) -> Self {
        let width = play::width(&model.optimal_action());
        Self { model, generator: Mutex::new(generator), width }
    }

    /// Reads a decision, a batch, one action or an array of them.
    pub(super) fn read(&self, given: &Bound<'_, PyAny>) -> PyResult<CrowdArguments<Action<M>>> {
        let width = self.width;
        let (numbers, single) = if let Ok(decision) = given.cast::<Decision>() {
            (decision.get().action.to_vec(), true)
        } else if let Ok(batch) = given.cast::<Batch>() {
            (batch.get().actions.clone(), false)
        } else {
            actions("actions", given, width)?
        };
        let mut read = Vec::with_capacity(numbers.len() / width);
        for numbers in numbers.chunks(width) {
            let action = play::read(numbers);
            if numbers.len() != width || !self.model.admits(&action) {
                return Err(value_error(not_admitted(&self.model, width, numbers)));
            }
            read.push(action);
        }
        Ok(CrowdArguments { actions: read, single })
    }

    /// The responses to `n` displays of one action, or to each of the actions.
    pub(super) fn respond<T: Send>(
        &self,
        py: Python<'_>,
        asked: &CrowdArguments<Action<M>>,
        n: Option<&Bound<'_, PyAny>>,
        read: impl Fn(click_models::Feedback<M>, &Action<M>) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let n = size("n", n)?;
        if n.is_some() && !asked.single {
            return Err(value_error("n: expected none with an array of actions"));
        }
        let users = if asked.actions.is_empty() { 0 } else { n.unwrap_or(asked.actions.len()) };
        let mut responses = room(users)?;
        py.detach(|| {
            let mut generator = self.generator.lock().map_err(broken)?;
            let mut shown = asked.actions.iter().cycle().take(users);
            while responses.len() < users {
                let part = shown.by_ref().take(BETWEEN_SIGNALS);
                responses
                    .extend(part.map(|action| read(self.model.respond(action, &mut *generator), action)));
                // A thread that waits for the generator has released the interpreter's lock.
                check_signals()?;
            }
            Ok(responses)
        })
    }

    pub(super) fn to_json(&self, py: Python<'_>) -> PyResult<String>
    where
        M: Clone,
    {
        let generator = self.generator.lock_py_attached(py).map_err(broken)?;
        let saved = SavedCrowd { model: self.model.clone(), generator: generator.clone() };
        serde_json::to_string(&saved).map_err(value_error)
    }

    pub(super) fn from_json(text: &str) -> PyResult<Self> {
        let saved = read_json("no saved users", text.as_bytes(), "users of this class");
        let saved: SavedCrowd<M> = saved.map_err(value_error)?;
        if !is_alive(&saved.generator) {
            return Err(value_error("no saved users: a generator of random numbers whose state is zero"));
        }
        Ok(Self::with_generator(saved.model, saved.generator))
    }
}

impl<M> Crowd<M>
where
    M: PolicyFacts + Serialize + DeserializeOwned + Send,
    M::Interaction: click_models::Interaction<Action = Ranking, Feedback: ListFeedback>,
{
    /// The clicks, and if the protocol tells it, how many positions were observed.
    pub(super) fn answers<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        n: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.read(actions)?;
        let seen = self.respond(py, &asked, n, |feedback, _| feedback.list_clicks())?;
        let single = asked.single && n.is_none();
        let mut flags = room(seen.len().saturating_mul(self.width))?;
        for clicks in &seen {
            flags.extend((0..self.width).map(|position| clicks.get(position)));
        }
        let array = PyArray1::from_vec(py, flags);
        let clicks =
            if single { array.into_any() } else { array.reshape([seen.len(), self.width])?.into_any() };
        if M::PROTOCOL != Protocol::SemiBandit {
            return Ok(clicks);
        }
        let lengths: Vec<i64> = seen.iter().map(|clicks| signed(clicks.len())).collect();
        Ok((clicks, one_or_array(py, single, lengths)?).into_pyobject(py)?.into_any())
    }
}

/// A small number.
#[expect(clippy::cast_possible_wrap, reason = "the number of an item or of positions")]
pub(super) fn signed(number: usize) -> i64 {
    number as i64
}
