use super::counts::DuelCounts;
use super::posterior::{Coins, sample};
use crate::checked::with_state;
use crate::error::{MAX_COUNT, are_distinct};
use crate::exact::float;
use crate::sampling::Sampler;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::NonNegative;
use confidence::math::ln;
use rand::{Rng, RngExt};
use std::ops::Range;

with_state! {
/// `MergeDTS`: Thompson sampling within small batches of items, which are merged as items are
/// removed.
///
/// The items are distributed at random among batches of M. Round t plays batch `t mod b` of `b`
/// batches. First, an item is removed if `u_ij = p_ij + sqrt(alpha ln(t + C) / n_ij) < 1/2` for
/// some j of its batch; a batch of a single item is then merged with the next one. Second, for
/// every pair of the batch a probability is sampled from `Beta(1 + w_ij, 1 + w_ji)`; the first item
/// is the one that beats most others. Third, new samples are drawn of all others against the first
/// item. The second item has the *smallest* sample, since comparisons with the best remove the
/// worst item soonest.
///
/// When at most `K / 2^s` items remain, for `s = 1, 2, ..`, the largest batch is merged with the
/// smallest, and so on, as long as the two have at most 3/2 M items. The last item is compared with
/// itself in all later rounds.
///
/// Reference: Li, Markov, de Rijke, Zoghi, *`MergeDTS`: a method for effective large-scale online
/// ranker evaluation*, ACM TOIS 38, 2020, Algorithm 1, with the parameters of its experiments:
/// `alpha = 0.8^6`, `M = 16`, `C = 400,000` (as in the settings of the authors' program). The text
/// of the paper was not at hand, so the rule is not checked against it. The analysis needs
/// `alpha > 1/2` and `C = ((4 alpha - 1) K^2 T / (2 alpha - 1))^(1 / (2 alpha - 1))`. Batches,
/// bounds, elimination and merging are those of `MergeRUCB` (Zoghi, Whiteson, de Rijke, WSDM 2015).
/// Deviations: a draw whether a sample exceeds 1/2 replaces the sample, with the same distribution
/// of choices.
///
/// Readings, where the rule leaves a choice:
///
/// - *The second item* is never the first: with a sample of 1/2 against itself, as in D-TS, a batch
///   whose other samples all exceed 1/2 would compare the first with itself, without information.
/// - *Sizes of merged batches* are kept below `3/2 M` only. `MergeRUCB` also keeps them above
///   `M / 2`, by merging again.
/// - *All items beaten*: if every item of a batch is certainly beaten by another, none is removed.
/// - *A batch of a single item* is merged before its round, without testing the added items again.
/// - *The test whether to merge* is at the start of a round, not at the end of the previous one.
///
/// Without a Condorcet winner the last item may be any of a top cycle. Late feedback counts.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts` | W | K x K | duels |
/// | `items`, cut at `ends` | `B_1, .., B_b` | at most K | item |
/// | `stage` | S | - | - |
/// | `alpha`, `head_start`, `batch_size` | alpha, C, M | - | -, rounds, items |
///
/// Numerics: `u_ij < 1/2` is tested as `(n_ij - 2 w_ij)^2 > 4 alpha n_ij ln(t + C)`. The first
/// round shuffles the items. A round draws a key for ties, then one sample for each pair of the
/// batch, then one for each of the others against the first. Memory: 16 bytes an ordered pair.
pub struct MergeDts {
    counts: DuelCounts,
    alpha: NonNegative,
    head_start: u64,
    batch_size: usize,
    stage: u32,
    /// Remaining items, batch by batch.
    items: Vec<u32>,
    /// End of each batch.
    ends: Vec<usize>,
} derived {
    /// Items that were certainly beaten when their feedback arrived.
    is_suspect: Vec<bool> = vec![true; counts.shape.n_items()],
    /// Buffer: number of samples in which an item of the batch beats another one.
    scores: Vec<u32> = vec![0; counts.shape.n_items()],
    coins: Coins = Coins::new(&counts),
    sampler: Sampler = Sampler::new(),
    /// Buffer for merging.
    merging: Merging =
        Merging { by_size: Vec::with_capacity(ends.len()), items: Vec::with_capacity(items.len()) },
}
}

