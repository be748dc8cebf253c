use crate::checked::with_state;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::math::ln;
use rand::{Rng, RngExt};

with_state! {
/// Interleaved Filter (IF2): compares an incumbent with all others until it is beaten or last.
///
/// The *incumbent* (at first a random item) is compared once with every remaining item, in repeated
/// sweeps. After every sweep, with `p_b` the share of the `n` duels that the incumbent won against
/// item b and
///
/// ```text
/// c = sqrt(4 ln(1 / delta) / n),    delta = 1 / (T K^2)
/// ```
///
/// every item with `p_b - c > 1/2` is removed. If then an item has `p_b + c < 1/2`, all items with
/// `p_b > 1/2` are removed (*pruned*), that item becomes the incumbent, and counts restart. The
/// last item is compared with itself in all later rounds.
///
/// Reference: Yue, Broder, Kleinberg, Joachims, *The K-armed dueling bandits problem*, JCSS 78,
/// 2012, Algorithm 2 with the pruning of IF2. Deviations: none. Readings: sweeps are in the order
/// of the items' numbers; if several items beat the incumbent, a random one follows it; after T
/// rounds the winner is the incumbent. The analysis needs a total order with strong stochastic
/// transitivity; without it, pruning may remove the Condorcet winner, and without a Condorcet
/// winner the last item may be below the top cycle.
///
/// A decision's note is the *epoch*, the number of incumbents so far. Feedback from an earlier
/// epoch is about another incumbent, and is ignored.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `incumbent` | `b-hat` | - | item |
/// | `left` | W | at most K - 1 | item |
/// | `duels`, `wins` | t, `t P-hat` of the incumbent | K | duels |
/// | `level` | `ln(1 / delta)` | - | nats |
///
/// Memory: 16 bytes an item.
pub struct InterleavedFilter {
    shape: DuelShape,
    horizon: u64,
    /// Rounds decided so far.
    rounds: u64,
    /// `None` before the first round.
    incumbent: Option<u32>,
    /// Number of incumbents so far.
    epoch: u32,
    /// Remaining items that the incumbent has not beaten, by number.
    left: Vec<u32>,
    /// Number of these that the incumbent has met in this sweep.
    place: usize,
    /// Duels of the incumbent with every item, and its wins.
    duels: Vec<u64>,
    wins: Vec<u64>,
} derived {
    level: f64 = ln(horizon as f64) + 2.0 * ln(shape.n_items() as f64),
}
}

/// Where an interval lies relative to 1/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Open,
    Won,
    Lost,
}

impl InterleavedFilter {
    /// A fresh policy for `horizon` rounds. After the horizon it exploits.
    pub fn new(shape: DuelShape, horizon: u64) -> Self {
        let none = vec![0; shape.n_items()];
        Self::assemble(State {
            shape,
            horizon: horizon.max(1),
            rounds: 0,
            incumbent: None,
            epoch: 0,
            left: (0..).take(shape.n_items()).collect(),
            place: 0,
            duels: none.clone(),
            wins: none,
        })
    }

    /// The incumbent; `None` before the first round.
    pub fn incumbent(&self) -> Option<ItemId> {
        self.incumbent.map(ItemId::new)
    }

    /// Share of the duels that the incumbent won against `item`; there is at least one.
    fn share(&self, item: u32) -> f64 {
        float(self.wins[item as usize]) / float(self.duels[item as usize])
    }

    #[inline]
    fn verdict(&self, item: u32) -> Verdict {
        if self.duels[item as usize] == 0 {
            return Verdict::Open;
        }
        let radius = (4.0 * self.level / float(self.duels[item as usize])).sqrt();
        let share = self.share(item);
        if share - radius > 0.5 {
            Verdict::Won
        } else if share + radius < 0.5 {
            Verdict::Lost
        } else {
            Verdict::Open
        }
    }

    fn end_sweep(&mut self, ties: Ties) {
        let mut left = std::mem::take(&mut self.left);
        left.retain(|&item| self.verdict(item) != Verdict::Won);
        let beaten_by = left.iter().copied().filter(|&item| self.verdict(item) == Verdict::Lost);
        if let Some(follower) = ties.first(beaten_by, |_| 0.0) {
            left.retain(|&item| {
                item != follower && (self.duels[item as usize] == 0 || self.share(item) <= 0.5)
            });
            self.incumbent = Some(follower);
            self.epoch = self.epoch.saturating_add(1);
            self.duels.fill(0);
            self.wins.fill(0);
        }
        self.left = left;
    }
}

restored!(InterleavedFilter, |saved| {
    let n_items = saved.shape.n_items();
    let in_order = saved.left.windows(2).all(|pair| pair[0] < pair[1]);
    let is_known = |&item: &u32| (item as usize) < n_items;
    if !in_order || !saved.left.last().is_none_or(is_known) {
        return Err(Error::SavedLeft);
    }
    // All items remain before the first round, and only then.
    let is_alone = |incumbent: &u32| is_known(incumbent) && saved.left.binary_search(incumbent).is_err();
    if !saved.incumbent.as_ref().map_or(saved.left.len() == n_items, is_alone) {
        return Err(Error::SavedLeft);
    }
    if saved.duels.len() != n_items {
        return Err(Error::SavedSizes);
    }
    check_counts(saved.rounds, &saved.duels, &saved.wins)?;
    // Before the first sweep, the first incumbent still has to be taken from the remaining items.
    let in_a_sweep = if saved.incumbent.is_some() { saved.left.len() } else { 0 };
    if saved.horizon == 0 || saved.place >= in_a_sweep.max(1) {
        return Err(Error::SavedStage);
    }
    Ok(Self::assemble(saved))
});

setup!(InterleavedFilter, &["/horizon"], |policy| [policy.shape.n_items(), 2]);

impl Select<Pair> for InterleavedFilter {
    /// The epoch in which the pair was chosen.
    type Note = u64;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair, u64>) {
        self.rounds += 1;
        let incumbent = match self.incumbent {
            Some(incumbent) if self.place > 0 || self.left.is_empty() || self.rounds > self.horizon => {
                incumbent
            }
            Some(incumbent) => {
                self.end_sweep(Ties::draw(rng));
                self.incumbent.unwrap_or(incumbent)
            }
            None => {
                let incumbent = self.left.remove(rng.random_range(0..self.left.len()));
                self.epoch = 1;
                *self.incumbent.insert(incumbent)
            }
        };
        out.note = self.epoch.into();
        let incumbent = ItemId::new(incumbent);
        if self.rounds > self.horizon || self.left.is_empty() {
            out.action = Pair::of_one(incumbent);
            return;
        }
        out.action = Pair::new(incumbent, ItemId::new(self.left[self.place]));
        self.place = if self.place + 1 == self.left.len() { 0 } else { self.place + 1 };
    }
}

impl Update<Pair, DuelOutcome> for InterleavedFilter {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair, u64>, feedback: &DuelOutcome) {
        let Pair { first, second } = decision.action;
        let is_of_now = decision.note == u64::from(self.epoch) && self.incumbent() == Some(first);
        if !is_of_now || first == second || !self.shape.contains(decision.action) {
            return;
        }
        self.duels[second.index()] += 1;
        self.wins[second.index()] += u64::from(feedback.first_won());
    }
}

impl Recommend<ItemId> for InterleavedFilter {
    /// The incumbent; before the first round a random item.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        let any = |rng: &mut R| ItemId::from_index(rng.random_range(0..self.shape.n_items()));
        *out = self.incumbent().unwrap_or_else(|| any(rng));
    }
}
