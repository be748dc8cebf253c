//! Contenders that compare two items: their regret and, at every checkpoint, whether the item that they would recommend is the best one.
//!
//! Recommendations have a separate random stream, so checkpoints do not change a policy's choices. The best item is the Condorcet winner;
//! without one, any Copeland winner counts as best, and regret is Copeland regret.

use crate::run::play_and_check;
use crate::{Contender, Curve, Replication, Schedule};
use click_models::{Dueling, DuelingModel, ItemId};
use policies::{Policy, Recommend};
use std::fmt;

/// A contender on dueling users.
///
/// `build` receives the users themselves, because an experiment may pass a constant of the users to a policy that requires it. All other
/// policies use only [`known`](click_models::ClickModel::known).
///
/// # Examples
///
/// ```
/// use click_models::{ClickModel, DuelingModel, PreferenceMatrix};
/// use confidence::NonNegative;
/// use policies::Rucb;
/// use sim::{Contender, DuelEntry, Replication, Schedule, Streams};
///
/// let users = DuelingModel::new(PreferenceMatrix::new(&[vec![0.5, 0.9], vec![0.1, 0.5]])?);
/// let rucb = DuelEntry::new("rucb", |users: &DuelingModel| Rucb::new(users.known(), NonNegative::from_count(1)));
/// let curve = rucb.replicate(Replication::new(&users, Streams::new(1), 0), &Schedule::new(vec![1, 1000])?);
/// // A pair of both items costs (0 + .4) / 2, an item with itself 0 or .4. RUCB finds the better one soon.
/// assert!([0.0, 0.2, 0.4].contains(&curve.regret[0]) && curve.accurate[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DuelEntry<F> {
    label: String,
    build: F,
}

impl<F> DuelEntry<F> {
    /// Enters the policy that `build` constructs under the name `label`.
    pub fn new(label: impl Into<String>, build: F) -> Self {
        Self { label: label.into(), build }
    }
}

impl<F> fmt::Debug for DuelEntry<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DuelEntry").field("label", &self.label).finish_non_exhaustive()
    }
}

impl<F, P> Contender<DuelingModel> for DuelEntry<F>
where
    F: Fn(&DuelingModel) -> P + Send + Sync,
    P: Policy<Dueling> + Recommend<ItemId>,
{
    fn label(&self) -> &str {
        &self.label
    }

    fn replicate(&self, replication: Replication<'_, DuelingModel>, schedule: &Schedule) -> Curve {
        let model = replication.users;
        let mut policy = (self.build)(replication.told);
        let (mut environment, mut randomness) = (replication.environment(), replication.policy(&self.label));
        let mut to_recommend = replication.streams.recommendation(&self.label, replication.number);
        let best_is_named = |policy: &P| {
            let mut item = ItemId::default();
            policy.recommend(&mut to_recommend, &mut item);
            Some(model.losses().get(item.index()) == Some(&0.0))
        };
        play_and_check(model, &mut policy, schedule, &mut environment, &mut randomness, best_is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;
    use click_models::{ClickModel, Pair, PreferenceMatrix};
    use confidence::NonNegative;
    use policies::{Fixed, Rucb};

    fn users(rows: &[Vec<f64>]) -> DuelingModel {
        DuelingModel::new(PreferenceMatrix::new(rows).expect("a matrix"))
    }

    /// Item 0 beats the others with .75 and 1, item 1 beats item 2 with .625.
    fn three() -> DuelingModel {
        users(&[vec![0.5, 0.75, 1.0], vec![0.25, 0.5, 0.625], vec![0.0, 0.375, 0.5]])
    }

    #[test]
    fn a_fixed_pair_costs_its_gap_in_every_round() {
        let schedule = Schedule::new(vec![1, 8]).expect("increasing");
        let [second, third] = [1, 2].map(ItemId::new);
        let pair = |pair| DuelEntry::new("pair", move |_: &DuelingModel| Fixed::new(pair));
        let curve = pair(Pair::new(second, third))
            .replicate(Replication::new(&three(), Streams::new(1), 0), &schedule);
        // (.25 + .5) / 2 a round, and every user prefers one of the two.
        assert_eq!((curve.regret, curve.clicks), (vec![0.375, 3.0], vec![1.0, 8.0]));
        assert_eq!(curve.accurate, [false, false]);
        let curve = pair(Pair::of_one(ItemId::new(0)))
            .replicate(Replication::new(&three(), Streams::new(1), 0), &schedule);
        assert_eq!((curve.regret, curve.accurate), (vec![0.0, 0.0], vec![true, true]));
    }

    #[test]
    fn checkpoints_change_no_choice() {
        let rucb = DuelEntry::new("rucb", |users: &DuelingModel| {
            Rucb::new(users.known(), NonNegative::new(0.51).expect("not negative"))
        });
        let replicate = |checkpoints: Vec<u64>| {
            let schedule = Schedule::new(checkpoints).expect("increasing");
            rucb.replicate(Replication::new(&three(), Streams::new(3), 5), &schedule)
        };
        let (often, once) = (replicate((1..=500).collect()), replicate(vec![500]));
        assert_eq!(often.regret.last(), once.regret.last());
        assert!(once.accurate[0] && !often.accurate.iter().all(|accurate| *accurate));
    }

    #[test]
    fn without_a_condorcet_winner_any_copeland_winner_is_right() {
        let cycle = users(&[vec![0.5, 0.9, 0.1], vec![0.1, 0.5, 0.9], vec![0.9, 0.1, 0.5]]);
        let schedule = Schedule::new(vec![3]).expect("increasing");
        let last = DuelEntry::new("last", |_: &DuelingModel| Fixed::new(Pair::of_one(ItemId::new(2))));
        let curve = last.replicate(Replication::new(&cycle, Streams::new(1), 0), &schedule);
        assert_eq!((curve.regret, curve.accurate), (vec![0.0], vec![true]));
    }
}
