//! `CascadeBAI`: the K most attractive items under cascade feedback, with few rounds and a given risk of being wrong; and `BatchRacing`.
//!
//! Every item is in question until it is accepted or rejected. Each step shows the K items in question that have been observed least,
//! least first. With `n_i` observations of item `i` in question and mean `m_i` its bounds are
//!
//! ```text
//! U_i = m_i + C_i,   L_i = m_i - C_i,   C_i = scale sqrt(ln(log2(2 n_i) / rho) / n_i),   rho = sqrt(delta / (12 L))
//! ```
//!
//! Of the items in question, with `k` still to be found, let `j'` have the k-th largest mean and `j*` the next one. After every step
//! all `i` with `L_i > U_j* - epsilon` are accepted and all with `U_i < L_j' - epsilon` rejected. The end has come when K items are
//! accepted, or L - K rejected: then the others are the answer.
//!
//! Reference: Zhong, Cheung, Tan, *Best arm identification for cascading bandits in the fixed confidence setting*, ICML 2020, Algorithm 1;
//! the orders of [`ShowOrder`] are those of its section 6.1. [`CascadeBai::bat_rac`] is `BatchRacing` with `r = 1` of Jun, Jamieson,
//! Nowak, Zhu, *Top arm identification in multi-armed bandits with batch arm pulls*, AISTATS 2016, Algorithm 1, with the radius above:
//! `b` of the least observed items are pulled a step, each pull is observed, and `U_j*` is the (k+1)-th largest `U`, `L_j'` the k-th
//! largest `L`. It is for users who look at everything they are shown ([`RandomSemiBandit`](click_models::RandomSemiBandit) with lists of
//! `b` positions and examination 1), whom the paper compares with.
//!
//! Deviations, all where the paper leaves something open or is at odds with itself:
//!
//! - `rho` has its root everywhere, as section 3 prints and the proof needs (D.4 and D.13 print it without).
//! - Equal means, and items never observed, rank by a random order that is drawn once a run; among equally often observed items the one
//!   that was observed longest ago comes first.
//! - Line 20 outputs the first K items that were accepted; when the loop ends because L - K are rejected there are fewer, and then it is
//!   everything that was not rejected. Of items accepted in one step the one of largest `L` entered first.
//! - An item that one step would both accept and reject, which takes an `epsilon` above the width of its interval, is rejected.
//! - Where fewer than K items are in question the list is filled up with those accepted, in their order, then with those rejected;
//!   they are not counted. After the end the answer is shown, and nothing is learned.
//! - The orders of section 6.1 arrange the K least observed items. Its text can also be read as choosing the K by mean or bound; then none
//!   of them comes to an end, since an item that is just off the list is never looked at again. `docs/errata.md` has numbers.
//! - Whatever is late or missing: an observation counts when it comes in, if its item is still in question.
//! - A list that was asked for and has not been answered is *open*, and every item on it counts as observed once more, so that lists asked for
//!   before the first answer show different items until all are open. An answer ends one open display of every item on its list; an item that it
//!   did not observe loses that turn and comes before those equal to it. A list that is never answered costs its items that turn. If every answer
//!   comes before the next list is asked for, this is Algorithm 1. Only the choice of lists counts open displays; bounds count observations.
//!   Open displays are saved.
//!
//! The probability of a wrong answer is at most `delta` when observations of an item are independent with its attraction as their mean,
//! which they are for cascade users and random semi-bandits, and if `scale` is at least 2 (Theorem B.2 with the variance proxy 1/4 of a
//! click). The paper's algorithm has 4, its experiments probably 2. With `epsilon > 0` that is so only while items are observed about equally
//! often, as in the order of the least observed: an item of narrow interval that is `j*` itself has `L_i > U_j* - epsilon` whatever is known of the
//! others (`docs/cascade-bai.md`), and other orders can leave the best unseen.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `n_best` | K | - | items |
//! | `n_shown` | K (b of `BatchRacing`) | - | positions |
//! | `n`, `s` | `T_t(i)`, `T_t(i) w-hat_t(i)` | `n_items` (L) | observations, clicks |
//! | `queue` | `D_t`, sorted as in line 4, with open displays | at most L | item |
//! | `accepted`, `rejected` | `A_t`, `R_t` in order of entry | at most L | item |
//! | `scale` | 4, or `4 sigma` in Theorem B.2 | - | - |
//!
//! Numerics: means are one division of counts, radii one call of
//! [`lil_radius_scaled`](confidence::lil_radius_scaled); whether something is accepted depends on these
//! alone, so that this version and the plain one decide alike to the last bit. What spares work is compared with room for rounding.
//!
//! Complexity: a step costs O(K), amortised. The queue is a ring as long as answers come at once: what was observed moves from its
//! front to its back by moving where the ring begins. From the first open list on that is not the last one asked for, items are linked in buckets of
//! equally many turns, and change places in O(1). Eliminations are looked for only when there can be one: levels are put between the
//! bounds that would have to cross, and every item knows how many observations and clicks it can have before it can pass its level.
//! The other orders cost a sort of K items more, and keep the items sorted by mean, where one moves past few
//! others a step. `BatchRacing` in another order looks at all items every step. Memory: O(L).
//!
//! # Examples
//!
//! Two items, one position, `delta = 0.1`: `rho = sqrt(0.1 / 24) = 0.0645`. Item 1 is always clicked and item 0 never. They are shown in
//! turn, and `4 sqrt(ln(log2(2 n) / rho) / n)` is 0.50015 for `n = 318` and 0.49939 for 319. So they are told apart after 637 steps:
//!
//! ```
//! use click_models::{CascadeFeedback, ItemId, ListShape};
//! use policies::{CascadeBai, Decision, Delta, Select, Stop, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//! use std::ops::ControlFlow;
//!
//! let mut policy = CascadeBai::new(ListShape::new(2, 1)?, Delta::new(0.1)?);
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let mut steps = 0;
//! let answer = loop {
//!     if let ControlFlow::Break(answer) = policy.check() {
//!         break answer;
//!     }
//!     policy.select(&mut rng, &mut decision);
//!     let click = (decision.action[0] == ItemId::new(1)).then_some(0);
//!     policy.update(&decision, &CascadeFeedback::new(click, 1)?);
//!     steps += 1;
//! };
//! assert_eq!((answer, steps), (vec![ItemId::new(1)], 637));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod queue;
mod radii;
mod sorted;

