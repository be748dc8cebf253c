use super::counts::DuelCounts;
use super::posterior::{Coins, Upsets};
use crate::checked::with_state;
use crate::exact::{float, number};
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::{NonNegative, Rate};
use rand::Rng;
use std::ops::ControlFlow;

with_state! {
/// D-TS: compares a sampled Copeland winner with the item sampled to beat it most clearly.
///
/// With `p_ij` the share of the `n_ij` duels that item i won against j, and
///
/// ```text
/// u_ij = p_ij + sqrt(alpha ln t / n_ij),    l_ij = p_ij - sqrt(alpha ln t / n_ij),    x/0 := 1,    u_ii = l_ii = 1/2
/// ```
///
/// the candidates are the items with `u_ij > 1/2` for the largest number of items j. For every pair
/// a probability is sampled from `Beta(1 + w_ij, 1 + w_ji)`; the first item is the candidate that
/// beats most others in the samples. Then new samples are drawn of all others against the first
/// item. The second item has the largest sample among the items with `l <= 1/2` against the first;
/// the first item itself takes part with 1/2.
///
/// Reference: Wu and Liu, *Double Thompson sampling for dueling bandits*, `NeurIPS` 2016,
/// Algorithm 1. `alpha` is 0.51 as for RUCB; the analysis needs more. Deviations: only samples that
/// affect the choice are drawn, and most of them only as far as they do (whether they exceed 1/2).
/// Samples are independent, so the choice has the same distribution:
///
/// - A single candidate is the first item for any samples. Among several candidates, one that has
///   lost more samples than another lost in total is out, and its other pairs are not sampled.
/// - A score counts samples above 1/2, and only such samples can make another item than the first
///   the second one. One uniform draw is enough for a clear loser, whose sample is below.
/// - Items with `l > 1/2` against the first cannot be second, and get no sample.
///
/// Without a Condorcet winner a Copeland winner meets itself in the end, and regret against the
/// Copeland winners' score grows with `log T`. Duels count when their feedback arrives.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts` | `B` | K x K | duels |
/// | `openings` | `ln t` at which `u_ij > 1/2` begins | K x K | nats |
/// | `n_open` | `(K - 1) zeta-hat_i` | K | items |
/// | `candidates` | C | at most K | item |
/// | `alpha` | alpha | - | - |
///
/// Numerics: `u_ij > 1/2` is tested as `ln t > (n_ij - 2 w_ij)^2 / (4 alpha n_ij)` if
/// `2 w_ij <= n_ij`; it is true if item i leads or has not met j. A round draws a key for ties.
/// With several candidates it then draws whether samples exceed 1/2, for every pair of the
/// candidate that leads against most others (the first of several), and for the necessary pairs of
/// the others. Then it draws a sample, if above 1/2, for each possible second item. All draws are
/// in the order of the items' numbers. Memory: 32 bytes an ordered pair.
pub struct DoubleTs {
    counts: DuelCounts,
    alpha: NonNegative,
} derived {
    /// The sampler, with the distribution of Beta draws.
    upsets: Upsets = Upsets::new(&counts),
    coins: Coins = Coins::new(&counts),
    openings: Vec<f64> = {
        let mut openings = counts.table(|wins, losses| opening(wins, losses, alpha.get()));
        // An item has no opening against itself.
        openings.iter_mut().step_by(counts.shape.n_items() + 1).for_each(|opening| *opening = f64::INFINITY);
        openings
    },
    n_open: Vec<u32> = vec![0; counts.shape.n_items()],
    /// The next opening of every row; minus infinity if the row has to be recomputed.
    next_in_row: Vec<f64> = vec![f64::NEG_INFINITY; n_open.len()],
    next: f64 = f64::NEG_INFINITY,
    candidates: Vec<u32> = Vec::with_capacity(n_open.len()),
    /// The candidate that leads against most others; the first of several.
    favourite: u32 = 0,
    /// Number of other items against which an item leads.
    n_led: Vec<u32> = counts.shape.items().map(|item| number(counts.n_beaten(item))).collect(),
    /// Buffers: samples lost by each item, and the number of items that its pairs have samples
    /// with.
    lost: Vec<u32> = vec![0; n_open.len()],
    sampled: Vec<usize> = vec![0; n_open.len()],
}
}

impl DoubleTs {
    /// A fresh policy with `alpha = 0.51`.
    pub fn new(shape: DuelShape) -> Self {
        let alpha = NonNegative::new(0.51).unwrap_or(NonNegative::ZERO);
        Self::with_alpha(shape, alpha)
    }

    /// A fresh policy. With `alpha = 0` an item that is behind is never a candidate.
    pub fn with_alpha(shape: DuelShape, alpha: NonNegative) -> Self {
        Self::assemble(State { counts: DuelCounts::new(shape), alpha })
    }

    /// Counts the open bounds of rows that may have changed, and finds the candidates.
    fn look_again(&mut self, level: f64) {
        let n_items = self.n_open.len();
        let rows = self.openings.chunks_exact(n_items).zip(&mut self.next_in_row).zip(&mut self.n_open);
        self.next = f64::INFINITY;
        for ((row, next), n_open) in rows {
            if level > *next {
                *n_open = 0;
                *next = f64::INFINITY;
                for &opening in row {
                    if level > opening {
                        *n_open += 1;
                    } else {
                        *next = next.min(opening);
                    }
                }
            }
            self.next = self.next.min(*next);
        }
        let most = self.n_open.iter().copied().max().unwrap_or(0);
        self.candidates.clear();
        let Self { candidates, n_open, n_led, favourite, .. } = self;
        let mut most_led = None;
        for (item, _) in (0..).zip(n_open).filter(|(_, n_open)| **n_open == most) {
            candidates.push(item);
            if most_led < Some(n_led[item as usize]) {
                most_led = Some(n_led[item as usize]);
                *favourite = item;
            }
        }
    }

