//! The click chain model.

use crate::message::value_error;
use crate::models::class::users_of_lists;
use crate::sequence::numbers;
use crate::task::size;

users_of_lists! {
    /// Users of the click chain model: they continue depending on whether they clicked, and on
    /// what.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     continuation: probabilities of examining the next position: without a click, after a
    ///         click on an irrelevant item, and after one on a relevant item, shape (3,).
    ///     positions: number of positions.
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> models.ClickChain([0.4, 0.3], [0.9, 0.3, 0.6], 2).best_list()
    ///     [0, 1]
    ClickChain(click_models::ClickChain), responds with clicks,
        knows "clicks-only";

    #[new]
    #[pyo3(signature = (attraction, continuation, positions, *, seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        continuation: &Bound<'_, PyAny>,
        positions: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let continuation: Vec<f64> = numbers("continuation", continuation)?;
        let found = continuation.len();
        let continuation = continuation
            .try_into()
            .map_err(|_| value_error(format!("continuation: expected shape (3,), got ({found},)")))?;
        let positions = size("positions", Some(positions))?.unwrap_or(0);
        Crowd::new(click_models::ClickChain::from_values(&attraction, continuation, positions), seed).map(Self)
    }
}
