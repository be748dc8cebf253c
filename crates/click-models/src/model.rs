//! What every click model can do.

use crate::Interaction;
use rand::Rng;

/// What is played against model `M`.
pub type Action<M> = <<M as ClickModel>::Interaction as Interaction>::Action;

/// What model `M` answers.
pub type Feedback<M> = <<M as ClickModel>::Interaction as Interaction>::Feedback;

/// A population of users who react to what is shown: the environment of a bandit.
pub trait ClickModel: Sync {
    /// The one protocol that the model speaks.
    type Interaction: Interaction;

    /// What a learner may know beforehand: sizes, and the parameters that the papers give away. Never attraction.
    type Known<'a>
    where
        Self: 'a;

    /// What a learner may know beforehand.
    fn known(&self) -> Self::Known<'_>;

    /// Whether `action` is one of the model's actions: for a list, as many distinct items of the catalogue as there are
    /// positions. What is not one has no place in a comparison, however many clicks it would bring.
    fn admits(&self, action: &Action<Self>) -> bool;

    /// A user's answer to `action`.
    ///
    /// Takes the same number of draws from `rng` whatever the action is, so that two policies fed from equal generators
    /// meet the same users and their regrets can be compared pair by pair.
    ///
    /// # Panics
    ///
    /// May panic when `action` is not one of the model's actions.
    fn respond<R: Rng + ?Sized>(&self, action: &Action<Self>, rng: &mut R) -> Feedback<Self>;

    /// The number of clicks of one answer.
    fn clicks(&self, feedback: &Feedback<Self>) -> f64;

    /// The mean reward of `action` per round: what the best action has most of, and regret is measured in. Clicks, unless the
    /// model says otherwise.
    ///
    /// # Panics
    ///
    /// May panic when `action` is not one of the model's actions.
    fn expected_reward(&self, action: &Action<Self>) -> f64;

    /// The mean number of clicks on `action` per round; the mean reward, unless the model says otherwise.
    ///
    /// # Panics
    ///
    /// As [`ClickModel::expected_reward`].
    #[inline]
    fn expected_clicks(&self, action: &Action<Self>) -> f64 {
        self.expected_reward(action)
    }

    /// The largest mean reward of any action per round.
    fn optimal_reward(&self) -> f64;

    /// How far the mean reward of `action` is below the largest: the regret of playing it once.
    ///
    /// A difference that is rounding and nothing else (below `1e-13` of the largest reward, either way) is 0: where several
    /// actions are best, their rewards are sums of the same numbers in different orders.
    ///
    /// # Panics
    ///
    /// As [`ClickModel::expected_reward`].
    #[inline]
    fn gap(&self, action: &Action<Self>) -> f64 {
        let best = self.optimal_reward();
        let gap = best - self.expected_reward(action);
        if gap.abs() < 1e-13 * best { 0.0 } else { gap }
    }

    /// An action of the largest mean reward.
    fn optimal_action(&self) -> Action<Self>;
}