use super::candidates::fill;
use crate::error::check_counts;
use crate::exact::float;
use crate::sizes::Sizes;
use crate::{Decision, Delta, Error, Recommend, Select, Stop, Update};
use click_models::{CascadeFeedback, Clicks, ItemId, ListShape, ObservedPrefix, PrefixFeedback, Ranking};
use confidence::NonNegative;
use queue::Queue;
use radii::Radii;
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use sorted::{Key, Sorted};
use std::ops::ControlFlow;

/// The order in which the items that a step shows stand on the list; which they are does not depend on it.
///
/// All but the first are the paper's section 6.1, without a guarantee for the number of steps: an item at the end of the list may wait
/// for ever for somebody to look at it. An ascending order is the reverse of the descending one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShowOrder {
    /// The least observed first: Algorithm 1.
    #[default]
    LeastObserved,
    /// The smallest empirical mean first, 0 without an observation.
    MeanAsc,
    /// The largest empirical mean first.
    MeanDesc,
    /// The smallest upper bound first.
    UpperAsc,
    /// The largest upper bound first.
    UpperDesc,
    /// The smallest lower bound first.
    LowerAsc,
    /// The largest lower bound first.
    LowerDesc,
}

/// How many items `BatchRacing` pulls a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pulls {
    /// As many as have to be found: BatRac(K).
    #[default]
    List,
    /// One: BatRac(1).
    One,
}

/// Which bounds an item has to beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rival {
    /// Those of the items whose means have the ranks in question: `CascadeBAI`.
    OfMean,
    /// The bounds that have the ranks in question: `BatchRacing`.
    OfBound,
}

/// What the user of the policy has decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    n_best: usize,
    n_shown: usize,
    delta: Delta,
    epsilon: NonNegative,
    radius_scale: NonNegative,
    order: ShowOrder,
    rival: Rival,
}

/// `CascadeBAI`, and `BatchRacing` with the same radius.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct CascadeBai {
    settings: Settings,
    radii: Radii,
    has_begun: bool,
    /// Ties go to the smaller rank.
    rank: Vec<u32>,
    items: Vec<Item>,
    standings: Vec<Standing>,
    queue: Queue,
    /// At least the number of observations of any item in question.
    most_observed: u64,
    accepted: Vec<ItemId>,
    rejected: Vec<ItemId>,
    /// Items in question by mean, where the list is not in the order of the queue.
    by_mean: Sorted,
    levels: Levels,
    /// While items are classified.
    candidates: Vec<Candidate>,
    /// While a list is put in order.
    list: Vec<Key>,
    /// While displays end.
    unobserved: Vec<ItemId>,
}

/// What was counted of an item, and up to where nothing about it has to be looked at.
#[derive(Debug, Clone, Copy)]
struct Item {
    n: u64,
    s: u64,
    /// Within these counts the item respects the levels.
    quiet_n: u64,
    quiet_s: u64,
}

/// Where an item stands.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    is_in_question: bool,
    /// Among the k + 1 items of largest mean when levels were set, and among all others together with the k-th.
    is_high: bool,
    is_low: bool,
}

/// As long as every item in question respects these, nobody is accepted or rejected.
#[derive(Debug, Clone, Copy)]
struct Levels {
    /// No `L` is above.
    above_lower: f64,
    /// No `U` is below.
    below_upper: f64,
    /// No mean of the k + 1 highest items is below.
    floor: f64,
    /// No mean of the lowest items, from the k-th on, is above.
    ceiling: f64,
    /// No item has been observed more often.
    n: u64,
    /// Somebody does not respect them, or nobody may know.
    are_broken: bool,
}

