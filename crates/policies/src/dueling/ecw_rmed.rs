#[cfg(test)]
mod tests;

use super::counts::DuelCounts;
use crate::checked::with_state;
use crate::error::are_distinct;
use crate::exact::{float, number};
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Error, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use confidence::math::ln;
use confidence::{NonNegative, Rate, bernoulli_kl};
use rand::Rng;

with_state! {
/// ECW-RMED: compares a pair until its duels are as many as a winner of least cost needs.
///
/// Item i's *superiors* `S_i` beat it in more than half of their duels, its *inferiors* `I_i` lose.
/// With `L_i` superiors of item i, the Copeland winners have the fewest, L. `d_ij` is the
/// divergence of the share of i's wins against j from 1/2, `N_ij` the number of their duels, and
/// `r_ij = (L_i + L_j - 2 L) / (2 (K - 1))` the regret of comparing them, all by the duels so far.
///
/// The policy plays in passes. A pass begins with the pairs for which `N_ij < alpha sqrt(ln t)` or
/// `|share - 1/2| < beta / ln ln t`, where the share is that of one item's wins; each of them is
/// compared once. The pass then plays its list of pairs. The list of the first pass contains every
/// pair of different items.
///
/// After each comparison from its list, a pass adds pairs to the list of the next pass:
///
/// - If the *evidence* of some winner suffices, it adds the comparison of that winner with itself.
/// - Otherwise it adds, for the winner w whose *plan* costs least, the comparison of w with itself
///   and the pairs with fewer duels than `e_ij ln t / d_ij`.
///
/// A pair is not added if it is still to come in this pass, or is already on the list.
///
/// The *evidence* of a winner w suffices if it rules out every case in which another item i has at
/// most l superiors and w at least l + 1. The number l runs from `max(0, L - 1)` to the second
/// smallest number of superiors, which is L if there are several winners. For given i and l, some
/// pairs would have to be the other way round than their duels show:
///
/// - w and `l + 1 - L` of its inferiors;
/// - i and `L_i - l` of its superiors other than w, or one fewer if i is among those inferiors of
///   w.
///
/// The case is ruled out if `sum N d >= ln t` over these pairs, whichever inferiors and superiors
/// are chosen.
///
/// The *plan* of a winner w gives a number `e_ij` to every pair, 0 unless one of two rules applies:
///
/// - `e_wj = 1` for every inferior j of w.
/// - For every other item i, let n be the number of its superiors other than w, and
///   `k = n - (L_i - L + 1)`. If k is not negative, sort these superiors j by `r_ij / d_ij`,
///   smallest first. The first h of them get `e_ij = 1 / (h - k)`, for the `h > k` of least cost.
///
/// The cost of a plan is the sum of `e r / d` over all pairs.
///
/// Reference: Komiyama, Honda, Nakagawa, *Copeland dueling bandit problem: regret lower bound,
/// optimal algorithm, and computationally efficient algorithm*, ICML 2016, Algorithm 1 with
/// equations (3) to (5); `alpha = 3` and `beta = 0.01` are of its experiments. Its regret is at
/// most `C ln T` for the cost C of the cheapest plan (Theorem 5), which with two or more winners is
/// the lower bound (Theorem 6). Deviations: in the paper, `(w, w)` is listed only if it is
/// among the pairs of different items, which it never is; here it is always listed. Readings: the
/// order of a pass is by the items' numbers; `e` is clipped at 1 in the test of the evidence (which
/// changes nothing); in rounds 1 and 2, where `ln ln t` is not positive, every pair is compared; a
/// share of 1/2 makes neither a superior nor an inferior. If several winners have sufficient
/// evidence, or equal cost, one is drawn. The paper recommends nothing; here the recommendation is
/// the winner that would be compared with itself next. A pair without feedback counts as a draw.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `n_superiors` | `L_i` | K | items |
/// | `evidence` | `N_ij d_ij` | K x K | nats |
/// | `winners`, `room` | empirical winners, and the `ln t` up to which their evidence suffices | at most K | item, nats |
/// | `need` | `q_ij = e_ij / d_ij` | K x K, below the diagonal | duels per nat |
/// | `pass`, from `place` on | `L_C`, `L_R` | pairs | pair |
/// | `next` | `L_N` | pairs | pair |
///
/// Numerics: a set of duels is as good as its least evidence, so sets are prefixes of sorted
/// evidence, summed from the least on. Memory: 40 bytes an ordered pair.
pub struct EcwRmed {
    counts: DuelCounts,
    alpha: NonNegative,
    beta: NonNegative,
    /// The next pair to be tested for the beginning of this pass; none after the beginning.
    opening: Option<u32>,
    /// The pairs of this pass, in order; those before `place` are done.
    pass: Vec<u32>,
    place: usize,
    /// The pairs of the next pass, in any order.
    next: Vec<u32>,
    /// Whether a pair of this pass has been chosen and what follows it has not been listed.
    is_pending: bool,
} derived {
    /// Whether a pair is still to come in this pass, or is listed for the next one.
    is_listed: Vec<bool> = {
        let mut is_listed = vec![false; counts.shape.n_items() * counts.shape.n_items()];
        pass[place..].iter().chain(&next).for_each(|&pair| is_listed[pair as usize] = true);
        is_listed
    },
    /// The `ln t` up to which no pair is compared at the beginning of a pass, if no count changes.
    quiet_until: f64 = f64::NEG_INFINITY,
    evidence: Vec<f64> = vec![0.0; is_listed.len()],
    /// The divergence from 1/2.
    divergence: Vec<f64> = vec![0.0; is_listed.len()],
    n_superiors: Vec<u32> = vec![0; counts.shape.n_items()],
    /// Winners, and the `ln t` up to which their evidence suffices; empty if counts changed.
    winners: Vec<(u32, f64)> = Vec::with_capacity(n_superiors.len()),
    /// The winners of least cost; empty if counts have changed.
    cheapest: Vec<u32> = Vec::with_capacity(n_superiors.len()),
    /// The plan of the winner `planned`.
    need: Vec<f64> = vec![0.0; is_listed.len()],
    planned: Option<u32> = None,
    inferiors: Vec<(f64, u32)> = Vec::with_capacity(n_superiors.len()),
    superiors: Vec<(f64, u32)> = Vec::with_capacity(n_superiors.len()),
} then look_at_all
}

