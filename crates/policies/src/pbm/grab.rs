use super::assignment::Assignment;
use super::cells::CellCounts;
use super::leaders::Leaders;
use crate::checked::with_state;
use crate::exact::{float, number};
use crate::setup::{restored, setup};
use crate::top_l::Ties;
use crate::{Decision, Select, Update};
use click_models::{ItemId, ListShape, Ranking, RenderedClicks};
use confidence::{Rate, kl_ucb_upper};
use rand::Rng;
use std::num::NonZeroU32;

with_state! {
/// GRAB: moves over the graph of lists that differ in one exchange; knows the sizes only.
///
/// With `m_ik` the share of clicks in the `n_ik` displays of item i at position k, and
///
/// ```text
/// b_ik = max { q : n_ik kl(m_ik, q) <= ln T },     b_ik = 1 without displays,
/// ```
///
/// the *leader* is the list with the largest sum of `m_ik`. Sort the positions by `m` of the
/// leader's items, largest first. A *neighbour* of the leader exchanges the items of two
/// consecutive positions in this order, or replaces the item at the last position of this order by
/// an item outside the list. A leader thus has K - 1 neighbours.
///
/// A list that leads for the 1st, (gamma + 1)th, (2 gamma + 1)th, .. time is shown. Otherwise the
/// policy shows the neighbour with the largest sum of `b_ik`, or the leader if no sum exceeds its
/// own. `gamma` is the number K of items by default, because OSUB asks for the degree of the graph
/// plus 1.
///
/// Reference: Gauthier, Gaudel, Fromont, *Parametric graph for unimodal ranking bandit*, ICML 2021.
/// The paper was not at hand: this is a reading of the authors' program (`gaudel/ranking_bandits`,
/// `grab.py`, MIT licence; no code was taken). So the level is `ln T`, and does not depend on how
/// often the leader led, as in OSUB. Deviations from the program: a random preference for every
/// item and position, drawn in the first round, breaks ties, where the program leaves them to its
/// solver; of more than 2048 leaders the one that led longest ago is forgotten.
///
/// | here | paper's program | shape | unit |
/// |---|---|---|---|
/// | `mean`, `upper` | `kappa_thetas`, `upper_bound_kappa_thetas` | `n_items` x `n_positions` | probability |
/// | `weights` | - | `n_items` x `n_positions` | `mean` in 2^-60, then the preference |
/// | `lead` | `extended_leader` | `n_positions` | item |
/// | `leaders` | `leader_count` | at most 2048 | rounds |
/// | `order` | tau | `n_positions` | position |
/// | `rate` | `ln T` | - | nats |
///
/// Late feedback: the leader is found, and counted, when a list is chosen. Numerics: means are
/// compared in units of 2^-60, and sums are exact. Memory: 48 bytes for each item and position, and
/// room for 2048 lists.
pub struct Grab {
    rate: Rate,
    gamma: NonZeroU32,
    counts: CellCounts,
    /// The key of the preferences, from the first round on.
    key: Option<u64>,
    leaders: Leaders,
} derived {
    mean: Vec<f64> = counts.all().map(|cell| mean_and_upper(cell, rate).0).collect(),
    upper: Vec<f64> = counts.all().map(|cell| mean_and_upper(cell, rate).1).collect(),
    weights: Vec<i128> = vec![0; mean.len()],
    /// The item at every position of the leader.
    lead: Vec<u32> = vec![0; counts.n_positions],
    /// Whether counts have changed since the leader was found.
    is_stale: bool = true,
    order: Vec<usize> = (0..counts.n_positions).collect(),
    assignment: Assignment = Assignment::new(counts.n_items(), counts.n_positions),
} then prepare
}

impl Grab {
    /// A fresh policy for `horizon` rounds; `gamma` is the number of items by default.
    pub fn new(shape: ListShape, gamma: Option<NonZeroU32>, horizon: u64) -> Self {
        let n_items = u32::try_from(shape.n_items()).ok().and_then(NonZeroU32::new);
        let gamma = gamma.or(n_items).unwrap_or(NonZeroU32::MIN);
        let rate = Rate::LOG.at_horizon(horizon);
        let (counts, leaders) = (CellCounts::new(shape), Leaders::default());
        Self::assemble(State { rate, gamma, counts, key: None, leaders })
    }

    /// Makes room for leaders, and takes on the preferences, if there are some.
    fn prepare(&mut self) {
        self.leaders.make_room(self.lead.len());
        if let Some(key) = self.key {
            self.prefer(key);
        }
    }