/// An item in question while items are classified.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    mean: f64,
    radius: f64,
    rank: u32,
    item: ItemId,
}

impl Candidate {
    fn upper(&self) -> f64 {
        self.mean + self.radius
    }

    fn lower(&self) -> f64 {
        self.mean - self.radius
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    settings: Settings,
    has_begun: bool,
    rank: Vec<u32>,
    observations: Vec<u64>,
    clicks: Vec<u64>,
    in_question: Vec<ItemId>,
    /// Open displays of every item; empty if there is none.
    #[serde(default)]
    open: Vec<u64>,
    accepted: Vec<ItemId>,
    rejected: Vec<ItemId>,
}

impl CascadeBai {
    /// `CascadeBAI` that looks for as many items as a list has positions: Algorithm 1 as printed, with `epsilon = 0`.
    pub fn new(shape: ListShape, delta: Delta) -> Self {
        Self::fresh(shape, shape.n_positions(), Rival::OfMean, delta)
    }

    /// `BatchRacing` that looks for as many items as a list of `shape` has positions; it shows lists of one item if it pulls one.
    pub fn bat_rac(shape: ListShape, pulls: Pulls, delta: Delta) -> Self {
        let n_shown = match pulls {
            Pulls::List => shape.n_positions(),
            Pulls::One => 1,
        };
        Self::fresh(shape, n_shown, Rival::OfBound, delta)
    }

    fn fresh(shape: ListShape, n_shown: usize, rival: Rival, delta: Delta) -> Self {
        let (n_items, n_best) = (shape.n_items(), shape.n_positions());
        let (order, epsilon) = (ShowOrder::LeastObserved, NonNegative::ZERO);
        let radius_scale = NonNegative::new(4.0).expect("not negative");
        Self::assemble(Saved {
            settings: Settings { n_best, n_shown, delta, epsilon, radius_scale, order, rival },
            has_begun: false,
            rank: (0..).take(n_items).collect(),
            observations: vec![0; n_items],
            clicks: vec![0; n_items],
            in_question: (0..n_items).map(ItemId::from_index).collect(),
            open: vec![],
            accepted: vec![],
            rejected: vec![],
        })
    }

    /// The same, fresh, with a tolerance: items that are worse than the last of the best by at most `epsilon` will do.
    #[must_use]
    pub fn with_epsilon(self, epsilon: NonNegative) -> Self {
        self.with(|settings| settings.epsilon = epsilon)
    }

    /// The same, fresh, with another factor in the place of 4 in the radius.
    #[must_use]
    pub fn with_radius_scale(self, scale: NonNegative) -> Self {
        self.with(|settings| settings.radius_scale = scale)
    }

    /// The same, fresh, with another order.
    #[must_use]
    pub fn with_order(self, order: ShowOrder) -> Self {
        self.with(|settings| settings.order = order)
    }

    fn with(self, change: impl FnOnce(&mut Settings)) -> Self {
        let Settings { n_best, n_shown, delta, rival, .. } = self.settings;
        let shape = ListShape::new(self.items.len(), n_best).expect("checked when it was made");
        let mut saved = Self::fresh(shape, n_shown, rival, delta).saved();
        saved.settings = self.settings;
        change(&mut saved.settings);
        Self::assemble(saved)
    }

    fn assemble(saved: Saved) -> Self {
        let Saved { settings, has_begun, rank, observations, clicks, .. } = saved;
        let Saved { mut in_question, mut open, accepted, rejected, .. } = saved;
        let n_items = rank.len();
        let is_any_open = !open.is_empty();
        open.resize(n_items, 0);
        in_question.sort_by_key(|item| observations[item.index()] + open[item.index()]);
        let fresh = |(&n, &s)| Item { n, s, quiet_n: 0, quiet_s: 0 };
        let with_room = |mut items: Vec<ItemId>| {
            items.reserve_exact(n_items - items.len());
            items
        };
        let mut policy = Self {
            settings,
            radii: Radii::new(settings.delta, n_items, settings.radius_scale),
            has_begun,
            rank,
            items: observations.iter().zip(&clicks).map(fresh).collect(),
            standings: vec![Standing::default(); n_items],
            queue: Queue::new(in_question, &open, settings.n_shown),
            most_observed: 0,
            accepted: with_room(accepted),
            rejected: with_room(rejected),
            by_mean: Sorted::new(n_items),
            levels: Levels::NONE,
            candidates: Vec::with_capacity(n_items),
            list: Vec::with_capacity(settings.n_shown),
            unobserved: Vec::with_capacity(ListShape::MAX_POSITIONS),
        };
        for item in policy.queue.items() {
            policy.standings[item.index()].is_in_question = true;
        }
        if is_any_open || settings.order != ShowOrder::LeastObserved {
            policy.link();
        }
        policy.sort();
        policy.begin_quietly();
        policy
    }

    fn saved(&self) -> Saved {
        let (in_question, open) = self.queue.saved(|item| self.observations(item));
        Saved {
            settings: self.settings,
            has_begun: self.has_begun,
            rank: self.rank.clone(),
            observations: self.items.iter().map(|item| item.n).collect(),
            clicks: self.items.iter().map(|item| item.s).collect(),
            in_question,
            open,
            accepted: self.accepted.clone(),
            rejected: self.rejected.clone(),
        }
    }