impl EcwRmed {
    /// A fresh policy with the parameters of the paper's experiments.
    pub fn new(shape: DuelShape) -> Self {
        Self::with_parameters(shape, Self::default_alpha(), Self::default_beta())
    }

    /// A fresh policy.
    pub fn with_parameters(shape: DuelShape, alpha: NonNegative, beta: NonNegative) -> Self {
        let n_items = shape.n_items();
        let pairs = (0..n_items).flat_map(|i| (0..i).map(move |j| number(i * n_items + j)));
        let mut pass: Vec<u32> = pairs.collect();
        if pass.is_empty() {
            pass.push(0);
        }
        let counts = DuelCounts::new(shape);
        Self::assemble(State {
            counts,
            alpha,
            beta,
            opening: Some(0),
            pass,
            place: 0,
            next: vec![],
            is_pending: false,
        })
    }

    /// 3.
    pub fn default_alpha() -> NonNegative {
        NonNegative::from_count(3)
    }

    /// 0.01.
    pub fn default_beta() -> NonNegative {
        NonNegative::new(0.01).unwrap_or(NonNegative::ZERO)
    }

    /// Makes room for passes, and computes what depends on the duels of any pair.
    fn look_at_all(&mut self) {
        let n_items = self.n_items();
        for pairs in [&mut self.pass, &mut self.next] {
            pairs.reserve_exact(n_items * (n_items + 1) / 2 - pairs.len());
        }
        for i in 0..n_items {
            for j in (0..n_items).filter(|&j| j != i) {
                self.look_at(i, j);
                self.n_superiors[i] += u32::from(self.is_beaten(i, j));
            }
        }
    }

    fn n_items(&self) -> usize {
        self.n_superiors.len()
    }

