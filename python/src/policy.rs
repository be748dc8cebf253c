//! The class `Policy`.

use crate::batch::Batch;
use crate::catalogue::{parameters_of, spec_of, to_parameters, to_value};
use crate::clicks;
use crate::decision::{Decision, Origin};
use crate::message::{type_error, value_error};
use crate::play::{Play, filled};
use crate::prior::Prior;
use crate::sequence;
use crate::task::{Given, build, count, generator, is_alive, protocol_named, protocol_of, restore, size};
use click_models::Clicks;
use confidence::Probability;
use policies::Drawing;
use policies::catalogue::{Kind, Note, ParameterRow, Protocol, find};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard};

/// Version of the format of saved policies.
const FORMAT: u32 = 1;

/// A policy and its generator of random numbers.
struct State {
    player: Box<dyn Play>,
    generator: Xoshiro256PlusPlus,
    /// Outcomes of comparisons of an item with itself, whose winner carries no information. Apart,
    /// so that answers do not change the choices' draws.
    coins: Xoshiro256PlusPlus,
}

impl State {
    fn update(&mut self, protocol: Protocol, action: &[u32], note: &Note, clicks: Clicks) {
        let is_tie = protocol == Protocol::Dueling && action[0] == action[1];
        let coin = if is_tie { Clicks::from_bits(self.coins.next_u64() >> 63, 1).ok() } else { None };
        self.player.update(action, note, coin.unwrap_or(clicks));
    }
}

/// A saved policy.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    format: u32,
    model: String,
    generator: Xoshiro256PlusPlus,
    coins: Xoshiro256PlusPlus,
    policy: Value,
}

/// A policy of the catalogue: it chooses what to show, and learns from the clicks.
///
/// A policy may be shared by threads: its methods run one after the other. `copy.copy`,
/// `copy.deepcopy`, `pickle` and `save` keep the whole state, with that of the generator of random
/// numbers, so that a copy makes the same choices as the original.
///
/// Args:
///     name: name in the catalogue, see `policies()`.
///     model: protocol of the users: "pbm", "semi-bandit", "cascade", "dcm", "clicks-only",
///         "rank-one" or "dueling"; or the name of a model whose users have it, such as "dbn" for
///         "clicks-only". May be left out if only one fits the policy and the other arguments.
///     items: number of items (all but "rank-one").
///     positions: number of positions of a list, at most 64 (lists; "pbm" takes it from
///         `examination`, if the policy knows that).
///     rows: number of rows ("rank-one").
///     columns: number of columns ("rank-one").
///     examination: probability that a position is examined, shape (positions,) ("pbm", for
///         policies that know it).
///     order: positions from that of the best item to that of the last, shape (positions,); by
///         default from the top down ("semi-bandit", "cascade" and "dcm", and "pbm" for policies
///         that know no more than that). A string is the parameter `order` of the policies that
///         have one.
///     horizon: number of rounds, for policies that need it.
///     prior: the Beta distribution of the attraction of items, of policies on lists that draw from
///         posteriors: (a, b), or a directory that `fit` of the command has written.
///     query: the query of the fit whose items are meant, by default all.
///     seed: seed of the policy's random numbers, from 0 to 2^64 - 1; by default another one for
///         every policy.
///     **parameters: the policy's parameters.
///
/// Raises:
///     ValueError: an unknown name, model or parameter, or a value, size or combination that does
///         not fit.
///     TypeError: an argument of another type.
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Policy {
    origin: Arc<Origin>,
    state: Mutex<State>,
}

/// The mutex is poisoned.
pub(crate) fn broken<T>(_error: T) -> PyErr {
    PyRuntimeError::new_err("an earlier call panicked: the policy's state may be wrong")
}

/// How lists are drawn whose propensities are told.
pub(crate) fn drawing(draws: Option<&Bound<'_, PyAny>>, epsilon: f64) -> PyResult<Drawing> {
    let draws = u32::try_from(count("draws", draws)?.unwrap_or(100)).unwrap_or(u32::MAX);
    let epsilon = Probability::new(epsilon)
        .map_err(|_| value_error(format!("epsilon: {epsilon} is not from 0 to 1")))?;
    Drawing::new(draws, epsilon).map_err(value_error)
}

