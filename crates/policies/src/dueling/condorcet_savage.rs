use super::counts::{DuelCounts, check_left, remove};
use crate::checked::with_state;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::hoeffding_radius;
use confidence::math::ln;
use rand::{Rng, RngExt};

with_state! {
/// Condorcet SAVAGE: compares pairs equally often, and removes certainly worse items.
///
/// Each round compares one of the least compared pairs of remaining items, drawn uniformly. With
/// `p_ij` the share of the `n_ij` duels that item i won against j, item i is removed if
///
/// ```text
/// p_ij + sqrt(ln(2 P T / delta) / (2 n_ij)) < 1/2,    P = K (K - 1) / 2,    delta = 1/T
/// ```
///
/// for some j. The last item is compared with itself for ever.
///
/// Reference: Urvoy, Clerot, Feraud, Naamane, *Generic exploration and K-armed voting bandits*,
/// ICML 2013, Algorithm 2 with the Condorcet test, as in Zoghi et al., ICML 2014, section 6.
/// Deviations: none. Reading: after T rounds the winner is the item that beats most of the other
/// remaining ones.
///
/// Without a Condorcet winner and with a long horizon the winner is an item of the top cycle; which
/// one depends on the order of removals. A pair counts as compared when it is chosen. Feedback
/// about removed items may still remove their opponents, but never the last item.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts` | `n_ij`, sums of `X_ij` | K x K | duels |
/// | `left` | the items of `W` | at most K | item |
/// | `due` | least compared pairs of `W` | at most P | pair |
/// | `horizon` | T | - | rounds |
/// | `level` | `ln(2 P T / delta)` | - | nats |
///
/// One draw a round is the rank of the pair among those that are due, by number.
pub struct CondorcetSavage {
    counts: DuelCounts,
    horizon: u64,
    /// Remaining items, by number.
    left: Vec<u32>,
} derived {
    /// Pairs of these compared once less than the others, in order; empty if there are none.
    due: Vec<(u32, u32)> = Vec::with_capacity(left.len() * (left.len() - 1) / 2),
    level: f64 = {
        let n_items = counts.shape.n_items();
        ln((n_items * (n_items - 1)) as f64) + 2.0 * ln(horizon as f64)
    },
} then refill
}

impl CondorcetSavage {
    /// A fresh policy for `horizon` rounds. After the horizon it exploits.
    pub fn new(shape: DuelShape, horizon: u64) -> Self {
        let left = (0..).take(shape.n_items()).collect();
        Self::assemble(State { counts: DuelCounts::new(shape), horizon: horizon.max(1), left })
    }

    fn refill(&mut self) {
        let Self { counts, left, due, .. } = self;
        let mut least = u64::MAX;
        due.clear();
        for (place, &first) in left.iter().enumerate() {
            for &second in &left[place + 1..] {
                let duels = counts.duels(first as usize, second as usize);
                if duels < least {
                    least = duels;
                    due.clear();
                }
                if duels == least {
                    due.push((first, second));
                }
            }
        }
    }
}

restored!(CondorcetSavage, |saved| {
    check_left(&saved.left, saved.counts.shape)?;
    if saved.horizon == 0 {
        return Err(Error::SavedStage);
    }
    Ok(Self::assemble(saved))
});

setup!(CondorcetSavage, &["/horizon"], |policy| policy.counts.sizes());

impl Select<Pair> for CondorcetSavage {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let round = self.counts.rounds.next();
        if self.left.len() > 1 && round > self.horizon {
            self.left[0] = self.counts.most_beating(&self.left, Ties::draw(rng));
            self.left.truncate(1);
        }
        if let [winner] = self.left[..] {
            out.action = Pair::of_one(ItemId::new(winner));
            return;
        }
        if self.due.is_empty() {
            self.refill();
        }
        let (first, second) = self.due.remove(rng.random_range(0..self.due.len()));
        out.action = Pair::new(ItemId::new(first), ItemId::new(second));
    }
}

impl Update<Pair, DuelOutcome> for CondorcetSavage {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Some((winner, loser)) = self.counts.record(decision.action, *feedback) else { return };
        let duels = float(self.counts.duels(winner, loser));
        let share = float(self.counts.wins(loser, winner)) / duels;
        if share + hoeffding_radius(duels, self.level) < 0.5
            && self.left.len() > 1
            && remove(&mut self.left, loser)
        {
            self.due.retain(|&(first, second)| first as usize != loser && second as usize != loser);
        }
    }
}

impl Recommend<ItemId> for CondorcetSavage {
    /// The remaining item that beats most of the others.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        *out = ItemId::new(self.counts.most_beating(&self.left, Ties::draw(rng)));
    }
}
