//! Users who differ: every one has an attraction of his own for each item.

use crate::{
    CascadeModel, ClickModel, Context, ContextKnown, DependentClick, Error, Interaction, PositionBased,
    RandomSemiBandit, Ranking,
};
use confidence::Probability;
use rand::{Rng, RngExt};
use std::sync::Arc;

/// A click model whose users may have another attraction.
pub trait WithAttraction: ClickModel<Interaction: Interaction<Action = Ranking>> + Clone {
    /// Attraction, one per item.
    fn attraction(&self) -> &[Probability];

    /// Number of positions of the lists.
    fn n_positions(&self) -> usize;

    /// The same users but for their attraction, on lists of the first `n_positions` positions.
    ///
    /// # Errors
    ///
    /// As the model's own constructor.
    ///
    /// # Panics
    ///
    /// If the model has fewer positions.
    fn restricted(&self, attraction: Vec<Probability>, n_positions: usize) -> Result<Self, Error>;

    /// The same users but for their attraction.
    ///
    /// # Errors
    ///
    /// As the model's own constructor.
    fn with_attraction(&self, attraction: Vec<Probability>) -> Result<Self, Error> {
        self.restricted(attraction, self.n_positions())
    }
}

/// Implements [`WithAttraction`] by the users with this attraction on a number of positions.
macro_rules! with_attraction {
    ($($Model:ident: |$users:ident, $attraction:ident, $n_positions:ident| $restricted:expr;)+) => {$(
        impl WithAttraction for $Model {
            fn attraction(&self) -> &[Probability] {
                self.attraction()
            }

            fn n_positions(&self) -> usize {
                self.shape().n_positions()
            }

            fn restricted(&self, $attraction: Vec<Probability>, $n_positions: usize) -> Result<Self, Error> {
                let $users = self;
                $restricted
            }
        }
    )+};
}

with_attraction! {
    CascadeModel: |users, attraction, n_positions| {
        let restricted = Self::new(attraction, n_positions)?;
        let Some(weights) = users.weights() else { return Ok(restricted) };
        restricted.with_weights(&weights[..n_positions].iter().map(|weight| weight.get()).collect::<Vec<_>>())
    };
    DependentClick: |users, attraction, n_positions| {
        Self::new(attraction, users.leave()[..n_positions].to_vec(), users.reward())
    };
    PositionBased: |users, attraction, n_positions| {
        Self::new(attraction, users.examination()[..n_positions].to_vec())
    };
    RandomSemiBandit: |users, attraction, n_positions| {
        Self::new(attraction, users.examination()[..n_positions].to_vec())
    };
}

/// A population of users who differ, each a click model with a [`Context`]. Every round one of them
/// arrives, all equally often. Regret is measured against the list that is best for the user.
///
/// # Examples
///
/// ```
/// use click_models::{CascadeModel, Context, Personal};
///
/// let user = |segment, attraction: [f64; 3]| {
///     let users = CascadeModel::from_values(&attraction, 1)?;
///     Ok::<_, click_models::Error>((Context { segment, features: vec![] }, users))
/// };
/// let users = Personal::new(vec![user(0, [0.8, 0.5, 0.1])?, user(1, [0.1, 0.5, 0.8])?])?;
/// // Item 1 attracts half of all users, and any other .45 of them. Either segment has a better one.
/// let lost = users.yardsticks();
/// assert!((lost.best_list - 0.3).abs() < 1e-12 && lost.best_list_of_segment == 0.0);
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Personal<M> {
    /// A policy's knowledge of each user.
    #[field]
    contexts: Arc<[Context]>,
    users: Arc<[M]>,
    n_segments: u32,
    /// Item by item.
    item_features: Vec<f64>,
    /// The loss of lists that are not personal.
    #[field(copy)]
    yardsticks: Yardsticks,
}

/// The mean loss in a round of lists that are not personal: the difference of the mean reward
/// to that of personal lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yardsticks {
    /// With the list of the largest mean attractions of all users.
    pub best_list: f64,
    /// With the list of the largest mean attractions of the user's segment.
    pub best_list_of_segment: f64,
}

