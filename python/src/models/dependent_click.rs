//! The dependent click model.

use crate::message::one_of;
use crate::models::class::users_of_lists;
use crate::sequence::numbers;
use click_models::DcmReward;

users_of_lists! {
    /// Users of the dependent click model: they scan the list from the top, click on items that
    /// attract, and leave after some clicks.
    ///
    /// Args:
    ///     attraction: probability that an item attracts, shape (items,).
    ///     leave: probability of leaving after a click at a position, shape (positions,).
    ///     reward: "satisfaction", 1 if the user left after a click, or "clicks".
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> users = models.DependentClick([0.4, 0.3, 0.1], [0.5, 0.2])
    ///     >>> round(users.best_reward, 4), round(users.lower_bound(), 4)
    ///     (0.248, 0.3439)
    DependentClick(click_models::DependentClick), responds with clicks,
        knows "dcm"
        with "order": |users| users.known().places().to_vec();

    #[new]
    #[pyo3(signature = (attraction, leave, *, reward="satisfaction", seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        leave: &Bound<'_, PyAny>,
        reward: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rewards = [("clicks", DcmReward::Clicks), ("satisfaction", DcmReward::Satisfaction)];
        let reward = one_of("reward", reward, &rewards)?;
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let leave: Vec<f64> = numbers("leave", leave)?;
        Crowd::new(click_models::DependentClick::from_values(&attraction, &leave, reward), seed).map(Self)
    }

    /// Lower bound on the regret of uniformly efficient policies, per ln T, in the unit of the
    /// reward: Katariya et al. 2016, Theorem 3, generalised.
    fn lower_bound(&self) -> f64 {
        self.0.model.lower_bound()
    }
}
