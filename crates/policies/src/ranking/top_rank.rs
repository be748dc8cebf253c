use crate::checked::with_state;
use crate::coin::draw_in_order;
use crate::error::check_counts;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::{Decision, Error, Select, Update};
use click_models::{ItemId, ItemSet, ListFeedback, ListShape, Ranking};
use confidence::math::ln;
use num_traits::ToPrimitive as _;
use rand::Rng;
use std::ops::Range;

with_state! {
/// `TopRank`: safe ranking, for any users to whom the top positions are worth most.
///
/// Items stand in ordered blocks, at the start in one block. Every round shuffles each block
/// uniformly. So of two items of one block the more attractive one collects more clicks, for any
/// pattern of examination. For items `i`, `j` of one block let `S_ij` be the sum of `C_i - C_j`
/// over the rounds, with `C = 1` for a click, and `N_ij` the sum of `|C_i - C_j|`. Item `i` beats
/// `j` if `N_ij > 0` and `S_ij >= sqrt(2 N_ij ln(3.43 sqrt(N_ij) T))`. The first block contains the
/// items that no item beats, the second block those that no item outside the first block beats, and
/// so on.
///
/// Reference: Lattimore, Kveton, Li, Szepesvari, *`TopRank`: a practical algorithm for online
/// stochastic ranking*, Neural Information Processing Systems 2018, Algorithm 1 with
/// `delta = 1 / T`. Deviations: none in the lists shown; blocks below the list are not computed.
/// The paper stores which item beat which, this code derives it from the counts: an item that has
/// beaten another stands in a higher block, and counts change inside blocks only. (Damaged counts
/// may have a cycle; the items left then form one block.)
///
/// The decision's note is the number of the partition into blocks. Feedback on older partitions is
/// ignored, which does not depend on the click. Blocks stand from the top down: if lower positions
/// are worth most, the right order stands at the wrong positions.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `wins` | `(N_ij + S_ij) / 2` | `n_items` x `n_items` | rounds with a click on i and none on j |
/// | `beaten_by` | `G_t` | `n_items` x `n_items` | - |
/// | `blocks` | `P_t1`, `P_t2`, .. | - | items |
/// | `scale` | `3.43 / delta` | - | - |
///
/// Blocks are rebuilt when an item beats another for the first time: O(`n_items`^2 / 64) for each
/// block shown. Memory: 16 bytes a pair of items.
pub struct TopRank {
    shape: ListShape,
    horizon: u64,
    /// Number of the partition into blocks, from 1; the note of decisions drawn from it.
    epoch: u64,
    /// Row by row: rounds with a click on the row's item and none on the column's, of one block.
    wins: Vec<u64>,
} derived {
    /// Number of wins before which the row's item certainly does not beat the column's.
    due: Vec<u64> = vec![0; wins.len()],
    /// By item.
    beaten_by: Vec<ItemSet> = vec![ItemSet::none(shape.n_items()); shape.n_items()],
    blocks: Blocks = Blocks::new(shape),
    clicked: ItemSet = ItemSet::none(shape.n_items()),
    // Any horizon is accepted, also one that means "unknown": a plain conversion.
    scale: f64 = 3.43 * horizon.max(1) as f64,
} then judge_all
}

impl TopRank {
    /// A fresh policy for `horizon` rounds; it may be played for longer.
    pub fn new(shape: ListShape, horizon: u64) -> Self {
        let wins = vec![0; shape.n_items() * shape.n_items()];
        Self::assemble(State { shape, horizon, epoch: 1, wins })
    }

    fn judge_all(&mut self) {
        let n_items = self.shape.n_items();
        for (winner, loser) in (0..n_items).flat_map(|item| (0..n_items).map(move |other| (item, other))) {
            self.judge(winner, loser);
        }
        self.blocks.rebuild(self.shape, &self.beaten_by);
    }

    /// Tests whether `winner` beats `loser`; if not, computes after which win to test again.
    fn judge(&mut self, winner: usize, loser: usize) -> bool {
        let n_items = self.shape.n_items();
        let (pair, opposite) = (winner * n_items + loser, loser * n_items + winner);
        let won = self.wins[pair];
        let missing = missing(won, self.wins[opposite], self.scale);
        self.due[pair] = missing.map_or(u64::MAX, |wins| won + wins);
        if missing.is_none() {
            self.beaten_by[loser].insert(ItemId::from_index(winner));
        }
        missing.is_none()
    }

