//! Policies for which the first position is examined most, on users for whom it may not be.

use crate::error::is_permutation;
use crate::{Decision, PositionsKnown, Select, Update};
use click_models::{Clicks, ListShape, PbmFeedback, PbmKnown, Ranking};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::{self, Debug, Formatter};

/// Shows a policy's lists in the order of examination, the first item where it is largest.
///
/// # Examples
///
/// ```
/// use click_models::{ClickModel, ItemId, PositionBased, Ranking};
/// use policies::{Decision, Fixed, InOrder, Select};
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
///
/// let users = PositionBased::from_values(&[0.5, 0.3, 0.2], &[0.4, 1.0, 0.6])?;
/// let best_first = Fixed::new([0, 1, 2].map(ItemId::new).into_iter().collect::<Ranking>());
/// let (mut policy, mut decision) = (InOrder::new(best_first, users.known()), Decision::default());
/// policy.select(&mut Xoshiro256PlusPlus::seed_from_u64(1), &mut decision);
/// assert_eq!(decision.action.as_slice(), [2, 0, 1].map(ItemId::new));
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Deserialize<'de>"))]
pub struct InOrder<P: Select<Ranking>> {
    policy: P,
    /// Positions from the most to the least examined; empty if they are in this order.
    #[serde(deserialize_with = "read_order")]
    positions: Vec<usize>,
    /// A decision of the policy, from its first item on.
    #[serde(skip)]
    ranked: Decision<Ranking, P::Note>,
}

/// Reads an order of positions from a state, which may be damaged.
fn read_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    let positions = Vec::<usize>::deserialize(deserializer)?;
    let is_order = is_permutation(positions.iter().copied(), positions.len());
    if positions.len() <= ListShape::MAX_POSITIONS && is_order {
        Ok(positions)
    } else {
        Err(D::Error::custom("not an order of positions"))
    }
}

impl<P: Select<Ranking>> InOrder<P> {
    /// Wraps a policy on lists of as many positions.
    pub fn new(policy: P, known: PbmKnown<'_>) -> Self {
        let positions = PositionsKnown::from(known).places();
        let positions = if positions.is_sorted() { Vec::new() } else { positions };
        Self { policy, positions, ranked: Decision::default() }
    }
}

// Written by hand: a derived one would require it of the policy's note.
impl<P: Select<Ranking> + Debug> Debug for InOrder<P> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { policy, positions, .. } = self;
        formatter.debug_struct("InOrder").field("policy", policy).field("positions", positions).finish()
    }
}

impl<P: Select<Ranking>> Select<Ranking> for InOrder<P> {
    type Note = P::Note;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, P::Note>) {
        let Self { policy, positions, ranked } = self;
        if positions.is_empty() {
            return policy.select(rng, out);
        }
        policy.select(rng, ranked);
        let list = out.action.positions_mut(positions.len());
        for (&position, item) in positions.iter().zip(ranked.action.iter()) {
            list[position] = item;
        }
        out.note.clone_from(&ranked.note);
    }

    fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round()
    }
}

impl<P: Update<Ranking, PbmFeedback>> Update<Ranking, PbmFeedback> for InOrder<P> {
    fn update(&mut self, decision: &Decision<Ranking, P::Note>, feedback: &PbmFeedback) {
        let Self { policy, positions, ranked } = self;
        if positions.is_empty() {
            return policy.update(decision, feedback);
        }
        let mut clicks = Clicks::new(positions.len());
        let items = ranked.action.positions_mut(positions.len());
        for (rank, &position) in positions.iter().enumerate() {
            items[rank] = decision.action.as_slice()[position];
            if feedback.clicks.get(position) {
                clicks = clicks.with(rank);
            }
        }
        ranked.note.clone_from(&decision.note);
        policy.update(ranked, &PbmFeedback { clicks });
    }
}
