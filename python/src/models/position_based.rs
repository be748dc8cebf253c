//! The position-based model.

use crate::models::class::users_of_lists;
use crate::sequence::numbers;

users_of_lists! {
    /// Users of the position-based model: a position is examined, and its item attracts,
    /// independently of all else; both make a click.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     examination: probability that a position is examined, shape (positions,).
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> round(models.PositionBased([0.4, 0.3, 0.1], [1.0, 0.5]).lower_bound(), 4)
    ///     1.9711
    PositionBased(click_models::PositionBased), responds with clicks,
        knows "pbm"
        with "examination": |users| users.examination().iter().map(|p| p.get()).collect::<Vec<f64>>();

    #[new]
    #[pyo3(signature = (attraction, examination, *, seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        examination: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let examination: Vec<f64> = numbers("examination", examination)?;
        Crowd::new(click_models::PositionBased::from_values(&attraction, &examination), seed).map(Self)
    }

    /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: PBM paper,
    /// Theorem 6.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }
}