/// The order of positions. One word has two meanings: an order of positions, or the parameter of
/// some policies.
pub(crate) fn order_of(
    name: &str,
    order: Option<&Bound<'_, PyAny>>,
    parameters: &mut Map<String, Value>,
) -> PyResult<Option<Vec<usize>>> {
    let Some(order) = order else { return Ok(None) };
    if order.is_instance_of::<PyString>() {
        if find(name).is_some_and(|row| row.parameters.iter().all(|row| row.name != "order")) {
            return Err(type_error("order: expected a sequence of positions, got a string"));
        }
        parameters.insert("order".to_owned(), to_value("order", order)?);
        return Ok(None);
    }
    let places: Vec<i64> = sequence::numbers("order", order)?;
    // For a policy that may know the order or not, this is decided by now.
    let knows = |row: &ParameterRow| {
        row.name == "order" && matches!(row.kind, Kind::Choice(names) if names.contains(&"known"))
    };
    if find(name).is_some_and(|row| row.parameters.iter().any(knows)) {
        parameters.insert("order".to_owned(), "known".into());
    }
    Ok(Some(places.into_iter().map(|place| usize::try_from(place).unwrap_or(usize::MAX)).collect()))
}

impl Policy {
    fn of(state: State, protocol: Protocol) -> Self {
        let origin = Origin { spec: state.player.spec(), protocol, sizes: state.player.told().sizes };
        Self { origin: Arc::new(origin), state: Mutex::new(state) }
    }

    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        self.state.lock_py_attached(py).map_err(broken)
    }

    fn duplicate(&self, py: Python<'_>) -> PyResult<Self> {
        let state = self.lock(py)?;
        let copied = State {
            player: state.player.duplicate(),
            generator: state.generator.clone(),
            coins: state.coins.clone(),
        };
        Ok(Self { origin: Arc::clone(&self.origin), state: Mutex::new(copied) })
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (name, model=None, *, items=None, positions=None, rows=None, columns=None, examination=None, order=None,
        horizon=None, prior=None, query=None, seed=None, **parameters))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new(
        name: &str,
        model: Option<&str>,
        items: Option<&Bound<'_, PyAny>>,
        positions: Option<&Bound<'_, PyAny>>,
        rows: Option<&Bound<'_, PyAny>>,
        columns: Option<&Bound<'_, PyAny>>,
        examination: Option<&Bound<'_, PyAny>>,
        order: Option<&Bound<'_, PyAny>>,
        horizon: Option<&Bound<'_, PyAny>>,
        prior: Option<&Bound<'_, PyAny>>,
        query: Option<&str>,
        seed: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut parameters = to_parameters(parameters)?;
        let given = Given {
            items: size("items", items)?,
            positions: size("positions", positions)?,
            rows: size("rows", rows)?,
            columns: size("columns", columns)?,
            examination: examination.map(|given| sequence::numbers("examination", given)).transpose()?,
            order: order_of(name, order, &mut parameters)?,
            horizon: count("horizon", horizon)?,
        };
        let spec = spec_of(name, parameters)?;
        let protocol = protocol_of(&spec, model, &given)?;
        let mut player = build(spec, protocol, &given)?;
        if let Some(prior) = prior {
            player.set_prior(&Prior::read(prior)?, query)?;
        }
        let generator = generator(seed)?;
        let mut coins = generator.clone();
        coins.jump();
        Ok(Self::of(State { player, generator, coins }, protocol))
    }

    /// Name in the catalogue.
    #[getter]
    fn name(&self) -> &'static str {
        self.origin.spec.name()
    }

    /// Protocol of the users, such as "pbm".
    #[getter]
    fn model(&self) -> &'static str {
        self.origin.protocol.name()
    }

    /// The policy's parameters, with the defaults: a dict from names to numbers and strings.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parameters_of(py, &self.origin.spec)
    }

    /// Numbers of items and positions, or of rows and columns, or of items and of the items in a
    /// pair (2).
    #[getter]
    fn sizes(&self) -> (usize, usize) {
        self.origin.sizes.into()
    }

    /// The best items in increasing order, if the policy is one that stops and has stopped;
    /// otherwise None.
    #[getter]
    fn answer(&self, py: Python<'_>) -> PyResult<Option<Vec<u32>>> {
        Ok(self.lock(py)?.player.answer())
    }

    /// The items to show for good, as far as the policy knows: the best items, from the top
    /// position down, of a policy that identifies them; the best item, a list of one, of a policy
    /// that compares pairs; None for all others. Draws no number from the policy's generator.
    fn recommend(&self, py: Python<'_>) -> PyResult<Option<Vec<u32>>> {
        let state = self.lock(py)?;
        Ok(state.player.recommend(&mut state.generator.clone()))
    }

    /// Decides the next round.
    ///
    /// With `propensities`, the policy draws `draws` lists in one round, and shows one of them, or
    /// with probability `epsilon` a uniformly random list. Given the draws, the probabilities of
    /// what is shown are then exact: `Decision.propensities`, `.prefix_propensities` and
    /// `.list_propensity`, the columns of a log that `evaluate` reads. A deterministic policy is
    /// asked once.
    ///
    /// Args:
    ///     propensities: whether to tell the propensities (policies that choose lists).
    ///     draws: number of lists that are drawn, from 1 to 10,000. The variance of a weight is 3.6,
    ///         1.2 and 1.1 times that of the policy's own probabilities with 20, 100 and 400 draws.
    ///     epsilon: probability of a uniformly random list, from 0 to 1. With 0, lists that the
    ///         policy never draws have no weight in any log.
    ///
    /// Raises:
    ///     ValueError: draws or epsilon out of range, or propensities of a policy that chooses no
    ///         lists.
    ///     TypeError: an argument of another type.
    ///
    /// Examples:
    ///     >>> policy = Policy("cascade-ts", "cascade", items=4, positions=2, seed=1)
    ///     >>> decision = policy.select(propensities=True, draws=50, epsilon=0.12)
    ///     >>> len(decision.propensities), decision.prefix_propensities[-1] == decision.list_propensity
    ///     (2, True)
    ///     >>> decision.list_propensity >= 0.12 / (4 * 3)
    ///     True
    #[pyo3(signature = (*, propensities=false, draws=None, epsilon=0.05))]
    fn select(
        &self,
        py: Python<'_>,
        propensities: bool,
        draws: Option<&Bound<'_, PyAny>>,
        epsilon: f64,
    ) -> PyResult<Decision> {
        let drawing = drawing(draws, epsilon)?;
        let mut action = vec![0; self.origin.width()];
        let mut state = self.lock(py)?;
        let State { player, generator, .. } = &mut *state;
        let (note, propensities) = if propensities {
            player.draw(drawing, generator, &mut action).ok_or_else(|| {
                value_error(format!("propensities: `{}` chooses no lists", self.origin.spec.name()))
            })?
        } else {
            (player.select(generator, &mut action), vec![])
        };
        action.truncate(filled(&action).len());
        let origin = Arc::clone(&self.origin);
        Ok(Decision { origin, action: action.into(), note, propensities: propensities.into() })
    }

    /// Learns from a user's answer to a decision, of this policy or of one with the same name,
    /// parameters and sizes. Answers may come late and in any order.
    ///
    /// Args:
    ///     decision: what was shown.
    ///     clicks: which positions were clicked, bool or 0 and 1, shape (positions,), from the top
    ///         down; for cells, whether there was a click; for pairs, the winner, one of the two
    ///         items. If an item was compared with itself, the policy tosses a coin of its own.
    ///     observed: how many positions the user saw, from the top down, for the models
    ///         "semi-bandit", "cascade" and "dcm"; by default all.
    ///
    /// Raises:
    ///     ValueError: a decision of another policy, a wrong shape, a number that is not 0 or 1, a
    ///         click below what was observed.
    ///     TypeError: an argument of another type.
    #[pyo3(signature = (decision, clicks, observed=None))]
    fn update(
        &self,
        py: Python<'_>,
        decision: &Bound<'_, Decision>,
        clicks: &Bound<'_, PyAny>,
        observed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let decision = decision.get();
        self.origin.check(&decision.origin)?;
        let seen = clicks::one(self.origin.protocol, &decision.action, clicks, observed)?;
        self.lock(py)?.update(self.origin.protocol, &decision.action, &decision.note, seen);
        Ok(())
    }

    /// Decides `n` rounds, without an answer in between.
    ///
    /// The interpreter's lock is released meanwhile.
    ///
    /// Args:
    ///     n: number of decisions.
    ///
    /// Raises:
    ///     ValueError: n is negative.
    ///     MemoryError: there is no memory for n decisions.
    fn select_batch(&self, py: Python<'_>, n: &Bound<'_, PyAny>) -> PyResult<Batch> {
        let n = size("n", Some(n))?.unwrap_or(0);
        let width = self.origin.width();
        let memory = || PyMemoryError::new_err(format!("no memory for {n} decisions"));
        let (mut actions, mut notes) = (Vec::<u32>::new(), Vec::<Note>::new());
        actions.try_reserve_exact(n.checked_mul(width).ok_or_else(memory)?).map_err(|_| memory())?;
        notes.try_reserve_exact(n).map_err(|_| memory())?;
        actions.resize(n * width, 0);
        py.detach(|| {
            let mut state = self.state.lock().map_err(broken)?;
            let State { player, generator, .. } = &mut *state;
            notes.extend(actions.chunks_exact_mut(width).map(|action| player.select(generator, action)));
            Ok::<(), PyErr>(())
        })?;
        Ok(Batch::new(Arc::clone(&self.origin), actions, notes))
    }

    /// Learns from the users' answers to a batch, in its order.
    ///
    /// The interpreter's lock is released while the policy learns. Either all answers are counted
    /// or, if one is refused, none.
    ///
    /// Args:
    ///     batch: what was shown.
    ///     clicks: which positions were clicked, an array of bool or of integers 0 and 1, shape (n,
    ///         positions); for cells, whether there was a click, shape (n,); for pairs, the
    ///         winners, an array of integers of shape (n,).
    ///     observed: how many positions the users saw, an array of integers of shape (n,); by
    ///         default all.
    ///
    /// Raises:
    ///     ValueError: a batch of another policy, a wrong shape, a number that is not 0 or 1, a
    ///         click below what was observed.
    ///     TypeError: an argument of another type.
    #[pyo3(signature = (batch, clicks, observed=None))]
    fn update_batch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        clicks: &Bound<'_, PyAny>,
        observed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let batch = batch.get();
        self.origin.check(&batch.origin)?;
        let width = self.origin.width();
        let seen = clicks::many(self.origin.protocol, &batch.actions, width, clicks, observed)?;
        let (actions, notes) = (&batch.actions, &batch.notes);
        py.detach(|| {
            let mut state = self.state.lock().map_err(broken)?;
            for ((action, note), clicks) in actions.chunks_exact(width).zip(notes).zip(seen) {
                state.update(self.origin.protocol, action, note, clicks);
            }
            Ok(())
        })
    }

    /// The policy's whole state, with that of its generator of random numbers, as JSON text in
    /// UTF-8.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = {
            let state = self.lock(py)?;
            Saved {
                format: FORMAT,
                model: self.origin.protocol.name().to_owned(),
                generator: state.generator.clone(),
                coins: state.coins.clone(),
                policy: state.player.saved().map_err(value_error)?,
            }
        };
        Ok(PyBytes::new(py, &serde_json::to_vec(&saved).map_err(value_error)?))
    }

    /// The policy that `save` wrote. It makes the same choices as the original.
    ///
    /// Args:
    ///     data: bytes.
    ///
    /// Raises:
    ///     ValueError: the data are no policy, or a damaged one.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let invalid = |fault: &dyn std::fmt::Display| value_error(format!("no saved policy: {fault}"));
        let saved: Saved = serde_json::from_slice(data).map_err(|error| invalid(&error))?;
        if saved.format != FORMAT {
            return Err(invalid(&format!("format {}: expected {FORMAT}", saved.format)));
        }
        let protocol = protocol_named(&saved.model)
            .ok_or_else(|| invalid(&format!("unknown model `{}`", saved.model)))?;
        if !is_alive(&saved.generator) || !is_alive(&saved.coins) {
            return Err(invalid(&"a generator of random numbers whose state is zero"));
        }
        let player = restore(protocol, saved.policy).map_err(|error| invalid(&error))?;
        Ok(Self::of(State { player, generator: saved.generator, coins: saved.coins }, protocol))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("load")?, (self.save(py)?,)))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.duplicate(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.duplicate(py)
    }

    fn __repr__(&self) -> String {
        let Origin { spec, protocol, sizes: [first, second] } = &*self.origin;
        format!("Policy('{spec}', model='{}', sizes=({first}, {second}))", protocol.name())
    }
}
