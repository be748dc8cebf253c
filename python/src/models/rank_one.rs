//! The rank-one model.

use crate::arrays::one_or_array;
use crate::bounds::rank_one::as_dict;
use crate::models::class::users;
use crate::sequence::numbers;
use click_models::RankOneModel;

users! {
    /// Users of the rank-one model: a click occurs if the row and the column both succeed,
    /// independently.
    ///
    /// Args:
    ///     rows: probability that a row succeeds, shape (rows,).
    ///     columns: probability that a column succeeds, shape (columns,).
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> users = models.RankOne([0.5, 0.2], [0.8, 0.3], seed=1)
    ///     >>> users.best_cell(), users.expected_reward((0, 1)), round(users.regret((0, 1)), 4)
    ///     ((0, 0), 0.15, 0.25)
    ///     >>> users.hardness()["mu"], users.respond((0, 0), n=4).shape
    ///     (0.35, (4,))
    RankOne(RankOneModel), sizes |users| [users.rows().len(), users.columns().len()],
        knows "rank-one" with "rows": |users| users.rows().len() with "columns": |users| users.columns().len();

    #[new]
    #[pyo3(signature = (rows, columns, *, seed=None))]
    fn new(
        rows: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rows: Vec<f64> = numbers("rows", rows)?;
        let columns: Vec<f64> = numbers("columns", columns)?;
        Crowd::new(RankOneModel::from_values(&rows, &columns), seed).map(Self)
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
        one_or_array(py, asked.single && n.is_none(), self.0.respond(py, &asked, n, |click, _| click.clicked)?)
    }

    /// How hard the instance is: see `bounds.rank_one_hardness`.
    fn hardness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
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
