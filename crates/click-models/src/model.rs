//! The trait that every click model implements.

use crate::Interaction;
use rand::Rng;

/// The action that a learner plays against model `M`.
pub type Action<M> = <<M as ClickModel>::Interaction as Interaction>::Action;

/// The feedback of model `M`.
pub type Feedback<M> = <<M as ClickModel>::Interaction as Interaction>::Feedback;

/// A population of users who respond to actions: the environment of a bandit.
pub trait ClickModel: Sync {
    /// The protocol of the model.
    type Interaction: Interaction;

    /// The part of the model that a learner may know in advance: sizes, and the parameters that the
    /// papers assume known. Never attraction.
    type Known<'a>
    where
        Self: 'a;

    /// Returns what a learner may know in advance.
    fn known(&self) -> Self::Known<'_>;

    /// Returns whether `action` is one of the model's actions. For a list: whether it has exactly
    /// `n_positions` distinct items of the catalogue. Other actions are invalid in a comparison,
    /// even if they would collect more clicks.
    fn admits(&self, action: &Action<Self>) -> bool;

    /// Draws a user's response to `action`.
    ///
    /// Takes the same number of draws from `rng` for every action. So two policies with equal
    /// generators meet the same users, and their regrets can be compared run by run.
    ///
    /// # Panics
    ///
    /// May panic when `action` is not one of the model's actions.
    fn respond<R: Rng + ?Sized>(&self, action: &Action<Self>, rng: &mut R) -> Feedback<Self>;

    /// The number of clicks in `feedback`.
    #[inline]
    fn clicks(&self, feedback: &Feedback<Self>) -> f64 {
        f64::from(Self::Interaction::n_clicks(feedback))
    }

    /// The value of a click on each item; `None` if all are worth 1. With values, the reward of a
    /// list is the expected value of the clicks on it.
    #[inline]
    fn values(&self) -> Option<&[f64]> {
        None
    }

    /// The value of the clicks in `feedback` on `action`; without values, their number.
    #[inline]
    fn earned(&self, _action: &Action<Self>, feedback: &Feedback<Self>) -> f64 {
        self.clicks(feedback)
    }

    /// The mean reward of `action` per round. The best action maximises it, and regret is measured
    /// in it. The reward is the number of clicks, unless the model defines another.
    ///
    /// # Panics
    ///
    /// May panic when `action` is not one of the model's actions.
    fn expected_reward(&self, action: &Action<Self>) -> f64;

    /// The mean number of clicks on `action` per round; by default, the mean reward.
    ///
    /// # Panics
    ///
    /// As [`ClickModel::expected_reward`].
    #[inline]
    fn expected_clicks(&self, action: &Action<Self>) -> f64 {
        self.expected_reward(action)
    }

    /// An action with the largest mean reward, and this reward per round.
    fn best(&self) -> &(Action<Self>, f64);

    /// The largest mean reward of any action per round.
    #[inline]
    fn optimal_reward(&self) -> f64 {
        self.best().1
    }

    /// The largest mean reward minus the mean reward of `action`: the regret of playing it once.
    ///
    /// A difference that is only rounding (below `1e-13` of the largest reward, in absolute value)
    /// counts as 0: if several actions are best, their rewards are sums of the same numbers in
    /// different orders.
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

    /// An action with the largest mean reward.
    fn optimal_action(&self) -> Action<Self> {
        self.best().0.clone()
    }
}

/// The functions of a model of lists, given the shape and the best list of the users, and the
/// knowledge of policies: by default the sizes alone.
macro_rules! shows_lists {
    (|$users:ident| $shape:expr, $best:expr) => {
        shows_lists!(|$users| $shape, $best, crate::ListShape = $shape);
    };
    (|$users:ident| $shape:expr, $best:expr, $Known:ty = $known:expr) => {
        type Known<'a> = $Known;

        fn known(&self) -> Self::Known<'_> {
            let $users = self;
            $known
        }

        #[inline]
        fn admits(&self, action: &crate::Ranking) -> bool {
            let $users = self;
            action.fits($shape)
        }

        #[inline]
        fn best(&self) -> &(crate::Ranking, f64) {
            let $users = self;
            &$best
        }
    };
}
pub(crate) use shows_lists;

/// The functions of a model of lists that may have values of items.
macro_rules! earns {
    (|$users:ident| $values:expr) => {
        #[inline]
        fn values(&self) -> Option<&[f64]> {
            let $users = self;
            $values.as_deref()
        }

        #[inline]
        fn earned(&self, action: &crate::Ranking, feedback: &crate::Feedback<Self>) -> f64 {
            let Some(values) = self.values() else { return self.clicks(feedback) };
            let clicks = crate::ListFeedback::list_clicks(feedback).bits();
            let value = |(at, item): (usize, crate::ItemId)| {
                if clicks >> at & 1 == 1 { values[item.index()] } else { 0.0 }
            };
            action.iter().enumerate().map(value).sum()
        }
    };
}
pub(crate) use earns;