    /// How often an item has been observed while it was in question; 0 for an unknown one.
    pub fn observations(&self, item: ItemId) -> u64 {
        self.items.get(item.index()).map_or(0, |item| item.n)
    }

    /// Observations of all items while they were in question.
    pub fn total_observations(&self) -> u64 {
        self.items.iter().map(|item| item.n).sum()
    }

    /// Items that have been accepted, in order of entry.
    pub fn accepted(&self) -> &[ItemId] {
        &self.accepted
    }

    /// Items that have been rejected, in order of entry.
    pub fn rejected(&self) -> &[ItemId] {
        &self.rejected
    }

    fn is_done(&self) -> bool {
        let n_best = self.settings.n_best;
        self.accepted.len() >= n_best || self.rejected.len() >= self.items.len() - n_best
    }

    /// Writes what is known to be best, or taken for it, in order of entry: the items accepted, then those in question.
    fn copy_answer_to(&self, out: &mut [ItemId]) {
        let (first, rest) = out.split_at_mut(self.accepted.len().min(out.len()));
        first.copy_from_slice(&self.accepted[..first.len()]);
        self.queue.copy_to(rest);
    }

    /// From now on the queue finds every item wherever it stands.
    #[cold]
    fn link(&mut self) {
        self.queue.link(|item| self.items[item.index()].n);
    }

    fn mean(&self, item: ItemId) -> f64 {
        self.items[item.index()].mean()
    }

    /// Rounding that a comparison of sums of means and radii may suffer, with much to spare.
    fn slack(&self) -> f64 {
        1e-12 * (1.0 + self.settings.radius_scale.get() + self.settings.epsilon.get())
    }

    /// Works out from the counts who is ahead of whom, where that is kept.
    fn sort(&mut self) {
        if self.settings.order == ShowOrder::LeastObserved {
            return;
        }
        self.by_mean.clear();
        for place in 0..self.queue.len() {
            let key = self.key_by_mean(self.queue.items()[place]);
            self.by_mean.insert(key);
        }
    }

    fn key_by_mean(&self, item: ItemId) -> Key {
        Key { score: self.mean(item), rank: self.rank[item.index()], item }
    }

    /// What an item of a list is put in order by, the largest first.
    fn key(&mut self, item: ItemId) -> Key {
        use ShowOrder::{LeastObserved, LowerAsc, LowerDesc, MeanAsc, MeanDesc, UpperAsc, UpperDesc};
        let by_mean = self.key_by_mean(item);
        let mean = by_mean.score;
        let score = match self.settings.order {
            LeastObserved | MeanAsc | MeanDesc => mean,
            UpperAsc | UpperDesc => mean + self.radii.remembered(self.items[item.index()].n),
            LowerAsc | LowerDesc => mean - self.radii.remembered(self.items[item.index()].n),
        };
        match self.settings.order {
            LeastObserved | MeanDesc | UpperDesc | LowerDesc => Key { score, ..by_mean },
            MeanAsc | UpperAsc | LowerAsc => Key { score: -score, rank: !by_mean.rank, item },
        }
    }

    fn put_in_order(&mut self, shown: &mut [ItemId]) {
        self.list.clear();
        for &item in &*shown {
            let key = self.key(item);
            self.list.push(key);
        }
        self.list.sort_unstable_by(Key::largest_first);
        fill(shown, self.list.iter().map(|key| key.item));
    }

    /// Until some item has been observed so often that two intervals have room beside each other between 0 and 1, nothing happens.
    fn begin_quietly(&mut self) {
        let needed = 1.0 + self.settings.epsilon.get() + self.slack();
        let overlap = |n: u64| 2.0 * self.radii.radius(n) >= needed;
        // The radius falls as n grows.
        let (mut quiet, mut loud) = (0, 1);
        while loud < 1 << 60 && overlap(loud) {
            quiet = loud;
            loud *= 2;
        }
        while loud - quiet > 1 {
            let middle = quiet.midpoint(loud);
            if overlap(middle) { quiet = middle } else { loud = middle }
        }
        self.levels = Levels { n: quiet, ..Levels::NONE };
        for item in &mut self.items {
            (item.quiet_n, item.quiet_s) = (quiet, u64::MAX);
        }
        let most = self.queue.items().iter().map(|item| self.items[item.index()].n).max();
        self.most_observed = most.unwrap_or(0);
        self.levels.are_broken = self.most_observed > quiet;
    }

    /// Counts what was seen of a list, and classifies items if that can have become possible.
    #[inline]
    fn learn(&mut self, shown: &Ranking, seen: Clicks) {
        if self.is_done() {
            return;
        }
        let shown = shown.as_slice();
        let shown = &shown[..shown.len().min(ListShape::MAX_POSITIONS)];
        let n_observed = shown.len().min(seen.len());
        if !self.learn_in_turn(shown, n_observed, seen.bits()) {
            self.learn_anyhow(shown, n_observed, seen.bits());
        }
        if self.levels.are_broken {
            self.classify();
        }
    }

