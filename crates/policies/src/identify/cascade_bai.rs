mod items;
mod learn;
mod levels;
mod queue;
mod saved;
mod settings;
mod show_order;

use super::candidates::{fill, recommend};
use crate::setup::setup;
use crate::{Decision, Delta, Recommend, Select, Stop};
use click_models::{ItemId, ListShape, Ranking};
use confidence::NonNegative;
use items::{Candidate, Item, ItemState, Radii};
use levels::Levels;
use queue::Queue;
use rand::Rng;
use saved::State;
use serde::{Deserialize, Serialize};
use settings::{Rival, Settings};
use show_order::{Key, SortedKeys};
use std::ops::ControlFlow;

pub use settings::{Pulls, ShowOrder};

/// `CascadeBAI` and `BatchRacing`: find the K most attractive items under cascade feedback.
///
/// An item is undecided until it is accepted or rejected. Each step shows the K undecided items
/// with the fewest observations, the least observed first. With `n_i` observations and mean `m_i`,
/// the bounds of an undecided item `i` are
///
/// ```text
/// U_i = m_i + C_i,   L_i = m_i - C_i,   C_i = scale sqrt(ln(log2(2 n_i) / rho) / n_i),   rho = sqrt(delta / (12 L))
/// ```
///
/// Among the undecided items, with `k` still to be found, let `j'` have the k-th largest mean and
/// `j*` the next one. Every step accepts all `i` with `L_i > U_j* - epsilon` and rejects all `i`
/// with `U_i < L_j' - epsilon`. The policy stops when K items are accepted, or all but K rejected;
/// in the second case the answer is all other items.
///
/// Reference: Zhong, Cheung, Tan, *Best arm identification for cascading bandits in the fixed
/// confidence setting*, ICML 2020, Algorithm 1. The orders of [`ShowOrder`] are those of its
/// section 6.1. [`CascadeBai::bat_rac`] is `BatchRacing` with `r = 1` of Jun, Jamieson, Nowak, Zhu,
/// *Top arm identification in multi-armed bandits with batch arm pulls*, AISTATS 2016, Algorithm 1,
/// with the radius above. A step of `BatchRacing` pulls the `b` least observed items and observes
/// each pull; `U_j*` is the (k+1)-th largest `U`, and `L_j'` the k-th largest `L`. Its users
/// examine every item of the list ([`RandomSemiBandit`](click_models::RandomSemiBandit) with lists
/// of `b` positions and examination 1).
///
/// `docs/cascade-bai.md` has the deviations, all where the paper is incomplete or inconsistent.
///
/// The probability of a wrong answer is at most `delta` if observations of an item are independent
/// with its attraction as their mean and `scale` is at least 2. With `epsilon > 0` it also needs
/// items that are observed about equally often, as in the order of the least observed.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `n_best` | K | - | items |
/// | `n_shown` | K (b of `BatchRacing`) | - | positions |
/// | `n`, `s` | `T_t(i)`, `T_t(i) w-hat_t(i)` | `n_items` (L) | observations, clicks |
/// | `queue` | `D_t`, sorted as in line 4, with open displays | at most L | item |
/// | `accepted`, `rejected` | `A_t`, `R_t` in order of entry | at most L | item |
/// | `scale` | 4, or `4 sigma` in Theorem B.2 | - | - |
///
/// A step costs O(K), amortised: as long as feedback arrives at once the queue is a ring, and the
/// policy looks for eliminations only when an item may pass a level between the bounds. In other
/// orders of `BatchRacing` it visits all items every step.
#[derive(Debug, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "State", into = "State")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct CascadeBai {
    settings: Settings,
    radii: Radii,
    has_begun: bool,
    /// Rank of every item; ties go to the smaller rank.
    rank: Vec<u32>,
    items: Vec<Item>,
    states: Vec<ItemState>,
    queue: Queue,
    /// At least the number of observations of any undecided item.
    most_observed: u64,
    /// Accepted items, in order of entry.
    #[field]
    accepted: Vec<ItemId>,
    /// Rejected items, in order of entry.
    #[field]
    rejected: Vec<ItemId>,
    /// Undecided items by mean, if the list is not in the order of the queue.
    by_mean: SortedKeys,
    levels: Levels,
    /// Buffer of the classification.
    candidates: Vec<Candidate>,
    /// The keys of the last list in its order, if it is an order by mean or bound; after its
    /// feedback those of the items that were not observed, which are on the next list too.
    list: Vec<Key>,
    /// Whether an item has a key in `list`.
    is_listed: Vec<bool>,
    /// Buffer of items whose displays end without an observation.
    unobserved: Vec<ItemId>,
}