    /// Takes on the preferences of this key.
    fn prefer(&mut self, key: u64) {
        self.key = Some(key);
        for cell in 0..self.weights.len() {
            self.weights[cell] = weight(self.mean[cell], key, cell);
        }
    }

    /// The best neighbour of the leader, if its sum of upper bounds is larger.
    fn exchange(&mut self, key: u64) -> Exchange {
        let Self { order, lead, mean, upper, .. } = self;
        let n_positions = lead.len();
        let cell = |item: u32, position: usize| item as usize * n_positions + position;
        let lead_mean = |position: usize| mean[cell(lead[position], position)];
        order.sort_unstable_by(|&a, &b| lead_mean(b).total_cmp(&lead_mean(a)).then(a.cmp(&b)));
        // By how much the bound grows if the item at the position is replaced.
        let growth =
            |position: usize, item: u32| upper[cell(item, position)] - upper[cell(lead[position], position)];
        let (mut best, mut most) = (Exchange::None, 0.0);
        for pair in order.windows(2) {
            let (one, other) = (pair[0], pair[1]);
            let gain = growth(one, lead[other]) + growth(other, lead[one]);
            if gain > most {
                (best, most) = (Exchange::Positions(one, other), gain);
            }
        }
        let Some(&last) = order.last() else { return best };
        for item in (0_u32..).take(mean.len() / n_positions) {
            let gain = growth(last, item);
            if gain < most || lead.contains(&item) {
                continue;
            }
            let is_preferred = gain > most
                || matches!(best, Exchange::Replacement(_, rival)
                    if preference(key, cell(item, last)) > preference(key, cell(rival, last)));
            if is_preferred {
                (best, most) = (Exchange::Replacement(last, item), gain);
            }
        }
        best
    }
}

/// How a neighbour differs from the leader.
#[derive(Debug, Clone, Copy)]
enum Exchange {
    None,
    Positions(usize, usize),
    /// The position, and the item that it gets.
    Replacement(usize, u32),
}

/// The share of clicks, and its upper bound.
#[inline]
fn mean_and_upper(cell: (u64, u64), rate: Rate) -> (f64, f64) {
    match cell {
        (0, _) => (0.0, 1.0),
        (shows, clicks) => {
            let (shows, mean) = (float(shows), float(clicks) / float(shows));
            (mean, kl_ucb_upper(mean, shows, rate.level(1)))
        }
    }
}

/// The preference for an item at a position, below 2^40.
fn preference(key: u64, cell: usize) -> u64 {
    Ties::of(key).hash(number(cell)) >> 24
}

/// The mean in units of 2^-60, and then the preference.
fn weight(mean: f64, key: u64, cell: usize) -> i128 {
    const UNITS: f64 = 1_152_921_504_606_846_976.0;
    #[expect(clippy::cast_possible_truncation, reason = "a mean is at most 1")]
    let units = (mean * UNITS) as i128;
    (units << 40) + i128::from(preference(key, cell))
}

restored!(Grab, |saved| {
    let [n_items, n_positions] = saved.counts.sizes();
    saved.leaders.check(n_items, n_positions)?;
    Ok(Self::assemble(saved))
});

setup!(Grab, &["/rate", "/gamma"], |policy| policy.counts.sizes());

impl Select<Ranking> for Grab {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let round = self.counts.rounds.next();
        let key = self.key.unwrap_or_else(|| {
            let key = rng.next_u64();
            self.prefer(key);
            key
        });
        if self.is_stale {
            self.assignment.solve(&self.weights, &mut self.lead);
            self.is_stale = false;
        }
        let led = self.leaders.count(&self.lead, round);
        let exchange =
            if led.is_multiple_of(self.gamma.get().into()) { Exchange::None } else { self.exchange(key) };
        let places = out.action.positions_mut(self.lead.len());
        for (place, &item) in places.iter_mut().zip(&self.lead) {
            *place = ItemId::new(item);
        }
        match exchange {
            Exchange::None => {}
            Exchange::Positions(one, other) => places.swap(one, other),
            Exchange::Replacement(position, item) => places[position] = ItemId::new(item),
        }
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for Grab {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let Self { counts, mean, upper, weights, key, is_stale, rate, .. } = self;
        counts.record(&decision.action, feedback, |counts, cell| {
            (mean[cell], upper[cell]) = mean_and_upper(counts.cell(cell), *rate);
            weights[cell] = weight(mean[cell], key.unwrap_or(0), cell);
            *is_stale = true;
        });
    }
}