    /// Takes in an answer to the list that is next: the ring moves on. For any other, does nothing and gives `false`.
    #[inline]
    fn learn_in_turn(&mut self, shown: &[ItemId], n_observed: usize, clicks: u64) -> bool {
        let Some(n_next) = self.queue.n_next(shown) else { return false };
        let (next, fill) = shown.split_at(n_next);
        // The others have been observed as often or more, so that at the back nobody gets ahead of anybody observed less.
        let is_in_turn = self.items[next[0].index()].n + 1 >= self.most_observed;
        if !is_in_turn || fill.iter().any(|&item| self.is_in_question(item)) {
            return false;
        }
        let observed = &next[..n_observed.min(n_next)];
        let mut is_quiet = true;
        for id in observed {
            let item = &mut self.items[id.index()];
            item.n += 1;
            is_quiet &= item.n <= item.quiet_n;
        }
        let mut clicks = clicks;
        while let Some(id) = observed.get(clicks.trailing_zeros() as usize) {
            clicks &= clicks - 1;
            let item = &mut self.items[id.index()];
            item.s += 1;
            is_quiet &= item.s <= item.quiet_s;
        }
        if let Some(last) = observed.last() {
            self.most_observed = self.most_observed.max(self.items[last.index()].n);
        }
        self.queue.advance(observed.len());
        if !is_quiet {
            self.watch_all(observed);
        }
        true
    }

    /// Takes in any answer.
    fn learn_anyhow(&mut self, shown: &[ItemId], n_observed: usize, clicks: u64) {
        self.link();
        let (observed, unobserved) = shown.split_at(n_observed);
        self.queue.close(unobserved, &mut self.unobserved);
        for (position, &item) in observed.iter().enumerate() {
            self.count(item, clicks >> position & 1);
        }
        if self.settings.order != ShowOrder::LeastObserved {
            for &item in observed {
                if self.is_in_question(item) {
                    self.by_mean.update(self.key_by_mean(item));
                }
            }
            self.compare_rivals();
        }
        self.watch_all(observed);
    }

    fn is_in_question(&self, item: ItemId) -> bool {
        self.standings.get(item.index()).is_some_and(|standing| standing.is_in_question)
    }

    /// Counts an observation of an item in question.
    #[inline]
    fn count(&mut self, id: ItemId, clicked: u64) {
        if self.is_in_question(id) {
            let item = &mut self.items[id.index()];
            item.n += 1;
            item.s += clicked;
            self.most_observed = self.most_observed.max(item.n);
            self.queue.observe(id);
        }
    }

    /// Looks at those of these items that may have passed the levels.
    #[inline]
    fn watch_all(&mut self, observed: &[ItemId]) {
        for &id in observed {
            let Some(&Item { n, s, quiet_n, quiet_s }) = self.items.get(id.index()) else { continue };
            if (n > quiet_n || s > quiet_s) && self.standings[id.index()].is_in_question {
                self.levels.are_broken |= !self.watch(id);
            }
        }
    }

    /// Draws the order that breaks ties, before the first step.
    #[inline]
    fn begin<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        self.queue.items_mut().shuffle(rng);
        for (rank, item) in (0..).zip(self.queue.items()) {
            self.rank[item.index()] = rank;
        }
        if self.settings.order != ShowOrder::LeastObserved {
            self.queue.link_again(|item| self.items[item.index()].n);
        }
        self.sort();
    }

