use super::counts::{check_left, remove};
use crate::checked::with_state;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::NonNegative;
use confidence::math::ln;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The confidence radius of averages, and the possible opponents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MeanRadius {
    /// `3 gamma^2 sqrt(ln(1 / delta) / n*)`; the opponent may be the item itself. As printed.
    #[default]
    Paper,
    /// `gamma^2 sqrt(ln(1 / delta) / n*)`; the opponent is another item. Without a proof.
    Tight,
}

impl MeanRadius {
    /// The factor of `gamma^2 sqrt(ln(1 / delta) / n*)`.
    fn factor(self) -> f64 {
        match self {
            Self::Paper => 3.0,
            Self::Tight => 1.0,
        }
    }
}

with_state! {
/// Beat the Mean: compares every item with random others, and removes the item of least average
/// once it is certainly worse than the best.
///
/// The item with the fewest comparisons (ties at random) is compared with an opponent drawn
/// uniformly from all remaining items, itself included. The comparison counts for the item, not for
/// the opponent. With `p_b` the share of comparisons that item b won and `n*` the smallest number
/// of comparisons of any item,
///
/// ```text
/// c = 3 gamma^2 sqrt(ln(1 / delta) / n*),    delta = 1 / (2 T K)
/// ```
///
/// and if `min p_b + c <= max p_b - c`, the item of smallest `p_b` is removed with all comparisons
/// against it. The last item is compared with itself in all later rounds.
///
/// Reference: Yue and Joachims, *Beat the mean bandit*, ICML 2011, Algorithm 1, with `delta` and
/// `c` for a horizon as in its section 4. Deviations: none with [`MeanRadius::Paper`].
/// [`MeanRadius::Tight`] is the rule of public programs: `c` has no factor 3, and an item is not
/// compared with itself. It has a fraction of the regret, and no proof: the paper's Theorem 1 needs
/// the factor.
///
/// Readings: at most one item is removed per round; after T rounds the winner is the item of
/// largest `p_b`. `gamma` is the constant of relaxed stochastic transitivity, 1 if strong
/// transitivity holds; it is not checked. If it is too small, the Condorcet winner may lose against
/// the average. With `gamma = 1` no item is removed before `n* = 36 ln(2 T K)` (`4 ln(2 T K)` with
/// the tight radius).
///
/// Without a Condorcet winner, or with too small a `gamma`, the winner tends to be the item with
/// the best average against the remaining ones, which may be outside the top cycle. Late feedback
/// counts when it arrives; feedback about removed items is ignored.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `duels`, `wins` | `n_{b,b'}`, `w_{b,b'}` | K x K, row: the item for which the comparison counts | comparisons |
/// | `item_duels`, `item_wins` | `n_b`, `w_b` | K | comparisons |
/// | `fewest` | `n*` | - | comparisons |
/// | `left` | `W_l` | at most K | item |
/// | `level` | `ln(1 / delta)` | - | nats |
/// | `radius` | 3, or 1 without comparisons of an item with itself | - | - |
///
/// A round draws a key for ties, the rank of the item among those that are due, and the rank of its
/// opponent. Memory: 16 bytes an ordered pair.
pub struct BeatTheMean {
    shape: DuelShape,
    horizon: u64,
    gamma: NonNegative,
    /// Absent in states saved by earlier versions.
    #[serde(default)]
    radius: MeanRadius,
    /// Rounds decided so far.
    rounds: u64,
    /// Comparisons of every item with every opponent; one row per item.
    duels: Vec<u64>,
    wins: Vec<u64>,
    /// Remaining items, by number.
    left: Vec<u32>,
} derived {
    item_duels: Vec<u64> = sums(&duels, &left, shape),
    item_wins: Vec<u64> = sums(&wins, &left, shape),
    /// Items with the fewest comparisons, not chosen since the list was built, by number.
    due: Vec<u32> = Vec::with_capacity(left.len()),
    /// The fewest comparisons when that list was built.
    fewest: u64 = 0,
    level: f64 = ln(2.0 * horizon as f64 * shape.n_items() as f64),
} then refill
}

/// The comparisons of each item with those that are left.
fn sums(table: &[u64], left: &[u32], shape: DuelShape) -> Vec<u64> {
    let sum = |row: &[u64]| left.iter().map(|&other| row[other as usize]).sum();
    table.chunks_exact(shape.n_items()).map(sum).collect()
}

impl BeatTheMean {
    /// A fresh policy for `horizon` rounds, with the radius as printed. Then it exploits.
    pub fn new(shape: DuelShape, horizon: u64, gamma: NonNegative) -> Self {
        Self::with_radius(shape, horizon, gamma, MeanRadius::Paper)
    }