    /// Returns whether `other` is a superior of `item`.
    fn is_beaten(&self, item: usize, other: usize) -> bool {
        self.counts.leads(other, item)
    }

    /// Computes what depends on the duels of a pair.
    fn look_at(&mut self, i: usize, j: usize) {
        let duels = self.counts.duels(i, j);
        let n_items = self.n_items();
        // The same bits for both orders.
        let wins = self.counts.wins(i, j).max(self.counts.wins(j, i));
        // Positive where one is a superior of the other.
        let divergence = if 2 * wins == duels {
            0.0
        } else {
            bernoulli_kl(float(wins) / float(duels), 0.5).max(f64::MIN_POSITIVE)
        };
        for cell in [i * n_items + j, j * n_items + i] {
            self.divergence[cell] = divergence;
            self.evidence[cell] = float(duels) * divergence;
        }
    }

    /// The first pair from number `from` on that is compared at the beginning of a pass.
    fn too_few(&mut self, from: usize, round: u64) -> Option<usize> {
        let level = Rate::LOG.level(round);
        if level <= self.quiet_until {
            return None;
        }
        let n_items = self.n_items();
        let (least, close) = (self.alpha.get() * level.sqrt(), self.beta.get() / ln(level));
        let mut quiet_until = f64::INFINITY;
        for i in from / n_items..n_items {
            for j in from.saturating_sub(i * n_items)..i {
                let (wins, duels) = (self.counts.wins(i, j), float(self.counts.duels(i, j)));
                let share = if duels == 0.0 { 0.5 } else { float(wins) / duels };
                if round < 3 || duels < least || (share - 0.5).abs() < close {
                    return Some(i * n_items + j);
                }
                let enough = duels / self.alpha.get();
                quiet_until = quiet_until.min(enough * enough);
            }
        }
        if from == 0 {
            // While no pair is below `least`, none gets below `close`, which falls. Less, for
            // rounding.
            self.quiet_until = quiet_until * (1.0 - 1e-9);
        }
        None
    }

    /// The winners, and how far their evidence goes.
    fn find_winners(&mut self) {
        let fewest = self.n_superiors.iter().copied().min().unwrap_or(0);
        self.winners.clear();
        for item in 0..self.n_items() {
            if self.n_superiors[item] == fewest {
                let room = self.room(item);
                self.winners.push((number(item), room));
            }
        }
    }

    /// The `ln t` up to which the evidence of a winner suffices.
    fn room(&mut self, winner: usize) -> f64 {
        let n_items = self.n_items();
        let others = (0..n_items).filter(|&item| item != winner);
        let fewest = self.n_superiors[winner];
        let second = others.clone().map(|item| self.n_superiors[item]).min().unwrap_or(fewest);
        let mut inferiors = std::mem::take(&mut self.inferiors);
        let mut superiors = std::mem::take(&mut self.superiors);
        let evidence = |i: usize, j: usize| self.evidence[i * n_items + j];
        inferiors.clear();
        inferiors.extend(
            others.clone().filter(|&j| self.is_beaten(j, winner)).map(|j| (evidence(winner, j), number(j))),
        );
        sort(&mut inferiors);
        let mut room = f64::INFINITY;
        for item in others {
            superiors.clear();
            let of_item = (0..n_items).filter(|&j| j != item && j != winner && self.is_beaten(item, j));
            superiors.extend(of_item.map(|j| (evidence(item, j), number(j))));
            sort(&mut superiors);
            let is_inferior = self.is_beaten(item, winner);
            let rest = || inferiors.iter().filter(|&&(_, other)| other != number(item));
            for l in fewest.saturating_sub(1)..=second {
                let n_inferiors = (l + 1 - fewest) as usize;
                for own in [false, true] {
                    let n_superiors = self.n_superiors[item].saturating_sub(l + u32::from(own)) as usize;
                    let (n_rest, n_others) =
                        (inferiors.len() - usize::from(is_inferior), n_inferiors.checked_sub(own.into()));
                    let Some(n_others) = n_others.filter(|&n| n <= n_rest) else { continue };
                    if (own && !is_inferior) || n_superiors > superiors.len() {
                        continue;
                    }
                    let first = if own { evidence(winner, item) } else { 0.0 };
                    let of_rest = rest().take(n_others).map(|&(evidence, _)| evidence);
                    let of_superiors = superiors[..n_superiors].iter().map(|&(evidence, _)| evidence);
                    room = room.min(of_rest.chain(of_superiors).fold(first, |sum, evidence| sum + evidence));
                }
            }
        }
        (self.inferiors, self.superiors) = (inferiors, superiors);
        room
    }