    /// Plays one step with a cascading user who says item by item, from the top of the list, whether it attracts; gives how many were
    /// looked at, 0 after the end.
    ///
    /// The same as [`Select::select`], the user's answer, and [`Update::update`], without an answer to write and to read. A simulation
    /// whose users cost a draw an item then draws only for those that are looked at; `list` is for steps that need one.
    ///
    /// ```
    /// use click_models::ListShape;
    /// use policies::{CascadeBai, Decision, Delta};
    /// use rand::{SeedableRng, rngs::ChaCha8Rng};
    ///
    /// let mut policy = CascadeBai::new(ListShape::new(9, 3)?, Delta::default());
    /// let (mut rng, mut list) = (ChaCha8Rng::seed_from_u64(1), Decision::default());
    /// let (nobody, everybody) = (policy.step(&mut rng, &mut list, |_| false), policy.step(&mut rng, &mut list, |_| true));
    /// assert_eq!((nobody, everybody, policy.total_observations()), (3, 1, 4));
    /// # Ok::<(), click_models::Error>(())
    /// ```
    pub fn step<R: Rng + ?Sized>(
        &mut self,
        rng: &mut R,
        list: &mut Decision<Ranking>,
        mut attracts: impl FnMut(ItemId) -> bool,
    ) -> usize {
        if self.is_done() {
            return 0;
        }
        self.begin(rng);
        let ring = self.queue.idle_ring();
        let in_turn = |&(ring, front): &(&[ItemId], usize)| {
            let first: ItemId = ring[front];
            self.items[first.index()].n + 1 >= self.most_observed
        };
        let Some((ring, start)) = ring.filter(in_turn) else {
            self.select(rng, list);
            let shown = list.action.as_slice();
            let click = shown.iter().position(|&item| attracts(item));
            let seen = Clicks::new(click.map_or(shown.len(), |position| position + 1));
            self.learn(&list.action, click.map_or(seen, |position| seen.with(position)));
            return seen.len();
        };
        let n_in_question = self.settings.n_shown.min(ring.len());
        let items = &mut self.items;
        let (mut place, mut observed, mut is_quiet, mut is_clicked, mut n) = (start, 0, true, false, 0);
        while observed < n_in_question && !is_clicked {
            let id = ring[place];
            place = if place + 1 == ring.len() { 0 } else { place + 1 };
            observed += 1;
            is_clicked = attracts(id);
            let item = &mut items[id.index()];
            item.n += 1;
            item.s += u64::from(is_clicked);
            is_quiet &= item.n <= item.quiet_n && item.s <= item.quiet_s;
            n = item.n;
        }
        self.queue.advance(observed);
        // The queue goes from the least observed to the most.
        self.most_observed = self.most_observed.max(n);
        if !is_quiet {
            let mut place = start;
            for _ in 0..observed {
                let ring = self.queue.items();
                let item = ring[place];
                place = if place + 1 == ring.len() { 0 } else { place + 1 };
                self.watch_all(&[item]);
            }
        }
        let fill = self.accepted.iter().chain(&self.rejected).take(self.settings.n_shown - n_in_question);
        let mut looked_at = observed;
        for &item in fill {
            if is_clicked {
                break;
            }
            looked_at += 1;
            is_clicked = attracts(item);
        }
        if self.levels.are_broken {
            self.classify();
        }
        looked_at
    }

    /// Says anew how much can happen to an item before its bounds can pass the levels; `false` if they may have done so.
    #[cold]
    fn watch(&mut self, id: ItemId) -> bool {
        let (item, standing) = (self.items[id.index()], self.standings[id.index()]);
        let quiet = self.levels.quiet(item, standing, self.radii.radius(item.n));
        if let Some((n, s)) = quiet {
            let item = &mut self.items[id.index()];
            (item.quiet_n, item.quiet_s) = (n, s);
        }
        quiet.is_some()
    }

    /// Whether the bounds that others have to cross are still on their sides of the levels; only where means are kept sorted. Who has
    /// the bound of a rank has to be looked for.
    fn compare_rivals(&mut self) {
        if self.settings.rival == Rival::OfBound {
            self.levels.are_broken = true;
            return;
        }
        let rank = self.settings.n_best - self.accepted.len();
        let Settings { epsilon, .. } = self.settings;
        let (first_out, last_in) = (self.by_mean.item(rank), self.by_mean.item(rank - 1));
        let upper = self.mean(first_out) + self.radii.remembered(self.items[first_out.index()].n);
        let lower = self.mean(last_in) - self.radii.remembered(self.items[last_in.index()].n);
        let is_above = upper - epsilon.get() >= self.levels.above_lower + self.slack();
        let is_below = lower - epsilon.get() <= self.levels.below_upper - self.slack();
        self.levels.are_broken |= !(is_above && is_below);
    }

    /// Lists the items in question as candidates, the k of largest mean first, then the next one, the k-th in its own place; and gives the
    /// bounds to beat: the upper one of the best of those below the list, and the lower one of the worst on it.
    fn line_up(&mut self) -> (f64, f64) {
        let Self { candidates, items, rank, queue, settings, radii, .. } = self;
        candidates.clear();
        for &item in queue.items() {
            let counts = items[item.index()];
            let radius = radii.remembered(counts.n);
            candidates.push(Candidate { mean: counts.mean(), radius, rank: rank[item.index()], item });
        }
        let n_open = settings.n_best - self.accepted.len();
        let mut rank_of = |place: usize, score: fn(&Candidate) -> f64| {
            let largest_first =
                |a: &Candidate, b: &Candidate| score(b).total_cmp(&score(a)).then(a.rank.cmp(&b.rank));
            *candidates.select_nth_unstable_by(place, largest_first).1
        };
        let bounds = match settings.rival {
            Rival::OfMean => None,
            Rival::OfBound => Some((
                rank_of(n_open, Candidate::upper).upper(),
                rank_of(n_open - 1, Candidate::lower).lower(),
            )),
        };
        let first_out = rank_of(n_open, |candidate| candidate.mean);
        // Leaves the places from the k-th on as they are.
        let last_in = rank_of(n_open - 1, |candidate| candidate.mean);
        bounds.unwrap_or((first_out.upper(), last_in.lower()))
    }

    /// Accepts and rejects what the bounds allow, and sets the levels up to which nothing more can happen.
    #[cold]
    fn classify(&mut self) {
        let mut rivals = self.line_up();
        if self.sort_out(rivals) {
            if self.is_done() {
                return;
            }
            rivals = self.line_up();
        }
        self.set_levels(rivals);
    }