/// Room for another arrangement of the items, so that merging does not allocate.
#[derive(Debug, Clone)]
struct Merging {
    /// The batches by decreasing size.
    by_size: Vec<Range<usize>>,
    items: Vec<u32>,
}

impl MergeDts {
    /// A fresh policy with the parameters of the paper's experiments.
    pub fn new(shape: DuelShape) -> Self {
        let alpha = NonNegative::new(0.262_144).unwrap_or(NonNegative::ZERO);
        Self::with_parameters(shape, alpha, 400_000, 16)
    }

    /// A fresh policy. Batches have at least 2 items, and the head start at most 2^40 rounds.
    pub fn with_parameters(shape: DuelShape, alpha: NonNegative, head_start: u64, batch_size: usize) -> Self {
        let n_items = shape.n_items();
        let batch_size = batch_size.clamp(2, n_items);
        let ends = (1..=n_items.div_ceil(batch_size)).map(|batch| n_items.min(batch * batch_size)).collect();
        Self::assemble(State {
            counts: DuelCounts::new(shape),
            alpha,
            head_start: head_start.min(MAX_COUNT),
            batch_size,
            stage: 1,
            items: (0..).take(n_items).collect(),
            ends,
        })
    }

    /// Remaining items, batch by batch.
    pub fn batches(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len()).map(|batch| &self.items[self.members(batch)])
    }

    /// Range of a batch in `items`.
    #[inline]
    fn members(&self, batch: usize) -> Range<usize> {
        let start = batch.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[batch]
    }

    #[inline]
    fn level(&self) -> f64 {
        ln(float(self.counts.rounds.get() + self.head_start))
    }

    /// Returns whether `item` is certainly worse than `other`.
    #[inline]
    fn is_beaten(&self, item: usize, other: usize, level: f64) -> bool {
        let (wins, losses) = (self.counts.wins(item, other), self.counts.wins(other, item));
        if wins >= losses {
            return false;
        }
        let behind = float(losses - wins);
        behind * behind > 4.0 * self.alpha.get() * float(wins + losses) * level
    }

    /// Removes beaten items from a batch, unless all its items are beaten.
    fn eliminate(&mut self, batch: usize) {
        let members = self.members(batch);
        if !self.items[members.clone()].iter().any(|&item| self.is_suspect[item as usize]) {
            return;
        }
        let level = self.level();
        let mut n_beaten = 0;
        for place in members.clone() {
            let item = self.items[place];
            let others = &self.items[members.clone()];
            let is_beaten = others.iter().any(|&other| self.is_beaten(item as usize, other as usize, level));
            self.is_suspect[item as usize] = is_beaten;
            n_beaten += usize::from(is_beaten);
        }
        if n_beaten > 0 && n_beaten < members.len() {
            let is_suspect = &self.is_suspect;
            let mut place = 0;
            self.items.retain(|&item| {
                let leaves = members.contains(&place) && is_suspect[item as usize];
                place += 1;
                !leaves
            });
            for end in &mut self.ends[batch..] {
                *end -= n_beaten;
            }
        }
    }

    /// Merges a batch with the next one (the last with the first). Returns its new index.
    fn merge_with_next(&mut self, batch: usize) -> usize {
        let members = self.members(batch);
        if batch + 1 < self.ends.len() {
            self.ends.remove(batch);
            return batch;
        }
        self.items.rotate_right(members.len());
        self.ends.pop();
        for end in &mut self.ends {
            *end += members.len();
        }
        0
    }

    /// Merges the largest batches with the smallest.
    fn merge_all(&mut self) {
        let mut by_size = std::mem::take(&mut self.merging.by_size);
        by_size.clear();
        by_size.extend((0..self.ends.len()).map(|batch| self.members(batch)));
        by_size.sort_unstable_by_key(|batch| (std::cmp::Reverse(batch.len()), batch.start));
        self.merging.items.clear();
        self.ends.clear();
        let (mut large, mut small) = (0, by_size.len());
        while large < small {
            self.merging.items.extend_from_slice(&self.items[by_size[large].clone()]);
            let fits = 2 * (by_size[large].len() + by_size[small - 1].len()) <= 3 * self.batch_size;
            if large + 1 < small && fits {
                small -= 1;
                self.merging.items.extend_from_slice(&self.items[by_size[small].clone()]);
            }
            self.ends.push(self.merging.items.len());
            large += 1;
        }
        std::mem::swap(&mut self.items, &mut self.merging.items);
        self.merging.by_size = by_size;
    }

    /// The item of a batch that beats most others in one sample of each pair.
    fn sample_first<R: Rng + ?Sized>(&mut self, members: Range<usize>, ties: Ties, rng: &mut R) -> u32 {
        let Self { items, scores, counts, coins, .. } = self;
        let items = &items[members];
        for &item in items {
            scores[item as usize] = 0;
        }
        for (place, &item) in items.iter().enumerate() {
            let mut won = 0;
            for &other in &items[place + 1..] {
                let beats = coins.toss(counts, item as usize, other as usize, rng);
                won += u32::from(beats);
                scores[other as usize] += u32::from(!beats);
            }
            scores[item as usize] += won;
        }
        let won = |item: u32| f64::from(scores[item as usize]);
        ties.first(items.iter().copied(), won).unwrap_or(items[0])
    }

    /// The other item of a batch that has the smallest sample against `first`.
    fn sample_second<R: Rng + ?Sized>(&self, members: Range<usize>, first: u32, rng: &mut R) -> u32 {
        let mut worst = (f64::INFINITY, first);
        for &item in self.items[members].iter().filter(|&&item| item != first) {
            let sample = sample(self.sampler, &self.counts, item as usize, first as usize, rng);
            if sample < worst.0 {
                worst = (sample, item);
            }
        }
        worst.1
    }
}

