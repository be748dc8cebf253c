use super::counts::DuelCounts;
use crate::checked::with_state;
use crate::coin::place;
use crate::exact::float;
use crate::setup::{restored, setup};
use crate::{Decision, Recommend, Select, Update};
use click_models::{DuelOutcome, DuelShape, ItemId, ItemSet, Pair};
use confidence::{NonNegative, Rate};
use num_traits::ToPrimitive as _;
use rand::Rng;

with_state! {
/// RUCB: compares an item that may beat all others with the one most likely to beat it.
///
/// At round `t`, with `w_ij` wins of item `i` in its `n` duels with item `j`,
///
/// ```text
/// u_ij = w_ij / n + sqrt(alpha ln t / n),    u_ii = 1/2.
/// ```
///
/// The pool of potential champions has every item `c` with `u_cj >= 1/2` for all `j`. The champion
/// is drawn from the pool, or from all items if the pool is empty. It is compared with the item `d`
/// of largest `u_dc`, which may be `c` itself.
///
/// Reference: Zoghi, Whiteson, Munos, de Rijke, *Relative upper confidence bound for the K-armed
/// dueling bandit problem*, ICML 2014, Algorithm 1. Another version with the same name keeps a
/// hypothesised best item and draws it as champion with probability 1/2; the paper's theorems and
/// experiments are about the algorithm without it. Readings and deviations:
///
/// - *x/0 := 1* (line 3) applies to each term, so a pair without duels has `u = 1 + 1 = 2`. Others
///   read 1. It matters: `sqrt(.51 ln t)`, the bonus after one duel, exceeds both in the end.
///   [`Rucb::with_unseen`] sets the value.
/// - *Any c, arg max* (lines 5 and 6): uniformly at random.
/// - *The horizon T*: after the horizon of [`Rucb::with_horizon`], an item that would be returned
///   is compared with itself, drawn anew among equals in every round. Without a horizon the policy
///   never stops.
/// - *Return*: a pair without duels is no win. A comparison of an item with itself does not count.
///
/// Without a Condorcet winner the pool is often empty, and regret is linear.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `counts` | `w_ij` | K x K | duels |
/// | `alpha` | alpha | - | - |
/// | `unseen` | x/0 + x/0 | - | probability, or more |
/// | `pool` | `{c : u_cj >= 1/2 for all j}` | up to K | items |
///
/// Numerics: `u_ij` is `w_ij / n + sqrt(alpha / n) sqrt(ln t)`, rounded step by step and therefore
/// never decreasing in `t`. *Lazily exact*: `u_ij < 1/2` as long as `sqrt(ln t)` is below
/// `(1/2 - w_ij / n) / sqrt(alpha / n)`, so an item stays out of the pool until the largest of
/// these, and a sole champion meets itself until a round that is computed in advance. Two draws a
/// round give the champion and the winner of a tie, in the order of the items' numbers. Memory:
/// four numbers for each of K^2 pairs.
pub struct Rucb {
    alpha: NonNegative,
    unseen: NonNegative,
    horizon: Option<u64>,
    counts: DuelCounts,
} derived {
    bounds: Bounds = Bounds::new(&counts, alpha.get(), unseen.get()),
    /// `sole` meets itself up to this round if no feedback arrives.
    quiet_until: u64 = 0,
    sole: usize = 0,
    /// After the horizon: the items that would be returned; empty if they have to be computed.
    returned: Vec<ItemId> = Vec::with_capacity(counts.shape.n_items()),
} with #[serde(deny_unknown_fields)]
}

impl Rucb {
    /// A fresh policy without a horizon. Theorems need `alpha` above 1/2 or 1; experiments have
    /// 0.51.
    pub fn new(shape: DuelShape, alpha: NonNegative) -> Self {
        let counts = DuelCounts::new(shape);
        Self::assemble(State { alpha, unseen: NonNegative::from_count(2), horizon: None, counts })
    }

    /// Sets `u_ij` of pairs without duels: 2 in the paper. Below 1/2 they are never compared.
    #[must_use]
    pub fn with_unseen(self, unseen: NonNegative) -> Self {
        let Self { alpha, horizon, counts, .. } = self;
        Self::assemble(State { alpha, unseen, horizon, counts })
    }

    /// Stops exploring after `rounds` rounds.
    #[must_use]
    pub fn with_horizon(self, horizon: u64) -> Self {
        Self { horizon: Some(horizon), ..self }
    }

    /// Draws a champion and finds its opponent.
    fn champion_and_rival(&mut self, round: u64, champion_draw: u64, tie_draw: u64) -> (usize, usize) {
        let root_of_log = root_of_log(round);
        let pool = self.bounds.pool_at(root_of_log);
        let n_champions = pool.len();
        let champion = match pool.nth(place(champion_draw, n_champions)) {
            Some(item) => item.index(),
            None => place(champion_draw, self.counts.shape.n_items()),
        };
        let rival = self.bounds.rival(champion, root_of_log, tie_draw);
        if n_champions == 1 && rival == champion {
            self.sole = champion;
            self.quiet_until = self.bounds.quiet_until(champion);
        }
        (champion, rival)
    }