    /// Writes the plan of a winner to `need` and returns its cost.
    fn plan(&mut self, winner: usize) -> f64 {
        let n_items = self.n_items();
        let fewest = self.n_superiors[winner];
        let others = (0..n_items).filter(|&item| item != winner);
        let regret = |i: usize, j: usize| {
            f64::from(self.n_superiors[i] + self.n_superiors[j] - 2 * fewest) / (2.0 * (n_items - 1) as f64)
        };
        let cost = |i: usize, j: usize| regret(i, j) / self.divergence[i * n_items + j];
        let mut superiors = std::mem::take(&mut self.superiors);
        let mut need = std::mem::take(&mut self.need);
        need.fill(0.0);
        let mut total = 0.0;
        let mut ask = |i: usize, j: usize, share: f64| {
            need[i.max(j) * n_items + i.min(j)] = share / self.divergence[i * n_items + j];
        };
        for item in others.clone().filter(|&item| self.is_beaten(item, winner)) {
            ask(winner, item, 1.0);
            total += cost(winner, item);
        }
        for item in others {
            superiors.clear();
            let of_item = (0..n_items).filter(|&j| j != item && j != winner && self.is_beaten(item, j));
            superiors.extend(of_item.map(|j| (cost(item, j), number(j))));
            sort(&mut superiors);
            let more = (self.n_superiors[item] - fewest) as usize + 1;
            let Some(spare) = superiors.len().checked_sub(more) else { continue };
            let (mut sum, mut least, mut n_first) = (0.0, f64::INFINITY, 0);
            for (place, &(cost, _)) in superiors.iter().enumerate() {
                sum += cost;
                if place >= spare && sum / ((place + 1 - spare) as f64) < least {
                    (least, n_first) = (sum / (place + 1 - spare) as f64, place + 1);
                }
            }
            for &(_, other) in &superiors[..n_first] {
                ask(item, other as usize, 1.0 / (n_first - spare) as f64);
            }
            total += least;
        }
        (self.superiors, self.need) = (superiors, need);
        self.planned = Some(number(winner));
        total
    }

    fn find_cheapest(&mut self) {
        self.cheapest.clear();
        let mut least = f64::INFINITY;
        for place in 0..self.winners.len() {
            let winner = self.winners[place].0;
            let cost = self.plan(winner as usize);
            if cost < least {
                self.cheapest.clear();
                least = cost;
            }
            if cost <= least {
                self.cheapest.push(winner);
            }
        }
    }

    /// Lists for the next pass what follows a comparison.
    fn list(&mut self, level: f64, ties: Ties) {
        let Some((winner, suffices)) = self.incumbent(level, ties) else { return };
        if !suffices {
            if self.planned != Some(winner) {
                self.plan(winner as usize);
            }
            for i in 0..self.n_items() {
                for j in 0..i {
                    if self.need[i * self.n_items() + j] * level > float(self.counts.duels(i, j)) {
                        self.list_pair(i, j);
                    }
                }
            }
        }
        self.list_pair(winner as usize, winner as usize);
    }

    /// The winner to compare with itself, and whether its evidence suffices.
    fn incumbent(&mut self, level: f64, ties: Ties) -> Option<(u32, bool)> {
        if self.winners.is_empty() {
            self.find_winners();
        }
        let sufficing = self.winners.iter().filter(|(_, room)| level <= *room);
        if let Some(winner) = ties.first(sufficing.map(|&(winner, _)| winner), |_| 0.0) {
            return Some((winner, true));
        }
        if self.cheapest.is_empty() {
            self.find_cheapest();
        }
        ties.first(self.cheapest.iter().copied(), |_| 0.0).map(|winner| (winner, false))
    }