restored!(MergeDts, |saved| {
    let n_items = saved.counts.shape.n_items();
    if !are_distinct(saved.items.iter().map(|&item| item as usize), n_items) {
        return Err(Error::SavedLeft);
    }
    let in_order = saved.ends.windows(2).all(|ends| ends[0] < ends[1]);
    let starts = saved.ends.first().is_some_and(|&end| end > 0);
    if !in_order || !starts || saved.ends.last() != Some(&saved.items.len()) {
        return Err(Error::SavedBatches);
    }
    let is_size = (2..=n_items).contains(&saved.batch_size);
    if saved.head_start > MAX_COUNT || !is_size || !(1..=32).contains(&saved.stage) {
        return Err(Error::SavedStage);
    }
    Ok(Self::assemble(saved))
});

setup!(MergeDts, &["/alpha", "/head_start", "/batch_size"], |policy| policy.counts.sizes());

impl Select<Pair> for MergeDts {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let round = self.counts.rounds.next();
        if round == 1 {
            for drawn in (1..self.items.len()).rev() {
                self.items.swap(drawn, rng.random_range(0..=drawn));
            }
        }
        if let [winner] = self.items[..] {
            out.action = Pair::of_one(ItemId::new(winner));
            return;
        }
        let ties = Ties::draw(rng);
        if self.ends.len() > 1 && (self.items.len() as u64) << self.stage <= self.scores.len() as u64 {
            self.merge_all();
            self.stage += 1;
        }
        // Below the number of batches.
        let mut batch = usize::try_from(round % self.ends.len() as u64).unwrap_or(0);
        self.eliminate(batch);
        if self.ends.len() > 1 && self.members(batch).len() == 1 {
            batch = self.merge_with_next(batch);
        }
        let members = self.members(batch);
        let first = self.sample_first(members.clone(), ties, rng);
        let second = self.sample_second(members, first, rng);
        out.action = Pair::new(ItemId::new(first), ItemId::new(second));
    }
}

impl Update<Pair, DuelOutcome> for MergeDts {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Some((winner, loser)) = self.counts.record(decision.action, *feedback) else { return };
        self.coins.set(&self.counts, winner, loser);
        if self.is_beaten(loser, winner, self.level()) {
            self.is_suspect[loser] = true;
        }
    }
}

impl Recommend<ItemId> for MergeDts {
    /// The remaining item that beats most of the others.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        *out = ItemId::new(self.counts.most_beating(&self.items, Ties::draw(rng)));
    }
}
