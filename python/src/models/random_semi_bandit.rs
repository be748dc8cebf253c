//! The random semi-bandit.

use crate::models::class::users_of_lists;
use crate::sequence::numbers;

users_of_lists! {
    /// Users of the random semi-bandit: they examine a prefix of the list, whose length is
    /// observed, and rate every item in it.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     examination: probability that a position is examined, not increasing, shape
    ///         (positions,).
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> users = models.RandomSemiBandit([0.4, 0.3, 0.1], [1.0, 0.5])
    ///     >>> round(users.best_reward, 4), round(users.lower_bound(), 4)
    ///     (0.55, 1.7194)
    RandomSemiBandit(click_models::RandomSemiBandit), responds with prefix,
        knows "semi-bandit";

    #[new]
    #[pyo3(signature = (attraction, examination, *, seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        examination: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let examination: Vec<f64> = numbers("examination", examination)?;
        Crowd::new(click_models::RandomSemiBandit::from_values(&attraction, &examination), seed).map(Self)
    }

    /// Lower bound on the regret of uniformly efficient policies, clicks per ln T: RSF paper,
    /// Theorem 4.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }
}
