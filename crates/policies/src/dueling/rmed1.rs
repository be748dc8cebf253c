use super::counts::DuelCounts;
use crate::checked::with_state;
use crate::error::are_distinct;
use crate::exact::{float, number};
use crate::largest::Largest;
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::{Rate, bernoulli_kl};
use rand::Rng;

with_state! {
/// RMED1: compares every item again until another one clearly beats it.
///
/// With `p_ij` the share of duels that item i won against j and `n_ij` their number, the evidence
/// against item i is
///
/// ```text
/// I_i = sum over j with p_ij <= 1/2 of n_ij d(p_ij, 1/2)
/// ```
///
/// and the *leader* is the item of least evidence. First every pair is compared once. Then the
/// policy passes over a list of items again and again. An item is compared with the leader if it
/// has not beaten the leader, or if it has beaten all others; otherwise it is compared with the
/// item that beat it most. An item enters the list of the next pass, once, as soon as
/// `I_i - min I <= ln t + f(K)`, `f(K) = 0.3 K^1.01`. In the long run the list contains only the
/// leader, which is compared with itself.
///
/// Reference: Komiyama, Honda, Kashima, Nakagawa, *Regret lower bound and optimal algorithm in
/// dueling bandit problem*, COLT 2015, Algorithms 1 and 2 (RMED1); `f` is the one of its section 5.
/// Deviations: none. Readings: the order of a pass is by the items' numbers; the condition for the
/// next pass is tested when the pair is chosen, with the feedback received by then. A pair without
/// feedback counts as a draw, `p_ij = 1/2`.
///
/// Without a Condorcet winner evidence grows against every item. Even items that all others beat
/// return to the list at a constant rate, an item of the top cycle leads, and regret grows
/// linearly.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `evidence` | `I_i(t)` | K | nats / 2^64 |
/// | `n_not_beaten` | size of `O-hat_i(t)` | K | items |
/// | `pass`, from `place` on | `L_C`, `L_R` | at most K | item |
/// | `next` | `L_N` | at most K | item |
/// | `slack` | `f(K)` | - | nats |
///
/// Numerics: the terms of the evidence are rounded to 2^-64 nats and added as integers, so the sum
/// does not depend on the order of the duels. It is then rounded to 53 bits: equal evidence ties,
/// and ties are random. Memory: 16 bytes an ordered pair.
pub struct Rmed1 {
    counts: DuelCounts,
    /// The items of this pass, in order; those before `place` are done.
    pass: Vec<u32>,
    place: usize,
    /// The items of the next pass, in any order.
    next: Vec<u32>,
} derived {
    /// Whether an item is still to come in this pass, or is listed for the next one.
    is_listed: Vec<bool> = {
        let mut is_listed = vec![false; counts.shape.n_items()];
        pass[place..].iter().chain(&next).for_each(|&item| is_listed[item as usize] = true);
        is_listed
    },
    /// Lower bound of the evidence against any unlisted item, beyond the leader's.
    nearest: f64 = f64::NEG_INFINITY,
    evidence: Vec<u128> = {
        // A pair of an item with itself has no duels.
        let terms = counts.table(|wins, losses| term(wins, wins + losses));
        terms.chunks_exact(is_listed.len()).map(|row| row.iter().sum()).collect()
    },
    /// The evidence in nats, negative: the leader has the largest.
    leaders: Largest = Largest::new(evidence.iter().map(|&units| -nats(units)).collect()),
    n_not_beaten: Vec<u32> =
        counts.shape.items().map(|item| number(is_listed.len() - 1 - counts.n_beaten(item))).collect(),
    /// The share of duels that a row's item lost against the column's; negative on the diagonal.
    lost: Vec<f64> = {
        let mut lost = counts.table(|wins, losses| share(losses, wins + losses));
        lost.iter_mut().step_by(is_listed.len() + 1).for_each(|lost| *lost = f64::NEG_INFINITY);
        lost
    },
    slack: f64 = 0.3 * libm::pow(is_listed.len() as f64, 1.01),
} then make_room
}

/// `2^64`.
const UNITS: f64 = 18_446_744_073_709_551_616.0;

/// Contribution of one opponent to the evidence against an item.
#[inline]
fn term(wins: u64, duels: u64) -> u128 {
    if 2 * wins >= duels {
        return 0;
    }
    let duels = float(duels);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and below 2^128"
    )]
    let units = (duels * bernoulli_kl(float(wins) / duels, 0.5) * UNITS) as u128;
    units
}

/// The contribution before the first duel, which counts as a draw.
fn share(wins: u64, duels: u64) -> f64 {
    if duels == 0 { 0.5 } else { float(wins) / float(duels) }
}

fn nats(units: u128) -> f64 {
    units as f64 * (1.0 / UNITS)
}

impl Rmed1 {
    /// A fresh policy.
    pub fn new(shape: DuelShape) -> Self {
        let pass = (0..).take(shape.n_items()).collect();
        Self::assemble(State { counts: DuelCounts::new(shape), pass, place: 0, next: vec![] })
    }

