//! Contenders that compare two items: their regret and, at every checkpoint, whether the item that
//! they would recommend is the best one.
//!
//! Recommendations have a separate random stream, so checkpoints do not change a policy's choices.
//! The best item is the Condorcet winner; without one, any Copeland winner counts as best, and
//! regret is Copeland regret.

use crate::contender::plays_curves;
use crate::run::Rounds;
use crate::session::{EarlyEnd, Player};
use crate::state::Progress;
use crate::{Entry, Restarts, Saver};
use click_models::{Dueling, DuelingModel, ItemId};
use policies::{Policy, Recommend};

/// The loop of policies that compare two items and recommend one.
#[derive(Debug, Clone, Copy)]
pub struct ByDuels;

impl<F> Entry<F, Restarts, ByDuels> {
    /// Enters the policy that `build` constructs from dueling users under the name `label`.
    ///
    /// `build` receives the users themselves, because an experiment may pass a constant of the
    /// users to a policy that requires it. All other policies use only
    /// [`known`](click_models::ClickModel::known).
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{ClickModel, DuelingModel, PreferenceMatrix};
    /// use confidence::NonNegative;
    /// use policies::Rucb;
    /// use sim::{Contender, Entry, Replication, Schedule, Streams};
    ///
    /// let users = DuelingModel::new(PreferenceMatrix::new(&[vec![0.5, 0.9], vec![0.1, 0.5]])?);
    /// let rucb = Entry::duels("rucb", |users: &DuelingModel| Rucb::new(users.known(), NonNegative::from_count(1)));
    /// let curve = rucb.replicate(Replication::new(&users, Streams::new(1), 0), &Schedule::new(vec![1, 1000])?);
    /// // A pair of both items costs (0 + .4) / 2, an item with itself 0 or .4. RUCB finds the better one soon.
    /// assert!([0.0, 0.2, 0.4].contains(&curve.regret[0]) && curve.accurate[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn duels(label: impl Into<String>, build: F) -> Self {
        Self::played_by(ByDuels, label, build)
    }
}

plays_curves!(ByDuels as Duels, [] DuelingModel, &DuelingModel, [Policy<Dueling> + Recommend<ItemId>],
    |entry, replication| replication.told, |policy| Duels::<P, S>(Rounds::new(replication.users, policy)));

/// A policy that plays round by round and recommends an item at every checkpoint.
struct Duels<'a, P: Policy<Dueling>, S>(Rounds<'a, DuelingModel, P, S>);

impl<P: Policy<Dueling> + Recommend<ItemId>, S: Saver<P>> Player for Duels<'_, P, S> {
    fn advance(&mut self, progress: &mut Progress, last: u64) -> Result<(), EarlyEnd> {
        self.0.advance(progress, last)
    }

    fn is_right(&self, progress: &mut Progress) -> Option<bool> {
        let mut item = ItemId::default();
        self.0.policy.recommend(progress.recommendation.as_mut()?, &mut item);
        Some(self.0.model.losses().get(item.index()) == Some(&0.0))
    }

    fn write(&self) -> Result<Vec<u8>, String> {
        self.0.write()
    }
}

#[cfg(test)]
mod tests;