    /// Counts a click on `item` against unclicked items of its block. Returns whether it beats one
    /// now.
    #[inline]
    fn count(&mut self, item: usize) -> bool {
        let Some(block) = self.blocks.of(item) else { return false };
        let n_items = self.shape.n_items();
        let mut news = false;
        for place in block {
            let other = self.blocks.items[place];
            if self.clicked.contains(ItemId::new(other)) {
                continue;
            }
            let pair = item * n_items + other as usize;
            self.wins[pair] += 1;
            if self.wins[pair] >= self.due[pair] {
                news |= self.judge(item, other as usize);
            }
        }
        news
    }
}

/// The wins still needed at least with `won` of `won + lost`; `None` if the item beats it.
///
/// The threshold rises with every win, so this many are missing at least.
fn missing(won: u64, lost: u64, scale: f64) -> Option<u64> {
    if won + lost == 0 {
        return Some(1);
    }
    let differing = float(won + lost);
    let bar = (2.0 * differing * ln(scale * differing.sqrt())).sqrt();
    let lead = float(won) - float(lost);
    // Positive and far below 2^53.
    if lead >= bar { None } else { Some((bar - lead).to_u64().unwrap_or(0).max(1)) }
}

restored!(TopRank, |saved| {
    if saved.wins.len() != saved.shape.n_items() * saved.shape.n_items() {
        return Err(Error::SavedSizes);
    }
    check_counts(saved.epoch, &saved.wins, &saved.wins)?;
    Ok(Self::assemble(saved))
});

setup!(TopRank, &["/horizon"], |policy| [policy.shape.n_items(), policy.shape.n_positions()]);

impl Select<Ranking> for TopRank {
    /// The number of the current partition.
    type Note = u64;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, u64>) {
        out.note = self.epoch;
        let list = out.action.positions_mut(self.shape.n_positions());
        let Blocks { items, ends, .. } = &mut self.blocks;
        let mut start = 0;
        for &end in ends.iter() {
            let shown = end.min(list.len());
            draw_in_order(&mut items[start..end], &mut list[start..shown], rng);
            start = end;
        }
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl<F: ListFeedback> Update<Ranking, F> for TopRank {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking, u64>, feedback: &F) {
        if decision.note != self.epoch {
            return;
        }
        let clicks = feedback.list_clicks();
        let n_items = self.shape.n_items();
        let is_clicked = |&(position, item): &(usize, ItemId)| clicks.get(position) && item.index() < n_items;
        let clicked = || decision.action.by_position().filter(is_clicked).map(|(_, item)| item);
        clicked().for_each(|item| _ = self.clicked.insert(item));
        let mut news = false;
        for item in clicked() {
            news |= self.count(item.index());
        }
        clicked().for_each(|item| _ = self.clicked.remove(item));
        if news {
            self.blocks.rebuild(self.shape, &self.beaten_by);
            self.epoch += 1;
        }
    }
}

/// The blocks that the list reaches, from the top down.
#[derive(Debug, Clone)]
struct Blocks {
    /// Items block by block, by number inside a block.
    items: Vec<u32>,
    /// End of every block.
    ends: Vec<usize>,
    /// Block of every item; one past the last block for those below.
    block_of: Vec<u32>,
    /// Buffer: the items left while blocks are built.
    left: ItemSet,
}

impl Blocks {
    fn new(shape: ListShape) -> Self {
        let n_items = shape.n_items();
        Self {
            items: Vec::with_capacity(n_items),
            ends: Vec::with_capacity(shape.n_positions()),
            block_of: vec![0; n_items],
            left: ItemSet::none(n_items),
        }
    }

    /// Range of the block of `item`; `None` if the list does not reach it.
    fn of(&self, item: usize) -> Option<Range<usize>> {
        let block = self.block_of[item] as usize;
        let end = *self.ends.get(block)?;
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        Some(start..end)
    }

    fn rebuild(&mut self, shape: ListShape, beaten_by: &[ItemSet]) {
        self.items.clear();
        self.ends.clear();
        for item in 0..shape.n_items() {
            self.left.insert(ItemId::from_index(item));
        }
        let mut block = 0;
        while self.items.len() < shape.n_positions() {
            let start = self.items.len();
            let is_unbeaten = |item: &ItemId| beaten_by[item.index()].is_disjoint(&self.left);
            self.items.extend(self.left.iter().filter(is_unbeaten).map(ItemId::number));
            if self.items.len() == start {
                // A cycle.
                self.items.extend(self.left.iter().map(ItemId::number));
            }
            for &item in &self.items[start..] {
                self.left.remove(ItemId::new(item));
                self.block_of[item as usize] = block;
            }
            self.ends.push(self.items.len());
            block += 1;
        }
        for item in self.left.iter() {
            self.block_of[item.index()] = block;
        }
    }
}
