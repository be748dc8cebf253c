//! The classes of all models.

use super::class::{users, users_of_lists};
use super::crowd::{Crowd, signed};
use super::{PolicyFacts, arguments};
use crate::arrays::one_or_array;
use crate::bounds::matrix;
use crate::bounds::rank_one::as_dict;
use crate::message::{argument, one_of, value_error};
use crate::reduced::reduced;
use crate::sequence::{numbers, rows};
use crate::task::length;
use click_models::{
    CascadeModel, ClickModel, DbnReward, DcmReward, DuelingModel, ItemId, Pair, RankOneModel,
};
use policies::catalogue::{CatalogueProtocol, Knowledge};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

fn floats(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    numbers(name, given)
}

fn three(name: &str, given: &Bound<'_, PyAny>) -> PyResult<[f64; 3]> {
    let wrong = |found: Vec<f64>| value_error(format!("{name}: expected shape (3,), got ({},)", found.len()));
    floats(name, given)?.try_into().map_err(wrong)
}

users_of_lists! {
    /// Users of the cascade model: they scan the list from the top, click on the first item that
    /// attracts, and leave.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     positions: number of positions.
    ///     weights: reward of a click at each position, at least 0, not increasing from the top
    ///         down, shape (positions,); by default 1.
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> users = models.Cascade([0.5, 0.4, 0.1], 2)
    ///     >>> users.are_best([1, 0]), round(users.lower_bound(), 4)
    ///     (True, 0.6629)
    Cascade(CascadeModel);

    new(attraction: floats, positions: length; weights: Option<&Bound<'_, PyAny>> = None) = {
        let users = CascadeModel::from_values(&attraction, positions);
        match weights.map(|weights| floats("weights", weights)).transpose()? {
            Some(weights) => users.and_then(|users| users.with_weights(&weights)),
            None => users,
        }
    };

    /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: Kveton et al.
    /// 2015, Theorem 4, generalised.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }

    /// Returns whether these are as many items as positions, each at most epsilon less attractive
    /// than the last of the best.
    ///
    /// Args:
    ///     items: items, shape (positions,), in any order; such as `Policy.answer`.
    ///     epsilon: tolerance.
    #[pyo3(signature = (items, epsilon=0.0))]
    fn are_best(&self, items: &Bound<'_, PyAny>, epsilon: f64) -> PyResult<bool> {
        let items: Vec<u32> = numbers("items", items)?;
        let items: Vec<ItemId> = items.into_iter().map(ItemId::new).collect();
        Ok(self.0.model.are_best(&items, epsilon))
    }
}

users_of_lists! {
    /// Users of the click chain model: they continue depending on whether they clicked, and on
    /// what.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     continuation: probabilities of examining the next position: without a click, after a
    ///         click on an irrelevant item, and after one on a relevant item, shape (3,).
    ///     positions: number of positions.
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> models.ClickChain([0.4, 0.3], [0.9, 0.3, 0.6], 2).best_list()
    ///     [0, 1]
    ClickChain(click_models::ClickChain);

    new(attraction: floats, continuation: three, positions: length) =
        click_models::ClickChain::from_values(&attraction, continuation, positions);
}

users_of_lists! {
    /// Users of the dependent click model: they scan the list from the top, click on items that
    /// attract, and leave after some clicks.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     leave: probability of leaving after a click at a position, shape (positions,).
    ///     reward: "satisfaction", 1 if the user left after a click, or "clicks".
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> users = models.DependentClick([0.4, 0.3, 0.1], [0.5, 0.2])
    ///     >>> round(users.best_reward, 4), round(users.lower_bound(), 4)
    ///     (0.248, 0.3439)
    DependentClick(click_models::DependentClick);

    new(attraction: floats, leave: floats; reward: &str = "satisfaction") = {
        let rewards = [("clicks", DcmReward::Clicks), ("satisfaction", DcmReward::Satisfaction)];
        let reward = one_of("reward", reward, &rewards)?;
        click_models::DependentClick::from_values(&attraction, &leave, reward)
    };

    /// Lower bound on the regret of uniformly efficient policies, per ln T, in the unit of the
    /// reward: Katariya et al. 2016, Theorem 3, generalised.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }
}