    /// Whether anything was accepted or rejected.
    fn sort_out(&mut self, (upper_to_beat, lower_to_beat): (f64, f64)) -> bool {
        let epsilon = self.settings.epsilon.get();
        let is_worse = |candidate: &Candidate| candidate.upper() < lower_to_beat - epsilon;
        let is_better = |candidate: &Candidate| candidate.lower() > upper_to_beat - epsilon;
        if !self.candidates.iter().any(|candidate| is_worse(candidate) || is_better(candidate)) {
            return false;
        }
        self.candidates.sort_unstable_by(|a, b| b.lower().total_cmp(&a.lower()).then(a.rank.cmp(&b.rank)));
        let Self { candidates, items, standings, accepted, rejected, queue, .. } = self;
        for candidate in candidates.iter() {
            let set = match (is_worse(candidate), is_better(candidate)) {
                (true, _) => &mut *rejected,
                (false, true) => &mut *accepted,
                (false, false) => continue,
            };
            set.push(candidate.item);
            standings[candidate.item.index()].is_in_question = false;
        }
        queue.retain(|item| standings[item.index()].is_in_question);
        self.by_mean.retain(|item| standings[item.index()].is_in_question);
        self.most_observed = queue.items().iter().map(|item| items[item.index()].n).max().unwrap_or(0);
        true
    }

    /// Puts levels between the bounds that would have to cross, halfway, and lets every item know how far it is from them.
    fn set_levels(&mut self, (upper_to_beat, lower_to_beat): (f64, f64)) {
        let n_open = self.settings.n_best - self.accepted.len();
        let epsilon = self.settings.epsilon.get() - self.slack();
        let max_lower = self.candidates.iter().map(Candidate::lower).fold(f64::NEG_INFINITY, f64::max);
        let min_upper = self.candidates.iter().map(Candidate::upper).fold(f64::INFINITY, f64::min);
        self.levels = if self.settings.order == ShowOrder::LeastObserved {
            // The item that has the rank in question later on: its mean is not below that of the k + 1 that are ahead now, and its radius not
            // below that of the item observed most.
            let radius = self.radii.radius(self.most_observed);
            let (first_out, last_in) = (self.candidates[n_open].mean, self.candidates[n_open - 1].mean);
            let room_above = first_out + radius - epsilon - max_lower;
            let room_below = min_upper - (last_in - radius - epsilon);
            // A radius shrinks by at most a share of s / (2 n) in s observations.
            let n = float(self.most_observed) * room_above.min(room_below) / (2.0 * radius);
            Levels {
                above_lower: max_lower + room_above / 2.0,
                below_upper: min_upper - room_below / 2.0,
                floor: first_out - room_above / 4.0,
                ceiling: last_in + room_below / 4.0,
                n: self.most_observed.saturating_add(whole(n)),
                are_broken: !(room_above > 0.0 && room_below > 0.0),
            }
        } else {
            let room_above = (upper_to_beat - epsilon - max_lower).min(1.0);
            let room_below = (min_upper - (lower_to_beat - epsilon)).min(1.0);
            Levels {
                above_lower: max_lower + room_above / 2.0,
                below_upper: min_upper - room_below / 2.0,
                are_broken: !(room_above > 0.0 && room_below > 0.0),
                ..Levels::NONE
            }
        };
        for (place, candidate) in self.candidates.iter().enumerate() {
            let standing =
                Standing { is_in_question: true, is_high: place <= n_open, is_low: place + 1 >= n_open };
            self.standings[candidate.item.index()] = standing;
            let item = &mut self.items[candidate.item.index()];
            match self.levels.quiet(*item, standing, candidate.radius) {
                Some((n, s)) => (item.quiet_n, item.quiet_s) = (n, s),
                None => self.levels.are_broken = true,
            }
        }
    }
}

impl Item {
    #[inline]
    fn mean(&self) -> f64 {
        if self.n == 0 { 0.0 } else { float(self.s) / float(self.n) }
    }
}

impl Levels {
    const NONE: Self = Self {
        above_lower: f64::NEG_INFINITY,
        below_upper: f64::INFINITY,
        floor: f64::NEG_INFINITY,
        ceiling: f64::INFINITY,
        n: u64::MAX,
        are_broken: true,
    };