impl<M: WithAttraction> Personal<M> {
    /// Users with their contexts.
    ///
    /// The yardsticks use the lists of the largest mean attractions. For position-based users these
    /// are the best lists; for users of the cascade and of dependent clicks other lists can be
    /// better, since an item may attract those whom the others do not attract.
    ///
    /// # Errors
    ///
    /// [`Error::NoUsers`]; [`Error::OtherItems`] if users differ in the number of items;
    /// [`Error::OtherFeatures`] if they differ in the number of features.
    pub fn new(users: Vec<(Context, M)>) -> Result<Self, Error> {
        let (contexts, users): (Vec<Context>, Vec<M>) = users.into_iter().unzip();
        let (Some(first), Some(context)) = (users.first(), contexts.first()) else {
            return Err(Error::NoUsers);
        };
        let (n_items, n_features) = (first.attraction().len(), context.features.len());
        for (user, (context, model)) in contexts.iter().zip(&users).enumerate() {
            let found = model.attraction().len();
            if found != n_items {
                return Err(Error::OtherItems { user, found, n_items });
            }
            let found = context.features.len();
            if found != n_features {
                return Err(Error::OtherFeatures { user, found, n_features });
            }
        }
        let yardsticks = Yardsticks {
            best_list: lost(&users, &contexts, |_| 0)?,
            best_list_of_segment: lost(&users, &contexts, |context| context.segment)?,
        };
        let n_segments = contexts.iter().map(|context| context.segment.saturating_add(1)).max().unwrap_or(1);
        Ok(Self {
            contexts: contexts.into(),
            users: users.into(),
            n_segments,
            item_features: vec![],
            yardsticks,
        })
    }

    /// The same users, whose items have these features, item by item, and who may belong to
    /// `n_segments` segments.
    ///
    /// # Errors
    ///
    /// As [`ContextKnown::new`]; [`Error::BeyondSegments`] if a user belongs to a later segment.
    pub fn announced(self, n_segments: u32, item_features: Vec<f64>) -> Result<Self, Error> {
        ContextKnown::new(self.users[0].attraction().len(), &item_features)?;
        let segments = self.contexts.iter().map(|context| context.segment).enumerate();
        if let Some((user, segment)) = segments.into_iter().find(|(_, segment)| *segment >= n_segments) {
            return Err(Error::BeyondSegments { user, segment, n_segments });
        }
        Ok(Self { n_segments, item_features, ..self })
    }

    /// A learner's knowledge of users and items before the first round.
    ///
    /// # Panics
    ///
    /// Never: the features were checked before.
    pub fn known(&self) -> ContextKnown<'_> {
        let known = ContextKnown::new(self.users[0].attraction().len(), &self.item_features);
        let known = known.expect("checked").with_segments(self.n_segments);
        known.with_user_features(self.contexts[0].features.len())
    }

    /// Number of users.
    pub fn n_users(&self) -> usize {
        self.users.len()
    }

    /// A user at random, with one draw.
    pub fn arrive<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        rng.random_range(0..self.users.len())
    }

    /// The click model of a user.
    ///
    /// # Panics
    ///
    /// If there is no such user.
    pub fn user(&self, user: usize) -> &M {
        &self.users[user]
    }
}

/// The mean loss in a round, if all users of a group see the list of their largest mean
/// attractions.
fn lost<M: WithAttraction>(
    users: &[M],
    contexts: &[Context],
    group: impl Fn(&Context) -> u32,
) -> Result<f64, Error> {
    let mut order: Vec<usize> = (0..users.len()).collect();
    order.sort_by_key(|&user| group(&contexts[user]));
    let mut lost = 0.0;
    for members in order.chunk_by(|&one, &other| group(&contexts[one]) == group(&contexts[other])) {
        let mut sums = vec![0.0; users[members[0]].attraction().len()];
        for &user in members {
            for (sum, attraction) in sums.iter_mut().zip(users[user].attraction()) {
                *sum += attraction.get();
            }
        }
        let means: Vec<f64> = sums.iter().map(|sum| (sum / members.len() as f64).min(1.0)).collect();
        let list = users[members[0]].with_attraction(Error::probabilities("attraction", &means)?)?;
        let list = list.optimal_action();
        lost += members.iter().map(|&user| users[user].gap(&list)).sum::<f64>();
    }
    Ok(lost / users.len() as f64)
}