    /// The items that beat most others.
    fn best(&self) -> impl Iterator<Item = ItemId> + '_ {
        let beaten = |item| self.counts.n_beaten(item);
        let most = self.counts.shape.items().map(beaten).max();
        self.counts.shape.items().filter(move |&item| Some(beaten(item)) == most)
    }
}

restored!(Rucb, |saved| Ok(Self::assemble(saved)));
setup!(Rucb, &["/alpha", "/unseen", "/horizon"], |policy| policy.counts.sizes());

impl Select<Pair> for Rucb {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        let round = self.counts.rounds.next();
        let (champion_draw, tie_draw) = (rng.next_u64(), rng.next_u64());
        let item = |number: usize| ItemId::from_index(number);
        out.action = if self.horizon.is_some_and(|horizon| round > horizon) {
            if self.returned.is_empty() {
                let mut returned = std::mem::take(&mut self.returned);
                returned.extend(self.best());
                self.returned = returned;
            }
            Pair::of_one(self.returned[place(champion_draw, self.returned.len())])
        } else if round <= self.quiet_until {
            Pair::of_one(item(self.sole))
        } else {
            let (champion, rival) = self.champion_and_rival(round, champion_draw, tie_draw);
            Pair::new(item(champion), item(rival))
        };
    }
}

impl Update<Pair, DuelOutcome> for Rucb {
    #[inline]
    fn update(&mut self, decision: &Decision<Pair>, feedback: &DuelOutcome) {
        if let Some((winner, loser)) = self.counts.record(decision.action, *feedback) {
            self.bounds.set(winner, loser, self.counts.wins(winner, loser), self.counts.wins(loser, winner));
            self.quiet_until = 0;
            self.returned.clear();
        }
    }
}

impl Recommend<ItemId> for Rucb {
    /// The item that beat most others in more than half of their duels.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        let n_best = self.best().count();
        if let Some(item) = self.best().nth(place(rng.next_u64(), n_best)) {
            *out = item;
        }
    }
}

fn root_of_log(round: u64) -> f64 {
    Rate::LOG.level(round).sqrt()
}

/// Terms of the rule, updated duel by duel.
#[derive(Debug, Clone)]
struct Bounds {
    n_items: usize,
    alpha: f64,
    /// Length of a row; entries beyond the items are minus infinity.
    stride: usize,
    /// The mean of `j` against `c`; `u_jc` if it does not depend on the round.
    rival_means: Vec<f64>,
    /// `sqrt(alpha / n)`; 0 if `u_jc` does not depend on the round.
    widths: Vec<f64>,
    /// At row `i`, column `j`: the `sqrt(ln t)` from which on `u_ij` is at least 1/2.
    pair_back_at: Vec<f64>,
    /// The largest of every row: from then on the item is in the pool.
    back_at: Vec<f64>,
    /// The pool at `root_of_log`.
    pool: ItemSet,
    root_of_log: f64,
    /// No further item enters the pool below this `sqrt(ln t)`.
    next_back_at: f64,
    /// Buffer of a scan of rivals.
    upper: Vec<f64>,
}

/// Number of entries processed together.
const LANES: usize = 8;

impl Bounds {
    fn new(counts: &DuelCounts, alpha: f64, unseen: f64) -> Self {
        let n_items = counts.shape.n_items();
        let stride = n_items.next_multiple_of(LANES);
        let table = vec![f64::NEG_INFINITY; n_items * stride];
        let mut bounds = Self {
            n_items,
            alpha,
            stride,
            rival_means: table.clone(),
            widths: vec![0.0; n_items * stride],
            pair_back_at: table,
            back_at: vec![f64::NEG_INFINITY; n_items],
            pool: ItemSet::none(n_items),
            root_of_log: f64::NEG_INFINITY,
            next_back_at: f64::NEG_INFINITY,
            upper: vec![f64::NEG_INFINITY; stride],
        };
        let never = if unseen < 0.5 { f64::INFINITY } else { f64::NEG_INFINITY };
        for item in 0..n_items {
            bounds.rival_means[item * stride + item] = 0.5;
            for other in 0..item {
                if counts.duels(item, other) > 0 {
                    bounds.set_pair(item, other, counts.wins(item, other), counts.wins(other, item));
                    continue;
                }
                for pair in [item * stride + other, other * stride + item] {
                    (bounds.rival_means[pair], bounds.pair_back_at[pair]) = (unseen, never);
                }
            }
        }
        for item in 0..n_items {
            bounds.back_at[item] = largest(bounds.row(item));
        }
        bounds
    }

    fn row(&self, item: usize) -> &[f64] {
        &self.pair_back_at[item * self.stride..][..self.stride]
    }

