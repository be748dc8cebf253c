//! Click models: users who respond to lists, cells and pairs.

use crate::batch::Batch;
use crate::bounds::matrix;
use crate::clicks::actions;
use crate::decision::Decision;
use crate::message::{did_you_mean, value_error};
use crate::play::Played;
use crate::task::{count, numbers, size};
use click_models::{
    Action, CascadeModel, ClickModel, Clicks, DbnReward, DcmReward, DuelingModel, ItemId, ListFeedback, Pair,
    RankOneModel, Ranking,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyType};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::sync::Mutex;

/// Users of a click model, and their generator of random numbers.
struct Crowd<M> {
    model: M,
    generator: Mutex<Xoshiro256PlusPlus>,
    /// How many numbers an action has.
    width: usize,
}

/// Saved users.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<M> {
    model: M,
    generator: Xoshiro256PlusPlus,
}

/// Actions of Python.
struct Asked<A> {
    actions: Vec<A>,
    /// Whether one action was given, and no array of them.
    single: bool,
}

impl<A> Asked<A> {
    /// A number for each action.
    fn each<'py>(&self, py: Python<'py>, value: impl Fn(&A) -> f64) -> PyResult<Bound<'py, PyAny>> {
        let values: Vec<f64> = self.actions.iter().map(value).collect();
        match (self.single, &values[..]) {
            (true, [value]) => Ok(value.into_pyobject(py)?.into_any()),
            _ => Ok(PyArray1::from_vec(py, values).into_any()),
        }
    }
}

/// The mutex is poisoned.
fn broken<T>(_error: T) -> PyErr {
    PyRuntimeError::new_err("an earlier call panicked")
}

impl<M> Crowd<M>
where
    M: ClickModel<Interaction: Played> + Serialize + DeserializeOwned + Send,
    Action<M>: Sync,
{
    fn new(model: Result<M, click_models::Error>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let model = model.map_err(value_error)?;
        let seed = match count("seed", seed)? {
            Some(seed) => seed,
            None => getrandom::u64().map_err(|error| PyRuntimeError::new_err(error.to_string()))?,
        };
        Ok(Self::with_generator(model, Xoshiro256PlusPlus::seed_from_u64(seed)))
    }

    fn with_generator(model: M, generator: Xoshiro256PlusPlus) -> Self {
        let width = <M::Interaction as Played>::width(&model.optimal_action());
        Self { model, generator: Mutex::new(generator), width }
    }

    /// Reads a decision, a batch, one action or an array of them.
    fn read(&self, given: &Bound<'_, PyAny>) -> PyResult<Asked<Action<M>>> {
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
            let mut action = Action::<M>::default();
            if numbers.len() == width {
                <M::Interaction as Played>::read(numbers, &mut action);
            }
            if numbers.len() != width || !self.model.admits(&action) {
                return Err(value_error(format!("{numbers:?} is no action of these users")));
            }
            read.push(action);
        }
        Ok(Asked { actions: read, single })
    }

    /// The responses to `n` displays of one action, or to each of the actions.
    fn respond<T: Send>(
        &self,
        py: Python<'_>,
        asked: &Asked<Action<M>>,
        n: Option<&Bound<'_, PyAny>>,
        read: impl Fn(click_models::Feedback<M>, &Action<M>) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let n = size("n", n)?;
        if n.is_some() && !asked.single {
            return Err(value_error("n: expected none with an array of actions"));
        }
        let users = if asked.actions.is_empty() { 0 } else { n.unwrap_or(asked.actions.len()) };
        let mut responses = Vec::new();
        let memory = |_| PyMemoryError::new_err(format!("no memory for {users} users"));
        responses.try_reserve_exact(users).map_err(memory)?;
        py.detach(|| {
            let mut generator = self.generator.lock().map_err(broken)?;
            let shown = asked.actions.iter().cycle().take(users);
            responses.extend(shown.map(|action| read(self.model.respond(action, &mut *generator), action)));
            Ok(responses)
        })
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String>
    where
        M: Clone,
    {
        let generator = self.generator.lock_py_attached(py).map_err(broken)?;
        let saved = Saved { model: self.model.clone(), generator: generator.clone() };
        serde_json::to_string(&saved).map_err(value_error)
    }

    fn from_json(text: &str) -> PyResult<Self> {
        let saved: Saved<M> =
            serde_json::from_str(text).map_err(|error| value_error(format!("no saved users: {error}")))?;
        Ok(Self::with_generator(saved.model, saved.generator))
    }
}