    fn make_room(&mut self) {
        for items in [&mut self.pass, &mut self.next] {
            items.reserve_exact(self.is_listed.len() - items.len());
        }
    }

    #[inline]
    fn opponent(&mut self, item: usize, leader: usize, ties: Ties) -> usize {
        let is_beaten = |other: usize| 2 * self.counts.wins(item, other) > self.counts.duels(item, other);
        if self.n_not_beaten[item] == 0 || (item != leader && !is_beaten(leader)) {
            return leader;
        }
        let row = &self.lost[item * self.is_listed.len()..][..self.is_listed.len()];
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let beat_most = (0..).zip(row).filter(|(_, lost)| **lost == most).map(|(other, _)| other);
        ties.first(beat_most, |_| most).map_or(leader, |other| other as usize)
    }

    /// Lists the items for the next pass. `passed` has just left the list.
    #[inline]
    fn list(&mut self, passed: usize) {
        let bar = Rate::LOG.level(self.counts.rounds.get()) + self.slack;
        self.is_listed[passed] = false;
        if self.nearest <= bar {
            self.nearest = f64::INFINITY;
            for item in 0..self.evidence.len() {
                if !self.is_listed[item] {
                    self.consider(item, bar);
                }
            }
        } else {
            self.consider(passed, bar);
        }
    }

    #[inline]
    fn consider(&mut self, item: usize, bar: f64) {
        let excess = self.leaders.best - self.leaders.numbers[item];
        if excess <= bar {
            self.is_listed[item] = true;
            self.next.push(number(item));
        } else {
            self.nearest = self.nearest.min(excess);
        }
    }
}

/// The unordered pair with this number, from 0 on; `None` if there are fewer.
fn unordered_pair(mut place: u64, n_items: usize) -> Option<Pair> {
    for first in 0..n_items {
        let others = (n_items - 1 - first) as u64;
        if place < others {
            let second = first + 1 + usize::try_from(place).ok()?;
            return Some(Pair::new(ItemId::from_index(first), ItemId::from_index(second)));
        }
        place -= others;
    }
    None
}

restored!(Rmed1, |saved| {
    let n_items = saved.counts.shape.n_items();
    let in_order = saved.pass.windows(2).all(|pair| pair[0] < pair[1]);
    let listed = saved.pass.get(saved.place..).ok_or(Error::SavedLeft)?;
    let are_distinct = are_distinct(listed.iter().chain(&saved.next).map(|&item| item as usize), n_items);
    let is_known = saved.pass.last().is_none_or(|&item| (item as usize) < n_items);
    // An unlisted item was in this pass, or the leader was listed for the next one at its end.
    if !are_distinct || !in_order || !is_known || (listed.is_empty() && saved.next.is_empty()) {
        return Err(Error::SavedLeft);
    }
    Ok(Self::assemble(saved))
});

setup!(Rmed1, &[], |policy| policy.counts.sizes());

impl Select<Pair> for Rmed1 {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let before = self.counts.rounds.next() - 1;
        let ties = Ties::draw(rng);
        let n_items = self.evidence.len();
        let n_pairs = (n_items * (n_items - 1) / 2) as u64;
        if before < n_pairs {
            if let Some(pair) = unordered_pair(before, n_items) {
                out.action = pair;
            }
            return;
        }
        let leader = self.leaders.select(ties);
        if self.place == self.pass.len() {
            std::mem::swap(&mut self.pass, &mut self.next);
            self.pass.sort_unstable();
            self.next.clear();
            self.place = 0;
        }
        let item = self.pass[self.place] as usize;
        self.place += 1;
        let opponent = self.opponent(item, leader, ties);
        self.list(item);
        out.action = Pair::new(ItemId::from_index(item), ItemId::from_index(opponent));
    }
}

impl Update<Pair, DuelOutcome> for Rmed1 {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Some((winner, loser)) = self.counts.record(decision.action, *feedback) else { return };
        let (won, lost) = (self.counts.wins(winner, loser), self.counts.wins(loser, winner));
        for (item, wins_before, wins, losses) in [(winner, won - 1, won, lost), (loser, lost, lost, won)] {
            let (before, now) = (won + lost - 1, won + lost);
            self.evidence[item] += term(wins, now);
            self.evidence[item] -= term(wins_before, before);
            self.leaders.set(item, -nats(self.evidence[item]));
            self.lost[item * self.is_listed.len() + winner + loser - item] = share(losses, now);
            let was_beaten = 2 * wins_before > before;
            let is_beaten = wins > losses;
            self.n_not_beaten[item] += u32::from(was_beaten);
            self.n_not_beaten[item] -= u32::from(is_beaten);
        }
        self.nearest = f64::NEG_INFINITY;
    }
}

impl Recommend<ItemId> for Rmed1 {
    /// The leader.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        let numbers = &self.leaders.numbers;
        let leader = Ties::draw(rng).first(0..number(numbers.len()), |item| numbers[item as usize]);
        *out = ItemId::new(leader.unwrap_or(0));
    }
}