users_of_lists! {
    /// Users of the dynamic Bayesian network: they leave satisfied after a click, or without
    /// patience.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     satisfaction: probability that a clicked item satisfies, shape (items,).
    ///     continuation: probability that an unsatisfied user examines the next position.
    ///     positions: number of positions.
    ///     reward: "clicks", or "satisfaction", 1 if the user left satisfied.
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> models.DynamicBayesian([0.4, 0.3], [0.5, 0.2], 0.9, 2).best_list()
    ///     [1, 0]
    DynamicBayesian(click_models::DynamicBayesian);

    new(attraction: floats, satisfaction: floats, continuation: argument, positions: length; reward: &str = "clicks") = {
        let rewards = [("clicks", DbnReward::Clicks), ("satisfaction", DbnReward::Satisfaction)];
        let reward = one_of("reward", reward, &rewards)?;
        click_models::DynamicBayesian::from_values(&attraction, &satisfaction, continuation, positions, reward)
    };
}

users_of_lists! {
    /// Users of the position-based model: a position is examined, and its item attracts,
    /// independently of all else; both make a click.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     examination: probability that a position is examined, shape (positions,).
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> round(models.PositionBased([0.4, 0.3, 0.1], [1.0, 0.5]).lower_bound(), 4)
    ///     1.9711
    PositionBased(click_models::PositionBased);

    new(attraction: floats, examination: floats) =
        click_models::PositionBased::from_values(&attraction, &examination);

    /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: PBM paper,
    /// Theorem 6.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }
}

users_of_lists! {
    /// Users of the random semi-bandit: they examine a prefix of the list, whose length is
    /// observed, and rate every item in it.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     examination: probability that a position is examined, not increasing, shape
    ///         (positions,).
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> users = models.RandomSemiBandit([0.4, 0.3, 0.1], [1.0, 0.5])
    ///     >>> round(users.best_reward, 4), round(users.lower_bound(), 4)
    ///     (0.55, 1.7194)
    RandomSemiBandit(click_models::RandomSemiBandit);

    new(attraction: floats, examination: floats) =
        click_models::RandomSemiBandit::from_values(&attraction, &examination);

    /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: RSF paper,
    /// Theorem 4.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }
}

users_of_lists! {
    /// Users of the user browsing model: examination depends on the position and on that of the
    /// last click above.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     examination: a row for each position, of 1, 2, .. probabilities: without a click above,
    ///         and with the last click at each position above.
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> models.UserBrowsing([0.4, 0.3], [[1.0], [0.5, 0.8]]).best_list()
    ///     [0, 1]
    UserBrowsing(click_models::UserBrowsing);

    new(attraction: floats, examination: rows) = {
        let rows: Vec<&[f64]> = examination.iter().map(Vec::as_slice).collect();
        click_models::UserBrowsing::from_values(&attraction, &rows)
    };
}

users! {
    /// Users who prefer one of two items.
    ///
    /// Args:
    ///     preferences: probability that the item of the row is preferred to that of the column,
    ///         shape (items, items); entries (i, j) and (j, i) add up to 1.
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> users = models.Dueling([[0.5, 0.9], [0.1, 0.5]], seed=1)
    ///     >>> users.best_item(), users.regret((0, 1)), users.respond((0, 1), n=4).shape
    ///     (0, 0.2, (4,))
    Dueling(DuelingModel);

    new(preferences: matrix) = Ok(DuelingModel::new(preferences));

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
        one_or_array(py, asked.single && n.is_none(), self.0.respond(py, &asked, n, winner)?)
    }

    /// The item that beats all others; without one, an item that beats most others.
    fn best_item(&self) -> usize {
        self.0.model.benchmark().item().index()
    }
}

users! {
    /// Users of the rank-one model: a click occurs if the row and the column both succeed,
    /// independently.
    ///
    /// Args:
    ///     rows: probability that a row succeeds, shape (rows,).
    ///     columns: probability that a column succeeds, shape (columns,).
    ///     seed: seed of the users' random numbers, as of `Policy`; `rng` is another name of it.
    ///
    /// Examples:
    ///     >>> users = models.RankOne([0.5, 0.2], [0.8, 0.3], seed=1)
    ///     >>> users.best_cell(), users.expected_reward((0, 1)), round(users.regret((0, 1)), 4)
    ///     ((0, 0), 0.15, 0.25)
    ///     >>> users.hardness()["mu"], users.respond((0, 0), n=4).shape
    ///     (0.35, (4,))
    RankOne(RankOneModel);

    new(rows: floats, columns: floats) = RankOneModel::from_values(&rows, &columns);

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
        one_or_array(py, asked.single && n.is_none(), self.0.respond(py, &asked, n, |click, _| click.clicked)?)
    }

    /// How hard the instance is: see `bounds.rank_one_hardness`.
    fn hardness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_dict(py, self.0.model.hardness())
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

    /// The mean reward, in clicks per user: a float for one cell, a float64 array of shape (n,) for
    /// cells of shape (n, 2) or a batch.
    fn expected_reward<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.0.read(actions)?.each(py, |cell| self.0.model.expected_reward(cell))
    }
}
