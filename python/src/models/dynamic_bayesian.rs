//! The dynamic Bayesian network.

use crate::message::one_of;
use crate::models::class::users_of_lists;
use crate::sequence::numbers;
use crate::task::size;
use click_models::DbnReward;

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
    ///     seed: seed of the users' random numbers; by default another one every time.
    ///
    /// Examples:
    ///     >>> models.DynamicBayesian([0.4, 0.3], [0.5, 0.2], 0.9, 2).best_list()
    ///     [1, 0]
    DynamicBayesian(click_models::DynamicBayesian), responds with clicks,
        knows "clicks-only";

    #[new]
    #[pyo3(signature = (attraction, satisfaction, continuation, positions, *, reward="clicks", seed=None))]
    fn new(
        attraction: &Bound<'_, PyAny>,
        satisfaction: &Bound<'_, PyAny>,
        continuation: f64,
        positions: &Bound<'_, PyAny>,
        reward: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rewards = [("clicks", DbnReward::Clicks), ("satisfaction", DbnReward::Satisfaction)];
        let reward = one_of("reward", reward, &rewards)?;
        let attraction: Vec<f64> = numbers("attraction", attraction)?;
        let satisfaction: Vec<f64> = numbers("satisfaction", satisfaction)?;
        let positions = size("positions", Some(positions))?.unwrap_or(0);
        let users = click_models::DynamicBayesian::from_values(
            &attraction,
            &satisfaction,
            continuation,
            positions,
            reward,
        );
        Crowd::new(users, seed).map(Self)
    }
}