impl<M> Crowd<M>
where
    M: ClickModel + Serialize + DeserializeOwned + Send,
    M::Interaction: Played + click_models::Interaction<Action = Ranking, Feedback: ListFeedback>,
{
    fn seen(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        n: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<Clicks>, bool)> {
        let asked = self.read(actions)?;
        let seen = self.respond(py, &asked, n, |feedback, _| feedback.list_clicks())?;
        Ok((seen, asked.single && n.is_none()))
    }

    /// The clicks of `seen` as an array.
    fn array<'py>(&self, py: Python<'py>, seen: &[Clicks], single: bool) -> PyResult<Bound<'py, PyAny>> {
        let n_positions = self.width;
        let flags = seen.iter().flat_map(|clicks| (0..n_positions).map(|position| clicks.get(position)));
        let array = PyArray1::from_vec(py, flags.collect());
        if single { Ok(array.into_any()) } else { Ok(array.reshape([seen.len(), n_positions])?.into_any()) }
    }

    /// The clicks.
    fn clicks<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        n: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (seen, single) = self.seen(py, actions, n)?;
        self.array(py, &seen, single)
    }

    /// The clicks, and how many positions were observed.
    fn prefix<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        n: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (seen, single) = self.seen(py, actions, n)?;
        let clicks = self.array(py, &seen, single)?;
        let lengths: Vec<i64> = seen.iter().map(|clicks| signed(clicks.len())).collect();
        let observed = match (single, &lengths[..]) {
            (true, [length]) => length.into_pyobject(py)?.into_any(),
            _ => PyArray1::from_vec(py, lengths).into_any(),
        };
        Ok((clicks, observed).into_pyobject(py)?.into_any())
    }
}

/// Makes the class of a model.
macro_rules! users {
    ($(#[doc = $doc:literal])+ $Class:ident($Model:ty); $($methods:tt)*) => {
        $(#[doc = $doc])+
        #[pyclass(frozen, module = "click_bandits.models")]
        pub(crate) struct $Class(Crowd<$Model>);

        #[pymethods]
        impl $Class {
            $($methods)*

            /// The parameters and the state of the generator as JSON text.
            fn to_json(&self, py: Python<'_>) -> PyResult<String> {
                self.0.to_json(py)
            }

            /// The users that `to_json` wrote.
            ///
            /// Raises:
            ///     ValueError: the text is not such users.
            #[classmethod]
            fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
                Crowd::from_json(text).map(Self)
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
                Ok((py.get_type::<Self>().getattr("from_json")?, (self.0.to_json(py)?,)))
            }

            fn __repr__(&self) -> String {
                format!(concat!(stringify!($Class), "(sizes={:?})"), self.0.sizes())
            }
        }
    };
}

/// Makes the class of a model whose actions are lists.
macro_rules! users_of_lists {
    ($(
        $(#[doc = $doc:literal])+
        $Class:ident($Model:ty), responds with $respond:ident; { $($methods:tt)* }
    )*) => {$(
        users! {
            $(#[doc = $doc])+
            $Class($Model);

            $($methods)*

            /// Draws the users' answers: what `Policy.update` takes after the decision.
            ///
            /// Args:
            ///     actions: a decision, a batch, a list of items, shape (positions,), or lists, shape (n, positions).
            ///     n: number of users who see the list, if it is one list.
            ///
            /// Returns:
            ///     clicks: bool array of shape (positions,) for one list without n, otherwise (n, positions). For RandomSemiBandit a tuple:
            ///     clicks, and the number of observed positions, an int or an int64 array of shape (n,).
            #[pyo3(signature = (actions, n=None))]
            fn respond<'py>(
                &self,
                py: Python<'py>,
                actions: &Bound<'py, PyAny>,
                n: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.0.$respond(py, actions, n)
            }

            /// A list with the largest mean reward, from the top position down.
            fn best_list(&self) -> Vec<usize> {
                self.0.model.optimal_action().iter().map(ItemId::index).collect()
            }

            /// The largest mean reward of a list, per user.
            #[getter]
            fn best_reward(&self) -> f64 {
                self.0.model.optimal_reward()
            }

            /// The mean reward, per user: a float for one list, a float64 array of shape (n,) for lists of shape (n, positions) or a
            /// batch.
            fn expected_reward<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let asked = self.0.read(actions)?;
                asked.each(py, |list| self.0.model.expected_reward(list))
            }

            /// The regret, per user: the largest mean reward minus that of the list. Shapes as of `expected_reward`.
            fn regret<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let asked = self.0.read(actions)?;
                asked.each(py, |list| self.0.model.gap(list))
            }
        }
    )*};
}

