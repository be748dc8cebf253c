//! Users who prefer one of two items.

use super::crowd::signed;
use crate::arrays::one_or_array;
use crate::bounds::matrix;
use crate::models::class::users;
use click_models::{DuelingModel, Pair};

users! {
    /// Users who prefer one of two items.
    ///
    /// Args:
    ///     preferences: probability that the item of the row is preferred to that of the column,
    ///         shape (items, items); entries (i, j) and (j, i) add up to 1.
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> users = models.Dueling([[0.5, 0.9], [0.1, 0.5]], seed=1)
    ///     >>> users.best_item(), users.regret((0, 1)), users.respond((0, 1), n=4).shape
    ///     (0, 0.2, (4,))
    Dueling(DuelingModel), sizes |users| [users.preferences().shape().n_items(), 2],
        knows "dueling" with "items": |users| users.preferences().shape().n_items();

    #[new]
    #[pyo3(signature = (preferences, *, seed=None))]
    fn new(preferences: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Crowd::new(Ok(DuelingModel::new(matrix("preferences", preferences)?)), seed).map(Self)
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
        one_or_array(py, asked.single && n.is_none(), self.0.respond(py, &asked, n, winner)?)
    }

    /// The item that beats all others; without one, an item that beats most others.
    fn best_item(&self) -> usize {
        self.0.model.benchmark().item().index()
    }
}