    /// A fresh policy for `horizon` rounds. After the horizon it exploits.
    pub fn with_radius(shape: DuelShape, horizon: u64, gamma: NonNegative, radius: MeanRadius) -> Self {
        let none = vec![0; shape.n_pairs()];
        let left = (0..).take(shape.n_items()).collect();
        let (horizon, duels, wins) = (horizon.max(1), none.clone(), none);
        Self::assemble(State { shape, horizon, gamma, radius, rounds: 0, duels, wins, left })
    }

    fn refill(&mut self) {
        let Self { left, due, fewest, item_duels, .. } = self;
        *fewest = left.iter().map(|&item| item_duels[item as usize]).min().unwrap_or(0);
        due.clear();
        due.extend(left.iter().filter(|&&item| item_duels[item as usize] == *fewest));
    }

    /// Share of the comparisons that the item won.
    fn mean(&self, item: u32) -> f64 {
        float(self.item_wins[item as usize]) / float(self.item_duels[item as usize])
    }

    /// The item of largest mean; an item without comparisons has none.
    fn best(&self, ties: Ties) -> u32 {
        let mean = |item: u32| if self.item_duels[item as usize] == 0 { -1.0 } else { self.mean(item) };
        ties.first(self.left.iter().copied(), mean).unwrap_or(0)
    }

    #[inline]
    fn eliminate(&mut self, ties: Ties) {
        if self.fewest == 0 {
            return;
        }
        let radius = self.radius.factor()
            * self.gamma.get()
            * self.gamma.get()
            * (self.level / float(self.fewest)).sqrt();
        // Means differ by at most 1.
        if radius > 0.5 {
            return;
        }
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for &item in &self.left {
            let mean = self.mean(item);
            least = least.min(mean);
            largest = largest.max(mean);
        }
        if least + radius <= largest - radius {
            let worst = ties.first(self.left.iter().copied(), |item| -self.mean(item)).unwrap_or(0);
            self.remove(worst as usize);
        }
    }

    fn remove(&mut self, item: usize) {
        remove(&mut self.left, item);
        let n_items = self.shape.n_items();
        for &other in &self.left {
            let cell = other as usize * n_items + item;
            self.item_duels[other as usize] -= self.duels[cell];
            self.item_wins[other as usize] -= self.wins[cell];
        }
        self.refill();
    }
}

restored!(BeatTheMean, |saved| {
    check_left(&saved.left, saved.shape)?;
    if saved.duels.len() != saved.shape.n_pairs() {
        return Err(Error::SavedSizes);
    }
    check_counts(saved.rounds, &saved.duels, &saved.wins)?;
    if saved.horizon == 0 {
        return Err(Error::SavedStage);
    }
    Ok(Self::assemble(saved))
});

setup!(BeatTheMean, &["/horizon", "/gamma", "/radius"], |policy| [policy.shape.n_items(), 2]);

impl Select<Pair> for BeatTheMean {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        self.rounds += 1;
        if self.left.len() > 1 {
            let ties = Ties::draw(rng);
            if self.due.is_empty() {
                self.refill();
            }
            if self.rounds > self.horizon {
                self.left[0] = self.best(ties);
                self.left.truncate(1);
            } else {
                self.eliminate(ties);
            }
        }
        if let [winner] = self.left[..] {
            out.action = Pair::of_one(ItemId::new(winner));
            return;
        }
        let item = self.due.remove(rng.random_range(0..self.due.len()));
        let opponent = match self.radius {
            MeanRadius::Paper => self.left[rng.random_range(0..self.left.len())],
            MeanRadius::Tight => {
                let place = rng.random_range(0..self.left.len() - 1);
                // The items after it move up by one place.
                if self.left[place] < item { self.left[place] } else { self.left[place + 1] }
            }
        };
        out.action = Pair::new(ItemId::new(item), ItemId::new(opponent));
    }
}

impl Update<Pair, DuelOutcome> for BeatTheMean {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Some(cell) = self.shape.number(decision.action) else { return };
        let (item, other) = (decision.action.first, decision.action.second);
        let is_left = |item: ItemId| self.left.iter().any(|&left| left as usize == item.index());
        // Comparisons of the winner with itself have no information.
        if self.left.len() < 2 || !is_left(item) || !is_left(other) {
            return;
        }
        let won = u64::from(feedback.first_won());
        self.duels[cell] += 1;
        self.wins[cell] += won;
        self.item_duels[item.index()] += 1;
        self.item_wins[item.index()] += won;
    }
}

impl Recommend<ItemId> for BeatTheMean {
    /// The remaining item with the largest share of won comparisons.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        *out = ItemId::new(self.best(Ties::draw(rng)));
    }
}
