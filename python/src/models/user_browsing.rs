//! The user browsing model.

use crate::models::class::users_of_lists;
use crate::sequence::{numbers, rows};

users_of_lists! {
    /// Users of the user browsing model: examination depends on the position and on that of the
    /// last click above.
    ///
    /// Args:
    ///     attraction: probability of a click on an examined item, shape (items,).
    ///     examination: a row for each position, of 1, 2, .. probabilities: without a click above,
    ///         and with the last click at each position above.
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> models.UserBrowsing([0.4, 0.3], [[1.0], [0.5, 0.8]]).best_list()
    ///     [0, 1]
    UserBrowsing(click_models::UserBrowsing), responds with clicks,
        knows "clicks-only";

    #[new]
    #[pyo3(signature = (attraction, examination, *, seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        examination: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let examination = rows("examination", examination)?;
        let rows: Vec<&[f64]> = examination.iter().map(Vec::as_slice).collect();
        Crowd::new(click_models::UserBrowsing::from_values(&attraction, &rows), seed).map(Self)
    }
}
