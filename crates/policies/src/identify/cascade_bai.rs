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
//! - A list that was asked for and has not been answered is *open*, and every item on it counts as observed once more, so that lists
//!   asked for
//!   before the first answer show different items until all are open. An answer ends one open display of every item on its list; an item that it
//!   did not observe loses that turn and comes before those equal to it. A list that is never answered costs its items that turn. If every answer
//!   comes before the next list is asked for, this is Algorithm 1. Only the choice of lists counts open displays; bounds count observations.
//!   Open displays are saved.
//!
//! The probability of a wrong answer is at most `delta` when observations of an item are independent with its attraction as their mean,
//! which they are for cascade users and random semi-bandits, and if `scale` is at least 2 (Theorem B.2 with the variance proxy 1/4 of a
//! click). The paper's algorithm has 4, its experiments probably 2. With `epsilon > 0` that is so only while items are observed about
//! equally often, as in the order of the least observed: an item of narrow interval that is `j*` itself has `L_i > U_j* - epsilon`
//! whatever is known of the others (`docs/cascade-bai.md`), and other orders can leave the best unseen.
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
//! Complexity: a step costs O(K), amortised. The queue is a ring as long as answers come at once: what was observed moves from its front
//! to its back by moving where the ring begins. From the first open list on that is not the last one asked for, items are linked in
//! buckets of equally many turns, and change places in O(1). Eliminations are looked for only when there can be one: levels are put
//! between the bounds that would have to cross, and every item knows how many observations and clicks it can have before it can pass its
//! level. The other orders cost a sort of K items more, and keep the items sorted by mean, where one moves past few others a step.
//! `BatchRacing` in another order looks at all items every step. Memory: O(L).
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

mod bat_rac;
mod classify;
mod learn;
mod levels;
mod queue;
mod radii;
mod saved;
mod show_order;
mod sorted;
mod step;

use super::candidates::fill;
use crate::exact::float;
use crate::sizes::Sizes;
use crate::{Decision, Delta, Recommend, Select, Stop, Update};
use classify::{Candidate, Rival};
use click_models::{CascadeFeedback, ItemId, ListShape, ObservedPrefix, PrefixFeedback, Ranking};
use confidence::NonNegative;
use levels::Levels;
use queue::Queue;
use radii::Radii;
use rand::Rng;
use rand::seq::SliceRandom;
use saved::Saved;
use serde::{Deserialize, Serialize};
use sorted::{Key, Sorted};
use std::ops::ControlFlow;

pub use bat_rac::Pulls;
pub use show_order::ShowOrder;

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

impl CascadeBai {
    /// `CascadeBAI` that looks for as many items as a list has positions: Algorithm 1 as printed, with `epsilon = 0`.
    pub fn new(shape: ListShape, delta: Delta) -> Self {
        Self::fresh(shape, shape.n_positions(), Rival::OfMean, delta)
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

    fn is_in_question(&self, item: ItemId) -> bool {
        self.standings.get(item.index()).is_some_and(|standing| standing.is_in_question)
    }

    fn mean(&self, item: ItemId) -> f64 {
        self.items[item.index()].mean()
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

    /// From now on the queue finds every item wherever it stands.
    #[cold]
    fn link(&mut self) {
        self.queue.link(|item| self.items[item.index()].n);
    }

    /// Writes what is known to be best, or taken for it, in order of entry: the items accepted, then those in question.
    fn copy_answer_to(&self, out: &mut [ItemId]) {
        let (first, rest) = out.split_at_mut(self.accepted.len().min(out.len()));
        first.copy_from_slice(&self.accepted[..first.len()]);
        self.queue.copy_to(rest);
    }
}

impl Item {
    #[inline]
    fn mean(&self) -> f64 {
        if self.n == 0 { 0.0 } else { float(self.s) / float(self.n) }
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