impl CascadeBai {
    /// `CascadeBAI`, Algorithm 1 as printed, with `epsilon = 0`; finds as many items as positions.
    pub fn new(shape: ListShape, delta: Delta) -> Self {
        Self::fresh(shape, shape.n_positions(), Rival::OfMean, delta)
    }

    /// `BatchRacing`; finds as many items as positions. [`Pulls::One`] shows lists of one item.
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
        Self::assemble(State {
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

    /// The policy from the start; answers may be worse than the K-th best by at most `epsilon`.
    #[must_use]
    pub fn with_epsilon(self, epsilon: NonNegative) -> Self {
        self.with(|settings| settings.epsilon = epsilon)
    }

    /// The policy from the start with another factor of the radius instead of 4.
    #[must_use]
    pub fn with_radius_scale(self, scale: NonNegative) -> Self {
        self.with(|settings| settings.radius_scale = scale)
    }

    /// The policy from the start with another order.
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

    /// Observations of an item while undecided; 0 for an unknown item.
    pub fn observations(&self, item: ItemId) -> u64 {
        self.items.get(item.index()).map_or(0, |item| item.n)
    }

    /// Observations of all items while undecided.
    pub fn total_observations(&self) -> u64 {
        self.items.iter().map(|item| item.n).sum()
    }

    fn is_done(&self) -> bool {
        let n_best = self.settings.n_best;
        self.accepted.len() >= n_best || self.rejected.len() >= self.items.len() - n_best
    }

    fn is_in_question(&self, item: ItemId) -> bool {
        self.states.get(item.index()).is_some_and(|state| state.is_in_question)
    }

    fn mean(&self, item: ItemId) -> f64 {
        self.items[item.index()].mean()
    }

    /// Draws the random order for ties before the first step.
    fn begin<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        if self.has_begun {
            return;
        }
        self.queue.shuffle(rng);
        self.rank_items();
    }

    /// Begins with the items as the queue has them.
    #[cold]
    fn rank_items(&mut self) {
        self.has_begun = true;
        let Self { queue, items, rank, accepted, rejected, .. } = self;
        // Feedback may have come before the first step, and decided some items.
        let in_order = queue.items().iter().chain(&*accepted).chain(&*rejected);
        for (number, item) in (0..).zip(in_order) {
            rank[item.index()] = number;
        }
        queue.arrange(|item| items[item.index()].n, |item| rank[item.index()]);
        if self.settings.order != ShowOrder::LeastObserved {
            self.make_line();
        }
        self.sort();
    }

    /// Makes a line of the ring, so that any item can move.
    #[cold]
    fn make_line(&mut self) {
        self.queue.make_line(|item| self.items[item.index()].n);
    }

    /// Writes accepted items in order of entry, then undecided ones.
    fn copy_answer_to(&self, out: &mut [ItemId]) {
        let (first, rest) = out.split_at_mut(self.accepted.len().min(out.len()));
        first.copy_from_slice(&self.accepted[..first.len()]);
        self.queue.copy_to(rest);
    }
}

reads_prefixes!(CascadeBai);
setup!(CascadeBai, &["/settings"], |policy| [policy.items.len(), policy.settings.n_best]);

impl Select<Ranking> for CascadeBai {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.begin(rng);
        let list = out.action.positions_mut(self.settings.n_shown);
        if self.is_done() {
            self.copy_answer_to(list);
            return;
        }
        if self.queue.needs_line() {
            self.make_line();
        }
        if self.queue.has_front_in_line() {
            self.forget_order();
        }
        let (first, rest) = list.split_at_mut(self.settings.n_shown.min(self.queue.len()));
        self.queue.take(first);
        if self.settings.order != ShowOrder::LeastObserved {
            self.put_in_order(first);
        }
        fill(rest, self.accepted.iter().chain(&self.rejected).copied());
    }
}

impl Recommend<Ranking> for CascadeBai {
    /// The items accepted so far, and the undecided items of largest mean; ties are random.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) {
        // In the order that is saved, so that a restored policy recommends the same.
        let (undecided, _) = self.saved_queue();
        recommend([&self.accepted, &undecided], self.settings.n_best, |item| self.mean(item), rng, out);
    }
}

impl Stop for CascadeBai {
    /// The best items, in increasing order.
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
