//! The class `Policy`.

mod state;

use crate::arrays::{self, room};
use crate::batch::Batch;
use crate::catalogue::{spec_of, to_parameters};
use crate::clicks;
use crate::context::{self, ContextFacts, Contexts, UserNames};
use crate::decision::{Decision, Origin, fault};
use crate::fit::{ContextFit, Fitted, FromFit};
use crate::json::{SavedBytes, dict, to_python};
use crate::message::{broken, type_error, value_error};
use crate::names::{self, Names};
use crate::options::Given;
use crate::play::{Player, filled};
use crate::prior::Prior;
use crate::reduced::reduced;
use crate::table::{Column, Table};
use crate::task::{
    UserFacts, build, drawing, is_alive, length, order_of, protocol_named, protocol_of, seeded,
};
use ::live::Estimator;
use click_models::{Context, ItemId};
use documents::read_json;
use numpy::PyArray1;
use policies::catalogue::{AnyPolicy, Note, Protocol};
use policies::{NamedArray, Tally};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{IntoPyDict as _, PyBytes, PyDict, PyList, PyTuple, PyType};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use state::{FORMAT, SavedPolicy, State};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};

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
///     items: number of items, or their names, any hashable values (all but "rank-one"). Decisions,
///         `learn` and answers then have names in place of numbers.
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
///     item_features: numbers for every item on a scale of about 1, shape (items, n), of policies
///         for users who differ: "hybrid-ts", "segmented", "cascade-lin-ucb", "cascade-lin-ts" and
///         "c3-ucb". One of the three arguments of contexts makes such a policy see who asks.
///     user_features: how many numbers `select` gets of every user, by default none.
///     segments: how many segments of users there are, by default 1.
///     horizon: number of rounds, for policies that need it.
///     prior: the Beta distribution of the attraction of items, of policies on lists that draw from
///         posteriors: (a, b), the result of `fit`, a directory that `fit` of the command has
///         written, or "estimated" from the answers so far. Of "hybrid-ts" what a log tells of its
///         users and items: a ContextFit, or context.json, of the same items in the same order,
///         with features as in the log.
///     query: the query of the fit whose items are meant, by default all.
///     seed: seed of the policy's random numbers, from 0 to 2^64 - 1, or a Generator, SeedSequence
///         or BitGenerator of numpy, which draws one; by default another one for every policy.
///         `rng` is another name of it.
///     **parameters: the policy's parameters.
///
/// Examples:
///     >>> policy = Policy("cascade-ts", "cascade", items=["a", "b", "c"], positions=2, seed=1)
///     >>> decision = policy.select()
///     >>> policy.update(decision, [True, False])
///     >>> policy.table()[decision.action[0]]
///     [(1, 1)]
///     >>> policy = Policy("hybrid-ts", "cascade", items=["a", "b", "c"], positions=2,
///     ...                 item_features=[[0.5], [-1.0], [0.0]], user_features=2, segments=3, seed=1)
///     >>> decision = policy.select(features=[0.3, -0.2], segment=1)
///     >>> policy.update(decision, [False, True])
#[pyclass(frozen, module = "click_bandits")]
pub(crate) struct Policy {
    origin: Arc<Origin>,
    names: Option<Arc<Names>>,
    users: Arc<UserNames>,
    /// The arguments by name that it was built with; `None` if it was not built from arguments.
    given: Option<Py<PyDict>>,
    state: Mutex<State>,
}