    /// Sets the counts of a pair with at least one duel. Does not update `back_at`.
    #[inline]
    fn set_pair(&mut self, item: usize, other: usize, wins: u64, losses: u64) {
        let (wins, losses) = (float(wins), float(losses));
        let duels = wins + losses;
        let width = (self.alpha / duels).sqrt();
        let (here, there) = (item * self.stride + other, other * self.stride + item);
        let (mean, other_mean) = (wins / duels, losses / duels);
        (self.rival_means[there], self.rival_means[here]) = (mean, other_mean);
        (self.widths[here], self.widths[there]) = (width, width);
        let back_at = |mean: f64| if mean < 0.5 { (0.5 - mean) / width } else { f64::NEG_INFINITY };
        (self.pair_back_at[here], self.pair_back_at[there]) = (back_at(mean), back_at(other_mean));
    }

    /// Sets the counts of a pair.
    #[inline]
    fn set(&mut self, item: usize, other: usize, wins: u64, losses: u64) {
        let (here, there) = (item * self.stride + other, other * self.stride + item);
        let (before, other_before) = (self.pair_back_at[here], self.pair_back_at[there]);
        self.set_pair(item, other, wins, losses);
        self.moved(item, before, self.pair_back_at[here]);
        self.moved(other, other_before, self.pair_back_at[there]);
    }

    /// Updates `back_at` after one entry of the item's row changed.
    #[inline]
    fn moved(&mut self, item: usize, before: f64, after: f64) {
        let last = self.back_at[item];
        let back_at = match after {
            after if after >= last => after,
            // Another entry was the largest, and still is.
            _ if before < last => return,
            _ => largest(self.row(item)),
        };
        self.back_at[item] = back_at;
        let within = self.root_of_log >= back_at;
        set_within(&mut self.pool, item, within);
        if !within && back_at < self.next_back_at {
            self.next_back_at = back_at;
        }
    }

    /// The pool at a round; rounds never decrease.
    #[inline]
    fn pool_at(&mut self, root_of_log: f64) -> &ItemSet {
        self.root_of_log = root_of_log;
        if root_of_log >= self.next_back_at {
            self.next_back_at = f64::INFINITY;
            for (item, &back_at) in self.back_at.iter().enumerate() {
                set_within(&mut self.pool, item, root_of_log >= back_at);
                if root_of_log < back_at && back_at < self.next_back_at {
                    self.next_back_at = back_at;
                }
            }
        }
        &self.pool
    }

    /// The item of largest `u_dc` for the champion `c`.
    #[inline]
    fn rival(&mut self, champion: usize, root_of_log: f64, tie_draw: u64) -> usize {
        let row = champion * self.stride..(champion + 1) * self.stride;
        let terms = self.rival_means[row.clone()].iter().zip(&self.widths[row]);
        for (upper, (mean, width)) in self.upper.iter_mut().zip(terms) {
            *upper = mean + width * root_of_log;
        }
        let best = largest(&self.upper);
        let n_best = self.upper.iter().map(|&upper| u64::from(upper == best)).sum::<u64>();
        let found = if n_best == 1 {
            self.upper.iter().position(|&upper| upper == best)
        } else {
            self.tied(best, n_best, tie_draw)
        };
        // There is one: bounds are numbers, and the champion's own is among them.
        found.unwrap_or(champion)
    }

    /// One of the items with this bound. Ties are rare once all pairs have met.
    #[cold]
    fn tied(&self, best: f64, n_best: u64, draw: u64) -> Option<usize> {
        // A number of items.
        let at = place(draw, usize::try_from(n_best).unwrap_or(usize::MAX));
        (0..self.n_items).filter(|&item| self.upper[item] == best).nth(at)
    }

    /// A round up to which the champion, alone in the pool, certainly meets itself.
    fn quiet_until(&self, champion: usize) -> u64 {
        let row = champion * self.stride..champion * self.stride + self.n_items;
        let rivals = || {
            let terms = self.rival_means[row.clone()].iter().zip(&self.widths[row.clone()]);
            terms.enumerate().filter(|&(item, _)| item != champion).map(|(_, term)| term)
        };
        let reaches = rivals().map(|(mean, width)| (0.5 - mean) / width).fold(self.next_back_at, f64::min);
        // Somewhat earlier, for rounding. No bound decreases in t, so earlier rounds are covered.
        let end = reaches * (1.0 - 1e-6);
        // Checked below.
        let round = (libm::exp(end * end) * (1.0 - 1e-9)).to_u64().unwrap_or(u64::MAX);
        let quiet = rivals().all(|(mean, width)| mean + width * end < 0.5)
            && end < self.next_back_at
            && root_of_log(round) <= end;
        if quiet { round } else { 0 }
    }
}

/// Adds an item to a set, or removes it.
#[inline]
fn set_within(set: &mut ItemSet, item: usize, within: bool) {
    let item = ItemId::from_index(item);
    _ = if within { set.insert(item) } else { set.remove(item) };
}

/// The largest of some lanes of numbers, in a form that the compiler vectorises.
#[inline]
fn largest(numbers: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for chunk in numbers.as_chunks::<LANES>().0 {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, number);
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    larger(larger(larger(a, e), larger(c, g)), larger(larger(b, f), larger(d, h)))
}