    fn list_pair(&mut self, i: usize, j: usize) {
        let pair = i * self.n_items() + j;
        if !self.is_listed[pair] {
            self.is_listed[pair] = true;
            self.next.push(number(pair));
        }
    }

    fn pair(&self, pair: usize) -> Pair {
        let n_items = self.n_items();
        Pair::new(ItemId::from_index(pair / n_items), ItemId::from_index(pair % n_items))
    }
}

/// By value, and then by number.
fn sort(items: &mut [(f64, u32)]) {
    items.sort_unstable_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b)));
}

restored!(EcwRmed, |saved| {
    let n_items = saved.counts.shape.n_items();
    let to_come = saved.pass.get(saved.place..).ok_or(Error::SavedLeft)?;
    let is_pair =
        |pair: u32| (pair as usize) < n_items * n_items && pair as usize % n_items <= pair as usize / n_items;
    let listed = || to_come.iter().chain(&saved.next).copied();
    let are_pairs =
        listed().all(is_pair) && are_distinct(listed().map(|pair| pair as usize), n_items * n_items);
    let in_order = saved.pass.windows(2).all(|pairs| pairs[0] < pairs[1]);
    let is_known = saved.pass.iter().all(|&pair| is_pair(pair))
        && saved.opening.is_none_or(|pair| (pair as usize) < n_items * n_items);
    // A pass opens with pairs to come, and ends with some for the next one.
    let is_stuck = saved.opening.is_some() || (saved.next.is_empty() && !saved.is_pending);
    if !are_pairs || !in_order || !is_known || (to_come.is_empty() && is_stuck) {
        return Err(Error::SavedLeft);
    }
    Ok(Self::assemble(saved))
});

setup!(EcwRmed, &["/alpha", "/beta"], |policy| policy.counts.sizes());

impl Select<Pair> for EcwRmed {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let round = self.counts.rounds.next();
        let ties = Ties::draw(rng);
        if self.is_pending {
            self.is_pending = false;
            self.list(Rate::LOG.level(round - 1), ties);
        }
        if self.opening.is_none() && self.place == self.pass.len() {
            std::mem::swap(&mut self.pass, &mut self.next);
            self.pass.sort_unstable();
            self.next.clear();
            self.place = 0;
            self.opening = Some(0);
        }
        if let Some(from) = self.opening {
            if let Some(pair) = self.too_few(from as usize, round) {
                self.opening = Some(number(pair + 1));
                out.action = self.pair(pair);
                return;
            }
            self.opening = None;
        }
        let pair = self.pass[self.place] as usize;
        self.place += 1;
        self.is_listed[pair] = false;
        self.is_pending = true;
        out.action = self.pair(pair);
    }
}

impl Update<Pair, DuelOutcome> for EcwRmed {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        let Some((winner, loser)) = self.counts.record(decision.action, *feedback) else { return };
        let (won, lost) = (self.counts.wins(winner, loser), self.counts.wins(loser, winner));
        // It caught up, or got ahead.
        self.n_superiors[winner] -= u32::from(won == lost);
        self.n_superiors[loser] += u32::from(won == lost + 1);
        self.look_at(winner, loser);
        self.winners.clear();
        self.cheapest.clear();
        self.planned = None;
        self.quiet_until = f64::NEG_INFINITY;
    }
}

impl Recommend<ItemId> for EcwRmed {
    /// The winner that would be compared with itself next.
    ///
    /// If a close pair is the wrong way round, several items may seem to be winners, and only the
    /// evidence of the true one suffice.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        let ties = Ties::draw(rng);
        // A copy, because winners are found and remembered when the next list is made.
        let incumbent = self.clone().incumbent(Rate::LOG.level(self.counts.rounds.get()), ties);
        *out = ItemId::new(incumbent.map_or(0, |(item, _)| item));
    }
}
