//! The cascade model.

use crate::models::class::users_of_lists;
use crate::sequence::numbers;
use crate::task::size;
use click_models::CascadeModel;

users_of_lists! {
    /// Users of the cascade model: they scan the list from the top, click on the first item that
    /// attracts, and leave.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     positions: number of positions.
    ///     weights: reward of a click at each position, at least 0, not increasing from the top
    ///         down, shape (positions,); by default 1.
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> users = models.Cascade([0.5, 0.4, 0.1], 2)
    ///     >>> users.are_best([1, 0]), round(users.lower_bound(), 4)
    ///     (True, 0.6629)
    Cascade(CascadeModel), responds with clicks,
        knows "cascade";

    #[new]
    #[pyo3(signature = (attraction, positions, *, weights=None, seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        positions: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let positions = size("positions", Some(positions))?.unwrap_or(0);
        let users = CascadeModel::from_values(&attraction, positions);
        let users = match weights {
            Some(weights) => {
                let weights: Vec<f64> = numbers("weights", weights)?;
                users.and_then(|users| users.with_weights(&weights))
            }
            None => users,
        };
        Crowd::new(users, seed).map(Self)
    }

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