    /// The candidate that beats most others in one sample of each pair.
    fn sample_first<R: Rng + ?Sized>(&mut self, ties: Ties, rng: &mut R) -> usize {
        if let [only] = self.candidates[..] {
            return only as usize;
        }
        self.lost.fill(0);
        self.sampled.fill(0);
        let mut best = Best { item: self.favourite, lost: u32::MAX };
        self.sample_candidate(self.favourite, &mut best, ties, rng);
        for place in 0..self.candidates.len() {
            if self.candidates[place] != self.favourite {
                self.sample_candidate(self.candidates[place], &mut best, ties, rng);
            }
        }
        best.item as usize
    }

    /// Samples the pairs of a candidate until it has lost more samples than the best so far.
    fn sample_candidate<R: Rng + ?Sized>(
        &mut self,
        candidate: u32,
        best: &mut Best,
        ties: Ties,
        rng: &mut R,
    ) {
        let Self { lost, sampled, coins, counts, .. } = self;
        let item = candidate as usize;
        let mut own = lost[item];
        if own > best.lost {
            return;
        }
        // No sample against itself; those of other pairs may have been drawn for the other item.
        let n_items = lost.len();
        sampled[item] = n_items;
        let (lost_by, sampled_with) = (&mut lost[..n_items], &sampled[..n_items]);
        let mut out = None;
        coins.toss_all(
            counts,
            item,
            rng,
            |other| sampled_with[other] <= item,
            |other, beats| {
                // Without branches, which would be unpredictable.
                lost_by[other] += u32::from(beats);
                own += u32::from(!beats);
                if own > best.lost {
                    out = Some(other);
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            },
        );
        lost[item] = own;
        if let Some(other) = out {
            sampled[item] = other + 1;
            return;
        }
        if ties.precedes(-f64::from(own), candidate, -f64::from(best.lost), best.item) {
            *best = Best { item: candidate, lost: own };
        }
    }

    /// The item of the largest new sample against `first`, which takes part with 1/2.
    fn sample_second<R: Rng + ?Sized>(&self, first: usize, level: f64, rng: &mut R) -> usize {
        let n_items = self.n_open.len();
        let openings = &self.openings[first * n_items..(first + 1) * n_items];
        let mut best = (0.5, first);
        // Equivalent to u_{first, other} >= 1/2. The first item has no opening against itself.
        let may_win = |other: usize| level >= openings[other];
        self.upsets.draw_all(&self.counts, first, rng, may_win, |other, sample| {
            if sample > best.0 {
                best = (sample, other);
            }
        });
        best.1
    }
}

/// The item that has lost the fewest samples so far.
#[derive(Debug)]
struct Best {
    item: u32,
    lost: u32,
}

/// The `ln t` above which the upper bound of an item against another exceeds 1/2.
#[inline]
fn opening(wins: u64, losses: u64, alpha: f64) -> f64 {
    if wins > losses || (wins == 0 && losses == 0) {
        return f64::NEG_INFINITY;
    }
    let behind = float(losses - wins);
    behind * behind / (4.0 * alpha * float(wins + losses))
}

restored!(DoubleTs, |saved| Ok(Self::assemble(saved)));
setup!(DoubleTs, &["/alpha"], |policy| policy.counts.sizes());

impl Select<Pair> for DoubleTs {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let level = Rate::LOG.level(self.counts.rounds.next());
        let ties = Ties::draw(rng);
        if level > self.next {
            self.look_again(level);
        }
        let first = self.sample_first(ties, rng);
        let second = self.sample_second(first, level, rng);
        out.action = Pair::new(ItemId::from_index(first), ItemId::from_index(second));
    }
}

impl Update<Pair, DuelOutcome> for DoubleTs {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Some((winner, loser)) = self.counts.record(decision.action, *feedback) else { return };
        let n_items = self.n_open.len();
        for (item, other) in [(winner, loser), (loser, winner)] {
            let (wins, losses) = (self.counts.wins(item, other), self.counts.wins(other, item));
            self.openings[item * n_items + other] = opening(wins, losses, self.alpha.get());
            self.next_in_row[item] = f64::NEG_INFINITY;
        }
        self.next = f64::NEG_INFINITY;
        let (won, lost) = (self.counts.wins(winner, loser), self.counts.wins(loser, winner));
        self.n_led[winner] += u32::from(won == lost + 1);
        self.n_led[loser] -= u32::from(won == lost);
        self.upsets.set(&self.counts, winner, loser);
        self.coins.set(&self.counts, winner, loser);
    }
}

impl Recommend<ItemId> for DoubleTs {
    /// The item that beats most others.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        let n_led = |item: u32| f64::from(self.n_led[item as usize]);
        *out = ItemId::new(Ties::draw(rng).first(0..number(self.n_led.len()), n_led).unwrap_or(0));
    }
}
