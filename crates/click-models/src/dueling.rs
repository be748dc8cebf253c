//! Dueling users: they compare two items and prefer one, with a probability that depends on the
//! pair.
//!
//! Item `i` wins against item `j` with probability `p_ij`, in either order of the pair. With a
//! *Condorcet winner* `w`, an item that beats all others, the gap of item `i` is
//! `Delta_i = p_wi - 1/2`, and comparing `i` and `j` costs `(Delta_i + Delta_j) / 2`.
//!
//! Reference: Zoghi, Whiteson, Munos, de Rijke, *Relative upper confidence bound for the K-armed
//! dueling bandit problem*, ICML 2014, section 2. Deviations: without a Condorcet winner, regret is
//! Copeland regret (Zoghi, Karnin, Whiteson, de Rijke, *Copeland dueling bandits*, NIPS 2015): with
//! `c_i` the share of the other items that `i` beats, comparing `i` and `j` costs
//! `max c - (c_i + c_j) / 2`, which is never negative. [`DuelingModel::benchmark`] tells which
//! regret a model uses; their units differ.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `preferences` | `P = [p_ij]` | K x K | probability |
//! | `losses` | `Delta_i` | K | probability (Copeland: share of the others) |
//! | `Pair` | `(a_c, a_d)` | - | - |
//! | `gap` | `r_t` | - | probability (Copeland: share of the others) |
//!
//! The mean reward is the largest mean reward minus the gap: the mean of the two items'
//! probabilities to beat the winner or, without one, of their Copeland scores. Clicks differ: every
//! user prefers one item, which counts as one click.
//!
//! Numerics: gaps are half of `p_wi - p_iw`, so a duel has the same distribution in both orders
//! even if opposite entries were rounded differently. One uniform draw per round. Complexity:
//! constant.

use crate::parameters::parameters;
use crate::{ClickModel, DuelOutcome, DuelShape, Dueling, ItemId, Pair, PreferenceMatrix, bounds};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The reference item for regret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Benchmark {
    /// The item that beats all others.
    Condorcet(ItemId),
    /// No item beats all others: the first of the items that beat the most others.
    Copeland(ItemId),
}

impl Benchmark {
    /// The item.
    pub const fn item(self) -> ItemId {
        match self {
            Self::Condorcet(item) | Self::Copeland(item) => item,
        }
    }
}

/// Users who prefer one of two items.
///
/// Saved as its matrix of preferences, and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(get(doc_template = "{}"))]
pub struct DuelingModel {
    /// The matrix of preferences.
    preferences: PreferenceMatrix,
    /// The reference item for regret, and whether it is a Condorcet or a Copeland winner.
    #[field(copy)]
    benchmark: Benchmark,
    /// The regret of comparing each item with itself, one number per item: `Delta_i` if there is a
    /// Condorcet winner.
    losses: Vec<f64>,
    #[field(skip)]
    best: (Pair, f64),
}

parameters! {
    #[serde(deny_unknown_fields)]
    DuelingModel as users {
        preferences: PreferenceMatrix = users.preferences,
    } by Ok(Self::new(preferences))
}

impl DuelingModel {
    /// Users with these preferences.
    pub fn new(preferences: PreferenceMatrix) -> Self {
        let items = preferences.shape().items();
        if let Some(winner) = preferences.condorcet_winner() {
            let losses = preferences.excess_row(winner).to_vec();
            let best = (Pair::of_one(winner), 0.5);
            return Self { preferences, benchmark: Benchmark::Condorcet(winner), losses, best };
        }
        // There is always at least one.
        let winner = preferences.copeland_winners().first().copied().unwrap_or_default();
        let others = (preferences.shape().n_items() - 1) as f64;
        let most = preferences.n_beaten(winner);
        let losses = items.map(|item| (most - preferences.n_beaten(item)) as f64 / others).collect();
        let best = (Pair::of_one(winner), most as f64 / others);
        Self { preferences, benchmark: Benchmark::Copeland(winner), losses, best }
    }

    /// Lower bound on the regret of any uniformly efficient policy on this instance, per `ln T`, in
    /// the unit of this model's regret: [`bounds::dueling_lower_bound`] with a Condorcet winner,
    /// otherwise [`bounds::copeland_lower_bound`], which is NaN for ties and for many items.
    pub fn lower_bound(&self) -> f64 {
        match self.benchmark {
            Benchmark::Condorcet(_) => bounds::dueling_lower_bound(&self.preferences),
            Benchmark::Copeland(_) => bounds::copeland_lower_bound(&self.preferences),
        }
    }
}

impl ClickModel for DuelingModel {
    type Interaction = Dueling;
    type Known<'a> = DuelShape;

    fn known(&self) -> DuelShape {
        self.preferences.shape()
    }

    fn admits(&self, action: &Pair) -> bool {
        self.preferences.shape().contains(*action)
    }

    fn respond<R: Rng + ?Sized>(&self, action: &Pair, rng: &mut R) -> DuelOutcome {
        let first_wins = 0.5 + self.preferences.excess(action.first, action.second);
        if rng.random::<f64>() < first_wins { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon }
    }

    #[inline]
    fn expected_reward(&self, action: &Pair) -> f64 {
        self.best.1 - self.gap(action)
    }

    /// One.
    fn expected_clicks(&self, _: &Pair) -> f64 {
        1.0
    }

    fn best(&self) -> &(Pair, f64) {
        &self.best
    }

    fn gap(&self, action: &Pair) -> f64 {
        f64::midpoint(self.losses[action.first.index()], self.losses[action.second.index()])
    }
}