users_of_lists! {
    /// Users of the position-based model: a position is examined, and its item attracts, independently of all else; both make a click.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     examination: probability that a position is examined, shape (positions,).
    ///     seed: seed of the users' random numbers; by default another one every time.
    PositionBased(click_models::PositionBased), responds with clicks; {
        #[new]
        #[pyo3(signature = (attraction, examination, *, seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            examination: &Bound<'_, PyAny>,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let (attraction, examination) = two(("attraction", attraction), ("examination", examination))?;
            Crowd::new(click_models::PositionBased::from_values(&attraction, &examination), seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            let known = self.0.known_list(py, "pbm")?;
            let examination: Vec<f64> = self.0.model.examination().iter().map(|p| p.get()).collect();
            known.set_item("examination", examination)?;
            Ok(known)
        }

        /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: PBM paper, Theorem 6.
        fn lower_bound(&self) -> f64 {
            self.0.model.lower_bound()
        }
    }

    /// Users of the random semi-bandit: they examine a prefix of the list, whose length is observed, and rate every item in it.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     examination: probability that a position is examined, not increasing, shape (positions,).
    ///     seed: seed of the users' random numbers; by default another one every time.
    RandomSemiBandit(click_models::RandomSemiBandit), responds with prefix; {
        #[new]
        #[pyo3(signature = (attraction, examination, *, seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            examination: &Bound<'_, PyAny>,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let (attraction, examination) = two(("attraction", attraction), ("examination", examination))?;
            Crowd::new(click_models::RandomSemiBandit::from_values(&attraction, &examination), seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.0.known_list(py, "semi-bandit")
        }

        /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: RSF paper, Theorem 4.
        fn lower_bound(&self) -> f64 {
            self.0.model.lower_bound()
        }
    }

    /// Users of the cascade model: they scan the list from the top, click on the first item that attracts, and leave.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     positions: number of positions.
    ///     seed: seed of the users' random numbers; by default another one every time.
    Cascade(CascadeModel), responds with clicks; {
        #[new]
        #[pyo3(signature = (attraction, positions, *, seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            positions: &Bound<'_, PyAny>,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let attraction = numbers("attraction", attraction)?;
            let positions = size("positions", Some(positions))?.unwrap_or(0);
            Crowd::new(CascadeModel::from_values(&attraction, positions), seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.0.known_list(py, "cascade")
        }

        /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: Kveton et al. 2015, Theorem 4, generalised.
        fn lower_bound(&self) -> f64 {
            self.0.model.lower_bound()
        }

        /// Whether these are as many items as positions, each at most epsilon less attractive than the last of the best.
        ///
        /// Args:
        ///     items: items, shape (positions,), in any order; such as `Policy.answer`.
        ///     epsilon: tolerance.
        #[pyo3(signature = (items, epsilon=0.0))]
        fn are_best(&self, items: Vec<u32>, epsilon: f64) -> bool {
            let items: Vec<ItemId> = items.into_iter().map(ItemId::new).collect();
            self.0.model.are_best(&items, epsilon)
        }
    }

    /// Users of the dependent click model: they scan the list from the top, click on items that attract, and leave after some clicks.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     leave: probability of leaving after a click at a position, shape (positions,).
    ///     reward: "satisfaction", 1 if the user left after a click, or "clicks".
    ///     seed: seed of the users' random numbers; by default another one every time.
    DependentClick(click_models::DependentClick), responds with clicks; {
        #[new]
        #[pyo3(signature = (attraction, leave, *, reward="satisfaction", seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            leave: &Bound<'_, PyAny>,
            reward: &str,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let reward = if is_satisfaction(reward)? { DcmReward::Satisfaction } else { DcmReward::Clicks };
            let (attraction, leave) = two(("attraction", attraction), ("leave", leave))?;
            Crowd::new(click_models::DependentClick::from_values(&attraction, &leave, reward), seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`, with the order of the positions.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            let known = self.0.known_list(py, "dcm")?;
            known.set_item("order", self.0.model.known().places())?;
            Ok(known)
        }

        /// Lower bound on the regret of uniformly efficient policies, per ln T, in the unit of the reward: Katariya et al. 2016, Theorem 3,
        /// generalised.
        fn lower_bound(&self) -> f64 {
            self.0.model.lower_bound()
        }
    }

    /// Users of the dynamic Bayesian network: they leave satisfied after a click, or without patience.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     satisfaction: probability that a clicked item satisfies, shape (items,).
    ///     continuation: probability that an unsatisfied user examines the next position.
    ///     positions: number of positions.
    ///     reward: "clicks", or "satisfaction", 1 if the user left satisfied.
    ///     seed: seed of the users' random numbers; by default another one every time.
    DynamicBayesian(click_models::DynamicBayesian), responds with clicks; {
        #[new]
        #[pyo3(signature = (attraction, satisfaction, continuation, positions, *, reward="clicks", seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            satisfaction: &Bound<'_, PyAny>,
            continuation: f64,
            positions: &Bound<'_, PyAny>,
            reward: &str,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let reward = if is_satisfaction(reward)? { DbnReward::Satisfaction } else { DbnReward::Clicks };
            let (attraction, satisfaction) = two(("attraction", attraction), ("satisfaction", satisfaction))?;
            let positions = size("positions", Some(positions))?.unwrap_or(0);
            let users = click_models::DynamicBayesian::from_values(
                &attraction,
                &satisfaction,
                continuation,
                positions,
                reward,
            );
            Crowd::new(users, seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.0.known_list(py, "clicks-only")
        }
    }

    /// Users of the click chain model: they go on depending on whether they clicked, and on what.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     continuation: probabilities of examining the next position: without a click, after a click on an irrelevant item, and after one
    ///         on a relevant item, shape (3,).
    ///     positions: number of positions.
    ///     seed: seed of the users' random numbers; by default another one every time.
    ClickChain(click_models::ClickChain), responds with clicks; {
        #[new]
        #[pyo3(signature = (attraction, continuation, positions, *, seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            continuation: &Bound<'_, PyAny>,
            positions: &Bound<'_, PyAny>,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let (attraction, continuation) = two(("attraction", attraction), ("continuation", continuation))?;
            let found = continuation.len();
            let continuation = continuation
                .try_into()
                .map_err(|_| value_error(format!("continuation: expected shape (3,), got ({found},)")))?;
            let positions = size("positions", Some(positions))?.unwrap_or(0);
            Crowd::new(click_models::ClickChain::from_values(&attraction, continuation, positions), seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.0.known_list(py, "clicks-only")
        }
    }

    /// Users of the user browsing model: examination depends on the position and on that of the last click above.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     examination: a row for each position, of 1, 2, .. probabilities: without a click above, and with the last click at each position
    ///         above.
    ///     seed: seed of the users' random numbers; by default another one every time.
    UserBrowsing(click_models::UserBrowsing), responds with clicks; {
        #[new]
        #[pyo3(signature = (attraction, examination, *, seed=None))]
        fn new(
            attraction: &Bound<'_, PyAny>,
            examination: Vec<Vec<f64>>,
            seed: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Self> {
            let attraction = numbers("attraction", attraction)?;
            let rows: Vec<&[f64]> = examination.iter().map(Vec::as_slice).collect();
            Crowd::new(click_models::UserBrowsing::from_values(&attraction, &rows), seed).map(Self)
        }

        /// What a policy may know of these users: keyword arguments of `Policy`.
        fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
            self.0.known_list(py, "clicks-only")
        }
    }
}

users! {
    /// Users of the rank-one model: a click occurs if the row and the column both succeed, independently.
    ///
    /// Args:
    ///     rows: probability that a row succeeds, shape (rows,).
    ///     columns: probability that a column succeeds, shape (columns,).
    ///     seed: seed of the users' random numbers; by default another one every time.
    RankOne(RankOneModel);

    #[new]
    #[pyo3(signature = (rows, columns, *, seed=None))]
    fn new(
        rows: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (rows, columns) = two(("rows", rows), ("columns", columns))?;
        Crowd::new(RankOneModel::from_values(&rows, &columns), seed).map(Self)
    }

    /// What a policy may know of these users: keyword arguments of `Policy`.
    fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        known.set_item("model", "rank-one")?;
        known.set_item("rows", self.0.model.rows().len())?;
        known.set_item("columns", self.0.model.columns().len())?;
        Ok(known)
    }

    /// Draws the users' answers: whether there was a click.
    ///
    /// Args:
    ///     actions: a decision, a batch, a cell (row, column), or cells, shape (n, 2).
    ///     n: number of users of the cell, if it is one cell.
    ///
    /// Returns:
    ///     bool for one cell without n, otherwise a bool array of shape (n,).
    #[pyo3(signature = (actions, n=None))]
    fn respond<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        n: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.0.read(actions)?;
        let clicks = self.0.respond(py, &asked, n, |click, _| click.clicked)?;
        match (asked.single && n.is_none(), &clicks[..]) {
            (true, [click]) => Ok(click.into_pyobject(py)?.to_owned().into_any()),
            _ => Ok(PyArray1::from_vec(py, clicks).into_any()),
        }
    }

    /// A cell with the largest mean reward: its row and its column.
    fn best_cell(&self) -> (u32, u32) {
        let cell = self.0.model.optimal_action();
        (cell.row, cell.column)
    }

    /// The largest mean reward of a cell, in clicks per user.
    #[getter]
    fn best_reward(&self) -> f64 {
        self.0.model.optimal_reward()
    }

    /// The mean reward, in clicks per user: a float for one cell, a float64 array of shape (n,) for cells of shape (n, 2) or a batch.
    fn expected_reward<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.0.read(actions)?;
        asked.each(py, |cell| self.0.model.expected_reward(cell))
    }

    /// The regret, in clicks per user. Shapes as of `expected_reward`.
    fn regret<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.0.read(actions)?;
        asked.each(py, |cell| self.0.model.gap(cell))
    }
}

users! {
    /// Users who prefer one of two items.
    ///
    /// Args:
    ///     preferences: probability that the item of the row is preferred to that of the column, shape (items, items); entries (i, j) and
    ///         (j, i) add up to 1.
    ///     seed: seed of the users' random numbers; by default another one every time.
    Dueling(DuelingModel);

    #[new]
    #[pyo3(signature = (preferences, *, seed=None))]
    fn new(preferences: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Crowd::new(Ok(DuelingModel::new(matrix(preferences)?)), seed).map(Self)
    }

    /// What a policy may know of these users: keyword arguments of `Policy`.
    fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        known.set_item("model", "dueling")?;
        known.set_item("items", self.0.sizes()[0])?;
        Ok(known)
    }

    /// Draws the users' answers: the winners.
    ///
    /// Args:
    ///     actions: a decision, a batch, a pair of items, or pairs, shape (n, 2).
    ///     n: number of users of the pair, if it is one pair.
    ///
    /// Returns:
    ///     int for one pair without n, otherwise an int64 array of shape (n,).
    #[pyo3(signature = (actions, n=None))]
    fn respond<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        n: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.0.read(actions)?;
        let winner = |outcome: click_models::DuelOutcome, pair: &Pair| {
            let winner = if outcome.first_won() { pair.first } else { pair.second };
            signed(winner.index())
        };
        let winners = self.0.respond(py, &asked, n, winner)?;
        match (asked.single && n.is_none(), &winners[..]) {
            (true, [winner]) => Ok(winner.into_pyobject(py)?.into_any()),
            _ => Ok(PyArray1::from_vec(py, winners).into_any()),
        }
    }

    /// The item that beats all others; without one, an item that beats most others.
    fn best_item(&self) -> usize {
        self.0.model.benchmark().item().index()
    }

    /// The regret of a comparison: a float for one pair, a float64 array of shape (n,) for pairs of shape (n, 2) or a batch.
    fn regret<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.0.read(actions)?;
        asked.each(py, |pair| self.0.model.gap(pair))
    }
}

/// The sizes that a policy knows.
trait Sizes {
    fn sizes(&self) -> [usize; 2];
}

macro_rules! sizes_of_lists {
    ($($Model:ty),*) => {$(
        impl Sizes for Crowd<$Model> {
            fn sizes(&self) -> [usize; 2] {
                let shape = self.model.shape();
                [shape.n_items(), shape.n_positions()]
            }
        }
    )*};
}

sizes_of_lists! {
    click_models::PositionBased,
    click_models::RandomSemiBandit,
    CascadeModel,
    click_models::DependentClick,
    click_models::DynamicBayesian,
    click_models::ClickChain,
    click_models::UserBrowsing
}

impl Sizes for Crowd<RankOneModel> {
    fn sizes(&self) -> [usize; 2] {
        let shape = self.model.shape();
        [shape.n_rows(), shape.n_columns()]
    }
}

impl Sizes for Crowd<DuelingModel> {
    fn sizes(&self) -> [usize; 2] {
        [self.model.preferences().shape().n_items(), 2]
    }
}

impl<M> Crowd<M>
where
    Self: Sizes,
{
    /// Keyword arguments of `Policy` for lists.
    fn known_list<'py>(&self, py: Python<'py>, model: &str) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        let [items, positions] = self.sizes();
        known.set_item("model", model)?;
        known.set_item("items", items)?;
        known.set_item("positions", positions)?;
        Ok(known)
    }
}

/// A small number.
#[expect(clippy::cast_possible_wrap, reason = "the number of an item or of positions")]
fn signed(number: usize) -> i64 {
    number as i64
}

/// Two sequences of numbers.
fn two(
    first: (&str, &Bound<'_, PyAny>),
    second: (&str, &Bound<'_, PyAny>),
) -> PyResult<(Vec<f64>, Vec<f64>)> {
    Ok((numbers(first.0, first.1)?, numbers(second.0, second.1)?))
}

fn is_satisfaction(reward: &str) -> PyResult<bool> {
    match reward {
        "satisfaction" => Ok(true),
        "clicks" => Ok(false),
        other => Err(value_error(format!(
            "unknown reward `{other}`: expected clicks or satisfaction{}",
            did_you_mean(other, ["clicks", "satisfaction"])
        ))),
    }
}