fn arrays_of(py: Python<'_>, arrays: Vec<NamedArray>) -> PyResult<Bound<'_, PyDict>> {
    let named = |array: NamedArray| Ok((array.name, arrays::to_python(py, array.numbers, &array.shape)?));
    arrays.into_iter().map(named).collect::<PyResult<Vec<_>>>()?.into_py_dict(py)
}

impl Policy {
    /// A policy that estimates no prior.
    pub(crate) fn of(
        policy: AnyPolicy,
        generator: Xoshiro256PlusPlus,
        protocol: Protocol,
        names: Option<Arc<Names>>,
    ) -> Self {
        let mut coins = generator.clone();
        coins.jump();
        let state = State { player: Player::new(policy), generator, coins, estimator: None };
        Self::with_state(state, protocol, names)
    }

    fn with_state(state: State, protocol: Protocol, names: Option<Arc<Names>>) -> Self {
        let knowledge = state.player.policy.told();
        let told = knowledge.context.as_ref().map(ContextFacts::of);
        let origin = Origin { spec: *state.player.policy.spec(), protocol, sizes: knowledge.sizes, told };
        Self { origin: Arc::new(origin), names, users: Arc::default(), given: None, state: Mutex::new(state) }
    }

    /// The policy that begins with a log of these segments and features.
    pub(crate) fn for_users(self, users: UserNames) -> Self {
        Self { users: Arc::new(users), ..self }
    }

    /// The contexts of `n` users, or of one.
    fn contexts<'py>(
        &self,
        py: Python<'py>,
        n: Option<usize>,
        features: Option<&Bound<'py, PyAny>>,
        segments: (&'static str, Option<&Bound<'py, PyAny>>),
    ) -> PyResult<Contexts> {
        Contexts::read(py, (&self.origin, &self.users), n, ("features", features), segments)
    }

    /// Returns whether the policy is told who asks.
    pub(crate) fn sees_contexts(&self) -> bool {
        self.origin.told.is_some()
    }

    fn named<'py>(
        &self,
        py: Python<'py>,
        items: Option<Vec<u32>>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let Some(items) = items else { return Ok(None) };
        match &self.names {
            Some(names) => Ok(Some(names.shown(py, &items)?.iter().collect())),
            None => Ok(Some(PyTuple::new(py, items)?.iter().collect())),
        }
    }

    fn no_table(&self) -> PyErr {
        let error = self.origin.spec.check_live().map_or_else(
            |error| error.to_string(),
            |()| {
                format!("`{}` cannot be used live with a table: it chooses no lists", self.origin.spec.name())
            },
        );
        value_error(error.replace("be used live with a table", "show or take a table"))
    }

    #[inline]
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        // Another thread that has it may wait for the interpreter.
        self.state.try_lock().or_else(|_| self.state.lock_py_attached(py).map_err(broken))
    }

    fn duplicate(&self, py: Python<'_>) -> PyResult<Self> {
        let copied = self.lock(py)?.clone();
        let (origin, users) = (Arc::clone(&self.origin), Arc::clone(&self.users));
        let given = self.given.as_ref().map(|given| given.clone_ref(py));
        Ok(Self { origin, names: self.names.clone(), users, given, state: Mutex::new(copied) })
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(text_signature = "(name, model=None, *, items=None, positions=None, rows=None, columns=None, examination=None, order=None, item_features=None, user_features=None, segments=None, horizon=None, prior=None, query=None, seed=None, rng=None, **parameters)",
        signature = (name, model=None, **given))]
    fn new(
        py: Python<'_>,
        name: &str,
        model: Option<&str>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut given = Given::new(py, given)?;
        let seed = given.seed()?;
        let arguments = given.dict.copy()?;
        arguments.set_item("seed", seed)?;
        let (items, names) = Names::read(given.take("items")?.as_ref())?;
        let (order, prior, query) = (given.take("order")?, given.take("prior")?, given.query()?);
        let facts = UserFacts {
            items,
            positions: given.size("positions")?,
            rows: given.size("rows")?,
            columns: given.size("columns")?,
            examination: given.examination()?,
            order: None,
            item_features: given
                .take("item_features")?
                .map(|given| items.map_or_else(|| Ok(vec![]), |n| context::item_features(&given, n)))
                .transpose()?,
            user_features: given.size("user_features")?,
            segments: given.whole("segments", 1..=0xffff_ffff)?,
            horizon: given.count("horizon")?,
        };
        let mut parameters = to_parameters(Some(&given.dict))?;
        let given = UserFacts { order: order_of(name, order.as_ref(), &mut parameters)?, ..facts };
        let spec = spec_of(name, parameters, py.get_type::<Self>().as_any())?;
        let protocol = protocol_of(&spec, model, &given)?;
        let mut policy = build(spec, protocol, &given)?;
        let (mut estimator, mut users) = (None, UserNames::default());
        if let Some(mut prior) = Prior::of_query(prior.as_ref(), query.as_deref())? {
            if policy.coefficients().is_some() {
                prior = prior.of_coefficients(py, names.as_deref())?;
            }
            if let Prior::Contexts(fit) = &prior {
                users = UserNames::of(fit);
            }
            prior.give(&mut policy, query.as_deref())?;
            estimator = matches!(prior, Prior::Estimated).then(Estimator::default);
        }
        let mut policy = Self::of(policy, seeded(seed)?, protocol, names);
        policy.state.get_mut().map_err(broken)?.estimator = estimator;
        Ok(Self { given: Some(arguments.unbind()), ..policy.for_users(users) })
    }

    /// The arguments by name: those that it was built with, the seed that a generator of numpy
    /// drew, and its parameters with the defaults. A policy that was loaded or begins with a fit
    /// has its name, model and parameters.
    ///
    /// Examples:
    ///     >>> policy = Policy("cascade-ts", "cascade", items=3, positions=2, seed=1)
    ///     >>> policy
    ///     Policy('cascade-ts', model='cascade', sizes=(3, 2), seed=1)
    ///     >>> Policy(**policy.get_params()).get_params() == policy.get_params()
    ///     True
    #[pyo3(signature = (deep=true))]
    fn get_params<'py>(&self, py: Python<'py>, deep: bool) -> PyResult<Bound<'py, PyDict>> {
        // For scikit-learn, which passes it; no argument has arguments of its own.
        let _ = deep;
        let all = dict!(py; "name": self.name(), "model": self.model());
        all.update(self.parameters(py)?.as_mapping())?;
        if let Some(given) = &self.given {
            all.update(given.bind(py).as_mapping())?;
        }
        Ok(all)
    }

    /// The policy of a query that begins with what a fit knows: its items by name and its
    /// positions, in the order of `fitted.instances()`; the prior of the fit; and the displays and
    /// clicks of the log.
    ///
    /// For a ContextFit, "hybrid-ts" that begins where the log ends: with its items, segments and
    /// features, which it takes as they are in the log and standardises by the log's scale.
    ///
    /// Args:
    ///     fitted: what `fit` returned.
    ///     query: name of the query; may be left out if there is one.
    ///     policy: name in the catalogue, of a policy that learns from counts; by default "pbm-ts",
    ///         "cascade-ts" or "dcm-ts". For a ContextFit "hybrid-ts".
    ///     model: the fitted model, "pbm", "cascade" or "dcm"; by default the one that the
    ///         comparison chose.
    ///     horizon, seed, rng, **parameters: as of `Policy`.
    ///
    /// Raises:
    ///     ValueError: no such query or model, or a policy that cannot begin so.
    ///
    /// Examples:
    ///     >>> log = {"item": ["a", "b", "a", "b"], "position": [1, 2, 1, 2], "click": [1, 0, 0, 0]}
    ///     >>> policy = Policy.from_fit(fit(log, model="pbm"), seed=1)
    ///     >>> policy.items, policy.table()["a"]
    ///     (('a', 'b'), [(2, 1), (0, 0)])
    #[classmethod]
    #[pyo3(text_signature = "($cls, fitted, query=None, *, policy=None, model=None, horizon=None, seed=None, rng=None, **parameters)",
        signature = (fitted, query=None, **given))]
    fn from_fit(
        class: &Bound<'_, PyType>,
        fitted: &Bound<'_, PyAny>,
        query: Option<Bound<'_, PyAny>>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let from = FromFit::new(query, Given::new(class.py(), given)?)?;
        if let Ok(fitted) = fitted.cast::<ContextFit>() {
            return fitted.get().to_policy(class.py(), &from);
        }
        let wrong = |_| type_error(format!("fitted: expected the result of fit, got {}", fitted.get_type()));
        fitted.cast::<Fitted>().map_err(wrong)?.get().to_policy(class.py(), &from)
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
        Ok(to_python(py, &self.origin.spec.parameters())?.cast_into()?)
    }

    /// Numbers of items and positions, or of rows and columns, or of items and of the items in a
    /// pair (2).
    #[getter]
    fn sizes(&self) -> (usize, usize) {
        self.origin.sizes.into()
    }

    /// The items, by name or number, in the order of their numbers: a tuple. Of "rank-one", the
    /// rows.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.names {
            Some(names) => Ok(names.all(py).clone()),
            None => PyTuple::new(py, 0..self.origin.sizes[0]),
        }
    }

    /// The best items in increasing order, if the policy is one that stops and has stopped;
    /// otherwise None.
    #[getter]
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let answer = self.lock(py)?.player.policy.answer();
        let answer = answer.map(|items| items.into_iter().map(ItemId::number).collect());
        self.named(py, answer)
    }

    /// The items to show for good, as far as the policy knows: the best items, from the top
    /// position down, of a policy that identifies them; the best item, a list of one, of a policy
    /// that compares pairs; of one that estimates coefficients of features, those of the largest
    /// mean for this user; None for all others. Draws no number from the policy's generator.
    ///
    /// Args:
    ///     features, segment: of the user, as of `select`.
    ///
    /// Examples:
    ///     >>> Policy("rucb", "dueling", items=["a", "b"], seed=1).recommend()
    ///     ['b']
    #[pyo3(signature = (*, features=None, segment=None))]
    fn recommend<'py>(
        &self,
        py: Python<'py>,
        features: Option<&Bound<'py, PyAny>>,
        segment: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let user = self.contexts(py, None, features, ("segment", segment))?.one();
        let recommended = {
            let mut state = self.lock(py)?;
            let State { player, generator, .. } = &mut *state;
            let scores = player.policy.coefficients().map(|coefficients| coefficients.scores(&user));
            match scores.iter().flatten().find(|scores| scores.name == "mean") {
                Some(mean) => {
                    let means = PyArray1::from_iter(py, mean.numbers.iter().map(|number| -number));
                    let order: Vec<u32> = means.call_method1("argsort", (-1, "stable"))?.extract()?;
                    Some(order.into_iter().take(self.origin.width()).collect())
                }
                None => player.recommend(&mut generator.clone()),
            }
        };
        self.named(py, recommended)
    }

    /// Displays and clicks that count, as of `Live.table`: a dict from items to lists of (shows,
    /// clicks), one, or one for each position if the policy counts them apart. Displays that a user
    /// did not observe do not count where the model tells.
    ///
    /// Raises:
    ///     ValueError: the policy learns from no table: see `live` in `policies()`.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tallies = self.lock(py)?.player.tallies().ok_or_else(|| self.no_table())?;
        let row = |row: Vec<Tally>| row.iter().map(|tally| (tally.shows, tally.clicks)).collect::<Vec<_>>();
        self.items(py)?.iter().zip(tallies.into_iter().map(row)).into_py_dict(py)
    }

    /// The score of every item: the index in the next round of a policy that ranks by indices,
    /// infinite for an item without displays; the posterior mean of attraction of a policy that
    /// draws from posteriors; otherwise clicks per display, NaN without displays. A dict from items
    /// to floats.
    ///
    /// A policy that estimates coefficients of features has a dict of arrays of shape (items,) in
    /// the order of `items`: of "hybrid-ts" `mean` of the log-odds of attraction, and its variances
    /// `shared_variance` and `own_variance`, by the shared coefficients and by those of the item
    /// and its segment; of the linear policies `mean` of attraction, `width`, its standard
    /// deviation, and `index`, what items are ranked by (of "cascade-lin-ts" the mean).
    ///
    /// Args:
    ///     features, segment: of the user, as of `select`.
    ///
    /// Raises:
    ///     ValueError: the policy has no scores: see `live` in `policies()`. A wrong shape.
    ///
    /// Examples:
    ///     >>> policy = Policy("c3-ucb", "cascade", items=3, positions=1, user_features=1)
    ///     >>> policy.scores(features=[2.0])["index"].tolist()
    ///     [1.0, 1.0, 1.0]
    #[pyo3(signature = (*, features=None, segment=None))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        features: Option<&Bound<'py, PyAny>>,
        segment: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let user = self.contexts(py, None, features, ("segment", segment))?;
        let mut state = self.lock(py)?;
        if let Some(coefficients) = state.player.policy.coefficients() {
            return arrays_of(py, coefficients.scores(&user.one()));
        }
        let scores = state.player.policy.scores().ok_or_else(|| self.no_table())?;
        drop(state);
        self.items(py)?.iter().zip(scores).into_py_dict(py)
    }

    /// The posterior of the coefficients of features: a dict of float64 arrays.
    ///
    /// Of "hybrid-ts", whose log-odds of attraction are `beta' phi + delta_i' (1, x) + e_gi` with
    /// all D products `phi` of `(1, x)` and `(1, z_i)`, row by row: `mean` (D,) and `covariance`
    /// (D, D) of `beta`; `item_means` and `item_precisions` of `delta`, (items, 1 + user_features);
    /// `cell_means` and `cell_precisions` of `e`, (segments, items), or (0, items) with one
    /// segment; and `deviations` (3,), the prior standard deviations of an item's intercept, of its
    /// slopes, and of a cell. Of "cascade-lin-ucb", "cascade-lin-ts" and "c3-ucb" `mean` and
    /// `covariance` of the coefficients of `phi` in attraction.
    ///
    /// Raises:
    ///     ValueError: the policy estimates no coefficients.
    ///
    /// Examples:
    ///     >>> policy = Policy("hybrid-ts", "cascade", items=4, positions=2, user_features=2)
    ///     >>> policy.posterior()["mean"], policy.posterior()["item_means"].shape
    ///     (array([0., 0., 0.]), (4, 3))
    fn posterior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.lock(py)?;
        let coefficients = state.player.policy.coefficients().ok_or_else(|| {
            value_error(format!("`{}` estimates no coefficients of features", self.origin.spec.name()))
        })?;
        arrays_of(py, coefficients.posterior())
    }

    /// A table with the evidence on every item: item, displays and clicks (over all positions),
    /// mean (clicks per display), lower and upper (95 %, as of `Live.intervals`), and score, as of
    /// `scores`. Names are texts unless all are integers.
    ///
    /// Raises:
    ///     ValueError: the policy learns from no table: see `live` in `policies()`.
    ///
    /// Examples:
    ///     >>> policy = Policy("cascade-ts", "cascade", items=["a", "b", "c"], positions=2, seed=1)
    ///     >>> policy.learn([["c", "a"]], [[True, False]])
    ///     >>> policy.items_frame()["clicks"].tolist()
    ///     [0, 0, 1]
    fn items_frame(&self, py: Python<'_>) -> PyResult<Table> {
        let (tallies, scores) = {
            let mut state = self.lock(py)?;
            state.player.tallies().zip(state.player.policy.scores()).ok_or_else(|| self.no_table())?
        };
        let sum = |row: &Vec<Tally>| {
            let total = |count: fn(&Tally) -> u64| row.iter().map(count).sum();
            Tally { shows: total(|tally| tally.shows), clicks: total(|tally| tally.clicks) }
        };
        let (sums, intervals) = py.detach(|| {
            let sums: Vec<Tally> = tallies.iter().map(sum).collect();
            let intervals: Vec<[f64; 2]> = sums.iter().map(|&tally| ::live::interval(tally)).collect();
            (sums, intervals)
        });
        let mean = |tally: &Tally| (tally.shows > 0).then(|| tally.clicks as f64 / tally.shows as f64);
        let items = self.items(py)?;
        let numbers: PyResult<Vec<i64>> = items.iter().map(|item| item.extract()).collect();
        let items = if let Ok(numbers) = numbers {
            Column::integers(numbers)
        } else {
            let text = |item: Bound<'_, PyAny>| Ok(Some(item.str()?.to_string_lossy().into_owned()));
            Column::texts(items.iter().map(text).collect::<PyResult<Vec<_>>>()?)
        };
        Table::new([
            ("item", items),
            ("displays", Column::counts(sums.iter().map(|tally| tally.shows))),
            ("clicks", Column::counts(sums.iter().map(|tally| tally.clicks))),
            ("mean", Column::floats(sums.iter().map(mean))),
            ("lower", Column::floats(intervals.iter().map(|ends| ends[0]))),
            ("upper", Column::floats(intervals.iter().map(|ends| ends[1]))),
            (
                "score",
                Column::floats(scores.into_iter().map(|score| Some(score).filter(|score| !score.is_nan()))),
            ),
        ])
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
    ///     features: the user's, shape (user_features,), for a policy that was told of them. The
    ///         decision carries them, and `update` learns with them. After a ContextFit also a dict
    ///         by name; features outside the range of the log are clipped to it, with a warning.
    ///     segment: the user's segment, from 0, or after a ContextFit by name. One that was not
    ///         announced has no effect of its own; "segmented" has one more policy for all of
    ///         these.
    ///     propensities: whether to tell the propensities (policies that choose lists).
    ///     draws: number of lists that are drawn, from 1 to 10,000. The variance of a weight is
    ///         3.6, 1.2 and 1.1 times that of the policy's own probabilities with 20, 100 and 400
    ///         draws.
    ///     epsilon: probability of a uniformly random list, from 0 to 1. With 0, lists that the
    ///         policy never draws have no weight in any log.
    ///
    /// Raises:
    ///     TypeError: a context that is missing, or one for a policy that sees none.
    ///
    /// Examples:
    ///     >>> policy = Policy("cascade-ts", "cascade", items=4, positions=2, seed=1)
    ///     >>> decision = policy.select(propensities=True, draws=50, epsilon=0.12)
    ///     >>> len(decision.propensities), decision.prefix_propensities[-1] == decision.list_propensity
    ///     (2, True)
    ///     >>> decision.list_propensity >= 0.12 / (4 * 3)
    ///     True
    #[pyo3(text_signature = "($self, *, features=None, segment=None, propensities=False, draws=None, epsilon=0.05)",
        signature = (*, features=None, segment=None, propensities=false, draws=None, epsilon=None))]
    fn select(
        &self,
        py: Python<'_>,
        features: Option<&Bound<'_, PyAny>>,
        segment: Option<&Bound<'_, PyAny>>,
        propensities: bool,
        draws: Option<&Bound<'_, PyAny>>,
        epsilon: Option<f64>,
    ) -> PyResult<Decision> {
        let drawing = drawing(draws, epsilon, propensities)?;
        let user = self.contexts(py, None, features, ("segment", segment))?.one();
        let mut action = vec![0; self.origin.width()];
        let mut state = self.lock(py)?;
        let State { player, generator, .. } = &mut *state;
        let (note, propensities) = if let Some(drawing) = drawing {
            player.draw(&user, drawing, generator, &mut action).ok_or_else(|| {
                value_error(format!("propensities: `{}` chooses no lists", self.origin.spec.name()))
            })?
        } else {
            (player.select(&user, generator, &mut action), vec![])
        };
        drop(state);
        action.truncate(filled(&action).len());
        let shown = self.names.as_ref().map(|names| names.shown(py, &action)).transpose()?;
        let (origin, shown) = (Arc::clone(&self.origin), shown.map(Bound::unbind));
        Ok(Decision { origin, action: action.into(), note, propensities: propensities.into(), shown })
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
    ///     ValueError: a decision of another policy, or a click below what was observed.
    #[pyo3(signature = (decision, clicks, observed=None))]
    fn update(
        &self,
        py: Python<'_>,
        decision: &Bound<'_, PyAny>,
        clicks: &Bound<'_, PyAny>,
        observed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let Ok(decision) = decision.cast::<Decision>() else {
            let found = decision.get_type();
            let others = "`learn` takes lists that were shown without asking, `update_batch` a batch";
            return Err(type_error(format!(
                "decision: expected what `select` returned, got {found}: {others}"
            )));
        };
        let decision = decision.get();
        if !Arc::ptr_eq(&self.origin, &decision.origin) {
            self.origin.check(&decision.origin)?;
            decision.check_names(py, self.names.as_deref())?;
        }
        let clicks = self.numbered(clicks, true)?;
        let seen = clicks::one(self.origin.protocol, &decision.action, &clicks, observed)?;
        self.lock(py)?.update(self.origin.protocol, &decision.action, &decision.note, seen);
        Ok(())
    }

    /// Decides `n` rounds, without an answer in between.
    ///
    /// The interpreter's lock is released meanwhile.
    ///
    /// Args:
    ///     n: number of decisions.
    ///     features: those of every user, shape (n, user_features), or a dict of arrays of shape
    ///         (n,), as of `select`.
    ///     segments: that of every user, an array of integers or of names, shape (n,).
    ///
    /// Raises:
    ///     MemoryError: there is no memory for n decisions.
    ///
    /// Examples:
    ///     >>> policy = Policy("hybrid-ts", "cascade", items=5, positions=2, user_features=1)
    ///     >>> batch = policy.select_batch(3, features=[[0.5], [-0.5], [1.5]])
    ///     >>> policy.update_batch(batch, [[True, False], [False, False], [False, True]])
    #[pyo3(signature = (n, *, features=None, segments=None))]
    fn select_batch(
        &self,
        py: Python<'_>,
        n: &Bound<'_, PyAny>,
        features: Option<&Bound<'_, PyAny>>,
        segments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let n = length("n", n)?;
        let users = self.contexts(py, Some(n), features, ("segments", segments))?;
        let width = self.origin.width();
        let (mut actions, mut notes) = (room::<u32>(n.saturating_mul(width))?, room::<Note>(n)?);
        actions.resize(n * width, 0);
        py.detach(|| {
            let mut state = self.state.lock().map_err(broken)?;
            let State { player, generator, .. } = &mut *state;
            let mut user = Context::default();
            notes.extend(actions.chunks_exact_mut(width).enumerate().map(|(row, action)| {
                users.write(row, &mut user);
                player.select(&user, generator, action)
            }));
            Ok::<(), PyErr>(())
        })?;
        Ok(Batch::new(Arc::clone(&self.origin), actions, notes, self.names.clone()))
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
    ///     ValueError: a batch of another policy, or a click below what was observed.
    #[pyo3(signature = (batch, clicks, observed=None))]
    fn update_batch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, Batch>,
        clicks: &Bound<'_, PyAny>,
        observed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let batch = batch.get();
        if !Arc::ptr_eq(&self.origin, &batch.origin) {
            self.origin.check(&batch.origin)?;
            let of = [&self.names, &batch.names].map(|names| names.as_ref().map(|names| names.all(py)));
            if !names::are_same(of[0], of[1])? {
                return Err(value_error("a batch of a policy with other items"));
            }
        }
        let width = self.origin.width();
        let clicks = self.numbered(clicks, false)?;
        let seen = clicks::many(self.origin.protocol, &batch.actions, width, &clicks, observed)?;
        let (actions, notes) = (&batch.actions, &batch.notes);
        py.detach(|| {
            let mut state = self.state.lock().map_err(broken)?;
            for ((action, note), clicks) in actions.chunks_exact(width).zip(notes).zip(seen) {
                state.update(self.origin.protocol, action, note, clicks);
            }
            Ok(())
        })
    }

    /// Learns from lists that were shown without asking, such as those of a log, by the policy's
    /// own rule. A policy that estimates coefficients depends, by little, on the order of the
    /// lists.
    ///
    /// Args:
    ///     items: the items of a list, from the top position down, shape (positions,), or lists,
    ///         shape (n, positions): by name, if the policy has names. Arrays, sequences and
    ///         frames, with a column for each position.
    ///     clicks: which positions were clicked, as of `update` and `update_batch`.
    ///     observed: how many positions the users saw, as of these.
    ///     features: those of the users, shape (user_features,) or (n, user_features).
    ///     segments: the segment of the user, or of each, shape (n,).
    ///
    /// Raises:
    ///     ValueError: the policy learns from its own decisions alone (see `live` in `policies()`);
    ///         what is no list of these items and positions; clicks that the model excludes, such
    ///         as two on a list of "cascade"; a wrong shape.
    ///
    /// Examples:
    ///     >>> policy = Policy("rsf-ts", "dcm", items=["a", "b", "c"], positions=2, seed=1)
    ///     >>> policy.learn([["a", "b"], ["c", "a"]], [[0, 1], [0, 0]])
    ///     >>> policy.table()
    ///     {'a': [(2, 0)], 'b': [(1, 1)], 'c': [(1, 0)]}
    #[pyo3(signature = (items, clicks, observed=None, *, features=None, segments=None))]
    fn learn(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        clicks: &Bound<'_, PyAny>,
        observed: Option<&Bound<'_, PyAny>>,
        features: Option<&Bound<'_, PyAny>>,
        segments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        {
            let mut state = self.lock(py)?;
            if state.player.tallies().is_none() && state.player.policy.coefficients().is_none() {
                return Err(self.no_table());
            }
        }
        let Origin { protocol, sizes, .. } = *self.origin;
        let width = self.origin.width();
        let (actions, is_single) = match &self.names {
            Some(names) => names.lists("items", items, width)?,
            None => clicks::actions("items", items, width)?,
        };
        for (row, action) in actions.chunks_exact(width).enumerate() {
            if let Some(fault) = fault(protocol, sizes, width, action) {
                return Err(value_error(format!("items[{row}]: {fault}")));
            }
        }
        let n = if is_single { None } else { Some(actions.len() / width) };
        let users = self.contexts(py, n, features, ("segments", segments))?;
        let seen = if is_single {
            vec![clicks::one(protocol, &actions, clicks, observed)?]
        } else {
            clicks::many(protocol, &actions, width, clicks, observed)?
        };
        py.detach(|| {
            let mut state = self.state.lock().map_err(broken)?;
            let mut note = Note::default();
            for (row, (action, clicks)) in actions.chunks_exact(width).zip(seen).enumerate() {
                if self.origin.told.is_some() {
                    let mut user = Context::default();
                    users.write(row, &mut user);
                    note = Note::Context(user);
                }
                state.player.policy.pass_round();
                state.update(protocol, action, &note, clicks);
            }
            Ok(())
        })
    }

    /// The policy's whole state, with that of its generator of random numbers, as JSON text in
    /// UTF-8.
    ///
    /// Raises:
    ///     ValueError: an item has a name that is no str, int, float or bool; `pickle` keeps it.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let items = self.names.as_ref().map(|names| names::to_json(names.all(py))).transpose()?;
        self.saved(py, items)
    }

    /// The policy that `save` wrote. It makes the same choices as the original.
    ///
    /// Args:
    ///     data: bytes.
    ///     items: names of the items, in place of those in the data.
    ///
    /// Examples:
    ///     >>> policy = Policy("cascade-ts", "cascade", items=["a", "b", "c"], positions=2, seed=1)
    ///     >>> same = Policy.load(policy.save())
    ///     >>> same.select().action == policy.select().action
    ///     True
    #[classmethod]
    #[pyo3(signature = (data, items=None))]
    fn load(
        class: &Bound<'_, PyType>,
        data: SavedBytes<'_>,
        items: Option<&Bound<'_, PyTuple>>,
    ) -> PyResult<Self> {
        let invalid = |fault: &dyn std::fmt::Display| value_error(format!("no saved policy: {fault}"));
        let saved = read_json("no saved policy", data.0, "a saved `Policy`");
        let saved: SavedPolicy = saved.map_err(value_error)?;
        if saved.format != FORMAT {
            return Err(invalid(&format!("format {}: expected {FORMAT}", saved.format)));
        }
        let protocol = protocol_named(&saved.model)
            .ok_or_else(|| invalid(&format!("unknown model `{}`", saved.model)))?;
        if !is_alive(&saved.generator) || !is_alive(&saved.coins) {
            return Err(invalid(&"a generator of random numbers whose state is zero"));
        }
        let player = AnyPolicy::read(protocol, saved.policy).map_err(|error| invalid(&error))?;
        let player = Player::new(player);
        let names =
            Names::restored(class.py(), saved.items.as_deref(), items, player.policy.told().sizes[0])?;
        if let Some(estimator) = &saved.estimator {
            estimator.check().map_err(|error| invalid(&error))?;
        }
        let SavedPolicy { generator, coins, estimator, users, .. } = saved;
        let state = State { player, generator, coins, estimator };
        Ok(Self::with_state(state, protocol, names).for_users(users))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let items = self.names.as_ref().map(|names| names.all(py));
        reduced::<Self>(py, "load", (self.saved(py, None)?, items))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.duplicate(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.duplicate(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Origin { spec, protocol, sizes: [first, second], .. } = &*self.origin;
        let mut text = format!("Policy('{spec}', model='{}', sizes=({first}, {second})", protocol.name());
        for key in ["prior", "seed"] {
            let given = self.given.as_ref().map(|given| given.bind(py).get_item(key)).transpose()?.flatten();
            if let Some(value) = given.filter(|value| !value.is_none()) {
                write!(text, ", {key}={}", value.repr()?.to_string_lossy()).map_err(value_error)?;
            }
        }
        Ok(text + ")")
    }
}

impl Policy {
    fn saved<'py>(&self, py: Python<'py>, items: Option<Vec<Value>>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = {
            let state = self.lock(py)?;
            SavedPolicy {
                format: FORMAT,
                model: self.origin.protocol.name().to_owned(),
                generator: state.generator.clone(),
                coins: state.coins.clone(),
                policy: serde_json::to_value(&state.player.policy).map_err(value_error)?,
                items,
                estimator: state.estimator.clone(),
                users: UserNames::clone(&self.users),
            }
        };
        Ok(PyBytes::new(py, &serde_json::to_vec(&saved).map_err(value_error)?))
    }

    /// The answers with the numbers of winners, if these are called by names.
    fn numbered<'py>(&self, given: &Bound<'py, PyAny>, is_one: bool) -> PyResult<Bound<'py, PyAny>> {
        let names = self.names.as_ref().filter(|_| self.origin.protocol == Protocol::Dueling);
        let Some(names) = names else { return Ok(given.clone()) };
        if is_one {
            return Ok(names.number("the winner", given)?.into_pyobject(given.py())?.into_any());
        }
        let number = |(row, winner): (usize, PyResult<Bound<'py, PyAny>>)| {
            names.number(&format!("the winner of row {row}"), &winner?)
        };
        let numbers = given.try_iter()?.enumerate().map(number).collect::<PyResult<Vec<u32>>>()?;
        Ok(PyList::new(given.py(), numbers)?.into_any())
    }
}