    /// Up to which counts an item respects the levels, whatever its clicks; none if it does not do so now.
    ///
    /// After `s` more observations, `c` of them clicked, a mean `m` has fallen by at most `m s / n` and risen by at most
    /// `(1 - m) c / n`, and the radius `C` has shrunk by at most `C s / (2 n)`, since what stands below its root times `n` grows.
    fn quiet(&self, item: Item, standing: Standing, radius: f64) -> Option<(u64, u64)> {
        let (n, mean) = (float(item.n), item.mean());
        let below_upper_level = self.above_lower - (mean - radius);
        let above_lower_level = mean + radius - self.below_upper;
        let above_floor = if standing.is_high { mean - self.floor } else { f64::INFINITY };
        let below_ceiling = if standing.is_low { self.ceiling - mean } else { f64::INFINITY };
        let respects = |room: f64| room >= 0.0;
        let is_quiet = [below_upper_level, above_lower_level, above_floor, below_ceiling].map(respects);
        if item.n > self.n || is_quiet != [true; 4] {
            return None;
        }
        if item.n == 0 {
            return Some((0, 0));
        }
        // Half of the way to the upper level is for the mean, half for the radius. Where nothing can move, 0 / 0 is no bound.
        let observations = (above_floor / mean)
            .min(above_lower_level / (mean + radius / 2.0))
            .min(below_upper_level / radius);
        let clicks = below_ceiling.min(below_upper_level / 2.0) / (1.0 - mean);
        let quiet_n = item.n.saturating_add(whole(n * observations)).min(self.n);
        Some((quiet_n, item.s.saturating_add(whole(n * clicks))))
    }
}

/// The whole part of a number that is not negative; what is too large saturates, and what is no number is 0.
fn whole(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
    let whole = number as u64;
    whole
}

/// Whether every number below `n` is there exactly once.
fn is_permutation(mut numbers: impl Iterator<Item = usize>, n: usize) -> bool {
    let mut is_there = vec![false; n];
    numbers.all(|number| number < n && !std::mem::replace(&mut is_there[number], true))
        && is_there.iter().all(|&is_there| is_there)
}

impl From<CascadeBai> for Saved {
    fn from(policy: CascadeBai) -> Self {
        policy.saved()
    }
}

impl Clone for CascadeBai {
    /// As saved and restored: a derived one would leave no room in the lists that grow, and `update` must not allocate.
    fn clone(&self) -> Self {
        Self::assemble(self.saved())
    }
}

impl TryFrom<Saved> for CascadeBai {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let Settings { n_best, n_shown, rival, .. } = saved.settings;
        let n_items = saved.rank.len();
        ListShape::new(n_items, n_best)?;
        let fits = match rival {
            Rival::OfMean => n_shown == n_best,
            Rival::OfBound => [1, n_best].contains(&n_shown),
        };
        let has_open = !saved.open.is_empty();
        if saved.observations.len() != n_items || has_open && saved.open.len() != n_items || !fits {
            return Err(Error::SavedSizes);
        }
        check_counts(0, &saved.observations, &saved.clicks)?;
        if has_open {
            check_counts(0, &saved.open, &vec![0; n_items])?;
        }
        let sets = saved.in_question.iter().chain(&saved.accepted).chain(&saved.rejected);
        if saved.rejected.len() > n_items - n_best || !is_permutation(sets.map(|item| item.index()), n_items)
        {
            return Err(Error::SavedItems);
        }
        if !is_permutation(saved.rank.iter().map(|&rank| rank as usize), n_items) {
            return Err(Error::SavedItems);
        }
        Ok(Self::assemble(saved))
    }
}

impl Sizes for CascadeBai {
    fn sizes(&self) -> [usize; 2] {
        [self.items.len(), self.settings.n_best]
    }
}

impl Select<Ranking> for CascadeBai {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.begin(rng);
        let list = out.action.positions_mut(self.settings.n_shown);
        if self.is_done() {
            self.copy_answer_to(list);
            return;
        }
        if self.queue.needs_links() {
            self.link();
        }
        let (first, rest) = list.split_at_mut(self.settings.n_shown.min(self.queue.len()));
        self.queue.take(first);
        if self.settings.order != ShowOrder::LeastObserved {
            self.put_in_order(first);
        }
        fill(rest, self.accepted.iter().chain(&self.rejected).copied());
    }
}

impl Update<Ranking, CascadeFeedback> for CascadeBai {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &CascadeFeedback) {
        self.learn(&decision.action, feedback.observed_clicks());
    }
}

impl Update<Ranking, PrefixFeedback> for CascadeBai {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PrefixFeedback) {
        self.learn(&decision.action, feedback.observed_clicks());
    }
}

impl Recommend<Ranking> for CascadeBai {
    /// The items accepted so far, and of those in question the ones of largest mean, ties at random.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) {
        let n_accepted = self.accepted.len().min(self.settings.n_best);
        let list = out.positions_mut(n_accepted + self.queue.len());
        let (first, rest) = list.split_at_mut(n_accepted);
        first.copy_from_slice(&self.accepted[..n_accepted]);
        self.queue.copy_to(rest);
        rest.shuffle(rng);
        rest.sort_by(|&a, &b| self.mean(b).total_cmp(&self.mean(a)));
        out.positions_mut(self.settings.n_best);
    }
}

impl Stop for CascadeBai {
    /// As many items as were to be found, in increasing order.
    type Answer = Vec<ItemId>;

    #[inline]
    fn check(&self) -> ControlFlow<Vec<ItemId>> {
        if !self.is_done() {
            return ControlFlow::Continue(());
        }
        let mut answer = vec![ItemId::default(); self.settings.n_best];
        self.copy_answer_to(&mut answer);
        answer.sort_unstable();
        ControlFlow::Break(answer)
    }
}
